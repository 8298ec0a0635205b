//! Error norm and step size control.
//!
//! The error of component `i` is measured against `tolerance · max(sᵢ, 10⁻³ max_j s_j, floor)`, where `sᵢ` is the largest size
//! the component has had so far (its increment in the present step included) and `j` runs over the components of the same
//! group (positions, velocities, …). So nobody has to give absolute tolerances, and a component that starts at zero
//! neither stops the integration nor escapes control. The norm is the root mean square over each group, then the maximum
//! over the groups. The next step follows the PI rule `h ← h · 0.9 · e^(−0.85/k) e_old^(0.2/k)` (error ~ hᵏ) with factors
//! between 0.2 and 8, and does not grow directly after a rejection. [Hairer1993, II.4; Gustafsson1991]

use super::Trial;

/// What to do with the step tried last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Good; the argument is the proposed length of the next step.
    Accept(f64),
    /// Too large an error; try again with this length.
    Reject(f64),
}

/// Scales and memory of the step size control.
#[derive(Clone, Debug, Default)]
pub struct Control {
    tolerance: f64,
    groups: Vec<std::ops::Range<usize>>,
    size: Vec<f64>,
    trial: Vec<f64>,
    floor: Vec<f64>,
    old: f64,
    rejected: bool,
}

impl Control {
    /// Relative tolerance, and the groups of components that share a smallest scale.
    pub fn new(tolerance: f64, groups: Vec<std::ops::Range<usize>>) -> Self {
        let n = groups.iter().map(|g| g.end).max().unwrap_or(0);
        let floor = vec![0.0; groups.len()];
        Control {
            tolerance,
            groups,
            size: vec![0.0; n],
            trial: vec![0.0; n],
            floor,
            old: 1e-4,
            rejected: false,
        }
    }

    /// Forget the history of errors (after an event); sizes stay.
    pub fn restart(&mut self) {
        self.old = 1e-4;
        self.rejected = false;
    }

    /// A smallest size for all components of a group, so that rounding errors of a group at rest are not taken for errors
    /// of the method.
    pub fn set_floor(&mut self, group: usize, size: f64) {
        self.floor[group] = size;
    }

    /// Judge the step tried last.
    pub fn judge(&mut self, ode: &impl Trial) -> Verdict {
        let h = ode.step();
        let error = self.norm(ode);
        let k = ode.order();
        let shrink = 0.9 * error.max(1e-12).powf(-0.85 / k) * self.old.powf(0.2 / k);
        if error <= 1.0 {
            let limit = if self.rejected { 1.0 } else { 8.0 };
            self.old = error.max(1e-4);
            self.rejected = false;
            std::mem::swap(&mut self.size, &mut self.trial);
            Verdict::Accept(h * shrink.clamp(0.2, limit))
        } else {
            self.rejected = true;
            let factor = if error.is_finite() { 0.9 * error.powf(-1.0 / k) } else { 0.1 };
            Verdict::Reject(h * factor.clamp(0.1, 0.9))
        }
    }

    /// A first step length from the rates at the start (Hairer's rule without the extra evaluation). Groups that are zero, up to their floor,
    /// say nothing.
    pub fn first_step(&self, ode: &impl Trial, longest: f64) -> f64 {
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
    use super::super::Dopri5;
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
        let mut ode = Dopri5::new(4);
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
