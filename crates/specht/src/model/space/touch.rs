//! Contacts in space: rows of the normal and of two tangents.

use std::collections::BTreeMap;

use crate::expr::NodeId;

use super::super::frames::{Builder, Row};
use super::super::geometry::{ContourProblem, Unknown};
use super::super::{FeatureRef, Input, Shape};
use super::frames::{SpaceMaterial, halves};
use super::meet::Hulls;
use super::vector::{along, cross, dot, neg, scale, sub, unit};
use super::{SpaceShape, Vector};

/// A pair of features at work.
#[derive(Clone, Debug)]
pub(in crate::model) struct SpaceTouch {
    /// What distinguishes it where a pair touches at several places: `corner[3]`, `end[1]`.
    pub part: Option<usize>,
    pub normal: Row,
    pub tangents: [Row; 2],
    /// Normal and tangents, world axes.
    pub directions: [Vector; 3],
    /// Bodies A and B.
    pub bodies: [Option<usize>; 2],
    /// Equations of contact parameters.
    pub contour: Option<ContourProblem>,
}

/// Where a pair of shapes meets.
pub(super) struct Meeting {
    pub gap: NodeId,
    /// Unit vector from B to A.
    pub normal: Vector,
    /// The point on A.
    pub point: Vector,
    /// Equations of the parameters on which they depend.
    pub contour: Option<ContourProblem>,
    /// Where its first tangent comes from.
    pub first: First,
}

/// Where the first tangent of a contact comes from, unless the file names it.
#[derive(Clone, Copy)]
pub(super) enum First {
    /// An axis of B's body, chosen at the start.
    Axis,
    /// An axis of B's body, chosen anew when the normal turns by an event: before the faces of a box.
    Turning,
    /// This direction, which is perpendicular to the normal.
    Given(Vector),
}

/// cos 30°: normals nearer to x than that have y for their first tangent.
const NEAR: f64 = 0.866_025_403_784_438_6;

impl Builder<'_> {
    /// The shape behind a reference in a model in space; a bare name is the origin.
    pub(super) fn space_shape(&self, r: FeatureRef) -> Option<SpaceShape> {
        match self.shape(r) {
            None => Some(SpaceShape::Point([self.zero; 3])),
            Some(Shape::Space(s)) => Some(s.clone()),
            Some(_) => None,
        }
    }

    /// World position of the point that stands for a feature.
    pub(in crate::model) fn space_point(&mut self, r: FeatureRef) -> Vector {
        let local = self.space_shape(r).and_then(|s| s.point()).unwrap_or([self.zero; 3]);
        let pose = self.space_frame(r.body).pose;
        pose.place(&mut self.g, local)
    }

    /// The contacts of two features; `None` when the pair has no contact geometry.
    pub(in crate::model) fn space_touch(
        &mut self,
        a: FeatureRef,
        b: FeatureRef,
        tangent: Option<Vector>,
        count: &mut [usize; 2],
    ) -> Option<(Vec<SpaceTouch>, Option<Hulls>)> {
        let (sa, sb) = (self.space_shape(a)?, self.space_shape(b)?);
        let (one, other) = ((a.body, &sa), (b.body, &sb));
        let (meetings, hulls) = match sa.is_polyhedron() && sb.is_polyhedron() {
            true => self.hulls(one, other, count).map(|(m, h)| (m, Some(h)))?,
            false => (self.meetings(one, other, count)?, None),
        };
        let several = meetings.len() > 1;
        let zero = self.zero;
        let mut formulas = sa.formulas().into_iter().chain(sb.formulas());
        let moves = formulas.any(|node| self.explicit_rate(node) != zero);
        let mut out = Vec::with_capacity(meetings.len());
        for (k, m) in meetings.into_iter().enumerate() {
            let touch = self.rows_of(m, [a.body, b.body], moves, tangent);
            out.push(SpaceTouch { part: several.then_some(k + 1), ..touch });
        }
        Some((out, hulls))
    }

    fn rows_of(
        &mut self,
        m: Meeting,
        [a, b]: [Option<usize>; 2],
        moves: bool,
        tangent: Option<Vector>,
    ) -> SpaceTouch {
        // the total derivative must know how parameters of the contact move
        let before = m.contour.as_ref().map(|problem| {
            let total = self.derivation_with(problem);
            let before = std::mem::replace(&mut self.total, total);
            let bodies = 1..self.space.len();
            bodies.for_each(|k| self.learn(&self.space[k].clone()));
            before
        });
        let back = self.g.neg(m.gap);
        let other = along(&mut self.g, m.point, back, m.normal);
        let (on_a, on_b) = (self.space_material(a, m.point), self.space_material(b, other));
        let mut normal = self.row_of_space_motion(m.normal, &on_a, &on_b);
        normal.value = m.gap;
        self.add_own_motion([a, b], moves, &mut normal);
        let unknowns = m.contour.as_ref().map_or(&[][..], |c| &c.unknowns);
        let [t1, t2] = match (m.first, tangent) {
            (First::Given(first), None) => [first, cross(&mut self.g, m.normal, first)],
            (first, _) => self.tangents(m.normal, b, tangent, matches!(first, First::Turning), unknowns),
        };
        let tangents = [t1, t2].map(|t| self.row_of_space_motion(t, &on_a, &on_b));
        if let Some(before) = before {
            self.total = before;
        }
        let directions = [m.normal, t1, t2];
        SpaceTouch { part: None, normal, tangents, directions, bodies: [a, b], contour: m.contour }
    }

    /// A shape that moves against its body (formulas of time in a feature, a ground that rises) meets with that velocity too: the rate of the
    /// gap with the bodies standing still. Bodies that are driven carry their shapes, and have it in their own velocity: what is left over is the shape's.
    /// Along the tangents a shape has no velocity of its own.
    fn add_own_motion(&mut self, bodies: [Option<usize>; 2], moves: bool, normal: &mut Row) {
        let zero = self.zero;
        let driven =
            bodies.into_iter().any(|body| self.space_frame(body).explicit.iter().any(|&n| n != zero));
        if driven && !moves {
            return;
        }
        let mut own = self.explicit_rate(normal.value);
        if driven {
            own = self.g.sub(own, normal.rate_offset);
        }
        if own != zero {
            normal.rate = self.g.add(normal.rate, own);
            normal.rate_offset = self.g.add(normal.rate_offset, own);
            normal.accel_offset = self.dot(normal.rate);
        }
    }

    /// First tangent: the named direction, or the x axis of B's body, or its y axis where the normal is near x at the start; as it lies in the
    /// tangent plane. Second: normal × first.
    fn tangents(
        &mut self,
        normal: Vector,
        b: Option<usize>,
        wanted: Option<Vector>,
        turning: bool,
        unknowns: &[Unknown],
    ) -> [Vector; 2] {
        let pose = self.space_frame(b).pose;
        let (zero, one) = (self.zero, self.one);
        let axis = match wanted {
            Some(local) => pose.turn(&mut self.g, local),
            None => {
                let x = pose.turn(&mut self.g, [one, zero, zero]);
                let cosine = dot(&mut self.g, x, normal);
                let y = pose.turn(&mut self.g, [zero, one, zero]);
                match turning {
                    true => {
                        let g = &mut self.g;
                        let (square, near) = (g.mul(cosine, cosine), g.num(NEAR * NEAR));
                        let along_x = g.gt(square, near);
                        [0, 1, 2].map(|i| g.select(along_x, y[i], x[i]))
                    }
                    false if self.value_at_start(cosine, unknowns).abs() > NEAR => y,
                    false => x,
                }
            }
        };
        let g = &mut self.g;
        let cosine = dot(g, axis, normal);
        let out = g.neg(cosine);
        let flat = along(g, axis, out, normal);
        let first = unit(g, flat);
        [first, cross(g, normal, first)]
    }

    /// The row of d · (ω_A − ω_B) times a factor.
    pub(in crate::model) fn row_of_spin(
        &mut self,
        d: Vector,
        bodies: [Option<usize>; 2],
        factor: NodeId,
    ) -> Row {
        let [a, b] = bodies.map(|body| {
            let columns = self.space_columns(body).into_iter().map(|(k, c)| (k, halves(c)[1])).collect();
            let frame = self.space_frame(body);
            SpaceMaterial {
                columns,
                velocity: halves(frame.velocity)[1],
                explicit: halves(frame.explicit)[1],
            }
        });
        let d = scale(&mut self.g, factor, d);
        self.row_of_space_motion(d, &a, &b)
    }

    /// Rows of two directions kept parallel, or perpendicular.
    pub(in crate::model) fn space_directions(
        &mut self,
        p: FeatureRef,
        q: FeatureRef,
        parallel: bool,
    ) -> Option<Vec<Row>> {
        let direction = |b: &mut Self, r: FeatureRef| match b.space_shape(r)? {
            SpaceShape::Direction(d) => Some(unit(&mut b.g, d)),
            _ => None,
        };
        let (local, other) = (direction(self, p)?, direction(self, q)?);
        let (a, b) = (self.space_frame(p.body).pose, self.space_frame(q.body).pose);
        let other = b.turn(&mut self.g, other);
        let mut own = vec![local];
        if parallel {
            // two directions across the first, by the axis that is farthest from it
            let size = local.map(|n| self.default_value(n).abs());
            let far = (0..3).min_by(|&i, &j| size[i].total_cmp(&size[j])).unwrap_or(0);
            let (zero, one) = (self.zero, self.one);
            let axis = [0, 1, 2].map(|i| if i == far { one } else { zero });
            let across = cross(&mut self.g, local, axis);
            let first = unit(&mut self.g, across);
            own = vec![first, cross(&mut self.g, local, first)];
        }
        let mut rows = Vec::new();
        for e in own {
            let e = a.turn(&mut self.g, e);
            // (ω_A − ω_B) · (e × other)
            let normal = cross(&mut self.g, e, other);
            let mut row = self.row_of_spin(normal, [p.body, q.body], self.one);
            row.value = dot(&mut self.g, e, other);
            self.measure_row(&mut row, [p.body, q.body], false);
            rows.push(row);
        }
        Some(rows)
    }

    /// The row of d · (v_A − v_B), material points.
    fn row_of_space_motion(&mut self, d: Vector, a: &SpaceMaterial, b: &SpaceMaterial) -> Row {
        let mut columns: BTreeMap<usize, NodeId> = BTreeMap::new();
        for &(k, c) in &a.columns {
            let w = dot(&mut self.g, d, c);
            columns.insert(k, w);
        }
        for &(k, c) in &b.columns {
            let w = dot(&mut self.g, d, c);
            let old = columns.get(&k).copied().unwrap_or(self.zero);
            let new = self.g.sub(old, w);
            columns.insert(k, new);
        }
        let zero = self.zero;
        let columns = columns.into_iter().filter(|&(_, n)| n != zero).collect();
        let slip = sub(&mut self.g, a.velocity, b.velocity);
        let rate = dot(&mut self.g, d, slip);
        let explicit = sub(&mut self.g, a.explicit, b.explicit);
        let rate_offset = dot(&mut self.g, d, explicit);
        let accel_offset = self.dot(rate);
        Row { columns, value: zero, rate, rate_offset, accel_offset, natural: Vec::new() }
    }

    /// Rows of two points kept together.
    pub(in crate::model) fn space_pin(&mut self, p: FeatureRef, q: FeatureRef) -> Vec<Row> {
        let (at, to) = (self.space_point(p), self.space_point(q));
        let (a, b) = (self.space_material(p.body, at), self.space_material(q.body, to));
        let apart = sub(&mut self.g, at, to);
        let (zero, one) = (self.zero, self.one);
        let unit = |i: usize| [0, 1, 2].map(|j| if i == j { one } else { zero });
        let rows = [0, 1, 2].map(|i| {
            let mut row = self.row_of_space_motion(unit(i), &a, &b);
            row.value = apart[i];
            self.measure_row(&mut row, [p.body, q.body], true);
            row
        });
        rows.to_vec()
    }

    /// World components of a direction of a feature.
    pub(super) fn space_direction(&mut self, body: Option<usize>, local: Vector) -> Vector {
        let pose = self.space_frame(body).pose;
        let local = unit(&mut self.g, local);
        pose.turn(&mut self.g, local)
    }

    /// Value of a node at the start of the run; for choices of side.
    fn value_at_start(&mut self, node: NodeId, unknowns: &[Unknown]) -> f64 {
        let mut map = BTreeMap::new();
        for u in unknowns {
            let half = self.g.num(0.5);
            let sum = self.g.add(u.range[0], u.range[1]);
            map.insert(u.symbol, self.g.mul(half, sum));
        }
        for (k, c) in self.model.coordinates.iter().enumerate() {
            map.insert(self.symbol(Input::Coordinate(k)), c.start);
        }
        for (k, free) in self.model.free.iter().enumerate() {
            let (q, _) = self.free_at(k);
            for (i, &start) in free.start.iter().enumerate() {
                map.insert(self.symbol(Input::Coordinate(q + i)), start);
            }
        }
        let node = self.g.substitute(node, &map);
        self.default_value(node)
    }
}

impl Meeting {
    /// One without parameters of its own.
    pub(super) fn new(gap: NodeId, normal: Vector, point: Vector) -> Meeting {
        Meeting { gap, normal, point, contour: None, first: First::Axis }
    }

    /// Seen from the other side: A and B change places.
    pub(super) fn swapped(self, b: &mut Builder<'_>) -> Meeting {
        let back = b.g.neg(self.gap);
        let point = along(&mut b.g, self.point, back, self.normal);
        Meeting { normal: neg(&mut b.g, self.normal), point, ..self }
    }
}
