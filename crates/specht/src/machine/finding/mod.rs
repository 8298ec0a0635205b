//! Answers: one type per question, whose fields are the keys of its JSON. Keys stay.

mod along;
mod attractors;
mod basin;
mod braking;
mod branch;
mod branch_curves;
mod branch_still;
mod equilibrium;
mod fit;
mod friction_law;
mod limit_cycle;
mod load;
mod map;
mod modes;
mod no_cycle;
mod painleve;
mod parts;
mod quasi_static;
mod rest;
mod return_map;
mod stability;
mod statistics;
mod sweep;
mod tensor;
mod true_motion;

pub use along::AlongFinding;
pub use basin::BasinFinding;
pub use braking::{Critical, Range, SelfBrakingFinding};
pub use branch::{BranchFinding, BranchPoint, BranchSpecial};
pub use equilibrium::{EquilibriumFinding, EquilibriumPoint};
pub use fit::{FitCurve, FitFinding};
pub use friction_law::{FrictionLawFinding, LawReport};
pub use limit_cycle::LimitCycleFinding;
pub use load::{Gamma, Load, LoadStatisticsFinding};
pub use map::{BorderPlace, GridColumn, MapFinding};
pub use modes::{BreakAwayFinding, Least, ModesFinding, OneMode, ResponseFinding};
pub use painleve::{Beside, HereFinding, HereSolution, SlipDirections};
pub use quasi_static::QuasiStaticFinding;
pub use rest::{Certificate, RestFinding, RestPoint, SpacePoint};
pub use return_map::{LyapunovFinding, ReturnMapFinding};
pub use stability::{GrowthMap, StabilityFinding};
pub use statistics::{Statistics, StatisticsFinding};
pub use sweep::SweepFinding;
pub use tensor::TensorFinding;
pub use true_motion::TrueMotionFinding;

// parts of findings are read by their fields; programs need no names for them
pub(crate) use fit::{FitCompared, FitData, FitTests, FitValidation};

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::{AnalysisError, frictional_contact};
use crate::expr::did_you_mean;
use crate::file::Diagnostic;
use crate::model;
use crate::model::TaskValue;
use crate::system::System;

use super::task::{PainleveTask, Task, View};
use super::{Error, Machine};

/// An answer.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Finding {
    /// `painleve` at a state.
    Here(HereFinding),
    /// `painleve` along a run.
    Along(AlongFinding),
    /// `painleve` over a curve or map.
    Map(Box<MapFinding>),
    /// `true-motion`.
    TrueMotion(TrueMotionFinding),
    /// `rest`.
    Rest(Box<RestFinding>),
    /// `self-braking`.
    SelfBraking(SelfBrakingFinding),
    /// `tensor`.
    Tensor(TensorFinding),
    /// `sweep`.
    Sweep(Box<SweepFinding>),
    /// `load-statistics`.
    Load(Box<LoadStatisticsFinding>),
    /// `statistics`.
    Statistics(Box<StatisticsFinding>),
    /// `limit-cycle`.
    LimitCycle(Box<LimitCycleFinding>),
    /// `equilibrium`.
    Equilibrium(Box<EquilibriumFinding>),
    /// `modes`.
    Modes(Box<ModesFinding>),
    /// `response`.
    Response(Box<ResponseFinding>),
    /// `break-away`.
    BreakAway(Box<BreakAwayFinding>),
    /// `stability`.
    Stability(Box<StabilityFinding>),
    /// `quasi-static`.
    QuasiStatic(Box<QuasiStaticFinding>),
    /// `return-map`.
    ReturnMap(Box<ReturnMapFinding>),
    /// `lyapunov`.
    Lyapunov(LyapunovFinding),
    /// `branch`.
    Branch(Box<BranchFinding>),
    /// `fit`.
    Fit(Box<FitFinding>),
    /// `friction-law`.
    FrictionLaw(Box<FrictionLawFinding>),
    /// `basin`.
    Basin(Box<BasinFinding>),
}

impl Finding {
    /// The word that says it all, when there is one.
    pub fn headline(&self) -> Option<&'static str> {
        match self {
            Finding::Here(f) => Some(f.word()),
            Finding::Along(f) => Some(f.verdict.map_or("open", |v| v.word())),
            Finding::TrueMotion(f) => Some(f.verdict.word()),
            Finding::Rest(f) => Some(f.verdict.word()),
            Finding::LimitCycle(f) => Some(f.headline()),
            Finding::QuasiStatic(f) => Some(if f.complete { "complete" } else { "ends" }),
            Finding::Stability(f) => Some(if f.stable { "stable" } else { "unstable" }),
            _ => None,
        }
    }

    /// The page of `specht explain` that says more.
    pub fn explain(&self) -> &'static str {
        match self {
            Finding::Here(f) => f.explain,
            Finding::Along(f) => f.explain,
            Finding::Map(f) => f.explain,
            Finding::TrueMotion(f) => f.explain,
            Finding::Rest(f) => f.explain,
            Finding::SelfBraking(f) => f.explain,
            Finding::Tensor(f) => f.explain,
            Finding::Sweep(f) => f.explain,
            Finding::Load(f) => f.explain,
            Finding::Statistics(f) => f.explain,
            Finding::LimitCycle(f) => f.explain,
            Finding::Equilibrium(f) => f.explain,
            Finding::Modes(f) => f.explain,
            Finding::Response(f) => f.explain,
            Finding::BreakAway(f) => f.explain,
            Finding::Stability(f) => f.explain,
            Finding::QuasiStatic(f) => f.explain,
            Finding::ReturnMap(f) => f.explain,
            Finding::Lyapunov(f) => f.explain,
            Finding::Branch(f) => f.explain,
            Finding::Fit(f) => f.explain,
            Finding::FrictionLaw(f) => f.explain,
            Finding::Basin(f) => f.explain,
        }
    }
}

impl Machine {
    /// Answers a question.
    ///
    /// # Errors
    ///
    /// A question that cannot be answered for this machine, with the reason and what to do.
    pub fn ask(&self, task: &Task) -> Result<Finding, Error> {
        self.ask_with(task, Watch::default())
    }

    /// The same, watched and interruptible: what is done until then is kept.
    ///
    /// # Errors
    ///
    /// As [`Machine::ask`].
    pub fn ask_with(&self, task: &Task, watch: Watch) -> Result<Finding, Error> {
        if let Task::Equilibrium(_)
        | Task::Modes(_)
        | Task::Response(_)
        | Task::BreakAway(_)
        | Task::QuasiStatic(_)
        | Task::Stability(_) = task
        {
            self.only_round()?;
        }
        let of_runs = matches!(
            task,
            Task::Sweep(_)
                | Task::Statistics(_)
                | Task::LoadStatistics(_)
                | Task::Fit(_)
                | Task::FrictionLaw(_)
        );
        if let (false, Some(touch)) = (of_runs, self.model().touches.first()) {
            let message =
                "this question looks at the contacts of the file; those of `[[touch]]` exist in runs alone";
            let help = "ask about runs: sweep, statistics, load-statistics";
            return Err(self.error_at(Diagnostic::error(touch.span, message, help)));
        }
        match task {
            Task::Painleve(task) => self.painleve(task, watch),
            Task::TrueMotion(task) => self.true_motion(task, watch).map(Finding::TrueMotion),
            Task::Rest(task) => self.rest(task, watch).map(|f| Finding::Rest(Box::new(f))),
            Task::SelfBraking(task) => self.self_braking(task, watch).map(Finding::SelfBraking),
            Task::Tensor(task) => self.tensor(task, watch).map(Finding::Tensor),
            Task::Sweep(task) => self.sweep(task, watch).map(|f| Finding::Sweep(Box::new(f))),
            Task::LoadStatistics(task) => {
                self.load_statistics(task, watch).map(|f| Finding::Load(Box::new(f)))
            }
            Task::Statistics(task) => self.statistics(task, watch).map(|f| Finding::Statistics(Box::new(f))),
            Task::ReturnMap(task) => self.return_map(task, watch).map(|f| Finding::ReturnMap(Box::new(f))),
            Task::Lyapunov(task) => self.lyapunov(task, watch).map(Finding::Lyapunov),
            Task::Branch(task) => self.branch(task, watch).map(|f| Finding::Branch(Box::new(f))),
            Task::Fit(task) => self.fit(task, watch).map(|f| Finding::Fit(Box::new(f))),
            Task::FrictionLaw(task) => {
                self.friction_law(task, watch).map(|f| Finding::FrictionLaw(Box::new(f)))
            }
            Task::Basin(task) => self.basin(task, watch).map(|f| Finding::Basin(Box::new(f))),
            Task::LimitCycle(task) => self.limit_cycle(task, watch).map(|f| Finding::LimitCycle(Box::new(f))),
            Task::Equilibrium(task) => {
                self.equilibrium(task, watch).map(|f| Finding::Equilibrium(Box::new(f)))
            }
            Task::Modes(task) => self.modes(task, watch).map(|f| Finding::Modes(Box::new(f))),
            Task::Response(task) => self.response(task, watch).map(|f| Finding::Response(Box::new(f))),
            Task::BreakAway(task) => self.break_away(task, watch).map(|f| Finding::BreakAway(Box::new(f))),
            Task::QuasiStatic(task) => {
                self.quasi_static(task, watch).map(|f| Finding::QuasiStatic(Box::new(f)))
            }
            Task::Stability(task) => self.stability(task, watch).map(|f| Finding::Stability(Box::new(f))),
        }
    }

    /// Whether all tasks of the file can be asked in this version.
    ///
    /// # Errors
    ///
    /// The first that cannot, at its place.
    pub fn check_tasks(&self) -> Result<(), Error> {
        use super::task::{CONTACTS, KINDS, OF_FILE};
        for task in &self.model().tasks {
            let wrong = |message, help| Err(self.error_at(Diagnostic::error(task.span, message, help)));
            let Some(kind) = KINDS.iter().find(|k| k.name == task.analyse) else {
                let built: Vec<&str> = KINDS.iter().map(|k| k.name).collect();
                return wrong(
                    format!(
                        "the analysis `{}` of task `{}` is not built into this version",
                        task.analyse, task.name
                    ),
                    format!("built are {}; --no-tasks runs without tasks", built.join(", ")),
                );
            };
            let keys: Vec<_> =
                task.keys.iter().filter(|(key, _)| !OF_FILE.contains(&key.as_str())).cloned().collect();
            if let Some(key) = kind.stranger(&keys) {
                let known: Vec<&str> = [&CONTACTS[..], &OF_FILE, kind.keys].concat();
                let help = match did_you_mean(key, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it knows {}", known.join(", ")),
                };
                return wrong(format!("`{}` has no key `{key}` (task `{}`)", kind.name, task.name), help);
            }
        }
        Ok(())
    }

    /// Answers a task of the file: one with a case of its own looks at that case.
    ///
    /// # Errors
    ///
    /// As [`Machine::ask`], and keys that do not fit.
    pub fn answer(&self, task: &model::Task, watch: Watch) -> Result<Finding, Error> {
        let case = task.keys.iter().find_map(|(key, value)| match value {
            TaskValue::Text(case) if key == "case" => Some(case),
            _ => None,
        });
        let mut question = Task::read(&task.analyse, &task.keys)?;
        if let Task::Fit(fit) = &mut question {
            fit.name = Some(task.name.clone());
        }
        let until = task.keys.iter().find_map(|(key, value)| match value {
            TaskValue::Number(until) if key == "until" => Some(*until),
            _ => None,
        });
        if let Some(until) = until.filter(|t| self.setup.until != Some(*t)) {
            return self.clone().until(until).answer(task, watch);
        }
        match case {
            Some(case) if self.options.case.as_ref() != Some(case) => {
                self.case(case)?.ask_with(&question, watch)
            }
            _ => self.ask_with(&question, watch),
        }
    }

    /// Refuse friction that depends on the direction of slip, or bounds a spin: linearised contacts have round sections.
    fn only_round(&self) -> Result<(), Error> {
        let of = |c: &&model::Contact| {
            let tensor = c.friction.as_ref().and_then(|f| f.tensor.as_ref());
            let plane = matches!(
                tensor,
                Some(model::FrictionTensor::Ellipse(_) | model::FrictionTensor::Patch { .. })
            );
            let spatial = self.model().is_spatial();
            let ball = spatial && c.friction.is_some() && matches!(c.geometry, model::Geometry::Pin(..));
            plane || ball || (spatial && tensor.is_some())
        };
        let Some(c) = self.model().contacts.iter().find(of) else { return Ok(()) };
        let message = format!("the friction of contact `{}` is not linearised in this version", c.name);
        let help = "give it one coefficient for this question, or look at a run";
        Err(self.error_at(crate::file::Diagnostic::error(c.span, message, help)))
    }

    fn painleve(&self, task: &PainleveTask, watch: Watch) -> Result<Finding, Error> {
        let contacts = self.frictional(&task.contacts)?;
        match &task.view {
            View::Here { look, stiffness } => {
                self.painleve_here(&contacts, look, stiffness, watch).map(Finding::Here)
            }
            View::Along => self.painleve_along(&contacts, watch).map(Finding::Along),
            View::Over { look, axes } => {
                self.painleve_over(&contacts, look, axes, watch).map(|f| Finding::Map(Box::new(f)))
            }
        }
    }

    /// The contacts of these names; all with friction when none is named.
    fn frictional(&self, names: &[String]) -> Result<Vec<usize>, Error> {
        let info = self.system().contacts();
        if names.is_empty() {
            return Ok((0..info.len())
                .filter(|&i| info[i].friction && !info[i].tangent.is_empty())
                .collect());
        }
        self.named(names)
    }

    /// The frictional contacts of these names.
    fn named(&self, names: &[String]) -> Result<Vec<usize>, Error> {
        let one = |n: &String| frictional_contact(self.system().contacts(), n).map_err(|e| self.refuse(e));
        names.iter().map(one).collect()
    }

    /// Names of the contacts of the system.
    fn contact_names(&self) -> Vec<String> {
        self.system().contacts().iter().map(|c| c.name.clone()).collect()
    }

    /// Names of the coordinates, with primes.
    fn coordinate_names(&self, primes: &str) -> Vec<String> {
        self.model().coordinates.iter().map(|c| format!("{}{primes}", c.name)).collect()
    }

    /// The machine with these parameters open.
    pub(super) fn opened(&self, live: Vec<String>) -> Result<Machine, Error> {
        let known = &self.model().parameters;
        if let Some(name) = live.iter().find(|n| !known.iter().any(|p| p.name == **n)) {
            let known = known.iter().map(|p| p.name.clone()).collect();
            return Err(self.refuse(AnalysisError::UnknownParameter { name: name.clone(), known }));
        }
        self.live(live)
    }

    /// Refuses an axis with an end that the file would refuse; its parameter is open.
    pub(super) fn takes(&self, name: &str, ends: [f64; 2]) -> Result<(), Error> {
        // what is no number at all is told with the axis
        let mut numbers = ends.into_iter().filter(|v| v.is_finite());
        numbers.try_for_each(|v| self.vary(&[(name, v)]).map(|_| ()))
    }
}
