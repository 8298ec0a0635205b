//! Initial value problems `ẋ = f(t, x)`: methods with dense output, and their step size control.
//!
//! * [`Dop853`]: explicit, order 8(5,3) with dense output of order 7, for tight tolerances.
//! * [`Radau`]: implicit, order 9, L-stable, for stiff problems.
//! * [`Method`]: both, with the choice between them; the event-driven scheme uses it.
//! * [`Control`]: error norm and PI step size control, with scales that follow the size of each component.

mod control;
mod dop853;
mod method;
mod radau;
mod radau_numbers;
#[cfg(test)]
mod stiff_tests;

pub(crate) use control::{Control, Verdict, nudge};
pub(crate) use dop853::{Dop853, STAGE_TIMES, STAGES};
pub use method::Choice;
pub(crate) use method::Method;
pub(crate) use radau::Radau;

use crate::linalg::Mat;

/// Evaluations that sample a step accurately, both ends included.
pub(crate) const SAMPLES: usize = 6;

/// Stage number of evaluations of which nobody takes a sample.
pub(crate) const INSIDE: usize = usize::MAX;

/// One step tried, as the step size control sees it.
pub(crate) trait Trial {
    /// Time at its beginning.
    fn time(&self) -> f64;
    /// Length of the step.
    fn step(&self) -> f64;
    /// State at its beginning.
    fn state(&self) -> &[f64];
    /// State at its end.
    fn end(&self) -> &[f64];
    /// Rates at its beginning.
    fn rates(&self) -> &[f64];
    /// Estimated error.
    fn error(&self) -> &[f64];
    /// The error behaves like the step to this power.
    fn order(&self) -> f64;
    /// Largest growth from one step to the next.
    fn growth(&self) -> f64;
}

macro_rules! trial {
    ($method:ty, $order:expr, $growth:expr) => {
        impl Trial for $method {
            fn time(&self) -> f64 {
                self.time()
            }
            fn step(&self) -> f64 {
                self.step()
            }
            fn state(&self) -> &[f64] {
                self.state()
            }
            fn end(&self) -> &[f64] {
                self.end()
            }
            fn rates(&self) -> &[f64] {
                self.rates()
            }
            fn error(&self) -> &[f64] {
                self.error()
            }
            fn order(&self) -> f64 {
                $order
            }
            fn growth(&self) -> f64 {
                $growth
            }
        }
    };
}

trial!(Dop853, 8.0, 8.0);
trial!(Radau, 6.0, radau::REACH);

/// A right-hand side.
pub(crate) trait Rhs {
    /// `dx = f(t, x)`. `stage` is the index of the stage (0: beginning of the step, the last one: its
    /// end; [`INSIDE`]: elsewhere). Returns false where `f` does
    /// not exist (the step is then shortened).
    fn rates(&mut self, stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool;

    /// `∂f/∂x` at `(t, x)` for the components on which `f` depends, exactly. False: it is found by differences.
    fn slopes(&mut self, _t: f64, _x: &[f64], _out: &mut Mat) -> bool {
        false
    }
}

impl<F: FnMut(f64, &[f64], &mut [f64])> Rhs for F {
    fn rates(&mut self, _stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        self(t, x, dx);
        true
    }
}
