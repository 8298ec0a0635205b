//! The laws beside Coulomb's: bilateral rows, loads, guides, ellipses, no friction, planar contacts, unsymmetric `W` (METH-CONE-MIXED)

use super::problems::{self, Rng};
use super::tests::{delassus, violation};
use super::*;
use crate::linalg::Mat;

/// METH-CONE-MIXED: a pendulum bob on a bilateral row, and a loaded contact that brakes it: |r_T| ≤ bound, by hand.
#[test]
fn meth_cone_mixed_bilateral_and_loaded_rows() {
    let mass = Matrix::Sparse(Sparse::diagonal(&[2.0, 2.0]));
    let h = Matrix::Dense(Mat::from_rows(&[[1.0, 0.0], [0.0, 1.0]]));
    let contacts = |bound| {
        vec![
            Contact { law: Law::Bilateral, rows: 1, key: 0 },
            Contact { law: Law::Loaded { bound }, rows: 1, key: 1 },
        ]
    };
    // free velocity (0.7, 3): the first row stops x with impulse −1.4, the brake takes at most its bound from 6
    let run = |bound| {
        solve(&Problem::from_bodies(mass.clone(), h.clone(), &[0.7, 3.0], vec![0.0; 2], contacts(bound)))
            .unwrap()
    };
    let s = run(4.0);
    assert_eq!(s.status, Status::Solved);
    assert!((s.r[0] + 1.4).abs() + (s.r[1] + 4.0).abs() + s.u[0].abs() + (s.u[1] - 1.0).abs() < 1e-9);
    let s = run(7.0);
    assert!((s.r[1] + 6.0).abs() + s.u[1].abs() < 1e-9);
}

/// METH-CONE-MIXED: bilateral rows and loads inside a large structure go through the interior point in body form.
#[test]
fn meth_cone_mixed_rows_in_a_structure() {
    let mut p = problems::tower(8, 0.5, 4);
    let rows = p.rows();
    let Operator::Bodies { h, .. } = &mut p.operator else { panic!() };
    let mut t = Vec::new();
    for i in 0..rows {
        h.for_row(i, |j, v| t.push((i, j, v)));
    }
    // box 3 may not turn about z; box 5 is dragged by a loaded contact in x and y
    t.push((rows, 6 * 3 + 5, 1.0));
    t.push((rows + 1, 6 * 5, 1.0));
    t.push((rows + 2, 6 * 5 + 1, 1.0));
    *h = Matrix::Sparse(Sparse::from_triplets(rows + 3, h.cols(), &t).unwrap());
    p.contacts.push(Contact { law: Law::Bilateral, rows: 1, key: 900 });
    p.contacts.push(Contact { law: Law::Loaded { bound: 0.01 }, rows: 2, key: 901 });
    p.q.extend([0.02, 0.05, -0.03]);
    p.w = None;
    let s = Solver::new(Settings { method: Method::InteriorPoint, ..Default::default() }).solve(&p).unwrap();
    assert_eq!(s.status, Status::Solved, "{} {}", s.error_plain, s.error_scaled);
    assert!(s.u[rows].abs() < 1e-8);
    let (r, u) = (&s.r[rows + 1..], &s.u[rows + 1..]);
    let rt = (r[0] * r[0] + r[1] * r[1]).sqrt();
    let ut = (u[0] * u[0] + u[1] * u[1]).sqrt();
    assert!(rt <= 0.01 + 1e-12);
    assert!((r[0] * u[0] + r[1] * u[1] + 0.01 * ut).abs() < 1e-8);
}

/// METH-CONE-MIXED: elliptic friction dissipates most: r_T maximises −u_T·r_T over the ellipse.
#[test]
fn meth_cone_mixed_elliptic_friction_obeys_maximum_dissipation() {
    let (a, b) = (0.3, 0.9);
    let w = Mat::from_rows(&[[1.0, 0.1, 0.0], [0.1, 1.0, 0.2], [0.0, 0.2, 1.0]]);
    let c = vec![Contact { law: Law::Elliptic { mu: [a, b] }, rows: 3, key: 0 }];
    let s = solve(&Problem::from_w(Matrix::Dense(w), vec![-1.0, 1.5, -2.0], c)).unwrap();
    assert_eq!(s.status, Status::Solved);
    let (r, u) = (&s.r, &s.u);
    assert!(((r[1] / a).powi(2) + (r[2] / b).powi(2) - r[0] * r[0]).abs() < 1e-9);
    let best = r[0] * ((a * u[1]).powi(2) + (b * u[2]).powi(2)).sqrt();
    assert!((-(r[1] * u[1] + r[2] * u[2]) - best).abs() < 1e-9);
}

/// METH-CONE-MIXED: a guide (normal force of either sign) with friction; planar, closed form: r_N = −q_N for W = I.
#[test]
fn meth_cone_mixed_guide_with_friction() {
    for sign in [1.0, -1.0] {
        let c = vec![Contact { law: Law::BilateralFriction { mu: 0.4 }, rows: 2, key: 0 }];
        let p = Problem::from_w(Matrix::Dense(Mat::identity(2)), vec![sign, 2.0], c);
        let s = solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved);
        assert!((s.r[0] + sign).abs() + (s.r[1] + 0.4).abs() < 1e-9, "{:?}", s.r);
    }
}

/// METH-CONE-MIXED, METH-CONE-SPLIT: guides and loads inside a tower go through the split path, where the bound of a guide is a variable:
/// `u_N = 0`, `|r_T| ≤ μ|r_N|`, and slip against the force at its bound.
#[test]
fn meth_cone_split_guides_in_a_structure() {
    let mut slipping = 0;
    for seed in 0..6 {
        let mut p = problems::tower(6, 0.5, seed);
        let rows = p.rows();
        let Operator::Bodies { h, .. } = &mut p.operator else { panic!() };
        let mut t = Vec::new();
        for i in 0..rows {
            h.for_row(i, |j, v| t.push((i, j, v)));
        }
        // boxes 1 and 4 are led along y and z, with friction; the wall of the guide is at their side
        for (k, body) in [1, 4].into_iter().enumerate() {
            for axis in 0..3 {
                t.push((rows + 3 * k + axis, 6 * body + axis, 1.0));
            }
        }
        *h = Matrix::Sparse(Sparse::from_triplets(rows + 6, h.cols(), &t).unwrap());
        for key in 0..2 {
            p.contacts.push(Contact { law: Law::BilateralFriction { mu: 0.3 }, rows: 3, key: 900 + key });
        }
        p.q.extend([0.2, 0.05, -0.1, -0.15, 0.02, 0.1]);
        p.w = None;
        let s =
            Solver::new(Settings { method: Method::InteriorPoint, ..Default::default() }).solve(&p).unwrap();
        assert_eq!((s.status, s.stage), (Status::Solved, Stage::Split), "{seed}: {}", s.error());
        for k in 0..2 {
            let (r, u) = (&s.r[rows + 3 * k..rows + 3 * k + 3], &s.u[rows + 3 * k..rows + 3 * k + 3]);
            let (rt, ut) = (r[1].hypot(r[2]), u[1].hypot(u[2]));
            assert!(u[0].abs() < 1e-8 && rt <= 0.3 * r[0].abs() + 1e-9, "{seed}: {r:?} {u:?}");
            assert!((r[1] * u[1] + r[2] * u[2] + 0.3 * r[0].abs() * ut).abs() < 1e-8, "{seed}: {r:?} {u:?}");
            slipping += usize::from(ut > 1e-6);
        }
    }
    assert!(slipping > 0);
}

/// METH-CONE-MIXED: frictionless contacts, tiny and small μ, planar contacts, in one problem after the other.
#[test]
fn meth_cone_mixed_small_mu_and_planar_contacts() {
    for mu in [0.0, 1e-9, 1e-7, 1e-5, 1e-3, 1e-2] {
        let p = problems::lattice(2, mu, 1);
        let s = solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved, "mu {mu}: {} {}", s.error_plain, s.error_scaled);
        assert!(violation(&p, &s) < 1e-6);
    }
    // planar: keep rows N and T1
    let q = problems::lattice(2, 0.5, 3);
    let Operator::Bodies { mass, h } = &q.operator else { panic!() };
    let mut t = Vec::new();
    for c in 0..q.contacts.len() {
        for k in 0..2 {
            h.for_row(3 * c + k, |j, v| t.push((2 * c + k, j, v)));
        }
    }
    let n = q.contacts.len();
    let p = Problem {
        contacts: (0..n).map(|i| Contact::planar(0.5, i as u64)).collect(),
        operator: Operator::Bodies {
            mass: mass.clone(),
            h: Matrix::Sparse(Sparse::from_triplets(2 * n, h.cols(), &t).unwrap()),
        },
        q: (0..2 * n).map(|i| q.q[3 * (i / 2) + i % 2]).collect(),
        w: None,
    };
    let s = solve(&p).unwrap();
    assert_eq!(s.status, Status::Solved);
    assert!(violation(&p, &s) < 1e-6);
}

/// METH-CONE-MIXED: unsymmetric W (implicit gyroscopic terms).
#[test]
fn meth_cone_mixed_unsymmetric_w() {
    let p = problems::tower(5, 0.5, 6);
    let mut w = delassus(&p);
    let mut rng = Rng::new(3);
    let size = w.max_abs();
    for i in 0..w.rows() {
        for j in 0..i {
            let a = 0.02 * size * rng.normal();
            w[(i, j)] += a;
            w[(j, i)] -= a;
        }
    }
    let p = Problem::from_w(Matrix::Dense(w), p.q, p.contacts);
    let s = solve(&p).unwrap();
    assert_eq!(s.status, Status::Solved, "{} {}", s.error_plain, s.error_scaled);
    assert!(violation(&p, &s) < 1e-6);
}

/// A ball of radius 0.2 m, 3 kg, `I = 2/5 m R²`, on a table with μ = 0.8: rows N, T1, T2, two angular velocities of rolling, one of drilling.
/// Velocities (v_x, v_y, v_z, ω_x, ω_y, ω_z).
fn ball(v: [f64; 6], roll: f64, drill: f64) -> Problem {
    let (m, radius) = (3.0, 0.2);
    let i = 0.4 * m * radius * radius;
    let mass = Matrix::Sparse(Sparse::diagonal(&[m, m, m, i, i, i]));
    let h = Matrix::Dense(Mat::from_rows(&[
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 0.0, -radius, 0.0],
        [0.0, 1.0, 0.0, radius, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ]));
    let contacts = vec![
        Contact::spatial(0.8, 7),
        Contact { law: Law::Rolling { mu: roll }, rows: 2, key: 8 },
        Contact { law: Law::Rolling { mu: drill }, rows: 1, key: 9 },
    ];
    Problem::from_bodies(mass, h, &v, vec![0.0; 6], contacts)
}

/// METH-CONE-MIXED: a rolling ball is braked by `μ_R r_N / (R (m + I/R²))` in a step, its spin by `μ_D r_N / I`, and with more resistance
/// both stop; all by hand.
#[test]
fn meth_cone_mixed_rolling_and_drilling_resistance_of_a_ball() {
    // falls with 0.1 m/s and rolls with 0.5 m/s along x: ω_y = v/R; spins with 2 rad/s
    let v = [0.5, 0.0, -0.1, 0.0, 2.5, 2.0];
    let (roll, drill) = (0.01, 0.002);
    let s = solve(&ball(v, roll, drill)).unwrap();
    let (m, radius, i) = (3.0, 0.2, 0.4 * 3.0 * 0.04);
    let normal = m * 0.1;
    let speed = 0.5 - roll * normal / (radius * (m + i / (radius * radius)));
    assert_eq!(s.status, Status::Solved, "{}", s.error());
    // rows: normal, the moment of rolling, the rate of rolling, the rate of spin
    let found = [s.r[0], s.r[4], s.u[4], s.u[5]];
    let hand = [normal, -roll * normal, speed / radius, 2.0 - drill * normal / i];
    assert!(found.iter().zip(hand).all(|(f, h)| (f - h).abs() < 1e-8), "{found:?} {hand:?}");
    // the moments are large enough to stop every rotation; friction cannot stop the ball as quickly, so it slides: r_T = −μ r_N
    let s = solve(&ball(v, 1.0, 1.0)).unwrap();
    let found = [s.u[1], s.u[3], s.u[4], s.u[5], s.r[4], s.r[5]];
    let friction = 0.8 * normal;
    let hand = [0.5 - friction / m, 0.0, 0.0, 0.0, -2.5 * i - radius * friction, -2.0 * i];
    assert_eq!(s.status, Status::Solved, "{}", s.error());
    assert!(found.iter().zip(hand).all(|(f, h)| (f - h).abs() < 1e-8), "{found:?} {hand:?}");
}

/// METH-CONE-MIXED: heaps whose contacts resist rolling and drilling, where moments change normal impulses, up to two fifths of the radius:
/// the laws hold, written down again.
#[test]
fn meth_cone_mixed_rolling_in_a_structure_holds_its_law() {
    for (size, seed, mu) in [(20, 3, 0.02), (20, 5, 0.05), (10, 0, 0.2), (10, 2, 0.2)] {
        let p = problems::heap(size, 0.5, seed);
        let Operator::Bodies { h, mass } = &p.operator else { panic!() };
        // behind every contact the relative angular velocities of its two bodies about its tangents and its normal
        let mut t = Vec::new();
        let (mut contacts, mut q, mut row) = (Vec::new(), Vec::new(), 0);
        for (k, c) in p.contacts.iter().enumerate() {
            let mut axes = [[0.0; 3]; 3];
            let mut bodies = [(usize::MAX, 0.0); 2];
            for l in 0..3 {
                h.for_row(3 * k + l, |j, v| {
                    t.push((row + l, j, v));
                    if j % 6 < 3 {
                        let (body, sign) = (
                            j / 6,
                            if bodies[0].0 == j / 6 || bodies[0].0 == usize::MAX { 1.0 } else { -1.0 },
                        );
                        bodies[usize::from(sign < 0.0)] = (body, sign);
                        if sign > 0.0 {
                            axes[l][j % 6] = v;
                        }
                    }
                });
                q.push(p.q[3 * k + l]);
            }
            for (l, axis) in [axes[1], axes[2], axes[0]].iter().enumerate() {
                for (body, sign) in bodies.into_iter().filter(|b| b.0 != usize::MAX) {
                    (0..3).for_each(|a| t.push((row + 3 + l, 6 * body + 3 + a, sign * axis[a])));
                }
                q.push(0.05 * (k as f64 + l as f64).sin());
            }
            contacts.extend([
                *c,
                Contact { law: Law::Rolling { mu }, rows: 2, key: 1000 + 2 * k as u64 },
                Contact { law: Law::Rolling { mu: 0.5 * mu }, rows: 1, key: 1001 + 2 * k as u64 },
            ]);
            row += 6;
        }
        let h = Matrix::Sparse(Sparse::from_triplets(row, h.cols(), &t).unwrap());
        let p = Problem { contacts, operator: Operator::Bodies { mass: mass.clone(), h }, q, w: None };
        let s = solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved, "{seed}: {} {:?}", s.error(), s.counts);
        let (speed, force) = (crate::linalg::max_abs(&p.q), crate::linalg::max_abs(&s.r));
        for k in 0..p.contacts.len() / 3 {
            let (r, u) = (&s.r[6 * k..6 * k + 6], &s.u[6 * k..6 * k + 6]);
            let m = |v: &[f64]| (v[3] * v[3] + v[4] * v[4]).sqrt();
            assert!(m(r) <= mu * r[0] + 1e-6 * force && r[5].abs() <= 0.5 * mu * r[0] + 1e-6 * force);
            let work = r[3] * u[3] + r[4] * u[4] + mu * r[0] * m(u);
            assert!(work.abs() < 1e-6 * speed * force, "{seed} {k}: {work:e}");
            assert!((r[5] * u[5] + 0.5 * mu * r[0] * u[5].abs()).abs() < 1e-6 * speed * force, "{seed} {k}");
        }
    }
}

/// METH-CONE-MIXED: a resistance without a contact before it is refused by name.
#[test]
fn meth_cone_mixed_rolling_needs_a_normal_row() {
    let mut p = ball([0.0; 6], 0.1, 0.1);
    p.contacts[0].law = Law::Bilateral;
    assert_eq!(p.check(), Err(ProblemError::NoNormal { contact: 1 }));
}
