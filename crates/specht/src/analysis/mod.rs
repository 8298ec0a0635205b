//! What an analysis concludes about a system: paradoxes of friction, what really happens in them.
//!
//! ```text
//! (E + L ε μ) R = R⁰        R normal reactions of the frictional pairs, R⁰ without friction, ε = diag(sign R)
//! ```
//!
//! * `reactions`: R⁰ and the influence matrix L of a state (ANH-4.2-INDEX, ANH-5.1-MULTI).
//! * `branches`: all consistent sign patterns of sliding pairs.
//! * `critical`, `journal`: the friction at which uniqueness ends; journals, whose bound is a norm.
//! * `mod@painleve`: the finding at a state: verdict, critical μ, every solution with its forces and its stability.
//! * `particles`: the same forces of friction on every body.
//! * `mod@along`: the same along a run, with the instants at which the verdict changes.
//! * `map`, `border`, `junction`: the same over one or two of parameters, coordinates and velocities, with borders
//!   located. `place`: the state that is looked at.
//! * `fast`, `mod@true_motion`: the compliant contact and its limit: which branch attracts, tangential impact, seizure.
//!
//! Starting and jamming:
//!
//! * `rest`: does it stay at rest, by complete enumeration; the load at which it starts (ANH-2.4-REST).
//! * `stagnation`, `arcs`: directions of a force that cannot start it (ANH-2.5-SELFBRAKE).
//! * `probe`, `start_load`, `self_braking`: the same questions asked of a model; efficiency, critical friction.
//! * `statics`: balance with friction as linear programs. `one_pair`: the book's theorems for one pair.
//!
//! In space:
//!
//! * `cones`: the same balance with exact cones of friction, with proofs. `rest_space`, `braking_space`: rest, loads, self-braking by them.
//! * `flat`: contacts that slide in a plane, reduced to one row along their slip. `slip_map`: paradoxes over the direction of slip.
//!
//! Rest, vibration and squeal:
//!
//! * `linear`: a system linearised about a motion with every contact held; its reduced matrix and spectrum.
//! * `modes`: modes of vibration, response to a harmonic force, amplitude at which stuck contacts give way.
//! * `steady`, `squeal`: steady sliding and its stability.
//! * `slow`: equilibria under slow loads, and where slowness ends.
//! * `balance`, `equilibria`, `branch`: equilibria without friction, over a parameter. `bands`: the set of rest with friction.
//!   `attraction`: what may be said of its stability.
//!
//! * `fit`: parameters of measured data with their errors (METH-FIT). `oscillogram`: records of stick-slip (ANH-6.2-OSC).
//! * `tensor`, `tensor_set`, `tensor_space`, `polynomial`: friction tensors and their regularity (VAG-1, VAG-5).

pub(crate) mod along;
pub(crate) mod arcs;
pub(crate) mod attraction;
pub(crate) mod balance;
pub(crate) mod bands;
pub(crate) mod border;
mod braking_space;
pub(crate) mod branch;
pub(crate) mod branches;
pub(crate) mod cones;
mod contour;
pub(crate) mod critical;
pub(crate) mod cycle;
pub(crate) mod equilibria;
pub(crate) mod fast;
pub(crate) mod fit;
pub(crate) mod flat;
pub(crate) mod journal;
pub(crate) mod junction;
pub(crate) mod line;
pub(crate) mod linear;
pub(crate) mod map;
pub(crate) mod modes;
pub(crate) mod one_pair;
pub(crate) mod oscillogram;
pub(crate) mod painleve;
pub(crate) mod particles;
pub(crate) mod place;
pub(crate) mod polynomial;
pub(crate) mod probe;
pub(crate) mod reactions;
pub(crate) mod rest;
pub(crate) mod rest_space;
pub(crate) mod seeds;
pub(crate) mod self_braking;
pub(crate) mod slip_map;
pub(crate) mod slow;
pub(crate) mod snapshot;
pub(crate) mod squeal;
pub(crate) mod stagnation;
pub(crate) mod start_load;
pub(crate) mod statics;
pub(crate) mod steady;
pub(crate) mod tensor;
pub(crate) mod tensor_set;
mod tensor_space;
pub(crate) mod trace;
pub(crate) mod true_motion;
mod uniform;

pub use along::{Along, Meeting};
pub use arcs::Arc;
pub use attraction::Probe;
pub use border::Kind as BorderKind;
pub use fast::Character;
pub use map::{Axis, Map, Sample, Watch};
pub use painleve::{Painleve, Verdict, painleve};
pub use rest::RestVerdict;
pub use self_braking::PointVerdict;
pub use slow::Loss;
pub use snapshot::Snapshot;
pub use squeal::Instability;
pub use stagnation::Stagnation;
pub use true_motion::{Outcome, TrueMotion, true_motion};

use crate::sim::StartError;
use crate::system::ContactInfo;

/// A question that cannot be answered, and what to do about it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// No contact of this name.
    #[error("there is no contact `{name}`; the contacts are {}", list(known))]
    UnknownContact {
        /// As asked.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The contact has no friction.
    #[error(
        "contact `{0}` has no friction: its reaction is unique and no friction coefficient matters; give it `friction`"
    )]
    NoFriction(String),
    /// No contact at all has friction.
    #[error("no contact of the model has friction, so there is nothing to decide; give a contact `friction`")]
    NoPair,
    /// The contact is open at this state.
    #[error(
        "contact `{0}` is open at this state; start with the contact closed (`[start] closed = [\"{0}\"]`)"
    )]
    Open(String),
    /// Two tangential directions.
    #[error("contact `{0}` has two tangential directions; this question is for planar contacts")]
    Spatial(String),
    /// The constraints leave no motion.
    #[error(
        "the mechanism has no degree of freedom: {constraints} constraints hold {velocities} velocities; remove a constraint or ask `specht check`"
    )]
    NoFreedom {
        /// Independent constraints.
        constraints: usize,
        /// Velocities.
        velocities: usize,
    },
    /// M is singular on the motions that the constraints allow.
    #[error(
        "the mass matrix is singular on motions that no constraint holds; give the massless part a mass or a constraint"
    )]
    SingularMass,
    /// Nothing holds the structure against its load.
    #[error(
        "nothing holds the machine against this load: no spring and no contact; a slow path needs a structure that is held"
    )]
    SingularStiffness,
    /// A number is not finite at this state.
    #[error("the equations are not finite at this state{0}")]
    NotFinite(String),
    /// More pairs than can be enumerated.
    #[error(
        "{pairs} closed pairs are more than can be enumerated; leave out `friction` where it does not matter, or replace many contacts of one body by the two or three that carry it"
    )]
    TooMany {
        /// Pairs.
        pairs: usize,
        /// Limit of pairs, or of the work of the search.
        limit: usize,
    },
    /// No parameter of this name.
    #[error("there is no parameter `{name}` to vary; the parameters are {}", list(known))]
    UnknownParameter {
        /// As asked.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// Nothing of this name can be varied.
    #[error("there is no parameter, coordinate or velocity `{name}` to vary; there are {}", list(known))]
    UnknownAxis {
        /// As asked.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// No point of a curve or map could be analysed.
    #[error("no point of the map can be analysed; at the first one, {0}")]
    NoPoint(Box<AnalysisError>),
    /// A key of the task is wrong.
    #[error("{0}")]
    Key(String),
    /// The state does not satisfy the constraints.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The interrupt flag was set.
    #[error("interrupted")]
    Interrupted,
}

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Index of a contact by its name.
///
/// # Errors
///
/// Unknown name, no friction.
pub fn frictional_contact(info: &[ContactInfo], name: &str) -> Result<usize, AnalysisError> {
    let i = info.iter().position(|c| c.name == name).ok_or_else(|| AnalysisError::UnknownContact {
        name: name.to_string(),
        known: info.iter().map(|c| c.name.clone()).collect(),
    })?;
    if !info[i].friction || info[i].tangent.is_empty() {
        return Err(AnalysisError::NoFriction(name.to_string()));
    }
    Ok(i)
}

#[cfg(test)]
mod rest_tests;
