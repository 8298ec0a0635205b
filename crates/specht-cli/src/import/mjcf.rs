//! MJCF: the mechanical part of MuJoCo's scenes. Bodies, joints, masses from geoms, planes, pins and couplings; what is left out is named.

use super::angles::{Angles, towards};
use super::frames;
use super::masses::Asset;
use super::turn::{self, Matrix, NONE};
use super::xml::Element;
use super::{Frame, Given, Joint, Kind, Pin, Plane, Robot, Shape, Touch, Turn};
use std::collections::BTreeMap;

pub(super) struct Reader<'a> {
    pub(super) robot: Robot,
    pub(super) given: Given,
    /// Attributes of classes: (class, element) → attributes.
    defaults: BTreeMap<(String, String), Vec<(String, String)>>,
    pub(super) angles: Angles,
    /// Masses come from: elements `inertial` where there are any (`None`), from geoms alone, or never from geoms.
    pub(super) from_geoms: Option<bool>,
    /// First and last group of the geoms that weigh.
    pub(super) groups: [f64; 2],
    bodies: BTreeMap<&'a str, usize>,
    /// Meshes by their names.
    pub(super) meshes: BTreeMap<String, Asset>,
    /// The bytes of a file of a mesh.
    pub(super) bytes: Bytes<'a>,
    /// Names of coordinates by those of their joints.
    names: BTreeMap<String, String>,
}

/// What gives the bytes of a file of a mesh.
pub type Bytes<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Read a `<mujoco>`; `load` gives the text of a file that it includes, `bytes` a mesh.
pub fn read(
    mut root: Element,
    load: &dyn Fn(&str) -> Result<String, String>,
    bytes: Bytes<'_>,
) -> Result<Robot, String> {
    frames::include(&mut root, load, 0)?;
    let word = |key: &str, default: &str| {
        let found = root.all("compiler").filter_map(|c| c.get(key)).last();
        found.unwrap_or(default).to_string()
    };
    let angles = Angles { degrees: word("angle", "degree") == "degree", order: word("eulerseq", "xyz") };
    frames::flatten(&mut root, &|e| angles.turn(e))?;
    whole(&root, angles, bytes)
}

fn whole<'a>(root: &'a Element, angles: Angles, bytes: Bytes<'a>) -> Result<Robot, String> {
    let attribute =
        |element: &str, key: &str| root.all(element).filter_map(|c| c.get(key)).last().map(str::to_string);
    let word = |key: &str, default: &str| attribute("compiler", key).unwrap_or_else(|| default.into());
    let mut gravity = [0.0, 0.0, -9.81];
    let mut left_out = Vec::new();
    for option in root.all("option") {
        for key in ["density", "viscosity"] {
            if option.number(key)?.is_some_and(|x| x != 0.0) {
                left_out.push(format!("`{key}` of <option>: the drag of the medium around the bodies"));
            }
        }
        gravity = option.triple("gravity")?.unwrap_or(gravity);
        if option.all("flag").any(|f| f.get("gravity") == Some("disable")) {
            gravity = [0.0; 3];
        }
    }
    let mut reader = Reader {
        robot: Robot {
            name: root.get("model").unwrap_or("scene").into(),
            gravity,
            left_out,
            ..Robot::default()
        },
        given: Given::default(),
        defaults: BTreeMap::new(),
        angles,
        from_geoms: match word("inertiafromgeom", "auto").as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        groups: match attribute("compiler", "inertiagrouprange")
            .map(|t| t.split_whitespace().filter_map(|x| x.parse().ok()).collect::<Vec<f64>>())
        {
            Some(list) if list.len() == 2 => [list[0], list[1]],
            _ => [f64::NEG_INFINITY, f64::INFINITY],
        },
        bodies: BTreeMap::new(),
        meshes: BTreeMap::new(),
        bytes,
        names: BTreeMap::new(),
    };
    if word("coordinate", "local") != "local" {
        return Err(
            "coordinates of this scene are global; MuJoCo itself reads local ones only, save it again there"
                .into(),
        );
    }
    for list in root.all("default") {
        reader.classes(list, list.get("class").unwrap_or("main"), &BTreeMap::new());
    }
    reader.assets(root, &word("meshdir", &word("assetdir", "")))?;
    let worlds: Vec<&Element> = root.all("worldbody").collect();
    if worlds.is_empty() {
        return Err("this scene has no <worldbody>".into());
    }
    // coordinates have the names of their joints: they come first
    worlds.iter().for_each(|world| reader.name_joints(world));
    for world in worlds {
        reader.geoms(world, None, "main")?;
        for body in world.all("body") {
            reader.body(body, None, "main")?;
        }
    }
    if let Some(total) = attribute("compiler", "settotalmass").and_then(|t| t.parse::<f64>().ok()) {
        reader.scale_masses(total);
    }
    for key in ["boundmass", "boundinertia", "balanceinertia"] {
        if attribute("compiler", key).is_some_and(|v| v != "0" && v != "false") {
            reader.robot.left_out.push(format!("`{key}` of <compiler>: masses are as written"));
        }
    }
    reader.equalities(root)?;
    reader.drives(root)?;
    for (word, what) in [
        ("tendon", "tendons"),
        ("sensor", "sensors"),
        ("keyframe", "key frames"),
        ("contact", "pairs and exclusions of contacts"),
    ] {
        let count: usize = root.all(word).map(|e| e.children.len()).sum();
        if count > 0 {
            reader.robot.left_out.push(format!("{count} {what}"));
        }
    }
    Ok(reader.robot)
}

impl<'a> Reader<'a> {
    /// Attributes of classes, with those of the class around them.
    fn classes(&mut self, list: &Element, name: &str, around: &BTreeMap<String, Vec<(String, String)>>) {
        let mut own = around.clone();
        for element in list.children.iter().filter(|e| e.name != "default") {
            let to = own.entry(element.name.clone()).or_default();
            for (key, value) in &element.attributes {
                to.retain(|(k, _)| k != key);
                to.push((key.clone(), value.clone()));
            }
        }
        for (element, attributes) in &own {
            self.defaults.insert((name.into(), element.clone()), attributes.clone());
        }
        for inner in list.all("default") {
            self.classes(inner, inner.get("class").unwrap_or("main"), &own);
        }
    }

    /// Names of the coordinates of all joints inside.
    fn name_joints(&mut self, body: &Element) {
        for e in &body.children {
            match (e.name.as_str(), e.get("name")) {
                ("joint", Some(name)) if !matches!(e.get("type"), Some("free" | "ball")) => {
                    let given = self.given.coordinate(name);
                    self.names.insert(name.into(), given);
                }
                ("body", _) => self.name_joints(e),
                _ => {}
            }
        }
    }

    /// The element with the attributes of its class.
    pub(super) fn full(&self, element: &Element, class: &str) -> Element {
        let class = element.get("class").unwrap_or(class);
        let mut out = element.clone();
        if let Some(list) = self.defaults.get(&(class.to_string(), element.name.clone())) {
            for (key, value) in list {
                if out.get(key).is_none() {
                    out.attributes.push((key.clone(), value.clone()));
                }
            }
        }
        out
    }

    fn body(&mut self, body: &'a Element, on: Option<usize>, class: &str) -> Result<(), String> {
        let class = body.get("childclass").unwrap_or(class).to_string();
        let position = body.triple("pos")?.unwrap_or_default();
        let turn = self.angles.turn(body)?;
        let count = self.robot.frames.len() + 1;
        let label = body.get("name").map_or(format!("body{count}"), str::to_string);
        let mut frame = Frame { on, position, turns: turn::turns(turn), ..Frame::default() };
        // the turn of what stands there already, for slides behind it
        let mut so_far = turn;
        let mut moved = false;
        let joints: Vec<Element> = (body.children.iter())
            .filter(|c| c.name == "joint" || c.name == "freejoint")
            .map(|j| self.full(j, &class))
            .collect();
        for (k, joint) in joints.iter().enumerate() {
            let source = joint.get("name").map_or(format!("{label}_joint{}", k + 1), str::to_string);
            let kind = if joint.name == "freejoint" { "free" } else { joint.get("type").unwrap_or("hinge") };
            let at = joint.triple("pos")?.unwrap_or_default();
            let axis = joint.triple("axis")?.unwrap_or([0.0, 0.0, 1.0]);
            let unit = turn::unit(axis).ok_or_else(|| {
                format!("line {}: the axis of joint `{source}` has no direction", joint.line)
            })?;
            match kind {
                "free" => {
                    self.free(&mut frame, &source);
                    continue;
                }
                "ball" => {
                    if so_far != NONE {
                        self.next(&mut frame, &label);
                        so_far = NONE;
                    }
                    self.shift(&mut frame, at, so_far, &label);
                    frame.turns.push(Turn::Free);
                    // the body itself turns where its origin is the centre of the joint
                    if at != [0.0; 3] || k + 1 < joints.len() {
                        self.next(&mut frame, &label);
                        frame.position = at.map(|x| -x);
                    }
                    self.robot.left_out.push(format!(
                        "parameters of the ball joint `{source}` (body `{label}` turns freely)"
                    ));
                    moved = true;
                    so_far = NONE;
                    continue;
                }
                _ => {}
            }
            let number = self.robot.joints.len();
            let entry = self.joint(joint, &source, kind == "slide")?;
            let reference = entry.reference;
            self.robot.joints.push(entry);
            match kind {
                "slide" => {
                    if moved {
                        self.next(&mut frame, &label);
                        so_far = NONE;
                        moved = false;
                    }
                    let direction = turn::times(so_far, unit);
                    (0..3).for_each(|k| frame.position[k] -= reference * direction[k]);
                    frame.slides.push((number, direction));
                }
                "hinge" => {
                    self.shift(&mut frame, at, if moved { NONE } else { so_far }, &label);
                    if at != [0.0; 3] && moved {
                        so_far = NONE;
                    }
                    frame.turns.extend(turn::joint_from(number, unit, reference).unwrap_or_default());
                    moved = true;
                    if at != [0.0; 3] {
                        self.next(&mut frame, &label);
                        frame.position = at.map(|x| -x);
                        so_far = NONE;
                        moved = false;
                    }
                }
                other => {
                    return Err(format!(
                        "line {}: joint `{source}` is of the unknown type `{other}`",
                        joint.line
                    ));
                }
            }
        }
        frame.name = self.given.other(&label, "_body");
        frame.mass = self.mass(body, &class, &label)?;
        self.carry_mass(&mut frame);
        self.robot.frames.push(frame);
        let here = self.robot.frames.len() - 1;
        if let Some(name) = body.get("name") {
            self.bodies.insert(name, here);
        }
        self.geoms(body, Some(here), &class)?;
        for inner in body.all("body") {
            self.body(inner, Some(here), &class)?;
        }
        Ok(())
    }

    /// What turns freely bears the mass: that of a body which only stands beside the centre of its ball joint goes there.
    fn carry_mass(&mut self, frame: &mut Frame) {
        let Some(carrier) = frame.on.map(|k| &mut self.robot.frames[k]) else { return };
        let stands = frame.slides.is_empty() && frame.turns.is_empty();
        // only the centre of a ball joint is a free frame without a mass of its own
        if !(stands && carrier.mass.is_none() && carrier.turns.contains(&Turn::Free)) {
            return;
        }
        carrier.mass = frame.mass.take().map(|(mass, center, inertia)| {
            (mass, std::array::from_fn(|k| frame.position[k] + center[k]), inertia)
        });
    }

    /// Move to the anchor of a joint: `at` in the axes that are turned by `so_far`.
    fn shift(&mut self, frame: &mut Frame, at: [f64; 3], so_far: Matrix, label: &str) {
        if at == [0.0; 3] {
            return;
        }
        if frame.turns.iter().any(|t| !matches!(t, Turn::Constant(..))) {
            self.next(frame, label);
            frame.position = at;
            return;
        }
        let more = turn::times(so_far, at);
        (0..3).for_each(|k| frame.position[k] += more[k]);
    }

    /// The frame is done; the next stands on it.
    fn next(&mut self, frame: &mut Frame, label: &str) {
        frame.name = self.given.other(&format!("{label}_frame"), "_");
        self.robot.frames.push(std::mem::take(frame));
        frame.on = Some(self.robot.frames.len() - 1);
    }

    fn free(&mut self, frame: &mut Frame, source: &str) {
        for (k, letter) in ["x", "y", "z"].iter().enumerate() {
            let source = format!("{source}_{letter}");
            let mut direction = [0.0; 3];
            direction[k] = 1.0;
            frame.slides.push((self.robot.joints.len(), direction));
            let start = frame.position[k];
            self.robot.joints.push(Joint {
                name: self.given.coordinate(&source),
                source,
                start,
                ..Joint::default()
            });
        }
        frame.position = [0.0; 3];
        frame.turns.push(Turn::Free);
    }

    fn joint(&mut self, e: &Element, source: &str, slides: bool) -> Result<Joint, String> {
        let degrees = self.angles.degrees && !slides;
        let scale = |x: f64| if degrees { x.to_radians() } else { x };
        let range = e.numbers("range")?;
        let limited = match e.get("limited") {
            Some("true") => true,
            Some("false") => false,
            _ => range.is_some(),
        };
        let limits = match (limited, range.as_deref()) {
            (true, Some(&[low, high])) => Some([scale(low), scale(high)]),
            _ => None,
        };
        let reference = scale(e.number("ref")?.unwrap_or(0.0));
        let spring = e.number("stiffness")?.filter(|c| *c > 0.0);
        let rest = scale(e.number("springref")?.unwrap_or(0.0));
        Ok(Joint {
            name: self.names.get(source).cloned().unwrap_or_else(|| self.given.coordinate(source)),
            source: source.into(),
            start: limits.map_or(reference, |[low, high]| reference.clamp(low, high.max(low))),
            reference,
            limits,
            damping: e.number("damping")?.unwrap_or(0.0),
            friction: e.number("frictionloss")?.unwrap_or(0.0),
            spring: spring.map(|c| (c, rest)),
            armature: e.number("armature")?.unwrap_or(0.0),
        })
    }

    /// Shape of a geom with its place; `None` for planes and what is unknown.
    pub(super) fn shape(&self, geom: &Element) -> Result<Option<(Kind, [f64; 3], Matrix)>, String> {
        let size = geom.numbers("size")?.unwrap_or_default();
        let at = |k: usize| size.get(k).copied().unwrap_or(0.0);
        let mut center = geom.triple("pos")?.unwrap_or_default();
        let mut turn = self.angles.turn(geom)?;
        let (mut half, mut thick) = (at(1), [at(0), at(1), at(2)]);
        if let Some(list) = geom.numbers("fromto")? {
            let bad = || format!("line {}: `fromto` has six numbers", geom.line);
            let [a, b, c, d, e, f] = <[f64; 6]>::try_from(list).map_err(|_| bad())?;
            let way = [d - a, e - b, f - c];
            center = [0.5 * (a + d), 0.5 * (b + e), 0.5 * (c + f)];
            turn = towards(way).ok_or_else(bad)?;
            half = 0.5 * way.iter().map(|x| x * x).sum::<f64>().sqrt();
            // boxes and ellipsoids are as thick as wide then
            thick = [at(0), at(0), half];
        }
        let asset = self.asset(geom)?;
        let kind = match geom.get("type").unwrap_or("sphere") {
            // a shape that is fitted to a mesh
            kind if asset.is_some() && kind != "mesh" => return Ok(None),
            "sphere" => Kind::Ball(at(0)),
            "box" => Kind::Box(thick),
            "ellipsoid" => Kind::Ellipsoid(thick),
            "capsule" => Kind::Capsule(half, at(0)),
            "cylinder" => Kind::Cylinder(half, at(0)),
            "mesh" => match asset.and_then(Asset::even) {
                Some(scale) => Kind::Mesh(scale),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some((kind, center, turn)))
    }

    /// Shapes of a body; planes of the world.
    fn geoms(&mut self, body: &Element, on: Option<usize>, class: &str) -> Result<(), String> {
        for (k, geom) in body.all("geom").enumerate() {
            let geom = self.full(geom, class);
            let name = geom.get("name").map_or(format!("geom{}", k + 1), str::to_string);
            let kind = geom.get("type").unwrap_or("sphere").to_string();
            let group = |key: &str| -> Result<u32, String> {
                Ok(geom.number(key)?.map_or(1, |x| x.clamp(0.0, f64::from(u32::MAX)) as u32))
            };
            let touch = Touch {
                friction: geom.numbers("friction")?.and_then(|f| f.first().copied()).unwrap_or(1.0),
                groups: [group("contype")?, group("conaffinity")?],
            };
            let Some(at) = on else {
                if kind == "plane" {
                    let turn = self.angles.turn(&geom)?;
                    let normal = [turn[0][2], turn[1][2], turn[2][2]];
                    let name = self.given.other(&name, "_plane");
                    let through = geom.triple("pos")?.unwrap_or_default();
                    self.robot.planes.push(Plane { name, through, normal, touch });
                } else {
                    self.robot.left_out.push(format!("the fixed geom `{name}` ({kind})"));
                }
                continue;
            };
            match self.shape(&geom)? {
                Some((kind, center, turn)) => {
                    let name = super::write::feature(&name, k);
                    let file = self.asset(&geom)?.and_then(|m| m.file.clone()).unwrap_or_default();
                    let shape = |center| Shape {
                        name: name.clone(),
                        kind,
                        center,
                        axis: super::UP,
                        file: file.clone(),
                        touch,
                    };
                    let apart = matches!(kind, Kind::Mesh(_)) && center != [0.0; 3];
                    if turn == NONE && !apart || matches!(kind, Kind::Ball(_)) {
                        self.robot.frames[at].shapes.push(shape(center));
                    } else {
                        // a frame of its own in the axes of the shape
                        let label = format!("{}_{name}", self.robot.frames[at].name);
                        self.robot.frames.push(Frame {
                            name: self.given.other(&label, "_frame"),
                            on: Some(at),
                            position: center,
                            turns: turn::turns(turn),
                            shapes: vec![shape([0.0; 3])],
                            ..Frame::default()
                        });
                    }
                }
                None => self.robot.left_out.push(format!("the geom `{name}` ({kind}) of a body")),
            }
        }
        Ok(())
    }

    fn equalities(&mut self, root: &Element) -> Result<(), String> {
        for (k, e) in root.all("equality").flat_map(|e| &e.children).enumerate() {
            let find = |key: &str| -> Result<Option<usize>, String> {
                let Some(name) = e.get(key) else { return Ok(None) };
                let found = self.bodies.get(name).copied();
                found.map(Some).ok_or_else(|| format!("line {}: there is no body `{name}`", e.line))
            };
            match e.name.as_str() {
                "connect" if e.get("body1").is_some() => {
                    let (first, second) = (find("body1")?, find("body2")?);
                    let anchor = e.triple("anchor")?.unwrap_or_default();
                    let (Some(first), name) =
                        (first, e.get("name").map_or(format!("connect{}", k + 1), str::to_string))
                    else {
                        continue;
                    };
                    // the point of the other body is the one that is there in the reference position
                    let place = self.at_start(Some(first), anchor);
                    let there = self.back(second, place);
                    let name = self.given.other(&name, "_pin");
                    self.robot.pins.push(Pin { name, first: (first, anchor), second: (second, there) });
                }
                "joint" => {
                    let joint = |key: &str| {
                        e.get(key).and_then(|n| self.robot.joints.iter().position(|j| j.source == n))
                    };
                    let Some(first) = joint("joint1") else { continue };
                    let poly = e.numbers("polycoef")?.unwrap_or(vec![0.0, 1.0]);
                    let second = joint("joint2");
                    self.robot.couplings.push((first, second, poly));
                }
                other => self.robot.left_out.push(format!("the equality <{other}>")),
            }
        }
        Ok(())
    }

    /// World position of a point of a frame when all coordinates are zero.
    fn at_start(&self, frame: Option<usize>, point: [f64; 3]) -> [f64; 3] {
        let Some(k) = frame else { return point };
        let frame = &self.robot.frames[k];
        let turned = turn::times(self.constant(k), point);
        let free = frame.turns.contains(&Turn::Free);
        let start = |i: usize| {
            let slides = frame.slides.iter().filter(|_| free);
            slides.map(|(j, d)| self.robot.joints[*j].start * d[i]).sum::<f64>()
        };
        self.at_start(frame.on, std::array::from_fn(|i| frame.position[i] + start(i) + turned[i]))
    }

    /// The point of a frame that is there.
    fn back(&self, frame: Option<usize>, place: [f64; 3]) -> [f64; 3] {
        let origin = self.at_start(frame, [0.0; 3]);
        let axes: Matrix = std::array::from_fn(|j| {
            let mut unit = [0.0; 3];
            unit[j] = 1.0;
            let end = self.at_start(frame, unit);
            std::array::from_fn(|i| end[i] - origin[i])
        });
        turn::times(axes, std::array::from_fn(|i| place[i] - origin[i]))
    }

    fn constant(&self, k: usize) -> Matrix {
        self.robot.frames[k].turns.iter().fold(NONE, |m, t| match t {
            Turn::Constant(axis, angle) => turn::product(m, turn::about(*axis, *angle)),
            _ => m,
        })
    }
}
