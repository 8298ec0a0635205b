//! One solution of the mode problem, and when it is the only one.

use super::Start;
use super::transition::DEGENERATE;
use crate::lcp::Solver;
use crate::linalg::{Mat, dot, max_abs};
use crate::modes::pattern::{Leaf, LeafSolver, Pattern, State, TOLERANCE};
use crate::modes::problem::Problem;

/// Normal forces do not depend on friction and H is definite: forces and accelerations are unique (two monotone problems,
/// one after the other).
pub(super) fn is_monotone(p: &Problem) -> bool {
    let nn = p.normals;
    let decoupled = (0..nn).all(|i| p.h.row(i)[nn..].iter().all(|h| h.abs() < 1e-13));
    let plain = |f: &crate::modes::problem::Friction| {
        f.pins.is_empty()
            && f.load.coef[nn..].iter().all(|&c| c == 0.0)
            && (f.start != Start::Zero || (f.stick == f.slide && f.static_constant == f.load.constant))
    };
    decoupled && p.friction.iter().all(plain) && crate::linalg::FullPivot::default().factor(&p.h) == p.dim()
}

/// A solution in which friction has nothing to do: without friction no closed contact would slip. The acceleration is then the
/// only one, whatever the coefficients: for another solution 2 the energy of the difference is
/// `|Δ|² = Σ_N −(x₁ y₂ + x₂ y₁) + Σ_T (t₁ − t₂)(s₁ − s₂)`, and with t₁ = 0, s₁ = 0 the second sum is `Σ t₂ s₂ ≤ 0`. A contact
/// that opens has t₁ = 0 too, and `−x₂ y₁ − t₂ s₁ ≤ 0` when it opens at least μ times as fast as it slips.
pub(crate) fn needs_no_friction(p: &Problem, lcp: &mut Solver) -> Option<Vec<f64>> {
    let nn = p.normals;
    if p.friction.iter().any(|f| f.start != Start::Zero) {
        return None;
    }
    let h = Mat::from_fn(nn, nn, |i, j| p.h[(i, j)]);
    if !lcp.solve(crate::lcp::Lcp::new(&h, &p.c[..nn])).is_solved() {
        return None;
    }
    let mut x = lcp.z.clone();
    x.resize(p.dim(), 0.0);
    let mut y = Vec::new();
    p.y(&x, &mut y);
    let tol = TOLERANCE * p.size(&x, &y);
    let idle = |j: usize| {
        let (f, slip) = (&p.friction[j], y[nn + j].abs());
        let opens = f.follows_normal().map_or(0.0, |i| {
            let bounds = [f.stick.lo, f.stick.hi, f.slide.lo, f.slide.hi];
            y[i] / (max_abs(&bounds) * f.load.coef[i]).max(1e-300)
        });
        slip <= tol || slip <= opens
    };
    let symmetric = (0..p.dim()).all(|i| (0..i).all(|j| (p.h[(i, j)] - p.h[(j, i)]).abs() <= 1e-12));
    let holds = symmetric && (0..p.friction.len()).all(idle) && p.residual(&x) <= TOLERANCE;
    holds.then_some(x)
}

/// All forces with the accelerations of a solution.
pub(super) fn around(p: &Problem, x: Vec<f64>) -> Vec<(Leaf, Pattern)> {
    let pattern = pattern_of(p, &x);
    let mut leaves = Vec::new();
    LeafSolver::default().solve(p, &pattern, &mut leaves);
    match leaves.pop() {
        Some(leaf) if leaf.null.rows() > 0 => vec![(leaf, pattern)],
        _ => vec![(Leaf { x, null: Mat::default(), feasible: true }, pattern)],
    }
}

/// One solution through the reduced form, verified; `None` when none was found this way.
pub(crate) fn one_solution(p: &Problem, lcp: &mut Solver) -> Option<Vec<f64>> {
    let form = crate::modes::forms::reduced(p)?;
    lcp.solve(form.lcp()).is_solved().then(|| form.x(&lcp.z)).filter(|x| p.residual(x) < 1e-8)
}

/// The pattern that a solution satisfies.
pub(crate) fn pattern_of(p: &Problem, x: &[f64]) -> Pattern {
    let mut y = Vec::new();
    p.y(x, &mut y);
    let tol = DEGENERATE * p.size(x, &y);
    let closed: Vec<Option<bool>> = (0..p.normals).map(|i| Some(x[i] > tol || y[i] <= tol)).collect();
    let state = p
        .friction
        .iter()
        .enumerate()
        .map(|(j, f)| {
            let i = p.normals + j;
            Some(match (f.follows_normal(), f.start) {
                (Some(n), _) if closed[n] == Some(false) => State::Off,
                (_, Start::Plus) => State::Plus,
                (_, Start::Minus) => State::Minus,
                _ if y[i] > tol => State::Plus,
                _ if y[i] < -tol => State::Minus,
                _ => State::Stick,
            })
        })
        .collect();
    let sign = p
        .friction
        .iter()
        .map(|f| match f.is_signed() {
            true if dot(&f.load.coef, x) + f.load.constant < 0.0 => -1.0,
            true => 1.0,
            false => 0.0,
        })
        .collect();
    Pattern { closed, state, sign }
}
