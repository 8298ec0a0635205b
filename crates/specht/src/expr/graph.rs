//! The expression graph: hash-consed, so that equal subexpressions are one node.
//!
//! A node's operands always have smaller ids, so ids are a topological order: every algorithm on the graph is a sweep, never
//! a recursion, and long chains cannot overflow the stack. Building a node folds constants and applies the few
//! simplifications that do not change a finite value: `x+0`, `x*1`, `x*0 = 0`, `--x`, `x^1`, `x-x = 0`, ...
//!
//! Everything that is not smooth rests on three *switches*: [`Op::Sign`], [`Op::Floor`] and [`Op::Cell`] (the interval of a
//! table). `abs(x)` is `x*sign(x)`, `max(a,b)` is `if(sign(a-b) >= 0, a, b)`, `a < b` is `sign(b-a) > 0`, `mod(a,b)` is `a - b*floor(a/b)`. So a
//! function and its derivatives share their switches, and freezing the switches makes the whole expression smooth.

use std::collections::HashMap;
use std::sync::Arc;

use super::table::Table;

/// A node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// As an index.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An input of the graph: index into the inputs of a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub u32);

/// A table registered in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct TableId(pub u32);

/// Smooth functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Fun {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Exp,
    Log,
    Log10,
    Sqrt,
}

impl Fun {
    /// All, in the order of the reference.
    pub(crate) const ALL: [Fun; 14] = [
        Fun::Sin,
        Fun::Cos,
        Fun::Tan,
        Fun::Asin,
        Fun::Acos,
        Fun::Atan,
        Fun::Sinh,
        Fun::Cosh,
        Fun::Tanh,
        Fun::Asinh,
        Fun::Exp,
        Fun::Log,
        Fun::Log10,
        Fun::Sqrt,
    ];

    /// Name in the expression language.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fun::Sin => "sin",
            Fun::Cos => "cos",
            Fun::Tan => "tan",
            Fun::Asin => "asin",
            Fun::Acos => "acos",
            Fun::Atan => "atan",
            Fun::Sinh => "sinh",
            Fun::Cosh => "cosh",
            Fun::Tanh => "tanh",
            Fun::Asinh => "asinh",
            Fun::Exp => "exp",
            Fun::Log => "log",
            Fun::Log10 => "log10",
            Fun::Sqrt => "sqrt",
        }
    }

    /// Value.
    #[inline]
    pub(crate) fn apply(self, x: f64) -> f64 {
        match self {
            Fun::Sin => x.sin(),
            Fun::Cos => x.cos(),
            Fun::Tan => x.tan(),
            Fun::Asin => x.asin(),
            Fun::Acos => x.acos(),
            Fun::Atan => x.atan(),
            Fun::Sinh => x.sinh(),
            Fun::Cosh => x.cosh(),
            Fun::Tanh => x.tanh(),
            Fun::Asinh => x.asinh(),
            Fun::Exp => x.exp(),
            Fun::Log => x.ln(),
            Fun::Log10 => x.log10(),
            Fun::Sqrt => x.sqrt(),
        }
    }
}

/// What a node computes. Truth values are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Bits of a constant.
    Const(u64),
    /// An input.
    Sym(Symbol),
    /// a + b
    Add(NodeId, NodeId),
    /// a − b
    Sub(NodeId, NodeId),
    /// a b
    Mul(NodeId, NodeId),
    /// a / b
    Div(NodeId, NodeId),
    /// −a
    Neg(NodeId),
    /// a^b
    Pow(NodeId, NodeId),
    /// a^n with a whole n
    Powi(NodeId, i32),
    /// A smooth function.
    Fun(Fun, NodeId),
    /// atan2(y, x)
    Atan2(NodeId, NodeId),
    /// √(a² + b²)
    Hypot(NodeId, NodeId),
    /// Switch: −1, 0 or 1.
    Sign(NodeId),
    /// Switch: largest whole number not above a.
    Floor(NodeId),
    /// Switch: number of the interval of the table in which x lies.
    Cell(TableId, NodeId),
    /// The `order`-th derivative of the table at `x`, by the formula of the interval `cell`.
    Table {
        /// Which table.
        table: TableId,
        /// 0: value, 1: derivative, ...
        order: u8,
        /// The interval.
        cell: NodeId,
        /// The argument.
        x: NodeId,
    },
    /// a > 0
    Positive(NodeId),
    /// a ≥ 0
    NonNegative(NodeId),
    /// a = 0
    IsZero(NodeId),
    /// Both.
    And(NodeId, NodeId),
    /// At least one.
    Or(NodeId, NodeId),
    /// Not.
    Not(NodeId),
    /// if(c, a, b)
    Select(NodeId, NodeId, NodeId),
}

impl Op {
    /// Calls `f` with every operand.
    pub(crate) fn operands(self, mut f: impl FnMut(NodeId)) {
        use Op::*;
        match self {
            Const(_) | Sym(_) => {}
            Neg(a)
            | Powi(a, _)
            | Fun(_, a)
            | Sign(a)
            | Floor(a)
            | Cell(_, a)
            | Positive(a)
            | NonNegative(a)
            | IsZero(a)
            | Not(a) => f(a),
            Add(a, b)
            | Sub(a, b)
            | Mul(a, b)
            | Div(a, b)
            | Pow(a, b)
            | Atan2(a, b)
            | Hypot(a, b)
            | And(a, b)
            | Or(a, b) => {
                f(a);
                f(b);
            }
            Table { cell, x, .. } => {
                f(cell);
                f(x);
            }
            Select(c, a, b) => {
                f(c);
                f(a);
                f(b);
            }
        }
    }
}

/// x^n by repeated squaring: the same bits on every machine.
pub(super) fn powi(x: f64, n: i32) -> f64 {
    let mut power = 1.0;
    let mut square = x;
    let mut left = n.unsigned_abs();
    while left > 0 {
        if left & 1 == 1 {
            power *= square;
        }
        left >>= 1;
        if left > 0 {
            square *= square;
        }
    }
    if n < 0 { 1.0 / power } else { power }
}

/// −1, 0, 1; NaN stays NaN.
#[inline]
pub(crate) fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// Most laws that are remembered.
const MAX_LAWS: usize = 100;

/// The graph. Cloning it is cheap enough to do once per model, not once per step.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ops: Vec<Op>,
    known: HashMap<Op, NodeId>,
    tables: Vec<Arc<Table>>,
    /// Friction laws that were called by name, with their arguments.
    laws: Vec<(String, Vec<NodeId>)>,
    temporaries: u32,
}

impl Graph {
    /// An empty graph.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// What a node computes.
    pub(crate) fn op(&self, node: NodeId) -> Op {
        self.ops[node.index()]
    }

    /// The value of a constant node.
    pub(crate) fn constant(&self, node: NodeId) -> Option<f64> {
        match self.op(node) {
            Op::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The p of a formula that is a factor without `x` times xᵖ, as far as its sums, products and powers tell.
    pub(crate) fn power_of(&self, node: NodeId, x: Symbol) -> Option<f64> {
        let mut powers: Vec<Option<f64>> = Vec::with_capacity(node.index() + 1);
        for &op in &self.ops[..=node.index()] {
            let of = |n: NodeId| powers[n.index()];
            powers.push(match op {
                Op::Sym(s) => Some(if s == x { 1.0 } else { 0.0 }),
                Op::Add(a, b) | Op::Sub(a, b) => of(a).filter(|p| of(b) == Some(*p)),
                Op::Mul(a, b) => of(a).zip(of(b)).map(|(p, q)| p + q),
                Op::Div(a, b) => of(a).zip(of(b)).map(|(p, q)| p - q),
                Op::Neg(a) => of(a),
                Op::Powi(a, n) => of(a).map(|p| p * f64::from(n)),
                Op::Pow(a, b) if of(a) != Some(0.0) => of(a).zip(self.constant(b)).map(|(p, n)| p * n),
                Op::Fun(Fun::Sqrt, a) => of(a).map(|p| 0.5 * p),
                other => {
                    let mut free = true;
                    other.operands(|n| free &= of(n) == Some(0.0));
                    free.then_some(0.0)
                }
            });
        }
        powers[node.index()]
    }

    /// Remembers a law that was called by name; of very many the first.
    pub(crate) fn add_law(&mut self, name: &str, args: &[NodeId]) {
        if self.laws.len() < MAX_LAWS && !self.laws.iter().any(|l| l.0 == name && l.1 == args) {
            self.laws.push((name.to_string(), args.to_vec()));
        }
    }

    /// The laws that were called.
    pub(crate) fn laws(&self) -> &[(String, Vec<NodeId>)] {
        &self.laws
    }

    /// Registers a table.
    pub(crate) fn add_table(&mut self, table: Table) -> TableId {
        self.tables.push(Arc::new(table));
        TableId(self.tables.len() as u32 - 1)
    }

    /// A registered table.
    pub(crate) fn table(&self, id: TableId) -> &Arc<Table> {
        &self.tables[id.0 as usize]
    }

    /// All tables, in order of registration.
    pub(crate) fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// A symbol that no input has; for building derivatives of functions. Counted down from the largest number.
    pub(crate) fn temporary(&mut self) -> Symbol {
        self.temporaries += 1;
        Symbol(u32::MAX - self.temporaries)
    }

    /// The node of an operation, as it stands.
    pub(super) fn intern(&mut self, op: Op) -> NodeId {
        if let Some(&node) = self.known.get(&op) {
            return node;
        }
        let node = NodeId(self.ops.len() as u32);
        self.ops.push(op);
        self.known.insert(op, node);
        node
    }

    /// Every node on which the roots depend, themselves included, operands first.
    pub(crate) fn reach(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let Some(top) = roots.iter().max() else { return Vec::new() };
        let mut seen = vec![0u64; top.index() / 64 + 1];
        let mut found = Vec::new();
        let mut stack: Vec<NodeId> = roots.to_vec();
        while let Some(node) = stack.pop() {
            let (word, bit) = (node.index() / 64, 1u64 << (node.index() % 64));
            if seen[word] & bit != 0 {
                continue;
            }
            seen[word] |= bit;
            found.push(node);
            self.op(node).operands(|a| stack.push(a));
        }
        found.sort_unstable();
        found
    }

    /// The symbols on which the roots depend, ascending.
    pub(crate) fn symbols(&self, roots: &[NodeId]) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = self
            .reach(roots)
            .into_iter()
            .filter_map(|node| match self.op(node) {
                Op::Sym(s) => Some(s),
                _ => None,
            })
            .collect();
        symbols.sort_unstable();
        symbols
    }

    /// Whether the node depends on a symbol of which `which` says yes.
    pub(crate) fn depends_on(&self, node: NodeId, which: impl Fn(Symbol) -> bool) -> bool {
        self.symbols(&[node]).into_iter().any(which)
    }
}
