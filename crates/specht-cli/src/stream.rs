//! Rows and events of a run as they come: into `trajectory.csv`, a list of events for `run.json`, and the least and largest values for the
//! page. Memory does not grow with the length of the run.

use crate::outcome::Refusal;
use crate::output::Part;
use crate::report::envelope::Envelope;
use specht::machine::record::event as record;
use specht::machine::table::{Table, quoted};
use specht::machine::{Machine, Names};
use specht::sim::{Event, Sample, Sink};
use std::path::Path;

/// Bytes of lines that are collected before they are written.
const BATCH: usize = 1 << 16;

/// The files of a run while it goes on.
pub struct Stream {
    names: Names,
    /// Time window to keep.
    keep: Option<[f64; 2]>,
    csv: Option<Part>,
    lines: String,
    events: Part,
    /// Rows and events taken.
    pub rows: usize,
    /// Events taken.
    pub count: usize,
    /// Least and largest values.
    pub envelope: Envelope,
    failed: Option<Refusal>,
}

impl Stream {
    /// For a run whose files go into `folder`; without a folder only the events are kept aside.
    pub fn new(machine: &Machine, folder: Option<&Path>, keep: Option<[f64; 2]>) -> Result<Stream, Refusal> {
        let names = machine.names();
        let spool = folder.map_or_else(std::env::temp_dir, Path::to_path_buf).join(".specht-events");
        let mut csv = folder.map(|f| Part::new(&f.join("trajectory.csv"))).transpose()?;
        if let Some(csv) = &mut csv {
            let model = machine.model();
            let head = |n: &String| match model.unit(n) {
                "" => quoted(n),
                unit => quoted(&format!("{n} [{unit}]")),
            };
            let header: Vec<String> = Table::header(&names).iter().map(head).collect();
            csv.write(format!("{}\n", header.join(",")).as_bytes())?;
        }
        let envelope = Envelope::new(&names);
        let events = Part::new(&spool)?;
        Ok(Stream {
            names,
            keep,
            csv,
            lines: String::new(),
            events,
            rows: 0,
            count: 0,
            envelope,
            failed: None,
        })
    }

    fn wanted(&self, t: f64) -> bool {
        self.keep.is_none_or(|[from, to]| from <= t && t <= to)
    }

    fn flush(&mut self) {
        if let Some(csv) = &mut self.csv
            && let Err(refusal) = csv.write(self.lines.as_bytes())
        {
            self.failed.get_or_insert(refusal);
        }
        self.lines.clear();
    }

    /// The run is over: everything is on its way to the files.
    pub fn end(&mut self) -> Result<(), Refusal> {
        self.flush();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Give `trajectory.csv` its name.
    pub fn finish_csv(&mut self) -> Result<(), Refusal> {
        self.csv.take().map_or(Ok(()), Part::finish)
    }

    /// `run.json`: what `record` says, with all events.
    pub fn write_json(&mut self, record: &str, to: &mut dyn std::io::Write) -> std::io::Result<()> {
        const PLACE: &str = "\n  \"events\": [";
        let Some((head, rest)) = record.split_once(PLACE) else { return to.write_all(record.as_bytes()) };
        // an empty list ends on the same line, any other on its own
        let tail =
            if rest.starts_with(']') { Some(rest) } else { rest.find("\n  ]").map(|k| &rest[k + 3..]) };
        to.write_all(head.as_bytes())?;
        to.write_all(PLACE.as_bytes())?;
        self.events.copy(to)?;
        if self.count > 0 {
            to.write_all(b"\n  ")?;
        }
        to.write_all(tail.unwrap_or("]").as_bytes())?;
        to.write_all(b"\n")
    }
}

impl Sink for Stream {
    fn row(&mut self, row: &Sample<'_>) -> bool {
        if !self.wanted(row.t) {
            return false;
        }
        self.rows += 1;
        self.envelope.add(row, &self.names);
        if self.csv.is_some() {
            Table::write_row(row, &self.names, &mut self.lines);
            if self.lines.len() > BATCH {
                self.flush();
            }
        }
        true
    }

    fn event(&mut self, event: &Event) -> bool {
        if !self.wanted(event.time) {
            return false;
        }
        let text = serde_json::to_string_pretty(&record(event, &self.names)).unwrap_or_default();
        let comma = if self.count > 0 { "," } else { "" };
        self.count += 1;
        let text = format!("{comma}\n    {}", text.replace('\n', "\n    "));
        if let Err(refusal) = self.events.write(text.as_bytes()) {
            self.failed.get_or_insert(refusal);
        }
        true
    }
}
