//! A result over two parameters: the grid, the borders of its classes, and how far the nominal point is from them.
//!
//! Words, truths and whole numbers are classes; other numbers are cut into classes at given levels. Borders: `border`.

use super::border::{Border, Class, Distance, Partition};
use super::rows::{Cell, Rows};
use super::{How, Sweep, Worker};
use crate::machine::json::Named;
use crate::machine::{Error, Machine};
use std::path::Path;

/// What is mapped.
#[derive(Clone, Debug, PartialEq)]
pub struct MapTask {
    /// Two axes and one address.
    pub sweep: Sweep,
    /// Levels that cut numbers into classes; without them, whole numbers are classes.
    pub levels: Vec<f64>,
    /// How finely borders are located, relative to a cell.
    pub fine: f64,
}

/// The map.
#[derive(Clone, Debug)]
pub struct Mapped {
    /// The grid.
    pub rows: Rows,
    /// Points of the grid by class.
    pub classes: Named<usize>,
    /// Borders.
    pub borders: Vec<Border>,
    /// Nominal point.
    pub nominal: [f64; 2],
    /// How far it is from the nearest border.
    pub distance: Option<Distance>,
}

impl MapTask {
    /// Computes it. Interrupted, it keeps the points that are done and has no borders.
    ///
    /// # Errors
    ///
    /// Not two axes, unknown names.
    pub fn run(&self, machine: &Machine, how: How) -> Result<Mapped, Error> {
        self.check()?;
        self.mapped(machine, how, self.sweep.run(machine, how)?)
    }

    /// The same with a log of the points at `path`; with `resume`, goes on with the one that is there. Borders are found anew.
    ///
    /// # Errors
    ///
    /// As [`MapTask::run`], and a log that cannot be written or belongs to another map.
    pub fn run_logged(
        &self,
        machine: &Machine,
        how: How,
        path: &Path,
        resume: bool,
    ) -> Result<Mapped, Error> {
        self.check()?;
        self.mapped(machine, how, self.sweep.run_logged(machine, how, path, resume)?)
    }

    fn check(&self) -> Result<(), Error> {
        let axes = &self.sweep.plan.axes;
        let plain = self.sweep.plan.random.is_empty() && self.sweep.plan.chain.is_none();
        if axes.len() != 2 || axes.iter().any(|a| a.count() < 2) || !plain {
            return Err(Error::plain(
                "a map has two axes with at least two values each",
                "give --over mu=0..1:41 --over v=1..5:41",
            ));
        }
        if !(self.fine > 0.0 && self.fine <= 1.0) {
            return Err(Error::plain(format!("the fineness {} must lie between 0 and 1", self.fine), ""));
        }
        Ok(())
    }

    /// Borders between the classes of the points.
    fn mapped(&self, machine: &Machine, how: How, rows: Rows) -> Result<Mapped, Error> {
        let axes = &self.sweep.plan.axes;
        let names: Vec<&str> = self.sweep.plan.parameters().collect();
        let value = |name: &str| {
            machine.model().parameters.iter().find(|p| p.name == name).map_or(f64::NAN, |p| p.value)
        };
        let nominal = [value(names[0]), value(names[1])];
        let worker = Worker::new(machine, &self.sweep, how.watch)?;
        let whole = (0..rows.len()).all(|k| match rows.cell(k, 0) {
            Cell::Number(x) => !x.is_finite() || x == x.round(),
            _ => true,
        });
        let field = Field { task: self, worker, whole };
        let done = |k: usize| if rows.is_done(k) { field.class_of(&rows.cell(k, 0)) } else { None };
        let grid: Vec<Class> = (0..rows.len()).map(done).collect();
        let class = |at| field.class(at);
        let stop = || how.watch.is_interrupted();
        let partition = Partition { axes, fine: self.fine, class: &class, stop: &stop };
        let work = || partition.borders(&grid);
        let borders = match how.jobs {
            None => work(),
            Some(n) => match rayon::ThreadPoolBuilder::new().num_threads(n.max(1)).build() {
                Ok(pool) => pool.install(work),
                Err(_) => work(),
            },
        };
        let mut classes: Vec<(String, usize)> = Vec::new();
        for class in grid.iter().flatten() {
            match classes.iter_mut().find(|c| c.0 == *class) {
                Some(c) => c.1 += 1,
                None => classes.push((class.clone(), 1)),
            }
        }
        classes.sort();
        let distance = partition.distance([names[0], names[1]], nominal, &borders);
        Ok(Mapped { rows, classes: Named(classes), borders, nominal, distance })
    }
}

/// The class as a function of the two parameters.
struct Field<'a> {
    task: &'a MapTask,
    worker: Worker<'a>,
    /// All numbers of the grid are whole.
    whole: bool,
}

impl Field<'_> {
    fn class_of(&self, cell: &Cell) -> Class {
        match cell {
            Cell::Text(t) => Some(t.clone()),
            Cell::Bool(b) => Some(b.to_string()),
            Cell::Number(x) if x.is_nan() => None,
            Cell::Number(x) if !self.task.levels.is_empty() => {
                let mut levels = self.task.levels.clone();
                levels.sort_by(f64::total_cmp);
                let k = levels.iter().filter(|l| **l < *x).count();
                Some(match (k.checked_sub(1).map(|k| levels[k]), levels.get(k)) {
                    (None, Some(high)) => format!("up to {high}"),
                    (Some(low), Some(high)) => format!("{low} to {high}"),
                    (Some(low), None) => format!("above {low}"),
                    (None, None) => String::new(),
                })
            }
            Cell::Number(x) if self.whole => Some(x.to_string()),
            Cell::Number(_) => Some("number".into()),
        }
    }

    fn class(&self, at: [f64; 2]) -> Class {
        let row = self.worker.row(&at, None)?;
        row.cells.first().and_then(|cell| self.class_of(cell))
    }
}
