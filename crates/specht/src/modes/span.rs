//! The accelerations that forces can bring about: `H = L U` of rank d, so that `ŷ = L a + ĉ` with `a = U x̂`.
//!
//! d is at most the number of degrees of freedom, however many contacts there are: a table with forty legs has d = 3. Signs of ŷ
//! are therefore decided by d numbers, and forces with the same a are indifferent.

use super::problem::Problem;
use crate::linalg::{Mat, axpy, max_abs};

/// Rows shorter than this after elimination are dependent (H has diagonal at most 1).
pub(crate) const DEPENDENT: f64 = 1e-10;

/// The factors.
#[derive(Clone, Debug, Default)]
pub(crate) struct Span {
    /// L, one row per entry of ŷ.
    pub left: Mat,
    /// U, one row per entry of a.
    pub right: Mat,
}

impl Span {
    /// Elimination with complete pivoting.
    pub(super) fn of(h: &Mat) -> Self {
        let r = h.rows();
        let mut rest = h.clone();
        let (mut columns, mut rows): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        let size = h.max_abs();
        while rows.len() < r {
            let (mut at, mut best) = ((0, 0), 0.0);
            for i in 0..r {
                for j in 0..r {
                    if rest[(i, j)].abs() > best {
                        (at, best) = ((i, j), rest[(i, j)].abs());
                    }
                }
            }
            if best.is_nan() || best <= DEPENDENT * size {
                break;
            }
            let pivot = rest[at];
            let row = rest.row(at.0).to_vec();
            let column: Vec<f64> = (0..r).map(|i| rest[(i, at.1)] / pivot).collect();
            for i in 0..r {
                axpy(-column[i], &row, rest.row_mut(i));
            }
            rows.push(row);
            columns.push(column);
        }
        let d = rows.len();
        Span { left: Mat::from_fn(r, d, |i, k| columns[k][i]), right: Mat::from_fn(d, r, |k, j| rows[k][j]) }
    }

    /// d.
    pub(super) fn dim(&self) -> usize {
        self.right.rows()
    }
}

/// A row `l·a + l₀`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub l: Vec<f64>,
    pub constant: f64,
}

impl Row {
    /// ŷ_i.
    pub(super) fn of(p: &Problem, span: &Span, i: usize) -> Self {
        Row { l: span.left.row(i).to_vec(), constant: p.c[i] }
    }

    /// Whether it does not depend on a.
    pub(super) fn is_constant(&self) -> bool {
        max_abs(&self.l) <= DEPENDENT
    }
}

/// Equations `l·a + l₀ = 0`, independent and reduced against each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equations {
    /// The rows with their pivots, which are 1.
    pub rows: Vec<(Row, usize)>,
}

impl Equations {
    /// Eliminate the pivots from a row.
    pub(super) fn reduce(&self, mut row: Row) -> Row {
        for (e, k) in &self.rows {
            let f = row.l[*k];
            if f != 0.0 {
                axpy(-f, &e.l, &mut row.l);
                row.l[*k] = 0.0;
                row.constant -= f * e.constant;
            }
        }
        row
    }

    /// Add an equation; false when it contradicts the others by more than `tolerance`.
    pub(super) fn add(&mut self, row: Row, tolerance: f64) -> bool {
        let mut row = self.reduce(row);
        if row.is_constant() {
            return row.constant.abs() <= tolerance;
        }
        let largest = max_abs(&row.l);
        let k = row.l.iter().position(|v| v.abs() == largest).unwrap_or(0);
        let f = 1.0 / row.l[k];
        row.l.iter_mut().for_each(|v| *v *= f);
        row.l[k] = 1.0;
        row.constant *= f;
        for (e, _) in &mut self.rows {
            let f = e.l[k];
            axpy(-f, &row.l, &mut e.l);
            e.l[k] = 0.0;
            e.constant -= f * row.constant;
        }
        self.rows.push((row, k));
        true
    }
}

/// `l·U`, the row as a function of x̂.
pub(crate) fn through(span: &Span, l: &[f64], x: &mut Vec<f64>) {
    x.clear();
    x.resize(span.right.cols(), 0.0);
    for (k, &v) in l.iter().enumerate() {
        if v != 0.0 {
            axpy(v, span.right.row(k), x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A body in the plane on many feet: three numbers decide.
    #[test]
    fn forty_feet_of_one_body_span_three_accelerations() {
        // rows of W M^-1/2: normals (0, 1, s), tangents (1, 0, 0.4)
        let w = Mat::from_fn(80, 3, |i, k| {
            if i < 40 { [0.0, 1.0, 0.1 * i as f64 - 2.0][k] } else { [1.0, 0.0, 0.4][k] }
        });
        let h = w.mul(&w.transpose());
        let span = Span::of(&h);
        assert_eq!(span.dim(), 3);
        let again = span.left.mul(&span.right);
        for i in 0..80 {
            for j in 0..80 {
                assert!((again[(i, j)] - h[(i, j)]).abs() < 1e-12);
            }
        }
        let mut e = Equations::default();
        let row = |i: usize| Row { l: span.left.row(i).to_vec(), constant: 0.0 };
        assert!(e.add(row(3), 1e-9) && e.add(row(30), 1e-9));
        assert!(e.reduce(row(17)).is_constant() && !e.reduce(row(60)).is_constant());
        assert!(!e.add(Row { constant: 1e-3, ..row(17) }, 1e-9));
    }
}
