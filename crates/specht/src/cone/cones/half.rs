//! Half line `r_N ≥ 0` with the law of Signorini: a contact without friction

use super::super::kernel::{M3, V3};
use super::super::local::one_contact;
use super::{Row, Set, Shape};

pub(super) struct Half;

impl Set for Half {
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
}
