//! Two convex polyhedra: separating axes, then the common polygon of two faces, or the nearest points of two edges.

use super::hull::Hull;
use super::vec3::{V3, along, cross, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Touch, size_of};

type Solid<'a> = (&'a Hull, &'a Placed);

/// Gaussian products below this are those of parallel edges.
const PARALLEL: f64 = 1e-6;

/// Cosine of the angle from which two axes differ by rounding alone.
const SAME_AXIS: f64 = 1.0 - 1e-15;

/// Corners that a polygon holds without taking memory.
const FEW: usize = 24;

pub(super) fn hull_hull(a: Solid<'_>, b: Solid<'_>, margin: f64, out: &mut Vec<Touch>) {
    let size = size_of(a.1).min(size_of(b.1));
    let (Some(fa), Some(fb)) = (best_face(a, b.1, margin), best_face(b, a.1, margin)) else { return };
    let Some(edge) = best_edges(a, b, margin) else { return };
    // a face of A where both say the same, and faces before edges: the choice must not follow rounding
    let by_a = fa.0 >= fb.0 - SAME * size;
    let face = if by_a { fa } else { fb };
    if edge.gap > face.0 + SAME * size {
        if edge.gap <= margin {
            edge_touch(a, b, &edge, out);
        }
        return;
    }
    let first = out.len();
    match by_a {
        true => clip(a, face.1, b, margin, out),
        false => clip(b, face.1, a, margin, out),
    }
    // clip() sees its first solid as the one below: its normal points from it to the other
    let flag = if by_a { 1 << 31 } else { 0 };
    for t in &mut out[first..] {
        if by_a {
            t.normal = scale(-1.0, t.normal);
        }
        t.feature |= flag;
    }
}

/// The face over which the other is farthest away: separation and number. `None`: farther than the margin.
fn best_face((hull, at): Solid<'_>, other: &Placed, margin: f64) -> Option<(f64, usize)> {
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, (face, &n)) in hull.faces.iter().zip(&at.normals).enumerate() {
        let level = dot(n, at.points[face.corners[0] as usize]);
        let low = other.points.iter().fold(f64::INFINITY, |m, &p| m.min(dot(n, p)));
        let gap = low - level;
        if gap > margin {
            return None;
        }
        if gap > best.0 {
            best = (gap, k);
        }
    }
    Some(best)
}

/// The pair of edge directions with the largest separation.
struct Edges {
    gap: f64,
    /// From B to A.
    normal: V3,
    directions: [usize; 2],
}

fn best_edges((_, a): Solid<'_>, (_, b): Solid<'_>, margin: f64) -> Option<Edges> {
    let mut best = Edges { gap: f64::NEG_INFINITY, normal: [0.0; 3], directions: [0, 0] };
    let span = |points: &[V3], n: V3| {
        points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &p| {
            let x = dot(n, p);
            (low.min(x), high.max(x))
        })
    };
    for (i, &da) in a.edges.iter().enumerate() {
        for (j, &db) in b.edges.iter().enumerate() {
            let product = cross(da, db);
            let length = norm(product);
            if length < PARALLEL {
                continue;
            }
            let n = scale(1.0 / length, product);
            // a face normal of one of them: that separation is known
            if a.normals.iter().chain(&b.normals).any(|face| dot(n, *face).abs() > SAME_AXIS) {
                continue;
            }
            let (of_a, of_b) = (span(&a.points, n), span(&b.points, n));
            let (up, down) = (of_a.0 - of_b.1, of_b.0 - of_a.1);
            let gap = up.max(down);
            if gap > margin {
                return None;
            }
            if gap > best.gap {
                best = Edges { gap, normal: if up >= down { n } else { scale(-1.0, n) }, directions: [i, j] };
            }
        }
    }
    Some(best)
}

/// The nearest points of the two edges that bear the separation.
fn edge_touch(a: Solid<'_>, b: Solid<'_>, e: &Edges, out: &mut Vec<Touch>) {
    let lowest = |(hull, at): Solid<'_>, direction: usize, n: V3| {
        let of = hull.edges.iter().enumerate().filter(|(_, e)| e.1 as usize == direction);
        let height = |e: &[u32; 2]| dot(n, at.points[e[0] as usize]) + dot(n, at.points[e[1] as usize]);
        of.min_by(|x, y| height(&x.1.0).total_cmp(&height(&y.1.0))).map(|(k, e)| (k, e.0))
    };
    let (Some((ka, ea)), Some((kb, eb))) =
        (lowest(a, e.directions[0], e.normal), lowest(b, e.directions[1], scale(-1.0, e.normal)))
    else {
        return;
    };
    let (p, q) = (a.1.points[ea[0] as usize], b.1.points[eb[0] as usize]);
    let (da, db) = (sub(a.1.points[ea[1] as usize], p), sub(b.1.points[eb[1] as usize], q));
    let (s, _) = super::rounds::nearest(p, da, q, db);
    let feature = 1 << 30 | (ka as u32 & 0x3fff) << 14 | kb as u32 & 0x3fff;
    out.push(Touch::on_a(e.gap, e.normal, along(p, s, da), feature));
}

/// Corners of a polygon with their numbers: few need no memory of their own.
struct Corners {
    few: [(V3, u32); FEW],
    count: usize,
    many: Vec<(V3, u32)>,
}

impl Corners {
    fn new() -> Self {
        Corners { few: [([0.0; 3], 0); FEW], count: 0, many: Vec::new() }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.many.clear();
    }

    fn push(&mut self, corner: (V3, u32)) {
        if self.count < FEW {
            self.few[self.count] = corner;
        } else {
            if self.count == FEW {
                self.many.extend_from_slice(&self.few);
            }
            self.many.push(corner);
        }
        self.count += 1;
    }

    fn list(&self) -> &[(V3, u32)] {
        if self.count <= FEW { &self.few[..self.count] } else { &self.many }
    }
}

/// The corners of the common polygon of face `k` of one solid and the face of the other that looks at it.
fn clip((hull, at): Solid<'_>, k: usize, (other, on): Solid<'_>, margin: f64, out: &mut Vec<Touch>) {
    let (face, n) = (&hull.faces[k], at.normals[k]);
    let facing = |f: &usize| dot(n, on.normals[*f]);
    let Some(f) = (0..other.faces.len()).min_by(|x, y| facing(x).total_cmp(&facing(y))) else { return };
    let size = size_of(at).min(size_of(on));
    // corners with the numbers that stay: 1 + vertex, or side and edge
    let (mut polygon, mut next) = (Corners::new(), Corners::new());
    other.faces[f].corners.iter().for_each(|&c| polygon.push((on.points[c as usize], 1 + c)));
    for (side, &c) in face.corners.iter().enumerate() {
        let p = at.points[c as usize];
        let q = at.points[face.corners[(side + 1) % face.corners.len()] as usize];
        // into the polygon: n × edge
        let Some(inward) = unit(cross(n, sub(q, p))) else { continue };
        next.clear();
        let corners = polygon.list();
        for (i, &(x, id)) in corners.iter().enumerate() {
            let (y, next_id) = corners[(i + 1) % corners.len()];
            let (hx, hy) = (dot(inward, sub(x, p)), dot(inward, sub(y, p)));
            let (inside, follows) = (hx >= -ROUNDING * size, hy >= -ROUNDING * size);
            if inside {
                next.push((x, id));
            }
            if inside != follows {
                let z = along(x, hx / (hx - hy), sub(y, x));
                let number = 1 << 24 | (side as u32 & 0xff) << 16 | (id ^ next_id.rotate_left(5)) & 0xffff;
                next.push((z, number));
            }
        }
        std::mem::swap(&mut polygon, &mut next);
    }
    let level = dot(n, at.points[face.corners[0] as usize]);
    let first = out.len();
    for &(x, id) in polygon.list() {
        let gap = dot(n, x) - level;
        let known = out[first..].iter().any(|t| norm(sub(t.point, x)) < SAME * size + 0.5 * gap.abs());
        if gap <= margin && !known {
            out.push(Touch { gap, normal: n, point: along(x, -0.5 * gap, n), feature: id });
        }
    }
}
