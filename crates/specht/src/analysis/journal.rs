//! Journals: friction in a pin, whose bound is the norm of a vector (ANH-4.6-ZHUKFROUDE).
//!
//! ```text
//! moment  x = −d m |R|,      m = r μ/√(1 + μ²)  radius of the friction circle (4.95),   d direction of the turning
//! R = R⁰ + S x               R⁰ and S from M and W with everything held, as for other pairs
//!   ⇒  ρ = |R|:  (1 − m²|S|²) ρ² + 2 d m (R⁰·S) ρ − |R⁰|² = 0,   ρ ≥ 0
//! ```
//!
//! * m|S| < 1: exactly one ρ ≥ 0, whatever the load.
//! * m|S| > 1: two when d (R⁰·S) > 0 and m²(R⁰·S)² ≥ (m²|S|² − 1)|R⁰|², otherwise none.
//!
//! The index of influence is L = r|S| and the criterion L μ/√(1 + μ²) = 1, so that
//!
//! ```text
//! μ_c = 1/√(L² − 1)   for L > 1;  none for L ≤ 1: the friction circle cannot grow beyond the journal
//! ```
//!
//! (a particle at the distance l on a massless sleeve: |S| = 1/l and μ_c = l/√(r² − l²), (4.102)). A pin whose `friction` is the arm of
//! the moment itself, without `radius`, has L = |S|, μ_c = 1/L.
//!
//! Several pairs, some of them journals: there is no determinant whose sign decides for all loads. The critical factor is then that of the
//! present state: the first common factor on all coefficients at which the number of solutions is no longer one, searched between
//! 1/[`REACH`] and [`REACH`] in steps of [`STEP`] and refined by bisection to 1e-10 relative.

use super::Snapshot;
use crate::contact::{Status, Transition};
use crate::linalg::dot;
use crate::system::{ContactInfo, Eval};

/// Largest and smallest factor that is tried.
pub(crate) const REACH: f64 = 1024.0;
/// Ratio of neighbouring factors.
pub(crate) const STEP: f64 = 1.189_207_115_002_721;

/// A pin with friction at a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Journal {
    /// Index of the contact.
    pub contact: usize,
    /// Direction of the turning, ±1; at zero that of the frictionless acceleration.
    pub direction: f64,
    /// It turns.
    pub slides: bool,
    /// Friction coefficient (the arm itself without a radius).
    pub mu: f64,
    /// Radius, 0 when the coefficient is the arm.
    pub radius: f64,
    /// R⁰.
    pub frictionless: [f64; 2],
    /// S.
    pub response: [f64; 2],
}

impl Journal {
    /// Radius m of the friction circle.
    pub(crate) fn arm(&self) -> f64 {
        if self.radius > 0.0 { self.radius * self.mu / (1.0 + self.mu * self.mu).sqrt() } else { self.mu }
    }

    /// L.
    pub fn index(&self) -> f64 {
        let size = self.response[0].hypot(self.response[1]);
        if self.radius > 0.0 { self.radius * size } else { size }
    }

    /// |R⁰|.
    pub fn load(&self) -> f64 {
        self.frictionless[0].hypot(self.frictionless[1])
    }

    /// μ_c, for this journal as the only pair; infinite when no friction is critical.
    pub fn critical_mu(&self) -> f64 {
        let l = self.index();
        match self.radius > 0.0 {
            true if l > 1.0 => 1.0 / (l * l - 1.0).sqrt(),
            true => f64::INFINITY,
            false => 1.0 / l,
        }
    }

    /// All ρ ≥ 0 of this journal as the only pair, smallest first.
    pub fn reactions(&self) -> Vec<f64> {
        let m = self.arm();
        let a = 1.0 - m * m * dot(&self.response, &self.response);
        let b = self.direction * m * dot(&self.frictionless, &self.response);
        let c = -dot(&self.frictionless, &self.frictionless);
        // a ρ² + 2 b ρ + c = 0
        let mut list = Vec::new();
        let root = b * b - a * c;
        if root >= 0.0 {
            // without cancellation
            let q = -(b + b.signum() * root.sqrt());
            list.extend([q / a, c / q].into_iter().filter(|x| x.is_finite() && *x >= 0.0));
        }
        list.sort_by(f64::total_cmp);
        list
    }
}

/// The factor on all friction at which this state ceases to have one solution; infinite when none is found, NaN when the state itself is
/// not decided. See the head of this file.
pub(super) fn critical_factor(info: &[ContactInfo], at: &Snapshot, transition: &mut Transition) -> f64 {
    let all: Vec<usize> = (0..info.len()).filter(|&i| info[i].friction).collect();
    let mut unique = |k: f64| {
        let set = transition.solve(info, &friction_times(&at.eval, &all, k), &at.starts);
        set.status == Status::Unique
    };
    let (mut lo, mut hi) = (0.0, 1.0 / REACH);
    while unique(hi) {
        lo = hi;
        hi *= STEP;
        if hi > REACH {
            return f64::INFINITY;
        }
    }
    while hi - lo > 1e-10 * hi {
        let mid = 0.5 * (lo + hi);
        if unique(mid) { lo = mid } else { hi = mid }
    }
    0.5 * (lo + hi)
}

/// The evaluation with the coefficients of some contacts multiplied.
pub(super) fn friction_times(eval: &Eval, scaled: &[usize], k: f64) -> Eval {
    let mut own = eval.clone();
    for &i in scaled {
        own.mu[i] = eval.bound_factor(i, k * eval.coefficient(i, eval.mu[i]));
        own.mu_static[i] = eval.bound_factor(i, k * eval.coefficient(i, eval.mu_static[i]));
    }
    own
}
