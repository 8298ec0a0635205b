//! From the tree to the graph.
//!
//! Names mean what a [`Resolver`] says; the built-in functions, `pi`, `inf`, `if`, `sum` and the inlining of user functions are done here.
//! A condition known at load time keeps one branch and the other is not even resolved; the same holds for the rest of an `and` or `or` whose value
//! is already decided. Sums are unrolled. Depth, number of steps and length of sums are bounded, so that no input can
//! exhaust stack, time or memory.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::ast::{Ast, ChainOp, CompareOp, Expr, Kind, Over};
use super::error::{ExprError, Span, did_you_mean};
use super::gauss::gauss_points;
use super::graph::{Fun, Graph, NodeId, TableId};
use super::laws;
use super::units::Unit;

/// Deepest nesting over all inlined functions.
const MAX_DEPTH: u32 = 600;
/// Deepest nesting of calls of user functions.
const MAX_CALLS: u32 = 64;
/// Longest sum.
const MAX_SUM: f64 = 100_000.0;
/// Most nodes visited for one expression.
const MAX_STEPS: u64 = 500_000;
/// Words that people write for the numbers of modes.
const MODES: [&str; 4] = ["open", "stick", "slip", "closed"];
/// Most primes.
const MAX_PRIMES: u32 = 4;

/// One part of a dotted name, its indices known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathPart<'a> {
    /// The name.
    pub name: &'a str,
    /// Values of the indices, counted from 1.
    pub indices: Vec<i64>,
    /// Name with indices.
    pub span: Span,
}

/// A name as it occurs: `rod.tip.x'`, `x[3]''`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reference<'a> {
    /// Parts between dots; at least one.
    pub parts: Vec<PathPart<'a>>,
    /// Number of primes.
    pub primes: u32,
    /// The whole.
    pub span: Span,
}

impl Reference<'_> {
    /// As text, with the values of the indices: `x[3].tip'`.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for (i, part) in self.parts.iter().enumerate() {
            out += if i > 0 { "." } else { "" };
            out += part.name;
            part.indices.iter().for_each(|k| out += &format!("[{k}]"));
        }
        (0..self.primes).for_each(|_| out.push('\''));
        out
    }

    /// The name, if there is one part without indices.
    pub(crate) fn simple(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [part] if part.indices.is_empty() => Some(part.name),
            _ => None,
        }
    }
}

/// A function given by a formula.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Formula {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<String>,
    /// Its body.
    pub body: Ast,
}

/// What a name before `(` can mean besides the built-in functions.
#[derive(Clone, Debug)]
pub(crate) enum Function {
    /// A formula.
    Formula(Arc<Formula>),
    /// A table of the graph.
    Table(TableId),
    /// A table of two arguments: for every row of points its share by the second argument and its values by the first.
    Grid(Arc<[(TableId, TableId)]>),
}

/// Gives meaning to names.
///
/// A resolver may lower other expressions while it answers (a definition that uses definitions); it then has to keep those it is busy
/// with on a stack, to refuse circles and to bound the depth, because each such call starts counting anew.
pub(crate) trait Resolver {
    /// The node of a name. Primes, indices and dots are all in the reference.
    fn name(&mut self, graph: &mut Graph, reference: &Reference<'_>) -> Result<NodeId, ExprError>;

    /// A user function or table of this name.
    fn function(&mut self, _graph: &mut Graph, _name: &str) -> Option<Function> {
        None
    }

    /// The names of all user functions and tables, for suggestions.
    fn function_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Lowers a number-valued expression with local names, such as the running index of a family; a local name hides a global one.
pub(crate) fn lower_with(
    graph: &mut Graph,
    resolver: &mut dyn Resolver,
    ast: &Ast,
    locals: &[(&str, NodeId)],
) -> Result<NodeId, ExprError> {
    Lowering::new(graph, resolver, locals).number(&ast.root)
}

/// The value of an expression that must be known at load time. NaN is an error, infinity is not.
pub(crate) fn evaluate(
    graph: &mut Graph,
    resolver: &mut dyn Resolver,
    ast: &Ast,
    locals: &[(&str, f64)],
) -> Result<f64, ExprError> {
    let nodes: Vec<(&str, NodeId)> = locals.iter().map(|&(name, value)| (name, graph.num(value))).collect();
    let node = lower_with(graph, resolver, ast, &nodes)?;
    match graph.constant(node) {
        Some(value) if value.is_nan() => Err(ExprError::new(
            ast.root.span,
            "this is not a number",
            "for example 0/0, or the root or logarithm of a negative number",
        )),
        Some(value) => Ok(value),
        None => Err(ExprError::new(
            ast.root.span,
            "this must be known at load time",
            "it may use parameters only",
        )),
    }
}

/// The error for a name that means nothing.
pub(crate) fn unknown_name<'a>(
    name: &str,
    span: Span,
    candidates: impl IntoIterator<Item = &'a str>,
) -> ExprError {
    let mut help = "not a parameter, coordinate, definition or state".to_string();
    if MODES.contains(&name) {
        help = "the mode of a contact is a number: 0 open, 1 stick, 2 slip+, 3 slip-, 4 closed".to_string();
    } else if is_builtin(name) {
        help = format!("`{name}` is a function; write `{name}(…)`");
    } else if let Some(near) = did_you_mean(name, candidates) {
        help += &format!("; did you mean `{near}`?");
    } else if Unit::named(name).is_some() {
        help += "; a unit is read only directly after a number, and inside a formula it is one simple unit";
    }
    ExprError::new(span, format!("unknown name `{name}`"), help)
}

/// Whether a name before `(` is a built-in function.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// The built-in functions.
pub(crate) const BUILTINS: [&str; 24] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "log10",
    "sqrt", "abs", "sign", "min", "max", "hypot", "floor", "mod", "if", "sum", "integral",
];

struct Lowering<'a> {
    graph: &'a mut Graph,
    resolver: &'a mut dyn Resolver,
    /// Local names; those before `frame` belong to callers and are not visible.
    locals: Vec<(String, NodeId)>,
    frame: usize,
    depth: u32,
    calls: u32,
    steps: u64,
    /// Results of user functions by name, primes and arguments: calls that double at each level stay cheap.
    done: HashMap<(String, u32, Vec<NodeId>), NodeId>,
}

impl<'a> Lowering<'a> {
    fn new(graph: &'a mut Graph, resolver: &'a mut dyn Resolver, locals: &[(&str, NodeId)]) -> Self {
        let locals = locals.iter().map(|&(name, node)| (name.to_string(), node)).collect();
        Self { graph, resolver, locals, frame: 0, depth: 0, calls: 0, steps: 0, done: HashMap::new() }
    }

    fn enter(&mut self, span: Span) -> Result<(), ExprError> {
        self.depth += 1;
        self.steps += 1;
        if self.depth > MAX_DEPTH {
            return Err(ExprError::new(span, "functions and parentheses are nested too deep", ""));
        }
        if self.steps > MAX_STEPS {
            return Err(ExprError::new(
                span,
                "the expression is too large when its sums and functions are written out",
                "",
            ));
        }
        Ok(())
    }

    fn number(&mut self, e: &Expr) -> Result<NodeId, ExprError> {
        if e.is_condition() {
            return Err(ExprError::new(
                e.span,
                "a condition stands where a number is needed",
                "write `if(condition, 1, 0)`",
            ));
        }
        self.enter(e.span)?;
        let node = match &e.kind {
            Kind::Number { value, unit } => {
                let si = unit.as_ref().map_or(*value, |u| u.unit.to_si(*value));
                self.graph.num(si)
            }
            Kind::Name { parts, primes } => self.name(e, parts, *primes)?,
            Kind::Call { name, primes, args, .. } => self.call(e, name, *primes, args)?,
            Kind::Range { over: Over::Sum, index, from, to, body } => self.sum(e, index, from, to, body)?,
            Kind::Range { over: Over::Integral, index, from, to, body } => {
                self.integral(index, from, to, body)?
            }
            Kind::Chain(first, links) => {
                let mut left = self.number(first)?;
                for link in links {
                    let right = self.number(&link.expr)?;
                    left = match link.op {
                        ChainOp::Add => self.graph.add(left, right),
                        ChainOp::Sub => self.graph.sub(left, right),
                        ChainOp::Mul => self.graph.mul(left, right),
                        ChainOp::Div => self.graph.div(left, right),
                    };
                }
                left
            }
            Kind::Neg(a) => {
                let a = self.number(a)?;
                self.graph.neg(a)
            }
            Kind::Pow(a, b, _) => {
                let a = self.number(a)?;
                let b = self.number(b)?;
                self.graph.pow(a, b)
            }
            Kind::Compare(..) | Kind::And(_) | Kind::Or(_) | Kind::Not(_) => self.condition(e)?,
            Kind::Text(_) | Kind::Address(..) => {
                let message = "results of a run cannot be used in a formula of the model";
                return Err(ExprError::new(e.span, message, ""));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn condition(&mut self, e: &Expr) -> Result<NodeId, ExprError> {
        self.enter(e.span)?;
        let node = match &e.kind {
            Kind::Compare(op, a, b, _) => {
                let a = self.number(a)?;
                let b = self.number(b)?;
                let g = &mut *self.graph;
                match op {
                    CompareOp::Lt => g.lt(a, b),
                    CompareOp::Le => g.le(a, b),
                    CompareOp::Gt => g.gt(a, b),
                    CompareOp::Ge => g.ge(a, b),
                    CompareOp::Eq => g.eq(a, b),
                    CompareOp::Ne => {
                        let equal = g.eq(a, b);
                        g.not(equal)
                    }
                }
            }
            Kind::And(all) => self.logic(all, true)?,
            Kind::Or(all) => self.logic(all, false)?,
            Kind::Not(a) => {
                let a = self.condition(a)?;
                self.graph.not(a)
            }
            _ => {
                return Err(ExprError::new(
                    e.span,
                    "a number stands where a condition is needed",
                    "write a comparison, for example `x > 0`",
                ));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn logic(&mut self, all: &[Expr], and: bool) -> Result<NodeId, ExprError> {
        let mut node = self.graph.num(f64::from(u8::from(and)));
        for e in all {
            let next = self.condition(e)?;
            node = if and { self.graph.and(node, next) } else { self.graph.or(node, next) };
            if self.graph.constant(node) == Some(f64::from(u8::from(!and))) {
                break;
            }
        }
        Ok(node)
    }

    fn name(&mut self, e: &Expr, parts: &[super::ast::Part], primes: u32) -> Result<NodeId, ExprError> {
        if primes > MAX_PRIMES {
            return Err(ExprError::new(e.span, format!("more than {MAX_PRIMES} primes"), ""));
        }
        let mut path = Vec::with_capacity(parts.len());
        for part in parts {
            let mut indices = Vec::with_capacity(part.indices.len());
            for index in &part.indices {
                indices.push(self.whole(index, "an index")?);
            }
            path.push(PathPart { name: &part.name, indices, span: part.span });
        }
        let reference = Reference { parts: path, primes, span: e.span };
        if let Some(name) = reference.simple() {
            if let Some((_, node)) = self.locals[self.frame..].iter().rev().find(|(local, _)| local == name) {
                if primes > 0 {
                    return Err(ExprError::new(
                        e.span,
                        format!("`{name}` is a local name and has no derivative"),
                        "",
                    ));
                }
                return Ok(*node);
            }
            let fixed = match name {
                "pi" => Some(std::f64::consts::PI),
                "inf" => Some(f64::INFINITY),
                _ => None,
            };
            if let Some(value) = fixed {
                return Ok(self.graph.num(if primes > 0 { 0.0 } else { value }));
            }
        }
        self.resolver.name(self.graph, &reference)
    }

    /// A whole number known at load time.
    fn whole(&mut self, e: &Expr, what: &str) -> Result<i64, ExprError> {
        let node = self.number(e)?;
        match self.graph.constant(node) {
            Some(value) if value == value.round() && value.abs() < 1e15 => Ok(value as i64),
            Some(value) => {
                Err(ExprError::new(e.span, format!("{what} must be a whole number, this is {value}"), ""))
            }
            None => Err(ExprError::new(
                e.span,
                format!("{what} must be known at load time"),
                "it may use parameters only",
            )),
        }
    }

    fn sum(
        &mut self,
        e: &Expr,
        index: &str,
        from: &Expr,
        to: &Expr,
        body: &Expr,
    ) -> Result<NodeId, ExprError> {
        let from = self.whole(from, "the bound of a sum")?;
        let to = self.whole(to, "the bound of a sum")?;
        if to as f64 - from as f64 > MAX_SUM {
            return Err(ExprError::new(e.span, format!("the sum has more than {MAX_SUM} terms"), ""));
        }
        let mut total = self.graph.num(0.0);
        for i in from..=to {
            let i = self.graph.num(i as f64);
            self.locals.push((index.to_string(), i));
            let term = self.number(body);
            self.locals.pop();
            let term = term?;
            total = self.graph.add(total, term);
        }
        Ok(total)
    }

    /// Gauss-Legendre with 24 points: exact for polynomials of degree 47.
    fn integral(&mut self, index: &str, from: &Expr, to: &Expr, body: &Expr) -> Result<NodeId, ExprError> {
        let (from, to) = (self.number(from)?, self.number(to)?);
        let two = self.graph.num(2.0);
        let (sum, difference) = (self.graph.add(from, to), self.graph.sub(to, from));
        let (middle, half) = (self.graph.div(sum, two), self.graph.div(difference, two));
        let mut total = self.graph.num(0.0);
        for (place, weight) in gauss_points() {
            let (place, weight) = (self.graph.num(place), self.graph.num(weight));
            let away = self.graph.mul(half, place);
            let x = self.graph.add(middle, away);
            self.locals.push((index.to_string(), x));
            let value = self.number(body);
            self.locals.pop();
            let term = value.map(|v| self.graph.mul(weight, v))?;
            total = self.graph.add(total, term);
        }
        Ok(self.graph.mul(half, total))
    }

    fn call(&mut self, e: &Expr, name: &str, primes: u32, args: &[Expr]) -> Result<NodeId, ExprError> {
        if name == "if" {
            let [condition, yes, no] = args else {
                return Err(ExprError::new(
                    e.span,
                    format!("`if` takes a condition and two values, not {}", args.len()),
                    "write `if(condition, then, else)`",
                ));
            };
            let c = self.condition(condition)?;
            return match self.graph.constant(c) {
                Some(c) => self.number(if c != 0.0 { yes } else { no }),
                None => {
                    let yes = self.number(yes)?;
                    let no = self.number(no)?;
                    Ok(self.graph.select(c, yes, no))
                }
            };
        }
        let mut law = false;
        let user = if is_builtin(name) {
            None
        } else {
            let own = self.resolver.function(self.graph, name);
            law = own.is_none();
            own.or_else(|| laws::named(name, args.len()).cloned().map(Function::Formula))
        };
        let mut nodes = Vec::with_capacity(args.len());
        for arg in args {
            nodes.push(self.number(arg)?);
        }
        if law && user.is_some() {
            self.graph.add_law(name, &nodes);
        }
        if primes == 0 {
            return self.apply(e, name, user.as_ref(), &nodes);
        }

        // f'(x): the derivative by the argument, taken at a free symbol and then placed at x
        if nodes.len() != 1 {
            return Err(ExprError::new(
                e.span,
                "only a function of one argument has a derivative",
                "write the derivative as a function of its own",
            ));
        }
        if primes > MAX_PRIMES {
            return Err(ExprError::new(e.span, format!("more than {MAX_PRIMES} primes"), ""));
        }
        if let Some(Function::Table(table)) = user {
            return Ok(self.graph.lookup(table, primes as u8, nodes[0]));
        }
        let key = (name.to_string(), primes, nodes.clone());
        if let Some(&node) = self.done.get(&key) {
            return Ok(node);
        }
        let symbol = self.graph.temporary();
        let x = self.graph.sym(symbol);
        let mut node = self.apply(e, name, user.as_ref(), &[x])?;
        for _ in 0..primes {
            node = self.graph.diff(node, symbol);
        }
        let node = self.graph.substitute(node, &BTreeMap::from([(symbol, nodes[0])]));
        self.done.insert(key, node);
        Ok(node)
    }

    fn apply(
        &mut self,
        e: &Expr,
        name: &str,
        user: Option<&Function>,
        args: &[NodeId],
    ) -> Result<NodeId, ExprError> {
        let wrong = |wanted: &str| {
            Err(ExprError::new(e.span, format!("`{name}` takes {wanted}, not {}", args.len()), ""))
        };
        match user {
            Some(Function::Table(table)) => {
                return match args {
                    [x] => Ok(self.graph.lookup(*table, 0, *x)),
                    _ => wrong("one argument"),
                };
            }
            Some(Function::Grid(rows)) => {
                let [x, y] = args else { return wrong("two arguments") };
                let mut total = self.graph.num(0.0);
                for &(share, row) in rows.iter() {
                    let (share, row) = (self.graph.lookup(share, 0, *y), self.graph.lookup(row, 0, *x));
                    let term = self.graph.mul(share, row);
                    total = self.graph.add(total, term);
                }
                return Ok(total);
            }
            Some(Function::Formula(f)) if f.params.len() == args.len() => {
                return self.inline(e, f, args);
            }
            Some(Function::Formula(f)) => {
                let list = f.params.join(", ");
                return wrong(&format!("{} arguments ({list})", f.params.len()));
            }
            None => {}
        }
        let g = &mut *self.graph;
        if let Some(f) = Fun::ALL.into_iter().find(|f| f.name() == name) {
            return match args {
                [x] => Ok(g.fun(f, *x)),
                _ => wrong("one argument"),
            };
        }
        match (name, args) {
            ("abs", [x]) => Ok(g.abs(*x)),
            ("sign", [x]) => Ok(g.sign(*x)),
            ("floor", [x]) => Ok(g.floor(*x)),
            ("abs" | "sign" | "floor", _) => wrong("one argument"),
            ("atan2", [y, x]) => Ok(g.atan2(*y, *x)),
            ("hypot", [a, b]) => Ok(g.hypot(*a, *b)),
            ("mod", [a, b]) => Ok(g.modulo(*a, *b)),
            ("atan2" | "hypot" | "mod", _) => wrong("two arguments"),
            ("min", [first, rest @ ..]) if !rest.is_empty() => {
                Ok(rest.iter().fold(*first, |a, b| g.min(a, *b)))
            }
            ("max", [first, rest @ ..]) if !rest.is_empty() => {
                Ok(rest.iter().fold(*first, |a, b| g.max(a, *b)))
            }
            ("min" | "max", _) => wrong("two or more arguments"),
            _ => {
                let users = self.resolver.function_names();
                // its definition has a fault of its own, which is told there
                if users.iter().any(|user| user == name) {
                    return Err(ExprError::new(e.span, "", ""));
                }
                let known: Vec<&str> = BUILTINS.into_iter().chain(laws::names()).collect();
                let all = known.into_iter().chain(users.iter().map(String::as_str));
                let near = did_you_mean(name, all);
                let help = match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "there is no implicit multiplication; for a product write `*`".to_string(),
                };
                Err(ExprError::new(e.span, format!("unknown function `{name}`"), help))
            }
        }
    }

    /// The body of a formula with its parameters bound. Errors inside are reported at the call.
    fn inline(&mut self, e: &Expr, f: &Formula, args: &[NodeId]) -> Result<NodeId, ExprError> {
        let key = (f.name.clone(), 0, args.to_vec());
        if let Some(&node) = self.done.get(&key) {
            return Ok(node);
        }
        self.calls += 1;
        if self.calls > MAX_CALLS {
            return Err(ExprError::new(
                e.span,
                format!("`{}` calls itself, or calls are nested more than {MAX_CALLS} deep", f.name),
                "a function cannot be recursive",
            ));
        }
        let (frame, depth, length) = (self.frame, self.depth, self.locals.len());
        self.frame = length;
        self.locals.extend(f.params.iter().cloned().zip(args.iter().copied()));
        let result = self.number(&f.body.root);
        self.locals.truncate(length);
        self.frame = frame;
        self.depth = depth;
        self.calls -= 1;
        let node = result.map_err(|inner| {
            let prefix = format!("in `{}`: ", f.name);
            let message = if inner.message.starts_with("in `")
                || inner.message.starts_with('`') && inner.message.contains("calls itself")
            {
                inner.message
            } else {
                prefix + &inner.message
            };
            ExprError::new(e.span, message, inner.help)
        })?;
        self.done.insert(key, node);
        Ok(node)
    }
}
