//! Balls and points against boxes and convex hulls.
//!
//! ```text
//! point in front of faces   g = max_f n_f · (x − p_f)      normal of that face
//! ball near faces           the same less R, or the distance of the edge or corner in whose region the centre lies
//! ```
//!
//! Which edges and faces a hull has is decided once, at the default parameters. A point that slides over an edge is before the next face from
//! there on, at the same gap; its normal jumps with the event.

use crate::expr::NodeId;

use super::super::frames::Builder;
use super::touch::{First, Meeting};
use super::vector::{along, cross, dot, sub, unit};
use super::{SpaceShape, Vector};

/// A polyhedron in world axes.
struct Polyhedron {
    points: Vec<Vector>,
    faces: Vec<(Vec<usize>, Vector)>,
    /// Ends and the two faces.
    edges: Vec<([usize; 2], [usize; 2])>,
}

impl Builder<'_> {
    /// All corners, edges and faces; `None` for points without volume.
    fn polyhedron(&mut self, (body, shape): (Option<usize>, &SpaceShape)) -> Option<Polyhedron> {
        let pose = self.space_frame(body).pose;
        let (points, hull) = self.hull_of(shape)?;
        let mut faces = Vec::with_capacity(hull.faces.len());
        for (k, face) in hull.faces.iter().enumerate() {
            let corners: Vec<usize> = face.corners.iter().map(|&c| c as usize).collect();
            let normal = match shape {
                SpaceShape::Box { .. } => hull.faces[k].normal.map(|x| self.g.num(x)),
                _ => {
                    // three corners of the face that are far apart
                    let n = corners.len();
                    self.across([corners[0], corners[n / 3], corners[2 * n / 3]].map(|c| points[c]))
                }
            };
            faces.push((corners, pose.turn(&mut self.g, normal)));
        }
        let touches = |f: &(Vec<usize>, Vector), e: [usize; 2]| e.iter().all(|c| f.0.contains(c));
        let mut edges = Vec::with_capacity(hull.edges.len());
        for (ends, _) in &hull.edges {
            let ends = ends.map(|c| c as usize);
            let beside: Vec<usize> = (0..faces.len()).filter(|&f| touches(&faces[f], ends)).collect();
            if let [f, g, ..] = beside[..] {
                edges.push((ends, [f, g]));
            }
        }
        let points = points.into_iter().map(|p| pose.place(&mut self.g, p)).collect();
        Some(Polyhedron { points, faces, edges })
    }

    /// A ball, or with radius zero a point, against all faces, edges and corners.
    pub(super) fn ball_on_faces(
        &mut self,
        at: Vector,
        radius: NodeId,
        b: (Option<usize>, &SpaceShape),
    ) -> Option<Meeting> {
        let solid = self.polyhedron(b)?;
        let (mut reach, mut normal) = self.before_faces(at, &solid);
        if radius != self.zero {
            for region in 0..solid.edges.len() + solid.points.len() {
                let (inside, d) = match region.checked_sub(solid.edges.len()) {
                    None => self.near_edge(at, &solid, region),
                    Some(corner) => self.near_corner(at, &solid, corner),
                };
                let square = dot(&mut self.g, d, d);
                let distance = self.root(square);
                let g = &mut self.g;
                reach = g.select(inside, distance, reach);
                normal = [0, 1, 2].map(|i| {
                    let out = g.div(d[i], distance);
                    g.select(inside, out, normal[i])
                });
            }
        }
        let gap = self.g.sub(reach, radius);
        Some(Meeting { first: First::Turning, ..self.under(at, radius, gap, normal) })
    }

    /// Height over the face that is seen from farthest, and its normal.
    fn before_faces(&mut self, at: Vector, solid: &Polyhedron) -> (NodeId, Vector) {
        let mut best: Option<(NodeId, Vector)> = None;
        for (corners, normal) in &solid.faces {
            let g = &mut self.g;
            let d = sub(g, at, solid.points[corners[0]]);
            let height = dot(g, *normal, d);
            best = Some(match best {
                None => (height, *normal),
                Some((reach, old)) => {
                    let keep = g.ge(reach, height);
                    let normal = [0, 1, 2].map(|i| g.select(keep, old[i], normal[i]));
                    (g.select(keep, reach, height), normal)
                }
            });
        }
        best.unwrap_or((self.zero, [self.zero; 3]))
    }

    /// Whether an edge is nearest, and the way from it.
    fn near_edge(&mut self, at: Vector, solid: &Polyhedron, e: usize) -> (NodeId, Vector) {
        let ([i, j], faces) = solid.edges[e];
        let (p, q) = (solid.points[i], solid.points[j]);
        let g = &mut self.g;
        let (way, d) = (sub(g, q, p), sub(g, at, p));
        let (size, share) = (dot(g, way, way), dot(g, way, d));
        let share = g.div(share, size);
        let (zero, one) = (g.num(0.0), g.num(1.0));
        let back = g.neg(share);
        let from = along(g, d, back, way);
        let (low, high) = (g.ge(share, zero), g.ge(one, share));
        let mut inside = g.and(low, high);
        for f in faces {
            let into = self.inward(solid, e, f);
            let g = &mut self.g;
            let height = dot(g, into, from);
            let beyond = g.le(height, zero);
            inside = g.and(inside, beyond);
        }
        (inside, from)
    }

    /// Whether a corner is nearest, and the way from it.
    fn near_corner(&mut self, at: Vector, solid: &Polyhedron, corner: usize) -> (NodeId, Vector) {
        let d = sub(&mut self.g, at, solid.points[corner]);
        let mut inside = self.one;
        for ([i, j], _) in &solid.edges {
            let other = match corner {
                c if c == *i => *j,
                c if c == *j => *i,
                _ => continue,
            };
            let g = &mut self.g;
            let way = sub(g, solid.points[other], solid.points[corner]);
            let height = dot(g, way, d);
            let zero = g.num(0.0);
            let beyond = g.le(height, zero);
            inside = g.and(inside, beyond);
        }
        (inside, d)
    }

    /// Unit vector in face `f`, across its edge `e`, away from it.
    fn inward(&mut self, solid: &Polyhedron, e: usize, f: usize) -> Vector {
        let ([i, j], _) = solid.edges[e];
        let (corners, normal) = &solid.faces[f];
        // faces run counter-clockwise: the edge runs forward in one of its two
        let at = corners.iter().position(|&c| c == i).unwrap_or(0);
        let forward = corners[(at + 1) % corners.len()] == j;
        let g = &mut self.g;
        let way = match forward {
            true => sub(g, solid.points[j], solid.points[i]),
            false => sub(g, solid.points[i], solid.points[j]),
        };
        let into = cross(g, *normal, way);
        unit(g, into)
    }
}
