//! Two cylinders
//!
//! ```text
//! s(n) = n·(m_A − m_B) − H_A(n) − H_B(n),    H(n) = h |n·e| + r |n × e|        from B to A: how far a plane across n keeps them apart
//! gap  = max s(n) over all unit n            their distance, or how far they must be moved apart
//! ```
//!
//! s is concave in n and bends at n ⟂ e (a side) and n ∥ e (a cap). So its maxima are the axes, the products of the axes, maxima along the
//! circles n ⟂ e, and pairs of rims whose nearest points are joined by n, across both tangents. All of them are looked at: along circles by the
//! zeros of a derivative, on rims of the distance to the nearest place of the other rim. For cylinders that are apart the maximum is the only one;
//! inside each other it is the shortest way out, which a point of one inside the other does not know.
//!
//! Beside the point where the largest n touches, caps and sides touch at the ends of what they share ([`caps`], [`sides`], [`rims`]); those are
//! points of one cylinder at the surface of the other. One that says less than `gap`, or has another normal, is none.

use super::convex::{Body, LEVEL, across, depth, distance, drum, is_same, rim_admits};
use super::cylinder::{AROUND, STEEP, probes};
use super::vec3::{V3, along, cross, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Shape, Touch, size_of};

/// Places of a circle at which a function is looked at.
const LOOKS: usize = 24;
/// Steps that find a zero to the last digit, and a minimum well enough to see its sign.
const STEPS: [usize; 2] = [60, 24];
/// Cosine of the angle by which normals of one contact differ at most.
const ALIKE: f64 = 0.9;
/// Part of the way between two rims that may lie across the normal.
const ASIDE: f64 = 0.1;

/// A cylinder at its place.
#[derive(Clone, Copy)]
struct Drum {
    middle: V3,
    e: V3,
    half: f64,
    radius: f64,
}

impl Drum {
    fn of(at: &Placed, radius: f64) -> Drum {
        let (middle, e, half) = drum(at);
        Drum { middle, e, half, radius }
    }

    /// H(n), exact where n is along or across the axis.
    fn reach(&self, n: V3) -> f64 {
        self.half * dot(n, self.e).abs() + self.radius * norm(cross(n, self.e))
    }

    /// The foremost point along n: on a rim where only one is, else the middle of the cap or of the line.
    fn foremost(&self, n: V3) -> V3 {
        let cosine = dot(n, self.e);
        let flat = along(n, -cosine, self.e);
        let p = match cosine.abs() > LEVEL {
            true => along(self.middle, self.half * cosine.signum(), self.e),
            false => self.middle,
        };
        unit(flat).filter(|_| norm(flat) > LEVEL).map_or(p, |u| along(p, self.radius, u))
    }

    /// Middle and outward direction of an end.
    fn end(&self, k: usize) -> (V3, V3) {
        let cap = if k == 0 { scale(-1.0, self.e) } else { self.e };
        (along(self.middle, self.half, cap), cap)
    }
}

/// s(n).
fn separation(a: &Drum, b: &Drum, n: V3) -> f64 {
    dot(n, sub(a.middle, b.middle)) - a.reach(n) - b.reach(n)
}

/// The largest s: n, and a point halfway between the two.
#[derive(Clone, Copy)]
struct Best {
    gap: f64,
    normal: V3,
    point: V3,
    feature: u32,
}

/// Where two rims are nearest: the points of A and B and the number.
#[derive(Clone, Copy)]
struct Crossing {
    of_a: V3,
    of_b: V3,
    feature: u32,
}

/// Two cylinders.
pub(super) fn cylinder_cylinder(
    (sa, pa): Body<'_>,
    (sb, pb): Body<'_>,
    push: V3,
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let (Shape::Cylinder { radius: ra, .. }, Shape::Cylinder { radius: rb, .. }) = (sa, sb) else { return };
    let (a, b) = (Drum::of(pa, *ra), Drum::of(pb, *rb));
    let (first, size) = (out.len(), size_of(pa).min(size_of(pb)));
    let thin = depth((sa, pa)).min(depth((sb, pb)));
    let mut crossings = [Crossing { of_a: [0.0; 3], of_b: [0.0; 3], feature: 0 }; 8 * LOOKS];
    let Some((mut best, count)) = largest(&a, &b, size, (margin, thin), &mut crossings) else { return };
    rims(&a, (sb, pb), margin, 1 << 10, false, out);
    rims(&b, (sa, pa), margin, 1 << 11, true, out);
    // two nearest places within one part of a rim: the distance of points knows them too
    for t in &out[first..] {
        let gap = separation(&a, &b, t.normal);
        if gap > best.gap {
            best = Best { gap, normal: t.normal, point: t.point, feature: t.feature };
        }
    }
    if best.gap > margin {
        out.truncate(first);
        return;
    }
    // caps first: their points stay
    let found = out.len();
    let facing = |d: &Drum| {
        let n = if dot(d.e, best.normal) >= 0.0 { d.e } else { scale(-1.0, d.e) };
        (separation(&a, &b, n), n)
    };
    let ((of_a, na), (of_b, nb)) = (facing(&a), facing(&b));
    if of_a.max(of_b) >= best.gap - SAME * size {
        // a cap of B where both say the same: the choice must not follow rounding
        let crossings = &crossings[..count];
        if of_b >= of_a - SAME * size {
            caps((&a, pa), (&b, pb), nb, push, margin, crossings.iter().copied(), out);
        } else {
            let back = crossings.iter().map(|c| Crossing { of_a: c.of_b, of_b: c.of_a, ..*c });
            let from = out.len();
            caps((&b, pb), (&a, pa), scale(-1.0, na), scale(-1.0, push), margin, back, out);
            out[from..].iter_mut().for_each(|t| *t = Touch { feature: t.feature | 256, ..t.swapped() });
        }
    }
    sides((pa, *ra), (pb, *rb), margin, out);
    out[first..].rotate_left(found - first);
    let mut kept = first;
    for k in first..out.len() {
        let t = out[k];
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.5;
        let agrees = t.gap >= best.gap - SAME * size && dot(t.normal, best.normal) > ALIKE;
        if agrees && !out[first..kept].iter().any(known) {
            out[kept] = t;
            kept += 1;
        }
    }
    out.truncate(kept);
    if !out[first..].iter().any(|t| t.gap <= best.gap + SAME * size) {
        out.push(Touch { gap: best.gap, normal: best.normal, point: best.point, feature: best.feature });
    }
}

/// The maximum of s, with the pairs of rims that were met; `None` when they are farther apart than `margin`.
fn largest(
    a: &Drum,
    b: &Drum,
    size: f64,
    (margin, thin): (f64, f64),
    crossings: &mut [Crossing],
) -> Option<(Best, usize)> {
    let mut best = Best { gap: f64::NEG_INFINITY, normal: a.e, point: [0.0; 3], feature: 0 };
    // seen from one of them: the point of the other is the foremost one
    let mut look = |n: V3, by_a: bool, feature: u32| {
        let gap = separation(a, b, n);
        if gap > best.gap {
            let point = match by_a {
                true => along(a.foremost(scale(-1.0, n)), -0.5 * gap, n),
                false => along(b.foremost(n), 0.5 * gap, n),
            };
            best = Best { gap, normal: n, point, feature };
        }
        gap > margin
    };
    // axes of B, then of A: a cap touches where the other is foremost
    for (k, e) in [b.e, a.e].into_iter().enumerate() {
        let end = (1 << 9) | (2 * k as u32);
        if look(e, k == 0, end) || look(scale(-1.0, e), k == 0, end + 1) {
            return None;
        }
    }
    if let Some(n) = unit(cross(a.e, b.e)).filter(|_| norm(cross(a.e, b.e)) > SAME)
        && (look(n, true, (1 << 9) | 4) || look(scale(-1.0, n), true, (1 << 9) | 5))
    {
        return None;
    }
    // a side: circles across an axis
    let mut apart = false;
    for (k, e) in [a.e, b.e].into_iter().enumerate() {
        let x = across(e);
        let y = cross(e, x);
        let at = |phi: f64| {
            let (s, c) = phi.sin_cos();
            (along(scale(c, x), s, y), along(scale(-s, x), c, y))
        };
        let falls = |phi: f64| {
            let (n, t) = at(phi);
            -dot(t, sub(a.foremost(scale(-1.0, n)), b.foremost(n)))
        };
        rises(falls, LEVEL * size, |w, phi| {
            apart |= look(at(phi).0, k == 1, 1 << 9 | (8 + k * LOOKS + w) as u32);
        });
    }
    if apart {
        return None;
    }
    let mut count = 0;
    for k in 0..4 {
        rim_rim(a, b, (k & 1, k >> 1), size, margin.max(thin), |c, n| {
            if let Some(n) = n {
                let gap = separation(a, b, n);
                if gap > best.gap {
                    let point = along(c.of_b, 0.5, sub(c.of_a, c.of_b));
                    best = Best { gap, normal: n, point, feature: c.feature };
                }
            }
            if count < crossings.len() {
                crossings[count] = c;
                count += 1;
            }
        });
    }
    (best.gap <= margin).then_some((best, count))
}

/// Where the rims of one end each are nearest, with the normal if both can be touched along it.
fn rim_rim(
    a: &Drum,
    b: &Drum,
    (i, j): (usize, usize),
    size: f64,
    far: f64,
    mut found: impl FnMut(Crossing, Option<V3>),
) {
    let ((ca, cap_a), (cb, cap_b)) = (a.end(i), b.end(j));
    if norm(sub(ca, cb)) > a.radius + b.radius + far {
        return;
    }
    let x = across(a.e);
    let y = cross(a.e, x);
    // the point of A, its tangent, and the direction to the nearest point of the other rim from its middle
    let at = |phi: f64| {
        let (s, c) = phi.sin_cos();
        let u = along(scale(c, x), s, y);
        let p = along(ca, a.radius, u);
        let r = sub(p, cb);
        let v = unit(along(r, -dot(r, b.e), b.e)).unwrap_or_else(|| across(b.e));
        (u, p, v)
    };
    let slope = |phi: f64| {
        let (u, p, v) = at(phi);
        dot(sub(p, along(cb, b.radius, v)), cross(a.e, u))
    };
    rises(slope, LEVEL * size, |k, phi| {
        let (u, of_a, v) = at(phi);
        let of_b = along(cb, b.radius, v);
        let way = sub(of_a, of_b);
        // across both tangents: from the tangents where the points are near, since they may be one
        let product = cross(cross(a.e, u), cross(b.e, v));
        let n = if norm(product) * size > norm(way) { unit(product) } else { unit(way) };
        let admits = |n: &V3| rim_admits(u, cap_a, scale(-1.0, *n)) && rim_admits(v, cap_b, *n);
        let n = n.and_then(|n| [n, scale(-1.0, n)].into_iter().find(admits));
        let feature = 1 << 12 | ((2 * i + j) * LOOKS + k) as u32;
        found(Crossing { of_a, of_b, feature }, n);
    });
}

/// Where a function of an angle passes from below −level to above: number of the part of the circle, and the angle. Two zeros within a part are
/// found if the function comes near zero there.
fn rises(f: impl Fn(f64) -> f64, level: f64, mut found: impl FnMut(usize, f64)) {
    let part = std::f64::consts::TAU / LOOKS as f64;
    let mut values = [0.0; LOOKS];
    for (k, v) in values.iter_mut().enumerate() {
        *v = f(k as f64 * part);
    }
    for k in 0..LOOKS {
        let (before, here, after) = (values[(k + LOOKS - 1) % LOOKS], values[k], values[(k + 1) % LOOKS]);
        let angle = k as f64 * part;
        if before < -level && here >= -level {
            found(k, zero(&f, (angle - part, before), (angle, here)));
        } else if before > level && after > level && here > level && here <= before && here < after {
            let (phi, low) = least(&f, angle - part, angle + part);
            if low < -level {
                found(k, zero(&f, (phi, low), (angle + part, after)));
            }
        } else if before < -level && after < -level && here < -level && here >= before && here > after {
            let (phi, high) = least(&|x| -f(x), angle - part, angle + part);
            if -high > level {
                found(k, zero(&f, (angle - part, before), (phi, -high)));
            }
        }
    }
}

/// The zero between two places, by secants that halve when they stick; the side that is not below −level.
fn zero(
    f: &impl Fn(f64) -> f64,
    (mut low, mut of_low): (f64, f64),
    (mut high, mut of_high): (f64, f64),
) -> f64 {
    for k in 0..STEPS[0] {
        if high - low < 4.0 * f64::EPSILON {
            break;
        }
        let middle = match k % 3 {
            2 => 0.5 * (low + high),
            _ => (low - of_low * (high - low) / (of_high - of_low)).clamp(low, high),
        };
        let value = f(middle);
        if value == 0.0 {
            return middle;
        }
        if value < 0.0 {
            (low, of_low) = (middle, value);
        } else {
            (high, of_high) = (middle, value);
        }
    }
    high
}

/// The least value between two places, by golden sections.
fn least(f: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let place = |low: f64, high: f64, part: f64| low + part * (high - low);
    let (mut p, mut q) = (place(low, high, 1.0 - GOLDEN), place(low, high, GOLDEN));
    let (mut fp, mut fq) = (f(p), f(q));
    for _ in 0..STEPS[1] {
        if fp < fq {
            (high, q, fq) = (q, p, fp);
            p = place(low, high, 1.0 - GOLDEN);
            fp = f(p);
        } else {
            (low, p, fp) = (p, q, fq);
            q = place(low, high, GOLDEN);
            fq = f(q);
        }
    }
    if fp < fq { (p, fp) } else { (q, fq) }
}

/// A on the cap of B whose outward normal is n: points of one over the disc of the other, and where their rims cross.
fn caps(
    (a, pa): (&Drum, &Placed),
    (b, pb): (&Drum, &Placed),
    n: V3,
    push: V3,
    margin: f64,
    crossings: impl Iterator<Item = Crossing>,
    out: &mut Vec<Touch>,
) {
    let size = size_of(pa).min(size_of(pb));
    let down = if dot(a.e, n) >= 0.0 { scale(-1.0, a.e) } else { a.e };
    let (ca, cb) = (along(a.middle, a.half, down), along(b.middle, b.half, n));
    let within = |p: V3, c: V3, d: &Drum| {
        let x = sub(p, c);
        norm(along(x, -dot(x, d.e), d.e)) <= d.radius * (1.0 + ROUNDING)
    };
    let mut points = [([0.0; 3], 0); AROUND];
    let count = probes(pa, a.radius, n, push, &mut points);
    for &(p, feature) in &points[..count] {
        let gap = dot(n, sub(p, cb));
        if gap <= margin && within(p, cb, b) {
            out.push(Touch::on_a(gap, n, p, feature));
        }
    }
    if -dot(n, down) < STEEP {
        return;
    }
    let count = probes(pb, b.radius, down, push, &mut points);
    for &(p, feature) in &points[..count] {
        // height of the plane of A's cap
        let gap = dot(sub(ca, p), down) / dot(n, down);
        if gap <= margin && within(p, ca, a) {
            out.push(Touch { gap, normal: n, point: along(p, 0.5 * gap, n), feature: 64 + feature });
        }
    }
    for c in crossings {
        let way = sub(c.of_a, c.of_b);
        let gap = dot(n, way);
        let level =
            dot(n, sub(c.of_b, cb)).abs() < SAME * size && dot(down, sub(c.of_a, ca)).abs() < SAME * size;
        let aside = norm(along(way, -gap, n)) <= ASIDE * gap.abs() + SAME * size;
        if level && aside && gap <= margin {
            out.push(Touch { gap, normal: n, point: along(c.of_b, 0.5, way), feature: c.feature });
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
fn rims(of: &Drum, other: Body<'_>, margin: f64, number: u32, swapped: bool, out: &mut Vec<Touch>) {
    let x = across(of.e);
    let y = cross(of.e, x);
    for end in 0..2 {
        let (center, cap) = of.end(end);
        if distance(other, center).0 > margin + of.radius {
            continue;
        }
        let at = |phi: f64| {
            let (s, c) = phi.sin_cos();
            let u = along(scale(c, x), s, y);
            (u, along(center, of.radius, u))
        };
        let slope = |phi: f64| {
            let (u, p) = at(phi);
            dot(distance(other, p).1, cross(of.e, u))
        };
        rises(slope, LEVEL, |k, phi| {
            let (u, p) = at(phi);
            let (gap, normal) = distance(other, p);
            if gap <= margin && rim_admits(u, cap, scale(-1.0, normal)) {
                let feature = number | (end * LOOKS + k) as u32;
                let t = Touch::on_a(gap, normal, p, feature);
                out.push(if swapped { t.swapped() } else { t });
            }
        });
    }
}
