//! Linear complementarity problems
//!
//! ```text
//! w = A z + b,    w ≥ 0,  z ≥ 0,  wᵀz = 0.
//! ```
//!
//! | question | ask |
//! |---|---|
//! | one solution, as fast as possible | [`Solver`]: principal pivoting when `A` is positive definite, Lemke otherwise, Newton after rays |
//! | one solution by complementary pivots | [`LemkeWorkspace`] |
//! | every solution, continua included | [`enumerate`], [`enumerate_modes`] |
//! | range of a quantity over a polyhedron | `lp`, `Family::interval` |
//! | the same over second-order cones, with a proof | `socp` |
//!
//! How a solve ended is data: [`Status`]. Every answer carries its residual, see `Scale::residual`.
//!
//! Notation: the book (Pfeiffer & Glocker, (6.35)) writes `y = A x + b`; here `w` is its `y` and `z` its `x`.

mod enumerate;
mod family;
mod lemke;
pub(crate) mod lp;
mod merge;
mod newton;
mod principal;
#[cfg(test)]
mod random_tests;
mod scale;
pub(crate) mod socp;
mod solver;
#[cfg(test)]
mod tests;

pub use enumerate::{EnumerateSettings, Enumeration, Piece, Var, enumerate, enumerate_modes};
pub use family::{Family, Interval};
pub use lemke::LemkeWorkspace;
pub use principal::PrincipalWorkspace;
pub use scale::Scale;
pub use solver::{Method, Solver};

use crate::linalg::{Mat, dot};

/// The problem `w = A z + b`, `w ≥ 0`, `z ≥ 0`, `wᵀz = 0`, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Lcp<'a> {
    /// The matrix `A`, n by n.
    pub a: &'a Mat,
    /// The vector `b`, length n.
    pub b: &'a [f64],
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// A solution, with its scaled residual (`Scale::residual`).
    Solved {
        /// Largest violation of the three conditions, scaled.
        residual: f64,
    },
    /// Lemke's path ended on a ray. For copositive-plus `A` there is then no solution; for others this path found none.
    Ray,
    /// The path ended at a point whose residual is too large to be called a solution.
    Inaccurate {
        /// Its scaled residual.
        residual: f64,
    },
    /// The limit on pivots was reached.
    IterationLimit {
        /// Pivots done.
        pivots: usize,
    },
    /// The method does not apply to this matrix (principal pivoting met a principal minor that is not positive).
    NotApplicable,
    /// `A` or `b` contains a number that is not finite, or their sizes do not match.
    BadInput,
}

impl Status {
    /// Whether a solution was found.
    pub fn is_solved(&self) -> bool {
        matches!(self, Status::Solved { .. })
    }
}

/// A point is called a solution when its scaled residual is below this.
pub const RESIDUAL_TOLERANCE: f64 = 1e-9;

impl<'a> Lcp<'a> {
    /// The problem of `A` and `b`.
    pub fn new(a: &'a Mat, b: &'a [f64]) -> Self {
        Lcp { a, b }
    }

    /// Number of complementary pairs.
    pub(crate) fn dim(&self) -> usize {
        self.b.len()
    }

    /// Sizes match and all numbers are finite.
    pub(crate) fn is_valid(&self) -> bool {
        let n = self.b.len();
        self.a.rows() == n
            && self.a.cols() == n
            && self.b.iter().all(|x| x.is_finite())
            && self.a.as_slice().iter().all(|x| x.is_finite())
    }

    /// `w = A z + b`.
    pub(crate) fn slack(&self, z: &[f64], w: &mut [f64]) {
        for i in 0..self.b.len() {
            w[i] = self.b[i] + dot(self.a.row(i), z);
        }
    }

    /// The scaled residual of `z` (`Scale::residual`); allocates, for use outside hot paths.
    pub fn residual(&self, z: &[f64]) -> f64 {
        let mut w = vec![0.0; z.len()];
        self.slack(z, &mut w);
        let mut scale = Scale::default();
        scale.fit(self.a);
        scale.residual(self.b, z, &w)
    }
}
