//! Singular values by one-sided Jacobi rotations: least squares of minimum norm and null spaces of small matrices whose rank is the question.
//!
//! ```text
//! A = Σ σ_j u_j v_jᵀ,      x = Σ (u_jᵀ b / σ_j) v_j  over  σ_j > τ σ_max
//! ```
//!
//! Columns are rotated against each other until all are orthogonal. Small singular values are found with a small error relative to
//! themselves, which normal equations would lose. O(m n²) per sweep, a handful of sweeps. [Demmel1992]

use super::{Mat, dot};

/// Sweeps after which everything is orthogonal; six are enough for any matrix met.
const SWEEPS: usize = 60;

/// The decomposition: rows of `left` are σ_j u_j, rows of `right` are v_j.
pub(crate) struct Svd {
    left: Mat,
    right: Mat,
    sigma: Vec<f64>,
}

impl Svd {
    /// Of a matrix with any numbers of rows and columns.
    pub(crate) fn new(a: &Mat) -> Self {
        let n = a.cols();
        let mut left = a.transpose();
        let mut right = Mat::identity(n);
        for _ in 0..SWEEPS {
            let mut turned = false;
            for p in 0..n {
                for q in p + 1..n {
                    turned |= orthogonalize(&mut left, &mut right, p, q);
                }
            }
            if !turned {
                break;
            }
        }
        let sigma = (0..n).map(|j| dot(left.row(j), left.row(j)).sqrt()).collect();
        Svd { left, right, sigma }
    }

    fn border(&self, tolerance: f64) -> f64 {
        tolerance * self.sigma.iter().fold(0.0_f64, |m, s| m.max(*s))
    }

    /// The shortest x that makes |A x − b| smallest; singular values below `tolerance` of the largest count as zero.
    pub(crate) fn solve(&self, b: &[f64], tolerance: f64) -> Vec<f64> {
        let border = self.border(tolerance);
        let mut x = vec![0.0; self.sigma.len()];
        for (j, s) in self.sigma.iter().enumerate().filter(|(_, s)| **s > border) {
            super::axpy(dot(self.left.row(j), b) / (s * s), self.right.row(j), &mut x);
        }
        x
    }

    /// The x that makes |A x − b|² + λ |x|² smallest.
    pub(crate) fn damped(&self, b: &[f64], lambda: f64) -> Vec<f64> {
        let mut x = vec![0.0; self.sigma.len()];
        for (j, s) in self.sigma.iter().enumerate().filter(|(_, s)| **s > 0.0) {
            super::axpy(dot(self.left.row(j), b) / (s * s + lambda), self.right.row(j), &mut x);
        }
        x
    }

    /// Singular values with their right vectors, in no order.
    pub(crate) fn values(&self) -> impl Iterator<Item = (f64, &[f64])> {
        self.sigma.iter().enumerate().map(|(j, s)| (*s, self.right.row(j)))
    }

    /// The unit vector that A makes shortest.
    pub(crate) fn least(&self) -> Vec<f64> {
        let pairs = self.sigma.iter().enumerate();
        let j = pairs.min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |p| p.0);
        self.right.row(j).to_vec()
    }

    /// Orthonormal vectors with A x = 0.
    pub(crate) fn null(&self, tolerance: f64) -> Vec<Vec<f64>> {
        let border = self.border(tolerance);
        let list = self.sigma.iter().enumerate().filter(|(_, s)| **s <= border);
        list.map(|(j, _)| self.right.row(j).to_vec()).collect()
    }
}

// rotate columns p and q until they are orthogonal; false when they are
fn orthogonalize(left: &mut Mat, right: &mut Mat, p: usize, q: usize) -> bool {
    let (a, b, c) = {
        let (x, y) = (left.row(p), left.row(q));
        (dot(x, x), dot(y, y), dot(x, y))
    };
    if c.abs() <= 1e-15 * (a * b).sqrt() || c == 0.0 {
        return false;
    }
    let zeta = (b - a) / (2.0 * c);
    let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let t = if zeta == 0.0 { 1.0 } else { t };
    let cos = 1.0 / (1.0 + t * t).sqrt();
    let sin = cos * t;
    for m in [left, right] {
        for k in 0..m.cols() {
            let (x, y) = (m[(p, k)], m[(q, k)]);
            m[(p, k)] = cos * x - sin * y;
            m[(q, k)] = sin * x + cos * y;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_of_minimum_norm_of_a_matrix_of_rank_two() {
        // third column = first + second; b is in the range
        let a = Mat::from_rows(&[[1.0, 0.0, 1.0], [0.0, 2.0, 2.0], [1.0, 1.0, 2.0], [3.0, -1.0, 2.0]]);
        let svd = Svd::new(&a);
        let mut b = vec![0.0; 4];
        a.mul_vec(&[1.0, 2.0, 3.0], &mut b);
        let x = svd.solve(&b, 1e-12);
        let null = svd.null(1e-12);
        assert_eq!(null.len(), 1);
        let mut back = vec![0.0; 4];
        a.mul_vec(&x, &mut back);
        for (a, b) in back.iter().zip(&b) {
            assert!((a - b).abs() < 1e-13);
        }
        assert!(dot(&x, &null[0]).abs() < 1e-13);
    }
}
