//! Switches, event functions and formulas without value in whole runs, against closed forms.

use specht::inside::{Options, read};
use specht::sim::{Kind, Settings, StartError, Status, Trajectory, event_driven, time_stepping};
use specht::{inside::build, model::CompiledSystem};

fn system(text: &str) -> CompiledSystem {
    let loaded = read(text, &Options::default()).unwrap_or_else(|list| panic!("{list:?}"));
    build(&loaded.model).unwrap_or_else(|e| panic!("{e:?}"))
}

fn run(text: &str, until: f64) -> Trajectory {
    let system = system(text);
    let end = event_driven(&system, &system.start(), &Settings::until(until), &mut Default::default());
    end.unwrap_or_else(|e| panic!("{e}"))
}

/// Velocity at the end of a mass of 1 kg under a force.
fn momentum(force: &str, until: f64) -> f64 {
    let text = format!(
        "name = \"mass\"\ncoordinates = {{ x = 0 }}\nbody = [{{ name = \"b\", mass = 1, position = [\"x\", 0] }}]\n\
         force = [{{ along = \"x\", force = \"{force}\" }}]\n[define]\n\
         saw = {{ table = [[0, 0], [0.3, 2], [0.3, -1], [0.8, 1]], ends = \"repeat\" }}\n\
         roof = {{ table = [[-1, 0], [0, 3], [1, 0]] }}\n"
    );
    let run = run(&text, until);
    assert_eq!(run.status, Status::Finished, "{force}: {}", run.message);
    run.last.state.u[0]
}

/// The times at which a named event fired.
fn marks(run: &Trajectory, name: &str) -> Vec<f64> {
    let named = |e: &&specht::sim::Event| e.kind == Kind::Mark && e.name.as_deref() == Some(name);
    run.events.iter().filter(named).map(|e| e.time).collect()
}

/// A millionth of the run is long for a switch: 400 changes in the first 0.02 s of 100 s are no chatter.
#[test]
fn quick_switching_in_a_long_run_is_followed_exactly() {
    let found = momentum("if(sin(62831.853071795864769*min(t, 0.02)) > 1e-6, 1, 0)", 100.0);
    let expected = 0.02 * (0.5 - 1e-6 / std::f64::consts::PI);
    assert!((found - expected).abs() < 1e-11, "{found}, expected {expected}");
}

/// Stick-slip with periods of 3e-7 of the run: every one counts.
#[test]
fn quick_stick_slip_in_a_long_run_is_followed_exactly() {
    let text = "[coordinates]\nx = 0\n[[body]]\nname = \"b\"\nmass = 1\nposition = \"x\"\n\
                [[force]]\nalong = \"x - 0.01*min(t, 0.1)\"\nspring = 1e8\n\
                [[contact]]\nname = \"guide\"\nslip = \"x'\"\nfriction_force = { static = \"12\", sliding = \"10\" }\n";
    let short = run(text, 0.1);
    let slips = |r: &Trajectory| r.events.iter().filter(|e| e.kind == Kind::Slip && e.time < 0.0999).count();
    let long = run(text, 1000.0);
    assert_eq!((long.status, slips(&long)), (Status::Finished, slips(&short)));
    assert!(slips(&short) > 100 && long.warnings.is_empty(), "{:?}", long.warnings);
}

/// The inner switch was flipped and the outer one, whose argument jumps with it, forgotten.
#[test]
fn a_switch_inside_a_switch_is_followed() {
    for (force, until, expected) in [
        // nine pulses of 0.02 s
        ("if(mod(t, 0.37) < 0.02, 2, 0)", 3.0, 0.36),
        // triangles of height 0.2 and width 0.2, six of them
        ("max(0, 0.2 - mod(t, 0.5))", 3.0, 6.0 * 0.02),
        // 0, 1, 2 for a third of each period
        ("floor(3*mod(t, 1)/1 s)", 5.0, 5.0),
        ("if(floor(t/(0.7 s)) == 2, 3, 0)", 4.0, 2.1),
        // the table has the mean (0.3 + 0)/0.8 over each period; its argument runs through one period in 1.6 s
        ("saw(0.8*mod(t/(1.6 s), 1))", 4.8, 4.8 * 0.3 / 0.8),
        // a table of a table: -1 … 2 through the roof: 3(1 - |y|), on y in [-1, 1] and nothing beyond
        ("roof(saw(t/(1 s)))", 0.8, 3.0 * (0.15 * 0.5) + 3.0 * 0.5 * 0.5),
        // stands still at zero during half of the time
        ("if(max(0, sin(9*t)) == 0, 1, 0)", std::f64::consts::TAU, std::f64::consts::PI),
        // equal until the first one starts again
        ("if(mod(t, 0.6) == mod(t, 1.1), 5, 0)", 1.0, 3.0),
    ] {
        let found = momentum(force, until);
        assert!((found - expected).abs() < 1e-9, "{force}: {found}, expected {expected}");
    }
}

/// A unit mass under a force of its place, from x = 0 with a velocity; place and velocity at the end.
fn thrown(force: &str, speed: f64, until: f64) -> (f64, f64) {
    let text = format!(
        "name = \"mass\"\ncoordinates = {{ x = {{ start = 0, rate = {speed} }} }}\n\
         body = [{{ name = \"b\", mass = 1, position = [\"x\", 0] }}]\n\
         force = [{{ along = \"x\", force = \"{force}\" }}]\n"
    );
    let run = run(&text, until);
    assert_eq!(run.status, Status::Finished, "{force}: {}", run.message);
    assert!(run.audit.passed, "{force}: {:?}", run.audit);
    (run.last.state.q[0], run.last.state.u[0])
}

#[track_caller]
fn arrives(found: (f64, f64), expected: (f64, f64)) {
    let error = (found.0 - expected.0).abs().max((found.1 - expected.1).abs());
    assert!(error < 1e-8, "{found:?}, expected {expected:?}");
}

/// The force is −k between k and k + 1: v²/2 falls by k per step of the stairs, to the right with k = 0, 1, 2, …, to the left with
/// k = −1, −2, …; from v = 3 the mass turns at 3.5 and at −2.5.
#[test]
fn stairs_made_by_floor_are_climbed_and_descended_on_both_sides() {
    let (a, b) = (7_f64.sqrt(), 3_f64.sqrt());
    let right = 1.0 / 3.0 + (3.0 - a) + (a - b) / 2.0 + b / 3.0;
    let left = (3.0 - a) + (a - b) / 2.0 + b / 3.0;
    let stairs = "-floor(x)";
    arrives(thrown(stairs, 3.0, right), (3.5, 0.0));
    arrives(thrown(stairs, 3.0, 2.0 * right), (0.0, -3.0));
    arrives(thrown(stairs, 3.0, 2.0 * right + left), (-2.5, 0.0));
    arrives(thrown(stairs, 3.0, 3.0 * 2.0 * (right + left)), (0.0, 3.0));
    arrives(thrown(stairs, -3.0, left), (-2.5, 0.0));
    arrives(thrown(stairs, -3.0, 2.0 * left + right), (3.5, 0.0));
}

/// ẍ = −s with s = mod(x, 1), the place in its cell: v² falls by one per cell to the right and grows by one to the left. A cell that is
/// entered with v takes asin(1/v) to the right and atan(1/v) to the left; the cell of the turn a quarter of a period.
#[test]
fn teeth_made_by_mod_are_passed_in_both_directions() {
    let teeth = "-mod(x, 1)";
    let speed = 4.5_f64.sqrt();
    let up: f64 = (0..4).map(|k| (1.0 / (4.5 - f64::from(k)).sqrt()).asin()).sum::<f64>();
    let turn = up + std::f64::consts::FRAC_PI_2;
    arrives(thrown(teeth, speed, up), (4.0, 0.5_f64.sqrt()));
    arrives(thrown(teeth, speed, turn), (4.0 + 0.5_f64.sqrt(), 0.0));
    arrives(thrown(teeth, speed, 2.0 * turn), (0.0, -speed));
    let down: f64 = (0..3).map(|k| (1.0 / (4.5 + f64::from(k)).sqrt()).atan()).sum();
    arrives(thrown(teeth, speed, 2.0 * turn + down), (-3.0, -7.5_f64.sqrt()));
    arrives(thrown(teeth, -speed, down), (-3.0, -7.5_f64.sqrt()));
}

/// Guards faster than the motion were missed between the samples of long steps.
#[test]
fn pulses_much_shorter_than_the_step_are_not_missed() {
    // the mass coasts between the pulses; sin(w t) > 1/2 during a third of each period
    for w in [7.0, 31.0, 240.0] {
        let periods = (w * 3.0 / std::f64::consts::TAU).floor();
        let until = periods * std::f64::consts::TAU / w;
        let found = momentum(&format!("if(sin({w}*t) > 0.5, 6, 0)"), until);
        assert!((found - 2.0 * until).abs() < 1e-8, "{w}: {found}, expected {}", 2.0 * until);
    }
}

/// A guard beyond the end of a table was infinite, and with it the noise of all its later borders.
#[test]
fn masses_on_one_table_keep_their_energy() {
    let text = r#"
        name = "three masses on one spring"
        coordinates = { x = { rate = 3 }, y = { start = -0.7, rate = 5 }, z = { start = -1.9, rate = 4 } }
        body = [
            { name = "a", mass = 2, position = ["x", 0] },
            { name = "b", mass = 2, position = ["y", 1] },
            { name = "c", mass = 2, position = ["z", 2] },
        ]
        force = [
            { along = "x", force = "-soft(x)" },
            { along = "y", force = "-max(0, soft(y))" },
            { along = "z", force = "-soft(z)" },
        ]
        [define]
        soft = { table = [[0, 0], [0.2, 30], [0.3, 70], [0.9, 200]], ends = "hold" }
    "#;
    let run = run(text, 2.5);
    for (found, speed) in run.last.state.u.iter().zip([3.0, 5.0, 4.0]) {
        assert!((found + speed).abs() < 1e-9 * speed, "comes back with {found}, went with {speed}");
    }
}

const BALL: &str = r#"
    name = "ball"
    gravity = [0, -10]
    coordinates = { y = 0.8 }
    memory = { n = 0, late = 0 }
    ground = { floor = { through = [0, 0], normal = [0, 1] } }
    body = [{ name = "ball", mass = 0.3, position = [0, "y"] }]
    contact = [{ name = "bounce", between = ["ball", "ground.floor"], restitution = 0.7 }]
    event = [
        { name = "hit", on = "bounce.impact", set = { n = "n + 1" } },
        { name = "turn", crossing = "y'" },
        { name = "half", crossing = "n - 2.5", set = { late = 1 } },
        { name = "whole", crossing = "n - 3", direction = "up" },
        { name = "back", crossing = "n - 3", direction = "down" },
        { name = "chain", crossing = "late - 0.5" },
        { name = "clock", crossing = "if(mod(t, 0.5) < 0.25, -1, 1)", direction = "up" },
        { name = "end", crossing = "n - 4.5", stop = true },
    ]
"#;

/// Time of the k-th impact: the fall of 0.4 s, then hops that shrink by 0.7.
fn impact(k: i32) -> f64 {
    (1..k).map(|i| 0.8 * 0.7_f64.powi(i)).sum::<f64>() + 0.4
}

/// Event functions were compared along the smooth motion only.
#[test]
fn event_functions_see_jumps_of_velocity_and_memory() {
    let run = run(BALL, 9.0);
    let close = |found: Vec<f64>, expected: &[f64], name: &str| {
        assert_eq!(found.len(), expected.len(), "{name}: {found:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9, "{name}: {found:?}, expected {expected:?}");
        }
    };
    let hits: Vec<f64> = (1..=5).map(impact).collect();
    close(marks(&run, "hit"), &hits, "hit");
    close(marks(&run, "half"), &hits[2..3], "half");
    close(marks(&run, "whole"), &hits[2..3], "whole");
    close(marks(&run, "back"), &[], "back");
    // set by an event of the same instant
    close(marks(&run, "chain"), &hits[2..3], "chain");
    // at every impact, and at the top of every hop
    let mut turns = hits.clone();
    turns.extend((1..5).map(|k| 0.5 * (impact(k) + impact(k + 1))));
    turns.sort_by(f64::total_cmp);
    close(marks(&run, "turn"), &turns, "turn");
    let ticks: Vec<f64> = (0..9).map(|k| 0.25 + 0.5 * f64::from(k)).filter(|t| *t < impact(5)).collect();
    close(marks(&run, "clock"), &ticks, "clock");
    assert_eq!((run.status, run.events.last().unwrap().name.as_deref()), (Status::Stopped, Some("end")));
    assert!((run.time - impact(5)).abs() < 1e-9);
}

/// An event that moves its own threshold had to come back from the far side first: of ticks of a clock that nothing else slows
/// down, one came and the long step that followed hid the others.
#[test]
fn an_event_that_moves_its_own_threshold_fires_at_each() {
    let text = r#"
        name = "clock"
        coordinates = { angle = { rate = 1 } }
        memory = { next = 1 }
        body = [{ name = "hand", inertia = 1, angle = "angle" }]
        event = [{ name = "tick", crossing = "angle - next", direction = "up", set = { next = "next + 1" } }]
    "#;
    for until in [25.5, 600.5] {
        let ticks = marks(&run(text, until), "tick");
        assert_eq!(ticks.len(), until as usize);
        assert!(ticks.iter().zip(1..).all(|(t, k)| (t - f64::from(k)).abs() < 1e-9), "{ticks:?}");
    }
}

/// At rest velocities are rounding: they made an event fire a hundred times at one instant, and the run failed.
#[test]
fn an_event_on_a_velocity_is_quiet_at_rest() {
    let text = r#"
        name = "double pendulum that comes to rest on a slope"
        gravity = [0, -9.81]
        coordinates = { a = { start = 0.5, rate = 0.3 }, b = 0.2 }
        ground = { floor = { through = [0, -1.3], normal = [0.3, 1] } }
        body = [
            { name = "rod", mass = 1, inertia = 0.08, position = [0, 0], angle = "a", center = [0.5, 0], features = { tip = [1, 0] } },
            { name = "arm", on = "rod", mass = 0.4, inertia = 0.02, position = [1, 0], angle = "b", center = [0.3, 0.1], features = { tip = [0.6, 0] } },
        ]
        contact = [
            { name = "first", between = ["arm.tip", "ground.floor"], friction = 0.6 },
            { name = "second", between = ["rod.tip", "ground.floor"], friction = 0.6 },
        ]
        event = [
            { name = "turn_a", crossing = "a'", direction = "up" },
            { name = "turn_b", crossing = "b'" },
            { name = "speed", crossing = "arm.tip.x' - arm.tip.y'" },
        ]
    "#;
    let run = run(text, 6.0);
    assert_eq!(run.status, Status::Finished, "{}", run.message);
    assert!(run.last.state.u.iter().all(|v| v.abs() < 1e-9), "{:?}", run.last.state.u);
    let last = run.events.iter().filter(|e| e.kind != Kind::Mark).map(|e| e.time).fold(0.0, f64::max);
    let late = run.events.iter().filter(|e| e.time > last + 1e-6).count();
    assert!(late <= 3, "{late} marks at rest");
}

/// A contact with a gap that is not a number was silently open; a state that blew up was `null` in a finished run.
#[test]
fn a_formula_without_value_is_named_with_its_instant() {
    let text = |force: &str, floor: &str, rate: &str| {
        format!(
            "name = \"nan\"\nparameters = {{ k = 0 }}\ncoordinates = {{ x = {{ rate = 0.5 }}, y = 1 }}\n\
             states = {{ z = {{ start = 1, rate = \"{rate}\" }} }}\n\
             ground = {{ wall = {{ through = [\"{floor}\", 0], normal = [1, 0] }} }}\n\
             body = [{{ name = \"b\", mass = 2, position = [\"x\", \"y\"] }}]\n\
             force = [{{ name = \"push\", along = \"y\", force = \"{force}\" }}]\n\
             contact = [{{ name = \"stop\", between = [\"b\", \"ground.wall\"] }}]\n"
        )
    };
    let wrong = system(&text("1", "1/k", "0"));
    let start = event_driven(&wrong, &wrong.start(), &Settings::until(1.0), &mut Default::default());
    assert_eq!(start.unwrap_err(), StartError::Undefined { what: "the gap of contact `stop`".into() });
    // √(0.3 − x) ends at t = 0.6
    let ended = run(&text("sqrt(0.3 - x)", "-1", "0"), 2.0);
    assert_eq!(ended.status, Status::Failed);
    assert!(ended.message.starts_with("force `push` has no finite value"), "{}", ended.message);
    assert!((ended.time - 0.6).abs() < 1e-6, "{}", ended.time);
    // the gap itself ends
    let ended = run(&text("0", "-sqrt(0.3 - x)", "0"), 2.0);
    assert_eq!(ended.status, Status::Failed);
    assert!(ended.message.contains("contact `stop` has no finite value"), "{}", ended.message);
    // ż = z² is infinite at t = 1
    let explosive = system(&text("0", "-1", "z^2/(1 s)"));
    let settings = Settings { step: 0.01, ..Settings::until(3.0) };
    let end = time_stepping(&explosive, &explosive.start(), &settings, &mut Default::default()).unwrap();
    assert_eq!(end.status, Status::Failed);
    assert!(end.message.contains("state `z` has no finite value"), "{}", end.message);
}

/// The zeros of a fast function of time in a model that has nothing else to follow: all of them are marked, whatever the direction.
#[test]
fn fast_crossings_of_a_slow_model_are_all_marked() {
    for (direction, count) in [("both", 599), ("up", 299), ("down", 300)] {
        let text = format!(
            "coordinates = {{ x = {{ rate = \"1 m/s\" }} }}\nbody = [{{ name = \"wheel\", mass = \"1 kg\", position = \"x\" }}]\n\
             event = [{{ name = \"tick\", crossing = \"sin(pi*x/1 m)\", direction = \"{direction}\" }}]\nrun = {{ until = \"599.5 s\" }}\n"
        );
        let run = run(&text, 599.5);
        let times: Vec<f64> = run.events.iter().map(|e| e.time).collect();
        assert_eq!(times.len(), count, "{direction}");
        assert!(times.iter().all(|t| (t - t.round()).abs() < 1e-9));
    }
}
