//! Directions of a branch, and how it bends.

use crate::linalg::max_abs;

/// A step that bends by more, relative to its length, is predicted straight.
const BENDS: f64 = 0.25;

/// A direction: numbers of the state, scaled; period; parameter, in units of its range.
#[derive(Clone, Debug)]
pub(super) struct Tangent {
    pub(super) x: Vec<f64>,
    pub(super) period: f64,
    pub(super) parameter: f64,
}

impl Tangent {
    /// What the bend of the branch adds over the step `s` from here, where the point before had the direction `before.0` a step `before.1` back.
    pub(super) fn bend(&self, before: &(Tangent, f64), s: f64) -> Tangent {
        let factor = 0.5 * s * s / before.1;
        let old = &before.0;
        let mut out = Tangent {
            x: self.x.iter().zip(&old.x).map(|(a, b)| factor * (a - b)).collect(),
            period: factor * (self.period - old.period),
            parameter: factor * (self.parameter - old.parameter),
        };
        // a kink is no bend
        if max_abs(&out.x).max(out.parameter.abs()) > BENDS * s {
            out.scale(0.0);
        }
        out
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.x.iter_mut().for_each(|v| *v *= factor);
        self.period *= factor;
        self.parameter *= factor;
    }
}
