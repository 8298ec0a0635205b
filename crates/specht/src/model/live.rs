//! Live parameters: inputs that change without compiling again.

use super::{Input, Model};
use crate::expr::{NodeId, Tape};

impl Model {
    /// Number of live parameters.
    pub fn live_parameters(&self) -> usize {
        self.parameters.iter().filter_map(|p| p.live.map(|k| k + 1)).max().unwrap_or(0)
    }

    /// Value of an expression of parameters.
    pub fn constant(&self, node: NodeId) -> f64 {
        let tape = Tape::new(&self.graph, &[node]);
        let mut work = tape.workspace();
        let live =
            |k: usize| self.parameters.iter().find(|p| p.live == Some(k)).map_or(f64::NAN, |p| p.value);
        let value = |input: &Input| if let Input::Parameter(k) = input { live(*k) } else { 0.0 };
        tape.eval(&self.inputs.iter().map(value).collect::<Vec<f64>>(), &mut work);
        tape.output(&work, 0)
    }

    /// Values of the live parameters by number.
    pub fn live_values(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.live_parameters()];
        for p in &self.parameters {
            if let Some(k) = p.live {
                values[k] = p.value;
            }
        }
        values
    }
}
