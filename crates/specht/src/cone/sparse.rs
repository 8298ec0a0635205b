//! Matrices of a cone problem: dense, or sparse by rows.

use crate::linalg::Mat;

/// A sparse matrix in compressed rows; columns of a row ascend, duplicates are summed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    ptr: Vec<usize>,
    col: Vec<usize>,
    val: Vec<f64>,
}

impl Sparse {
    /// From triplets `(i, j, v)`; duplicates are summed. `Err(k)` names the first triplet outside the matrix.
    pub fn from_triplets(rows: usize, cols: usize, t: &[(usize, usize, f64)]) -> Result<Self, usize> {
        if let Some(k) = t.iter().position(|&(i, j, _)| i >= rows || j >= cols) {
            return Err(k);
        }
        let mut order: Vec<usize> = (0..t.len()).collect();
        order.sort_by_key(|&k| (t[k].0, t[k].1, k));
        let mut s = Sparse { rows, cols, ptr: vec![0; rows + 1], col: Vec::new(), val: Vec::new() };
        let mut last = (usize::MAX, usize::MAX);
        for k in order {
            let (i, j, v) = t[k];
            if (i, j) == last {
                *s.val.last_mut().unwrap_or(&mut 0.0) += v;
            } else {
                s.col.push(j);
                s.val.push(v);
                s.ptr[i + 1] += 1;
                last = (i, j);
            }
        }
        for i in 0..rows {
            s.ptr[i + 1] += s.ptr[i];
        }
        Ok(s)
    }

    /// Empty, with `cols` columns and no row; the storage is kept. Fill it with [`Sparse::push`] and [`Sparse::end_row`].
    pub(crate) fn reset(&mut self, cols: usize) {
        self.rows = 0;
        self.cols = cols;
        self.ptr.clear();
        self.ptr.push(0);
        self.col.clear();
        self.val.clear();
    }

    /// Next entry of the row that is being filled; columns must ascend and be smaller than the number of columns.
    pub(crate) fn push(&mut self, col: usize, value: f64) {
        debug_assert!(
            col < self.cols && (self.col.len() == self.ptr[self.rows] || self.col.last() < Some(&col))
        );
        self.col.push(col);
        self.val.push(value);
    }

    /// The row that is being filled is complete.
    pub(crate) fn end_row(&mut self) {
        self.rows += 1;
        self.ptr.push(self.col.len());
    }

    /// A diagonal matrix.
    pub fn diagonal(d: &[f64]) -> Self {
        let n = d.len();
        Sparse { rows: n, cols: n, ptr: (0..=n).collect(), col: (0..n).collect(), val: d.to_vec() }
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Columns and values of row `i`.
    pub(crate) fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let r = self.ptr[i]..self.ptr[i + 1];
        (&self.col[r.clone()], &self.val[r])
    }

    /// Entry `(i, j)`, zero when not stored.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        let (c, v) = self.row(i);
        c.binary_search(&j).map_or(0.0, |k| v[k])
    }
}

/// A matrix given dense or sparse.
#[derive(Clone, Debug, PartialEq)]
pub enum Matrix {
    /// All entries.
    Dense(Mat),
    /// The entries that are stored.
    Sparse(Sparse),
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.rows(),
            Matrix::Sparse(s) => s.rows(),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.cols(),
            Matrix::Sparse(s) => s.cols(),
        }
    }

    /// Entry `(i, j)`.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Matrix::Dense(m) => m[(i, j)],
            Matrix::Sparse(s) => s.get(i, j),
        }
    }

    /// Calls `f(column, value)` for every entry of row `i` that is stored (dense: not zero), columns ascending. A stored
    /// zero is part of the structure, so that it stays the same when an entry passes through zero.
    pub(crate) fn for_row(&self, i: usize, mut f: impl FnMut(usize, f64)) {
        match self {
            Matrix::Dense(m) => {
                for (j, &v) in m.row(i).iter().enumerate() {
                    if v != 0.0 {
                        f(j, v);
                    }
                }
            }
            Matrix::Sparse(s) => {
                let (c, v) = s.row(i);
                for (&j, &v) in c.iter().zip(v) {
                    f(j, v);
                }
            }
        }
    }

    /// `y = A x`.
    pub fn mul_vec(&self, x: &[f64], y: &mut [f64]) {
        for (i, y) in y.iter_mut().enumerate() {
            let mut s = 0.0;
            self.for_row(i, |j, v| s += v * x[j]);
            *y = s;
        }
    }

    /// First entry that is not a finite number, as (row, column, value).
    pub(crate) fn first_not_finite(&self) -> Option<(usize, usize, f64)> {
        match self {
            Matrix::Dense(m) => {
                let k = m.as_slice().iter().position(|v| !v.is_finite())?;
                Some((k / m.cols(), k % m.cols(), m.as_slice()[k]))
            }
            Matrix::Sparse(s) => {
                let k = s.val.iter().position(|v| !v.is_finite())?;
                let i = s.ptr.partition_point(|&p| p <= k) - 1;
                Some((i, s.col[k], s.val[k]))
            }
        }
    }
}
