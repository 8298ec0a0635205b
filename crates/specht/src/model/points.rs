//! Jacobians of points and bodies of a compiled model: ∂(x, y, θ)/∂u at a state, from the poses of the bodies and their rates
//! along every coordinate. Not for time steps: memory is made at every call.

use crate::expr::{NodeId, Tape};
use crate::linalg::Mat;
use crate::system::{Discrete, State};

use super::compiled::CompiledSystem;
use super::{FeatureRef, Input, Shape};

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

    /// Origin and rows of the axes of all bodies in space.
    pub(crate) fn space_places(&self, s: &State, d: &Discrete) -> Vec<[f64; 12]> {
        let mut inputs = self.base.clone();
        self.fill(s, d, &mut inputs);
        let mut work = self.space_poses.workspace();
        self.space_poses.eval(&inputs, &mut work);
        let count = self.space_poses.output_count() / 15;
        (0..count).map(|k| std::array::from_fn(|i| self.space_poses.output(&work, 15 * k + i))).collect()
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
