//! Values of the file that are expressions: parsed text with its place.

use std::rc::Rc;

use super::diagnostic::{Diagnostic, Origin, Report};
use super::tree::{Node, Text, Value};
use crate::expr::{self, Ast, Expr, ExprError, Kind};
use crate::model::Span;

/// A parsed value: number, quantity or formula.
#[derive(Clone, Debug)]
pub(super) struct Formula {
    /// The expression.
    pub ast: Rc<Ast>,
    /// Place of the whole value.
    pub span: Span,
    /// Byte in the file of the expression's first byte.
    pub offset: Option<usize>,
    /// Which text the places refer to.
    pub origin: Origin,
    /// Height of the syntax tree.
    pub height: usize,
    /// Inside a longer expression a number has a unit: it may be mistaken for a product with a name.
    pub mixed: bool,
}

impl Formula {
    /// Reads a number or a text.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<Formula> {
        match &node.value {
            Value::Number(x) => Some(Self::number(*x, node.span)),
            Value::Text(text) => Self::parse(text, node.span, report),
            _ => {
                let help = format!("this is {}", node.kind());
                report.error(node.span, "a number or an expression in quotes is expected here", help);
                None
            }
        }
    }

    /// A plain number.
    pub(super) fn number(value: f64, span: Span) -> Formula {
        let root = Expr { kind: Kind::Number { value, unit: None }, span: expr::Span::new(0, 0) };
        Formula {
            ast: Rc::new(Ast { source: String::new(), root }),
            span,
            offset: None,
            origin: Origin::File,
            height: 1,
            mixed: false,
        }
    }

    /// A tree whose text stands somewhere inside `span`.
    pub(super) fn of(ast: Ast, span: Span) -> Formula {
        Formula {
            mixed: false,
            height: height(&ast.root),
            ast: Rc::new(ast),
            span,
            offset: None,
            origin: Origin::File,
        }
    }

    /// An expression that does not stand in the file.
    pub(super) fn given(text: &str, origin: Origin) -> Result<Formula, Diagnostic> {
        let whole = Span { start: 0, end: text.len() };
        match expr::parse(text) {
            Ok(ast) => Ok(Formula { offset: Some(0), origin, ..Formula::of(ast, whole) }),
            Err(e) => {
                let at = Span { start: e.span.start, end: e.span.end };
                Err(Diagnostic { origin, ..Diagnostic::error(at, e.message, e.help) })
            }
        }
    }

    fn parse(text: &Text, span: Span, report: &mut Report) -> Option<Formula> {
        let place = |s| place(span, text.offset, s);
        match expr::parse(&text.text) {
            Ok(ast) => Some(Formula {
                height: height(&ast.root),
                mixed: has_unit(&ast.root) && ast.as_quantity().is_none(),
                ast: Rc::new(ast),
                span,
                offset: text.offset,
                origin: Origin::File,
            }),
            Err(error) => {
                report.push(Diagnostic::error(place(error.span), error.message, error.help));
                None
            }
        }
    }

    /// Where a part of the expression stands in the file.
    pub(super) fn place(&self, part: expr::Span) -> Span {
        place(self.span, self.offset, part)
    }

    /// Place of the expression itself, without quotes.
    pub(super) fn inner(&self) -> Span {
        self.place(self.ast.root.span)
    }

    /// The expression as written; numbers in short form.
    pub(super) fn text(&self) -> String {
        match &self.ast.root.kind {
            Kind::Number { value, unit: None } if self.ast.source.is_empty() => format!("{value}"),
            _ => self.ast.source.clone(),
        }
    }

    /// Moves an error of the expression to its place.
    pub(super) fn diagnostic(&self, error: ExprError) -> Diagnostic {
        Diagnostic {
            origin: self.origin,
            ..Diagnostic::error(self.place(error.span), error.message, error.help)
        }
    }

    /// An error about the whole expression.
    pub(super) fn error(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic { origin: self.origin, ..Diagnostic::error(self.inner(), message, help) }
    }
}

fn has_unit(e: &Expr) -> bool {
    let mut found = matches!(e.kind, Kind::Number { unit: Some(_), .. });
    e.children(&mut |c| found |= has_unit(c));
    found
}

fn height(e: &Expr) -> usize {
    let mut below = 0;
    e.children(&mut |c| below = below.max(height(c)));
    below + 1
}

fn place(whole: Span, offset: Option<usize>, part: expr::Span) -> Span {
    match offset {
        Some(o) => Span { start: o + part.start, end: o + part.end },
        None => whole,
    }
}

/// `for = "i = 1..n"`.
#[derive(Clone, Debug)]
pub(super) struct Family {
    /// Name of the index.
    pub index: String,
    /// First and last value.
    pub bounds: [Formula; 2],
}

impl Family {
    /// Reads the text of a `for`.
    pub(super) fn read(node: &Node, report: &mut Report) -> Option<Family> {
        let Value::Text(text) = &node.value else {
            report.error(node.span, "`for` is a text", "write  for = \"i = 1..n\"");
            return None;
        };
        match expr::parse_range(&text.text) {
            Ok((index, from, to)) => {
                let bound = |ast: Ast| Formula {
                    ast: Rc::new(ast),
                    span: node.span,
                    offset: text.offset,
                    origin: Origin::File,
                    height: 10,
                    mixed: false,
                };
                Some(Family { index, bounds: [bound(from), bound(to)] })
            }
            Err(error) => {
                let at = place(node.span, text.offset, error.span);
                report.push(Diagnostic::error(at, error.message, error.help));
                None
            }
        }
    }
}
