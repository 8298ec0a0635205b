//! Error norm and step size control.
//!
//! The error of component `i` is measured against `tolerance · max(sᵢ, 10⁻³ max_j s_j, floor)`, where `sᵢ` is the largest size
//! the component has had so far (its increment in the present step included) and `j` runs over the components of the same
//! group (positions, velocities, …). So nobody has to give absolute tolerances, and a component that starts at zero
//! neither stops the integration nor escapes control. The norm is the root mean square over each group, then the maximum
//! over the groups. The next step follows the PI rule `h ← h · 0.9 · e^(−0.85/k) e_old^(0.2/k)` (error ~ hᵏ) with factors
//! between 0.2 and 8 (3 for the implicit method, whose first guess continues the last step), and does not grow directly after a rejection. [Hairer1993, II.4; Gustafsson1991]
//!
//! Two things look like errors and are none.
//! * *Rounding.* `f` carries the rounding of its arguments: a spring of stiffness c between bodies at x makes an acceleration of ε c x / m
//!   out of nothing, however small the motion. [`Control::measure`] finds it by evaluating `f` at neighbouring numbers, and where
//!   that noise leads in one step, from component to component; errors below `h` times the noise do not count.
//! * *A start like tᵖ.* A component that leaves zero with a high power of time has the same relative error in the first step
//!   whatever its length. Two rejections in a row that show the same error are the sign; the component is then measured
//!   against what it was at the end of the longer of the two, at most what its group moves with, and for this step only: a step beyond the border
//!   of stability ends far away, and sizes from there would spoil all that follows.

use super::{INSIDE, Rhs, Trial};

/// Relative change of an argument that stands for its rounding: half a unit comes from every stage, and the weights of the error
/// estimates amplify it threefold.
const NUDGE: f64 = 4.0 * f64::EPSILON;
/// Samples of the noise.
const SAMPLES: u64 = 3;
/// Components over which noise is followed from one to the next within a step.
const LINKS: u64 = 6;
/// Growth of a noise that is none of its own: beyond the first link only a component that had practically none is reached, and each once.
/// What is stiff would amplify its own without end.
const STRANGE: f64 = 1e3;
/// Steps after which a measured noise is out of date.
const FRESH: u32 = 16;

/// Relative error up to which the end of a rejected step tells sizes: beyond it the step went astray.
const KNOWN: f64 = 0.3;

/// Relative change of argument `i` in sample `sample` of a measurement of rounding: a fixed pattern of signs that differs between samples
/// and neighbours.
pub(crate) fn nudge(i: usize, sample: u64) -> f64 {
    let bits = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (20 + 7 * (sample % 6));
    if bits & 1 == 0 { NUDGE } else { -NUDGE }
}

/// What to do with the step tried last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Good; the argument is the proposed length of the next step.
    Accept(f64),
    /// Too large an error; try again with this length.
    Reject(f64),
}

/// Scales and memory of the step size control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    tolerance: f64,
    groups: Vec<std::ops::Range<usize>>,
    size: Vec<f64>,
    trial: Vec<f64>,
    floor: Vec<f64>,
    /// Noise of every rate, and steps tried since it was measured.
    noise: Vec<f64>,
    reached: Vec<bool>,
    age: u32,
    /// Sizes at the end of the step rejected last, its error and its length (0: the last step was not rejected).
    before: Vec<f64>,
    /// Components whose size is one of those.
    lent: Vec<bool>,
    /// Scratch of the measurement.
    nearby: Vec<f64>,
    rates: Vec<f64>,
    refused: (f64, f64),
    old: f64,
    rejected: bool,
}

impl Control {
    /// Relative tolerance, and the groups of components that share a smallest scale.
    pub(crate) fn new(tolerance: f64, groups: Vec<std::ops::Range<usize>>) -> Self {
        let n = groups.iter().map(|g| g.end).max().unwrap_or(0);
        let floor = vec![0.0; groups.len()];
        Control {
            tolerance,
            groups,
            size: vec![0.0; n],
            trial: vec![0.0; n],
            floor,
            noise: vec![0.0; n],
            reached: vec![false; n],
            age: FRESH,
            before: vec![0.0; n],
            lent: vec![false; n],
            nearby: vec![0.0; n],
            rates: vec![0.0; n],
            refused: (0.0, 0.0),
            old: 1e-4,
            rejected: false,
        }
    }

    /// Forget the history of errors (after an event); sizes stay.
    pub(crate) fn restart(&mut self) {
        self.old = 1e-4;
        self.rejected = false;
        self.refused = (0.0, 0.0);
        self.age = FRESH;
    }

    /// A step could not be made at all: the next one does not grow.
    pub(crate) fn refuse(&mut self) {
        self.rejected = true;
    }

    /// The relative tolerance.
    pub(crate) fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// Errors of the components of `x` that just pass.
    pub(crate) fn weights(&self, x: &[f64], out: &mut [f64]) {
        for (g, &floor) in self.groups.iter().zip(&self.floor) {
            let size = |i: usize| self.size[i].max(x[i].abs());
            let largest = g.clone().fold(0.0_f64, |m, i| m.max(size(i)));
            for i in g.clone() {
                out[i] = self.tolerance * size(i).max(1e-3 * largest).max(floor);
            }
        }
    }

    /// The error of the step tried last, which has been judged, by the same measure.
    pub(crate) fn share(&self, ode: &impl Trial) -> f64 {
        let mut worst = 0.0_f64;
        for (g, &floor) in self.groups.iter().zip(&self.floor) {
            let largest = g.clone().fold(0.0_f64, |m, i| m.max(self.size[i]));
            let scaled = |i: usize| {
                let scale = self.tolerance * self.size[i].max(1e-3 * largest).max(floor);
                if scale > 0.0 { ode.error()[i] / scale } else { 0.0 }
            };
            let sum: f64 = g.clone().map(|i| scaled(i).powi(2)).sum();
            let e = (sum / g.len().max(1) as f64).sqrt();
            if !(e <= worst) {
                worst = e;
            }
        }
        worst
    }

    /// A smallest size for all components of a group, so that rounding errors of a group at rest are not taken for errors
    /// of the method.
    pub(crate) fn set_floor(&mut self, group: usize, size: f64) {
        self.floor[group] = size;
    }

    /// Judge the step tried last.
    pub(crate) fn judge(&mut self, ode: &impl Trial) -> Verdict {
        let h = ode.step();
        let error = self.norm(ode);
        let k = ode.order();
        self.age = self.age.saturating_add(1);
        let shrink = 0.9 * error.max(1e-12).powf(-0.85 / k) * self.old.powf(0.2 / k);
        if error <= 1.0 {
            let limit = if self.rejected { 1.0 } else { ode.growth() };
            self.old = error.max(1e-4);
            self.rejected = false;
            self.refused = (0.0, 0.0);
            std::mem::swap(&mut self.size, &mut self.trial);
            for i in 0..self.size.len() {
                if std::mem::take(&mut self.lent[i]) {
                    self.size[i] = ode.end()[i].abs().max((h * ode.rates()[i]).abs());
                }
            }
            Verdict::Accept(h * shrink.clamp(0.2, limit))
        } else {
            self.rejected = true;
            self.see_start(ode, error);
            let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / k) } else { 0.1 };
            Verdict::Reject(h * factor.clamp(0.1, 0.9))
        }
    }

    /// A start like tᵖ: the error of a step less than half as long as the one rejected before it is the same. Components that
    /// were zero so far get the size that they had at the end of the longer step.
    fn see_start(&mut self, ode: &impl Trial, error: f64) {
        let (last, length) = self.refused;
        let alike = ode.step() <= 0.5 * length && error >= 0.25 * last && last * self.tolerance <= KNOWN;
        for g in &self.groups {
            let moves = |i: usize| {
                let known = if self.lent[i] { 0.0 } else { self.size[i] };
                known.max(ode.state()[i].abs()).max((ode.step() * ode.rates()[i]).abs())
            };
            let largest = g.clone().fold(0.0, |m: f64, i| m.max(moves(i)));
            let most = if largest > 0.0 { largest } else { f64::INFINITY };
            for i in g.clone() {
                if (self.size[i] == 0.0 || self.lent[i]) && ode.state()[i] == 0.0 {
                    if alike && self.before[i].is_finite() {
                        self.size[i] = self.before[i].min(most);
                        self.lent[i] = true;
                    }
                    self.before[i] = self.trial[i];
                }
            }
        }
        self.refused = (error, ode.step());
    }

    /// Measure the rounding noise of `f` at the beginning of the step tried last, if that may be what the step size control fights
    /// with: steps become shorter and the last measurement is old. True when `f` was evaluated.
    pub(crate) fn measure(&mut self, ode: &impl Trial, next: f64, f: &mut impl Rhs) -> bool {
        if self.age < FRESH || next >= ode.step() {
            return false;
        }
        self.age = 0;
        let n = self.noise.len();
        self.noise.fill(0.0);
        self.reached.fill(false);
        for sample in 0..SAMPLES + LINKS {
            // the last samples are moved by the noise of those before: what rounding makes of a component that is zero in one step
            let moved = if sample < SAMPLES { 0.0 } else { next };
            for i in 0..n {
                let nudge = nudge(i, sample);
                self.nearby[i] = ode.state()[i] * (1.0 + nudge) + moved * self.noise[i] * nudge.signum();
            }
            if !f.rates(INSIDE, ode.time() * (1.0 + nudge(n, sample)), &self.nearby, &mut self.rates) {
                continue;
            }
            let link = sample >= SAMPLES;
            let mut grows = !link;
            for i in 0..n {
                let change = (self.rates[i] - ode.rates()[i]).abs();
                let own = if sample > SAMPLES { STRANGE } else { 1.0 } * self.noise[i];
                if change.is_finite() && change > own && !(link && self.reached[i]) {
                    self.reached[i] = link;
                    grows |= link;
                    self.noise[i] = change;
                }
            }
            if !grows {
                break;
            }
        }
        true
    }

    /// A first step length from the rates at the start (Hairer's rule without the extra evaluation). Groups that are zero, up to their floor,
    /// say nothing.
    pub(crate) fn first_step(&self, ode: &impl Trial, longest: f64) -> f64 {
        let mut h = longest;
        for (g, &floor) in self.groups.iter().zip(&self.floor) {
            let x = ode.state()[g.clone()]
                .iter()
                .chain(&self.size[g.clone()])
                .fold(0.0_f64, |m, v| m.max(v.abs()));
            let rate = ode.rates()[g.clone()].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            if x > floor && rate > 0.0 {
                h = h.min(0.05 * x / rate);
            }
        }
        h
    }

    /// Scaled error, ≤ 1 when good. Leaves the sizes including this step in `trial`.
    fn norm(&mut self, ode: &impl Trial) -> f64 {
        let mut worst = 0.0_f64;
        for (g, &floor) in self.groups.iter().zip(&self.floor) {
            let mut largest = 0.0_f64;
            for i in g.clone() {
                let (a, b) = (ode.state()[i], ode.end()[i]);
                self.trial[i] =
                    self.size[i].max(a.abs()).max(b.abs()).max((ode.step() * ode.rates()[i]).abs());
                largest = largest.max(self.trial[i]);
            }
            let mut sum = 0.0;
            for i in g.clone() {
                let scale = self.tolerance * self.trial[i].max(1e-3 * largest).max(floor);
                let scale = scale.max(ode.step().abs() * self.noise[i]);
                if scale > 0.0 {
                    let e = ode.error()[i] / scale;
                    sum += e * e;
                }
            }
            let count = g.len().max(1) as f64;
            let e = (sum / count).sqrt();
            if !(e <= worst) {
                worst = e;
            }
        }
        worst
    }
}

#[cfg(test)]
mod tests {
    use super::super::Dop853;
    use super::*;

    #[test]
    fn a_kepler_orbit_of_eccentricity_half_closes_to_tolerance() {
        let mut f = |_t: f64, x: &[f64], dx: &mut [f64]| {
            let r3 = (x[0] * x[0] + x[1] * x[1]).powf(1.5);
            dx[0] = x[2];
            dx[1] = x[3];
            dx[2] = -x[0] / r3;
            dx[3] = -x[1] / r3;
        };
        let start = [0.5, 0.0, 0.0, 3.0_f64.sqrt()];
        let mut ode = Dop853::new(4, 4);
        let mut control = Control::new(1e-10, vec![0..2, 2..4]);
        ode.start(0.0, &start, &mut f);
        let end = std::f64::consts::TAU;
        let mut h = control.first_step(&ode, end);
        while ode.time() < end {
            let last = ode.time() + h >= end;
            if last {
                h = end - ode.time();
            }
            assert!(ode.attempt(h, &mut f));
            match control.judge(&ode) {
                Verdict::Accept(next) => {
                    ode.advance();
                    h = next;
                    if last {
                        break;
                    }
                }
                Verdict::Reject(next) => h = next,
            }
        }
        for i in 0..4 {
            assert!((ode.state()[i] - start[i]).abs() < 1e-7, "{i}: {}", ode.state()[i] - start[i]);
        }
    }
}
