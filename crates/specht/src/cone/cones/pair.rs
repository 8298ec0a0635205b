//! Guide `|r_T| ≤ μ|r_N|` with `u_N = 0` and Coulomb's law: the normal force has either sign

use super::super::kernel::{M3, V3, disc, inv3, mul3, norm2, tangential};
use super::super::local::Slip;
use super::super::nt::Part;
use super::{Inside, Row, Set, Shape, Way, doubt, slide};

pub(super) struct Pair;

impl Set for Pair {
    const CONE: bool = true;

    #[inline]
    fn pair(_: Way) -> bool {
        true
    }

    #[inline]
    fn admissible(s: &Shape, r: V3) -> V3 {
        let t = disc([r[1], r[2], 0.0], s.mu * r[0].abs());
        [r[0], t[0], t[1]]
    }

    #[inline]
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        let p = disc([r[1] - rho * u[1], r[2] - rho * u[2], 0.0], s.mu * r[0].abs());
        [rho * u[0], r[1] - p[0], r[2] - p[1]]
    }

    #[inline]
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        let (mut b, mut j) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        j[0][0] = rho;
        tangential(s.d, 1, s.mu * r[0].abs(), s.mu * r[0].signum(), r, u, rho, &mut b, &mut j);
        (b, j)
    }

    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        let (d, mu) = (s.d, s.mu);
        if q[0] == 0.0 && q[1] == 0.0 && q[2] == 0.0 {
            return Some([0.0; 3]);
        }
        let r = inv3(w, d).map(|i| mul3(&i, &[-q[0], -q[1], -q[2]]));
        if let Some(r) = r.filter(|r| norm2(r[1], r[2]) <= mu * r[0].abs()) {
            return Some(r);
        }
        let mut best: Option<(f64, V3)> = None;
        let mut offer = |r: V3| {
            let dist = (r[0] - old[0]).abs() + (r[1] - old[1]).abs() + (r[2] - old[2]).abs();
            if best.is_none_or(|b| dist < b.0) {
                best = Some((dist, r));
            }
        };
        // with the normal reversed: W_N· and W_·N change sign, r_N ≥ 0 again
        for sign in [1.0, -1.0] {
            let mut ws = *w;
            for k in 1..3 {
                ws[0][k] *= sign;
                ws[k][0] *= sign;
            }
            let qs = [q[0] * sign, q[1], q[2]];
            if d == 2 {
                for s in [1.0, -1.0] {
                    let rn = -qs[0] / (ws[0][0] + mu * s * ws[0][1]);
                    if rn >= 0.0 && rn.is_finite() && ((ws[1][0] + mu * s * ws[1][1]) * rn + qs[1]) * s <= 0.0
                    {
                        offer([rn * sign, mu * s * rn, 0.0]);
                    }
                }
            } else {
                let p = Slip::new(&ws, &qs, mu);
                let mut roots = [0.0; 8];
                let n = p.roots(&mut roots);
                for &th in &roots[..n] {
                    if let Some(r) = p.admissible(th) {
                        offer([r[0] * sign, r[1], r[2]]);
                    }
                }
            }
        }
        if q[0] == 0.0 && best.is_none() {
            return Some([0.0; 3]);
        }
        best.map(|b| b.1)
    }

    fn modes(s: &Shape) -> Vec<[Row; 3]> {
        if s.d > 2 {
            return Vec::new();
        }
        let mut all = vec![[Row::Hold; 3]];
        all.extend(slide(s.mu));
        all
    }

    fn doubt(s: &Shape, x: &V3, y: &V3) -> f64 {
        doubt(s.mu * x[0].abs() - norm2(x[1], x[2]), norm2(y[1], y[2]))
    }

    /// The bound is a variable, `x_0² = μ² r_N² + τ k`, as the product of `p = x_0 − μ r_N` and `n = x_0 + μ r_N`: smooth, and
    /// `μ|r_N|` at the end.
    fn start(_: &Shape, way: Way, size: f64) -> (Part, V3) {
        let b = (size * way.ratio()).sqrt();
        (Part { x: [b, 0.0, 0.0], psi: [size / b, 0.0, 0.0], p: b, n: b }, [0.0; 3])
    }

    #[inline]
    fn velocity(part: &Part) -> V3 {
        [0.0, part.psi[1], part.psi[2]]
    }

    /// Rows T: `P_TT dr_T + P_T0 (μ² r_N / x_0) dr_N`; row N: nothing.
    #[inline]
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        at.nt.tangential(1, at.s.d, delta, b, inv);
        let slope = 0.5 * at.s.mu * (at.part.n - at.part.p) / at.part.x[0];
        for l in 1..at.s.d {
            b[l][0] = at.nt.side(l) * slope;
        }
    }

    #[inline]
    fn right(at: &Inside, dc: &V3, c0: f64) -> V3 {
        let g = at.nt.scale(dc);
        let more = 0.5 * c0 / at.part.x[0];
        [0.0, g[1] - at.nt.side(1) * more, g[2] - at.nt.side(2) * more]
    }

    #[inline]
    fn follow(at: &Inside, dc: &V3, c0: f64, dx: &V3, du: &V3) -> Part {
        let (mu, half) = (at.s.mu, 0.5 * (at.part.n - at.part.p));
        let bound = (0.5 * c0 + mu * half * dx[0]) / at.part.x[0];
        let x = [bound, dx[1], dx[2]];
        let first = at.nt.scale(dc)[0] - at.nt.first(&x);
        Part { x, psi: [first, du[1], du[2]], p: bound - mu * dx[0], n: bound + mu * dx[0] }
    }
}
