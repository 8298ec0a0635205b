//! Tree → value.

use super::path::{Found, nearest, walk};
use super::{Data, series};
use crate::expr::{ChainOp, CompareOp, Expr, Kind, Step, address};
use crate::machine::table::Column;
use serde_json::Value as Json;

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number; missing values are NaN.
    Number(f64),
    /// A text.
    Text(String),
    /// true or false.
    Bool(bool),
    /// A list.
    List(Vec<Value>),
    /// A recorded series, row by row.
    Series(Vec<f64>),
    /// A cyclic word: its letters.
    Cycle(Vec<String>),
    /// A table of `run.json`.
    Table(Json),
}

impl Value {
    /// For messages.
    pub fn kind(&self) -> String {
        match self {
            Value::Number(_) => "a number".into(),
            Value::Text(_) => "a text".into(),
            Value::Bool(_) => "true or false".into(),
            Value::List(list) => format!("a list of {}", list.len()),
            Value::Series(_) => "a series".into(),
            Value::Cycle(_) => "a word".into(),
            Value::Table(_) => "a table".into(),
        }
    }

    fn truth(&self) -> Result<bool, String> {
        match self {
            Value::Bool(b) => Ok(*b),
            other => Err(format!("{} stands where a condition is needed", other.kind())),
        }
    }

    pub(super) fn number(&self, what: &str) -> Result<f64, String> {
        match self {
            Value::Number(x) => Ok(*x),
            Value::Bool(b) => Ok(f64::from(*b)),
            Value::List(list) if list.len() == 1 => list[0].number(what),
            other => Err(format!("{what} is {}, not a number", other.kind())),
        }
    }
}

/// Functions that read `outputs.NAME` as a series.
pub(super) const OVER_SERIES: [&str; 18] = [
    "max", "min", "mean", "rms", "std", "quantile", "span", "envelope", "area", "spectrum", "integral", "at",
    "count", "sum", "first", "last", "diff", "per",
];
const SCALAR: [&str; 15] = [
    "abs", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sign",
    "floor",
];

/// Value of a node; with `series`, `outputs.NAME` is the recorded series.
pub(super) fn eval(node: &Expr, data: &Data, series: bool) -> Result<Value, String> {
    let of = |node: &Expr| eval(node, data, series);
    match &node.kind {
        Kind::Number { value, unit } => {
            Ok(Value::Number(unit.as_ref().map_or(*value, |u| u.unit.to_si(*value))))
        }
        Kind::Text(text) => Ok(Value::Text(text.clone())),
        Kind::Address(None, steps) => path(steps, data, series),
        Kind::Address(Some(base), steps) => access(of(base)?, steps),
        Kind::Neg(inner) => map1(of(inner)?, &|x| -x),
        Kind::Pow(a, b, _) => arithmetic("^", &f64::powf, of(a)?, of(b)?),
        Kind::Chain(first, links) => links.iter().try_fold(of(first)?, |value, link| {
            let (mark, f): (_, &dyn Fn(f64, f64) -> f64) = match link.op {
                ChainOp::Add => ("+", &|x, y| x + y),
                ChainOp::Sub => ("-", &|x, y| x - y),
                ChainOp::Mul => ("*", &|x, y| x * y),
                ChainOp::Div => ("/", &|x, y| x / y),
            };
            arithmetic(mark, f, value, of(&link.expr)?)
        }),
        Kind::Compare(op, a, b, _) => compare(*op, of(a)?, of(b)?),
        Kind::And(all) => {
            all.iter().try_fold(true, |so_far, e| Ok(so_far & of(e)?.truth()?)).map(Value::Bool)
        }
        Kind::Or(all) => {
            all.iter().try_fold(false, |so_far, e| Ok(so_far | of(e)?.truth()?)).map(Value::Bool)
        }
        Kind::Not(inner) => Ok(Value::Bool(!of(inner)?.truth()?)),
        Kind::Call { name, args, .. } => call(name, args, data, series),
        Kind::Name { .. } | Kind::Range { .. } => {
            Err("a sum over an index is for formulas of the model".into())
        }
    }
}

fn path(steps: &[Step], data: &Data, in_series: bool) -> Result<Value, String> {
    let Some(Step::Key(first)) = steps.first() else { return Err("a path begins with a name".into()) };
    match first.as_str() {
        "pi" if steps.len() == 1 => return Ok(Value::Number(std::f64::consts::PI)),
        "inf" if steps.len() == 1 => return Ok(Value::Number(f64::INFINITY)),
        "true" | "false" if steps.len() == 1 => return Ok(Value::Bool(first == "true")),
        _ => {}
    }
    if let (1, Some((_, value))) = (steps.len(), data.locals.iter().find(|(name, _)| name == first)) {
        return Ok(value.clone());
    }
    if let (true, Some(Column::Numbers(y))) = (in_series, data.table.column(&address(steps))) {
        return Ok(Value::Series(y.clone()));
    }
    if first == "trajectory" || (in_series && first == "outputs" && steps.len() > 1) {
        let name = address(&steps[1..]);
        return match data.table.column(&name) {
            Some(Column::Numbers(y)) => Ok(Value::Series(y.clone())),
            Some(Column::Words(w)) => Ok(Value::List(w.iter().map(|w| Value::Text(w.to_string())).collect())),
            None => {
                let names: Vec<&str> = data.table.names.iter().map(String::as_str).collect();
                let hint =
                    nearest(&name, &names).map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
                Err(format!("`{}`: trajectory.csv has no column `{name}`{hint}", address(steps)))
            }
        };
    }
    let found = walk(data.run, steps).map_err(|e| format!("`{}`: {e}", address(steps)))?;
    Ok(from_found(&found))
}

pub(super) fn from_found(found: &Found) -> Value {
    match found {
        Found::One(value) => from_json(value),
        Found::Sum(x) => Value::Number(*x),
        Found::Many(list) => Value::List(list.iter().map(from_found).collect()),
    }
}

fn from_json(value: &Json) -> Value {
    match value {
        Json::Null => Value::Number(f64::NAN),
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(x) => Value::Number(x.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => match text.as_str() {
            "inf" => Value::Number(f64::INFINITY),
            "-inf" => Value::Number(f64::NEG_INFINITY),
            _ => Value::Text(text.clone()),
        },
        Json::Array(list) => Value::List(list.iter().map(from_json).collect()),
        Json::Object(_) => Value::Table(value.clone()),
    }
}

/// `[index]` of a computed list.
fn access(value: Value, steps: &[Step]) -> Result<Value, String> {
    let mut value = value;
    for step in steps {
        value = match (&value, step) {
            (Value::List(list), Step::Index(index)) => {
                let n = list.len() as i64;
                let k = if *index < 0 { n + index } else { index - 1 };
                let entry = usize::try_from(k).ok().and_then(|k| list.get(k));
                entry.cloned().ok_or_else(|| format!("entry [{index}] of a list of {n}"))?
            }
            (other, _) => {
                return Err(format!(
                    "`{}` does not fit {}",
                    address(std::slice::from_ref(step)),
                    other.kind()
                ));
            }
        };
    }
    Ok(value)
}

/// A function of one number, entry by entry.
fn map1(value: Value, f: &dyn Fn(f64) -> f64) -> Result<Value, String> {
    Ok(match value {
        Value::Series(y) => Value::Series(y.into_iter().map(f).collect()),
        Value::List(list) => Value::List(list.into_iter().map(|v| map1(v, f)).collect::<Result<_, _>>()?),
        other => Value::Number(f(other.number("the operand")?)),
    })
}

fn arithmetic(mark: &str, f: &dyn Fn(f64, f64) -> f64, a: Value, b: Value) -> Result<Value, String> {
    match (a, b) {
        (Value::Series(a), Value::Series(b)) => {
            Ok(Value::Series(a.into_iter().zip(b).map(|(x, y)| f(x, y)).collect()))
        }
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            let pairs = a.into_iter().zip(b).map(|(x, y)| arithmetic(mark, f, x, y));
            pairs.collect::<Result<_, _>>().map(Value::List)
        }
        (Value::List(a), Value::List(b)) => Err(format!("`{mark}` of lists of {} and {}", a.len(), b.len())),
        (a @ (Value::Series(_) | Value::List(_)), b) => {
            let y = b.number("the right side")?;
            map1(a, &|x| f(x, y))
        }
        (a, b @ (Value::Series(_) | Value::List(_))) => {
            let x = a.number("the left side")?;
            map1(b, &|y| f(x, y))
        }
        (a, b) => Ok(Value::Number(f(a.number("the left side")?, b.number("the right side")?))),
    }
}

fn compare(op: CompareOp, a: Value, b: Value) -> Result<Value, String> {
    if let (Value::Text(a), Value::Text(b)) = (&a, &b) {
        return match op {
            CompareOp::Eq => Ok(Value::Bool(a == b)),
            CompareOp::Ne => Ok(Value::Bool(a != b)),
            _ => Err(format!("`{}` between two texts", op.text())),
        };
    }
    Ok(Value::Bool(op.holds(a.number("the left side")?, b.number("the right side")?)))
}

fn call(name: &str, arguments: &[Expr], data: &Data, in_series: bool) -> Result<Value, String> {
    let over_series = OVER_SERIES.contains(&name);
    let Some(first) = arguments.first() else { return Err(format!("`{name}` needs an argument")) };
    if name == "area" {
        one(name, arguments)?;
        return area(first, data);
    }
    let first = eval(first, data, in_series || over_series)?;
    if SCALAR.contains(&name) {
        one(name, arguments)?;
        let f = match name {
            "abs" => f64::abs,
            "sqrt" => f64::sqrt,
            "sin" => f64::sin,
            "cos" => f64::cos,
            "tan" => f64::tan,
            "asin" => f64::asin,
            "acos" => f64::acos,
            "atan" => f64::atan,
            "sinh" => f64::sinh,
            "cosh" => f64::cosh,
            "tanh" => f64::tanh,
            "exp" => f64::exp,
            "sign" => |x: f64| if x == 0.0 { 0.0 } else { x.signum() },
            "floor" => f64::floor,
            _ => f64::ln,
        };
        return map1(first, &f);
    }
    if name == "sequence" || name == "word" {
        one(name, arguments)?;
        let letters = letters(first)?;
        return Ok(if name == "sequence" { Value::Cycle(letters) } else { Value::Text(letters.join(" ")) });
    }
    if !over_series {
        let mut known: Vec<&str> = OVER_SERIES.iter().chain(&SCALAR).copied().collect();
        known.extend(["sequence", "word"]);
        let hint = match nearest(name, &known) {
            Some(n) => format!("did you mean `{n}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        return Err(format!("unknown function `{name}`; {hint}"));
    }
    let rest = arguments[1..]
        .iter()
        .map(|a| eval(a, data, false)?.number(&format!("an argument of `{name}`")))
        .collect::<Result<Vec<f64>, String>>()?;
    if let ("at", Kind::Address(None, steps), Value::Series(y), [time]) =
        (name, &arguments[0].kind, &first, rest.as_slice())
        && let Some(value) = cubic_at(steps, y, *time, data)
    {
        return Ok(Value::Number(value));
    }
    if name == "per" {
        return per(&first, &rest, data);
    }
    match first {
        Value::Series(y) => of_series(name, &y, &rest, data),
        Value::List(list) if name == "quantile" => {
            let [share] = rest[..] else { return Err("`quantile` takes a list and a share".into()) };
            quantile_of_list(list, share)
        }
        Value::List(list) => {
            one(name, arguments)?;
            of_list(name, list)
        }
        Value::Table(Json::Object(object)) if name == "count" => Ok(Value::Number(object.len() as f64)),
        other if name == "max" || name == "min" => {
            let mut best = other.number(&format!("the argument of `{name}`"))?;
            for x in rest {
                best = if name == "max" { best.max(x) } else { best.min(x) };
            }
            Ok(Value::Number(best))
        }
        other => Err(format!("`{name}` needs a list or a recorded series, this is {}", other.kind())),
    }
}

/// Value at a time of a column whose rate is recorded too.
fn cubic_at(steps: &[Step], y: &[f64], time: f64, data: &Data) -> Option<f64> {
    let name = address(steps);
    let name = name.strip_prefix("trajectory.").or_else(|| name.strip_prefix("outputs.")).unwrap_or(&name);
    let rate = data.table.numbers(&format!("{name}'"))?;
    series::cubic(data.table.numbers("t")?, y, rate, time)
}

fn one(name: &str, arguments: &[Expr]) -> Result<(), String> {
    match arguments.len() {
        1 => Ok(()),
        n => Err(format!("`{name}` takes one argument here, not {n}")),
    }
}

fn of_series(name: &str, y: &[f64], rest: &[f64], data: &Data) -> Result<Value, String> {
    let t = data.table.numbers("t").unwrap_or(&[]);
    if name == "at" {
        let [time] = rest else { return Err("`at` takes a series and a time".into()) };
        let value = series::at(t, y, *time).ok_or_else(|| format!("t = {time} lies outside the run"))?;
        return Ok(Value::Number(value));
    }
    // the argument before the times
    let (number, rest) = match (name, rest) {
        ("quantile" | "spectrum", [number, rest @ ..]) => (*number, rest),
        ("quantile", []) => return Err("`quantile` takes a series and a share, such as 0.99".into()),
        ("spectrum", []) => return Err("`spectrum` takes a series and a frequency".into()),
        _ => (f64::NAN, rest),
    };
    if rest.len() > 2 {
        return Err(format!("`{name}` takes a series and at most two times (from, to)"));
    }
    if name == "quantile" && !(0.0..=1.0).contains(&number) {
        return Err(format!("the share of `quantile` lies between 0 and 1, not at {number}"));
    }
    let (t, y) = series::window(t, y, rest.first().copied(), rest.get(1).copied());
    if y.is_empty() && name != "count" {
        return Err(format!("`{name}`: no sample between these times"));
    }
    let largest = || y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = || y.iter().copied().fold(f64::INFINITY, f64::min);
    Ok(Value::Number(match name {
        "max" => largest(),
        "min" => smallest(),
        "span" => largest() - smallest(),
        "mean" => series::mean(&t, &y, |v| v),
        "rms" => series::mean(&t, &y, |v| v * v).sqrt(),
        "std" => {
            let mean = series::mean(&t, &y, |v| v);
            series::mean(&t, &y, |v| (v - mean) * (v - mean)).sqrt()
        }
        "quantile" => series::quantile(&t, &y, number),
        "spectrum" => series::amplitude(&t, &y, number),
        "integral" => series::integral(&t, &y, |v| v),
        "count" => y.len() as f64,
        "first" => y[0],
        "last" => y[y.len() - 1],
        "envelope" => {
            return Ok(Value::List(series::turning_points(&y).into_iter().map(Value::Number).collect()));
        }
        _ => return Err(format!("`{name}` is for lists, not for recorded series")),
    }))
}

fn of_list(name: &str, list: Vec<Value>) -> Result<Value, String> {
    if name == "count" {
        return Ok(Value::Number(list.len() as f64));
    }
    if list.is_empty() && name != "sum" {
        return Err(format!("`{name}` of an empty list"));
    }
    if name == "first" || name == "last" {
        let k = if name == "first" { 0 } else { list.len() - 1 };
        return Ok(list[k].clone());
    }
    let x = list.iter().map(|v| v.number("an entry of the list")).collect::<Result<Vec<f64>, String>>()?;
    match name {
        "std" => {
            let n = x.len() as f64;
            let mean = x.iter().sum::<f64>() / n;
            Ok(Value::Number((x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt()))
        }
        "diff" => Ok(Value::List(x.windows(2).map(|w| Value::Number(w[1] - w[0])).collect())),
        _ => {
            let mut sums = Sums::default();
            x.iter().for_each(|x| sums.add(*x));
            sums.value(name).map(Value::Number)
        }
    }
}

/// What functions of a list need that do not need the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    count: f64,
    sum: f64,
    squares: f64,
    largest: f64,
    smallest: f64,
}

impl Default for Sums {
    fn default() -> Self {
        let nothing = std::iter::empty::<f64>().sum();
        let (largest, smallest) = (f64::NEG_INFINITY, f64::INFINITY);
        Sums { count: 0.0, sum: nothing, squares: nothing, largest, smallest }
    }
}

impl Sums {
    /// Functions of lists that are made of these, and the first and the last entry.
    pub(super) const FOLDED: [&str; 9] =
        ["count", "sum", "max", "min", "span", "mean", "rms", "first", "last"];

    pub(super) fn count(&self) -> f64 {
        self.count
    }

    /// One more entry.
    pub(super) fn add(&mut self, x: f64) {
        self.count += 1.0;
        self.sum += x;
        self.squares += x * x;
        self.largest = self.largest.max(x);
        self.smallest = self.smallest.min(x);
    }

    /// The function of the entries so far.
    pub(super) fn value(&self, name: &str) -> Result<f64, String> {
        if self.count == 0.0 && !["sum", "count"].contains(&name) {
            return Err(format!("`{name}` of an empty list"));
        }
        Ok(match name {
            "count" => self.count,
            "sum" => self.sum,
            "max" => self.largest,
            "min" => self.smallest,
            "span" => self.largest - self.smallest,
            "mean" => self.sum / self.count,
            "rms" => (self.squares / self.count).sqrt(),
            _ => return Err(format!("`{name}` is for recorded series, not for lists")),
        })
    }
}

/// The value below which a share of the entries lies, linear between entries.
fn quantile_of_list(list: Vec<Value>, share: f64) -> Result<Value, String> {
    let mut x =
        list.iter().map(|v| v.number("an entry of the list")).collect::<Result<Vec<f64>, String>>()?;
    if x.is_empty() || !(0.0..=1.0).contains(&share) {
        return Err("`quantile` needs a list that is not empty and a share between 0 and 1".into());
    }
    x.sort_by(f64::total_cmp);
    Ok(Value::Number(series::order_statistic(&x, share)))
}

/// `per(number, period, from, to)`: a number of the run, or of a part of it, per period.
fn per(number: &Value, rest: &[f64], data: &Data) -> Result<Value, String> {
    let number = number.number("the number of `per`")?;
    let (period, from, to) = match *rest {
        [period] => (period, 0.0, data.run["time"].as_f64().unwrap_or(f64::NAN)),
        [period, from, to] => (period, from, to),
        _ => return Err("`per` takes a number, a period and, for a part of the run, its two times".into()),
    };
    Ok(Value::Number(number * period / (to - from)))
}

/// `area(envelope(series, from, to, step))`.
fn area(envelope: &Expr, data: &Data) -> Result<Value, String> {
    let Kind::Call { name, args, .. } = &envelope.kind else {
        return Err("`area` is that of an envelope: area(envelope(outputs.F))".into());
    };
    let (Some(first), "envelope") = (args.first(), name.as_str()) else {
        return Err("`area` is that of an envelope: area(envelope(outputs.F))".into());
    };
    let Value::Series(y) = eval(first, data, true)? else {
        return Err("`envelope` needs a recorded series".into());
    };
    let rest = args[1..]
        .iter()
        .map(|a| eval(a, data, false)?.number("an argument of `envelope`"))
        .collect::<Result<Vec<f64>, String>>()?;
    if rest.len() > 3 {
        return Err("`envelope` takes a series, two times (from, to) and a step".into());
    }
    let t = data.table.numbers("t").unwrap_or(&[]);
    let (mut t, mut y) = series::window(t, &y, rest.first().copied(), rest.get(1).copied());
    if let Some(step) = rest.get(2) {
        if !(*step > 0.0) {
            return Err(format!("the step of `envelope` must be positive, not {step}"));
        }
        (t, y) = series::resample(&t, &y, *step);
    }
    Ok(Value::Number(series::envelope_area(&t, &y)))
}

/// Letters of a word: texts, or lists of texts of one instant joined by `+`.
fn letters(value: Value) -> Result<Vec<String>, String> {
    let Value::List(list) = value else {
        return Err(format!(
            "a sequence needs a list, such as events[kind=impact].contacts; this is {}",
            value.kind()
        ));
    };
    list.into_iter()
        .map(|entry| match entry {
            Value::Text(text) => Ok(text),
            Value::List(names) => {
                let names = names.into_iter().map(|n| match n {
                    Value::Text(text) => Ok(text),
                    other => Err(format!("a letter of the sequence is {}", other.kind())),
                });
                Ok(names.collect::<Result<Vec<_>, String>>()?.join("+"))
            }
            other => Err(format!("a letter of the sequence is {}", other.kind())),
        })
        .collect()
}
