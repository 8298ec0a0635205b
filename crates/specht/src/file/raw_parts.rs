//! Bodies, features, forces, contacts and events as written.

use super::SPATIAL;
use super::diagnostic::Report;
use super::elastic::RawMode;
use super::fields::{Fields, Word, formulas, word};
use super::formula::{Family, Formula};
use super::keys;
use super::raw::{key_word, points};
pub(super) use super::raw_contacts::{RawContact, RawFriction, RawGeometry, restitution};

use super::raw_space::{RawSpaceBody, RawSpaceShape, Triple, entries, triple};
use super::tree::{Entry, Node, Text, Value};
use crate::model::Span;

#[derive(Clone, Debug)]
pub(super) struct RawFeature {
    pub name: Word,
    pub shape: RawShape,
}

#[derive(Clone, Debug)]
pub(super) enum RawShape {
    Point([Formula; 2]),
    Flat { through: [Formula; 2], normal: [Formula; 2] },
    Round { center: [Formula; 2], radius: Formula, hole: bool },
    Curve { point: [Formula; 2], parameter: Word, range: [Formula; 2], left: bool },
    Outline { points: Vec<[Formula; 2]>, closed: bool, left: bool },
    Space(RawSpaceShape),
}

#[derive(Clone, Debug)]
pub(super) struct RawBody {
    pub name: Word,
    pub family: Option<Family>,
    pub position: Option<Vec<Formula>>,
    pub angle: Option<Formula>,
    /// Carrier of the first, second, … member; the last stands for the rest. Empty: the ground.
    pub on: Vec<Formula>,
    pub mass: Option<Formula>,
    pub inertia: Option<Formula>,
    pub center: Option<[Formula; 2]>,
    pub kinetic: Option<Formula>,
    pub features: Vec<RawFeature>,
    pub modes: Vec<RawMode>,
    pub space: RawSpaceBody,
}

#[derive(Clone, Debug)]
pub(super) struct RawForce {
    pub name: Option<Word>,
    pub family: Option<Family>,
    pub kind: RawForceKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum RawForceKind {
    Along(Formula, RawLaw),
    Between([Formula; 2], RawLaw),
    At {
        point: Formula,
        force: [Formula; 2],
        body_axes: bool,
    },
    AtSpace {
        point: Formula,
        force: Triple,
        body_axes: bool,
    },
    /// One number has a direction of its own.
    TorqueSpace {
        body: Formula,
        torque: Vec<Formula>,
        axis: Option<Triple>,
        body_axes: bool,
        against: Option<Formula>,
    },
    Torque {
        body: Formula,
        torque: Formula,
        against: Option<Formula>,
    },
    Potential(Formula),
}

#[derive(Clone, Debug)]
pub(super) struct RawLaw {
    pub force: Option<Formula>,
    pub spring: Option<Formula>,
    pub length: Option<Formula>,
    pub damper: Option<Formula>,
}

#[derive(Clone, Debug)]
pub(super) struct RawEvent {
    pub name: Option<Word>,
    pub family: Option<Family>,
    pub trigger: RawTrigger,
    /// 1 where the condition holds, else 0.
    pub when: Option<Formula>,
    pub set: Vec<(Word, Formula)>,
    pub stop: bool,
}

#[derive(Clone, Debug)]
pub(super) enum RawTrigger {
    Crossing(Formula, i8),
    On(Formula),
}

/// Two formulas; three are refused with the sentence on spatial models.
pub(super) fn pair(node: &Node, what: &str, report: &mut Report) -> Option<[Formula; 2]> {
    match <[Formula; 2]>::try_from(formulas(node, report)?) {
        Ok(pair) => Some(pair),
        Err(list) if list.len() == 3 => {
            report.error(node.span, format!("`{what}` has three entries"), SPATIAL);
            None
        }
        Err(_) => {
            let entries = match what {
                "between" | "pin" | "parallel" | "perpendicular" => "[\"a.p\", \"b.q\"]",
                "limits" | "range" => "[from, to]",
                _ => "[x, y]",
            };
            let help = format!("write  {what} = {entries}");
            report.error(node.span, format!("`{what}` must have two entries"), help);
            None
        }
    }
}

impl Fields<'_> {
    pub(super) fn pair(&self, key: &str, report: &mut Report) -> Option<[Formula; 2]> {
        pair(&self.get(key)?.node, key, report)
    }

    pub(super) fn required_pair(&self, key: &str, report: &mut Report) -> Option<[Formula; 2]> {
        if self.get(key).is_none() {
            report.error(self.span, format!("`{key}` is missing"), format!("write  {key} = [x, y]"));
        }
        self.pair(key, report)
    }

    pub(super) fn family(&self, report: &mut Report) -> Option<Family> {
        Family::read(&self.get("for")?.node, report)
    }

    pub(super) fn name(&self, what: &str, report: &mut Report) -> Option<Word> {
        if self.get("name").is_none() {
            report.error(self.span, format!("this {what} has no name"), "write  name = \"…\"");
        }
        self.word("name", report)
    }

    fn material(&self, report: &mut Report) -> Option<bool> {
        if self.get("material").is_none() {
            let help = "write  material = \"left\"  or  \"right\", as seen along the curve";
            report.error(self.span, "it must be said on which side the material is", help);
        }
        Some(self.choice("material", keys::SIDES, report)? == "left")
    }
}

impl RawFeature {
    /// `name = [x, y]` or `name = { … }`.
    pub(super) fn read(entry: &Entry, report: &mut Report) -> Option<RawFeature> {
        let name = key_word(entry);
        let shape = match &entry.node.value {
            Value::List(list) if list.len() == 3 => {
                RawShape::Space(RawSpaceShape::Point(triple(&entry.node, &name.text, report)?))
            }
            Value::List(_) => RawShape::Point(pair(&entry.node, &name.text, report)?),
            _ => Self::shape(&entry.node, &name.text, report)?,
        };
        Some(RawFeature { name, shape })
    }

    fn shape(node: &Node, name: &str, report: &mut Report) -> Option<RawShape> {
        let fields = Fields::of(node, keys::SHAPE, &format!("feature `{name}`"), report)?;
        if RawSpaceShape::is_meant(&fields) {
            return RawSpaceShape::read(&fields, report).map(RawShape::Space);
        }
        let kinds = ["through", "center", "curve", "outline"];
        let given: Vec<&str> = kinds.into_iter().filter(|k| fields.get(k).is_some()).collect();
        let only = |keys: &[&str], report: &mut Report| {
            for key in keys::SHAPE.iter().filter(|k| !keys.contains(&k.name)) {
                if let Some(entry) = fields.get(key.name) {
                    let help = format!("together with `{}` stand {}", keys[0], keys[1..].join(", "));
                    report.error(entry.span, format!("`{}` does not belong to this feature", key.name), help);
                }
            }
        };
        match given.first().copied() {
            Some("through") => {
                only(&["through", "normal"], report);
                let (through, normal) =
                    (fields.required_pair("through", report), fields.required_pair("normal", report));
                Some(RawShape::Flat { through: through?, normal: normal? })
            }
            Some("center") => {
                only(&["center", "radius", "hole"], report);
                let center = fields.pair("center", report);
                if fields.get("radius").is_none() {
                    report.error(fields.span, "a round feature needs `radius`", "write  radius = \"…\"");
                }
                let radius = fields.formula("radius", report);
                Some(RawShape::Round { center: center?, radius: radius?, hole: fields.flag("hole", report) })
            }
            Some("curve") => {
                only(&["curve", "parameter", "range", "material"], report);
                let parameter = fields.word("parameter", report);
                if fields.get("parameter").is_none() {
                    report.error(
                        fields.span,
                        "a curve needs the name of its `parameter`",
                        "write  parameter = \"u\"",
                    );
                }
                let (point, range) = (fields.pair("curve", report), fields.required_pair("range", report));
                let left = fields.material(report);
                Some(RawShape::Curve { point: point?, parameter: parameter?, range: range?, left: left? })
            }
            Some(_) => {
                only(&["outline", "material", "closed"], report);
                let corners = points(&fields.get("outline")?.node, report);
                let left = fields.material(report);
                let points = corners?;
                if points.len() < 2 || points.len() > 1000 {
                    report.error(fields.key_span("outline"), "an outline has 2 to 1000 corners", "");
                    return None;
                }
                Some(RawShape::Outline { points, closed: fields.flag("closed", report), left: left? })
            }
            None => {
                report.error(
                    node.span,
                    format!("feature `{name}` has no shape"),
                    "a point is [x, y]; a shape has `through`, `center`, `curve` or `outline`",
                );
                None
            }
        }
    }
}

impl RawBody {
    /// One `[[body]]`.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<RawBody> {
        let fields = Fields::of(node, keys::BODY, "[[body]]", report)?;
        let name = fields.name("body", report)?;
        let position = fields.one_or_more("position", report);
        if let Some(list) = &position
            && !(1..=3).contains(&list.len())
        {
            let help = "write  position = [\"x\", \"y\"], or three entries in space";
            let message = format!("`position` of body `{}` has {} entries", name.text, list.len());
            report.error(fields.key_span("position"), message, help);
        }
        let on = fields.one_or_more("on", report).unwrap_or_default();
        if on.len() > 1 && fields.get("for").is_none() {
            let message = format!("body `{}` stands on {} bodies", name.text, on.len());
            report.error(
                fields.key_span("on"),
                message,
                "only a family,  for = \"i = 1..n\", has a list here",
            );
        }
        let mut features: Vec<RawFeature> = Vec::new();
        if let Some(entry) = fields.get("features") {
            match &entry.node.value {
                Value::Table(list) => {
                    features.extend(list.iter().filter_map(|e| RawFeature::read(e, report)))
                }
                _ => report.error(
                    entry.node.span,
                    "`features` is a table",
                    "write  features = { tip = [x, y] }",
                ),
            }
        }
        if let Some(entry) = fields.get("center")
            && !matches!(entries(&entry.node), 0 | 2 | 3)
        {
            let message =
                format!("`center` has two entries, or three in space; this has {}", entries(&entry.node));
            report.error(entry.node.span, message, "write  center = [x, y]");
        }
        let flat = |key: &str, n: usize| fields.get(key).is_some_and(|e| [0, n].contains(&entries(&e.node)));
        Some(RawBody {
            family: fields.family(report),
            angle: fields.formula("angle", report),
            on,
            mass: fields.formula("mass", report),
            inertia: flat("inertia", 0).then(|| fields.formula("inertia", report)).flatten(),
            center: flat("center", 2).then(|| fields.pair("center", report)).flatten(),
            space: RawSpaceBody::read(&fields, report),
            kinetic: fields.formula("kinetic", report),
            modes: RawMode::read_all(&fields, report),
            name,
            position,
            features,
        })
    }
}

impl RawForce {
    /// One `[[force]]`.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<RawForce> {
        let fields = Fields::of(node, keys::FORCE, "[[force]]", report)?;
        let name = fields.word("name", report);
        let label = name.as_ref().map_or("this force".to_string(), |n| format!("force `{}`", n.text));
        let forms = ["along", "between", "at", "torque", "potential"];
        let given: Vec<&str> = forms.into_iter().filter(|k| fields.get(k).is_some()).collect();
        if given.len() > 1 {
            let message = format!("{label} has both `{}` and `{}`", given[0], given[1]);
            report.error(fields.key_span(given[1]), message, "one entry is one force: make two of it");
            return None;
        }
        let belongs = |keys: &[&str], report: &mut Report| {
            let always = ["name", "for"];
            for key in keys::FORCE.iter().filter(|k| !keys.contains(&k.name) && !always.contains(&k.name)) {
                if let Some(entry) = fields.get(key.name) {
                    let help = format!("together with `{}` stand {}", keys[0], keys[1..].join(", "));
                    report.error(entry.span, format!("`{}` does not belong to {label}", key.name), help);
                }
            }
        };
        let kind = match given.first().copied() {
            Some("along") => {
                belongs(&["along", "force", "spring", "length", "damper"], report);
                let law = RawLaw::read(&fields, &label, report);
                RawForceKind::Along(fields.formula("along", report)?, law?)
            }
            Some("between") => {
                belongs(&["between", "force", "spring", "length", "damper"], report);
                let law = RawLaw::read(&fields, &label, report);
                RawForceKind::Between(fields.pair("between", report)?, law?)
            }
            Some("at") => {
                belongs(&["at", "force", "axes"], report);
                let point = fields.formula("at", report);
                let body_axes = fields.choice("axes", keys::AXES, report).is_some_and(|a| a == "body");
                match fields.get("force").filter(|e| entries(&e.node) == 3) {
                    Some(e) => {
                        let force = triple(&e.node, "force", report);
                        RawForceKind::AtSpace { point: point?, force: force?, body_axes }
                    }
                    None => {
                        let force = fields.required_pair("force", report);
                        RawForceKind::At { point: point?, force: force?, body_axes }
                    }
                }
            }
            Some("torque") => {
                belongs(&["torque", "on", "against", "axis", "axes"], report);
                let list = fields.one_or_more("torque", report);
                if fields.get("on").is_none() {
                    report.error(
                        fields.key_span("torque"),
                        format!("{label} acts on no body"),
                        "write  on = \"body\"",
                    );
                }
                let body = fields.formula("on", report);
                let against = fields.formula("against", report);
                let axis = fields.get("axis").and_then(|e| triple(&e.node, "axis", report));
                let body_axes = fields.choice("axes", keys::AXES, report).is_some_and(|a| a == "body");
                let mut list = list?;
                match (list.len(), axis) {
                    (1, None) => RawForceKind::Torque { body: body?, torque: list.remove(0), against },
                    (1, axis) | (3, axis @ None) => {
                        RawForceKind::TorqueSpace { body: body?, torque: list, axis, body_axes, against }
                    }
                    _ => {
                        let help = "write  torque = [Mx, My, Mz], or one number with  axis = [x, y, z]";
                        report.error(
                            fields.key_span("torque"),
                            format!("the torque of {label} is unclear"),
                            help,
                        );
                        return None;
                    }
                }
            }
            Some(_) => {
                belongs(&["potential"], report);
                RawForceKind::Potential(fields.formula("potential", report)?)
            }
            None => {
                report.error(
                    fields.span,
                    format!("{label} acts nowhere"),
                    "add `along`, `between`, `at`, `on` with `torque`, or `potential`",
                );
                return None;
            }
        };
        Some(RawForce { name, family: fields.family(report), kind, span: node.span })
    }
}

impl RawLaw {
    fn read(fields: &Fields, label: &str, report: &mut Report) -> Option<RawLaw> {
        let law = RawLaw {
            force: fields.formula("force", report),
            spring: fields.formula("spring", report),
            length: fields.formula("length", report),
            damper: fields.formula("damper", report),
        };
        if ["force", "spring", "damper"].iter().all(|k| fields.get(k).is_none()) {
            report.error(fields.span, format!("{label} has no law"), "add `force`, `spring` or `damper`");
            return None;
        }
        if law.length.is_some() && fields.get("spring").is_none() {
            report.error(
                fields.key_span("length"),
                "`length` is the free length of a spring",
                "add  spring = …",
            );
        }
        Some(law)
    }
}

impl RawEvent {
    /// One `[[event]]`.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<RawEvent> {
        let fields = Fields::of(node, keys::EVENT, "[[event]]", report)?;
        let direction = match fields.choice("direction", keys::DIRECTIONS, report).as_deref() {
            Some("up") => 1,
            Some("down") => -1,
            _ => 0,
        };
        let trigger = match (fields.get("crossing"), fields.get("on")) {
            (Some(_), None) => RawTrigger::Crossing(fields.formula("crossing", report)?, direction),
            (None, Some(_)) => RawTrigger::On(fields.formula("on", report)?),
            (None, None) => {
                report.error(
                    fields.span,
                    "this event never happens",
                    "add  crossing = \"…\"  or  on = \"contact.impact\"",
                );
                return None;
            }
            (Some(_), Some(on)) => {
                report.error(on.span, "this event has both `crossing` and `on`", "make two events of it");
                return None;
            }
        };
        let mut set = Vec::new();
        if let Some(entry) = fields.get("set") {
            match &entry.node.value {
                Value::Table(list) => {
                    set.extend(
                        list.iter().filter_map(|e| Formula::read(&e.node, report).map(|f| (key_word(e), f))),
                    );
                }
                _ => report.error(
                    entry.node.span,
                    "`set` is a table",
                    "write  set = { memory = \"expression\" }",
                ),
            }
        }
        let name = fields.get("name").and_then(|e| word(&e.node, "name", report));
        Some(RawEvent {
            name,
            family: fields.family(report),
            trigger,
            when: fields.get("when").and_then(|e| condition(&e.node, report)),
            set,
            stop: fields.flag("stop", report),
        })
    }
}

/// A condition as a formula with the values 1 and 0.
fn condition(node: &Node, report: &mut Report) -> Option<Formula> {
    let Value::Text(text) = &node.value else {
        report.error(node.span, "a condition stands in quotes", "write  when = \"x' > 0\"");
        return None;
    };
    const HEAD: &str = "if(";
    let offset = text.offset.and_then(|k| k.checked_sub(HEAD.len()));
    let whole = Text { text: format!("{HEAD}{}, 1, 0)", text.text), offset };
    Formula::read(&Node { span: node.span, value: Value::Text(whole) }, report)
}
