//! Measured data: text with columns, the first line names them, `force [N]` with a unit.

use super::visible::visible;
use crate::expr::{Dim, did_you_mean, parse_unit};

/// A file of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Csv {
    /// In their order.
    pub columns: Vec<CsvColumn>,
    /// The line of the file at which each row stands, counted from 1.
    pub lines: Vec<usize>,
}

/// A column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvColumn {
    /// Name.
    pub name: String,
    /// Unit as written; may be empty.
    pub unit: String,
    /// Numbers as written; NaN where there is none.
    pub values: Vec<f64>,
    /// The first cell that is neither empty nor a number: line and text.
    pub text: Option<(usize, String)>,
}

/// Most rows that are read.
const ROWS: usize = 2_000_000;
/// What stands in the place of a missing number.
const GAPS: [&str; 6] = ["", "-", "nan", "na", "null", "?"];

impl Csv {
    /// Reads a text; cells are separated by semicolons, tabs or commas, whichever the first line has. Lines that begin with `#` are remarks.
    ///
    /// # Errors
    ///
    /// An empty text, or too many rows.
    pub fn read(text: &str) -> Result<Csv, String> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
        let (_, head) = lines.next().ok_or("the file is empty")?;
        let head = head.trim_start_matches('\u{feff}');
        let separator = [';', '\t'].into_iter().find(|c| head.contains(*c)).unwrap_or(',');
        let mut out = Csv::default();
        for cell in cells(head, separator) {
            let (name, unit) = named(&cell);
            out.columns.push(CsvColumn { name, unit, ..CsvColumn::default() });
        }
        for (n, line) in lines {
            if out.lines.len() == ROWS {
                return Err(format!("more than {ROWS} rows"));
            }
            out.lines.push(n + 1);
            let row = cells(line, separator);
            for (k, column) in out.columns.iter_mut().enumerate() {
                let cell = row.get(k).map_or("", |c| c.trim());
                let value = cell.parse::<f64>().ok().filter(|v| v.is_finite());
                if value.is_none() && !GAPS.contains(&cell.to_lowercase().as_str()) {
                    column.text.get_or_insert_with(|| (n + 1, visible(cell).into_owned()));
                }
                column.values.push(value.unwrap_or(f64::NAN));
            }
        }
        Ok(out)
    }

    /// The column of this name.
    ///
    /// # Errors
    ///
    /// There is none: the names that there are.
    pub fn column(&self, name: &str) -> Result<&CsvColumn, String> {
        self.columns.iter().find(|c| c.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.columns.iter().map(|c| c.name.as_str()).collect();
            let near = did_you_mean(name, known.iter().copied());
            let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            format!("no column `{name}`; its columns are {}{near}", known.join(", "))
        })
    }
}

impl CsvColumn {
    /// The values in SI, with their dimension where a unit is written.
    ///
    /// # Errors
    ///
    /// Something that is no unit.
    pub(crate) fn in_si(&self) -> Result<(Vec<f64>, Dim), String> {
        if self.unit.is_empty() {
            return Ok((self.values.clone(), Dim::Any));
        }
        let unit = parse_unit(&self.unit).map_err(|e| {
            format!("column `{}`: {}; write a unit as in  {} [N]", self.name, e.message, self.name)
        })?;
        Ok((self.values.iter().map(|v| unit.to_si(*v)).collect(), Dim::Known(unit.dim)))
    }
}

/// A file that is text.
pub(crate) fn text_of_bytes(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| {
        let (at, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
        let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
        format!("line {line}: not text: the byte 0x{:02x} is not UTF-8", bytes[at])
    })
}

/// The cells of a line; quotes hold them together.
fn cells(line: &str, separator: char) -> Vec<String> {
    let (mut out, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            c if c == separator && !quoted => out.push(String::new()),
            c => out.last_mut().expect("never empty").push(c),
        }
    }
    out
}

/// `height [m]` → name and unit.
fn named(cell: &str) -> (String, String) {
    let cell = visible(cell.trim()).into_owned();
    match cell.strip_suffix(']').and_then(|c| c.rsplit_once(" [")) {
        Some((name, unit)) => (name.trim().to_string(), unit.to_string()),
        None => (cell, String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_names_units_and_quotes() {
        assert_eq!(cells("a,\"b, c\",d", ','), ["a", "b, c", "d"]);
        assert_eq!(named(" height [m] "), ("height".into(), "m".into()));
        assert_eq!(named("mu[1]"), ("mu[1]".into(), String::new()));
    }

    #[test]
    fn gaps_are_no_numbers_and_texts_are_named() {
        let csv = Csv::read("# rig 1\nt;F [kN];note\n0;1;start\n1;;\n2;3,5;x\n").unwrap();
        assert_eq!(csv.lines, [3, 4, 5]);
        let f = csv.column("F").unwrap();
        assert_eq!(f.in_si().unwrap().0[0], 1000.0);
        assert!(f.values[1].is_nan());
        assert_eq!(f.text, Some((5, "3,5".into())));
        assert!(csv.column("f").unwrap_err().contains("t, F, note"));
    }
}
