//! Tasks: kind, names that must exist, numbers with their units resolved. What else a task needs is checked by its analysis.

use super::builder::{Builder, Context, Scope};
use super::diagnostic::{Fault, Resolved, fault};
use super::fields::{Word, shorten};
use super::formula::Formula;
use super::keys;
use super::names::What;
use super::resolve::near;
use super::tree::{Entry, Node, Value};
use crate::expr::{self, Dim, did_you_mean};
use crate::model::{Span, Task, TaskValue};

/// Most points of one axis of a map.
const MAX_COUNT: f64 = 100_000.0;

impl Builder<'_> {
    /// Tasks of the model.
    pub(super) fn finish_tasks(&mut self) {
        let raw = self.raw.clone();
        for task in &raw.tasks {
            let made = self.task(&task.entries, task.span);
            if let Some(task) = self.keep(made) {
                if let Some(first) = self.model.tasks.iter().find(|t| t.name == task.name) {
                    let help = format!(
                        "the finding of the first would be lost; {} names them apart",
                        if first.name == first.analyse { "`name`" } else { "another name" }
                    );
                    self.report.error(
                        task.span,
                        format!("two tasks are called `{}`", shorten(&task.name)),
                        help,
                    );
                    continue;
                }
                self.model.tasks.push(task);
            }
        }
    }

    fn task(&mut self, entries: &[Entry], span: Span) -> Resolved<Task> {
        let get = |key: &str| entries.iter().find(|e| e.key == key);
        let Some(kind) = get("analyse") else {
            return Err(fault(
                span,
                "this task says not what to do",
                format!("write  analyse = \"…\"; one of {}", keys::ANALYSES.join(", ")),
            ));
        };
        let analyse = text_of(&kind.node, "analyse")?;
        if !keys::ANALYSES.contains(&analyse.as_str()) {
            let message = format!("unknown analysis `{}`", shorten(&analyse));
            return Err(fault(kind.node.span, message, near(&analyse, keys::ANALYSES)));
        }
        let name = match get("name") {
            Some(entry) => text_of(&entry.node, "name")?,
            None => analyse.clone(),
        };
        let mut out = Vec::new();
        for entry in entries.iter().filter(|e| e.key != "analyse" && e.key != "name") {
            let known = keys::TASK.iter().any(|k| k.name == entry.key);
            if !known && let Some(near) = did_you_mean(&entry.key, keys::TASK.iter().map(|k| k.name)) {
                let message = format!("`{}` is not a common key of tasks", shorten(&entry.key));
                self.report.warning(entry.span, message, format!("did you mean `{near}`?"));
            }
            let value = self.task_key(entry, &analyse)?;
            out.push((entry.key.clone(), value));
        }
        Ok(Task { name, analyse, keys: out, span })
    }

    fn task_key(&mut self, entry: &Entry, analyse: &str) -> Resolved<TaskValue> {
        let node = &entry.node;
        match entry.key.as_str() {
            "contact" | "contacts" | "stick" | "slide" | "open" => {
                for word in words(node) {
                    self.contacts_named(&word)?;
                }
            }
            "case" => {
                let case = text_of(node, "case")?;
                let cases: Vec<String> = self.raw.cases.iter().map(|c| c.name.text.clone()).collect();
                if !cases.contains(&case) {
                    let known: Vec<&str> = cases.iter().map(String::as_str).collect();
                    return Err(fault(
                        node.span,
                        format!("the file has no case `{}`", shorten(&case)),
                        near(&case, &known),
                    ));
                }
            }
            // a sweep looks at contacts and kinds of events too, and says itself what is missing
            "section" if analyse != "sweep" => {
                let section = text_of(node, "section")?;
                let base = section.split('[').next().unwrap_or("");
                let raw = self.raw.clone();
                let events: Vec<&str> =
                    raw.events.iter().filter_map(|e| e.name.as_ref()).map(|n| n.text.as_str()).collect();
                if !events.contains(&base) {
                    let message = format!("there is no event `{}`", shorten(&section));
                    return Err(fault(node.span, message, near(base, &events)));
                }
            }
            "fit" | "amplitude" | "critical" => {
                for word in words(node) {
                    self.parameter_named(&word.text, word.span)?;
                }
            }
            "points" => {
                for word in words(node) {
                    let ast = expr::parse(&word.text).map_err(|e| fault(word.span, e.message, e.help))?;
                    let formula = Formula::of(ast, word.span);
                    self.within(Context::new(Scope::Parameter), |b| b.feature_ref(&formula))?;
                }
            }
            "stiffness" if let Value::Table(entries) = &node.value => {
                let mut out = Vec::new();
                for entry in entries {
                    self.contacts_named(&Word { text: entry.key.clone(), span: entry.span })?;
                    let number = self.task_number(&entry.node, Dim::Any)?;
                    out.push((entry.key.clone(), TaskValue::Number(number)));
                }
                return Ok(TaskValue::Table(out));
            }
            "over" | "two" if matches!(analyse, "branch" | "return-map") => {
                return self.span_of(node, analyse == "return-map");
            }
            "over" => {
                return self.over(node, analyse);
            }
            "bounds" => return self.bounds(node),
            "at" => self.coordinates_named(node)?,
            "box" => {
                self.coordinates_named(node)?;
                return self.ranges(node, "box");
            }
            "threshold" => return Ok(TaskValue::Number(self.task_number(node, Dim::Any)?)),
            "samples" | "seed" | "last" | "multiple" | "starts" => {
                return Ok(TaskValue::Number(self.task_number(node, Dim::NONE)?));
            }
            "time" | "warm_up" | "at_time" | "period" | "per" | "from" | "to" | "until" => {
                let number = self.task_number(node, Dim::TIME)?;
                return Ok(TaskValue::Number(number));
            }
            _ => {}
        }
        Ok(plain(node, TEXT_KEYS.contains(&entry.key.as_str())))
    }

    pub(super) fn parameter_named(&self, name: &str, span: Span) -> Resolved<Dim> {
        let base = name.split('[').next().unwrap_or(name);
        match self.names.get(base) {
            Some(What::Parameter(_)) => Ok(self.dims.get(base).copied().unwrap_or(Dim::Any)),
            other => {
                let help = match other {
                    Some(what) => format!("it is {}; make a parameter of what should vary", what.noun()),
                    None => {
                        let all: Vec<&str> = self
                            .names
                            .all()
                            .filter(|(_, w)| matches!(w, What::Parameter(_)))
                            .map(|(n, _)| n)
                            .collect();
                        near(base, &all)
                    }
                };
                Err(fault(span, format!("there is no parameter `{}`", shorten(name)), help))
            }
        }
    }

    /// `at = { phi = 1, "phi'" = -3 }`.
    fn coordinates_named(&self, node: &Node) -> Resolved<()> {
        let Value::Table(entries) = &node.value else { return Ok(()) };
        for entry in entries {
            let coordinate = entry.key.strip_suffix('\'').unwrap_or(&entry.key);
            let base = coordinate.split('[').next().unwrap_or(coordinate);
            if !matches!(self.names.get(base), Some(What::Coordinate(_))) {
                let known = self.names.all().filter(|(_, w)| matches!(w, What::Coordinate(_)));
                let known: Vec<&str> = known.map(|(n, _)| n).collect();
                let message = format!("there is no coordinate `{}`", shorten(coordinate));
                return Err(fault(entry.span, message, near(base, &known)));
            }
        }
        Ok(())
    }

    /// A parameter; for analyses that look at states also a coordinate `phi` or a velocity `"phi'"`.
    fn axis_named(&self, name: &str, span: Span, moving: bool) -> Resolved<Dim> {
        let coordinate = name.strip_suffix('\'').unwrap_or(name);
        let base = coordinate.split('[').next().unwrap_or(coordinate);
        match self.names.get(base) {
            Some(What::Coordinate(_)) if moving => Ok(Dim::Any),
            _ => self.parameter_named(name, span),
        }
    }

    /// `over = { parameter = [from, to, count] }`; of a sweep also as on a command line, `"0.1, 0.2"`, `"1..100:3:log"`.
    fn over(&mut self, node: &Node, analyse: &str) -> Resolved<TaskValue> {
        let (moving, listed) = (matches!(analyse, "painleve" | "tensor" | "basin"), analyse == "sweep");
        let Value::Table(entries) = &node.value else {
            return Err(fault(node.span, "`over` is a table", "write  over = { mu = [0, 1, 11] }"));
        };
        let mut out = Vec::new();
        for entry in entries {
            // a frequency need not be a parameter
            let dim = match matches!(analyse, "response" | "break-away" | "friction-law") {
                true => Dim::Any,
                false => self.axis_named(&entry.key, entry.span, moving)?,
            };
            if let (Value::Text(text), true) = (&entry.node.value, listed) {
                out.push((entry.key.clone(), TaskValue::Text(text.text.clone())));
                continue;
            }
            let Value::List(list) = &entry.node.value else {
                return Err(fault(entry.node.span, "a range is a list", "write  [from, to, count]"));
            };
            if let ([from, to], true) = (list.as_slice(), UNCOUNTED.contains(&analyse)) {
                let ends = [self.task_number(from, dim)?, self.task_number(to, dim)?];
                out.push((
                    entry.key.clone(),
                    TaskValue::List(ends.into_iter().map(TaskValue::Number).collect()),
                ));
                continue;
            }
            let [from, to, count] = list.as_slice() else {
                let message = format!("a range has three entries, this has {}", list.len());
                return Err(fault(entry.node.span, message, "write  [from, to, count]"));
            };
            let number = self.task_number(count, Dim::NONE)?;
            if !(1.0..=MAX_COUNT).contains(&number) || number != number.round() {
                return Err(fault(
                    count.span,
                    format!("the count is {number}"),
                    format!("a whole number from 1 to {MAX_COUNT}"),
                ));
            }
            let ends = [self.task_number(from, dim)?, self.task_number(to, dim)?, number];
            out.push((entry.key.clone(), TaskValue::List(ends.into_iter().map(TaskValue::Number).collect())));
        }
        Ok(TaskValue::Table(out))
    }

    /// `over = { mu = [0, 1] }`: two ends.
    fn span_of(&mut self, node: &Node, moving: bool) -> Resolved<TaskValue> {
        let Value::Table(entries) = &node.value else {
            return Err(fault(node.span, "`over` is a table", "write  over = { mu = [0, 1] }"));
        };
        let mut out = Vec::new();
        for entry in entries {
            let dim = self.axis_named(&entry.key, entry.span, moving)?;
            let Value::List(list) = &entry.node.value else {
                return Err(fault(entry.node.span, "a range is a list", "write  [from, to]"));
            };
            let numbers = list.iter().map(|n| self.task_number(n, dim)).collect::<Resolved<Vec<f64>>>()?;
            out.push((
                entry.key.clone(),
                TaskValue::List(numbers.into_iter().map(TaskValue::Number).collect()),
            ));
        }
        Ok(TaskValue::Table(out))
    }

    /// `bounds = { mu = [0, 1] }`.
    fn bounds(&mut self, node: &Node) -> Resolved<TaskValue> {
        if let Value::Table(entries) = &node.value {
            for entry in entries {
                self.parameter_named(&entry.key, entry.span)?;
            }
        }
        self.ranges(node, "bounds")
    }

    /// `box = { x = [-2, 4] }`.
    fn ranges(&mut self, node: &Node, key: &str) -> Resolved<TaskValue> {
        let Value::Table(entries) = &node.value else {
            let help = format!("write  {key} = {{ x = [-2, 4] }}");
            return Err(fault(node.span, format!("`{key}` is a table"), help));
        };
        let mut out = Vec::new();
        for entry in entries {
            let Value::List(list) = &entry.node.value else {
                return Err(fault(entry.node.span, "a range is a list", "write  [from, to]"));
            };
            let numbers =
                list.iter().map(|n| self.task_number(n, Dim::Any)).collect::<Resolved<Vec<f64>>>()?;
            out.push((
                entry.key.clone(),
                TaskValue::List(numbers.into_iter().map(TaskValue::Number).collect()),
            ));
        }
        Ok(TaskValue::Table(out))
    }

    fn task_number(&mut self, node: &Node, dim: Dim) -> Resolved<f64> {
        let mut own = super::diagnostic::Report::default();
        let formula = Formula::read(node, &mut own);
        own.list.into_iter().for_each(|d| self.report.push(d));
        let formula = formula.ok_or(Fault::Reported)?;
        let node =
            self.within(Context::new(Scope::Parameter), |b| b.lower_as(&formula, dim, "this number"))?;
        match self.default_value(node) {
            Some(value) if value.is_finite() => Ok(value),
            _ => Err(formula.error("this must be a finite number", "").into()),
        }
    }
}

/// Keys whose texts stay texts, even if they look like numbers.
const TEXT_KEYS: [&str; 26] = [
    "weights",
    "compare",
    "switch",
    "critical",
    "coordinate",
    "power",
    "contact",
    "contacts",
    "case",
    "section",
    "points",
    "of",
    "record",
    "data",
    "residual",
    "random",
    "chain",
    "values",
    "stick",
    "slide",
    "open",
    "force",
    "amplitude",
    "friction",
    "load",
    "drive",
];

/// Analyses whose ranges need no number of values.
const UNCOUNTED: [&str; 6] = ["equilibrium", "modes", "response", "break-away", "stability", "friction-law"];

fn text_of(node: &Node, key: &str) -> Resolved<String> {
    match &node.value {
        Value::Text(t) => Ok(t.text.clone()),
        _ => Err(fault(
            node.span,
            format!("`{key}` must be a text in quotes"),
            format!("this is {}", node.kind()),
        )),
    }
}

/// The texts of a value: itself, or the entries of a list.
fn words(node: &Node) -> Vec<Word> {
    match &node.value {
        Value::Text(t) => vec![Word { text: t.text.clone(), span: node.span }],
        Value::List(list) => list.iter().flat_map(words).collect(),
        _ => Vec::new(),
    }
}

/// A value as it stands; texts that are quantities become numbers unless `text`.
fn plain(node: &Node, text: bool) -> TaskValue {
    match &node.value {
        Value::Number(x) => TaskValue::Number(*x),
        Value::Bool(b) => TaskValue::Bool(*b),
        Value::Text(t) => match expr::parse(&t.text).ok().and_then(|a| a.as_quantity()) {
            Some((value, _)) if !text => TaskValue::Number(value),
            _ => TaskValue::Text(t.text.clone()),
        },
        Value::List(list) => TaskValue::List(list.iter().map(|n| plain(n, text)).collect()),
        Value::Table(entries) => {
            TaskValue::Table(entries.iter().map(|e| (e.key.clone(), plain(&e.node, text))).collect())
        }
    }
}
