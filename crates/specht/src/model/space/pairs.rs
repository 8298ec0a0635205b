//! Where two shapes in space meet: exact formulas for gap, normal and contact point.
//!
//! ```text
//! ball–plane       g = n·(c − p) − R                        point–plane: R = 0
//! ball–ball        g = |c_A − c_B| − R_A − R_B              in a hollow ball: R_B − R_A − |c_A − c_B|
//! ball–cylinder    g = ρ − R_B − R_A, ρ the distance of c from the axis; in a tube: R_B − R_A − ρ
//! rim–plane        g = n·(c − p) − R √(1 − (n·e)²)          lowest point of a circle with axis e
//! ellipsoid–plane  g = n·(c − p) − √(Σ a_i² n_i²)           n in the axes of the ellipsoid
//! cylinder–plane   the rims of its two ends
//! capsule–plane    two balls;  box–plane: eight points;  hull–plane: all its points
//! ```

use crate::expr::{Fun, NodeId};

use super::super::frames::Builder;
use super::touch::Meeting;
use super::vector::{add, along, dot, neg, sub, transposed};
use super::{SpaceShape, Vector};

/// A floor of 1e-60 m² under square roots keeps coinciding centres finite and does not change any other bit.
const TINY: f64 = 1e-60;

impl Builder<'_> {
    /// All places at which two shapes meet; `None` for pairs without formulas.
    pub(super) fn meetings(
        &mut self,
        body_a: Option<usize>,
        a: &SpaceShape,
        body_b: Option<usize>,
        b: &SpaceShape,
    ) -> Option<Vec<Meeting>> {
        // the surface that gives the normal comes second
        let rank = |s: &SpaceShape| match s {
            SpaceShape::Point(_) => 0,
            SpaceShape::Ball { hole: false, .. } => 1,
            SpaceShape::Rim { .. } | SpaceShape::Ellipsoid { .. } => 2,
            SpaceShape::Capsule { .. }
            | SpaceShape::Drum { .. }
            | SpaceShape::Box { .. }
            | SpaceShape::Hull(_) => 3,
            SpaceShape::Ball { .. } => 4,
            SpaceShape::Cylinder { .. } => 5,
            SpaceShape::Plane { .. } => 6,
            SpaceShape::Data(_) | SpaceShape::Direction(_) => 7,
        };
        if rank(a) > rank(b) {
            let list = self.meetings(body_b, b, body_a, a)?;
            return Some(list.into_iter().map(|m| m.swapped(self)).collect());
        }
        let zero = self.zero;
        // what is made of balls
        let balls: Vec<(Vector, NodeId)> = match a {
            SpaceShape::Point(p) => vec![(*p, zero)],
            SpaceShape::Ball { center, radius, hole: false } => vec![(*center, *radius)],
            SpaceShape::Capsule { ends, radius } => ends.iter().map(|e| (*e, *radius)).collect(),
            SpaceShape::Box { center, half } => self.corners(*center, *half),
            SpaceShape::Hull(points) => points.iter().map(|p| (*p, zero)).collect(),
            _ => Vec::new(),
        };
        let one = |a: &SpaceShape| matches!(a, SpaceShape::Point(_) | SpaceShape::Ball { .. });
        let serves = matches!(b, SpaceShape::Plane { .. }) || one(a);
        if !balls.is_empty() && serves {
            let mut out = Vec::with_capacity(balls.len());
            for (center, radius) in balls {
                let center = self.space_frame(body_a).pose.place(&mut self.g, center);
                out.push(self.ball_meets(center, radius, body_b, b)?);
            }
            return Some(out);
        }
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
                    out.extend(self.meetings(body_a, &rim, body_b, b)?);
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
        Meeting { gap, normal, point }
    }

    fn ball_meets(
        &mut self,
        center: Vector,
        radius: NodeId,
        body: Option<usize>,
        b: &SpaceShape,
    ) -> Option<Meeting> {
        let pose = self.space_frame(body).pose;
        match *b {
            SpaceShape::Plane { through, normal } => {
                let through = pose.place(&mut self.g, through);
                let normal = self.space_direction(body, normal);
                let g = &mut self.g;
                let d = sub(g, center, through);
                let height = dot(g, normal, d);
                let gap = g.sub(height, radius);
                let down = g.neg(radius);
                Some(Meeting { gap, normal, point: along(g, center, down, normal) })
            }
            SpaceShape::Ball { center: other, radius: wide, hole } => {
                let other = pose.place(&mut self.g, other);
                let d = sub(&mut self.g, center, other);
                Some(self.round(center, radius, d, wide, hole))
            }
            SpaceShape::Cylinder { through, axis, radius: wide, hole } => {
                let through = pose.place(&mut self.g, through);
                let e = self.space_direction(body, axis);
                let g = &mut self.g;
                let d = sub(g, center, through);
                let height = dot(g, d, e);
                let back = g.neg(height);
                let d = along(g, d, back, e);
                Some(self.round(center, radius, d, wide, hole))
            }
            _ => None,
        }
    }

    /// A ball at the distance d from the middle of something round.
    fn round(&mut self, center: Vector, radius: NodeId, d: Vector, wide: NodeId, hole: bool) -> Meeting {
        let square = dot(&mut self.g, d, d);
        let distance = self.root(square);
        let g = &mut self.g;
        let out = d.map(|n| g.div(n, distance));
        let (gap, normal) = if hole {
            let play = g.sub(wide, radius);
            (g.sub(play, distance), neg(g, out))
        } else {
            let sum = g.add(wide, radius);
            (g.sub(distance, sum), out)
        };
        let down = g.neg(radius);
        Meeting { gap, normal, point: along(g, center, down, normal) }
    }

    fn root(&mut self, square: NodeId) -> NodeId {
        let tiny = self.g.num(TINY);
        let sum = self.g.add(square, tiny);
        self.g.fun(Fun::Sqrt, sum)
    }

    fn corners(&mut self, center: Vector, half: Vector) -> Vec<(Vector, NodeId)> {
        let zero = self.zero;
        let signs = (0..8).map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -1.0 } else { 1.0 }));
        signs
            .map(|s: [f64; 3]| {
                let side = [0, 1, 2].map(|i| {
                    let sign = self.g.num(s[i]);
                    self.g.mul(sign, half[i])
                });
                (add(&mut self.g, center, side), zero)
            })
            .collect()
    }
}
