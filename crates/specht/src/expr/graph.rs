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
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An input of the graph: index into the inputs of a tape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// A table registered in a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u32);

/// Smooth functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Fun {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
}

impl Fun {
    /// All, in the order of the reference.
    pub const ALL: [Fun; 13] = [
        Fun::Sin,
        Fun::Cos,
        Fun::Tan,
        Fun::Asin,
        Fun::Acos,
        Fun::Atan,
        Fun::Sinh,
        Fun::Cosh,
        Fun::Tanh,
        Fun::Exp,
        Fun::Log,
        Fun::Log10,
        Fun::Sqrt,
    ];

    /// Name in the expression language.
    pub fn name(self) -> &'static str {
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
            Fun::Exp => "exp",
            Fun::Log => "log",
            Fun::Log10 => "log10",
            Fun::Sqrt => "sqrt",
        }
    }

    /// Value.
    #[inline]
    pub fn apply(self, x: f64) -> f64 {
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
            Fun::Exp => x.exp(),
            Fun::Log => x.ln(),
            Fun::Log10 => x.log10(),
            Fun::Sqrt => x.sqrt(),
        }
    }
}

/// What a node computes. Truth values are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
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
    pub fn operands(self, mut f: impl FnMut(NodeId)) {
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
pub fn powi(x: f64, n: i32) -> f64 {
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
pub fn sign(x: f64) -> f64 {
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

/// The graph. Cloning it is cheap enough to do once per model, not once per step.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ops: Vec<Op>,
    known: HashMap<Op, NodeId>,
    tables: Vec<Arc<Table>>,
    temporaries: u32,
}

impl Graph {
    /// An empty graph.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there is no node yet.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// What a node computes.
    pub fn op(&self, node: NodeId) -> Op {
        self.ops[node.index()]
    }

    /// The value of a constant node.
    pub fn constant(&self, node: NodeId) -> Option<f64> {
        match self.op(node) {
            Op::Const(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Registers a table.
    pub fn add_table(&mut self, table: Table) -> TableId {
        self.tables.push(Arc::new(table));
        TableId(self.tables.len() as u32 - 1)
    }

    /// A registered table.
    pub fn table(&self, id: TableId) -> &Arc<Table> {
        &self.tables[id.0 as usize]
    }

    /// All tables, in order of registration.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    /// A symbol that no input has; for building derivatives of functions. Counted down from the largest number.
    pub fn temporary(&mut self) -> Symbol {
        self.temporaries += 1;
        Symbol(u32::MAX - self.temporaries)
    }

    /// The node of an operation, as it stands.
    fn intern(&mut self, op: Op) -> NodeId {
        if let Some(&node) = self.known.get(&op) {
            return node;
        }
        let node = NodeId(self.ops.len() as u32);
        self.ops.push(op);
        self.known.insert(op, node);
        node
    }

    /// A constant. −0 becomes 0.
    pub fn num(&mut self, value: f64) -> NodeId {
        let bits = if value == 0.0 {
            0
        } else if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            value.to_bits()
        };
        self.intern(Op::Const(bits))
    }

    /// An input.
    pub fn sym(&mut self, symbol: Symbol) -> NodeId {
        self.intern(Op::Sym(symbol))
    }

    /// a + b
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.num(x + y),
            (Some(0.0), _) => return b,
            (_, Some(0.0)) => return a,
            _ => {}
        }
        match (self.op(a), self.op(b)) {
            (Op::Neg(x), Op::Neg(y)) => {
                let sum = self.add(x, y);
                self.neg(sum)
            }
            (_, Op::Neg(y)) => self.sub(a, y),
            (Op::Neg(x), _) => self.sub(b, x),
            _ => self.intern(Op::Add(a.min(b), a.max(b))),
        }
    }

    /// a − b
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == b {
            return self.num(0.0);
        }
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.num(x - y),
            (Some(0.0), _) => return self.neg(b),
            (_, Some(0.0)) => return a,
            _ => {}
        }
        match (self.op(a), self.op(b)) {
            (Op::Neg(x), Op::Neg(y)) => self.sub(y, x),
            (_, Op::Neg(y)) => self.add(a, y),
            (Op::Neg(x), _) => {
                let sum = self.add(x, b);
                self.neg(sum)
            }
            _ => self.intern(Op::Sub(a, b)),
        }
    }

    /// a b
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.num(x * y),
            (Some(0.0), _) | (_, Some(0.0)) => return self.num(0.0),
            (Some(1.0), _) => return b,
            (_, Some(1.0)) => return a,
            (Some(-1.0), _) => return self.neg(b),
            (_, Some(-1.0)) => return self.neg(a),
            _ => {}
        }
        match (self.op(a), self.op(b)) {
            (Op::Neg(x), Op::Neg(y)) => self.mul(x, y),
            (Op::Neg(x), _) => {
                let product = self.mul(x, b);
                self.neg(product)
            }
            (_, Op::Neg(y)) => {
                let product = self.mul(a, y);
                self.neg(product)
            }
            _ if a == b => self.powi(a, 2),
            _ => self.intern(Op::Mul(a.min(b), a.max(b))),
        }
    }

    /// a / b
    pub fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.num(x / y),
            (Some(0.0), _) => return a,
            (_, Some(1.0)) => return a,
            (_, Some(-1.0)) => return self.neg(a),
            _ => {}
        }
        match (self.op(a), self.op(b)) {
            (Op::Neg(x), Op::Neg(y)) => self.div(x, y),
            (Op::Neg(x), _) => {
                let quotient = self.div(x, b);
                self.neg(quotient)
            }
            (_, Op::Neg(y)) => {
                let quotient = self.div(a, y);
                self.neg(quotient)
            }
            _ => self.intern(Op::Div(a, b)),
        }
    }

    /// −a
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(-f64::from_bits(bits)),
            Op::Neg(x) => x,
            Op::Sub(x, y) => self.intern(Op::Sub(y, x)),
            _ => self.intern(Op::Neg(a)),
        }
    }

    /// a^b; a whole constant exponent becomes [`Op::Powi`].
    pub fn pow(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (_, Some(n)) if n == n.trunc() && n.abs() <= 1024.0 => self.powi(a, n as i32),
            (Some(x), Some(y)) => self.num(x.powf(y)),
            _ => self.intern(Op::Pow(a, b)),
        }
    }

    /// a^n
    pub fn powi(&mut self, a: NodeId, n: i32) -> NodeId {
        match (self.op(a), n) {
            (_, 0) => self.num(1.0),
            (_, 1) => a,
            (Op::Const(bits), _) => self.num(powi(f64::from_bits(bits), n)),
            (Op::Neg(x), _) => {
                let power = self.powi(x, n);
                if n % 2 == 0 { power } else { self.neg(power) }
            }
            _ => self.intern(Op::Powi(a, n)),
        }
    }

    /// A smooth function of one argument.
    pub fn fun(&mut self, f: Fun, a: NodeId) -> NodeId {
        match (self.op(a), f) {
            (Op::Const(bits), _) => self.num(f.apply(f64::from_bits(bits))),
            (Op::Neg(x), Fun::Cos | Fun::Cosh) => self.fun(f, x),
            (Op::Neg(x), Fun::Sin | Fun::Tan | Fun::Asin | Fun::Atan | Fun::Sinh | Fun::Tanh) => {
                let value = self.fun(f, x);
                self.neg(value)
            }
            _ => self.intern(Op::Fun(f, a)),
        }
    }

    /// atan2(y, x)
    pub fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        match (self.constant(y), self.constant(x)) {
            (Some(y), Some(x)) => self.num(y.atan2(x)),
            _ => self.intern(Op::Atan2(y, x)),
        }
    }

    /// √(a² + b²)
    pub fn hypot(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.num(x.hypot(y)),
            (Some(0.0), _) => self.abs(b),
            (_, Some(0.0)) => self.abs(a),
            _ => self.intern(Op::Hypot(a.min(b), a.max(b))),
        }
    }

    /// sign(a): a switch. `sign(-x) = -sign(x)` and `sign(y-x) = -sign(x-y)`, so that both share it.
    pub fn sign(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(sign(f64::from_bits(bits))),
            Op::Sign(_) => a,
            Op::Neg(x) => {
                let side = self.sign(x);
                self.neg(side)
            }
            Op::Sub(x, y) if y < x => {
                let guard = self.sub(y, x);
                let side = self.intern(Op::Sign(guard));
                self.neg(side)
            }
            _ => self.intern(Op::Sign(a)),
        }
    }

    /// Largest whole number not above a: a switch.
    pub fn floor(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(f64::from_bits(bits).floor()),
            Op::Floor(_) | Op::Sign(_) => a,
            _ => self.intern(Op::Floor(a)),
        }
    }

    /// |a|
    pub fn abs(&mut self, a: NodeId) -> NodeId {
        if let Some(x) = self.constant(a) {
            return self.num(x.abs());
        }
        let side = self.sign(a);
        self.mul(a, side)
    }

    /// The smaller one; at a tie the first.
    pub fn min(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let first = self.le(a, b);
        self.select(first, a, b)
    }

    /// The larger one; at a tie the first.
    pub fn max(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let first = self.ge(a, b);
        self.select(first, a, b)
    }

    /// a − b ⌊a/b⌋
    pub fn modulo(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let quotient = self.div(a, b);
        let whole = self.floor(quotient);
        let part = self.mul(b, whole);
        self.sub(a, part)
    }

    /// The `order`-th derivative of a table at x.
    pub fn lookup(&mut self, table: TableId, order: u8, x: NodeId) -> NodeId {
        if order > self.table(table).degree() {
            return self.num(0.0);
        }
        if let Some(x) = self.constant(x) {
            let table = self.table(table);
            let value = table.eval(table.cell(x), x, order);
            return self.num(value);
        }
        let cell = self.intern(Op::Cell(table, x));
        self.lookup_in(table, order, cell, x)
    }

    /// The `order`-th derivative of a table at x by the formula of a given cell.
    pub(super) fn lookup_in(&mut self, table: TableId, order: u8, cell: NodeId, x: NodeId) -> NodeId {
        if order > self.table(table).degree() {
            return self.num(0.0);
        }
        self.intern(Op::Table { table, order, cell, x })
    }

    /// a > b
    pub fn gt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let side = self.side(a, b);
        self.test(side, |s| s > 0.0, Op::Positive)
    }

    /// a ≥ b
    pub fn ge(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let side = self.side(a, b);
        self.test(side, |s| s >= 0.0, Op::NonNegative)
    }

    /// a < b
    pub fn lt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.gt(b, a)
    }

    /// a ≤ b
    pub fn le(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.ge(b, a)
    }

    /// a = b
    pub fn eq(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let side = self.side(a, b);
        let side = match self.op(side) {
            Op::Neg(s) => s,
            _ => side,
        };
        self.test(side, |s| s == 0.0, Op::IsZero)
    }

    fn side(&mut self, a: NodeId, b: NodeId) -> NodeId {
        // equal infinities compare as equal although their difference is no number
        let guard = match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) if x == y => self.num(0.0),
            _ => self.sub(a, b),
        };
        self.sign(guard)
    }

    fn test(&mut self, side: NodeId, holds: fn(f64) -> bool, op: fn(NodeId) -> Op) -> NodeId {
        match self.constant(side) {
            Some(s) => self.num(f64::from(u8::from(holds(s)))),
            None => self.intern(op(side)),
        }
    }

    /// a and b
    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(0.0), _) | (_, Some(0.0)) => self.num(0.0),
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ if a == b => a,
            _ => self.intern(Op::And(a.min(b), a.max(b))),
        }
    }

    /// a or b
    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            (Some(_), _) | (_, Some(_)) => self.num(1.0),
            _ if a == b => a,
            _ => self.intern(Op::Or(a.min(b), a.max(b))),
        }
    }

    /// not a
    pub fn not(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(f64::from(u8::from(f64::from_bits(bits) == 0.0))),
            Op::Not(x) => x,
            _ => self.intern(Op::Not(a)),
        }
    }

    /// if(c, a, b)
    pub fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
        if a == b {
            return a;
        }
        match self.op(c) {
            Op::Const(bits) => {
                if f64::from_bits(bits) != 0.0 {
                    a
                } else {
                    b
                }
            }
            Op::Not(x) => self.intern(Op::Select(x, b, a)),
            _ => self.intern(Op::Select(c, a, b)),
        }
    }

    /// The node of an operation whose operands are given anew; simplifies again.
    pub(super) fn rebuild(&mut self, op: Op, new: impl Fn(NodeId) -> NodeId) -> NodeId {
        match op {
            Op::Const(_) | Op::Sym(_) => self.intern(op),
            Op::Add(a, b) => self.add(new(a), new(b)),
            Op::Sub(a, b) => self.sub(new(a), new(b)),
            Op::Mul(a, b) => self.mul(new(a), new(b)),
            Op::Div(a, b) => self.div(new(a), new(b)),
            Op::Neg(a) => self.neg(new(a)),
            Op::Pow(a, b) => self.pow(new(a), new(b)),
            Op::Powi(a, n) => self.powi(new(a), n),
            Op::Fun(f, a) => self.fun(f, new(a)),
            Op::Atan2(a, b) => self.atan2(new(a), new(b)),
            Op::Hypot(a, b) => self.hypot(new(a), new(b)),
            Op::Sign(a) => self.sign(new(a)),
            Op::Floor(a) => self.floor(new(a)),
            Op::Cell(table, a) => match self.constant(new(a)) {
                Some(x) => {
                    let cell = self.table(table).cell(x);
                    self.num(cell)
                }
                None => self.intern(Op::Cell(table, new(a))),
            },
            Op::Table { table, order, cell, x } => match (self.constant(new(cell)), self.constant(new(x))) {
                (Some(c), Some(x)) => {
                    let value = self.table(table).eval(c, x, order);
                    self.num(value)
                }
                _ => self.intern(Op::Table { table, order, cell: new(cell), x: new(x) }),
            },
            Op::Positive(a) => self.test(new(a), |s| s > 0.0, Op::Positive),
            Op::NonNegative(a) => self.test(new(a), |s| s >= 0.0, Op::NonNegative),
            Op::IsZero(a) => self.test(new(a), |s| s == 0.0, Op::IsZero),
            Op::And(a, b) => self.and(new(a), new(b)),
            Op::Or(a, b) => self.or(new(a), new(b)),
            Op::Not(a) => self.not(new(a)),
            Op::Select(c, a, b) => self.select(new(c), new(a), new(b)),
        }
    }

    /// Every node on which the roots depend, themselves included, operands first.
    pub fn reach(&self, roots: &[NodeId]) -> Vec<NodeId> {
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
    pub fn symbols(&self, roots: &[NodeId]) -> Vec<Symbol> {
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
    pub fn depends_on(&self, node: NodeId, which: impl Fn(Symbol) -> bool) -> bool {
        self.symbols(&[node]).into_iter().any(which)
    }
}
