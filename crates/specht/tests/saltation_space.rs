//! Derivatives of runs with friction in tangent planes and free rotations, against differences of whole runs (METH-SALT-*).

mod lab;

use lab::Lab;
use specht::inside::seed;
use specht::sim::{
    ImpactLaw as Law, Outside, Record, Seed, Settings, Trajectory, event_driven, event_driven_along,
};

/// A block on springs, pulled over a rough plane by a load that turns and grows: stick, loss of stick, stop, reversal.
const PULLED: &str = r#"
parameters  = { mu = 0.3, ms = 0.3, m = 1, k = 3, p = 0.8, w = 0.4, M = 1.5, N = 10, c = 0.2 }
coordinates = { x = 0, y = 0, z = 0 }
body        = [{ name = "block", mass = "m", position = ["x", "y", "z"] }, { name = "hoop", mass = "M", position = ["x", 0, 0] }]
ground      = { plane = { through = [0, 0, 0], normal = [0, 0, 1] } }
contact     = [{ name = "sole", between = ["block", "ground.plane"], friction = { static = "ms", sliding = "mu" } }]
force       = [{ along = "x", force = "p*t*cos(w*t) - k*x - c*x'" }, { along = "y", force = "p*t*sin(w*t) - k*y - c*y'" }, { along = "z", force = "-N - 0.3*x - 0.2*y" }]
run         = { until = 6 }
output      = { pull = "sole.friction", fast = "sole.speed", power = "sole.heat'", first = "sole.tangential[1]", second = "sole.tangential[2]" }
"#;

/// A ball thrown at the floor with a spin.
const THROWN: &str = r#"
gravity     = [0, 0, -9.81]
parameters  = { m = 0.2, R = 0.05, mu = 0.15, e = 0.6, h = 0.1, vx = 1.2, vy = -0.5, wx = 8, wy = 20, wz = 3, s = 1.2 }
coordinates = { x = { rate = "vx" }, y = { rate = "vy" }, z = "R + h" }
body        = [{ name = "ball", mass = "m", inertia = ["0.4*m*R^2", "0.4*s*m*R^2", "0.5*m*R^2"], position = ["x", "y", "z"], rotation = "free", spin = ["wx", "wy", "wz"], features = { skin = { center = [0, 0, 0], radius = "R" } } }]
ground      = { floor = { through = [0, 0, 0], normal = [0, 0, 1] } }
contact     = [{ name = "floor", between = ["ball.skin", "ground.floor"], friction = "mu", restitution = "e" }]
run         = { until = 0.4 }
"#;

/// A block slides over a grain: a tensor, and an ellipse.
const GRAIN: &str = r#"
gravity     = [0, 0, -9.81]
parameters  = { a = 0.4, b = 0.1, p = 0.5, q = 0.2, v = 2, w = 1, k = 4 }
coordinates = { x1 = { rate = "v" }, y1 = { rate = "w" }, z1 = 0, x2 = { rate = "v" }, y2 = { rate = "w" }, z2 = 0 }
body        = [{ name = "swirl", mass = 2, position = ["x1", "y1", "z1"] }, { name = "grain", mass = 2, position = ["x2", "y2", "z2"] }]
ground      = { floor = { through = [0, 0, 0], normal = [0, 0, 1] } }
contact     = [{ name = "tensor", between = ["swirl", "ground.floor"], friction = [["a", "b"], ["b", "a"]] }, { name = "ellipse", between = ["grain", "ground.floor"], friction = { ellipse = ["p", "q"] } }]
force       = [{ along = "x1", force = "-k*x1" }, { along = "y2", force = "-k*y2" }]
run         = { until = 1.5 }
"#;

/// A case: model, case of the file, changes, parameters, end.
struct Case {
    name: &'static str,
    text: Option<&'static str>,
    case: Option<&'static str>,
    set: &'static [(&'static str, &'static str)],
    live: &'static [&'static str],
    until: f64,
    law: Law,
}

impl Case {
    fn lab(&self) -> Lab {
        match self.text {
            Some(text) => Lab::text(text, self.live, self.case, self.set),
            None => Lab::with(self.name, self.live, self.case, self.set),
        }
    }

    fn settings(&self) -> Settings {
        Settings {
            tolerance: 1e-12,
            record: Record::Nothing,
            impact: self.law,
            ..Settings::until(self.until)
        }
    }
}

fn end(run: &Trajectory) -> Vec<f64> {
    [&run.last.state.q[..], &run.last.state.u, &run.last.state.z].concat()
}

/// The same, then the outputs at the end and the times of events.
fn all(run: &Trajectory) -> Vec<f64> {
    let times: Vec<f64> = run.events.iter().map(|e| e.time).collect();
    [end(run), run.last.outputs.clone(), times].concat()
}

/// Extrapolated central differences of the state at the end and of the times of events, with their errors.
fn differences(lab: &mut Lab, name: &str, s: &Settings, plain: &Trajectory) -> Vec<(f64, f64)> {
    let value = lab.value(name);
    let mut at = |h: f64| {
        lab.set(&[(name, value + h)]);
        let run = event_driven(&lab.sys, &lab.start(), s, &mut Outside::default()).unwrap();
        assert_eq!(run.counts.events, plain.counts.events, "{name}: another sequence of events");
        all(&run)
    };
    let mut h = 4e-3 * value.abs().max(0.05);
    let (mut row, mut best): (Vec<Vec<f64>>, Vec<(f64, f64)>) = (Vec::new(), Vec::new());
    for _ in 0..6 {
        let (a, b) = (at(h), at(-h));
        let mut next = vec![a.iter().zip(&b).map(|(a, b)| (a - b) / (2.0 * h)).collect::<Vec<f64>>()];
        best.resize(a.len(), (f64::NAN, f64::INFINITY));
        let mut factor = 4.0;
        for old in &row {
            let last = &next[next.len() - 1];
            let better: Vec<f64> =
                last.iter().zip(old).map(|(n, o)| (factor * n - o) / (factor - 1.0)).collect();
            for (i, best) in best.iter_mut().enumerate() {
                let error = (better[i] - last[i]).abs().max((better[i] - old[i]).abs());
                if error <= best.1 {
                    *best = (better[i], error);
                }
            }
            next.push(better);
            factor *= 4.0;
        }
        row = next;
        h *= 0.5;
    }
    lab.set(&[(name, value)]);
    best
}

/// Accuracy of the time of a stop in a tangent plane.
const DIRECTION: f64 = 1e-5;

/// Largest difference from the differences of whole runs, relative to the largest of its kind, over all that differences can tell.
fn compare(case: &Case, tolerance: f64) -> usize {
    let mut lab = case.lab();
    let (s, name) = (case.settings(), case.name);
    let seeds: Vec<Seed> = case.live.iter().map(|p| seed(&lab.sys, lab.number(p), None).unwrap()).collect();
    let start = lab.start();
    let run = event_driven_along(&lab.sys, &start, &s, &mut Outside::default(), &seeds, false).unwrap();
    let plain = event_driven(&lab.sys, &start, &s, &mut Outside::default()).unwrap();
    assert_eq!(end(&plain), end(&run), "{name}: derivatives have touched the run");
    let d = run.derivatives.as_ref().unwrap();
    assert!(d.lost.is_empty(), "{name} {:?}: {:?}", case.set, d.lost);
    let n = end(&plain).len();
    let shown = n + plain.last.outputs.len();
    let mut compared = 0;
    for (k, p) in case.live.iter().enumerate() {
        let expected = differences(&mut lab, p, &s, &plain);
        let times: Vec<f64> = d.times.iter().map(|t| t[k]).collect();
        let found = [&d.last[k][..n], &d.outputs[k], &times].concat();
        for range in [0..n, n..shown, shown..found.len()] {
            // what does not depend on the parameter does not by rounding
            let least = 1e-6 / lab.value(p).abs().max(1e-3);
            let size = found[range.clone()].iter().fold(least, |m, v| m.max(v.abs()));
            for i in range {
                let (value, error) = expected[i];
                if error > 0.3 * tolerance * size {
                    continue;
                }
                let off = (found[i] - value).abs();
                // slow slip is 1e-10 of what it was: at a stop rounding leaves its direction 1e-6
                let tolerance = if i < shown { tolerance } else { tolerance.max(DIRECTION) };
                assert!(
                    off <= tolerance * size,
                    "{name} {:?}, {p}[{i}]: {} is not {value} ± {error:e}",
                    case.set,
                    found[i]
                );
                compared += 1;
            }
        }
    }
    assert!(compared >= case.live.len() * n / 2, "{name}: only {compared} can be told by differences");
    compared
}

const PLAIN: Case =
    Case { name: "", text: None, case: None, set: &[], live: &[], until: 1.0, law: Law::Poisson };

/// METH-SALT-STOP, -OTHER in tangent planes.
#[test]
fn derivatives_through_stops_turns_and_rolling_are_differences_of_runs() {
    let cases = [
        Case { name: "incline_space", live: &["v", "f", "al"], until: 2.0, ..PLAIN },
        Case { name: "incline_space", case: Some("turn"), live: &["v", "f", "al"], until: 1.5, ..PLAIN },
        Case {
            name: "incline_space",
            case: Some("turn"),
            set: &[("psi", "pi")],
            live: &["v", "f", "al"],
            until: 1.5,
            ..PLAIN
        },
        Case { name: "corner_ball", live: &["mut", "muc", "R"], until: 0.15, ..PLAIN },
        Case { name: "frenchman", live: &["mut", "muc", "v0"], until: 0.5, ..PLAIN },
        Case { name: "grain", text: Some(GRAIN), live: &["a", "b", "p", "q", "v", "k"], until: 1.5, ..PLAIN },
    ];
    for case in cases {
        compare(&case, 1e-6);
    }
}

/// METH-3D-LOSS: the direction in which slip begins moves with the parameters.
#[test]
fn derivatives_through_losses_of_stick_in_the_plane_are_differences_of_runs() {
    let cases = [
        Case {
            name: "pulled",
            text: Some(PULLED),
            live: &["mu", "m", "k", "p", "w", "N"],
            set: &[("ms", "mu")],
            until: 6.0,
            ..PLAIN
        },
        Case {
            name: "pulled",
            text: Some(PULLED),
            live: &["mu", "ms", "M", "p", "w"],
            set: &[("ms", "0.4")],
            until: 6.0,
            ..PLAIN
        },
        Case { name: "stick_slip_plane", live: &["f", "N", "th", "V", "M"], until: 55.0, ..PLAIN },
    ];
    for case in cases {
        compare(&case, 1e-5);
    }
}

/// METH-SALT-IMPACT: all laws with friction in the plane, slip and stick in every phase, a body that turns freely.
#[test]
fn derivatives_through_impacts_in_space_are_differences_of_runs() {
    let live = &["e", "mu", "vx", "wy", "R", "s"];
    let thrown = Case { name: "thrown", text: Some(THROWN), live, until: 0.3, ..PLAIN };
    let cases = [
        Case { ..thrown },
        Case { set: &[("mu", "0.8")], live: &["e", "vx", "wy", "s", "R"], ..thrown },
        Case { law: Law::Newton, live: &["e", "vx", "wy", "s", "R"], ..thrown },
        Case { law: Law::Moreau, ..thrown },
        Case { law: Law::Moreau, set: &[("mu", "0.8")], live: &["e", "vx", "wy", "s", "R"], ..thrown },
        Case {
            name: "superball_space",
            case: Some("dull"),
            live: &["e", "R", "h"],
            set: &[("e", "0.8")],
            until: 0.5,
            ..PLAIN
        },
    ];
    for case in cases {
        compare(&case, 1e-6);
    }
}
