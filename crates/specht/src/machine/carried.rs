//! Spins of free bodies that others carry: the engine counts them against the carrier and in its axes, results in inertial ones.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::CompiledSystem;
use crate::sim::Sample;
use crate::system::State;

use super::record::Axes;
use super::{Machine, Names};

/// Free bodies on others: which spin, and which body.
#[derive(Clone, Debug)]
pub struct Carried {
    system: Arc<CompiledSystem>,
    bodies: Vec<(usize, usize)>,
}

/// A way to compute, no name.
impl PartialEq for Carried {
    fn eq(&self, other: &Self) -> bool {
        self.bodies == other.bodies
    }
}

impl Machine {
    /// Free bodies on others, when there are any.
    pub(super) fn carried(&self) -> Option<Carried> {
        let model = self.system().model();
        let free = model.free.iter().map(|f| f.body).enumerate();
        let bodies: Vec<(usize, usize)> = free.filter(|(_, b)| model.bodies[*b].on.is_some()).collect();
        (!bodies.is_empty()).then(|| Carried { system: self.system.clone(), bodies })
    }
}

impl Names {
    /// Spin of free body `k`, inertial axes.
    pub(super) fn spin(&self, k: usize, s: &State) -> Option<Axes> {
        match self.on_another(k) {
            Some((system, body)) => Axes::of(&system.body_spin(s, body, None)[0], 0),
            None => Axes::of(&s.u, self.coordinates.len() + 3 * k),
        }
    }

    /// Its rate with the accelerations `accel`; of a body on another one the state must be known.
    pub(super) fn spin_rate(&self, k: usize, s: Option<&State>, accel: &[f64]) -> Option<Axes> {
        match self.on_another(k) {
            Some((system, body)) => Axes::of(&system.body_spin(s?, body, Some(accel))[1], 0),
            None => Axes::of(accel, self.coordinates.len() + 3 * k),
        }
    }

    /// The velocities of a row as they are written: those of the engine, spins in inertial axes.
    pub(super) fn written<'a>(&self, row: &Sample<'a>) -> Cow<'a, [f64]> {
        let Some(carried) = &self.carried else { return Cow::Borrowed(row.u) };
        let (state, n, mut u) = (row.state(), self.coordinates.len(), row.u.to_vec());
        for &(k, body) in &carried.bodies {
            let [spin, _] = carried.system.body_spin(&state, body, None);
            u[n + 3 * k..n + 3 * k + 3].copy_from_slice(&spin);
        }
        u.into()
    }

    /// One of them.
    pub(super) fn velocity(&self, row: &Sample<'_>, k: usize) -> f64 {
        let turn = k.checked_sub(self.coordinates.len());
        match turn.and_then(|turn| Some((self.on_another(turn / 3)?, turn % 3))) {
            Some(((system, body), axis)) => system.body_spin(&row.state(), body, None)[0][axis],
            None => row.u[k],
        }
    }

    fn on_another(&self, k: usize) -> Option<(&CompiledSystem, usize)> {
        let carried = self.carried.as_ref()?;
        let &(_, body) = carried.bodies.iter().find(|b| b.0 == k)?;
        Some((&carried.system, body))
    }
}
