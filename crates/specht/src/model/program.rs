//! A model as tapes: everything that does not depend on the values of parameters. Runs share it.

use std::sync::Arc;

use crate::expr::{Table, Tape, Work};
use crate::linalg::{Pattern, TreeShape};
use crate::system::{ContactInfo, Dims, Direction, Discrete, Eval, Pressure, Section, State};

use super::contour::ContourSolver;
use super::edges::WatchPlan;
use super::lean::Tensors;
use super::space::{EncounterPlan, Rims, TouchPlan};
use super::still::StillPlan;
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

/// Which inputs are written from the state and the modes, by kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Fill {
    time: Vec<u32>,
    q: Vec<(u32, u32)>,
    u: Vec<(u32, u32)>,
    z: Vec<(u32, u32)>,
    memory: Vec<(u32, u32)>,
    others: Vec<(u32, Source)>,
}

impl Fill {
    /// Sorted by kind.
    pub(super) fn new<'a>(list: impl Iterator<Item = &'a (u32, Source)>) -> Self {
        let mut out = Fill::default();
        for &(slot, source) in list {
            match source {
                Source::Time => out.time.push(slot),
                Source::Q(k) => out.q.push((slot, k as u32)),
                Source::U(k) => out.u.push((slot, k as u32)),
                Source::Z(k) => out.z.push((slot, k as u32)),
                Source::Memory(k) => out.memory.push((slot, k as u32)),
                _ => out.others.push((slot, source)),
            }
        }
        out
    }

    /// Whether the memory is not among them.
    pub(super) fn ignores_memory(&self) -> bool {
        self.memory.is_empty()
    }

    /// Whether nothing comes from the modes.
    pub(super) fn ignores_modes(&self) -> bool {
        self.others.is_empty()
    }

    /// Write them.
    #[inline]
    pub(super) fn write(&self, s: &State, d: &Discrete, inputs: &mut [f64]) {
        self.time.iter().for_each(|&slot| inputs[slot as usize] = s.t);
        let mut write = |list: &[(u32, u32)], from: &[f64]| {
            for &(slot, k) in list {
                inputs[slot as usize] = from[k as usize];
            }
        };
        write(&self.q, &s.q);
        write(&self.u, &s.u);
        write(&self.z, &s.z);
        write(&self.memory, &s.memory);
        if !self.others.is_empty() {
            self.write_others(s, d, inputs);
        }
    }

    fn write_others(&self, s: &State, d: &Discrete, inputs: &mut [f64]) {
        for &(slot, source) in &self.others {
            inputs[slot as usize] = match source {
                Source::Direction(c) => d.modes[c].direction(),
                Source::StickTime(c) => {
                    let since = d.stick_since[c];
                    if since.is_nan() { 0.0 } else { s.t - since }
                }
                Source::LoadRate(c) => d.load_rate[c],
                Source::Heat(first, end) => d.heat[first..end].iter().sum(),
                _ => continue,
            };
        }
    }
}

/// An array of an evaluation that the main tape writes directly.
#[derive(Clone, Copy, Debug)]
pub(super) enum Array {
    Mass,
    H,
    ZRate,
    W,
    Gap,
    RateOffset,
    AccelOffset,
    Mu,
    MuStatic,
    Radius,
    Load,
    LoadStatic,
    LoadTerms,
    Drive,
    Frames,
}

impl Array {
    /// Bodies have written to it before: what the tape gives is added.
    fn adds(self) -> bool {
        matches!(self, Array::Mass | Array::H | Array::Drive)
    }

    /// What needs it: a motion without contacts (0), its end (1), the contacts (2).
    fn rank(self) -> u8 {
        match self {
            Array::Mass | Array::H | Array::ZRate | Array::Drive => 0,
            Array::Gap => 1,
            _ => 2,
        }
    }

    fn of(self, out: &mut Eval) -> &mut [f64] {
        match self {
            Array::Mass => out.mass.values_mut(),
            Array::H => &mut out.h,
            Array::ZRate => &mut out.z_rate,
            Array::W => out.w.values_mut(),
            Array::Gap => &mut out.gap,
            Array::RateOffset => &mut out.rate_offset,
            Array::AccelOffset => &mut out.accel_offset,
            Array::Mu => &mut out.mu,
            Array::MuStatic => &mut out.mu_static,
            Array::Radius => &mut out.radius,
            Array::Load => &mut out.load,
            Array::LoadStatic => &mut out.load_static,
            Array::LoadTerms => &mut out.load_terms,
            Array::Drive => &mut out.drive,
            Array::Frames => &mut out.frames,
        }
    }
}

/// Values of the main tape that go to one array: (place, output), split by whether they depend on the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Scatter {
    pub constant: Vec<(u32, u32)>,
    pub moving: Vec<(u32, u32)>,
}

/// A section of friction by outputs of the main tape.
#[derive(Clone, Copy, Debug)]
pub(super) enum SectionRoots {
    Tensor([u32; 4]),
    Ellipse([u32; 2]),
    Patch { pressure: Pressure, power: f64 },
}

impl SectionRoots {
    pub(super) fn read(self, tape: &Tape, work: &Work) -> Section {
        let value = |r: u32| tape.output(work, r as usize);
        match self {
            SectionRoots::Tensor(list) => Section::Tensor(list.map(value)),
            SectionRoots::Ellipse(list) => Section::Ellipse(list.map(value)),
            SectionRoots::Patch { pressure, power } => Section::Patch { pressure, power, scale: 1.0 },
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
    /// A slot of two polyhedra, see [`super::space`].
    Feature { encounter: usize, slot: usize },
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
    /// The same by kind: all of them, and those that an evaluation reads.
    pub(super) fill_all: Fill,
    pub(super) fill_motion: Fill,

    pub(super) main: Tape,
    /// Bodies.
    pub(super) tree: PlaneTree,
    pub(super) space: SpaceTree,
    /// The shape of that tree, where M has a factor along it.
    pub(super) tree_shape: Option<Arc<TreeShape>>,
    /// M of kinetic formulas.
    pub(super) mass: Scatter,
    /// Whether M changes with the state.
    pub(super) mass_moves: bool,
    /// Whether the drives change with the state.
    pub(super) drive_moves: bool,
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
    /// The arrays that change with the state: (place, register of the main tape).
    pub(super) changing: Vec<(Array, Vec<(u32, u32)>)>,
    /// How many of them a motion without contacts needs, and how many with the gaps: they come first.
    pub(super) changing_first: [usize; 2],
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
    pub(super) encounters: Vec<EncounterPlan>,
    pub(super) flanks: Vec<FlankPlan>,
    pub(super) still_plan: StillPlan,
    /// Rims on planes.
    pub(super) rims: Rims,
    /// Natural sizes of the gaps.
    pub(super) sizes: Tape,

    pub(super) parameter_tape: Tape,
    /// What live parameters may be.
    pub(super) demands: super::demands::Demands,
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
    /// All arrays that the main tape writes directly.
    fn arrays(&self) -> [(Array, &Scatter); 15] {
        [
            (Array::Mass, &self.mass),
            (Array::H, &self.h),
            (Array::ZRate, &self.z_rate),
            (Array::W, &self.w),
            (Array::Gap, &self.gap),
            (Array::RateOffset, &self.rate_offset),
            (Array::AccelOffset, &self.accel_offset),
            (Array::Mu, &self.mu),
            (Array::MuStatic, &self.mu_static),
            (Array::Radius, &self.radius),
            (Array::Load, &self.load),
            (Array::LoadStatic, &self.load_static),
            (Array::LoadTerms, &self.load_terms),
            (Array::Drive, &self.drive),
            (Array::Frames, &self.frames),
        ]
    }

    /// Make [`Program::changing`].
    pub(super) fn list_changing(&mut self) {
        let register = |&(place, root): &(u32, u32)| (place, self.main.register(root as usize));
        let list = |(array, s): (Array, &Scatter)| (array, s.moving.iter().map(register).collect::<Vec<_>>());
        let mut all: Vec<_> =
            self.arrays().into_iter().map(list).filter(|(_, list)| !list.is_empty()).collect();
        all.sort_by_key(|(array, _)| array.rank());
        self.changing_first = [0, 1].map(|most| all.partition_point(|(array, _)| array.rank() <= most));
        self.changing = all;
    }

    /// The constant parts of what the main tape gives directly, to their places. Bodies are in `out` already.
    pub(super) fn scatter_constants(&self, work: &Work, out: &mut Eval) {
        for (array, s) in self.arrays() {
            let to = array.of(out);
            for &(place, root) in &s.constant {
                let value = self.main.output(work, root as usize);
                to[place as usize] = if array.adds() { to[place as usize] + value } else { value };
            }
        }
    }

    /// The first `count` of the arrays that change with the state.
    pub(super) fn scatter(&self, work: &Work, count: usize, out: &mut Eval) {
        for (array, list) in &self.changing[..count] {
            let to = array.of(out);
            match array.adds() {
                true => list.iter().for_each(|&(place, r)| to[place as usize] += work.register(r)),
                false => list.iter().for_each(|&(place, r)| to[place as usize] = work.register(r)),
            }
        }
    }

    /// Kinetic and potential energy.
    pub(super) fn whole_energies(&self, work: &Work, out: &mut Eval) {
        [out.kinetic, out.potential] = self.energies.map(|root| self.main.output(work, root as usize));
    }

    /// Numbers of contacts that have not been evaluated.
    #[cfg(debug_assertions)]
    pub(super) fn spoil_contacts(&self, first: usize, out: &mut Eval) {
        for (array, list) in &self.changing[first..] {
            let to = array.of(out);
            list.iter().for_each(|&(place, _)| to[place as usize] = f64::NAN);
        }
    }

    /// Powers.
    pub(super) fn write_powers(&self, work: &Work, out: &mut Eval) {
        [out.power, out.drive_offset] = self.powers.map(|root| self.main.output(work, root as usize));
    }

    /// Event functions.
    pub(super) fn write_crossings(&self, work: &Work, out: &mut Eval) {
        for (crossing, &root) in out.crossings.iter_mut().zip(&self.crossings) {
            *crossing = self.main.output(work, root as usize);
        }
    }
}
