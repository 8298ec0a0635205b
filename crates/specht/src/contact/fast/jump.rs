//! The tangential impact: how long it lasts, and for several pairs its end.
//!
//! The fast motion goes on until all slip that feeds it is gone.
//! While reactions grow beyond all finite forces, positions stand still and velocities change by impulses: the fast motion without
//! c, from the direction in which the reactions grow, with the slip velocities as they are. Springs are damped so
//! strongly that nothing rebounds; rates that have come to rest are then made exactly zero. One pair: the end of a compression
//! phase. Several: the compression laws of impacts know only the end, this motion the way, and they may differ.
//!
//! Duration: with reactions r e^{Λt} along the direction of growth, Λ² = c|κ|, and the loss k of slip per unit of impulse,
//!
//! ```text
//! Δt = (1/Λ) ln(1 + Λ|γ|/(r k))                                                          (4.56, corrected)
//! ```
//!
//! r is the growing part of the reactions at the start, exact for one pair (from the energy of its portrait), an estimate by their
//! size for several.

use super::Fast;
use super::motion::{Motion, Slip};
use crate::linalg::FullPivot;
use crate::linalg::{Mat, axpy, dot, max_abs};

/// Damping ratio of the springs.
const DAMPING: f64 = 1.0;
const LIMIT: usize = 200_000;

/// Duration of a tangential impact for any stiffness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lasting {
    /// Λ/√c.
    pub growth: f64,
    /// (Λ/√c) |γ|/(r k).
    pub factor: f64,
}

impl Lasting {
    /// Δt for the contact stiffness `c`.
    pub(crate) fn at(&self, c: f64) -> f64 {
        (self.factor * c.sqrt()).ln_1p() / (self.growth * c.sqrt())
    }

    /// One contact with g̈_N = a λ_N + b, a < 0, whose reaction grows from `r` and whose slip ends with the normal impulse `size`.
    pub(crate) fn of_one(a: f64, b: f64, r: f64, size: f64) -> Option<Lasting> {
        let growth = (-a).sqrt();
        let out = Lasting { growth, factor: growth * size / (0.5 * (r + b / a).abs()) };
        (out.growth > 0.0 && out.factor.is_finite() && out.factor > 0.0).then_some(out)
    }

    /// In words.
    pub(crate) fn note(&self) -> String {
        format!(
            "with springs of stiffness c at the contacts it lasts about ln(1 + {:.4e}*sqrt(c))/({:.4e}*sqrt(c)): {:.2e} s for c = 1e6 N/m, {:.2e} s for 1e9 N/m",
            self.factor,
            self.growth,
            self.at(1e6),
            self.at(1e9)
        )
    }
}

impl Fast {
    /// How long the slip lasts when the reactions start at `r0`, at rest, and grow along `direction`; `slip` per tangent.
    pub(crate) fn lasting(&self, r0: &[f64], slip: &[f64], direction: &[f64]) -> Option<Lasting> {
        let (n, t) = (self.normals.len(), self.tangents.len());
        let mut motion = Motion::new(self, 0.0)?;
        motion.impact();
        let mut y = vec![0.0; 2 * n + t];
        y[..n].copy_from_slice(direction);
        motion.forces(&y);
        let top = (0..n).max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs()))?;
        let kappa = self.normals[top].stiffness * motion.acceleration(top) / direction[top];
        let growth = (-kappa).sqrt();
        // the growing part, per unit of the direction
        let part = if n == 1 {
            let e = direction[0];
            let slope = |sign: f64| {
                let friction: f64 = (0..t).map(|j| self.h[(0, n + j)] * self.friction_of(j, sign)).sum();
                self.h[(0, 0)] * sign + friction
            };
            // from the other side: the rate at which the reaction passes zero
            let (from, rest) = (e * r0[0], -self.c[0] / slope(e));
            if from >= 0.0 {
                0.5 * (from - rest).abs()
            } else {
                let energy = slope(-e) * -e * r0[0] * r0[0] + 2.0 * self.c[0] * r0[0];
                0.5 * ((energy.max(0.0) / slope(e).abs()).sqrt() - rest).abs()
            }
        } else {
            let natural = (0..n).map(|a| (self.c[a] / self.h[(a, a)]).abs()).fold(0.0, f64::max);
            0.5 * natural.max(max_abs(r0))
        };
        // the first slip that ends
        let time = (0..t)
            .filter(|&j| slip[j] != 0.0)
            .map(|j| (slip[j].abs(), -slip[j].signum() * motion.acceleration(n + j)))
            .filter(|(_, loss)| *loss > 0.0)
            .map(|(speed, loss)| speed / loss)
            .fold(f64::INFINITY, f64::min);
        let out = Lasting { growth, factor: growth * time / part };
        (out.growth > 0.0 && out.factor.is_finite() && out.factor > 0.0).then_some(out)
    }

    // friction force of tangent `j` under the reaction `r` of a single pair
    fn friction_of(&self, j: usize, r: f64) -> f64 {
        let share: f64 = self.tangents[j].load.iter().map(|(_, f)| f).sum();
        -self.tangents[j].direction * self.tangents[j].mu * share * r.abs()
    }

    /// Velocities after the impact that begins at `u` with reactions growing along `direction` (per normal), and the impulses
    /// (normals, then tangents). `slip`: velocities of the tangents before. `None` when it does not come to an end.
    pub(crate) fn jump(&self, u: &[f64], slip: &[f64], direction: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, t) = (self.normals.len(), self.tangents.len());
        if self.response.rows() != n + t || slip.len() != t {
            return None;
        }
        let mut motion = Motion::new(self, DAMPING)?;
        motion.impact();
        // reactions that change the slip noticeably in the time 1, and a start far below
        let mobility = (0..t).map(|j| self.h[(n + j, n + j)]).fold(0.0, f64::max);
        let size = max_abs(slip) / mobility;
        if !(size > 0.0 && size.is_finite()) {
            return None;
        }
        motion.set_scale(size);
        let mut y = vec![0.0; 3 * n + 2 * t];
        for a in 0..n {
            y[a] = 1e-6 * size * direction[a];
        }
        y[2 * n..2 * n + t].copy_from_slice(slip);
        let mut peak = 0.0_f64;
        for _ in 0..LIMIT {
            motion.advance(&mut y);
            let now = max_abs(&motion.r);
            if !now.is_finite() {
                return None;
            }
            peak = peak.max(now);
            let quiet = now < 1e-6 * peak
                && (0..n).all(|a| {
                    let leaves = !self.normals[a].two_sided && y[a] <= 0.0 && y[n + a] <= 0.0;
                    leaves || y[n + a].abs().max(y[a].abs()) < 1e-6 * peak
                });
            if quiet && peak > 1e-4 * size {
                let mut impulses = y[2 * n + t..].to_vec();
                self.complete(&motion, &y, slip, peak, &mut impulses);
                let mut after = u.to_vec();
                for (k, p) in impulses.iter().enumerate() {
                    axpy(*p, self.response.row(k), &mut after);
                }
                return Some((after, impulses));
            }
        }
        None
    }

    // the little that is left of the rates that have come to rest, by the smallest impulses
    fn complete(&self, motion: &Motion, y: &[f64], slip: &[f64], peak: f64, impulses: &mut [f64]) {
        let n = self.normals.len();
        let rests = |a: usize| self.normals[a].two_sided || y[n + a].abs().max(y[a].abs()) < 1e-6 * peak;
        let held = (0..slip.len()).filter(|&j| motion.slip[j] == Slip::Held && self.h[(n + j, n + j)] > 0.0);
        let rows: Vec<usize> = (0..n).filter(|&a| rests(a)).chain(held.map(|j| n + j)).collect();
        let rate = |k: usize| {
            let before = if k < n { 0.0 } else { slip[k - n] };
            -before - dot(self.h.row(k), impulses)
        };
        let left: Vec<f64> = rows.iter().map(|&k| rate(k)).collect();
        let mut rank = FullPivot::default();
        rank.factor(&Mat::from_fn(rows.len(), rows.len(), |i, j| self.h[(rows[i], rows[j])]));
        let mut change = vec![0.0; rows.len()];
        rank.solve(&left, &[], &mut change);
        if change.iter().all(|c| c.is_finite()) {
            rows.iter().zip(&change).for_each(|(&k, c)| impulses[k] += c);
        }
    }
}
