//! What only models in space have, as written: rotations, spins, shapes, vectors of three entries.

use super::diagnostic::Report;
use super::fields::{Fields, Word, formulas};
use super::formula::Formula;
use super::keys;
use super::raw::RawFile;
use super::raw_parts::{RawForceKind, RawShape};
use super::tree::{Node, Value};
use crate::model::Span;

/// Three formulas.
pub(super) type Triple = [Formula; 3];

/// Turns about moving axes: number of the axis and angle.
pub(super) type RawTurns = Vec<(usize, Formula)>;

#[derive(Clone, Debug)]
pub(super) enum RawSpaceShape {
    Point(Triple),
    Plane {
        through: Triple,
        normal: Triple,
    },
    Ball {
        center: Triple,
        radius: Formula,
        hole: bool,
    },
    Rim {
        center: Triple,
        axis: Triple,
        radius: Formula,
    },
    Cylinder {
        through: Triple,
        axis: Triple,
        radius: Formula,
        hole: bool,
    },
    Cone {
        apex: Triple,
        axis: Triple,
        angle: Formula,
        hole: bool,
    },
    /// Centre and axis; radii of middle line and section.
    Torus {
        place: Box<[Triple; 2]>,
        radius: Formula,
        tube: Formula,
        hole: bool,
    },
    Surface {
        point: Box<Triple>,
        parameters: [Word; 2],
        range: Option<Box<[[Formula; 2]; 2]>>,
        hole: bool,
    },
    Ellipsoid {
        center: Option<Triple>,
        axes: Triple,
    },
    Capsule {
        ends: Box<[Triple; 2]>,
        radius: Formula,
    },
    Drum {
        ends: Box<[Triple; 2]>,
        radius: Formula,
    },
    Box {
        center: Option<Triple>,
        half: Triple,
    },
    Hull(Vec<Triple>),
    Mesh {
        file: Word,
        scale: Option<Formula>,
        hull: bool,
    },
    Heights(RawHeights),
    Direction(Triple),
}

/// A height field: a table, or a formula of two names.
#[derive(Clone, Debug)]
pub(super) enum RawHeights {
    File(Word),
    Formula {
        height: Formula,
        parameters: [Word; 2],
        range: Box<[[Formula; 2]; 2]>,
        cells: Option<Vec<Formula>>,
    },
}

/// Spatial keys of a body.
#[derive(Clone, Debug, Default)]
pub(super) struct RawSpaceBody {
    pub rotation: RawRotation,
    /// Orientation of a free body at the start.
    pub turned: RawTurns,
    pub spin: Option<Triple>,
    /// `spin` is in body axes.
    pub body_spin: bool,
    pub guess: bool,
    pub center: Option<Triple>,
    /// Of what fills its meshes.
    pub density: Option<Formula>,
    /// Three, or 3×3 row by row.
    pub inertia: Option<(Vec<Formula>, Span)>,
    /// The inertia is taken as it is.
    pub any_inertia: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) enum RawRotation {
    #[default]
    None,
    Turns(RawTurns, Span),
    Free(Span),
}

impl RawRotation {
    /// Place of the key.
    pub(super) fn span(&self) -> Option<Span> {
        match self {
            RawRotation::None => None,
            RawRotation::Turns(_, span) | RawRotation::Free(span) => Some(*span),
        }
    }

    pub(super) fn is_free(&self) -> bool {
        matches!(self, RawRotation::Free(_))
    }
}

/// Number of entries of a list; 0 for what is none.
pub(super) fn entries(node: &Node) -> usize {
    match &node.value {
        Value::List(list) => list.len(),
        _ => 0,
    }
}

/// Three formulas.
pub(super) fn triple(node: &Node, what: &str, report: &mut Report) -> Option<Triple> {
    match <Triple>::try_from(formulas(node, report)?) {
        Ok(triple) => Some(triple),
        Err(list) => {
            let message = format!("`{what}` has three entries in space, this has {}", list.len());
            report.error(node.span, message, format!("write  {what} = [x, y, z]"));
            None
        }
    }
}

impl Fields<'_> {
    fn triple(&self, key: &str, report: &mut Report) -> Option<Triple> {
        triple(&self.get(key)?.node, key, report)
    }

    fn required_triple(&self, key: &str, report: &mut Report) -> Option<Triple> {
        if self.get(key).is_none() {
            report.error(self.span, format!("`{key}` is missing"), format!("write  {key} = [x, y, z]"));
        }
        self.triple(key, report)
    }
}

/// Keys that only shapes in space have.
const KINDS: [&str; 11] = [
    "box",
    "hull",
    "capsule",
    "cylinder",
    "ellipsoid",
    "direction",
    "axis",
    "surface",
    "mesh",
    "height",
    "heights",
];

impl RawSpaceShape {
    /// Whether a feature is one of space.
    pub(super) fn is_meant(fields: &Fields<'_>) -> bool {
        let three = |key: &str| fields.get(key).is_some_and(|e| entries(&e.node) == 3);
        KINDS.iter().any(|k| fields.get(k).is_some())
            || ["through", "center", "normal"].into_iter().any(three)
    }

    pub(super) fn read(fields: &Fields<'_>, report: &mut Report) -> Option<RawSpaceShape> {
        let has = |key: &str| fields.get(key).is_some();
        let only = |keys: &[&str], report: &mut Report| {
            for key in keys::SHAPE.iter().filter(|k| !keys.contains(&k.name)) {
                if let Some(entry) = fields.get(key.name) {
                    let help = format!("together with `{}` stand {}", keys[0], keys[1..].join(", "));
                    report.error(entry.span, format!("`{}` does not belong to this feature", key.name), help);
                }
            }
        };
        let radius = |report: &mut Report| {
            if !has("radius") {
                report.error(fields.span, "this feature needs `radius`", "write  radius = \"…\"");
            }
            fields.formula("radius", report)
        };
        if has("box") || has("ellipsoid") {
            let key = if has("box") { "box" } else { "ellipsoid" };
            only(&[key, "center"], report);
            let size = fields.triple(key, report)?;
            let center = fields.triple("center", report);
            return Some(match key {
                "box" => RawSpaceShape::Box { center, half: size },
                _ => RawSpaceShape::Ellipsoid { center, axes: size },
            });
        }
        if has("hull") {
            let named = fields.get("hull").is_some_and(|e| matches!(e.node.value, Value::Text(_)));
            only(if named { &["hull", "scale"] } else { &["hull"] }, report);
            return RawSpaceShape::hull(fields, report);
        }
        for key in ["capsule", "cylinder"] {
            let Some(entry) = fields.get(key) else { continue };
            only(&[key, "radius"], report);
            let radius = radius(report);
            let ends = match &entry.node.value {
                Value::List(list) if list.len() == 2 => {
                    let [a, b] = [&list[0], &list[1]].map(|n| triple(n, key, report));
                    Box::new([a?, b?])
                }
                _ => {
                    let help = format!("write  {key} = [[x, y, z], [x, y, z]]");
                    report.error(entry.node.span, format!("a {key} has two ends"), help);
                    return None;
                }
            };
            return Some(match key {
                "capsule" => RawSpaceShape::Capsule { ends, radius: radius? },
                _ => RawSpaceShape::Drum { ends, radius: radius? },
            });
        }
        if ["mesh", "heights", "height"].into_iter().any(has) {
            return given(fields, &only, report);
        }
        if has("direction") {
            only(&["direction"], report);
            return fields.triple("direction", report).map(RawSpaceShape::Direction);
        }
        if has("surface") {
            only(&["surface", "parameters", "range", "hole"], report);
            return RawSpaceShape::surface(fields, report);
        }
        if has("apex") {
            only(&["apex", "axis", "angle", "hole"], report);
            return RawSpaceShape::cone(fields, report);
        }
        if has("tube") {
            only(&["center", "axis", "radius", "tube", "hole"], report);
            let center = fields.required_triple("center", report);
            let axis = fields.required_triple("axis", report);
            let (radius, tube) = (radius(report), fields.formula("tube", report));
            let hole = fields.flag("hole", report);
            let (place, radius) = (Box::new([center?, axis?]), radius?);
            return Some(RawSpaceShape::Torus { place, radius, tube: tube?, hole });
        }
        if has("through") && has("axis") {
            only(&["through", "axis", "radius", "hole"], report);
            let (through, axis) = (fields.triple("through", report), fields.triple("axis", report));
            let (radius, hole) = (radius(report), fields.flag("hole", report));
            return Some(RawSpaceShape::Cylinder { through: through?, axis: axis?, radius: radius?, hole });
        }
        if has("axis") {
            only(&["center", "axis", "radius"], report);
            let (center, axis) = (fields.required_triple("center", report), fields.triple("axis", report));
            return Some(RawSpaceShape::Rim { center: center?, axis: axis?, radius: radius(report)? });
        }
        if has("center") {
            only(&["center", "radius", "hole"], report);
            let center = fields.triple("center", report);
            let (radius, hole) = (radius(report), fields.flag("hole", report));
            return Some(RawSpaceShape::Ball { center: center?, radius: radius?, hole });
        }
        only(&["through", "normal"], report);
        let (through, normal) =
            (fields.required_triple("through", report), fields.required_triple("normal", report));
        Some(RawSpaceShape::Plane { through: through?, normal: normal? })
    }
}

/// A mesh or a height field.
fn given(
    fields: &Fields<'_>,
    only: &dyn Fn(&[&str], &mut Report),
    report: &mut Report,
) -> Option<RawSpaceShape> {
    if fields.get("mesh").is_some() {
        only(&["mesh", "scale"], report);
        let scale = fields.formula("scale", report);
        return fields.word("mesh", report).map(|file| RawSpaceShape::Mesh { file, scale, hull: false });
    }
    if fields.get("heights").is_some() {
        only(&["heights"], report);
        return fields.word("heights", report).map(|f| RawSpaceShape::Heights(RawHeights::File(f)));
    }
    only(&["height", "parameters", "range", "cells"], report);
    heights(fields, report).map(RawSpaceShape::Heights)
}

/// `{ height = "f", parameters = ["u", "v"], range = [[u0, u1], [v0, v1]], cells = [n, m] }`.
fn heights(fields: &Fields<'_>, report: &mut Report) -> Option<RawHeights> {
    let height = fields.formula("height", report);
    let names = match fields.get("parameters") {
        Some(_) => fields.words("parameters", report)?,
        None => Vec::new(),
    };
    let parameters = <[Word; 2]>::try_from(names);
    if parameters.is_err() {
        let help = "write  parameters = [\"u\", \"v\"],  the names that stand for x and y in the formula";
        report.error(
            fields.key_span("height"),
            "a height field needs the names of its two `parameters`",
            help,
        );
    }
    let range = match fields.get("range").map(|e| &e.node.value) {
        Some(Value::List(list)) if list.len() == 2 => {
            let [a, b] = [&list[0], &list[1]]
                .map(|n| formulas(n, report).and_then(|f| <[Formula; 2]>::try_from(f).ok()));
            a.zip(b)
        }
        _ => None,
    };
    if range.is_none() {
        let help = "write  range = [[x0, x1], [y0, y1]]";
        report.error(fields.key_span("height"), "a height field needs the `range` of both parameters", help);
    }
    let cells = fields.formulas("cells", report);
    if cells.as_ref().is_some_and(|c| c.len() != 2) {
        report.error(fields.key_span("cells"), "`cells` has two entries", "write  cells = [50, 50]");
        return None;
    }
    let (a, b) = range?;
    Some(RawHeights::Formula {
        height: height?,
        parameters: parameters.ok()?,
        range: Box::new([a, b]),
        cells,
    })
}

impl RawSpaceShape {
    /// `{ hull = [[x, y, z], …] }` or `{ hull = "part.stl", scale = … }`.
    fn hull(fields: &Fields<'_>, report: &mut Report) -> Option<RawSpaceShape> {
        let entry = fields.get("hull")?;
        let Value::List(list) = &entry.node.value else {
            if matches!(entry.node.value, Value::Text(_)) {
                let (file, scale) = (fields.word("hull", report), fields.formula("scale", report));
                return file.map(|file| RawSpaceShape::Mesh { file, scale, hull: true });
            }
            let help = "write  hull = [[x, y, z], …]  or  hull = \"part.stl\"";
            report.error(entry.node.span, "a hull is a list of points or the name of a mesh", help);
            return None;
        };
        let points: Option<Vec<Triple>> = list.iter().map(|n| triple(n, "hull", report)).collect();
        points.map(RawSpaceShape::Hull)
    }

    /// `{ apex = [x, y, z], axis = [x, y, z], angle = "…" }`.
    fn cone(fields: &Fields<'_>, report: &mut Report) -> Option<RawSpaceShape> {
        let (apex, axis) = (fields.triple("apex", report), fields.required_triple("axis", report));
        if fields.get("angle").is_none() {
            let help = "write  angle = \"…\"  (between axis and side)";
            report.error(fields.span, "a cone needs `angle`", help);
        }
        let (angle, hole) = (fields.formula("angle", report), fields.flag("hole", report));
        Some(RawSpaceShape::Cone { apex: apex?, axis: axis?, angle: angle?, hole })
    }

    /// `{ surface = ["u", "v", "f(u, v)"], parameters = ["u", "v"], range = [[…, …], […, …]] }`.
    fn surface(fields: &Fields<'_>, report: &mut Report) -> Option<RawSpaceShape> {
        let point = fields.triple("surface", report);
        let names = fields.words("parameters", report).unwrap_or_default();
        let parameters = <[Word; 2]>::try_from(names).map_err(|_| {
            let help = "write  parameters = [\"u\", \"v\"]";
            report.error(fields.span, "a surface needs the names of its two parameters", help);
        });
        let range = match fields.get("range") {
            None => None,
            Some(entry) => {
                let pairs: Option<Vec<[Formula; 2]>> = match &entry.node.value {
                    Value::List(list) => list
                        .iter()
                        .map(|n| match &n.value {
                            Value::List(_) => <[Formula; 2]>::try_from(formulas(n, report)?).ok(),
                            _ => None,
                        })
                        .collect(),
                    _ => None,
                };
                let Some(pairs) = pairs.and_then(|p| <[[Formula; 2]; 2]>::try_from(p).ok()) else {
                    let help = "write  range = [[from, to], [from, to]]";
                    report.error(entry.node.span, "a surface has a range for each of its parameters", help);
                    return None;
                };
                Some(Box::new(pairs))
            }
        };
        let hole = fields.flag("hole", report);
        Some(RawSpaceShape::Surface { point: Box::new(point?), parameters: parameters.ok()?, range, hole })
    }
}

impl RawSpaceBody {
    pub(super) fn read(fields: &Fields<'_>, report: &mut Report) -> RawSpaceBody {
        let mut out = RawSpaceBody {
            spin: fields.triple("spin", report),
            body_spin: fields.choice("spin_axes", keys::AXES, report).is_some_and(|a| a == "body"),
            guess: fields.flag("guess", report),
            density: fields.formula("density", report),
            ..RawSpaceBody::default()
        };
        if let Some(entry) = fields.get("rotation") {
            out.rotation = match &entry.node.value {
                Value::Text(text) if text.text == "free" => RawRotation::Free(entry.span),
                _ => match turns(&entry.node, "rotation", report) {
                    Some(list) => RawRotation::Turns(list, entry.span),
                    None => RawRotation::None,
                },
            };
        }
        if let Some(entry) = fields.get("turned") {
            out.turned = turns(&entry.node, "turned", report).unwrap_or_default();
        }
        for key in ["turned", "spin", "spin_axes", "guess"] {
            if let (Some(entry), false) = (fields.get(key), out.rotation.is_free()) {
                report.error(
                    entry.span,
                    format!("`{key}` belongs to a free rotation"),
                    "write  rotation = \"free\"",
                );
            }
        }
        if let Some(entry) = fields.get("center")
            && entries(&entry.node) == 3
        {
            out.center = triple(&entry.node, "center", report);
        }
        out.any_inertia = fields.flag("any_inertia", report);
        if let Some(entry) = fields.get("inertia")
            && let Value::List(rows) = &entry.node.value
        {
            out.inertia = inertia(&entry.node, rows, report).map(|list| (list, entry.node.span));
        }
        out
    }
}

/// Three moments, or a matrix of three rows.
fn inertia(node: &Node, rows: &[Node], report: &mut Report) -> Option<Vec<Formula>> {
    let nested = rows.iter().any(|r| matches!(r.value, Value::List(_)));
    let list: Vec<Formula> = match nested {
        false => formulas(node, report)?,
        true => {
            let rows: Option<Vec<Triple>> = rows.iter().map(|r| triple(r, "inertia", report)).collect();
            rows?.into_iter().flatten().collect()
        }
    };
    if list.len() == if nested { 9 } else { 3 } {
        return Some(list);
    }
    let help = "write one number, three principal moments [a, b, c], or the matrix [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]";
    report.error(node.span, "an inertia in space has one, three or nine entries", help);
    None
}

/// `[["z", "psi"], ["x", "theta"]]`.
fn turns(node: &Node, what: &str, report: &mut Report) -> Option<RawTurns> {
    let help = format!(
        "write  {what} = [[\"z\", \"psi\"], [\"x\", \"theta\"]]{}",
        if what == "rotation" { "  or  rotation = \"free\"" } else { "" }
    );
    let Value::List(list) = &node.value else {
        report.error(node.span, format!("`{what}` is a list of turns"), help);
        return None;
    };
    let mut out = Vec::new();
    for turn in list {
        let parts = match &turn.value {
            Value::List(parts) if parts.len() == 2 => parts,
            _ => {
                report.error(turn.span, "a turn is an axis and an angle", help);
                return None;
            }
        };
        let axis = match &parts[0].value {
            Value::Text(t) => ["x", "y", "z"].iter().position(|a| *a == t.text),
            _ => None,
        };
        let Some(axis) = axis else {
            report.error(parts[0].span, "the axis of a turn is \"x\", \"y\" or \"z\"", help);
            return None;
        };
        out.push((axis, Formula::read(&parts[1], report)?));
    }
    Some(out)
}

/// What makes a file spatial: where, and a word for it. `None`: it is planar.
pub(super) fn spatial(raw: &RawFile) -> Option<(Span, &'static str)> {
    for body in &raw.bodies {
        let position = body.position.as_ref().filter(|p| p.len() == 3);
        if let Some(first) = position.and_then(|p| p.first()) {
            return Some((first.span, "a position of three entries"));
        }
        if let Some(span) = body.space.rotation.span() {
            return Some((span, "a rotation in space"));
        }
    }
    let features = raw.bodies.iter().flat_map(|b| &b.features).chain(&raw.ground);
    let shape = features.into_iter().find(|f| matches!(f.shape, RawShape::Space(_)));
    if let Some(feature) = shape {
        return Some((feature.name.span, "a feature in space"));
    }
    let slip = raw.contacts.iter().find_map(|c| c.second_slip.as_ref());
    slip.map(|f| (f.span, "a slip of two entries"))
}

/// Things of space in a file that is planar: place and what to write instead.
pub(super) fn spatial_parts(raw: &RawFile) -> Vec<(Span, String, &'static str)> {
    let mut out = Vec::new();
    for body in &raw.bodies {
        let name = &body.name.text;
        if let Some(center) = &body.space.center {
            let help = "write  center = [x, y]";
            out.push((center[0].span, format!("`center` of body `{name}` has three entries"), help));
        }
        if let Some((_, span)) = &body.space.inertia {
            let help = "in the plane the inertia is one number, about the mass centre";
            out.push((*span, format!("`inertia` of body `{name}` is a list"), help));
        }
    }
    for force in &raw.forces {
        match &force.kind {
            RawForceKind::AtSpace { force: f, .. } => {
                out.push((f[0].span, "this force has three entries".into(), "write  force = [Fx, Fy]"));
            }
            RawForceKind::TorqueSpace { torque, axis, .. } => {
                let place = axis.as_ref().map_or(torque[0].span, |axis| axis[0].span);
                out.push((place, "this torque has a direction in space".into(), "write  torque = M"));
            }
            _ => {}
        }
    }
    out
}

/// Things of the plane in a file that is spatial: place and what to write instead.
pub(super) fn planar_parts(raw: &RawFile) -> Vec<(Span, String, &'static str)> {
    let mut out = Vec::new();
    for body in &raw.bodies {
        let name = &body.name.text;
        if let Some(f) = &body.angle {
            let help = "write  rotation = [[\"z\", \"phi\"]]";
            out.push((f.span, format!("`angle` of body `{name}` is for the plane"), help));
        }
        if let Some(f) = body.position.as_ref().filter(|p| p.len() == 2).and_then(|p| p.first()) {
            let help = "write  position = [x, y, z]";
            out.push((f.span, format!("`position` of body `{name}` has two entries"), help));
        }
        if let Some(f) = &body.center {
            let help = "write  center = [x, y, z]";
            out.push((f[0].span, format!("`center` of body `{name}` has two entries"), help));
        }
        if !body.modes.is_empty() {
            let help = "elastic bodies are planar in this version";
            out.push((body.name.span, format!("body `{name}` has modes of vibration"), help));
        }
    }
    for feature in raw.bodies.iter().flat_map(|b| &b.features).chain(&raw.ground) {
        if !matches!(feature.shape, RawShape::Space(_)) {
            let help = "a point in space is [x, y, z], a plane { through = [x, y, z], normal = [x, y, z] }";
            out.push((feature.name.span, format!("feature `{}` is planar", feature.name.text), help));
        }
    }
    for force in &raw.forces {
        match &force.kind {
            RawForceKind::At { force: f, .. } => {
                out.push((f[0].span, "this force has two entries".into(), "write  force = [Fx, Fy, Fz]"));
            }
            RawForceKind::Torque { torque, .. } => {
                let help =
                    "write  torque = [Mx, My, Mz], or give the direction of one number,  axis = [x, y, z]";
                out.push((torque.span, "this torque has no direction in space".into(), help));
            }
            _ => {}
        }
    }
    for contact in &raw.contacts {
        if let Some(t) = &contact.tangent {
            out.push((t[0].span, "this tangent has two entries".into(), "write  tangent = [x, y, z]"));
        }
    }
    out
}
