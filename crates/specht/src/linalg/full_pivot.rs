//! Linear systems of unknown rank, `A x = b`, by elimination with complete pivoting.
//!
//! Rows and columns are equilibrated first, so a pivot below `1e-11` means *dependent to working precision*: the
//! constraints of a hyperstatic structure (PG-5.2-MINCOORD), or a singular matrix (5.15). Of all solutions the one
//! nearest to a reference (by default zero: minimum norm) is returned, in the unscaled unknowns. The residual of the
//! dependent equations tells whether the system was consistent.

use super::{Mat, axpy, dot, max_abs};

/// Pivots of the equilibrated matrix below this count as zero.
pub(crate) const RANK_TOLERANCE: f64 = 1e-11;

/// Factorisation `P R A C Q = L U` with storage kept between uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct FullPivot {
    a: Mat,
    row_perm: Vec<usize>,
    col_perm: Vec<usize>,
    row_scale: Vec<f64>,
    col_scale: Vec<f64>,
    rank: usize,
    smallest: f64,
    work: Vec<f64>,
    /// Orthonormal rows that span the row space, when it is the smaller one; no rows otherwise.
    range: Mat,
    null: Mat,
    null_known: bool,
}

impl FullPivot {
    /// Factor a rectangular matrix; returns its rank.
    pub(crate) fn factor(&mut self, a: &Mat) -> usize {
        let (m, n) = (a.rows(), a.cols());
        self.a.clone_from(a);
        let equilibrate = |x: f64| if x > 0.0 && x.is_finite() { 1.0 / x } else { 1.0 };
        self.row_scale.clear();
        for i in 0..m {
            let s = equilibrate(max_abs(self.a.row(i)));
            self.row_scale.push(s);
            self.a.row_mut(i).iter_mut().for_each(|x| *x *= s);
        }
        self.col_scale.clear();
        for j in 0..n {
            let s = equilibrate((0..m).fold(0.0, |s: f64, i| s.max(self.a[(i, j)].abs())));
            self.col_scale.push(s);
            (0..m).for_each(|i| self.a[(i, j)] *= s);
        }
        self.row_perm.clear();
        self.row_perm.extend(0..m);
        self.col_perm.clear();
        self.col_perm.extend(0..n);
        self.rank = 0;
        self.smallest = 1.0;
        for k in 0..m.min(n) {
            // complete pivoting
            let (mut p, mut q, mut best) = (k, k, 0.0);
            for i in k..m {
                for j in k..n {
                    if self.a[(i, j)].abs() > best {
                        (p, q, best) = (i, j, self.a[(i, j)].abs());
                    }
                }
            }
            if best.is_nan() || best <= RANK_TOLERANCE {
                break;
            }
            self.swap(k, p, q);
            self.smallest = best;
            self.rank += 1;
            let inverse = 1.0 / self.a[(k, k)];
            for i in k + 1..m {
                let f = self.a[(i, k)] * inverse;
                self.a[(i, k)] = f;
                if f != 0.0 {
                    let (rk, ri) = self.a.row_pair(k, i);
                    axpy(-f, &rk[k + 1..], &mut ri[k + 1..]);
                }
            }
        }
        self.null_known = false;
        if self.rank < n - self.rank {
            self.row_space();
        } else {
            self.range.reshape(0, n);
            self.null_space();
        }
        self.rank
    }

    /// The last pivot that counted.
    pub(crate) fn smallest_pivot(&self) -> f64 {
        self.smallest
    }

    /// Dimension of the null space.
    pub(crate) fn nullity(&self) -> usize {
        self.a.cols() - self.rank
    }

    /// Orthonormal rows that span the null space.
    pub(crate) fn null(&mut self) -> &Mat {
        if !self.null_known {
            self.null_space();
        }
        &self.null
    }

    /// Write to `x` the solution nearest to `reference` (empty: zero). Returns the largest equilibrated residual of the
    /// dependent equations; it vanishes for a consistent system.
    pub(crate) fn solve(&mut self, b: &[f64], reference: &[f64], x: &mut [f64]) -> f64 {
        let (m, n, r) = (self.a.rows(), self.a.cols(), self.rank);
        self.work.clear();
        self.work.extend((0..m).map(|i| b[self.row_perm[i]] * self.row_scale[self.row_perm[i]]));
        let mut inconsistency = 0.0_f64;
        for i in 0..m {
            let done = i.min(r);
            let s = dot(&self.a.row(i)[..done], &self.work[..done]);
            self.work[i] -= s;
            if i >= r {
                inconsistency = inconsistency.max(self.work[i].abs());
            }
        }
        for i in (0..r).rev() {
            let s = dot(&self.a.row(i)[i + 1..r], &self.work[i + 1..r]);
            self.work[i] = (self.work[i] - s) / self.a[(i, i)];
        }
        x.fill(0.0);
        for i in 0..r {
            x[self.col_perm[i]] = self.work[i] * self.col_scale[self.col_perm[i]];
        }
        if r < n - r {
            // x ← reference + the part of x − reference in the row space
            if !reference.is_empty() {
                axpy(-1.0, reference, x);
            }
            self.work.clear();
            self.work.extend((0..r).map(|k| dot(self.range.row(k), x)));
            if reference.is_empty() {
                x.fill(0.0)
            } else {
                x.copy_from_slice(reference)
            }
            (0..r).for_each(|k| axpy(self.work[k], self.range.row(k), x));
            return inconsistency;
        }
        for k in 0..n - r {
            let z = self.null.row(k);
            let s = dot(z, x) - if reference.is_empty() { 0.0 } else { dot(z, reference) };
            axpy(-s, z, x);
        }
        inconsistency
    }

    fn swap(&mut self, k: usize, p: usize, q: usize) {
        let (m, n) = (self.a.rows(), self.a.cols());
        if p != k {
            for j in 0..n {
                let t = self.a[(k, j)];
                self.a[(k, j)] = self.a[(p, j)];
                self.a[(p, j)] = t;
            }
            self.row_perm.swap(k, p);
        }
        if q != k {
            for i in 0..m {
                let t = self.a[(i, k)];
                self.a[(i, k)] = self.a[(i, q)];
                self.a[(i, q)] = t;
            }
            self.col_perm.swap(k, q);
        }
    }

    // the rows of U in the unscaled unknowns, orthonormal
    fn row_space(&mut self) {
        let (n, r) = (self.a.cols(), self.rank);
        self.range.reshape(r, n);
        for k in 0..r {
            for i in 0..n {
                let u = if i < k { 0.0 } else { self.a[(k, i)] };
                self.range[(k, self.col_perm[i])] = u / self.col_scale[self.col_perm[i]];
            }
            orthonormalize(&mut self.range, k);
        }
    }

    // one vector per free unknown by back substitution, orthonormal
    fn null_space(&mut self) {
        self.null_known = true;
        let (n, r) = (self.a.cols(), self.rank);
        self.null.reshape(n - r, n);
        self.work.resize(n.max(self.a.rows()), 0.0);
        for k in 0..n - r {
            self.work[..n].fill(0.0);
            self.work[r + k] = 1.0;
            for i in (0..r).rev() {
                let s = dot(&self.a.row(i)[i + 1..n], &self.work[i + 1..n]);
                self.work[i] = -s / self.a[(i, i)];
            }
            for i in 0..n {
                self.null[(k, self.col_perm[i])] = self.work[i] * self.col_scale[self.col_perm[i]];
            }
            orthonormalize(&mut self.null, k);
        }
    }
}

// modified Gram-Schmidt of row `k` against those before it, twice for accuracy
fn orthonormalize(rows: &mut Mat, k: usize) {
    for _ in 0..2 {
        for l in 0..k {
            let (zl, zk) = rows.row_pair(l, k);
            let s = dot(zl, zk);
            axpy(-s, zl, zk);
        }
    }
    let z = rows.row_mut(k);
    let norm = dot(z, z).sqrt();
    z.iter_mut().for_each(|v| *v /= norm);
}

/// Orthonormal basis of `{x : A x = 0}` as columns.
pub(crate) fn null_space(a: &Mat) -> Mat {
    let mut pivot = FullPivot::default();
    pivot.factor(a);
    pivot.null().transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_system_has_its_one_solution() {
        let a = Mat::from_rows(&[[2.0, 1.0], [1e6, -3e6]]);
        let mut f = FullPivot::default();
        assert_eq!(f.factor(&a), 2);
        let mut x = [0.0; 2];
        assert!(f.solve(&[4.0, -5e6], &[], &mut x) == 0.0);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
    }

    #[test]
    fn a_dependent_system_gives_the_solution_nearest_to_the_reference() {
        // x + 2 y = 5, twice
        let a = Mat::from_rows(&[[1.0, 2.0], [3.0, 6.0]]);
        let mut f = FullPivot::default();
        assert_eq!(f.factor(&a), 1);
        let mut x = [0.0; 2];
        assert!(f.solve(&[5.0, 15.0], &[], &mut x) < 1e-15);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
        f.solve(&[5.0, 15.0], &[3.0, 1.0], &mut x);
        assert!((x[0] - 3.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14);
        assert!(f.solve(&[5.0, 16.0], &[], &mut x) > 0.05);
    }
}
