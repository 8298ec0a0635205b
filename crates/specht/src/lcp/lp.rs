//! Linear programs, small and dense
//!
//! ```text
//! maximise cᵀx   subject to   A x = b,  x ≥ 0.
//! ```
//!
//! Primal simplex in a tableau, two phases with artificial variables. The polyhedron is loaded once (phase 1), then any
//! number of objectives is maximised over it, each from the vertex where the last one ended. Entering column by the
//! largest reduced cost; after a run of degenerate pivots by Bland's rule until the objective moves, which excludes
//! cycling. [Chvatal1983, 2-3, 8]
//!
//! *Tolerance.* Rows, columns and the right side are scaled to largest entry 1. Reduced costs and pivots below 1e-10 count as zero; a
//! polyhedron is empty when the artificial variables cannot be brought below 1e-9 of the largest right side.
//!
//! *Certificates.* `Optimal`: `x` and the multipliers `y` with `Aᵀy ≥ c`, `bᵀy = cᵀx`. `Infeasible`: `y` with
//! `Aᵀy ≥ 0`, `bᵀy < 0` (Farkas). `Unbounded`: `x` and a direction `ray ≥ 0` with `A ray = 0`, `cᵀray > 0`.

use super::Scale;
use crate::linalg::{Mat, axpy, max_abs};

const PIVOT: f64 = 1e-10;
const COST: f64 = 1e-10;
const FEASIBLE: f64 = 1e-9;
/// Degenerate pivots in a row before Bland's rule takes over.
const STALL: usize = 12;

/// How a linear program ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LpOutcome {
    /// The largest value; the point is in [`Simplex::x`], the multipliers in [`Simplex::y`].
    Optimal {
        /// `cᵀx`.
        value: f64,
    },
    /// No bound; [`Simplex::ray`] is a direction of increase.
    Unbounded,
    /// No point; [`Simplex::y`] proves it.
    Infeasible,
    /// The limit on pivots was reached.
    IterationLimit,
}

/// The simplex method; keeps its storage between problems.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simplex {
    /// The last vertex.
    pub x: Vec<f64>,
    /// Multipliers of the last optimum, or the proof of infeasibility.
    pub y: Vec<f64>,
    /// Direction of the last unbounded problem.
    pub ray: Vec<f64>,
    /// Pivots since the polyhedron was loaded.
    pub pivots: usize,
    scale: Scale,
    /// m rows of n columns, m artificial columns (they hold B⁻¹), right side.
    t: Mat,
    cost: Vec<f64>,
    basis: Vec<usize>,
    is_basic: Vec<bool>,
    sign: Vec<f64>,
    /// Columns held at zero by [`Simplex::restrict`].
    held: Vec<bool>,
    pivot_row: Vec<f64>,
    n: usize,
    feasible: bool,
    /// Largest scaled right side: the unit of the last column.
    b_size: f64,
}

impl Simplex {
    /// Maximise `cᵀx` over `A x = b`, `x ≥ 0`.
    pub(crate) fn maximize(&mut self, a: &Mat, b: &[f64], c: &[f64]) -> LpOutcome {
        match self.load(a, b) {
            LpOutcome::Optimal { .. } => self.maximize_again(c),
            other => other,
        }
    }

    /// Take the polyhedron `A x = b`, `x ≥ 0` and find a vertex of it: `Optimal { value: 0 }`, or `Infeasible`.
    pub(crate) fn load(&mut self, a: &Mat, b: &[f64]) -> LpOutcome {
        let (m, n) = (a.rows(), a.cols());
        self.n = n;
        self.pivots = 0;
        self.feasible = false;
        self.scale.fit(a);
        self.fill_tableau(a, b);

        // phase 1: maximise −Σ artificial
        self.cost.clear();
        self.cost.resize(n + m + 1, 0.0);
        self.cost[n..n + m].fill(-1.0);
        for i in 0..m {
            axpy(1.0, self.t.row(i), &mut self.cost);
        }
        if !matches!(self.climb(n), Climb::Top) {
            return LpOutcome::IterationLimit;
        }
        let missing = self.cost[n + m];
        if missing > FEASIBLE {
            self.read_multipliers(0.0);
            for i in 0..m {
                // the phase-1 cost of an artificial is −1
                self.y[i] -= self.sign[i] * self.scale.row[i];
            }
            return LpOutcome::Infeasible;
        }
        self.drive_out_artificials();
        self.feasible = true;
        self.read_vertex();
        LpOutcome::Optimal { value: 0.0 }
    }

    /// Maximise another objective over the polyhedron last loaded.
    pub(crate) fn maximize_again(&mut self, c: &[f64]) -> LpOutcome {
        if !self.feasible {
            return LpOutcome::Infeasible;
        }
        let (m, n) = (self.t.rows(), self.n);
        let size = c.iter().zip(&self.scale.col).fold(0.0_f64, |s, (c, k)| s.max((c * k).abs()));
        if size == 0.0 {
            self.y.clear();
            self.y.resize(m, 0.0);
            return LpOutcome::Optimal { value: 0.0 };
        }

        // reduced costs, scaled to largest 1
        self.cost.fill(0.0);
        for j in 0..n {
            self.cost[j] = c[j] * self.scale.col[j] / size;
        }
        for i in 0..m {
            if self.basis[i] < n {
                let c_b = c[self.basis[i]] * self.scale.col[self.basis[i]] / size;
                axpy(-c_b, self.t.row(i), &mut self.cost);
            }
        }
        let end = self.climb(n);
        self.read_vertex();
        match end {
            Climb::Limit => LpOutcome::IterationLimit,
            Climb::Ray(s) => {
                self.read_ray(s);
                LpOutcome::Unbounded
            }
            Climb::Top => {
                self.read_multipliers(size);
                LpOutcome::Optimal { value: c.iter().zip(&self.x).map(|(c, x)| c * x).sum() }
            }
        }
    }

    /// Cut the loaded polyhedron down to the face where the given columns vanish, starting from the present vertex. False
    /// when the face is empty (the polyhedron is then no longer usable).
    pub(crate) fn restrict(&mut self, columns: impl Iterator<Item = usize> + Clone) -> bool {
        if !self.feasible {
            return false;
        }
        // maximise minus the sum of those that are basic
        let rhs = self.t.cols() - 1;
        self.cost.fill(0.0);
        let mut size = 0.0_f64;
        for j in columns.clone() {
            if !self.is_basic[j] {
                self.held[j] = true;
            } else if let Some(i) = self.basis.iter().position(|&v| v == j)
                && !self.held[j]
            {
                size = size.max(self.t[(i, rhs)]);
                axpy(1.0, self.t.row(i), &mut self.cost);
                self.cost[j] = 0.0;
            }
        }
        if size > 0.0 && !matches!(self.climb(self.n), Climb::Top) {
            return true; // not decided: keep the branch
        }
        let left = columns.clone().fold(0.0, |sum, j| {
            let row = self.basis.iter().position(|&v| v == j);
            sum + row.map_or(0.0, |i| self.t[(i, rhs)].max(0.0))
        });
        columns.for_each(|j| self.held[j] = true);
        self.feasible = left <= FEASIBLE;
        self.feasible
    }

    /// Value of column `j` at the present vertex, scaled.
    pub(super) fn scaled_value(&self, j: usize) -> f64 {
        if !self.is_basic[j] {
            return 0.0;
        }
        self.basis.iter().position(|&v| v == j).map_or(0.0, |i| self.t[(i, self.t.cols() - 1)].max(0.0))
    }

    /// Copy the polyhedron and vertex of another one, reusing storage.
    pub(super) fn copy_from(&mut self, other: &Simplex) {
        self.scale.row.clone_from(&other.scale.row);
        self.scale.col.clone_from(&other.scale.col);
        self.t.clone_from(&other.t);
        self.cost.clone_from(&other.cost);
        self.basis.clone_from(&other.basis);
        self.is_basic.clone_from(&other.is_basic);
        self.sign.clone_from(&other.sign);
        self.held.clone_from(&other.held);
        self.n = other.n;
        self.feasible = other.feasible;
        self.b_size = other.b_size;
        self.pivots = other.pivots;
    }

    fn fill_tableau(&mut self, a: &Mat, b: &[f64]) {
        let (m, n) = (a.rows(), a.cols());
        self.t.reshape(m, n + m + 1);
        self.sign.clear();
        self.basis.clear();
        self.is_basic.clear();
        self.is_basic.resize(n + m, false);
        self.held.clear();
        self.held.resize(n + m, false);
        let size = (0..m).fold(0.0_f64, |s, i| s.max((self.scale.row[i] * b[i]).abs()));
        self.b_size = if size > 0.0 { size } else { 1.0 };
        for i in 0..m {
            let r = self.scale.row[i];
            let sign = if b[i] < 0.0 { -1.0 } else { 1.0 };
            self.sign.push(sign);
            let row = self.t.row_mut(i);
            for j in 0..n {
                row[j] = sign * r * a[(i, j)] * self.scale.col[j];
            }
            row[n + i] = 1.0;
            row[n + m] = sign * r * b[i] / self.b_size;
            self.basis.push(n + i);
            self.is_basic[n + i] = true;
        }
    }

    /// Pivot until no column below `columns` improves.
    fn climb(&mut self, columns: usize) -> Climb {
        let (m, rhs) = (self.t.rows(), self.t.cols() - 1);
        let limit = 200 + 50 * (m + columns);
        let mut stalled = 0;
        for _ in 0..limit {
            // entering column
            let mut s = None;
            let mut best = COST;
            for j in 0..columns {
                if self.cost[j] > best && !self.is_basic[j] && !self.held[j] {
                    s = Some(j);
                    if stalled > STALL {
                        break;
                    }
                    best = self.cost[j];
                }
            }
            let Some(s) = s else { return Climb::Top };

            // leaving row: least ratio; an artificial or held variable left over at zero must not grow
            let mut r = None;
            let mut least = f64::INFINITY;
            for i in 0..m {
                let t = self.t[(i, s)];
                let ratio = if t > PIVOT {
                    self.t[(i, rhs)].max(0.0) / t
                } else if t < -PIVOT
                    && self.feasible
                    && (self.basis[i] >= columns || self.held[self.basis[i]])
                {
                    0.0
                } else {
                    continue;
                };
                let better = match r {
                    None => true,
                    Some(k) => {
                        let tie = (ratio - least).abs() <= 1e-12 * least.max(1e-3);
                        if !tie {
                            ratio < least
                        } else if stalled > STALL {
                            self.basis[i] < self.basis[k]
                        } else {
                            t.abs() > self.t[(k, s)].abs()
                        }
                    }
                };
                if better {
                    r = Some(i);
                    least = ratio;
                }
            }
            let Some(r) = r else { return Climb::Ray(s) };
            stalled = if least > 1e-12 { 0 } else { stalled + 1 };
            self.pivot(r, s);
        }
        Climb::Limit
    }

    fn pivot(&mut self, r: usize, s: usize) {
        let inv = 1.0 / self.t[(r, s)];
        self.t.row_mut(r).iter_mut().for_each(|x| *x *= inv);
        self.t[(r, s)] = 1.0;
        self.pivot_row.clear();
        self.pivot_row.extend_from_slice(self.t.row(r));
        for i in 0..self.t.rows() {
            let f = self.t[(i, s)];
            if i != r && f != 0.0 {
                axpy(-f, &self.pivot_row, self.t.row_mut(i));
                self.t[(i, s)] = 0.0;
            }
        }
        let f = self.cost[s];
        axpy(-f, &self.pivot_row, &mut self.cost);
        self.cost[s] = 0.0;
        self.is_basic[self.basis[r]] = false;
        self.is_basic[s] = true;
        self.basis[r] = s;
        self.pivots += 1;
    }

    /// Exchange artificials that are still basic (at zero) where their row has an entry; other rows are dependent.
    fn drive_out_artificials(&mut self) {
        let (m, n) = (self.t.rows(), self.n);
        for i in 0..m {
            if self.basis[i] < n {
                continue;
            }
            let row = &self.t.row(i)[..n];
            let largest = max_abs(row);
            if largest > 1e-7
                && let Some(s) = row.iter().position(|x| x.abs() == largest)
            {
                self.t[(i, n + m)] = 0.0;
                self.pivot(i, s);
            }
        }
    }

    fn read_vertex(&mut self) {
        let (n, rhs) = (self.n, self.t.cols() - 1);
        self.x.clear();
        self.x.resize(n, 0.0);
        for (i, &v) in self.basis.iter().enumerate() {
            if v < n {
                self.x[v] = self.t[(i, rhs)].max(0.0) * self.b_size * self.scale.col[v];
            }
        }
    }

    fn read_ray(&mut self, s: usize) {
        self.ray.clear();
        self.ray.resize(self.n, 0.0);
        self.ray[s] = self.scale.col[s];
        for (i, &v) in self.basis.iter().enumerate() {
            if v < self.n {
                self.ray[v] = (-self.t[(i, s)]).max(0.0) * self.scale.col[v];
            }
        }
    }

    /// `y` from the reduced costs of the artificial columns, times `size`.
    fn read_multipliers(&mut self, size: f64) {
        let n = self.n;
        self.y.clear();
        for i in 0..self.t.rows() {
            let d = if size == 0.0 { 1.0 } else { size };
            self.y.push(-self.cost[n + i] * d * self.sign[i] * self.scale.row[i]);
        }
    }
}

enum Climb {
    Top,
    Ray(usize),
    Limit,
}

/// Sense of a row of [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    /// `aᵀx ≤ b`.
    AtMost,
    /// `aᵀx = b`.
    Equal,
    /// `aᵀx ≥ b`.
    AtLeast,
}

/// A linear program with rows of any sense and variables that may be free, brought to the standard form for [`Simplex`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    free: Vec<bool>,
    unit: Vec<f64>,
    rows: Vec<(Vec<f64>, Sense, f64)>,
}

impl Program {
    /// `n` variables, all `≥ 0`.
    pub(crate) fn new(n: usize) -> Self {
        Program { free: vec![false; n], unit: vec![1.0; n], rows: Vec::new() }
    }

    /// Let variable `j` count in units of this size, so that its column is as large as the others.
    pub(crate) fn set_unit(&mut self, j: usize, unit: f64) -> &mut Self {
        self.unit[j] = unit;
        self
    }

    /// Let variable `j` have either sign.
    pub(crate) fn set_free(&mut self, j: usize) -> &mut Self {
        self.free[j] = true;
        self
    }

    /// Fix variable `j`.
    pub(crate) fn fix(&mut self, j: usize, value: f64) -> &mut Self {
        let mut a = vec![0.0; self.free.len()];
        a[j] = 1.0 / self.unit[j];
        self.row(&a, Sense::Equal, value / self.unit[j])
    }

    /// Add the row `aᵀx (≤, =, ≥) b`.
    pub(crate) fn row(&mut self, a: &[f64], sense: Sense, b: f64) -> &mut Self {
        self.rows.push((a.to_vec(), sense, b));
        self
    }

    /// Maximise `cᵀx`. Returns the outcome and the point (empty unless optimal or unbounded).
    pub(crate) fn maximize(&self, c: &[f64]) -> (LpOutcome, Vec<f64>) {
        let (n, m) = (self.free.len(), self.rows.len());
        let mirrored: Vec<usize> = (0..n).filter(|&j| self.free[j]).collect();
        let slacks = self.rows.iter().filter(|r| r.1 != Sense::Equal).count();
        let mut a = Mat::zeros(m, n + mirrored.len() + slacks);
        let mut next = n + mirrored.len();
        let mut b = Vec::with_capacity(m);
        for (i, (row, sense, rhs)) in self.rows.iter().enumerate() {
            for (j, &v) in row.iter().enumerate().take(n) {
                a[(i, j)] = v * self.unit[j];
            }
            for (k, &j) in mirrored.iter().enumerate() {
                a[(i, n + k)] = -a[(i, j)];
            }
            if *sense != Sense::Equal {
                a[(i, next)] = if *sense == Sense::AtMost { 1.0 } else { -1.0 };
                next += 1;
            }
            b.push(*rhs);
        }
        let mut cost = vec![0.0; a.cols()];
        for j in 0..n {
            cost[j] = c[j] * self.unit[j];
        }
        for (k, &j) in mirrored.iter().enumerate() {
            cost[n + k] = -cost[j];
        }
        let mut simplex = Simplex::default();
        let outcome = simplex.maximize(&a, &b, &cost);
        let mut x = Vec::new();
        if matches!(outcome, LpOutcome::Optimal { .. } | LpOutcome::Unbounded) {
            x.extend_from_slice(&simplex.x[..n]);
            for (k, &j) in mirrored.iter().enumerate() {
                x[j] -= simplex.x[n + k];
            }
            x.iter_mut().zip(&self.unit).for_each(|(x, unit)| *x *= unit);
        }
        (outcome, x)
    }
}
