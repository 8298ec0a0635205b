//! The moving picture of a run: poses of all bodies, where contacts are, springs and extra drawings, frame by frame.
//!
//! Bodies given by formulas alone have no shape. When no body has one and all move along x (or only turn), the picture is
//! a *scheme*: blocks on rails, one row each, and discs. Otherwise such a body is shown by a dot or a bar at its origin.

mod frames;
mod nets;
mod probe;
mod shapes;
mod solid;
mod space;
mod surfaces;
mod swing;

pub use shapes::{Place, Prim};
pub use space::{ForceTrack, SpaceScene, SpaceTrack};

use std::collections::BTreeMap;

use serde::Serialize;

use crate::expr::{Graph, NodeId, Symbol};
use crate::model::{
    CompiledSystem, Contact, Draw, FeatureRef, ForceKind, Geometry, Model, NormalLaw, Pose, Shape, place,
    poses,
};
use crate::sim::{Sample, Samples};
use crate::system::System;

use super::Run;
use frames::frames;
use probe::Probe;
use shapes::{Bounds, hull, touch, unit};

/// Everything to draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Frame times.
    pub t: Vec<f64>,
    /// +1 when y points up, −1 when gravity points along +y.
    pub up: f64,
    /// Stand-ins instead of shapes; lengths mean nothing.
    pub scheme: bool,
    /// The machine travels far: keep it in the middle.
    pub follow: bool,
    /// Shapes of the ground.
    pub ground: Vec<Prim>,
    /// Bodies.
    pub bodies: Vec<BodyTrack>,
    /// Contacts that have a place.
    pub contacts: Vec<ContactTrack>,
    /// Springs: both ends, frame by frame.
    pub springs: Vec<[Vec<[f64; 2]>; 2]>,
    /// Drawings of the file.
    pub draws: Vec<DrawTrack>,
    /// Everything that ever is in the picture.
    pub bounds: [f64; 4],
    /// The machine around its mean position.
    pub near: [f64; 4],
}

/// One body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BodyTrack {
    /// Name.
    pub name: String,
    /// Pose per frame.
    pub places: Vec<Place>,
    /// Shapes in body axes.
    pub shapes: Vec<Prim>,
    /// Hull of the named points: drawn as a link or plate.
    pub bones: Vec<[f64; 2]>,
}

/// One contact: point and normal (on A) per frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ContactTrack {
    /// Name.
    pub name: String,
    /// Points; NaN when unknown.
    pub at: Vec<[f64; 2]>,
    /// Normals.
    pub normal: Vec<[f64; 2]>,
}

/// A drawing of the file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DrawTrack {
    /// Polyline: points per frame.
    Path(Vec<Vec<[f64; 2]>>),
    /// Circle per frame: x, y, radius.
    Circle(Vec<[f64; 3]>),
}

impl DrawTrack {
    /// Whether it changes during the run.
    pub fn moves(&self) -> bool {
        match self {
            DrawTrack::Path(list) => list.iter().any(|f| *f != list[0]),
            DrawTrack::Circle(list) => list.iter().any(|f| *f != list[0]),
        }
    }
}

impl Run {
    /// The moving picture; `None` when there is nothing to show. A model in space is seen from one corner.
    pub fn scene(&self) -> Option<Scene> {
        if let Some(space) = self.space_scene() {
            return Some(space.flat());
        }
        scene(self.machine.system(), &self.trajectory.samples)
    }
}

fn scene(system: &CompiledSystem, samples: &Samples) -> Option<Scene> {
    let model = system.model();
    let frames = frames(samples);
    let first = frames.first()?;
    if model.is_spatial() || (model.bodies.is_empty() && model.draws.is_empty()) {
        return None;
    }
    let mut graph = model.graph.clone();
    let frames_of = poses(&mut graph, &model.bodies);

    // everything that moves, as roots of one tape
    let mut roots: Vec<NodeId> = Vec::new();
    for pose in &frames_of {
        roots.extend([pose.origin[0], pose.origin[1], pose.angle]);
    }
    let mut springs = Vec::new();
    for force in &model.forces {
        if let ForceKind::Between { a, b, .. } = &force.kind {
            let ends = [*a, *b].map(|r| point_nodes(&mut graph, model, &frames_of, r));
            if let [Some(a), Some(b)] = ends {
                springs.push(roots.len());
                roots.extend([a[0], a[1], b[0], b[1]]);
            }
        }
    }
    let mut draws = Vec::new();
    for draw in &model.draws {
        draws.push(roots.len());
        match draw {
            Draw::Path(points) => roots.extend(points.iter().flatten()),
            Draw::Circle { center, radius } => roots.extend([center[0], center[1], *radius]),
        }
    }
    roots.extend(model.gravity);
    let mut probe = Probe::new(system, &graph, &roots);

    // shapes, at the first frame
    let mut shapes = Shapes { system, graph: &graph, sample: first.sample() };
    let mut out = Scene { up: 1.0, ..Scene::default() };
    out.ground = model.ground.iter().filter_map(|f| shapes.prim(&f.shape)).collect();
    let body_prims: Vec<Vec<Option<Prim>>> =
        model.bodies.iter().map(|b| b.features.iter().map(|f| shapes.prim(&f.shape)).collect()).collect();
    let ground_prims: Vec<Option<Prim>> = model.ground.iter().map(|f| shapes.prim(&f.shape)).collect();
    let centers: Vec<[f64; 2]> = model.bodies.iter().map(|b| shapes.pair(b.center)).collect();
    let masses: Vec<[f64; 2]> = model.bodies.iter().map(|b| shapes.pair([b.mass, b.inertia])).collect();
    for (body, prims) in model.bodies.iter().zip(&body_prims) {
        out.bodies.push(BodyTrack {
            name: body.name.clone(),
            shapes: prims.iter().flatten().cloned().collect(),
            ..BodyTrack::default()
        });
    }
    out.draws = model
        .draws
        .iter()
        .map(|d| match d {
            Draw::Path(_) => DrawTrack::Path(Vec::new()),
            Draw::Circle { .. } => DrawTrack::Circle(Vec::new()),
        })
        .collect();
    out.springs = springs.iter().map(|_| [Vec::new(), Vec::new()]).collect();

    // frame by frame
    for frame in &frames {
        let sample = frame.sample();
        probe.at(&sample);
        out.t.push(sample.t);
        for (k, body) in out.bodies.iter_mut().enumerate() {
            let at = [probe.value(3 * k), probe.value(3 * k + 1)];
            body.places.push(Place { at, angle: probe.value(3 * k + 2) });
        }
        for (track, root) in out.springs.iter_mut().zip(&springs) {
            track[0].push([probe.value(*root), probe.value(root + 1)]);
            track[1].push([probe.value(root + 2), probe.value(root + 3)]);
        }
        for ((track, draw), root) in out.draws.iter_mut().zip(&model.draws).zip(&draws) {
            match (track, draw) {
                (DrawTrack::Path(list), Draw::Path(points)) => list.push(
                    (0..points.len())
                        .map(|k| [probe.value(root + 2 * k), probe.value(root + 2 * k + 1)])
                        .collect(),
                ),
                (DrawTrack::Circle(list), _) => {
                    list.push([probe.value(*root), probe.value(root + 1), probe.value(root + 2)])
                }
                _ => {}
            }
        }
    }
    if probe.value(roots.len() - 2) > 0.0 {
        out.up = -1.0;
    }
    place_contacts(&mut out, system, &body_prims, &ground_prims);
    rails(&mut out, model);
    let joints: Vec<Vec<[f64; 2]>> = (0..model.bodies.len()).map(|k| joints(&out, model, k)).collect();
    stand_ins(&mut out, &masses, &centers, &joints);
    frame_bounds(&mut out);
    Some(out)
}

/// Evaluates constants of shapes.
struct Shapes<'a> {
    system: &'a CompiledSystem,
    graph: &'a Graph,
    sample: Sample<'a>,
}

impl Shapes<'_> {
    fn values(&mut self, nodes: &[NodeId]) -> Vec<f64> {
        let mut probe = Probe::new(self.system, self.graph, nodes);
        probe.at(&self.sample);
        (0..nodes.len()).map(|k| probe.value(k)).collect()
    }

    fn pair(&mut self, nodes: [NodeId; 2]) -> [f64; 2] {
        let v = self.values(&nodes);
        [v[0], v[1]]
    }

    fn prim(&mut self, shape: &Shape) -> Option<Prim> {
        Some(match shape {
            Shape::Point(p) => Prim::Point(self.pair(*p)),
            Shape::Flat { through, normal } => Prim::Flat(self.pair(*through), unit(self.pair(*normal))?),
            Shape::Round { center, radius, hole } => {
                Prim::Round(self.pair(*center), self.values(&[*radius])[0], *hole)
            }
            Shape::Outline { points, closed, .. } => {
                Prim::Path(points.iter().map(|p| self.pair(*p)).collect(), *closed)
            }
            Shape::Space(_) => return None,
            Shape::Curve { point, parameter, range, .. } => {
                let [from, to] = self.pair(*range);
                // the curve's own symbol is a placeholder outside the inputs: give it the free one
                let mut graph = self.graph.clone();
                let sigma = graph.sym(Probe::free_symbol(self.system.model()));
                let map = BTreeMap::from([(Symbol(*parameter), sigma)]);
                let point = point.map(|n| graph.substitute(n, &map));
                let mut probe = Probe::new(self.system, &graph, &point);
                probe.at(&self.sample);
                let steps = 120;
                let at = |k: usize| from + (to - from) * k as f64 / steps as f64;
                let points: Vec<[f64; 2]> = (0..=steps)
                    .map(|k| {
                        probe.with(at(k));
                        [probe.value(0), probe.value(1)]
                    })
                    .filter(|p| p[0].is_finite() && p[1].is_finite())
                    .collect();
                Prim::Path(points, false)
            }
        })
    }
}

/// World position of a point feature as nodes.
fn point_nodes(graph: &mut Graph, model: &Model, poses: &[Pose], r: FeatureRef) -> Option<[NodeId; 2]> {
    let zero = graph.num(0.0);
    let features = r.body.map_or(&model.ground, |b| &model.bodies[b].features);
    let local = match r.feature.map(|f| &features[f].shape) {
        None => [zero, zero],
        Some(Shape::Point(p)) => *p,
        Some(Shape::Round { center, .. }) => *center,
        Some(_) => return None,
    };
    Some(match r.body {
        None => local,
        Some(b) => place(graph, &poses[b], local),
    })
}

/// Where contacts given by shapes are.
fn place_contacts(
    out: &mut Scene,
    system: &CompiledSystem,
    bodies: &[Vec<Option<Prim>>],
    ground: &[Option<Prim>],
) {
    let model = system.model();
    let of_system = |contact: &Contact| -> Vec<String> {
        let k = model.contacts.iter().position(|c| std::ptr::eq(c, contact)).unwrap_or(0);
        system.contacts_of(k).map(|c| system.contacts()[c].name.clone()).collect()
    };
    let origin = Some(Prim::Point([0.0, 0.0]));
    let prim = |r: FeatureRef| -> Option<Prim> {
        match (r.body, r.feature) {
            (_, None) => origin.clone(),
            (None, Some(f)) => ground.get(f).cloned().flatten(),
            (Some(b), Some(f)) => bodies.get(b).and_then(|list| list.get(f)).cloned().flatten(),
        }
    };
    for contact in &model.contacts {
        let (a, b, pin) = match &contact.geometry {
            Geometry::Between(a, b) => (*a, *b, false),
            Geometry::Pin(a, b) => (*a, *b, true),
            _ => continue,
        };
        let (Some(shape_a), Some(shape_b)) = (prim(a), prim(b)) else { continue };
        // the corners of an outline are contacts of their own
        let parts = of_system(contact);
        if let Prim::Path(corners, _) = &shape_a
            && !pin
            && corners.len() == parts.len()
            && !matches!(shape_b, Prim::Path(..))
        {
            for (name, corner) in parts.into_iter().zip(corners) {
                let mut track = ContactTrack { name, ..ContactTrack::default() };
                for k in 0..out.t.len() {
                    let at = |r: FeatureRef| r.body.map_or(Place::default(), |b| out.bodies[b].places[k]);
                    let found = touch(&Prim::Point(*corner), &at(a), &shape_b, &at(b));
                    let (p, n) = found.unwrap_or(([f64::NAN; 2], [0.0, 0.0]));
                    track.at.push(p);
                    track.normal.push(n);
                }
                out.contacts.push(track);
            }
            continue;
        }
        let mut track = ContactTrack { name: contact.name.clone(), ..ContactTrack::default() };
        for k in 0..out.t.len() {
            let at = |r: FeatureRef| r.body.map_or(Place::default(), |b| out.bodies[b].places[k]);
            let found = match (&shape_a, pin) {
                (Prim::Point(p), true) => Some((at(a).point(*p), [0.0, 0.0])),
                _ => touch(&shape_a, &at(a), &shape_b, &at(b)),
            };
            let (p, n) = found.unwrap_or(([f64::NAN; 2], [0.0, 0.0]));
            track.at.push(p);
            track.normal.push(n);
        }
        if track.at.iter().any(|p| p[0].is_finite()) {
            out.contacts.push(track);
        }
    }
}

/// Where the bodies that are placed on body `k` are joined to it, in its axes: points that stay in place.
fn joints(out: &Scene, model: &Model, k: usize) -> Vec<[f64; 2]> {
    let last = out.t.len() - 1;
    let local = |j: usize, frame: usize| {
        let (parent, child) = (&out.bodies[k].places[frame], &out.bodies[j].places[frame]);
        let back = Place { at: [0.0, 0.0], angle: -parent.angle };
        back.point([child.at[0] - parent.at[0], child.at[1] - parent.at[1]])
    };
    let stays = |j: &usize| {
        let at = local(*j, 0);
        let size = at[0].abs().max(at[1].abs());
        [last / 3, 2 * last / 3, last].iter().all(|f| {
            let there = local(*j, *f);
            (there[0] - at[0]).abs().max((there[1] - at[1]).abs()) <= 1e-9 * size
        })
    };
    let children = (0..model.bodies.len()).filter(|j| model.bodies[*j].on == Some(k));
    children.filter(stays).map(|j| local(j, 0)).filter(|p| *p != [0.0, 0.0]).collect()
}

/// Lines of the ground that only guide (bilateral contacts) are drawn where something moves along them.
fn rails(out: &mut Scene, model: &Model) {
    let Scene { ground, contacts, bodies, .. } = out;
    let mut size = Bounds::EMPTY;
    bodies.iter().flat_map(|b| &b.places).for_each(|p| size.add(p.at, 0.0));
    let margin = 0.08 * size.size();
    let mut place = 0;
    for (f, feature) in model.ground.iter().enumerate() {
        if !matches!(feature.shape, Shape::Flat { .. }) {
            place += 1;
            continue;
        }
        let on = |r: &FeatureRef| r.body.is_none() && r.feature == Some(f);
        let used: Vec<_> = model
            .contacts
            .iter()
            .filter(|c| matches!(&c.geometry, Geometry::Between(a, b) if on(a) || on(b)))
            .collect();
        let guide = !used.is_empty() && used.iter().all(|c| matches!(c.law, NormalLaw::Bilateral));
        if let (true, Some(Prim::Flat(p, n))) = (guide, ground.get(place).cloned()) {
            let along = |q: &[f64; 2]| (q[0] - p[0]) * n[1] - (q[1] - p[1]) * n[0];
            let tracks = contacts.iter().filter(|t| used.iter().any(|c| c.name == t.name));
            let list: Vec<f64> =
                tracks.flat_map(|t| t.at.iter().map(along)).filter(|x| x.is_finite()).collect();
            let ends = [
                list.iter().copied().fold(f64::INFINITY, f64::min),
                list.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ];
            if ends[1] >= ends[0] {
                let at = |s: f64| [p[0] + s * n[1], p[1] - s * n[0]];
                ground[place] = Prim::Path(vec![at(ends[0] - margin), at(ends[1] + margin)], false);
            }
        }
        place += 1;
    }
}

/// Something visible for bodies without shapes; links between named points.
fn stand_ins(out: &mut Scene, masses: &[[f64; 2]], centers: &[[f64; 2]], joints: &[Vec<[f64; 2]>]) {
    let bare = out.bodies.iter().all(|b| b.shapes.is_empty());
    let flat = out.bodies.iter().all(|b| b.places.iter().all(|p| p.at[1] == 0.0));
    out.scheme = bare && flat && out.contacts.is_empty() && out.draws.is_empty() && out.springs.is_empty();
    if out.scheme {
        let mut travel = Bounds::EMPTY;
        out.bodies.iter().flat_map(|b| &b.places).for_each(|p| travel.add([p.at[0], 0.0], 0.0));
        let step = if travel.size() > 0.0 { 0.16 * travel.size() } else { 1.0 };
        let count = out.bodies.len();
        let slides = |b: &BodyTrack| b.places.iter().any(|p| p.at[0] != b.places[0].at[0]);
        let (mut row, mut turned) = (0, 0);
        for (k, body) in out.bodies.iter_mut().enumerate() {
            let rotor = masses[k][0] == 0.0 && masses[k][1] != 0.0 && !slides(body);
            if rotor {
                let x = turned as f64 * 1.35 * step;
                turned += 1;
                body.shapes = vec![Prim::Disc(step)];
                body.places.iter_mut().for_each(|p| p.at[0] += x);
            } else {
                body.shapes = vec![Prim::Block(if count > 4 { 0.8 } else { 0.6 } * step, 0.45 * step)];
                body.places.iter_mut().for_each(|p| {
                    p.at[1] = row as f64 * 0.46 * step;
                    p.angle = 0.0;
                });
                row += 1;
            }
        }
        if row > 0 {
            out.ground.push(Prim::Flat([0.0, -0.225 * step], [0.0, 1.0]));
            out.up = 1.0;
        }
        return;
    }
    let mut whole = Bounds::EMPTY;
    out.bodies.iter().flat_map(|b| &b.places).for_each(|p| whole.add(p.at, 0.0));
    for (k, body) in out.bodies.iter_mut().enumerate() {
        let solid =
            body.shapes.iter().any(|s| matches!(s, Prim::Round(..) | Prim::Path(..) | Prim::Flat(..)));
        let mut points: Vec<[f64; 2]> =
            body.shapes.iter().filter_map(|s| if let Prim::Point(p) = s { Some(*p) } else { None }).collect();
        points.extend(&joints[k]);
        if !points.is_empty() && !solid {
            points.push([0.0, 0.0]);
            if centers[k][0].is_finite() && centers[k][1].is_finite() {
                points.push(centers[k]);
            }
            body.bones = hull(&points);
        }
        if body.shapes.is_empty() && !out.draws.is_empty() {
            continue; // the file draws it itself
        }
        if body.shapes.is_empty() && body.bones.len() < 2 {
            let turns = body.places.iter().any(|p| p.angle != body.places[0].angle) || masses[k][1] != 0.0;
            body.shapes.push(if turns { Prim::Bar(0.2 * whole.size()) } else { Prim::Dot });
        }
    }
}

/// Bounds of all frames, and of the machine around its mean position.
fn frame_bounds(out: &mut Scene) {
    let (mut all, mut near) = (Bounds::EMPTY, Bounds::EMPTY);
    let count = out.bodies.len().max(1) as f64;
    // what stands still is surroundings, not machine
    let moves: Vec<bool> = out.draws.iter().map(DrawTrack::moves).collect();
    for k in 0..out.t.len() {
        let mut middle = [0.0, 0.0];
        for body in &out.bodies {
            middle[0] += body.places[k].at[0] / count;
            middle[1] += body.places[k].at[1] / count;
        }
        let mut add = |p: [f64; 2], r: f64| {
            all.add(p, r);
            near.add([p[0] - middle[0], p[1] - middle[1]], r);
        };
        for body in &out.bodies {
            let at = &body.places[k];
            add(at.at, 0.0);
            body.bones.iter().for_each(|p| add(at.point(*p), 0.0));
            for shape in &body.shapes {
                match shape {
                    Prim::Point(p) => add(at.point(*p), 0.0),
                    Prim::Round(c, r, _) => add(at.point(*c), *r),
                    Prim::Path(points, _) => points.iter().for_each(|p| add(at.point(*p), 0.0)),
                    Prim::Block(w, h) => add(at.at, 0.5 * w.max(*h)),
                    Prim::Disc(d) | Prim::Bar(d) => add(at.at, 0.5 * d),
                    Prim::Flat(..) | Prim::Dot => {}
                }
            }
        }
        for spring in &out.springs {
            all.add(spring[0][k], 0.0);
            all.add(spring[1][k], 0.0);
        }
        for (draw, machine) in out.draws.iter().zip(&moves) {
            let mut add = |p: [f64; 2], r: f64| {
                all.add(p, r);
                if *machine {
                    near.add([p[0] - middle[0], p[1] - middle[1]], r);
                }
            };
            match draw {
                DrawTrack::Path(list) => list[k].iter().for_each(|p| add(*p, 0.0)),
                DrawTrack::Circle(list) => add([list[k][0], list[k][1]], list[k][2]),
            }
        }
    }
    for shape in &out.ground {
        match shape {
            Prim::Point(p) => all.add(*p, 0.0),
            Prim::Round(c, r, _) => all.add(*c, *r),
            Prim::Path(points, _) => points.iter().for_each(|p| all.add(*p, 0.0)),
            _ => {}
        }
    }
    let (all, near) = (all.or_unit(), near.or_unit());
    // a file that draws its machine wants it seen
    let far = if moves.contains(&true) { 4.0 } else { 12.0 };
    out.follow = !out.scheme && near.size() > 0.0 && all.size() > far * near.size();
    out.bounds = all.0;
    out.near = near.0;
}
