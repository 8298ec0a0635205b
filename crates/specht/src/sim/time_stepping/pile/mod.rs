//! Piles: bodies in space that touch wherever they meet, by time steps (METH-TIMESTEP)
//!
//! ```text
//! q_M = q ⊕ ½Δ u            M, h, frames there; all points nearer than the way of a step, found anew in every step
//! M u⁺ = M u + Δ h + Hᵀ Λ   g = g_M − ½Δ γ⁻,   γ⁺ + β:   β = g/Δ (it may close within the step),  ε γ⁻ for an impact
//! q⁺ = q ⊕ Δ ½(u + u⁺)      bodies that would be inside others so (an impact): q ⊕ Δ u⁺
//! ```
//!
//! The set of points changes from step to step; each has a number made of its two solids and of the corner, edge or end that
//! touches, by which the cone solver finds its last impulse. A point that would close within the step, and approaches faster
//! than `v_rest` (twice what smooth forces do in a step), is an impact of Moreau's law at the beginning of the step: it happens once, and
//! never deeper than the gap. What is left of penetration (curvature, rotation) is moved out in the metric of M, without
//! velocity. The step knows neither look ahead nor order of impacts: with thousands of them per second the step is the resolution.
//!
//! Friction and impacts at the points are booked on the contact that stands for their `[[touch]]`; the resultants of each body are
//! the forces along the six rows of its frame. The same run with longer steps is not made: where single
//! bodies of a heap end follows from the last digits.

mod anderson;
mod balls;
mod loose;
mod points;
mod problem;
mod sweeps;

use std::sync::atomic::Ordering;

use crate::contact::normal_forces;
use crate::linalg::axpy;
use crate::shape::V3;
use crate::system::{Dims, Forces, Mode, Normal, Restitution, Section, State, System, Touching, Trigger};

use super::super::audit::Auditor;
use super::super::classify::Sets;
use super::super::field::Field;
use super::super::ledger::Ledger;
use super::super::settings::{Outside, Record, Settings, interrupted};
use super::super::sink::Delivery;
use super::super::start::{self, StartError};
use super::super::trajectory::{Event, Kind, Samples, Status, Trajectory};
use super::tolerances::{ACCEPTED, RATE_NOISE, SAME_TIME};
use super::{HALVINGS, RUNAWAY, STEP_BOUND, log};
use points::Points;
use problem::{Given, Push, Step};

/// What touches, of the smallest solid.
const DEEP: f64 = 1e-10;
/// Depth, of the smallest solid, from which bodies are moved apart: above what rounding makes of a pile at rest.
const MOVED: f64 = 1e-8;
/// Depth at the start, of the smallest solid, that is refused.
const INSIDE: f64 = 1e-8;
/// How often a step is solved at most, with the points that those who are pushed would otherwise go into.
const RECALLS: usize = 4;
/// A solution with a larger error ends the run.
const USELESS: f64 = 1e-3;

/// Simulate with fixed steps.
pub(super) fn run<S: System + ?Sized>(
    sys: &S,
    touching: &Touching,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    mut delivery: Delivery<'_>,
) -> Result<Trajectory, StartError> {
    let mut s = Pile::new(sys, touching, start.clone(), settings);
    start::classify(&mut s.field, &mut Sets::default())?;
    s.begin()?;
    let end = loop {
        if outside.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
            break (Status::Interrupted, interrupted(s.field.state.t));
        }
        if let Some(progress) = outside.progress.as_mut() {
            progress(s.field.state.t);
        }
        if s.field.state.t >= settings.until - SAME_TIME * settings.step {
            break (Status::Finished, String::new());
        }
        if let Some(end) = s.step() {
            break end;
        }
        delivery.step(&mut s.out);
    };
    delivery.end(&mut s.out);
    Ok(s.finish(end))
}

struct Pile<'a, S: System + ?Sized> {
    field: Field<'a, S>,
    touching: &'a Touching,
    settings: &'a Settings,
    points: Points,
    problem: Step,
    push: Push,
    ledger: Ledger,
    auditor: Auditor,
    out: Trajectory,
    /// Smallest solid.
    size: f64,
    begin: f64,
    whole: u64,
    recorded: u64,
    /// Steps whose problem was not solved to the tolerance, and their largest error.
    poor: u64,
    poorest: f64,
    tail: Vec<f64>,
    restitution: Vec<Restitution>,
    crossings: Vec<f64>,
    triggers: Vec<Trigger>,
    before: State,
    /// At the beginning of a step that may be divided.
    begun: State,
    /// Impulses of the file's contacts at an event: none.
    none: Forces,
    modes: Vec<Mode>,
    /// Offsets of the points.
    targets: Vec<V3>,
    /// Velocities whose positions follow the end of the step.
    late: Vec<bool>,
    mean: Vec<f64>,
    z_rate: Vec<f64>,
    impulse: Vec<f64>,
}

impl<'a, S: System + ?Sized> Pile<'a, S> {
    fn new(sys: &'a S, touching: &'a Touching, start: State, settings: &'a Settings) -> Self {
        let field = Field::new(sys, start);
        let d = field.dims;
        let thin = touching.solids.iter().map(|s| s.shape.thinness()).filter(|x| x.is_finite());
        let size = thin.fold(f64::INFINITY, f64::min);
        let size = if size.is_finite() && size > 0.0 { size } else { sys.length_scale() };
        Pile {
            touching,
            settings,
            points: Points::new(touching),
            problem: Step::new(d.rows, d.u),
            push: Push::new(d.u),
            ledger: Ledger::default(),
            auditor: Auditor::new(size),
            out: Trajectory {
                samples: Samples::new(d, sys.contacts(), sys.output_count()),
                ..Default::default()
            },
            size,
            begin: field.state.t,
            whole: 0,
            recorded: 0,
            poor: 0,
            poorest: 0.0,
            tail: vec![0.0; super::super::ledger::integrals(d.contacts)],
            restitution: vec![Restitution::default(); d.contacts],
            crossings: vec![0.0; d.crossings],
            triggers: Vec::new(),
            before: field.state.clone(),
            begun: field.state.clone(),
            none: Forces::new(&Dims { rows: 0, contacts: d.contacts, ..d }),
            modes: vec![Mode::Open; d.contacts],
            targets: Vec::new(),
            late: vec![false; d.u],
            mean: vec![0.0; d.u],
            z_rate: vec![0.0; d.z],
            impulse: vec![0.0; d.rows],
            field,
        }
    }

    fn begin(&mut self) -> Result<(), StartError> {
        known_laws(&self.field)?;
        for (m, c) in self.field.discrete.modes.iter_mut().zip(self.field.info) {
            *m = if c.is_bilateral() { Mode::Closed } else { Mode::Open };
        }
        self.field.evaluate();
        let still = vec![0.0; self.field.dims.u];
        [0, 1, 3]
            .into_iter()
            .for_each(|k| self.points.twist(k, self.touching, &self.field.eval, &still, 0.0));
        self.points.find(self.touching, &self.field.eval, 0.0, (0.0, self.size));
        let deepest = self.points.list.iter().min_by(|a, b| a.touch.gap.total_cmp(&b.touch.gap));
        if let Some(p) = deepest.filter(|p| p.touch.gap < -INSIDE * self.size) {
            let (a, b) = ((p.key >> 43 & 0xf_ffff) as usize, (p.key >> 23 & 0xf_ffff) as usize);
            let [a, b] = [a, b].map(|k| self.touching.solids[k].name.clone());
            return Err(StartError::Overlap { a, b, depth: -p.touch.gap });
        }
        self.points.list.clear();
        self.ledger.start(self.field.dims.contacts, &self.field.eval);
        self.crossings.clone_from(&self.field.eval.crossings);
        self.out.start.point = log::point(&self.field);
        self.record();
        Ok(())
    }

    /// One step of the grid; the end of the run when there is one.
    fn step(&mut self) -> Option<(Status, String)> {
        let next = (self.begin + (self.whole + 1) as f64 * self.settings.step).min(self.settings.until);
        let end = self.advance_in_parts(next);
        if end.is_none() {
            self.whole += 1;
            let due = match self.settings.record {
                Record::Steps => true,
                Record::Every(interval) => {
                    let count = ((next - self.begin) / interval + SAME_TIME).floor() as u64;
                    let due = count > self.recorded;
                    self.recorded = self.recorded.max(count);
                    due
                }
                _ => false,
            };
            if due {
                self.record();
            }
        }
        end
    }

    /// To the time `next`, in parts when the problem of the whole step is not solved.
    fn advance_in_parts(&mut self, next: f64) -> Option<(Status, String)> {
        let t = self.field.state.t;
        for halving in 0..=HALVINGS {
            let parts = 1 << halving;
            let mut failed = None;
            self.begun.clone_from(&self.field.state);
            for k in 1..=parts {
                let to = if k == parts { next } else { t + (next - t) * f64::from(k) / f64::from(parts) };
                match self.advance(to) {
                    Ok(None) => {}
                    Ok(end) => return end,
                    Err(text) => {
                        failed = Some(text);
                        break;
                    }
                }
            }
            match failed {
                None => return None,
                Some(text) if halving == HALVINGS => {
                    return Some((Status::Failed, format!("step at t = {t}: {text}")));
                }
                // what was booked in the parts before stays booked: parts fail at their first
                Some(_) if self.field.state.t == t || halving == 0 => {
                    self.field.state.clone_from(&self.begun);
                    self.field.evaluate();
                }
                Some(text) => return Some((Status::Failed, format!("step at t = {t}: {text}"))),
            }
        }
        None
    }

    /// From the present instant, at which the field is evaluated, to `next`. `Err`: there is no step, the state is as before.
    fn advance(&mut self, next: f64) -> Result<Option<(Status, String)>, String> {
        let delta = next - self.field.state.t;
        self.before.clone_from(&self.field.state);
        self.modes.copy_from_slice(&self.field.discrete.modes);
        self.midpoint(delta)?;
        let error = self.solve(delta)?;
        if !(error <= USELESS) {
            self.field.state.clone_from(&self.before);
            self.field.evaluate();
            let count = self.points.list.len();
            return Err(format!("the contact problem of {count} points was solved to {error:.1e} only"));
        }
        if error > ACCEPTED {
            self.poor += 1;
            self.poorest = self.poorest.max(error);
        }
        let power = self.field.eval.power;
        let drive = self.field.eval.drive_offset * delta;
        self.book(delta);
        self.move_on(delta);
        axpy(delta, &self.z_rate, &mut self.field.state.z);
        self.field.state.t = next;
        let n = self.field.dims.contacts;
        self.tail[n] += delta * power;
        self.tail[n + 1] += drive;
        self.out.counts.steps += 1;
        self.field.evaluate();
        self.field.forget();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        if !discrete.latches.is_empty() {
            sys.latch(state, discrete, eval, true);
            self.field.evaluate();
        }
        self.forces(delta);
        self.ledger.update(&self.field.eval, &self.tail);
        self.audit(delta);
        Ok(self.too_long(delta).or_else(|| self.events()))
    }

    fn given<'b>(field: &'b Field<'_, S>, modes: &'b [Mode], restitution: &'b [Restitution]) -> Given<'b> {
        Given { info: field.info, modes, restitution, sizes: &field.watches.scales.gap }
    }

    /// The system at the midpoint: positions moved by the old velocities, velocities under smooth forces.
    fn midpoint(&mut self, delta: f64) -> Result<(), String> {
        self.field.sys.restitution(&self.field.state, &self.field.discrete, &mut self.restitution);
        self.mean.iter_mut().zip(&self.before.u).for_each(|(m, u)| *m = 0.5 * delta * u);
        self.field.sys.move_by(&mut self.field.state.q, &self.mean);
        self.field.state.t += 0.5 * delta;
        self.z_rate.copy_from_slice(&self.field.eval.z_rate);
        axpy(0.5 * delta, &self.z_rate, &mut self.field.state.z);
        for round in 0..2 {
            if round > 0 {
                let both = self.before.u.iter().zip(&self.problem.free);
                self.field.state.u.iter_mut().zip(both).for_each(|(m, (a, b))| *m = 0.5 * (a + b));
            }
            self.field.evaluate_rates();
            let given = Self::given(&self.field, &self.modes, &self.restitution);
            if !self.problem.smooth(&given, &self.field.eval, &self.before.u, delta) {
                return Err("the mass matrix is singular".into());
            }
        }
        self.z_rate.copy_from_slice(&self.field.eval.z_rate);
        Ok(())
    }

    /// Points, their targets, and the solution; its error.
    fn solve(&mut self, delta: f64) -> Result<f64, String> {
        let (t, eval) = (self.touching, &self.field.eval);
        self.points.twist(0, t, eval, &self.before.u, -0.5 * delta);
        self.points.twist(1, t, eval, &self.problem.free, 0.5 * delta);
        self.points.twist(3, t, eval, &self.before.u, -0.25 * delta);
        let near = DEEP * self.size;
        self.points.find(t, eval, delta, (near, self.size));
        // v_rest: twice what the smooth forces do in a step, and rounding
        let change = self.points.list.iter().fold(0.0_f64, |m, p| m.max((p.free[0] - p.before[0]).abs()));
        let fastest = self.before.u.iter().fold(0.0_f64, |m, u| m.max(u.abs()));
        let rest = 2.0 * change + RATE_NOISE * fastest;
        self.points.select(delta, near, rest);
        let given = Self::given(&self.field, &self.modes, &self.restitution);
        let mut error = 0.0;
        for round in 1..=RECALLS {
            self.targets.clear();
            self.targets.extend(self.points.list.iter().map(|p| {
                let e = t.rules[p.rule as usize].restitution;
                match p.closes && p.before[0] < -rest {
                    true => [e * p.before[0], 0.0, 0.0],
                    // what touches is no gap: rounding of places would open and close the corners of a pile at rest
                    false if p.gap <= p.near => [0.0; 3],
                    false => [p.gap / delta, 0.0, 0.0],
                }
            }));
            let what = (t, &mut self.points, &self.targets[..]);
            error = self.problem.solve(&given, what, eval, (&self.before.u, delta))?;
            self.points.twist(3, t, eval, &self.problem.u, 0.0);
            self.points.choose_late(delta);
            if round == RECALLS || !self.points.recall(delta) {
                break;
            }
        }
        self.points.measure_room(delta);
        self.late.fill(false);
        for (frame, _) in t.frames.iter().zip(&self.points.late).filter(|x| *x.1) {
            for k in 0..6 {
                eval.w.row(frame.row + k).iter().for_each(|(j, _)| self.late[j] = true);
            }
        }
        self.push.solve(&mut self.problem, &self.points, &given, eval, MOVED * self.size);
        Ok(error)
    }

    /// Work of the impulses at the points: what closes is an impact, the rest friction. Where all of them together would give it is an error of
    /// the step.
    fn book(&mut self, delta: f64) {
        let t = self.touching;
        self.impulse.fill(0.0);
        let mut sum = 0.0;
        for p in self.points.list.iter().filter(|p| p.impulse[0] > 0.0) {
            let contact = t.rules[p.rule as usize].contact;
            let normal = 0.5 * p.impulse[0] * (p.before[0] + p.after[0]);
            let hit = if p.closes { p.work() } else { normal };
            self.ledger.energy.impact[contact] += hit;
            self.tail[contact] += p.work() - hit;
            sum += p.impulse.iter().map(|x| x.abs()).sum::<f64>();
        }
        self.auditor.created += self.points.created(t, self.problem.can_sweep);
        // bodies in an impact go the whole step with the velocity after it: what smooth forces do on the difference belongs to the impact
        let (info, eval) = (self.field.info, &self.field.eval);
        if let Some(p) = self.points.list.iter().find(|p| p.closes) {
            let late = (0..self.late.len()).filter(|&k| self.late[k]);
            let shift: f64 = late.map(|k| eval.h[k] * (self.problem.u[k] - self.before.u[k])).sum();
            self.ledger.energy.impact[t.rules[p.rule as usize].contact] -= 0.5 * delta * shift;
        }
        self.problem.of_file(info, &mut self.impulse, &mut self.field.discrete.modes);
        for (i, c) in info.iter().enumerate() {
            let work = |r: usize| {
                0.5 * self.impulse[r] * (eval.rate(r, &self.before.u) + eval.rate(r, &self.problem.u))
            };
            let slip: f64 = c.tangent.iter().map(|&r| work(r)).sum();
            self.tail[i] += slip.min(0.0);
            self.auditor.created += slip.max(0.0);
            if let Normal::Unilateral { row } = c.normal {
                self.ledger.energy.impact[i] += work(row);
            }
        }
        self.points.resultants(t, &mut self.impulse);
        let n = self.field.dims.contacts;
        for (k, d) in eval.drive.iter().enumerate() {
            self.tail[n + 1] += d * (self.problem.u[k] - self.before.u[k]);
        }
        for (l, offset) in self.impulse.iter().zip(&eval.rate_offset) {
            self.tail[n + 1] -= l * offset;
        }
        self.ledger.energy.rounding += ACCEPTED * self.problem.fastest * sum;
    }

    /// Positions at the end of the step.
    fn move_on(&mut self, delta: f64) {
        for k in 0..self.mean.len() {
            let (before, after) = (self.before.u[k], self.problem.u[k]);
            let velocity = if self.late[k] { after } else { 0.5 * (before + after) };
            self.mean[k] = delta * velocity + self.push.delta[k];
        }
        self.field.state.clone_from(&self.before);
        self.field.sys.move_by(&mut self.field.state.q, &self.mean);
        self.field.sys.restore(&mut self.field.state.q);
        self.field.state.u.copy_from_slice(&self.problem.u);
    }

    /// Forces, accelerations and modes of the step.
    fn forces(&mut self, delta: f64) {
        let Field { forces: f, info, eval, discrete, .. } = &mut self.field;
        f.lambda.iter_mut().zip(&self.impulse).for_each(|(l, i)| *l = i / delta);
        for (k, a) in f.accel.iter_mut().enumerate() {
            *a = (self.problem.u[k] - self.before.u[k]) / delta;
        }
        normal_forces(info, eval, &discrete.modes, f);
        for (i, c) in info.iter().enumerate() {
            let rubs = c.friction && !c.tangent.is_empty();
            f.tangential[i] = if rubs { f.lambda[c.tangent[0]] } else { 0.0 };
            f.bound[i] = if rubs { f64::INFINITY } else { 0.0 };
        }
        for rule in &self.touching.rules {
            f.normal[rule.contact] = 0.0;
            f.tangential[rule.contact] = 0.0;
            discrete.modes[rule.contact] = Mode::Open;
        }
        for p in self.points.list.iter().filter(|p| p.impulse[0] > 0.0) {
            let c = self.touching.rules[p.rule as usize].contact;
            f.normal[c] += p.impulse[0] / delta;
            f.tangential[c] += p.impulse[1].hypot(p.impulse[2]) / delta;
            discrete.modes[c] = Mode::Closed;
        }
    }

    fn audit(&mut self, delta: f64) {
        let f = &self.field;
        self.auditor.check(f.state.t, f.info, &f.eval, &f.discrete.modes, &f.forces);
        let (mut negative, mut outside, mut depth) = (0.0_f64, 0.0_f64, 0.0_f64);
        for p in &self.points.list {
            let mu = self.touching.rules[p.rule as usize].mu;
            negative = negative.max(-p.impulse[0] / delta);
            outside = outside.max((p.impulse[1].hypot(p.impulse[2]) - mu * p.impulse[0]) / delta);
            depth = depth.max(-p.gap);
        }
        self.auditor.touches(negative, outside, depth);
        self.auditor.energy(&self.ledger.energy);
    }

    /// The end of a run whose numbers are none.
    fn too_long(&self, delta: f64) -> Option<(Status, String)> {
        let (state, far) = (&self.field.state, RUNAWAY * self.size);
        if let Some(what) = self.field.undefined() {
            return Some((Status::Failed, format!("{what} has no finite value at t = {}", state.t)));
        }
        if state.q.iter().all(|q| q.abs() < far) && state.u.iter().all(|u| delta * u.abs() < far) {
            return None;
        }
        let text = format!(
            "at t = {} the motion has grown beyond all bounds: take a shorter step (--step)",
            state.t
        );
        Some((Status::Failed, text))
    }

    /// The user's events.
    fn events(&mut self) -> Option<(Status, String)> {
        for _ in 0..=self.crossings.len() {
            self.triggers.clear();
            log::crossings(
                self.field.sys,
                &mut self.crossings,
                &self.field.eval.crossings,
                &mut self.triggers,
            );
            if self.triggers.is_empty() {
                break;
            }
            let (fired, stop) = log::fire(&mut self.field, &mut self.ledger, &self.triggers, &self.none);
            for &k in &fired {
                let name = self.field.sys.event_names().get(k).cloned();
                self.out.counts.events[Kind::Mark as usize] += 1;
                self.out.events.push(Event {
                    time: self.field.state.t,
                    kind: Kind::Mark,
                    contacts: Vec::new(),
                    before: self.before.clone(),
                    after: self.field.state.clone(),
                    name,
                    note: String::new(),
                    alternatives: Vec::new(),
                });
            }
            let count = self.out.counts.all_events();
            if stop {
                let name = fired.last().and_then(|&k| self.field.sys.event_names().get(k)).cloned();
                return Some((Status::Stopped, format!("event `{}`", name.unwrap_or_default())));
            }
            if count >= self.settings.stop_after {
                return Some((Status::Stopped, format!("{count} events")));
            }
        }
        None
    }

    fn record(&mut self) {
        if self.settings.record != Record::Nothing {
            let p = log::point(&self.field);
            let keep = self.settings.record != Record::Steps;
            self.out.samples.push(&p, &self.ledger.energy.columns(), keep);
        }
    }

    fn finish(mut self, (status, message): (Status, String)) -> Trajectory {
        self.out.last = log::point(&self.field);
        if self.poor > 0 {
            self.out.warnings.push(format!(
                "the contact problems of {} of {} steps were solved to {:.1e} of the fastest velocity, not to {ACCEPTED:.0e}",
                self.poor, self.out.counts.steps, self.poorest
            ));
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
        out.counts.factorisations = self.problem.factorisations + self.problem.mass.count;
        out
    }
}

/// Contacts of the file beside points that touch: friction of pins, laws that depend on the direction and loads that follow other contacts (rolling
/// and drilling resistance too) are left out.
fn known_laws<S: System + ?Sized>(field: &Field<S>) -> Result<(), StartError> {
    for (i, c) in field.info.iter().enumerate() {
        let pin = matches!(c.normal, Normal::Pin { .. } | Normal::Ball { .. });
        let round = field.eval.sections.get(i).is_none_or(|s| *s == Section::Round);
        if c.friction && (pin || !round || !c.load_on.is_empty()) {
            let text = format!(
                "contact `{}` has friction of a joint, of a direction or with the load of another contact, which a run with [[touch]] does not know",
                c.name
            );
            return Err(StartError::Settings(text));
        }
    }
    Ok(())
}
