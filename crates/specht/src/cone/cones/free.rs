//! No bound on the impulses and `u = 0`: joints and closed loops

use super::super::kernel::{M3, V3, inv3, mul3};
use super::{Row, Set, Shape};

pub(super) struct Free;

impl Set for Free {
    #[inline]
    fn admissible(_: &Shape, r: V3) -> V3 {
        r
    }

    #[inline]
    fn natural(_: &Shape, _: V3, u: V3, rho: f64) -> V3 {
        [rho * u[0], rho * u[1], rho * u[2]]
    }

    #[inline]
    fn jacobian(shape: &Shape, _: V3, _: V3, rho: f64) -> (M3, M3) {
        let mut s = [[0.0; 3]; 3];
        for i in 0..shape.d {
            s[i][i] = rho;
        }
        ([[0.0; 3]; 3], s)
    }

    #[inline]
    fn alone(s: &Shape, w: &M3, q: &V3, _: &V3) -> Option<V3> {
        Some(mul3(&inv3(w, s.d)?, &[-q[0], -q[1], -q[2]]))
    }

    fn modes(_: &Shape) -> Vec<[Row; 3]> {
        vec![[Row::Hold; 3]]
    }
}
