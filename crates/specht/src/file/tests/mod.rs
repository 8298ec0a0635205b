//! Tests of the reader.

mod junk;
mod meaning;
mod messages;

use super::{Diagnostic, Loaded, Options, Severity, read};

pub(super) const ROD: &str = include_str!("models/rod.toml");
pub(super) const ELLIPTIC: &str = include_str!("models/elliptic.toml");
pub(super) const TOWER: &str = include_str!("models/tower.toml");
pub(super) const WOODPECKER: &str = include_str!("models/woodpecker.toml");

/// Every kind of section and key in one file.
pub(super) const EVERYTHING: &str = include_str!("models/everything.toml");

pub(super) fn load(text: &str) -> Loaded {
    match read(text, &Options::default()) {
        Ok(loaded) => loaded,
        Err(errors) => {
            panic!("{}", errors.iter().map(|d| d.render("model.toml", text, &[])).collect::<String>())
        }
    }
}

pub(super) fn errors(text: &str) -> Vec<Diagnostic> {
    match read(text, &Options::default()) {
        Ok(_) => panic!("no error in\n{text}"),
        Err(errors) => errors.into_iter().filter(|d| d.severity == Severity::Error).collect(),
    }
}

/// The text that a message marks.
pub(super) fn marked<'a>(text: &'a str, d: &Diagnostic) -> &'a str {
    &text[d.span.start..d.span.end]
}

/// `old` replaced by `new`, which must occur.
pub(super) fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "`{old}` does not occur");
    text.replacen(old, new, 1)
}
