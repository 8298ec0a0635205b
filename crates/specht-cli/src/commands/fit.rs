//! `specht fit MODEL`: parameters from measured data.

use crate::args::FitArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::output;
use crate::report::fit_page;
use crate::session::Request;
use crate::source::read_text;
use crate::tasks;
use crate::text::{print, tell};
use crate::words::words;
use serde_json::json;
use specht::machine::finding::{Finding, FitFinding};
use specht::machine::task::{FitTask, Task};
use specht::machine::{Files, Machine, Options};
use std::path::Path;

/// Fit.
pub fn run(args: &FitArgs) -> Outcome {
    let request = Request::new(&args.model)?;
    let mut source = request.source.for_engine();
    // typed names are looked for here first, then beside the model
    let beside = source.files.clone();
    source.files = Files::new(move |file| match Path::new(file).is_file() {
        true => read_text(Path::new(file)).map_err(|e| e.message),
        false => beside.text_of(file),
    });
    let options = Options { set: request.set.clone(), case: request.case.clone(), live: Vec::new() };
    let machine = Machine::new(source, options).map_err(refused)?.set_up(request.setup.clone());
    crate::diagnostics::warn(&machine);
    let asked = match &args.data {
        Some(data) => vec![("fit".to_string(), typed(args, data)?)],
        None => of_file(args, &machine)?,
    };
    let mut all: Vec<(String, Box<FitFinding>)> = Vec::new();
    for (name, task) in asked {
        match tasks::ask(&machine, &Task::Fit(task))? {
            Finding::Fit(f) => all.push((name, f)),
            _ => continue,
        }
    }
    let model = machine.model().name.clone();
    let folder = output::folder(args.out.as_deref(), &format!("{}-fit", request.source.name));
    let text = match all.as_slice() {
        [(_, one)] => json!(one),
        list => list.iter().map(|(name, f)| (name.clone(), json!(f))).collect(),
    };
    let text = format!("{}\n", serde_json::to_string_pretty(&text).unwrap_or_default());
    let kept = text.replacen('{', &format!("{{\n  \"program\": \"{}\",", output::MADE_BY), 1);
    let files = !args.json || args.out.is_some();
    if files {
        output::write(&folder.join("fit.json"), &kept)?;
        let shown: Vec<(String, &FitFinding)> = all.iter().map(|(n, f)| (n.clone(), &**f)).collect();
        output::write(&folder.join("fit.html"), &fit_page(&model, &shown))?;
    }
    if args.json {
        print(&text)?;
    } else {
        for (name, f) in all {
            print(&words(&name, &model, &Finding::Fit(f), Some(&folder.join("fit.html"))))?;
        }
    }
    if args.open && files {
        output::open(&folder.join("fit.html"));
    }
    if crate::progress::interrupted() {
        tell("interrupted: the fit holds what was done until then");
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}

/// The question as typed.
fn typed(args: &FitArgs, data: &str) -> Result<FitTask, Refusal> {
    let bounds = args.bounds.iter().map(|text| {
        let ends = text.split_once('=').and_then(|(name, rest)| {
            let (low, high) = rest.split_once("..")?;
            let number = |t: &str| specht::machine::quantity(t.trim()).ok();
            Some((name.trim().to_string(), number(low)?, number(high)?))
        });
        ends.ok_or_else(|| {
            Refusal::new(format!("`--bounds {text}` is not understood")).help("write --bounds \"mu=0..1\"")
        })
    });
    Ok(FitTask {
        name: None,
        data: data.to_string(),
        fit: args.fit.iter().map(|n| n.trim().to_string()).collect(),
        residual: args.residual.clone(),
        bounds: bounds.collect::<Result<_, _>>()?,
        weights: args.weights.clone(),
        starts: args.starts.map(|n| n as usize),
        profile: args.profile,
        robust: args.robust,
        bootstrap: args.bootstrap.unwrap_or(0) as usize,
        holdout: args.holdout.unwrap_or(0.0),
        compare: args.compare.clone(),
    })
}

/// The fits that the file asks for.
fn of_file(args: &FitArgs, machine: &Machine) -> Result<Vec<(String, FitTask)>, Refusal> {
    let mut out = Vec::new();
    for task in machine.model().tasks.iter().filter(|t| t.analyse == "fit") {
        if let Task::Fit(mut fit) = Task::read("fit", &task.keys).map_err(refused)? {
            fit.name = Some(task.name.clone());
            fit.profile |= args.profile;
            fit.robust |= args.robust;
            fit.bootstrap = args.bootstrap.map_or(fit.bootstrap, |n| n as usize);
            fit.holdout = args.holdout.unwrap_or(fit.holdout);
            fit.compare.extend(args.compare.iter().cloned());
            out.push((task.name.clone(), fit));
        }
    }
    match out.is_empty() {
        true => Err(Refusal::new("what should be fitted?").help(
            "give --data FILE.csv --fit NAMES, or write a [[task]] with analyse = \"fit\" into the model",
        )),
        false => Ok(out),
    }
}
