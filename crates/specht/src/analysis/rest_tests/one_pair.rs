//! One coordinate, one pair: random coefficients against the table of the specification and the book's theorems.

use std::f64::consts::PI;

use crate::analysis::one_pair::{BookPoint, BookRest, OnePair};
use crate::analysis::rest::{RestVerdict, carried, rest};
use crate::analysis::stagnation::stagnation;
use crate::contact::tests::{Bench, Random, close, diag};
use crate::contact::{Start, Transition};
use crate::linalg::Mat;

/// Coefficients A, A12, s, μ of (2.15) as a system in (q, h); A22 makes M definite.
fn pair(a: f64, a12: f64, s: f64, mu: f64, q: [f64; 2]) -> Bench {
    let a22 = 1.0 + a12 * a12 / a;
    let mut b = Bench::new(Mat::from_rows(&[[a, a12], [a12, a22]]), &q);
    b.bilateral((&[0.0, 1.0], 0.0), Some((&[s, 0.0], 0.0)), mu);
    b
}

/// ANH-2.4-REST: the table of section 3.4 for 4000 random coefficient sets, with the direction and the number of slips, and the
/// book's Theorems 2 and 3.
#[test]
fn anh_2_4_rest_table_by_random_coefficients() {
    let mut r = Random(24);
    let mut t = Transition::default();
    let mut seen = [0; 6];
    for _ in 0..4000 {
        let (a, a12, s, mu) =
            (r.within(0.1, 3.0), r.within(-4.0, 4.0), r.within(0.1, 3.0), r.within(0.05, 2.0));
        let (q1, q2) = (r.within(-2.0, 2.0), r.within(-2.0, 2.0));
        let l = a12 / a * s;
        let bound = s * q2.abs();
        let near = [q1.abs() - mu * bound, (l * q1).abs() - bound, mu * l.abs() - 1.0];
        if near.iter().any(|v| v.abs() < 1e-6) {
            continue;
        }
        let b = pair(a, a12, s, mu, [q1, q2]);
        let found = rest(&b.info, &b.eval, &[Start::Zero], &mut t);
        assert!(found.complete && found.valid);
        let paradox = mu * l.abs() > 1.0;
        let inside = q1.abs() <= mu * bound;
        let (case, verdict, slips, book) = if !paradox {
            if inside {
                (0, RestVerdict::Stays, 0, BookRest::Stays)
            } else {
                (1, RestVerdict::Moves, 1, BookRest::Moves)
            }
        } else if (l * q1).abs() <= bound {
            (2, RestVerdict::Stays, 0, BookRest::Stays)
        } else if inside && q1 * l * q2 > 0.0 {
            (3, RestVerdict::Both, 2, BookRest::Moves)
        } else if inside {
            (4, RestVerdict::Stays, 0, BookRest::Stays)
        } else {
            (5, RestVerdict::Moves, 1, BookRest::Both)
        };
        seen[case] += 1;
        assert_eq!(found.verdict, verdict, "case {case}: {a} {a12} {s} {mu} {q1} {q2}");
        let moving: Vec<_> = found.outcomes.iter().filter(|o| o.moves).collect();
        assert_eq!(moving.len(), slips);
        for o in &moving {
            assert_eq!(o.accel[0].signum(), q1.signum());
        }
        if verdict != RestVerdict::Moves {
            close(found.outcomes[0].normal[0], -q2, 1e-12);
            close(found.outcomes[0].tangential[0], -q1 / s, 1e-12);
        }
        assert_eq!(found.book.map(|b| b.0), Some(book));
        assert_eq!(found.differs_from_book(), case == 3 || case == 5);
    }
    assert!(seen.iter().all(|n| *n > 20), "{seen:?}");
}

/// The coefficients do not depend on how the constraint is removed: an auxiliary displacement with a tangential part (λ ≠ 0,
/// (2.18)) gives the same L, Q1, Q2, and so does another scale of the redundant coordinate (Remark 2).
#[test]
fn coefficients_do_not_depend_on_the_auxiliary_path() {
    let mut r = Random(21);
    for _ in 0..200 {
        let (a, a12, s, mu) =
            (r.within(0.1, 3.0), r.within(-4.0, 4.0), r.within(0.1, 3.0), r.within(0.05, 2.0));
        let (q1, q2) = (r.within(-2.0, 2.0), r.within(-2.0, 2.0));
        let straight = pair(a, a12, s, mu, [q1, q2]);
        let p = OnePair::of(&straight.info, &straight.eval, &[true], 0).unwrap();
        // u = (q, h): the new coordinate p moves the point by (λ, 1)·scale
        let (lambda, scale) = (r.within(-2.0, 2.0), r.within(0.2, 5.0));
        let b = [1.0 * scale * lambda, scale];
        let m = &straight.eval.mass;
        let m12 = m[(0, 0)] * b[0] + m[(0, 1)] * b[1];
        let m22 = m[(0, 0)] * b[0] * b[0] + 2.0 * m[(0, 1)] * b[0] * b[1] + m[(1, 1)] * b[1] * b[1];
        let mut skew = Bench::new(Mat::from_rows(&[[a, m12], [m12, m22]]), &[q1, q1 * b[0] + q2 * b[1]]);
        skew.bilateral((&[0.0, scale], 0.0), Some((&[s, s * b[0]], 0.0)), mu);
        let k = OnePair::of(&skew.info, &skew.eval, &[true], 0).unwrap();
        close(k.l_config, p.l_config, 1e-11);
        close(k.q2, p.q2, 1e-11);
        close(k.q1 / k.s, p.q1 / p.s, 1e-11);
        close(p.l_config, a12 / a * s, 1e-12);
    }
}

/// ANH-2.5-SELFBRAKE, Theorems 4 and 5: the arcs found by linear programs are the closed dihedral angle |F·a| ≤ |F·b| with the
/// angle (2.108), for random vectors.
#[test]
fn anh_2_5_selfbrake_stagnation_angle_of_random_points() {
    let mut r = Random(25);
    let mut t = Transition::default();
    for k in 0..300 {
        let (a, s, mu) = (r.within(0.1, 3.0), r.within(0.1, 3.0), r.within(0.05, 2.0));
        let l = r.within(-0.95, 0.95) / mu;
        let b = pair(a, l * a / s, s, mu, [0.0, 0.0]);
        let mut tangent = [r.within(-2.0, 2.0), r.within(-2.0, 2.0)];
        let normal = [r.within(-2.0, 2.0), r.within(-2.0, 2.0)];
        if k % 5 == 0 {
            let share = r.within(0.2, 2.0);
            tangent = normal.map(|v| v * mu * s * share);
        }
        let columns = [[tangent[0], normal[0]].to_vec(), [tangent[1], normal[1]].to_vec()];
        let found = stagnation(&b.info, &b.eval, &[true], &columns, &mut t);
        assert!(found.exact);
        let bb = normal.map(|v| v * mu * s);
        let plus = [tangent[0] + bb[0], tangent[1] + bb[1]];
        let minus = [tangent[0] - bb[0], tangent[1] - bb[1]];
        let psi =
            (plus[0] * minus[1] - plus[1] * minus[0]).abs().atan2(plus[0] * minus[0] + plus[1] * minus[1]);
        assert!((found.angle() - psi).abs() < 1e-9, "{k}: {} is not {psi}", found.angle());
        let p = OnePair::of(&b.info, &b.eval, &[true], 0).unwrap();
        close(p.stagnation_angle(&columns), psi, 1e-9);
        assert!(found.ambiguous.is_empty() && found.none.is_empty());
        for _ in 0..10 {
            let angle = r.within(-PI, PI);
            let f = [angle.cos(), angle.sin()];
            let along = |v: [f64; 2]| (f[0] * v[0] + f[1] * v[1]).abs();
            if (along(tangent) - along(bb)).abs() > 1e-6 {
                let stuck = found.stuck.iter().any(|a| a.contains(angle));
                assert_eq!(stuck, along(tangent) < along(bb));
            }
        }
        let expected = if k % 5 == 0 && along_ratio(tangent, bb) <= 1.0 {
            BookPoint::SelfBraking
        } else {
            BookPoint::Debraking
        };
        assert_eq!(p.point(&columns), expected);
        assert_eq!(found.moving.is_empty(), expected == BookPoint::SelfBraking);
    }
}

fn along_ratio(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0].hypot(a[1]) / b[0].hypot(b[1])
}

/// ANH-2.5-SELFBRAKE, Theorem 6: parallel vectors in a paradox region; enumeration against the book.
#[test]
fn anh_2_5_selfbrake_paradox_region() {
    let mut r = Random(26);
    let mut t = Transition::default();
    let mut seen = [0; 4];
    for _ in 0..300 {
        let (a, s, mu) = (r.within(0.1, 3.0), r.within(0.1, 3.0), r.within(0.05, 2.0));
        let l = r.within(1.1, 4.0) / mu * if r.unit() < 0.5 { -1.0 } else { 1.0 };
        let b = pair(a, l * a / s, s, mu, [0.0, 0.0]);
        let kappa = r.within(-1.8, 1.8) * mu;
        if [(l * kappa).abs() - 1.0, kappa.abs() / mu - 1.0].iter().any(|v| v.abs() < 1e-6) {
            continue;
        }
        let d = [r.within(-2.0, 2.0), r.within(-2.0, 2.0)];
        let tangent = d.map(|v| kappa * s * v);
        let columns = [[tangent[0], d[0]].to_vec(), [tangent[1], d[1]].to_vec()];
        let found = stagnation(&b.info, &b.eval, &[true], &columns, &mut t);
        let p = OnePair::of(&b.info, &b.eval, &[true], 0).unwrap();
        let (case, book) = if (l * kappa).abs() <= 1.0 {
            (0, BookPoint::SelfBraking)
        } else if kappa.abs() <= mu && kappa * l < 0.0 {
            (1, BookPoint::SelfBraking)
        } else if kappa.abs() <= mu {
            (2, BookPoint::Debraking)
        } else {
            (3, BookPoint::Both)
        };
        seen[case] += 1;
        assert_eq!(p.point(&columns), book);
        match case {
            0 | 1 => assert!((found.angle() - PI).abs() < 1e-9),
            2 => assert!(found.moving.is_empty() && !found.ambiguous.is_empty()),
            _ => assert!(!found.moving.is_empty()),
        }
    }
    assert!(seen.iter().all(|n| *n > 10), "{seen:?}");
}

/// ANH-3.1-SIMPLE: a particle on a rough line starts iff |tan φ| > μ, its stagnation angle is 2 arctan μ, and the load is
/// found to rounding.
#[test]
fn anh_3_1_simple_particle_on_a_line() {
    let mut r = Random(31);
    let mut t = Transition::default();
    for _ in 0..200 {
        let (m, mu, f, phi) =
            (r.within(0.1, 5.0), r.within(0.05, 2.0), r.within(0.1, 20.0), r.within(-1.5, 1.5));
        let mut b = Bench::new(Mat::from_rows(&[[m, 0.0], [0.0, m]]), &[f * phi.sin(), f * phi.cos()]);
        b.bilateral((&[0.0, 1.0], 0.0), Some((&[1.0, 0.0], 0.0)), mu);
        let found = rest(&b.info, &b.eval, &[Start::Zero], &mut t);
        let moves = phi.tan().abs() > mu;
        assert_eq!(found.verdict, if moves { RestVerdict::Moves } else { RestVerdict::Stays });
        if moves {
            assert_eq!(found.direction(), [Some(phi.signum()), Some(0.0)]);
        }
        let columns = [vec![1.0, 0.0], vec![0.0, 1.0]];
        let arcs = stagnation(&b.info, &b.eval, &[true], &columns, &mut t);
        assert!((arcs.angle() - 2.0 * mu.atan()).abs() < 1e-12);
        // horizontal load with a weight
        let list = carried(&b.info, &b.eval, &[true], &[0.0, -m * 9.81], &[1.0, 0.0]).unwrap();
        assert_eq!(list.len(), 1);
        close(list[0][0], -mu * m * 9.81, 1e-12);
        close(list[0][1], mu * m * 9.81, 1e-12);
    }
}

/// ANH-3.1-SIMPLE, slider on a turning cylinder: |M| ≤ μ s P holds it.
#[test]
fn anh_3_1_simple_screw_motion() {
    let (a, lead, j, m, p, mu) = (0.05, 0.04, 0.01, 1.5, 200.0, 0.15);
    let pitch = lead / (2.0 * PI);
    let s = f64::hypot(a, pitch);
    // q = angle, h = radial distance of the slider
    let mut b = Bench::new(Mat::from_rows(&[[j + m * pitch * pitch, 0.0], [0.0, m]]), &[0.0, -p]);
    b.bilateral((&[0.0, 1.0], 0.0), Some((&[s, 0.0], 0.0)), mu);
    let list = carried(&b.info, &b.eval, &[true], &b.eval.h, &[1.0, 0.0]).unwrap();
    close(list[0][1], mu * s * p, 1e-12);
    close(list[0][1], 1.512_110, 1e-6);
    close(list[0][0], -mu * s * p, 1e-12);
}

/// ANH-3.3-STACKER-R: wheel loads from the engine with the driving force M/r at wheel 1; the limits M₁, M₂±, h*, h₁ are where a load
/// vanishes or the drive exceeds μ R₁.
#[test]
fn anh_3_3_stacker_r_limits() {
    let (m, l, r, mu, g) = (2000.0, 1.0, 0.2, 0.3, 9.81);
    let loads = |h: f64, torque: f64| -> [f64; 2] {
        let f = torque / r;
        let mut b = Bench::new(diag(&[m, m, 300.0]), &[f, -m * g, f * (h + r)]);
        b.bilateral((&[0.0, 1.0, l], 0.0), None, 0.0);
        b.bilateral((&[0.0, 1.0, -l], 0.0), None, 0.0);
        let set = b.transition(&[Start::Zero; 2]);
        [0, 1].map(|i| set.solutions[0].forces.normal[i])
    };
    let root = |f: &dyn Fn(f64) -> f64, mut a: f64, mut b: f64| {
        let sign = f(a).signum();
        for _ in 0..200 {
            let mid = 0.5 * (a + b);
            if f(mid).signum() == sign { a = mid } else { b = mid }
        }
        0.5 * (a + b)
    };
    let h = 6.0;
    close(root(&|t| loads(h, t)[0], 0.0, 5000.0), l * r * m * g / (h + r), 1e-9);
    close(root(&|t| loads(h, t)[1], 0.0, -5000.0), -632.90, 1e-5);
    let plus = root(&|t| mu * loads(h, t)[0] - t / r, 0.0, 600.0);
    close(plus, mu * l * r * m * g / (2.0 * l + mu * (h + r)), 1e-9);
    close(plus, 304.97, 2e-5);
    let minus = root(&|t| mu * loads(h, t)[0] + t / r, 0.0, -1e5);
    close(minus, -8408.6, 1e-5);
    // h*: the left limit runs to infinity; h₁: wheel 2 lifts exactly when wheel 1 slips backwards
    let slope = |h: f64| mu * (loads(h, -1.0)[0] - loads(h, 0.0)[0]) - 1.0 / r;
    close(root(&slope, 0.1, 20.0), 2.0 * l / mu - r, 1e-9);
    let both = |h: f64| mu * loads(h, -l * r * m * g / (h + r))[0] - l * m * g / (h + r);
    close(root(&both, 0.1, 20.0), l / mu - r, 1e-9);
}
