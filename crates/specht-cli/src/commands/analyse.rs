//! `specht analyse KIND MODEL`: one question about a model.

use crate::args::AnalyseArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::session::{Request, prepare, time};
use crate::tasks;
use crate::text::{nearest, print, tell};
use crate::words::words;
use specht::machine::task::{KINDS, Task};
use specht::model::TaskValue;

/// Answer.
pub fn run(args: AnalyseArgs) -> Outcome {
    let Some(kind) = KINDS.iter().find(|k| k.name == args.kind) else {
        let names: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
        let refusal = Refusal::new(format!("there is no analysis `{}`", args.kind));
        return Err(match nearest(&args.kind, &names) {
            Some(name) => refusal.help(format!("did you mean `{name}`?")),
            None => refusal
                .help(format!("known: {}; `specht analyse --help` says what they answer", names.join(", "))),
        });
    };
    if kind.name == "fit" {
        return Err(
            Refusal::new("a fit is a command of its own").help("specht fit MODEL --data FILE.csv --fit mu,c")
        );
    }
    if kind.name == "sweep" {
        return Err(
            Refusal::new("a sweep is a command of its own").help("specht sweep MODEL --over … --record …")
        );
    }
    let mut keys = tasks::keys_from_args(&args)?;
    tasks::check_keys(kind, &keys)?;
    let mut request = Request::new(&args.model)?;
    request.setup.until = args.until.as_deref().map(|t| time("until", t)).transpose()?;
    // questions about a state need no run; the others look at that of the file
    let runs = args.along || kind.keys.contains(&"until");
    if !runs && request.setup.until.is_some() {
        return Err(Refusal::new("--until is the end of a run, and this question needs none")
            .help("look at a whole run with --along"));
    }
    if !runs {
        request.setup.until.get_or_insert(1.0);
    }
    let prepared = prepare(request)?;
    prepared.warn();
    // a period may be an expression of parameters
    for (name, value) in keys.iter_mut().filter(|k| k.0 == "period") {
        if let TaskValue::Text(text) = value {
            let number = prepared.machine.value(text).map_err(|e| {
                let refusal = refused(e);
                Refusal::new(format!("--{name} {text}: {}", refusal.message))
            })?;
            *value = TaskValue::Number(number);
        }
    }
    let task = Task::read(kind.name, &keys).map_err(refused)?;
    let finding = tasks::ask(&prepared.machine, &task)?;
    let text = serde_json::to_string_pretty(&finding).unwrap_or_default();
    if let Some(folder) = &args.out {
        let kept = text.replacen('{', "{\n  \"program\": \"specht\",", 1);
        crate::output::write(&folder.join(format!("{}.json", kind.name)), &format!("{kept}\n"))?;
        if let Some(svg) = crate::report::finding(&finding) {
            crate::output::write(&folder.join(format!("{}.svg", kind.name)), &svg)?;
        }
    }
    if args.json {
        print(&format!("{text}\n"))?;
    } else {
        print(&words(kind.name, &prepared.model().name, &finding, args.out.as_deref()))?;
    }
    if crate::progress::interrupted() {
        tell("interrupted: the finding holds what was done until then");
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}
