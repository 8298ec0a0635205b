//! Least squares for measured data (METH-FIT).
//!
//! ```text
//! S(p) = Σ r_i(p)² → min,      δ = −(JᵀJ + λ D²)⁻¹ Jᵀ r,      D = column norms of J
//! ```
//!
//! Levenberg and Marquardt: the damping λ falls with success and rises with failure, so that steps are those of Gauss and Newton near the
//! minimum and short ones downhill far from it. [More1978] Bounds are kept by projection: a parameter at its bound whose gradient
//! points outwards is left out of the step. A place where the model cannot be evaluated counts as infinitely bad; so does a run whose order of
//! events makes the sum larger. Ends when the residuals are orthogonal to all columns of J that may move, |Jᵀr| < 1e-8 |J||r|, when
//! steps no longer change the parameters, or when no damping gives a smaller sum. Guaranteed to end in a point not worse than the start.
//!
//! * `statistics`: errors, correlations, what cannot be told apart, tests of the residuals.
//! * `profile`: intervals that need not be symmetric.
//! * `bootstrap`: intervals for errors that last for several rows.
//! * `student`: quantiles of Student's distribution.

mod bootstrap;
mod profile;
mod statistics;
mod student;

pub(crate) use bootstrap::{LEAST, resample};
pub(crate) use profile::profile;
pub(crate) use statistics::{Errors, Tests, errors, tests};
pub(crate) use student::student_quantile;

use crate::linalg::{Mat, Svd, dot};

/// What is fitted.
pub(crate) trait Problem {
    /// Residuals at these parameters, and their derivatives when asked for; `None` where the model has no value.
    fn residuals(&mut self, p: &[f64], derivatives: bool) -> Option<Sheet>;

    /// Whether the outside wants an end.
    fn stopped(&self) -> bool {
        false
    }
}

/// Residuals and derivatives: one row per measured value, one column per parameter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub r: Vec<f64>,
    pub j: Mat,
}

/// Where the search ended.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub p: Vec<f64>,
    pub sheet: Sheet,
    /// Sum of squares.
    pub rss: f64,
    pub iterations: usize,
    /// Whether the gradient vanished, up to rounding.
    pub converged: bool,
    /// Parameters that lean on a bound.
    pub bound: Vec<bool>,
}

/// Cosine of residuals and columns below which the minimum is reached.
const ORTHOGONAL: f64 = 1e-8;
/// Change of parameters, relative to themselves, that is none.
const STEP: f64 = 1e-12;
/// Promised gain, relative to the sum of squares, after which a step was the last.
const GAIN: f64 = 1e-13;
/// Most steps.
const ITERATIONS: usize = 200;
/// First damping, relative to the largest singular value of the scaled J, which is near one.
const DAMPING: f64 = 1e-3;
/// Damping with which nothing moves.
const STUCK: f64 = 1e14;

/// The minimum nearest to `start`; a `fixed` parameter keeps its value. `None`: the model has no value at the start.
pub(crate) fn minimise(
    problem: &mut dyn Problem,
    start: &[f64],
    bounds: &[[f64; 2]],
    fixed: Option<usize>,
) -> Option<Fitted> {
    approach(problem, start, bounds, fixed, GAIN)
}

/// The same, only until a step promises less than this share of the sum of squares.
pub(crate) fn approach(
    problem: &mut dyn Problem,
    start: &[f64],
    bounds: &[[f64; 2]],
    fixed: Option<usize>,
    gain: f64,
) -> Option<Fitted> {
    let n = start.len();
    let mut p: Vec<f64> = start.iter().zip(bounds).map(|(x, b)| x.clamp(b[0], b[1])).collect();
    let mut sheet = problem.residuals(&p, true)?;
    let mut rss = square(&sheet.r);
    let (mut lambda, mut growth) = (DAMPING, 2.0);
    let (mut iterations, mut converged) = (0, false);
    loop {
        // columns that may move, scaled to length one
        let gradient = |k: usize| (0..sheet.r.len()).map(|i| sheet.j[(i, k)] * sheet.r[i]).sum::<f64>();
        let norm: Vec<f64> =
            (0..n).map(|k| (0..sheet.r.len()).map(|i| sheet.j[(i, k)].powi(2)).sum::<f64>().sqrt()).collect();
        let slope: Vec<f64> = (0..n).map(gradient).collect();
        let held = |k: usize| {
            let b = bounds[k];
            fixed == Some(k)
                || norm[k] == 0.0
                || (p[k] <= b[0] && slope[k] > 0.0)
                || (p[k] >= b[1] && slope[k] < 0.0)
        };
        let free: Vec<usize> = (0..n).filter(|k| !held(*k)).collect();
        let bound = (0..n).map(|k| fixed != Some(k) && held(k) && norm[k] > 0.0).collect();
        let size = rss.sqrt();
        let flat = free.iter().all(|&k| slope[k].abs() <= ORTHOGONAL * norm[k] * size);
        if flat || rss == 0.0 {
            return Some(Fitted { p, sheet, rss, iterations, converged: true, bound });
        }
        if iterations >= ITERATIONS || problem.stopped() {
            return Some(Fitted { p, sheet, rss, iterations, converged, bound });
        }
        iterations += 1;
        let scaled = Mat::from_fn(sheet.r.len(), free.len(), |i, c| sheet.j[(i, free[c])] / norm[free[c]]);
        let svd = Svd::new(&scaled);
        let mut moved = false;
        while lambda < STUCK {
            let step = svd.damped(&sheet.r, lambda);
            let mut q = p.clone();
            for (c, &k) in free.iter().enumerate() {
                q[k] = (p[k] - step[c] / norm[k]).clamp(bounds[k][0], bounds[k][1]);
            }
            let still = (0..n).all(|k| (q[k] - p[k]).abs() <= STEP * (p[k].abs() + STEP));
            if still {
                converged = true;
                break;
            }
            let tried = problem.residuals(&q, false).map(|s| square(&s.r));
            if let Some(better) = tried.filter(|s| *s < rss)
                && let Some(next) = problem.residuals(&q, true)
            {
                // the gain that the linear model promised
                let linear: f64 = (0..sheet.r.len())
                    .map(|i| {
                        let change: f64 = free.iter().map(|&k| sheet.j[(i, k)] * (q[k] - p[k])).sum();
                        (sheet.r[i] + change).powi(2)
                    })
                    .sum();
                let ratio = (rss - better) / (rss - linear).max(f64::MIN_POSITIVE);
                lambda = (lambda * (1.0 - (2.0 * ratio - 1.0).powi(3)).max(1.0 / 3.0)).max(1e-15);
                growth = 2.0;
                // after a step that promised so little the next one would promise its square
                converged = rss - linear <= gain * rss;
                (p, sheet, rss, moved) = (q, next, better, true);
                break;
            }
            lambda *= growth;
            growth *= 2.0;
        }
        if !moved || converged {
            let stuck = !moved;
            let near = free_cosine(&sheet, &free) < 1e-4;
            return Some(Fitted {
                p,
                sheet,
                rss,
                iterations,
                converged: converged || (stuck && near),
                bound,
            });
        }
    }
}

/// Largest cosine between the residuals and a column.
fn free_cosine(sheet: &Sheet, free: &[usize]) -> f64 {
    let size = square(&sheet.r).sqrt();
    let cosine = |&k: &usize| {
        let column: Vec<f64> = (0..sheet.r.len()).map(|i| sheet.j[(i, k)]).collect();
        dot(&column, &sheet.r).abs() / (square(&column).sqrt() * size).max(f64::MIN_POSITIVE)
    };
    free.iter().map(cosine).fold(0.0, f64::max)
}

pub(crate) fn square(r: &[f64]) -> f64 {
    dot(r, r)
}
