//! Smooth motion: starts from rest, rounding, step sizes.

mod lab;
mod systems;

use lab::Lab;
use specht::sim::Integrator as Choice;
use specht::sim::{Kind, Outside, Record, Settings, Status, Trajectory, event_driven};

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

/// METH-LAW-STATE: a block on a spring whose end moves at V, ageing law, the state is w = ln(V₀θ/L).
fn rate_and_state(stiffness: f64, speed: f64, events: &str) -> String {
    format!(
        r#"
[parameters]
m = 1
N = 10
mu0 = 0.6
a = 0.02
b = 0.03
L = 1e-4
V0 = 1e-6
V = 1e-3
k = {stiffness:e}
[coordinates]
x = {{ start = "-N*(mu0 + (a - b)*log(V/V0))/k", rate = "{speed}*V" }}
[states]
w = {{ start = "log(V0/V)", rate = "V0/L*exp(-w) - x'/L" }}
[define]
z = "x'/(2*V0)*exp((mu0 + b*w)/a)"
mu = "a*log(z + sqrt(z^2 + 1))"
[[body]]
name = "block"
mass = "m"
position = "x"
[[force]]
name = "spring"
along = "x - V*t"
spring = "k"
[[force]]
name = "friction"
along = "x"
force = "-N*mu"
{events}
"#
    )
}

/// Above k_c = N (b − a)/L the slider creeps to steady motion: spring force N (μ₀ + (a − b) ln(V/V₀)), w = ln(V₀/V). The damping of
/// the law, a N / V = 200 N s/m and more, is stiff.
#[test]
fn a_slider_with_rate_and_state_friction_creeps_to_steady_motion_above_the_critical_stiffness() {
    let (stiffness, until) = (1500.0, 60.0);
    let settings = Settings { record: Record::Events, ..Settings::until(until) };
    let t = run(&rate_and_state(stiffness, 1.01, ""), &settings);
    assert!(t.counts.implicit > 0 && t.counts.steps < 2000, "{:?}", t.counts);
    let force = stiffness * (1e-3 * until - t.last.state.q[0]);
    close(force, 10.0 * (0.6 - 0.01 * 1000.0_f64.ln()), 1e-7);
    close(t.last.state.u[0], 1e-3, 1e-6);
    close(t.last.state.z[0], -(1000.0_f64.ln()), 1e-7);
}

/// Below k_c it sticks and slips: the implicit and the explicit method (where it gets through) see the same slips at the same
/// times; the state is located on the collocation polynomial.
#[test]
fn stick_slip_by_rate_and_state_friction_is_the_same_by_both_methods() {
    let events = "[[event]]\nname = \"slip\"\ncrossing = \"x' - 1.2*V\"\ndirection = \"up\"\n";
    let marks = |method: Choice, tolerance: f64| {
        let settings = Settings { record: Record::Events, method, tolerance, ..Settings::until(4.0) };
        let t = run(&rate_and_state(510.0, 2.0, events), &settings);
        let times = t.events.iter().filter(|e| e.kind == Kind::Mark).map(|e| e.time).collect::<Vec<_>>();
        (times, t)
    };
    let (by_explicit, explicit) = marks(Choice::Explicit, 1e-9);
    for choice in [Choice::Implicit, Choice::Auto] {
        let (times, t) = marks(choice, 1e-9);
        assert_eq!(times.len(), by_explicit.len());
        assert!(!times.is_empty());
        for (a, b) in times.iter().zip(&by_explicit) {
            close(*a, *b, 1e-9);
        }
        assert!(t.counts.implicit > 0 && t.counts.steps < explicit.counts.steps, "{:?}", t.counts);
        close(t.last.state.q[0], explicit.last.state.q[0], 1e-8);
    }
}

/// Impacts found by the implicit method: a ball on a stiffly damped support, compared with the explicit one.
#[test]
fn impacts_are_located_as_exactly_by_the_implicit_method() {
    let ball = r#"
[coordinates]
y = { start = 0.7, rate = 0.4 }
[[body]]
name = "ball"
mass = 0.3
position = [0, "y"]
[[force]]
name = "weight"
along = "y"
force = "-0.3*9.81 - 0.02*y'"
[[contact]]
name = "floor"
gap = "y"
restitution = 0.6
"#;
    let marks = |method: Choice| {
        let settings = Settings { record: Record::Events, method, ..Settings::until(1.1) };
        let t = run(ball, &settings);
        t.events.iter().map(|e| e.time).collect::<Vec<_>>()
    };
    let (a, b) = (marks(Choice::Explicit), marks(Choice::Implicit));
    assert!(a.len() >= 2 && a.len() == b.len(), "{a:?} {b:?}");
    for (a, b) in a.iter().zip(&b) {
        close(*a, *b, 1e-9);
    }
}

/// Rounding of the fluxes drives the rotor, that the turbine: noise is followed from component to component, or steps are a hundred times
/// too short.
#[test]
fn a_generator_that_idles_is_driven_by_rounding_alone_and_takes_few_steps() {
    for (name, value) in [("pf", "0.7"), ("k", "30"), ("U", "200"), ("Rs", "1e-3")] {
        let set = [("fault", "0"), ("load", "0"), (name, value)];
        let lab = Lab::with("generator", &[], None, &set);
        let t = event_driven(&lab.sys, &lab.start(), &Settings::until(0.1), &mut Outside::default()).unwrap();
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.counts.steps < 20_000, "{name} = {value}: {} steps", t.counts.steps);
        assert!(t.last.state.u.iter().all(|u| u.abs() < 1e-12), "{:?}", t.last.state.u);
    }
}

/// Velocities of a machine at rest are rounding: derivatives by differences would be rounding over rounding, and switches at zero velocity
/// would be resolved for ever.
#[test]
fn a_stiff_machine_that_has_settled_goes_on() {
    let set = [("mean", "0"), ("Ts", "430"), ("db", "50")];
    let lab = Lab::with("diesel", &[], None, &set);
    let settings = Settings { max_steps: 20_000, ..Settings::until(3.0) };
    let t = event_driven(&lab.sys, &lab.start(), &settings, &mut Outside::default()).unwrap();
    assert_eq!(t.status, Status::Finished, "{}", t.message);
}

/// Wrong before: the first step was rejected, sizes taken from its end, and after 0.01 of a long run those were far too large for all that
/// followed: the jammed woodpecker, which swings undamped, lost its whole energy by `until` = 2000 s. The first 1000 steps may not
/// know how long the run is.
#[test]
fn the_length_of_a_run_says_nothing_of_the_errors_of_its_steps() {
    let sys = systems::woodpecker([0.9; 3]);
    let mut pace = None;
    for until in [2.0, 20.0, 240.0, 1000.0, 2000.0, 1e5] {
        let settings = Settings {
            record: Record::Events,
            method: Choice::Explicit,
            max_steps: 1000,
            ..Settings::until(until)
        };
        let t = event_driven(&sys, &systems::jammed(-0.23), &settings, &mut Outside::default()).unwrap();
        assert_eq!(t.audit.passed, t.status == Status::Finished, "until {until}: {:?}", t.audit);
        // T + V stays; the local errors of 1000 steps add up at most to 1000 times the tolerance, 1e-9, of what moves
        let error = t.energy.numerical().abs() / t.energy.scale;
        assert!(error < 1e-6, "until {until}: {error}");
        let per_second = t.counts.steps as f64 / t.time;
        close(per_second, *pace.get_or_insert(per_second), 0.05);
    }
}
