//! Time-stepping after Moreau and Jean (METH-TIMESTEP): fixed steps Δ, any number of events inside a step, order 1.
//!
//! ```text
//! q_M = q + ½Δ Y u        active: g(q) + ½Δ min(γ_N, 0) ≤ 10⁻⁹ L, bilateral contacts and pins always
//! M u⁺ = M u + Δ h + Wᵀ Λ     at the midpoint;   0 ≤ γ⁺ + ε γ⁻ ⊥ Λ_N ≥ 0,   Coulomb on γ_T⁺ + ε_T γ_T⁻
//! q⁺ = q + Δ Y (θ u⁺ + (1−θ) u),      then positions are projected where they violate gaps ([`positions`])
//! ```
//!
//! The problem of a step is a cone problem ([`impulses`]) with the impulses of the step before as its start. Contacts slower
//! than `v_rest = 2Δ Σ_k |w_k| |u̇_k|` of the smooth motion count as persistent (ε = 0), which closes series of impacts; the
//! log says so with `accumulated`. Contacts without rebound that would close within the step take part with `γ⁺ + g/Δ ≥ 0`.
//! Smooth forces are explicit (midpoint). A step whose problem is not solved is halved, twice at most; then the run ends
//! with a sentence. Energy: `½u⁺Mu⁺ − ½u⁻Mu⁻ = Δ h·ū + Σ Λ·γ̄` is booked term by term; what the finite step leaves open
//! is the numerical part. A step allocates nothing while contacts and modes stay and nothing is recorded.

mod impulses;
mod log;
mod positions;
#[cfg(test)]
mod random_tests;

use std::sync::atomic::Ordering;

use crate::contact::Forces;
use crate::linalg::axpy;
use crate::system::{Mode, Normal, Restitution, State, System, Trigger};

use super::audit::Auditor;
use super::classify::Sets;
use super::field::Field;
use super::ledger::Ledger;
use super::settings::{Outside, Settings};
use super::start::{self, StartError};
use super::trajectory::{Samples, Status, Trajectory};
use impulses::{Ended, Impulses, Step};
use positions::Positions;

/// Bound of penetration, drift and energy in the audit of a run with fixed steps: these errors are of the order of the step.
pub const STEP_BOUND: f64 = 1e-2;
/// Warnings of a run.
const WARNINGS: usize = 20;
/// Coordinates and velocities beyond this are the explosion of an unstable step, in any units.
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
    crate::contact::check_loads(sys.contacts()).map_err(|e| StartError::Settings(e.to_string()))?;
    let mut s = Stepper::new(sys, start.clone(), settings);
    start::classify(&mut s.field, &mut s.sets)?;
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
    recorded: u64,
    w: Work,
}

/// Memory of one step.
#[derive(Default)]
struct Work {
    /// State and modes at the beginning.
    before: State,
    modes: Vec<Mode>,
    /// Modes and forces of the smooth motion: bilateral contacts and pins only.
    smooth: Vec<Mode>,
    smooth_forces: Forces,
    gaps: Vec<f64>,
    active: Vec<bool>,
    impacts: Vec<bool>,
    swallowed: Vec<usize>,
    rates: Vec<f64>,
    offset: Vec<f64>,
    momentum: Vec<f64>,
    free: Vec<f64>,
    mean: Vec<f64>,
    z_rate: Vec<f64>,
    tangential: Vec<f64>,
    work: Vec<f64>,
    q: Vec<f64>,
    q_rate: Vec<f64>,
    triggers: Vec<Trigger>,
}

impl<'a, S: System + ?Sized> Stepper<'a, S> {
    fn new(sys: &'a S, start: State, settings: &'a Settings) -> Self {
        let mut field = Field::new(sys, start);
        let length = sys.length_scale().max(f64::MIN_POSITIVE);
        field.watches.rebuild(field.info, &field.discrete, sys.directions(), field.dims.guards);
        let d = field.dims;
        let smooth = |n: &Normal| match n {
            Normal::Bilateral { .. } | Normal::Pin { .. } => Mode::Closed,
            _ => Mode::Open,
        };
        let w = Work {
            before: field.state.clone(),
            modes: vec![Mode::Open; d.contacts],
            smooth: field.info.iter().map(|c| smooth(&c.normal)).collect(),
            smooth_forces: field.forces.clone(),
            gaps: vec![0.0; d.rows],
            active: vec![true; d.contacts],
            impacts: vec![false; d.contacts],
            rates: vec![0.0; d.rows],
            offset: vec![0.0; d.rows],
            momentum: vec![0.0; d.u],
            free: vec![0.0; d.u],
            mean: vec![0.0; d.u],
            z_rate: vec![0.0; d.z],
            tangential: vec![0.0; d.contacts],
            work: vec![0.0; d.contacts],
            q: vec![0.0; d.q],
            q_rate: vec![0.0; d.q],
            ..Work::default()
        };
        Stepper {
            begin: field.state.t,
            settings,
            sets: Sets::default(),
            impulses: Impulses::new(&d),
            positions: Positions::new(&d),
            ledger: Ledger::default(),
            auditor: Auditor::new(length),
            out: Trajectory { samples: Samples::new(d, sys.output_count()), ..Default::default() },
            length,
            whole: 0,
            held_back: 0,
            said: String::new(),
            tail: vec![0.0; super::ledger::integrals(d.contacts)],
            restitution: vec![Restitution::default(); d.contacts],
            crossings: vec![0.0; d.crossings],
            slow: vec![false; d.contacts],
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
        self.ledger.start(self.field.dims.contacts, &self.field.eval);
        self.crossings.clone_from(&self.field.eval.crossings);
        self.out.start.point = self.point();
        self.record();
    }

    fn done(&self) -> bool {
        self.field.state.t >= self.settings.until - 1e-9 * self.settings.step
    }

    /// One step of the grid, in parts when it must be; the end of the run when there is one.
    fn step(&mut self) -> Option<(Status, String)> {
        let t = self.field.state.t;
        let next = (self.begin + (self.whole + 1) as f64 * self.settings.step).min(self.settings.until);
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
                    self.field.state.clone_from(&self.w.before);
                    self.field.evaluate();
                }
                Err((status, text)) => {
                    self.field.state.clone_from(&self.w.before);
                    let text = format!("step at t = {}: {text}", self.w.before.t);
                    return Some((status, text));
                }
            }
        }
        self.whole += 1;
        if parts > 1 {
            self.warn(format!(
                "the step at t = {t} was divided by {parts}: its contact problem was not solved"
            ));
        }
        self.record_if_due(next);
        None
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
        let t = self.field.state.t;
        let delta = next - t;
        self.w.before.clone_from(&self.field.state);
        self.w.modes.copy_from_slice(&self.field.discrete.modes);
        self.w.tangential.copy_from_slice(&self.field.forces.tangential);
        self.activate(delta);
        self.evaluate_midpoint(delta)?;
        self.pose(delta);

        let (dims, info) = (self.field.dims, self.field.info);
        let ended = self.impulses.solve(&Step {
            info,
            eval: &self.field.eval,
            delta,
            momentum: &self.w.momentum,
            offset: &self.w.offset,
            active: &self.w.active,
            policy: self.settings.several,
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
                        "{text}. Newton's law may have none for an impact with friction: take restitution 0, or the event-driven scheme with Poisson's law"
                    ),
                ));
            }
            Ended::Failed(status, text) => return Err((status, text)),
        }

        // velocities, positions, states
        let a = &self.impulses;
        self.field.discrete.modes.copy_from_slice(&a.modes);
        self.field.signs.copy_from_slice(&a.signs);
        let theta = self.settings.theta;
        for k in 0..dims.u {
            self.w.mean[k] = theta * a.u[k] + (1.0 - theta) * self.w.before.u[k];
        }
        self.w.z_rate.copy_from_slice(&self.field.eval.z_rate);
        // work of the smooth forces at the mean velocity, not at that of the smooth motion: contacts may hold the body
        for k in 0..dims.u {
            self.field.state.u[k] = 0.5 * (self.impulses.u[k] + self.w.before.u[k]);
        }
        self.field.evaluate();
        let power = self.field.eval.power;
        let drive = self.field.eval.drive_offset * delta;
        self.book();
        self.field.state.clone_from(&self.w.before);
        self.move_mid(delta);
        self.field.state.u.copy_from_slice(&self.impulses.u);
        axpy(delta, &self.w.z_rate, &mut self.field.state.z);
        self.field.state.t = next;
        self.tail[dims.contacts] += delta * power;
        self.tail[dims.contacts + 1] += drive;
        self.out.counts.steps += 1;

        // latches, projection
        self.field.evaluate();
        let Field { sys, state, discrete, eval, .. } = &mut self.field;
        sys.latch(state, discrete, eval, true);
        self.field.evaluate();
        self.positions.project(&mut self.field, &self.impulses.impulse, self.length);
        self.take_forces(next, delta);
        self.ledger.update(&self.field.eval, &self.tail);
        let f = &self.field;
        self.auditor.check(f.state.t, info, &f.eval, &f.discrete.modes, &f.forces);
        self.auditor.energy(&self.ledger.energy);
        if !self.field.state.u.iter().chain(&self.field.state.q).all(|x| x.abs() < RUNAWAY) {
            return Ok(Some((
                Status::Failed,
                format!(
                    "at t = {next} the motion has grown beyond all bounds: a step of {delta} s is too long for the stiffest spring or damper; take a shorter one (--step), or the event-driven scheme"
                ),
            )));
        }
        Ok(self.events())
    }

    /// Whether a contact is to rebound in this step.
    fn rebounds(&self) -> bool {
        self.w
            .impacts
            .iter()
            .zip(&self.restitution)
            .any(|(i, e)| *i && (e.normal > 0.0 || e.tangential > 0.0))
    }

    /// Contacts that take part, by gap and rate at the beginning of the step.
    fn activate(&mut self, delta: f64) {
        self.w.gaps.copy_from_slice(&self.field.eval.gap);
        for (i, c) in self.field.info.iter().enumerate() {
            self.w.active[i] = match c.normal {
                Normal::Unilateral { row } => {
                    let rate = self.field.eval.rate(row, &self.w.before.u);
                    self.field.eval.gap[row] + 0.5 * delta * rate.min(0.0)
                        <= 1e-9 * self.field.watches.scales.gap[row]
                }
                Normal::Given { row: Some(_) } => self.field.eval.load[i] > 0.0,
                _ => true,
            };
        }
    }

    /// The system at the midpoint: positions moved by the old velocities, velocities under smooth forces.
    fn evaluate_midpoint(&mut self, delta: f64) -> Result<(), (Status, String)> {
        self.w.mean.copy_from_slice(&self.w.before.u);
        self.move_by(0.5 * delta);
        self.field.state.t += 0.5 * delta;
        self.w.z_rate.copy_from_slice(&self.field.eval.z_rate);
        axpy(0.5 * delta, &self.w.z_rate, &mut self.field.state.z);
        self.field.evaluate();
        for round in 0..2 {
            if round > 0 {
                for k in 0..self.field.dims.u {
                    self.field.state.u[k] = self.w.before.u[k] + 0.5 * delta * self.smooth(k);
                }
                self.field.evaluate();
            }
            // u̇ under smooth forces, bilateral contacts and pins kept
            std::mem::swap(&mut self.field.discrete.modes, &mut self.w.smooth);
            std::mem::swap(&mut self.field.forces, &mut self.w.smooth_forces);
            let solved = self.field.solve();
            std::mem::swap(&mut self.field.forces, &mut self.w.smooth_forces);
            std::mem::swap(&mut self.field.discrete.modes, &mut self.w.smooth);
            if !solved {
                return Err((Status::Failed, "the mass matrix is singular".to_string()));
            }
        }
        for k in 0..self.field.dims.u {
            self.w.free[k] = self.w.before.u[k] + delta * self.smooth(k);
        }
        Ok(())
    }

    /// Acceleration of the smooth motion.
    fn smooth(&self, k: usize) -> f64 {
        self.w.smooth_forces.accel[k]
    }

    /// Momentum before the impulses, and the offsets β of all rows.
    fn pose(&mut self, delta: f64) {
        self.field.sys.restitution(&self.w.before, &self.field.discrete, &mut self.restitution);
        let (eval, w) = (&self.field.eval, &mut self.w);
        for k in 0..w.momentum.len() {
            w.momentum[k] = crate::linalg::dot(eval.mass.row(k), &w.before.u) + delta * eval.h[k];
        }
        for r in 0..w.rates.len() {
            w.rates[r] = eval.rate(r, &w.before.u);
            w.offset[r] = eval.rate_offset[r];
        }
        w.swallowed.clear();
        for (i, c) in self.field.info.iter().enumerate() {
            w.impacts[i] = false;
            let Normal::Unilateral { row } = c.normal else { continue };
            let parts = eval.w.row(row).iter().zip(&w.smooth_forces.accel);
            let rest = 2.0 * delta * parts.map(|(w, a)| (w * a).abs()).sum::<f64>();
            // a leaning tangent (friction tensor) is judged by the plain slip, wherever the normal ends with a velocity that is not zero
            let lean = eval.lean.get(i).copied().unwrap_or(0.0);
            if !w.active[i] {
                // speculative: it may just touch within the step, never before an impact that rebounds; its partner may be
                // held while it falls, so the whole acceleration of either counts
                let gentle = self.restitution[i].normal == 0.0 || w.rates[row].abs() < rest;
                let closing = eval.rate(row, &w.free).min(w.rates[row] - 0.5 * rest);
                if gentle && w.gaps[row] + delta * closing <= 0.0 {
                    w.active[i] = true;
                    w.offset[row] += w.gaps[row].max(0.0) / delta;
                    for &t in &c.tangent {
                        w.offset[t] += lean * w.gaps[row].max(0.0) / delta;
                    }
                }
                continue;
            }
            w.impacts[i] = w.rates[row] < -rest;
            if w.impacts[i] {
                let Restitution { normal, tangential, .. } = self.restitution[i];
                w.offset[row] += normal * w.rates[row];
                for &t in &c.tangent {
                    let slip = w.rates[t] - lean * w.rates[row];
                    w.offset[t] += tangential * slip + lean * normal * w.rates[row];
                }
                self.slow[i] = false;
            } else if self.restitution[i].normal > 0.0 && w.rates[row] < 0.0 && !self.slow[i] {
                self.slow[i] = true;
                w.swallowed.push(i);
            }
        }
    }

    /// Positions along `w.mean` for `delta`.
    fn move_by(&mut self, delta: f64) {
        let Field { sys, state, .. } = &mut self.field;
        std::mem::swap(&mut state.u, &mut self.w.mean);
        sys.q_rate(state, &mut self.w.q_rate);
        std::mem::swap(&mut state.u, &mut self.w.mean);
        axpy(delta, &self.w.q_rate, &mut state.q);
    }

    /// The same by the midpoint rule.
    fn move_mid(&mut self, delta: f64) {
        self.w.q.copy_from_slice(&self.field.state.q);
        self.move_by(0.5 * delta);
        let Field { sys, state, .. } = &mut self.field;
        std::mem::swap(&mut state.u, &mut self.w.mean);
        sys.q_rate(state, &mut self.w.q_rate);
        std::mem::swap(&mut state.u, &mut self.w.mean);
        state.q.copy_from_slice(&self.w.q);
        axpy(delta, &self.w.q_rate, &mut state.q);
    }

    /// Work of the impulses: normal parts and impacts as impact, sliding as friction.
    fn book(&mut self) {
        let (info, eval) = (self.field.info, &self.field.eval);
        let (impulse, u0, u1) = (&self.impulses.impulse, &self.w.before.u, &self.impulses.u);
        let n = info.len();
        let mean = |row: usize| match impulse[row] {
            0.0 => 0.0,
            l => 0.5 * l * (eval.rate(row, u0) + eval.rate(row, u1)),
        };
        for (i, c) in info.iter().enumerate() {
            let tangential: f64 = c.tangent.iter().map(|&r| mean(r)).sum();
            let normal: f64 = match c.normal {
                Normal::Unilateral { row } | Normal::Bilateral { row } => mean(row),
                Normal::Pin { rows } => rows.iter().map(|&r| mean(r)).sum(),
                Normal::Given { .. } => 0.0,
            };
            self.w.work[i] = 0.0;
            if self.w.impacts[i] {
                self.w.work[i] = normal + tangential;
                self.ledger.energy.impact[i] += normal + tangential;
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

    /// Forces, accelerations, time and rate of sticking.
    fn take_forces(&mut self, now: f64, delta: f64) {
        std::mem::swap(&mut self.field.forces, &mut self.impulses.forces);
        let f = &mut self.field.forces;
        for k in 0..f.accel.len() {
            f.accel[k] = (self.impulses.u[k] - self.w.before.u[k]) / delta;
        }
        let d = &mut self.field.discrete;
        for i in 0..d.modes.len() {
            if d.modes[i] != Mode::Stick {
                d.stick_since[i] = f64::NAN;
                d.load_rate[i] = 0.0;
                continue;
            }
            if d.stick_since[i].is_nan() {
                d.stick_since[i] = now;
            }
            // growth of |λ_T| since the last step, when it was sticking there too
            let rate = (f.tangential[i] - self.w.tangential[i]) / delta;
            let grows = if f.tangential[i] == 0.0 { rate.abs() } else { f.tangential[i].signum() * rate };
            d.load_rate[i] = if self.w.modes[i] == Mode::Stick { grows.max(0.0) } else { 0.0 };
        }
    }
}
