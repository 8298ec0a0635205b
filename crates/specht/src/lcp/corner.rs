//! The corner law, the one element from which all unilateral laws are assembled (PG-9-CORNER)
//!
//! ```text
//! K ≥ 0,   I − I₀ ≥ 0,   K (I − I₀) = 0.
//! ```
//!
//! `K` is a kinematic quantity (distance, velocity, acceleration), `I` an interaction (force, impulse), `I₀` its offset
//! (zero, or the momentum ε Λ_C stored in compression). With `K = G I + c` the corners form the complementarity problem
//! of `z = I − I₀`: `A = G`, `b = c + G I₀`.

use super::Lcp;
use crate::linalg::{Mat, dot};

/// Which side of a corner is active, and the quantity to monitor there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Corner {
    /// The constraint is passive (`I = I₀`): watch the kinematic quantity `K`.
    Passive(f64),
    /// The constraint is active (`K = 0`): watch the interaction above its offset, `I − I₀`.
    Active(f64),
}

/// Corners coupled by `K = G I + c`.
#[derive(Clone, Debug, Default)]
pub struct Corners {
    matrix: Mat,
    constant: Vec<f64>,
    offset: Vec<f64>,
    b: Vec<f64>,
}

impl Corners {
    /// From `G`, `c` and the offsets `I₀`, all of the same size (else `None`).
    pub fn new(matrix: Mat, constant: Vec<f64>, offset: Vec<f64>) -> Option<Self> {
        let n = constant.len();
        if matrix.rows() != n || matrix.cols() != n || offset.len() != n {
            return None;
        }
        let b = (0..n).map(|i| constant[i] + dot(matrix.row(i), &offset)).collect();
        Some(Corners { matrix, constant, offset, b })
    }

    /// The complementarity problem of `z = I − I₀`.
    pub fn lcp(&self) -> Lcp<'_> {
        Lcp::new(&self.matrix, &self.b)
    }

    /// `I = I₀ + z`.
    pub fn interaction(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.offset).map(|(z, o)| z + o).collect()
    }

    /// `K = G I + c` of given interactions.
    pub fn kinematic(&self, interaction: &[f64]) -> Vec<f64> {
        (0..self.constant.len()).map(|i| self.constant[i] + dot(self.matrix.row(i), interaction)).collect()
    }

    /// The state of corner `i` in a solution `(z, w)`: active where the interaction dominates.
    pub fn state(&self, i: usize, z: &[f64], w: &[f64]) -> Corner {
        if z[i] > 0.0 { Corner::Active(z[i]) } else { Corner::Passive(w[i]) }
    }
}
