//! Bodies that touch wherever they meet: frames, shapes and laws for [`Touching`].

use crate::expr::NodeId;
use crate::shape::{Hull, HullError, MeshError, Outline, Shape as Form};
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
#[derive(Clone, Debug)]
enum Kind {
    Ball,
    Capsule,
    Cylinder,
    Box,
    Hull,
    Plane,
    /// In the plane: a disc, a straight line, an outline (closed, material on the left).
    Disc,
    Line,
    Outline(bool, bool),
    /// Numbers already.
    Data(Form),
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
    /// Origins and axes of all frames, twelve nodes each.
    poses: Vec<NodeId>,
    planar: bool,
}

impl TouchPlan {
    /// Frames and shapes of the model; the rows of the frames are added to those of the contacts.
    pub(in crate::model) fn new(b: &mut Builder, plan: &mut ContactsPlan) -> Result<Self, BuildError> {
        let model = b.model;
        let mut out = TouchPlan { planar: !model.is_spatial(), ..TouchPlan::default() };
        let mut bodies: Vec<Option<usize>> = model.touches.iter().flat_map(|t| t.bodies.clone()).collect();
        bodies.sort_unstable();
        bodies.dedup();
        for &body in &bodies {
            let row = plan.rows.len();
            let rows = if out.planar { b.planar_touch_rows(body) } else { b.touch_rows(body) };
            let pose = if out.planar {
                b.planar_pose(body)
            } else {
                b.space_frame(body).numbers().take(12).collect()
            };
            out.poses.extend(pose);
            let moves = rows.iter().any(|r| !r.columns.is_empty());
            plan.rows.extend(rows);
            let name = body.map_or("ground", |k| &model.bodies[k].name).to_string();
            let carrier = body.and_then(|k| model.bodies[k].on);
            let on = carrier.and_then(|c| bodies.iter().position(|&x| x == Some(c)));
            out.frames.push(Frame { name, row, on, moves });
        }
        for (frame, &body) in bodies.iter().enumerate() {
            for feature in body.map_or(&model.ground, |k| &model.bodies[k].features) {
                out.solids.extend(solid(b, feature, (&out.frames[frame], frame))?);
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
    pub(in crate::model) fn poses(&self) -> Vec<NodeId> {
        self.poses.clone()
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
        let rules = self.rules.iter().map(rule).collect();
        Some(Touching { frames: self.frames.clone(), solids, rules, planar: self.planar })
    }
}

impl Kind {
    /// The shape of these numbers.
    fn form(&self, x: &[f64]) -> Result<Form, String> {
        let at = |k: usize| [x[3 * k], x[3 * k + 1], x[3 * k + 2]];
        let flat = |k: usize| [x[2 * k], x[2 * k + 1], 0.0];
        Ok(match self {
            Kind::Data(form) => form.clone(),
            Kind::Disc => Form::Round { ends: [flat(0), flat(0)], radius: x[2] },
            Kind::Line => {
                let n = flat(1);
                let length = n[0].hypot(n[1]);
                Form::Plane { through: flat(0), normal: n.map(|v| v / length) }
            }
            Kind::Outline(closed, left) => {
                let points: Vec<[f64; 2]> = x.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
                let outline = Outline::of(&points, *closed, *left);
                let outline = outline.ok_or("its edges have no length, or it meets itself; corners need a distance from edges that are not theirs")?;
                if *closed && outline.area() < 0.0 {
                    return Err(
                        "the material of a body that touches is inside its outline: change `material`".into(),
                    );
                }
                Form::Outline(outline)
            }
            Kind::Ball => Form::Round { ends: [at(0), at(0)], radius: x[3] },
            Kind::Capsule => Form::Round { ends: [at(0), at(1)], radius: x[6] },
            Kind::Cylinder => Form::Cylinder { ends: [at(0), at(1)], radius: x[6] },
            Kind::Box => Form::Hull(Hull::cuboid(at(0), at(1))),
            Kind::Hull => {
                let points: Vec<[f64; 3]> = (0..x.len() / 3).map(at).collect();
                Form::Hull(Hull::around(&points).map_err(|e: HullError| e.to_string())?)
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
    (of, frame): (&Frame, usize),
) -> Result<Option<SolidPlan>, BuildError> {
    let name = format!("{}.{}", of.name, feature.name);
    let refuse = |message: String| BuildError { message, span: feature.span };
    let Shape::Space(shape) = &feature.shape else {
        let Some((kind, nodes)) = planar(&feature.shape, &name).map_err(refuse)? else { return Ok(None) };
        return plan(b, feature, (name, frame), kind, nodes).map(Some);
    };
    let (kind, nodes) = match shape {
        SpaceShape::Data(data) => {
            (Kind::Data(carried(&data.form, of.moves, &name).map_err(refuse)?), Vec::new())
        }
        SpaceShape::Point(_) | SpaceShape::Direction(_) => return Ok(None),
        SpaceShape::Ball { center, radius, hole: false } => {
            (Kind::Ball, center.iter().copied().chain([*radius]).collect())
        }
        SpaceShape::Capsule { ends, radius } => {
            (Kind::Capsule, ends.iter().flatten().copied().chain([*radius]).collect())
        }
        SpaceShape::Drum { ends, radius } => {
            (Kind::Cylinder, ends.iter().flatten().copied().chain([*radius]).collect())
        }
        SpaceShape::Box { center, half } => (Kind::Box, center.iter().chain(half).copied().collect()),
        SpaceShape::Hull(points) => (Kind::Hull, points.iter().flatten().copied().collect()),
        SpaceShape::Plane { through, normal } => {
            (Kind::Plane, through.iter().chain(normal).copied().collect::<Vec<_>>())
        }
        other => {
            return Err(refuse(format!(
                "`{name}`: `[[touch]]` does not know the shape {}; balls, capsules, cylinders with two ends, boxes, hulls, planes, meshes and height fields touch; leave its body out of `among`, or give it one of these",
                other.word()
            )));
        }
    };
    plan(b, feature, (name, frame), kind, nodes).map(Some)
}

/// What a mesh is on a body that moves: the convex body that it encloses.
fn carried(form: &Form, moves: bool, name: &str) -> Result<Form, String> {
    match form {
        Form::Mesh(mesh) if moves => mesh.convex().map(Form::Hull).map_err(|e| {
            let remedy = match e {
                MeshError::NotConvex(_) => {
                    "give the body several convex meshes, one feature each, or write `hull` instead of `mesh` to take its convex hull"
                }
                MeshError::Open(_) => "close its holes, or write `hull` instead of `mesh` to take its convex hull",
                MeshError::TooFine(_) => "export a coarser mesh",
                _ => "what moves needs a volume",
            };
            format!("`{name}`: {e}; {remedy}")
        }),
        Form::Field(_) if moves => Err(format!(
            "`{name}`: a height field carries others and does not move with a coordinate; give it to [ground]"
        )),
        other => Ok(other.clone()),
    }
}

/// A shape in the plane; `None` for points.
fn planar(shape: &Shape, name: &str) -> Result<Option<(Kind, Vec<NodeId>)>, String> {
    Ok(Some(match shape {
        Shape::Flat { through, normal } => (Kind::Line, through.iter().chain(normal).copied().collect()),
        Shape::Round { center, radius, hole: false } => {
            (Kind::Disc, center.iter().copied().chain([*radius]).collect())
        }
        Shape::Outline { points, closed, material_left } => {
            (Kind::Outline(*closed, *material_left), points.iter().flatten().copied().collect())
        }
        Shape::Round { .. } | Shape::Curve { .. } => {
            return Err(format!(
                "`{name}`: in the plane `[[touch]]` knows discs, outlines and straight lines; leave its body out of `among`, or write an outline"
            ));
        }
        Shape::Point(_) | Shape::Space(_) => return Ok(None),
    }))
}

/// A shape whose numbers are known once the parameters are.
fn plan(
    b: &mut Builder,
    feature: &Feature,
    (name, frame): (String, usize),
    kind: Kind,
    nodes: Vec<NodeId>,
) -> Result<SolidPlan, BuildError> {
    let refuse = |message: String| BuildError { message, span: feature.span };
    if nodes.iter().any(|&n| !b.depends_only(n, |i| matches!(i, Input::Parameter(_)))) {
        return Err(refuse(format!(
            "`{name}` changes its shape during the motion; what touches must be rigid: write constants, and let the body move"
        )));
    }
    let numbers: Vec<f64> = nodes.iter().map(|&n| b.default_value(n)).collect();
    kind.form(&numbers).map_err(|e| refuse(format!("`{name}`: {e}")))?;
    Ok(SolidPlan { name, frame, kind, nodes, source: 0 })
}

impl Builder<'_> {
    /// Six rows of a frame in the plane; those that leave it are empty.
    fn planar_touch_rows(&mut self, body: Option<usize>) -> Vec<Row> {
        let columns = self.columns(body);
        let frame = self.frame(body).clone();
        let zero = self.zero;
        let origin = frame.pose.origin;
        [Some(0), Some(1), None, None, None, Some(2)]
            .map(|i| match i {
                Some(i) => Row {
                    columns: columns.iter().map(|(k, c)| (*k, c[i])).filter(|x| x.1 != zero).collect(),
                    value: if i < 2 { origin[i] } else { zero },
                    rate: frame.velocity[i],
                    rate_offset: frame.explicit[i],
                    accel_offset: self.dot(frame.velocity[i]),
                    natural: Vec::new(),
                },
                None => Row {
                    columns: Vec::new(),
                    value: zero,
                    rate: zero,
                    rate_offset: zero,
                    accel_offset: zero,
                    natural: Vec::new(),
                },
            })
            .into()
    }

    /// Origin and axes of a frame in the plane.
    fn planar_pose(&mut self, body: Option<usize>) -> Vec<NodeId> {
        let pose = self.frame(body).pose;
        let back = self.g.neg(pose.sin);
        let (zero, one) = (self.zero, self.one);
        let [x, y] = pose.origin;
        vec![x, y, zero, pose.cos, back, zero, pose.sin, pose.cos, zero, zero, zero, one]
    }

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
                natural: Vec::new(),
            })
            .collect()
    }
}
