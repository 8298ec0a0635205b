//! Which solution to follow when the rigid force problem has several or none.
//!
//! | policy | several | none |
//! |---|---|---|
//! | continuous | the one that continues the previous forces; if none does, as compliant | impact without collision |
//! | compliant | the limit of contact stiffness → ∞ | impact without collision |
//! | painleve | smallest normal forces | impact without collision |
//! | klein | largest normal forces | impact without collision |
//! | stop | the run ends | the run ends |
//!
//! The compliant limit for one pair with `g̈_N = a λ_N + b`, a < 0 < b (PG-5.3-ROD): the closed branch λ* = −b/a is a
//! saddle of the fast motion, the open one attracts everything below λ*. A contact force below λ* (in particular none at
//! all) therefore leads to lift-off, one above it grows without bound: an impact without collision.

use crate::contact::{Forces, SolutionSet, Status};

use super::settings::Policy;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// Follow this solution.
    Take(usize),
    /// Velocities jump.
    Impact,
    /// End the run.
    Stop,
}

/// Choose; `previous` are the forces just before, when there were any.
pub(crate) fn choose(policy: Policy, set: &SolutionSet, previous: Option<&Forces>) -> Choice {
    match set.status {
        Status::Unique => Choice::Take(0),
        Status::Family if policy != Policy::Stop => {
            Choice::Take(nearest(set, previous).map_or(0, |(k, _)| k))
        }
        Status::Several => match policy {
            Policy::Stop => Choice::Stop,
            Policy::Painleve => Choice::Take(0),
            Policy::Klein => Choice::Take(set.solutions.len() - 1),
            Policy::Compliant => compliant(set, previous),
            Policy::Continuous => match nearest(set, previous) {
                Some((k, distance)) if distance <= CONTINUOUS => Choice::Take(k),
                _ => compliant(set, previous),
            },
        },
        Status::None if policy != Policy::Stop => Choice::Impact,
        _ => Choice::Stop,
    }
}

/// Forces that differ by less than this, relative to the largest, continue each other.
const CONTINUOUS: f64 = 1e-3;

/// The solution nearest to the previous normal forces, and its relative distance.
fn nearest(set: &SolutionSet, previous: Option<&Forces>) -> Option<(usize, f64)> {
    let previous = previous?;
    set.solutions
        .iter()
        .enumerate()
        .map(|(k, s)| {
            let (mut difference, mut size) = (0.0_f64, f64::MIN_POSITIVE);
            for (a, b) in s.forces.normal.iter().zip(&previous.normal) {
                difference = difference.max((a - b).abs());
                size = size.max(a.abs()).max(b.abs());
            }
            (k, difference / size)
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The branch that attracts from the present force: the one with the smaller forces, unless the force lies above the
/// saddle.
fn compliant(set: &SolutionSet, previous: Option<&Forces>) -> Choice {
    let total = |f: &Forces| f.normal.iter().map(|n| n.abs()).sum::<f64>();
    let now = previous.map_or(0.0, total);
    if set.solutions.len() == 2 && now > total(&set.solutions[1].forces) * (1.0 + CONTINUOUS) {
        Choice::Impact
    } else {
        Choice::Take(0)
    }
}
