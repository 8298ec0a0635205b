//! Cholesky factorisation, left-looking in panels of four columns.
//!
//! `L_ij = (A_ij − Σ_{k<j} L_ik L_jk) / L_jj`. The sums over all columns before the panel are scalar products of rows,
//! taken two rows by four at a time, so that each loaded number is used several times.

use super::kernel::dot_2x4;
use super::{Mat, Symmetric, axpy, dot};

/// Cholesky factorisation `A = L Lᵀ` of a symmetric positive definite matrix, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    l: Mat,
    inverse_diagonal: Vec<f64>,
    smallest: f64,
}

/// A pivot must exceed this fraction of its diagonal entry.
const PIVOT: f64 = 1e-13;

impl Cholesky {
    /// Factor the lower triangle of `a`. `Err(k)` names the first column whose pivot is not positive relative to the
    /// diagonal entry (tolerance 1e-13).
    pub fn factor(&mut self, a: &Mat) -> Result<(), usize> {
        self.l.clone_from(a);
        self.factor_in_place()
    }

    /// Factor a sparse symmetric matrix as if it were dense.
    pub(crate) fn factor_symmetric(&mut self, a: &Symmetric) -> Result<(), usize> {
        let n = a.size();
        self.l.resize(n, n);
        for i in 0..n {
            a.lower_row(i).write(&mut self.l.row_mut(i)[..=i]);
        }
        self.factor_in_place()
    }

    /// Factor the matrix `A_ss` of the rows and columns `s` of `a` (its lower triangle when `s` increases).
    pub(crate) fn factor_principal(&mut self, a: &Mat, s: &[usize]) -> Result<(), usize> {
        let m = s.len();
        self.l.resize(m, m);
        for (i, &si) in s.iter().enumerate() {
            let row = a.row(si);
            for (x, &sj) in self.l.row_mut(i).iter_mut().zip(&s[..=i]) {
                *x = row[sj];
            }
        }
        self.factor_in_place()
    }

    /// The smallest pivot of the last factorisation, relative to its diagonal entry.
    pub(crate) fn smallest_pivot(&self) -> f64 {
        self.smallest
    }

    fn factor_in_place(&mut self) -> Result<(), usize> {
        let n = self.l.rows();
        self.inverse_diagonal.clear();
        self.inverse_diagonal.resize(n, 0.0);
        self.smallest = 1.0;
        let mut j0 = 0;
        while j0 < n {
            let nb = (n - j0).min(4);
            self.factor_panel_head(j0, nb)?;
            if nb == 4 {
                self.update_panel_rows(j0);
            }
            j0 += nb;
        }
        Ok(())
    }

    /// Rows `j0..j0+nb` of the panel, one entry after the other.
    fn factor_panel_head(&mut self, j0: usize, nb: usize) -> Result<(), usize> {
        for i in j0..j0 + nb {
            let a_ii = self.l[(i, i)];
            for j in j0..i {
                let s = {
                    let (rj, ri) = self.l.row_pair(j, i);
                    dot(&ri[..j], &rj[..j])
                };
                self.l[(i, j)] = (self.l[(i, j)] - s) * self.inverse_diagonal[j];
            }
            let d = a_ii - dot(&self.l.row(i)[..i], &self.l.row(i)[..i]);
            if d.is_nan() || d <= PIVOT * a_ii.abs() {
                return Err(i);
            }
            self.smallest = self.smallest.min(d / a_ii);
            let d = d.sqrt();
            self.l[(i, i)] = d;
            self.inverse_diagonal[i] = 1.0 / d;
        }
        Ok(())
    }

    /// Columns `j0..j0+4` of all rows below the panel head.
    fn update_panel_rows(&mut self, j0: usize) {
        let n = self.l.rows();
        let j1 = j0 + 4;
        let (head, below) = self.l.as_mut_slice().split_at_mut(j1 * n);
        let y: [&[f64]; 4] = std::array::from_fn(|q| &head[(j0 + q) * n..(j0 + q) * n + j1]);
        let inv: [f64; 4] = std::array::from_fn(|q| self.inverse_diagonal[j0 + q]);
        let finish = |row: &mut [f64], s: [f64; 4]| {
            let c0 = (row[j0] - s[0]) * inv[0];
            let c1 = (row[j0 + 1] - s[1] - c0 * y[1][j0]) * inv[1];
            let c2 = (row[j0 + 2] - s[2] - c0 * y[2][j0] - c1 * y[2][j0 + 1]) * inv[2];
            let c3 = (row[j0 + 3] - s[3] - c0 * y[3][j0] - c1 * y[3][j0 + 1] - c2 * y[3][j0 + 2]) * inv[3];
            row[j0..j1].copy_from_slice(&[c0, c1, c2, c3]);
        };
        for pair in below.chunks_mut(2 * n) {
            if pair.len() == 2 * n {
                let (x0, x1) = pair.split_at_mut(n);
                let s = dot_2x4([x0, x1], y, j0);
                finish(x0, s[0]);
                finish(x1, s[1]);
            } else {
                let s = std::array::from_fn(|q| dot(&pair[..j0], &y[q][..j0]));
                finish(pair, s);
            }
        }
    }

    /// `b ← L⁻¹ b`.
    #[inline]
    pub(crate) fn forward(&self, b: &mut [f64]) {
        match (b, &self.inverse_diagonal[..]) {
            ([b], &[d, ..]) => *b *= d,
            (b, _) => self.forward_all(b),
        }
    }

    fn forward_all(&self, b: &mut [f64]) {
        for i in 0..b.len() {
            let s = dot(&self.l.row(i)[..i], &b[..i]);
            b[i] = (b[i] - s) * self.inverse_diagonal[i];
        }
    }

    /// `b ← L⁻ᵀ b`.
    #[inline]
    pub(crate) fn backward(&self, b: &mut [f64]) {
        match (b, &self.inverse_diagonal[..]) {
            ([b], &[d, ..]) => *b *= d,
            (b, _) => self.backward_all(b),
        }
    }

    fn backward_all(&self, b: &mut [f64]) {
        for i in (0..b.len()).rev() {
            b[i] *= self.inverse_diagonal[i];
            let x = b[i];
            axpy(-x, &self.l.row(i)[..i], &mut b[..i]);
        }
    }

    /// Solve `A x = b` in place.
    #[inline]
    pub fn solve(&self, b: &mut [f64]) {
        match (b, &self.inverse_diagonal[..]) {
            ([b], &[d, ..]) => *b = *b * d * d,
            (b, _) => {
                self.forward_all(b);
                self.backward_all(b);
            }
        }
    }

    /// The factor; only its lower triangle has meaning.
    pub(crate) fn factor_matrix(&self) -> &Mat {
        &self.l
    }
}

/// Inverse of a small symmetric positive definite matrix by Cholesky, row-major and in place; `Err(row)` when a pivot is not positive.
pub(crate) fn spd_inverse(m: &[f64], inv: &mut [f64], n: usize) -> Result<(), usize> {
    // inv holds L first
    inv.copy_from_slice(m);
    if (0..n).all(|i| (0..n).all(|j| i == j || m[i * n + j] == 0.0)) {
        // diagonal: the operations below, without those on zeros
        for j in 0..n {
            let p = m[j * n + j];
            if !(p > 1e-14 * p.abs()) {
                return Err(j);
            }
            let l = 1.0 / (p * (1.0 / p.sqrt()));
            inv[j * n + j] = l * l;
        }
        return Ok(());
    }
    for j in 0..n {
        for k in 0..j {
            let l = inv[j * n + k];
            for i in j..n {
                inv[i * n + j] -= inv[i * n + k] * l;
            }
        }
        let p = inv[j * n + j];
        if !(p > 1e-14 * m[j * n + j].abs()) {
            return Err(j);
        }
        let s = 1.0 / p.sqrt();
        for i in j..n {
            inv[i * n + j] *= s;
        }
    }
    // L⁻¹ in the lower triangle
    for j in 0..n {
        inv[j * n + j] = 1.0 / inv[j * n + j];
        for i in j + 1..n {
            let mut s = 0.0;
            for k in j..i {
                s -= inv[i * n + k] * inv[k * n + j];
            }
            inv[i * n + j] = s / inv[i * n + i];
        }
    }
    // L⁻ᵀ L⁻¹: entry (i, j), i ≥ j, needs rows ≥ i of columns i and j
    for i in 0..n {
        for j in 0..=i {
            let mut s = 0.0;
            for k in i..n {
                s += inv[k * n + i] * inv[k * n + j];
            }
            inv[j * n + i] = s;
        }
    }
    for i in 0..n {
        for j in 0..i {
            inv[i * n + j] = inv[j * n + i];
        }
    }
    Ok(())
}
