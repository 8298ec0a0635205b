//! Balls and capsules: lines with a radius around them, against each other and against convex polyhedra.

use super::hull::Hull;
use super::vec3::{V3, along, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Touch, size_of};

/// Parameters in 0..1 of the nearest points of two lines, p + s d and q + t e.
pub(super) fn nearest(p: V3, d: V3, q: V3, e: V3) -> (f64, f64) {
    let r = sub(p, q);
    let (dd, ee, de) = (dot(d, d), dot(e, e), dot(d, e));
    let (dr, er) = (dot(d, r), dot(e, r));
    if dd == 0.0 && ee == 0.0 {
        return (0.0, 0.0);
    }
    if dd == 0.0 {
        return (0.0, (er / ee).clamp(0.0, 1.0));
    }
    if ee == 0.0 {
        return ((-dr / dd).clamp(0.0, 1.0), 0.0);
    }
    let det = dd * ee - de * de;
    let s = if det > SAME * SAME * dd * ee { ((de * er - ee * dr) / det).clamp(0.0, 1.0) } else { 0.0 };
    let t = ((de * s + er) / ee).clamp(0.0, 1.0);
    let s = ((de * t - dr) / dd).clamp(0.0, 1.0);
    (s, t)
}

/// A line with its radius.
type Round<'a> = (&'a Placed, f64);

pub(super) fn round_round((a, ra): Round<'_>, (b, rb): Round<'_>, margin: f64, out: &mut Vec<Touch>) {
    let ([p, p1], [q, q1]) = ([a.points[0], a.points[1]], [b.points[0], b.points[1]]);
    let (d, e) = (sub(p1, p), sub(q1, q));
    let mut push = |x: V3, y: V3, feature: u32| {
        let apart = sub(x, y);
        let distance = norm(apart);
        let gap = distance - ra - rb;
        if gap <= margin {
            let normal = unit(apart).unwrap_or([0.0, 0.0, 1.0]);
            out.push(Touch::on_a(gap, normal, along(x, -ra, normal), feature));
        }
    };
    let (dd, ee, de) = (dot(d, d), dot(e, e), dot(d, e));
    if dd > 0.0 && ee > 0.0 && dd * ee - de * de <= SAME * SAME * dd * ee {
        // side by side: the ends of what they have in common
        let at = |x: V3| (dot(d, sub(x, p)) / dd).clamp(0.0, 1.0);
        let (s0, s1) = (at(q), at(q1));
        if (s1 - s0).abs() * dd.sqrt() > ROUNDING * size_of(a) {
            for (k, s) in [s0, s1].into_iter().enumerate() {
                let x = along(p, s, d);
                let t = (dot(e, sub(x, q)) / ee).clamp(0.0, 1.0);
                push(x, along(q, t, e), 1 + k as u32);
            }
            return;
        }
    }
    let (s, t) = nearest(p, d, q, e);
    push(along(p, s, d), along(q, t, e), 0);
}

/// The point of a hull nearest to `p`: distance (negative inside), the point, and the unit normal there.
pub(super) fn nearest_on_hull((hull, at): (&Hull, &Placed), p: V3) -> (f64, V3, V3) {
    let level = |k: usize| dot(at.normals[k], sub(p, at.points[hull.faces[k].corners[0] as usize]));
    let mut deepest = (f64::NEG_INFINITY, 0);
    for k in 0..hull.faces.len() {
        let h = level(k);
        if h > deepest.0 {
            deepest = (h, k);
        }
    }
    let n = at.normals[deepest.1];
    let inside = (deepest.0, along(p, -deepest.0, n), n);
    if deepest.0 <= 0.0 {
        return inside;
    }
    let mut best = (f64::INFINITY, p);
    for (k, face) in hull.faces.iter().enumerate() {
        let h = level(k);
        if h <= 0.0 || h >= best.0 {
            continue;
        }
        let x = on_face(at, &face.corners, at.normals[k], along(p, -h, at.normals[k]));
        let distance = norm(sub(p, x));
        if distance < best.0 {
            best = (distance, x);
        }
    }
    match unit(sub(p, best.1)) {
        Some(normal) if best.0 > ROUNDING * size_of(at) => (best.0, best.1, normal),
        _ => inside,
    }
}

/// The point of a polygon nearest to a point of its plane.
fn on_face(at: &Placed, corners: &[u32], n: V3, p: V3) -> V3 {
    let (mut best, mut outside) = ((f64::INFINITY, p), false);
    for (i, &c) in corners.iter().enumerate() {
        let a = at.points[c as usize];
        let edge = sub(at.points[corners[(i + 1) % corners.len()] as usize], a);
        outside |= dot(super::cross(n, edge), sub(p, a)) < 0.0;
        let s = (dot(edge, sub(p, a)) / dot(edge, edge)).clamp(0.0, 1.0);
        let x = along(a, s, edge);
        let distance = norm(sub(p, x));
        if distance < best.0 {
            best = (distance, x);
        }
    }
    if outside { best.1 } else { p }
}

pub(super) fn round_hull(
    (a, radius): Round<'_>,
    (hull, b): (&Hull, &Placed),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (p, q) = (a.points[0], a.points[1]);
    let d = sub(q, p);
    let ball = dot(d, d) == 0.0;
    let first = out.len();
    let size = size_of(b);
    for (k, x) in [p, q].into_iter().enumerate().take(if ball { 1 } else { 2 }) {
        let (distance, _, normal) = nearest_on_hull((hull, b), x);
        let gap = distance - radius;
        if gap <= margin {
            out.push(Touch::on_a(gap, normal, along(x, -radius, normal), k as u32));
        }
    }
    if ball {
        return;
    }
    // from the nearest point of the hull
    let across = |x: V3, y: V3, feature: u32, out: &mut Vec<Touch>| {
        let distance = norm(sub(x, y));
        let normal = scale(1.0 / distance, sub(x, y));
        let touch = Touch::on_a(distance - radius, normal, along(x, -radius, normal), feature);
        if !out[first..].iter().any(|t| norm(sub(t.point, touch.point)) < SAME * size) {
            out.push(touch);
        }
    };
    // the line across edges: points of it that are nearest to an edge and to the whole hull at once
    for (k, (edge, _)) in hull.edges.iter().enumerate() {
        let c = b.points[edge[0] as usize];
        let e = sub(b.points[edge[1] as usize], c);
        let (s, t) = nearest(p, d, c, e);
        if s <= SAME || s >= 1.0 - SAME || t <= 0.0 || t >= 1.0 {
            continue;
        }
        let (x, y) = (along(p, s, d), along(c, t, e));
        let distance = norm(sub(x, y));
        let gap = distance - radius;
        let (shortest, _, _) = nearest_on_hull((hull, b), x);
        if gap > margin || shortest < distance - ROUNDING * size {
            continue;
        }
        across(x, y, 2 + k as u32, out);
    }
    // and across corners
    for (k, &corner) in b.points.iter().enumerate() {
        let s = dot(d, sub(corner, p)) / dot(d, d);
        let x = along(p, s, d);
        let distance = norm(sub(x, corner));
        if s <= SAME || s >= 1.0 - SAME || distance - radius > margin || distance <= ROUNDING * size {
            continue;
        }
        if nearest_on_hull((hull, b), x).0 >= distance - ROUNDING * size {
            across(x, corner, 2 + (hull.edges.len() + k) as u32, out);
        }
    }
}
