//! Linkages through their change points, against closed forms and independent integrations with one degree of freedom.

mod lab;

use lab::Lab;
use specht::sim::*;

fn run(lab: &Lab, until: f64) -> Trajectory {
    event_driven(&lab.sys, &lab.start(), &Settings::until(until), &mut Outside::default())
        .expect("consistent start")
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} instead of {b}, off by {:e}", (a - b).abs());
}

/// Angle and speed after `until` of one degree of freedom, `x'' = f(x, x')`: classical Runge–Kutta.
fn alone(f: impl Fn(f64, f64) -> f64, start: [f64; 2], until: f64, steps: usize) -> [f64; 2] {
    let h = until / steps as f64;
    let [mut x, mut v] = start;
    for _ in 0..steps {
        let k1 = f(x, v);
        let k2 = f(x + 0.5 * h * v, v + 0.5 * h * k1);
        let k3 = f(x + 0.5 * h * (v + 0.5 * h * k1), v + 0.5 * h * k2);
        let k4 = f(x + h * (v + 0.5 * h * k2), v + h * k3);
        x += h * v + h * h / 6.0 * (k1 + k2 + k3);
        v += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
    [x, v]
}

/// Two wheels and a rod; the radius of the second crank differs by `dr`.
const PARALLELOGRAM: &str = r#"
name = "parallelogram"
[parameters]
r = 0.37
T = 0
g = 0
w0 = 1.7
a0 = 0.8
dr = 0
[coordinates]
a = { start = "a0", rate = "w0" }
b = { BSTART }
u = { guess = 0 }
[[body]]
name = "wheel1"
inertia = 0.21
angle = "a"
features = { crank = ["r", 0] }
position = [0, 0]
[[body]]
name = "wheel2"
inertia = 0.05
angle = "b"
features = { crank = ["r + dr", 0] }
position = [1.9, 0]
[[body]]
name = "rod"
mass = 2.3
inertia = 0.4
position = ["r*cos(a)", "r*sin(a)"]
angle = "u"
center = [0.6, 0]
features = { end = [1.9, 0] }
[[force]]
name = "drive"
on = "wheel1"
torque = "T"
[[force]]
name = "weight"
at = "rod"
force = [0, "-2.3*g"]
[[contact]]
name = "loop"
pin = ["rod.end", "wheel2.crank"]
"#;

fn parallelogram(second: &str, set: &[(&str, &str)]) -> Lab {
    Lab::text(&PARALLELOGRAM.replace("BSTART", second), &[], None, set)
}

const TOGETHER: &str = "start = \"a0\", rate = \"w0\"";
const INERTIA: f64 = 0.21 + 0.05 + 2.3 * 0.37 * 0.37;

/// Wrong was: the run crept into the change point and left on the other branch, by rounding.
#[test]
fn a_driven_parallelogram_keeps_its_branch_through_sixty_turns() {
    let t = run(&parallelogram(TOGETHER, &[("T", "1")]), 20.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.audit.passed, "{:?}", t.audit);
    let a = 0.8 + 1.7 * 20.0 + 0.5 / INERTIA * 400.0;
    near(t.last.state.q[0], a, 1e-7);
    near(t.last.state.q[1], a, 1e-7);
    near(t.last.state.q[2], 0.0, 1e-9);
    assert!(t.warnings.iter().any(|w| w.contains("change point") && w.contains("a = 3.14159")));
}

#[test]
fn a_parallelogram_that_swings_under_weight_agrees_with_one_degree_of_freedom() {
    for (w0, until) in [(3.0, 6.0), (11.0, 5.0)] {
        let t = run(&parallelogram(TOGETHER, &[("g", "9.81"), ("w0", &w0.to_string())]), until);
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        let f = |a: f64, _: f64| -2.3 * 9.81 * 0.37 * a.cos() / INERTIA;
        let [a, w] = alone(f, [0.8, w0], until, 40_000);
        near(t.last.state.q[1], a, 1e-6);
        near(t.last.state.u[0], w, 1e-6);
    }
}

#[test]
fn a_run_may_end_or_start_at_the_change_point_itself() {
    let to = (std::f64::consts::PI - 0.8) / 1.7;
    let t = run(&parallelogram(TOGETHER, &[]), to);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    near(t.last.state.u[1], 1.7, 1e-9);
    let t = run(&parallelogram(TOGETHER, &[("a0", "0"), ("T", "1")]), 3.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    near(t.last.state.q[1], 1.7 * 3.0 + 4.5 / INERTIA, 1e-8);
}

#[test]
fn at_rest_at_the_change_point_a_torque_decides_nothing_and_the_message_names_the_position() {
    let t = run(&parallelogram(TOGETHER, &[("a0", "0"), ("w0", "0"), ("T", "1")]), 1.0);
    assert_eq!(t.status, Status::Indeterminate);
    for words in ["change point", "a = 0.000000", "`loop`"] {
        assert!(t.message.contains(words), "{}", t.message);
    }
}

/// The branches of a linkage that nearly has a change point do not cross: the second wheel turns back.
#[test]
fn a_crank_longer_by_a_millionth_is_no_parallelogram() {
    let lab = parallelogram("guess = \"a0\"", &[("dr", "1e-6")]);
    let t = run(&lab, 10.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.audit.passed, "{:?}", t.audit);
    let (a, b, u) = (t.last.state.q[0], t.last.state.q[1], t.last.state.q[2]);
    assert!(a > 17.0 && b.abs() < 6.3, "{a} {b}");
    near(0.37 * a.cos() + 1.9 * u.cos(), 1.9 + 0.370_001 * b.cos(), 1e-10);
    near(0.37 * a.sin() + 1.9 * u.sin(), 0.370_001 * b.sin(), 1e-10);
}

/// Overconstrained but consistent: the rank is always lower than the number of rows, which is no change point. At the change point both
/// loops lose rank at once.
#[test]
fn three_wheels_on_one_rod_turn_together_until_both_loops_lose_rank() {
    let mut text = PARALLELOGRAM.replace("BSTART", TOGETHER);
    text = text.replace("u = { guess", "c = { start = \"a0\", rate = \"w0\" }\nu = { guess");
    text = text.replace("features = { end = [1.9, 0] }", "features = { end = [1.9, 0], far = [3.1, 0] }");
    text += "[[body]]\nname = \"wheel3\"\ninertia = 0.3\nangle = \"c\"\nfeatures = { crank = [\"r\", 0] }\nposition = [3.1, 0]\n";
    text += "[[contact]]\nname = \"second\"\npin = [\"rod.far\", \"wheel3.crank\"]\n";
    let lab = Lab::text(&text, &[], None, &[("T", "0.4")]);
    let t = run(&lab, 0.5);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    let a = 0.8 + 1.7 * 0.5 + 0.2 / (INERTIA + 0.3) * 0.25;
    for q in &t.last.state.q[..3] {
        near(*q, a, 1e-8);
    }
    let t = run(&lab, 9.0);
    assert_eq!(t.status, Status::Indeterminate);
    assert!(t.message.contains("several loops lose rank at once"), "{}", t.message);
}

const SLIDER: &str = r#"
name = "slider-crank with equal links"
[parameters]
F = 0
[coordinates]
a = { start = 0.4, rate = 7 }
p = { guess = -0.4 }
[ground]
rail = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "crank"
inertia = 0.02
angle = "a"
position = [0, 0]
[[body]]
name = "rod"
mass = 0.7
inertia = 0.004
position = ["0.25*cos(a)", "0.25*sin(a)"]
angle = "p"
center = [0.125, 0]
[[body]]
name = "slider"
mass = 1.3
position = ["0.25*cos(a) + 0.25*cos(p)", "0.25*sin(a) + 0.25*sin(p)"]
[[force]]
name = "gas"
at = "slider"
force = ["F", 0]
[[contact]]
name = "guide"
between = ["slider", "ground.rail"]
bilateral = true
friction = MU
"#;

/// The force of the guide has a pole at the folded position, the motion has not.
#[test]
fn a_slider_crank_with_equal_links_passes_its_folded_position() {
    for (force, until) in [(0.0, 3.0), (-2.0, 2.0)] {
        let text = SLIDER.replace("MU", "0");
        let t = run(&Lab::text(&text, &[], None, &[("F", &force.to_string())]), until);
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        let f = |a: f64, w: f64| {
            let (s, c) = a.sin_cos();
            let r2 = 0.25 * 0.25;
            let inertia = 0.024 + 0.7 * r2 * (2.25 * s * s + 0.25 * c * c) + 1.3 * 4.0 * r2 * s * s;
            let slope = (0.7 * 4.0 + 1.3 * 8.0) * r2 * s * c;
            (-0.5 * s * force - 0.5 * slope * w * w) / inertia
        };
        let [a, w] = alone(f, [0.4, 7.0], until, 60_000);
        near(t.last.state.q[0], a, 2e-7);
        near(t.last.state.q[1], -a, 2e-7);
        near(t.last.state.u[0], w, 2e-6);
    }
}

/// The reaction R of the rod: R K + μ |sin θ| |R| = P − 2 m l cos θ θ'², K = cos θ (4 sin² θ + 1); beyond the folded position,
/// K < 0, the solution with R < 0 is the one of compliant guides. Wrong was: rounding decided, by the end time.
#[test]
fn a_toggle_press_folds_through_with_friction_whatever_the_end_time() {
    let (l, m, load) = (0.2, 5.0, 4000.0);
    for mu in [0.05_f64, 0.3] {
        let f = |x: f64, w: f64| {
            let (s, c) = x.sin_cos();
            let k = c * (4.0 * s * s + 1.0);
            let rest = load - 2.0 * m * l * c * w * w;
            let reaction = rest / (k + mu * s.abs() * if k < 0.0 { -1.0 } else { 1.0 });
            2.0 * reaction * s * c / (m * l)
        };
        let set = [("mu", mu.to_string()), ("P", load.to_string()), ("theta", "0.3".to_string())];
        let set: Vec<(&str, &str)> = set.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let lab = Lab::with("toggle_press", &[], None, &set);
        for until in [0.036, 0.0395, 0.043] {
            let t = run(&lab, until);
            assert_eq!(t.status, Status::Finished, "{}", t.message);
            assert!(t.audit.passed, "{:?}", t.audit);
            let [x, w] = alone(f, [0.3, 0.0], until, 200_000);
            near(t.last.state.q[0], x, 1e-7);
            near(t.last.state.q[1], x, 1e-7);
            near(t.last.state.u[0], w, 1e-5);
        }
    }
}
