//! Kinematics of planar trees of bodies on the expression graph (PG-2-FRAMES, PG-2.4-RECURSION).
//!
//! ```text
//! A_j = A_i A_ij(q, t)      r_j = r_i + A_i p_j(q, t)          (2.29), chains share the nodes of their predecessors
//! v = J u + j̃               a = J u̇ + j̄                        (3.4)
//! ```
//!
//! J follows the recursion of (2.32) column by column: of a body, only the coordinates on which it depends have one. The
//! velocity offset j̃ is the explicit time part, the acceleration offset j̄ the total derivative of the velocity at u̇ = 0.
//! They are different things and kept apart. All derivatives are exact: taken on the graph, shared through it.

use std::collections::HashMap;

use crate::expr::{Derivation, Fun, Graph, NodeId, Symbol};

use super::{Body, Input, StateVariable};

/// World pose of a body as nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Origin.
    pub origin: [NodeId; 2],
    /// Angle, counter-clockwise.
    pub angle: NodeId,
    /// Its cosine.
    pub cos: NodeId,
    /// Its sine.
    pub sin: NodeId,
}

impl Pose {
    /// The fixed frame.
    pub(crate) fn ground(g: &mut Graph) -> Pose {
        let (zero, one) = (g.num(0.0), g.num(1.0));
        Pose { origin: [zero, zero], angle: zero, cos: one, sin: zero }
    }

    /// A frame in another: position and angle relative to it.
    pub(crate) fn child(&self, g: &mut Graph, position: [NodeId; 2], angle: NodeId) -> Pose {
        let origin = place(g, self, position);
        let angle = g.add(self.angle, angle);
        let (cos, sin) = (g.fun(Fun::Cos, angle), g.fun(Fun::Sin, angle));
        Pose { origin, angle, cos, sin }
    }
}

/// World poses of all bodies, in order.
pub fn poses(g: &mut Graph, bodies: &[Body]) -> Vec<Pose> {
    let ground = Pose::ground(g);
    let mut out: Vec<Pose> = Vec::with_capacity(bodies.len());
    for body in bodies {
        let parent = body.on.and_then(|i| out.get(i).copied()).unwrap_or(ground);
        let pose = parent.child(g, body.position, body.angle);
        out.push(pose);
    }
    out
}

/// World position of a point given in body axes.
pub fn place(g: &mut Graph, pose: &Pose, local: [NodeId; 2]) -> [NodeId; 2] {
    let turned = turn(g, pose, local);
    [g.add(pose.origin[0], turned[0]), g.add(pose.origin[1], turned[1])]
}

/// World components of a direction given in body axes.
pub(super) fn turn(g: &mut Graph, pose: &Pose, local: [NodeId; 2]) -> [NodeId; 2] {
    let (cx, sy) = (g.mul(pose.cos, local[0]), g.mul(pose.sin, local[1]));
    let (sx, cy) = (g.mul(pose.sin, local[0]), g.mul(pose.cos, local[1]));
    [g.sub(cx, sy), g.add(sx, cy)]
}

/// The total derivative in time of expressions of a model: q ↦ u, t ↦ 1, z ↦ its rate, and u ↦ u̇ when the inputs have
/// symbols for accelerations.
pub fn time_derivation(g: &mut Graph, inputs: &[Input], states: &[StateVariable]) -> Derivation {
    let symbols: HashMap<Input, Symbol> =
        inputs.iter().enumerate().map(|(k, &input)| (input, Symbol(k as u32))).collect();
    let mut rules = Vec::new();
    for (k, input) in inputs.iter().enumerate() {
        let rate = match *input {
            Input::Time => Some(g.num(1.0)),
            Input::Coordinate(i) => symbols.get(&Input::Velocity(i)).map(|&s| g.sym(s)),
            Input::Velocity(i) => symbols.get(&Input::Acceleration(i)).map(|&s| g.sym(s)),
            Input::State(i) => states.get(i).map(|z| z.rate),
            _ => None,
        };
        if let Some(rate) = rate {
            rules.push((Symbol(k as u32), rate));
        }
    }
    Derivation::new(rules)
}
