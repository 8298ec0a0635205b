//! `expected.toml`: what a correct program must find in a gallery model, with the source of the number.
//!
//! | key of `[[check]]` | meaning |
//! |---|---|
//! | `id` | the example or equation it covers |
//! | `case`, `set`, `until`, `scheme`, `step` | how the model is run; as on the command line |
//! | `ask` | a question of its own, written like a `[[task]]`: `{ analyse = "branch", over = { mu = [0.3, 0.4] } }`; its finding is `findings.asked` |
//! | `take` | an address or expression, see `specht::machine::address` |
//! | `value` | number, quantity with unit, text, true/false, or an expression of addresses (`"parameters.v0^2/(2*9.81)"`) |
//! | `where` | names for `take` and `value`: `{ w = "sqrt(parameters.c/parameters.m)" }`; later ones may use earlier ones |
//! | `within` | `"1 %"` of the value, `"0.5 ms"` absolute, `0` exact; default `"1e-6 %"` |
//! | `source` | where the value comes from; required |
//!
//! A word from `sequence(…)` is compared as a cycle: the last two periods of what happened must be the given word,
//! beginning anywhere in it.

use specht::machine::address::{Data, Value, evaluate};
use specht::machine::quantity;
use std::collections::BTreeMap;
use toml_edit::{Item, Table as Toml};

/// How a model is run for a group of checks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setup {
    /// `--case`.
    pub case: Option<String>,
    /// `--set`.
    pub set: Vec<(String, String)>,
    /// `--until`.
    pub until: Option<String>,
    /// `--scheme`.
    pub scheme: Option<String>,
    /// `--step`.
    pub step: Option<String>,
    /// A task, as it would stand in the model.
    pub ask: Option<String>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Example or equation.
    pub id: String,
    /// How to run.
    pub setup: Setup,
    /// Address.
    pub take: String,
    /// Expected value.
    pub value: Target,
    /// Names for `take` and `value`.
    pub locals: Vec<(String, String)>,
    /// Tolerance.
    pub within: Within,
    /// Source of the value.
    pub source: String,
    /// Line in the file.
    pub line: usize,
}

/// An expected value.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A number.
    Number(f64),
    /// A text; read as a quantity or expression when compared with a number.
    Text(String),
    /// true or false.
    Bool(bool),
    /// Several.
    List(Vec<Target>),
}

/// A tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// Part of the expected value.
    Relative(f64),
    /// In SI.
    Absolute(f64),
}

/// Tolerance when none is given: the bar for closed forms.
const DEFAULT: Within = Within::Relative(1e-8);

/// Result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Within the tolerance.
    pub passed: bool,
    /// What was found, for the table.
    pub found: String,
    /// What was expected.
    pub expected: String,
    /// Deviation relative to what is allowed (1 is the limit), if it is a number.
    pub share: Option<f64>,
    /// Deviation as a text.
    pub deviation: String,
}

/// Read the file; the error names the line.
pub fn read(text: &str) -> Result<Vec<Check>, String> {
    let document = toml_edit::Document::parse(text.to_string()).map_err(|e| e.to_string())?;
    let line = |item: Option<std::ops::Range<usize>>| {
        item.map_or(0, |range| text[..range.start.min(text.len())].matches('\n').count() + 1)
    };
    let mut checks = Vec::new();
    for (key, item) in document.as_table().iter() {
        if key != "check" {
            return Err(format!(
                "line {}: unknown section `{key}`; the file holds [[check]] only",
                line(item.span())
            ));
        }
        let list = item.as_array_of_tables().ok_or("write [[check]] with two brackets")?;
        for table in list.iter() {
            let at = line(table.span());
            let check = one(table, at, text).map_err(|e| format!("[[check]] in line {at}: {e}"))?;
            checks.push(check);
        }
    }
    Ok(checks)
}

fn one(table: &Toml, line: usize, source: &str) -> Result<Check, String> {
    const KEYS: [&str; 12] =
        ["id", "case", "set", "until", "scheme", "step", "ask", "take", "value", "where", "within", "source"];
    for (key, _) in table.iter() {
        if !KEYS.contains(&key) {
            let hint = crate::text::nearest(key, &KEYS)
                .map(|k| format!("; did you mean `{k}`?"))
                .unwrap_or_default();
            return Err(format!("unknown key `{key}`{hint}"));
        }
    }
    let text = |key: &str| -> Result<Option<String>, String> {
        match table.get(key) {
            None => Ok(None),
            Some(item) => scalar(item).map(Some).ok_or_else(|| format!("`{key}` must be a text or a number")),
        }
    };
    let required = |key: &str| text(key)?.ok_or_else(|| format!("`{key}` is missing"));
    let pairs = |key: &str| -> Result<Vec<(String, String)>, String> {
        let Some(item) = table.get(key) else { return Ok(Vec::new()) };
        let entries =
            item.as_table_like().ok_or_else(|| format!("`{key}` must be a table: {key} = {{ mu = 0.4 }}"))?;
        entries
            .iter()
            .map(|(name, value)| {
                let value = plain(value, source).ok_or_else(|| format!("value of `{name}` in `{key}`"))?;
                Ok((name.to_string(), value))
            })
            .collect()
    };
    let set = pairs("set")?;
    Ok(Check {
        id: required("id")?,
        setup: Setup {
            case: text("case")?,
            set,
            until: text("until")?,
            scheme: text("scheme")?,
            step: text("step")?,
            ask: table.get("ask").map(|item| task(item, source)).transpose()?,
        },
        take: required("take")?,
        value: target(table.get("value").ok_or("`value` is missing")?)?,
        locals: pairs("where")?,
        within: match text("within")? {
            None => DEFAULT,
            Some(text) => within(&text)?,
        },
        source: required("source")?,
        line,
    })
}

/// A table of keys as a task of a model file.
fn task(item: &Item, source: &str) -> Result<String, String> {
    let wrong = || "`ask` must be a table like a task: { analyse = \"modes\" }".to_string();
    let mut out = String::from("\n[[task]]\nname = \"asked\"\n");
    for (key, value) in item.as_table_like().ok_or_else(wrong)?.iter() {
        let text = value.span().and_then(|range| source.get(range)).ok_or_else(wrong)?;
        out += &format!("{key} = {text}\n");
    }
    Ok(out)
}

/// A text or number as text.
fn scalar(item: &Item) -> Option<String> {
    let value = item.as_value()?;
    value
        .as_str()
        .map(str::to_string)
        .or_else(|| value.as_integer().map(|x| x.to_string()))
        .or_else(|| value.as_float().map(|x| format!("{x:?}")))
}

/// A parameter value as it would be typed after `--set NAME=`; lists keep their brackets.
fn plain(item: &Item, source: &str) -> Option<String> {
    scalar(item).or_else(|| item.span().and_then(|range| source.get(range)).map(str::to_string))
}

fn target(item: &Item) -> Result<Target, String> {
    let value = item.as_value().ok_or("`value` must be a number, a text, true/false or a list")?;
    from_value(value)
}

fn from_value(value: &toml_edit::Value) -> Result<Target, String> {
    if let Some(x) = value.as_float() {
        return Ok(Target::Number(x));
    }
    if let Some(x) = value.as_integer() {
        return Ok(Target::Number(x as f64));
    }
    if let Some(b) = value.as_bool() {
        return Ok(Target::Bool(b));
    }
    if let Some(text) = value.as_str() {
        return Ok(Target::Text(text.to_string()));
    }
    match value.as_array() {
        Some(list) => list.iter().map(from_value).collect::<Result<_, _>>().map(Target::List),
        None => Err("`value` must be a number, a text, true/false or a list".into()),
    }
}

/// `"1 %"`, `"0.5 ms"`, `0`.
fn within(text: &str) -> Result<Within, String> {
    let bad = || format!("`within = \"{text}\"`: write \"1 %\", a quantity such as \"0.5 ms\", or 0");
    let (value, relative) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim().parse::<f64>().map_err(|_| bad())? / 100.0, true),
        None => (quantity(text).map_err(|_| bad())?, false),
    };
    if !(value >= 0.0 && value.is_finite()) {
        return Err(bad());
    }
    Ok(if relative { Within::Relative(value) } else { Within::Absolute(value) })
}

/// Checks grouped by how the model is run: every distinct setup is run once.
pub fn by_setup(checks: &[Check]) -> BTreeMap<Setup, Vec<usize>> {
    let mut groups: BTreeMap<Setup, Vec<usize>> = BTreeMap::new();
    for (k, check) in checks.iter().enumerate() {
        groups.entry(check.setup.clone()).or_default().push(k);
    }
    groups
}

/// Compare one run with one check; an error is a bad address.
pub fn compare(check: &Check, data: &Data) -> Result<Verdict, String> {
    let mut locals = data.locals.to_vec();
    for (name, text) in &check.locals {
        let known = Data { locals: &locals, ..*data };
        let value = match quantity(text) {
            Ok(x) => Value::Number(x),
            Err(_) => evaluate(text, &known).map_err(|e| format!("`{name}` in where: {e}"))?,
        };
        locals.push((name.clone(), value));
    }
    let data = &Data { locals: &locals, ..*data };
    let found = evaluate(&check.take, data)?;
    against(&found, &check.value, check.within, data)
}

fn against(found: &Value, target: &Target, within: Within, data: &Data) -> Result<Verdict, String> {
    let equal = |passed: bool, found: String, expected: String| Verdict {
        passed,
        found,
        expected,
        share: None,
        deviation: if passed { "equal".into() } else { "differs".into() },
    };
    match (found, target) {
        (Value::Number(x), Target::Number(y)) => Ok(numbers(*x, *y, within)),
        (Value::Number(x), Target::Text(text)) => {
            let y = match quantity(text) {
                Ok(y) => y,
                Err(_) => match evaluate(text, data)? {
                    Value::Number(y) => y,
                    other => return Err(format!("the expected value `{text}` is {}", other.kind())),
                },
            };
            Ok(numbers(*x, y, within))
        }
        (Value::Text(x), Target::Text(y)) => {
            let squeeze = |s: &str| s.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(equal(squeeze(x) == squeeze(y), x.clone(), y.clone()))
        }
        (Value::Bool(x), Target::Number(y)) => Ok(equal(f64::from(*x) == *y, x.to_string(), y.to_string())),
        (Value::Bool(x), Target::Bool(y)) => Ok(equal(x == y, x.to_string(), y.to_string())),
        (Value::Cycle(letters), Target::Text(word)) => {
            let word: Vec<&str> = word.split_whitespace().collect();
            let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
            let tail = &letters[letters.len().saturating_sub(2 * word.len())..];
            let shown =
                if letters.len() > tail.len() { format!("… {}", tail.join(" ")) } else { tail.join(" ") };
            Ok(equal(is_cycle(tail, &word), shown, word.join(" ")))
        }
        (Value::List(x), Target::List(y)) => {
            if x.len() != y.len() {
                return Ok(equal(false, format!("{} entries", x.len()), format!("{} entries", y.len())));
            }
            let mut worst: Option<Verdict> = None;
            for (a, b) in x.iter().zip(y) {
                let verdict = against(a, b, within, data)?;
                let worse = |w: &Verdict| (w.passed && !verdict.passed) || verdict.share > w.share;
                if worst.as_ref().is_none_or(worse) {
                    worst = Some(verdict);
                }
            }
            Ok(worst.unwrap_or_else(|| equal(true, "empty".into(), "empty".into())))
        }
        (found, target) => {
            let target = match target {
                Target::Number(_) => "a number",
                Target::Text(_) => "a text",
                Target::Bool(_) => "true or false",
                Target::List(_) => "a list",
            };
            Err(format!("the address gives {}, the expected value is {target}", found.kind()))
        }
    }
}

fn numbers(x: f64, y: f64, within: Within) -> Verdict {
    let difference = (x - y).abs();
    let (allowed, deviation) = match within {
        Within::Relative(part) if y != 0.0 => {
            (part * y.abs(), format!("{:.2e} %", 100.0 * difference / y.abs()))
        }
        Within::Relative(part) => (part, format!("{difference:.2e}")),
        Within::Absolute(size) => (size, format!("{difference:.2e}")),
    };
    let same = x == y || difference <= allowed;
    Verdict {
        passed: same,
        found: short(x),
        expected: short(y),
        share: (allowed > 0.0).then(|| difference / allowed).filter(|s| s.is_finite()),
        deviation: if x == y { "0".into() } else { deviation },
    }
}

/// Ten significant digits, no more than needed.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.9e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) {
        rounded.to_string()
    } else {
        format!("{rounded:e}")
    }
}

/// Whether `tail` (at least one period) repeats `word`, beginning anywhere in it.
fn is_cycle(tail: &[&str], word: &[&str]) -> bool {
    let p = word.len();
    p > 0
        && tail.len() >= p
        && (0..p).any(|shift| tail.iter().enumerate().all(|(k, l)| *l == word[(k + shift) % p]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use specht::machine::table::Table;

    const FILE: &str = r#"
[[check]]
id     = "A"
case   = "B"
take   = "1/findings.cycle.period"
value  = "8.90 Hz"
within = "1 %"
source = "book"

[[check]]
id     = "A"
case   = "B"
take   = "sequence(events.contacts)"
value  = "upper beak lower"
source = "book"

[[check]]
id     = "C"
set    = { phi0 = "60 deg", w0 = 5, mu = [0.1, 0.2] }
take   = "final.x"
value  = "2*w"
where  = { v = "parameters.v0", w = "v" }
within = "0.5 ms"
source = "formula"
"#;

    #[test]
    fn checks_are_read_and_grouped_by_run() {
        let checks = read(FILE).unwrap();
        assert_eq!(checks.len(), 3);
        assert_eq!(by_setup(&checks).len(), 2);
        assert_eq!(checks[0].within, Within::Relative(0.01));
        assert_eq!(checks[2].within, Within::Absolute(0.0005));
        let set = &checks[2].setup.set;
        assert_eq!(set[0], ("phi0".to_string(), "60 deg".to_string()));
        assert_eq!(set[1].1, "5");
        assert_eq!(set[2].1, "[0.1, 0.2]");
        assert_eq!(checks[1].line, 10);
    }

    #[test]
    fn numbers_words_and_expressions_are_compared() {
        let checks = read(FILE).unwrap();
        let run = json!({
            "findings": { "cycle": { "period": 0.1125 } }, "final": { "x": 4.0004 }, "parameters": { "v0": 2.0 },
            "events": [ { "contacts": ["x"] }, { "contacts": ["lower"] }, { "contacts": ["upper"] }, { "contacts": ["beak"] },
                        { "contacts": ["lower"] }, { "contacts": ["upper"] }, { "contacts": ["beak"] } ],
        });
        let data = Data { run: &run, table: &Table::default(), locals: &[] };
        assert!(compare(&checks[0], &data).unwrap().passed);
        assert!(compare(&checks[1], &data).unwrap().passed);
        assert!(compare(&checks[2], &data).unwrap().passed);
        let far = Check { within: Within::Absolute(0.0003), ..checks[2].clone() };
        assert!(!compare(&far, &data).unwrap().passed);
        let other = Check { value: Target::Text("beak upper lower".into()), ..checks[1].clone() };
        assert!(!compare(&other, &data).unwrap().passed);
        assert!(compare(&Check { value: Target::Bool(true), ..checks[0].clone() }, &data).is_err());
    }

    #[test]
    fn a_nan_never_passes() {
        assert!(!numbers(f64::NAN, 1.0, Within::Relative(1.0)).passed);
        assert!(!numbers(1.0, f64::NAN, Within::Absolute(1e300)).passed);
    }

    #[test]
    fn mistakes_name_the_line() {
        assert!(read("[[check]]\nid = 1\nvalu = 3\n").unwrap_err().contains("did you mean `value`"));
        assert!(
            read("[[check]]\nid = 'x'\ntake = 'time'\nvalue = 3\n")
                .unwrap_err()
                .contains("`source` is missing")
        );
        assert!(read("[check]\n").is_err());
        assert!(read("[[check]]\nid='x'\ntake='t'\nvalue=1\nsource='s'\nwithin='much'\n").is_err());
        assert!(read("= 3").is_err());
    }
}
