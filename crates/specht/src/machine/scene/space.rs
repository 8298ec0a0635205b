//! The moving picture of a model in space: poses of the bodies, lines of their shapes in body axes, contact points with their forces.
//!
//! Whoever draws it chooses the direction of view; [`SpaceScene::flat`] is the picture from one corner.

use serde::Serialize;

use crate::model::{CompiledSystem, FeatureRef, Geometry, Shape, SpaceShape};
use crate::sim::Samples;
use crate::system::{Discrete, State, System};

use super::frames::frames;
use super::solid::{Solid, across, add, cross, dot, unit};
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
    /// Polygons and balls of the ground's shapes that have a surface.
    pub ground_faces: Vec<Vec<[f64; 3]>>,
    /// Centre and radius.
    pub ground_balls: Vec<([f64; 3], f64)>,
    /// Planes of the ground, on which shadows fall: a point and the normal.
    pub planes: Vec<[[f64; 3]; 2]>,
    /// Contacts and pins.
    pub contacts: Vec<ForceTrack>,
    /// Middle of the picture.
    pub middle: [f64; 3],
    /// The largest of `half`.
    pub size: f64,
    /// Half of what it shows, along the axes.
    pub half: [f64; 3],
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
    let extended = measure(&mut out, &of_bodies, &of_ground);
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
    for solid in of_ground.iter().flatten() {
        out.ground.extend(solid.lines(size));
        if solid.filled() {
            out.ground_faces.extend(solid.faces());
            out.ground_balls.extend(solid.balls());
        }
    }
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
        (out.size, out.half) = (0.2, [0.2; 3]);
    }
    Some(out)
}

/// Middle and size of everything that moves, and of the ground near it; false when nothing has an extent.
fn measure(out: &mut SpaceScene, bodies: &[Vec<Option<Solid>>], ground: &[Option<Solid>]) -> bool {
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
    for (track, solids) in out.bodies.iter().zip(bodies) {
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
    let half = |low: &[f64; 3], high: &[f64; 3]| std::array::from_fn(|k| 0.5 * (high[k] - low[k]));
    let largest = |half: [f64; 3]| half.into_iter().fold(0.0, f64::max);
    // what lies further off than half of the motion's size is cut
    let margin = largest(half(&low, &high));
    let (near, far) = (low.map(|x| x - margin), high.map(|x| x + margin));
    let points = ground.iter().flatten().flat_map(|s| s.lines(0.0)).flatten();
    for p in points.filter(|p| p.iter().all(|x| x.is_finite())) {
        for k in 0..3 {
            low[k] = low[k].min(p[k].max(near[k]));
            high[k] = high[k].max(p[k].min(far[k]));
        }
    }
    out.middle = std::array::from_fn(|k| 0.5 * (low[k] + high[k]));
    out.half = half(&low, &high);
    out.size = largest(out.half);
    let extended = out.size > 0.0;
    if !extended {
        (out.size, out.half) = (1.0, [1.0; 3]);
    }
    extended
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

fn turned(place: &[f64; 12], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|j| place[3 + 3 * i + j] * v[j]).sum())
}

fn back(place: &[f64; 12], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|j| (0..3).map(|i| place[3 + 3 * i + j] * v[i]).sum())
}

fn world(place: &[f64; 12], p: [f64; 3]) -> [f64; 3] {
    add([place[0], place[1], place[2]], turned(place, p), 1.0)
}
