//! From one event to the next: lengths of steps, steps tried, steps taken.

use std::sync::atomic::Ordering;

use crate::linalg::max_abs;
use crate::ode::{Trial, Verdict};
use crate::system::{Direction, Mode, Normal, System};

use super::event_driven::Run;
use super::field::Field;
use super::settings::{Outside, interrupted};
use super::sink::Delivery;
use super::tolerances::{
    FIRST_STEP, LEAST_ENERGY, LEAST_MASS, LEAST_POSITION, LEAST_SPEED, MOMENT, SHRUNK, SPEED_NOISE,
};
use super::trajectory::Status;
use super::watch::{Stand, What};

/// Numbers beyond this have squares that are none: energies and the audit would have no value.
const BEYOND_ALL: f64 = 1e150;

/// Halvings of one step for the sake of its event functions.
const BLIND: usize = 6;

/// A step of fewer shortest ones has fallen to nothing.
const COLLAPSED: f64 = 1e3;

/// How a segment ends.
pub(super) enum Flow {
    /// Events are in `locator.found`; the state stands at the instant.
    Event,
    /// The run ends.
    End(Status, String),
}

/// What became of a step that was tried.
enum Tried {
    /// It is good; the argument is the length proposed for the next.
    Good(f64),
    /// Another length is to be tried.
    Again,
    /// The segment ends.
    End(Flow),
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Integrate to the next event or the end.
    pub(super) fn segment(&mut self, outside: &mut Outside<'_>, delivery: &mut Delivery<'_>) -> Flow {
        if let Some(end) = self.enter_segment() {
            return end;
        }
        let mut blind = 0;
        loop {
            if outside.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
                return Flow::End(Status::Interrupted, interrupted(self.ode.time()));
            }
            if let Some(progress) = outside.progress.as_mut() {
                progress(self.ode.time());
            }
            delivery.step(&mut self.out);
            let h = match self.next_length() {
                Ok(h) => h,
                Err(end) => return end,
            };
            let next = match self.try_step(h, &mut blind) {
                Tried::Good(next) => next,
                Tried::Again => continue,
                Tried::End(end) => return end,
            };
            if let Some(end) = self.take_step(h, next) {
                return end;
            }
        }
    }

    /// The modes are new: watches, rates at the start, length of the first step.
    fn enter_segment(&mut self) -> Option<Flow> {
        let field = &mut self.field;
        field.see();
        let Field { watches, info, discrete, fixed, frozen, sys, dims, .. } = field;
        watches.rebuild(info, discrete, fixed.small(), frozen, sys.directions(), dims.guards);
        let t = field.state.t;
        if !self.ode.start(t, &self.x, field) {
            return Some(Flow::End(
                Status::Failed,
                format!("no accelerations at t = {t}: the constraints contradict each other"),
            ));
        }
        if let Some(v) = &mut self.variation {
            v.enter(&self.field);
        }
        self.arm(Stand::Fresh);
        // what has just fired must first come back from the far side; which side that is, rounding cannot tell yet
        let Run { field, fired, .. } = self;
        let directions = field.sys.directions();
        for w in &mut field.watches.list {
            if let What::Crossing(k, factor) = &mut w.what
                && fired.contains(k)
            {
                w.armed = false;
                if directions[*k] == Direction::Both {
                    *factor = 0.0;
                }
            }
        }
        fired.clear();
        self.control.restart();
        self.look_anew();
        self.first_step();
        None
    }

    /// Length of the next step; the end of the run instead, when it is reached or nothing leads on.
    fn next_length(&mut self) -> Result<f64, Flow> {
        let t = self.ode.time();
        let halfway = self.halfway(t);
        if self.passage.lost {
            return Err(Flow::End(Status::Indeterminate, self.undecided()));
        }
        let remaining = self.settings.until - t;
        let smallest = self.smallest(t);
        if self.pending.as_ref().is_some_and(|p| p.end - t <= smallest) {
            self.log_pending();
        }
        if remaining <= smallest {
            return Err(Flow::End(Status::Finished, String::new()));
        }
        if self.out.counts.steps >= self.settings.max_steps {
            let most = self.settings.max_steps;
            let message = format!("more than {most} steps at t = {t}; raise max_steps or the tolerance");
            return Err(Flow::End(Status::Failed, message));
        }
        let mut h = self.h.min(self.settings.longest_step).min(halfway).min(self.swing());
        if remaining < 1.05 * h {
            h = remaining;
        }
        h = h.min(self.field.watches.release(t + smallest) - t);
        h = h.min(self.pending.as_ref().map_or(f64::INFINITY, |p| p.end - t));
        if h > smallest {
            return Ok(h);
        }
        if self.let_slide() {
            return match self.enter_segment() {
                Some(end) => Err(end),
                None => self.next_length(),
            };
        }
        Err(self.collapse(h))
    }

    /// Try a step of length `h`; `blind` counts how often it was halved for the sake of its event functions.
    fn try_step(&mut self, h: f64, blind: &mut usize) -> Tried {
        self.field.moment = MOMENT * h;
        if self.field.watches.singular {
            self.field.chart.refine(h);
        }
        if !self.ode.attempt(h, &self.control, &mut self.field) {
            self.beyond = self.field.undefined().map(|what| (what, self.time()));
            self.control.refuse();
            self.out.counts.rejected += 1;
            self.h = if self.enter_branch(h) { h } else { 0.25 * h };
            return Tried::Again;
        }
        self.set_floors(h);
        let next = match self.control.judge(&self.ode) {
            Verdict::Accept(next) => next,
            Verdict::Reject(next) => {
                self.control.measure(&self.ode, next, &mut self.field);
                self.out.counts.rejected += 1;
                self.h = if self.enter_branch(h) { h } else { next };
                if self.h < SHRUNK * self.longest && self.ends_here() {
                    return Tried::End(self.collapse(self.h));
                }
                return Tried::Again;
            }
        };
        // the step follows fast event functions as it follows errors, with their fifth power
        let blur = self.blur();
        let clear = if blur > 0.0 { h * (0.9 * blur.powf(-0.2)).max(0.1) } else { f64::INFINITY };
        if *blind < BLIND && blur > 1.0 {
            *blind += 1;
            self.out.counts.rejected += 1;
            self.h = clear;
            return Tried::Again;
        }
        // a function that no length resolves is rounding
        let next = if *blind < BLIND { next.min(clear.max(0.2 * h)) } else { next };
        *blind = 0;
        Tried::Good(next)
    }

    /// The step tried last is good: take it to its end or to the first event in it. The end of the segment, if that is reached.
    fn take_step(&mut self, h: f64, next: f64) -> Option<Flow> {
        let mut disturbed = false;
        if self.ends_near_change_point(h, &mut disturbed) || !self.stays_on_branch(&mut disturbed) {
            return None;
        }
        if self.locator.search(&mut self.field, &mut self.ode, &mut disturbed) {
            if self.mistaken_event(h) {
                return None;
            }
            let (t, theta) = (self.ode.time(), self.locator.found.theta);
            if theta * h > self.smallest(t) {
                self.record_between(theta);
                self.shorten(theta, h);
                self.commit(false);
            } else {
                self.field.at(t, self.ode.state());
            }
            return Some(Flow::Event);
        }
        // after an event all is measured anew where it matters
        disturbed |= self.control.measure(&self.ode, next, &mut self.field);
        disturbed |= self.record_between(1.0);
        if disturbed {
            self.stand_at_end();
        }
        self.commit(true);
        if self.field.spatial {
            self.note_creep();
        }
        self.h = next;
        if let Some(what) = self.field.undefined() {
            let t = self.time();
            return Some(Flow::End(Status::Failed, format!("{what} has no finite value at t = {t}")));
        }
        if let Some(c) = self.field.lies_flat() {
            let (t, name) = (self.time(), &self.field.info[c].name);
            self.out.flat_rim = Some(c);
            return Some(Flow::End(
                Status::Indeterminate,
                format!(
                    "the rim of `{name}` lies flat on its plane at t = {t}: it touches all around, and one point cannot carry what a ring does; \
                     end the run before with an event, or let a cylinder touch (`[[touch]]`, time steps)"
                ),
            ));
        }
        if max_abs(&self.field.state.q).max(max_abs(&self.field.state.u)) > BEYOND_ALL {
            let t = self.time();
            return Some(Flow::End(
                Status::Failed,
                format!("the motion has grown beyond all measure at t = {t}"),
            ));
        }
        self.passage.natural = h.max(0.95 * self.passage.natural);
        if next < 0.9 * h {
            self.enter_branch(h);
        }
        None
    }

    /// How badly the samples of the step tried last tell the event functions; what looks bad may be rounding of a switch.
    fn blur(&mut self) -> f64 {
        let blur = self.locator.blur(&self.field, &self.ode);
        if !(blur > 1.0) {
            return blur;
        }
        self.field.measure_guards(self.ode.step());
        let blur = self.locator.blur(&self.field, &self.ode);
        self.field.watches.scales.guard_rounding.fill(0.0);
        blur
    }

    /// The longest step so far; before there was one, a part of the run.
    pub(super) fn usual_step(&self) -> f64 {
        if self.longest > 0.0 { self.longest } else { FIRST_STEP * self.settings.until }
    }

    /// The shortest step from `t` that is one.
    fn smallest(&self, t: f64) -> f64 {
        8.0 * f64::EPSILON * t.abs().max(1e-3 * self.settings.until.abs())
    }

    /// Length of the first step of a segment: as before, but not much longer than the flight of a contact that just opened. What moves below
    /// it may lengthen the flight: a step that ends short of the impact costs another one.
    fn first_step(&mut self) {
        let t = self.ode.time();
        let remaining = self.settings.until - t;
        let smallest = self.smallest(t);
        // lengths that fell to nothing before an impact without collision say nothing of what comes after it
        if !self.h.is_finite() || self.h < COLLAPSED * smallest {
            self.set_floors(FIRST_STEP * remaining);
            self.h = self.control.first_step(&self.ode, FIRST_STEP * remaining);
        }
        let field = &self.field;
        for (i, c) in field.info.iter().enumerate() {
            if let Normal::Unilateral { row } = c.normal
                && field.discrete.modes[i] == Mode::Open
            {
                let u = &field.state.u;
                let (gap, rate, accel) = (
                    field.eval.gap[row],
                    field.eval.rate(row, u),
                    field.eval.accel(row, &field.forces.accel),
                );
                let flight = -2.0 * rate / accel;
                // a flight too short for a step is rounding of a contact at rest, which the gap itself will tell
                if rate > 0.0 && accel < 0.0 && gap.abs() <= 0.1 * rate * rate / -accel && flight > smallest {
                    self.h = self.h.min(2.0 * flight);
                }
            }
        }
    }

    /// Sizes below which differences are rounding: of lengths, of the velocity that the forces, each by itself, give in a step, of energy.
    fn set_floors(&mut self, h: f64) {
        let field = &self.field;
        let lambda = &field.forces.lambda;
        let contacts = &mut self.reach;
        contacts.clear();
        contacts.resize(field.dims.u, 0.0);
        for (r, l) in lambda.iter().enumerate().filter(|(_, l)| **l != 0.0) {
            field.eval.w.row(r).iter().for_each(|(k, w)| contacts[k] += (l * w).abs());
        }
        let largest = (0..field.dims.u).fold(0.0_f64, |m, i| m.max(field.eval.mass.diagonal(i)));
        let (mut free, mut power) = (0.0_f64, 0.0);
        for i in 0..field.dims.u {
            let mass = field.eval.mass.diagonal(i).max(LEAST_MASS * largest).max(f64::MIN_POSITIVE);
            let a = field.eval.h[i].abs() / mass;
            free = free.max(a + contacts[i] / mass);
            power += field.eval.h[i].abs() * (field.state.u[i].abs() + h * a);
        }
        self.control.set_floor(0, LEAST_POSITION * self.length);
        self.control.set_floor(1, LEAST_SPEED * h * free);
        self.velocity_rounding = SPEED_NOISE * h * free;
        let energy = self.ledger.energy.scale.max(LEAST_ENERGY * h * power);
        self.control.set_floor(2 + field.dims.z, energy);
    }
}
