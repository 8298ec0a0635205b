//! One coordinate, one frictional pair: the book's coefficients from the engine's M, h, W, and its Theorems 2 to 6.
//!
//! Let all other bilateral rows and closed contacts hold. Then velocities have the form `u = t q̇ + ν ḣ` with
//!
//! ```text
//! w_N t = 0,   w_N ν = 1,   w_T ν = 0        (auxiliary displacement perpendicular to the slip: λ = 0 in (2.8))
//! A = tᵀ M t,  A12 = tᵀ M ν,  Q1 = tᵀ h,  Q2 = νᵀ h,  s = |w_T t|,  L = (A12/A) s      (2.15), (2.60)
//! ```
//!
//! `ν` and hence `L` do not depend on how the constraint is removed (the space of `u` is two-dimensional and three linear
//! conditions with one redundancy fix ν). The sign of `q` is chosen so that the slip grows with it, so `ε2` is the sign of the slip.
//!
//! The verdicts of the book are inferred from the sign of an assumed deceleration; the complete enumeration is
//! [`super::rest`]. They differ in two cases, see [`BookRest`]. [LeXuanAnh2003, 2.4, 2.5]

use crate::linalg::{Mat, dot, null_space};
use crate::system::{ContactInfo, Eval, Normal};

/// Coefficients of (2.15) at a configuration, velocity zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OnePair {
    /// The contact.
    pub contact: usize,
    /// A.
    pub a: f64,
    /// A12.
    pub a12: f64,
    /// Q1.
    pub q1: f64,
    /// Q2, of the perpendicular displacement.
    pub q2: f64,
    /// Slip speed per unit of q̇.
    pub s: f64,
    /// Friction coefficient at rest.
    pub mu: f64,
    /// Influence coefficient of the configuration, L = (A12/A) s.
    pub l_config: f64,
    /// Direction of the free motion.
    pub t: Vec<f64>,
    /// The perpendicular auxiliary displacement.
    pub nu: Vec<f64>,
}

/// What the book's Theorems 2 and 3 say of a system at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BookRest {
    /// It stays.
    Stays,
    /// It starts.
    Moves,
    /// Both are possible (Theorem 3, iii; the enumeration finds motion only).
    Both,
}

/// What the book's Theorems 4 and 6 say of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BookPoint {
    /// No force at the point starts the mechanism.
    SelfBraking,
    /// Some force does.
    Debraking,
    /// Theorem 6, (2.115): both at once (the enumeration finds debraking).
    Both,
}

/// Parallel means: the cross product is below this fraction of the product of the lengths.
const PARALLEL: f64 = 1e-9;

impl OnePair {
    /// Coefficients for `contact`, when it is a rubbing bilateral pair, the only rubbing one, and one coordinate remains.
    pub(crate) fn of(info: &[ContactInfo], eval: &Eval, closed: &[bool], contact: usize) -> Option<OnePair> {
        let Normal::Bilateral { row: own } = info[contact].normal else { return None };
        let &[tangent] = info[contact].tangent.as_slice() else { return None };
        let mut rows: Vec<Vec<f64>> = Vec::new();
        let mut push = |row: usize| rows.push(unit(&eval.w.row(row).to_vec()));
        for (i, c) in info.iter().enumerate().filter(|&(i, _)| i != contact) {
            if c.friction && (eval.mu_static[i] > 0.0 || eval.mu[i] > 0.0) && !is_open(c, closed[i]) {
                return None;
            }
            match c.normal {
                Normal::Unilateral { .. } if closed[i] => return None,
                _ if c.is_bilateral() => c.normal_rows().iter().for_each(|&r| push(r)),
                _ => {}
            }
        }
        let n = eval.h.len();
        let free = if rows.is_empty() { Mat::identity(n) } else { null_space(&Mat::from_rows(&rows)) };
        if free.cols() != 2 {
            return None;
        }
        // coordinates of t and ν in the plane of free motions
        let column = |k: usize| (0..n).map(|i| free[(i, k)]).collect::<Vec<f64>>();
        let basis = [column(0), column(1)];
        let on = |row: usize| [0, 1].map(|k| eval.w.row(row).dot(&basis[k]));
        let (wn, wt) = (on(own), on(tangent));
        let size = wn[0].hypot(wn[1]);
        if size <= 1e-12 * eval.w.row(own).square().sqrt() {
            return None;
        }
        let make =
            |c: [f64; 2]| -> Vec<f64> { (0..n).map(|i| c[0] * basis[0][i] + c[1] * basis[1][i]).collect() };
        let mut t2 = [-wn[1] / size, wn[0] / size];
        let mut slip = wt[0] * t2[0] + wt[1] * t2[1];
        if slip < 0.0 {
            t2 = t2.map(|v| -v);
            slip = -slip;
        }
        let t = make(t2);
        let scale = eval.w.row(tangent).square().sqrt();
        let still = slip <= 1e-12 * scale;
        let mut nu2 = wn.map(|v| v / (size * size));
        if !still {
            let share = (wt[0] * nu2[0] + wt[1] * nu2[1]) / slip;
            nu2 = [nu2[0] - share * t2[0], nu2[1] - share * t2[1]];
        }
        let nu = make(nu2);
        let mut mt = vec![0.0; n];
        eval.mass.mul_vec(&t, &mut mt);
        let (a, a12) = (dot(&mt, &t), dot(&mt, &nu));
        let s = if still { 0.0 } else { slip };
        Some(OnePair {
            contact,
            a,
            a12,
            q1: dot(&eval.h, &t),
            q2: dot(&eval.h, &nu),
            s,
            mu: eval.mu_static[contact],
            l_config: if s == 0.0 { 0.0 } else { a12 / a * s },
            t,
            nu,
        })
    }

    /// μ|L| > 1: a region of paradoxes.
    pub(crate) fn is_paradox(&self) -> bool {
        self.mu * self.l_config.abs() > 1.0
    }

    /// Theorems 2 and 3; the direction is the sign of the slip with which it starts.
    pub(crate) fn rest(&self) -> (BookRest, f64) {
        let bound = self.s * self.q2.abs();
        let direction = self.q1.signum();
        if self.q1.abs() <= self.mu * bound && !self.is_paradox() {
            return (BookRest::Stays, 0.0);
        }
        if !self.is_paradox() {
            return (BookRest::Moves, direction);
        }
        if (self.l_config * self.q1).abs() <= bound {
            (BookRest::Stays, 0.0)
        } else if self.q1.abs() <= self.mu * bound {
            if self.q1 * self.l_config * self.q2 > 0.0 {
                (BookRest::Moves, direction)
            } else {
                (BookRest::Stays, 0.0)
            }
        } else {
            (BookRest::Both, direction)
        }
    }

    /// `a = r'` and `b = μ s ∂r/∂h` of a point with Jacobian rows `jx`, `jy`.
    pub(crate) fn vectors(&self, j: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
        let a = j.iter().map(|row| dot(row, &self.t)).collect();
        let b = j.iter().map(|row| self.mu * self.s * dot(row, &self.nu)).collect();
        (a, b)
    }

    /// Theorems 4 and 6 for a planar point.
    pub(crate) fn point(&self, j: &[Vec<f64>]) -> BookPoint {
        let (a, b) = self.vectors(j);
        let (na, nb) = (norm(&a), norm(&b));
        let reach = j.iter().map(|row| norm(row)).fold(0.0, f64::max);
        if na <= 1e-12 * reach * norm(&self.t) {
            return BookPoint::SelfBraking;
        }
        let cross = a[0] * b[1] - a[1] * b[0];
        let parallel = cross.abs() <= PARALLEL * na * nb.max(na * 1e-3);
        if !self.is_paradox() {
            return if parallel && na <= nb * (1.0 + 1e-12) {
                BookPoint::SelfBraking
            } else {
                BookPoint::Debraking
            };
        }
        if !parallel || nb == 0.0 {
            return BookPoint::Both;
        }
        // a = κ s ∂r/∂h, b = μ s ∂r/∂h
        let kappa = self.mu * dot(&a, &b) / dot(&b, &b);
        let l = self.l_config;
        if (l * kappa).abs() <= 1.0 {
            BookPoint::SelfBraking
        } else if kappa.abs() <= self.mu {
            if kappa * l < 0.0 { BookPoint::SelfBraking } else { BookPoint::Debraking }
        } else {
            BookPoint::Both
        }
    }

    /// Stagnation angle (2.108) of a planar point, without paradox: Ψ = atan2(|n₊ × n₋|, n₊·n₋), n± = a ± b.
    pub(crate) fn stagnation_angle(&self, j: &[Vec<f64>]) -> f64 {
        let (a, b) = self.vectors(j);
        let plus = [a[0] + b[0], a[1] + b[1]];
        let minus = [a[0] - b[0], a[1] - b[1]];
        let cross = plus[0] * minus[1] - plus[1] * minus[0];
        cross.abs().atan2(plus[0] * minus[0] + plus[1] * minus[1])
    }
}

fn is_open(c: &ContactInfo, closed: bool) -> bool {
    !closed && !c.is_bilateral()
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

fn unit(row: &[f64]) -> Vec<f64> {
    let size = norm(row);
    if size > 0.0 { row.iter().map(|v| v / size).collect() } else { row.to_vec() }
}
