//! Initial value problems `ẋ = f(t, x)`: one explicit method with dense output, and its step size control.
//!
//! * [`Dopri5`]: the pair of order 5(4) by Dormand and Prince with the continuous extension of order 4.
//! * [`Control`]: error norm and PI step size control, with scales that follow the size of each component.

mod control;
mod dopri5;

pub use control::{Control, Verdict};
pub use dopri5::{Dopri5, STAGE_TIMES, STAGES};

/// A right-hand side.
pub trait Rhs {
    /// `dx = f(t, x)`. `stage` is the index of the stage (0 … 6; 6 is the end of the step). Returns false where `f` does
    /// not exist (the step is then shortened).
    fn rates(&mut self, stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool;
}

impl<F: FnMut(f64, &[f64], &mut [f64])> Rhs for F {
    fn rates(&mut self, _stage: usize, t: f64, x: &[f64], dx: &mut [f64]) -> bool {
        self(t, x, dx);
        true
    }
}
