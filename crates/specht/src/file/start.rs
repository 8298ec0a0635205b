//! Messages for a start that breaks the contacts, pointing at the coordinate to change.

use super::diagnostic::Diagnostic;
use crate::expr::NodeId;
use crate::model::{Geometry, Input, Model, Rotation, Span};
use crate::sim::StartError;

/// Explains why a model cannot start, at the coordinate in the file that most likely should be a guess.
pub(crate) fn explain_start(model: &Model, text: &str, error: &StartError) -> Diagnostic {
    match error {
        StartError::Apart { contact, gap } => broken(
            model,
            text,
            contact,
            format!("the initial state breaks contact `{contact}`"),
            format!("gap is {} m", short(*gap)),
        ),
        StartError::Moving { contact, rate } => broken(
            model,
            text,
            contact,
            format!("the initial velocities break contact `{contact}`"),
            format!("its gap changes with {} m/s", short(*rate)),
        ),
        StartError::Inside { contact, depth, moved_by } => {
            let message = format!("contact `{contact}` starts {} m inside", short(*depth));
            match blamed(model, contact, |c| moved_by.is_empty() || moved_by.contains(&c)) {
                Some(c) => {
                    let name = &model.coordinates[c].name;
                    // corners of a box and the like are not closed by name
                    let whole = model.contacts.iter().any(|x| x.name == *contact);
                    let help = match whole {
                        true => format!(
                            "list it in  [start] closed = [\"{contact}\"]  and make {name} a guess, or start outside"
                        ),
                        false => format!("start outside: choose another {name}"),
                    };
                    Diagnostic::error(value_span(text, model.coordinates[c].span), message, help)
                }
                None => Diagnostic::error(contact_span(model, contact), message, "start outside"),
            }
        }
        StartError::Overlap { a, b, depth } => {
            let message = format!("`{a}` and `{b}` start {} m inside one another", short(*depth));
            let bodies = model.bodies.iter();
            // the feature is behind the last dot
            let body = |name: &String| name.rsplit_once('.').map(|x| x.0.to_string());
            let span =
                bodies.rev().find(|x| [body(a), body(b)].contains(&Some(x.name.clone()))).map(|x| x.span);
            let help = "start them apart, or leave one of them out of  among = […]";
            Diagnostic::error(span.unwrap_or_default(), message, help)
        }
        StartError::Undefined { what } if has_tangent(model, what) => Diagnostic::error(
            named_span(model, what).unwrap_or_default(),
            error.to_string(),
            "its `tangent` points along the normal there: give another direction, or leave it out",
        ),
        StartError::Undefined { what } => Diagnostic::error(
            named_span(model, what).unwrap_or_default(),
            error.to_string(),
            "for example 0/0, or the root of a negative number: a length is too short for the geometry to close",
        ),
        StartError::Unsolvable(_) => Diagnostic::error(
            model.start.span,
            error.to_string(),
            "the forces must be able to balance near the start: check supports and springs, or start elsewhere",
        ),
        StartError::CreatesEnergy { contact, .. } => Diagnostic::error(
            contact_span(model, contact),
            error.to_string(),
            "check its entries, or let  friction = { regular = mu }  build one",
        ),
        StartError::NoTensor { contact } => Diagnostic::error(
            contact_span(model, contact),
            error.to_string(),
            "give a coefficient,  friction = mu",
        ),
        StartError::NotFinite => Diagnostic::error(
            model.coordinates.first().map_or(Span::default(), |c| c.span),
            error.to_string(),
            "give every coordinate, velocity and state a finite start",
        ),
        other => Diagnostic::error(Span::default(), other.to_string(), ""),
    }
}

/// The place of "the position of body `rod`": the thing of that kind and name.
fn named_span(model: &Model, what: &str) -> Option<Span> {
    let (before, rest) = what.split_once('`')?;
    let name = rest.split('`').next()?;
    match before.split_whitespace().last()? {
        "body" => model.bodies.iter().find(|b| b.name == name).map(|b| b.span),
        "contact" => Some(contact_span(model, name)),
        "force" => model.forces.iter().find(|f| f.name == name).map(|f| f.span),
        "coordinate" => model.coordinates.iter().find(|c| c.name == name).map(|c| c.span),
        _ => None,
    }
}

/// A bilateral contact or pin that is apart or moves apart: which coordinate to solve for. When some are solved for already, they went
/// as far as they can: it cannot close.
fn broken(model: &Model, text: &str, contact: &str, message: String, number: String) -> Diagnostic {
    let solved = moving(model, contact).into_iter().filter(|c| model.coordinates[*c].guess);
    let solved: Vec<&str> = solved.map(|c| model.coordinates[c].name.as_str()).collect();
    let place = contact_span(model, contact);
    let stuck = format!(
        "it cannot close: {number} when {} went as far as they can; check the lengths",
        solved.join(", ")
    );
    let Some(c) = blamed(model, contact, |_| true) else {
        let help = if solved.is_empty() { format!("{number}; no coordinate moves it") } else { stuck };
        return Diagnostic::error(place, message, help);
    };
    let coordinate = &model.coordinates[c];
    let base = coordinate.name.split('[').next().unwrap_or("");
    let start = start_text(text, coordinate.span);
    let help = format!("{number}; write  {base} = {{ guess = {start} }}  and it will be solved for");
    let found = Diagnostic::error(coordinate.span, message, help);
    if solved.is_empty() { found } else { found.note(place, stuck) }
}

/// Whether it is the direction of a contact whose tangent was given.
fn has_tangent(model: &Model, what: &str) -> bool {
    let name = what.strip_prefix("the direction of contact `").and_then(|rest| rest.split('`').next());
    let base = |c: &str| c.split('[').next() == name.and_then(|n| n.split('[').next());
    model.contacts.iter().any(|c| base(&c.name) && c.space.tangent.is_some())
}

/// Place of the contact of the model that became the contact of this name: itself, or the outline of which it is a part.
fn contact_span(model: &Model, contact: &str) -> Span {
    let part = |base: &str| contact.strip_prefix(base).is_some_and(|rest| rest.starts_with('['));
    let found = model.contacts.iter().find(|c| c.name == contact || part(&c.name));
    found.map_or(Span::default(), |c| c.span)
}

/// The coordinate to change: one that moves the contact, as far as `moves` knows, and is no guess, if possible one that starts at rest.
fn blamed(model: &Model, contact: &str, moves: impl Fn(usize) -> bool) -> Option<usize> {
    let free: Vec<usize> =
        moving(model, contact).into_iter().filter(|&c| !model.coordinates[c].guess && moves(c)).collect();
    let at_rest = |c: &&usize| model.graph.constant(model.coordinates[**c].rate) == Some(0.0);
    free.iter().find(at_rest).or(free.first()).copied()
}

/// The coordinates that move a contact, in file order.
fn moving(model: &Model, contact: &str) -> Vec<usize> {
    let base = contact.split('[').next().unwrap_or(contact);
    let Some(contact) =
        model.contacts.iter().find(|c| c.name == contact).or(model.contacts.iter().find(|c| c.name == base))
    else {
        return Vec::new();
    };
    let mut nodes: Vec<NodeId> = Vec::new();
    match &contact.geometry {
        Geometry::Gap(node) => nodes.push(*node),
        Geometry::Guide(list) => nodes.extend(list),
        Geometry::Between(a, b) | Geometry::Pin(a, b) | Geometry::Directions(a, b, _) => {
            for mut body in [a.body, b.body] {
                // up the tree; parents stand before children, so this ends
                while let Some(found) = body.and_then(|k| model.bodies.get(k)) {
                    nodes.extend(found.position);
                    nodes.push(found.angle);
                    if let Some(space) = &found.space {
                        nodes.extend(space.position);
                        if let Rotation::Turns(list) = &space.rotation {
                            nodes.extend(list.iter().map(|t| t.1));
                        }
                    }
                    body = found.on.filter(|p| Some(*p) < body);
                }
            }
        }
        Geometry::None => nodes.extend(contact.slip),
    }
    let mut out: Vec<usize> = model
        .graph
        .symbols(&nodes)
        .into_iter()
        .filter_map(|s| match model.inputs.get(s.0 as usize) {
            Some(Input::Coordinate(k)) | Some(Input::Velocity(k)) => Some(*k),
            _ => None,
        })
        .filter(|&k| k < model.coordinates.len())
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The value behind a key, up to a comment or the end of the line.
fn value_span(text: &str, key: Span) -> Span {
    let Some(rest) = text.get(key.end..) else { return key };
    let line = rest.lines().next().unwrap_or("");
    let Some(equals) = line.find('=') else { return key };
    let value = one_value(&line[equals + 1..]);
    let begin = key.end + equals + 1 + (value.len() - value.trim_start().len());
    let end = begin + value.trim().len();
    if begin < end { Span { start: begin, end } } else { key }
}

/// The text up to the comma or bracket that ends the value, a comment or the end.
fn one_value(text: &str) -> &str {
    let (mut depth, mut quoted) = (0, false);
    for (k, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' => depth += 1,
            '#' => return &text[..k],
            ',' | '}' | ']' if depth == 0 => return &text[..k],
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    text
}

/// The start value as written, for the suggestion.
fn start_text(text: &str, key: Span) -> String {
    let span = value_span(text, key);
    let value = text.get(span.start..span.end).unwrap_or("0");
    let Some(table) = value.strip_prefix('{') else { return value.to_string() };
    let start = table.split("start").nth(1).and_then(|t| t.split_once('='));
    match start {
        Some((_, rest)) => rest.split([',', '}']).next().unwrap_or("0").trim().to_string(),
        None => "0".to_string(),
    }
}

/// Three digits.
fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let size = x.abs().log10().floor() as i32;
    if (-3..6).contains(&size) {
        let digits = (2 - size).clamp(0, 12) as usize;
        return format!("{x:.digits$}");
    }
    format!("{x:.2e}")
}
