//! Files of a sweep: `sweep.csv`, `sweep.json`, `sweep.parquet`, the picture and the page. All are written row by row or column by
//! column, so that a million rows need no second copy in memory; none holds a time, a path or a number of threads.

mod parquet;

use crate::outcome::Refusal;
use crate::output;
use crate::report::many::{self, View};
use serde_json::json;
use specht::machine::sweep::{Cell, Rows, Sweep};
use specht::machine::table::{number, quoted};
use std::io::{self, Write};
use std::path::Path;

/// A sweep with its rows.
pub struct Result<'a> {
    /// Title of the model.
    pub model: &'a str,
    /// How a run of it is typed: `specht run MODEL`, without what varies.
    pub command: &'a str,
    /// The sweep.
    pub sweep: &'a Sweep,
    /// Its rows.
    pub rows: &'a Rows,
}

/// A column of the table.
#[derive(Clone, Copy)]
enum Column {
    Parameter(usize),
    Record(usize),
    Values,
    Chain,
    Error,
}

/// One line of the table: a row, or with a diagram one of its passages.
type Line = (usize, usize);

impl Result<'_> {
    /// All files.
    pub fn write(&self, folder: &Path) -> std::result::Result<(), Refusal> {
        // first the one by which the tables are known as written here
        output::stream(&folder.join("sweep.json"), |out| self.json(out))?;
        output::stream(&folder.join("sweep.csv"), |out| self.csv(out))?;
        output::stream(&folder.join("sweep.parquet"), |out| self.parquet(out))?;
        let view = View::new(self.model, self.command, self.sweep, self.rows);
        if let Some(svg) = many::picture(&view) {
            output::write(&folder.join("sweep.svg"), &svg)?;
        }
        output::write(&folder.join("sweep.html"), &many::page(&view, None))
    }

    /// Columns in their order; reasons only where there are some.
    fn columns(&self) -> Vec<(String, Column)> {
        let parameters = self.sweep.plan.parameters().count();
        let kind = |k: usize| match k {
            k if k < parameters => Column::Parameter(k),
            k if k < parameters + self.sweep.record.len() => Column::Record(k - parameters),
            k if k == parameters + self.sweep.record.len() && self.sweep.diagram.is_some() => Column::Values,
            _ => Column::Chain,
        };
        let mut out: Vec<(String, Column)> =
            self.sweep.columns().into_iter().enumerate().map(|(k, name)| (name, kind(k))).collect();
        if self.rows.count_failed() > 0 {
            out.push(("error".into(), Column::Error));
        }
        out
    }

    /// Lines in the order of the plan.
    fn lines(&self) -> impl Iterator<Item = Line> {
        let done = (0..self.rows.len()).filter(|&row| self.rows.is_done(row));
        done.flat_map(|row| (0..self.rows.values(row).len().max(1)).map(move |k| (row, k)))
    }

    fn cell(&self, column: Column, (row, k): Line, point: &[f64]) -> Cell {
        match column {
            Column::Parameter(p) => Cell::Number(point[p]),
            Column::Record(c) => self.rows.cell(row, c),
            Column::Values => Cell::Number(self.rows.values(row).get(k).copied().unwrap_or(f64::NAN)),
            Column::Chain => Cell::Text(self.sweep.way(row).into()),
            Column::Error => Cell::Text(self.rows.error(row).unwrap_or_default().into()),
        }
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns();
        let head: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
        writeln!(out, "{}", head.join(","))?;
        let (mut text, mut point) = (String::new(), Vec::new());
        for line in self.lines() {
            self.sweep.plan.point(line.0, &mut point);
            text.clear();
            for (k, (_, column)) in columns.iter().enumerate() {
                if k > 0 {
                    text.push(',');
                }
                match self.cell(*column, line, &point) {
                    Cell::Number(x) if x.is_nan() => {}
                    Cell::Number(x) => number(x, &mut text),
                    Cell::Bool(b) => text.push_str(if b { "true" } else { "false" }),
                    Cell::Text(t) => text.push_str(&quoted(&t)),
                }
            }
            text.push('\n');
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// The head of `sweep.json`: everything but the rows.
    fn head(&self) -> serde_json::Value {
        json!({
            "program": output::MADE_BY, "version": env!("CARGO_PKG_VERSION"), "model": self.model,
            "sweep": self.sweep, "columns": self.sweep.columns(),
            "count": self.rows.len(), "done": self.rows.count_done(), "failed": self.rows.count_failed(),
            "complete": self.rows.count_done() == self.rows.len(),
            "summaries": self.sweep.summaries(self.rows),
        })
    }

    /// `sweep.json`.
    pub fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = serde_json::to_string_pretty(&self.head())?;
        write!(out, "{},\n  \"rows\": [", head.trim_end_matches('}').trim_end())?;
        let mut comma = "";
        for row in (0..self.rows.len()).filter(|&row| self.rows.is_done(row)) {
            write!(out, "{comma}\n    ")?;
            serde_json::to_writer(&mut *out, &self.sweep.row_json(self.rows, row))?;
            comma = ",";
        }
        writeln!(out, "\n  ]\n}}")
    }

    fn parquet(&self, out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns();
        let kind = |column: Column| match column {
            Column::Parameter(_) | Column::Values => parquet::Kind::Number,
            Column::Chain | Column::Error => parquet::Kind::Text,
            Column::Record(c) => self.kind(c),
        };
        let kinds: Vec<parquet::Kind> = columns.iter().map(|c| kind(c.1)).collect();
        let field = |((name, _), kind): (&(String, Column), &parquet::Kind)| parquet::Field {
            name: name.clone(),
            kind: *kind,
        };
        let schema = columns.iter().zip(&kinds).map(field).collect();
        let mut file = parquet::Writer::new(out, schema)?;
        let mut lines = self.lines().peekable();
        let mut point = Vec::new();
        while lines.peek().is_some() {
            let group: Vec<Line> = lines.by_ref().take(parquet::GROUP).collect();
            file.group(group.len(), |k, page| {
                let (column, kind) = (columns[k].1, kinds[k]);
                for line in &group {
                    self.sweep.plan.point(line.0, &mut point);
                    match (self.cell(column, *line, &point), kind) {
                        (Cell::Number(x), _) if x.is_nan() => page.missing(),
                        (Cell::Text(t), _) if t.is_empty() => page.missing(),
                        (Cell::Text(t), _) => page.text(&t),
                        (Cell::Bool(b), parquet::Kind::Text) => page.text(&b.to_string()),
                        (Cell::Bool(b), parquet::Kind::Truth) => page.truth(b),
                        (Cell::Bool(b), parquet::Kind::Number) => page.number(f64::from(u8::from(b))),
                        (Cell::Number(x), parquet::Kind::Text) => page.text(&x.to_string()),
                        (Cell::Number(x), _) => page.number(x),
                    }
                }
            })?;
        }
        file.finish()
    }

    /// What a recorded column holds: truths only if nothing else is in it.
    fn kind(&self, column: usize) -> parquet::Kind {
        let mut truths = false;
        for row in 0..self.rows.len() {
            match self.rows.cell(row, column) {
                Cell::Text(_) => return parquet::Kind::Text,
                Cell::Bool(_) => truths = true,
                Cell::Number(_) => {}
            }
        }
        let number = |row| matches!(self.rows.cell(row, column), Cell::Number(x) if !x.is_nan());
        match truths && !(0..self.rows.len()).any(number) {
            true => parquet::Kind::Truth,
            false => parquet::Kind::Number,
        }
    }
}
