//! Questions that cannot be answered: the error of an analysis as a message that points at its cause in the file, with a remedy.

use crate::diagnostics;
use crate::outcome::Refusal;
use crate::session::Prepared;
use crate::text::nearest;
use specht::analysis::{AnalysisError, Snapshot};
use specht::file::Diagnostic;
use specht::model::{Model, Span};
use specht::sim::StartError;
use specht::system::{Normal, System};

/// The message for an error about this model.
pub fn refuse(p: &Prepared, e: AnalysisError) -> Refusal {
    use AnalysisError as E;
    let text = e.to_string();
    let at = |span: Span, text: String, help: String| {
        diagnostics::refusal(&[Diagnostic::error(span, text, help)], &p.request.source, &p.request.set)
    };
    let contact = |name: &str| span_of_contact(&p.model, name);
    match e {
        E::UnknownContact { name, known } => {
            unknown("contact", &name, &known, "`specht check MODEL` lists the contacts")
        }
        E::UnknownParameter { name, known } => {
            unknown("parameter", &name, &known, "make a parameter of what should vary")
        }
        E::UnknownAxis { name, known } => unknown(
            "parameter, coordinate or velocity",
            &name,
            &known,
            "a velocity is written like a coordinate with a prime, \"phi'\"",
        ),
        E::NoFriction(name) => match contact(&name) {
            Some(span) => at(
                span,
                format!("contact `{name}` has no friction, so its reaction is the only possible one"),
                "give it  friction = 0.2  or ask about another contact".into(),
            ),
            None => Refusal::new(text),
        },
        E::Open(name) => match contact(&name) {
            Some(span) => at(
                span,
                format!("contact `{name}` is open at this state"),
                format!("start with it closed,  [start] closed = [\"{name}\"], or look at an instant of the run with --at-time"),
            ),
            None => Refusal::new(text),
        },
        E::Spatial(name) => match contact(&name) {
            Some(span) => at(
                span,
                format!("contact `{name}` slides in two directions; this analysis is for planar contacts"),
                "analyse a planar section of the machine".into(),
            ),
            None => Refusal::new(text),
        },
        E::NoPair => Refusal::new("no contact of the model has friction, so there is nothing to decide")
            .help("give a contact  friction = 0.2"),
        E::NoFreedom { constraints, velocities } => {
            let names: Vec<String> = holding(p).iter().map(|n| format!("`{n}`")).collect();
            Refusal::new(format!(
                "the mechanism cannot move: {constraints} independent constraints hold its {velocities} velocities"
            ))
            .help(format!("it is held by {}; leave one out", names.join(", ")))
        }
        E::SingularMass => match massless(p) {
            Some((name, span)) => at(
                span,
                format!("nothing with mass moves with `{name}`, and no contact holds it: its acceleration is unknown"),
                "give a body that moves with it a mass or an inertia".into(),
            ),
            None => Refusal::new(text),
        },
        E::NoPoint(inner) => {
            let inner = refuse(p, *inner);
            let first = if inner.rendered {
                return Refusal {
                    message: format!("error: no point of the map can be analysed; the first one says\n{}", inner.message),
                    ..inner
                };
            } else {
                inner.message.clone()
            };
            Refusal { message: format!("no point of the map can be analysed; the first one: {first}"), ..inner }
        }
        E::Start(
            StartError::Apart { ref contact, .. }
            | StartError::Moving { ref contact, .. }
            | StartError::Inside { ref contact, .. },
        ) => match span_of_contact(&p.model, contact) {
            Some(span) => at(
                span,
                text,
                "the state must keep this contact: choose other values, or let a coordinate follow, { guess = … }".into(),
            ),
            None => Refusal::new(text),
        },
        E::Interrupted => Refusal::new("interrupted before there was anything to keep"),
        _ => Refusal::new(text),
    }
}

fn unknown(what: &str, name: &str, known: &[String], otherwise: &str) -> Refusal {
    let list: Vec<&str> = known.iter().map(String::as_str).collect();
    let shown: Vec<String> = list.iter().take(30).map(|n| format!("`{n}`")).collect();
    let more = if list.len() > 30 { ", …" } else { "" };
    let refusal = Refusal::new(format!("there is no {what} `{name}`"));
    match nearest(name, &list) {
        Some(near) => refusal.help(format!("did you mean `{near}`?")),
        None if shown.is_empty() => refusal.help(format!("the model has none; {otherwise}")),
        None => refusal.help(format!("there are {}{more}; {otherwise}", shown.join(", "))),
    }
}

/// Place of a contact, also of one of a family or of play.
fn span_of_contact(model: &Model, name: &str) -> Option<Span> {
    let part = |base: &str| name.strip_prefix(base).is_some_and(|r| r.starts_with('[') || r.starts_with('.'));
    model.contacts.iter().find(|c| c.name == name || part(&c.name)).map(|c| c.span)
}

/// Contacts that hold something at the start.
fn holding(p: &Prepared) -> Vec<String> {
    let info = p.system.contacts();
    info.iter().filter(|c| !matches!(c.normal, Normal::Given { .. })).map(|c| c.name.clone()).collect()
}

/// A coordinate with which nothing moves that has mass.
fn massless(p: &Prepared) -> Option<(String, Span)> {
    let mut at = Snapshot::new(&p.system);
    at.state.clone_from(&p.start);
    at.take(&p.system).ok()?;
    let mass = &at.eval.mass;
    let k = (0..p.model.coordinates.len().min(mass.size())).find(|&k| mass[(k, k)] == 0.0)?;
    let c = &p.model.coordinates[k];
    Some((c.name.clone(), c.span))
}
