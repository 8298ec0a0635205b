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

use crate::ode::{Control, Method, Trial};
use crate::system::{self, Eval, State, System};

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
use super::segment::Flow;
use super::settings::{Outside, Record, Settings};
use super::settling::Pending;
use super::sink::{Delivery, Sink};
use super::start::{self, StartError};
use super::tolerances::{DRIFT, FIRST_STEP, JUST, MOMENT, NEARLY_SINGULAR, POSITION_NOISE, PROJECTED, SHARP};
use super::trajectory::{Family, KINDS, Point, Samples, Status, Trajectory};
use super::variation::{Seed, Variation};
use super::watch::{Stand, What};
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
    run.asked = delivery.asked();
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

/// How a run ends: status and reason.
pub(crate) type End = (Status, String);

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
    pub(super) reach: Vec<f64>,
    /// Velocities below this are rounding of the forces in one step.
    pub(super) velocity_rounding: f64,
    /// A formula that ends, and when: seen in the step that failed last.
    pub(super) beyond: Option<(String, f64)>,
    /// A state beside the present one, and the system there.
    beside: (State, Eval),
    pub passage: Passage,
    /// When contacts were let slide last, see [`super::unheld`].
    pub(super) unheld: f64,
    /// Steps in a row in which a slip was as small as errors.
    pub(super) creep: usize,
    /// Derivatives, when asked for.
    pub variation: Option<Box<Variation>>,
    /// Kinds of events that are made; others are counted.
    pub asked: [bool; KINDS.len()],
}

/// Local error of smooth arcs, see [`SHARP`].
fn arc_tolerance<S: System + ?Sized>(sys: &S, tolerance: f64) -> f64 {
    if sys.tumbles() { tolerance.min((SHARP[0] * tolerance).max(SHARP[1])) } else { tolerance }
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
            control: Control::new(arc_tolerance(sys, settings.tolerance), groups),
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
            unheld: f64::NAN,
            creep: 0,
            variation: None,
            asked: [true; KINDS.len()],
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

    pub(super) fn stand_at_end(&mut self) {
        let end = self.ode.time() + self.ode.step();
        self.dense.copy_from_slice(self.ode.end());
        self.field.at(end, &self.dense);
    }

    /// Take the step tried last. The field stands at its end; when no event ended it, the segment goes on.
    pub(super) fn commit(&mut self, goes_on: bool) {
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
            self.after_commit(goes_on);
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
        self.after_commit(goes_on);
    }

    fn after_commit(&mut self, goes_on: bool) {
        self.arm(if goes_on { Stand::Between } else { Stand::Event });
        self.book();
        if goes_on && self.settings.record == Record::Steps {
            self.record(false);
        }
    }

    pub(super) fn arm(&mut self, stand: Stand) {
        self.judge_crossings();
        let Field { watches, info, eval, state, forces, .. } = &mut self.field;
        watches.arm(info, eval, state, forces, stand);
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
        field.sys.evaluate_rates(state, &field.discrete, eval);
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
    pub(super) fn ends_here(&mut self) -> bool {
        let t = self.ode.time();
        self.x.copy_from_slice(self.ode.state());
        self.field.at(t, &self.x) && self.field.lost_ahead(JUST * self.longest).is_some()
    }

    /// The step size fell to nothing.
    pub(super) fn collapse(&mut self, h: f64) -> Flow {
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
        if self.field.spatial {
            return super::free_in_space::family(&self.field, &self.field.forces);
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
        out.audit.limit(self.settings.tolerance);
        out.audit.judge(audit::LENGTH_BOUND, audit::ENERGY_BOUND, status);
        out.counts.evaluations = self.field.evaluations;
        out.counts.factorisations = self.field.fixed.factorisations() + self.ode.factorisations();
        out
    }
}
