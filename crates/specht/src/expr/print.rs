//! Trees and nodes as text that reads back to the same value.

use std::fmt::Write;

use super::ast::{Ast, ChainOp, Expr, Kind};
use super::graph::{Graph, NodeId, Op, Symbol};

/// How tightly a form binds; a part that binds less than its place demands gets parentheses.
const LOGIC_OR: u8 = 0;
const LOGIC_AND: u8 = 1;
const COMPARE: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const UNARY: u8 = 6;
const POWER: u8 = 7;
const ATOM: u8 = 8;

impl std::fmt::Display for Ast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        tree(&self.root, LOGIC_OR, &mut out);
        f.write_str(&out)
    }
}

fn level(e: &Expr) -> u8 {
    match &e.kind {
        Kind::Or(_) => LOGIC_OR,
        Kind::And(_) => LOGIC_AND,
        Kind::Not(_) => LOGIC_AND + 1,
        Kind::Compare(..) => COMPARE,
        Kind::Chain(_, links) if matches!(links[0].op, ChainOp::Add | ChainOp::Sub) => SUM,
        Kind::Chain(..) => PRODUCT,
        Kind::Neg(_) => UNARY,
        Kind::Pow(..) => POWER,
        Kind::Number { unit: Some(_), .. } => POWER,
        _ => ATOM,
    }
}

fn tree(e: &Expr, wanted: u8, out: &mut String) {
    let parentheses = level(e) < wanted;
    if parentheses {
        out.push('(');
    }
    match &e.kind {
        Kind::Number { value, unit } => {
            number(*value, out);
            if let Some(unit) = unit {
                out.push(' ');
                *out += &unit.text;
            }
        }
        Kind::Name { parts, primes } => {
            for (i, part) in parts.iter().enumerate() {
                *out += if i > 0 { "." } else { "" };
                *out += &part.name;
                for index in &part.indices {
                    out.push('[');
                    tree(index, LOGIC_OR, out);
                    out.push(']');
                }
            }
            (0..*primes).for_each(|_| out.push('\''));
        }
        Kind::Call { name, primes, args, .. } => {
            *out += name;
            (0..*primes).for_each(|_| out.push('\''));
            out.push('(');
            for (i, arg) in args.iter().enumerate() {
                *out += if i > 0 { ", " } else { "" };
                tree(arg, LOGIC_OR, out);
            }
            out.push(')');
        }
        Kind::Sum { index, from, to, body } => {
            let _ = write!(out, "sum({index} = ");
            tree(from, LOGIC_OR, out);
            *out += "..";
            tree(to, LOGIC_OR, out);
            *out += ", ";
            tree(body, LOGIC_OR, out);
            out.push(')');
        }
        Kind::Chain(first, links) => {
            let own = level(e);
            tree(first, own, out);
            for link in links {
                *out += match link.op {
                    ChainOp::Add => " + ",
                    ChainOp::Sub => " - ",
                    ChainOp::Mul => "*",
                    ChainOp::Div => "/",
                };
                tree(&link.expr, own + 1, out);
            }
        }
        Kind::Neg(a) => {
            out.push('-');
            tree(a, UNARY, out);
        }
        Kind::Pow(a, b, _) => {
            tree(a, ATOM, out);
            out.push('^');
            tree(b, UNARY, out);
        }
        Kind::Compare(op, a, b, _) => {
            tree(a, SUM, out);
            let _ = write!(out, " {} ", op.text());
            tree(b, SUM, out);
        }
        Kind::And(all) | Kind::Or(all) => {
            let own = level(e);
            for (i, part) in all.iter().enumerate() {
                *out += match (i, own) {
                    (0, _) => "",
                    (_, LOGIC_OR) => " or ",
                    _ => " and ",
                };
                tree(part, own + 1, out);
            }
        }
        Kind::Not(a) => {
            *out += "not ";
            tree(a, COMPARE, out);
        }
    }
    if parentheses {
        out.push(')');
    }
}

/// The shortest decimal form that reads back to the same bits.
fn number(value: f64, out: &mut String) {
    let size = value.abs();
    let _ = if value == 0.0 || (1e-5..1e16).contains(&size) {
        write!(out, "{value}")
    } else {
        write!(out, "{value:e}")
    };
}

impl Graph {
    /// A node as text, with symbols named by `name`; what lies deeper than 60 levels or beyond `limit` characters becomes `…`.
    ///
    /// Text without `…` reads back to the same value, up to the names of symbols and tables.
    pub fn print(&self, node: NodeId, limit: usize, name: &dyn Fn(Symbol) -> String) -> String {
        let mut out = String::new();
        Printer { graph: self, limit, name, depth: 0 }.node(node, LOGIC_OR, &mut out);
        out
    }
}

struct Printer<'a> {
    graph: &'a Graph,
    limit: usize,
    name: &'a dyn Fn(Symbol) -> String,
    depth: u32,
}

impl Printer<'_> {
    fn node(&mut self, node: NodeId, wanted: u8, out: &mut String) {
        if self.depth > 60 || out.len() > self.limit {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        self.depth += 1;
        let op = self.graph.op(node);
        let own = match op {
            // a minus sign, or the 0/0 that stands for NaN
            Op::Const(bits) if f64::from_bits(bits) < 0.0 || f64::from_bits(bits).is_nan() => LOGIC_OR,
            Op::Add(..) | Op::Sub(..) => SUM,
            Op::Mul(a, b) if self.is_abs(a, b) => ATOM,
            Op::Mul(..) | Op::Div(..) => PRODUCT,
            Op::Neg(_) => UNARY,
            Op::Pow(..) | Op::Powi(..) => POWER,
            Op::Positive(_) | Op::NonNegative(_) | Op::IsZero(_) => COMPARE,
            Op::And(..) => LOGIC_AND,
            Op::Or(..) => LOGIC_OR,
            Op::Not(_) => LOGIC_AND + 1,
            _ => ATOM,
        };
        let parentheses = own < wanted;
        if parentheses {
            out.push('(');
        }
        match op {
            Op::Const(bits) => match f64::from_bits(bits) {
                v if v.is_nan() => *out += "0/0",
                v if v.is_infinite() => *out += if v > 0.0 { "inf" } else { "-inf" },
                v => number(v, out),
            },
            Op::Sym(s) => *out += &(self.name)(s),
            Op::Add(a, b) => self.two(a, SUM, " + ", b, PRODUCT, out),
            Op::Sub(a, b) => self.two(a, SUM, " - ", b, PRODUCT, out),
            Op::Mul(a, b) if self.is_abs(a, b) => {
                let inner = if matches!(self.graph.op(b), Op::Sign(x) if x == a) { a } else { b };
                self.call("abs", &[inner], out);
            }
            Op::Mul(a, b) => self.two(a, PRODUCT, "*", b, UNARY, out),
            Op::Div(a, b) => self.two(a, PRODUCT, "/", b, UNARY, out),
            Op::Neg(a) => {
                out.push('-');
                self.node(a, UNARY, out);
            }
            Op::Pow(a, b) => self.two(a, ATOM, "^", b, UNARY, out),
            Op::Powi(a, n) => {
                self.node(a, ATOM, out);
                let _ = write!(out, "^{n}");
            }
            Op::Fun(f, a) => self.call(f.name(), &[a], out),
            Op::Atan2(a, b) => self.call("atan2", &[a, b], out),
            Op::Hypot(a, b) => self.call("hypot", &[a, b], out),
            Op::Sign(a) => self.call("sign", &[a], out),
            Op::Floor(a) => self.call("floor", &[a], out),
            Op::Cell(t, a) => {
                let name = format!("cell_{}", self.graph.table(t).name());
                self.call(&name, &[a], out);
            }
            Op::Table { table, order, x, .. } => {
                let mut name = self.graph.table(table).name().to_string();
                (0..order).for_each(|_| name.push('\''));
                self.call(&name, &[x], out);
            }
            Op::Positive(a) => self.test(a, ">", out),
            Op::NonNegative(a) => self.test(a, ">=", out),
            Op::IsZero(a) => self.test(a, "==", out),
            Op::And(a, b) => self.two(a, LOGIC_AND, " and ", b, LOGIC_AND + 1, out),
            Op::Or(a, b) => self.two(a, LOGIC_OR, " or ", b, LOGIC_AND, out),
            Op::Not(a) => {
                *out += "not ";
                self.node(a, COMPARE, out);
            }
            Op::Select(c, a, b) => self.call("if", &[c, a, b], out),
        }
        if parentheses {
            out.push(')');
        }
        self.depth -= 1;
    }

    fn is_abs(&self, a: NodeId, b: NodeId) -> bool {
        let of = |s: NodeId, x: NodeId| matches!(self.graph.op(s), Op::Sign(y) if y == x);
        of(a, b) || of(b, a)
    }

    fn two(&mut self, a: NodeId, left: u8, mark: &str, b: NodeId, right: u8, out: &mut String) {
        self.node(a, left, out);
        *out += mark;
        self.node(b, right, out);
    }

    /// A test of a sign prints as a comparison of its argument with zero.
    fn test(&mut self, side: NodeId, mark: &str, out: &mut String) {
        let (argument, mark) = match self.graph.op(side) {
            Op::Sign(x) => (x, mark),
            Op::Neg(s) => match (self.graph.op(s), mark) {
                (Op::Sign(x), ">") => (x, "<"),
                (Op::Sign(x), ">=") => (x, "<="),
                _ => (side, mark),
            },
            _ => (side, mark),
        };
        match self.graph.op(argument) {
            Op::Sub(a, b) => self.two(a, SUM, &format!(" {mark} "), b, SUM, out),
            _ => {
                self.node(argument, SUM, out);
                let _ = write!(out, " {mark} 0");
            }
        }
    }

    fn call(&mut self, name: &str, args: &[NodeId], out: &mut String) {
        *out += name;
        out.push('(');
        for (i, &arg) in args.iter().enumerate() {
            *out += if i > 0 { ", " } else { "" };
            self.node(arg, LOGIC_OR, out);
        }
        out.push(')');
    }
}
