//! All consistent sign patterns of sliding pairs (Theorems 1 and 7, ANH-4.2-CRIT; ANH-5.1-MULTI).
//!
//! For each of the 2^m patterns solve (E + L ε μ) R = R⁰ and keep the solution when sign R_α = ε_α. A one-sided pair has the
//! patterns *closed* (R ≥ 0) and *open* (R = 0, g̈ ≥ 0); open patterns need the elimination with free normals. R = 0 is
//! accepted with either sign, and solutions that agree to 1e-8 are one. A pattern whose matrix is singular (pivots
//! below 1e-11 of the largest) is the border of a paradox and is counted in `singular`; when its equations are consistent a
//! whole line solves them, which the caller leaves to [`crate::contact::Transition`].
//!
//! Cost 2^m factorisations of order m: up to [`MAX_PAIRS`] pairs. The reference for everything cleverer.

use super::reactions::{Free, Reactions};
use crate::linalg::{Lu, Mat, max_abs};

/// Largest number of pairs whose patterns are enumerated one by one.
pub(crate) const MAX_PAIRS: usize = 16;

const SIGN: f64 = 1e-9;
const SAME: f64 = 1e-8;
const PIVOT: f64 = 1e-11;

/// A consistent pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Branch {
    /// Bit α set: pair α has R < 0, or is open when it is one-sided.
    pub pattern: u32,
    /// R of every pair; 0 where open.
    pub reactions: Vec<f64>,
}

impl Branch {}

/// The enumeration, with its memory.
#[derive(Clone, Debug, Default)]
pub struct Patterns {
    /// What was found, in the order of patterns; the first `count` are valid.
    found: Vec<Branch>,
    count: usize,
    /// Patterns with a singular matrix.
    pub singular: usize,
    /// Some singular pattern has consistent equations: a continuum.
    pub line: bool,
    lu: Lu,
    a: Mat,
    r: Vec<f64>,
    closed: Vec<usize>,
}

impl Patterns {
    /// The consistent patterns.
    pub fn found(&self) -> &[Branch] {
        &self.found[..self.count]
    }

    /// Enumerate. `free` is needed when a pair is one-sided. All pairs must slide; at most [`MAX_PAIRS`].
    pub fn run(&mut self, re: &Reactions, free: Option<&Free>) {
        let m = re.len();
        self.count = 0;
        self.singular = 0;
        self.line = false;
        if m > MAX_PAIRS {
            return;
        }
        for pattern in 0..1u32 << m {
            self.closed.clear();
            self.closed.extend((0..m).filter(|&a| re.pairs[a].two_sided || pattern >> a & 1 == 0));
            self.try_pattern(re, free, pattern);
        }
    }

    fn try_pattern(&mut self, re: &Reactions, free: Option<&Free>, pattern: u32) {
        let (m, k) = (re.len(), self.closed.len());
        let factor = |b: usize| {
            let p = &re.pairs[b];
            p.mu * if p.two_sided && pattern >> b & 1 == 1 { -1.0 } else { 1.0 }
        };
        self.a.reshape(k, k);
        self.r.clear();
        if k == m {
            for a in 0..m {
                for b in 0..m {
                    self.a[(a, b)] = f64::from(u8::from(a == b)) + re.index[(a, b)] * factor(b);
                }
            }
            self.r.extend_from_slice(&re.frictionless);
        } else {
            let Some(free) = free else { return };
            for (i, &a) in self.closed.iter().enumerate() {
                for (j, &b) in self.closed.iter().enumerate() {
                    self.a[(i, j)] = slope(re, free, a, b, factor(b));
                }
                self.r.push(-free.c[a]);
            }
        }
        let size = max_abs(&self.r);
        if k > 0 {
            if self.lu.factor(&self.a) < PIVOT {
                self.singular += 1;
                self.line |= self.consistent(size);
                return;
            }
            self.lu.solve(&mut self.r);
        }
        let scale = size.min(f64::MAX) * if k == m { 1.0 } else { 0.0 } + max_abs(&self.r);
        for (i, &a) in self.closed.iter().enumerate() {
            let e = if re.pairs[a].two_sided && pattern >> a & 1 == 1 { -1.0 } else { 1.0 };
            if !(e * self.r[i] >= -SIGN * scale) {
                return;
            }
        }
        if k < m
            && let Some(free) = free
        {
            for a in (0..m).filter(|&a| !re.pairs[a].two_sided && pattern >> a & 1 == 1) {
                let (mut y, mut terms) = (free.c[a], free.c[a].abs());
                for (j, &b) in self.closed.iter().enumerate() {
                    let t = slope(re, free, a, b, factor(b)) * self.r[j];
                    y += t;
                    terms += t.abs();
                }
                if !(y >= -SIGN * terms) {
                    return;
                }
            }
        }
        self.keep(m, pattern, scale);
    }

    // the last equation of an elimination decides; a small shift of the matrix makes it solvable
    fn consistent(&mut self, size: f64) -> bool {
        let mut rank = crate::linalg::FullPivot::default();
        rank.factor(&self.a);
        let mut x = vec![0.0; self.r.len()];
        rank.solve(&self.r, &[], &mut x) <= 1e-9 * size.max(f64::MIN_POSITIVE)
    }

    fn keep(&mut self, m: usize, pattern: u32, scale: f64) {
        let same = |b: &Branch, closed: &[usize], r: &[f64]| {
            (0..m).all(|a| {
                let v = closed.iter().position(|&c| c == a).map_or(0.0, |i| r[i]);
                (b.reactions[a] - v).abs() <= SAME * scale.max(f64::MIN_POSITIVE)
            })
        };
        if self.found[..self.count].iter().any(|b| same(b, &self.closed, &self.r)) {
            return;
        }
        if self.count == self.found.len() {
            self.found.push(Branch::default());
        }
        let b = &mut self.found[self.count];
        b.pattern = pattern;
        b.reactions.clear();
        b.reactions.resize(m, 0.0);
        for (i, &a) in self.closed.iter().enumerate() {
            b.reactions[a] = self.r[i];
        }
        self.count += 1;
    }
}

// ∂g̈_a/∂R_b with friction: H_nn − H_nt d μ ε
fn slope(re: &Reactions, free: &Free, a: usize, b: usize, factor: f64) -> f64 {
    let m = re.len();
    free.h[(a, b)] - free.h[(a, m + b)] * re.pairs[b].direction * factor
}
