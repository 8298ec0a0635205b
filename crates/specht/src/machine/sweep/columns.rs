//! What is recorded of a run: the values of addresses, and of the last passages through a section.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::folds::Folds;
use super::rows::{Cell, Row};
use crate::analysis::map::Watch;
use crate::machine::address::{Address, Data, Known, Needs, Question, Value};
use crate::machine::table::Table;
use crate::machine::{Error, Machine, Run};
use crate::sim::{Event, Record, Settings, Status};

/// The last passages through a section, one point of a diagram each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagram {
    /// An event of the file, a kind of event such as `impact`, or a contact.
    pub section: String,
    /// How many, from the end of the run.
    pub last: usize,
    /// Address into the event: `after.x'`, `time`, `impulse_n.mesh`.
    pub values: String,
}

/// Keys of `run.json`.
const KEYS: [&str; 21] = [
    "program",
    "model",
    "about",
    "source",
    "file",
    "version",
    "case",
    "parameters",
    "settings",
    "status",
    "message",
    "time",
    "start",
    "final",
    "outputs",
    "phases",
    "events",
    "findings",
    "audit",
    "counts",
    "warnings",
];

/// Keys whose entries have the same names in every run.
const FIXED: [&str; 6] = ["parameters", "settings", "final", "outputs", "counts", "audit"];

/// Addresses that were read, and what they need.
pub(super) struct Columns {
    addresses: Vec<Address>,
    pub(super) diagram: Option<(Diagram, Address)>,
    /// The addresses with their questions about events split off, and those questions, numbered through. `None`
    /// where the run must keep its events or its rows.
    split: Option<Vec<Address>>,
    pub(super) questions: Vec<Question>,
    needs: Needs,
    /// Tasks of the file whose findings are asked for.
    tasks: Vec<usize>,
    /// Whether a run is needed at all.
    runs: bool,
}

impl Columns {
    /// Reads what is to be recorded of this machine.
    pub(super) fn read(
        machine: &Machine,
        record: &[String],
        diagram: Option<&Diagram>,
    ) -> Result<Columns, Error> {
        if record.is_empty() && diagram.is_none() {
            return Err(Error::plain(
                "a sweep needs something to record",
                "give --record ADDRESS, such as --record outputs.F or --record \"count(events[kind=impact])\"",
            ));
        }
        let read =
            |text: &String| Address::read(text).map_err(|e| Error::plain(e, "see specht explain addresses"));
        let addresses = record.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let names = machine.names();
        let columns = Table::of(&crate::sim::Samples::default(), &names).names;
        let mut needs = Needs::default();
        addresses.iter().for_each(|a| needs.join(&a.needs(&columns)));
        // phases are read off the recorded rows
        needs.series |= needs.keys.iter().any(|k| k == "phases");
        if let Some(key) = needs.keys.iter().find(|k| !KEYS.contains(&k.as_str())) {
            let known: Vec<String> = KEYS.iter().map(|k| k.to_string()).collect();
            return Err(Error::unknown("key of run.json", key, &known, "see specht explain addresses"));
        }
        let there = there(machine);
        if let Some(m) = addresses.iter().find_map(|a| a.missing(&there)) {
            return Err(Error::unknown(m.what, &m.name, &m.known, "see specht explain addresses"));
        }
        let known: Vec<String> = machine.model().tasks.iter().map(|t| t.name.clone()).collect();
        let mut tasks = Vec::new();
        for name in &needs.findings {
            match known.iter().position(|k| k == name) {
                Some(k) if machine.model().tasks[k].analyse == "sweep" => {
                    return Err(Error::plain(
                        format!("`findings.{name}` is itself a sweep"),
                        "record what that sweep records, with both axes",
                    ));
                }
                Some(k) => tasks.push(k),
                None => return Err(Error::unknown("task", name, &known, "write a [[task]]")),
            }
        }
        let diagram = match diagram {
            None => None,
            Some(d) => {
                check_section(machine, &d.section)?;
                Some((d.clone(), read(&d.values)?))
            }
        };
        let runs = diagram.is_some() || needs.series || needs.keys.iter().any(|k| k != "findings");
        let mut questions = Vec::new();
        let mut part = |address: &Address| {
            let (address, asked) = address.split(questions.len())?;
            questions.extend(asked);
            Some(address)
        };
        let split: Option<Vec<Address>> = match needs.series {
            true => None,
            false => addresses.iter().map(&mut part).collect(),
        };
        if split.is_none() {
            questions.clear();
        }
        Ok(Columns { addresses, diagram, split, questions, needs, tasks, runs })
    }

    /// Names that no run can have are told before the first one: a run of a moment has them all.
    pub(super) fn check(&self, sample: &Run) -> Result<(), Error> {
        let known = sample.table().names;
        let json = sample.parts(&self.needs.keys);
        let data = Data { run: &json, table: &Table::default(), locals: &[] };
        for address in &self.addresses {
            let needs = address.needs(&known);
            if let Some(name) = needs.columns.iter().find(|name| !known.contains(name)) {
                return Err(Error::unknown("column", name, &known, "see specht explain addresses"));
            }
            let fixed = needs.keys.iter().all(|k| FIXED.contains(&k.as_str()));
            if fixed
                && !needs.series
                && let Err(why) = address.value(&data)
            {
                return Err(Error::plain(why, "see specht explain addresses"));
            }
        }
        Ok(())
    }

    /// Settings of a run that records nothing that is not asked for.
    pub(super) fn settings(&self, settings: Settings) -> Settings {
        if self.needs.series { settings } else { Settings { record: Record::Nothing, ..settings } }
    }

    /// Whether all questions about events are answered while the run goes on.
    pub(super) fn folds(&self) -> bool {
        self.split.is_some()
    }

    /// Whether a run is needed at all.
    pub(super) fn needs_run(&self) -> bool {
        self.runs
    }

    /// The row of a machine that ran; `None` when it was interrupted.
    pub(super) fn row(&self, machine: &Machine, run: Option<(&Run, &Folds)>, watch: Watch) -> Option<Row> {
        let (run, folds) = run.unzip();
        let mut row = Row::default();
        if let Some(run) = run {
            let t = &run.trajectory;
            match t.status {
                Status::Finished | Status::Stopped => {}
                Status::Interrupted => return None,
                // first, where `Rows::ended_early` looks for it
                status => row.fail(format!("{}{}: {}", early(status), t.time, t.message)),
            }
        }
        let mut json =
            run.map_or_else(|| Json::Object(serde_json::Map::new()), |r| r.parts(&self.needs.keys));
        for &k in &self.tasks {
            let task = &machine.model().tasks[k];
            let found = machine.answer(task, Watch { progress: None, ..watch });
            if watch.is_interrupted() {
                return None;
            }
            json["findings"][&task.name] = match found.map(|f| serde_json::to_value(f).unwrap_or_default()) {
                Ok(value) => value,
                Err(e) => {
                    row.fail(format!("{}: {e}", task.name));
                    continue;
                }
            };
        }
        let table = run.filter(|_| self.needs.series).map(Run::table).unwrap_or_default();
        let (mut locals, mut failed) = (Vec::new(), Vec::new());
        if let (Some(run), Some(folds)) = (run, folds) {
            for (k, answer) in folds.answers(&run.trajectory).into_iter().enumerate() {
                match answer {
                    Ok(value) => locals.push((Question::local(k), value)),
                    Err(why) => failed.push((Question::local(k), why)),
                }
            }
        }
        let data = Data { run: &json, table: &table, locals: &locals };
        for address in self.split.as_ref().unwrap_or(&self.addresses) {
            let known = match failed.iter().find(|(name, _)| address.reads(name)) {
                Some((_, why)) => Err(why.clone()),
                None => address.value(&data),
            };
            let cell = known.and_then(|v| cell(&address.text, v)).unwrap_or_else(|why| {
                row.fail(why);
                Cell::Number(f64::NAN)
            });
            row.cells.push(cell);
        }
        if let (Some((_, address)), Some(run), Some(folds)) = (&self.diagram, run, folds) {
            match passages(run, folds, address) {
                Ok(values) => row.values = values,
                Err(why) => row.fail(why),
            }
        }
        Some(row)
    }
}

/// How the reason of a run begins that did not reach its end.
fn early(status: Status) -> String {
    format!("{} at t = ", status.word())
}

/// Whether a reason is one of these.
pub(super) fn is_early(reason: &str) -> bool {
    let early = |s: Status| reason.starts_with(&early(s));
    [Status::Inconsistent, Status::Indeterminate, Status::Failed].into_iter().any(early)
}

/// Whether an address looks at the end of a run, or at its course up to there: after a run that did not get so far it says nothing.
pub(super) fn needs_the_end(address: &str) -> bool {
    let Ok(address) = Address::read(address) else { return false };
    let needs = address.needs(&[]);
    needs.series || ["final", "outputs", "trajectory"].iter().any(|key| address.reads(key))
}

/// Names of what can happen to a machine.
fn there(machine: &Machine) -> Known {
    Known {
        kinds: crate::sim::KINDS.iter().map(|k| k.word().to_string()).collect(),
        contacts: machine.names().contacts,
        events: machine.system().model().events.iter().map(|e| e.name.clone()).collect(),
        phases: machine.model().phases.clone(),
    }
}

/// A number, a word or a truth.
fn cell(text: &str, value: Value) -> Result<Cell, String> {
    match value {
        Value::Number(x) => Ok(Cell::Number(x)),
        Value::Bool(b) => Ok(Cell::Bool(b)),
        Value::Text(t) => Ok(Cell::Text(t)),
        Value::Cycle(letters) => Ok(Cell::Text(letters.join(" "))),
        Value::List(list) if list.len() == 1 => {
            cell(text, list.into_iter().next().unwrap_or(Value::Number(f64::NAN)))
        }
        other => Err(format!(
            "`{text}` is {}, not one number: take an entry, or a function such as max, mean, count, last",
            other.kind()
        )),
    }
}

/// The section must be something that can happen.
fn check_section(machine: &Machine, section: &str) -> Result<(), Error> {
    let there = there(machine);
    let known = [there.events, there.contacts, there.kinds].concat();
    let play = |name: &String| name.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'));
    if known.iter().any(|k| k == section || play(k)) {
        return Ok(());
    }
    Err(Error::unknown(
        "event, contact or kind of event",
        section,
        &known,
        "write an [[event]] for the section",
    ))
}

/// Values at the last passages.
fn passages(run: &Run, folds: &Folds, address: &Address) -> Result<Vec<f64>, String> {
    let table = Table::default();
    let value = |event: &Event| {
        let json = run.event_json(event);
        match address.value(&Data { run: &json, table: &table, locals: &[] })? {
            Value::Number(x) => Ok(x),
            Value::List(list) => match list.as_slice() {
                [Value::Number(x)] => Ok(*x),
                _ => Err(format!("`{}` is a list of {}, not one number", address.text, list.len())),
            },
            other => Err(format!("`{}` is {}, not a number", address.text, other.kind())),
        }
    };
    folds.passages().map(value).collect()
}
