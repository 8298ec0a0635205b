//! A continuum of solutions: the polyhedron of one complementary cone
//!
//! ```text
//! w − A z = b,   w ≥ 0,  z ≥ 0,   some w_i = 0, some z_i = 0.
//! ```
//!
//! It arises where a cone is degenerate (det C_k = 0, PG-6-LCP) or when a mode leaves variables open. Its extent in any
//! direction is a linear program: [`Family::interval`] gives the smallest and largest value of a linear functional, for
//! instance of an acceleration over all admissible contact forces (PG-5.4).

use super::lp::{LpOutcome, Simplex};
use super::{Lcp, Var};
use crate::linalg::Mat;

/// Smallest and largest value; infinite where there is no bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest value.
    pub lo: f64,
    /// Largest value.
    pub hi: f64,
}

impl Interval {
    /// `hi − lo`.
    pub(crate) fn width(&self) -> f64 {
        self.hi - self.lo
    }
}

/// The polyhedron of solutions in which only the variables [`Family::open`] may differ from zero.
#[derive(Clone, Debug)]
pub struct Family {
    /// One solution of the family (a vertex), `z` part.
    pub z: Vec<f64>,
    /// The same, `w` part.
    pub w: Vec<f64>,
    /// The variables that are not fixed at zero.
    pub open: Vec<Var>,
    columns: Mat,
    b: Vec<f64>,
    simplex: Simplex,
}

impl Family {
    /// The polyhedron of `p` with the variables `open` not fixed at zero; `None` when it is empty.
    pub(crate) fn new(p: Lcp<'_>, open: Vec<Var>) -> Option<Self> {
        let n = p.dim();
        let columns = Mat::from_fn(n, open.len(), |i, k| match open[k] {
            Var::W(j) => f64::from(u8::from(i == j)),
            Var::Z(j) => -p.a[(i, j)],
        });
        let mut simplex = Simplex::default();
        if !matches!(simplex.load(&columns, p.b), LpOutcome::Optimal { .. }) {
            return None;
        }
        let (mut z, mut w) = (vec![0.0; n], vec![0.0; n]);
        for (x, v) in simplex.x.iter().zip(&open) {
            match *v {
                Var::W(i) => w[i] = *x,
                Var::Z(i) => z[i] = *x,
            }
        }
        Some(Family { z, w, open, columns, b: p.b.to_vec(), simplex })
    }

    /// Range of `constant + cᵀz` over the family.
    pub(crate) fn interval(&mut self, c: &[f64], constant: f64) -> Interval {
        self.range(|v| if let Var::Z(i) = v { c[i] } else { 0.0 }, constant)
    }

    /// Range of one variable.
    pub(crate) fn extent(&mut self, v: Var) -> Interval {
        self.range(|u| f64::from(u8::from(u == v)), 0.0)
    }

    /// Range of `constant + Σ f(v) v`.
    fn range(&mut self, f: impl Fn(Var) -> f64, constant: f64) -> Interval {
        let mut cost: Vec<f64> = self.open.iter().map(|&v| f(v)).collect();
        let hi = self.largest(&cost);
        cost.iter_mut().for_each(|c| *c = -*c);
        let lo = -self.largest(&cost);
        Interval { lo: constant + lo.min(hi), hi: constant + hi.max(lo) }
    }

    fn largest(&mut self, cost: &[f64]) -> f64 {
        match self.simplex.maximize_again(cost) {
            LpOutcome::Optimal { value } => value,
            _ => f64::INFINITY,
        }
    }

    /// Whether a member has the values `rows · z = values` (tolerance of [`super::lp`]).
    pub(crate) fn attains(&self, rows: &Mat, values: &[f64]) -> bool {
        let (n, k, m) = (self.b.len(), self.open.len(), rows.rows());
        let a = Mat::from_fn(n + m, k, |i, j| {
            if i < n {
                self.columns[(i, j)]
            } else if let Var::Z(v) = self.open[j] {
                rows[(i - n, v)]
            } else {
                0.0
            }
        });
        let b: Vec<f64> = self.b.iter().chain(values).copied().collect();
        matches!(Simplex::default().load(&a, &b), LpOutcome::Optimal { .. })
    }
}
