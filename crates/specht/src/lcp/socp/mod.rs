//! Second-order cone programs: dense, small, with certificates
//!
//! $$ \max c^\top x, \qquad A x = b, \qquad s = h - G x \in K = K_{q_1} \times K_{q_2} \times \dots, \qquad K_q = \{ s_0 \ge \|(s_1 \dots s_{q-1})\| \} $$
//!
//! with the dual variables y of the equations and z ∈ K of the cones (K is its own dual),
//!
//! $$ c = A^\top y + G^\top z, \qquad s^\top z = 0. $$
//!
//! 1. `reduce`: the equations are solved once and for all, x = x₀ + N w; directions that no cone feels are taken out and the columns of G N made
//!    orthonormal (singular values). What is left has as many unknowns as the forces have freedoms.
//! 2. `interior`: the homogeneous self-dual embedding with the scaling of Nesterov and Todd. It ends for every problem: with a solution, or with a
//!    certificate that there is none, or that the value has no bound.
//! 3. `polish`: the cones that are touched are equations; Newton's method on them brings the last digits, which the embedding loses.
//!
//! | outcome | what it carries |
//! |---|---|
//! | optimal | x, y, z; both values agree to `residual` |
//! | infeasible | y, z with Aᵀy + Gᵀz = 0 and bᵀy + hᵀz = −1: no x exists |
//! | unbounded | x with A x = 0, −G x ∈ K and cᵀx = 1 |
//! | unclear | neither, to any useful accuracy |
//!
//! For numbers of order one: the caller scales. Values are then good to 1e-12 where the solution is unique and strictly complementary, to about
//! 1e-9 elsewhere. [Andersen2003]

mod interior;
mod polish;
mod reduce;
#[cfg(test)]
mod tests;

use interior::{End, embed};
use polish::polish;
use reduce::{Reduction, reduce};

use crate::linalg::{Mat, axpy, dot};

/// A program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConeProgram {
    /// Number of variables.
    width: usize,
    /// Rows of A, and b.
    equations: Vec<(Vec<f64>, f64)>,
    /// Rows of G, and h.
    rows: Vec<(Vec<f64>, f64)>,
    /// Sizes of the cones.
    sizes: Vec<usize>,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConeOutcome {
    /// The largest value was found.
    Optimal,
    /// No x satisfies the conditions.
    Infeasible,
    /// The value grows without bound.
    Unbounded,
    /// Nothing is certain.
    Unclear,
}

/// The answer.
#[derive(Clone, Debug)]
pub(crate) struct ConeAnswer {
    pub outcome: ConeOutcome,
    /// cᵀx; −∞ and ∞ where there is none.
    pub value: f64,
    /// Solution, or direction without bound.
    pub x: Vec<f64>,
    /// Of the equations; of an infeasible problem the certificate.
    pub y: Vec<f64>,
    /// Of the rows of the cones.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the other half of the proof, which the tests examine")
    )]
    pub z: Vec<f64>,
    /// The largest error of all conditions, relative to the numbers of the problem.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests examine it"))]
    pub residual: f64,
}

impl ConeProgram {
    /// With so many variables.
    pub(crate) fn new(width: usize) -> Self {
        ConeProgram { width, ..ConeProgram::default() }
    }

    /// a·x = b.
    pub(crate) fn equal(&mut self, a: &[f64], b: f64) {
        self.equations.push((a.to_vec(), b));
    }

    /// (a₀·x + b₀, a₁·x + b₁, …) ∈ K; one row alone: a₀·x + b₀ ≥ 0.
    pub(crate) fn cone(&mut self, rows: &[(Vec<f64>, f64)]) {
        self.sizes.push(rows.len());
        for (a, b) in rows {
            self.rows.push((a.iter().map(|v| -v).collect(), *b));
        }
    }

    /// The largest value of c·x.
    pub(crate) fn maximize(&self, c: &[f64]) -> ConeAnswer {
        let matrix = |list: &[(Vec<f64>, f64)]| Mat::from_fn(list.len(), self.width, |i, j| list[i].0[j]);
        let (a, g) = (matrix(&self.equations), matrix(&self.rows));
        let side = |list: &[(Vec<f64>, f64)]| list.iter().map(|r| r.1).collect::<Vec<f64>>();
        let (b, h) = (side(&self.equations), side(&self.rows));
        let none = |outcome, value| ConeAnswer {
            outcome,
            value,
            x: vec![0.0; self.width],
            y: vec![0.0; b.len()],
            z: vec![0.0; h.len()],
            residual: 0.0,
        };
        let small = match reduce(&a, &b, &g, &h, c) {
            Reduction::Small(small) => small,
            Reduction::Inconsistent(y) => {
                return ConeAnswer { y, ..none(ConeOutcome::Infeasible, f64::NEG_INFINITY) };
            }
        };
        let mut end = embed(&small.g, &small.h, &small.c, &self.sizes);
        if end.outcome == ConeOutcome::Optimal && small.ray.is_none() {
            polish(&small.g, &small.h, &small.c, &self.sizes, &mut end);
        }
        let End { outcome, x: w, z, residual, .. } = end;
        match outcome {
            ConeOutcome::Optimal if small.ray.is_some() => {
                ConeAnswer { x: small.ray.unwrap_or_default(), ..none(ConeOutcome::Unbounded, f64::INFINITY) }
            }
            ConeOutcome::Optimal => {
                let x = small.back(&w);
                // c − Gᵀz = Aᵀy
                let mut left = c.to_vec();
                (0..z.len()).for_each(|i| axpy(-z[i], g.row(i), &mut left));
                let y = small.multipliers(&left);
                ConeAnswer { outcome, value: dot(c, &x), x, y, z, residual }
            }
            ConeOutcome::Infeasible => {
                let mut left = vec![0.0; self.width];
                (0..z.len()).for_each(|i| axpy(-z[i], g.row(i), &mut left));
                let y = small.multipliers(&left);
                let size = -(dot(&b, &y) + dot(&h, &z));
                let size = if size > 0.0 { size } else { 1.0 };
                let over = |v: &[f64]| v.iter().map(|v| v / size).collect::<Vec<f64>>();
                ConeAnswer { y: over(&y), z: over(&z), residual, ..none(outcome, f64::NEG_INFINITY) }
            }
            ConeOutcome::Unbounded => {
                ConeAnswer { x: small.direction(&w), residual, ..none(outcome, f64::INFINITY) }
            }
            ConeOutcome::Unclear => ConeAnswer { residual, ..none(outcome, f64::NAN) },
        }
    }
}
