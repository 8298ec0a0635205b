//! Disc `|r_T| ≤ bound` with Coulomb's law: the normal force is given

use super::super::kernel::{M3, V3, disc, inv3, mul3, norm2, tangential};
use super::super::local::Slip;
use super::{Row, Set, Shape};

pub(super) struct Disc;

impl Set for Disc {
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
        tangential(s.d, 0, s.bound, 0.0, r, u, rho, &mut b, &mut j);
        (b, j)
    }

    /// `|r| ≤ f`, `u = −s r` with `s ≥ 0`, in one or two rows.
    fn alone(s: &Shape, w: &M3, q: &V3, _: &V3) -> Option<V3> {
        let f = s.bound;
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
        vec![[Row::Hold; 3], [Row::Set(s.bound); 3], [Row::Set(-s.bound); 3]]
    }
}
