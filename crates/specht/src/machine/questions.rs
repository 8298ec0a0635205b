//! Questions about rest and vibration, as types: their keys.

use serde::{Deserialize, Serialize};

use crate::analysis::map::Axis;
use crate::model::TaskValue;

use super::Error;
use super::task::{Keys, Look, Task, contacts, count, key, list, look, number, text};

/// `equilibrium`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EquilibriumTask {
    /// With friction: bands instead of points.
    pub friction: bool,
    /// Look for all, not only for the nearest.
    pub all: bool,
    /// A parameter over which branches are followed.
    pub over: Option<Axis>,
    /// A parameter of a load whose safety factor is wanted.
    pub load: Option<String>,
}

/// `modes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModesTask {
    /// What contacts are held to do.
    pub held: HeldContacts,
    /// At which state.
    pub look: Look,
    /// A parameter over which the frequencies are followed.
    pub over: Option<Axis>,
}

/// Contacts by what they are held to do; the others do what they do at the state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HeldContacts {
    /// Sticking.
    pub stick: Vec<String>,
    /// Sliding: with friction where there is slip, else without.
    pub slide: Vec<String>,
    /// Open.
    pub open: Vec<String>,
}

/// `response`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResponseTask {
    /// A force, or a parameter of the amplitude of one.
    pub force: String,
    /// Frequencies, Hz.
    pub over: Axis,
    /// What contacts are held to do.
    pub held: HeldContacts,
    /// At which state.
    pub look: Look,
}

/// `break-away`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BreakAwayTask {
    /// Parameter of the amplitude.
    pub amplitude: String,
    /// Frequencies: those of a parameter of this name, else Hz.
    pub over: Axis,
    /// What contacts are held to do.
    pub held: HeldContacts,
    /// At which state.
    pub look: Look,
}

/// `stability`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StabilityTask {
    /// Contacts that slide, whatever they do at the state.
    pub contacts: Vec<String>,
    /// One or two parameters.
    pub over: Vec<Axis>,
    /// A parameter whose critical value is wanted.
    pub critical: Option<String>,
    /// From which state.
    pub look: Look,
}

/// `quasi-static`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuasiStaticTask {
    /// End of the load, s; default the end of the run.
    pub until: Option<f64>,
}

/// `fit`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FitTask {
    /// Its name in a comparison; default that of the model.
    pub name: Option<String>,
    /// File with the measured columns.
    pub data: String,
    /// Parameters to find.
    pub fit: Vec<String>,
    /// What should be zero at every row; default: columns called like something of the model, minus it.
    pub residual: Option<String>,
    /// Bounds by parameter; default the ranges of the file.
    pub bounds: Vec<(String, f64, f64)>,
    /// Column of weights, 1/s².
    pub weights: Option<String>,
    /// Number of starts; default 16 for formulas, 1 along runs.
    pub starts: Option<usize>,
    /// Profile intervals too.
    pub profile: bool,
    /// Far values count less.
    pub robust: bool,
    /// Refits of resampled residuals, for intervals that bear errors that last; 0: none.
    pub bootstrap: usize,
    /// Share of the rows, at the end, that is predicted instead of fitted; 0: none.
    pub holdout: f64,
    /// Other fits of the file, or other files, to compare with.
    pub compare: Vec<String>,
}

/// `friction-law`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FrictionLawTask {
    /// Contacts; empty: all with friction.
    pub contacts: Vec<String>,
    /// Largest speed, m/s; default: as far as something happens.
    pub to: Option<f64>,
}

/// Values of a range without a count.
const VALUES: usize = 201;

pub(super) fn equilibrium(keys: &Keys) -> Result<Task, Error> {
    let friction = match key(keys, "friction") {
        None => false,
        Some(TaskValue::Text(t)) if t == "on" => true,
        Some(TaskValue::Text(t)) if t == "off" => false,
        Some(TaskValue::Bool(on)) => *on,
        Some(_) => return Err(Error::plain("`friction` is \"on\" or \"off\"", "write friction = \"on\"")),
    };
    Ok(Task::Equilibrium(EquilibriumTask {
        friction,
        all: flag(keys, "all")?,
        over: one_axis(keys, "equilibrium")?,
        load: text(keys, "load")?,
    }))
}

pub(super) fn modes(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::Modes(ModesTask { held: held(keys)?, look: look(keys)?, over: one_axis(keys, "modes")? }))
}

pub(super) fn response(keys: &Keys) -> Result<Task, Error> {
    let force = text(keys, "force")?.ok_or_else(|| {
        Error::plain(
            "`response` needs a force",
            "write force = \"gas1\", the name of a force, or --force gas1",
        )
    })?;
    Ok(Task::Response(ResponseTask {
        force,
        over: frequencies(keys, "response")?,
        held: held(keys)?,
        look: look(keys)?,
    }))
}

pub(super) fn break_away(keys: &Keys) -> Result<Task, Error> {
    let amplitude = text(keys, "amplitude")?.ok_or_else(|| {
        Error::plain(
            "`break-away` needs the amplitude of an excitation",
            "write amplitude = \"A\", a parameter of the force, or --amplitude A",
        )
    })?;
    Ok(Task::BreakAway(BreakAwayTask {
        amplitude,
        over: frequencies(keys, "break-away")?,
        held: held(keys)?,
        look: look(keys)?,
    }))
}

pub(super) fn stability(keys: &Keys) -> Result<Task, Error> {
    let over = axes(keys)?;
    if over.len() > 2 {
        let message = format!("`stability` goes over one or two parameters, not {}", over.len());
        return Err(Error::plain(message, "leave some out"));
    }
    let critical = text(keys, "critical")?;
    Ok(Task::Stability(StabilityTask { contacts: contacts(keys), over, critical, look: look(keys)? }))
}

pub(super) fn quasi_static(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::QuasiStatic(QuasiStaticTask { until: number(keys, "until")? }))
}

pub(super) fn fit(keys: &Keys) -> Result<Task, Error> {
    let bounds = match key(keys, "bounds") {
        None => Vec::new(),
        Some(value) => super::fit::bounds(value).ok_or_else(|| {
            Error::plain(
                "`bounds` is a table of ranges",
                "write bounds = { mu = [0, 1] }, or --bounds \"mu=0..1\"",
            )
        })?,
    };
    Ok(Task::Fit(FitTask {
        name: None,
        data: text(keys, "data")?.unwrap_or_default(),
        fit: list(keys, "fit"),
        residual: text(keys, "residual")?,
        bounds,
        weights: text(keys, "weights")?,
        starts: count(keys, "starts")?,
        profile: flag(keys, "profile")?,
        robust: flag(keys, "robust")?,
        bootstrap: count(keys, "bootstrap")?.unwrap_or(0),
        holdout: number(keys, "holdout")?.unwrap_or(0.0),
        compare: list(keys, "compare"),
    }))
}

pub(super) fn friction_law(keys: &Keys) -> Result<Task, Error> {
    let to = match one_axis(keys, "friction-law")? {
        None => None,
        Some(axis) if axis.name == "speed" && axis.from == 0.0 && axis.to > 0.0 => Some(axis.to),
        Some(_) => {
            let help = "write over = { speed = [0, 0.1] }, or --over \"speed=0..0.1\"";
            return Err(Error::plain("`friction-law` goes over the speed, from 0", help));
        }
    };
    Ok(Task::FrictionLaw(FrictionLawTask { contacts: contacts(keys), to }))
}

fn frequencies(keys: &Keys, kind: &str) -> Result<Axis, Error> {
    let axis = one_axis(keys, kind)?.ok_or_else(|| {
        Error::plain(
            format!("`{kind}` needs frequencies"),
            "write over = { f = [50, 70, 81] }, or --over \"f=50 Hz..70 Hz\"",
        )
    })?;
    match axis.from > 0.0 && axis.to > 0.0 {
        true => Ok(axis),
        false => Err(Error::plain("frequencies must be positive", "begin the range above zero")),
    }
}

fn held(keys: &Keys) -> Result<HeldContacts, Error> {
    let held =
        HeldContacts { stick: list(keys, "stick"), slide: list(keys, "slide"), open: list(keys, "open") };
    let all = [&held.stick, &held.slide, &held.open];
    for (k, names) in all.iter().enumerate() {
        if let Some(name) = names.iter().find(|n| all[k + 1..].iter().any(|o| o.contains(n))) {
            return Err(Error::plain(
                format!("contact `{name}` cannot do two things at once"),
                "name it once",
            ));
        }
    }
    if !contacts(keys).is_empty() {
        return Err(Error::plain(
            "this question looks at all contacts",
            "say what they do: stick, slide, open",
        ));
    }
    Ok(held)
}

pub(super) fn flag(keys: &Keys, name: &str) -> Result<bool, Error> {
    match key(keys, name) {
        None => Ok(false),
        Some(TaskValue::Bool(b)) => Ok(*b),
        Some(_) => Err(Error::plain(format!("`{name}` must be true or false"), "")),
    }
}

/// `over = { mu = [from, to] }` with or without a count, of one name.
pub(super) fn one_axis(keys: &Keys, kind: &str) -> Result<Option<Axis>, Error> {
    let all = axes(keys)?;
    match all.len() {
        0 | 1 => Ok(all.into_iter().next()),
        n => Err(Error::plain(format!("`{kind}` goes over one parameter, not {n}"), "leave one out")),
    }
}

/// The same, of any number of names.
pub(super) fn axes(keys: &Keys) -> Result<Vec<Axis>, Error> {
    let table = match key(keys, "over") {
        None => return Ok(Vec::new()),
        Some(TaskValue::Table(table)) => table,
        Some(_) => return Err(Error::plain("`over` must be a table", "write over = { mu = [0, 1] }")),
    };
    let one = |(name, value): &(String, TaskValue)| {
        let ends = match value {
            TaskValue::List(v) => match v[..] {
                [TaskValue::Number(from), TaskValue::Number(to)] => Some((from, to, VALUES)),
                [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] if n >= 2.0 => {
                    Some((from, to, n as usize))
                }
                _ => None,
            },
            _ => None,
        };
        match ends {
            Some((from, to, count)) if from.is_finite() && to.is_finite() && from != to => {
                Ok(Axis { name: name.clone(), from, to, count })
            }
            _ => Err(Error::plain(
                format!("`over` of `{name}` needs two different ends and at least two values"),
                format!("write over = {{ {name} = [from, to, count] }}"),
            )),
        }
    };
    table.iter().map(one).collect()
}
