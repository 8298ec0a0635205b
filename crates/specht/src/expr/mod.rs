//! The expression language: from text such as `m*l*phi'^2*sin(phi) - c*max(0, x - 3 mm)` to fast code and its derivatives.
//!
//! ```text
//! text ──parse──▶ Ast ──lower──▶ Graph ──Tape::new──▶ Tape ──eval──▶ numbers
//!      (spans)     │ (names by a Resolver)  ↺ diff, Derivation, substitute
//!                  └─ check_dimensions, unit_warnings, names, Display
//! ```
//!
//! | step | item | |
//! |---|---|---|
//! | read | [`parse`], [`parse_head`] (`f(x, y)`), [`parse_range`] (`i = 1..n`) | errors are [`ExprError`]: span, sentence, help |
//! | check | [`check_dimensions`], [`Ast::unit_warnings`] | only *known* and different dimensions clash |
//! | constants | [`evaluate`] with [`Constants`] or any other [`Resolver`] | lists, matrices, functions, tables |
//! | meaning | [`lower`], [`lower_with`], [`lower_condition`] | the model layer implements [`Resolver`] |
//! | calculus | [`Graph::diff`], [`Graph::gradient`], [`Derivation`], [`Graph::substitute`] | sweeps over the graph, never recursion |
//! | numbers | [`Tape`], [`Work`], [`SwitchSet`] | no allocation; switches can be latched, see [`tape`] |
//! | rates | [`Tape::tangent`] | directional derivatives of all outputs, no allocation |
//!
//! # Example
//!
//! The pendulum with a one-sided spring: potential, its derivative, and the switch at `phi = 0`.
//!
//! ```
//! use specht::expr::{self, Derivation, ExprError, Graph, NodeId, Reference, Resolver, SwitchSet, Symbol, Tape};
//!
//! struct Names; // phi is input 0, phi' input 1, l a parameter
//!
//! impl Resolver for Names {
//!     fn name(&mut self, graph: &mut Graph, r: &Reference<'_>) -> Result<NodeId, ExprError> {
//!         match (r.simple(), r.primes) {
//!             (Some("phi"), k @ 0..=1) => Ok(graph.sym(Symbol(k))),
//!             (Some("l"), 0) => Ok(graph.num(0.5)),
//!             _ => Err(expr::unknown_name(&r.text(), r.span, ["phi", "l"])),
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), ExprError> {
//! let mut graph = Graph::new();
//! let ast = expr::parse("-9.81*l*cos(phi) + 20*max(0, phi)^2")?;
//! let potential = expr::lower(&mut graph, &mut Names, &ast)?;
//!
//! let force = graph.diff(potential, Symbol(0));
//! let rate = graph.sym(Symbol(1));
//! let power = Derivation::new([(Symbol(0), rate)]).of(&mut graph, potential);
//!
//! let mut switches = SwitchSet::new();
//! let tape = Tape::with_switches(&graph, &[force, power], &mut switches);
//! let mut work = tape.workspace();
//! tape.eval(&[0.3, 2.0], &mut work);
//! assert!((tape.output(&work, 0) - (9.81 * 0.5 * 0.3f64.sin() + 40.0 * 0.3)).abs() < 1e-14);
//! assert!((tape.output(&work, 1) - 2.0 * tape.output(&work, 0)).abs() < 1e-13);
//!
//! // freeze the branch phi > 0: the function stays smooth through zero, and the guard tells where it ceases to hold
//! let mut latches = vec![0.0; switches.len()];
//! let mut guards = vec![0.0; switches.len()];
//! tape.latch(&[0.3, 2.0], &mut work, &mut latches);
//! tape.eval_latched(&[-0.1, 2.0], &mut work, &latches);
//! tape.guards(&work, &mut guards);
//! assert!((guards[0] + 0.1).abs() < 1e-15);
//! # Ok(())
//! # }
//! ```

mod ast;
mod build;
mod diff;
mod dims;
mod error;
mod graph;
mod lexer;
mod lower;
mod parser;
mod print;
mod schedule;
pub mod settle;
mod switch;
mod table;
mod tangent;
pub mod tape;
mod units;
mod value;

pub use ast::{Ast, ChainOp, CompareOp, Expr, Kind, Link, NameUse, Part, UnitUse};
pub use diff::Derivation;
pub use dims::{Dimensions, check_dimensions};
pub use error::{ExprError, Span, did_you_mean};
pub use graph::{Fun, Graph, NodeId, Op, Symbol, TableId, sign};
pub use lower::{
    BUILTINS, Formula, Function, PathPart, RESERVED, Reference, Resolver, evaluate, is_builtin, lower,
    lower_condition, lower_with, unknown_name,
};
pub use parser::{parse, parse_head, parse_range};
pub use settle::Settling;
pub use switch::{Switch, SwitchKind, SwitchSet};
pub use table::{Ends, Interpolation, Table};
pub use tape::{Tape, Work};
pub use units::{Dim, Exponents, UNIT_HELP, Unit, parse_unit};
pub use value::{Constants, Value};

#[cfg(test)]
mod tests;
