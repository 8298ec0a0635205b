//! `specht solve PROBLEM.json`: a contact problem or an LCP, answered as JSON.

use crate::outcome::{Exit, Outcome, Refusal};
use serde_json::{Map, Value, json};
use specht::cone::{
    Contact, Law, Matrix, Method, Operator, Problem, Settings, Solver, Sparse, Stage, Status,
};
use specht::lcp::{EnumerateSettings, Lcp, Piece, Solver as LcpSolver, enumerate};
use specht::linalg::Mat;
use std::path::PathBuf;
use std::time::Instant;

/// Methods as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MethodArg {
    /// Gauss-Seidel, Newton, interior point, as needed
    Cascade,
    /// Block Gauss-Seidel with exact contacts only
    GaussSeidel,
    /// Proximal Newton only
    Newton,
    /// Interior point only
    InteriorPoint,
}

/// Arguments of `solve`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = FORMAT)]
pub struct SolveArgs {
    /// Problem file (JSON); `-` reads standard input
    pub problem: PathBuf,
    /// Accepted error in both measures (contact problems)
    #[arg(long, value_name = "E", default_value_t = 1e-8)]
    pub tolerance: f64,
    /// Method (contact problems)
    #[arg(long, value_enum, default_value = "cascade")]
    pub method: MethodArg,
    /// Stop after this many seconds with the best answer; holds for all solves of --nearest and --all together
    #[arg(long, value_name = "SECONDS")]
    pub time_limit: Option<f64>,
    /// Of several solutions take the one of slightly compliant contacts (no needless clamping); the answer says under
    /// `nearest` whether that was possible
    #[arg(long)]
    pub nearest: bool,
    /// Every solution: LCPs, and contact problems of at most 3 contacts
    #[arg(long)]
    pub all: bool,
    /// Also test the sufficient criterion for the existence of a solution
    #[arg(long)]
    pub check: bool,
}

/// The format, for `specht solve --help`.
pub const FORMAT: &str = "\
FORMAT
  Contact problem, u = W r + q:        { \"dimension\": 3, \"mu\": [...], \"W\": ..., \"q\": [...] }
  Contact problem, W = H M^-1 H':      { \"dimension\": 3, \"mu\": [...], \"M\": ..., \"H\": ..., \"v_free\": [...], \"w\": [...] }
  Complementarity problem, w = A z + b: { \"A\": ..., \"b\": [...] }

  A matrix is dense (list of rows) or sparse: { \"rows\": n, \"cols\": m, \"i\": [...], \"j\": [...], \"v\": [...] } with indices from 0.
  M may also be a list of numbers, its diagonal. dimension is 3 (rows N, T1, T2 per contact) or 2 (rows N, T).
  mu is one number per contact, or one for all when \"contacts\" gives their number. \"w\" (prescribed velocities) may be left out.
  Mixed laws: \"contacts\": [ { \"law\": \"coulomb\", \"rows\": 3, \"mu\": 0.5 }, { \"law\": \"elliptic\", \"mu\": [0.3, 0.6] },
    { \"law\": \"loaded\", \"rows\": 2, \"bound\": 1.5 }, { \"law\": \"bilateral\", \"rows\": 1 }, { \"law\": \"guide\", \"rows\": 2, \"mu\": 0.1 } ]
    instead of dimension and mu.

ANSWER (standard output)
  status (solved, not_converged, no_solution, criterion_fails), stage, iterations, error_plain, error_scaled, r, u, time (seconds),
  counts, painleve (contacts with W_NN <= mu |W_NT|), islands; certificate with no_solution; solutions with --all.
  Exit code 0: solved; 1: not; 2: the problem is wrong.";

/// Run the command.
pub fn run(args: SolveArgs) -> Outcome {
    let text = if args.problem.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).map_err(|e| Refusal::new(format!("standard input: {e}")))?
    } else {
        std::fs::read_to_string(&args.problem)
            .map_err(|e| Refusal::new(format!("cannot read {}: {e}", args.problem.display())))?
    };
    let (answer, exit) = answer(&text, &args)?;
    println!("{}", serde_json::to_string_pretty(&answer).unwrap_or_default());
    Ok(exit)
}

/// The answer to a problem given as text.
pub fn answer(text: &str, args: &SolveArgs) -> Result<(Value, Exit), Refusal> {
    let value = parse(text)?;
    let map = value.as_object().ok_or_else(|| {
        Refusal::new("the problem must be a JSON object").help("see `specht solve --help` for the format")
    })?;
    if map.contains_key("A") { solve_lcp(map, args) } else { solve_contacts(map, args) }
}

/// JSON in which NaN and Infinity (as some programs write them) become null, so that the entry can be named.
fn parse(text: &str) -> Result<Value, Refusal> {
    let text = if ["NaN", "Infinity", "nan", "inf"].iter().any(|w| text.contains(w)) {
        without_nan(text)
    } else {
        text.to_owned()
    };
    serde_json::from_str(&text).map_err(|e| Refusal::new(format!("not valid JSON: {e}")))
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

fn solve_contacts(map: &Map<String, Value>, args: &SolveArgs) -> Result<(Value, Exit), Refusal> {
    let p = read_problem(map)?;
    if args.time_limit.is_some_and(|t| !(t > 0.0)) {
        return Err(Refusal::new("--time-limit must be positive"));
    }
    let method = match args.method {
        MethodArg::Cascade => Method::Cascade,
        MethodArg::GaussSeidel => Method::GaussSeidel,
        MethodArg::Newton => Method::Newton,
        MethodArg::InteriorPoint => Method::InteriorPoint,
    };
    let sweeps = if method == Method::GaussSeidel { 100_000 } else { Settings::default().sweeps };
    let settings = Settings {
        tolerance: args.tolerance,
        method,
        time_limit: args.time_limit,
        sweeps,
        ..Default::default()
    };
    let refuse = |e: specht::cone::ProblemError| Refusal::new(e.to_string());
    let clock = Instant::now();
    let mut solver = Solver::new(settings);
    let s = if args.nearest { solver.solve_nearest(&p, &[]) } else { solver.solve(&p) }.map_err(refuse)?;
    let time = clock.elapsed().as_secs_f64();
    let mut answer = json!({
        "status": status_name(s.status),
        "stage": stage_name(s.stage),
        "iterations": s.counts.ipm + s.counts.newton + s.counts.sweeps,
        "error_plain": s.error_plain,
        "error_scaled": s.error_scaled,
        "time": time,
        "counts": {
            "sweeps": s.counts.sweeps,
            "interior_point": s.counts.ipm,
            "newton": s.counts.newton,
            "folds": s.counts.negative,
        },
        "islands": s.islands,
        "painleve": s.painleve,
        "r": s.r,
        "u": s.u,
    });
    if s.status == Status::NoSolution {
        answer["certificate"] = json!(s.certificate);
    }
    if args.nearest {
        // later stages do not start from the answer of the compliant contacts
        answer["nearest"] = json!(s.stage <= Stage::Newton);
    }
    if args.check {
        answer["existence"] = json!(match specht::cone::criterion(&p).map_err(refuse)? {
            specht::cone::Existence::Guaranteed => "guaranteed",
            specht::cone::Existence::Fails => "criterion_fails",
            specht::cone::Existence::Undecided => "undecided",
        });
    }
    if args.all {
        let left = args.time_limit.map(|t| (t - clock.elapsed().as_secs_f64()).max(0.0));
        let all = specht::cone::solve_all(&p, left).map_err(refuse)?.ok_or_else(|| {
            Refusal::new("--all needs at most 3 contacts, all with Coulomb's law")
                .help("without --all one solution is computed for any number of contacts")
        })?;
        answer["regular"] = json!(all.regular);
        answer["complete"] = json!(all.complete);
        answer["solutions"] = all.solutions.iter().map(|f| json!({ "r": f.r, "u": f.u })).collect();
    }
    Ok((answer, if s.status == Status::Solved { Exit::Done } else { Exit::Stopped }))
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
        Stage::A => "interior-point-a",
        Stage::B => "interior-point-b",
        Stage::C => "interior-point-c",
        Stage::D => "interior-point-d",
        Stage::Modes => "modes",
    }
}

/// A contact problem from its JSON object.
pub fn read_problem(map: &Map<String, Value>) -> Result<Problem, Refusal> {
    const KEYS: [&str; 9] = ["dimension", "mu", "contacts", "W", "q", "M", "H", "v_free", "w"];
    if let Some(k) =
        map.keys().find(|k| !KEYS.contains(&k.as_str()) && !["name", "comment"].contains(&k.as_str()))
    {
        return Err(
            Refusal::new(format!("unknown entry `{k}`")).help(format!("known entries: {}", KEYS.join(", ")))
        );
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
            if let Some(q) = map.get("q") {
                let _ = q;
                return Err(Refusal::new("`q` and `v_free` are both given")
                    .help("q = H v_free + w follows from v_free"));
            }
            Problem::from_bodies(mass, h, &v, w, contacts)
        }
        _ => {
            return Err(Refusal::new("the problem needs either `W` and `q`, or `M`, `H` and `v_free`")
                .help("see `specht solve --help` for the format"));
        }
    };
    problem.check().map_err(|e| Refusal::new(e.to_string()))?;
    Ok(problem)
}

fn read_contacts(map: &Map<String, Value>) -> Result<Vec<Contact>, Refusal> {
    if let Some(list) = map.get("contacts") {
        let list = list.as_array().ok_or_else(|| Refusal::new("`contacts` must be a list"))?;
        return list.iter().enumerate().map(|(i, c)| read_contact(i, c)).collect();
    }
    let d = required(map, "dimension")?.as_u64().filter(|d| (2..=3).contains(d));
    let d = d.ok_or_else(|| Refusal::new(format!("dimension is {}; it must be 2 or 3", map["dimension"])))?
        as usize;
    let mu = vector(required(map, "mu")?, "mu")?;
    Ok(mu
        .iter()
        .enumerate()
        .map(|(i, &mu)| Contact { law: Law::Coulomb { mu }, rows: d, key: i as u64 })
        .collect())
}

fn read_contact(i: usize, v: &Value) -> Result<Contact, Refusal> {
    let name = format!("contacts[{i}]");
    let c = v.as_object().ok_or_else(|| Refusal::new(format!("{name} must be an object")))?;
    let get = |key: &str| c.get(key).ok_or_else(|| Refusal::new(format!("{name} has no `{key}`")));
    let rows = |default: Option<usize>| -> Result<usize, Refusal> {
        match (c.get("rows"), default) {
            (Some(r), _) => r
                .as_u64()
                .map(|r| r as usize)
                .ok_or_else(|| Refusal::new(format!("{name}.rows is {r}; expected a whole number"))),
            (None, Some(d)) => Ok(d),
            (None, None) => Err(Refusal::new(format!("{name} has no `rows`"))),
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
        "bilateral" => (Law::Bilateral, rows(None)?),
        "guide" => {
            (Law::BilateralFriction { mu: number(get("mu")?, &format!("{name}.mu"))? }, rows(Some(3))?)
        }
        other => {
            return Err(Refusal::new(format!("{name}.law is `{other}`"))
                .help("laws: coulomb, elliptic, loaded, bilateral, guide"));
        }
    };
    let key = c.get("key").and_then(Value::as_u64).unwrap_or(i as u64);
    Ok(Contact { law, rows, key })
}

fn solve_lcp(map: &Map<String, Value>, args: &SolveArgs) -> Result<(Value, Exit), Refusal> {
    let b = vector(required(map, "b")?, "b")?;
    let n = b.len();
    let a = match matrix(&map["A"], "A", Some(n))? {
        Matrix::Dense(m) => m,
        s => Mat::from_fn(s.rows(), s.cols(), |i, j| s.get(i, j)),
    };
    sized("A (columns)", a.cols(), n, "one per entry of b")?;
    let p = Lcp::new(&a, &b);
    let mut solver = LcpSolver::default();
    let clock = Instant::now();
    let status = solver.solve(p);
    let time = clock.elapsed().as_secs_f64();
    let mut solved = status.is_solved();
    let mut answer = json!({
        "status": if solved { "solved" } else { "not_converged" },
        "stage": format!("{:?}", solver.method).to_lowercase(),
        "iterations": solver.iterations,
        "error": p.residual(&solver.z),
        "time": time,
        "z": solver.z,
        "w": solver.w,
    });
    if matches!(status, specht::lcp::Status::Ray) {
        answer["status"] = json!("ray");
    }
    if args.all {
        let time_limit = args.time_limit.map(|t| (t - clock.elapsed().as_secs_f64()).max(0.0));
        let e = enumerate(p, &EnumerateSettings { time_limit, ..EnumerateSettings::default() });
        answer["complete"] = json!(e.complete);
        answer["solutions"] = e
            .pieces
            .iter()
            .map(|x| match x {
                Piece::Point { z, w, .. } => json!({ "z": z, "w": w }),
                Piece::Family { family, .. } => json!({ "z": family.z, "w": family.w, "family": true }),
            })
            .collect();
        if e.complete && e.pieces.is_empty() {
            answer["status"] = json!("no_solution");
        } else if !solved && let Some(first) = e.pieces.first() {
            answer["status"] = json!("solved");
            answer["stage"] = json!("enumeration");
            answer["z"] = json!(first.z());
            answer["w"] = json!(first.w());
            answer["error"] = json!(p.residual(first.z()));
            solved = true;
        }
    }
    Ok((answer, if solved { Exit::Done } else { Exit::Stopped }))
}

fn required<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a Value, Refusal> {
    map.get(key).ok_or_else(|| {
        Refusal::new(format!("`{key}` is missing")).help("see `specht solve --help` for the format")
    })
}

fn sized(name: &str, found: usize, expected: usize, what: &str) -> Result<(), Refusal> {
    if found == expected {
        return Ok(());
    }
    Err(Refusal::new(format!("{name} has {found} entries, expected {expected} ({what})")))
}

fn number(v: &Value, name: &str) -> Result<f64, Refusal> {
    match v.as_f64() {
        Some(x) if x.is_finite() => Ok(x),
        _ => Err(Refusal::new(format!("{name} is {}; expected a finite number", shown(v)))),
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

fn vector(v: &Value, name: &str) -> Result<Vec<f64>, Refusal> {
    let list =
        v.as_array().ok_or_else(|| Refusal::new(format!("{name} is {}; expected a list", shown(v))))?;
    list.iter().enumerate().map(|(i, x)| number(x, &format!("{name}[{i}]"))).collect()
}

fn indices(v: &Value, name: &str) -> Result<Vec<usize>, Refusal> {
    let list =
        v.as_array().ok_or_else(|| Refusal::new(format!("{name} is {}; expected a list", shown(v))))?;
    let index = |(i, x): (usize, &Value)| {
        x.as_u64().map(|x| x as usize).ok_or_else(|| {
            Refusal::new(format!("{name}[{i}] is {}; expected a whole number from 0", shown(x)))
        })
    };
    list.iter().enumerate().map(index).collect()
}

/// Dense (list of rows), sparse (triplets) or diagonal (list of numbers).
fn matrix(v: &Value, name: &str, rows: Option<usize>) -> Result<Matrix, Refusal> {
    if let Some(o) = v.as_object() {
        let get = |key: &str| o.get(key).ok_or_else(|| Refusal::new(format!("{name} has no `{key}`")));
        let size = |key: &str| -> Result<usize, Refusal> {
            get(key)?
                .as_u64()
                .map(|x| x as usize)
                .ok_or_else(|| Refusal::new(format!("{name}.{key} must be a whole number")))
        };
        let (n, m) = (size("rows")?, size("cols")?);
        let i = indices(get("i")?, &format!("{name}.i"))?;
        let j = indices(get("j")?, &format!("{name}.j"))?;
        let x = vector(get("v")?, &format!("{name}.v"))?;
        sized(&format!("{name}.j"), j.len(), i.len(), "as many as i")?;
        sized(&format!("{name}.v"), x.len(), i.len(), "as many as i")?;
        // a matrix no machine can hold is a typing error
        if n > 50_000_000 || m > 50_000_000 {
            return Err(Refusal::new(format!("{name} is {n} x {m}: too large")));
        }
        if let Some(rows) = rows {
            sized(&format!("{name} (rows)"), n, rows, "one per row of the problem")?;
        }
        let t: Vec<(usize, usize, f64)> = (0..i.len()).map(|k| (i[k], j[k], x[k])).collect();
        return Sparse::from_triplets(n, m, &t).map(Matrix::Sparse).map_err(|k| {
            Refusal::new(format!("{name}: entry {k} is at row {}, column {}, outside {n} x {m}", i[k], j[k]))
        });
    }
    let list = v.as_array().ok_or_else(|| {
        Refusal::new(format!("{name} is {}; expected a list of rows or {{rows, cols, i, j, v}}", shown(v)))
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
#[path = "solve_tests.rs"]
mod tests;
