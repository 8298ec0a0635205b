//! The books of a step: work of its impulses, and forces for the next.

use crate::impact::step_residual;
use crate::linalg::axpy;
use crate::system::{Mode, Normal, System};

use super::Stepper;
use super::tolerances::ACCEPTED;

/// Steps in which a slow touch comes to its end.
const LANDING: u8 = 2;

impl<S: System + ?Sized> Stepper<'_, S> {
    /// Work of the impulses: impacts as their law says, sliding as friction. Friction takes; where a step that turns the slip
    /// around would give, and at gaps that a step keeps closed, the work is an error of the step and left to the numerical part.
    pub(super) fn book(&mut self, delta: f64) {
        let (info, eval, w) = (self.field.info, &self.field.eval, &mut self.w);
        let n = info.len();
        w.acted.copy_from_slice(&self.impulses.impulse);
        let (u0, u1) = (&w.before.u, &self.impulses.u);
        if w.together {
            for (c, _) in info.iter().zip(&w.impacts).filter(|(_, hit)| **hit) {
                c.rows().for_each(|r| w.impulse[r] = w.acted[r]);
            }
            self.ledger.impact(info, eval, &w.impulse, u0, u1, &mut w.work);
            self.auditor.created += w.work.iter().sum::<f64>().max(0.0);
            let e = &self.restitution;
            let residual = step_residual(info, eval, &w.impacts, e, delta, &w.rates, u1, &w.impulse);
            self.auditor.impact(residual);
        } else {
            axpy(1.0, &w.impulse, &mut w.acted);
        }
        for (i, c) in info.iter().enumerate() {
            if w.together && w.impacts[i] {
                continue;
            }
            w.landing[i] = if w.modes[i] == Mode::Open { LANDING } else { w.landing[i].saturating_sub(1) };
            let mean = |r: usize| match self.impulses.impulse[r] {
                0.0 => 0.0,
                l => 0.5 * l * (eval.rate(r, u0) + eval.rate(r, u1)),
            };
            let mut work: f64 = c.tangent.iter().map(|&r| mean(r)).sum();
            let booked = match c.normal {
                // a touch that is too slow for the impact law is an impact without rebound
                Normal::Unilateral { row } if w.landing[i] > 0 => {
                    work += mean(row);
                    &mut self.ledger.energy.impact[i]
                }
                _ => &mut self.tail[i],
            };
            *booked += work.min(0.0);
            self.auditor.created += work.max(0.0);
        }
        for k in 0..u0.len() {
            self.tail[n + 1] += eval.drive[k] * (u1[k] - u0[k]);
        }
        let mut sum = 0.0;
        for (r, l) in self.impulses.impulse.iter().enumerate() {
            self.tail[n + 1] -= l * eval.rate_offset[r];
            sum += l.abs();
        }
        // velocities are known to the tolerance of the cone problem
        self.ledger.energy.rounding += ACCEPTED * self.impulses.fastest * sum;
    }

    /// The states take up what the contacts took since the last step.
    pub(super) fn heat(&mut self) {
        let w = &mut self.w;
        for i in 0..w.taken.len() {
            let taken = self.tail[i] + self.ledger.energy.impact[i];
            w.work[i] = taken - w.taken[i];
            w.taken[i] = taken;
        }
        self.field.heat_at_once(&w.work);
    }

    /// Forces, accelerations, time and rate of sticking.
    pub(super) fn take_forces(&mut self, now: f64, delta: f64) {
        std::mem::swap(&mut self.field.forces, &mut self.impulses.forces);
        let f = &mut self.field.forces;
        for k in 0..f.accel.len() {
            f.accel[k] = (self.impulses.u[k] - self.w.before.u[k]) / delta;
        }
        let d = &mut self.field.discrete;
        for i in 0..d.modes.len() {
            if !self.w.impacts[i] {
                self.w.press[i] = f.normal[i].abs();
            }
            if d.modes[i] != Mode::Stick {
                d.stick_since[i] = f64::NAN;
                d.load_rate[i] = 0.0;
                continue;
            }
            if d.stick_since[i].is_nan() {
                d.stick_since[i] = now;
            }
            // growth of |λ_T| since the last step, when it was sticking there from the beginning: the step that stops it has its own force
            let held = now - d.stick_since[i] > 1.5 * delta;
            let rate = (f.tangential[i] - self.w.tangential[i]) / delta;
            let grows = if f.tangential[i] == 0.0 { rate.abs() } else { f.tangential[i].signum() * rate };
            d.load_rate[i] = if held { grows.max(0.0) } else { 0.0 };
        }
    }
}
