//! Writing files: first under a temporary name in the same folder, then renamed, so that no half-written file is ever
//! seen under its final name.

use crate::outcome::Refusal;
use std::fs;
use std::path::{Path, PathBuf};

/// Write `text` to `path`.
pub fn write(path: &Path, text: &str) -> Result<(), Refusal> {
    let fail = |e: std::io::Error| Refusal::new(format!("cannot write {}: {e}", path.display()));
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(fail)?;
    }
    let temporary = beside(path);
    let done = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    if let Err(e) = done {
        let _ = fs::remove_file(&temporary);
        return Err(fail(e));
    }
    Ok(())
}

/// `folder/.name.PID.part`.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Folder for the results of `name`: as asked, or `out/NAME`.
pub fn folder(asked: Option<&Path>, name: &str) -> PathBuf {
    asked.map_or_else(|| Path::new("out").join(name), Path::to_path_buf)
}

/// Open a file with the program the system has for it; failing is not an error, only a sentence.
pub fn open(path: &Path) {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(target_os = "windows") {
        "explorer"
    } else {
        "xdg-open"
    };
    if std::process::Command::new(program).arg(path).spawn().is_err() {
        eprintln!("open {} in a browser ({program} was not found)", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = std::env::temp_dir().join(format!("specht-output-{}", std::process::id()));
        let path = folder.join("deep/run.json");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let names: Vec<_> =
            fs::read_dir(folder.join("deep")).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["run.json"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_a_sentence() {
        let folder = std::env::temp_dir().join(format!("specht-blocked-{}", std::process::id()));
        fs::write(&folder, "a file where a folder should be").unwrap();
        assert!(write(&folder.join("x"), "text").unwrap_err().message.contains("cannot write"));
        fs::remove_file(folder).unwrap();
    }
}
