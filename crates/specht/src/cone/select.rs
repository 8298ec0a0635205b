//! One of several solutions: the one a slightly compliant structure would take (METH-CONE-EXIST)
//!
//! Where contacts can press against each other (a body between two walls), every self-stress within the cones is an exact
//! solution, and so are motions that it holds or lets go. Springs in the contacts decide: with
//!
//! ```text
//! u = W r + q + α D (r − r_prev),   D = diag(tr W_ii / d)
//! ```
//!
//! the impulses are unique up to Coulomb's own ambiguity, and for α → 0 they tend to a solution near `r_prev`. The problem is
//! solved for α = 1e-3, then 1e-4, 1e-5, 1e-6, each from the last answer, then without α. In body form the springs are
//! one fictitious velocity per row with mass 1/(αD).

use super::problem::{Law, Operator, Problem, ProblemError};
use super::solver::{Solution, Solver};
use super::sparse::{Matrix, Sparse};
use std::time::Instant;

/// Compliances relative to the diagonal of W.
const ALPHA: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];

impl Solver {
    /// Solve, and of several solutions take the one nearest to the impulses `previous` (none: zero) in the sense above. Costs
    /// about five solves.
    pub fn solve_nearest(&mut self, p: &Problem, previous: &[f64]) -> Result<Solution, ProblemError> {
        p.check()?;
        if !previous.is_empty() && previous.len() != p.q.len() {
            return Err(ProblemError::Size {
                name: "previous impulses",
                what: "entries",
                found: previous.len(),
                expected: p.q.len(),
            });
        }
        let diagonal = self.diagonal(p)?;
        let mut solver = Solver::new(super::Settings { warm: true, ..self.settings });
        // the limit is one for all solves; without one no clock is read (a browser has none)
        let limit = self.settings.time_limit.map(|t| (t, Instant::now()));
        let left = || limit.map(|(t, begin)| (t - begin.elapsed().as_secs_f64()).max(0.0));
        for alpha in ALPHA {
            solver.settings.time_limit = left();
            solver.solve(&softened(p, alpha, &diagonal, previous))?;
        }
        self.remember(&solver);
        let settings = self.settings;
        self.settings = super::Settings { warm: true, time_limit: left(), ..settings };
        let answer = self.solve(p);
        self.settings = settings;
        answer
    }
}

/// The problem with springs in its Coulomb contacts.
fn softened(p: &Problem, alpha: f64, diagonal: &[f64], previous: &[f64]) -> Problem {
    let mut out = p.clone();
    let mut soft = vec![0.0; p.q.len()];
    let mut row = 0;
    for (c, d) in p.contacts.iter().zip(diagonal) {
        if matches!(c.law, Law::Coulomb { .. } | Law::Elliptic { .. }) {
            soft[row..row + c.rows].fill(alpha * d);
        }
        row += c.rows;
    }
    for (i, r) in previous.iter().enumerate() {
        out.q[i] -= soft[i] * r;
    }
    out.w = None;
    out.operator = match &p.operator {
        Operator::Delassus(w) => {
            let mut t = entries(w);
            t.extend(soft.iter().enumerate().map(|(i, s)| (i, i, *s)));
            Operator::Delassus(sparse(w.rows(), w.cols(), &t))
        }
        Operator::Bodies { mass, h } => {
            let n = mass.rows();
            let (mut m, mut rows) = (entries(mass), entries(h));
            let mut next = n;
            for (i, s) in soft.iter().enumerate().filter(|(_, s)| **s > 0.0) {
                m.push((next, next, 1.0 / s));
                rows.push((i, next, 1.0));
                next += 1;
            }
            Operator::Bodies { mass: sparse(next, next, &m), h: sparse(h.rows(), next, &rows) }
        }
    };
    out
}

fn entries(m: &Matrix) -> Vec<(usize, usize, f64)> {
    let mut t = Vec::new();
    for i in 0..m.rows() {
        m.for_row(i, |j, v| {
            if v != 0.0 {
                t.push((i, j, v));
            }
        });
    }
    t
}

fn sparse(rows: usize, cols: usize, t: &[(usize, usize, f64)]) -> Matrix {
    Matrix::Sparse(Sparse::from_triplets(rows, cols, t).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::{Contact, Status};
    use super::*;

    /// A box of 1 kg between two walls, four corners on each, falling with 0.0981 m/s and pushed with `push` towards one wall.
    fn between_walls(push: f64) -> Problem {
        let mut t = Vec::new();
        let mut row = 0;
        for side in [1.0, -1.0] {
            for (y, z) in [(-0.5, -0.5), (-0.5, 0.5), (0.5, -0.5), (0.5, 0.5)] {
                let arm = [-side * 0.5, y, z];
                for f in [[side, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, side, 0.0]] {
                    let turn = [
                        arm[1] * f[2] - arm[2] * f[1],
                        arm[2] * f[0] - arm[0] * f[2],
                        arm[0] * f[1] - arm[1] * f[0],
                    ];
                    for j in 0..3 {
                        t.push((row, j, f[j]));
                        t.push((row, 3 + j, turn[j]));
                    }
                    row += 1;
                }
            }
        }
        let h = Sparse::from_triplets(row, 6, &t).unwrap();
        let mass = Sparse::diagonal(&[1.0, 1.0, 1.0, 1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0]);
        let v = [push, 0.0, -0.0981, 0.0, 0.0, 0.0];
        let contacts = (0..8).map(|k| Contact::spatial(0.5, k)).collect();
        Problem::from_bodies(Matrix::Sparse(mass), Matrix::Sparse(h), &v, vec![0.0; row], contacts)
    }

    /// METH-CONE-EXIST: nothing presses, it falls freely; pushed against one wall it is braked by μ times the push, the other
    /// wall carries nothing, and it does not turn. Both forms of the problem.
    #[test]
    fn meth_cone_exist_a_box_between_two_walls_takes_the_compliant_answer() {
        for push in [0.0, 0.05, -0.02] {
            let p = between_walls(push);
            let s = Solver::default().solve_nearest(&p, &[]).unwrap();
            assert_eq!(s.status, Status::Solved);
            let normal = |k: usize| s.r[3 * k];
            let (plus, minus): (f64, f64) = ((0..4).map(normal).sum(), (4..8).map(normal).sum());
            let (loaded, idle) = if push > 0.0 { (minus, plus) } else { (plus, minus) };
            assert!((loaded - push.abs()).abs() < 1e-6 && idle < 1e-6, "{push}: {plus} {minus}");
            // tangent 1 points down: falling speed of every corner
            let fall = 0.0981 - 0.5 * push.abs();
            for k in 0..8 {
                assert!((s.u[3 * k + 1] - fall).abs() < 1e-5, "{push}: {:?}", s.u);
                assert!(s.u[3 * k + 2].abs() < 1e-5);
            }
        }
    }

    /// The impulses of the last step hold the box: it stays held, although falling is a solution too.
    #[test]
    fn meth_cone_exist_a_clamped_box_stays_clamped() {
        let p = between_walls(0.0);
        let mut r = vec![0.0; 24];
        for k in 0..8 {
            r[3 * k] = 1.0;
        }
        let s = Solver::default().solve_nearest(&p, &r).unwrap();
        assert_eq!(s.status, Status::Solved);
        assert!(s.u.iter().all(|u| u.abs() < 1e-7), "{:?}", s.u);
        assert!((0..8).all(|k| s.r[3 * k] > 0.5));
    }
}
