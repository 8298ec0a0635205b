//! Reading tables: known keys, required kinds, and messages when they are not met.

use super::diagnostic::Report;
use super::formula::Formula;
use super::keys::Key;
use super::tree::{Entry, Node, Value};
use crate::expr::did_you_mean;
use crate::model::Span;

/// Text with its place.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The text.
    pub text: String,
    /// Its place, quotes included.
    pub span: Span,
}

/// The entries of one table, checked against the keys that may stand there.
pub(super) struct Fields<'a> {
    entries: &'a [Entry],
    /// Place of the table, for what is missing.
    pub span: Span,
}

impl<'a> Fields<'a> {
    /// Checks that `node` is a table with known keys only. `place` names the section in messages: `[[contact]]`.
    pub(super) fn of(node: &'a Node, keys: &[Key], place: &str, report: &mut Report) -> Option<Fields<'a>> {
        let Value::Table(entries) = &node.value else {
            report.error(node.span, format!("{place} must be a table"), format!("this is {}", node.kind()));
            return None;
        };
        unknown_keys(entries, keys, place, report);
        Some(Fields { entries, span: node.span })
    }

    /// The entry of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// Place of a key, else of the table.
    pub(super) fn key_span(&self, key: &str) -> Span {
        self.get(key).map_or(self.span, |e| e.span)
    }

    /// A formula.
    pub(super) fn formula(&self, key: &str, report: &mut Report) -> Option<Formula> {
        Formula::read(&self.get(key)?.node, report)
    }

    /// A list of formulas.
    pub(super) fn formulas(&self, key: &str, report: &mut Report) -> Option<Vec<Formula>> {
        formulas(&self.get(key)?.node, report)
    }

    /// A formula or a list of them.
    pub(super) fn one_or_more(&self, key: &str, report: &mut Report) -> Option<Vec<Formula>> {
        let node = &self.get(key)?.node;
        match node.value {
            Value::List(_) => formulas(node, report),
            _ => Formula::read(node, report).map(|f| vec![f]),
        }
    }

    /// A text.
    pub(super) fn word(&self, key: &str, report: &mut Report) -> Option<Word> {
        word(&self.get(key)?.node, key, report)
    }

    /// A list of texts; a single text counts as a list of one.
    pub(super) fn words(&self, key: &str, report: &mut Report) -> Option<Vec<Word>> {
        let entry = self.get(key)?;
        match &entry.node.value {
            Value::List(list) => Some(list.iter().filter_map(|n| word(n, key, report)).collect()),
            _ => word(&entry.node, key, report).map(|w| vec![w]),
        }
    }

    /// true or false; `false` when left out.
    pub(super) fn flag(&self, key: &str, report: &mut Report) -> bool {
        match self.get(key).map(|e| &e.node) {
            None => false,
            Some(Node { value: Value::Bool(b), .. }) => *b,
            Some(node) => {
                report.error(
                    node.span,
                    format!("`{key}` must be true or false"),
                    format!("this is {}", node.kind()),
                );
                false
            }
        }
    }

    /// One of some words.
    pub(super) fn choice(&self, key: &str, words: &[&str], report: &mut Report) -> Option<String> {
        let found = self.word(key, report)?;
        if words.contains(&found.text.as_str()) {
            return Some(found.text);
        }
        let hint = did_you_mean(&found.text, words.iter().copied());
        let hint = hint.map_or(String::new(), |w| format!("; did you mean `{w}`?"));
        report.error(
            found.span,
            format!("unknown word `{}` for `{key}`", shorten(&found.text)),
            format!("one of {}{hint}", words.join(", ")),
        );
        None
    }
}

impl Fields<'_> {
    /// The same as a value of a type whose words are known.
    pub(super) fn one_of<T: Copy, const N: usize>(
        &self,
        key: &str,
        all: [T; N],
        word: fn(T) -> &'static str,
        report: &mut Report,
    ) -> Option<T> {
        let found = self.choice(key, &all.map(word), report)?;
        all.into_iter().find(|x| word(*x) == found)
    }
}

/// Reports keys that are not in the list, with the nearest one that is.
pub(super) fn unknown_keys(entries: &[Entry], keys: &[Key], place: &str, report: &mut Report) {
    for entry in entries {
        if keys.iter().any(|k| k.name == entry.key) {
            continue;
        }
        let near = did_you_mean(&entry.key, keys.iter().map(|k| k.name));
        let help = match near {
            Some(key) => format!("did you mean `{key}`?"),
            None => format!("known are {}", keys.iter().map(|k| k.name).collect::<Vec<_>>().join(", ")),
        };
        report.error(entry.span, format!("unknown key `{}` in {place}", shorten(&entry.key)), help);
    }
}

/// A list of formulas.
pub(super) fn formulas(node: &Node, report: &mut Report) -> Option<Vec<Formula>> {
    match &node.value {
        Value::List(list) => {
            let found: Vec<Formula> = list.iter().filter_map(|n| Formula::read(n, report)).collect();
            (found.len() == list.len()).then_some(found)
        }
        _ => {
            report.error(
                node.span,
                "a list is expected here",
                format!("this is {}; write  [x, y]", node.kind()),
            );
            None
        }
    }
}

/// A text.
pub(super) fn word(node: &Node, key: &str, report: &mut Report) -> Option<Word> {
    match &node.value {
        Value::Text(t) => Some(Word { text: t.text.clone(), span: node.span }),
        _ => {
            report.error(
                node.span,
                format!("`{key}` must be a text in quotes"),
                format!("this is {}", node.kind()),
            );
            None
        }
    }
}

/// A text cut to a length that fits a message.
pub(super) fn shorten(text: &str) -> String {
    if text.chars().count() <= 40 {
        return text.to_string();
    }
    let mut short: String = text.chars().take(37).collect();
    short.push('…');
    short
}
