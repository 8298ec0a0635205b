//! Finite cylinders: against planes, lines with a radius, convex polyhedra and each other
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
    Body, LEVEL, across, depth, distance, drum, edge_admits, is_same, line_touches, nearest_part, over_ridge,
    rim_admits, vertex_admits,
};
use super::hull::Hull;
use super::vec3::{V3, along, cross, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Touch, size_of};

/// Points of a cap that lies flat.
pub(super) const AROUND: usize = 8;
/// Sine of the tilt from which the tilt says which point of a rim is the lowest.
const TILTED: f64 = 1e-9;
/// Places of a rim at which another shape is looked at.
const LOOKS: usize = 24;
/// Caps tilted by more than 45° touch with one point.
const STEEP: f64 = 0.707;

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

/// Two cylinders.
pub(super) fn cylinder_cylinder(a: Body<'_>, b: Body<'_>, push: V3, margin: f64, out: &mut Vec<Touch>) {
    let (super::Shape::Cylinder { radius: ra, .. }, super::Shape::Cylinder { radius: rb, .. }) = (a.0, b.0)
    else {
        return;
    };
    let (first, size) = (out.len(), size_of(a.1).min(size_of(b.1)));
    let deep = -depth(a).min(depth(b));
    let (cap, side) = separations((a.1, *ra), (b.1, *rb));
    // side by side, or one on the other: the axis along which they are farther apart
    if cap.is_some_and(|c| c >= side) {
        caps((a.1, *ra), (b.1, *rb), push, margin, out);
    } else {
        sides((a.1, *ra), (b.1, *rb), margin, out);
    }
    rims(a, *ra, b, margin, 1 << 10, false, out);
    rims(b, *rb, a, margin, 1 << 11, true, out);
    let mut kept = first;
    for k in first..out.len() {
        let t = out[k];
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.5;
        if t.gap > deep && !out[first..kept].iter().any(known) {
            out[kept] = t;
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// How far two cylinders are apart along the axis of B, where their caps look at each other, and across it.
fn separations((a, ra): (&Placed, f64), (b, rb): (&Placed, f64)) -> (Option<f64>, f64) {
    let ((ma, ea, ha), (mb, eb, hb)) = (drum(a), drum(b));
    let cosine = dot(ea, eb).abs();
    let r = sub(ma, mb);
    let z = dot(r, eb);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let flat = norm(along(r, -z, eb));
    let side = flat - rb - (ra * cosine + ha * sine);
    ((cosine > STEEP).then(|| z.abs() - hb - (ha * cosine + ra * sine)), side)
}

/// A cap of A on a cap of B: points of one rim over the other disc, and where the two circles cross.
fn caps((a, ra): (&Placed, f64), (b, rb): (&Placed, f64), push: V3, margin: f64, out: &mut Vec<Touch>) {
    let ((ma, ea, ha), (mb, eb, hb)) = (drum(a), drum(b));
    let n = if dot(sub(ma, mb), eb) >= 0.0 { eb } else { scale(-1.0, eb) };
    let down = if dot(ea, n) >= 0.0 { scale(-1.0, ea) } else { ea };
    let (ca, cb) = (along(ma, ha, down), along(mb, hb, n));
    // height of the plane of A's cap over a point of B's
    let over = |p: V3| dot(sub(ca, p), down) / dot(n, down);
    let within = |p: V3, c: V3, e: V3, r: f64| {
        let x = sub(p, c);
        norm(along(x, -dot(x, e), e)) <= r * (1.0 + ROUNDING)
    };
    let mut points = [([0.0; 3], 0); AROUND];
    let count = probes(a, ra, n, push, &mut points);
    for &(p, feature) in &points[..count] {
        let gap = dot(n, sub(p, cb));
        if gap <= margin && within(p, cb, eb, rb) {
            out.push(Touch::on_a(gap, n, p, feature));
        }
    }
    let count = probes(b, rb, down, push, &mut points);
    for &(p, feature) in &points[..count] {
        let gap = over(p);
        if gap <= margin && within(p, ca, ea, ra) {
            out.push(Touch { gap, normal: n, point: along(p, 0.5 * gap, n), feature: 64 + feature });
        }
    }
    // where the rims cross, seen along n
    let r = sub(ca, cb);
    let flat = along(r, -dot(r, n), n);
    let d = norm(flat);
    let Some(u) = unit(flat).filter(|_| d > (ra - rb).abs() && d < ra + rb) else { return };
    let x = (d * d + rb * rb - ra * ra) / (2.0 * d);
    let y = (rb * rb - x * x).max(0.0).sqrt();
    let v = cross(n, u);
    for (k, y) in [y, -y].into_iter().enumerate() {
        let p = along(along(cb, x, u), y, v);
        let gap = over(p);
        if gap <= margin {
            out.push(Touch { gap, normal: n, point: along(p, 0.5 * gap, n), feature: 128 + k as u32 });
        }
    }
}

/// Side against side: where the axes are nearest, or along what they share.
fn sides((a, ra): (&Placed, f64), (b, rb): (&Placed, f64), margin: f64, out: &mut Vec<Touch>) {
    let (p, q) = (a.points[0], b.points[0]);
    let (d, e) = (sub(a.points[1], p), sub(b.points[1], q));
    let (dd, ee, de) = (dot(d, d), dot(e, e), dot(d, e));
    let mut push = |s: f64, t: f64, feature: u32| {
        let (x, y) = (along(p, s, d), along(q, t, e));
        let apart = sub(x, y);
        let gap = norm(apart) - ra - rb;
        if let (true, Some(n)) = (gap <= margin, unit(apart)) {
            out.push(Touch::on_a(gap, n, along(x, -ra, n), 160 + feature));
        }
    };
    if dd * ee - de * de <= SAME * SAME * dd * ee {
        let at = |x: V3| dot(d, sub(x, p)) / dd;
        let (s0, s1) = (at(q), at(along(q, 1.0, e)));
        let (low, high) = (s0.min(s1).max(0.0), s0.max(s1).min(1.0));
        if low < high {
            for (k, s) in [low, high].into_iter().enumerate() {
                push(s, dot(e, sub(along(p, s, d), q)) / ee, k as u32);
            }
        }
        return;
    }
    let r = sub(p, q);
    let det = dd * ee - de * de;
    let (s, t) = ((de * dot(e, r) - ee * dot(d, r)) / det, (dd * dot(e, r) - de * dot(d, r)) / det);
    if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
        push(s, t, 2);
    }
}

/// The rims of a cylinder against another convex shape: every place at which a rim is nearest to it.
fn rims(
    of: Body<'_>,
    radius: f64,
    other: Body<'_>,
    margin: f64,
    number: u32,
    swapped: bool,
    out: &mut Vec<Touch>,
) {
    let (middle, e, half) = drum(of.1);
    let x = across(e);
    let y = cross(e, x);
    for (end, cap) in [scale(-1.0, e), e].into_iter().enumerate() {
        let center = along(middle, half, cap);
        if distance(other, center).0 > margin + radius {
            continue;
        }
        let at = |phi: f64| {
            let (s, c) = phi.sin_cos();
            let u = along(scale(c, x), s, y);
            (u, along(center, radius, u))
        };
        let slope = |phi: f64| {
            let (u, p) = at(phi);
            dot(distance(other, p).1, cross(e, u))
        };
        let angle = |k: usize| k as f64 * std::f64::consts::TAU / LOOKS as f64;
        let mut before = slope(angle(LOOKS - 1) - std::f64::consts::TAU);
        for k in 0..LOOKS {
            let after = slope(angle(k));
            if before < -LEVEL && after >= -LEVEL {
                let (mut low, mut high) = (angle(k) - angle(1), angle(k));
                for _ in 0..50 {
                    let between = 0.5 * (low + high);
                    if slope(between) < 0.0 {
                        low = between;
                    } else {
                        high = between;
                    }
                }
                let (u, p) = at(high);
                let (d, normal) = distance(other, p);
                let ridge = over_ridge(d, [distance(other, at(low).1).1, normal], cross(e, u));
                let (gap, normal) = ridge.unwrap_or((d, normal));
                if gap <= margin && rim_admits(u, cap, scale(-1.0, normal)) {
                    let feature = number | (end * LOOKS + k) as u32;
                    let t = Touch::on_a(gap, normal, p, feature);
                    out.push(if swapped { t.swapped() } else { t });
                }
            }
            before = after;
        }
    }
}
