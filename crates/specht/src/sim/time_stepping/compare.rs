//! The same run with longer steps: what the step does to the result
//!
//! The scheme has order one or better, so the end of a run and that of the same run with twice the step differ by the error of the
//! first at least, and with four times the step by three times that; two, because one may agree by chance. Differences are measured per coordinate against the range in which it moved, in the metric of M: a coordinate
//! that hardly moves counts as if it moved by a tenth of the largest motion, and that by 10⁻⁶ of the natural one at least. Where a longer
//! step ends the run in another way, half the step is asked instead. A run of one step has no longer one: half and quarter of it are asked.

use crate::contact::Measure;
use crate::system::{Discrete, State, System};

use super::super::settings::{Outside, Record, Settings};
use super::super::sink::Delivery;
use super::super::trajectory::Trajectory;
use super::tolerances::{AT_REST, POSITION_NOISE};

/// Least range of a coordinate, relative to the largest motion.
const LEAST: f64 = 0.1;
/// The error by these differences, dimensionless; infinite when no other run ends as the first did. `None` when interrupted.
pub(super) fn with_longer_steps<S: System + ?Sized>(
    sys: &S,
    start: &State,
    settings: &Settings,
    outside: &Outside<'_>,
    out: &Trajectory,
    range: &[f64],
) -> Option<f64> {
    let (mut error, mut compared) = (0.0_f64, 0);
    // step, and what the error of order one is of the difference; half the step only when a longer one says nothing
    let several = [(2.0, 1.0), (4.0, 1.0 / 3.0), (0.5, 2.0)];
    let (step, others) = match out.counts.steps {
        1 => (settings.step.min(settings.until - start.t), &[(0.5, 2.0), (0.25, 4.0 / 3.0)][..]),
        _ => (settings.step, &several[..]),
    };
    for &(factor, part) in others {
        if compared == 2 {
            break;
        }
        let settings = Settings { step: factor * step, record: Record::Events, ..settings.clone() };
        let mut quiet = Outside { interrupt: outside.interrupt, progress: None };
        let Ok((other, _)) = super::run(sys, start, &settings, &mut quiet, Delivery::new(None)) else {
            continue;
        };
        if outside.interrupt.is_some_and(|i| i.load(std::sync::atomic::Ordering::Relaxed)) {
            return None;
        }
        if other.status == out.status {
            error = error.max(part * difference(sys, out, &other, range, start.t));
            compared += 1;
        }
    }
    Some(if compared > 0 { error } else { f64::INFINITY })
}

fn difference<S: System + ?Sized>(sys: &S, a: &Trajectory, b: &Trajectory, range: &[f64], begin: f64) -> f64 {
    let d = sys.dims();
    let mut eval = sys.memory();
    let mut discrete = Discrete { modes: a.last.modes.clone(), ..Discrete::new(&d) };
    sys.latch(&a.last.state, &mut discrete, &mut eval, false);
    sys.evaluate(&a.last.state, &discrete, &mut eval);
    let normals: Vec<usize> = sys.contacts().iter().flat_map(|c| c.normal_rows()).copied().collect();
    let length = sys.length_scale();
    // q of another size than u (quaternions) has no inertia of its own
    let reach = match d.q == d.u {
        true => Measure::reach(&eval, &normals, |row| sys.gap_scale(row), length),
        false => vec![length; d.q],
    };
    let largest = (0..d.q).fold(AT_REST, |m, k| m.max(range[k] / reach[k]));
    let time = (a.time - b.time).abs() / (a.time - begin).abs().max(f64::MIN_POSITIVE);
    (0..d.q).fold(time, |m, k| {
        let (x, y) = (a.last.state.q[k], b.last.state.q[k]);
        let scale = range[k].max(LEAST * largest * reach[k]).max(f64::MIN_POSITIVE);
        // rounding of the coordinate itself is no error of the step
        m.max(((x - y).abs() - POSITION_NOISE * x.abs()).max(0.0) / scale)
    })
}
