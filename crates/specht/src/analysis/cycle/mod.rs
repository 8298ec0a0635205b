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

use crate::sim::{Record, Settings};
use crate::system::State;

/// Tolerance of the runs of shooting.
const EXACT: f64 = 1e-11;

/// All numbers of a state but time: positions, velocities, states, memory.
pub(crate) fn numbers(s: &State) -> Vec<f64> {
    [&s.q[..], &s.u, &s.z, &s.memory].concat()
}

/// A state with these numbers, of the sizes of `like`.
pub(crate) fn state_of(t: f64, x: &[f64], like: &State) -> State {
    let (q, rest) = x.split_at(like.q.len());
    let (u, rest) = rest.split_at(like.u.len());
    let (z, memory) = rest.split_at(like.z.len());
    State { t, q: q.to_vec(), u: u.to_vec(), z: z.to_vec(), memory: memory.to_vec() }
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
