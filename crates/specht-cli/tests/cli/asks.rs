//! Questions about models: states, runs, maps; and questions that cannot be answered.

use crate::{BALL, Folder, err, out, root, specht_in};
use serde_json::Value;

fn ask(args: &[&str]) -> Value {
    let output = specht_in(&root(), args);
    assert_eq!(output.status.code(), Some(0), "{args:?}\n{}", err(&output));
    serde_json::from_str(&out(&output)).unwrap_or_else(|e| panic!("{args:?}: {e}\n{}", out(&output)))
}

fn close(a: &Value, b: f64, tolerance: f64) {
    let a = a.as_f64().unwrap_or_else(|| panic!("{a} is no number"));
    assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} {b}");
}

/// PG-5.3-ROD: μ_crit = (1 + 3 cos²φ)/(3 sin φ cos φ).
fn rod_critical(phi: f64) -> f64 {
    (1.0 + 3.0 * phi.cos().powi(2)) / (3.0 * phi.sin() * phi.cos())
}

#[test]
fn painleve_answers_at_the_start_at_a_state_and_at_an_instant() {
    let f = ask(&["analyse", "painleve", "rod", "--json"]);
    assert_eq!(f["verdict"], "unique");
    close(&f["critical_mu"], rod_critical(30_f64.to_radians()), 1e-12);
    // another state: the height of the rod follows its closed contact
    let f = ask(&["analyse", "painleve", "rod", "--json", "--at", "phi=40 deg", "--at", "phi'=-1"]);
    close(&f["critical_mu"], rod_critical(40_f64.to_radians()), 1e-12);
    close(&f["state"]["y"], 40_f64.to_radians().sin(), 1e-12);
    close(&f["state"]["phi'"], -1.0, 0.0);
    // an instant of the run; ANH-3.6-CRANK: R vanishes first at t = 0.075812 s, q = 1.407347
    let f = ask(&["analyse", "painleve", "crank", "--json", "--at-time", "75.812 ms"]);
    close(&f["state"]["q"], 1.407347, 1e-5);
    assert!(f["frictionless"].as_f64().unwrap().abs() < 1e-2, "{}", f["frictionless"]);
    // words
    let output = specht_in(&root(), &["analyse", "painleve", "rod"]);
    for word in ["one solution", "critical μ", "2.50185", "specht explain painleve"] {
        assert!(out(&output).contains(word), "{word}:\n{}", out(&output));
    }
}

#[test]
fn painleve_follows_a_run() {
    let folder = Folder::new("along");
    let output =
        folder.run(&["analyse", "painleve", "crank", "--along", "--until", "0.5 s", "--out", "kept"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("0 … 0.5 s  one solution"), "{}", out(&output));
    let text = std::fs::read_to_string(folder.0.join("kept/painleve.json")).unwrap();
    let f: Value = serde_json::from_str(&text).unwrap();
    close(&f["borders"][0]["time"], 0.075812, 1e-5);
    close(&f["nearest"]["rub"]["critical_mu"], 1.0 / 0.50732, 1e-5);
    assert_eq!(f["spans"].as_array().unwrap().len(), 1);
    let rows = f["series"]["t"].as_array().unwrap().len();
    assert_eq!(f["series"]["verdict"].as_str().unwrap().len(), rows);
    assert!(std::fs::read_to_string(folder.0.join("kept/painleve.svg")).unwrap().ends_with("</svg>\n"));
    // a run that meets the border says where to read on
    let output = specht_in(&root(), &["analyse", "painleve", "quick_return", "--case", "funnel", "--along"]);
    assert!(out(&output).contains("border μ|L| = 1 of slot"), "{}", out(&output));
}

#[test]
fn maps_run_over_parameters_coordinates_and_velocities_with_cases_and_files_of_others() {
    let f = ask(&[
        "analyse",
        "painleve",
        "rod",
        "--json",
        "--over",
        "phi=5 deg..85 deg:30",
        "--over",
        "mu=0.5..3:20",
    ]);
    let points = f["borders"][0]["points"].as_array().unwrap();
    assert!(points.len() > 30 && f["borders"][0]["kind"] == "index");
    for p in points {
        close(&p[1], rod_critical(p[0].as_f64().unwrap()), 1e-6);
    }
    // velocities; the case counts: 75 degrees is a paradox, mu L > 1
    let f = ask(&[
        "analyse",
        "painleve",
        "painleve_klein",
        "--json",
        "--case",
        "paradox",
        "--over",
        "q'=-2..2:8",
        "--over",
        "q=0..1:3",
    ]);
    assert_eq!((f["counts"]["none"].as_u64(), f["counts"]["several"].as_u64()), (Some(12), Some(12)));
    // a file of the user with a table of tasks
    let folder = Folder::new("map");
    let text = std::fs::read_to_string(root().join("gallery/painleve_klein/model.toml")).unwrap();
    let task = "\n[[task]]\nname = \"mine\"\nanalyse = \"painleve\"\ncase = \"paradox\"\nover = { \"q'\" = [-2, 2, 8] }\n\
        [[task]]\nname = \"way\"\nanalyse = \"painleve\"\nalong = true\n\
        [[task]]\nname = \"later\"\nanalyse = \"painleve\"\nat_time = \"0.1 s\"\n";
    folder.write("mine.toml", &(text + task));
    let run = folder.run(&["run", "mine.toml", "--json"]);
    let run: Value = serde_json::from_str(&out(&run)).unwrap();
    assert_eq!(run["findings"]["mine"]["counts"]["none"], 4);
    assert_eq!(run["findings"]["way"]["verdict"], "unique");
    close(&run["findings"]["later"]["time"], 0.1, 1e-12);
}

#[test]
fn questions_without_answer_are_refused_with_a_remedy() {
    let folder = Folder::new("bad");
    folder.write("slippery.toml", &crate::BALL.replace("friction    = \"mu\"\n", ""));
    folder.write("ball.toml", crate::BALL);
    folder.write("stuck.toml", STUCK);
    folder.write("massless.toml", MASSLESS);
    let cases: &[(&[&str], &[&str])] = &[
        (&["painleve", "slippery.toml"], &["no contact of the model has friction", "friction = 0.2"]),
        (
            &["painleve", "slippery.toml", "--contact", "bounce"],
            &["`bounce` has no friction", "slippery.toml:27", "give it  friction"],
        ),
        (&["painleve", "ball.toml", "--contact", "bonce"], &["no contact `bonce`", "did you mean `bounce`?"]),
        (
            &["painleve", "ball.toml", "--contact", "bounce"],
            &["`bounce` is open", "closed = [\"bounce\"]", "ball.toml:27"],
        ),
        (&["painleve", "rod", "--over", "nu=0..1:3"], &["`nu`", "did you mean `mu`?"]),
        (&["painleve", "rod", "--over", "phy=0..1:3"], &["`phy`", "did you mean `phi`?"]),
        (&["painleve", "rod", "--at", "psi=1"], &["`psi`", "did you mean `phi`?"]),
        (&["painleve", "rod", "--at", "mu=1"], &["`mu` is a parameter", "--set mu"]),
        (&["painleve", "rod", "--at", "phi"], &["not understood", "--at \"phi=60 deg\""]),
        (&["painleve", "rod", "--at", "phi=NaN"], &["finite"]),
        (&["painleve", "rod", "--at-time", "soon"], &["--at-time"]),
        (&["painleve", "rod", "--at-time", "-1"], &["there is no instant"]),
        (&["painleve", "rod", "--over", "mu=1..1:3"], &["`mu` runs from 1 to 1"]),
        (&["painleve", "rod", "--over", "mu=2..1:3"], &["the first end must be the smaller one"]),
        // was answered, with friction that drives
        (
            &["painleve", "rod", "--over", "mu=-1..1:3"],
            &["a friction coefficient is -1", "cannot be negative"],
        ),
        (&["self-braking", "screw", "--over", "mu=-0.5..0.5:3"], &["a friction coefficient is -0.5"]),
        (&["painleve", "rod", "--over", "mu=0..NaN:3"], &["finite"]),
        (&["painleve", "rod", "--over", "mu=0..1:1"], &["at least 2"]),
        (&["painleve", "rod", "--over", "mu=0..1:0"], &["at least 2"]),
        (&["painleve", "rod", "--over", "mu=0..1:-4"], &["not understood"]),
        (&["painleve", "rod", "--over", "mu=0..1"], &["not understood", "mu=0..3:61"]),
        (&["painleve", "rod", "--over", "mu=0..1:4000000000"], &["more than the", "400 values"]),
        (
            &["painleve", "rod", "--over", "mu=0..1:4", "--over", "mu=0..1:4"],
            &["both axes of the map are `mu`"],
        ),
        (
            &["painleve", "rod", "--over", "mu=0..1:4", "--over", "m=1..2:4", "--over", "s=1..2:4"],
            &["one axis (a curve) or two (a map)"],
        ),
        (&["painleve", "rod", "--along", "--over", "mu=0..1:4"], &["`along` looks at the whole run"]),
        (&["painleve", "stuck.toml"], &["cannot move", "`left`"]),
        (&["painleve", "massless.toml"], &["nothing with mass moves with `y`", "massless.toml:5"]),
        (&["rest", "rod", "--point", "rod.tipp"], &["no point `rod.tipp`", "rod.tip"]),
        (&["rest", "rod", "--load", "nu"], &["no parameter `nu`", "did you mean `mu`?"]),
        (&["self-braking", "rod", "--over", "mu=1..0:9"], &["the smaller one first"]),
        (&["rest", "rod", "--along"], &["`rest` has no option --along", "painleve"]),
        (&["true-motion", "rod", "--point", "rod.tip"], &["`true-motion` has no option --point"]),
        (&["true-motion", "painleve_klein", "--x0", "much"], &["`--x0 much` is not a number"]),
        (&["true-motion", "painleve_klein", "--x0", "nan"], &["`--x0 nan` is not a number"]),
        (&["painlev", "rod"], &["did you mean `painleve`?"]),
    ];
    for (args, words) in cases {
        let mut all = vec!["analyse"];
        all.extend_from_slice(args);
        let output = folder.run(&all);
        let text = err(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}\n{text}{}", out(&output));
        for word in *words {
            assert!(text.contains(word), "{args:?} should say `{word}`:\n{text}");
        }
        assert!(out(&output).is_empty(), "{args:?} printed to standard output");
    }
}

/// A carriage on rails: two guides and a stop hold all three coordinates.
const STUCK: &str = r#"
name = "stuck"
coordinates = { x = 0, y = 0 }
ground = { floor = { through = [0, 0], normal = [0, 1] }, wall = { through = [0, 0], normal = [1, 0] } }
body = [{ name = "block", mass = "1 kg", position = ["x", "y"] }]
[[contact]]
name = "left"
between = ["block", "ground.wall"]
bilateral = true
friction = 0.2
[[contact]]
name = "below"
between = ["block", "ground.floor"]
bilateral = true
friction = 0.2
"#;

/// Nothing moves with y.
const MASSLESS: &str = r#"
name = "massless"
[coordinates]
x = { rate = "1 m/s" }
y = 0
z = 0
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "block"
mass = "1 kg"
position = ["x", "z"]
[[contact]]
name = "floor"
between = ["block", "ground.floor"]
bilateral = true
friction = 0.2
"#;

#[test]
fn more_pairs_than_can_be_enumerated_are_said_so() {
    let legs = 60;
    let text = format!(
        "name = \"table\"\ngravity = [0, -9.81]\n[coordinates]\nx = 0\ny = 0\na = 0\n\
         [ground]\nfloor = {{ through = [0, 0], normal = [0, 1] }}\n\
         [[body]]\nname = \"top\"\nmass = \"1 kg\"\ninertia = \"1 kg*m^2\"\nposition = [\"x\", \"y\"]\nangle = \"a\"\nfeatures = {{ {} }}\n{}",
        (0..legs).map(|k| format!("p{k} = [{}, 0]", k as f64 / 10.0 - 3.0)).collect::<Vec<_>>().join(", "),
        (0..legs)
            .map(|k| format!(
                "[[contact]]\nname = \"leg{k}\"\nbetween = [\"top.p{k}\", \"ground.floor\"]\nfriction = 0.3\n"
            ))
            .collect::<String>()
    );
    let folder = Folder::new("table");
    folder.write("table.toml", &text);
    let output = folder.run(&["analyse", "painleve", "table.toml"]);
    assert_eq!(output.status.code(), Some(2), "{}", out(&output));
    for word in ["60 closed pairs", "more than can be enumerated", "leave out `friction`"] {
        assert!(err(&output).contains(word), "{}", err(&output));
    }
}

/// Ctrl-C ends a map, keeps what it has and leaves no half-written file.
#[cfg(unix)]
#[test]
fn an_interrupted_map_is_kept_as_far_as_it_went() {
    use std::process::{Command, Stdio};
    let folder = Folder::new("map-interrupt");
    let child = Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(["analyse", "painleve", "painleve_unit", "--out", "kept"])
        .args(["--over", "phi=1 deg..89 deg:4000", "--over", "mu=0..3:4000"])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", out(&output), err(&output));
    assert!(err(&output).contains("interrupted"), "{}", err(&output));
    assert!(out(&output).contains("interrupted"), "{}", out(&output));
    let text = std::fs::read_to_string(folder.0.join("kept/painleve.json")).unwrap();
    let f: Value = serde_json::from_str(&text).unwrap();
    let done = f["done"].as_f64().unwrap();
    assert!(f["complete"] == false && done > 0.0 && done < 1.0, "{done}");
    let names: Vec<_> = std::fs::read_dir(folder.0.join("kept"))
        .unwrap()
        .flatten()
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(std::fs::read_to_string(folder.0.join("kept/painleve.svg")).unwrap().ends_with("</svg>\n"));
}

#[test]
fn runs_and_checks_lead_to_the_analyses_and_their_pages() {
    let text = out(&specht_in(&root(), &["check", "rod"]));
    assert!(text.contains("specht analyse painleve rod"), "{text}");
    let folder = Folder::new("lead");
    let output = folder.run(&["run", "rod", "--set", "phi0=60 deg", "--set", "w0=5"]);
    let text = out(&output);
    assert!(text.contains("specht analyse painleve rod") && text.contains("--set \"phi0=60 deg\""), "{text}");
    assert!(text.contains("specht explain several-solutions"), "{text}");
    assert!(text.contains("task    map (painleve)"), "{text}");
    // the report has the picture of the map and the page behind the words
    let page = std::fs::read_to_string(folder.0.join("out/rod/report.html")).unwrap();
    assert!(
        page.contains("\"pictures\":{\"map\":\"<svg")
            && page.contains("# When there is more than one possible motion")
    );
    let run = std::fs::read_to_string(folder.0.join("out/rod/run.json")).unwrap();
    assert!(!run.contains("<svg"), "pictures are no data");
}

/// Regression: after a disc that fell flat stood the page about several solutions.
#[test]
fn a_rim_that_lies_flat_leads_to_the_page_that_speaks_of_it() {
    let text = out(&specht_in(&root(), &["explain", "space"]));
    assert!(text.contains("A rim that lies flat"), "{text}");
    let folder = Folder::new("flat");
    let text = out(&folder.run(&["run", "euler_disc", "--set", "Om=0"]));
    assert!(text.contains("lies flat") && text.contains("specht explain space"), "{text}");
    assert!(!text.contains("several-solutions") && !text.contains("painleve"), "{text}");
}

#[test]
fn pages_of_the_paradoxes_have_a_picture_and_name_models_that_exist() {
    let names: Vec<String> = std::fs::read_dir(root().join("gallery"))
        .unwrap()
        .flatten()
        .filter(|e| e.path().join("model.toml").is_file())
        .map(|e| e.file_name().into_string().unwrap())
        .collect();
    let cycles = ["limit-cycle", "floquet", "grazing", "saltation", "branch", "lyapunov", "basin"];
    for topic in
        ["painleve", "self-braking", "jam", "tangential-impact", "several-solutions"].iter().chain(&cycles)
    {
        let page = out(&specht_in(&root(), &["explain", topic]));
        let drawn =
            page.lines().filter(|l| l.starts_with("    ") && l.contains(['╱', '╲', '\\', '─', '│'])).count();
        assert!(drawn >= 3, "{topic} has no picture");
        let tried = page.split("Try:").nth(1).unwrap_or_else(|| panic!("{topic} names nothing to try"));
        let mut models = 0;
        for code in tried.split('`').skip(1).step_by(2) {
            let words: Vec<&str> = code.split_whitespace().collect();
            let model = match words[..] {
                ["specht", "run" | "gallery" | "check", model, ..] => model,
                ["specht", "analyse", _, model, ..] => model,
                [model] if !model.starts_with('-') => model,
                _ => continue,
            };
            models += 1;
            assert!(names.iter().any(|n| n == model), "{topic}: there is no model `{model}`");
        }
        assert!(models >= 2, "{topic} names {models} models");
    }
}

/// Was: ten exponents of a wheel with one coordinate, eight of them of sums over impacts, and a sum of −∞. Phase space shrinks by as much as
/// the determinant says, which elimination finds.
#[test]
fn memory_that_is_only_written_has_no_lyapunov_exponent() {
    let found = ask(&["analyse", "lyapunov", "rattle", "--json"]);
    assert_eq!(found["exponents"].as_array().unwrap().len(), 2, "{}", found["exponents"]);
    let (sum, mean) = (found["sum"].as_f64().unwrap(), found["divergence_mean"].as_f64().unwrap());
    assert!((sum - mean).abs() < 1e-9 * mean.abs(), "{sum} is not {mean}");
}

/// Was: 1.2e16 to 1e31 of an index that is rounding. With the slip across the lean, or an upright rod, friction turns nothing into the floor.
#[test]
fn where_friction_does_not_matter_none_is_critical() {
    for set in ["th=90 deg", "phi=90 deg"] {
        let found = ask(&["analyse", "painleve", "leaning_rod", "--json", "--set", set]);
        assert_eq!(found["critical_mu"], "inf", "{set}");
    }
}

/// Was: "unknown contact `fall`, known are bounce".
#[test]
fn an_event_on_a_phase_is_told_about_crossing() {
    let folder = Folder::new("event-phase");
    let more = "\n[[phase]]\nname = \"fall\"\nwhen = \"y' < 0\"\n\n[[event]]\nname = \"e\"\non = \"fall\"\n";
    folder.write("ball.toml", &format!("{BALL}{more}"));
    let said = err(&folder.run(&["check", "ball.toml"]));
    assert!(said.contains("`fall` is a phase") && said.contains("crossing"), "{said}");
}

/// Was: the answer was "each – s" and "exp(-– x^–)".
#[test]
fn loads_without_episodes_say_so() {
    let output = specht_in(
        &root(),
        &["analyse", "load-statistics", "rattle", "--of", "phi", "--threshold", "1e9", "--until", "20"],
    );
    assert!(
        out(&output).contains("phi: no episodes above the threshold; peak 2.4"),
        "{}{}",
        out(&output),
        err(&output)
    );
}

/// The picture of modes shows the machine swinging in each: one stage per mode, its frames one after the other, the first one without animation too.
#[test]
fn modes_are_shown_moving() {
    let folder = Folder::new("swinging");
    let output = folder.run(&["analyse", "modes", "damper", "--stick", "left,right", "--out", "kept"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let svg = std::fs::read_to_string(folder.0.join("kept/modes.svg")).unwrap();
    assert_eq!(svg.matches("<clipPath id=\"stage").count(), 3);
    assert_eq!(svg.matches("<animate ").count() % 3, 0);
    assert_eq!(svg.matches("<g visibility=\"visible\">").count(), 3);
    // the blades move against each other in the second mode: two places of a body differ from frame to frame
    let stage = svg.split("id=\"stage1\"").nth(1).unwrap();
    let frames: Vec<&str> = stage.split("<animate ").skip(1).collect();
    let place = |frame: &str| frame.split("<circle").nth(1).map(|c| c.split('r').next().unwrap().to_string());
    assert!(place(frames[0]).is_some() && place(frames[0]) != place(frames[5]), "{:?}", place(frames[0]));
}
