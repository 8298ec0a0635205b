//! Disc `|r_T| ≤ bound` with Coulomb's law: the normal force is given, or the one of another cone
//!
//! The bound is the first variable of the product, `x = (bound, r_T)`. Where the normal impulse of another cone gives it ([`super::Owner`]) it
//! changes with that: the Newton matrix has one more entry, from the rows of the disc to that normal row (`Blocks::links`).

use super::super::kernel::{M3, V3, disc, inv3, mul3, norm2, tangential};
use super::super::local::Slip;
use super::super::nt::Part;
use super::{Inside, Row, Set, Shape, Way, doubt};

pub(super) struct Disc;

impl Set for Disc {
    const CONE: bool = true;

    #[inline]
    fn pair(_: Way) -> bool {
        false
    }

    #[inline]
    fn admissible(s: &Shape, r: V3) -> V3 {
        disc(r, s.bound)
    }

    #[inline]
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        let p = disc([r[0] - rho * u[0], r[1] - rho * u[1], 0.0], s.bound);
        [r[0] - p[0], r[1] - p[1], 0.0]
    }

    #[inline]
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        let (mut b, mut j) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        tangential(s.d, 0, s.bound, 1.0, r, u, rho, &mut b, &mut j);
        (b, j)
    }

    /// `|r| ≤ f`, `u = −s r` with `s ≥ 0`, in one or two rows.
    fn alone(s: &Shape, w: &M3, q: &V3, _: &V3) -> Option<V3> {
        let f = s.bound;
        if f == 0.0 {
            return Some([0.0; 3]);
        }
        if s.d == 1 {
            return (w[0][0] > 0.0).then(|| [(-q[0] / w[0][0]).clamp(-f, f), 0.0, 0.0]);
        }
        if let Some(i) = inv3(w, 2) {
            let r = mul3(&i, &[-q[0], -q[1], 0.0]);
            if norm2(r[0], r[1]) <= f {
                return Some(r);
            }
        }
        // (W + s I) r = −q with |r| = f: same zeros as a contact of unit normal force with μ = f
        let big = [[1.0, 0.0, 0.0], [0.0, w[0][0], w[0][1]], [0.0, w[1][0], w[1][1]]];
        let q3 = [-1.0, q[0], q[1]];
        let p = Slip::new(&big, &q3, f);
        let mut roots = [0.0; 8];
        let n = p.roots(&mut roots);
        roots[..n].iter().find_map(|&th| p.admissible(th)).map(|r| [r[1], r[2], 0.0])
    }

    fn modes(s: &Shape) -> Vec<[Row; 3]> {
        if s.d > 1 {
            return Vec::new();
        }
        vec![[Row::Hold; 3], [Row::Bound(1.0); 3], [Row::Bound(-1.0); 3]]
    }

    fn doubt(s: &Shape, x: &V3, y: &V3) -> f64 {
        doubt(s.bound - norm2(x[0], x[1]), norm2(y[0], y[1]))
    }

    /// `x_0` is the bound, `ψ_0` is a multiplier.
    fn start(s: &Shape, _: Way, size: f64) -> (Part, V3) {
        let part = Part { x: [s.bound, 0.0, 0.0], psi: [size / s.bound, 0.0, 0.0], p: 0.0, n: 0.0 };
        (part, [0.0; 3])
    }

    #[inline]
    fn velocity(part: &Part) -> V3 {
        [part.psi[1], part.psi[2], 0.0]
    }

    #[inline]
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        at.nt.tangential(0, at.s.d, delta, b, inv);
    }

    #[inline]
    fn right(at: &Inside, dc: &V3, _: f64) -> V3 {
        let g = at.nt.scale(dc);
        [g[1], g[2], 0.0]
    }

    #[inline]
    fn follow(at: &Inside, dc: &V3, _: f64, dx: &V3, du: &V3) -> Part {
        let x = [dx[2], dx[0], dx[1]];
        let first = at.nt.scale(dc)[0] - at.nt.first(&x);
        Part { x, psi: [first, du[0], du[1]], p: 0.0, n: 0.0 }
    }
}
