//! Smooth forces and energies: what enters h, and where its work is booked (PG-3.1-EOM, PG-3.2-FORCELAW).
//!
//! With v = J u + j̃ and a = J u̇ + j̄ the projected equations M u̇ = h + Wᵀλ give the balance
//!
//! ```text
//! d/dt (T + V) = power + drive · u̇ + drive_offset + Σ λ (ġ − w̃)
//! power        = Σ F · v_F (forces without potential) + ∂V/∂t
//! drive        = Σ m j̃ᵀJ                          drive_offset = Σ m j̃·j̄ − Σ F · j̃_F (forces without potential)
//! ```
//!
//! For a kinetic energy given as a formula, p = ∂T/∂u, the equations are Lagrange's,
//! M = ∂p/∂u, h = ∂T/∂q − ṗ|u̇=0, and drive = p − M u, drive_offset = 2 u·∂T/∂q + ∂T/∂t − u·ṗ|u̇=0.

use std::collections::BTreeMap;

use crate::expr::{NodeId, Symbol};

use super::frames::{Builder, Row};
use super::{ForceKind, Input, Law};

/// Generalised smooth forces and the energy accounts.
#[derive(Clone, Debug)]
pub(super) struct Accounts {
    pub h: Vec<NodeId>,
    pub kinetic: NodeId,
    pub potential: NodeId,
    pub power: NodeId,
    pub drive: Vec<NodeId>,
    pub drive_offset: NodeId,
    /// M of kinetic formulas, i ≥ j.
    pub mass: BTreeMap<(usize, usize), NodeId>,
}

/// A body with inertia, or one that carries such: nodes for the numeric assembly ([`super::tree`]).
#[derive(Clone, Debug)]
pub(super) struct Link<const P: usize, const D: usize, const I: usize> {
    /// The link that carries it.
    pub parent: Option<usize>,
    /// Centre of mass, or the origin where there is none.
    pub point: [NodeId; P],
    /// ∂(point, θ) by the velocities of its own joint.
    pub own: Vec<(usize, [NodeId; D])>,
    pub mass: NodeId,
    pub inertia: [NodeId; I],
    /// m (g − j̄), −I j̄_R.
    pub load: [NodeId; D],
    /// m j̃, I j̃_R.
    pub momentum: [NodeId; D],
}

impl Accounts {
    pub(super) fn new(b: &Builder) -> Self {
        let n = b.model.sizes().1;
        Accounts {
            h: vec![b.zero; n],
            kinetic: b.zero,
            potential: b.zero,
            power: b.zero,
            drive: vec![b.zero; n],
            drive_offset: b.zero,
            mass: BTreeMap::new(),
        }
    }

    /// A force F conjugate to a row, without potential.
    pub(super) fn push_row(&mut self, b: &mut Builder, force: NodeId, row: &Row) {
        for &(k, w) in &row.columns {
            let part = b.g.mul(force, w);
            self.h[k] = b.g.add(self.h[k], part);
        }
        self.push_power(b, force, row.rate, row.rate_offset);
    }

    fn push_power(&mut self, b: &mut Builder, force: NodeId, rate: NodeId, offset: NodeId) {
        let work = b.g.mul(force, rate);
        self.power = b.g.add(self.power, work);
        let driven = b.g.mul(force, offset);
        self.drive_offset = b.g.sub(self.drive_offset, driven);
    }

    /// A potential V.
    fn push_potential(&mut self, b: &mut Builder, v: NodeId) {
        for (k, d) in b.by_coordinates(v) {
            self.h[k] = b.g.sub(self.h[k], d);
        }
        self.potential = b.g.add(self.potential, v);
        let explicit = b.explicit_rate(v);
        self.power = b.g.add(self.power, explicit);
    }

    /// All forces of the model; `map` replaces the placeholders of contact quantities.
    pub(super) fn forces(&mut self, b: &mut Builder, map: &BTreeMap<Symbol, NodeId>) {
        let model = b.model;
        for force in &model.forces {
            match &force.kind {
                ForceKind::Along { stretch, law } | ForceKind::Between { stretch, law, .. } => {
                    self.law(b, *stretch, law, map);
                }
                ForceKind::At { point, force, body_axes } => {
                    let at = b.point(*point);
                    let mut f = force.map(|n| b.replace(n, map));
                    if *body_axes {
                        let pose = b.frame(point.body).pose;
                        f = super::kinematics::turn(&mut b.g, &pose, f);
                    }
                    let m = b.material(point.body, at);
                    for &(k, c) in &m.columns {
                        let part = b.dot2(f, c);
                        self.h[k] = b.g.add(self.h[k], part);
                    }
                    let work = b.dot2(f, m.velocity);
                    self.power = b.g.add(self.power, work);
                    let driven = b.dot2(f, m.explicit);
                    self.drive_offset = b.g.sub(self.drive_offset, driven);
                }
                ForceKind::Torque { body, torque, against } => {
                    let torque = b.replace(*torque, map);
                    self.torque(b, Some(*body), torque);
                    if against.is_some() {
                        let reaction = b.g.neg(torque);
                        self.torque(b, *against, reaction);
                    }
                }
                ForceKind::AtSpace { point, force, body_axes } => {
                    let force = force.map(|n| b.replace(n, map));
                    self.space_force(b, *point, force, *body_axes);
                }
                ForceKind::TorqueSpace { body, torque, body_axes, against } => {
                    let mut torque = torque.map(|n| b.replace(n, map));
                    if *body_axes {
                        torque = b.space_frame(Some(*body)).pose.turn(&mut b.g, torque);
                    }
                    self.space_torque(b, Some(*body), torque);
                    if against.is_some() {
                        let reaction = torque.map(|n| b.g.neg(n));
                        self.space_torque(b, *against, reaction);
                    }
                }
                ForceKind::Potential(v) => {
                    let v = b.replace(*v, map);
                    self.push_potential(b, v);
                }
            }
        }
    }

    fn torque(&mut self, b: &mut Builder, body: Option<usize>, torque: NodeId) {
        let frame = b.frame(body).clone();
        for (k, c) in b.columns(body) {
            let part = b.g.mul(torque, c[2]);
            self.h[k] = b.g.add(self.h[k], part);
        }
        self.push_power(b, torque, frame.velocity[2], frame.explicit[2]);
    }

    fn law(&mut self, b: &mut Builder, stretch: NodeId, law: &Law, map: &BTreeMap<Symbol, NodeId>) {
        let row = b.row_of_position(stretch);
        let mut force = law.force.map_or(b.zero, |f| b.replace(f, map));
        if let Some(spring) = law.spring {
            let (spring, length) = (b.replace(spring, map), b.replace(law.length, map));
            let longer = b.g.sub(stretch, length);
            let of_time = |i: Input| matches!(i, Input::Parameter(_) | Input::Time | Input::Memory(_));
            if b.depends_only(spring, of_time) && b.depends_only(length, of_time) {
                let square = b.g.powi(longer, 2);
                let half = b.g.num(0.5);
                let v = b.g.mul(spring, square);
                let v = b.g.mul(half, v);
                // −∂V/∂q = −c (s − l) ∂s/∂q, written so that the factor is shared
                let pull = b.g.mul(spring, longer);
                for &(k, w) in &row.columns {
                    let part = b.g.mul(pull, w);
                    self.h[k] = b.g.sub(self.h[k], part);
                }
                self.potential = b.g.add(self.potential, v);
                let explicit = b.explicit_rate(v);
                self.power = b.g.add(self.power, explicit);
            } else {
                let pull = b.g.mul(spring, longer);
                force = b.g.sub(force, pull);
            }
        }
        if let Some(damper) = law.damper {
            let damper = b.replace(damper, map);
            let drag = b.g.mul(damper, row.rate);
            force = b.g.sub(force, drag);
        }
        if force != b.zero {
            self.push_row(b, force, &row);
        }
    }

    /// Bodies: kinetic and potential energy, loads, driven parts. Returns those with mass or inertia and those that carry them.
    pub(super) fn bodies(&mut self, b: &mut Builder) -> Vec<Link<2, 3, 1>> {
        let model = b.model;
        let planar = |i: usize| model.bodies[i].space.is_none();
        let weighs =
            |i: usize| planar(i) && (model.bodies[i].mass != b.zero || model.bodies[i].inertia != b.zero);
        let mut needed: Vec<bool> = (0..model.bodies.len()).map(weighs).collect();
        for i in (0..needed.len()).rev() {
            if let (true, Some(p)) = (needed[i], model.bodies[i].on) {
                needed[p] = true;
            }
        }
        let mut link_of = vec![None; model.bodies.len()];
        let half = b.g.num(0.5);
        let gravity = [model.gravity[0], model.gravity[1]];
        let mut out = Vec::new();
        for (i, body) in model.bodies.iter().enumerate() {
            if let Some(t) = body.kinetic {
                self.lagrange(b, t);
            }
            let (m, inertia) = (body.mass, body.inertia);
            if !needed[i] {
                continue;
            }
            let frame = b.frame(Some(i)).clone();
            let pose = frame.pose;
            let s = super::kinematics::place(&mut b.g, &pose, body.center);
            let arm = b.sub2(s, pose.origin);
            let carried = |b: &mut Builder, c: [NodeId; 3]| {
                let v = b.carry([c[0], c[1]], c[2], arm);
                [v[0], v[1], c[2]]
            };
            let own: Vec<_> = frame.own.iter().map(|&(k, c)| (k, carried(b, c))).collect();
            link_of[i] = Some(out.len());
            let parent = body.on.and_then(|p| link_of[p]);
            if m == b.zero && inertia == b.zero {
                let none = [b.zero; 3];
                out.push(Link {
                    parent,
                    point: s,
                    own,
                    mass: m,
                    inertia: [inertia],
                    load: none,
                    momentum: none,
                });
                continue;
            }
            let velocity = carried(b, frame.velocity);
            let explicit = carried(b, frame.explicit);
            let accel = velocity.map(|v| b.dot(v));
            let weight = [m, m, inertia];
            let mut square = b.zero;
            let (mut load, mut momentum) = ([b.zero; 3], [b.zero; 3]);
            for j in 0..3 {
                let vv = b.g.powi(velocity[j], 2);
                let part = b.g.mul(weight[j], vv);
                square = b.g.add(square, part);
                momentum[j] = b.g.mul(weight[j], explicit[j]);
                let driven = b.g.mul(momentum[j], accel[j]);
                self.drive_offset = b.g.add(self.drive_offset, driven);
                let field = if j < 2 { gravity[j] } else { b.zero };
                let rest = b.g.sub(field, accel[j]);
                load[j] = b.g.mul(weight[j], rest);
            }
            let t = b.g.mul(half, square);
            self.kinetic = b.g.add(self.kinetic, t);
            // gravity: V = −m g · r_S
            let fall = b.dot2(gravity, s);
            let v = b.g.mul(m, fall);
            self.potential = b.g.sub(self.potential, v);
            let rate = b.explicit_rate(v);
            self.power = b.g.sub(self.power, rate);
            out.push(Link { parent, point: s, own, mass: m, inertia: [inertia], load, momentum });
        }
        out
    }

    /// Lagrange's equations of a kinetic energy T(q, u, t).
    fn lagrange(&mut self, b: &mut Builder, t: NodeId) {
        self.kinetic = b.g.add(self.kinetic, t);
        let momentum = b.by_velocities(t);
        let by_q: BTreeMap<usize, NodeId> = b.by_coordinates(t).into_iter().collect();
        let two = b.g.num(2.0);
        let mut regular = b.explicit_rate(t) == b.zero;
        let mut entries = BTreeMap::new();
        for &(i, p) in &momentum {
            for (j, m) in b.by_velocities(p) {
                if j <= i {
                    entries.insert((i, j), m);
                }
                regular &= b.depends_only(m, |x| !matches!(x, Input::Velocity(_)));
            }
            // no part of p without u
            let mut rest = BTreeMap::new();
            for k in 0..b.model.coordinates.len() {
                let s = b.symbol(Input::Velocity(k));
                rest.insert(s, b.zero);
            }
            regular &= b.replace(p, &rest) == b.zero;
            let change = b.dot(p);
            self.h[i] = b.g.sub(self.h[i], change);
        }
        for (&k, &d) in &by_q {
            self.h[k] = b.g.add(self.h[k], d);
        }
        if !regular {
            self.irregular(b, t, &momentum, &by_q, &entries, two);
        }
        for (ij, m) in entries {
            let old = self.mass.get(&ij).copied().unwrap_or(b.zero);
            let sum = b.g.add(old, m);
            self.mass.insert(ij, sum);
        }
    }

    /// Driven part of a kinetic energy that is not a homogeneous quadratic form.
    fn irregular(
        &mut self,
        b: &mut Builder,
        t: NodeId,
        momentum: &[(usize, NodeId)],
        by_q: &BTreeMap<usize, NodeId>,
        entries: &BTreeMap<(usize, usize), NodeId>,
        two: NodeId,
    ) {
        for (&k, &d) in by_q {
            let u = b.input(Input::Velocity(k));
            let part = b.g.mul(u, d);
            let part = b.g.mul(two, part);
            self.drive_offset = b.g.add(self.drive_offset, part);
        }
        let explicit = b.explicit_rate(t);
        self.drive_offset = b.g.add(self.drive_offset, explicit);
        for &(i, p) in momentum {
            let u = b.input(Input::Velocity(i));
            let change = b.dot(p);
            let part = b.g.mul(u, change);
            self.drive_offset = b.g.sub(self.drive_offset, part);
            self.drive[i] = b.g.add(self.drive[i], p);
        }
        for (&(i, j), &m) in entries {
            let (ui, uj) = (b.input(Input::Velocity(i)), b.input(Input::Velocity(j)));
            let part = b.g.mul(m, uj);
            self.drive[i] = b.g.sub(self.drive[i], part);
            if i != j {
                let part = b.g.mul(m, ui);
                self.drive[j] = b.g.sub(self.drive[j], part);
            }
        }
    }
}
