//! Friction cone `|r_T| ≤ μ r_N` with the laws of Signorini and Coulomb
//!
//! ```text
//! F_ρ = r − P_K(r − ρ(u + μ|u_T| n)),   B = I − J,  S = ρ J E,  J ∈ ∂P_K,  E = I + μ n (0, û_Tᵀ)
//! ```
//!
//! The projection on a steep cone hides a violation: at `r = 0`, `u_N < 0` it answers with `|u_N|/μ`. Above [`STEEP`] each law
//! therefore has a map of its own, in its own units, with the same zeros (Alart & Curnier 1991):
//!
//! ```text
//! F_N = r_N − max(0, r_N − ρ u_N)          F_T = r_T − P(r_T − ρ u_T),  P on the disc of radius μ max(0, r_N)
//! ```

use super::super::kernel::{M3, V3, disc, norm2, project, tangential};
use super::super::local::one_contact;
use super::super::nt::{Nt, Part};
use super::{Inside, Row, Set, Shape, Way, doubt, half::Half, slide};

/// Coefficient above which normal and tangential law are measured apart; up to it the joint map is at least a third of each.
const STEEP: f64 = 2.0;

pub(super) struct Soc;

impl Set for Soc {
    const CONE: bool = true;

    #[inline]
    fn pair(way: Way) -> bool {
        way != Way::Joint
    }

    #[inline]
    fn admissible(s: &Shape, r: V3) -> V3 {
        project(r, s.mu)
    }

    #[inline(always)]
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        if s.mu > STEEP {
            let p = disc([r[1] - rho * u[1], r[2] - rho * u[2], 0.0], s.mu * r[0].max(0.0));
            return [r[0] - (r[0] - rho * u[0]).max(0.0), r[1] - p[0], r[2] - p[1]];
        }
        joint(s.mu, r, [u[0] + s.mu * norm2(u[1], u[2]), u[1], u[2]], rho)
    }

    #[inline]
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        if s.mu > STEEP {
            let (mut b, mut j) = Half::jacobian(s, r, u, rho);
            let slope = if r[0] > 0.0 { s.mu } else { 0.0 };
            tangential(s.d, 1, slope * r[0], slope, r, u, rho, &mut b, &mut j);
            return (b, j);
        }
        joint_jacobian(s, r, u, norm2(u[1], u[2]), rho)
    }

    #[inline]
    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        one_contact(w, q, s.mu, s.d, old)
    }

    fn modes(s: &Shape) -> Vec<[Row; 3]> {
        let mut all = vec![[Row::Set(0.0); 3], [Row::Hold; 3]];
        if s.d == 2 {
            all.extend(slide(s.mu));
        }
        all
    }

    fn doubt(_: &Shape, x: &V3, y: &V3) -> f64 {
        let (xt, v) = (norm2(x[1], x[2]), norm2(y[1], y[2]));
        let closed = doubt(x[0], y[0]);
        // an open contact has no direction to be in doubt
        if x[0].abs() < y[0].abs() { closed } else { closed.max(doubt(x[0] - xt, v)) }
    }

    fn start(_: &Shape, way: Way, size: f64) -> (Part, V3) {
        let x = [size, 0.0, 0.0];
        (Part { x, psi: [1.0, 0.0, 0.0], p: size, n: way.ratio() }, x)
    }

    #[inline]
    fn velocity(part: &Part) -> V3 {
        [part.n, part.psi[1], part.psi[2]]
    }

    /// Joint: `(I−G)P`; split: `[[n/x_0, 0], [P_T0, P_TT]]`.
    #[inline]
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        if at.way == Way::Joint {
            return at.nt.whole(at.s.d, delta, b, inv);
        }
        at.nt.tangential(1, at.s.d, delta, b, inv);
        b[0][0] = at.part.n / at.part.x[0];
        inv[0][0] = 1.0 / (b[0][0] + delta);
        for l in 1..at.s.d {
            b[l][0] = at.nt.side(l);
        }
        for l in 1..at.s.d {
            let across: f64 = (1..at.s.d).map(|j| inv[l][j] * b[j][0]).sum();
            inv[l][0] = -across * inv[0][0];
        }
    }

    #[inline]
    fn right(at: &Inside, dc: &V3, c0: f64) -> V3 {
        let g = at.nt.scale(dc);
        let first = match at.way {
            Way::Joint => g[0] - at.nt.t[0] * g[1] - at.nt.t[1] * g[2] - c0,
            Way::Split(_) => c0 / at.part.x[0],
        };
        [first, g[1], g[2]]
    }

    #[inline]
    fn follow(at: &Inside, dc: &V3, _: f64, dx: &V3, du: &V3) -> Part {
        let first = match at.way {
            Way::Joint => du[0] + at.nt.t[0] * du[1] + at.nt.t[1] * du[2],
            Way::Split(_) => at.nt.scale(dc)[0] - at.nt.first(dx),
        };
        Part { x: *dx, psi: [first, du[1], du[2]], p: dx[0], n: du[0] }
    }
}

/// `r − P_K(r − ρ y)`.
#[inline]
pub(super) fn joint(mu: f64, r: V3, y: V3, rho: f64) -> V3 {
    let p = project([r[0] - rho * y[0], r[1] - rho * y[1], r[2] - rho * y[2]], mu);
    [r[0] - p[0], r[1] - p[1], r[2] - p[2]]
}

/// `B` and `S` of the joint map with `y = (u_N + μ ut, u_T)`; `ut` is `|u_T|`, or 0 for the relaxed law.
#[inline]
pub(super) fn joint_jacobian(s: &Shape, r: V3, u: V3, ut: f64, rho: f64) -> (M3, M3) {
    let (d, mu) = (s.d, s.mu);
    let z = [r[0] - rho * (u[0] + mu * ut), r[1] - rho * u[1], r[2] - rho * u[2]];
    let t = norm2(z[1], z[2]);
    let mut j = [[0.0; 3]; 3];
    if t <= mu * z[0] {
        for i in 0..d {
            j[i][i] = 1.0;
        }
    } else if mu * t > -z[0] {
        let k = 1.0 / (1.0 + mu * mu);
        let p = (z[0] + mu * t) * k;
        let e = [z[1] / t, z[2] / t];
        j[0] = [k, mu * k * e[0], mu * k * e[1]];
        let g = mu * p / t;
        for a in 0..2 {
            j[a + 1][0] = mu * k * e[a];
            for c in 0..2 {
                j[a + 1][c + 1] = (mu * mu * k - g) * e[a] * e[c];
            }
            if a + 1 < d {
                j[a + 1][a + 1] += g;
            }
        }
    }
    let (mut b, mut sl) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
    for i in 0..d {
        for c in 0..d {
            b[i][c] = f64::from(i == c) - j[i][c];
            sl[i][c] = rho * j[i][c];
        }
        if ut > 0.0 {
            sl[i][1] += rho * j[i][0] * mu * u[1] / ut;
            sl[i][2] += rho * j[i][0] * mu * u[2] / ut;
        }
    }
    (b, sl)
}

/// Rounds the kink of `|v|` in the Jacobian only: `t = v / √(|v|² + (KINK n)²)`. The path stays the same.
const KINK: f64 = 0.1;

/// Set `t`.
#[inline]
pub(super) fn lean(part: &Part, nt: &mut Nt) {
    let l = norm2(norm2(part.psi[1], part.psi[2]), KINK * part.n);
    nt.t = if l > 0.0 { [part.psi[1] / l, part.psi[2] / l] } else { [0.0; 2] };
}

/// `|v + a dv| − |v| − a t·dv`.
#[inline]
pub(super) fn bend(at: &Inside, d: &Part, a: f64) -> f64 {
    let (v, dv, t) = (&at.part.psi, &d.psi, &at.nt.t);
    norm2(v[1] + a * dv[1], v[2] + a * dv[2]) - norm2(v[1], v[2]) - a * (t[0] * dv[1] + t[1] * dv[2])
}
