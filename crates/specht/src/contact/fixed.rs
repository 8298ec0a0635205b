//! Accelerations and forces with frozen modes, (5.13)-(5.16).
//!
//! ```text
//! C: bilateral rows, normals of closed contacts, tangents of sticking contacts           W_C v + w̄_C = 0
//! sliding:  λ_T = −d μ N,  N affine in λ_C (pins: the norm)   ⇒   M v = h₀ + (W_Cᵀ + N_G) λ_C + Σ p_k n_k
//! A λ_C = −b,   A = W_C M⁻¹ (W_Cᵀ + N_G),   b = W_C M⁻¹ h₀ + w̄_C,       p_k = |(λ_1, λ_2) of pin k|
//! ```
//!
//! Without sliding friction A is symmetric positive definite (Cholesky), else LU. When A is singular (dependent
//! constraints, or the border of a paradox) the forces are those of slightly compliant rows that carried [`Fixed::reference`]
//! (A λ = −b and ℓᵀ(λ − reference) = 0 for every ℓᵀ A = 0; nearest when A is symmetric) and
//! [`Regularity`] says so; accelerations of dependent frictionless constraints do not depend on that choice. Norms of
//! pins: quadratic equation for one pin, Newton for several, always the root nearest to the previous one.
//!
//! A row that depends on the others may slip in the small, or carry nothing ([`Fixed::share`]): it is then no constraint of its own,
//! and its force is λ_T = ±μ N, or zero.
//! Everything is O(C³ + C n²) and allocates nothing once used.

mod product;
mod rates;
mod small;

use self::product::Product;
use super::{Forces, Small, rubs};
use crate::linalg::{Cholesky, Lu, Mat, axpy, copy, dot};
use crate::linalg::{FullPivot, MassFactor, Rows};
use crate::modes::DEPENDENT;
use crate::modes::pin::pin_roots;
use crate::system::{ContactInfo, Eval, Mode, Normal};

/// How regular the problem was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Regularity {
    /// False when there is no answer: M not definite on the kernel of the bilateral rows, or no norm solves the
    /// equation of a pin. The forces are then not to be used.
    pub solved: bool,
    /// Smallest over largest pivot of A (5.15), times the derivative of the pin equation; 1 without constraints.
    pub rcond: f64,
    /// Sign of det A. Positive in the regular region; it changes where a paradox begins (PG-5.3-ROD).
    pub sign: f64,
    /// Dependent constraints: the forces are not unique.
    pub redundant: usize,
    /// Residual of the dependent equations; large when no acceleration satisfies all constraints.
    pub inconsistency: f64,
}

/// How near a contact is to losing its regular solution: `g̈_N = a λ_N + b` with all other constraints kept (5.35).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Approach {
    /// a; the paradox begins where it vanishes.
    pub a: f64,
    /// b; a = 0 is reached together with b = 0 (PG-5.3-ROD).
    pub b: f64,
    /// a divided by the mobility of the contact alone: without a dimension, at most about 1 far from trouble.
    pub ratio: f64,
}

const NONE: usize = usize::MAX;

/// Where a pivot is below this, relative to its diagonal entry, full pivoting says which rows depend on others: without it a dependent row after
/// a pivot p leaves ε/p, which looks regular (two points of a body that stick, their line nearly along a tangent).
const UNSURE: f64 = 1e-6;

/// The solver with frozen modes; keeps its memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fixed {
    /// Forces per row towards which dependent constraints are resolved (empty: minimum norm). Take them from the
    /// solution that a [`super::Transition`] selected.
    pub reference: Vec<f64>,
    /// −λ_T/(μ N) of a contact that slips in its tangent plane, per contact.
    pub directions: Vec<[f64; 3]>,
    /// Their rates, for [`Fixed::tangent`]; of all others zero. Empty: all zero.
    pub turns: Vec<[f64; 3]>,
    /// Last pin forces, per contact: the root followed by the pin equation.
    pub pins: Vec<f64>,
    /// What contacts do in the small; empty: all hold.
    small: Vec<Small>,
    kept: Mat,
    mass: MassFactor,
    bilateral: Vec<usize>,
    rows: Vec<usize>,
    column: Vec<usize>,
    y: Mat,
    z: Mat,
    a: Mat,
    /// Contacts with λ_T = factor N.
    sliding: Vec<(usize, f64)>,
    t: Vec<f64>,
    v0: Vec<f64>,
    b: Vec<f64>,
    pin_list: Vec<usize>,
    pin_v: Mat,
    pin_l: Mat,
    pin_p: Vec<f64>,
    pin_f: Vec<f64>,
    pin_j: Mat,
    lambda: Vec<f64>,
    near: Vec<f64>,
    shift: Vec<f64>,
    unit: Vec<f64>,
    cholesky: Cholesky,
    lu: Lu,
    rank: FullPivot,
    left: FullPivot,
    transposed: Mat,
    gram: Mat,
    pin_rank: FullPivot,
    method: Method,
    done: Option<Done>,
    product: Product,
    /// For which modes and signs.
    for_modes: Vec<Mode>,
    for_signs: Vec<f64>,
    count: u64,
}

/// Factors that stay right while constants and modes stay ([`crate::system::Constants`]).
#[derive(Clone, Copy, Debug)]
struct Done {
    constants: u64,
    regularity: Regularity,
    /// [`Fixed::nearness`], when it was asked.
    nearness: Option<f64>,
    /// All contacts are open: there are accelerations alone.
    free: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Method {
    #[default]
    Empty,
    Cholesky,
    Lu,
    Rank,
}

impl Fixed {
    /// Follow this solution from now on: reference of dependent constraints and norms of pins.
    pub(crate) fn follow(&mut self, forces: &Forces) {
        self.reference.clone_from(&forces.lambda);
        self.pins.clone_from(&forces.normal);
        self.small.clear();
    }

    /// Solve. `modes` as in [`crate::system::Discrete`]; `signs[i]` is the frozen sign of λ_N of a sliding bilateral
    /// contact, and for a sliding `Given` contact a negative value means that it transmits nothing (its load is negative).
    pub(crate) fn solve(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        out: &mut Forces,
    ) -> Regularity {
        let (n, rows) = (eval.mass.size(), eval.w.rows());
        if let Some(Done { regularity, free, .. }) = self.holds_still(eval, modes, signs) {
            let regularity = *regularity;
            if *free {
                return Regularity { solved: self.fall(info, eval, out), ..regularity };
            }
            out.reset(n, rows, info.len());
            if self.is_small(eval) {
                self.multiply(info, eval, modes, out);
            } else {
                self.again(eval);
                self.report(info, eval, modes, out);
            }
            let solved = regularity.solved && out.accel.iter().all(|x| x.is_finite());
            return Regularity { solved, ..regularity };
        }
        out.reset(n, rows, info.len());
        self.choose_rows(info, eval, modes);
        if !self.mass.factor_tree(&eval.mass, &eval.tree, &eval.w, &self.bilateral) {
            return Regularity { solved: false, rcond: 0.0, sign: 0.0, redundant: 0, inconsistency: 0.0 };
        }
        self.assemble(info, eval, modes, signs);
        let mut regularity = self.solve_rows();
        if !self.pin_list.is_empty() {
            let slope = self.solve_pins(info);
            regularity.solved = slope.is_some();
            regularity.rcond *= slope.unwrap_or(0.0);
        }
        self.keep(info, eval, modes, signs, regularity);
        self.report(info, eval, modes, out);
        regularity.solved &= out.accel.iter().all(|x| x.is_finite());
        regularity
    }

    /// Whether nothing is held and nothing carries, with factors that are still right: [`Fixed::fall`] is then all there is to solve.
    pub(crate) fn is_free(&self, eval: &Eval, modes: &[Mode], signs: &[f64]) -> bool {
        self.holds_still(eval, modes, signs).is_some_and(|done| done.free)
    }

    /// The accelerations where nothing is held and nothing carries: all forces stay zero. Reads h alone; false where there are none.
    pub(crate) fn fall(&mut self, info: &[ContactInfo], eval: &Eval, out: &mut Forces) -> bool {
        out.rest(eval.mass.size(), eval.w.rows(), info.len());
        copy(&eval.h, &mut out.accel);
        self.mass.solve(&mut out.accel);
        out.accel.iter().all(|x| x.is_finite())
    }

    /// Whether the factors that are there are still right.
    fn holds_still(&self, eval: &Eval, modes: &[Mode], signs: &[f64]) -> Option<&Done> {
        let done = self.done.as_ref().filter(|d| d.constants == eval.constants.0)?;
        let same = self.for_modes == modes && self.for_signs == signs && self.small.is_empty();
        same.then_some(done)
    }

    /// The forces in `lambda` and `v0` with the factors that are there.
    fn again(&mut self, eval: &Eval) {
        self.load(eval);
        self.lambda.clear();
        for (k, &r) in self.rows.iter().enumerate() {
            self.lambda.push(-(dot(self.y.row(k), &self.v0) + eval.accel_offset[r]));
        }
        match self.method {
            Method::Cholesky => self.cholesky.solve(&mut self.lambda),
            Method::Lu => self.lu.solve(&mut self.lambda),
            _ => {}
        }
    }

    /// Smallest ratio a / mobility over the closed sliding contacts, 1 without any: the border of a paradox is where it vanishes. While
    /// the factors stay it stays.
    pub(crate) fn nearness(&mut self, info: &[ContactInfo], modes: &[Mode]) -> f64 {
        if let Some(known) = self.done.and_then(|d| d.nearness) {
            return known;
        }
        let mut least = 1.0_f64;
        for (i, c) in info.iter().enumerate() {
            if (modes[i].direction() != 0.0 || modes[i] == Mode::Slip)
                && c.friction
                && let Some(a) = self.approach(info, i)
            {
                least = least.min(a.ratio);
            }
        }
        if let Some(done) = &mut self.done {
            done.nearness = Some(least);
        }
        least
    }

    /// Keep the factors, where nothing but h and the offsets may change.
    fn keep(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        regularity: Regularity,
    ) {
        let turns = modes.contains(&Mode::Slip);
        let plain =
            self.method != Method::Rank && self.pin_list.is_empty() && self.small.is_empty() && !turns;
        if eval.constants.0 != 0 && plain && regularity.solved && !info.iter().any(|c| c.is_given()) {
            self.for_modes.clear();
            self.for_modes.extend_from_slice(modes);
            self.for_signs.clear();
            self.for_signs.extend_from_slice(signs);
            let open = |c: &ContactInfo| c.is_unilateral() && c.load_on.is_empty();
            let free = self.rows.is_empty() && info.iter().all(open);
            self.done = Some(Done { constants: eval.constants.0, regularity, nearness: None, free });
            self.product.forget();
        }
    }

    // v0 = L⁻¹ h₀
    fn load(&mut self, eval: &Eval) {
        self.v0.clear();
        self.v0.extend_from_slice(&eval.h);
        self.mass.correct(&eval.w, &self.bilateral, &eval.accel_offset, &mut self.v0);
        self.mass.forward(&mut self.v0);
    }

    /// a and b of the closed unilateral or bilateral contact `i` in the last solution; `None` for other contacts and where
    /// A was singular.
    pub(crate) fn approach(&mut self, info: &[ContactInfo], i: usize) -> Option<Approach> {
        let k = *self.column.get(info[i].normal_row()?)?;
        if k == NONE {
            return None;
        }
        let m = self.rows.len();
        self.unit.clear();
        self.unit.resize(m, 0.0);
        self.unit[k] = 1.0;
        match self.method {
            Method::Cholesky => self.cholesky.solve(&mut self.unit),
            Method::Lu => self.lu.solve(&mut self.unit),
            _ => return None,
        }
        let a = 1.0 / self.unit[k];
        let own = dot(self.y.row(k), self.y.row(k));
        a.is_finite().then(|| Approach { a, b: -a * self.lambda[k], ratio: a / own })
    }

    /// What a unit of normal force at contact `i`, with all friction and all other reactions that follow from it, does in the
    /// last solution: accelerations and forces per row. Towards the border of a paradox all forces grow along these.
    pub(crate) fn growth(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        i: usize,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        self.approach(info, i)?;
        let own = self.unit[self.column[info[i].normal_row()?]];
        let mut accel = vec![0.0; eval.mass.size()];
        let mut lambda = vec![0.0; eval.w.rows()];
        for (k, &r) in self.rows.iter().enumerate() {
            lambda[r] = self.unit[k] / own;
            axpy(lambda[r], self.z.row(k), &mut accel);
        }
        self.mass.backward(&mut accel);
        let normals = lambda.clone();
        for &(j, weight) in &self.sliding {
            let tangent = info[j].tangent[0];
            for (c, f) in eval.bound_terms(info, j) {
                if let Some(row) = info[c].normal_row() {
                    lambda[tangent] += weight * f * normals[row];
                }
            }
        }
        accel.iter().chain(&lambda).all(|v| v.is_finite()).then_some((accel, lambda))
    }

    // bilateral rows first, then closed normals, then sticking tangents
    fn choose_rows(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode]) {
        self.done = None;
        self.bilateral.clear();
        for c in info.iter().filter(|c| c.is_bilateral()) {
            self.bilateral.extend(c.normal_rows());
        }
        self.rows.clear();
        self.rows.extend_from_slice(&self.bilateral);
        for (i, (c, m)) in info.iter().zip(modes).enumerate() {
            if let Normal::Unilateral { row } = c.normal
                && m.is_closed()
                && !matches!(self.does(i), Small::Slack | Small::Loaded)
            {
                self.rows.push(row);
            }
        }
        for (i, (c, m)) in info.iter().zip(modes).enumerate() {
            if *m == Mode::Stick && rubs(c, *m) && matches!(self.does(i), Small::Holds | Small::Loaded) {
                self.rows.extend(&c.tangent);
            }
        }
        self.column.clear();
        self.column.resize(eval.w.rows(), NONE);
        for (k, &r) in self.rows.iter().enumerate() {
            self.column[r] = k;
        }
    }

    // Y = L⁻¹ W_Cᵀ, Z = L⁻¹ (W_C + N_G)ᵀ, v0 = L⁻¹ h₀, one column per pin norm, b
    fn assemble(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode], signs: &[f64]) {
        let (n, m) = (eval.mass.size(), self.rows.len());
        self.y.reshape(m, n);
        for (k, &r) in self.rows.iter().enumerate() {
            eval.w.row(r).write(self.y.row_mut(k));
            self.mass.forward(self.y.row_mut(k));
        }
        self.z.clone_from(&self.y);
        self.load(eval);

        // friction of sliding contacts moves into the columns of the normal forces
        self.sliding.clear();
        self.pin_list.clear();
        let pins = info.iter().filter(|c| c.normal_rows().len() > 1).count();
        self.pin_v.reshape(pins, n);
        let mut symmetric = true;
        for (i, c) in info.iter().enumerate() {
            if !rubs(c, modes[i]) {
                continue;
            }
            let sticks = modes[i] == Mode::Stick;
            let weight = orientation(c, signs[i])
                * match (sticks, self.does(i)) {
                    (true, Small::Slips { side }) => side * eval.mu_static[i],
                    (true, _) => 0.0,
                    (false, _) if modes[i] == Mode::Slip => -eval.mu[i],
                    (false, _) => -modes[i].direction() * eval.mu[i],
                };
            if weight == 0.0 {
                continue;
            }
            self.sliding.push((i, weight));
            match (c.tangent.as_slice(), self.directions.get(i)) {
                (rows @ [_, _, ..], Some(d)) => {
                    self.t.clear();
                    self.t.resize(n, 0.0);
                    rows.iter().zip(d).for_each(|(&row, d)| eval.w.row(row).add_to(*d, &mut self.t));
                }
                _ => eval.w.row(c.tangent[0]).store(&mut self.t),
            }
            self.mass.forward(&mut self.t);
            axpy(weight * eval.bound_given(i, sticks), &self.t, &mut self.v0);
            for (j, f) in eval.bound_terms(info, i) {
                if let Some(row) = info[j].normal_row() {
                    if self.column[row] != NONE {
                        symmetric = false;
                        axpy(weight * f, &self.t, self.z.row_mut(self.column[row]));
                    }
                } else {
                    let k = self.pin_list.iter().position(|&p| p == j).unwrap_or_else(|| {
                        self.pin_list.push(j);
                        self.pin_list.len() - 1
                    });
                    axpy(weight * f, &self.t, self.pin_v.row_mut(k));
                }
            }
        }
        self.a.reshape(m, m);
        self.b.clear();
        for i in 0..m {
            for j in 0..m {
                self.a[(i, j)] = dot(self.y.row(i), self.z.row(j));
            }
            self.b.push(dot(self.y.row(i), &self.v0) + eval.accel_offset[self.rows[i]]);
        }
        self.method = if m == 0 {
            Method::Empty
        } else if symmetric {
            Method::Cholesky
        } else {
            Method::Lu
        };
    }

    /// Factorisations so far: of the mass matrix and of that of the held rows.
    pub(crate) fn factorisations(&self) -> u64 {
        self.mass.count + self.count
    }

    fn solve_rows(&mut self) -> Regularity {
        let m = self.rows.len();
        self.count += u64::from(m > 0);
        let mut out = Regularity { solved: true, rcond: 1.0, sign: 1.0, redundant: 0, inconsistency: 0.0 };
        let symmetric = self.method == Method::Cholesky;
        // a small pivot may be rounding: whether the row depends on the others is for full pivoting to say
        let dependent = symmetric
            && (self.cholesky.factor(&self.a).is_err()
                || (self.cholesky.smallest_pivot() < UNSURE && self.rank.factor(&self.a) < m));
        if dependent {
            self.method = Method::Rank;
        }
        if self.method == Method::Lu {
            out.rcond = self.lu.factor(&self.a);
            out.sign = self.lu.sign_det();
        }
        if self.method == Method::Rank || out.rcond < 1e-10 {
            let rank = self.rank.factor(&self.a);
            if rank < m {
                self.method = Method::Rank;
                out.rcond = 0.0;
                out.redundant = m - rank;
            } else if self.method == Method::Rank {
                // full rank after all: positive definite, badly scaled
                out.rcond = self.rank.smallest_pivot();
            }
        }
        self.near.clear();
        if !self.reference.is_empty() && self.method == Method::Rank {
            self.near.extend(self.rows.iter().map(|&r| self.reference.get(r).copied().unwrap_or(0.0)));
        }
        self.lambda.clear();
        self.lambda.extend(self.b.iter().map(|b| -b));
        match self.method {
            Method::Empty => {}
            Method::Cholesky => self.cholesky.solve(&mut self.lambda),
            Method::Lu => self.lu.solve(&mut self.lambda),
            Method::Rank => {
                self.unit.clone_from(&self.lambda);
                let size = crate::linalg::max_abs(&self.unit).max(f64::MIN_POSITIVE);
                out.inconsistency = self.rank.solve(&self.unit, &self.near, &mut self.lambda) / size;
                if !symmetric && out.redundant > 0 {
                    self.incline();
                }
            }
        }
        out
    }

    // λ = λ₀ + Σ p_k λ_k; find p with p_k = |pin part of λ|. Returns the slope of the equation (1: no influence).
    fn solve_pins(&mut self, info: &[ContactInfo]) -> Option<f64> {
        let (m, k) = (self.rows.len(), self.pin_list.len());
        self.pin_l.reshape(k, m);
        for j in 0..k {
            self.unit.clear();
            for i in 0..m {
                self.unit.push(-dot(self.y.row(i), self.pin_v.row(j)));
            }
            match self.method {
                Method::Empty => {}
                Method::Cholesky => self.cholesky.solve(&mut self.unit),
                Method::Lu => self.lu.solve(&mut self.unit),
                Method::Rank => {
                    self.near.clone_from(&self.unit);
                    self.rank.solve(&self.near, &[], &mut self.unit);
                }
            }
            self.pin_l.row_mut(j).copy_from_slice(&self.unit);
        }
        self.pins.resize(info.len(), 0.0);
        self.pin_p.clear();
        self.pin_p.extend(self.pin_list.iter().map(|&c| self.pins[c]));
        let slope = if k == 1 { self.quadratic(info) } else { self.newton(info) }?;
        for j in 0..k {
            self.pins[self.pin_list[j]] = self.pin_p[j];
            axpy(self.pin_p[j], self.pin_l.row(j), &mut self.lambda);
        }
        Some(slope)
    }

    // p² = |a + b p|²
    fn quadratic(&mut self, info: &[ContactInfo]) -> Option<f64> {
        let rows = info[self.pin_list[0]].normal_rows();
        let part = |of: &dyn Fn(usize) -> f64| -> [f64; 3] {
            std::array::from_fn(|k| rows.get(k).map_or(0.0, |&r| of(self.column[r])))
        };
        let (a, b) = (part(&|i| self.lambda[i]), part(&|i| self.pin_l[(0, i)]));
        let roots = pin_roots(a, b);
        let last = self.pin_p[0];
        let nearest = |x: &&f64, y: &&f64| (**x - last).abs().total_cmp(&(**y - last).abs());
        let p = *roots.as_slice().iter().min_by(nearest)?;
        self.pin_p[0] = p;
        let change: f64 = (0..3).map(|k| (a[k] + b[k] * p) * b[k]).sum();
        Some(if p > 0.0 { (1.0 - change / p).abs().min(1.0) } else { 1.0 })
    }

    fn newton(&mut self, info: &[ContactInfo]) -> Option<f64> {
        let k = self.pin_list.len();
        let mut slope = 0.0;
        for _ in 0..50 {
            self.pin_j.reshape(k, k);
            self.pin_f.clear();
            let mut size = 1e-300_f64;
            for i in 0..k {
                let rows = info[self.pin_list[i]].normal_rows();
                let column = |r: usize| rows.get(r).map(|&r| self.column[r]);
                let force: [f64; 3] = std::array::from_fn(|r| {
                    let Some(c) = column(r) else { return 0.0 };
                    self.lambda[c] + (0..k).map(|j| self.pin_p[j] * self.pin_l[(j, c)]).sum::<f64>()
                });
                let norm = force[0].hypot(force[1]).hypot(force[2]);
                size = size.max(norm).max(self.pin_p[i].abs());
                self.pin_f.push(norm - self.pin_p[i]);
                for j in 0..k {
                    let change: f64 =
                        (0..3).map(|r| column(r).map_or(0.0, |c| force[r] * self.pin_l[(j, c)])).sum();
                    let own = if i == j { 1.0 } else { 0.0 };
                    self.pin_j[(i, j)] = own - if norm > 0.0 { change / norm } else { 0.0 };
                }
            }
            slope = self.lu_pins();
            let step = crate::linalg::max_abs(&self.pin_f);
            for j in 0..k {
                self.pin_p[j] += self.pin_f[j];
            }
            if !step.is_finite() {
                return None;
            }
            if step <= 1e-14 * size {
                return (self.pin_p.iter().all(|&p| p >= -1e-12 * size)).then_some(slope);
            }
        }
        (slope > 0.0 && crate::linalg::max_abs(&self.pin_f) < 1e-9).then_some(slope)
    }

    // solve J step = residual in place; returns the smallest pivot
    fn lu_pins(&mut self) -> f64 {
        let rank = self.pin_rank.factor(&self.pin_j);
        self.unit.clone_from(&self.pin_f);
        self.pin_rank.solve(&self.unit, &[], &mut self.pin_f);
        if rank == self.pin_f.len() { self.pin_rank.smallest_pivot().min(1.0) } else { 0.0 }
    }

    /// Large forces in balance leave a rounded rest of acceleration, with which a light part that is held would creep. Where the rows are
    /// met worse than the accelerations themselves are known, they are met once more, with the same factors.
    fn hold(&mut self, w: &Rows, offset: &[f64], accel: &mut [f64]) {
        let size = crate::linalg::max_abs(accel);
        self.unit.clear();
        let mut rough = false;
        for &r in &self.rows {
            let rest = w.row(r).dot(accel) + offset[r];
            rough |= rest.abs() > 1e-13 * size * w.row(r).max_abs();
            self.unit.push(-rest);
        }
        match self.method {
            Method::Cholesky if rough => self.cholesky.solve(&mut self.unit),
            Method::Lu if rough => self.lu.solve(&mut self.unit),
            _ => return,
        }
        self.v0.fill(0.0);
        for (k, s) in self.unit.iter().enumerate() {
            axpy(*s, self.z.row(k), &mut self.v0);
        }
        self.mass.backward(&mut self.v0);
        axpy(1.0, &self.v0, accel);
    }

    fn report(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode], out: &mut Forces) {
        for (k, &r) in self.rows.iter().enumerate() {
            out.lambda[r] = self.lambda[k];
            axpy(self.lambda[k], self.z.row(k), &mut self.v0);
        }
        for k in 0..self.pin_list.len() {
            axpy(self.pin_p[k], self.pin_v.row(k), &mut self.v0);
        }
        self.mass.backward(&mut self.v0);
        out.accel.copy_from_slice(&self.v0);
        self.hold(&eval.w, &eval.accel_offset, &mut out.accel);
        normal_forces(info, eval, modes, out);
        for &(i, factor) in &self.sliding {
            match (info[i].tangent.as_slice(), self.directions.get(i)) {
                (rows @ [_, _, ..], Some(d)) => {
                    rows.iter().zip(d).for_each(|(&row, d)| out.lambda[row] = factor * d * out.normal[i]);
                }
                _ => out.lambda[info[i].tangent[0]] = factor * out.normal[i],
            }
        }
        for (i, c) in info.iter().enumerate() {
            if rubs(c, modes[i]) {
                out.tangential[i] = out.lambda[c.tangent[0]];
                out.bound[i] = friction_bound(c, eval, i, modes[i], out.normal[i]);
            }
        }
    }
}

/// Normal force of every contact from the forces of the rows.
pub(crate) fn normal_forces(info: &[ContactInfo], eval: &Eval, modes: &[Mode], out: &mut Forces) {
    for i in 0..info.len() {
        out.normal[i] = eval.bound_force(info, i, modes[i] == Mode::Stick, 1.0, &out.lambda);
    }
}

/// μ N of a contact in mode `m`; the static coefficient at stick.
pub(crate) fn friction_bound(c: &ContactInfo, eval: &Eval, i: usize, m: Mode, normal: f64) -> f64 {
    let mu = if m == Mode::Stick { eval.mu_static[i] } else { eval.mu[i] };
    mu * match c.normal {
        Normal::Bilateral { .. } => normal.abs(),
        _ => normal.max(0.0),
    }
}

// factor of N in the friction force of a sliding contact
fn orientation(c: &ContactInfo, sign: f64) -> f64 {
    match c.normal {
        Normal::Bilateral { .. } if sign < 0.0 => -1.0,
        Normal::Given { .. } if sign < 0.0 => 0.0,
        _ => 1.0,
    }
}
