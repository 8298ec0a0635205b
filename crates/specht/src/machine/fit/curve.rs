//! A formula of columns and parameters, differentiated as a formula.

use crate::analysis::fit::{Problem, Sheet};
use crate::analysis::map::Watch;
use crate::expr::{ChainOp, Kind, Symbol, Tape, Work, parse};
use crate::file::{self, Options};
use crate::linalg::Mat;
use crate::machine::finding::{FitCurve, FitData};
use crate::machine::task::FitTask;
use crate::machine::{Error, Machine};
use crate::model::Input;

use super::read::{Measured, Records};

/// The residual at every row of the data.
pub(super) struct Curve<'a> {
    /// The residual, and its derivative per parameter.
    tape: Tape,
    work: Work,
    inputs: Vec<f64>,
    /// Places of the parameters among the inputs.
    parameters: Vec<usize>,
    /// Columns with their places.
    columns: Vec<(usize, Vec<f64>)>,
    rows: usize,
    /// Column on the left of `y - formula`, and the column over which it is shown.
    left: Option<String>,
    over: Option<String>,
    watch: Watch<'a>,
}

impl<'a> Curve<'a> {
    pub(super) fn new(
        machine: &Machine,
        task: &FitTask,
        records: &mut Records,
        watch: Watch<'a>,
    ) -> Result<Curve<'a>, Error> {
        let names: Vec<&str> = records.columns.iter().map(|c| c.name.as_str()).collect();
        let Some(residual) = &task.residual else {
            return Err(records.wrong(
                "there is no column `t`, so a residual must say what is compared".into(),
                &format!(
                    "write residual = \"{} - …\"; its columns are {}",
                    names.last().unwrap_or(&"F"),
                    names.join(", ")
                ),
            ));
        };
        let source = &machine.source;
        let options = Options { live: task.fit.clone(), ..machine.options.clone() };
        let columns: Vec<_> = records.columns.iter().map(|c| (c.name.clone(), c.dim)).collect();
        let series = std::slice::from_ref(residual);
        let loaded =
            file::read_plotting(&source.text, &options, &|f| source.files.bytes_of(f), series, &columns)
                .map_err(|list| Error::located(source, &options, list).about_series(series))
                .map_err(|e| e.with_columns(&names))?;
        let mut model = loaded.model;
        let Some(node) = model.plots.last().and_then(|p| p.y.first()).map(|y| y.1) else {
            return Err(Error::plain(format!("`{residual}` cannot be read"), ""));
        };
        let place = |input: Input| model.inputs.iter().position(|i| *i == input);
        let parameters: Vec<usize> = task
            .fit
            .iter()
            .map(|name| {
                let live = model.parameters.iter().find(|p| p.name == *name).and_then(|p| p.live);
                live.and_then(|k| place(Input::Parameter(k)))
                    .ok_or_else(|| Error::plain(format!("`{name}` is a list; name one of its entries"), ""))
            })
            .collect::<Result<_, Error>>()?;
        let live = model.parameters.iter().filter(|p| p.live.is_some()).count();
        let columns: Vec<(usize, Vec<f64>)> = records
            .columns
            .iter()
            .enumerate()
            .filter_map(|(k, c)| Some((place(Input::Parameter(live + k))?, c.values.clone())))
            .collect();
        let known = |s: Symbol| matches!(model.inputs.get(s.0 as usize), Some(Input::Parameter(_)));
        let symbols = model.graph.symbols(&[node]);
        if !symbols.iter().all(|s| known(*s)) {
            return Err(Error::plain(
                format!("`{residual}` depends on the motion, but the data have no column `t`"),
                "name the time column t, or compare columns and parameters only",
            ));
        }
        let of_data = |s: &&Symbol| columns.iter().any(|c| c.0 == s.0 as usize);
        if !symbols.iter().any(|s| of_data(&s)) {
            return Err(Error::plain(
                format!("`{residual}` uses no column of the data"),
                format!("its columns are {}", names.join(", ")),
            ));
        }
        let mut roots = vec![node];
        roots.extend(parameters.iter().map(|k| model.graph.diff(node, Symbol(*k as u32))));
        let tape = Tape::new(&model.graph, &roots);
        let rows = records.lines.len();
        if rows <= task.fit.len() {
            return Err(records.wrong(
                format!("{rows} rows cannot tell {} parameters", task.fit.len()),
                "measure more, or fix some of them",
            ));
        }
        records.terms(&[1.0]);
        let (left, over) = shape(residual, &records.columns);
        let work = tape.workspace();
        let inputs = vec![0.0; model.inputs.len()];
        Ok(Curve { tape, work, inputs, parameters, columns, rows, left, over, watch })
    }

    /// Data and curve for the picture.
    pub(super) fn shown(&mut self, p: &[f64], records: &Records) -> FitData {
        let residual = self.residuals(p, false).map_or(Vec::new(), |s| s.r);
        let column = |name: &Option<String>| {
            let name = name.as_ref()?;
            records.columns.iter().find(|c| c.name == *name).map(|c| c.values.clone())
        };
        let measured = column(&self.left).unwrap_or_else(|| residual.clone());
        let x = column(&self.over).unwrap_or_else(|| (1..=self.rows).map(|i| i as f64).collect());
        let fitted = match &self.left {
            Some(_) => measured.iter().zip(&residual).map(|(y, r)| y - r).collect(),
            None => vec![0.0; self.rows],
        };
        let name = self.left.clone().unwrap_or_else(|| "residual".into());
        FitData {
            x: self.over.clone().unwrap_or_else(|| "row".into()),
            curves: vec![FitCurve { name, x, measured, fitted }],
        }
    }
}

impl Problem for Curve<'_> {
    fn residuals(&mut self, p: &[f64], derivatives: bool) -> Option<Sheet> {
        for (k, x) in self.parameters.iter().zip(p) {
            self.inputs[*k] = *x;
        }
        let mut r = Vec::with_capacity(self.rows);
        let mut j = Mat::zeros(if derivatives { self.rows } else { 0 }, p.len());
        for i in 0..self.rows {
            for (place, values) in &self.columns {
                self.inputs[*place] = values[i];
            }
            self.tape.eval(&self.inputs, &mut self.work);
            let value = self.tape.output(&self.work, 0);
            if !value.is_finite() {
                return None;
            }
            r.push(value);
            if derivatives {
                for k in 0..p.len() {
                    let slope = self.tape.output(&self.work, k + 1);
                    j.row_mut(i)[k] = if slope.is_finite() { slope } else { 0.0 };
                }
            }
        }
        Some(Sheet { r, j })
    }

    fn stopped(&self) -> bool {
        self.watch.interrupt.is_some_and(|i| i.load(std::sync::atomic::Ordering::Relaxed))
    }
}

/// `y - formula`: the column y, and the first other column of the formula.
fn shape(residual: &str, columns: &[Measured]) -> (Option<String>, Option<String>) {
    let Ok(ast) = parse(residual) else { return (None, None) };
    let is_column = |name: &str| columns.iter().any(|c| c.name == name);
    let uses: Vec<String> =
        ast.names().into_iter().filter(|n| !n.call && is_column(&n.name)).map(|n| n.name).collect();
    let left = match &ast.root.kind {
        Kind::Chain(first, links) if links[0].op == ChainOp::Sub => match &first.kind {
            Kind::Name { parts, .. } => Some(parts[0].name.clone()),
            _ => None,
        },
        _ => None,
    };
    let left = left.filter(|name| uses.iter().filter(|u| *u == name).count() == 1);
    let over = uses.iter().find(|u| Some(*u) != left.as_ref()).cloned();
    (left, over)
}
