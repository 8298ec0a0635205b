//! `specht compare RUN RUN…`: runs and measured data over each other in one page.

use crate::args::CompareArgs;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::report;
use crate::source::read_text;
use crate::text::print;
use crate::words::quantity;
use specht::machine::{Csv, CsvColumn, visible};
use std::path::Path;

/// A series with its name in the page.
pub struct Compared {
    /// What it is called.
    pub name: String,
    /// Times.
    pub t: Vec<f64>,
    /// Columns: name, unit, values.
    pub columns: Vec<(String, String, Vec<f64>)>,
}

/// Read, overlay, write the page, say how far they differ.
pub fn run(args: CompareArgs) -> Outcome {
    let mut all = Vec::new();
    for path in &args.runs {
        all.push(read(path)?);
    }
    let first_names: Vec<&str> = all[0].columns.iter().map(|c| c.0.as_str()).collect();
    if !all[1..].iter().any(|r| r.columns.iter().any(|c| first_names.contains(&c.0.as_str()))) {
        let help = format!("{} has {}", all[0].name, first_names.join(", "));
        return Err(Refusal::new("these have no column in common").help(help));
    }
    distinct(&mut all);
    crate::output::write(&args.out, &report::comparison(&all))?;
    print(&differences(&all))?;
    print(&format!("  page    {}\n", args.out.display()))?;
    if args.open {
        crate::output::open(&args.out);
    }
    Ok(Exit::Done)
}

/// Names that are the same become `a`, `a (2)`.
fn distinct(all: &mut [Compared]) {
    for k in 0..all.len() {
        let same = all[..k].iter().filter(|r| r.name == all[k].name).count();
        if same > 0 {
            all[k].name = format!("{} ({})", all[k].name, same + 1);
        }
    }
}

/// A folder with `trajectory.csv`, or a CSV file.
fn read(path: &Path) -> Result<Compared, Refusal> {
    let file = if path.is_dir() { path.join("trajectory.csv") } else { path.to_path_buf() };
    if !file.is_file() {
        return Err(Refusal::new(format!("there is no {}", file.display()))
            .help("name the folder of a run (specht run MODEL --out FOLDER) or a CSV file"));
    }
    let stem =
        |p: &Path| p.file_stem().map(|s| visible(&s.to_string_lossy()).into_owned()).unwrap_or_default();
    let name = if path.is_dir() { stem(path) } else { stem(&file) };
    let text = read_text(&file)?;
    let bad = |line: usize, why: String| Refusal::new(format!("{}:{line}: {why}", file.display()));
    let csv = Csv::read(&text).map_err(|why| bad(1, why))?;
    let is_time = |c: &CsvColumn| ["t", "time"].contains(&c.name.to_lowercase().as_str());
    let time = csv.columns.iter().position(is_time).unwrap_or(0);
    let t = csv.columns[time].values.clone();
    if let Some(k) = t.iter().position(|x| x.is_nan()) {
        let cell =
            csv.columns[time].text.as_ref().filter(|c| c.0 == csv.lines[k]).map_or("", |c| c.1.as_str());
        return Err(bad(csv.lines[k], format!("`{cell}` in the time column is not a number")));
    }
    if t.is_empty() {
        return Err(bad(2, "there are no rows".into()));
    }
    let others = csv.columns.into_iter().enumerate().filter(|(k, _)| *k != time).map(|(_, c)| c);
    let numbers = others.filter(|c| c.values.iter().any(|x| x.is_finite()));
    Ok(Compared { name, t, columns: numbers.map(|c| (c.name, c.unit, c.values)).collect() })
}

/// The largest difference of every column from the first, where both are known.
fn differences(all: &[Compared]) -> String {
    let first = &all[0];
    let mut out = String::new();
    for other in &all[1..] {
        out += &format!("{} against {}\n", other.name, first.name);
        for (name, unit, y) in &first.columns {
            let Some((_, _, z)) = other.columns.iter().find(|c| c.0 == *name) else { continue };
            let inside = |t: &f64| *t >= other.t[0] && *t <= other.t[other.t.len() - 1];
            let apart = first.t.iter().zip(y).filter(|(t, _)| inside(t));
            let apart = apart.map(|(t, y)| ((y - value_at(&other.t, z, *t)).abs(), *t));
            let worst = apart.filter(|a| a.0.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((d, t)) = worst {
                out += &format!(
                    "  {name}  differs by at most {} (t = {})\n",
                    quantity(d, unit),
                    quantity(t, "s")
                );
            }
        }
    }
    out
}

/// Between rows by a line; at an event the value after it.
fn value_at(t: &[f64], y: &[f64], at: f64) -> f64 {
    let k = t.partition_point(|x| *x <= at).clamp(1, t.len()) - 1;
    let Some(next) = t.get(k + 1).filter(|n| **n > t[k]) else { return y[k] };
    y[k] + (y[k + 1] - y[k]) * ((at - t[k]) / (next - t[k])).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_rows_values_lie_on_a_line_and_at_an_event_after_it() {
        assert_eq!(value_at(&[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0], 1.5), 5.5);
        assert_eq!(value_at(&[0.0, 1.0, 1.0, 2.0], &[0.0, 1.0, 5.0, 6.0], 1.0), 5.0);
    }
}
