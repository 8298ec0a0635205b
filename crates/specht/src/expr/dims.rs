//! Checking dimensions on the tree.
//!
//! Quantities carry a dimension, plain numbers fit any; an error arises only between two that are *known* and differ. What a literal does in a
//! product has to be guessed: a divisor (`s^2/3`), a fraction of whole numbers (`1/2*m`), `pi` and a running index are pure numbers and keep the dimension of
//! the rest; any other literal factor (`9.81*m`) may stand for a constant with a unit, and the product then fits anything.

use super::ast::{Ast, ChainOp, Expr, Kind, Over};
use super::error::{ExprError, Span};
use super::lower::Formula;
use super::units::{Dim, Exponents};

/// What is known of the dimensions of names.
pub(crate) trait Dimensions {
    /// The dimension of a name without primes; `path` are the parts between dots, indices left out.
    fn name(&self, path: &[&str]) -> Dim;

    /// The formula of a user function, if it is one.
    fn function(&self, _name: &str) -> Option<&Formula> {
        None
    }
}

impl<F: Fn(&[&str]) -> Dim> Dimensions for F {
    fn name(&self, path: &[&str]) -> Dim {
        self(path)
    }
}

/// The dimension of an expression, or the first place where two known ones clash.
pub(crate) fn check_dimensions(ast: &Ast, names: &dyn Dimensions) -> Result<Dim, ExprError> {
    let mut check = Check { names, source: &ast.source, locals: Vec::new(), calls: 0, steps: 0 };
    Ok(match check.dim(&ast.root)? {
        Guess::Known(e) => Dim::Known(e),
        _ => Dim::Any,
    })
}

/// What is known of a subexpression.
#[derive(Clone, Copy, PartialEq)]
enum Guess {
    /// Fits anything, and so does a product with it.
    Any,
    /// A plain number: fits anything in a sum, is a pure number in a product.
    Pure,
    Known(Exponents),
}

impl Guess {
    fn in_product(self) -> Dim {
        match self {
            Guess::Any => Dim::Any,
            Guess::Pure => Dim::NONE,
            Guess::Known(e) => Dim::Known(e),
        }
    }

    fn dim(self) -> Dim {
        match self {
            Guess::Known(e) => Dim::Known(e),
            _ => Dim::Any,
        }
    }

    fn of(dim: Dim) -> Guess {
        match dim {
            Dim::Any => Guess::Any,
            Dim::Known(e) => Guess::Known(e),
        }
    }

    /// What a sum of the two has, when they do not clash.
    fn join(self, other: Guess) -> Guess {
        match (self, other) {
            (Guess::Known(_), _) => self,
            (_, Guess::Known(_)) => other,
            (Guess::Pure, Guess::Pure) => Guess::Pure,
            _ => Guess::Any,
        }
    }
}

struct Check<'a> {
    names: &'a dyn Dimensions,
    source: &'a str,
    locals: Vec<(String, Guess)>,
    calls: u32,
    steps: u32,
}

/// Functions that take and give pure numbers.
const PURE: [&str; 13] =
    ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "exp", "log", "log10"];

impl Check<'_> {
    fn dim(&mut self, e: &Expr) -> Result<Guess, ExprError> {
        self.steps += 1;
        if self.steps > 1_000_000 {
            return Ok(Guess::Any);
        }
        match &e.kind {
            Kind::Number { unit: None, .. } => Ok(Guess::Pure),
            Kind::Text(_) | Kind::Address(..) => Ok(Guess::Any),
            Kind::Number { unit: Some(unit), .. } => Ok(Guess::Known(unit.unit.dim)),
            Kind::Name { parts, primes } => {
                for index in parts.iter().flat_map(|p| &p.indices) {
                    self.dim(index)?;
                }
                let path: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
                if let [name] = path[..] {
                    if let Some((_, guess)) = self.locals.iter().rev().find(|(local, _)| local == name) {
                        return Ok(*guess);
                    }
                    if name == "pi" {
                        return Ok(Guess::Pure);
                    }
                    if name == "inf" {
                        return Ok(Guess::Any);
                    }
                }
                Ok(Guess::of(self.names.name(&path).rate(*primes)))
            }
            Kind::Call { name, primes, args, .. } => self.call(e, name, *primes, args),
            Kind::Range { over, index, from, to, body } => {
                let (low, high) = (self.dim(from)?, self.dim(to)?);
                let running = if *over == Over::Sum { Guess::Pure } else { low.join(high) };
                self.locals.push((index.clone(), running));
                let dim = self.dim(body);
                self.locals.pop();
                match (over, dim?) {
                    (Over::Sum, dim) => Ok(dim),
                    (_, dim) => Ok(Guess::of(running.in_product().times(dim.in_product()))),
                }
            }
            Kind::Chain(first, links) if matches!(links[0].op, ChainOp::Add | ChainOp::Sub) => {
                let mut left = self.dim(first)?;
                let mut span = first.span;
                for link in links {
                    let right = self.dim(&link.expr)?;
                    let verb = if link.op == ChainOp::Add { "added to" } else { "subtracted from" };
                    self.agree(left, span, right, link.expr.span, link.op_span, verb)?;
                    left = left.join(right);
                    span = span.to(link.expr.span);
                }
                Ok(left)
            }
            Kind::Chain(first, links) => {
                let divided = links[0].op == ChainOp::Div;
                let mut left = self.factor(first, divided && is_whole(&links[0].expr))?;
                for link in links {
                    if link.op == ChainOp::Div {
                        let below = self.dim(&link.expr)?;
                        left = quotient(left, below);
                    } else {
                        let factor = self.factor(&link.expr, false)?;
                        left = product(left, factor);
                    }
                }
                Ok(left)
            }
            Kind::Neg(a) => self.dim(a),
            Kind::Pow(a, b, op) => {
                let (base, exponent) = (self.dim(a)?, self.dim(b)?);
                if let Guess::Known(dim) = exponent
                    && dim != Exponents::NONE
                {
                    let help = format!("`{}` is in {dim}", b.span.text(self.source));
                    return Err(ExprError::new(*op, "an exponent must be a pure number", help));
                }
                Ok(match (base, literal(b)) {
                    (Guess::Known(dim), Some(p)) => Guess::of(Dim::Known(dim).power(p)),
                    (Guess::Known(Exponents::NONE), None) => base,
                    (Guess::Pure, _) => Guess::Pure,
                    _ => Guess::Any,
                })
            }
            Kind::Compare(_, a, b, op) => {
                let (left, right) = (self.dim(a)?, self.dim(b)?);
                self.agree(left, a.span, right, b.span, *op, "compared with")?;
                Ok(Guess::Pure)
            }
            Kind::And(all) | Kind::Or(all) => {
                for e in all {
                    self.dim(e)?;
                }
                Ok(Guess::Pure)
            }
            Kind::Not(a) => {
                self.dim(a)?;
                Ok(Guess::Pure)
            }
        }
    }

    /// A factor of a product; a literal that is not the top of a fraction may stand for anything.
    fn factor(&mut self, e: &Expr, fraction: bool) -> Result<Guess, ExprError> {
        match &e.kind {
            Kind::Number { unit: None, .. } if !(fraction && is_whole(e)) => Ok(Guess::Any),
            Kind::Neg(a) => self.factor(a, fraction),
            _ => self.dim(e),
        }
    }

    fn agree(
        &self,
        left: Guess,
        left_at: Span,
        right: Guess,
        right_at: Span,
        op: Span,
        verb: &str,
    ) -> Result<(), ExprError> {
        let (l, r) = (left.dim(), right.dim());
        if !l.clashes(r) {
            return Ok(());
        }
        let unit =
            |d: Dim| if d == Dim::NONE { "is a pure number".to_string() } else { format!("is in {d}") };
        let (a, b) = (left_at.text(self.source), right_at.text(self.source));
        let help = if l != Dim::NONE && r != Dim::NONE {
            format!("`{a}` is in {l}, `{b}` in {r}")
        } else {
            format!("`{a}` {}, `{b}` {}", unit(l), unit(r))
        };
        Err(ExprError::new(op, format!("{} {verb} {}", r.noun(), l.noun()), help))
    }

    fn call(&mut self, e: &Expr, name: &str, primes: u32, args: &[Expr]) -> Result<Guess, ExprError> {
        let mut dims = Vec::with_capacity(args.len());
        for arg in args {
            dims.push(self.dim(arg)?);
        }
        if PURE.contains(&name) {
            for (arg, dim) in args.iter().zip(&dims) {
                if let Guess::Known(d) = dim
                    && *d != Exponents::NONE
                {
                    let text = arg.span.text(self.source);
                    let mut help =
                        format!("`{text}` is in {d}, but `{name}` takes an angle or a pure number");
                    if Dim::Known(*d) == Dim::TIME {
                        help += &format!("; in a model without units write `{name}({text}/1 s)`");
                    }
                    return Err(ExprError::new(
                        arg.span,
                        format!("`{name}` of {}", Dim::Known(*d).noun()),
                        help,
                    ));
                }
            }
            return Ok(Guess::Pure);
        }
        let same = |from: usize, verb: &str| -> Result<Guess, ExprError> {
            let mut all = dims.get(from).copied().unwrap_or(Guess::Any);
            for i in from + 1..dims.len() {
                let op = args[i].span;
                self.agree(all, args[from].span, dims[i], args[i].span, op, verb)?;
                all = all.join(dims[i]);
            }
            Ok(all)
        };
        match name {
            "min" | "max" | "hypot" | "mod" => same(0, "compared with"),
            "if" => same(1, "given as the alternative to"),
            "atan2" => same(0, "compared with").map(|_| Guess::Pure),
            "sign" => Ok(Guess::Pure),
            "abs" | "floor" => Ok(dims.first().copied().unwrap_or(Guess::Any)),
            "sqrt" => Ok(match dims.first() {
                Some(Guess::Known(d)) => Guess::of(Dim::Known(*d).power(0.5)),
                Some(Guess::Pure) => Guess::Pure,
                _ => Guess::Any,
            }),
            _ => self.user_call(e, name, primes, &dims),
        }
    }

    fn user_call(&mut self, e: &Expr, name: &str, primes: u32, dims: &[Guess]) -> Result<Guess, ExprError> {
        let names = self.names;
        let law = super::laws::named(name, dims.len()).map(std::sync::Arc::as_ref);
        let Some(f) = names.function(name).or(law) else { return Ok(Guess::Any) };
        if f.params.len() != dims.len() || self.calls > 30 {
            return Ok(Guess::Any);
        }
        let mut inner = Check {
            names,
            source: &f.body.source,
            locals: f.params.iter().cloned().zip(dims.iter().copied()).collect(),
            calls: self.calls + 1,
            steps: self.steps,
        };
        let result = inner.dim(&f.body.root);
        self.steps = inner.steps;
        let value = result
            .map_err(|error| ExprError::new(e.span, format!("in `{name}`: {}", error.message), error.help))?;
        let argument = dims.first().copied().unwrap_or(Guess::Any);
        Ok((0..primes).fold(value, |v, _| quotient(v, argument)))
    }
}

fn product(a: Guess, b: Guess) -> Guess {
    if a == Guess::Pure && b == Guess::Pure {
        Guess::Pure
    } else {
        Guess::of(a.in_product().times(b.in_product()))
    }
}

fn quotient(a: Guess, b: Guess) -> Guess {
    if a == Guess::Pure && b == Guess::Pure {
        Guess::Pure
    } else {
        Guess::of(a.in_product().over(b.in_product()))
    }
}

fn is_whole(e: &Expr) -> bool {
    matches!(e.kind, Kind::Number { value, unit: None } if value == value.round())
}

/// The value of a literal exponent: `2`, `-1`, `(1/2)`, `0.5`.
fn literal(e: &Expr) -> Option<f64> {
    match &e.kind {
        Kind::Number { value, unit: None } => Some(*value),
        Kind::Neg(a) => literal(a).map(|v| -v),
        Kind::Chain(first, links) => links.iter().try_fold(literal(first)?, |value, link| {
            let next = literal(&link.expr)?;
            Some(match link.op {
                ChainOp::Add => value + next,
                ChainOp::Sub => value - next,
                ChainOp::Mul => value * next,
                ChainOp::Div => value / next,
            })
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::units::parse_unit;
    use super::*;

    fn names(path: &[&str]) -> Dim {
        let known = |unit: &str| Dim::Known(parse_unit(unit).unwrap().dim);
        match path {
            ["m"] => known("kg"),
            ["s" | "l"] => known("m"),
            ["x"] => known("m"),
            ["c"] => known("N/m"),
            ["phi"] => Dim::NONE,
            ["w"] => known("rad/s"),
            ["rod", "tip", "x"] => known("m"),
            _ => Dim::Any,
        }
    }

    fn check(text: &str) -> Result<Dim, ExprError> {
        check_dimensions(&parse(text).unwrap(), &names)
    }

    #[test]
    fn a_clash_points_at_the_operator_and_names_both_sides() {
        let error = check("m + s^2/3").unwrap_err();
        assert_eq!(error.span, Span::new(2, 3));
        assert_eq!(error.message, "area added to mass");
        assert_eq!(error.help, "`m` is in kg, `s^2/3` in m^2");
        assert_eq!(check("sin(m)").unwrap_err().message, "`sin` of mass");
        assert!(check("x > 3 kg").unwrap_err().message.contains("compared with"));
        assert!(check("x' + x").is_err());
        assert!(check("max(x, 1 s)").is_err());
        assert!(check("2^(1 m)").is_err());
        assert!(check("sqrt(x) + x").is_err());
    }

    #[test]
    fn sound_formulas_and_plain_numbers_pass() {
        for (text, unit) in [
            ("m*s^2/3", "kg*m^2"),
            ("1/2*m*x'^2", "J"),
            ("-c*x - 3 N", "N"),
            ("x + 3 mm", "m"),
            ("l*sin(phi - 30 deg)", "m"),
            ("sqrt(c/m)", "rad/s"),
            ("hypot(x, l)", "m"),
            ("if(x > 0, c*x, 0)", "N"),
            ("sum(i = 1..3, x)", "m"),
            ("rod.tip.x'' + 5", "m/s^2"),
            ("l*phi'", "m/s"),
        ] {
            assert_eq!(check(text), Ok(Dim::Known(parse_unit(unit).unwrap().dim)), "{text}");
        }
        for text in ["9.81*m + 3 N", "100*x + 3 N", "unknown + x", "0.3*x' + c*x", "sin(2*x)", "exp(-x/l)"] {
            assert!(check(text).is_ok(), "{text}");
        }
    }
}
