//! From a model as typed to a finished run: read, build, settle the start, run, collect.

use crate::args::{ModelArgs, SchemeArg};
use crate::diagnostics;
use crate::outcome::Refusal;
use crate::progress::{Progress, interrupt};
use crate::run_json::{self, Names, number};
use crate::source::Source;
use crate::table::Table;
use serde_json::{Map, Value as Json, json};
use specht::expr::NodeId;
use specht::file::{Diagnostic, Options};
use specht::impact::Law;
use specht::model::{CompiledSystem, Input, Model, build};
use specht::sim::{self, Outside, Policy, Record, Settings, StartError, Trajectory};
use specht::system::{State, System};

/// What to run, as meant.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model file.
    pub source: Source,
    /// Parameters to set.
    pub set: Vec<(String, String)>,
    /// Case.
    pub case: Option<String>,
    /// End time, s.
    pub until: Option<f64>,
    /// Scheme.
    pub scheme: Option<SchemeArg>,
    /// Step, s.
    pub step: Option<f64>,
    /// What stands under `[run]` in the file, typed instead.
    pub typed: Typed,
}

/// Settings of a run as typed.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    /// Policy for several solutions.
    pub several: Option<String>,
    /// Impact law.
    pub impact: Option<String>,
    /// Tolerance of the integration.
    pub tolerance: Option<f64>,
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
        let case = typed.case.clone();
        Ok(Request { source, set, case, until: None, scheme: None, step: None, typed: Typed::default() })
    }
}

/// A time as typed: `2`, `"50 ms"`.
pub fn time(name: &str, text: &str) -> Result<f64, Refusal> {
    let value = crate::address::quantity(text).map_err(|e| format!("--{name}: {e}"))?;
    if !(value.is_finite() && value > 0.0) {
        return Err(Refusal::new(format!("--{name} must be a positive time, not `{text}`")));
    }
    Ok(value)
}

/// A model that can run.
pub struct Prepared {
    /// As meant.
    pub request: Request,
    /// The model.
    pub model: Model,
    /// Its equations.
    pub system: CompiledSystem,
    /// Names.
    pub names: Names,
    /// Settings of the run.
    pub settings: Settings,
    /// Scheme `step`.
    pub time_stepping: bool,
    /// Consistent start.
    pub start: State,
    /// Warnings about the file.
    pub warnings: Vec<Diagnostic>,
}

/// Read a model with its case and parameters.
pub fn load(request: &Request, live: &[String]) -> Result<(Model, Vec<Diagnostic>), Refusal> {
    let options = Options { set: request.set.clone(), case: request.case.clone(), live: live.to_vec() };
    let loader = |file: &str| request.source.beside(file).map_err(|e| e.message);
    match specht::file::read_with(&request.source.text, &options, &loader) {
        Ok(loaded) => Ok((loaded.model, loaded.warnings)),
        Err(list) => Err(diagnostics::refusal(&list, &request.source, &request.set)),
    }
}

/// Read, build, settle the start.
pub fn prepare(request: Request) -> Result<Prepared, Refusal> {
    let (model, warnings) = load(&request, &[])?;
    let refuse = |d: Diagnostic| diagnostics::refusal(&[d], &request.source, &request.set);
    let system = build(&model).map_err(|e| refuse(Diagnostic::error(e.span, e.message, "")))?;
    let (settings, time_stepping) = settings(&request, &model)?;
    let start = consistent(&system, &model).map_err(|e| start_refusal(&e, &model, &request))?;
    let names = names(&system, &model);
    Ok(Prepared { model, names, settings, time_stepping, start, warnings, system, request })
}

/// The start of the file, made consistent.
fn consistent(system: &CompiledSystem, model: &Model) -> Result<State, StartError> {
    let of_system = |list: &[usize]| list.iter().flat_map(|k| system.contacts_of(*k)).collect::<Vec<usize>>();
    let (closed, sticking) = (of_system(&model.start.closed), of_system(&model.start.sticking));
    let given = system.start();
    if model.start.equilibrium {
        return sim::start::equilibrium(system, &given, &closed);
    }
    let guess: Vec<usize> = (0..model.coordinates.len()).filter(|k| model.coordinates[*k].guess).collect();
    sim::start::consistent(system, &given, &guess, &closed, &sticking)
}

/// Names of everything that is numbered.
fn names(system: &CompiledSystem, model: &Model) -> Names {
    Names {
        coordinates: model.coordinates.iter().map(|c| c.name.clone()).collect(),
        states: system.state_names().to_vec(),
        memory: model.memory.iter().map(|m| m.name.clone()).collect(),
        contacts: system.contacts().iter().map(|c| c.name.clone()).collect(),
        outputs: system.output_names().to_vec(),
    }
}

/// Point at the contact that spoils the start.
fn start_refusal(error: &StartError, model: &Model, request: &Request) -> Refusal {
    let name = match error {
        StartError::Apart { contact, .. }
        | StartError::Moving { contact, .. }
        | StartError::Inside { contact, .. }
        | StartError::CreatesEnergy { contact, .. }
        | StartError::NoTensor { contact } => Some(contact),
        _ => None,
    };
    let contact = name.and_then(|n| {
        model
            .contacts
            .iter()
            .find(|c| c.name == *n || n.strip_prefix(&c.name).is_some_and(|r| r.starts_with('[')))
    });
    match contact {
        Some(contact) => {
            let help = match error {
                StartError::Inside { .. } => format!(
                    "list it in  [start] closed = [\"{}\"]  and make a coordinate a guess, or start outside",
                    contact.name
                ),
                StartError::CreatesEnergy { .. } => {
                    "check its entries, or let  friction = { regular = mu }  build one".to_string()
                }
                StartError::NoTensor { .. } => "give a coefficient,  friction = mu".to_string(),
                _ => "make a coordinate a guess, { guess = … }, and it will be solved for".to_string(),
            };
            let d = Diagnostic::error(contact.span, error.to_string(), help);
            diagnostics::refusal(&[d], &request.source, &request.set)
        }
        None => Refusal::new(format!("{}: {error}", request.source.label)),
    }
}

/// Settings: command line over file over default.
fn settings(request: &Request, model: &Model) -> Result<(Settings, bool), Refusal> {
    let file = &model.run;
    let value = |node: Option<NodeId>| node.map(|n| constant(model, n));
    let Some(until) = request.until.or(value(file.until)) else {
        return Err(Refusal::new(format!("{}: the model has no end time", request.source.label))
            .help("write  [run] until = \"1 s\"  or give --until \"1 s\""));
    };
    let mut settings = Settings::until(until);
    let typed = &request.typed;
    if let Some(tolerance) = typed.tolerance.or(value(file.tolerance)) {
        settings.tolerance = tolerance;
    }
    if let Some(every) = value(file.every) {
        settings.record = Record::Every(every);
    }
    let word = |key: &str, text: Option<&String>, known: &[&str]| -> Result<Option<usize>, Refusal> {
        let Some(text) = text else { return Ok(None) };
        match known.iter().position(|k| k == text) {
            Some(k) => Ok(Some(k)),
            None => Err(Refusal::new(format!("`{text}` is no {key} of a run"))
                .help(format!("known: {}", known.join(", ")))),
        }
    };
    let laws = [Law::Poisson, Law::Newton, Law::Moreau];
    if let Some(k) =
        word("impact", typed.impact.as_ref().or(file.impact.as_ref()), &["poisson", "newton", "moreau"])?
    {
        settings.impact = laws[k];
    }
    let policies = [Policy::Continuous, Policy::Compliant, Policy::Painleve, Policy::Klein, Policy::Stop];
    if let Some(k) =
        word("several", typed.several.as_ref().or(file.several.as_ref()), &policies.map(Policy::word))?
    {
        settings.several = policies[k];
    }
    let stepping = match request.scheme {
        Some(scheme) => scheme == SchemeArg::Step,
        None => word("scheme", file.scheme.as_ref(), &["event", "step"])? == Some(1),
    };
    match request.step.or(value(file.step)) {
        Some(step) => settings.step = step,
        None if stepping => settings.step = until / 2000.0,
        None => {}
    }
    match settings.problem() {
        Some(problem) => Err(Refusal::new(format!("{}: {problem}", request.source.label))),
        None => Ok((settings, stepping)),
    }
}

/// Value of an expression of parameters.
pub fn constant(model: &Model, node: NodeId) -> f64 {
    let tape = specht::expr::Tape::new(&model.graph, &[node]);
    let mut work = tape.workspace();
    let inputs: Vec<f64> = model
        .inputs
        .iter()
        .map(|input| match input {
            Input::Parameter(k) => {
                model.parameters.iter().find(|p| p.live == Some(*k)).map_or(f64::NAN, |p| p.value)
            }
            _ => 0.0,
        })
        .collect();
    tape.eval(&inputs, &mut work);
    tape.output(&work, 0)
}

/// A run that ended.
pub struct Finished {
    /// The model.
    pub model: Model,
    /// Names.
    pub names: Names,
    /// What happened.
    pub trajectory: Trajectory,
    /// trajectory.csv.
    pub table: Table,
    /// run.json.
    pub json: Json,
    /// Scheme `step`.
    pub time_stepping: bool,
    /// Pictures of the findings, by task.
    pub pictures: Vec<(String, String)>,
}

/// The motion of a prepared model with these settings. With `quiet` there is no progress line.
pub fn execute_with(prepared: &Prepared, settings: &Settings, quiet: bool) -> Result<Trajectory, Refusal> {
    let mut line = (!quiet).then(|| Progress::new(&prepared.model.name));
    let until = settings.until;
    let mut progress = |t: f64| {
        if let Some(line) = &mut line {
            line.show(t / until, || format!("t = {t:.4} s"));
        }
    };
    let mut outside = Outside { interrupt: Some(interrupt()), progress: Some(&mut progress) };
    let scheme = if prepared.time_stepping { sim::time_stepping } else { sim::event_driven };
    scheme(&prepared.system, &prepared.start, settings, &mut outside)
        .map_err(|e| start_refusal(&e, &prepared.model, &prepared.request))
}

/// Run a prepared model. With `quiet` there is no progress line.
pub fn execute(prepared: &Prepared, quiet: bool) -> Result<Finished, Refusal> {
    let trajectory = execute_with(prepared, &prepared.settings, quiet)?;
    let table = run_json::table(&trajectory, &prepared.names);
    let json = whole_json(prepared, &trajectory);
    Ok(Finished {
        model: prepared.model.clone(),
        names: prepared.names.clone(),
        trajectory,
        table,
        json,
        time_stepping: prepared.time_stepping,
        pictures: Vec::new(),
    })
}

/// `run.json` with its head: model, version, parameters, settings.
fn whole_json(p: &Prepared, trajectory: &Trajectory) -> Json {
    let mut out = Map::new();
    out.insert("model".into(), json!(p.model.name));
    out.insert("about".into(), json!(p.model.about));
    out.insert("source".into(), json!(p.model.source));
    out.insert("file".into(), json!(p.request.source.label));
    out.insert("version".into(), json!(env!("CARGO_PKG_VERSION")));
    out.insert("case".into(), json!(p.request.case));
    let parameters = p.model.parameters.iter().map(|q| (q.name.clone(), number(q.value)));
    out.insert("parameters".into(), Json::Object(parameters.collect()));
    let s = &p.settings;
    let every = match s.record {
        Record::Every(every) => number(every),
        _ => Json::Null,
    };
    let law = match s.impact {
        Law::Poisson => "poisson",
        Law::Newton => "newton",
        Law::Moreau => "moreau",
    };
    out.insert(
        "settings".into(),
        json!({
            "scheme": if p.time_stepping { "step" } else { "event" },
            "until": number(s.until),
            "tolerance": number(s.tolerance),
            "step": if p.time_stepping { number(s.step) } else { Json::Null },
            "every": every,
            "impact": law,
            "several": s.several.word(),
        }),
    );
    out.extend(run_json::trajectory(trajectory, &p.names));
    Json::Object(out)
}
