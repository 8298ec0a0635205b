//! What values masses, radii, coefficients may have. The reader of a file checks the values that stand there; what depends on live
//! parameters is kept here and looked at again whenever they change, so that a sweep refuses what a single run refuses.

use super::compiled::CompiledSystem;
use super::{Input, Model};
use crate::expr::{NodeId, Tape};

/// Which values make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// v ≥ 0
    NotNegative,
    /// v > 0
    Positive,
    /// 0 ≤ v ≤ 1
    Share,
}

impl Bound {
    /// Whether a value makes sense.
    pub(crate) fn admits(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Bound::NotNegative => value >= 0.0,
                Bound::Positive => value > 0.0,
                Bound::Share => (0.0..=1.0).contains(&value),
            }
    }

    /// What to say when it does not admit `value`.
    pub(crate) fn help(self, value: f64) -> &'static str {
        match self {
            _ if !value.is_finite() => "it must be a finite number",
            Bound::NotNegative => "it cannot be negative",
            Bound::Positive => "it must be positive",
            Bound::Share => "it lies between 0 and 1",
        }
    }
}

/// A formula of live parameters and its bound.
#[derive(Clone, Debug)]
pub(crate) struct Demand {
    pub node: NodeId,
    pub bound: Bound,
    /// Words for the quantity: "the mass of `b`".
    pub what: String,
}

/// All demands as one tape.
#[derive(Clone, Debug)]
pub(super) struct Demands {
    list: Vec<(Bound, String)>,
    tape: Tape,
}

impl Demands {
    pub(super) fn new(model: &Model) -> Self {
        let nodes: Vec<NodeId> = model.demands.iter().map(|d| d.node).collect();
        Demands {
            list: model.demands.iter().map(|d| (d.bound, d.what.clone())).collect(),
            tape: Tape::new(&model.graph, &nodes),
        }
    }
}

impl CompiledSystem {
    /// The first quantity that has no sensible value with the live parameters as they are: what is wrong, and what holds.
    pub(crate) fn refusal(&self) -> Option<(String, &'static str)> {
        let demands = &self.demands;
        if demands.list.is_empty() {
            return None;
        }
        let mut inputs = vec![0.0; self.inputs.len()];
        for (slot, input) in inputs.iter_mut().zip(&self.inputs) {
            if let Input::Parameter(k) = *input {
                *slot = self.parameters.get(k).copied().unwrap_or(f64::NAN);
            }
        }
        let mut work = demands.tape.workspace();
        demands.tape.eval(&inputs, &mut work);
        let value = |k: usize| demands.tape.output(&work, k);
        let wrong = |(k, (bound, what)): (usize, &(Bound, String))| {
            let v = value(k);
            (!bound.admits(v)).then(|| (format!("{what} is {v}"), bound.help(v)))
        };
        demands.list.iter().enumerate().find_map(wrong)
    }
}
