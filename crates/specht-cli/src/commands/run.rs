//! `specht run MODEL`.

use crate::args::RunArgs;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::session::{Finished, Prepared, Request, execute, prepare, time, word};
use crate::text::print;
use crate::{output, report, tasks};
use anstyle::{AnsiColor, Style};
use specht::machine::Setup;
use specht::sim::ImpactLaw as Law;
use specht::sim::Integrator as Choice;
use specht::sim::{KINDS, Kind, Policy, Status};
use std::path::Path;

/// Run a model, write its files, say how it went.
pub fn run(args: RunArgs) -> Outcome {
    let mut request = Request::new(&args.model)?;
    request.setup = Setup {
        until: args.until.as_deref().map(|t| time("until", t)).transpose()?,
        step: args.step.as_deref().map(|t| time("step", t)).transpose()?,
        scheme: args.scheme.map(Into::into),
        tolerance: args.tolerance,
        every: None,
        impact: word("impact", args.impact.as_ref(), Law::ALL, Law::word)?,
        method: word("method", args.method.as_ref(), Choice::ALL, Choice::word)?,
        several: word("several", args.several.as_ref(), Policy::ALL, Policy::word)?,
    };
    let prepared = prepare(request)?;
    prepared.warn();
    let mut finished = execute(&prepared, false)?;
    let tasks =
        if args.no_tasks { Vec::new() } else { tasks::run_all(&prepared.machine, &mut finished.json) };
    finished.pictures = tasks::pictures(&tasks);

    // --json alone writes no files; with --out it does
    let folder = output::folder(args.out.as_deref(), &prepared.request.source.name);
    let files = !args.json || args.out.is_some();
    if files {
        write(&finished, &folder)?;
    }
    if let Some(file) = &args.svg {
        output::write(file, &report::picture(&finished))?;
    }
    if args.json {
        print(&format!("{}\n", pretty(&finished)))?;
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

/// 0 when the run went to its end and passed its audit; 1 when a finding stopped it, or the audit failed, or after Ctrl-C.
pub fn exit(run: &Finished) -> Exit {
    match run.trajectory().status {
        Status::Finished | Status::Stopped if run.trajectory().audit.passed => Exit::Done,
        _ => Exit::Stopped,
    }
}

/// run.json, trajectory.csv, report.html.
pub fn write(run: &Finished, folder: &Path) -> Result<(), Refusal> {
    output::write(&folder.join("run.json"), &format!("{}\n", pretty(run)))?;
    output::write(&folder.join("trajectory.csv"), &run.table.csv())?;
    output::write(&folder.join("report.html"), &report::html(run))
}

fn pretty(run: &Finished) -> String {
    serde_json::to_string_pretty(&run.json).unwrap_or_default()
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
    if had(&[Kind::TangentialImpact, Kind::Seizure]) || t.status == Status::Inconsistent {
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
        t.time,
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
        out += &format!("  {name} = {value}\n");
    }
    for warning in &t.warnings {
        out += &format!("  warning {warning}\n");
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
