//! `basin`: from which starts does the motion end where? (METH-BASIN)
//!
//! Some starts of the box are simulated until the motion settles: its attractors. Every point of the grid is then simulated from
//! section to section until it follows one of these (two passages in a row), or settles by itself; an attractor that only the grid
//! knows joins the list. Borders are located between the points of the grid. Points are independent of each other, so the result does not depend on
//! the number of threads. [Hsu1987]

use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::analysis::cycle::{Known, Outcome, Section, Settled, follow};
use crate::analysis::map::{Axis, Watch};
use crate::analysis::place::{Place, Slot, slot};
use crate::machine::json::Named;
use crate::machine::sweep::{Border, Distance, Partition, Span};
use crate::machine::task::{BasinTask, LimitCycleTask};
use crate::machine::{Error, Machine};
use crate::sim::{Outside, Settings};
use crate::system::State;

use super::attractors::{Attractor, even, same};
use super::limit_cycle::LimitCycleFinding;
use super::map::GridColumn;

/// Starts from which attractors are looked for before the grid.
const SCOUTS: usize = 8;
/// How finely borders are located, relative to a cell.
const FINE: f64 = 0.02;
/// The class of starts that the machine cannot have.
const INADMISSIBLE: &str = "inadmissible";

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct BasinFinding {
    /// What motions end in, the most frequent first; shares of the starts that are possible.
    pub attractors: Vec<Attractor>,
    /// Values of the axes; `attractor`: rows of letters, `a` the first attractor, `b` the second, `.` a start that is not possible.
    pub grid: Named<GridColumn>,
    /// Lines between basins.
    pub borders: Vec<Border>,
    /// How far the start of the file is from the nearest border.
    pub distance: Option<Distance>,
    /// Share of the starts that are not possible.
    pub inadmissible: f64,
    /// Names of the axes.
    pub axes: Vec<String>,
    /// What the section is.
    pub section: String,
    /// False when it was interrupted.
    pub complete: bool,
    /// Page.
    pub explain: &'static str,
}

/// Attractors with the signatures by which motions are seen to follow them.
#[derive(Default)]
struct Book {
    found: Vec<LimitCycleFinding>,
    known: Vec<Known>,
}

impl Book {
    /// Number of an attractor; it joins the list if it is new.
    fn number(&mut self, finding: LimitCycleFinding, signature: Option<Known>) -> usize {
        if let Some(k) = self.found.iter().position(|f| same(f, &finding)) {
            return k;
        }
        let k = self.found.len();
        self.found.push(finding);
        self.known.extend(signature.map(|s| s.numbered(k)));
        k
    }
}

/// What one start leads to.
enum End {
    Inadmissible,
    Known(usize),
    New(Box<LimitCycleFinding>),
}

/// Everything that one start needs.
struct Field<'a> {
    machine: &'a Machine,
    task: LimitCycleTask,
    settings: Settings,
    place: Place,
    slots: [Slot; 2],
    section: Option<Section>,
    watch: Watch<'a>,
}

impl Field<'_> {
    fn start(&self, at: [f64; 2]) -> Option<State> {
        let changes = [(self.slots[0], at[0]), (self.slots[1], at[1])];
        self.place.with(self.machine.system(), &changes).ok()
    }

    fn end(&self, at: [f64; 2], known: &[Known]) -> End {
        let Some(start) = self.start(at) else { return End::Inadmissible };
        let sys = self.machine.system();
        let mut outside = Outside { interrupt: self.watch.interrupt, progress: None };
        let settled = match follow(sys, &start, &self.settings, self.section.clone(), known, &mut outside) {
            Ok(settled) => settled,
            Err(_) => return End::Inadmissible,
        };
        if let Outcome::Follows(k) = settled.outcome {
            return End::Known(k);
        }
        match self.machine.one_cycle(&self.task, &start, &self.settings, self.watch) {
            Ok(found) => End::New(Box::new(found)),
            Err(_) => End::Inadmissible,
        }
    }
}

impl Machine {
    pub(super) fn basin(&self, task: &BasinTask, watch: Watch) -> Result<BasinFinding, Error> {
        let [first, second] = &task.axes[..] else {
            return Err(Error::plain(
                "a basin has two axes: coordinates or velocities of the start",
                "write over = { x = [-2, 4, 41], \"x'\" = [-3, 1, 41] }, or --over x=-2..4:41 --over \"x'=-3..1:41\"",
            ));
        };
        let axes = [span_of(first)?, span_of(second)?];
        let sys = self.system();
        let slots = [self.start_slot(&first.name)?, self.start_slot(&second.name)?];
        let settings = self.cycle_settings()?;
        let place = Place::start(sys).map_err(|e| self.refuse(e))?;
        let mut field =
            Field { machine: self, task: task.cycle.clone(), settings, place, slots, section: None, watch };
        let mut book = Book::default();
        self.scout(&mut field, &axes, &mut book)?;
        let (columns, lines) = (first.count, second.count);
        let place = |k: usize| [axes[0].value(k % columns), axes[1].value(k / columns)];
        let counted = AtomicUsize::new(0);
        let ends: Vec<Option<End>> = (0..columns * lines)
            .into_par_iter()
            .map(|k| {
                if watch.is_interrupted() {
                    return None;
                }
                let end = field.end(place(k), &book.known);
                if let Some(f) = watch.progress {
                    f(0.7 * (counted.fetch_add(1, Ordering::Relaxed) + 1) as f64 / (columns * lines) as f64);
                }
                Some(end)
            })
            .collect();
        let complete = ends.iter().all(Option::is_some);
        let grid: Vec<Option<Option<usize>>> = ends
            .into_iter()
            .map(|end| {
                end.map(|end| match end {
                    End::Inadmissible => None,
                    End::Known(k) => Some(k),
                    End::New(f) => Some(book.number(*f, None)),
                })
            })
            .collect();
        Ok(self.basins(&field, &axes, &grid, &book, complete))
    }

    /// A coordinate or velocity of the start.
    fn start_slot(&self, name: &str) -> Result<Slot, Error> {
        match slot(self.system(), name).map_err(|e| self.refuse(e))? {
            Slot::Parameter(_) => Err(Error::plain(
                format!("`{name}` is a parameter; a basin is about starts"),
                "name coordinates `x` or velocities `x'`; maps over parameters: specht map",
            )),
            slot => Ok(slot),
        }
    }

    /// Attractors from the start of the file and some starts in the box; the section that all share.
    fn scout(&self, field: &mut Field<'_>, axes: &[Span; 2], book: &mut Book) -> Result<(), Error> {
        let ends = |a: &Span| [a.value(0), a.value(a.count() - 1)];
        let inside = |k: usize, j: usize| {
            let [low, high] = ends(&axes[j]);
            low + (high - low) * even(k, j)
        };
        let nominal = Some(field.place.state.clone());
        let scouts = (0..SCOUTS).map(|k| [inside(k, 0), inside(k, 1)]).map(|at| field.start(at));
        let starts: Vec<State> = std::iter::once(nominal).chain(scouts).flatten().collect();
        for start in starts {
            if field.watch.is_interrupted() {
                break;
            }
            let Ok((settled, found)) = self.orbit(&field.task, &start, &field.settings, field.watch) else {
                continue;
            };
            let signature = Known::of(&settled);
            if signature.is_some() {
                field.section.get_or_insert_with(|| settled.section.clone());
            }
            let signature = signature.filter(|_| field.section.as_ref() == Some(&settled.section));
            let finding = self.cycle_or_not(&field.settings, &settled, found)?;
            book.number(finding, signature);
        }
        Ok(())
    }

    fn cycle_or_not(
        &self,
        settings: &Settings,
        settled: &Settled,
        found: super::limit_cycle::Found,
    ) -> Result<LimitCycleFinding, Error> {
        match found {
            Ok((orbit, forcing)) => self.told(settings, settled, orbit, forcing),
            Err(stalled) => Ok(self.no_cycle(settled, stalled)),
        }
    }

    /// The finding from the attractor of every point of the grid.
    fn basins(
        &self,
        field: &Field<'_>,
        axes: &[Span; 2],
        grid: &[Option<Option<usize>>],
        book: &Book,
        complete: bool,
    ) -> BasinFinding {
        let count = |k: usize| grid.iter().filter(|c| **c == Some(Some(k))).count();
        let mut order: Vec<usize> = (0..book.found.len()).filter(|&k| count(k) > 0).collect();
        order.sort_by_key(|&k| std::cmp::Reverse(count(k)));
        let possible = grid.iter().filter(|c| matches!(c, Some(Some(_)))).count().max(1) as f64;
        let rank = |k: usize| order.iter().position(|o| *o == k);
        let name = |k: usize| match rank(k) {
            Some(r) => format!("{} {}", book.found[k].kind, r + 1),
            None => format!("{} {}", book.found[k].kind, order.len() + k + 1),
        };
        let attractors = order.iter().map(|&k| {
            let f = &book.found[k];
            Attractor {
                name: name(k),
                share: count(k) as f64 / possible,
                kind: f.kind,
                period: f.period,
                multipliers: f.multipliers.clone(),
                state: f.state.clone(),
            }
        });
        let letter = |c: &Option<Option<usize>>| match c.flatten().and_then(rank) {
            Some(r) => char::from(b'a' + (r % 26) as u8),
            None => '.',
        };
        let columns = axes[0].count();
        let rows = grid.chunks(columns).map(|row| row.iter().map(letter).collect::<String>());
        let values = |a: &Span| GridColumn::Axis((0..a.count()).map(|i| a.value(i)).collect());
        let mut columns: Named<GridColumn> = axes.iter().map(|a| (a.name.clone(), values(a))).collect();
        columns.push("attractor", GridColumn::Rows(rows.collect()));
        let of_end = |end: End| match end {
            End::Inadmissible => INADMISSIBLE.to_string(),
            End::Known(k) => name(k),
            End::New(f) => match book.found.iter().position(|g| same(g, &f)) {
                Some(k) => name(k),
                None => f.kind.to_string(),
            },
        };
        let class = |at: [f64; 2]| Some(of_end(field.end(at, &book.known)));
        let stop = || field.watch.is_interrupted();
        let partition = Partition { axes, fine: FINE, class: &class, stop: &stop };
        let classes: Vec<Option<String>> =
            grid.iter().map(|c| c.as_ref().map(|c| c.map_or(INADMISSIBLE.to_string(), name))).collect();
        let borders = if complete { partition.borders(&classes) } else { Vec::new() };
        let value = |s: Slot| match s {
            Slot::Coordinate(k) => field.place.state.q[k],
            Slot::Velocity(k) => field.place.state.u[k],
            Slot::Parameter(_) => f64::NAN,
        };
        let names = [axes[0].name.as_str(), axes[1].name.as_str()];
        let distance = partition.distance(names, field.slots.map(value), &borders);
        let outside = grid.iter().filter(|c| **c == Some(None)).count();
        BasinFinding {
            attractors: attractors.collect(),
            grid: columns,
            borders,
            distance,
            inadmissible: outside as f64 / grid.len().max(1) as f64,
            axes: names.map(String::from).to_vec(),
            section: field.section.as_ref().map_or_else(String::new, |s| self.section_name(s)),
            complete,
            explain: "basin",
        }
    }

    fn section_name(&self, section: &Section) -> String {
        match section {
            Section::Event(name) => format!("event `{name}`"),
            Section::Period(p) => format!("multiples of {p} s"),
            Section::Maximum(k) => format!("maxima of `{}`", self.coordinate_names("")[*k]),
        }
    }
}

/// An axis with values.
fn span_of(a: &Axis) -> Result<Span, Error> {
    match a.count >= 2 && a.from.is_finite() && a.to.is_finite() && a.from != a.to {
        true => Ok(Span::range(&a.name, a.from, a.to, a.count)),
        false => Err(Error::plain(
            format!("the range of `{}` needs two different ends and at least two values", a.name),
            "",
        )),
    }
}
