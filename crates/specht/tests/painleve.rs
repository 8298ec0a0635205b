//! Reactions with friction, paradoxes and what really happens, on the examples of Le xuan Anh (closed forms of the spec over
//! random parameters, 1e-9 relative).

mod lab;

use lab::{Dice, Lab, close, same};
use specht::analysis::Character;
use specht::analysis::{Verdict, painleve};

/// ANH-1.2-PK0, ANH-1.1-COULOMB: unit masses, all four candidates of the table, over random angle, friction and pull.
#[test]
fn anh_1_2_pk0_unit_masses() {
    let mut lab = Lab::new("painleve_unit", &["phi", "mu", "P", "v0"]);
    let mut dice = Dice(1);
    for _ in 0..2000 {
        let (phi, mu, p) = (dice.range(0.05, 1.5), dice.range(0.05, 3.0), dice.range(0.1, 9.0));
        let v = dice.sign();
        lab.set(&[("phi", phi), ("mu", mu), ("P", p), ("v0", v)]);
        let f = lab.painleve().unwrap();
        let k = mu * phi.tan();
        same(f.critical_mu[0], 2.0 / phi.tan());
        same(f.index[(0, 0)], v * phi.tan() / 2.0);
        // R acts upwards on M1: the book's R presses the other way
        same(f.frictionless[0], -p * phi.tan() / 2.0);
        if v > 0.0 && k > 2.0 {
            assert_eq!(f.verdict, Verdict::None);
        } else if v < 0.0 && k > 2.0 {
            assert_eq!(f.verdict, Verdict::Several);
            let (a, b) = (&f.solutions[0], &f.solutions[1]);
            same(a.normal[0], -p * phi.tan() / (2.0 + k));
            same(a.accel[0], p * (1.0 + k) / (2.0 + k));
            same(b.normal[0], -p * phi.tan() / (2.0 - k));
            same(b.accel[0], p * (1.0 - k) / (2.0 - k));
        } else {
            assert_eq!(f.verdict, Verdict::Unique);
            same(f.solutions[0].normal[0], -p * phi.tan() / (2.0 - k * v));
            same(f.solutions[0].accel[0], p * (1.0 - k * v) / (2.0 - k * v));
        }
    }
}

/// ANH-1.2-PK0, the numbers of the spec.
#[test]
fn anh_1_2_pk0_numbers() {
    let mut lab = Lab::new("painleve_unit", &["phi", "mu", "v0"]);
    let deg = std::f64::consts::PI / 180.0;
    let mut at = |phi: f64, mu: f64, v: f64| {
        lab.set(&[("phi", phi * deg), ("mu", mu), ("v0", v)]);
        lab.painleve().unwrap().solutions.iter().map(|s| (-s.normal[0], s.accel[0])).collect::<Vec<_>>()
    };
    let list = |found: Vec<(f64, f64)>, expected: &[(f64, f64)]| {
        assert_eq!(found.len(), expected.len());
        for (a, b) in found.iter().zip(expected) {
            close(a.0, b.0, 2e-5);
            close(a.1, b.1, 2e-5);
        }
    };
    list(at(45.0, 0.5, 1.0), &[(2.0 / 3.0, 1.0 / 3.0)]);
    list(at(45.0, 0.5, -1.0), &[(0.4, 0.6)]);
    list(at(60.0, 1.0, 1.0), &[(6.4641, -2.7321)]);
    list(at(60.0, 1.0, -1.0), &[(0.46410, 0.73205)]);
    list(at(70.0, 1.0, 1.0), &[]);
    list(at(70.0, 1.0, -1.0), &[(0.57872, 0.78936), (-3.67567, 2.33783)]);
    // at rest: stays
    let rest = at(60.0, 1.0, 0.0);
    assert_eq!(rest.len(), 1);
    close(rest[0].1, 0.0, 1e-12);
}

/// ANH-3.2-PKEXT, ANH-4.4-PKLEIN, ANH-2.3-PARADOX, ANH-4.2-INDEX, ANH-4.2-CRIT, ANHP-1-EQ, ANHP-2-CRIT, ANHP-5-PK: (3.9), (3.10)
/// and Theorem 7 over random masses, loads, angles and friction; the characters of both branches (Theorem 8).
#[test]
fn anh_3_2_pkext_closed_forms() {
    let mut lab = Lab::new("painleve_klein", &["M1", "M2", "phi", "mu", "P1", "P2", "v0"]);
    let mut dice = Dice(2);
    let mut seen = [0; 3];
    for _ in 0..3000 {
        let (m1, m2) = (dice.range(0.2, 4.0), dice.range(0.2, 4.0));
        let (phi, mu) = (dice.range(0.05, 1.52), dice.range(0.0, 2.0));
        let (p1, p2, v) = (dice.range(-5.0, 5.0), dice.range(-5.0, 5.0), dice.sign());
        lab.set(&[("M1", m1), ("M2", m2), ("phi", phi), ("mu", mu), ("P1", p1), ("P2", p2), ("v0", v)]);
        let f = lab.painleve().unwrap();
        let t = phi.tan();
        let r0 = (m2 * p1 - m1 * p2) * t / (m1 + m2);
        let l = v * m2 * t / (m1 + m2);
        same(f.index[(0, 0)], l);
        same(f.frictionless[0], r0);
        same(f.critical_mu[0], (m1 + m2) / (m2 * t));
        let branch = |e: f64| {
            let d = m1 + m2 + e * v * mu * m2 * t;
            ((m2 * p1 - m1 * p2) * t / d, (p1 + p2 + e * v * mu * p2 * t) / d)
        };
        let p = mu * l.abs();
        let expected: Vec<f64> = match (p < 1.0, r0 * l > 0.0) {
            (true, _) => vec![r0.signum()],
            (false, true) => vec![r0.signum(), -r0.signum()],
            (false, false) => vec![],
        };
        seen[expected.len()] += 1;
        assert_eq!(f.solutions.len(), expected.len(), "p = {p}, r0 = {r0}, l = {l}");
        for (k, (s, e)) in f.solutions.iter().zip(expected).enumerate() {
            same(s.normal[0], branch(e).0);
            same(s.accel[0], branch(e).1);
            let what = if k == 0 { Character::Centre } else { Character::Saddle };
            assert_eq!(s.fast.character, Some(what));
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "{seen:?}");
}

/// ANH-5.5-TWOPAIR, ANH-5.1-MULTI: L, R0, reactions and verdict of the scheme with two rough guides.
#[test]
fn anh_5_5_twopair_closed_forms() {
    let mut lab = Lab::new("two_guides", &["M1", "M2", "phi", "mu1", "mu2", "P1", "P2", "v0"]);
    let mut dice = Dice(3);
    for _ in 0..2000 {
        let (m1, m2, t) = (dice.range(0.2, 4.0), dice.range(0.2, 4.0), dice.range(0.1, 6.0));
        let (mu1, mu2) = (dice.range(0.0, 2.0), dice.range(0.0, 2.0));
        let (p1, p2, v) = (dice.range(-5.0, 5.0), dice.range(-5.0, 5.0), dice.sign());
        lab.set(&[("M1", m1), ("M2", m2), ("phi", t.atan()), ("mu1", mu1), ("mu2", mu2)]);
        lab.set(&[("P1", p1), ("P2", p2), ("v0", v)]);
        let f = lab.painleve().unwrap();
        let k = t * v / (m1 + m2);
        for a in 0..2 {
            close(f.index[(a, 0)], k * m2, 1e-9);
            close(f.index[(a, 1)], -k * m1, 1e-9);
            close(f.frictionless[a], t / (m1 + m2) * (m2 * p1 - m1 * p2), 1e-9);
        }
        // (5.83): both reactions are equal, one scalar equation
        let (load, slope) = (m2 * p1 - m1 * p2, mu1 * m2 - mu2 * m1);
        let expected: Vec<f64> = [1.0, -1.0]
            .into_iter()
            .map(|e| (e, load * t / (m1 + m2 + e * v * slope * t)))
            .filter(|(e, r)| e * r > 0.0)
            .map(|x| x.1)
            .collect();
        assert_eq!(f.solutions.len(), expected.len());
        for s in &f.solutions {
            let r = s.normal[0];
            assert!(expected.iter().any(|e| (e - r).abs() < 1e-8 * r.abs()), "{r} {expected:?}");
            same(s.normal[1], r);
            let d = m1 + m2 + r.signum() * v * slope * t;
            close(s.accel[0], (r.signum() * v * (mu1 * p2 - mu2 * p1) * t + p1 + p2) / d, 1e-8);
        }
        // (5.86): both coefficients times this factor; the factor for every load is smaller, as others have unequal reactions
        let factor = (m1 + m2) / (t * slope.abs());
        if factor < 9e5 {
            // where the influences of both guides all but cancel, so do digits
            let cancelled = (mu1 * m2 + mu2 * m1) / slope.abs();
            let tolerance = 1e-10 * cancelled.max(1.0).powi(2) + if factor > 1000.0 { 1e-6 } else { 0.0 };
            close(f.critical_factor / factor, 1.0, tolerance);
            close(f.critical_mu[1] / (factor * mu2), 1.0, tolerance);
            assert!(f.safe_factor <= f.critical_factor * (1.0 + 1e-9));
        } else {
            assert!(f.critical_factor > 8e5);
        }
    }
}

/// ANH-4.2-CRIT, one-sided: a rod that slides on its tip with the lean ahead (v > 0) has a paradox from μ = (1 + 3 cos²φ)/(3 sin φ cos φ) on,
/// one that drags it behind has none, whatever the friction.
#[test]
fn a_rod_that_is_dragged_has_no_critical_factor() {
    let mut lab = Lab::new("rod", &["phi0", "mu", "v0", "w0"]);
    let mut dice = Dice(15);
    for _ in 0..200 {
        let (phi, mu) = (dice.range(0.1, 1.45), dice.range(0.1, 3.0));
        lab.set(&[("phi0", phi), ("mu", mu), ("w0", dice.range(-2.0, 2.0))]);
        let limit = (1.0 + 3.0 * phi.cos().powi(2)) / (3.0 * phi.sin() * phi.cos());
        let f = lab.set(&[("v0", 1.0)]).painleve().unwrap();
        close(f.critical_factor * mu / limit, 1.0, 1e-9);
        let f = lab.set(&[("v0", -1.0)]).painleve().unwrap();
        assert_eq!(f.verdict, Verdict::Unique);
        assert!(f.critical_factor.is_infinite() && f.safe_factor.is_infinite(), "{}", f.critical_factor);
    }
}

/// ANH-4.2-CRIT: exactly on μ|L| = 1 nothing is computed at infinity; the state is called what it is.
#[test]
fn exactly_on_the_border_of_a_paradox_the_verdict_says_so_and_no_force_is_rounding() {
    let mut lab = Lab::new("painleve_klein", &["M1", "M2", "phi", "mu", "P1", "P2", "v0"]);
    let mut dice = Dice(33);
    for _ in 0..500 {
        let (m1, m2, t) = (dice.range(0.2, 4.0), dice.range(0.2, 4.0), dice.range(0.3, 6.0));
        let (p1, p2, v) = (dice.range(-5.0, 5.0), dice.range(-5.0, 5.0), dice.sign());
        lab.set(&[("M1", m1), ("M2", m2), ("phi", t.atan()), ("P1", p1), ("P2", p2), ("v0", v)]);
        let critical = (m1 + m2) / (m2 * t);
        let at = |lab: &mut Lab, mu: f64| {
            lab.set(&[("mu", mu)]);
            lab.painleve().unwrap()
        };
        for nudge in [0.0, 2e-16, -3e-16, 1e-14] {
            let f = at(&mut lab, critical * (1.0 + nudge));
            // Theorem 7: without friction the reaction has the sign of R0; the other branch comes from infinity
            let many = f.frictionless[0] * f.index[(0, 0)] > 0.0;
            let beyond = if many { Verdict::Several } else { Verdict::None };
            assert_eq!(f.border, Some([Verdict::Unique, beyond]));
            let size = f.frictionless[0].abs();
            assert!(f.solutions.iter().all(|s| s.normal[0].abs() < 1e3 * size), "{:?}", f.solutions);
            assert_eq!(f.solutions.len(), usize::from(many));
        }
        for (factor, off) in [(1.0 - 1e-8, 1), (1.0 + 1e-8, 2)] {
            let f = at(&mut lab, critical * factor);
            assert_eq!(f.border, None);
            let many = f.frictionless[0] * f.index[(0, 0)] > 0.0;
            assert_eq!(f.solutions.len(), if off == 1 { 1 } else { 2 * usize::from(many) });
        }
    }
}

/// ANH-5.4-PERTURB, ANH-5.5-TWOPAIR: flutter without a paradox, from unequal stiffness alone.
#[test]
fn anh_5_5_flutter_numbers() {
    let mut lab = Lab::with("two_guides", &["v0"], Some("flutter"), &[]);
    lab.set(&[("v0", 1.0)]);
    let at = |c: &[f64]| painleve(&lab.sys, &lab.start(), c).unwrap().solutions[0].clone();
    let unequal = at(&[1.0, 3.0]);
    assert_eq!(unequal.fast.character, Some(Character::Flutter));
    for k in &unequal.fast.kappa {
        close(k.re, 1.0, 1e-12);
        close(k.im.abs(), 0.5_f64.sqrt(), 1e-12);
    }
    let equal = at(&[1.0, 1.0]);
    assert_eq!(equal.fast.character, Some(Character::Centre));
    assert!(equal.fast.may_flutter && !unequal.fast.may_flutter);
    close(equal.fast.kappa[0].re, 0.5, 1e-9);
    close(equal.fast.kappa[1].re, 1.0, 1e-9);
}

/// ANH-5.6-SLIDERS: the test points with their sign sets, reactions (5.106) and Painlevé's force (5.121).
#[test]
fn anh_5_6_sliders_sign_sets() {
    let mut lab = Lab::new("sliders", &["c", "b"]);
    let (l, mu, y_force) = (1.0, 1.0, 1.0);
    for (c, y, sets) in [
        (0.0, 0.0, vec!["--"]),
        (1.5, 0.0, vec!["+-"]),
        (-1.5, 0.0, vec!["-+"]),
        (0.5, 1.2, vec!["-+", "--"]),
        (3.0, 1.5, vec!["+-", "-+"]),
        (0.0, 1.5, vec![]),
        (-0.5, -1.2, vec!["+-", "--"]),
        (-3.0, -1.5, vec!["+-", "-+"]),
        (1.0, -1.2, vec![]),
    ] {
        let b: f64 = y / mu;
        lab.set(&[("c", c), ("b", b)]);
        let f = lab.painleve().unwrap();
        if b != 0.0 {
            same(f.critical_mu[0], l / b.abs());
        }
        let sign = |r: f64| if r > 0.0 { '+' } else { '-' };
        let mut found: Vec<String> =
            f.solutions.iter().map(|s| s.normal.iter().map(|r| sign(*r)).collect()).collect();
        found.sort();
        let mut sets: Vec<String> = sets.into_iter().map(String::from).collect();
        sets.sort();
        assert_eq!(found, sets, "c = {c}, y = {y}");
        for s in &f.solutions {
            let (e1, e2) = (s.normal[0].signum(), s.normal[1].signum());
            let d = 2.0 * l + mu * b * (e1 - e2);
            close(s.normal[0], (e2 * mu * b - (l - c)) * y_force / d, 1e-9);
            close(s.normal[1], (-e1 * mu * b - (l + c)) * y_force / d, 1e-9);
            let rho = (e1 * (l - c) + e2 * (l + c)) * mu * y_force / d;
            close(s.friction_forces[0], rho, 1e-9);
        }
    }
}

/// ANH-4.5-ELLIPTIC: L, R0, accelerations and the kind of paradox (4.85)-(4.92).
#[test]
fn anh_4_5_elliptic_closed_forms() {
    let mut lab = Lab::new("elliptic_pendulum", &["M1", "M2", "l", "mu", "th0", "w0", "v0"]);
    let mut dice = Dice(4);
    let g = 9.81;
    for _ in 0..2000 {
        let (m1, m2, l) = (dice.range(0.05, 1.0), dice.range(0.2, 3.0), dice.range(0.3, 2.0));
        let (mu, th, w, v) =
            (dice.range(0.05, 2.0), dice.range(-3.0, 3.0), dice.range(-6.0, 6.0), dice.sign());
        lab.set(&[("M1", m1), ("M2", m2), ("l", l), ("mu", mu), ("th0", th), ("w0", w), ("v0", v)]);
        let f = lab.painleve().unwrap();
        let (s, c) = th.sin_cos();
        let d0 = m1 + m2 * c * c;
        let load = (m1 + m2) * g + m2 * l * s * w * w;
        same(f.index[(0, 0)], v * m2 * s * c / d0);
        same(f.frictionless[0], -m1 * load / d0);
        let inside = mu * m2 * (s * c).abs() > d0;
        let kind = v * load * (2.0 * th).sin();
        let count = if !inside {
            1
        } else if kind < 0.0 {
            2
        } else {
            0
        };
        assert_eq!(f.solutions.len(), count);
        for x in &f.solutions {
            let e = x.normal[0].signum() * v;
            let d = d0 + e * mu * m2 * s * c;
            close(x.normal[0], -m1 * load / d, 1e-8);
            let friction = m2 * l * s * w * w + (m1 + m2) * g - m2 * g * c * c;
            close(x.accel[0] * d, m2 * l * c * w * w + m2 * g * s * c + e * mu * friction, 1e-8);
        }
    }
}

/// ANH-3.6-CRANK and ANH-3.7-LINK: L and R0 of the linkages, (3.184), (3.215), (3.218).
#[test]
fn anh_3_6_and_3_7_linkages() {
    let mut dice = Dice(5);
    let mut crank = Lab::new("crank", &["r", "l", "m1", "m2", "q0", "w0"]);
    for _ in 0..500 {
        let (r, m1, m2) = (dice.range(0.05, 0.3), dice.range(0.1, 3.0), dice.range(0.1, 3.0));
        let (l, q, w0) = (r * dice.range(1.05, 3.0), dice.range(0.05, 6.2), dice.sign());
        crank.set(&[("r", r), ("l", l), ("m1", m1), ("m2", m2), ("q0", q), ("w0", w0)]);
        let w = (l * l - r * r * q.sin().powi(2)).sqrt();
        let x = w + r * q.cos();
        let expected = m2 * r * w * q.sin().abs() / (3.0 * m1 * x * x * q.sin().powi(2) + m2 * w * w);
        same(crank.painleve().unwrap().index[(0, 0)].abs(), expected);
    }
    let mut link = Lab::new("quick_return", &["J", "phi0", "w0", "M", "P"]);
    for _ in 0..500 {
        let (j, phi, w0) = (dice.range(0.1, 5.0), dice.range(0.05, 6.2), dice.range(0.5, 3.0));
        let (torque, p) = (dice.range(-300.0, 300.0), dice.range(-300.0, 300.0));
        link.set(&[("J", j), ("phi0", phi), ("w0", w0), ("M", torque), ("P", p)]);
        let f = link.painleve().unwrap();
        let (m, l, r, a) = (500.0_f64, 1.0_f64, 0.25_f64, 0.4_f64);
        let eta = (a * a + r * r + 2.0 * a * r * phi.cos()).sqrt();
        let chi = (a * phi.cos() + r) * (a + r * phi.cos());
        let nu = j * eta.powi(6) + m * l * l * r * r * chi * chi;
        let index =
            m * l * l * r * r * a * phi.sin().abs() * (a * phi.cos() + r) * (a + r * phi.cos()).powi(2) / nu;
        close(f.index[(0, 0)].abs(), index.abs(), 1e-9);
        let x1 = l * r * chi / eta.powi(3);
        let x2 = l * r * phi.sin() * (3.0 * a * r * chi - eta.powi(4)) / eta.powi(5);
        let lambda = -eta / (r * (a * phi.cos() + r));
        let r0 = -lambda * (torque - j * eta.powi(6) / nu * (torque - p * x1 - m * x1 * x2 * w0 * w0));
        close(f.frictionless[0].abs(), r0.abs(), 1e-8);
    }
}

/// ANH-1.3-LECORNU: reaction and paradox of the inhomogeneous disc, one-sided.
#[test]
fn anh_1_3_lecornu_closed_forms() {
    let mut lab = Lab::new("lecornu", &["r", "r1", "a", "b", "w0", "mu"]);
    let mut dice = Dice(6);
    for _ in 0..1000 {
        let r = dice.range(0.05, 0.3);
        let (r1, a, b) = (r * dice.range(0.1, 0.7), r * dice.range(0.05, 0.8), r * dice.range(0.1, 0.99));
        let (w, mu) = (dice.range(-8.0, 8.0), dice.range(0.0, 2.0));
        lab.set(&[("r", r), ("r1", r1), ("a", a), ("b", b), ("w0", w), ("mu", mu)]);
        let f = lab.painleve().unwrap();
        let d = r1 * r1 + a * a - mu * a * b;
        same(f.critical_mu[0], (r1 * r1 + a * a) / (a * b));
        if d > 0.0 {
            same(f.solutions[0].normal[0], r1 * r1 * (9.81 + w * w * (r - b)) / d);
            assert_eq!(f.verdict, Verdict::Unique);
        } else {
            assert_eq!(f.verdict, Verdict::None);
        }
    }
}

const PATH: &str = r#"
[parameters]
M = 2
F = 10
phi = 0.7
mu = 0.5
tilt = 0
bend = 0
q0 = 0.6
v0 = 1
[coordinates]
q = { start = "q0", rate = "v0" }
h = 0
[ground]
line = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "particle"
mass = "M"
position = ["q*(1 + bend*h) + h*tan(tilt)", "h"]
[[force]]
at = "particle"
force = ["F*sin(phi)", "F*cos(phi)"]
[[contact]]
name = "rub"
between = ["particle", "ground.line"]
bilateral = true
friction = "mu"
[run]
until = 1
"#;

/// ANH-2.1-EQM, ANH-4.1-REMOVED: L, R0 and the motion do not depend on the path along which the constraint is removed.
#[test]
fn anh_2_1_eqm_any_removal_path() {
    let mut lab = Lab::text(PATH, &["tilt", "bend", "phi"], None, &[]);
    let mut dice = Dice(7);
    for _ in 0..200 {
        let phi = dice.range(-1.5, 1.5);
        lab.set(&[("tilt", dice.range(-1.2, 1.2)), ("bend", dice.range(-2.0, 2.0)), ("phi", phi)]);
        let f = lab.painleve().unwrap();
        assert!(f.index[(0, 0)].abs() < 1e-12);
        same(f.frictionless[0], -10.0 * phi.cos());
        same(f.solutions[0].accel[0], 5.0 * (phi.sin() - 0.5 * phi.cos().abs()));
        assert!(f.critical_factor.is_infinite() || f.critical_factor > 1e9);
    }
}

/// ANH-4.6-ZHUKFROUDE: a sliding journal has exactly one solution for l > rho, with the book's force, and none for l < rho.
#[test]
fn anh_4_6_zhukovsky_froude_journal() {
    let mut lab = Lab::new("zhukovsky_froude", &["l", "r", "mu", "omega", "phi0", "w0"]);
    let mut dice = Dice(8);
    for _ in 0..500 {
        let (l, r, mu) = (dice.range(0.2, 3.0), dice.range(0.2, 2.0), dice.range(0.05, 1.5));
        let (phi, w, omega) = (dice.range(-3.0, 3.0), dice.range(-6.0, 6.0), dice.range(0.0, 6.0));
        lab.set(&[("l", l), ("r", r), ("mu", mu), ("omega", omega), ("phi0", phi), ("w0", w)]);
        let rho = mu * r / (1.0 + mu * mu).sqrt();
        let f = lab.painleve().unwrap();
        if l > rho {
            assert_eq!(f.verdict, Verdict::Unique);
            // the whole contact force; its normal part is smaller by sqrt(1 + mu^2)
            let force = l * (9.81 * phi.cos() + l * w * w).abs() / (l * l - rho * rho).sqrt();
            same(f.solutions[0].normal[0], force);
        } else {
            assert_eq!(f.verdict, Verdict::None);
        }
    }
}
