//! Break-down forces that depend on the rate of loading and on the time of rest, against closed forms; what a run records.

use specht::inside::build;
use specht::inside::{Options, read};
use specht::sim::{Kind, Outside, Record, Settings, Trajectory, event_driven};

fn run(text: &str, settings: &Settings) -> Trajectory {
    let loaded = read(text, &Options::default()).unwrap_or_else(|list| panic!("{list:?}"));
    let system = build(&loaded.model).unwrap_or_else(|e| panic!("{e:?}"));
    event_driven(&system, &system.start(), settings, &mut Outside::default()).unwrap()
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found} is not {expected}");
}

const PULLED: &str = r#"
[coordinates]
x = 0
[[body]]
name = "slider"
mass = "m"
position = "x"
[[force]]
name = "spring"
along = "x - v*t"
spring = "c"
[[contact]]
name = "guide"
slip = "x'"
"#;

/// ANH-8.1-HARD: F₊ = F₀ + A e^(−β f) with f = c v; slides with J = A e^(−β c v), T− and T+ by (8.13), (8.16).
#[test]
fn anh_8_1_hard_break_down_falls_with_the_rate_of_loading() {
    let (m, c, a, f0, beta, v): (f64, f64, f64, f64, f64, f64) = (1.5, 7e5, 420.0, 450.0, 0.003, 1e-3);
    let text = format!(
        "[parameters]\nm = {m}\nc = {c:e}\nv = {v:e}\n{PULLED}friction_force = {{ static = \"{f0} + {a}*exp(-{beta}*load_rate)\", sliding = \"{f0}\" }}\n"
    );
    let t = run(&text, &Settings::until(1.2));
    let jump = a * (-beta * c * v).exp();
    let omega = (c / m).sqrt();
    let slips: Vec<f64> = t.of_kind(Kind::Slip).map(|e| e.time).collect();
    let sticks: Vec<f64> = t.of_kind(Kind::Stick).map(|e| e.time).collect();
    close(slips[0], (f0 + jump) / (c * v), 1e-8);
    let sliding = 2.0 / omega * (std::f64::consts::PI - (omega * jump / (c * v)).atan());
    close(sticks[0] - slips[0], sliding, 1e-6);
    close(slips[1] - sticks[0], 2.0 * jump / (c * v), 1e-6);
    assert!(t.audit.passed, "{:?}", t.audit.remarks);
}

/// ANH-1.5-LAWS: F₊(T) = F∞ − (F∞ − F₀) e^(−δT); first jump 1.50996 mm in 0.0498063 s, then rest for 7.5 s.
#[test]
fn anh_1_5_laws_break_down_grows_with_the_time_of_rest() {
    let text = format!(
        "[parameters]\nm = 10\nc = 4e4\nv = 2e-4\n{PULLED}friction_force = {{ static = \"70 - 30*exp(-2*stick_time)\", sliding = \"40\" }}\n"
    );
    let t = run(&text, &Settings::until(20.0));
    let slip: Vec<_> = t.of_kind(Kind::Slip).collect();
    let stick: Vec<_> = t.of_kind(Kind::Stick).collect();
    close(stick[0].after.q[0] - slip[0].before.q[0], 1.50996e-3, 1e-5);
    close(stick[0].time - slip[0].time, 0.0498063, 1e-5);
    close(slip[1].time - stick[0].time, 7.5, 1e-5);
    assert!(t.audit.passed, "{:?}", t.audit.remarks);
}

const PENDULUM: &str = r#"
[coordinates]
x = 1
[[body]]
name = "mass"
mass = 1
position = "x"
[[force]]
name = "spring"
along = "x"
spring = 1
[output]
side = "if(x < 0, -1, 1)"
"#;

#[test]
fn rows_are_no_further_apart_than_a_six_hundredth_of_the_run() {
    let t = run(PENDULUM, &Settings::until(6.0));
    let times = t.samples.times();
    assert!(times.windows(2).all(|w| w[1] - w[0] <= 6.0 / 600.0 * (1.0 + 1e-12)));
    assert_eq!((times[0], times[times.len() - 1]), (0.0, 6.0));
    for row in t.samples.rows() {
        assert!((row.q[0] - row.t.cos()).abs() < 1e-9, "{}: {}", row.t, row.q[0] - row.t.cos());
    }
}

#[test]
fn regular_outputs_are_exact_multiples_and_include_the_end() {
    let settings = Settings { record: Record::Every(0.1), ..Settings::until(0.3) };
    let t = run(PENDULUM, &settings);
    assert_eq!(t.samples.times(), [0.0, 0.1, 0.2, 0.3]);
}

/// At a switch of the dynamics outputs have both limits: the force falls from 2 to 0 where x reaches 1 with velocity 2.
#[test]
fn outputs_have_both_limits_at_a_switch() {
    let text = r#"
[coordinates]
x = 0
[[body]]
name = "mass"
mass = 1
position = "x"
[[force]]
name = "push"
along = "x"
force = "if(x < 1, 2, 0)"
[output]
F = "push.force"
"#;
    let t = run(text, &Settings { record: Record::Events, ..Settings::until(2.0) });
    let rows: Vec<(f64, f64)> = t.samples.rows().map(|r| (r.t, r.outputs[0])).collect();
    assert_eq!(rows.iter().map(|r| r.1).collect::<Vec<_>>(), [2.0, 2.0, 0.0]);
    close(rows[1].0, 1.0, 1e-12);
}

#[test]
fn a_body_at_rest_passes_the_audit() {
    let text = r#"
gravity = [0, -9.81]
[coordinates]
x = 0.3
y = 0.1
[[body]]
name = "block"
mass = 3
position = ["x", "y"]
[[contact]]
name = "floor"
gap = "y - 0.1 - 0.5*(x - 0.3)"
slip = "x' + 0.5*y'"
friction = 0.6
"#;
    let t = run(text, &Settings::until(5.0));
    assert!(t.audit.passed && t.audit.energy <= 1e-8, "{:?}", t.audit);
}

/// A guide whose reaction passes through zero holds nothing there: every time it slips for an instant, however short, from |N| = T/μ before
/// zero on until the impulses balance, ∫(T − μ|N|) dt = 0.
#[test]
fn a_reaction_that_changes_its_sign_lets_go_for_an_instant() {
    for pull in [1e-2_f64, 1e-3, 1e-4] {
        let text = format!(
            "[coordinates]\nx = 0\ny = 0\n[ground]\nline = {{ through = [0, 0], normal = [0, 1] }}\n[[body]]\nname = \"p\"\nmass = 1\n\
             position = [\"x\", \"y\"]\n[[force]]\nname = \"f\"\nat = \"p\"\nforce = [\"{pull:e}\", \"cos(10*t)\"]\n[[contact]]\n\
             name = \"line\"\nbetween = [\"p\", \"ground.line\"]\nbilateral = true\nfriction = 0.5\n"
        );
        let t = run(&text, &Settings::until(1.0));
        let slips: Vec<f64> = t.of_kind(Kind::Slip).map(|e| e.time).collect();
        let sticks: Vec<f64> = t.of_kind(Kind::Stick).map(|e| e.time).collect();
        assert_eq!((slips.len(), sticks.len()), (3, 3), "{pull}: {slips:?} {sticks:?}");
        for (k, (slip, stick)) in slips.iter().zip(&sticks).enumerate() {
            let zero = (0.5 + k as f64) * std::f64::consts::PI / 10.0;
            let early = (2.0 * pull).asin() / 10.0;
            close(zero - slip, early, 1e-7);
            // N = 10 s about its zero: it slides for (1 + √2) times as long after zero
            close(stick - zero, (1.0 + 2.0_f64.sqrt()) * early, 1e-3);
        }
        assert!(t.audit.passed, "{:?}", t.audit.remarks);
    }
}

/// ANH-4.3-TIMPACT: where the start has no rigid solution the mechanism seizes at once, and the run goes on from rest, whatever rounding leaves of
/// the velocities.
#[test]
fn a_seizure_at_the_start_is_followed_by_rest() {
    let path = format!("{}/../../gallery/painleve_klein/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut x = 1_u64;
    let mut within = |lo: f64, hi: f64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lo + (hi - lo) * ((x >> 11) as f64 / (1_u64 << 53) as f64)
    };
    for _ in 0..60 {
        let (m1, m2, phi) = (within(0.2, 4.0), within(0.2, 4.0), within(0.2, 1.4));
        let (p1, p2) = (within(-5.0, 5.0), within(-5.0, 5.0));
        let mu = within(1.05, 3.0) * (m1 + m2) / (m2 * phi.tan());
        let v = -(m2 * p1 - m1 * p2).signum() * within(0.1, 3.0);
        let set = [("M1", m1), ("M2", m2), ("phi", phi), ("mu", mu), ("P1", p1), ("P2", p2), ("v0", v)];
        let set = set.iter().map(|(k, x)| ((*k).to_string(), format!("{x:e}"))).collect();
        let model = read(&text, &Options { set, ..Options::default() }).unwrap().model;
        let system = build(&model).unwrap();
        let t =
            event_driven(&system, &system.start(), &Settings::until(0.02), &mut Outside::default()).unwrap();
        assert_eq!(t.status, specht::sim::Status::Finished, "{}", t.message);
        assert_eq!(t.of_kind(Kind::Seizure).count(), 1);
        assert!(t.audit.passed, "{:?}", t.audit.remarks);
    }
}

/// A contact at its static bound can stick or slide with the smaller coefficient at that one instant; that is a release, not a
/// paradox. The break-away comes at μ₀ N/(c v), and every slip takes as long.
#[test]
fn a_release_with_static_friction_above_sliding_friction_is_no_finding() {
    for (c, v, n, rest, slide) in
        [(40.0, 0.1, 10.0, 0.4, 0.2), (3e4, 2e-3, 55.0, 0.9, 0.1), (7.0, 0.01, 2.0, 0.31, 0.25)]
    {
        let text = format!(
            "[parameters]\nm = 1.3\nc = {c:e}\nv = {v:e}\n{PULLED}normal_force = {n}\nfriction = {{ static = {rest}, sliding = {slide} }}\n"
        );
        let first = rest * n / (c * v);
        let t = run(&text, &Settings::until(4.0 * first + 30.0 * (1.3_f64 / c).sqrt()));
        close(t.of_kind(Kind::Slip).next().unwrap().time, first, 1e-9);
        assert!(t.of_kind(Kind::Slip).count() > 1);
        assert_eq!(t.of_kind(Kind::Finding).count(), 0, "{:?}", t.of_kind(Kind::Finding).next());
        assert!(t.audit.passed, "{:?}", t.audit.remarks);
    }
}

/// A block on three feet at rest: how they share its weight is open, that it rests is not.
#[test]
fn forces_that_are_not_unique_are_not_called_motions_that_are_not() {
    let text = "[parameters]\nw = 3\n[coordinates]\nx = 0\ny = 0\nphi = 0\n[ground]\nfloor = { through = [0, 0], normal = [0, 1] }\n\
        [[body]]\nname = \"block\"\nmass = 2\ninertia = 1\nposition = [\"x\", \"y\"]\nangle = \"phi\"\n\
        features = { a = [-1, 0], b = [0.3, 0], c = [1, 0] }\n[[force]]\nat = \"block\"\nforce = [\"w\", -20]\n\
        [[contact]]\nname = \"a\"\nbetween = [\"block.a\", \"ground.floor\"]\nfriction = 0.4\n\
        [[contact]]\nname = \"b\"\nbetween = [\"block.b\", \"ground.floor\"]\nfriction = 0.4\n\
        [[contact]]\nname = \"c\"\nbetween = [\"block.c\", \"ground.floor\"]\nfriction = 0.4\n";
    let t = run(text, &Settings::until(1.0));
    let family = t.start.family.as_ref().expect("three feet");
    assert!(!family.moves, "{family:?}");
    assert!(t.last.state.q.iter().all(|q| q.abs() < 1e-9));
    assert_eq!(t.of_kind(Kind::Finding).count(), 0);
}
