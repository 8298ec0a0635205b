//! Shapes in space as numbers: where two of them touch (METH-TIMESTEP, bodies that touch wherever they meet)
//!
//! ```text
//! round    a straight line with a radius around it: ball (a line of length 0), capsule
//! hull     a convex polyhedron: box, convex hull of points
//! cylinder a finite one, with flat ends
//! plane    a half space
//! outline  a polygon of any shape in the plane z = 0
//! mesh     a surface of triangles, height field: a smooth surface over a grid; both carry convex shapes
//! ```
//!
//! [`meet`] gives the contact points of a pair: gap along a unit normal from B to A, the point, and a number that stays the same while the
//! same corner, edge or end touches. Gaps are exact distances of rounds and planes. Of two hulls the gap is measured along the axis of
//! largest separation (face normals and products of edges), which is the distance where a face or two edges are nearest, and a
//! lower bound of it elsewhere; faces touch at the corners of their common polygon, found by clipping. [`Broad`] finds
//! the pairs that are near.

mod broad;
mod convex;
mod cylinder;
mod drums;
mod faces;
mod field;
mod flat;
mod hull;
mod mesh;
mod on_mesh;
mod rounds;
mod tree;
mod vec3;

pub(crate) use broad::Broad;
pub(crate) use field::Field;
pub(crate) use flat::Outline;
pub(crate) use hull::{Hull, HullError};
pub(crate) use mesh::{Filling, Mesh, MeshError, TRIANGLES};
pub(crate) use vec3::{V3, add, along, cross, dot, norm, sub};

use std::sync::Arc;

use vec3::{max_abs, scale};

/// Where a body is: origin, and the rows of the matrix that turns body axes into world axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pose {
    pub origin: V3,
    pub axes: [V3; 3],
}

impl Pose {
    /// World position of a point of the body.
    pub(crate) fn place(&self, p: V3) -> V3 {
        add(self.origin, self.turn(p))
    }

    /// Body coordinates of a point of the world.
    pub(crate) fn back(&self, p: V3) -> V3 {
        self.turn_back(sub(p, self.origin))
    }

    /// Body components of a direction of the world.
    pub(crate) fn turn_back(&self, d: V3) -> V3 {
        [0, 1, 2].map(|j| (0..3).map(|i| self.axes[i][j] * d[i]).sum())
    }

    /// World components of a direction of the body.
    pub(crate) fn turn(&self, d: V3) -> V3 {
        [dot(self.axes[0], d), dot(self.axes[1], d), dot(self.axes[2], d)]
    }
}

/// A shape in body axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// A line from one end to the other with a radius around it; a ball has two equal ends.
    Round { ends: [V3; 2], radius: f64 },
    /// A convex polyhedron.
    Hull(Hull),
    /// A finite cylinder: the middles of its two ends.
    Cylinder { ends: [V3; 2], radius: f64 },
    /// A half space: a point of its border and the unit normal out of the material.
    Plane { through: V3, normal: V3 },
    /// A polygon in the plane.
    Outline(Outline),
    /// A surface of triangles.
    Mesh(Arc<Mesh>),
    /// A surface over a grid.
    Field(Arc<Field>),
}

impl Shape {
    /// Radius of the ball around the origin of the body that holds the shape; infinite for planes.
    pub(crate) fn reach(&self) -> f64 {
        match self {
            Shape::Round { ends, radius } => norm(ends[0]).max(norm(ends[1])) + radius,
            Shape::Hull(h) => h.vertices.iter().fold(0.0, |m, &v| m.max(norm(v))),
            // a bound: the ball around an end that holds the rim
            Shape::Cylinder { ends, radius } => norm(ends[0]).max(norm(ends[1])) + radius,
            Shape::Outline(o) => o.points.iter().fold(0.0, |m, &v| m.max(norm(v))),
            Shape::Mesh(m) => m.vertices.iter().fold(0.0, |r, &v| r.max(norm(v))),
            Shape::Field(f) => {
                let (low, high) = f.corners();
                norm([0, 1, 2].map(|k| low[k].abs().max(high[k].abs())))
            }
            Shape::Plane { .. } => f64::INFINITY,
        }
    }

    /// Half of its smallest extension: what moves farther than that in a step may pass through. Infinite for planes and surfaces.
    pub(crate) fn thinness(&self) -> f64 {
        match self {
            Shape::Round { radius, .. } => *radius,
            Shape::Hull(h) => h.thin,
            Shape::Cylinder { ends, radius } => radius.min(0.5 * norm(sub(ends[1], ends[0]))),
            Shape::Outline(o) => o.thin,
            Shape::Plane { .. } | Shape::Mesh(_) | Shape::Field(_) => f64::INFINITY,
        }
    }
}

/// A shape at its place in the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// Ends of a round or cylinder, vertices of a hull, the point of a plane.
    points: Vec<V3>,
    /// Normals of the faces of a hull, of a plane; the axis of a cylinder.
    normals: Vec<V3>,
    /// Directions of the edges of a hull; a direction across the axis of a cylinder that turns with it.
    edges: Vec<V3>,
    /// Where it is.
    pose: Pose,
    /// Corners of the box along the world axes that holds it.
    pub low: V3,
    pub high: V3,
}

impl Placed {
    /// Put the shape at the pose; the storage is reused.
    pub(crate) fn put(&mut self, shape: &Shape, pose: &Pose) {
        self.points.clear();
        self.normals.clear();
        self.edges.clear();
        self.pose = *pose;
        let mut radius = 0.0;
        match shape {
            Shape::Outline(o) => self.points.extend(o.points.iter().map(|&p| pose.place(p))),
            Shape::Mesh(m) => return self.enclose(m.low, m.high),
            Shape::Field(f) => {
                let (low, high) = f.corners();
                return self.enclose(low, high);
            }
            Shape::Round { ends, radius: r } => {
                self.points.extend(ends.map(|p| pose.place(p)));
                radius = *r;
            }
            Shape::Hull(h) => {
                self.points.extend(h.vertices.iter().map(|&p| pose.place(p)));
                self.normals.extend(h.faces.iter().map(|f| pose.turn(f.normal)));
                self.edges.extend(h.directions.iter().map(|&d| pose.turn(d)));
            }
            Shape::Cylinder { ends, radius } => {
                let axis = vec3::unit(sub(ends[1], ends[0])).unwrap_or([0.0, 0.0, 1.0]);
                self.points.extend(ends.map(|p| pose.place(p)));
                self.normals.push(pose.turn(axis));
                self.edges.push(pose.turn(convex::across(axis)));
                let e = self.normals[0];
                let wide = [0, 1, 2].map(|k| radius * (1.0 - e[k] * e[k]).max(0.0).sqrt());
                let (p, q) = (self.points[0], self.points[1]);
                self.low = [0, 1, 2].map(|k| p[k].min(q[k]) - wide[k]);
                self.high = [0, 1, 2].map(|k| p[k].max(q[k]) + wide[k]);
                return;
            }
            Shape::Plane { through, normal } => {
                self.points.push(pose.place(*through));
                self.normals.push(pose.turn(*normal));
                (self.low, self.high) = ([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]);
                return;
            }
        }
        (self.low, self.high) = (self.points[0], self.points[0]);
        for p in &self.points {
            for k in 0..3 {
                self.low[k] = self.low[k].min(p[k]);
                self.high[k] = self.high[k].max(p[k]);
            }
        }
        for k in 0..3 {
            self.low[k] -= radius;
            self.high[k] += radius;
        }
    }
}

impl Placed {
    /// The box around a box of the body.
    fn enclose(&mut self, low: V3, high: V3) {
        let middle = self.pose.place(scale(0.5, add(low, high)));
        let half = scale(0.5, sub(high, low));
        let reach = [0, 1, 2].map(|i| (0..3).map(|j| self.pose.axes[i][j].abs() * half[j]).sum::<f64>());
        (self.low, self.high) = (sub(middle, reach), add(middle, reach));
    }
}

/// A point at which two shapes touch, or nearly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Touch {
    pub gap: f64,
    /// Unit vector from B to A.
    pub normal: V3,
    /// In the middle of the gap.
    pub point: V3,
    /// Which corner, edge or end.
    pub feature: u32,
}

impl Touch {
    /// From the point on A.
    fn on_a(gap: f64, normal: V3, a: V3, feature: u32) -> Touch {
        Touch { gap, normal, point: along(a, -0.5 * gap, normal), feature }
    }

    /// Seen with A and B exchanged.
    fn swapped(self) -> Touch {
        Touch { normal: scale(-1.0, self.normal), ..self }
    }
}

/// Lengths below this part of a shape's size are rounding of its corners.
const ROUNDING: f64 = 1e-9;
/// Features nearer to each other than this part of the size are one.
const SAME: f64 = 1e-6;

/// The points at which A and B are at most `margin` apart. `push`: the direction in which smooth forces move them against each other, of any length;
/// it chooses among the points of a rim that are all as near.
pub(crate) fn meet(a: (&Shape, &Placed), b: (&Shape, &Placed), push: V3, margin: f64, out: &mut Vec<Touch>) {
    let first = out.len();
    // the order of the pairs below
    let rank = |s: &Shape| match s {
        Shape::Round { .. } => 0,
        Shape::Cylinder { .. } => 1,
        Shape::Hull(_) => 2,
        Shape::Outline(_) => 3,
        Shape::Plane { .. } => 4,
        Shape::Mesh(_) => 5,
        Shape::Field(_) => 6,
    };
    if rank(a.0) > rank(b.0) {
        meet(b, a, push, margin, out);
        out[first..].iter_mut().for_each(|t| *t = t.swapped());
        return;
    }
    match (a.0, b.0) {
        (Shape::Round { radius: ra, .. }, Shape::Round { radius: rb, .. }) => {
            rounds::round_round((a.1, *ra), (b.1, *rb), margin, out)
        }
        (Shape::Round { radius, .. }, Shape::Cylinder { .. }) => {
            cylinder::round_convex((a.1, *radius), b, margin, out)
        }
        (Shape::Round { radius, .. }, Shape::Hull(h)) => {
            rounds::round_hull((a.1, *radius), (h, b.1), margin, out)
        }
        (Shape::Cylinder { .. }, Shape::Cylinder { .. }) => drums::cylinder_cylinder(a, b, push, margin, out),
        (Shape::Cylinder { radius, .. }, Shape::Hull(h)) => {
            cylinder::cylinder_hull(a, *radius, (h, b.1), push, margin, out)
        }
        (Shape::Cylinder { radius, .. }, Shape::Plane { .. }) => {
            cylinder::on_plane((a.1, *radius), (b.1.points[0], b.1.normals[0]), push, margin, out)
        }
        (Shape::Hull(ha), Shape::Hull(hb)) => faces::hull_hull((ha, a.1), (hb, b.1), margin, out),
        (Shape::Round { radius, .. }, Shape::Outline(o)) => {
            flat::disc_outline((a.1.points[0], *radius), (o, b.1), margin, out)
        }
        (Shape::Outline(oa), Shape::Outline(ob)) => flat::outline_outline((oa, a.1), (ob, b.1), margin, out),
        (Shape::Outline(o), Shape::Plane { .. }) => {
            flat::outline_line((o, a.1), (b.1.points[0], b.1.normals[0]), margin, out)
        }
        // planes and surfaces carry, they do not lie on each other
        (Shape::Plane { .. } | Shape::Mesh(_) | Shape::Field(_), _) => {}
        (_, Shape::Mesh(m)) => on_mesh::on_mesh(a, m, b.1, push, margin, out),
        (_, Shape::Field(f)) => field::on_field(a, f, b.1, push, margin, out),
        (shape, _) => on_plane(shape, a.1, b.1, margin, out),
    }
}

/// A shape on a plane: all ends or corners.
fn on_plane(shape: &Shape, a: &Placed, plane: &Placed, margin: f64, out: &mut Vec<Touch>) {
    let (through, normal) = (plane.points[0], plane.normals.first().copied().unwrap_or_default());
    let radius = match shape {
        Shape::Round { radius, .. } => *radius,
        Shape::Hull(_) => 0.0,
        _ => return,
    };
    let ball = matches!(shape, Shape::Round { ends: [p, q], .. } if p == q);
    for (k, &p) in a.points.iter().enumerate().take(if ball { 1 } else { usize::MAX }) {
        let gap = dot(normal, sub(p, through)) - radius;
        if gap <= margin {
            out.push(Touch::on_a(gap, normal, along(p, -radius, normal), k as u32));
        }
    }
}

/// The size of what holds these points, for tolerances.
fn size_of(p: &Placed) -> f64 {
    max_abs(sub(p.high, p.low))
}

#[cfg(test)]
mod cylinders_tests;
#[cfg(test)]
mod drums_tests;
#[cfg(test)]
mod flat_tests;
#[cfg(test)]
mod surfaces_tests;
#[cfg(test)]
mod tests;
