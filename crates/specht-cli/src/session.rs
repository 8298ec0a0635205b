//! From a model as typed to a finished run: read, settle the start, run, collect.

use crate::args::ModelArgs;
use crate::diagnostics::refused;
use crate::outcome::Refusal;
use crate::progress::{Progress, interrupt};
use crate::source::Source;
use crate::stream::Stream;
use serde_json::Value as Json;
use specht::machine::Options;
use specht::machine::table::Table;
use specht::machine::{Machine, Names, Run, Setup};
use specht::model::Model;
use specht::sim::{Outside, Scheme, Settings, Sink, Trajectory};
use specht::system::State;

/// What to run, as meant.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model file.
    pub source: Source,
    /// Parameters to set.
    pub set: Vec<(String, String)>,
    /// Case.
    pub case: Option<String>,
    /// What stands under `[run]` in the file, typed instead.
    pub setup: Setup,
}

impl Request {
    /// Read what was typed.
    pub fn new(typed: &ModelArgs) -> Result<Request, Refusal> {
        let mut set = Vec::new();
        for text in &typed.set {
            let Some((name, value)) = text.split_once('=') else {
                return Err(Refusal::new(format!("`--set {text}` has no `=`")).help("write --set mu=0.4"));
            };
            set.push((name.trim().to_string(), value.trim().to_string()));
        }
        let source = Source::find(&typed.model)?;
        Ok(Request { source, set, case: typed.case.clone(), setup: Setup::default() })
    }
}

/// A time as typed: `2`, `"50 ms"`.
pub fn time(name: &str, text: &str) -> Result<f64, Refusal> {
    let value = specht::machine::time(text).map_err(|e| Refusal::new(format!("--{name}: {e}")))?;
    if !(value.is_finite() && value > 0.0) {
        return Err(Refusal::new(format!("--{name} must be a positive time, not `{text}`")));
    }
    Ok(value)
}

/// A word as typed, as one of the values of a setting.
pub fn word<T: Copy, const N: usize>(
    key: &str,
    text: Option<&String>,
    all: [T; N],
    word: fn(T) -> &'static str,
) -> Result<Option<T>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    match all.into_iter().find(|x| word(*x) == text) {
        Some(x) => Ok(Some(x)),
        None => Err(Refusal::new(format!("`{text}` is no {key} of a run"))
            .help(format!("known: {}", all.map(word).join(", ")))),
    }
}

/// A model that can run.
pub struct Prepared {
    /// As meant.
    pub request: Request,
    /// The machine.
    pub machine: Machine,
    /// Names.
    pub names: Names,
    /// Scheme.
    pub scheme: Scheme,
    /// Settings of the run.
    pub settings: Settings,
    /// Consistent start.
    pub start: State,
}

/// Read, build, settle the start.
pub fn prepare(request: Request) -> Result<Prepared, Refusal> {
    let options = Options { set: request.set.clone(), case: request.case.clone(), live: Vec::new() };
    let machine = Machine::new(request.source.for_engine(), options).map_err(refused)?;
    let machine = machine.set_up(request.setup.clone());
    let (scheme, settings) = machine.settings().map_err(refused)?;
    let start = machine.start().map_err(refused)?;
    Ok(Prepared { names: machine.names(), machine, scheme, settings, start, request })
}

impl Prepared {
    /// The model.
    pub fn model(&self) -> &Model {
        self.machine.model()
    }

    /// Print what looks odd in the file.
    pub fn warn(&self) {
        crate::diagnostics::warn(&self.machine);
    }
}

/// A run that ended.
pub struct Finished {
    /// The run.
    pub run: Run,
    /// trajectory.csv.
    pub table: Table,
    /// run.json.
    pub json: Json,
    /// Pictures of the findings, by task.
    pub pictures: Vec<(String, String)>,
    /// Its files, when rows and events were written as they came.
    pub stream: Option<Stream>,
}

impl Finished {
    /// The model.
    pub fn model(&self) -> &Model {
        self.run.machine.model()
    }

    /// Names.
    pub fn names(&self) -> &Names {
        &self.run.names
    }

    /// What happened.
    pub fn trajectory(&self) -> &Trajectory {
        &self.run.trajectory
    }
}

/// Run a prepared model without a progress line; everything stays in memory.
pub fn execute(prepared: &Prepared) -> Result<Finished, Refusal> {
    go(prepared, true, None)
}

/// Run a prepared model; rows and events are written as they come.
pub fn execute_into(prepared: &Prepared, stream: Stream) -> Result<Finished, Refusal> {
    go(prepared, false, Some(stream))
}

fn go(prepared: &Prepared, quiet: bool, mut stream: Option<Stream>) -> Result<Finished, Refusal> {
    let Prepared { machine, start, scheme, settings, .. } = prepared;
    let mut line = (!quiet).then(|| Progress::new(&prepared.model().name));
    let until = settings.until;
    let mut progress = |t: f64| {
        if let Some(line) = &mut line {
            line.show(t / until, || format!("t = {t:.4} s"));
        }
    };
    let mut outside = Outside { interrupt: Some(interrupt()), progress: Some(&mut progress) };
    let mut settings = settings.clone();
    if stream.is_some() {
        settings.max_events = usize::MAX; // what is written as it comes needs no bound
    }
    let sink = stream.as_mut().map(|s| s as &mut dyn Sink);
    let run = machine.run_into(start, *scheme, settings, &mut outside, sink).map_err(refused)?;
    drop(line);
    if let Some(stream) = &mut stream {
        stream.end()?;
    }
    let json = serde_json::to_value(run.record()).map_err(|e| e.to_string())?;
    Ok(Finished { table: run.table(), json, run, pictures: Vec::new(), stream })
}
