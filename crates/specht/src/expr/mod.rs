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
//! | read | [`parse`], [`parse_range`] (`i = 1..n`) | errors are [`ExprError`]: span, sentence, help |
//! | check | [`check_dimensions`], [`Ast::unit_warnings`] | only *known* and different dimensions clash |
//! | constants | [`evaluate`], [`quantity`] | lists, matrices, functions, tables |
//! | meaning | [`lower_with`] | the model layer implements [`Resolver`] |
//! | calculus | [`Graph::diff`], [`Graph::gradient`], [`Derivation`], [`Graph::substitute`] | sweeps over the graph, never recursion |
//! | numbers | [`Tape`], [`Work`], [`SwitchSet`] | no allocation; switches can be latched, see [`tape`] |
//! | rates | [`Tape::tangent`] | directional derivatives of all outputs, no allocation |

mod ast;
mod build;
mod diff;
mod dims;
mod error;
mod gauss;
mod graph;
mod laws;
mod lexer;
mod lower;
mod parser;
mod print;
mod quantity;
mod schedule;
pub(crate) mod settle;
mod switch;
mod table;
mod tangent;
pub(crate) mod tape;
mod units;

pub(crate) use ast::{Ast, ChainOp, CompareOp, Condition, Expr, Kind, Link, NameUse, Step};
pub(crate) use diff::Derivation;
pub(crate) use dims::{Dimensions, check_dimensions};
pub use error::did_you_mean;
pub(crate) use error::{ExprError, Span};
pub(crate) use graph::sign;
pub(crate) use graph::{Fun, Graph, NodeId, Op, Symbol};
pub(crate) use laws::LAWS;
pub(crate) use lower::{Formula, Function, PathPart, Reference, Resolver, lower_with, unknown_name};
pub(crate) use parser::{parse, parse_address, parse_range};
pub(crate) use print::address;
pub use quantity::quantity;
pub(crate) use settle::Settling;
pub(crate) use switch::{SwitchKind, SwitchSet};
pub(crate) use table::{Ends, Interpolation, Table};
pub(crate) use tape::{Tape, Work};
pub(crate) use units::Dim;
pub(crate) use units::{Exponents, UNIT_HELP, parse_unit};

#[cfg(test)]
mod tests;
