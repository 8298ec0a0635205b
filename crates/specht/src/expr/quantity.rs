//! Numbers with units, without names.

use super::error::ExprError;
use super::graph::{Graph, NodeId};
use super::lower::{Reference, Resolver, evaluate, unknown_name};
use super::parser::parse;

/// A number with or without unit, or an expression of them, in SI; the error is a sentence.
///
/// ```
/// use specht::machine::quantity;
///
/// assert_eq!(quantity("250 ms"), Ok(0.25));
/// assert_eq!(quantity("0.5 N*m/rad"), Ok(0.5));
/// assert_eq!(quantity("5/4"), Ok(1.25));
/// assert!(quantity("3 apples").is_err());
/// ```
pub fn quantity(text: &str) -> Result<f64, String> {
    if let Ok(x) = text.trim().parse::<f64>() {
        return Ok(x);
    }
    let value = parse(text).and_then(|ast| evaluate(&mut Graph::new(), &mut NoNames, &ast, &[]));
    value.map_err(|e| format!("`{text}` is not a quantity: {}", e.message))
}

struct NoNames;

impl Resolver for NoNames {
    fn name(&mut self, _: &mut Graph, reference: &Reference<'_>) -> Result<NodeId, ExprError> {
        let part = &reference.parts[0];
        Err(unknown_name(part.name, part.span, []))
    }
}
