//! The keys of every kind of question.

use super::keys::{
    axes, axis, contacts, count, cycle, ends, flag, key, list, look, number, of, stiffness, text,
};
use super::{
    BasinTask, BranchOf, BranchTask, Error, Keys, LimitCycleTask, LoadTask, LyapunovTask, PainleveTask,
    Range, RestTask, ReturnMapTask, SelfBrakingTask, StatisticsTask, Task, TaskValue, TensorTask,
    TrueMotionTask, View,
};
use crate::machine::sweep::{Chain, Diagram, Plan, Random, Sampling, Span, Sweep};

pub(super) fn painleve(keys: &Keys) -> Result<Task, Error> {
    let axes = axes(keys)?;
    let along = match key(keys, "along") {
        None => false,
        Some(TaskValue::Bool(along)) => *along,
        Some(_) => return Err(Error::plain("`along` must be true or false", "")),
    };
    if along && (!axes.is_empty() || key(keys, "at").or(key(keys, "at_time")).is_some()) {
        return Err(Error::plain(
            "`along` looks at the whole run; it does not go with `over`, `at` or `at_time`",
            "ask twice: once along the run, once at the state or over the map",
        ));
    }
    let view = match (along, axes.is_empty()) {
        (true, _) => View::Along,
        (false, true) => View::Here { look: look(keys)?, stiffness: stiffness(keys)? },
        (false, false) => View::Over { look: look(keys)?, axes },
    };
    Ok(Task::Painleve(PainleveTask { contacts: contacts(keys), view }))
}

pub(super) fn true_motion(keys: &Keys) -> Result<Task, Error> {
    let given = |name: &str| match key(keys, name) {
        Some(TaskValue::Number(v)) => Some(*v),
        _ => None,
    };
    Ok(Task::TrueMotion(TrueMotionTask {
        contacts: contacts(keys),
        look: look(keys)?,
        x0: given("x0").unwrap_or(0.0),
        rate0: given("rate0").unwrap_or(0.0),
        stiffness: given("stiffness"),
    }))
}

pub(super) fn rest(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::Rest(RestTask {
        contacts: contacts(keys),
        load: text(keys, "load")?,
        points: list(keys, "points"),
        direction: vector(keys, "direction")?,
        at_time: look(keys)?.at_time,
    }))
}

/// Three numbers, not all zero.
fn vector(keys: &Keys, name: &str) -> Result<Option<[f64; 3]>, Error> {
    let Some(value) = key(keys, name) else { return Ok(None) };
    let one = |v: &TaskValue| if let TaskValue::Number(x) = v { Some(*x) } else { None };
    let numbers: Option<Vec<f64>> = match value {
        TaskValue::List(list) => list.iter().map(one).collect(),
        TaskValue::Text(text) => {
            text.trim_matches(['[', ']']).split(',').map(|w| w.trim().parse().ok()).collect()
        }
        _ => None,
    };
    match numbers.as_deref() {
        Some(&[x, y, z]) if [x, y, z].iter().all(|v| v.is_finite()) && [x, y, z] != [0.0; 3] => {
            Ok(Some([x, y, z]))
        }
        _ => Err(Error::plain(
            format!("`{name}` is a direction in space: three numbers, not all zero"),
            format!("write  {name} = [1, 0, 0]"),
        )),
    }
}

pub(super) fn self_braking(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::SelfBraking(SelfBrakingTask {
        contacts: contacts(keys),
        drive: text(keys, "drive")?,
        load: text(keys, "load")?,
        points: list(keys, "points"),
        at_time: look(keys)?.at_time,
        over: cycle(keys)?,
    }))
}

pub(super) fn tensor(keys: &Keys) -> Result<Task, Error> {
    let samples = match key(keys, "samples") {
        None => None,
        Some(TaskValue::Number(n)) if *n >= 1.0 && *n <= 1e7 => Some(*n as usize),
        Some(_) => return Err(Error::plain("`samples` must be a number from 1 to 10000000", "")),
    };
    let over = match key(keys, "over") {
        None => None,
        Some(TaskValue::Table(list)) => Some(list.iter().map(ends).collect::<Result<Vec<Range>, Error>>()?),
        Some(_) => return Err(Error::plain("`over` must be a table", "write over = { mu = [0, 3, 2] }")),
    };
    Ok(Task::Tensor(TensorTask { contacts: contacts(keys), over, samples }))
}

/// `over = { mu = [from, to, count] }` or `{ mu = "0..1:11" }`, `random = { mu = "normal(0.3, 0.05)" }`.
pub(super) fn sweep(keys: &Keys) -> Result<Task, Error> {
    let axis = |(name, value): &(String, TaskValue)| match value {
        TaskValue::Text(text) => Span::read(&format!("{name}={text}")),
        value => axis(&(name.clone(), value.clone())).map(|a| Span::range(&a.name, a.from, a.to, a.count)),
    };
    let axes = match key(keys, "over") {
        None => Vec::new(),
        Some(TaskValue::Table(list)) => list.iter().map(axis).collect::<Result<_, _>>()?,
        Some(_) => return Err(Error::plain("`over` must be a table", "write over = { mu = [0, 1, 11] }")),
    };
    let random = match key(keys, "random") {
        None => Vec::new(),
        Some(TaskValue::Table(list)) => list
            .iter()
            .map(|(name, value)| match value {
                TaskValue::Text(text) => Random::read(name, text),
                _ => Err(Error::plain(
                    format!("`random` of `{name}` must be a distribution"),
                    "write { mu = \"normal(0.3, 0.05)\" }",
                )),
            })
            .collect::<Result<_, _>>()?,
        Some(_) => {
            return Err(Error::plain(
                "`random` must be a table",
                "write random = { mu = \"normal(0.3, 0.05)\" }",
            ));
        }
    };
    let chain = match text(keys, "chain")?.as_deref() {
        None => None,
        Some("up") => Some(Chain::Up),
        Some("down") => Some(Chain::Down),
        Some("both") => Some(Chain::Both),
        Some(other) => return Err(Error::plain(format!("`chain` is up, down or both, not `{other}`"), "")),
    };
    let diagram = match (text(keys, "section")?, text(keys, "values")?) {
        (Some(section), Some(values)) => {
            Some(Diagram { section, last: count(keys, "last")?.unwrap_or(100), values })
        }
        (None, None) => None,
        _ => {
            return Err(Error::plain(
                "a diagram needs `section` and `values`",
                "write section = \"hit\", values = \"after.x'\"",
            ));
        }
    };
    let sampling = match key(keys, "sobol") {
        Some(TaskValue::Bool(true)) => Sampling::Sobol,
        _ => Sampling::Random,
    };
    let plan = Plan {
        axes,
        random,
        samples: count(keys, "samples")?.unwrap_or(0),
        seed: count(keys, "seed")?.unwrap_or(1) as u64,
        sampling,
        total: matches!(key(keys, "total"), Some(TaskValue::Bool(true))),
        chain,
    };
    Ok(Task::Sweep(Sweep { plan, record: list(keys, "record"), diagram }))
}

pub(super) fn load_statistics(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::LoadStatistics(LoadTask {
        of: of(keys, "load-statistics")?,
        from: number(keys, "from")?,
        to: number(keys, "to")?,
        threshold: number(keys, "threshold")?.unwrap_or(0.0),
    }))
}

pub(super) fn statistics(keys: &Keys) -> Result<Task, Error> {
    let period = number(keys, "per")?.or(number(keys, "period")?);
    if period.is_some_and(|p| !(p > 0.0)) {
        return Err(Error::plain("the period must be positive", ""));
    }
    Ok(Task::Statistics(StatisticsTask {
        of: of(keys, "statistics")?,
        from: number(keys, "from")?,
        to: number(keys, "to")?,
        period,
    }))
}

pub(super) fn limit_cycle(keys: &Keys) -> Result<Task, Error> {
    let boxed = match key(keys, "box") {
        None => Vec::new(),
        Some(TaskValue::Table(list)) => list.iter().map(bounds).collect::<Result<_, Error>>()?,
        Some(_) => return Err(Error::plain("`box` must be a table", "write box = { x = [-2, 4] }")),
    };
    if count(keys, "multiple")? == Some(0) {
        return Err(Error::plain("`multiple` must be at least 1", ""));
    }
    Ok(Task::LimitCycle(LimitCycleTask {
        section: text(keys, "section")?,
        period: number(keys, "period")?,
        multiple: count(keys, "multiple")?,
        starts: count(keys, "starts")?.unwrap_or(0),
        boxed,
        unstable: flag(keys, "unstable")?,
        look: look(keys)?,
    }))
}

/// `over = { x = [from, to] }` or, as on a command line, `{ x = [from, to, count] }`: the count does not matter.
pub(super) fn one_range(keys: &Keys, word: &str) -> Result<Option<(String, f64, f64)>, Error> {
    let help = format!("write {word} = {{ mu = [0, 1] }}");
    let list = match key(keys, word) {
        None => return Ok(None),
        Some(TaskValue::Table(list)) => list,
        Some(_) => return Err(Error::plain(format!("`{word}` must be a table"), help)),
    };
    let [(name, TaskValue::List(ends))] = list.as_slice() else {
        return Err(Error::plain(format!("`{word}` must be one range"), help));
    };
    match ends[..] {
        [TaskValue::Number(a), TaskValue::Number(b), ..] if a != b => Ok(Some((name.clone(), a, b))),
        _ => Err(Error::plain(format!("the range of `{name}` must be two different numbers"), "")),
    }
}

pub(super) fn return_map(keys: &Keys) -> Result<Task, Error> {
    let power = match key(keys, "power") {
        None => [1, 1],
        Some(TaskValue::Number(n)) if *n >= 1.0 && *n <= 16.0 && *n == n.round() => [1, *n as usize],
        Some(TaskValue::Text(t)) => {
            let ends =
                t.split_once("..").and_then(|(a, b)| Some([a.trim().parse().ok()?, b.trim().parse().ok()?]));
            ends.filter(|[a, b]| 1 <= *a && a <= b && *b <= 16).ok_or_else(|| {
                Error::plain(format!("`power` is not understood: {t}"), "write power = \"1..3\"")
            })?
        }
        Some(_) => return Err(Error::plain("`power` must be a whole number from 1 to 16", "")),
    };
    let coordinate = text(keys, "coordinate")?;
    let over = one_range(keys, "over")?;
    if let (Some((name, ..)), Some(coordinate)) = (&over, &coordinate)
        && name != coordinate
    {
        return Err(Error::plain(format!("`over` must be the range of `{coordinate}`"), ""));
    }
    let over = over.map(|(_, a, b)| [a.min(b), a.max(b)]);
    Ok(Task::ReturnMap(ReturnMapTask {
        section: text(keys, "section")?,
        coordinate,
        power,
        over,
        look: look(keys)?,
    }))
}

pub(super) fn lyapunov(keys: &Keys) -> Result<Task, Error> {
    let positive = |name: &str| match number(keys, name)? {
        Some(t) if !(t > 0.0) => Err(Error::plain(format!("`{name}` must be positive"), "")),
        other => Ok(other),
    };
    Ok(Task::Lyapunov(LyapunovTask {
        time: positive("time")?,
        warm_up: number(keys, "warm_up")?,
        period: positive("period")?,
        look: look(keys)?,
    }))
}

pub(super) fn branch(keys: &Keys) -> Result<Task, Error> {
    let of = match list(keys, "of").first().map(String::as_str) {
        None | Some("cycle") => BranchOf::Cycle,
        Some("rest") => BranchOf::Rest,
        Some("sliding") => BranchOf::Sliding,
        Some(other) => {
            return Err(Error::plain(
                format!("there are no branches of `{other}`"),
                "of = \"cycle\", \"rest\" or \"sliding\"",
            ));
        }
    };
    let switch = text(keys, "switch")?;
    if let Some(label) = switch.as_deref().filter(|l| !matches!(*l, "hopf" | "doubling")) {
        return Err(Error::plain(
            format!("no branch is left at a point `{label}`"),
            "switch = \"hopf\" (of rest or sliding) or \"doubling\" (of cycles)",
        ));
    }
    let Task::LimitCycle(cycle) = limit_cycle(keys)? else { return Err(Error::plain("no cycle", "")) };
    let (over, two) = (one_range(keys, "over")?, one_range(keys, "two")?);
    if let (Some((a, ..)), Some((b, ..))) = (&over, &two)
        && a == b
    {
        return Err(Error::plain(format!("`two` must be another parameter than `{a}`"), ""));
    }
    Ok(Task::Branch(BranchTask { over, of, switch, two, cycle }))
}

pub(super) fn basin(keys: &Keys) -> Result<Task, Error> {
    let Task::LimitCycle(cycle) = limit_cycle(keys)? else { return Err(Error::plain("no cycle", "")) };
    Ok(Task::Basin(BasinTask { axes: axes(keys)?, cycle }))
}

/// `x = [from, to]`.
pub(super) fn bounds((name, value): &(String, TaskValue)) -> Result<(String, f64, f64), Error> {
    match value {
        TaskValue::List(list) => match list[..] {
            [TaskValue::Number(a), TaskValue::Number(b)] if a <= b => Ok((name.clone(), a, b)),
            _ => {
                Err(Error::plain(format!("the range of `{name}` must be two numbers, the smaller first"), ""))
            }
        },
        _ => Err(Error::plain(format!("the range of `{name}` must be a list"), "write { x = [-2, 4] }")),
    }
}
