//! Outlines of any shape against closed forms.

mod lab;

use lab::{Lab, close};
use specht::inside::{self as file, Options};
use specht::sim::{Event, Kind, Outside, Settings, Trajectory, event_driven};

const G: f64 = 9.81;

fn run(lab: &Lab, until: f64) -> Trajectory {
    let settings = Settings { until, ..Default::default() };
    let t = event_driven(&lab.sys, &lab.start(), &settings, &mut Outside::default()).unwrap();
    assert!(t.audit.passed, "{:?}", t.audit.remarks);
    t
}

fn load(text: &str, set: &[(&str, f64)]) -> Lab {
    let set: Vec<(&str, String)> = set.iter().map(|(k, v)| (*k, format!("{v:e}"))).collect();
    let set: Vec<(&str, &str)> = set.iter().map(|(k, v)| (*k, v.as_str())).collect();
    Lab::text(text, &[], None, &set)
}

fn first(t: &Trajectory, kind: Kind) -> &Event {
    t.events.iter().find(|e| e.kind == kind).unwrap_or_else(|| panic!("no {kind:?}"))
}

/// A comb: two notches of unequal depth, a thin wall between them, an overhanging arm on the right.
const COMB: &str = r#"
gravity = [0, -9.81]
parameters = { x0 = 0.2, y0 = 4 }
coordinates = { x = "x0", y = "y0" }
ground = { comb = { closed = true, material = "left", outline = [[0, 0], [6, 0], [6, 3], [4.2, 3], [4.2, 2.6], [5.5, 2.6], [5.5, 0.7], [2.1, 0.7], [2.1, 2], [2, 2], [2, 0.3], [1, 0.3], [1, 2.5], [0, 2.5]] } }
body = [{ name = "p", mass = 1, position = ["x", "y"] }]
contact = [{ name = "c", between = ["p", "ground.comb"] }]
"#;

/// The half-planes of all edges were intersected: a particle fell through notches and feet without a word.
#[test]
fn a_particle_falls_on_the_part_of_a_comb_that_is_below_it() {
    // (start, height on which it comes to rest)
    for (x0, y0, floor) in [
        (0.4, 4.0, 2.5),
        (1.3, 4.0, 0.3),
        (2.04, 4.0, 2.0),
        (3.0, 4.0, 0.7),
        (4.9, 4.0, 3.0),
        (4.9, 2.2, 0.7),
    ] {
        let t = run(&load(COMB, &[("x0", x0), ("y0", y0)]), 1.5);
        close(t.last.state.q[1], floor, 1e-12);
        close(first(&t, Kind::Impact).time, (2.0 * (y0 - floor) / G).sqrt(), 1e-10);
        assert_eq!(t.events.iter().filter(|e| e.kind == Kind::Impact).count(), 1);
    }
}

const VALLEY: &str = r#"
gravity = [0, -9.81]
parameters = { a = "35 deg", b = "20 deg", x0 = -0.6, h = 0.5 }
coordinates = { x = "x0", y = "h - x0*tan(a)" }
ground = { valley = { closed = false, material = "right", outline = [["-2 m", "2*tan(a)*1 m"], [0, 0], ["2 m", "2*tan(b)*1 m"], ["3 m", 0], ["9 m", 0]] } }
body = [{ name = "p", mass = 2, position = ["x", "y"] }]
contact = [{ name = "c", between = ["p", "ground.valley"] }]
"#;

#[test]
fn a_particle_that_slides_into_a_valley_touches_both_slopes() {
    for (a, b, x0, h) in [(0.6, 0.35, -0.6, 0.5), (0.3, 1.2, -1.1, 0.2)] {
        let t = run(&load(VALLEY, &[("a", a), ("b", b), ("x0", x0), ("h", h)]), 3.0);
        // falls, keeps the velocity along the slope, slides with g sin a
        let fall = (2.0 * h / G).sqrt();
        let (v, acc) = (G * fall * a.sin(), G * a.sin());
        let path = -x0 / a.cos();
        let slide = ((v * v + 2.0 * acc * path).sqrt() - v) / acc;
        let hits: Vec<&Event> = t.events.iter().filter(|e| e.kind == Kind::Impact).collect();
        close(hits[0].time, fall, 1e-10);
        close(hits[1].time, fall + slide, 1e-9);
        // a plastic impact at the other slope with ε = 0 leaves the part along it
        let speed = (v + acc * slide) * (a + b).cos();
        let after = &hits[1].after.u;
        if speed > 0.0 {
            close(after[0], speed * b.cos(), 1e-8);
            close(after[1], speed * b.sin(), 1e-8);
        } else {
            close(after[0].hypot(after[1]), 0.0, 1e-10);
        }
    }
}

const DISC: &str = r#"
gravity = [0, -9.81]
parameters = { R = 0.3, dx = 0.1, H = 1, e = 0.6, mu = 0 }
coordinates = { x = "1 m + dx", y = "H", th = 0 }
ground = { step = { closed = true, material = "left", outline = [[-3, -4], [3, -4], [3, -1], [1, -1], [1, 0], [-3, 0]] } }
[[body]]
name = "disc"
mass = 1.5
inertia = "0.5*1.5 kg*R^2"
position = ["x", "y"]
angle = "th"
features = { skin = SKIN }
[[contact]]
name = "c"
between = ["disc.skin", "ground.step"]
restitution = "e"
friction = "mu"
"#;

fn disc(curve: bool, set: &[(&str, f64)]) -> Lab {
    let skin = if curve {
        r#"{ curve = ["R*cos(s)", "R*sin(s)"], parameter = "s", range = [0, "2*pi"], material = "left" }"#
    } else {
        r#"{ center = [0, 0], radius = "R" }"#
    };
    load(&DISC.replace("SKIN", skin), set)
}

#[test]
fn a_disc_that_hits_a_corner_bounces_off_along_the_line_to_its_centre() {
    for (r, dx, e) in [(0.3, 0.1, 0.6), (0.5, 0.45, 0.2), (0.2, 0.01, 1.0)] {
        let t = run(&disc(false, &[("R", r), ("dx", dx), ("e", e)]), 0.6);
        let hit = first(&t, Kind::Impact);
        let top = f64::sqrt(r * r - dx * dx);
        close(hit.time, f64::sqrt(2.0 * (1.0 - top) / G), 1e-9);
        // normal n = (dx, top)/R
        let (v, n) = (-G * hit.time, [dx / r, top / r]);
        let jump = -(1.0 + e) * v * n[1];
        close(hit.after.u[0], jump * n[0], 1e-8);
        close(hit.after.u[1], v + jump * n[1], 1e-8);
    }
}

/// Sliding off an edge without friction: contact ends where cos θ = 2/3 cos θ₀ (θ from the vertical).
#[test]
fn a_disc_leaves_the_corner_over_which_it_slides_at_two_thirds() {
    for (r, start) in [(0.3, 0.15), (0.4, 0.4)] {
        let (dx, h) = (r * f64::sin(start), r * f64::cos(start));
        for curve in [false, true] {
            let t = run(&disc(curve, &[("R", r), ("dx", dx), ("H", h), ("e", 0.0)]), 1.0);
            let left = first(&t, Kind::Detach);
            close((left.after.q[1] / r) / f64::cos(start), 2.0 / 3.0, 1e-7);
        }
    }
}

/// A disc rolls along the top, over the edge, and falls into the notch below: as a round and as a curve.
#[test]
fn a_circle_given_as_a_curve_does_what_a_round_does() {
    let text = |curve: bool| {
        let lab = disc(curve, &[("R", 0.25), ("dx", -0.4), ("H", 0.25), ("e", 0.0), ("mu", 0.3)]);
        let mut start = lab.start();
        start.u = vec![0.5, 0.0, -2.0];
        let settings = Settings { until: 1.6, ..Default::default() };
        event_driven(&lab.sys, &start, &settings, &mut Outside::default()).unwrap()
    };
    let (round, curve) = (text(false), text(true));
    assert!(round.audit.passed && curve.audit.passed);
    for (a, b) in round.last.state.q.iter().zip(&curve.last.state.q) {
        close(*a, *b, 1e-7);
    }
    // it rolled off: 0.4 m at 0.5 m/s, then over the edge
    assert!(round.last.state.q[0] > 1.25 && round.last.state.q[1] < 0.0);
}

#[test]
fn a_disc_in_a_notch_rests_on_both_sides() {
    let text = r#"
gravity = [0, -9.81]
parameters = { R = 0.3, k = 0.8 }
coordinates = { x = 0.1, y = 1.5, th = 0 }
ground = { v = { closed = true, material = "right", outline = [[-3, 3], [0, 0], ["3/k", 3], [4, 3], [4, -1], [-4, -1], [-4, 3]] } }
body = [{ name = "disc", mass = 1, inertia = 0.04, position = ["x", "y"], angle = "th", features = { skin = { center = [0, 0], radius = "R" } } }]
contact = [{ name = "c", between = ["disc.skin", "ground.v"], restitution = 0.2 }]
"#;
    for (r, k) in [(0.3, 0.8), (0.15, 2.0)] {
        let t = run(&load(text, &[("R", r), ("k", k)]), 8.0);
        // distances R from both flanks y = −x and y = k x
        let q = &t.last.state.q;
        close((q[0] + q[1]) / 2.0_f64.sqrt(), r, 1e-8);
        close((q[1] - k * q[0]) / f64::hypot(1.0, k), r, 1e-8);
        assert!(t.last.state.u.iter().all(|v| v.abs() < 1e-6));
    }
}

/// An L-shaped body falls with its notch over a fixed block: the inner edge lands on it, not the line beyond the notch.
#[test]
fn a_body_with_a_notch_lands_with_its_inner_edge() {
    let text = r#"
gravity = [0, -9.81]
parameters = { deep = 0.2 }
coordinates = { x = 0, y = 1, th = 0 }
ground = { block = { closed = true, material = "left", outline = [[-0.1, 0], [0.1, 0], [0.1, 0.4], [-0.1, 0.4]] } }
body = [{ name = "b", mass = 1, inertia = 0.1, position = ["x", "y"], angle = "th", features = { skin = { closed = true, material = "left", outline = [[-0.5, 0], [-0.3, 0], [-0.3, "deep*1 m"], [0.3, "deep*1 m"], [0.3, 0], [0.5, 0], [0.5, 0.6], [-0.5, 0.6]] } } }]
contact = [{ name = "c", between = ["b.skin", "ground.block"], friction = 0.3 }]
"#;
    for deep in [0.2, 0.35] {
        let t = run(&load(text, &[("deep", deep)]), 1.0);
        close(t.last.state.q[1], 0.4 - deep, 1e-10);
        close(t.last.state.q[2], 0.0, 1e-10);
    }
}

#[test]
fn an_open_outline_of_a_body_with_mass_is_remarked_and_one_that_returns_is_closed() {
    let text = |points: &str, closed: &str| {
        format!(
            r#"
gravity = [0, -9.81]
coordinates = {{ y = 1 }}
ground = {{ floor = {{ through = [0, 0], normal = [0, 1] }} }}
body = [{{ name = "b", mass = 1, position = [0, "y"], features = {{ skin = {{ material = "left", outline = [{points}]{closed} }} }} }}]
contact = [{{ name = "c", between = ["b.skin", "ground.floor"] }}]
"#
        )
    };
    let square = "[-1, -1], [1, -1], [1, 1], [-1, 1]";
    let read = |text: &str| file::read(text, &Options::default()).unwrap();
    let open = read(&text(square, ""));
    assert_eq!(open.warnings.len(), 1);
    assert!(open.warnings[0].message.contains("open"), "{:?}", open.warnings);
    assert!(read(&text(square, ", closed = true")).warnings.is_empty());
    let returns = read(&text(&format!("{square}, [-1, -1]"), ""));
    assert!(returns.warnings.is_empty());
    let sys = specht::inside::build(&returns.model).unwrap();
    assert_eq!(specht::system::System::contacts(&sys).len(), 4);
    assert!(file::read(&text("[-1, -1], [-1, -1], [1, 1]", ""), &Options::default()).is_err());
}

/// Law C: the contact ends where c y + d y′ = 0 while the surface is still down; the log said nothing.
#[test]
fn a_relaxing_contact_detaches_when_its_force_ends_and_its_switches_name_it() {
    let text = r#"
gravity = [0, -9.81]
parameters = { m = "2 kg", c = "900 N/m", d = "14 N*s/m", H = "0.07 m" }
coordinates = { y = "H" }
body = [{ name = "b", mass = "m", position = [0, "y"] }]
contact = [{ name = "table", gap = "y", spring = "c", damper = "d", relaxing = true }]
"#;
    for (m, c, d, h) in [(2.0, 900.0, 14.0, 0.07), (0.5, 300.0, 5.0, 0.2)] {
        let t = run(&load(text, &[("m", m), ("c", c), ("d", d), ("H", h)]), 1.0);
        let (touch, v) = ((2.0 * h / G).sqrt(), (2.0 * G * h).sqrt());
        // m y″ + d y′ + c y = −m g from y = 0, y′ = −v
        let (delta, w0) = (d / (2.0 * m), (c / m).sqrt());
        let (w, rest) = ((w0 * w0 - delta * delta).sqrt(), -m * G / c);
        let (a, b) = (-rest, (-v - delta * rest) / w);
        let y = |t: f64| rest + (-delta * t).exp() * (a * (w * t).cos() + b * (w * t).sin());
        let rate = |t: f64| {
            let (cos, sin) = ((w * t).cos(), (w * t).sin());
            (-delta * t).exp() * ((w * b - delta * a) * cos - (w * a + delta * b) * sin)
        };
        let force = |t: f64| -c * y(t) - d * rate(t);
        let (mut lo, mut hi) = (0.25 * std::f64::consts::PI / w, 1.5 * std::f64::consts::PI / w);
        assert!(force(lo) > 0.0 && force(hi) < 0.0);
        for _ in 0..100 {
            let mid = 0.5 * (lo + hi);
            if force(mid) > 0.0 { lo = mid } else { hi = mid }
        }
        close(first(&t, Kind::Touch).time, touch, 1e-9);
        let end = first(&t, Kind::Detach);
        close(end.time, touch + lo, 1e-8);
        assert!(end.before.q[0] < 0.0);
        assert!(t.events.iter().filter(|e| e.kind == Kind::Switch).all(|e| e.contacts.len() == 1));
        assert!(t.events.iter().filter(|e| e.kind == Kind::Touch).count() > 1);
    }
}

/// Without friction a box slides flush over the edges of another one, forwards and backwards: corners pass corners and nothing happens.
#[test]
fn a_box_slides_past_the_corners_of_another_without_an_impact() {
    for (length, speed, until) in
        [(0.058, 1.8, 0.02), (0.05, -0.7, 0.06), (0.09, 2.6, 0.02), (0.06, 1.1, 0.01)]
    {
        let text = format!(
            r#"
gravity = [0, -9.81]
coordinates = {{ x = {{ start = 0, rate = {speed} }}, y = 0.025, th = 0 }}
ground  = {{ base = {{ closed = true, material = "left", outline = [[-0.06, -0.05], [0.06, -0.05], [0.06, 0], [-0.06, 0]] }} }}
body    = [{{ name = "box", mass = 1, inertia = 1e-3, position = ["x", "y"], angle = "th", features = {{ skin = {{ closed = true, material = "left", outline = [[-{length}, -0.025], [{length}, -0.025], [{length}, 0.025], [-{length}, 0.025]] }} }} }}]
contact = [{{ name = "c", between = ["box.skin", "ground.base"] }}]
run     = {{ until = {until} }}
"#
        );
        let loaded = specht::inside::read(&text, &specht::inside::Options::default()).unwrap();
        let sys = specht::inside::build(&loaded.model).unwrap();
        let settings = specht::sim::Settings::until(until);
        let out = specht::sim::event_driven(&sys, &sys.start(), &settings, &mut Default::default()).unwrap();
        let u = &out.last.state.u;
        assert!(
            (u[0] - speed).abs() < 1e-9 && u[1].abs() < 1e-9 && u[2].abs() < 1e-7,
            "{length} {speed}: {u:?}"
        );
        assert!(out.audit.passed, "{:?}", out.audit.remarks);
    }
}
