//! Stability of steady sliding against closed forms: mode coupling, falling friction, Cho and Barber's criteria, cutting, rate and state.

use serde_json::Value;
use specht::machine::task::Task;
use specht::model::TaskValue;
use specht::prelude::*;

fn gallery(name: &str) -> Machine {
    Machine::open(format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn stability(machine: &Machine, keys: &[(&str, TaskValue)]) -> Result<Value, Error> {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
    Ok(serde_json::to_value(machine.ask(&Task::read("stability", &keys)?)?).unwrap())
}

fn text(t: &str) -> TaskValue {
    TaskValue::Text(t.into())
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(f64::NAN)
}

/// Routh–Hurwitz of λ⁴ + a λ³ + b λ² + c λ + d for ẅ + C ẇ + S w = 0 in the plane, and how far the nearest of its conditions is from zero.
fn hurwitz(c: [[f64; 2]; 2], s: [[f64; 2]; 2]) -> (bool, f64) {
    let det = |m: [[f64; 2]; 2]| m[0][0] * m[1][1] - m[0][1] * m[1][0];
    let a = c[0][0] + c[1][1];
    let b = det(c) + s[0][0] + s[1][1];
    let mixed = c[0][0] * s[1][1] + s[0][0] * c[1][1] - c[0][1] * s[1][0] - s[0][1] * c[1][0];
    let d = det(s);
    let third = a * b * mixed - mixed * mixed - a * a * d;
    let size = (a * b * mixed).abs() + mixed * mixed + (a * a * d).abs();
    let margins = [
        a / (c[0][0].abs() + c[1][1].abs()),
        d / (s[0][0] * s[1][1]).abs().max((s[0][1] * s[1][0]).abs()),
        third / size,
    ];
    (
        margins.iter().all(|m| *m > 0.0) && b > 0.0 && mixed > 0.0,
        margins.iter().fold(f64::INFINITY, |x, m| x.min(m.abs())),
    )
}

/// Deterministic numbers in (0, 1).
struct Numbers(u64);
impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
fn four_thousand_random_supports_are_judged_as_by_routh_and_hurwitz_cb_5_stability() {
    let names = ["k11", "k12", "k22", "k31", "k32", "b11", "b12", "b22", "b31", "b32", "f", "N", "V", "th"];
    let machine = gallery("cho_barber").live(names.iter().map(|n| (*n).to_string()).collect()).unwrap();
    let mut random = Numbers(7);
    let (mut unstable, mut near) = (0, 0);
    for _ in 0..4000 {
        let mut r = |lo: f64, hi: f64| lo + (hi - lo) * random.next();
        let (k11, k22) = (r(0.5, 3.0), r(0.5, 3.0));
        let k12 = r(-0.9, 0.9) * f64::sqrt(k11 * k22);
        let (k31, k32, f) = (r(-1.5, 1.5), r(-1.5, 1.5), r(0.0, 1.5));
        let b = [r(0.0, 0.2), r(-0.05, 0.05), r(0.0, 0.2), r(-0.2, 0.2), r(-0.2, 0.2)];
        let (n, v, th) = (r(0.1, 2.0), r(0.05, 10.0), r(0.0, std::f64::consts::TAU));
        let values = [k11, k12, k22, k31, k32, b[0], b[1], b[2], b[3], b[4], f, n, v, th];
        let set: Vec<(&str, f64)> = names.iter().copied().zip(values).collect();
        let found = stability(&machine.vary(&set).unwrap(), &[]).unwrap();
        let (x, e) = ([th.cos(), th.sin()], [-th.sin(), th.cos()]);
        let entry = |base: [f64; 3], row: [f64; 2]| {
            let m = [[base[0], base[1]], [base[1], base[2]]];
            std::array::from_fn(|i| std::array::from_fn(|j| m[i][j] + f * x[i] * row[j]))
        };
        let mut c: [[f64; 2]; 2] = entry([b[0], b[1], b[2]], [b[3], b[4]]);
        let s: [[f64; 2]; 2] = entry([k11, k12, k22], [k31, k32]);
        for i in 0..2 {
            for j in 0..2 {
                c[i][j] += f * n / v * e[i] * e[j];
            }
        }
        let (stable, distance) = hurwitz(c, s);
        if distance < 1e-9 {
            near += 1;
            continue;
        }
        assert_eq!(found["frozen"], false, "{set:?}");
        assert_eq!(found["stable"], stable, "{set:?}");
        unstable += usize::from(!stable);
    }
    assert!(unstable > 400 && unstable < 3600 && near < 10, "{unstable} unstable");
}

#[test]
fn a_mass_on_a_belt_loses_stability_where_the_fall_of_friction_outweighs_the_damper_meth_slipstab_op() {
    // μ(v) = μ∞ + Δ e^{−v/s}: N Δ/s e^{−v/s} = d
    let file = r#"
        parameters  = { v = { value = 0.2, range = [0.01, 2] }, d = 1.3, s = 0.25, N = 20 }
        coordinates = { x = { rate = 0 } }
        body    = [{ name = "m", mass = 2, position = ["x", 0] }]
        force   = [{ name = "spring", along = "x", spring = "300 N/m", damper = "d" }]
        contact = [{ name = "belt", slip = "x' - v", friction_force = "N*(0.3 + 0.2*exp(-speed/s))" }]
    "#;
    let found = stability(&Machine::read(file).unwrap(), &[("critical", text("v"))]).unwrap();
    let v = 0.25 * (20.0 * 0.2 / 0.25 / 1.3_f64).ln();
    assert!((number(&found["critical"]["value"]) - v).abs() < 1e-9 * v, "{found}");
    assert_eq!(found["kind"], "falling-friction");
    let f = (300.0_f64 / 2.0).sqrt() / std::f64::consts::TAU;
    assert!((number(&found["critical"]["frequency"]) - f).abs() < 1e-7 * f);
    // the spring carries the friction
    let x = 20.0 * (0.3 + 0.2 * (-0.2_f64 / 0.25).exp()) / 300.0;
    assert!((number(&found["steady"]["x"]) - x).abs() < 1e-12);
    assert_eq!(found["stable"], false);
}

#[test]
fn a_body_pulled_by_a_spring_slides_steadily_at_the_speed_of_its_drive() {
    // from rest, where it sticks: the steady motion and its slip are found all the same
    let file = r#"
        gravity     = [0, -10]
        parameters  = { v = 0.3, mu = 0.4 }
        coordinates = { x = 0, y = 0 }
        ground  = { floor = { through = [0, 0], normal = [0, 1] } }
        body    = [{ name = "sled", mass = 3, position = ["x", "y"] }]
        force   = [{ name = "rope", along = "v*t - x", spring = "200 N/m" }]
        contact = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
    "#;
    let found = stability(&Machine::read(file).unwrap(), &[]).unwrap();
    assert_eq!(found["frozen"], false, "{found}");
    assert!((number(&found["velocity"]["x'"]) - 0.3).abs() < 1e-10);
    assert!((number(&found["steady"]["x"]) + 0.4 * 30.0 / 200.0).abs() < 1e-10);
    assert!((number(&found["forces"]["runner"]) - 30.0).abs() < 1e-9);
    assert_eq!(found["stable"], true);
}

#[test]
fn the_clutch_judders_below_the_slip_speed_of_the_first_order_formula() {
    // frozen: δ (Δφ)² = φᵀDφ to first order gives 59.344 rad/s; eigenvalues of the three inertias in numpy 59.3555
    let machine = gallery("clutch");
    for (slip, grows) in [(59.30, true), (59.41, false)] {
        let at = [("phi[1]'", slip), ("phi[2]'", 0.0), ("phi[3]'", 0.0)];
        let at = at.map(|(n, x)| (n.to_string(), TaskValue::Number(x))).to_vec();
        let keys = [("at_time", TaskValue::Number(0.06)), ("at", TaskValue::Table(at))];
        let found = stability(&machine, &keys).unwrap();
        assert_eq!(found["frozen"], true);
        let list = found["eigenvalues"].as_array().unwrap();
        let swing = list.iter().find(|v| number(&v[1]) > 1.0).unwrap();
        assert_eq!(number(&swing[0]) > 0.0, grows, "{swing}");
    }
}

/// (4.122), and with feed the corrected condition of 4.7.4.
fn cutting_limit(beta: f64, lead: f64, alpha: f64) -> f64 {
    let (r, r1, a, c, c1) = (0.01, 0.05, 0.06, 2e7, 1e7);
    let (k, s) = (lead / std::f64::consts::TAU, beta.to_radians().sin().abs());
    let alpha = alpha.to_radians();
    ((c + c1 * alpha.cos()) * (r * r + r1 * r1 + k * k) - c1 * k * r * alpha.sin() * s) / (c1 * a * r * s)
}

#[test]
fn cutting_diverges_beyond_the_ratio_of_the_closed_form_with_and_without_feed_anh_4_7_cutting_anh_4_7_feed() {
    // the disturbed start, and one that is the stationary cut itself: there nothing but rounding is left of the forces
    let mut random = Numbers(3);
    let mut cases = vec![[-60.0, 0.0, 0.0], [-40.0, 0.0, 0.0], [-75.0, 0.05, 20.0]];
    cases
        .extend((0..60).map(|_| [-22.0 - 136.0 * random.next(), 0.08 * random.next(), 45.0 * random.next()]));
    for [beta, lead, alpha] in cases {
        let limit = cutting_limit(beta, lead, alpha);
        for h0 in [1e-9, 0.0] {
            let machine = gallery("boring_spindle")
                .with("beta", format!("{beta} deg"))
                .unwrap()
                .with("lead", lead)
                .unwrap()
                .with("alpha", format!("{alpha} deg"))
                .unwrap()
                .with("h0", h0)
                .unwrap();
            let found = stability(&machine, &[("critical", text("mu"))]).unwrap();
            let value = number(&found["critical"]["value"]);
            assert!((value - limit).abs() < 1e-6 * limit, "{beta} {lead} {alpha} {h0}: {value}, not {limit}");
            assert_eq!(found["kind"], "divergence");
        }
        // the mass centre before the tool: stable at every ratio
        let machine = gallery("boring_spindle").with("beta", format!("{} deg", -beta)).unwrap();
        let found = stability(&machine, &[("critical", text("mu"))]).unwrap();
        assert!(found["critical"].is_null() && found["stable"] == true, "{beta}: {found}");
    }
    assert!((cutting_limit(-60.0, 0.0, 0.0) - 15.0111).abs() < 1e-4);
    assert!((cutting_limit(-75.0, 0.05, 20.0) - 13.4639).abs() < 1e-4);
}

#[test]
fn questions_about_sliding_that_make_no_sense_are_refused() {
    let machine = gallery("mode_coupling");
    let wrong = stability(&machine, &[("critical", text("muu"))]).unwrap_err().to_string();
    assert!(wrong.contains("mu"), "{wrong}");
    let wrong = stability(&machine, &[("contact", text("blet"))]).unwrap_err().to_string();
    assert!(wrong.contains("belt"), "{wrong}");
}

#[test]
fn uneven_damping_is_warned_of_and_even_damping_is_not_meth_slipstab_crit() {
    let machine = gallery("mode_coupling");
    let bare = stability(&machine, &[("critical", text("mu"))]).unwrap();
    assert!(bare["warning"].as_str().is_some_and(|w| w.contains("damping")), "{bare}");
    assert_eq!(bare["merging"], serde_json::json!([1, 2]));
}

/// CB-5-STABILITY (5.35): with little friction the unstable sectors hug cos 2ψ = 0 and are far narrower than the steps; they are found all the same,
/// with their borders.
#[test]
fn unstable_sectors_narrower_than_the_steps_are_found_cb_5_stability() {
    let (k11, k12, k22, k31, k32) = (1.0_f64, 1.0_f64, 2.0_f64, -1.0_f64, -2.0_f64);
    let machine = gallery("cho_barber");
    for f in [0.01, 0.03] {
        let half = 0.5 * (k22 - k11);
        let (hat, phi1, phi2) = (half.hypot(k12), half.atan2(k12), (-k31).atan2(k32));
        let (phi3, share) = (0.5 * phi1 - phi2, f * k31.hypot(k32) / half.hypot(k12));
        assert!(hat > 0.0);
        let bracket = |th: f64| {
            let psi = th - 0.5 * phi1;
            (2.0 * psi).cos() + share * (psi + phi3).cos()
        };
        // four borders of cos 2ψ, and one of the bracket beside each
        let mut borders = Vec::new();
        for k in 0..4 {
            let at = 0.5 * phi1 + std::f64::consts::FRAC_PI_4 + f64::from(k) * std::f64::consts::FRAC_PI_2;
            let (mut low, mut high) = (at - 0.2, at + 0.2);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if bracket(low) * bracket(middle) <= 0.0 { high = middle } else { low = middle }
            }
            borders.extend([at, 0.5 * (low + high)].map(|x| x.rem_euclid(std::f64::consts::TAU)));
        }
        borders.sort_by(f64::total_cmp);
        let axis = [0.0, std::f64::consts::TAU, 73.0].map(TaskValue::Number).to_vec();
        let over = TaskValue::Table(vec![("th".to_string(), TaskValue::List(axis))]);
        let found =
            stability(&machine.with("f", f).unwrap().with("N", 200.0).unwrap(), &[("over", over)]).unwrap();
        let sectors = found["sectors"].as_array().unwrap();
        let mut ends: Vec<f64> = sectors.iter().flat_map(|s| [number(&s[0]), number(&s[1])]).collect();
        ends.sort_by(f64::total_cmp);
        assert_eq!(ends.len(), 8, "{ends:?} {borders:?}");
        for (a, b) in ends.iter().zip(&borders) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
