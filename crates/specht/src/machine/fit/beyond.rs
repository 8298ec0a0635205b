//! What a fit is worth beyond its own residuals: errors in another order, rows that it has not seen (METH-FIT).

use crate::analysis::fit::{Fitted, LEAST, Problem, resample};
use crate::machine::Error;
use crate::machine::finding::{FitData, FitValidation};
use crate::machine::json::{Named, Num};
use crate::machine::sweep::{Sampling, unit};
use crate::machine::task::FitTask;

use super::read::Records;

/// Seed of the refits.
const SEED: u64 = 13;
/// Deviations by which the scatter of unseen rows may exceed that of the fitted ones.
const DEVIATIONS: f64 = 3.0;

/// Intervals of resampled residuals, and rows of a block.
pub(super) fn resampled(
    task: &FitTask,
    problem: &mut dyn Problem,
    fit: &Fitted,
    bounds: &[[f64; 2]],
    records: &Records,
    notes: &mut Vec<String>,
) -> Option<(Named<[Num; 2]>, usize)> {
    if task.bootstrap == 0 {
        return None;
    }
    let draw = |k: usize, block: usize| unit(Sampling::Random, SEED, k as u64, block);
    let found = resample(problem, fit, bounds, records.columns_weighed, task.bootstrap, &draw);
    if task.bootstrap < LEAST {
        notes.push(format!(
            "{} refits are too few for an interval: ask for {LEAST} at least, better for --bootstrap 200",
            task.bootstrap
        ));
    } else if 10 * found.draws < 9 * task.bootstrap {
        notes.push(format!(
            "{} of {} refits of resampled residuals found a minimum: the intervals of `bootstrap` are of those; ask for more, or fit fewer parameters",
            found.draws, task.bootstrap
        ));
    }
    let ends = found.ends.iter().zip(&fit.bound).map(|(e, bound)| match bound {
        true => [Num(f64::NAN); 2],
        false => e.map(Num),
    });
    Some((task.fit.iter().cloned().zip(ends).collect(), found.block))
}

/// Rows at the end that are not fitted.
pub(super) fn held_out(task: &FitTask, records: &Records) -> Result<usize, Error> {
    let (share, rows) = (task.holdout, records.lines.len());
    if !(0.0..=0.9).contains(&share) {
        return Err(Error::plain(
            format!("`holdout` is a share of the rows, not {share}"),
            "write holdout = 0.2: the last fifth is predicted instead of fitted",
        ));
    }
    Ok((share * rows as f64).round() as usize)
}

/// How the last rows scatter beside those that were fitted.
pub(super) fn validation(
    data: &FitData,
    held: usize,
    parameters: usize,
    notes: &mut Vec<String>,
) -> FitValidation {
    let (mut rms, mut fitted, mut predicts) = (Vec::new(), Vec::new(), true);
    for curve in &data.curves {
        let kept = curve.measured.len() - held;
        let square: Vec<f64> =
            curve.measured.iter().zip(&curve.fitted).map(|(y, f)| (y - f).powi(2)).collect();
        let [seen, unseen] =
            [&square[..kept], &square[kept..]].map(|s| s.iter().sum::<f64>() / s.len() as f64);
        rms.push((curve.name.clone(), Num(unseen.sqrt())));
        fitted.push((curve.name.clone(), Num(seen.sqrt())));
        // the logarithm of the ratio of two variances has about this deviation
        let freedom = kept.saturating_sub(parameters).max(1) as f64;
        let deviation = (2.0 / held as f64 + 2.0 / freedom).sqrt();
        let ratio = unseen / (seen * kept as f64 / freedom);
        if ratio.ln() > DEVIATIONS * deviation {
            predicts = false;
            notes.push(format!(
                "the last {held} rows of `{}`, which were not fitted, lie {:.1} times as far from the model as the others: it does not predict them; it lacks something, or there are more parameters than the data can tell",
                curve.name,
                ratio.sqrt()
            ));
        }
    }
    FitValidation {
        rows: held,
        rms: rms.into_iter().collect(),
        fitted: fitted.into_iter().collect(),
        predicts,
    }
}
