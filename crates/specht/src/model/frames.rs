//! Symbols, frames and rows: the vocabulary in which a model is turned into equations.

use std::collections::{BTreeMap, HashMap};

use crate::expr::{Derivation, Graph, NodeId, Symbol};

use super::kinematics::Pose;
use super::space::{SpaceFrame, quaternion_rate};
use super::{Input, Model};

/// A body as the equations see it: pose, Jacobian columns of its own joint (∂x, ∂y, ∂θ by coordinate), velocity, and the
/// part of the velocity that does not come from u (j̃).
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub pose: Pose,
    /// The body that carries it.
    pub on: Option<usize>,
    pub own: Vec<(usize, [NodeId; 3])>,
    pub velocity: [NodeId; 3],
    pub explicit: [NodeId; 3],
}

/// A point of a body that moves with its material.
#[derive(Clone, Debug)]
pub(super) struct Material {
    pub columns: Vec<(usize, [NodeId; 2])>,
    pub velocity: [NodeId; 2],
    pub explicit: [NodeId; 2],
}

/// One scalar direction: ġ = W u + w̃, g̈ = W u̇ + w̄.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub columns: Vec<(usize, NodeId)>,
    pub value: NodeId,
    pub rate: NodeId,
    pub rate_offset: NodeId,
    pub accel_offset: NodeId,
    /// Natural sizes of the entries, then of `rate_offset`: one part, and one that counts by the length of the machine. Empty: not measured.
    pub natural: Vec<[NodeId; 2]>,
}

/// Graph, symbols and derivations of one model under construction.
pub(super) struct Builder<'m> {
    pub model: &'m Model,
    pub g: Graph,
    pub inputs: Vec<Input>,
    slots: HashMap<Input, Symbol>,
    /// Rules of the total derivative at u̇ = 0.
    pub rules: Vec<(Symbol, NodeId)>,
    pub total: Derivation,
    pub explicit: Derivation,
    pub ground: Frame,
    pub frames: Vec<Frame>,
    /// Frames of a model in space, the ground first; empty in the plane.
    pub space: Vec<SpaceFrame>,
    /// Derivatives by the angular velocities of free rotations.
    turns: Vec<Derivation>,
    pub zero: NodeId,
    pub one: NodeId,
}

impl<'m> Builder<'m> {
    pub(super) fn new(model: &'m Model) -> Self {
        let mut g = model.graph.clone();
        let (zero, one) = (g.num(0.0), g.num(1.0));
        let slots = model.inputs.iter().enumerate().map(|(k, &i)| (i, Symbol(k as u32))).collect();
        let pose = Pose::ground(&mut g);
        let ground = Frame { pose, on: None, own: Vec::new(), velocity: [zero; 3], explicit: [zero; 3] };
        let mut b = Builder {
            model,
            g,
            inputs: model.inputs.clone(),
            slots,
            rules: Vec::new(),
            total: Derivation::new([]),
            explicit: Derivation::new([]),
            ground,
            frames: Vec::with_capacity(model.bodies.len()),
            space: Vec::new(),
            turns: Vec::new(),
            zero,
            one,
        };
        b.make_rules();
        b.make_frames();
        b.make_space_frames();
        b
    }

    /// The symbol of an input, made when it does not exist yet.
    pub(super) fn symbol(&mut self, input: Input) -> Symbol {
        if let Some(&s) = self.slots.get(&input) {
            return s;
        }
        let s = Symbol(self.inputs.len() as u32);
        self.inputs.push(input);
        self.slots.insert(input, s);
        s
    }

    /// The node of an input.
    pub(super) fn input(&mut self, input: Input) -> NodeId {
        let s = self.symbol(input);
        self.g.sym(s)
    }

    fn make_rules(&mut self) {
        let time = self.symbol(Input::Time);
        let mut explicit = vec![(time, self.one)];
        for k in 0..self.model.states.len() {
            let s = self.symbol(Input::State(k));
            explicit.push((s, self.model.states[k].rate));
        }
        self.rules.clone_from(&explicit);
        for k in 0..self.model.coordinates.len() {
            let s = self.symbol(Input::Coordinate(k));
            let rate = self.input(Input::Velocity(k));
            self.rules.push((s, rate));
        }
        for k in 0..self.model.free.len() {
            self.free_rules(k);
        }
        self.total = Derivation::new(self.rules.iter().copied());
        self.explicit = Derivation::new(explicit);
    }

    /// ṗ = ½ (0, w) p of a free rotation, and its part of each component of w.
    fn free_rules(&mut self, k: usize) {
        let (q, _) = self.free_at(k);
        let (p, w) = self.free_inputs(k);
        let symbols = [0, 1, 2, 3].map(|i| self.symbol(Input::Coordinate(q + i)));
        let rate = quaternion_rate(&mut self.g, p, w);
        self.rules.extend(symbols.into_iter().zip(rate));
        for i in 0..3 {
            let mut unit = [self.zero; 3];
            unit[i] = self.one;
            let part = quaternion_rate(&mut self.g, p, unit);
            self.turns.push(Derivation::new(symbols.into_iter().zip(part)));
        }
    }

    /// Total derivative in time at u̇ = 0.
    pub(super) fn dot(&mut self, node: NodeId) -> NodeId {
        self.total.of(&mut self.g, node)
    }

    /// The part of the total derivative that does not come from u.
    pub(super) fn explicit_rate(&mut self, node: NodeId) -> NodeId {
        self.explicit.of(&mut self.g, node)
    }

    /// Partial derivatives by the coordinates, those that are not zero; by free rotations along their angular velocities.
    pub(super) fn by_coordinates(&mut self, node: NodeId) -> Vec<(usize, NodeId)> {
        let n = self.model.coordinates.len();
        let mut out = self.gradient(node, |input| match input {
            Input::Coordinate(k) if k < n => Some(k),
            _ => None,
        });
        let turns = self.g.depends_on(
            node,
            |s| matches!(self.inputs.get(s.0 as usize), Some(Input::Coordinate(k)) if *k >= n),
        );
        if turns {
            for (k, derivation) in self.turns.iter_mut().enumerate() {
                let d = derivation.of(&mut self.g, node);
                if d != self.zero {
                    out.push((n + k, d));
                }
            }
        }
        out
    }

    /// Partial derivatives by the velocities, those that are not zero.
    pub(super) fn by_velocities(&mut self, node: NodeId) -> Vec<(usize, NodeId)> {
        self.gradient(node, |input| match input {
            Input::Velocity(k) => Some(k),
            _ => None,
        })
    }

    fn gradient(&mut self, node: NodeId, which: impl Fn(Input) -> Option<usize>) -> Vec<(usize, NodeId)> {
        let inputs = &self.inputs;
        let index = |s: Symbol| inputs.get(s.0 as usize).and_then(|&i| which(i));
        let mut out: Vec<(usize, NodeId)> = self
            .g
            .gradient(node, |s| index(s).is_some())
            .into_iter()
            .filter_map(|(s, d)| index(s).map(|k| (k, d)))
            .collect();
        out.sort_unstable();
        out
    }

    /// Whether a node depends on nothing but parameters.
    pub(super) fn is_parameter(&self, node: NodeId) -> bool {
        self.depends_only(node, |i| matches!(i, Input::Parameter(_)))
    }

    /// Whether every input of the node satisfies `which`.
    pub(super) fn depends_only(&self, node: NodeId, which: impl Fn(Input) -> bool) -> bool {
        !self.g.depends_on(node, |s| self.inputs.get(s.0 as usize).is_none_or(|&i| !which(i)))
    }

    /// The node with inputs replaced.
    pub(super) fn replace(&mut self, node: NodeId, map: &BTreeMap<Symbol, NodeId>) -> NodeId {
        if map.is_empty() { node } else { self.g.substitute(node, map) }
    }

    fn make_frames(&mut self) {
        let model = self.model;
        for body in &model.bodies {
            let parent = body.on.and_then(|i| self.frames.get(i)).unwrap_or(&self.ground).clone();
            let pose = parent.pose.child(&mut self.g, body.position, body.angle);
            let mut local: BTreeMap<usize, [NodeId; 3]> = BTreeMap::new();
            for (i, node) in [body.position[0], body.position[1], body.angle].into_iter().enumerate() {
                for (k, d) in self.by_coordinates(node) {
                    local.entry(k).or_insert([self.zero; 3])[i] = d;
                }
            }
            let mut own = Vec::with_capacity(local.len());
            for (k, d) in local {
                let turned = super::kinematics::turn(&mut self.g, &parent.pose, [d[0], d[1]]);
                own.push((k, [turned[0], turned[1], d[2]]));
            }
            let pose_nodes = [pose.origin[0], pose.origin[1], pose.angle];
            let velocity = pose_nodes.map(|n| self.dot(n));
            let explicit = pose_nodes.map(|n| self.explicit_rate(n));
            self.frames.push(Frame { pose, on: body.on, own, velocity, explicit });
        }
    }

    /// Jacobian columns of the origin and angle of a body, by coordinate: those of all joints between it and the ground,
    /// carried to its origin, δr = δr_P + δθ_P × (r − r_P)   (2.32).
    pub(super) fn columns(&mut self, body: Option<usize>) -> Vec<(usize, [NodeId; 3])> {
        let origin = self.frame(body).pose.origin;
        let mut way = Vec::new();
        let mut at = body;
        while let Some(i) = at {
            way.push(i);
            at = self.frames[i].on;
        }
        let mut columns: BTreeMap<usize, [NodeId; 3]> = BTreeMap::new();
        for i in way.into_iter().rev() {
            let arm = self.sub2(origin, self.frames[i].pose.origin);
            for (k, c) in self.frames[i].own.clone() {
                let v = self.carry([c[0], c[1]], c[2], arm);
                let to = columns.entry(k).or_insert([self.zero; 3]);
                for (sum, part) in to.iter_mut().zip([v[0], v[1], c[2]]) {
                    *sum = self.g.add(*sum, part);
                }
            }
        }
        let zero = self.zero;
        columns.into_iter().filter(|(_, c)| c.iter().any(|&n| n != zero)).collect()
    }

    /// v + ω × r.
    pub(super) fn carry(&mut self, v: [NodeId; 2], omega: NodeId, arm: [NodeId; 2]) -> [NodeId; 2] {
        let (x, y) = (self.g.mul(omega, arm[1]), self.g.mul(omega, arm[0]));
        [self.g.sub(v[0], x), self.g.add(v[1], y)]
    }

    /// The frame of a body; `None` is the ground.
    pub(super) fn frame(&self, body: Option<usize>) -> &Frame {
        body.and_then(|i| self.frames.get(i)).unwrap_or(&self.ground)
    }

    /// The material point of a body that is now at the world position `at`.
    pub(super) fn material(&mut self, body: Option<usize>, at: [NodeId; 2]) -> Material {
        let frame = self.frame(body).clone();
        let arm = [self.g.sub(at[0], frame.pose.origin[0]), self.g.sub(at[1], frame.pose.origin[1])];
        let [vx, vy, omega] = frame.velocity;
        let velocity = self.carry([vx, vy], omega, arm);
        let [ex, ey, spin] = frame.explicit;
        let explicit = self.carry([ex, ey], spin, arm);
        let columns = self.columns(body);
        let columns = columns.into_iter().map(|(k, c)| (k, self.carry([c[0], c[1]], c[2], arm))).collect();
        Material { columns, velocity, explicit }
    }

    pub(super) fn dot2(&mut self, a: [NodeId; 2], b: [NodeId; 2]) -> NodeId {
        let (x, y) = (self.g.mul(a[0], b[0]), self.g.mul(a[1], b[1]));
        self.g.add(x, y)
    }

    pub(super) fn sub2(&mut self, a: [NodeId; 2], b: [NodeId; 2]) -> [NodeId; 2] {
        [self.g.sub(a[0], b[0]), self.g.sub(a[1], b[1])]
    }

    /// a + f b.
    pub(super) fn along2(&mut self, a: [NodeId; 2], f: NodeId, b: [NodeId; 2]) -> [NodeId; 2] {
        let (x, y) = (self.g.mul(f, b[0]), self.g.mul(f, b[1]));
        [self.g.add(a[0], x), self.g.add(a[1], y)]
    }

    pub(super) fn neg2(&mut self, a: [NodeId; 2]) -> [NodeId; 2] {
        [self.g.neg(a[0]), self.g.neg(a[1])]
    }

    /// The row of a function of position.
    pub(super) fn row_of_position(&mut self, value: NodeId) -> Row {
        let columns = self.by_coordinates(value);
        let rate = self.dot(value);
        let rate_offset = self.explicit_rate(value);
        let accel_offset = self.dot(rate);
        Row { columns, value, rate, rate_offset, accel_offset, natural: Vec::new() }
    }

    /// The row of a velocity formula, linear in u.
    pub(super) fn row_of_velocity(&mut self, rate: NodeId) -> Row {
        let columns = self.by_velocities(rate);
        let mut rest = BTreeMap::new();
        for &(k, _) in &columns {
            let s = self.symbol(Input::Velocity(k));
            rest.insert(s, self.zero);
        }
        let rate_offset = self.replace(rate, &rest);
        let accel_offset = self.dot(rate);
        Row { columns, value: self.zero, rate, rate_offset, accel_offset, natural: Vec::new() }
    }

    /// The row of d · (v_A − v_B), material points, with the direction d carried by `total` (which knows how contact
    /// parameters move). (4.33)-(4.46)
    pub(super) fn row_of_motion(
        &mut self,
        d: [NodeId; 2],
        a: &Material,
        b: &Material,
        total: &mut Derivation,
    ) -> Row {
        let mut columns: BTreeMap<usize, NodeId> = BTreeMap::new();
        for &(k, c) in &a.columns {
            let w = self.dot2(d, c);
            columns.insert(k, w);
        }
        for &(k, c) in &b.columns {
            let w = self.dot2(d, c);
            let old = columns.get(&k).copied().unwrap_or(self.zero);
            let new = self.g.sub(old, w);
            columns.insert(k, new);
        }
        let zero = self.zero;
        let columns = columns.into_iter().filter(|&(_, n)| n != zero).collect();
        let slip = self.sub2(a.velocity, b.velocity);
        let rate = self.dot2(d, slip);
        let explicit = self.sub2(a.explicit, b.explicit);
        let rate_offset = self.dot2(d, explicit);
        let accel_offset = total.of(&mut self.g, rate);
        Row { columns, value: zero, rate, rate_offset, accel_offset, natural: Vec::new() }
    }
}
