//! Frames, recursion, long chains.

use super::sketch::*;
use crate::model::*;
use crate::system::System;

/// A planar chain of three hinges and a slide, driven at its base.
fn chain() -> Sketch {
    let mut s = Sketch::new();
    for name in ["a", "b", "c", "d"] {
        s.coordinate(name, 0.0);
    }
    let base = s.body(None, ["0.1*sin(3*t)", "0.2*t"], "0.3*t + a", "1", "0.1");
    let arm = s.body(Some(base), ["0.5", "0.1"], "b", "2", "0.2");
    let rail = s.body(Some(arm), ["0.3 + d", "0.1*d^2"], "0.2", "1", "0.05");
    let hand = s.body(Some(rail), ["0.4", "-0.1*cos(t)"], "c", "0.5", "0.01");
    s.model.bodies[hand].center = s.e2(["0.1", "0.05"]);
    s
}

/// PG-2-FRAMES, PG-2.4-RECURSION (planar): rows of points of a chain against central differences, with kinematic
/// excitation, so that velocity and acceleration offsets are different.
#[test]
fn pg_2_4_recursion_of_a_driven_chain() {
    let mut s = chain();
    let tip = s.point(Some(3), ["0.3", "-0.2"]);
    let anchor = s.point(None, ["1", "1"]);
    s.contact(Geometry::Pin(tip, anchor), NormalLaw::Pin { radius: None }, None);
    let knee = s.point(Some(1), ["0.2", "0.1"]);
    let c =
        s.contact(Geometry::Pin(knee, tip), NormalLaw::Pin { radius: Some(s.model.bodies[0].mass) }, None);
    s.friction(c, "0.75", "0.75");
    let system = s.build();
    // journal: r μ/√(1+μ²) with r = 1, μ = 3/4
    let mut probe = Probe::new(system.clone());
    let out = probe.at(0.1, &[0.1, 0.2, 0.3, 0.4], &[1.0, 2.0, 3.0, 4.0]).clone();
    close(out.mu[1], 0.6, 1e-15, "journal");
    // the tangent row is the relative spin of the two bodies: arm − hand
    close(out.rate(4, &[1.0, 2.0, 3.0, 4.0]), -3.0, 1e-14, "relative spin");
    assert!(out.rate_offset[0] != out.accel_offset[0]);
    check_rows(system, &[0.3, -0.5, 0.8, 0.2], 0.4);
}

/// PG-2-FRAMES: A_IB maps body axes to world axes, composition along the tree.
#[test]
fn pg_2_frames_compose_along_the_tree() {
    let s = chain();
    let system = s.build();
    let mut state = system.start();
    (state.t, state.q) = (0.7, vec![0.3, -0.5, 0.8, 0.2]);
    let mut poses = Vec::new();
    system.poses(&state, &mut poses);
    let t = 0.7_f64;
    let local = [
        [0.1 * (3.0 * t).sin(), 0.2 * t, 0.3 * t + 0.3],
        [0.5, 0.1, -0.5],
        [0.5, 0.1 * 0.04, 0.2],
        [0.4, -0.1 * t.cos(), 0.8],
    ];
    let mut world = [0.0; 3];
    for (pose, l) in poses.iter().zip(local) {
        let (sn, cs) = f64::sin_cos(world[2]);
        world = [world[0] + cs * l[0] - sn * l[1], world[1] + sn * l[0] + cs * l[1], world[2] + l[2]];
        for i in 0..3 {
            close(pose[i], world[i], 1e-14, "pose");
        }
    }
}

/// A chain of 300 hinges: the graph grows with n², not exponentially, and M is that of the closed form.
#[test]
fn a_chain_of_300_bodies_compiles_and_evaluates() {
    let n = 300;
    let mut s = Sketch::new();
    for k in 0..n {
        s.coordinate(&format!("q{k}"), 0.0);
    }
    let mut on = None;
    for k in 0..n {
        let place = if on.is_some() { ["1", "0"] } else { ["0", "0"] };
        let body = s.body(on, place, &format!("q{k}"), "1", "0.1");
        s.model.bodies[body].center = s.e2(["0.5", "0"]);
        on = Some(body);
    }
    let started = std::time::Instant::now();
    let system = s.build();
    let build_time = started.elapsed().as_secs_f64();
    let mut probe = Probe::new(system);
    let q: Vec<f64> = (0..n).map(|k| 0.01 * (k as f64).sin()).collect();
    let u = vec![0.1; n];
    probe.at(0.0, &q, &u);
    let started = std::time::Instant::now();
    probe.system.evaluate(&probe.s, &probe.d, &mut probe.out);
    let evaluate_time = started.elapsed().as_secs_f64();
    assert!(build_time < 10.0 && evaluate_time < 0.5, "{build_time} s, {evaluate_time} s");
    // M_00 = Σ m |r_S|² + I about the first hinge
    let mut poses = Vec::new();
    probe.system.poses(&probe.s, &mut poses);
    let sum: f64 =
        poses.iter().map(|[x, y, a]| (x + 0.5 * a.cos()).powi(2) + (y + 0.5 * a.sin()).powi(2) + 0.1).sum();
    close(probe.out.mass[(0, 0)], sum, 1e-12, "M_00");
    let t: f64 = probe.out.mass.form(&u) / 2.0;
    close(probe.out.kinetic, t, 1e-11, "T = uᵀMu/2");
}

/// A tree with branches in which one coordinate turns several joints, and joints that slide: M against the kinetic energy.
#[test]
fn pg_2_4_recursion_the_mass_matrix_of_a_branched_tree_gives_its_kinetic_energy() {
    let n = 16;
    let mut s = Sketch::new();
    for k in 0..n {
        s.coordinate(&format!("q{k}"), 0.0);
    }
    let mut bodies = Vec::new();
    for k in 0..n {
        let on = (k > 0).then(|| bodies[(k - 1) / 2]);
        let shared = (3 * k) % n;
        let (x, angle) = (format!("1 + 0.3*q{k}"), format!("q{k} - 0.5*q{shared}"));
        let body =
            s.body(on, [&x, "0.2"], &angle, if k == 3 { "0" } else { "1" }, if k == 3 { "0" } else { "0.1" });
        s.model.bodies[body].center = s.e2(["0.5", "-0.1"]);
        bodies.push(body);
    }
    let mut probe = Probe::new(s.build());
    for case in 0..5 {
        let number = |k: usize| ((case * 31 + k * 17) as f64).sin();
        let q: Vec<f64> = (0..n).map(number).collect();
        let u: Vec<f64> = (0..n).map(|k| number(k + 100)).collect();
        probe.at(0.0, &q, &u);
        close(probe.out.kinetic, 0.5 * probe.out.mass.form(&u), 1e-11, "T = uᵀMu/2");
    }
}
