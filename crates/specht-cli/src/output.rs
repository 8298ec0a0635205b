//! Writing files: first under a temporary name in the same folder, then renamed, so that no half-written file is ever
//! seen under its final name.

use crate::outcome::Refusal;
use crate::text::tell;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Write `text` to `path`; a file there that this program did not write stays.
pub fn write(path: &Path, text: &str) -> Result<(), Refusal> {
    write_bytes(path, text.as_bytes())
}

/// The same for any content.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<(), Refusal> {
    let fail = |e: std::io::Error| cannot_write(path, &e);
    let target = claim(path)?;
    let Target::File(path) = target else {
        return fs::write(path, content).map_err(fail);
    };
    sweep_up(&path);
    let temporary = beside(&path);
    let done = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, &path));
    if let Err(e) = done {
        let _ = fs::remove_file(&temporary);
        return Err(fail(e));
    }
    Ok(())
}

/// A file that grows: under a temporary name until it is finished, removed when it is not.
pub struct Part {
    /// Final name, and the temporary one; none for a device.
    path: PathBuf,
    temporary: Option<PathBuf>,
    file: std::io::BufWriter<fs::File>,
}

impl Part {
    /// Begin a file.
    pub fn new(path: &Path) -> Result<Part, Refusal> {
        let (path, temporary) = match claim(path)? {
            Target::Device => (path.to_path_buf(), None),
            Target::File(path) => {
                let temporary = beside(&path);
                sweep_up(&path);
                (path, Some(temporary))
            }
        };
        let file =
            fs::File::create(temporary.as_ref().unwrap_or(&path)).map_err(|e| cannot_write(&path, &e))?;
        Ok(Part { path, temporary, file: std::io::BufWriter::with_capacity(1 << 16, file) })
    }

    /// One more piece.
    pub fn write(&mut self, content: &[u8]) -> Result<(), Refusal> {
        self.file.write_all(content).map_err(|e| cannot_write(&self.path, &e))
    }

    /// Everything that was written so far goes to `to`.
    pub fn copy(&mut self, to: &mut dyn Write) -> std::io::Result<()> {
        self.file.flush()?;
        let mut from = fs::File::open(self.temporary.as_ref().unwrap_or(&self.path))?;
        std::io::copy(&mut from, to).map(|_| ())
    }

    /// The file is whole: give it its name.
    pub fn finish(mut self) -> Result<(), Refusal> {
        let fail = |e: std::io::Error| cannot_write(&self.path, &e);
        self.file.flush().map_err(fail)?;
        match self.temporary.take() {
            Some(temporary) => fs::rename(temporary, &self.path).map_err(fail),
            None => Ok(()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for Part {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.file.write(buf)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

/// Content that is written piece by piece.
pub fn stream(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Refusal> {
    let mut part = Part::new(path)?;
    content(&mut part).map_err(|e| cannot_write(path, &e))?;
    part.finish()
}

/// Where to write.
pub enum Target {
    /// A file, behind all links, that is not there or was written by this program.
    File(PathBuf),
    /// A device or pipe: nothing to rename.
    Device,
}

/// Make the folder of a file, and make sure that nothing of somebody else is lost.
pub fn claim(path: &Path) -> Result<Target, Refusal> {
    if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|e| cannot_write(path, &e))?;
    }
    let Ok(found) = fs::metadata(path) else { return Ok(Target::File(path.to_path_buf())) };
    if !found.is_file() && !found.is_dir() {
        return Ok(Target::Device);
    }
    if found.is_file() && !ours(path) {
        return Err(Refusal::new(format!("{} exists and was not written by specht", path.display()))
            .help("choose another name or folder, or remove the file"));
    }
    Ok(Target::File(fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())))
}

/// Whether this program wrote a file: its name stands near the beginning; a table of numbers stands beside such a file: `run.json`, the
/// log of a sweep, or what was put together from several.
fn ours(path: &Path) -> bool {
    use std::io::Read;
    let begins = |path: &Path| {
        let mut head = Vec::new();
        let _ = fs::File::open(path).and_then(|f| f.take(4096).read_to_end(&mut head));
        String::from_utf8_lossy(&head).into_owned()
    };
    let head = begins(path);
    let table = path.extension().is_some_and(|e| e == "csv" || e == "parquet");
    let companion = |name: &str| begins(&path.with_file_name(name)).contains(MADE_BY);
    let companions = ["run.json", "sweep.log", "sweep.json"];
    head.is_empty() || head.contains(MADE_BY) || (table && companions.into_iter().any(companion))
}

/// Stands in every file that this program writes.
pub const MADE_BY: &str = "specht";

fn cannot_write(path: &Path, e: &std::io::Error) -> Refusal {
    Refusal::new(format!("cannot write {}: {e}", path.display()))
}

/// `folder/.name.PID.part`.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Removes what runs that were killed left of a file. Whether a run is still going is known where processes are files.
fn sweep_up(path: &Path) {
    let processes = Path::new("/proc");
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (Ok(entries), true) = (fs::read_dir(folder), processes.join("self").exists()) else { return };
    let start = format!(".{}.", name.to_string_lossy());
    for entry in entries.flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        let process = found.strip_prefix(&start).and_then(|rest| rest.strip_suffix(".part"));
        if process.is_some_and(|id| id.parse::<u32>().is_ok() && !processes.join(id).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
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
        tell(&format!("open {} in a browser ({program} was not found)", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_is_left() {
        let folder = std::env::temp_dir().join(format!("specht-output-{}", std::process::id()));
        let path = folder.join("deep/run.json");
        write(&path, "one by specht").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        // somebody else's now
        assert!(write(&path, "three").unwrap_err().message.contains("not written by specht"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        let names: Vec<_> =
            fs::read_dir(folder.join("deep")).unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(names, ["run.json"]);
        fs::remove_dir_all(folder).unwrap();
    }

    /// Numbers of processes end far below the one here.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_killed_run_left_is_swept_up_by_the_next() {
        let folder = std::env::temp_dir().join(format!("specht-swept-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let left = folder.join(".run.json.4294967295.part");
        let other = folder.join(".notes.4294967295.part");
        fs::write(&left, "half").unwrap();
        fs::write(&other, "half").unwrap();
        write(&folder.join("run.json"), "by specht").unwrap();
        assert!(!left.exists() && other.exists());
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
