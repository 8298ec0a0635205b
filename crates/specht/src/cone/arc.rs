//! Passing folds of the central path by arc length (METH-CONE-ARC)
//!
//! The set `{x∘y = τe, R = 0}` of the nonconvex problem may turn back, τ must then rise before it can fall. As in every
//! homotopy method the path is oriented by the sign of the determinant (Allgower & Georg):
//!
//! ```text
//! s = sign det(A + D)
//! T: R = 0, d_c = λ \ (−τ e)   (dτ = −τ)          N: R = R, d_c = λ \ (τ e − λ∘λ)   (dτ = 0)
//! <g,g'> = Σ (S dx·S dx' + S⁻¹dy·S⁻¹dy')/τ + nc (dτ/τ)(dτ'/τ)
//! N ← N − <N,T>/<T,T> T,      step = a [ min(1, 0.9 a_max(N)) N + s h √(2nc/<T,T>) T ]
//! ```
//!
//! Down when `s > 0`, up when `s < 0`. Returns to predictor–corrector after four full steps with `s > 0`.

use super::cones::Kind;
use super::form::Blocks;
use super::ipm::{Path, Which, longest, moves, trial};

/// State of the arc mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub on: bool,
    pub sign: f64,
    length: f64,
    good: usize,
}

impl Default for Arc {
    fn default() -> Self {
        Arc { on: false, sign: 1.0, length: 0.3, good: 0 }
    }
}

impl Arc {
    /// One step with the present factorisation.
    pub(super) fn step(&mut self, p: &mut Path, k: &Blocks, tau: f64) {
        let n = p.island.cones.len();
        self.sign = if p.island.form.sign_det() < 0.0 { -1.0 } else { 1.0 };
        p.w.kappa.fill(0.0);
        // tangent into `affine`
        for i in 0..n {
            p.w.dc[i] = p.w.nt[i].divide(&[-tau * p.w.weight[i], 0.0, 0.0]);
        }
        let mut d = std::mem::take(&mut p.w.affine);
        p.direction(k, false, &mut d);
        p.w.affine = d;
        // centring into `dir2`
        for i in 0..n {
            p.w.dc[i] = p.w.nt[i].target(tau * p.w.weight[i], &[0.0; 3], &[0.0; 3], 0.0);
        }
        let mut d = std::mem::take(&mut p.w.dir2);
        p.direction(k, true, &mut d);
        p.w.dir2 = d;
        // scaled products
        let (mut tt, mut nt, mut count) = (0.0, 0.0, 0.0);
        for (i, c) in p.island.cones.iter().enumerate() {
            if c.kind == Kind::Free {
                continue;
            }
            count += 1.0;
            let s = &p.w.nt[i];
            let (ax, ay, _) = moves(c, s, &p.w.affine, i);
            let (bx, by, _) = moves(c, s, &p.w.dir2, i);
            let (ax, ay, bx, by) = (s.scale(&ax), s.unscale(&ay), s.scale(&bx), s.unscale(&by));
            for l in 0..3 {
                tt += ax[l] * ax[l] + ay[l] * ay[l];
                nt += ax[l] * bx[l] + ay[l] * by[l];
            }
        }
        tt = tt / tau + count;
        nt /= tau;
        let alpha = nt / tt;
        let w = &mut *p.w;
        for (a, b) in
            [(&mut w.dir2.x, &w.affine.x), (&mut w.dir2.y, &w.affine.y), (&mut w.dir2.y0, &w.affine.y0)]
        {
            crate::linalg::axpy(-alpha, b, a);
        }
        let h = self.sign * self.length * (2.0 * count / tt).sqrt();
        let hn = (0.9 * longest(p.island, p.w, &p.w.dir2)).min(1.0);
        let w = &mut *p.w;
        for (o, (a, b)) in [
            (&mut w.dir.x, (&w.dir2.x, &w.affine.x)),
            (&mut w.dir.y, (&w.dir2.y, &w.affine.y)),
            (&mut w.dir.y0, (&w.dir2.y0, &w.affine.y0)),
        ] {
            for i in 0..o.len() {
                o[i] = hn * a[i] + h * b[i];
            }
        }
        // shorten until inside the neighbourhood
        let (_, lo0, hi0) = trial(p.island, p.w, Which::None, 0.0);
        let max = longest(p.island, p.w, &p.w.dir);
        let mut a = 1.0;
        for _ in 0..30 {
            if max > 1.05 * a {
                let (t1, lo, hi) = trial(p.island, p.w, Which::Dir, a);
                if lo >= p.p.low.min(0.8 * lo0 / tau) * t1 && hi <= p.p.high.max(1.25 * hi0 / tau) * t1 {
                    break;
                }
            }
            a *= 0.6;
        }
        trial(p.island, p.w, Which::Dir, a);
        p.accept();
        let full = a == 1.0;
        self.length = if full { (self.length * 1.5).min(1.0) } else { (self.length * 0.7).max(0.02) };
        self.good = if self.sign > 0.0 { self.good + 1 } else { 0 };
        if self.good >= 4 && full {
            self.on = false;
            self.good = 0;
        }
    }
}
