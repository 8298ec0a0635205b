//! The moving picture of a model in space: poses of the bodies, lines of their shapes in body axes, contact points with their forces.
//!
//! Whoever draws it chooses the direction of view; [`SpaceScene::flat`] is the picture from one corner.

use serde::Serialize;

use crate::model::{CompiledSystem, FeatureRef, Geometry, Shape, SpaceShape};
use crate::shape::{Hull, Shape as Form};
use crate::sim::Samples;
use crate::system::{Discrete, State, System};

use super::frames::frames;
use super::nets::torus;
use super::surfaces::{surface_lines, thinned};
use super::{DrawTrack, Run, Scene, Shapes};

/// Everything to draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SpaceScene {
    /// Frame times.
    pub t: Vec<f64>,
    /// Bodies.
    pub bodies: Vec<SpaceTrack>,
    /// Lines of the ground.
    pub ground: Vec<Vec<[f64; 3]>>,
    /// Planes of the ground, on which shadows fall: a point and the normal.
    pub planes: Vec<[[f64; 3]; 2]>,
    /// Contacts and pins.
    pub contacts: Vec<ForceTrack>,
    /// Middle of the picture.
    pub middle: [f64; 3],
    /// Half its width.
    pub size: f64,
    /// Direction that is up.
    pub up: [f64; 3],
}

/// One body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SpaceTrack {
    /// Name.
    pub name: String,
    /// Origin, then the rows of the matrix that turns body axes into world axes, per frame.
    pub places: Vec<[f64; 12]>,
    /// Lines in body axes.
    pub lines: Vec<Vec<[f64; 3]>>,
    /// Polygons of its surface in body axes, counter-clockwise seen from outside.
    pub faces: Vec<Vec<[f64; 3]>>,
    /// Balls in body axes: centre and radius.
    pub balls: Vec<([f64; 3], f64)>,
    /// Lines to bodies that stand on it.
    pub links: Vec<Vec<[f64; 3]>>,
}

/// One contact.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForceTrack {
    /// Name.
    pub name: String,
    /// Where it is, per frame; NaN when unknown.
    pub at: Vec<[f64; 3]>,
    /// Force on A.
    pub force: Vec<[f64; 3]>,
    /// The normal from B to A; zero for a pin.
    pub normal: Vec<[f64; 3]>,
    /// Coefficient of friction; zero where there is none.
    pub mu: Vec<f64>,
}

/// Points of a whole circle.
const AROUND: usize = 40;
/// The direction of the flat picture: to the right, and up.
const VIEW: [[f64; 3]; 2] = [[-0.573_576, 0.819_152, 0.0], [-0.336_824, -0.235_847, 0.911_548]];

impl Run {
    /// The moving picture of a model in space; `None` for planar models and when there is nothing to show.
    pub fn space_scene(&self) -> Option<SpaceScene> {
        let system = self.machine.system();
        if !system.model().is_spatial() || system.model().bodies.is_empty() {
            return None;
        }
        space_scene(system, &self.trajectory.samples)
    }
}

pub(super) fn space_scene(system: &CompiledSystem, samples: &Samples) -> Option<SpaceScene> {
    let model = system.model();
    let frames = frames(samples);
    let first = frames.first()?;
    let mut shapes = Shapes { system, graph: &model.graph, sample: first.sample() };
    let solid = |shapes: &mut Shapes<'_>, shape: &Shape| match shape {
        Shape::Space(shape) => Some(Solid::of(shapes, shape)),
        _ => None,
    };
    let of_bodies: Vec<Vec<Option<Solid>>> = (model.bodies.iter())
        .map(|b| b.features.iter().map(|f| solid(&mut shapes, &f.shape)).collect())
        .collect();
    let of_ground: Vec<Option<Solid>> = model.ground.iter().map(|f| solid(&mut shapes, &f.shape)).collect();
    let gravity = shapes.values(&[model.gravity[0], model.gravity[1], model.gravity[2]]);

    let mut out = SpaceScene { up: [0.0, 0.0, 1.0], ..SpaceScene::default() };
    if let Some(down) = unit([gravity[0], gravity[1], gravity[2]]) {
        out.up = down.map(|x| -x);
    }
    out.bodies =
        model.bodies.iter().map(|b| SpaceTrack { name: b.name.clone(), ..SpaceTrack::default() }).collect();
    let discrete = Discrete::new(&system.dims());
    let mut eval = system.memory();
    let mut mu = Vec::with_capacity(frames.len());
    for frame in &frames {
        let sample = frame.sample();
        let mut state = State {
            t: sample.t,
            q: sample.q.to_vec(),
            u: sample.u.to_vec(),
            z: sample.z.to_vec(),
            memory: sample.memory.to_vec(),
        };
        system.restore(&mut state.q);
        out.t.push(sample.t);
        if model.contacts.is_empty() {
            mu.push(Vec::new());
        } else {
            system.evaluate(&state, &discrete, &mut eval);
            mu.push(eval.mu.clone());
        }
        for (track, place) in out.bodies.iter_mut().zip(system.space_places(&state, &discrete)) {
            track.places.push(place);
        }
    }
    let extended = measure(&mut out, &of_bodies);
    let size = out.size;
    for (k, (track, solids)) in out.bodies.iter_mut().zip(&of_bodies).enumerate() {
        for solid in solids.iter().flatten() {
            track.lines.extend(solid.lines(size));
            track.faces.extend(solid.faces());
            track.balls.extend(solid.balls());
        }
        // where others stand on it
        for other in &model.bodies {
            if let (true, Some(s)) = (other.on == Some(k), &other.space) {
                let at = shapes.values(&s.position);
                if at.iter().any(|x| *x != 0.0) && at.iter().all(|x| x.is_finite()) {
                    track.links.push(vec![[0.0; 3], [at[0], at[1], at[2]]]);
                }
            }
        }
        if track.lines.is_empty() && track.links.is_empty() {
            track.lines = Solid::Ball([0.0; 3], 0.02 * size, false).lines(size);
        }
    }
    out.ground = of_ground.iter().flatten().flat_map(|s| s.lines(size)).collect();
    // a plane of the ground is drawn below the machine
    let middle = out.middle;
    for (solid, feature) in of_ground.iter().zip(&model.ground) {
        if let (Some(Solid::Plane(p, n)), Shape::Space(SpaceShape::Plane { .. })) = (solid, &feature.shape) {
            out.ground.extend(grid(*p, *n, middle, size));
            out.planes.push([*p, *n]);
        }
    }
    forces(&mut out, system, &frames, &mu, &of_bodies, &of_ground);
    if !extended {
        // directions alone fill the picture
        out.size = 0.2;
    }
    Some(out)
}

/// Middle and size of everything that moves; false when nothing has an extent.
fn measure(out: &mut SpaceScene, solids: &[Vec<Option<Solid>>]) -> bool {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    let mut add = |p: [f64; 3]| {
        for k in 0..3 {
            if p[k].is_finite() {
                low[k] = low[k].min(p[k]);
                high[k] = high[k].max(p[k]);
            }
        }
    };
    for (track, solids) in out.bodies.iter().zip(solids) {
        let step = (track.places.len() / 60).max(1);
        for place in track.places.iter().step_by(step) {
            add([place[0], place[1], place[2]]);
            for solid in solids.iter().flatten() {
                solid.lines(0.0).iter().flatten().for_each(|p| add(world(place, *p)));
            }
        }
    }
    if low[0] > high[0] {
        (low, high) = ([-1.0; 3], [1.0; 3]);
    }
    out.middle = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
    out.size = (0..3).fold(0.0_f64, |m, k| m.max(0.5 * (high[k] - low[k])));
    let extended = out.size > 0.0;
    if !extended {
        out.size = 1.0;
    }
    extended
}

/// A shape in body axes as numbers.
#[derive(Clone, Debug)]
enum Solid {
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
    fn of(shapes: &mut Shapes<'_>, shape: &SpaceShape) -> Solid {
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
    fn lines(&self, size: f64) -> Vec<Vec<[f64; 3]>> {
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
    fn faces(&self) -> Vec<Vec<[f64; 3]>> {
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

    fn balls(&self) -> Vec<([f64; 3], f64)> {
        match *self {
            Solid::Ball(c, r, false) => vec![(c, r)],
            Solid::Capsule(ends, r) => ends.iter().map(|e| (*e, r)).collect(),
            _ => Vec::new(),
        }
    }

    /// Points of it that may touch something whose normal there is n, all in body axes.
    fn lowest(&self, n: [f64; 3]) -> Vec<[f64; 3]> {
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

    fn center(&self) -> Option<([f64; 3], f64)> {
        match *self {
            Solid::Point(p) => Some((p, 0.0)),
            Solid::Ball(c, r, false) => Some((c, r)),
            _ => None,
        }
    }
}

/// Where A touches B in world axes, and the normal from B to A.
fn touch(a: &Solid, pa: &[f64; 12], b: &Solid, pb: &[f64; 12]) -> Vec<([f64; 3], [f64; 3])> {
    if let Solid::Plane(_, n) = b {
        let n = turned(pb, *n);
        return a.lowest(back(pa, n)).into_iter().map(|p| (world(pa, p), n)).collect();
    }
    if let Some((c, r)) = a.center() {
        let c = world(pa, c);
        let (middle, hole) = match *b {
            Solid::Ball(m, _, hole) => (world(pb, m), hole),
            Solid::Cylinder(m, axis, _, hole) => {
                let (m, axis) = (world(pb, m), turned(pb, axis));
                let way: [f64; 3] = std::array::from_fn(|k| c[k] - m[k]);
                (add(m, axis, dot(way, axis)), hole)
            }
            _ => return Vec::new(),
        };
        let out = unit(std::array::from_fn(|k| c[k] - middle[k]));
        return out
            .map(|n| if hole { n.map(|x| -x) } else { n })
            .map(|n| (add(c, n, -r), n))
            .into_iter()
            .collect();
    }
    if matches!(a, Solid::Plane(..)) || b.center().is_some() {
        return touch(b, pb, a, pa).into_iter().map(|(p, n)| (p, n.map(|x| -x))).collect();
    }
    Vec::new()
}

/// Contact points and forces.
fn forces(
    out: &mut SpaceScene,
    system: &CompiledSystem,
    frames: &[super::frames::Frame],
    mu: &[Vec<f64>],
    bodies: &[Vec<Option<Solid>>],
    ground: &[Option<Solid>],
) {
    let model = system.model();
    let still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let origin = Some(Solid::Point([0.0; 3]));
    let solid = |r: FeatureRef| match (r.body, r.feature) {
        (_, None) => origin.clone(),
        (None, Some(f)) => ground.get(f).cloned().flatten(),
        (Some(b), Some(f)) => bodies.get(b).and_then(|list| list.get(f)).cloned().flatten(),
    };
    for (k, contact) in model.contacts.iter().enumerate() {
        let (a, b, pin) = match &contact.geometry {
            Geometry::Between(a, b) => (*a, *b, false),
            Geometry::Pin(a, b) => (*a, *b, true),
            _ => continue,
        };
        let (Some(sa), Some(sb)) = (solid(a), solid(b)) else { continue };
        let parts: Vec<usize> = system.contacts_of(k).collect();
        let mut tracks: Vec<ForceTrack> = (parts.iter())
            .map(|&c| ForceTrack { name: system.contacts()[c].name.clone(), ..ForceTrack::default() })
            .collect();
        for (f, frame) in frames.iter().enumerate() {
            let place = |r: FeatureRef| r.body.map_or(still, |i| out.bodies[i].places[f]);
            let (pa, pb) = (place(a), place(b));
            let lambda = frame.sample().lambda;
            let value = |row: Option<&usize>| row.and_then(|r| lambda.get(*r)).copied().unwrap_or(0.0);
            let found = match (pin, &sa) {
                (true, Solid::Point(p)) => vec![(world(&pa, *p), [0.0; 3])],
                _ => touch(&sa, &pa, &sb, &pb),
            };
            for (i, (&c, track)) in parts.iter().zip(&mut tracks).enumerate() {
                let info = &system.contacts()[c];
                let (at, n) = found.get(i).copied().unwrap_or(([f64::NAN; 3], [0.0; 3]));
                let rows = info.normal_rows();
                let force = match rows.len() {
                    3 => std::array::from_fn(|k| value(rows.get(k))),
                    _ => {
                        let [t1, t2] = tangents(n, &pb);
                        let [p, q, r] =
                            [value(rows.first()), value(info.tangent.first()), value(info.tangent.get(1))];
                        std::array::from_fn(|k| p * n[k] + q * t1[k] + r * t2[k])
                    }
                };
                track.at.push(at);
                track.force.push(force);
                track.normal.push(n);
                track.mu.push(mu[f].get(c).copied().unwrap_or(0.0));
            }
        }
        out.contacts.extend(tracks);
    }
}

/// Tangents as the rows of contacts have them when the file names none.
fn tangents(n: [f64; 3], pose: &[f64; 12]) -> [[f64; 3]; 2] {
    let near = |axis: [f64; 3]| dot(turned(pose, axis), n).abs() > 0.866_025;
    let axis = if near([1.0, 0.0, 0.0]) { [0.0, 1.0, 0.0] } else { [1.0, 0.0, 0.0] };
    let axis = turned(pose, axis);
    let first = unit(add(axis, n, -dot(axis, n))).unwrap_or([0.0; 3]);
    [first, cross(n, first)]
}

/// A grid of a plane below the machine.
fn grid(p: [f64; 3], n: [f64; 3], middle: [f64; 3], size: f64) -> Vec<Vec<[f64; 3]>> {
    let way: [f64; 3] = std::array::from_fn(|k| middle[k] - p[k]);
    let foot = add(middle, n, -dot(way, n));
    let [a, b] = across(n);
    let mut out = Vec::new();
    for k in -5..=5 {
        let s = 0.26 * size * f64::from(k);
        for (d, e) in [(a, b), (b, a)] {
            let from = add(foot, d, s);
            out.push(vec![add(from, e, -1.3 * size), add(from, e, 1.3 * size)]);
        }
    }
    out
}

impl SpaceScene {
    /// The picture from one corner, with lines alone.
    pub fn flat(&self) -> Scene {
        let see = |p: [f64; 3]| VIEW.map(|d| dot(d, std::array::from_fn(|k| p[k] - self.middle[k])));
        let mut out = Scene { t: self.t.clone(), up: 1.0, ..Scene::default() };
        let frames = self.t.len();
        for line in &self.ground {
            let line: Vec<[f64; 2]> = line.iter().map(|p| see(*p)).collect();
            out.draws.push(DrawTrack::Path(vec![line; frames]));
        }
        for body in &self.bodies {
            for line in body.lines.iter().chain(&body.links) {
                let at = |f: usize| line.iter().map(|p| see(world(&body.places[f], *p))).collect();
                out.draws.push(DrawTrack::Path((0..frames).map(at).collect()));
            }
        }
        let peak =
            self.contacts.iter().flat_map(|c| &c.force).fold(0.0_f64, |m, f| m.max(dot(*f, *f).sqrt()));
        for contact in self.contacts.iter().filter(|_| peak > 0.0) {
            let arrow = |f: usize| {
                let (at, force) = (contact.at[f], contact.force[f]);
                let at = if at[0].is_finite() { at } else { self.middle };
                vec![see(at), see(add(at, force, 0.5 * self.size / peak))]
            };
            out.draws.push(DrawTrack::Path((0..frames).map(arrow).collect()));
        }
        out.bounds = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        for draw in out.draws.iter().skip(self.ground.len()) {
            let DrawTrack::Path(list) = draw else { continue };
            for [x, y] in list.iter().step_by((frames / 60).max(1)).flatten().filter(|p| p[0].is_finite()) {
                let b = &mut out.bounds;
                *b = [b[0].min(*x), b[1].min(*y), b[2].max(*x), b[3].max(*y)];
            }
        }
        out.near = out.bounds;
        out
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
fn across(n: [f64; 3]) -> [[f64; 3]; 2] {
    let far = (0..3).min_by(|&i, &j| n[i].abs().total_cmp(&n[j].abs())).unwrap_or(0);
    let axis: [f64; 3] = std::array::from_fn(|k| if k == far { 1.0 } else { 0.0 });
    let first = unit(cross(n, axis)).unwrap_or([1.0, 0.0, 0.0]);
    [first, cross(n, first)]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + f b.
fn add(a: [f64; 3], b: [f64; 3], f: f64) -> [f64; 3] {
    std::array::from_fn(|k| a[k] + f * b[k])
}

fn unit(v: [f64; 3]) -> Option<[f64; 3]> {
    let size = dot(v, v).sqrt();
    (size > 0.0 && size.is_finite()).then(|| v.map(|x| x / size))
}

fn turned(place: &[f64; 12], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| place[3 + 3 * i + j] * v[j]).sum())
}

fn back(place: &[f64; 12], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|j| (0..3).map(|i| place[3 + 3 * i + j] * v[i]).sum())
}

fn world(place: &[f64; 12], p: [f64; 3]) -> [f64; 3] {
    add([place[0], place[1], place[2]], turned(place, p), 1.0)
}
