//! Balls and points against curved shapes and capsules.
//!
//! Let d be the way from the shape's middle to the centre of the ball, e the axis, s = d·e, ρ = |d − s e|, R the ball's radius.
//!
//! ```text
//! ball, cylinder   g = |d| − R_B − R,  ρ − R_B − R                    hollow: R_B − R − |d|,  R_B − R − ρ
//! cone             g = ρ cos α − s sin α − R, beyond the tip |d| − R  funnel: s sin α − ρ cos α − R
//! torus            g = √((ρ − R_B)² + s²) − r − R                     bent tube: r − R − √…
//! capsule          g = |c − (a + t w)| − r − R, t = clamp(w·(c − a)/w², 0, 1)
//! box              g = |x − clamp(x, −h, h)| − R, x in its axes
//! two capsules     nearest points of two segments
//! ```
//!
//! Where a formula changes (tip of a cone, end of a capsule, edge of a box) gap and normal are continuous; the change is an event.

use crate::expr::{Fun, NodeId};

use super::super::frames::Builder;
use super::touch::{First, Meeting};
use super::vector::{add, along, cross, dot, neg, scale, sub, transposed};
use super::{SpaceShape, Vector};

/// A floor of 1e-60 m² under square roots keeps coinciding centres finite and does not change any other bit.
const TINY: f64 = 1e-60;

impl Builder<'_> {
    /// A ball, or with radius zero a point, against a shape without corners.
    pub(super) fn ball_meets(
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
                Some(self.under(center, radius, gap, normal))
            }
            SpaceShape::Ball { center: other, radius: wide, hole } => {
                let other = pose.place(&mut self.g, other);
                let d = sub(&mut self.g, center, other);
                Some(self.round(center, radius, d, wide, hole))
            }
            SpaceShape::Cylinder { through, axis, radius: wide, hole } => {
                let through = pose.place(&mut self.g, through);
                let (_, _, flat) = self.about_axis(center, through, body, axis);
                Some(self.round(center, radius, flat, wide, hole))
            }
            SpaceShape::Torus { center: middle, axis, radius: ring, tube, hole } => {
                let middle = pose.place(&mut self.g, middle);
                let (e, height, flat) = self.about_axis(center, middle, body, axis);
                // from the nearest point of the middle line
                let square = dot(&mut self.g, flat, flat);
                let rho = self.root(square);
                let g = &mut self.g;
                let share = g.div(ring, rho);
                let one = g.num(1.0);
                let rest = g.sub(one, share);
                let out = scale(g, rest, flat);
                let d = along(g, out, height, e);
                Some(self.round(center, radius, d, tube, hole))
            }
            SpaceShape::Cone { apex, axis, angle, hole } => {
                let apex = pose.place(&mut self.g, apex);
                Some(self.cone(center, radius, apex, (body, axis), angle, hole))
            }
            SpaceShape::Capsule { ends, radius: wide } => {
                let [from, to] = ends.map(|e| pose.place(&mut self.g, e));
                let g = &mut self.g;
                let (way, d) = (sub(g, to, from), sub(g, center, from));
                let (size, share) = (dot(g, way, way), dot(g, way, d));
                let share = g.div(share, size);
                let share = self.clamped(share);
                let g = &mut self.g;
                let back = g.neg(share);
                let d = along(g, d, back, way);
                Some(self.round(center, radius, d, wide, false))
            }
            _ => None,
        }
    }

    /// A ball against a box: from the nearest point of the box.
    pub(super) fn ball_on_box(
        &mut self,
        at: Vector,
        radius: NodeId,
        body: Option<usize>,
        center: Vector,
        half: Vector,
    ) -> Meeting {
        let pose = self.space_frame(body).pose;
        let g = &mut self.g;
        let d = sub(g, at, pose.origin);
        let own = transposed(&pose.axes).map(|e| dot(g, e, d));
        let own = sub(g, own, center);
        let beyond = [0, 1, 2].map(|i| {
            // x − clamp(x, −h, h)
            let low = g.neg(half[i]);
            let inside = g.max(low, own[i]);
            let inside = g.min(inside, half[i]);
            g.sub(own[i], inside)
        });
        let d = pose.turn(g, beyond);
        let zero = self.zero;
        Meeting { first: First::Turning, ..self.round(at, radius, d, zero, false) }
    }

    /// Two segments with radii: from the nearest points of both.
    pub(super) fn capsules(&mut self, a: ([Vector; 2], NodeId), b: ([Vector; 2], NodeId)) -> Meeting {
        let g = &mut self.g;
        let ([p, p2], [q, q2]) = (a.0, b.0);
        let (v, w, r) = (sub(g, p2, p), sub(g, q2, q), sub(g, p, q));
        let (vv, ww, vw) = (dot(g, v, v), dot(g, w, w), dot(g, v, w));
        let (vr, wr) = (dot(g, v, r), dot(g, w, r));
        // s on A as if both lines were endless; parallel ones: any s
        let (x, y) = (g.mul(vw, wr), g.mul(vr, ww));
        let (z, square) = (g.mul(vv, ww), g.mul(vw, vw));
        let (above, below) = (g.sub(x, y), g.sub(z, square));
        let tiny = g.num(TINY);
        let below = g.add(below, tiny);
        let share = g.div(above, below);
        let s = self.clamped(share);
        // t on B for that s, then s again for t: the nearest points of the segments
        let g = &mut self.g;
        let t = g.mul(vw, s);
        let t = g.add(t, wr);
        let t = g.div(t, ww);
        let t = self.clamped(t);
        let g = &mut self.g;
        let s = g.mul(vw, t);
        let s = g.sub(s, vr);
        let s = g.div(s, vv);
        let s = self.clamped(s);
        let g = &mut self.g;
        let (at, to) = (along(g, p, s, v), along(g, q, t, w));
        let d = sub(g, at, to);
        self.round(at, a.1, d, b.1, false)
    }

    /// Axis, height along it, and way from it.
    fn about_axis(
        &mut self,
        center: Vector,
        through: Vector,
        body: Option<usize>,
        axis: Vector,
    ) -> (Vector, NodeId, Vector) {
        let e = self.space_direction(body, axis);
        let g = &mut self.g;
        let d = sub(g, center, through);
        let height = dot(g, d, e);
        let back = g.neg(height);
        (e, height, along(g, d, back, e))
    }

    fn cone(
        &mut self,
        center: Vector,
        radius: NodeId,
        apex: Vector,
        (body, axis): (Option<usize>, Vector),
        angle: NodeId,
        hole: bool,
    ) -> Meeting {
        let (e, height, flat) = self.about_axis(center, apex, body, axis);
        let square = dot(&mut self.g, flat, flat);
        let rho = self.root(square);
        let g = &mut self.g;
        let out = flat.map(|n| g.div(n, rho));
        let (c, s) = (g.fun(Fun::Cos, angle), g.fun(Fun::Sin, angle));
        let (x, y) = (g.mul(rho, c), g.mul(height, s));
        let (side, down) = (g.sub(x, y), g.neg(s));
        let normal = scale(g, c, out);
        let normal = along(g, normal, down, e);
        if hole {
            let gap = g.neg(side);
            let gap = g.sub(gap, radius);
            let normal = neg(g, normal);
            return self.under(center, radius, gap, normal);
        }
        // behind the tip the nearest point is the tip
        let (x, y) = (g.mul(height, c), g.mul(rho, s));
        let along_side = g.add(x, y);
        let zero = g.num(0.0);
        let beside = g.ge(along_side, zero);
        let d = sub(g, center, apex);
        let square = dot(g, d, d);
        let distance = self.root(square);
        let g = &mut self.g;
        let tip = d.map(|n| g.div(n, distance));
        let normal = [0, 1, 2].map(|i| g.select(beside, normal[i], tip[i]));
        let reach = g.select(beside, side, distance);
        let gap = g.sub(reach, radius);
        self.under(center, radius, gap, normal)
    }

    /// A ball at the distance d from the middle of something round.
    pub(super) fn round(
        &mut self,
        center: Vector,
        radius: NodeId,
        d: Vector,
        wide: NodeId,
        hole: bool,
    ) -> Meeting {
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
        self.under(center, radius, gap, normal)
    }

    /// A ball that touches with its point opposite to the normal.
    pub(super) fn under(&mut self, center: Vector, radius: NodeId, gap: NodeId, normal: Vector) -> Meeting {
        let down = self.g.neg(radius);
        Meeting::new(gap, normal, along(&mut self.g, center, down, normal))
    }

    pub(super) fn root(&mut self, square: NodeId) -> NodeId {
        let tiny = self.g.num(TINY);
        let sum = self.g.add(square, tiny);
        self.g.fun(Fun::Sqrt, sum)
    }

    fn clamped(&mut self, share: NodeId) -> NodeId {
        let (zero, one) = (self.zero, self.one);
        let low = self.g.max(zero, share);
        self.g.min(low, one)
    }

    /// Unit normal of the plane through three points.
    pub(super) fn across(&mut self, [p, q, r]: [Vector; 3]) -> Vector {
        let g = &mut self.g;
        let (a, b) = (sub(g, q, p), sub(g, r, p));
        let n = cross(g, a, b);
        super::vector::unit(g, n)
    }

    /// The corners of a box in body axes, by the bits of their number.
    pub(super) fn corners(&mut self, center: Vector, half: Vector) -> Vec<Vector> {
        let signs = (0..8).map(|k| [0, 1, 2].map(|i| if k >> i & 1 == 0 { -1.0 } else { 1.0 }));
        signs
            .map(|s: [f64; 3]| {
                let side = [0, 1, 2].map(|i| {
                    let sign = self.g.num(s[i]);
                    self.g.mul(sign, half[i])
                });
                add(&mut self.g, center, side)
            })
            .collect()
    }
}
