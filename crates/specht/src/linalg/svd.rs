//! Singular values by one-sided Jacobi rotations
//!
//! Pairs of columns are rotated until all are orthogonal; their norms are the singular values, to high relative accuracy
//! even the small ones. Converges quadratically, a handful of sweeps. [GolubVanLoan2013, 8.6.4]

use super::{Mat, dot};

/// Singular value decomposition `A = U diag(s) Vᵀ`, thin: k = min(m, n) columns.
#[derive(Clone, Debug, Default)]
pub struct Svd {
    /// Left vectors as columns, m by k (zero columns belong to vanishing singular values).
    pub u: Mat,
    /// Singular values, largest first.
    pub s: Vec<f64>,
    /// Right vectors as columns, n by k.
    pub v: Mat,
}

impl Svd {
    /// Decompose `a`.
    pub fn of(a: &Mat) -> Svd {
        if a.rows() < a.cols() {
            let Svd { u, s, v } = Svd::of(&a.transpose());
            return Svd { u: v, s, v: u };
        }
        let n = a.cols();
        // rows of these are the columns of U·diag(s) and of V
        let mut us = a.transpose();
        let mut v = Mat::identity(n);
        for _ in 0..60 {
            let mut rotated = false;
            for p in 0..n {
                for q in p + 1..n {
                    rotated |= orthogonalise(&mut us, &mut v, p, q);
                }
            }
            if !rotated {
                break;
            }
        }
        let norm: Vec<f64> = (0..n).map(|j| norm(us.row(j))).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| norm[j].total_cmp(&norm[i]));
        let s: Vec<f64> = order.iter().map(|&j| norm[j]).collect();
        let unit = |x: f64, s: f64| if s > 0.0 { x / s } else { 0.0 };
        Svd {
            u: Mat::from_fn(a.rows(), n, |i, k| unit(us[(order[k], i)], s[k])),
            v: Mat::from_fn(n, n, |i, k| v[(order[k], i)]),
            s,
        }
    }

    /// Largest divided by smallest singular value; infinite for a singular matrix.
    pub fn condition(&self) -> f64 {
        match (self.s.first(), self.s.last()) {
            (Some(a), Some(b)) if *b > 0.0 => a / b,
            (None, None) => 1.0,
            _ => f64::INFINITY,
        }
    }
}

/// The smallest of the min(m, n) singular values; 0 for an empty matrix.
pub fn smallest_singular_value(a: &Mat) -> f64 {
    Svd::of(a).s.last().copied().unwrap_or(0.0)
}

/// Norm without overflow.
fn norm(x: &[f64]) -> f64 {
    let m = super::max_abs(x);
    if m == 0.0 || !m.is_finite() { m } else { m * x.iter().map(|x| (x / m).powi(2)).sum::<f64>().sqrt() }
}

/// Rotate rows `p` and `q` so that they become orthogonal; false when they already are.
fn orthogonalise(us: &mut Mat, v: &mut Mat, p: usize, q: usize) -> bool {
    let (a, b, c) = (dot(us.row(p), us.row(p)), dot(us.row(q), us.row(q)), dot(us.row(p), us.row(q)));
    if c == 0.0 || c.is_nan() || c.abs() <= 1e-16 * (a * b).sqrt() {
        return false;
    }
    let zeta = (b - a) / (2.0 * c);
    let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cs = 1.0 / t.hypot(1.0);
    let sn = cs * t;
    for m in [us, v] {
        let w = m.cols();
        let (top, bottom) = m.as_mut_slice().split_at_mut(q * w);
        for (x, y) in top[p * w..(p + 1) * w].iter_mut().zip(&mut bottom[..w]) {
            (*x, *y) = (cs * *x - sn * *y, sn * *x + cs * *y);
        }
    }
    c.abs() > 1e-15 * (a * b).sqrt()
}
