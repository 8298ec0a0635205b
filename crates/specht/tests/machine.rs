//! The floor that a program stands on: read, change, run, series, record.

use std::path::{Path, PathBuf};

use specht::machine::record::RunRecord;
use specht::machine::{Complaint, Source};
use specht::prelude::*;

fn gallery() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gallery")
}

fn entries() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(gallery())
        .unwrap()
        .flatten()
        .filter(|e| e.path().join("model.toml").is_file())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn machine(name: &str) -> Machine {
    Machine::open(gallery().join(name).join("model.toml")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn the_shortest_program_is_one_line() {
    let text = std::fs::read_to_string(gallery().join("rod/model.toml")).unwrap();
    let phi = Machine::read(&text).unwrap().with("mu", 0.4).unwrap().run().unwrap().series("phi").unwrap();
    assert!(phi.len() > 10 && phi.iter().all(|x| x.is_finite()));
}

#[test]
fn an_expression_on_a_run_has_the_bits_it_would_have_had_as_an_output() {
    let mut compared = 0;
    for name in entries() {
        // the point of contact of a curve is found by iteration: it has the same value, not always the same last bit
        let rounding = if name == "parabola" { 1e-14 } else { 0.0 };
        let run = machine(&name).run().unwrap();
        if run.times().len() > 20_000 {
            continue;
        }
        let text = std::fs::read_to_string(gallery().join(&name).join("model.toml")).unwrap();
        let file: toml_edit::Document<String> = text.parse().unwrap();
        let Some(outputs) = file.get("output").and_then(|o| o.as_table_like()) else { continue };
        for (k, output) in run.names.outputs.iter().enumerate() {
            let Some(expression) = outputs.get(output).and_then(|v| v.as_str()) else { continue };
            // in brackets, so that it is not taken from the record
            let found = run.series(&format!("({expression})")).unwrap_or_else(|e| panic!("{name}: {e}"));
            for (row, x) in run.trajectory.samples.rows().zip(&found) {
                let y = row.outputs[k];
                let same = (x - y).abs() <= rounding * y.abs() || (x.is_nan() && y.is_nan());
                assert!(same, "{name}: {expression} at t = {}: {x} and {y}", row.t);
            }
            compared += 1;
        }
    }
    assert!(compared > 30, "{compared}");
}

/// A block with a closed outline on a floor, then a ball: the contact of the outline is several contacts of the system.
const BLOCK_AND_BALL: &str = r#"
name    = "block and ball"
gravity = [0, -10]
[coordinates]
x = 0
y = 1
phi = 0
b = 1
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name     = "block"
mass     = "1 kg"
inertia  = "1 kg*m^2"
position = ["x", "y"]
angle    = "phi"
features = { edge = { outline = [[-1, -1], [1, -1], [1, 1], [-1, 1]], material = "left", closed = true } }
[[body]]
name     = "ball"
mass     = "3 kg"
position = [5, "b"]
[[contact]]
name    = "foot"
between = ["block.edge", "ground.floor"]
[[contact]]
name    = "spot"
between = ["ball", "ground.floor"]
[run]
until = "1 s"
[output]
weight = "spot.normal"
"#;

#[test]
fn contacts_of_an_outline_are_summed_and_do_not_shift_those_behind_them() {
    let run = Machine::read(BLOCK_AND_BALL).unwrap_or_else(|e| panic!("{e}")).run().unwrap();
    let [foot, spot, rate, gap] =
        run.all_series(["foot.normal", "2*weight", "spot.gap'", "spot.gap"]).unwrap();
    let last = run.times().len() - 1;
    assert!((foot[last] - 10.0).abs() < 1e-9 && (spot[last] - 60.0).abs() < 1e-9);
    assert!((gap[0] - 1.0).abs() < 1e-15 && gap[last].abs() < 1e-9);
    // it falls with 10 m/s² for √0.2 s
    let falling = run.times().iter().zip(&rate).filter(|(t, _)| **t < 0.2f64.sqrt() - 1e-6);
    falling.for_each(|(t, v)| assert!((v + 10.0 * t).abs() < 1e-8, "{t}: {v}"));
}

#[test]
fn the_state_between_rows_is_on_the_curve() {
    let run = Machine::read(BLOCK_AND_BALL).unwrap().run().unwrap();
    for t in [0.0, 0.1234, 0.4] {
        let s = run.at(t).unwrap();
        assert!((s.q[3] - (1.0 - 5.0 * t * t)).abs() < 1e-9 && (s.u[3] + 10.0 * t).abs() < 1e-9);
    }
    assert_eq!(run.at(1.0).unwrap().q[3], run.trajectory.last.state.q[3]);
    assert!(run.at(-0.1).is_none() && run.at(1.1).is_none() && run.at(f64::NAN).is_none());
}

#[test]
fn a_parameter_set_twice_has_the_last_value_and_the_setup_stays() {
    let m = machine("bouncing_ball").until(0.3).with("h0", 2).unwrap().with("h0", "50 cm").unwrap();
    let run = m.run().unwrap();
    assert_eq!(run.trajectory.time, 0.3);
    assert!((run.series("y - r").unwrap()[0] - 0.5).abs() < 1e-15);
    let steps = m.scheme(Scheme::Step).run().unwrap();
    assert_eq!(steps.scheme, Scheme::Step);
    assert!((steps.settings.step - 0.3 / 2000.0).abs() < 1e-18);
}

#[test]
fn a_record_reads_back_to_the_same_record() {
    for name in ["bouncing_ball", "rod", "woodpecker", "stick_slip_stack", "painleve_klein"] {
        let record = machine(name).run().unwrap().record();
        let text = serde_json::to_string(&record).unwrap();
        let again: RunRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text, "{name}");
        assert_eq!(again.status, record.status);
    }
}

#[test]
fn errors_are_errors_with_a_place_or_a_sentence() {
    let wrong = Machine::read("name = \"x\"\n[coordinates]\nx = \"fi\"\n").unwrap_err();
    assert!(matches!(wrong.complaint(), Complaint::Located { .. }));
    let error: Box<dyn std::error::Error> = Box::new(wrong);
    assert!(error.to_string().contains("model:3:6"), "{error}");

    let run = machine("bouncing_ball").run().unwrap();
    let error = run.series("y + bal.normal").unwrap_err().to_string();
    assert!(error.starts_with("`y + bal.normal`: "), "{error}");
    let error = run.series("y +").unwrap_err().to_string();
    assert!(error.starts_with("`y +`: "), "{error}");
    assert!(machine("rod").with("nothing", 1).is_err());
    assert!(machine("rod").case("nothing").is_err());
    assert!(Machine::open("no/such/file.toml").unwrap_err().to_string().contains("cannot read"));

    let source = Source { label: "rod.toml".into(), ..Source::text("name = 3") };
    assert!(Machine::new(source, Default::default()).unwrap_err().to_string().contains("rod.toml:1:"));
    let endless =
        "name = \"x\"\n[coordinates]\nx = 0\n[[body]]\nname = \"b\"\nmass = 1\nposition = [\"x\", 0]\n";
    assert!(Machine::read(endless).unwrap().run().unwrap_err().to_string().contains("no end time"));
}

#[test]
fn a_question_is_a_value_and_its_answer_too() {
    use specht::analysis::Verdict;
    use specht::machine::task::{Look, View};

    let task = Task::Painleve(PainleveTask::default());
    let text = serde_json::to_string(&task).unwrap();
    assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), task);
    let Finding::Here(here) = machine("rod").ask(&task).unwrap() else { panic!("a state has one finding") };
    assert_eq!(here.verdict, Some(Verdict::Unique));
    assert_eq!(here.contacts.len(), 1);
    let json = serde_json::to_value(Finding::Here(here.clone())).unwrap();
    assert_eq!(json["critical_mu"].as_f64(), Some(here.critical_mu.0[0].0));

    // an instant of the run of a model; a contact that is not there
    let look = Look { at_time: Some(0.1), at: None };
    let view = View::Here { look, stiffness: Vec::new() };
    let at = Task::Painleve(PainleveTask { contacts: Vec::new(), view });
    let Finding::Here(later) = machine("rod").ask(&at).unwrap() else { panic!("a state has one finding") };
    assert_eq!(later.time.0, 0.1);
    let nobody = PainleveTask { contacts: vec!["nobody".into()], ..Default::default() };
    let error = machine("rod").ask(&Task::Painleve(nobody)).unwrap_err();
    assert!(error.to_string().starts_with("there is no contact `nobody`"), "{error}");
}

#[test]
fn tasks_of_a_file_are_answered_in_their_cases() {
    let mut answered = 0;
    for name in entries() {
        let m = machine(&name);
        for task in m.model().tasks.iter().take(2) {
            if let Ok(finding) = m.answer(task, Default::default()) {
                assert!(!finding.explain().is_empty());
                answered += 1;
            }
        }
    }
    assert!(answered > 10, "{answered}");
}

/// Parameters are set by name, in any order, and everything that is read off the run has them, also what is derived from them.
#[test]
fn variants_share_the_equations_and_answer_like_the_text_with_the_parameters_set() {
    let text = r#"
name = "sled"
gravity = [0, -9.81]
parameters = { mu = 0.3, v0 = "2 m/s", g = "9.81 m/s^2", way = "v0^2/(2*mu*g)" }
coordinates = { x = { rate = "v0" }, y = 0 }
ground = { floor = { through = [0, 0], normal = [0, 1] } }
body = [{ name = "sled", mass = "5 kg", position = ["x", "y"] }]
contact = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
run = { until = "2*v0/(mu*g)" }
"#;
    let open = Machine::read(text).unwrap().live(vec!["v0".into(), "mu".into()]).unwrap();
    for (mu, v0) in [(0.1, 3.0), (0.55, 1.0)] {
        let a = open.vary(&[("v0", v0), ("mu", mu)]).unwrap().run().unwrap();
        let b = Machine::read(text).unwrap().with("mu", mu).unwrap().with("v0", v0).unwrap().run().unwrap();
        let way = v0 * v0 / (2.0 * mu * 9.81);
        assert!((a.trajectory.last.state.q[0] - way).abs() < 1e-9 * way);
        assert!((a.trajectory.time - b.trajectory.time).abs() < 1e-12 * b.trajectory.time);
        let [x, y] = [&a, &b].map(|run| run.series("runner.tangential/(mu*1 N) + way/1 m").unwrap());
        let ends = |s: &[f64]| [s[0], s[s.len() - 1]];
        ends(&x).iter().zip(ends(&y)).for_each(|(x, y)| assert!((x - y).abs() < 1e-9 * y.abs(), "{x} {y}"));
        let [p, q] = [&a, &b].map(|run| serde_json::to_value(run.record()).unwrap()["parameters"].clone());
        assert_eq!(p, q);
    }
    // the order of questions does not matter: the same bits again
    let end = |mu: f64| open.vary(&[("mu", mu)]).unwrap().run().unwrap().trajectory.last.state;
    let first = end(0.3);
    end(0.7);
    assert_eq!(first, end(0.3));
    for (name, value) in [("way", 1.0), ("nothing", 1.0), ("mu", f64::NAN)] {
        assert!(open.vary(&[(name, value)]).is_err(), "{name}");
    }
}

/// PG-14.3-PNEUDRILL: the motion is irregular, so that only the order tells: play in the coupling makes the handle rougher, in the mean and
/// at the peaks.
#[test]
fn pg_14_3_pneudrill_play_in_the_coupling_shakes_the_handle() {
    let rough = |case: Option<&str>| {
        let drill = machine("pneudrill");
        let drill = case.map_or(drill.clone(), |c| drill.case(c).unwrap());
        // the motion is irregular: windows of 0.8 s differ by as much as play and no play
        let run = drill.until(4.0).run().unwrap();
        let handle = run.series("handle").unwrap();
        let steady: Vec<(f64, f64)> =
            run.times().iter().copied().zip(handle).filter(|(t, a)| *t > 0.4 && a.is_finite()).collect();
        let squares = steady.windows(2).map(|w| (w[1].0 - w[0].0) * (w[0].1.powi(2) + w[1].1.powi(2)) / 2.0);
        let rms = (squares.sum::<f64>() / 3.6).sqrt();
        (rms, steady.iter().fold(0.0_f64, |m, (_, a)| m.max(a.abs())))
    };
    let (play, tight) = (rough(None), rough(Some("tight")));
    assert!(play.0 > tight.0 && play.1 > tight.1, "{play:?} {tight:?}");
}

/// PG-12.1-MULTISTAGE, PG-12.3-SYNCHRONIZER: a flank that rests on another by rounding is hit by the impulses of a third. Newton's law took it for one
/// that separates and had no solution: play of a micrometre, and plastic impacts at ten times the speed. And a ring without a force that drifts into
/// its stop with a velocity of rounding, or a blade that hops by less than the rounding of its gap, arrived there for ever.
#[test]
fn flanks_that_rest_by_rounding_do_not_stop_a_run() {
    let tight = [("om", 330.11), ("v", 1e-6), ("e", 0.580741), ("A", 0.01)];
    let quick = [("om", 3141.59), ("e", 0.0)];
    let drifts =
        [("alpha", 6.79441_f64.to_radians()), ("muH", 0.0559756), ("mS", 1.53396), ("IF", 0.0018125)];
    for (name, values) in [("rattle_two", &tight[..]), ("gearbox", &quick[..]), ("synchronizer", &drifts[..])]
    {
        let set = |m: Machine, (key, value): &(&str, f64)| m.with(key, *value).unwrap();
        let run = values.iter().fold(machine(name), set).run().unwrap();
        assert_eq!(run.trajectory.status, Status::Finished, "{name}: {}", run.trajectory.message);
        assert!(run.audit().passed, "{name}");
    }
}

/// PG-12.1-MULTISTAGE: without play both flanks are closed and oppose each other; Newton's law with ε > 0 asked both to separate and had
/// no solution. The wheels move as if they were tied: the play stays zero.
#[test]
fn gears_without_play_are_tied_and_not_locked() {
    for (name, outputs) in [("rattle_two", ["s1", "s2"]), ("gearbox", ["countershaft", "reverse"])] {
        let run = machine(name).with("v", 0.0).unwrap().run().unwrap();
        assert_eq!(run.trajectory.status, Status::Finished, "{name}: {}", run.trajectory.message);
        assert!(run.audit().passed, "{name}: {:?}", run.audit());
        for output in outputs {
            let largest = run.series(output).unwrap().iter().fold(0.0_f64, |m, s| m.max(s.abs()));
            assert!(largest < 1e-12, "{name}: {output} {largest:e}");
        }
    }
}

/// A link without mass and torque carries nothing: its reaction is zero, and what is left of it by rounding changed its sign for ever. The block
/// falls as if it were alone, y′ = −(P/m) t.
#[test]
fn a_reaction_that_is_zero_up_to_rounding_has_no_sign_to_follow() {
    for mu in [0.0, 0.2, 1.0] {
        let link = ["J", "M"].iter().fold(machine("slotted_link"), |m, key| m.with(key, 0.0).unwrap());
        let run = link.with("mu", mu).unwrap().run().unwrap();
        assert_eq!(run.trajectory.status, Status::Finished, "{mu}: {}", run.trajectory.message);
        assert!(run.audit().passed, "{mu}: {:?}", run.audit());
        let speed = run.series("y'").unwrap();
        assert!((speed[speed.len() - 1] + 100.0 / 2.0 * 1e-3).abs() < 1e-12, "{mu}: {speed:?}");
    }
}

/// Regression: sizes that are ways of the motion came from the end time in the file, 1 ms, also where the run was asked to last a second, and the
/// audit failed it. Without friction the link and its block keep their energy, J q′²/2 + m y′²/2 = −P y on y = a tan q.
#[test]
fn a_run_that_is_asked_to_last_longer_has_the_sizes_of_its_own_time() {
    let link = machine("slotted_link").with("q0", 0.0).unwrap();
    let run = link.clone().until(1.0).run().unwrap();
    assert!(run.trajectory.status == Status::Finished && run.audit().passed, "{:?}", run.audit());
    let written = std::fs::read_to_string(gallery().join("slotted_link/model.toml")).unwrap();
    let written = written.replace("until = \"1 ms\"", "until = \"1 s\"");
    let other = Machine::read(&written).unwrap().with("q0", 0.0).unwrap().run().unwrap();
    assert_eq!(run.trajectory, other.trajectory, "asked for and written");

    let (j, m, p, a) = (0.1, 2.0, 100.0, 0.3);
    let smooth = link.with("mu", 0.0).unwrap().until(1.0).run().unwrap();
    assert!(smooth.audit().passed, "{:?}", smooth.audit());
    let State { q, u, .. } = &smooth.trajectory.last.state;
    let kinetic = 0.5 * j * u[0] * u[0] + 0.5 * m * u[1] * u[1];
    assert!((q[1] - a * q[0].tan()).abs() < 1e-8 * q[1].abs(), "{q:?}");
    assert!(q[1] < -10.0 && (kinetic + p * q[1]).abs() < 1e-8 * kinetic, "{q:?} {u:?}");
}
