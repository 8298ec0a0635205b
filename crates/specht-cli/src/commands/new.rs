//! `specht new NAME`: a commented model to start from.

use crate::args::NewArgs;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::text::print;
use specht::machine::visible;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// The model to start from.
pub const TEMPLATE: &str = include_str!("new.toml");

/// Write the file; one that is there stays.
pub fn run(args: NewArgs) -> Outcome {
    let named = args.name.extension().is_some_and(|e| e == "toml");
    let path = if named { args.name.clone() } else { PathBuf::from(format!("{}.toml", args.name.display())) };
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    if stem.trim_matches('.').is_empty() {
        return Err(Refusal::new(format!("`{}` is no name for a model", args.name.display()))
            .help("specht new slide"));
    }
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    let name = visible(&stem).replace('\\', "\\\\").replace('"', "\\\"");
    let text = TEMPLATE.replacen("NAME", &name, 1);
    let file = fs::OpenOptions::new().write(true).create_new(true).open(&path);
    let done = file.and_then(|mut f| f.write_all(text.as_bytes()));
    done.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Refusal::new(format!("{} exists", path.display())).help("choose another name")
        }
        _ => Refusal::new(format!("cannot write {}: {e}", path.display())),
    })?;
    let shown = path.display();
    print(&format!(
        "wrote   {shown}\nnext    specht run {shown} --open\n        specht check {shown}        how it was understood\n        specht explain model    every section, key and function\n"
    ))?;
    Ok(Exit::Done)
}
