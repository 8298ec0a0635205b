//! Values of model expressions between recorded instants (drawings, poses). What a file plots is recorded by the engine itself.

use crate::expr::{Graph, NodeId, Symbol, Tape, Work};
use crate::model::{CompiledSystem, Input, Model};
use crate::sim::Sample;

/// Expressions compiled for evaluation along a run.
pub(super) struct Probe {
    tape: Tape,
    work: Work,
    values: Vec<f64>,
    meaning: Vec<Input>,
    live: Vec<f64>,
    /// Recorded contacts of each contact of the model: several for an outline.
    parts: Vec<std::ops::Range<usize>>,
}

impl Probe {
    /// Compile `roots` of `graph`, whose symbols are those of the model of `system`.
    pub(super) fn new(system: &CompiledSystem, graph: &Graph, roots: &[NodeId]) -> Self {
        let (model, tape) = (system.model(), Tape::new(graph, roots));
        Probe {
            work: tape.workspace(),
            tape,
            values: vec![0.0; model.inputs.len() + 1],
            meaning: model.inputs.clone(),
            live: model.live_values(),
            parts: (0..model.contacts.len()).map(|k| system.contacts_of(k)).collect(),
        }
    }

    /// Evaluate at a row of the series.
    pub(super) fn at(&mut self, s: &Sample) {
        let get = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(f64::NAN);
        // of the parts of an outline's contact the nearest stands for all
        let gap = |c: &usize| get(s.gap, *c);
        let nearest = |k: usize| {
            let parts = self.parts.get(k).cloned().unwrap_or(0..0);
            parts.min_by(|a, b| gap(a).total_cmp(&gap(b))).unwrap_or(usize::MAX)
        };
        for (value, meaning) in self.values.iter_mut().zip(&self.meaning) {
            *value = match *meaning {
                Input::Time => s.t,
                Input::Coordinate(k) => get(s.q, k),
                Input::Velocity(k) => get(s.u, k),
                Input::State(k) => get(s.z, k),
                Input::Memory(k) => get(s.memory, k),
                Input::Parameter(k) => get(&self.live, k),
                Input::Direction(k) => s.modes.get(nearest(k)).map_or(f64::NAN, |m| m.direction()),
                Input::Gap(k) => get(s.gap, nearest(k)),
                Input::Slip(k) => get(s.slip, nearest(k)),
                // not known to a drawing
                _ => f64::NAN,
            };
        }
        self.tape.eval(&self.values, &mut self.work);
    }

    /// A symbol that is no input of the model; [`Probe::with`] sets it.
    pub(super) fn free_symbol(model: &Model) -> Symbol {
        Symbol(model.inputs.len() as u32)
    }

    /// Evaluate again with the free symbol changed (parameter of a curve).
    pub(super) fn with(&mut self, value: f64) {
        if let Some(free) = self.values.last_mut() {
            *free = value;
        }
        self.tape.eval(&self.values, &mut self.work);
    }

    /// Value of root `k`.
    pub(super) fn value(&self, k: usize) -> f64 {
        self.tape.output(&self.work, k)
    }
}
