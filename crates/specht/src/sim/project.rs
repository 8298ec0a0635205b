//! Drift projection: positions, velocities and sticking back onto their constraints (PG-6-EVENT, step 8).
//!
//! ```text
//! δ = D⁻¹ Wᵀ s,   (W D⁻¹ Wᵀ) s = −g  (positions, q ← q ⊕ Y δ)   or   −γ  (velocities, u ← u + δ)
//! ```
//!
//! with D the diagonal of M: the corrections are of the size of rounding and of the local error, so their direction does
//! not matter. Rows that depend on earlier ones are skipped. What the projection does to the energy shows in
//! the closing error of the ledger.

use crate::linalg::{Mat, axpy, dot};
use crate::system::{Mode, System};

use super::field::Field;

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Projector {
    rows: Vec<usize>,
    gram: Mat,
    s: Vec<f64>,
    kept: Vec<bool>,
    /// Squared length of every row beside the rows before it, and the largest it has had.
    rest: Vec<f64>,
    largest: Vec<f64>,
    weight: Vec<f64>,
    delta: Vec<f64>,
}

impl Projector {
    /// Largest error of the position constraints, relative to their sizes, and of the velocity constraints at the
    /// evaluated state.
    pub(crate) fn drift<S: System + ?Sized>(&mut self, field: &Field<S>) -> (f64, f64) {
        self.choose(field, false);
        let position = self.worst(field);
        self.choose(field, true);
        let velocity =
            self.rows.iter().fold(0.0_f64, |m, &r| m.max(field.eval.rate(r, &field.state.u).abs()));
        (position, velocity)
    }

    fn worst<S: System + ?Sized>(&self, field: &Field<S>) -> f64 {
        let sizes = &field.watches.scales.gap;
        self.rows.iter().fold(0.0_f64, |m, &r| m.max(field.eval.gap[r].abs() / sizes[r]))
    }

    /// Positions, then velocities, of the field's state; the field is left evaluated there. False when the constraints
    /// cannot be met.
    pub(crate) fn project<S: System + ?Sized>(&mut self, field: &mut Field<S>, tolerance: f64) -> bool {
        let met = self.positions(field, tolerance);
        self.velocities(field);
        met
    }

    /// Positions only, to a tolerance relative to the sizes of the gaps.
    pub(crate) fn positions<S: System + ?Sized>(&mut self, field: &mut Field<S>, tolerance: f64) -> bool {
        let mut best = f64::INFINITY;
        for _ in 0..20 {
            self.choose(field, false);
            let worst = self.worst(field);
            if worst <= 1e-3 * tolerance || worst >= 0.5 * best {
                return worst <= tolerance;
            }
            best = worst;
            self.s.clear();
            self.s.extend(self.rows.iter().map(|&r| -field.eval.gap[r]));
            self.least_change(field);
            self.move_positions(field);
            field.evaluate();
        }
        false
    }

    /// Velocities only.
    pub(crate) fn velocities<S: System + ?Sized>(&mut self, field: &mut Field<S>) {
        self.choose(field, true);
        if self.rows.is_empty() {
            return;
        }
        for _ in 0..2 {
            self.s.clear();
            self.s.extend(self.rows.iter().map(|&r| -field.eval.rate(r, &field.state.u)));
            self.least_change(field);
            axpy(1.0, &self.delta, &mut field.state.u);
        }
        field.evaluate();
    }

    fn choose<S: System + ?Sized>(&mut self, field: &Field<S>, with_stick: bool) {
        self.rows.clear();
        for (i, c) in field.info.iter().enumerate() {
            let mode = field.discrete.modes[i];
            if c.is_bilateral() || mode.is_closed() {
                self.rows.extend(c.normal_rows());
            }
            if with_stick && mode == Mode::Stick && c.friction {
                self.rows.extend_from_slice(&c.tangent);
            }
        }
    }

    /// Rows of the position constraints that do not depend on earlier ones, at the evaluated state; returns the diagonal of D⁻¹.
    pub(crate) fn independent<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        rows: &mut Vec<usize>,
    ) -> &[f64] {
        self.choose(field, false);
        self.factor(field);
        rows.clear();
        rows.extend(self.rows.iter().zip(&self.kept).filter(|(_, kept)| **kept).map(|(row, _)| *row));
        &self.weight
    }

    /// Number of constraints chosen last, dependent ones included.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// How weak the weakest of the independent position constraints is at the evaluated state: squared length beside the
    /// others, relative to the largest it has had. Constraints that always depend on others do not count.
    pub(crate) fn weakest<S: System + ?Sized>(&mut self, field: &Field<S>) -> f64 {
        self.choose(field, false);
        if self.rows.is_empty() {
            return 1.0;
        }
        self.factor(field);
        self.largest.resize(field.dims.rows, 0.0);
        let mut least = 1.0_f64;
        for (k, &row) in self.rows.iter().enumerate() {
            let largest = &mut self.largest[row];
            *largest = largest.max(if self.kept[k] { self.rest[k] } else { 0.0 });
            if *largest > 0.0 {
                least = least.min((self.rest[k] / *largest).max(0.0));
            }
        }
        least
    }

    // W D⁻¹ Wᵀ and its Cholesky factor that skips dependent rows
    fn factor<S: System + ?Sized>(&mut self, field: &Field<S>) {
        let (n, m) = (field.dims.u, self.rows.len());
        let largest = (0..n).fold(0.0_f64, |a, i| a.max(field.eval.mass.diagonal(i)));
        let floor = if largest > 0.0 { 1e-9 * largest } else { 1.0 };
        self.weight.clear();
        self.weight.extend((0..n).map(|i| 1.0 / field.eval.mass.diagonal(i).max(floor)));
        self.gram.reshape(m, m);
        let w = &field.eval.w;
        for i in 0..m {
            for j in 0..=i {
                let (a, b) = (w.row(self.rows[i]), w.row(self.rows[j]));
                self.gram[(i, j)] = a.product(b, &self.weight);
            }
        }
        self.kept.clear();
        self.rest.clear();
        let longest = (0..m).fold(0.0_f64, |a, i| a.max(self.gram[(i, i)]));
        for i in 0..m {
            let own = self.gram[(i, i)];
            for j in 0..i {
                if !self.kept[j] {
                    self.gram[(i, j)] = 0.0;
                    continue;
                }
                let s = dot(&self.gram.row(i)[..j], &self.gram.row(j)[..j]);
                self.gram[(i, j)] = (self.gram[(i, j)] - s) / self.gram[(j, j)];
            }
            let rest = own - dot(&self.gram.row(i)[..i], &self.gram.row(i)[..i]);
            // a row that is rounding beside the others has no direction
            let keep = rest > 1e-10 * own && own > 1e-26 * longest;
            self.kept.push(keep);
            self.rest.push(if own > 1e-26 * longest { rest } else { 0.0 });
            self.gram[(i, i)] = if keep { rest.sqrt() } else { 1.0 };
        }
    }

    /// Right side in `s`, result in `delta`.
    fn least_change<S: System + ?Sized>(&mut self, field: &Field<S>) {
        self.factor(field);
        let (n, m) = (field.dims.u, self.rows.len());
        let w = &field.eval.w;
        for i in 0..m {
            let s = dot(&self.gram.row(i)[..i], &self.s[..i]);
            self.s[i] = if self.kept[i] { (self.s[i] - s) / self.gram[(i, i)] } else { 0.0 };
        }
        for i in (0..m).rev() {
            self.s[i] = if self.kept[i] { self.s[i] / self.gram[(i, i)] } else { 0.0 };
            let x = self.s[i];
            for j in 0..i {
                self.s[j] -= x * self.gram[(i, j)];
            }
        }
        self.delta.clear();
        self.delta.resize(n, 0.0);
        for i in 0..m {
            w.row(self.rows[i]).add_to(self.s[i], &mut self.delta);
        }
        for k in 0..n {
            self.delta[k] *= self.weight[k];
        }
    }

    fn move_positions<S: System + ?Sized>(&mut self, field: &mut Field<S>) {
        field.sys.move_by(&mut field.state.q, &self.delta);
    }
}
