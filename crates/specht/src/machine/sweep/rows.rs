//! Results: a column of numbers per address, words by their number, and what a line of the log says.
//!
//! A line of the log is a JSON list `[row, cells, error, values, state]`; what is empty at its end is left out. No proper beginning of
//! a JSON list is one, so that a line that was cut short is recognized as such.

use serde_json::{Value as Json, json};

use crate::analysis::place::Carried;
use crate::system::State;

/// A value in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number; missing: NaN.
    Number(f64),
    /// A word.
    Text(String),
    /// A truth.
    Bool(bool),
}

impl Cell {
    /// As JSON of results: NaN is `null`, infinities are texts.
    pub fn json(&self) -> Json {
        match self {
            Cell::Number(x) => serde_json::to_value(crate::machine::json::Num(*x)).unwrap_or_default(),
            Cell::Text(t) => json!(t),
            Cell::Bool(b) => json!(b),
        }
    }

    /// As a number, where it is one: truths are 1 and 0.
    pub fn number(&self) -> Option<f64> {
        match self {
            Cell::Number(x) => Some(*x),
            Cell::Bool(b) => Some(f64::from(*b)),
            Cell::Text(_) => None,
        }
    }
}

/// The outcome of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) cells: Vec<Cell>,
    /// Passages through the section.
    pub(super) values: Vec<f64>,
    /// Why something is missing; empty when nothing is.
    pub(super) error: String,
    /// Where the next run of the chain begins.
    pub(super) carried: Option<Carried>,
}

/// Longest reason that is kept.
const REASON: usize = 300;

impl Row {
    /// A row of a run that could not be made.
    pub(super) fn failed(columns: usize, why: String) -> Row {
        let mut row = Row { cells: vec![Cell::Number(f64::NAN); columns], ..Row::default() };
        row.fail(why);
        row
    }

    /// One more reason.
    pub(super) fn fail(&mut self, why: String) {
        if self.error.len() >= REASON {
            return;
        }
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        let join = if self.error.is_empty() { "" } else { "; " };
        self.error = format!("{}{join}{why}", self.error).chars().take(REASON).collect();
    }

    /// The line of the log.
    pub(super) fn line(&self, row: usize) -> String {
        let state = self.carried.as_ref().map(|Carried { state: s, closed, sticking }| {
            json!([s.t, numbers(&s.q), numbers(&s.u), numbers(&s.z), numbers(&s.memory), closed, sticking])
        });
        let cells: Vec<Json> = self.cells.iter().map(written).collect();
        let mut list = vec![json!(row), json!(cells), json!(self.error), numbers(&self.values), json!(state)];
        while list.len() > 2 && [json!(""), json!([]), Json::Null].contains(&list[list.len() - 1]) {
            list.pop();
        }
        format!("{}\n", Json::Array(list))
    }

    /// Reads a line of the log.
    pub(super) fn read(line: &str, columns: usize) -> Option<(usize, Row)> {
        let list: Vec<Json> = serde_json::from_str(line).ok()?;
        let row = usize::try_from(list.first()?.as_u64()?).ok()?;
        let cells = list.get(1)?.as_array()?.iter().map(cell).collect::<Option<Vec<Cell>>>()?;
        let error = list.get(2).and_then(Json::as_str).unwrap_or("").to_string();
        let values = list.get(3).map_or(Some(Vec::new()), floats)?;
        let carried = match list.get(4) {
            None | Some(Json::Null) => None,
            Some(s) => Some(Carried {
                state: State {
                    t: float(s.get(0)?)?,
                    q: floats(s.get(1)?)?,
                    u: floats(s.get(2)?)?,
                    z: floats(s.get(3)?)?,
                    memory: floats(s.get(4)?)?,
                },
                closed: places(s.get(5)?)?,
                sticking: places(s.get(6)?)?,
            }),
        };
        (cells.len() == columns).then_some((row, Row { cells, values, error, carried }))
    }
}

/// Numbers in the log: JSON has no NaN and no infinity.
fn number(x: f64) -> Json {
    match x {
        x if x.is_finite() => json!(x),
        x if x.is_nan() => Json::Null,
        x => json!([if x > 0.0 { 1 } else { -1 }]),
    }
}

fn numbers(list: &[f64]) -> Json {
    Json::Array(list.iter().map(|x| number(*x)).collect())
}

fn float(value: &Json) -> Option<f64> {
    match value {
        Json::Null => Some(f64::NAN),
        Json::Array(sign) => Some(f64::INFINITY * sign.first()?.as_f64()?),
        other => other.as_f64(),
    }
}

fn floats(value: &Json) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(float).collect()
}

fn places(value: &Json) -> Option<Vec<usize>> {
    value.as_array()?.iter().map(|k| usize::try_from(k.as_u64()?).ok()).collect()
}

fn written(cell: &Cell) -> Json {
    match cell {
        Cell::Number(x) => number(*x),
        other => other.json(),
    }
}

fn cell(value: &Json) -> Option<Cell> {
    match value {
        Json::String(t) => Some(Cell::Text(t.clone())),
        Json::Bool(b) => Some(Cell::Bool(*b)),
        other => float(other).map(Cell::Number),
    }
}

/// One column: numbers as long as everything is one.
#[derive(Clone, Debug, Default)]
struct Column {
    numbers: Vec<f64>,
    /// Number of the word in `words`, or [`NUMBER`]; empty as long as there is no word.
    codes: Vec<u32>,
    words: Vec<Cell>,
}

const NUMBER: u32 = u32::MAX;

impl Column {
    fn set(&mut self, row: usize, cell: &Cell) {
        if let Cell::Number(x) = cell {
            self.numbers[row] = *x;
            return;
        }
        if self.codes.is_empty() {
            self.codes = vec![NUMBER; self.numbers.len()];
        }
        let code = self.words.iter().position(|w| w == cell).unwrap_or_else(|| {
            self.words.push(cell.clone());
            self.words.len() - 1
        });
        self.codes[row] = code as u32;
    }

    fn get(&self, row: usize) -> Cell {
        match self.codes.get(row) {
            Some(&code) if code != NUMBER => self.words[code as usize].clone(),
            _ => Cell::Number(self.numbers[row]),
        }
    }
}

/// All rows of a sweep that are done.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    columns: Vec<Column>,
    done: Vec<bool>,
    values: Vec<Box<[f64]>>,
    errors: std::collections::BTreeMap<usize, String>,
    /// Where chains stand: unit → (row, where the next run begins).
    pub(super) ends: std::collections::BTreeMap<usize, (usize, Option<Carried>)>,
}

impl Rows {
    pub(super) fn new(rows: usize, columns: usize, diagram: bool) -> Rows {
        let column = Column { numbers: vec![f64::NAN; rows], ..Column::default() };
        Rows {
            columns: vec![column; columns],
            done: vec![false; rows],
            values: vec![Box::default(); if diagram { rows } else { 0 }],
            ..Rows::default()
        }
    }

    pub(super) fn put(&mut self, row: usize, content: &Row, per_unit: usize) {
        for (column, cell) in self.columns.iter_mut().zip(&content.cells) {
            column.set(row, cell);
        }
        if let Some(values) = self.values.get_mut(row) {
            *values = content.values.clone().into_boxed_slice();
        }
        if !content.error.is_empty() {
            self.errors.insert(row, content.error.clone());
        }
        self.done[row] = true;
        if per_unit > 1 {
            let end = self.ends.entry(row / per_unit).or_insert((row, None));
            if row >= end.0 {
                *end = (row, content.carried.clone());
            }
        }
    }

    /// Number of rows of the plan.
    pub fn len(&self) -> usize {
        self.done.len()
    }

    /// Whether the plan has none.
    pub fn is_empty(&self) -> bool {
        self.done.is_empty()
    }

    /// Whether a row is done.
    pub fn is_done(&self, row: usize) -> bool {
        self.done[row]
    }

    /// How many are done.
    pub fn count_done(&self) -> usize {
        self.done.iter().filter(|d| **d).count()
    }

    /// How many of them lack something.
    pub fn count_failed(&self) -> usize {
        self.errors.len()
    }

    /// A cell.
    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.columns[column].get(row)
    }

    /// Passages through the section.
    pub fn values(&self, row: usize) -> &[f64] {
        self.values.get(row).map_or(&[], |v| v)
    }

    /// Whether the run of a row did not get to its end.
    pub(super) fn ended_early(&self, row: usize) -> bool {
        self.error(row).is_some_and(super::columns::is_early)
    }

    /// Why something is missing.
    pub fn error(&self, row: usize) -> Option<&str> {
        self.errors.get(&row).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_reads_back_to_the_same_bits_and_no_beginning_of_it_does() {
        let state = State { t: 0.1, q: vec![1.0 / 3.0], u: vec![-0.0], z: vec![], memory: vec![f64::NAN] };
        let mut row = Row {
            cells: vec![
                Cell::Number(0.1 + 0.2),
                Cell::Text("stick, \"x\"".into()),
                Cell::Bool(true),
                Cell::Number(f64::NEG_INFINITY),
            ],
            values: vec![5e-324, f64::NAN, 1e300],
            carried: Some(Carried { state, closed: vec![2], sticking: vec![] }),
            ..Row::default()
        };
        row.fail("why\nnot".into());
        let line = row.line(17);
        let (k, read) = Row::read(line.trim_end(), 4).unwrap();
        assert_eq!((k, &read.cells, &read.error), (17, &row.cells, &row.error));
        assert_eq!(read.values[0].to_bits(), 1);
        assert!(read.values[1].is_nan());
        assert_eq!(read.carried.unwrap().state.q[0].to_bits(), (1.0_f64 / 3.0).to_bits());
        let text = line.trim_end();
        for cut in (0..text.len()).filter(|c| text.is_char_boundary(*c)) {
            assert!(Row::read(&text[..cut], 4).is_none(), "{}", &text[..cut]);
        }
        assert!(Row::read(text, 3).is_none());
    }
}
