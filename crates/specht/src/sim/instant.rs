//! What happens at an instant (PG-6-EVENT, steps 2, 3, 5, 6, 7): switches, impacts, accumulation, new modes, user events.
//!
//! Order within one instant: frozen switches flip; closed contacts that approach collide (all closed contacts take part, as
//! often as it takes); the transition problem gives the modes; then user events fire, all reading the memory as it was
//! before the instant; changed memory leads to one more decision. The log has one entry per kind.

use crate::contact::{Forces, Reduced, Small, Start, Status as Set};
use crate::impact::{ImpactStatus, Impactor};
use crate::linalg::axpy;
use crate::system::{ContactEvent, Discrete, Mode, Normal, Restitution, State, System, Trigger};

use super::classify::{SPEED_ZERO, flank_acts};
use super::decide::Decision;
use super::event_driven::{End, Run};
use super::field::Field;
use super::settings::Record;
use super::settling::{Closing, Undo};
use super::start::GAP_ZERO;
use super::tangential::before;
use super::trajectory::{Event, Kind, Participant, Status};
use super::watch::{Hold, What, rate_size};

/// Events at one instant after which the run gives up.
const CROWD: usize = 100;

/// Gaps that count as zero where another contact arrives, relative to the resolution of hops.
const TOUCHING: f64 = 1e-2;

/// What is known about the present instant.
#[derive(Default)]
pub(crate) struct Moment {
    pub(super) before: State,
    modes: Vec<Mode>,
    pub(super) forces: Forces,
    pub(super) tie: bool,
    pub(super) switched: Vec<usize>,
    guards: usize,
    flipped: Vec<usize>,
    /// A flip turned a direction of a closed contact: its velocities must be judged anew.
    turned: bool,
    singular: bool,
    pub(super) jumped: bool,
    pub(super) triggers: Vec<Trigger>,
    pub(super) fired: Vec<usize>,
    /// The user's event functions before, and those that have passed zero.
    pub(super) crossings: Vec<f64>,
    pub(super) crossed: Vec<usize>,
    impulse_n: Vec<f64>,
    impulse_t: Vec<f64>,
    loss: Vec<f64>,
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
    start_written: bool,
}

/// Solvers that only instants need.
#[derive(Default)]
pub(crate) struct Tools {
    pub(super) impactor: Impactor,
    pub(super) restitution: Vec<Restitution>,
    pub(super) reduced: Reduced,
    pub(super) closing: Closing,
    work: Vec<f64>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Modes at the start; the index sets are filled by `start::classify`.
    pub fn first_instant(&mut self) -> Option<End> {
        let mut m = Moment::default();
        self.open_moment(&mut m);
        m.jumped = true;
        let end = self.settle(&mut m, true);
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
    pub fn instant(&mut self) -> Option<End> {
        self.log_pending();
        let t = self.time();
        if t - self.crowd.0 <= 1e-13 * t.abs() {
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
        if self.out.events.len() >= self.settings.max_events {
            return Some((
                Status::Failed,
                format!(
                    "more than {} events; the last at t = {t}: {}",
                    self.settings.max_events,
                    self.describe()
                ),
            ));
        }
        let mut m = Moment::default();
        self.open_moment(&mut m);
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
        let before = self.field.discrete.clone();
        let gaps = self.field.eval.gap.clone();
        for n in 0..self.locator.found.watches.len() {
            let k = self.locator.found.watches[n];
            let what = self.field.watches.list[k].what;
            let eval = &self.field.eval;
            let smooth = |i: usize| eval.mu[i] == 0.0 && eval.mu_static[i] == 0.0;
            let watches = &mut self.field.watches;
            let hold = match what {
                What::Normal(i) | What::Saturation(i, _) | What::Give(i) => Some((i, &mut watches.bounds[i])),
                What::Slip(i, _) if smooth(i) => Some((i, &mut watches.slips[i])),
                _ => None,
            };
            if let Some((i, hold)) = hold
                && hold.flip(t, self.settings.until.abs(), Hold::BOUNDS, 0.0)
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
                        self.flip(&mut m, g);
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
                What::Slip(i, _) => self.sets.stopped[i] = true,
                What::Guard(g) => self.flip(&mut m, g),
                What::Crossing(c, _) => {
                    m.triggers.push(Trigger::Crossing(c));
                    m.crossed.push(c);
                    self.fired.push(c);
                }
                What::Singular => m.singular = true,
            }
        }
        self.join_touching();
        let rates = self.closed_rates();
        self.follow(&before);
        self.flip_along(&mut m);
        if m.guards > 0 {
            self.field.evaluate();
            self.hand_over(&gaps);
            m.turned =
                self.closed_rates().iter().zip(&rates).any(|(a, b)| (a.0 - b.0).abs() > SPEED_ZERO * a.1);
            self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
        } else if !m.flipped.is_empty() {
            self.field.evaluate();
        }
        self.touch_down();
        let changes = (m.singular || !m.switched.is_empty()) && self.at_change_point(!m.singular);
        let border = if changes {
            self.turn_reactions(&mut m)
        } else if m.singular {
            self.cross_border(&mut m)
        } else {
            None
        };
        if border.is_some() {
            return border;
        }
        // a pure mark changes nothing unless memory changes
        let mut end = None;
        if changes {
            self.log(&m);
        } else if !quiet || m.guards > 0 {
            end = self.settle(&mut m, false);
            self.changes(&mut m);
            self.log(&m);
        }
        self.find_jumps(&mut m);
        let end = end.or_else(|| self.user_events(&mut m));
        self.record(true);
        end
    }

    /// Where one contact arrives, all whose gap is zero take part, also those that have just opened: their impacts would
    /// otherwise answer each other at the same instant without end.
    fn join_touching(&mut self) {
        let Run { field, sets, .. } = self;
        let open = |i: usize| field.discrete.modes[i] == Mode::Open;
        if !(0..field.dims.contacts).any(|i| sets.closed[i] && open(i)) {
            return;
        }
        let zero = TOUCHING * self.settings.resolution * self.length;
        for (i, c) in field.info.iter().enumerate() {
            if let Normal::Unilateral { row } = c.normal {
                sets.closed[i] |= field.eval.gap[row] <= zero;
            }
        }
    }

    /// Gaps that a guard made jump: a chain of edges that no longer faces a body lets go, and what takes over at the same place
    /// holds (a body that passes from an edge to a corner). `before`: the gaps before the guards.
    fn hand_over(&mut self, before: &[f64]) {
        let Run { field, sets, .. } = self;
        let gap = |i: usize| match field.info[i].normal {
            Normal::Unilateral { row } => {
                let (gap, zero) = (field.eval.gap[row], GAP_ZERO * field.watches.scales.gap[row]);
                Some((gap - before[row], gap, zero))
            }
            _ => None,
        };
        let contacts = || (0..field.dims.contacts).filter_map(|i| gap(i).map(|g| (i, g)));
        let mut left = false;
        for (i, (jump, gap, zero)) in contacts() {
            if jump.abs() > zero {
                left |= sets.closed[i];
                sets.closed[i] = gap <= zero;
            }
        }
        for (i, (_, gap, zero)) in contacts() {
            sets.closed[i] |= left && gap.abs() <= zero;
        }
    }

    /// The guard that is the load of the elastic contact `i`, if it has not fallen by itself: both flanks of a tooth change at zero load.
    fn twin(&self, i: usize) -> Option<usize> {
        let Field { info, eval, forces, signs, watches, sys, .. } = &self.field;
        let found =
            |g: usize| self.locator.found.watches.iter().any(|&k| watches.list[k].what == What::Guard(g));
        let load = signs[i] * forces.normal[i];
        let mut own = (0..eval.guards.len()).filter(|&g| sys.guard_contact(g) == Some(i) && !found(g));
        own.find(|&g| info[i].is_given() && (eval.guards[g] - load).abs() <= 1e-6 * load.abs())
    }

    /// Rates of all directions of closed contacts, with their sizes.
    fn closed_rates(&self) -> Vec<(f64, f64)> {
        let (eval, u) = (&self.field.eval, &self.field.state.u);
        let mut out = Vec::new();
        for (c, _) in self.field.info.iter().zip(&self.field.discrete.modes).filter(|(_, m)| m.is_closed()) {
            let rows = c.normal_row().into_iter().chain(c.tangent.iter().copied());
            out.extend(rows.map(|r| (eval.rate(r, u), rate_size(eval, r, u))));
        }
        out
    }

    /// Change to the neighbouring branch of guard `g`.
    fn flip(&mut self, m: &mut Moment, g: usize) {
        let t = self.time();
        let field = &mut self.field;
        field.sys.flip(g, &mut field.discrete, &field.eval);
        m.guards += usize::from(!field.sys.is_silent(g));
        m.flipped.push(g);
        if let Some(i) = field.sys.guard_contact(g)
            && !m.switched.contains(&i)
        {
            m.switched.push(i);
        }
        let span = self.settings.until.abs();
        let watches = &mut self.field.watches;
        let size = watches.scales.guard[g];
        if watches.holds[g].flip(t, span, Hold::FLIPS, size) {
            self.warn_once("a switch chatters".to_string(), t);
        }
    }

    /// Say once that something chatters.
    fn warn_once(&mut self, what: String, t: f64) {
        if !self.out.warnings.iter().any(|w| w.starts_with(&what)) {
            self.out.warnings.push(format!(
                "{what} from t = {t:.9} on: both branches lead back to its border, which is followed approximately"
            ));
        }
    }

    /// Guards within rounding of zero that fall belong to this instant too (a corner that reaches an edge and its end at
    /// once): the branch that holds afterwards decides whether contacts approach.
    fn flip_along(&mut self, m: &mut Moment) {
        let guards = self.field.dims.guards;
        if guards == 0 || !self.h.is_finite() {
            return;
        }
        let field = &mut self.field;
        if m.guards > 0 {
            field.evaluate();
        }
        let now = field.eval.guards.clone();
        let near = |k: usize, v: f64| v.abs() <= 1e-12 * field.watches.scales.guard[k];
        if !(0..guards).any(|k| near(k, now[k]) && !m.flipped.contains(&k)) {
            return;
        }
        let here = field.state.clone();
        let delta = 1e-6 * self.h;
        let mut q_step = vec![0.0; field.dims.q];
        field.sys.q_rate(&here, &mut q_step);
        axpy(delta, &q_step, &mut field.state.q);
        axpy(delta, &field.forces.accel, &mut field.state.u);
        axpy(delta, &field.eval.z_rate, &mut field.state.z);
        field.state.t += delta;
        field.sys.evaluate(&field.state, &field.discrete, &mut field.eval);
        let along: Vec<usize> = (0..guards)
            .filter(|&k| {
                let later = field.eval.guards[k];
                !m.flipped.contains(&k)
                    && now[k].abs() <= 1e-12 * field.watches.scales.guard[k]
                    && later < now[k]
                    && later < -1e-12 * field.watches.scales.guard[k]
            })
            .collect();
        field.state = here;
        field.evaluate();
        let before = field.discrete.clone();
        for k in along {
            self.flip(m, k);
        }
        self.follow(&before);
    }

    /// Latches or modes changed: the switches whose guards jumped with them change too. True when there are such.
    fn follow(&mut self, before: &Discrete) -> bool {
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        before != discrete && sys.follow(state, before, discrete, eval)
    }

    /// Gaps of all closed contacts to zero, as exactly as rounding allows: what is left would be an error of the next flight.
    fn touch_down(&mut self) {
        let Run { field, projector, sets, .. } = self;
        let arrived = |i: usize| sets.closed[i] && field.info[i].is_unilateral();
        if !(0..field.dims.contacts).any(|i| arrived(i) && field.discrete.modes[i] == Mode::Open) {
            return;
        }
        let modes = field.discrete.modes.clone();
        for i in 0..modes.len() {
            if field.info[i].is_unilateral() {
                field.discrete.modes[i] = if sets.closed[i] { Mode::Closed } else { Mode::Open };
            }
        }
        projector.positions(field, 1e-13);
        field.discrete.modes = modes;
        field.evaluate();
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
            for i in 0..self.field.info.len() {
                if matches!(self.field.info[i].normal, Normal::Given { row: Some(_) }) {
                    self.sets.closed[i] = flank_acts(&self.field, i);
                }
            }
            self.sets.fill(&self.field, m.jumped || m.turned);
            let frozen = self.field.discrete.clone();
            let before = before(first, m, &self.impulses.lambda);
            let moment = self.moment();
            // what was hit, by more than rounding, begins anew
            let pairs = m.forces.lambda.iter().zip(&self.impulses.lambda);
            let kept = |(f, p): (&f64, &f64)| if p.abs() <= 1e-9 * moment * f.abs() { *f } else { 0.0 };
            let mut acted: Vec<f64> = pairs.map(kept).collect();
            // a contact that carries nothing has to close in the small before it carries again
            for (i, small) in self.field.fixed.small().iter().enumerate() {
                if let (Small::Slack, Some(row)) = (small, self.field.info[i].normal_row())
                    && let (Some(a), Some(e)) = (acted.get_mut(row), m.forces.excess.get(i))
                {
                    *a = -e;
                }
            }
            let decision = self.decider.decide(
                &mut self.field,
                &self.sets.starts,
                self.settings.several,
                before,
                &acted,
                moment,
                m.tie && !m.jumped,
            );
            let t = self.time();
            if first && round == 0 {
                // what the start itself allows, before any jump
                self.out.start.solutions = self.decider.alternatives();
                self.out.start.family = self.decider.family(&self.field);
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
                    if round < 3 && self.follow(&frozen) {
                        // laws that switch with the direction of slip
                        self.field.evaluate();
                        continue;
                    }
                    break;
                }
                Decision::Invalid => {
                    return Some((
                        Status::Failed,
                        format!("the force problem cannot be posed at t = {t}: the mass matrix is singular"),
                    ));
                }
                Decision::Stop => {
                    let status = match self.decider.set.status {
                        Set::None => Status::Inconsistent,
                        _ => Status::Indeterminate,
                    };
                    let note = self.several_note();
                    self.log_finding(m, note.clone());
                    return Some((status, format!("at t = {t}: {note}")));
                }
                Decision::Impact => {
                    let note = self.several_note();
                    if !first {
                        self.log_finding(m, note.clone());
                    }
                    if round >= 3 || !self.without_collision(m, first) {
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

    /// All collisions of closed contacts that approach.
    fn impacts(&mut self, m: &mut Moment) -> Option<End> {
        let mut last = f64::INFINITY;
        for round in 0.. {
            if !self.sets.approaching(&self.field) {
                return None;
            }
            // what the impact law leaves over beside much faster contacts is its rounding
            let (rate, size) = self.sets.approach(&self.field);
            if rate > 0.5 * last && rate <= 1e-9 * size {
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
            for (e, _) in tools.restitution.iter_mut().zip(&m.plastic).filter(|(_, plastic)| **plastic) {
                *e = Restitution::default();
            }
            let impact = tools.impactor.solve(
                self.settings.impact,
                field.info,
                &field.eval,
                &field.state.u,
                &self.sets.closed,
                &tools.restitution,
            );
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
            self.apply(m, &impact.u, &impact.impulse, &impact.normal, &impact.tangential);
            for i in 0..self.field.dims.contacts {
                if impact.normal[i] > 0.0 && self.field.info[i].is_unilateral() {
                    self.zeno.observe(i, t);
                }
            }
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
        let field = &mut self.field;
        // what was fast before tells what is at rest after
        field.watches.scales.see(field.info, &field.eval, &field.state.q, &field.state.u);
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
        field.evaluate();
        field.sys.latch(&field.state, &mut field.discrete, &mut field.eval, true);
        field.evaluate();
    }

    /// New modes are set: times of stick, velocities on their constraints, forces.
    fn take_over(&mut self) {
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
            self.projector.project(&mut self.field, 1e-13);
            self.field.solve();
            self.field.load_rates();
        }
        self.field.pack(&mut self.x);
        self.book();
    }

    /// What each contact did, as triggers of user events.
    pub(super) fn changes(&self, m: &mut Moment) {
        for i in 0..m.modes.len() {
            let mut push = |kind| m.triggers.push(Trigger::Contact { contact: i, kind });
            if m.impulse_n[i] != 0.0 && !m.tangential {
                push(ContactEvent::Impact);
            }
            match (m.modes[i], self.field.discrete.modes[i]) {
                (Mode::Open, Mode::Open) => {}
                (Mode::Open, after) => {
                    if m.impulse_n[i] == 0.0 {
                        push(ContactEvent::Touch);
                    }
                    if after == Mode::Stick {
                        push(ContactEvent::Stick);
                    }
                }
                (_, Mode::Open) => push(ContactEvent::Detach),
                (Mode::Stick, after) if after.direction() != 0.0 => push(ContactEvent::Slip),
                (before, Mode::Stick) if before != Mode::Stick => push(ContactEvent::Stick),
                (before, after) if before.direction() * after.direction() < 0.0 => {
                    push(ContactEvent::Reverse)
                }
                _ => {}
            }
        }
    }

    /// Write the log entries of this instant, one per kind.
    pub(super) fn log(&mut self, m: &Moment) {
        let n = self.field.dims.contacts;
        let largest = m.impulse_n.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        let hit: Vec<usize> = (0..n)
            .filter(|&i| m.impulse_n[i].abs() > 1e-13 * largest || m.impulse_t[i].abs() > 1e-13 * largest)
            .collect();
        if !hit.is_empty() {
            self.push_event(
                m,
                match m.tangential {
                    // nothing moves any more: dynamic seizure (4.61)
                    true if self.at_rest_after(m) => Kind::Seizure,
                    true => Kind::TangentialImpact,
                    false => Kind::Impact,
                },
                &hit,
                None,
                m.remark.clone(),
            );
        }
        for (kind, what) in [
            (Kind::Touch, ContactEvent::Touch),
            (Kind::Detach, ContactEvent::Detach),
            (Kind::Stick, ContactEvent::Stick),
            (Kind::Slip, ContactEvent::Slip),
            (Kind::Reverse, ContactEvent::Reverse),
        ] {
            let list: Vec<usize> = m
                .triggers
                .iter()
                .filter_map(|t| match t {
                    Trigger::Contact { contact, kind } if *kind == what => Some(*contact),
                    _ => None,
                })
                .collect();
            if !list.is_empty() {
                self.push_event(m, kind, &list, None, String::new());
            }
        }
        // which edge an open contact looks at is nobody's business
        let looks = |i: usize| {
            let open = [m.modes[i], self.field.discrete.modes[i]].iter().all(|m| *m == Mode::Open);
            open && self.field.info[i].is_unilateral()
        };
        let list: Vec<usize> = m.switched.iter().copied().filter(|&i| !looks(i)).collect();
        let sys = self.field.sys;
        let nameless = m.flipped.iter().any(|&g| sys.guard_contact(g).is_none() && !sys.is_silent(g));
        if nameless || !list.is_empty() {
            self.push_event(m, Kind::Switch, &list, None, String::new());
        }
        self.await_limit(m);
    }

    pub(super) fn push_event(
        &mut self,
        m: &Moment,
        kind: Kind,
        contacts: &[usize],
        name: Option<String>,
        note: String,
    ) {
        let after = &self.field.discrete.modes;
        let contacts = contacts
            .iter()
            .map(|&i| Participant {
                contact: i,
                before: m.modes[i],
                after: after[i],
                impulse_n: m.impulse_n[i],
                impulse_t: m.impulse_t[i],
                loss: m.loss[i],
            })
            .collect();
        self.out.events.push(Event {
            time: self.field.state.t,
            kind,
            contacts,
            before: m.before.clone(),
            after: self.field.state.clone(),
            name,
            note,
            alternatives: Vec::new(),
        });
    }

    pub(super) fn log_finding(&mut self, m: &Moment, note: String) {
        let list: Vec<usize> = (0..self.field.dims.contacts).filter(|&i| self.sets.closed[i]).collect();
        self.push_event(m, Kind::Finding, &list, None, note);
        let alternatives = self.decider.alternatives();
        if let Some(e) = self.out.events.last_mut() {
            e.alternatives = alternatives;
        }
    }

    fn tell_incomplete(&mut self) {
        const NOTE: &str = "not all modes of the closed contacts were examined: there may be other solutions";
        if !self.decider.set.complete && !self.out.warnings.iter().any(|w| w.ends_with(NOTE)) {
            self.out.warnings.push(format!("at t = {}: {NOTE}", self.time()));
        }
    }

    fn several_note(&self) -> String {
        let set = &self.decider.set;
        let policy = self.settings.several.word();
        match set.status {
            Set::Several => {
                format!("the force problem has {} solutions; policy {policy}", set.solutions.len())
            }
            Set::Family => {
                format!("the accelerations are not unique (a continuum of solutions); policy {policy}")
            }
            Set::None => format!("the rigid force problem has no solution; policy {policy}"),
            Set::Unknown => {
                "no solution of the force problem was found, and not all modes of its contacts were examined"
                    .into()
            }
            _ => format!("the force problem could not be solved; policy {policy}"),
        }
    }

    /// Names and modes of the closed contacts, for messages.
    fn describe(&self) -> String {
        let mut text = String::new();
        for (i, c) in self.field.info.iter().enumerate() {
            if self.sets.closed.get(i).copied().unwrap_or(false) {
                text += &format!("`{}` {}, ", c.name, self.field.discrete.modes[i].word());
            }
        }
        if text.is_empty() {
            "no contact closed".to_string()
        } else {
            format!("closed contacts {}", text.trim_end_matches(", "))
        }
    }
}
