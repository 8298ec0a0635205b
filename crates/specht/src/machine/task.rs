//! Questions about a machine, as types: read once, from the keys of a `[[task]]` or from options of a command line.

use serde::{Deserialize, Serialize};

use crate::analysis::map::Axis;
use crate::analysis::self_braking::SelfBrakingTask;
use crate::analysis::start_load::RestTask;
use crate::analysis::tensor_set::Range;
use crate::model::TaskValue;

use super::Error;

/// Keys with their values, as a file or a command line gives them.
pub type Keys = [(String, TaskValue)];

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "analyse", rename_all = "kebab-case")]
pub enum Task {
    /// Is the computed reaction the only possible one?
    Painleve(PainleveTask),
    /// What happens in the limit of stiff contacts?
    TrueMotion(TrueMotionTask),
    /// Does it stay where it is?
    Rest(RestTask),
    /// Which forces cannot move it?
    SelfBraking(SelfBrakingTask),
    /// Can friction, however large, make a reaction ambiguous or impossible?
    Tensor(TensorTask),
}

/// `painleve`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PainleveTask {
    /// Contacts to look at; empty: all with friction.
    pub contacts: Vec<String>,
    /// At which state, or along the run, or over a curve or map.
    pub view: View,
}

/// What `painleve` looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum View {
    /// A state.
    Here {
        /// Which.
        look: Look,
        /// Relative stiffness of contacts, for the character of the solutions; 1 where nothing is said.
        stiffness: Vec<(String, f64)>,
    },
    /// All instants of the run.
    Along,
    /// One or two of parameters, coordinates and velocities.
    Over {
        /// The state from which it departs.
        look: Look,
        /// What varies.
        axes: Vec<Axis>,
    },
}

impl Default for View {
    fn default() -> Self {
        View::Here { look: Look::default(), stiffness: Vec::new() }
    }
}

/// A state to look at: the start, an instant of the run, or either with some coordinates and velocities changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Look {
    /// An instant of the run, s; default the start.
    pub at_time: Option<f64>,
    /// Coordinates `phi` and velocities `phi'` with other values; default none.
    pub at: Option<Vec<(String, f64)>>,
}

/// `true-motion`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TrueMotionTask {
    /// Contact to look at; empty: the first with friction.
    pub contacts: Vec<String>,
    /// At which state.
    pub look: Look,
    /// Reaction at the start, over the frictionless one.
    pub x0: f64,
    /// Its rate, in units of w.
    pub rate0: f64,
    /// Stiffness of the contact, N/m, for the durations.
    pub stiffness: Option<f64>,
}

/// `tensor`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TensorTask {
    /// Contacts; empty: all with friction.
    pub contacts: Vec<String>,
    /// Ranges to sample; `None`: those of the file.
    pub over: Option<Vec<Range>>,
    /// Number of samples; `None`: 1000 when ranges are given, else none.
    pub samples: Option<usize>,
}

/// A kind of question with the keys that it understands, besides `case`, `contact` and `contacts`.
pub struct Kind {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// Keys.
    pub keys: &'static [&'static str],
    read: fn(&Keys) -> Result<Task, Error>,
}

/// All kinds.
pub const KINDS: [Kind; 5] = [
    Kind { name: "painleve", keys: &["over", "at", "at_time", "along", "stiffness"], read: painleve },
    Kind { name: "true-motion", keys: &["at", "at_time", "x0", "rate0", "stiffness"], read: true_motion },
    Kind { name: "rest", keys: &["load", "points", "at_time"], read: rest },
    Kind { name: "self-braking", keys: &["points", "drive", "load", "over", "at_time"], read: self_braking },
    Kind { name: "tensor", keys: &["over", "samples"], read: tensor },
];

/// Most values of a parameter over a cycle.
const MOST: f64 = 100_000.0;

impl Task {
    /// A question of this kind from its keys.
    ///
    /// # Errors
    ///
    /// A kind that is not built in, or a value that does not fit its key.
    pub fn read(kind: &str, keys: &Keys) -> Result<Task, Error> {
        match KINDS.iter().find(|k| k.name == kind) {
            Some(kind) => (kind.read)(keys),
            None => Err(Error::plain(format!("the analysis `{kind}` is not built into this version"), "")),
        }
    }

    /// Its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Task::Painleve(_) => "painleve",
            Task::TrueMotion(_) => "true-motion",
            Task::Rest(_) => "rest",
            Task::SelfBraking(_) => "self-braking",
            Task::Tensor(_) => "tensor",
        }
    }
}

fn painleve(keys: &Keys) -> Result<Task, Error> {
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

fn true_motion(keys: &Keys) -> Result<Task, Error> {
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

fn rest(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::Rest(RestTask {
        contacts: contacts(keys),
        load: text(keys, "load")?,
        points: list(keys, "points"),
        at_time: look(keys)?.at_time,
    }))
}

fn self_braking(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::SelfBraking(SelfBrakingTask {
        contacts: contacts(keys),
        drive: text(keys, "drive")?,
        load: text(keys, "load")?,
        points: list(keys, "points"),
        at_time: look(keys)?.at_time,
        over: cycle(keys)?,
    }))
}

fn tensor(keys: &Keys) -> Result<Task, Error> {
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

fn key<'a>(keys: &'a Keys, name: &str) -> Option<&'a TaskValue> {
    keys.iter().find(|k| k.0 == name).map(|k| &k.1)
}

fn text(keys: &Keys, name: &str) -> Result<Option<String>, Error> {
    match key(keys, name) {
        None => Ok(None),
        Some(TaskValue::Text(t)) => Ok(Some(t.clone())),
        Some(_) => Err(Error::plain(format!("`{name}` must be a name in quotes"), "")),
    }
}

/// A text or a list of texts.
fn list(keys: &Keys, name: &str) -> Vec<String> {
    let word = |v: &TaskValue| if let TaskValue::Text(t) = v { Some(t.clone()) } else { None };
    match key(keys, name) {
        Some(TaskValue::List(list)) => list.iter().filter_map(word).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn contacts(keys: &Keys) -> Vec<String> {
    let mut all = list(keys, "contact");
    all.extend(list(keys, "contacts"));
    all
}

fn look(keys: &Keys) -> Result<Look, Error> {
    let at_time = match key(keys, "at_time") {
        None => None,
        Some(TaskValue::Number(t)) => Some(*t),
        Some(_) => return Err(Error::plain("`at_time` must be a time", "write at_time = \"0.2 s\"")),
    };
    let number = |(name, value): &(String, TaskValue)| match value {
        TaskValue::Number(value) if value.is_finite() => Ok((name.clone(), *value)),
        TaskValue::Number(value) => {
            Err(Error::plain(format!("`at` of `{name}` must be finite, not {value}"), ""))
        }
        _ => Err(Error::plain(format!("`at` of `{name}` must be a number"), "")),
    };
    let at = match key(keys, "at") {
        None => None,
        Some(TaskValue::Table(list)) => Some(list.iter().map(number).collect::<Result<_, _>>()?),
        Some(_) => {
            return Err(Error::plain("`at` must be a table", "write at = { phi = 1.0, \"phi'\" = -3 }"));
        }
    };
    Ok(Look { at_time, at })
}

/// `over = { name = [from, to, count] }`.
fn axes(keys: &Keys) -> Result<Vec<Axis>, Error> {
    match key(keys, "over") {
        None => Ok(Vec::new()),
        Some(TaskValue::Table(list)) => list.iter().map(axis).collect(),
        Some(_) => Err(Error::plain("`over` must be a table", "write over = { mu = [0, 3, 61] }")),
    }
}

fn axis((name, value): &(String, TaskValue)) -> Result<Axis, Error> {
    if let TaskValue::List(v) = value
        && let [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] = v[..]
        && n >= 0.0
    {
        return Ok(Axis { name: name.clone(), from, to, count: n as usize });
    }
    Err(Error::plain(format!("`over` of `{name}` must be [from, to, count]"), ""))
}

/// The ends of a range; how many values it has does not matter.
fn ends((name, value): &(String, TaskValue)) -> Result<Range, Error> {
    if let TaskValue::List(v) = value
        && let [TaskValue::Number(from), TaskValue::Number(to), _] = v[..]
    {
        return Ok((name.clone(), [from, to]));
    }
    Err(Error::plain(format!("`over` of `{name}` must be [from, to, count]"), ""))
}

/// One parameter over a cycle.
fn cycle(keys: &Keys) -> Result<Option<(String, f64, f64, usize)>, Error> {
    let Some(over) = key(keys, "over") else { return Ok(None) };
    if let TaskValue::Table(table) = over
        && let [(name, TaskValue::List(v))] = table.as_slice()
        && let [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] = v[..]
        && n >= 2.0
    {
        if !(from.is_finite() && to.is_finite() && from < to) {
            let message = format!(
                "the range of `{name}` runs from {from} to {to}; it needs two finite ends, the smaller one first"
            );
            return Err(Error::plain(message, ""));
        }
        if n > MOST {
            return Err(Error::plain(
                format!("{n} values of `{name}` are more than the {MOST} of a cycle"),
                "borders are located far more finely than the values: 361 are plenty",
            ));
        }
        return Ok(Some((name.clone(), from, to, n as usize)));
    }
    Err(Error::plain("`over` of self-braking is one parameter: over = { q0 = [from, to, count] }", ""))
}

/// `stiffness = { rub1 = 1, rub2 = 3 }`.
fn stiffness(keys: &Keys) -> Result<Vec<(String, f64)>, Error> {
    let help = "write stiffness = { rub1 = 1, rub2 = 3 }, or --stiffness \"rub1=1, rub2=3\"";
    let one = |(name, value): &(String, TaskValue)| match value {
        TaskValue::Number(c) if *c > 0.0 && c.is_finite() => Ok((name.clone(), *c)),
        _ => Err(Error::plain(format!("the stiffness of `{name}` must be positive"), help)),
    };
    match key(keys, "stiffness") {
        None => Ok(Vec::new()),
        Some(TaskValue::Table(list)) => list.iter().map(one).collect(),
        Some(_) => Err(Error::plain("`stiffness` of painleve is given by contact", help)),
    }
}
