//! The last step before an event. It ends on its dense output where that is as good as a step of its own; else it is repeated with the length
//! found there. Either way it is corrected until the event function vanishes.

use crate::ode::{SAMPLES, STAGES, Trial};
use crate::system::System;

use super::event_driven::Run;
use super::tolerances::{INSIDE, NUDGE};
use super::watch::What;

impl<S: System + ?Sized> Run<'_, S> {
    /// End the step on its dense output at the fraction `theta`, where that is known well enough: by its defect, x̂' − f(x̂), which over the
    /// whole step must stay far below the tolerance. The root was found there, so the event function vanishes, up to a correction along
    /// the rates. `dense` holds the state there. False when a step of its own is needed.
    fn ends_inside(&mut self, theta: f64, whole: f64) -> bool {
        let k = self.locator.found.watches[0];
        let what = self.field.watches.list[k].what;
        // a sample before the event, for the slope
        let samples = self.ode.samples();
        let (slot, at) = samples.iter().rfind(|s| s.1 < 0.9 * theta).copied().unwrap_or(samples[0]);
        let before = self.field.watches.at(slot, k);
        if self.field.chart.active || !self.ode.end_inside(theta, &self.dense, &mut self.field) {
            return false;
        }
        if !(self.control.share(&self.ode) <= INSIDE) {
            return false;
        }
        let noise = self.field.watches.noise(what, self.field.info);
        let beyond = if matches!(what, What::Guard(_) | What::Crossing(..)) { noise } else { 0.0 };
        let slope = (self.field.watches.at(STAGES - 1, k) - before) / ((theta - at) * whole);
        for _ in 0..4 {
            let f = self.field.watches.at(STAGES - 1, k) + beyond;
            if f.abs() <= noise || matches!(what, What::Singular) {
                self.field.watches.end_at(theta);
                return true;
            }
            let step = -f / slope;
            if !(step.abs() <= NUDGE * self.ode.step()) || !self.ode.nudge(step, &mut self.field) {
                return false;
            }
        }
        false
    }

    /// Repeat the step with length `h` and correct it until the leading event function vanishes: Newton's method in h, with the
    /// slope between the last stages, then between the last two lengths. Corrections too small to matter for the
    /// motion move along the rates at the end. Leaves the field at the end.
    pub(super) fn shorten(&mut self, theta: f64, whole: f64) {
        let h = theta * whole;
        self.ode.interpolate(theta, &mut self.dense);
        if self.ends_inside(theta, whole) {
            return;
        }
        let k = self.locator.found.watches[0];
        let what = self.field.watches.list[k].what;
        let noise = self.field.watches.noise(what, self.field.info);
        // switches and user events aim just beyond zero, so that the far side is reached; contacts aim at zero
        let beyond = if matches!(what, What::Guard(_) | What::Crossing(..)) { noise } else { 0.0 };
        if !self.ode.attempt(h, &self.control, &mut self.field) {
            self.ode.place(h, &self.dense, &mut self.field);
            return;
        }
        let mut f = self.field.watches.at(STAGES - 1, k) + beyond;
        let (slot, theta) = self.ode.samples()[SAMPLES - 2];
        let before = self.field.watches.at(slot, k) + beyond;
        let mut slope = (f - before) / ((1.0 - theta) * h);
        for _ in 0..8 {
            if f.abs() <= noise || matches!(what, What::Singular) {
                return;
            }
            let (last, length) = (f, self.ode.step());
            let step = -f / slope;
            if !(step.abs() <= 0.01 * length) {
                return self.back_off(k, what, f, noise);
            }
            let moved = if step.abs() <= NUDGE * length {
                self.ode.nudge(step, &mut self.field)
            } else {
                self.ode.attempt(length + step, &self.control, &mut self.field)
            };
            f = self.field.watches.at(STAGES - 1, k) + beyond;
            if !moved || !(f.abs() <= 2.0 * last.abs()) {
                // not smooth: the length before was the better one
                self.ode.attempt(length, &self.control, &mut self.field);
                self.stand_at_end();
                return self.back_off(k, what, last, noise);
            }
            if f.abs() >= last.abs() {
                return self.back_off(k, what, f, noise); // rounding, or a bound that is only just touched
            }
            let taken = self.ode.step() - length;
            if taken != 0.0 && f != last {
                slope = (f - last) / taken;
            }
        }
        self.back_off(k, what, f, noise);
    }

    /// A force that only just touches its bound has no slope there, and the step tried last ends beyond it, f < 0: look for the
    /// length at which it still holds, by bisection.
    fn back_off(&mut self, k: usize, what: What, f: f64, noise: f64) {
        if !matches!(what, What::Saturation(..) | What::Normal(_)) || f >= -noise {
            return;
        }
        let at = |run: &mut Self, h: f64| {
            if run.ode.attempt(h, &run.control, &mut run.field) {
                run.field.watches.at(STAGES - 1, k)
            } else {
                f64::NAN
            }
        };
        let end = self.ode.step();
        let (mut lo, mut hi, mut share) = (0.0, end, 1e-6);
        while share < 1.0 && lo == 0.0 {
            let h = end * (1.0 - share);
            if at(self, h) > 0.0 {
                lo = h
            } else {
                hi = h
            }
            share *= 8.0;
        }
        if lo > 0.0 {
            for _ in 0..60 {
                let mid = 0.5 * (lo + hi);
                let f = at(self, mid);
                if f.abs() <= noise || mid == lo || mid == hi {
                    break;
                }
                if f > 0.0 { lo = mid } else { hi = mid }
            }
        } else {
            at(self, end);
        }
        self.stand_at_end();
    }
}
