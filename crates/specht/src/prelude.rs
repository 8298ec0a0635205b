//! The names with which most programs begin.

pub use crate::machine::task::PainleveTask;
pub use crate::machine::{Error, Finding, Machine, Run, Setup, Task};
pub use crate::sim::{Event, Kind, Policy, Scheme, Settings, Status, Trajectory};
pub use crate::system::{Mode, State, System};
