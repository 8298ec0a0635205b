//! Convex shapes seen from a point and along a line: signed distance, and where a line comes nearest
//!
//! The signed distance d(p) of a convex shape is a convex function whose gradient is the unit normal at the nearest point. Along a line
//! p + s w its derivative n·w grows with s, so the nearest part of the line is an interval, found by bisection from both sides to the last
//! digit: one point, or the two ends of what lies along a face, a side or a cap.

use super::hull::Hull;
use super::vec3::{V3, along, cross, dot, norm, scale, sub, unit};
use super::{Placed, SAME, Shape};

/// A shape and its place.
pub(super) type Body<'a> = (&'a Shape, &'a Placed);

/// Bisections: the parameter is exact to the last digit.
const HALVINGS: usize = 52;
/// Cosines below this are those of perpendicular directions.
pub(super) const LEVEL: f64 = 1e-9;
/// Sine of half of the angle of the sharpest edge that a line is taken to cross.
const SHARP: f64 = 0.1;
/// How far a normal may leave the directions in which a feature can be touched.
const CONE: f64 = 1e-6;

/// A finite cylinder at its place: middle, unit axis, half length.
pub(super) fn drum(at: &Placed) -> (V3, V3, f64) {
    let (p, q) = (at.points[0], at.points[1]);
    let middle = scale(0.5, [p[0] + q[0], p[1] + q[1], p[2] + q[2]]);
    (middle, at.normals[0], 0.5 * norm(sub(q, p)))
}

/// A unit vector across another.
pub(super) fn across(n: V3) -> V3 {
    let far = if n[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    unit(cross(n, far)).unwrap_or([0.0, 0.0, 1.0])
}

/// Signed distance of a point (negative inside) and the outward unit normal at the point of the surface nearest to it.
pub(super) fn distance((shape, at): Body<'_>, p: V3) -> (f64, V3) {
    match shape {
        Shape::Round { radius, .. } => {
            let (a, w) = (at.points[0], sub(at.points[1], at.points[0]));
            let ww = dot(w, w);
            let s = if ww > 0.0 { (dot(w, sub(p, a)) / ww).clamp(0.0, 1.0) } else { 0.0 };
            let apart = sub(p, along(a, s, w));
            (norm(apart) - radius, unit(apart).unwrap_or([0.0, 0.0, 1.0]))
        }
        Shape::Hull(h) => {
            let (d, _, n) = super::rounds::nearest_on_hull((h, at), p);
            (d, n)
        }
        Shape::Cylinder { radius, .. } => {
            let (middle, e, half) = drum(at);
            let r = sub(p, middle);
            let z = dot(e, r);
            let flat = along(r, -z, e);
            let rho = norm(flat);
            let u = if rho > 0.0 { scale(1.0 / rho, flat) } else { across(e) };
            let cap = if z < 0.0 { scale(-1.0, e) } else { e };
            let (side, end) = (rho - radius, z.abs() - half);
            match (side > 0.0, end > 0.0) {
                (true, true) => {
                    let d = side.hypot(end);
                    (d, along(scale(side / d, u), end / d, cap))
                }
                (false, false) if end >= side => (end, cap),
                (false, true) => (end, cap),
                _ => (side, u),
            }
        }
        _ => (f64::INFINITY, [0.0, 0.0, 1.0]),
    }
}

/// The part of the line p … p + w that is nearest to a convex shape: first and last parameter.
pub(super) fn nearest_part(body: Body<'_>, p: V3, w: V3) -> (f64, f64) {
    let level = LEVEL * norm(w);
    let slope = |s: f64| dot(distance(body, along(p, s, w)).1, w);
    let (begin, end) = (slope(0.0), slope(1.0));
    if begin > level {
        return (0.0, 0.0);
    }
    if end < -level {
        return (1.0, 1.0);
    }
    // the border between falling and level, and between level and rising; the level side is taken
    let border = |falls: &dyn Fn(f64) -> bool, level_first: bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if falls(slope(middle)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        if level_first { low } else { high }
    };
    let first = if begin < -level { border(&|x| x < -level, false) } else { 0.0 };
    let last = if end > level { border(&|x| x <= level, true) } else { 1.0 };
    (first.min(last), last.max(first))
}

/// Gap and normal where the surface that is nearest changes from one with the normal `a` to one with `b` along the direction w, inside by `d`: a
/// line that crosses a rim or an edge is deepest there, and neither normal is across the line. The one that is, `m = α a + β b` with
/// `α + β = 1`, has the crossed edge at `m·x = −d` from there. `None`: the surface goes on smoothly, or is too sharp to be crossed.
fn over_ridge(d: f64, [a, b]: [V3; 2], w: V3) -> Option<(f64, V3)> {
    let level = LEVEL * norm(w);
    let (falls, rises) = (dot(a, w), dot(b, w));
    if !(falls < -level && rises > level) {
        return None;
    }
    let m = along(scale(rises / (rises - falls), a), -falls / (rises - falls), b);
    let length = norm(m);
    (length > SHARP).then(|| (d / length, scale(1.0 / length, m)))
}

/// Where the line p … p + w may touch a convex shape: parameter, gap and outward normal, of so many places.
pub(super) fn line_touches(body: Body<'_>, p: V3, w: V3) -> ([(f64, f64, V3); 2], usize) {
    let (low, high) = nearest_part(body, p, w);
    let [a, b] = [low, high].map(|s| distance(body, along(p, s, w)));
    match over_ridge(a.0.max(b.0), [a.1, b.1], w) {
        Some((gap, n)) => ([(low, gap, n); 2], 1),
        None => ([(low, a.0, a.1), (high, b.0, b.1)], 2),
    }
}

/// Half of the smallest extension of a placed shape, which bounds how deep a touch may be.
pub(super) fn depth((shape, _): Body<'_>) -> f64 {
    match shape {
        Shape::Hull(h) => h.thin,
        other => other.thinness(),
    }
}

/// Whether a hull can be touched at its edge `k` along the outward unit vector `m`.
pub(super) fn edge_admits((hull, at): (&Hull, &Placed), k: usize, m: V3) -> bool {
    let [a, b] = hull.edges[k].0.map(|c| at.points[c as usize]);
    let d = sub(b, a);
    let [f, g] = hull.sides[k].map(|f| at.normals[f as usize]);
    let room = CONE * norm(d);
    dot(m, cross(f, d)) <= room && dot(m, cross(g, d)) >= -room
}

/// The same at its vertex `k`.
pub(super) fn vertex_admits((hull, at): (&Hull, &Placed), k: usize, m: V3) -> bool {
    let v = at.points[k];
    let of = hull.edges.iter().map(|e| e.0).filter(|e| e.contains(&(k as u32)));
    of.map(|e| if e[0] == k as u32 { e[1] } else { e[0] }).all(|c| {
        let t = sub(at.points[c as usize], v);
        dot(m, t) <= CONE * norm(t)
    })
}

/// The same at a point of the rim of a cylinder: `u` points from the axis to it, `cap` out of the end.
pub(super) fn rim_admits(u: V3, cap: V3, m: V3) -> bool {
    dot(m, u) >= -CONE && dot(m, cap) >= -CONE
}

/// Whether two lengths are one within the size.
pub(super) fn is_same(a: V3, b: V3, size: f64) -> bool {
    norm(sub(a, b)) < SAME * size
}
