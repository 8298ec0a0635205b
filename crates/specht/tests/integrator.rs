//! Smooth motion: starts from rest, rounding, step sizes.

mod lab;

use lab::Lab;
use specht::sim::{Outside, Settings, Status, Trajectory, event_driven};

fn run(text: &str, settings: &Settings) -> Trajectory {
    let lab = Lab::text(text, &[], None, &[]);
    let t = event_driven(&lab.sys, &lab.start(), settings, &mut Outside::default()).unwrap();
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.audit.passed, "{:?}", t.audit);
    t
}

/// A mass of 2 kg at rest at x = 0, with a force.
fn mass_under(force: &str) -> String {
    format!(
        "[coordinates]\nx = 0\n[[body]]\nname = \"mass\"\nmass = 2\nposition = \"x\"\n[[force]]\nname = \"f\"\n{force}\n"
    )
}

#[track_caller]
fn close(a: f64, b: f64, relative: f64) {
    assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
}

/// Wrong before: from rest under a force tᵖ every step has the same relative error, and the step size fell to nothing.
#[test]
fn a_mass_leaves_rest_under_any_power_of_time() {
    for p in [1, 2, 3, 5, 7, 10] {
        let text = mass_under(&format!("along = \"x\"\nforce = \"3*(t/1 s)^{p}\""));
        for until in [1e-3, 1.7, 300.0] {
            let t = run(&text, &Settings::until(until));
            let n = f64::from(p);
            let exact = 1.5 * until.powi(p + 2) / ((n + 1.0) * (n + 2.0));
            close(t.last.state.q[0], exact, 1e-7);
            assert!(t.counts.steps < 400, "p = {p}: {} steps", t.counts.steps);
        }
    }
}

/// Wrong before, for the same reason. ẍ = w²(b t³ − x): x = b t³ − 6 b t/w² + 6 b sin(wt)/w³.
#[test]
fn a_spring_mass_follows_a_base_that_starts_like_a_cube() {
    let (stiffness, b) = (450.0_f64, 0.3);
    let w = (stiffness / 2.0).sqrt();
    let text = mass_under(&format!("along = \"x - {b}*t^3\"\nspring = {stiffness}"));
    let t = run(&text, &Settings::until(1.3));
    let s = 1.3_f64;
    let exact = b * (s.powi(3) - 6.0 * s / (w * w) + 6.0 * (w * s).sin() / w.powi(3));
    close(t.last.state.q[0], exact, 1e-8);
    // and 1 − cos
    let text = mass_under("along = \"x\"\nforce = \"4*(1 - cos(3*t/1 s))\"");
    let t = run(&text, &Settings::until(2.0));
    let exact = 2.0 * (2.0 + (6.0_f64.cos() - 1.0) / 9.0);
    close(t.last.state.q[0], exact, 1e-8);
}

/// Links far from the origin, all but one at rest: rounding of c x / m in the accelerations is no error of the method.
/// Wrong before: a slow push took a hundred times as many steps as a fast one.
#[test]
fn a_chain_far_from_the_origin_takes_the_steps_of_one_at_the_origin() {
    let chain = |offset: f64, stiffness: f64, push: f64| {
        format!(
            r#"
[coordinates]
x = {{ for = "i = 1..25", start = "{offset:e}*i", rate = "if(i == 7, {push:e}, 0)" }}
[[body]]
for = "i = 1..25"
name = "link"
mass = 0.5
position = "x[i]"
[[force]]
for = "i = 2..25"
name = "spring"
along = "x[i] - x[i-1]"
spring = {stiffness:e}
length = {offset:e}
"#
        )
    };
    for stiffness in [2e4, 3e6] {
        for push in [2e-3, 5e-5] {
            let settings = Settings::until(0.02);
            let here = run(&chain(0.0, stiffness, push), &settings);
            let there = run(&chain(0.3, stiffness, push), &settings);
            let (few, many) = (here.counts.steps, there.counts.steps);
            assert!(many <= few + 20, "{few} and {many} steps");
            // positions are rounded to ε x, which the fastest wave makes a velocity, some ten times in a run
            let rounding = (4.0 * stiffness / 0.5).sqrt() * f64::EPSILON * 0.3 * 25.0;
            for i in 0..25 {
                let (a, b) = (here.last.state.u[i], there.last.state.u[i]);
                assert!((a - b).abs() <= 1e-8 * push + 30.0 * rounding, "link {i}: {a} and {b}");
            }
        }
    }
}
