//! Robots of other programs as model files: URDF and the mechanical part of MJCF.
//!
//! ```text
//! text ─xml─▶ elements ─urdf, mjcf─▶ Robot: frames with their motion, masses, shapes ─write─▶ model.toml
//! ```
//!
//! A frame stands on another: it is moved along, then turned, each by constants and by coordinates. Coordinates are named like the joints, with
//! the parameters `NAME_start`, `NAME_rate` and `NAME_drive`. Limits, dry friction, damping and couplings become contacts and forces.

mod angles;
mod drives;
mod frames;
mod masses;
mod mjcf;
mod solids;
mod tidy;
mod turn;
mod urdf;
mod write;
mod xml;

use specht::machine::is_reserved;
use std::collections::BTreeSet;

pub use write::write;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wish {
    /// The root moves freely.
    pub floating: bool,
    /// Without limits, friction, damping and couplings.
    pub no_contacts: bool,
}

/// A machine as read.
#[derive(Clone, Debug, Default)]
pub struct Robot {
    /// Title.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: [f64; 3],
    /// Frames, those that carry before those that are carried.
    pub frames: Vec<Frame>,
    /// Coordinates.
    pub joints: Vec<Joint>,
    /// Planes of the ground.
    pub planes: Vec<Plane>,
    /// Two points kept together: name, frame, point, frame (`None`: the ground), point.
    pub pins: Vec<Pin>,
    /// Couplings of joints: joint, other joint (or none), polynomial.
    pub couplings: Vec<(usize, Option<usize>, Vec<f64>)>,
    /// Drives of joints.
    pub drives: Vec<Drive>,
    /// What was left out, in words.
    pub left_out: Vec<String>,
}

/// A drive: the force `gear (gain u + bias₀ + bias₁ gear q + bias₂ gear q')` on its joint, u a parameter.
#[derive(Clone, Debug)]
pub struct Drive {
    /// Name of the parameter u.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// Ratio of the gear.
    pub gear: f64,
    /// Force per unit of u.
    pub gain: f64,
    /// Constant part, and parts that follow position and velocity.
    pub bias: [f64; 3],
}

/// A plane of the ground.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Name.
    pub name: String,
    /// A point of it.
    pub through: [f64; 3],
    /// Its normal.
    pub normal: [f64; 3],
    /// How it touches.
    pub touch: Touch,
}

/// How a shape touches others.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Coefficient of friction; of two the larger counts.
    pub friction: f64,
    /// Groups to which it belongs, and groups that it meets, as bits.
    pub groups: [u32; 2],
}

impl Touch {
    /// Whether two shapes meet.
    pub fn meets(&self, other: &Touch) -> bool {
        self.groups[0] & other.groups[1] != 0 || other.groups[0] & self.groups[1] != 0
    }
}

/// Two points kept together.
#[derive(Clone, Debug)]
pub struct Pin {
    /// Name.
    pub name: String,
    /// Frame and point of it.
    pub first: (usize, [f64; 3]),
    /// The other; without a frame it is the ground.
    pub second: (Option<usize>, [f64; 3]),
}

/// A frame or body.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Name in the model file.
    pub name: String,
    /// The frame that carries it.
    pub on: Option<usize>,
    /// Constant part of its position.
    pub position: [f64; 3],
    /// Coordinates along which it slides: joint and direction.
    pub slides: Vec<(usize, [f64; 3])>,
    /// Turns, one after the other.
    pub turns: Vec<Turn>,
    /// Mass, mass centre and inertia about it in the axes of the frame.
    pub mass: Option<(f64, [f64; 3], [[f64; 3]; 3])>,
    /// Shapes in its axes.
    pub shapes: Vec<Shape>,
}

/// One turn of a frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Turn {
    /// About x, y or z by a constant.
    Constant(usize, f64),
    /// About x, y or z by a coordinate times ±1.
    Joint(usize, usize, f64),
    /// In every way; the joint gives the name.
    Free,
}

/// A coordinate.
#[derive(Clone, Debug, Default)]
pub struct Joint {
    /// Name of the coordinate.
    pub name: String,
    /// Name in the file that was read.
    pub source: String,
    /// Value at the start.
    pub start: f64,
    /// Value in the position in which the file describes the bodies.
    pub reference: f64,
    /// Lowest and highest value.
    pub limits: Option<[f64; 2]>,
    /// N s/m or N m s.
    pub damping: f64,
    /// Dry friction, N or N m.
    pub friction: f64,
    /// Spring and its rest.
    pub spring: Option<(f64, f64)>,
    /// Rotor inertia or mass.
    pub armature: f64,
}

/// A shape of a frame.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Name of the feature.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Where.
    pub center: [f64; 3],
    /// Axis of cylinders, a unit vector.
    pub axis: [f64; 3],
    /// File of a mesh.
    pub file: String,
    /// How it touches.
    pub touch: Touch,
}

/// Kinds of shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Radius.
    Ball(f64),
    /// Half lengths.
    Box([f64; 3]),
    /// Half axes.
    Ellipsoid([f64; 3]),
    /// Half length along z, radius.
    Capsule(f64, f64),
    /// Half length along its axis, radius.
    Cylinder(f64, f64),
    /// Scale of a mesh.
    Mesh(f64),
}

/// The z axis.
const UP: [f64; 3] = [0.0, 0.0, 1.0];

/// Read a robot from the text of a file; `load` gives the text of a file that it names, `bytes` the content of a mesh.
pub fn read(
    text: &str,
    wish: Wish,
    load: &dyn Fn(&str) -> Result<String, String>,
    bytes: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Robot, String> {
    let root = xml::read(text)?;
    let mut robot = match root.name.as_str() {
        "robot" => urdf::read(&root, wish)?,
        "mujoco" => mjcf::read(root, load, bytes)?,
        other => {
            return Err(format!("<{other}> is neither a URDF robot (<robot>) nor an MJCF scene (<mujoco>)"));
        }
    };
    robot.tidy();
    Ok(robot)
}

/// Meshes that are files: `find` gives the path to write for a name in the robot's file. Those that are not there are left out, and named.
pub fn settle_meshes(robot: &mut Robot, find: &dyn Fn(&str) -> Option<String>) {
    for frame in &mut robot.frames {
        for shape in frame.shapes.iter_mut().filter(|s| matches!(s.kind, Kind::Mesh(_))) {
            match find(&shape.file) {
                Some(path) => shape.file = path,
                None => {
                    let name = std::mem::take(&mut shape.file);
                    robot
                        .left_out
                        .push(format!("the mesh `{name}` of `{}`: no such file (.stl, .obj)", frame.name));
                }
            }
        }
        frame.shapes.retain(|s| !matches!(s.kind, Kind::Mesh(_)) || !s.file.is_empty());
    }
}

/// Names that were given, so that none is given twice.
#[derive(Debug, Default)]
struct Given(BTreeSet<String>);

impl Given {
    /// The name of a coordinate: letters, digits and underscores.
    fn coordinate(&mut self, name: &str) -> String {
        self.fresh(&clean(name, "q_"), "_2")
    }

    /// The name of something else, which gives way to coordinates.
    fn other(&mut self, name: &str, word: &str) -> String {
        self.fresh(&clean(name, &word[1..]), word)
    }

    fn fresh(&mut self, name: &str, suffix: &str) -> String {
        let mut out = name.to_string();
        let mut count = 2;
        while !self.0.insert(out.clone()) {
            out = format!("{name}{suffix}");
            if self.0.contains(&out) {
                out = format!("{name}{suffix}{count}");
                count += 1;
            }
        }
        for part in ["start", "rate", "drive"] {
            self.0.insert(format!("{out}_{part}"));
        }
        out
    }
}

/// Letters of a name; what is added to it makes it longer, and a model file takes 64.
const LONGEST: usize = 40;

/// A name for a model file; one that cannot stand there gets a prefix, a long one is cut.
fn clean(name: &str, prefix: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let out: String = letters.take(LONGEST).collect();
    let begins = out.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins && !is_reserved(&out) {
        out
    } else {
        format!("{}{out}", if prefix.is_empty() { "q" } else { prefix })
    }
}
