//! Limit cycles: closed forms and published numbers (METH-CYCLE-*, METH-SALT-MONO).

use specht::machine::Machine;
use specht::machine::finding::{BasinFinding, BranchFinding, BranchSpecial, Finding, LimitCycleFinding};
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
    near(special(&f, "grazing").parameter, 2.767836429, 1e-9);
    // impact speed times trace has a limit there: (1 + e)(−w² d) Φ₁₂(T)
    let mut products: Vec<[f64; 2]> = (f.points.iter())
        .filter(|p| p.events == 1 && p.multipliers.len() == 2)
        .filter_map(|p| {
            let v = p.margins?.impact.filter(|v| *v > 1e-4)?;
            Some([v, v * p.multipliers.iter().map(|m| m[0]).sum::<f64>()])
        })
        .collect();
    products.sort_by(|a, b| a[0].total_cmp(&b[0]));
    // through the slowest three to speed zero
    let weight = |i: usize| -> f64 {
        (0..3).filter(|j| *j != i).map(|j| products[j][0] / (products[j][0] - products[i][0])).product()
    };
    near((0..3).map(|i| weight(i) * products[i][1]).sum(), -1.418290752, 1e-6);
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
    for e in [0.2, 0.5, 0.7, 0.9] {
        let f = ask(&gallery("bouncing_ball").with("e", e).unwrap(), &[]);
        assert_eq!(f.kind, "rest", "e = {e}: {f:?}");
        assert!(f.period.is_none() && f.reason.is_some());
    }
}

fn sliding() -> (&'static str, TaskValue) {
    ("of", text("sliding"))
}

/// METH-BIF-SMOOTH, METH-BIF-DIB: steady sliding loses its stability at v_H, and the unstable cycle that is born there has the numbers
/// of the prototype.
#[test]
fn steady_sliding_on_a_belt_gives_birth_to_an_unstable_cycle() {
    let m = gallery("falling_friction");
    let f = branch(&m, &[over("v", 1.4, 0.5), sliding()]);
    let hopf = special(&f, "hopf");
    near(hopf.parameter, 0.848105414, 1e-9);
    assert!(f.points[0].stable && !f.points[f.points.len() - 1].stable);
    let born = branch(&m, &[over("v", 0.5, 1.4), sliding(), ("switch", text("hopf"))]);
    near(born.switched.as_ref().unwrap().parameter, 0.848105414, 1e-9);
    // without stops it is unstable, up to the speed at which stick-slip loses its stick; there the branch turns back into stick-slip
    let slides = born.points.iter().take_while(|p| !p.stable).count();
    assert!(slides > 5 && slides < born.points.len(), "subcritical, {}", born.ended);
    assert!(born.points[slides..].iter().all(|p| p.stable));
    let lost = born.special.iter().find(|s| s.label.starts_with("stick")).unwrap();
    near(lost.parameter, 1.27919256, 1e-5);
    let next = &born.points[slides..];
    assert!(next.windows(2).all(|w| w[1].parameter < w[0].parameter), "back to slower belts");
    // at v = 1: between two cycles of the branch
    let after = born.points.iter().position(|p| p.parameter > 1.0).unwrap();
    let (a, b) = (&born.points[after - 1], &born.points[after]);
    let s = (1.0 - a.parameter) / (b.parameter - a.parameter);
    let mix = |x: f64, y: f64| x + s * (y - x);
    near(mix(a.period.unwrap(), b.period.unwrap()), 6.299317779, 1e-3);
    near(mix(a.multipliers[0][0], b.multipliers[0][0]), 1.40734962, 1e-2);
}

/// METH-CONT-ARC, METH-BIF-DIB: an unstable cycle of pure slip, found from a guess.
#[test]
fn an_unstable_cycle_is_found_beside_two_stable_motions() {
    let m = gallery("falling_friction").with("v", 1.0).unwrap();
    let at = TaskValue::Table(vec![
        ("x".into(), TaskValue::Number(1.3184)),
        ("x'".into(), TaskValue::Number(0.0)),
    ]);
    let f = ask(&m, &[("unstable", TaskValue::Bool(true)), ("at", at)]);
    near(f.period.unwrap(), 6.299317779, 1e-8);
    near(f.multipliers[0][0], 1.40734962, 1e-6);
    let x = f.amplitude.iter().find(|(n, _)| *n == "x").unwrap().1;
    near(x.max, 1.318405756, 1e-7);
    assert_eq!((f.stable, f.events.len()), (Some(false), 0));
}

fn basin(m: &Machine, axes: &[(&str, f64, f64, f64)]) -> BasinFinding {
    let axis = |(name, a, b, n): &(&str, f64, f64, f64)| {
        (name.to_string(), TaskValue::List([*a, *b, *n].map(TaskValue::Number).to_vec()))
    };
    match other(m, "basin", &[("over", TaskValue::Table(axes.iter().map(axis).collect()))]) {
        Finding::Basin(f) => *f,
        other => panic!("{other:?}"),
    }
}

/// METH-BASIN: stick-slip and steady sliding share the plane of starts as in the prototype, and the border is the unstable cycle.
#[test]
fn stick_slip_takes_nine_tenths_of_the_starts() {
    let v = 1.063649;
    let m = gallery("falling_friction").with("v", v).unwrap();
    let f = basin(&m, &[("x", -2.0, 4.0, 41.0), ("x'", -3.0 * v, v, 41.0)]);
    let kinds: Vec<&str> = f.attractors.iter().map(|a| a.kind).collect();
    assert_eq!(kinds, ["cycle", "rest"]);
    assert!((f.attractors[0].share - 0.910).abs() < 0.003, "{}", f.attractors[0].share);
    assert!(f.complete && f.inadmissible == 0.0);
    let at =
        TaskValue::Table(vec![("x".into(), TaskValue::Number(1.35)), ("x'".into(), TaskValue::Number(0.0))]);
    let orbit = ask(&m, &[("unstable", TaskValue::Bool(true)), ("at", at)]);
    let x = orbit.amplitude.iter().find(|(n, _)| *n == "x").unwrap().1;
    let line: Vec<[f64; 2]> = f.borders.iter().flat_map(|b| b.points.clone()).collect();
    let high = line.iter().map(|p| p[0]).fold(f64::NEG_INFINITY, f64::max);
    assert!((high - x.max).abs() < 0.02, "{high} {}", x.max);
}

/// METH-CYCLE-START: many starts find both motions.
#[test]
fn many_starts_find_both_motions() {
    let m = gallery("falling_friction").with("v", 1.063649).unwrap();
    let range = |a: f64, b: f64| TaskValue::List(vec![TaskValue::Number(a), TaskValue::Number(b)]);
    let boxed = TaskValue::Table(vec![("x".into(), range(-2.0, 4.0)), ("x'".into(), range(-3.19, 1.06))]);
    let f = ask(&m, &[("starts", TaskValue::Number(24.0)), ("box", boxed)]);
    let kinds: Vec<&str> = f.attractors.iter().map(|a| a.kind).collect();
    assert_eq!(kinds, ["cycle", "rest"]);
    near(f.attractors.iter().map(|a| a.share).sum(), 1.0, 1e-12);
}

/// METH-BIF-SMOOTH: from the doubling on, the branch of twice the period doubles again where a simulation at that frequency says.
#[test]
fn the_branch_of_twice_the_period_leaves_the_doubling() {
    let m = gallery("rattle_cascade");
    let f = branch(&m, &[over("alpha", 1.46, 1.55), ("switch", text("doubling"))]);
    near(f.switched.as_ref().unwrap().parameter, 1.495288, 1e-6);
    near(f.points[2].period.unwrap(), 2.0 * std::f64::consts::TAU, 1e-9);
    // PG-12.1-MAP: the second doubling of the cascade
    near(special(&f, "doubling").parameter, 1.545920, 1e-6);
}

fn refused(m: &Machine, kind: &str, keys: &[(&str, TaskValue)]) -> String {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    match Task::read(kind, &keys).and_then(|t| m.ask(&t)) {
        Ok(f) => panic!("{kind}: {:?}", f.headline()),
        Err(e) => e.to_string(),
    }
}

/// A parameter that does not act, a branch without a cycle, a point that is not there: each says what is wrong.
#[test]
fn bad_questions_about_branches_get_good_answers() {
    let m = Machine::read(&BELT.replace("muk = 0.3 }", "muk = 0.3, idle = 1 }")).unwrap();
    let f = branch(&m, &[over("idle", 1.0, 2.0)]);
    let first = f.points[0].period.unwrap();
    assert!(f.points.iter().all(|p| (p.period.unwrap() - first).abs() < 1e-9) && f.special.is_empty());
    assert!(f.ended.contains("does not act"), "{}", f.ended);
    let paradox = gallery("painleve_unit");
    for keys in [vec![over("mu", 2.5, 0.5)], vec![over("mu", 2.5, 0.5), sliding()]] {
        let why = refused(&paradox, "branch", &keys);
        assert!(why.contains("paradox"), "{why}");
    }
    let why = refused(&gallery("bouncing_ball"), "branch", &[over("e", 0.8, 0.9)]);
    assert!(why.contains("no cycle") && why.contains("rest"), "{why}");
    let why =
        refused(&stop(0.0, 2.4, 0.05, 0.8), "branch", &[over("w", 2.4, 2.5), ("switch", text("doubling"))]);
    assert!(why.contains("no doubling"), "{why}");
    let why = refused(&m, "branch", &[over("v", 0.4, 0.5), ("switch", text("fold"))]);
    assert!(why.contains("fold"), "{why}");
    let why = refused(&m, "basin", &[over("x", 0.0, 1.0)]);
    assert!(why.contains("over"), "{why}");
}

/// A run of a file that is short beside its cycle: what passes its section a few times only is given more time. The closed form is that of
/// `stick_slip_on_a_belt_has_its_closed_form`.
#[test]
fn a_cycle_longer_than_the_run_is_found() {
    let (k, jump, v) = (4.0_f64, 2.0_f64, 0.05_f64);
    let w = k.sqrt();
    let period = 2.0 / w * (std::f64::consts::PI - (w * jump / (k * v)).atan()) + 2.0 * jump / (k * v);
    for until in [0.45 * period, 0.5 * period, 0.55 * period] {
        let slow = BELT.replace("v = 0.4", "v = 0.05").replace("until = 30", &format!("until = {until}"));
        let f = ask(&Machine::read(&slow).unwrap(), &[]);
        near(f.period.unwrap_or(f64::NAN), period, 1e-9);
    }
}

/// A motion that is seen to repeat itself but has no derivatives is not called without period.
#[test]
fn a_cycle_without_derivatives_is_told_from_none() {
    let f = ask(&gallery("slide"), &[]);
    let reason = f.reason.unwrap();
    assert!(
        f.kind == "not exact" && reason.contains("every") && reason.contains("rate of loading"),
        "{reason}"
    );
}

/// METH-BIF-SMOOTH: the value v_s ln((μ_s − μ_k)/(c v_s)) is located as well where the grid of the branch meets it.
#[test]
fn a_hopf_point_on_the_grid_is_exact() {
    let m = gallery("falling_friction");
    let hopf = 0.4 * (0.5_f64 / (0.15 * 0.4)).ln();
    for (from, to) in [(1.6, 0.6), (1.5, 0.5), (1.37, 0.63)] {
        let f = branch(&m, &[sliding(), over("v", from * hopf, to * hopf)]);
        near(f.special[0].parameter, hopf, 1e-9);
    }
}

/// Sections that are never passed, chaos, and a cycle of a family.
#[test]
fn what_is_no_single_cycle_says_what_it_is() {
    let never =
        BELT.to_string() + "event = [{ name = \"far\", crossing = \"x - 50\", direction = \"up\" }]\n";
    let f = ask(&Machine::read(&never).unwrap(), &[("section", text("far"))]);
    assert!(f.kind == "not periodic" && f.reason.as_ref().unwrap().contains("`far`"), "{:?}", f.reason);
    let f = ask(&stop(0.0, 5.05, 0.02, 0.8), &[]);
    assert_eq!(f.kind, "not periodic", "{f:?}");
    let [exponent, error] = f.exponent.unwrap();
    assert!(
        (exponent - 0.239).abs() < 4.0 * error && f.reason.unwrap().contains("chaos"),
        "{exponent} {error}"
    );
    // free in its play: where it oscillates does not matter
    let m = gallery("ship_gear").with("V", 4.0).unwrap().with("x0", -1.5).unwrap();
    let f = ask(&m, &[]);
    assert_eq!((f.kind, f.stable), ("forced cycle", Some(true)), "{:?}", f.multipliers);
    assert!(f.family > 0, "{:?}", f.multipliers);
}

/// METH-CYCLE-REL: a cycle that is its own mirror image after half a period has extremes that mirror each other.
#[test]
fn halves_of_a_symmetric_cycle_mirror_each_other() {
    let f = ask(&den_hartog(0.5, 0.6), &[]);
    let x = f.amplitude.iter().find(|(n, _)| *n == "x").unwrap().1;
    near(x.max + x.min, 0.0, 1e-9);
    let stops: Vec<f64> = f.events.iter().filter(|e| e.kind == "stick").map(|e| e.time).collect();
    near((stops[1] - stops[0]).abs(), 0.5 * f.period.unwrap(), 1e-8);
}

/// METH-CONT-ARC over two parameters: the doubling of the impact oscillator at another stop is that of its closed form.
#[test]
fn a_doubling_is_followed_in_two_parameters() {
    let f = branch(&stop(0.0, 2.2, 0.05, 0.8), &[over("w", 2.2, 2.8), two("d", 0.0, 0.15)]);
    let curve = f.curves.iter().find(|c| c.label == "doubling").unwrap();
    near(curve.points[0][0], 2.658884547, 1e-8);
    let last = curve.points[curve.points.len() - 1];
    near(last[1], 0.15, 1e-12);
    near(last[0], 2.360383675, 1e-8);
}

fn two(name: &str, from: f64, to: f64) -> (&'static str, TaskValue) {
    ("two", over(name, from, to).1)
}

/// METH-BIF-SMOOTH, METH-BIF-DIB over two parameters: grazing of the impact oscillator lies on (1 − w²)² + (2 ζ w)² = 1/d², the loss of
/// stability of steady sliding on v_H(c), both to the borders of the plane.
#[test]
fn special_points_over_two_parameters_lie_on_their_closed_forms() {
    let f = branch(&stop(0.15, 2.2, 0.05, 0.8), &[over("w", 2.2, 2.9), two("d", 0.14, 0.16)]);
    let curve = f.curves.iter().find(|c| c.label == "grazing").unwrap();
    assert!(curve.points.len() > 8 && curve.ended == "bound of the parameter", "{}", curve.ended);
    for [w, d] in &curve.points {
        near((1.0 - w * w).powi(2) + (0.1 * w).powi(2), d.powi(-2), 1e-7);
    }
    let m = gallery("falling_friction");
    let f = branch(&m, &[over("v", 1.4, 0.4), sliding(), two("c", 0.1, 0.3)]);
    let curve = &f.curves[0];
    assert_eq!((curve.label, curve.points.len() > 10), ("hopf", true));
    for [v, c] in &curve.points {
        near(*v, 0.4 * (0.5 / (c * 0.4)).ln(), 1e-8);
    }
    let ends = [curve.points[0][1], curve.points[curve.points.len() - 1][1]];
    assert_eq!(ends, [0.1, 0.3]);
}

/// METH-BIF-SMOOTH over two parameters: a bead on a hoop that turns leaves its lowest point at Ω² = g/R, to the borders of the plane.
#[test]
fn a_pitchfork_of_rest_is_followed_in_two_parameters() {
    let hoop = r#"
parameters  = { m = "1 kg", R = "0.5 m", Om = "2 rad/s", c = "0.1 N*m*s/rad" }
coordinates = { th = "0.1 rad" }
body  = [{ name = "bead", kinetic = "m/2*R^2*th'^2" }]
force = [
  { name = "potential", potential = "-m*9.81*R*cos(th) - m/2*(R*Om*sin(th))^2" },
  { name = "air", along = "th", force = "-c*th'" },
]
run   = { until = "5 s" }
"#;
    let m = Machine::read(hoop).unwrap();
    let f = branch(&m, &[over("Om", 2.0, 8.0), ("of", text("rest")), two("R", 0.3, 1.0)]);
    let curve = f.curves.iter().find(|c| c.label == "pitchfork").unwrap();
    assert!(curve.points.len() > 8, "{} {:?}", curve.ended, curve.points);
    for [om, r] in &curve.points {
        near(om * om * r, 9.81, 1e-6);
    }
    let ends = [curve.points[0][1], curve.points[curve.points.len() - 1][1]];
    assert_eq!(ends, [0.3, 1.0]);
}

/// PG-14.2-DRILL: the phase in which the hammer stays on the cam shrinks to nothing where κ² = π² + 1, coming from both sides.
#[test]
fn a_branch_passes_a_phase_that_shrinks_to_nothing() {
    let kappa = (1.0 + std::f64::consts::PI.powi(2)).sqrt();
    let speed = (2.0 * kappa * 150.0 / (2.0 * 0.0012)).sqrt() / 13.0;
    for (from, to) in [(48.5, 50.5), (50.5, 48.5)] {
        let f = branch(&gallery("drill").with("Om", from).unwrap(), &[over("Om", from, to)]);
        near(special(&f, "lift-off").parameter, speed, 1e-9);
        assert_eq!(f.ended, "bound of the parameter");
    }
}

/// PG-13.1-DAMPER-DYN, PG-13.1-DAMPER-BREAK: blades whose damper is locked swing with the multipliers of their modes; the damper comes loose where the
/// break-away says.
#[test]
fn the_turbine_damper_swings_locked_and_comes_loose() {
    let m = gallery("damper").with("A", 0.157).unwrap();
    let f = ask(&m, &[]);
    // in phase, 61 Hz, damping proportional to stiffness: |m| = exp(−w² τ T/2)
    let (w, period) = (std::f64::consts::TAU * 61.0, 1.0 / 62.0);
    let size = (-w * w * 2e-5 * period / 2.0).exp();
    let first = f.multipliers.iter().find(|m| m[1].abs() > 0.05).unwrap();
    near(first[0].hypot(first[1]), size, 1e-6);
    assert_eq!(f.family, 2, "where both contacts stick is left open");
    assert!(f.events.is_empty());
    // above 0.1591 N it slips in every period, and what sticks is decided
    let f = ask(&m.with("A", 0.2).unwrap(), &[]);
    assert!(f.events.iter().any(|e| e.kind == "slip") && f.family == 0, "{:?}", f.multipliers);
}

/// The event of the section closes the period, once, whatever rounding makes of its time.
#[test]
fn a_stick_slip_cycle_has_one_stick_and_one_slip() {
    for v in [0.3, 0.42, 0.5, 0.6, 0.7, 0.8, 0.9] {
        let f = ask(&gallery("falling_friction").with("v", v).unwrap(), &[]);
        let kinds: Vec<&str> = f.events.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, ["slip", "stick"], "v = {v}");
    }
}

/// PG-14.1-WOODPECKER over friction: where the multiplier of the cycle passes −1, the return map has the slope −1, also by differences of its points
/// and in an independent program (one turning point to the next, contact by contact).
#[test]
fn the_woodpecker_doubles_over_friction_where_its_map_says() {
    let m = gallery("woodpecker").case("A").unwrap();
    let f = branch(&m, &[over("mu2", 0.3, 0.33), ("section", text("turn"))]);
    near(f.points[0].period.unwrap(), 0.14597606, 1e-7);
    near(f.points[0].multipliers[0][0], -0.839156, 1e-5);
    assert!(
        f.points.iter().any(|p| !p.stable) && f.points.windows(2).all(|w| w[0].parameter < w[1].parameter)
    );
    near(f.points[f.points.len() - 1].parameter, 0.33, 1e-9);
    let at = special(&f, "doubling").parameter;
    near(at, 0.31581298254, 1e-9);
    let keys = [("section", text("turn")), ("coordinate", text("phiS"))];
    let found = other(&m.with("mu2", at).unwrap(), "return-map", &keys);
    let Finding::ReturnMap(map) = found else { panic!("{found:?}") };
    let p =
        map.fixed.iter().min_by(|a, b| (a.slope.0 + 1.0).abs().total_cmp(&(b.slope.0 + 1.0).abs())).unwrap();
    near(p.slope.0, -1.0, 1e-5);
    let right = map.points.iter().position(|q| q[0] > p.x).unwrap();
    let (a, b) = (map.points[right - 1], map.points[right]);
    near((b[1] - a[1]) / (b[0] - a[0]), -1.0, 0.05);
}

/// METH-CYCLE-REL, METH-3D-LOOP: stick and slip in the plane under a ramp that turns nothing: the cycle drifts with the load, V T per period, exactly.
#[test]
fn stick_slip_in_the_plane_has_the_cycle_of_the_prototype() {
    let f = ask(&gallery("stick_slip_plane"), &[]);
    assert_eq!(f.kind, "drifting cycle", "{:?}", f.reason);
    let period = f.period.unwrap();
    near(period, 124.1953, 1e-5);
    near((1.0 - f.stick_share.iter().next().unwrap().1.0) * period, 67.7526, 1e-5);
    let angle = 130_f64.to_radians();
    let drift = |name: &str| f.drift.iter().find(|d| d.0 == name).unwrap().1.0;
    near(drift("u[1]"), 0.01 * period * angle.cos(), 1e-9);
    near(drift("u[2]"), 0.01 * period * angle.sin(), 1e-9);
    // the gap and its rate, two slips
    assert_eq!(f.zeros, Some(4));
    assert!(f.stable == Some(true) && f.trivial_error.unwrap() < 1e-6, "{:?}", f.trivial_error);
}

/// METH-CYCLE-REL: a ball rolls over a shaken table in jumps of one period each. It turns freely and looks the same however it is turned: place and
/// orientation drift; the rolling motions are a family.
#[test]
fn a_ball_that_rolls_and_jumps_is_a_cycle_that_turns() {
    let (g, om, e, gamma, v, r) = (9.81_f64, 60.0_f64, 0.6_f64, 1.2_f64, 0.5_f64, 0.05_f64);
    let c = std::f64::consts::PI * (1.0 - e) / (1.0 + e);
    let (a, phase) = (gamma * g / om.powi(2), (c / gamma).acos());
    let flight = (std::f64::consts::TAU - phase) / om;
    let thrown = std::f64::consts::PI * g / om;
    let text = format!(
        r#"
gravity     = [0, 0, -{g}]
parameters  = {{ e = {e} }}
coordinates = {{ x = {{ rate = {v} }}, y = 0, z = {{ start = {z}, rate = {w} }} }}
body        = [{{ name = "plate", mass = 1, position = [0, 0, "{a}*sin({om}*t)"], features = {{ top = {{ through = [0, 0, 0], normal = [0, 0, 1] }} }} }}, {{ name = "ball", mass = 1, inertia = "0.4*{r}^2", position = ["x", "y", "z"], rotation = "free", spin = [0, {spin}, 0], features = {{ skin = {{ center = [0, 0, 0], radius = {r} }} }} }}]
contact     = [{{ name = "table", between = ["ball.skin", "plate.top"], friction = 0.5, restitution = "e" }}]
run         = {{ until = 6 }}
"#,
        z = r + a * phase.sin() + thrown * flight - 0.5 * g * flight * flight,
        w = thrown - g * flight,
        spin = v / r,
    );
    let f = ask(&Machine::read(&text).unwrap(), &[]);
    let period = f.period.unwrap_or_else(|| panic!("{:?}", f.reason));
    near(period, std::f64::consts::TAU / om, 1e-12);
    let drift = |name: &str| f.drift.iter().find(|d| d.0 == name).map_or(0.0, |d| d.1.0);
    near(drift("x"), v * period, 1e-9);
    near(drift("ball.turn.y"), v / r * period, 1e-9);
    near(drift("ball.turn.x"), 0.0, 1e-9);
    near(f.margins.impact.unwrap(), g * period / (1.0 + e), 1e-9);
    // two multipliers of the jumps; rolling in two directions and spinning on the spot are neutral; slip is forgotten at every impact
    assert_eq!((f.family, f.zeros), (3, Some(2)), "{:?}", f.multipliers);
    let jumps: Vec<[f64; 2]> =
        f.multipliers.iter().filter(|m| (m[0] - 1.0).hypot(m[1]) > 1e-6).copied().collect();
    assert_eq!(jumps.len(), 2, "{:?}", f.multipliers);
    let trace = (1.0 + e).powi(2) * (1.0 - (gamma * gamma - c * c).sqrt()) - 2.0 * e;
    near(jumps[0][0] + jumps[1][0], trace, 1e-6);
    near(jumps[0][0] * jumps[1][0] - jumps[0][1] * jumps[1][1], e * e, 1e-6);
}
