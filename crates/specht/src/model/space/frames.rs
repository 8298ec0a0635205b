//! Frames of bodies in space as nodes: pose, columns of their own joint, velocity and acceleration, from the carrier to the carried.
//!
//! With d = r − r_P from the origin of the carrier, A_P its axes, p(q, t) the position in it, and e_i the axes of the turns a_i(q, t):
//!
//! ```text
//! v = v_P + ω_P × d + A_P ṗ                                ω = ω_P + Σ e_i ȧ_i                  (2.29)
//! a = a_P + α_P × d + ω_P × (ω_P × d) + 2 ω_P × A_P ṗ + A_P p̈     α = α_P + Σ (ω_i × e_i ȧ_i + e_i ä_i)     at u̇ = 0
//! ```
//!
//! ω_i is the angular velocity before turn i. The derivations of the builder learn these rates: what is built on poses is differentiated
//! through them, and never through sines and quaternions.

use std::collections::BTreeMap;

use crate::expr::{Fun, Graph, NodeId};

use super::super::frames::Builder;
use super::super::{Body, Input};
use super::vector::{add, along, column, cross, dot, product, scale, sub, times, transposed};
use super::{Rotation, Vector};

/// World pose of a body in space: origin, and its axes as columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpacePose {
    /// Origin.
    pub origin: Vector,
    /// Rows of the matrix that turns body axes into world axes.
    pub axes: [Vector; 3],
}

impl SpacePose {
    /// The fixed frame.
    pub(crate) fn ground(g: &mut Graph) -> SpacePose {
        let (zero, one) = (g.num(0.0), g.num(1.0));
        let row = |i: usize| [0, 1, 2].map(|j| if i == j { one } else { zero });
        SpacePose { origin: [zero; 3], axes: [row(0), row(1), row(2)] }
    }

    /// World position of a point in body axes.
    pub(crate) fn place(self, g: &mut Graph, local: Vector) -> Vector {
        let turned = times(g, &self.axes, local);
        add(g, self.origin, turned)
    }

    /// World components of a direction in body axes.
    pub(crate) fn turn(self, g: &mut Graph, local: Vector) -> Vector {
        times(g, &self.axes, local)
    }

    /// Angular velocity of such a body against this frame, world axes; `rates` are those of the turns, or w of a free rotation.
    pub(crate) fn spin(self, g: &mut Graph, rotation: &Rotation, rates: &[NodeId]) -> Vector {
        match (rotation, rates) {
            (Rotation::Free(_), &[x, y, z]) => self.turn(g, [x, y, z]),
            (Rotation::Turns(list), _) => {
                let zero = g.num(0.0);
                let (mut axes, mut spin) = (self.axes, [zero; 3]);
                for (&(axis, angle), &rate) in list.iter().zip(rates) {
                    spin = along(g, spin, rate, column(&axes, axis));
                    axes = turned(g, &axes, axis, angle);
                }
                spin
            }
            _ => [g.num(0.0); 3],
        }
    }

    /// Where a body is that stands in this frame; `quaternion` gives that of a free rotation.
    pub(crate) fn child(
        self,
        g: &mut Graph,
        position: Vector,
        rotation: &Rotation,
        quaternion: impl FnOnce(&mut Graph, usize) -> [NodeId; 4],
    ) -> SpacePose {
        let origin = self.place(g, position);
        let axes = match rotation {
            Rotation::Turns(list) => {
                list.iter().fold(self.axes, |axes, &(axis, angle)| turned(g, &axes, axis, angle))
            }
            Rotation::Free(k) => {
                let q = quaternion(g, *k);
                let own = matrix(g, q);
                product(g, &self.axes, &own)
            }
        };
        SpacePose { origin, axes }
    }
}

/// Axes after a turn by `angle` about their axis `i`.
fn turned(g: &mut Graph, axes: &[Vector; 3], i: usize, angle: NodeId) -> [Vector; 3] {
    let (c, s) = (g.fun(Fun::Cos, angle), g.fun(Fun::Sin, angle));
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let (x, y) = (column(axes, j), column(axes, k));
    let mut columns = transposed(axes);
    let cx = scale(g, c, x);
    columns[j] = along(g, cx, s, y);
    let cy = scale(g, c, y);
    let sx = scale(g, s, x);
    columns[k] = sub(g, cy, sx);
    transposed(&columns)
}

/// R of a unit quaternion.
fn matrix(g: &mut Graph, [w, x, y, z]: [NodeId; 4]) -> [Vector; 3] {
    let (one, two) = (g.num(1.0), g.num(2.0));
    let mut diagonal = |a: NodeId, b: NodeId| {
        let (aa, bb) = (g.mul(a, a), g.mul(b, b));
        let sum = g.add(aa, bb);
        let sum = g.mul(two, sum);
        g.sub(one, sum)
    };
    let d = [diagonal(y, z), diagonal(z, x), diagonal(x, y)];
    // 2 (a b ∓ w c): below and above the diagonal
    let mut mixed = |a: NodeId, b: NodeId, c: NodeId| {
        let (ab, wc) = (g.mul(a, b), g.mul(w, c));
        let (low, high) = (g.sub(ab, wc), g.add(ab, wc));
        [g.mul(two, low), g.mul(two, high)]
    };
    let ([xy, yx], [zx, xz], [yz, zy]) = (mixed(x, y, z), mixed(z, x, y), mixed(y, z, x));
    [[d[0], xy, xz], [yx, d[1], yz], [zx, zy, d[2]]]
}

/// The unit quaternion of turns about moving axes, one after the other.
pub(crate) fn quaternion_of(g: &mut Graph, turns: &[(usize, NodeId)]) -> [NodeId; 4] {
    let (zero, one, half) = (g.num(0.0), g.num(1.0), g.num(0.5));
    let mut q = [one, zero, zero, zero];
    for &(axis, angle) in turns {
        let angle = g.mul(half, angle);
        let (c, s) = (g.fun(Fun::Cos, angle), g.fun(Fun::Sin, angle));
        // q (c, s e): c q + s (−e·v, w e + v × e)
        let mut e = [zero; 3];
        e[axis] = s;
        let [w, x, y, z] = q;
        let less = dot(g, e, [x, y, z]);
        let (straight, turned) = (scale(g, w, e), cross(g, [x, y, z], e));
        let more = add(g, straight, turned);
        let less = g.neg(less);
        let kept = q.map(|n| g.mul(c, n));
        let part = [less, more[0], more[1], more[2]];
        q = [0, 1, 2, 3].map(|i| g.add(kept[i], part[i]));
    }
    q
}

/// ½ (0, w) p.
pub(crate) fn quaternion_rate(g: &mut Graph, [p, x, y, z]: [NodeId; 4], w: Vector) -> [NodeId; 4] {
    let half = g.num(0.5);
    let v = [x, y, z];
    let along_w = dot(g, w, v);
    let minus = g.neg(along_w);
    let turned = cross(g, w, v);
    let straight = scale(g, p, w);
    let sum = add(g, straight, turned);
    [minus, sum[0], sum[1], sum[2]].map(|n| g.mul(half, n))
}

/// A body in space as the equations see it. Six numbers: of the origin, and of the rotation.
#[derive(Clone, Debug)]
pub(in crate::model) struct SpaceFrame {
    pub pose: SpacePose,
    /// The body that carries it.
    pub on: Option<usize>,
    /// Columns of its own joint, by velocity.
    pub own: Vec<(usize, [NodeId; 6])>,
    pub velocity: [NodeId; 6],
    /// The part of the velocity that does not come from u.
    pub explicit: [NodeId; 6],
    /// Acceleration at u̇ = 0.
    pub accel: [NodeId; 6],
}

/// A point of a body that moves with its material.
#[derive(Clone, Debug)]
pub(in crate::model) struct SpaceMaterial {
    pub columns: Vec<(usize, Vector)>,
    pub velocity: Vector,
    pub explicit: Vector,
}

pub(in crate::model) fn halves(a: [NodeId; 6]) -> [Vector; 2] {
    [[a[0], a[1], a[2]], [a[3], a[4], a[5]]]
}

pub(in crate::model) fn joined([a, b]: [Vector; 2]) -> [NodeId; 6] {
    [a[0], a[1], a[2], b[0], b[1], b[2]]
}

/// What a body does to a point at `arm` from its origin: v + ω × arm, and ω.
pub(in crate::model) fn carried(g: &mut Graph, a: [NodeId; 6], arm: Vector) -> [NodeId; 6] {
    let [v, w] = halves(a);
    let turn = cross(g, w, arm);
    joined([add(g, v, turn), w])
}

impl SpaceFrame {
    /// Origin, axes row by row, spin: fifteen numbers.
    pub(in crate::model) fn numbers(&self) -> impl Iterator<Item = NodeId> + use<> {
        let spin = halves(self.velocity)[1];
        self.pose.origin.into_iter().chain(self.pose.axes.into_iter().flatten()).chain(spin)
    }
}

impl Builder<'_> {
    /// Numbers of the state that belong to free rotation `k`: first of q, first of u.
    pub(in crate::model) fn free_at(&self, k: usize) -> (usize, usize) {
        let n = self.model.coordinates.len();
        (n + 4 * k, n + 3 * k)
    }

    /// Quaternion and angular velocity of free rotation `k`.
    pub(in crate::model) fn free_inputs(&mut self, k: usize) -> ([NodeId; 4], Vector) {
        let (q, u) = self.free_at(k);
        let p = [0, 1, 2, 3].map(|i| self.input(Input::Coordinate(q + i)));
        (p, [0, 1, 2].map(|i| self.input(Input::Velocity(u + i))))
    }

    /// Frames of all bodies, for models in space.
    pub(in crate::model) fn make_space_frames(&mut self) {
        let model = self.model;
        if !model.is_spatial() {
            return;
        }
        let pose = SpacePose::ground(&mut self.g);
        let still = [self.zero; 6];
        let ground =
            SpaceFrame { pose, on: None, own: Vec::new(), velocity: still, explicit: still, accel: still };
        self.space.push(ground);
        for body in &model.bodies {
            let frame = self.space_frame_of(body);
            self.learn(&frame);
            self.space.push(frame);
        }
    }

    /// The frame of a body in space; `None` is the ground.
    pub(in crate::model) fn space_frame(&self, body: Option<usize>) -> &SpaceFrame {
        &self.space[body.map_or(0, |i| i + 1)]
    }

    fn space_frame_of(&mut self, body: &Body) -> SpaceFrame {
        let parent = self.space_frame(body.on).clone();
        let zero = self.zero;
        let none = Rotation::Turns(Vec::new());
        let (position, rotation) = match &body.space {
            Some(s) => (s.position, &s.rotation),
            None => ([zero; 3], &none),
        };
        let quaternion = match rotation {
            Rotation::Free(k) => self.free_inputs(*k).0,
            Rotation::Turns(_) => [zero; 4],
        };
        let pose = parent.pose.child(&mut self.g, position, rotation, |_, _| quaternion);

        // columns of its own joint
        let mut own: BTreeMap<usize, [NodeId; 6]> = BTreeMap::new();
        for (i, node) in position.into_iter().enumerate() {
            for (k, d) in self.by_coordinates(node) {
                own.entry(k).or_insert([zero; 6])[i] = d;
            }
        }
        for c in own.values_mut() {
            let [v, w] = halves(*c);
            *c = joined([parent.pose.turn(&mut self.g, v), w]);
        }

        // translation
        let [rate, slide] = [position.map(|n| self.dot(n)), position.map(|n| self.explicit_rate(n))];
        let jerk = rate.map(|n| self.dot(n));
        let g = &mut self.g;
        let arm = sub(g, pose.origin, parent.pose.origin);
        let [rate, slide, jerk] = [rate, slide, jerk].map(|v| parent.pose.turn(g, v));
        let ([_, w], [_, w_given], [a, alpha]) =
            (halves(parent.velocity), halves(parent.explicit), halves(parent.accel));
        let add_to = |g: &mut Graph, a: [NodeId; 6], more: Vector| {
            let [v, _] = halves(carried(g, a, arm));
            add(g, v, more)
        };
        let velocity = add_to(g, parent.velocity, rate);
        let explicit = add_to(g, parent.explicit, slide);
        let euler = cross(g, alpha, arm);
        let turn = cross(g, w, arm);
        let central = cross(g, w, turn);
        let coriolis = cross(g, w, rate);
        let two = g.num(2.0);
        let mut accel = add(g, a, euler);
        accel = add(g, accel, central);
        accel = along(g, accel, two, coriolis);
        accel = add(g, accel, jerk);

        // rotation
        let (mut omega, mut omega_given, mut alpha) = (w, w_given, alpha);
        match rotation {
            Rotation::Turns(list) => {
                let mut axes = parent.pose.axes;
                for &(axis, angle) in list {
                    let e = column(&axes, axis);
                    for (k, d) in self.by_coordinates(angle) {
                        let to = own.entry(k).or_insert([zero; 6]);
                        let [v, w] = halves(*to);
                        *to = joined([v, along(&mut self.g, w, d, e)]);
                    }
                    let (rate, given) = (self.dot(angle), self.explicit_rate(angle));
                    let jerk = self.dot(rate);
                    let g = &mut self.g;
                    let spin = scale(g, rate, e);
                    let gyro = cross(g, omega, spin);
                    alpha = add(g, alpha, gyro);
                    alpha = along(g, alpha, jerk, e);
                    omega = add(g, omega, spin);
                    omega_given = along(g, omega_given, given, e);
                    axes = turned(g, &axes, axis, angle);
                }
            }
            Rotation::Free(k) => {
                let (_, w) = self.free_inputs(*k);
                let (_, first) = self.free_at(*k);
                let spin = parent.pose.turn(&mut self.g, w);
                for i in 0..3 {
                    let e = column(&parent.pose.axes, i);
                    own.insert(first + i, joined([[zero; 3], e]));
                }
                let g = &mut self.g;
                let gyro = cross(g, omega, spin);
                alpha = add(g, alpha, gyro);
                omega = add(g, omega, spin);
            }
        }
        SpaceFrame {
            pose,
            on: body.on,
            own: own.into_iter().filter(|(_, c)| c.iter().any(|&n| n != zero)).collect(),
            velocity: joined([velocity, omega]),
            explicit: joined([explicit, omega_given]),
            accel: joined([accel, alpha]),
        }
    }

    /// Teach the total derivative how a frame moves.
    pub(super) fn learn(&mut self, frame: &SpaceFrame) {
        let ([v, w], [a, alpha]) = (halves(frame.velocity), halves(frame.accel));
        let columns = [0, 1, 2].map(|j| cross(&mut self.g, w, column(&frame.pose.axes, j)));
        let axes = transposed(&columns);
        let of = [frame.pose.origin, v, w].into_iter().chain(frame.pose.axes).flatten();
        let rates = [v, a, alpha].into_iter().chain(axes).flatten();
        for (node, rate) in of.zip(rates) {
            self.total.learn(&self.g, node, rate);
        }
    }

    /// Columns of the origin and of the rotation of a body, by velocity: those of all joints between it and the ground (2.32).
    pub(in crate::model) fn space_columns(&mut self, body: Option<usize>) -> Vec<(usize, [NodeId; 6])> {
        let origin = self.space_frame(body).pose.origin;
        let mut way = Vec::new();
        let mut at = body;
        while let Some(i) = at {
            way.push(i);
            at = self.space_frame(Some(i)).on;
        }
        let mut columns: BTreeMap<usize, [NodeId; 6]> = BTreeMap::new();
        for i in way.into_iter().rev() {
            let frame = self.space_frame(Some(i)).clone();
            let arm = sub(&mut self.g, origin, frame.pose.origin);
            for (k, c) in frame.own {
                let part = carried(&mut self.g, c, arm);
                let to = columns.entry(k).or_insert([self.zero; 6]);
                for (sum, part) in to.iter_mut().zip(part) {
                    *sum = self.g.add(*sum, part);
                }
            }
        }
        let zero = self.zero;
        columns.into_iter().filter(|(_, c)| c.iter().any(|&n| n != zero)).collect()
    }

    /// The material point of a body that is now at the world position `at`.
    pub(in crate::model) fn space_material(&mut self, body: Option<usize>, at: Vector) -> SpaceMaterial {
        let frame = self.space_frame(body).clone();
        let columns = self.space_columns(body);
        let g = &mut self.g;
        let arm = sub(g, at, frame.pose.origin);
        let point = |g: &mut Graph, a: [NodeId; 6]| halves(carried(g, a, arm))[0];
        SpaceMaterial {
            columns: columns.into_iter().map(|(k, c)| (k, point(g, c))).collect(),
            velocity: point(g, frame.velocity),
            explicit: point(g, frame.explicit),
        }
    }
}
