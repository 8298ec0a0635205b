//! Contacts: geometry, normal law, friction, restitution.

use std::collections::BTreeMap;

use super::builder::{Blocked, Builder, Context, Scope, Thing, Val};
use super::diagnostic::{Diagnostic, Fault, Resolved, fault};
use super::forces::blocked;
use super::formula::Formula;
use super::raw_parts::{RawContact, RawGeometry, RawShape};
use super::raw_space::RawSpaceShape;
use crate::expr::{Dim, NodeId, Symbol};
use crate::model::{Bound, Contact, FeatureRef, Geometry, Input, NormalLaw};

impl Builder<'_> {
    /// Contacts of the model.
    pub(super) fn finish_contacts(&mut self) {
        for e in 0..self.contacts.1.len() {
            let made = self.contact(e);
            if let Some(contact) = self.keep(made) {
                self.model.contacts.push(contact);
            }
        }
        self.check_loads();
    }

    fn contact_context(&mut self, e: usize, scope: Scope) -> Context {
        let element = self.contacts.1[e].clone();
        let family = self.raw.contacts[element.raw].family.clone();
        self.place_of(scope, family.as_ref(), &element)
    }

    /// The gap of a contact: its formula, or a placeholder for the geometry; `None` without normal direction.
    pub(super) fn gap_node(&mut self, e: usize) -> Result<Option<NodeId>, Blocked> {
        let raw = self.raw.clone();
        match &raw.contacts[self.contacts.1[e].raw].geometry {
            RawGeometry::Gap(_) | RawGeometry::Play(..) => {
                let val = self.demand(Thing::Gap(e))?;
                Ok(val.one().map(|(n, _)| n))
            }
            RawGeometry::None => Ok(None),
            _ => Ok(Some(self.input(Input::Gap(e)))),
        }
    }

    /// The slip of a contact: its formula, or a placeholder for the geometry; `None` when there is neither.
    pub(super) fn slip_node(&mut self, e: usize) -> Result<Option<NodeId>, Blocked> {
        let raw = self.raw.clone();
        let contact = &raw.contacts[self.contacts.1[e].raw];
        if contact.slip.is_some() {
            let val = self.demand(Thing::Slip(e))?;
            return Ok(val.one().map(|(n, _)| n));
        }
        match contact.geometry {
            RawGeometry::Between(_) | RawGeometry::Pin(_) => Ok(Some(self.input(Input::Slip(e)))),
            _ => Ok(None),
        }
    }

    /// Gap as a formula.
    pub(super) fn make_gap(&mut self, e: usize) -> Resolved<Val> {
        let raw = self.raw.clone();
        let element = self.contacts.1[e].clone();
        let context = self.contact_context(e, Scope::Motion);
        self.within(context, |b| match &raw.contacts[element.raw].geometry {
            RawGeometry::Gap(formula) => {
                let node = b.lower(formula)?;
                b.of_positions(formula, node, "a gap")?;
                Ok(Val::One(node, b.dim(formula)?))
            }
            RawGeometry::Play(play, limits) => {
                let node = b.lower(play)?;
                b.of_positions(play, node, "`play`")?;
                let dim = b.dim(play)?;
                let limit = &limits[usize::from(element.high)];
                let end = b.lower_as(limit, dim, "a limit")?;
                b.of_positions(limit, end, "a limit")?;
                let g = &mut b.model.graph;
                Ok(Val::One(if element.high { g.sub(end, node) } else { g.sub(node, end) }, dim))
            }
            _ => Err(fault(raw.contacts[element.raw].name.span, "this contact has no gap formula", "")),
        })
    }

    /// Slip as a formula, the first or the second of two.
    pub(super) fn make_slip(&mut self, e: usize, second: bool) -> Resolved<Val> {
        let raw = self.raw.clone();
        let contact = &raw.contacts[self.contacts.1[e].raw];
        let formula = if second { &contact.second_slip } else { &contact.slip };
        let Some(formula) = formula else {
            return Err(fault(contact.name.span, "this contact has no slip formula", ""));
        };
        let context = self.contact_context(e, Scope::Motion);
        self.within(context, |b| {
            let node = b.lower(formula)?;
            b.linear_in_velocities(formula, node)?;
            Ok(Val::One(node, b.dim(formula)?))
        })
    }

    fn contact(&mut self, e: usize) -> Resolved<Contact> {
        let raw = self.raw.clone();
        let element = self.contacts.1[e].clone();
        let contact = &raw.contacts[element.raw];
        let name = element.name.clone();
        if let Some(among) = &contact.touch {
            return self.touch(e, contact, among);
        }
        self.consistent(contact)?;
        let context = self.contact_context(e, Scope::Motion);

        let geometry = match &contact.geometry {
            RawGeometry::Between(pair) => {
                let [a, b] = self.within(context.clone(), |s| s.features(pair))?;
                self.check_pair(pair, a, b)?;
                self.check_closed(pair, [a, b]);
                Geometry::Between(self.placed(a), self.placed(b))
            }
            RawGeometry::Pin(pair) => {
                let [a, b] = self.within(context.clone(), |s| s.features(pair))?;
                for (r, f) in [(a, &pair[0]), (b, &pair[1])] {
                    self.check_point(r, f)?;
                }
                if a.body == b.body {
                    return Err(pair[1].error("a pin joins two different bodies", "").into());
                }
                Geometry::Pin(self.placed(a), self.placed(b))
            }
            RawGeometry::Guide(pair) => {
                let of = |b: &mut Self, f: &Formula| -> Resolved<NodeId> {
                    let node = b.lower(f)?;
                    b.of_positions(f, node, "a guide")?;
                    Ok(node)
                };
                Geometry::Guide(self.within(context.clone(), |b| -> Resolved<_> {
                    Ok([of(b, &pair[0])?, of(b, &pair[1])?])
                })?)
            }
            RawGeometry::Directions(pair, parallel) => {
                let [a, b] = self.within(context.clone(), |s| s.features(pair))?;
                self.check_directions(pair, [a, b])?;
                Geometry::Directions(self.placed(a), self.placed(b), *parallel)
            }
            RawGeometry::Gap(f) | RawGeometry::Play(f, _) => {
                let gap = self.gap_node(e).map_err(|x| blocked(f, x))?;
                Geometry::Gap(gap.ok_or(Fault::Reported)?)
            }
            RawGeometry::None => Geometry::None,
        };
        self.check_limits(contact, e, &name);

        let slip = match &contact.slip {
            Some(f) => self.slip_node(e).map_err(|x| blocked(f, x))?,
            None => None,
        };
        let law = self.normal_law(e, contact, &context)?;
        let friction = match &contact.friction {
            Some((friction, key)) => Some(self.friction(e, contact, friction, *key, &context)?),
            None => None,
        };
        let zero = self.zero();
        let mut restitution = [zero; 3];
        for (k, formula) in contact.restitution.iter().enumerate() {
            if let Some(f) = formula {
                let node = self
                    .within(context.clone(), |b| b.lower_as(f, Dim::NONE, "a coefficient of restitution"))?;
                self.bounded(f, node, Bound::Share, "a coefficient of restitution")?;
                restitution[k] = node;
            }
        }
        let tangent = match &contact.tangent {
            Some(pair) => Some(self.within(context, |b| -> Resolved<_> {
                let direction = [b.lower(&pair[0])?, b.lower(&pair[1])?];
                if direction.iter().all(|&n| b.default_value(n) == Some(0.0)) {
                    return Err(pair[0].error(format!("the tangent of `{name}` is zero"), "").into());
                }
                Ok(direction)
            })?),
            None => None,
        };
        let space = self.space_contact(e, contact, &name)?;
        Ok(Contact {
            name: element.name,
            geometry,
            law,
            slip,
            tangent,
            space,
            friction,
            restitution,
            span: contact.name.span,
        })
    }

    fn features(&mut self, pair: &[Formula; 2]) -> Resolved<[FeatureRef; 2]> {
        let a = self.feature_ref(&pair[0])?;
        Ok([a, self.feature_ref(&pair[1])?])
    }

    /// Keys that do not fit together.
    fn consistent(&mut self, c: &RawContact) -> Resolved<()> {
        let name = &c.name.text;
        let error = |span, message: String, help: &str| Err(fault(span, message, help));
        let normal = !matches!(c.geometry, RawGeometry::None);
        if !normal && c.normal_force.is_none() && !c.friction_force {
            let help =
                "add `between`, `gap`, `play` or `pin`; or `slip` with `normal_force` or `friction_force`";
            return error(c.name.span, format!("contact `{name}` touches nothing"), help);
        }
        let pin = matches!(c.geometry, RawGeometry::Pin(_));
        if let Some(f) = &c.radius
            && !pin
        {
            return error(
                f.span,
                format!("`radius` belongs to a pin, but `{name}` is none"),
                "write  pin = [\"a.p\", \"b.q\"]",
            );
        }
        if pin {
            let extra = [&c.spring, &c.damper, &c.normal_force, &c.slip].into_iter().flatten().next();
            if let Some(f) = extra {
                return error(
                    f.span,
                    format!("this does not belong to the pin `{name}`"),
                    "a pin has `radius` and `friction`",
                );
            }
            if let (Some((_, key)), None) = (&c.friction, &c.radius) {
                return error(
                    *key,
                    format!("friction of the pin `{name}` needs the journal radius"),
                    "add  radius = …",
                );
            }
        }
        self.check_joint(c)?;
        if let (Some(f), Some(_)) = (&c.normal_force, &c.spring) {
            return error(
                f.span,
                format!("contact `{name}` has both `spring` and `normal_force`"),
                "keep one of the two",
            );
        }
        if let (Some(f), true) = (&c.normal_force, c.bilateral) {
            return error(
                f.span,
                format!("contact `{name}` is both bilateral and loaded"),
                "keep one of the two",
            );
        }
        if let (Some(f), None) = (&c.damper, &c.spring) {
            return error(f.span, format!("contact `{name}` has a damper but no spring"), "add  spring = …");
        }
        if c.relaxing && c.spring.is_none() {
            return error(
                c.name.span,
                format!("`relaxing` belongs to an elastic contact, but `{name}` is rigid"),
                "add  spring = …",
            );
        }
        if c.relaxing && c.damper.is_none() {
            return error(
                c.name.span,
                format!("the relaxing surface of `{name}` needs a damper"),
                "add  damper = …",
            );
        }
        if let Some((_, key)) = &c.friction
            && c.slip.is_none()
            && !matches!(c.geometry, RawGeometry::Between(_) | RawGeometry::Pin(_))
        {
            let by = match c.geometry {
                RawGeometry::Gap(_) => "is given by `gap`; add",
                RawGeometry::Guide(_) => "is a guide; add",
                RawGeometry::Play(..) => "is given by `play`; add",
                _ => "has no geometry; add",
            };
            let help = format!("contact `{name}` {by}  slip = \"…\"  (a formula linear in the velocities)");
            return Err(fault(*key, "friction needs a slip velocity", help));
        }
        if !normal && c.friction.is_none() {
            return error(
                c.name.span,
                format!("contact `{name}` has no friction, so it does nothing"),
                "add  friction = …",
            );
        }
        Ok(())
    }

    fn check_limits(&mut self, c: &RawContact, e: usize, name: &str) {
        let RawGeometry::Play(_, limits) = &c.geometry else { return };
        if self.contacts.1[e].high {
            return;
        }
        let context = self.contact_context(e, Scope::Motion);
        let ends = self.within(context, |b| limits.each_ref().map(|f| b.lower(f).ok()));
        if let [Some(low), Some(high)] = ends
            && let (Some(low), Some(high)) = (self.default_value(low), self.default_value(high))
            && low > high
        {
            let name = name.trim_end_matches(".low");
            self.report.error(
                limits[0].span,
                format!("the limits of `{name}` are {low} and {high}"),
                "write the lower one first",
            );
        }
    }

    fn shape_word(&self, r: FeatureRef) -> &'static str {
        let features = match r.body {
            Some(e) => &self.raw.bodies[self.bodies.1[e].raw].features,
            None => &self.raw.ground,
        };
        match r.feature.and_then(|k| features.get(k)).map(|f| &f.shape) {
            None | Some(RawShape::Point(_)) => "point",
            Some(RawShape::Flat { .. }) => "flat",
            Some(RawShape::Round { .. }) => "round",
            Some(RawShape::Curve { .. }) => "curve",
            Some(RawShape::Outline { .. }) => "outline",
            Some(RawShape::Space(RawSpaceShape::Point(_))) => "point",
            Some(RawShape::Space(_)) => "shape",
        }
    }

    fn check_pair(&self, pair: &[Formula; 2], a: FeatureRef, b: FeatureRef) -> Resolved<()> {
        if a.body == b.body {
            return Err(pair[1]
                .error("both features belong to the same body", "a contact is between two bodies")
                .into());
        }
        let (x, y) = (self.shape_word(a), self.shape_word(b));
        // in space the equations tell which pairs there are
        if self.spatial.is_some() {
            return match (x, y) {
                ("point", "point") => {
                    let help = "two points never meet: use a pin, or give one of them a shape";
                    Err(pair[1].error("a point cannot touch a point", help).into())
                }
                _ => Ok(()),
            };
        }
        let known = |x: &str, y: &str| {
            matches!(
                (x, y),
                ("point", "flat" | "round" | "curve")
                    | ("round", "flat" | "round" | "curve")
                    | ("curve", "flat" | "curve")
                    | ("outline", "outline" | "flat" | "point" | "round" | "curve")
            )
        };
        if known(x, y) || known(y, x) {
            return Ok(());
        }
        let help = match (x, y) {
            ("point", "point") => "two points never meet: use a pin, or give one of them a shape",
            ("flat", "flat") => "give one of the two corner points and make a contact of each",
            _ => "pairs are point, round or curve against flat, round or curve; outline against any shape",
        };
        Err(pair[1].error(format!("a {x} cannot touch a {y}"), help).into())
    }

    /// An outline that is not closed has no corner at its ends and endless edges there: on a body with mass hardly meant.
    fn check_closed(&mut self, pair: &[Formula; 2], features: [FeatureRef; 2]) {
        let raw = self.raw.clone();
        for (r, formula) in features.into_iter().zip(pair) {
            let (Some(e), Some(k)) = (r.body, r.feature) else { continue };
            let body = &raw.bodies[self.bodies.1[e].raw];
            let shape = body.features.get(k).map(|f| &f.shape);
            let Some(RawShape::Outline { points, closed: false, .. }) = shape else { continue };
            let [first, last] =
                [points.first(), points.last()].map(|p| p.map(|p| [p[0].text(), p[1].text()]));
            if body.mass.is_some() && first != last {
                let message =
                    "the outline of a body with mass is open: its ends are no corners, its end edges endless";
                let help =
                    "add  closed = true  to the outline, or leave it as it is when the ends never touch";
                self.report.warning(formula.span, message, help);
            }
        }
    }

    fn check_point(&self, r: FeatureRef, formula: &Formula) -> Resolved<()> {
        match self.shape_word(r) {
            "point" => Ok(()),
            word => {
                Err(formula.error(format!("a pin joins points, this is a {word}"), "name a point").into())
            }
        }
    }

    fn normal_law(&mut self, e: usize, c: &RawContact, context: &Context) -> Resolved<NormalLaw> {
        match c.geometry {
            RawGeometry::Guide(_) | RawGeometry::Directions(_, true) => {
                return Ok(NormalLaw::Pin { radius: None });
            }
            RawGeometry::Directions(..) => return Ok(NormalLaw::Bilateral),
            _ => {}
        }
        if let RawGeometry::Pin(_) = c.geometry {
            let radius = match &c.radius {
                Some(f) => Some(self.within(context.clone(), |b| -> Resolved<_> {
                    let node = b.lower_as(f, Dim::LENGTH, "a radius")?;
                    b.not_negative(f, node, "the journal radius")?;
                    Ok(node)
                })?),
                None => None,
            };
            return Ok(NormalLaw::Pin { radius });
        }
        if let Some(spring) = &c.spring {
            return self.within(context.clone(), |b| -> Resolved<_> {
                let node = b.lower(spring)?;
                b.dim(spring)?;
                b.not_negative(spring, node, "the stiffness")?;
                let damper = match &c.damper {
                    Some(f) => {
                        let node = b.lower(f)?;
                        b.dim(f)?;
                        b.not_negative(f, node, "the damping")?;
                        node
                    }
                    None => b.zero(),
                };
                Ok(NormalLaw::Elastic { spring: node, damper, both_signs: c.bilateral, relaxing: c.relaxing })
            });
        }
        if let Some(formula) = &c.normal_force {
            return self.loaded(e, formula, context);
        }
        if matches!(c.geometry, RawGeometry::None) {
            return Ok(NormalLaw::FrictionForce);
        }
        if c.friction_force {
            let span = c.friction.as_ref().map_or(c.name.span, |f| f.1);
            let help =
                "`friction_force` belongs to a pair without gap; make two contacts of it, or use `friction`";
            return Err(fault(
                span,
                format!("contact `{}` has a gap and a friction force", c.name.text),
                help,
            ));
        }
        Ok(if c.bilateral { NormalLaw::Bilateral } else { NormalLaw::Unilateral })
    }

    /// `normal_force`: a part that is known from the state, and terms linear in other contacts' normal forces.
    fn loaded(&mut self, e: usize, formula: &Formula, context: &Context) -> Resolved<NormalLaw> {
        let mut context = Context { scope: Scope::Load, ..context.clone() };
        if let Some(gap) = self.gap_node(e).map_err(|x| blocked(formula, x))? {
            let rate = self.time_derivative(gap, false).map_err(|x| blocked(formula, x))?;
            context.words.gap = Some([gap, rate]);
        }
        let node = self.within(context, |b| -> Resolved<_> {
            let node = b.lower(formula)?;
            b.dim(formula)?;
            Ok(node)
        })?;
        let is_normal = |b: &Self, s: Symbol| match b.meaning(s) {
            Some(Input::Normal(k)) => Some(k),
            _ => None,
        };
        let symbols: Vec<(Symbol, usize)> = self
            .model
            .graph
            .symbols(&[node])
            .into_iter()
            .filter_map(|s| is_normal(self, s).map(|k| (s, k)))
            .collect();
        let mut terms = Vec::new();
        for &(symbol, k) in &symbols {
            let slope = self.model.graph.diff(node, symbol);
            if self.model.graph.symbols(&[slope]).into_iter().any(|s| is_normal(self, s).is_some()) {
                let message = "`normal_force` must be linear in the normal forces of other contacts";
                let help = format!("`{}.normal` does not enter linearly", self.contacts.1[k].name);
                return Err(formula.error(message, help).into());
            }
            if k == e {
                return Err(formula.error("a normal force cannot depend on itself", "").into());
            }
            terms.push((k, slope));
        }
        let zero = self.zero();
        let map: BTreeMap<Symbol, NodeId> = symbols.iter().map(|&(s, _)| (s, zero)).collect();
        let load = self.model.graph.substitute(node, &map);
        Ok(NormalLaw::Loaded { load, terms })
    }

    /// Terms of loads must refer to contacts whose normal force is an unknown.
    fn check_loads(&mut self) {
        if self.model.contacts.len() != self.contacts.1.len() {
            return;
        }
        let contacts = self.model.contacts.clone();
        for contact in &contacts {
            let NormalLaw::Loaded { terms, .. } = &contact.law else { continue };
            for (k, _) in terms {
                if !matches!(contacts[*k].law, NormalLaw::Unilateral | NormalLaw::Bilateral) {
                    let message = format!(
                        "the load of `{}` uses `{}.normal`, which is not rigid",
                        contact.name, contacts[*k].name
                    );
                    let help =
                        "loads follow the normal forces of rigid contacts; for others write their formula";
                    self.report.push(
                        Diagnostic::error(contact.span, message, help)
                            .note(contacts[*k].span, "this contact"),
                    );
                }
            }
        }
    }
}
