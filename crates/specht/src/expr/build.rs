//! Building nodes: constant folding and the simplifications that do not change a finite value.
//!
//! Operands of commutative operations are ordered and signs are moved outwards, so that equal expressions written differently
//! become one node.

use super::graph::{Fun, Graph, NodeId, Op, Symbol, TableId, powi, sign};

impl Graph {
    /// A constant. −0 becomes 0.
    pub(crate) fn num(&mut self, value: f64) -> NodeId {
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
    pub(crate) fn sym(&mut self, symbol: Symbol) -> NodeId {
        self.intern(Op::Sym(symbol))
    }

    /// a + b
    pub(crate) fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
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
    pub(crate) fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => return self.num(x - y),
            _ if a == b => return self.num(0.0),
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
    pub(crate) fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
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
    pub(crate) fn div(&mut self, a: NodeId, b: NodeId) -> NodeId {
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
    pub(crate) fn neg(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(-f64::from_bits(bits)),
            Op::Neg(x) => x,
            Op::Sub(x, y) => self.intern(Op::Sub(y, x)),
            _ => self.intern(Op::Neg(a)),
        }
    }

    /// a^b; a whole constant exponent becomes [`Op::Powi`].
    pub(crate) fn pow(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (_, Some(n)) if n == n.trunc() && n.abs() <= 1024.0 => self.powi(a, n as i32),
            (Some(x), Some(y)) => self.num(x.powf(y)),
            _ => self.intern(Op::Pow(a, b)),
        }
    }

    /// a^n
    pub(crate) fn powi(&mut self, a: NodeId, n: i32) -> NodeId {
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
    pub(crate) fn fun(&mut self, f: Fun, a: NodeId) -> NodeId {
        match (self.op(a), f) {
            (Op::Const(bits), _) => self.num(f.apply(f64::from_bits(bits))),
            (Op::Neg(x), Fun::Cos | Fun::Cosh) => self.fun(f, x),
            (
                Op::Neg(x),
                Fun::Sin | Fun::Tan | Fun::Asin | Fun::Atan | Fun::Sinh | Fun::Tanh | Fun::Asinh,
            ) => {
                let value = self.fun(f, x);
                self.neg(value)
            }
            _ => self.intern(Op::Fun(f, a)),
        }
    }

    /// atan2(y, x)
    pub(crate) fn atan2(&mut self, y: NodeId, x: NodeId) -> NodeId {
        match (self.constant(y), self.constant(x)) {
            (Some(y), Some(x)) => self.num(y.atan2(x)),
            _ => self.intern(Op::Atan2(y, x)),
        }
    }

    /// √(a² + b²)
    pub(crate) fn hypot(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(x), Some(y)) => self.num(x.hypot(y)),
            (Some(0.0), _) => self.abs(b),
            (_, Some(0.0)) => self.abs(a),
            _ => self.intern(Op::Hypot(a.min(b), a.max(b))),
        }
    }

    /// sign(a): a switch. `sign(-x) = -sign(x)` and `sign(y-x) = -sign(x-y)`, so that both share it.
    pub(crate) fn sign(&mut self, a: NodeId) -> NodeId {
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
    pub(crate) fn floor(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(f64::from_bits(bits).floor()),
            Op::Floor(_) | Op::Sign(_) => a,
            _ => self.intern(Op::Floor(a)),
        }
    }

    /// |a|
    pub(crate) fn abs(&mut self, a: NodeId) -> NodeId {
        if let Some(x) = self.constant(a) {
            return self.num(x.abs());
        }
        let side = self.sign(a);
        self.mul(a, side)
    }

    /// The smaller one; at a tie the first.
    pub(crate) fn min(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let first = self.le(a, b);
        self.select(first, a, b)
    }

    /// The larger one; at a tie the first.
    pub(crate) fn max(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let first = self.ge(a, b);
        self.select(first, a, b)
    }

    /// a − b ⌊a/b⌋
    pub(crate) fn modulo(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let quotient = self.div(a, b);
        let whole = self.floor(quotient);
        let part = self.mul(b, whole);
        self.sub(a, part)
    }

    /// The `order`-th derivative of a table at x.
    pub(crate) fn lookup(&mut self, table: TableId, order: u8, x: NodeId) -> NodeId {
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
    pub(crate) fn gt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let side = self.side(a, b);
        self.test(side, |s| s > 0.0, Op::Positive)
    }

    /// a ≥ b
    pub(crate) fn ge(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let side = self.side(a, b);
        self.test(side, |s| s >= 0.0, Op::NonNegative)
    }

    /// a < b
    pub(crate) fn lt(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.gt(b, a)
    }

    /// a ≤ b
    pub(crate) fn le(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.ge(b, a)
    }

    /// a = b
    pub(crate) fn eq(&mut self, a: NodeId, b: NodeId) -> NodeId {
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
    pub(crate) fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(0.0), _) | (_, Some(0.0)) => self.num(0.0),
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ if a == b => a,
            _ => self.intern(Op::And(a.min(b), a.max(b))),
        }
    }

    /// a or b
    pub(crate) fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (self.constant(a), self.constant(b)) {
            (Some(0.0), _) => b,
            (_, Some(0.0)) => a,
            (Some(_), _) | (_, Some(_)) => self.num(1.0),
            _ if a == b => a,
            _ => self.intern(Op::Or(a.min(b), a.max(b))),
        }
    }

    /// not a
    pub(crate) fn not(&mut self, a: NodeId) -> NodeId {
        match self.op(a) {
            Op::Const(bits) => self.num(f64::from(u8::from(f64::from_bits(bits) == 0.0))),
            Op::Not(x) => x,
            _ => self.intern(Op::Not(a)),
        }
    }

    /// if(c, a, b)
    pub(crate) fn select(&mut self, c: NodeId, a: NodeId, b: NodeId) -> NodeId {
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
}
