//! `specht sweep MODEL`: many runs.

use crate::args::{ManyArgs, ModelArgs, SweepArgs};
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output;
use crate::progress::{Progress, interrupt, interrupted};
use crate::session::{Request, time};
use crate::sweep::Result as Swept;
use crate::text::{print, tell};
use specht::analysis::Watch;
use specht::machine::sweep::{Chain, Diagram, How, Plan, Random, Sampling, Shard, Span, Sweep, merge};
use specht::machine::{Machine, Options, Setup};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

/// Passages of a diagram when nobody says how many.
const LAST: usize = 100;

/// Run a model many times, or put shards together.
pub fn run(args: &SweepArgs) -> Outcome {
    if !args.merge.is_empty() {
        return put_together(args);
    }
    let model = ModelArgs {
        model: args.model.clone().unwrap_or_default(),
        set: args.set.clone(),
        case: args.case.clone(),
    };
    let (request, machine) = machine(&model, &args.many)?;
    let sweep = meant(args)?;
    beyond(&machine, &sweep.plan);
    let shard = args.shard.as_deref().map(Shard::read).transpose().map_err(refused)?.unwrap_or_default();
    let folder = output::folder(args.out.as_deref(), &format!("{}-sweep", request.source.name));
    let files = !args.many.json || args.out.is_some();
    let log = folder.join("sweep.log");
    if files {
        output::claim(&log)?;
    }
    let command = command(&request);
    let how = How { jobs: args.many.jobs, shard, watch: Watch::default(), command: &command };
    let rows = watched(machine.model().name.as_str(), how, |how| {
        if files { sweep.run_logged(&machine, how, &log, args.resume) } else { sweep.run(&machine, how) }
    })?;
    let swept = Swept { model: &machine.model().name, command: &command, sweep: &sweep, rows: &rows };
    finish(&swept, &args.many, files.then_some(folder.as_path()))
}

/// The model as typed, read and set up.
pub fn machine(model: &ModelArgs, many: &ManyArgs) -> Result<(Request, Machine), Refusal> {
    let mut request = Request::new(model)?;
    request.setup = Setup {
        until: many.until.as_deref().map(|t| time("until", t)).transpose()?,
        step: many.step.as_deref().map(|t| time("step", t)).transpose()?,
        scheme: many.scheme.map(Into::into),
        tolerance: many.tolerance,
        ..Setup::default()
    };
    let options = Options { set: request.set.clone(), case: request.case.clone(), live: Vec::new() };
    let machine = Machine::new(request.source.for_engine(), options).map_err(refused)?;
    let machine = machine.set_up(request.setup.clone());
    crate::diagnostics::warn(&machine);
    Ok((request, machine))
}

/// How one of the runs is typed, without what varies.
pub fn command(request: &Request) -> String {
    let case = request.case.as_ref().map(|c| format!(" --case {c}")).unwrap_or_default();
    let set: String = request.set.iter().map(|(n, v)| format!(" --set \"{n}={v}\"")).collect();
    let until = request.setup.until.map(|t| format!(" --until {t}")).unwrap_or_default();
    format!("specht run {}{case}{until}{set}", request.source.typed())
}

/// Options → sweep.
fn meant(args: &SweepArgs) -> Result<Sweep, Refusal> {
    let axes = args.over.iter().map(|text| Span::read(text)).collect::<Result<_, _>>().map_err(refused)?;
    let random = args.random.iter().map(|text| {
        let (name, rest) = text.split_once('=').ok_or_else(|| {
            Refusal::new(format!("`--random {text}` has no `=`"))
                .help("write --random \"mu=normal(0.3, 0.05)\"")
        })?;
        Random::read(name.trim(), rest).map_err(refused)
    });
    let chain = match args.chain.as_deref() {
        None => None,
        Some("up") => Some(Chain::Up),
        Some("down") => Some(Chain::Down),
        Some("both") => Some(Chain::Both),
        Some(other) => {
            return Err(Refusal::new(format!("`--chain {other}` is not understood"))
                .help("write --chain up, down or both"));
        }
    };
    let diagram = match (&args.section, &args.values) {
        (Some(section), Some(values)) => Some(Diagram {
            section: section.clone(),
            last: args.last.unwrap_or(LAST),
            values: values.clone(),
        }),
        _ => None,
    };
    let plan = Plan {
        axes,
        random: random.collect::<Result<_, _>>()?,
        samples: args.samples.unwrap_or(0),
        seed: args.seed,
        sampling: if args.sobol { Sampling::Sobol } else { Sampling::Random },
        total: args.total,
        chain,
    };
    plan.check().map_err(refused)?;
    Ok(Sweep { plan, record: args.record.clone(), diagram })
}

/// Warns of axes that leave the range which the file gives.
pub fn beyond(machine: &Machine, plan: &Plan) {
    for axis in &plan.axes {
        let known = machine.model().parameters.iter().find(|p| p.name == axis.name);
        let Some([from, to]) = known.and_then(|p| p.range) else { continue };
        let ends = [axis.value(0), axis.value(axis.count().saturating_sub(1))];
        if ends.iter().any(|v| *v < from || *v > to) {
            let [a, b] = ends;
            tell(&format!("warning: `{}` goes from {a} to {b}, its range is {from} to {to}", axis.name));
        }
    }
}

/// Work with a progress line that says how long it still takes, and Ctrl-C.
pub fn watched<T>(
    label: &str,
    how: How,
    work: impl FnOnce(How) -> Result<T, specht::machine::Error>,
) -> Result<T, Refusal> {
    let line = Mutex::new(Progress::new(label));
    let begun = Instant::now();
    let show = |part: f64| {
        if let Ok(mut line) = line.try_lock() {
            line.now(part, || format!("{} left", left(begun.elapsed().as_secs_f64() * (1.0 / part - 1.0))));
        }
    };
    let watch = Watch { interrupt: Some(interrupt()), progress: Some(&show) };
    work(How { watch, ..how }).map_err(refused)
}

/// A time to wait, in words.
fn left(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "?".into(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Shards from several folders.
fn put_together(args: &SweepArgs) -> Outcome {
    let logs: Vec<PathBuf> = args.merge.iter().map(|folder| folder.join("sweep.log")).collect();
    let (head, rows) = merge(&logs).map_err(refused)?;
    let folder = output::folder(args.out.as_deref(), "sweep");
    let files = !args.many.json || args.out.is_some();
    let swept = Swept { model: &head.model, command: &head.command, sweep: &head.sweep, rows: &rows };
    finish(&swept, &args.many, files.then_some(folder.as_path()))
}

/// Files, words, exit code.
fn finish(swept: &Swept, many: &ManyArgs, folder: Option<&Path>) -> Outcome {
    if let Some(folder) = folder {
        swept.write(folder)?;
    }
    if many.json {
        let mut text = Vec::new();
        swept.json(&mut text).map_err(|e| e.to_string())?;
        print(&String::from_utf8_lossy(&text))?;
    } else {
        print(&crate::words::sweep::said(swept.model, swept.sweep, swept.rows))?;
        if let Some(folder) = folder {
            print(&format!("  page    {}\n", folder.join("sweep.html").display()))?;
        }
    }
    if let (true, Some(folder)) = (many.open, folder) {
        output::open(&folder.join("sweep.html"));
    }
    if interrupted() {
        tell("interrupted: what was done is kept; --resume goes on");
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}
