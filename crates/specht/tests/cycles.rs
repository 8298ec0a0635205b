//! Limit cycles: closed forms and published numbers (METH-CYCLE-*, METH-SALT-MONO).

use specht::machine::Machine;
use specht::machine::finding::{BranchFinding, BranchSpecial, Finding, LimitCycleFinding};
use specht::machine::task::Task;
use specht::model::TaskValue;

fn gallery(name: &str) -> Machine {
    Machine::open(format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn ask(m: &Machine, keys: &[(&str, TaskValue)]) -> LimitCycleFinding {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    let found = m.ask(&Task::read("limit-cycle", &keys).unwrap()).unwrap();
    match found {
        Finding::LimitCycle(f) => *f,
        other => panic!("{other:?}"),
    }
}

fn text(t: &str) -> TaskValue {
    TaskValue::Text(t.to_string())
}

#[track_caller]
fn near(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

/// PG-14.1-WOODPECKER, METH-SALT-MONO, METH-CYCLE-REL: the woodpecker falls a step per cycle; three multipliers are exactly zero.
#[test]
fn the_woodpecker_has_the_cycles_of_the_prototype() {
    for (case, period, drop, multiplier) in
        [("A", 0.14597606, 0.01944538, -0.839156), ("B", 0.11238447, 0.00742578, 0.010265)]
    {
        let f = ask(&gallery("woodpecker").case(case).unwrap(), &[("section", text("turn"))]);
        near(f.period.unwrap(), period, 1e-7);
        let y = f.drift.iter().find(|(n, _)| *n == "y").unwrap().1.0;
        near(y, -drop, 1e-7);
        assert_eq!(f.multipliers.len(), 1, "{:?}", f.multipliers);
        near(f.multipliers[0][0], multiplier, 1e-5);
        assert_eq!(f.zeros, Some(3));
        assert!(f.trivial_error.unwrap() < 1e-6 && f.stable == Some(true), "{:?}", f.trivial_error);
        assert!(f.residual.unwrap() < 1e-10);
    }
}

const BELT: &str = r#"
parameters  = { v = 0.4, k = 4, N = 10, mus = 0.5, muk = 0.3 }
coordinates = { x = { start = 0.3, rate = 0.1 } }
body        = [{ name = "mass", mass = 1, position = ["x", 0] }]
force       = [{ along = "x", force = "-k*x" }]
contact     = [{ name = "belt", slip = "x' - v", normal_force = "N", friction = { static = "mus", sliding = "muk" } }]
run         = { until = 30 }
"#;

/// METH-CYCLE-START: stick-slip with a jump of friction has a period in closed form, and nothing but exact zeros beside time.
#[test]
fn stick_slip_on_a_belt_has_its_closed_form() {
    let f = ask(&Machine::read(BELT).unwrap(), &[]);
    near(f.period.unwrap(), 4.451302704, 1e-9);
    assert!(f.multipliers.is_empty() && f.zeros == Some(1), "{:?}", f.multipliers);
    near(f.stick_share.iter().next().unwrap().1.0 * f.period.unwrap(), 2.5, 1e-8);
    let x = f.amplitude.iter().find(|(n, _)| *n == "x").unwrap().1;
    near(x.min, 0.211483519, 1e-8);
    near(x.max, 1.288516481, 1e-8);
}

fn den_hartog(r: f64, force: f64) -> Machine {
    Machine::read(&format!(
        r#"
parameters  = {{ r = {r}, F = {force} }}
coordinates = {{ x = {{ start = 1, rate = 0.2 }} }}
body        = [{{ name = "mass", mass = 1, position = ["x", 0] }}]
force       = [{{ along = "x", force = "cos(r*t) - x" }}]
contact     = [{{ name = "rub", slip = "x'", friction_force = "F" }}]
run         = {{ until = "40*2*pi/r" }}
"#
    ))
    .unwrap()
}

/// METH-CYCLE-START: Den Hartog's oscillator, sliding throughout and with two stops.
#[test]
fn den_hartogs_oscillator_has_its_closed_form() {
    for (r, force, amplitude, multipliers) in [
        (1.4, 0.25, 0.973432752, vec![[-0.160527, 0.751339], [-0.160527, -0.751339]]),
        (0.7, 0.2, 1.927774518, vec![[-0.583089, 0.288451], [-0.583089, -0.288451]]),
        (0.5, 0.6, 1.251594340, vec![[0.0376299, 0.0]]),
    ] {
        let f = ask(&den_hartog(r, force), &[]);
        let x = f.amplitude.iter().find(|(n, _)| *n == "x").unwrap().1;
        near(x.half, amplitude, 1e-8);
        near(f.period.unwrap(), std::f64::consts::TAU / r, 1e-12);
        assert_eq!(f.multipliers.len(), multipliers.len(), "{:?}", f.multipliers);
        for (a, b) in f.multipliers.iter().zip(multipliers) {
            near(a[0], b[0], 1e-6);
            near(a[1], b[1], 1e-6);
        }
    }
}

fn stop(d: f64, omega: f64, zeta: f64, e: f64) -> Machine {
    Machine::read(&format!(
        r#"
parameters  = {{ w = {omega}, d = {d}, e = {e}, zeta = {zeta} }}
coordinates = {{ x = {{ start = "-0.2", rate = 0.4 }} }}
body        = [{{ name = "mass", mass = 1, position = ["x", 0] }}]
force       = [{{ along = "x", force = "cos(w*t) - 2*zeta*x' - x" }}]
contact     = [{{ name = "stop", gap = "d - x", restitution = "e" }}]
run         = {{ until = "60*2*pi/w" }}
"#
    ))
    .unwrap()
}

/// METH-CYCLE-START: one impact per period; METH-BIF-SMOOTH: complex multipliers on the unit circle where energy neither comes nor goes.
#[test]
fn the_impact_oscillator_has_the_multipliers_of_its_closed_form() {
    let f = ask(&stop(0.0, 2.4, 0.05, 0.8), &[]);
    assert_eq!(f.events.len(), 1);
    near(f.margins.impact.unwrap(), 0.839368361, 1e-8);
    near(f.multipliers[0][0], 0.154893, 1e-6);
    near(f.multipliers[0][1], 0.684539, 1e-6);
}

fn other(m: &Machine, kind: &str, keys: &[(&str, TaskValue)]) -> Finding {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    m.ask(&Task::read(kind, &keys).unwrap()).unwrap()
}

fn over(name: &str, from: f64, to: f64) -> (&'static str, TaskValue) {
    let ends = TaskValue::List(vec![TaskValue::Number(from), TaskValue::Number(to)]);
    ("over", TaskValue::Table(vec![(name.to_string(), ends)]))
}

fn branch(m: &Machine, keys: &[(&str, TaskValue)]) -> BranchFinding {
    match other(m, "branch", keys) {
        Finding::Branch(f) => *f,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn special<'a>(f: &'a BranchFinding, label: &str) -> &'a BranchSpecial {
    let list: Vec<(&str, f64)> = f.special.iter().map(|s| (s.label, s.parameter)).collect();
    f.special.iter().find(|s| s.label == label).unwrap_or_else(|| panic!("{label}: {list:?}, {}", f.ended))
}

/// METH-CONT-ARC, METH-BIF-SMOOTH: the branch of one impact per period doubles where its closed form says.
#[test]
fn the_impact_oscillator_doubles_its_period_where_the_closed_form_says() {
    let f = branch(&stop(0.0, 2.4, 0.05, 0.8), &[over("w", 2.4, 2.8)]);
    near(special(&f, "doubling").parameter, 2.658884547, 1e-8);
    assert!(f.points[0].stable && !f.points[f.points.len() - 1].stable);
}

/// METH-BIF-DIB: with a stop that is away from rest the branch ends where an impact loses its speed.
#[test]
fn the_impact_oscillator_grazes_where_the_closed_form_says() {
    let f = branch(&stop(0.15, 2.2, 0.05, 0.8), &[over("w", 2.2, 3.0)]);
    near(special(&f, "doubling").parameter, 2.360383675, 1e-8);
    near(special(&f, "grazing").parameter, 2.767836429, 1e-5);
}

/// METH-BIF-SMOOTH: a pair of multipliers leaves the unit circle where ε² e^{−2ζT} = 1.
#[test]
fn energy_that_neither_comes_nor_goes_is_a_torus() {
    let f = branch(&stop(0.0, 2.4, 0.05, 0.8), &[over("zeta", 0.05, -0.1)]);
    let s = special(&f, "torus");
    near(s.parameter, -0.085234558, 1e-7);
    near(s.multipliers[0][0], 0.195110, 1e-5);
}

/// METH-CYCLE-1D: the woodpecker's map has the fixed point and the slope of its cycle.
#[test]
fn the_return_map_of_the_woodpecker_has_its_slope() {
    let m = gallery("woodpecker").case("A").unwrap();
    let found = other(&m, "return-map", &[("section", text("turn")), ("coordinate", text("phiS"))]);
    let Finding::ReturnMap(f) = found else { panic!("{found:?}") };
    let p =
        f.fixed.iter().find(|p| (p.x + 0.5294719671).abs() < 1e-6).unwrap_or_else(|| panic!("{:?}", f.fixed));
    near(p.slope.0, -0.839156, 1e-5);
    assert!(f.points.len() > 60 && p.stable);
}

/// METH-LYAP: the sum of the exponents is that of damping and impacts, and the largest of a chaotic motion is positive.
#[test]
fn exponents_of_a_chaotic_impact_oscillator_add_up() {
    let m = stop(0.0, 5.05, 0.02, 0.8);
    let period = std::f64::consts::TAU / 5.05;
    let keys = [("time", TaskValue::Number(1500.0 * period)), ("warm_up", TaskValue::Number(200.0 * period))];
    let found = other(&m, "lyapunov", &keys);
    let Finding::Lyapunov(f) = found else { panic!("{found:?}") };
    assert!((f.exponents[0].0 - 0.239).abs() < 0.03, "{:?}", f.exponents);
    near(f.sum.0, f.divergence_mean.0, 1e-6);
    assert!((f.sum.0 + 0.470).abs() < 0.03, "{:?}", f.sum);
}

/// What is no cycle says what it is.
#[test]
fn a_ball_that_comes_to_rest_has_no_cycle() {
    let f = ask(&gallery("bouncing_ball"), &[]);
    assert_eq!(f.kind, "rest", "{f:?}");
    assert!(f.period.is_none() && f.reason.is_some());
}
