//! Time-stepping after Moreau and Jean (METH-TIMESTEP): fixed steps Δ, any number of events inside a step, order 1.
//!
//! ```text
//! q_M = q + ½Δ Y u        active: g(q) + ½Δ min(γ_N, 0) ≤ 10⁻⁹ L, bilateral contacts and pins always
//! M (u⁺ − u_f) = Wᵀ Λ     u_f = u + Δ M⁻¹ h at the midpoint;   0 ≤ γ⁺ + ε γ⁻ ⊥ Λ_N ≥ 0,   Coulomb on γ_T⁺ + ε_T γ_T⁻
//! q⁺ = q + Δ Y (θ u⁺ + (1−θ) u),      then positions are projected where they penetrate or bilateral contacts drift
//! ```
//!
//! The problem of a step is the transition problem ([`crate::contact::Transition`]) in the unknowns `u⁺/Δ` and `Λ/Δ`: with
//! `h := M u_f/Δ` and `w̄ := (w̃ + ε γ⁻)/Δ` every law (given loads, bilateral pairs, journals, static friction) holds
//! unchanged. Contacts slower than `v_rest = 2Δ |g̈_free|` count as persistent (ε = 0), which closes series of impacts; the
//! log says so with `accumulated`. Contacts without rebound that would close within the step take part with `γ⁺ + g/Δ ≥ 0`. Smooth forces are explicit (midpoint). Energy: `½u⁺Mu⁺ − ½u⁻Mu⁻ = Δ h·ū + Σ Λ·γ̄` is
//! booked term by term; what the finite step leaves open is the numerical part.

use std::sync::atomic::Ordering;

use crate::contact::{Start, Status as Set, Transition};
use crate::linalg::axpy;
use crate::system::{ContactEvent, Direction, Eval, Mode, Normal, Restitution, State, System, Trigger};

use super::audit::Auditor;
use super::classify::Sets;
use super::field::Field;
use super::ledger::Ledger;
use super::policy::{self, Before, Choice};
use super::project::Projector;
use super::settings::{Outside, Record, Settings};
use super::start::{self, StartError};
use super::trajectory::{Event, Kind, Participant, Point, Samples, Status, Trajectory};

/// Bound of penetration, drift and energy in the audit of a run with fixed steps: these errors are of the order of the step.
pub const STEP_BOUND: f64 = 1e-2;

/// Simulate with fixed steps `settings.step`.
pub fn time_stepping<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
) -> Result<Trajectory, StartError> {
    if let Some(problem) = settings.problem() {
        return Err(StartError::Settings(problem));
    }
    start::check_sizes(sys, start)?;
    crate::contact::check(sys.contacts()).map_err(|e| StartError::Settings(e.to_string()))?;
    let mut s = Stepper::new(sys, start.clone(), settings);
    start::classify(&mut s.field, &mut s.sets, s.length)?;
    s.begin();
    let end = loop {
        if outside.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
            break (Status::Failed, "interrupted".to_string());
        }
        if let Some(progress) = outside.progress.as_mut() {
            progress(s.field.state.t);
        }
        if s.done() {
            break (Status::Finished, String::new());
        }
        if let Some(end) = s.step() {
            break end;
        }
    };
    Ok(s.finish(end))
}

struct Stepper<'a, S: System + ?Sized> {
    field: Field<'a, S>,
    settings: &'a Settings,
    sets: Sets,
    transition: Transition,
    projector: Projector,
    ledger: Ledger,
    auditor: Auditor,
    out: Trajectory,
    length: f64,
    begin: f64,
    /// Integrals of the ledger: friction per contact, external, drive.
    tail: Vec<f64>,
    /// The problem of a step, posed as a force problem.
    posed: Eval,
    restitution: Vec<Restitution>,
    crossings: Vec<f64>,
    slow: Vec<bool>,
    recorded: u64,
}

impl<'a, S: System + ?Sized> Stepper<'a, S> {
    fn new(sys: &'a S, start: State, settings: &'a Settings) -> Self {
        let mut field = Field::new(sys, start);
        let length = sys.length_scale().max(f64::MIN_POSITIVE);
        field.watches.scales.length = length;
        field.watches.rebuild(field.info, &field.discrete, sys.directions(), field.dims.guards);
        let d = field.dims;
        Stepper {
            begin: field.state.t,
            settings,
            sets: Sets::default(),
            transition: Transition::default(),
            projector: Projector::default(),
            ledger: Ledger::default(),
            auditor: Auditor::new(length),
            out: Trajectory { samples: Samples::new(d, sys.output_names().len()), ..Default::default() },
            length,
            tail: vec![0.0; super::ledger::integrals(d.contacts)],
            posed: Eval::new(&d),
            restitution: vec![Restitution::default(); d.contacts],
            crossings: vec![0.0; d.crossings],
            slow: vec![false; d.contacts],
            recorded: 0,
            field,
        }
    }

    fn begin(&mut self) {
        for (i, m) in self.field.discrete.modes.iter_mut().enumerate() {
            *m = if self.sets.closed[i] { Mode::Closed } else { Mode::Open };
        }
        self.field.evaluate();
        self.ledger.start(self.field.dims.contacts, &self.field.eval);
        self.crossings.clone_from(&self.field.eval.crossings);
        self.out.start.point = self.point();
        self.record();
    }

    fn done(&self) -> bool {
        self.field.state.t >= self.settings.until - 1e-9 * self.settings.step
    }

    /// One step; the end of the run when there is one.
    fn step(&mut self) -> Option<(Status, String)> {
        let n = self.out.counts.steps;
        let t = self.field.state.t;
        let next = (self.begin + (n + 1) as f64 * self.settings.step).min(self.settings.until);
        let delta = next - t;
        let before = self.field.state.clone();
        let modes = self.field.discrete.modes.clone();
        let (dims, info) = (self.field.dims, self.field.info);

        // activation at the beginning of the step (the field is evaluated there)
        let mut active = vec![true; dims.contacts];
        let gaps = self.field.eval.gap.clone();
        for (i, c) in info.iter().enumerate() {
            match c.normal {
                Normal::Unilateral { row } => {
                    let rate = self.field.eval.rate(row, &before.u);
                    active[i] = self.field.eval.gap[row] + 0.5 * delta * rate.min(0.0) <= 1e-9 * self.length;
                }
                Normal::Given { row: Some(_) } => active[i] = self.field.eval.load[i] > 0.0,
                _ => {}
            }
        }

        // midpoint: positions, then velocities under smooth forces
        self.move_by(&before.u, 0.5 * delta);
        self.field.state.t = t + 0.5 * delta;
        axpy(0.5 * delta, &self.field.eval.z_rate.clone(), &mut self.field.state.z);
        self.field.evaluate();
        if !self.free_acceleration() {
            return Some((
                Status::Failed,
                format!("no accelerations at t = {t}: the mass matrix is singular"),
            ));
        }
        for _ in 0..2 {
            for k in 0..dims.u {
                self.field.state.u[k] = before.u[k] + 0.5 * delta * self.field.forces.accel[k];
            }
            self.field.evaluate();
            self.free_acceleration();
        }
        let free: Vec<f64> = (0..dims.u).map(|k| before.u[k] + delta * self.field.forces.accel[k]).collect();

        // the problem of the step, in u⁺/Δ and Λ/Δ
        self.field.sys.restitution(&before, &self.field.discrete, &mut self.restitution);
        let (eval, posed) = (&self.field.eval, &mut self.posed);
        posed.clone_from(eval);
        for k in 0..dims.u {
            posed.h[k] = (0..dims.u).map(|j| eval.mass[(k, j)] * free[j]).sum::<f64>() / delta;
        }
        let rates: Vec<f64> = (0..dims.rows).map(|r| eval.rate(r, &before.u)).collect();
        for r in 0..dims.rows {
            posed.accel_offset[r] = eval.rate_offset[r] / delta;
        }
        let mut impacts = vec![false; dims.contacts];
        let mut swallowed = Vec::new();
        for (i, c) in info.iter().enumerate() {
            let Normal::Unilateral { row } = c.normal else { continue };
            let rest = 2.0 * delta * eval.accel(row, &self.field.forces.accel).abs();
            // a leaning tangent (friction tensor) is judged by the plain slip, wherever the normal ends with a velocity that is not zero
            let lean = eval.lean.get(i).copied().unwrap_or(0.0);
            if !active[i] {
                // speculative: it may just touch within the step, never before an impact that rebounds
                let gentle = self.restitution[i].normal == 0.0 || rates[row].abs() < rest;
                if gentle && gaps[row] + delta * eval.rate(row, &free) <= 0.0 {
                    active[i] = true;
                    posed.accel_offset[row] += gaps[row].max(0.0) / (delta * delta);
                    if let [t] = c.tangent[..] {
                        posed.accel_offset[t] += lean * gaps[row].max(0.0) / (delta * delta);
                    }
                }
                continue;
            }
            let fast = rates[row] < -rest;
            impacts[i] = fast;
            if fast {
                posed.accel_offset[row] += self.restitution[i].normal * rates[row] / delta;
                if let [t] = c.tangent[..] {
                    let Restitution { normal, tangential, .. } = self.restitution[i];
                    let slip = rates[t] - lean * rates[row];
                    posed.accel_offset[t] += (tangential * slip + lean * normal * rates[row]) / delta;
                }
                self.slow[i] = false;
            } else if self.restitution[i].normal > 0.0 && rates[row] < 0.0 && !self.slow[i] {
                self.slow[i] = true;
                swallowed.push(i);
            }
        }
        let starts: Vec<Start> = active.iter().map(|a| if *a { Start::Zero } else { Start::Open }).collect();
        let set = self.transition.solve(info, &self.posed, &starts);
        let past = if n > 0 { Before::Forces(&self.field.forces) } else { Before::Nothing };
        let solution = match policy::choose(self.settings.several, &set, past, &|| None, &|| None) {
            Choice::Take(k) => &set.solutions[k],
            Choice::Impact if !set.solutions.is_empty() => &set.solutions[0],
            _ => {
                let status = match set.status {
                    Set::None => Status::Inconsistent,
                    Set::Invalid => Status::Failed,
                    _ => Status::Indeterminate,
                };
                return Some((
                    status,
                    format!(
                        "the contact problem of the step at t = {t} has {} solutions",
                        set.solutions.len()
                    ),
                ));
            }
        };
        if matches!(set.status, Set::Several) && self.out.warnings.len() < 20 {
            self.out.warnings.push(format!(
                "the contact problem of the step at t = {t} has {} solutions",
                set.solutions.len()
            ));
        }

        // velocities, positions, states
        let u: Vec<f64> = solution.forces.accel.iter().map(|a| a * delta).collect();
        let impulse: Vec<f64> = solution.forces.lambda.iter().map(|l| l * delta).collect();
        self.field.discrete.modes.copy_from_slice(&solution.modes);
        self.field.signs.copy_from_slice(&solution.signs);
        let forces = solution.forces.clone();
        let z_rate = self.field.eval.z_rate.clone();
        let mut work = vec![0.0; dims.contacts];
        let power = self.field.eval.power;
        let drive = self.field.eval.drive_offset * delta;
        self.book(&impulse, &before.u, &u, &impacts, &mut work);
        let theta = self.settings.theta;
        let mean: Vec<f64> = u.iter().zip(&before.u).map(|(a, b)| theta * a + (1.0 - theta) * b).collect();
        self.field.state.clone_from(&before);
        self.move_mid(&mean, delta);
        self.field.state.u.copy_from_slice(&u);
        axpy(delta, &z_rate, &mut self.field.state.z);
        self.field.state.t = next;
        self.tail[dims.contacts] += delta * power;
        self.tail[dims.contacts + 1] += drive;
        self.out.counts.steps += 1;

        // latches, projection
        self.field.evaluate();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.latch(state, discrete, eval, true);
        self.field.evaluate();
        self.push_out(&impulse);
        self.field.forces = forces;
        for i in 0..dims.contacts {
            let d = &mut self.field.discrete;
            if d.modes[i] == Mode::Stick {
                if d.stick_since[i].is_nan() {
                    d.stick_since[i] = next;
                }
            } else {
                d.stick_since[i] = f64::NAN;
            }
        }
        for k in 0..dims.u {
            self.field.forces.accel[k] = (u[k] - before.u[k]) / delta;
        }
        self.ledger.update(&self.field.eval, &self.tail);
        let f = &self.field;
        self.auditor.check(f.state.t, info, &f.eval, &f.discrete.modes, &f.forces);
        self.auditor.energy(&self.ledger.energy);
        let end = self.events(&before, &modes, &impacts, &impulse, &work, &swallowed);
        self.record_if_due(next);
        end
    }

    /// u̇ under smooth forces, bilateral contacts and pins kept; result in `field.forces.accel`.
    fn free_acceleration(&mut self) -> bool {
        let modes = std::mem::take(&mut self.field.discrete.modes);
        let open: Vec<Mode> = self
            .field
            .info
            .iter()
            .map(|c| {
                if matches!(c.normal, Normal::Bilateral { .. } | Normal::Pin { .. }) {
                    Mode::Closed
                } else {
                    Mode::Open
                }
            })
            .collect();
        self.field.discrete.modes = open;
        let solved = self.field.solve();
        self.field.discrete.modes = modes;
        solved
    }

    fn move_by(&mut self, u: &[f64], delta: f64) {
        let mut rate = vec![0.0; self.field.dims.q];
        let keep = std::mem::replace(&mut self.field.state.u, u.to_vec());
        self.field.sys.q_rate(&self.field.state, &mut rate);
        self.field.state.u = keep;
        axpy(delta, &rate, &mut self.field.state.q);
    }

    /// Positions by the midpoint rule with constant velocities.
    fn move_mid(&mut self, u: &[f64], delta: f64) {
        let here = self.field.state.q.clone();
        self.move_by(u, 0.5 * delta);
        let mut rate = vec![0.0; self.field.dims.q];
        let keep = std::mem::replace(&mut self.field.state.u, u.to_vec());
        self.field.sys.q_rate(&self.field.state, &mut rate);
        self.field.state.u = keep;
        self.field.state.q = here;
        axpy(delta, &rate, &mut self.field.state.q);
    }

    /// Work of the impulses: normal parts and impacts as impact, sliding as friction.
    fn book(&mut self, impulse: &[f64], u0: &[f64], u1: &[f64], impacts: &[bool], work: &mut [f64]) {
        let (info, eval) = (self.field.info, &self.field.eval);
        let n = info.len();
        let mean = |row: usize| 0.5 * impulse[row] * (eval.rate(row, u0) + eval.rate(row, u1));
        for (i, c) in info.iter().enumerate() {
            let tangential: f64 = c.tangent.iter().map(|&r| mean(r)).sum();
            let normal: f64 = match c.normal {
                Normal::Unilateral { row } | Normal::Bilateral { row } => mean(row),
                Normal::Pin { rows } => rows.iter().map(|&r| mean(r)).sum(),
                Normal::Given { .. } => 0.0,
            };
            if impacts[i] {
                work[i] = normal + tangential;
                self.ledger.energy.impact[i] += work[i];
            } else {
                self.ledger.energy.impact[i] += normal;
                self.tail[i] += tangential;
            }
        }
        for k in 0..u0.len() {
            self.tail[n + 1] += eval.drive[k] * (u1[k] - u0[k]);
        }
        for (r, l) in impulse.iter().enumerate() {
            self.tail[n + 1] -= l * eval.rate_offset[r];
        }
    }

    /// Positions out of penetration, bilateral contacts and pins back together.
    fn push_out(&mut self, impulse: &[f64]) {
        let modes = self.field.discrete.modes.clone();
        let mut needed = false;
        for (i, c) in self.field.info.iter().enumerate() {
            let deep = match c.normal {
                Normal::Unilateral { row } => {
                    let inside = self.field.eval.gap[row] < -1e-12 * self.length && impulse[row] > 0.0;
                    self.field.discrete.modes[i] = if inside { Mode::Closed } else { Mode::Open };
                    inside
                }
                Normal::Bilateral { row } => self.field.eval.gap[row].abs() > 1e-12 * self.length,
                Normal::Pin { rows } => {
                    rows.iter().any(|&r| self.field.eval.gap[r].abs() > 1e-12 * self.length)
                }
                Normal::Given { .. } => false,
            };
            needed |= deep;
        }
        if needed {
            self.projector.positions(&mut self.field, 1e-10 * self.length);
        }
        self.field.discrete.modes = modes;
    }

    /// Log and user events at the end of a step.
    fn events(
        &mut self,
        before: &State,
        modes: &[Mode],
        impacts: &[bool],
        impulse: &[f64],
        work: &[f64],
        swallowed: &[usize],
    ) -> Option<(Status, String)> {
        let info = self.field.info;
        let mut triggers = Vec::new();
        for (i, c) in info.iter().enumerate() {
            let after = self.field.discrete.modes[i];
            let hit = matches!(c.normal, Normal::Unilateral { row } if impacts[i] && impulse[row] > 0.0);
            let mut push = |kind| triggers.push(Trigger::Contact { contact: i, kind });
            if hit {
                push(ContactEvent::Impact);
            }
            match (modes[i], after) {
                (Mode::Open, Mode::Open) => {}
                (Mode::Open, _) if !hit => push(ContactEvent::Touch),
                (a, Mode::Open) if a != Mode::Open && !hit => push(ContactEvent::Detach),
                (a, Mode::Stick) if a.direction() != 0.0 => push(ContactEvent::Stick),
                (Mode::Stick, b) if b.direction() != 0.0 => push(ContactEvent::Slip),
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
            let list: Vec<usize> = triggers
                .iter()
                .filter_map(|t| match t {
                    Trigger::Contact { contact, kind } if *kind == what => Some(*contact),
                    _ => None,
                })
                .collect();
            if !list.is_empty() {
                self.push(kind, &list, before, modes, impulse, work, None);
            }
        }
        if !swallowed.is_empty() {
            self.push(Kind::Accumulated, swallowed, before, modes, impulse, work, None);
        }
        for (k, direction) in self.field.sys.directions().iter().enumerate() {
            let (a, b) = (self.crossings[k], self.field.eval.crossings[k]);
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
                self.crossings[k] = b;
            }
        }
        if triggers.is_empty() {
            return None;
        }
        let d = self.field.dims;
        let mut forces = crate::system::Forces::new(&d);
        forces.lambda.clone_from(&self.field.forces.lambda);
        forces.normal.clone_from(&self.field.forces.normal);
        forces.tangential.clone_from(&self.field.forces.tangential);
        let mut impulses = crate::system::Forces::new(&d);
        impulses.lambda.copy_from_slice(impulse);
        for (i, c) in info.iter().enumerate() {
            if impacts[i] {
                impulses.normal[i] = super::watch::normal_row(c).map_or(0.0, |r| impulse[r]);
                impulses.tangential[i] = c.tangent.first().map_or(0.0, |&r| impulse[r]);
            }
        }
        let mut memory = self.field.state.memory.clone();
        let mut fired = Vec::new();
        let at = crate::system::Instant {
            state: &self.field.state,
            discrete: &self.field.discrete,
            eval: &self.field.eval,
            accel: &self.field.forces.accel,
            forces: &forces,
            impulses: &impulses,
        };
        let stop = self.field.sys.fire(&triggers, at, &mut memory, &mut fired);
        if memory != self.field.state.memory {
            let energy = self.field.eval.kinetic + self.field.eval.potential;
            self.field.state.memory = memory;
            let Field { sys, state, discrete, eval, .. } = &mut self.field;
            sys.latch(state, discrete, eval, true);
            self.field.evaluate();
            self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
        }
        for &k in &fired {
            let name = self.field.sys.event_names().get(k).cloned();
            self.push(Kind::Mark, &[], before, modes, impulse, work, name);
        }
        let last =
            fired.last().and_then(|&k| self.field.sys.event_names().get(k)).cloned().unwrap_or_default();
        stop.then(|| (Status::Stopped, format!("event `{last}`")))
    }

    fn push(
        &mut self,
        kind: Kind,
        list: &[usize],
        before: &State,
        modes: &[Mode],
        impulse: &[f64],
        work: &[f64],
        name: Option<String>,
    ) {
        let info = self.field.info;
        let row = |r: Option<usize>| r.map_or(0.0, |r| impulse[r]);
        let hit = kind == Kind::Impact;
        let contacts = list
            .iter()
            .map(|&i| Participant {
                contact: i,
                before: modes[i],
                after: self.field.discrete.modes[i],
                impulse_n: if hit { row(super::watch::normal_row(&info[i])) } else { 0.0 },
                impulse_t: if hit { row(info[i].tangent.first().copied()) } else { 0.0 },
                loss: -work[i],
            })
            .collect();
        self.out.events.push(Event {
            time: self.field.state.t,
            kind,
            contacts,
            before: before.clone(),
            after: self.field.state.clone(),
            name,
            note: String::new(),
            alternatives: Vec::new(),
        });
    }

    fn record_if_due(&mut self, t: f64) {
        match self.settings.record {
            Record::Steps => self.record(),
            Record::Every(interval) => {
                let due = ((t - self.begin) / interval + 1e-9).floor() as u64;
                if due > self.recorded {
                    self.recorded = due;
                    self.record();
                }
            }
            Record::Events => {}
        }
    }

    fn record(&mut self) {
        let p = self.point();
        self.out.samples.push(&p, &self.ledger.energy.columns(), self.settings.record != Record::Steps);
    }

    fn point(&self) -> Point {
        let field = &self.field;
        let n = field.dims.contacts;
        let mut p = Point {
            state: field.state.clone(),
            accel: field.forces.accel.clone(),
            modes: field.discrete.modes.clone(),
            gap: (0..n).map(|i| field.gap(i)).collect(),
            slip: (0..n).map(|i| field.slip(i)).collect(),
            normal: field.forces.normal.clone(),
            tangential: field.forces.tangential.clone(),
            outputs: vec![0.0; field.sys.output_names().len()],
        };
        let mut forces = crate::system::Forces::new(&field.dims);
        forces.lambda.clone_from(&field.forces.lambda);
        forces.normal.clone_from(&field.forces.normal);
        forces.tangential.clone_from(&field.forces.tangential);
        let at = crate::system::Instant {
            state: &field.state,
            discrete: &field.discrete,
            eval: &field.eval,
            accel: &field.forces.accel,
            forces: &forces,
            impulses: &crate::system::Forces::new(&field.dims),
        };
        field.sys.outputs(at, &mut p.outputs);
        p
    }

    fn finish(mut self, (status, message): (Status, String)) -> Trajectory {
        self.out.last = self.point();
        let mut out = self.out;
        out.status = status;
        out.message = message;
        out.time = self.field.state.t;
        out.energy = self.ledger.energy;
        out.audit = self.auditor.audit;
        out.audit.judge(STEP_BOUND, STEP_BOUND);
        out.counts.evaluations = self.field.evaluations;
        for e in &out.events {
            out.counts.events[e.kind as usize] += 1;
        }
        out
    }
}
