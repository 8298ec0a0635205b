//! What changes no equation: coordinates that do not matter, time, and the period of what depends on it (METH-CYCLE-REL).
//!
//! Along a direction (t, q, z, memory) that leaves M, h, W, gaps, offsets, friction, rates and switches as they are, a motion can be
//! carried to another one. Such directions are the common null space of the derivatives of all these at several states of a run. One that
//! contains time makes the system autonomous, at rest or in a moving frame; the others are drifts.

use crate::linalg::{Mat, Svd};
use crate::model::CompiledSystem;
use crate::sim::Trajectory;
use crate::system::{Along, Discrete, Eval, State, System, Tangent};

use super::{numbers, turning, way};

/// States that are looked at.
const SAMPLES: usize = 12;
/// Singular values below this, relative to the largest, are zero.
const ZERO: f64 = 1e-10;
/// Numbers that differ by less, relative to the largest of their kind, are the same.
const SAME: f64 = 1e-9;
/// A common period is at most this many times the longest.
const MULTIPLES: usize = 64;

/// What changes no equation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symmetry {
    /// Motion of the frame in which the system does not depend on time, as rates of all numbers of a state; `None`: it does.
    pub frame: Option<Vec<f64>>,
    /// Directions of drift, over all numbers of a state.
    pub drifts: Vec<Vec<f64>>,
    /// Sizes of the numbers of a state.
    pub scale: Vec<f64>,
}

impl Symmetry {
    /// Of a system at the states of a run.
    pub(crate) fn of(sys: &CompiledSystem, run: &Trajectory) -> Symmetry {
        let d = sys.dims();
        let scale = sizes(run);
        let places = samples(sys, run);
        let n = 2 * d.u + d.z + d.memory;
        // time, and all numbers but velocities
        let columns: Vec<Option<usize>> =
            std::iter::once(None).chain((0..n).filter(|i| *i < d.u || *i >= 2 * d.u).map(Some)).collect();
        let matters = deciding(sys);
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let (mut eval, mut tangent) = (sys.memory(), Tangent::new(sys));
        let sizes = field_sizes(sys, &places, &matters, &motion(run));
        for (state, discrete) in &places {
            sys.evaluate(state, discrete, &mut eval);
            let first = rows.len();
            rows.resize(first + sizes.len(), vec![0.0; columns.len()]);
            for (j, column) in columns.iter().enumerate() {
                let mut unit = vec![0.0; n];
                if let Some(i) = column {
                    unit[*i] = scale[*i];
                }
                let q = &turning(sys, state, &unit)[..];
                let (u, rest) = unit[d.u..].split_at(d.u);
                let (z, memory) = rest.split_at(d.z);
                let along = match column {
                    None => Along { t: 1.0, ..Along::default() },
                    Some(_) => Along { q, u, z, memory, ..Along::default() },
                };
                sys.tangent(state, discrete, &eval, &along, &mut tangent);
                let mut k = first;
                fields(&tangent.rate, &matters, |list| {
                    for v in list {
                        let size = sizes[k - first];
                        rows[k][j] = if v.is_finite() && size > 0.0 { v / size } else { 0.0 };
                        k += 1;
                    }
                });
            }
        }
        let null = Svd::new(&Mat::from_rows(&rows)).null(ZERO);
        let spread = |v: &[f64]| -> Vec<f64> {
            let mut x = vec![0.0; n];
            for (value, column) in v.iter().zip(&columns) {
                if let Some(i) = column {
                    x[*i] = value * scale[*i];
                }
            }
            x
        };
        // the shortest direction with time in it, and all others without
        let time: f64 = null.iter().map(|v| v[0] * v[0]).sum();
        let mut frame = None;
        if time > 1e-12 {
            let mut mean = vec![0.0; columns.len()];
            null.iter().for_each(|v| crate::linalg::axpy(v[0] / time, v, &mut mean));
            frame = Some(spread(&mean));
        }
        let still: Vec<Vec<f64>> = match frame.is_some() {
            false => null,
            true => {
                let times = Mat::from_rows(&[null.iter().map(|v| v[0]).collect::<Vec<f64>>()]);
                let mix = Svd::new(&times).null(1e-12);
                let combine = |m: &Vec<f64>| {
                    let mut x = vec![0.0; columns.len()];
                    m.iter().zip(&null).for_each(|(f, v)| crate::linalg::axpy(*f, v, &mut x));
                    x
                };
                mix.iter().map(combine).collect()
            }
        };
        Symmetry { frame, drifts: still.iter().map(|v| spread(v)).collect(), scale }
    }

    /// The part of a difference of two states that is no drift, scaled.
    pub(crate) fn without_drift(&self, x: &[f64]) -> Vec<f64> {
        let mut rest: Vec<f64> = x.iter().zip(&self.scale).map(|(x, s)| x / s).collect();
        if self.drifts.is_empty() {
            return rest;
        }
        let scaled = self.scaled_drifts();
        let a = Mat::from_fn(rest.len(), scaled.len(), |i, j| scaled[j][i]);
        let amounts = Svd::new(&a).solve(&rest, 1e-12);
        for (f, e) in amounts.iter().zip(&scaled) {
            crate::linalg::axpy(-f, e, &mut rest);
        }
        rest
    }

    /// Drifts in units of the scale.
    pub(crate) fn scaled_drifts(&self) -> Vec<Vec<f64>> {
        self.drifts.iter().map(|e| e.iter().zip(&self.scale).map(|(e, s)| e / s).collect()).collect()
    }
}

/// The period of everything that depends on time, found in the formulas and checked on the states of a run.
pub(crate) fn forcing_period(sys: &CompiledSystem, run: &Trajectory) -> Option<f64> {
    let mut list = sys.time_periods();
    list.sort_by(f64::total_cmp);
    list.dedup_by(|a, b| (*a - *b).abs() <= SAME * *b);
    let longest = *list.last()?;
    let fits = |t: f64| list.iter().all(|p| ((t / p) - (t / p).round()).abs() <= SAME * (t / p));
    let common = (1..=MULTIPLES).map(|k| k as f64 * longest).find(|t| fits(*t));
    let candidates = list.iter().copied().chain(common);
    let places = samples(sys, run);
    candidates.into_iter().find(|&t| repeats(sys, &places, &motion(run), t))
}

/// The period of the formulas that is nearest to a known one.
pub(crate) fn period_near(sys: &CompiledSystem, near: f64) -> Option<f64> {
    let list = sys.time_periods();
    let far = |p: &f64| (p / near).ln().abs();
    list.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

/// Whether the equations at these states are the same a time `period` later, measured by how large each number is at any of them.
fn repeats(sys: &CompiledSystem, places: &[(State, Discrete)], motion: &[f64; 3], period: f64) -> bool {
    let (mut here, mut there) = (sys.memory(), sys.memory());
    let values = Matters { guards: false, ..deciding(sys) };
    let sizes = field_sizes(sys, places, &values, motion);
    let flat = |e: &Eval| {
        let mut out = Vec::new();
        fields(e, &values, |list| out.extend_from_slice(list));
        out
    };
    places.iter().all(|(state, discrete)| {
        sys.evaluate(state, discrete, &mut here);
        let mut later = state.clone();
        later.t += period;
        let mut d = discrete.clone();
        sys.latch(&later, &mut d, &mut there, false);
        sys.evaluate(&later, &d, &mut there);
        let pairs = flat(&here).into_iter().zip(flat(&there)).zip(&sizes);
        pairs.into_iter().all(|((a, b), size)| (a - b).abs() <= 1e2 * SAME * size.max(1e-300))
    })
}

/// States of a run with their modes, evenly over it.
pub(crate) fn samples(sys: &CompiledSystem, run: &Trajectory) -> Vec<(State, Discrete)> {
    let d = sys.dims();
    let count = run.samples.len();
    let some = (0..SAMPLES.min(count)).map(|k| k * count.saturating_sub(1) / SAMPLES.min(count).max(1));
    some.map(|i| {
        let row = run.samples.row(i);
        let state = row.state();
        let mut discrete = Discrete::new(&d);
        discrete.modes.copy_from_slice(row.modes);
        discrete.latches.copy_from_slice(row.latches);
        (state, discrete)
    })
    .collect()
}

/// Sizes of the numbers of a state over the second half of a run: how far each moves, and for those that do not how large they are.
fn sizes(run: &Trajectory) -> Vec<f64> {
    let half = run.samples.len() / 2;
    sizes_of(run, |i, _| i >= half)
}

/// The same over some rows.
pub(crate) fn sizes_of(run: &Trajectory, wanted: impl Fn(usize, f64) -> bool) -> Vec<f64> {
    let last = &run.last.state;
    let turns = last.q.len() != last.u.len();
    let rows: Vec<Vec<f64>> = run
        .samples
        .rows()
        .enumerate()
        .filter(|(i, r)| wanted(*i, r.t))
        .map(|(_, r)| match turns {
            false => [r.q, r.u, r.z, r.memory].concat(),
            // how far bodies are turned from the end
            true => {
                let s = r.state();
                let turned = way(last, &s);
                let mut x = numbers(&s);
                let n = super::coordinates_of(&s);
                x[n..s.u.len()].copy_from_slice(&turned[n..s.u.len()]);
                x
            }
        })
        .collect();
    let (nq, nu, nz) = (last.u.len(), last.u.len(), last.z.len());
    let n = nq + nu + nz + last.memory.len();
    let mut spread = vec![0.0_f64; n];
    let mut largest = vec![0.0_f64; n];
    for i in 0..n {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for r in &rows {
            low = low.min(r[i]);
            high = high.max(r[i]);
        }
        spread[i] = if high > low { high - low } else { 0.0 };
        largest[i] = high.abs().max(low.abs());
    }
    // what hardly moves beside its neighbours counts with them
    for group in [0..nq, nq..nq + nu, nq + nu..nq + nu + nz] {
        let most = group.clone().fold(0.0_f64, |m, i| m.max(spread[i]));
        for i in group {
            spread[i] = spread[i].max(1e-3 * most);
        }
    }
    (0..n)
        .map(|i| {
            if spread[i] > 0.0 {
                spread[i]
            } else if largest[i] > 0.0 {
                largest[i]
            } else {
                1.0
            }
        })
        .collect()
}

/// How far a run moves, its largest velocity and acceleration.
fn motion(run: &Trajectory) -> [f64; 3] {
    let last = &run.last.state;
    let far = sizes(run)[..last.u.len()].iter().fold(0.0_f64, |m, v| m.max(*v));
    let most = |list: &[f64]| list.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    run.samples.rows().fold([far, 0.0, 0.0], |[x, u, a], r| [x, u.max(most(r.u)), a.max(most(r.accel))])
}

/// The largest size that each kind of number has at these states, for every number. Gaps and their rates, which are rounding where contacts
/// stay closed, are not smaller than the motion.
fn field_sizes(
    sys: &CompiledSystem,
    places: &[(State, Discrete)],
    matters: &Matters,
    motion: &[f64; 3],
) -> Vec<f64> {
    let mut eval = sys.memory();
    let mut sizes: Vec<f64> = Vec::new();
    for (state, discrete) in places {
        sys.evaluate(state, discrete, &mut eval);
        let (mut k, mut kind) = (0, 0_usize);
        fields(&eval, matters, |list| {
            let least = kind.checked_sub(GAPS).and_then(|i| motion.get(i)).copied().unwrap_or(0.0);
            let largest = list.iter().filter(|v| v.is_finite()).fold(least, |m, v| m.max(v.abs()));
            kind += 1;
            sizes.resize(sizes.len().max(k + list.len()), 0.0);
            sizes[k..k + list.len()].iter_mut().for_each(|s| *s = s.max(largest));
            k += list.len();
        });
    }
    sizes
}

/// Which guards and event functions change the motion.
#[derive(Clone)]
struct Matters {
    guards: bool,
    silent: Vec<bool>,
    crossings: Vec<bool>,
}

fn deciding(sys: &CompiledSystem) -> Matters {
    let d = sys.dims();
    Matters {
        guards: true,
        silent: (0..d.guards).map(|k| sys.is_silent(k)).collect(),
        crossings: sys.deciding_crossings(),
    }
}

/// The place of the gaps among the fields; their offsets of rate and acceleration follow.
const GAPS: usize = 4;

/// Everything of an evaluation that decides the motion.
fn fields(e: &Eval, matters: &Matters, mut f: impl FnMut(&[f64])) {
    for list in [e.mass.values(), &e.h, &e.z_rate, e.w.values(), &e.gap, &e.rate_offset, &e.accel_offset] {
        f(list);
    }
    for list in [&e.mu, &e.mu_static, &e.load, &e.load_static, &e.load_terms] {
        f(list);
    }
    if matters.guards {
        let guards: Vec<f64> =
            e.guards.iter().zip(&matters.silent).map(|(g, s)| if *s { 0.0 } else { *g }).collect();
        f(&guards);
    }
    let crossings: Vec<f64> =
        e.crossings.iter().zip(&matters.crossings).map(|(c, m)| if *m { *c } else { 0.0 }).collect();
    f(&crossings);
}
