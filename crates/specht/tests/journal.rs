//! Journals: index of influence, critical friction, reactions and efficiency against closed forms derived by hand.

mod lab;

use lab::{Dice, Lab, close, same};
use specht::analysis::Verdict;
use specht::inside::{Options, read};
use specht::inside::{SelfBrakingTask, analyse_self_braking};
use specht::model::Model;

/// ANH-4.6-ZHUKFROUDE (4.102): a particle at the distance l on a sleeve has L = r/l and μ_c = l/√(r² − l²); R of (4.98).
#[test]
fn anh_4_6_zhukfroude_index_and_critical_friction_of_the_sleeve() {
    let mut lab = Lab::new("zhukovsky_froude", &["l", "r", "mu", "phi0", "w0", "omega"]);
    let mut dice = Dice(31);
    let mut paradoxes = 0;
    for _ in 0..1000 {
        let (l, r, mu) = (dice.range(0.2, 2.0), dice.range(0.1, 2.0), dice.range(0.05, 3.0));
        let (phi, w) = (dice.range(-3.0, 3.0), dice.range(-8.0, 8.0));
        lab.set(&[("l", l), ("r", r), ("mu", mu), ("phi0", phi), ("w0", w), ("omega", w + dice.sign())]);
        let f = lab.painleve().unwrap();
        let j = f.journals[0];
        same(j.index(), r / l);
        let rho = mu * r / (1.0 + mu * mu).sqrt();
        if r > l {
            same(j.critical_mu(), l / (r * r - l * l).sqrt());
            same(f.critical_factor * mu, j.critical_mu());
        } else {
            assert!(j.critical_mu().is_infinite() && f.critical_factor.is_infinite());
        }
        same(j.load(), (9.81 * phi.cos() + l * w * w).abs());
        let list = j.reactions();
        if rho < l {
            assert_eq!((f.verdict, list.len()), (Verdict::Unique, 1));
            // R of the spec is the normal part of the bearing force N √(1 + μ²)
            let force = l * (9.81 * phi.cos() + l * w * w).abs() / (l * l - rho * rho).sqrt();
            same(f.solutions[0].normal[0], force);
            same(list[0], force);
        } else {
            // S is perpendicular to R⁰ for a particle: no solution
            paradoxes += 1;
            assert_eq!((f.verdict, list.len()), (Verdict::None, 0));
        }
    }
    assert!(paradoxes > 100);
}

/// One journal, general rigid body: the quadratic for |R| has the solutions that the enumeration of the engine finds.
#[test]
fn the_quadratic_of_one_journal_has_all_solutions() {
    let mut lab = Lab::with("pulley", &["mu", "r", "e", "m", "P", "Q", "w0"], None, &[]);
    let mut dice = Dice(32);
    let mut seen = [0; 3];
    for _ in 0..2000 {
        let (mu, r, e) = (dice.range(0.05, 5.0), dice.range(0.01, 0.5), dice.range(0.0, 0.2));
        let (m, w) = (dice.range(0.5, 5.0), dice.sign() * dice.range(0.1, 9.0));
        let (p, q) = (dice.range(-300.0, 300.0), dice.range(-300.0, 300.0));
        lab.set(&[("mu", mu), ("r", r), ("e", e), ("m", m), ("P", p), ("Q", q), ("w0", w)]);
        let f = lab.painleve().unwrap();
        let j = f.journals[0];
        let inertia = m * 0.1 * 0.1 / 2.0;
        same(j.index(), r * m * e / (inertia + m * e * e));
        let list = j.reactions();
        assert_eq!(list.len(), f.solutions.len(), "{j:?}");
        let mut found: Vec<f64> = f.solutions.iter().map(|s| s.normal[0]).collect();
        found.sort_by(f64::total_cmp);
        list.iter().zip(&found).for_each(|(a, b)| close(*a, *b, 1e-7));
        let inside = j.index() * mu / (1.0 + mu * mu).sqrt() < 1.0;
        assert_eq!(inside, f.verdict == Verdict::Unique);
        seen[list.len()] += 1;
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

fn load(name: &str, set: &[(&str, f64)], live: &[&str]) -> Model {
    let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
    model(&std::fs::read_to_string(path).unwrap(), set, live)
}

fn model(text: &str, set: &[(&str, f64)], live: &[&str]) -> Model {
    let set = set.iter().map(|(k, v)| ((*k).to_string(), format!("{v:e}"))).collect();
    let live = live.iter().map(|s| (*s).to_string()).collect();
    read(text, &Options { set, case: None, live }).unwrap_or_else(|e| panic!("{e:?}")).model
}

fn task(drive: &str, load: &str) -> SelfBrakingTask {
    SelfBrakingTask { drive: Some(drive.into()), load: Some(load.into()), ..SelfBrakingTask::default() }
}

/// ANH-2.5-SELFBRAKE with journals: a pulley, η = (R − ρ)/(R + ρ) both ways, locks from ρ = R on.
#[test]
fn anh_2_5_selfbrake_pulley_with_axle_friction() {
    let mut dice = Dice(33);
    for _ in 0..60 {
        let (big, r, mu) = (dice.range(0.05, 0.3), dice.range(0.01, 0.4), dice.range(0.05, 2.0));
        let m = load("pulley", &[("R", big), ("r", r), ("mu", mu)], &["P", "Q"]);
        let e = analyse_self_braking(&m, &task("P", "Q")).unwrap().efficiency.unwrap();
        let rho = r * mu / (1.0 + mu * mu).sqrt();
        if rho < big {
            let eta = (big - rho) / (big + rho);
            same(e.forward.efficiency[0], eta);
            same(e.backward.efficiency[0], eta);
            same(e.forward.drive[0], 400.0 / eta);
        } else {
            assert_eq!(e.forward.efficiency, [0.0, 0.0]);
        }
        assert_eq!(e.self_locking, rho > big);
        match e.critical_factor {
            Some(k) => same(k * mu, big / (r * r - big * big).sqrt()),
            None => assert!(r <= big),
        }
    }
}

const LEVER: &str = "
[parameters]
a  = \"0.3 m\"
b  = \"0.1 m\"
al = 0.4
r  = \"20 mm\"
mu = 0.4
P  = \"100 N\"
Q  = \"300 N\"
[coordinates]
phi = 0
hx  = 0
hy  = 0
[ground]
axle = [0, 0]
[[body]]
name     = \"lever\"
mass     = 1
inertia  = 1
position = [\"hx\", \"hy\"]
angle    = \"phi\"
features = { hand = [\"-a\", 0], end = [\"b\", 0] }
[[force]]
at    = \"lever.hand\"
force = [\"P*sin(al)\", \"-P*cos(al)\"]
[[force]]
at    = \"lever.end\"
force = [0, \"-Q\"]
[[contact]]
name     = \"bearing\"
pin      = [\"lever\", \"ground.axle\"]
radius   = \"r\"
friction = \"mu\"
[run]
until = 1
";

/// A lever whose hand force is inclined by α: P a cosα = Q b ± ρ √(P² + Q² + 2 P Q cosα), a quadratic for P solved here by hand.
#[test]
fn a_lever_with_journal_friction_has_the_force_of_the_friction_circle() {
    let mut dice = Dice(34);
    for _ in 0..40 {
        let (al, r, mu) = (dice.range(-0.6, 0.6), dice.range(0.005, 0.06), dice.range(0.05, 1.5));
        let m = model(LEVER, &[("al", al), ("r", r), ("mu", mu)], &["P", "Q"]);
        let e = analyse_self_braking(&m, &task("P", "Q")).unwrap().efficiency.unwrap();
        let (a, b, q, rho) = (0.3 * al.cos(), 0.1, 300.0, r * mu / (1.0 + mu * mu).sqrt());
        // (P a − Q b)² = ρ² (P² + Q² + 2 P Q cosα)
        let (k2, k1, k0) = (a * a - rho * rho, -(a * b + rho * rho * al.cos()), b * b - rho * rho);
        let root = (k1 * k1 - k2 * k0).sqrt();
        let (high, low) = (q * (-k1 + root) / k2, q * (-k1 - root) / k2);
        same(e.forward.drive[0], high);
        same(e.forward.efficiency[0], q * b / (high * a));
        same(e.backward.drive[0], low);
        same(e.backward.efficiency[0], low * a / (q * b));
    }
}

/// A journal and a guide together: the critical factor on both coefficients is where the number of solutions changes.
#[test]
fn the_critical_factor_of_a_journal_beside_a_guide_is_a_change_of_the_verdict() {
    let path = format!("{}/../../gallery/slider_crank/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace(
        "pin  = [\"coupler.end\", \"slider\"]",
        "pin  = [\"coupler.end\", \"slider\"]\nradius = \"4 cm\"\nfriction = \"k*mu\"",
    );
    let text = text.replace("friction  = \"mu\"", "friction  = \"k*mu\"");
    let text = text.replace("mu = 0.3\n", "mu = 0.3\nk = 1\n");
    let mut lab = Lab::text(&text, &["k", "l", "mu", "q0"], None, &[]);
    for (l, mu, q) in [(0.105, 1.5, 2.0), (0.11, 2.5, 2.0), (0.13, 0.5, 1.7)] {
        lab.set(&[("k", 1.0), ("l", l), ("mu", mu), ("q0", q)]);
        let s = lab.painleve().unwrap().critical_factor;
        assert!(s > 0.1 && s < 20.0, "{s}");
        let mut at = |k: f64| {
            lab.set(&[("k", k)]);
            lab.painleve().unwrap().verdict
        };
        assert_eq!(at(s * (1.0 - 1e-8)), Verdict::Unique);
        assert_ne!(at(s * (1.0 + 1e-8)), Verdict::Unique);
    }
}

/// Journals and a guide together: with the drive of uniform motion the dynamics of the slowly moving machine has no acceleration, in
/// both directions. An independent check of the efficiency by the contact problem itself.
#[test]
fn the_drive_of_uniform_motion_leaves_no_acceleration() {
    let path = format!("{}/../../gallery/slider_crank/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap().replace(
        "pin  = [\"coupler.end\", \"slider\"]",
        "pin  = [\"coupler.end\", \"slider\"]\nradius = \"2 cm\"\nfriction = \"mu\"",
    );
    let mut lab = Lab::text(&text, &["q0", "w0", "M", "mu"], None, &[]);
    for (q, mu) in [(0.5, 0.3), (1.2, 0.1), (2.2, 0.5), (4.0, 0.2), (5.3, 0.15)] {
        let m = model(&text, &[("q0", q), ("mu", mu)], &["M", "P"]);
        let e = analyse_self_braking(&m, &task("M", "P")).unwrap().efficiency.unwrap();
        // P = −20 N pushes towards the crank: it resists while the slider moves outwards, x' = −r sin q X/w q̇ > 0
        let out = -f64::sin(q).signum();
        for (uniform, w) in [(e.forward, out), (e.backward, -out)] {
            assert!(uniform.drive[0].is_finite());
            lab.set(&[("q0", q), ("w0", 1e-7 * w), ("M", uniform.drive[0]), ("mu", mu)]);
            let f = lab.painleve().unwrap();
            assert_eq!(f.solutions.len(), 1);
            let smooth = f.frictionless_accel[0].abs();
            assert!(f.solutions[0].accel[0].abs() < 1e-8 * smooth, "{} {smooth}", f.solutions[0].accel[0]);
        }
        assert!(e.forward.efficiency[0] > 0.0 && e.forward.efficiency[0] < 1.0);
    }
}
