//! The finding along a run.

mod lab;

use lab::{Lab, close};
use specht::analysis::BorderKind as Kind;
use specht::analysis::Verdict;
use specht::inside::start_of;
use specht::sim::{Settings, event_driven};
use specht::{analysis::Along, inside::along};

fn follow(lab: &Lab, until: f64) -> Along {
    let start = start_of(&lab.sys).unwrap();
    let run = event_driven(&lab.sys, &start, &Settings::until(until), &mut Default::default()).unwrap();
    along(&lab.sys, &run).unwrap()
}

/// ANH-3.6-CRANK: no paradox all along; the reaction vanishes first at t = 0.075812 s, and the largest index is that of Fig. 3.9.
#[test]
fn anh_3_6_crank_along_its_run() {
    let lab = Lab::new("crank", &[]);
    let found = follow(&lab, 0.5);
    assert!(found.meetings.len() > 500);
    assert!(found.meetings.iter().all(|m| m.class.verdict == Verdict::Unique));
    assert_eq!(found.spans.len(), 1);
    let s = found.spans[0];
    assert_eq!((s.from, s.to, s.verdict), (0.0, 0.5, Some(Verdict::Unique)));
    assert!(found.borders.iter().all(|b| b.kind == Kind::Frictionless && b.contact == Some(0)));
    close(found.borders[0].t, 0.075812, 1e-5);
    let near = found.nearest[0];
    close(1.0 / near.critical_mu, 0.50732, 1e-5);
    assert_eq!(near.mu, 0.3);
}

const GUIDE: &str = r#"
name = "guide with a swinging load"
[parameters]
m  = "2 kg"
F  = "30 N"
w  = "7 rad/s"
mu = 0.2
[coordinates]
x = { rate = "10 m/s" }
y = 0
[ground]
rail = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "block"
mass = "m"
position = ["x", "y"]
[[force]]
name = "load"
at = "block"
force = [0, "-F*cos(w*t)"]
[[contact]]
name = "rail"
between = ["block", "ground.rail"]
bilateral = true
friction = "mu"
[run]
until = "1 s"
"#;

/// R⁰ = F cos(ω t) vanishes at ω t = π/2 + kπ; L = 0, so no friction is critical.
#[test]
fn zeros_of_the_frictionless_reaction_are_located() {
    let lab = Lab::text(GUIDE, &[], None, &[]);
    let found = follow(&lab, 1.0);
    let expected: Vec<f64> = (0..2).map(|k| (f64::from(k) + 0.5) * std::f64::consts::PI / 7.0).collect();
    assert_eq!(found.borders.len(), 2, "{:?}", found.borders);
    for (b, t) in found.borders.iter().zip(expected) {
        assert!((b.t - t).abs() < 1e-9, "{} {t}", b.t);
        assert_eq!((b.kind, b.verdict), (Kind::Frictionless, [Verdict::Unique; 2]));
    }
    assert!(found.nearest.is_empty());
}

/// ANH-3.2-PKEXT with friction that grows in time: several solutions from μ(t) tan φ M₂/(M₁ + M₂) = 1 on.
#[test]
fn the_instant_at_which_a_run_enters_a_paradox_is_located() {
    let path = format!("{}/../../gallery/painleve_klein/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.replace("friction  = \"mu\"", "friction  = \"mu + 2*t\"");
    let lab = Lab::text(&text, &[], None, &[]);
    let found = follow(&lab, 0.6);
    let enter = (3.0 / (2.0 * (50.0_f64).to_radians().tan()) - 0.5) / 2.0;
    assert_eq!(found.spans.len(), 2, "{:?}", found.spans);
    assert_eq!(found.spans[0].verdict, Some(Verdict::Unique));
    assert_eq!(found.spans[1].verdict, Some(Verdict::Several));
    assert!((found.spans[1].from - enter).abs() < 1e-8, "{} {enter}", found.spans[1].from);
    assert_eq!(found.spans[1].to, 0.6);
}

/// While every frictional contact is open nothing is to be decided.
#[test]
fn a_flight_is_a_span_without_verdict() {
    let text = r#"
name = "ball"
gravity = [0, -9.81]
[coordinates]
x = { rate = "1 m/s" }
y = "0.5 m"
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "ball"
mass = "1 kg"
position = ["x", "y"]
[[contact]]
name = "floor"
between = ["ball", "ground.floor"]
friction = 0.2
[run]
until = "0.5 s"
"#;
    let found = follow(&Lab::text(text, &[], None, &[]), 0.5);
    let down = (2.0 * 0.5 / 9.81_f64).sqrt();
    assert_eq!(found.spans[0].verdict, None);
    assert!((found.spans[0].to - down).abs() < 1e-9, "{:?}", found.spans);
    assert_eq!(found.spans.last().unwrap().verdict, Some(Verdict::Unique));
}
