//! `statistics`: means, moments, histograms and spectra of series and of what happens at events (PG-12.1-MEAN1), and the balances that
//! every long run must keep.
//!
//! A series weighs with time and is linear between its rows; values of events count equally. Moments are about zero: E\[x\], E\[x²\],
//! E\[x³\], E\[x⁴\]. `rate`: of events, their number per second; of a series, its passages upwards through its mean per second.
//!
//! Balances. Energy: its change is the work done. Momentum: what impacts give to the coordinates, Σ M (u⁺ − u⁻), is the change of M u
//! less what the smooth forces give, ∫ M u̇ dt (trapezoids over the recorded rows, so that `exact` is as good as these are dense).

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::machine::address::series::{mean, window};
use crate::machine::address::{Address, Data, Value};
use crate::machine::json::{Named, Num};
use crate::machine::table::Table;
use crate::machine::task::StatisticsTask;
use crate::machine::{Error, Machine, Run};
use crate::sim::{Outside, Record, Sample, Settings, Status};
use crate::system::{Discrete, State, System};

/// Classes of a histogram.
const CLASSES: usize = 40;
/// Lines of a spectrum, at most.
const LINES: usize = 2048;

/// Statistics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsFinding {
    /// By what was asked for.
    #[serde(flatten)]
    pub of: Named<Statistics>,
    /// Balances of the window.
    pub balance: Balance,
    /// Page.
    pub explain: &'static str,
}

/// Statistics of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Values or rows that count.
    pub count: usize,
    /// Mean.
    pub mean: Num,
    /// Variance.
    pub variance: Num,
    /// About zero, first to fourth.
    pub moments: [Num; 4],
    /// Least.
    pub min: Num,
    /// Largest.
    pub max: Num,
    /// Shares of classes of equal width.
    pub histogram: Histogram,
    /// Per second: events, or passages upwards through the mean.
    pub rate: f64,
    /// Of events, with a period: how many, their sum, and the sum of their sizes per period.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_period: Option<PerPeriod>,
    /// Largest size over root of the mean square.
    pub peak_factor: Num,
    /// Of a series: amplitudes over frequency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
}

/// Per period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PerPeriod {
    /// How many.
    pub count: f64,
    /// Their sum.
    pub sum: f64,
    /// Sum of their sizes.
    pub absolute: f64,
}

/// Shares of classes of equal width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Histogram {
    /// Ends of the classes.
    pub edges: Vec<f64>,
    /// Shares.
    pub shares: Vec<f64>,
}

/// Amplitudes over frequency.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spectrum {
    /// Hz.
    pub frequency: Vec<f64>,
    /// Amplitude; at 0 the mean.
    pub amplitude: Vec<f64>,
}

/// What must agree.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Balance {
    /// Change of the energy, and the work done, J.
    pub energy: Pair,
    /// What impacts give to the coordinates (sum), and what the balance of momentum demands.
    pub momentum: Momentum,
}

/// A number and its exact value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pair {
    /// As computed.
    pub value: Num,
    /// As it must be.
    pub exact: Num,
}

/// The balance of momentum.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Momentum {
    /// Sum over the coordinates; with a period, per period.
    #[serde(flatten)]
    pub sum: Pair,
    /// By coordinate.
    pub coordinates: Named<Pair>,
}

impl Machine {
    /// The run of which statistics are made: all steps are recorded.
    pub(super) fn run_for_statistics(&self, watch: Watch) -> Result<Run, Error> {
        let (scheme, settings) = self.settings()?;
        let settings = Settings { record: Record::Steps, ..settings };
        let until = settings.until;
        let mut show = |t: f64| {
            if let Some(progress) = watch.progress {
                progress(t / until);
            }
        };
        let mut outside = Outside { interrupt: watch.interrupt, progress: Some(&mut show) };
        let run = self.run_from(&self.start()?, scheme, settings, &mut outside)?;
        match run.trajectory.status {
            Status::Finished | Status::Stopped | Status::Interrupted => Ok(run),
            status => Err(Error::plain(
                format!(
                    "the run is {} at t = {} s: {}",
                    status.word(),
                    run.trajectory.time,
                    run.trajectory.message
                ),
                "statistics need a run that goes to its end",
            )),
        }
    }

    pub(super) fn statistics(&self, task: &StatisticsTask, watch: Watch) -> Result<StatisticsFinding, Error> {
        let run = self.run_for_statistics(watch)?;
        let times = run.times();
        let from = task.from.unwrap_or(times.first().copied().unwrap_or(0.0));
        let to = task.to.unwrap_or(times.last().copied().unwrap_or(0.0));
        if !(to > from) {
            return Err(Error::plain(format!("the window from {from} s to {to} s is empty"), ""));
        }
        let mut of = Named::default();
        for text in &task.of {
            let found = if text.trim().starts_with("events") {
                of_events(&run, text, from, to, task.period)?
            } else {
                let name = text.trim().trim_start_matches("outputs.").trim_start_matches("trajectory.");
                let (t, y) = window(times, &run.series(name)?, Some(from), Some(to));
                of_series(&t, &y)
            };
            of.push(text.clone(), found);
        }
        let balance = balance(&run, from, to, task.period);
        Ok(StatisticsFinding { of, balance, explain: "statistics" })
    }
}

/// Values of events between two times.
fn of_events(run: &Run, text: &str, from: f64, to: f64, period: Option<f64>) -> Result<Statistics, Error> {
    let fault = |why: String| Error::plain(format!("`{text}`: {why}"), "see specht explain addresses");
    let address = Address::read(text.trim()).map_err(fault)?;
    let events = &run.trajectory.events;
    let inside = (0..events.len()).filter(|&k| (from..=to).contains(&events[k].time));
    let json =
        serde_json::json!({ "events": inside.map(|k| run.event_json(&events[k])).collect::<Vec<_>>() });
    let table = Table::default();
    let x: Vec<f64> = match address.value(&Data { run: &json, table: &table, locals: &[] }).map_err(fault)? {
        Value::List(list) => list
            .into_iter()
            .map(|v| match v {
                Value::Number(x) => Ok(x),
                other => Err(fault(format!(
                    "an entry is {}; name the contact, events[contact=NAME]",
                    other.kind()
                ))),
            })
            .collect::<Result<_, _>>()?,
        Value::Number(x) => vec![x],
        other => return Err(fault(format!("this is {}, not a list of numbers", other.kind()))),
    };
    let n = x.len() as f64;
    let moment = |p: i32| Num(x.iter().map(|v| v.powi(p)).sum::<f64>() / n);
    let moments = [1, 2, 3, 4].map(moment);
    let (min, max) = x.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let width = (max - min) / CLASSES as f64;
    let class = |v: f64| (((v - min) / width) as usize).min(CLASSES - 1);
    let mut shares = vec![0.0; CLASSES];
    x.iter().for_each(|v| shares[class(*v)] += 1.0 / n);
    let periods = period.map(|p| (to - from) / p);
    Ok(Statistics {
        count: x.len(),
        mean: moments[0],
        variance: Num(x.iter().map(|v| (v - moments[0].0).powi(2)).sum::<f64>() / n),
        moments,
        min: Num(min),
        max: Num(max),
        histogram: Histogram { edges: edges(min, max), shares },
        rate: n / (to - from),
        per_period: periods.map(|p| PerPeriod {
            count: n / p,
            sum: x.iter().sum::<f64>() / p,
            absolute: x.iter().map(|v| v.abs()).sum::<f64>() / p,
        }),
        peak_factor: Num(max.abs().max(min.abs()) / moments[1].0.sqrt()),
        spectrum: None,
    })
}

fn edges(min: f64, max: f64) -> Vec<f64> {
    (0..=CLASSES).map(|k| min + (max - min) * k as f64 / CLASSES as f64).collect()
}

/// A series, linear between its rows.
fn of_series(t: &[f64], y: &[f64]) -> Statistics {
    // moments of a line from a to b: Σ aⁱ bᵖ⁻ⁱ/(p + 1)
    let span = t[t.len() - 1] - t[0];
    let moment = |p: i32| {
        let piece = |k: usize| {
            let terms = (0..=p).map(|i| y[k - 1].powi(i) * y[k].powi(p - i)).sum::<f64>();
            (t[k] - t[k - 1]) * terms / f64::from(p + 1)
        };
        Num((1..t.len()).map(piece).sum::<f64>() / span)
    };
    let moments = [1, 2, 3, 4].map(moment);
    let level = moments[0].0;
    let (min, max) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let edges = edges(min, max);
    let mut shares = vec![0.0; CLASSES];
    let width = (max - min) / CLASSES as f64;
    for k in 1..t.len() {
        let (a, b) = (y[k - 1].min(y[k]), y[k - 1].max(y[k]));
        let class = |v: f64| (((v - min) / width) as usize).min(CLASSES - 1);
        let (first, last) = (class(a), class(b));
        for c in first..=last {
            let part = if b > a { (b.min(edges[c + 1]) - a.max(edges[c])).max(0.0) / (b - a) } else { 1.0 };
            shares[c] += part * (t[k] - t[k - 1]) / span;
        }
    }
    let upwards = (1..y.len()).filter(|&k| y[k - 1] <= level && y[k] > level).count();
    Statistics {
        count: t.len(),
        mean: moments[0],
        variance: Num(mean(t, y, |v| (v - level) * (v - level))),
        moments,
        min: Num(min),
        max: Num(max),
        histogram: Histogram { edges, shares },
        rate: upwards as f64 / span,
        per_period: None,
        peak_factor: Num(max.abs().max(min.abs()) / moments[1].0.sqrt()),
        spectrum: Some(Spectrum::of(t, y)),
    }
}

impl Spectrum {
    /// Amplitudes at the multiples of 1/T, from values at equal distances, linear between rows.
    pub(super) fn of(t: &[f64], y: &[f64]) -> Spectrum {
        let (from, span) = (t[0], t[t.len() - 1] - t[0]);
        let n = t.len().clamp(256, 1 << 16).next_power_of_two();
        let mut k = 1;
        let mut re: Vec<f64> = (0..n)
            .map(|i| {
                let time = from + span * i as f64 / n as f64;
                while k + 1 < t.len() && t[k] <= time {
                    k += 1;
                }
                let h = t[k] - t[k - 1];
                if h > 0.0 { y[k - 1] + (y[k] - y[k - 1]) * (time - t[k - 1]) / h } else { y[k] }
            })
            .collect();
        let mut im = vec![0.0; n];
        transform(&mut re, &mut im);
        let lines = (n / 2).min(LINES);
        let size = |k: usize| if k == 0 { 1.0 } else { 2.0 } * re[k].hypot(im[k]) / n as f64;
        Spectrum {
            frequency: (0..lines).map(|k| k as f64 / span).collect(),
            amplitude: (0..lines).map(size).collect(),
        }
    }
}

/// The discrete Fourier transform of 2ᵏ values in place (Cooley and Tukey).
fn transform(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let bits = n.trailing_zeros();
    for i in 0..n {
        let j = i.reverse_bits() >> (usize::BITS - bits);
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        for begin in (0..n).step_by(2 * half) {
            for k in 0..half {
                let (s, c) = (-std::f64::consts::PI * k as f64 / half as f64).sin_cos();
                let (a, b) = (begin + k, begin + k + half);
                let (x, y) = (re[b] * c - im[b] * s, re[b] * s + im[b] * c);
                (re[b], im[b]) = (re[a] - x, im[a] - y);
                re[a] += x;
                im[a] += y;
            }
        }
        half *= 2;
    }
}

/// Energy and momentum between two times.
fn balance(run: &Run, from: f64, to: f64, period: Option<f64>) -> Balance {
    let samples = &run.trajectory.samples;
    let rows: Vec<_> = samples.rows().filter(|r| (from..=to).contains(&r.t)).collect();
    let names = &run.names.coordinates;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Balance::default() };
    let energy = |r: &Sample, part: std::ops::Range<usize>| r.energy[part].iter().sum::<f64>();
    let pair = Pair {
        value: Num(energy(last, 0..2) - energy(first, 0..2)),
        exact: Num(energy(last, 2..6) - energy(first, 2..6)),
    };
    // generalized momentum and force at a state
    let system = run.machine.system();
    let (discrete, mut eval, n) = (Discrete::new(&system.dims()), system.memory(), first.u.len());
    let mut times_mass = |state: &State, x: &[f64]| -> Vec<f64> {
        system.evaluate(state, &discrete, &mut eval);
        (0..n).map(|i| (0..n).map(|j| eval.mass[(i, j)] * x[j]).sum()).collect()
    };
    let state = |r: &Sample| State {
        t: r.t,
        q: r.q.to_vec(),
        u: r.u.to_vec(),
        z: r.z.to_vec(),
        memory: r.memory.to_vec(),
    };
    let (end, begin) = (times_mass(&state(last), last.u), times_mass(&state(first), first.u));
    let mut exact: Vec<f64> = end.iter().zip(&begin).map(|(b, a)| b - a).collect();
    let mut before: Option<(f64, Vec<f64>)> = None;
    for row in &rows {
        let force = times_mass(&state(row), row.accel);
        if let Some((t, last)) = &before {
            let h = row.t - t;
            exact.iter_mut().zip(force.iter().zip(last)).for_each(|(e, (a, b))| *e -= 0.5 * h * (a + b));
        }
        before = Some((row.t, force));
    }
    // all entries of one instant have the same states
    let (mut value, mut counted) = (vec![0.0; n], f64::NAN);
    for e in run.trajectory.events.iter().filter(|e| e.time > first.t && e.time <= last.t) {
        if e.after.u != e.before.u && e.time != counted {
            counted = e.time;
            let jump: Vec<f64> = e.after.u.iter().zip(&e.before.u).map(|(a, b)| a - b).collect();
            value.iter_mut().zip(times_mass(&e.before, &jump)).for_each(|(v, j)| *v += j);
        }
    }
    let per = period.map_or(1.0, |p| p / (last.t - first.t));
    let pairs = |k: usize| Pair { value: Num(per * value[k]), exact: Num(per * exact[k]) };
    Balance {
        energy: pair,
        momentum: Momentum {
            sum: Pair {
                value: Num(per * value.iter().sum::<f64>()),
                exact: Num(per * exact.iter().sum::<f64>()),
            },
            coordinates: names.iter().take(n).enumerate().map(|(k, name)| (name.clone(), pairs(k))).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave() -> (Vec<f64>, Vec<f64>) {
        // three periods of 1 + 2 sin, dense
        let t: Vec<f64> = (0..=30_000).map(|k| f64::from(k) * 1e-4).collect();
        let y = t.iter().map(|t| 1.0 + 2.0 * (2.0 * std::f64::consts::PI * t).sin()).collect();
        (t, y)
    }

    #[test]
    fn a_sine_has_its_moments_rate_peak_factor_and_line() {
        let (t, y) = wave();
        let s = of_series(&t, &y);
        // E[x] = 1, E[x²] = 1 + 2, E[x³] = 1 + 3·2, E[x⁴] = 1 + 6·2 + 16·3/8
        for (m, exact) in s.moments.iter().zip([1.0, 3.0, 7.0, 19.0]) {
            assert!((m.0 - exact).abs() < 1e-5, "{m:?} {exact}");
        }
        assert!((s.variance.0 - 2.0).abs() < 1e-6 && (s.rate - 1.0).abs() < 1e-6);
        assert!((s.peak_factor.0 - 3.0 / 3f64.sqrt()).abs() < 1e-5);
        assert!((s.histogram.shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let spectrum = s.spectrum.unwrap();
        assert!((spectrum.amplitude[0] - 1.0).abs() < 1e-6);
        // T = 3 s: the line of 1 Hz is the third
        assert!((spectrum.frequency[3] - 1.0).abs() < 1e-12 && (spectrum.amplitude[3] - 2.0).abs() < 1e-5);
        assert!(spectrum.amplitude[5] < 1e-3);
    }
}
