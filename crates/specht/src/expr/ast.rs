//! The syntax tree. Chains such as `a + b - c` are one node with many operands, so the height of a tree is its nesting, which
//! the parser bounds; recursion over a tree is safe.

use super::error::{ExprError, Span};
use super::units::{Dim, Unit};

/// A parsed expression with its source text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ast {
    /// The text it was read from; all spans refer to it.
    pub source: String,
    /// The expression.
    pub root: Expr,
}

/// A node with its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Expr {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// Sign or operator in a sum or product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum ChainOp {
    Add,
    Sub,
    Mul,
    Div,
}

/// Comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum CompareOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl CompareOp {
    /// Whether it holds between two numbers.
    pub(crate) fn holds(self, x: f64, y: f64) -> bool {
        match self {
            CompareOp::Lt => x < y,
            CompareOp::Le => x <= y,
            CompareOp::Gt => x > y,
            CompareOp::Ge => x >= y,
            CompareOp::Eq => x == y,
            CompareOp::Ne => x != y,
        }
    }

    /// As written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
        }
    }
}

/// What is done over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// Whole numbers, added.
    Sum,
    /// An interval, integrated.
    Integral,
}

impl Over {
    /// As written.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Over::Sum => "sum",
            Over::Integral => "integral",
        }
    }
}

/// An operand of a chain with the operator before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    /// The operator.
    pub op: ChainOp,
    /// Where the operator stands.
    pub op_span: Span,
    /// The operand.
    pub expr: Expr,
}

/// The unit after a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnitUse {
    /// As written.
    pub text: String,
    /// What it means.
    pub unit: Unit,
    /// Where it stands.
    pub span: Span,
}

/// One part of a dotted name, with indices: `x[i-1]` in `x[i-1].tip`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    /// The name.
    pub name: String,
    /// Indices, as expressions.
    pub indices: Vec<Expr>,
    /// Name with indices.
    pub span: Span,
}

/// Syntax.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A number as written, with its unit.
    Number {
        /// The number before the unit.
        value: f64,
        /// The unit.
        unit: Option<UnitUse>,
    },
    /// `a.b[i].c''`
    Name {
        /// The parts between the dots; at least one.
        parts: Vec<Part>,
        /// Number of primes.
        primes: u32,
    },
    /// `f'(a, b)`
    Call {
        /// Name of the function.
        name: String,
        /// Where the name stands, without primes.
        name_span: Span,
        /// Number of primes.
        primes: u32,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// `sum(i = a..b, body)`, `integral(x = a..b, body)`
    Range {
        /// What is done over the range.
        over: Over,
        /// The running name.
        index: String,
        /// First value.
        from: Box<Expr>,
        /// Last value.
        to: Box<Expr>,
        /// What is added.
        body: Box<Expr>,
    },
    /// A sum or a product: first operand, then operators with operands, from left to right.
    Chain(Box<Expr>, Vec<Link>),
    /// `-a`
    Neg(Box<Expr>),
    /// `a^b`, with the place of the operator.
    Pow(Box<Expr>, Box<Expr>, Span),
    /// `a < b`, with the place of the operator.
    Compare(CompareOp, Box<Expr>, Box<Expr>, Span),
    /// `a and b and c`
    And(Vec<Expr>),
    /// `a or b or c`
    Or(Vec<Expr>),
    /// `not a`
    Not(Box<Expr>),
    /// `"text"`, in addresses.
    Text(String),
    /// `events[kind=impact][1].after.phi'`, in addresses: a way through the results of a run, from a value or from their root.
    Address(Option<Box<Expr>>, Vec<Step>),
}

/// One step of an address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// `.name`.
    Key(String),
    /// `[3]`, `[-1]`.
    Index(i64),
    /// `'`.
    Prime,
    /// `[key=value, …]`.
    Filter(Vec<Condition>),
}

/// One condition of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    /// Key of the entry.
    pub key: String,
    /// The comparison; `=` is [`CompareOp::Eq`].
    pub op: CompareOp,
    /// The right side as written.
    pub text: String,
    /// The right side as a number, if it is one.
    pub number: Option<f64>,
}

impl Expr {
    /// Whether the value is a truth value.
    pub(crate) fn is_condition(&self) -> bool {
        matches!(self.kind, Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_))
    }

    /// Calls `f` for each direct part.
    pub(crate) fn children<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            Kind::Number { .. } | Kind::Text(_) => {}
            Kind::Address(base, _) => base.iter().for_each(|b| f(b)),
            Kind::Name { parts, .. } => parts.iter().flat_map(|p| &p.indices).for_each(f),
            Kind::Call { args, .. } => args.iter().for_each(f),
            Kind::Range { from, to, body, .. } => {
                f(from);
                f(to);
                f(body);
            }
            Kind::Chain(first, links) => {
                f(first);
                links.iter().for_each(|l| f(&l.expr));
            }
            Kind::Neg(a) | Kind::Not(a) => f(a),
            Kind::Pow(a, b, _) | Kind::Compare(_, a, b, _) => {
                f(a);
                f(b);
            }
            Kind::And(all) | Kind::Or(all) => all.iter().for_each(f),
        }
    }
}

/// A name that occurs in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameUse {
    /// The name before the first dot or index, or the name of the function.
    pub name: String,
    /// Number of primes of the whole.
    pub primes: u32,
    /// Whether it is called.
    pub call: bool,
    /// Where it stands.
    pub span: Span,
}

impl Ast {
    /// The text of a node.
    pub(crate) fn text(&self, span: Span) -> &str {
        span.text(&self.source)
    }

    /// If the whole is a number with or without unit and sign, its value in SI and its dimension.
    pub(crate) fn as_quantity(&self) -> Option<(f64, Dim)> {
        fn read(e: &Expr) -> Option<(f64, Dim)> {
            match &e.kind {
                Kind::Number { value, unit: None } => Some((*value, Dim::Any)),
                Kind::Number { value, unit: Some(u) } => Some((u.unit.to_si(*value), Dim::Known(u.unit.dim))),
                Kind::Neg(a) => read(a).map(|(v, d)| (-v, d)),
                _ => None,
            }
        }
        read(&self.root)
    }

    /// Every name used, without the running names of sums, in the order of the text.
    pub(crate) fn names(&self) -> Vec<NameUse> {
        fn walk(e: &Expr, bound: &mut Vec<String>, out: &mut Vec<NameUse>) {
            match &e.kind {
                Kind::Name { parts, primes } if !bound.contains(&parts[0].name) => {
                    out.push(NameUse {
                        name: parts[0].name.clone(),
                        primes: *primes,
                        call: false,
                        span: e.span,
                    });
                }
                Kind::Call { name, primes, name_span, .. } => {
                    out.push(NameUse { name: name.clone(), primes: *primes, call: true, span: *name_span });
                }
                _ => {}
            }
            if let Kind::Range { index, from, to, body, .. } = &e.kind {
                walk(from, bound, out);
                walk(to, bound, out);
                bound.push(index.clone());
                walk(body, bound, out);
                bound.pop();
            } else {
                e.children(&mut |c| walk(c, bound, out));
            }
        }
        let mut out = Vec::new();
        walk(&self.root, &mut Vec::new(), &mut out);
        out
    }

    /// A warning for every unit that is also a name of the user: `2 m` is two metres.
    ///
    /// A text that is nothing but a quantity ([`Ast::as_quantity`]) is warned of too; where names such as `m` and `s` are the rule,
    /// a caller may prefer to ask for the others only.
    pub(crate) fn unit_warnings(&self, is_name: impl Fn(&str) -> bool) -> Vec<ExprError> {
        fn walk(ast: &Ast, e: &Expr, is_name: &dyn Fn(&str) -> bool, out: &mut Vec<ExprError>) {
            if let Kind::Number { unit: Some(unit), .. } = &e.kind {
                let words = unit.text.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| !w.is_empty());
                if let Some(word) = words.into_iter().find(|w| is_name(w)) {
                    let text = ast.text(e.span);
                    let meaning = spoken(unit.text.as_str());
                    let number = ast.text(Span::new(e.span.start, unit.span.start)).trim();
                    let instead = if word == unit.text {
                        format!("{number}*{word}")
                    } else {
                        format!("{number}*({})", unit.text)
                    };
                    out.push(ExprError::new(
                        e.span,
                        format!("`{text}` is {}", counted(number, &meaning)),
                        format!("you also have a name `{word}`; for that write `{instead}`"),
                    ));
                }
            }
            e.children(&mut |c| walk(ast, c, is_name, out));
        }
        let mut out = Vec::new();
        walk(self, &self.root, &is_name, &mut out);
        out
    }
}

/// `two metres`, `one metre`, `2.5 metres`.
fn counted(number: &str, unit: &str) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let unit = if number == "1" { unit.trim_end_matches('s') } else { unit };
    let word = number.parse::<usize>().ok().and_then(|n| WORDS.get(n).copied());
    format!("{} {unit}", word.unwrap_or(number))
}

/// A unit in words, where it is common.
fn spoken(unit: &str) -> String {
    match unit {
        "m" => "metres",
        "mm" => "millimetres",
        "kg" => "kilograms",
        "g" => "grams",
        "s" => "seconds",
        "ms" => "milliseconds",
        "min" => "minutes",
        "rad" => "radians",
        "deg" => "degrees",
        "rev" => "revolutions",
        "N" => "newtons",
        "J" => "joules",
        "W" => "watts",
        "V" => "volts",
        "A" => "amperes",
        "H" => "henrys",
        "F" => "farads",
        "K" => "kelvins",
        other => return format!("in the unit {other}"),
    }
    .to_string()
}
