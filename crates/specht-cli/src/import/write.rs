//! A robot as a model file.

use super::{Frame, Kind, Robot, Shape, Turn, Wish};
use std::fmt::Write;

/// Name of a feature.
pub fn feature(name: &str, k: usize) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let clean: String = letters.take(super::LONGEST).collect();
    match clean.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => clean,
        false => format!("shape{}", k + 1),
    }
}

/// The text of the model file.
pub fn write(robot: &Robot, from: &str, wish: Wish) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "name    = {}", text(&robot.name));
    let _ = writeln!(out, "about   = {}", text(&format!("Imported from {from}.")));
    let _ = writeln!(out, "gravity = {}", vector(robot.gravity));
    let mut left_out = robot.left_out.clone();
    if wish.no_contacts {
        left_out.push("limits, friction, damping, drives, couplings and contacts, as asked for".into());
    }
    if !left_out.is_empty() {
        out += "\n# Left out:\n";
        left_out.iter().for_each(|l| out += &format!("# - {}\n", l.replace('\n', " ")));
    }
    if !robot.joints.is_empty() {
        out += "\n[parameters]\n";
        for j in &robot.joints {
            let _ = writeln!(out, "{0}_start = {1}\n{0}_rate = 0\n{0}_drive = 0", j.name, number(j.start));
        }
        for drive in &robot.drives {
            let _ = writeln!(out, "{} = 0   # drives {}", drive.name, robot.joints[drive.joint].name);
        }
        out += "\n[coordinates]\n";
        for j in &robot.joints {
            let note = if j.name == j.source { String::new() } else { format!("   # joint {}", j.source) };
            let _ = writeln!(out, "{0} = {{ start = \"{0}_start\", rate = \"{0}_rate\" }}{note}", j.name);
        }
    }
    if !robot.planes.is_empty() || robot.pins.iter().any(|p| p.second.0.is_none()) {
        out += "\n[ground]\n";
        for p in &robot.planes {
            let (through, normal) = (vector(p.through), vector(p.normal));
            let _ = writeln!(out, "{} = {{ through = {through}, normal = {normal} }}", p.name);
        }
        for pin in robot.pins.iter().filter(|p| p.second.0.is_none()) {
            let _ = writeln!(out, "{}_b = {}", pin.name, vector(pin.second.1));
        }
    }
    for (k, frame) in robot.frames.iter().enumerate() {
        body(robot, k, frame, &mut out);
    }
    forces(robot, wish, &mut out);
    if !wish.no_contacts {
        drives(robot, &mut out);
        contacts(robot, &mut out);
    }
    out += "\n[run]\nuntil = 1\n";
    out
}

fn body(robot: &Robot, k: usize, frame: &Frame, out: &mut String) {
    let _ = write!(out, "\n[[body]]\nname = {}\n", text(&frame.name));
    if let Some(on) = frame.on {
        let _ = writeln!(out, "on = {}", text(&robot.frames[on].name));
    }
    if let Some((mass, center, inertia)) = &frame.mass {
        let _ = writeln!(out, "mass = {}", number(*mass));
        if *center != [0.0; 3] {
            let _ = writeln!(out, "center = {}", vector(*center));
        }
        if inertia.iter().flatten().any(|x| *x != 0.0) {
            let rows: Vec<String> = inertia.iter().map(|r| vector(*r)).collect();
            let _ = writeln!(out, "inertia = [{}]", rows.join(", "));
            if !super::turn::possible(inertia) {
                out.push_str(
                    "any_inertia = true   # as in the file, though no rigid body has these moments\n",
                );
            }
        }
    }
    let entries: Vec<String> = (0..3)
        .map(|i| {
            let mut sum = if frame.position[i] != 0.0 { number(frame.position[i]) } else { String::new() };
            for (joint, d) in frame.slides.iter().filter(|s| s.1[i] != 0.0) {
                let name = &robot.joints[*joint].name;
                let term =
                    if d[i].abs() == 1.0 { name.clone() } else { format!("{}*{name}", number(d[i].abs())) };
                sum += match (sum.is_empty(), d[i] < 0.0) {
                    (true, false) => "",
                    (true, true) => "-",
                    (false, false) => " + ",
                    (false, true) => " - ",
                };
                sum += &term;
            }
            if sum.is_empty() { "0".into() } else { sum }
        })
        .collect();
    let quoted = |e: &String| if e.parse::<f64>().is_ok() { e.clone() } else { text(e) };
    let _ = writeln!(out, "position = [{}]", entries.iter().map(quoted).collect::<Vec<_>>().join(", "));
    let letter = |axis: &usize| ["x", "y", "z"][*axis];
    if frame.turns.contains(&Turn::Free) {
        out.push_str("rotation = \"free\"\n");
        let turned: Vec<String> = (frame.turns.iter())
            .filter_map(|t| match t {
                Turn::Constant(axis, angle) => Some(format!("[\"{}\", {}]", letter(axis), number(*angle))),
                _ => None,
            })
            .collect();
        if !turned.is_empty() {
            let _ = writeln!(out, "turned = [{}]", turned.join(", "));
        }
    } else if !frame.turns.is_empty() {
        let turns: Vec<String> = (frame.turns.iter())
            .map(|t| match t {
                Turn::Joint(axis, joint, sign) => {
                    let minus = if *sign < 0.0 { "-" } else { "" };
                    format!("[\"{}\", \"{minus}{}\"]", letter(axis), robot.joints[*joint].name)
                }
                Turn::Constant(axis, angle) => format!("[\"{}\", {}]", letter(axis), number(*angle)),
                Turn::Free => String::new(),
            })
            .collect();
        let _ = writeln!(out, "rotation = [{}]", turns.join(", "));
    }
    let mut features: Vec<String> = frame.shapes.iter().flat_map(shape).collect();
    for pin in &robot.pins {
        if pin.first.0 == k {
            features.push(format!("{}_a = {}", pin.name, vector(pin.first.1)));
        }
        if pin.second.0 == Some(k) {
            features.push(format!("{}_b = {}", pin.name, vector(pin.second.1)));
        }
    }
    if !features.is_empty() {
        let _ = writeln!(out, "features = {{ {} }}", features.join(", "));
    }
}

/// Features of a shape.
fn shape(s: &Shape) -> Vec<String> {
    let c = s.center;
    let above = |h: f64| vector(std::array::from_fn(|k| c[k] + h * s.axis[k]));
    match s.kind {
        Kind::Ball(r) => vec![format!("{} = {{ center = {}, radius = {} }}", s.name, vector(c), number(r))],
        Kind::Box(half) => vec![format!("{} = {{ box = {}, center = {} }}", s.name, vector(half), vector(c))],
        Kind::Ellipsoid(axes) => {
            vec![format!("{} = {{ ellipsoid = {}, center = {} }}", s.name, vector(axes), vector(c))]
        }
        Kind::Capsule(h, r) => {
            vec![format!(
                "{} = {{ capsule = [{}, {}], radius = {} }}",
                s.name,
                above(-h),
                above(h),
                number(r)
            )]
        }
        Kind::Cylinder(h, r) => {
            let (low, high) = (above(-h), above(h));
            vec![format!("{} = {{ cylinder = [{low}, {high}], radius = {} }}", s.name, number(r))]
        }
        Kind::Mesh(scale) => {
            let scale = if scale == 1.0 { String::new() } else { format!(", scale = {}", number(scale)) };
            vec![format!("{} = {{ mesh = {}{scale} }}", s.name, text(&s.file))]
        }
    }
}

fn forces(robot: &Robot, wish: Wish, out: &mut String) {
    for j in &robot.joints {
        let name = &j.name;
        let _ = write!(
            out,
            "\n[[force]]\nname = \"{name}_motor\"\nalong = \"{name}\"\nforce = \"{name}_drive\"\n"
        );
        if j.damping > 0.0 && !wish.no_contacts {
            let d = number(j.damping);
            let _ = write!(out, "\n[[force]]\nname = \"{name}_damper\"\nalong = \"{name}\"\ndamper = {d}\n");
        }
        if let Some((c, rest)) = j.spring {
            let (c, rest) = (number(c), number(rest));
            let _ = write!(
                out,
                "\n[[force]]\nname = \"{name}_spring\"\nalong = \"{name}\"\nspring = {c}\nlength = {rest}\n"
            );
        }
        if j.armature > 0.0 {
            let _ = write!(
                out,
                "\n[[body]]                  # rotor of the drive\nname = \"{name}_rotor\"\nkinetic = \"0.5*{}*{name}'^2\"\n",
                number(j.armature)
            );
        }
    }
}

/// Drives push with what their parameter and the motion of the joint say.
fn drives(robot: &Robot, out: &mut String) {
    for drive in &robot.drives {
        let joint = &robot.joints[drive.joint].name;
        let (g, b) = (drive.gear, drive.bias);
        let parts = [
            (g * drive.gain, format!("*{}", drive.name)),
            (g * b[0], String::new()),
            (g * g * b[1], format!("*{joint}")),
            (g * g * b[2], format!("*{joint}'")),
        ];
        let sum: Vec<String> =
            parts.iter().filter(|p| p.0 != 0.0).map(|(c, of)| format!("({}){of}", number(*c))).collect();
        if sum.is_empty() {
            continue;
        }
        let _ = write!(
            out,
            "\n[[force]]\nname = \"{}_force\"\nalong = \"{joint}\"\nforce = \"{}\"\n",
            drive.name,
            sum.join(" + ")
        );
    }
}

fn contacts(robot: &Robot, out: &mut String) {
    for j in &robot.joints {
        let name = &j.name;
        if let Some([low, high]) = j.limits {
            let (low, high) = (number(low), number(high));
            let _ = write!(
                out,
                "\n[[contact]]\nname = \"{name}_stop\"\nplay = \"{name}\"\nlimits = [{low}, {high}]\n"
            );
        }
        if j.friction > 0.0 {
            let f = number(j.friction);
            let _ = write!(
                out,
                "\n[[contact]]\nname = \"{name}_friction\"\nslip = \"{name}'\"\nfriction_force = {f}\n"
            );
        }
    }
    for (joint, other, poly) in &robot.couplings {
        let name = &robot.joints[*joint].name;
        let mut sum = name.clone();
        for (k, c) in poly.iter().enumerate().filter(|(_, c)| **c != 0.0) {
            let power = match (k, other) {
                (0, _) | (_, None) => String::new(),
                (1, Some(o)) => format!("*{}", robot.joints[*o].name),
                (k, Some(o)) => format!("*{}^{k}", robot.joints[*o].name),
            };
            if k == 0 || other.is_some() {
                sum += &format!(" - ({}){power}", number(*c));
            }
        }
        let _ = write!(out, "\n[[contact]]\nname = \"{name}_mimic\"\ngap = \"{sum}\"\nbilateral = true\n");
    }
    for pin in &robot.pins {
        let other = pin.second.0.map_or("ground", |k| robot.frames[k].name.as_str());
        let _ = write!(
            out,
            "\n[[contact]]\nname = \"{0}\"\npin = [\"{1}.{0}_a\", \"{other}.{0}_b\"]\n",
            pin.name, robot.frames[pin.first.0].name
        );
    }
    touches(robot, out);
}

/// Shapes against the planes of the ground that they meet.
fn touches(robot: &Robot, out: &mut String) {
    let mut count = 0;
    for plane in &robot.planes {
        for frame in &robot.frames {
            // a mesh touches with [[touch]], by time steps
            let solid = |s: &&Shape| !matches!(s.kind, Kind::Mesh(_)) && s.touch.meets(&plane.touch);
            for s in frame.shapes.iter().filter(solid) {
                count += 1;
                let long = format!("{}_{}_{}", frame.name, s.name, plane.name);
                let name = if long.len() <= 64 { long } else { format!("touch_{count}") };
                let _ = write!(
                    out,
                    "\n[[contact]]\nname = \"{name}\"\nbetween = [\"{}.{}\", \"ground.{}\"]\nfriction = {}\n",
                    frame.name,
                    s.name,
                    plane.name,
                    number(s.touch.friction.max(plane.touch.friction))
                );
            }
        }
    }
}

/// The shortest form that reads back to the same bits.
fn number(x: f64) -> String {
    let x = if x == 0.0 { 0.0 } else { x };
    if x == 0.0 || (1e-4..1e15).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
}

fn vector(v: [f64; 3]) -> String {
    format!("[{}, {}, {}]", number(v[0]), number(v[1]), number(v[2]))
}

fn text(s: &str) -> String {
    let clean: String = s.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", clean.replace('\\', "\\\\").replace('"', "\\\""))
}
