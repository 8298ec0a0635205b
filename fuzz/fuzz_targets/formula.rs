//! A formula: refused with a span inside of it, or evaluated, differentiated and evaluated again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use specht::expr::{self, ExprError, Graph, NodeId, Reference, Resolver, Symbol, Tape};

/// x, y, x', y' are inputs.
struct Names;

impl Resolver for Names {
    fn name(&mut self, graph: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
        match (r.simple(), r.primes) {
            (Some("x"), k @ 0..=1) => Ok(graph.sym(Symbol(k))),
            (Some("y"), k @ 0..=1) => Ok(graph.sym(Symbol(2 + k))),
            _ => Err(expr::unknown_name(&r.text(), r.span, ["x", "y"])),
        }
    }
}

fn lies_inside(error: &ExprError, text: &str) {
    let (start, end) = (error.span.start as usize, error.span.end as usize);
    assert!(start <= end && end <= text.len(), "{error:?} is outside of {text:?}");
    assert!(!error.message.is_empty());
}

fuzz_target!(|text: &str| {
    let _ = expr::parse_head(text).map_err(|e| lies_inside(&e, text));
    let _ = expr::parse_range(text).map_err(|e| lies_inside(&e, text));
    let _ = expr::parse_unit(text);
    let ast = match expr::parse(text) {
        Ok(ast) => ast,
        Err(e) => return lies_inside(&e, text),
    };
    let shown = ast.to_string();
    assert!(expr::parse(&shown).is_ok(), "{text:?} is shown as {shown:?}, which is not understood");
    let mut graph = Graph::new();
    let node = match expr::lower(&mut graph, &mut Names, &ast) {
        Ok(node) => node,
        Err(e) => return lies_inside(&e, text),
    };
    let slope = graph.diff(node, Symbol(0));
    let tape = Tape::new(&graph, &[node, slope]);
    let mut work = tape.workspace();
    for x in [0.0, 0.7, -3.0, 1e30] {
        tape.eval(&[x, 1.0, 0.3, -2.0], &mut work);
        let _ = (tape.output(&work, 0), tape.output(&work, 1));
    }
});
