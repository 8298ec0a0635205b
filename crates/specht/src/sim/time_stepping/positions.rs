//! Positions out of penetration, bilateral contacts and pins back together (METH-TIMESTEP step 5)
//!
//! ```text
//! q ← q ⊕ Y δ,   M δ = Wᵀ τ,   0 ≤ g + w δ ⊥ τ ≥ 0   where an impulse acted,   g + w δ = 0   bilateral rows and pins
//! ```
//!
//! The smallest motion in the metric of M that ends the violations and pulls nowhere: a cone problem without friction, repeated
//! until no gap is below −10⁻¹⁰ L, four times at most. Velocities stay. Where it has no solution (too many contacts squeeze a
//! body) the projection of [`Projector`] is left with what it can do; the audit measures what remains.

use crate::cone::{self, Contact, Law, Matrix, Operator, Problem, Solver, Sparse};
use crate::linalg::MassFactor;
use crate::system::{Dims, Mode, Normal, System};

use super::super::field::Field;
use super::super::project::Projector;
use super::operator::{Whole, fill_row, mass_unit};
use super::tolerances::PROJECTED;

/// Repetitions.
const ROUNDS: usize = 4;

/// Memory of the projection.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    solver: Solver,
    problem: Problem,
    answer: cone::Solution,
    pub mass: MassFactor,
    bilateral: Vec<usize>,
    source: Vec<usize>,
    w_columns: Vec<Vec<usize>>,
    whole: Whole,
    delta: Vec<f64>,
    closed: Vec<Mode>,
    projector: Projector,
}

impl Positions {
    pub(super) fn new(d: &Dims) -> Self {
        let empty = || Matrix::Sparse(Sparse::default());
        Positions {
            solver: Solver::new(cone::Settings { parallel: false, restarts: 0, ..Default::default() }),
            problem: Problem {
                contacts: Vec::new(),
                operator: Operator::Bodies { mass: empty(), h: empty() },
                q: Vec::new(),
                w: None,
            },
            answer: cone::Solution::default(),
            mass: MassFactor::default(),
            bilateral: Vec::new(),
            source: Vec::new(),
            w_columns: vec![Vec::new(); d.rows],
            whole: Whole::default(),
            delta: vec![0.0; d.u],
            closed: vec![Mode::Open; d.contacts],
            projector: Projector::default(),
        }
    }

    /// Project the positions of the field, which is evaluated, and evaluate it there. `impulse` per row of the step.
    pub(super) fn project<S: System + ?Sized>(&mut self, field: &mut Field<S>, impulse: &[f64], length: f64) {
        for round in 0..ROUNDS {
            let tolerance = PROJECTED[usize::from(round > 0)] * length;
            if !self.pose(field, impulse, tolerance) {
                return;
            }
            if !self.solve(field) {
                self.close_deep(field, impulse, tolerance);
                std::mem::swap(&mut field.discrete.modes, &mut self.closed);
                self.projector.positions(field, PROJECTED[1]);
                std::mem::swap(&mut field.discrete.modes, &mut self.closed);
                return;
            }
            field.sys.move_by(&mut field.state.q, &self.delta);
            field.evaluate();
        }
    }

    /// Contacts and gaps; false when nothing is violated.
    fn pose<S: System + ?Sized>(&mut self, field: &Field<S>, impulse: &[f64], tolerance: f64) -> bool {
        let p = &mut self.problem;
        p.contacts.clear();
        p.q.clear();
        self.source.clear();
        self.bilateral.clear();
        let mut violated = false;
        for (i, c) in field.info.iter().enumerate() {
            let rows = c.normal_rows();
            let law = match c.normal {
                Normal::Unilateral { row } if impulse[row] > 0.0 => {
                    violated |= field.eval.gap[row] < -tolerance;
                    Law::Coulomb { mu: 0.0 }
                }
                _ if c.is_bilateral() => Law::Bilateral,
                _ => continue,
            };
            if law == Law::Bilateral {
                violated |= rows.iter().any(|&r| field.eval.gap[r].abs() > tolerance);
                self.bilateral.extend_from_slice(rows);
            }
            p.contacts.push(Contact { law, rows: rows.len(), key: i as u64 });
            self.source.extend_from_slice(rows);
            p.q.extend(rows.iter().map(|&r| field.eval.gap[r]));
        }
        violated
    }

    /// δ; false when there is none.
    fn solve<S: System + ?Sized>(&mut self, field: &Field<S>) -> bool {
        let eval = &field.eval;
        if !self.mass.factor(&eval.mass, &eval.w, &self.bilateral) {
            return false;
        }
        let mass = self.mass.matrix(&eval.mass);
        let n = mass.size();
        let unit = mass_unit(mass, &eval.w, self.source.iter().copied());
        let Operator::Bodies { mass: Matrix::Sparse(m), h: Matrix::Sparse(h) } = &mut self.problem.operator
        else {
            return false;
        };
        self.whole.fill(mass, 1.0 / unit, m);
        h.reset(n);
        for &row in &self.source {
            fill_row(h, eval.w.row(row), &mut self.w_columns[row], 1.0);
        }
        if self.solver.solve_into(&self.problem, &mut self.answer).is_err()
            || self.answer.status != cone::Status::Solved
        {
            return false;
        }
        self.delta.fill(0.0);
        for (k, &row) in self.source.iter().enumerate() {
            let t = self.answer.r[k] * unit;
            if t != 0.0 {
                eval.w.row(row).add_to(t, &mut self.delta);
            }
        }
        self.mass.solve(&mut self.delta);
        self.delta.iter().all(|d| d.is_finite())
    }

    /// The violated contacts alone, as modes.
    fn close_deep<S: System + ?Sized>(&mut self, field: &Field<S>, impulse: &[f64], tolerance: f64) {
        for (m, c) in self.closed.iter_mut().zip(field.info) {
            *m = match c.normal {
                Normal::Unilateral { row } if impulse[row] > 0.0 && field.eval.gap[row] < -tolerance => {
                    Mode::Closed
                }
                _ => Mode::Open,
            };
        }
    }
}
