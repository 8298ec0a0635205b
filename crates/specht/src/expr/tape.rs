//! The tape: a flat program over `f64` for a list of expressions, evaluated without allocation.
//!
//! Shared subexpressions are computed once. Registers are numbered constants first, then inputs, then one per instruction, so
//! an instruction's result register is its position. Both branches of an `if` are computed, the choice takes one; an infinite or
//! undefined value in the branch not taken has no effect.
//!
//! # Switches
//!
//! A *switch* is a place where the function is not smooth: the sign of an expression (from `if`, `abs`, `sign`, `min`, `max`, comparisons),
//! a `floor` (also from `mod`), the cell of a table. Its *side* is a number: −1, 0 or 1; the floor; the number of the cell. Three ways to
//! evaluate:
//!
//! | | sides | for |
//! |---|---|---|
//! | [`Tape::eval`] | from the present values | outputs, tests, time-stepping |
//! | [`Tape::latch`] | from the present values, written to `latches` | what holds at a point |
//! | [`Tape::settle`] | from values, rates and the sides before | start of a smooth arc |
//! | [`Tape::eval_latched`] | read from `latches` | inside an arc: a smooth function across the whole step |
//!
//! After any evaluation [`Tape::guards`] gives one number per switch: positive inside the region of the latched side, zero at its border, negative
//! outside. So an arc ends where the first guard goes from positive to zero or below (half-open: a guard that is zero
//! at the beginning of the arc and then positive is no event).
//!
//! | switch | guard in terms of its argument x and the side s |
//! |---|---|
//! | sign | s x; with s = 0 it is −\|x\| |
//! | floor | min(x − s, s + 1 − x) |
//! | cell `[a, b)` | min(x − a, b − x) |
//!
//! Several tapes made with one [`SwitchSet`] share the numbers of their switches and so one array of latches.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::graph::{Fun, Graph, NodeId, Op, Symbol, powi, sign};
use super::schedule::schedule;
use super::switch::{Switch, SwitchSet};
use super::table::Table;

/// One instruction; operands are registers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instr {
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Div(u32, u32),
    Neg(u32),
    Square(u32),
    Powi(u32, i32),
    Pow(u32, u32),
    Fun(Fun, u32),
    Atan2(u32, u32),
    Hypot(u32, u32),
    Sign(u32, u32),
    Floor(u32, u32),
    Cell(u32, u32, u32),
    Table(u32, u32, u32),
    Positive(u32),
    NonNegative(u32),
    IsZero(u32),
    And(u32, u32),
    Or(u32, u32),
    Not(u32),
    Select(u32, u32, u32),
}

/// A switch as it stands in one tape.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub number: u32,
    pub argument: u32,
    side: u32,
    /// The terms of the sum that the argument is: their size tells its rounding.
    pub terms: Vec<u32>,
    pub switch: Switch,
}

impl Local {
    /// Sum of the absolute values of the terms of the argument.
    pub(super) fn size(&self, work: &Work) -> f64 {
        self.terms.iter().map(|&r| work.regs[r as usize].abs()).sum()
    }
}

/// The compiled program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape {
    pub(super) constants: Vec<f64>,
    /// Input index per input register, those that stand still first.
    pub(super) inputs: Vec<u32>,
    pub(super) instrs: Vec<Instr>,
    /// Inputs that stand still, and the instructions that read nothing else: they come first.
    still: (usize, usize),
    /// Where the parts end that can be evaluated without what comes after them.
    ends: Vec<usize>,
    pub(super) tables: Vec<Arc<Table>>,
    outputs: Vec<u32>,
    /// Operands first.
    pub(super) locals: Vec<Local>,
}

/// The registers of a tape. Make one per tape and thread with [`Tape::workspace`] and use it again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    pub(super) regs: Vec<f64>,
    /// Inputs beside the present ones, see [`Tape::settle`].
    pub(super) beside: Vec<f64>,
}

impl Work {
    /// A register of the last evaluation.
    #[inline]
    pub(crate) fn register(&self, r: u32) -> f64 {
        self.regs[r as usize]
    }
}

/// How the sides of switches are found.
trait Sides {
    fn sign(&mut self, k: u32, x: f64) -> f64;
    fn floor(&mut self, k: u32, x: f64) -> f64;
    fn cell(&mut self, k: u32, table: &Table, x: f64) -> f64;
}

struct Free;

impl Sides for Free {
    #[inline]
    fn sign(&mut self, _: u32, x: f64) -> f64 {
        sign(x)
    }
    #[inline]
    fn floor(&mut self, _: u32, x: f64) -> f64 {
        x.floor()
    }
    #[inline]
    fn cell(&mut self, _: u32, table: &Table, x: f64) -> f64 {
        table.cell(x)
    }
}

struct Latched<'a>(&'a [f64]);

impl Latched<'_> {
    #[inline]
    fn get(&self, k: u32) -> f64 {
        self.0.get(k as usize).copied().unwrap_or(0.0)
    }
}

impl Sides for Latched<'_> {
    #[inline]
    fn sign(&mut self, k: u32, _: f64) -> f64 {
        self.get(k)
    }
    #[inline]
    fn floor(&mut self, k: u32, _: f64) -> f64 {
        self.get(k)
    }
    #[inline]
    fn cell(&mut self, k: u32, _: &Table, _: f64) -> f64 {
        self.get(k)
    }
}

/// Frozen where a side is given, by value where it is NaN or missing.
struct Partly<'a>(&'a [f64]);

impl Partly<'_> {
    #[inline]
    fn or(&self, k: u32, free: f64) -> f64 {
        self.0.get(k as usize).copied().filter(|side| !side.is_nan()).unwrap_or(free)
    }
}

impl Sides for Partly<'_> {
    fn sign(&mut self, k: u32, x: f64) -> f64 {
        self.or(k, sign(x))
    }
    fn floor(&mut self, k: u32, x: f64) -> f64 {
        self.or(k, x.floor())
    }
    fn cell(&mut self, k: u32, table: &Table, x: f64) -> f64 {
        self.or(k, table.cell(x))
    }
}

impl Tape {
    /// Compiles the roots; the tape has its own switches.
    pub(crate) fn new(graph: &Graph, roots: &[NodeId]) -> Self {
        Self::with_switches(graph, roots, &mut SwitchSet::new())
    }

    /// Compiles the roots; switches not yet in the set are appended to it.
    pub(crate) fn with_switches(graph: &Graph, roots: &[NodeId], switches: &mut SwitchSet) -> Self {
        Self::in_parts(graph, roots, &[], |_| false, switches)
    }

    /// The same; what each of the lists in `parts` needs is computed before what only later ones, or none of them, need:
    /// [`Tape::eval_part`] stops there. All switches belong to the last of them. What follows from the inputs that stand `still` alone, without a
    /// switch, is computed by [`Tape::stand`] and by evaluations with branches by the present values; those with frozen sides take
    /// it as it is.
    pub(crate) fn in_parts(
        graph: &Graph,
        roots: &[NodeId],
        parts: &[Vec<NodeId>],
        still: impl Fn(Symbol) -> bool,
        switches: &mut SwitchSet,
    ) -> Self {
        let nodes = graph.reach(roots);
        let is_switch = |n: &NodeId| matches!(graph.op(*n), Op::Sign(_) | Op::Floor(_) | Op::Cell(..));
        let mut lists = vec![standing(graph, &nodes, still)];
        lists.extend(parts.iter().enumerate().map(|(k, heads)| {
            let all = nodes.iter().copied().filter(is_switch).filter(|_| k + 1 == parts.len());
            graph.reach(&heads.iter().copied().chain(all).collect::<Vec<_>>())
        }));
        lists.push(nodes.clone());
        // who comes first takes what it needs
        let mut known = HashSet::new();
        lists.iter_mut().for_each(|list| list.retain(|n| known.insert(*n)));
        let mut constants = Vec::new();
        let mut inputs = Vec::new();
        let mut place: HashMap<NodeId, u32> = HashMap::with_capacity(nodes.len());
        for &n in &nodes {
            if let Op::Const(bits) = graph.op(n) {
                place.insert(n, constants.len() as u32);
                constants.push(f64::from_bits(bits));
            }
        }
        let mut rests = 0;
        for (list, count) in [(&lists[0], &mut rests), (&nodes, &mut 0)] {
            for &n in list {
                if let (Op::Sym(s), false) = (graph.op(n), place.contains_key(&n)) {
                    place.insert(n, (constants.len() + inputs.len()) as u32);
                    inputs.push(s.0);
                }
            }
            *count = inputs.len();
        }
        let base = constants.len() + inputs.len();
        let mut instrs = Vec::new();
        let mut locals = Vec::new();
        // numbers of switches follow the graph, not the order of the instructions
        for &n in nodes.iter().filter(|n| is_switch(n)) {
            switches.register(graph, n);
        }
        let mut order = Vec::with_capacity(nodes.len());
        let mut ends = Vec::new();
        for list in &lists {
            order.extend(schedule(graph, list));
            // constants and inputs are no instructions
            ends.push(order.iter().filter(|n| !place.contains_key(n)).count());
        }
        for n in order {
            let r = |a: NodeId| place.get(&a).copied().unwrap_or(0);
            let here = (base + instrs.len()) as u32;
            let mut switch = |argument: NodeId| {
                let number = switches.register(graph, n);
                let switch = switches.get(number as usize).clone();
                let terms = summands(graph, argument).into_iter().map(r).collect();
                locals.push(Local { number, argument: r(argument), side: here, terms, switch });
                number
            };
            let instr = match graph.op(n) {
                Op::Const(_) | Op::Sym(_) => continue,
                Op::Add(a, b) => Instr::Add(r(a), r(b)),
                Op::Sub(a, b) => Instr::Sub(r(a), r(b)),
                Op::Mul(a, b) => Instr::Mul(r(a), r(b)),
                Op::Div(a, b) => Instr::Div(r(a), r(b)),
                Op::Neg(a) => Instr::Neg(r(a)),
                Op::Pow(a, b) => Instr::Pow(r(a), r(b)),
                Op::Powi(a, 2) => Instr::Square(r(a)),
                Op::Powi(a, n) => Instr::Powi(r(a), n),
                Op::Fun(f, a) => Instr::Fun(f, r(a)),
                Op::Atan2(a, b) => Instr::Atan2(r(a), r(b)),
                Op::Hypot(a, b) => Instr::Hypot(r(a), r(b)),
                Op::Sign(a) => Instr::Sign(switch(a), r(a)),
                Op::Floor(a) => Instr::Floor(switch(a), r(a)),
                Op::Cell(t, a) => Instr::Cell(switch(a), t.0, r(a)),
                Op::Table { table, order, cell, x } => {
                    Instr::Table(table.0 * 4 + u32::from(order), r(cell), r(x))
                }
                Op::Positive(a) => Instr::Positive(r(a)),
                Op::NonNegative(a) => Instr::NonNegative(r(a)),
                Op::IsZero(a) => Instr::IsZero(r(a)),
                Op::And(a, b) => Instr::And(r(a), r(b)),
                Op::Or(a, b) => Instr::Or(r(a), r(b)),
                Op::Not(a) => Instr::Not(r(a)),
                Op::Select(c, a, b) => Instr::Select(r(c), r(a), r(b)),
            };
            instrs.push(instr);
            place.insert(n, here);
        }
        let still = (rests, ends.remove(0));
        let outputs = roots.iter().map(|n| place[n]).collect();
        let tables = graph.tables().to_vec();
        Self { constants, inputs, instrs, still, ends, tables, outputs, locals }
    }

    /// Registers for this tape.
    pub(crate) fn workspace(&self) -> Work {
        let mut regs = self.constants.clone();
        regs.resize(self.constants.len() + self.inputs.len() + self.instrs.len(), 0.0);
        Work { regs, beside: Vec::new() }
    }

    /// Number of outputs.
    pub(crate) fn output_count(&self) -> usize {
        self.outputs.len()
    }

    /// The inputs that are read, as indices.
    pub(crate) fn inputs(&self) -> &[u32] {
        &self.inputs
    }

    /// The numbers of the switches that occur in this tape, operands first.
    #[cfg(test)]
    pub(crate) fn switches(&self) -> impl Iterator<Item = usize> {
        self.locals.iter().map(|l| l.number as usize)
    }

    /// Evaluates with branches by the present values. Inputs that are missing count as NaN.
    pub(crate) fn eval(&self, inputs: &[f64], work: &mut Work) {
        self.run(inputs, work, &mut Free);
    }

    /// Evaluates with frozen sides. What follows from inputs that stand still is there, see [`Tape::in_parts`].
    pub(crate) fn eval_latched(&self, inputs: &[f64], work: &mut Work, latches: &[f64]) {
        self.go_on(self.instrs.len(), inputs, work, latches);
    }

    /// Evaluates the parts up to number `k` with frozen sides, see [`Tape::in_parts`].
    pub(crate) fn eval_part(&self, k: usize, inputs: &[f64], work: &mut Work, latches: &[f64]) {
        self.go_on(self.ends[k], inputs, work, latches);
    }

    fn go_on(&self, end: usize, inputs: &[f64], work: &mut Work, latches: &[f64]) {
        let (input, instr) = self.still;
        self.run_part(input..self.inputs.len(), instr..end, inputs, work, &mut Latched(latches));
    }

    /// Computes what follows from the inputs that stand still.
    pub(crate) fn stand(&self, inputs: &[f64], work: &mut Work) {
        let (input, instr) = self.still;
        self.run_part(0..input, 0..instr, inputs, work, &mut Free);
    }

    /// Evaluates with frozen sides where `latches` has a number, by the present values where it is NaN or ends.
    pub(crate) fn eval_partly_latched(&self, inputs: &[f64], work: &mut Work, latches: &[f64]) {
        self.run(inputs, work, &mut Partly(latches));
    }

    /// Evaluates by the present values and writes the sides of this tape's switches to `latches`.
    pub(crate) fn latch(&self, inputs: &[f64], work: &mut Work, latches: &mut [f64]) {
        self.run(inputs, work, &mut Free);
        self.store_sides(work, latches);
    }

    fn store_sides(&self, work: &Work, latches: &mut [f64]) {
        for l in &self.locals {
            if let Some(latch) = latches.get_mut(l.number as usize) {
                *latch = work.regs[l.side as usize];
            }
        }
    }

    /// Writes the guards of this tape's switches, by number, after an evaluation. Those of other tapes stay as they are.
    #[cfg(test)]
    pub(crate) fn guards(&self, work: &Work, out: &mut [f64]) {
        for l in &self.locals {
            if let Some(guard) = out.get_mut(l.number as usize) {
                *guard = l.switch.guard(work.regs[l.argument as usize], work.regs[l.side as usize]);
            }
        }
    }

    /// Writes the arguments of this tape's switches, by number, after an evaluation.
    pub(crate) fn switch_arguments(&self, work: &Work, out: &mut [f64]) {
        for l in &self.locals {
            if let Some(argument) = out.get_mut(l.number as usize) {
                *argument = work.regs[l.argument as usize];
            }
        }
    }

    /// Writes the sizes of the arguments of this tape's switches, by number, after an evaluation: the sum of the absolute values of
    /// their terms, which tells the rounding of the sum.
    pub(crate) fn switch_sizes(&self, work: &Work, out: &mut [f64]) {
        for l in &self.locals {
            if let Some(size) = out.get_mut(l.number as usize) {
                *size = l.size(work);
            }
        }
    }

    /// Register of output `i`.
    pub(crate) fn register(&self, i: usize) -> u32 {
        self.outputs[i]
    }

    /// Output `i` of the last evaluation.
    #[inline]
    pub(crate) fn output(&self, work: &Work, i: usize) -> f64 {
        work.regs[self.outputs[i] as usize]
    }

    /// All outputs of the last evaluation.
    pub(crate) fn outputs(&self, work: &Work, out: &mut [f64]) {
        for (value, &r) in out.iter_mut().zip(&self.outputs) {
            *value = work.regs[r as usize];
        }
    }

    fn run<S: Sides>(&self, inputs: &[f64], work: &mut Work, sides: &mut S) {
        self.run_part(0..self.inputs.len(), 0..self.instrs.len(), inputs, work, sides);
    }

    /// Inputs of a range to their registers, then the instructions of a range.
    fn run_part<S: Sides>(
        &self,
        read: Range<usize>,
        part: Range<usize>,
        inputs: &[f64],
        work: &mut Work,
        sides: &mut S,
    ) {
        let regs = &mut work.regs[..];
        let first = self.constants.len();
        let base = first + self.inputs.len() + part.start;
        for (reg, &i) in regs[first + read.start..].iter_mut().zip(&self.inputs[read]) {
            *reg = inputs.get(i as usize).copied().unwrap_or(f64::NAN);
        }
        let truth = |holds: bool| f64::from(u8::from(holds));
        for (i, instr) in self.instrs[part].iter().enumerate() {
            let r = |a: u32| regs[a as usize];
            let value = match *instr {
                Instr::Add(a, b) => r(a) + r(b),
                Instr::Sub(a, b) => r(a) - r(b),
                Instr::Mul(a, b) => r(a) * r(b),
                Instr::Div(a, b) => r(a) / r(b),
                Instr::Neg(a) => -r(a),
                Instr::Square(a) => r(a) * r(a),
                Instr::Powi(a, n) => powi(r(a), n),
                Instr::Pow(a, b) => r(a).powf(r(b)),
                Instr::Fun(f, a) => f.apply(r(a)),
                Instr::Atan2(a, b) => r(a).atan2(r(b)),
                Instr::Hypot(a, b) => r(a).hypot(r(b)),
                Instr::Sign(k, a) => sides.sign(k, r(a)),
                Instr::Floor(k, a) => sides.floor(k, r(a)),
                Instr::Cell(k, t, a) => sides.cell(k, &self.tables[t as usize], r(a)),
                Instr::Table(t, c, x) => self.tables[t as usize / 4].eval(r(c), r(x), (t % 4) as u8),
                Instr::Positive(a) => truth(r(a) > 0.0),
                Instr::NonNegative(a) => truth(r(a) >= 0.0),
                Instr::IsZero(a) => truth(r(a) == 0.0),
                Instr::And(a, b) => r(a) * r(b),
                Instr::Or(a, b) => r(a).max(r(b)),
                Instr::Not(a) => 1.0 - r(a),
                Instr::Select(c, a, b) => {
                    if r(c) != 0.0 {
                        r(a)
                    } else {
                        r(b)
                    }
                }
            };
            regs[base + i] = value;
        }
    }
}

/// The nodes that follow from constants and from symbols that stand `still` alone, without a switch. `nodes`: operands first.
fn standing(graph: &Graph, nodes: &[NodeId], still: impl Fn(Symbol) -> bool) -> Vec<NodeId> {
    let mut found = HashSet::new();
    let rests = |n: &NodeId| {
        let rests = match graph.op(*n) {
            Op::Const(_) => true,
            Op::Sym(s) => still(s),
            Op::Sign(_) | Op::Floor(_) | Op::Cell(..) => false,
            op => {
                let mut all = true;
                op.operands(|a| all &= found.contains(&a));
                all
            }
        };
        rests && found.insert(*n)
    };
    nodes.iter().copied().filter(rests).collect()
}

/// The terms of a sum of sums.
fn summands(graph: &Graph, node: NodeId) -> Vec<NodeId> {
    let (mut out, mut stack) = (Vec::new(), vec![node]);
    while let Some(n) = stack.pop() {
        match graph.op(n) {
            Op::Add(a, b) | Op::Sub(a, b) => stack.extend([a, b]),
            Op::Neg(a) => stack.push(a),
            _ => out.push(n),
        }
    }
    out
}
