//! `load-statistics`: how often and how hard teeth strike (PG-11.1-LOADSTAT).
//!
//! An episode is the time during which a force is above the threshold. Its duration, the time to the next one and its peak are
//! collected; durations and periods get a Gamma distribution by moments, k = x̄²/σ², θ = σ²/x̄; peaks get the law of exceedance (11.35)
//! exp(−a xᵇ) by least squares of ln(−ln share) over ln x, where the share of the i-th of N sorted peaks is (N − i + ½)/N.
//! x99 = (ln 100/a)^(1/b) is the load that 99 % of the episodes do not exceed.

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::machine::address::series::window;
use crate::machine::json::{Named, Num};
use crate::machine::task::LoadTask;
use crate::machine::{Error, Machine};

use super::statistics::Spectrum;

/// Statistics of loads, by force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadStatisticsFinding {
    /// By force.
    #[serde(flatten)]
    pub of: Named<Load>,
    /// What the numbers do not say.
    pub remark: &'static str,
    /// Page.
    pub explain: &'static str,
}

/// Statistics of one force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Load {
    /// Whole episodes above the threshold.
    pub episodes: usize,
    /// Episodes per second.
    pub rate: f64,
    /// How long they last, s.
    pub durations: Spread,
    /// From one beginning to the next, s.
    pub periods: Spread,
    /// The law of exceedance of the peaks.
    pub exceedance: Exceedance,
    /// The load that 99 % of the episodes do not exceed.
    pub x99: Num,
    /// The largest force.
    pub peak: Num,
    /// Mean over time.
    pub mean: Num,
    /// Peaks of the episodes, in the order of time.
    pub peaks: Vec<f64>,
    /// Amplitudes over frequency.
    pub spectrum: Spectrum,
}

/// Mean and the Gamma distribution with the same first two moments.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: Num,
    /// Gamma distribution.
    pub gamma: Gamma,
}

/// Density x^(k−1) exp(−x/θ)/(Γ(k) θᵏ).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gamma {
    /// Shape.
    pub k: Num,
    /// Scale.
    pub theta: Num,
}

/// Share of peaks above x: exp(−a xᵇ), x in SI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Exceedance {
    /// Factor.
    pub a: Num,
    /// Exponent.
    pub b: Num,
}

impl Machine {
    pub(super) fn load_statistics(
        &self,
        task: &LoadTask,
        watch: Watch,
    ) -> Result<LoadStatisticsFinding, Error> {
        let run = self.run_for_statistics(watch)?;
        let mut of = Named::default();
        for name in &task.of {
            let y = run.series(name.trim().trim_start_matches("outputs."))?;
            let (t, y) = window(run.times(), &y, task.from, task.to);
            if t.len() < 2 {
                return Err(Error::plain(
                    format!("`{name}` has no values between the times asked for"),
                    "the window must lie in the run",
                ));
            }
            of.push(name.clone(), load(&t, &y, task.threshold));
        }
        Ok(LoadStatisticsFinding {
            of,
            remark: "a spectrum says little about impulsive forces; the law of exceedance extrapolates beyond the largest peak",
            explain: "statistics",
        })
    }
}

/// Statistics of a force over time.
fn load(t: &[f64], y: &[f64], threshold: f64) -> Load {
    let episodes = episodes(t, y, threshold);
    let span = t[t.len() - 1] - t[0];
    let durations: Vec<f64> = episodes.iter().map(|e| e.end - e.begin).collect();
    let periods: Vec<f64> = episodes.windows(2).map(|e| e[1].begin - e[0].begin).collect();
    let peaks: Vec<f64> = episodes.iter().map(|e| e.peak).collect();
    let exceedance = exceedance(&peaks);
    Load {
        episodes: episodes.len(),
        rate: episodes.len() as f64 / span,
        durations: spread(&durations),
        periods: spread(&periods),
        x99: Num((100_f64.ln() / exceedance.a.0).powf(1.0 / exceedance.b.0)),
        exceedance,
        peak: Num(y.iter().copied().fold(f64::NAN, f64::max)),
        mean: Num(crate::machine::address::series::mean(t, y, |v| v)),
        peaks,
        spectrum: Spectrum::of(t, y),
    }
}

/// A time above the threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Episode {
    begin: f64,
    end: f64,
    peak: f64,
}

/// All whole episodes: those that begin and end in the series.
fn episodes(t: &[f64], y: &[f64], threshold: f64) -> Vec<Episode> {
    let mut out = Vec::new();
    let mut open: Option<Episode> = None;
    for k in 1..t.len() {
        let (above, before) = (y[k] > threshold, y[k - 1] > threshold);
        // linear between rows; a jump is where it is
        let crossing =
            t[k - 1] + (t[k] - t[k - 1]) * ((threshold - y[k - 1]) / (y[k] - y[k - 1])).clamp(0.0, 1.0);
        if above && !before {
            open = Some(Episode { begin: crossing, end: f64::NAN, peak: y[k] });
        }
        if let Some(episode) = &mut open {
            episode.peak = episode.peak.max(top(t, y, k));
        }
        if before
            && !above
            && let Some(episode) = open.take()
        {
            out.push(Episode { end: crossing, ..episode });
        }
    }
    out
}

/// The top of the parabola through row `k` and its neighbours where `k` is the largest of them, else its value.
fn top(t: &[f64], y: &[f64], k: usize) -> f64 {
    if k + 1 >= t.len() || !(y[k] >= y[k - 1] && y[k] >= y[k + 1] && t[k - 1] < t[k] && t[k] < t[k + 1]) {
        return y[k];
    }
    let (left, right) = ((y[k] - y[k - 1]) / (t[k] - t[k - 1]), (y[k + 1] - y[k]) / (t[k + 1] - t[k]));
    let curvature = (right - left) / (t[k + 1] - t[k - 1]);
    if !(curvature < 0.0) {
        return y[k];
    }
    let slope = left + curvature * (t[k] - t[k - 1]);
    y[k] - slope * slope / (4.0 * curvature)
}

fn spread(x: &[f64]) -> Spread {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    Spread { mean: Num(mean), gamma: Gamma { k: Num(mean * mean / variance), theta: Num(variance / mean) } }
}

/// ln(−ln share) = ln a + b ln x by least squares.
fn exceedance(peaks: &[f64]) -> Exceedance {
    let mut x: Vec<f64> = peaks.iter().copied().filter(|p| *p > 0.0).collect();
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let points: Vec<(f64, f64)> =
        x.iter().enumerate().map(|(i, x)| (x.ln(), (-((n - i as f64 - 0.5) / n).ln()).ln())).collect();
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (mx, my) = (mean(&|p| p.0), mean(&|p| p.1));
    let b = mean(&|p| (p.0 - mx) * (p.1 - my)) / mean(&|p| (p.0 - mx).powi(2));
    Exceedance { a: Num((my - b * mx).exp()), b: Num(b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half sines of 2 ms every 10 ms: 12 whole ones in the window, peak 5, known durations above the threshold.
    #[test]
    fn episodes_of_half_sines_have_their_durations_and_peaks() {
        let f = |t: f64| {
            let s = t.rem_euclid(0.01);
            if s < 0.002 { 5.0 * (std::f64::consts::PI * s / 0.002).sin() } else { 0.0 }
        };
        let t: Vec<f64> = (0..=120_050).map(|k| 1e-6 * f64::from(k)).collect();
        let y: Vec<f64> = t.iter().map(|t| f(*t)).collect();
        let found = load(&t, &y, 2.5);
        assert_eq!(found.episodes, 12);
        // sin > 1/2 for two thirds of the half period
        assert!((found.durations.mean.0 - 0.002 * 2.0 / 3.0).abs() < 1e-9);
        assert!((found.periods.mean.0 - 0.01).abs() < 1e-9);
        assert!((found.rate - 12.0 / 0.12005).abs() < 1e-9);
        assert!((found.peaks[0] - 5.0).abs() < 1e-9 && (found.peak.0 - 5.0).abs() < 1e-5);
    }

    /// Peaks on the quantiles of exp(−a xᵇ) give back a and b, and x99 has the share 1 %.
    #[test]
    fn the_law_of_exceedance_is_found_from_its_own_quantiles() {
        let (a, b) = (2e-3_f64, 1.4_f64);
        let n = 50;
        let peaks: Vec<f64> = (1..=n)
            .rev()
            .map(|i| (-((f64::from(n - i) + 0.5) / f64::from(n)).ln() / a).powf(1.0 / b))
            .collect();
        let found = exceedance(&peaks);
        assert!((found.a.0 / a - 1.0).abs() < 1e-10 && (found.b.0 - b).abs() < 1e-12);
        let x99 = (100_f64.ln() / found.a.0).powf(1.0 / found.b.0);
        assert!(((-a * x99.powf(b)).exp() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn a_gamma_distribution_keeps_mean_and_variance() {
        let s = spread(&[1.0, 2.0, 3.0, 6.0]);
        let (k, theta) = (s.gamma.k.0, s.gamma.theta.0);
        assert!((k * theta - 3.0).abs() < 1e-12 && (k * theta * theta - 3.5).abs() < 1e-12);
    }
}
