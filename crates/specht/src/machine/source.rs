//! Where a machine comes from: a text with a label, and the files that it names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Error;
use crate::file::text_of_bytes;

/// A model text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name shown in messages and kept in `run.json`.
    pub label: String,
    /// Content.
    pub text: String,
    /// Where the files are that the model names.
    pub files: Files,
}

/// Reads files that a model names: tables, meshes, measured data.
#[derive(Clone)]
pub struct Files(Arc<Reader>);

type Reader = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

impl Source {
    /// A text that needs no files.
    pub fn text(text: &str) -> Source {
        Source { label: "model".into(), text: text.into(), files: Files::none() }
    }

    /// A model file.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(crate) fn file(path: &Path) -> Result<Source, Error> {
        let label = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::plain(format!("cannot read {label}: {e}"), ""))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(Source { label, text, files: Files::beside(folder) })
    }
}

impl Files {
    /// Files by a function from their names to their texts.
    pub fn new(reader: impl Fn(&str) -> Result<String, String> + Send + Sync + 'static) -> Files {
        Files::of_bytes(move |file| reader(file).map(String::into_bytes))
    }

    /// Files by a function from their names to their bytes.
    pub fn of_bytes(reader: impl Fn(&str) -> Result<Vec<u8>, String> + Send + Sync + 'static) -> Files {
        Files(Arc::new(reader))
    }

    /// No files at all.
    pub(crate) fn none() -> Files {
        Files::new(|_| Err("files cannot be read here".into()))
    }

    /// The files of a folder.
    pub(crate) fn beside(folder: PathBuf) -> Files {
        Files::of_bytes(move |file| {
            let path = folder.join(file);
            std::fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))
        })
    }

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn text_of(&self, file: &str) -> Result<String, String> {
        (self.0)(file).and_then(text_of_bytes)
    }

    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    pub fn bytes_of(&self, file: &str) -> Result<Vec<u8>, String> {
        (self.0)(file)
    }
}

impl std::fmt::Debug for Files {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Files")
    }
}
