//! Outlines in the plane z = 0: polygons of any shape, with notches
//!
//! Two outlines always touch at a corner of one of them. Corners that stick out are compared with the edges of the other, and with its corners; re-entrant
//! corners touch nothing. A corner may touch an edge only along a normal against which it sticks out, so edges on the far
//! side and edges that run on in the same line are no matter. Below two edges that meet in a corner that sticks out the nearer one
//! counts, of convex outlines the nearer of those that the corner can touch; in a notch both do.
//!
//! Two convex outlines inside each other are moved out the shortest way: along the normal of the edge over which the other is highest
//! ([`Way`], separating axes). Corners over other edges are no touches then.

use super::convex::is_same;
use super::vec3::{V3, along, dot, norm, scale, sub, unit};
use super::{Placed, ROUNDING, SAME, Touch, size_of};

/// How far a normal may leave the directions in which a corner can be touched.
const CONE: f64 = 1e-6;

/// Cosine of the angle by which normals of one contact of convex outlines differ at most.
const ALIKE: f64 = 0.9;

/// Corners with the material on the left.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outline {
    pub(crate) points: Vec<V3>,
    /// The last corner joins the first.
    pub(crate) closed: bool,
    /// By corner: it sticks out. Ends of open outlines do.
    convex: Vec<bool>,
    /// Half of the smallest distance between a corner and an edge that does not meet it.
    pub(super) thin: f64,
}

impl Outline {
    /// Of corners in the plane; `left`: the material is on the left along the list. `None` when edges have no length.
    pub(crate) fn of(points: &[[f64; 2]], closed: bool, left: bool) -> Option<Outline> {
        let mut points: Vec<V3> = points.iter().map(|p| [p[0], p[1], 0.0]).collect();
        if !left {
            points.reverse();
        }
        let n = points.len();
        if n < if closed { 3 } else { 2 } {
            return None;
        }
        let mut out = Outline { closed, convex: vec![true; n], thin: f64::INFINITY, points };
        let size = out.points.iter().fold(0.0_f64, |m, &p| m.max(norm(sub(p, out.points[0]))));
        for k in 0..out.edges() {
            let w = sub(out.points[(k + 1) % n], out.points[k]);
            if !(norm(w) > ROUNDING * size) {
                return None;
            }
            out.thin = out.thin.min(0.5 * norm(w));
        }
        for k in 0..n {
            if closed || (k > 0 && k + 1 < n) {
                let (p, q, r) = (out.points[(k + n - 1) % n], out.points[k], out.points[(k + 1) % n]);
                let (a, b) = (sub(q, p), sub(r, q));
                out.convex[k] = a[0] * b[1] - a[1] * b[0] > ROUNDING * norm(a) * norm(b);
            }
            for e in 0..out.edges() {
                let (a, b) = (e, (e + 1) % n);
                if k != a && k != b {
                    let w = sub(out.points[b], out.points[a]);
                    let r = sub(out.points[k], out.points[a]);
                    let s = (dot(w, r) / dot(w, w)).clamp(0.0, 1.0);
                    out.thin = out.thin.min(0.5 * norm(along(r, -s, w)));
                }
            }
        }
        (out.thin > ROUNDING * size).then_some(out)
    }

    /// Twice the area, positive when the material is inside.
    pub(crate) fn area(&self) -> f64 {
        let n = self.points.len();
        (0..n)
            .map(|k| {
                let (p, q) = (self.points[k], self.points[(k + 1) % n]);
                p[0] * q[1] - p[1] * q[0]
            })
            .sum()
    }

    fn edges(&self) -> usize {
        if self.closed { self.points.len() } else { self.points.len() - 1 }
    }

    /// Start, direction and outward unit normal of an edge.
    fn edge(&self, at: &Placed, k: usize) -> (V3, V3, V3) {
        let (p, q) = (at.points[k], at.points[(k + 1) % at.points.len()]);
        let w = sub(q, p);
        (p, w, scale(1.0 / norm(w), [w[1], -w[0], 0.0]))
    }

    /// The neighbours of a corner.
    fn next(&self, k: usize) -> [Option<usize>; 2] {
        let n = self.points.len();
        let before = if k > 0 { Some(k - 1) } else { self.closed.then_some(n - 1) };
        let after = if k + 1 < n { Some(k + 1) } else { self.closed.then_some(0) };
        [before, after]
    }

    /// Whether corner `k` can be touched along the outward unit vector `m`.
    fn admits(&self, at: &Placed, k: usize, m: V3) -> bool {
        self.convex[k]
            && self.next(k).into_iter().flatten().all(|i| {
                let t = sub(at.points[i], at.points[k]);
                dot(m, t) <= CONE * norm(t)
            })
    }

    /// Closed, and every corner sticks out or lies on a straight line.
    fn is_convex(&self) -> bool {
        self.closed && self.convex.iter().all(|c| *c)
    }

    /// The edges that a point at the distance `radius` can touch: height over each and its outward normal. `can`: whether it can along a normal;
    /// `all_ways`: below a corner an edge farther away counts where the nearer one cannot be touched.
    fn below(
        &self,
        at: &Placed,
        x: V3,
        (radius, margin, deep): (f64, f64, f64),
        (can, all_ways): (impl Fn(V3) -> bool, bool),
        mut found: impl FnMut(usize, f64, V3),
    ) {
        let size = size_of(at);
        let n = self.points.len();
        for k in 0..self.edges() {
            let (p, w, normal) = self.edge(at, k);
            let r = sub(x, p);
            let (s, h) = (dot(r, w), dot(r, normal));
            let room = ROUNDING * size * norm(w);
            if h - radius > margin || h < deep || s < -room || s > dot(w, w) + room || !can(normal) {
                continue;
            }
            // below a corner that sticks out the nearer edge counts, if it can be touched; beyond it there is nothing to be in
            let nearer = |corner: usize, edge: Option<usize>| {
                edge.filter(|_| self.convex[corner]).is_some_and(|e| {
                    let (p, _, normal) = self.edge(at, e);
                    let over = dot(sub(x, p), normal);
                    over > h + ROUNDING * size && (over > 0.0 || can(normal) || !all_ways)
                })
            };
            let before = if k > 0 { Some(k - 1) } else { self.closed.then_some(n - 1) };
            let after = if k + 1 < self.edges() { Some(k + 1) } else { self.closed.then_some(0) };
            if h < 0.0 && (nearer(k, before) || nearer((k + 1) % n, after)) {
                continue;
            }
            found(k, h, normal);
        }
    }
}

/// A disc as A on an outline.
pub(super) fn disc_outline(
    (x, radius): (V3, f64),
    (outline, at): (&Outline, &Placed),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let deep = -outline.thin.max(radius);
    outline.below(at, x, (radius, margin, deep), (|_| true, false), |k, h, n| {
        out.push(Touch::on_a(h - radius, n, along(x, -radius, n), k as u32));
    });
    for (k, &v) in at.points.iter().enumerate() {
        let apart = sub(x, v);
        let gap = norm(apart) - radius;
        let Some(n) = unit(apart).filter(|_| gap <= margin) else { continue };
        // an edge that ends here has it already
        let known = out.iter().any(|t| is_same(t.point, along(v, 0.5 * gap, n), size_of(at)));
        if outline.admits(at, k, n) && !known {
            out.push(Touch::on_a(gap, n, along(x, -radius, n), 1 << 16 | k as u32));
        }
    }
}

/// An outline as A on a straight line.
pub(super) fn outline_line(
    (outline, at): (&Outline, &Placed),
    (through, n): (V3, V3),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    for (k, &v) in at.points.iter().enumerate().filter(|x| outline.convex[x.0]) {
        let gap = dot(n, sub(v, through));
        if gap <= margin {
            out.push(Touch::on_a(gap, n, v, k as u32));
        }
    }
}

/// How far two convex outlines are apart along the normal of an edge, or the shortest way out.
struct Way {
    gap: f64,
    /// From B to A.
    normal: V3,
    /// The corner of the other that is lowest over the edge.
    corner: V3,
    by_a: bool,
}

impl Way {
    /// The largest over all edges; the first within 10⁻⁶ of the size, so that it does not follow rounding.
    fn of(a: (&Outline, &Placed), b: (&Outline, &Placed), size: f64) -> Option<Way> {
        let mut best: Option<Way> = None;
        for (by_a, (p, q)) in [(false, (b, a)), (true, (a, b))] {
            for k in 0..p.0.edges() {
                let (start, _, n) = p.0.edge(p.1, k);
                let height = |x: &V3| dot(sub(*x, start), n);
                let Some(&corner) = q.1.points.iter().min_by(|x, y| height(x).total_cmp(&height(y))) else {
                    continue;
                };
                let gap = height(&corner);
                if best.as_ref().is_none_or(|w| gap > w.gap + SAME * size) {
                    let normal = if by_a { scale(-1.0, n) } else { n };
                    best = Some(Way { gap, normal, corner, by_a });
                }
            }
        }
        best
    }
}

/// Two outlines.
pub(super) fn outline_outline(
    a: (&Outline, &Placed),
    b: (&Outline, &Placed),
    margin: f64,
    out: &mut Vec<Touch>,
) {
    let first = out.len();
    let size = size_of(a.1).min(size_of(b.1));
    let deep = -a.0.thin.min(b.0.thin);
    // what is not convex has other edges, and corners of the other, that may be nearer
    let convex = a.0.is_convex() && b.0.is_convex();
    let way = if convex { Way::of(a, b, size) } else { None };
    if way.as_ref().is_some_and(|w| w.gap > margin) {
        return;
    }
    let least = way.as_ref().map_or(f64::NEG_INFINITY, |w| w.gap - SAME * size);
    // out of each other by the shortest way alone
    let inside = way.filter(|w| w.gap <= 0.0);
    let agrees = |n: V3, gap: f64| gap >= least && inside.as_ref().is_none_or(|w| dot(n, w.normal) > ALIKE);
    let keep = |t: Touch, out: &mut Vec<Touch>| {
        let known = |x: &Touch| is_same(x.point, t.point, size) && dot(x.normal, t.normal) > 0.999;
        if agrees(t.normal, t.gap) && !out[first..].iter().any(known) {
            out.push(t);
        }
    };
    for (turn, (p, q)) in [(a, b), (b, a)].into_iter().enumerate() {
        let sign = if turn == 0 { 1.0 } else { -1.0 };
        for (k, &v) in p.1.points.iter().enumerate().filter(|x| p.0.convex[x.0]) {
            let can = |n: V3| {
                let agrees = inside.as_ref().is_none_or(|w| sign * dot(n, w.normal) > ALIKE);
                agrees && p.0.admits(p.1, k, scale(-1.0, n))
            };
            q.0.below(q.1, v, (0.0, margin, deep), (can, convex), |e, gap, n| {
                let feature = (turn << 20 | (k & 0x3ff) << 10 | e & 0x3ff) as u32;
                let t = Touch::on_a(gap, n, v, feature);
                keep(if turn == 0 { t } else { t.swapped() }, out);
            });
        }
    }
    for (k, &v) in a.1.points.iter().enumerate() {
        for (l, &w) in b.1.points.iter().enumerate() {
            let gap = norm(sub(v, w));
            let Some(n) = unit(sub(v, w)).filter(|_| gap <= margin && gap > ROUNDING * size) else {
                continue;
            };
            if a.0.admits(a.1, k, scale(-1.0, n)) && b.0.admits(b.1, l, n) {
                let feature = (1 << 21 | (k & 0x3ff) << 10 | l & 0x3ff) as u32;
                keep(Touch::on_a(gap, n, v, feature), out);
            }
        }
    }
    if let Some(w) = inside.filter(|w| !out[first..].iter().any(|t| t.gap <= w.gap + SAME * size)) {
        let to_middle = if w.by_a { 0.5 } else { -0.5 };
        out.push(Touch {
            gap: w.gap,
            normal: w.normal,
            point: along(w.corner, to_middle * w.gap, w.normal),
            feature: 1 << 22,
        });
    }
}
