//! Block principal pivoting for P-matrices, in particular symmetric positive definite ones
//!
//! ```text
//! w = A z + b,  w ≥ 0,  z ≥ 0,  wᵀz = 0.
//! ```
//!
//! Guess the set β of positive `z`; solve `A_ββ z_β = −b_β`, `w = A z + b`; exchange every index with the wrong sign
//! (`z_i < 0` in β, `w_i < 0` outside), and repeat. The number of wrong signs need not fall in each round: after a few
//! rounds without a new least number only the wrong index of largest number is exchanged (Murty's rule, finite for
//! P-matrices) until it falls. [JudicePires1994], [Murty1974]. With all exchanged at once this is Newton's method for
//! `min(w, z) = 0`, which needs a handful of factorisations whatever n.
//!
//! The first guess comes from a few sweeps of projected Gauss–Seidel. A symmetric `A` uses Cholesky, another LU; a
//! principal block that is not positive definite ends the method with [`Status::NotApplicable`].
//! Signs within 1e-12 (scaled) of zero count as right.

use super::lemke::polish;
use super::{Lcp, RESIDUAL_TOLERANCE, Scale, Status};
use crate::linalg::{Cholesky, Lu, Mat, dot, max_abs};

const SIGN: f64 = 1e-12;

/// Storage of principal pivoting, kept between solves; after a solve it holds the answer.
#[derive(Clone, Debug, Default)]
pub struct PrincipalWorkspace {
    /// `z` of the last solve.
    pub z: Vec<f64>,
    /// `w` of the last solve.
    pub w: Vec<f64>,
    /// Factorisations of the last solve.
    pub rounds: usize,
    scale: Scale,
    in_set: Vec<bool>,
    set: Vec<usize>,
    wrong: Vec<usize>,
    rhs: Vec<f64>,
    cholesky: Cholesky,
    lu: Lu,
    sub: Mat,
}

impl PrincipalWorkspace {
    /// Solve for a matrix whose principal minors are positive. `symmetric` promises `A = Aᵀ` (the upper triangle is then
    /// not used in the factorisation).
    pub(crate) fn solve(&mut self, p: Lcp<'_>, symmetric: bool) -> Status {
        let n = p.dim();
        self.rounds = 0;
        self.z.clear();
        self.z.resize(n, 0.0);
        self.w.clear();
        self.w.extend_from_slice(p.b);
        if !p.is_valid() {
            return Status::BadInput;
        }
        if (0..n).any(|i| p.a[(i, i)] <= 0.0) {
            return Status::NotApplicable;
        }
        if p.b.iter().all(|&b| b >= 0.0) {
            return Status::Solved { residual: 0.0 };
        }
        self.scale.fit(p.a);
        self.guess(p);

        let (mut fewest, mut patience) = (n + 1, 4);
        for _ in 0..20 + 4 * n {
            if !self.solve_set(p, symmetric) {
                return Status::NotApplicable;
            }
            self.find_wrong_signs(p);
            if self.wrong.is_empty() {
                return self.finish(p, symmetric);
            }
            if self.wrong.len() < fewest {
                (fewest, patience) = (self.wrong.len(), 4);
            } else if patience > 0 {
                patience -= 1;
            } else if let Some(&last) = self.wrong.last() {
                self.wrong.clear();
                self.wrong.push(last);
            }
            for &i in &self.wrong {
                self.in_set[i] = !self.in_set[i];
            }
        }
        Status::IterationLimit { pivots: self.rounds }
    }

    /// β from projected Gauss–Seidel, started at zero.
    fn guess(&mut self, p: Lcp<'_>) {
        let n = p.dim();
        let sweeps = if n < 16 { 1 } else { 4 };
        for _ in 0..sweeps {
            for i in 0..n {
                let w = p.b[i] + dot(p.a.row(i), &self.z);
                self.z[i] = (self.z[i] - w / p.a[(i, i)]).max(0.0);
            }
        }
        self.in_set.clear();
        self.in_set.extend(self.z.iter().map(|&z| z > 0.0));
    }

    /// `z_β`, `w` of the present set. False when the block cannot be factored.
    fn solve_set(&mut self, p: Lcp<'_>, symmetric: bool) -> bool {
        self.rounds += 1;
        self.set.clear();
        self.set.extend((0..p.dim()).filter(|&i| self.in_set[i]));
        self.rhs.clear();
        self.rhs.extend(self.set.iter().map(|&i| -p.b[i]));
        if symmetric {
            if self.cholesky.factor_principal(p.a, &self.set).is_err() {
                return false;
            }
            self.cholesky.solve(&mut self.rhs);
        } else {
            let m = self.set.len();
            self.sub.resize(m, m);
            for (k, &i) in self.set.iter().enumerate() {
                let row = p.a.row(i);
                for (x, &j) in self.sub.row_mut(k).iter_mut().zip(&self.set) {
                    *x = row[j];
                }
            }
            if self.lu.factor(&self.sub) < 1e-13 || (m > 0 && self.lu.sign_det() <= 0.0) {
                return false;
            }
            self.lu.solve(&mut self.rhs);
        }
        self.z.fill(0.0);
        for (&i, &x) in self.set.iter().zip(&self.rhs) {
            self.z[i] = x;
        }
        p.slack(&self.z, &mut self.w);
        true
    }

    fn find_wrong_signs(&mut self, p: Lcp<'_>) {
        let size = (0..p.dim()).fold(0.0_f64, |m, i| {
            m.max((p.b[i] * self.scale.row[i]).abs()).max((self.z[i] / self.scale.col[i]).abs())
        });
        self.wrong.clear();
        for i in 0..p.dim() {
            let value =
                if self.in_set[i] { self.z[i] / self.scale.col[i] } else { self.w[i] * self.scale.row[i] };
            if value < -SIGN * size {
                self.wrong.push(i);
            }
        }
    }

    /// One step of iterative refinement, signs cut off, certificate.
    fn finish(&mut self, p: Lcp<'_>, symmetric: bool) -> Status {
        let size = max_abs(&self.rhs);
        for (k, &i) in self.set.iter().enumerate() {
            self.rhs[k] = -self.w[i];
        }
        if symmetric {
            self.cholesky.solve(&mut self.rhs);
        } else {
            self.lu.solve(&mut self.rhs);
        }
        for (k, &i) in self.set.iter().enumerate() {
            if self.rhs[k].abs() <= size {
                self.z[i] += self.rhs[k];
            }
            self.z[i] = self.z[i].max(0.0);
        }
        p.slack(&self.z, &mut self.w);
        let residual = self.scale.residual(p.b, &self.z, &self.w);
        polish(&self.set, &mut self.w);
        if residual <= RESIDUAL_TOLERANCE {
            Status::Solved { residual }
        } else {
            Status::Inaccurate { residual }
        }
    }
}
