//! Smooth forces: where they act and their laws.

use super::builder::{Blocked, Builder, Context, Scope, Thing, Val};
use super::diagnostic::{Fault, Resolved, fault};
use super::formula::Formula;
use super::make::wrong_dimension;
use super::raw_parts::{RawForceKind, RawLaw};
use super::resolve::unknown_part;
use crate::expr::{Dim, Exponents, ExprError, NodeId, Reference};
use crate::model::{Force, ForceKind, Law, Span, vector};

/// J.
const ENERGY: Dim = Dim::Known(Exponents::whole([2, 1, -2, 0, 0]));
/// N.
const FORCE: Dim = Dim::Known(Exponents::whole([1, 1, -2, 0, 0]));

impl Builder<'_> {
    /// Forces of the model.
    pub(super) fn finish_forces(&mut self) {
        for e in 0..self.forces.1.len() {
            let made = self.force(e);
            if let Some(force) = self.keep(made) {
                self.model.forces.push(force);
            }
        }
    }

    fn force_context(&mut self, e: usize) -> Context {
        let element = self.forces.1[e].clone();
        let family = self.raw.forces[element.raw].family.clone();
        self.place_of(Scope::Motion, family.as_ref(), &element)
    }

    fn force(&mut self, e: usize) -> Resolved<Force> {
        let raw = self.raw.clone();
        let element = self.forces.1[e].clone();
        let force = &raw.forces[element.raw];
        let span = force.name.as_ref().map_or(force.span, |n| n.span);
        let context = self.force_context(e);
        let kind = match &force.kind {
            RawForceKind::Along(..) | RawForceKind::Between(..) => {
                self.law_force(e, &force.kind, span, context)?
            }
            RawForceKind::At { point, force, body_axes } => self.within(context, |b| -> Resolved<_> {
                let at = b.feature_ref(point)?;
                if at.body.is_none() {
                    return Err(point
                        .error("a force on the ground moves nothing", "name a point of a body")
                        .into());
                }
                b.world_point(at.body, at.feature).map_err(|x| blocked(point, x))?;
                let fx = b.lower_force(&force[0], FORCE, "a force")?;
                let fy = b.lower_force(&force[1], FORCE, "a force")?;
                Ok(ForceKind::At { point: b.placed(at), force: [fx, fy], body_axes: *body_axes })
            })?,
            RawForceKind::Torque { body, torque, against } => self.within(context, |b| -> Resolved<_> {
                let on = b.body_ref(body)?;
                let against = b.against(against.as_ref())?;
                if b.raw.bodies[b.bodies.1[on].raw].angle.is_none() && b.body_parent[on].is_none() {
                    let name = &b.bodies.1[on].name;
                    return Err(body
                        .error(format!("body `{name}` cannot turn"), "give it  angle = \"phi\"")
                        .into());
                }
                let torque = b.lower_force(torque, ENERGY, "a torque")?;
                Ok(ForceKind::Torque { body: b.body_place[on], torque, against })
            })?,
            RawForceKind::AtSpace { point, force, body_axes } => {
                self.within(context, |b| -> Resolved<_> {
                    let at = b.feature_ref(point)?;
                    if at.body.is_none() {
                        return Err(point
                            .error("a force on the ground moves nothing", "name a point of a body")
                            .into());
                    }
                    b.space_point(at.body, at.feature).map_err(|x| blocked(point, x))?;
                    let mut list = [b.zero(); 3];
                    for (node, f) in list.iter_mut().zip(force) {
                        *node = b.lower_force(f, FORCE, "a force")?;
                    }
                    Ok(ForceKind::AtSpace { point: b.placed(at), force: list, body_axes: *body_axes })
                })?
            }
            RawForceKind::TorqueSpace { body, torque, axis, body_axes, against } => {
                self.within(context, |b| {
                    let on = b.body_ref(body)?;
                    let against = b.against(against.as_ref())?;
                    let torque = b.space_torque(torque, axis.as_ref(), &element.name)?;
                    Ok::<_, Fault>(ForceKind::TorqueSpace {
                        body: b.body_place[on],
                        torque,
                        body_axes: *body_axes,
                        against,
                    })
                })?
            }
            RawForceKind::Potential(formula) => self.within(context, |b| -> Resolved<_> {
                let node = b.lower_as(formula, ENERGY, "a potential")?;
                b.of_positions(formula, node, "a potential")?;
                Ok(ForceKind::Potential(node))
            })?,
        };
        Ok(Force { name: element.name, kind, span })
    }

    /// A spring, a damper or a force along a formula or between two points.
    fn law_force(
        &mut self,
        e: usize,
        kind: &RawForceKind,
        span: Span,
        context: Context,
    ) -> Resolved<ForceKind> {
        let parts = self.known(Thing::Force(e), span)?;
        let item = |k: usize| parts.item(k).ok_or(Fault::Reported);
        let law = |b: &Self, law: &RawLaw| -> Resolved<Law> {
            let _ = b;
            Ok(Law {
                force: law.force.as_ref().map(|_| item(2)).transpose()?,
                spring: law.spring.as_ref().map(|_| item(3)).transpose()?,
                length: item(4)?,
                damper: law.damper.as_ref().map(|_| item(5)).transpose()?,
            })
        };
        let stretch = item(1)?;
        Ok(match kind {
            RawForceKind::Between([a, b], l) => {
                let (a, b) =
                    self.within(context, |s| -> Resolved<_> { Ok((s.feature_ref(a)?, s.feature_ref(b)?)) })?;
                ForceKind::Between { a: self.placed(a), b: self.placed(b), stretch, law: law(self, l)? }
            }
            RawForceKind::Along(_, l) => ForceKind::Along { stretch, law: law(self, l)? },
            _ => return Err(Fault::Reported),
        })
    }

    /// The body that takes the opposite torque, none for the ground.
    fn against(&mut self, against: Option<&Formula>) -> Resolved<Option<usize>> {
        Ok(match against {
            Some(f) if f.ast.source == "ground" => None,
            Some(f) => {
                let body = self.body_ref(f)?;
                Some(self.body_place[body])
            }
            None => None,
        })
    }

    /// A torque in space: a size about an axis, or three components.
    fn space_torque(
        &mut self,
        torque: &[Formula],
        axis: Option<&[Formula; 3]>,
        name: &str,
    ) -> Resolved<[NodeId; 3]> {
        let b = self;
        let mut list = [b.zero(); 3];
        match axis {
            Some(axis) => {
                let size = b.lower_force(&torque[0], ENERGY, "a torque")?;
                let direction = b.direction(axis, "axis", name)?;
                let g = &mut b.model.graph;
                let unit = vector::unit(g, direction);
                list = vector::scale(g, size, unit);
            }
            None => {
                for (node, f) in list.iter_mut().zip(torque) {
                    *node = b.lower_force(f, ENERGY, "a torque")?;
                }
            }
        }
        Ok(list)
    }

    fn lower_force(&mut self, formula: &Formula, dim: Dim, what: &str) -> Resolved<NodeId> {
        self.lower_as(formula, dim, what)
    }

    /// Total force, stretch, and the parts of the law: force, spring, length, damper.
    pub(super) fn make_force(&mut self, e: usize) -> Resolved<Val> {
        let raw = self.raw.clone();
        let force = &raw.forces[self.forces.1[e].raw];
        let mut context = self.force_context(e);
        let (stretch, dim, law, at) = match &force.kind {
            RawForceKind::Along(along, law) => {
                let (node, dim) = self.within(context.clone(), |b| -> Resolved<_> {
                    let node = b.lower(along)?;
                    b.of_positions(along, node, "`along`")?;
                    Ok((node, b.dim(along)?))
                })?;
                (node, dim, law, along)
            }
            RawForceKind::Between([a, b], law) => {
                let node = self.within(context.clone(), |s| -> Resolved<_> {
                    let (p, q) = (s.feature_ref(a)?, s.feature_ref(b)?);
                    if p == q {
                        return Err(b
                            .error("a force between a point and itself", "name two different points")
                            .into());
                    }
                    if s.spatial.is_some() {
                        let p = s.space_point(p.body, p.feature).map_err(|x| blocked(a, x))?;
                        let q = s.space_point(q.body, q.feature).map_err(|x| blocked(b, x))?;
                        let g = &mut s.model.graph;
                        let apart = vector::sub(g, p, q);
                        return Ok(vector::length(g, apart));
                    }
                    let p = s.world_point(p.body, p.feature).map_err(|x| blocked(a, x))?;
                    let q = s.world_point(q.body, q.feature).map_err(|x| blocked(b, x))?;
                    let g = &mut s.model.graph;
                    let (dx, dy) = (g.sub(p[0], q[0]), g.sub(p[1], q[1]));
                    Ok(g.hypot(dx, dy))
                })?;
                (node, Dim::LENGTH, law, a)
            }
            _ => return Err(fault(force.span, "this force has no law", "")),
        };
        let rate = self.time_derivative(stretch, false).map_err(|x| blocked(at, x))?;
        context.words.stretch = Some([stretch, rate]);
        self.within(context, |b| -> Resolved<Val> {
            let zero = b.zero();
            let square = dim.times(dim);
            let mut part = |f: &Option<Formula>, wanted: Dim, what: &str| -> Resolved<Option<NodeId>> {
                let Some(f) = f else { return Ok(None) };
                let node = b.lower(f)?;
                let found = b.dim(f)?;
                if found.clashes(wanted) {
                    return Err(wrong_dimension(f, found, wanted, what).into());
                }
                Ok(Some(node))
            };
            // power of the force = rate of energy, whatever the dimension of the stretch
            let force = part(&law.force, ENERGY.over(dim), "this force")?;
            let spring = part(&law.spring, ENERGY.over(square), "this stiffness")?;
            let length = part(&law.length, dim, "this length")?.unwrap_or(zero);
            let damper = part(&law.damper, ENERGY.times(Dim::TIME).over(square), "this damping")?;
            let g = &mut b.model.graph;
            let mut total = force.unwrap_or(zero);
            if let Some(c) = spring {
                let longer = g.sub(stretch, length);
                let pull = g.mul(c, longer);
                total = g.sub(total, pull);
            }
            if let Some(d) = damper {
                let drag = g.mul(d, rate);
                total = g.sub(total, drag);
            }
            let nodes = [
                total,
                stretch,
                force.unwrap_or(zero),
                spring.unwrap_or(zero),
                length,
                damper.unwrap_or(zero),
            ];
            Ok(Val::List(nodes.into_iter().map(|n| Val::One(n, Dim::Any)).collect()))
        })
    }

    /// `NAME.force`, `NAME.stretch` of a force with a law; components of a point force; a torque; a potential.
    pub(super) fn force_value(&mut self, e: usize, r: &Reference<'_>) -> Result<NodeId, ExprError> {
        let raw = self.raw.clone();
        let force = &raw.forces[self.forces.1[e].raw];
        let fields: Vec<&str> = r.parts[1..].iter().map(|p| p.name).collect();
        let context = self.force_context(e);
        let mut one = |f: &Formula| -> Result<NodeId, ExprError> {
            let made = self.within(context.clone(), |b| b.lower(f));
            self.keep(made).ok_or_else(|| super::builder::reported(r.span))
        };
        let node = match (&force.kind, fields.as_slice()) {
            (RawForceKind::Along(..) | RawForceKind::Between(..), ["force" | "stretch"]) => {
                let val = self.demand(Thing::Force(e)).map_err(|b| b.at(r.span))?;
                val.item(usize::from(fields[0] == "stretch"))
                    .ok_or_else(|| super::builder::reported(r.span))?
            }
            (RawForceKind::At { force, .. }, ["force", "x"]) => one(&force[0])?,
            (RawForceKind::At { force, .. }, ["force", "y"]) => one(&force[1])?,
            (RawForceKind::AtSpace { force, .. }, ["force", "x"]) => one(&force[0])?,
            (RawForceKind::AtSpace { force, .. }, ["force", "y"]) => one(&force[1])?,
            (RawForceKind::AtSpace { force, .. }, ["force", "z"]) => one(&force[2])?,
            (RawForceKind::TorqueSpace { torque, axis: Some(_), .. }, ["torque"]) => one(&torque[0])?,
            (RawForceKind::TorqueSpace { torque, axis: None, .. }, ["torque", "x"]) => one(&torque[0])?,
            (RawForceKind::TorqueSpace { torque, axis: None, .. }, ["torque", "y"]) => one(&torque[1])?,
            (RawForceKind::TorqueSpace { torque, axis: None, .. }, ["torque", "z"]) => one(&torque[2])?,
            (RawForceKind::Torque { torque, .. }, ["torque"]) => one(torque)?,
            (RawForceKind::Potential(v), ["potential"]) => one(v)?,
            (kind, _) => {
                let known: &[&str] = match kind {
                    RawForceKind::Along(..) | RawForceKind::Between(..) => &["force", "stretch"],
                    RawForceKind::At { .. } => &["force.x", "force.y"],
                    RawForceKind::AtSpace { .. } => &["force.x", "force.y", "force.z"],
                    RawForceKind::TorqueSpace { axis: None, .. } => &["torque.x", "torque.y", "torque.z"],
                    RawForceKind::Torque { .. } | RawForceKind::TorqueSpace { .. } => &["torque"],
                    RawForceKind::Potential(_) => &["potential"],
                };
                if fields.is_empty() {
                    let help = format!("write `{}.{}`", r.parts[0].name, known[0]);
                    return Err(ExprError::new(
                        r.span,
                        format!("`{}` is a force entry, not a number", r.parts[0].name),
                        help,
                    ));
                }
                return Err(unknown_part(r, known));
            }
        };
        self.derived(node, r)
    }
}

/// A value that is not there, as a fault of the formula that asked.
pub(super) fn blocked(formula: &Formula, why: Blocked) -> Fault {
    match why {
        Blocked::Reported => Fault::Reported,
        Blocked::Message(message, help) => formula.error(message, help).into(),
    }
}
