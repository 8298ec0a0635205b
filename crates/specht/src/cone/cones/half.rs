//! Half line `r_N ≥ 0` with the law of Signorini: a contact without friction

use super::super::kernel::{M3, V3};
use super::super::local::one_contact;
use super::super::nt::Part;
use super::{Inside, Row, Set, Shape, Way, doubt};

pub(super) struct Half;

impl Set for Half {
    const CONE: bool = false;

    #[inline]
    fn pair(_: Way) -> bool {
        true
    }

    #[inline]
    fn admissible(_: &Shape, r: V3) -> V3 {
        [r[0].max(0.0), 0.0, 0.0]
    }

    #[inline]
    fn natural(_: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        [r[0] - (r[0] - rho * u[0]).max(0.0), 0.0, 0.0]
    }

    #[inline]
    fn jacobian(_: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3) {
        let (mut b, mut s) = ([[0.0; 3]; 3], [[0.0; 3]; 3]);
        if r[0] - rho * u[0] > 0.0 {
            s[0][0] = rho;
        } else {
            b[0][0] = 1.0;
        }
        (b, s)
    }

    #[inline]
    fn alone(_: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        one_contact(w, q, 0.0, 1, old)
    }

    fn modes(_: &Shape) -> Vec<[Row; 3]> {
        vec![[Row::Set(0.0); 3], [Row::Hold; 3]]
    }

    fn doubt(_: &Shape, x: &V3, y: &V3) -> f64 {
        doubt(x[0], y[0])
    }

    fn start(_: &Shape, way: Way, size: f64) -> (Part, V3) {
        (Part { p: size, n: way.ratio(), ..Part::default() }, [size, 0.0, 0.0])
    }

    #[inline]
    fn velocity(part: &Part) -> V3 {
        [part.n, 0.0, 0.0]
    }

    #[inline]
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        b[0][0] = at.part.n / at.part.p;
        inv[0][0] = 1.0 / (b[0][0] + delta);
    }

    #[inline]
    fn right(at: &Inside, _: &V3, c0: f64) -> V3 {
        [c0 / at.part.p, 0.0, 0.0]
    }

    #[inline]
    fn follow(_: &Inside, _: &V3, _: f64, dx: &V3, du: &V3) -> Part {
        Part { p: dx[0], n: du[0], ..Part::default() }
    }
}
