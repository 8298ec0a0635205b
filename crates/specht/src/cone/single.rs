//! One contact of Coulomb's law as the piles use it: three rows, or one without friction. The same maps as inside the solver.

use super::cones::{Kind, Shape};
use super::kernel::{M3, V3, inv3};

#[inline]
fn kind(mu: f64) -> (Kind, Shape) {
    match mu > 0.0 {
        true => (Kind::Soc, Shape { d: 3, mu, bound: 0.0 }),
        false => (Kind::Half, Shape { d: 1, mu: 0.0, bound: 0.0 }),
    }
}

/// The admissible impulse nearest to `r`.
#[inline]
pub(crate) fn admissible(mu: f64, r: V3) -> V3 {
    let (kind, shape) = kind(mu);
    kind.admissible(&shape, r)
}

/// Natural map `F_ρ(r, u)`: zero where the law holds.
#[inline]
pub(crate) fn natural(mu: f64, r: V3, u: V3, rho: f64) -> V3 {
    let (kind, shape) = kind(mu);
    kind.natural(&shape, r, u, rho)
}

/// W⁻¹ of three rows; `None` when W is singular to rounding, where contacts that stick are left to [`alone`].
pub(crate) fn inverse(w: &M3) -> Option<M3> {
    let [a, b, c] = *w;
    let det = a[0] * (b[1] * c[2] - b[2] * c[1])
        + a[1] * (b[2] * c[0] - b[0] * c[2])
        + a[2] * (b[0] * c[1] - b[1] * c[0]);
    (det.abs() > 1e-14 * a[0] * b[1] * c[2]).then(|| inv3(w, 3)).flatten()
}

/// The impulse that solves `u = W r + q`, of several the one nearest to `old`; `None`: there is none.
#[inline]
pub(crate) fn alone(mu: f64, w: &M3, q: &V3, old: &V3) -> Option<V3> {
    let (kind, shape) = kind(mu);
    kind.alone(&shape, w, q, old)
}
