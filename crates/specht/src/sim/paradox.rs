//! Contacts with two tangents at an instant whose forces have one solution, several, or none (METH-3D-ACC, ANH-4.3-TIMPACT).
//!
//! Of one contact all solutions are known, and the policy chooses as in the plane ([`super::policy`]); which of them attracts stiff contacts, or that
//! none does, is told by the fast motion ([`crate::contact::springs`]). Where there is none, velocities jump without a collision, along the path of
//! the slip that turns ([`crate::contact::keller`]). Of several contacts the solution that is found is followed; where none is found the run ends.
//!
//! At the border of a paradox (a = 0 in g̈_N = a λ_N + b) the force grows without bound unless it turns the slip away. The impact follows the growing
//! impulses, positions at rest, from a = 0 on: as long as a does not become positive on the way, so that the paradox is entered or the slip ends.

use crate::contact::keller::{Jammed, jam};
use crate::contact::space::Sliding;
use crate::contact::springs::Springs;
use crate::contact::{Fate, Lasting, SolutionSet, Start, Status};
use crate::linalg::axpy;
use crate::system::{Mode, Normal, System};

use super::decide::{Decider, Decision};
use super::event_driven::{End, Run};
use super::field::Field;
use super::free_in_space::share;
use super::instant::Moment;
use super::policy::{self, Before, Choice};
use super::settings::Policy;
use super::space::{Answer, accelerations, all_of_one, block, pose, press, relieve, slip};
use super::strike::{Strike, before as nothing_yet};
use super::tangential::before;
use super::tolerances::{CONTINUOUS, PROBE};
use super::trajectory::Status as Ended;

/// All solutions at the present state, or the one that is found, and what that means.
fn solve<S: System + ?Sized>(field: &Field<S>, starts: &[Start], acted: &[f64]) -> (Vec<Answer>, Status) {
    let direction = |i: usize| field.direction(i, slip(&field.info[i], &field.eval, &field.state.u));
    if let Some(mut all) = all_of_one(field.info, &field.eval, starts, &direction) {
        // what can hold does not begin to slip, though its sliding friction is less (METH-LAW-JUMP)
        let rests = |i: usize| starts[i] == Start::Zero && field.eval.mu_static[i] > field.eval.mu[i];
        let sticks = |a: &Answer| a.solution.modes.contains(&Mode::Stick);
        if (0..starts.len()).any(rests) && all.iter().any(sticks) {
            all.retain(|a| !a.solution.modes.contains(&Mode::Slip));
        }
        let status = match all.len() {
            0 => Status::None,
            1 => Status::Unique,
            _ => Status::Several,
        };
        return (all, status);
    }
    match accelerations(field, starts, acted) {
        Some(answer) => (vec![answer], Status::Unique),
        None => (Vec::new(), Status::Unknown),
    }
}

/// Where the reactions of stiff contacts go; `None` where that cannot be posed: friction that follows other forces.
fn fate<S: System + ?Sized>(
    field: &Field<S>,
    starts: &[Start],
    set: &SolutionSet,
    before: Before,
) -> Option<Fate> {
    let direction = |i: usize| field.direction(i, slip(&field.info[i], &field.eval, &field.state.u));
    let none = vec![0.0; field.dims.rows];
    let (layout, red) = pose(field.info, &field.eval, starts, &direction, &none)?;
    if layout.contacts.iter().any(|&i| field.info[i].is_bilateral() || !field.info[i].load_on.is_empty()) {
        return None;
    }
    let springs = Springs { cones: &layout.cones, g: &red.h, b: &red.c };
    let per_contact = |lambda: &[f64]| -> Vec<f64> {
        layout.contacts.iter().map(|&i| field.info[i].normal_row().map_or(0.0, |row| lambda[row])).collect()
    };
    let known: Vec<Vec<f64>> = set.solutions.iter().map(|s| per_contact(&s.forces.lambda)).collect();
    let from = match before {
        Before::Nothing => vec![0.0; layout.contacts.len()],
        Before::Forces(f) => per_contact(&f.lambda),
        Before::Impulse(p) => springs.settle_from(&per_contact(p)),
    };
    Some(springs.fate(&known, &from, matches!(before, Before::Impulse(_))))
}

/// The branch that attracts from the present forces, or the impact.
fn limit<S: System + ?Sized>(
    field: &Field<S>,
    starts: &[Start],
    set: &SolutionSet,
    before: Before,
) -> Choice {
    let [open, pressed] = &set.solutions[..] else { return by_fate(field, starts, set, before) };
    let closed = (0..starts.len()).find(|&i| starts[i] != Start::Open && field.info[i].is_unilateral());
    match closed.filter(|&i| starts[i] != Start::Zero) {
        // one contact that slides: it opens, or beyond the other solution its force grows
        Some(i) => {
            let now = before.forces().map_or(0.0, |f| f.normal.get(i).copied().unwrap_or(0.0));
            let edge = open.forces.normal[i].max(pressed.forces.normal[i]);
            if now <= edge * (1.0 + CONTINUOUS) && !matches!(before, Before::Impulse(_)) {
                Choice::Take(0)
            } else {
                Choice::Impact
            }
        }
        None => by_fate(field, starts, set, before),
    }
}

fn by_fate<S: System + ?Sized>(
    field: &Field<S>,
    starts: &[Start],
    set: &SolutionSet,
    before: Before,
) -> Choice {
    match fate(field, starts, set, before) {
        Some(Fate::Settles(k)) => Choice::Take(k),
        Some(Fate::Diverges(_)) => Choice::Impact,
        _ => policy::nearest_or_smallest(set, before),
    }
}

/// Normal forces without friction, contact by contact.
fn frictionless<S: System + ?Sized>(field: &Field<S>, starts: &[Start]) -> Option<Vec<f64>> {
    let mut eval = field.eval.clone();
    eval.mu.fill(0.0);
    eval.mu_static.fill(0.0);
    let all = all_of_one(field.info, &eval, starts, &|_| [1.0, 0.0, 0.0])?;
    all.into_iter().next().map(|a| a.solution.forces.normal)
}

impl Decider {
    /// Set modes of `field` from `starts`, as [`Decider::decide`] does for one tangent.
    pub(super) fn decide_in_space<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        policy: Policy,
        before: Before,
        acted: &[f64],
        moment: f64,
        tie: bool,
    ) -> Decision {
        if tie && self.holds_on(field, starts) {
            return Decision::Follow;
        }
        let (answers, status) = solve(field, starts, acted);
        let solutions = answers.iter().map(|a| a.solution.clone()).collect();
        self.set = SolutionSet { status, solutions, families: Vec::new(), complete: true, redundant: 0 };
        self.chosen = None;
        self.lasting = status == Status::Several;
        let choice = match status {
            Status::Unknown if field.eval.mass.size() == 0 => return Decision::Invalid,
            Status::Unknown => Choice::Stop,
            _ => {
                let limit = || limit(field, starts, &self.set, before);
                policy::choose(policy, &self.set, before, &limit, &|| frictionless(field, starts))
            }
        };
        let k = match choice {
            Choice::Take(k) => k,
            Choice::Impact => return Decision::Impact,
            Choice::Stop => return Decision::Stop,
        };
        let Some(mut answer) = answers.into_iter().nth(k) else { return Decision::Stop };
        let moment = field.calm(starts, &answer.solution.forces, moment);
        if tie || self.lasting {
            self.probe_in_space(field, starts, moment, tie, &mut answer);
        }
        field.discrete.modes.copy_from_slice(&answer.solution.modes);
        for (sign, c) in field.signs.iter_mut().zip(field.info) {
            let pulls = |row: usize| answer.solution.forces.lambda[row] < 0.0;
            *sign = if matches!(c.normal, Normal::Bilateral { row } if pulls(row)) { -1.0 } else { 1.0 };
        }
        for (i, d) in answer.directions.iter().enumerate() {
            let stays = field.discrete.modes[i] == Mode::Slip && starts[i] != Start::Zero;
            if !stays {
                field.frozen[i] = *d;
            }
        }
        // at a border the forces go on from those that reached it
        if !tie && status != Status::Several {
            share(field, acted, &mut answer.solution.forces);
        }
        field.fixed.follow(&answer.solution.forces);
        if tie {
            press(field, acted, moment);
        }
        self.set.solutions[k] = answer.solution;
        self.chosen = Some(k);
        Decision::Follow
    }

    /// Whether contacts at rest that have just reached their bounds, and nothing else, are held by other forces for the same motion.
    fn holds_on<S: System + ?Sized>(&mut self, field: &mut Field<S>, starts: &[Start]) -> bool {
        let same = |i: usize| match field.discrete.modes[i] {
            Mode::Open => starts[i] == Start::Open,
            Mode::Stick | Mode::Closed => starts[i] == Start::Zero || field.info[i].is_bilateral(),
            _ => !matches!(starts[i], Start::Open | Start::Zero),
        };
        if self.saturated.is_empty() || !(0..starts.len()).all(same) || !relieve(field) {
            return false;
        }
        let (status, solutions, families) = (Status::Unique, Vec::new(), Vec::new());
        self.set = SolutionSet { status, solutions, families, complete: true, redundant: 0 };
        (self.chosen, self.lasting) = (None, false);
        true
    }

    /// At a border the moment after tells what contacts do; where it has one solution, the others were ties of this instant.
    fn probe_in_space<S: System + ?Sized>(
        &mut self,
        field: &mut Field<S>,
        starts: &[Start],
        moment: f64,
        tie: bool,
        answer: &mut Answer,
    ) {
        let here = field.state.clone();
        let mut delta = PROBE * moment;
        for _ in 0..3 {
            let accel = &answer.solution.forces.accel;
            axpy(0.5 * delta, accel, &mut field.state.u);
            let way: Vec<f64> = field.state.u.iter().map(|v| delta * v).collect();
            field.sys.move_by(&mut field.state.q, &way);
            axpy(0.5 * delta, accel, &mut field.state.u);
            axpy(delta, &field.eval.z_rate, &mut field.state.z);
            field.state.t += delta;
            field.evaluate();
            let (mut later, status) = solve(field, starts, &answer.solution.forces.lambda);
            self.lasting &= status == Status::Several;
            field.state.clone_from(&here);
            field.evaluate();
            delta *= 100.0;
            if !tie || status != Status::Unique {
                break;
            }
            let Some(later) = later.pop() else { break };
            if later.solution.modes != answer.solution.modes {
                answer.solution.modes = later.solution.modes;
                answer.directions = later.directions;
                break;
            }
        }
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Impact without collision; false when there is none. `border`: it stands at the border of its paradox.
    pub(super) fn without_collision_in_space(&mut self, m: &mut Moment, first: bool, border: bool) -> bool {
        let field = &self.field;
        let restitution = &mut self.tools.restitution;
        restitution.resize(field.dims.contacts, Default::default());
        field.sys.restitution(&field.state, &field.discrete, restitution);
        let start = nothing_yet(field.info, &field.eval, &field.state.u);
        let (starts, eval, info) = (&self.sets.starts, &field.eval, field.info);
        let (state, directed) = (&field.state, &field.frozen);
        let friction = |i: usize| match (starts[i], info[i].tangent.len()) {
            (Start::Open, _) => None,
            (Start::Zero, _) | (_, 0) => Some(Sliding::Rests { rest: eval.mu[i], mu: eval.mu[i] }),
            (Start::Minus, 1) => Some(Sliding::Slides { mu: eval.mu[i], d: [-1.0, 0.0, 0.0] }),
            (_, 1) => Some(Sliding::Slides { mu: eval.mu[i], d: [1.0, 0.0, 0.0] }),
            _ => {
                let v = slip(&info[i], eval, &state.u);
                let size = v[0].hypot(v[1]).hypot(v[2]);
                let d = directed[i].unwrap_or(v.map(|v| v / size));
                Some(Sliding::Slides { mu: eval.mu[i], d })
            }
        };
        let Some(strike) = Strike::new(info, eval, &start.rate_a, 3, friction) else { return false };
        let alone = strike.layout.cones.len() == 1 && strike.layout.cones[0].given.is_none();
        let x = if alone { self.jam_one(m, first, &strike, border) } else { None };
        let Some(x) = x else { return false };
        let impact = strike.finish(start, true, x, &self.tools.restitution);
        if impact.status != crate::impact::ImpactStatus::Solved {
            return false;
        }
        self.auditor.impact(impact.residual);
        self.apply(m, &impact.u, &impact.impulse, &impact.normal, &impact.tangential);
        m.tangential = true;
        true
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The impulses of the impact of the only contact.
    fn jam_one(&self, m: &mut Moment, first: bool, strike: &Strike, border: bool) -> Option<Vec<f64>> {
        let cone = &strike.layout.cones[0];
        let (g, rates) = block(cone, &strike.red.h, &strike.red.c);
        let end = jam(cone, g, [rates[1], rates[2], rates[3]], border)?;
        if border {
            let name = &self.field.info[strike.layout.contacts[0]].name;
            m.remark = format!("at the border: the growing force turns or ends the slip of `{name}`");
        } else if let Some(d) = self.lasts(m, first, strike, &end) {
            m.remark = d.note();
        }
        Some(end.impulse[..strike.layout.rows.len()].to_vec())
    }

    /// How long the impact of the only contact lasts.
    fn lasts(&self, m: &Moment, first: bool, strike: &Strike, end: &Jammed) -> Option<Lasting> {
        let field = &self.field;
        let i = strike.layout.contacts[0];
        let direction = |i: usize| field.direction(i, slip(&field.info[i], &field.eval, &field.state.u));
        let none = vec![0.0; field.dims.rows];
        let (layout, red) = pose(field.info, &field.eval, &self.sets.starts, &direction, &none)?;
        let (cone, now) = (layout.cones.first()?, before(first, m, &self.impulses.lambda));
        let (g, b) = block(cone, &red.h, &red.c);
        let Sliding::Slides { mu, d } = cone.friction else { return None };
        let r = now.forces().map_or(0.0, |f| f.normal.get(i).copied().unwrap_or(0.0));
        let push = cone.section.under(r).push(d);
        let a = g[0][0] - mu * (0..3).map(|k| g[0][k + 1] * push[k]).sum::<f64>();
        Lasting::of_one(a, b[0], r, end.first)
    }

    /// The matrix of contacts that slide in their tangent planes becomes singular: say so with all numbers, and follow the growing forces.
    pub(super) fn cross_border_in_space(&mut self, m: &mut Moment, note: String) -> Option<End> {
        let t = self.time();
        self.log_finding(m, note.clone());
        if self.settings.several == Policy::Stop {
            return Some((Ended::Indeterminate, format!("at t = {t}: {note}")));
        }
        self.sets.fill(&self.field, false);
        let alone = self.sets.starts.iter().filter(|s| **s != Start::Open).count() == 1;
        if alone {
            // where the growing force turns the slip away nothing happens
            self.without_collision_in_space(m, false, true);
            return None;
        }
        Some((
            Ended::Inconsistent,
            format!(
                "at t = {t}: {note}; several contacts with friction in two directions are not followed beyond it"
            ),
        ))
    }
}
