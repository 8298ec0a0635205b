//! The recorded series of a run as a table: the content of `trajectory.csv`.

use std::fmt::Write;

use crate::sim::{Sample, Samples};

use super::Names;

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Numbers.
    Numbers(Vec<f64>),
    /// Words (modes).
    Words(Vec<&'static str>),
}

/// Named columns of equal length; the first is `t`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Header.
    pub names: Vec<String>,
    /// Columns in the order of `names`.
    pub columns: Vec<Column>,
    /// Units by name; what is left out has none.
    pub units: std::collections::BTreeMap<String, String>,
}

impl Names {
    /// Columns of the positions: coordinates, then `BODY.q.w` … of free rotations.
    pub fn positions(&self) -> impl Iterator<Item = String> + '_ {
        let free = self.free.iter().flat_map(|b| ["w", "x", "y", "z"].map(|c| format!("{b}.q.{c}")));
        self.coordinates.iter().cloned().chain(free)
    }

    /// Columns of the velocities: `x'`, then `BODY.spin.x` … of free rotations.
    pub fn velocities(&self) -> impl Iterator<Item = String> + '_ {
        let free = self.free.iter().flat_map(|b| ["x", "y", "z"].map(|c| format!("{b}.spin.{c}")));
        self.coordinates.iter().map(|n| format!("{n}'")).chain(free)
    }
}

impl Table {
    /// The header of the contract, see `Table::of`.
    pub fn header(names: &Names) -> Vec<String> {
        let Names { states, memory, contacts, second, outputs, .. } = names;
        let of_contact = |(c, second): (&String, &Option<usize>)| {
            let keys: &[&str] = match second {
                None => &["mode", "normal", "tangential", "gap", "slip"],
                Some(_) => &["mode", "normal", "tangential[1]", "tangential[2]", "gap", "slip[1]", "slip[2]"],
            };
            keys.iter().map(|key| format!("{c}.{key}")).collect::<Vec<_>>()
        };
        let rest = states.iter().chain(memory).chain(outputs).cloned();
        let all =
            std::iter::once("t".to_string()).chain(names.positions()).chain(names.velocities()).chain(rest);
        all.chain(contacts.iter().zip(second).flat_map(of_contact)).collect()
    }

    /// One line of `trajectory.csv`. A row also holds what is plotted, after the outputs.
    pub fn write_row(row: &Sample<'_>, names: &Names, out: &mut String) {
        number(row.t, out);
        for list in [row.q, &names.written(row), row.z, row.memory, &row.outputs[..names.outputs.len()]] {
            for x in list {
                out.push(',');
                number(*x, out);
            }
        }
        for (k, mode) in row.modes.iter().enumerate() {
            out.push(',');
            out.push_str(mode.word());
            let mut push = |x: f64| {
                out.push(',');
                number(x, out);
            };
            let second = names.second[k];
            push(row.normal[k]);
            push(row.tangential[k]);
            second.into_iter().for_each(|r| push(row.lambda[r]));
            push(row.gap[k]);
            push(row.slip[k]);
            second.into_iter().for_each(|r| push(row.rates[r]));
        }
        out.push('\n');
    }

    /// The columns of the contract: t, coordinates, velocities, states, memory, outputs, and five of every contact; seven of one
    /// with two tangents.
    pub(crate) fn of(samples: &Samples, names: &Names) -> Table {
        let mut table = Table::default();
        let mut add = |name: String, value: &dyn Fn(&Sample) -> f64| {
            table.push(name, Column::Numbers(samples.rows().map(|row| value(&row)).collect()));
        };
        add("t".into(), &|row| row.t);
        for (k, name) in names.positions().enumerate() {
            add(name, &|row| row.q[k]);
        }
        for (k, name) in names.velocities().enumerate() {
            add(name, &|row| names.velocity(row, k));
        }
        for (k, name) in names.states.iter().enumerate() {
            add(name.clone(), &|row| row.z[k]);
        }
        for (k, name) in names.memory.iter().enumerate() {
            add(name.clone(), &|row| row.memory[k]);
        }
        for (k, name) in names.outputs.iter().enumerate() {
            add(name.clone(), &|row| row.outputs[k]);
        }
        for (k, name) in names.contacts.iter().enumerate() {
            let words = samples.rows().map(|row| row.modes[k].word()).collect();
            table.push(format!("{name}.mode"), Column::Words(words));
            let mut add = |key: &str, value: &dyn Fn(&Sample) -> f64| {
                let column = samples.rows().map(|row| value(&row)).collect();
                table.push(format!("{name}.{key}"), Column::Numbers(column));
            };
            add("normal", &|row| row.normal[k]);
            match names.second[k] {
                None => {
                    add("tangential", &|row| row.tangential[k]);
                    add("gap", &|row| row.gap[k]);
                    add("slip", &|row| row.slip[k]);
                }
                Some(r) => {
                    add("tangential[1]", &|row| row.tangential[k]);
                    add("tangential[2]", &|row| row.lambda[r]);
                    add("gap", &|row| row.gap[k]);
                    add("slip[1]", &|row| row.slip[k]);
                    add("slip[2]", &|row| row.rates[r]);
                }
            }
        }
        table
    }

    /// A name with its unit, `height [m]`.
    pub fn headed(&self, name: &str) -> String {
        match self.units.get(name) {
            Some(unit) => format!("{name} [{unit}]"),
            None => name.to_string(),
        }
    }

    /// Add a column.
    pub fn push(&mut self, name: impl Into<String>, column: Column) {
        self.names.push(name.into());
        self.columns.push(column);
    }

    /// A column by name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.names.iter().position(|n| n == name).map(|k| &self.columns[k])
    }

    /// A numeric column by name.
    pub fn numbers(&self, name: &str) -> Option<&[f64]> {
        match self.column(name) {
            Some(Column::Numbers(x)) => Some(x),
            _ => None,
        }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self.columns.first() {
            Some(Column::Numbers(x)) => x.len(),
            Some(Column::Words(x)) => x.len(),
            None => 0,
        }
    }

    /// As comma-separated text with full precision (the shortest form that reads back to the same bits).
    pub fn csv(&self) -> String {
        let mut out = self.names.iter().map(|n| quoted(&self.headed(n))).collect::<Vec<_>>().join(",");
        out.push('\n');
        for row in 0..self.rows() {
            for (k, column) in self.columns.iter().enumerate() {
                if k > 0 {
                    out.push(',');
                }
                match column {
                    Column::Numbers(x) => number(x[row], &mut out),
                    Column::Words(x) => out.push_str(x[row]),
                }
            }
            out.push('\n');
        }
        out
    }
}

/// A number that reads back to the same bits.
pub fn number(x: f64, out: &mut String) {
    let size = x.abs();
    let _ = if x == 0.0 {
        write!(out, "0")
    } else if (1e-4..1e16).contains(&size) {
        write!(out, "{x}")
    } else {
        write!(out, "{x:e}") // NaN and inf come out as such
    };
}

/// A field, quoted when it holds a comma, a quote or a line end.
pub fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_header_are_those_of_the_table() {
        let text = "name = \"a\"\ngravity = [0, -9.81]\ncoordinates = { x = 0, y = \"1 m\" }\n\
            ground = { floor = { through = [0, 0], normal = [0, 1] } }\n\
            body = [{ name = \"b\", mass = \"1 kg\", position = [\"x\", \"y\"] }]\n\
            contact = [{ name = \"c\", between = [\"b\", \"ground.floor\"], friction = 0.2 }]\n\
            run = { until = \"1 s\" }\noutput = { height = \"y\" }\nplot = [{ y = [\"x\", \"c.normal\"] }]\n";
        let run = crate::machine::Machine::read(text).unwrap().run().unwrap();
        let table = run.table();
        assert_eq!(Table::header(&run.names), table.names);
        let mut lines = String::new();
        run.trajectory.samples.rows().for_each(|row| Table::write_row(&row, &run.names, &mut lines));
        let csv = table.csv();
        let (head, body) = csv.split_once('\n').unwrap();
        assert_eq!(body, lines);
        assert_eq!(
            head,
            "t [s],x [m],y [m],x' [m/s],y' [m/s],height [m],c.mode,c.normal [N],c.tangential [N],c.gap [m],c.slip [m/s]"
        );
    }

    #[test]
    fn numbers_in_the_csv_read_back_to_the_same_bits() {
        let values = vec![0.1 + 0.2, -1.0 / 3.0 * 1e-7, 6.02214076e23, 5e-324, 0.0, f64::NAN];
        let mut table = Table::default();
        table.push("t", Column::Numbers(values.clone()));
        table.push("tip.mode", Column::Words(vec!["stick"; 6]));
        let text = table.csv();
        assert!(text.starts_with("t,tip.mode\n"));
        for (line, x) in text.lines().skip(1).zip(&values) {
            let (number, mode) = line.split_once(',').unwrap();
            let y: f64 = number.parse().unwrap();
            assert!(y.to_bits() == x.to_bits() || (x.is_nan() && y.is_nan()));
            assert_eq!(mode, "stick");
        }
    }
}
