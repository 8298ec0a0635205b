//! Painlevé's friction forces on the bodies of a model (ANH-1.2-RHO, ANH-5.2-PLAW).
//!
//! ```text
//! ρ_i = m_i (W_i − W_i⁰) = m_i J_i (u̇ − u̇⁰)        torque: I_i (ω̇_i − ω̇_i⁰)                    (5.38)
//! ```
//!
//! W_i is the acceleration of the mass centre with friction, W_i⁰ the one without, at the same state; J_i is its Jacobian. Bodies given by
//! a kinetic energy alone have no particles and are left out. To rounding.

use super::{AnalysisError, Snapshot};
use crate::linalg::dot;
use crate::model::CompiledSystem;
use crate::system::State;

/// Rows of all bodies with mass or inertia at one state.
#[derive(Clone, Debug, Default)]
pub struct Particles {
    bodies: Vec<(String, [Vec<f64>; 3])>,
}

/// The force on one body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyForce {
    /// Name of the body.
    pub body: String,
    /// Force at the mass centre.
    pub force: [f64; 2],
    /// Torque about it.
    pub torque: f64,
}

impl Particles {
    /// Take the rows of a system at `state`.
    ///
    /// # Errors
    ///
    /// A system that cannot be evaluated there.
    pub fn new(system: &CompiledSystem, state: &State) -> Result<Particles, AnalysisError> {
        let mut at = Snapshot::new(system);
        at.state.clone_from(state);
        at.take(system)?;
        let mut bodies = Vec::new();
        for (i, body) in system.model().bodies.iter().enumerate() {
            let [mass, inertia] = system.inertia(i);
            if mass == 0.0 && inertia == 0.0 {
                continue;
            }
            let jacobian = system.body_jacobian(&at.state, &at.discrete, i, Some(body.center));
            let row = |axis: usize, weight: f64| jacobian.row(axis).iter().map(|j| weight * j).collect();
            bodies.push((body.name.clone(), [row(0, mass), row(1, mass), row(2, inertia)]));
        }
        Ok(Particles { bodies })
    }

    /// ρ of every body for a change of the accelerations by friction.
    pub fn forces(&self, change: &[f64]) -> Vec<BodyForce> {
        let one = |(body, rows): &(String, [Vec<f64>; 3])| BodyForce {
            body: body.clone(),
            force: [dot(&rows[0], change), dot(&rows[1], change)],
            torque: dot(&rows[2], change),
        };
        self.bodies.iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::painleve;
    use crate::model::build;

    /// ANH-5.2-PLAW, ANH-5.5-TWOPAIR: (5.93) on both sliders, at several parameter values and in both directions.
    #[test]
    fn anh_5_2_plaw_forces_on_the_two_sliders() {
        let path = format!("{}/../../gallery/two_guides/model.toml", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        for (m2, mu1, mu2, phi, v) in [
            (2.0, 0.9, 0.1, 0.87_f64, 1.0_f64),
            (0.7, 0.3, 0.8, 1.2, -0.5),
            (3.0, 0.0, 0.4, 0.3, -2.0),
            (2.0, 0.9, 0.1, 1.25, 1.0),
        ] {
            let set = [("M2", m2), ("mu1", mu1), ("mu2", mu2), ("phi", phi), ("v0", v)];
            let set = set.iter().map(|(k, x)| ((*k).to_string(), format!("{x:e}"))).collect();
            let options = crate::file::Options { set, case: None, live: Vec::new() };
            let model = crate::file::read(&text, &options).unwrap().model;
            let system = build(&model).unwrap();
            let start = system.start();
            let found = painleve(&system, &start, &[]).unwrap();
            assert!(!found.solutions.is_empty());
            let particles = Particles::new(&system, &start).unwrap();
            let (m1, p1, p2, t) = (1.0, 3.0, 2.0, phi.tan());
            for s in &found.solutions {
                let change: Vec<f64> =
                    s.accel.iter().zip(&found.frictionless_accel).map(|(a, b)| a - b).collect();
                let e = (s.normal[0] * v).signum();
                let below = (mu1 * m2 - mu2 * m1) * e * t + m1 + m2;
                for (f, m) in particles.forces(&change).iter().zip([m1, m2]) {
                    let rho = m / (m1 + m2) * (mu1 + mu2) * (m1 * p2 - m2 * p1) * e * t / below;
                    assert!((f.force[0] - rho).abs() < 1e-12 * (1.0 + rho.abs()), "{f:?} {rho}");
                    assert!(f.force[1].abs() < 1e-12 && f.torque == 0.0, "{f:?}");
                }
            }
        }
    }
}
