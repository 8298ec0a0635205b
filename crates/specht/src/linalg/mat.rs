//! The dense row-major matrix.

use super::kernel::{axpy, dot, max_abs};
use std::ops::{Index, IndexMut};

/// A dense row-major matrix.
#[derive(Debug, Default, PartialEq)]
pub struct Mat {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

impl Clone for Mat {
    fn clone(&self) -> Self {
        Mat { rows: self.rows, cols: self.cols, data: self.data.clone() }
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.rows = source.rows;
        self.cols = source.cols;
        self.data.clone_from(&source.data);
    }
}

impl Mat {
    /// A matrix of zeros.
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Mat { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The identity.
    pub(crate) fn identity(n: usize) -> Self {
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
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Rows `i` and `j` (different) at once, the first readable, the second writable.
    pub(crate) fn row_pair(&mut self, i: usize, j: usize) -> (&[f64], &mut [f64]) {
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
    pub(crate) fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row after row, writable.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Change the shape and set every entry to zero; allocates only to grow.
    pub(crate) fn reshape(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.clear();
        self.data.resize(rows * cols, 0.0);
    }

    /// Change the shape and leave the entries unspecified (some old, some zero); allocates only to grow.
    pub(crate) fn resize(&mut self, rows: usize, cols: usize) {
        self.rows = rows;
        self.cols = cols;
        self.data.resize(rows * cols, 0.0);
    }

    /// Set every entry.
    pub(crate) fn fill(&mut self, value: f64) {
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
    pub(crate) fn max_abs(&self) -> f64 {
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
