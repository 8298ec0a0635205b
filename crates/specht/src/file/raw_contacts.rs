//! `[[contact]]` as it is written.

use super::diagnostic::Report;
use super::fields::{Fields, Word, formulas};
use super::formula::{Family, Formula};
use super::keys;
use super::raw_parts::pair;
use super::raw_space::{Triple, entries, triple};
use super::tree::{Node, Value};
use crate::model::Span;
use crate::system::Pressure;

#[derive(Clone, Debug)]
pub(super) struct RawContact {
    pub name: Word,
    pub family: Option<Family>,
    pub geometry: RawGeometry,
    pub radius: Option<Formula>,
    pub bilateral: bool,
    pub spring: Option<Formula>,
    pub damper: Option<Formula>,
    pub relaxing: bool,
    pub slip: Option<Formula>,
    pub second_slip: Option<Formula>,
    pub normal_force: Option<Formula>,
    pub friction: Option<(RawFriction, Span)>,
    /// `friction` holds the bound itself.
    pub friction_force: bool,
    pub restitution: [Option<Formula>; 3],
    pub tangent: Option<[Formula; 2]>,
    pub space_tangent: Option<Triple>,
    /// `rolling`, `drilling`, `spin`.
    pub in_space: [Option<Formula>; 3],
    /// Of a `[[touch]]`: the bodies.
    pub touch: Option<Vec<Word>>,
}

impl RawContact {
    /// A rigid contact with a gap: neither elastic nor a pin nor under a given force.
    pub(super) fn is_rigid(&self) -> bool {
        let gap =
            matches!(self.geometry, RawGeometry::Between(_) | RawGeometry::Gap(_) | RawGeometry::Play(..));
        gap && self.spring.is_none() && self.normal_force.is_none() && !self.friction_force
    }
}

#[derive(Clone, Debug)]
pub(super) enum RawGeometry {
    Between([Formula; 2]),
    Gap(Formula),
    Play(Formula, [Formula; 2]),
    Pin([Formula; 2]),
    Guide([Formula; 2]),
    /// Parallel (`true`) or perpendicular.
    Directions([Formula; 2], bool),
    None,
}

#[derive(Clone, Debug)]
pub(super) enum RawFriction {
    Law(Formula),
    Split { rest: Option<Formula>, sliding: Option<Formula> },
    Regular(Formula),
    Tensor(Vec<Vec<Formula>>, Span),
    Ellipse([Formula; 2]),
    Patch { value: Formula, radius: Formula, pressure: Pressure },
}

impl RawContact {
    /// One `[[contact]]`.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<RawContact> {
        let fields = Fields::of(node, keys::CONTACT, "[[contact]]", report)?;
        let name = fields.name("contact", report)?;
        let forms = ["between", "gap", "play", "pin", "guide", "parallel", "perpendicular"];
        let given: Vec<&str> = forms.into_iter().filter(|k| fields.get(k).is_some()).collect();
        if given.len() > 1 {
            let message = format!("contact `{}` has both `{}` and `{}`", name.text, given[0], given[1]);
            report.error(fields.key_span(given[1]), message, "keep one of the two");
            return None;
        }
        let geometry = match given.first().copied() {
            Some("between") => RawGeometry::Between(fields.pair("between", report)?),
            Some("gap") => RawGeometry::Gap(fields.formula("gap", report)?),
            Some("play") => {
                let play = fields.formula("play", report);
                let limits = fields.required_pair("limits", report);
                RawGeometry::Play(play?, limits?)
            }
            Some("guide") => RawGeometry::Guide(fields.pair("guide", report)?),
            Some("pin") => RawGeometry::Pin(fields.pair("pin", report)?),
            Some(word) => RawGeometry::Directions(fields.pair(word, report)?, word == "parallel"),
            None => RawGeometry::None,
        };
        if let (Some(entry), false) = (fields.get("limits"), fields.get("play").is_some()) {
            report.error(entry.span, "`limits` belong to `play`", "write  play = \"s\"");
        }
        let mut slips = fields.one_or_more("slip", report).unwrap_or_default().into_iter();
        if let (Some(entry), 3..) = (fields.get("slip"), slips.len()) {
            let message = format!("the slip of contact `{}` has {} entries", name.text, slips.len());
            report.error(entry.node.span, message, "one formula, or two in space");
        }
        if let Some(entry) = fields.get("friction_force")
            && fields.get("friction").is_some()
        {
            let help = "`friction` is a coefficient, `friction_force` the bound itself; keep one";
            report.error(
                entry.span,
                format!("contact `{}` has both friction and friction_force", name.text),
                help,
            );
            return None;
        }
        let friction_force = fields.get("friction_force").is_some();
        let key = if friction_force { "friction_force" } else { "friction" };
        let friction = match fields.get(key) {
            Some(entry) => {
                Some((RawFriction::read(&entry.node, &name.text, friction_force, report)?, entry.span))
            }
            None => None,
        };
        Some(RawContact {
            family: fields.family(report),
            radius: fields.formula("radius", report),
            bilateral: fields.flag("bilateral", report),
            spring: fields.formula("spring", report),
            damper: fields.formula("damper", report),
            relaxing: fields.flag("relaxing", report),
            slip: slips.next(),
            second_slip: slips.next(),
            normal_force: fields.formula("normal_force", report),
            restitution: restitution(&fields, report),
            tangent: fields
                .get("tangent")
                .filter(|e| entries(&e.node) != 3)
                .and_then(|e| pair(&e.node, "tangent", report)),
            space_tangent: fields
                .get("tangent")
                .filter(|e| entries(&e.node) == 3)
                .and_then(|e| triple(&e.node, "tangent", report)),
            in_space: ["rolling", "drilling", "spin"].map(|key| fields.formula(key, report)),
            touch: None,
            name,
            geometry,
            friction,
            friction_force,
        })
    }
}

pub(super) fn restitution(fields: &Fields, report: &mut Report) -> [Option<Formula>; 3] {
    let Some(entry) = fields.get("restitution") else { return [None, None, None] };
    match &entry.node.value {
        Value::Table(_) => match Fields::of(&entry.node, keys::RESTITUTION, "restitution", report) {
            Some(f) => ["normal", "tangential", "nu"].map(|k| f.formula(k, report)),
            None => [None, None, None],
        },
        _ => [Formula::read(&entry.node, report), None, None],
    }
}

impl RawFriction {
    fn read(node: &Node, contact: &str, bound: bool, report: &mut Report) -> Option<RawFriction> {
        match &node.value {
            Value::Table(_) => {
                let keys = if bound { keys::FRICTION_FORCE } else { keys::FRICTION };
                let fields = Fields::of(node, keys, &format!("friction of `{contact}`"), report)?;
                if fields.get("regular").is_some() {
                    return fields.formula("regular", report).map(RawFriction::Regular);
                }
                if fields.get("ellipse").is_some() {
                    return fields.pair("ellipse", report).map(RawFriction::Ellipse);
                }
                if let Some(entry) = fields.get("patch") {
                    return super::joints::patch(&fields, &entry.node, contact, report);
                }
                let (rest, sliding) = (fields.formula("static", report), fields.formula("sliding", report));
                if rest.is_none() && sliding.is_none() {
                    // what stands there and is wrong was reported where it stands
                    if fields.get("static").or(fields.get("sliding")).is_none() {
                        report.error(
                            node.span,
                            "friction needs a value",
                            "write  { static = …, sliding = … }",
                        );
                    }
                    return None;
                }
                Some(RawFriction::Split { rest, sliding })
            }
            Value::List(rows) => {
                if bound {
                    report.error(
                        node.span,
                        "a friction force is one bound, not a tensor",
                        "write an expression",
                    );
                    return None;
                }
                let mut tensor = Vec::new();
                for row in rows {
                    tensor.push(formulas(row, report)?);
                }
                let size = tensor.len();
                if size == 0 || size > 3 || tensor.iter().any(|r| r.len() != size) {
                    let help = "write a square matrix over the tangents, or over tangents and normal";
                    report.error(node.span, format!("friction tensor of `{contact}` is not square"), help);
                    return None;
                }
                Some(RawFriction::Tensor(tensor, node.span))
            }
            _ => Formula::read(node, report).map(RawFriction::Law),
        }
    }
}
