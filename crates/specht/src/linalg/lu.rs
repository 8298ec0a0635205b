//! LU factorisation with partial pivoting.

use super::{Mat, axpy, dot, max_abs};

/// LU factorisation with partial pivoting and row equilibration, `P S A = L U`, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lu {
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
    pub(crate) fn factor(&mut self, a: &Mat) -> f64 {
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
                let (top, bottom) = self.a.as_mut_slice().split_at_mut(p * c);
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
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
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
    pub(crate) fn sign_det(&self) -> f64 {
        (0..self.perm.len()).fold(self.parity, |s, i| {
            let p = self.a[(i, i)];
            if p == 0.0 { 0.0 } else { s * p.signum() }
        })
    }

    /// The determinant (may overflow or underflow for large matrices; [`Lu::sign_det`] does not).
    pub(crate) fn det(&self) -> f64 {
        (0..self.perm.len()).fold(self.parity, |d, i| d * self.a[(i, i)] / self.scale[i])
    }
}
