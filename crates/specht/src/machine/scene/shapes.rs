//! Plane geometry of the picture: shapes in body axes, where two of them touch, hulls and bounds.

use serde::Serialize;

/// A shape in the axes of its body.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Prim {
    /// A point.
    Point([f64; 2]),
    /// A line through a point with its outward normal (unit length).
    Flat([f64; 2], [f64; 2]),
    /// A circle: centre, radius, hole.
    Round([f64; 2], f64, bool),
    /// A polyline: points, closed.
    Path(Vec<[f64; 2]>, bool),
    /// Stand-in for a part that moves on a line: width and height.
    Block(f64, f64),
    /// Stand-in for a part that only turns: diameter.
    Disc(f64),
    /// Stand-in for a part that moves and turns: length.
    Bar(f64),
    /// Stand-in for a particle.
    Dot,
}

/// Position and angle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Place {
    /// Origin.
    pub at: [f64; 2],
    /// Angle, counter-clockwise.
    pub angle: f64,
}

impl Place {
    /// A point of the body in the plane.
    pub fn point(&self, p: [f64; 2]) -> [f64; 2] {
        let d = self.direction(p);
        [self.at[0] + d[0], self.at[1] + d[1]]
    }

    /// A direction of the body in the plane.
    pub fn direction(&self, d: [f64; 2]) -> [f64; 2] {
        let (s, c) = self.angle.sin_cos();
        [c * d[0] - s * d[1], s * d[0] + c * d[1]]
    }
}

/// Where A touches B and the normal from B to A, for drawing; `None` when the pair has no simple answer.
pub(super) fn touch(a: &Prim, pa: &Place, b: &Prim, pb: &Place) -> Option<([f64; 2], [f64; 2])> {
    let line = |normal: [f64; 2], place: &Place| unit(place.direction(normal));
    match (a, b) {
        (Prim::Point(p), Prim::Flat(_, n)) => Some((pa.point(*p), line(*n, pb)?)),
        (Prim::Round(c, r, false), Prim::Flat(_, n)) => {
            let n = line(*n, pb)?;
            Some((along(pa.point(*c), n, -r), n))
        }
        (Prim::Flat(_, n), _) if !matches!(b, Prim::Flat(..)) => {
            let (at, m) = touch(b, pb, &Prim::Flat([0.0; 2], *n), pa)?;
            Some((at, [-m[0], -m[1]]))
        }
        (Prim::Point(p), Prim::Round(c, _, hole)) => {
            let (p, c) = (pa.point(*p), pb.point(*c));
            let n = unit([p[0] - c[0], p[1] - c[1]])?;
            Some((p, if *hole { [-n[0], -n[1]] } else { n }))
        }
        (Prim::Round(c, r, ha), Prim::Round(d, _, hb)) => {
            let (c, d) = (pa.point(*c), pb.point(*d));
            let n = unit([c[0] - d[0], c[1] - d[1]])?;
            match (ha, hb) {
                (false, false) => Some((along(c, n, -r), n)),
                (false, true) => Some((along(c, n, *r), [-n[0], -n[1]])),
                _ => Some((along(c, n, *r), n)),
            }
        }
        (Prim::Round(..), Prim::Point(_)) => {
            let (at, n) = touch(b, pb, a, pa)?;
            Some((at, [-n[0], -n[1]]))
        }
        (Prim::Path(points, _), _) => {
            // the corner or sample of the path nearest to B
            let best = points
                .iter()
                .map(|p| pa.point(*p))
                .min_by(|p, q| depth(*p, b, pb).total_cmp(&depth(*q, b, pb)))?;
            Some((best, touch(&Prim::Point([0.0; 2]), &Place { at: best, angle: 0.0 }, b, pb)?.1))
        }
        (_, Prim::Path(points, closed)) => {
            let (center, r) = match a {
                Prim::Round(c, r, _) => (pa.point(*c), *r),
                Prim::Point(p) => (pa.point(*p), 0.0),
                _ => return None,
            };
            let foot = nearest_on_path(center, points, *closed, pb)?;
            let n = unit([center[0] - foot[0], center[1] - foot[1]]).unwrap_or([0.0, 1.0]);
            Some((if r > 0.0 { along(center, n, -r) } else { foot }, n))
        }
        _ => None,
    }
}

/// How far a point lies outside of B.
fn depth(p: [f64; 2], b: &Prim, pb: &Place) -> f64 {
    match b {
        Prim::Flat(through, n) => {
            let (o, n) = (pb.point(*through), pb.direction(*n));
            (p[0] - o[0]) * n[0] + (p[1] - o[1]) * n[1]
        }
        Prim::Round(c, r, hole) => {
            let c = pb.point(*c);
            let d = (p[0] - c[0]).hypot(p[1] - c[1]) - r;
            if *hole { -d } else { d }
        }
        Prim::Path(points, closed) => nearest_on_path(p, points, *closed, pb)
            .map_or(f64::INFINITY, |f| (p[0] - f[0]).hypot(p[1] - f[1])),
        Prim::Point(q) => {
            let q = pb.point(*q);
            (p[0] - q[0]).hypot(p[1] - q[1])
        }
        _ => f64::INFINITY,
    }
}

fn nearest_on_path(p: [f64; 2], points: &[[f64; 2]], closed: bool, place: &Place) -> Option<[f64; 2]> {
    let n = points.len();
    let edges = if closed { n } else { n.saturating_sub(1) };
    (0..edges)
        .map(|k| {
            let (a, b) = (place.point(points[k]), place.point(points[(k + 1) % n]));
            let d = [b[0] - a[0], b[1] - a[1]];
            let s = ((p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1]) / (d[0] * d[0] + d[1] * d[1]).max(1e-300);
            along(a, d, s.clamp(0.0, 1.0))
        })
        .min_by(|x, y| (x[0] - p[0]).hypot(x[1] - p[1]).total_cmp(&(y[0] - p[0]).hypot(y[1] - p[1])))
}

fn along(p: [f64; 2], d: [f64; 2], s: f64) -> [f64; 2] {
    [p[0] + s * d[0], p[1] + s * d[1]]
}

/// Unit vector; `None` for zero.
pub(super) fn unit(v: [f64; 2]) -> Option<[f64; 2]> {
    let length = v[0].hypot(v[1]);
    (length > 0.0 && length.is_finite()).then(|| [v[0] / length, v[1] / length])
}

/// Convex hull, counter-clockwise; two points when all lie on a line.
pub(super) fn hull(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut p: Vec<[f64; 2]> =
        points.iter().copied().filter(|p| p[0].is_finite() && p[1].is_finite()).collect();
    p.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    p.dedup();
    if p.len() < 3 {
        return p;
    }
    let size = p.iter().fold(0.0f64, |s, q| s.max((q[0] - p[0][0]).hypot(q[1] - p[0][1])));
    let turn = |o: [f64; 2], a: [f64; 2], b: [f64; 2]| {
        (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]) > 1e-9 * size * size
    };
    let half = |list: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for q in list {
            while chain.len() >= 2 && !turn(chain[chain.len() - 2], chain[chain.len() - 1], q) {
                chain.pop();
            }
            chain.push(q);
        }
        chain.pop();
        chain
    };
    let mut lower = half(&mut p.iter().copied());
    lower.extend(half(&mut p.iter().rev().copied()));
    lower
}

/// A growing rectangle: x from, y from, x to, y to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds(pub [f64; 4]);

impl Bounds {
    /// Nothing yet.
    pub(super) const EMPTY: Bounds =
        Bounds([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY]);

    /// Take in a disc.
    pub(super) fn add(&mut self, p: [f64; 2], r: f64) {
        if p[0].is_finite() && p[1].is_finite() && r.is_finite() {
            let b = &mut self.0;
            *b = [b[0].min(p[0] - r), b[1].min(p[1] - r), b[2].max(p[0] + r), b[3].max(p[1] + r)];
        }
    }

    /// The larger side; 0 when empty.
    pub(super) fn size(&self) -> f64 {
        (self.0[2] - self.0[0]).max(self.0[3] - self.0[1]).max(0.0)
    }

    /// Never empty: a unit square around the origin instead.
    pub(super) fn or_unit(self) -> Bounds {
        if self.0[2] >= self.0[0] && self.size() > 0.0 {
            return self;
        }
        let c = if self.0[2] >= self.0[0] { [self.0[0], self.0[1]] } else { [0.0, 0.0] };
        Bounds([c[0] - 0.5, c[1] - 0.5, c[0] + 0.5, c[1] + 0.5])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hull_keeps_corners_and_drops_what_lies_inside_or_on_a_line() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.5, 0.5], [0.5, 0.0]];
        assert_eq!(hull(&square).len(), 4);
        assert_eq!(hull(&[[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), vec![[-1.0, 0.0], [1.0, 0.0]]);
    }

    #[test]
    fn a_ball_touches_the_floor_below_its_centre() {
        let ball = Prim::Round([0.0, 0.0], 0.1, false);
        let floor = Prim::Flat([0.0, 0.0], [0.0, 1.0]);
        let at = Place { at: [2.0, 0.3], angle: 1.0 };
        let (p, n) = touch(&ball, &at, &floor, &Place::default()).unwrap();
        assert!((p[0] - 2.0).abs() < 1e-15 && (p[1] - 0.2).abs() < 1e-15);
        assert_eq!(n, [0.0, 1.0]);
    }
}
