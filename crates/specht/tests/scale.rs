//! Laws of scale: results do not depend on the unit of length, nor on what was computed before.

mod lab;

use lab::{Lab, close};
use specht::analysis::Snapshot;
use specht::sim::{Kind, Outside, Settings, Trajectory, event_driven};
use specht::system::System;

fn run(lab: &Lab, until: f64) -> Trajectory {
    let settings = Settings { until, ..Default::default() };
    event_driven(&lab.sys, &lab.start(), &settings, &mut Outside::default()).unwrap()
}

/// Times and kinds of the events, times in units of `second`.
fn story(t: &Trajectory, second: f64) -> Vec<(Kind, f64)> {
    t.events.iter().map(|e| (e.kind, e.time / second)).collect()
}

const BALL: &str = r#"
gravity = [0, -9.81]
parameters = { h = "1 m", r = "0.3 m", e = 0.6 }
coordinates = { y = "h + r" }
ground = { floor = { through = [0, 0], normal = [0, 1] } }
body = [{ name = "ball", mass = 2, position = [0, "y"], features = { skin = { center = [0, 0], radius = "r" } } }]
contact = [{ name = "c", between = ["ball.skin", "ground.floor"], restitution = "e" }]
"#;

/// A fixed metre as the scale of length took a ball 1 nm above the floor for one that lies on it.
#[test]
fn a_ball_dropped_from_any_height_bounces_and_rests_at_the_time_of_the_series() {
    for (h, r) in [(3e-9, 0.3), (3e-9, 1e-10), (2e-12, 3e-13), (7e-7, 1.0), (4e5, 10.0)] {
        let lab = Lab::text(BALL, &[], None, &[("h", &format!("{h:e}")), ("r", &format!("{r:e}"))]);
        let fall = (2.0 * h / 9.81_f64).sqrt();
        let rest = fall * (1.0 + 0.6) / (1.0 - 0.6);
        let t = run(&lab, 1.5 * rest);
        assert!(t.audit.passed, "h = {h}: {:?}", t.audit.remarks);
        close(t.events[0].time / fall, 1.0, 1e-6);
        let end = t.events.iter().find(|e| e.kind == Kind::Accumulated).expect("comes to rest");
        close(end.time / rest, 1.0, 1e-5);
    }
}

const SLED: &str = r#"
gravity = [0, -9.81]
parameters = { L = "1 m", g = "9.81 m/s^2", mu = 0.35, e = 0.4 }
coordinates = { x = { start = 0, rate = "sqrt(g*L)" }, y = "0.7*L", th = 0.3 }
ground = { floor = { through = [0, 0], normal = [0, 1] }, wall = { through = ["1.6*L", 0], normal = [-1, 0] } }
[[body]]
name = "box"
mass = 1
inertia = "0.09*L^2*1 kg"
position = ["x", "y"]
angle = "th"
features = { skin = { material = "left", closed = true, outline = [["-0.4*L", "-0.2*L"], ["0.4*L", "-0.2*L"], ["0.4*L", "0.2*L"], ["-0.4*L", "0.2*L"]] } }
[[contact]]
name = "floor"
between = ["box.skin", "ground.floor"]
friction = "mu"
restitution = "e"
[[contact]]
name = "wall"
between = ["box.skin", "ground.wall"]
friction = "mu"
restitution = "e"
"#;

#[test]
fn a_box_that_hits_floor_and_wall_does_the_same_in_nanometres_and_kilometres() {
    // up to the fifth impact, before the motion becomes chaotic
    let reference = story(&run(&Lab::text(SLED, &[], None, &[]), 0.8), 1.0);
    assert!(reference.len() > 4);
    for s in [1e-9, 1e-4, 1e3] {
        let lab = Lab::text(SLED, &[], None, &[("L", &format!("{s:e}"))]);
        let found = story(&run(&lab, 0.8 * f64::sqrt(s)), s.sqrt());
        for (a, b) in reference.iter().zip(&found).take(5) {
            assert_eq!(a.0, b.0, "s = {s}");
            close(a.1, b.1, 1e-7);
        }
    }
}

/// A gap that is an angle beside one that is a nanometre: each has its own size.
#[test]
fn an_angle_stop_works_beside_a_gap_of_nanometres() {
    let text = r#"
coordinates = { x = { start = "2 nm", rate = "-1 nm/s" }, phi = { start = 0.4, rate = 0.25 } }
body = [{ name = "slider", mass = 1, position = ["x", 0] }, { name = "arm", mass = 1, inertia = 1, position = [0, 0], angle = "phi" }]
contact = [{ name = "stop", gap = "x" }, { name = "angle", gap = "1 - phi", restitution = 1 }]
"#;
    let lab = Lab::text(text, &[], None, &[]);
    assert_eq!(lab.sys.gap_scale(0), 2e-9);
    assert_eq!(lab.sys.gap_scale(1), 1.4);
    let t = run(&lab, 3.0);
    assert!(t.audit.passed);
    let times: Vec<f64> = t.events.iter().filter(|e| e.kind == Kind::Impact).map(|e| e.time).collect();
    assert_eq!(times.len(), 2);
    times.iter().zip([2.0, 2.4]).for_each(|(&t, right)| close(t, right, 1e-12));
    close(t.last.state.u[1], -0.25, 1e-12);
}

/// The search for the contact parameter of a curve began where the worker had been before, so the last bits depended on it.
#[test]
fn an_evaluation_does_not_depend_on_what_was_evaluated_before() {
    let text = r#"
gravity = [0, -9.81]
coordinates = { x = 0, y = 0.31, phi = 0.2 }
ground = { hill = { curve = ["s", "0.1*cos(2*s)"], parameter = "s", range = [-3, 3], material = "right" } }
body = [{ name = "egg", mass = 1, inertia = 0.02, position = ["x", "y"], angle = "phi", features = { skin = { curve = ["0.3*cos(s)", "0.15*sin(s)"], parameter = "s", range = [0, "2*pi"], material = "left" } } }]
contact = [{ name = "c", between = ["egg.skin", "ground.hill"], friction = 0.4 }]
"#;
    let lab = Lab::text(text, &[], None, &[]);
    let mut used = Snapshot::new(&lab.sys);
    let mut dice = lab::Dice(5);
    for _ in 0..40 {
        let q = vec![dice.range(-1.0, 1.0), dice.range(0.5, 0.9), dice.range(-3.0, 3.0)];
        let mut fresh = Snapshot::new(&lab.sys);
        fresh.state.q.clone_from(&q);
        used.state.q = q;
        for s in [&mut fresh, &mut used] {
            s.state.u = vec![0.4, -0.2, 1.0];
        }
        fresh.take(&lab.sys).unwrap();
        used.take(&lab.sys).unwrap();
        assert_eq!(fresh.eval.gap[0].to_bits(), used.eval.gap[0].to_bits());
        assert_eq!(fresh.eval.w, used.eval.w);
        assert_eq!(fresh.eval.accel_offset, used.eval.accel_offset);
    }
}

/// The report read contact quantities by the contact's number in the file, wrong after an outline; rates were zero.
#[test]
fn plots_after_an_outline_show_what_the_outputs_show() {
    let text = r#"
gravity = [0, -10]
coordinates = { x = 0, y = 0.4, phi = 0, b = 2 }
ground = { floor = { through = [0, 0], normal = [0, 1] } }
body = [
  { name = "block", mass = 2, inertia = 0.3, position = ["x", "y"], angle = "phi", features = { skin = { outline = [[-0.6, -0.4], [0.6, -0.4], [0.6, 0.4], [-0.6, 0.4]], material = "left", closed = true } } },
  { name = "ball", mass = 5, position = [3, "b"], features = { p = [0, 0] } } ]
contact = [
  { name = "foot", between = ["block.skin", "ground.floor"], friction = 0.5 },
  { name = "spot", between = ["ball.p", "ground.floor"] } ]
output = { N = "foot.normal", v = "spot.gap'" }
plot = [{ y = ["foot.normal", "spot.gap'"] }, { x = "b", y = ["spot.gap", "spot.normal", "v"] }]
"#;
    let lab = Lab::text(text, &[], None, &[]);
    let t = run(&lab, 0.5);
    for row in t.samples.rows() {
        let o = row.outputs;
        let (fallen, speed) = (2.0 - 5.0 * row.t * row.t, -10.0 * row.t);
        let right = [20.0, speed, row.t, 20.0, speed, fallen, fallen, 0.0, speed];
        assert_eq!(o.len(), right.len());
        o.iter().zip(right).for_each(|(a, b)| close(*a, b, 1e-9));
    }
    assert_eq!(lab.sys.output_names().len(), 2);
}
