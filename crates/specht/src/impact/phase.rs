//! One phase of an impact: a solution of its complementarity problem, chosen by a documented rule when there are several.
//!
//! Small problems are searched completely, so that "no solution" and "several" are certain; large ones are solved by Lemke's method
//! first. Tie-break (PG-8-POISSON, edge case i): among several solutions the one that remains when the tangential
//! velocities are enlarged by a small δ in the direction they have, so that friction opposes the approach velocity (a
//! velocity at rounding size has no direction); if that leaves several, the one with the smallest sum of normal impulses. Impulses
//! that this leaves free, because the same velocities follow from a family of them, are shared as slightly compliant contacts
//! share them ([`crate::contact::compliant`]). Solutions are counted by their velocities.

use crate::contact::Start;
use crate::contact::compliant::{Compliant, is_dependent};
use crate::contact::one::{one_solution, pattern_of};
use crate::lcp::Solver;
use crate::linalg::{dot, max_abs};
use crate::modes::family::Polyhedron;
use crate::modes::pattern::{LeafSolver, Pattern, State};
use crate::modes::problem::{Friction, Problem};
use crate::modes::search::{Search, count};

/// Patterns up to which everything is searched.
const SEARCH_ALL: f64 = 300.0;
/// δ of the tie-break, relative to the largest velocity; it must exceed the tolerance of the search.
const DELTA: f64 = 1e-6;
/// Tangential velocities below this, relative to the largest velocity, count as zero.
const REST: f64 = 1e-9;
/// Two velocities or impulses closer than this (scaled) are one.
const SAME: f64 = 1e-7;
/// Residual up to which a pattern with its forces is a solution.
const ACCEPTED: f64 = 1e-8;
/// Rounds of journals whose bounds follow from the answer, and the residual at which they have settled.
const ROUNDS: usize = 60;
const MET: f64 = 1e-10;
/// Work of the search of a large problem, in multiplications.
const MAX_WORK: usize = 20_000_000;

/// Answer of a phase.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    /// x̂.
    pub x: Vec<f64>,
    /// How many different velocities the laws allow; a continuum counts as 2.
    pub count: usize,
    /// Other impulses, as far apart as the laws allow, with which the velocities are the same.
    pub indifferent: Vec<Vec<f64>>,
}

impl Answer {
    fn one(x: Vec<f64>) -> Self {
        Answer { x, count: 1, indifferent: Vec::new() }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    search: Search,
    lcp: Solver,
    compliant: Compliant,
}

/// A solution, its pattern, and the directions in which it can be moved (unless a border forbids it).
struct Candidate {
    x: Vec<f64>,
    pattern: Pattern,
    poly: Option<Polyhedron>,
}

impl Phase {
    /// Solve; `approach[j]` is the tangential velocity whose sign directs the tie-break, of velocities and, when `impulses_matter` to
    /// what follows, of impulses.
    pub(super) fn solve(&mut self, p: &Problem, approach: &[f64], impulses_matter: bool) -> Option<Answer> {
        if p.dim() == 0 {
            return Some(Answer::one(Vec::new()));
        }
        // slips that were taken for granted must have gone on
        let granted = |f: &Friction| f.start != Start::Zero && !f.is_smooth();
        let answer = self.solve_as_started(p, approach, impulses_matter);
        if !p.friction.iter().any(granted) || answer.as_ref().is_some_and(|a| goes_on(p, &a.x)) {
            return answer;
        }
        let mut free = p.clone();
        free.friction.iter_mut().filter(|f| granted(f)).for_each(|f| f.start = Start::Zero);
        self.solve_as_started(&free, approach, impulses_matter)
    }

    fn solve_as_started(&mut self, p: &Problem, approach: &[f64], impulses_matter: bool) -> Option<Answer> {
        if count(p) > SEARCH_ALL
            && let Some(x) = self.one(p)
        {
            return Some(Answer::one(x));
        }
        let all = self.all(p);
        let Some(Candidate { x: lightest, .. }) = all.first() else {
            // everything on some border, or a family that the norms of pins bound
            let x = one_solution(p, &mut self.lcp).or_else(|| self.by_rounds(p));
            return x.map(Answer::one);
        };
        if all.iter().all(|c| c.poly.is_none() && is_same(p, &c.x, lightest, false)) {
            return Some(Answer::one(lightest.clone()));
        }
        let count = number(p, &all);
        // friction opposes the approach; if that is of no use, the lightest of the solutions themselves
        let tilted = if count > 1 || impulses_matter { self.tilted(p, approach) } else { None };
        let (lead, directed) = tilted.unwrap_or_else(|| (lightest.clone(), p.clone()));
        let member = self.compliant.member(&directed, &[], |x| is_same(p, x, &lead, true));
        let x = member.map(|m| m.x).filter(|x| is_as_good(p, x, &lead)).unwrap_or(lead);
        let ends = all.iter().flat_map(|c| c.poly.iter().flat_map(Polyhedron::ends).chain([c.x.clone()]));
        let indifferent = ends.filter(|e| is_same(p, e, &x, true) && !is_same(p, e, &x, false)).collect();
        Some(Answer { x, count, indifferent })
    }

    // journals by rounds: their bounds follow from the pin forces of the round before, until all laws are met
    fn by_rounds(&mut self, p: &Problem) -> Option<Vec<f64>> {
        if p.pins.is_empty() {
            return None;
        }
        let mut frozen = p.clone();
        let mut x = vec![0.0; p.dim()];
        for _ in 0..ROUNDS {
            for (f, own) in frozen.friction.iter_mut().zip(&p.friction) {
                let norms: f64 = own.pins.iter().map(|&(k, c)| c * p.pin_norm(k, &x)).sum();
                f.pins.clear();
                f.load.constant = own.load.constant + norms;
                f.static_constant = own.static_constant + norms;
            }
            x = one_solution(&frozen, &mut self.lcp)?;
            if p.residual(&x) < MET {
                return Some(x);
            }
        }
        None
    }

    // of a large problem
    fn one(&mut self, p: &Problem) -> Option<Vec<f64>> {
        let plain = one_solution(p, &mut self.lcp)?;
        if !is_dependent(p, &pattern_of(p, &plain)) {
            return Some(plain);
        }
        let member = self.compliant.member(p, &[], |_| true).map(|m| m.x);
        Some(member.filter(|x| is_as_good(p, x, &plain)).unwrap_or(plain))
    }

    // the solution that remains when tangential velocities are enlarged, and the problem in which tangents that slip then have their
    // direction
    fn tilted(&mut self, p: &Problem, approach: &[f64]) -> Option<(Vec<f64>, Problem)> {
        let mut tilted = p.clone();
        let largest = max_abs(&p.c);
        let moves = |v: f64| v.abs() > REST * largest;
        for (j, v) in approach.iter().enumerate() {
            if moves(*v) {
                tilted.c[p.normals + j] += DELTA * largest * v.signum();
            }
        }
        let find = |c: Candidate| settle(p, &c.pattern, c.x).map(|x| (x, c.pattern));
        let (lead, pattern) = self.all(&tilted).into_iter().find_map(find)?;
        tilted.c.clone_from(&p.c);
        for (j, f) in tilted.friction.iter_mut().enumerate() {
            match pattern.state[j] {
                Some(State::Plus) if moves(approach[j]) => f.start = Start::Plus,
                Some(State::Minus) if moves(approach[j]) => f.start = Start::Minus,
                _ => {}
            }
        }
        Some((lead, tilted))
    }

    /// The solutions other than zero, the lightest first.
    pub(super) fn nontrivial(&mut self, p: &Problem) -> Vec<Vec<f64>> {
        let least = 1e-7 * p.reach();
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
        // the norms of pins are found by iteration: what it does not meet is no solution
        all.retain(|c| p.residual(&c.x) < ACCEPTED);
        let weight = |x: &[f64]| x[..p.normals].iter().sum::<f64>();
        all.sort_by(|a, b| weight(&a.x).total_cmp(&weight(&b.x)));
        all
    }
}

// whether all slips that were taken for granted keep their directions
fn goes_on(p: &Problem, x: &[f64]) -> bool {
    let mut y = Vec::new();
    p.y(x, &mut y);
    p.friction.iter().zip(&y[p.normals..]).all(|(f, y)| match f.start {
        _ if f.is_smooth() => true,
        Start::Plus => *y > 0.0,
        Start::Minus => *y < 0.0,
        _ => true,
    })
}

// how many different velocities; 2 stands for a continuum
fn number(p: &Problem, all: &[Candidate]) -> usize {
    let mut distinct: Vec<&[f64]> = Vec::new();
    let mut continuum = false;
    for c in all {
        if !distinct.iter().any(|x| is_same(p, x, &c.x, true)) {
            distinct.push(&c.x);
        }
        if let Some(poly) = &c.poly {
            // directions that leave all velocities alone do not matter
            let still = |k: usize| (0..p.dim()).all(|i| dot(p.h.row(i), poly.null.row(k)).abs() < 1e-9);
            continuum = continuum || (!(0..poly.null.rows()).all(still) && poly.is_extended(p));
        }
    }
    if continuum { distinct.len().max(2) } else { distinct.len() }
}

// whether x satisfies the laws to rounding, or no worse than another solution
fn is_as_good(p: &Problem, x: &[f64], other: &[f64]) -> bool {
    p.residual(x) <= p.residual(other).max(1e-15)
}

/// Whether two solutions have the same velocities, or the same impulses.
pub(super) fn is_same(p: &Problem, a: &[f64], b: &[f64], by_velocity: bool) -> bool {
    let (mut y, mut z) = (Vec::new(), Vec::new());
    p.y(a, &mut y);
    p.y(b, &mut z);
    let tol = SAME * p.size(a, &y);
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tol);
    if by_velocity { near(&y, &z) } else { near(a, b) }
}

// the solution of the original problem in the pattern of the tilted one, next to it
fn settle(p: &Problem, pattern: &Pattern, x: Vec<f64>) -> Option<Vec<f64>> {
    let mut solver = LeafSolver::default();
    solver.reference = x;
    let mut leaves = Vec::new();
    solver.solve(p, pattern, &mut leaves);
    leaves.retain(|l| l.feasible && p.residual(&l.x) < ACCEPTED);
    let distance =
        |l: &[f64]| l.iter().zip(&solver.reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    leaves.sort_by(|a, b| distance(&a.x).total_cmp(&distance(&b.x)));
    leaves.into_iter().next().map(|l| l.x)
}
