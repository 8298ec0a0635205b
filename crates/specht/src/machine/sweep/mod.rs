//! Many runs of one machine: grids, lists, random samples, chains; what is recorded of them, and how it survives.
//!
//! ```text
//! Plan ─point(row)─▶ values ─vary─▶ Machine ─run─▶ Columns ─row─▶ log ─▶ Rows
//! ```
//!
//! The model is compiled once with its varied parameters open. Row `k` is a function of the model, the plan and `k` alone (in a chain:
//! of the rows before it), so that the result has the same bits for any number of threads, shards and interruptions. Every row is
//! appended to the log when its run ends; memory holds a number per row and address. Runs record nothing that no address looks at.

mod border;
mod columns;
mod folds;
mod log;
mod map;
mod plan;
mod rows;
mod sample;
mod summary;

pub(super) use border::Partition;
pub use border::{Alone, Border, Distance};
pub use columns::Diagram;
pub use log::{Head, head_of, merge};
pub use map::{MapTask, Mapped};
pub use plan::{Chain, Plan, Shard, Span, Values};
pub use rows::{Cell, Rows};
pub(super) use sample::unit;
pub use sample::{Distribution, Random, Sampling, normal_quantile};
pub use summary::{Influence, Numbers, Share, Summary, share};

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use self::columns::Columns;
use self::folds::Folds;
use self::log::Log;
use self::rows::Row;
use super::json::Named;
use super::{Error, Machine, Run};
use crate::analysis::map::Watch;
use crate::analysis::place::Carried;
use crate::sim::{Outside, Scheme, Settings, Sink};
use crate::system::State;

/// Many runs and what is recorded of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sweep {
    /// The runs.
    pub plan: Plan,
    /// Addresses, one column each.
    pub record: Vec<String>,
    /// Passages through a section.
    pub diagram: Option<Diagram>,
}

/// How a sweep is done; the result does not depend on it.
#[derive(Clone, Copy, Default)]
pub struct How<'a> {
    /// Threads; `None`: all cores.
    pub jobs: Option<usize>,
    /// Which part.
    pub shard: Shard,
    /// How the outside follows and ends it.
    pub watch: Watch<'a>,
    /// How one of the runs is typed, without what varies: kept in the log for those who put shards together.
    pub command: &'a str,
}

impl Sweep {
    /// Rows without content.
    pub(super) fn empty(&self) -> Rows {
        Rows::new(self.plan.rows(), self.record.len(), self.diagram.is_some())
    }

    /// Does all runs and keeps the rows in memory.
    ///
    /// # Errors
    ///
    /// A plan that makes no sense, unknown parameters or addresses. Runs that fail are rows with their reason.
    pub fn run(&self, machine: &Machine, how: How) -> Result<Rows, Error> {
        let worker = Worker::new(machine, self, how.watch)?;
        self.execute(&worker, how, self.empty(), None)
    }

    /// The same with a log at `path`; with `resume`, goes on with the one that is there.
    ///
    /// # Errors
    ///
    /// As [`Sweep::run`], and a log that cannot be written or belongs to another sweep.
    pub fn run_logged(&self, machine: &Machine, how: How, path: &Path, resume: bool) -> Result<Rows, Error> {
        // what cannot be swept leaves no log
        let worker = Worker::new(machine, self, how.watch)?;
        let head = Head { command: how.command.to_string(), ..self.head(machine, how.shard) };
        let mut rows = self.empty();
        let log = match resume && path.exists() {
            true => Log::resume(path, &head, &mut rows)?,
            false => Log::create(path, &head)?,
        };
        self.execute(&worker, how, rows, Some(log))
    }

    /// Names of the columns: parameters, addresses, and what a diagram or a chain adds.
    pub fn columns(&self) -> Vec<String> {
        let mut out: Vec<String> = self.plan.parameters().map(str::to_string).collect();
        out.extend(self.record.iter().cloned());
        out.extend(self.diagram.iter().map(|d| d.values.clone()));
        out.extend(self.plan.chain.map(|_| "chain".to_string()));
        out
    }

    /// A row under the names of its columns; the passages through a section are a list, a reason stands under `error`.
    pub fn row_json(&self, rows: &Rows, row: usize) -> Named<Json> {
        let mut point = Vec::new();
        self.plan.point(row, &mut point);
        let mut out: Named<Json> = self
            .plan
            .parameters()
            .map(str::to_string)
            .zip(point.iter().map(|x| Cell::Number(*x).json()))
            .collect();
        out.extend(self.record.iter().enumerate().map(|(c, name)| (name.clone(), rows.cell(row, c).json())));
        if let Some(diagram) = &self.diagram {
            let values = rows.values(row).iter().map(|x| Cell::Number(*x).json()).collect();
            out.push(diagram.values.clone(), Json::Array(values));
        }
        if self.plan.chain.is_some() {
            out.push("chain", Json::from(self.way(row)));
        }
        if let Some(error) = rows.error(row) {
            out.push("error", Json::from(error));
        }
        out
    }

    /// `up` or `down`.
    pub fn way(&self, row: usize) -> &'static str {
        if self.plan.is_down(row) { "down" } else { "up" }
    }

    /// What its log says first.
    pub fn head(&self, machine: &Machine, shard: Shard) -> Head {
        let what = (&machine.source.text, &machine.options, &machine.setup);
        Head {
            program: "specht".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            model: machine.model().name.clone(),
            fingerprint: fingerprint(&format!("{what:?}")),
            sweep: self.clone(),
            shard,
            command: String::new(),
        }
    }

    fn execute(&self, worker: &Worker, how: How, rows: Rows, log: Option<Log>) -> Result<Rows, Error> {
        let per = self.plan.per_unit();
        let mine = |unit: &usize| how.shard.has(*unit) && !rows.is_done(*unit * per + per - 1);
        let units: Vec<usize> = (0..self.plan.units()).filter(mine).collect();
        let total = units.len() * per;
        let done = AtomicUsize::new(0);
        let ends = rows.ends.clone();
        let kept = Mutex::new((rows, log, None));
        let keep = |row: usize, content: &Row| -> bool {
            let Ok(mut kept) = kept.lock() else { return false };
            let (rows, log, fault) = &mut *kept;
            if let Some(Err(e)) = log.as_mut().map(|l| l.add(row, content)) {
                fault.get_or_insert(e);
                return false;
            }
            rows.put(row, content, per);
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(progress) = how.watch.progress {
                progress(n as f64 / total as f64);
            }
            true
        };
        let work = || {
            units.par_iter().try_for_each(|&unit| {
                let begun = ends.get(&unit).map(|(row, state)| (row + 1, state.clone()));
                worker.unit(unit, begun, &keep)
            })
        };
        match how.jobs {
            None => work(),
            Some(n) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n.max(1)).build();
                pool.map_err(|e| Error::plain(format!("{n} threads: {e}"), ""))?.install(work)
            }
        };
        let (rows, _, fault) = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match fault {
            Some(e) => Err(Error::plain(
                format!("the log of the sweep cannot be written: {e}"),
                "make room, then --resume",
            )),
            None => Ok(rows),
        }
    }
}

/// A fingerprint of a text: FNV-1a with 64 bits, twice with different beginnings.
fn fingerprint(text: &str) -> String {
    let hash =
        |begin: u64| text.bytes().fold(begin, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{:016x}{:016x}", hash(0xcbf2_9ce4_8422_2325), hash(0x8422_2325_cbf2_9ce4))
}

/// Part of a run after which everything has its name.
const MOMENT: f64 = 1e-9;

/// What all threads share.
struct Worker<'a> {
    sweep: &'a Sweep,
    /// The machine with its parameters open; `None` where they shape the machine itself and the text is read for every run.
    open: Option<Machine>,
    machine: &'a Machine,
    columns: Columns,
    watch: Watch<'a>,
}

impl<'a> Worker<'a> {
    fn new(machine: &'a Machine, sweep: &'a Sweep, watch: Watch<'a>) -> Result<Worker<'a>, Error> {
        sweep.plan.check()?;
        let known: Vec<String> = machine.model().parameters.iter().map(|p| p.name.clone()).collect();
        if let Some(name) = sweep.plan.parameters().find(|n| !known.iter().any(|k| k == n)) {
            return Err(Error::unknown("parameter", name, &known, "make a parameter of what should vary"));
        }
        let columns = Columns::read(machine, &sweep.record, sweep.diagram.as_ref())?;
        let open = machine.live(sweep.plan.parameters().map(str::to_string).collect()).ok();
        // every parameter must be open in the equations themselves
        let open = open.filter(|m| {
            let parameters = &m.system().model().parameters;
            sweep.plan.parameters().all(|n| parameters.iter().any(|p| p.name == n && p.live.is_some()))
        });
        let worker = Worker { sweep, open, machine, columns, watch };
        if let Some(sample) = worker.sample() {
            worker.columns.check(&sample)?;
        }
        Ok(worker)
    }

    /// A run of a moment at the first point, if there is one.
    fn sample(&self) -> Option<Run> {
        let mut point = Vec::new();
        self.sweep.plan.point(0, &mut point);
        let machine = self.variant(&point).ok().filter(|_| self.columns.needs_run())?;
        let (scheme, settings) = machine.settings().ok()?;
        let start = machine.start().ok()?;
        let moment = match scheme {
            Scheme::Step => settings.step,
            Scheme::Event => MOMENT * (settings.until - start.t),
        };
        let settings = Settings { until: start.t + moment, ..self.columns.settings(settings) };
        machine.run_from(&start, scheme, settings, &mut Outside::default()).ok()
    }

    /// The rows of a unit, one after the other; `None` ends the work.
    fn unit(
        &self,
        unit: usize,
        begun: Option<(usize, Option<Carried>)>,
        keep: &(impl Fn(usize, &Row) -> bool + Sync),
    ) -> Option<()> {
        let per = self.sweep.plan.per_unit();
        let (first, mut carried) = begun.unwrap_or((unit * per, None));
        let mut point = Vec::new();
        for row in first..(unit + 1) * per {
            if self.watch.is_interrupted() {
                return None;
            }
            self.sweep.plan.point(row, &mut point);
            let content = self.row(&point, carried.as_ref())?;
            carried.clone_from(&content.carried);
            if !keep(row, &content) {
                return None;
            }
        }
        Some(())
    }

    /// The row at a point; `None` when it was interrupted.
    fn row(&self, point: &[f64], carried: Option<&Carried>) -> Option<Row> {
        let made = self.variant(point);
        let fail = |e: Error| Row::failed(self.sweep.record.len(), short(&e));
        let machine = match made {
            Ok(machine) => machine,
            Err(e) => return Some(fail(e)),
        };
        if !self.columns.needs_run() {
            return self.columns.row(&machine, None, self.watch);
        }
        let names = machine.names();
        let mut folds = Folds::new(&self.columns, &names);
        match self.run(&machine, carried, &mut folds) {
            Ok(run) => {
                let mut row = self.columns.row(&machine, Some((&run, &folds)), self.watch)?;
                if self.sweep.plan.chain.is_some() {
                    row.carried = Some(Carried::of(machine.system(), &run.trajectory));
                }
                Some(row)
            }
            Err(e) => Some(fail(e)),
        }
    }

    /// From the start of the file, or from where the run before ended; contacts that the new parameters move are put right.
    fn run(&self, machine: &Machine, carried: Option<&Carried>, folds: &mut Folds) -> Result<Run, Error> {
        let (scheme, settings) = machine.settings()?;
        let settings = self.columns.settings(settings);
        let mut outside = Outside { interrupt: self.watch.interrupt, progress: None };
        let mut from = |start: &State| {
            let sink: Option<&mut dyn Sink> = if self.columns.folds() { Some(folds) } else { None };
            machine.run_into(start, scheme, settings.clone(), &mut outside, sink)
        };
        let run = match carried {
            None => from(&machine.start()?),
            Some(carried) => from(&carried.state).or_else(|e| match carried.mended(machine.system()) {
                Ok(state) => from(&state),
                Err(_) => Err(e),
            }),
        }?;
        // what the run has kept
        run.trajectory.events.iter().for_each(|e| folds.see(e));
        Ok(run)
    }

    /// The machine at a point.
    fn variant(&self, point: &[f64]) -> Result<Machine, Error> {
        let names = self.sweep.plan.parameters().zip(point);
        match &self.open {
            Some(open) => open.vary(&names.map(|(n, v)| (n, *v)).collect::<Vec<_>>()),
            None => names.into_iter().try_fold(self.machine.clone(), |m, (n, v)| m.with(n, v)),
        }
    }
}

/// An error in one line.
fn short(e: &Error) -> String {
    use super::Complaint;
    match e.complaint() {
        Complaint::Plain { message, .. } => message.clone(),
        Complaint::Located { list, .. } => list.first().map(|d| d.message.clone()).unwrap_or_default(),
    }
}
