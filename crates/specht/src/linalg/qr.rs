//! QR factorisation with column pivoting: rank, null space, least squares of least norm
//!
//! `A P = Q R` by Householder reflections, at each step the column of largest remaining norm first. The rank is the
//! number of diagonal entries of `R` above `tolerance · |R₁₁|`; the gap is sharp except for contrived matrices.
//! [GolubVanLoan2013, 5.4]

use super::{Mat, axpy, dot};

/// Column-pivoted QR factorisation of an m by n matrix, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub struct PivotedQr {
    /// Row j holds column j of the factored matrix: R above, Householder vector (with its first entry) from j on.
    t: Mat,
    diagonal: Vec<f64>,
    /// 2 / vᵀv of each reflection.
    beta: Vec<f64>,
    perm: Vec<usize>,
    rank: usize,
    rows: usize,
}

impl PivotedQr {
    /// Factor `a`; returns the rank for the relative tolerance (1e-11 is a good choice for well scaled data).
    pub fn factor(&mut self, a: &Mat, tolerance: f64) -> usize {
        let (m, n) = (a.rows(), a.cols());
        self.rows = m;
        self.t.resize(n, m);
        for i in 0..m {
            for j in 0..n {
                self.t[(j, i)] = a[(i, j)];
            }
        }
        self.perm.clear();
        self.perm.extend(0..n);
        self.diagonal.clear();
        self.beta.clear();
        self.rank = 0;
        for k in 0..m.min(n) {
            // largest remaining column
            let norm = |t: &Mat, j: usize| dot(&t.row(j)[k..], &t.row(j)[k..]);
            let mut p = k;
            let mut largest = norm(&self.t, k);
            for j in k + 1..n {
                let s = norm(&self.t, j);
                if s > largest {
                    (p, largest) = (j, s);
                }
            }
            if p != k {
                self.perm.swap(p, k);
                let (top, bottom) = self.t.as_mut_slice().split_at_mut(p * m);
                top[k * m..(k + 1) * m].swap_with_slice(&mut bottom[..m]);
            }
            let size = largest.sqrt();
            let first = self.diagonal.first().map_or(size, |d: &f64| d.abs());
            if size.is_nan() || size <= tolerance * first || size == 0.0 {
                break;
            }
            // reflection that maps the column to −sign(x₀) |x| e₀
            let x0 = self.t[(k, k)];
            let r = if x0 > 0.0 { -size } else { size };
            self.t[(k, k)] = x0 - r;
            let beta = 1.0 / (r * (r - x0));
            self.diagonal.push(r);
            self.beta.push(beta);
            for j in k + 1..n {
                let (v, x) = self.t.row_pair(k, j);
                let s = beta * dot(&v[k..], &x[k..]);
                axpy(-s, &v[k..], &mut x[k..]);
            }
            self.rank += 1;
        }
        self.rank
    }

    /// The rank found.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The columns in the order in which they were taken; the first `rank` of them are independent.
    pub fn order(&self) -> &[usize] {
        &self.perm
    }

    /// `b ← Qᵀ b`.
    pub fn apply_transpose(&self, b: &mut [f64]) {
        for k in 0..self.rank {
            self.reflect(k, b);
        }
    }

    /// `b ← Q b`.
    pub fn apply(&self, b: &mut [f64]) {
        for k in (0..self.rank).rev() {
            self.reflect(k, b);
        }
    }

    fn reflect(&self, k: usize, b: &mut [f64]) {
        let v = &self.t.row(k)[k..];
        let s = self.beta[k] * dot(v, &b[k..]);
        axpy(-s, v, &mut b[k..]);
    }

    /// Entry of R, `i < rank`.
    fn r(&self, i: usize, j: usize) -> f64 {
        if i == j { self.diagonal[i] } else { self.t[(j, i)] }
    }

    /// Orthonormal basis of the complement of the column space, as columns: the null space of `Aᵀ`.
    pub fn left_null_space(&self) -> Mat {
        let (m, r) = (self.rows, self.rank);
        let mut q = Mat::zeros(m, m - r);
        let mut e = vec![0.0; m];
        for k in r..m {
            e.fill(0.0);
            e[k] = 1.0;
            self.apply(&mut e);
            for i in 0..m {
                q[(i, k - r)] = e[i];
            }
        }
        q
    }

    /// The `x` of least norm among those that minimise `|A x − b|`.
    pub fn least_squares(&self, b: &[f64]) -> Vec<f64> {
        let (n, r) = (self.perm.len(), self.rank);
        let mut c = b.to_vec();
        self.apply_transpose(&mut c);
        c.truncate(r);

        // full column rank: back substitution; else least norm of [R₁ R₂] y = c by a second factorisation
        let mut y = vec![0.0; n];
        if r == n {
            for i in (0..r).rev() {
                let s: f64 = (i + 1..r).map(|j| self.r(i, j) * y[j]).sum();
                y[i] = (c[i] - s) / self.diagonal[i];
            }
        } else if r > 0 {
            // Tᵀ of [R₁ R₂] = Tᵀ Zᵀ; y = Z T⁻ᵀ c
            let transposed = Mat::from_fn(n, r, |j, i| if j >= i { self.r(i, j) } else { 0.0 });
            let mut qr = PivotedQr::default();
            if qr.factor(&transposed, 0.0) == r {
                for i in 0..r {
                    let s: f64 = (0..i).map(|k| qr.r(k, i) * y[k]).sum();
                    y[i] = (c[qr.perm[i]] - s) / qr.diagonal[i];
                }
                qr.apply(&mut y);
            }
        }
        let mut x = vec![0.0; n];
        for (k, &j) in self.perm.iter().enumerate() {
            x[j] = y[k];
        }
        x
    }
}

/// Orthonormal basis of `{x : A x = 0}` as columns, with the relative rank tolerance of [`PivotedQr::factor`].
pub fn null_space(a: &Mat, tolerance: f64) -> Mat {
    let mut qr = PivotedQr::default();
    qr.factor(&a.transpose(), tolerance);
    qr.left_null_space()
}
