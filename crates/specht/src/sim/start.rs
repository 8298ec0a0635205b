//! The consistent start.
//!
//! A gap within `10⁻⁹` of the length scale is closed, a slip within the same fraction of its terms is a candidate for stick.
//! A unilateral contact that starts deeper inside, a bilateral one that starts apart or moving apart is refused with
//! the number: nothing the user gave is ever changed silently.

use crate::system::{Discrete, Normal, State, System};

use super::classify::Sets;
use super::field::Field;
use super::watch::rate_size;

/// Gaps below this, relative to the length scale, are closed.
pub const GAP_ZERO: f64 = 1e-9;

/// Why a run cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A setting is wrong.
    #[error("{0}")]
    Settings(String),
    /// Sizes of the state do not fit the system.
    #[error("the initial state has {got} {what}, the system {expected}")]
    Size {
        /// What is counted.
        what: &'static str,
        /// Number given.
        got: usize,
        /// Number expected.
        expected: usize,
    },
    /// A number of the state is not finite.
    #[error("the initial state contains a number that is not finite")]
    NotFinite,
    /// A bilateral contact or pin is apart.
    #[error("the initial state breaks contact `{contact}`: its gap is {gap:.6e} m")]
    Apart {
        /// Name.
        contact: String,
        /// Gap.
        gap: f64,
    },
    /// A bilateral contact or pin moves apart.
    #[error("the initial velocities break contact `{contact}`: its gap changes with {rate:.6e} m/s")]
    Moving {
        /// Name.
        contact: String,
        /// Rate of the gap.
        rate: f64,
    },
    /// A unilateral contact is inside.
    #[error("contact `{contact}` starts {depth:.6e} m inside")]
    Inside {
        /// Name.
        contact: String,
        /// Depth.
        depth: f64,
    },
    /// The conditions could not be met by moving the free coordinates.
    #[error("the start cannot be made consistent: {0}")]
    Unsolvable(String),
}

pub(crate) fn check_sizes<S: System + ?Sized>(sys: &S, s: &State) -> Result<(), StartError> {
    let d = sys.dims();
    for (what, got, expected) in [
        ("positions", s.q.len(), d.q),
        ("velocities", s.u.len(), d.u),
        ("states", s.z.len(), d.z),
        ("memory values", s.memory.len(), d.memory),
    ] {
        if got != expected {
            return Err(StartError::Size { what, got, expected });
        }
    }
    if !s.t.is_finite() || s.q.iter().chain(&s.u).chain(&s.z).chain(&s.memory).any(|v| !v.is_finite()) {
        return Err(StartError::NotFinite);
    }
    Ok(())
}

/// Set latches and index sets from the numbers of the start.
pub(crate) fn classify<S: System + ?Sized>(
    field: &mut Field<S>,
    sets: &mut Sets,
    length: f64,
) -> Result<(), StartError> {
    let modes = field.discrete.modes.clone();
    sets.remember(&modes);
    field.evaluate();
    let Field { sys, state, discrete, eval, .. } = field;
    sys.latch(state, discrete as &mut Discrete, eval, false);
    field.evaluate();
    let (eval, u) = (&field.eval, &field.state.u);
    let scale = |rows: &[usize]| rows.iter().fold(0.0_f64, |m, &r| m.max(rate_size(eval, r, u)));
    for (i, c) in field.info.iter().enumerate() {
        let name = || c.name.clone();
        let rows: &[usize] = match &c.normal {
            Normal::Unilateral { row } => {
                let gap = eval.gap[*row];
                if gap < -GAP_ZERO * length {
                    return Err(StartError::Inside { contact: name(), depth: -gap });
                }
                sets.closed[i] = gap <= GAP_ZERO * length;
                continue;
            }
            Normal::Given { row: Some(_) } => continue,
            Normal::Given { row: None } => &[],
            Normal::Bilateral { row } => std::slice::from_ref(row),
            Normal::Pin { rows } => rows,
        };
        let gap =
            rows.iter().map(|&r| eval.gap[r]).fold(0.0_f64, |m, v| if v.abs() > m.abs() { v } else { m });
        if gap.abs() > GAP_ZERO * length {
            return Err(StartError::Apart { contact: name(), gap });
        }
        let rate =
            rows.iter().map(|&r| eval.rate(r, u)).fold(0.0_f64, |m, v| if v.abs() > m.abs() { v } else { m });
        if rate.abs() > GAP_ZERO * scale(rows).max(f64::MIN_POSITIVE) {
            return Err(StartError::Moving { contact: name(), rate });
        }
        sets.closed[i] = true;
    }
    Ok(())
}
