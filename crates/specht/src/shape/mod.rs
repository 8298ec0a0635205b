//! Shapes in space as numbers: where two of them touch (METH-TIMESTEP, bodies that touch wherever they meet)
//!
//! ```text
//! round    a straight line with a radius around it: ball (a line of length 0), capsule
//! hull     a convex polyhedron: box, convex hull of points
//! plane    a half space
//! ```
//!
//! [`meet`] gives the contact points of a pair: gap along a unit normal from B to A, the point, and a number that stays the same while the
//! same corner, edge or end touches. Gaps are exact distances of rounds and planes. Of two hulls the gap is measured along the axis of
//! largest separation (face normals and products of edges), which is the distance where a face or two edges are nearest, and a
//! lower bound of it elsewhere; faces touch at the corners of their common polygon, found by clipping. [`Broad`] finds
//! the pairs that are near.

mod broad;
mod faces;
mod hull;
mod rounds;
mod vec3;

pub(crate) use broad::Broad;
pub(crate) use hull::{Hull, HullError};
pub(crate) use vec3::{V3, add, along, cross, dot, norm, sub};

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
    /// A half space: a point of its border and the unit normal out of the material.
    Plane { through: V3, normal: V3 },
}

impl Shape {
    /// Radius of the ball around the origin of the body that holds the shape; infinite for planes.
    pub(crate) fn reach(&self) -> f64 {
        match self {
            Shape::Round { ends, radius } => norm(ends[0]).max(norm(ends[1])) + radius,
            Shape::Hull(h) => h.vertices.iter().fold(0.0, |m, &v| m.max(norm(v))),
            Shape::Plane { .. } => f64::INFINITY,
        }
    }

    /// Half of its smallest extension: what moves farther than that in a step may pass through. Infinite for planes.
    pub(crate) fn thinness(&self) -> f64 {
        match self {
            Shape::Round { radius, .. } => *radius,
            Shape::Hull(h) => h.thinness(),
            Shape::Plane { .. } => f64::INFINITY,
        }
    }
}

/// A shape at its place in the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Placed {
    /// Ends of a round, vertices of a hull, the point of a plane.
    points: Vec<V3>,
    /// Normals of the faces of a hull, of a plane.
    normals: Vec<V3>,
    /// Directions of the edges of a hull.
    edges: Vec<V3>,
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
        let mut radius = 0.0;
        match shape {
            Shape::Round { ends, radius: r } => {
                self.points.extend(ends.map(|p| pose.place(p)));
                radius = *r;
            }
            Shape::Hull(h) => {
                self.points.extend(h.vertices.iter().map(|&p| pose.place(p)));
                self.normals.extend(h.faces.iter().map(|f| pose.turn(f.normal)));
                self.edges.extend(h.directions.iter().map(|&d| pose.turn(d)));
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

/// The points at which A and B are at most `margin` apart.
pub(crate) fn meet(a: (&Shape, &Placed), b: (&Shape, &Placed), margin: f64, out: &mut Vec<Touch>) {
    let first = out.len();
    match (a.0, b.0) {
        (Shape::Round { radius: ra, .. }, Shape::Round { radius: rb, .. }) => {
            rounds::round_round((a.1, *ra), (b.1, *rb), margin, out)
        }
        (Shape::Round { radius, .. }, Shape::Hull(h)) => {
            rounds::round_hull((a.1, *radius), (h, b.1), margin, out)
        }
        (Shape::Hull(h), Shape::Round { radius, .. }) => {
            rounds::round_hull((b.1, *radius), (h, a.1), margin, out);
            out[first..].iter_mut().for_each(|t| *t = t.swapped());
        }
        (Shape::Hull(ha), Shape::Hull(hb)) => faces::hull_hull((ha, a.1), (hb, b.1), margin, out),
        (shape, Shape::Plane { .. }) => on_plane(shape, a.1, b.1, margin, out),
        (Shape::Plane { .. }, shape) => {
            on_plane(shape, b.1, a.1, margin, out);
            out[first..].iter_mut().for_each(|t| *t = t.swapped());
        }
    }
}

/// A shape on a plane: all ends or corners.
fn on_plane(shape: &Shape, a: &Placed, plane: &Placed, margin: f64, out: &mut Vec<Touch>) {
    let (through, normal) = (plane.points[0], plane.normals.first().copied().unwrap_or_default());
    let radius = match shape {
        Shape::Round { radius, .. } => *radius,
        Shape::Hull(_) => 0.0,
        Shape::Plane { .. } => return,
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
mod tests;
