//! All patterns of modes, depth first.
//!
//! Small problems visit every pattern (at most 4 per frictional unilateral contact). Larger ones cut a branch when the
//! conditions fixed so far have no common point (linear program), so that only branches near a solution are followed.
//! The list is complete unless the limit of nodes was reached.

use super::Start;
use super::pattern::{Condition, Leaf, LeafSolver, Pattern, State, conditions};
use super::problem::Problem;
use crate::lcp::lp::{LpOutcome, Simplex};
use crate::linalg::{Mat, max_abs};

/// Patterns beyond which branches are tested by linear programs.
pub(crate) const PRUNE_FROM: f64 = 400.0;

/// Memory of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// Solutions with their patterns.
    pub found: Vec<(Leaf, Pattern)>,
    /// Nodes visited.
    pub nodes: usize,
    /// Test every branch, also in small problems.
    pub always_prune: bool,
    items: Vec<Item>,
    pattern: Pattern,
    leaf: LeafSolver,
    leaves: Vec<Leaf>,
    simplex: Simplex,
    limit: usize,
    prune: bool,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    Normal(usize),
    Tangent(usize),
}

impl Search {
    /// Find all solutions; false when `limit` nodes did not suffice.
    pub fn run(&mut self, p: &Problem, limit: usize) -> bool {
        let (nn, nt) = (p.normals, p.friction.len());
        self.found.clear();
        self.nodes = 0;
        self.limit = limit;
        self.items.clear();
        for i in 0..nn {
            self.items.push(Item::Normal(i));
            self.items
                .extend((0..nt).filter(|&j| p.friction[j].follows_normal() == Some(i)).map(Item::Tangent));
        }
        self.items.extend((0..nt).filter(|&j| p.friction[j].follows_normal().is_none()).map(Item::Tangent));
        self.pattern = Pattern { closed: vec![None; nn], state: vec![None; nt], sign: vec![0.0; nt] };
        self.prune = self.always_prune || count(p) > PRUNE_FROM;
        self.descend(p, 0)
    }

    fn descend(&mut self, p: &Problem, depth: usize) -> bool {
        self.nodes += 1;
        if self.nodes > self.limit {
            return false;
        }
        if self.prune && depth > 0 && !self.is_possible(p) {
            return true;
        }
        let Some(&item) = self.items.get(depth) else {
            let mut leaves = std::mem::take(&mut self.leaves);
            leaves.clear();
            self.leaf.solve(p, &self.pattern, &mut leaves);
            self.found.extend(leaves.drain(..).map(|l| (l, self.pattern.clone())));
            self.leaves = leaves;
            return true;
        };
        let mut complete = true;
        match item {
            Item::Normal(i) => {
                for closed in [true, false] {
                    self.pattern.closed[i] = Some(closed);
                    complete &= self.descend(p, depth + 1);
                }
                self.pattern.closed[i] = None;
            }
            Item::Tangent(j) => {
                let f = &p.friction[j];
                let states: &[State] = match (f.follows_normal(), f.start) {
                    (Some(i), _) if self.pattern.closed[i] == Some(false) => &[State::Off],
                    (_, Start::Plus) => &[State::Plus],
                    (_, Start::Minus) => &[State::Minus],
                    _ => &[State::Stick, State::Plus, State::Minus],
                };
                let smooth = [f.stick.lo, f.stick.hi, f.slide.lo, f.slide.hi] == [0.0; 4];
                let signs: &[f64] = if f.is_signed() && !smooth { &[1.0, -1.0] } else { &[0.0] };
                for &sign in signs {
                    for &state in states {
                        self.pattern.state[j] = Some(state);
                        self.pattern.sign[j] = sign;
                        complete &= self.descend(p, depth + 1);
                    }
                }
                self.pattern.state[j] = None;
                self.pattern.sign[j] = 0.0;
            }
        }
        complete
    }

    // whether the conditions of the partial pattern have a common point
    fn is_possible(&mut self, p: &Problem) -> bool {
        let mut list: Vec<Condition> = Vec::new();
        conditions(p, &self.pattern, true, &mut list);
        // x_N ≥ 0 is part of the standard form; tangents are split into two parts
        let (nn, r) = (p.normals, p.dim());
        let nt = r - nn;
        list.retain(|c| {
            c.equal
                || c.b != 0.0
                || !(0..nn).any(|i| c.a[i] == 1.0 && c.a.iter().filter(|v| **v != 0.0).count() == 1)
        });
        let slacks = list.iter().filter(|c| !c.equal).count();
        let mut a = Mat::zeros(list.len(), r + nt + slacks);
        let size = max_abs(&p.c).max(1e-300);
        let mut b = Vec::with_capacity(list.len());
        let mut next = r + nt;
        for (k, c) in list.iter().enumerate() {
            let row = a.row_mut(k);
            row[..r].copy_from_slice(&c.a);
            for j in 0..nt {
                row[r + j] = -c.a[nn + j];
            }
            if !c.equal {
                row[next] = -1.0;
                next += 1;
            }
            // the margin keeps solutions on the border of a pattern
            b.push(c.b / size - if c.equal { 0.0 } else { 1e-9 });
        }
        !matches!(self.simplex.load(&a, &b), LpOutcome::Infeasible)
    }
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
