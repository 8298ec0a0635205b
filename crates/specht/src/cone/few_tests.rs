//! Few contacts: what they need of their own, and answers that no scale can spoil.

use super::form::{Blocks, DenseForm, Form, Rows};
use super::problems::{self, Rng};
use super::tests::violation;
use super::{Contact, Law, Matrix, Operator, Problem, Settings, Solver, Status, solve};
use crate::linalg::Mat;

/// Planar contacts between bodies of three degrees of freedom, more rows than these have: `W = H Hᵀ` is singular.
fn planar(n: usize, mu: f64, seed: u64) -> Problem {
    let mut rng = Rng::new(seed);
    let bodies = (n / 2).max(1);
    let mut h = Mat::zeros(2 * n, 3 * bodies);
    for c in 0..n {
        let other = if rng.uniform() < 0.5 { 1 } else { 0 };
        for body in [c % bodies, (c + other) % bodies] {
            (0..6).for_each(|k| h[(2 * c + k / 3, 3 * body + k % 3)] = rng.normal());
        }
    }
    let v: Vec<f64> = (0..3 * bodies).map(|_| rng.normal()).collect();
    let contacts = (0..n).map(|k| Contact::planar(mu, k as u64)).collect();
    let mass = Matrix::Dense(Mat::identity(3 * bodies));
    Problem::from_bodies(mass, Matrix::Dense(h), &v, vec![0.0; 2 * n], contacts)
}

/// METH-CONE-CASCADE: few planar contacts, more rows than velocities.
#[test]
fn meth_cone_cascade_few_planar_contacts_keep_their_laws() {
    let mut solver = Solver::new(Settings { warm: false, ..Default::default() });
    let mut solved = 0;
    for seed in 0..400 {
        let p = planar(3 + seed as usize % 7, [0.1, 0.3, 0.6, 1.0][seed as usize / 7 % 4], seed);
        let s = solver.solve(&p).unwrap();
        if s.status == Status::Solved {
            solved += 1;
            assert!(violation(&p, &s) < 1e-6, "seed {seed}");
        }
    }
    assert!(solved >= 200, "only {solved}: the test lost its subject");
}

/// METH-CONE-LINALG: the dense system without the rows of open contacts has the same solution as the equations say.
#[test]
fn meth_cone_linalg_open_contacts_are_left_out_of_the_dense_system() {
    let mut rng = Rng::new(3);
    for trial in 0..50 {
        let rows: Vec<Rows> = [3, 2, 1, 3, 3]
            .iter()
            .scan(0, |at, &d| {
                *at += d;
                Some(Rows { at: *at - d, d })
            })
            .collect();
        let mut f = DenseForm::default();
        f.reset(&rows);
        let m = f.m;
        f.a.iter_mut().for_each(|a| *a = rng.normal());
        let mut k = Blocks::default();
        k.resize(rows.len());
        for (i, r) in rows.iter().enumerate() {
            let open = trial % 6 == 5 || rng.uniform() < 0.5;
            for a in 0..r.d {
                k.b[i][a][a] = 1.0;
                for b in 0..r.d {
                    k.s[i][a][b] = if open { 0.0 } else { rng.normal() };
                }
            }
            k.binv[i] = k.b[i];
        }
        let g: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
        let mut form = Form::Dense(f);
        form.factor(&k);
        let (mut x, mut ax) = (g.clone(), vec![0.0; m]);
        form.solve(&k, &mut x);
        form.mul(&x, &mut ax);
        let size = crate::linalg::max_abs(&x).max(1.0);
        for (i, r) in rows.iter().enumerate() {
            let (x, u) = (r.get(&x), super::kernel::mul3(&k.s[i], &r.get(&ax)));
            for l in 0..r.d {
                assert!((x[l] + u[l] - g[r.at + l]).abs() < 1e-8 * size, "trial {trial}, cone {i}");
            }
        }
    }
}

/// METH-CONE-PROBLEM: what is called solved obeys each law in its own units, for μ from 0 to 1e6, `W` scaled by 1e±12, velocities by
/// 1e±6.
#[test]
fn meth_cone_problem_no_scale_makes_a_wrong_answer_solved() {
    let mut solved = 0;
    for seed in 0..240 {
        let mut rng = Rng::new(seed + 9000);
        let mu = [0.0, 1e-6, 1e-3, 0.3, 1.0, 30.0, 1e4, 1e6][seed as usize % 8];
        let mut p = problems::random(1 + rng.below(5), mu, seed);
        let (heavy, fast) = (10f64.powi(rng.below(25) as i32 - 12), 10f64.powi(rng.below(13) as i32 - 6));
        let Operator::Bodies { mass, .. } = &mut p.operator else { panic!() };
        let n = mass.rows();
        *mass = Matrix::Dense(Mat::from_fn(n, n, |i, j| heavy * mass.get(i, j)));
        p.q.iter_mut().for_each(|q| *q *= fast);
        let mut s = Solver::new(Settings { warm: false, ..Default::default() }).solve(&p).unwrap();
        // a velocity below the tolerance is rest: times μ r_N of a steep cone it would still dissipate
        let rest = 1e-8 * crate::linalg::max_abs(&p.q);
        s.u.iter_mut().filter(|u| u.abs() < rest).for_each(|u| *u = 0.0);
        // with large μ there may be no solution, and with W of 1e-12 the plain measure sees the last digits of the impulses
        if s.status == Status::Solved {
            solved += 1;
            assert!(
                violation(&p, &s) < 1e-6,
                "seed {seed}, μ = {mu}, {heavy:e}, {fast:e}: {}",
                violation(&p, &s)
            );
        }
    }
    assert!(solved > 200, "{solved} of 240");
}

/// METH-CONE-MIXED: an ellipse of any shape keeps its law: W = 1, q = (−1, 0, 1) slides along the second tangent with r = (1, 0, −μ_2).
#[test]
fn meth_cone_mixed_a_thin_ellipse_is_not_called_solved_by_no_force() {
    for thin in [1e-9, 1e-6, 1e-3, 0.1] {
        for turned in [false, true] {
            let (mu, q, slide) = match turned {
                false => ([thin, 0.5], vec![-1.0, 0.0, 1.0], 2),
                true => ([0.5, thin], vec![-1.0, 1.0, 0.0], 1),
            };
            let contact = Contact { law: Law::Elliptic { mu }, rows: 3, key: 0 };
            let s = solve(&Problem::from_w(Matrix::Dense(Mat::identity(3)), q, vec![contact])).unwrap();
            assert_eq!(s.status, Status::Solved);
            assert!((s.r[0] - 1.0).abs() < 1e-7, "{thin}: {:?}", s.r);
            assert!((s.r[slide] + 0.5).abs() < 1e-7 && s.r[3 - slide].abs() < 1e-7, "{thin}: {:?}", s.r);
        }
    }
}

/// METH-CONE-PROBLEM: heavy bodies (`W` down to 1e-12) are solved, not reported as unsolved for the last digits of large impulses.
#[test]
fn meth_cone_problem_heavy_bodies_are_solved_like_light_ones() {
    let mut missed = 0;
    for seed in 0..120 {
        let heavy = [1.0, 1e6, 1e10, 1e12][seed as usize % 4];
        let mut p = problems::random(1 + seed as usize % 6, 0.5, seed);
        let Operator::Bodies { mass, .. } = &mut p.operator else { panic!() };
        let n = mass.rows();
        *mass = Matrix::Dense(Mat::from_fn(n, n, |i, j| heavy * mass.get(i, j)));
        let s = solve(&p).unwrap();
        missed += usize::from(s.status != Status::Solved);
        assert!(violation(&p, &s) < 1e-6, "seed {seed}");
    }
    assert_eq!(missed, 0);
}
