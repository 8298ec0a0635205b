//! Positions out of penetration, after a step is solved: with its bodies and rows.

use crate::cone::{self, Contact, Law, Matrix, Operator, Problem, Solver, Sparse};
use crate::system::Eval;

use super::super::loose::Body;
use super::super::points::Points;
use super::super::sweeps::{self, Sweeps};
use super::{Given, Step};

/// Error of a push out of penetration, of the largest gap, and sweeps for it.
const PUSHED: f64 = 1e-8;
const PUSHES: usize = 200;

/// Positions out of penetration: the smallest motion in the metric of M that ends it, `0 ≤ g + H δ ⊥ τ ≥ 0`, bilateral gaps zero.
#[derive(Clone, Debug)]
pub(in super::super) struct Push {
    sweeps: Sweeps,
    bodies: Vec<Body>,
    solver: Solver,
    problem: Problem,
    answer: cone::Solution,
    pub delta: Vec<f64>,
}

impl Push {
    pub(in super::super) fn new(velocities: usize) -> Self {
        let empty = || Matrix::Sparse(Sparse::default());
        Push {
            sweeps: Sweeps::default(),
            bodies: Vec::new(),
            solver: Solver::new(cone::Settings {
                method: cone::Method::Quick,
                sweeps: 200,
                parallel: false,
                ..cone::Settings::default()
            }),
            problem: Problem {
                contacts: Vec::new(),
                operator: Operator::Bodies { mass: empty(), h: empty() },
                q: Vec::new(),
                w: None,
            },
            answer: cone::Solution::default(),
            delta: vec![0.0; velocities],
        }
    }

    /// δ for the points of a step that was solved. False when nothing is to be done, or there is no way.
    pub(in super::super) fn solve(
        &mut self,
        step: &mut Step,
        points: &Points,
        given: &Given<'_>,
        eval: &Eval,
        tolerance: f64,
    ) -> bool {
        self.delta.fill(0.0);
        let deep = points.list.iter().any(|p| p.gap < -tolerance);
        let apart = step.bilateral.iter().any(|&r| eval.gap[r].abs() > tolerance);
        if !deep && !apart {
            return false;
        }
        if step.is_loose {
            return self.sweep(step, points);
        }
        let (
            Operator::Bodies { mass, h: Matrix::Sparse(from) },
            Operator::Bodies { mass: m, h: Matrix::Sparse(h) },
        ) = (&step.problem.operator, &mut self.problem.operator)
        else {
            return false;
        };
        m.clone_from(mass);
        h.reset(from.cols());
        self.problem.contacts.clear();
        self.problem.q.clear();
        let mut push = |row: usize, law: Law, key: u64, gap: f64| {
            let (columns, values) = from.row(row);
            columns.iter().zip(values).for_each(|(&j, &v)| h.push(j, v));
            h.end_row();
            self.problem.contacts.push(Contact { law, rows: 1, key });
            self.problem.q.push(gap);
        };
        for (i, c) in given.info.iter().enumerate().filter(|(_, c)| c.is_bilateral()) {
            for (k, &r) in c.normal_rows().iter().enumerate() {
                push(step.at[i] + k, Law::Bilateral, 4 * i as u64 + k as u64, eval.gap[r]);
            }
        }
        let mut row = step.first;
        for (p, c) in
            points.list.iter().zip(&step.problem.contacts[step.problem.contacts.len() - points.list.len()..])
        {
            push(row, Law::Coulomb { mu: 0.0 }, p.key, p.room);
            row += c.rows;
        }
        if self.solver.solve_into(&self.problem, &mut self.answer).is_err() || !(self.answer.error() < 1e-3) {
            return false;
        }
        let Operator::Bodies { h: Matrix::Sparse(h), .. } = &self.problem.operator else { return false };
        for (k, r) in self.answer.r.iter().enumerate().filter(|x| *x.1 != 0.0) {
            let (columns, values) = h.row(k);
            columns.iter().zip(values).for_each(|(&j, v)| self.delta[j] += r * step.unit * v);
        }
        step.mass.solve(&mut self.delta);
        self.delta.iter().all(|d| d.is_finite())
    }

    /// The same for loose bodies.
    fn sweep(&mut self, step: &Step, points: &Points) -> bool {
        self.bodies.clone_from(&step.loose.bodies);
        self.sweeps.contacts.clear();
        for (p, c) in points.list.iter().zip(&step.sweeps.contacts) {
            self.sweeps.contacts.push(sweeps::Contact { mu: 0.0, q: [p.room, 0.0, 0.0], r: [0.0; 3], ..*c });
        }
        self.sweeps.begin(&mut self.bodies);
        for k in 0..self.sweeps.islands.len() {
            if self.sweeps.islands[k].error > PUSHED {
                self.sweeps.sweep(k, &mut self.bodies, PUSHED, PUSHES);
            }
            // a push that is not found is left out
            if self.sweeps.islands[k].error < 1e-3 {
                for &i in self.sweeps.members(k) {
                    let c = &self.sweeps.contacts[i as usize];
                    step.loose.push(c, [c.r[0] * step.unit, 0.0, 0.0], &mut self.delta);
                }
            }
        }
        self.delta.iter().all(|d| d.is_finite())
    }
}
