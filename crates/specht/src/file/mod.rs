//! The model file: text → [`Model`], with messages that point at the place and say what to do.
//!
//! ```text
//! text ─tree─▶ values with places ─raw─▶ sections as written ─builder─▶ Model
//!                                        (expressions parsed)  (names resolved, families expanded, units checked)
//! ```
//!
//! Every step collects as many messages as make sense. Nothing here reads files: tables and meshes come through the loader
//! that the caller gives. Sizes are bounded everywhere, so that any text is answered quickly.

use crate::expr::Dim;
use crate::model::{Model, Span};

mod bodies;
mod builder;
mod checks;
mod contacts;
mod csv;
mod diagnostic;
mod elastic;
mod entries;
mod families;
mod fields;
mod forces;
mod formula;
mod friction;
mod hints;
mod joints;
mod keys;
mod make;
mod mesh;
mod names;
mod order;
mod params;
mod phases;
mod raw;
mod raw_contacts;
mod raw_parts;
mod raw_space;
mod reference;
mod resolve;
mod rest;
mod schema;
mod space;
mod space_shapes;
mod start;
mod tasks;
mod tensor;
mod touch;
mod tree;
mod units;
mod values;
mod visible;

#[cfg(test)]
mod tests;

pub(crate) use csv::text_of_bytes;
pub use csv::{Csv, CsvColumn};
pub(crate) use diagnostic::Origin;
pub use diagnostic::{Diagnostic, Severity};
pub use mesh::triangles;
pub use names::is_reserved;
pub use reference::reference;
pub use schema::schema;
pub(crate) use start::explain_start;
#[cfg(test)]
pub(crate) use tensor::lowest_eigenvalue;
pub use tree::MAX_BYTES;
pub use visible::visible;

/// The remedy for what only models in space have.
const SPATIAL: &str =
    "the rest of the model is planar; in space every position has three entries, position = [x, y, z]";

/// What the caller wants besides the file itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Overrides of parameters: name (or `mu[3]`) and value as text, read like a value in the file.
    pub set: Vec<(String, String)>,
    /// Case to use.
    pub case: Option<String>,
    /// Parameters that stay symbols of the graph, so that they can be changed without reading the file again.
    pub live: Vec<String>,
}

/// A file that was understood.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The machine.
    pub model: Model,
    /// What looks odd but can be used.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a model file that needs no other files.
pub fn read(text: &str, options: &Options) -> Result<Loaded, Vec<Diagnostic>> {
    read_with(text, options, &|_| Err("files cannot be read here".to_string()))
}

/// Reads a model file; `loader` gives the text of the csv files it names (path relative to the model file), or says why not.
pub fn read_with(
    text: &str,
    options: &Options,
    loader: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Loaded, Vec<Diagnostic>> {
    read_plotting(text, options, &|file| loader(file).map(String::into_bytes), &[], &[])
}

/// The same with further expressions to record, in the language of outputs; names of outputs count too. They become the last plot.
/// `columns` are names of measured values in them, with their dimensions: parameters behind the live ones, which hide names of the file.
pub(crate) fn read_plotting(
    text: &str,
    options: &Options,
    loader: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    series: &[String],
    columns: &[(String, Dim)],
) -> Result<Loaded, Vec<Diagnostic>> {
    let mut report = diagnostic::Report::default();
    let Some(tree) = tree::parse(text, &mut report) else {
        return Err(report.list);
    };
    if tree.is_empty() {
        report.error(
            Span::default(),
            "the file says nothing",
            "a model has coordinates, bodies and contacts: `specht new NAME` writes one, `specht explain model` explains it",
        );
        return Err(report.list);
    }
    let raw = raw::read(&tree, text, &mut report);
    let names = names::Names::of(&raw, &mut report);
    if report.has_errors() {
        return Err(report.list);
    }
    let mut builder = builder::Builder::new(raw, text, options, loader, report);
    builder.names = names;
    builder.build(series, columns);
    builder.admit_blocked();
    if builder.report.has_errors() {
        return Err(builder.report.list);
    }
    Ok(Loaded { model: builder.model, warnings: builder.report.list })
}
