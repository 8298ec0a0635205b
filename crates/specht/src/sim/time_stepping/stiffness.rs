//! The stiffest smooth force against the step
//!
//! Smooth forces are explicit: motion of the frequency ω or the decay rate λ grows without bound once ω Δ or λ Δ exceeds 2. The largest
//! of them is the spectral radius of the flow `(q̇, u̇, ż)`, found by power iteration, one perturbed evaluation every [`EVERY`] steps:
//!
//! ```text
//! v ← J v / |J v|,   J v ≈ (f(x + ε v) − f(x)) / ε,   |λ| ≈ √(|J² v| / |v|)
//! ```
//!
//! in units in which the step and the natural displacement of every coordinate ([`Measure::reach`]) are 1; it is what explicit codes for stabilised Runge-Kutta steps do. It counts when it stays beyond 2 for
//! [`PATIENCE`] looks: a linkage near a dead point is stiff for a moment only.

use crate::contact::Measure;
use crate::system::System;

use super::tolerances::PERTURBED;
use super::{Field, Stepper};

/// Steps from look to look.
pub(super) const EVERY: u64 = 4;
/// Looks before the first step, so that the direction is known.
pub(super) const AHEAD: usize = 20;
/// Looks in a row after which a step that is too long ends the run.
const PATIENCE: u32 = 4;
/// Largest product of step and rate.
const LIMIT: f64 = 2.0;
/// Memory of the power iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Stiffness {
    /// Direction in (q, Δ u, z), in units of `unit`.
    v: Vec<f64>,
    /// Natural displacement of every coordinate, and the sizes of z at the start.
    unit: Vec<f64>,
    last: f64,
    /// Product of step and fastest rate.
    pub speed: f64,
    beyond: u32,
}

impl Stiffness {
    pub(super) fn new(n: usize) -> Self {
        let mut s = Stiffness { v: vec![0.0; n], ..Default::default() };
        s.reset();
        s
    }

    /// Begin again. No symmetry: every mode takes part.
    fn reset(&mut self) {
        self.v.iter_mut().enumerate().for_each(|(k, v)| *v = 1.0 + 0.37 * (1.7 * k as f64).sin());
        (self.last, self.speed, self.beyond) = (0.0, 0.0, 0);
    }

    /// All looks so far were at one position: they count as [`PATIENCE`] − 2.
    pub(super) fn doubt(&mut self) {
        self.beyond = self.beyond.min(PATIENCE - 2);
    }

    /// The largest step that serves, when this one does not.
    pub(super) fn refuses(&self, delta: f64) -> Option<f64> {
        (self.beyond >= PATIENCE).then(|| self.longest(delta))
    }

    /// 0.9 of the limit, rounded down to one digit.
    pub(super) fn longest(&self, delta: f64) -> f64 {
        let step = 0.9 * LIMIT / self.speed * delta;
        let digit = 10.0_f64.powf(step.log10().floor());
        (step / digit).floor() * digit
    }
}

impl<S: System + ?Sized> Stepper<'_, S> {
    /// The units of the direction, at the present evaluation.
    pub(super) fn measure_coordinates(&mut self) {
        let Field { sys, info, eval, state, .. } = &self.field;
        let normals: Vec<usize> = info.iter().flat_map(|c| c.normal_rows()).copied().collect();
        let unit = &mut self.stiffness.unit;
        *unit = Measure::reach(eval, &normals, |row| sys.gap_scale(row), self.length);
        let size = |(z, rate): (&f64, &f64)| z.abs().max(self.settings.step * rate.abs());
        let known = |v: f64| if v > 0.0 { v } else { 1.0 };
        unit.extend(state.z.iter().zip(&eval.z_rate).map(|x| known(size(x))));
    }

    /// One power iteration at the midpoint, where the smooth accelerations are known. The field is evaluated there again.
    pub(super) fn feel_stiffness(&mut self, delta: f64) {
        let d = self.field.dims;
        if d.q != d.u {
            return;
        }
        let (s, unit) = (&self.field.state, &self.stiffness.unit);
        let size = s.q.iter().zip(unit).fold(1.0_f64, |m, (q, unit)| m.max(q.abs() / unit));
        let size = PERTURBED * s.u.iter().zip(unit).fold(size, |m, (u, unit)| m.max(delta * u.abs() / unit));
        let largest = self.stiffness.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if !(largest > 0.0 && size.is_finite()) {
            return;
        }
        let eps = size / largest;
        self.w.here.clone_from(&self.field.state);
        self.w.accel.copy_from_slice(&self.w.smooth_forces.accel);
        self.w.z_rate.copy_from_slice(&self.field.eval.z_rate);
        for k in 0..d.u {
            let eps = eps * self.stiffness.unit[k];
            self.field.state.q[k] += eps * self.stiffness.v[k];
            self.field.state.u[k] += eps / delta * self.stiffness.v[d.q + k];
        }
        for k in 0..d.z {
            let eps = eps * self.stiffness.unit[d.q + k];
            self.field.state.z[k] += eps * self.stiffness.v[2 * d.q + k];
        }
        self.field.evaluate();
        let solved = self.solve_smooth();
        let Stiffness { v, unit, .. } = &mut self.stiffness;
        let before = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        for k in 0..d.u {
            v[k] = v[d.q + k];
            v[d.q + k] = delta * delta * (self.w.smooth_forces.accel[k] - self.w.accel[k]) / (eps * unit[k]);
        }
        for k in 0..d.z {
            v[2 * d.q + k] = delta * (self.field.eval.z_rate[k] - self.w.z_rate[k]) / (eps * unit[d.q + k]);
        }
        let after = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        self.field.state.clone_from(&self.w.here);
        self.w.smooth_forces.accel.copy_from_slice(&self.w.accel);
        self.field.evaluate();
        let s = &mut self.stiffness;
        let ratio = after / before;
        if !solved || !ratio.is_finite() || after == 0.0 {
            s.reset();
            return;
        }
        s.v.iter_mut().for_each(|x| *x /= after);
        s.speed = (ratio * s.last).sqrt();
        s.last = ratio;
        s.beyond = if s.speed > LIMIT { s.beyond + 1 } else { 0 };
    }
}
