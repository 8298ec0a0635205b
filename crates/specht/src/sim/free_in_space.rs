//! Forces that the motion leaves free where contacts rub in tangent planes (METH-3D-ROLL): the least, and how far each may go
//!
//! ```text
//! min |λ − λ₀|,    min and max of every force and acceleration
//!   W_H M⁻¹ Wᵀ λ = the same,    λ_N ≥ 0,    ‖S λ_T‖ ≤ μ N (stick),    λ_T = −μ N f(d) (slip)           H: the rows that are held
//! ```
//!
//! λ₀ are the forces that acted before, at the start none. Where every contact holds, the least forces are those of slightly compliant contacts
//! ([`crate::contact::compliant`]), and the solver of frozen modes finds them; where one would pull or exceed its bound, they are the nearest
//! inside the cones ([`crate::lcp::socp`], 1e-9 of the largest force). Without slip accelerations are unique: equal on the rows that are held,
//! they are equal. Forces that are determined are left alone, to the bit.
//!
//! No answer for friction that is bounded by the length of a vector (journals, ball joints, guides in space), by a force of either sign, or by the limit
//! surface of a patch: their bounds are no cones.

use crate::contact::{Forces, friction_bound, normal_forces, rubs};
use crate::lcp::socp::{ConeOutcome, ConeProgram};
use crate::linalg::{MassFactor, Mat, Svd, axpy, dot, max_abs};
use crate::system::{ContactInfo, Eval, Mode, Normal, Section, System};

use super::decide::Decider;
use super::field::Field;
use super::trajectory::Family;

/// Singular values below this share of the largest are zero: the forces along them are free.
const FREE: f64 = 1e-10;
/// A force beyond its bound by less than this share of the largest is at its bound.
const AT_BOUND: f64 = 1e-12;
/// Accelerations that differ by less than this share of the largest are the same.
const SAME: f64 = 1e-9;

/// A row of a program: a·x + b.
type Row = (Vec<f64>, f64);

/// All forces with the present modes, in shares of the largest.
struct Free {
    /// Rows of W that carry: those of bilateral contacts first.
    rows: Vec<usize>,
    /// The largest force.
    size: f64,
    equations: Vec<Row>,
    cones: Vec<Vec<Row>>,
    /// What the accelerations change by with a unit of every force.
    response: Mat,
    /// Directions in which forces are free.
    null: Vec<Vec<f64>>,
    /// The accelerations may depend on the share: friction of slip follows it.
    moves: bool,
}

/// Replace forces that the motion leaves free by those next to `acted`; false when there is nothing to replace.
pub(super) fn share<S: System + ?Sized>(field: &mut Field<S>, acted: &[f64], found: &mut Forces) -> bool {
    let Some(free) = Free::new(field, found) else { return false };
    field.fixed.follow(found);
    field.fixed.reference.clear();
    field.fixed.reference.extend_from_slice(acted);
    if field.solve() && free.keeps(field, found) {
        found.clone_from(&field.forces);
        return true;
    }
    let Some(lambda) = free.nearest(acted, field.dims.rows) else { return false };
    for (k, &row) in free.rows.iter().enumerate() {
        let change = lambda[row] - found.lambda[row];
        axpy(if free.moves { change } else { 0.0 }, free.response.row(k), &mut found.accel);
    }
    found.lambda = lambda;
    let (info, eval, modes) = (field.info, &field.eval, &field.discrete.modes);
    normal_forces(info, eval, modes, found);
    for (i, c) in info.iter().enumerate() {
        found.tangential[i] = c.tangential_force(&found.lambda);
        found.bound[i] = friction_bound(c, eval, i, modes[i], found.normal[i]);
    }
    true
}

impl Decider {
    /// What the laws leave open beside the solution that was taken last, if the run `follows` it.
    pub(super) fn family_at<S: System + ?Sized>(&self, field: &Field<S>, follows: bool) -> Option<Family> {
        match field.spatial {
            true => self.followed().filter(|_| follows).and_then(|forces| family(field, forces)),
            false => self.family(field),
        }
    }
}

/// The intervals of everything that the laws leave open beside the forces `found`.
pub(super) fn family<S: System + ?Sized>(field: &Field<S>, found: &Forces) -> Option<Family> {
    let free = Free::new(field, found)?;
    let row = |row: usize| match free.rows.iter().position(|r| *r == row) {
        Some(k) => free.interval(&free.unit(k), 0.0),
        None => (found.lambda[row], found.lambda[row]),
    };
    let given = |i: usize| (found.normal[i], found.normal[i]);
    let tangent = |c: &ContactInfo, k: usize| c.tangent.get(k).map_or((0.0, 0.0), |&r| row(r));
    let accel = |i: usize| {
        let a: Vec<f64> = (0..free.rows.len()).map(|k| free.size * free.response[(k, i)]).collect();
        let there: f64 = free.rows.iter().zip(&a).map(|(&r, a)| a * found.lambda[r] / free.size).sum();
        match free.moves {
            true => free.interval(&a, found.accel[i] - there),
            false => (found.accel[i], found.accel[i]),
        }
    };
    let normal = |(i, c): (usize, &ContactInfo)| match (c.normal, c.normal_row()) {
        (Normal::Unilateral { .. } | Normal::Bilateral { .. }, Some(r)) => row(r),
        _ => given(i),
    };
    let accel: Vec<(f64, f64)> = (0..field.dims.u).map(accel).collect();
    let size = max_abs(&found.accel);
    let out = Family {
        moves: accel.iter().any(|(lo, hi)| hi - lo > SAME * size),
        accel,
        normal: field.info.iter().enumerate().map(normal).collect(),
        tangential: field.info.iter().map(|c| tangent(c, 0)).collect(),
        second: field.info.iter().map(|c| tangent(c, 1)).collect(),
    };
    // the cones may leave nothing of what balance leaves open
    let tight = |&(lo, hi): &(f64, f64)| hi - lo <= SAME * free.size;
    let mut forces = out.normal.iter().chain(&out.tangential).chain(&out.second);
    (out.moves || !forces.all(tight)).then_some(out)
}

impl Free {
    /// `None` where forces are determined, or a bound is no cone. The field is evaluated, its modes are those of `found`.
    fn new<S: System + ?Sized>(field: &Field<S>, found: &Forces) -> Option<Free> {
        let (info, eval, modes) = (field.info, &field.eval, &field.discrete.modes);
        let mut rows: Vec<usize> = Vec::new();
        let bilateral = info.iter().filter(|c| c.is_bilateral()).flat_map(|c| c.normal_rows());
        rows.extend(bilateral);
        let count = rows.len();
        let mut held: Vec<usize> = (0..count).collect();
        for (i, c) in info.iter().enumerate() {
            if let Normal::Unilateral { row } = c.normal
                && modes[i].is_closed()
            {
                held.push(rows.len());
                rows.push(row);
            }
            if rubs(c, modes[i]) {
                // slip that begins keeps its direction
                if modes[i] == Mode::Stick || field.frozen[i].is_some() {
                    held.extend(rows.len()..rows.len() + c.tangent.len());
                }
                rows.extend(&c.tangent);
            }
        }
        let (columns, size) = (rows.len(), max_abs(&found.lambda));
        if held.is_empty() || !(size > 0.0) {
            return None;
        }
        let mut mass = MassFactor::default();
        if !mass.factor(&eval.mass, &eval.w, &rows[..count]) {
            return None;
        }
        let mut response = Mat::zeros(columns, eval.mass.size());
        for (k, &row) in rows.iter().enumerate() {
            eval.w.row(row).write(response.row_mut(k));
            mass.forward(response.row_mut(k));
        }
        let mut equations = Vec::new();
        for &h in &held {
            let own = dot(response.row(h), response.row(h)).sqrt();
            let a: Vec<f64> = (0..columns).map(|k| dot(response.row(h), response.row(k)) / own).collect();
            if own > 0.0 {
                let there = rows.iter().zip(&a).map(|(&r, a)| a * found.lambda[r] / size).sum();
                equations.push((a, there));
            }
        }
        (0..columns).for_each(|k| mass.backward(response.row_mut(k)));
        let (null, moves) = (Vec::new(), false);
        let mut free = Free { rows, size, equations, cones: Vec::new(), response, null, moves };
        for (i, _) in info.iter().enumerate().filter(|(i, _)| modes[*i] != Mode::Open) {
            free.bound(field, found, i)?;
        }
        let matrix = Mat::from_fn(free.equations.len(), columns, |i, k| free.equations[i].0[k]);
        free.null = Svd::new(&matrix).null(FREE);
        (!free.null.is_empty()).then_some(free)
    }

    /// The force with this number.
    fn unit(&self, k: usize) -> Vec<f64> {
        let mut a = vec![0.0; self.rows.len()];
        a[k] = 1.0;
        a
    }

    /// Conditions of the contact `i`, which is closed.
    fn bound<S: System + ?Sized>(&mut self, field: &Field<S>, found: &Forces, i: usize) -> Option<()> {
        let (info, eval, mode) = (field.info, &field.eval, field.discrete.modes[i]);
        let (c, sticks) = (&info[i], mode == Mode::Stick);
        let place = |row: usize| self.rows.iter().position(|r| *r == row);
        let unit = |row: usize| place(row).map_or_else(|| vec![0.0; self.rows.len()], |k| self.unit(k));
        let (mut cones, mut equations, mut moves) = (Vec::new(), Vec::new(), false);
        if let Normal::Unilateral { row } = c.normal {
            cones.push(vec![(unit(row), 0.0)]);
        }
        if rubs(c, mode) {
            // N = a·λ + b
            let (mut a, mut b) = (vec![0.0; self.rows.len()], eval.bound_given(i, sticks) / self.size);
            for (j, f) in eval.bound_terms(info, i) {
                let Normal::Unilateral { row } = info[j].normal else { return None };
                axpy(f, &unit(row), &mut a);
            }
            if c.is_given() && found.normal[i] <= 0.0 {
                (a, b) = (vec![0.0; self.rows.len()], 0.0);
            }
            let times = |f: f64| a.iter().map(|a| f * a).collect::<Vec<f64>>();
            if sticks {
                let mut cone = vec![(times(eval.mu_static[i]), eval.mu_static[i] * b)];
                for part in shape(c, eval, i)? {
                    let mut row = vec![0.0; self.rows.len()];
                    c.tangent.iter().zip(part).for_each(|(&t, p)| axpy(p, &unit(t), &mut row));
                    cone.push((row, 0.0));
                }
                cones.push(cone);
            } else {
                moves = a.iter().any(|a| *a != 0.0);
                let push = match c.tangent.len() {
                    1 => [mode.direction(), 0.0, 0.0],
                    _ => {
                        let slip = super::space::slip(c, eval, &field.state.u);
                        eval.section(i).under(found.normal[i].abs()).push(field.direction(i, slip))
                    }
                };
                for (&t, f) in c.tangent.iter().zip(push) {
                    let mut row = times(eval.mu[i] * f);
                    axpy(1.0, &unit(t), &mut row);
                    equations.push((row, -eval.mu[i] * f * b));
                }
            }
        }
        self.cones.extend(cones);
        self.equations.extend(equations);
        self.moves |= moves;
        Some(())
    }

    /// Whether the forces and accelerations of the field obey the laws, and begin no other slip than those `found`.
    fn keeps<S: System + ?Sized>(&self, field: &Field<S>, found: &Forces) -> bool {
        let forces = &field.forces;
        let x: Vec<f64> = self.rows.iter().map(|&r| forces.lambda[r] / self.size).collect();
        let value = |row: &Row| dot(&row.0, &x) + row.1;
        let inside = self.cones.iter().all(|cone| {
            let rest: f64 = cone[1..].iter().map(|r| value(r).powi(2)).sum();
            value(&cone[0]) >= rest.sqrt() - AT_BOUND
        });
        let size = max_abs(&found.accel).max(max_abs(&forces.accel)).max(self.pushes());
        let same = found.accel.iter().zip(&forces.accel).all(|(a, b)| (a - b).abs() <= SAME * size);
        inside && (same || (self.moves && field.frozen.iter().all(|d| d.is_none())))
    }

    /// What the largest force does alone.
    fn pushes(&self) -> f64 {
        self.size * self.response.as_slice().iter().fold(0.0_f64, |m, a| m.max(a.abs()))
    }

    /// The program of all conditions, with so many more unknowns.
    fn program(&self, more: usize) -> ConeProgram {
        let mut program = ConeProgram::new(self.rows.len() + more);
        let wide = |a: &[f64]| a.iter().copied().chain(std::iter::repeat_n(0.0, more)).collect::<Vec<f64>>();
        self.equations.iter().for_each(|(a, b)| program.equal(&wide(a), *b));
        for cone in &self.cones {
            program.cone(&cone.iter().map(|(a, b)| (wide(a), *b)).collect::<Vec<Row>>());
        }
        program
    }

    /// The forces next to `acted`, by rows.
    fn nearest(&self, acted: &[f64], rows: usize) -> Option<Vec<f64>> {
        let count = self.rows.len();
        let mut program = self.program(1);
        let mut distance = vec![0.0; count + 1];
        distance[count] = 1.0;
        let mut cone = vec![(distance, 0.0)];
        for (k, &row) in self.rows.iter().enumerate() {
            let mut a = vec![0.0; count + 1];
            a[k] = 1.0;
            cone.push((a, -acted.get(row).copied().unwrap_or(0.0) / self.size));
        }
        program.cone(&cone);
        let mut c = vec![0.0; count + 1];
        c[count] = -1.0;
        let answer = program.maximize(&c);
        let mut out = vec![0.0; rows];
        self.rows.iter().zip(&answer.x).for_each(|(&r, x)| out[r] = x * self.size);
        (answer.outcome == ConeOutcome::Optimal).then_some(out)
    }

    /// Least and largest value of a·λ + b, a in shares of the largest force; NaN where that is not certain.
    fn interval(&self, a: &[f64], b: f64) -> (f64, f64) {
        let program = self.program(0);
        let end = |sign: f64| {
            let a: Vec<f64> = a.iter().map(|a| sign * a).collect();
            let answer = program.maximize(&a);
            match answer.outcome {
                ConeOutcome::Optimal | ConeOutcome::Unbounded => sign * answer.value,
                ConeOutcome::Infeasible | ConeOutcome::Unclear => f64::NAN,
            }
        };
        (b + self.size * end(-1.0), b + self.size * end(1.0))
    }
}

/// S by rows; `None` where the bound is no cone.
fn shape(c: &ContactInfo, eval: &Eval, i: usize) -> Option<Vec<[f64; 3]>> {
    match eval.section(i) {
        Section::Round => {
            Some((0..c.tangent.len()).map(|k| std::array::from_fn(|j| f64::from(u8::from(j == k)))).collect())
        }
        Section::Ellipse([a, b]) => {
            (a > 0.0 && b > 0.0).then(|| vec![[1.0 / a, 0.0, 0.0], [0.0, 1.0 / b, 0.0]])
        }
        Section::Tensor([a, b, d, e]) => {
            let det = a * e - b * d;
            (det != 0.0).then(|| vec![[e / det, -b / det, 0.0], [-d / det, a / det, 0.0]])
        }
        Section::Patch { .. } => None,
    }
}
