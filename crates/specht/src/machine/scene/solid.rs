//! Shapes of bodies in space as numbers: their lines, surfaces and the points where they touch a plane.

use crate::model::SpaceShape;
use crate::shape::{Hull, Shape as Form};

use super::Shapes;
use super::nets::torus;
use super::surfaces::{surface_lines, thinned};

/// Points of a whole circle.
const AROUND: usize = 40;

/// A shape in body axes as numbers.
#[derive(Clone, Debug)]
pub(super) enum Solid {
    Point([f64; 3]),
    Plane([f64; 3], [f64; 3]),
    Ball([f64; 3], f64, bool),
    Rim([f64; 3], [f64; 3], f64),
    Cylinder([f64; 3], [f64; 3], f64, bool),
    Ellipsoid([f64; 3], [f64; 3]),
    Capsule([[f64; 3]; 2], f64),
    Drum([[f64; 3]; 2], f64),
    Box([f64; 3], [f64; 3]),
    Hull(Option<Hull>),
    Surface(Form),
    Direction([f64; 3]),
    /// Tip, axis and angle between axis and side.
    Cone([f64; 3], [f64; 3], f64),
    /// Lines of something else.
    Net(Vec<Vec<[f64; 3]>>),
}

impl Solid {
    pub(super) fn of(shapes: &mut Shapes<'_>, shape: &SpaceShape) -> Solid {
        let mut three = |v: &[crate::expr::NodeId; 3]| {
            let list = shapes.values(v);
            [list[0], list[1], list[2]]
        };
        let along = |v: [f64; 3]| unit(v).unwrap_or([0.0, 0.0, 1.0]);
        match shape {
            SpaceShape::Point(p) => Solid::Point(three(p)),
            SpaceShape::Plane { through, normal } => Solid::Plane(three(through), along(three(normal))),
            SpaceShape::Ball { center, radius, hole } => {
                Solid::Ball(three(center), three(&[*radius; 3])[0], *hole)
            }
            SpaceShape::Rim { center, axis, radius } => {
                Solid::Rim(three(center), along(three(axis)), three(&[*radius; 3])[0])
            }
            SpaceShape::Cylinder { through, axis, radius, hole } => {
                Solid::Cylinder(three(through), along(three(axis)), three(&[*radius; 3])[0], *hole)
            }
            SpaceShape::Ellipsoid { center, axes } => Solid::Ellipsoid(three(center), three(axes)),
            SpaceShape::Capsule { ends, radius } => {
                Solid::Capsule([three(&ends[0]), three(&ends[1])], three(&[*radius; 3])[0])
            }
            SpaceShape::Drum { ends, radius } => {
                Solid::Drum([three(&ends[0]), three(&ends[1])], three(&[*radius; 3])[0])
            }
            SpaceShape::Box { center, half } => Solid::Box(three(center), three(half)),
            SpaceShape::Hull(points) => {
                let points: Vec<[f64; 3]> = points.iter().map(three).collect();
                Solid::Hull(Hull::around(&points).ok())
            }
            SpaceShape::Data(data) => match &data.form {
                Form::Hull(hull) => Solid::Hull(Some(hull.clone())),
                other => Solid::Surface(other.clone()),
            },
            SpaceShape::Direction(d) => Solid::Direction(along(three(d))),
            SpaceShape::Cone { apex, axis, angle, .. } => {
                let (tip, axis, angle) = (three(apex), along(three(axis)), three(&[*angle; 3])[0]);
                Solid::Cone(tip, axis, angle)
            }
            SpaceShape::Torus { center, axis, radius, tube, .. } => {
                let [ring, tube, _] = three(&[*radius, *tube, *tube]);
                let axis = along(three(axis));
                Solid::Net(torus(three(center), axis, across(axis)[0], ring, tube))
            }
            SpaceShape::Surface { point, parameters, range, .. } => {
                Solid::Net(shapes.surface(point, *parameters, range))
            }
        }
    }

    /// Its lines in a picture of this size.
    pub(super) fn lines(&self, size: f64) -> Vec<Vec<[f64; 3]>> {
        match *self {
            Solid::Hull(ref hull) => hull.iter().flat_map(|h| h.wires()).map(|e| e.to_vec()).collect(),
            Solid::Surface(ref form) => surface_lines(form),
            Solid::Point(p) if p == [0.0; 3] => Vec::new(),
            Solid::Point(p) => vec![vec![[0.0; 3], p]],
            Solid::Direction(d) => vec![vec![[0.0; 3], d.map(|x| 0.15 * size * x)]],
            Solid::Plane(..) => Vec::new(),
            Solid::Net(ref lines) => lines.clone(),
            Solid::Cone(tip, axis, angle) => {
                let [a, b] = across(axis);
                let (wide, high) = (size * angle.sin(), size * angle.cos());
                let ring = |share: f64| circle(add(tip, axis, share * high), a, b, share * wide);
                let sides = ring(1.0).into_iter().step_by(AROUND / 8).map(|p| vec![tip, p]);
                sides.chain([ring(0.5), ring(1.0)]).collect()
            }
            Solid::Ball(c, r, _) => circles(c, [r; 3]),
            Solid::Ellipsoid(c, axes) => circles(c, axes),
            Solid::Rim(c, axis, r) => {
                let [a, b] = across(axis);
                vec![circle(c, a, b, r), vec![c, add(c, a, r)]]
            }
            Solid::Cylinder(c, axis, r, _) => {
                let [a, b] = across(axis);
                let ends = [-size, size].map(|h| add(c, axis, h));
                let mut out: Vec<Vec<[f64; 3]>> = ends.iter().map(|e| circle(*e, a, b, r)).collect();
                for k in 0..8 {
                    let (s, t) = (k as f64 * std::f64::consts::FRAC_PI_4).sin_cos();
                    out.push(ends.map(|e| add(add(e, a, t * r), b, s * r)).to_vec());
                }
                out
            }
            Solid::Capsule(ends, r) | Solid::Drum(ends, r) => {
                let way = std::array::from_fn(|k| ends[1][k] - ends[0][k]);
                let [a, b] = across(unit(way).unwrap_or([0.0, 0.0, 1.0]));
                let mut out: Vec<Vec<[f64; 3]>> = ends.iter().map(|e| circle(*e, a, b, r)).collect();
                for (d, sign) in [(a, 1.0), (a, -1.0), (b, 1.0), (b, -1.0)] {
                    out.push(ends.map(|e| add(e, d, sign * r)).to_vec());
                }
                out
            }
            Solid::Box(c, half) => Hull::cuboid(c, half).wires().map(|e| e.to_vec()).collect(),
        }
    }

    /// Polygons of its surface, counter-clockwise seen from outside.
    pub(super) fn faces(&self) -> Vec<Vec<[f64; 3]>> {
        match *self {
            Solid::Hull(ref hull) => hull.iter().flat_map(|h| h.polygons()).collect(),
            Solid::Surface(Form::Mesh(ref m)) => thinned(m.triangles.len())
                .map(|k| m.triangles[k].map(|c| m.vertices[c as usize]).to_vec())
                .collect(),
            Solid::Box(c, half) => Hull::cuboid(c, half).polygons().collect(),
            Solid::Ellipsoid(c, axes) => globe(c, axes),
            Solid::Capsule(ends, r) => {
                let way = std::array::from_fn(|k| ends[1][k] - ends[0][k]);
                let [a, b] = across(unit(way).unwrap_or([0.0, 0.0, 1.0]));
                let rings = ends.map(|e| circle(e, a, b, r));
                let side = |k: usize| vec![rings[0][k], rings[0][k + 1], rings[1][k + 1], rings[1][k]];
                (0..AROUND).map(side).collect()
            }
            Solid::Drum(ends, r) => {
                let way = std::array::from_fn(|k| ends[1][k] - ends[0][k]);
                let [a, b] = across(unit(way).unwrap_or([0.0, 0.0, 1.0]));
                let rings = ends.map(|e| circle(e, a, b, r));
                let side = |k: usize| vec![rings[0][k], rings[0][k + 1], rings[1][k + 1], rings[1][k]];
                let mut out: Vec<_> = (0..AROUND).map(side).collect();
                out.push(rings[0].iter().rev().copied().collect());
                out.push(rings[1].clone());
                out
            }
            // both sides of a disc
            Solid::Rim(c, axis, r) => {
                let [a, b] = across(axis);
                let front = circle(c, a, b, r);
                let rear = front.iter().rev().copied().collect();
                vec![front, rear]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn balls(&self) -> Vec<([f64; 3], f64)> {
        match *self {
            Solid::Ball(c, r, false) => vec![(c, r)],
            Solid::Capsule(ends, r) => ends.iter().map(|e| (*e, r)).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it is drawn as a surface on the ground, too: what is seen from inside, or has no end, is drawn by its lines.
    pub(super) fn filled(&self) -> bool {
        matches!(
            self,
            Solid::Box(..)
                | Solid::Hull(_)
                | Solid::Drum(..)
                | Solid::Capsule(..)
                | Solid::Ellipsoid(..)
                | Solid::Ball(.., false)
        )
    }

    /// Points of it that may touch something whose normal there is n, all in body axes.
    pub(super) fn lowest(&self, n: [f64; 3]) -> Vec<[f64; 3]> {
        match *self {
            Solid::Hull(ref hull) => hull.as_ref().map_or_else(Vec::new, |h| h.vertices.clone()),
            Solid::Point(p) => vec![p],
            Solid::Ball(c, r, _) => vec![add(c, n, -r)],
            Solid::Rim(c, axis, r) => {
                let flat = add(n, axis, -dot(n, axis));
                vec![unit(flat).map_or(c, |d| add(c, d, -r))]
            }
            Solid::Drum(ends, r) => {
                let way = std::array::from_fn(|k| ends[1][k] - ends[0][k]);
                let axis = unit(way).unwrap_or([0.0, 0.0, 1.0]);
                let down = unit(add(n, axis, -dot(n, axis))).unwrap_or([0.0; 3]);
                ends.iter().map(|e| add(*e, down, -r)).collect()
            }
            Solid::Ellipsoid(c, axes) => {
                let long: [f64; 3] = std::array::from_fn(|i| axes[i] * n[i]);
                let size = dot(long, long).sqrt();
                vec![std::array::from_fn(|i| c[i] - axes[i] * long[i] / size)]
            }
            Solid::Capsule(ends, r) => ends.iter().map(|e| add(*e, n, -r)).collect(),
            Solid::Box(c, half) => (0..8)
                .map(|k| std::array::from_fn(|i| c[i] + if k >> i & 1 == 0 { -half[i] } else { half[i] }))
                .collect(),
            _ => Vec::new(),
        }
    }

    pub(super) fn center(&self) -> Option<([f64; 3], f64)> {
        match *self {
            Solid::Point(p) => Some((p, 0.0)),
            Solid::Ball(c, r, false) => Some((c, r)),
            _ => None,
        }
    }
}

fn circles(c: [f64; 3], axes: [f64; 3]) -> Vec<Vec<[f64; 3]>> {
    let unit = |k: usize| -> [f64; 3] { std::array::from_fn(|i| if i == k { axes[k] } else { 0.0 }) };
    [(0, 1), (1, 2), (2, 0)].map(|(i, j)| circle(c, unit(i), unit(j), 1.0)).to_vec()
}

/// An ellipsoid in patches.
fn globe(c: [f64; 3], axes: [f64; 3]) -> Vec<Vec<[f64; 3]>> {
    const ROUND: usize = 24;
    const HIGH: usize = 12;
    let at = |i: usize, k: usize| -> [f64; 3] {
        let (s, t) = (i as f64 / ROUND as f64 * std::f64::consts::TAU).sin_cos();
        let (low, high) = (k as f64 / HIGH as f64 * std::f64::consts::PI).sin_cos();
        [c[0] + axes[0] * low * t, c[1] + axes[1] * low * s, c[2] - axes[2] * high]
    };
    let patch = |i: usize, k: usize| vec![at(i, k), at(i + 1, k), at(i + 1, k + 1), at(i, k + 1)];
    (0..ROUND).flat_map(|i| (0..HIGH).map(move |k| (i, k))).map(|(i, k)| patch(i, k)).collect()
}

/// Not quite closed, so that it is a line and no disc.
fn circle(c: [f64; 3], a: [f64; 3], b: [f64; 3], r: f64) -> Vec<[f64; 3]> {
    (0..=AROUND)
        .map(|k| {
            let (s, t) = (k as f64 / AROUND as f64 * std::f64::consts::TAU).sin_cos();
            add(add(c, a, r * t), b, r * s)
        })
        .collect()
}

/// Two unit vectors across a unit vector.
pub(super) fn across(n: [f64; 3]) -> [[f64; 3]; 2] {
    let far = (0..3).min_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap_or(0);
    let axis: [f64; 3] = std::array::from_fn(|k| if k == far { 1.0 } else { 0.0 });
    let first = unit(cross(n, axis)).unwrap_or([1.0, 0.0, 0.0]);
    [first, cross(n, first)]
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + f b.
pub(super) fn add(a: [f64; 3], b: [f64; 3], f: f64) -> [f64; 3] {
    std::array::from_fn(|k| a[k] + f * b[k])
}

pub(super) fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    let size = dot(v, v).sqrt();
    (size > 0.0 && size.is_finite()).then(|| v.map(|x| x / size))
}
