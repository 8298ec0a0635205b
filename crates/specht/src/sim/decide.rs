//! New modes at an instant (PG-6-EVENT, steps 3 and 6).
//!
//! The transition problem is solved at the instant itself. Where its deciding quantities vanish (a sticking contact exactly at
//! its bound, a normal force exactly zero: that is what an event is), the modes follow from the *rate* of these
//! quantities: the same problem is solved a moment later, at the state continued with the accelerations found, which are
//! the same for all tied modes. The moment is `10⁻⁵` of the last step and grows a hundredfold, twice, while ties remain.

use crate::contact::{Fast, Forces, SolutionSet, Start, Status, Transition};
use crate::linalg::{axpy, max_abs};
use crate::system::{ContactInfo, Eval, Mode, Normal, State, System};

use super::field::Field;
use super::policy::{self, Before, Choice};
use super::settings::Policy;
use super::trajectory::{Alternative, Family};

/// Forces that exceed their bound by this much of the largest force do so by more than rounding.
const BEYOND: f64 = 2e-12;

/// Result of a decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Modes are set.
    Follow,
    /// No motion without a jump of velocities.
    Impact,
    /// The run ends.
    Stop,
    /// The problem could not be posed.
    Invalid,
}

/// Normal forces per contact without the friction of contacts whose force is unknown.
fn frictionless(info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> Option<Vec<f64>> {
    let mut eval = eval.clone();
    for (i, c) in info.iter().enumerate() {
        if !matches!(c.normal, Normal::Given { .. }) {
            (eval.mu[i], eval.mu_static[i]) = (0.0, 0.0);
        }
    }
    let mut set = Transition::default().solve(info, &eval, starts);
    (!set.solutions.is_empty()).then(|| set.solutions.swap_remove(0).forces.normal)
}

/// A sticking force that has reached its bound and, a moment later, is beyond it by more than rounding is a release, though the laws
/// tolerate it: a bound that is only just touched (a slip of a millionth of a swing) would else be met again and again.
fn release(saturated: &[usize], forces: &Forces, modes: &mut [Mode]) -> bool {
    let size = max_abs(&forces.normal).max(max_abs(&forces.tangential));
    let mut any = false;
    for &i in saturated {
        let force = forces.tangential[i];
        if modes[i] == Mode::Stick && force.abs() - forces.bound[i] > BEYOND * size {
            modes[i] = if force > 0.0 { Mode::SlipMinus } else { Mode::SlipPlus };
            any = true;
        }
    }
    any
}

/// Solver and what it found last.
pub(crate) struct Decider {
    pub transition: Transition,
    pub set: SolutionSet,
    pub chosen: Option<usize>,
    /// More than one solution, and a moment later still: where it is one then, the others were ties of this instant (a contact
    /// that sticks exactly at its bound can also slide).
    pub lasting: bool,
    /// Sticking contacts whose force has just reached its bound.
    pub saturated: Vec<usize>,
    q_step: Vec<f64>,
    here: State,
}

impl Decider {
    pub fn new() -> Self {
        Decider {
            transition: Transition::default(),
            set: SolutionSet {
                status: Status::Invalid,
                solutions: Vec::new(),
                families: Vec::new(),
                complete: true,
                redundant: 0,
            },
            chosen: None,
            lasting: false,
            saturated: Vec::new(),
            q_step: Vec::new(),
            here: State::default(),
        }
    }

    /// Set modes and signs of `field` (evaluated at its state) from `starts`. `moment`: time scale of the probe. `tie`: a
    /// deciding quantity is known to vanish.
    pub fn decide<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        policy: Policy,
        before: Before,
        moment: f64,
        tie: bool,
    ) -> Decision {
        self.set = self.transition.solve(field.info, &field.eval, starts);
        self.chosen = None;
        self.lasting = matches!(self.set.status, Status::Several | Status::Family);
        let fast = || Fast::of(field.info, &field.eval, starts);
        let frictionless = || frictionless(field.info, &field.eval, starts);
        let k = match policy::choose(policy, &self.set, before, &fast, &frictionless) {
            Choice::Take(k) => k,
            Choice::Impact => return Decision::Impact,
            Choice::Stop if self.set.status == Status::Invalid => return Decision::Invalid,
            Choice::Stop => return Decision::Stop,
        };
        self.chosen = Some(k);
        let chosen = &self.set.solutions[k];
        field.discrete.modes.copy_from_slice(&chosen.modes);
        field.signs.copy_from_slice(&chosen.signs);
        field.fixed.follow(&chosen.forces);
        let mut shares = chosen.forces.clone();
        if tie || chosen.degenerate.iter().any(|d| *d) {
            let ends = self.probe(field, starts, policy, k, moment, &mut shares);
            match ends {
                Some(Choice::Impact) => return Decision::Impact,
                Some(_) => return Decision::Stop,
                None => {}
            }
        }
        field.fixed.share(field.info, &field.eval, &field.discrete.modes, &shares);
        Decision::Follow
    }

    /// Break ties by the rate of the deciding quantities. Where no solution exists a moment later (a reaction passes through
    /// zero inside a paradox), what the policy says about that. `forces` are then those of the moment that decided.
    fn probe<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        policy: Policy,
        k: usize,
        moment: f64,
        forces: &mut Forces,
    ) -> Option<Choice> {
        self.here.clone_from(&field.state);
        let mut kept = field.discrete.clone();
        let mut delta = 1e-5 * moment;
        for round in 0..3 {
            // continue the motion for a moment with the accelerations found
            let a = &self.set.solutions[k].forces.accel;
            axpy(0.5 * delta, a, &mut field.state.u);
            self.q_step.resize(field.dims.q, 0.0);
            field.sys.q_rate(&field.state, &mut self.q_step);
            axpy(delta, &self.q_step, &mut field.state.q);
            axpy(0.5 * delta, a, &mut field.state.u);
            axpy(delta, &field.eval.z_rate, &mut field.state.z);
            field.state.t += delta;
            field.evaluate();
            let later = self.transition.solve(field.info, &field.eval, starts);
            field.state.clone_from(&self.here);
            field.discrete.clone_from(&kept);
            let choice = policy::choose(
                policy,
                &later,
                Before::Forces(&self.set.solutions[k].forces),
                &|| None,
                &|| None,
            );
            field.evaluate();
            if let Choice::Take(j) = choice {
                let s = &later.solutions[j];
                // a longer moment speaks only of the ties: what changes elsewhere is the motion itself
                let now = &self.set.solutions[k];
                let foreign = |i: usize| s.modes[i] != now.modes[i] && !now.degenerate[i];
                if round > 0 && (0..s.modes.len()).any(foreign) {
                    break;
                }
                kept.modes.copy_from_slice(&s.modes);
                field.signs.copy_from_slice(&s.signs);
                forces.clone_from(&s.forces);
                if release(&self.saturated, &s.forces, &mut kept.modes) {
                    self.lasting &= matches!(later.status, Status::Several | Status::Family);
                    break;
                }
                if !s.degenerate.iter().any(|d| *d) {
                    self.lasting &= matches!(later.status, Status::Several | Status::Family);
                    break;
                }
            } else if later.status == Status::None {
                self.set = later;
                self.chosen = None;
                return Some(choice);
            }
            delta *= 100.0;
        }
        field.discrete.modes.copy_from_slice(&kept.modes);
        None
    }

    /// Accelerations of the solution that was taken last.
    pub fn accelerations(&self) -> Option<&[f64]> {
        Some(&self.set.solutions.get(self.chosen?)?.forces.accel)
    }

    /// All solutions found last, as data.
    pub fn alternatives(&self) -> Vec<Alternative> {
        let mut out: Vec<Alternative> = Vec::new();
        for (k, s) in self.set.solutions.iter().enumerate() {
            out.push(Alternative {
                modes: s.modes.clone(),
                accel: s.forces.accel.clone(),
                normal: s.forces.normal.clone(),
                tangential: s.forces.tangential.clone(),
                chosen: self.chosen == Some(k),
            });
        }
        out
    }

    /// The continuum found last, as intervals over all its parts.
    pub fn family<S: System + ?Sized>(&self, field: &Field<S>) -> Option<Family> {
        if self.set.families.is_empty() {
            return None;
        }
        let hull = |pick: &dyn Fn(&crate::contact::Family) -> [f64; 2]| {
            self.set
                .families
                .iter()
                .map(pick)
                .fold((f64::INFINITY, f64::NEG_INFINITY), |h, r| (h.0.min(r[0]), h.1.max(r[1])))
        };
        let row = |r: Option<usize>| r.map_or((0.0, 0.0), |r| hull(&|f| f.lambda[r]));
        Some(Family {
            moves: self.set.families.iter().any(|f| f.moves),
            accel: (0..field.dims.u).map(|i| hull(&|f| f.accel[i])).collect(),
            normal: field.info.iter().map(|c| row(super::watch::normal_row(c))).collect(),
            tangential: field.info.iter().map(|c| row(c.tangent.first().copied())).collect(),
        })
    }
}
