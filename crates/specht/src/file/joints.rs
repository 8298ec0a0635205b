//! Joints and friction that only models in space have: directions, guides, ball joints, ellipses, patches, rolling and drilling.

use super::builder::{Builder, Context};
use super::diagnostic::{Report, Resolved, fault};
use super::fields::Fields;
use super::formula::Formula;
use super::keys;
use super::raw_parts::{RawContact, RawFriction, RawGeometry, RawShape};
use super::raw_space::RawSpaceShape;
use super::tree::Node;
use crate::expr::{Dim, NodeId};
use crate::model::{FeatureRef, Friction, FrictionTensor, Input, SpaceContact, Span};
use crate::system::Pressure;

/// `friction = { value = mu, patch = { radius, pressure } }`.
pub(super) fn patch(
    fields: &Fields<'_>,
    node: &Node,
    contact: &str,
    report: &mut Report,
) -> Option<RawFriction> {
    let of = Fields::of(node, keys::PATCH, &format!("patch of `{contact}`"), report)?;
    for (place, key) in [(fields, "value"), (&of, "radius")] {
        if place.get(key).is_none() {
            let help = "write  friction = { value = mu, patch = { radius = \"a\", pressure = \"uniform\" } }";
            report.error(node.span, format!("the patch of `{contact}` has no `{key}`"), help);
        }
    }
    let pressure = match of.choice("pressure", keys::PRESSURES, report).as_deref() {
        Some("hertz") => Pressure::Hertz,
        Some("ring") => Pressure::Ring,
        _ => Pressure::Uniform,
    };
    Some(RawFriction::Patch {
        value: fields.formula("value", report)?,
        radius: of.formula("radius", report)?,
        pressure,
    })
}

impl Builder<'_> {
    /// Keys of contacts that belong to other kinds of contacts.
    pub(super) fn check_joint(&self, c: &RawContact) -> Resolved<()> {
        let name = &c.name.text;
        let [rolling, drilling, spin] = &c.in_space;
        let between = matches!(c.geometry, RawGeometry::Between(_));
        for (formula, key) in [(rolling, "rolling"), (drilling, "drilling")] {
            let Some(f) = formula else { continue };
            if self.spatial.is_none() || !between {
                let message = format!("`{key}` of `{name}` needs two bodies in space that touch");
                return Err(f
                    .error(
                        message,
                        "it belongs to  between = [\"ball.skin\", \"ground.table\"]  of bodies in space",
                    )
                    .into());
            }
        }
        let patch = matches!(c.friction, Some((RawFriction::Patch { .. }, _)));
        if let (Some(f), false) = (spin, patch) {
            let help = "write  friction = { value = mu, patch = { radius = \"a\" } }";
            return Err(f.error(format!("`spin` of `{name}` belongs to a patch"), help).into());
        }
        let joins = match &c.geometry {
            RawGeometry::Guide(pair) => Some((&pair[0], "guide", true)),
            RawGeometry::Directions(pair, parallel) => {
                Some((&pair[0], if *parallel { "parallel" } else { "perpendicular" }, false))
            }
            _ => None,
        };
        let Some((place, key, guide)) = joins else { return Ok(()) };
        if self.spatial.is_none() {
            let help = "in the plane write  gap = \"…\"  with  bilateral = true";
            return Err(place.error(format!("`{key}` belongs to models in space"), help).into());
        }
        let extra = [&c.spring, &c.damper, &c.normal_force].into_iter().flatten().next();
        let rubs = c.friction.as_ref().map(|f| f.1).filter(|_| !guide);
        if let Some(span) = extra.map(|f| f.span).or(rubs) {
            let help = if guide {
                "a guide has `slip` and `friction`"
            } else {
                "directions are kept without friction"
            };
            return Err(fault(span, format!("this does not belong to `{key}` of `{name}`"), help));
        }
        if let Some(second) = &c.second_slip {
            return Err(second
                .error(format!("the guide `{name}` leaves one direction of slip"), "give one formula")
                .into());
        }
        Ok(())
    }

    /// Both features are directions, of two bodies.
    pub(super) fn check_directions(&self, pair: &[Formula; 2], features: [FeatureRef; 2]) -> Resolved<()> {
        for (r, formula) in features.into_iter().zip(pair) {
            let list = match r.body {
                Some(e) => &self.raw.bodies[self.bodies.1[e].raw].features,
                None => &self.raw.ground,
            };
            let shape = r.feature.and_then(|k| list.get(k)).map(|f| &f.shape);
            if !matches!(shape, Some(RawShape::Space(RawSpaceShape::Direction(_)))) {
                let help = "give the body  features = { u = { direction = [x, y, z] } }";
                return Err(formula.error("this is not a direction", help).into());
            }
        }
        if features[0].body == features[1].body {
            return Err(pair[1].error("a joint is between two different bodies", "").into());
        }
        Ok(())
    }

    /// An ellipse or a patch.
    pub(super) fn plane_friction(
        &mut self,
        e: usize,
        c: &RawContact,
        friction: &RawFriction,
        sliding: &Context,
        resting: &Context,
        key: Span,
    ) -> Resolved<Friction> {
        let plane =
            c.second_slip.is_some() || (matches!(c.geometry, RawGeometry::Between(_)) && c.slip.is_none());
        if self.spatial.is_none() || !plane {
            let message =
                format!("the friction of `{}` belongs to two directions of slip in space", c.name.text);
            return Err(fault(key, message, "give a coefficient,  friction = 0.3"));
        }
        let positive =
            |b: &mut Self, f: &Formula, context: &Context, dim: Dim, what: &str| -> Resolved<NodeId> {
                let node = b.within(context.clone(), |b| b.lower_as(f, dim, what))?;
                b.not_negative(f, node, what)?;
                Ok(node)
            };
        match friction {
            RawFriction::Ellipse(pair) => {
                let mut axes = [self.zero(); 2];
                for (node, f) in axes.iter_mut().zip(pair) {
                    *node = positive(self, f, sliding, Dim::NONE, "a friction coefficient")?;
                    if self.default_value(*node) == Some(0.0) {
                        let help = "it must be positive; for a skate give `slip` one formula";
                        return Err(f.error("a half axis of the ellipse is zero", help).into());
                    }
                }
                let tensor = Some(FrictionTensor::Ellipse(axes));
                Ok(Friction { sliding: axes[0], sticking: axes[0], tensor })
            }
            RawFriction::Patch { value, radius, pressure } => {
                let moving = positive(self, value, sliding, Dim::NONE, "a friction coefficient")?;
                let rest = positive(self, value, resting, Dim::NONE, "a friction coefficient")?;
                let (radius, power) = self.radius_of_patch(e, radius, sliding)?;
                let tensor = Some(FrictionTensor::Patch { radius, pressure: *pressure, power });
                Ok(Friction { sliding: moving, sticking: rest, tensor })
            }
            _ => Err(super::diagnostic::Fault::Reported),
        }
    }

    /// The radius of a patch under a normal force of one newton, and the power of that force with which it grows.
    fn radius_of_patch(&mut self, e: usize, f: &Formula, context: &Context) -> Resolved<(NodeId, f64)> {
        let what = "the radius of a patch";
        let mut context = context.clone();
        let normal = self.input(Input::Normal(e));
        if self.names.get("normal").is_none() {
            context.locals.push(("normal".to_string(), normal));
        }
        let node = self.within(context, |b| b.lower_as(f, Dim::LENGTH, what))?;
        let force = self.model.graph.symbols(&[normal])[0];
        let Some(power) = self.model.graph.power_of(node, force) else {
            let help = "it may be a product with a power of `normal`:  a1*normal^(1/3)  or  (3*normal*R/(4*E))^(1/3)";
            return Err(f.error(format!("{what} is no power of the normal force"), help).into());
        };
        if !(power >= 0.0 && power.is_finite()) {
            let help = "a patch grows with the force that presses it";
            return Err(f.error(format!("{what} falls with the normal force"), help).into());
        }
        let one = self.model.graph.num(1.0);
        let radius = self.model.graph.substitute(node, &std::collections::BTreeMap::from([(force, one)]));
        if let Some(value) = self.default_value(radius)
            && !(value >= 0.0 && value.is_finite())
        {
            return Err(f.error(format!("{what} is {value}"), "it cannot be negative").into());
        }
        self.of_positions(f, radius, what)?;
        Ok((radius, power))
    }

    /// `rolling`, `drilling`, `spin` of a contact.
    pub(super) fn resistances(
        &mut self,
        c: &RawContact,
        context: &Context,
        out: &mut SpaceContact,
    ) -> Resolved<()> {
        let length = |b: &mut Self, f: &Formula, what: &str| -> Resolved<NodeId> {
            let node = b.within(context.clone(), |b| b.lower_as(f, Dim::LENGTH, what))?;
            b.not_negative(f, node, what)?;
            Ok(node)
        };
        let [rolling, drilling, spin] = &c.in_space;
        if let Some(f) = rolling {
            out.rolling = Some(length(self, f, "the length of rolling resistance")?);
        }
        if let Some(f) = drilling {
            out.drilling = Some(length(self, f, "the length of drilling resistance")?);
        }
        if let Some(f) = spin {
            out.spin = Some(self.within(context.clone(), |b| -> Resolved<_> {
                let node = b.lower(f)?;
                b.linear_in_velocities(f, node)?;
                Ok(node)
            })?);
        }
        Ok(())
    }
}
