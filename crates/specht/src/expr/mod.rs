//! Expressions: lexer, parser, graph, derivatives, tape.

mod ast;
mod diff;
mod error;
mod graph;
mod lexer;
mod lower;
mod parser;
mod table;
mod tape;
mod units;
mod value;

pub use ast::{Ast, ChainOp, CompareOp, Expr, Kind, Link, NameUse, Part, UnitUse};
pub use diff::Derivation;
pub use error::{ExprError, Span, did_you_mean};
pub use graph::{Fun, Graph, NodeId, Op, Symbol, TableId};
pub use lower::{
    BUILTINS, Formula, Function, PathPart, RESERVED, Reference, Resolver, evaluate, is_builtin, lower,
    lower_condition, lower_with, unknown_name,
};
pub use parser::{parse, parse_head, parse_range};
pub use table::{Ends, Interpolation, Table};
pub use tape::{Switch, SwitchKind, SwitchSet, Tape, Work};
pub use units::{Dim, Exponents, UNIT_HELP, Unit, parse_unit};
pub use value::{Constants, Value};
