//! A residual along the run, at the measured times; derivatives through all events (METH-SALT-GEN).

use std::sync::Arc;

use crate::analysis::fit::{Problem, Sheet};
use crate::analysis::map::Watch;
use crate::analysis::place::start_of;
use crate::analysis::seeds::seed;
use crate::expr::{ExprError, Graph, NodeId, Reference, Resolver, Symbol, Tape, Work, lower_with, parse};
use crate::file::Options;
use crate::linalg::Mat;
use crate::machine::finding::{FitCurve, FitData};
use crate::machine::task::FitTask;
use crate::machine::{Error, Machine, compile, read};
use crate::model::CompiledSystem;
use crate::sim::{Outside, Record, Scheme, Settings, event_driven_along};
use crate::system::System;

use super::read::Records;

/// One residual: what is measured and what the model has, as symbols of a small graph: columns first, then series of the run.
struct Term {
    name: String,
    /// The residual, and its derivative per series.
    tape: Tape,
    work: Work,
    /// The column that it is about, for the picture.
    column: Option<usize>,
}

/// The residuals of all rows.
pub(super) struct Series<'a> {
    system: CompiledSystem,
    settings: Settings,
    /// Numbers of the live parameters that are fitted.
    live: Vec<usize>,
    /// The first of the recorded series among the outputs.
    first: usize,
    /// Their number.
    count: usize,
    terms: Vec<Term>,
    columns: Vec<Vec<f64>>,
    times: Arc<[f64]>,
    /// Rows that count.
    rows: usize,
    watch: Watch<'a>,
    /// Parameters whose derivatives had to be differenced.
    differenced: Vec<bool>,
}

/// Step of differences, relative to a parameter.
const STEP: f64 = 1e-5;
/// Ratios of model and data that units explain.
const RATIOS: [(f64, &str); 3] = [(1e3, "a thousand"), (1e6, "a million"), (57.29577951308232, "180/pi")];

impl<'a> Series<'a> {
    pub(super) fn new(
        machine: &Machine,
        task: &FitTask,
        records: &mut Records,
        watch: Watch<'a>,
    ) -> Result<Series<'a>, Error> {
        let (_, settings) = machine.clone().until(1.0).settings()?;
        if machine.setup.scheme.or(machine.model().run.scheme) == Some(Scheme::Step) {
            return Err(Error::plain(
                "a fit along the run needs the event-driven scheme",
                "leave out  scheme = \"step\"",
            ));
        }
        let (names, graph, roots) = match &task.residual {
            Some(residual) => explicit(machine, residual, records)?,
            None => pairs(machine, records)?,
        };
        let options = Options { live: task.fit.clone(), ..machine.options.clone() };
        let loaded = read(&machine.source, &options, &names).map_err(|e| e.about_series(&names))?;
        let system = compile(&machine.source, &options, &loaded.model)?;
        let live = task
            .fit
            .iter()
            .map(|name| {
                let known = system.model().parameters.iter().find(|p| p.name == *name);
                known
                    .and_then(|p| p.live)
                    .ok_or_else(|| Error::plain(format!("`{name}` is a list; name one of its entries"), ""))
            })
            .collect::<Result<Vec<usize>, Error>>()?;
        let columns: Vec<Vec<f64>> = records.columns.iter().map(|c| c.values.clone()).collect();
        let time = records.columns.iter().position(|c| c.name == "t").unwrap_or(0);
        let times: Arc<[f64]> = columns[time].clone().into();
        let (rows, count) = (times.len(), names.len());
        let begin = system.start().t;
        if times[0] < begin {
            return Err(records.wrong(
                format!("line {}: the record begins at {} s, before the run", records.lines[0], times[0]),
                "count its time from the start of the model",
            ));
        }
        if rows * roots.len() <= task.fit.len() {
            return Err(records.wrong(
                format!("{rows} rows cannot tell {} parameters", task.fit.len()),
                "measure more, or fix some of them",
            ));
        }
        let mut graph = graph;
        let terms: Vec<Term> = roots
            .into_iter()
            .map(|(name, node, column)| {
                let mut all = vec![node];
                all.extend((0..count).map(|k| graph.diff(node, Symbol((columns.len() + k) as u32))));
                let tape = Tape::new(&graph, &all);
                let work = tape.workspace();
                Term { name, tape, work, column }
            })
            .collect();
        let spread: Vec<f64> = match terms.len() {
            1 => vec![1.0],
            _ => terms.iter().map(|t| t.column.map_or(1.0, |c| scatter(&columns[c]))).collect(),
        };
        records.terms(&spread);
        let settings = Settings { until: times[rows - 1], record: Record::At(times.clone()), ..settings };
        let first = system.output_count() - count;
        let differenced = vec![false; live.len()];
        Ok(Series { system, settings, live, first, count, terms, columns, times, rows, watch, differenced })
    }

    /// Only the first part of the record counts.
    pub(super) fn keep(&mut self, part: f64) {
        let all = self.times.len();
        let least = (4 * self.live.len()).min(all);
        self.rows = ((part * all as f64).ceil() as usize).clamp(least, all);
        self.settings.until = self.times[self.rows - 1];
    }

    /// Share of the scatter of the data that the model explains with these parameters; none where it has no value.
    pub(super) fn explained_at(&mut self, p: &[f64]) -> f64 {
        self.residuals(p, false).map_or(f64::NEG_INFINITY, |sheet| self.explained(&sheet.r))
    }

    /// The same with these residuals.
    pub(super) fn explained(&self, r: &[f64]) -> f64 {
        let rows = self.times.len();
        let shares = self.terms.iter().zip(r.chunks(rows)).filter_map(|(term, r)| {
            let all = scatter(&self.columns[term.column?]).powi(2) * rows as f64;
            Some(1.0 - r.iter().map(|x| x * x).sum::<f64>() / all)
        });
        // weighed terms are relative already
        if self.terms.len() > 1 { 1.0 } else { shares.fold(1.0, f64::min) }
    }

    /// Columns that are larger or smaller than the model by what units explain.
    pub(super) fn suspect(&mut self, p: &[f64], records: &mut Records) {
        let Some(values) = self.run(p, false).map(|run| run.0) else { return };
        let size = |list: &mut dyn Iterator<Item = f64>| list.map(f64::abs).fold(0.0, f64::max);
        for (k, term) in self.terms.iter().enumerate().filter(|_| self.terms.len() == self.count) {
            let Some(c) = term.column.filter(|c| records.columns[*c].dim == crate::expr::Dim::Any) else {
                continue;
            };
            let data = size(&mut self.columns[c].iter().copied());
            let model = size(&mut values.iter().map(|row| row[k]));
            for (ratio, word) in RATIOS {
                for (found, which) in [(data / model, "larger"), (model / data, "smaller")] {
                    if (found / ratio - 1.0).abs() < 0.3 {
                        let name = &records.columns[c].name;
                        records.notes.push(format!(
                            "column `{name}` is about {word} times {which} than the model has it: is it in SI? Write its unit in the head, as in  {name} [mm]"
                        ));
                    }
                }
            }
        }
    }

    /// Data and run for the picture.
    pub(super) fn shown(&mut self, p: &[f64], records: &mut Records) -> FitData {
        records.differenced = (0..self.live.len()).filter(|k| self.differenced[*k]).collect();
        let residual = self.residuals(p, false).map_or(Vec::new(), |s| s.r);
        let rows = self.rows;
        let curves = self.terms.iter().zip(residual.chunks(rows)).map(|(term, r)| {
            let measured = term.column.map_or_else(|| r.to_vec(), |c| self.columns[c].clone());
            let fitted = match term.column {
                Some(_) => measured.iter().zip(r).map(|(y, r)| y - r).collect(),
                None => vec![0.0; rows],
            };
            FitCurve { name: term.name.clone(), x: self.times.to_vec(), measured, fitted }
        });
        FitData { x: "t".into(), curves: curves.collect() }
    }

    /// The series of the run at all rows, and their derivatives per row and parameter.
    #[allow(clippy::type_complexity)]
    fn run(&mut self, p: &[f64], derivatives: bool) -> Option<(Vec<Vec<f64>>, Vec<Vec<Vec<f64>>>)> {
        let mut numbers = self.system.parameters().to_vec();
        for (k, x) in self.live.iter().zip(p) {
            numbers[*k] = *x;
        }
        self.system.set_parameters(&numbers);
        let start = start_of(&self.system).ok()?;
        let live: &[usize] = if derivatives { &self.live } else { &[] };
        let seeds = live.iter().map(|k| seed(&self.system, *k, None)).collect::<Result<Vec<_>, _>>().ok()?;
        let mut outside = Outside { interrupt: self.watch.interrupt, progress: None };
        let run = event_driven_along(&self.system, &start, &self.settings, &mut outside, &seeds, derivatives)
            .ok()?;
        if run.samples.len() < self.rows {
            return None;
        }
        let range = self.first..self.first + self.count;
        let values = run.samples.rows().take(self.rows).map(|r| r.outputs[range.clone()].to_vec()).collect();
        let rates = match run.derivatives {
            Some(d) if derivatives => d
                .rows
                .into_iter()
                .take(self.rows)
                .map(|row| row.into_iter().map(|c| c[range.clone()].to_vec()).collect())
                .collect(),
            _ => Vec::new(),
        };
        Some((values, rates))
    }

    /// Derivatives that do not exist are differenced.
    fn mend(&mut self, p: &[f64], rates: &mut [Vec<Vec<f64>>]) -> Option<()> {
        for k in 0..p.len() {
            if rates.iter().all(|row| row[k].iter().all(|x| x.is_finite())) {
                continue;
            }
            self.differenced[k] = true;
            let h = STEP * if p[k] == 0.0 { 1.0 } else { p[k].abs() };
            let mut at = |x: f64| {
                let mut q = p.to_vec();
                q[k] = x;
                self.run(&q, false).map(|r| r.0)
            };
            let (up, down) = (at(p[k] + h)?, at(p[k] - h)?);
            for (i, row) in rates.iter_mut().enumerate() {
                for (m, x) in row[k].iter_mut().enumerate().filter(|(_, x)| !x.is_finite()) {
                    *x = (up[i][m] - down[i][m]) / (2.0 * h);
                }
            }
        }
        Some(())
    }
}

impl Problem for Series<'_> {
    fn residuals(&mut self, p: &[f64], derivatives: bool) -> Option<Sheet> {
        let (values, mut rates) = self.run(p, derivatives)?;
        if derivatives {
            self.mend(p, &mut rates)?;
        }
        let all = self.rows * self.terms.len();
        let mut r = Vec::with_capacity(all);
        let mut j = Mat::zeros(if derivatives { all } else { 0 }, p.len());
        let mut inputs = vec![0.0; self.columns.len() + self.count];
        for term in &mut self.terms {
            for i in 0..self.rows {
                for (c, column) in self.columns.iter().enumerate() {
                    inputs[c] = column[i];
                }
                inputs[self.columns.len()..].copy_from_slice(&values[i]);
                term.tape.eval(&inputs, &mut term.work);
                let value = term.tape.output(&term.work, 0);
                if !value.is_finite() {
                    return None;
                }
                if derivatives {
                    for k in 0..p.len() {
                        let slope: f64 = (0..self.count)
                            .map(|m| term.tape.output(&term.work, m + 1) * rates[i][k][m])
                            .sum();
                        j.row_mut(r.len())[k] = slope;
                    }
                }
                r.push(value);
            }
        }
        Some(Sheet { r, j })
    }

    fn stopped(&self) -> bool {
        self.watch.interrupt.is_some_and(|i| i.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// Series of the run, the graph of the residuals, and per residual its name, its node and its column.
type Residuals = (Vec<String>, Graph, Vec<(String, NodeId, Option<usize>)>);

/// Columns that are called like something of the model.
fn pairs(machine: &Machine, records: &Records) -> Result<Residuals, Error> {
    let found = &records.matched;
    let names = found.iter().map(|c| records.columns[*c].name.clone()).collect();
    if found.is_empty() {
        let all: Vec<&str> = records.columns.iter().map(|c| c.name.as_str()).filter(|n| *n != "t").collect();
        let known = machine.names();
        let known: Vec<&str> =
            known.outputs.iter().chain(&known.coordinates).map(String::as_str).take(12).collect();
        return Err(records.wrong(
            format!("no column is called like something of the model; its columns are {}", all.join(", ")),
            &format!(
                "the model has {}; rename a column, or say what should be zero with residual",
                known.join(", ")
            ),
        ));
    }
    let mut graph = Graph::default();
    let total = records.columns.len();
    let roots = found.iter().enumerate().map(|(k, &c)| {
        let measured = graph.sym(Symbol(c as u32));
        let model = graph.sym(Symbol((total + k) as u32));
        (records.columns[c].name.clone(), graph.sub(measured, model), Some(c))
    });
    let roots = roots.collect();
    Ok((names, graph, roots))
}

/// Names of the residual that are no columns are series of the run.
struct Names<'a> {
    records: &'a Records,
    series: Vec<String>,
}

impl Resolver for Names<'_> {
    fn name(&mut self, graph: &mut Graph, reference: &Reference<'_>) -> Result<NodeId, ExprError> {
        let text = reference.text();
        if let Some(c) = self.records.columns.iter().position(|c| c.name == text) {
            return Ok(graph.sym(Symbol(c as u32)));
        }
        let k = self.series.iter().position(|s| *s == text).unwrap_or_else(|| {
            self.series.push(text);
            self.series.len() - 1
        });
        Ok(graph.sym(Symbol((self.records.columns.len() + k) as u32)))
    }
}

fn explicit(machine: &Machine, residual: &str, records: &Records) -> Result<Residuals, Error> {
    let fault = |e: ExprError| Error::plain(format!("`{residual}`: {}", e.message), e.help);
    let ast = parse(residual).map_err(fault)?;
    let mut graph = Graph::default();
    let mut names = Names { records, series: Vec::new() };
    let node = lower_with(&mut graph, &mut names, &ast, &[]).map_err(fault)?;
    let series = names.series;
    if series.is_empty() {
        return Err(Error::plain(
            format!("`{residual}` does not depend on the run"),
            "columns hide names of the model: rename the column, as in  x_measured - x",
        ));
    }
    let known = read(&machine.source, &machine.options, &series).map_err(|e| e.about_series(&series));
    let columns: Vec<&str> = records.columns.iter().map(|c| c.name.as_str()).collect();
    known.map_err(|e| e.with_columns(&columns))?;
    let column =
        records.columns.iter().position(|c| residual.trim_start().starts_with(&format!("{} -", c.name)));
    Ok((series, graph, vec![(residual.to_string(), node, column)]))
}

fn scatter(y: &[f64]) -> f64 {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let s = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    if s > 0.0 { s } else { 1.0 }
}
