//! The log of a sweep: `sweep.log`, written line by line as runs end, never changed.
//!
//! The first line says which sweep it is. A program that is killed leaves whole lines and perhaps the beginning of one, which is cut
//! off when the sweep goes on. Lines stand in the order in which runs ended; results are put in the order of the plan.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Sweep;
use super::plan::Shard;
use super::rows::{Row, Rows};
use crate::machine::Error;

/// What a log says first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Who wrote it.
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// Title of the model.
    pub model: String,
    /// Fingerprint of the model text and everything set in it.
    pub fingerprint: String,
    /// The sweep.
    pub sweep: Sweep,
    /// Which part.
    pub shard: Shard,
    /// How one of the runs is typed, without what varies; another spelling is no other sweep.
    #[serde(default)]
    pub command: String,
}

impl Head {
    /// Why another log does not belong to the same sweep.
    fn differs(&self, other: &Head) -> Option<&'static str> {
        if self.version != other.version {
            Some("another version of the program")
        } else if self.fingerprint != other.fingerprint {
            Some("another model, or other values set in it")
        } else if self.sweep != other.sweep {
            Some("another plan, or other things recorded")
        } else {
            None
        }
    }
}

/// A log to which lines are added.
pub(super) struct Log {
    file: File,
}

impl Log {
    /// A new log; one that is there stays.
    pub(super) fn create(path: &Path, head: &Head) -> Result<Log, Error> {
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        let mut file = made.map_err(|e| match e.kind() {
            std::io::ErrorKind::AlreadyExists => Error::plain(
                format!("{} is there already: a sweep was begun in this folder", path.display()),
                "go on with it: --resume; or choose another folder with --out",
            ),
            _ => cannot("write", path, &e),
        })?;
        let line = format!("{}\n", serde_json::to_string(head).unwrap_or_default());
        file.write_all(line.as_bytes()).map_err(|e| cannot("write", path, &e))?;
        Ok(Log { file })
    }

    /// The log of the same sweep, with what it holds; the beginning of a line at its end is cut off.
    pub(super) fn resume(path: &Path, head: &Head, rows: &mut Rows) -> Result<Log, Error> {
        let (found, end) = read(
            path,
            |found| {
                if found.shard != head.shard {
                    return Some("another shard");
                }
                head.differs(found)
            },
            rows,
        )?;
        if found.is_none() {
            // killed before its first line was whole
            std::fs::remove_file(path).map_err(|e| cannot("write", path, &e))?;
            return Log::create(path, head);
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(|e| cannot("write", path, &e))?;
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::End(0)))
            .map_err(|e| cannot("write", path, &e))?;
        Ok(Log { file })
    }

    /// Adds a row.
    pub(super) fn add(&mut self, row: usize, content: &Row) -> std::io::Result<()> {
        self.file.write_all(content.line(row).as_bytes())
    }
}

/// The first line of a log.
///
/// # Errors
///
/// No such file, or not a log.
pub fn head_of(path: &Path) -> Result<Head, Error> {
    let mut line = String::new();
    let file = File::open(path).map_err(|e| cannot("read", path, &e))?;
    BufReader::new(file).read_line(&mut line).map_err(|e| cannot("read", path, &e))?;
    serde_json::from_str(&line)
        .map_err(|_| Error::plain(format!("{} is not the log of a sweep", path.display()), ""))
}

/// Rows of the logs of shards, put together.
///
/// # Errors
///
/// Logs of different sweeps, or files that cannot be read.
pub fn merge(paths: &[impl AsRef<Path>]) -> Result<(Head, Rows), Error> {
    let Some(first) = paths.first() else {
        return Err(Error::plain("nothing to put together", "name the folders of the shards"));
    };
    let head = head_of(first.as_ref())?;
    let mut rows = head.sweep.empty();
    for path in paths {
        read(path.as_ref(), |found| head.differs(found), &mut rows)?;
    }
    Ok((head, rows))
}

/// Reads all whole lines into `rows`; returns the first line and where the last whole line ends.
fn read(
    path: &Path,
    refuse: impl Fn(&Head) -> Option<&'static str>,
    rows: &mut Rows,
) -> Result<(Option<Head>, u64), Error> {
    let file = File::open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::plain(
            format!("there is no {}", path.display()),
            "a sweep that was begun leaves it in its folder",
        ),
        _ => cannot("read", path, &e),
    })?;
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (mut head, mut end, mut bytes): (Option<Head>, u64, Vec<u8>) = (None, 0, Vec::new());
    loop {
        bytes.clear();
        let n = reader.read_until(b'\n', &mut bytes).map_err(|e| cannot("read", path, &e))?;
        if n == 0 || bytes.last() != Some(&b'\n') {
            return Ok((head, end));
        }
        let Ok(line) = std::str::from_utf8(&bytes) else { return Ok((head, end)) };
        match &head {
            None => {
                let found: Head = serde_json::from_str(line)
                    .map_err(|_| Error::plain(format!("{} is not the log of a sweep", path.display()), ""))?;
                if let Some(why) = refuse(&found) {
                    return Err(Error::plain(
                        format!("{} belongs to another sweep: {why}", path.display()),
                        "repeat the command with which it was begun, or choose another folder",
                    ));
                }
                head = Some(found);
            }
            Some(head) => {
                let Some((row, content)) = Row::read(line, head.sweep.record.len()) else {
                    return Ok((Some(head.clone()), end));
                };
                if row < rows.len() {
                    rows.put(row, &content, head.sweep.plan.per_unit());
                }
            }
        }
        end += n as u64;
    }
}

fn cannot(what: &str, path: &Path, e: &std::io::Error) -> Error {
    Error::plain(format!("cannot {what} {}: {e}", path.display()), "")
}
