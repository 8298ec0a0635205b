//! M, h, force laws, friction, energy balance.

use super::sketch::*;
use crate::linalg::{Lu, dot};
use crate::model::*;
use crate::system::{Mode, Normal, System};

/// PG-14.1-WOODPECKER: M, h and W of the spec from bodies, gaps and slips.
#[test]
fn woodpecker_equations() {
    let mut s = woodpecker();
    s.model.gravity[1] = s.e("-9.81");
    let mut probe = Probe::new(s.build());
    let (m, jm, ms, js, c) = (0.3e-3, 5e-9, 4.5e-3, 7e-7, 0.0056);
    let (lm, lg, ls, hs, hm, rm, r0) = (0.010, 0.015, 0.0201, 0.02, 0.0058, 0.0031, 0.0025);
    let (q, u) = ([0.1, -0.1, -0.3], [-0.3, 0.2, -7.0]);
    let out = probe.at(0.0, &q, &u);
    let mass = [
        [m + ms, ms * lm, ms * lg],
        [ms * lm, jm + ms * lm * lm, ms * lm * lg],
        [ms * lg, ms * lm * lg, js + ms * lg * lg],
    ];
    let moment = c * (q[1] - q[2]);
    let h = [-(m + ms) * 9.81, -moment - ms * 9.81 * lm, moment - ms * 9.81 * lg];
    for i in 0..3 {
        close(out.h[i] * 1e3, h[i] * 1e3, 1e-13, "h");
        for j in 0..3 {
            close(out.mass[(i, j)] * 1e6, mass[i][j] * 1e6, 1e-13, "M");
        }
    }
    let w = [
        [0.0, 0.0, -hs],
        [1.0, lm, lg - ls],
        [0.0, hm, 0.0],
        [1.0, rm, 0.0],
        [0.0, -hm, 0.0],
        [1.0, rm, 0.0],
    ];
    for (i, row) in w.iter().enumerate() {
        assert_eq!(out.w.row(i).values(), row);
    }
    close(out.gap[0], lm + lg - ls - r0 - hs * q[2], 1e-15, "beak");
    close(out.gap[2], rm - r0 + hm * q[1], 1e-15, "lower");
    assert_eq!(out.mu, [0.3; 3]);
}

pub(super) fn woodpecker() -> Sketch {
    let mut s = Sketch::new();
    for (name, value) in [
        ("mM", 0.3e-3),
        ("JM", 5e-9),
        ("mS", 4.5e-3),
        ("JS", 7e-7),
        ("c", 0.0056),
        ("r0", 0.0025),
        ("rM", 0.0031),
        ("hM", 0.0058),
        ("lM", 0.010),
        ("lG", 0.015),
        ("hS", 0.02),
        ("lS", 0.0201),
    ] {
        s.define(name, &format!("{value}"));
    }
    s.coordinate("y", 0.0);
    s.coordinate("phiM", 0.0);
    s.coordinate("phiS", 0.0);
    s.body(None, ["0", "y"], "phiM", "mM", "JM");
    s.body(None, ["0", "y + lM*phiM + lG*phiS"], "phiS", "mS", "JS");
    let stretch = s.e("phiM - phiS");
    let law = s.law(None, Some("c"), "0", None);
    s.force(ForceKind::Along { stretch, law });
    for (gap, slip) in [
        ("lM + lG - lS - r0 - hS*phiS", "y' + lM*phiM' + (lG - lS)*phiS'"),
        ("rM - r0 + hM*phiM", "y' + rM*phiM'"),
        ("rM - r0 - hM*phiM", "y' + rM*phiM'"),
    ] {
        let gap = s.e(gap);
        let c = s.contact(Geometry::Gap(gap), NormalLaw::Unilateral, Some(slip));
        s.friction(c, "0.3", "0.3");
    }
    s
}

/// PG-3.1-EOM: projected Newton–Euler equations equal Lagrange's, also with a driven pivot.
#[test]
fn pg_3_1_eom_equals_lagrange() {
    let pivot = ["0.1*sin(3*t)", "0.2*t^2"];
    let mut bodies = Sketch::new();
    let mut formula = Sketch::new();
    for s in [&mut bodies, &mut formula] {
        s.coordinate("a", 0.0);
        s.coordinate("b", 0.0);
        s.coordinate("x", 0.0);
        s.model.gravity[1] = s.e("-9.81");
        s.define("px", pivot[0]);
        s.define("py", pivot[1]);
        s.define("px'", "0.3*cos(3*t)");
        s.define("py'", "0.4*t");
    }
    let first = bodies.body(None, ["px + x", "py"], "a + 0.5*t", "2", "0.3");
    bodies.model.bodies[first].center = bodies.e2(["0.4", "0.1"]);
    bodies.body(Some(first), ["1", "0"], "b", "1.5", "0.2");
    // the same as energies: r1 = p + R(θ)(0.4, 0.1), r2 = p + R(θ)(1, 0)
    formula.define("th", "a + 0.5*t");
    formula.define("w", "a' + 0.5");
    formula.define("v1x", "px' + x' - w*(0.4*sin(th) + 0.1*cos(th))");
    formula.define("v1y", "py' + w*(0.4*cos(th) - 0.1*sin(th))");
    formula.define("v2x", "px' + x' - w*sin(th)");
    formula.define("v2y", "py' + w*cos(th)");
    let carrier = formula.body(None, ["0", "0"], "0", "0", "0");
    let t = formula.e("(v1x^2 + v1y^2) + 0.15*w^2 + 0.75*(v2x^2 + v2y^2) + 0.1*(w + b')^2");
    formula.model.bodies[carrier].kinetic = Some(t);
    let v = formula.e("9.81*(2*(py + 0.4*sin(th) + 0.1*cos(th)) + 1.5*(py + sin(th)))");
    formula.force(ForceKind::Potential(v));
    let (mut one, mut two) = (Probe::new(bodies.build()), Probe::new(formula.build()));
    for k in 0..5 {
        let t = 0.3 * k as f64;
        let q = [0.3 + t, -0.7 * t, 0.2];
        let u = [1.1, -0.4 + t, 0.6];
        let (x, y) = (one.at(t, &q, &u).clone(), two.at(t, &q, &u).clone());
        for i in 0..3 {
            close(x.h[i], y.h[i], 1e-12, "h");
            for j in 0..3 {
                close(x.mass[(i, j)], y.mass[(i, j)], 1e-13, "M");
            }
        }
        for (a, b) in [(x.kinetic, y.kinetic), (x.potential, y.potential), (x.power, y.power)] {
            close(a, b, 1e-12, "energy");
        }
        for i in 0..3 {
            close(x.drive[i], y.drive[i], 1e-12, "drive");
        }
        close(x.drive_offset, y.drive_offset, 1e-12, "drive offset");
    }
}

/// A machine with everything: driven base, springs of time-dependent length, dampers, point forces, torques, potentials,
/// elastic stop, states, rows with velocity offsets.
fn machine() -> Sketch {
    let mut s = Sketch::new();
    for name in ["a", "b", "x", "y"] {
        s.coordinate(name, 0.0);
    }
    s.model.gravity = [s.e("0.3"), s.e("-9.81"), s.e("0")];
    s.symbol("z", Input::State(0));
    let z = StateVariable { name: "z".into(), start: s.e("0.2"), rate: s.e("0.3*a' - 0.1*z + sin(t)") };
    s.model.states.push(z);
    let base = s.body(None, ["0.1*sin(3*t) + x", "0.2*t^2"], "a + 0.5*t", "2", "0.3");
    let arm = s.body(Some(base), ["1 + 0.1*cos(t)", "0"], "b", "1.5", "0.2");
    s.model.bodies[arm].center = s.e2(["0.2", "-0.1"]);
    let slide = s.body(None, ["y*cos(0.3)", "y*sin(0.3) + 0.1*t"], "0.2*y", "0.7", "0.05");
    s.model.bodies[slide].kinetic = Some(s.e("0.5*(1 + 0.1*sin(y))*(y' + 0.2*t)^2 + 0.05*a'*y'*cos(b)"));
    let tip = s.point(Some(arm), ["0.4", "0.1"]);
    let hook = s.point(Some(slide), ["-0.2", "0.3"]);
    let stretch = s.e("y - 0.3*a + 0.1*sin(t)");
    let law = s.law(Some("0.3*cos(t) - 0.2*z"), Some("40 + 3*t"), "0.1*t", Some("1.5"));
    s.force(ForceKind::Along { stretch, law });
    let law = s.law(None, Some("5 + a^2"), "0.2", None);
    s.force(ForceKind::Along { stretch, law });
    let force = s.e2(["1.3", "0.2*t - 0.4*x'"]);
    s.force(ForceKind::At { point: tip, force, body_axes: false });
    s.force(ForceKind::At { point: hook, force, body_axes: true });
    let torque = s.e("0.7*sin(t) - 0.1*b'");
    s.force(ForceKind::Torque { body: arm, torque, against: Some(base) });
    s.force(ForceKind::Torque { body: slide, torque, against: None });
    let v = s.e("0.4*cos(a - b)*t + 0.2*z*y");
    s.force(ForceKind::Potential(v));
    let gap = s.e("x + 0.2*sin(a) - 0.1*t - 1");
    let (spring, damper) = (s.e("30"), s.e("0.4"));
    s.contact(
        Geometry::Gap(gap),
        NormalLaw::Elastic { spring, damper, both_signs: false, relaxing: false },
        None,
    );
    let wall = s.flat(Some(slide), ["0", "-2"], ["0.1", "1"]);
    s.contact(Geometry::Between(tip, wall), NormalLaw::Unilateral, None);
    s.contact(Geometry::Pin(tip, hook), NormalLaw::Pin { radius: None }, None);
    s
}

/// d/dt(T + V) = power + drive·u̇ + drive_offset + Σ λ (ġ − w̃) for arbitrary contact forces, along a true motion of the
/// equations (differences along a step of the motion with these accelerations).
#[test]
fn the_energy_balance_is_exact() {
    let mut probe = Probe::new(machine().build());
    let rows = probe.system.dims().rows;
    for k in 0..6 {
        let t = 0.2 * k as f64;
        let q: Vec<f64> = (0..4).map(|i| 0.3 - 0.2 * i as f64 + 0.1 * t).collect();
        let u: Vec<f64> = (0..4).map(|i| 0.5 + 0.3 * i as f64 - 0.4 * t).collect();
        let lambda: Vec<f64> = (0..rows).map(|i| if i == 0 { 0.0 } else { 1.0 + i as f64 }).collect();
        probe.s.z = vec![0.2];
        let out = probe.at(t, &q, &u).clone();
        let mut rhs = out.h.clone();
        out.w.add_mul_transpose(&lambda, &mut rhs);
        let mut lu = Lu::default();
        assert!(lu.factor(&out.mass.to_dense()) > 1e-6);
        lu.solve(&mut rhs);
        let accel = rhs;
        let mut right = out.power + dot(&out.drive, &accel) + out.drive_offset;
        for i in 0..rows {
            right += lambda[i] * (out.rate(i, &u) - out.rate_offset[i]);
        }
        // the left side by differences of high order along q + u x + a x²/2
        let z0 = 0.2;
        let z_rate = out.z_rate[0];
        let mut energy = |x: f64| {
            let qx: Vec<f64> = (0..4).map(|i| q[i] + u[i] * x + 0.5 * accel[i] * x * x).collect();
            let ux: Vec<f64> = (0..4).map(|i| u[i] + accel[i] * x).collect();
            probe.s.z = vec![z0 + z_rate * x];
            let out = probe.at(t + x, &qx, &ux);
            out.kinetic + out.potential
        };
        let e = 1e-3;
        let left = (8.0 * (energy(e) - energy(-e)) - (energy(2.0 * e) - energy(-2.0 * e))) / (12.0 * e);
        close(left, right, 1e-9, "energy balance");
    }
}

/// PG-3.2-FORCELAW: laws A, B with cut-off, and C; the force acts on both sides of the pair.
#[test]
fn pg_3_2_forcelaw_values() {
    let make = |c: &str, d: &str, both: bool, relaxing: bool| {
        let mut s = Sketch::new();
        s.coordinate("y", 0.0);
        s.coordinate("w", 0.0);
        s.body(None, ["0", "y"], "0", "1", "0");
        s.body(None, ["0", "w"], "0", "2", "0");
        let gap = s.e("y - w");
        let (spring, damper) = (s.e(c), s.e(d));
        s.contact(
            Geometry::Gap(gap),
            NormalLaw::Elastic { spring, damper, both_signs: both, relaxing },
            None,
        );
        Probe::new(s.build())
    };
    for (q, u, both, force) in [
        ([-0.01, 0.0], [0.0, 0.0], false, 10.0),
        ([0.01, 0.0], [-5.0, 0.0], false, 0.0),
        ([-0.01, 0.0], [-1.0, 0.5], false, 25.0),
        ([-0.01, 0.0], [3.0, 0.0], false, 0.0),
        ([-0.01, 0.0], [3.0, 0.0], true, -20.0),
        ([0.01, 0.0], [0.0, 0.0], true, -10.0),
    ] {
        let mut probe = make("1000", "10", both, false);
        let out = probe.at(0.0, &q, &u);
        close(out.load[0], force, 1e-12, "normal force");
        close(out.h[0], force, 1e-12, "on A");
        close(out.h[1], -force, 1e-12, "on B");
        assert!(matches!(probe.system.contacts()[0].normal, Normal::Given { row: Some(0) }));
    }
}

/// PG-3.2-TABLE, law C: separation at γ = −7.87 mm with zero force, rebound ratio 0.562, the surface relaxes afterwards.
#[test]
fn pg_3_2_table_law_c() {
    let mut s = Sketch::new();
    s.coordinate("y", 0.0);
    s.body(None, ["0", "y"], "0", "1", "0");
    s.model.gravity[1] = s.e("-9.81");
    let gap = s.e("y");
    let (spring, damper) = (s.e("1000"), s.e("10"));
    s.contact(
        Geometry::Gap(gap),
        NormalLaw::Elastic { spring, damper, both_signs: false, relaxing: true },
        None,
    );
    let system = s.build();
    assert_eq!(system.state_names(), ["c0.surface"]);
    let mut p = Probe::new(system);
    let v0 = (2.0 * 9.81 * 0.1_f64).sqrt();
    p.at(0.0, &[0.0], &[-v0]);
    p.d.latches = vec![1];
    let (step, mut parted) = (2e-6, None);
    let mut y = [0.0, -v0, 0.0];
    let rate = |p: &mut Probe, y: [f64; 3]| {
        (p.s.q[0], p.s.u[0], p.s.z[0]) = (y[0], y[1], y[2]);
        p.system.evaluate(&p.s, &p.d, &mut p.out);
        [y[1], p.out.h[0], p.out.z_rate[0]]
    };
    rate(&mut p, y);
    close(p.out.load[0], 10.0 * v0, 1e-12, "force at touch-down");
    while parted.is_none() || y[0] < 0.0 {
        let shift = |y: [f64; 3], k: [f64; 3], f: f64| [0, 1, 2].map(|i| y[i] + f * k[i]);
        let k1 = rate(&mut p, y);
        let k2 = rate(&mut p, shift(y, k1, step / 2.0));
        let k3 = rate(&mut p, shift(y, k2, step / 2.0));
        let k4 = rate(&mut p, shift(y, k3, step));
        y = [0, 1, 2].map(|i| y[i] + step / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        rate(&mut p, y);
        if p.out.guards[0] < 0.0 {
            assert!(parted.is_none(), "it parts once");
            parted = Some([y[0], y[1]]);
            p.system.flip(0, &mut p.d, &p.out);
        }
    }
    let [gap, speed] = parted.unwrap_or_default();
    close(gap * 1e3, -7.87, 1e-3, "gap at separation");
    close(speed / v0, 0.562, 1e-3, "rebound ratio");
    assert!(y[2] < 0.0 && y[2] > gap, "the surface is on its way back");
}

/// Friction laws: Stribeck with `speed`, static and sliding, given bound, load linear in another contact.
#[test]
fn friction_laws_use_slip_and_mode() {
    let mut s = Sketch::new();
    s.coordinate("x", 0.0);
    s.coordinate("y", 0.0);
    s.body(None, ["x", "y"], "0", "1", "0");
    let gap = s.e("y");
    let c = s.contact(Geometry::Gap(gap), NormalLaw::Unilateral, Some("x' - 1"));
    s.symbol("dir", Input::Direction(0));
    s.symbol("slip", Input::Slip(0));
    s.friction(c, "0.2 + 0.1*exp(-dir*slip) + 0.01*abs(slip) + if(dir*slip > 3, 1, 0)", "0.5");
    s.symbol("gap0", Input::Gap(0));
    let load = s.e("2 + gap0");
    let two = s.e("3");
    let c = s.contact(Geometry::None, NormalLaw::Loaded { load, terms: vec![(0, two)] }, Some("x'"));
    s.friction(c, "0.1", "0.1");
    let c = s.contact(Geometry::None, NormalLaw::FrictionForce, Some("y'"));
    s.friction(c, "4", "5");
    let system = s.build();
    assert_eq!(system.contacts()[1].load_on, [0]);
    let mut p = Probe::new(system);
    for (mode, v) in [(Mode::SlipPlus, 1.5_f64), (Mode::SlipMinus, 0.2), (Mode::Stick, 1.0)] {
        p.d.modes[0] = mode;
        let speed = (v - 1.0).abs();
        let out = p.at(0.0, &[0.0, 0.25], &[v, 0.0]).clone();
        close(out.mu[0], 0.2 + 0.1 * (-speed).exp() + 0.01 * speed, 1e-14, "mu");
        assert_eq!(out.mu_static[0], 0.5);
        assert_eq!((out.load[1], out.load_terms[0], out.mu[1]), (2.25, 3.0, 0.1));
        assert_eq!((out.load[2], out.load_static[2], out.mu[2]), (4.0, 5.0, 1.0));
    }
    // the switch of the law counts while slipping and is silent while sticking; abs(slip) never fires
    p.d.modes[0] = Mode::SlipPlus;
    let out = p.at(0.0, &[0.0, 0.25], &[3.0, 0.0]).clone();
    assert_eq!(out.guards, [1.0]);
    p.d.modes[0] = Mode::Stick;
    p.system.evaluate(&p.s, &p.d, &mut p.out);
    assert_eq!(p.out.guards, [f64::INFINITY]);
}

/// Switches: sign, floor, table cell; frozen inside an arc, guards of both borders, flip to the neighbour.
#[test]
fn switches_are_frozen_and_flip_to_their_neighbours() {
    let mut s = Sketch::new();
    s.coordinate("x", 0.0);
    s.body(None, ["x", "0"], "0", "1", "0");
    let stretch = s.e("x");
    let law = s.law(Some("-if(x < 0.3, 2*x, 5) + floor(t)"), None, "0", None);
    s.force(ForceKind::Along { stretch, law });
    let mut p = Probe::new(s.build());
    p.at(0.5, &[0.2], &[0.0]);
    assert_eq!(p.out.h, [-0.4]);
    // beyond the border the frozen branch continues
    p.s.q[0] = 0.4;
    p.s.t = 1.25;
    p.system.evaluate(&p.s, &p.d, &mut p.out);
    close(p.out.h[0], -0.8, 1e-15, "frozen");
    let fired: Vec<usize> = (0..p.out.guards.len()).filter(|&k| p.out.guards[k] < 0.0).collect();
    assert_eq!(fired.len(), 2);
    for k in fired {
        p.system.flip(k, &mut p.d, &p.out);
    }
    p.system.evaluate(&p.s, &p.d, &mut p.out);
    assert_eq!(p.out.h, [-4.0]);
    assert!(p.out.guards.iter().all(|&g| g > 0.0));
}

/// Live parameters change everything that was computed once: M, W, edges, start values.
#[test]
fn live_parameters_reach_the_constant_parts() {
    let mut s = Sketch::new();
    s.live("m", 2.0);
    s.live("l", 0.5);
    s.coordinate("x", 0.0);
    s.model.coordinates[0].start = s.e("3*l");
    s.body(None, ["x*l", "0"], "0", "m", "0");
    let gap = s.e("l*x - m");
    s.contact(Geometry::Gap(gap), NormalLaw::Unilateral, None);
    let mut system = s.build();
    assert_eq!(system.start().q, [1.5]);
    let mut p = Probe::new(system.clone());
    assert_eq!(p.at(0.0, &[1.0], &[0.0]).mass[(0, 0)], 0.5);
    system.set_parameters(&[3.0, 2.0]);
    assert_eq!(system.start().q, [6.0]);
    let mut p = Probe::new(system);
    let out = p.at(0.0, &[1.0], &[0.0]);
    assert_eq!((out.mass[(0, 0)], out.w[(0, 0)], out.gap[0]), (12.0, 2.0, -1.0));
}
