//! Jacobians of points and bodies of a compiled model: ∂(x, y, θ)/∂u at a state, from the poses of the bodies and their rates
//! along every coordinate. Not for time steps: memory is made at every call.

use crate::expr::{NodeId, Tape};
use crate::linalg::Mat;
use crate::system::{Discrete, State, System};

use super::compiled::CompiledSystem;
use super::program::Source;
use super::{FeatureRef, Input, Shape, SpaceShape};

impl CompiledSystem {
    /// Rows ∂x, ∂y, ∂θ by the velocities of a point of a body: at `local` in its axes, or its origin.
    pub(crate) fn body_jacobian(
        &self,
        s: &State,
        d: &Discrete,
        body: usize,
        local: Option<[NodeId; 2]>,
    ) -> Mat {
        let n = self.dims.u;
        let mut inputs = self.base.clone();
        self.fill(s, d, &mut inputs);
        let (mut work, mut rates) = (self.poses.workspace(), self.poses.rates());
        self.poses.eval(&inputs, &mut work);
        let arm = local.map_or([0.0; 2], |local| {
            let [x, y] = self.values(&inputs, local);
            let (sin, cos) = self.poses.output(&work, 3 * body + 2).sin_cos();
            [cos * x - sin * y, sin * x + cos * y]
        });
        let mut jacobian = Mat::zeros(3, n);
        let mut along = vec![0.0; inputs.len()];
        for (slot, input) in self.inputs.iter().enumerate() {
            let Input::Coordinate(k) = *input else { continue };
            along[slot] = 1.0;
            self.poses.tangent(&work, &along, &mut rates);
            along[slot] = 0.0;
            let [vx, vy, turn] = [0, 1, 2].map(|i| self.poses.output(&rates, 3 * body + i));
            jacobian[(0, k)] = vx - turn * arm[1];
            jacobian[(1, k)] = vy + turn * arm[0];
            jacobian[(2, k)] = turn;
        }
        jacobian
    }

    /// The same of a point feature, or of the origin of a body; `None` for what is no point of a body.
    pub fn point_jacobian(&self, s: &State, d: &Discrete, point: FeatureRef) -> Option<Mat> {
        let body = point.body?;
        let features = &self.model.bodies.get(body)?.features;
        let local = match point.feature.map(|f| features.get(f).map(|f| &f.shape)) {
            None => None,
            Some(Some(Shape::Point(local))) => Some(*local),
            Some(_) => return None,
        };
        Some(self.body_jacobian(s, d, body, local))
    }

    /// Rows ∂x, ∂y, ∂z by the velocities of a point feature of a body in space, or of its origin; `None` for what is none.
    pub(crate) fn space_jacobian(&self, s: &State, d: &Discrete, point: FeatureRef) -> Option<[Vec<f64>; 3]> {
        let body = point.body?;
        let features = &self.model.bodies.get(body)?.features;
        let mut inputs = self.base.clone();
        self.fill(s, d, &mut inputs);
        let local = match point.feature.map(|f| features.get(f).map(|f| &f.shape)) {
            None => [0.0; 3],
            Some(Some(Shape::Space(SpaceShape::Point(local)))) => self.values(&inputs, *local),
            Some(_) => return None,
        };
        let (mut work, mut rates) = (self.space_poses.workspace(), self.space_poses.rates());
        self.space_poses.eval(&inputs, &mut work);
        let mut out: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; self.dims.u]);
        let (mut state, mut q_rate) = (s.clone(), vec![0.0; s.q.len()]);
        for k in 0..self.dims.u {
            state.u.fill(0.0);
            state.u[k] = 1.0;
            self.q_rate(&state, &mut q_rate);
            let mut along = vec![0.0; inputs.len()];
            for &(slot, source) in &self.fill {
                if let Source::Q(j) = source {
                    along[slot as usize] = q_rate[j];
                }
            }
            self.space_poses.tangent(&work, &along, &mut rates);
            let rate = |i: usize| self.space_poses.output(&rates, 15 * body + i);
            for (a, row) in out.iter_mut().enumerate() {
                row[k] = rate(a) + (0..3).map(|j| rate(3 + 3 * a + j) * local[j]).sum::<f64>();
            }
        }
        Some(out)
    }

    /// Gravity of a model, as a vector; zero in the plane of none.
    pub(crate) fn gravity_of(&self, model: &super::Model) -> [f64; 3] {
        self.values(&self.base, model.gravity)
    }

    /// Origin and rows of the axes of all bodies in space.
    pub(crate) fn space_places(&self, s: &State, d: &Discrete) -> Vec<[f64; 12]> {
        let mut inputs = self.base.clone();
        self.fill(s, d, &mut inputs);
        let mut work = self.space_poses.workspace();
        self.space_poses.eval(&inputs, &mut work);
        let count = self.space_poses.output_count() / 15;
        (0..count).map(|k| std::array::from_fn(|i| self.space_poses.output(&work, 15 * k + i))).collect()
    }

    /// Angular velocity of a body in space in inertial axes, and its rate with the given accelerations.
    pub(crate) fn body_spin(&self, s: &State, body: usize, accel: Option<&[f64]>) -> [[f64; 3]; 2] {
        let d = self.fresh_discrete();
        let mut inputs = self.base.clone();
        self.fill(s, &d, &mut inputs);
        let tape = &self.space_poses;
        let (mut work, mut rates) = (tape.workspace(), tape.rates());
        tape.eval(&inputs, &mut work);
        let of = |work: &crate::expr::Work| [12, 13, 14].map(|i| tape.output(work, 15 * body + i));
        let Some(accel) = accel.filter(|a| a.len() == self.dims.u) else {
            return [of(&work), [f64::NAN; 3]];
        };
        let mut q_rate = vec![0.0; s.q.len()];
        self.q_rate(s, &mut q_rate);
        let mut z_rate = Vec::new();
        if self.dims.z > 0 {
            let mut eval = self.memory();
            self.evaluate(s, &d, &mut eval);
            z_rate = eval.z_rate;
        }
        let mut along = vec![0.0; inputs.len()];
        for &(slot, source) in &self.fill {
            along[slot as usize] = match source {
                Source::Time => 1.0,
                Source::Q(j) => q_rate[j],
                Source::U(j) => accel[j],
                Source::Z(j) => z_rate[j],
                _ => 0.0,
            };
        }
        tape.tangent(&work, &along, &mut rates);
        [of(&work), of(&rates)]
    }

    /// Mass and moment of inertia of a body.
    pub(crate) fn inertia(&self, body: usize) -> [f64; 2] {
        let b = &self.model.bodies[body];
        self.values(&self.base, [b.mass, b.inertia])
    }

    /// Values of formulas of the model.
    fn values<const N: usize>(&self, inputs: &[f64], nodes: [NodeId; N]) -> [f64; N] {
        let tape = Tape::new(&self.model.graph, &nodes);
        let mut work = tape.workspace();
        tape.eval(inputs, &mut work);
        std::array::from_fn(|k| tape.output(&work, k))
    }
}
