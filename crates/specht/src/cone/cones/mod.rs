//! The sets in which the impulses of a contact live, one file each, with the same functions in the same order
//!
//! ```text
//! F_ρ(r, u): zero exactly where the law of the set holds, for any ρ > 0           (natural map, METH-CONE-PROBLEM)
//! dF = B dr + S du                                                               (METH-CONE-NEWTON)
//! ```
//!
//! | file | set | law |
//! |---|---|---|
//! | `soc` | `\|r_T\| ≤ μ r_N` | Signorini and Coulomb |
//! | `convex` | the same | relaxed: `u ∈ K* ⟂ r ∈ K` (existence test) |
//! | `half` | `r_N ≥ 0` | Signorini |
//! | `disc` | `\|r_T\| ≤ bound` | Coulomb with a given normal force |
//! | `free` | everything | `u = 0` |
//! | `pair` | `\|r_T\| ≤ μ\|r_N\|` | `u_N = 0` and Coulomb: a guide |

mod convex;
mod disc;
mod free;
mod half;
mod pair;
mod soc;

use super::form::Rows;
use super::kernel::{M3, V3};
use convex::Convex;
use disc::Disc;
use free::Free;
use half::Half;
use pair::Pair;
use soc::Soc;

/// Shape of the set in which a block of impulses lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// `|r_T| ≤ μ r_N` with normal row (2 or 3 rows)
    #[default]
    Soc,
    /// the same cone with the convex (relaxed) law `u ∈ K* ⟂ r ∈ K`: existence test
    Convex,
    /// `r_N ≥ 0` (1 row)
    Half,
    /// `|r_T| ≤ bound` (1 or 2 rows, no normal row)
    Disc,
    /// no bound, `u = 0`
    Free,
    /// `u_N = 0`, `|r_T| ≤ μ|r_N|`
    Pair,
}

/// Rows and bounds of a set, in the units of the impulses at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub d: usize,
    pub mu: f64,
    pub bound: f64,
}

/// One cone with its rows in the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cone {
    pub kind: Kind,
    pub mu: f64,
    /// friction bound of a disc, physical units
    pub bound: f64,
    pub contact: usize,
    pub rows: Rows,
    /// rows of the problem
    pub source: [usize; 3],
    /// the same, counted inside the contact
    pub local: [usize; 3],
    /// stretch of elliptic friction per row
    pub stretch: [f64; 3],
    /// scale `S` per row
    pub scale: [f64; 3],
    /// `d / tr W_ii` in (stretched) physical units
    pub rho: f64,
}

impl Cone {
    /// In physical units divided by `q_s`.
    #[inline]
    pub(super) fn physical(&self, q_s: f64) -> Shape {
        Shape { d: self.rows.d, mu: self.mu, bound: self.bound / q_s }
    }

    /// In scaled coordinates: friction cones have μ = 1, guides keep theirs, discs have their scaled radius.
    #[inline]
    pub(super) fn scaled(&self, q_s: f64) -> Shape {
        let mu = if self.kind == Kind::Pair { self.mu } else { 1.0 };
        Shape { d: self.rows.d, mu, bound: self.bound / (q_s * self.scale[0]) }
    }
}

/// What replaces a row of `A x + b = 0` in a mode.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    /// `A x + b = 0`
    Hold,
    /// `x = value`
    Set(f64),
    /// `x = factor · x_(row before)`
    Follow(f64),
}

/// Sliding both ways of a planar contact with the bound `f` times the row before.
fn slide(f: f64) -> [[Row; 3]; 2] {
    [[Row::Hold, Row::Follow(f), Row::Hold], [Row::Hold, Row::Follow(-f), Row::Hold]]
}

/// What every set must know.
trait Set {
    /// The admissible impulse nearest to `r`.
    fn admissible(s: &Shape, r: V3) -> V3;
    /// Natural map `F_ρ`.
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3;
    /// `B` and `S` of the natural map; the padding of `B` is zero.
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3);
    /// One contact alone: the impulse that solves `u = W r + q`, of several the one nearest to `old`.
    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3>;
    /// Equations of the rows in each mode, in scaled coordinates; none when the modes are not linear systems.
    fn modes(s: &Shape) -> Vec<[Row; 3]>;
}

/// Call a function of the set that belongs to a kind.
macro_rules! of {
    ($kind:expr, $function:ident $arguments:tt) => {
        match $kind {
            Kind::Soc => Soc::$function $arguments,
            Kind::Convex => Convex::$function $arguments,
            Kind::Half => Half::$function $arguments,
            Kind::Disc => Disc::$function $arguments,
            Kind::Free => Free::$function $arguments,
            Kind::Pair => Pair::$function $arguments,
        }
    };
}

impl Kind {
    /// See [`Set::admissible`].
    #[inline]
    pub(super) fn admissible(self, s: &Shape, r: V3) -> V3 {
        of!(self, admissible(s, r))
    }

    /// See [`Set::natural`].
    #[inline]
    pub(super) fn natural(self, s: &Shape, r: V3, u: V3, rho: f64) -> V3 {
        of!(self, natural(s, r, u, rho))
    }

    /// `F`, `B`, `S`; see [`Set::jacobian`].
    #[inline]
    pub(super) fn jacobian(self, s: &Shape, r: V3, u: V3, rho: f64) -> (V3, M3, M3) {
        let (b, j) = of!(self, jacobian(s, r, u, rho));
        (self.natural(s, r, u, rho), b, j)
    }

    /// See [`Set::alone`].
    #[inline]
    pub(super) fn alone(self, s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3> {
        of!(self, alone(s, w, q, old))
    }

    /// See [`Set::modes`].
    pub(super) fn modes(self, s: &Shape) -> Vec<[Row; 3]> {
        of!(self, modes(s))
    }
}
