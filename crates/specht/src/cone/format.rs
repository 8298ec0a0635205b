//! Problems and answers as JSON: what `specht solve` reads and writes, for other programs and for reports of bugs.
//!
//! ```text
//! contact problem, u = W r + q:         { "dimension": 3, "mu": [...], "W": ..., "q": [...] }
//! contact problem, W = H M⁻¹ Hᵀ:        { "dimension": 3, "mu": [...], "M": ..., "H": ..., "v_free": [...], "w": [...] }
//! complementarity problem, w = A z + b: { "A": ..., "b": [...] }
//! ```
//!
//! A matrix is dense (list of rows) or sparse, `{ "rows", "cols", "i", "j", "v" }` with indices from 0; `M` may also be a list of
//! numbers, its diagonal. Mixed laws: `"contacts": [ { "law": "coulomb", "rows": 3, "mu": 0.5 }, … ]` instead of dimension and mu;
//! laws are coulomb, elliptic, loaded, rolling, bilateral, guide. Every message names the entry.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::{Contact, Law, Matrix, Operator, Problem, Solution, Sparse, Stage, Status};
use crate::linalg::Mat;

/// A problem that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormatError {
    /// What is wrong, with the name of the entry.
    pub message: String,
    /// What to do; may be empty.
    pub help: String,
}

impl FormatError {
    fn new(message: impl Into<String>) -> Self {
        FormatError { message: message.into(), help: String::new() }
    }

    fn help(self, help: impl Into<String>) -> Self {
        FormatError { help: help.into(), ..self }
    }
}

/// A problem as posed.
#[derive(Clone, Debug, PartialEq)]
pub enum Posed {
    /// Contacts.
    Contacts(Problem),
    /// w = A z + b, 0 ≤ w ⟂ z ≥ 0.
    Lcp {
        /// A.
        a: Mat,
        /// b.
        b: Vec<f64>,
    },
}

impl Posed {
    /// Reads a problem; NaN and infinities, as some programs write them, are refused by the name of their entry.
    ///
    /// # Errors
    ///
    /// Text that is no JSON, entries that are missing, wrong or do not fit each other.
    pub fn read(text: &str) -> Result<Posed, FormatError> {
        let value = parse(text)?;
        let map = value.as_object().ok_or_else(|| {
            FormatError::new("the problem must be a JSON object")
                .help("see `specht solve --help` for the format")
        })?;
        if !map.contains_key("A") {
            return read_problem(map).map(Posed::Contacts);
        }
        let b = vector(required(map, "b")?, "b")?;
        let n = b.len();
        let a = match matrix(&map["A"], "A", Some(n))? {
            Matrix::Dense(m) => m,
            s => Mat::from_fn(s.rows(), s.cols(), |i, j| s.get(i, j)),
        };
        sized("A (columns)", a.cols(), n, "one per entry of b")?;
        Ok(Posed::Lcp { a, b })
    }
}

impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        read_problem(&Map::deserialize(input)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        // the short form when all contacts are alike
        let rows = self.contacts.first().map_or(3, |c| c.rows);
        let coulomb = |(i, c): (usize, &Contact)| match c.law {
            Law::Coulomb { mu } if c.rows == rows && rows > 1 && c.key == i as u64 => Some(mu),
            _ => None,
        };
        match self.contacts.iter().enumerate().map(coulomb).collect::<Option<Vec<f64>>>() {
            Some(mu) => {
                map.serialize_entry("dimension", &rows)?;
                map.serialize_entry("mu", &mu)?;
            }
            None => map.serialize_entry("contacts", &self.contacts)?,
        }
        match &self.operator {
            Operator::Delassus(w) => {
                map.serialize_entry("W", w)?;
                map.serialize_entry("q", &self.q)?;
            }
            Operator::Bodies { mass, h } => {
                // the free velocity enters through w: u = H v + w with v_free = 0
                map.serialize_entry("M", mass)?;
                map.serialize_entry("H", h)?;
                map.serialize_entry("v_free", &vec![0.0; h.cols()])?;
                map.serialize_entry("w", &self.q)?;
            }
        }
        map.end()
    }
}

impl Serialize for Contact {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        let law = match self.law {
            Law::Coulomb { .. } => "coulomb",
            Law::Elliptic { .. } => "elliptic",
            Law::Loaded { .. } => "loaded",
            Law::Rolling { .. } => "rolling",
            Law::Bilateral => "bilateral",
            Law::BilateralFriction { .. } => "guide",
        };
        map.serialize_entry("law", law)?;
        map.serialize_entry("rows", &self.rows)?;
        match self.law {
            Law::Coulomb { mu } | Law::BilateralFriction { mu } | Law::Rolling { mu } => {
                map.serialize_entry("mu", &mu)?
            }
            Law::Elliptic { mu } => map.serialize_entry("mu", &mu)?,
            Law::Loaded { bound } => map.serialize_entry("bound", &bound)?,
            Law::Bilateral => {}
        }
        map.serialize_entry("key", &self.key)?;
        map.end()
    }
}

impl Serialize for Matrix {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Matrix::Dense(d) => out.collect_seq((0..d.rows()).map(|i| d.row(i))),
            Matrix::Sparse(s) => {
                let (mut i, mut j, mut v) = (Vec::new(), Vec::new(), Vec::new());
                for r in 0..s.rows() {
                    let (c, x) = s.row(r);
                    i.extend(std::iter::repeat_n(r, c.len()));
                    j.extend_from_slice(c);
                    v.extend_from_slice(x);
                }
                let mut map = out.serialize_map(Some(5))?;
                map.serialize_entry("rows", &s.rows())?;
                map.serialize_entry("cols", &s.cols())?;
                map.serialize_entry("i", &i)?;
                map.serialize_entry("j", &j)?;
                map.serialize_entry("v", &v)?;
                map.end()
            }
        }
    }
}

/// The answer to a contact problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// How it ended.
    pub status: &'static str,
    /// The hardest stage that was needed.
    pub stage: &'static str,
    /// Iterations of all stages.
    pub iterations: usize,
    /// Error in the plain measure.
    pub error_plain: f64,
    /// Error in the scaled measure.
    pub error_scaled: f64,
    /// Seconds.
    pub time: f64,
    /// Effort.
    pub counts: AnswerCounts,
    /// Number of independent islands.
    pub islands: usize,
    /// Contacts with W_NN ≤ μ|W_NT|.
    pub painleve: Vec<usize>,
    /// Impulses.
    pub r: Vec<f64>,
    /// Velocities.
    pub u: Vec<f64>,
    /// Proof that there is no solution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Vec<f64>>,
    /// Whether the solution of slightly compliant contacts was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<bool>,
    /// The sufficient criterion for the existence of a solution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub existence: Option<&'static str>,
    /// No solution can hide in a continuum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regular: Option<bool>,
    /// The search for all was finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// All solutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solutions: Option<Vec<super::Found>>,
}

/// The answer to a linear complementarity problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LcpAnswer {
    /// How it ended.
    pub status: &'static str,
    /// Method that found it.
    pub stage: String,
    /// Pivots or factorisations.
    pub iterations: usize,
    /// Largest violation of the conditions, scaled.
    pub error: f64,
    /// Seconds.
    pub time: f64,
    /// z.
    pub z: Vec<f64>,
    /// w = A z + b.
    pub w: Vec<f64>,
    /// The search for all was finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// All solutions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub solutions: Option<Vec<LcpSolution>>,
}

/// One solution of a linear complementarity problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LcpSolution {
    /// z.
    pub z: Vec<f64>,
    /// w.
    pub w: Vec<f64>,
    /// One point of a continuum.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub family: bool,
}

/// Effort by stage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnswerCounts {
    /// Gauss–Seidel sweeps.
    pub sweeps: usize,
    /// Interior-point iterations.
    pub interior_point: usize,
    /// Newton iterations.
    pub newton: usize,
    /// Folds passed.
    pub folds: usize,
}

impl Answer {
    /// The answer of one solve that took so many seconds.
    pub fn new(s: Solution, time: f64) -> Answer {
        let c = s.counts;
        Answer {
            status: status_name(s.status),
            stage: stage_name(s.stage),
            iterations: c.ipm + c.newton + c.sweeps,
            error_plain: s.error_plain,
            error_scaled: s.error_scaled,
            time,
            counts: AnswerCounts {
                sweeps: c.sweeps,
                interior_point: c.ipm,
                newton: c.newton,
                folds: c.negative,
            },
            islands: s.islands,
            painleve: s.painleve,
            r: s.r,
            u: s.u,
            certificate: (s.status == Status::NoSolution).then_some(s.certificate),
            nearest: None,
            existence: None,
            regular: None,
            complete: None,
            solutions: None,
        }
    }
}

/// Name of a status in the answer.
fn status_name(s: Status) -> &'static str {
    match s {
        Status::Solved => "solved",
        Status::NotConverged => "not_converged",
        Status::NoSolution => "no_solution",
        Status::CriterionFails => "criterion_fails",
    }
}

fn stage_name(s: Stage) -> &'static str {
    match s {
        Stage::Trivial => "trivial",
        Stage::Warm => "warm",
        Stage::GaussSeidel => "gauss-seidel",
        Stage::Newton => "newton",
        Stage::Wide => "interior-point",
        Stage::Split => "split-path",
        Stage::Modes => "modes",
    }
}

/// JSON in which NaN and Infinity (as some programs write them) become null, so that the entry can be named.
fn parse(text: &str) -> Result<Value, FormatError> {
    let text = if ["NaN", "Infinity", "nan", "inf"].iter().any(|w| text.contains(w)) {
        without_nan(text)
    } else {
        text.to_owned()
    };
    serde_json::from_str(&text).map_err(|e| FormatError::new(format!("not valid JSON: {e}")))
}

fn without_nan(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    let mut rest = text;
    'next: while let Some(c) = rest.chars().next() {
        if !quoted {
            for word in ["-Infinity", "+Infinity", "Infinity", "NaN", "-NaN", "nan", "-inf", "inf"] {
                if let Some(tail) = rest.strip_prefix(word) {
                    out.push_str("null");
                    rest = tail;
                    continue 'next;
                }
            }
        }
        if quoted && !escaped && c == '\\' {
            escaped = true;
        } else {
            if c == '"' && !escaped {
                quoted = !quoted;
            }
            escaped = false;
        }
        out.push(c);
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// A contact problem from its JSON object.
fn read_problem(map: &Map<String, Value>) -> Result<Problem, FormatError> {
    const KEYS: [&str; 9] = ["dimension", "mu", "contacts", "W", "q", "M", "H", "v_free", "w"];
    if let Some(k) =
        map.keys().find(|k| !KEYS.contains(&k.as_str()) && !["name", "comment"].contains(&k.as_str()))
    {
        return Err(FormatError::new(format!("unknown entry `{k}`"))
            .help(format!("known entries: {}", KEYS.join(", "))));
    }
    let contacts = read_contacts(map)?;
    let rows: usize = contacts.iter().map(|c| c.rows).sum();
    let problem = match (map.get("W"), map.get("M"), map.get("H")) {
        (Some(w), None, None) => {
            let q = vector(required(map, "q")?, "q")?;
            Problem { contacts, operator: Operator::Delassus(matrix(w, "W", None)?), q, w: None }
        }
        (None, Some(m), Some(h)) => {
            let h = matrix(h, "H", Some(rows))?;
            let mass = matrix(m, "M", None)?;
            let v = vector(required(map, "v_free")?, "v_free")?;
            let w = map.get("w").map_or_else(|| Ok(vec![0.0; rows]), |w| vector(w, "w"))?;
            sized("v_free", v.len(), h.cols(), "one per column of H")?;
            sized("w", w.len(), rows, "one per row")?;
            if map.contains_key("q") {
                return Err(FormatError::new("`q` and `v_free` are both given")
                    .help("q = H v_free + w follows from v_free"));
            }
            Problem::from_bodies(mass, h, &v, w, contacts)
        }
        _ => {
            return Err(FormatError::new("the problem needs either `W` and `q`, or `M`, `H` and `v_free`")
                .help("see `specht solve --help` for the format"));
        }
    };
    problem.check().map_err(|e| FormatError::new(e.to_string()))?;
    Ok(problem)
}

fn read_contacts(map: &Map<String, Value>) -> Result<Vec<Contact>, FormatError> {
    if let Some(list) = map.get("contacts") {
        let list = list.as_array().ok_or_else(|| FormatError::new("`contacts` must be a list"))?;
        return list.iter().enumerate().map(|(i, c)| read_contact(i, c)).collect();
    }
    let d = required(map, "dimension")?.as_u64().filter(|d| (2..=3).contains(d));
    let d = d
        .ok_or_else(|| FormatError::new(format!("dimension is {}; it must be 2 or 3", map["dimension"])))?
        as usize;
    let mu = vector(required(map, "mu")?, "mu")?;
    Ok(mu
        .iter()
        .enumerate()
        .map(|(i, &mu)| Contact { law: Law::Coulomb { mu }, rows: d, key: i as u64 })
        .collect())
}

fn read_contact(i: usize, v: &Value) -> Result<Contact, FormatError> {
    let name = format!("contacts[{i}]");
    let c = v.as_object().ok_or_else(|| FormatError::new(format!("{name} must be an object")))?;
    let get = |key: &str| c.get(key).ok_or_else(|| FormatError::new(format!("{name} has no `{key}`")));
    let rows = |default: Option<usize>| -> Result<usize, FormatError> {
        match (c.get("rows"), default) {
            (Some(r), _) => r
                .as_u64()
                .map(|r| r as usize)
                .ok_or_else(|| FormatError::new(format!("{name}.rows is {r}; expected a whole number"))),
            (None, Some(d)) => Ok(d),
            (None, None) => Err(FormatError::new(format!("{name} has no `rows`"))),
        }
    };
    let law = get("law")?.as_str().unwrap_or_default().to_owned();
    let (law, rows) = match law.as_str() {
        "coulomb" => (Law::Coulomb { mu: number(get("mu")?, &format!("{name}.mu"))? }, rows(Some(3))?),
        "elliptic" => {
            let mu = vector(get("mu")?, &format!("{name}.mu"))?;
            sized(&format!("{name}.mu"), mu.len(), 2, "one per tangent")?;
            (Law::Elliptic { mu: [mu[0], mu[1]] }, rows(Some(3))?)
        }
        "loaded" => (Law::Loaded { bound: number(get("bound")?, &format!("{name}.bound"))? }, rows(Some(2))?),
        "rolling" => (Law::Rolling { mu: number(get("mu")?, &format!("{name}.mu"))? }, rows(Some(2))?),
        "bilateral" => (Law::Bilateral, rows(None)?),
        "guide" => {
            (Law::BilateralFriction { mu: number(get("mu")?, &format!("{name}.mu"))? }, rows(Some(3))?)
        }
        other => {
            return Err(FormatError::new(format!("{name}.law is `{other}`"))
                .help("laws: coulomb, elliptic, loaded, rolling, bilateral, guide"));
        }
    };
    let key = c.get("key").and_then(Value::as_u64).unwrap_or(i as u64);
    Ok(Contact { law, rows, key })
}

fn required<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a Value, FormatError> {
    map.get(key).ok_or_else(|| {
        FormatError::new(format!("`{key}` is missing")).help("see `specht solve --help` for the format")
    })
}

fn sized(name: &str, found: usize, expected: usize, what: &str) -> Result<(), FormatError> {
    if found == expected {
        return Ok(());
    }
    Err(FormatError::new(format!("{name} has {found} entries, expected {expected} ({what})")))
}

fn number(v: &Value, name: &str) -> Result<f64, FormatError> {
    match v.as_f64() {
        Some(x) if x.is_finite() => Ok(x),
        _ => Err(FormatError::new(format!("{name} is {}; expected a finite number", shown(v)))),
    }
}

fn shown(v: &Value) -> String {
    match v {
        Value::Null => "null, NaN or infinite".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        v => v.to_string(),
    }
}

fn vector(v: &Value, name: &str) -> Result<Vec<f64>, FormatError> {
    let list =
        v.as_array().ok_or_else(|| FormatError::new(format!("{name} is {}; expected a list", shown(v))))?;
    list.iter().enumerate().map(|(i, x)| number(x, &format!("{name}[{i}]"))).collect()
}

fn indices(v: &Value, name: &str) -> Result<Vec<usize>, FormatError> {
    let list =
        v.as_array().ok_or_else(|| FormatError::new(format!("{name} is {}; expected a list", shown(v))))?;
    let index = |(i, x): (usize, &Value)| {
        x.as_u64().map(|x| x as usize).ok_or_else(|| {
            FormatError::new(format!("{name}[{i}] is {}; expected a whole number from 0", shown(x)))
        })
    };
    list.iter().enumerate().map(index).collect()
}

/// Dense (list of rows), sparse (triplets) or diagonal (list of numbers).
fn matrix(v: &Value, name: &str, rows: Option<usize>) -> Result<Matrix, FormatError> {
    if let Some(o) = v.as_object() {
        let get = |key: &str| o.get(key).ok_or_else(|| FormatError::new(format!("{name} has no `{key}`")));
        let size = |key: &str| -> Result<usize, FormatError> {
            get(key)?
                .as_u64()
                .map(|x| x as usize)
                .ok_or_else(|| FormatError::new(format!("{name}.{key} must be a whole number")))
        };
        let (n, m) = (size("rows")?, size("cols")?);
        let i = indices(get("i")?, &format!("{name}.i"))?;
        let j = indices(get("j")?, &format!("{name}.j"))?;
        let x = vector(get("v")?, &format!("{name}.v"))?;
        sized(&format!("{name}.j"), j.len(), i.len(), "as many as i")?;
        sized(&format!("{name}.v"), x.len(), i.len(), "as many as i")?;
        // a matrix no machine can hold is a typing error
        if n > 50_000_000 || m > 50_000_000 {
            return Err(FormatError::new(format!("{name} is {n} x {m}: too large")));
        }
        if let Some(rows) = rows {
            sized(&format!("{name} (rows)"), n, rows, "one per row of the problem")?;
        }
        let t: Vec<(usize, usize, f64)> = (0..i.len()).map(|k| (i[k], j[k], x[k])).collect();
        return Sparse::from_triplets(n, m, &t).map(Matrix::Sparse).map_err(|k| {
            FormatError::new(format!(
                "{name}: entry {k} is at row {}, column {}, outside {n} x {m}",
                i[k], j[k]
            ))
        });
    }
    let list = v.as_array().ok_or_else(|| {
        FormatError::new(format!(
            "{name} is {}; expected a list of rows or {{rows, cols, i, j, v}}",
            shown(v)
        ))
    })?;
    if let Some(rows) = rows {
        sized(&format!("{name} (rows)"), list.len(), rows, "one per row of the problem")?;
    }
    if name == "M" && list.first().is_some_and(Value::is_number) {
        return Ok(Matrix::Sparse(Sparse::diagonal(&vector(v, name)?)));
    }
    let mut data: Vec<Vec<f64>> = Vec::with_capacity(list.len());
    for (i, row) in list.iter().enumerate() {
        let row = vector(row, &format!("{name}[{i}]"))?;
        if let Some(first) = data.first() {
            sized(&format!("{name}[{i}]"), row.len(), first.len(), "as the first row")?;
        }
        data.push(row);
    }
    Ok(Matrix::Dense(Mat::from_rows(&data)))
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
