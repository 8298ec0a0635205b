//! Profile intervals (METH-FIT): how far one parameter can go when all others follow.
//!
//! ```text
//! S(θ) = min over the others,      τ(θ) = √((S(θ) − S)/σ²) = t(0.975, n − p)   at both ends
//! ```

use super::{Fitted, Problem, minimise};

/// How closely an end is found, relative to τ.
const CLOSE: f64 = 1e-5;
/// Refits for one end.
const REFITS: usize = 40;

/// Both ends for parameter `k`; infinite where the sum of squares never gets large enough, a bound where that comes first.
pub(crate) fn profile(
    problem: &mut dyn Problem,
    best: &Fitted,
    bounds: &[[f64; 2]],
    k: usize,
    first: f64,
    sigma: f64,
    factor: f64,
) -> [f64; 2] {
    [-1.0, 1.0].map(|way| end(problem, best, bounds, k, way * first, sigma, factor))
}

fn end(
    problem: &mut dyn Problem,
    best: &Fitted,
    bounds: &[[f64; 2]],
    k: usize,
    first: f64,
    sigma: f64,
    factor: f64,
) -> f64 {
    let origin = best.p[k];
    let limit = if first < 0.0 { bounds[k][0] } else { bounds[k][1] };
    let mut follow = best.p.clone();
    let mut tau = |step: f64| {
        let mut start = follow.clone();
        start[k] = origin + step;
        let found = minimise(problem, &start, bounds, Some(k))?;
        follow.clone_from(&found.p);
        Some((found.rss - best.rss).max(0.0).sqrt() / sigma)
    };
    let room = limit - origin;
    let clip = |step: f64| if step.abs() > room.abs() { room } else { step };
    let (mut low, mut high) = ((0.0, -factor), None);
    let mut step = clip(first);
    for _ in 0..REFITS {
        // beyond what the model can do is beyond the end
        let over = tau(step).map_or(factor, |t| t - factor);
        if over.abs() <= CLOSE * factor {
            return origin + step;
        }
        match over < 0.0 {
            true if step == room => return limit,
            true => low = (step, over),
            false => high = Some((step, over)),
        }
        step = match high {
            None => {
                let reached = low.1 + factor;
                clip(step * (factor / reached.max(1e-3 * factor)).clamp(1.2, 4.0))
            }
            Some((far, beyond)) => {
                let secant = low.0 + (far - low.0) * (-low.1 / (beyond - low.1)).clamp(0.05, 0.95);
                if (far - low.0).abs() < 1e-9 * far.abs() {
                    return origin + secant;
                }
                secant
            }
        };
    }
    match high {
        Some(_) => origin + step,
        None => f64::INFINITY.copysign(first),
    }
}
