//! A model as a [`System`]: the shared tapes ([`Program`]), the values of the parameters, and the numeric assembly around them.
//!
//! One evaluation: fill the inputs, solve the contact parameters of curves, run the main tape with frozen switches, scatter.
//! What depends on parameters alone (often all of M and W) is computed once per parameter set and copied. M and h of
//! bodies are assembled by recursion along their tree ([`super::tree`]).

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use crate::contact::Reduced;
use crate::expr::Work;
use crate::linalg::{Rows, Symmetric, copy};
use crate::system::{Discrete, Eval, Mode, Section, State, System, Touching};

use super::Input;
use super::edges::WatchPlan;
use super::program::{Guard, PRESSING, Program, Relevance};
use super::space::{EncounterPlan, RimWork};
use super::still::Still;
use super::tree::Numbers;

/// A compiled model with values of its parameters. Copies and variants share the tapes.
#[derive(Clone, Debug)]
pub struct CompiledSystem {
    program: Arc<Program>,
    /// Values of the live parameters.
    pub(super) parameters: Vec<f64>,
    /// Inputs with the parameters in place.
    pub(super) base: Vec<f64>,
    /// Constant parts of M, h, drive and [`others`], one after the other, and their number: what has been copied once stays in
    /// place. In one piece, because there may be thousands of variants.
    image: Box<[f64]>,
    stamp: u64,
    /// Ranges of the contact parameters of curves.
    pub(super) ranges: Vec<[f64; 2]>,
    /// Watched edges with their corners.
    pub(super) watches: Box<[WatchPlan]>,
    /// Polyhedra that meet, with their corners.
    pub(super) encounters: Box<[EncounterPlan]>,
    /// Natural size of every row, and of the largest.
    pub(super) gap_sizes: Vec<f64>,
    pub(super) length: f64,
    /// Entries of W that are rounding, where there are any.
    pub(super) still: Option<Box<Still>>,
    /// Bodies that touch, with numbers.
    pub(super) touching: Option<Box<Touching>>,
    pool: Pool,
}

impl Deref for CompiledSystem {
    type Target = Program;
    fn deref(&self) -> &Program {
        &self.program
    }
}

/// Memory of one evaluation, kept in [`Eval::scratch`].
#[derive(Debug)]
pub(super) struct Memory {
    /// The program to which it belongs, and the constants that are in place.
    pub id: u64,
    stamp: u64,
    /// The parameters that stand among the inputs.
    based: u64,
    /// It holds the numbers of a whole evaluation, not those of a search for sides.
    pub complete: bool,
    pub inputs: Vec<f64>,
    /// Sides of the switches, their arguments, and one number more for each.
    pub sides: Vec<f64>,
    pub arguments: Vec<f64>,
    pub others: Vec<f64>,
    pub main: Work,
    pub rates: Work,
    pub contours: Vec<Work>,
    numbers: Numbers<f64, 2, 3, 4>,
    in_space: Numbers<f64, 3, 6, 10>,
    pub elimination: Reduced,
    pub rims: RimWork,
}

/// How much of an evaluation is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    All,
    /// Without the energies.
    Rates,
    /// Nor M itself, where it is given along the tree.
    Stage,
    /// Nor anything of the contacts but their gaps.
    Gaps,
    /// Nor these.
    Free,
}

/// Memory for the tapes that are not part of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub inputs: Vec<f64>,
    pub restitution: Work,
    pub outputs: Work,
    pub sets: Work,
    pub sides: Vec<f64>,
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
    pub(super) fn new(program: Program, parameters: &[f64]) -> Self {
        let mut system = CompiledSystem {
            parameters: parameters.to_vec(),
            base: vec![0.0; program.inputs.len()],
            image: Box::default(),
            stamp: 0,
            ranges: Vec::new(),
            watches: program.watches.clone().into(),
            encounters: program.encounters.clone().into(),
            gap_sizes: Vec::new(),
            length: 1.0,
            still: None,
            touching: None,
            pool: Pool::default(),
            program: Arc::new(program),
        };
        system.set_parameters(parameters);
        system
    }

    /// Values of the live parameters, by their numbers; missing ones keep their value.
    pub fn set_parameters(&mut self, values: &[f64]) {
        let program = self.program.clone();
        for (old, &new) in self.parameters.iter_mut().zip(values) {
            *old = new;
        }
        for (slot, input) in self.base.iter_mut().zip(&program.inputs) {
            if let Input::Parameter(k) = *input {
                *slot = self.parameters.get(k).copied().unwrap_or(f64::NAN);
            }
        }
        let mut work = program.parameter_tape.workspace();
        program.parameter_tape.eval(&self.base, &mut work);
        let value = |k: usize| program.parameter_tape.output(&work, k);
        let sigma = program.contours.iter().map(|c| c.sigma.len()).sum();
        self.ranges.clear();
        self.ranges.extend((0..sigma).map(|k| [value(2 * k), value(2 * k + 1)]));
        for watch in &mut self.watches {
            for (i, p) in watch.chain.points.iter_mut().enumerate() {
                *p = [0, 1].map(|j| value(watch.source + 2 * i + j));
            }
            watch.chain.prepare();
        }
        for x in &mut self.encounters {
            x.encounter.prepare(|k| value(x.source + k));
        }
        self.touching = program.touch.touching(value).map(Box::new);
        self.make_image();
        self.measure();
        self.find_still();
    }

    /// The constant parts, with the state at zero.
    fn make_image(&mut self) {
        let mut image = self.memory();
        let program = &self.program;
        let mut work = program.main.workspace();
        program.main.eval(&self.base, &mut work);
        let read = |root: u32| program.main.output(&work, root as usize);
        let mut numbers = Numbers::default();
        program.tree.add(true, &read, &mut numbers, Some(image.mass.values_mut()), &mut image.h);
        let mut numbers = Numbers::default();
        program.space.add(true, &read, &mut numbers, Some(image.mass.values_mut()), &mut image.h);
        program.scatter_constants(&work, &mut image);
        let mut list = [image.mass.values(), &image.h, &image.drive].concat();
        others(&mut image).into_iter().for_each(|part| list.extend_from_slice(part));
        self.image = list.into_boxed_slice();
        self.stamp = super::compile::number();
    }

    /// The memory of an evaluation, made when there is none of this program.
    pub(super) fn borrow(&self, out: &mut Eval) -> Box<Memory> {
        if let Some(mut memory) = out.scratch.take::<Memory>()
            && memory.id == self.id
        {
            memory.complete = false;
            return memory;
        }
        if !Arc::ptr_eq(out.mass.pattern(), &self.mass_pattern) {
            out.mass = Symmetric::on(self.mass_pattern.clone());
        }
        if !Arc::ptr_eq(out.w.pattern(), &self.w_pattern) {
            out.w = Rows::on(self.w_pattern.clone());
        }
        out.tree.shape.clone_from(&self.tree_shape);
        out.contour.clear();
        out.contour.resize(self.ranges.len(), f64::NAN);
        out.frames.resize(self.touch.numbers(), 0.0);
        out.load_terms.resize(self.load_terms.constant.len() + self.load_terms.moving.len(), 0.0);
        Box::new(Memory {
            id: self.id,
            stamp: 0,
            based: 0,
            complete: false,
            inputs: self.base.clone(),
            sides: vec![0.0; self.switch_count],
            arguments: vec![0.0; self.switch_count],
            others: vec![0.0; self.switch_count],
            main: self.main.workspace(),
            rates: self.switch_rates.workspace(),
            contours: self.contours.iter().map(|c| c.tape.workspace()).collect(),
            numbers: Numbers::default(),
            in_space: Numbers::default(),
            elimination: Reduced::default(),
            rims: self.rim_work(),
        })
    }

    /// The memory of an evaluation in its place, for what leaves its numbers alone.
    pub(super) fn at_hand<'a>(&self, out: &'a mut Eval) -> Option<&'a mut Memory> {
        if out.scratch.get::<Memory>().is_none_or(|m| m.id != self.id) {
            let memory = self.borrow(out);
            out.scratch.put(memory);
        }
        out.scratch.get_mut()
    }

    /// Output `k` of the main tape at the last evaluation.
    pub(super) fn output(&self, eval: &Eval, k: u32) -> f64 {
        eval.scratch.get::<Memory>().map_or(f64::NAN, |m| self.main.output(&m.main, k as usize))
    }

    /// Contact parameters of curves, from where `d` has them; false where one has no solution.
    pub(super) fn solve_contours(&self, d: &Discrete, memory: &mut Memory, out: &mut Eval) {
        out.singular = None;
        if self.contours.is_empty() {
            return;
        }
        match d.contour.len() == out.contour.len() {
            true => out.contour.copy_from_slice(&d.contour),
            false => out.contour.fill(f64::NAN),
        }
        for (c, work) in self.contours.iter().zip(&mut memory.contours) {
            let ranges = &self.ranges[c.first..];
            let Eval { contour, guards, .. } = out;
            if !c.solve(&mut memory.inputs, work, ranges, &d.latches, contour, guards)
                && out.singular.is_none()
            {
                out.singular = Some(c.contact);
            }
        }
    }

    /// Write parameters and everything that comes from state and modes into the inputs.
    pub(super) fn fill(&self, s: &State, d: &Discrete, inputs: &mut [f64]) {
        inputs.copy_from_slice(&self.base);
        self.fill_all.write(s, d, inputs);
        self.fill_features(d, inputs);
    }

    /// Write what an evaluation reads of state and modes into inputs that hold the parameters.
    #[inline]
    pub(super) fn refill(&self, s: &State, d: &Discrete, inputs: &mut [f64]) {
        self.fill_motion.write(s, d, inputs);
        if self.has_features() {
            self.fill_features(d, inputs);
        }
    }

    fn has_features(&self) -> bool {
        !(self.watches.is_empty() && self.encounters.is_empty() && self.flanks.is_empty())
    }

    /// The inputs of an evaluation; parameters are copied where they are not in place.
    #[inline]
    pub(super) fn fill_memory(&self, s: &State, d: &Discrete, memory: &mut Memory) {
        // contact parameters of curves stand among the inputs
        if memory.based != self.stamp || !self.contours.is_empty() {
            self.place_parameters(memory);
        }
        self.refill(s, d, &mut memory.inputs);
    }

    fn place_parameters(&self, memory: &mut Memory) {
        memory.inputs.copy_from_slice(&self.base);
        if memory.based != self.stamp {
            self.main.stand(&self.base, &mut memory.main);
            memory.based = self.stamp;
        }
    }

    fn fill_features(&self, d: &Discrete, inputs: &mut [f64]) {
        for watch in &self.watches {
            for (&slot, value) in watch.slots.iter().zip(watch.data(d)) {
                inputs[slot] = value;
            }
        }
        for x in &self.encounters {
            x.write(&x.encounter, &d.latches, |slot, value| inputs[slot] = value);
        }
        for f in &self.flanks {
            inputs[f.slot] = if d.latches[f.latch] == PRESSING { 1.0 } else { 0.0 };
        }
    }

    /// Sides of the switches during an evaluation.
    pub(super) fn frozen_sides(&self, d: &Discrete, sides: &mut [f64]) {
        for (side, &latch) in sides.iter_mut().zip(&d.latches) {
            *side = f64::from(latch);
        }
        for &(k, contact, factor) in &self.slip_switches {
            sides[k] = factor * d.modes[contact].direction();
        }
    }

    /// Run contours and the main tape. The results are left to be scattered.
    #[inline]
    pub(super) fn run(&self, s: &State, d: &Discrete, extent: Extent, memory: &mut Memory, out: &mut Eval) {
        self.fill_memory(s, d, memory);
        out.singular = None;
        if !self.contours.is_empty() {
            self.solve_contours(d, memory, out);
        }
        let Memory { inputs, sides, arguments, main, .. } = memory;
        if self.switch_count > 0 {
            self.frozen_sides(d, sides);
        }
        match extent {
            Extent::All => self.main.eval_latched(inputs, main, sides),
            Extent::Rates | Extent::Stage => self.main.eval_part(2, inputs, main, sides),
            Extent::Gaps => return self.main.eval_part(1, inputs, main, sides),
            Extent::Free => return self.main.eval_part(0, inputs, main, sides),
        }
        if self.switch_count > 0 {
            self.main.switch_arguments(main, arguments);
        }
    }

    fn write_guards(&self, d: &Discrete, memory: &mut Memory, out: &mut Eval) {
        let Memory { arguments, others: sizes, main: work, .. } = memory;
        let tape = &self.main;
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
                    watch.chain.guard(d.latches[watch.latch], *up, p, d.modes[watch.contact].is_closed())
                }
                Guard::Feature { encounter, slot } => {
                    let x = &self.encounters[*encounter];
                    let place = x.place(|r| tape.output(work, r as usize));
                    let closed = d.modes[x.contact_of(*slot)].is_closed();
                    x.encounter.guard(*slot, x.latches(&d.latches), &place, closed)
                }
                Guard::Flank { which, outer } => {
                    let f = &self.flanks[*which];
                    f.guard(d.latches[f.latch], *outer, |root| tape.output(work, root as usize))
                }
                _ => f64::INFINITY,
            };
        }
    }

    /// One evaluation.
    pub(super) fn fill_eval(&self, s: &State, d: &Discrete, extent: Extent, out: &mut Eval) {
        let (early, free) = (extent != Extent::All, matches!(extent, Extent::Gaps | Extent::Free));
        let mut memory = self.borrow(out);
        let m = &mut *memory;
        self.run(s, d, extent, m, out);
        let partial = (free || extent == Extent::Stage) && self.tree_shape.is_some();
        self.copy_image(m, partial, out);
        let read = |root: u32| self.main.output(&m.main, root as usize);
        let Eval { mass, h, tree, .. } = out;
        self.tree.add(false, &read, &mut m.numbers, Some(mass.values_mut()), h);
        if self.tree.is_driven() {
            self.tree.add_drive(&read, &mut m.numbers, &mut out.drive);
        }
        self.space.add(false, &read, &mut m.in_space, (!partial).then(|| mass.values_mut()), h);
        if self.tree_shape.is_some() {
            self.space.write_tree(&read, &mut m.in_space.point, tree);
            // nobody may read the rest
            #[cfg(debug_assertions)]
            if partial {
                mass.values_mut().fill(f64::NAN);
            }
            tree.diagonal(mass);
        }
        if self.space.is_driven() {
            self.space.add_drive(&read, &mut m.in_space, &mut out.drive);
        }
        let changing = match extent {
            Extent::Free => self.changing_first[0],
            Extent::Gaps => self.changing_first[1],
            _ => self.changing.len(),
        };
        self.scatter(&m.main, changing, out);
        self.write_powers(&m.main, out);
        m.complete = !early;
        if free {
            // nobody may read the rest
            #[cfg(debug_assertions)]
            self.spoil_contacts(changing, out);
            return out.scratch.put(memory);
        }
        if self.quiet(out) {
            // constants are copied anew
            m.stamp = 0;
        }
        self.write_crossings(&m.main, out);
        if !early {
            self.whole_energies(&m.main, out);
        }
        if !self.tensors.list.is_empty() {
            self.tensors.apply(&self.main, &m.main, &mut m.elimination, out);
        }
        if !self.sections.is_empty() {
            out.sections.resize(out.mu.len(), Section::Round);
            for &(c, section) in &self.sections {
                out.sections[c] = section.read(&self.main, &m.main);
            }
        }
        if !self.guards.is_empty() {
            self.write_guards(d, m, out);
        }
        out.scratch.put(memory);
    }

    /// Whether there is neither a switch nor a curve, an edge or a flank to follow.
    pub(super) fn latches_nothing(&self) -> bool {
        self.dims.latches == 0
            && self.switch_count == 0
            && self.contours.is_empty()
            && self.watches.is_empty()
            && self.flanks.is_empty()
    }

    /// Whether forces and contacts have nothing to do with each other but by the tape.
    pub(super) fn parts_contacts(&self) -> bool {
        self.contours.is_empty() && self.flanks.is_empty() && self.tensors.list.is_empty()
    }

    /// Whether an evaluation is the same in all modes and with all latches.
    pub(super) fn ignores_modes(&self) -> bool {
        self.fill_motion.ignores_modes()
            && self.guards.is_empty()
            && self.encounters.is_empty()
            && self.latches_nothing()
    }

    /// Everything that is constant, where it is not in place.
    fn copy_image(&self, memory: &mut Memory, partial: bool, out: &mut Eval) {
        let (mass, rest) = self.image.split_at(out.mass.values().len());
        let (h, rest) = rest.split_at(out.h.len());
        let (drive, mut rest) = rest.split_at(out.drive.len());
        let fresh = memory.stamp != self.stamp || !self.tensors.list.is_empty();
        if fresh || (self.mass_moves && !partial) {
            out.mass.values_mut().copy_from_slice(mass);
        }
        copy(h, &mut out.h);
        if fresh || self.drive_moves {
            out.drive.copy_from_slice(drive);
        }
        if !fresh {
            return;
        }
        memory.stamp = self.stamp;
        out.constants.0 = if self.all_constant { self.stamp } else { 0 };
        for to in others(out) {
            let (from, after) = rest.split_at(to.len());
            to.copy_from_slice(from);
            rest = after;
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

/// The arrays of an evaluation with constant parts that are copied once.
fn others(out: &mut Eval) -> [&mut [f64]; 12] {
    [
        out.w.values_mut(),
        &mut out.z_rate,
        &mut out.gap,
        &mut out.rate_offset,
        &mut out.accel_offset,
        &mut out.mu,
        &mut out.mu_static,
        &mut out.radius,
        &mut out.load,
        &mut out.load_static,
        &mut out.load_terms,
        &mut out.frames,
    ]
}
