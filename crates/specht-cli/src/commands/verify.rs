//! `specht verify`: runs gallery entries and compares with what is expected of a correct program.
//!
//! Every distinct way of running an entry (case, parameters, end time, scheme) is run once. Entries run in parallel; the
//! results do not depend on the number of threads.

use crate::args::VerifyArgs;
use crate::embedded::GALLERY;
use crate::expected::{Check, Setup, Verdict, by_setup, compare, read};
use crate::outcome::{Exit, Outcome, Refusal};
use crate::progress::{Progress, interrupted};
use crate::session::{Request, execute, prepare, time};
use crate::source::Source;
use crate::tasks;
use crate::text::print;
use anstyle::{AnsiColor, Style};
use rayon::prelude::*;
use serde_json::{Value as Json, json};
use specht::machine::address::Data;
use specht::sim::Scheme;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Result of one check: the comparison, or why there is none.
struct Line {
    check: Check,
    result: Result<Verdict, String>,
}

/// Results of one entry.
struct Entry {
    name: String,
    lines: Vec<Line>,
    /// Audits that failed, by way of running.
    audits: Vec<String>,
    runs: usize,
    seconds: f64,
}

impl Entry {
    fn passed(&self) -> usize {
        self.lines.iter().filter(|l| l.result.as_ref().is_ok_and(|v| v.passed)).count()
    }

    fn good(&self) -> bool {
        self.passed() == self.lines.len() && self.audits.is_empty()
    }
}

/// Compare and print the table.
pub fn run(args: VerifyArgs) -> Outcome {
    let names: Vec<String> = match args.names.is_empty() {
        true => GALLERY
            .iter()
            .filter(|(_, files)| files.iter().any(|(file, _)| *file == "expected.toml"))
            .map(|(name, _)| name.to_string())
            .collect(),
        false => args.names.clone(),
    };
    let jobs = names
        .iter()
        .map(|name| {
            let source = Source::find(name)?;
            let text = source.beside("expected.toml")?;
            let checks = read(&text).map_err(|e| Refusal::new(format!("{name}: expected.toml: {e}")))?;
            Ok((source, checks))
        })
        .collect::<Result<Vec<_>, Refusal>>()?;
    let done = AtomicUsize::new(0);
    let line = Mutex::new(Progress::new("verify"));
    let count = jobs.len();
    let entries: Vec<Entry> = jobs
        .into_par_iter()
        .map(|(source, checks)| {
            let name = source.name.clone();
            let entry = entry(source, checks);
            let n = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Ok(mut line) = line.lock() {
                line.now(n as f64 / count as f64, || name);
            }
            entry
        })
        .collect();
    drop(line);
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&as_json(&entries)).unwrap_or_default()))?;
    } else {
        print(&table(&entries, args.verbose))?;
    }
    if interrupted() {
        return Ok(Exit::Stopped);
    }
    Ok(if entries.iter().all(Entry::good) { Exit::Done } else { Exit::Stopped })
}

fn entry(source: Source, checks: Vec<Check>) -> Entry {
    let begun = Instant::now();
    let groups: Vec<(Setup, Vec<usize>)> = by_setup(&checks).into_iter().collect();
    let results: Vec<Found> = groups
        .par_iter()
        .map(|(setup, members)| match one_run(&source, setup, members, &checks) {
            Ok(found) => found,
            Err(why) => (members.iter().map(|k| (*k, Err(why.clone()))).collect(), None),
        })
        .collect();
    let mut lines: Vec<Option<Line>> = checks.iter().map(|_| None).collect();
    let mut audits = Vec::new();
    for (found, audit) in results {
        audits.extend(audit);
        for (k, result) in found {
            lines[k] = Some(Line { check: checks[k].clone(), result });
        }
    }
    Entry {
        name: source.name,
        runs: groups.len(),
        lines: lines.into_iter().flatten().collect(),
        audits,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// Verdicts by number of the check, and the audit if it failed.
type Found = (Vec<(usize, Result<Verdict, String>)>, Option<String>);

/// One way of running and all its checks; tasks run only when a check asks for findings.
fn one_run(source: &Source, setup: &Setup, members: &[usize], checks: &[Check]) -> Result<Found, String> {
    let plain = |r: Refusal| crate::text::plain(&r.message);
    let mut source = source.clone();
    source.text += setup.ask.as_deref().unwrap_or_default();
    let mut request = Request {
        source,
        set: setup.set.clone(),
        case: setup.case.clone(),
        setup: specht::machine::Setup {
            until: setup.until.as_deref().map(|t| time("until", t)).transpose().map_err(plain)?,
            step: setup.step.as_deref().map(|t| time("step", t)).transpose().map_err(plain)?,
            ..Default::default()
        },
    };
    request.setup.scheme = match setup.scheme.as_deref() {
        None => None,
        Some("event") => Some(Scheme::Event),
        Some("step") => Some(Scheme::Step),
        Some(other) => return Err(format!("scheme = \"{other}\": write \"event\" or \"step\"")),
    };
    let prepared = prepare(request).map_err(plain)?;
    let mut finished = execute(&prepared).map_err(plain)?;
    let mentions = |k: &&usize| {
        let value = match &checks[**k].value {
            crate::expected::Target::Text(text) => text.as_str(),
            _ => "",
        };
        checks[**k].take.contains("findings") || value.contains("findings")
    };
    if setup.ask.is_some() {
        // the question that was asked, which stands last
        tasks::run_some(
            &prepared.machine,
            prepared.machine.model().tasks.iter().rev().take(1),
            &mut finished.json,
        );
    } else if members.iter().any(|k| mentions(&k)) {
        tasks::run_all(&prepared.machine, &mut finished.json);
    }
    let data = Data { run: &finished.json, table: &finished.table, locals: &[] };
    let found = members.iter().map(|k| (*k, compare(&checks[*k], &data))).collect();
    let audit = &finished.trajectory().audit;
    let failed = (!audit.passed).then(|| format!("{}: {}", described(setup), audit.remarks.join("; ")));
    Ok((found, failed))
}

/// A way of running in words.
fn described(setup: &Setup) -> String {
    let mut parts = Vec::new();
    parts.extend(setup.case.as_ref().map(|c| format!("case {c}")));
    parts.extend(setup.set.iter().map(|(n, v)| format!("{n}={v}")));
    parts.extend(setup.until.as_ref().map(|u| format!("until {u}")));
    parts.extend(setup.scheme.as_ref().map(|s| format!("scheme {s}")));
    parts.extend(setup.ask.as_ref().map(|_| "with a question of its own".to_string()));
    if parts.is_empty() { "as written".into() } else { parts.join(", ") }
}

fn table(entries: &[Entry], verbose: bool) -> String {
    let good = Style::new().fg_color(Some(AnsiColor::Green.into()));
    let bad = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let mark = |ok: bool| if ok { format!("{good}ok{good:#}  ") } else { format!("{bad}FAIL{bad:#}") };
    let width = entries.iter().map(|e| e.name.len()).max().unwrap_or(0);
    let mut out = String::new();
    let (mut passed, mut total, mut runs) = (0, 0, 0);
    for e in entries {
        passed += e.passed();
        total += e.lines.len();
        runs += e.runs;
        out += &format!(
            "{} {:width$}  {:>3}/{:<3} checks  {:>2} runs  {:>6.2} s\n",
            mark(e.good()),
            e.name,
            e.passed(),
            e.lines.len(),
            e.runs,
            e.seconds
        );
        for line in &e.lines {
            let ok = line.result.as_ref().is_ok_and(|v| v.passed);
            if ok && !verbose {
                continue;
            }
            let c = &line.check;
            out += &format!("     {} {}  {}  ({})\n", mark(ok), c.id, c.take, described(&c.setup));
            match &line.result {
                Ok(v) => {
                    out += &format!(
                        "          found {}, expected {}, deviation {}",
                        v.found, v.expected, v.deviation
                    );
                    out += &v.share.map(|s| format!(" = {s:.2} of what is allowed\n")).unwrap_or("\n".into());
                }
                Err(why) => out += &format!("          {}\n", why.trim_end().replace('\n', "\n          ")),
            }
            if !ok {
                out += &format!("          source: {}, line {} of expected.toml\n", c.source, c.line);
            }
        }
        for audit in &e.audits {
            out += &format!("     {} audit ({audit})\n", mark(false));
        }
    }
    let audits: usize = entries.iter().map(|e| e.audits.len()).sum();
    out += &format!(
        "{passed} of {total} checks passed in {} entries, {runs} runs; {} audits failed\n",
        entries.len(),
        audits
    );
    out
}

fn as_json(entries: &[Entry]) -> Json {
    let line = |l: &Line| {
        let c = &l.check;
        let (passed, found, expected, deviation, error) = match &l.result {
            Ok(v) => (v.passed, json!(v.found), json!(v.expected), json!(v.deviation), Json::Null),
            Err(why) => (false, Json::Null, Json::Null, Json::Null, json!(why)),
        };
        json!({ "id": c.id, "run": described(&c.setup), "take": c.take, "passed": passed, "found": found,
                "expected": expected, "deviation": deviation, "error": error, "source": c.source })
    };
    let list: Vec<Json> = entries
        .iter()
        .map(|e| {
            json!({ "entry": e.name, "passed": e.good(), "runs": e.runs, "audits": e.audits,
                    "checks": e.lines.iter().map(line).collect::<Vec<_>>() })
        })
        .collect();
    json!({ "passed": entries.iter().all(Entry::good), "entries": list })
}
