//! URDF: links and joints.

use super::turn::{self, NONE};
use super::xml::Element;
use super::{Frame, Given, Joint, Kind, Robot, Shape, Touch, Turn, Wish};
use std::collections::BTreeMap;

/// Read a `<robot>`.
pub fn read(root: &Element, wish: Wish) -> Result<Robot, String> {
    let name = root.get("name").unwrap_or("robot").to_string();
    let mut robot = Robot { name, gravity: [0.0, 0.0, -9.81], ..Robot::default() };
    let mut links: BTreeMap<&str, &Element> = BTreeMap::new();
    for link in root.all("link") {
        if links.insert(link.need("name")?, link).is_some() {
            return Err(format!("line {}: there are two links `{}`", link.line, link.need("name")?));
        }
    }
    let mut parent: BTreeMap<&str, &Element> = BTreeMap::new();
    let mut carried: BTreeMap<&str, Vec<&Element>> = BTreeMap::new();
    for joint in root.all("joint") {
        let end = |key: &str| -> Result<&str, String> {
            let of =
                joint.child(key).ok_or_else(|| format!("line {}: this joint has no <{key}>", joint.line))?;
            let link = of.need("link")?;
            match links.contains_key(link) {
                true => Ok(link),
                false => Err(format!("line {}: there is no link `{link}`", of.line)),
            }
        };
        let (from, to) = (end("parent")?, end("child")?);
        if parent.insert(to, joint).is_some() {
            return Err(format!("line {}: link `{to}` has two parents", joint.line));
        }
        carried.entry(from).or_default().push(joint);
    }
    let roots: Vec<&str> =
        root.all("link").filter_map(|l| l.get("name")).filter(|name| !parent.contains_key(name)).collect();
    let [first] = roots[..] else {
        return Err(match roots[..] {
            [] if parent.is_empty() => "the robot has no links".to_string(),
            [] => "every link is the child of a joint: the joints form a ring, and URDF knows trees alone"
                .to_string(),
            _ => format!("a robot has one root link, this has {}: {}", roots.len(), roots.join(", ")),
        });
    };

    let mut given = Given::default();
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
    for joint in root.all("joint").filter(|j| moves(j)) {
        names.insert(joint.need("name")?, given.coordinate(joint.need("name")?));
    }
    let mut base = Frame { name: given.other(first, "_link"), ..Frame::default() };
    if wish.floating {
        free(&mut robot, &mut given, &mut base, &format!("{first}_base"));
        base.mass = mass(links[first])?;
    } else if links[first].child("inertial").is_some() {
        robot.left_out.push(format!("the mass of the fixed root link `{first}` (it does not move)"));
    }
    shapes(links[first], &mut base, &mut robot.left_out)?;
    robot.frames.push(base);
    let mut mimics = Vec::new();
    let mut open: Vec<(&str, usize)> = vec![(first, 0)];
    let mut seen = 1;
    while let Some((link, at)) = open.pop() {
        for joint in carried.get(link).into_iter().flatten() {
            let to = joint.child("child").map_or(Ok(""), |c| c.need("link"))?;
            let mut frame = Frame { name: given.other(to, "_link"), on: Some(at), ..Frame::default() };
            place(joint, &mut frame, &mut robot, &mut given, &names, &mut mimics)?;
            frame.mass = mass(links[to])?;
            shapes(links[to], &mut frame, &mut robot.left_out)?;
            robot.frames.push(frame);
            open.push((to, robot.frames.len() - 1));
            seen += 1;
        }
    }
    if seen != links.len() {
        return Err("the joints of this robot go round in a circle".into());
    }
    for (joint, other, factor, offset, line) in mimics {
        let place = robot.joints.iter().position(|j| j.source == other);
        let Some(place) = place else {
            let name = &robot.joints[joint].source;
            robot
                .left_out
                .push(format!("joint `{name}` mimics `{other}` (line {line}), which is no joint that moves"));
            continue;
        };
        let start = factor * robot.joints[place].start + offset;
        robot.joints[joint].start = start;
        robot.couplings.push((joint, Some(place), vec![offset, factor]));
    }
    let rest = ["transmission", "gazebo", "material", "sensor"];
    for word in rest {
        let count = root.all(word).count();
        if count > 0 && word != "material" {
            robot.left_out.push(format!("{count} <{word}>"));
        }
    }
    Ok(robot)
}

fn moves(joint: &Element) -> bool {
    !matches!(joint.get("type"), Some("fixed" | "floating" | "planar") | None)
}

/// Three coordinates and a free rotation.
fn free(robot: &mut Robot, given: &mut Given, frame: &mut Frame, name: &str) {
    for (k, letter) in ["x", "y", "z"].iter().enumerate() {
        let source = format!("{name}_{letter}");
        let mut direction = [0.0; 3];
        direction[k] = 1.0;
        frame.slides.push((robot.joints.len(), direction));
        robot.joints.push(Joint { name: given.coordinate(&source), source, ..Joint::default() });
    }
    frame.turns.push(Turn::Free);
}

type Mimic = (usize, String, f64, f64, usize);

/// Where a joint puts the link that it carries.
fn place(
    joint: &Element,
    frame: &mut Frame,
    robot: &mut Robot,
    given: &mut Given,
    names: &BTreeMap<&str, String>,
    mimics: &mut Vec<Mimic>,
) -> Result<(), String> {
    let source = joint.need("name")?;
    let mut turn = NONE;
    if let Some(origin) = joint.child("origin") {
        frame.position = origin.triple("xyz")?.unwrap_or_default();
        turn = turn::fixed(origin.triple("rpy")?.unwrap_or_default());
    }
    frame.turns = turn::turns(turn);
    let axis = match joint.child("axis") {
        Some(axis) => axis.triple("xyz")?.unwrap_or([1.0, 0.0, 0.0]),
        None => [1.0, 0.0, 0.0],
    };
    let flat = || format!("line {}: the axis of joint `{source}` has no direction", joint.line);
    let kind = joint.need("type")?;
    if kind == "fixed" {
        return Ok(());
    }
    let unit =
        turn::unit(axis).or_else(|| (kind == "floating").then_some([0.0, 0.0, 1.0])).ok_or_else(flat)?;
    let number = robot.joints.len();
    match kind {
        "floating" => {
            free(robot, given, frame, source);
            if frame.turns.len() > 1 {
                robot.left_out.push(format!("the turn of the origin of the floating joint `{source}`"));
                frame.turns = vec![Turn::Free];
            }
            return Ok(());
        }
        "planar" => {
            // two directions across the axis, and a turn about it
            let far = (0..3).min_by(|&i, &j| unit[i].abs().total_cmp(&unit[j].abs())).unwrap_or(0);
            let mut other = [0.0; 3];
            other[far] = 1.0;
            let cross = |a: [f64; 3], b: [f64; 3]| {
                [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            };
            let first = turn::unit(cross(unit, other)).ok_or_else(flat)?;
            for (letter, direction) in [("x", first), ("y", cross(unit, first))] {
                let source = format!("{source}_{letter}");
                frame.slides.push((robot.joints.len(), turn::times(turn, direction)));
                robot.joints.push(Joint { name: given.coordinate(&source), source, ..Joint::default() });
            }
            frame.turns.extend(turn::joint(robot.joints.len(), unit).ok_or_else(flat)?);
            let source = format!("{source}_turn");
            robot.joints.push(Joint { name: given.coordinate(&source), source, ..Joint::default() });
            return Ok(());
        }
        "revolute" | "continuous" => frame.turns.extend(turn::joint(number, unit).ok_or_else(flat)?),
        "prismatic" => frame.slides.push((number, turn::times(turn, unit))),
        other => {
            return Err(format!("line {}: joint `{source}` is of the unknown type `{other}`", joint.line));
        }
    }
    let mut out = Joint {
        name: names.get(source).cloned().unwrap_or_default(),
        source: source.into(),
        ..Joint::default()
    };
    if let Some(limit) = joint.child("limit") {
        if kind != "continuous" {
            let ends = [limit.number("lower")?.unwrap_or(0.0), limit.number("upper")?.unwrap_or(0.0)];
            if ends[0] > ends[1] {
                return Err(format!(
                    "line {}: the limits of `{source}` are {} and {}",
                    limit.line, ends[0], ends[1]
                ));
            }
            out.start = 0.0_f64.clamp(ends[0], ends[1]);
            out.limits = Some(ends);
        }
        for key in ["effort", "velocity"] {
            if limit.number(key)?.is_some_and(|x| x > 0.0) {
                robot.left_out.push(format!("the largest {key} of joint `{source}`"));
            }
        }
    }
    if let Some(dynamics) = joint.child("dynamics") {
        out.damping = dynamics.number("damping")?.unwrap_or(0.0);
        out.friction = dynamics.number("friction")?.unwrap_or(0.0);
    }
    if let Some(mimic) = joint.child("mimic") {
        let factor = mimic.number("multiplier")?.unwrap_or(1.0);
        let offset = mimic.number("offset")?.unwrap_or(0.0);
        mimics.push((number, mimic.need("joint")?.into(), factor, offset, mimic.line));
    }
    robot.joints.push(out);
    Ok(())
}

type Mass = Option<(f64, [f64; 3], [[f64; 3]; 3])>;

fn mass(link: &Element) -> Result<Mass, String> {
    let Some(inertial) = link.child("inertial") else { return Ok(None) };
    let value = inertial.child("mass").map(|m| m.number("value")).transpose()?.flatten().unwrap_or(0.0);
    let mut center = [0.0; 3];
    let mut turn = NONE;
    if let Some(origin) = inertial.child("origin") {
        center = origin.triple("xyz")?.unwrap_or_default();
        turn = turn::fixed(origin.triple("rpy")?.unwrap_or_default());
    }
    let mut inertia = [[0.0; 3]; 3];
    if let Some(of) = inertial.child("inertia") {
        let get = |key: &str| of.number(key).map(|x| x.unwrap_or(0.0));
        let (xy, xz, yz) = (get("ixy")?, get("ixz")?, get("iyz")?);
        inertia = [[get("ixx")?, xy, xz], [xy, get("iyy")?, yz], [xz, yz, get("izz")?]];
    }
    Ok(Some((value, center, turn::turned(turn, inertia))))
}

/// Collision shapes that have formulas; the others are named.
fn shapes(link: &Element, frame: &mut Frame, left_out: &mut Vec<String>) -> Result<(), String> {
    for (k, collision) in link.all("collision").enumerate() {
        let Some(shape) = collision.child("geometry").and_then(|g| g.children.first()) else { continue };
        let origin = collision.child("origin");
        let center = origin.map(|o| o.triple("xyz")).transpose()?.flatten().unwrap_or_default();
        let angles = origin.map(|o| o.triple("rpy")).transpose()?.flatten().unwrap_or_default();
        let turned = angles != [0.0; 3];
        let turn = turn::fixed(angles);
        let (mut axis, mut file) = (super::UP, String::new());
        let kind = match shape.name.as_str() {
            "sphere" => Kind::Ball(shape.number("radius")?.unwrap_or(0.0)),
            "box" if !turned => Kind::Box(shape.triple("size")?.unwrap_or_default().map(|x| 0.5 * x)),
            "cylinder" => {
                axis = [turn[0][2], turn[1][2], turn[2][2]];
                let length = shape.number("length")?.unwrap_or(0.0);
                Kind::Cylinder(0.5 * length, shape.number("radius")?.unwrap_or(0.0))
            }
            "mesh" if !turned && center == [0.0; 3] && shape.get("filename").is_some() => {
                let scale = shape.triple("scale")?.unwrap_or([1.0; 3]);
                if scale[1..].iter().any(|s| *s != scale[0]) || !(scale[0] > 0.0) {
                    left_out.push(format!("the mesh of link `{}`, scaled unevenly", link.need("name")?));
                    continue;
                }
                file = shape.need("filename")?.to_string();
                Kind::Mesh(scale[0])
            }
            other => {
                let turned = if turned { "turned " } else { "" };
                left_out
                    .push(format!("the {turned}collision shape <{other}> of link `{}`", link.need("name")?));
                continue;
            }
        };
        let touch = Touch { friction: 0.0, groups: [1, 1] };
        frame.shapes.push(Shape { name: format!("shape{}", k + 1), kind, center, axis, file, touch });
    }
    Ok(())
}
