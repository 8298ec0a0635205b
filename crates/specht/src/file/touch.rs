//! `[[touch]]`: bodies that touch wherever they meet.

use super::builder::{Builder, Context, Scope};
use super::diagnostic::{Report, Resolved, fault};
use super::fields::{Fields, Word};
use super::keys;
use super::names::What;
use super::raw_parts::{RawContact, RawFeature, RawFriction, RawGeometry, RawShape, restitution};
use super::raw_space::RawSpaceShape;
use super::resolve::near;
use super::tree::{Node, Value};
use crate::expr::{Dim, ExprError, PathPart, Reference};
use crate::model::{Bound, Contact, Geometry, Input, NormalLaw, SpaceContact, TouchRule};

/// A `[[touch]]` as written: a contact without geometry of its own.
pub(super) fn read(node: &Node, report: &mut Report) -> Option<RawContact> {
    let fields = Fields::of(node, keys::TOUCH, "[[touch]]", report)?;
    let among = match fields.get("among") {
        Some(entry) => match &entry.node.value {
            Value::List(_) => fields.words("among", report)?,
            _ => {
                let help = "write  among = [\"*\"]  for everything, or a list of bodies";
                report.error(entry.node.span, "`among` is a list", help);
                return None;
            }
        },
        None => {
            let help = "write  among = [\"*\"]  for everything, or a list of bodies";
            report.error(fields.span, "`among` is missing", help);
            return None;
        }
    };
    let name = match fields.get("name") {
        Some(_) => fields.word("name", report)?,
        None => Word { text: "touch".into(), span: fields.span },
    };
    let friction = match fields.get("friction") {
        Some(entry) => Some((RawFriction::Law(fields.formula("friction", report)?), entry.span)),
        None => None,
    };
    Some(RawContact {
        family: None,
        radius: None,
        bilateral: false,
        spring: None,
        damper: None,
        relaxing: false,
        slip: None,
        second_slip: None,
        normal_force: None,
        restitution: restitution(&fields, report),
        tangent: None,
        space_tangent: None,
        in_space: [None, None, None],
        name,
        geometry: RawGeometry::None,
        friction,
        friction_force: false,
        touch: Some(among),
    })
}

/// Whether a feature is more than a point or a direction.
fn is_solid(feature: &RawFeature) -> bool {
    match &feature.shape {
        RawShape::Space(s) => !matches!(s, RawSpaceShape::Point(_) | RawSpaceShape::Direction(_)),
        RawShape::Point(_) => false,
        _ => true,
    }
}

impl Builder<'_> {
    /// The contact that stands for all points of a `[[touch]]`, which is kept among the rules of the model.
    pub(super) fn touch(&mut self, e: usize, contact: &RawContact, among: &[Word]) -> Resolved<Contact> {
        let name = contact.name.text.clone();
        let mut bodies = Vec::new();
        for word in among {
            self.touch_members(word, &mut bodies)?;
        }
        bodies.sort_unstable();
        bodies.dedup();
        if bodies.len() < 2 && among.iter().all(|word| word.text != "*") {
            let span = among.first().map_or(contact.name.span, |word| word.span);
            let message = format!("`among` of `{name}` names less than two bodies: nothing can touch");
            return Err(fault(span, message, "add the others, \"ground\", or \"*\" for everything"));
        }
        let context = Context::new(Scope::Motion);
        let zero = self.zero();
        let (friction, restitution) = self.within(context, |b| -> Resolved<_> {
            let mut values = [zero; 2];
            let law = match &contact.friction {
                Some((RawFriction::Law(f), _)) => Some(f),
                _ => None,
            };
            let given = [
                (law, Bound::NotNegative, "a coefficient of friction"),
                (contact.restitution[0].as_ref(), Bound::Share, "a coefficient of restitution"),
            ];
            for (value, (f, bound, what)) in values.iter_mut().zip(given) {
                let Some(f) = f else { continue };
                *value = b.lower_as(f, Dim::NONE, what)?;
                b.of_parameters(f, *value, &format!("{what} of a `[[touch]]`"))?;
                b.bounded(f, *value, bound, what)?;
            }
            if let Some(f) = contact.restitution[1..].iter().flatten().next() {
                let help = "write  restitution = 0.5";
                return Err(f.error("`[[touch]]` knows restitution along the normal only", help).into());
            }
            Ok((values[0], values[1]))
        })?;
        let span = contact.name.span;
        self.model.touches.push(TouchRule { contact: e, bodies, friction, restitution, span });
        Ok(Contact {
            name,
            geometry: Geometry::None,
            law: NormalLaw::Loaded { load: zero, terms: Vec::new() },
            slip: None,
            tangent: None,
            space: SpaceContact::default(),
            friction: None,
            restitution: [zero; 3],
            span,
        })
    }

    /// Bodies that a word of `among` means, by their place in the model.
    fn touch_members(&mut self, word: &Word, out: &mut Vec<Option<usize>>) -> Resolved<()> {
        let raw = self.raw.clone();
        if word.text == "*" || word.text == "ground" {
            if raw.ground.iter().any(is_solid) {
                out.push(None);
            } else if word.text == "ground" {
                let help =
                    "give [ground] a plane, a box or a ball; in the plane a line, a disc or an outline";
                return Err(fault(word.span, "the ground has no shape that could touch", help));
            }
        }
        if word.text == "ground" {
            return Ok(());
        }
        let mut known = false;
        for (e, element) in self.bodies.1.iter().enumerate() {
            let body = &raw.bodies[element.raw];
            let meant = word.text == body.name.text || word.text == element.name;
            known |= meant;
            let solid = body.features.iter().any(is_solid);
            if meant && !solid {
                let message = format!("body `{}` has no shape that could touch", element.name);
                let help = match self.spatial {
                    Some(_) => "give it one,  features = { skin = { box = [a, b, c] } }",
                    None => "give it one,  features = { skin = { center = [0, 0], radius = \"r\" } }",
                };
                return Err(fault(word.span, message, help));
            }
            if solid && (meant || word.text == "*") {
                out.push(Some(self.body_place[e]));
            }
        }
        if known || word.text == "*" {
            return Ok(());
        }
        let names: Vec<&str> =
            raw.bodies.iter().map(|b| b.name.text.as_str()).chain(["*", "ground"]).collect();
        let message = match self.names.get(&word.text) {
            Some(What::Body(_)) => format!("`{}` has no members", word.text),
            _ => format!("there is no body `{}`", word.text),
        };
        Err(fault(word.span, message, near(&word.text, &names)))
    }

    /// `BODY.touch.x`: the force of everything that touches a body, or the ground.
    pub(super) fn touch_force(
        &mut self,
        body: Option<usize>,
        field: &PathPart<'_>,
        component: usize,
        r: &Reference<'_>,
    ) -> Result<crate::expr::NodeId, ExprError> {
        if self.context.scope < Scope::Output {
            let help = "forces are known in outputs and in `set`";
            return Err(ExprError::new(r.span, format!("`{}` is not known here", r.text()), help));
        }
        let place = body.map(|e| self.body_place[e]);
        if !self.model.touches.iter().any(|t| t.bodies.contains(&place)) {
            let help = "name it in  [[touch]] among = [\"*\"]";
            return Err(ExprError::new(field.span, format!("`{}` touches nothing", r.parts[0].name), help));
        }
        Ok(self.input(Input::Touch(place.map_or(0, |k| k + 1), component)))
    }
}
