//! The sections as written: every expression parsed, every key checked, no name resolved yet. Bodies, forces, contacts
//! and events are in [`super::raw_parts`].

use super::diagnostic::Report;
use super::fields::{Fields, Word, formulas, shorten, unknown_keys, word};
use super::formula::{Family, Formula};
use super::keys;
use super::raw_parts::{RawBody, RawContact, RawEvent, RawFeature, RawForce};
use super::tree::{self, Entry, Node, Value};
use crate::impact::Law;
use crate::model::Span;
use crate::ode::Choice;
use crate::sim::{Policy, Scheme};

/// A whole file.
#[derive(Clone, Debug, Default)]
pub(super) struct RawFile {
    pub name: String,
    pub about: String,
    pub source: String,
    pub gravity: Option<(Vec<Formula>, Span)>,
    pub parameters: Vec<RawParameter>,
    pub coordinates: Vec<RawCoordinate>,
    pub states: Vec<RawState>,
    pub memory: Vec<RawState>,
    pub defines: Vec<RawDefine>,
    pub ground: Vec<RawFeature>,
    pub bodies: Vec<RawBody>,
    pub forces: Vec<RawForce>,
    pub contacts: Vec<RawContact>,
    pub events: Vec<RawEvent>,
    pub closed: Vec<Word>,
    pub sticking: Vec<Word>,
    pub equilibrium: bool,
    pub start: Span,
    pub run: RawRun,
    pub outputs: Vec<(Word, Formula)>,
    pub cases: Vec<RawCase>,
    pub tasks: Vec<RawTask>,
    pub phases: Vec<(Word, Formula)>,
    pub plots: Vec<RawPlot>,
    pub draws: Vec<RawDraw>,
}

/// A parameter's value: a scalar, a list or a matrix.
#[derive(Clone, Debug)]
pub(super) enum RawValue {
    One(Formula),
    List(Vec<RawValue>, Span),
}

impl RawValue {
    /// Place.
    pub(super) fn span(&self) -> Span {
        match self {
            RawValue::One(f) => f.span,
            RawValue::List(_, span) => *span,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct RawParameter {
    pub name: Word,
    pub value: RawValue,
    pub range: Option<[Formula; 2]>,
    pub about: String,
}

/// One expression for all members of a family, or a list of one per member.
#[derive(Clone, Debug)]
pub(super) enum Members {
    Same(Formula),
    Each(Vec<Formula>, Span),
}

#[derive(Clone, Debug)]
pub(super) struct RawCoordinate {
    pub name: Word,
    pub family: Option<Family>,
    pub start: Option<Members>,
    pub rate: Option<Members>,
    pub guess: bool,
}

#[derive(Clone, Debug)]
pub(super) struct RawState {
    pub name: Word,
    pub family: Option<Family>,
    pub start: Option<Members>,
    pub rate: Option<Members>,
}

#[derive(Clone, Debug)]
pub(super) struct RawDefine {
    pub name: Word,
    pub kind: DefineKind,
}

#[derive(Clone, Debug)]
pub(super) enum DefineKind {
    Formula(Formula),
    Function(Vec<String>, Formula),
    /// Points of two entries, or of three: a function of two arguments.
    Table {
        points: Vec<Vec<Formula>>,
        ends: Option<String>,
        smooth: bool,
    },
    /// Columns of the arguments and the value.
    Csv {
        file: Word,
        columns: Vec<Word>,
        ends: Option<String>,
        smooth: bool,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct RawRun {
    pub until: Option<Formula>,
    pub scheme: Option<Scheme>,
    pub step: Option<Formula>,
    pub tolerance: Option<Formula>,
    pub method: Option<Choice>,
    pub every: Option<Formula>,
    pub events: Option<Formula>,
    pub impact: Option<Law>,
    pub several: Option<Policy>,
    pub sensitivity: Vec<Word>,
}

#[derive(Clone, Debug)]
pub(super) struct RawCase {
    pub name: Word,
    pub values: Vec<(Word, RawValue)>,
}

#[derive(Clone, Debug)]
pub(super) struct RawTask {
    pub entries: Vec<Entry>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct RawPlot {
    pub family: Option<Family>,
    pub x: Option<Formula>,
    pub y: Vec<Formula>,
}

#[derive(Clone, Debug)]
pub(super) enum RawDraw {
    Path(Option<Family>, Vec<[Formula; 2]>),
    Circle(Option<Family>, [Formula; 2], Formula),
}

/// Sorts the tree of a file into sections.
pub(super) fn read(tree: &[Entry], text: &str, report: &mut Report) -> RawFile {
    let mut raw = RawFile::default();
    unknown_keys(tree, keys::TOP, "the file", report);
    for entry in tree {
        let node = &entry.node;
        match entry.key.as_str() {
            "name" => raw.name = title(node, "name", report),
            "about" => raw.about = title(node, "about", report),
            "source" => raw.source = title(node, "source", report),
            "gravity" => raw.gravity = formulas(node, report).map(|f| (f, node.span)),
            "parameters" => each(node, "[parameters]", report, |e, r| raw.parameters.extend(parameter(e, r))),
            "coordinates" => each(node, "[coordinates]", report, |e, r| {
                raw.coordinates.extend(coordinate(e, text, r));
            }),
            "states" => each(node, "[states]", report, |e, r| raw.states.extend(state(e, r))),
            "memory" => each(node, "[memory]", report, |e, r| raw.memory.extend(memory(e, r))),
            "define" => each(node, "[define]", report, |e, r| raw.defines.extend(define(e, r))),
            "ground" => each(node, "[ground]", report, |e, r| raw.ground.extend(RawFeature::read(e, r))),
            "body" => tables(node, "body", report, |n, r| raw.bodies.extend(RawBody::read(n, r))),
            "force" => tables(node, "force", report, |n, r| raw.forces.extend(RawForce::read(n, r))),
            "contact" => tables(node, "contact", report, |n, r| raw.contacts.extend(RawContact::read(n, r))),
            "touch" => tables(node, "touch", report, |n, r| raw.contacts.extend(super::touch::read(n, r))),
            "event" => tables(node, "event", report, |n, r| raw.events.extend(RawEvent::read(n, r))),
            "phase" => tables(node, "phase", report, |n, r| raw.phases.extend(phase(n, r))),
            "start" => start(node, &mut raw, report),
            "run" => raw.run = run(node, report).unwrap_or_default(),
            "output" => each(node, "[output]", report, |e, r| {
                raw.outputs.extend(Formula::read(&e.node, r).map(|f| (key_word(e), f)));
            }),
            "case" => each(node, "[case]", report, |e, r| raw.cases.extend(case(e, r))),
            "task" => tables(node, "task", report, |n, _| {
                if let Value::Table(entries) = &n.value {
                    raw.tasks.push(RawTask { entries: entries.clone(), span: n.span });
                }
            }),
            "plot" => tables(node, "plot", report, |n, r| raw.plots.extend(plot(n, r))),
            "draw" => tables(node, "draw", report, |n, r| raw.draws.extend(draw(n, r))),
            _ => {}
        }
    }
    raw
}

/// The key of an entry as a word.
pub(super) fn key_word(entry: &Entry) -> Word {
    Word { text: entry.key.clone(), span: entry.span }
}

fn title(node: &Node, key: &str, report: &mut Report) -> String {
    word(node, key, report).map_or(String::new(), |w| w.text)
}

fn each(node: &Node, place: &str, report: &mut Report, mut f: impl FnMut(&Entry, &mut Report)) {
    match &node.value {
        Value::Table(entries) => entries.iter().for_each(|e| f(e, report)),
        _ => {
            report.error(node.span, format!("{place} must be a section"), format!("this is {}", node.kind()))
        }
    }
}

fn tables(node: &Node, name: &str, report: &mut Report, mut f: impl FnMut(&Node, &mut Report)) {
    match &node.value {
        Value::List(list) => list.iter().for_each(|n| match &n.value {
            Value::Table(_) => f(n, report),
            _ => report.error(
                n.span,
                format!("`{name}` must be a list of tables"),
                format!("write  [[{name}]]"),
            ),
        }),
        _ => report.error(
            node.span,
            format!("`{name}` stands in double brackets, because there may be several"),
            format!("write  [[{name}]]"),
        ),
    }
}

fn parameter(entry: &Entry, report: &mut Report) -> Option<RawParameter> {
    let name = key_word(entry);
    if let Value::Table(_) = &entry.node.value {
        let fields = Fields::of(&entry.node, keys::PARAMETER, &format!("parameter `{}`", name.text), report)?;
        let Some(value) = fields.get("value") else {
            report.error(
                entry.span,
                format!("parameter `{}` has no value", name.text),
                "write  { value = … }",
            );
            return None;
        };
        let range = match fields.formulas("range", report) {
            None => None,
            Some(list) => match <[Formula; 2]>::try_from(list) {
                Ok(pair) => Some(pair),
                Err(_) => {
                    report.error(
                        fields.key_span("range"),
                        "`range` has two ends",
                        "write  range = [from, to]",
                    );
                    None
                }
            },
        };
        let about = fields.word("about", report).map_or(String::new(), |w| w.text);
        return Some(RawParameter { name, value: value_of(&value.node, 0, report)?, range, about });
    }
    Some(RawParameter { name, value: value_of(&entry.node, 0, report)?, range: None, about: String::new() })
}

/// A scalar, list or matrix.
pub(super) fn value_of(node: &Node, depth: usize, report: &mut Report) -> Option<RawValue> {
    match &node.value {
        Value::List(list) => {
            if depth >= 2 {
                report.error(node.span, "lists may be nested two deep: a matrix", "write  [[1, 2], [3, 4]]");
                return None;
            }
            let items: Vec<_> = list.iter().filter_map(|n| value_of(n, depth + 1, report)).collect();
            (items.len() == list.len()).then_some(RawValue::List(items, node.span))
        }
        _ => Formula::read(node, report).map(RawValue::One),
    }
}

fn members(fields: &Fields, key: &str, report: &mut Report) -> Option<Members> {
    let node = &fields.get(key)?.node;
    match &node.value {
        Value::List(_) => formulas(node, report).map(|list| Members::Each(list, node.span)),
        _ => Formula::read(node, report).map(Members::Same),
    }
}

fn family(fields: &Fields, report: &mut Report) -> Option<Family> {
    Family::read(&fields.get("for")?.node, report)
}

fn coordinate(entry: &Entry, text: &str, report: &mut Report) -> Option<RawCoordinate> {
    let name = key_word(entry);
    let base = name.text.trim_end_matches('\'');
    if base.len() < name.text.len() && tree::is_name(base) {
        let rate = text.get(entry.node.span.start..entry.node.span.end).unwrap_or("…");
        report.push(tree::velocity_message(entry.span, base, &shorten(rate), None));
        return None;
    }
    if let Value::Table(_) = &entry.node.value {
        let fields =
            Fields::of(&entry.node, keys::COORDINATE, &format!("coordinate `{}`", name.text), report)?;
        let family = family(&fields, report);
        let mut start = members(&fields, "start", report);
        let rate = members(&fields, "rate", report);
        let guess = fields.get("guess").is_some();
        if guess && (start.is_some() || rate.is_some()) {
            let other = if start.is_some() { "start" } else { "rate" };
            report.error(
                fields.key_span(other),
                format!("coordinate `{}` has both `guess` and `{other}`", name.text),
                "with `guess` value and velocity are solved for; keep one of the two",
            );
        }
        if guess {
            start = members(&fields, "guess", report);
        }
        return Some(RawCoordinate { name, family, start, rate, guess });
    }
    if let Value::List(_) = entry.node.value {
        report.error(
            entry.node.span,
            format!("coordinate `{}` is not a family", name.text),
            "for a list write  { for = \"i = 1..n\", start = […] }",
        );
        return None;
    }
    let start = Formula::read(&entry.node, report).map(Members::Same);
    Some(RawCoordinate { name, family: None, start, rate: None, guess: false })
}

fn state(entry: &Entry, report: &mut Report) -> Option<RawState> {
    let name = key_word(entry);
    let fields = Fields::of(&entry.node, keys::STATE, &format!("state `{}`", name.text), report)?;
    let rate = members(&fields, "rate", report);
    if fields.get("rate").is_none() {
        report.error(
            entry.span,
            format!("state `{}` has no rate", name.text),
            format!("write  {} = {{ start = 0, rate = \"…\" }}", name.text),
        );
    }
    Some(RawState { name, family: family(&fields, report), start: members(&fields, "start", report), rate })
}

fn memory(entry: &Entry, report: &mut Report) -> Option<RawState> {
    let name = key_word(entry);
    if let Value::Table(_) = entry.node.value {
        let fields = Fields::of(&entry.node, keys::MEMORY, &format!("memory `{}`", name.text), report)?;
        let start = members(&fields, "start", report);
        return Some(RawState { name, family: family(&fields, report), start, rate: None });
    }
    let start = Some(Members::Same(Formula::read(&entry.node, report)?));
    Some(RawState { name, family: None, start, rate: None })
}

fn phase(node: &Node, report: &mut Report) -> Option<(Word, Formula)> {
    let fields = Fields::of(node, keys::PHASE, "[[phase]]", report)?;
    let name = fields.name("phase", report)?;
    if fields.get("when").is_none() {
        let help = "add  when = \"x > 1 mm\"";
        report.error(fields.span, format!("phase `{}` has no condition", name.text), help);
    }
    Some((name, fields.formula("when", report)?))
}

fn define(entry: &Entry, report: &mut Report) -> Option<RawDefine> {
    let mut name = key_word(entry);
    if let Value::Table(_) = entry.node.value {
        let fields = Fields::of(&entry.node, keys::DEFINE, &format!("definition `{}`", name.text), report)?;
        let ends = fields.choice("ends", keys::ENDS, report);
        let smooth = fields.flag("smooth", report);
        let kind = if let Some(table) = fields.get("table") {
            DefineKind::Table { points: table_points(&table.node, report)?, ends, smooth }
        } else if fields.get("csv").is_some() {
            let file = fields.word("csv", report)?;
            let (Some(x), Some(y)) = (fields.word("x", report), fields.word("y", report)) else {
                let help = "write  { csv = \"file.csv\", x = \"column\", y = \"column\" }";
                report.error(entry.span, "a table from a csv file needs the columns `x` and `y`", help);
                return None;
            };
            let columns = [Some(x), Some(y), fields.word("z", report)].into_iter().flatten().collect();
            DefineKind::Csv { file, columns, ends, smooth }
        } else {
            let help = "write  { table = [[x, y], …] }  or  { csv = \"file.csv\", x = \"…\", y = \"…\" }";
            report.error(entry.span, format!("definition `{}` has neither table nor csv", name.text), help);
            return None;
        };
        return Some(RawDefine { name, kind });
    }
    let body = Formula::read(&entry.node, report)?;
    if let Some((head, rest)) = name.text.clone().split_once('(') {
        let head = head.trim().to_string();
        let arguments: Option<Vec<String>> = rest
            .trim_end()
            .strip_suffix(')')
            .map(|list| list.split(',').map(|a| a.trim().to_string()).collect());
        let Some(arguments) = arguments.filter(|a| a.iter().all(|n| tree::is_name(n))) else {
            report.error(
                entry.span,
                format!("`{}` is not the head of a function", shorten(&name.text)),
                "write  \"f(x, y)\" = \"…\"",
            );
            return None;
        };
        if let Some(k) = (1..arguments.len()).find(|&k| arguments[..k].contains(&arguments[k])) {
            report.error(
                entry.span,
                format!("argument `{}` stands twice", arguments[k]),
                "give each its own name",
            );
            return None;
        }
        name.text = head;
        return Some(RawDefine { name, kind: DefineKind::Function(arguments, body) });
    }
    Some(RawDefine { name, kind: DefineKind::Formula(body) })
}

/// Points of a table: all of two entries, or all of three.
fn table_points(node: &Node, report: &mut Report) -> Option<Vec<Vec<Formula>>> {
    let three = match &node.value {
        Value::List(list) => list.first().is_some_and(|p| matches!(&p.value, Value::List(p) if p.len() == 3)),
        _ => false,
    };
    if !three {
        return points(node, report).map(|list| list.into_iter().map(Vec::from).collect());
    }
    let Value::List(list) = &node.value else { return None };
    let mut out = Vec::with_capacity(list.len());
    for item in list {
        let point = formulas(item, report)?;
        if point.len() != 3 {
            report.error(item.span, "the points of this table have three entries", "write  [x, y, value]");
            return None;
        }
        out.push(point);
    }
    Some(out)
}

/// A list of pairs of formulas.
pub(super) fn points(node: &Node, report: &mut Report) -> Option<Vec<[Formula; 2]>> {
    let Value::List(list) = &node.value else {
        report.error(node.span, "a list of points is expected here", "write  [[x, y], [x, y], …]");
        return None;
    };
    let mut out = Vec::with_capacity(list.len());
    for item in list {
        match <[Formula; 2]>::try_from(formulas(item, report)?) {
            Ok(pair) => out.push(pair),
            Err(wrong) => {
                let help = if wrong.len() == 3 { super::SPATIAL } else { "write  [x, y]" };
                report.error(item.span, "a point has two entries", help);
                return None;
            }
        }
    }
    Some(out)
}

fn start(node: &Node, raw: &mut RawFile, report: &mut Report) {
    let Some(fields) = Fields::of(node, keys::START, "[start]", report) else { return };
    raw.closed = fields.words("closed", report).unwrap_or_default();
    raw.sticking = fields.words("sticking", report).unwrap_or_default();
    raw.equilibrium = fields.flag("equilibrium", report);
    raw.start = fields.key_span("equilibrium");
}

fn run(node: &Node, report: &mut Report) -> Option<RawRun> {
    let fields = Fields::of(node, keys::RUN, "[run]", report)?;
    Some(RawRun {
        until: fields.formula("until", report),
        scheme: fields.one_of("scheme", Scheme::ALL, Scheme::word, report),
        step: fields.formula("step", report),
        tolerance: fields.formula("tolerance", report),
        method: fields.one_of("method", Choice::ALL, Choice::word, report),
        every: fields.formula("every", report),
        events: fields.formula("events", report),
        impact: fields.one_of("impact", Law::ALL, Law::word, report),
        several: fields.one_of("several", Policy::ALL, Policy::word, report),
        sensitivity: fields.words("sensitivity", report).unwrap_or_default(),
    })
}

fn case(entry: &Entry, report: &mut Report) -> Option<RawCase> {
    let name = key_word(entry);
    let Value::Table(entries) = &entry.node.value else {
        report.error(
            entry.span,
            "a case is a section of its own",
            "write  [case.NAME]  and below it  parameter = value",
        );
        return None;
    };
    let mut values = Vec::new();
    for e in entries {
        values.extend(value_of(&e.node, 0, report).map(|v| (key_word(e), v)));
    }
    Some(RawCase { name, values })
}

fn plot(node: &Node, report: &mut Report) -> Option<RawPlot> {
    let fields = Fields::of(node, keys::PLOT, "[[plot]]", report)?;
    let y = match members(&fields, "y", report) {
        Some(Members::Same(f)) => vec![f],
        Some(Members::Each(list, _)) => list,
        None => {
            if fields.get("y").is_none() {
                report.error(fields.span, "a plot needs `y`", "write  y = \"x\"");
            }
            return None;
        }
    };
    Some(RawPlot { family: family(&fields, report), x: fields.formula("x", report), y })
}

fn draw(node: &Node, report: &mut Report) -> Option<RawDraw> {
    let fields = Fields::of(node, keys::DRAW, "[[draw]]", report)?;
    let family = family(&fields, report);
    if let Some(path) = fields.get("path") {
        return Some(RawDraw::Path(family, points(&path.node, report)?));
    }
    let Some(circle) = fields.get("circle") else {
        report.error(
            fields.span,
            "nothing to draw",
            "write  path = [[x, y], …]  or  circle = { center = [x, y], radius = r }",
        );
        return None;
    };
    let circle = Fields::of(&circle.node, keys::CIRCLE, "circle", report)?;
    let center = circle.formulas("center", report).and_then(|c| <[Formula; 2]>::try_from(c).ok());
    let (Some(center), Some(radius)) = (center, circle.formula("radius", report)) else {
        report.error(
            circle.span,
            "a circle needs center and radius",
            "write  { center = [x, y], radius = r }",
        );
        return None;
    };
    Some(RawDraw::Circle(family, center, radius))
}
