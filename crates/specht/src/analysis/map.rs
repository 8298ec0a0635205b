//! The finding over one or two of parameters, coordinates and velocities: a curve or a map.
//!
//! The model is compiled once with the parameters as inputs; every grid point sets them, takes the start of the file (or a
//! state of a run, [`Plane::at`]), moves the coordinates and velocities of the axes ([`Place`]) and classifies the state. Rows run
//! in parallel, each with its own memory, and are put together in order: the result has the same bits for any number of
//! threads. Borders are located afterwards on the same function, see [`super::border`]. An interrupted map keeps what it has.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::border::{Border, borders};
use super::junction::Junction;
use super::painleve::{Class, Classifier, Verdict};
use super::place::{Place, Slot, slot};
use super::{AnalysisError, Snapshot, frictional_contact};
use crate::model::CompiledSystem;
use crate::system::{Normal, System};

/// Most points of a map.
pub(crate) const MAX_POINTS: usize = 25_000_000;

/// Points of a map of several pairs lie beside those of the grid by these fractions of a cell.
const ASIDE: [f64; 2] = [1e-5, 0.7e-5];

/// What is varied and its values.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Axis {
    /// Name of a parameter, a coordinate `phi` or a velocity `phi'`, as in the file.
    pub name: String,
    /// First value.
    pub from: f64,
    /// Last value.
    pub to: f64,
    /// Number of values, at least 2.
    pub count: usize,
}

impl Watch<'_> {
    /// Whether the outside wants the work to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_some_and(|f| f.load(Ordering::Relaxed))
    }
}

impl Axis {
    /// Value number `i`.
    pub fn value(&self, i: usize) -> f64 {
        let last = self.count.max(2) - 1;
        if i == last { self.to } else { self.from + (self.to - self.from) * i as f64 / last as f64 }
    }
}

/// How the outside follows and ends a map.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Set it to end the work; what is done is kept.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called with the fraction done, from any thread.
    pub progress: Option<&'a (dyn Fn(f64) + Sync)>,
}

/// One point of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Verdict and pattern list.
    pub class: Class,
    /// L of the contact asked for.
    pub index: f64,
    /// What times μ reaches 1 at the border: |L|, for a one-sided contact −L, for a journal 1/μ_c.
    pub reach: f64,
    /// Positive inside the paradox: μ|L| − 1, or −μL − 1 for a one-sided contact; for several pairs NaN.
    pub excess: f64,
    /// R⁰ of the contact asked for.
    pub frictionless: f64,
}

/// Where the paradox is nearest: |L| of a two-sided contact, −L of a one-sided one, is largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Largest {
    /// |L| or −L; the critical friction there is its inverse.
    pub value: f64,
    /// Values of the axes there.
    pub at: Vec<f64>,
}

/// A curve (one axis) or a map (two).
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    /// The axes; the first runs fastest.
    pub axes: Vec<Axis>,
    /// Name of the contact asked for.
    pub contact: String,
    /// One sample per point, `None` where the mechanism does not exist.
    pub grid: Vec<Option<Sample>>,
    /// Borders of the paradox and of R⁰ = 0.
    pub borders: Vec<Border>,
    /// Where borders meet.
    pub junctions: Vec<Junction>,
    /// Where the paradox is nearest.
    pub largest: Option<Largest>,
    /// Why the first undefined point is undefined.
    pub undefined: Option<String>,
    /// Fraction of the grid that was done: 1 unless interrupted.
    pub done: f64,
    /// Whether all borders were looked for.
    pub complete: bool,
}

impl Map {
    /// Number of points with this verdict.
    pub fn count(&self, v: Verdict) -> usize {
        self.grid.iter().flatten().filter(|s| s.class.verdict == v).count()
    }
}

/// A family of states: a place of a model over some of its live parameters, coordinates and velocities.
#[derive(Clone, Debug)]
pub struct Plane {
    sys: CompiledSystem,
    values: Vec<f64>,
    slots: Vec<Slot>,
    contact: usize,
    several: bool,
    place: Option<Place>,
}

/// Memory of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    sys: CompiledSystem,
    values: Vec<f64>,
    at: Snapshot,
    classifier: Classifier,
    changes: Vec<(Slot, f64)>,
    place: Option<Place>,
}

impl Plane {
    /// `sys` must have been built from a model in which the parameters among `names` are live. `contact`: the contact asked
    /// for; without it the first with friction.
    ///
    /// # Errors
    ///
    /// Unknown names or contacts, contacts without friction.
    pub fn new(
        sys: &CompiledSystem,
        names: &[String],
        contact: Option<&str>,
    ) -> Result<Plane, AnalysisError> {
        let model = sys.model();
        let values = model.live_values();
        let slots = names.iter().map(|name| slot(sys, name)).collect::<Result<Vec<_>, _>>()?;
        let info = sys.contacts();
        let contact = match contact {
            Some(name) => frictional_contact(info, name)?,
            None => {
                let first = info.iter().position(|c| c.friction && !c.tangent.is_empty());
                first.ok_or(AnalysisError::NoPair)?
            }
        };
        let rubbing = info.iter().filter(|c| c.friction && !c.tangent.is_empty()).count();
        let several = rubbing > 1 || matches!(info[contact].normal, Normal::Pin { .. });
        Ok(Plane { sys: sys.clone(), values, slots, contact, several, place: None })
    }

    /// Look at this place instead of the start of the file; it is kept when parameters vary.
    pub(crate) fn at(mut self, place: Place) -> Plane {
        self.place = Some(place);
        self
    }

    /// Name of the contact asked for.
    pub(crate) fn contact(&self) -> &str {
        &self.sys.contacts()[self.contact].name
    }

    /// Whether several pairs or a journal rub, so that borders are changes of the list of patterns.
    pub(crate) fn is_several(&self) -> bool {
        self.several
    }

    /// Memory for one thread.
    pub(crate) fn worker(&self) -> Worker {
        let mut sys = self.sys.clone();
        sys.set_parameters(&self.values);
        Worker {
            sys,
            values: self.values.clone(),
            at: Snapshot::new(&self.sys),
            classifier: Classifier::default(),
            changes: Vec::new(),
            place: self.place.clone(),
        }
    }

    /// The sample at a point.
    ///
    /// # Errors
    ///
    /// See [`AnalysisError`].
    pub(crate) fn sample(&self, w: &mut Worker, point: &[f64]) -> Result<Sample, AnalysisError> {
        w.changes.clear();
        let mut other = false;
        for (slot, v) in self.slots.iter().zip(point) {
            match *slot {
                Slot::Parameter(k) => {
                    other |= w.values[k].to_bits() != v.to_bits();
                    w.values[k] = *v;
                }
                slot => w.changes.push((slot, *v)),
            }
        }
        if other {
            w.sys.set_parameters(&w.values);
            if self.place.is_none() {
                w.place = None;
            }
        }
        if w.place.is_none() {
            w.place = Some(Place::start(&w.sys)?);
        }
        if let Some(place) = &w.place {
            w.at.state = place.with(&w.sys, &w.changes)?;
        }
        w.at.take(&w.sys)?;
        let class = w.classifier.classify(&w.sys, &w.at)?;
        let re = &w.classifier.reactions;
        let a = re.pair_of(self.contact);
        let Some(a) = a else {
            let name = self.contact().to_string();
            // an open contact carries nothing; a journal has an index of its own kind; a given load none
            let journal = re.journals.iter().find(|j| j.contact == self.contact);
            let nan = f64::NAN;
            return match (journal, re.linear) {
                (Some(j), _) => {
                    let reach = 1.0 / j.critical_mu();
                    Ok(Sample { class, index: j.index(), reach, excess: nan, frictionless: j.load() })
                }
                (None, true) => Err(AnalysisError::Open(name)),
                (None, false) => Ok(Sample { class, index: nan, reach: nan, excess: nan, frictionless: nan }),
            };
        };
        let (pair, index) = (&re.pairs[a], re.index[(a, a)]);
        let reach = if pair.two_sided { index.abs() } else { -index };
        Ok(Sample {
            class,
            index,
            reach,
            excess: if self.several { f64::NAN } else { pair.mu * reach - 1.0 },
            frictionless: re.frictionless[a],
        })
    }
}

/// The curve or map over one or two axes.
///
/// # Errors
///
/// A wrong axis, no point at all; points at which the mechanism does not exist are data.
pub fn map(plane: &Plane, axes: &[Axis], watch: Watch<'_>) -> Result<Map, AnalysisError> {
    check_axes(axes)?;
    let rows = axes.get(1).map_or(1, |a| a.count);
    let columns = axes[0].count;
    // a curve is cut into pieces that threads can share
    let piece = if rows == 1 { columns.div_ceil(64) } else { columns };
    let pieces: Vec<(usize, usize)> =
        (0..rows).flat_map(|j| (0..columns).step_by(piece).map(move |i| (j, i))).collect();
    // borders of several pairs like to pass through round numbers, where every list of patterns is an accident of rounding
    let aside = |k: usize, i: usize| {
        if !plane.is_several() || axes.len() < 2 {
            return 0.0;
        }
        let cell = (axes[k].to - axes[k].from) / (axes[k].count - 1) as f64;
        cell * ASIDE[k] * if i + 1 == axes[k].count { -1.0 } else { 1.0 }
    };
    let counted = AtomicUsize::new(0);
    type Piece = Option<(Vec<Option<Sample>>, Option<AnalysisError>)>;
    let parts: Vec<Piece> = pieces
        .par_iter()
        .map_init(
            || plane.worker(),
            |w, &(j, first)| {
                let mut undefined = None;
                let mut point = [0.0; 2];
                let mut list = Vec::with_capacity(piece);
                for i in first..(first + piece).min(columns) {
                    if watch.is_interrupted() {
                        return None;
                    }
                    point[0] = axes[0].value(i) + aside(0, i);
                    if let Some(a) = axes.get(1) {
                        point[1] = a.value(j) + aside(1, j);
                    }
                    match plane.sample(w, &point[..axes.len()]) {
                        Ok(s) => list.push(Some(s)),
                        Err(e) => {
                            list.push(None);
                            undefined.get_or_insert(e);
                        }
                    }
                }
                if let Some(f) = watch.progress {
                    f(0.7 * (counted.fetch_add(1, Ordering::Relaxed) + 1) as f64 / pieces.len() as f64);
                }
                Some((list, undefined))
            },
        )
        .collect();
    let mut out = Map {
        axes: axes.to_vec(),
        contact: plane.contact().to_string(),
        grid: Vec::with_capacity(rows * columns),
        borders: Vec::new(),
        junctions: Vec::new(),
        largest: None,
        undefined: None,
        done: 1.0,
        complete: true,
    };
    let mut why = None;
    let done = parts.iter().filter(|p| p.is_some()).count();
    for (part, &(_, first)) in parts.into_iter().zip(&pieces) {
        match part {
            Some((list, undefined)) => {
                out.grid.extend(list);
                why = why.or(undefined);
            }
            None => out.grid.extend(std::iter::repeat_n(None, piece.min(columns - first))),
        }
    }
    out.done = done as f64 / pieces.len() as f64;
    if out.grid.iter().all(Option::is_none) {
        return Err(match why {
            Some(why) if done == pieces.len() => AnalysisError::NoPoint(Box::new(why)),
            _ => AnalysisError::Interrupted,
        });
    }
    out.undefined = why.map(|e| e.to_string());
    out.complete = done == pieces.len();
    borders(plane, &mut out, watch);
    if let Some(f) = watch.progress {
        f(1.0);
    }
    Ok(out)
}

/// Axes that make sense.
fn check_axes(axes: &[Axis]) -> Result<(), AnalysisError> {
    if axes.is_empty() || axes.len() > 2 {
        let text = format!("`over` needs one axis (a curve) or two (a map), not {}", axes.len());
        return Err(AnalysisError::Key(text));
    }
    for a in axes {
        if a.name.is_empty() || !a.from.is_finite() || !a.to.is_finite() {
            let text =
                format!("the range of `{}` must have two finite ends, not {} and {}", a.name, a.from, a.to);
            return Err(AnalysisError::Key(text));
        }
        if a.from >= a.to {
            let text = format!(
                "the range of `{}` runs from {} to {}; the first end must be the smaller one",
                a.name, a.from, a.to
            );
            return Err(AnalysisError::Key(text));
        }
        if a.count < 2 {
            let text = format!("the range of `{}` has {} value; it needs at least 2", a.name, a.count);
            return Err(AnalysisError::Key(text));
        }
    }
    if let [a, b] = axes
        && a.name == b.name
    {
        let text = format!("both axes of the map are `{}`; take two different ones", a.name);
        return Err(AnalysisError::Key(text));
    }
    let points = axes.iter().fold(1_usize, |n, a| n.saturating_mul(a.count));
    if points > MAX_POINTS {
        let counts: Vec<String> = axes.iter().map(|a| a.count.to_string()).collect();
        return Err(AnalysisError::Key(format!(
            "{} = {points} points are more than the {MAX_POINTS} a map may have; borders are located far more finely than the grid, so 400 values per axis are plenty",
            counts.join(" \u{d7} ")
        )));
    }
    Ok(())
}
