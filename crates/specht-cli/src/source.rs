//! MODEL as typed → text: a file, or an entry of the gallery.

use crate::embedded::GALLERY;
use crate::outcome::Refusal;
use crate::text::nearest;
use specht::machine::Files;
use specht::machine::visible;
use std::path::{Path, PathBuf};

/// Largest model file that is read.
const LIMIT: u64 = 128 * 1024 * 1024;

/// A model file in memory.
#[derive(Clone, Debug)]
pub struct Source {
    /// Short name for the output folder: the file's stem or the gallery name.
    pub name: String,
    /// Name shown in messages.
    pub label: String,
    /// Content.
    pub text: String,
    /// Where files named in the model are.
    pub origin: Origin,
}

/// Where a model came from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A folder of the file system.
    Folder(PathBuf),
    /// The gallery compiled into the program.
    Gallery(&'static [(&'static str, &'static str)]),
}

impl Source {
    /// The model that the user means. An existing file wins over a gallery name; a folder means its `model.toml`, or the only
    /// model file in it.
    pub fn find(typed: &str) -> Result<Source, Refusal> {
        if let Some(file) = Source::find_file(typed) {
            return Source::read(&file);
        }
        match Source::gallery(typed) {
            Some(source) => Ok(source),
            None => {
                let names: Vec<&str> = GALLERY.iter().map(|(name, _)| *name).collect();
                let help = match nearest(typed, &names) {
                    Some(name) => format!("did you mean `{name}`? `specht gallery` lists all entries"),
                    None => "give the path of a model file; `specht gallery` lists the built-in entries"
                        .to_string(),
                };
                Err(Refusal::new(format!("`{typed}` is neither a file nor an entry of the gallery"))
                    .help(help))
            }
        }
    }

    /// The file of a model that is one; a pipe and `/dev/stdin` are.
    pub fn find_file(typed: &str) -> Option<PathBuf> {
        let path = Path::new(typed);
        if path.is_dir() { only_model(path) } else { path.exists().then(|| path.to_path_buf()) }
    }

    /// An entry of the gallery.
    pub fn gallery(name: &str) -> Option<Source> {
        let (name, files) = GALLERY.iter().find(|(entry, _)| *entry == name)?;
        let (_, text) = files.iter().find(|(file, _)| *file == "model.toml")?;
        Some(Source {
            name: name.to_string(),
            label: format!("gallery/{name}/model.toml"),
            text: text.to_string(),
            origin: Origin::Gallery(files),
        })
    }

    fn read(path: &Path) -> Result<Source, Refusal> {
        let (text, name) = (read_text(path)?, name_of(path));
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Source {
            name,
            label: visible(&path.display().to_string()).into_owned(),
            text,
            origin: Origin::Folder(folder.to_path_buf()),
        })
    }

    /// What to type for this model.
    pub fn typed(&self) -> String {
        match &self.origin {
            Origin::Gallery(_) => self.name.clone(),
            Origin::Folder(_) if self.label.contains(char::is_whitespace) => format!("\"{}\"", self.label),
            Origin::Folder(_) => self.label.clone(),
        }
    }

    /// The same for the engine.
    pub fn for_engine(&self) -> specht::machine::Source {
        let own = self.clone();
        let files = Files::of_bytes(move |file| own.bytes_beside(file).map_err(|e| e.message));
        specht::machine::Source { label: self.label.clone(), text: self.text.clone(), files }
    }

    /// The bytes of a file beside the model: what is no mesh is text.
    fn bytes_beside(&self, file: &str) -> Result<Vec<u8>, Refusal> {
        match &self.origin {
            Origin::Folder(folder) if file.to_lowercase().ends_with(".stl") => read_bytes(&folder.join(file)),
            _ => self.beside(file).map(String::into_bytes),
        }
    }

    /// A file beside the model (tables, measured data, `expected.toml`).
    pub fn beside(&self, file: &str) -> Result<String, Refusal> {
        match &self.origin {
            Origin::Folder(folder) => read_text(&folder.join(file)),
            Origin::Gallery(files) => match files.iter().find(|(name, _)| *name == file) {
                Some((_, text)) => Ok(text.to_string()),
                None => Err(Refusal::new(format!("the gallery entry has no file `{file}`"))),
            },
        }
    }
}

/// A file of bounded size.
fn read_bytes(path: &Path) -> Result<Vec<u8>, Refusal> {
    let shown = path.display();
    let size = std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?.len();
    if size > LIMIT {
        return Err(Refusal::new(format!("{shown} has {} MB; the limit is {} MB", size >> 20, LIMIT >> 20)));
    }
    Ok(std::fs::read(path).map_err(|e| format!("cannot read {shown}: {e}"))?)
}

/// A text file of bounded size.
pub fn read_text(path: &Path) -> Result<String, Refusal> {
    let shown = path.display();
    let bytes = read_bytes(path)?;
    String::from_utf8(bytes).map_err(|e| {
        let (at, bytes) = (e.utf8_error().valid_up_to(), e.as_bytes());
        let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
        let begin = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |k| k + 1);
        let column = String::from_utf8_lossy(&bytes[begin..at]).chars().count() + 1;
        Refusal::new(format!("{shown}:{line}:{column}: not text: the byte 0x{:02x} is not UTF-8", bytes[at]))
            .help("save the file with the encoding UTF-8")
    })
}

/// The model file that a folder means.
fn only_model(folder: &Path) -> Option<PathBuf> {
    let usual = folder.join("model.toml");
    if usual.is_file() {
        return Some(usual);
    }
    let is_model = |p: &PathBuf| {
        p.extension().is_some_and(|e| e == "toml") && !p.ends_with("expected.toml") && p.is_file()
    };
    let mut found = std::fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).filter(is_model);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Short name of a model: the stem of its file, or of its folder when the file is called `model.toml`; never a name that
/// leads out of a folder.
fn name_of(path: &Path) -> String {
    let named = |p: &Path| {
        let stem = p.file_stem().map(|s| visible(&s.to_string_lossy()).into_owned()).unwrap_or_default();
        let stem = stem.trim_start_matches('.');
        (!stem.is_empty()).then(|| stem.to_string())
    };
    let folder = || {
        let whole = std::fs::canonicalize(path).ok()?;
        named(Path::new(whole.parent()?.file_name()?))
    };
    let usual = path.file_name().is_some_and(|n| n == "model.toml");
    usual.then(folder).flatten().or_else(|| named(path)).unwrap_or_else(|| "model".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_the_name_of_its_file_or_folder_and_never_leads_elsewhere() {
        for (path, name) in [
            ("a/rod.toml", "rod"),
            ("rod", "rod"),
            ("...toml", "model"),
            (".toml", "toml"),
            ("..", "model"),
            ("nowhere/model.toml", "model"),
        ] {
            assert_eq!(name_of(Path::new(path)), name, "{path}");
        }
        let folder = std::env::temp_dir().join(format!("specht-name-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("model.toml"), "").unwrap();
        assert_eq!(Some(name_of(&folder.join("model.toml")).as_str()), folder.file_name().unwrap().to_str());
        assert_eq!(only_model(&folder), Some(folder.join("model.toml")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
