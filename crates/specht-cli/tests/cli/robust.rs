//! Regressions: runs that once panicked, hung or gave up. Expected numbers are closed forms.

use crate::{Folder, err, out};
use serde_json::Value;

fn run(name: &str, text: &str) -> Value {
    let folder = Folder::new(name);
    folder.write("model.toml", text);
    json(&folder, &["run", "model.toml", "--json"])
}

fn json(folder: &Folder, args: &[&str]) -> Value {
    let output = folder.run(args);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
    let run: Value = serde_json::from_str(&out(&output)).expect("run.json is JSON");
    assert_eq!(run["audit"]["passed"], true, "{}", run["audit"]);
    run
}

fn last(run: &Value, name: &str) -> f64 {
    run["final"][name].as_f64().unwrap_or(f64::NAN)
}

/// The report asked for memory of 2³² numbers: the parameter of a curve is a symbol outside the inputs.
#[test]
fn a_body_with_a_curve_has_a_report() {
    let folder = Folder::new("curve");
    folder.write(
        "model.toml",
        r#"
name = "parabola falls on a floor"
gravity = [0, -9.81]
[coordinates]
x = 0
y = "0.5 m"
phi = 0
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "shell"
mass = "1 kg"
inertia = "0.1 kg*m^2"
position = ["x", "y"]
angle = "phi"
features = { face = { curve = ["s", "s^2 - 0.1"], parameter = "s", range = [-1, 1], material = "left" } }
[[contact]]
name = "touch"
between = ["shell.face", "ground.floor"]
[run]
until = "0.2 s"
"#,
    );
    let output = folder.run(&["run", "model.toml", "--out", "result"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(folder.0.join("result/report.html").exists());
}

/// The mass matrix of a massless sleeve is singular; a rounding pivot passed as definite and the steps collapsed.
/// ANH-4.6-ZHUKFROUDE: the shaft captures the pendulum.
#[test]
fn a_journal_with_a_massless_sleeve_is_captured_by_the_shaft() {
    let folder = Folder::new("journal");
    let output = folder.run(&["run", "zhukovsky_froude", "--json"]);
    let run: Value = serde_json::from_str(&out(&output)).expect("run.json is JSON");
    assert_eq!(run["status"], "finished", "{}", err(&output));
    assert!((last(&run, "phi'") - 5.0).abs() < 1e-9, "{}", last(&run, "phi'"));
    assert_eq!(run["final"]["bearing"]["mode"], "stick");
}

/// More than 100 events at one instant: friction beside a closed stop has no force of its own (the share of each is not
/// determined). It must hold until the pull f = 5 t − 10 exceeds the bound 3: t = 2.6, then x = 5/6 (t − 2.6)³.
#[test]
fn friction_beside_a_closed_stop_holds_to_its_bound() {
    let run = run(
        "stop",
        r#"
name = "stop and friction"
[coordinates]
x = 0
[[body]]
name = "block"
mass = "1 kg"
position = "x"
[[force]]
name = "pull"
along = "x"
force = "5*t - 10"
[[contact]]
name = "stop"
gap = "x"
[[contact]]
name = "seal"
slip = "x'"
friction_force = "3*min(1, t)"
[run]
until = "4 s"
"#,
    );
    let expected = 5.0 / 6.0 * 1.4f64.powi(3);
    assert!((last(&run, "x") - expected).abs() < 1e-8, "{} {expected}", last(&run, "x"));
}

/// After infinitely many impacts the block kept a slip that two feet with much friction cannot have. PG-8.11-ROCKING.
#[test]
fn a_rocking_block_comes_to_rest() {
    let folder = Folder::new("rocking");
    let run = json(&folder, &["run", "rocking_block", "--until", "6", "--json"]);
    for name in ["x'", "y'", "phi'"] {
        assert!(last(&run, name).abs() < 1e-12, "{name} = {}", last(&run, name));
    }
    assert_eq!(run["counts"]["events"]["accumulated"], 1);
}

/// More than 100 events at one instant: both branches of a switch lead back to its border. The mass stops at x = v²/2a = 0.5.
#[test]
fn a_switch_that_chatters_is_followed_along_its_border() {
    let run = run(
        "chatter",
        r#"
name = "relay"
[coordinates]
x = { start = 0, rate = 1 }
[[body]]
name = "block"
mass = "1 kg"
position = "x"
[[force]]
name = "relay"
along = "x"
force = "if(x' > 0, -1, 3)"
[run]
until = "2 s"
"#,
    );
    assert!((last(&run, "x") - 0.5).abs() < 1e-3, "{}", last(&run, "x"));
    assert!(last(&run, "x'").abs() < 1e-3, "{}", last(&run, "x'"));
}

/// A closed contact that is handed to the next edge of an outline was kept closed against its velocity. Off the edge at
/// t = 1 the point falls: x = t − 1, y = −g (t − 1)²/2.
#[test]
fn a_point_that_slides_off_an_edge_falls_freely() {
    let run = run(
        "edge",
        r#"
name = "off the table"
gravity = [0, -10]
[coordinates]
x = { start = -1, rate = 1 }
y = 0
[ground]
table = { outline = [[-10, 0], [0, 0], [0, -10]], material = "right", closed = false }
[[body]]
name = "block"
mass = "1 kg"
position = ["x", "y"]
features = { foot = [0, 0] }
[[contact]]
name = "top"
between = ["block.foot", "ground.table"]
[run]
until = "1.5 s"
"#,
    );
    for (name, expected) in [("x", 0.5), ("y", -1.25), ("x'", 1.0), ("y'", -5.0)] {
        assert!((last(&run, name) - expected).abs() < 1e-9, "{name} = {}", last(&run, name));
    }
}

/// An elastic flank with friction that starts at gap zero pressed but stayed `open`: its friction was lost.
#[test]
fn an_elastic_floor_that_starts_at_gap_zero_has_friction() {
    for damper in ["0", "200"] {
        let result = run(
            "elastic_start",
            &format!(
                r#"
name = "elastic floor"
gravity = [0, -9.81]
[coordinates]
x = {{ rate = 1 }}
y = 0
[[body]]
name = "block"
mass = 1
position = ["x", "y"]
[[contact]]
name = "floor"
gap = "y"
slip = "x'"
spring = 1e5
damper = {damper}
friction = 0.3
[run]
until = "1 s"
"#
            ),
        );
        // the impulse of the floor is m g t up to one bounce of the spring: stop at v/(mu g)
        let stop = 1.0 / (0.3 * 9.81);
        let stick =
            result["events"].as_array().unwrap().iter().find(|e| e["kind"] == "stick").expect("it stops");
        assert!((stick["time"].as_f64().unwrap() - stop).abs() < 0.012, "{stick}");
        assert!(last(&result, "x'").abs() < 1e-9);
    }
}

fn refused(name: &str, text: &str, args: &[&str]) -> String {
    let folder = Folder::new(name);
    folder.write("model.toml", text);
    let output = folder.run(args);
    assert_eq!(output.status.code(), Some(2), "{}{}", out(&output), err(&output));
    err(&output)
}

const SLIDER: &str = r#"
name = "slider"
[coordinates]
x = { rate = "1 m/s" }
[[body]]
name = "b"
mass = "2 kg"
position = ["x", 0]
[[contact]]
name = "pad"
slip = "x'"
normal_force = "10 N"
friction = 0.3
[run]
until = "1 s"
"#;

/// These ran for ever: a slip that no motion changes, steps that do not move the clock, every unknown name compared with all others.
#[test]
fn what_cannot_end_is_refused_with_a_sentence() {
    let text = SLIDER.replace("slip = \"x'\"", "slip = \"x + 0.1 m\"");
    assert!(refused("slip", &text, &["run", "model.toml"]).contains("contains no velocity"));
    let args = ["run", "model.toml", "--scheme", "step", "--step", "1e-250"];
    assert!(refused("short_step", SLIDER, &args).contains("choose a longer one"));
    let names: String = (0..12_000).map(|i| format!("p{i} = \"unknown_{i} + 1\"\n")).collect();
    let text = SLIDER.replace("[coordinates]", &format!("[parameters]\n{names}[coordinates]"));
    assert!(refused("names", &text, &["check", "model.toml"]).contains("unknown name `unknown_0`"));
}

/// A table on many feet, pushed so that they stick: minutes once, when each subset of feet was a pattern of its own.
#[test]
fn tables_on_any_number_of_feet_stand() {
    for n in [4, 8, 9, 13, 40] {
        let feet: Vec<String> =
            (0..n).map(|i| format!("f{i} = [{}, -0.4]", -0.7 + 1.5 * i as f64 / (n - 1) as f64)).collect();
        let contacts: String = (0..n)
            .map(|i| {
                format!("[[contact]]\nname = \"foot{i}\"\nbetween = [\"top.f{i}\", \"ground.floor\"]\nfriction = 0.6\n")
            })
            .collect();
        let text = format!(
            r#"
name = "table"
gravity = [0, -9.81]
[coordinates]
x = 0
y = "0.4 m"
th = 0
[ground]
floor = {{ through = [0, 0], normal = [0, 1] }}
[[body]]
name = "top"
mass = "7 kg"
inertia = "2 kg*m^2"
position = ["x", "y"]
angle = "th"
features = {{ {} }}
{contacts}
[[force]]
name = "push"
along = "x"
force = "20 N"
[run]
until = "0.3 s"
"#,
            feet.join(", ")
        );
        for scheme in ["event", "step"] {
            let folder = Folder::new("feet");
            folder.write("model.toml", &text);
            let run = json(&folder, &["run", "model.toml", "--json", "--scheme", scheme]);
            assert!(last(&run, "x").abs() < 1e-9 && last(&run, "th").abs() < 1e-9, "{n} feet, {scheme}");
            let warnings = run["warnings"].as_array().map_or(0, Vec::len);
            assert_eq!(warnings, 0, "{n} feet, {scheme}: {}", run["warnings"]);
        }
    }
}
