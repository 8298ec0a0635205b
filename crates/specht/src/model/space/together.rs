//! Bodies that touch wherever they meet: frames, shapes and laws for [`Touching`].

use crate::expr::NodeId;
use crate::shape::{Hull, HullError, Shape as Form};
use crate::system::{Frame, Rule, Solid, Touching};

use super::super::contacts::{BuildError, ContactsPlan};
use super::super::frames::{Builder, Row};
use super::super::{Feature, Input, Shape, Span};
use super::SpaceShape;

/// A `[[touch]]` of the file.
#[derive(Clone, Debug)]
pub struct TouchRule {
    /// The contact that stands for all its points.
    pub contact: usize,
    /// Bodies that take part; `None` is the ground.
    pub bodies: Vec<Option<usize>>,
    /// Friction coefficient.
    pub friction: NodeId,
    /// Restitution.
    pub restitution: NodeId,
    /// Place in the file.
    pub span: Span,
}

/// What a shape is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Ball,
    Capsule,
    Box,
    Hull,
    Plane,
}

/// A shape: its numbers are outputs of the parameter tape, `count` from `source` on.
#[derive(Clone, Debug)]
struct SolidPlan {
    name: String,
    frame: usize,
    kind: Kind,
    nodes: Vec<NodeId>,
    source: usize,
}

/// Everything about bodies that touch, before the numbers are known.
#[derive(Clone, Debug, Default)]
pub(in crate::model) struct TouchPlan {
    frames: Vec<Frame>,
    bodies: Vec<Option<usize>>,
    solids: Vec<SolidPlan>,
    /// Members, contact, friction and restitution; the numbers are outputs of the parameter tape from `source` on.
    rules: Vec<(Vec<bool>, usize, [NodeId; 2], usize)>,
}

impl TouchPlan {
    /// Frames and shapes of the model; the rows of the frames are added to those of the contacts.
    pub(in crate::model) fn new(b: &mut Builder, plan: &mut ContactsPlan) -> Result<Self, BuildError> {
        let model = b.model;
        let mut out = TouchPlan::default();
        let mut bodies: Vec<Option<usize>> = model.touches.iter().flat_map(|t| t.bodies.clone()).collect();
        bodies.sort_unstable();
        bodies.dedup();
        for &body in &bodies {
            let row = plan.rows.len();
            let rows = b.touch_rows(body);
            let moves = rows.iter().any(|r| !r.columns.is_empty());
            plan.rows.extend(rows);
            let name = body.map_or("ground", |k| &model.bodies[k].name).to_string();
            let carrier = body.and_then(|k| model.bodies[k].on);
            let on = carrier.and_then(|c| bodies.iter().position(|&x| x == Some(c)));
            out.frames.push(Frame { name, row, on, moves });
        }
        for (frame, &body) in bodies.iter().enumerate() {
            for feature in body.map_or(&model.ground, |k| &model.bodies[k].features) {
                out.solids.extend(solid(b, feature, &out.frames[frame].name, frame)?);
            }
        }
        for t in &model.touches {
            let members = bodies.iter().map(|x| t.bodies.contains(x)).collect();
            let contact = plan.of_model.get(t.contact).map_or(0, |r| r.start);
            out.rules.push((members, contact, [t.friction, t.restitution], 0));
        }
        out.bodies = bodies;
        Ok(out)
    }

    /// Roots of the parameter tape.
    pub(in crate::model) fn register(&mut self, roots: &mut Vec<NodeId>) {
        for s in &mut self.solids {
            s.source = roots.len();
            roots.extend(&s.nodes);
        }
        for rule in &mut self.rules {
            rule.3 = roots.len();
            roots.extend(rule.2);
        }
    }

    /// Origins and axes of all frames, twelve nodes each.
    pub(in crate::model) fn poses(&self, b: &Builder) -> Vec<NodeId> {
        let of = |&body: &Option<usize>| b.space_frame(body).numbers().take(12).collect::<Vec<_>>();
        self.bodies.iter().flat_map(of).collect()
    }

    /// How many numbers the poses are.
    pub(in crate::model) fn numbers(&self) -> usize {
        12 * self.bodies.len()
    }

    /// First row of a body that takes part.
    pub(in crate::model) fn row_of(&self, body: Option<usize>) -> Option<usize> {
        self.bodies.iter().position(|&x| x == body).map(|k| self.frames[k].row)
    }

    /// With numbers; `value` gives an output of the parameter tape.
    pub(in crate::model) fn touching(&self, value: impl Fn(usize) -> f64) -> Option<Touching> {
        if self.rules.is_empty() {
            return None;
        }
        let mut solids = Vec::new();
        for s in &self.solids {
            let numbers: Vec<f64> = (0..s.nodes.len()).map(|k| value(s.source + k)).collect();
            if let Ok(shape) = s.kind.form(&numbers) {
                solids.push(Solid { name: s.name.clone(), frame: s.frame, shape });
            }
        }
        let rule = |(members, contact, _, source): &(Vec<bool>, usize, [NodeId; 2], usize)| Rule {
            contact: *contact,
            members: members.clone(),
            mu: value(*source).max(0.0),
            restitution: value(source + 1).clamp(0.0, 1.0),
        };
        Some(Touching { frames: self.frames.clone(), solids, rules: self.rules.iter().map(rule).collect() })
    }
}

impl Kind {
    /// The shape of these numbers.
    fn form(self, x: &[f64]) -> Result<Form, HullError> {
        let at = |k: usize| [x[3 * k], x[3 * k + 1], x[3 * k + 2]];
        Ok(match self {
            Kind::Ball => Form::Round { ends: [at(0), at(0)], radius: x[3] },
            Kind::Capsule => Form::Round { ends: [at(0), at(1)], radius: x[6] },
            Kind::Box => Form::Hull(Hull::cuboid(at(0), at(1))),
            Kind::Hull => {
                let points: Vec<[f64; 3]> = (0..x.len() / 3).map(at).collect();
                Form::Hull(Hull::around(&points)?)
            }
            Kind::Plane => {
                let n = at(1);
                let length = n.iter().map(|v| v * v).sum::<f64>().sqrt();
                Form::Plane { through: at(0), normal: n.map(|v| v / length) }
            }
        })
    }
}

/// The shape of a feature; `None` for points and directions, which touch nothing.
fn solid(
    b: &mut Builder,
    feature: &Feature,
    frame_name: &str,
    frame: usize,
) -> Result<Option<SolidPlan>, BuildError> {
    let name = format!("{frame_name}.{}", feature.name);
    let refuse = |message: String| BuildError { message, span: feature.span };
    let Shape::Space(shape) = &feature.shape else { return Ok(None) };
    let (kind, nodes) = match shape {
        SpaceShape::Point(_) | SpaceShape::Direction(_) => return Ok(None),
        SpaceShape::Ball { center, radius, hole: false } => {
            (Kind::Ball, center.iter().copied().chain([*radius]).collect())
        }
        SpaceShape::Capsule { ends, radius } => {
            (Kind::Capsule, ends.iter().flatten().copied().chain([*radius]).collect())
        }
        SpaceShape::Box { center, half } => (Kind::Box, center.iter().chain(half).copied().collect()),
        SpaceShape::Hull(points) => (Kind::Hull, points.iter().flatten().copied().collect()),
        SpaceShape::Plane { through, normal } => {
            (Kind::Plane, through.iter().chain(normal).copied().collect::<Vec<_>>())
        }
        other => {
            return Err(refuse(format!(
                "`{name}`: `[[touch]]` does not know the shape {}; balls, capsules, boxes, hulls and planes touch; leave its body out of `among`, or give it one of these",
                other.word()
            )));
        }
    };
    if nodes.iter().any(|&n| !b.depends_only(n, |i| matches!(i, Input::Parameter(_)))) {
        return Err(refuse(format!(
            "`{name}` changes its shape during the motion; what touches must be rigid: write constants, and let the body move"
        )));
    }
    let numbers: Vec<f64> = nodes.iter().map(|&n| b.default_value(n)).collect();
    kind.form(&numbers).map_err(|e| refuse(format!("`{name}`: {e}")))?;
    Ok(Some(SolidPlan { name, frame, kind, nodes, source: 0 }))
}

impl Builder<'_> {
    /// Six rows of a frame: velocity of its origin, angular velocity.
    fn touch_rows(&mut self, body: Option<usize>) -> Vec<Row> {
        let columns = self.space_columns(body);
        let frame = self.space_frame(body).clone();
        let zero = self.zero;
        let origin = frame.pose.origin;
        (0..6)
            .map(|i| Row {
                columns: columns.iter().map(|(k, c)| (*k, c[i])).filter(|x| x.1 != zero).collect(),
                value: if i < 3 { origin[i] } else { zero },
                rate: frame.velocity[i],
                rate_offset: frame.explicit[i],
                accel_offset: frame.accel[i],
            })
            .collect()
    }
}
