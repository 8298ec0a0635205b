//! Questions about a machine, as types: read once, from the keys of a `[[task]]` or from options of a command line.

use serde::{Deserialize, Serialize};

use crate::analysis::map::Axis;
use crate::analysis::self_braking::SelfBrakingTask;
use crate::analysis::start_load::RestTask;
use crate::analysis::tensor_set::Range;
use crate::model::TaskValue;

use super::Error;
use super::questions::{
    self, BreakAwayTask, EquilibriumTask, ModesTask, QuasiStaticTask, ResponseTask, StabilityTask,
};
pub use super::questions::{FitTask, FrictionLawTask};
use super::sweep::{Chain, Diagram, Plan, Random, Sampling, Span, Sweep};

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
    /// What happens with many values of the parameters?
    Sweep(Sweep),
    /// How often and how hard do loads strike?
    LoadStatistics(LoadTask),
    /// Means, moments, histograms and balances.
    Statistics(StatisticsTask),
    /// Does it repeat itself?
    LimitCycle(LimitCycleTask),
    /// Where can it stand still?
    Equilibrium(EquilibriumTask),
    /// How does it vibrate?
    Modes(ModesTask),
    /// How does it answer a harmonic force?
    Response(ResponseTask),
    /// At which amplitude do stuck contacts give way?
    BreakAway(BreakAwayTask),
    /// Does steady sliding squeal?
    Stability(StabilityTask),
    /// Where does it go under a slow load?
    QuasiStatic(QuasiStaticTask),
    /// One number from passage to passage of a section.
    ReturnMap(ReturnMapTask),
    /// How fast do neighbouring motions part?
    Lyapunov(LyapunovTask),
    /// How do cycles change with a parameter?
    Branch(BranchTask),
    /// Which parameters fit measured data?
    Fit(FitTask),
    /// What do the friction laws do?
    FrictionLaw(FrictionLawTask),
    /// From which starts does the motion end where?
    Basin(BasinTask),
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

/// `load-statistics`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadTask {
    /// Outputs or expressions.
    pub of: Vec<String>,
    /// Window, s; default the whole run.
    pub from: Option<f64>,
    /// Its end.
    pub to: Option<f64>,
    /// Force above which an episode is one.
    pub threshold: f64,
}

/// `statistics`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatisticsTask {
    /// Outputs, expressions, or addresses of events.
    pub of: Vec<String>,
    /// Window, s; default the whole run.
    pub from: Option<f64>,
    /// Its end.
    pub to: Option<f64>,
    /// Period of the excitation, s.
    pub period: Option<f64>,
}

/// `limit-cycle`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitCycleTask {
    /// User event that serves as section; default: the phase of the forcing, or maxima of a coordinate.
    pub section: Option<String>,
    /// Period of what depends on time, s; default: as the formulas have it.
    pub period: Option<f64>,
    /// Periods of the forcing in one of the cycle; default: as found.
    pub multiple: Option<usize>,
    /// Number of starts, besides that of the file.
    pub starts: usize,
    /// Where they lie: coordinate or velocity, from, to.
    pub boxed: Vec<(String, f64, f64)>,
    /// Look for a cycle near the start, also one that the motion leaves.
    pub unstable: bool,
    /// The start.
    pub look: Look,
}

/// `return-map`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReturnMapTask {
    /// User event that serves as section.
    pub section: Option<String>,
    /// Coordinate or velocity that is mapped.
    pub coordinate: Option<String>,
    /// Powers whose fixed points are wanted, from and to.
    pub power: [usize; 2],
    /// Range; default: as far as the run goes, and half as much more.
    pub over: Option<[f64; 2]>,
    /// The start.
    pub look: Look,
}

impl Default for ReturnMapTask {
    fn default() -> Self {
        ReturnMapTask { section: None, coordinate: None, power: [1, 1], over: None, look: Look::default() }
    }
}

/// `lyapunov`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LyapunovTask {
    /// Time over which exponents are taken, s; default that of the run.
    pub time: Option<f64>,
    /// Time before, s; default a quarter of it.
    pub warm_up: Option<f64>,
    /// Period of what depends on time, s.
    pub period: Option<f64>,
    /// The start.
    pub look: Look,
}

/// `branch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BranchTask {
    /// Parameter, and the range over which it is followed.
    pub over: Option<(String, f64, f64)>,
    /// What is followed.
    pub of: BranchOf,
    /// Label of the special point from which the crossing branch is followed.
    pub switch: Option<String>,
    /// A second parameter and its range, over which special points are followed.
    pub two: Option<(String, f64, f64)>,
    /// How cycles are found.
    pub cycle: LimitCycleTask,
}

/// What a branch consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BranchOf {
    /// Cycles.
    #[default]
    Cycle,
    /// Equilibria without friction.
    Rest,
    /// Steady motions in which contacts slide.
    Sliding,
}

/// `basin`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BasinTask {
    /// Coordinates or velocities of the start.
    pub axes: Vec<Axis>,
    /// How motions are looked at.
    pub cycle: LimitCycleTask,
}

/// A kind of question with the keys that it understands, besides `case`, `contact` and `contacts`.
pub struct Kind {
    /// Name in files and on the command line.
    pub name: &'static str,
    /// Keys.
    pub keys: &'static [&'static str],
    /// Whether a range of `over` needs a number of values.
    pub counts: bool,
    read: fn(&Keys) -> Result<Task, Error>,
}

impl Kind {
    /// The first of these keys that the kind does not know.
    pub fn stranger<'k>(&self, keys: &'k [(String, TaskValue)]) -> Option<&'k str> {
        let known = |key: &str| CONTACTS.contains(&key) || self.keys.contains(&key);
        keys.iter().map(|(key, _)| key.as_str()).find(|key| !known(key))
    }
}

/// Keys that every kind knows.
pub(super) const CONTACTS: [&str; 2] = ["contact", "contacts"];

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind {
        name: "painleve",
        keys: &["over", "at", "at_time", "along", "stiffness"],
        counts: true,
        read: painleve,
    },
    Kind {
        name: "true-motion",
        keys: &["at", "at_time", "x0", "rate0", "stiffness"],
        counts: true,
        read: true_motion,
    },
    Kind { name: "rest", keys: &["load", "points", "at_time"], counts: true, read: rest },
    Kind {
        name: "self-braking",
        keys: &["points", "drive", "load", "over", "at_time"],
        counts: true,
        read: self_braking,
    },
    Kind { name: "tensor", keys: &["over", "samples"], counts: true, read: tensor },
    Kind {
        name: "sweep",
        keys: &[
            "over", "random", "samples", "seed", "sobol", "total", "record", "chain", "section", "last",
            "values", "until",
        ],
        counts: true,
        read: sweep,
    },
    Kind {
        name: "load-statistics",
        keys: &["of", "from", "to", "threshold", "until"],
        counts: true,
        read: load_statistics,
    },
    Kind {
        name: "statistics",
        keys: &["of", "from", "to", "per", "period", "until"],
        counts: true,
        read: statistics,
    },
    Kind {
        name: "equilibrium",
        keys: &["all", "over", "friction", "load"],
        counts: false,
        read: questions::equilibrium,
    },
    Kind {
        name: "modes",
        keys: &["stick", "slide", "open", "at", "at_time", "over"],
        counts: false,
        read: questions::modes,
    },
    Kind {
        name: "response",
        keys: &["force", "over", "stick", "slide", "open", "at", "at_time"],
        counts: false,
        read: questions::response,
    },
    Kind {
        name: "break-away",
        keys: &["amplitude", "over", "stick", "slide", "open", "at", "at_time"],
        counts: false,
        read: questions::break_away,
    },
    Kind {
        name: "stability",
        keys: &["over", "critical", "at", "at_time"],
        counts: false,
        read: questions::stability,
    },
    Kind { name: "quasi-static", keys: &["until"], counts: false, read: questions::quasi_static },
    Kind {
        name: "limit-cycle",
        keys: &["section", "period", "multiple", "starts", "box", "unstable", "at", "at_time", "until"],
        counts: true,
        read: limit_cycle,
    },
    Kind {
        name: "return-map",
        keys: &["section", "coordinate", "power", "over", "at", "at_time", "until"],
        counts: true,
        read: return_map,
    },
    Kind {
        name: "lyapunov",
        keys: &["time", "warm_up", "period", "at", "at_time", "until"],
        counts: true,
        read: lyapunov,
    },
    Kind {
        name: "branch",
        keys: &[
            "over", "of", "switch", "two", "section", "period", "multiple", "unstable", "at", "at_time",
            "until",
        ],
        counts: true,
        read: branch,
    },
    Kind {
        name: "fit",
        keys: &[
            "data",
            "fit",
            "residual",
            "bounds",
            "weights",
            "starts",
            "profile",
            "robust",
            "bootstrap",
            "holdout",
            "compare",
        ],
        counts: true,
        read: questions::fit,
    },
    Kind { name: "friction-law", keys: &["over"], counts: false, read: questions::friction_law },
    Kind { name: "basin", keys: &["over", "section", "period", "until"], counts: true, read: basin },
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
            Task::Sweep(_) => "sweep",
            Task::LoadStatistics(_) => "load-statistics",
            Task::Statistics(_) => "statistics",
            Task::LimitCycle(_) => "limit-cycle",
            Task::Equilibrium(_) => "equilibrium",
            Task::Modes(_) => "modes",
            Task::Response(_) => "response",
            Task::BreakAway(_) => "break-away",
            Task::Stability(_) => "stability",
            Task::QuasiStatic(_) => "quasi-static",
            Task::ReturnMap(_) => "return-map",
            Task::Lyapunov(_) => "lyapunov",
            Task::Branch(_) => "branch",
            Task::Fit(_) => "fit",
            Task::FrictionLaw(_) => "friction-law",
            Task::Basin(_) => "basin",
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

/// `over = { mu = [from, to, count] }` or `{ mu = "0..1:11" }`, `random = { mu = "normal(0.3, 0.05)" }`.
fn sweep(keys: &Keys) -> Result<Task, Error> {
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

fn load_statistics(keys: &Keys) -> Result<Task, Error> {
    Ok(Task::LoadStatistics(LoadTask {
        of: of(keys, "load-statistics")?,
        from: number(keys, "from")?,
        to: number(keys, "to")?,
        threshold: number(keys, "threshold")?.unwrap_or(0.0),
    }))
}

fn statistics(keys: &Keys) -> Result<Task, Error> {
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

fn limit_cycle(keys: &Keys) -> Result<Task, Error> {
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
fn one_range(keys: &Keys, word: &str) -> Result<Option<(String, f64, f64)>, Error> {
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

fn return_map(keys: &Keys) -> Result<Task, Error> {
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

fn lyapunov(keys: &Keys) -> Result<Task, Error> {
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

fn branch(keys: &Keys) -> Result<Task, Error> {
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

fn basin(keys: &Keys) -> Result<Task, Error> {
    let Task::LimitCycle(cycle) = limit_cycle(keys)? else { return Err(Error::plain("no cycle", "")) };
    Ok(Task::Basin(BasinTask { axes: axes(keys)?, cycle }))
}

/// `x = [from, to]`.
fn bounds((name, value): &(String, TaskValue)) -> Result<(String, f64, f64), Error> {
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

fn flag(keys: &Keys, name: &str) -> Result<bool, Error> {
    match key(keys, name) {
        None => Ok(false),
        Some(TaskValue::Bool(b)) => Ok(*b),
        Some(_) => Err(Error::plain(format!("`{name}` must be true or false"), "")),
    }
}

/// What is looked at; commas separate names on a command line.
fn of(keys: &Keys, kind: &str) -> Result<Vec<String>, Error> {
    let all = list(keys, "of");
    match all.is_empty() {
        true => Err(Error::plain(
            format!("`{kind}` needs something to look at"),
            "write of = [\"F12\"], or --of F12",
        )),
        false => Ok(all),
    }
}

pub(super) fn number(keys: &Keys, name: &str) -> Result<Option<f64>, Error> {
    match key(keys, name) {
        None => Ok(None),
        Some(TaskValue::Number(x)) if x.is_finite() => Ok(Some(*x)),
        Some(_) => Err(Error::plain(format!("`{name}` must be a number"), "")),
    }
}

/// A whole number that is not negative.
pub(super) fn count(keys: &Keys, name: &str) -> Result<Option<usize>, Error> {
    match number(keys, name)? {
        None => Ok(None),
        Some(x) if x >= 0.0 && x == x.round() && x <= 1e12 => Ok(Some(x as usize)),
        Some(x) => Err(Error::plain(format!("`{name}` must be a whole number, not {x}"), "")),
    }
}

pub(super) fn key<'a>(keys: &'a Keys, name: &str) -> Option<&'a TaskValue> {
    keys.iter().find(|k| k.0 == name).map(|k| &k.1)
}

pub(super) fn text(keys: &Keys, name: &str) -> Result<Option<String>, Error> {
    match key(keys, name) {
        None => Ok(None),
        Some(TaskValue::Text(t)) => Ok(Some(t.clone())),
        Some(_) => Err(Error::plain(format!("`{name}` must be a name in quotes"), "")),
    }
}

/// A text or a list of texts.
pub(super) fn list(keys: &Keys, name: &str) -> Vec<String> {
    let word = |v: &TaskValue| if let TaskValue::Text(t) = v { Some(t.clone()) } else { None };
    match key(keys, name) {
        Some(TaskValue::List(list)) => list.iter().filter_map(word).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    }
}

pub(super) fn contacts(keys: &Keys) -> Vec<String> {
    let mut all = list(keys, "contact");
    all.extend(list(keys, "contacts"));
    all
}

pub(super) fn look(keys: &Keys) -> Result<Look, Error> {
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
