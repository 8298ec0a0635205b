//! The finding over one or two parameters: a curve or a map.
//!
//! The model is compiled once with the parameters as inputs; every grid point sets them, takes the start of the file and
//! classifies it. Rows run in parallel, each with its own memory, and are put together in order: the result has the same bits
//! for any number of threads. Borders are located afterwards on the same function, see [`super::border`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::border::{Border, borders};
use super::painleve::{Class, Classifier, Verdict};
use super::{AnalysisError, Snapshot, frictional_contact};
use crate::model::CompiledSystem;
use crate::sim;
use crate::system::{State, System};

/// One parameter and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name of the parameter, as in the file.
    pub name: String,
    /// First value.
    pub from: f64,
    /// Last value.
    pub to: f64,
    /// Number of values, at least 2.
    pub count: usize,
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
    /// Set it to end the work with [`AnalysisError::Interrupted`].
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
    /// Positive inside the paradox: μ|L| − 1, or −μL − 1 for a one-sided contact; for several pairs NaN.
    pub excess: f64,
    /// R⁰ of the contact asked for.
    pub frictionless: f64,
}

/// Where |L| is largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Largest {
    /// |L|.
    pub value: f64,
    /// Parameter values there.
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
    /// Where |L| is largest.
    pub largest: Option<Largest>,
    /// Why the first undefined point is undefined.
    pub undefined: Option<String>,
}

impl Map {
    /// Number of points with this verdict.
    pub fn count(&self, v: Verdict) -> usize {
        self.grid.iter().flatten().filter(|s| s.class.verdict == v).count()
    }
}

/// A family of states: the start of a model over some of its live parameters.
#[derive(Clone, Debug)]
pub struct Plane {
    sys: CompiledSystem,
    values: Vec<f64>,
    slots: Vec<usize>,
    contact: usize,
    several: bool,
}

/// Memory of one thread.
#[derive(Clone, Debug)]
pub struct Worker {
    sys: CompiledSystem,
    values: Vec<f64>,
    at: Snapshot,
    classifier: Classifier,
}

impl Plane {
    /// `sys` must have been built from a model in which all `names` are live. `contact`: the contact asked for; without it
    /// the first with friction.
    ///
    /// # Errors
    ///
    /// Unknown parameters or contacts, contacts without friction.
    pub fn new(
        sys: &CompiledSystem,
        names: &[String],
        contact: Option<&str>,
    ) -> Result<Plane, AnalysisError> {
        let model = sys.model();
        let count = model.parameters.iter().filter_map(|p| p.live).max().map_or(0, |k| k + 1);
        let mut values = vec![f64::NAN; count];
        for p in &model.parameters {
            if let Some(k) = p.live {
                values[k] = p.value;
            }
        }
        let slots = names
            .iter()
            .map(|name| {
                let p = model.parameters.iter().find(|p| p.name == *name).and_then(|p| p.live);
                p.ok_or_else(|| AnalysisError::UnknownParameter {
                    name: name.clone(),
                    known: model.parameters.iter().map(|p| p.name.clone()).collect(),
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let info = sys.contacts();
        let contact = match contact {
            Some(name) => frictional_contact(info, name)?,
            None => {
                let first = info.iter().position(|c| c.friction && !c.tangent.is_empty());
                first.ok_or(AnalysisError::NoPair)?
            }
        };
        let rubbing = info.iter().filter(|c| c.friction && !c.tangent.is_empty()).count();
        Ok(Plane { sys: sys.clone(), values, slots, contact, several: rubbing > 1 })
    }

    /// Name of the contact asked for.
    pub fn contact(&self) -> &str {
        &self.sys.contacts()[self.contact].name
    }

    /// Whether several pairs rub, so that borders are changes of the list of patterns.
    pub fn is_several(&self) -> bool {
        self.several
    }

    /// Memory for one thread.
    pub fn worker(&self) -> Worker {
        Worker {
            sys: self.sys.clone(),
            values: self.values.clone(),
            at: Snapshot::new(&self.sys),
            classifier: Classifier::default(),
        }
    }

    /// The sample at a point.
    ///
    /// # Errors
    ///
    /// See [`AnalysisError`].
    pub fn sample(&self, w: &mut Worker, point: &[f64]) -> Result<Sample, AnalysisError> {
        for (slot, v) in self.slots.iter().zip(point) {
            w.values[*slot] = *v;
        }
        w.sys.set_parameters(&w.values);
        w.at.state = start_of(&w.sys)?;
        w.at.take(&w.sys)?;
        let class = w.classifier.classify(&w.sys, &w.at)?;
        let re = &w.classifier.reactions;
        let a = re.pair_of(self.contact);
        let Some(a) = a else {
            let name = self.contact().to_string();
            // an open contact carries nothing; a journal has no index of this kind
            return match re.linear {
                true => Err(AnalysisError::Open(name)),
                false => Ok(Sample { class, index: f64::NAN, excess: f64::NAN, frictionless: f64::NAN }),
            };
        };
        let (pair, index) = (&re.pairs[a], re.index[(a, a)]);
        let inside = pair.mu * if pair.two_sided { index.abs() } else { -index };
        Ok(Sample {
            class,
            index,
            excess: if self.several { f64::NAN } else { inside - 1.0 },
            frictionless: re.frictionless[a],
        })
    }
}

/// The start of the file with the present parameters, made consistent.
///
/// # Errors
///
/// The conditions of the start cannot be met.
pub fn start_of(sys: &CompiledSystem) -> Result<State, AnalysisError> {
    let (model, given) = (sys.model(), sys.start());
    let of_system = |list: &[usize]| list.iter().flat_map(|k| sys.contacts_of(*k)).collect::<Vec<usize>>();
    if model.start.equilibrium {
        return Ok(sim::start::equilibrium(sys, &given, &of_system(&model.start.closed))?);
    }
    let solved = model.coordinates.iter().any(|c| c.guess) || !model.start.closed.is_empty();
    if !solved {
        return Ok(given);
    }
    let (closed, sticking) = (of_system(&model.start.closed), of_system(&model.start.sticking));
    let guess: Vec<usize> = (0..model.coordinates.len()).filter(|k| model.coordinates[*k].guess).collect();
    Ok(sim::start::consistent(sys, &given, &guess, &closed, &sticking)?)
}

/// The curve or map over one or two axes.
///
/// # Errors
///
/// A wrong axis, an interrupt; points at which the mechanism does not exist are data.
pub fn map(plane: &Plane, axes: &[Axis], watch: Watch<'_>) -> Result<Map, AnalysisError> {
    if axes.is_empty() || axes.len() > 2 {
        return Err(AnalysisError::Key(format!("`over` needs one or two parameters, not {}", axes.len())));
    }
    for a in axes {
        if a.count < 2 || !a.from.is_finite() || !a.to.is_finite() || a.from == a.to {
            let text = format!("`over` of `{}` needs two different ends and at least 2 values", a.name);
            return Err(AnalysisError::Key(text));
        }
    }
    let rows = axes.get(1).map_or(1, |a| a.count);
    let columns = axes[0].count;
    // a curve is cut into pieces that threads can share
    let piece = if rows == 1 { columns.div_ceil(16) } else { columns };
    let pieces: Vec<(usize, usize)> =
        (0..rows).flat_map(|j| (0..columns).step_by(piece).map(move |i| (j, i))).collect();
    let done = AtomicUsize::new(0);
    type Piece = Result<(Vec<Option<Sample>>, Option<String>), AnalysisError>;
    let parts: Vec<Piece> = pieces
        .par_iter()
        .map_init(
            || plane.worker(),
            |w, &(j, first)| {
                if watch.interrupt.is_some_and(|f| f.load(Ordering::Relaxed)) {
                    return Err(AnalysisError::Interrupted);
                }
                let mut undefined = None;
                let mut point = [0.0; 2];
                let list = (first..(first + piece).min(columns))
                    .map(|i| {
                        point[0] = axes[0].value(i);
                        if let Some(a) = axes.get(1) {
                            point[1] = a.value(j);
                        }
                        let s = plane.sample(w, &point[..axes.len()]);
                        s.map_err(|e| undefined.get_or_insert_with(|| e.to_string()).clone()).ok()
                    })
                    .collect();
                if let Some(f) = watch.progress {
                    f(0.8 * (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / pieces.len() as f64);
                }
                Ok((list, undefined))
            },
        )
        .collect();
    let mut out = Map {
        axes: axes.to_vec(),
        contact: plane.contact().to_string(),
        grid: Vec::with_capacity(rows * columns),
        borders: Vec::new(),
        largest: None,
        undefined: None,
    };
    for p in parts {
        let (list, undefined) = p?;
        out.grid.extend(list);
        out.undefined = out.undefined.or(undefined);
    }
    if out.grid.iter().all(Option::is_none) {
        let why = out.undefined.unwrap_or_default();
        return Err(AnalysisError::Key(format!("no point of the map can be analysed: {why}")));
    }
    borders(plane, &mut out, watch)?;
    if let Some(f) = watch.progress {
        f(1.0);
    }
    Ok(out)
}
