//! Where two shapes in space meet: exact formulas for gap, normal and contact point.
//!
//! ```text
//! ball–plane       g = n·(c − p) − R                        point–plane: R = 0
//! rim–plane        g = n·(c − p) − R √(1 − (n·e)²)          lowest point of a circle with axis e
//! ellipsoid–plane  g = n·(c − p) − √(Σ a_i² n_i²)           n in the axes of the ellipsoid
//! cylinder–plane   the rims of its two ends
//! capsule–plane    two balls;  box–plane: eight points;  hull–plane: all its points; the same inside what is hollow
//! ball–round       see [`super::round`];  ball–surface: [`super::surface`];  ball–box, ball–hull: [`super::polyhedra`]
//! ```

use crate::expr::NodeId;

use super::super::frames::Builder;
use super::touch::Meeting;
use super::vector::{along, dot, sub, transposed};
use super::{SpaceShape, Vector};

impl Builder<'_> {
    /// All places at which two shapes meet; `None` for pairs without formulas.
    pub(super) fn meetings(
        &mut self,
        (body_a, a): (Option<usize>, &SpaceShape),
        (body_b, b): (Option<usize>, &SpaceShape),
        count: &mut [usize; 2],
    ) -> Option<Vec<Meeting>> {
        // the surface that gives the normal comes second
        let rank = |s: &SpaceShape| match s {
            SpaceShape::Point(_) => 0,
            SpaceShape::Ball { hole: false, .. } => 1,
            SpaceShape::Rim { .. } | SpaceShape::Ellipsoid { .. } => 2,
            SpaceShape::Capsule { .. } | SpaceShape::Drum { .. } => 3,
            SpaceShape::Box { .. } | SpaceShape::Hull(_) => 4,
            SpaceShape::Ball { .. } => 5,
            SpaceShape::Cylinder { .. } | SpaceShape::Cone { .. } | SpaceShape::Torus { .. } => 6,
            SpaceShape::Surface { .. } => 7,
            SpaceShape::Plane { .. } => 8,
            SpaceShape::Data(_) | SpaceShape::Direction(_) => 9,
        };
        if rank(a) > rank(b) {
            let list = self.meetings((body_b, b), (body_a, a), count)?;
            return Some(list.into_iter().map(|m| m.swapped(self)).collect());
        }
        let zero = self.zero;
        match (a, b) {
            (SpaceShape::Point(p), _) => {
                let at = self.space_frame(body_a).pose.place(&mut self.g, *p);
                self.one_ball(at, zero, (body_b, b), count)
            }
            (SpaceShape::Ball { center, radius, hole: false }, _) => {
                let at = self.space_frame(body_a).pose.place(&mut self.g, *center);
                self.one_ball(at, *radius, (body_b, b), count)
            }
            (SpaceShape::Capsule { ends: p, radius: r }, SpaceShape::Capsule { ends: q, radius: s }) => {
                let p = p.map(|e| self.space_frame(body_a).pose.place(&mut self.g, e));
                let q = q.map(|e| self.space_frame(body_b).pose.place(&mut self.g, e));
                Some(vec![self.capsules((p, *r), (q, *s))])
            }
            _ if b.is_inward() => self.made_of_balls((body_a, a), (body_b, b)),
            _ => None,
        }
    }

    /// One ball or point against anything.
    fn one_ball(
        &mut self,
        at: Vector,
        radius: NodeId,
        (body, b): (Option<usize>, &SpaceShape),
        count: &mut [usize; 2],
    ) -> Option<Vec<Meeting>> {
        let meeting = match b {
            SpaceShape::Box { center, half } if radius != self.zero => {
                self.ball_on_box(at, radius, body, *center, *half)
            }
            SpaceShape::Box { .. } | SpaceShape::Hull(_) => self.ball_on_faces(at, radius, (body, b))?,
            SpaceShape::Surface { .. } => self.ball_on_surface(at, radius, body, b, count)?,
            _ => self.ball_meets(at, radius, body, b)?,
        };
        Some(vec![meeting])
    }

    /// What is spanned by balls or points, above a plane or inside something convex; and the lowest point of what is round.
    fn made_of_balls(
        &mut self,
        (body_a, a): (Option<usize>, &SpaceShape),
        (body_b, b): (Option<usize>, &SpaceShape),
    ) -> Option<Vec<Meeting>> {
        let zero = self.zero;
        let balls: Vec<(Vector, NodeId)> = match a {
            SpaceShape::Capsule { ends, radius } => ends.iter().map(|e| (*e, *radius)).collect(),
            SpaceShape::Box { center, half } => {
                self.corners(*center, *half).into_iter().map(|p| (p, zero)).collect()
            }
            SpaceShape::Hull(points) => points.iter().map(|p| (*p, zero)).collect(),
            _ => return self.lowest_point((body_a, a), (body_b, b)),
        };
        let mut out = Vec::with_capacity(balls.len());
        for (center, radius) in balls {
            let center = self.space_frame(body_a).pose.place(&mut self.g, center);
            out.push(self.ball_meets(center, radius, body_b, b)?);
        }
        Some(out)
    }

    fn lowest_point(
        &mut self,
        (body_a, a): (Option<usize>, &SpaceShape),
        (body_b, b): (Option<usize>, &SpaceShape),
    ) -> Option<Vec<Meeting>> {
        let SpaceShape::Plane { through, normal } = *b else { return None };
        let through = self.space_frame(body_b).pose.place(&mut self.g, through);
        let n = self.space_direction(body_b, normal);
        match *a {
            SpaceShape::Rim { center, axis, radius } => {
                let center = self.space_frame(body_a).pose.place(&mut self.g, center);
                let e = self.space_direction(body_a, axis);
                let g = &mut self.g;
                let cosine = dot(g, n, e);
                let back = g.neg(cosine);
                let flat = along(g, n, back, e);
                let square = dot(g, flat, flat);
                let size = self.root(square);
                let g = &mut self.g;
                let reach = g.div(radius, size);
                let reach = g.neg(reach);
                let point = along(g, center, reach, flat);
                Some(vec![self.above(point, through, n)])
            }
            SpaceShape::Drum { ends, radius } => {
                let axis = sub(&mut self.g, ends[1], ends[0]);
                let mut out = Vec::with_capacity(2);
                for center in ends {
                    let rim = SpaceShape::Rim { center, axis, radius };
                    out.extend(self.lowest_point((body_a, &rim), (body_b, b))?);
                }
                Some(out)
            }
            SpaceShape::Ellipsoid { center, axes } => {
                let pose = self.space_frame(body_a).pose;
                let g = &mut self.g;
                let center = pose.place(g, center);
                let own = transposed(&pose.axes).map(|e| dot(g, e, n));
                let long = [0, 1, 2].map(|i| g.mul(axes[i], own[i]));
                let square = dot(g, long, long);
                let size = self.root(square);
                let g = &mut self.g;
                let down = [0, 1, 2].map(|i| {
                    let a = g.mul(axes[i], long[i]);
                    g.div(a, size)
                });
                let down = pose.turn(g, down);
                let point = sub(g, center, down);
                Some(vec![self.above(point, through, n)])
            }
            _ => None,
        }
    }

    /// A point above a plane.
    fn above(&mut self, point: Vector, through: Vector, normal: Vector) -> Meeting {
        let d = sub(&mut self.g, point, through);
        let gap = dot(&mut self.g, normal, d);
        Meeting::new(gap, normal, point)
    }
}
