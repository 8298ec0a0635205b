//! The sets in which the impulses of a contact live, one file each, with the same functions in the same order
//!
//! ```text
//! F_ρ(r, u): zero exactly where the law of the set holds, for any ρ > 0           (natural map, METH-CONE-PROBLEM)
//! dF = B dr + S du                                                               (METH-CONE-NEWTON)
//! products x ∘ ψ = τ e on the Lorentz cone and p n = τ k of two numbers            (METH-CONE-IPM, METH-CONE-SPLIT)
//! ```
//!
//! | file | set | law |
//! |---|---|---|
//! | `soc` | `\|r_T\| ≤ μ r_N` | Signorini and Coulomb |
//! | `convex` | the same | relaxed: `u ∈ K* ⟂ r ∈ K` (existence test) |
//! | `half` | `r_N ≥ 0` | Signorini |
//! | `disc` | `\|r_T\| ≤ bound` | Coulomb with a given normal force, or a share of another cone's (`Owner`) |
//! | `free` | everything | `u = 0` |
//! | `pair` | `\|r_T\| ≤ μ\|r_N\|` | `u_N = 0` and Coulomb: a guide |
//! | `share` | the same disc alone | Coulomb with the normal force of a guide |

mod convex;
mod disc;
mod free;
mod half;
mod pair;
mod share;
mod soc;

use super::form::Rows;
use super::interior::positive;
use super::kernel::{M3, V3, norm2};
use super::nt::{Nt, Part, to_boundary};
use convex::Convex;
use disc::Disc;
use free::Free;
use half::Half;
use pair::Pair;
use share::Share;
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
    /// `|r_T| ≤ μ|r_N|` with the normal impulse of a guide (1 or 2 rows, no normal row)
    Share,
}

/// Rows and bounds of a set, in the units of the impulses at hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub d: usize,
    pub mu: f64,
    pub bound: f64,
}

/// Whose normal impulse bounds a disc: `bound = μ r_N`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Owner {
    /// cone with the normal row
    pub cone: usize,
    pub mu: f64,
}

/// One cone with its rows in the problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cone {
    pub kind: Kind,
    pub mu: f64,
    /// friction bound of a disc, physical units
    pub bound: f64,
    /// of a disc that shares a normal impulse
    pub owner: Option<Owner>,
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
    /// `x = factor · bound` of a disc
    Bound(f64),
    /// `x = factor · x_(row before)`
    Follow(f64),
}

/// Sliding both ways of a planar contact with the bound `f` times the row before.
fn slide(f: f64) -> [[Row; 3]; 2] {
    [[Row::Hold, Row::Follow(f), Row::Hold], [Row::Hold, Row::Follow(-f), Row::Hold]]
}

/// Which path leads through the interior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Way {
    /// `x ∘ (n + |v|, v) = τ e`
    #[default]
    Joint,
    /// `x ∘ (s, v) = τ e`, `x_0 n = τ k`
    Split(f64),
}

impl Way {
    /// `k`.
    #[inline]
    pub(super) fn ratio(self) -> f64 {
        match self {
            Way::Joint => 1.0,
            Way::Split(k) => k,
        }
    }
}

/// A cone at an interior point.
pub(super) struct Inside<'a> {
    pub way: Way,
    /// in scaled coordinates
    pub s: &'a Shape,
    pub part: &'a Part,
    pub nt: &'a Nt,
}

/// Of two numbers of which one must vanish, the smaller by the larger.
#[inline]
fn doubt(a: f64, b: f64) -> f64 {
    let (a, b) = (a.abs(), b.abs());
    if a.max(b) > 0.0 { a.min(b) / a.max(b) } else { 0.0 }
}

/// What every set must know.
trait Set {
    /// Whether it has the product `x ∘ ψ`.
    const CONE: bool;
    /// Whether it has the product `p n`.
    fn pair(way: Way) -> bool;

    /// The admissible impulse nearest to `r`.
    fn admissible(s: &Shape, r: V3) -> V3;
    /// Natural map `F_ρ`.
    fn natural(s: &Shape, r: V3, u: V3, rho: f64) -> V3;
    /// `B` and `S` of the natural map; the padding of `B` is zero, but for the last column of a disc, its derivative by the bound.
    fn jacobian(s: &Shape, r: V3, u: V3, rho: f64) -> (M3, M3);
    /// One contact alone: the impulse that solves `u = W r + q`, of several the one nearest to `old`.
    fn alone(s: &Shape, w: &M3, q: &V3, old: &V3) -> Option<V3>;
    /// Equations of the rows in each mode, in scaled coordinates; none when the modes are not linear systems.
    fn modes(s: &Shape) -> Vec<[Row; 3]>;
    /// How much the mode is in doubt at impulses `x` with velocities `y`, in scaled coordinates: of two numbers of which one must
    /// vanish, the smaller one by the larger; 0: clear, 1: no idea.
    fn doubt(s: &Shape, x: &V3, y: &V3) -> f64;
    /// First point of a path, with impulses of this size and velocities of size one (τ = size), and its impulses by rows.
    fn start(s: &Shape, way: Way, size: f64) -> (Part, V3);
    /// Velocities by rows.
    fn velocity(part: &Part) -> V3;
    /// Block `D` of the Newton matrix `A + D` and its inverse, the eigenvalues raised by `delta`; both are zero before.
    fn block(at: &Inside, delta: f64, b: &mut M3, inv: &mut M3);
    /// How the bound of a disc follows the normal impulse it shares, by μ.
    fn slope(_: &Part) -> f64 {
        1.0
    }
    /// Right-hand side by rows when the products change by `λ ∘ dc` and by `c0`.
    fn right(at: &Inside, dc: &V3, c0: f64) -> V3;
    /// The change of the part that follows from those of its rows; behind the rows of a disc stands the change of its
    /// owner's normal impulse, times μ.
    fn follow(at: &Inside, dc: &V3, c0: f64, dx: &V3, du: &V3) -> Part;
}

/// Call a function of the set that belongs to a kind.
macro_rules! of {
    ($kind:expr, $function:ident $($arguments:tt)?) => {
        match $kind {
            Kind::Soc => Soc::$function $($arguments)?,
            Kind::Convex => Convex::$function $($arguments)?,
            Kind::Half => Half::$function $($arguments)?,
            Kind::Disc => Disc::$function $($arguments)?,
            Kind::Free => Free::$function $($arguments)?,
            Kind::Pair => Pair::$function $($arguments)?,
            Kind::Share => Share::$function $($arguments)?,
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
    #[inline(always)]
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

    /// See [`Set::doubt`].
    pub(super) fn doubt(self, s: &Shape, x: &V3, y: &V3) -> f64 {
        of!(self, doubt(s, x, y))
    }

    /// See [`Set::CONE`].
    #[inline]
    pub(super) fn has_cone(self) -> bool {
        of!(self, CONE)
    }

    /// See [`Set::pair`].
    #[inline]
    pub(super) fn has_pair(self, way: Way) -> bool {
        of!(self, pair(way))
    }

    /// See [`Set::start`].
    pub(super) fn start(self, s: &Shape, way: Way, size: f64) -> (Part, V3) {
        of!(self, start(s, way, size))
    }

    /// See [`Set::velocity`].
    #[inline]
    pub(super) fn velocity(self, part: &Part) -> V3 {
        of!(self, velocity(part))
    }

    /// See [`Set::block`].
    #[inline]
    pub(super) fn block(self, at: &Inside, delta: f64, b: &mut M3, inv: &mut M3) {
        of!(self, block(at, delta, b, inv))
    }

    /// See [`Set::slope`].
    #[inline]
    pub(super) fn slope(self, part: &Part) -> f64 {
        of!(self, slope(part))
    }

    /// See [`Set::right`].
    #[inline]
    pub(super) fn right(self, at: &Inside, dc: &V3, c0: f64) -> V3 {
        of!(self, right(at, dc, c0))
    }

    /// See [`Set::follow`].
    #[inline]
    pub(super) fn follow(self, at: &Inside, dc: &V3, c0: f64, dx: &V3, du: &V3) -> Part {
        of!(self, follow(at, dc, c0, dx, du))
    }

    /// Whether `|v|` stands in the equations of this path.
    #[inline]
    fn bent(self, way: Way) -> bool {
        self == Kind::Soc && way == Way::Joint
    }

    /// `ψ_0 − |v|`.
    #[inline]
    pub(super) fn gap(self, way: Way, part: &Part) -> f64 {
        if self.bent(way) { part.n } else { part.psi[0] - norm2(part.psi[1], part.psi[2]) }
    }

    /// After a step: what is not linear.
    #[inline]
    pub(super) fn refresh(self, way: Way, part: &mut Part) {
        if self.bent(way) {
            part.psi[0] = part.n + norm2(part.psi[1], part.psi[2]);
        }
    }

    /// Direction in which `|v|` grows, with a rounded kink.
    #[inline]
    pub(super) fn lean(self, way: Way, part: &Part, nt: &mut Nt) {
        if self.bent(way) {
            soc::lean(part, nt);
        }
    }

    /// Curvature of `|v|` along a step.
    #[inline]
    pub(super) fn bend(self, at: &Inside, d: &Part, a: f64) -> f64 {
        if self.bent(at.way) { soc::bend(at, d, a) } else { 0.0 }
    }

    /// Step along `d` that keeps `ψ`, `p` and `n` inside.
    #[inline]
    pub(super) fn reach(self, way: Way, part: &Part, d: &Part) -> f64 {
        let mut a = 1e30_f64;
        if self.bent(way) {
            return positive(part.n, d.n);
        }
        if self.has_cone() {
            a = to_boundary(&part.psi, &d.psi);
        }
        if self.has_pair(way) {
            a = a.min(positive(part.p, d.p)).min(positive(part.n, d.n));
        }
        a
    }
}
