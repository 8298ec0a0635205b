//! Lemke's method for the linear complementarity problem
//!
//! ```text
//! w = A z + b + d z₀,    w ≥ 0,  z ≥ 0,  wᵀz = 0,    d > 0.
//! ```
//!
//! The artificial `z₀` enters against the most negative `b_i/d_i`; then the complement of the variable that has just left
//! enters, until `z₀` leaves (a solution) or nothing blocks (a ray). Ends at a solution for every `b` when `A` is
//! copositive-plus and the problem feasible, and for every `b` when `A` is a P-matrix. With large friction `A` is
//! neither: a ray then means *this path found none*, not *there is none*; ask [`super::enumerate`].
//! [Cottle1992, 4.4], PG-6-LCP (a).
//!
//! *Degeneracy.* The friction problems (6.35) are always degenerate. Ties of the ratio test are broken
//! lexicographically, as if `b_k` were increased by ε^(k+1), which excludes cycling; `z₀` leaves in a tie.
//!
//! *Tolerance.* The problem is scaled ([`Scale`]); entries of a column below 1e-11 of its largest do not block, ratios
//! equal within 1e-11 tie. The answer is not read from the tableau: the system of the final basis is solved again from
//! the data by LU with one step of iterative refinement.
//!
//! *Tableau.* A dictionary, `basic = rhs + T · nonbasic`, with n+1 columns. The inverse basis needed by the
//! lexicographic test is in it: the column of `w_k` in B⁻¹ is a unit vector while `w_k` is basic, else minus its column in T.

use super::{Lcp, RESIDUAL_TOLERANCE, Scale, Status};
use crate::linalg::{Lu, Mat, axpy, dot, max_abs};

const TOLERANCE: f64 = 1e-11;

/// Storage of Lemke's method, kept between solves; after a solve it holds the answer.
#[derive(Clone, Debug, Default)]
pub struct LemkeWorkspace {
    /// `z` of the last solve.
    pub z: Vec<f64>,
    /// `w` of the last solve.
    pub w: Vec<f64>,
    /// Pivots of the last solve.
    pub pivots: usize,
    pub(super) scale: Scale,
    /// Dictionary; column n belongs to the artificial variable or whatever replaced it, column n+1 is the right side.
    t: Mat,
    pivot_row: Vec<f64>,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    /// Where variable v stands: row r as r, column c as n + c.
    place: Vec<usize>,
    ties: Vec<usize>,
    /// Largest scaled `|b_i|`.
    b_size: f64,
    refine: BasisSolve,
}

// Variables are numbered: w_i = i, z_i = n + i, z₀ = 2n.

impl LemkeWorkspace {
    /// Solve with the covering vector of ones (in the scaled problem).
    pub fn solve(&mut self, p: Lcp<'_>) -> Status {
        self.solve_covering(p, |_| 1.0)
    }

    /// Solve with covering vector `d(i) > 0`. Another vector follows another path: worth a try after a ray when `A` is not
    /// copositive-plus, because that path may end at a solution.
    pub(crate) fn solve_covering(&mut self, p: Lcp<'_>, d: impl Fn(usize) -> f64) -> Status {
        let n = p.dim();
        self.pivots = 0;
        self.z.clear();
        self.z.resize(n, 0.0);
        self.w.clear();
        self.w.extend_from_slice(p.b);
        if !p.is_valid() {
            return Status::BadInput;
        }
        if p.b.iter().all(|&b| b >= 0.0) {
            return Status::Solved { residual: 0.0 };
        }
        self.scale.fit(p.a);
        self.start(p, d);
        match self.follow_path(50 * n + 100) {
            Ended::Basis => self.read_solution(p),
            Ended::Ray => self.read_ray(p),
            Ended::Limit => Status::IterationLimit { pivots: self.pivots },
        }
    }

    /// Fill the dictionary and bring z₀ into the basis.
    fn start(&mut self, p: Lcp<'_>, d: impl Fn(usize) -> f64) {
        let n = p.dim();
        self.t.resize(n, n + 2);
        for i in 0..n {
            let r = self.scale.row[i];
            let row = self.t.row_mut(i);
            for (t, (a, c)) in row.iter_mut().zip(p.a.row(i).iter().zip(&self.scale.col)) {
                *t = r * a * c;
            }
            row[n] = d(i);
            row[n + 1] = r * p.b[i];
        }
        self.b_size = (0..n).fold(0.0, |m, i| self.t[(i, n + 1)].abs().max(m));
        self.basic.clear();
        self.basic.extend(0..n);
        self.nonbasic.clear();
        self.nonbasic.extend(n..=2 * n);
        self.place.clear();
        self.place.extend(0..n);
        self.place.extend(n..=2 * n);

        // most negative b_i/d_i, in a tie the last: keeps all rows lexicographically positive
        let ratio = |t: &Mat, i: usize| t[(i, n + 1)] / t[(i, n)];
        let mut r = 0;
        for i in 1..n {
            if ratio(&self.t, i) <= ratio(&self.t, r) {
                r = i;
            }
        }
        self.pivot(r, n);
    }

    fn follow_path(&mut self, limit: usize) -> Ended {
        let n = self.basic.len();
        let mut column = n; // after the first pivot the variable that left stands where z₀ was
        loop {
            let entering = complement(self.nonbasic[column], n);
            let s = self.place[entering] - n;
            let Some(r) = self.ratio_test(s) else { return Ended::Ray };
            let done = self.basic[r] == 2 * n;
            self.pivot(r, s);
            if done {
                return Ended::Basis;
            }
            if self.pivots > limit {
                return Ended::Limit;
            }
            column = s;
        }
    }

    /// The row that blocks the increase of the nonbasic variable in column `s`.
    fn ratio_test(&mut self, s: usize) -> Option<usize> {
        let n = self.basic.len();
        let largest = (0..n).fold(0.0_f64, |m, i| m.max(self.t[(i, s)].abs()));
        let threshold = TOLERANCE * largest.max(1e-3);

        // smallest ratio of value to rate
        let mut best = f64::INFINITY;
        for i in 0..n {
            let rate = -self.t[(i, s)];
            if rate > threshold {
                best = best.min(self.t[(i, n + 1)].max(0.0) / rate);
            }
        }
        if best == f64::INFINITY {
            return None;
        }
        let bound = best + TOLERANCE * best.max(TOLERANCE);
        self.ties.clear();
        for i in 0..n {
            let rate = -self.t[(i, s)];
            if rate > threshold && self.t[(i, n + 1)].max(0.0) <= bound * rate {
                if self.basic[i] == 2 * n {
                    return Some(i);
                }
                self.ties.push(i);
            }
        }

        // lexicographic order of the rows of B⁻¹ divided by the rate
        for k in 0..n {
            if self.ties.len() == 1 {
                break;
            }
            let place = self.place[k];
            let entry = |t: &Mat, i: usize| {
                let e = if place < n { if place == i { 1.0 } else { 0.0 } } else { -t[(i, place - n)] };
                e / -t[(i, s)]
            };
            let least = self.ties.iter().fold(f64::INFINITY, |m, &i| m.min(entry(&self.t, i)));
            let bound = least + TOLERANCE * least.abs().max(1.0);
            let t = &self.t;
            self.ties.retain(|&i| entry(t, i) <= bound);
        }
        self.ties.first().copied()
    }

    /// Exchange the basic variable of row `r` with the nonbasic one of column `s`.
    fn pivot(&mut self, r: usize, s: usize) {
        let n = self.basic.len();
        let inv = 1.0 / self.t[(r, s)];
        self.pivot_row.clear();
        self.pivot_row.extend(self.t.row(r).iter().map(|x| -x * inv));
        self.pivot_row[s] = inv;
        for i in 0..n {
            if i != r {
                let row = self.t.row_mut(i);
                let f = std::mem::replace(&mut row[s], 0.0);
                if f != 0.0 {
                    axpy(f, &self.pivot_row, row);
                }
            }
        }
        self.t.row_mut(r).copy_from_slice(&self.pivot_row);
        std::mem::swap(&mut self.basic[r], &mut self.nonbasic[s]);
        self.place[self.basic[r]] = r;
        self.place[self.nonbasic[s]] = n + s;
        self.pivots += 1;
    }

    /// A ray along which z₀ is zero up to rounding starts at a solution: `A` is singular and `b` lies in its range.
    fn read_ray(&mut self, p: Lcp<'_>) -> Status {
        let n = p.dim();
        let row = self.place[2 * n];
        if row >= n || self.t[(row, n + 1)] > RESIDUAL_TOLERANCE * self.b_size {
            return Status::Ray;
        }
        match self.read_solution(p) {
            Status::Inaccurate { .. } => Status::Ray,
            status => status,
        }
    }

    /// Solve the final basis again from the data; keep the tableau's values when that is more accurate.
    fn read_solution(&mut self, p: Lcp<'_>) -> Status {
        let n = p.dim();
        self.refine.set.clear();
        for j in 0..n {
            self.z[j] = 0.0;
            let place = self.place[n + j];
            if place < n {
                self.refine.set.push(j);
                self.z[j] = self.t[(place, n + 1)].max(0.0) * self.scale.col[j];
            }
        }
        p.slack(&self.z, &mut self.w);
        let rough = self.scale.residual(p.b, &self.z, &self.w);
        self.refine.run(p, &self.scale);
        p.slack(&self.refine.z, &mut self.refine.w);
        let fine = self.scale.residual(p.b, &self.refine.z, &self.refine.w);
        let residual = if fine <= rough {
            self.z.copy_from_slice(&self.refine.z);
            self.w.copy_from_slice(&self.refine.w);
            fine
        } else {
            rough
        };
        polish(&self.refine.set, &mut self.w);
        if residual <= RESIDUAL_TOLERANCE {
            Status::Solved { residual }
        } else {
            Status::Inaccurate { residual }
        }
    }
}

enum Ended {
    Basis,
    Ray,
    Limit,
}

fn complement(v: usize, n: usize) -> usize {
    if v < n { v + n } else { v - n }
}

/// Set the `w` of basic `z` to its exact zero, and rounding below zero of the others as well.
pub(super) fn polish(basic: &[usize], w: &mut [f64]) {
    basic.iter().for_each(|&i| w[i] = 0.0);
    w.iter_mut().for_each(|w| *w = w.max(0.0));
}

/// Solution of `A_ββ z_β = −b_β`, `z = 0` elsewhere, by LU with one step of iterative refinement.
#[derive(Clone, Debug, Default)]
pub(super) struct BasisSolve {
    /// β, increasing.
    pub set: Vec<usize>,
    pub z: Vec<f64>,
    pub w: Vec<f64>,
    sub: Mat,
    rhs: Vec<f64>,
    lu: Lu,
}

impl BasisSolve {
    /// Returns the pivot ratio of the factorisation of the scaled matrix. Values below zero are cut off.
    pub(super) fn run(&mut self, p: Lcp<'_>, scale: &Scale) -> f64 {
        let (n, m) = (p.dim(), self.set.len());
        self.z.clear();
        self.z.resize(n, 0.0);
        self.w.clear();
        self.w.resize(n, 0.0);
        self.sub.resize(m, m);
        self.rhs.clear();
        for (k, &i) in self.set.iter().enumerate() {
            let row = p.a.row(i);
            for (x, &j) in self.sub.row_mut(k).iter_mut().zip(&self.set) {
                *x = scale.row[i] * row[j] * scale.col[j];
            }
            self.rhs.push(-scale.row[i] * p.b[i]);
        }
        let ratio = self.lu.factor(&self.sub);
        self.lu.solve(&mut self.rhs);
        let size = max_abs(&self.rhs);
        for (k, &i) in self.set.iter().enumerate() {
            self.z[i] = self.rhs[k] * scale.col[i];
        }
        for (k, &i) in self.set.iter().enumerate() {
            self.rhs[k] = -scale.row[i] * (p.b[i] + dot(p.a.row(i), &self.z));
        }
        self.lu.solve(&mut self.rhs);
        for (k, &i) in self.set.iter().enumerate() {
            let change = self.rhs[k] * scale.col[i];
            if self.rhs[k].abs() <= size {
                self.z[i] += change;
            }
            self.z[i] = self.z[i].max(0.0);
        }
        ratio
    }
}
