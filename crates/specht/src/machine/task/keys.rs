//! Values of keys: numbers, texts, lists, ranges, states.

use super::{Axis, Error, Keys, Look, Range, TaskValue};

/// Most values of a parameter over a cycle.
const MOST: f64 = 100_000.0;

pub(super) fn flag(keys: &Keys, name: &str) -> Result<bool, Error> {
    match key(keys, name) {
        None => Ok(false),
        Some(TaskValue::Bool(b)) => Ok(*b),
        Some(_) => Err(Error::plain(format!("`{name}` must be true or false"), "")),
    }
}

/// What is looked at; commas separate names on a command line.
pub(super) fn of(keys: &Keys, kind: &str) -> Result<Vec<String>, Error> {
    let all = list(keys, "of");
    match all.is_empty() {
        true => Err(Error::plain(
            format!("`{kind}` needs something to look at"),
            "write of = [\"F12\"], or --of F12",
        )),
        false => Ok(all),
    }
}

pub(in crate::machine) fn number(keys: &Keys, name: &str) -> Result<Option<f64>, Error> {
    match key(keys, name) {
        None => Ok(None),
        Some(TaskValue::Number(x)) if x.is_finite() => Ok(Some(*x)),
        Some(_) => Err(Error::plain(format!("`{name}` must be a number"), "")),
    }
}

/// A whole number that is not negative.
pub(in crate::machine) fn count(keys: &Keys, name: &str) -> Result<Option<usize>, Error> {
    match number(keys, name)? {
        None => Ok(None),
        Some(x) if x >= 0.0 && x == x.round() && x <= 1e12 => Ok(Some(x as usize)),
        Some(x) => Err(Error::plain(format!("`{name}` must be a whole number, not {x}"), "")),
    }
}

pub(in crate::machine) fn key<'a>(keys: &'a Keys, name: &str) -> Option<&'a TaskValue> {
    keys.iter().find(|k| k.0 == name).map(|k| &k.1)
}

pub(in crate::machine) fn text(keys: &Keys, name: &str) -> Result<Option<String>, Error> {
    match key(keys, name) {
        None => Ok(None),
        Some(TaskValue::Text(t)) => Ok(Some(t.clone())),
        Some(_) => Err(Error::plain(format!("`{name}` must be a name in quotes"), "")),
    }
}

/// A text or a list of texts.
pub(in crate::machine) fn list(keys: &Keys, name: &str) -> Vec<String> {
    let word = |v: &TaskValue| if let TaskValue::Text(t) = v { Some(t.clone()) } else { None };
    match key(keys, name) {
        Some(TaskValue::List(list)) => list.iter().filter_map(word).collect(),
        Some(value) => word(value).into_iter().collect(),
        None => Vec::new(),
    }
}

pub(in crate::machine) fn contacts(keys: &Keys) -> Vec<String> {
    let mut all = list(keys, "contact");
    all.extend(list(keys, "contacts"));
    all
}

pub(in crate::machine) fn look(keys: &Keys) -> Result<Look, Error> {
    let at_time = match key(keys, "at_time") {
        None => None,
        Some(TaskValue::Number(t)) => Some(*t),
        Some(_) => return Err(Error::plain("`at_time` must be a time", "write at_time = \"0.2 s\"")),
    };
    let number = |(name, value): &(String, TaskValue)| match value {
        TaskValue::Number(value) if value.is_finite() => Ok((name.clone(), *value)),
        TaskValue::Number(value) => {
            Err(Error::plain(format!("`at` of `{name}` must be finite, not {value}"), ""))
        }
        _ => Err(Error::plain(format!("`at` of `{name}` must be a number"), "")),
    };
    let at = match key(keys, "at") {
        None => None,
        Some(TaskValue::Table(list)) => Some(list.iter().map(number).collect::<Result<_, _>>()?),
        Some(_) => {
            return Err(Error::plain("`at` must be a table", "write at = { phi = 1.0, \"phi'\" = -3 }"));
        }
    };
    Ok(Look { at_time, at })
}

/// `over = { name = [from, to, count] }`.
pub(super) fn axes(keys: &Keys) -> Result<Vec<Axis>, Error> {
    match key(keys, "over") {
        None => Ok(Vec::new()),
        Some(TaskValue::Table(list)) => list.iter().map(axis).collect(),
        Some(_) => Err(Error::plain("`over` must be a table", "write over = { mu = [0, 3, 61] }")),
    }
}

pub(super) fn axis((name, value): &(String, TaskValue)) -> Result<Axis, Error> {
    if let TaskValue::List(v) = value
        && let [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] = v[..]
        && n >= 0.0
    {
        return Ok(Axis { name: name.clone(), from, to, count: n as usize });
    }
    Err(Error::plain(format!("`over` of `{name}` must be [from, to, count]"), ""))
}

/// The ends of a range; how many values it has does not matter.
pub(super) fn ends((name, value): &(String, TaskValue)) -> Result<Range, Error> {
    if let TaskValue::List(v) = value
        && let [TaskValue::Number(from), TaskValue::Number(to), _] = v[..]
    {
        return Ok((name.clone(), [from, to]));
    }
    Err(Error::plain(format!("`over` of `{name}` must be [from, to, count]"), ""))
}

/// One parameter over a cycle.
pub(super) fn cycle(keys: &Keys) -> Result<Option<(String, f64, f64, usize)>, Error> {
    let Some(over) = key(keys, "over") else { return Ok(None) };
    if let TaskValue::Table(table) = over
        && let [(name, TaskValue::List(v))] = table.as_slice()
        && let [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] = v[..]
        && n >= 2.0
    {
        if !(from.is_finite() && to.is_finite() && from < to) {
            let message = format!(
                "the range of `{name}` runs from {from} to {to}; it needs two finite ends, the smaller one first"
            );
            return Err(Error::plain(message, ""));
        }
        if n > MOST {
            return Err(Error::plain(
                format!("{n} values of `{name}` are more than the {MOST} of a cycle"),
                "borders are located far more finely than the values: 361 are plenty",
            ));
        }
        return Ok(Some((name.clone(), from, to, n as usize)));
    }
    Err(Error::plain("`over` of self-braking is one parameter: over = { q0 = [from, to, count] }", ""))
}

/// `stiffness = { rub1 = 1, rub2 = 3 }`.
pub(super) fn stiffness(keys: &Keys) -> Result<Vec<(String, f64)>, Error> {
    let help = "write stiffness = { rub1 = 1, rub2 = 3 }, or --stiffness \"rub1=1, rub2=3\"";
    let one = |(name, value): &(String, TaskValue)| match value {
        TaskValue::Number(c) if *c > 0.0 && c.is_finite() => Ok((name.clone(), *c)),
        _ => Err(Error::plain(format!("the stiffness of `{name}` must be positive"), help)),
    };
    match key(keys, "stiffness") {
        None => Ok(Vec::new()),
        Some(TaskValue::Table(list)) => list.iter().map(one).collect(),
        Some(_) => Err(Error::plain("`stiffness` of painleve is given by contact", help)),
    }
}
