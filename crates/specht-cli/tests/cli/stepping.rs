//! METH-TIMESTEP over the gallery: as the step shrinks, time-stepping gives the motion of the event-driven scheme.

use crate::{err, out, root, specht_in};
use serde_json::Value as Json;

/// Steps of the coarsest of four runs; each of the others has twice as many as the one before.
const COARSEST: usize = 250;
/// How far the error may scatter about its order: the phase of stick, slip and impacts within a step is a matter of chance.
const SCATTER: f64 = 2.5;
/// Below this, relative to the coordinates, errors are rounding and the tolerance of the event-driven run.
const FLOOR: f64 = 2e-9;

/// Entries that are compared over a shorter time than their own, and the case that is run.
const SHORTER: &[(&str, &str, &str)] = &[
    ("woodpecker", "siconos", "0.28"),
    ("den_hartog", "", "20"),
    ("rocking_block", "", "1.5"),
    ("rate_and_state", "", "0.25"),
    ("stick_slip_record", "", "0.9"),
    ("rattle_cascade", "", "10"),
];
/// Entries that are not compared, each with its reason.
const LEFT_OUT: &[(&str, &str)] = &[
    ("arch", "bodies that touch wherever they meet: by time steps alone"),
    ("bearings", "stiff: the long steps are refused"),
    ("bowl", "bodies that touch wherever they meet: by time steps alone"),
    ("box_tower", "bodies that touch wherever they meet: by time steps alone"),
    ("break_down", "stiff: the long steps are refused"),
    ("brick_wall", "180 contacts: made for time-stepping alone"),
    ("curling", "a patch: event-driven alone"),
    ("damper", "stiff: the long steps are refused"),
    ("diesel", "stiff: the long steps are refused"),
    ("disc_bin", "bodies that touch wherever they meet: by time steps alone"),
    ("domino_run", "bodies that touch wherever they meet: by time steps alone"),
    ("drill", "blows that part the runs by rounding"),
    ("drill_full", "the impulse of the wall comes a step after the blow, where the memory does not see it"),
    ("four_balls", "bodies that touch wherever they meet: by time steps alone"),
    ("gearbox", "chaotic: hundreds of impacts"),
    ("heap", "bodies that touch wherever they meet: by time steps alone"),
    ("hopper", "bodies that touch wherever they meet: by time steps alone"),
    ("knocked_tower", "bodies that touch wherever they meet: by time steps alone"),
    ("landing", "stiff: the long steps are refused"),
    ("landing_elastic", "stiff: the long steps are refused"),
    (
        "pantograph",
        "the motion is not unique: steps take another member of the family than compliant contacts",
    ),
    ("rattle", "chaotic: hundreds of impacts"),
    ("rattle_means", "chaotic: hundreds of impacts"),
    ("rattle_rig", "chaotic: hundreds of impacts"),
    ("rattle_two", "hundreds of impacts, of which long steps see none apart"),
    ("rough_grain", "a friction tensor: event-driven alone"),
    ("small_displacement", "ends at an event, no contacts"),
    ("slide_stop", "stiff: the long steps are refused"),
    ("slip_paths", "stiff: the long steps are refused"),
    ("stick_slip_plane", "stiff: the long steps are refused"),
    ("tensor_ball", "a friction tensor: event-driven alone"),
    ("turbogear", "stiff: the long steps are refused"),
    ("standing_drum", "bodies that touch wherever they meet: by time steps alone"),
    ("stacker_elastic", "a scripted sequence of events, no contacts"),
];

/// These five are compared in any case: a pin with a rough rail, stick and slip, impacts, two rough faces, friction in a tangent plane.
const FIVE: [&str; 5] = ["slider_crank", "stick_slip_stack", "bouncing_ball", "wedge", "incline_space"];

/// And these five of space: impacts and friction in tangent planes, rolling, a tip that rubs, a loop.
const SPACE: [&str; 5] = ["corner_ball", "superball_space", "billiards", "spinning_top", "rssr"];

fn run(args: &[&str]) -> Json {
    let output = specht_in(&root(), &[&["run", "--json", "--no-tasks"], args].concat());
    serde_json::from_str(&out(&output)).unwrap_or_else(|_| panic!("{args:?}: {}", err(&output)))
}

/// Coordinates at the end.
fn end(run: &Json) -> Vec<(String, f64)> {
    let names = run["final"].as_object().into_iter().flatten();
    names.filter(|(k, _)| !k.contains('\'')).filter_map(|(k, v)| Some((k.clone(), v.as_f64()?))).collect()
}

/// What is wrong with an entry, if anything.
fn compare(name: &str) -> Option<String> {
    let (mut how, mut shorter) = (vec![name], Vec::new());
    if let Some((_, case, until)) = SHORTER.iter().find(|s| s.0 == name) {
        shorter.extend(["--until", until]);
        if !case.is_empty() {
            how.extend(["--case", case]);
        }
    }
    let exact = run(&[&how[..], &shorter, &["--scheme", "event"]].concat());
    if exact["status"] != "finished" {
        return Some(format!("{name}: the event-driven run: {}", exact["message"]));
    }
    let time = exact["time"].as_f64().unwrap();
    let (until, exact) = (time.to_string(), end(&exact));
    let size = exact.iter().fold(0.0_f64, |m, (_, q)| m.max(q.abs()));
    let (mut errors, mut passed) = (Vec::new(), Vec::new());
    for k in 0..4 {
        let step = (time / (COARSEST << k) as f64).to_string();
        let stepped = run(&[&how[..], &["--scheme", "step", "--step", &step, "--until", &until]].concat());
        let end = end(&stepped);
        let error = exact.iter().zip(&end).fold(0.0_f64, |m, (a, b)| m.max((a.1 - b.1).abs()));
        if stepped["status"] != "finished" && k > 0 {
            return Some(format!("{name}: {step} s: {}", stepped["message"]));
        }
        errors.push(if stepped["status"] == "finished" { error } else { f64::INFINITY });
        passed.push(stepped["audit"]["passed"] == true);
    }
    let explained = |k: usize, order_one: f64| {
        (SCATTER * order_one * errors[k - 2].max(errors[k - 1])).max(FLOOR * (1.0 + size))
    };
    if errors[3] > explained(3, 0.25) || errors[2] > explained(2, 0.5) {
        return Some(format!("{name}: does not converge: {errors:?}"));
    }
    // an error that the finest run does not explain is not trusted
    for k in 0..3 {
        let explained = 4.0 * SCATTER * errors[3] * (1 << (3 - k)) as f64;
        if passed[k] && errors[k] > explained.max(0.03 * size).max(FLOOR * (1.0 + size)) {
            return Some(format!("{name}: the audit passed at {k} of {errors:?}"));
        }
    }
    None
}

#[test]
fn time_stepping_converges_to_the_event_driven_run_on_every_entry_of_the_gallery() {
    let mut names: Vec<String> = std::fs::read_dir(root().join("gallery"))
        .unwrap()
        .filter_map(|e| e.ok().filter(|e| e.path().join("model.toml").exists()))
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .filter(|name| !LEFT_OUT.iter().any(|l| l.0 == name))
        .collect();
    names.sort();
    assert!(names.len() > 50, "{names:?}");
    assert!(FIVE.iter().chain(&SPACE).all(|f| names.iter().any(|n| n == f)), "{names:?}");
    let half = names.len() / 2;
    let wrong: Vec<String> = std::thread::scope(|s| {
        let (a, b) = names.split_at(half);
        let other = s.spawn(|| b.iter().filter_map(|n| compare(n)).collect::<Vec<_>>());
        let mut wrong: Vec<String> = a.iter().filter_map(|n| compare(n)).collect();
        wrong.extend(other.join().unwrap());
        wrong
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
