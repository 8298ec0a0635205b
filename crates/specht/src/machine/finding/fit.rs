//! `fit`: parameters from measured data.

use serde::Serialize;

use crate::machine::json::{Named, Num};

/// Parameters with their errors.
#[derive(Clone, Debug, Serialize)]
pub struct FitFinding {
    /// Values that make the sum of squares least.
    pub estimate: Named<Num>,
    /// Half widths of the 95 % intervals; `null` at a bound and where the data cannot tell.
    pub half_width: Named<Num>,
    /// Standard errors.
    pub standard_error: Named<Num>,
    /// Profile intervals of 95 %, which need not be symmetric, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Named<[Num; 2]>>,
    /// Intervals of 95 % by resampling blocks of residuals, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<Named<[Num; 2]>>,
    /// Rows of such a block: 1 where errors of neighbours are independent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// How well the rows at the end are predicted that were not fitted, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<FitValidation>,
    /// Correlations of the estimates.
    pub correlation: Named<Named<Num>>,
    /// Standard deviation of the residuals.
    pub sigma: f64,
    /// Sum of squares.
    pub rss: f64,
    /// Sum of squares over the degrees of freedom; near 1 when weights are 1/s².
    pub chi2_reduced: Num,
    /// Criterion of Akaike, n ln(S/n) + 2p.
    pub aic: Num,
    /// Criterion of Schwarz, n ln(S/n) + p ln n.
    pub bic: Num,
    /// Condition of the derivatives, scaled to columns of length one.
    pub condition: Num,
    /// Whether the data tell a parameter apart from the others.
    pub identifiable: Named<bool>,
    /// The combination that is least known, when some cannot be told apart: relative changes that cancel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub combination: Option<Named<Num>>,
    /// Parameters at a bound.
    pub at_bound: Vec<String>,
    /// Whether the residuals look like independent errors.
    pub residual_tests: FitTests,
    /// This model and others, by their criterion.
    pub compare: Vec<FitCompared>,
    /// Number of residuals.
    pub points: usize,
    /// Degrees of freedom.
    pub freedom: usize,
    /// Steps of the search.
    pub iterations: usize,
    /// Whether a minimum was reached.
    pub converged: bool,
    /// Whether the residuals are taken along the run.
    pub along: bool,
    /// Parameters by which runs had to be differenced somewhere, because a derivative does not exist there.
    pub differenced: Vec<String>,
    /// What should be known, with remedies.
    pub notes: Vec<String>,
    /// Data and model.
    pub data: FitData,
    /// Page.
    pub explain: &'static str,
}

/// Tests of the residuals, in the order of the rows.
#[derive(Clone, Debug, Serialize)]
pub struct FitTests {
    /// Runs of equal sign.
    pub runs: usize,
    /// Probability of so unusual a number.
    pub runs_p: f64,
    /// Correlation of neighbours.
    pub lag1: f64,
    /// Whether neighbours are alike beyond chance.
    pub correlated: bool,
    /// Lines of the data far off the others.
    pub outliers: Vec<usize>,
}

/// Rows that were not used for the fit.
#[derive(Clone, Debug, Serialize)]
pub struct FitValidation {
    /// Their number.
    pub rows: usize,
    /// Root of the mean square of their residuals, per quantity.
    pub rms: Named<Num>,
    /// The same of the rows that were fitted.
    pub fitted: Named<Num>,
    /// They scatter no more than chance explains.
    pub predicts: bool,
}

/// A model of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitCompared {
    /// Its name.
    pub model: String,
    /// Its criterion.
    pub aic: f64,
    /// Its weight of Akaike among all.
    pub weight: f64,
}

/// Data and model for the picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitData {
    /// Name of the horizontal axis.
    pub x: String,
    /// What was measured.
    pub curves: Vec<FitCurve>,
}

/// One measured quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitCurve {
    /// Its name.
    pub name: String,
    /// Where.
    pub x: Vec<f64>,
    /// Measured.
    pub measured: Vec<f64>,
    /// By the model.
    pub fitted: Vec<f64>,
}
