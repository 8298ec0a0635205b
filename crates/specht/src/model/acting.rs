//! Forces and contacts of a model: where they act and by which law.

use crate::expr::NodeId;

use super::{FeatureRef, SpaceContact, Span, Vector};

/// A smooth force.
#[derive(Clone, Debug)]
pub struct Force {
    /// Name.
    pub name: String,
    /// Where and how it acts.
    pub kind: ForceKind,
    /// Place in the file.
    pub span: Span,
}

/// Forms of a force.
#[derive(Clone, Debug)]
pub enum ForceKind {
    /// Generalised force along a function `s(q, t)`.
    Along {
        /// `s`.
        stretch: NodeId,
        /// The law.
        law: Law,
    },
    /// Along the line of two points; `stretch` is their distance.
    Between {
        /// First point.
        a: FeatureRef,
        /// Second point.
        b: FeatureRef,
        /// The distance as a node (built by the kinematics).
        stretch: NodeId,
        /// The law.
        law: Law,
    },
    /// Force on a point.
    At {
        /// The point.
        point: FeatureRef,
        /// Components.
        force: [NodeId; 2],
        /// Components in body axes.
        body_axes: bool,
    },
    /// Force on a point in space.
    AtSpace {
        /// The point.
        point: FeatureRef,
        /// Components.
        force: Vector,
        /// Components in body axes.
        body_axes: bool,
    },
    /// Torque on a body in space, with reaction on `against` if given.
    TorqueSpace {
        /// The body.
        body: usize,
        /// Components.
        torque: Vector,
        /// Components in the axes of the body.
        body_axes: bool,
        /// The body that takes the reaction.
        against: Option<usize>,
    },
    /// Torque on a body, with reaction on `against` if given.
    Torque {
        /// The body.
        body: usize,
        /// The torque.
        torque: NodeId,
        /// The body that takes the reaction.
        against: Option<usize>,
    },
    /// Minus the gradient of a potential.
    Potential(NodeId),
}

/// Law of an `along`/`between` force: F = force − spring (s − length) − damper ṡ; positive F enlarges `stretch`.
#[derive(Clone, Debug)]
pub struct Law {
    /// Free formula (may use `stretch`, `stretch'`: already substituted).
    pub force: Option<NodeId>,
    /// Stiffness.
    pub spring: Option<NodeId>,
    /// Free length.
    pub length: NodeId,
    /// Damping.
    pub damper: Option<NodeId>,
}

/// A contact.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name: `tip`, `mesh.low`, `face[3]`.
    pub name: String,
    /// Geometry or formulas.
    pub geometry: Geometry,
    /// Normal law.
    pub law: NormalLaw,
    /// Slip velocity formula, when given (linear in the velocities).
    pub slip: Option<NodeId>,
    /// Direction of positive slip in the axes of B's body, when given.
    pub tangent: Option<[NodeId; 2]>,
    /// What a contact in space has in addition.
    pub space: SpaceContact,
    /// Friction.
    pub friction: Option<Friction>,
    /// Restitution: normal, tangential, ν.
    pub restitution: [NodeId; 3],
    /// Place in the file.
    pub span: Span,
}

/// Where gap and directions of a contact come from.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// Two features; the normal points from B to A.
    Between(FeatureRef, FeatureRef),
    /// A gap formula.
    Gap(NodeId),
    /// Two points kept together.
    Pin(FeatureRef, FeatureRef),
    /// Two formulas kept zero: a curve in space on which a point stays.
    Guide([NodeId; 2]),
    /// Two directions kept parallel (`true`) or perpendicular.
    Directions(FeatureRef, FeatureRef, bool),
    /// No normal direction (loaded pair).
    None,
}

/// Normal law of a contact.
#[derive(Clone, Debug)]
pub enum NormalLaw {
    /// Rigid, can open.
    Unilateral,
    /// Rigid, cannot open.
    Bilateral,
    /// Spring and damper: λ_N = max(0, −c g − d ġ) while g < 0; `both_signs` with `bilateral`; `relaxing` is law C of
    /// PG-3.2.
    Elastic {
        /// Stiffness.
        spring: NodeId,
        /// Damping.
        damper: NodeId,
        /// Force of either sign (a compliant guide).
        both_signs: bool,
        /// The surface relaxes after separation.
        relaxing: bool,
    },
    /// A pin; with a radius a journal.
    Pin {
        /// Journal radius.
        radius: Option<NodeId>,
    },
    /// Normal force given: constant part (a node that may use gap and gap rate) plus linear terms in other contacts.
    Loaded {
        /// Part without other contacts' forces.
        load: NodeId,
        /// (contact, coefficient).
        terms: Vec<(usize, NodeId)>,
    },
    /// The friction bound itself is given ([`Friction`] holds force instead of coefficient).
    FrictionForce,
}

/// Friction law: a coefficient, or the bound itself for [`NormalLaw::FrictionForce`].
#[derive(Clone, Debug)]
pub struct Friction {
    /// At present slip; `slip`, `speed` already substituted by the contact's slip node and direction × slip.
    pub sliding: NodeId,
    /// At zero slip (may use `load_rate`, `stick_time`).
    pub sticking: NodeId,
    /// A friction tensor instead of a coefficient.
    pub tensor: Option<FrictionTensor>,
}

/// A friction tensor (VAG-1-TENSOR).
#[derive(Clone, Debug, PartialEq)]
pub enum FrictionTensor {
    /// Over the tangents, or over tangents and normal, row by row.
    Entries(Vec<NodeId>),
    /// Built from the coefficient and the mass matrix so that friction does not reach the reaction.
    Regular,
    /// Half axes of an ellipse over the two tangents; slip is normal to it (METH-LAW-ANISO).
    Ellipse([NodeId; 2]),
    /// A contact of finite size (METH-LAW-SPIN).
    Patch {
        /// Its radius, under a normal force of one newton where it follows that.
        radius: NodeId,
        /// How it is pressed.
        pressure: crate::system::Pressure,
        /// The power of the normal force with which the radius grows.
        power: f64,
    },
}
