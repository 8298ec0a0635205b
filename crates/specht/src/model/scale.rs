//! Natural sizes of gaps, from the model itself.
//!
//! A gap is a sum of terms that cancel. Its natural size is that of the terms: each sum is replaced by the sum of the sizes of its
//! parts, so that
//!
//! ```text
//! g = y − r − h    has the size    |y| + |r| + |h|
//! ```
//!
//! taken at the start of the run. Rounding of the gap is ε times this size whatever its unit, metres, nanometres or
//! radians, and results do not depend on the unit of length.

use std::collections::BTreeMap;

use crate::expr::{Fun, NodeId, Op};
use crate::system::{Along, Discrete, State, System, Tangent};

use super::compiled::CompiledSystem;
use super::frames::Builder;

impl Builder<'_> {
    /// Nodes that compute the sizes of `nodes`.
    pub(super) fn sizes(&mut self, nodes: &[NodeId]) -> Vec<NodeId> {
        let mut size: BTreeMap<NodeId, NodeId> = BTreeMap::new();
        for node in self.g.reach(nodes) {
            let of = |a: NodeId| size[&a];
            let g = &mut self.g;
            let value = match g.op(node) {
                Op::Add(a, b) | Op::Sub(a, b) => g.add(of(a), of(b)),
                Op::Mul(a, b) => g.mul(of(a), of(b)),
                Op::Div(a, b) => {
                    let below = g.abs(b);
                    g.div(of(a), below)
                }
                Op::Neg(a) => of(a),
                Op::Powi(a, n) if n > 0 => g.powi(of(a), n),
                Op::Fun(Fun::Sqrt, a) => g.fun(Fun::Sqrt, of(a)),
                Op::Select(c, a, b) => g.select(c, of(a), of(b)),
                _ => g.abs(node),
            };
            size.insert(node, value);
        }
        // a gap that never changes is what rounding left of its terms: no size
        let zero = self.g.num(0.0);
        nodes.iter().map(|n| if matches!(self.g.op(*n), Op::Const(_)) { zero } else { size[n] }).collect()
    }
}

impl CompiledSystem {
    /// Sizes of all rows at the start of the file; a row without terms (a gap `x` that starts at zero) has the size of the
    /// largest, or, when there is none, of the motion.
    pub(super) fn measure(&mut self) {
        self.measure_in(self.until_of_file());
    }

    fn measure_in(&mut self, until: Option<f64>) {
        let state = self.start();
        let d = Discrete::new(&self.dims);
        let mut sizes = self.sizes_at(&state, &d);
        let largest = largest_of(&sizes);
        let largest = if largest > 0.0 { largest } else { self.size_in_motion(&state, &d, until) };
        // a size below rounding of the largest is what rounding left of a gap without terms
        let known = |v: f64| v > 1e-14 * largest && v.is_finite();
        sizes.iter_mut().filter(|v| !known(**v)).for_each(|v| *v = largest);
        self.gap_sizes = sizes;
        self.length = largest;
    }

    /// The system for a run that ends at `until`, where its sizes are ways of the motion and the file has another end.
    pub(crate) fn lasting(&self, until: f64) -> Option<CompiledSystem> {
        if self.until_of_file() == Some(until)
            || largest_of(&self.sizes_at(&self.start(), &Discrete::new(&self.dims))) > 0.0
        {
            return None;
        }
        let mut system = self.clone();
        system.measure_in(Some(until));
        system.find_still();
        Some(system)
    }

    fn until_of_file(&self) -> Option<f64> {
        self.until.as_ref().map(|tape| {
            let mut work = tape.workspace();
            tape.eval(&self.base, &mut work);
            tape.output(&work, 0)
        })
    }

    /// Sizes of the terms of every row at a state.
    fn sizes_at(&self, state: &State, d: &Discrete) -> Vec<f64> {
        let mut inputs = self.base.clone();
        self.fill(state, d, &mut inputs);
        // contact parameters in the middle of their ranges
        for (s, range) in self.contours.iter().flat_map(|c| &c.sigma).zip(&self.ranges) {
            inputs[s.slot] = 0.5 * (range[0] + range[1]);
            inputs[s.active] = 1.0;
        }
        // of a chain of edges the one that counts
        let mut work = self.main.workspace();
        self.main.eval(&inputs, &mut work);
        for watch in &self.watches {
            let corner = watch.corner.map(|r| self.main.output(&work, r as usize));
            let feature = watch.chain.feature(watch.fit(0, corner, None, false));
            for (&slot, value) in watch.slots.iter().zip(feature) {
                inputs[slot] = value;
            }
        }
        for x in &self.encounters {
            let mut latches = d.latches.clone();
            let place = x.place(|r| self.main.output(&work, r as usize));
            x.encounter.fit(x.latches_mut(&mut latches), &place, false);
            x.write(&x.encounter, &latches, |slot, value| inputs[slot] = value);
        }
        let mut work = self.sizes.workspace();
        self.sizes.eval(&inputs, &mut work);
        (0..self.sizes.output_count()).map(|k| self.sizes.output(&work, k)).collect()
    }

    /// A machine whose gaps have no terms at the start (a block that leaves the origin along a slope): what speed and forces of the start
    /// make of them until the end of the run, or until springs turn the motion back; 1 when that is nothing.
    fn size_in_motion(&self, state: &State, d: &Discrete, until: Option<f64>) -> f64 {
        let normals: Vec<usize> =
            self.contacts.iter().flat_map(|c| c.normal_rows().iter().copied()).collect();
        if normals.is_empty() {
            return 1.0;
        }
        let until = until.unwrap_or(f64::NAN);
        let mut eval = self.memory();
        self.evaluate(state, d, &mut eval);
        let mut tangent = Tangent::new(self);
        let mut way = |k: usize| {
            let mass = eval.mass.diagonal(k);
            let mut along = State { u: vec![0.0; self.dims.u], ..state.clone() };
            along.u[k] = 1.0;
            let mut q = vec![0.0; self.dims.q];
            self.q_rate(&along, &mut q);
            self.tangent(state, d, &eval, &Along { q: &q, ..Along::default() }, &mut tangent);
            // 1/ω of the coordinate alone
            let swing = (mass / tangent.rate.h[k].abs()).sqrt();
            let time = (until - state.t).abs().min(swing);
            let fall = if mass > 0.0 { eval.h[k].abs() / mass * time * time } else { 0.0 };
            state.u[k].abs() * time + fall
        };
        let size = |r: usize| eval.w.row(r).iter().map(|(k, w)| w.abs() * way(k)).sum::<f64>();
        let largest = normals.into_iter().map(size).filter(|v| v.is_finite()).fold(0.0, f64::max);
        if largest > 0.0 { largest } else { 1.0 }
    }
}

fn largest_of(sizes: &[f64]) -> f64 {
    sizes.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::max)
}
