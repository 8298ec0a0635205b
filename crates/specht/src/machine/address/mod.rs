//! Addresses: paths into `run.json`, usable in expressions of the same language as the formulas of a file.
//!
//! ```text
//! 1/findings.cycle.period        events[kind=impact, contact=beak][1].after.phi'        mean(outputs.F, 0.4, 1.2)
//! ```
//!
//! | written | is |
//! |---|---|
//! | `a.b.c` | keys; names such as `mesh.low`, `face[3]`, `x''` are found as they stand |
//! | `[2]`, `[-1]` | list entry, counted from 1; from the end |
//! | `[key=value, …]` | the entries of a list for which all conditions hold (`= != < <= > >=`); `contact=beak` asks whether `contacts` holds it, and afterwards `.impulse_n` is that contact's number; `contact=mesh` means either flank of a play |
//! | `.key` of a list | the list of the entries' values |
//! | `[kind=stick\|slip]`, `[after=1, before=2]` | one of several values; entries after and before a time |
//! | `outputs.F` | value at the end; inside a function over series, the recorded series |
//! | `trajectory.NAME` | the series of any column of trajectory.csv; inside a function over series also just `NAME` |
//!
//! Functions over lists and series: `count sum max min mean rms std span first last diff`, `quantile(…, share)`; over series with
//! optional from–to `max min mean rms std span integral envelope` (`mean`, `rms`, `std`, `integral`, `quantile` weigh with time;
//! `envelope` is the list of the values at the turning points), `at(series, time)`, `spectrum(series, f, from, to)` (amplitude at a
//! frequency), `area(envelope(series, from, to, step))` (between the lines through the maxima and through the minima);
//! `per(number, period, from, to)` is a number of the run per period; over the contacts of events `sequence` (one cyclic word) and `word`
//! (compared from the first letter). `abs sqrt sin cos tan asin acos atan exp log` act on each entry.

mod eval;
mod fold;
mod names;
mod needs;
mod path;
pub(super) mod series;

use serde_json::Value as Json;

use super::table::Table;
use crate::expr::{Ast, parse_address};

pub use eval::Value;
pub(super) use fold::{Answer, Question, keep_last};
pub(super) use names::Known;
pub(super) use needs::Needs;

/// What an address looks into.
pub struct Data<'a> {
    /// `run.json`.
    pub run: &'a Json,
    /// `trajectory.csv`.
    pub table: &'a Table,
    /// Names of the check itself (`where`).
    pub locals: &'a [(String, Value)],
}

/// An address or expression that was read, to be evaluated many times.
#[derive(Clone, Debug)]
pub struct Address {
    /// As written.
    pub text: String,
    ast: Ast,
}

impl Address {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    pub fn read(text: &str) -> Result<Address, String> {
        let ast = parse_address(text).map_err(|e| format!("{e} in `{text}`"))?;
        Ok(Address { text: text.to_string(), ast })
    }

    /// Its value.
    ///
    /// # Errors
    ///
    /// A sentence for the user.
    pub fn value(&self, data: &Data) -> Result<Value, String> {
        eval::eval(&self.ast.root, data, false)
    }

    /// Whether it reads the local `name`.
    pub(super) fn reads(&self, name: &str) -> bool {
        self.needs(&[]).keys.iter().any(|key| key == name)
    }

    /// What it looks at; `columns` are the names of the recorded series.
    pub(super) fn needs(&self, columns: &[String]) -> Needs {
        Needs::of(&self.ast.root, columns)
    }
}

/// Value of an address or expression.
///
/// ```
/// use specht::machine::address::{Data, Value, evaluate};
/// use specht::machine::table::Table;
///
/// let run = serde_json::json!({ "events": [
///     { "kind": "impact", "time": 0.25 }, { "kind": "stick", "time": 0.5 }, { "kind": "impact", "time": 1.5 } ] });
/// let data = Data { run: &run, table: &Table::default(), locals: &[] };
/// assert_eq!(evaluate("count(events[kind=impact])", &data), Ok(Value::Number(2.0)));
/// assert_eq!(evaluate("events[kind=impact][-1].time - 250 ms", &data), Ok(Value::Number(1.25)));
/// ```
///
/// # Errors
///
/// A sentence for the user.
pub fn evaluate(text: &str, data: &Data) -> Result<Value, String> {
    Address::read(text)?.value(data)
}

#[cfg(test)]
mod tests;
