//! Of forces that are not determined, those of slightly compliant contacts.
//!
//! ```text
//! y = H x + c,    soft:  y + ε D (x − x₀) in place of y,   ε → 0,     D = 1/d²: the same stiffness for every row
//! ```
//!
//! Every contact gets the same small compliance, in the normal and in the tangential direction, and starts from the forces `x₀`
//! that acted before (none: zero). The laws stay: nothing pulls, friction keeps to its bound. Where the rigid laws leave the
//! accelerations (or velocities) unique and the forces free, the limit is one member of the family: the one with the least change
//! from `x₀` as long as nothing opens or slips in the small; with that, what slips in the small keeps to its bound.
//!
//! The soft problem tells which contacts carry, hold and slip in the small; with this pattern the limit is exact: the solution of
//! the rigid equations `K x = r` with `ℓᵀ D (x − x₀) = 0` for every `ℓᵀ K = 0`, ℓ on the rows that carry or hold. (The
//! equation `K x + ε D (x − x₀) = r` multiplied by ℓᵀ.) Without slip K is symmetric and this is the nearest member.
//! Rows are in SI units; a row that counts an angle is as stiff as one at a lever of 1 m.

use super::Start;
use super::one::{one_solution, pattern_of};
use crate::lcp::Solver;
use crate::linalg::FullPivot;
use crate::linalg::{Mat, axpy, dot, max_abs};
use crate::modes::pattern::{LeafSolver, Pattern, State};
use crate::modes::problem::Problem;
use crate::modes::search::{PRUNE_FROM, Search, count};

/// ε for the row with the largest compliance, relative to mobilities; well above the tolerance of the search.
const SOFT: f64 = 1e-6;
/// Work of the search, in multiplications.
const MAX_WORK: usize = 20_000_000;
/// A member must satisfy the rigid laws this well.
const ACCEPTED: f64 = 1e-10;
/// A force this near to its bound (scaled) has reached it in the soft problem.
const AT_BORDER: f64 = 1e-10;
/// A force beyond its bound by more than this (scaled) is beyond it: a moment of loading may show as little.
const BEYOND: f64 = 1e-12;

/// A member of a family of forces.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub x: Vec<f64>,
    /// What carries, holds and slips in the small.
    pub pattern: Pattern,
}

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compliant {
    search: Search,
    lcp: Solver,
    leaf: LeafSolver,
}

impl Compliant {
    /// The member that slightly compliant contacts give from the forces `before` (scaled; empty: none), among the solutions that
    /// `wanted` accepts. Of several the nearest to `before` whose forces keep to their bounds. `None` when there is none.
    pub(crate) fn member(
        &mut self,
        p: &Problem,
        before: &[f64],
        wanted: impl Fn(&[f64]) -> bool,
    ) -> Option<Member> {
        let weights = weights(p);
        let mut soft = p.clone();
        for (i, w) in weights.iter().enumerate() {
            soft.h[(i, i)] += SOFT * w;
            soft.c[i] -= SOFT * w * before.get(i).copied().unwrap_or(0.0);
        }
        let patterns: Vec<Pattern> = if count(p) <= PRUNE_FROM {
            self.search.run(&soft, MAX_WORK);
            self.search.found.drain(..).filter(|(leaf, _)| leaf.feasible).map(|(_, q)| q).collect()
        } else {
            let one = one_solution(&soft, &mut self.lcp);
            one.map(|x| borders(&soft, &x)).into_iter().flatten().collect()
        };
        let distance = |x: &[f64]| {
            let change = |i: usize| x[i] - before.get(i).copied().unwrap_or(0.0);
            (0..x.len()).map(|i| weights[i] * change(i) * change(i)).sum::<f64>()
        };
        patterns
            .into_iter()
            .filter_map(|pattern| {
                let x = self.limit(p, &pattern, before, &weights)?;
                (p.residual(&x) < ACCEPTED && wanted(&x)).then_some(Member { x, pattern })
            })
            .map(|m| ((excess(p, &m.x) > BEYOND, distance(&m.x)), m))
            .min_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)))
            .map(|(_, m)| m)
    }

    /// ε → 0 with the pattern of the soft problem.
    fn limit(&mut self, p: &Problem, pattern: &Pattern, before: &[f64], weights: &[f64]) -> Option<Vec<f64>> {
        let mut leaves = Vec::new();
        self.leaf.solve(p, pattern, &mut leaves);
        let leaf = leaves.into_iter().next()?;
        let (mut x, null) = (leaf.x, leaf.null);
        if null.rows() > 0 {
            let left = self.leaf.left_null(p, pattern);
            let change: Vec<f64> =
                (0..x.len()).map(|i| weights[i] * (x[i] - before.get(i).copied().unwrap_or(0.0))).collect();
            let k = null.rows();
            let weigh = |n: &[f64]| -> Vec<f64> { n.iter().zip(weights).map(|(n, w)| n * w).collect() };
            let gram = Mat::from_fn(left.rows(), k, |i, j| dot(left.row(i), &weigh(null.row(j))));
            let rhs: Vec<f64> = (0..left.rows()).map(|i| -dot(left.row(i), &change)).collect();
            let mut t = vec![0.0; k];
            let mut rank = FullPivot::default();
            rank.factor(&gram);
            rank.solve(&rhs, &[], &mut t);
            for (t, j) in t.iter().zip(0..k) {
                axpy(*t, null.row(j), &mut x);
            }
        }
        Some(x)
    }
}

/// Whether the rows that a pattern holds (closed normals, sticking tangents) depend on each other: forces are then not determined.
pub(crate) fn is_dependent(p: &Problem, pattern: &Pattern) -> bool {
    let closed = (0..p.normals).filter(|&k| pattern.closed[k] == Some(true));
    let sticks = (0..p.friction.len()).filter(|&j| pattern.state[j] == Some(State::Stick));
    let held: Vec<usize> = closed.chain(sticks.map(|j| p.normals + j)).collect();
    let h = Mat::from_fn(held.len(), held.len(), |i, j| p.h[(held[i], held[j])]);
    FullPivot::default().factor(&h) < held.len()
}

// the patterns of a soft solution: what is at its border has reached it, or has not
fn borders(soft: &Problem, x: &[f64]) -> [Pattern; 2] {
    let inside = pattern_of(soft, x);
    let mut reached = inside.clone();
    let near = AT_BORDER * max_abs(x);
    for (i, closed) in reached.closed.iter_mut().enumerate() {
        *closed = Some(x[i] > near);
    }
    for (j, f) in soft.friction.iter().enumerate() {
        let (x, nu) = (x[soft.normals + j], soft.nu(j, x, true));
        reached.state[j] = match reached.state[j] {
            Some(State::Stick) if f.follows_normal().is_some_and(|n| reached.closed[n] == Some(false)) => {
                Some(State::Off)
            }
            Some(State::Stick) if x + f.stick.lo * nu + f.stick.lo0 <= near => Some(State::Plus),
            Some(State::Stick) if f.stick.hi * nu + f.stick.hi0 - x <= near => Some(State::Minus),
            other => other,
        };
    }
    [inside, reached]
}

// how far forces are beyond zero and beyond the friction bounds, relative to the largest
fn excess(p: &Problem, x: &[f64]) -> f64 {
    let mut worst = x[..p.normals].iter().fold(0.0_f64, |m, x| m.max(-x));
    for (j, f) in p.friction.iter().enumerate() {
        let (x, nu) = (x[p.normals + j], p.nu(j, x, f.start == Start::Zero));
        let b = if f.start == Start::Zero { &f.stick } else { &f.slide };
        worst = worst.max(x - b.hi * nu - b.hi0).max(-x - b.lo * nu - b.lo0);
    }
    worst / max_abs(x).max(f64::MIN_POSITIVE)
}

/// D, with the largest entry 1.
pub(crate) fn weights(p: &Problem) -> Vec<f64> {
    let least = p.scale.iter().fold(f64::INFINITY, |m, d| m.min(*d));
    p.scale.iter().map(|d| (least / d) * (least / d)).collect()
}
