//! The fast motion of stiff contacts (ANH-4.3-LIMIT, ANH-5.4-PERTURB).
//!
//! Each normal reaction comes from a stiff spring, R = −c g (one-sided: max(0, −c g)). While the reactions move, positions and
//! velocities stand still, and
//!
//! ```text
//! I c⁻¹ R̈ + (E + L ε μ) R = R⁰,     I⁻¹ = H_nn                                          (5.67)
//! ```
//!
//! The rigid solutions are its stationary points. A branch is a *centre* when all eigenvalues κ of c H_nn (E + L ε μ) are
//! real and positive, a *saddle* when one is negative, *flutter* when a pair is complex (5.68). Contacts that stick hold
//! their slip in the fast motion too.
//!
//! One pair, x = R/R⁰, p = μ|L|, s = sign(R⁰ L): x'' = 1 − x − s p |x| in the time w t, w² = c H_nn. It conserves
//!
//! ```text
//! E = x'²/2 + x²/2 + s p x|x|/2 − x
//! ```
//!
//! so the basin is exact: for s = 1, p > 1 the motion stays about the centre iff x₀ > x₋ = −1/(p−1) and E₀ < 1/(2(p−1))
//! (Theorem 8); for s = −1, p > 1 nothing stays (Theorem 9). Several pairs: [`crate::contact::Fast`] follows the piecewise
//! linear motion, with every change of sign located, under a little damping.

use super::reactions::{Free, Reactions};
use crate::linalg::{Complex, Lu, Mat, eigenvalues};
use crate::system::Mode;

/// What the fast motion does about a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Character {
    /// Oscillation; attracts under any damping.
    Centre,
    /// Divergence.
    Saddle,
    /// Growing oscillation.
    Flutter,
}

impl Character {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Character::Centre => "centre",
            Character::Saddle => "saddle",
            Character::Flutter => "flutter",
        }
    }
}

/// Whether a branch that does not flutter would with other stiffnesses of its contacts: two of them, the others soft, have complex κ for
/// some ratio when their influences on each other have opposite signs and their own the same, (a₁₁ − r a₂₂)² + 4 r a₁₂ a₂₁ < 0.
fn may_flutter(a: &Mat) -> bool {
    let size = crate::linalg::max_abs(a.as_slice());
    (0..a.rows())
        .any(|i| (0..i).any(|j| a[(i, i)] * a[(j, j)] > 0.0 && a[(i, j)] * a[(j, i)] < -1e-9 * size * size))
}

/// The fast motion about a solution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FastMotion {
    /// What it does; `None` where that is not defined.
    pub character: Option<Character>,
    /// Eigenvalues κ.
    pub kappa: Vec<Complex>,
    /// Other ratios of the stiffnesses lead to flutter.
    pub may_flutter: bool,
}

/// Character and κ of a solution with these modes (per contact) and normal forces (per contact). `stiffness` per pair.
pub(crate) fn character(
    re: &Reactions,
    free: &Free,
    stiffness: &[f64],
    modes: &[Mode],
    normal: &[f64],
) -> FastMotion {
    let m = re.len();
    let closed: Vec<usize> = (0..m).filter(|&a| modes[re.pairs[a].contact].is_closed()).collect();
    let stuck: Vec<usize> = closed
        .iter()
        .copied()
        .filter(|&a| re.pairs[a].tangent.is_some() && modes[re.pairs[a].contact] == Mode::Stick)
        .collect();
    let column = |row: usize, b: usize| {
        let p = &re.pairs[b];
        let d = modes[p.contact].direction();
        let e = if normal[p.contact] < 0.0 { -1.0 } else { 1.0 };
        free.h[(row, b)] - free.h[(row, m + b)] * d * p.mu * e
    };
    let (k, t) = (closed.len(), stuck.len());
    let mut a = Mat::from_fn(k, k, |i, j| column(closed[i], closed[j]));
    if t > 0 {
        // hold the slip of sticking pairs
        let tt = Mat::from_fn(t, t, |i, j| free.h[(m + stuck[i], m + stuck[j])]);
        let mut lu = Lu::default();
        if lu.factor(&tt) < 1e-12 {
            return FastMotion::default();
        }
        for j in 0..k {
            let mut x: Vec<f64> = stuck.iter().map(|&s| column(m + s, closed[j])).collect();
            lu.solve(&mut x);
            for i in 0..k {
                a[(i, j)] -= (0..t).map(|q| free.h[(closed[i], m + stuck[q])] * x[q]).sum::<f64>();
            }
        }
    }
    let may_flutter = may_flutter(&a);
    for i in 0..k {
        a.row_mut(i).iter_mut().for_each(|x| *x *= stiffness[closed[i]]);
    }
    let Some(kappa) = eigenvalues(&a) else { return FastMotion::default() };
    let size = kappa.iter().fold(0.0, |s: f64, e| s.max(e.abs()));
    let complex = |e: &Complex| e.im.abs() > 1e-9 * size;
    let what = if kappa.iter().any(|e| !complex(e) && e.re < 0.0) {
        Character::Saddle
    } else if kappa.iter().any(complex) {
        Character::Flutter
    } else {
        Character::Centre
    };
    FastMotion { character: Some(what), kappa, may_flutter: may_flutter && what == Character::Centre }
}

/// The phase portrait of one two-sided pair: x'' = 1 − x − s p |x|.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Portrait {
    /// p = μ|L|.
    pub p: f64,
    /// s = sign(R⁰ L): +1 where several solutions may exist, −1 where none may.
    pub s: f64,
}

impl Portrait {
    /// Centre or unique stationary value in its own half plane.
    pub(crate) fn centre(&self) -> Option<f64> {
        let d = 1.0 + self.s * self.p;
        (d > 0.0).then(|| 1.0 / d)
    }

    /// Saddle, for p > 1 and s = 1.
    pub(crate) fn saddle(&self) -> Option<f64> {
        (self.s > 0.0 && self.p > 1.0).then(|| -1.0 / (self.p - 1.0))
    }

    /// E.
    pub(crate) fn energy(&self, x: f64, rate: f64) -> f64 {
        0.5 * rate * rate + 0.5 * x * x + 0.5 * self.s * self.p * x * x.abs() - x
    }

    /// Whether the motion from (x, x') stays bounded.
    pub fn stays(&self, x: f64, rate: f64) -> bool {
        match self.saddle() {
            Some(saddle) => x > saddle && self.energy(x, rate) < 0.5 / (self.p - 1.0),
            None => self.centre().is_some(),
        }
    }

    /// Range of x with x' = 0 that stays: from the saddle to x_max; `None` when everything or nothing stays.
    pub fn bounded_interval(&self) -> Option<[f64; 2]> {
        let p = self.p;
        self.saddle().map(|x| [x, (1.0 + (2.0 * p / (p - 1.0)).sqrt()) / (1.0 + p)])
    }

    /// Rate of growth in the divergent half plane, in units of w: √(p − 1).
    pub(crate) fn growth(&self) -> Option<f64> {
        (self.p > 1.0).then(|| (self.p - 1.0).sqrt())
    }

    /// Amplitude of the growing exponential from a start inside the divergent half plane (x of the sign −s).
    pub(crate) fn growing_part(&self, x: f64, rate: f64) -> Option<f64> {
        let growth = self.growth()?;
        let rest = -1.0 / (self.p - 1.0);
        Some(0.5 * ((x - rest) + rate / growth))
    }
}
