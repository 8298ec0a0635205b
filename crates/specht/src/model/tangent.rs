//! Rates of an evaluation of a compiled model along a direction: everything that [`CompiledSystem::evaluate`] does, differentiated.
//!
//! ```text
//! rates of inputs      state, time, parameters; corners and ranges move with parameters
//! contours             σ̇ from the equations that hold it                      ContourSolver::tangent
//! main tape            one sweep over the registers of the evaluation          Tape::tangent
//! bodies               the recursion on dual numbers                           Tree::add
//! tensors              from the elimination of the evaluation                  Tensors::tangent
//! sections             numbers of friction that depends on the direction, as they stand
//! guards               frozen sides, so linear in the rates of their arguments
//! ```
//!
//! Nothing is differenced and nothing solved again: the numbers of the evaluation are read from its memory.

use crate::expr::Work;
use crate::linalg::Dual;
use crate::system::{Along, Discrete, Eval, Section, State, System};

use super::Input;
use super::chain::Chain;
use super::compiled::{CompiledSystem, Memory};
use super::program::{Guard, Source};
use super::space::Encounter;
use super::tree::Numbers;

/// Memory of the rates, kept in the scratch of [`crate::system::Tangent`].
struct Rates {
    /// The program to which it belongs.
    id: u64,
    inputs: Vec<f64>,
    /// What the inputs and sides of the evaluation must be.
    expected: Vec<f64>,
    sides: Vec<f64>,
    main: Work,
    arguments: Vec<f64>,
    contours: Vec<Work>,
    numbers: Numbers<Dual, 2, 3, 4>,
    in_space: Numbers<Dual, 3, 6, 10>,
    /// What parameters move: values and rates of their tape, ranges of curves, chains of edges.
    parameter: [Work; 2],
    ranges: Vec<[f64; 2]>,
    chains: Vec<Chain<Dual>>,
    encounters: Vec<Encounter<Dual>>,
    /// An evaluation of our own, for callers whose is gone.
    own: Option<Box<Eval>>,
}

impl CompiledSystem {
    /// Fill `out` with the rates of `at`.
    pub(super) fn differentiate(
        &self,
        s: &State,
        d: &Discrete,
        at: &Eval,
        along: &Along<'_>,
        out: &mut Eval,
    ) {
        let mut rates = match out.scratch.take::<Rates>() {
            Some(rates) if rates.id == self.id => rates,
            _ => self.new_rates(),
        };
        let mut own = rates.own.take();
        let at = match self.is_at(s, d, at, &mut rates) {
            true => at,
            false => {
                let own = own.get_or_insert_with(|| Box::new(self.memory()));
                self.evaluate(s, d, own);
                &**own
            }
        };
        if let Some(memory) = at.scratch.get::<Memory>() {
            self.propagate(d, at, memory, along, &mut rates, out);
        }
        rates.own = own;
        out.scratch.put(rates);
    }

    fn new_rates(&self) -> Box<Rates> {
        let chain = |w: &super::edges::WatchPlan| {
            Chain::new(w.chain.run.clone(), w.chain.visitor, w.chain.points.len())
        };
        Box::new(Rates {
            id: self.id,
            inputs: vec![0.0; self.inputs.len()],
            expected: vec![0.0; self.inputs.len()],
            sides: vec![0.0; self.switch_count],
            main: self.main.rates(),
            arguments: vec![0.0; self.switch_count],
            contours: self.contours.iter().map(|c| c.tape.rates()).collect(),
            numbers: Numbers::default(),
            in_space: Numbers::default(),
            parameter: [self.parameter_tape.workspace(), self.parameter_tape.rates()],
            ranges: vec![[0.0; 2]; self.ranges.len()],
            chains: self.watches.iter().map(chain).collect(),
            encounters: self.encounters.iter().map(|x| Encounter::like(&x.encounter)).collect(),
            own: None,
        })
    }

    /// Whether `at` still holds the numbers of this state, these modes and these parameters.
    fn is_at(&self, s: &State, d: &Discrete, at: &Eval, rates: &mut Rates) -> bool {
        let Some(memory) = at.scratch.get::<Memory>() else { return false };
        if memory.id != self.id || !memory.complete {
            return false;
        }
        let Rates { expected, sides, .. } = rates;
        expected.copy_from_slice(&self.base);
        self.refill(s, d, expected);
        for sigma in self.contours.iter().flat_map(|c| &c.sigma) {
            expected[sigma.slot] = memory.inputs[sigma.slot];
            let inside = sigma.latch.is_none_or(|k| d.latches[k] == 0);
            expected[sigma.active] = f64::from(u8::from(inside));
        }
        self.frozen_sides(d, sides);
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits());
        same(expected, &memory.inputs) && same(sides, &memory.sides)
    }

    fn propagate(
        &self,
        d: &Discrete,
        at: &Eval,
        memory: &Memory,
        along: &Along<'_>,
        rates: &mut Rates,
        out: &mut Eval,
    ) {
        clear(out, self.ranges.len(), at.load_terms.len());
        let moved = along.parameters.iter().any(|&p| p != 0.0);

        // inputs, and what hangs on parameters alone
        rates.inputs.fill(0.0);
        self.fill_rates(d, along, &mut rates.inputs);
        rates.ranges.fill([0.0; 2]);
        if moved {
            self.move_parameters(d, along, rates);
        }

        // contact parameters of curves, then the main tape
        let works = memory.contours.iter().zip(&mut rates.contours);
        for (c, (work, rate)) in self.contours.iter().zip(works) {
            let ranges = &rates.ranges[c.first..];
            let Eval { contour, guards, .. } = &mut *out;
            c.tangent(work, rate, &mut rates.inputs, ranges, &d.latches, contour, guards);
        }
        self.main.tangent(&memory.main, &rates.inputs, &mut rates.main);

        // bodies, and what the tape gives directly
        let (tape, main) = (&self.main, &rates.main);
        let read = |root: u32| {
            let root = root as usize;
            Dual { value: tape.output(&memory.main, root), rate: tape.output(main, root) }
        };
        let (numbers, in_space) = (&mut rates.numbers, &mut rates.in_space);
        if moved {
            self.tree.add(true, &read, numbers, Some(out.mass.values_mut()), &mut out.h);
            self.space.add(true, &read, in_space, Some(out.mass.values_mut()), &mut out.h);
            self.scatter_constants(main, out);
        }
        self.tree.add(false, &read, numbers, Some(out.mass.values_mut()), &mut out.h);
        self.tree.add_drive(&read, numbers, &mut out.drive);
        self.space.add(false, &read, in_space, Some(out.mass.values_mut()), &mut out.h);
        self.space.add_drive(&read, in_space, &mut out.drive);
        self.scatter(main, self.changing.len(), out);
        self.forget_still(out);
        self.write_powers(main, out);
        self.write_crossings(main, out);
        self.whole_energies(main, out);
        if !self.tensors.list.is_empty() {
            self.tensors.tangent(tape, main, &memory.elimination, at, out);
        }
        if !self.sections.is_empty() {
            out.sections.resize(out.mu.len(), Section::Round);
            for &(c, section) in &self.sections {
                out.sections[c] = section.read(tape, main);
            }
        }
        if !self.guards.is_empty() {
            self.guard_rates(d, at, memory, moved, rates, out);
        }
    }

    /// Rates of the inputs from those of state and parameters.
    pub(super) fn fill_rates(&self, d: &Discrete, along: &Along<'_>, inputs: &mut [f64]) {
        let of = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(0.0);
        for &(slot, source) in &self.fill {
            inputs[slot as usize] = match source {
                Source::Time => along.t,
                Source::Q(k) => of(along.q, k),
                Source::U(k) => of(along.u, k),
                Source::Z(k) => of(along.z, k),
                Source::Memory(k) => of(along.memory, k),
                Source::StickTime(c) if !d.stick_since[c].is_nan() => along.t - of(along.since, c),
                Source::Direction(_) | Source::StickTime(_) | Source::LoadRate(_) | Source::Heat(..) => 0.0,
            };
        }
    }

    /// Rates of parameters, of the ranges of curves and of the corners of edges.
    fn move_parameters(&self, d: &Discrete, along: &Along<'_>, rates: &mut Rates) {
        let Rates { inputs, parameter: [work, rate], ranges, chains, encounters, .. } = rates;
        for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
            if let Input::Parameter(k) = *input {
                *slot = along.parameters.get(k).copied().unwrap_or(0.0);
            }
        }
        let tape = &self.parameter_tape;
        if tape.output_count() == 0 {
            return;
        }
        tape.eval(&self.base, work);
        tape.tangent(work, inputs, rate);
        for (k, range) in ranges.iter_mut().enumerate() {
            *range = [0, 1].map(|end| tape.output(rate, 2 * k + end));
        }
        for (x, encounter) in self.encounters.iter().zip(encounters) {
            let output = |k: usize| Dual { value: tape.output(work, k), rate: tape.output(rate, k) };
            encounter.prepare(|k| output(x.source + k));
            x.write(encounter, &d.latches, |slot, value| inputs[slot] = value.rate);
        }
        for (watch, chain) in self.watches.iter().zip(chains) {
            for (i, p) in chain.points.iter_mut().enumerate() {
                *p = [0, 1].map(|j| {
                    let k = watch.source + 2 * i + j;
                    Dual { value: tape.output(work, k), rate: tape.output(rate, k) }
                });
            }
            chain.prepare();
            let feature = chain.feature(d.latches[watch.latch]);
            for (&slot, value) in watch.slots.iter().zip(feature) {
                inputs[slot] = value.rate;
            }
        }
    }

    fn guard_rates(
        &self,
        d: &Discrete,
        at: &Eval,
        memory: &Memory,
        moved: bool,
        rates: &mut Rates,
        out: &mut Eval,
    ) {
        let Rates { main, arguments, chains, encounters, .. } = rates;
        self.main.switch_arguments(main, arguments);
        for (k, guard) in self.guards.iter().enumerate() {
            out.guards[k] = match guard {
                // written with the curves
                Guard::Contour { .. } => continue,
                // does not count
                _ if at.guards[k].is_infinite() => 0.0,
                Guard::Sign { switch } => match d.latches[*switch] {
                    0 => -arguments[*switch] * crate::expr::sign(memory.arguments[*switch]),
                    side => arguments[*switch] * f64::from(side),
                },
                Guard::Floor { switch, up } | Guard::Cell { switch, up, .. } => {
                    if *up {
                        -arguments[*switch]
                    } else {
                        arguments[*switch]
                    }
                }
                Guard::Watch { watch, up } => {
                    let plan = &self.watches[*watch];
                    let p = plan.corner.map(|r| {
                        let (value, rate) = (&memory.main, &*main);
                        let r = r as usize;
                        Dual { value: self.main.output(value, r), rate: self.main.output(rate, r) }
                    });
                    let (latch, closed) = (d.latches[plan.latch], d.modes[plan.contact].is_closed());
                    match moved {
                        true => chains[*watch].guard(latch, *up, p, closed).rate,
                        false => plan.chain.guard(latch, *up, p, closed).rate,
                    }
                }
                Guard::Feature { encounter, slot } => {
                    let x = &self.encounters[*encounter];
                    let place = x.place(|r| {
                        let (value, rate) = (&memory.main, &*main);
                        let r = r as usize;
                        Dual { value: self.main.output(value, r), rate: self.main.output(rate, r) }
                    });
                    let closed = d.modes[x.contact_of(*slot)].is_closed();
                    let latches = x.latches(&d.latches);
                    match moved {
                        true => encounters[*encounter].guard(*slot, latches, &place, closed).rate,
                        false => x.encounter.guard(*slot, latches, &place, closed).rate,
                    }
                }
                Guard::Flank { which, outer } => {
                    let f = &self.flanks[*which];
                    f.guard(d.latches[f.latch], *outer, |root| self.main.output(main, root as usize))
                }
            };
        }
    }
}

/// Zeros wherever a rate is added or may have no place.
fn clear(out: &mut Eval, contours: usize, load_terms: usize) {
    out.mass.values_mut().fill(0.0);
    out.w.values_mut().fill(0.0);
    out.contour.resize(contours, 0.0);
    out.load_terms.resize(load_terms, 0.0);
    let Eval { h, z_rate, gap, rate_offset, accel_offset, mu, mu_static, .. } = out;
    for list in [h, z_rate, gap, rate_offset, accel_offset, mu, mu_static] {
        list.fill(0.0);
    }
    let Eval { load, load_static, load_terms, radius, drive, .. } = out;
    for list in [load, load_static, load_terms, radius, drive] {
        list.fill(0.0);
    }
    out.singular = None;
}
