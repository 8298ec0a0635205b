//! Intervals by resampling: what the fit would have found had the errors come in another order (METH-FIT)
//!
//! ```text
//! r*(p) = r(p) − r(p̂) + e*,      e* = blocks of the centred residuals of the fit, each begun at a random row
//! ```
//!
//! The intervals of `statistics` take neighbouring errors for independent. Blocks keep neighbours together, so that errors that last for several rows count as what they are:
//! fewer. The length of a block follows the correlation ρ of neighbours, `(2ρ/(1 − ρ²))^⅔ n^⅓`, one row where there is none. [Carlstein1986] Blocks run over the end of the
//! record into its beginning, so that every row is drawn alike; all quantities of a row are drawn together. The ends are quantiles of the refitted parameters.

use super::statistics::tests;
use super::{Fitted, Problem, Sheet, minimise};

/// Intervals of 95 % by resampling.
#[derive(Clone, Debug)]
pub(crate) struct Resampled {
    /// Both ends per parameter; NaN where too few refits succeeded.
    pub ends: Vec<[f64; 2]>,
    /// Rows of a block.
    pub block: usize,
    /// Refits that succeeded.
    pub draws: usize,
}

/// Refits below which there is no quantile to speak of.
pub(crate) const LEAST: usize = 40;

/// A problem with other errors.
struct Shifted<'a> {
    inner: &'a mut dyn Problem,
    shift: Vec<f64>,
}

impl Problem for Shifted<'_> {
    fn residuals(&mut self, p: &[f64], derivatives: bool) -> Option<Sheet> {
        let mut sheet = self.inner.residuals(p, derivatives)?;
        sheet.r.iter_mut().zip(&self.shift).for_each(|(r, s)| *r += s);
        Some(sheet)
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}

/// Of a fit whose residuals are `terms` quantities, one after the other. `draw`: number of the refit and of the block → the unit interval.
pub(crate) fn resample(
    problem: &mut dyn Problem,
    best: &Fitted,
    bounds: &[[f64; 2]],
    terms: usize,
    count: usize,
    draw: &dyn Fn(usize, usize) -> f64,
) -> Resampled {
    let r = &best.sheet.r;
    let rows = r.len() / terms.max(1);
    let free = best.bound.iter().filter(|b| !**b).count();
    // residuals are smaller than errors, by the parameters that were fitted
    let grow = (r.len() as f64 / r.len().saturating_sub(free).max(1) as f64).sqrt();
    let mut errors = Vec::with_capacity(r.len());
    let mut alike = 0.0_f64;
    for term in r.chunks(rows.max(1)) {
        let mean = term.iter().sum::<f64>() / term.len() as f64;
        alike = alike.max(tests(term).lag1);
        errors.extend(term.iter().map(|x| grow * (x - mean)));
    }
    let block = length(alike, rows);
    let mut found: Vec<Vec<f64>> = Vec::new();
    for k in 0..count {
        let begin = |b: usize| ((draw(k, b) * rows as f64) as usize).min(rows - 1);
        let from: Vec<usize> =
            (0..rows.div_ceil(block)).flat_map(|b| (begin(b)..begin(b) + block).map(|i| i % rows)).collect();
        let shift = (0..r.len()).map(|i| errors[i - i % rows + from[i % rows]] - r[i]).collect();
        let mut other = Shifted { inner: &mut *problem, shift };
        found.extend(minimise(&mut other, &best.p, bounds, None).filter(|f| f.converged).map(|f| f.p));
        if problem.stopped() {
            break;
        }
    }
    let ends = |k: usize| {
        let mut values: Vec<f64> = found.iter().map(|p| p[k]).collect();
        values.sort_by(f64::total_cmp);
        match values.len() < LEAST {
            true => [f64::NAN; 2],
            false => [0.025, 0.975].map(|share| quantile(&values, share)),
        }
    };
    Resampled { ends: (0..best.p.len()).map(ends).collect(), block, draws: found.len() }
}

/// Rows of a block for a correlation of neighbours.
fn length(alike: f64, rows: usize) -> usize {
    // what chance makes of independent errors is none
    let chance = 2.0 / (rows as f64).sqrt();
    let rho = if alike > chance { alike.min(0.99) } else { 0.0 };
    let best = (2.0 * rho / (1.0 - rho * rho)).powf(2.0 / 3.0) * (rows as f64).cbrt();
    (best.ceil() as usize).clamp(1, (rows / 4).max(1))
}

/// Between neighbours, linearly.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let at = share * (sorted.len() - 1) as f64;
    let k = (at as usize).min(sorted.len() - 2);
    sorted[k] + (at - k as f64) * (sorted[k + 1] - sorted[k])
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn blocks_are_as_long_as_errors_last() {
        // (1.6/0.36)^(2/3) 200^(1/3) = 15.8
        assert_eq!((length(0.8, 200), length(0.0, 200), length(0.1, 200)), (16, 1, 1));
        assert_eq!(quantile(&[0.0, 1.0, 2.0], 0.75), 1.5);
    }
}
