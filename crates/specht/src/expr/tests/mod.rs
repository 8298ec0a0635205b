//! Tests of the language as a whole; those of one file stand there.

mod constants;
mod language;
mod properties;
mod switches;

use super::*;
use constants::{Constants, Value};

/// Lowers without local names.
pub(super) fn lower(graph: &mut Graph, resolver: &mut dyn Resolver, ast: &Ast) -> Result<NodeId, ExprError> {
    lower_with(graph, resolver, ast, &[])
}

/// x, y, z are inputs 0, 1, 2, t is input 3; `a = 2`, `mu` a list, `K` a matrix, `f`, `g` formulas, `tab` a table, `pchip` a smooth one.
pub(super) struct Names {
    constants: Constants,
}

impl Names {
    pub(super) fn new(graph: &mut Graph) -> Self {
        let mut constants = Constants::new().with("a", 2.0).with("n", 3.0);
        constants.values.insert("mu".into(), Value::list(&[0.5, 0.45, 0.4]));
        constants.values.insert("K".into(), Value::matrix(&[&[1.0, 2.0], &[3.0, 4.0]]));
        for (head, body) in [
            ("f(x)", "x^3 + a"),
            ("g(p, q)", "p*f(q)"),
            ("loop(x)", "loop(x) + 1"),
            ("bad(x)", "x + nothing"),
        ] {
            let (name, params) = head.trim_end_matches(')').split_once('(').unwrap();
            let (name, params) = (name.to_string(), params.split(", ").map(str::to_string).collect());
            let formula = Formula { name: name.clone(), params, body: parse(body).unwrap() };
            constants.functions.insert(name, Function::Formula(formula.into()));
        }
        for i in 0..50 {
            let body =
                if i == 0 { "x + 1".to_string() } else { format!("d{0}(x) + d{0}(x)*d{0}(x)/2", i - 1) };
            let formula =
                Formula { name: format!("d{i}"), params: vec!["x".into()], body: parse(&body).unwrap() };
            constants.functions.insert(format!("d{i}"), Function::Formula(formula.into()));
        }
        let points = [[-1.0, 0.5], [0.0, 0.0], [1.0, 2.0], [2.5, 1.0]];
        for (name, kind) in [("tab", Interpolation::Linear), ("pchip", Interpolation::Monotone)] {
            let id = graph.add_table(Table::new(name, &points, Ends::Extend, kind).unwrap());
            constants.functions.insert(name.into(), Function::Table(id));
        }
        Self { constants }
    }
}

pub(super) const INPUTS: [&str; 4] = ["x", "y", "z", "t"];

impl Resolver for Names {
    fn name(&mut self, graph: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
        if let Some(k) = r.simple().and_then(|name| INPUTS.iter().position(|n| *n == name))
            && r.primes == 0
        {
            return Ok(graph.sym(Symbol(k as u32)));
        }
        self.constants.name(graph, r)
    }

    fn function(&mut self, graph: &mut Graph, name: &str) -> Option<Function> {
        self.constants.function(graph, name)
    }

    fn function_names(&self) -> Vec<String> {
        self.constants.function_names()
    }
}

/// A graph, its names, and the node of a text.
pub(super) fn build(text: &str) -> Result<(Graph, Names, NodeId), ExprError> {
    let mut graph = Graph::new();
    let mut names = Names::new(&mut graph);
    let ast = parse(text)?;
    let node = lower(&mut graph, &mut names, &ast)?;
    Ok((graph, names, node))
}

/// The value of a text at given inputs, with free switches.
pub(super) fn value(text: &str, inputs: &[f64]) -> Result<f64, ExprError> {
    let (graph, _, node) = build(text)?;
    let tape = Tape::new(&graph, &[node]);
    let mut work = tape.workspace();
    tape.eval(inputs, &mut work);
    Ok(tape.output(&work, 0))
}
