//! What others may read of a compiled model: names, poses, contacts by their number in the file.

use crate::expr::{Fun, NodeId, Op, Symbol, Tape};
use crate::system::{Discrete, State, System};

use super::Input;
use super::compiled::CompiledSystem;
use super::frames::Builder;

impl CompiledSystem {
    /// The model from which the system was built.
    pub(crate) fn model(&self) -> &super::Model {
        &self.model
    }

    /// Values of the live parameters, by their numbers.
    pub(crate) fn parameters(&self) -> &[f64] {
        &self.parameters
    }

    /// Value of an expression of parameters.
    pub(crate) fn constant(&self, node: NodeId) -> f64 {
        let tape = Tape::new(&self.model.graph, &[node]);
        let mut work = tape.workspace();
        tape.eval(&self.base, &mut work);
        tape.output(&work, 0)
    }

    /// Names of the first-order states; relaxing surfaces come last, as `NAME.surface`.
    pub(crate) fn state_names(&self) -> &[String] {
        &self.state_names
    }

    /// The contacts of the system that one contact of the model became (several for outlines).
    pub(crate) fn contacts_of(&self, model_contact: usize) -> std::ops::Range<usize> {
        self.of_model.get(model_contact).cloned().unwrap_or(0..0)
    }

    /// World poses (x, y, angle) of all bodies.
    pub fn poses(&self, s: &State, out: &mut Vec<[f64; 3]>) {
        let mut inputs = self.base.clone();
        let d = self.fresh_discrete();
        self.fill(s, &d, &mut inputs);
        let mut work = self.poses.workspace();
        self.poses.eval(&inputs, &mut work);
        out.clear();
        out.extend(
            (0..self.model.bodies.len()).map(|i| [0, 1, 2].map(|j| self.poses.output(&work, 3 * i + j))),
        );
    }

    /// A discrete state of the right sizes: everything open, no latch set.
    pub fn fresh_discrete(&self) -> Discrete {
        Discrete::new(&self.dims)
    }

    /// Relaxing surfaces at the start: at rest, or where the body presses them.
    pub(super) fn start_surfaces(&self, s: &mut State) {
        if self.flanks.iter().all(|f| f.surface.is_none()) {
            return;
        }
        let mut out = self.memory();
        let mut d = self.fresh_discrete();
        self.latch(s, &mut d, &mut out, false);
        self.evaluate(s, &d, &mut out);
        for f in &self.flanks {
            if let Some(state) = f.surface {
                s.z[state] = self.output(&out, f.gap).min(0.0);
            }
        }
    }

    /// Which event functions change the motion when they fire: they write to the memory or end the run.
    pub(crate) fn deciding_crossings(&self) -> Vec<bool> {
        let events = self.model.events.iter();
        events
            .filter(|e| matches!(e.trigger, super::Trigger::Crossing(..)))
            .map(|e| e.stop || !e.set.is_empty())
            .collect()
    }

    /// Periods of the sines, cosines and steps of time in the formulas, s.
    pub(crate) fn time_periods(&self) -> Vec<f64> {
        let graph = &self.model.graph;
        let is_time = |s: Symbol| matches!(self.model.inputs.get(s.0 as usize), Some(Input::Time));
        let slope = |node: NodeId| {
            if !graph.depends_on(node, is_time) {
                return None;
            }
            let tape = Tape::new(graph, &[node]);
            let mut work = tape.workspace();
            let mut at = |t: f64| {
                let mut inputs = self.base.clone();
                for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
                    if matches!(input, Input::Time) {
                        *slot = t;
                    }
                }
                tape.eval(&inputs, &mut work);
                tape.output(&work, 0)
            };
            let (a, b, c) = (at(0.0), at(1.0), at(2.0));
            let straight = (a - 2.0 * b + c).abs() <= 1e-9 * (b - a).abs();
            (straight && b != a).then(|| (b - a).abs())
        };
        let mut periods = Vec::new();
        for k in 0..graph.len() {
            match graph.op(NodeId(k as u32)) {
                Op::Fun(Fun::Sin | Fun::Cos, a) => {
                    periods.extend(slope(a).map(|w| std::f64::consts::TAU / w))
                }
                Op::Floor(a) => periods.extend(slope(a).map(|w| 1.0 / w)),
                _ => {}
            }
        }
        periods
    }
}

impl Builder<'_> {
    /// Inputs with default parameters, everything else zero.
    pub(super) fn default_inputs(&self) -> Vec<f64> {
        let mut inputs = vec![0.0; self.inputs.len()];
        for (k, input) in self.inputs.iter().enumerate() {
            if let Input::Parameter(p) = *input
                && let Some(parameter) = self.model.parameters.iter().find(|x| x.live == Some(p))
            {
                inputs[k] = parameter.value;
            }
        }
        inputs
    }

    /// Value of a node with the default parameters, everything else zero.
    pub(super) fn default_value(&mut self, node: NodeId) -> f64 {
        if let Some(value) = self.g.constant(node) {
            return value;
        }
        let inputs = self.default_inputs();
        let tape = Tape::new(&self.g, &[node]);
        let mut work = tape.workspace();
        tape.eval(&inputs, &mut work);
        tape.output(&work, 0)
    }
}
