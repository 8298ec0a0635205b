//! Friction tensors in model files: construction, dissipation, regularity (VAG-1, VAG-2, VAG-5).

mod lab;

use lab::{Dice, Lab, close, same};
use specht::analysis::Watch;
use specht::analysis::{Snapshot, Verdict};
use specht::inside::Reduced;
use specht::inside::{Options, read};
use specht::inside::{regular_set, sampled_set};
use specht::sim::{Outside, Settings, StartError, event_driven};
use specht::system::{Restitution, System};
use specht::{
    inside::{ImpactStatus, Impactor},
    sim::ImpactLaw as Law,
};

fn set_of(lab: &Lab) -> specht::inside::SetFinding {
    let mut at = Snapshot::new(&lab.sys);
    at.state = lab.start();
    at.take(&lab.sys).unwrap();
    regular_set(lab.sys.contacts(), &at, &[], &mut Reduced::default()).unwrap()
}

/// VAG-1-TENSOR, VAG-2-ROD: `friction = { regular = mu }` builds (14) from the mass matrix; the reaction is (3) for every coefficient
/// and the index of influence vanishes.
#[test]
fn vag_2_rod_the_regular_tensor_is_built_from_the_mass_matrix() {
    let mut lab = Lab::new("rod_regular", &["m1", "m2", "l", "mu", "th0", "w0", "v0"]);
    let mut dice = Dice(21);
    for _ in 0..500 {
        let (m1, m2, l) = (dice.range(0.2, 3.0), dice.range(0.2, 3.0), dice.range(0.3, 2.0));
        let (mu, th, w) = (dice.range(0.05, 4.0), dice.range(0.2, 2.9), dice.range(-2.0, 2.0));
        let v = dice.sign() * dice.range(0.1, 2.0);
        lab.set(&[("m1", m1), ("m2", m2), ("l", l), ("mu", mu), ("th0", th), ("w0", w), ("v0", v)]);
        let bottom = 2.0 * m1 + m2 * (1.0 + (2.0 * th).cos());
        let load = 2.0 * m1 * ((m1 + m2) * 9.81 - l * m2 * w * w * th.sin()) / bottom;
        if load < 0.1 {
            continue;
        }
        let f = lab.painleve().unwrap();
        assert_eq!(f.verdict, Verdict::Unique);
        same(f.solutions[0].normal[0], load);
        close(f.index[(0, 0)], 0.0, 1e-12);
        let set = set_of(&lab);
        assert!(set.regular && set.patterns == 2);
        let phi = &set.contacts[0].phi;
        let across = mu * m2 * (2.0 * th).sin() / bottom;
        close(phi[1][0], across, 1e-11);
        close(phi[0][1], -across, 1e-11);
        close(phi[0][0], mu, 1e-15);
        assert!(set.contacts[0].eigenvalue >= 0.0 && set.contacts[0].orthogonality.residual < 1e-12);
    }
}

/// VAG-2-ROD: a run with the tensor of the program is the run with the tensor written as a formula.
#[test]
fn vag_2_rod_runs_agree_with_the_written_tensor() {
    let (built, written) = (
        Lab::with("rod_regular", &[], None, &[("mu", "2"), ("th0", "100 deg")]),
        Lab::with("rod_tensor", &[], None, &[("k1", "2"), ("th0", "100 deg")]),
    );
    let settings = Settings::until(0.3);
    let run = |lab: &Lab| event_driven(&lab.sys, &lab.start(), &settings, &mut Outside::default()).unwrap();
    let (a, b) = (run(&built), run(&written));
    assert!(a.audit.passed && b.audit.passed, "{:?} {:?}", a.audit, b.audit);
    // x, y, θ against x, θ, y
    for (i, j) in [(0, 0), (1, 2), (2, 1)] {
        close(a.last.state.q[i], b.last.state.q[j], 1e-8);
        close(a.last.state.u[i], b.last.state.u[j], 1e-7);
    }
    assert!((a.last.state.q[2] - 100_f64.to_radians()).abs() > 0.01, "the rod turns");
}

/// VAG-1-TENSOR: ideal joints belong to the mechanism. A slider-crank of massless coupler and pin: the regular tensor takes the
/// influence of friction on the reaction of the rail away at every angle.
#[test]
fn vag_1_tensor_joints_are_held_when_the_regular_tensor_is_built() {
    let path = format!("{}/../../gallery/slider_crank/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let regular = text.replace("friction  = \"mu\"", "friction  = { regular = \"mu\" }");
    assert_ne!(text, regular);
    for angle in [0.4_f64, 1.1, 1.9, 2.8] {
        let angle = angle.to_string();
        let at = |t: &str| Lab::text(t, &[], None, &[("q0", &angle)]);
        let (plain, leaning) = (at(&text).painleve().unwrap(), at(&regular).painleve().unwrap());
        assert!(plain.index[(0, 0)].abs() > 1e-3);
        close(leaning.index[(0, 0)], 0.0, 1e-12);
        same(leaning.frictionless[0], plain.frictionless[0]);
        same(leaning.solutions[0].normal[1], plain.frictionless[0]);
    }
}

/// VAG-5-REGULAR: Coulomb friction of the rod is irregular in one direction of slip, with the critical coefficient of VAG-2-ROD; over
/// samples the worst state is that of the smallest one.
#[test]
fn vag_5_regular_coulomb_rod_at_states_and_over_samples() {
    let mut lab = Lab::with("rod_tensor", &["k1", "th0"], None, &[("c", "0")]);
    let mut dice = Dice(22);
    let critical = |th: f64| (2.0 + 2.0 * (1.0 + (2.0 * th).cos())) / (2.0 * (2.0 * th).sin().abs());
    for _ in 0..200 {
        let (k1, th) = (dice.range(0.05, 4.0), dice.range(0.1, 3.0));
        lab.set(&[("k1", k1), ("th0", th)]);
        let f = set_of(&lab);
        assert!(!f.regular);
        same(f.worst.critical.unwrap() * k1, critical(th));
        assert_eq!(f.directions[0], if (2.0 * th).sin() < 0.0 { 1.0 } else { -1.0 });
    }
    // the other parameters have their values of the file: k1 = 2
    let ranges = [("th0".to_string(), [0.2, 1.4])];
    let s = sampled_set(&lab.sys, &ranges, 400, &[], Watch::default()).unwrap();
    assert_eq!((s.count, s.irregular, s.undefined.0), (400, 400, 0));
    let worst = s.worst.unwrap();
    same(2.0 * worst.value, critical(worst.at[0]));
    let least = (0..4000).map(|i| critical(0.2 + 1.2 * f64::from(i) / 4000.0)).fold(f64::INFINITY, f64::min);
    assert!(2.0 * worst.value >= least - 1e-6 && 2.0 * worst.value < least * 1.0001, "{worst:?} {least}");
}

/// VAG-5-REGULAR over samples of a coordinate: those of the start parameter give the same finding.
#[test]
fn vag_5_regular_samples_over_a_coordinate() {
    let lab = Lab::with("rod_tensor", &["th0"], None, &[("c", "0")]);
    let range = [0.3, 1.3];
    let a = sampled_set(&lab.sys, &[("th0".to_string(), range)], 50, &[], Watch::default()).unwrap();
    let b = sampled_set(&lab.sys, &[("th".to_string(), range)], 50, &[], Watch::default()).unwrap();
    let (x, y) = (a.worst.unwrap(), b.worst.unwrap());
    assert_eq!((a.count, a.irregular), (b.count, b.irregular));
    assert_eq!(x.at, y.at);
    same(x.value, y.value);
    assert!(sampled_set(&lab.sys, &[("nothing".to_string(), range)], 5, &[], Watch::default()).is_err());
}

const TURNING: &str = "
[coordinates]
x = { rate = 1 }
y = 0
[[body]]
name = \"block\"
mass = 1
position = [\"x\", \"y\"]
[[force]]
at = \"block\"
force = [2, -10]
[[contact]]
name = \"table\"
gap = \"y\"
slip = \"x'\"
friction = [[0.3, \"k - x\"], [\"k - x\", 0.2]]
[parameters]
k = 0
[run]
until = 1
";

/// VAG-1-TENSOR, condition ii for tensors that follow the state: refused at the start, named by the audit during a run.
#[test]
fn vag_1_tensor_that_creates_energy_is_named_with_its_eigenvalue() {
    // at the start: [[0.3, 0.5], [0.5, 0.2]]
    let lab = Lab::text(TURNING, &[], None, &[("k", "0.5")]);
    let given = lab.sys.start();
    let lowest = 0.25 - f64::hypot(0.05, 0.5);
    match specht::inside::consistent(&lab.sys, &given, &[], &[], &[]) {
        Err(StartError::CreatesEnergy { contact, eigenvalue }) => {
            assert_eq!(contact, "table");
            close(eigenvalue, lowest, 1e-14);
        }
        other => panic!("{other:?}"),
    }
    // in the run: x passes √(0.3·0.2)
    let lab = Lab::text(TURNING, &[], None, &[]);
    let mut settings = Settings::until(1.0);
    settings.record = specht::sim::Record::Every(1e-3);
    let run = event_driven(&lab.sys, &lab.sys.start(), &settings, &mut Outside::default()).unwrap();
    let remark = run.audit.tensor.clone().unwrap();
    assert!(!run.audit.passed && remark.contact == "table" && remark.eigenvalue < 0.0);
    let x = |t: f64| run.samples.rows().find(|r| r.t >= t).map_or(f64::NAN, |r| r.q[0]);
    assert!(x(remark.time) >= (0.3_f64 * 0.2).sqrt() - 1e-9);
    assert!(run.audit.remarks.iter().any(|r| r.contains("friction tensor of `table` creates energy")));
}

#[test]
fn a_regular_tensor_needs_a_rigid_contact() {
    let text = "
[coordinates]
x = { rate = 1 }
[[body]]
name = \"block\"
mass = 1
position = [\"x\", 0]
[[contact]]
name = \"table\"
slip = \"x'\"
normal_force = 3
friction = { regular = 0.3 }
";
    let list = read(text, &Options::default()).unwrap_err();
    assert!(
        list.iter().any(|d| d.message.contains("`table` asks for the regular friction tensor")),
        "{list:?}"
    );
}

/// VAG-2-ROD in an impact, by hand. The regular tensor leaves the normal impulse alone: Λ_C = w/Q_nn, ġ_E = e w. The slip changes by
/// (Q_tn − μ (Q_tt + s Q_tn)) per unit of normal impulse while sliding, and vanishes (the plain slip, not that along the leaning
/// direction) where it sticks.
#[test]
fn vag_2_rod_impact_with_the_regular_tensor() {
    let mut lab = Lab::new("rod_regular", &["m1", "m2", "l", "mu", "th0", "v0"]);
    let mut dice = Dice(24);
    let mut seen = [0; 2];
    for _ in 0..600 {
        let (m1, m2, l) = (dice.range(0.2, 3.0), dice.range(0.2, 3.0), dice.range(0.3, 2.0));
        let (mu, th, v) = (dice.range(0.05, 1.5), dice.range(0.2, 2.9), dice.range(0.05, 3.0));
        let (w, e) = (dice.range(0.2, 2.0), dice.range(0.1, 1.0));
        lab.set(&[("m1", m1), ("m2", m2), ("l", l), ("mu", mu), ("th0", th), ("v0", v)]);
        let mut at = Snapshot::new(&lab.sys);
        at.state = lab.start();
        at.state.u[1] = -w;
        at.take(&lab.sys).unwrap();
        let restitution = [Restitution { normal: e, ..Restitution::default() }];
        let out = Impactor::default().solve(
            Law::Poisson,
            lab.sys.contacts(),
            &at.eval,
            &at.state.u,
            &[true],
            &restitution,
        );
        assert_eq!(out.status, ImpactStatus::Solved);
        assert!(out.residual < 1e-9, "{}", out.residual);
        // mobility of the end: a light rod with two masses, centre at the distance a from it
        let (mass, a) = (m1 + m2, m2 * l / (m1 + m2));
        let inertia = m1 * m2 / mass * l * l;
        let (sin, cos) = th.sin_cos();
        let (tt, tn, nn) = (
            1.0 / mass + a * a * sin * sin / inertia,
            -a * a * sin * cos / inertia,
            1.0 / mass + a * a * cos * cos / inertia,
        );
        let s = -tn / nn;
        let along = tt + s * tn;
        let normal = w / nn;
        same(out.impulse[0], (1.0 + e) * normal);
        close(out.u[1], e * w, 1e-9);
        // two phases, each sliding forwards, sticking, or (driven by the normal impulse) sliding backwards
        let phase = |slip: f64, load: f64| {
            let before = slip + tn * load;
            let hold = -before / along;
            if hold.abs() <= mu * load {
                (0.0, true)
            } else {
                (before - mu * load * before.signum() * along, false)
            }
        };
        let (middle, _) = phase(v, normal);
        let (end, sticks) = phase(middle, e * normal);
        close(out.u[0], end, 1e-8);
        seen[usize::from(sticks)] += 1;
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

/// The same impact by Moreau's law, in the event-driven run and by time-stepping: the plain slip of a sticking end is zero.
#[test]
fn vag_2_rod_impact_by_both_schemes() {
    let path = format!("{}/../../gallery/rod_regular/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("y  = 0", "y  = { start = \"1e-6 m\", rate = \"-1 m/s\" }");
    let text = text.replace("tangent  = [1, 0]", "tangent  = [1, 0]\nrestitution = 0.5");
    let lab = Lab::text(&text, &[], None, &[("mu", "1.5"), ("v0", "0.3"), ("th0", "60 deg")]);
    let start = lab.start();
    let mut settings = Settings::until(2e-4);
    settings.impact = Law::Moreau;
    let a = event_driven(&lab.sys, &start, &settings, &mut Outside::default()).unwrap();
    settings.step = 1e-6;
    let b = specht::sim::time_stepping(&lab.sys, &start, &settings, &mut Outside::default()).unwrap();
    let hit = a.events.iter().find(|e| e.kind == specht::sim::Kind::Impact).unwrap();
    close(hit.after.u[1], 0.5, 1e-4);
    close(hit.after.u[0], 0.0, 1e-9);
    for k in 0..3 {
        close(a.last.state.u[k], b.last.state.u[k], 2e-3);
    }
}
