//! What a fit is worth: errors, correlations, parameters that cannot be told apart, tests of the residuals (METH-FIT).
//!
//! ```text
//! σ² = S/(n − p),      C = σ² (JᵀJ)⁻¹,      half width t(0.975, n − p) √C_ii
//! ```
//!
//! J is scaled to columns of length one first. Its condition says how well the parameters can be told apart: above 1e4 the combination of
//! the smallest singular value is as good as free, whatever the data say.

use crate::linalg::{Mat, Svd};

use super::student::{normal_tail, student_quantile};
use super::{Fitted, square};

/// Condition of the scaled J above which parameters cannot be told apart.
const CONDITION: f64 = 1e4;
/// Share in a free combination, relative to the largest, that counts.
const SHARE: f64 = 0.1;
/// Residuals this far from the median, in standard deviations of the bulk, are outliers.
const OUTLIER: f64 = 5.0;

/// Errors of a fit.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    /// Degrees of freedom.
    pub freedom: usize,
    /// Standard deviation of the residuals.
    pub sigma: f64,
    /// Student's factor of the 95 % interval.
    pub factor: f64,
    /// Standard error per parameter; NaN at a bound or where it cannot be told.
    pub standard: Vec<f64>,
    /// Correlations.
    pub correlation: Mat,
    /// Condition of the scaled J.
    pub condition: f64,
    pub identifiable: Vec<bool>,
    /// The combination that is least known, by parameters relative to their own size; empty when all are known.
    pub loose: Vec<f64>,
}

/// Of a fit.
pub(crate) fn errors(fit: &Fitted) -> Errors {
    let (rows, n) = (fit.sheet.r.len(), fit.p.len());
    let counted: Vec<usize> = (0..n).filter(|k| !fit.bound[*k]).collect();
    let freedom = rows.saturating_sub(counted.len());
    let sigma = (fit.rss / freedom.max(1) as f64).sqrt();
    let column = |k: usize| (0..rows).map(|i| fit.sheet.j[(i, k)]).collect::<Vec<f64>>();
    let norm: Vec<f64> = (0..n).map(|k| square(&column(k)).sqrt()).collect();
    let acts: Vec<usize> = counted.iter().copied().filter(|k| norm[*k] > 0.0).collect();
    let mut identifiable: Vec<bool> = (0..n).map(|k| norm[k] > 0.0).collect();
    let scaled = Mat::from_fn(rows, acts.len(), |i, c| fit.sheet.j[(i, acts[c])] / norm[acts[c]]);
    let svd = Svd::new(&scaled);
    let most = svd.values().map(|v| v.0).fold(0.0, f64::max);
    let least = svd.values().map(|v| v.0).fold(f64::INFINITY, f64::min);
    let condition = match acts.len() == counted.len() {
        true => most / least.max(f64::MIN_POSITIVE),
        false => f64::INFINITY,
    };
    // combinations that the data leave open
    let mut loose = vec![0.0; n];
    for (s, v) in svd.values().filter(|(s, _)| *s * CONDITION < most) {
        let largest = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (c, x) in v.iter().enumerate().filter(|(_, x)| x.abs() > SHARE * largest) {
            identifiable[acts[c]] = false;
            if s == least {
                let k = acts[c];
                loose[k] = x / norm[k] / fit.p[k].abs().max(f64::MIN_POSITIVE);
            }
        }
    }
    let largest = loose.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let loose = match largest > 0.0 {
        true => loose.iter().map(|x| x / largest).collect(),
        false => Vec::new(),
    };
    // C from the singular values
    let mut covariance = Mat::zeros(n, n);
    for (s, v) in svd.values().filter(|v| v.0 > 0.0) {
        for (a, &i) in acts.iter().enumerate() {
            for (b, &j) in acts.iter().enumerate() {
                covariance[(i, j)] += v[a] * v[b] / (s * s * norm[i] * norm[j]);
            }
        }
    }
    let known = |k: usize| identifiable[k] && !fit.bound[k] && freedom > 0;
    let standard: Vec<f64> =
        (0..n).map(|k| if known(k) { sigma * covariance[(k, k)].sqrt() } else { f64::NAN }).collect();
    let correlation =
        Mat::from_fn(n, n, |i, j| covariance[(i, j)] / (covariance[(i, i)] * covariance[(j, j)]).sqrt());
    let factor = if freedom > 0 { student_quantile(0.975, freedom as f64) } else { f64::NAN };
    Errors { freedom, sigma, factor, standard, correlation, condition, identifiable, loose }
}

/// Tests of residuals in the order of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Tests {
    /// Runs of equal sign.
    pub runs: usize,
    /// Probability of so unusual a number of runs in independent residuals.
    pub runs_p: f64,
    /// Correlation of neighbours.
    pub lag1: f64,
    /// Whether neighbours are alike beyond chance, so that intervals are too narrow.
    pub correlated: bool,
    /// Rows far off the others.
    pub outliers: Vec<usize>,
}

/// Of residuals.
pub(crate) fn tests(r: &[f64]) -> Tests {
    let signs: Vec<bool> = r.iter().filter(|x| **x != 0.0).map(|x| *x > 0.0).collect();
    let (n, up) = (signs.len() as f64, signs.iter().filter(|s| **s).count() as f64);
    let down = n - up;
    let runs = signs.windows(2).filter(|w| w[0] != w[1]).count() + usize::from(!signs.is_empty());
    let mean = 1.0 + 2.0 * up * down / n.max(1.0);
    let variance = (mean - 1.0) * (mean - 2.0) / (n - 1.0).max(1.0);
    let z = if variance > 0.0 { (runs as f64 - mean) / variance.sqrt() } else { 0.0 };
    let lag: f64 = r.windows(2).map(|w| w[0] * w[1]).sum();
    let lag1 = lag / square(r).max(f64::MIN_POSITIVE);
    let runs_p = normal_tail(z);
    let correlated = lag1 * (r.len() as f64).sqrt() > 2.58 || (runs_p < 0.01 && z < 0.0);
    Tests { runs, runs_p, lag1, correlated, outliers: outliers(r) }
}

fn outliers(r: &[f64]) -> Vec<usize> {
    let median = |mut list: Vec<f64>| {
        list.sort_by(f64::total_cmp);
        list.get(list.len() / 2).copied().unwrap_or(0.0)
    };
    let middle = median(r.to_vec());
    let deviation = 1.4826 * median(r.iter().map(|x| (x - middle).abs()).collect());
    let far = |x: &f64| deviation > 0.0 && (x - middle).abs() > OUTLIER * deviation;
    r.iter().enumerate().filter(|(_, x)| far(x)).map(|(i, _)| i).collect()
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn residuals_that_swing_slowly_are_correlated_and_a_far_one_is_an_outlier() {
        let mut r: Vec<f64> = (0..100).map(|i| (0.1 * f64::from(i)).sin()).collect();
        assert!(tests(&r).correlated);
        // an irregular sequence
        r = (0..100).map(|i| (f64::from(i * i) * 0.7391).sin()).collect();
        let plain = tests(&r);
        assert!(!plain.correlated && plain.outliers.is_empty(), "{plain:?}");
        r[17] = 30.0;
        assert_eq!(tests(&r).outliers, [17]);
    }
}
