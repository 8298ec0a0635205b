//! The compliant limit: basins, tangential impacts, seizure; compliant runs converge to it.

mod lab;

use lab::{Lab, close, same};
use specht::analysis::Verdict;
use specht::analysis::{Outcome, TrueMotion, true_motion};
use specht::inside::Impactor;
use specht::sim::{Kind, Policy, Settings, event_driven};
use specht::system::{Restitution, System};

/// Painlevé-Klein with unit masses and a compliant guide: mu = 0.8, tan(phi) = 4, P1 = 3, P2 = 1.
const COMPLIANT: &str = r#"
[parameters]
k  = 4
l  = 1
c  = 1e6
mu = 0.8
v0 = 1
h0 = 0
k0 = 0
[coordinates]
q = { rate = "v0" }
h = { start = "h0", rate = "k0" }
[define]
phi = "atan(k)"
[ground]
guide = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "slider1"
mass = 1
position = ["q", "h"]
[[body]]
name = "slider2"
mass = 1
position = ["q + sqrt(l^2 - (l*sin(phi) - h)^2)", "l*sin(phi)"]
[[force]]
at = "slider1"
force = [3, 0]
[[force]]
at = "slider2"
force = [1, 0]
[[contact]]
name = "rub"
between = ["slider1", "ground.guide"]
bilateral = true
SPRING
friction = "mu"
[run]
until = 1
"#;

fn rigid() -> Lab {
    Lab::text(&COMPLIANT.replace("SPRING", ""), &["v0"], None, &[])
}

fn compliant() -> Lab {
    Lab::text(&COMPLIANT.replace("SPRING", "spring = \"c\""), &["c", "v0", "h0", "k0"], None, &[])
}

fn klein(v0: f64, x0: f64, rate0: f64) -> TrueMotion {
    let mut lab = rigid();
    lab.set(&[("v0", v0)]);
    true_motion(&lab.sys, &lab.start(), 0, x0, rate0).unwrap()
}

/// ANH-4.4-PKLEIN, ANH-4.3-LIMIT, ANHP-3-LIMIT, ANHP-5-PK: portraits, stationary reactions and outcomes of the nominal set.
#[test]
fn anh_4_4_pklein_nominal_set() {
    let a = klein(1.0, 0.5, 0.0);
    same(a.portrait.p, 1.6);
    assert_eq!(a.portrait.s, 1.0);
    same(a.frictionless, 4.0);
    same(a.centre.unwrap(), 4.0 / 2.6);
    same(a.saddle.unwrap(), -4.0 / 0.6);
    assert_eq!(a.verdict, Verdict::Several);
    assert!(matches!(&a.outcome, Outcome::Rigid { reactions } if (reactions[0] - 4.0 / 2.6).abs() < 1e-9));
    let b = klein(1.0, -2.0, 0.0);
    assert!(matches!(&b.outcome, Outcome::Seizure { u, .. } if u[0].abs() < 1e-12));
    for x in [-3.0, -0.5, 0.5, 3.0] {
        let c = klein(-1.0, x, 0.0);
        assert_eq!(c.verdict, Verdict::None);
        assert!(matches!(c.outcome, Outcome::Seizure { .. }));
    }
    // the basin: x' = 0 between the saddle and x_max, x = 0 up to w/sqrt(p - 1)
    let interval = a.portrait.bounded_interval().unwrap();
    same(interval[0], -1.0 / 0.6);
    same(interval[1], (1.0 + (3.2_f64 / 0.6).sqrt()) / 2.6);
    let limit = 1.0 / 0.6_f64.sqrt();
    assert!(a.portrait.stays(0.0, 0.999 * limit) && !a.portrait.stays(0.0, 1.001 * limit));
}

/// ANH-4.3-TIMPACT, ANHP-4-TIMP: k of the book and of the full system, and both durations.
#[test]
fn anh_4_3_timpact_durations() {
    let m = klein(-1.0, 0.5, 0.0);
    let (t, mu) = (4.0_f64, 0.8);
    same(m.k_book, 0.5);
    same(m.k_full, (1.0 + t * t - t / mu) / (2.0 + t * t));
    for c in [1e4_f64, 1e6, 1e8] {
        let lambda = (c * (mu * t - 2.0) / (2.0 + t * t)).sqrt();
        let r1 = 0.5 * (0.5 + 1.0 / 0.6);
        let d = m.duration(c, 0.5, 0.0).unwrap();
        same(d.dt_book, (1.0 + 4.0 * lambda / (mu * r1 * 2.0 * t)).ln() / lambda);
        same(d.dt_full, (1.0 + lambda / (mu * 4.0 * r1 * m.k_full)).ln() / lambda);
        assert!(d.dt_full < d.dt_book);
    }
}

// time at which the slip vanishes in the compliant run, if it does
fn stops(lab: &mut Lab, c: f64, v0: f64, x0: f64, rate0: f64, until: f64) -> Option<f64> {
    let w = (c * 2.0 / 18.0).sqrt();
    lab.set(&[("c", c), ("v0", v0), ("h0", -4.0 * x0 / c), ("k0", -4.0 * rate0 * w / c)]);
    let settings = Settings { tolerance: 1e-8, ..Settings::until(until) };
    let run = event_driven(&lab.sys, &lab.start(), &settings, &mut Default::default()).unwrap();
    run.events.iter().find(|e| matches!(e.kind, Kind::Stick | Kind::Reverse)).map(|e| e.time)
}

/// ANH-4.3-TIMPACT: compliant runs converge to the corrected duration as the stiffness grows, within 1 % at the largest; the
/// book's value stays off.
#[test]
fn compliant_runs_take_the_corrected_time() {
    let mut lab = compliant();
    for (v0, x0) in [(-1.0, 0.5), (1.0, -2.0)] {
        let m = klein(v0, x0, 0.0);
        let mut last = f64::INFINITY;
        for c in [1e4, 1e6, 1e8] {
            let d = m.duration(c, x0, 0.0).unwrap();
            let t = stops(&mut lab, c, v0, x0, 0.0, 3.0 * d.dt_book).unwrap();
            let error = (t / d.dt_full - 1.0).abs();
            assert!(error < last, "c = {c}: {t} {d:?}");
            last = error;
        }
        assert!(last < 0.01, "{last}");
    }
}

/// ANH-4.3-LIMIT (Theorems 8 and 9): on a grid of initial reactions and rates the compliant run ends as the basin says.
#[test]
fn compliant_runs_end_as_the_basin_says() {
    let mut lab = compliant();
    let c = 1e8;
    let until = 40.0 / (c * 2.0 / 18.0_f64).sqrt();
    for v0 in [1.0, -1.0] {
        for x0 in [-3.0, -1.8, -1.5, -0.7, 0.0, 0.4, 0.9, 1.2, 1.4, 3.0] {
            for rate0 in [-1.4, -0.6, 0.0, 0.6, 1.4] {
                let m = klein(v0, x0, rate0);
                let seizes = stops(&mut lab, c, v0, x0, rate0, until).is_some();
                assert_eq!(seizes, !m.portrait.stays(x0, rate0), "v0 = {v0}, x0 = {x0}, rate0 = {rate0}");
            }
        }
    }
}

/// ANH-4.3-TIMPACT, ANH-4.5-ELLIPTIC: velocities at the stop of an undamped contact and in the damped rigid limit; the latter is the
/// end of a compression phase.
#[test]
fn anh_4_5_elliptic_tangential_impact() {
    let lab = Lab::new("elliptic_pendulum", &[]);
    let start = lab.start();
    let m = true_motion(&lab.sys, &start, 0, 1.0, 0.0).unwrap();
    assert_eq!(m.verdict, Verdict::None);
    close(m.u_at_stop.clone().unwrap()[1], -0.96921, 1e-5);
    let Outcome::TangentialImpact { u, impulse, loss } = &m.outcome else { panic!("{:?}", m.outcome) };
    assert!(u[0].abs() < 1e-12 && u[2].abs() < 1e-12);
    same(u[1], -(70.0_f64.to_radians()).sin());
    let mut eval = lab.sys.memory();
    let discrete = lab.sys.fresh_discrete();
    lab.sys.evaluate(&start, &discrete, &mut eval);
    let e = vec![Restitution::default(); 1];
    let other = Impactor::default()
        .without_collision(lab.sys.contacts(), &eval, &start.u, &[true], &e, None)
        .expect("an impact without collision");
    for (a, b) in u.iter().zip(&other.u) {
        close(*a, *b, 1e-9);
    }
    close(impulse[0], other.normal[0], 1e-9);
    close(impulse[1], other.tangential[0], 1e-9);
    close(*loss, -other.energy, 1e-9);
}

/// ANH-1.3-LECORNU: on an elastic plane the reaction grows as (c g/S²)(cosh S t − 1).
#[test]
fn anh_1_3_lecornu_grows_exponentially() {
    let path = format!("{}/../../gallery/lecornu/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("friction = \"mu\"", "friction = \"mu\"\nspring = 1e6");
    // a touch inside, so that the plane acts from the start
    let text = text.replace("closed = [\"plane\"]", "").replace("{ guess = \"r\" }", "\"r - 1e-10\"");
    let lab = Lab::text(&text, &[], None, &[("b", "0.1"), ("mu", "0.6"), ("w0", "0"), ("v0", "-10")]);
    let s = 1118.03;
    let settings = Settings { tolerance: 1e-9, ..Settings::until(4.0 / s) };
    let run = event_driven(&lab.sys, &lab.start(), &settings, &mut Default::default()).unwrap();
    let r = run.last.normal[0];
    assert!((r / 206.467 - 1.0).abs() < 0.03, "{r}");
}

/// ANH-2.6-MARCH (b): the trajectory is funnelled into the singular point, which is reported with v_c and p.
#[test]
fn anh_2_6_march_singular_point() {
    let lab = Lab::with("quick_return", &[], Some("funnel"), &[]);
    let run = event_driven(&lab.sys, &lab.start(), &Settings::until(0.7), &mut Default::default()).unwrap();
    let found = run.of_kind(Kind::Finding).next().unwrap();
    close(found.time, 0.64420, 1e-5);
    close(found.before.q[0], 2.014989, 1e-6);
    close(number(&found.note, "exponent p ="), 0.28541, 1e-4);
    let slip = found.note.find("at slip speed").unwrap();
    close(number(&found.note[slip..], "(") * found.before.u[0], 5.46134, 1e-5);
    // stiff contacts seize there; the ledger closes
    let e = run.of_kind(Kind::Seizure).next().unwrap();
    assert!((e.time - found.time).abs() < 1e-9, "{}", e.time);
    assert!(e.after.u.iter().all(|u| u.abs() < 1e-9));
    assert!(run.audit.energy < 1e-9, "{}", run.audit.energy);
}

fn number(note: &str, key: &str) -> f64 {
    let rest = note[note.find(key).unwrap_or_else(|| panic!("{key} in {note}")) + key.len()..].trim_start();
    rest.split([' ', ',', ')', '*']).next().unwrap().parse().unwrap()
}

/// ANH-2.6-MARCH (b), ANH-1.3-SELECT: Painlevé's and Klein's rules go on beyond the singular point with v_c and the smaller
/// reaction.
#[test]
fn anh_2_6_march_rules_beyond_the_singular_point() {
    let lab = Lab::with("quick_return", &[], Some("funnel"), &[]);
    for several in [Policy::Painleve, Policy::Klein] {
        let settings = Settings { several, ..Settings::until(0.7) };
        let run = event_driven(&lab.sys, &lab.start(), &settings, &mut Default::default()).unwrap();
        let e = run.of_kind(Kind::TangentialImpact).next().unwrap();
        close(e.after.u[0], 5.46134, 1e-5);
    }
}

/// ANH-2.6-MARCH (b): at growing stiffness the slider of the funnel stops ever nearer to the singular point (t = 0.64420).
#[test]
fn stiff_runs_seize_at_the_singular_point() {
    let path = format!("{}/../../gallery/quick_return/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("bilateral = true", "bilateral = true\nspring = \"cc\"\ndamper = \"sqrt(cc)\"");
    let text = text.replace("phi0 = 0.3\n", "phi0 = 0.3\ncc = 1e9\n").replace(
        "psi = { guess = \"atan2(r*sin(phi0), a + r*cos(phi0))\" }",
        "psi = { start = \"atan2(r*sin(phi0), a + r*cos(phi0))\", rate = \"w0*r*(r + a*cos(phi0))/(a^2 + r^2 + 2*a*r*cos(phi0))\" }",
    );
    let mut last = f64::INFINITY;
    for c in ["1e8", "1e9", "1e10", "1e11"] {
        let lab = Lab::text(&text, &[], Some("funnel"), &[("cc", c)]);
        let settings = Settings { tolerance: 1e-7, ..Settings::until(0.66) };
        let run = event_driven(&lab.sys, &lab.start(), &settings, &mut Default::default()).unwrap();
        let stop = run.of_kind(Kind::Stick).next().unwrap().time;
        assert!(stop - 0.64420 < 0.6 * last, "c = {c}: {stop}");
        last = stop - 0.64420;
    }
    assert!(last < 2e-3 && last > 0.0, "{last}");
}

/// ANH-2.6-MARCH (a), Corollary of ANH-4.3-TIMPACT: seizure at the border takes all kinetic energy; the ledger closes.
#[test]
fn anh_2_6_march_seizure() {
    let lab = Lab::with("quick_return", &[], Some("seizure"), &[]);
    let run = event_driven(&lab.sys, &lab.start(), &Settings::until(0.2), &mut Default::default()).unwrap();
    let e = run.of_kind(Kind::Seizure).next().unwrap();
    close(e.time, 0.193246, 1e-5);
    close(e.before.u[0], 2.10075, 1e-4);
    assert!(e.after.u.iter().all(|u| u.abs() < 1e-9));
    assert!(run.audit.energy < 1e-7, "{}", run.audit.energy);
}

/// ANH-1.3-SELECT in a run: a state without solution under each policy.
#[test]
fn policies_in_a_run() {
    let mut lab = rigid();
    lab.set(&[("v0", -1.0)]);
    let go = |p: Policy| {
        let settings = Settings { several: p, ..Settings::until(0.01) };
        event_driven(&lab.sys, &lab.start(), &settings, &mut Default::default()).unwrap()
    };
    for p in [Policy::Continuous, Policy::Compliant, Policy::Klein] {
        let run = go(p);
        assert_eq!(run.status.word(), "finished", "{p:?} {}", run.message);
        assert_eq!(run.events[0].kind, Kind::Seizure, "{p:?}");
        assert!(run.start.solutions.is_empty());
    }
    for p in [Policy::Painleve, Policy::Stop] {
        assert_eq!(go(p).status.word(), "inconsistent");
    }
}

/// ANH-4.3-TIMPACT in a run: the log tells how long the seizure lasts for any stiffness, by the corrected formula; stiff runs take that
/// time, also with other parameters.
#[test]
fn the_log_tells_the_duration_of_a_seizure() {
    for (k, mu, v0) in [(4.0, 0.8, -1.0), (3.0, 1.1, -0.4), (6.0, 0.5, -2.5)] {
        let set = [("k".to_string(), k), ("mu".to_string(), mu), ("v0".to_string(), v0)];
        let set: Vec<(String, String)> = set.iter().map(|(n, v)| (n.clone(), v.to_string())).collect();
        let set: Vec<(&str, &str)> = set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        let lab = Lab::text(&COMPLIANT.replace("SPRING", ""), &[], None, &set);
        let run =
            event_driven(&lab.sys, &lab.start(), &Settings::until(0.01), &mut Default::default()).unwrap();
        let e = run.of_kind(Kind::Seizure).next().unwrap();
        let (factor, growth) = (number(&e.note, "ln(1 +"), number(&e.note, "/("));
        let m = true_motion(&lab.sys, &lab.start(), 0, 0.0, 0.0).unwrap();
        for c in [1e4_f64, 1e8] {
            let d = (factor * c.sqrt()).ln_1p() / (growth * c.sqrt());
            close(d, m.duration(c, 0.0, 0.0).unwrap().dt_full, 1e-3);
        }
        let text = COMPLIANT.replace("SPRING", "spring = \"c\"");
        let mut set = set.clone();
        set.push(("c", "1e10"));
        let stiff = Lab::text(&text, &[], None, &set);
        let d = m.duration(1e10, 0.0, 0.0).unwrap().dt_full;
        let settings = Settings { tolerance: 1e-8, ..Settings::until(3.0 * d) };
        let run = event_driven(&stiff.sys, &stiff.start(), &settings, &mut Default::default()).unwrap();
        let stop = run.events.iter().find(|e| matches!(e.kind, Kind::Stick | Kind::Reverse)).unwrap().time;
        assert!((stop / d - 1.0).abs() < 0.01, "k = {k}: {stop} {d}");
    }
}

/// Several pairs: the fast motion settles on a stable branch or diverges, and agrees with the exact basin of a single pair.
#[test]
fn fast_motion_of_one_pair_agrees_with_its_energy() {
    let pair = specht::inside::FastPair { contact: 0, direction: 1.0, mu: 0.8, two_sided: true };
    // H of the nominal Painlevé-Klein scheme: H_nn = 1/9, H_nt = −d H_nn L
    let nn = 2.0 / 18.0;
    let h = specht::linalg::Mat::from_rows(&[[nn, -2.0 * nn], [-2.0 * nn, 1.0]]);
    let fast = specht::inside::Fast::sliding(&h, &[-4.0 * nn], &[pair]);
    let branches = vec![vec![4.0 / 2.6], vec![-4.0 / 0.6]];
    for x in [-2.5, -1.7, -1.6, -0.5, 0.0, 0.7, 1.2] {
        let fate = fast.follow(&branches, &[4.0 * x], &[0.0], 0.001);
        let settles = matches!(fate, specht::inside::Fate::Settles(0));
        assert_eq!(settles, x > -1.0 / 0.6, "{x} {fate:?}");
    }
}
