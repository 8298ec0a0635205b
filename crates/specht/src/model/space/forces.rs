//! Forces and torques on bodies in space.

use crate::expr::NodeId;

use super::super::FeatureRef;
use super::super::forces::Accounts;
use super::super::frames::Builder;
use super::Vector;
use super::frames::halves;
use super::vector::dot;

impl Accounts {
    /// A force on a point of a body.
    pub(in crate::model) fn space_force(
        &mut self,
        b: &mut Builder,
        point: FeatureRef,
        force: Vector,
        body_axes: bool,
    ) {
        let at = b.space_point(point);
        let force = if body_axes { b.space_frame(point.body).pose.turn(&mut b.g, force) } else { force };
        let m = b.space_material(point.body, at);
        for (k, c) in m.columns {
            let part = dot(&mut b.g, force, c);
            self.h[k] = b.g.add(self.h[k], part);
        }
        self.push_vector(b, force, m.velocity, m.explicit);
    }

    /// A torque on a body; `None` is the ground.
    pub(in crate::model) fn space_torque(&mut self, b: &mut Builder, body: Option<usize>, torque: Vector) {
        for (k, c) in b.space_columns(body) {
            let part = dot(&mut b.g, torque, halves(c)[1]);
            self.h[k] = b.g.add(self.h[k], part);
        }
        let frame = b.space_frame(body).clone();
        self.push_vector(b, torque, halves(frame.velocity)[1], halves(frame.explicit)[1]);
    }

    fn push_vector(&mut self, b: &mut Builder, force: Vector, velocity: Vector, explicit: Vector) {
        let work = dot(&mut b.g, force, velocity);
        let driven: NodeId = dot(&mut b.g, force, explicit);
        self.power = b.g.add(self.power, work);
        self.drive_offset = b.g.sub(self.drive_offset, driven);
    }
}
