//! Names in an address that no run can have, known before anything is run.
//!
//! A filter that asks for what cannot be, `events[kind=impct]`, holds for no event: its count is 0 in every run, and nobody is told. So
//! the conditions and keys of `events` and the names of `phases` are compared with what there is.

use super::Address;
use crate::expr::{CompareOp, Condition, Expr, Kind, Step, address};

/// Keys of an event.
const EVENT: [&str; 13] = [
    "time",
    "kind",
    "name",
    "contacts",
    "modes",
    "modes_before",
    "impulse_n",
    "impulse_t",
    "loss",
    "before",
    "after",
    "note",
    "alternatives",
];
/// Keys of an event that hold a value per contact.
const PER_CONTACT: [&str; 5] = ["modes", "modes_before", "impulse_n", "impulse_t", "loss"];
/// Keys of conditions that are none of an event itself.
const ASKED: [&str; 1] = ["contact"];

/// What there is.
pub(crate) struct Known {
    /// Kinds of events.
    pub kinds: Vec<String>,
    /// Contacts.
    pub contacts: Vec<String>,
    /// Events of the file, phases included.
    pub events: Vec<String>,
    /// Phases.
    pub phases: Vec<String>,
}

/// A name that is not among those that there are.
#[derive(Debug)]
pub(crate) struct Missing<'a> {
    /// What it should be.
    pub what: &'static str,
    /// As written.
    pub name: String,
    /// What there is.
    pub known: std::borrow::Cow<'a, [String]>,
}

impl Address {
    /// The first name that no run of such a machine can have.
    pub(crate) fn missing<'a>(&self, known: &'a Known) -> Option<Missing<'a>> {
        visit(&self.ast.root, known)
    }
}

fn visit<'a>(node: &Expr, known: &'a Known) -> Option<Missing<'a>> {
    match &node.kind {
        Kind::Address(Some(base), _) => visit(base, known),
        Kind::Address(None, steps) => known.path(steps),
        Kind::Call { args, .. } => args.iter().find_map(|e| visit(e, known)),
        Kind::Neg(inner) | Kind::Not(inner) => visit(inner, known),
        Kind::Pow(a, b, _) | Kind::Compare(_, a, b, _) => visit(a, known).or_else(|| visit(b, known)),
        Kind::Chain(first, links) => {
            visit(first, known).or_else(|| links.iter().find_map(|l| visit(&l.expr, known)))
        }
        Kind::And(all) | Kind::Or(all) => all.iter().find_map(|e| visit(e, known)),
        Kind::Number { .. } | Kind::Text(_) | Kind::Name { .. } | Kind::Range { .. } => None,
    }
}

impl Known {
    fn path(&self, steps: &[Step]) -> Option<Missing<'_>> {
        match steps {
            [Step::Key(first), rest @ ..] if first == "events" => self.event(rest),
            [Step::Key(first), Step::Key(name), ..] if first == "phases" && !self.phases.contains(name) => {
                Some(Missing { what: "phase", name: name.clone(), known: (&self.phases[..]).into() })
            }
            _ => None,
        }
    }

    /// Steps behind `events`: filters and entries, a key, and what follows it.
    fn event(&self, steps: &[Step]) -> Option<Missing<'_>> {
        for (k, step) in steps.iter().enumerate() {
            match step {
                Step::Filter(conditions) => {
                    if let Some(missing) = conditions.iter().find_map(|c| self.condition(c)) {
                        return Some(missing);
                    }
                }
                Step::Index(_) => {}
                Step::Key(key) if EVENT.contains(&key.as_str()) => {
                    let rest = &steps[k + 1..];
                    return if PER_CONTACT.contains(&key.as_str()) { self.of_contact(rest) } else { None };
                }
                Step::Key(key) => return Some(listed("key of events", key, &EVENT)),
                Step::Prime => return None,
            }
        }
        None
    }

    fn condition(&self, c: &Condition) -> Option<Missing<'_>> {
        if !EVENT.contains(&c.key.as_str()) && !ASKED.contains(&c.key.as_str()) {
            let keys: Vec<&str> = EVENT.iter().chain(&ASKED).copied().collect();
            return Some(listed("key of events", &c.key, &keys));
        }
        if c.op != CompareOp::Eq && c.op != CompareOp::Ne {
            return None;
        }
        let mut words = c.text.split('|').map(str::trim);
        let (what, known, wrong) = match c.key.as_str() {
            "kind" => ("kind of event", &self.kinds, words.find(|w| !self.kinds.iter().any(|k| k == w))),
            "name" => ("event", &self.events, words.find(|w| !self.events.iter().any(|k| k == w))),
            "contact" => ("contact", &self.contacts, words.find(|w| !self.is_contact(w))),
            _ => return None,
        };
        wrong.map(|name| Missing { what, name: name.to_string(), known: (&known[..]).into() })
    }

    /// A contact, or one whose flanks or parts are contacts.
    fn is_contact(&self, name: &str) -> bool {
        let part = |full: &String| full.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '[']));
        self.contacts.iter().any(|full| full == name || part(full))
    }

    /// What follows a key per contact begins with one.
    fn of_contact(&self, steps: &[Step]) -> Option<Missing<'_>> {
        let named = |n: &usize| self.is_contact(&address(&steps[..*n]));
        let begins = matches!(steps.first(), Some(Step::Key(_)));
        if !begins || (1..=steps.len()).any(|n| named(&n)) {
            return None;
        }
        let name = address(&steps[..1]);
        Some(Missing { what: "contact", name, known: (&self.contacts[..]).into() })
    }
}

fn listed(what: &'static str, name: &str, known: &[&str]) -> Missing<'static> {
    let known = known.iter().map(|k| k.to_string()).collect::<Vec<_>>();
    Missing { what, name: name.to_string(), known: known.into() }
}
