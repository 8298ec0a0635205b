//! The state that an analysis looks at: the start of the file, a state of a run, or either with some coordinates and
//! velocities changed.
//!
//! What is changed is held. The contacts that are closed there (bilateral contacts and pins always) hold the rest: first the
//! coordinates that the file declares as guesses follow, and if that is not enough all others do, as little as possible.

use super::AnalysisError;
use crate::model::CompiledSystem;
use crate::sim::{self, Sample, StartError, Trajectory};
use crate::system::{Mode, State, System};

/// Something that can be varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Live parameter, by its number.
    Parameter(usize),
    /// Coordinate, by its index.
    Coordinate(usize),
    /// Velocity, by its index.
    Velocity(usize),
}

/// The slot of a name: a live parameter `mu`, a coordinate `phi`, a velocity `phi'`.
///
/// # Errors
///
/// Nothing of this name.
pub(crate) fn slot(sys: &CompiledSystem, name: &str) -> Result<Slot, AnalysisError> {
    let model = sys.model();
    if let Some(k) = model.parameters.iter().find(|p| p.name == name).and_then(|p| p.live) {
        return Ok(Slot::Parameter(k));
    }
    let coordinate = |name: &str| model.coordinates.iter().position(|c| c.name == name);
    coordinate(name)
        .map(Slot::Coordinate)
        .or_else(|| name.strip_suffix('\'').and_then(coordinate).map(Slot::Velocity))
        .ok_or_else(|| {
            let parameters = model.parameters.iter().map(|p| p.name.clone());
            let moving = model.coordinates.iter().flat_map(|c| [c.name.clone(), format!("{}'", c.name)]);
            AnalysisError::UnknownAxis { name: name.to_string(), known: parameters.chain(moving).collect() }
        })
}

/// A state with what is known of its contacts.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The state.
    pub state: State,
    /// Contacts that stay closed when something is changed.
    closed: Vec<usize>,
    /// Contacts that stay at zero slip when a coordinate is changed.
    sticking: Vec<usize>,
    /// Coordinates that follow first.
    guess: Vec<usize>,
}

impl Place {
    /// The start of the file with the present parameters.
    ///
    /// # Errors
    ///
    /// The conditions of the start cannot be met.
    pub(crate) fn start(sys: &CompiledSystem) -> Result<Place, AnalysisError> {
        let mut place = Place::given(sys);
        place.state = start_of(sys)?;
        Ok(place)
    }

    /// The same before anything was made consistent.
    fn given(sys: &CompiledSystem) -> Place {
        let model = sys.model();
        let of_system =
            |list: &[usize]| list.iter().flat_map(|k| sys.contacts_of(*k)).collect::<Vec<usize>>();
        Place {
            state: sys.start(),
            closed: of_system(&model.start.closed),
            sticking: of_system(&model.start.sticking),
            guess: model.guesses(),
        }
    }

    /// A state of a run: its modes say what is closed and what sticks; positions and velocities are put right by their rounding.
    ///
    /// # Errors
    ///
    /// A state that breaks a contact by more than rounding.
    pub(crate) fn of_run(sys: &CompiledSystem, row: &Sample<'_>) -> Result<Place, AnalysisError> {
        let list = |f: &dyn Fn(usize) -> bool| (0..row.modes.len()).filter(|&i| f(i)).collect::<Vec<usize>>();
        let info = sys.contacts();
        let place = Place {
            state: State {
                t: row.t,
                q: row.q.to_vec(),
                u: row.u.to_vec(),
                z: row.z.to_vec(),
                memory: row.memory.to_vec(),
            },
            closed: list(&|i| row.modes[i] != Mode::Open && info[i].is_unilateral()),
            sticking: list(&|i| row.modes[i] == Mode::Stick),
            guess: (0..row.u.len()).collect(),
        };
        let state = place.consistent(sys, &place.state, [&place.guess; 2], true)?;
        Ok(Place { state, ..place })
    }

    /// The state with some coordinates and velocities changed; parameters in the list are passed over.
    ///
    /// # Errors
    ///
    /// The contacts cannot be kept.
    pub(crate) fn with(&self, sys: &CompiledSystem, changes: &[(Slot, f64)]) -> Result<State, AnalysisError> {
        let mut state = self.state.clone();
        let (mut held_q, mut held_u) = (Vec::new(), Vec::new());
        for &(slot, value) in changes {
            match slot {
                Slot::Coordinate(k) if k < state.q.len() => {
                    state.q[k] = value;
                    held_q.push(k);
                }
                Slot::Velocity(k) if k < state.u.len() => {
                    state.u[k] = value;
                    held_u.push(k);
                }
                _ => {}
            }
        }
        if held_q.is_empty() && held_u.is_empty() {
            return Ok(state);
        }
        let without = |list: &mut dyn Iterator<Item = usize>, held: &[usize]| {
            list.filter(|k| !held.contains(k)).collect::<Vec<usize>>()
        };
        let stick = held_u.is_empty();
        let few = [&held_q, &held_u].map(|held| without(&mut self.guess.iter().copied(), held));
        let first = self.consistent(sys, &state, [&few[0], &few[1]], stick);
        first.or_else(|e| {
            let all = [&held_q, &held_u].map(|held| without(&mut (0..state.u.len()), held));
            self.consistent(sys, &state, [&all[0], &all[1]], stick).map_err(|_| e)
        })
    }

    /// The place with some coordinates and velocities changed; they follow nothing from then on.
    ///
    /// # Errors
    ///
    /// The contacts cannot be kept.
    pub(crate) fn moved(
        mut self,
        sys: &CompiledSystem,
        changes: &[(Slot, f64)],
    ) -> Result<Place, AnalysisError> {
        self.state = self.with(sys, changes)?;
        self.guess
            .retain(|&k| !changes.iter().any(|c| c.0 == Slot::Coordinate(k) || c.0 == Slot::Velocity(k)));
        if changes.iter().any(|c| matches!(c.0, Slot::Velocity(_))) {
            self.sticking.clear();
        }
        Ok(self)
    }

    fn consistent(
        &self,
        sys: &CompiledSystem,
        state: &State,
        free: [&[usize]; 2],
        stick: bool,
    ) -> Result<State, AnalysisError> {
        let sticking: &[usize] = if stick { &self.sticking } else { &[] };
        Ok(sim::start::consistent_by(sys, state, free, &self.closed, sticking)?)
    }
}

/// The end of a run as the beginning of the next one, with other parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Carried {
    /// Its state, at the time at which runs start.
    pub(crate) state: State,
    /// Contacts that were closed.
    pub(crate) closed: Vec<usize>,
    /// Contacts that stuck.
    pub(crate) sticking: Vec<usize>,
}

impl Carried {
    /// The end of a run.
    pub(crate) fn of(sys: &CompiledSystem, run: &Trajectory) -> Carried {
        let (modes, info) = (&run.last.modes, sys.contacts());
        let list = |f: &dyn Fn(usize) -> bool| (0..modes.len()).filter(|&i| f(i)).collect::<Vec<usize>>();
        Carried {
            state: State { t: run.start.point.state.t, ..run.last.state.clone() },
            closed: list(&|i| modes[i] != Mode::Open && info[i].is_unilateral()),
            sticking: list(&|i| modes[i] == Mode::Stick),
        }
    }

    /// The state with its closed contacts closed again under the present parameters.
    ///
    /// # Errors
    ///
    /// The contacts cannot be kept.
    pub(crate) fn mended(&self, sys: &CompiledSystem) -> Result<State, StartError> {
        let all: Vec<usize> = (0..self.state.u.len()).collect();
        sim::start::consistent_by(sys, &self.state, [&all, &all], &self.closed, &self.sticking)
    }
}

/// The start of the file with the present parameters, made consistent.
///
/// # Errors
///
/// The conditions of the start cannot be met.
pub fn start_of(sys: &CompiledSystem) -> Result<State, StartError> {
    let Place { state, closed, sticking, guess } = Place::given(sys);
    if sys.model().start.equilibrium {
        return sim::start::equilibrium(sys, &state, &closed);
    }
    sim::start::consistent(sys, &state, &guess, &closed, &sticking)
}
