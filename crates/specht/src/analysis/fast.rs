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
//! (Theorem 8); for s = −1, p > 1 nothing stays (Theorem 9). Several pairs: [`follow`] integrates the piecewise linear
//! motion, with every change of sign located, under a little damping.

use super::branches::Branch;
use super::reactions::{Free, Reactions};
use crate::linalg::{Complex, Lu, Mat, eigenvalues, max_abs};
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

/// Character and κ of a solution with these modes (per contact) and normal forces (per contact). `stiffness` per pair.
pub fn character(
    re: &Reactions,
    free: &Free,
    stiffness: &[f64],
    modes: &[Mode],
    normal: &[f64],
) -> (Option<Character>, Vec<Complex>) {
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
            return (None, Vec::new());
        }
        for j in 0..k {
            let mut x: Vec<f64> = stuck.iter().map(|&s| column(m + s, closed[j])).collect();
            lu.solve(&mut x);
            for i in 0..k {
                a[(i, j)] -= (0..t).map(|q| free.h[(closed[i], m + stuck[q])] * x[q]).sum::<f64>();
            }
        }
    }
    for i in 0..k {
        a.row_mut(i).iter_mut().for_each(|x| *x *= stiffness[closed[i]]);
    }
    let Some(kappa) = eigenvalues(&a) else { return (None, Vec::new()) };
    let size = kappa.iter().fold(0.0, |s: f64, e| s.max(e.abs()));
    let complex = |e: &Complex| e.im.abs() > 1e-9 * size;
    let what = if kappa.iter().any(|e| !complex(e) && e.re < 0.0) {
        Character::Saddle
    } else if kappa.iter().any(complex) {
        Character::Flutter
    } else {
        Character::Centre
    };
    (Some(what), kappa)
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
    pub fn centre(&self) -> Option<f64> {
        let d = 1.0 + self.s * self.p;
        (d > 0.0).then(|| 1.0 / d)
    }

    /// Saddle, for p > 1 and s = 1.
    pub fn saddle(&self) -> Option<f64> {
        (self.s > 0.0 && self.p > 1.0).then(|| -1.0 / (self.p - 1.0))
    }

    /// E.
    pub fn energy(&self, x: f64, rate: f64) -> f64 {
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
    pub fn growth(&self) -> Option<f64> {
        (self.p > 1.0).then(|| (self.p - 1.0).sqrt())
    }

    /// Amplitude of the growing exponential from a start inside the divergent half plane (x of the sign −s).
    pub fn growing_part(&self, x: f64, rate: f64) -> Option<f64> {
        let growth = self.growth()?;
        let rest = -self.s / (self.p - 1.0);
        Some(0.5 * ((x - rest) + rate / growth))
    }
}

/// Where the fast motion of several pairs leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// To the branch with this index.
    Settles(usize),
    /// Reactions grow without bound; the direction of growth, largest component 1.
    Diverges(Vec<f64>),
    /// Neither within the time allowed (flutter that is caught by another branch, a cycle).
    Undecided,
}

/// Integrate the fast motion from the reactions `r0` and their rates `rate0` (in the time in which the largest |κ| is 1).
/// `branches` are the stationary points, `stiffness` relative per pair, `damping` the ratio at that frequency (R = −c g − α ġ).
pub fn follow(
    re: &Reactions,
    free: &Free,
    branches: &[Branch],
    stiffness: &[f64],
    r0: &[f64],
    rate0: &[f64],
    damping: f64,
) -> Fate {
    let m = re.len();
    let mut stiff = stiffness.to_vec();
    // time unit: the largest row sum bounds every |κ|
    let bound = (0..m)
        .map(|a| {
            stiff[a]
                * (0..m)
                    .map(|b| free.h[(a, b)].abs() + free.h[(a, m + b)].abs() * re.pairs[b].mu)
                    .sum::<f64>()
        })
        .fold(0.0, f64::max);
    if !(bound > 0.0) {
        return Fate::Undecided;
    }
    stiff.iter_mut().for_each(|c| *c /= bound);
    let size = max_abs(&re.frictionless).max(max_abs(r0)).max(max_abs(rate0)).max(f64::MIN_POSITIVE);
    let mut motion = Motion { re, free, stiff, damping: 2.0 * damping, r: vec![0.0; m], x: vec![0.0; m] };
    let mut y: Vec<f64> = r0.iter().chain(rate0).copied().collect();
    let mut next = y.clone();
    let (step, limit) = (0.02, 400_000);
    let mut rk = Rk::new(2 * m);
    for k in 0..limit {
        rk.step(&mut motion, step, &y, &mut next);
        // the first change of sign inside the step
        let crosses = |n: &[f64]| (0..m).any(|a| y[a] != 0.0 && n[a] * y[a] < 0.0);
        if crosses(&next) {
            let (mut lo, mut hi) = (0.0, step);
            for _ in 0..50 {
                let mid = 0.5 * (lo + hi);
                rk.step(&mut motion, mid, &y, &mut next);
                if crosses(&next) { hi = mid } else { lo = mid }
            }
            rk.step(&mut motion, hi, &y, &mut next);
        }
        std::mem::swap(&mut y, &mut next);
        let largest = max_abs(&y[..m]);
        if !(largest < 1e9 * size) {
            return Fate::Diverges(y[..m].iter().map(|v| v / largest).collect());
        }
        if k % 64 == 0 {
            let still = max_abs(&y[m..]) < 1e-6 * size;
            let near = |b: &Branch| {
                (0..m).all(|a| {
                    let r = if re.pairs[a].two_sided { y[a] } else { y[a].max(0.0) };
                    (r - b.reactions[a]).abs() < 1e-5 * size
                })
            };
            if still && let Some(b) = branches.iter().position(near) {
                return Fate::Settles(b);
            }
            // an open one-sided pair flies away for good
            let leaves = |b: &Branch| {
                (0..m).all(|a| {
                    if b.sign(re, a) == 0.0 {
                        y[a] < -1e3 * size && y[m + a] < 0.0
                    } else {
                        (y[a] - b.reactions[a]).abs() < 1e-4 * size
                    }
                })
            };
            if let Some(b) = branches.iter().position(leaves) {
                return Fate::Settles(b);
            }
        }
    }
    Fate::Undecided
}

// s̈ = −c g̈ with R = s + α ṡ (friction follows the damped force), one-sided: positive part
struct Motion<'a> {
    re: &'a Reactions,
    free: &'a Free,
    stiff: Vec<f64>,
    damping: f64,
    r: Vec<f64>,
    x: Vec<f64>,
}

impl Motion<'_> {
    fn rates(&mut self, y: &[f64], dy: &mut [f64]) {
        let m = self.re.len();
        for a in 0..m {
            let raw = y[a] + self.damping * y[m + a];
            let two_sided = self.re.pairs[a].two_sided;
            self.r[a] = if two_sided {
                raw
            } else if y[a] > 0.0 {
                raw.max(0.0)
            } else {
                0.0
            };
            // the sign that friction sees is that of the spring: no chatter from damping
            let bound = if two_sided { raw * y[a].signum() } else { self.r[a] };
            self.x[a] = -self.re.pairs[a].direction * self.re.pairs[a].mu * bound;
        }
        for a in 0..m {
            dy[a] = y[m + a];
            let row = self.free.h.row(a);
            let mut g = self.free.c[a];
            for b in 0..m {
                g += row[b] * self.r[b] + row[m + b] * self.x[b];
            }
            dy[m + a] = -self.stiff[a] * g;
        }
    }
}

struct Rk {
    k: [Vec<f64>; 4],
    z: Vec<f64>,
}

impl Rk {
    fn new(n: usize) -> Self {
        Rk { k: std::array::from_fn(|_| vec![0.0; n]), z: vec![0.0; n] }
    }

    // the classical method of order 4
    fn step(&mut self, f: &mut Motion, h: f64, y: &[f64], out: &mut [f64]) {
        let n = y.len();
        for (i, c) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            for j in 0..n {
                self.z[j] = y[j] + if i == 0 { 0.0 } else { c * h * self.k[i - 1][j] };
            }
            f.rates(&self.z, &mut self.k[i]);
        }
        for j in 0..n {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| self.k[i][j]);
            out[j] = y[j] + h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
    }
}
