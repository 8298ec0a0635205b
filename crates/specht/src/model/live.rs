//! Live parameters: inputs that change without compiling again.

use super::Model;

impl Model {
    /// Number of live parameters.
    pub fn live_parameters(&self) -> usize {
        self.parameters.iter().filter_map(|p| p.live.map(|k| k + 1)).max().unwrap_or(0)
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
