//! Expressions: lexer, parser, graph, derivatives, tape.

mod diff;
mod error;
mod graph;
mod table;
mod tape;
mod units;

pub use diff::Derivation;
pub use error::{ExprError, Span, did_you_mean};
pub use graph::{Fun, Graph, NodeId, Op, Symbol, TableId};
pub use table::{Ends, Interpolation, Table};
pub use tape::{Switch, SwitchKind, SwitchSet, Tape, Work};
pub use units::{Dim, Exponents, UNIT_HELP, Unit, parse_unit};
