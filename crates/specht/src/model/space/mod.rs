//! Bodies in space: where they are, how they turn, what they weigh (PG-2-FRAMES, PG-2.4-RECURSION, PG-3.1-EOM).
//!
//! A body stands in the frame of the body that carries it. It is turned about axes that move with it, one after the other, or freely: then its
//! orientation is a unit quaternion p, and its velocity the angular velocity w, both seen from the carrier:
//!
//! ```text
//! ṗ = ½ (0, w) p          R(p) turns body axes into those of the carrier
//! ```
//!
//! The four numbers of p stand behind the coordinates of the file in q, the three of w behind their velocities in u.

mod features;
mod flat;
mod forces;
mod frames;
mod inertia;
mod meet;
mod pairs;
mod polyhedra;
mod round;
mod surface;
mod together;
mod touch;
pub(super) mod turn;
pub(crate) mod vector;

use crate::expr::NodeId;

use super::{Feature, Model, Shape};

pub(super) use features::Encounter;
pub(super) use flat::{RimWork, Rims};
pub(super) use frames::{SpaceFrame, halves};
pub(crate) use frames::{SpacePose, quaternion_of, quaternion_rate};
pub(super) use inertia::SpaceLink;
pub(super) use meet::{EncounterPlan, Hulls};
pub(super) use together::TouchPlan;
pub use together::TouchRule;
pub(super) use touch::SpaceTouch;
pub(super) use vector::dot;

/// Three numbers of a vector.
pub type Vector = [NodeId; 3];

/// A body in space; what is written for the plane in [`super::Body`] is zero then.
#[derive(Clone, Debug)]
pub struct SpaceBody {
    /// Origin in the frame of the carrier.
    pub position: Vector,
    /// How it is turned against the carrier.
    pub rotation: Rotation,
    /// Mass centre in body axes.
    pub center: Vector,
    /// Inertia about the mass centre in body axes, row by row, symmetric.
    pub inertia: [Vector; 3],
}

/// How a body is turned against the one that carries it.
#[derive(Clone, Debug, PartialEq)]
pub enum Rotation {
    /// About these axes of its own (0, 1, 2), one after the other; none: not at all.
    Turns(Vec<(usize, NodeId)>),
    /// In every way: the number of the free rotation in [`Model::free`].
    Free(usize),
}

/// A free rotation.
#[derive(Clone, Debug)]
pub struct FreeRotation {
    /// The body.
    pub body: usize,
    /// Unit quaternion (w, x, y, z) at the start.
    pub start: [NodeId; 4],
    /// Angular velocity at the start, in the axes of the carrier.
    pub spin: Vector,
    /// May be moved to satisfy the conditions of the start.
    pub guess: bool,
}

/// A named point or shape of a body in space, in body axes.
#[derive(Clone, Debug)]
pub enum SpaceShape {
    /// A point.
    Point(Vector),
    /// A plane; the normal points out of the material.
    Plane {
        /// A point of it.
        through: Vector,
        /// Outward normal, any length.
        normal: Vector,
    },
    /// A ball; with `hole` the material is outside.
    Ball {
        /// Centre.
        center: Vector,
        /// Radius.
        radius: NodeId,
        /// Material outside.
        hole: bool,
    },
    /// The edge of a disc: a circle.
    Rim {
        /// Centre.
        center: Vector,
        /// Axis, any length.
        axis: Vector,
        /// Radius.
        radius: NodeId,
    },
    /// An endless cylinder; with `hole` the material is outside.
    Cylinder {
        /// A point of the axis.
        through: Vector,
        /// Axis, any length.
        axis: Vector,
        /// Radius.
        radius: NodeId,
        /// Material outside.
        hole: bool,
    },
    /// A cone that widens from its apex without end; with `hole` it is a funnel and the material outside.
    Cone {
        /// Its tip.
        apex: Vector,
        /// The way it widens, any length.
        axis: Vector,
        /// Between axis and side.
        angle: NodeId,
        /// Material outside.
        hole: bool,
    },
    /// A ring with a round section; with `hole` it is a bent tube and the material outside.
    Torus {
        /// Centre.
        center: Vector,
        /// Axis, any length.
        axis: Vector,
        /// Radius of the middle line.
        radius: NodeId,
        /// Radius of the section.
        tube: NodeId,
        /// Material outside.
        hole: bool,
    },
    /// A surface given by formulas of two parameters; its normal is r_u × r_v.
    Surface {
        /// r(u, v).
        point: Vector,
        /// Numbers of the symbols u and v.
        parameters: [u32; 2],
        /// Ranges of u and v; `None` for z = f(x, y) without end.
        range: Option<[[NodeId; 2]; 2]>,
        /// The material is where the normal points to.
        hole: bool,
    },
    /// An ellipsoid around `center` with half axes along the body axes.
    Ellipsoid {
        /// Centre.
        center: Vector,
        /// Half axes.
        axes: Vector,
    },
    /// A straight line with rounded ends.
    Capsule {
        /// The two ends of its middle line.
        ends: [Vector; 2],
        /// Radius.
        radius: NodeId,
    },
    /// A finite cylinder with flat ends.
    Drum {
        /// The middles of the two ends.
        ends: [Vector; 2],
        /// Radius.
        radius: NodeId,
    },
    /// A box around `center`.
    Box {
        /// Centre.
        center: Vector,
        /// Half lengths along the body axes.
        half: Vector,
    },
    /// The convex hull of points.
    Hull(Vec<Vector>),
    /// What was read from a file or computed on a grid: mesh, hull, height field.
    Data(ShapeData),
    /// A direction, for joints.
    Direction(Vector),
}

impl SpaceShape {
    /// Everything that is given by formulas.
    pub(crate) fn formulas(&self) -> Vec<NodeId> {
        let join = |vectors: &[Vector], more: &[NodeId]| -> Vec<NodeId> {
            vectors.iter().flatten().chain(more).copied().collect()
        };
        match self {
            SpaceShape::Point(p) | SpaceShape::Direction(p) => join(&[*p], &[]),
            SpaceShape::Plane { through, normal } => join(&[*through, *normal], &[]),
            SpaceShape::Ball { center, radius, .. } => join(&[*center], &[*radius]),
            SpaceShape::Rim { center, axis, radius } => join(&[*center, *axis], &[*radius]),
            SpaceShape::Cylinder { through, axis, radius, .. } => join(&[*through, *axis], &[*radius]),
            SpaceShape::Cone { apex, axis, angle, .. } => join(&[*apex, *axis], &[*angle]),
            SpaceShape::Torus { center, axis, radius, tube, .. } => {
                join(&[*center, *axis], &[*radius, *tube])
            }
            SpaceShape::Surface { point, .. } => join(&[*point], &[]),
            SpaceShape::Ellipsoid { center, axes } => join(&[*center, *axes], &[]),
            SpaceShape::Capsule { ends, radius } | SpaceShape::Drum { ends, radius } => {
                join(ends, &[*radius])
            }
            SpaceShape::Box { center, half } => join(&[*center, *half], &[]),
            SpaceShape::Hull(points) => join(points, &[]),
            SpaceShape::Data(_) => Vec::new(),
        }
    }

    /// The word for messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            SpaceShape::Point(_) => "point",
            SpaceShape::Plane { .. } => "plane",
            SpaceShape::Ball { hole: true, .. } => "hollow ball",
            SpaceShape::Ball { .. } => "ball",
            SpaceShape::Rim { .. } => "rim",
            SpaceShape::Cylinder { hole: true, .. } => "tube",
            SpaceShape::Cylinder { .. } => "endless cylinder",
            SpaceShape::Cone { hole: true, .. } => "funnel",
            SpaceShape::Cone { .. } => "cone",
            SpaceShape::Torus { hole: true, .. } => "bent tube",
            SpaceShape::Torus { .. } => "torus",
            SpaceShape::Surface { .. } => "surface",
            SpaceShape::Ellipsoid { .. } => "ellipsoid",
            SpaceShape::Capsule { .. } => "capsule",
            SpaceShape::Drum { .. } => "cylinder",
            SpaceShape::Box { .. } => "box",
            SpaceShape::Hull(_) => "hull",
            SpaceShape::Data(data) => match data.form {
                crate::shape::Shape::Field(_) => "height field",
                crate::shape::Shape::Hull(_) => "hull",
                _ => "mesh",
            },
            SpaceShape::Direction(_) => "direction",
        }
    }

    /// A plane, or something convex and hollow: what lies above or inside touches with its outermost points.
    pub(crate) fn is_inward(&self) -> bool {
        matches!(
            self,
            SpaceShape::Plane { .. }
                | SpaceShape::Ball { hole: true, .. }
                | SpaceShape::Cylinder { hole: true, .. }
                | SpaceShape::Cone { hole: true, .. }
        )
    }

    /// Corners, edges and faces.
    pub(crate) fn is_polyhedron(&self) -> bool {
        matches!(self, SpaceShape::Box { .. } | SpaceShape::Hull(_))
    }

    /// The point that stands for it, in body axes.
    pub(crate) fn point(&self) -> Option<Vector> {
        match *self {
            SpaceShape::Point(p) => Some(p),
            SpaceShape::Plane { through, .. } | SpaceShape::Cylinder { through, .. } => Some(through),
            SpaceShape::Cone { apex, .. } => Some(apex),
            SpaceShape::Ball { center, .. }
            | SpaceShape::Rim { center, .. }
            | SpaceShape::Ellipsoid { center, .. }
            | SpaceShape::Torus { center, .. }
            | SpaceShape::Box { center, .. } => Some(center),
            SpaceShape::Capsule { .. }
            | SpaceShape::Drum { .. }
            | SpaceShape::Hull(_)
            | SpaceShape::Data(_)
            | SpaceShape::Surface { .. }
            | SpaceShape::Direction(_) => None,
        }
    }
}

/// A shape that is numbers, not formulas.
#[derive(Clone, Debug)]
pub struct ShapeData {
    pub(crate) form: crate::shape::Shape,
}

/// Directions of a contact in space.
#[derive(Clone, Debug, Default)]
pub struct SpaceContact {
    /// Second component of a slip given by formulas.
    pub slip: Option<NodeId>,
    /// First tangent, in the axes of B's body.
    pub tangent: Option<Vector>,
    /// Length that bounds the moment against rolling, over the normal force.
    pub rolling: Option<NodeId>,
    /// The same against the spin about the normal.
    pub drilling: Option<NodeId>,
    /// Spin about the normal of a contact given by formulas.
    pub spin: Option<NodeId>,
}

impl Model {
    /// Whether it moves in space.
    pub fn is_spatial(&self) -> bool {
        let of_space = |list: &[Feature]| list.iter().any(|f| matches!(f.shape, Shape::Space(_)));
        self.bodies.iter().any(|b| b.space.is_some() || of_space(&b.features)) || of_space(&self.ground)
    }

    /// Velocities that are solved for at the start, with their positions.
    pub(crate) fn guesses(&self) -> Vec<usize> {
        let n = self.coordinates.len();
        let free = (0..self.free.len()).filter(|&k| self.free[k].guess);
        let turns = free.flat_map(|k| (0..3).map(move |i| n + 3 * k + i));
        (0..n).filter(|&k| self.coordinates[k].guess).chain(turns).collect()
    }

    /// Positions and velocities of the state: those of the file, then those of free rotations.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        let (n, free) = (self.coordinates.len(), self.free.len());
        (n + 4 * free, n + 3 * free)
    }
}
