//! MJCF: the mechanical part of MuJoCo's scenes. Bodies, joints, masses from geoms, planes, pins and couplings; what is left out is named.

use super::angles::{Angles, towards};
use super::frames;
use super::solids::solid;
use super::turn::{self, Matrix, NONE};
use super::xml::Element;
use super::{Frame, Given, Joint, Kind, Pin, Plane, Robot, Shape, Touch, Turn};
use std::collections::BTreeMap;

/// Density of geoms without one, kg/m³.
const DENSITY: f64 = 1000.0;

pub(super) struct Reader<'a> {
    pub(super) robot: Robot,
    pub(super) given: Given,
    /// Attributes of classes: (class, element) → attributes.
    defaults: BTreeMap<(String, String), Vec<(String, String)>>,
    angles: Angles,
    /// Masses come from: elements `inertial` where there are any (`None`), from geoms alone, or never from geoms.
    from_geoms: Option<bool>,
    bodies: BTreeMap<&'a str, usize>,
    /// File and scale of meshes by their names.
    meshes: BTreeMap<String, (String, [f64; 3])>,
    /// Names of coordinates by those of their joints.
    names: BTreeMap<String, String>,
}

/// Read a `<mujoco>`; `load` gives the text of a file that it includes.
pub fn read(mut root: Element, load: &dyn Fn(&str) -> Result<String, String>) -> Result<Robot, String> {
    frames::include(&mut root, load, 0)?;
    let word = |key: &str, default: &str| {
        let found = root.all("compiler").filter_map(|c| c.get(key)).last();
        found.unwrap_or(default).to_string()
    };
    let angles = Angles { degrees: word("angle", "degree") == "degree", order: word("eulerseq", "xyz") };
    frames::flatten(&mut root, &|e| angles.turn(e))?;
    whole(&root, angles)
}

/// Files of meshes, by their names: those given, or those of the files.
fn meshes(root: &Element, folder: &str) -> Result<BTreeMap<String, (String, [f64; 3])>, String> {
    let mut out = BTreeMap::new();
    for mesh in root.all("asset").flat_map(|a| a.all("mesh")) {
        let Some(file) = mesh.get("file") else { continue };
        let own = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let name = mesh.get("name").unwrap_or(own.rsplit_once('.').map_or(own, |x| x.0));
        let path =
            if folder.is_empty() { file.into() } else { format!("{}/{file}", folder.trim_end_matches('/')) };
        out.insert(name.to_string(), (path, mesh.triple("scale")?.unwrap_or([1.0; 3])));
    }
    Ok(out)
}

fn whole(root: &Element, angles: Angles) -> Result<Robot, String> {
    let attribute =
        |element: &str, key: &str| root.all(element).filter_map(|c| c.get(key)).last().map(str::to_string);
    let word = |key: &str, default: &str| attribute("compiler", key).unwrap_or_else(|| default.into());
    let mut gravity = [0.0, 0.0, -9.81];
    for option in root.all("option") {
        gravity = option.triple("gravity")?.unwrap_or(gravity);
        if option.all("flag").any(|f| f.get("gravity") == Some("disable")) {
            gravity = [0.0; 3];
        }
    }
    let mut reader = Reader {
        robot: Robot { name: root.get("model").unwrap_or("scene").into(), gravity, ..Robot::default() },
        given: Given::default(),
        defaults: BTreeMap::new(),
        angles,
        from_geoms: match word("inertiafromgeom", "auto").as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
        bodies: BTreeMap::new(),
        meshes: meshes(root, &word("meshdir", &word("assetdir", "")))?,
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
                    self.next(&mut frame, &label);
                    frame.position = at.map(|x| -x);
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
        frame.mass = self.mass(body, &class)?;
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

    /// Masses and inertias scaled to a total.
    fn scale_masses(&mut self, total: f64) {
        let sum: f64 = self.robot.frames.iter().filter_map(|f| f.mass).map(|m| m.0).sum();
        if !(total > 0.0 && sum > 0.0) {
            return;
        }
        for (mass, _, inertia) in self.robot.frames.iter_mut().filter_map(|f| f.mass.as_mut()) {
            *mass *= total / sum;
            inertia.iter_mut().flatten().for_each(|x| *x *= total / sum);
        }
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

    /// Mass of a body: as written, or from its geoms.
    fn mass(&self, body: &Element, class: &str) -> Result<Option<(f64, [f64; 3], Matrix)>, String> {
        if let (Some(e), None | Some(false)) = (body.child("inertial"), self.from_geoms) {
            let mass = e.number("mass")?.unwrap_or(0.0);
            let center = e.triple("pos")?.unwrap_or_default();
            let inertia = match (e.triple("diaginertia")?, e.numbers("fullinertia")?.as_deref()) {
                (Some([a, b, c]), _) => [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]],
                (None, Some(&[xx, yy, zz, xy, xz, yz])) => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
                _ => [[0.0; 3]; 3],
            };
            return Ok(Some((mass, center, turn::turned(self.angles.turn(e)?, inertia))));
        }
        let mut parts = Vec::new();
        for geom in body.all("geom").filter(|_| self.from_geoms != Some(false)) {
            let geom = self.full(geom, class);
            let Some((shape, center, turn)) = self.shape(&geom)? else { continue };
            let (volume, unit) = solid(shape);
            let mass = match geom.number("mass")? {
                Some(mass) => mass,
                None => geom.number("density")?.unwrap_or(DENSITY) * volume,
            };
            let inertia =
                std::array::from_fn(|i| std::array::from_fn(|j| if i == j { mass * unit[i] } else { 0.0 }));
            parts.push((mass, center, turn::turned(turn, inertia)));
        }
        let total: f64 = parts.iter().map(|p| p.0).sum();
        if !(total > 0.0) {
            return Ok(None);
        }
        let center: [f64; 3] =
            std::array::from_fn(|k| parts.iter().map(|p| p.0 * p.1[k]).sum::<f64>() / total);
        let mut inertia = [[0.0; 3]; 3];
        for (mass, at, own) in parts {
            let d: [f64; 3] = std::array::from_fn(|k| at[k] - center[k]);
            let square: f64 = d.iter().map(|x| x * x).sum();
            for i in 0..3 {
                for j in 0..3 {
                    inertia[i][j] += own[i][j] + mass * (if i == j { square } else { 0.0 } - d[i] * d[j]);
                }
            }
        }
        Ok(Some((total, center, inertia)))
    }

    /// Shape of a geom with its place; `None` for planes and what is unknown.
    fn shape(&self, geom: &Element) -> Result<Option<(Kind, [f64; 3], Matrix)>, String> {
        let size = geom.numbers("size")?.unwrap_or_default();
        let at = |k: usize| size.get(k).copied().unwrap_or(0.0);
        let mut center = geom.triple("pos")?.unwrap_or_default();
        let mut turn = self.angles.turn(geom)?;
        let mut half = at(1);
        if let Some(list) = geom.numbers("fromto")? {
            let bad = || format!("line {}: `fromto` has six numbers", geom.line);
            let [a, b, c, d, e, f] = <[f64; 6]>::try_from(list).map_err(|_| bad())?;
            let way = [d - a, e - b, f - c];
            center = [0.5 * (a + d), 0.5 * (b + e), 0.5 * (c + f)];
            turn = towards(way).ok_or_else(bad)?;
            half = 0.5 * way.iter().map(|x| x * x).sum::<f64>().sqrt();
        }
        let kind = match geom.get("type").unwrap_or("sphere") {
            "sphere" => Kind::Ball(at(0)),
            "box" => Kind::Box([at(0), at(1), at(2)]),
            "ellipsoid" => Kind::Ellipsoid([at(0), at(1), at(2)]),
            "capsule" => Kind::Capsule(half, at(0)),
            "cylinder" => Kind::Cylinder(half, at(0)),
            "mesh" => {
                let known = geom.get("mesh").and_then(|name| self.meshes.get(name));
                match known {
                    Some((_, [a, b, c])) if a == b && a == c && *a > 0.0 => Kind::Mesh(*a),
                    _ => return Ok(None),
                }
            }
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
                    let file = geom.get("mesh").and_then(|m| self.meshes.get(m)).map(|m| m.0.clone());
                    let file = file.unwrap_or_default();
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
