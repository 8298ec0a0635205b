//! MODEL as typed → text: a file, or an entry of the gallery.

use crate::embedded::GALLERY;
use crate::outcome::Refusal;
use crate::text::nearest;
use specht::machine::Files;
use std::path::{Path, PathBuf};

/// Largest model file that is read.
const LIMIT: u64 = 64 * 1024 * 1024;

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
    /// The model that the user means. An existing file wins over a gallery name; a folder means its `model.toml`.
    pub fn find(typed: &str) -> Result<Source, Refusal> {
        let path = Path::new(typed);
        if path.is_dir() && path.join("model.toml").is_file() {
            return Source::read(&path.join("model.toml"), stem(path));
        }
        if path.is_file() {
            let folder_is_name = path.file_name().is_some_and(|n| n == "model.toml");
            let name = match path.parent() {
                Some(parent) if folder_is_name && parent.file_name().is_some() => stem(parent),
                _ => stem(path),
            };
            return Source::read(path, name);
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

    fn read(path: &Path, name: String) -> Result<Source, Refusal> {
        let text = read_text(path)?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Source {
            name,
            label: path.display().to_string(),
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
        let files = Files::new(move |file| own.beside(file).map_err(|e| e.message));
        specht::machine::Source { label: self.label.clone(), text: self.text.clone(), files }
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

/// A text file of bounded size.
pub fn read_text(path: &Path) -> Result<String, Refusal> {
    let shown = path.display();
    let size = std::fs::metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?.len();
    if size > LIMIT {
        return Err(Refusal::new(format!("{shown} has {} MB; the limit is {} MB", size >> 20, LIMIT >> 20)));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    String::from_utf8(bytes).map_err(|e| {
        Refusal::new(format!("{shown} is not text: byte {} is not UTF-8", e.utf8_error().valid_up_to()))
            .help("save the file with the encoding UTF-8")
    })
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_else(|| "model".into())
}
