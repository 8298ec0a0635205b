//! Limit cycles: found from a simulation, made exact by shooting, judged by their multipliers (METH-CYCLE-*, METH-SALT-MONO).
//!
//! ```text
//! x(T; x₀) = x₀ + c T + E σ       E: directions that change no equation (a drift per period), c: those that go with time
//! ```
//!
//! * `symmetry`: E, c, and the period of what depends on time.
//! * `recur`: a simulation until it comes back to itself.
//! * `shoot`: Newton's method with the derivatives of the run. Nothing about the order of events is prescribed.
//! * `portrait`: one period, as users want to see it.
//! * `return_map`, `lyapunov`, `branch` with its `special` points: one number from passage to passage; how fast motions part; cycles over a parameter; `switch`: from one branch to another.
//!
//! Orientations of bodies that turn freely are no numbers that can be subtracted. Ways between states, scales, drifts and multipliers live in
//! the space of velocities: a turn has the three axes of the spin, and a body that looks the same however it is turned drifts in them.
//!
//! The start x₀ lies in the middle of the phase with most constraints: there the map has the fewest dimensions, and small changes of x₀
//! change no mode.

mod branch;
mod lyapunov;
mod plane;
mod portrait;
mod recur;
mod return_map;
mod shoot;
mod special;
mod switch;
mod symmetry;

pub(crate) use branch::{Branch, Follow, STEPS, Side};
pub(crate) use lyapunov::lyapunov;
pub(crate) use plane::Plane;
pub(crate) use portrait::{Portrait, Range, portrait};
pub(crate) use recur::{Guess, Known, Outcome, Section, Settled, follow, settle};
pub(crate) use return_map::Map;
pub(crate) use shoot::{Orbit, is_back, shoot};
pub(crate) use special::Special;
pub(crate) use switch::sizes_around;
pub(crate) use symmetry::{Symmetry, forcing_period};

use crate::linalg::axpy;
use crate::model::CompiledSystem;
use crate::sim::{Record, Seed, Settings};
use crate::system::{State, System};

/// Tolerance of the runs of shooting.
const EXACT: f64 = 1e-11;

/// All numbers of a state but time: positions, velocities, states, memory. Bodies that turn freely are left out of the positions: what is
/// measured of them is a turn from one orientation to another ([`way`]), three numbers like those of the spin, zero here.
pub(crate) fn numbers(s: &State) -> Vec<f64> {
    let plain = coordinates_of(s);
    let mut q = s.q[..plain].to_vec();
    q.resize(s.u.len(), 0.0);
    [&q[..], &s.u, &s.z, &s.memory].concat()
}

/// Positions that are coordinates: a free rotation has four numbers for its orientation and three for its spin.
fn coordinates_of(s: &State) -> usize {
    s.u.len() - 3 * (s.q.len() - s.u.len())
}

/// The way from one state to another over all numbers; the shorter turn of bodies that turn freely, in the axes of the spin.
pub(crate) fn way(from: &State, to: &State) -> Vec<f64> {
    let mut out: Vec<f64> = numbers(to).iter().zip(numbers(from)).map(|(b, a)| b - a).collect();
    let n = coordinates_of(from);
    for (k, (p, q)) in from.q[n..].chunks_exact(4).zip(to.q[n..].chunks_exact(4)).enumerate() {
        // q p⁻¹ = (cos ½φ, sin ½φ a), up to its sign
        let w = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
        let v = [
            -q[0] * p[1] + q[1] * p[0] - q[2] * p[3] + q[3] * p[2],
            -q[0] * p[2] + q[1] * p[3] + q[2] * p[0] - q[3] * p[1],
            -q[0] * p[3] - q[1] * p[2] + q[2] * p[1] + q[3] * p[0],
        ];
        let sine = v[0].hypot(v[1]).hypot(v[2]);
        let factor = if sine > 0.0 { 2.0 * w.signum() * sine.atan2(w.abs()) / sine } else { 0.0 };
        for (o, v) in out[n + 3 * k..].iter_mut().zip(v) {
            *o = factor * v;
        }
    }
    out
}

/// The state that a way leads to.
pub(crate) fn moved(sys: &CompiledSystem, from: &State, way: &[f64]) -> State {
    let mut s = from.clone();
    let (q, rest) = way.split_at(s.u.len());
    match s.q.len() == s.u.len() {
        true => axpy(1.0, q, &mut s.q),
        false => sys.move_by(&mut s.q, q),
    }
    let (u, rest) = rest.split_at(s.u.len());
    let (z, memory) = rest.split_at(s.z.len());
    axpy(1.0, u, &mut s.u);
    axpy(1.0, z, &mut s.z);
    axpy(1.0, memory, &mut s.memory);
    s
}

/// Rates of the positions along the first numbers of a way.
pub(crate) fn turning(sys: &CompiledSystem, at: &State, way: &[f64]) -> Vec<f64> {
    let mut q = way[..at.u.len()].to_vec();
    if at.q.len() != at.u.len() {
        q.resize(at.q.len(), 0.0);
        sys.q_rate(&State { u: way[..at.u.len()].to_vec(), ..at.clone() }, &mut q);
    }
    q
}

/// A direction of a run from `at` along a way.
pub(crate) fn seed_along(sys: &CompiledSystem, at: &State, way: &[f64]) -> Seed {
    let (nu, nz) = (at.u.len(), at.z.len());
    Seed {
        q: turning(sys, at, way),
        u: way[nu..2 * nu].to_vec(),
        z: way[2 * nu..2 * nu + nz].to_vec(),
        memory: way[2 * nu + nz..].to_vec(),
        amount: 1.0,
        ..Seed::default()
    }
}

/// A way from the rates of (q, u, z, memory) at a state.
pub(crate) fn way_of_rates(at: &State, rates: &[f64]) -> Vec<f64> {
    let (nq, nu) = (at.q.len(), at.u.len());
    if nq == nu {
        return rates.to_vec();
    }
    let n = coordinates_of(at);
    let mut q = rates[..n].to_vec();
    for (p, d) in at.q[n..].chunks_exact(4).zip(rates[n..nq].chunks_exact(4)) {
        // 2 δp p⁻¹
        q.extend([
            2.0 * (-d[0] * p[1] + d[1] * p[0] - d[2] * p[3] + d[3] * p[2]),
            2.0 * (-d[0] * p[2] + d[1] * p[3] + d[2] * p[0] - d[3] * p[1]),
            2.0 * (-d[0] * p[3] - d[1] * p[2] + d[2] * p[1] + d[3] * p[0]),
        ]);
    }
    [&q[..], &rates[nq..]].concat()
}

/// The settings of a run from `t` that lasts `span`, made for shooting.
fn exact(settings: &Settings, t: f64, span: f64) -> Settings {
    Settings {
        until: t + span,
        tolerance: settings.tolerance.min(EXACT),
        record: Record::Nothing,
        ..settings.clone()
    }
}
