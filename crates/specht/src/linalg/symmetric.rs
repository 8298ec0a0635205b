//! Eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations
//!
//! Each rotation removes one off-diagonal pair; the sum of their squares falls quadratically at the end. For definite
//! matrices small eigenvalues come out to high relative accuracy. [GolubVanLoan2013, 8.5]

use super::Mat;

/// `A = V diag(λ) Vᵀ`.
#[derive(Clone, Debug, Default)]
pub struct SymmetricEigen {
    /// Eigenvalues, smallest first.
    pub values: Vec<f64>,
    /// Orthonormal eigenvectors as columns, in the same order.
    pub vectors: Mat,
}

impl SymmetricEigen {
    /// Decompose `a`, of which only the symmetric part counts.
    pub fn of(a: &Mat) -> SymmetricEigen {
        let n = a.rows();
        let mut m = Mat::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
        let mut v = Mat::identity(n); // rows are eigenvectors
        for _ in 0..60 {
            let mut rotated = false;
            for p in 0..n {
                for q in p + 1..n {
                    rotated |= rotate(&mut m, &mut v, p, q);
                }
            }
            if !rotated {
                break;
            }
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| m[(i, i)].total_cmp(&m[(j, j)]));
        SymmetricEigen {
            values: order.iter().map(|&k| m[(k, k)]).collect(),
            vectors: Mat::from_fn(n, n, |i, k| v[(order[k], i)]),
        }
    }
}

/// Annihilate entry (p, q); false when it is negligible.
fn rotate(m: &mut Mat, v: &mut Mat, p: usize, q: usize) -> bool {
    let (app, aqq, apq) = (m[(p, p)], m[(q, q)], m[(p, q)]);
    let negligible = apq.abs() <= 1e-17 * (app * aqq).abs().sqrt().max(f64::MIN_POSITIVE)
        || app.abs() + apq.abs() == app.abs() && aqq.abs() + apq.abs() == aqq.abs();
    if apq == 0.0 || apq.is_nan() || negligible {
        m[(p, q)] = 0.0;
        m[(q, p)] = 0.0;
        return false;
    }
    let theta = (aqq - app) / (2.0 * apq);
    let t = if theta == 0.0 { 1.0 } else { theta.signum() / (theta.abs() + theta.hypot(1.0)) };
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..m.rows() {
        if k != p && k != q {
            let (x, y) = (m[(k, p)], m[(k, q)]);
            let (x, y) = (c * x - s * y, s * x + c * y);
            m[(k, p)] = x;
            m[(p, k)] = x;
            m[(k, q)] = y;
            m[(q, k)] = y;
        }
        let (x, y) = (v[(p, k)], v[(q, k)]);
        v[(p, k)] = c * x - s * y;
        v[(q, k)] = s * x + c * y;
    }
    m[(p, p)] = app - t * apq;
    m[(q, q)] = aqq + t * apq;
    m[(p, q)] = 0.0;
    m[(q, p)] = 0.0;
    true
}
