//! Event-driven simulation (PG-6-EVENT): smooth integration with frozen modes, exact location of the first event, a
//! decision at the instant, and so on.
//!
//! ```text
//! start     classify contacts, impact if some approach, transition problem → modes
//! segment   smooth integration with frozen modes, explicit or implicit ([`Method`]); every step is searched for the first fall of an event function ([`watch`])
//! shorten   the step is repeated with the length found on the dense output and corrected until the event function vanishes
//! instant   flips, impacts, new modes, user events ([`instant`])
//! ```
//!
//! Tolerance: the local error per step is kept below `Settings::tolerance`, relative to the size of each
//! component. Event times carry the error of the step, not that of the dense output. Ends: see [`Status`]. Never hangs:
//! steps, events and events per instant are bounded, and the message says which bound was met and where.
//!
//! [`watch`]: super::watch
//! [`instant`]: super::instant

use std::sync::atomic::Ordering;

use crate::ode::{Control, Method, Trial, Verdict};
use crate::system::{self, Direction, Eval, Mode, Normal, State, System};

use super::audit::{self, Auditor};
use super::classify::Sets;
use super::decide::Decider;
use super::field::Field;
use super::instant::Tools;
use super::ledger::Ledger;
use super::locate::Locator;
use super::passage::Passage;
use super::project::Projector;
use super::record::Recorder;
use super::settings::{Outside, Record, Settings, interrupted};
use super::settling::Pending;
use super::sink::{Delivery, Sink};
use super::start::{self, StartError};
use super::tolerances::{
    DRIFT, FIRST_STEP, JUST, LEAST_ENERGY, LEAST_MASS, LEAST_POSITION, LEAST_SPEED, MOMENT, NEARLY_SINGULAR,
    POSITION_NOISE, PROJECTED, SHRUNK, SPEED_NOISE,
};
use super::trajectory::{Family, Point, Samples, Status, Trajectory};
use super::variation::{Seed, Variation};
use super::watch::What;
use super::zeno::Zeno;

/// Simulate `sys` from the consistent state `start`. `Err` only when the start is not consistent or a setting is wrong;
/// everything that happens later is data.
pub fn event_driven<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
) -> Result<Trajectory, StartError> {
    event_driven_into(sys, start, settings, outside, None)
}

/// The same with derivatives along `seeds` through all events, in [`Trajectory::derivatives`]; with `rows` those of the outputs at all
/// rows, too.
///
/// # Errors
///
/// As [`event_driven`].
pub fn event_driven_along<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    seeds: &[Seed],
    rows: bool,
) -> Result<Trajectory, StartError> {
    let variation = Variation::new(sys, seeds, settings, rows);
    simulate(sys, start, settings, outside, None, Some(Box::new(variation)))
}

/// The same; rows and events go to `sink` as they come, and only a part of them stays in the trajectory.
///
/// # Errors
///
/// As [`event_driven`].
pub fn event_driven_into<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    sink: Option<&mut dyn Sink>,
) -> Result<Trajectory, StartError> {
    simulate(sys, start, settings, outside, sink, None)
}

fn simulate<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &mut Outside<'_>,
    sink: Option<&mut dyn Sink>,
    variation: Option<Box<Variation>>,
) -> Result<Trajectory, StartError> {
    let mut delivery = Delivery::new(sink);
    if let Some(problem) = settings.problem() {
        return Err(StartError::Settings(problem));
    }
    if sys.touching().is_some() {
        let text = "bodies that touch wherever they meet ([[touch]]) need time steps: write  [run] scheme = \"step\"";
        return Err(StartError::Settings(text.into()));
    }
    let mut run = Run::new(sys, start.clone(), settings)?;
    run.variation = variation;
    let end = match run.begin()? {
        Some(end) => end,
        None => loop {
            let flow = match run.segment(outside, &mut delivery) {
                Flow::Event => run.instant().or_else(|| run.enough()),
                Flow::End(status, message) => Some((status, message)),
            };
            delivery.step(&mut run.out);
            if let Some(end) = flow {
                break end;
            }
        },
    };
    delivery.end(&mut run.out);
    Ok(run.finish(end))
}

/// Halvings of one step for the sake of its event functions.
const BLIND: usize = 6;

/// How a run ends: status and reason.
pub(crate) type End = (Status, String);

enum Flow {
    /// Events are in `locator.found`; the state stands at the instant.
    Event,
    End(Status, String),
}

/// Everything that changes during a run.
pub(crate) struct Run<'a, S: System + ?Sized> {
    pub field: Field<'a, S>,
    pub settings: &'a Settings,
    pub x: Vec<f64>,
    pub ode: Method,
    pub control: Control,
    pub h: f64,
    /// The longest step so far.
    pub longest: f64,
    pub locator: Locator,
    pub projector: Projector,
    pub zeno: Zeno,
    /// A completed series of impacts whose end is still to come.
    pub pending: Option<Pending>,
    pub ledger: Ledger,
    pub auditor: Auditor,
    pub decider: Decider,
    pub sets: Sets,
    pub tools: Tools,
    pub out: Trajectory,
    pub point: Point,
    pub forces: system::Forces,
    pub impulses: system::Forces,
    pub length: f64,
    /// Events at (numerically) the same time so far, and that time.
    pub crowd: (f64, usize),
    /// User crossings that fired at the present instant.
    pub fired: Vec<usize>,
    pub dense: Vec<f64>,
    pub recorder: Recorder,
    /// Σ |w λ| per velocity.
    reach: Vec<f64>,
    /// Velocities below this are rounding of the forces in one step.
    velocity_rounding: f64,
    /// A formula that ends, and when: seen in the step that failed last.
    beyond: Option<(String, f64)>,
    /// A state beside the present one, and the system there.
    beside: (State, Eval),
    pub passage: Passage,
    /// Derivatives, when asked for.
    pub variation: Option<Box<Variation>>,
}

impl<'a, S: System + ?Sized> Run<'a, S> {
    fn new(sys: &'a S, start: State, settings: &'a Settings) -> Result<Self, StartError> {
        start::check_sizes(sys, &start)?;
        crate::contact::check(sys.contacts()).map_err(|e| StartError::Settings(e.to_string()))?;
        let mut field = Field::new(sys, start);
        let length = sys.length_scale().max(f64::MIN_POSITIVE);
        field.watch_all();
        let (d, n) = (field.dims, field.size());
        let tail = field.tail();
        // states have units of their own
        let mut groups = vec![0..d.q, d.q..d.q + d.u];
        groups.extend((d.q + d.u..tail).map(|k| k..k + 1));
        groups.push(tail..n);
        let outputs = sys.output_count();
        let point = Point {
            gap: vec![0.0; d.contacts],
            slip: vec![0.0; d.contacts],
            outputs: vec![0.0; outputs],
            ..Default::default()
        };
        let out = Trajectory { samples: Samples::new(d, sys.contacts(), outputs), ..Default::default() };
        Ok(Run {
            x: vec![0.0; n],
            ode: Method::new(n, tail, settings.method),
            control: Control::new(settings.tolerance, groups),
            h: f64::INFINITY,
            longest: 0.0,
            locator: Locator::default(),
            projector: Projector::default(),
            zeno: Zeno::new(d.contacts),
            pending: None,
            ledger: Ledger::default(),
            auditor: Auditor::new(length),
            decider: Decider::new(),
            sets: Sets::default(),
            tools: Tools::default(),
            out,
            point,
            forces: system::Forces::new(&d),
            impulses: system::Forces::new(&d),
            length,
            crowd: (f64::NEG_INFINITY, 0),
            fired: Vec::new(),
            dense: vec![0.0; n],
            recorder: Recorder::new(&settings.record, field.state.t, settings.until),
            reach: Vec::new(),
            velocity_rounding: 0.0,
            beyond: None,
            beside: (State::default(), sys.memory()),
            passage: Passage::default(),
            variation: None,
            field,
            settings,
        })
    }

    pub(super) fn time(&self) -> f64 {
        self.field.state.t
    }

    /// Latches, modes and forces at the start.
    fn begin(&mut self) -> Result<Option<End>, StartError> {
        start::classify(&mut self.field, &mut self.sets)?;
        self.field.moment = FIRST_STEP * MOMENT * (self.settings.until - self.time()).abs();
        self.ledger.start(self.field.dims.contacts, &self.field.eval);
        self.start_on_branch()?;
        self.field.pack(&mut self.x);
        let end = self.first_instant();
        Ok(end.or_else(|| self.rests_undecided()))
    }

    /// The end of a run that was asked for so many events.
    fn enough(&self) -> Option<End> {
        let count = self.out.counts.all_events();
        (count >= self.settings.stop_after).then(|| (Status::Stopped, format!("{count} events")))
    }

    /// Integrate to the next event or the end.
    fn segment(&mut self, outside: &mut Outside<'_>, delivery: &mut Delivery<'_>) -> Flow {
        let field = &mut self.field;
        field.see();
        let Field { watches, info, discrete, fixed, frozen, sys, dims, .. } = field;
        watches.rebuild(info, discrete, fixed.small(), frozen, sys.directions(), dims.guards);
        let t = field.state.t;
        if !self.ode.start(t, &self.x, field) {
            return Flow::End(
                Status::Failed,
                format!("no accelerations at t = {t}: the constraints contradict each other"),
            );
        }
        if let Some(v) = &mut self.variation {
            v.enter(&self.field);
        }
        self.arm(true);
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
        let mut blind = 0;
        loop {
            if outside.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
                return Flow::End(Status::Interrupted, interrupted(self.ode.time()));
            }
            if let Some(progress) = outside.progress.as_mut() {
                progress(self.ode.time());
            }
            delivery.step(&mut self.out);
            let t = self.ode.time();
            let halfway = self.halfway(t);
            if self.passage.lost {
                return Flow::End(Status::Indeterminate, self.undecided());
            }
            let remaining = self.settings.until - t;
            let smallest = self.smallest(t);
            if self.pending.as_ref().is_some_and(|p| p.end - t <= smallest) {
                self.log_pending();
            }
            if remaining <= smallest {
                return Flow::End(Status::Finished, String::new());
            }
            if self.out.counts.steps >= self.settings.max_steps {
                let message = format!(
                    "more than {} steps at t = {t}; raise max_steps or the tolerance",
                    self.settings.max_steps
                );
                return Flow::End(Status::Failed, message);
            }
            let mut h = self.h.min(self.settings.longest_step).min(halfway).min(self.swing());
            if remaining < 1.05 * h {
                h = remaining;
            }
            h = h.min(self.field.watches.release(t + smallest) - t);
            h = h.min(self.pending.as_ref().map_or(f64::INFINITY, |p| p.end - t));
            if !(h > smallest) {
                return self.collapse(h);
            }
            self.field.moment = MOMENT * h;
            if self.field.watches.singular {
                self.field.chart.refine(h);
            }
            if !self.ode.attempt(h, &self.control, &mut self.field) {
                self.beyond = self.field.undefined().map(|what| (what, self.time()));
                self.control.refuse();
                self.out.counts.rejected += 1;
                self.h = if self.enter_branch(h) { h } else { 0.25 * h };
                continue;
            }
            self.set_floors(h);
            let next = match self.control.judge(&self.ode) {
                Verdict::Accept(next) => next,
                Verdict::Reject(next) => {
                    self.control.measure(&self.ode, next, &mut self.field);
                    self.out.counts.rejected += 1;
                    self.h = if self.enter_branch(h) { h } else { next };
                    if self.h < SHRUNK * self.longest && self.ends_here() {
                        return self.collapse(self.h);
                    }
                    continue;
                }
            };
            // the step follows fast event functions as it follows errors, with their fifth power
            let blur = self.blur();
            let clear = h * (0.9 * blur.powf(-0.2)).max(0.1);
            if blind < BLIND && blur > 1.0 {
                blind += 1;
                self.out.counts.rejected += 1;
                self.h = clear;
                continue;
            }
            // a function that no length resolves is rounding
            let next = if blind < BLIND { next.min(clear.max(0.2 * h)) } else { next };
            blind = 0;
            let mut disturbed = self.control.measure(&self.ode, next, &mut self.field);
            if self.ends_near_change_point(h, &mut disturbed) || !self.stays_on_branch(&mut disturbed) {
                continue;
            }
            if self.locator.search(&mut self.field, &mut self.ode, &mut disturbed) {
                if self.mistaken_event(h) {
                    continue;
                }
                let theta = self.locator.found.theta;
                if theta * h > smallest {
                    self.record_between(theta);
                    self.shorten(theta, h);
                    self.commit(false);
                } else {
                    self.field.at(t, self.ode.state());
                }
                return Flow::Event;
            }
            disturbed |= self.record_between(1.0);
            if disturbed {
                self.stand_at_end();
            }
            self.commit(true);
            self.h = next;
            if let Some(what) = self.field.undefined() {
                let t = self.time();
                return Flow::End(Status::Failed, format!("{what} has no finite value at t = {t}"));
            }
            self.passage.natural = h.max(0.95 * self.passage.natural);
            if next < 0.9 * h {
                self.enter_branch(h);
            }
        }
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

    /// Length of the first step of a segment: as before, but not longer than the flight of a contact that just opened.
    fn first_step(&mut self) {
        let t = self.ode.time();
        let remaining = self.settings.until - t;
        let smallest = self.smallest(t);
        if !self.h.is_finite() {
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
                let flight = -2.5 * rate / accel;
                // a flight too short for a step is rounding of a contact at rest, which the gap itself will tell
                if rate > 0.0 && accel < 0.0 && gap.abs() <= 0.1 * rate * rate / -accel && flight > smallest {
                    self.h = self.h.min(flight);
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

    pub(super) fn stand_at_end(&mut self) {
        let end = self.ode.time() + self.ode.step();
        self.dense.copy_from_slice(self.ode.end());
        self.field.at(end, &self.dense);
    }

    /// Take the step tried last. The field stands at its end.
    fn commit(&mut self, record: bool) {
        self.beyond = None;
        let h = self.ode.step();
        let Field { eval, state, forces, .. } = &self.field;
        self.ledger.step(eval, state, &forces.lambda, h, self.ode.error());
        if let Some(v) = &mut self.variation {
            v.advance(&self.field, &self.ode, self.ode.time() + h);
        }
        self.longest = self.longest.max(h);
        self.out.counts.steps += 1;
        self.out.counts.implicit += u64::from(self.ode.is_implicit());
        self.ode.advance();
        self.ode.choose(h, &self.control);
        self.x.copy_from_slice(self.ode.state());
        self.field.watches.shift();
        self.field.keep_contours();
        let t = self.ode.time();
        if self.field.chart.active {
            self.field.pack(&mut self.x);
            self.ode.start(t, &self.x, &mut self.field);
            self.after_step_on_branch();
            self.after_commit(record);
            return;
        }
        if self.field.sys.restore(&mut self.field.state.q) {
            self.field.pack(&mut self.x);
            self.ode.correct(t, &self.x, &mut self.field);
        }
        let (position, velocity) = self.projector.drift(&self.field);
        let speed = self.field.state.u.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        if position > DRIFT || velocity > DRIFT * speed {
            self.projector.project(&mut self.field, PROJECTED);
            self.field.pack(&mut self.x);
            self.ode.correct(t, &self.x, &mut self.field);
        }
        self.after_commit(record);
    }

    fn after_commit(&mut self, record: bool) {
        self.arm(false);
        self.book();
        if record && self.settings.record == Record::Steps {
            self.record(false);
        }
    }

    fn arm(&mut self, fresh: bool) {
        self.judge_crossings();
        let Field { watches, info, eval, state, forces, .. } = &mut self.field;
        watches.arm(info, eval, state, forces, fresh);
    }

    /// What rounding of the state makes of the user's event functions: at rest velocities are nothing else.
    fn judge_crossings(&mut self) {
        if self.field.dims.crossings == 0 {
            return;
        }
        let field = &mut self.field;
        let (state, eval) = &mut self.beside;
        state.clone_from(&field.state);
        // unequal weights, so that differences do not cancel
        let weight = |i: usize| 1.0 + (0.618_033_988_75 * i as f64).fract();
        state.q.iter_mut().enumerate().for_each(|(i, q)| *q += POSITION_NOISE * self.length * weight(i));
        state.u.iter_mut().enumerate().for_each(|(i, u)| *u += self.velocity_rounding * weight(i));
        field.sys.evaluate(state, &field.discrete, eval);
        let change = eval.crossings.iter().zip(&field.eval.crossings).map(|(a, b)| (a - b).abs());
        for (rounding, change) in field.watches.scales.crossing_rounding.iter_mut().zip(change) {
            *rounding = if change.is_finite() { change } else { 0.0 };
        }
    }

    /// Ledger and audit at the present point.
    pub(super) fn book(&mut self) {
        let tail = self.field.tail();
        self.ledger.update(&self.field.eval, &self.x[tail..]);
        let field = &self.field;
        self.ledger.grant(&field.eval, &field.state.q, &field.forces.lambda, self.length);
        self.auditor.check(field.state.t, field.info, &field.eval, &field.discrete.modes, &field.forces);
        self.auditor.sliding(field.info, &field.eval, &field.discrete.modes, &field.forces);
        self.auditor.energy(&self.ledger.energy);
    }

    /// Whether the geometry ends at the present point: what is behind it has no value.
    fn ends_here(&mut self) -> bool {
        let t = self.ode.time();
        self.x.copy_from_slice(self.ode.state());
        self.field.at(t, &self.x) && self.field.lost_ahead(JUST * self.longest).is_some()
    }

    /// The step size fell to nothing.
    fn collapse(&mut self, h: f64) -> Flow {
        let t = self.ode.time();
        self.x.copy_from_slice(self.ode.state());
        self.field.at(t, &self.x);
        if let Some((what, end)) = self.beyond.take() {
            let message = format!("{what} has no finite value from t = {} on", end.max(t));
            return Flow::End(Status::Failed, message);
        }
        let singular = self.field.watches.list.iter().position(|w| w.what == What::Singular);
        if let Some(k) = singular
            && self.field.nearness() < NEARLY_SINGULAR
        {
            self.locator.found.theta = 0.0;
            self.locator.found.watches.clear();
            self.locator.found.watches.push(k);
            return Flow::Event;
        }
        if self.field.chart.active {
            return Flow::End(Status::Indeterminate, self.undecided());
        }
        let message = match self.field.lost_ahead(self.usual_step()) {
            Some(what) => format!(
                "{what} has no value a little further than at t = {t}: the geometry cannot close there"
            ),
            None => format!(
                "the step size fell to {h:.1e} s at t = {t}: the motion is singular or too stiff there"
            ),
        };
        Flow::End(Status::Failed, message)
    }

    /// What the laws leave open at the present state, where forces are not determined.
    fn last_family(&mut self) -> Option<Family> {
        if self.field.regularity.redundant == 0 && self.field.fixed.small().is_empty() {
            return None;
        }
        self.sets.remember(&self.field.discrete.modes);
        self.sets.fill(&self.field, false);
        let Run { decider, field, sets, .. } = self;
        decider.set = decider.transition.solve(field.info, &field.eval, &sets.starts);
        decider.family(field)
    }

    fn finish(mut self, (status, message): End) -> Trajectory {
        self.fill_point();
        self.out.family = self.last_family();
        if let Some(v) = self.variation.take() {
            let events = self.out.counts.all_events() as usize;
            let moves = status == Status::Stopped;
            self.out.derivatives = Some(v.finish(&self.field, &self.impulses, events, moves));
        }
        let mut out = self.out;
        out.status = status;
        out.message = message;
        out.time = self.field.state.t;
        out.last = self.point;
        out.energy = self.ledger.energy;
        out.audit = self.auditor.audit;
        out.audit.judge(audit::LENGTH_BOUND, audit::ENERGY_BOUND, status);
        out.counts.evaluations = self.field.evaluations;
        out.counts.factorisations = self.field.fixed.factorisations() + self.ode.factorisations();
        out
    }
}
