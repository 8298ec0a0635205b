//! Units removed: row and column scaling of a complementarity problem, and the residual measured in it.
//!
//! With positive diagonal matrices `R`, `C` the problem `R w = (R A C)(C⁻¹ z) + R b` has the same solutions. We take
//! `c_j = 1 / max_i |A_ij|`, then `r_i = 1 / max_j |A_ij| c_j` (1 where a row or column is zero), so that the scaled
//! matrix has entries in [−1, 1] and forces in newtons stand beside accelerations in m/s². The scaling leaves Lemke's
//! guarantee intact: it amounts to the covering vector `R⁻¹ e`.

use crate::linalg::Mat;

/// Ratio of scaled `z` to scaled `b` above which an answer is the artefact of a singular matrix.
pub(super) const RUNAWAY: f64 = 1e11;

/// Row and column scales of a matrix, storage kept between uses.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    /// `r_i`: `w_i` times this is free of units.
    pub row: Vec<f64>,
    /// `c_j`: `z_j` divided by this is free of units.
    pub col: Vec<f64>,
}

impl Scale {
    /// Scales of `a`.
    pub(crate) fn fit(&mut self, a: &Mat) {
        self.col.clear();
        self.col.resize(a.cols(), 0.0);
        self.row.clear();
        for i in 0..a.rows() {
            for (c, x) in self.col.iter_mut().zip(a.row(i)) {
                let x = x.abs();
                *c = if x > *c { x } else { *c };
            }
        }
        self.col.iter_mut().for_each(|c| *c = invert(*c));
        for i in 0..a.rows() {
            let mut m = [0.0_f64; 4];
            let (x, c) = (a.row(i).chunks_exact(4), self.col.chunks_exact(4));
            let tail = x.remainder().iter().zip(c.remainder());
            for (x, c) in tail {
                m[0] = m[0].max(x.abs() * c);
            }
            for (x, c) in x.zip(c) {
                for k in 0..4 {
                    let v = x[k].abs() * c[k];
                    m[k] = if v > m[k] { v } else { m[k] };
                }
            }
            self.row.push(invert(m[0].max(m[1]).max(m[2]).max(m[3])));
        }
    }

    /// The certificate: `max_i |min(r_i w_i, z_i / c_i)|` divided by the largest of all `r_i |b_i|` and `z_i / c_i`.
    ///
    /// It vanishes exactly at solutions and does not depend on units. A `z` more than 1e11 times larger than `b` (both
    /// scaled) is the runaway answer of a singular matrix that has none; its residual is infinite, so that it cannot hide
    /// behind its size. NaN anywhere gives infinity as well.
    pub(crate) fn residual(&self, b: &[f64], z: &[f64], w: &[f64]) -> f64 {
        let (mut worst, mut z_size, mut b_size) = (0.0_f64, 0.0_f64, 0.0_f64);
        for i in 0..b.len() {
            let (z, w) = (z[i] / self.col[i], w[i] * self.row[i]);
            if !(z.is_finite() && w.is_finite()) {
                return f64::INFINITY;
            }
            worst = worst.max(z.min(w).abs());
            z_size = z_size.max(z.abs());
            b_size = b_size.max((b[i] * self.row[i]).abs());
        }
        if z_size > RUNAWAY * b_size {
            f64::INFINITY
        } else if worst == 0.0 {
            0.0
        } else {
            worst / z_size.max(b_size)
        }
    }
}

/// `1/x`, or 1 where that is not a usable number.
fn invert(x: f64) -> f64 {
    let y = 1.0 / x;
    if x > 0.0 && y.is_finite() && y > 0.0 { y } else { 1.0 }
}
