//! `specht run MODEL`.

use crate::args::RunArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output::Part;
use crate::progress::{interrupt, interrupted};
use crate::session::{Finished, Prepared, Request, execute, execute_into, prepare, time, word};
use crate::source::Source;
use crate::stream::Stream;
use crate::text::{print, tell};
use crate::words::quantity;
use crate::{output, report, tasks};
use anstyle::{AnsiColor, Style};
use specht::machine::Setup;
use specht::sim::ImpactLaw as Law;
use specht::sim::Integrator as Choice;
use specht::sim::{KINDS, Kind, Policy, Scheme, Status};
use std::path::Path;

/// Run a model; with --watch again whenever its file changes.
pub fn run(args: RunArgs) -> Outcome {
    if !args.watch {
        return once(&args);
    }
    let _ = interrupt();
    let mut first = true;
    loop {
        let saved = stamp(&args.model.model);
        match once(&RunArgs { open: args.open && first, ..args.clone() }) {
            Ok(_) => {}
            Err(refusal) => refusal.print(),
        }
        first = false;
        tell(&format!("waiting for {} to be saved; Ctrl-C ends", args.model.model));
        while stamp(&args.model.model) == saved {
            if interrupted() {
                return Ok(Exit::Done);
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// When the file of a model was saved last.
fn stamp(model: &str) -> Option<(std::time::SystemTime, u64)> {
    let found = std::fs::metadata(Source::find_file(model)?).ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Run a model, write its files, say how it went.
fn once(args: &RunArgs) -> Outcome {
    let mut request = Request::new(&args.model)?;
    request.setup = Setup {
        until: args.until.as_deref().map(|t| until(args, t)).transpose()?,
        step: args.step.as_deref().map(|t| time("step", t)).transpose()?,
        scheme: args.scheme.map(Into::into),
        tolerance: args.tolerance,
        every: args.every.as_deref().map(|t| time("every", t)).transpose()?,
        events: args.events,
        impact: word("impact", args.impact.as_ref(), Law::ALL, Law::word)?,
        method: word("method", args.method.as_ref(), Choice::ALL, Choice::word)?,
        several: word("several", args.several.as_ref(), Policy::ALL, Policy::word)?,
        sensitivity: args.sensitivity.clone(),
    };
    let prepared = prepare(request)?;
    prepared.warn();
    if !args.no_tasks {
        prepared.machine.check_tasks().map_err(refused)?;
    }
    odd(args, &prepared);
    // --json alone writes no files; with --out it does
    let folder = output::folder(args.out.as_deref(), &prepared.request.source.name);
    let files = !args.json || args.out.is_some();
    let keep = args.keep.as_deref().map(window).transpose()?;
    if files {
        claim(&folder)?;
    }
    // derivatives stay in memory until the end
    let mut finished = match prepared.machine.sensitivity() {
        [] => {
            execute_into(&prepared, Stream::new(&prepared.machine, files.then_some(folder.as_path()), keep)?)?
        }
        _ => execute(&prepared)?,
    };
    let tasks =
        if args.no_tasks { Vec::new() } else { tasks::run_all(&prepared.machine, &mut finished.json) };
    finished.pictures = tasks::pictures(&tasks);
    if args.matrices {
        let found = prepared.machine.matrices().map_err(refused)?;
        if let Some(start) = finished.json["start"].as_object_mut() {
            start.insert("M".into(), serde_json::json!(found.mass));
            start.insert("h".into(), serde_json::json!(found.forces));
            start.insert("velocities".into(), serde_json::json!(found.velocities));
        }
    }

    if files {
        write(&mut finished, &folder)?;
    }
    if let Some(file) = &args.svg {
        output::write(file, &report::picture(&finished))?;
    }
    if let Some(file) = &args.gif {
        let moving = report::gif(&finished)
            .ok_or_else(|| Refusal::new("there is nothing to draw: the model has no body and no drawing"))?;
        output::write_bytes(file, &moving)?;
    }
    if args.json {
        print_json(&mut finished)?;
    } else {
        print(&summary(&finished))?;
        print(&tasks::said(&tasks))?;
        print(&hint(&finished, &prepared))?;
        print(&format!("  report  {}\n", folder.join("report.html").display()))?;
    }
    if args.open && files {
        output::open(&folder.join("report.html"));
    }
    Ok(exit(&finished))
}

/// A run for the sake of its matrices may end where it starts.
const AT_ONCE: f64 = 1e-12;

/// The end time as typed.
fn until(args: &RunArgs, text: &str) -> Result<f64, Refusal> {
    match specht::machine::time(text) {
        Ok(0.0) if args.matrices => Ok(AT_ONCE),
        _ => time("until", text),
    }
}

/// 0 when the run went to its end and passed its audit; 1 when a finding stopped it, or the audit failed, or after Ctrl-C.
pub fn exit(run: &Finished) -> Exit {
    match run.trajectory().status {
        Status::Finished | Status::Stopped if run.trajectory().audit.passed => Exit::Done,
        _ => Exit::Stopped,
    }
}

/// Options that do nothing, and what they would need.
fn odd(args: &RunArgs, prepared: &Prepared) {
    if args.step.is_some() && prepared.scheme == Scheme::Event {
        tell(
            "note: --step is for time-stepping: add --scheme step; the event-driven scheme chooses its own steps",
        );
    }
    let rough = prepared.model().contacts.iter().any(|c| c.friction.is_some());
    if prepared.settings.impact == Law::Newton && rough {
        tell(
            "note: with Newton's law impacts are frictionless, also at contacts with friction; specht explain newton",
        );
    }
}

/// Nothing of somebody else may stand where the files of a run go.
pub fn claim(folder: &Path) -> Result<(), Refusal> {
    ["run.json", "trajectory.csv", "report.html"]
        .iter()
        .try_for_each(|f| output::claim(&folder.join(f)).map(|_| ()))
}

/// run.json, trajectory.csv, report.html.
pub fn write(run: &mut Finished, folder: &Path) -> Result<(), Refusal> {
    let mut part = Part::new(&folder.join("run.json"))?;
    json_to(run, &mut part)
        .map_err(|e| Refusal::new(format!("cannot write {}: {e}", folder.join("run.json").display())))?;
    part.finish()?;
    if let Some(stream) = &mut run.stream {
        stream.finish_csv()?;
    } else {
        output::write(&folder.join("trajectory.csv"), &run.table.csv())?;
    }
    output::write(&folder.join("report.html"), &report::html(run))
}

/// run.json with all events, also those that memory did not keep.
fn json_to(run: &mut Finished, to: &mut dyn std::io::Write) -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(&run.json).unwrap_or_default();
    match &mut run.stream {
        Some(stream) => stream.write_json(&text, to),
        None => writeln!(to, "{text}"),
    }
}

fn print_json(run: &mut Finished) -> Result<(), Refusal> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    crate::text::written(json_to(run, &mut out).and_then(|()| std::io::Write::flush(&mut out)))
}

/// `FROM..TO` as times; either end may be left out.
fn window(text: &str) -> Result<[f64; 2], Refusal> {
    let (from, to) = text.split_once("..").ok_or_else(|| {
        Refusal::new(format!("`--keep {text}` is not understood")).help("write --keep \"1 s..2 s\"")
    })?;
    let end = |text: &str, otherwise: f64| match text.trim() {
        "" => Ok(otherwise),
        text => specht::machine::time(text).map_err(|e| Refusal::new(format!("--keep: {e}"))),
    };
    let [from, to] = [end(from, f64::NEG_INFINITY)?, end(to, f64::INFINITY)?];
    if !(from < to) {
        return Err(Refusal::new(format!("`--keep {text}`: the window ends before it begins")));
    }
    Ok([from, to])
}

/// Where to go on when the rigid model had several solutions or none.
fn hint(run: &Finished, prepared: &Prepared) -> String {
    let t = &run.trajectory();
    let had = |kinds: &[Kind]| t.events.iter().any(|e| kinds.contains(&e.kind));
    let typed = prepared.request.source.typed();
    let case = prepared.request.case.as_ref().map(|c| format!(" --case {c}")).unwrap_or_default();
    let set: String = prepared.request.set.iter().map(|(n, v)| format!(" --set \"{n}={v}\"")).collect();
    let ask = |what: &str, page: &str| {
        format!("  ask     specht analyse {what}{case}{set}\n  page    specht explain {page}\n")
    };
    if t.flat_rim.is_some() {
        "  page    specht explain space\n".into()
    } else if had(&[Kind::TangentialImpact, Kind::Seizure]) || t.status == Status::Inconsistent {
        ask(&format!("painleve {typed} --along"), "tangential-impact")
    } else if had(&[Kind::Finding]) || t.status == Status::Indeterminate {
        ask(&format!("painleve {typed} --along"), "several-solutions")
    } else if t.start.solutions.len() > 1 || moves(run) {
        ask(&format!("painleve {typed}"), "several-solutions")
    } else {
        String::new()
    }
}

/// The start leaves open how it moves, not only with which forces.
fn moves(run: &Finished) -> bool {
    run.trajectory().start.family.as_ref().is_some_and(|f| f.moves)
}

/// How it went, in a few lines.
pub fn summary(run: &Finished) -> String {
    let (good, bad) = (
        Style::new().fg_color(Some(AnsiColor::Green.into())),
        Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
    );
    let bold = Style::new().bold();
    let t = &run.trajectory();
    let fine = matches!(t.status, Status::Finished | Status::Stopped);
    let colour = if fine { good } else { bad };
    let mut out = format!(
        "{bold}{}{bold:#}  {colour}{}{colour:#} at t = {} s, {} steps\n",
        run.model().name,
        t.status.word(),
        quantity(t.time, ""),
        t.counts.steps
    );
    if !t.message.is_empty() {
        out += &format!("  {}\n", t.message);
    }
    let events: Vec<String> = KINDS
        .iter()
        .zip(t.counts.events)
        .filter(|(_, n)| *n > 0)
        .map(|(kind, n)| format!("{n} {}", kind.word().replace('_', " ")))
        .collect();
    if !events.is_empty() {
        out += &format!("  events  {}\n", events.join(", "));
    }
    let solutions = t.start.solutions.len();
    if t.start.family.is_some() {
        let motion = if moves(run) { "a continuum of motions" } else { "one motion, a continuum of forces" };
        out += &format!("  start   {motion}; see start.family in run.json\n");
    } else if solutions > 1 {
        out += &format!(
            "  start   {solutions} solutions of the force problem; see start.solutions in run.json\n"
        );
    }
    for (name, value) in run.names().outputs.iter().zip(&t.last.outputs).take(12) {
        // against the size that it had, a rounding error is zero
        let size = run.table.numbers(name).map_or(0.0, |y| y.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
        let shown = if value.abs() < 1e-14 * size { 0.0 } else { *value };
        out += &format!("  {name} = {}\n", quantity(shown, run.model().unit(name)));
    }
    const WARNINGS: usize = 5;
    for warning in t.warnings.iter().take(WARNINGS) {
        out += &format!("  warning {warning}\n");
    }
    if t.warnings.len() > WARNINGS {
        out += &format!("  warning and {} more: see warnings in run.json\n", t.warnings.len() - WARNINGS);
    }
    let a = &t.audit;
    let colour = if a.passed { good } else { bad };
    out += &format!(
        "  audit   {colour}{}{colour:#}  (energy {:.1e}, complementarity {:.1e}, cone {:.1e}, impact {:.1e}, penetration {:.1e}, drift {:.1e})\n",
        if a.passed { "passed" } else { "FAILED" },
        a.energy,
        a.complementarity,
        a.cone,
        a.impact,
        a.penetration,
        a.drift
    );
    if a.passed && a.energy > specht::sim::ENERGY_BOUND {
        out += &format!(
            "          the error estimates of the steps explain {:.1e} of the energy; a smaller tolerance lowers it\n",
            a.explained
        );
    }
    for remark in &a.remarks {
        out += &format!("          {remark}\n");
    }
    out
}
