//! A continuum of solutions within one pattern: a polyhedron `x = x₀ + Nᵀ t`, `a·x ≥ b` (PG-5.4-PANTOGRAPH).

use super::DEPENDENT;
use super::admissible::Admissible;
use super::pattern::{Condition, Leaf, Pattern, State, conditions, is_feasible, satisfies};
use super::problem::Problem;
use super::span::Span;
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::linalg::{Mat, axpy, dot};

/// Dimension up to which the member farthest from all borders is looked for.
const SMALL: usize = 12;

/// The polyhedron of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct Polyhedron {
    pub pattern: Pattern,
    /// A member.
    pub x: Vec<f64>,
    pub null: Mat,
    /// Tangents whose direction depends on the normals and tangents before them: their force is whatever is left.
    pub idle: Vec<bool>,
    list: Vec<Condition>,
    size: f64,
}

impl Polyhedron {
    /// `None` when the pattern admits nothing. The member is the one of minimum norm if that is admissible, else the one
    /// farthest from all borders but the bounds of idle tangents: these may be used up. In large families it is the mean of
    /// the members that use each edge of a friction cone most.
    pub(crate) fn new(p: &Problem, leaf: &Leaf, pattern: &Pattern) -> Option<Self> {
        let mut list = Vec::new();
        conditions(p, pattern, false, &mut list);
        let mut y = Vec::new();
        p.y(&leaf.x, &mut y);
        let size = p.size(&leaf.x, &y);
        let mut poly = Polyhedron {
            pattern: pattern.clone(),
            x: leaf.x.clone(),
            null: leaf.null.clone(),
            idle: idle(p, pattern),
            list,
            size,
        };
        if leaf.feasible {
            return Some(poly);
        }
        if leaf.null.rows() <= SMALL
            && let Some(t) = poly.centre()
        {
            poly.shift(&t);
            if is_feasible(p, pattern, &poly.x, &mut y) {
                return Some(poly);
            }
        }
        let mut program = Admissible::default();
        if !program.pose(p, &Span::of(&p.h), pattern, false) {
            return None;
        }
        poly.x = program.mean();
        is_feasible(p, pattern, &poly.x, &mut y).then_some(poly)
    }

    /// Least and largest value of each `q·x + q0`.
    pub(crate) fn ranges(&self, p: &Problem, quantities: &[(Vec<f64>, f64)]) -> Vec<[f64; 2]> {
        let mut program = self.forces(p);
        quantities
            .iter()
            .map(|(q, q0)| {
                let here = dot(q, &self.x) + q0;
                let norm = dot(q, q).sqrt();
                let fixed = |k: usize| dot(self.null.row(k), q).abs() <= 1e-11 * norm;
                if (0..self.null.rows()).all(fixed) {
                    return [here, here];
                }
                let [lo, hi] = program.range(q, *q0);
                [lo.min(here), hi.max(here)]
            })
            .collect()
    }

    // all forces of the pattern
    fn forces(&self, p: &Problem) -> Admissible {
        let mut program = Admissible::default();
        program.pose(p, &Span::of(&p.h), &self.pattern, false);
        program
    }

    /// Whether the polyhedron extends in some direction by more than rounding.
    pub(crate) fn is_extended(&self, p: &Problem) -> bool {
        // inside all borders there is room in every direction
        let room = |c: &Condition| dot(&c.a, &self.x) - c.b > 1e-6 * self.size * dot(&c.a, &c.a).sqrt();
        if self.null.rows() > 0 && self.list.iter().all(room) {
            return true;
        }
        let mut program = self.forces(p);
        (0..self.null.rows()).any(|k| {
            let [lo, hi] = program.range(self.null.row(k), 0.0);
            hi - lo > 1e-7 * self.size
        })
    }

    /// Members at the ends of the polyhedron: in the directions of the null space, as seen from the member, and some corners.
    pub(crate) fn ends(&self) -> Vec<Vec<f64>> {
        let mut out = self.corners();
        for (k, side) in (0..self.null.rows()).flat_map(|k| [(k, 1.0), (k, -1.0)]) {
            let step = |c: &Condition| {
                let rate = side * dot(&c.a, self.null.row(k));
                let room = (dot(&c.a, &self.x) - c.b).max(0.0);
                if rate < -1e-11 * dot(&c.a, &c.a).sqrt() { -room / rate } else { f64::INFINITY }
            };
            // in a direction without an end some member far away
            let reach = self.list.iter().map(step).fold(10.0 * self.size, f64::min);
            if reach > 0.0 {
                let mut x = self.x.clone();
                axpy(side * reach, self.null.row(k), &mut x);
                out.push(x);
            }
        }
        out
    }

    // when more than one direction is free: members in which every normal carries as much alone as it can, with friction to either side,
    // and those with the least and the largest of every force
    fn corners(&self) -> Vec<Vec<f64>> {
        let (k, n, normals) = (self.null.rows(), self.x.len(), self.pattern.closed.len());
        if k < 2 {
            return Vec::new();
        }
        let mut program = self.program(k);
        for c in &self.list {
            let (a, b) = self.row(c);
            program.row(&a, Sense::AtLeast, b.min(0.0));
        }
        let sides = |n: usize| (0..n).flat_map(|i| [(i, 1.0), (i, -1.0)]);
        let alone = sides(normals).map(|(i, side)| {
            let weight = |j: usize| if j >= normals { 1e-3 * side } else { -f64::from(u8::from(j != i)) };
            (0..n).map(weight).collect::<Vec<f64>>()
        });
        let extreme = sides(n).map(|(i, side)| (0..n).map(|j| if j == i { side } else { 0.0 }).collect());
        let corner = |q: Vec<f64>| {
            let along: Vec<f64> = (0..k).map(|k| dot(self.null.row(k), &q)).collect();
            let (outcome, t) = program.maximize(&along);
            matches!(outcome, LpOutcome::Optimal { .. }).then(|| {
                let mut x = self.x.clone();
                (0..k).for_each(|k| axpy(self.size * t[k], self.null.row(k), &mut x));
                x
            })
        };
        alone.chain(extreme).filter_map(corner).collect()
    }

    /// Whether two polyhedra share a point.
    pub(crate) fn touches(&self, other: &Polyhedron, p: &Problem) -> bool {
        if satisfies(p, &self.pattern, &other.x) || satisfies(p, &other.pattern, &self.x) {
            return true;
        }
        let mut list = Vec::new();
        conditions(p, &self.pattern, true, &mut list);
        conditions(p, &other.pattern, true, &mut list);
        let mut program = self.program(p.dim());
        for c in &list {
            let b = c.b / self.size;
            if c.equal {
                // a narrow strip: the same equation may appear twice with different rounding
                program.row(&c.a, Sense::AtLeast, b - 1e-9);
                program.row(&c.a, Sense::AtMost, b + 1e-9);
            } else {
                program.row(&c.a, Sense::AtLeast, b - 1e-9);
            }
        }
        !matches!(program.maximize(&vec![0.0; p.dim()]).0, LpOutcome::Infeasible)
    }

    // t of the member with the largest smallest slack
    fn centre(&self) -> Option<Vec<f64>> {
        let k = self.null.rows();
        let mut program = self.program(k + 1);
        for c in &self.list {
            let (mut a, b) = self.row(c);
            let norm = dot(&c.a, &c.a).sqrt();
            let varies = a.iter().any(|v| v.abs() > 1e-9 * norm);
            let counts = varies && !c.bound_of.is_some_and(|j| self.idle[j]);
            a.push(if counts { -norm } else { 0.0 });
            program.row(&a, Sense::AtLeast, if varies { b } else { b.min(0.0) });
        }
        let mut top = vec![0.0; k + 1];
        top[k] = 1.0;
        program.row(&top, Sense::AtMost, 1.0);
        let (outcome, mut t) = program.maximize(&top);
        let LpOutcome::Optimal { value } = outcome else { return None };
        if value < -1e-9 {
            return None;
        }
        t.truncate(k);
        t.iter_mut().for_each(|t| *t *= self.size);
        Some(t)
    }

    fn shift(&mut self, t: &[f64]) {
        for (k, &t) in t.iter().enumerate() {
            axpy(t, self.null.row(k), &mut self.x);
        }
    }

    fn program(&self, n: usize) -> Program {
        let mut program = Program::new(n);
        for j in 0..n {
            program.set_free(j);
        }
        program
    }

    // a·(x + size Nᵀ t) ≥ b
    fn row(&self, c: &Condition) -> (Vec<f64>, f64) {
        let a = (0..self.null.rows()).map(|k| dot(self.null.row(k), &c.a)).collect();
        (a, (c.b - dot(&c.a, &self.x)) / self.size)
    }
}

// sticking tangents that depend on the closed normals and the tangents before them
fn idle(p: &Problem, pattern: &Pattern) -> Vec<bool> {
    let mut out = vec![false; p.friction.len()];
    let closed = (0..p.normals).filter(|&i| pattern.closed[i] == Some(true));
    let sticks = (0..out.len()).filter(|&j| pattern.state[j] == Some(State::Stick)).map(|j| p.normals + j);
    let active: Vec<usize> = closed.chain(sticks).collect();
    // L U of H, row after row, without the dependent ones; H need not be symmetric (leaning tangents of impacts)
    let (mut l, mut u): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
    let mut kept: Vec<usize> = Vec::new();
    for &i in &active {
        let (mut row, mut column) = (Vec::with_capacity(kept.len() + 1), Vec::with_capacity(kept.len() + 1));
        for (k, &j) in kept.iter().enumerate() {
            let below = (p.h[(i, j)] - dot(&row, &u[k][..k])) / u[k][k];
            let above = p.h[(j, i)] - dot(&column, &l[k][..k]);
            row.push(below);
            column.push(above);
        }
        let rest = p.h[(i, i)] - dot(&row, &column);
        if rest > DEPENDENT.max(1e-12) {
            row.push(1.0);
            column.push(rest);
            l.push(row);
            u.push(column);
            kept.push(i);
        } else if i >= p.normals {
            out[i - p.normals] = true;
        }
    }
    out
}
