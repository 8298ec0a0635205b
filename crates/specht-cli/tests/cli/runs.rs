//! Runs and their files.

use crate::{BALL, Folder, err, out};
use serde_json::Value;

fn run_json(text: &str) -> Value {
    serde_json::from_str(text).expect("run.json is JSON")
}

#[test]
fn json_goes_to_standard_output_and_keeps_the_contract() {
    let folder = Folder::new("json");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["run", "ball.toml", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let run = run_json(&out(&output));
    for key in [
        "model",
        "version",
        "settings",
        "status",
        "time",
        "parameters",
        "start",
        "final",
        "outputs",
        "events",
        "findings",
        "audit",
        "counts",
    ] {
        assert!(!run[key].is_null(), "{key}");
    }
    assert_eq!(run["status"], "finished");
    assert_eq!(run["time"], 2.0);
    assert_eq!(run["parameters"]["e"], 0.5);
    assert_eq!(run["start"]["x'"], 0.5);
    assert_eq!(run["start"]["bounce"]["mode"], "open");
    assert_eq!(run["start"]["solutions"].as_array().unwrap().len(), 1);
    assert_eq!(run["audit"]["passed"], true);
    let first = &run["events"][0];
    assert_eq!(first["kind"], "impact");
    assert_eq!(first["contacts"][0], "bounce");
    // free fall from 1 m: t = √(2h/g), Λ = m v (1 + ε)
    let (t, v) = ((2.0f64 / 9.81).sqrt(), (2.0f64 * 9.81).sqrt());
    assert!((first["time"].as_f64().unwrap() - t).abs() < 1e-9 * t);
    assert!((first["impulse_n"]["bounce"].as_f64().unwrap() - 1.5 * v).abs() < 1e-8 * v);
    assert!((first["before"]["y'"].as_f64().unwrap() + v).abs() < 1e-8 * v);
    assert!((first["after"]["y'"].as_f64().unwrap() - 0.5 * v).abs() < 1e-8 * v);
    assert_eq!(run["counts"]["events"]["accumulated"], 1);
    assert!(!folder.0.join("out").exists(), "--json alone writes no files");
}

#[test]
fn a_run_writes_three_whole_files_and_nothing_else() {
    let folder = Folder::new("files");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["run", "ball.toml", "--svg", "ball.svg"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let mut names: Vec<String> = std::fs::read_dir(folder.0.join("out/ball"))
        .unwrap()
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["report.html", "run.json", "trajectory.csv"]);
    let read = |file: &str| std::fs::read_to_string(folder.0.join("out/ball").join(file)).unwrap();
    let run = run_json(&read("run.json"));

    // the table has the columns of the contract, and its last row is `final`
    let csv = read("trajectory.csv");
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(
        header,
        [
            "t [s]",
            "x [m]",
            "y [m]",
            "phi [rad]",
            "x' [m/s]",
            "y' [m/s]",
            "phi' [rad/s]",
            "height [m]",
            "bounce.mode",
            "bounce.normal [N]",
            "bounce.tangential [N]",
            "bounce.gap [m]",
            "bounce.slip [m/s]"
        ]
    );
    let last: Vec<&str> = csv.lines().last().unwrap().split(',').collect();
    assert_eq!(last[0].parse::<f64>().unwrap(), 2.0);
    assert_eq!(last[1].parse::<f64>().unwrap().to_bits(), run["final"]["x"].as_f64().unwrap().to_bits());
    let times: Vec<f64> =
        csv.lines().skip(1).map(|l| l.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(times.windows(2).all(|w| w[0] <= w[1]));
    let impact = run["events"][0]["time"].as_f64().unwrap();
    assert!(times.iter().filter(|t| **t == impact).count() >= 2, "both sides of an event are recorded");

    // the page is complete and needs no network
    let page = read("report.html");
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    assert!(!page.contains("{{") && !page.contains("src=\"http") && !page.contains("href=\"http"));
    let svg = std::fs::read_to_string(folder.0.join("ball.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>") && !svg.contains("NaN"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::new("bytes");
    folder.write("ball.toml", BALL);
    let first = out(&folder.run(&["run", "ball.toml", "--json"]));
    assert_eq!(first, out(&folder.run(&["run", "ball.toml", "--json"])));
}

#[test]
fn parameters_cases_and_end_time_come_from_the_command_line() {
    let folder = Folder::new("set");
    folder.write("ball.toml", BALL);
    let output = folder.run(&[
        "run",
        "ball.toml",
        "--json",
        "--set",
        "r=50 mm",
        "--case",
        "hard",
        "--until",
        "100 ms",
    ]);
    let run = run_json(&out(&output));
    assert_eq!(run["parameters"]["r"], 0.05);
    assert_eq!(run["parameters"]["e"], 0.9);
    assert_eq!(run["time"], 0.1);
    assert_eq!(run["case"], "hard");
}

#[test]
fn verify_compares_with_expected_toml_and_fails_with_exit_code_1() {
    let folder = Folder::new("verify");
    std::fs::create_dir(folder.0.join("ball")).unwrap();
    folder.write("ball/model.toml", BALL);
    let good = r#"
[[check]]
id     = "FALL"
take   = "events[kind=impact][1].time"
value  = "sqrt(2/9.81)"
source = "free fall"

[[check]]
id     = "REST"
take   = "events[kind=accumulated][1].time"
value  = "sqrt(2/9.81)*(1 + parameters.e)/(1 - parameters.e)"
within = "1e-7 %"
source = "geometric series"

[[check]]
id     = "FALL"
set    = { e = 0.25 }
take   = "max(outputs.height, events[kind=impact][1].time, events[kind=impact][2].time)"
value  = 0.0625
within = "0.2 %"
source = "ε² h"
"#;
    folder.write("ball/expected.toml", good);
    let output = folder.run(&["verify", "ball"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    assert!(out(&output).contains("3 of 3 checks passed in 1 entries, 2 runs"), "{}", out(&output));

    folder.write("ball/expected.toml", &good.replace("0.0625", "0.0635"));
    let output = folder.run(&["verify", "ball"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("FAIL") && out(&output).contains("expected 0.0635"), "{}", out(&output));
    let json = folder.run(&["verify", "ball", "--json"]);
    assert_eq!(run_json(&out(&json))["passed"], false);

    folder.write("ball/expected.toml", &good.replace("take ", "tak "));
    assert_eq!(folder.run(&["verify", "ball"]).status.code(), Some(2));
}

#[test]
fn the_time_stepping_scheme_runs_from_the_command_line() {
    let folder = Folder::new("step");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["run", "ball.toml", "--json", "--scheme", "step", "--step", "0.1 ms"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let run = run_json(&out(&output));
    assert_eq!(run["settings"]["scheme"], "step");
    assert_eq!(run["settings"]["step"], 1e-4);
    // order one: the ball lies on the floor at the end, to a few steps
    assert!(run["final"]["y"].as_f64().unwrap() - 0.1 < 1e-3);
}

#[test]
fn the_method_is_taken_from_the_file_or_the_command_line() {
    let folder = Folder::new("method");
    folder.write("ball.toml", BALL);
    folder.write("stiff.toml", &BALL.replace("until = \"2 s\"", "until = \"2 s\"\nmethod = \"implicit\""));
    let counts = |arguments: &[&str]| {
        let output = folder.run(&[&["run", "--json"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        let run = run_json(&out(&output));
        let number = |key: &str| run["counts"][key].as_u64().unwrap();
        let method = run["settings"]["method"].as_str().unwrap().to_string();
        (method, number("steps"), number("implicit"), run["final"]["y"].as_f64().unwrap())
    };
    let (method, _, implicit, y) = counts(&["ball.toml", "--method", "explicit"]);
    assert_eq!((method.as_str(), implicit), ("explicit", 0));
    let (method, steps, implicit, same) = counts(&["stiff.toml"]);
    assert_eq!((method.as_str(), implicit), ("implicit", steps));
    assert!((y - same).abs() < 1e-9, "{y} {same}");
    let (method, ..) = counts(&["stiff.toml", "--method", "auto"]);
    assert_eq!(method, "auto");
    let output = folder.run(&["run", "ball.toml", "--method", "fast"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("auto, explicit, implicit"), "{}", err(&output));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let folder = Folder::new("blocked");
    folder.write("ball.toml", BALL);
    folder.write("out", "a file where the folder should be");
    let output = folder.run(&["run", "ball.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("cannot write"), "{}", err(&output));
}

/// Ctrl-C ends a long run, which then writes what it has.
#[cfg(unix)]
#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let folder = Folder::new("interrupt");
    folder.write(
        "long.toml",
        &BALL
            .replace("until = \"2 s\"", "until = 1e9\nevery = 1e4")
            .replace("restitution = \"e\"", "restitution = 1"),
    );
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(["run", "long.toml"])
        .current_dir(&folder.0)
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", out(&output), err(&output));
    let run = run_json(&std::fs::read_to_string(folder.0.join("out/long/run.json")).unwrap());
    assert!(run["message"].as_str().unwrap().contains("interrupted"), "{}", run["message"]);
    assert!(run["time"].as_f64().unwrap() > 0.0);
}

/// The whole gallery passes: every published number, every audit; the same bytes with one and two threads.
#[test]
fn the_whole_gallery_passes_with_the_same_bytes_for_any_number_of_threads() {
    let folder = Folder::new("threads");
    let with = |threads: &str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_specht"))
            .args(["verify", "--json"])
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(&folder.0)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "run `specht verify` to see what fails");
        out(&output)
    };
    let one = with("1");
    assert!(run_json(&one)["entries"].as_array().is_some_and(|list| list.len() >= 54));
    assert_eq!(one, with("2"));
}

/// Was wrong: the parameter of a curve took the memory of four thousand million numbers when it was drawn.
#[test]
fn a_model_with_a_curve_is_drawn() {
    let folder = Folder::new("curve");
    let output = folder.run(&["run", "parabola", "--svg", "picture.svg"]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let picture = std::fs::read_to_string(folder.0.join("picture.svg")).unwrap();
    assert!(picture.contains("<polyline") && picture.len() < 60_000, "{} bytes", picture.len());
}

/// A run whose numbers are not to be trusted says so to programs too.
#[test]
fn a_failed_audit_sets_the_exit_code_and_nan_is_never_passed() {
    let folder = Folder::new("audit");
    let model = |friction: &str| {
        format!(
            "[coordinates]\nx = {{ start = 0, rate = 3 }}\n[[body]]\nname = \"block\"\nmass = 2\nposition = [\"x\", 0]\n\
             [[contact]]\nname = \"rub\"\nslip = \"x'\"\nfriction_force = \"{friction}\"\n[run]\nuntil = 1\n"
        )
    };
    folder.write("good.toml", &model("4"));
    let output = folder.run(&["run", "good.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("audit   passed"));
    // a formula that has no value: whatever else is said, not "passed", and not exit code 0
    folder.write("nan.toml", &model("4*min(1, t/(t - t))"));
    let output = folder.run(&["run", "nan.toml"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(!out(&output).contains("passed"), "{}", out(&output));
    // time steps far too long for the spring
    let stiff = model("4").replace("[run]", "[[force]]\nalong = \"x\"\nspring = 1e5\n[run]");
    folder.write("stiff.toml", &stiff);
    let output = folder.run(&["run", "stiff.toml", "--scheme", "step", "--step", "0.02"]);
    let text = out(&output);
    assert_eq!(output.status.code() == Some(0), text.contains("audit   passed"), "{text}");
}
