//! The hybrid form: bilateral rows eliminated, everything affine in the remaining contact forces.
//!
//! ```text
//! M v = f + Bᵀ λ_B + Wᵀ x,     B v + β_B = 0,     y = W v + β
//!   ⇒  y = H x + c,    λ_B = S x + s,    v = A x + a
//! ```
//!
//! Force problem: v = u̇, f = h, β = w̄. Impact: v = u⁺ − u⁻, f = 0, β = ġ before. H is symmetric and positive
//! semidefinite. When the rows of B depend on each other, λ_B is the solution of minimum norm and `redundant` counts
//! the dependent rows; v is the same for every choice. (5.13)-(5.16) of Pfeiffer & Glocker with B in front.

use crate::linalg::FullPivot;
use crate::linalg::MassFactor;
use crate::linalg::{Cholesky, Mat, Rows, Symmetric, axpy, dot};

/// Result and memory of the elimination. The vectors are indexed by the position in the row lists.
#[derive(Clone, Debug, Default)]
pub struct Reduced {
    /// H.
    pub h: Mat,
    /// c.
    pub c: Vec<f64>,
    /// S, one row per bilateral row.
    pub s: Mat,
    /// s.
    pub s0: Vec<f64>,
    /// Aᵀ: row i is the change of v by a unit of x_i.
    pub a: Mat,
    /// a.
    pub a0: Vec<f64>,
    /// Mobility of row i without the bilateral rows, `w M⁻¹ wᵀ`: the natural scale of row i, positive (that of the largest where w = 0).
    pub mobility: Vec<f64>,
    /// Dependent bilateral rows.
    pub redundant: usize,
    /// Largest residual of dependent bilateral rows: not zero when they contradict each other.
    pub inconsistency: f64,
    mass: MassFactor,
    gram: Mat,
    gram_factor: Cholesky,
    rank: FullPivot,
    y_b: Mat,
    rhs: Vec<f64>,
    sol: Vec<f64>,
}

impl Reduced {
    /// Eliminate. `bilateral` and `rows` index `w` and `offset` (β). Returns false when M is not definite on the kernel
    /// of the bilateral rows.
    pub(crate) fn eliminate(
        &mut self,
        mass: &Symmetric,
        f: &[f64],
        w: &Rows,
        offset: &[f64],
        bilateral: &[usize],
        rows: &[usize],
    ) -> bool {
        let (n, nb, r) = (mass.size(), bilateral.len(), rows.len());
        if !self.mass.factor(mass, w, bilateral) {
            return false;
        }
        let l = &mut self.mass;

        // columns in the metric of M: L⁻¹ Bᵀ, L⁻¹ Wᵀ, L⁻¹ f
        self.y_b.reshape(nb, n);
        for (i, &row) in bilateral.iter().enumerate() {
            w.row(row).write(self.y_b.row_mut(i));
            l.forward(self.y_b.row_mut(i));
        }
        self.a.reshape(r, n);
        self.mobility.clear();
        for (i, &row) in rows.iter().enumerate() {
            w.row(row).write(self.a.row_mut(i));
            l.forward(self.a.row_mut(i));
            self.mobility.push(dot(self.a.row(i), self.a.row(i)));
        }
        // a row that moves nothing (w = 0) is measured like the others
        if self.mobility.contains(&0.0) {
            let bilateral = (0..nb).map(|k| dot(self.y_b.row(k), self.y_b.row(k)));
            let largest = self.mobility.iter().copied().chain(bilateral).fold(0.0, f64::max);
            let other = if largest > 0.0 { largest } else { 1.0 };
            self.mobility.iter_mut().filter(|m| **m == 0.0).for_each(|m| *m = other);
        }
        self.a0.clear();
        self.a0.extend_from_slice(f);
        l.correct(w, bilateral, offset, &mut self.a0);
        l.forward(&mut self.a0);

        // bilateral reactions, then c (with the rows as they are) and the projected columns
        self.s.reshape(nb, r);
        self.s0.clear();
        self.s0.resize(nb, 0.0);
        self.redundant = 0;
        self.inconsistency = 0.0;
        if nb > 0 {
            self.solve_bilateral(bilateral, offset);
            for k in 0..nb {
                axpy(self.s0[k], self.y_b.row(k), &mut self.a0);
            }
        }
        self.c.clear();
        for (i, &row) in rows.iter().enumerate() {
            self.c.push(dot(self.a.row(i), &self.a0) + offset[row]);
        }
        for i in 0..r {
            for k in 0..nb {
                let s = self.s[(k, i)];
                axpy(s, self.y_b.row(k), self.a.row_mut(i));
            }
        }
        self.h.reshape(r, r);
        for i in 0..r {
            for j in 0..=i {
                let mut v = dot(self.a.row(i), self.a.row(j));
                if v.abs() < 1e-14 * (self.mobility[i] * self.mobility[j]).sqrt() {
                    v = 0.0; // a direction that the bilateral rows block entirely
                }
                self.h[(i, j)] = v;
                self.h[(j, i)] = v;
            }
        }
        for i in 0..r {
            self.mass.backward(self.a.row_mut(i));
        }
        self.mass.backward(&mut self.a0);
        true
    }

    // S = −K B M⁻¹ Wᵀ, s = −K (B M⁻¹ f + β_B) with K the (pseudo-)inverse of B M⁻¹ Bᵀ
    fn solve_bilateral(&mut self, bilateral: &[usize], offset: &[f64]) {
        let (nb, r) = (bilateral.len(), self.a.rows());
        self.gram.reshape(nb, nb);
        for i in 0..nb {
            for j in 0..=i {
                let v = dot(self.y_b.row(i), self.y_b.row(j));
                self.gram[(i, j)] = v;
                self.gram[(j, i)] = v;
            }
        }
        // a pivot of Cholesky may be tiny without being caught: the rank decides
        self.redundant = nb - self.rank.factor(&self.gram);
        let regular = self.redundant == 0 && self.gram_factor.factor(&self.gram).is_ok();
        self.rhs.resize(nb, 0.0);
        self.sol.resize(nb, 0.0);
        for col in 0..=r {
            for k in 0..nb {
                self.rhs[k] = if col < r {
                    -dot(self.y_b.row(k), self.a.row(col))
                } else {
                    -dot(self.y_b.row(k), &self.a0) - offset[bilateral[k]]
                };
            }
            if regular {
                self.sol.copy_from_slice(&self.rhs);
                self.gram_factor.solve(&mut self.sol);
            } else {
                let e = self.rank.solve(&self.rhs, &[], &mut self.sol);
                self.inconsistency = self.inconsistency.max(e);
            }
            for k in 0..nb {
                if col < r {
                    self.s[(k, col)] = self.sol[k];
                } else {
                    self.s0[k] = self.sol[k];
                }
            }
        }
    }
}
