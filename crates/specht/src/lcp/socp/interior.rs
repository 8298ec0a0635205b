//! The homogeneous self-dual embedding, by a predictor and a corrector in the scaling of Nesterov and Todd
//!
//! ```text
//! min cᵀx, s = h − G x          0 = Gᵀz + c τ,   s = −G x + h τ,   κ = −cᵀx − hᵀz,     (s, z) ∈ K,  τ, κ ≥ 0
//! τ > 0:  x/τ solves it          κ > 0:  hᵀz < 0, z proves that there is no x;  cᵀx < 0, x is a direction without bound
//! ```
//!
//! In the scaling W of a pair (s, z), W z = W⁻¹ s = λ, one step solves
//!
//! ```text
//! [0 Gᵀ; G −W²] (Δx, Δz) = (p, q)      F = W⁻¹ G = Q R:    R Δx = R⁻ᵀ p + Qᵀ W⁻¹ q,     Δz = W⁻¹ (F Δx − W⁻¹ q)
//! ```
//!
//! by an orthogonal factorisation: normal equations would lose half the digits. [Andersen2003, Vandenberghe2010]

use super::ConeOutcome;
use crate::linalg::{Mat, dot};

/// Steps after which it is given up.
const STEPS: usize = 80;
/// Part of the way to the border that is gone.
const SHORT: f64 = 0.99;
/// Accuracy at which it stops, at which a result is one, and that of certificates.
const DONE: f64 = 1e-14;
const GOOD: f64 = 1e-6;
const PROOF: f64 = 1e-10;

/// The result, with the sign of the maximisation.
pub(super) struct End {
    pub outcome: ConeOutcome,
    pub x: Vec<f64>,
    pub s: Vec<f64>,
    /// c = Gᵀz.
    pub z: Vec<f64>,
    pub residual: f64,
}

/// max c·x, h − G x ∈ K.
pub(super) fn embed(g: &Mat, h: &[f64], c: &[f64], sizes: &[usize]) -> End {
    // numbers of order one
    let unit = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let scale = |u: f64| if u > 0.0 { u } else { 1.0 };
    let (hs, cs) = (scale(unit(h)), scale(unit(c)));
    let h: Vec<f64> = h.iter().map(|v| v / hs).collect();
    let c: Vec<f64> = c.iter().map(|v| -v / cs).collect();
    let mut it = Iterate::new(g, &h, &c, sizes);
    let mut best: Option<(f64, Iterate)> = None;
    let mut worse = 0;
    for _ in 0..STEPS {
        if let Some(outcome) = it.certificate(PROOF) {
            return it.proof(outcome, hs, cs);
        }
        let error = it.error();
        if best.as_ref().is_none_or(|b| error < b.0) {
            best = Some((error, it.clone()));
            worse = 0;
        } else {
            worse += 1;
        }
        if error <= DONE || worse > 4 || !it.step() {
            break;
        }
    }
    if let Some((error, it)) = best.filter(|b| b.0 <= GOOD) {
        let over = |v: &[f64], size: f64| v.iter().map(|v| v / it.tau * size).collect::<Vec<f64>>();
        return End {
            outcome: ConeOutcome::Optimal,
            x: over(&it.x, hs),
            s: over(&it.s, hs),
            z: over(&it.z, cs),
            residual: error,
        };
    }
    match it.certificate(GOOD) {
        Some(outcome) => it.proof(outcome, hs, cs),
        None => End { outcome: ConeOutcome::Unclear, x: it.x, s: it.s, z: it.z, residual: f64::NAN },
    }
}

#[derive(Clone)]
struct Iterate<'a> {
    g: &'a Mat,
    h: &'a [f64],
    c: &'a [f64],
    sizes: &'a [usize],
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    tau: f64,
    kappa: f64,
}

/// A direction.
struct Change {
    x: Vec<f64>,
    s: Vec<f64>,
    z: Vec<f64>,
    tau: f64,
    kappa: f64,
}

impl<'a> Iterate<'a> {
    fn new(g: &'a Mat, h: &'a [f64], c: &'a [f64], sizes: &'a [usize]) -> Self {
        let mut e = vec![0.0; h.len()];
        parts(sizes).for_each(|(at, _)| e[at] = 1.0);
        Iterate { g, h, c, sizes, x: vec![0.0; c.len()], s: e.clone(), z: e, tau: 1.0, kappa: 1.0 }
    }

    fn transpose(&self, z: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.c.len()];
        self.g.add_mul_transpose(z, &mut out);
        out
    }

    /// Largest relative error of a solution at τ = 1.
    fn error(&self) -> f64 {
        let t = self.tau;
        let dual = self.transpose(&self.z);
        let d = dual.iter().zip(self.c).fold(0.0_f64, |m, (g, c)| m.max((g / t + c).abs()));
        let p = (0..self.h.len())
            .fold(0.0_f64, |m, i| m.max(((dot(self.g.row(i), &self.x) + self.s[i]) / t - self.h[i]).abs()));
        let (primal, dual) = (dot(self.c, &self.x) / t, -dot(self.h, &self.z) / t);
        let gap = dot(&self.s, &self.z) / (t * t);
        let size = 1.0 + primal.abs().min(dual.abs());
        d.max(p).max(gap.abs() / size).max((primal - dual).abs() / size)
    }

    /// What z or x prove.
    fn certificate(&self, within: f64) -> Option<ConeOutcome> {
        let (hz, cx) = (dot(self.h, &self.z), dot(self.c, &self.x));
        let largest = |v: &[f64]| v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if hz < 0.0 && largest(&self.transpose(&self.z)) <= -within * hz {
            return Some(ConeOutcome::Infeasible);
        }
        let off = |i: usize| (dot(self.g.row(i), &self.x) + self.s[i]).abs();
        let left = (0..self.h.len()).fold(0.0_f64, |m, i| m.max(off(i)));
        (cx < 0.0 && left <= -within * cx).then_some(ConeOutcome::Unbounded)
    }

    fn proof(self, outcome: ConeOutcome, hs: f64, cs: f64) -> End {
        // hᵀz = −1, or cᵀx = −1 in the numbers of the caller
        let size = match outcome {
            ConeOutcome::Infeasible => -dot(self.h, &self.z) * hs,
            _ => -dot(self.c, &self.x) * cs,
        };
        let over = |v: Vec<f64>| v.into_iter().map(|v| v / size).collect::<Vec<f64>>();
        End { outcome, x: over(self.x), s: over(self.s), z: over(self.z), residual: PROOF }
    }

    /// One step; false when it went nowhere.
    fn step(&mut self) -> bool {
        let Some(scaling) = Scaling::new(&self.s, &self.z, self.sizes) else { return false };
        let Some(solver) = Solver::new(self.g, &scaling) else { return false };
        let degree = self.sizes.len() as f64 + 1.0;
        let mu = (dot(&self.s, &self.z) + self.kappa * self.tau) / degree;
        // residuals
        let mut rx = self.transpose(&self.z);
        rx.iter_mut().zip(self.c).for_each(|(r, c)| *r = -*r - c * self.tau);
        let rz: Vec<f64> = (0..self.h.len())
            .map(|i| self.s[i] + dot(self.g.row(i), &self.x) - self.h[i] * self.tau)
            .collect();
        let rt = self.kappa + dot(self.c, &self.x) + dot(self.h, &self.z);
        let minus: Vec<f64> = self.c.iter().map(|c| -c).collect();
        let (x1, z1) = solver.solve(&minus, self.h, &scaling);
        let solve = |sigma: f64, ds: &[f64], dk: f64| -> Change {
            let f = 1.0 - sigma;
            let p: Vec<f64> = rx.iter().map(|r| f * r).collect();
            let divided = scaling.divide(ds);
            let moved = scaling.apply(&divided);
            let q: Vec<f64> = rz.iter().zip(&moved).map(|(r, m)| m - f * r).collect();
            let (x2, z2) = solver.solve(&p, &q, &scaling);
            let below = dot(self.c, &x1) + dot(self.h, &z1) - self.kappa / self.tau;
            let tau = (dk / self.tau - f * rt - dot(self.c, &x2) - dot(self.h, &z2)) / below;
            let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + tau * b).collect::<Vec<f64>>();
            let (x, z) = (sum(&x2, &x1), sum(&z2, &z1));
            // Δs = −W (λ\ds + W Δz)
            let inner: Vec<f64> = divided.iter().zip(scaling.apply(&z)).map(|(d, z)| -d - z).collect();
            Change { s: scaling.apply(&inner), x, z, tau, kappa: -(dk + self.kappa * tau) / self.tau }
        };
        let square = scaling.product(&scaling.lambda, &scaling.lambda);
        let first = solve(0.0, &square, self.kappa * self.tau);
        let alpha = self.reach(&first).min(1.0);
        let sigma = (1.0 - alpha).powi(3);
        let turned = scaling.product(&scaling.unapply(&first.s), &scaling.apply(&first.z));
        let mut ds: Vec<f64> = square.iter().zip(&turned).map(|(a, b)| a + b).collect();
        parts(self.sizes).for_each(|(at, _)| ds[at] -= sigma * mu);
        let change = solve(sigma, &ds, self.kappa * self.tau + first.kappa * first.tau - sigma * mu);
        let alpha = (SHORT * self.reach(&change)).min(1.0);
        if !(alpha > 1e-10) || change.x.iter().chain(&change.z).any(|v| !v.is_finite()) {
            return false;
        }
        let go = |v: &mut Vec<f64>, d: &[f64]| crate::linalg::axpy(alpha, d, v);
        go(&mut self.x, &change.x);
        go(&mut self.s, &change.s);
        go(&mut self.z, &change.z);
        self.tau += alpha * change.tau;
        self.kappa += alpha * change.kappa;
        // the embedding is homogeneous: keep its numbers near one
        let size = self.tau.max(self.kappa);
        for v in [&mut self.x, &mut self.s, &mut self.z] {
            v.iter_mut().for_each(|v| *v /= size);
        }
        self.tau /= size;
        self.kappa /= size;
        true
    }

    /// How far a direction stays in the cones.
    fn reach(&self, d: &Change) -> f64 {
        let line = |v: f64, dv: f64| if dv < 0.0 { -v / dv } else { f64::INFINITY };
        let mut far = line(self.tau, d.tau).min(line(self.kappa, d.kappa));
        for (at, q) in parts(self.sizes) {
            far = far.min(to_border(&self.s[at..at + q], &d.s[at..at + q]));
            far = far.min(to_border(&self.z[at..at + q], &d.z[at..at + q]));
        }
        far
    }
}

/// Places and sizes of the cones.
pub(super) fn parts(sizes: &[usize]) -> impl Iterator<Item = (usize, usize)> + '_ {
    sizes.iter().scan(0, |at, &q| {
        let here = *at;
        *at += q;
        Some((here, q))
    })
}

/// The largest α with x + α d in the cone; x inside.
fn to_border(x: &[f64], d: &[f64]) -> f64 {
    let j = |a: &[f64], b: &[f64]| a[0] * b[0] - dot(&a[1..], &b[1..]);
    let (a, b, c) = (j(d, d), j(x, d), j(x, x));
    let mut far = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    if x.len() == 1 {
        return far;
    }
    // a α² + 2 b α + c = 0, the smallest positive root
    let root = b * b - a * c;
    if root >= 0.0 {
        let q = -(b + b.signum() * root.sqrt());
        for r in [q / a, c / q] {
            if r > 0.0 && r.is_finite() {
                far = far.min(r);
            }
        }
    }
    far
}

/// W of every cone: β (2 v vᵀ − J) as a hyperbolic reflection with the unit vector w.
struct Scaling<'a> {
    sizes: &'a [usize],
    beta: Vec<f64>,
    w: Vec<f64>,
    lambda: Vec<f64>,
}

impl<'a> Scaling<'a> {
    fn new(s: &[f64], z: &[f64], sizes: &'a [usize]) -> Option<Self> {
        let mut out = Scaling { sizes, beta: Vec::new(), w: vec![0.0; s.len()], lambda: Vec::new() };
        for (at, q) in parts(sizes) {
            let (s, z) = (&s[at..at + q], &z[at..at + q]);
            // (s₀ − |s̄|)(s₀ + |s̄|) keeps the digits of the difference
            let size = |v: &[f64]| {
                let length = dot(&v[1..], &v[1..]).sqrt();
                (v[0] - length) * (v[0] + length)
            };
            let (a, b) = (size(s), size(z));
            if !(a > 0.0 && b > 0.0) {
                return None;
            }
            let (ra, rb) = (a.sqrt(), b.sqrt());
            let gamma = (0.5 * (1.0 + dot(s, z) / (ra * rb))).sqrt();
            let w = &mut out.w[at..at + q];
            for k in 0..q {
                let sign = if k == 0 { 1.0 } else { -1.0 };
                w[k] = (s[k] / ra + sign * z[k] / rb) / (2.0 * gamma);
            }
            out.beta.push((ra / rb).sqrt());
        }
        out.lambda = out.apply(z);
        Some(out)
    }

    fn turn(&self, x: &[f64], sign: f64, inverse: bool) -> Vec<f64> {
        let mut out = x.to_vec();
        for ((at, q), beta) in parts(self.sizes).zip(&self.beta) {
            let (w, x, y) = (&self.w[at..at + q], &x[at..at + q], &mut out[at..at + q]);
            let f = if inverse { 1.0 / beta } else { *beta };
            let along = dot(&w[1..], &x[1..]);
            let first = w[0] * x[0] + sign * along;
            let tail = sign * x[0] + along / (1.0 + w[0]);
            y[0] = f * first;
            for k in 1..q {
                y[k] = f * (x[k] + tail * w[k]);
            }
        }
        out
    }

    /// W x.
    fn apply(&self, x: &[f64]) -> Vec<f64> {
        self.turn(x, 1.0, false)
    }

    /// W⁻¹ x.
    fn unapply(&self, x: &[f64]) -> Vec<f64> {
        self.turn(x, -1.0, true)
    }

    /// a ∘ b.
    fn product(&self, a: &[f64], b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; a.len()];
        for (at, q) in parts(self.sizes) {
            let (a, b) = (&a[at..at + q], &b[at..at + q]);
            out[at] = dot(a, b);
            for k in 1..q {
                out[at + k] = a[0] * b[k] + b[0] * a[k];
            }
        }
        out
    }

    /// λ \ b.
    fn divide(&self, b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; b.len()];
        for (at, q) in parts(self.sizes) {
            let (l, b) = (&self.lambda[at..at + q], &b[at..at + q]);
            let length = dot(&l[1..], &l[1..]).sqrt();
            let det = (l[0] - length) * (l[0] + length);
            let along = dot(&l[1..], &b[1..]);
            out[at] = (l[0] * b[0] - along) / det;
            for k in 1..q {
                out[at + k] = (b[k] - out[at] * l[k]) / l[0];
            }
        }
        out
    }
}

/// F = W⁻¹ G by Householder's reflections; columns are stored as rows.
struct Solver {
    f: Mat,
    q: Mat,
    r: Mat,
}

impl Solver {
    fn new(g: &Mat, scaling: &Scaling) -> Option<Self> {
        let (m, n) = (g.rows(), g.cols());
        let mut f = Mat::zeros(n, m);
        let mut column = vec![0.0; m];
        for j in 0..n {
            (0..m).for_each(|i| column[i] = g[(i, j)]);
            f.row_mut(j).copy_from_slice(&scaling.unapply(&column));
        }
        // Gram and Schmidt twice: orthogonal to rounding
        let (mut q, mut r) = (f.clone(), Mat::zeros(n, n));
        for j in 0..n {
            for _ in 0..2 {
                for k in 0..j {
                    let (a, b) = q.row_pair(k, j);
                    let along = dot(a, b);
                    crate::linalg::axpy(-along, a, b);
                    r[(k, j)] += along;
                }
            }
            let length = dot(q.row(j), q.row(j)).sqrt();
            if !(length > 0.0) {
                return None;
            }
            r[(j, j)] = length;
            q.row_mut(j).iter_mut().for_each(|v| *v /= length);
        }
        Some(Solver { f, q, r })
    }

    /// [0 Gᵀ; G −W²] (x, z) = (p, q), refined once.
    fn solve(&self, p: &[f64], q: &[f64], scaling: &Scaling) -> (Vec<f64>, Vec<f64>) {
        let side = scaling.unapply(q);
        let (mut x, mut v) = self.once(p, &side);
        // in the scaled space: Fᵀ v = p, F x − v = side
        let rp: Vec<f64> = (0..p.len()).map(|j| p[j] - dot(self.f.row(j), &v)).collect();
        let mut rq: Vec<f64> = side.iter().zip(&v).map(|(s, v)| s + v).collect();
        (0..p.len()).for_each(|j| crate::linalg::axpy(-x[j], self.f.row(j), &mut rq));
        let (dx, dv) = self.once(&rp, &rq);
        crate::linalg::axpy(1.0, &dx, &mut x);
        crate::linalg::axpy(1.0, &dv, &mut v);
        (x, scaling.unapply(&v))
    }

    /// Fᵀ v = p, F x − v = side.
    fn once(&self, p: &[f64], side: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = p.len();
        // R⁻ᵀ p
        let mut x = p.to_vec();
        for j in 0..n {
            for k in 0..j {
                x[j] -= self.r[(k, j)] * x[k];
            }
            x[j] /= self.r[(j, j)];
        }
        for j in 0..n {
            x[j] += dot(self.q.row(j), side);
        }
        // v = F x − side = Q (R x) − side, without R x
        let mut v: Vec<f64> = side.iter().map(|s| -s).collect();
        (0..n).for_each(|j| crate::linalg::axpy(x[j], self.q.row(j), &mut v));
        for j in (0..n).rev() {
            for k in j + 1..n {
                x[j] -= self.r[(j, k)] * x[k];
            }
            x[j] /= self.r[(j, j)];
        }
        (x, v)
    }
}
