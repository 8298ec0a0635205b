//! Points of one cone inside of its sets, and the Nesterov–Todd scaling between them (METH-CONE-IPM, METH-CONE-SPLIT)
//!
//! ```text
//! S x = S⁻¹ψ = λ,    P = S² = η²(2ww' − J),    w_0² − |w_1|² = 1
//! ```
//!
//! (Nesterov & Todd 1998; formulas as in Domahidi, Chu & Boyd 2013.)

use super::kernel::{M3, V3, norm2};

/// Point, direction or Taylor coefficient of one cone: `x ∘ ψ` is the product on the Lorentz cone, `p n` the one of two numbers.
/// A cone has one of them or both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub x: V3,
    pub psi: V3,
    pub p: f64,
    pub n: f64,
}

impl Part {
    /// `self += a other`.
    #[inline]
    pub(super) fn add(&mut self, a: f64, other: &Part) {
        for l in 0..3 {
            self.x[l] += a * other.x[l];
            self.psi[l] += a * other.psi[l];
        }
        self.p += a * other.p;
        self.n += a * other.n;
    }
}

/// Nesterov–Todd scaling of one cone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nt {
    pub w: V3,
    pub eta: f64,
    pub lam: V3,
    /// direction of slip, for the law with `|u_T|` inside
    pub t: [f64; 2],
}

/// `a ∘ b` in the Jordan algebra of the Lorentz cone.
#[inline]
pub(super) fn product(a: &V3, b: &V3) -> V3 {
    [a[0] * b[0] + a[1] * b[1] + a[2] * b[2], a[0] * b[1] + b[0] * a[1], a[0] * b[2] + b[0] * a[2]]
}

/// Step from `x` along `dx` to the boundary of the Lorentz cone.
#[inline]
pub(super) fn to_boundary(x: &V3, dx: &V3) -> f64 {
    let mut a = 1e30;
    if dx[0] < 0.0 {
        a = -x[0] / dx[0];
    }
    let qa = dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2];
    let qb = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2];
    let xt = norm2(x[1], x[2]);
    let qc = (x[0] - xt) * (x[0] + xt);
    let disc = qb * qb - qa * qc;
    if disc >= 0.0 && (qb < 0.0 || qa < 0.0) {
        let rt = disc.sqrt();
        let s = if qb <= 0.0 { qc / (rt - qb) } else { (-qb - rt) / qa };
        if s > 0.0 && s < a {
            a = s;
        }
    }
    a
}

impl Nt {
    /// Scaling point of `(y, x)` with `y = (gap + |v|, v)`.
    #[inline]
    pub(super) fn new(x: &V3, gap: f64, v: &[f64; 2]) -> Nt {
        let (vt, xt) = (norm2(v[0], v[1]), norm2(x[1], x[2]));
        let y0 = gap + vt;
        let a = (gap * (gap + 2.0 * vt)).max(1e-300).sqrt();
        let b = ((x[0] - xt) * (x[0] + xt)).max(1e-300).sqrt();
        let xy = x[0] * y0 + x[1] * v[0] + x[2] * v[1];
        let g = 2.0 * (0.5 * (1.0 + xy / (a * b))).sqrt();
        let w1 = (v[0] / a - x[1] / b) / g;
        let w2 = (v[1] / a - x[2] / b) / g;
        let w = [(1.0 + w1 * w1 + w2 * w2).sqrt(), w1, w2];
        let eta = (a / b).sqrt();
        let mut nt = Nt { w, eta, lam: [0.0; 3], t: [0.0; 2] };
        nt.lam = nt.scale(x);
        nt
    }

    /// `S z`.
    #[inline]
    pub(super) fn scale(&self, z: &V3) -> V3 {
        let w = &self.w;
        let d = w[1] * z[1] + w[2] * z[2];
        let f = z[0] + d / (1.0 + w[0]);
        [self.eta * (w[0] * z[0] + d), self.eta * (z[1] + f * w[1]), self.eta * (z[2] + f * w[2])]
    }

    /// `S⁻¹ z`.
    #[inline]
    pub(super) fn unscale(&self, z: &V3) -> V3 {
        let w = &self.w;
        let d = -(w[1] * z[1] + w[2] * z[2]);
        let f = z[0] + d / (1.0 + w[0]);
        let e = 1.0 / self.eta;
        [e * (w[0] * z[0] + d), e * (z[1] - f * w[1]), e * (z[2] - f * w[2])]
    }

    /// First entry of `P z`.
    #[inline]
    pub(super) fn first(&self, z: &V3) -> f64 {
        let w = &self.w;
        let e2 = self.eta * self.eta;
        e2 * ((2.0 * w[0] * w[0] - 1.0) * z[0] + 2.0 * w[0] * (w[1] * z[1] + w[2] * z[2]))
    }

    /// `λ \ (target e − λ∘λ − f a∘b)`.
    #[inline]
    pub(super) fn target(&self, target: f64, a: &V3, b: &V3, f: f64) -> V3 {
        let l = product(&self.lam, &self.lam);
        let ab = product(a, b);
        self.divide(&[target - l[0] - f * ab[0], -l[1] - f * ab[1], -l[2] - f * ab[2]])
    }

    /// `λ \ rhs` in the Jordan algebra.
    #[inline]
    pub(super) fn divide(&self, rhs: &V3) -> V3 {
        let l = &self.lam;
        let lt = norm2(l[1], l[2]);
        let det = (l[0] - lt) * (l[0] + lt);
        let o = (l[0] * rhs[0] - l[1] * rhs[1] - l[2] * rhs[2]) / det;
        [o, (rhs[1] - o * l[1]) / l[0], (rhs[2] - o * l[2]) / l[0]]
    }

    /// `D = (I−G)P` and `D⁻¹` with the eigenvalues of `P` raised by `delta`.
    #[inline]
    pub(super) fn whole(&self, d: usize, delta: f64, b: &mut M3, inv: &mut M3) {
        let e2 = self.eta * self.eta;
        let w1 = norm2(self.w[1], self.w[2]);
        let up = (self.w[0] + w1) * (self.w[0] + w1);
        let (pp, pm) = (e2 * up, e2 / up);
        let (ip, im, i0) = (1.0 / (pp + delta), 1.0 / (pm + delta), 1.0 / (e2 + delta));
        // P on (1, s)/√2, (1, −s)/√2 and the rest
        let s = if w1 > 0.0 { [self.w[1] / w1, self.w[2] / w1] } else { [0.0; 2] };
        let (p00, p01, i00, i01) = (0.5 * (pp + pm), 0.5 * (pp - pm), 0.5 * (ip + im), 0.5 * (ip - im));
        *b = [[0.0; 3]; 3];
        *inv = [[0.0; 3]; 3];
        b[0][0] = p00;
        inv[0][0] = if w1 > 0.0 { i00 } else { i0 };
        for a in 1..d {
            b[0][a] = p01 * s[a - 1];
            b[a][0] = b[0][a];
            inv[0][a] = i01 * s[a - 1];
            inv[a][0] = inv[0][a];
            for c in 1..d {
                let ss = s[a - 1] * s[c - 1];
                b[a][c] = (p00 - e2) * ss + e2 * f64::from(a == c);
                inv[a][c] = (i00 - i0) * ss + i0 * f64::from(a == c);
            }
        }
        for c in 0..d {
            for a in 1..d {
                b[0][c] -= self.t[a - 1] * b[a][c];
            }
        }
        for a in 0..d {
            for c in 1..d {
                inv[a][c] += inv[a][0] * self.t[c - 1];
            }
        }
    }

    /// `P_TT` into rows and columns from `o` on, and its inverse with the eigenvalues raised by `delta`.
    #[inline]
    pub(super) fn tangential(&self, o: usize, d: usize, delta: f64, b: &mut M3, inv: &mut M3) {
        let e2 = self.eta * self.eta;
        let q = self.w[1] * self.w[1] + self.w[2] * self.w[2];
        // eigenvalues η²(1 + 2|w_1|²) along w_1, η² across
        let i0 = 1.0 / (e2 + delta);
        let along = 1.0 / (e2 * (1.0 + 2.0 * q) + delta);
        for i in o..d {
            for j in o..d {
                let ww = self.w[i + 1 - o] * self.w[j + 1 - o];
                b[i][j] = e2 * (2.0 * ww + f64::from(i == j));
                inv[i][j] = i0 * f64::from(i == j) + if q > 0.0 { (along - i0) * ww / q } else { 0.0 };
            }
        }
    }

    /// Entry `l` (1 or 2) of `P_T0`.
    #[inline]
    pub(super) fn side(&self, l: usize) -> f64 {
        2.0 * self.eta * self.eta * self.w[0] * self.w[l]
    }
    /// `P_T0`.
    #[inline]
    pub(super) fn sides(&self) -> [f64; 2] {
        [self.side(1), self.side(2)]
    }
}
