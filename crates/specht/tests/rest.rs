//! Rest, self-braking and efficiency of gallery models against closed forms.

use specht::analysis::RestVerdict;
use specht::inside::BookPoint;
use specht::inside::{Options, read};
use specht::inside::{RestTask, analyse_rest};
use specht::model::Model;
use specht::{
    analysis::PointVerdict,
    inside::{SelfBrakingTask, analyse_self_braking},
};

fn load(name: &str, set: &[(&str, f64)], live: &[&str]) -> Model {
    let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let options = Options {
        set: set.iter().map(|(k, v)| ((*k).to_string(), format!("{v:e}"))).collect(),
        case: None,
        live: live.iter().map(|s| (*s).to_string()).collect(),
    };
    match read(&text, &options) {
        Ok(loaded) => loaded.model,
        Err(list) => panic!("{name}: {list:?}"),
    }
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_string()).collect()
}

#[track_caller]
fn close(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

struct Random(u64);

impl Random {
    fn within(&mut self, lo: f64, hi: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lo + (hi - lo) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// ANH-2.5-SELFBRAKE and ANH-3.2-PKEXT: stagnation angle (3.26) of plate points over random parameters, self-braking half lines
/// (3.33), self-braking of slider 2 (3.34).
#[test]
fn anh_2_5_selfbrake_plate_points() {
    let mut r = Random(1);
    for k in 0..12 {
        let (phi, mu) = (r.within(0.2, 1.3), r.within(0.1, 1.0));
        let (m1, m2) = (r.within(0.5, 2.0), r.within(0.5, 2.0));
        if mu * phi.tan() * m2 / (m1 + m2) > 0.95 {
            continue;
        }
        let (mut xi, eta) = (r.within(-1.0, 1.0), r.within(-2.0, 2.0));
        if k % 4 == 0 {
            xi = 0.0;
        }
        let set = [("phi", phi), ("mu", mu), ("M1", m1), ("M2", m2), ("xi", xi), ("eta", eta)];
        let model = load("painleve_klein", &set, &[]);
        let task = SelfBrakingTask { points: names(&["slider2", "plate.point"]), ..Default::default() };
        let found = analyse_self_braking(&model, &task).unwrap();
        // (3.26)
        let (y, lc) = (phi.sin() + eta, phi.cos());
        let top = lc * lc - mu * mu * (y * y + xi * xi);
        let psi = (2.0 * mu * lc * xi).abs().atan2(top);
        let plate = &found.points[1].1;
        close(plate.stagnation_angle, psi, 1e-9);
        let brakes = xi == 0.0 && y.abs() >= lc / mu;
        let expected = if brakes { PointVerdict::SelfBraking } else { PointVerdict::Debraking };
        assert_eq!(plate.verdict, expected);
        assert!(plate.directions.exact);
        // (3.34): tan φ ≥ 1/μ, so the critical coefficient is cot φ
        let slider = &found.points[0].1;
        assert_eq!(slider.verdict == PointVerdict::SelfBraking, phi.tan() >= 1.0 / mu);
        close(slider.critical_factor.unwrap() * mu, 1.0 / phi.tan(), 1e-9);
    }
    // (3.33) a millionth beside its border, whatever the rounding of the direction of the lever
    for mu in [0.15, 0.2148481388740, 0.4, 0.77, 1.3] {
        for (phi, beside) in [0.3_f64, 0.897894, 1.1].into_iter().flat_map(|phi| [(phi, 1e-6), (phi, -1e-6)])
        {
            let eta = phi.cos() / mu * (1.0 + beside) - phi.sin();
            let set = [("phi", phi), ("mu", mu), ("xi", 0.0), ("eta", eta)];
            let model = load("painleve_klein", &set, &[]);
            let task = SelfBrakingTask { points: names(&["plate.point"]), ..Default::default() };
            let found = analyse_self_braking(&model, &task).unwrap();
            let expected = if beside > 0.0 { PointVerdict::SelfBraking } else { PointVerdict::Debraking };
            // beyond the paradox the border is another one
            if mu * phi.tan() * 2.0 / 3.0 < 1.0 {
                assert_eq!(found.points[0].1.verdict, expected, "{mu} {phi} {beside}");
            }
        }
    }
    // the acceptance number of the specification
    let model = load("painleve_klein", &[], &[]);
    let task = SelfBrakingTask { points: names(&["plate.point"]), ..Default::default() };
    let found = analyse_self_braking(&model, &task).unwrap();
    close(found.points[0].1.stagnation_angle.to_degrees(), 43.5055, 1e-5);
}

/// ANH-2.5-SELFBRAKE in the paradox region (Theorem 6 by enumeration): points on the vertical through slider 2, where every vertical force is
/// lost to the guide. |y| < y_A debraking, y_A ≤ y < y_B ambiguous, else self-braking; no single direction moves by rounding.
#[test]
fn anh_2_5_selfbrake_axis_in_paradox() {
    let mut r = Random(7);
    let mut seen = [0; 3];
    for _ in 0..60 {
        let (m1, m2, l) = (r.within(0.1, 5.0), r.within(0.1, 5.0), r.within(0.2, 3.0));
        let (phi, eta) = (r.within(0.3, 1.5), r.within(-2.0, 2.0));
        let mu = r.within(1.05, 3.0) * (m1 + m2) / (m2 * phi.tan());
        let set = [("M1", m1), ("M2", m2), ("l", l), ("phi", phi), ("mu", mu), ("xi", 0.0), ("eta", eta)];
        let model = load("painleve_klein", &set, &[]);
        let task = SelfBrakingTask { points: names(&["plate.point"]), ..Default::default() };
        let found = analyse_self_braking(&model, &task).unwrap();
        let (y, y_a, y_b) = (l * phi.sin() + eta, l * phi.cos() / mu, m2 * l * phi.sin() / (m1 + m2));
        let (k, expected) = if y.abs() < y_a {
            (0, PointVerdict::Debraking)
        } else if y_a <= y && y < y_b {
            (1, PointVerdict::Ambiguous)
        } else {
            (2, PointVerdict::SelfBraking)
        };
        seen[k] += 1;
        assert_eq!(found.points[0].1.verdict, expected, "{set:?}");
    }
    assert!(seen.iter().all(|&n| n > 2), "{seen:?}");
}

/// ANH-3.6-CRANK: a point of the crank brakes itself from μ = w/(r |sin q|) on (3.193), to rounding, also asked without friction.
#[test]
fn anh_3_6_crank_critical_friction_of_the_tip() {
    let mut r = Random(3);
    for k in 0..20 {
        let (radius, q) = (r.within(0.05, 0.5), r.within(0.2, 6.0));
        let (l, mu) = (radius * r.within(1.05, 3.0), if k % 5 == 0 { 0.0 } else { r.within(0.05, 2.0) });
        let set = [("r", radius), ("l", l), ("q0", q), ("mu", mu), ("m1", r.within(0.1, 5.0))];
        let model = load("crank", &set, &[]);
        let task = SelfBrakingTask { points: names(&["crank.tip"]), ..Default::default() };
        let found = analyse_self_braking(&model, &task).unwrap();
        let w = (l * l - (radius * q.sin()).powi(2)).sqrt();
        let critical = found.points[0].1.critical_factor.unwrap() * found.mu[0].1;
        close(critical, w / (radius * q.sin().abs()), 1e-11);
    }
}

/// ANH-2.4-REST on the extended scheme in its paradox set: cases i, ii+ and iii.
#[test]
fn anh_2_4_rest_extended_scheme() {
    let phi = 75_f64.to_radians();
    for (p1, verdict, count) in
        [(0.5, RestVerdict::Stays, 1), (1.4, RestVerdict::Both, 3), (3.0, RestVerdict::Moves, 1)]
    {
        let model = load("painleve_klein", &[("phi", phi), ("P1", p1), ("v0", 0.0)], &[]);
        let found = analyse_rest(&model, &RestTask::default()).unwrap();
        assert_eq!(found.rest.verdict, verdict);
        assert_eq!(found.rest.outcomes.len(), count);
        if p1 == 1.4 {
            close(found.rest.outcomes[0].normal[0], -7.464_102, 1e-6);
            let mut accel: Vec<f64> = found.rest.outcomes[1..].iter().map(|o| o.accel[0]).collect();
            accel.sort_by(f64::total_cmp);
            close(accel[0], 0.453_590, 1e-5);
            close(accel[1], 1.059_417, 1e-5);
            assert!(found.rest.differs_from_book());
        }
    }
    // (3.18): rest iff |(P1 + P2)/P2| ≤ μ tan φ, here at 50°
    let model = load("painleve_klein", &[], &["P1"]);
    let found = analyse_rest(&model, &RestTask { load: Some("P1".into()), ..Default::default() }).unwrap();
    let limit = found.start_load.unwrap();
    let k = 0.5 * 50_f64.to_radians().tan();
    close(limit.high, 2.0 * (k - 1.0), 1e-9);
    close(limit.low, 2.0 * (-k - 1.0), 1e-9);
    assert!(limit.exact);
    assert_eq!(limit.high_direction[0], Some(1.0));
    assert_eq!(limit.low_direction[0], Some(-1.0));
}

/// ANH-3.4-EPICYCLIC and ANH-3.5-GEAR: rest intervals and efficiencies at the first and last point of contact.
#[test]
fn anh_3_4_and_3_5_gears_rest_and_efficiency() {
    let alpha = 20_f64.to_radians();
    let (r1, r2, mu, m2) = (0.06, 0.04, 0.1, 10.0);
    let tan = alpha.tan();
    for (name, p) in [
        ("gear_epicyclic", 0.104_237),
        ("gear_epicyclic", 0.608_518),
        ("gear_fixed", 0.104_237),
        ("gear_fixed", 0.5),
    ] {
        let model = load(name, &[("p0", p)], &["M1", "M2"]);
        let e4 = f64::signum(tan - p);
        let u = ((r1 + r2) * tan - r2 * p) / r1;
        let found =
            analyse_rest(&model, &RestTask { load: Some("M1".into()), ..Default::default() }).unwrap();
        let limit = found.start_load.unwrap();
        let task =
            SelfBrakingTask { drive: Some("M1".into()), load: Some("M2".into()), ..Default::default() };
        let eta = analyse_self_braking(&model, &task).unwrap().efficiency.unwrap();
        let (ratio, top) = if name == "gear_epicyclic" { ((r1 + r2) / r2, tan) } else { (r1 / r2, u) };
        let ends = [-1.0, 1.0].map(|s| ratio * m2 * (1.0 + s * e4 * mu * top) / (1.0 + s * e4 * mu * p));
        close(limit.low, ends[0].min(ends[1]), 1e-9);
        close(limit.high, ends[0].max(ends[1]), 1e-9);
        close(eta.forward.efficiency[0], (1.0 + e4 * mu * p) / (1.0 + e4 * mu * top), 1e-9);
        close(eta.backward.efficiency[0], (1.0 - e4 * mu * top) / (1.0 - e4 * mu * p), 1e-9);
        close(eta.forward.efficiency[0], eta.forward.efficiency[1], 1e-9);
    }
}

/// ANH-3.6-CRANK: with μ = 1, l = 1.25 r every point of the crank is self-braking for q in [62.114°, 117.886°], and the mirror.
#[test]
fn anh_3_6_crank_self_braking_interval() {
    let model = load("crank", &[("mu", 1.0), ("l", 0.125), ("r", 0.1)], &["q0"]);
    let task = SelfBrakingTask {
        points: names(&["crank.tip"]),
        over: Some(("q0".into(), 0.1, 3.0, 12)),
        ..Default::default()
    };
    let found = analyse_self_braking(&model, &task).unwrap();
    let (_, _, curves) = found.curve.unwrap();
    let border = (1.25 / 2_f64.sqrt()).asin();
    assert_eq!(curves[0].self_braking.len(), 1, "{:?}", curves[0]);
    close(curves[0].self_braking[0][0], border, 1e-9);
    close(curves[0].self_braking[0][1], std::f64::consts::PI - border, 1e-9);
    close(border.to_degrees(), 62.114, 1e-5);
}

/// ANH-3.7-LINK: the carriage is self-braking iff μ a |sin φ| ≥ |a cos φ + r| (3.230); in the paradox region (J = 1) too, where the
/// book says both; crank points are debraking with angle zero.
#[test]
fn anh_3_7_link_carriage() {
    let (a, r, mu) = (0.4, 0.25, 0.25);
    for (j, phi) in [(5.0, 1.0), (5.0, 2.1), (5.0, 2.4), (1.0, 2.1), (1.0, 2.4), (1.0, 0.7)] {
        let model = load("quick_return", &[("J", j), ("phi0", phi), ("mu", mu)], &[]);
        let task = SelfBrakingTask { points: names(&["carriage"]), ..Default::default() };
        let found = analyse_self_braking(&model, &task).unwrap();
        let brakes = mu * a * phi.sin().abs() >= (a * phi.cos() + r).abs();
        let point = &found.points[0].1;
        let expected = if brakes { PointVerdict::SelfBraking } else { PointVerdict::Debraking };
        assert_eq!(point.verdict, expected, "J = {j}, phi = {phi}");
        if !brakes {
            close(point.stagnation_angle, 0.0, 1e-9);
        }
        close(point.critical_factor.unwrap() * mu, (a * phi.cos() + r).abs() / (a * phi.sin().abs()), 1e-9);
        let book = point.book.unwrap().0;
        assert!(book != BookPoint::Both || !brakes);
    }
}

/// ANH-3.1-SIMPLE from the files.
#[test]
fn anh_3_1_simple_from_files() {
    let model = load("screw_cylinder", &[], &["T"]);
    let found = analyse_rest(&model, &RestTask { load: Some("T".into()), ..Default::default() }).unwrap();
    let limit = found.start_load.unwrap();
    let s = f64::hypot(0.05, 0.04 / (2.0 * std::f64::consts::PI));
    close(limit.high, 0.15 * s * 200.0, 1e-9);
    close(limit.low, -0.15 * s * 200.0, 1e-9);
    let model = load("particle_line", &[], &[]);
    let task = SelfBrakingTask { points: names(&["particle"]), ..Default::default() };
    let found = analyse_self_braking(&model, &task).unwrap();
    close(found.points[0].1.stagnation_angle, 2.0 * 0.5_f64.atan(), 1e-9);
}

/// ANH-5.6-SLIDERS: every force at the load is held from μ = (l + |c|)/|b| on: |R₁| + |R₂| = max(|Y|, |cY − bX|/l) is least beside |X| where one
/// slider carries nothing.
#[test]
fn anh_5_6_sliders_critical_friction_of_the_load() {
    let mut r = Random(11);
    for _ in 0..60 {
        let (l, c, b) = (r.within(0.3, 2.0), r.within(-4.0, 4.0), r.within(-4.0, 4.0));
        let set = [("l", l), ("c", c), ("b", b), ("mu", r.within(0.1, 2.0)), ("v0", 0.0)];
        let model = load("sliders", &set, &[]);
        let task = SelfBrakingTask { points: names(&["carriage.load"]), ..Default::default() };
        let found = analyse_self_braking(&model, &task).unwrap();
        let critical = found.points[0].1.critical_factor.unwrap() * found.mu[0].1;
        close(critical, (l + c.abs()) / b.abs(), 2e-8);
    }
}

/// ANH-2.4-REST: the machine is looked at where the file lets it start, its equilibrium, and stays there while loads are tried.
#[test]
fn rest_is_asked_at_the_equilibrium_of_the_file() {
    // a block on a spring: in balance at x = F/c, wherever the guess is; friction then holds F ± μ N
    let text = "[parameters]\nF = 12\n[coordinates]\nx = { guess = 0.7 }\n[[body]]\nname = \"block\"\nmass = 2\nposition = \"x\"\n\
        [[force]]\nalong = \"x\"\nspring = 50\n[[force]]\nalong = \"x\"\nforce = \"F\"\n\
        [[contact]]\nname = \"rub\"\nslip = \"x'\"\nnormal_force = 10\nfriction = 0.3\n[start]\nequilibrium = true\n";
    let options = Options { live: names(&["F"]), ..Options::default() };
    let model = read(text, &options).unwrap_or_else(|e| panic!("{e:?}")).model;
    let found = analyse_rest(&model, &RestTask { load: Some("F".into()), ..Default::default() }).unwrap();
    assert_eq!(found.rest.verdict, RestVerdict::Stays);
    let limit = found.start_load.unwrap();
    close(limit.low, 9.0, 1e-9);
    close(limit.high, 15.0, 1e-9);
}
