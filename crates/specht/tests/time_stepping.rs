//! METH-TIMESTEP: every kind of contact in the time-stepping scheme against closed forms; what it says when there are several
//! solutions or none; many contacts.

mod lab;
mod systems;

use lab::Lab;
use specht::inside::build;
use specht::inside::{Options, read};
use specht::sim::ImpactLaw as Law;
use specht::sim::*;
use specht::system::*;
use systems::*;

const G: f64 = 9.81;

fn stepped(sys: &dyn System, start: &State, settings: &Settings) -> Trajectory {
    time_stepping(sys, start, settings, &mut Outside::default()).expect("consistent start")
}

fn steps(until: f64, step: f64) -> Settings {
    Settings { step, ..Settings::until(until) }
}

#[track_caller]
fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} instead of {b}, off by {:e}", (a - b).abs());
}

#[track_caller]
fn trusted(t: &Trajectory) {
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.audit.passed, "{:?}", t.audit);
}

fn contact(name: &str, normal: Normal, tangent: Vec<usize>) -> ContactInfo {
    let (name, friction) = (name.into(), !tangent.is_empty());
    ContactInfo { name, normal, friction, tangent, load_on: Vec::new(), load_at: 0 }
}

/// A particle of 1 kg with the weight along −y.
fn weigh(s: &State, out: &mut Eval) {
    for k in 0..s.u.len() {
        out.mass[(k, k)] = 1.0;
    }
    out.h[1] = -G;
    out.kinetic = 0.5 * s.u.iter().map(|u| u * u).sum::<f64>();
    out.potential = G * s.q[1];
}

/// The reaction of a guide to the weight was left out of its friction.
#[test]
fn a_bead_on_a_guide_is_braked_by_its_weight() {
    let mu = 0.3;
    let guide = vec![contact("guide", Normal::Bilateral { row: 0 }, vec![1])];
    let sys = Hand::new(2, 2, guide, move |s, _, out| {
        weigh(s, out);
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = mu;
        out.mu_static[0] = mu;
    });
    let t = stepped(&sys, &state(&[0.0, 0.0], &[3.0, 0.0]), &steps(0.5, 1e-3));
    trusted(&t);
    near(t.last.state.u[0], 3.0 - mu * G * 0.5, 1e-9);
    near(t.last.normal[0], G, 1e-8);
    near(t.last.tangential[0], -mu * G, 1e-8);
    // it stops after 3/(μ g) and rests
    let t = stepped(&sys, &state(&[0.0, 0.0], &[3.0, 0.0]), &steps(1.5, 1e-3));
    near(t.last.state.q[0], 4.5 / (mu * G), 1e-4);
    near(t.last.state.u[0], 0.0, 1e-12);
}

/// A rotor of 1 kg m² in a journal, weight 1 kg g and a horizontal pull P: the moment is μ_r √(g² + P²), then rest.
#[test]
fn a_journal_brakes_with_the_norm_of_its_force() {
    let (mu, pull) = (0.05, 4.0);
    let pin = vec![contact("journal", Normal::Pin { rows: [0, 1] }, vec![2])];
    let sys = Hand::new(3, 3, pin, move |s, _, out| {
        weigh(s, out);
        out.h[0] = pull;
        for k in 0..3 {
            out.w[(k, k)] = 1.0;
        }
        out.gap[0] = s.q[0];
        out.gap[1] = s.q[1];
        out.mu[0] = mu;
        out.mu_static[0] = mu;
        out.power = pull * s.u[0];
    });
    let t = stepped(&sys, &state(&[0.0; 3], &[0.0, 0.0, 2.0]), &steps(1.0, 1e-3));
    trusted(&t);
    near(t.last.normal[0], G.hypot(pull), 1e-8);
    near(t.last.state.u[2], 2.0 - mu * G.hypot(pull), 1e-8);
}

/// A second pair carries twice the normal force of the first: the block is braked with (μ₁ + 2 μ₂) g.
#[test]
fn a_load_may_follow_the_force_of_another_contact() {
    let (mu, mu2) = (0.2, 0.1);
    let mut list = vec![unilateral("floor", 0, Some(1)), loaded("clamp", 1)];
    list[1].load_on = vec![0];
    let sys = Hand::new(2, 2, list, move |s, _, out| {
        weigh(s, out);
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu.copy_from_slice(&[mu, mu2]);
        out.mu_static.copy_from_slice(&[mu, mu2]);
        out.load_terms.clear();
        out.load_terms.push(2.0);
    });
    let t = stepped(&sys, &state(&[0.0, 0.0], &[3.0, 0.0]), &steps(0.5, 1e-3));
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    near(t.last.state.u[0], 3.0 - (mu + 2.0 * mu2) * G * 0.5, 1e-8);
    near(t.last.normal[1], 2.0 * G, 1e-8);
}

/// Pulled by a growing force F = k t: it breaks away at μ_s g and then slides with μ_k: ẋ = k (t² − t₀²)/2 − μ_k g (t − t₀).
#[test]
fn static_friction_holds_until_it_breaks_then_slides_with_less() {
    let (mu_s, mu_k, k) = (0.5, 0.3, 10.0);
    let sys = Hand::new(2, 2, vec![unilateral("floor", 0, Some(1))], move |s, _, out| {
        weigh(s, out);
        out.h[0] = k * s.t;
        out.power = k * s.t * s.u[0];
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = mu_k;
        out.mu_static[0] = mu_s;
    });
    let t = stepped(&sys, &state(&[0.0, 0.0], &[0.0, 0.0]), &steps(1.0, 1e-3));
    trusted(&t);
    let free = mu_s * G / k;
    let slip: Vec<f64> = t.of_kind(Kind::Slip).map(|e| e.time).collect();
    assert_eq!(slip.len(), 1, "{slip:?}");
    // the force of a step is that of its middle, the event is logged at its end
    near(slip[0], free, 1.501e-3);
    let speed = 0.5 * k * (1.0 - free * free) - mu_k * G * (1.0 - free);
    near(t.last.state.u[0], speed, 3e-3);
}

/// ANH-8.1-HARD: the break-down force F₊ = F₀ + A e^(−β f) of a slider pulled by a spring with the rate f = c v.
#[test]
fn anh_8_1_hard_break_down_by_the_rate_of_loading() {
    let (c, v, f0, a, beta) = (1e4_f64, 1e-2_f64, 20.0, 30.0, 0.01);
    let text = format!(
        r#"
[coordinates]
x = 0
[[body]]
name = "slider"
mass = 1
position = "x"
[[force]]
name = "spring"
along = "x - {v}*t"
spring = {c}
[[contact]]
name = "guide"
slip = "x'"
friction_force = {{ static = "{f0} + {a}*exp(-{beta}*load_rate)", sliding = {f0} }}
"#
    );
    let loaded = read(&text, &Options::default()).unwrap_or_else(|list| panic!("{list:?}"));
    let system = build(&loaded.model).unwrap_or_else(|e| panic!("{e:?}"));
    let t = stepped(&system, &system.start(), &steps(0.4, 1e-4));
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    let expected = (f0 + a * (-beta * c * v).exp()) / (c * v);
    near(t.of_kind(Kind::Slip).next().expect("it breaks away").time, expected, 3e-4);
}

/// Two tangents, exact cone: on a slope with μ = tan α a puck launched across keeps v + v·(downhill) constant and ends
/// straight downhill with half its speed, whatever the path.
#[test]
fn a_spatial_contact_rubs_against_the_direction_of_motion() {
    let alpha = 0.4_f64;
    let floor = vec![contact("floor", Normal::Unilateral { row: 0 }, vec![1, 2])];
    let sys = Hand::new(3, 3, floor, move |s, _, out| {
        // q: downhill, away from the plane, across
        for k in 0..3 {
            out.mass[(k, k)] = 1.0;
        }
        out.h.copy_from_slice(&[G * alpha.sin(), -G * alpha.cos(), 0.0]);
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.w[(2, 2)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = alpha.tan();
        out.mu_static[0] = alpha.tan();
        out.kinetic = 0.5 * s.u.iter().map(|u| u * u).sum::<f64>();
        out.potential = G * (s.q[1] * alpha.cos() - s.q[0] * alpha.sin());
    });
    let t = stepped(&sys, &state(&[0.0; 3], &[0.0, 0.0, 2.0]), &steps(3.0, 1e-3));
    trusted(&t);
    for s in t.samples.rows() {
        near(s.u[0].hypot(s.u[2]) + s.u[0], 2.0, 2e-3);
    }
    near(t.last.state.u[0], 1.0, 2e-3);
    near(t.last.state.u[2], 0.0, 1e-2);
    // the event-driven scheme keeps it to its tolerance
    let start = state(&[0.0; 3], &[0.0, 0.0, 2.0]);
    let exact = event_driven(&sys, &start, &Settings::until(3.0), &mut Outside::default());
    let exact = exact.unwrap_or_else(|e| panic!("{e}")).last.state;
    near(exact.u[0].hypot(exact.u[2]) + exact.u[0], 2.0, 1e-8);
    near(t.last.state.q[2], exact.q[2], 2e-3);
}

/// M = 1, rows n and t with W = [[1, 0.95], [0.95, 1]], μ = 1.5, velocities (0.2, 2): the Painlevé contact of METH-CONE-EXIST.
fn painleve_contact() -> (Hand, State) {
    let t = [0.95, (1.0 - 0.95_f64 * 0.95).sqrt()];
    let sys = Hand::new(2, 2, vec![unilateral("tip", 0, Some(1))], move |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.mass[(1, 1)] = 1.0;
        out.w[(0, 0)] = 1.0;
        out.w[(1, 0)] = t[0];
        out.w[(1, 1)] = t[1];
        out.gap[0] = s.q[0];
        out.mu[0] = 1.5;
        out.mu_static[0] = 1.5;
        out.kinetic = 0.5 * s.u.iter().map(|u| u * u).sum::<f64>();
    });
    (sys, state(&[0.0, 0.0], &[0.2, (2.0 - 0.95 * 0.2) / t[1]]))
}

/// Several solutions are said, and a run that is to stop there stops.
#[test]
fn several_solutions_are_reported_and_can_stop_the_run() {
    let (sys, start) = painleve_contact();
    let t = stepped(&sys, &start, &steps(0.01, 1e-3));
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.warnings.iter().any(|w| w.contains("3 solutions")), "{:?}", t.warnings);
    let stop = Settings { several: Policy::Stop, ..steps(0.01, 1e-3) };
    let t = stepped(&sys, &start, &stop);
    assert_eq!(t.status, Status::Indeterminate, "{}", t.message);
    assert!(t.message.contains("3 solutions"), "{}", t.message);
}

/// One coordinate that carries normal and tangential motion, μ = 2, ε = ½: friction would have to hold back the rebound more than
/// the normal impulse drives it. There is no solution, and the run says so.
#[test]
fn an_impact_without_solution_ends_the_run_with_a_sentence() {
    let sys = Hand::new(1, 2, vec![unilateral("tip", 0, Some(1))], |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.w[(0, 0)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[0];
        out.mu[0] = 2.0;
        out.mu_static[0] = 2.0;
        out.kinetic = 0.5 * s.u[0] * s.u[0];
    })
    .restitution(&[0.5]);
    let settings = Settings { impact: Law::Moreau, ..steps(2.0, 1e-2) };
    let t = stepped(&sys, &state(&[1.0], &[-1.0]), &settings);
    assert_eq!(t.status, Status::Inconsistent, "{}", t.message);
    assert!(t.message.contains("impact") && t.message.contains("no solution"), "{}", t.message);
}

/// A friction coefficient that is not a number is an error with the name of the contact.
#[test]
fn a_coefficient_that_is_no_number_is_named() {
    let sys = Hand::new(2, 2, vec![unilateral("floor", 0, Some(1))], |s, _, out| {
        weigh(s, out);
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = f64::NAN;
        out.mu_static[0] = f64::NAN;
    });
    let t = stepped(&sys, &state(&[0.0, 0.0], &[1.0, 0.0]), &steps(0.1, 1e-3));
    assert_eq!(t.status, Status::Failed);
    assert!(t.message.contains("floor"), "{}", t.message);
}

/// 30 blocks, 60 contacts on a slope: the normal forces of every joint by statics, N = W (cos α ∓ sin α · h/b)/2 with the weight W
/// and the height h of what stands above; no creep; the same bits every time.
#[test]
fn a_tower_of_thirty_blocks_stands_with_the_forces_of_statics() {
    let (n, b, h, slope) = (30, 0.2, 0.02, 0.12_f64);
    let sys = blocks(n, b, h, slope, 0.6);
    let start = blocks_start(n, h);
    let t = stepped(&sys, &start, &steps(0.2, 1e-3));
    trusted(&t);
    assert!(t.warnings.is_empty() && t.events.is_empty(), "{:?}", t.warnings);
    let (sin, cos) = (slope.atan().sin(), slope.atan().cos());
    for i in 0..n {
        let above = (n - i) as f64;
        let weight = above * G;
        let lever = above * h / b;
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let expected = 0.5 * weight * (cos + sign * sin * lever);
            near(t.last.normal[2 * i + side], expected, 1e-7 * weight);
        }
    }
    assert!(t.last.state.u.iter().all(|u| u.abs() < 1e-9));
    assert_eq!(t.last, stepped(&sys, &start, &steps(0.2, 1e-3)).last);
}

/// The same tower: it topples when tan α exceeds b/H, H the height of the tower, and not before (friction holds).
#[test]
fn a_tower_topples_when_its_weight_leaves_the_base() {
    let (n, b, h) = (20, 0.2, 0.04);
    let limit = b / (n as f64 * h);
    for (slope, falls) in [(0.97 * limit, false), (1.03 * limit, true)] {
        let t = stepped(&blocks(n, b, h, slope, 0.9), &blocks_start(n, h), &steps(0.2, 1e-3));
        trusted(&t);
        assert_eq!(t.last.state.q[2].abs() > 1e-4, falls, "slope {slope}: turned by {}", t.last.state.q[2]);
        assert_eq!(t.last.modes[0] == Mode::Open, falls);
    }
}

/// The avalanche limit: on a slope with tan α > μ the whole tower slides with g (sin α − μ cos α).
#[test]
fn a_tower_slides_beyond_the_angle_of_friction() {
    let (n, mu, slope) = (20, 0.3, 0.4_f64);
    let t = stepped(&blocks(n, 2.0, 0.04, slope, mu), &blocks_start(n, 0.04), &steps(0.2, 1e-3));
    trusted(&t);
    let a = G * (slope.atan().sin() - mu * slope.atan().cos());
    for i in 0..n {
        near(t.last.state.u[3 * i], 0.2 * a, 1e-8);
    }
}

/// Explicit springs need steps below 2/ω; beyond, the run ends with the reason, not with numbers of two hundred digits.
#[test]
fn a_step_too_long_for_a_spring_is_named() {
    let sys = Hand::new(1, 0, Vec::new(), |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.h[0] = -1e8 * s.q[0];
        out.kinetic = 0.5 * s.u[0] * s.u[0];
        out.potential = 0.5e8 * s.q[0] * s.q[0];
    });
    let t = stepped(&sys, &state(&[1e-3], &[0.0]), &steps(1.0, 1e-3));
    assert_eq!(t.status, Status::Failed);
    assert!(t.message.contains("too long for the stiffest spring"), "{}", t.message);
    assert!(t.last.state.u[0].is_finite());
}

/// A slender rod that falls on its lower tip; e and mu of the tip, h the height of the tip.
const ROD: &str = r#"
gravity = [0, -9.81]
[parameters]
a   = 0.7
h   = 0.2
e   = 0
mu  = 0.4
vx  = 0.8
[coordinates]
x   = { rate = "vx" }
y   = "h + 0.5*sin(a)"
phi = { start = "a", rate = -0.5 }
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "rod"
mass = 1.3
inertia = "1.3/12"
position = ["x", "y"]
angle = "phi"
features = { tip = [-0.5, 0], end = [0.5, 0] }
[[contact]]
name = "tip"
between = ["rod.tip", "ground.floor"]
friction = "mu"
restitution = "e"
[[contact]]
name = "end"
between = ["rod.end", "ground.floor"]
friction = "mu"
restitution = "e"
[run]
until = 1
"#;

fn both(lab: &Lab, settings: &Settings) -> [Trajectory; 2] {
    let start = lab.start();
    let outside = || Outside::default();
    let exact = event_driven(&lab.sys, &start, settings, &mut outside()).expect("consistent start");
    assert_eq!(exact.status, Status::Finished, "{}", exact.message);
    [exact, stepped(&lab.sys, &start, settings)]
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// An impact without rebound was spread over two steps, and with friction that is another impact, whatever the step.
#[test]
fn a_rod_lands_with_friction_in_one_impact() {
    let mut lab = Lab::text(ROD, &["h", "mu", "a"], None, &[]);
    for (mu, a) in [(0.1, 0.5), (0.4, 0.7), (1.1, 1.2)] {
        let mut errors = [0.0_f64; 2];
        for (error, step) in errors.iter_mut().zip([4e-4, 5e-5]) {
            for k in 0..8 {
                lab.set(&[("mu", mu), ("a", a), ("h", 0.1 + 1.7e-4 * f64::from(k))]);
                let settings = steps(0.2, step);
                let [exact, t] = both(&lab, &settings);
                assert_eq!(t.of_kind(Kind::Impact).count(), 1);
                *error = error.max(apart(&exact.last.state.u, &t.last.state.u));
            }
        }
        assert!(errors[1] < 0.2 * errors[0] && errors[1] < 1e-3, "mu {mu}: {errors:?}");
    }
}

/// The step scheme used Moreau's law whatever was asked for.
#[test]
fn impacts_of_a_step_follow_the_law_that_is_asked_for() {
    let mut lab = Lab::text(ROD, &["h", "mu", "e"], None, &[]);
    let mut ends = Vec::new();
    for impact in [Law::Poisson, Law::Newton, Law::Moreau] {
        lab.set(&[("mu", 0.35), ("e", 0.6), ("h", 0.13)]);
        let settings = Settings { impact, ..steps(0.25, 1e-4) };
        let [exact, t] = both(&lab, &settings);
        assert!(t.of_kind(Kind::Impact).count() > 0);
        let error = apart(&exact.last.state.u, &t.last.state.u);
        assert!(error < 1e-3, "{impact:?}: off by {error:e}");
        ends.push(t.last.state.u.clone());
    }
    assert!(apart(&ends[0], &ends[1]) > 0.05 && apart(&ends[0], &ends[2]) > 0.01, "{ends:?}");
}

/// A relaxing surface that had been left pulled for ever: the error of a step hid that the body was away.
#[test]
fn a_relaxing_surface_never_pulls() {
    const TABLE: &str = r#"
gravity = [0, -9.81]
[coordinates]
y = 0.03
[[body]]
name = "ball"
mass = 0.4
position = [0, "y"]
[[contact]]
name = "table"
gap = "y"
spring = 700
damper = 9
relaxing = true
[run]
until = 1
"#;
    let lab = Lab::text(TABLE, &[], None, &[]);
    for step in [2e-3, 1e-3, 3e-4] {
        let [exact, t] = both(&lab, &steps(0.5, step));
        assert!(t.samples.rows().all(|row| row.normal[0] >= 0.0), "step {step}");
        let error = (exact.last.state.q[0] - t.last.state.q[0]).abs();
        assert!(error < 0.3 * step, "step {step}: off by {error:e}");
    }
}

/// A bead on a circular wire: the normal impulses of a bent guide took energy in every step, booked as impact.
#[test]
fn a_guide_that_bends_takes_no_energy() {
    let radius = 0.35;
    let wire = vec![contact("wire", Normal::Bilateral { row: 0 }, Vec::new())];
    let sys = Hand::new(2, 1, wire, move |s, _, out| {
        weigh(s, out);
        let r = s.q[0].hypot(s.q[1]);
        let (n, u) = ([s.q[0] / r, s.q[1] / r], &s.u);
        out.gap[0] = r - radius;
        out.w[(0, 0)] = n[0];
        out.w[(0, 1)] = n[1];
        let across = n[0] * u[1] - n[1] * u[0];
        out.accel_offset[0] = across * across / r;
    });
    let start = state(&[radius, 0.0], &[0.0, 1.0]);
    let error = |step: f64| {
        let t = stepped(&sys, &start, &steps(1.0, step));
        assert_eq!(t.energy.impact[0], 0.0);
        (t.energy.kinetic + t.energy.potential - t.energy.initial).abs()
    };
    let (coarse, fine) = (error(4e-3), error(1e-3));
    assert!(fine < 1e-4 && coarse / fine > 10.0, "{coarse:e} {fine:e}");
}

/// At a step of half a radian friction gave 3 J and 46 J went into impacts of a machine that has none; the audit passed.
#[test]
fn friction_only_takes_and_a_coarse_step_is_not_trusted() {
    let lab = Lab::with("slider_crank", &[], None, &[("mu", "0.2"), ("M", "2 N*m")]);
    for step in [2e-2, 1e-2, 5e-3, 2e-3] {
        let t = stepped(&lab.sys, &lab.start(), &steps(1.0, step));
        assert!(t.energy.impact.iter().all(|w| *w == 0.0) && t.energy.friction.iter().all(|w| *w <= 0.0));
        assert!(!t.audit.passed, "step {step}: {:?}", t.audit);
    }
    let [exact, t] = both(&lab, &steps(1.0, 2.5e-4));
    trusted(&t);
    near(t.last.state.q[0], exact.last.state.q[0], 0.02);
}

/// Two frequencies and a damper, the stiffest decides: 2/ω = 2 ms and 2/λ = 1 ms. A step below it runs, beyond it the message says
/// which would.
#[test]
fn a_step_too_long_for_its_forces_is_refused_with_the_largest_that_serves() {
    for (stiffness, damping, limit) in [(1e6, 3.0, 2e-3), (40.0, 2000.0, 1e-3)] {
        let sys = Hand::new(2, 0, Vec::new(), move |s, _, out| {
            out.mass[(0, 0)] = 1.0;
            out.mass[(1, 1)] = 1.0;
            out.h[0] = -stiffness * s.q[0];
            out.h[1] = -30.0 * s.q[1] - damping * s.u[1];
            out.power = -damping * s.u[1] * s.u[1];
            out.kinetic = 0.5 * (s.u[0] * s.u[0] + s.u[1] * s.u[1]);
            out.potential = 0.5 * (stiffness * s.q[0] * s.q[0] + 30.0 * s.q[1] * s.q[1]);
        });
        let start = state(&[1e-3, 1e-3], &[0.0, 0.1]);
        for factor in [1.1, 3.0, 40.0] {
            let t = stepped(&sys, &start, &steps(1.0, factor * limit));
            assert_eq!(t.status, Status::Failed, "{factor} of the limit");
            let words: Vec<&str> = t.message.split(' ').collect();
            let at = words.iter().position(|w| *w == "most").unwrap_or_else(|| panic!("{}", t.message));
            let serves: f64 = words[at + 1].parse().unwrap();
            assert!(serves <= limit && serves > 0.4 * limit, "{}", t.message);
        }
        let t = stepped(&sys, &start, &steps(1.0, 0.9 * limit));
        assert_eq!(t.status, Status::Finished, "{}", t.message);
    }
}

/// A corner that was about to pass the edge of the other body was taken for a frontal impact.
#[test]
fn a_corner_that_passes_a_corner_is_no_impact() {
    const SLIDE: &str = r#"
gravity = [0, -9.81]
[parameters]
v = 0.9
[coordinates]
x = { rate = "v" }
y = 0.02
th = 0
[ground]
base = { closed = true, material = "left", outline = [[-0.05, -0.03], [0.05, -0.03], [0.05, 0], [-0.05, 0]] }
[[body]]
name = "box"
mass = 0.7
inertia = 5e-4
position = ["x", "y"]
angle = "th"
features = { skin = { closed = true, material = "left", outline = [[-0.047, -0.02], [0.047, -0.02], [0.047, 0.02], [-0.047, 0.02]] } }
[[contact]]
name = "c"
between = ["box.skin", "ground.base"]
[run]
until = 1
"#;
    let mut lab = Lab::text(SLIDE, &["v"], None, &[]);
    for v in [0.9, -1.3] {
        lab.set(&[("v", v)]);
        for step in [3e-4, 1e-4, 2.3e-5] {
            let t = stepped(&lab.sys, &lab.start(), &steps(0.02, step));
            trusted(&t);
            assert_eq!(t.of_kind(Kind::Impact).count(), 0);
            near(t.last.state.u[0], v, 1e-12);
        }
    }
}
