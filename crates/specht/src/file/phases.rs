//! Phases: `[[phase]] name = "locked", when = "condition"`. A phase is an output that is 1 while the condition holds, and two events:
//! its beginning NAME and its end NAME.end, at the zero of a function that is positive where the condition holds.

use super::builder::{Builder, Context, Scope};
use super::fields::shorten;
use super::formula::Formula;
use super::tree::is_name;
use crate::expr::{Ast, ChainOp, CompareOp, Expr, Kind, Link};
use crate::model::{Event, Output, Trigger};

impl Builder<'_> {
    /// Phases of the model. Conditions that use forces or modes change at events of contacts; these need no zero of their own.
    pub(super) fn finish_phases(&mut self) {
        let raw = self.raw.clone();
        for (name, when) in &raw.phases {
            let text = name.text.as_str();
            let taken = self.model.outputs.iter().any(|o| o.name == text)
                || self.model.events.iter().any(|e| e.name == text)
                || self.names.get(text).is_some();
            if !is_name(text) || taken {
                let help = if taken { "give the phase another name" } else { "letters, digits and _" };
                let what = if taken { "is taken" } else { "cannot be a name" };
                self.report.error(name.span, format!("`{}` {what}", shorten(text)), help);
                continue;
            }
            if !when.ast.root.is_condition() {
                let d = when.error("a phase needs a condition", "write  when = \"x > 1 mm and x' > 0\"");
                self.report.push(d);
                continue;
            }
            let of = |root: Expr| {
                let ast = Ast { source: when.ast.source.clone(), root };
                Formula { ast: ast.into(), ..when.clone() }
            };
            let holds = self.within(Context::new(Scope::Output), |b| {
                b.dim(when)?;
                b.lower(&of(truth(&when.ast.root)))
            });
            let Some(value) = self.keep(holds) else { continue };
            self.model.outputs.push(Output { name: text.to_string(), value });
            self.model.phases.push(text.to_string());
            let level = self.within(Context::new(Scope::Motion), |b| b.lower(&of(level(&when.ast.root))));
            let Ok(level) = level else { continue };
            if self.model.graph.constant(level).is_some() {
                continue;
            }
            for (name, direction) in [(text.to_string(), 1), (format!("{text}.end"), -1)] {
                let trigger = Trigger::Crossing(level, direction);
                self.model.events.push(Event { name, trigger, when: None, set: Vec::new(), stop: false });
            }
        }
    }
}

fn call(name: &str, args: Vec<Expr>, at: &Expr) -> Expr {
    let kind = Kind::Call { name: name.into(), name_span: at.span, primes: 0, args };
    Expr { kind, span: at.span }
}

fn number(value: f64, at: &Expr) -> Expr {
    Expr { kind: Kind::Number { value, unit: None }, span: at.span }
}

/// 1 where it holds, 0 elsewhere.
fn truth(e: &Expr) -> Expr {
    call("if", vec![e.clone(), number(1.0, e), number(0.0, e)], e)
}

/// Positive where the condition holds, negative elsewhere, continuous where it is made of inequalities.
fn level(e: &Expr) -> Expr {
    let minus = |a: &Expr, b: &Expr| {
        let link = Link { op: ChainOp::Sub, op_span: e.span, expr: b.clone() };
        Expr { kind: Kind::Chain(Box::new(a.clone()), vec![link]), span: e.span }
    };
    match &e.kind {
        Kind::Compare(CompareOp::Gt | CompareOp::Ge, a, b, _) => minus(a, b),
        Kind::Compare(CompareOp::Lt | CompareOp::Le, a, b, _) => minus(b, a),
        Kind::And(all) => call("min", all.iter().map(level).collect(), e),
        Kind::Or(all) => call("max", all.iter().map(level).collect(), e),
        Kind::Not(a) => Expr { kind: Kind::Neg(Box::new(level(a))), span: e.span },
        _ => call("if", vec![e.clone(), number(1.0, e), number(-1.0, e)], e),
    }
}
