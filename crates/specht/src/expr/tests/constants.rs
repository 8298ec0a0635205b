//! Values known beforehand, and a resolver for them.

use std::collections::BTreeMap;

use crate::expr::*;

/// A number, a list or a matrix (a list of lists).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// A number.
    Number(f64),
    /// A list; indices count from 1.
    List(Vec<Value>),
}

impl Value {
    /// A list of numbers.
    pub(crate) fn list(numbers: &[f64]) -> Self {
        Value::List(numbers.iter().copied().map(Value::Number).collect())
    }

    /// A matrix by rows.
    pub(crate) fn matrix(rows: &[&[f64]]) -> Self {
        Value::List(rows.iter().map(|row| Value::list(row)).collect())
    }

    /// The element with these indices as a number; `name` and `span` are for the message.
    pub(crate) fn at(&self, name: &str, indices: &[i64], span: Span) -> Result<f64, ExprError> {
        let mut value = self;
        let mut so_far = name.to_string();
        for &i in indices {
            let Value::List(list) = value else {
                let help = format!("remove `[{i}]`");
                return Err(ExprError::new(span, format!("`{so_far}` is a number, not a list"), help));
            };
            let Some(next) = usize::try_from(i).ok().and_then(|i| list.get(i.wrapping_sub(1))) else {
                let message = match list.len() {
                    0 => format!("`{so_far}[{i}]`: the list is empty"),
                    n => format!("`{so_far}[{i}]` is outside {so_far}[1..{n}]"),
                };
                return Err(ExprError::new(span, message, "indices count from 1"));
            };
            value = next;
            so_far += &format!("[{i}]");
        }
        match value {
            Value::Number(x) => Ok(*x),
            Value::List(list) => {
                let message = format!("`{so_far}` is a list of {}, not a number", list.len());
                Err(ExprError::new(span, message, format!("write `{so_far}[i]`")))
            }
        }
    }
}

/// A resolver that knows constants and functions only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Constants {
    /// Values by name.
    pub values: BTreeMap<String, Value>,
    /// User functions and tables by name.
    pub functions: BTreeMap<String, Function>,
}

impl Constants {
    /// Nothing known but the built-in functions.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// With one more number.
    pub(crate) fn with(mut self, name: &str, value: f64) -> Self {
        self.values.insert(name.to_string(), Value::Number(value));
        self
    }
}

impl Resolver for Constants {
    fn name(&mut self, graph: &mut Graph, reference: &Reference<'_>) -> Result<NodeId, ExprError> {
        let part = &reference.parts[0];
        let Some(value) = self.values.get(part.name) else {
            return Err(unknown_name(part.name, part.span, self.values.keys().map(String::as_str)));
        };
        if let Some(inner) = reference.parts.get(1) {
            let message = format!("`{}` is a value and has no part `{}`", part.name, inner.name);
            return Err(ExprError::new(inner.span, message, ""));
        }
        let number = value.at(part.name, &part.indices, reference.span)?;
        Ok(graph.num(if reference.primes > 0 { 0.0 } else { number }))
    }

    fn function(&mut self, _: &mut Graph, name: &str) -> Option<Function> {
        self.functions.get(name).cloned()
    }

    fn function_names(&self) -> Vec<String> {
        self.functions.keys().cloned().collect()
    }
}
