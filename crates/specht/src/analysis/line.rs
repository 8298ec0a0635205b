//! A straight line in the space of the open parameters: one of them alone, or a way through the plane of two.

use crate::model::CompiledSystem;

/// Parameters that change together; the place on the line is their common measure.
#[derive(Clone, Debug)]
pub(crate) struct Line(Vec<Way>);

/// A parameter: `value + rate s` at the place s.
#[derive(Clone, Copy, Debug)]
struct Way {
    slot: usize,
    value: f64,
    rate: f64,
}

impl Line {
    /// One parameter, measured by itself.
    pub(crate) fn of(slot: usize) -> Line {
        Line(vec![Way { slot, value: 0.0, rate: 1.0 }])
    }

    /// From `at` along `way`.
    pub(crate) fn through(slots: [usize; 2], at: [f64; 2], way: [f64; 2]) -> Line {
        Line((0..2).map(|k| Way { slot: slots[k], value: at[k], rate: way[k] }).collect())
    }

    /// The system at a place.
    pub(crate) fn at(&self, sys: &CompiledSystem, s: f64) -> CompiledSystem {
        let mut sys = sys.clone();
        let mut values = sys.parameters().to_vec();
        for w in &self.0 {
            values[w.slot] = w.value + w.rate * s;
        }
        sys.set_parameters(&values);
        sys
    }

    /// Numbers of the parameters and their rates.
    pub(crate) fn rates(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().map(|w| (w.slot, w.rate))
    }

    /// The way along the line that changes a parameter by its own size.
    pub(crate) fn amount(&self, values: &[f64]) -> f64 {
        let sizes = self.0.iter().filter(|w| w.rate != 0.0).map(|w| (values[w.slot] / w.rate).abs());
        sizes.fold(0.0, f64::max)
    }
}
