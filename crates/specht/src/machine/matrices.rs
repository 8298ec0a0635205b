//! M and h at the start, as numbers for other programs.

use crate::system::{Discrete, System};

use super::{Error, Machine};

/// M u̇ = h + contact forces, at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// M, row by row.
    pub mass: Vec<Vec<f64>>,
    /// h.
    pub forces: Vec<f64>,
    /// The order of the velocities: `x'`, `ball.spin.x`.
    pub velocities: Vec<String>,
}

impl Machine {
    /// The equations of motion at the start.
    ///
    /// # Errors
    ///
    /// A start that contradicts itself.
    pub fn matrices(&self) -> Result<Matrices, Error> {
        let (system, start) = (self.system(), self.start()?);
        let mut eval = system.memory();
        let mut discrete = Discrete::new(&system.dims());
        system.latch(&start, &mut discrete, &mut eval, false);
        system.evaluate(&start, &discrete, &mut eval);
        let n = system.dims().u;
        Ok(Matrices {
            mass: (0..n).map(|i| (0..n).map(|j| eval.mass[(i, j)]).collect()).collect(),
            forces: eval.h.clone(),
            velocities: self.names().velocities().collect(),
        })
    }
}
