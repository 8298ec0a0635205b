//! One contact, exactly, with all its solutions (METH-CONE-LOCAL)
//!
//! `u = W r + q` with a block `W` of 1 to 3 rows. Open (`q_N ≥ 0`, `r = 0`), stick (`r = −W⁻¹q` inside the cone), slip:
//!
//! ```text
//! r = r_N (1, μ t),  t = (cos θ, sin θ),  u_N = 0  ⇒  r_N = −q_N / δ,  δ(θ) = W_NN + μ W_NT·t
//! û = δ u_T = −q_N (W_TN + μ W_TT t) + q_T δ,     f(θ) = û × t = 0,  û·t ≤ 0 (with r_N ≥ 0),  δ ≠ 0
//! ```
//!
//! `f` is a trigonometric polynomial of degree 2, so it has at most four roots (the quartic of Bonnefon & Daviet 2011),
//! and its stationary points are the roots of another polynomial of degree 2. All real roots are found: isolate
//! by subdivision with the exact bound `|f''| ≤ B`, then bisect and polish by Newton. With `q_N > 0` and
//! `W_NN < μ|W_NT|` (Painlevé) a slipping solution with `δ < 0`, `r_N > 0` may exist beside the open one; with `q_N < 0` there may be none.

use super::kernel::{M3, V3, inv3, mul3, norm2};

/// Mode of one contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// no force
    Open,
    /// no relative velocity
    Stick,
    /// force on the boundary of the cone
    Slip,
}

/// One solution of a one-contact problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneContact {
    /// Mode.
    pub mode: Mode,
    /// Impulse (N, T1, T2), padded with zeros.
    pub r: [f64; 3],
}

/// Every solution of the one-contact problem `u = W r + q` of `d` rows (1, 2 or 3) with Coulomb friction `mu`: at most
/// six. The answer is written to `out`, the number returned. A set of solutions that is a continuum (singular `W`) is
/// represented by its members found as open, stick and slip.
pub fn solve_all(w: &[[f64; 3]; 3], q: &[f64; 3], mu: f64, d: usize, out: &mut Vec<OneContact>) {
    out.clear();
    if q[0] >= 0.0 {
        out.push(OneContact { mode: Mode::Open, r: [0.0; 3] });
    }
    if d == 1 || mu == 0.0 {
        let r = -q[0] / w[0][0];
        if r > 0.0 && r.is_finite() && q[0] < 0.0 {
            out.push(OneContact { mode: Mode::Slip, r: [r, 0.0, 0.0] });
        }
        return;
    }
    if let Some(r) = stick(w, q, mu, d).filter(|r| r[0] > 0.0) {
        out.push(OneContact { mode: Mode::Stick, r });
    }
    if d == 2 {
        for s in [1.0, -1.0] {
            let delta = w[0][0] + mu * s * w[0][1];
            let rn = -q[0] / delta;
            if rn > 0.0 && rn.is_finite() {
                let u = (w[1][0] + mu * s * w[1][1]) * rn + q[1];
                if u * s < 0.0 {
                    out.push(OneContact { mode: Mode::Slip, r: [rn, mu * s * rn, 0.0] });
                }
            }
        }
        return;
    }
    let p = Slip::new(w, q, mu);
    let mut roots = [0.0; 8];
    let n = p.roots(&mut roots);
    for &th in &roots[..n] {
        if let Some(r) = p.admissible(th) {
            out.push(OneContact { mode: Mode::Slip, r });
        }
    }
}

/// Stick solution if it lies in the cone.
#[inline]
fn stick(w: &M3, q: &V3, mu: f64, d: usize) -> Option<V3> {
    let scale = match d {
        2 => w[0][0] * w[1][1],
        _ => w[0][0] * w[1][1] * w[2][2],
    };
    let det = match d {
        2 => w[0][0] * w[1][1] - w[0][1] * w[1][0],
        _ => {
            w[0][0] * (w[1][1] * w[2][2] - w[1][2] * w[2][1])
                + w[0][1] * (w[1][2] * w[2][0] - w[1][0] * w[2][2])
                + w[0][2] * (w[1][0] * w[2][1] - w[1][1] * w[2][0])
        }
    };
    if !(det.abs() > 1e-14 * scale) {
        return None;
    }
    let r = mul3(&inv3(w, d)?, &[-q[0], -q[1], -q[2]]);
    (r[0] >= 0.0 && norm2(r[1], r[2]) <= mu * r[0]).then_some(r)
}

/// The slip condition of a spatial contact as a function of the sliding angle.
pub(super) struct Slip<'a> {
    w: &'a M3,
    q: &'a V3,
    mu: f64,
    /// f(θ) = a0 + a1 cos θ + b1 sin θ + a2 cos 2θ + b2 sin 2θ
    c: [f64; 5],
}

impl<'a> Slip<'a> {
    pub(super) fn new(w: &'a M3, q: &'a V3, mu: f64) -> Self {
        // û = A + B t·… : û_i = k_i + l_i cos + m_i sin
        let (qn, q1, q2) = (q[0], q[1], q[2]);
        let u1 = [
            -qn * w[1][0] + q1 * w[0][0],
            mu * (-qn * w[1][1] + q1 * w[0][1]),
            mu * (-qn * w[1][2] + q1 * w[0][2]),
        ];
        let u2 = [
            -qn * w[2][0] + q2 * w[0][0],
            mu * (-qn * w[2][1] + q2 * w[0][1]),
            mu * (-qn * w[2][2] + q2 * w[0][2]),
        ];
        // f = u1 sin − u2 cos
        let c = [0.5 * (u1[2] - u2[1]), -u2[0], u1[0], -0.5 * (u1[2] + u2[1]), 0.5 * (u1[1] - u2[2])];
        Slip { w, q, mu, c }
    }

    #[inline]
    fn value(&self, cs: f64, sn: f64) -> f64 {
        let c = &self.c;
        c[0] + c[1] * cs + c[2] * sn + c[3] * (cs * cs - sn * sn) + c[4] * 2.0 * cs * sn
    }

    #[inline]
    fn slope(&self, cs: f64, sn: f64) -> f64 {
        let c = &self.c;
        -c[1] * sn + c[2] * cs - 4.0 * c[3] * cs * sn + 2.0 * c[4] * (cs * cs - sn * sn)
    }

    fn f(&self, th: f64) -> f64 {
        let (s, c) = th.sin_cos();
        self.value(c, s)
    }

    fn df(&self, th: f64) -> f64 {
        let (s, c) = th.sin_cos();
        self.slope(c, s)
    }

    /// Impulse at the root `th`, if the sign conditions hold.
    pub(super) fn admissible(&self, th: f64) -> Option<V3> {
        let (w, q, mu) = (self.w, self.q, self.mu);
        let (sn, cs) = th.sin_cos();
        let delta = w[0][0] + mu * (w[0][1] * cs + w[0][2] * sn);
        let rn = -q[0] / delta;
        if !(rn > 0.0 && rn.is_finite()) || delta.abs() < 1e-13 * w[0][0] {
            return None;
        }
        let r = [rn, mu * rn * cs, mu * rn * sn];
        let u1 = q[1] + w[1][0] * r[0] + w[1][1] * r[1] + w[1][2] * r[2];
        let u2 = q[2] + w[2][0] * r[0] + w[2][1] * r[1] + w[2][2] * r[2];
        (u1 * cs + u2 * sn <= 0.0).then_some(r)
    }

    /// All zeros of `f` in [0, 2π), ascending; a double zero may count once.
    pub(super) fn roots(&self, out: &mut [f64; 8]) -> usize {
        let c = &self.c;
        let (b1, b2) = (norm2(c[1], c[2]), norm2(c[3], c[4]));
        let bound0 = c[0].abs() + b1 + b2;
        if bound0 == 0.0 {
            return 0;
        }
        let curv = b1 + 4.0 * b2;
        let noise = 1e-15 * bound0;
        let mut n = 0;
        const PIECES: usize = 12;
        let step = std::f64::consts::TAU / PIECES as f64;
        for k in 0..PIECES {
            let (a, b) = (step * k as f64, step * (k + 1) as f64);
            self.isolate(a, b, self.f(a), self.f(b), curv, noise, 0, out, &mut n);
        }
        n
    }

    /// Zeros of `f` in [a, b): no zero if the parabola bound excludes it, one if `f` is monotone, else halve.
    fn isolate(
        &self,
        a: f64,
        b: f64,
        fa: f64,
        fb: f64,
        curv: f64,
        noise: f64,
        depth: usize,
        out: &mut [f64; 8],
        n: &mut usize,
    ) {
        if *n == out.len() {
            return;
        }
        let h = b - a;
        let bend = curv * h * h / 8.0;
        if fa == 0.0 {
            out[*n] = a;
            *n += 1;
            if depth > 40 {
                return;
            }
        } else if fa * fb > 0.0 && fa.abs().min(fb.abs()) > bend {
            // |f − chord| ≤ bend, the chord does not vanish
            return;
        }
        let m = 0.5 * (a + b);
        let monotone = self.df(m).abs() > curv * h / 2.0;
        if monotone || depth > 40 {
            if fa * fb < 0.0 {
                out[*n] = self.bisect(a, b, fa);
                *n += 1;
            } else if depth > 40 && fa != 0.0 && fa.abs() <= noise {
                // a double root within rounding
                out[*n] = m;
                *n += 1;
            }
            return;
        }
        let fm = self.f(m);
        if fa == 0.0 {
            // the zero at a is counted; look only behind it
            self.isolate(a + 1e-9 * h, m, self.f(a + 1e-9 * h), fm, curv, noise, depth + 1, out, n);
        } else {
            self.isolate(a, m, fa, fm, curv, noise, depth + 1, out, n);
        }
        self.isolate(m, b, fm, fb, curv, noise, depth + 1, out, n);
    }

    /// Safeguarded Newton on a bracket with a sign change.
    fn bisect(&self, mut a: f64, mut b: f64, fa: f64) -> f64 {
        let mut x = 0.5 * (a + b);
        for _ in 0..60 {
            let (s, c) = x.sin_cos();
            let f = self.value(c, s);
            if f == 0.0 || b - a < 1e-16 {
                return x;
            }
            if (f > 0.0) == (fa > 0.0) {
                a = x;
            } else {
                b = x;
            }
            let next = x - f / self.slope(c, s);
            let old = x;
            x = if next > a && next < b { next } else { 0.5 * (a + b) };
            if (x - old).abs() < 2e-16 {
                return x;
            }
        }
        x
    }
}

/// The solution a sweep of Gauss–Seidel takes: open before stick before the slip whose direction is nearest to the
/// previous impulse `old`. `None`: no solution (Painlevé contact).
#[inline]
pub(super) fn one_contact(w: &M3, q: &V3, mu: f64, d: usize, old: &V3) -> Option<V3> {
    if q[0] >= 0.0 {
        return Some([0.0; 3]);
    }
    if d == 1 || mu == 0.0 {
        let r = -q[0] / w[0][0];
        return r.is_finite().then_some([r, 0.0, 0.0]);
    }
    if let Some(r) = stick(w, q, mu, d) {
        return Some(r);
    }
    if d == 2 {
        let first = if old[1] > 0.0 { 1.0 } else { -1.0 };
        for s in [first, -first] {
            let delta = w[0][0] + mu * s * w[0][1];
            if delta > 0.0 {
                let rn = -q[0] / delta;
                if ((w[1][0] + mu * s * w[1][1]) * rn + q[1]) * s <= 0.0 {
                    return Some([rn, mu * s * rn, 0.0]);
                }
            }
        }
        return None;
    }
    let p = Slip::new(w, q, mu);
    // Newton in the angle from the previous direction, then from the frictionless one
    let starts = [
        if old[1] != 0.0 || old[2] != 0.0 { (old[1], old[2]) } else { (-q[1], -q[2]) },
        (-(q[1] - w[1][0] / w[0][0] * q[0]), -(q[2] - w[2][0] / w[0][0] * q[0])),
    ];
    for (c, s) in starts {
        let l = norm2(c, s);
        if !(l > 0.0) {
            continue;
        }
        let (mut cs, mut sn) = (c / l, s / l);
        for _ in 0..12 {
            let f = p.value(cs, sn);
            let df = p.slope(cs, sn);
            let step = (-f / df).clamp(-0.5, 0.5);
            if !step.is_finite() {
                break;
            }
            let (ds, dc) = if step.abs() < 1e-4 { (step, 1.0 - 0.5 * step * step) } else { step.sin_cos() };
            (cs, sn) = (cs * dc - sn * ds, sn * dc + cs * ds);
            if step.abs() < 1e-9 {
                // normalise, check signs
                let l = norm2(cs, sn);
                (cs, sn) = (cs / l, sn / l);
                let delta = w[0][0] + mu * (w[0][1] * cs + w[0][2] * sn);
                if delta > 1e-12 * w[0][0] {
                    let rn = -q[0] / delta;
                    let r = [rn, mu * rn * cs, mu * rn * sn];
                    let u1 = q[1] + w[1][0] * r[0] + w[1][1] * r[1] + w[1][2] * r[2];
                    let u2 = q[2] + w[2][0] * r[0] + w[2][1] * r[1] + w[2][2] * r[2];
                    if u1 * cs + u2 * sn <= 0.0 {
                        return Some(r);
                    }
                }
                break;
            }
        }
    }
    // all roots, nearest to the old direction
    let mut roots = [0.0; 8];
    let n = p.roots(&mut roots);
    let mut best = None;
    let mut score = f64::NEG_INFINITY;
    for &th in &roots[..n] {
        if let Some(r) = p.admissible(th) {
            let sc = th.cos() * old[1] + th.sin() * old[2];
            if sc > score {
                score = sc;
                best = Some(r);
            }
        }
    }
    best
}
