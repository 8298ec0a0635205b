//! The exact Jacobian of the smooth motion for the implicit method: one tangent per column, with the factors of the forces.
//!
//! Differences would be rounding over rounding where a machine has come to rest, and the iteration would not converge there.

use crate::contact::Forces;
use crate::linalg::Mat;
use crate::system::{Along, System, Tangent};

use super::field::Field;
use super::ledger;

/// Memory for the columns.
pub(crate) struct Slopes {
    tangent: Tangent,
    rates: Forces,
    direction: Vec<f64>,
    column: Vec<f64>,
}

impl<S: System + ?Sized> Field<'_, S> {
    /// ∂ẋ/∂x at `(t, x)` for the components before the ledger. False where there are no exact derivatives: friction in a tangent plane,
    /// laws of the rate of loading or of heat, a linkage at its change point.
    pub(super) fn exact_slopes(&mut self, t: f64, x: &[f64], out: &mut Mat) -> bool {
        let differs = self.spatial || self.uses_load_rate || self.uses_heat || self.chart.active;
        if differs || self.dims.q != self.dims.u || !self.within(t, x) {
            return false;
        }
        let n = self.tail();
        let (q, u) = (self.dims.q, self.dims.u);
        let slopes = self.slopes.get_or_insert_with(|| {
            Box::new(Slopes {
                tangent: Tangent::new(self.sys),
                rates: Forces::default(),
                direction: vec![0.0; n],
                column: vec![0.0; n + ledger::integrals(self.dims.contacts)],
            })
        });
        let Slopes { tangent, rates, direction, column } = &mut **slopes;
        for j in 0..n {
            direction.fill(0.0);
            direction[j] = 1.0;
            let (dq, rest) = direction.split_at(q);
            let (du, dz) = rest.split_at(u);
            let along = Along { q: dq, u: du, z: dz, ..Default::default() };
            if !self.sys.tangent(&self.state, &self.discrete, &self.eval, &along, tangent) {
                return false;
            }
            let (info, modes) = (self.info, &self.discrete.modes);
            self.fixed.tangent(info, &self.eval, modes, &self.signs, &self.forces, &tangent.rate, rates);
            column[..q].copy_from_slice(du);
            column[q..q + u].copy_from_slice(&rates.accel);
            column[q + u..n].copy_from_slice(&tangent.rate.z_rate);
            let motion = (&self.eval, &self.forces, &self.state.u[..]);
            ledger::power_rates(info, motion, (&tangent.rate, rates, du), &mut column[n..]);
            for (i, slope) in column.iter().enumerate() {
                out[(i, j)] = *slope;
            }
        }
        true
    }
}
