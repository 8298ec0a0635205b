//! Trees and nodes as text that reads back to the same value.

use std::fmt::Write;

use super::ast::{Ast, ChainOp, Expr, Kind, Step};

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
        Kind::Range { over, index, from, to, body } => {
            let _ = write!(out, "{}({index} = ", over.text());
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
        Kind::Text(text) => {
            let _ = write!(out, "\"{text}\"");
        }
        Kind::Address(base, steps) => {
            base.iter().for_each(|base| tree(base, ATOM, out));
            *out += &address(steps);
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

/// Steps of an address as they are written.
pub(crate) fn address(steps: &[Step]) -> String {
    let mut out = String::new();
    for step in steps {
        let _ = match step {
            Step::Key(name) if out.is_empty() => write!(out, "{name}"),
            Step::Key(name) => write!(out, ".{name}"),
            Step::Index(k) => write!(out, "[{k}]"),
            Step::Prime => write!(out, "'"),
            Step::Filter(all) => {
                let all: Vec<String> =
                    all.iter().map(|c| format!("{}{}{}", c.key, c.op.text(), c.text)).collect();
                write!(out, "[{}]", all.join(", "))
            }
        };
    }
    out
}
