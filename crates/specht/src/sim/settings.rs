//! Settings of a run: flat, plain, checked once at the door.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::impact::Law;
use crate::ode::Choice;

/// How time is advanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Event-driven: every event located.
    #[default]
    Event,
    /// Time-stepping (Moreau–Jean).
    Step,
}

impl Scheme {
    /// All schemes, in the order of the words in files and on the command line.
    pub const ALL: [Scheme; 2] = [Scheme::Event, Scheme::Step];

    /// The word used in files and outputs.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Scheme::Event => "event",
            Scheme::Step => "step",
        }
    }
}

/// Which solution to follow when the rigid force problem has several or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Continuity with the previous forces, then the compliant limit.
    #[default]
    Continuous,
    /// The limit of contact stiffness → ∞.
    Compliant,
    /// Painlevé: the solution with the smaller forces (opening counts as force zero); where there is none the run ends.
    Painleve,
    /// Klein: the stable branch, as Painlevé; where there is none, the slip stops at once.
    Klein,
    /// End the run there.
    Stop,
}

impl Policy {
    /// All policies, in the order of the words in files and on the command line.
    pub const ALL: [Policy; 5] =
        [Policy::Continuous, Policy::Compliant, Policy::Painleve, Policy::Klein, Policy::Stop];

    /// The word used in files and outputs.
    pub fn word(self) -> &'static str {
        match self {
            Policy::Continuous => "continuous",
            Policy::Compliant => "compliant",
            Policy::Painleve => "painleve",
            Policy::Klein => "klein",
            Policy::Stop => "stop",
        }
    }
}

/// What is recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Record {
    /// Every accepted step, and both sides of every event.
    #[default]
    Steps,
    /// Multiples of this interval (s), and both sides of every event.
    Every(f64),
    /// These instants (s, ascending) and nothing else: those of a measured series. Event-driven runs only.
    At(Arc<[f64]>),
    /// Both sides of every event only.
    Events,
    /// No rows at all: start, events and end are all that is kept.
    Nothing,
}

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// End time, s.
    pub until: f64,
    /// Relative tolerance of the result, default 1e-9; the local error per step is kept ten times smaller.
    pub tolerance: f64,
    /// What is recorded.
    pub record: Record,
    /// Impact law.
    pub impact: Law,
    /// What to do with several solutions or none.
    pub several: Policy,
    /// Method between events: explicit, implicit, or (default) whichever the problem asks for.
    pub method: Choice,
    /// Longest step, s; default infinite. Lower it when narrow peaks of given functions are missed.
    pub longest_step: f64,
    /// Height of a hop, relative to the length scale, below which a series of impacts ends; default 1e-11. Raising it fivefold
    /// changes positions by about that height.
    pub resolution: f64,
    /// Largest number of events of the whole run, default 1 000 000.
    pub max_events: usize,
    /// The run stops after this number of events; default never.
    pub stop_after: u64,
    /// Largest number of steps of the whole run, default 100 000 000.
    pub max_steps: u64,
    /// Time-stepping only: step, s.
    pub step: f64,
    /// Time-stepping only: θ, between 0.5 and 1; default 0.5.
    pub theta: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            until: 1.0,
            tolerance: 1e-9,
            record: Record::Steps,
            impact: Law::default(),
            several: Policy::default(),
            method: Choice::Auto,
            longest_step: f64::INFINITY,
            resolution: 1e-11,
            max_events: 1_000_000,
            stop_after: u64::MAX,
            max_steps: 100_000_000,
            step: 1e-3,
            theta: 0.5,
        }
    }
}

impl Settings {
    /// Settings with this end time, everything else by default.
    pub fn until(until: f64) -> Self {
        Settings { until, ..Default::default() }
    }

    /// What is wrong with these settings, if anything.
    pub(crate) fn problem(&self) -> Option<String> {
        if !self.until.is_finite() {
            return Some(format!("the end time must be finite, not {}", self.until));
        }
        if !(self.tolerance >= 1e-13 && self.tolerance <= 1e-2) {
            return Some(format!("the tolerance must lie between 1e-13 and 1e-2, not {}", self.tolerance));
        }
        if let Record::Every(e) = self.record
            && !(e > 0.0)
        {
            return Some(format!("the output interval must be positive, not {e}"));
        }
        if !(self.longest_step > 0.0) {
            return Some(format!("the longest step must be positive, not {}", self.longest_step));
        }
        if !(self.resolution > 0.0 && self.resolution <= 1e-3) {
            return Some(format!("the resolution must lie between 0 and 1e-3, not {}", self.resolution));
        }
        if self.stop_after == 0 {
            return Some("a run stops after at least one event".into());
        }
        if !(self.step > 0.0) {
            return Some(format!("the step must be positive, not {}", self.step));
        }
        if !(0.5..=1.0).contains(&self.theta) {
            return Some(format!("theta must lie between 0.5 and 1, not {}", self.theta));
        }
        None
    }
}

/// How the outside follows and ends a run.
#[derive(Default)]
pub struct Outside<'a> {
    /// Set it to end the run; the trajectory so far is returned with status `interrupted`.
    pub interrupt: Option<&'a AtomicBool>,
    /// Called with the present time after every step.
    pub progress: Option<&'a mut dyn FnMut(f64)>,
}

/// The message of a run that the outside ended.
pub(crate) fn interrupted(t: f64) -> String {
    format!("interrupted at t = {t}; what was computed until then is kept")
}
