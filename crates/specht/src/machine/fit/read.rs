//! Measured columns: in SI, without gaps, with weights; what is wrong with them is named.

use crate::expr::{Dim, parse};
use crate::file::Csv;
use crate::machine::task::FitTask;
use crate::machine::{self, Error, Machine};

/// What the columns are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A formula of columns and parameters.
    Curve,
    /// The run, at the times of the column `t`.
    Series,
}

/// A column in SI.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub name: String,
    pub dim: Dim,
    pub values: Vec<f64>,
}

/// All that was measured.
#[derive(Clone, Debug)]
pub(super) struct Records {
    pub form: Form,
    pub columns: Vec<Measured>,
    /// The line of each row in the file.
    pub lines: Vec<usize>,
    /// Roots of the weights of all residuals, term after term.
    pub scale: Vec<f64>,
    /// Roots of the weights that the data give, per row.
    own: Vec<f64>,
    /// Residuals with units of their own: their number.
    pub columns_weighed: usize,
    /// Columns that are called like something of the model, when no residual is given.
    pub matched: Vec<usize>,
    /// What should be known.
    pub notes: Vec<String>,
    /// Parameters whose derivatives were differenced.
    pub differenced: Vec<usize>,
    label: String,
}

/// A pause this many times the usual distance of times is a gap.
const PAUSE: f64 = 10.0;

impl Records {
    pub(super) fn read(machine: &Machine, task: &FitTask) -> Result<Records, Error> {
        let label = task.data.clone();
        if label.is_empty() {
            return Err(Error::plain("a fit needs data", "write data = \"file.csv\", or --data file.csv"));
        }
        let wrong = |why: String, help: &str| Error::plain(format!("{label}: {why}"), help);
        let text = machine
            .source
            .files
            .text_of(&label)
            .map_err(|why| Error::plain(format!("cannot read the data `{label}`: {why}"), ""))?;
        let csv = Csv::read(&text).map_err(|why| wrong(why, ""))?;
        let time = csv.columns.iter().position(|c| c.name == "t" || c.name.to_lowercase() == "time");
        let form = if time.is_some() { Form::Series } else { Form::Curve };
        let mut columns = Vec::new();
        for (k, column) in csv.columns.iter().enumerate() {
            let (values, dim) = column.in_si().map_err(|why| wrong(why, ""))?;
            let name = if Some(k) == time { "t".to_string() } else { column.name.clone() };
            if time == Some(k) && !column.unit.is_empty() && dim.clashes(Dim::TIME) {
                return Err(wrong(
                    format!("the column `{}` is in {dim}, not a time", column.name),
                    "write t [s]",
                ));
            }
            columns.push(Measured { name, dim, values });
        }
        let mut out = Records {
            form,
            columns,
            lines: csv.lines.clone(),
            scale: Vec::new(),
            own: Vec::new(),
            columns_weighed: 1,
            matched: Vec::new(),
            notes: Vec::new(),
            differenced: Vec::new(),
            label,
        };
        if task.residual.is_none() && form == Form::Series {
            out.matched = out.called_alike(machine, task);
        }
        // rows without a number in a column that is used
        let used = out.used(task);
        for &k in &used {
            if let Some((line, cell)) = &csv.columns[k].text {
                return Err(out.wrong(
                    format!("line {line}: `{cell}` in column `{}` is not a number", csv.columns[k].name),
                    "write numbers with a point; leave the cell empty where nothing was measured",
                ));
            }
        }
        let whole: Vec<bool> = (0..out.lines.len())
            .map(|i| used.iter().all(|k| out.columns[*k].values[i].is_finite()))
            .collect();
        let gaps: Vec<usize> = (0..whole.len()).filter(|i| !whole[*i]).map(|i| out.lines[i]).collect();
        if !gaps.is_empty() {
            let shown: Vec<String> = gaps.iter().take(5).map(usize::to_string).collect();
            let more = if gaps.len() > 5 { ", …" } else { "" };
            let (count, word) = (gaps.len(), if gaps.len() == 1 { "row has" } else { "rows have" });
            out.notes.push(format!(
                "{count} {word} no number in a column that is used and {} left out: line {}{more}",
                if count == 1 { "is" } else { "are" },
                shown.join(", ")
            ));
            let keep = |list: &[f64]| list.iter().zip(&whole).filter(|w| *w.1).map(|w| *w.0).collect();
            out.columns.iter_mut().for_each(|c| c.values = keep(&c.values));
            out.lines = out.lines.iter().zip(&whole).filter(|w| *w.1).map(|w| *w.0).collect();
        }
        if out.lines.is_empty() {
            return Err(
                out.wrong("there are no rows with numbers".into(), "check its separators and its head")
            );
        }
        out.own = out.weights_of(task)?;
        out.times()?;
        Ok(out)
    }

    /// The same without the rows at the end.
    pub(super) fn without_last(&self, held: usize) -> Records {
        let mut out = self.clone();
        let kept = self.lines.len() - held;
        out.columns.iter_mut().for_each(|c| c.values.truncate(kept));
        out.lines.truncate(kept);
        out.own.truncate(kept);
        out
    }

    pub(super) fn wrong(&self, why: String, help: &str) -> Error {
        Error::plain(format!("{}: {why}", self.label), help)
    }

    fn called_alike(&self, machine: &Machine, task: &FitTask) -> Vec<usize> {
        let alike = |c: &Measured| {
            let skip = c.name == "t" || task.weights.as_ref() == Some(&c.name);
            let text = std::slice::from_ref(&c.name);
            !skip && machine::read(&machine.source, &machine.options, text).is_ok()
        };
        (0..self.columns.len()).filter(|k| alike(&self.columns[*k])).collect()
    }

    /// Columns that take part: those that the residual names or that are called like something of the model, the time and the weights.
    fn used(&self, task: &FitTask) -> Vec<usize> {
        let names: Option<Vec<String>> = task
            .residual
            .as_ref()
            .and_then(|r| parse(r).ok())
            .map(|ast| ast.names().into_iter().filter(|n| !n.call).map(|n| n.name).collect());
        let takes = |c: &Measured| {
            c.name == "t"
                || task.weights.as_ref() == Some(&c.name)
                || names.as_ref().is_some_and(|names| names.contains(&c.name))
        };
        (0..self.columns.len()).filter(|k| takes(&self.columns[*k]) || self.matched.contains(k)).collect()
    }

    fn weights_of(&self, task: &FitTask) -> Result<Vec<f64>, Error> {
        let Some(name) = &task.weights else { return Ok(vec![1.0; self.lines.len()]) };
        let Some(column) = self.columns.iter().find(|c| c.name == *name) else {
            let known: Vec<String> = self.columns.iter().map(|c| c.name.clone()).collect();
            return Err(Error::unknown("column", name, &known, "weights are a column of the data"));
        };
        match column.values.iter().position(|w| !(*w > 0.0)) {
            Some(i) => Err(self.wrong(
                format!("line {}: the weight {} is not positive", self.lines[i], column.values[i]),
                "weights are 1/s^2 of the scatter s; leave rows out instead of weighing them zero",
            )),
            None => Ok(column.values.iter().map(|w| w.sqrt()).collect()),
        }
    }

    /// Times ascend; a long pause is named.
    fn times(&mut self) -> Result<(), Error> {
        let Some(t) = self.columns.iter().find(|c| c.name == "t").filter(|_| self.form == Form::Series)
        else {
            return Ok(());
        };
        if let Some(i) = t.values.windows(2).position(|w| w[1] < w[0]) {
            return Err(self.wrong(
                format!(
                    "line {}: the time falls from {} to {}",
                    self.lines[i + 1],
                    t.values[i],
                    t.values[i + 1]
                ),
                "sort the rows by time; a file holds one record",
            ));
        }
        let mut steps: Vec<f64> = t.values.windows(2).map(|w| w[1] - w[0]).collect();
        let at = (0..steps.len()).max_by(|a, b| steps[*a].total_cmp(&steps[*b]));
        if let Some(i) = at {
            let (pause, line) = (steps[i], self.lines[i]);
            steps.sort_by(f64::total_cmp);
            if pause > PAUSE * steps[steps.len() / 2] {
                let note = format!(
                    "nothing was measured for {pause:.4} s after line {line}; the run goes on through it"
                );
                self.notes.push(note);
            }
        }
        Ok(())
    }

    /// So many residuals per row, term after term: their first weights. `spread`: scatter per term when they have units of their own.
    pub(super) fn terms(&mut self, spread: &[f64]) {
        self.columns_weighed = spread.len();
        self.scale = spread.iter().flat_map(|s| self.own.iter().map(move |w| w / s)).collect();
    }

    /// Weights after a fit with these residuals: by the scatter of each term, and less for far ones.
    pub(super) fn weights(&self, r: &[f64], huber: Option<f64>) -> Vec<f64> {
        let rows = self.own.len();
        let mut out = Vec::with_capacity(r.len());
        for term in r.chunks(rows) {
            let weighed: Vec<f64> = term.iter().zip(&self.own).map(|(r, w)| r * w).collect();
            let mut sizes: Vec<f64> = weighed.iter().map(|x| x.abs()).collect();
            sizes.sort_by(f64::total_cmp);
            let bulk = 1.4826 * sizes[sizes.len() / 2];
            let mean = (weighed.iter().map(|x| x * x).sum::<f64>() / rows as f64).sqrt();
            let unit = if self.columns_weighed > 1 { if huber.is_some() { bulk } else { mean } } else { 1.0 };
            let unit = if unit > 0.0 { unit } else { 1.0 };
            out.extend(weighed.iter().zip(&self.own).map(|(r, w)| {
                let far = huber.map_or(1.0, |k| (k * bulk / r.abs().max(f64::MIN_POSITIVE)).min(1.0));
                w * far.sqrt() / unit
            }));
        }
        out
    }
}
