//! One phase of an impact: a solution of its complementarity problem, chosen by a documented rule when there are several.
//!
//! Small problems are searched completely, so that "no solution" and "several" are certain; large ones are solved by Lemke's method
//! first. Tie-break (PG-8-POISSON, edge case i): among several solutions the one that remains when the tangential
//! velocities are enlarged by a small δ in the direction they have, so that friction opposes the approach velocity; if
//! that leaves several, the one with the smallest sum of normal impulses.

use crate::contact::family::Polyhedron;
use crate::contact::pattern::{LeafSolver, Pattern};
use crate::contact::problem::Problem;
use crate::contact::search::{Search, count};
use crate::contact::transition::one_solution;
use crate::lcp::Solver;
use crate::linalg::{dot, max_abs};

/// Patterns up to which everything is searched.
const SEARCH_ALL: f64 = 300.0;
/// δ of the tie-break, relative to the largest velocity; it must exceed the tolerance of the search.
const DELTA: f64 = 1e-6;
/// Work of the search of a large problem, in multiplications.
const MAX_WORK: usize = 20_000_000;

/// Answer of a phase: x̂ and how many solutions there are (a continuum counts as 2).
pub(crate) type Answer = Option<(Vec<f64>, usize)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    search: Search,
    lcp: Solver,
}

/// A solution, its pattern, and the directions in which it can be moved (unless a border forbids it).
struct Candidate {
    x: Vec<f64>,
    pattern: Pattern,
    poly: Option<Polyhedron>,
}

impl Phase {
    /// Solve; `approach[j]` is the tangential velocity whose sign directs the tie-break. Solutions with different impulses
    /// but the same velocities count as one unless `impulses_matter`.
    pub fn solve(&mut self, p: &Problem, approach: &[f64], impulses_matter: bool) -> Answer {
        if p.dim() == 0 {
            return Some((Vec::new(), 1));
        }
        if count(p) > SEARCH_ALL
            && let Some(x) = one_solution(p, &mut self.lcp)
        {
            return Some((x, 1));
        }
        let mut all = self.all(p);
        let total = number(p, &all, impulses_matter);
        if total <= 1 {
            return (!all.is_empty()).then(|| (all.swap_remove(0).x, 1));
        }
        // tie-break
        let mut tilted = p.clone();
        let delta = DELTA * max_abs(&p.c);
        for (j, v) in approach.iter().enumerate() {
            tilted.c[p.normals + j] += delta * if *v == 0.0 { 0.0 } else { v.signum() };
        }
        for c in self.all(&tilted) {
            if let Some(x) = settle(p, &c.pattern, c.x) {
                return Some((x, total));
            }
        }
        // the tilted problem had no use: the lightest of the solutions themselves
        Some((all.swap_remove(0).x, total))
    }

    /// The solutions other than zero, the lightest first.
    pub fn nontrivial(&mut self, p: &Problem) -> Vec<Vec<f64>> {
        let least = 1e-7 * max_abs(&p.c);
        self.all(p).into_iter().map(|c| c.x).filter(|x| max_abs(x) > least).collect()
    }

    // one candidate per pattern, the smallest sum of normal impulses first
    fn all(&mut self, p: &Problem) -> Vec<Candidate> {
        self.search.run(p, MAX_WORK);
        let mut all: Vec<Candidate> = Vec::new();
        for (leaf, pattern) in std::mem::take(&mut self.search.found) {
            if leaf.null.rows() == 0 {
                all.push(Candidate { x: leaf.x, pattern, poly: None });
            } else if let Some(poly) = Polyhedron::new(p, &leaf, &pattern) {
                all.push(Candidate { x: poly.x.clone(), pattern, poly: Some(poly) });
            }
        }
        let weight = |x: &[f64]| x[..p.normals].iter().sum::<f64>();
        all.sort_by(|a, b| weight(&a.x).total_cmp(&weight(&b.x)));
        all
    }
}

// how many different solutions; 2 stands for a continuum
fn number(p: &Problem, all: &[Candidate], impulses_matter: bool) -> usize {
    let mut distinct: Vec<(Vec<f64>, &[f64])> = Vec::new();
    let mut continuum = false;
    for c in all {
        let mut y = Vec::new();
        p.y(&c.x, &mut y);
        let tol = 1e-7 * p.size(&c.x, &y);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tol);
        if !distinct.iter().any(|(v, x)| near(v, &y) && (!impulses_matter || near(x, &c.x))) {
            distinct.push((y, &c.x));
        }
        if let Some(poly) = &c.poly {
            // directions that leave all velocities alone do not matter when impulses do not
            let still = |k: usize| (0..p.dim()).all(|i| dot(p.h.row(i), poly.null.row(k)).abs() < 1e-9);
            let matters = impulses_matter || !(0..poly.null.rows()).all(still);
            continuum = continuum || (matters && poly.is_extended(p));
        }
    }
    if continuum { distinct.len().max(2) } else { distinct.len() }
}

// the solution of the original problem in the pattern of the tilted one, next to it
fn settle(p: &Problem, pattern: &Pattern, x: Vec<f64>) -> Option<Vec<f64>> {
    let mut solver = LeafSolver::default();
    solver.reference = x;
    let mut leaves = Vec::new();
    solver.solve(p, pattern, &mut leaves);
    leaves.retain(|l| l.feasible && p.residual(&l.x) < 1e-8);
    let distance =
        |l: &[f64]| l.iter().zip(&solver.reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    leaves.sort_by(|a, b| distance(&a.x).total_cmp(&distance(&b.x)));
    leaves.into_iter().next().map(|l| l.x)
}
