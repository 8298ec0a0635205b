//! The state that a question looks at: the start, an instant of the run, or either with some coordinates and velocities changed.

use std::borrow::Cow;

use crate::analysis::AnalysisError;
use crate::analysis::map::Watch;
use crate::analysis::place::{Place, Slot, slot};
use crate::model::{Input, Model, Parameter, Span, Start};
use crate::sim::{Outside, Settings, Trajectory};
use crate::system::State;

use super::task::Look;
use super::{Error, Machine};

impl Machine {
    /// The place asked for; `None` means the start of the file.
    pub(super) fn place(&self, look: &Look, watch: Watch) -> Result<Option<Place>, Error> {
        let mut place = match look.at_time {
            None => None,
            Some(t) => Some(self.instant(t, watch)?),
        };
        if let Some(at) = &look.at {
            let mut changes = Vec::new();
            for (name, value) in at {
                changes.push((self.moving_slot(name)?, *value));
            }
            let from = match place {
                Some(place) => place,
                None => Place::start(self.system()).map_err(|e| self.refuse(e))?,
            };
            place = Some(from.moved(self.system(), &changes).map_err(|e| self.refuse(e))?);
        }
        Ok(place)
    }

    /// The state asked for.
    pub(super) fn state(&self, look: &Look, watch: Watch) -> Result<State, Error> {
        match self.place(look, watch)? {
            Some(place) => Ok(place.state),
            None => self.start(),
        }
    }

    /// The model, brought to rest at the position that the run has at an instant; time stands still there.
    pub(super) fn at_rest(&self, time: Option<f64>, watch: Watch) -> Result<Cow<'_, Model>, Error> {
        let Some(time) = time else { return Ok(Cow::Borrowed(self.model())) };
        let state = self.instant(time, watch)?.state;
        let mut model = self.model().clone();
        let live = model.live_parameters();
        for input in model.inputs.iter_mut().filter(|i| **i == Input::Time) {
            *input = Input::Parameter(live);
        }
        model.parameters.push(Parameter {
            name: "t".into(),
            value: time,
            range: None,
            about: String::new(),
            span: Span::default(),
            live: Some(live),
        });
        let zero = model.graph.num(0.0);
        for (c, q) in model.coordinates.iter_mut().zip(&state.q) {
            (c.start, c.rate, c.guess) = (model.graph.num(*q), zero, false);
        }
        let turned = state.q[model.coordinates.len().min(state.q.len())..].chunks_exact(4);
        for (f, p) in model.free.iter_mut().zip(turned) {
            f.start = std::array::from_fn(|k| model.graph.num(p[k]));
            (f.spin, f.guess) = ([zero; 3], false);
        }
        for (z, value) in model.states.iter_mut().zip(&state.z) {
            z.start = model.graph.num(*value);
        }
        for (m, value) in model.memory.iter_mut().zip(&state.memory) {
            m.start = model.graph.num(*value);
        }
        model.start = Start::default();
        Ok(Cow::Owned(model))
    }

    /// Whether a name is a coordinate or a velocity.
    pub(super) fn is_moving(&self, name: &str) -> bool {
        matches!(slot(self.system(), name), Ok(Slot::Coordinate(_) | Slot::Velocity(_)))
    }

    /// A run inside a question, watched.
    pub(super) fn watched(&self, settings: Settings, watch: Watch) -> Result<Trajectory, Error> {
        let (scheme, start) = (self.setup.scheme.or(self.model().run.scheme), self.start()?);
        let until = settings.until;
        let mut show = |t: f64| {
            if let Some(progress) = watch.progress {
                progress(t / until);
            }
        };
        let mut outside = Outside { interrupt: watch.interrupt, progress: Some(&mut show) };
        Ok(self.run_from(&start, scheme.unwrap_or_default(), settings, &mut outside)?.trajectory)
    }

    fn moving_slot(&self, name: &str) -> Result<Slot, Error> {
        if self.model().parameters.iter().any(|q| q.name == *name) {
            let help = format!("write --set {name}=… instead of --at");
            return Err(Error::plain(format!("`{name}` is a parameter, not a part of the state"), help));
        }
        slot(self.system(), name).map_err(|e| match e {
            AnalysisError::UnknownAxis { name, .. } if name.is_empty() => {
                Error::plain("`at` needs the name of a coordinate or velocity", "")
            }
            e => self.refuse(e),
        })
    }

    /// The instant `t` of the run.
    fn instant(&self, t: f64, watch: Watch) -> Result<Place, Error> {
        let from = self.start()?.t;
        if !t.is_finite() || t < from {
            return Err(Error::plain(
                format!("the run starts at t = {from} s; there is no instant t = {t} s"),
                "",
            ));
        }
        if t == from {
            return Place::start(self.system()).map_err(|e| self.refuse(e));
        }
        // the model needs no end time of its own for this
        let timed = self.setup.until.is_some() || self.model().run.until.is_some();
        let (_, settings) = if timed { self.settings() } else { self.clone().until(t).settings() }?;
        let run = self.watched(Settings { until: t, ..settings }, watch)?;
        if run.time < t * (1.0 - 1e-12) {
            let why = if run.message.is_empty() { String::new() } else { format!(": {}", run.message) };
            return Err(Error::plain(
                format!(
                    "the run ends before t = {t} s: it is {} at t = {} s{why}",
                    run.status.word(),
                    run.time
                ),
                "ask for an earlier instant, or look at all of them with --along",
            ));
        }
        let row = run.samples.rows().last().ok_or_else(|| Error::plain("the run recorded nothing", ""))?;
        Place::of_run(self.system(), &row).map_err(|e| self.refuse(e))
    }
}
