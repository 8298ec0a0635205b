//! Initial value problems `ẋ = f(t, x)`: explicit methods with dense output, and their step size control.
//!
//! * [`Dop853`]: order 8(5,3) with dense output of order 7, for tight tolerances; the schemes use it.
//! * [`Dopri5`]: order 5(4) with dense output of order 4, for moderate tolerances.
//! * [`Control`]: error norm and PI step size control, with scales that follow the size of each component.

mod control;
mod dop853;
mod dopri5;

pub use control::{Control, Verdict};
pub use dop853::{Dop853, STAGE_TIMES, STAGES};
pub use dopri5::Dopri5;

/// Stage number of evaluations inside a step, made for the dense output.
pub const INSIDE: usize = usize::MAX;

/// One step tried, as the step size control sees it.
pub trait Trial {
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
}

macro_rules! trial {
    ($method:ty, $order:expr) => {
        impl Trial for $method {
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
        }
    };
}

trial!(Dop853, 8.0);
trial!(Dopri5, 5.0);

/// A right-hand side.
pub trait Rhs {
    /// `dx = f(t, x)`. `stage` is the index of the stage (0: beginning of the step, the last one: its
    /// end; [`INSIDE`]: elsewhere). Returns false where `f` does
    /// not exist (the step is then shortened).
    fn rates(&mut self, stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool;
}

impl<F: FnMut(f64, &[f64], &mut [f64])> Rhs for F {
    fn rates(&mut self, _stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        self(t, x, dx);
        true
    }
}
