//! The contact problem of one step as a cone problem ([`crate::cone`], METH-TIMESTEP step 3)
//!
//! ```text
//! M u⁺ = p + Wᵀ Λ,    p = M u + Δ h,    u⁺-variable of row r:  y_r = w_r u⁺ + β_r
//! unilateral   0 ≤ y_N ⊥ Λ_N ≥ 0,  |Λ_T| ≤ μ Λ_N against y_T          pair   y_N = 0,  |Λ_T| ≤ μ |Λ_N|
//! pin          y = 0, journal |Λ_T| ≤ μ |Λ|                            given  |Λ_T| ≤ μ N Δ
//! ```
//!
//! β holds prescribed velocities, ε γ⁻ of impacts and g/Δ of contacts that only come near. Bodies without mass: rows of
//! bilateral contacts are added to M ([`MassFactor`]); every answer is the same. The unit of mass is what the
//! lightest contact feels, so that velocities and impulses are of one size in all units ([`mass_unit`]).
//!
//! *Bounds that depend on the answer*, in rounds that start from the last answer: contacts with a static coefficient of
//! their own start with it after rest and get the sliding one once they slip, until they stop or turn (METH-LAW-JUMP); journals and loads that refer to other
//! contacts' forces use the forces of the round before, until they agree to 1e-10. Rounds that do not settle, and solves that do
//! not converge, go to [`Transition`].
//!
//! *Several solutions.* With up to [`FEW`] patterns of modes the whole set is asked of [`Transition`] at the first step, whenever
//! the active contacts or the modes change, as long as it is not unique, and while a sliding contact is beyond the border
//! of a paradox ([`Fixed::approach`] not positive). In between the answer continues the only one there was. In larger problems the
//! answer of the cone solver is followed and its Painlevé contacts are named once.

use crate::cone::{self, Contact, Law, Matrix, Operator, Problem, Solver, Sparse};
use crate::contact::{Fixed, Forces, Start, Status as Set, Transition, friction_bound, normal_forces};
use crate::linalg::{MassFactor, axpy};
use crate::system::{ContactInfo, Dims, Eval, Mode, Normal, Section};

use super::super::policy::{self, Before, Choice};
use super::super::settings::Policy;
use super::super::trajectory::Status;
use super::operator::{Whole, fill_row, mass_unit};
use super::tolerances::{ACCEPTED, AGREE, AT_BOUND, CONE, MOVES, SAME_MOTION};

/// Patterns of modes up to which all solutions are asked for.
pub(super) const FEW: f64 = 400.0;
/// Rows up to which a problem is small, see [`CONE`].
const SMALL: usize = 60;
/// Rounds of bounds that depend on the answer.
const ROUNDS: usize = 60;
/// Rows from which islands are solved in parallel.
const PARALLEL: usize = 300;
const NONE: usize = usize::MAX;

/// What a step asks.
pub(super) struct Step<'a> {
    pub info: &'a [ContactInfo],
    /// The system at the midpoint.
    pub eval: &'a Eval,
    pub delta: f64,
    /// p.
    pub momentum: &'a [f64],
    /// β per row.
    pub offset: &'a [f64],
    pub active: &'a [bool],
    pub policy: Policy,
    /// Modes of the step before.
    pub modes: &'a [Mode],
    /// Forces of the step before, when there was one.
    pub previous: Option<&'a Forces>,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ended {
    /// One answer; all that is known of others in words, when there is something to say.
    Solved(Option<String>),
    /// The run cannot go on (with this step).
    Failed(Status, String),
}

/// The answer, and everything kept between steps.
#[derive(Clone, Debug)]
pub(super) struct Impulses {
    /// u⁺.
    pub u: Vec<f64>,
    /// Λ per row.
    pub impulse: Vec<f64>,
    pub modes: Vec<Mode>,
    pub signs: Vec<f64>,
    /// Λ/Δ; accelerations are not set.
    pub forces: Forces,
    solver: Solver,
    problem: Problem,
    answer: cone::Solution,
    pub mass: MassFactor,
    /// Of the cone solver.
    pub factorisations: u64,
    bilateral: Vec<usize>,
    /// Columns that were ever different from zero, per row of W and of M.
    w_columns: Vec<Vec<usize>>,
    whole: Whole,
    /// Row of the system behind each row of the problem.
    source: Vec<usize>,
    /// Per contact: first problem row of its normal part and of its tangential part, its friction law in the problem.
    normal_at: Vec<usize>,
    tangent_at: Vec<usize>,
    law_at: Vec<usize>,
    free: Vec<f64>,
    rhs: Vec<f64>,
    unit: f64,
    /// Largest |q|.
    pub fastest: f64,
    /// Per contact: slipped in this step under a static coefficient.
    released: Vec<bool>,
    /// Per contact: slipped in the step before and, so far, not back again. Its static coefficient counts after it has stopped.
    slipped: Vec<bool>,
    /// Per contact: coefficient or bound in use.
    used: Vec<f64>,
    known: Known,
    fixed: Fixed,
    scratch: Forces,
    transition: Transition,
    posed: Eval,
    named: bool,
}

/// The last look at all solutions.
#[derive(Clone, Debug, Default)]
struct Known {
    unique: bool,
    active: Vec<bool>,
    modes: Vec<Mode>,
}

impl Impulses {
    pub(super) fn new(d: &Dims) -> Self {
        let mut forces = Forces::default();
        forces.reset(d.u, d.rows, d.contacts);
        let settings = cone::Settings::default();
        let empty = || Matrix::Sparse(Sparse::default());
        Impulses {
            factorisations: 0,
            u: vec![0.0; d.u],
            impulse: vec![0.0; d.rows],
            modes: vec![Mode::Open; d.contacts],
            signs: vec![1.0; d.contacts],
            scratch: forces.clone(),
            forces,
            solver: Solver::new(settings),
            problem: Problem {
                contacts: Vec::new(),
                operator: Operator::Bodies { mass: empty(), h: empty() },
                q: Vec::new(),
                w: None,
            },
            answer: cone::Solution::default(),
            mass: MassFactor::default(),
            bilateral: Vec::new(),
            w_columns: vec![Vec::new(); d.rows],
            whole: Whole::default(),
            source: Vec::new(),
            normal_at: vec![NONE; d.contacts],
            tangent_at: vec![NONE; d.contacts],
            law_at: vec![NONE; d.contacts],
            free: vec![0.0; d.u],
            rhs: vec![0.0; d.u],
            unit: 1.0,
            fastest: 0.0,
            released: vec![false; d.contacts],
            slipped: vec![false; d.contacts],
            used: vec![0.0; d.contacts],
            known: Known::default(),
            fixed: Fixed::default(),
            transition: Transition::default(),
            posed: Eval::default(),
            named: false,
        }
    }

    /// Velocities, impulses and modes of a step.
    pub(super) fn solve(&mut self, s: &Step<'_>) -> Ended {
        let solved = match self.by_cones(s) {
            Ok(solved) => solved,
            Err(text) => return Ended::Failed(Status::Failed, text),
        };
        let few = patterns(s.info, s.active) <= FEW;
        if few && !(solved && self.continues(s)) {
            return self.look_at_all(s, solved);
        }
        if !solved {
            return self.second_opinion(s);
        }
        if !few && !self.named && !self.answer.painleve.is_empty() {
            self.named = true;
            let at = self.answer.painleve[0];
            let name = (0..s.info.len()).find(|&i| self.law_at[i] == at).map_or("?", |i| &s.info[i].name);
            let others = match self.answer.painleve.len() {
                1 => String::new(),
                n => format!(" and {} others", n - 1),
            };
            return Ended::Solved(Some(format!(
                "contact `{name}`{others} may have several solutions (its own force changes the sign of its approach); one is followed"
            )));
        }
        Ended::Solved(None)
    }

    /// The answer of the cone solver; false when it has none.
    pub(super) fn by_cones(&mut self, s: &Step<'_>) -> Result<bool, String> {
        self.pose(s);
        if !self.free_velocity(s) {
            return Err("the mass matrix is singular, also with the bilateral contacts".to_string());
        }
        let solved = self.rounds(s).map_err(|error| self.blame(s, &error))?;
        if solved {
            self.take_answer(s);
        }
        Ok(solved)
    }

    /// Contacts, rows, H and M of the problem.
    fn pose(&mut self, s: &Step<'_>) {
        let p = &mut self.problem;
        p.contacts.clear();
        self.source.clear();
        self.bilateral.clear();
        for (i, c) in s.info.iter().enumerate() {
            self.normal_at[i] = NONE;
            self.tangent_at[i] = NONE;
            self.law_at[i] = NONE;
            let normals = c.normal_rows();
            if c.is_bilateral() {
                self.bilateral.extend_from_slice(normals);
            } else if !s.active[i] {
                continue;
            }
            let tangents: &[usize] = if c.friction { &c.tangent } else { &[] };
            if !normals.is_empty() {
                self.normal_at[i] = self.source.len();
                self.source.extend_from_slice(normals);
            }
            if !tangents.is_empty() {
                self.tangent_at[i] = self.source.len();
                self.source.extend_from_slice(tangents);
            }
            let key = 2 * i as u64;
            let (n, t) = (normals.len(), tangents.len());
            self.law_at[i] = p.contacts.len();
            match c.normal {
                Normal::Unilateral { .. } => {
                    p.contacts.push(Contact { law: Law::Coulomb { mu: 0.0 }, rows: n + t, key })
                }
                Normal::Bilateral { .. } if t > 0 => {
                    p.contacts.push(Contact { law: Law::BilateralFriction { mu: 0.0 }, rows: n + t, key })
                }
                Normal::Bilateral { .. } | Normal::Pin { .. } | Normal::Ball { .. } => {
                    p.contacts.push(Contact { law: Law::Bilateral, rows: n, key });
                    if t > 0 {
                        self.law_at[i] = p.contacts.len();
                        p.contacts.push(Contact { law: Law::Loaded { bound: 0.0 }, rows: t, key: key + 1 });
                    }
                }
                Normal::Given { .. } if t > 0 => {
                    p.contacts.push(Contact { law: Law::Loaded { bound: 0.0 }, rows: t, key })
                }
                Normal::Given { .. } => self.law_at[i] = NONE,
            }
        }
    }

    /// `v = M⁻¹ p` and `q = W v + β`; false when M is singular.
    fn free_velocity(&mut self, s: &Step<'_>) -> bool {
        if !self.mass.factor(&s.eval.mass, &s.eval.w, &self.bilateral) {
            return false;
        }
        self.free.copy_from_slice(s.momentum);
        self.mass.correct(&s.eval.w, &self.bilateral, s.offset, &mut self.free);
        self.mass.solve(&mut self.free);
        let mass = self.mass.matrix(&s.eval.mass);
        let n = mass.size();
        let normals = self.normal_at.iter().filter(|&&k| k != NONE).map(|&k| self.source[k]);
        self.unit = mass_unit(mass, &s.eval.w, normals);
        let p = &mut self.problem;
        let Operator::Bodies { mass: Matrix::Sparse(m), h: Matrix::Sparse(h) } = &mut p.operator else {
            return false;
        };
        self.whole.fill(mass, 1.0 / self.unit, m);
        h.reset(n);
        p.q.clear();
        for &row in &self.source {
            let w = s.eval.w.row(row);
            let columns = &mut self.w_columns[row];
            fill_row(h, w, columns, 1.0);
            p.q.push(s.offset[row] + w.dot(&self.free));
        }
        self.fastest = p.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        self.solver.settings.tolerance = CONE[usize::from(self.source.len() > SMALL)];
        self.solver.settings.parallel = self.source.len() >= PARALLEL;
        true
    }

    /// Solve, until the bounds that depend on the answer agree with it. False when there is no answer.
    fn rounds(&mut self, s: &Step<'_>) -> Result<bool, cone::ProblemError> {
        for i in 0..s.info.len() {
            let slips = !matches!(s.modes[i], Mode::Open | Mode::Closed | Mode::Stick);
            self.slipped[i] = slips && s.info[i].friction && s.previous.is_some();
            self.released[i] = self.slipped[i];
        }
        // loads of the last step until there is an answer
        if let Some(f) = s.previous {
            self.impulse.iter_mut().zip(&f.lambda).for_each(|(a, b)| *a = b * s.delta);
        }
        for _ in 0..ROUNDS {
            self.set_laws(s);
            self.solver.solve_into(&self.problem, &mut self.answer)?;
            self.factorisations += self.answer.counts.factorisations();
            let error = self.answer.error_plain.max(self.answer.error_scaled);
            if self.answer.status != cone::Status::Solved && !(error < ACCEPTED) {
                return Ok(false);
            }
            self.impulse.fill(0.0);
            for (k, &row) in self.source.iter().enumerate() {
                self.impulse[row] = self.answer.r[k] * self.unit;
            }
            if self.bounds_agree(s) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Coefficients and bounds, from the impulses of the round before where they depend on them.
    fn set_laws(&mut self, s: &Step<'_>) {
        for i in 0..s.info.len() {
            if self.tangent_at[i] == NONE {
                continue;
            }
            let mu = self.coefficient(s, i);
            self.used[i] = mu;
            let law = match self.problem.contacts[self.law_at[i]].law {
                Law::Coulomb { .. } | Law::Elliptic { .. } => match s.eval.section(i) {
                    Section::Ellipse(mu) => Law::Elliptic { mu },
                    _ => Law::Coulomb { mu },
                },
                Law::BilateralFriction { .. } => Law::BilateralFriction { mu },
                _ => {
                    let bound = mu * self.load(s, i);
                    self.used[i] = bound;
                    Law::Loaded { bound: bound / self.unit }
                }
            };
            self.problem.contacts[self.law_at[i]].law = law;
        }
    }

    fn coefficient(&self, s: &Step<'_>, i: usize) -> f64 {
        if self.released[i] { s.eval.mu[i] } else { s.eval.mu_static[i] }
    }

    /// N Δ of a given contact or a pin, from the present impulses.
    fn load(&self, s: &Step<'_>, i: usize) -> f64 {
        s.eval.bound_force(s.info, i, !self.released[i], s.delta, &self.impulse).max(0.0)
    }

    /// Whether every contact keeps its coefficient and its bound.
    fn bounds_agree(&mut self, s: &Step<'_>) -> bool {
        let largest = self.impulse.iter().fold(0.0_f64, |m, l| m.max(l.abs()));
        let mut agree = true;
        for i in 0..s.info.len() {
            if self.tangent_at[i] == NONE {
                continue;
            }
            let jumps = s.eval.mu[i] != s.eval.mu_static[i] || s.eval.load[i] != s.eval.load_static[i];
            if jumps && self.slipped[i] && self.turns(s, i) {
                // on the way back it passes rest, where the static bound holds
                self.slipped[i] = false;
                self.released[i] = false;
                agree = false;
            } else if jumps && !self.released[i] && self.slides(s, i) {
                self.released[i] = true;
                agree = false;
            } else if matches!(self.problem.contacts[self.law_at[i]].law, Law::Loaded { .. }) {
                let bound = self.coefficient(s, i) * self.load(s, i);
                agree &= (bound - self.used[i]).abs() <= AGREE * largest.max(bound);
            }
        }
        agree
    }

    /// Moves along the friction of the step before.
    fn turns(&self, s: &Step<'_>, i: usize) -> bool {
        let Some(before) = s.previous else { return false };
        let (at, rows) = (self.tangent_at[i], &s.info[i].tangent);
        let along = rows.iter().enumerate().map(|(k, &r)| self.answer.u[at + k] * before.lambda[r]);
        along.sum::<f64>() > 0.0 && self.slides(s, i)
    }

    /// At the bound and moving.
    fn slides(&self, s: &Step<'_>, i: usize) -> bool {
        let (at, t) = (self.tangent_at[i], s.info[i].tangent.len());
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let bound = match self.problem.contacts[self.law_at[i]].law {
            Law::Coulomb { mu } | Law::BilateralFriction { mu } => {
                mu * self.answer.r[self.normal_at[i]].abs()
            }
            Law::Loaded { bound } => bound,
            _ => return false,
        };
        norm(&self.answer.u[at..at + t]) > MOVES * self.fastest
            && norm(&self.answer.r[at..at + t]) >= bound * (1.0 - AT_BOUND)
    }

    /// u⁺, modes and forces of the cone solver's answer.
    fn take_answer(&mut self, s: &Step<'_>) {
        self.rhs.fill(0.0);
        for &row in &self.source {
            let l = self.impulse[row];
            if l != 0.0 {
                s.eval.w.row(row).add_to(l, &mut self.rhs);
            }
        }
        self.mass.solve(&mut self.rhs);
        self.u.copy_from_slice(&self.free);
        axpy(1.0, &self.rhs, &mut self.u);
        // modes
        let strongest = self.answer.r.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
        for (i, c) in s.info.iter().enumerate() {
            let (n, t) = (self.normal_at[i], self.tangent_at[i]);
            let open = match c.normal {
                Normal::Unilateral { row } => {
                    let apart = n == NONE
                        || (self.answer.r[n] <= MOVES * strongest && self.answer.u[n] > MOVES * self.fastest);
                    if apart {
                        self.impulse[row] = 0.0;
                        c.tangent.iter().for_each(|&t| self.impulse[t] = 0.0);
                    }
                    apart
                }
                Normal::Given { .. } => !s.active[i],
                _ => false,
            };
            self.modes[i] = if open {
                Mode::Open
            } else if t == NONE {
                Mode::Closed
            } else if !self.slides(s, i) {
                Mode::Stick
            } else if c.tangent.len() > 1 {
                Mode::Slip
            } else if self.answer.u[t] >= 0.0 {
                Mode::SlipPlus
            } else {
                Mode::SlipMinus
            };
        }
        self.set_forces(s);
        for i in 0..s.info.len() {
            if self.tangent_at[i] != NONE && self.modes[i] != Mode::Open {
                let n = self.forces.normal[i];
                self.forces.bound[i] = match self.problem.contacts[self.law_at[i]].law {
                    Law::Loaded { .. } => self.used[i] / s.delta,
                    _ => self.used[i] * n.abs(),
                };
            }
        }
    }

    /// Λ/Δ and what follows from it.
    fn set_forces(&mut self, s: &Step<'_>) {
        let f = &mut self.forces;
        f.lambda.iter_mut().zip(&self.impulse).for_each(|(a, b)| *a = b / s.delta);
        normal_forces(s.info, s.eval, &self.modes, f);
        for (i, c) in s.info.iter().enumerate() {
            let rubs = c.friction && !c.tangent.is_empty();
            f.tangential[i] = if rubs { f.lambda[c.tangent[0]] } else { 0.0 };
            f.bound[i] = if rubs { friction_bound(c, s.eval, i, self.modes[i], f.normal[i]) } else { 0.0 };
            let may_be_negative = matches!(c.normal, Normal::Bilateral { .. } | Normal::Given { .. });
            self.signs[i] = if may_be_negative && f.normal[i] < 0.0 { -1.0 } else { 1.0 };
        }
    }

    /// Whether the answer continues the only one there was.
    fn continues(&mut self, s: &Step<'_>) -> bool {
        let k = &self.known;
        if s.policy != Policy::Continuous || !k.unique || k.active != s.active || k.modes != self.modes {
            return false;
        }
        let sliding = |i: usize| self.modes[i].direction() != 0.0 || self.modes[i] == Mode::Slip;
        if !(0..s.info.len()).any(sliding) {
            return true;
        }
        if s.info.iter().any(|c| c.friction && c.tangent.len() > 1) {
            return true;
        }
        let r = self.fixed.solve(s.info, s.eval, &self.modes, &self.signs, &mut self.scratch);
        r.solved
            && (0..s.info.len())
                .all(|i| !sliding(i) || self.fixed.approach(s.info, i).is_none_or(|a| a.ratio > 0.0))
    }

    /// All solutions, and the one that the policy takes.
    fn look_at_all(&mut self, s: &Step<'_>, solved: bool) -> Ended {
        if s.info.iter().any(|c| c.friction && c.tangent.len() > 1) {
            return if solved { Ended::Solved(None) } else { self.not_converged() };
        }
        self.transition.settings = Default::default();
        self.pose_forces(s);
        let set = self.transition.solve(s.info, &self.posed, &starts(s));
        self.known.unique = set.status == Set::Unique;
        self.known.active.clear();
        self.known.active.extend_from_slice(s.active);
        let before = s.previous.map_or(Before::Nothing, Before::Forces);
        let limit = || policy::compliant(&set, before, None);
        let taken = match policy::choose(s.policy, &set, before, &limit, &|| None) {
            Choice::Take(k) => set.solutions.get(k),
            Choice::Impact => set.solutions.first(),
            Choice::Stop => None,
        };
        // the only one, and already found: its modes stay as the cone solver names them, or idle contacts would flicker
        if solved && set.status == Set::Unique && taken.is_some_and(|t| self.is_near(s, &t.forces.accel)) {
            self.known.modes.clone_from(&self.modes);
            return Ended::Solved(None);
        }
        let stop = matches!(set.status, Set::Several | Set::Family) && taken.is_none();
        let ended = if let Some(solution) = taken {
            self.take_solution(s, solution);
            Ended::Solved(match set.status {
                Set::Several => Some(format!("the contact problem has {} solutions", set.solutions.len())),
                Set::Family => Some("the contact problem has a continuum of solutions".to_string()),
                _ => None,
            })
        } else if stop {
            let text = format!("the contact problem has {} solutions", set.solutions.len());
            Ended::Failed(Status::Indeterminate, text)
        } else if solved {
            Ended::Solved(None)
        } else if set.status == Set::None {
            Ended::Failed(Status::Inconsistent, "the contact problem has no solution".to_string())
        } else {
            self.not_converged()
        };
        self.known.modes.clone_from(&self.modes);
        ended
    }

    /// Whether u⁺/Δ is `accel`.
    fn is_near(&self, s: &Step<'_>, accel: &[f64]) -> bool {
        let size = self.u.iter().fold(self.fastest, |m, u| m.max(u.abs()));
        self.u.iter().zip(accel).all(|(u, a)| (u - a * s.delta).abs() <= SAME_MOTION * size)
    }

    /// Many contacts and no answer: one solution by complementary pivots.
    fn second_opinion(&mut self, s: &Step<'_>) -> Ended {
        self.known.unique = false;
        if self.answer.status == cone::Status::NoSolution {
            let text = "the contact problem has no solution: bodies are squeezed".to_string();
            return Ended::Failed(Status::Inconsistent, text);
        }
        if s.info.iter().any(|c| c.friction && c.tangent.len() > 1) {
            return self.not_converged();
        }
        self.transition.settings = crate::contact::Settings { certify: false, ..Default::default() };
        self.pose_forces(s);
        let set = self.transition.solve(s.info, &self.posed, &starts(s));
        match set.solutions.first() {
            Some(solution) => {
                self.take_solution(s, solution);
                Ended::Solved(None)
            }
            None => self.not_converged(),
        }
    }

    fn not_converged(&self) -> Ended {
        let error = self.answer.error_plain.max(self.answer.error_scaled);
        let text = format!(
            "the contact problem of {} rows was solved to {error:.1e} only, {ACCEPTED:.0e} is asked for",
            self.source.len()
        );
        Ended::Failed(Status::Failed, text)
    }

    /// The problem of the step as a force problem, in u⁺/Δ and Λ/Δ.
    fn pose_forces(&mut self, s: &Step<'_>) {
        self.posed.clone_from(s.eval);
        self.posed.h.iter_mut().zip(s.momentum).for_each(|(h, p)| *h = p / s.delta);
        self.posed.accel_offset.iter_mut().zip(s.offset).for_each(|(a, b)| *a = b / s.delta);
    }

    fn take_solution(&mut self, s: &Step<'_>, solution: &crate::contact::Solution) {
        self.u.iter_mut().zip(&solution.forces.accel).for_each(|(u, a)| *u = a * s.delta);
        self.impulse.iter_mut().zip(&solution.forces.lambda).for_each(|(i, l)| *i = l * s.delta);
        self.modes.copy_from_slice(&solution.modes);
        self.set_forces(s);
        self.signs.copy_from_slice(&solution.signs);
    }

    fn blame(&self, s: &Step<'_>, error: &cone::ProblemError) -> String {
        let at = match error {
            cone::ProblemError::Friction { contact, .. } | cone::ProblemError::Bound { contact, .. } => {
                *contact
            }
            _ => return format!("the contact problem cannot be posed: {error}"),
        };
        let name = (0..s.info.len()).find(|&i| self.law_at[i] == at).map_or("?", |i| &s.info[i].name);
        format!("contact `{name}`: {error}")
    }
}

fn starts(s: &Step<'_>) -> Vec<Start> {
    s.active.iter().map(|a| if *a { Start::Zero } else { Start::Open }).collect()
}

/// Patterns of modes of the active contacts.
pub(super) fn patterns(info: &[ContactInfo], active: &[bool]) -> f64 {
    let count = |(i, c): (usize, &ContactInfo)| {
        let rubs = c.friction && !c.tangent.is_empty();
        match c.normal {
            Normal::Unilateral { .. } if active[i] => 2.0 + 2.0 * f64::from(u8::from(rubs)),
            Normal::Bilateral { .. } if rubs => 6.0,
            Normal::Pin { .. } if rubs => 3.0,
            Normal::Given { .. } if rubs && active[i] => 3.0,
            _ => 1.0,
        }
    };
    info.iter().enumerate().map(count).product()
}
