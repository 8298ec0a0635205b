//! No bound on the impulses and `u = 0`: joints and closed loops

use super::super::kernel::{M3, V3, inv3, mul3};
use super::super::nt::Part;
use super::{Inside, Row, Set, Shape, Way};

pub(super) struct Free;

impl Set for Free {
    const CONE: bool = false;

    #[inline]
    fn pair(_: Way) -> bool {
        false
    }

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

    fn doubt(_: &Shape, _: &V3, _: &V3) -> f64 {
        0.0
    }

    fn start(_: &Shape, _: Way, _: f64) -> (Part, V3) {
        (Part::default(), [0.0; 3])
    }

    #[inline]
    fn velocity(_: &Part) -> V3 {
        [0.0; 3]
    }

    #[inline]
    fn block(_: &Inside, _: f64, _: &mut M3, _: &mut M3) {}

    #[inline]
    fn right(_: &Inside, _: &V3, _: f64) -> V3 {
        [0.0; 3]
    }

    #[inline]
    fn follow(_: &Inside, _: &V3, _: f64, _: &V3, _: &V3) -> Part {
        Part::default()
    }
}
