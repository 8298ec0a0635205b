//! Equations solved, directions that nothing feels removed
//!
//! ```text
//! A x = b   ⇒   x = x₀ + N w₁                    N orthonormal, A N = 0
//! G N = U Σ Vᵀ  ⇒   w₁ = V Σ⁻¹ w + V₀ w₀          G x = G x₀ + U w          w₀ is felt by no cone
//! ```
//!
//! Ranks by singular values relative to the largest ([`RANK`]). An inconsistent equation is its own certificate: r = b − A x₀ has Aᵀr = 0, bᵀr > 0.

use crate::linalg::{Mat, Svd, axpy, dot};

/// Singular values below this part of the largest count as zero.
const RANK: f64 = 1e-11;
/// Equations that are missed by less, relative to their right sides, hold.
const MISSED: f64 = 1e-10;
/// A value that grows by less along a direction that nothing bounds does not grow.
const FLAT: f64 = 1e-10;

/// What comes out.
pub(super) enum Reduction {
    /// A problem in cones alone.
    Small(Box<Small>),
    /// The equations contradict each other: their certificate.
    Inconsistent(Vec<f64>),
}

/// max c·w, h − G w ∈ K, columns of G orthonormal.
pub(super) struct Small {
    pub g: Mat,
    pub h: Vec<f64>,
    pub c: Vec<f64>,
    /// A direction that no cone feels and along which the value grows by one.
    pub ray: Option<Vec<f64>>,
    /// x₀.
    first: Vec<f64>,
    /// x of each w, by rows.
    columns: Vec<Vec<f64>>,
    equations: Svd,
    count: usize,
}

/// Reduce a problem.
pub(super) fn reduce(a: &Mat, b: &[f64], g: &Mat, h: &[f64], c: &[f64]) -> Reduction {
    let width = c.len();
    let svd = Svd::new(a);
    let first = if a.rows() > 0 { svd.solve(b, RANK) } else { vec![0.0; width] };
    let mut missed = b.to_vec();
    for (i, m) in missed.iter_mut().enumerate() {
        *m -= dot(a.row(i), &first);
    }
    let size = |v: &[f64]| dot(v, v).sqrt();
    if size(&missed) > MISSED * size(b) {
        // rounding of a small remainder is projected out: Aᵀr = 0
        let back = Svd::new(&a.transpose()).null(RANK);
        let mut y = vec![0.0; b.len()];
        back.iter().for_each(|n| axpy(-dot(n, b), n, &mut y));
        let total = -dot(b, &y);
        if total > 0.0 {
            y.iter_mut().for_each(|v| *v /= total);
            return Reduction::Inconsistent(y);
        }
    }
    let null = if a.rows() > 0 { svd.null(RANK) } else { unit_vectors(width) };
    let felt = Mat::from_fn(g.rows(), null.len(), |i, j| dot(g.row(i), &null[j]));
    let parts = Svd::new(&felt);
    let largest = parts.values().fold(0.0_f64, |m, v| m.max(v.0));
    let (mut columns, mut idle) = (Vec::new(), Vec::new());
    for (sigma, right) in parts.values() {
        let mut x = vec![0.0; width];
        null.iter().zip(right).for_each(|(n, r)| axpy(*r, n, &mut x));
        if sigma > RANK * largest && sigma > RANK {
            x.iter_mut().for_each(|v| *v /= sigma);
            columns.push(x);
        } else {
            idle.push(x);
        }
    }
    let mut ray = vec![0.0; width];
    idle.iter().for_each(|x| axpy(dot(c, x), x, &mut ray));
    let grows = dot(c, &ray);
    let ray = (grows.sqrt() > FLAT * size(c)).then(|| ray.iter().map(|v| v / grows).collect());
    let h = (0..g.rows()).map(|i| h[i] - dot(g.row(i), &first)).collect();
    let small = Small {
        g: Mat::from_fn(g.rows(), columns.len(), |i, j| dot(g.row(i), &columns[j])),
        h,
        c: match ray {
            Some(_) => vec![0.0; columns.len()],
            None => columns.iter().map(|x| dot(c, x)).collect(),
        },
        ray,
        first,
        columns,
        equations: Svd::new(&a.transpose()),
        count: a.rows(),
    };
    Reduction::Small(Box::new(small))
}

fn unit_vectors(n: usize) -> Vec<Vec<f64>> {
    (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect()
}

impl Small {
    /// x of w.
    pub(super) fn back(&self, w: &[f64]) -> Vec<f64> {
        let mut x = self.first.clone();
        self.columns.iter().zip(w).for_each(|(c, w)| axpy(*w, c, &mut x));
        x
    }

    /// The direction of w.
    pub(super) fn direction(&self, w: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.first.len()];
        self.columns.iter().zip(w).for_each(|(c, w)| axpy(*w, c, &mut x));
        x
    }

    /// y with Aᵀy = right side, the shortest.
    pub(super) fn multipliers(&self, side: &[f64]) -> Vec<f64> {
        if self.count == 0 { Vec::new() } else { self.equations.solve(side, RANK) }
    }
}
