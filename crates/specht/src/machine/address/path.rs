//! Walking through `run.json`.

use crate::expr::{CompareOp, Condition, Step, address, did_you_mean};
use serde_json::Value as Json;

/// Where a walk arrived: one value, or a list of values picked from a list. `contact` is the contact named by a filter.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    at: At<'a>,
    contact: Option<String>,
}

#[derive(Clone, Debug)]
enum At<'a> {
    One(&'a Json),
    Many(Vec<&'a Json>),
}

/// What a path means: values of `run.json`.
#[derive(Clone, Debug)]
pub(super) enum Found<'a> {
    /// One value.
    One(&'a Json),
    /// A number summed over the flanks of a play.
    Sum(f64),
    /// A list picked or mapped.
    Many(Vec<Found<'a>>),
}

/// Follow `steps` from `root`.
pub(super) fn walk<'a>(root: &'a Json, steps: &[Step]) -> Result<Found<'a>, String> {
    let mut cursor = Cursor { at: At::One(root), contact: None };
    let mut k = 0;
    while k < steps.len() {
        k += cursor.step(&steps[k..])?;
    }
    Ok(match cursor.at {
        At::One(value) => of_contact(value, &cursor.contact),
        At::Many(list) => Found::Many(list.into_iter().map(|v| of_contact(v, &cursor.contact)).collect()),
    })
}

impl<'a> Cursor<'a> {
    /// Do one step (or several that form one key); returns how many were used.
    fn step(&mut self, steps: &[Step]) -> Result<usize, String> {
        match &steps[0] {
            Step::Index(index) if self.list().is_some() => {
                let list = self.list().unwrap_or_default();
                let n = list.len() as i64;
                let k = if *index < 0 { n + index } else { index - 1 };
                let entry = usize::try_from(k).ok().and_then(|k| list.get(k));
                let entry = entry.ok_or_else(|| match n {
                    0 => format!("entry [{index}] of an empty list"),
                    _ => format!("entry [{index}] of a list of {n}; entries count from 1, [-1] is the last"),
                })?;
                self.at = At::One(entry);
                Ok(1)
            }
            Step::Index(_) | Step::Prime => match &self.at {
                At::One(value @ Json::Object(_)) => {
                    let (found, used) = key(value, steps, &self.contact)?;
                    self.at = At::One(found);
                    Ok(used)
                }
                _ => Err(format!("`{}` does not fit here: this is not a list", address(&steps[..1]))),
            },
            Step::Filter(conditions) => {
                let list = self.list().ok_or("a filter [key=value] needs a list")?;
                let mut kept = Vec::new();
                for entry in list {
                    if conditions.iter().all(|c| holds(entry, c)) {
                        kept.push(entry);
                    }
                }
                if let Some(c) = conditions.iter().find(|c| c.key == "contact" && c.op == CompareOp::Eq) {
                    self.contact = Some(c.text.clone());
                }
                self.at = At::Many(kept);
                Ok(1)
            }
            Step::Key(_) => match &self.at {
                At::One(value) if !value.is_array() => {
                    let (found, used) = key(value, steps, &self.contact)?;
                    self.at = At::One(found);
                    Ok(used)
                }
                _ => {
                    // the same key of every entry
                    let list = self.list().unwrap_or_default();
                    let mut values = Vec::with_capacity(list.len());
                    let mut used = 1;
                    for (k, entry) in list.iter().enumerate() {
                        let (found, n) =
                            key(entry, steps, &self.contact).map_err(|e| format!("entry {}: {e}", k + 1))?;
                        values.push(found);
                        used = n;
                    }
                    if list.is_empty() {
                        used = steps.iter().take_while(|s| matches!(s, Step::Key(_) | Step::Prime)).count();
                    }
                    self.at = At::Many(values);
                    Ok(used)
                }
            },
        }
    }

    fn list(&self) -> Option<Vec<&'a Json>> {
        match &self.at {
            At::Many(list) => Some(list.clone()),
            At::One(Json::Array(list)) => Some(list.iter().collect()),
            At::One(_) => None,
        }
    }
}

/// The longest run of steps that is a key of the object.
fn key<'a>(value: &'a Json, steps: &[Step], contact: &Option<String>) -> Result<(&'a Json, usize), String> {
    let Json::Object(object) = value else {
        return Err(format!("`{}` does not fit here: this is {}", address(&steps[..1]), kind(value)));
    };
    let longest = steps.iter().take_while(|s| !matches!(s, Step::Filter(_))).count().min(8);
    for n in (1..=longest).rev() {
        if let Some(found) = object.get(address(&steps[..n]).as_str()) {
            return Ok((found, n));
        }
    }
    // an object keyed by contact, after a filter `contact=…`
    if let Some(inner) = contact.as_ref().and_then(|c| object.get(c)) {
        return key(inner, steps, &None);
    }
    let names: Vec<&str> = object.keys().map(String::as_str).collect();
    let wanted = address(&steps[..1]);
    let hint = match nearest(&wanted, &names) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.is_empty() => "there is nothing here".to_string(),
        None => {
            let shown: Vec<&str> = names.iter().take(12).copied().collect();
            format!("there are {}{}", shown.join(", "), if names.len() > 12 { ", …" } else { "" })
        }
    };
    Err(format!("no `{wanted}` here; {hint}"))
}

/// With a contact in mind, an object keyed by contacts means that contact's entry.
fn of_contact<'a>(value: &'a Json, contact: &Option<String>) -> Found<'a> {
    if let (Json::Object(object), Some(name)) = (value, contact) {
        if let Some(found) = object.get(name) {
            return Found::One(found);
        }
        let flanks: Vec<f64> =
            object.iter().filter(|(k, _)| is_of(k, name)).filter_map(|(_, v)| v.as_f64()).collect();
        if !flanks.is_empty() {
            return Found::Sum(flanks.iter().sum());
        }
    }
    Found::One(value)
}

/// Whether contact `full` is `name` itself or a flank of it (`mesh.low` of `mesh`).
pub(super) fn is_of(full: &str, name: &str) -> bool {
    full == name || full.strip_prefix(name).is_some_and(|rest| rest == ".low" || rest == ".high")
}

/// Whether a list entry satisfies a condition.
pub(super) fn holds(entry: &Json, c: &Condition) -> bool {
    // one of several values
    if c.text.contains('|') && (c.op == CompareOp::Eq || c.op == CompareOp::Ne) {
        let any = c.text.split('|').any(|text| {
            let text = text.trim().to_string();
            holds(
                entry,
                &Condition { op: CompareOp::Eq, number: text.parse().ok(), text, key: c.key.clone() },
            )
        });
        return any == (c.op == CompareOp::Eq);
    }
    // `after` and `before` a time; as keys of an event they are states, which no number equals
    if let ("after" | "before", Some(bound), Some(time)) = (c.key.as_str(), c.number, entry["time"].as_f64())
    {
        return if c.key == "after" { time > bound } else { time < bound };
    }
    if c.key == "contact" {
        let found = entry["contacts"]
            .as_array()
            .is_some_and(|list| list.iter().filter_map(Json::as_str).any(|full| is_of(full, &c.text)));
        return found == (c.op == CompareOp::Eq);
    }
    let value = &entry[c.key.as_str()];
    if let (Some(x), Some(y)) = (value.as_f64(), c.number) {
        return c.op.holds(x, y);
    }
    let same = match value {
        Json::String(text) => *text == c.text,
        Json::Bool(b) => c.text == if *b { "true" } else { "false" },
        _ => false,
    };
    match c.op {
        CompareOp::Eq => same,
        CompareOp::Ne => !same,
        _ => false,
    }
}

/// The candidate that a mistyped `word` most likely means.
pub(super) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    did_you_mean(word, candidates.iter().copied())
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "nothing (null)",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "a table",
    }
}
