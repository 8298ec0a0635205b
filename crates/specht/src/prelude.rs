//! The names with which most programs begin.

pub use crate::machine::{Error, Machine, Run, Setup};
pub use crate::sim::{Kind, Policy, Scheme, Settings, Status, Trajectory};
pub use crate::system::{Mode, State, System};
