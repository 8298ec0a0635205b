//! All solutions, by branching on modes.
//!
//! Small problems visit every pattern (at most 4 per frictional unilateral contact). Larger ones branch on the *accelerations*: each
//! is zero or has a sign, strictly, so that every acceleration belongs to one pattern, whatever family of forces brings it about.
//! A branch ends when no force fits it ([`Admissible`]). Where contacts depend on each other (many feet of one body), what is
//! decided implies the rest: accelerations that are combinations of decided ones, and, with few degrees of freedom left,
//! those that no motion so far allowed can bring to zero. A table with any number of feet is decided after a few branches.
//!
//! Islands that do not feel each other are searched one by one. The list is complete unless the limit of work was reached. Work is counted in multiplications, never in seconds: the same
//! problem gives the same answer on every machine.

use super::Start;
use super::admissible::{Admissible, STRICT, demand};
use super::islands::{combine, distinct, islands, restrict};
use super::pattern::{Leaf, LeafSolver, Pattern, State};
use super::problem::Problem;
use super::span::{Row, Span};
use crate::lcp::lp::{LpOutcome, Simplex};
use crate::linalg::{Mat, dot};

/// Patterns up to which all are visited.
pub(crate) const PRUNE_FROM: f64 = 400.0;
/// The same where contacts depend on each other: nearly every pattern is then a family.
const DEPENDENT_FROM: f64 = 30.0;
/// Degrees of freedom left up to which implied motions are looked for by linear programs.
const FEW: usize = 6;
/// Accelerations larger than this, relative to the largest |ĉ|, are not zero in any tolerance.
const MOVES: f64 = 1e-8;

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// Solutions with their patterns.
    pub found: Vec<(Leaf, Pattern)>,
    /// Nodes visited.
    pub nodes: usize,
    /// Branch on accelerations also in small problems.
    pub always_prune: bool,
    leaf: LeafSolver,
    leaves: Vec<Leaf>,
    lp: Admissible,
    span: Span,
    simplex: Simplex,
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Normal(usize),
    Tangent(usize),
}

impl Search {
    /// Find all solutions; false when `limit` multiplications did not suffice.
    pub(crate) fn run(&mut self, p: &Problem, limit: usize) -> bool {
        self.found.clear();
        self.nodes = 0;
        self.limit = limit;
        self.lp.work = 0;
        let islands = islands(p);
        if islands.len() < 2 {
            return self.run_island(p);
        }
        let (mut complete, mut parts) = (true, Vec::new());
        for members in &islands {
            let part = restrict(p, members);
            complete &= self.run_island(&part);
            parts.push(distinct(&part, &std::mem::take(&mut self.found)));
        }
        complete & combine(p, &islands, &parts, &mut self.found)
    }

    fn run_island(&mut self, p: &Problem) -> bool {
        let mut pattern = Pattern::undecided(p);
        let patterns = count(p);
        if self.always_prune || patterns > DEPENDENT_FROM {
            self.span = Span::of(&p.h);
            if self.always_prune || patterns > PRUNE_FROM || self.span.dim() < p.dim() {
                return self.branch(p, pattern);
            }
        }
        let items: Vec<Item> = items(p);
        self.visit(p, &items, &mut pattern);
        true
    }

    // every pattern
    fn visit(&mut self, p: &Problem, items: &[Item], pattern: &mut Pattern) {
        self.nodes += 1;
        let Some((&item, rest)) = items.split_first() else {
            self.solve_leaf(p, pattern);
            return;
        };
        for choice in choices(p, pattern, item) {
            let before = pattern.clone();
            choice.apply(p, pattern);
            self.visit(p, rest, pattern);
            *pattern = before;
        }
    }

    // patterns that differ in their accelerations
    fn branch(&mut self, p: &Problem, mut pattern: Pattern) -> bool {
        self.nodes += 1;
        loop {
            if self.lp.work > self.limit {
                return false;
            }
            if !self.lp.pose(p, &self.span, &pattern, true) {
                return true;
            }
            if !self.imply(p, &mut pattern) {
                break;
            }
        }
        let Some(item) = self.next(p, &pattern) else {
            self.lp.work += p.dim().pow(3);
            self.solve_leaf(p, &pattern);
            return true;
        };
        let mut complete = true;
        for choice in choices(p, &pattern, item) {
            let mut child = pattern.clone();
            choice.apply(p, &mut child);
            complete &= self.branch(p, child);
        }
        complete
    }

    fn solve_leaf(&mut self, p: &Problem, pattern: &Pattern) {
        let mut leaves = std::mem::take(&mut self.leaves);
        leaves.clear();
        self.leaf.solve(p, pattern, &mut leaves);
        leaves.retain(|l| !is_covered(p, pattern, l));
        self.found.extend(leaves.drain(..).map(|l| (l, pattern.clone())));
        self.leaves = leaves;
    }

    // decide what follows from the decisions so far; false when nothing does
    fn imply(&mut self, p: &Problem, pattern: &mut Pattern) -> bool {
        let size = p.reach();
        let open: Vec<usize> = undecided(p, pattern);
        let free: Vec<usize> = {
            let fixed = &self.lp.equations.rows;
            (0..self.span.dim()).filter(|k| fixed.iter().all(|(_, pivot)| pivot != k)).collect()
        };
        let motions = self.motions(p, pattern, &free, size);
        let mut found = false;
        for i in open {
            let row = self.lp.equations.reduce(Row::of(p, &self.span, i));
            let value = row.constant / size;
            let sign = if !row.is_constant() {
                motions.as_ref().and_then(|m| m.sign(&row, &free, size, &mut self.simplex, &mut self.lp.work))
            } else if value.abs() <= 0.1 * STRICT {
                Some(0.0)
            } else {
                (value.abs() >= MOVES).then(|| value.signum())
            };
            let Some(sign) = sign else { continue };
            found = true;
            if i < p.normals {
                Choice::Normal(i, sign == 0.0).apply(p, pattern);
            } else {
                let state = [State::Minus, State::Stick, State::Plus][(sign + 1.0) as usize];
                Choice::Tangent(i - p.normals, state, 0.0).apply(p, pattern);
            }
        }
        found
    }

    // the inequalities on accelerations, when something moves and few degrees of freedom are left
    fn motions(&self, p: &Problem, pattern: &Pattern, free: &[usize], size: f64) -> Option<Motions> {
        if free.is_empty() || free.len() > FEW {
            return None;
        }
        let mut out = Motions { columns: Vec::new(), cost: Vec::new() };
        let mut any = false;
        for i in 0..p.dim() {
            let Some((sign, moves)) = demand(p, pattern, i) else { continue };
            any |= moves;
            let row = self.lp.equations.reduce(Row::of(p, &self.span, i));
            if row.is_constant() {
                continue;
            }
            out.columns.push(free.iter().map(|&k| sign * row.l[k]).collect());
            out.cost.push((if moves { LEAST } else { 0.0 }) - sign * row.constant / size);
        }
        any.then_some(out)
    }

    // the undecided item that the point of the program violates most, else the first
    fn next(&self, p: &Problem, pattern: &Pattern) -> Option<Item> {
        let first = items(p).into_iter().find(|&i| is_undecided(p, pattern, i))?;
        let x = self.lp.point();
        let mut y = Vec::new();
        p.y(&x, &mut y);
        let mut best = (1e-12 * p.size(&x, &y).powi(2), first);
        for i in 0..p.normals {
            if pattern.closed[i].is_none() && x[i] * y[i] > best.0 {
                best = (x[i] * y[i], Item::Normal(i));
            }
        }
        for (j, f) in p.friction.iter().enumerate() {
            let i = p.normals + j;
            if pattern.state[j].is_some() || f.start != Start::Zero {
                continue;
            }
            let nu = p.nu(j, &x, false);
            let violation = if y[i] > 0.0 {
                (x[i] + f.slide.lo * nu + f.slide.lo0) * y[i]
            } else {
                (x[i] - f.slide.hi * nu - f.slide.hi0) * y[i]
            };
            if violation > best.0 {
                // its normal comes first
                let normal = f.follows_normal().filter(|&n| pattern.closed[n].is_none());
                best = (violation, normal.map_or(Item::Tangent(j), Item::Normal));
            }
        }
        Some(best.1)
    }
}

/// The strict inequalities of [`Motions`]: at least this, relative to the largest |ĉ|.
const LEAST: f64 = 1e-9;

/// `sign ŷ_k ≥ 0` or `≥ LEAST` in the free accelerations: one column of the dual program each.
struct Motions {
    columns: Vec<Vec<f64>>,
    cost: Vec<f64>,
}

impl Motions {
    // the sign that a row has under all inequalities
    fn sign(
        &self,
        row: &Row,
        free: &[usize],
        size: f64,
        simplex: &mut Simplex,
        work: &mut usize,
    ) -> Option<f64> {
        let a = Mat::from_fn(free.len(), self.columns.len(), |k, j| self.columns[j][k]);
        [1.0, -1.0].into_iter().find(|s| {
            // min s·row = max Σ λ cost + s·constant,  Σ λ column = s·row,  λ ≥ 0
            let b: Vec<f64> = free.iter().map(|&k| s * row.l[k]).collect();
            let outcome = simplex.maximize(&a, &b, &self.cost);
            *work += (1 + simplex.pivots) * a.rows() * (a.cols() + a.rows());
            matches!(outcome, LpOutcome::Optimal { value } if value + s * row.constant / size > 1e-3 * LEAST)
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    Normal(usize, bool),
    Tangent(usize, State, f64),
}

impl Choice {
    // with what follows for the tangents of the contact
    fn apply(self, p: &Problem, pattern: &mut Pattern) {
        match self {
            Choice::Normal(i, closed) => {
                pattern.closed[i] = Some(closed);
                for (j, f) in p.friction.iter().enumerate() {
                    if f.follows_normal() == Some(i) {
                        pattern.state[j] = match f.start {
                            _ if !closed => Some(State::Off),
                            Start::Plus => Some(State::Plus),
                            Start::Minus => Some(State::Minus),
                            _ => None,
                        };
                    }
                }
            }
            Choice::Tangent(j, state, sign) => {
                pattern.state[j] = Some(state);
                pattern.sign[j] = sign;
            }
        }
    }
}

fn choices(p: &Problem, pattern: &Pattern, item: Item) -> Vec<Choice> {
    match item {
        Item::Normal(i) => vec![Choice::Normal(i, true), Choice::Normal(i, false)],
        Item::Tangent(j) => {
            let f = &p.friction[j];
            let states: &[State] = match (pattern.state[j], f.start) {
                (Some(State::Off), _) => &[State::Off],
                (_, Start::Plus) => &[State::Plus],
                (_, Start::Minus) => &[State::Minus],
                _ => &[State::Stick, State::Plus, State::Minus],
            };
            let signs: &[f64] = if has_sign(f) { &[1.0, -1.0] } else { &[0.0] };
            let pairs = signs.iter().flat_map(|&sign| states.iter().map(move |&s| (s, sign)));
            pairs.map(|(s, sign)| Choice::Tangent(j, s, sign)).collect()
        }
    }
}

// the sign of ν is part of the pattern
fn has_sign(f: &super::problem::Friction) -> bool {
    f.is_signed() && [f.stick.lo, f.stick.hi, f.slide.lo, f.slide.hi] != [0.0; 4]
}

// normals with the tangents that follow them, then the others
fn items(p: &Problem) -> Vec<Item> {
    let nt = p.friction.len();
    let mut items = Vec::with_capacity(p.dim());
    for i in 0..p.normals {
        items.push(Item::Normal(i));
        items.extend((0..nt).filter(|&j| p.friction[j].follows_normal() == Some(i)).map(Item::Tangent));
    }
    items.extend((0..nt).filter(|&j| p.friction[j].follows_normal().is_none()).map(Item::Tangent));
    items
}

fn is_undecided(p: &Problem, pattern: &Pattern, item: Item) -> bool {
    match item {
        Item::Normal(i) => pattern.closed[i].is_none(),
        Item::Tangent(j) => {
            let waits = p.friction[j].follows_normal().is_some_and(|n| pattern.closed[n].is_none());
            pattern.state[j].is_none() && !waits
        }
    }
}

// rows of ŷ whose sign is still to be decided and decides a pattern
fn undecided(p: &Problem, pattern: &Pattern) -> Vec<usize> {
    let tangent = |j: &usize| {
        let f = &p.friction[*j];
        f.start == Start::Zero && !has_sign(f) && is_undecided(p, pattern, Item::Tangent(*j))
    };
    let normals = (0..p.normals).filter(|&i| pattern.closed[i].is_none());
    normals.chain((0..p.friction.len()).filter(tangent).map(|j| p.normals + j)).collect()
}

// a family of forces whose accelerations, the same for all, violate the pattern, or belong to one in which more contacts stick
fn is_covered(p: &Problem, pattern: &Pattern, leaf: &Leaf) -> bool {
    let still = |k: usize| (0..p.dim()).all(|i| dot(p.h.row(i), leaf.null.row(k)).abs() < 1e-10);
    if leaf.null.rows() == 0 || !(0..leaf.null.rows()).all(still) {
        return false;
    }
    let mut y = Vec::new();
    p.y(&leaf.x, &mut y);
    let tol = STRICT * p.size(&leaf.x, &y);
    (0..p.dim()).any(|i| matches!(demand(p, pattern, i), Some((sign, true)) if sign * y[i] <= tol))
}

/// Number of patterns.
pub(crate) fn count(p: &Problem) -> f64 {
    let mut n = 1.0;
    for i in 0..p.normals {
        let followers: f64 =
            p.friction.iter().filter(|f| f.follows_normal() == Some(i)).map(tangent_count).product();
        n *= 1.0 + followers;
    }
    n * p.friction.iter().filter(|f| f.follows_normal().is_none()).map(tangent_count).product::<f64>()
}

fn tangent_count(f: &super::problem::Friction) -> f64 {
    let states = if f.start == Start::Zero { 3.0 } else { 1.0 };
    states * if f.is_signed() { 2.0 } else { 1.0 }
}
