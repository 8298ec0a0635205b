//! Analyses: those a file asks for under `[[task]]`, and those typed with `specht analyse`. Both are the same functions.

use crate::args::AnalyseArgs;
use crate::outcome::Refusal;
use crate::session::Prepared;
use serde_json::{Value as Json, json};
use specht::model::TaskValue;

/// What an analysis looks at.
pub struct Analysis<'a> {
    /// The model, its equations and its start.
    pub prepared: &'a Prepared,
    /// Keys of the task.
    pub keys: &'a [(String, TaskValue)],
}

/// A kind of analysis.
pub struct Kind {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// Answers with a finding.
    pub run: fn(&Analysis) -> Result<Json, Refusal>,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind { name: "painleve", run: crate::painleve::run },
    Kind { name: "true-motion", run: crate::painleve::true_motion },
    Kind { name: "rest", run: crate::braking::rest },
    Kind { name: "self-braking", run: crate::braking::self_braking },
    Kind { name: "tensor", run: crate::tensor::run },
];

/// Run all tasks of the file; findings go into `run.json`, a task that cannot be answered says why.
pub fn run_all(prepared: &Prepared, run: &mut Json) -> Vec<(String, Result<(), String>)> {
    let mut all = Vec::new();
    for task in &prepared.model.tasks {
        let analysis = Analysis { prepared, keys: &task.keys };
        let outcome = match KINDS.iter().find(|k| k.name == task.analyse) {
            Some(kind) => (kind.run)(&analysis).map_err(|r| crate::text::plain(&r.message)),
            None => Err(format!("the analysis `{}` is not built into this version", task.analyse)),
        };
        let (finding, outcome) = match outcome {
            Ok(mut finding) => {
                take_picture(&mut finding);
                (finding, Ok(()))
            }
            Err(why) => (json!({ "error": why }), Err(why)),
        };
        run["findings"][task.name.as_str()] = finding;
        all.push((task.name.clone(), outcome));
    }
    all
}

/// The picture of a finding, which is not part of its data.
pub fn take_picture(finding: &mut Json) -> Option<String> {
    match finding.as_object_mut()?.remove("picture")? {
        Json::String(svg) => Some(svg),
        _ => None,
    }
}

/// `--contact`, `--over NAME=FROM..TO:COUNT` as keys of a task.
pub fn keys_from_args(args: &AnalyseArgs) -> Result<Vec<(String, TaskValue)>, Refusal> {
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
    for (name, value) in [("load", &args.load), ("drive", &args.drive)] {
        keys.extend(value.iter().map(|v| (name.to_string(), TaskValue::Text(v.clone()))));
    }
    for (name, value) in [("x0", &args.x0), ("rate0", &args.rate0), ("stiffness", &args.stiffness)] {
        let Some(text) = value else { continue };
        let number = crate::address::quantity(text.trim()).map_err(|_| {
            Refusal::new(format!("`--{name} {text}` is not a number"))
                .help("write a number, with its unit if it has one")
        })?;
        keys.push((name.into(), TaskValue::Number(number)));
    }
    keys.extend(args.samples.iter().map(|n| ("samples".to_string(), TaskValue::Number(f64::from(*n)))));
    let mut over = Vec::new();
    for text in &args.over {
        over.push(range(text).ok_or_else(|| {
            Refusal::new(format!("`--over {text}` is not understood"))
                .help("write --over \"mu=0..3:61\" (from, to, number of values)")
        })?);
    }
    if !over.is_empty() {
        keys.push(("over".into(), TaskValue::Table(over)));
    }
    Ok(keys)
}

/// `mu=0..3:61`, `phi0=1 deg..89 deg:89`.
fn range(text: &str) -> Option<(String, TaskValue)> {
    let (name, rest) = text.split_once('=')?;
    let (from, rest) = rest.split_once("..")?;
    let (to, count) = rest.rsplit_once(':')?;
    let number = |text: &str| crate::address::quantity(text.trim()).ok().map(TaskValue::Number);
    let count: u32 = count.trim().parse().ok().filter(|n| *n > 0)?;
    Some((
        name.trim().into(),
        TaskValue::List(vec![number(from)?, number(to)?, TaskValue::Number(f64::from(count))]),
    ))
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
