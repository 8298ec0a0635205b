//! Dense linear algebra for small and medium systems, without allocation in the kernels.
//!
//! Matrices are row-major. Factorisations work in place on a [`Mat`] and are reused by the caller, so that a time step
//! allocates nothing. Singularity is data: a factorisation returns the smallest pivot relative to the largest.

use std::ops::{Index, IndexMut};

/// A dense row-major matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Mat {
    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Mat { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// Entry by entry from a function of row and column.
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut m = Self::zeros(rows, cols);
        for i in 0..rows {
            for j in 0..cols {
                m[(i, j)] = f(i, j);
            }
        }
        m
    }

    /// From rows of equal length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Self {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let mut m = Self::zeros(rows.len(), cols);
        for (i, r) in rows.iter().enumerate() {
            m.row_mut(i).copy_from_slice(r.as_ref());
        }
        m
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row `i` as a slice.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i` as a mutable slice.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Rows `i` and `j` (different) at once, the first readable, the second writable.
    pub fn row_pair(&mut self, i: usize, j: usize) -> (&[f64], &mut [f64]) {
        let c = self.cols;
        if i < j {
            let (a, b) = self.data.split_at_mut(j * c);
            (&a[i * c..(i + 1) * c], &mut b[..c])
        } else {
            let (a, b) = self.data.split_at_mut(i * c);
            (&b[..c], &mut a[j * c..(j + 1) * c])
        }
    }

    /// All entries, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row after row, writable.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Change the shape and set every entry to zero; allocates only to grow.
    pub fn reshape(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Set every entry.
    pub fn fill(&mut self, value: f64) {
        self.data.fill(value);
    }

    /// `y = A x`.
    pub fn mul_vec(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            *y = dot(self.row(i), x);
        }
    }

    /// `y += Aᵀ x`.
    pub fn add_mul_transpose(&self, x: &[f64], y: &mut [f64]) {
        for (i, &xi) in x.iter().enumerate() {
            if xi != 0.0 {
                axpy(xi, self.row(i), y);
            }
        }
    }

    /// The product `A B`.
    pub fn mul(&self, b: &Mat) -> Mat {
        let mut c = Mat::zeros(self.rows, b.cols);
        for i in 0..self.rows {
            for k in 0..self.cols {
                let a = self[(i, k)];
                if a != 0.0 {
                    axpy(a, b.row(k), c.row_mut(i));
                }
            }
        }
        c
    }

    /// The transpose.
    pub fn transpose(&self) -> Mat {
        Mat::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// Largest absolute entry.
    pub fn max_abs(&self) -> f64 {
        max_abs(&self.data)
    }
}

impl Index<(usize, usize)> for Mat {
    type Output = f64;
    #[inline]
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        debug_assert!(i < self.rows && j < self.cols);
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Mat {
    #[inline]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        debug_assert!(i < self.rows && j < self.cols);
        &mut self.data[i * self.cols + j]
    }
}

/// Scalar product.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `y += a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Largest absolute entry; 0 for an empty slice.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| v.abs().max(m))
}

/// LU factorisation with partial pivoting and row equilibration, `P S A = L U`, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    a: Mat,
    perm: Vec<usize>,
    scale: Vec<f64>,
    work: Vec<f64>,
    parity: f64,
    rcond: f64,
}

impl Lu {
    /// Factor `a`. Returns the smallest pivot divided by the largest (of the equilibrated matrix): 0 means singular to
    /// working precision, below about 1e-12 do not trust the solution.
    pub fn factor(&mut self, a: &Mat) -> f64 {
        let n = a.rows();
        assert_eq!(n, a.cols());
        self.a.clone_from(a);
        self.perm.clear();
        self.perm.extend(0..n);
        self.work.resize(n, 0.0);
        self.scale.clear();
        self.parity = 1.0;
        for i in 0..n {
            let m = max_abs(self.a.row(i));
            let s = if m > 0.0 && m.is_finite() { 1.0 / m } else { 1.0 };
            self.scale.push(s);
            self.a.row_mut(i).iter_mut().for_each(|x| *x *= s);
        }
        let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
        for k in 0..n {
            let mut p = k;
            for i in k + 1..n {
                if self.a[(i, k)].abs() > self.a[(p, k)].abs() {
                    p = i;
                }
            }
            if p != k {
                let c = n;
                let (top, bottom) = self.a.data.split_at_mut(p * c);
                top[k * c..(k + 1) * c].swap_with_slice(&mut bottom[..c]);
                self.perm.swap(k, p);
                self.parity = -self.parity;
            }
            let pivot = self.a[(k, k)];
            smallest = smallest.min(pivot.abs());
            largest = largest.max(pivot.abs());
            if pivot == 0.0 {
                continue;
            }
            let inv = 1.0 / pivot;
            for i in k + 1..n {
                let f = self.a[(i, k)] * inv;
                if f != 0.0 {
                    self.a[(i, k)] = f;
                    let (rk, ri) = self.a.row_pair(k, i);
                    axpy(-f, &rk[k + 1..], &mut ri[k + 1..]);
                }
            }
        }
        self.rcond = if n == 0 {
            1.0
        } else if largest > 0.0 && smallest.is_finite() {
            smallest / largest
        } else {
            0.0
        };
        self.rcond
    }

    /// Solve `A x = b` in place. A zero pivot yields infinities or NaN; check the value returned by [`Lu::factor`].
    pub fn solve(&mut self, b: &mut [f64]) {
        let n = self.perm.len();
        for i in 0..n {
            self.work[i] = b[self.perm[i]] * self.scale[self.perm[i]];
        }
        for i in 0..n {
            let s = dot(&self.a.row(i)[..i], &self.work[..i]);
            self.work[i] -= s;
        }
        for i in (0..n).rev() {
            let s = dot(&self.a.row(i)[i + 1..], &self.work[i + 1..n]);
            self.work[i] = (self.work[i] - s) / self.a[(i, i)];
        }
        b.copy_from_slice(&self.work[..n]);
    }

    /// Sign of the determinant; 0 when a pivot vanished.
    pub fn sign_det(&self) -> f64 {
        (0..self.perm.len()).fold(self.parity, |s, i| {
            let p = self.a[(i, i)];
            if p == 0.0 { 0.0 } else { s * p.signum() }
        })
    }
}

/// Cholesky factorisation `A = L Lᵀ` of a symmetric positive definite matrix, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    l: Mat,
}

impl Cholesky {
    /// Factor the lower triangle of `a`. `Err(k)` names the first column whose pivot is not positive relative to the
    /// diagonal entry (tolerance 1e-13).
    pub fn factor(&mut self, a: &Mat) -> Result<(), usize> {
        let n = a.rows();
        self.l.clone_from(a);
        for j in 0..n {
            let d = self.l[(j, j)] - dot(&self.l.row(j)[..j], &self.l.row(j)[..j]);
            if !(d > 1e-13 * a[(j, j)].abs()) {
                return Err(j);
            }
            let d = d.sqrt();
            self.l[(j, j)] = d;
            for i in j + 1..n {
                let s = {
                    let (rj, ri) = self.l.row_pair(j, i);
                    dot(&ri[..j], &rj[..j])
                };
                self.l[(i, j)] = (self.l[(i, j)] - s) / d;
            }
        }
        Ok(())
    }

    /// `b ← L⁻¹ b`.
    pub fn forward(&self, b: &mut [f64]) {
        for i in 0..b.len() {
            let s = dot(&self.l.row(i)[..i], &b[..i]);
            b[i] = (b[i] - s) / self.l[(i, i)];
        }
    }

    /// `b ← L⁻ᵀ b`.
    pub fn backward(&self, b: &mut [f64]) {
        for i in (0..b.len()).rev() {
            b[i] /= self.l[(i, i)];
            let x = b[i];
            axpy(-x, &self.l.row(i)[..i], &mut b[..i]);
        }
    }

    /// Solve `A x = b` in place.
    pub fn solve(&self, b: &mut [f64]) {
        self.forward(b);
        self.backward(b);
    }
}
