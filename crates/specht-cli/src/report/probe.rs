//! Values of model expressions at recorded instants (plots, drawings, poses).

use specht::expr::{Graph, NodeId, Symbol, Tape, Work};
use specht::model::{Input, Model};
use specht::sim::Sample;

/// Expressions compiled for evaluation along a run.
pub struct Probe {
    tape: Tape,
    work: Work,
    values: Vec<f64>,
    meaning: Vec<Input>,
    live: Vec<f64>,
}

impl Probe {
    /// Compile `roots` of `graph`, whose symbols are those of `model`.
    pub fn new(model: &Model, graph: &Graph, roots: &[NodeId]) -> Self {
        let tape = Tape::new(graph, roots);
        let mut live = Vec::new();
        for p in &model.parameters {
            if let Some(k) = p.live {
                live.resize(live.len().max(k + 1), f64::NAN);
                live[k] = p.value;
            }
        }
        Probe {
            work: tape.workspace(),
            tape,
            values: vec![0.0; model.inputs.len() + 1],
            meaning: model.inputs.clone(),
            live,
        }
    }

    /// Evaluate at a row of the series.
    pub fn at(&mut self, s: &Sample) {
        let get = |list: &[f64], k: usize| list.get(k).copied().unwrap_or(0.0);
        for (value, meaning) in self.values.iter_mut().zip(&self.meaning) {
            *value = match *meaning {
                Input::Time => s.t,
                Input::Coordinate(k) => get(s.q, k),
                Input::Velocity(k) => get(s.u, k),
                Input::Acceleration(k) => get(s.accel, k),
                Input::State(k) => get(s.z, k),
                Input::Memory(k) => get(s.memory, k),
                Input::Parameter(k) => get(&self.live, k),
                Input::Direction(k) => s.modes.get(k).map_or(0.0, |m| m.direction()),
                Input::Normal(k) => get(s.normal, k),
                Input::Tangential(k) => get(s.tangential, k),
                Input::Mode(k) => s.modes.get(k).map_or(0.0, |m| Input::mode_number(*m)),
                Input::Energy(k) => get(s.energy, k),
                Input::Gap(k) => get(s.gap, k),
                Input::Slip(k) => get(s.slip, k),
                // known in outputs only
                Input::FrictionNormal(_) => f64::NAN,
                _ => 0.0,
            };
        }
        self.tape.eval(&self.values, &mut self.work);
    }

    /// A symbol that is no input of the model; [`Probe::with`] sets it.
    pub fn free_symbol(model: &Model) -> Symbol {
        Symbol(model.inputs.len() as u32)
    }

    /// Evaluate again with the free symbol changed (parameter of a curve).
    pub fn with(&mut self, value: f64) {
        if let Some(free) = self.values.last_mut() {
            *free = value;
        }
        self.tape.eval(&self.values, &mut self.work);
    }

    /// Value of root `k`.
    pub fn value(&self, k: usize) -> f64 {
        self.tape.output(&self.work, k)
    }
}
