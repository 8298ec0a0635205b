//! `sweep` as a task of a file: its rows and what they say as a whole.

use serde::Serialize;
use serde_json::Value as Json;

use crate::analysis::map::Watch;
use crate::machine::json::Named;
use crate::machine::sweep::{How, Summary, Sweep};
use crate::machine::{Error, Machine};

/// Rows of a task, at most.
const ROWS: usize = 200_000;

/// Many runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepFinding {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, under these names.
    pub rows: Vec<Named<Json>>,
    /// How many lack something.
    pub failed: usize,
    /// False when it was interrupted.
    pub complete: bool,
    /// Every address as a whole.
    pub summaries: Vec<Summary>,
    /// Page.
    pub explain: &'static str,
}

impl Machine {
    pub(super) fn sweep(&self, sweep: &Sweep, watch: Watch) -> Result<SweepFinding, Error> {
        sweep.plan.check()?;
        if sweep.plan.rows() > ROWS {
            return Err(Error::plain(
                format!("{} runs are more than the {ROWS} of a task", sweep.plan.rows()),
                "use the command: specht sweep MODEL --out DIR",
            ));
        }
        let rows = sweep.run(self, How { watch, ..How::default() })?;
        Ok(SweepFinding {
            columns: sweep.columns(),
            rows: (0..rows.len()).filter(|&k| rows.is_done(k)).map(|k| sweep.row_json(&rows, k)).collect(),
            failed: rows.count_failed(),
            complete: rows.count_done() == rows.len(),
            summaries: sweep.summaries(&rows),
            explain: "sweep",
        })
    }
}
