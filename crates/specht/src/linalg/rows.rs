//! Sparse matrices whose pattern never changes: rows of directions, and symmetric matrices by their lower triangle.
//!
//! The pattern is shared ([`Arc`]) by all matrices of one model; a matrix is then one vector of values. A full pattern is allowed
//! and costs what a dense matrix costs: that is what small systems and systems written by hand use.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use super::Mat;
use super::kernel::{axpy, dot, max_abs};

/// Where a sparse matrix may differ from zero: ascending columns, row after row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    cols: usize,
    start: Vec<usize>,
    column: Vec<u32>,
    /// Whether every row is full.
    full: bool,
    /// Whether row i has the columns 0 to i.
    triangle: bool,
}

impl Pattern {
    /// From the columns of each row, in any order, repeated or not.
    pub(crate) fn new(cols: usize, rows: impl IntoIterator<Item = Vec<usize>>) -> Self {
        let (mut start, mut column) = (vec![0], Vec::new());
        for mut list in rows {
            list.sort_unstable();
            list.dedup();
            column.extend(list.into_iter().map(|k| k as u32));
            start.push(column.len());
        }
        let rows = start.len() - 1;
        let full = column.len() == cols * rows;
        let ends = |i: usize| start[i + 1] - start[i] == i + 1 && column[start[i + 1] - 1] as usize == i;
        let triangle = (0..rows).all(ends);
        Pattern { cols, start, column, full, triangle }
    }

    /// Every entry.
    pub(crate) fn full(rows: usize, cols: usize) -> Self {
        Pattern::new(cols, (0..rows).map(|_| (0..cols).collect()))
    }

    /// Every entry of a lower triangle.
    pub(crate) fn lower(n: usize) -> Self {
        Pattern::new(n, (0..n).map(|i| (0..=i).collect()))
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.column.len()
    }

    /// Columns of row `i`.
    pub(crate) fn row(&self, i: usize) -> &[u32] {
        &self.column[self.start[i]..self.start[i + 1]]
    }

    /// Where row `i` begins among the values.
    pub(crate) fn first(&self, i: usize) -> usize {
        self.start[i]
    }

    /// Place of the entry (i, j) among the values.
    pub(crate) fn find(&self, i: usize, j: usize) -> Option<usize> {
        if self.full {
            return Some(i * self.cols + j);
        }
        if self.triangle {
            return (j <= i).then(|| self.start[i] + j);
        }
        self.row(i).binary_search(&(j as u32)).ok().map(|k| self.start[i] + k)
    }
}

/// One row: columns and values.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    cols: usize,
    column: &'a [u32],
    value: &'a [f64],
    full: bool,
}

impl<'a> Row<'a> {
    /// Entries with their columns.
    pub(crate) fn iter(self) -> impl Iterator<Item = (usize, f64)> + Clone + 'a {
        self.column.iter().zip(self.value).map(|(&k, &v)| (k as usize, v))
    }

    /// The entries alone.
    pub(crate) fn values(self) -> &'a [f64] {
        self.value
    }

    /// Scalar product with a vector.
    #[inline]
    pub(crate) fn dot(self, x: &[f64]) -> f64 {
        match self.full {
            true => dot(self.value, x),
            false => self.iter().map(|(k, v)| v * x[k]).sum(),
        }
    }

    /// Σ |w_k x_k|: how large the terms of the scalar product are.
    pub(crate) fn terms(self, x: &[f64]) -> f64 {
        self.iter().map(|(k, v)| (v * x[k]).abs()).sum()
    }

    /// Σ w_k v_k d_k with another row and weights.
    pub(crate) fn product(self, other: Row<'_>, weight: &[f64]) -> f64 {
        let (mut sum, mut at) = (0.0, 0);
        for (&k, &v) in self.column.iter().zip(self.value) {
            while at < other.column.len() && other.column[at] < k {
                at += 1;
            }
            if other.column.get(at) == Some(&k) {
                sum += v * other.value[at] * weight[k as usize];
            }
        }
        sum
    }

    /// `y ← y + f w`.
    pub(crate) fn add_to(self, f: f64, y: &mut [f64]) {
        match self.full {
            true => axpy(f, self.value, y),
            false => self.iter().for_each(|(k, v)| y[k] += f * v),
        }
    }

    /// Write it into a dense vector, zeros elsewhere.
    pub(crate) fn write(self, y: &mut [f64]) {
        if self.full {
            y.copy_from_slice(self.value);
            return;
        }
        y.fill(0.0);
        self.iter().for_each(|(k, v)| y[k] = v);
    }

    /// Write it into `y`, made as long as the row.
    pub(crate) fn store(self, y: &mut Vec<f64>) {
        y.resize(self.cols, 0.0);
        self.write(y);
    }

    /// The row as a dense vector.
    pub(crate) fn to_vec(self) -> Vec<f64> {
        let mut y = Vec::new();
        self.store(&mut y);
        y
    }

    /// Sum of squares.
    pub(crate) fn square(self) -> f64 {
        dot(self.value, self.value)
    }

    /// Largest absolute entry.
    pub(crate) fn max_abs(self) -> f64 {
        max_abs(self.value)
    }
}

/// A sparse matrix with a constant pattern. Entries outside the pattern read as zero and cannot be written.
#[derive(Debug, Default)]
pub struct Rows {
    pattern: Arc<Pattern>,
    value: Vec<f64>,
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        Rows { pattern: self.pattern.clone(), value: self.value.clone() }
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.pattern.clone_from(&source.pattern);
        self.value.clone_from(&source.value);
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.pattern, &other.pattern) || self.pattern == other.pattern)
            && self.value == other.value
    }
}

static ZERO: f64 = 0.0;

impl Rows {
    /// Zeros on a pattern.
    pub(crate) fn on(pattern: Arc<Pattern>) -> Self {
        Rows { value: vec![0.0; pattern.len()], pattern }
    }

    /// Zeros, every entry writable.
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        Rows::on(Arc::new(Pattern::full(rows, cols)))
    }

    /// From dense rows of equal length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Self {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let mut m = Rows::zeros(rows.len(), cols);
        for (to, row) in m.value.chunks_mut(cols.max(1)).zip(rows) {
            to.copy_from_slice(row.as_ref());
        }
        m
    }

    /// The pattern.
    pub(crate) fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.pattern.cols
    }

    /// Row `i`.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> Row<'_> {
        let (a, b) = (self.pattern.start[i], self.pattern.start[i + 1]);
        let Pattern { cols, ref column, full, .. } = *self.pattern;
        Row { cols, column: &column[a..b], value: &self.value[a..b], full }
    }

    /// Values of row `i`, in the order of its columns.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let (a, b) = (self.pattern.start[i], self.pattern.start[i + 1]);
        &mut self.value[a..b]
    }

    /// All values of the pattern, row after row.
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// All values of the pattern, writable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.value
    }

    /// `y += Aᵀ x`.
    pub fn add_mul_transpose(&self, x: &[f64], y: &mut [f64]) {
        for (i, &xi) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            self.row(i).add_to(xi, y);
        }
    }
}

impl Index<(usize, usize)> for Rows {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        self.pattern.find(i, j).map_or(&ZERO, |k| &self.value[k])
    }
}

impl IndexMut<(usize, usize)> for Rows {
    /// As with a slice, an entry outside the pattern cannot be written.
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        let place = self.pattern.find(i, j).unwrap_or(usize::MAX);
        &mut self.value[place]
    }
}

/// A symmetric matrix by its lower triangle, with a constant pattern that contains the diagonal.
#[derive(Debug, Default)]
pub struct Symmetric {
    lower: Rows,
}

impl Clone for Symmetric {
    fn clone(&self) -> Self {
        Symmetric { lower: self.lower.clone() }
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.lower.clone_from(&source.lower);
    }
}

impl PartialEq for Symmetric {
    fn eq(&self, other: &Self) -> bool {
        self.lower == other.lower
    }
}

impl Symmetric {
    /// Zeros on a pattern: columns up to the diagonal, the diagonal always there.
    pub(crate) fn on(pattern: Arc<Pattern>) -> Self {
        Symmetric { lower: Rows::on(pattern) }
    }

    /// Zeros, every entry writable.
    pub(crate) fn zeros(n: usize) -> Self {
        Symmetric::on(Arc::new(Pattern::lower(n)))
    }

    /// The lower triangle of a dense matrix.
    pub fn from_dense(a: &Mat) -> Self {
        let mut m = Symmetric::zeros(a.rows());
        for i in 0..a.rows() {
            let first = m.lower.pattern.first(i);
            m.lower.value[first..=first + i].copy_from_slice(&a.row(i)[..=i]);
        }
        m
    }

    /// The whole matrix, dense.
    pub(crate) fn to_dense(&self) -> Mat {
        Mat::from_fn(self.size(), self.size(), |i, j| self[(i, j)])
    }

    /// Number of rows and columns.
    pub(crate) fn size(&self) -> usize {
        self.lower.rows()
    }

    /// The pattern of the lower triangle.
    pub(crate) fn pattern(&self) -> &Arc<Pattern> {
        self.lower.pattern()
    }

    /// Row `i` up to the diagonal.
    pub(crate) fn lower_row(&self, i: usize) -> Row<'_> {
        let row = self.lower.row(i);
        Row { cols: i + 1, full: row.value.len() == i + 1, ..row }
    }

    /// Values of the lower triangle, row after row.
    pub fn values(&self) -> &[f64] {
        &self.lower.value
    }

    /// Values of the lower triangle, writable.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.lower.value
    }

    /// Diagonal entry: the last of its row.
    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        self.lower.value[self.lower.pattern.start[i + 1] - 1]
    }

    /// Write a diagonal entry.
    pub(crate) fn set_diagonal(&mut self, i: usize, value: f64) {
        let place = self.lower.pattern.start[i + 1] - 1;
        self.lower.value[place] = value;
    }

    /// `y = A x`.
    pub(crate) fn mul_vec(&self, x: &[f64], y: &mut [f64]) {
        for i in 0..self.size() {
            let mut sum = 0.0;
            for (k, v) in self.lower.row(i).iter() {
                sum += v * x[k];
                if k < i {
                    y[k] += v * x[i];
                }
            }
            y[i] = sum;
        }
    }

    /// xᵀ A x.
    pub(crate) fn form(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.size() {
            for (k, v) in self.lower.row(i).iter() {
                sum += if k < i { 2.0 * v * x[k] * x[i] } else { v * x[i] * x[i] };
            }
        }
        sum
    }

    /// y_i = Σ_k |a_ik x_k|: how large the terms of the product are.
    pub(crate) fn terms(&self, x: &[f64], y: &mut [f64]) {
        for i in 0..self.size() {
            let mut sum = 0.0;
            for (k, v) in self.lower.row(i).iter() {
                sum += (v * x[k]).abs();
                if k < i {
                    y[k] += (v * x[i]).abs();
                }
            }
            y[i] = sum;
        }
    }
}

impl Index<(usize, usize)> for Symmetric {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.lower[(i.max(j), i.min(j))]
    }
}

impl IndexMut<(usize, usize)> for Symmetric {
    /// Writes both (i, j) and (j, i): they are one entry.
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.lower[(i.max(j), i.min(j))]
    }
}
