//! Time-stepping after Moreau and Jean (METH-TIMESTEP): fixed steps Δ, any number of events inside a step, order 1.
//!
//! ```text
//! u ← u after the impact law, where touching contacts approach faster than v_rest ([`hits`])
//! q_M = q + ½Δ Y u        switches, edges and flanks as they are there; active: g ≤ 10⁻⁹ L there or at q, bilateral contacts and pins always
//! M u⁺ = M u + Δ h + Wᵀ Λ     at q_M and ū = (u + u⁺)/2;   0 ≤ γ_N⁺ ⊥ Λ_N ≥ 0,   Coulomb on γ_T⁺,   γ⁺ = W u⁺ + w̃ + ½Δ w̄
//! q⁺ = q + Δ Y (θ u⁺ + (1−θ) u),      then positions are projected where they violate gaps ([`positions`])
//! ```
//!
//! The problem of a step is a cone problem ([`impulses`]) with the impulses of the step before as its start, solved twice where
//! anything depends on ū. Contacts slower than `v_rest = 2Δ (Σ_k |w_k| |u̇_k| + |w̄|)` of the smooth motion and of their own force count as persistent,
//! which closes series of impacts; the log says so with `accumulated`. Persistent ones that would close within the step
//! take part with `γ⁺ + g/Δ ≥ 0`. Smooth forces are explicit; a step that they do not allow ends the run with the largest that
//! serves ([`stiffness`]). A step whose problem is not solved is halved, twice at most; then the run ends
//! with a sentence. Energy: impacts are booked by their law, sliding by `Λ_T·γ̄_T`; what the finite step leaves open
//! is the numerical part. The whole run is done again with two and four times the step, and the audit compares ([`compare`]).
//! A step allocates nothing while contacts and modes stay and nothing is recorded.

mod book;
mod compare;
mod hits;
mod impulses;
mod log;
mod operator;
mod pile;
mod positions;
#[cfg(test)]
mod random_tests;
mod stiffness;
mod tolerances;

use std::sync::atomic::Ordering;

use crate::contact::{ContactError, Forces};
use crate::impact::Impactor;
use crate::linalg::axpy;
use crate::system::{ContactInfo, Discrete, Mode, Restitution, Section, State, System, Trigger};

use super::audit::Auditor;
use super::classify::Sets;
use super::field::Field;
use super::ledger::Ledger;
use super::settings::{Outside, Settings, interrupted};
use super::sink::{Delivery, Sink};
use super::start::{self, StartError};
use super::trajectory::{Samples, Status, Trajectory};
use hits::DIVISIONS;
use impulses::{Ended, Impulses, Step};
use positions::Positions;
use stiffness::{AHEAD, EVERY, Stiffness};
use tolerances::SAME_TIME;

/// Bound of penetration, drift and energy in the audit of a run with fixed steps: these errors are of the order of the step.
pub const STEP_BOUND: f64 = 1e-2;
/// Warnings of a run.
const WARNINGS: usize = 20;
/// Coordinates beyond this many lengths of the model, and velocities beyond as many per step, are the explosion of an unstable step.
const RUNAWAY: f64 = 1e30;
/// How often a step is halved when its problem is not solved.
const HALVINGS: u32 = 2;

/// Simulate with fixed steps `settings.step`.
pub fn time_stepping<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
) -> Result<Trajectory, StartError> {
    time_stepping_into(sys, start, settings, outside, None)
}

/// The same; rows and events go to `sink` as they come, and only a part of them stays in the trajectory.
///
/// # Errors
///
/// As [`time_stepping`].
pub fn time_stepping_into<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    sink: Option<&mut dyn Sink>,
) -> Result<Trajectory, StartError> {
    if let Some(problem) = settings.problem() {
        return Err(StartError::Settings(problem));
    }
    start::check_sizes(sys, start)?;
    let steps = (settings.until - start.t) / settings.step;
    if steps > settings.max_steps as f64 {
        return Err(StartError::Settings(format!(
            "a step of {:e} s makes {steps:.1e} steps until {} s, more than {:.0e}; choose a longer one",
            settings.step, settings.until, settings.max_steps as f64
        )));
    }
    crate::contact::check(sys.contacts())
        .and_then(|()| known_laws(sys, start))
        .map_err(|e| StartError::Settings(e.to_string()))?;
    if let Some(touching) = sys.touching() {
        return pile::run(sys, touching, start, settings, outside, Delivery::new(sink));
    }
    let (mut out, range) = run(sys, start, settings, outside, Delivery::new(sink))?;
    if matches!(out.status, Status::Finished | Status::Stopped) && out.counts.steps > 0 {
        out.audit.step_error = compare::with_longer_steps(sys, start, settings, outside, &out, &range);
        out.audit.judge(STEP_BOUND, STEP_BOUND, out.status);
    }
    Ok(out)
}

/// One run, and how far every coordinate moved.
fn run<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    mut delivery: Delivery<'_>,
) -> Result<(Trajectory, Vec<f64>), StartError> {
    let mut s = Stepper::new(sys, start.clone(), settings);
    start::classify(&mut s.field, &mut s.sets)?;
    s.begin();
    let end = loop {
        if outside.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
            break (Status::Interrupted, interrupted(s.field.state.t));
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
        delivery.step(&mut s.out);
        let count = s.out.counts.all_events();
        if count >= settings.stop_after {
            break (Status::Stopped, format!("{count} events"));
        }
    };
    delivery.end(&mut s.out);
    let range = s.range();
    Ok((s.finish(end), range))
}

struct Stepper<'a, S: System + ?Sized> {
    field: Field<'a, S>,
    settings: &'a Settings,
    sets: Sets,
    impactor: Impactor,
    impulses: Impulses,
    positions: Positions,
    ledger: Ledger,
    auditor: Auditor,
    out: Trajectory,
    length: f64,
    begin: f64,
    /// Whole steps done, and warnings held back.
    whole: u64,
    held_back: u64,
    /// What the last step said, so that it is said once.
    said: String,
    /// Integrals of the ledger: friction per contact, external, drive.
    tail: Vec<f64>,
    restitution: Vec<Restitution>,
    crossings: Vec<f64>,
    slow: Vec<bool>,
    stiffness: Stiffness,
    /// Smallest and largest value of every coordinate.
    seen: [Vec<f64>; 2],
    recorded: u64,
    w: Work,
}

/// Memory of one step.
#[derive(Default)]
struct Work {
    /// State, modes and latches at the beginning.
    before: State,
    modes: Vec<Mode>,
    latches: Vec<i32>,
    /// Modes and forces of the smooth motion: bilateral contacts and pins only.
    smooth: Vec<Mode>,
    smooth_forces: Forces,
    /// Rates before an impact; v_rest and the last normal force without impact per contact.
    rates: Vec<f64>,
    rest: Vec<f64>,
    press: Vec<f64>,
    /// Steps in which a contact is still landing.
    landing: Vec<u8>,
    active: Vec<bool>,
    impacts: Vec<bool>,
    closed: Vec<bool>,
    /// Contacts that meet within the step: when, whether really, and those of the first impact.
    meets: Vec<f64>,
    closes: Vec<bool>,
    due: Vec<bool>,
    swallowed: Vec<usize>,
    /// Velocities before the impact, its impulses per row and its work per contact; or impact and forces in one problem.
    approach: Vec<f64>,
    impulse: Vec<f64>,
    work: Vec<f64>,
    together: bool,
    /// All impulses of the step per row.
    acted: Vec<f64>,
    /// What the problem of a step was posed with: h, w̄, μ, loads.
    posed: [Vec<f64>; 4],
    here: State,
    accel: Vec<f64>,
    offset: Vec<f64>,
    momentum: Vec<f64>,
    free: Vec<f64>,
    mean: Vec<f64>,
    z_rate: Vec<f64>,
    /// Work of every contact that the states know of.
    taken: Vec<f64>,
    tangential: Vec<f64>,
    /// Of one step.
    displacement: Vec<f64>,
    triggers: Vec<Trigger>,
}

impl<'a, S: System + ?Sized> Stepper<'a, S> {
    fn new(sys: &'a S, start: State, settings: &'a Settings) -> Self {
        let mut field = Field::new(sys, start);
        let length = sys.length_scale().max(f64::MIN_POSITIVE);
        field.watch_all();
        let d = field.dims;
        let smooth = |c: &ContactInfo| if c.is_bilateral() { Mode::Closed } else { Mode::Open };
        let w = Work {
            before: field.state.clone(),
            modes: vec![Mode::Open; d.contacts],
            smooth: field.info.iter().map(smooth).collect(),
            smooth_forces: field.forces.clone(),
            rates: vec![0.0; d.rows],
            rest: vec![0.0; d.contacts],
            press: vec![0.0; d.contacts],
            landing: vec![0; d.contacts],
            active: vec![true; d.contacts],
            impacts: vec![false; d.contacts],
            closed: vec![false; d.contacts],
            meets: vec![0.0; d.contacts],
            closes: vec![false; d.contacts],
            due: vec![false; d.contacts],
            approach: vec![0.0; d.u],
            impulse: vec![0.0; d.rows],
            work: vec![0.0; d.contacts],
            acted: vec![0.0; d.rows],
            here: field.state.clone(),
            accel: vec![0.0; d.u],
            offset: vec![0.0; d.rows],
            momentum: vec![0.0; d.u],
            free: vec![0.0; d.u],
            mean: vec![0.0; d.u],
            z_rate: vec![0.0; d.z],
            taken: vec![0.0; d.contacts],
            tangential: vec![0.0; d.contacts],
            displacement: Vec::with_capacity(d.u),
            ..Work::default()
        };
        Stepper {
            begin: field.state.t,
            settings,
            sets: Sets::default(),
            impactor: Impactor::default(),
            impulses: Impulses::new(&d),
            positions: Positions::new(&d),
            ledger: Ledger::default(),
            auditor: Auditor::new(length),
            out: Trajectory {
                samples: Samples::new(d, sys.contacts(), sys.output_count()),
                ..Default::default()
            },
            length,
            whole: 0,
            held_back: 0,
            said: String::new(),
            tail: vec![0.0; super::ledger::integrals(d.contacts)],
            restitution: vec![Restitution::default(); d.contacts],
            crossings: vec![0.0; d.crossings],
            slow: vec![false; d.contacts],
            stiffness: Stiffness::new(d.q + d.u + d.z),
            seen: [field.state.q.clone(), field.state.q.clone()],
            recorded: 0,
            w,
            field,
        }
    }

    fn begin(&mut self) {
        for (i, m) in self.field.discrete.modes.iter_mut().enumerate() {
            *m = if self.sets.closed[i] { Mode::Closed } else { Mode::Open };
        }
        self.field.evaluate();
        self.measure_coordinates();
        if self.solve_smooth() {
            (0..AHEAD).for_each(|_| self.feel_stiffness(self.settings.step));
            self.stiffness.doubt();
        }
        self.ledger.start(self.field.dims.contacts, &self.field.eval);
        self.crossings.clone_from(&self.field.eval.crossings);
        self.out.start.point = self.point();
        self.record();
    }

    fn done(&self) -> bool {
        self.field.state.t >= self.settings.until - SAME_TIME * self.settings.step
    }

    /// One step of the grid, divided at impacts; the end of the run when there is one.
    fn step(&mut self) -> Option<(Status, String)> {
        let t = self.field.state.t;
        let next = (self.begin + (self.whole + 1) as f64 * self.settings.step).min(self.settings.until);
        let delta = next - t;
        let end = self.meet(next, delta).or_else(|| self.advance_in_parts(next));
        if end.is_none() {
            self.whole += 1;
            self.record_if_due(next);
        }
        end
    }

    /// Through the impacts of the step up to the last of them.
    fn meet(&mut self, next: f64, delta: f64) -> Option<(Status, String)> {
        for division in 0..=DIVISIONS {
            if let Err((status, text)) = self.strike(delta) {
                return Some((status, format!("impact at t = {}: {text}", self.field.state.t)));
            }
            if division == DIVISIONS {
                break;
            }
            let Some(time) = self.first_impact(next) else { break };
            let end = self.advance_in_parts(time);
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// To the time `next`, in parts when it must be.
    fn advance_in_parts(&mut self, next: f64) -> Option<(Status, String)> {
        let t = self.field.state.t;
        let (mut parts, mut done) = (1_u32, 0);
        while done < parts {
            let to = if done + 1 == parts {
                next
            } else {
                t + (next - t) * f64::from(done + 1) / f64::from(parts)
            };
            match self.advance(to) {
                Ok(None) => done += 1,
                Ok(end) => return end,
                Err((Status::Failed, _)) if parts < 1 << HALVINGS => {
                    parts *= 2;
                    done *= 2;
                    self.go_back();
                }
                Err((status, text)) => {
                    self.go_back();
                    let text = format!("step at t = {}: {text}", self.w.before.t);
                    return Some((status, text));
                }
            }
        }
        if parts > 1 {
            self.warn(format!(
                "the step at t = {t} was divided by {parts}: its contact problem was not solved"
            ));
        }
        None
    }

    /// To the beginning of the step that failed.
    fn go_back(&mut self) {
        self.field.state.clone_from(&self.w.before);
        self.field.discrete.latches.clone_from(&self.w.latches);
        self.field.evaluate();
    }

    fn warn(&mut self, text: String) {
        if self.out.warnings.len() < WARNINGS {
            self.out.warnings.push(text);
        } else {
            self.held_back += 1;
        }
    }

    /// From the present instant, at which the field is evaluated, to `next`. `Err`: there is no step, the state is in
    /// between.
    fn advance(&mut self, next: f64) -> Result<Option<(Status, String)>, (Status, String)> {
        let delta = next - self.field.state.t;
        let (dims, info) = (self.field.dims, self.field.info);
        self.w.before.clone_from(&self.field.state);
        self.w.modes.copy_from_slice(&self.field.discrete.modes);
        self.w.latches.clone_from(&self.field.discrete.latches);
        self.w.tangential.copy_from_slice(&self.field.forces.tangential);
        self.evaluate_midpoint(delta)?;
        self.solve(delta)?;

        // states and work at the mean velocity, not at that of the smooth motion: contacts may hold the body
        if self.evaluate_mean() {
            self.solve(delta)?;
            self.evaluate_mean();
        }
        let power = self.field.eval.power;
        let drive = self.field.eval.drive_offset * delta;
        self.w.z_rate.copy_from_slice(&self.field.eval.z_rate);
        self.book(delta);
        let theta = self.settings.theta;
        for k in 0..dims.u {
            self.w.mean[k] = theta * self.impulses.u[k] + (1.0 - theta) * self.w.before.u[k];
        }
        self.field.discrete.modes.copy_from_slice(&self.impulses.modes);
        self.field.signs.copy_from_slice(&self.impulses.signs);
        self.field.state.clone_from(&self.w.before);
        self.move_by(delta);
        self.field.state.u.copy_from_slice(&self.impulses.u);
        axpy(delta, &self.w.z_rate, &mut self.field.state.z);
        self.field.state.t = next;
        self.heat();
        self.tail[dims.contacts] += delta * power;
        self.tail[dims.contacts + 1] += drive;
        self.out.counts.steps += 1;

        // latches, projection
        self.field.evaluate();
        self.field.forget();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.latch(state, discrete, eval, true);
        self.field.evaluate();
        self.positions.project(&mut self.field, &self.w.acted, self.length);
        self.take_forces(next, delta);
        self.ledger.update(&self.field.eval, &self.tail);
        let f = &self.field;
        self.auditor.check(f.state.t, info, &f.eval, &f.discrete.modes, &f.forces);
        self.auditor.energy(&self.ledger.energy);
        let [low, high] = &mut self.seen;
        for (k, q) in f.state.q.iter().enumerate() {
            low[k] = low[k].min(*q);
            high[k] = high[k].max(*q);
        }
        if let Some(end) = self.too_long(delta) {
            return Ok(Some(end));
        }
        let end = self.events();
        self.w.impacts.fill(false);
        self.w.impulse.fill(0.0);
        self.w.work.fill(0.0);
        self.w.together = false;
        Ok(end)
    }

    /// The contact problem of a step at the present evaluation of its midpoint.
    fn solve(&mut self, delta: f64) -> Result<(), (Status, String)> {
        self.pose(delta);
        let (info, t) = (self.field.info, self.w.before.t);
        let ended = self.impulses.solve(&Step {
            info,
            eval: &self.field.eval,
            delta,
            momentum: &self.w.momentum,
            offset: &self.w.offset,
            active: &self.w.active,
            policy: self.settings.several,
            modes: &self.w.modes,
            previous: (self.out.counts.steps > 0).then_some(&self.field.forces),
        });
        match ended {
            Ended::Solved(None) => self.said.clear(),
            Ended::Solved(Some(text)) => {
                if text != self.said {
                    self.warn(format!("step at t = {t}: {text}"));
                    self.said = text;
                }
            }
            Ended::Failed(Status::Inconsistent, text) if self.rebounds() => {
                return Err((
                    Status::Inconsistent,
                    format!(
                        "{text}. Moreau's law may have none for an impact with friction: take restitution 0, or Poisson's law"
                    ),
                ));
            }
            Ended::Failed(status, text) => return Err((status, text)),
        }
        let eval = &self.field.eval;
        for (a, b) in self.w.posed.iter_mut().zip([&eval.h, &eval.accel_offset, &eval.mu, &eval.load]) {
            a.clone_from(b);
        }
        Ok(())
    }

    /// The midpoint at the mean velocity; whether the problem that was solved is another one there.
    fn evaluate_mean(&mut self) -> bool {
        for k in 0..self.field.dims.u {
            self.field.state.u[k] = 0.5 * (self.impulses.u[k] + self.w.before.u[k]);
        }
        self.field.evaluate();
        let eval = &self.field.eval;
        self.w.posed.iter().zip([&eval.h, &eval.accel_offset, &eval.mu, &eval.load]).any(|(a, b)| a != b)
    }

    /// The end of a run whose step is too long for its smooth forces.
    fn too_long(&self, delta: f64) -> Option<(Status, String)> {
        let t = self.field.state.t;
        if let Some(step) = self.stiffness.refuses(self.settings.step) {
            let text = format!(
                "a step of {} s is too long for the stiffest spring or damper at t = {t}: take at most {step:.0e} s (--step), or the event-driven scheme",
                self.settings.step
            );
            return Some((Status::Failed, text));
        }
        if let Some(what) = self.field.undefined() {
            return Some((Status::Failed, format!("{what} has no finite value at t = {t}")));
        }
        let (state, far) = (&self.field.state, RUNAWAY * self.length);
        if state.q.iter().all(|q| q.abs() < far) && state.u.iter().all(|u| delta * u.abs() < far) {
            return None;
        }
        let text = format!(
            "at t = {t} the motion has grown beyond all bounds: a step of {delta} s is too long for it; take a shorter one (--step), or the event-driven scheme"
        );
        Some((Status::Failed, text))
    }

    /// How far every coordinate moved.
    fn range(&self) -> Vec<f64> {
        self.seen[1].iter().zip(&self.seen[0]).map(|(a, b)| a - b).collect()
    }

    /// Whether a contact is to rebound in this step.
    fn rebounds(&self) -> bool {
        self.w
            .impacts
            .iter()
            .zip(&self.restitution)
            .any(|(i, e)| *i && (e.normal > 0.0 || e.tangential > 0.0))
    }

    /// The system at the midpoint: positions moved by the old velocities, velocities under smooth forces.
    fn evaluate_midpoint(&mut self, delta: f64) -> Result<(), (Status, String)> {
        self.w.mean.copy_from_slice(&self.w.before.u);
        self.move_by(0.5 * delta);
        self.field.state.t += 0.5 * delta;
        self.w.z_rate.copy_from_slice(&self.field.eval.z_rate);
        axpy(0.5 * delta, &self.w.z_rate, &mut self.field.state.z);
        // an edge that is left within the step is no obstacle, and a flank that lets go does not pull
        self.field.forget();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.latch(state, discrete, eval, true);
        self.field.evaluate();
        for round in 0..2 {
            if round > 0 {
                for k in 0..self.field.dims.u {
                    self.field.state.u[k] = self.w.before.u[k] + 0.5 * delta * self.smooth(k);
                }
                self.field.evaluate();
            }
            if !self.solve_smooth() {
                return Err((Status::Failed, "the mass matrix is singular".to_string()));
            }
        }
        if self.out.counts.steps.is_multiple_of(EVERY) {
            self.feel_stiffness(self.settings.step);
        }
        for k in 0..self.field.dims.u {
            self.w.free[k] = self.w.before.u[k] + delta * self.smooth(k);
        }
        Ok(())
    }

    /// u̇ under smooth forces, bilateral contacts and pins kept, at the present evaluation.
    fn solve_smooth(&mut self) -> bool {
        std::mem::swap(&mut self.field.discrete.modes, &mut self.w.smooth);
        std::mem::swap(&mut self.field.forces, &mut self.w.smooth_forces);
        let solved = self.field.solve();
        std::mem::swap(&mut self.field.forces, &mut self.w.smooth_forces);
        std::mem::swap(&mut self.field.discrete.modes, &mut self.w.smooth);
        solved
    }

    /// Acceleration of the smooth motion.
    fn smooth(&self, k: usize) -> f64 {
        self.w.smooth_forces.accel[k]
    }

    /// Positions along `w.mean` for `delta`.
    fn move_by(&mut self, delta: f64) {
        let Work { mean, displacement, .. } = &mut self.w;
        displacement.clear();
        displacement.extend(mean.iter().map(|u| delta * u));
        self.field.sys.move_by(&mut self.field.state.q, displacement);
    }
}

/// Whether the cone solver knows the friction of every contact.
fn known_laws<S: System + ?Sized>(sys: &S, start: &State) -> Result<(), ContactError> {
    let mut eval = sys.memory();
    sys.evaluate(start, &Discrete::new(&sys.dims()), &mut eval);
    let strange = |(i, c): (usize, &ContactInfo)| {
        let known = match eval.section(i) {
            Section::Round => c.tangent.len() < 3,
            Section::Ellipse(_) => c.is_unilateral(),
            _ => false,
        };
        (c.friction && !known).then(|| c.name.clone())
    };
    match sys.contacts().iter().enumerate().find_map(strange) {
        Some(name) => Err(ContactError::Stepping(name)),
        None => Ok(()),
    }
}
