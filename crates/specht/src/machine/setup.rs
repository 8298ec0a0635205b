//! How a machine is run: what the caller asks for, over what its file says, over the defaults.

use serde::{Deserialize, Serialize};

use crate::file::Diagnostic;
use crate::impact::Law;
use crate::ode::Choice;
use crate::sim::{Policy, Record, Scheme, Settings};

use super::{Error, Machine};

/// Steps of the time-stepping scheme when nobody says how long they are.
const STEPS: f64 = 2000.0;

/// What is asked for instead of the file's `[run]`; `None` leaves it as it is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Setup {
    /// End time, s.
    pub until: Option<f64>,
    /// Scheme; default event-driven.
    pub scheme: Option<Scheme>,
    /// Step of the time-stepping scheme, s; default a 2000th of the end time.
    pub step: Option<f64>,
    /// Tolerance of the integration; default 1e-9.
    pub tolerance: Option<f64>,
    /// Method between events; default whichever the problem asks for.
    pub method: Option<Choice>,
    /// Output interval, s; default every accepted step.
    pub every: Option<f64>,
    /// Impact law; default Poisson.
    pub impact: Option<Law>,
    /// Number of events after which the run stops; default never.
    pub events: Option<u64>,
    /// Which solution when there are several or none; default continuous.
    pub several: Option<Policy>,
    /// Parameters with respect to which the run is differentiated; empty: those of the file.
    pub sensitivity: Vec<String>,
}

impl Machine {
    /// Scheme and settings of a run.
    ///
    /// # Errors
    ///
    /// No end time, a setting out of its range, or events asked of bodies that touch wherever they meet.
    pub fn settings(&self) -> Result<(Scheme, Settings), Error> {
        let (asked, file) = (&self.setup, &self.system().model().run);
        let value = |node| self.system().constant(node);
        let Some(until) = asked.until.or(file.until.map(value)) else {
            let help = "write  [run] until = \"1 s\"  or give --until \"1 s\"";
            return Err(Error::plain(format!("{}: the model has no end time", self.source.label), help));
        };
        // bodies that touch wherever they meet need steps
        let usual = if self.system().model().touches.is_empty() { Scheme::default() } else { Scheme::Step };
        let scheme = asked.scheme.or(file.scheme).unwrap_or(usual);
        if let (Scheme::Event, Some(rule)) = (scheme, self.system().model().touches.first()) {
            let help = "write  [run] scheme = \"step\", or leave `scheme` out";
            let text = "bodies that touch wherever they meet need time steps, and the scheme is \"event\"";
            let span = rule.span;
            return Err(self.error_at(Diagnostic::error(span, text, help)));
        }
        let defaults = Settings::until(until);
        let step = match scheme {
            Scheme::Step => until / STEPS,
            Scheme::Event => defaults.step,
        };
        let settings = Settings {
            tolerance: asked.tolerance.or(file.tolerance.map(value)).unwrap_or(defaults.tolerance),
            record: asked.every.or(file.every.map(value)).map_or(defaults.record, Record::Every),
            impact: asked.impact.or(file.impact).unwrap_or_default(),
            method: asked.method.or(file.method).unwrap_or_default(),
            several: asked.several.or(file.several).unwrap_or_default(),
            stop_after: asked.events.or(file.events.map(|n| value(n).max(0.0) as u64)).unwrap_or(u64::MAX),
            step: asked.step.or(file.step.map(value)).unwrap_or(step),
            ..defaults
        };
        match settings.problem() {
            Some(problem) => Err(self.labelled(problem)),
            None => Ok((scheme, settings)),
        }
    }
}
