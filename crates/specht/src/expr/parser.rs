//! From tokens to the tree; precedence climbing, with bounded nesting and size.
//!
//! ```text
//! expr    = or ;  or = and {"or" and} ;  and = not {"and" not} ;  not = ["not"] compare
//! compare = sum [("<"|"<="|">"|">="|"=="|"!=") sum]
//! sum     = product {("+"|"-") product} ;  product = unary {("*"|"/") unary}
//! unary   = ["+"|"-"] (power | unary) ;  power = atom ["^" unary]
//! atom    = number [unit] | "(" expr ")" | name {"'"} "(" expr {"," expr} ")" | ("sum"|"integral") "(" name "=" expr ".." expr "," expr ")"
//!         | name {"[" expr "]" | "." name} {"'"}
//! ```
//!
//! A text that is *number, space, unit expression* is a quantity; this reading wins.

use super::ast::{Ast, ChainOp, CompareOp, Condition, Expr, Kind, Link, Over, Part, Step, UnitUse};
use super::error::{ExprError, Span};
use super::lexer::{Lexeme, Token, lex};
use super::units::{UNIT_HELP, Unit, parse_unit};

/// Deepest nesting of an expression.
pub(super) const MAX_DEPTH: u32 = 200;
/// Largest number of nodes of one expression.
pub(super) const MAX_NODES: usize = 200_000;

/// Reads an expression or a quantity.
pub(crate) fn parse(source: &str) -> Result<Ast, ExprError> {
    read(source, false)
}

fn read(source: &str, addresses: bool) -> Result<Ast, ExprError> {
    let lexemes = lex(source, addresses)?;
    if lexemes.len() == 1 {
        return Err(ExprError::new(
            Span::new(0, source.len()),
            "an expression is missing here",
            "write a number or a formula",
        ));
    }
    if let Some(root) = quantity(source, &lexemes) {
        return Ok(Ast { source: source.to_string(), root });
    }
    let mut parser = Parser { source, lexemes: &lexemes, addresses, at: 0, depth: 0, nodes: 0 };
    let root = parser.expr()?;
    parser.end()?;
    Ok(Ast { source: source.to_string(), root })
}

/// Reads an expression over the results of a run: names are [addresses](Kind::Address).
///
/// ```text
/// postfix = atom {"." name | "[" ["-"] digits "]" | "[" key "=" value {"," key "=" value} "]" | "'"} ;  atom = … | '"' text '"'
/// ```
pub(crate) fn parse_address(source: &str) -> Result<Ast, ExprError> {
    read(source, true)
}

/// Reads the range of a family, `i = 1..n`: the running name, and the two bounds as trees of the same text.
pub(crate) fn parse_range(source: &str) -> Result<(String, Ast, Ast), ExprError> {
    let lexemes = lex(source, false)?;
    let mut parser = Parser { source, lexemes: &lexemes, addresses: false, at: 0, depth: 0, nodes: 0 };
    let (index, from, to) = parser.range()?;
    parser.end()?;
    let ast = |root: Expr| Ast { source: source.to_string(), root };
    Ok((index, ast(from), ast(to)))
}

/// `["+"|"-"] number space unit`, if the whole text is that.
fn quantity(source: &str, lexemes: &[Lexeme]) -> Option<Expr> {
    let mut at = 0;
    let mut negative = false;
    if let Token::Mark(mark @ ("+" | "-")) = lexemes[0].token {
        negative = mark == "-";
        at = 1;
    }
    let number = lexemes.get(at)?;
    let next = lexemes.get(at + 1)?;
    let Token::Number(value) = number.token else { return None };
    if next.token == Token::End || !next.spaced {
        return None;
    }
    let text = source[next.span.start..].trim_end();
    let unit = parse_unit(text).ok()?;
    let end = next.span.start + text.len();
    let unit = UnitUse { text: text.to_string(), unit, span: Span::new(next.span.start, end) };
    let number =
        Expr { kind: Kind::Number { value, unit: Some(unit) }, span: Span::new(number.span.start, end) };
    Some(if negative {
        Expr { span: Span::new(lexemes[0].span.start, end), kind: Kind::Neg(Box::new(number)) }
    } else {
        number
    })
}

struct Parser<'a> {
    source: &'a str,
    lexemes: &'a [Lexeme],
    /// Names are addresses.
    addresses: bool,
    at: usize,
    depth: u32,
    nodes: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.lexemes[self.at.min(self.lexemes.len() - 1)].token
    }

    fn lexeme(&self) -> &Lexeme {
        &self.lexemes[self.at.min(self.lexemes.len() - 1)]
    }

    fn span(&self) -> Span {
        self.lexeme().span
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(m) if *m == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(n) if n == word)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.at += usize::from(found);
        found
    }

    fn node(&mut self, kind: Kind, span: Span) -> Result<Expr, ExprError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(ExprError::new(span, "the expression is too long", "split it into definitions"));
        }
        Ok(Expr { kind, span })
    }

    fn enter(&mut self) -> Result<(), ExprError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("the expression is nested more than {MAX_DEPTH} levels deep");
            return Err(ExprError::new(self.span(), message, "split it into definitions"));
        }
        Ok(())
    }

    /// The error at the present token.
    fn unexpected(&self, wanted: &str) -> ExprError {
        let span = self.span();
        let message = match self.peek() {
            Token::End => format!("the expression ends where {wanted} was expected"),
            _ => format!("`{}` stands where {wanted} was expected", span.text(self.source)),
        };
        ExprError::new(span, message, "")
    }

    fn close(&mut self, mark: &'static str, opened: Span) -> Result<Span, ExprError> {
        let span = self.span();
        if self.take(mark) {
            return Ok(span);
        }
        let mut error = self.misplaced(&format!("`{mark}`"));
        if *self.peek() == Token::End {
            error = ExprError::new(
                opened,
                format!("`{}` is not closed", opened.text(self.source)),
                format!("add `{mark}`"),
            );
        }
        Err(error)
    }

    fn end(&mut self) -> Result<(), ExprError> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.misplaced("an operator or the end")) }
    }

    /// The error for something after a complete operand.
    fn misplaced(&self, wanted: &str) -> ExprError {
        let mut error = self.unexpected(wanted);
        let previous = self.at.checked_sub(1).map(|i| &self.lexemes[i]);
        let here = self.span().text(self.source);
        match self.peek() {
            Token::Mark("=") => error.help = "to compare write `==`".into(),
            Token::Mark(",") => error.help = "decimals are written with a point: 0.3".into(),
            Token::Mark("<" | "<=" | ">" | ">=" | "==" | "!=") => {
                error.message = "comparisons cannot be chained".into();
                error.help = "write `a < b and b < c`".into();
            }
            Token::Mark("(") => error.help = "there is no implicit multiplication; write `*`".into(),
            Token::Mark("[") if previous.is_some_and(|p| p.token == Token::Mark("'")) => {
                error.help = "primes follow the index: `x[i]'`".into();
            }
            Token::Mark(")") => error = ExprError::new(self.span(), "`)` closes nothing", "remove it"),
            Token::Name(_) | Token::Number(_) => {
                if let Some(p) = previous {
                    let before = p.span.text(self.source);
                    error.message = format!("an operator is missing before `{here}`");
                    error.help = if matches!(p.token, Token::Number(_)) && Unit::named(here).is_some() {
                        format!(
                            "a unit stands after a space: `{before} {here}`; for a product write `{before}*{here}`"
                        )
                    } else {
                        format!("for a product write `{before}*{here}`")
                    };
                }
            }
            _ => {}
        }
        error
    }

    fn expr(&mut self) -> Result<Expr, ExprError> {
        self.enter()?;
        let result = self.logic("or");
        self.depth -= 1;
        result
    }

    /// A chain of `or`, or of `and`.
    fn logic(&mut self, word: &str) -> Result<Expr, ExprError> {
        let first = if word == "or" { self.logic("and")? } else { self.negation()? };
        if !self.is_word(word) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.is_word(word) {
            self.at += 1;
            all.push(if word == "or" { self.logic("and")? } else { self.negation()? });
        }
        let span = all[0].span.to(all[all.len() - 1].span);
        self.node(if word == "or" { Kind::Or(all) } else { Kind::And(all) }, span)
    }

    fn negation(&mut self) -> Result<Expr, ExprError> {
        let start = self.span();
        if !self.is_word("not") {
            return self.compare();
        }
        self.at += 1;
        let inner = self.compare()?;
        let span = start.to(inner.span);
        self.node(Kind::Not(Box::new(inner)), span)
    }

    fn compare(&mut self) -> Result<Expr, ExprError> {
        let left = self.sum()?;
        let op = match self.peek() {
            Token::Mark("<") => CompareOp::Lt,
            Token::Mark("<=") => CompareOp::Le,
            Token::Mark(">") => CompareOp::Gt,
            Token::Mark(">=") => CompareOp::Ge,
            Token::Mark("==") => CompareOp::Eq,
            Token::Mark("!=") => CompareOp::Ne,
            _ => return Ok(left),
        };
        let op_span = self.span();
        self.at += 1;
        let right = self.sum()?;
        let span = left.span.to(right.span);
        self.node(Kind::Compare(op, Box::new(left), Box::new(right), op_span), span)
    }

    fn sum(&mut self) -> Result<Expr, ExprError> {
        let first = self.product()?;
        let mut links = Vec::new();
        loop {
            let op = match self.peek() {
                Token::Mark("+") => ChainOp::Add,
                Token::Mark("-") => ChainOp::Sub,
                _ => break,
            };
            let op_span = self.span();
            self.at += 1;
            links.push(Link { op, op_span, expr: self.product()? });
        }
        self.chain(first, links)
    }

    fn product(&mut self) -> Result<Expr, ExprError> {
        let first = self.unary()?;
        let mut links = Vec::new();
        loop {
            let op = match self.peek() {
                Token::Mark("*") => ChainOp::Mul,
                Token::Mark("/") => ChainOp::Div,
                _ => break,
            };
            let op_span = self.span();
            self.at += 1;
            links.push(Link { op, op_span, expr: self.unary()? });
        }
        self.chain(first, links)
    }

    fn chain(&mut self, first: Expr, links: Vec<Link>) -> Result<Expr, ExprError> {
        match links.last() {
            None => Ok(first),
            Some(last) => {
                let span = first.span.to(last.expr.span);
                self.node(Kind::Chain(Box::new(first), links), span)
            }
        }
    }

    fn unary(&mut self) -> Result<Expr, ExprError> {
        let start = self.span();
        if self.take("-") {
            self.enter()?;
            let inner = self.unary()?;
            self.depth -= 1;
            let span = start.to(inner.span);
            return self.node(Kind::Neg(Box::new(inner)), span);
        }
        if self.take("+") {
            self.enter()?;
            let inner = self.unary()?;
            self.depth -= 1;
            return Ok(inner);
        }
        let base = self.atom()?;
        let base = if self.addresses { self.steps(base)? } else { base };
        let op_span = self.span();
        if !self.take("^") {
            return Ok(base);
        }
        self.enter()?;
        let exponent = self.unary()?;
        self.depth -= 1;
        let span = base.span.to(exponent.span);
        self.node(Kind::Pow(Box::new(base), Box::new(exponent), op_span), span)
    }

    fn atom(&mut self) -> Result<Expr, ExprError> {
        let start = self.span();
        match self.peek().clone() {
            Token::Number(value) => {
                self.at += 1;
                self.number(value, start)
            }
            Token::Mark("(") => {
                self.at += 1;
                let inner = self.expr()?;
                let end = self.close(")", start)?;
                Ok(Expr { span: start.to(end), ..inner })
            }
            Token::Name(word) if matches!(word.as_str(), "and" | "or") => Err(self.unexpected("a value")),
            Token::Name(word) if word == "not" => {
                let mut error = self.unexpected("a value");
                error.help = "write `not` before a comparison, with parentheses: `(not a < b)`".into();
                Err(error)
            }
            Token::Text(text) => {
                self.at += 1;
                self.node(Kind::Text(text), start)
            }
            Token::Name(name) => {
                self.at += 1;
                if self.addresses && !self.is("(") {
                    return self.node(Kind::Address(None, vec![Step::Key(name)]), start);
                }
                self.name(name, start)
            }
            _ => Err(self.unexpected("a value")),
        }
    }

    /// A number with one simple unit, if a unit follows after white space.
    fn number(&mut self, value: f64, start: Span) -> Result<Expr, ExprError> {
        let next = self.lexeme().clone();
        let called = self.lexemes.get(self.at + 1).is_some_and(|l| l.token == Token::Mark("("));
        if let Token::Name(name) = &next.token
            && !called
            && !matches!(name.as_str(), "and" | "or")
        {
            if let (Some(unit), true) = (Unit::named(name), next.spaced) {
                self.at += 1;
                if self.is("^") {
                    let message = "inside a formula a number takes one simple unit, without a power";
                    let help =
                        format!("write `{0}*(1 {name})^…`, or make it a parameter", start.text(self.source));
                    return Err(ExprError::new(self.span(), message, help));
                }
                let unit = UnitUse { text: name.clone(), unit, span: next.span };
                return self.node(Kind::Number { value, unit: Some(unit) }, start.to(next.span));
            }
            let mut error = self.misplaced("an operator");
            if next.spaced {
                error.help = format!("{}; if `{name}` is a unit: {UNIT_HELP}", error.help);
            }
            return Err(error);
        }
        self.node(Kind::Number { value, unit: None }, start)
    }

    /// A name, a call, or `sum(…)` and `integral(…)`.
    fn name(&mut self, name: String, start: Span) -> Result<Expr, ExprError> {
        let over = [Over::Sum, Over::Integral].into_iter().find(|o| o.text() == name);
        if let (Some(over), true, false) = (over, self.is("("), self.addresses) {
            return self.over(over, start);
        }
        let mut parts = vec![Part { name, indices: Vec::new(), span: start }];
        while !self.addresses {
            let here = self.span();
            if self.take("[") {
                let index = self.expr()?;
                let end = self.close("]", here)?;
                if let Some(part) = parts.last_mut() {
                    part.span = part.span.to(end);
                    part.indices.push(index);
                }
            } else if self.is(".") {
                self.at += 1;
                let span = self.span();
                let Token::Name(name) = self.peek().clone() else { return Err(self.unexpected("a name")) };
                self.at += 1;
                parts.push(Part { name, indices: Vec::new(), span });
            } else {
                break;
            }
        }
        let mut primes = 0;
        let mut end = parts[parts.len() - 1].span;
        while self.is("'") {
            end = self.span();
            self.at += 1;
            primes += 1;
        }
        if !self.is("(") {
            return self.node(Kind::Name { parts, primes }, start.to(end));
        }
        let opened = self.span();
        if parts.len() > 1 || !parts[0].indices.is_empty() {
            return Err(self.misplaced("an operator"));
        }
        let name = parts.swap_remove(0).name;
        self.at += 1;
        let mut args = Vec::new();
        if !self.is(")") {
            args.push(self.expr()?);
            while self.take(",") {
                args.push(self.expr()?);
            }
        }
        let end = self.close(")", opened)?;
        self.node(Kind::Call { name, name_span: start, primes, args }, start.to(end))
    }

    /// What follows a value of an address.
    fn steps(&mut self, first: Expr) -> Result<Expr, ExprError> {
        let mut steps = Vec::new();
        let mut end = first.span;
        loop {
            let here = self.span();
            steps.push(match self.peek().clone() {
                Token::Mark(".") => {
                    self.at += 1;
                    let Token::Name(name) = self.peek().clone() else {
                        return Err(self.unexpected("a name"));
                    };
                    self.at += 1;
                    Step::Key(name)
                }
                Token::Mark("'") => {
                    self.at += 1;
                    Step::Prime
                }
                Token::Mark("[") => {
                    self.at += 1;
                    let sign = if self.take("-") { -1 } else { 1 };
                    let Token::Number(k) = *self.peek() else {
                        return Err(
                            self.unexpected("the number of an entry or a condition such as `kind=impact`")
                        );
                    };
                    self.at += 1;
                    self.close("]", here)?;
                    Step::Index(sign * k as i64)
                }
                Token::Filter(inside) => {
                    self.at += 1;
                    Step::Filter(
                        inside.split(',').map(|text| condition(text, here)).collect::<Result<_, _>>()?,
                    )
                }
                _ => break,
            });
            end = self.lexemes[self.at - 1].span;
        }
        let span = first.span.to(end);
        match first.kind {
            _ if steps.is_empty() => Ok(first),
            Kind::Address(None, mut begun) => {
                begun.append(&mut steps);
                self.node(Kind::Address(None, begun), span)
            }
            _ => self.node(Kind::Address(Some(Box::new(first)), steps), span),
        }
    }

    /// `sum(…)`, `integral(…)`.
    fn over(&mut self, over: Over, start: Span) -> Result<Expr, ExprError> {
        let opened = self.span();
        self.at += 1;
        let (index, from, to) = self.range()?;
        if !self.take(",") {
            return Err(self.sum_error());
        }
        let body = Box::new(self.expr()?);
        let end = self.close(")", opened)?;
        self.node(Kind::Range { over, index, from: Box::new(from), to: Box::new(to), body }, start.to(end))
    }

    fn range(&mut self) -> Result<(String, Expr, Expr), ExprError> {
        let Token::Name(index) = self.peek().clone() else { return Err(self.sum_error()) };
        self.at += 1;
        if !self.take("=") {
            return Err(self.sum_error());
        }
        let from = self.expr()?;
        if !self.take("..") {
            return Err(self.sum_error());
        }
        Ok((index, from, self.expr()?))
    }

    fn sum_error(&self) -> ExprError {
        let mut error = self.unexpected("a range `i = 1..n`");
        error.help = "write `sum(i = 1..n, x[i])` or `integral(x = 0..L, f(x))`".into();
        error
    }
}

/// One condition of a filter.
fn condition(text: &str, span: Span) -> Result<Condition, ExprError> {
    const OPS: [(&str, CompareOp); 7] = [
        ("!=", CompareOp::Ne),
        ("<=", CompareOp::Le),
        (">=", CompareOp::Ge),
        ("==", CompareOp::Eq),
        ("=", CompareOp::Eq),
        ("<", CompareOp::Lt),
        (">", CompareOp::Gt),
    ];
    let found = OPS.iter().find_map(|(mark, op)| Some((text.split_once(mark)?, *op)));
    let Some(((key, value), op)) = found else {
        let message = format!("`{text}` is no condition");
        return Err(ExprError::new(span, message, "a condition is written `kind=impact`"));
    };
    let text = value.trim().trim_matches('"').to_string();
    Ok(Condition { key: key.trim().to_string(), op, number: super::quantity(&text).ok(), text })
}
