//! Schemes: from a [`crate::system::System`] and an initial state to a [`Trajectory`].
//!
//! * [`event_driven`]: between events the motion is smooth and integrated with error control; events are located exactly.
//! * [`time_stepping`]: fixed steps that contain any number of events, order 1; for chattering models and as a cross-check.
//! * `start`: the consistent initial state, equilibria.

mod audit;
mod border;
mod chart;
mod classify;
mod crossing;
mod decide;
mod event_driven;
mod field;
mod flips;
mod free_in_space;
mod instant;
mod ledger;
mod locate;
mod log;
mod marks;
mod mobility;
mod paradox;
mod passage;
mod policy;
mod project;
mod record;
mod segment;
mod settings;
mod settling;
mod shorten;
mod sink;
mod slopes;
pub(crate) mod space;
#[cfg(test)]
mod space_tests;
pub(crate) mod start;
pub(crate) mod strike;
mod tangential;
mod time_stepping;
pub(crate) mod tolerances;
mod trajectory;
mod unheld;
mod variation;
mod watch;
mod zeno;

pub use audit::{Audit, ENERGY_BOUND, FORCE_BOUND, IMPACT_BOUND, LENGTH_BOUND, TensorRemark};
pub use event_driven::{event_driven, event_driven_along, event_driven_into};
pub use ledger::Energy;
pub use settings::{Outside, Policy, Record, Scheme, Settings};
pub use sink::{EVENTS_KEPT, ROWS_KEPT, Sink};
pub use start::StartError;
pub(crate) use start::inside;

pub use crate::impact::Law as ImpactLaw;
pub use crate::ode::Choice as Integrator;
pub use time_stepping::{STEP_BOUND, time_stepping, time_stepping_into};
pub(crate) use trajectory::in_space;
pub use trajectory::{
    Alternative, Counts, ENERGY_COLUMNS, Event, Family, KINDS, Kind, Participant, Point, Sample, Samples,
    StartRecord, Status, Trajectory,
};
pub use variation::{Derivatives, Lost, Seed};
