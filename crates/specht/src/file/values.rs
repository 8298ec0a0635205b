//! Values of bodies, features and contacts in formulas.

use super::builder::{Builder, Scope, Thing, Val};
use super::resolve::{Lowered, member, near, not_constant, unknown_part};
use crate::expr::{ExprError, NodeId, PathPart, Reference};
use crate::model::{FrictionTensor, Input};

impl Builder<'_> {
    /// `rod.x`, `rod.angle`, `rod.tip.y`, `ground.peg.x`: world values of a body (by element) or of the ground.
    pub(super) fn feature_value(
        &mut self,
        body: Option<usize>,
        parts: &[PathPart<'_>],
        r: &Reference<'_>,
    ) -> Lowered {
        if self.context.scope == Scope::Parameter {
            return Err(not_constant(r, "the ground"));
        }
        let pose = |b: &mut Self, e: usize| b.demand(Thing::Pose(e)).map_err(|x| x.at(r.span));
        let item = |val: &Val, k: usize| val.item(k).ok_or_else(|| super::builder::reported(r.span));
        if self.spatial.is_some() {
            return self.space_value(body, parts, r);
        }
        match (body, parts) {
            (Some(e), [field]) if field.indices.is_empty() && matches!(field.name, "x" | "y" | "angle") => {
                let pose = pose(self, e)?;
                let k = ["x", "y", "angle"].iter().position(|n| *n == field.name).unwrap_or(0);
                item(&pose, k)
            }
            (_, [what, field]) if what.name == "touch" && matches!(field.name, "x" | "y") => {
                self.touch_force(body, field, usize::from(field.name == "y"), r)
            }
            (_, [feature, field]) if matches!(field.name, "x" | "y") => {
                let k =
                    self.feature_index(body, feature.name).ok_or_else(|| self.no_feature(body, feature))?;
                let world = self.world_point(body, Some(k)).map_err(|b| b.at(r.span))?;
                Ok(world[usize::from(field.name == "y")])
            }
            (Some(_), [_, field]) => {
                let help = near(field.name, &["x", "y"]);
                Err(ExprError::new(field.span, format!("a point has no part `{}`", field.name), help))
            }
            (_, []) => {
                let name = r.parts[0].name;
                let help = if body.is_some() {
                    format!("write `{name}.x`, `{name}.y` or `{name}.angle`")
                } else {
                    "write `ground.point.x`".into()
                };
                Err(ExprError::new(r.span, format!("`{name}` is not a number"), help))
            }
            (Some(_), [field]) => {
                let known = self.feature_names(body);
                let mut all: Vec<&str> = vec!["x", "y", "angle"];
                all.extend(known.iter().map(String::as_str));
                let help = if known.iter().any(|n| n == field.name) {
                    format!("write `{0}.{1}.x` or `{0}.{1}.y`", r.parts[0].name, field.name)
                } else {
                    near(field.name, &all)
                };
                Err(ExprError::new(
                    field.span,
                    format!("`{}` of body `{}` is not a number", field.name, r.parts[0].name),
                    help,
                ))
            }
            _ => {
                Err(ExprError::new(r.span, format!("`{}` is not a number", r.text()), "write `body.point.x`"))
            }
        }
    }

    /// The same in space: `ball.z`, `ball.spin.x`, `ball.axis1.z`, `ball.tip.z`.
    pub(super) fn space_value(
        &mut self,
        body: Option<usize>,
        parts: &[PathPart<'_>],
        r: &Reference<'_>,
    ) -> Lowered {
        const COMPONENTS: [&str; 3] = ["x", "y", "z"];
        let component = |part: &PathPart<'_>| COMPONENTS.iter().position(|n| *n == part.name);
        let name = r.parts[0].name;
        match (body, parts) {
            (Some(e), [field]) if component(field).is_some() => {
                let world = self.space_point(Some(e), None).map_err(|b| b.at(r.span))?;
                Ok(world[component(field).unwrap_or(0)])
            }
            (Some(e), [what, field]) if what.name == "spin" && component(field).is_some() => {
                let val = self.demand(Thing::Spin(e)).map_err(|b| b.at(r.span))?;
                val.item(component(field).unwrap_or(0)).ok_or_else(|| super::builder::reported(r.span))
            }
            (Some(e), [what, field])
                if matches!(what.name, "axis1" | "axis2" | "axis3") && component(field).is_some() =>
            {
                let axis = ["axis1", "axis2", "axis3"].iter().position(|n| *n == what.name).unwrap_or(0);
                self.axis_value(e, axis, component(field).unwrap_or(0)).map_err(|b| b.at(r.span))
            }
            (_, [what, field]) if what.name == "touch" && component(field).is_some() => {
                self.touch_force(body, field, component(field).unwrap_or(0), r)
            }
            (_, [feature, field]) if component(field).is_some() => {
                let k =
                    self.feature_index(body, feature.name).ok_or_else(|| self.no_feature(body, feature))?;
                let world = self.space_point(body, Some(k)).map_err(|b| b.at(r.span))?;
                Ok(world[component(field).unwrap_or(0)])
            }
            (Some(_), _) => {
                let help = format!(
                    "write `{name}.x`, `.y`, `.z`, `{name}.spin.x`, `{name}.axis1.x` or `{name}.POINT.x`"
                );
                Err(ExprError::new(r.span, format!("`{}` is not a number", r.text()), help))
            }
            _ => Err(ExprError::new(
                r.span,
                format!("`{}` is not a number", r.text()),
                "write `ground.point.x`",
            )),
        }
    }

    /// The error for a feature that does not exist.
    pub(super) fn no_feature(&self, body: Option<usize>, part: &PathPart<'_>) -> ExprError {
        let known = self.feature_names(body);
        let owner = match body {
            Some(e) => format!("body `{}`", self.bodies.1[e].name),
            None => "the ground".to_string(),
        };
        let all: Vec<&str> = known.iter().map(String::as_str).collect();
        ExprError::new(part.span, format!("{owner} has no feature `{}`", part.name), near(part.name, &all))
    }

    pub(super) fn contact_value(&mut self, k: usize, r: &Reference<'_>) -> Lowered {
        let first = &r.parts[0];
        let (elements, rest) = self.contact_elements(k, &r.parts)?;
        if self.spatial.is_some()
            && let Some(found) = self.space_contact_value(elements[0], rest, r)
        {
            return found;
        }
        let [field] = rest else {
            let help = format!(
                "write `{0}.gap`, `{0}.slip`, `{0}.normal`, `{0}.tangential` or `{0}.mode`",
                first.name
            );
            return Err(ExprError::new(r.span, format!("`{}` is a contact, not a number", r.text()), help));
        };
        let scope = self.context.scope;
        let known = ["gap", "slip", "normal", "tangential", "mode", "heat", "impulse", "friction_n"];
        if !known.contains(&field.name) {
            return Err(unknown_part(r, &known));
        }
        if elements.len() == 2 && field.name != "impulse" {
            let help = format!("write `{0}.low.{1}` or `{0}.high.{1}`", first.name, field.name);
            return Err(ExprError::new(r.span, format!("`{}` has two flanks", first.name), help));
        }
        let e = elements[0];
        if matches!(field.name, "gap" | "slip") {
            let node = if field.name == "gap" { self.gap_node(e) } else { self.slip_node(e) };
            let node = node.map_err(|b| b.at(r.span))?.ok_or_else(|| {
                ExprError::new(r.span, format!("contact `{}` has no {}", first.name, field.name), "")
            })?;
            return self.derived(node, r);
        }
        if field.name == "heat" {
            return self.heat(e, r);
        }
        if r.primes > 0 {
            return Err(ExprError::new(r.span, "forces, modes and impulses have no derivative", ""));
        }
        let wanted = match field.name {
            "normal" if scope == Scope::Load => Scope::Load,
            "impulse" => Scope::Set,
            _ => Scope::Output,
        };
        if scope < wanted {
            let help = match field.name {
                "impulse" => "impulses are known in the `set` of an event",
                "normal" => "forces of contacts are known in outputs, in `set`, and in `normal_force`",
                _ => "forces and modes of contacts are known in outputs and in `set`",
            };
            return Err(ExprError::new(r.span, format!("`{}` is not known here", r.text()), help));
        }
        Ok(match field.name {
            "normal" => self.input(Input::Normal(e)),
            "tangential" => self.input(Input::Tangential(e)),
            "mode" => self.input(Input::Mode(e)),
            "impulse" => {
                let nodes: Vec<NodeId> = elements.iter().map(|&e| self.input(Input::Impulse(e))).collect();
                let zero = self.zero();
                nodes.into_iter().fold(zero, |a, b| self.model.graph.add(a, b))
            }
            _ => {
                let friction = self.model.contacts.get(e).and_then(|c| c.friction.as_ref());
                let leans = match friction.and_then(|f| f.tensor.as_ref()) {
                    Some(FrictionTensor::Entries(list)) => list.len() == 4 && self.spatial.is_none(),
                    Some(FrictionTensor::Regular) => true,
                    _ => false,
                };
                if !leans {
                    return Err(ExprError::new(
                        r.span,
                        "only a friction tensor over tangent and normal has a normal part",
                        "write  friction = [[tt, tn], [nt, nn]]  or  friction = { regular = mu }",
                    ));
                }
                self.input(Input::FrictionNormal(e))
            }
        })
    }

    /// What contact `e` took from the motion since the start, by friction and impacts: a state of its own; primed, its rate.
    pub(super) fn heat(&mut self, e: usize, r: &Reference<'_>) -> Lowered {
        if self.context.scope == Scope::Start {
            return Ok(self.zero());
        }
        let place = self.heats.iter().position(|h| *h == e).unwrap_or_else(|| {
            self.heats.push(e);
            self.heats.len() - 1
        });
        let node = self.input(Input::State(self.states.1.len() + place));
        self.derived(node, r)
    }

    /// The contact elements that a path means, and the parts behind them: both flanks of a play, or one.
    pub(super) fn contact_elements<'p, 'q>(
        &self,
        k: usize,
        parts: &'p [PathPart<'q>],
    ) -> Result<(Vec<usize>, &'p [PathPart<'q>]), ExprError> {
        let group = self.contacts.0[k];
        if !group.family && group.count == 1 && !parts[0].indices.is_empty() {
            let name = parts[0].name;
            return Err(ExprError::new(
                parts[0].span,
                format!("`{name}` is one contact in formulas, also where it has several corners"),
                format!(
                    "remove the index: the forces of `{name}.normal` add up over the corners; those of one corner are the columns of trajectory.csv"
                ),
            ));
        }
        let e = member(&self.contacts, k, &parts[0])?;
        if self.contacts.0[k].each == 2 {
            return Ok(match parts.get(1).map(|p| p.name) {
                Some("low") => (vec![e], &parts[2..]),
                Some("high") => (vec![e + 1], &parts[2..]),
                _ => (vec![e, e + 1], &parts[1..]),
            });
        }
        Ok((vec![e], &parts[1..]))
    }
}
