//! Derivatives and substitution on the graph.
//!
//! One rule, forward over the graph: given the derivative of every symbol, that of each node follows from those of its operands.
//! With the rule x ↦ 1 it is the partial derivative; with q ↦ u, u ↦ a, t ↦ 1 it is the total derivative in time. Each node is
//! visited once, so the cost is the size of the expression. Switches have derivative zero: a derivative
//! belongs to the branch taken.

use std::collections::BTreeMap;

use super::graph::{Fun, Graph, NodeId, Op, Symbol};

/// Entries of the memory are id + 1.
const UNKNOWN: u32 = 0;
const MARKED: u32 = u32::MAX;

/// A derivation: rules for symbols, and the memory of all derivatives taken by it so far.
///
/// Use one object for all expressions with the same rules (for example all positions of a chain of bodies): what they
/// share is differentiated once. The object belongs to one graph.
#[derive(Clone, Debug)]
pub struct Derivation {
    rules: BTreeMap<Symbol, NodeId>,
    memo: Vec<u32>,
}

impl Derivation {
    /// A derivation by its rules; symbols without rule are constant.
    pub(crate) fn new(rules: impl IntoIterator<Item = (Symbol, NodeId)>) -> Self {
        Self { rules: rules.into_iter().collect(), memo: Vec::new() }
    }

    /// The partial derivative by one symbol.
    pub(crate) fn partial(graph: &mut Graph, symbol: Symbol) -> Self {
        let one = graph.num(1.0);
        Self::new([(symbol, one)])
    }

    /// The derivative of a node.
    pub(crate) fn of(&mut self, graph: &mut Graph, node: NodeId) -> NodeId {
        if let Some(known) = self.known(node) {
            return known;
        }
        if self.memo.is_empty() {
            // fresh zero pages cost nothing until they are touched
            self.memo = vec![UNKNOWN; node.index() + 1];
        } else if self.memo.len() <= node.index() {
            self.memo.resize(node.index() + 1, UNKNOWN);
        }

        // nodes whose derivative is still unknown, operands first
        let mut todo = Vec::new();
        let mut stack = vec![node];
        while let Some(n) = stack.pop() {
            if self.memo[n.index()] != UNKNOWN {
                continue;
            }
            self.memo[n.index()] = MARKED;
            todo.push(n);
            graph.op(n).operands(|a| stack.push(a));
        }
        todo.sort_unstable();
        for n in todo {
            let derivative = self.step(graph, n);
            self.memo[n.index()] = derivative.0 + 1;
        }
        self.known(node).unwrap_or(node)
    }

    /// Take over the derivative of a node that is known from elsewhere; symbols and constants keep their rules.
    pub(crate) fn learn(&mut self, graph: &Graph, node: NodeId, derivative: NodeId) {
        if matches!(graph.op(node), Op::Sym(_)) || graph.constant(node).is_some() {
            return;
        }
        if self.memo.len() <= node.index() {
            self.memo.resize(node.index() + 1, UNKNOWN);
        }
        self.memo[node.index()] = derivative.0 + 1;
    }

    fn known(&self, node: NodeId) -> Option<NodeId> {
        match self.memo.get(node.index()) {
            None | Some(&UNKNOWN | &MARKED) => None,
            Some(&plus_one) => Some(NodeId(plus_one - 1)),
        }
    }

    fn step(&self, g: &mut Graph, node: NodeId) -> NodeId {
        let zero = g.num(0.0);
        // operands come first, so they are known
        let d = |a: NodeId| self.known(a).unwrap_or(zero);
        match g.op(node) {
            Op::Const(_)
            | Op::Sign(_)
            | Op::Floor(_)
            | Op::Cell(..)
            | Op::Positive(_)
            | Op::NonNegative(_)
            | Op::IsZero(_)
            | Op::And(..)
            | Op::Or(..)
            | Op::Not(_) => zero,
            Op::Sym(s) => self.rules.get(&s).copied().unwrap_or(zero),
            Op::Add(a, b) => g.add(d(a), d(b)),
            Op::Sub(a, b) => g.sub(d(a), d(b)),
            Op::Neg(a) => g.neg(d(a)),
            Op::Mul(a, b) => {
                let left = g.mul(d(a), b);
                let right = g.mul(a, d(b));
                g.add(left, right)
            }
            Op::Div(a, b) => {
                // (a/b)' = (a' − (a/b) b')/b
                let part = g.mul(node, d(b));
                let top = g.sub(d(a), part);
                if top == zero { zero } else { g.div(top, b) }
            }
            Op::Powi(a, n) => {
                if d(a) == zero {
                    return zero;
                }
                let factor = g.num(f64::from(n));
                let power = g.powi(a, n - 1);
                let inner = g.mul(power, d(a));
                g.mul(factor, inner)
            }
            Op::Pow(a, b) => {
                let mut sum = zero;
                if d(a) != zero {
                    let one = g.num(1.0);
                    let lower = g.sub(b, one);
                    let power = g.pow(a, lower);
                    let slope = g.mul(b, power);
                    sum = g.mul(slope, d(a));
                }
                if d(b) != zero {
                    let log = g.fun(Fun::Log, a);
                    let slope = g.mul(node, log);
                    let part = g.mul(slope, d(b));
                    sum = g.add(sum, part);
                }
                sum
            }
            Op::Fun(f, a) => {
                if d(a) == zero {
                    return zero;
                }
                self.function(g, f, node, a, d(a))
            }
            Op::Atan2(y, x) => {
                // (x y' − y x')/(x² + y²)
                let left = g.mul(x, d(y));
                let right = g.mul(y, d(x));
                let top = g.sub(left, right);
                if top == zero {
                    return zero;
                }
                let (xx, yy) = (g.powi(x, 2), g.powi(y, 2));
                let below = g.add(xx, yy);
                g.div(top, below)
            }
            Op::Hypot(a, b) => {
                let left = g.mul(a, d(a));
                let right = g.mul(b, d(b));
                let top = g.add(left, right);
                if top == zero { zero } else { g.div(top, node) }
            }
            Op::Table { table, order, cell, x } => {
                if d(x) == zero {
                    return zero;
                }
                let slope = g.lookup_in(table, order + 1, cell, x);
                g.mul(slope, d(x))
            }
            Op::Select(c, a, b) => g.select(c, d(a), d(b)),
        }
    }

    /// Derivative of `node = f(a)`, with `da` not zero.
    fn function(&self, g: &mut Graph, f: Fun, node: NodeId, a: NodeId, da: NodeId) -> NodeId {
        let one = g.num(1.0);
        match f {
            Fun::Sin => {
                let slope = g.fun(Fun::Cos, a);
                g.mul(slope, da)
            }
            Fun::Cos => {
                let slope = g.fun(Fun::Sin, a);
                let value = g.mul(slope, da);
                g.neg(value)
            }
            Fun::Tan => {
                let square = g.powi(node, 2);
                let slope = g.add(one, square);
                g.mul(slope, da)
            }
            Fun::Asin | Fun::Acos => {
                // (1 − a)(1 + a) keeps its digits near the ends
                let (low, high) = (g.sub(one, a), g.add(one, a));
                let product = g.mul(low, high);
                let root = g.fun(Fun::Sqrt, product);
                let value = g.div(da, root);
                if f == Fun::Asin { value } else { g.neg(value) }
            }
            Fun::Atan => {
                let square = g.powi(a, 2);
                let below = g.add(one, square);
                g.div(da, below)
            }
            Fun::Sinh => {
                let slope = g.fun(Fun::Cosh, a);
                g.mul(slope, da)
            }
            Fun::Cosh => {
                let slope = g.fun(Fun::Sinh, a);
                g.mul(slope, da)
            }
            Fun::Tanh => {
                let square = g.powi(node, 2);
                let slope = g.sub(one, square);
                g.mul(slope, da)
            }
            Fun::Asinh => {
                let below = g.hypot(one, a);
                g.div(da, below)
            }
            Fun::Exp => g.mul(node, da),
            Fun::Log => g.div(da, a),
            Fun::Log10 => {
                let ln10 = g.num(std::f64::consts::LN_10);
                let below = g.mul(a, ln10);
                g.div(da, below)
            }
            Fun::Sqrt => {
                let two = g.num(2.0);
                let below = g.mul(two, node);
                g.div(da, below)
            }
        }
    }
}

impl Graph {
    /// Partial derivative of a node by a symbol.
    pub(crate) fn diff(&mut self, node: NodeId, symbol: Symbol) -> NodeId {
        Derivation::partial(self, symbol).of(self, node)
    }

    /// Partial derivatives of a node by those of the given symbols on which it depends and whose derivative is not zero,
    /// in ascending order of symbols.
    pub(crate) fn gradient(&mut self, node: NodeId, which: impl Fn(Symbol) -> bool) -> Vec<(Symbol, NodeId)> {
        let zero = self.num(0.0);
        let mut out = Vec::new();
        for symbol in self.symbols(&[node]) {
            if which(symbol) {
                let partial = self.diff(node, symbol);
                if partial != zero {
                    out.push((symbol, partial));
                }
            }
        }
        out
    }

    /// The node with symbols replaced.
    pub(crate) fn substitute(&mut self, node: NodeId, map: &BTreeMap<Symbol, NodeId>) -> NodeId {
        let nodes = self.reach(&[node]);
        let mut new = vec![0u32; node.index() + 1];
        for n in nodes {
            let op = self.op(n);
            let replaced = match op {
                Op::Sym(s) => map.get(&s).copied().unwrap_or(n),
                _ => {
                    // unchanged operands: the node itself, so that nothing is rebuilt needlessly
                    let mut same = true;
                    op.operands(|a| same &= new[a.index()] == a.0);
                    if same { n } else { self.rebuild(op, |a| NodeId(new[a.index()])) }
                }
            };
            new[n.index()] = replaced.0;
        }
        NodeId(new[node.index()])
    }
}
