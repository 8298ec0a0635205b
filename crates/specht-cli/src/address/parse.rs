//! Text → tree.
//!
//! ```text
//! compare = sum [("<"|"<="|">"|">="|"=="|"!=") sum]
//! sum     = product {("+"|"-") product} ;  product = unary {("*"|"/") unary}
//! unary   = ["-"] (power | unary) ;        power = postfix ["^" unary]
//! postfix = atom {"." key | "[" index "]" | "[" filter "]" | "'"}
//! atom    = number [unit] | '"' text '"' | "(" compare ")" | name "(" compare {"," compare} ")" | name
//! ```

use super::quantity;
use specht::expr::Unit;

/// Deepest nesting.
const DEPTH: usize = 64;

/// A node of the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A number, in SI.
    Number(f64),
    /// A text.
    Text(String),
    /// A path from the root.
    Path(Vec<Step>),
    /// A path from a computed value.
    Access(Box<Node>, Vec<Step>),
    /// A function.
    Call(String, Vec<Node>),
    /// Minus.
    Negate(Box<Node>),
    /// `+ - * / ^` and comparisons.
    Binary(&'static str, Box<Node>, Box<Node>),
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.name`.
    Key(String),
    /// `[3]`.
    Index(i64),
    /// `'`.
    Prime,
    /// `[key=value, …]`.
    Filter(Vec<Condition>),
}

/// One condition of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Key of the entry.
    pub key: String,
    /// `= != < <= > >=`.
    pub op: &'static str,
    /// The right side as written.
    pub text: String,
    /// The right side as a number, if it is one.
    pub number: Option<f64>,
}

/// Read an expression.
pub fn parse(text: &str) -> Result<Node, String> {
    let mut p = Parser { text, at: 0, depth: 0 };
    let node = p.compare()?;
    p.space();
    if p.at < text.len() {
        return Err(format!("`{}` is left over in `{text}`", &text[p.at..]));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, what: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(what);
        self.at += if found { what.len() } else { 0 };
        found
    }

    fn expect(&mut self, what: &str) -> Result<(), String> {
        if self.take(what) {
            return Ok(());
        }
        Err(format!("expected `{what}` at character {} of `{}`", self.at + 1, self.text))
    }

    fn compare(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        let left = self.sum()?;
        let mut node = left;
        for op in ["<=", ">=", "==", "!=", "<", ">"] {
            if self.take(op) {
                node = Node::Binary(op, Box::new(node), Box::new(self.sum()?));
                break;
            }
        }
        self.depth -= 1;
        Ok(node)
    }

    fn sum(&mut self) -> Result<Node, String> {
        let mut left = self.product()?;
        loop {
            let op = if self.take("+") {
                "+"
            } else if self.take("-") {
                "-"
            } else {
                return Ok(left);
            };
            left = Node::Binary(op, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Node, String> {
        let mut left = self.unary()?;
        loop {
            let op = if self.take("*") {
                "*"
            } else if self.take("/") {
                "/"
            } else {
                return Ok(left);
            };
            left = Node::Binary(op, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Result<Node, String> {
        let mut minus = false;
        while self.take("-") {
            minus = !minus;
        }
        let base = self.postfix()?;
        let node = if self.take("^") {
            self.depth += 1;
            if self.depth > DEPTH {
                return Err("the expression is nested too deeply".into());
            }
            let power = self.unary()?;
            self.depth -= 1;
            Node::Binary("^", Box::new(base), Box::new(power))
        } else {
            base
        };
        Ok(if minus { Node::Negate(Box::new(node)) } else { node })
    }

    fn postfix(&mut self) -> Result<Node, String> {
        let atom = self.atom()?;
        let mut steps = Vec::new();
        loop {
            if self.rest().starts_with('\'') {
                self.at += 1;
                steps.push(Step::Prime);
            } else if self.rest().starts_with('.') {
                self.at += 1;
                let key =
                    self.name().ok_or_else(|| format!("expected a name after `.` in `{}`", self.text))?;
                steps.push(Step::Key(key));
            } else if self.rest().starts_with('[') {
                steps.push(self.bracket()?);
            } else {
                break;
            }
        }
        Ok(match atom {
            Node::Path(mut path) => {
                path.extend(steps);
                Node::Path(path)
            }
            other if steps.is_empty() => other,
            other => Node::Access(Box::new(other), steps),
        })
    }

    fn atom(&mut self) -> Result<Node, String> {
        self.space();
        let first = self.rest().chars().next();
        match first {
            Some('(') => {
                self.at += 1;
                let node = self.compare()?;
                self.expect(")")?;
                Ok(node)
            }
            Some('"') => {
                let end = self.rest()[1..].find('"').ok_or("a text has no closing quote")?;
                let text = self.rest()[1..=end].to_string();
                self.at += end + 2;
                Ok(Node::Text(text))
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(_) => {
                let Some(name) = self.name() else {
                    return Err(format!("expected a number or a name at `{}`", self.rest()));
                };
                if !self.rest().starts_with('(') {
                    return Ok(Node::Path(vec![Step::Key(name)]));
                }
                self.at += 1;
                let mut arguments = vec![self.compare()?];
                while self.take(",") {
                    arguments.push(self.compare()?);
                }
                self.expect(")")?;
                Ok(Node::Call(name, arguments))
            }
            None => Err(format!("`{}` ends where a value was expected", self.text)),
        }
    }

    /// Digits, point, exponent; then perhaps one simple unit.
    fn number(&mut self) -> Result<Node, String> {
        let bytes = self.rest().as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let c = bytes[end];
            let sign = (c == b'+' || c == b'-') && matches!(bytes[end - 1], b'e' | b'E');
            let exponent = matches!(c, b'e' | b'E')
                && bytes.get(end + 1).is_some_and(|d| d.is_ascii_digit() || matches!(d, b'+' | b'-'));
            if !(c.is_ascii_digit() || c == b'.' || exponent || (end > 0 && sign)) {
                break;
            }
            end += 1;
        }
        let digits = &self.rest()[..end];
        let value: f64 = digits.parse().map_err(|_| format!("`{digits}` is not a number"))?;
        self.at += end;
        let before = self.at;
        self.space();
        match self.name().and_then(|name| Unit::named(&name)) {
            Some(unit) => Ok(Node::Number(unit.to_si(value))),
            None => {
                self.at = before;
                Ok(Node::Number(value))
            }
        }
    }

    fn name(&mut self) -> Option<String> {
        let rest = self.rest();
        let end = rest
            .char_indices()
            .find(|(k, c)| !(c.is_alphabetic() || *c == '_' || (*k > 0 && c.is_ascii_digit())))
            .map_or(rest.len(), |(k, _)| k);
        let name = rest[..end].to_string();
        self.at += name.len();
        (!name.is_empty()).then_some(name)
    }

    /// `[3]`, `[-1]`, `[kind=impact, contact=beak]`.
    fn bracket(&mut self) -> Result<Step, String> {
        let inside = {
            let rest = self.rest();
            let mut level = 0;
            let end = rest.char_indices().find(|(_, c)| {
                level += i32::from(*c == '[') - i32::from(*c == ']');
                level == 0
            });
            let (end, _) = end.ok_or_else(|| format!("a bracket is not closed in `{}`", self.text))?;
            rest[1..end].to_string()
        };
        self.at += inside.len() + 2;
        if let Ok(index) = inside.trim().parse::<i64>() {
            return Ok(Step::Index(index));
        }
        inside.split(',').map(condition).collect::<Result<_, _>>().map(Step::Filter)
    }
}

fn condition(text: &str) -> Result<Condition, String> {
    for op in ["!=", "<=", ">=", "==", "=", "<", ">"] {
        if let Some((key, value)) = text.split_once(op) {
            let value = value.trim().trim_matches('"').to_string();
            let op = if op == "==" { "=" } else { op };
            return Ok(Condition {
                key: key.trim().to_string(),
                op,
                number: quantity(&value).ok(),
                text: value,
            });
        }
    }
    Err(format!("`[{text}]` is neither a number nor a condition such as `kind=impact`"))
}
