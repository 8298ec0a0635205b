//! The work of every run of the gallery (model defaults): steps, rejected steps, evaluations, factorisations, events.
//!
//! `work.txt` holds the numbers. A change of more than a twentieth fails, in both directions: a run that became cheaper is written down, so
//! that it stays cheap. `SPECHT_WRITE_WORK=1 cargo test --test cli work` writes the file anew; the change then shows in the
//! review. Results are guarded elsewhere; this file knows nothing of them.

use crate::{Folder, err, out, root};
use serde_json::Value as Json;
use std::fmt::Write;

const FILE: &str = "crates/specht-cli/tests/cli/work.txt";
/// Allowed change: this fraction, or so many.
const FRACTION: f64 = 0.05;
/// Entries in which collisions make rounding grow, and with it what the width of the machine's vectors changes.
const LOOSE: [(&str, f64); 1] = [("domino_run", 0.3)];
const SLACK: [(&str, u64); 6] = [
    ("steps", 2),
    ("implicit", 2),
    ("rejected", 3),
    ("evaluations", 60),
    ("factorisations", 60),
    ("events", 0),
];

/// The numbers of one run, in the order of [`SLACK`].
fn work(counts: &Json) -> Vec<u64> {
    let number = |key: &str| match &counts[key] {
        Json::Object(kinds) => kinds.values().filter_map(Json::as_u64).sum(),
        x => x.as_u64().unwrap_or_else(|| panic!("counts.{key} is gone from run.json")),
    };
    SLACK.iter().map(|(key, _)| number(key)).collect()
}

fn is_near(was: u64, is: u64, slack: u64, fraction: f64) -> bool {
    was.abs_diff(is) as f64 <= (fraction * was as f64).max(slack as f64)
}

#[test]
fn no_run_of_the_gallery_works_more_or_less_than_it_did() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("gallery"))
        .unwrap()
        .flatten()
        .filter(|e| e.path().join("model.toml").exists())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let folder = Folder::new("work");
    let mut text = String::from("# entry");
    SLACK.iter().for_each(|(key, _)| write!(text, " {key}").unwrap());
    text.push('\n');
    let mut found = Vec::new();
    for name in &names {
        let output = folder.run(&["run", name, "--json"]);
        let run: Json =
            serde_json::from_str(&out(&output)).unwrap_or_else(|e| panic!("{name}: {e}\n{}", err(&output)));
        let numbers = work(&run["counts"]);
        write!(text, "{name}").unwrap();
        numbers.iter().for_each(|n| write!(text, " {n}").unwrap());
        text.push('\n');
        found.push(numbers);
    }
    let path = root().join(FILE);
    if std::env::var_os("SPECHT_WRITE_WORK").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let known: Vec<Vec<&str>> =
        known.lines().filter(|l| !l.starts_with('#')).map(|l| l.split(' ').collect()).collect();
    let mut wrong = Vec::new();
    for (name, numbers) in names.iter().zip(&found) {
        let Some(line) = known.iter().find(|l| l[0] == name) else {
            wrong.push(format!("{name}: new, {numbers:?}"));
            continue;
        };
        let fraction = LOOSE.iter().find(|l| l.0 == name).map_or(FRACTION, |l| l.1);
        for (k, (key, slack)) in SLACK.iter().enumerate() {
            let was: u64 = line.get(k + 1).and_then(|x| x.parse().ok()).unwrap_or(u64::MAX);
            if !is_near(was, numbers[k], *slack, fraction) {
                wrong.push(format!("{name}: {key} were {was}, are {}", numbers[k]));
            }
        }
    }
    wrong
        .extend(known.iter().filter(|l| !names.iter().any(|n| n == l[0])).map(|l| format!("{}: gone", l[0])));
    assert!(
        wrong.is_empty(),
        "the work of the gallery changed:\n  {}\nIf that is meant, write {FILE} anew: SPECHT_WRITE_WORK=1 cargo test --test cli work",
        wrong.join("\n  ")
    );
}

#[test]
fn a_twentieth_more_is_noticed_and_the_slack_is_not() {
    let near = |was: u64, is: u64, slack: u64| is_near(was, is, slack, FRACTION);
    assert!(near(1000, 1050, 2) && !near(1000, 1051, 2) && !near(1000, 949, 2));
    assert!(near(4, 6, 2) && !near(4, 7, 2) && near(0, 0, 0) && !near(0, 1, 0));
}
