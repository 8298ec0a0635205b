//! One phase of an impact: a solution of its complementarity problem, chosen by a documented rule when there are several.
//!
//! Small problems are searched completely, so that "no solution" and "several" are certain; large ones are solved by Lemke's method
//! first. Tie-break (PG-8-POISSON, edge case i): among several solutions the one that remains when the tangential
//! velocities are enlarged by a small δ in the direction they have, so that friction opposes the approach velocity; if
//! that leaves several, the one with the smallest sum of normal impulses.

use crate::contact::collect::{Point, sort_out};
use crate::contact::family::Polyhedron;
use crate::contact::pattern::{LeafSolver, Pattern};
use crate::contact::problem::Problem;
use crate::contact::search::{Search, count};
use crate::contact::transition::one_solution;
use crate::lcp::Solver;
use crate::linalg::max_abs;

/// Patterns up to which everything is searched.
const SEARCH_ALL: f64 = 300.0;
/// δ of the tie-break, relative to the largest velocity; it must exceed the tolerance of the search.
const DELTA: f64 = 1e-6;
/// Nodes of the search of a large problem.
const MAX_NODES: usize = 50_000;

/// Answer of a phase: x̂ and how many solutions there are (a continuum counts as 2).
pub(crate) type Answer = Option<(Vec<f64>, usize)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    search: Search,
    lcp: Solver,
}

impl Phase {
    /// Solve; `approach[j]` is the tangential velocity whose sign directs the tie-break.
    pub fn solve(&mut self, p: &Problem, approach: &[f64]) -> Answer {
        if p.dim() == 0 {
            return Some((Vec::new(), 1));
        }
        if count(p) > SEARCH_ALL
            && let Some(x) = one_solution(p, &mut self.lcp)
        {
            return Some((x, 1));
        }
        let (points, families) = self.all(p);
        let total = points.len() + 2 * families.len();
        if total <= 1 {
            return points.into_iter().next().map(|(x, _)| (x, 1));
        }
        // tie-break
        let mut tilted = p.clone();
        let delta = DELTA * max_abs(&p.c);
        for (j, v) in approach.iter().enumerate() {
            tilted.c[p.normals + j] += delta * if *v == 0.0 { 0.0 } else { v.signum() };
        }
        let (tilted_points, tilted_families) = self.all(&tilted);
        let mut candidates: Vec<(Vec<f64>, Pattern)> =
            tilted_points.into_iter().map(|(x, mut q)| (x, q.swap_remove(0))).collect();
        candidates.extend(tilted_families.into_iter().map(|mut g| {
            let Polyhedron { x, pattern, .. } = g.swap_remove(0);
            (x, pattern)
        }));
        let weight = |x: &[f64]| x[..p.normals].iter().sum::<f64>();
        candidates.sort_by(|a, b| weight(&a.0).total_cmp(&weight(&b.0)));
        for (x, pattern) in candidates {
            if let Some(x) = settle(p, &pattern, x) {
                return Some((x, total));
            }
        }
        // the tilted problem had no use: the lightest of the solutions themselves
        let mut own: Vec<Vec<f64>> = points.into_iter().map(|q| q.0).collect();
        own.extend(families.into_iter().map(|mut g| g.swap_remove(0).x));
        own.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
        own.into_iter().next().map(|x| (x, total))
    }

    /// A solution other than zero, the lightest.
    pub fn nontrivial(&mut self, p: &Problem) -> Option<Vec<f64>> {
        let (points, families) = self.all(p);
        let mut own: Vec<Vec<f64>> = points.into_iter().map(|q| q.0).collect();
        own.extend(families.into_iter().map(|mut g| g.swap_remove(0).x));
        own.retain(|x| max_abs(x) > 1e-7 * max_abs(&p.c));
        own.sort_by(|a, b| max_abs(a).total_cmp(&max_abs(b)));
        own.into_iter().next()
    }

    fn all(&mut self, p: &Problem) -> (Vec<Point>, Vec<Vec<Polyhedron>>) {
        self.search.run(p, MAX_NODES);
        let found = std::mem::take(&mut self.search.found);
        sort_out(p, &found)
    }
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
