//! `fit`: parameters of a model from measured data (METH-FIT).
//!
//! ```text
//! data ─columns in SI─▶ residuals of a formula (curve) or along the run (series) ─least squares─▶ finding
//! ```
//!
//! A curve is a residual of columns and parameters; it is differentiated as a formula. With a column `t` the residual is taken along
//! the run, and its derivatives go through all events; only where they do not exist runs are differenced.

mod beyond;
mod curve;
mod read;
mod series;

use crate::analysis::fit::{Fitted, Problem, Sheet, approach, errors, minimise, profile, square, tests};
use crate::analysis::map::Watch;
use crate::model::TaskValue;

use super::finding::{FitCompared, FitFinding, FitTests};
use super::json::{Named, Num};
use super::sweep::{Sampling, normal_quantile, unit};
use super::task::{FitTask, Task};
use super::{Error, Machine, Source};
use beyond::{held_out, resampled, validation};
use curve::Curve;
use read::{Form, Records};
use series::Series;

/// Starts of a curve when nobody says how many; a series begins where the file does.
const STARTS: usize = 16;
/// Spread of the starts: factors of e.
const SPREAD: f64 = 1.0;
/// Residuals beyond so many deviations of the bulk lose weight in a robust fit. [Huber1981]
const HUBER: f64 = 1.345;
/// Rounds of weights.
const ROUNDS: usize = 30;
/// Share of the scatter that a start of a series must explain, else the fit is sought along growing parts of the record.
const EXPLAINED: f64 = 0.9;
/// Gain of a step, relative, with which a part is fitted well enough.
const ROUGH: f64 = 1e-2;
/// These parts.
const PARTS: [f64; 4] = [0.1, 0.2, 0.4, 0.7];

/// A problem whose rows carry weights.
struct Weighed<'a> {
    inner: &'a mut dyn Problem,
    /// Roots of the weights.
    scale: Vec<f64>,
}

impl Problem for Weighed<'_> {
    fn residuals(&mut self, p: &[f64], derivatives: bool) -> Option<Sheet> {
        let mut sheet = self.inner.residuals(p, derivatives)?;
        for (i, s) in self.scale.iter().take(sheet.r.len()).enumerate() {
            sheet.r[i] *= s;
            if derivatives {
                sheet.j.row_mut(i).iter_mut().for_each(|x| *x *= s);
            }
        }
        Some(sheet)
    }

    fn stopped(&self) -> bool {
        self.inner.stopped()
    }
}

impl Machine {
    pub(super) fn fit(&self, task: &FitTask, watch: Watch) -> Result<FitFinding, Error> {
        let start = self.start_of_fit(task)?;
        let bounds = self.bounds_of_fit(task)?;
        let mut all = Records::read(self, task)?;
        let held = held_out(task, &all)?;
        let mut records = all.without_last(held);
        match records.form {
            Form::Curve => {
                let mut curve = Curve::new(self, task, &mut records, watch)?;
                let (fit, scale) = search(&mut curve, task, &records, &start, &bounds, STARTS)?;
                let shown = match held {
                    0 => curve.shown(&fit.p, &records),
                    _ => Curve::new(self, task, &mut all, watch)?.shown(&fit.p, &all),
                };
                self.finding(task, watch, &mut curve, records, fit, scale, &bounds, shown)
            }
            Form::Series => {
                let mut series = Series::new(self, task, &mut records, watch)?;
                series.suspect(&start, &mut records);
                // far from the data: first along growing parts of the record, so that events keep their order
                let near = series.explained_at(&start) >= EXPLAINED;
                let from = if near { start.clone() } else { grown(&mut series, &start, &bounds) };
                let (mut fit, mut scale) = search(&mut series, task, &records, &from, &bounds, 1)?;
                if !near && series.explained(&fit.sheet.r) < EXPLAINED {
                    let (again, other) = search(&mut series, task, &records, &start, &bounds, 1)?;
                    if again.rss < fit.rss {
                        (fit, scale) = (again, other);
                    }
                }
                let mut shown = series.shown(&fit.p, &mut records);
                if held > 0 {
                    shown = Series::new(self, task, &mut all, watch)?.shown(&fit.p, &mut all);
                }
                self.finding(task, watch, &mut series, records, fit, scale, &bounds, shown)
            }
        }
    }

    fn start_of_fit(&self, task: &FitTask) -> Result<Vec<f64>, Error> {
        if task.fit.is_empty() {
            return Err(Error::plain(
                "a fit needs the parameters to find",
                "write fit = [\"mu\"], or --fit mu,c",
            ));
        }
        let known = &self.model().parameters;
        let value = |name: &String| match known.iter().find(|p| p.name == *name) {
            Some(p) => Ok(p.value),
            None => {
                let names: Vec<String> = known.iter().map(|p| p.name.clone()).collect();
                Err(Error::unknown("parameter", name, &names, "make a parameter of what should be found"))
            }
        };
        if let Some(k) = (1..task.fit.len()).find(|k| task.fit[..*k].contains(&task.fit[*k])) {
            return Err(Error::plain(format!("`{}` is to be found twice", task.fit[k]), "name it once"));
        }
        task.fit.iter().map(value).collect()
    }

    /// Those asked for, else the ranges of the file.
    fn bounds_of_fit(&self, task: &FitTask) -> Result<Vec<[f64; 2]>, Error> {
        if let Some(b) = task.bounds.iter().find(|b| !task.fit.contains(&b.0)) {
            return Err(Error::unknown("fitted parameter", &b.0, &task.fit, "bound what is fitted"));
        }
        let mut out = Vec::new();
        for name in &task.fit {
            let asked = task.bounds.iter().find(|b| b.0 == *name).map(|b| [b.1, b.2]);
            let file = self.model().parameters.iter().find(|p| p.name == *name).and_then(|p| p.range);
            let [low, high] = asked.or(file).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            if !(low < high) {
                return Err(Error::plain(
                    format!("the bounds of `{name}` are {low} and {high}"),
                    "write the smaller one first",
                ));
            }
            out.push([low, high]);
        }
        Ok(out)
    }

    #[allow(clippy::too_many_arguments)]
    fn finding(
        &self,
        task: &FitTask,
        watch: Watch,
        problem: &mut dyn Problem,
        records: Records,
        fit: Fitted,
        scale: Vec<f64>,
        bounds: &[[f64; 2]],
        data: super::finding::FitData,
    ) -> Result<FitFinding, Error> {
        let (n, p) = (fit.sheet.r.len(), task.fit.len());
        let mut notes = records.notes.clone();
        let e = errors(&fit);
        let test = tests(&fit.sheet.r);
        let named = |value: &dyn Fn(usize) -> f64| -> Named<Num> {
            task.fit.iter().enumerate().map(|(k, name)| (name.clone(), Num(value(k)))).collect()
        };
        let mut weighed = Weighed { inner: problem, scale };
        let resampled = resampled(task, &mut weighed, &fit, bounds, &records, &mut notes);
        let ends = task.profile.then(|| {
            let one = |k: usize| {
                let first = e.factor * e.standard[k];
                match first.is_finite() && first > 0.0 {
                    true => profile(&mut weighed, &fit, bounds, k, first, e.sigma, e.factor).map(Num),
                    false => [Num(f64::NAN); 2],
                }
            };
            let list: Vec<[Num; 2]> = (0..p).map(one).collect();
            task.fit.iter().cloned().zip(list).collect::<Named<[Num; 2]>>()
        });
        let outliers: Vec<usize> =
            test.outliers.iter().map(|i| records.lines[i % records.lines.len().max(1)]).collect();
        remarks(task, &fit, &e, &test, &outliers, &mut notes);
        let held = data.curves.first().map_or(0, |c| c.x.len().saturating_sub(records.lines.len()));
        let validation = (held > 0).then(|| validation(&data, held, p, &mut notes));
        let size = n as f64;
        let aic = size * (fit.rss / size).ln() + 2.0 * p as f64;
        let mut found = FitFinding {
            estimate: named(&|k| fit.p[k]),
            half_width: named(&|k| e.factor * e.standard[k]),
            standard_error: named(&|k| e.standard[k]),
            profile: ends,
            block: resampled.as_ref().map(|r| r.1),
            bootstrap: resampled.map(|r| r.0),
            validation,
            correlation: task
                .fit
                .iter()
                .enumerate()
                .map(|(i, name)| (name.clone(), named(&|j| e.correlation[(i, j)])))
                .collect(),
            sigma: e.sigma,
            rss: fit.rss,
            chi2_reduced: Num(fit.rss / e.freedom as f64),
            aic: Num(aic),
            bic: Num(size * (fit.rss / size).ln() + size.ln() * p as f64),
            condition: Num(e.condition),
            identifiable: task.fit.iter().cloned().zip(e.identifiable.iter().copied()).collect(),
            combination: (!e.loose.is_empty()).then(|| named(&|k| e.loose[k])),
            at_bound: (0..p).filter(|k| fit.bound[*k]).map(|k| task.fit[k].clone()).collect(),
            residual_tests: FitTests {
                runs: test.runs,
                runs_p: test.runs_p,
                lag1: test.lag1,
                correlated: test.correlated,
                outliers,
            },
            compare: Vec::new(),
            points: n,
            freedom: e.freedom,
            iterations: fit.iterations,
            converged: fit.converged,
            along: records.form == Form::Series,
            differenced: records.differenced.iter().map(|k| task.fit[*k].clone()).collect(),
            notes,
            data,
            explain: "fit",
        };
        self.compared(task, watch, &mut found)?;
        Ok(found)
    }

    /// Other models of the same data: tasks of the file, or other files.
    fn compared(&self, task: &FitTask, watch: Watch, found: &mut FitFinding) -> Result<(), Error> {
        if task.compare.is_empty() {
            return Ok(());
        }
        let own = task.name.clone().unwrap_or_else(|| self.model().name.clone());
        let mut list = vec![(own, found.aic.0)];
        for name in &task.compare {
            let (machine, mut other) = self.other_fit(name, task)?;
            other.compare.clear();
            other.profile = false;
            (other.bootstrap, other.holdout) = (0, task.holdout);
            let f = machine.fit(&other, watch)?;
            if f.points != found.points {
                found.notes.push(format!(
                    "`{name}` uses {} values and this model {}: their AIC cannot be compared; leave out the rows that only one can use",
                    f.points, found.points
                ));
            }
            list.push((name.clone(), f.aic.0));
        }
        let best = list.iter().map(|l| l.1).fold(f64::INFINITY, f64::min);
        let weight = |aic: f64| (0.5 * (best - aic)).exp();
        let all: f64 = list.iter().map(|l| weight(l.1)).sum();
        let one = |(model, aic): (String, f64)| FitCompared { model, aic, weight: weight(aic) / all };
        found.compare = list.into_iter().map(one).collect();
        Ok(())
    }

    fn other_fit(&self, name: &str, task: &FitTask) -> Result<(Machine, FitTask), Error> {
        let asked = |machine: &Machine, wanted: Option<&str>| {
            let tasks = machine.model().tasks.iter();
            let mut fits = tasks.filter(|t| t.analyse == "fit" && wanted.is_none_or(|w| t.name == w));
            fits.next().map(|t| Task::read("fit", &t.keys)).transpose()
        };
        if let Some(Task::Fit(other)) = asked(self, Some(name))? {
            return Ok((self.clone(), other));
        }
        let text = self.source.files.text_of(name).map_err(|why| {
            Error::plain(
                format!("`{name}` is neither a fit of this file nor a file: {why}"),
                "compare with the name of another [[task]] of kind fit, or with a model file",
            )
        })?;
        let source = Source { label: name.to_string(), text, files: self.source.files.clone() };
        let machine = Machine::new(source, super::Options::default())?;
        let other = match asked(&machine, None)? {
            Some(Task::Fit(other)) => {
                FitTask { data: task.data.clone(), weights: task.weights.clone(), ..other }
            }
            _ => task.clone(),
        };
        Ok((machine, other))
    }
}

/// The best of all starts, with the weights of its rows.
fn search(
    problem: &mut dyn Problem,
    task: &FitTask,
    records: &Records,
    start: &[f64],
    bounds: &[[f64; 2]],
    usual: usize,
) -> Result<(Fitted, Vec<f64>), Error> {
    let mut scale = records.scale.clone();
    let mut best: Option<Fitted> = None;
    for k in 0..task.starts.unwrap_or(usual).max(1) {
        let from: Vec<f64> = (0..start.len()).map(|i| spread(start[i], bounds[i], k, i)).collect();
        let mut weighed = Weighed { inner: problem, scale: scale.clone() };
        let found = minimise(&mut weighed, &from, bounds, None);
        let better = |f: &Fitted| best.as_ref().is_none_or(|b| f.rss < b.rss * (1.0 - 1e-9));
        best = found.filter(|f| f.rss.is_finite() && better(f)).or(best);
        if problem.stopped() {
            break;
        }
    }
    let Some(mut best) = best else {
        return Err(Error::plain(
            "the residual has no value at the start",
            "give the parameters values at which the model runs to the end of the data, or --bounds and --starts 16",
        ));
    };
    // columns of different units weigh by their scatter, far residuals less
    let rounds = if task.robust { ROUNDS } else { 2 * usize::from(records.columns_weighed > 1) };
    for _ in 0..rounds {
        let plain: Vec<f64> = best.sheet.r.iter().zip(&scale).map(|(r, s)| r / s).collect();
        let next = records.weights(&plain, task.robust.then_some(HUBER));
        let change = next.iter().zip(&scale).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        scale = next;
        let mut weighed = Weighed { inner: problem, scale: scale.clone() };
        match minimise(&mut weighed, &best.p, bounds, None) {
            Some(found) => best = found,
            None => break,
        }
        if change < 1e-6 {
            break;
        }
    }
    Ok((best, scale))
}

/// Start number `k` of a parameter: the first is that of the file.
fn spread(value: f64, bound: [f64; 2], k: usize, i: usize) -> f64 {
    if k == 0 {
        return value;
    }
    let u = unit(Sampling::Sobol, 1, k as u64, i);
    match bound[0].is_finite() && bound[1].is_finite() {
        true => bound[0] + u * (bound[1] - bound[0]),
        false if value == 0.0 => normal_quantile(u),
        false => value * (SPREAD * normal_quantile(u)).exp(),
    }
}

/// Along growing parts of the record, so that events keep their order.
fn grown(series: &mut Series, start: &[f64], bounds: &[[f64; 2]]) -> Vec<f64> {
    let mut p = start.to_vec();
    for part in PARTS {
        series.keep(part);
        let near: Vec<[f64; 2]> = p
            .iter()
            .zip(bounds)
            .map(|(x, b)| match *x == 0.0 {
                true => *b,
                false => [b[0].max((x / 3.0).min(3.0 * x)), b[1].min((x / 3.0).max(3.0 * x))],
            })
            .collect();
        if let Some(found) = approach(series, &p, &near, None, ROUGH) {
            p = found.p;
        }
    }
    series.keep(1.0);
    p
}

/// What the user should know.
fn remarks(
    task: &FitTask,
    fit: &Fitted,
    e: &crate::analysis::fit::Errors,
    test: &crate::analysis::fit::Tests,
    outliers: &[usize],
    notes: &mut Vec<String>,
) {
    let names = &task.fit;
    let zero: Vec<&str> = (0..names.len())
        .filter(|k| (0..fit.sheet.r.len()).all(|i| fit.sheet.j[(i, *k)] == 0.0))
        .map(|k| names[k].as_str())
        .collect();
    for name in &zero {
        notes.push(format!("`{name}` has no influence on the residual: leave it out of the fit"));
    }
    let open: Vec<&str> = (0..names.len())
        .filter(|k| !e.identifiable[*k] && !zero.contains(&names[*k].as_str()))
        .map(|k| names[k].as_str())
        .collect();
    if !open.is_empty() {
        notes.push(format!(
            "the data cannot tell `{}` apart (condition {:.1e}): fix one of them, or measure where they act differently",
            open.join("`, `"),
            e.condition
        ));
    }
    for k in (0..names.len()).filter(|k| fit.bound[*k]) {
        notes.push(format!(
            "`{}` lies at its bound {}: it has no interval; widen the bound or fix it",
            names[k], fit.p[k]
        ));
    }
    if !fit.converged {
        notes.push(
            "the search did not reach a minimum: start nearer, give --bounds, or try --starts 16".into(),
        );
    }
    if test.correlated {
        notes.push(format!(
            "neighbouring residuals are alike (correlation {:.2}): the model lacks something, or the intervals are too narrow; --bootstrap 200 gives some that bear it",
            test.lag1
        ));
    }
    if !outliers.is_empty() && !task.robust {
        let shown: Vec<String> = outliers.iter().take(5).map(usize::to_string).collect();
        let more = if outliers.len() > 5 { ", …" } else { "" };
        notes.push(format!(
            "{} far from the others: line {}{more} of the data; check them, or fit with --robust",
            if outliers.len() == 1 {
                "one value lies".to_string()
            } else {
                format!("{} values lie", outliers.len())
            },
            shown.join(", ")
        ));
    }
    if e.freedom > 0 && e.freedom < 3 {
        notes.push(format!(
            "only {} more values than parameters: the intervals are hardly worth their name",
            e.freedom
        ));
    }
    debug_assert!(square(&fit.sheet.r).is_finite());
}

/// Keys of a task that a file or a command line gives.
pub(super) fn bounds(value: &TaskValue) -> Option<Vec<(String, f64, f64)>> {
    let TaskValue::Table(list) = value else { return None };
    let one = |(name, ends): &(String, TaskValue)| match ends {
        TaskValue::List(ends) => match ends[..] {
            [TaskValue::Number(low), TaskValue::Number(high)] => Some((name.clone(), low, high)),
            _ => None,
        },
        _ => None,
    };
    list.iter().map(one).collect()
}
