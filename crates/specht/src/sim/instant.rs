//! What happens at an instant (PG-6-EVENT, steps 2, 3, 5, 6, 7): switches, impacts, accumulation, new modes, user events.
//!
//! Order within one instant: frozen switches flip; closed contacts that approach collide (all closed contacts take part, as
//! often as it takes); the transition problem gives the modes; then user events fire, all reading the memory as it was
//! before the instant; changed memory leads to one more decision. The log has one entry per kind.

use crate::contact::{Forces, Reduced, Small, Start, Status as Set};
use crate::impact::{ImpactStatus, Impactor, Law};
use crate::linalg::axpy;
use crate::system::{Discrete, Mode, Normal, Restitution, State, System, Trigger};

use super::classify::flank_acts;
use super::decide::Decision;
use super::event_driven::{End, Run};
use super::settings::Record;
use super::settling::{Closing, Undo};
use super::tangential::before;
use super::tolerances::{EXACT, LEFT_OVER, SAME_TIME, SPEED_ZERO};
use super::trajectory::Status;
use super::watch::{Hold, What};

/// Events at one instant after which the run gives up.
const CROWD: usize = 100;

/// Events at one instant after which velocities of rounding, and hops below that of the gap, are taken away.
pub(super) const AGAIN: usize = 3;

/// Gaps that count as zero where another contact arrives, relative to the resolution of hops.
pub(super) const TOUCHING: f64 = 1e-2;

/// What is known about the present instant.
#[derive(Default)]
pub(crate) struct Moment {
    pub(super) before: State,
    pub(super) modes: Vec<Mode>,
    pub(super) forces: Forces,
    pub(super) tie: bool,
    pub(super) switched: Vec<usize>,
    pub(super) guards: usize,
    pub(super) flipped: Vec<usize>,
    /// A flip turned a direction of a closed contact: its velocities must be judged anew.
    pub(super) turned: bool,
    pub(super) singular: bool,
    pub(super) jumped: bool,
    pub(super) triggers: Vec<Trigger>,
    pub(super) fired: Vec<usize>,
    /// The user's event functions before, and those that have passed zero.
    pub(super) crossings: Vec<f64>,
    pub(super) crossed: Vec<usize>,
    pub(super) impulse_n: Vec<f64>,
    pub(super) impulse_t: Vec<f64>,
    pub(super) loss: Vec<f64>,
    pub(super) tangential: bool,
    /// What is known of the tangential impact of this instant.
    pub(super) remark: String,
    /// State before the first collision of this instant.
    pub(super) undo: Option<Undo>,
    /// Contacts whose impact is taken as plastic.
    pub(super) plastic: Vec<bool>,
    /// Contacts whose series of impacts ended at this instant.
    pub(super) settled: Vec<usize>,
    /// Contacts that were closed, once for every time.
    pub(super) closed: Vec<usize>,
    pub(super) start_written: bool,
    /// Modes and latches, and gaps, before any switch flips; modes and latches before a decision; forces that acted before it.
    discrete: Discrete,
    gaps: Vec<f64>,
    frozen: Discrete,
    acted: Vec<f64>,
    /// Memory of the last undo.
    pub(super) spare: Option<Undo>,
}

impl Moment {
    /// Nothing is known; memory stays. What [`Run::open_moment`] writes is left.
    fn forget(&mut self) {
        let Moment { switched, flipped, triggers, fired, crossed, plastic, settled, closed, .. } = self;
        for list in [switched, flipped, fired, crossed, settled, closed] {
            list.clear();
        }
        triggers.clear();
        plastic.clear();
        self.remark.clear();
        self.guards = 0;
        self.spare = self.undo.take().or(self.spare.take());
        let flags = [
            &mut self.tie,
            &mut self.turned,
            &mut self.singular,
            &mut self.jumped,
            &mut self.tangential,
            &mut self.start_written,
        ];
        flags.into_iter().for_each(|flag| *flag = false);
    }
}

/// Solvers that only instants need.
#[derive(Default)]
pub(crate) struct Tools {
    pub(super) impactor: Impactor,
    pub(super) restitution: Vec<Restitution>,
    pub(super) reduced: Reduced,
    pub(super) closing: Closing,
    work: Vec<f64>,
    /// Modes and memory beside the present ones.
    pub(super) modes: Vec<Mode>,
    pub(super) memory: Vec<f64>,
    /// The last instant, for its memory.
    moment: Option<Box<Moment>>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Modes at the start; the index sets are filled by `start::classify`.
    pub(super) fn first_instant(&mut self) -> Option<End> {
        let mut m = Moment::default();
        self.open_moment(&mut m);
        m.jumped = true;
        if let Some(v) = &mut self.variation {
            v.begin(&self.field);
        }
        let end = self.settle(&mut m, true);
        self.depart(0);
        self.log(&m);
        if m.start_written {
            // no forces at the given state
        } else if end.is_some() {
            self.start_without_forces(&mut m);
        } else {
            self.fill_point();
            self.out.start.point.clone_from(&self.point);
        }
        self.record(true);
        end
    }

    /// The start as given when no motion continues it without a jump: no accelerations, no forces, all solutions found.
    fn start_without_forces(&mut self, m: &mut Moment) {
        for (mode, start) in m.modes.iter_mut().zip(&self.sets.starts) {
            *mode = match start {
                Start::Open => Mode::Open,
                Start::Zero => Mode::Closed,
                Start::Plus => Mode::SlipPlus,
                Start::Minus => Mode::SlipMinus,
            };
        }
        m.start_written = true;
        self.fill_point();
        let p = &mut self.out.start.point;
        p.clone_from(&self.point);
        p.modes.clone_from(&m.modes);
        p.accel.clear();
        p.normal.clear();
        p.tangential.clear();
    }

    /// The events in `locator.found` happen.
    pub(super) fn instant(&mut self) -> Option<End> {
        if self.leave_slow() {
            return None;
        }
        self.log_pending();
        let t = self.time();
        if t - self.crowd.0 <= SAME_TIME * t.abs() {
            self.crowd.1 += 1;
        } else {
            self.crowd = (t, 1);
        }
        if self.crowd.1 > CROWD {
            return Some((
                Status::Failed,
                format!("more than {CROWD} events at t = {t}: {}", self.describe()),
            ));
        }
        if self.out.counts.all_events() >= self.settings.max_events as u64 {
            return Some((
                Status::Failed,
                format!(
                    "more than {} events; the last at t = {t}: {}",
                    self.settings.max_events,
                    self.describe()
                ),
            ));
        }
        let mut m = self.tools.moment.take().unwrap_or_default();
        m.forget();
        let end = self.happens(&mut m);
        self.tools.moment = Some(m);
        end
    }

    fn happens(&mut self, m: &mut Moment) -> Option<End> {
        let first = self.out.counts.all_events();
        if let Some(v) = &mut self.variation {
            v.arrive(&self.field, &self.locator.found.watches, self.longest);
        }
        self.open_moment(m);
        self.sets.remember(&self.field.discrete.modes);
        let energy = self.field.eval.kinetic + self.field.eval.potential;
        // the left limit, before any switch flips
        let quiet = self.locator.found.watches.iter().all(|&k| match self.field.watches.list[k].what {
            What::Crossing(..) => true,
            What::Guard(g) => self.field.sys.is_silent(g),
            _ => false,
        });
        if self.settings.record != Record::Events || !quiet {
            self.record(true);
        }
        m.discrete.clone_from(&self.field.discrete);
        m.gaps.clone_from(&self.field.eval.gap);
        self.take_watches(m);
        self.join_touching();
        let rates = self.closed_rates();
        self.follow(&m.discrete);
        self.flip_along(m);
        if m.guards > 0 {
            self.field.evaluate();
            self.hand_over(&m.gaps);
            m.turned =
                self.closed_rates().iter().zip(&rates).any(|(a, b)| (a.0 - b.0).abs() > SPEED_ZERO * a.1);
            self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
        } else if !m.flipped.is_empty() {
            self.field.evaluate();
        }
        self.touch_down();
        let changes = (m.singular || !m.switched.is_empty()) && self.at_change_point(!m.singular);
        let border = if changes {
            self.turn_reactions(m)
        } else if m.singular {
            self.cross_border(m)
        } else {
            None
        };
        if border.is_some() {
            self.depart(first);
            return border;
        }
        // a pure mark changes nothing unless memory changes
        let mut end = None;
        if changes {
            self.log(m);
        } else if !quiet || m.guards > 0 {
            end = self.settle(m, false);
            self.changes(m);
            self.log(m);
        }
        self.find_jumps(m);
        let end = end.or_else(|| self.user_events(m));
        self.depart(first);
        self.record(true);
        end
    }

    /// The derivatives leave the instant; events from number `first` on belong to it.
    pub(super) fn depart(&mut self, first: u64) {
        if let Some(v) = &mut self.variation {
            v.depart(&self.field, first as usize, self.out.counts.all_events() as usize);
        }
    }

    /// What the event functions that fell through zero say.
    fn take_watches(&mut self, m: &mut Moment) {
        let t = self.time();
        for n in 0..self.locator.found.watches.len() {
            let k = self.locator.found.watches[n];
            let what = self.field.watches.list[k].what;
            let eval = &self.field.eval;
            let watches = &mut self.field.watches;
            let hold = match what {
                What::Normal(i) | What::Saturation(i, _) | What::Give(i) => Some((i, &mut watches.bounds[i])),
                What::Slip(i, _) if eval.is_smooth(self.field.info, i) => Some((i, &mut watches.slips[i])),
                _ => None,
            };
            // without friction both branches are the same motion
            let smooth = |i: usize| {
                eval.is_smooth(self.field.info, i)
                    && matches!(what, What::Slip(..) | What::Saturation(..) | What::Give(_))
            };
            if let Some((i, hold)) = hold
                && hold.flip(t, self.settings.until.abs(), Hold::BOUNDS, 0.0)
                && !smooth(i)
            {
                let name = &self.field.info[i].name;
                self.warn_once(format!("the forces of `{name}` chatter"), t);
            }
            match what {
                What::Gap(i) => self.sets.closed[i] = true,
                What::Normal(i) => {
                    m.tie = true;
                    if !self.field.info[i].is_unilateral() {
                        m.switched.push(i);
                    }
                    if let Some(g) = self.twin(i) {
                        self.flip(m, g);
                    }
                }
                What::Saturation(i, _) => {
                    m.tie = true;
                    self.decider.saturated.push(i);
                }
                What::Give(i) => {
                    m.tie = true;
                    self.decider.gave.push(i);
                }
                What::Slip(i, _) | What::Speed(i, _) | What::Back(i, ..) => self.sets.stopped[i] = true,
                What::Leave(..) => {}
                What::Guard(g) => self.flip(m, g),
                What::Crossing(c, _) => {
                    m.triggers.push(Trigger::Crossing(c));
                    m.crossed.push(c);
                    self.fired.push(c);
                }
                What::Singular => m.singular = true,
            }
        }
    }

    pub(super) fn open_moment(&mut self, m: &mut Moment) {
        self.decider.saturated.clear();
        self.decider.gave.clear();
        m.before.clone_from(&self.field.state);
        m.modes.clone_from(&self.field.discrete.modes);
        m.forces.clone_from(&self.field.forces);
        m.crossings.clone_from(&self.field.eval.crossings);
        self.clear_impulses(m);
    }

    pub(super) fn clear_impulses(&mut self, m: &mut Moment) {
        let n = self.field.dims.contacts;
        for v in [&mut m.impulse_n, &mut m.impulse_t, &mut m.loss] {
            v.clear();
            v.resize(n, 0.0);
        }
        for v in [&mut self.impulses.lambda, &mut self.impulses.normal, &mut self.impulses.tangential] {
            v.fill(0.0);
        }
    }

    /// Time over which forces change: the last step, which may have been cut short by events, or a tenth of the longest.
    pub(super) fn moment(&self) -> f64 {
        match self.h.is_finite() {
            true => self.h.max(0.1 * self.longest),
            false => 1e-3 * (self.settings.until - self.time()).abs(),
        }
    }

    /// Impacts, then modes.
    pub(super) fn settle(&mut self, m: &mut Moment, first: bool) -> Option<End> {
        for round in 0.. {
            if let Some(end) = self.impacts(m) {
                return Some(end);
            }
            let decision = self.decide_modes(m, first);
            if first && round == 0 {
                // what the start itself allows, before any jump
                self.out.start.solutions = self.decider.alternatives();
                self.out.start.family = self.decider.family_at(&self.field, decision == Decision::Follow);
                if decision != Decision::Follow {
                    self.start_without_forces(m);
                }
            }
            match decision {
                Decision::Follow => {
                    if self.end_hops(m) {
                        continue;
                    }
                    if self.decider.lasting && !first {
                        self.log_finding(m, self.several_note());
                    }
                    self.tell_incomplete();
                    if round < 3 && self.follow(&m.frozen) {
                        // laws that switch with the direction of slip
                        self.field.evaluate();
                        continue;
                    }
                    if round < 3 && self.field.spatial && self.turns_at_rest() {
                        continue;
                    }
                    break;
                }
                Decision::Invalid => return Some(self.no_forces()),
                Decision::Stop => return Some(self.undecided_forces(m)),
                Decision::Impact => {
                    let note = self.several_note();
                    if !first {
                        self.log_finding(m, note.clone());
                    }
                    if round >= 3 || !self.without_collision(m, first) {
                        let t = self.time();
                        return Some((
                            Status::Inconsistent,
                            format!("at t = {t}: {note}, and no impact without collision leads out of it"),
                        ));
                    }
                }
            }
        }
        self.take_over();
        None
    }

    /// What stops takes its slow slip from the others, and where these are as slow, it turns them: true when the forces that were found are
    /// then beyond their bounds. The velocities are those after the stop.
    fn turns_at_rest(&mut self) -> bool {
        if !self.sets.stopped.contains(&true) || self.field.chart.active {
            return false;
        }
        self.projector.project(&mut self.field, EXACT);
        !self.field.keeps_in_space()
    }

    /// The transition problem with what is known of the contacts; modes and latches before it are left in `m.frozen`.
    fn decide_modes(&mut self, m: &mut Moment, first: bool) -> Decision {
        for i in 0..self.field.info.len() {
            if matches!(self.field.info[i].normal, Normal::Given { row: Some(_) }) {
                self.sets.closed[i] = flank_acts(&self.field, i);
            }
        }
        self.sets.fill(&self.field, m.jumped || m.turned);
        m.frozen.clone_from(&self.field.discrete);
        let moment = self.moment();
        // what was hit, by more than rounding, begins anew
        let mut acted = std::mem::take(&mut m.acted);
        acted.clear();
        let pairs = m.forces.lambda.iter().zip(&self.impulses.lambda);
        let kept = |(f, p): (&f64, &f64)| if p.abs() <= LEFT_OVER * moment * f.abs() { *f } else { 0.0 };
        acted.extend(pairs.map(kept));
        // a contact that carries nothing has to close in the small before it carries again
        for (i, small) in self.field.fixed.small().iter().enumerate() {
            if let (Small::Slack, Some(row)) = (small, self.field.info[i].normal_row())
                && let (Some(a), Some(e)) = (acted.get_mut(row), m.forces.excess.get(i))
            {
                *a = -e;
            }
        }
        let tie = m.tie && !m.jumped;
        let starts = &self.sets.starts;
        let before = before(first, m, &self.impulses.lambda);
        let several = self.settings.several;
        let decision = if self.field.spatial {
            self.decider.decide_in_space(&mut self.field, starts, several, before, &acted, moment, tie)
        } else {
            self.decider.decide(&mut self.field, starts, several, before, &acted, moment, tie)
        };
        m.acted = acted;
        decision
    }

    /// The end of a run whose forces cannot be found.
    fn no_forces(&mut self) -> End {
        let t = self.time();
        let why = match self.field.lost_ahead(self.usual_step()) {
            Some(what) => format!("{what} has no value a little further: the geometry cannot close there"),
            None => {
                "the mass matrix is singular: nothing with mass moves with one of the coordinates".to_string()
            }
        };
        (Status::Failed, format!("no forces can be found at t = {t}: {why}"))
    }

    /// The end of a run where the policy stops at no solution, or at several.
    fn undecided_forces(&mut self, m: &Moment) -> End {
        let status = match self.decider.set.status {
            Set::None => Status::Inconsistent,
            _ => Status::Indeterminate,
        };
        let note = self.several_note();
        self.log_finding(m, note.clone());
        (status, format!("at t = {}: {note}", self.time()))
    }

    /// All collisions of closed contacts that approach.
    fn impacts(&mut self, m: &mut Moment) -> Option<End> {
        let mut last = f64::INFINITY;
        for round in 0.. {
            if !self.sets.approaching(&self.field) {
                return None;
            }
            // what the impact law leaves over beside much faster contacts is its rounding
            let (rate, size) = self.sets.approach(&self.field);
            if rate > 0.5 * last && rate <= LEFT_OVER * size {
                return None;
            }
            last = rate;
            let t = self.time();
            self.keep_for_undo(m);
            if round == 50 {
                return Some((
                    Status::Failed,
                    format!("the impact at t = {t} does not come to an end: {}", self.describe()),
                ));
            }
            let field = &mut self.field;
            let tools = &mut self.tools;
            tools.restitution.resize(field.dims.contacts, Restitution::default());
            field.sys.restitution(&field.state, &field.discrete, &mut tools.restitution);
            let law = self.settings.impact;
            // Moreau's ε_T acts without ε_N, too: where nothing hops it stays
            let keeps = |e: &Restitution| law == Law::Moreau && e.normal == 0.0;
            for (e, _) in tools.restitution.iter_mut().zip(&m.plastic).filter(|(e, p)| **p && !keeps(e)) {
                *e = Restitution::default();
            }
            let (u, closed) = (&field.state.u, &self.sets.closed);
            let impact = if field.spatial {
                super::strike::impact(field.info, &field.eval, u, law, closed, &tools.restitution)
            } else {
                tools.impactor.solve(law, field.info, &field.eval, u, closed, &tools.restitution)
            };
            match impact.status {
                ImpactStatus::Solved => {}
                ImpactStatus::Several { count } => {
                    self.out.warnings.push(format!("the laws of the impact at t = {t} allow {count} outcomes or more; friction opposing the approach was taken"));
                }
                ImpactStatus::NoSolution => {
                    return Some((
                        Status::Inconsistent,
                        format!("the impact law has no solution at t = {t} (locking): {}", self.describe()),
                    ));
                }
                ImpactStatus::Invalid => {
                    return Some((
                        Status::Failed,
                        format!("the impact at t = {t} cannot be computed: {}", self.describe()),
                    ));
                }
            }
            self.auditor.impact(impact.residual);
            if impact.gains_energy {
                self.out.warnings.push(format!(
                    "the impact at t = {t} gains {:.3e} J: unequal restitution with friction",
                    impact.energy
                ));
            }
            if let Some(v) = &mut self.variation {
                let (e, plastic) = (&self.tools.restitution, &m.plastic);
                v.impact(&self.field, self.settings.impact, &self.sets.closed, e, plastic, &impact);
            }
            self.apply(m, &impact.u, &impact.impulse, &impact.normal, &impact.tangential);
            for i in 0..self.field.dims.contacts {
                if impact.normal[i] > 0.0 && self.field.info[i].is_unilateral() {
                    self.zeno.observe(i, t);
                }
            }
            self.tools.impactor.keep(impact);
        }
        None
    }

    /// Velocities jump to `u` by the impulses given per row and per contact.
    pub(super) fn apply(
        &mut self,
        m: &mut Moment,
        u: &[f64],
        lambda: &[f64],
        normal: &[f64],
        tangential: &[f64],
    ) {
        m.jumped = true;
        if let Some(v) = &mut self.variation {
            v.jumped(self.field.state.t);
        }
        let field = &mut self.field;
        // what was fast before tells what is at rest after
        field.watches.scales.see(field.info, &field.eval, &field.state);
        self.tools.work.resize(field.dims.contacts, 0.0);
        self.ledger.impact(field.info, &field.eval, lambda, &field.state.u, u, &mut self.tools.work);
        for i in 0..field.dims.contacts {
            m.impulse_n[i] += normal[i];
            m.impulse_t[i] += tangential[i];
            m.loss[i] -= self.tools.work[i];
            self.impulses.normal[i] += normal[i];
            self.impulses.tangential[i] += tangential[i];
        }
        axpy(1.0, lambda, &mut self.impulses.lambda);
        field.state.u.copy_from_slice(u);
        field.heat_at_once(&self.tools.work);
        field.evaluate();
        if field.dims.latches > 0 || !field.discrete.contour.is_empty() {
            field.forget();
            field.sys.latch(&field.state, &mut field.discrete, &mut field.eval, true);
            field.evaluate();
        }
    }

    /// New modes are set: times of stick, velocities on their constraints, forces.
    pub(super) fn take_over(&mut self) {
        let t = self.time();
        let d = &mut self.field.discrete;
        for i in 0..d.modes.len() {
            if d.modes[i] == Mode::Stick {
                if d.stick_since[i].is_nan() {
                    d.stick_since[i] = t;
                    d.load_rate[i] = 0.0;
                }
            } else {
                d.stick_since[i] = f64::NAN;
            }
        }
        if self.field.chart.active {
            self.field.solve_on_branch();
        } else {
            self.field.evaluate();
            self.projector.project(&mut self.field, EXACT);
            self.field.solve();
            self.field.load_rates();
        }
        self.field.pack(&mut self.x);
        self.book();
    }
}
