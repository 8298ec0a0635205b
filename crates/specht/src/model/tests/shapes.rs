//! Contact geometry: every pair of shapes against differences, closed forms of the spec.

use super::sketch::*;
use crate::model::*;
use crate::system::System;

/// Two bodies with prescribed parts, so that velocity offsets are not zero.
fn two_bodies() -> Sketch {
    let mut s = Sketch::new();
    for name in ["x", "y", "a", "p", "q", "b"] {
        s.coordinate(name, 0.0);
    }
    s.body(None, ["x + 0.1*sin(2*t)", "y"], "a + 0.2*t", "1", "1");
    s.body(None, ["p", "q - 0.05*t^2"], "b - 0.3*t", "1", "1");
    s
}

/// Both orders of a pair.
fn check_pair(make: impl Fn(&mut Sketch) -> (FeatureRef, FeatureRef), center: &[f64]) {
    for swapped in [false, true] {
        let mut s = two_bodies();
        let (a, b) = make(&mut s);
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        s.contact(Geometry::Between(a, b), NormalLaw::Unilateral, None);
        check_rows(s.build(), center, 0.3);
    }
}

const APART: [f64; 6] = [0.2, 2.5, 0.3, 0.1, -0.2, 0.4];
const INSIDE: [f64; 6] = [0.2, 0.3, 0.3, 0.1, -0.2, 0.4];

#[test]
fn every_pair_of_shapes_agrees_with_differences() {
    check_pair(
        |s| (s.point(Some(0), ["0.2", "-0.1"]), s.flat(Some(1), ["0.3", "0.5"], ["0.1", "2"])),
        &APART,
    );
    check_pair(|s| (s.point(Some(0), ["0.2", "-0.1"]), s.round(Some(1), ["0.1", "0"], "0.7", false)), &APART);
    check_pair(|s| (s.point(Some(0), ["0.2", "-0.1"]), s.round(Some(1), ["0.1", "0"], "4", true)), &INSIDE);
    check_pair(
        |s| (s.round(Some(0), ["0.2", "0"], "0.3", false), s.flat(Some(1), ["0", "0"], ["0", "1"])),
        &APART,
    );
    check_pair(
        |s| (s.round(Some(0), ["0.2", "0"], "0.3", false), s.round(Some(1), ["0", "0.1"], "0.5", false)),
        &APART,
    );
    check_pair(
        |s| (s.round(Some(0), ["0.2", "0"], "0.3", false), s.round(Some(1), ["0", "0.1"], "3", true)),
        &INSIDE,
    );
}

#[test]
fn curves_agree_with_differences() {
    let parabola = |s: &mut Sketch| s.curve(Some(1), ["s", "0.3 - 0.4*s^2"], ["-4", "4"], false);
    check_pair(|s| (s.point(Some(0), ["0.2", "-0.1"]), parabola(s)), &APART);
    check_pair(|s| (s.round(Some(0), ["0.2", "-0.1"], "0.3", false), parabola(s)), &APART);
    // a ball in a bowl
    let bowl = |s: &mut Sketch| s.curve(Some(1), ["s", "0.1*s^2 - 1"], ["-9", "9"], false);
    check_pair(|s| (s.round(Some(0), ["0.2", "-0.1"], "0.3", false), bowl(s)), &INSIDE);
    // an ellipse in a round hole
    let ellipse = |s: &mut Sketch, b| s.curve(Some(b), ["0.8*cos(s)", "0.5*sin(s)"], ["0", "2*pi"], true);
    check_pair(|s| (ellipse(s, 0), s.round(Some(1), ["0", "0.1"], "3", true)), &INSIDE);
    check_pair(|s| (ellipse(s, 0), s.flat(Some(1), ["0", "0"], ["0.1", "1"])), &APART);
    check_pair(|s| (ellipse(s, 0), bowl(s)), &INSIDE);
}

/// PG-4-CONTACT: two ellipses in arbitrary motion.
#[test]
fn pg_4_contact_two_ellipses_in_arbitrary_motion() {
    check_pair(
        |s| {
            let a = s.curve(Some(0), ["0.8*cos(s)", "0.5*sin(s)"], ["0", "2*pi"], true);
            let b = s.curve(Some(1), ["0.6*sin(s)", "0.9*cos(s)"], ["0", "2*pi"], false);
            (a, b)
        },
        &APART,
    );
}

/// The distance of two ellipses, against brute force over both contours.
#[test]
fn pg_4_contact_finds_the_nearest_points() {
    let mut s = two_bodies();
    let a = s.curve(Some(0), ["0.8*cos(s)", "0.5*sin(s)"], ["0", "2*pi"], true);
    let b = s.curve(Some(1), ["0.6*sin(s)", "0.9*cos(s)"], ["0", "2*pi"], false);
    s.contact(Geometry::Between(a, b), NormalLaw::Unilateral, None);
    for q in [APART, [2.0, 0.3, 1.0, 0.0, 0.0, -0.5], [-1.5, -1.5, 2.0, 0.0, 0.0, 3.0]] {
        let mut probe = Probe::new(s.build());
        let gap = probe.at(0.0, &q, &[0.0; 6]).gap[0];
        let place = |x: f64, y: f64, a: f64, px: f64, py: f64| {
            (x + a.cos() * px - a.sin() * py, y + a.sin() * px + a.cos() * py)
        };
        let mut best = f64::INFINITY;
        for i in 0..1500 {
            let u = std::f64::consts::TAU * i as f64 / 1500.0;
            let p = place(q[0], q[1], q[2], 0.8 * u.cos(), 0.5 * u.sin());
            for j in 0..1500 {
                let v = std::f64::consts::TAU * j as f64 / 1500.0;
                let r = place(q[3], q[4], q[5], 0.6 * v.sin(), 0.9 * v.cos());
                best = best.min((p.0 - r.0).hypot(p.1 - r.1));
            }
        }
        assert!((gap - best).abs() < 1e-4, "{gap} {best}");
    }
}

/// PG-4.6-PARABOLA: damper and platform, closed forms and numbers; sign of (4.55) corrected.
#[test]
fn pg_4_6_parabola_closed_forms() {
    let mut s = Sketch::new();
    for (name, value) in [("a", 0.5), ("b", 2.0), ("p1", 1.2), ("p2", 0.8)] {
        s.live(name, value);
    }
    for name in ["z", "phi", "x", "y"] {
        s.coordinate(name, 0.0);
    }
    s.body(None, ["z", "b"], "0", "1", "1");
    s.body(None, ["x", "y"], "phi", "1", "1");
    let face = s.flat(Some(0), ["0", "0"], ["a", "-1"]);
    let damper = s.curve(Some(1), ["s", "p2 - p1*s^2"], ["-3", "3"], false);
    let c = s.contact(Geometry::Between(damper, face), NormalLaw::Unilateral, None);
    s.model.contacts[c].tangent = Some(s.e2(["1", "a"]));
    let mut probe = Probe::new(s.build());
    let u = [0.3, 1.1, -0.4, 0.7];
    let out = probe.at(0.0, &[0.1, 0.2, -0.3, 0.4], &u).clone();

    let (a, b, p1, p2) = (0.5_f64, 2.0, 1.2, 0.8);
    let (z, phi, x, y) = (0.1, 0.2_f64, -0.3, 0.4);
    let (sn, cs, norm) = (phi.sin(), phi.cos(), (1.0 + a * a).sqrt());
    let sigma = -(a * cs - sn) / (a * sn + cs) / (2.0 * p1); // (4.48)
    close(sigma, -0.112471, 1e-5, "sigma2 of the spec");
    close(out.contour[0], sigma, 1e-14, "sigma2");
    let gap = (b - y + a * x - a * z - (p1 * sigma * sigma + p2) * (a * sn + cs)) / norm;
    close(out.gap[0], gap, 1e-13, "(4.49)");
    close(gap, 0.465186, 1e-6, "gap of the spec");
    let w_n = [-a, (0.5 / p1 + p1 * sigma * sigma - p2) * (a * cs - sn), a, -1.0];
    let w_t = [-1.0, -(p1 * sigma * sigma + p2) * (a * sn + cs), 1.0, a];
    for k in 0..4 {
        close(out.w[(0, k)], w_n[k] / norm, 1e-13, "(4.50)");
        close(out.w[(1, k)], w_t[k] / norm, 1e-13, "(4.52)");
    }
    close(out.rate(0, &u), -1.044685, 1e-6, "gap rate of the spec");
    let f = u[1] * u[1] / norm * (a * sn + cs);
    let bar_n = f * (p2 - 0.5 / p1 - p1 * sigma * sigma * (3.0 + 8.0 * p1 * p1 * sigma * sigma));
    let bar_t = f * (2.0 * p1 * sigma * (p2 - p1 * sigma * sigma) - sigma);
    close(out.accel_offset[0], bar_n, 1e-12, "(4.54)");
    close(out.accel_offset[1], bar_t, 1e-12, "(4.55), corrected");
    close(bar_n, 0.392023, 1e-6, "spec");
    close(bar_t, -0.116090, 1e-6, "spec");
}

/// Beyond its range a curve ends with a corner (as A) or a tangent (as B); gap and directions stay continuous.
#[test]
fn the_end_of_a_curve_is_an_event_and_rows_stay_right() {
    let mut s = two_bodies();
    let floor = s.flat(Some(1), ["0", "0"], ["0", "1"]);
    let runner = s.curve(Some(0), ["s", "0.4*s^2"], ["-0.2", "0.2"], true);
    s.contact(Geometry::Between(runner, floor), NormalLaw::Unilateral, None);
    let ski = s.curve(Some(1), ["s", "0.3 - 0.4*s^2"], ["-0.1", "0.1"], false);
    let tip = s.point(Some(0), ["0", "-0.2"]);
    s.contact(Geometry::Between(tip, ski), NormalLaw::Unilateral, None);
    // inside the range and well beyond it, on both sides
    for x in [0.0, 2.5, -2.5] {
        for angle in [0.0, 0.6, -0.6] {
            check_rows(s.build(), &[x, 2.0, angle, 0.0, 0.0, 0.0], 0.01);
        }
    }
    // crossing the end: the guard that vanishes leads to the state that a fresh latch would choose
    let mut probe = Probe::new(s.build());
    let q = |angle: f64| [0.0, 2.0, angle, 0.0, 0.0, 0.0];
    probe.at(0.0, &q(0.1), &[0.0; 6]);
    let d = probe.d.clone();
    probe.s.q = q(0.2).to_vec();
    probe.system.evaluate(&probe.s, &d, &mut probe.out);
    let k = probe.out.guards.iter().position(|&g| g < 0.0).expect("the end has been passed");
    let mut flipped = d.clone();
    probe.system.flip(k, &mut flipped, &probe.out);
    let mut fresh = Probe::new(probe.system.clone());
    let gap = fresh.at(0.0, &q(0.2), &[0.0; 6]).gap.clone();
    assert_eq!(flipped.latches, fresh.d.latches);
    probe.system.evaluate(&probe.s, &flipped, &mut probe.out);
    assert!(probe.out.guards.iter().all(|&g| g > 0.0));
    close(probe.out.gap[0], gap[0], 1e-14, "gap after the flip");
}

/// A square over a chamfered hole: corners, chains and hand-over.
#[test]
fn outlines_meet_corner_against_edge() {
    let mut s = Sketch::new();
    for name in ["x", "y", "phi"] {
        s.coordinate(name, 0.0);
    }
    s.body(None, ["x", "y"], "phi", "1", "1");
    let hole = s.outline(
        None,
        &[
            ["-4", "0"],
            ["-1.2", "0"],
            ["-1", "-0.2"],
            ["-1", "-3"],
            ["1", "-3"],
            ["1", "-0.2"],
            ["1.2", "0"],
            ["4", "0"],
        ],
        false,
        false,
    );
    let peg = s.outline(Some(0), &[["-0.9", "6"], ["-0.9", "0"], ["0.9", "0"], ["0.9", "6"]], false, true);
    s.contact(Geometry::Between(peg, hole), NormalLaw::Unilateral, None);
    let system = s.build();
    // 2 corners × 3 chains, and 4 corners × 2 chains: the peg turns by 180°
    assert_eq!(system.dims().contacts, 14);
    assert_eq!(system.contacts()[9].name, "c0[10]");
    let mut probe = Probe::new(system.clone());
    // upright in the middle, one deep: walls 0.1 away on both sides
    let out = probe.at(0.0, &[0.0, -1.0, 0.0], &[0.0; 3]).clone();
    let gap = |c: usize| out.gap[2 * c];
    close(gap(0), 0.1, 1e-14, "left corner, left chain");
    close(gap(1), 2.0, 1e-14, "left corner, bottom");
    close(gap(2), 1.9, 1e-14, "left corner, right chain");
    close(gap(5), 0.1, 1e-14, "right corner, right chain");
    close(gap(8), 0.1, 1e-14, "lower left mouth corner, side of the peg");
    // corner on the left flat, then moved over the chamfer: hand-over exactly at the convex corner
    probe.at(0.0, &[-0.4, 0.0, 0.0], &[1.0, 0.0, 0.0]);
    close(probe.out.gap[0], 0.0, 1e-14, "on the flat");
    let before = probe.d.clone();
    probe.s.q = vec![-0.25, 0.0, 0.0];
    probe.system.evaluate(&probe.s, &before, &mut probe.out);
    let k = probe.out.guards.iter().position(|&g| g < 0.0).expect("hand-over is due");
    let mut after = before.clone();
    probe.system.flip(k, &mut after, &probe.out);
    probe.system.evaluate(&probe.s, &after, &mut probe.out);
    close(probe.out.gap[0], 0.05 / 2.0_f64.sqrt(), 1e-14, "over the chamfer");
    check_rows(system, &[0.02, -1.0, 0.03], 0.01);
}

#[test]
fn a_box_on_a_floor_touches_with_two_corners() {
    let mut s = Sketch::new();
    for name in ["x", "y", "phi"] {
        s.coordinate(name, 0.0);
    }
    s.body(None, ["x", "y"], "phi", "1", "1");
    let floor = s.flat(None, ["0", "0"], ["0", "1"]);
    let square = s.outline(Some(0), &[["-1", "-1"], ["1", "-1"], ["1", "1"], ["-1", "1"]], true, true);
    s.contact(Geometry::Between(square, floor), NormalLaw::Unilateral, None);
    let stone = s.point(None, ["0", "-3"]);
    s.contact(Geometry::Between(stone, square), NormalLaw::Unilateral, None);
    let system = s.build();
    assert_eq!(system.dims().contacts, 5);
    let mut probe = Probe::new(system.clone());
    let out = probe.at(0.0, &[0.0, 1.0, 0.0], &[1.0, 0.0, 0.5]).clone();
    let gaps: Vec<f64> = (0..5).map(|c| out.gap[2 * c]).collect();
    assert_eq!(gaps, [0.0, 0.0, 2.0, 2.0, 3.0]);
    // slip to the right is positive; the lower corners move by v + ω × r
    let u = [1.0, 0.0, 0.5];
    close(out.rate(1, &u), 1.5, 1e-15, "slip");
    // the stone is A: its velocity relative to the box, along the tangent of the normal that points to it
    close(out.rate(8, &u), 0.0, 1e-15, "gap rate of the stone");
    check_rows(system, &[0.1, 2.0, 0.2], 0.1);
}

#[test]
fn the_floor_convention_and_the_tangent_key() {
    for (wanted, sign) in [(None, 1.0), (Some(["-1", "0.2"]), -1.0), (Some(["3", "0"]), 1.0)] {
        let mut s = Sketch::new();
        s.coordinate("x", 0.0);
        s.coordinate("y", 0.0);
        s.body(None, ["x", "y"], "0", "1", "0");
        let floor = s.flat(None, ["0", "0"], ["0", "1"]);
        let c = s.contact(
            Geometry::Between(FeatureRef { body: Some(0), feature: None }, floor),
            NormalLaw::Unilateral,
            None,
        );
        s.model.contacts[c].tangent = wanted.map(|w| s.e2(w));
        let mut probe = Probe::new(s.build());
        let out = probe.at(0.0, &[0.3, 0.7], &[2.0, -1.0]);
        assert_eq!(out.gap[0], 0.7);
        assert_eq!(out.rate(0, &[2.0, -1.0]), -1.0);
        assert_eq!(out.rate(1, &[2.0, -1.0]), 2.0 * sign);
    }
}

#[test]
fn concentric_circles_stay_finite() {
    let mut s = two_bodies();
    let pin = s.round(Some(0), ["0", "0"], "0.3", false);
    let bore = s.round(Some(1), ["0", "0"], "0.5", true);
    s.contact(Geometry::Between(pin, bore), NormalLaw::Unilateral, None);
    let mut probe = Probe::new(s.build());
    let out = probe.at(0.0, &[0.0; 6], &[1.0; 6]);
    close(out.gap[0], 0.2, 1e-12, "gap");
    assert!(out.w.values().iter().chain(&out.accel_offset).all(|x| x.is_finite()));
}

#[test]
fn pairs_without_geometry_are_refused_by_name() {
    let mut s = two_bodies();
    let a = s.flat(Some(0), ["0", "0"], ["0", "1"]);
    let b = s.flat(Some(1), ["0", "0"], ["0", "1"]);
    s.contact(Geometry::Between(a, b), NormalLaw::Unilateral, None);
    let error = build(&s.model).expect_err("two flats");
    assert!(error.message.contains("a flat against a flat"), "{error}");
}
