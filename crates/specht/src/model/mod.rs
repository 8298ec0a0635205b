//! Bodies, shapes, forces, contacts: from names to equations.
//!
//! A [`Model`] is what a file says after every name has been resolved: all values are nodes of one expression graph.
//! `build` turns it into a [`crate::system::System`] whose tapes are compiled once. Parameters are constants of the
//! graph unless they are *live* ([`Input::Parameter`]): a map over two parameters compiles once and changes inputs.

// The types below are the border between `file` (text → Model) and `model` (Model → System).

use crate::expr::{Graph, NodeId};
use crate::impact;
use crate::ode::Choice;
use crate::sim::{Policy, Scheme};
use crate::system::Mode;

mod access;
mod acting;
mod border;
mod chain;
mod compile;
mod compiled;
mod contact_parts;
mod contacts;
mod contour;
mod demands;
mod edges;
mod events;
mod forces;
mod frames;
mod geometry;
mod instant_rates;
mod kinematics;
mod latches;
mod lean;
mod live;
mod main_tape;
mod outline;
mod points;
mod program;
mod scale;
mod space;
mod still;
mod tangent;
#[cfg(test)]
mod tests;
mod tree;
mod undefined;

pub use acting::{Contact, Force, ForceKind, Friction, FrictionTensor, Geometry, Law, NormalLaw};
pub use compile::build;
pub use compiled::CompiledSystem;
pub use contacts::BuildError;
pub(crate) use demands::{Bound, Demand};
pub use kinematics::{Pose, place, poses, time_derivation};
pub use space::{FreeRotation, Rotation, ShapeData, SpaceBody, SpaceContact, SpaceShape, TouchRule, Vector};
pub(crate) use space::{SpacePose, quaternion_of, quaternion_rate, vector};

/// Meaning of one symbol of the graph; the position in [`Model::inputs`] is the symbol's number and its place in the
/// input vector of every tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// Time `t`.
    Time,
    /// Coordinate `k`.
    Coordinate(usize),
    /// Velocity of coordinate `k`, `x'`.
    Velocity(usize),
    /// Acceleration of coordinate `k`, `x''` (outputs only).
    Acceleration(usize),
    /// First-order state `k`.
    State(usize),
    /// Memory `k`.
    Memory(usize),
    /// A live parameter.
    Parameter(usize),
    /// Sliding direction of contact `k`: +1, −1, 0 (from its mode). `speed` is direction × slip.
    Direction(usize),
    /// Time since contact `k` began to stick.
    StickTime(usize),
    /// Rate of the tangential force of sticking contact `k`.
    LoadRate(usize),
    /// Power that contact `k` takes from the motion (`NAME.heat'`), in rates of states and in outputs.
    Heat(usize),
    /// Normal force of contact `k`.
    Normal(usize),
    /// Tangential force of contact `k`.
    Tangential(usize),
    /// Part along the normal of the friction force of contact `k`, whose tensor leans.
    FrictionNormal(usize),
    /// Mode of contact `k` as a number: 0 open, 1 stick, 2 slip+, 3 slip−, 4 closed.
    Mode(usize),
    /// Normal impulse of contact `k` in the impact that is being processed (`NAME.impulse` in `set`).
    Impulse(usize),
    /// `energy.kinetic`, `energy.potential` in outputs: 0 and 1.
    Energy(usize),
    /// Parameter of a curved contour, found by iteration.
    Contour(usize),
    /// Frozen data of a contact: the edge through which a corner is watched, the end of a curve, a relaxing surface.
    Feature(usize),
    /// Placeholder in any expression: gap of contact `k`. Replaced by its formula when the system is built.
    Gap(usize),
    /// Placeholder: rate of the gap of contact `k`.
    GapRate(usize),
    /// Placeholder: slip velocity of contact `k` (`speed` is [`Input::Direction`] × slip).
    Slip(usize),
    /// Placeholder: slip velocity of contact `k` along its second tangent.
    SecondSlip(usize),
    /// Force of contact `k` along its second tangent.
    SecondTangential(usize),
    /// Placeholder: force of contact `k` on A along a world axis.
    ContactForce(usize, usize),
    /// Force of pin `k` along a world axis.
    Reaction(usize, usize),
    /// Force along a world axis of everything that touches body `k` − 1; 0 is the ground.
    Touch(usize, usize),
    /// Moment about the normal by which contact `k` resists drilling: of its patch and of `drilling`.
    Drilling(usize),
    /// Placeholder in outputs: second derivative of the gap of contact `k`.
    GapAcceleration(usize),
    /// Placeholder in outputs: rate of the slip of contact `k`.
    SlipRate(usize),
}

/// Place in a source text: byte range of the value or key that a message should point at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A machine, fully resolved.
#[derive(Clone, Debug)]
pub struct Model {
    /// Title.
    pub name: String,
    /// One sentence.
    pub about: String,
    /// Spec IDs or a citation.
    pub source: String,
    /// The expression graph of everything below.
    pub graph: Graph,
    /// What each symbol of the graph means.
    pub inputs: Vec<Input>,
    /// Unit of parameters, coordinates `x` and velocities `x'`, states, outputs, plotted expressions and `contact.normal` (also `.tangential`,
    /// `.gap`, `.slip`), where it is known.
    pub units: std::collections::BTreeMap<String, String>,
    /// All parameters with their values (lists flattened as `mu[1]`), in file order; live ones hold their default.
    pub parameters: Vec<Parameter>,
    /// What their values must satisfy.
    pub(crate) demands: Vec<Demand>,
    /// Gravity vector.
    pub gravity: [NodeId; 3],
    /// Coordinates.
    pub coordinates: Vec<Coordinate>,
    /// First-order states.
    pub states: Vec<StateVariable>,
    /// Memory.
    pub memory: Vec<Memory>,
    /// Free rotations of bodies in space.
    pub free: Vec<FreeRotation>,
    /// Bodies; parents come before children. `[ground]` is not in the list: `None` means ground.
    pub bodies: Vec<Body>,
    /// Features of the ground.
    pub ground: Vec<Feature>,
    /// Smooth forces.
    pub forces: Vec<Force>,
    /// Contacts (a `play` is already two contacts, families are expanded).
    pub contacts: Vec<Contact>,
    /// Bodies that touch wherever they meet.
    pub touches: Vec<TouchRule>,
    /// Events.
    pub events: Vec<Event>,
    /// Recorded quantities.
    pub outputs: Vec<Output>,
    /// Names of the phases: outputs that are 1 during them.
    pub phases: Vec<String>,
    /// Consistent start.
    pub start: Start,
    /// Run settings of the file.
    pub run: Run,
    /// Hints for plots: (x, y…) as named expressions. Their values are recorded after those of the outputs, in this order.
    pub plots: Vec<Plot>,
    /// Extra drawing in the ground frame.
    pub draws: Vec<Draw>,
    /// Analyses asked for.
    pub tasks: Vec<Task>,
    /// Names of the cases of the file.
    pub cases: Vec<String>,
}

/// A parameter as evaluated.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name, list entries as `mu[1]`.
    pub name: String,
    /// SI value.
    pub value: f64,
    /// Allowed range, if given.
    pub range: Option<[f64; 2]>,
    /// Explanation.
    pub about: String,
    /// Place in the file.
    pub span: Span,
    /// The number `k` of [`Input::Parameter`] when the parameter is live.
    pub live: Option<usize>,
}

/// A generalised coordinate.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// Name, `x` or `x[3]`.
    pub name: String,
    /// Start value (or guess).
    pub start: NodeId,
    /// Start velocity.
    pub rate: NodeId,
    /// Solved for at the start, value and velocity.
    pub guess: bool,
    /// Place in the file.
    pub span: Span,
}

/// A first-order variable ż = f.
#[derive(Clone, Debug)]
pub struct StateVariable {
    /// Name.
    pub name: String,
    /// Start value.
    pub start: NodeId,
    /// Its rate.
    pub rate: NodeId,
}

/// A value that changes at events only.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Name.
    pub name: String,
    /// Start value.
    pub start: NodeId,
}

/// Anything that moves: particle, rotor, rigid body, or a massless frame.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name.
    pub name: String,
    /// The body whose frame `position` and `angle` refer to; `None`: the ground.
    pub on: Option<usize>,
    /// Position of the origin in the parent frame.
    pub position: [NodeId; 2],
    /// Angle against the parent, counter-clockwise.
    pub angle: NodeId,
    /// Mass; zero for frames and pure rotors.
    pub mass: NodeId,
    /// Moment of inertia about the mass centre.
    pub inertia: NodeId,
    /// Mass centre in body axes.
    pub center: [NodeId; 2],
    /// Kinetic energy as a formula, in addition.
    pub kinetic: Option<NodeId>,
    /// Named points and shapes in body axes.
    pub features: Vec<Feature>,
    /// Where it is in space; the entries for the plane are zero then.
    pub space: Option<SpaceBody>,
    /// Place in the file.
    pub span: Span,
}

/// A named point or shape in body axes.
#[derive(Clone, Debug)]
pub struct Feature {
    /// Name.
    pub name: String,
    /// Geometry.
    pub shape: Shape,
    /// Place in the file.
    pub span: Span,
}

/// Geometry of a feature.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A point.
    Point([NodeId; 2]),
    /// A straight line through a point; the normal points out of the material (any length).
    Flat {
        /// A point of the line.
        through: [NodeId; 2],
        /// Outward normal.
        normal: [NodeId; 2],
    },
    /// A circle; with `hole` the material is outside.
    Round {
        /// Centre.
        center: [NodeId; 2],
        /// Radius.
        radius: NodeId,
        /// Material outside.
        hole: bool,
    },
    /// A smooth curve (x(σ), y(σ)); `parameter` is the symbol number that stands for σ in the two nodes.
    Curve {
        /// The two coordinates as functions of σ.
        point: [NodeId; 2],
        /// Symbol number of σ inside `point` (a placeholder, replaced per contact).
        parameter: u32,
        /// Range of σ.
        range: [NodeId; 2],
        /// Material on the left seen along growing σ.
        material_left: bool,
    },
    /// Straight edges.
    Outline {
        /// Corners.
        points: Vec<[NodeId; 2]>,
        /// Last corner joins the first.
        closed: bool,
        /// Material on the left seen along the list.
        material_left: bool,
    },
    /// A point or shape in space.
    Space(SpaceShape),
}

/// A point of a body (`None`: ground) by feature index (`None`: the origin).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureRef {
    /// Body index; `None` is the ground.
    pub body: Option<usize>,
    /// Feature index in that body (or in the ground); `None` is the origin.
    pub feature: Option<usize>,
}

/// An event of the file.
#[derive(Clone, Debug)]
pub struct Event {
    /// Name (may be empty).
    pub name: String,
    /// What fires it.
    pub trigger: Trigger,
    /// Not zero where the event counts; `None`: always.
    pub when: Option<NodeId>,
    /// Memory changes (memory index, value).
    pub set: Vec<(usize, NodeId)>,
    /// Ends the run.
    pub stop: bool,
}

/// What fires an event.
#[derive(Clone, Debug)]
pub enum Trigger {
    /// Zero of an expression; direction +1 up, −1 down, 0 both.
    Crossing(NodeId, i8),
    /// Something happens at one of these contacts (both flanks of a play).
    Contact(Vec<usize>, ContactEvent),
}

/// Things that happen at contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ContactEvent {
    /// Velocity jump.
    Impact,
    /// Closes without impulse.
    Touch,
    /// Opens.
    Detach,
    /// Begins to stick.
    Stick,
    /// Begins to slip.
    Slip,
    /// Slip passes through zero.
    Reverse,
}

/// A recorded quantity.
#[derive(Clone, Debug)]
pub struct Output {
    /// Name.
    pub name: String,
    /// Value.
    pub value: NodeId,
}

/// Consistent start.
#[derive(Clone, Debug, Default)]
pub struct Start {
    /// Contacts that must be closed.
    pub closed: Vec<usize>,
    /// Contacts that must not slip.
    pub sticking: Vec<usize>,
    /// Start from an equilibrium.
    pub equilibrium: bool,
    /// Place in the file.
    pub span: Span,
}

/// Run settings of the file; `None` means the default of the contract.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// End time.
    pub until: Option<NodeId>,
    /// Scheme.
    pub scheme: Option<Scheme>,
    /// Step of the time-stepping scheme.
    pub step: Option<NodeId>,
    /// Tolerance.
    pub tolerance: Option<NodeId>,
    /// Method between events.
    pub method: Option<Choice>,
    /// Output interval.
    pub every: Option<NodeId>,
    /// Number of events after which the run stops.
    pub events: Option<NodeId>,
    /// Impact law.
    pub impact: Option<impact::Law>,
    /// Which solution when there are several or none.
    pub several: Option<Policy>,
    /// Parameters with respect to which the run is differentiated.
    pub sensitivity: Vec<String>,
}

/// A plot asked for.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Horizontal axis: label and value.
    pub x: (String, NodeId),
    /// Vertical axis: labels and values.
    pub y: Vec<(String, NodeId)>,
}

/// A drawing in the ground frame.
#[derive(Clone, Debug)]
pub enum Draw {
    /// A polyline.
    Path(Vec<[NodeId; 2]>),
    /// A circle.
    Circle {
        /// Centre.
        center: [NodeId; 2],
        /// Radius.
        radius: NodeId,
    },
}

/// An analysis asked for by the file. Keys depend on the kind and are checked by the analysis.
#[derive(Clone, Debug)]
pub struct Task {
    /// Name.
    pub name: String,
    /// Kind: `painleve`, `rest`, …
    pub analyse: String,
    /// All other keys.
    pub keys: Vec<(String, TaskValue)>,
    /// Place in the file.
    pub span: Span,
}

/// A value of a task key.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskValue {
    /// Text.
    Text(String),
    /// Number (units resolved).
    Number(f64),
    /// List.
    List(Vec<TaskValue>),
    /// Table in file order.
    Table(Vec<(String, TaskValue)>),
    /// true/false.
    Bool(bool),
}

impl Default for Model {
    /// A model of nothing: no gravity, empty lists.
    fn default() -> Self {
        let mut graph = Graph::new();
        let zero = graph.num(0.0);
        Model {
            name: String::new(),
            about: String::new(),
            source: String::new(),
            graph,
            inputs: Vec::new(),
            units: std::collections::BTreeMap::new(),
            parameters: Vec::new(),
            demands: Vec::new(),
            gravity: [zero; 3],
            coordinates: Vec::new(),
            states: Vec::new(),
            memory: Vec::new(),
            free: Vec::new(),
            bodies: Vec::new(),
            ground: Vec::new(),
            forces: Vec::new(),
            contacts: Vec::new(),
            touches: Vec::new(),
            events: Vec::new(),
            outputs: Vec::new(),
            start: Start::default(),
            run: Run::default(),
            phases: Vec::new(),
            plots: Vec::new(),
            draws: Vec::new(),
            tasks: Vec::new(),
            cases: Vec::new(),
        }
    }
}

impl Model {
    /// Unit of a column, empty when it is not known or a pure number; members of families have that of the family.
    pub fn unit(&self, column: &str) -> &str {
        if column == "t" {
            return "s";
        }
        let family = |name: &str| {
            let (head, rest) = name.split_once('[')?;
            Some(format!("{head}{}", rest.split_once(']')?.1))
        };
        let found = self.units.get(column).or_else(|| self.units.get(&family(column)?));
        found.map_or("", String::as_str)
    }
}

impl Input {
    /// Number that stands for a mode in expressions.
    pub fn mode_number(mode: Mode) -> f64 {
        match mode {
            Mode::Open => 0.0,
            Mode::Stick => 1.0,
            Mode::SlipPlus => 2.0,
            Mode::SlipMinus => 3.0,
            Mode::Closed => 4.0,
            Mode::Slip => 2.0,
        }
    }
}
