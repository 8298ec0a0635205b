//! New modes at an instant (PG-6-EVENT, steps 3 and 6).
//!
//! The transition problem is solved at the instant itself. Where its deciding quantities vanish (a sticking contact exactly at
//! its bound, a normal force exactly zero: that is what an event is), the modes follow from the *rate* of these
//! quantities: the same problem is solved a moment later, at the state continued with the accelerations found, which are
//! the same for all tied modes. The moment is `10⁻⁵` of the last step and grows a hundredfold, twice, while ties remain.
//!
//! Where the motion leaves forces free, those of slightly compliant contacts are followed, from the forces that acted before. What
//! then slips in the small, or carries nothing, is also told by the moment after: by the rate of the load.

use crate::contact::{Fast, Forces, Small, Solution, SolutionSet, Start, Status, Transition};
use crate::linalg::{axpy, max_abs};
use crate::system::{ContactInfo, Eval, Mode, State, System};

use super::field::Field;
use super::policy::{self, Before, Choice};
use super::settings::Policy;
use super::tolerances::{AT_BOUND, BEYOND, KEPT, PROBE};
use super::trajectory::{Alternative, Family};

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
        if !c.is_given() {
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

/// Whether the forces of frozen modes at the present state, which is evaluated, neither pull nor exceed their bounds by more than
/// rounding.
pub(super) fn keeps_to_laws<S: System + ?Sized>(field: &mut Field<S>) -> bool {
    if !field.solve() {
        return false;
    }
    let Field { info, forces, discrete, .. } = field;
    let size = max_abs(&forces.normal).max(max_abs(&forces.tangential));
    (info.iter().zip(&discrete.modes).enumerate()).all(|(i, (c, mode))| {
        let pulls = c.is_unilateral() && forces.normal[i] < -KEPT * size;
        let slips = *mode == Mode::Stick && forces.tangential[i].abs() - forces.bound[i] > KEPT * size;
        !pulls && !slips
    })
}

/// The member to follow of the family of solution `k`, the set being the one solved last, and what contacts do in the small.
fn member<S: System + ?Sized>(
    transition: &mut Transition,
    field: &Field<S>,
    starts: &[Start],
    set: &SolutionSet,
    k: usize,
    acted: &[f64],
) -> Option<(Solution, Vec<Small>)> {
    let chosen = &set.solutions[k];
    let moves = chosen.family.is_some_and(|f| set.families[f].moves);
    let (mut s, small) = transition.member(field.info, &field.eval, starts, chosen, moves, acted)?;
    // what slips in the small, or carries nothing, decides nothing
    for (d, small) in s.degenerate.iter_mut().zip(&small) {
        *d &= *small == Small::Holds;
    }
    Some((s, small))
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
    /// Contacts whose slip in the small, or whose slack, has just ended.
    pub gave: Vec<usize>,
    q_step: Vec<f64>,
    here: State,
}

impl Decider {
    pub(super) fn new() -> Self {
        Decider {
            transition: Transition::default(),
            set: SolutionSet::default(),
            chosen: None,
            lasting: false,
            saturated: Vec::new(),
            gave: Vec::new(),
            q_step: Vec::new(),
            here: State::default(),
        }
    }

    /// Set modes and signs of `field` (evaluated at its state) from `starts`. `acted`: the forces per row that acted before (empty:
    /// none), from which forces that the motion leaves free change least. `moment`: time scale of the probe. `tie`: a deciding
    /// quantity is known to vanish.
    pub(super) fn decide<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        policy: Policy,
        before: Before,
        acted: &[f64],
        moment: f64,
        tie: bool,
    ) -> Decision {
        self.transition.solve_into(field.info, &field.eval, starts, &mut self.set);
        self.chosen = None;
        self.lasting = matches!(self.set.status, Status::Several | Status::Family);
        let fast = || Fast::of(field.info, &field.eval, starts);
        let limit = || policy::compliant(&self.set, before, fast());
        let frictionless = || frictionless(field.info, &field.eval, starts);
        let k = match policy::choose(policy, &self.set, before, &limit, &frictionless) {
            Choice::Take(k) => k,
            Choice::Impact => return Decision::Impact,
            Choice::Stop if self.set.status == Status::Invalid => return Decision::Invalid,
            Choice::Stop => return Decision::Stop,
        };
        self.chosen = Some(k);
        let mut small = Vec::new();
        if let Some((member, does)) = member(&mut self.transition, field, starts, &self.set, k, acted) {
            self.set.solutions[k] = member;
            small = does;
        }
        let chosen = &self.set.solutions[k];
        field.discrete.modes.copy_from_slice(&chosen.modes);
        field.signs.copy_from_slice(&chosen.signs);
        field.fixed.follow(&chosen.forces);
        // what carries nothing keeps its opening in the small
        for (i, c) in field.info.iter().enumerate() {
            if let (Some(Small::Slack), Some(row)) = (small.get(i), c.normal_row()) {
                field.fixed.reference[row] = acted.get(row).copied().unwrap_or(0.0).min(0.0);
            }
        }
        let present = small.clone();
        let gives = small.iter().any(|s| *s != Small::Holds);
        // what stands still and cannot rub may be loaded a moment later: it sticks then
        let unloaded = |i: usize| starts[i] == Start::Zero && field.eval.is_smooth(field.info, i);
        let loads = (0..starts.len()).any(|i| field.info[i].friction && unloaded(i));
        if tie || gives || loads || chosen.degenerate.iter().any(|d| *d) {
            let ends = self.probe(field, starts, policy, k, moment, &mut small);
            match ends {
                Some(Choice::Impact) => return Decision::Impact,
                Some(_) => return Decision::Stop,
                None => {}
            }
        }
        self.slip_on(k, &field.discrete.modes, &mut small);
        self.follow_in_the_small(field, starts, k, acted, &small, &present);
        Decision::Follow
    }

    /// Let contacts slip in the small, or carry nothing, as `small` says of the moment later; near a border that may not hold yet, and
    /// what is true at `present` may be over. The first that keeps to the laws is followed.
    fn follow_in_the_small<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        k: usize,
        acted: &[f64],
        small: &[Small],
        present: &[Small],
    ) {
        let try_out = |field: &mut Field<S>, small: &[Small]| {
            field.fixed.share(field.info, &field.eval, &field.discrete.modes, small);
            keeps_to_laws(field)
        };
        if small.is_empty() && present.is_empty() {
            return field.fixed.share(field.info, &field.eval, &field.discrete.modes, small);
        }
        let mut over = small.to_vec();
        self.gave.iter().filter(|&&i| i < small.len()).for_each(|&i| over[i] = Small::Holds);
        let candidates = [&over[..], small, &[], present];
        if candidates.iter().any(|small| try_out(field, small) && !self.is_alone(field)) {
            return;
        }
        // what slips in the small closes every opening in the small
        let closed: Vec<f64> = acted.iter().map(|a| a.max(0.0)).collect();
        self.transition.pose(field.info, &field.eval, starts);
        let again = member(&mut self.transition, field, starts, &self.set, k, &closed);
        if let Some((s, small)) = again
            && s.modes == field.discrete.modes
        {
            field.fixed.follow(&s.forces);
            if try_out(field, &small) {
                return;
            }
            field.fixed.follow(&self.set.solutions[k].forces);
        }
        if !candidates.iter().any(|small| try_out(field, small)) {
            try_out(field, small);
        }
    }

    /// Whether a contact that has just reached its bound still has to hold because others carry nothing.
    fn is_alone<S: System + ?Sized>(&self, field: &Field<S>) -> bool {
        let (small, forces) = (field.fixed.small(), &field.forces);
        let holds = |i: usize| {
            field.discrete.modes[i] == Mode::Stick
                && small.get(i).is_none_or(|s| *s == Small::Holds)
                && forces.tangential[i].abs() >= (1.0 - AT_BOUND) * forces.bound[i]
        };
        small.contains(&Small::Slack) && self.saturated.iter().any(|&i| holds(i))
    }

    /// What has just reached its bound and sticks slips in the small from now on, if others hold the motion: rounding may not see it a
    /// moment later.
    fn slip_on(&self, k: usize, modes: &[Mode], small: &mut Vec<Small>) {
        let forces = &self.set.solutions[k].forces;
        for &i in self.saturated.iter().filter(|&&i| modes[i] == Mode::Stick) {
            let force = forces.tangential[i];
            if force.abs() >= (1.0 - AT_BOUND) * forces.bound[i] {
                small.resize(modes.len(), Small::Holds);
                if small[i] == Small::Holds {
                    small[i] = Small::Slips { side: force.signum() };
                }
            }
        }
    }

    /// Break ties by the rate of the deciding quantities. Where no solution exists a moment later (a reaction passes through
    /// zero inside a paradox), what the policy says about that. `small` is then what contacts do in the moment that decided.
    fn probe<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        policy: Policy,
        k: usize,
        moment: f64,
        small: &mut Vec<Small>,
    ) -> Option<Choice> {
        self.here.clone_from(&field.state);
        let mut kept = field.discrete.clone();
        let mut delta = PROBE * moment;
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
            let mut later = self.transition.solve(field.info, &field.eval, starts);
            let now = &self.set.solutions[k].forces;
            let before = Before::Forces(now);
            let limit = || policy::compliant(&later, before, None);
            let choice = policy::choose(policy, &later, before, &limit, &|| None);
            let mut does = Vec::new();
            if let Choice::Take(j) = choice {
                let from = &field.fixed.reference;
                if let Some(m) = member(&mut self.transition, field, starts, &later, j, from) {
                    (later.solutions[j], does) = m;
                }
            }
            field.state.clone_from(&self.here);
            field.discrete.clone_from(&kept);
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
                *small = does;
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

    /// Forces of the solution that was taken last.
    pub(super) fn followed(&self) -> Option<&Forces> {
        Some(&self.set.solutions.get(self.chosen?)?.forces)
    }

    /// Its accelerations.
    pub(super) fn accelerations(&self) -> Option<&[f64]> {
        Some(&self.followed()?.accel)
    }

    /// All solutions found last, as data.
    pub(super) fn alternatives(&self) -> Vec<Alternative> {
        let mut out: Vec<Alternative> = Vec::new();
        for (k, s) in self.set.solutions.iter().enumerate() {
            out.push(Alternative {
                modes: s.modes.clone(),
                accel: s.forces.accel.clone(),
                normal: s.forces.normal.clone(),
                tangential: s.forces.tangential.clone(),
                lambda: s.forces.lambda.clone(),
                chosen: self.chosen == Some(k),
            });
        }
        out
    }

    /// The continuum found last, as intervals over all its parts.
    pub(super) fn family<S: System + ?Sized>(&self, field: &Field<S>) -> Option<Family> {
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
            normal: field.info.iter().map(|c| row(c.normal_row())).collect(),
            tangential: field.info.iter().map(|c| row(c.tangent.first().copied())).collect(),
            second: Vec::new(),
        })
    }
}
