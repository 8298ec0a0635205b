//! Painlevé's friction forces on the bodies of a model (ANH-1.2-RHO, ANH-5.2-PLAW).
//!
//! ```text
//! ρ_i = m_i (W_i − W_i⁰) = m_i J_i (u̇ − u̇⁰)        torque: I_i (ω̇_i − ω̇_i⁰)                    (5.38)
//! ```
//!
//! W_i is the acceleration of the mass centre with friction, W_i⁰ the one without, at the same state. The rows m_i J_i and I_i ∂ω_i/∂u
//! come out of the compiled equations themselves: every body gets the force `(m a, m b)` at its mass centre and the torque
//! `I c` with three extra parameters a, b, c, and h is affine in them with these rows as slopes. Bodies given by a kinetic
//! energy alone have no particles and are left out. To rounding.

use super::{AnalysisError, Snapshot};
use crate::linalg::dot;
use crate::model::{CompiledSystem, Feature, FeatureRef, Force, ForceKind, Model, Shape, Span, build};
use crate::system::State;

/// Rows of all bodies with mass or inertia at one state.
#[derive(Clone, Debug)]
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
    /// Take the rows of `model` at `state`.
    ///
    /// # Errors
    ///
    /// A model that cannot be built or evaluated there.
    pub fn new(model: &Model, state: &State) -> Result<Particles, AnalysisError> {
        let mut model = model.clone();
        let first = model.live_parameters();
        let zero = model.graph.num(0.0);
        let names: Vec<(usize, String)> = model
            .bodies
            .iter()
            .enumerate()
            .filter(|(_, b)| b.mass != zero || b.inertia != zero)
            .map(|(i, b)| (i, b.name.clone()))
            .collect();
        for (i, name) in &names {
            let factor = [1, 2, 3].map(|axis| model.add_live_parameter(format!("{name}.particle[{axis}]")));
            let body = &mut model.bodies[*i];
            let (mass, inertia) = (body.mass, body.inertia);
            body.features.push(Feature {
                name: String::new(),
                shape: Shape::Point(body.center),
                span: Span::default(),
            });
            let point = FeatureRef { body: Some(*i), feature: Some(body.features.len() - 1) };
            let force = [factor[0], factor[1]].map(|f| model.graph.mul(mass, f));
            let torque = model.graph.mul(inertia, factor[2]);
            let kinds = [
                ForceKind::At { point, force, body_axes: false },
                ForceKind::Torque { body: *i, torque, against: None },
            ];
            for kind in kinds {
                model.forces.push(Force { name: format!("{name}.particle"), kind, span: Span::default() });
            }
        }
        let mut system = build(&model).map_err(|e| AnalysisError::Key(e.message))?;
        let mut values = model.live_values();
        let mut at = Snapshot::new(&system);
        at.state.clone_from(state);
        let mut take = |system: &mut CompiledSystem, values: &[f64]| -> Result<Vec<f64>, AnalysisError> {
            system.set_parameters(values);
            at.take(system)?;
            Ok(at.eval.h.clone())
        };
        let base = take(&mut system, &values)?;
        // a slope is exact when its term is of the size of the rest
        let size = crate::linalg::max_abs(&base).max(1.0);
        let mut bodies = Vec::new();
        for (k, (_, name)) in names.into_iter().enumerate() {
            let mut rows = [Vec::new(), Vec::new(), Vec::new()];
            for (axis, row) in rows.iter_mut().enumerate() {
                values[first + 3 * k + axis] = size;
                let with = take(&mut system, &values)?;
                values[first + 3 * k + axis] = 0.0;
                *row = with.iter().zip(&base).map(|(a, b)| (a - b) / size).collect();
            }
            bodies.push((name, rows));
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
            let particles = Particles::new(&model, &start).unwrap();
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
