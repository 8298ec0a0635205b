//! Hostile texts, outputs that cannot be written, signals: nothing of it panics, and what was there stays.

use crate::page::{browser, load};
use crate::{BALL, Folder, err, out};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// Letters that end scripts, open comments, ring bells, colour terminals and turn the direction of reading.
const EVIL: &str =
    r#"</script><!--<script>document.title="ran"</script>{{DATA}}&\u001b[31mred\u0007\u0000\u202e\u009b2J"#;

fn evil() -> String {
    let quoted = EVIL.replace('"', "\\\"");
    BALL.replace(
        "name    = \"ball\"",
        &format!("name    = \"{quoted}\"\nabout = \"{quoted}\"\nsource = \"{quoted}\""),
    )
    .replace("value = 0.5,", &format!("value = 0.5, about = \"{quoted}\","))
}

fn steers(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}')
}

/// Was wrong: `<!--` in a name gave a blank page, escape codes in it reached the terminal, control characters broke the drawing.
#[test]
fn texts_of_a_file_are_escaped_for_where_they_go() {
    let folder = Folder::new("evil");
    folder.write("ball.toml", &evil());
    for args in [
        &["check", "ball.toml"][..],
        &["run", "ball.toml", "--svg", "ball.svg"],
        &["analyse", "painleve", "ball.toml", "--at-time", "1.9 s", "--out", "kept"],
        &["run", "ball.toml", "--case", "\u{1b}[2J"],
        &["run", "\u{1b}[2J.toml"],
        &["run", "ball.toml", "--set", "\u{1b}[2J=\u{7}"],
    ] {
        let output = folder.run(args);
        for text in [out(&output), err(&output)] {
            assert!(!steers(&text), "{args:?}: {text:?}");
        }
    }
    let read = |file: &str| std::fs::read_to_string(folder.0.join(file)).unwrap();
    let svg = read("ball.svg");
    assert!(!steers(&svg) && !svg.contains("<script") && svg.contains("&lt;/script&gt;"));
    let run: Value = serde_json::from_str(&read("out/ball/run.json")).unwrap();
    assert!(run["model"].as_str().unwrap().starts_with("</script><!--<script>"));
    let page = read("out/ball/report.html");
    assert!(!steers(&page) && !page.contains("<!--") && page.matches("</script").count() == 2);
    let Some(browser) = browser() else {
        eprintln!("skipped in the browser: no Chromium found");
        return;
    };
    let (dom, console) = load(browser, &folder.0.join("out/ball/report.html"), &folder.0.join("profile"));
    assert!(console.is_empty(), "{console}");
    assert!(dom.contains("data-ready=\"yes\"") && !dom.contains("<title>ran"));
}

/// A file that is not TOML is shown with its line; what steers a terminal in it is not.
#[test]
fn a_broken_line_is_shown_without_what_steers_the_terminal() {
    let folder = Folder::new("escape");
    folder.write("bad.toml", "name = \"\u{1b}[31mred\"\n");
    let output = folder.run(&["check", "bad.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!steers(&err(&output)) && err(&output).contains("bad.toml:1"), "{}", err(&output));
}

fn shell(folder: &Folder, line: &str) -> Option<i32> {
    let program = env!("CARGO_BIN_EXE_specht");
    let line = line.replace("specht", &format!("'{program}'"));
    let output =
        Command::new("bash").arg("-c").arg(line).current_dir(&folder.0).stdin(Stdio::null()).output();
    let output = output.expect("a shell");
    let said = format!("{}{}", out(&output), err(&output));
    assert!(!said.contains("panicked") && !said.contains("bug in specht"), "{said}");
    output.status.code()
}

/// Was wrong: a panic, or exit code 0 although nothing was written.
#[cfg(target_os = "linux")]
#[test]
fn closed_and_full_outputs_end_quietly_or_with_a_sentence() {
    let folder = Folder::new("full");
    folder.write("ball.toml", BALL);
    assert_eq!(shell(&folder, "specht problem lattice --size 2 --out small.json"), Some(0));
    for command in [
        "--help",
        "--version",
        "completions bash",
        "schema",
        "explain",
        "explain units",
        "gallery",
        "gallery rod --show",
        "check ball.toml",
        "run ball.toml",
        "run ball.toml --json",
        "verify incline",
        "analyse rest wedge --json",
        "problem lattice --size 2",
        "solve small.json",
    ] {
        assert_eq!(shell(&folder, &format!("specht {command} > /dev/full")), Some(2), "{command}");
        // the reader is gone before the first letter
        let closed = format!("specht {command} | true; exit ${{PIPESTATUS[0]}}");
        assert_eq!(shell(&folder, &closed), Some(0), "{command}");
        assert!(shell(&folder, &format!("specht {command} 2>&- >&-")).is_some(), "{command}");
    }
    for command in ["run nothing", "check", "solve nothing.json", "explain nothing"] {
        assert_eq!(shell(&folder, &format!("specht {command} 2> /dev/full")), Some(2), "{command}");
    }
}

/// Was wrong: `problem --out` left half a file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_whole_is_not_there() {
    let folder = Folder::new("half");
    let line = "trap '' XFSZ; ulimit -f 8; specht problem lattice --size 3 --out big.json";
    assert_eq!(shell(&folder, line), Some(2));
    assert_eq!(shell(&folder, "trap '' XFSZ; ulimit -f 8; specht run woodpecker --out kept"), Some(2));
    let left: Vec<_> = walk(&folder.0);
    assert!(left.is_empty(), "{left:?}");
    // a device is written to, not replaced
    assert_eq!(shell(&folder, "specht run rod --svg /dev/null"), Some(0));
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            out.extend(walk(&entry.path()));
        } else {
            out.push(entry.path());
        }
    }
    out
}

#[test]
fn nothing_of_somebody_else_is_overwritten() {
    let folder = Folder::new("mine");
    folder.write("ball.toml", BALL);
    std::fs::create_dir_all(folder.0.join("out/ball")).unwrap();
    folder.write("out/ball/report.html", "my own report");
    let output = folder.run(&["run", "ball.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("not written by specht"), "{}", err(&output));
    assert_eq!(std::fs::read_to_string(folder.0.join("out/ball/report.html")).unwrap(), "my own report");
    // its own files it may replace
    for _ in 0..2 {
        let output = folder.run(&["run", "ball.toml", "--out", "other", "--svg", "ball.svg"]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    }
    folder.write("notes.svg", "<svg/>");
    assert_eq!(
        folder.run(&["run", "ball.toml", "--out", "other", "--svg", "notes.svg"]).status.code(),
        Some(2)
    );
}

/// A ball that never stops bouncing: long enough to be interrupted.
fn endless() -> String {
    BALL.replace("e  = { value = 0.5, range = [0, 1] }", "e = 1")
        .replace("until = \"2 s\"", "until = \"1e6 s\"")
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_run_and_keeps_what_is_there() {
    for signal in ["INT", "TERM"] {
        let folder = Folder::new(&format!("signal-{signal}"));
        folder.write("ball.toml", &endless());
        let mut child = Command::new(env!("CARGO_BIN_EXE_specht"))
            .args(["run", "ball.toml"])
            .current_dir(&folder.0)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(700));
        let sent =
            Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(child.wait().unwrap().code(), Some(1), "{signal}");
        let text = std::fs::read_to_string(folder.0.join("out/ball/run.json")).unwrap();
        let run: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(run["status"], "interrupted");
        assert!(run["time"].as_f64().unwrap() > 0.0 && run["events"].as_array().unwrap().len() > 3);
        assert_eq!(run["audit"]["passed"], true, "{}", run["audit"]);
        for file in ["report.html", "trajectory.csv"] {
            assert!(folder.0.join("out/ball").join(file).is_file(), "{file}");
        }
    }
}

/// The answer so far is printed, with its errors.
#[cfg(unix)]
#[test]
fn a_signal_ends_a_search_with_its_best_answer() {
    let folder = Folder::new("signal-solve");
    assert_eq!(folder.run(&["problem", "lattice", "--size", "5", "--out", "p.json"]).status.code(), Some(0));
    let child = Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(["solve", "p.json", "--tolerance", "1e-14"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(900));
    let _ = Command::new("kill").args(["-INT".to_string(), child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_str(&out(&output)).expect("an answer");
    assert!(answer["status"] == "not_converged" || answer["status"] == "solved", "{}", answer["status"]);
    assert!(answer["r"].as_array().is_some_and(|r| r.len() > 1000) && answer["error_scaled"].is_number());
}

/// Was wrong: these messages named no place, or a wrong remedy.
#[test]
fn what_cannot_start_is_said_at_its_place() {
    let crank = r#"
name = "crank longer than the rod"
parameters = { r = "0.3 m", l = "0.1 m" }
[coordinates]
phi = "90 deg"
x = { guess = "0.3 m" }
psi = { guess = 0 }
[[body]]
name = "crank"
mass = "1 kg"
inertia = "0.01 kg*m^2"
position = [0, 0]
angle = "phi"
features = { pin = ["r", 0] }
[[body]]
name = "rod"
mass = "1 kg"
inertia = "0.01 kg*m^2"
position = ["x", 0]
angle = "psi"
features = { pin = ["-l", 0] }
[[contact]]
name = "joint"
pin = ["crank.pin", "rod.pin"]
[run]
until = "1 s"
"#;
    let by_formula = r#"
name = "the same by a formula"
parameters = { r = "0.3 m", l = "0.1 m" }
[coordinates]
phi = { start = "90 deg", rate = "1 rad/s" }
[[body]]
name = "piston"
mass = "1 kg"
position = ["r*cos(phi) + sqrt(l^2 - (r*sin(phi))^2)", 0]
[run]
until = "1 s"
"#;
    let falling = r#"
name = "no equilibrium"
gravity = [0, -9.81]
coordinates = { y = 0 }
body = [{ name = "b", mass = "1 kg", position = [0, "y"] }]
start = { equilibrium = true }
run = { until = "1 s" }
"#;
    for (name, text, said) in [
        ("loop", crank, &["m.toml:23:8", "cannot close", "0.200 m", "x, psi", "check the lengths"][..]),
        ("formula", by_formula, &["m.toml:7:8", "piston", "too short for the geometry to close"]),
        ("falling", falling, &["m.toml:6:11", "no equilibrium", "balance"]),
    ] {
        let folder = Folder::new(name);
        folder.write("m.toml", text);
        let output = folder.run(&["run", "m.toml"]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        for part in said {
            assert!(err(&output).contains(part), "{part}: {}", err(&output));
        }
    }
    let folder = Folder::new("latin");
    std::fs::write(folder.0.join("m.toml"), b"name = 1\n# caf\xe9\n").unwrap();
    let output = folder.run(&["run", "m.toml"]);
    assert!(err(&output).contains("m.toml:2:6") && err(&output).contains("UTF-8"), "{}", err(&output));
}

/// Was wrong: a crank that meets its dead end because the rod is too short read as a step size that fell.
#[test]
fn a_motion_that_reaches_the_end_of_its_geometry_says_so() {
    let folder = Folder::new("dead_end");
    let output = folder.run(&["run", "crank", "--set", "l=0.05", "--no-tasks"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("the position of body `slider` has no value"), "{}", out(&output));
    assert!(out(&output).contains("the geometry cannot close there"));
}

/// Was wrong: `...toml` wrote into the folder above `out`.
#[test]
fn no_name_of_a_file_leads_out_of_the_output_folder() {
    let folder = Folder::new("dots");
    folder.write("...toml", BALL);
    assert_eq!(folder.run(&["run", "...toml"]).status.code(), Some(0));
    assert!(folder.0.join("out/model/report.html").is_file() && !folder.0.join("report.html").exists());
}
