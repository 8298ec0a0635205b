//! `specht gallery`: the list, or one entry with its tasks.

use super::run::{claim, exit, summary, write};
use crate::args::{GalleryArgs, ModelArgs};
use crate::embedded::GALLERY;
use crate::outcome::{Exit, Outcome};
use crate::session::{Request, execute_into, prepare};
use crate::source::Source;
use crate::stream::Stream;
use crate::text::print;
use crate::{output, tasks};

/// List, show or run.
pub fn run(args: GalleryArgs) -> Outcome {
    let Some(name) = args.name else {
        print(&list())?;
        return Ok(Exit::Done);
    };
    let model = ModelArgs { model: name, set: Vec::new(), case: None };
    if args.show {
        print(&Source::find(&model.model)?.text)?;
        return Ok(Exit::Done);
    }
    let prepared = prepare(Request::new(&model)?)?;
    prepared.warn();
    let folder = output::folder(args.out.as_deref(), &prepared.request.source.name);
    claim(&folder)?;
    let stream = Stream::new(&prepared.machine, Some(&folder), None)?;
    let mut finished = execute_into(&prepared, stream)?;
    let all = tasks::run_all(&prepared.machine, &mut finished.json);
    finished.pictures = tasks::pictures(&all);
    write(&mut finished, &folder)?;
    print(&summary(&finished))?;
    print(&tasks::said(&all))?;
    print(&format!("  report  {}\n", folder.join("report.html").display()))?;
    let failed = all.iter().any(|d| d.outcome.is_err());
    Ok(if failed { Exit::Stopped } else { exit(&finished) })
}

/// Names with their sentences.
pub fn sentences() -> impl Iterator<Item = (&'static str, String)> {
    GALLERY.iter().map(|(name, files)| {
        let text = files.iter().find(|(file, _)| *file == "model.toml").map_or("", |(_, text)| *text);
        (*name, about(text))
    })
}

/// The same as text.
fn list() -> String {
    let width = GALLERY.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut out: String = sentences().map(|(name, about)| format!("{name:width$}  {about}\n")).collect();
    if out.is_empty() {
        out += "the gallery of this build is empty\n";
    }
    out
}

/// The sentence of a model file, without reading the whole model.
fn about(text: &str) -> String {
    let document = toml_edit::Document::parse(text.to_string());
    let value = |key: &str| {
        document
            .as_ref()
            .ok()
            .and_then(|d| d.as_table().get(key))
            .and_then(|i| i.as_str())
            .map(str::to_string)
    };
    value("about").or_else(|| value("name")).unwrap_or_default()
}
