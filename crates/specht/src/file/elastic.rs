//! Elastic bodies by modal data: `modes = [{ coordinate = "q1", frequency = "5 Hz", damping = 0.02, mass = "1 kg", shape = { tip = [0, 0.8] } }]`.
//!
//! ```text
//! point = point + Σ shape_k q_k (body axes),     T += ½ m_k q̇_k²,     V += ½ m_k ω_k² q_k²,     force −2 D_k ω_k m_k q̇_k,     ω = 2 π f
//! ```
//!
//! The shapes are those of a free body (they neither move its mass centre nor turn it), small beside the body, so the coordinates couple
//! with the rigid motion through the forces at the points alone.

use super::builder::Builder;
use super::diagnostic::{Fault, Report, Resolved};
use super::fields::{Fields, Word};
use super::formula::Formula;
use super::keys;
use super::raw::key_word;
use super::tree::{Node, Value};
use crate::expr::{Ast, Dim, Exponents, Expr, Kind, NodeId};
use crate::model::{Body, Bound, Feature, Force, ForceKind, Law, Shape, Span};

/// One mode of vibration of a body.
#[derive(Clone, Debug)]
pub(super) struct RawMode {
    coordinate: Formula,
    frequency: Formula,
    damping: Option<Formula>,
    mass: Option<Formula>,
    /// Displacement of features per unit of the coordinate, in body axes.
    shape: Vec<(Word, [Formula; 2])>,
    span: Span,
}

/// Hz.
const FREQUENCY: Dim = Dim::Known(Exponents::whole([0, 0, -1, 0, 0]));

impl RawMode {
    /// The modes of a body.
    pub(super) fn read_all(fields: &Fields<'_>, report: &mut Report) -> Vec<RawMode> {
        let Some(entry) = fields.get("modes") else { return Vec::new() };
        match &entry.node.value {
            Value::List(list) => list.iter().filter_map(|n| RawMode::read(n, report)).collect(),
            _ => {
                let help = "write  modes = [{ coordinate = \"q1\", frequency = \"5 Hz\", shape = { tip = [0, 1] } }]";
                report.error(entry.node.span, "`modes` is a list of tables", help);
                Vec::new()
            }
        }
    }

    fn read(node: &Node, report: &mut Report) -> Option<RawMode> {
        let fields = Fields::of(node, keys::MODE, "a mode of a body", report)?;
        let mut shape = Vec::new();
        if let Some(entry) = fields.get("shape") {
            match &entry.node.value {
                Value::Table(list) => {
                    for e in list {
                        shape.push((key_word(e), super::raw_parts::pair(&e.node, &e.key, report)?));
                    }
                }
                _ => report.error(entry.node.span, "`shape` is a table", "write  shape = { tip = [0, 1] }"),
            }
        }
        for key in ["coordinate", "frequency"] {
            if fields.get(key).is_none() {
                report.error(fields.span, format!("this mode has no `{key}`"), format!("add  {key} = \"…\""));
            }
        }
        Some(RawMode {
            coordinate: fields.formula("coordinate", report)?,
            frequency: fields.formula("frequency", report)?,
            damping: fields.formula("damping", report),
            mass: fields.formula("mass", report),
            shape,
            span: node.span,
        })
    }
}

impl Builder<'_> {
    /// A point of a body where its elastic deformation brings it; in the scope of the body.
    pub(super) fn bent(
        &mut self,
        body: Option<usize>,
        feature: &str,
        mut at: [NodeId; 2],
    ) -> Resolved<[NodeId; 2]> {
        let Some(e) = body else { return Ok(at) };
        let raw = self.raw.clone();
        for mode in &raw.bodies[self.bodies.1[e].raw].modes {
            for (_, shape) in mode.shape.iter().filter(|(name, _)| name.text == feature) {
                let q = self.lower(&mode.coordinate)?;
                for k in 0..2 {
                    let amount = self.lower(&shape[k])?;
                    self.of_parameters(&shape[k], amount, "the shape of a mode")?;
                    let way = self.model.graph.mul(amount, q);
                    at[k] = self.model.graph.add(at[k], way);
                }
            }
        }
        Ok(at)
    }

    /// Massless frames that ride on the elastic bodies where their features are: forces at these features act on the modes too.
    pub(super) fn finish_elastic(&mut self) {
        let raw = self.raw.clone();
        for e in 0..self.bodies.1.len() {
            let body = &raw.bodies[self.bodies.1[e].raw];
            for (k, feature) in body.features.iter().enumerate() {
                if !body.modes.iter().any(|m| m.shape.iter().any(|(name, _)| name.text == feature.name.text))
                {
                    continue;
                }
                let place = self.body_place[e];
                let Some(Feature { shape, span, .. }) =
                    self.model.bodies.get(place).and_then(|b| b.features.get(k)).cloned()
                else {
                    continue;
                };
                let zero = self.zero();
                let origin = [zero; 2];
                let (position, shape) = match shape {
                    Shape::Point(at) => (at, Shape::Point(origin)),
                    Shape::Round { center, radius, hole } => {
                        (center, Shape::Round { center: origin, radius, hole })
                    }
                    Shape::Flat { through, normal } => (through, Shape::Flat { through: origin, normal }),
                    _ => {
                        let help = "give the body a point there";
                        self.report.error(span, "only points, rounds and flats move with a mode", help);
                        continue;
                    }
                };
                let name = feature.name.text.clone();
                self.elastic.insert((e, k), self.model.bodies.len());
                self.model.bodies.push(Body {
                    name: format!("{}.{name}", self.bodies.1[e].name),
                    on: Some(place),
                    position,
                    angle: zero,
                    mass: zero,
                    inertia: zero,
                    center: origin,
                    kinetic: None,
                    space: None,
                    features: vec![Feature { name, shape, span }],
                    span,
                });
            }
        }
    }

    /// Kinetic energy of the modes of a body, added to its own; springs and dampers join the forces. In the scope of the body.
    pub(super) fn vibrate(&mut self, e: usize, name: &str, own: Option<NodeId>) -> Resolved<Option<NodeId>> {
        let raw = self.raw.clone();
        let body = &raw.bodies[self.bodies.1[e].raw];
        let mut kinetic = own;
        for (k, mode) in body.modes.iter().enumerate() {
            if let Some((word, _)) =
                mode.shape.iter().find(|(w, _)| body.features.iter().all(|f| f.name.text != w.text))
            {
                let message = format!("body `{name}` has no feature `{}`", word.text);
                self.report.error(word.span, message, "a shape tells how the features of the body move");
                return Err(Fault::Reported);
            }
            let Kind::Name { parts, primes: 0 } = &mode.coordinate.ast.root.kind else {
                return Err(mode
                    .coordinate
                    .error("this is not a coordinate", "name one of [coordinates]")
                    .into());
            };
            let rate = Expr {
                kind: Kind::Name { parts: parts.clone(), primes: 1 },
                ..mode.coordinate.ast.root.clone()
            };
            let rate = Ast { source: mode.coordinate.ast.source.clone(), root: rate };
            let rate = Formula { ast: rate.into(), ..mode.coordinate.clone() };
            let (q, u) = (self.lower(&mode.coordinate)?, self.lower(&rate)?);
            let f = self.positive(&mode.frequency, FREQUENCY, "the frequency of a mode")?;
            let m = match &mode.mass {
                Some(mass) => self.positive(mass, Dim::MASS, "the mass of a mode")?,
                None => self.model.graph.num(1.0),
            };
            let damping = match &mode.damping {
                Some(d) => self.lower_as(d, Dim::NONE, "the damping of a mode")?,
                None => self.zero(),
            };
            let length = self.zero();
            let g = &mut self.model.graph;
            let turn = g.num(std::f64::consts::TAU);
            let (half, two) = (g.num(0.5), g.num(2.0));
            let omega = g.mul(turn, f);
            let (uu, momentum) = (g.mul(u, u), g.mul(m, omega));
            let (mass_half, stiffness) = (g.mul(half, m), g.mul(momentum, omega));
            let energy = g.mul(mass_half, uu);
            kinetic = Some(match kinetic {
                Some(own) => g.add(own, energy),
                None => energy,
            });
            let twice = g.mul(two, damping);
            let damper = g.mul(twice, momentum);
            self.model.forces.push(Force {
                name: format!("{name}.mode[{}]", k + 1),
                kind: ForceKind::Along {
                    stretch: q,
                    law: Law { force: None, spring: Some(stiffness), length, damper: Some(damper) },
                },
                span: mode.span,
            });
        }
        Ok(kinetic)
    }

    fn positive(&mut self, formula: &Formula, dim: Dim, what: &str) -> Resolved<NodeId> {
        let node = self.lower_as(formula, dim, what)?;
        self.of_parameters(formula, node, what)?;
        self.bounded(formula, node, Bound::Positive, what)?;
        Ok(node)
    }
}
