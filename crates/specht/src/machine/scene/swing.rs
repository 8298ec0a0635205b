//! The machine swinging in a mode: one period as a moving picture.

use std::f64::consts::TAU;

use super::{Scene, scene, space::space_scene};
use crate::linalg::Complex;
use crate::machine::Machine;
use crate::model::CompiledSystem;
use crate::sim::{Point, Samples};
use crate::system::{Mode, State, System};

/// Instants of a period; between them the picture is interpolated.
const INSTANTS: usize = 24;
/// Share of the picture by which the machine moves.
const SWING: f64 = 0.12;
/// Largest turn, rad.
const TURN: f64 = 0.35;
/// Amplitude, relative, by which the size of the motion is measured.
const SMALL: f64 = 1e-4;

impl Machine {
    /// One period of a shape about a state, as large as can be seen well; `None` when there is nothing to show.
    pub(crate) fn swing(&self, state: &State, shape: &[Complex]) -> Option<Scene> {
        let system = self.system();
        let unit = SMALL * system.length_scale();
        let trial = period(system, state, shape, unit)?;
        let b = trial.bounds;
        let size = (b[2] - b[0]).max(b[3] - b[1]);
        let (mut moved, mut turned) = (0.0_f64, 0.0_f64);
        for body in &trial.bodies {
            let first = body.places.first()?;
            for p in &body.places {
                moved = moved.max((p.at[0] - first.at[0]).hypot(p.at[1] - first.at[1]));
                turned = turned.max((p.angle - first.angle).abs());
            }
        }
        // both ends of the swing
        let factor = (2.0 * SWING * size / moved).min(2.0 * TURN / turned);
        match factor.is_finite() && factor > 0.0 {
            true => period(system, state, shape, unit * factor),
            false => None,
        }
    }
}

fn period(system: &CompiledSystem, state: &State, shape: &[Complex], amplitude: f64) -> Option<Scene> {
    let (dims, contacts) = (system.dims(), system.contacts());
    let mut samples = Samples::new(dims, contacts, 0);
    let rows = if crate::sim::in_space(contacts, &dims) { dims.rows } else { 0 };
    for k in 0..=INSTANTS {
        let (s, c) = (TAU * k as f64 / INSTANTS as f64).sin_cos();
        let mut at = state.clone();
        at.t = k as f64;
        let way: Vec<f64> = shape.iter().map(|x| amplitude * (x.re * c - x.im * s)).collect();
        system.move_by(&mut at.q, &way);
        let rate = amplitude * TAU / INSTANTS as f64;
        at.u = shape.iter().map(|x| -rate * (x.re * s + x.im * c)).collect();
        let per_contact = vec![0.0; dims.contacts];
        let point = Point {
            state: at,
            accel: vec![0.0; dims.u],
            modes: vec![Mode::Open; dims.contacts],
            latches: vec![0; dims.latches],
            gap: per_contact.clone(),
            slip: per_contact.clone(),
            normal: per_contact.clone(),
            tangential: per_contact,
            rates: vec![0.0; rows],
            lambda: vec![0.0; rows],
            outputs: Vec::new(),
        };
        samples.push(&point, &Default::default(), true);
    }
    match system.model().is_spatial() {
        true => space_scene(system, &samples).map(|s| s.flat()),
        false => scene(system, &samples),
    }
}
