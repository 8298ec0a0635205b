//! What another host of the engine shows of it: the same models, messages, words, pictures and pages as the program.

use crate::diagnostics::refused;
use crate::embedded::{EXPLAIN, GALLERY};
use crate::outcome::Refusal;
use crate::session::Finished;
use crate::text::plain;
use specht::machine::{Error, Finding, Run, Source};

/// The model that the user means: a file, a folder, or an entry of the gallery.
///
/// # Errors
///
/// Nothing of this name, or a file that cannot be read: the message.
pub fn find(typed: &str) -> Result<Source, String> {
    crate::source::Source::find(typed).map(|s| s.for_engine()).map_err(said)
}

/// Names of the gallery.
pub fn gallery() -> impl Iterator<Item = &'static str> {
    GALLERY.iter().map(|(name, _)| *name)
}

/// An entry of the gallery.
pub fn entry(name: &str) -> Option<Source> {
    crate::source::Source::gallery(name).map(|s| s.for_engine())
}

/// Names of the gallery with their sentences.
pub fn sentences() -> impl Iterator<Item = (&'static str, String)> {
    crate::commands::gallery::sentences()
}

/// A page of `specht explain`.
pub fn explain(topic: &str) -> Option<&'static str> {
    EXPLAIN.iter().find(|(name, _)| *name == topic).map(|(_, page)| *page)
}

/// The message of an error, with its place in the file.
pub fn message(error: Error) -> String {
    said(refused(error))
}

fn said(refusal: Refusal) -> String {
    let text = plain(&refusal.message).trim_end().to_string();
    match refusal.help {
        Some(help) => format!("{text}\n{help}"),
        None => text,
    }
}

/// A finding in words.
pub fn words(kind: &str, model: &str, finding: &Finding) -> String {
    let text = plain(&crate::words::words(kind, model, finding, None));
    // hints for the command line
    text.lines()
        .filter(|l| !l.starts_with("  more ") && !l.starts_with("  page "))
        .map(|l| format!("{l}\n"))
        .collect()
}

/// The picture of a finding (SVG), where it has one.
pub fn picture(finding: &Finding) -> Option<String> {
    crate::report::finding(finding)
}

/// The report of a run: a page that needs nothing else.
pub fn page(run: &Run) -> String {
    let json = serde_json::to_value(run.record()).unwrap_or_default();
    let run = Finished { table: run.table(), json, run: run.clone(), pictures: Vec::new(), stream: None };
    crate::report::html(&run)
}

/// `trajectory.csv` of a run.
pub fn csv(run: &Run) -> String {
    run.table().csv()
}
