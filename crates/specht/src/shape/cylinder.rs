//! Finite cylinders: against planes, lines with a radius and convex polyhedra ([`super::drums`]: against each other)
//!
//! ```text
//! side      lies on a plane with the two ends of its lowest line, exact
//! rim       the lowest point of each end, −n less its part along the axis e, exact
//! cap       a disc on a plane is touched along its whole rim. Eight points stand for it, one of them the lowest
//! ```
//!
//! Of a cap that is level to rounding no point is the lowest: the first of the eight then lies in the direction in which
//! smooth forces push it, since there, or opposite, it would tip. Pushed across between two points it tips
//! by 1 − cos(π/8) = 7.6 % too soon until it is tilted by some 10⁻⁹; from then on its lowest point is one of the eight.

use super::convex::{
    Body, LEVEL, depth, distance, drum, edge_admits, is_same, line_touches, nearest_part, vertex_admits,
};
use super::hull::Hull;
use super::vec3::{V3, along, cross, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Touch, size_of};

/// Points of a cap that lies flat.
pub(super) const AROUND: usize = 8;
/// Sine of the tilt from which the tilt says which point of a rim is the lowest.
const TILTED: f64 = 1e-9;
/// Caps tilted by more than 45° touch with one point.
pub(super) const STEEP: f64 = 0.707;

/// Points of a cylinder that may touch a plane with this normal, with numbers: of its lower cap, or of the ends of its lowest line.
pub(super) fn probes(at: &Placed, radius: f64, n: V3, push: V3, out: &mut [(V3, u32); AROUND]) -> usize {
    let (middle, e, half) = drum(at);
    let cosine = dot(n, e);
    let flat = along(n, -cosine, e);
    let sine = norm(flat);
    if cosine.abs() < STEEP {
        let down = scale(-radius / sine, flat);
        for (k, h) in [-half, half].into_iter().enumerate() {
            out[k] = (along(along(middle, h, e), 1.0, down), k as u32);
        }
        return 2;
    }
    let (low, cap) = if cosine > 0.0 { (-half, 2) } else { (half, 2 + AROUND as u32) };
    let center = along(middle, low, e);
    let way = along(push, -dot(push, e), e);
    let first = if sine > TILTED {
        scale(-1.0 / sine, flat)
    } else {
        unit(way).filter(|_| norm(way) > LEVEL * norm(push)).unwrap_or(at.edges[0])
    };
    let second = cross(e, first);
    for (k, o) in out.iter_mut().enumerate() {
        let (s, c) = (k as f64 * std::f64::consts::TAU / AROUND as f64).sin_cos();
        *o = (along(along(center, radius * c, first), radius * s, second), cap + k as u32);
    }
    AROUND
}

/// On a plane, seen with the cylinder as A.
pub(super) fn on_plane(
    (a, radius): (&Placed, f64),
    (through, n): (V3, V3),
    push: V3,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let mut points = [([0.0; 3], 0); AROUND];
    let count = probes(a, radius, n, push, &mut points);
    for &(p, feature) in &points[..count] {
        let gap = dot(n, sub(p, through));
        if gap <= margin {
            out.push(Touch::on_a(gap, n, p, feature));
        }
    }
}

/// A line with a radius as A against a convex shape: its ends, and the part that is nearest.
pub(super) fn round_convex((a, radius): (&Placed, f64), b: Body<'_>, margin: f64, out: &mut Vec<Touch>) {
    let (p, w) = (a.points[0], sub(a.points[1], a.points[0]));
    let first = out.len();
    let size = size_of(b.1);
    let mut push = |s: f64, feature: u32| {
        let x = along(p, s, w);
        let (d, normal) = distance(b, x);
        let touch = Touch::on_a(d - radius, normal, along(x, -radius, normal), feature);
        if touch.gap <= margin && !out[first..].iter().any(|t| is_same(t.point, touch.point, size)) {
            out.push(touch);
        }
    };
    push(0.0, 0);
    if dot(w, w) == 0.0 {
        return;
    }
    push(1.0, 1);
    let (low, high) = nearest_part(b, p, w);
    push(low, 2);
    push(high, 3);
}

/// A cylinder as A against a convex polyhedron.
pub(super) fn cylinder_hull(
    a: Body<'_>,
    radius: f64,
    (hull, b): (&Hull, &Placed),
    push: V3,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (middle, e, half) = drum(a.1);
    let mut best = (f64::NEG_INFINITY, 0);
    for (k, (face, &n)) in hull.faces.iter().zip(&b.normals).enumerate() {
        let cosine = dot(n, e);
        let reach = half * cosine.abs() + radius * (1.0 - cosine * cosine).max(0.0).sqrt();
        let gap = dot(n, sub(middle, b.points[face.corners[0] as usize])) - reach;
        if gap > margin {
            return;
        }
        if gap > best.0 {
            best = (gap, k);
        }
    }
    let first = out.len();
    let size = size_of(a.1).min(size_of(b));
    let deep = -depth(a).min(hull.thin);
    let keep = |t: Touch, out: &mut Vec<Touch>| {
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.5;
        if t.gap <= margin && t.gap > deep && !out[first..].iter().any(known) {
            out.push(t);
        }
    };
    // points of the cylinder over the face
    let (face, n) = (&hull.faces[best.1], b.normals[best.1]);
    let level = b.points[face.corners[0] as usize];
    let mut points = [([0.0; 3], 0); AROUND];
    let count = probes(a.1, radius, n, push, &mut points);
    for &(p, feature) in &points[..count] {
        if over_face(b, &face.corners, n, p, ROUNDING * size) {
            keep(Touch::on_a(dot(n, sub(p, level)), n, p, feature), out);
        }
    }
    // corners and edges of the hull at the cylinder; n is from the hull to it
    for (k, &v) in b.points.iter().enumerate() {
        let (gap, normal) = distance(a, v);
        let m = scale(-1.0, normal);
        if gap <= margin && vertex_admits((hull, b), k, m) {
            keep(Touch { gap, normal: m, point: along(v, 0.5 * gap, m), feature: 64 + k as u32 }, out);
        }
    }
    for (k, (edge, _)) in hull.edges.iter().enumerate() {
        let p = b.points[edge[0] as usize];
        let w = sub(b.points[edge[1] as usize], p);
        let (places, count) = line_touches(a, p, w);
        for (end, &(s, gap, normal)) in places[..count].iter().enumerate() {
            let v = along(p, s, w);
            let m = scale(-1.0, normal);
            let inside = s > SAME && s < 1.0 - SAME;
            if inside && gap <= margin && edge_admits((hull, b), k, m) {
                let feature = 1 << 12 | (2 * k + end) as u32;
                keep(Touch { gap, normal: m, point: along(v, 0.5 * gap, m), feature }, out);
            }
        }
    }
}

/// Whether a point lies over a face.
pub(super) fn over_face(at: &Placed, corners: &[u32], n: V3, p: V3, room: f64) -> bool {
    corners.iter().enumerate().all(|(i, &c)| {
        let a = at.points[c as usize];
        let edge = sub(at.points[corners[(i + 1) % corners.len()] as usize], a);
        dot(cross(n, edge), sub(p, a)) >= -room * norm(edge)
    })
}
