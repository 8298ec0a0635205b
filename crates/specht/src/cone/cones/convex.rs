//! Friction cone with the relaxed law `u ∈ K* ⟂ r ∈ K`, which is convex: existence test

use super::super::kernel::{M3, V3, project};
use super::super::local::one_contact;
use super::super::nt::Part;
use super::soc::{joint, joint_jacobian};
use super::{Inside, Row, Set, Shape, Way};

pub(super) struct Convex;

impl Set for Convex {
    const CONE: bool = true;

    #[inline]
    fn pair(_: Way) -> bool {
        false
    }

    #[inline]
    fn admissible(s: &Shape, r: V3) -> V3 {
        project(r, s.mu)
    }

    #[inline]
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        joint(s.mu, r, u, rho)
    }

    #[inline]
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        joint_jacobian(s, r, u, 0.0, rho)
    }

    #[inline]
    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        one_contact(w, q, s.mu, s.d, old)
    }

    fn modes(_: &Shape) -> Vec<[Row; 3]> {
        Vec::new()
    }

    fn doubt(_: &Shape, _: &V3, _: &V3) -> f64 {
        0.0
    }

    fn start(_: &Shape, _: Way, size: f64) -> (Part, V3) {
        let x = [size, 0.0, 0.0];
        (Part { x, psi: [1.0, 0.0, 0.0], p: 0.0, n: 0.0 }, x)
    }

    #[inline]
    fn velocity(part: &Part) -> V3 {
        part.psi
    }

    #[inline]
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        at.nt.whole(at.s.d, delta, b, inv);
    }

    #[inline]
    fn right(at: &Inside, dc: &V3, _: f64) -> V3 {
        at.nt.scale(dc)
    }

    #[inline]
    fn follow(_: &Inside, _: &V3, _: f64, dx: &V3, du: &V3) -> Part {
        Part { x: *dx, psi: *du, p: 0.0, n: 0.0 }
    }
}
