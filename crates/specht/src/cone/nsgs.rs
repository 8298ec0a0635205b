//! Block Gauss–Seidel with exact contacts (METH-CONE-NSGS)
//!
//! `q_i ← q_i + Σ_{j≠i} W_ij r_j`, then contact `i` is solved exactly, in fixed order, without relaxation (Jourdan, Alart,
//! Jean 1998). In body form the velocities `v = M⁻¹Hᵀr` are kept up to date and `W` is never formed. Works in the scaled
//! coordinates, where every friction cone has μ = 1. A contact without solution keeps its value and is counted.

use super::form::Form;
use super::island::Island;
use super::kernel::mul3;

/// Sweeps on `x`; contacts without a solution stay as they are. False when the form cannot sweep (coupled masses without `W`).
pub(super) fn sweep(island: &mut Island, x: &mut [f64], sweeps: usize) -> bool {
    if let Form::Body(f) = &mut island.form {
        if !f.has_blocks() {
            return false;
        }
        f.velocity(x);
    }
    for _ in 0..sweeps {
        for i in 0..island.cones.len() {
            let c = &island.cones[i];
            let w = island.diag[i];
            let old = c.rows.get(x);
            let au = match &island.form {
                Form::Dense(f) => f.rows_times(i, x),
                Form::Sparse(f) => f.rows_times(i, x),
                Form::Body(f) => f.rows_from_velocity(i),
            };
            let own = mul3(&w, &old);
            let b = c.rows.get(&island.b);
            let q = [au[0] - own[0] + b[0], au[1] - own[1] + b[1], au[2] - own[2] + b[2]];
            if let Some(new) = c.kind.alone(&island.scaled_shape(c, x), &w, &q, &old) {
                c.rows.put(&new, x);
                if let Form::Body(f) = &mut island.form {
                    f.push(i, &[new[0] - old[0], new[1] - old[1], new[2] - old[2]]);
                }
            }
        }
    }
    true
}
