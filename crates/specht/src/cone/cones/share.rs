//! Disc `|r_T| ≤ μ|r_N|` with the normal impulse of a guide, which has either sign

use super::super::kernel::{M3, V3};
use super::super::nt::Part;
use super::{Disc, Inside, Row, Set, Shape, Way};

pub(super) struct Share;

impl Set for Share {
    const CONE: bool = true;

    #[inline]
    fn pair(_: Way) -> bool {
        true
    }

    fn admissible(s: &Shape, r: V3) -> V3 {
        Disc::admissible(s, r)
    }

    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        Disc::natural(s, r, u, rho)
    }

    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        Disc::jacobian(s, r, u, rho)
    }

    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        Disc::alone(s, w, q, old)
    }

    fn modes(s: &Shape) -> Vec<[Row; 3]> {
        Disc::modes(s)
    }

    fn doubt(s: &Shape, x: &V3, y: &V3) -> f64 {
        Disc::doubt(s, x, y)
    }

    /// As the bound of the guide itself ([`super::pair`]): `x_0² = (μ r_N)² + τ k`, the product of `p = x_0 − μ r_N` and `n = x_0 + μ r_N`.
    fn start(_: &Shape, way: Way, size: f64) -> (Part, V3) {
        let b = (size * way.ratio()).sqrt();
        (Part { x: [b, 0.0, 0.0], psi: [size / b, 0.0, 0.0], p: b, n: b }, [0.0; 3])
    }

    fn velocity(part: &Part) -> V3 {
        Disc::velocity(part)
    }

    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        Disc::block(at, delta, b, inv);
    }

    fn slope(part: &Part) -> f64 {
        0.5 * (part.n - part.p) / part.x[0]
    }

    fn right(at: &Inside, dc: &V3, c0: f64) -> V3 {
        let g = at.nt.scale(dc);
        let more = 0.5 * c0 / at.part.x[0];
        [g[1] - at.nt.side(1) * more, g[2] - at.nt.side(2) * more, 0.0]
    }

    fn follow(at: &Inside, dc: &V3, c0: f64, dx: &V3, du: &V3) -> Part {
        let bound = 0.5 * c0 / at.part.x[0] + Self::slope(at.part) * dx[2];
        let part = Disc::follow(at, dc, c0, &[dx[0], dx[1], bound], du);
        Part { p: bound - dx[2], n: bound + dx[2], ..part }
    }
}
