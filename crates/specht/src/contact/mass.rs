//! The factor `M = L Lᵀ`, also when massless parts make M singular.
//!
//! With the bilateral rows B (`B v = −β` always holds) the equations of motion may be written with
//! `M + Bᵀ R B` instead of M and `f − Bᵀ R β` instead of f, for any diagonal R > 0: the added terms cancel on every
//! solution, the multipliers stay the same, and the new matrix is positive definite whenever M is definite on the
//! kernel of B. R makes the added part as large as the mass matrix itself. It is used as soon as a pivot of M falls below 1e-7 of
//! its diagonal: such a pivot may be nothing but rounding.

use crate::linalg::{Cholesky, Mat, axpy, dot};

/// Pivots below this, relative to their diagonal, may be rounding alone: what follows a pivot of size δ has an error of
/// 10⁻¹⁶/δ.
const NOISE: f64 = 1e-7;

/// A Cholesky factor of M, or of M augmented by bilateral rows.
#[derive(Clone, Debug, Default)]
pub struct MassFactor {
    /// The factor.
    pub cholesky: Cholesky,
    augmented: Mat,
    weight: Vec<f64>,
    /// The mass matrix whose plain factor is held, if any: many systems have a constant one.
    known: Mat,
    held: bool,
    /// Whether every pivot of the plain factor is well above rounding.
    clear: bool,
}

impl MassFactor {
    /// Factor; `rows` are the bilateral rows of `w`. False when M is not definite on their kernel.
    pub fn factor(&mut self, mass: &Mat, w: &Mat, rows: &[usize]) -> bool {
        self.weight.clear();
        let n = mass.rows();
        if !(self.held && self.known == *mass) {
            self.held = self.cholesky.factor(mass).is_ok();
            self.known.clone_from(mass);
            // an exactly singular M may pass by rounding: its last pivot is then noise
            let l = self.cholesky.factor_matrix();
            self.clear = (0..n).all(|i| l[(i, i)] * l[(i, i)] > NOISE * mass[(i, i)]);
        }
        if self.held && (rows.is_empty() || self.clear) {
            return true;
        }
        self.held = false;
        let trace: f64 = (0..n).map(|i| mass[(i, i)]).sum();
        let size = if trace > 0.0 { trace / n as f64 } else { 1.0 };
        self.augmented.clone_from(mass);
        for &r in rows {
            let row = w.row(r);
            let norm = dot(row, row);
            let k = if norm > 0.0 { size / norm } else { 0.0 };
            self.weight.push(k);
            for i in 0..n {
                let f = k * row[i];
                if f != 0.0 {
                    axpy(f, row, self.augmented.row_mut(i));
                }
            }
        }
        self.cholesky.factor(&self.augmented).is_ok()
    }

    /// Whether rows were added.
    pub fn is_augmented(&self) -> bool {
        !self.weight.is_empty()
    }

    /// The matrix that was factored: `mass` itself, or the one with rows added.
    pub fn matrix<'a>(&'a self, mass: &'a Mat) -> &'a Mat {
        if self.is_augmented() { &self.augmented } else { mass }
    }

    /// `f ← f − Bᵀ R β` where rows were added; `offset[r]` is β of row r of `w`.
    pub fn correct(&self, w: &Mat, rows: &[usize], offset: &[f64], f: &mut [f64]) {
        for (&r, &k) in rows.iter().zip(&self.weight) {
            axpy(-k * offset[r], w.row(r), f);
        }
    }
}
