//! A model as a [`System`]: compiled tapes and the numeric assembly around them.
//!
//! One evaluation: fill the inputs, solve the contact parameters of curves, run the main tape with frozen switches, scatter.
//! What depends on parameters alone (often all of M and W) is computed once per parameter set and copied. M and h of
//! bodies are assembled from their Jacobian columns: M = Σ m J_SᵀJ_S + I J_RᵀJ_R, h = Σ J_Sᵀ m(g − j̄_S) − J_Rᵀ I j̄_R (3.11).

use std::sync::{Arc, Mutex};

use crate::contact::Reduced;
use crate::expr::{Table, Tape, Work};
use crate::system::{
    ContactInfo, Dims, Direction, Discrete, Eval, Instant, Mode, Restitution, State, System, Trigger,
};

use super::contour::ContourSolver;
use super::edges::WatchPlan;
use super::latches::Before;
use super::lean::Tensors;
use super::{Input, Model};

/// Where an input comes from during an evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Time,
    Q(usize),
    U(usize),
    Z(usize),
    Memory(usize),
    Direction(usize),
    StickTime(usize),
    LoadRate(usize),
}

/// Values of the main tape that go to one array: (place, output), split by whether they depend on the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Scatter {
    pub constant: Vec<(u32, u32)>,
    pub moving: Vec<(u32, u32)>,
}

impl Scatter {
    fn write(list: &[(u32, u32)], tape: &Tape, work: &Work, out: &mut [f64]) {
        for &(place, root) in list {
            out[place as usize] = tape.output(work, root as usize);
        }
    }

    fn add(list: &[(u32, u32)], tape: &Tape, work: &Work, out: &mut [f64]) {
        for &(place, root) in list {
            out[place as usize] += tape.output(work, root as usize);
        }
    }
}

/// A body with inertia, as outputs of the main tape.
#[derive(Clone, Debug)]
pub(super) struct BodyTerm {
    pub mass: u32,
    pub inertia: u32,
    pub columns: Vec<(u32, [u32; 3])>,
    pub load: [u32; 3],
    /// m j̃, I j̃_R when the body is driven.
    pub momentum: Option<[u32; 3]>,
    /// M is constant.
    pub constant_mass: bool,
    /// Its part of h is constant.
    pub constant_load: bool,
}

/// A guard: when it falls through zero the latch changes.
#[derive(Clone, Debug)]
pub(super) enum Guard {
    /// Sign switch.
    Sign { switch: usize },
    /// One border of a floor.
    Floor { switch: usize, up: bool },
    /// One border of a table cell.
    Cell { switch: usize, up: bool, table: Arc<Table> },
    /// End of a curve: −1 low, +1 high. Written by the contour solver.
    Contour { latch: usize, end: i32 },
    /// Hand-over of a watched edge to the previous or next one, see [`super::edges`].
    Watch { watch: usize, up: bool },
    /// Elastic flank: its present condition, and the gap of a released one.
    Flank { which: usize, outer: bool },
}

impl Guard {
    /// The switch behind it.
    fn switch(&self) -> Option<usize> {
        match self {
            Guard::Sign { switch } | Guard::Floor { switch, .. } | Guard::Cell { switch, .. } => {
                Some(*switch)
            }
            _ => None,
        }
    }
}

/// When the guard of a switch counts.
#[derive(Clone, Debug)]
pub(super) enum Relevance {
    Always,
    /// Only while one of these contacts slips; with `true` also while it sticks.
    Friction(Vec<(usize, bool)>),
}

/// An elastic flank, see [`super::contacts::Flank`].
#[derive(Clone, Debug)]
pub(super) struct FlankPlan {
    pub slot: usize,
    pub latch: usize,
    pub surface: Option<usize>,
    /// Contact of the system.
    pub contact: usize,
    pub away: u32,
    pub force: u32,
    pub gap: u32,
    pub gap_rate: u32,
    pub damped: bool,
}

/// Latch of a flank.
const AWAY: i32 = 0;
const PRESSING: i32 = 1;
const RELEASED: i32 = 2;

impl FlankPlan {
    /// What the latch becomes when a guard falls through zero.
    fn next(&self, latch: i32, outer: bool) -> i32 {
        match (latch, outer) {
            (AWAY, false) | (RELEASED, false) => PRESSING,
            (PRESSING, false) if self.damped && self.surface.is_none() => RELEASED,
            (_, false) | (RELEASED, true) => AWAY,
            _ => latch,
        }
    }

    fn guard(&self, latch: i32, outer: bool, value: impl Fn(u32) -> f64) -> f64 {
        match (latch, outer) {
            (AWAY, false) => value(self.away),
            (PRESSING, false) => value(self.force),
            (RELEASED, false) => -value(self.force),
            (RELEASED, true) => -value(self.gap),
            _ => f64::INFINITY,
        }
    }

    /// The latch that fits the values; at the border between two, the one to which it moves.
    fn fitting(&self, latch: i32, value: impl Fn(u32) -> f64) -> i32 {
        let (away, force) = (value(self.away), value(self.force));
        if self.surface.is_some() {
            // the surface follows the body, so only the force ends a contact; a surface never pulls
            return if force > 0.0 && (latch == PRESSING || away <= 0.0) { PRESSING } else { AWAY };
        }
        if away > 0.0 || (away == 0.0 && !(value(self.gap_rate) < 0.0)) {
            AWAY
        } else if force > 0.0 || !self.damped {
            PRESSING
        } else {
            RELEASED
        }
    }
}

/// Everything needed to evaluate a model.
#[derive(Clone, Debug)]
pub struct CompiledSystem {
    pub(super) model: Model,
    pub(super) dims: Dims,
    pub(super) contacts: Vec<ContactInfo>,
    pub(super) of_model: Vec<std::ops::Range<usize>>,
    pub(super) state_names: Vec<String>,
    pub(super) directions: Vec<Direction>,
    pub(super) event_names: Vec<String>,
    pub(super) output_names: Vec<String>,

    pub(super) inputs: Vec<Input>,
    pub(super) parameters: Vec<f64>,
    /// Inputs with the parameters in place.
    pub(super) base: Vec<f64>,
    pub(super) fill: Vec<(u32, Source)>,

    pub(super) main: Tape,
    pub(super) bodies: Vec<BodyTerm>,
    pub(super) mass: Scatter,
    pub(super) h: Scatter,
    pub(super) z_rate: Scatter,
    pub(super) w: Scatter,
    pub(super) gap: Scatter,
    pub(super) rate_offset: Scatter,
    pub(super) accel_offset: Scatter,
    pub(super) mu: Scatter,
    pub(super) mu_static: Scatter,
    pub(super) radius: Scatter,
    pub(super) load: Scatter,
    pub(super) load_static: Scatter,
    pub(super) load_terms: Scatter,
    pub(super) tensors: Tensors,
    pub(super) drive: Scatter,
    /// kinetic, potential, power, drive_offset.
    pub(super) energies: [u32; 4],
    /// Constant parts of every array.
    pub(super) image: Eval,

    pub(super) switch_count: usize,
    /// By input: whether it changes between events.
    pub(super) moving: Vec<bool>,
    /// D(argument) per switch, for latching at zero.
    pub(super) switch_rates: Tape,
    pub(super) guards: Vec<Guard>,
    pub(super) relevance: Vec<Relevance>,
    /// By switch: whether only event functions use it.
    pub(super) silent: Vec<bool>,
    /// (switch, contact, factor): the switch is the sign of the slip of a contact.
    pub(super) slip_switches: Vec<(usize, usize, f64)>,
    /// By switch: whether it is one of these.
    pub(super) is_slip: Vec<bool>,
    pub(super) contours: Vec<ContourSolver>,
    pub(super) watches: Vec<WatchPlan>,
    pub(super) flanks: Vec<FlankPlan>,
    /// Natural size of every row, of the largest, and their formulas.
    pub(super) gap_sizes: Vec<f64>,
    pub(super) length: f64,
    pub(super) sizes: Tape,

    pub(super) parameter_tape: Tape,
    /// Event functions, as outputs of the main tape.
    pub(super) crossings: Vec<u32>,
    pub(super) restitution: Tape,
    pub(super) outputs: Tape,
    pub(super) sets: Tape,
    pub(super) starts: Tape,
    pub(super) poses: Tape,
    /// Formulas of the forces, for messages.
    pub(super) laws: Tape,
    pub(super) law_names: Vec<String>,
    pub(super) pool: Pool,
}

/// Memory for the tapes that are not part of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub inputs: Vec<f64>,
    pub restitution: Work,
    pub outputs: Work,
    pub sets: Work,
    pub sides: Vec<f64>,
    pub elimination: Reduced,
}

/// Scratch memory shared between calls; a clone starts empty.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Scratch>>);

impl Clone for Pool {
    fn clone(&self) -> Self {
        Pool::default()
    }
}

impl CompiledSystem {
    /// Values of the live parameters, by their numbers; missing ones keep their value.
    pub fn set_parameters(&mut self, values: &[f64]) {
        for (old, &new) in self.parameters.iter_mut().zip(values) {
            *old = new;
        }
        for (slot, input) in self.base.iter_mut().zip(&self.inputs) {
            if let Input::Parameter(k) = *input {
                *slot = self.parameters.get(k).copied().unwrap_or(f64::NAN);
            }
        }
        let mut work = self.parameter_tape.workspace();
        self.parameter_tape.eval(&self.base, &mut work);
        let mut next = 0;
        for contour in &mut self.contours {
            for s in &mut contour.sigma {
                s.range = [0, 1].map(|i| self.parameter_tape.output(&work, next + i));
                next += 2;
            }
        }
        for watch in &mut self.watches {
            for (i, p) in watch.points.iter_mut().enumerate() {
                *p = [0, 1].map(|j| self.parameter_tape.output(&work, watch.source + 2 * i + j));
            }
            watch.prepare();
        }
        self.make_image();
        self.measure();
    }

    /// The constant parts, with the state at zero.
    fn make_image(&mut self) {
        let mut image = Eval::new(&self.dims);
        let mut work = self.main.workspace();
        self.main.eval(&self.base, &mut work);
        let (tape, work) = (&self.main, &work);
        let n = self.dims.u;
        for body in self.bodies.iter().filter(|b| b.constant_mass) {
            body.add_mass(tape, work, image.mass.as_mut_slice(), n);
        }
        for &(place, root) in &self.mass.constant {
            image.mass.as_mut_slice()[place as usize] += tape.output(work, root as usize);
        }
        mirror(image.mass.as_mut_slice(), n);
        for body in self.bodies.iter().filter(|b| b.constant_load) {
            body.add_load(tape, work, &mut image.h);
        }
        Scatter::add(&self.h.constant, tape, work, &mut image.h);
        Scatter::write(&self.z_rate.constant, tape, work, &mut image.z_rate);
        Scatter::write(&self.w.constant, tape, work, image.w.as_mut_slice());
        Scatter::write(&self.gap.constant, tape, work, &mut image.gap);
        Scatter::write(&self.rate_offset.constant, tape, work, &mut image.rate_offset);
        Scatter::write(&self.accel_offset.constant, tape, work, &mut image.accel_offset);
        Scatter::write(&self.mu.constant, tape, work, &mut image.mu);
        Scatter::write(&self.mu_static.constant, tape, work, &mut image.mu_static);
        Scatter::write(&self.radius.constant, tape, work, &mut image.radius);
        Scatter::write(&self.load.constant, tape, work, &mut image.load);
        Scatter::write(&self.load_static.constant, tape, work, &mut image.load_static);
        image.load_terms.resize(self.load_terms.constant.len() + self.load_terms.moving.len(), 0.0);
        Scatter::write(&self.load_terms.constant, tape, work, &mut image.load_terms);
        Scatter::write(&self.drive.constant, tape, work, &mut image.drive);
        self.image = image;
    }

    /// Sizes of the scratch memory: inputs, then sides of the switches, their arguments, and once more their number.
    pub(super) fn prepare(&self, out: &mut Eval) {
        let size = self.base.len() + 3 * self.switch_count;
        let tapes = 2 + self.contours.len();
        if out.work.len() == size && out.tapes.len() == tapes {
            return;
        }
        out.work.clear();
        out.work.resize(size, 0.0);
        out.tapes.clear();
        out.tapes.push(self.main.workspace());
        out.tapes.push(self.switch_rates.workspace());
        out.tapes.extend(self.contours.iter().map(|c| c.tape.workspace()));
        let sigma = self.contours.iter().map(|c| c.sigma.len()).sum();
        out.contour.clear();
        out.contour.resize(sigma, f64::NAN);
        out.load_terms.resize(self.image.load_terms.len(), 0.0);
    }

    /// Write everything that comes from state and modes into the inputs.
    pub(super) fn fill(&self, s: &State, d: &Discrete, inputs: &mut [f64]) {
        inputs.copy_from_slice(&self.base);
        for &(slot, source) in &self.fill {
            inputs[slot as usize] = match source {
                Source::Time => s.t,
                Source::Q(k) => s.q[k],
                Source::U(k) => s.u[k],
                Source::Z(k) => s.z[k],
                Source::Memory(k) => s.memory[k],
                Source::Direction(c) => d.modes[c].direction(),
                Source::StickTime(c) => {
                    let since = d.stick_since[c];
                    if since.is_nan() { 0.0 } else { s.t - since }
                }
                Source::LoadRate(c) => d.load_rate[c],
            };
        }
        for watch in &self.watches {
            for (&slot, value) in watch.slots.iter().zip(watch.data(d)) {
                inputs[slot] = value;
            }
        }
        for f in &self.flanks {
            inputs[f.slot] = if d.latches[f.latch] == PRESSING { 1.0 } else { 0.0 };
        }
    }

    /// Run contours and the main tape. Only `out.mass` and the other results are left to be scattered.
    pub(super) fn run(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.prepare(out);
        let (inputs, rest) = out.work.split_at_mut(self.base.len());
        let (sides, arguments) = rest.split_at_mut(self.switch_count);
        let arguments = &mut arguments[..self.switch_count];
        self.fill(s, d, inputs);
        out.singular = None;
        let (first, contour_work) = out.tapes.split_at_mut(2);
        for (c, work) in self.contours.iter().zip(contour_work) {
            if !c.solve(inputs, work, &d.latches, &mut out.contour, &mut out.guards) && out.singular.is_none()
            {
                out.singular = Some(c.contact);
            }
        }
        for (side, &latch) in sides.iter_mut().zip(&d.latches) {
            *side = f64::from(latch);
        }
        for &(k, contact, factor) in &self.slip_switches {
            sides[k] = factor * d.modes[contact].direction();
        }
        self.main.eval_latched(inputs, &mut first[0], sides);
        if self.switch_count > 0 {
            self.main.switch_arguments(&first[0], arguments);
        }
    }

    fn write_guards(&self, d: &Discrete, out: &mut Eval) {
        let switches = &mut out.work[self.base.len() + self.switch_count..];
        let (arguments, sizes) = switches.split_at_mut(self.switch_count);
        let (tape, work) = (&self.main, &out.tapes[0]);
        tape.switch_sizes(work, sizes);
        for (k, guard) in self.guards.iter().enumerate() {
            let relevant = |switch: usize| match &self.relevance[switch] {
                Relevance::Always => true,
                Relevance::Friction(list) => list.iter().any(|&(c, at_rest)| {
                    d.modes[c].direction() != 0.0 || (at_rest && d.modes[c] == Mode::Stick)
                }),
            };
            if let Some(switch) = guard.switch() {
                out.guard_sizes[k] = sizes[switch];
            }
            out.guards[k] = match guard {
                Guard::Sign { switch } if relevant(*switch) => match d.latches[*switch] {
                    0 => -arguments[*switch].abs(),
                    side => arguments[*switch] * f64::from(side),
                },
                Guard::Floor { switch, up } if relevant(*switch) => {
                    let (x, side) = (arguments[*switch], f64::from(d.latches[*switch]));
                    if *up { side + 1.0 - x } else { x - side }
                }
                Guard::Cell { switch, up, table } if relevant(*switch) => {
                    let (a, b) = table.cell_ends(f64::from(d.latches[*switch]));
                    let x = arguments[*switch];
                    if *up { b - x } else { x - a }
                }
                Guard::Contour { .. } => continue,
                Guard::Watch { watch, up } => {
                    let watch = &self.watches[*watch];
                    let p = watch.corner.map(|r| tape.output(work, r as usize));
                    watch.guard(d.latches[watch.latch], *up, p, d.modes[watch.contact].is_closed())
                }
                Guard::Flank { which, outer } => {
                    let f = &self.flanks[*which];
                    f.guard(d.latches[f.latch], *outer, |root| tape.output(work, root as usize))
                }
                _ => f64::INFINITY,
            };
        }
    }

    /// Memory for a side tape, reused between calls.
    pub(super) fn scratch(&self) -> Scratch {
        let pooled = self.pool.0.lock().ok().and_then(|mut pool| pool.pop());
        pooled.unwrap_or_else(|| Scratch {
            inputs: self.base.clone(),
            restitution: self.restitution.workspace(),
            outputs: self.outputs.workspace(),
            sets: self.sets.workspace(),
            sides: Vec::with_capacity(self.switch_count),
            elimination: Reduced::default(),
        })
    }

    /// Sides of the switches that are followed at all times; NaN for those that matter to sliding contacts only.
    pub(super) fn followed_sides(&self, d: &Discrete, sides: &mut Vec<f64>) {
        sides.clear();
        sides.extend((self.relevance.iter().zip(&d.latches)).map(|(relevance, &latch)| match relevance {
            Relevance::Always => f64::from(latch),
            Relevance::Friction(_) => f64::NAN,
        }));
        for &(k, ..) in &self.slip_switches {
            if let Some(side) = sides.get_mut(k) {
                *side = f64::NAN;
            }
        }
    }

    pub(super) fn give_back(&self, scratch: Scratch) {
        if let Ok(mut pool) = self.pool.0.lock() {
            pool.push(scratch);
        }
    }
}

impl BodyTerm {
    /// Lower triangle of M.
    fn add_mass(&self, tape: &Tape, work: &Work, mass: &mut [f64], n: usize) {
        let (m, inertia) = (tape.output(work, self.mass as usize), tape.output(work, self.inertia as usize));
        let value = |c: &[u32; 3]| c.map(|r| tape.output(work, r as usize));
        for (a, (i, c)) in self.columns.iter().enumerate() {
            let [x, y, r] = value(c);
            let (x, y, r) = (m * x, m * y, inertia * r);
            let row = &mut mass[*i as usize * n..(*i as usize + 1) * n];
            for (j, c) in &self.columns[..=a] {
                let v = value(c);
                row[*j as usize] += x * v[0] + y * v[1] + r * v[2];
            }
        }
    }

    fn add_load(&self, tape: &Tape, work: &Work, h: &mut [f64]) {
        let load = self.load.map(|r| tape.output(work, r as usize));
        for (k, c) in &self.columns {
            let c = c.map(|r| tape.output(work, r as usize));
            h[*k as usize] += load[0] * c[0] + load[1] * c[1] + load[2] * c[2];
        }
    }

    fn add_drive(&self, tape: &Tape, work: &Work, drive: &mut [f64]) {
        let Some(momentum) = self.momentum else { return };
        let p = momentum.map(|r| tape.output(work, r as usize));
        for (k, c) in &self.columns {
            let c = c.map(|r| tape.output(work, r as usize));
            drive[*k as usize] += p[0] * c[0] + p[1] * c[1] + p[2] * c[2];
        }
    }
}

/// Upper triangle from the lower one.
fn mirror(mass: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..i {
            mass[j * n + i] = mass[i * n + j];
        }
    }
}

impl System for CompiledSystem {
    fn uses_load_rate(&self) -> bool {
        self.fill.iter().any(|(_, source)| matches!(source, Source::LoadRate(_)))
    }

    fn length_scale(&self) -> f64 {
        self.length
    }

    fn gap_scale(&self, row: usize) -> f64 {
        self.gap_sizes.get(row).copied().unwrap_or(self.length)
    }

    fn dims(&self) -> Dims {
        self.dims
    }

    fn contacts(&self) -> &[ContactInfo] {
        &self.contacts
    }

    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.run(s, d, out);
        let image = &self.image;
        let n = self.dims.u;

        // constant parts
        out.mass.as_mut_slice().copy_from_slice(image.mass.as_slice());
        out.w.as_mut_slice().copy_from_slice(image.w.as_slice());
        out.h.copy_from_slice(&image.h);
        out.z_rate.copy_from_slice(&image.z_rate);
        out.gap.copy_from_slice(&image.gap);
        out.rate_offset.copy_from_slice(&image.rate_offset);
        out.accel_offset.copy_from_slice(&image.accel_offset);
        out.mu.copy_from_slice(&image.mu);
        out.mu_static.copy_from_slice(&image.mu_static);
        out.radius.copy_from_slice(&image.radius);
        out.load.copy_from_slice(&image.load);
        out.load_static.copy_from_slice(&image.load_static);
        out.load_terms.copy_from_slice(&image.load_terms);
        out.drive.copy_from_slice(&image.drive);

        // bodies
        let (tape, work) = (&self.main, &out.tapes[0]);
        let mut moved = false;
        for body in &self.bodies {
            if !body.constant_mass {
                body.add_mass(tape, work, out.mass.as_mut_slice(), n);
                moved = true;
            }
            if !body.constant_load {
                body.add_load(tape, work, &mut out.h);
            }
            body.add_drive(tape, work, &mut out.drive);
        }
        if !self.mass.moving.is_empty() {
            Scatter::add(&self.mass.moving, tape, work, out.mass.as_mut_slice());
            moved = true;
        }
        if moved {
            mirror(out.mass.as_mut_slice(), n);
        }

        // what the tape gives directly
        Scatter::add(&self.h.moving, tape, work, &mut out.h);
        Scatter::write(&self.z_rate.moving, tape, work, &mut out.z_rate);
        Scatter::write(&self.w.moving, tape, work, out.w.as_mut_slice());
        Scatter::write(&self.gap.moving, tape, work, &mut out.gap);
        Scatter::write(&self.rate_offset.moving, tape, work, &mut out.rate_offset);
        Scatter::write(&self.accel_offset.moving, tape, work, &mut out.accel_offset);
        Scatter::write(&self.mu.moving, tape, work, &mut out.mu);
        Scatter::write(&self.mu_static.moving, tape, work, &mut out.mu_static);
        Scatter::write(&self.radius.moving, tape, work, &mut out.radius);
        Scatter::write(&self.load.moving, tape, work, &mut out.load);
        Scatter::write(&self.load_static.moving, tape, work, &mut out.load_static);
        Scatter::write(&self.load_terms.moving, tape, work, &mut out.load_terms);
        Scatter::add(&self.drive.moving, tape, work, &mut out.drive);
        [out.kinetic, out.potential, out.power, out.drive_offset] =
            self.energies.map(|r| tape.output(work, r as usize));
        if !self.tensors.list.is_empty() {
            let mut scratch = self.scratch();
            self.tensors.apply(tape, &mut scratch.elimination, out);
            self.give_back(scratch);
        }
        if !self.guards.is_empty() {
            self.write_guards(d, out);
        }
        for (value, &root) in out.crossings.iter_mut().zip(&self.crossings) {
            *value = self.main.output(&out.tapes[0], root as usize);
        }
    }

    fn latch(&self, s: &State, d: &mut Discrete, out: &mut Eval, keep: bool) {
        d.latches.resize(self.dims.latches, 0);
        self.prepare(out);
        self.fill(s, d, &mut out.work[..self.base.len()]);

        // contact parameters
        let (inputs, _) = out.work.split_at_mut(self.base.len());
        let (first, contour_work) = out.tapes.split_at_mut(2);
        for (c, work) in self.contours.iter().zip(contour_work) {
            c.latch(inputs, work, &mut d.latches, &mut out.contour);
        }
        // watched edges and flanks; their values do not depend on each other
        self.main.eval(inputs, &mut first[0]);
        let work = &first[0];
        for watch in &self.watches {
            let place = |at: [u32; 2]| at.map(|r| self.main.output(work, r as usize));
            let latch = &mut d.latches[watch.latch];
            *latch = watch.fit(*latch, place(watch.corner), watch.middle.map(place), keep);
        }
        for f in &self.flanks {
            d.latches[f.latch] = f.fitting(d.latches[f.latch], |root| self.main.output(work, root as usize));
        }

        // switches, with edges and flanks in place
        self.settle(s, d, out, if keep { Before::Unknown } else { Before::None });
    }

    fn follow(&self, s: &State, before: &Discrete, d: &mut Discrete, out: &mut Eval) -> bool {
        self.follow_jumps(s, before, d, out)
    }

    fn flip(&self, k: usize, d: &mut Discrete, eval: &Eval) {
        match &self.guards[k] {
            Guard::Sign { switch } => d.latches[*switch] = if d.latches[*switch] > 0 { -1 } else { 1 },
            Guard::Floor { switch, up } | Guard::Cell { switch, up, .. } => {
                d.latches[*switch] += if *up { 1 } else { -1 };
            }
            Guard::Contour { latch, end } => {
                d.latches[*latch] = if d.latches[*latch] == 0 { *end } else { 0 }
            }
            Guard::Watch { watch, up } => {
                let watch = &self.watches[*watch];
                let p = watch.corner.map(|r| self.main.output(&eval.tapes[0], r as usize));
                d.latches[watch.latch] = watch.next(d.latches[watch.latch], *up, p);
            }
            Guard::Flank { which, outer } => {
                let f = &self.flanks[*which];
                d.latches[f.latch] = f.next(d.latches[f.latch], *outer);
            }
        }
    }

    fn undefined(&self, s: &State, d: &Discrete, eval: &Eval) -> Option<String> {
        self.first_undefined(s, d, eval)
    }

    fn is_silent(&self, k: usize) -> bool {
        self.guards[k].switch().is_some_and(|switch| self.silent[switch])
    }

    fn presses(&self, contact: usize, d: &Discrete) -> Option<bool> {
        let flank = self.flanks.iter().find(|f| f.contact == contact && f.surface.is_some())?;
        Some(d.latches[flank.latch] == PRESSING)
    }

    fn guard_contact(&self, k: usize) -> Option<usize> {
        match self.guards.get(k)? {
            Guard::Contour { latch, .. } => {
                let solver =
                    self.contours.iter().find(|c| c.sigma.iter().any(|s| s.latch == Some(*latch)))?;
                Some(solver.contact)
            }
            Guard::Watch { watch, .. } => Some(self.watches[*watch].contact),
            Guard::Flank { which, .. } => Some(self.flanks[*which].contact),
            _ => None,
        }
    }

    fn restitution(&self, s: &State, d: &Discrete, out: &mut [Restitution]) {
        let mut scratch = self.scratch();
        self.fill(s, d, &mut scratch.inputs);
        self.restitution.eval(&scratch.inputs, &mut scratch.restitution);
        for (k, r) in out.iter_mut().enumerate() {
            let [normal, tangential, nu] =
                [0, 1, 2].map(|i| self.restitution.output(&scratch.restitution, 3 * k + i));
            *r = Restitution { normal, tangential, nu };
        }
        self.give_back(scratch);
    }

    fn directions(&self) -> &[Direction] {
        &self.directions
    }

    fn coordinate_names(&self) -> Vec<String> {
        self.model.coordinates.iter().map(|c| c.name.clone()).collect()
    }

    fn event_names(&self) -> &[String] {
        &self.event_names
    }

    fn fire(
        &self,
        triggers: &[Trigger],
        at: Instant<'_>,
        memory: &mut [f64],
        fired: &mut Vec<usize>,
    ) -> bool {
        self.fire_events(triggers, at, memory, fired)
    }

    fn output_names(&self) -> &[String] {
        &self.output_names
    }

    fn output_count(&self) -> usize {
        self.outputs.output_count()
    }

    fn outputs(&self, at: Instant<'_>, out: &mut [f64]) {
        self.write_outputs(at, out);
    }
}
