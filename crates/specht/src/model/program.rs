//! A model as tapes: everything that does not depend on the values of parameters. Runs share it.

use std::sync::Arc;

use crate::expr::{Table, Tape, Work};
use crate::linalg::Pattern;
use crate::system::{ContactInfo, Dims, Direction, Eval, Pressure, Section};

use super::contour::ContourSolver;
use super::edges::WatchPlan;
use super::lean::Tensors;
use super::space::TouchPlan;
use super::tree::{PlaneTree, SpaceTree};
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
    /// Heat of a range of contacts.
    Heat(usize, usize),
}

/// Values of the main tape that go to one array: (place, output), split by whether they depend on the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Scatter {
    pub constant: Vec<(u32, u32)>,
    pub moving: Vec<(u32, u32)>,
}

impl Scatter {
    /// The constant places, or the others.
    fn part(&self, constant: bool) -> &[(u32, u32)] {
        if constant { &self.constant } else { &self.moving }
    }

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

/// A section of friction by outputs of the main tape.
#[derive(Clone, Copy, Debug)]
pub(super) enum SectionRoots {
    Tensor([u32; 4]),
    Ellipse([u32; 2]),
    Patch(Pressure),
}

impl SectionRoots {
    pub(super) fn read(self, tape: &Tape, work: &Work) -> Section {
        let value = |r: u32| tape.output(work, r as usize);
        match self {
            SectionRoots::Tensor(list) => Section::Tensor(list.map(value)),
            SectionRoots::Ellipse(list) => Section::Ellipse(list.map(value)),
            SectionRoots::Patch(pressure) => Section::Patch(pressure),
        }
    }
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
    pub(super) fn switch(&self) -> Option<usize> {
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
pub(super) const AWAY: i32 = 0;
pub(super) const PRESSING: i32 = 1;
pub(super) const RELEASED: i32 = 2;

impl FlankPlan {
    /// What the latch becomes when a guard falls through zero.
    pub(super) fn next(&self, latch: i32, outer: bool) -> i32 {
        match (latch, outer) {
            (AWAY, false) | (RELEASED, false) => PRESSING,
            (PRESSING, false) if self.damped && self.surface.is_none() => RELEASED,
            (_, false) | (RELEASED, true) => AWAY,
            _ => latch,
        }
    }

    pub(super) fn guard(&self, latch: i32, outer: bool, value: impl Fn(u32) -> f64) -> f64 {
        match (latch, outer) {
            (AWAY, false) => value(self.away),
            (PRESSING, false) => value(self.force),
            (RELEASED, false) => -value(self.force),
            (RELEASED, true) => -value(self.gap),
            _ => f64::INFINITY,
        }
    }

    /// The latch that fits the values; at the border between two, the one to which it moves.
    pub(super) fn fitting(&self, latch: i32, value: impl Fn(u32) -> f64) -> i32 {
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

/// The compiled model.
#[derive(Debug)]
pub struct Program {
    /// Tells memory of one program from that of another.
    pub(super) id: u64,
    pub(super) model: Model,
    pub(super) dims: Dims,
    pub(super) contacts: Vec<ContactInfo>,
    pub(super) of_model: Vec<std::ops::Range<usize>>,
    pub(super) state_names: Vec<String>,
    pub(super) directions: Vec<Direction>,
    pub(super) event_names: Vec<String>,
    pub(super) output_names: Vec<String>,

    pub(super) inputs: Vec<Input>,
    pub(super) fill: Vec<(u32, Source)>,

    pub(super) main: Tape,
    /// Bodies.
    pub(super) tree: PlaneTree,
    pub(super) space: SpaceTree,
    /// M of kinetic formulas.
    pub(super) mass: Scatter,
    /// Whether M changes with the state.
    pub(super) mass_moves: bool,
    /// Whether M, W and the friction coefficients are constants.
    pub(super) all_constant: bool,
    /// Entries of M (lower triangle) and of W.
    pub(super) mass_pattern: Arc<Pattern>,
    pub(super) w_pattern: Arc<Pattern>,
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
    /// Sections of friction that are not round, by contact.
    pub(super) sections: Vec<(usize, SectionRoots)>,
    pub(super) drive: Scatter,
    /// Origins and axes of bodies that touch, see [`Eval::frames`].
    pub(super) frames: Scatter,
    pub(super) touch: TouchPlan,
    /// power, drive_offset.
    pub(super) powers: [u32; 2],
    /// kinetic, potential.
    pub(super) energies: [u32; 2],

    pub(super) switch_count: usize,
    /// By input: whether it changes between events.
    pub(super) moving: Vec<bool>,
    /// D(argument) per switch, for latching at zero.
    pub(super) switch_rates: Tape,
    pub(super) guards: Vec<Guard>,
    pub(super) relevance: Vec<Relevance>,
    /// By switch: whether only event functions use it.
    pub(super) silent: Vec<bool>,
    /// Whether motion or event functions depend on the memory.
    pub(super) memory_acts: bool,
    /// (switch, contact, factor): the switch is the sign of the slip of a contact.
    pub(super) slip_switches: Vec<(usize, usize, f64)>,
    /// By switch: whether it is one of these.
    pub(super) is_slip: Vec<bool>,
    pub(super) contours: Vec<ContourSolver>,
    /// Watched edges, without the corners, which parameters give.
    pub(super) watches: Vec<WatchPlan>,
    pub(super) flanks: Vec<FlankPlan>,
    /// Natural sizes of the gaps.
    pub(super) sizes: Tape,

    pub(super) parameter_tape: Tape,
    /// End of the run, over the parameters.
    pub(super) until: Option<Tape>,
    /// Event functions, as outputs of the main tape.
    pub(super) crossings: Vec<u32>,
    pub(super) restitution: Tape,
    pub(super) outputs: Tape,
    pub(super) sets: Tape,
    pub(super) starts: Tape,
    pub(super) poses: Tape,
    /// Of bodies in space: origin, rows of their axes, spin.
    pub(super) space_poses: Tape,
    /// Formulas of the forces, for messages.
    pub(super) laws: Tape,
    pub(super) law_names: Vec<String>,
}

impl Program {
    /// What the main tape gives directly, to its places: the constant parts, or those that are not. Bodies are in `out` already.
    pub(super) fn scatter(&self, constant: bool, work: &Work, out: &mut Eval) {
        let tape = &self.main;
        let add = |s: &Scatter, to: &mut [f64]| Scatter::add(s.part(constant), tape, work, to);
        let write = |s: &Scatter, to: &mut [f64]| Scatter::write(s.part(constant), tape, work, to);
        add(&self.mass, out.mass.values_mut());
        add(&self.h, &mut out.h);
        write(&self.z_rate, &mut out.z_rate);
        write(&self.w, out.w.values_mut());
        write(&self.gap, &mut out.gap);
        write(&self.rate_offset, &mut out.rate_offset);
        write(&self.accel_offset, &mut out.accel_offset);
        write(&self.mu, &mut out.mu);
        write(&self.mu_static, &mut out.mu_static);
        write(&self.radius, &mut out.radius);
        write(&self.load, &mut out.load);
        write(&self.load_static, &mut out.load_static);
        write(&self.load_terms, &mut out.load_terms);
        add(&self.drive, &mut out.drive);
        write(&self.frames, &mut out.frames);
    }

    /// Kinetic and potential energy.
    pub(super) fn whole_energies(&self, work: &Work, out: &mut Eval) {
        [out.kinetic, out.potential] = self.energies.map(|root| self.main.output(work, root as usize));
    }

    /// Powers and event functions.
    pub(super) fn scalars(&self, work: &Work, out: &mut Eval) {
        let value = |root: u32| self.main.output(work, root as usize);
        [out.power, out.drive_offset] = self.powers.map(value);
        for (crossing, &root) in out.crossings.iter_mut().zip(&self.crossings) {
            *crossing = value(root);
        }
    }
}
