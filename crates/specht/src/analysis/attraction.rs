//! What may be said about the stability of rest with friction (METH-REST-STAB)
//!
//! Friction takes energy from every motion. Where the energy of what the contacts leave free has a strict minimum, and neither damping nor a friction that
//! falls with the slip feeds the motion, the set of rest attracts. [WouwLeine2004] Else nothing is proved, and a probe tells what disturbed motions do.

use super::AnalysisError;
use super::linear::{Hold, Linear, Reduced};
use crate::linalg::{Mat, eigenvalues, max_abs};
use crate::sim::{Record, Settings, event_driven};
use crate::system::{Mode, State, System};

/// Entries this small beside the largest are rounding.
const ROUNDING: f64 = 1e-9;
/// Disturbed motions of a probe.
const RUNS: usize = 32;
/// Steps of each at most.
const STEPS: u64 = 5000;
/// Way over which friction alone would stop them, in lengths of the machine.
const WAY: f64 = 1e-3;

/// Disturbed motions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Probe {
    /// How many.
    pub runs: usize,
    /// Share that came to rest.
    pub rest: f64,
    /// Largest change of a coordinate at their ends.
    pub excursion: f64,
}

/// Contacts held closed, without friction or sliding.
fn held(linear: &Linear<'_, impl System + ?Sized>, closed: &[bool], slides: bool) -> Vec<Hold> {
    let one = |(i, c): (usize, &crate::system::ContactInfo)| match closed[i] {
        false => Hold::Open,
        true if slides && c.friction && !c.tangent.is_empty() => Hold::Slide([1.0, 0.0]),
        true => Hold::Smooth,
    };
    linear.info.iter().enumerate().map(one).collect()
}

/// Whether the set of rest around a state attracts; false means that nothing is proved.
///
/// # Errors
///
/// No derivatives.
pub(crate) fn is_attractive<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[bool],
) -> Result<bool, AnalysisError> {
    let reduced = |slides: bool, flat: bool| -> Result<Option<Reduced>, AnalysisError> {
        let mut linear = Linear::new(sys, state.clone());
        linear.state.u.fill(0.0);
        let hold = held(&linear, closed, slides);
        linear.hold(&hold);
        linear.flat = flat;
        match linear.solve().and_then(|()| linear.reduced(false)) {
            Ok(r) => Ok(Some(r)),
            Err(AnalysisError::SingularMass | AnalysisError::NoFreedom { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    };
    let Some(smooth) = reduced(false, false)? else { return Ok(false) };
    let (p, n) = (smooth.positions, smooth.velocities);
    let block =
        |r: &Reduced, column: usize, sign: f64| Mat::from_fn(n, n, |i, j| sign * r.a[(p + i, column + j)]);
    let stiffness = block(&smooth, 0, -1.0);
    let uneven = (0..n * n).map(|k| (stiffness[(k / n, k % n)] - stiffness[(k % n, k / n)]).abs());
    if uneven.fold(0.0, f64::max) > ROUNDING * stiffness.max_abs() || !is_positive(&stiffness, true) {
        return Ok(false);
    }
    // damping, and what the slope of friction at zero slip adds
    let mut damping = block(&smooth, p, -1.0);
    if let (Some(with), Some(without)) = (reduced(true, false)?, reduced(true, true)?) {
        let (with, without) = (block(&with, p, -1.0), block(&without, p, -1.0));
        (0..n * n).for_each(|k| {
            damping[(k / n, k % n)] += with[(k / n, k % n)] - without[(k / n, k % n)];
        });
    }
    Ok(is_positive(&damping, false))
}

/// Whether the symmetric part of a matrix is positive definite (or semidefinite, to rounding).
fn is_positive(a: &Mat, strictly: bool) -> bool {
    let even = Mat::from_fn(a.rows(), a.rows(), |i, j| 0.5 * (a[(i, j)] + a[(j, i)]));
    let size = even.max_abs();
    let least = if strictly { ROUNDING * size } else { -ROUNDING * size };
    eigenvalues(&even).is_some_and(|all| all.iter().all(|v| v.re > least || (!strictly && v.re == 0.0)))
}

/// Motions from the state with velocities in many directions, whose energy friction alone would take on a small way. `normals`: contacts with their
/// normal forces.
///
/// # Errors
///
/// No derivatives.
pub(crate) fn probe<S: System + ?Sized>(
    sys: &S,
    state: &State,
    closed: &[bool],
    normals: &[(usize, f64)],
    settings: &Settings,
) -> Result<Option<Probe>, AnalysisError> {
    let mut linear = Linear::new(sys, state.clone());
    let hold = held(&linear, closed, false);
    linear.hold(&hold);
    let basis = match linear.allowed() {
        Ok(basis) => basis,
        Err(AnalysisError::NoFreedom { .. } | AnalysisError::SingularMass) => return Ok(None),
        Err(e) => return Err(e),
    };
    let bounds: f64 = normals.iter().map(|&(i, n)| linear.eval.mu_static[i] * n.abs()).sum();
    let energy = bounds * WAY * sys.length_scale();
    if !(energy > 0.0) {
        return Ok(None);
    }
    let settings = Settings { record: Record::Nothing, max_steps: STEPS, ..settings.clone() };
    let (mut rest, mut excursion) = (0, 0.0_f64);
    for k in 0..RUNS {
        let y: Vec<f64> = (0..basis.cols()).map(|j| (1.3 + 2.7 * k as f64 + 4.1 * j as f64).sin()).collect();
        let size = crate::linalg::dot(&y, &y).sqrt();
        let mut start = state.clone();
        for (i, u) in start.u.iter_mut().enumerate() {
            let v: f64 = y.iter().enumerate().map(|(j, y)| basis[(i, j)] * y).sum();
            *u = v / size * (2.0 * energy).sqrt();
        }
        let Ok(run) = event_driven(sys, &start, &settings, &mut Default::default()) else { continue };
        let end = &run.last;
        let still = |(i, c): (usize, &crate::system::ContactInfo)| {
            !closed[i] || !c.friction || c.tangent.is_empty() || end.modes[i] == Mode::Stick
        };
        rest += usize::from(sys.contacts().iter().enumerate().all(still));
        let moved: Vec<f64> = end.state.q.iter().zip(&state.q).map(|(a, b)| a - b).collect();
        excursion = excursion.max(max_abs(&moved));
    }
    Ok(Some(Probe { runs: RUNS, rest: rest as f64 / RUNS as f64, excursion }))
}
