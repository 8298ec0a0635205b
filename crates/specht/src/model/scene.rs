//! What an animation needs: features as polylines and circles in body axes, and the poses of the bodies over time.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::expr::{NodeId, Symbol, Tape};
use crate::system::{Discrete, State, System};

use super::compiled::CompiledSystem;
use super::frames::Builder;
use super::{Draw, Feature, Input, Shape};

/// Everything that is drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Scene {
    /// Bodies in order; shapes in body axes.
    pub bodies: Vec<SceneBody>,
    /// Shapes of the fixed frame, extra drawings included.
    pub ground: Vec<SceneShape>,
}

/// Shapes of one body.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SceneBody {
    /// Name.
    pub name: String,
    /// Mass centre in body axes, when the body has mass.
    pub center: Option<[f64; 2]>,
    /// The body to which it is joined.
    pub on: Option<usize>,
    /// Shapes.
    pub shapes: Vec<SceneShape>,
}

/// One shape.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum SceneShape {
    /// A point.
    Point {
        /// Name of the feature.
        name: String,
        /// Where.
        at: [f64; 2],
    },
    /// An endless line; material against the normal.
    Line {
        /// Name of the feature.
        name: String,
        /// A point of it.
        through: [f64; 2],
        /// Unit normal out of the material.
        normal: [f64; 2],
    },
    /// A circle.
    Circle {
        /// Name of the feature.
        name: String,
        /// Centre.
        center: [f64; 2],
        /// Radius.
        radius: f64,
        /// Material outside.
        hole: bool,
    },
    /// A chain of straight pieces.
    Path {
        /// Name of the feature.
        name: String,
        /// Corners.
        points: Vec<[f64; 2]>,
        /// Last joins the first.
        closed: bool,
    },
}

const CURVE_POINTS: usize = 96;

impl Scene {
    pub(super) fn new(b: &mut Builder) -> Scene {
        let model = b.model;
        let mut bodies = Vec::new();
        for body in &model.bodies {
            let center = (body.mass != b.zero).then(|| body.center.map(|n| b.default_value(n)));
            let shapes = body.features.iter().map(|f| shape(b, f)).collect();
            bodies.push(SceneBody { name: body.name.clone(), center, on: body.on, shapes });
        }
        let mut ground: Vec<SceneShape> = model.ground.iter().map(|f| shape(b, f)).collect();
        for draw in &model.draws {
            ground.push(match draw {
                Draw::Path(points) => SceneShape::Path {
                    name: String::new(),
                    points: points.iter().map(|p| p.map(|n| b.default_value(n))).collect(),
                    closed: false,
                },
                Draw::Circle { center, radius } => SceneShape::Circle {
                    name: String::new(),
                    center: center.map(|n| b.default_value(n)),
                    radius: b.default_value(*radius),
                    hole: false,
                },
            });
        }
        Scene { bodies, ground }
    }
}

fn shape(b: &mut Builder, feature: &Feature) -> SceneShape {
    let name = feature.name.clone();
    let mut pair = |p: [NodeId; 2]| p.map(|n| b.default_value(n));
    match &feature.shape {
        Shape::Point(p) => SceneShape::Point { name, at: pair(*p) },
        Shape::Flat { through, normal } => {
            let (through, n) = (pair(*through), pair(*normal));
            let length = n[0].hypot(n[1]).max(f64::MIN_POSITIVE);
            SceneShape::Line { name, through, normal: n.map(|x| x / length) }
        }
        Shape::Round { center, radius, hole } => {
            let center = pair(*center);
            SceneShape::Circle { name, center, radius: b.default_value(*radius), hole: *hole }
        }
        Shape::Outline { points, closed, .. } => {
            SceneShape::Path { name, points: points.iter().map(|p| pair(*p)).collect(), closed: *closed }
        }
        Shape::Curve { point, parameter, range, .. } => {
            let [from, to] = pair(*range);
            let symbol = b.symbol(Input::Contour(usize::MAX));
            let sigma = b.g.sym(symbol);
            let map = BTreeMap::from([(Symbol(*parameter), sigma)]);
            let point = point.map(|n| b.replace(n, &map));
            let tape = Tape::new(&b.g, &point);
            let mut work = tape.workspace();
            let mut inputs = b.default_inputs();
            let points = (0..=CURVE_POINTS)
                .map(|k| {
                    inputs[symbol.0 as usize] = from + (to - from) * k as f64 / CURVE_POINTS as f64;
                    tape.eval(&inputs, &mut work);
                    [tape.output(&work, 0), tape.output(&work, 1)]
                })
                .collect();
            SceneShape::Path { name, points, closed: false }
        }
    }
}

impl CompiledSystem {
    /// Shapes for the animation.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The model from which the system was built.
    pub fn model(&self) -> &super::Model {
        &self.model
    }

    /// Names of the coordinates.
    pub fn coordinate_names(&self) -> Vec<&str> {
        self.model.coordinates.iter().map(|c| c.name.as_str()).collect()
    }

    /// Names of the first-order states; relaxing surfaces come last, as `NAME.surface`.
    pub fn state_names(&self) -> &[String] {
        &self.state_names
    }

    /// The contacts of the system that one contact of the model became (several for outlines).
    pub fn contacts_of(&self, model_contact: usize) -> std::ops::Range<usize> {
        self.of_model.get(model_contact).cloned().unwrap_or(0..0)
    }

    /// World poses (x, y, angle) of all bodies.
    pub fn poses(&self, s: &State, out: &mut Vec<[f64; 3]>) {
        let mut inputs = self.base.clone();
        let d = self.fresh_discrete();
        self.fill(s, &d, &mut inputs);
        let mut work = self.poses.workspace();
        self.poses.eval(&inputs, &mut work);
        out.clear();
        out.extend(
            (0..self.model.bodies.len()).map(|i| [0, 1, 2].map(|j| self.poses.output(&work, 3 * i + j))),
        );
    }

    /// A discrete state of the right sizes: everything open, no latch set.
    pub fn fresh_discrete(&self) -> Discrete {
        Discrete::new(&self.dims)
    }

    /// Relaxing surfaces at the start: at rest, or where the body presses them.
    pub(super) fn start_surfaces(&self, s: &mut State) {
        if self.flanks.iter().all(|f| f.surface.is_none()) {
            return;
        }
        let mut out = self.memory();
        let mut d = self.fresh_discrete();
        self.latch(s, &mut d, &mut out, false);
        self.evaluate(s, &d, &mut out);
        for f in &self.flanks {
            if let Some(state) = f.surface {
                s.z[state] = self.output(&out, f.gap).min(0.0);
            }
        }
    }
}

impl Builder<'_> {
    /// Inputs with default parameters, everything else zero.
    pub(super) fn default_inputs(&self) -> Vec<f64> {
        let mut inputs = vec![0.0; self.inputs.len()];
        for (k, input) in self.inputs.iter().enumerate() {
            if let Input::Parameter(p) = *input
                && let Some(parameter) = self.model.parameters.iter().find(|x| x.live == Some(p))
            {
                inputs[k] = parameter.value;
            }
        }
        inputs
    }

    /// Value of a node with the default parameters, everything else zero.
    pub(super) fn default_value(&mut self, node: NodeId) -> f64 {
        if let Some(value) = self.g.constant(node) {
            return value;
        }
        let inputs = self.default_inputs();
        let tape = Tape::new(&self.g, &[node]);
        let mut work = tape.workspace();
        tape.eval(&inputs, &mut work);
        tape.output(&work, 0)
    }
}
