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
