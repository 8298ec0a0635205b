//! Friction cone with the relaxed law `u ∈ K* ⟂ r ∈ K`, which is convex: existence test

use super::super::kernel::{M3, V3, project};
use super::super::local::one_contact;
use super::soc::{joint, joint_jacobian};
use super::{Row, Set, Shape};

pub(super) struct Convex;

impl Set for Convex {
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
}
