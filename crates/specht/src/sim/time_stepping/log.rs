//! What a step leaves behind: events, samples, the trajectory.

use crate::system::{ContactEvent, Direction, Forces, Instant, Mode, Normal, State, System, Trigger};

use super::super::field::Field;
use super::super::ledger::Ledger;
use super::super::settings::Record;
use super::super::trajectory::{Event, Kind, Participant, Point, Status, Trajectory};
use super::tolerances::SAME_TIME;
use super::{STEP_BOUND, Stepper};

impl<S: System + ?Sized> Stepper<'_, S> {
    /// Log and user events at the end of a step.
    pub(super) fn events(&mut self) -> Option<(Status, String)> {
        let mut triggers = std::mem::take(&mut self.w.triggers);
        triggers.clear();
        self.find(&mut triggers);
        // what an event sets may carry other event functions over zero
        let mut stop = None;
        for _ in 0..=self.crossings.len() {
            if triggers.is_empty() || stop.is_some() {
                break;
            }
            stop = self.fire(&triggers);
            triggers.clear();
            self.find_crossings(&mut triggers);
        }
        self.w.triggers = triggers;
        stop
    }

    /// Everything that happened in this step; contact events go to the log.
    fn find(&mut self, triggers: &mut Vec<Trigger>) {
        let info = self.field.info;
        for (i, c) in info.iter().enumerate() {
            let after = self.field.discrete.modes[i];
            let hit = matches!(c.normal, Normal::Unilateral { row } if self.w.impacts[i] && self.w.impulse[row] > 0.0);
            let mut push = |kind| triggers.push(Trigger::Contact { contact: i, kind });
            if hit {
                push(ContactEvent::Impact);
            }
            match (self.w.modes[i], after) {
                (Mode::Open, Mode::Open) => {}
                (Mode::Open, _) if !hit => push(ContactEvent::Touch),
                (a, Mode::Open) if a != Mode::Open && !hit => push(ContactEvent::Detach),
                (a, Mode::Stick) if a.direction() != 0.0 || a == Mode::Slip => push(ContactEvent::Stick),
                (Mode::Stick, b) if b.direction() != 0.0 || b == Mode::Slip => push(ContactEvent::Slip),
                (a, b) if a.direction() * b.direction() < 0.0 => push(ContactEvent::Reverse),
                _ => {}
            }
        }
        for (kind, what) in [
            (Kind::Impact, ContactEvent::Impact),
            (Kind::Touch, ContactEvent::Touch),
            (Kind::Detach, ContactEvent::Detach),
            (Kind::Stick, ContactEvent::Stick),
            (Kind::Slip, ContactEvent::Slip),
            (Kind::Reverse, ContactEvent::Reverse),
        ] {
            let of_kind = |t: &Trigger| match t {
                Trigger::Contact { contact, kind } if *kind == what => Some(*contact),
                _ => None,
            };
            if triggers.iter().any(|t| of_kind(t).is_some()) {
                let list: Vec<usize> = triggers.iter().filter_map(of_kind).collect();
                self.push(kind, &list, None);
            }
        }
        if !self.w.swallowed.is_empty() {
            let swallowed = std::mem::take(&mut self.w.swallowed);
            self.push(Kind::Accumulated, &swallowed, None);
            self.w.swallowed = swallowed;
        }
        self.find_crossings(triggers);
    }

    /// Event functions that passed zero since they were looked at last.
    fn find_crossings(&mut self, triggers: &mut Vec<Trigger>) {
        crossings(self.field.sys, &mut self.crossings, &self.field.eval.crossings, triggers);
    }

    /// The user's events; the end of the run when one says so.
    fn fire(&mut self, triggers: &[Trigger]) -> Option<(Status, String)> {
        let mut impulses = Forces::new(&self.field.dims);
        let impulse = &self.w.impulse;
        impulses.lambda.copy_from_slice(impulse);
        for (i, c) in self.field.info.iter().enumerate() {
            if self.w.impacts[i] {
                impulses.normal[i] = c.normal_force(impulse);
                impulses.tangential[i] = c.tangential_force(impulse);
            }
        }
        let (fired, stop) = fire(&mut self.field, &mut self.ledger, triggers, &impulses);
        for &k in &fired {
            let name = self.field.sys.event_names().get(k).cloned();
            self.push(Kind::Mark, &[], name);
        }
        let last =
            fired.last().and_then(|&k| self.field.sys.event_names().get(k)).cloned().unwrap_or_default();
        stop.then(|| (Status::Stopped, format!("event `{last}`")))
    }

    fn push(&mut self, kind: Kind, list: &[usize], name: Option<String>) {
        let (info, w) = (self.field.info, &self.w);
        let hit = kind == Kind::Impact;
        let contacts = list
            .iter()
            .map(|&i| Participant {
                contact: i,
                before: w.modes[i],
                after: self.field.discrete.modes[i],
                impulse_n: if hit { info[i].normal_force(&w.impulse) } else { 0.0 },
                impulse_t: if hit { info[i].tangential_force(&w.impulse) } else { 0.0 },
                second: info[i].tangent.get(1).map(|&row| if hit { w.impulse[row] } else { 0.0 }),
                loss: -w.work[i],
            })
            .collect();
        self.out.counts.events[kind as usize] += 1;
        self.out.events.push(Event {
            time: if hit { w.before.t } else { self.field.state.t },
            kind,
            contacts,
            before: State {
                u: if hit { w.approach.clone() } else { w.before.u.clone() },
                ..w.before.clone()
            },
            after: self.field.state.clone(),
            name,
            note: String::new(),
            alternatives: Vec::new(),
        });
    }

    pub(super) fn record_if_due(&mut self, t: f64) {
        match self.settings.record {
            Record::Steps => self.record(),
            Record::Every(interval) => {
                let due = ((t - self.begin) / interval + SAME_TIME).floor() as u64;
                if due > self.recorded {
                    self.recorded = due;
                    self.record();
                }
            }
            Record::At(_) | Record::Events | Record::Nothing => {}
        }
    }

    pub(super) fn record(&mut self) {
        if self.settings.record == Record::Nothing {
            return;
        }
        let p = self.point();
        self.out.samples.push(&p, &self.ledger.energy.columns(), self.settings.record != Record::Steps);
    }

    pub(super) fn point(&self) -> Point {
        point(&self.field)
    }

    pub(super) fn finish(mut self, (status, message): (Status, String)) -> Trajectory {
        self.out.last = self.point();
        if self.held_back > 0 {
            self.out.warnings.push(format!("and {} more warnings of this kind", self.held_back));
        }
        let mut out = self.out;
        out.status = status;
        out.message = message;
        out.time = self.field.state.t;
        out.energy = self.ledger.energy;
        out.audit = self.auditor.audit;
        let created = (self.auditor.created - out.energy.rounding).max(0.0);
        out.audit.created = created / out.energy.scale.max(f64::MIN_POSITIVE);
        out.audit.judge(STEP_BOUND, STEP_BOUND, status);
        out.counts.evaluations = self.field.evaluations;
        out.counts.factorisations =
            self.impulses.factorisations + self.impulses.mass.count + self.positions.mass.count;
        out
    }
}

/// Contact forces for outputs and user events.
fn forces<S: System + ?Sized>(field: &Field<S>) -> Forces {
    let f = &field.forces;
    Forces { lambda: f.lambda.clone(), normal: f.normal.clone(), tangential: f.tangential.clone() }
}

/// Everything about the present instant.
pub(super) fn point<S: System + ?Sized>(field: &Field<S>) -> Point {
    let n = field.dims.contacts;
    let mut p = Point {
        state: field.state.clone(),
        accel: field.forces.accel.clone(),
        modes: field.discrete.modes.clone(),
        latches: field.discrete.latches.clone(),
        gap: (0..n).map(|i| field.gap(i)).collect(),
        slip: (0..n).map(|i| field.slip(i)).collect(),
        normal: field.forces.normal.clone(),
        tangential: field.forces.tangential.clone(),
        rates: Vec::new(),
        lambda: Vec::new(),
        outputs: vec![0.0; field.sys.output_count()],
    };
    field.row_values(&mut p.rates, &mut p.lambda);
    let (forces, impulses) = (forces(field), Forces::new(&field.dims));
    field.sys.outputs(instant(field, &forces, &impulses), &mut p.outputs);
    p
}

fn instant<'a, S: System + ?Sized>(
    field: &'a Field<S>,
    forces: &'a Forces,
    impulses: &'a Forces,
) -> Instant<'a> {
    Instant {
        state: &field.state,
        discrete: &field.discrete,
        eval: &field.eval,
        accel: &field.forces.accel,
        forces,
        impulses,
    }
}

/// The user's events at the present instant: which fired, and whether the run ends.
pub(super) fn fire<S: System + ?Sized>(
    field: &mut Field<S>,
    ledger: &mut Ledger,
    triggers: &[Trigger],
    impulses: &Forces,
) -> (Vec<usize>, bool) {
    let forces = forces(field);
    let mut memory = field.state.memory.clone();
    let mut fired = Vec::new();
    let stop = field.sys.fire(triggers, instant(field, &forces, impulses), &mut memory, &mut fired);
    if memory != field.state.memory {
        let energy = field.eval.kinetic + field.eval.potential;
        field.state.memory = memory;
        field.forget();
        let Field { sys, state, discrete, eval, .. } = field;
        sys.latch(state, discrete, eval, true);
        field.evaluate();
        ledger.jump(field.eval.kinetic + field.eval.potential - energy);
    }
    (fired, stop)
}

/// Event functions that passed zero since they were looked at last, when they were `old`.
pub(super) fn crossings<S: System + ?Sized>(
    sys: &S,
    old: &mut [f64],
    new: &[f64],
    triggers: &mut Vec<Trigger>,
) {
    for (k, direction) in sys.directions().iter().enumerate() {
        let (a, b) = (old[k], new[k]);
        let (up, down) = (a < 0.0 && b >= 0.0, a > 0.0 && b <= 0.0);
        let fires = match direction {
            Direction::Up => up,
            Direction::Down => down,
            Direction::Both => up || down,
        };
        if fires {
            triggers.push(Trigger::Crossing(k));
        }
        if b != 0.0 {
            old[k] = b;
        }
    }
}
