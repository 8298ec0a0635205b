//! What bodies in space weigh: energies, loads and driven parts, as nodes for the recursion along the tree.
//!
//! ```text
//! force  m (g − ā)          moment  −(J ᾱ + ω × J ω)          J = A J_body Aᵀ, world axes, about the mass centre
//! ```

use crate::expr::{Graph, NodeId};

use super::super::forces::{Accounts, Link};
use super::super::frames::Builder;
use super::frames::{carried, halves, joined};
use super::vector::{add, cross, dot, neg, product, scale, sub, times, transposed};
use super::{SpaceBody, Vector};

/// Six entries of a symmetric matrix: the diagonal, then 12, 02, 01.
fn six(m: &[Vector; 3]) -> [NodeId; 6] {
    [m[0][0], m[1][1], m[2][2], m[1][2], m[0][2], m[0][1]]
}

/// A link in space: position of its point, directions of six numbers, inertia of six.
pub(in crate::model) type SpaceLink = Link<3, 6, 6>;

impl Accounts {
    /// Bodies in space with mass or inertia, and those that carry them.
    pub(in crate::model) fn space_bodies(&mut self, b: &mut Builder) -> Vec<SpaceLink> {
        let model = b.model;
        if !model.is_spatial() {
            return Vec::new();
        }
        let zero = b.zero;
        let massless =
            SpaceBody::at([zero; 3], super::Rotation::Turns(Vec::new()), [zero; 3], [[zero; 3]; 3]);
        let of = |i: usize| model.bodies[i].space.as_ref().unwrap_or(&massless);
        let weighs =
            |i: usize| model.bodies[i].mass != zero || of(i).inertia.iter().flatten().any(|&n| n != zero);
        let mut needed: Vec<bool> = (0..model.bodies.len()).map(weighs).collect();
        for i in (0..needed.len()).rev() {
            if let (true, Some(p)) = (needed[i], model.bodies[i].on) {
                needed[p] = true;
            }
        }
        let mut link_of = vec![None; model.bodies.len()];
        let mut out = Vec::new();
        for (i, body) in model.bodies.iter().enumerate() {
            if !needed[i] {
                continue;
            }
            link_of[i] = Some(out.len());
            let parent = body.on.and_then(|p| link_of[p]);
            out.push(self.space_link(b, i, of(i), body.mass, weighs(i), parent));
        }
        out
    }

    fn space_link(
        &mut self,
        b: &mut Builder,
        i: usize,
        body: &SpaceBody,
        m: NodeId,
        weighs: bool,
        parent: Option<usize>,
    ) -> SpaceLink {
        let frame = b.space_frame(Some(i)).clone();
        let gravity = b.model.gravity;
        let point = frame.pose.place(&mut b.g, body.center);
        let arm = sub(&mut b.g, point, frame.pose.origin);
        let own = frame.own.iter().map(|&(k, c)| (k, carried(&mut b.g, c, arm))).collect();
        let none = [b.zero; 6];
        if !weighs {
            return Link { parent, point, own, mass: m, inertia: none, load: none, momentum: none };
        }
        let inertia = world_inertia(&mut b.g, &frame.pose.axes, &body.inertia);
        let [v, w] = halves(carried(&mut b.g, frame.velocity, arm));
        let [v_given, w_given] = halves(carried(&mut b.g, frame.explicit, arm));
        let [a, alpha] = halves(frame.accel);
        let g = &mut b.g;
        // acceleration of the mass centre
        let euler = cross(g, alpha, arm);
        let turn = cross(g, w, arm);
        let central = cross(g, w, turn);
        let a = add(g, a, euler);
        let a = add(g, a, central);

        let spin = times(g, &inertia, w);
        let gyro = cross(g, w, spin);
        let change = times(g, &inertia, alpha);
        let moment = add(g, change, gyro);
        let fall = sub(g, gravity, a);
        let load = joined([scale(g, m, fall), neg(g, moment)]);
        let push = scale(g, m, v_given);
        let momentum = joined([push, times(g, &inertia, w_given)]);

        // energies
        let (vv, ww) = (dot(g, v, v), dot(g, w, spin));
        let straight = g.mul(m, vv);
        let twice = g.add(straight, ww);
        let half = g.num(0.5);
        let t = g.mul(half, twice);
        self.kinetic = g.add(self.kinetic, t);
        let (driven, turned) = (dot(g, push, a), dot(g, w_given, moment));
        let driven = g.add(driven, turned);
        self.drive_offset = g.add(self.drive_offset, driven);
        let height = dot(g, gravity, point);
        let v = g.mul(m, height);
        self.potential = g.sub(self.potential, v);
        let rate = b.explicit_rate(v);
        self.power = b.g.sub(self.power, rate);
        Link { parent, point, own, mass: m, inertia: six(&inertia), load, momentum }
    }
}

/// A J Aᵀ; what is the same about every axis stays as it is.
fn world_inertia(g: &mut Graph, axes: &[Vector; 3], inertia: &[Vector; 3]) -> [Vector; 3] {
    let zero = g.num(0.0);
    let [a, b, c, yz, xz, xy] = six(inertia);
    if a == b && b == c && [yz, xz, xy] == [zero; 3] {
        return *inertia;
    }
    let half = product(g, axes, inertia);
    let mut world = product(g, &half, &transposed(axes));
    // symmetric to the bit
    for (i, j) in [(1, 0), (2, 0), (2, 1)] {
        world[i][j] = world[j][i];
    }
    world
}

impl SpaceBody {
    /// From its parts.
    pub(crate) fn at(
        position: Vector,
        rotation: super::Rotation,
        center: Vector,
        inertia: [Vector; 3],
    ) -> Self {
        SpaceBody { position, rotation, center, inertia }
    }
}
