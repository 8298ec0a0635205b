//! One solution by the method that suits the matrix.
//!
//! Symmetric with positive diagonal: block principal pivoting with Cholesky. Not symmetric, but with positive definite
//! symmetric part: the same with LU. Everything else, and whenever principal pivoting does not end well: Lemke.
//! After a ray other covering vectors are tried, because another path may end at a solution: scattered ones, then those that begin in
//! another row (where one entry of `b` dominates, all scattered ones begin in the same). Then damped Newton; the last word on
//! "no solution" has [`super::enumerate`].

use super::newton::NewtonWorkspace;
use super::{Lcp, LemkeWorkspace, PrincipalWorkspace, Status};
use crate::linalg::{Cholesky, Mat};

/// Which method gave the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Block principal pivoting.
    Principal,
    /// Lemke with the covering vector of ones.
    #[default]
    Lemke,
    /// Lemke with another covering vector.
    LemkeOtherPath,
    /// Damped Newton.
    Newton,
}

/// The general solver; keeps its storage between solves and holds the last answer.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    /// `z` of the last solve.
    pub z: Vec<f64>,
    /// `w` of the last solve.
    pub w: Vec<f64>,
    /// Method of the last solve.
    pub method: Method,
    /// Pivots or factorisations of the last solve.
    pub iterations: usize,
    lemke: LemkeWorkspace,
    principal: PrincipalWorkspace,
    newton: NewtonWorkspace,
    symmetric_part: Mat,
    cholesky: Cholesky,
}

/// Scattered covering vectors tried after a ray, and rows in which a path begins.
const OTHER_PATHS: usize = 4;
const OTHER_ROWS: usize = 8;

impl Solver {
    /// Find one solution.
    ///
    /// ```
    /// use specht::lcp::{Lcp, Solver};
    /// use specht::linalg::Mat;
    ///
    /// // w = A z + b, 0 ≤ w ⟂ z ≥ 0
    /// let a = Mat::from_rows(&[[2.0, 1.0], [1.0, 2.0]]);
    /// let mut solver = Solver::default();
    /// assert!(solver.solve(Lcp::new(&a, &[-5.0, 1.0])).is_solved());
    /// assert_eq!((solver.z[0], solver.z[1]), (2.5, 0.0));
    /// ```
    pub fn solve(&mut self, p: Lcp<'_>) -> Status {
        if !p.is_valid() {
            self.z.clear();
            self.z.resize(p.dim(), 0.0);
            self.w.clear();
            self.w.resize(p.dim(), 0.0);
            return Status::BadInput;
        }
        if let Some(symmetric) = self.suits_principal(p.a) {
            let status = self.principal.solve(p, symmetric);
            if status.is_solved() {
                self.method = Method::Principal;
                self.iterations = self.principal.rounds;
                self.z.clone_from(&self.principal.z);
                self.w.clone_from(&self.principal.w);
                return status;
            }
        }
        let mut status = self.lemke.solve(p);
        self.method = Method::Lemke;
        if !status.is_solved() {
            let other = self.other_paths(p);
            if other.is_solved() {
                status = other;
                self.method = Method::LemkeOtherPath;
            } else {
                let other = self.newton.solve(p);
                if other.is_solved() {
                    self.method = Method::Newton;
                    self.iterations = self.newton.steps;
                    self.z.clone_from(&self.newton.basis.z);
                    self.w.clone_from(&self.newton.basis.w);
                    return other;
                }
            }
        }
        self.iterations = self.lemke.pivots;
        self.z.clone_from(&self.lemke.z);
        self.w.clone_from(&self.lemke.w);
        if !status.is_solved() {
            // a ray ends before w is computed, and what is near zero must not be taken as zero
            p.slack(&self.z, &mut self.w);
        }
        status
    }

    /// Lemke along other paths, until one ends at a solution.
    fn other_paths(&mut self, p: Lcp<'_>) -> Status {
        let mut status = Status::Ray;
        for k in 1..=OTHER_PATHS {
            // a fixed scattered sequence in [1/2, 3/2)
            let d = |i: usize| 0.5 + ((i + 1) as f64 * (k as f64 + 0.5) * 0.618_033_988_749_894_9).fract();
            status = self.lemke.solve_covering(p, d);
            if status.is_solved() {
                return status;
            }
        }
        // begin in the negative rows one after another: the cover of that row is small
        let b: Vec<f64> = p.b.iter().zip(&self.lemke.scale.row).map(|(b, r)| b * r).collect();
        let least = b.iter().fold(0.0_f64, |m, b| m.min(*b));
        let mut rows: Vec<usize> =
            (0..b.len()).filter(|&i| b[i] < 1e-12 * least.abs() && b[i] > least).collect();
        rows.sort_by(|&i, &j| b[i].total_cmp(&b[j]));
        for &r in rows.iter().take(OTHER_ROWS) {
            status = self.lemke.solve_covering(p, |i| if i == r { 0.5 * b[r] / least } else { 1.0 });
            if status.is_solved() {
                return status;
            }
        }
        status
    }

    /// Whether principal pivoting is worth a try, and if so whether `a` is symmetric.
    fn suits_principal(&mut self, a: &Mat) -> Option<bool> {
        let n = a.rows();
        if (0..n).any(|i| a[(i, i)] <= 0.0) {
            return None;
        }
        if is_symmetric(a) {
            return Some(true);
        }
        self.symmetric_part.resize(n, n);
        for i in 0..n {
            for j in 0..=i {
                self.symmetric_part[(i, j)] = 0.5 * (a[(i, j)] + a[(j, i)]);
            }
        }
        self.cholesky.factor(&self.symmetric_part).is_ok().then_some(false)
    }
}

/// Symmetric up to rounding (relative to the diagonal, which is positive), in blocks so that the transposed reads stay in the cache.
fn is_symmetric(a: &Mat) -> bool {
    const BLOCK: usize = 16;
    let n = a.rows();
    for i0 in (0..n).step_by(BLOCK) {
        for j0 in (0..=i0).step_by(BLOCK) {
            for i in i0..(i0 + BLOCK).min(n) {
                for j in j0..(j0 + BLOCK).min(i) {
                    let (x, y) = (a[(i, j)], a[(j, i)]);
                    if (x - y).powi(2) > 1e-26 * a[(i, i)] * a[(j, j)] {
                        return false;
                    }
                }
            }
        }
    }
    true
}
