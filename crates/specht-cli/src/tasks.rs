//! Questions: those a file asks under `[[task]]`, and those typed with `specht analyse`. Both are the same types.

use crate::args::AnalyseArgs;
use crate::diagnostics::refused;
use crate::outcome::Refusal;
use crate::progress::{Progress, interrupt};
use serde_json::{Value as Json, json};
use specht::analysis::Watch;
use specht::machine::finding::Finding;
use specht::machine::task::{KINDS, Kind, Task};
use specht::machine::{Error, Machine};
use specht::model::TaskValue;
use std::sync::Mutex;

/// A task that was run.
pub struct Done {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// The finding, or why there is none.
    pub outcome: Result<Finding, String>,
}

/// Run all tasks of the file; findings go into `run.json`, a task that cannot be answered says why.
pub fn run_all(machine: &Machine, run: &mut Json) -> Vec<Done> {
    run_some(machine, machine.model().tasks.iter(), run)
}

/// The same for some of them.
pub fn run_some<'t>(
    machine: &Machine,
    tasks: impl Iterator<Item = &'t specht::model::Task>,
    run: &mut Json,
) -> Vec<Done> {
    let mut all = Vec::new();
    for task in tasks {
        let found = watched(&task.analyse, |watch| machine.answer(task, watch));
        let outcome = found.map_err(|e| crate::text::plain(&refused(e).message).trim_end().to_string());
        run["findings"][task.name.as_str()] = match &outcome {
            Ok(finding) => json!(finding),
            Err(why) => json!({ "error": why }),
        };
        all.push(Done { name: task.name.clone(), kind: task.analyse.clone(), outcome });
    }
    all
}

/// Answer a question with a progress line and Ctrl-C.
pub fn ask(machine: &Machine, task: &Task) -> Result<Finding, Refusal> {
    watched(task.kind(), |watch| machine.ask_with(task, watch)).map_err(refused)
}

fn watched(label: &str, ask: impl Fn(Watch) -> Result<Finding, Error>) -> Result<Finding, Error> {
    let line = Mutex::new(Progress::new(label));
    let show = |part: f64| {
        if let Ok(mut line) = line.try_lock() {
            line.now(part, || format!("{:.0} %", 100.0 * part));
        }
    };
    ask(Watch { interrupt: Some(interrupt()), progress: Some(&show) })
}

/// Options that the kind does not understand are refused, not passed over.
pub fn check_keys(kind: &Kind, keys: &[(String, TaskValue)]) -> Result<(), Refusal> {
    let Some(key) = kind.stranger(keys) else { return Ok(()) };
    let option = if key == "points" { "point".to_string() } else { key.replace('_', "-") };
    let others: Vec<&str> = KINDS.iter().filter(|k| k.keys.contains(&key)).map(|k| k.name).collect();
    let help = match others[..] {
        [] => "`specht analyse --help` lists the options of each kind".to_string(),
        _ => format!("it belongs to {}; `specht analyse --help` says more", others.join(", ")),
    };
    Err(Refusal::new(format!("`{}` has no option --{option}", kind.name)).help(help))
}

/// One line per task for the terminal.
pub fn said(all: &[Done]) -> String {
    let mut out = String::new();
    for Done { name, kind, outcome } in all {
        out += &match outcome {
            Ok(f) => {
                let verdict = f.headline().map(|v| format!("{v}; ")).unwrap_or_default();
                let page = f.explain();
                format!(
                    "  task    {name} ({kind}): {verdict}see findings.{name} in run.json; specht explain {page}\n"
                )
            }
            Err(why) => format!("  task    {name} ({kind}): {}\n", why.replace('\n', "\n          ")),
        };
    }
    out
}

/// The pictures by task, for the report.
pub fn pictures(all: &[Done]) -> Vec<(String, String)> {
    let picture = |d: &Done| Some((d.name.clone(), crate::report::finding(d.outcome.as_ref().ok()?)?));
    all.iter().filter_map(picture).collect()
}

/// `F12,F23` and `max(a, b), c` are two each: commas inside brackets separate nothing.
fn between_commas(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|c| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

/// `--contact`, `--over NAME=FROM..TO:COUNT` as keys of a task.
pub fn keys_from_args(args: &AnalyseArgs) -> Result<Vec<(String, TaskValue)>, Refusal> {
    let mut keys = names(args);
    numbers(args, &mut keys)?;
    for (name, value) in [("coordinate", &args.coordinate), ("power", &args.power)] {
        keys.extend(value.iter().map(|v| (name.to_string(), TaskValue::Text(v.clone()))));
    }
    keys.extend(args.section.iter().map(|s| ("section".to_string(), TaskValue::Text(s.clone()))));
    keys.extend(args.period.iter().map(|p| {
        let value = specht::machine::quantity(p.trim())
            .map_or_else(|_| TaskValue::Text(p.clone()), TaskValue::Number);
        ("period".to_string(), value)
    }));
    for (name, value) in [("multiple", args.multiple), ("starts", args.starts)] {
        keys.extend(value.map(|n| (name.to_string(), TaskValue::Number(f64::from(n)))));
    }
    if !args.boxed.is_empty() {
        let list = args.boxed.iter().map(|text| {
            bounds(text).ok_or_else(|| {
                Refusal::new(format!("`--box {text}` is not understood"))
                    .help("write a coordinate or velocity and its range: --box \"x=-2..4\"")
            })
        });
        keys.push(("box".into(), TaskValue::Table(list.collect::<Result<_, _>>()?)));
    }
    if let Some(text) = &args.two {
        let range = bounds(text).ok_or_else(|| {
            Refusal::new(format!("`--two {text}` is not understood"))
                .help("write a parameter and its range: --two \"d=0..0.3\"")
        })?;
        keys.push(("two".into(), TaskValue::Table(vec![range])));
    }
    if args.unstable {
        keys.push(("unstable".into(), TaskValue::Bool(true)));
    }
    keys.extend(args.samples.iter().map(|n| ("samples".to_string(), TaskValue::Number(f64::from(*n)))));
    if args.along {
        keys.push(("along".into(), TaskValue::Bool(true)));
    }
    if let Some(text) = &args.at_time {
        let t = specht::machine::quantity(text.trim())
            .map_err(|e| Refusal::new(format!("--at-time: {e}")).help("write a time: --at-time \"0.2 s\""))?;
        keys.push(("at_time".into(), TaskValue::Number(t)));
    }
    points_and_ranges(args, &mut keys)?;
    Ok(keys)
}

/// Keys whose values are names or formulas.
fn names(args: &AnalyseArgs) -> Vec<(String, TaskValue)> {
    let mut keys = Vec::new();
    match args.contact.as_slice() {
        [] => {}
        [one] => keys.push(("contact".into(), TaskValue::Text(one.clone()))),
        list => {
            let list = list.iter().map(|c| TaskValue::Text(c.clone())).collect();
            keys.push(("contacts".into(), TaskValue::List(list)));
        }
    }
    if !args.point.is_empty() {
        let list = args.point.iter().map(|p| TaskValue::Text(p.clone())).collect();
        keys.push(("points".into(), TaskValue::List(list)));
    }
    for (name, names) in [("stick", &args.stick), ("slide", &args.slide), ("open", &args.open)] {
        if !names.is_empty() {
            let list = names.iter().map(|n| TaskValue::Text(n.trim().to_string())).collect();
            keys.push((name.to_string(), TaskValue::List(list)));
        }
    }
    if args.all {
        keys.push(("all".into(), TaskValue::Bool(true)));
    }
    for (name, value) in [
        ("load", &args.load),
        ("drive", &args.drive),
        ("friction", &args.friction),
        ("force", &args.force),
        ("critical", &args.critical),
        ("amplitude", &args.amplitude),
        ("switch", &args.switch),
    ] {
        keys.extend(value.iter().map(|v| (name.to_string(), TaskValue::Text(v.clone()))));
    }
    if !args.of.is_empty() {
        let names = args.of.iter().flat_map(|text| between_commas(text));
        keys.push(("of".into(), TaskValue::List(names.map(TaskValue::Text).collect())));
    }
    keys
}

/// Keys whose values are numbers with units.
fn numbers(args: &AnalyseArgs, keys: &mut Vec<(String, TaskValue)>) -> Result<(), Refusal> {
    for (name, value) in [
        ("x0", &args.x0),
        ("rate0", &args.rate0),
        ("stiffness", &args.stiffness),
        ("from", &args.from),
        ("to", &args.to),
        ("threshold", &args.threshold),
        ("per", &args.per),
        ("time", &args.time),
        ("warm_up", &args.warm_up),
    ] {
        let Some(text) = value else { continue };
        if name == "stiffness" && text.contains('=') {
            keys.push((name.into(), by_contact(text)?));
            continue;
        }
        let number =
            specht::machine::quantity(text.trim()).ok().filter(|x| x.is_finite()).ok_or_else(|| {
                Refusal::new(format!("`--{name} {text}` is not a number"))
                    .help("write a number, with its unit if it has one")
            })?;
        keys.push((name.into(), TaskValue::Number(number)));
    }
    Ok(())
}

/// `--at` and `--over`.
fn points_and_ranges(args: &AnalyseArgs, keys: &mut Vec<(String, TaskValue)>) -> Result<(), Refusal> {
    let mut at = Vec::new();
    for text in &args.at {
        let value = text.split_once('=').and_then(|(name, value)| {
            let value = specht::machine::quantity(value.trim()).ok()?;
            Some((name.trim().to_string(), TaskValue::Number(value)))
        });
        at.push(value.ok_or_else(|| {
            Refusal::new(format!("`--at {text}` is not understood"))
                .help("write a coordinate or velocity and its value: --at \"phi=60 deg\" --at \"phi'=-3\"")
        })?);
    }
    if !at.is_empty() {
        keys.push(("at".into(), TaskValue::Table(at)));
    }
    let mut over = Vec::new();
    for text in &args.over {
        let kind = KINDS.iter().find(|k| k.name == args.kind);
        let ends = range(text).or_else(|| match kind {
            Some(k) if matches!(k.name, "branch" | "return-map") => bounds(text),
            Some(k) if !k.counts => span(text),
            _ => None,
        });
        over.push(ends.ok_or_else(|| {
            Refusal::new(format!("`--over {text}` is not understood"))
                .help("write --over \"mu=0..3:61\": a name, its range and the number of values")
        })?);
    }
    if !over.is_empty() {
        keys.push(("over".into(), TaskValue::Table(over)));
    }
    Ok(())
}

/// `rub1=1, rub2=3`.
fn by_contact(text: &str) -> Result<TaskValue, Refusal> {
    let entry = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let value = specht::machine::quantity(value.trim()).ok()?;
        Some((name.trim().to_string(), TaskValue::Number(value)))
    };
    let list: Option<Vec<_>> = text.split(',').map(entry).collect();
    list.map(TaskValue::Table).ok_or_else(|| {
        Refusal::new(format!("`--stiffness {text}` is not understood"))
            .help("write --stiffness \"rub1=1, rub2=3\"")
    })
}

/// `x=-2..4`.
fn bounds(text: &str) -> Option<(String, TaskValue)> {
    let (name, rest) = text.split_once('=')?;
    let (from, to) = rest.split_once("..")?;
    let number = |text: &str| specht::machine::quantity(text.trim()).ok().map(TaskValue::Number);
    Some((name.trim().into(), TaskValue::List(vec![number(from)?, number(to)?])))
}

/// `mu=0..3:61`, `phi0=1 deg..89 deg:89`.
fn range(text: &str) -> Option<(String, TaskValue)> {
    let (name, rest) = text.split_once('=')?;
    let (from, rest) = rest.split_once("..")?;
    let (to, count) = rest.rsplit_once(':')?;
    let number = |text: &str| specht::machine::quantity(text.trim()).ok().map(TaskValue::Number);
    let count: u32 = count.trim().parse().ok()?;
    Some((
        name.trim().into(),
        TaskValue::List(vec![number(from)?, number(to)?, TaskValue::Number(f64::from(count))]),
    ))
}

/// `p1=30..300`: questions that choose their own steps.
fn span(text: &str) -> Option<(String, TaskValue)> {
    let (name, rest) = text.split_once('=')?;
    let (from, to) = rest.split_once("..")?;
    let number = |text: &str| specht::machine::quantity(text.trim()).ok().map(TaskValue::Number);
    Some((name.trim().into(), TaskValue::List(vec![number(from)?, number(to)?])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_a_name_two_ends_and_a_count() {
        let (name, value) = range("phi0=0 deg..180 deg:181").unwrap();
        assert_eq!(name, "phi0");
        let TaskValue::List(list) = value else { panic!() };
        assert_eq!(list[1], TaskValue::Number(std::f64::consts::PI));
        assert_eq!(list[2], TaskValue::Number(181.0));
        assert!(range("mu=0..3").is_none() && range("mu").is_none() && range("mu=a..b:3").is_none());
    }
}
