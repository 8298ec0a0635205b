//! The forces that a (possibly partial) pattern admits: a linear program with few rows.
//!
//! ```text
//! x̂ = Σ α_g g,  α ≥ 0      two edges of the cone of a contact that may stick, one of a contact that slides, none of an open one
//! ŷ = 0                    at most d independent equations (see [`super::span`])
//! ŷ_N ≥ 0                  undecided normals;   ŷ ≥ t > 0 where the pattern says that something moves
//! ```
//!
//! *Strict* programs look for t > 0: an open contact parts and a sliding one gains speed, so that every acceleration belongs to one
//! pattern only, the one with the most contacts that stick. Tangents whose bound is not a multiple of one normal force keep
//! their conditions as rows. Norms of pins are left out: such a program admits more than the laws.

use super::Start;
use super::pattern::{Condition, On, Pattern, State, conditions};
use super::problem::{Friction, Kind, Problem};
use super::span::{Equations, Row, Span, through};
use crate::lcp::lp::{LpOutcome, Simplex};
use crate::linalg::{Mat, axpy};

/// A motion slower than this, relative to the largest |ĉ|, is none.
pub(crate) const STRICT: f64 = 1e-10;
/// Inequalities may be violated by this much, so that solutions on the border of a pattern are kept.
const MARGIN: f64 = 1e-9;
/// Right sides below this, relative to the largest |ĉ|, are zero.
const ROUNDING: f64 = 1e-14;
/// Equations may contradict each other by this much.
const CONSISTENT: f64 = 1e-8;

/// A generator of forces: at most two entries of x̂.
type Edge = [(usize, f64); 2];

/// The program; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Admissible {
    /// Multiplications so far.
    pub work: usize,
    /// The equations of the pattern posed last.
    pub equations: Equations,
    size: f64,
    dim: usize,
    edges: Vec<Edge>,
    by_edges: Vec<bool>,
    rows: Vec<(Vec<f64>, f64, Sense)>,
    list: Vec<Condition>,
    simplex: Simplex,
    x: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sense {
    Equal,
    AtLeast,
    /// At least t.
    Moves,
}

impl Admissible {
    /// Whether the pattern may have a solution.
    pub(super) fn pose(&mut self, p: &Problem, span: &Span, pattern: &Pattern, strict: bool) -> bool {
        self.size = p.reach();
        self.dim = p.dim();
        self.set_edges(p, pattern);
        self.rows.clear();
        self.equations.rows.clear();
        if !self.equal_rows(p, span, pattern) || !self.moving_rows(p, span, pattern, strict) {
            return false;
        }
        self.list.clear();
        if !self.by_edges.iter().all(|b| *b) {
            conditions(p, pattern, true, &mut self.list);
        }
        for c in &self.list {
            if matches!(c.on, On::Tangent(j) if !self.by_edges[j]) {
                let sense = if c.equal { Sense::Equal } else { Sense::AtLeast };
                self.rows.push((c.a.clone(), c.b, sense));
            }
        }
        self.load(if strict { 0.0 } else { MARGIN })
    }

    /// A point of the program, x̂.
    pub(super) fn point(&self) -> Vec<f64> {
        let mut x = vec![0.0; self.dim];
        for (g, a) in self.edges.iter().zip(&self.simplex.x) {
            for &(i, v) in g {
                x[i] += self.size * a * v;
            }
        }
        x
    }

    /// Least and largest value of `q·x̂ + q0` over the program posed last.
    pub(super) fn range(&mut self, q: &[f64], q0: f64) -> [f64; 2] {
        let mut cost = vec![0.0; self.simplex.x.len()];
        [-1.0, 1.0].map(|s| {
            for (c, g) in cost.iter_mut().zip(&self.edges) {
                *c = s * along(q, g);
            }
            let start = self.simplex.pivots;
            let outcome = self.simplex.maximize_again(&cost);
            self.work += (1 + self.simplex.pivots - start) * self.rows.len() * (cost.len() + self.rows.len());
            match outcome {
                LpOutcome::Unbounded => s * f64::INFINITY,
                LpOutcome::Optimal { value } => q0 + s * value * self.size,
                _ => f64::NAN,
            }
        })
    }

    /// The mean of the points at which each edge of a cone carries most, x̂.
    pub(super) fn mean(&mut self) -> Vec<f64> {
        let (mut sum, mut count) = (self.point(), 1.0);
        // a program that was left unsolved has no other points
        if self.simplex.x.len() < self.edges.len() {
            return sum;
        }
        let mut cost = vec![0.0; self.simplex.x.len()];
        for g in 0..self.edges.len() {
            cost[g] = 1.0;
            if matches!(self.simplex.maximize_again(&cost), LpOutcome::Optimal { .. }) {
                axpy(1.0, &self.point(), &mut sum);
                count += 1.0;
            }
            cost[g] = 0.0;
        }
        sum.iter_mut().for_each(|v| *v /= count);
        sum
    }

    fn set_edges(&mut self, p: &Problem, pattern: &Pattern) {
        self.edges.clear();
        self.by_edges.clear();
        self.by_edges.resize(p.friction.len(), false);
        for i in 0..p.normals {
            let mut on = (0..p.friction.len()).filter(|&j| p.friction[j].kind == Kind::Normal(i));
            let cone = match (on.next(), on.next()) {
                (Some(j), None) if is_cone(&p.friction[j], i) => Some(j),
                _ => None,
            };
            if let Some(j) = cone {
                self.by_edges[j] = true;
            }
            if pattern.closed[i] == Some(false) {
                continue;
            }
            let Some(j) = cone else {
                self.edges.push([(i, 1.0), (i, 0.0)]);
                continue;
            };
            let f = &p.friction[j];
            let (k, t) = (f.load.coef[i], p.normals + j);
            let (lo, hi) = match effective(f, pattern.state[j]) {
                Some(State::Plus) => (Some(f.slide.lo), None),
                Some(State::Minus) => (None, Some(f.slide.hi)),
                Some(State::Stick) => (Some(f.stick.lo), Some(f.stick.hi)),
                _ => (Some(f.stick.lo.max(f.slide.lo)), Some(f.stick.hi.max(f.slide.hi))),
            };
            for slope in [lo.map(|m| -m * k), hi.map(|m| m * k)].into_iter().flatten() {
                let norm = slope.abs().max(1.0);
                self.edges.push([(i, 1.0 / norm), (t, slope / norm)]);
            }
        }
        for j in 0..p.friction.len() {
            if pattern.state[j] == Some(State::Off) {
                self.by_edges[j] = true;
            } else if !self.by_edges[j] {
                let t = p.normals + j;
                self.edges.extend([[(t, 1.0), (t, 0.0)], [(t, -1.0), (t, 0.0)]]);
            }
        }
    }

    // ŷ = 0, independent; false when these contradict each other
    fn equal_rows(&mut self, p: &Problem, span: &Span, pattern: &Pattern) -> bool {
        let closed = (0..p.normals).filter(|&i| pattern.closed[i] == Some(true));
        let stick = (0..p.friction.len()).filter(|&j| pattern.state[j] == Some(State::Stick));
        for i in closed.chain(stick.map(|j| p.normals + j)) {
            if !self.equations.add(Row::of(p, span, i), CONSISTENT * self.size) {
                return false;
            }
        }
        for (row, _) in &self.equations.rows {
            through(span, &row.l, &mut self.x);
            self.rows.push((self.x.clone(), -row.constant, Sense::Equal));
        }
        true
    }

    // ŷ ≥ 0 and ŷ ≥ t; false when one that does not depend on the forces is violated
    fn moving_rows(&mut self, p: &Problem, span: &Span, pattern: &Pattern, strict: bool) -> bool {
        for i in 0..p.dim() {
            let Some((sign, moves)) = demand(p, pattern, i) else { continue };
            let row = self.equations.reduce(Row::of(p, span, i));
            if row.is_constant() {
                let least = if moves && strict { STRICT } else { -MARGIN };
                if sign * row.constant < least * self.size {
                    return false;
                }
                continue;
            }
            through(span, &row.l, &mut self.x);
            self.x.iter_mut().for_each(|v| *v *= sign);
            let sense = if moves && strict { Sense::Moves } else { Sense::AtLeast };
            self.rows.push((self.x.clone(), -sign * row.constant, sense));
        }
        true
    }

    // the standard form: columns for edges, slacks, t and the slack of t ≤ 1
    fn load(&mut self, margin: f64) -> bool {
        let n = self.edges.len();
        let slacks = self.rows.iter().filter(|r| r.2 != Sense::Equal).count();
        let moves = self.rows.iter().any(|r| r.2 == Sense::Moves);
        let (m, cols) = (self.rows.len() + usize::from(moves), n + slacks + 2 * usize::from(moves));
        let mut a = Mat::zeros(m, cols);
        let mut b = Vec::with_capacity(m);
        let mut slack = n;
        for (k, (row, rhs, sense)) in self.rows.iter().enumerate() {
            for (j, g) in self.edges.iter().enumerate() {
                a[(k, j)] = along(row, g);
            }
            if *sense != Sense::Equal {
                a[(k, slack)] = -1.0;
                slack += 1;
            }
            if *sense == Sense::Moves {
                a[(k, n + slacks)] = -1.0;
            }
            // what is rounding beside the largest acceleration is nothing, also when nothing else is in the program
            let rhs = if rhs.abs() <= ROUNDING * self.size { 0.0 } else { rhs / self.size };
            b.push(rhs - if *sense == Sense::Equal { 0.0 } else { margin });
        }
        if moves {
            (a[(m - 1, cols - 2)], a[(m - 1, cols - 1)]) = (1.0, 1.0);
            b.push(1.0);
        }
        let possible = match self.simplex.load(&a, &b) {
            LpOutcome::Infeasible => false,
            _ if !moves => true,
            LpOutcome::Optimal { .. } => {
                let mut cost = vec![0.0; cols];
                cost[n + slacks] = 1.0;
                match self.simplex.maximize_again(&cost) {
                    LpOutcome::Optimal { value } => value > STRICT,
                    _ => true,
                }
            }
            _ => true,
        };
        self.work += (1 + self.simplex.pivots) * m * (cols + m);
        possible
    }
}

/// What a pattern says about ŷ_i beyond equations: the sign it must have, and whether strictly.
pub(crate) fn demand(p: &Problem, pattern: &Pattern, i: usize) -> Option<(f64, bool)> {
    if i < p.normals {
        return match pattern.closed[i] {
            Some(true) => None,
            Some(false) => Some((1.0, true)),
            None => Some((1.0, false)),
        };
    }
    let j = i - p.normals;
    match pattern.state[j] {
        _ if p.friction[j].start != Start::Zero => None,
        Some(State::Plus) => Some((1.0, true)),
        Some(State::Minus) => Some((-1.0, true)),
        _ => None,
    }
}

/// The state of a tangent, where it is known to slide also before it is decided.
fn effective(f: &Friction, state: Option<State>) -> Option<State> {
    state.or(match f.start {
        Start::Plus => Some(State::Plus),
        Start::Minus => Some(State::Minus),
        _ => None,
    })
}

// the bound is a multiple of this normal force
fn is_cone(f: &Friction, i: usize) -> bool {
    let zero = [f.load.constant, f.static_constant, f.stick.lo0, f.stick.hi0, f.slide.lo0, f.slide.hi0];
    f.pins.is_empty() && zero == [0.0; 6] && f.load.coef.iter().enumerate().all(|(k, &c)| k == i || c == 0.0)
}

fn along(q: &[f64], g: &Edge) -> f64 {
    q[g[0].0] * g[0].1 + q[g[1].0] * g[1].1
}
