//! Questions about a machine, as types: read once, from the keys of a `[[task]]` or from options of a command line.

mod keys;
mod read;

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
use super::sweep::Sweep;
pub(super) use keys::{contacts, count, key, list, look, number, text};
use read::{
    basin, branch, limit_cycle, load_statistics, lyapunov, painleve, rest, return_map, self_braking,
    statistics, sweep, tensor, true_motion,
};

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

/// Keys of a task of a file that say where to look: they are followed by whoever asks, not by the kind.
pub(super) const OF_FILE: [&str; 2] = ["case", "until"];

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
    Kind { name: "rest", keys: &["load", "points", "direction", "at_time"], counts: true, read: rest },
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

impl Task {
    /// A question of this kind from its keys.
    ///
    /// # Errors
    ///
    /// A kind that is not built in, a key that it does not know, or a value that does not fit its key.
    pub fn read(kind: &str, keys: &Keys) -> Result<Task, Error> {
        let Some(kind) = KINDS.iter().find(|k| k.name == kind) else {
            return Err(Error::plain(format!("the analysis `{kind}` is not built into this version"), ""));
        };
        let own: Vec<_> = keys.iter().filter(|(key, _)| !OF_FILE.contains(&key.as_str())).cloned().collect();
        if let Some(key) = kind.stranger(&own) {
            let known: Vec<String> = kind.keys.iter().chain(&CONTACTS).map(|k| k.to_string()).collect();
            let what = format!("key of `{}`", kind.name);
            return Err(Error::unknown(&what, key, &known, "see specht analyse --help"));
        }
        (kind.read)(keys)
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
