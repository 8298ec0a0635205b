//! Parameters: overrides by cases and `--set`, values in any order, live parameters, ranges.
//!
//! A live parameter stays a symbol of the graph, so that a map over it compiles once; everything derived from it then is a
//! node. What must be a constant (bounds of families, indices, points of tables) may not depend on it.

use super::builder::{Builder, Context, Scope, Thing, Val};
use super::diagnostic::{Diagnostic, Fault, Origin, Report, Resolved};
use super::fields::shorten;
use super::formula::Formula;
use super::names::What;
use super::raw::{RawValue, value_of};
use super::tree::{self, Node, Value};
use crate::expr::{Dim, NodeId, did_you_mean};
use crate::model::{Input, Parameter, Span};

impl Builder<'_> {
    /// Puts cases and overrides in place of the values in the file.
    pub(super) fn override_parameters(&mut self) {
        self.values = self.raw.parameters.iter().map(|p| p.value.clone()).collect();
        let raw = self.raw.clone();

        // every case is checked, the chosen one is used
        for case in &raw.cases {
            for (name, value) in &case.values {
                match self.names.get(&name.text) {
                    Some(What::Parameter(k)) => {
                        if self.options.case.as_deref() == Some(case.name.text.as_str()) {
                            self.values[k] = value.clone();
                        }
                    }
                    other => {
                        let help = self.not_a_parameter(&name.text, other);
                        let message = format!(
                            "case `{}` sets `{}`, which is not a parameter",
                            case.name.text,
                            shorten(&name.text)
                        );
                        self.report.error(name.span, message, help);
                    }
                }
            }
        }
        if let Some(case) = &self.options.case
            && !raw.cases.iter().any(|c| c.name.text == *case)
        {
            let known: Vec<&str> = raw.cases.iter().map(|c| c.name.text.as_str()).collect();
            let help = if known.is_empty() {
                "the file has no cases".into()
            } else {
                format!("its cases are {}", known.join(", "))
            };
            self.request(format!("the file has no case `{}`", shorten(case)), help);
        }
        for (n, (name, text)) in self.options.set.iter().enumerate() {
            self.set(n, name.trim(), text);
        }
    }

    fn set(&mut self, n: usize, name: &str, text: &str) {
        let (base, indices) = match split_index(name) {
            Some(found) => found,
            None => {
                return self.request(
                    format!("`{}` is not the name of a parameter", shorten(name)),
                    "write  --set name=value".into(),
                );
            }
        };
        let what = self.names.get(base);
        let Some(What::Parameter(k)) = what else {
            let help = self.not_a_parameter(base, what);
            return self.request(format!("there is no parameter `{}` to set", shorten(base)), help);
        };
        let mut own = Report::default();
        let node = tree::parse_value(text);
        let value = match &node.value {
            // { value = … } is allowed too, as in the file
            Value::Table(entries) => {
                entries.iter().find(|e| e.key == "value").and_then(|e| value_of(&e.node, 0, &mut own))
            }
            _ => value_of(&Node { ..node.clone() }, 0, &mut own),
        };
        for d in own.list {
            self.report.push(Diagnostic { origin: Origin::Set(n), ..d });
        }
        let Some(value) = value.map(|v| with_origin(v, Origin::Set(n))) else {
            return self.request(
                format!("the value of --set {name} cannot be used"),
                "give a number, quantity or expression".into(),
            );
        };
        let mut place = &mut self.values[k];
        for i in indices {
            let length = match place {
                RawValue::List(list, _) => list.len(),
                RawValue::One(_) => 0,
            };
            match place {
                RawValue::List(list, _) if i >= 1 && i <= length => place = &mut list[i - 1],
                _ => return self.request(format!("`{name}` is outside {base}[1..{length}]"), String::new()),
            }
        }
        *place = value;
    }

    /// A message about the request, not about a place in the file.
    pub(super) fn request(&mut self, message: String, help: String) {
        self.report.push(Diagnostic {
            origin: Origin::Request,
            ..Diagnostic::error(Span::default(), message, help)
        });
    }

    fn not_a_parameter(&self, name: &str, what: Option<What>) -> String {
        match what {
            Some(what) => format!("`{name}` is {}; make a parameter of what should vary", what.noun()),
            None => {
                let parameters =
                    self.names.all().filter(|(_, w)| matches!(w, What::Parameter(_))).map(|(n, _)| n);
                did_you_mean(name, parameters).map_or(String::new(), |n| format!("did you mean `{n}`?"))
            }
        }
    }

    /// The value of a parameter.
    pub(super) fn make_parameter(&mut self, k: usize) -> Resolved<Val> {
        let value = self.values[k].clone();
        let name = self.raw.parameters[k].name.text.clone();
        let val = self.within(Context::new(Scope::Parameter), |b| b.parameter_tree(&value, &name))?;
        self.dims.insert(name, dim_of(&val));
        Ok(val)
    }

    fn parameter_tree(&mut self, value: &RawValue, name: &str) -> Resolved<Val> {
        match value {
            RawValue::List(list, _) => {
                let mut out = Vec::with_capacity(list.len());
                let mut failed = None;
                for (i, item) in list.iter().enumerate() {
                    match self.parameter_tree(item, &format!("{name}[{}]", i + 1)) {
                        Ok(val) => out.push(val),
                        Err(fault) => {
                            self.say(fault);
                            failed = Some(Fault::Reported);
                        }
                    }
                }
                failed.map_or(Ok(Val::List(out)), Err)
            }
            RawValue::One(formula) => {
                let node = self.lower(formula)?;
                let dim = self.dim(formula)?;
                if !self.is_live(name) {
                    return Ok(Val::One(node, dim));
                }
                let default = self.with_defaults(node);
                let number = self.model.inputs.iter().filter(|i| matches!(i, Input::Parameter(_))).count();
                let symbol = self.symbol(Input::Parameter(number));
                self.live.insert(symbol, default);
                Ok(Val::One(self.model.graph.sym(symbol), dim))
            }
        }
    }

    fn is_live(&self, name: &str) -> bool {
        let base = name.split('[').next().unwrap_or(name);
        self.options.live.iter().any(|l| l == name || l == base)
    }

    /// The node with live parameters at their defaults.
    pub(super) fn with_defaults(&mut self, node: NodeId) -> NodeId {
        if self.live.is_empty() {
            return node;
        }
        let map = self.live.clone();
        self.model.graph.substitute(node, &map)
    }

    /// Its number when live parameters have their defaults and nothing else is open.
    pub(super) fn default_value(&mut self, node: NodeId) -> Option<f64> {
        let node = self.with_defaults(node);
        self.model.graph.constant(node)
    }

    /// All parameters in file order, lists entry by entry, with range warnings.
    pub(super) fn finish_parameters(&mut self) {
        let raw = self.raw.clone();
        for live in &self.options.live {
            let base = split_index(live).map_or(live.as_str(), |(b, _)| b);
            let what = self.names.get(base);
            if !matches!(what, Some(What::Parameter(_))) {
                let help = self.not_a_parameter(base, what);
                self.request(format!("there is no parameter `{}` to vary", shorten(live)), help);
            }
        }
        for (k, parameter) in raw.parameters.iter().enumerate() {
            let Ok(val) = self.demand(Thing::Parameter(k)) else { continue };
            let range = parameter.range.as_ref().and_then(|[from, to]| {
                let ends = self.within(Context::new(Scope::Parameter), |b| {
                    [b.constant(from, "a range"), b.constant(to, "a range")]
                });
                let [from, to] = ends.map(|end| self.keep(end));
                Some([from?, to?])
            });
            if let Some([from, to]) = range
                && from > to
            {
                let place = parameter.range.as_ref().map_or(parameter.name.span, |r| r[0].span);
                let help = "write  range = [from, to]  with the smaller one first";
                self.report.error(place, format!("the range of `{}` is empty", parameter.name.text), help);
            }
            self.flatten(&val, &parameter.name.text, k, range);
        }
    }

    fn flatten(&mut self, val: &Val, name: &str, k: usize, range: Option<[f64; 2]>) {
        match val {
            Val::List(list) => {
                for (i, item) in list.iter().enumerate() {
                    self.flatten(item, &format!("{name}[{}]", i + 1), k, range);
                }
            }
            Val::One(node, _) => {
                let value = self.default_value(*node).unwrap_or(f64::NAN);
                let raw = self.raw.parameters[k].clone();
                if let Some([from, to]) = range
                    && !(from..=to).contains(&value)
                {
                    let span = self.values[k].span();
                    let help = format!("its range is {from} to {to}");
                    let origin = origin_of(&self.values[k]);
                    let warning =
                        Diagnostic::warning(span, format!("`{name}` = {value} is outside its range"), help);
                    self.report.push(Diagnostic { origin, ..warning });
                }
                let live = self.model.graph.symbols(&[*node]).first().copied();
                let live =
                    live.filter(|s| self.model.graph.sym(*s) == *node).and_then(|s| match self.meaning(s) {
                        Some(Input::Parameter(n)) if self.is_live(name) => Some(n),
                        _ => None,
                    });
                let parameter = Parameter {
                    name: name.to_string(),
                    value,
                    range,
                    about: raw.about,
                    span: raw.name.span,
                    live,
                };
                self.model.parameters.push(parameter);
            }
        }
    }
}

/// Dimension of a value; of a list, when all entries agree.
fn dim_of(val: &Val) -> Dim {
    match val {
        Val::One(_, dim) => *dim,
        Val::List(list) => {
            let first = list.first().map_or(Dim::Any, dim_of);
            if list.iter().all(|v| dim_of(v) == first) { first } else { Dim::Any }
        }
    }
}

pub(super) fn origin_of(value: &RawValue) -> Origin {
    match value {
        RawValue::One(f) => f.origin,
        RawValue::List(list, _) => list.first().map_or(Origin::File, origin_of),
    }
}

fn with_origin(value: RawValue, origin: Origin) -> RawValue {
    match value {
        RawValue::One(f) => RawValue::One(Formula { origin, ..f }),
        RawValue::List(list, span) => {
            RawValue::List(list.into_iter().map(|v| with_origin(v, origin)).collect(), span)
        }
    }
}

/// `mu[3]` → `mu`, 3.
fn split_index(name: &str) -> Option<(&str, Vec<usize>)> {
    let (base, rest) = match name.find('[') {
        Some(at) => name.split_at(at),
        None => (name, ""),
    };
    if !tree::is_name(base) {
        return None;
    }
    if rest.is_empty() {
        return Some((base, Vec::new()));
    }
    let inner = rest.strip_prefix('[')?.strip_suffix(']')?;
    let indices: Option<Vec<usize>> = inner.split("][").map(|i| i.trim().parse().ok()).collect();
    Some((base, indices?))
}
