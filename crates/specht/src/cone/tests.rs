//! The cone module against closed forms, independent scans and the laws themselves.

use super::problems::{self, Rng};
use super::*;
use crate::linalg::Mat;
use crate::stop::Clock;

/// Error of one spatial or planar Coulomb contact written down again from the law, without the natural map: open gap,
/// cone, complementarity, opposite directions. Relative to `speed` and `force`.
fn law_violation(mu: f64, r: &[f64], u: &[f64], speed: f64, force: f64) -> f64 {
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (rt, ut) = (norm(&r[1..]), norm(&u[1..]));
    let along: f64 = r[1..].iter().zip(&u[1..]).map(|(a, b)| a * b).sum();
    let list = [
        -u[0] / speed,
        -r[0] / force,
        (u[0] * r[0]).abs() / (speed * force),
        (rt - mu * r[0]) / force,
        // maximum dissipation: u_T·r_T = −μ r_N |u_T|
        (along + mu * r[0] * ut).abs() / (speed * force),
    ];
    list.into_iter().fold(0.0, f64::max)
}

pub(super) fn violation(p: &Problem, s: &Solution) -> f64 {
    let (speed, force) = (crate::linalg::max_abs(&p.q), crate::linalg::max_abs(&s.r).max(1e-300));
    let mut row = 0;
    let mut worst = 0.0_f64;
    for c in &p.contacts {
        if let Law::Coulomb { mu } = c.law {
            worst =
                worst.max(law_violation(mu, &s.r[row..row + c.rows], &s.u[row..row + c.rows], speed, force));
        }
        row += c.rows;
    }
    worst
}

pub(super) fn delassus(p: &Problem) -> Mat {
    let Operator::Bodies { mass, h } = &p.operator else { panic!() };
    let m = h.rows();
    // diagonal masses of the generators
    Mat::from_fn(m, m, |i, j| {
        let mut s = 0.0;
        h.for_row(i, |k, v| s += v * h.get(j, k) / mass.get(k, k));
        s
    })
}

/// METH-CONE-PROBLEM: a block on the floor. Stick: r = −W⁻¹q. Slip: r_T = −μ r_N along the velocity. Closed form.
#[test]
fn meth_cone_problem_one_block_sticks_and_slips_as_by_hand() {
    let w = || Matrix::Dense(Mat::identity(3));
    let stick = solve(&Problem::from_w(w(), vec![-1.0, 0.3, 0.0], vec![Contact::spatial(0.5, 0)])).unwrap();
    assert_eq!(stick.status, Status::Solved);
    assert!((stick.r[0] - 1.0).abs() + (stick.r[1] + 0.3).abs() < 1e-12);
    let slip = solve(&Problem::from_w(w(), vec![-1.0, 0.6, 0.8], vec![Contact::spatial(0.5, 0)])).unwrap();
    assert!((slip.r[1] + 0.3).abs() + (slip.r[2] + 0.4).abs() + (slip.u[1] - 0.3).abs() < 1e-12);
}

/// METH-CONE-PROBLEM: other units of mass and velocity change neither the motion nor the scaled error.
#[test]
fn meth_cone_problem_answer_does_not_depend_on_units() {
    let p = problems::lattice(2, 0.6, 2);
    let mut q = p.clone();
    let Operator::Bodies { mass: Matrix::Sparse(m), .. } = &mut q.operator else { panic!() };
    let heavy = (0..m.rows()).flat_map(|i| m.row(i).0.iter().map(move |&j| (i, j)));
    let heavy: Vec<(usize, usize, f64)> = heavy.map(|(i, j)| (i, j, 1e6 * m.get(i, j))).collect();
    *m = Sparse::from_triplets(m.rows(), m.cols(), &heavy).unwrap();
    q.q.iter_mut().for_each(|v| *v *= 1e-3);
    let (a, b) = (solve(&p).unwrap(), solve(&q).unwrap());
    assert_eq!(a.status, Status::Solved);
    for (x, y) in a.u.iter().zip(&b.u) {
        assert!((x * 1e-3 - y).abs() < 1e-7 * 1e-3);
    }
}

/// METH-CONE-LOCAL: every solution that a dense scan of the sliding angle sees is found, and every answer obeys the law.
/// `SPECHT_CONE_LOCAL=1000000` runs the full count.
#[test]
fn meth_cone_local_finds_every_solution_of_a_dense_scan() {
    const ANGLES: usize = 1440;
    let n: usize = std::env::var("SPECHT_CONE_LOCAL").ok().and_then(|s| s.parse().ok()).unwrap_or(20_000);
    let table: Vec<(f64, f64)> = (0..=ANGLES)
        .map(|k| (std::f64::consts::TAU * k as f64 / ANGLES as f64).sin_cos())
        .map(|(s, c)| (c, s))
        .collect();
    let mut rng = Rng::new(7);
    let (mut several, mut none, mut found) = (0, 0, Vec::new());
    for _ in 0..n {
        // W = G Gᵀ + small diagonal, so that Painlevé contacts occur; one in four unsymmetric
        let g: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| rng.normal()));
        let mut w = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..3 {
                w[i][j] = (0..3).map(|k| g[i][k] * g[j][k]).sum::<f64>() + if i == j { 0.05 } else { 0.0 };
            }
        }
        if rng.uniform() < 0.25 {
            let a = 0.1 * rng.normal();
            w[0][1] += a;
            w[1][0] -= a;
        }
        let q: [f64; 3] = std::array::from_fn(|_| rng.normal());
        let mu = 1.5 * rng.uniform();
        solve_one_contact(&w, &q, mu, 3, &mut found);
        for f in &found {
            let u: [f64; 3] = std::array::from_fn(|i| q[i] + (0..3).map(|j| w[i][j] * f.r[j]).sum::<f64>());
            let big = 1.0 + f.r.iter().fold(0.0_f64, |m, x| m.max(x.abs())) * 10.0;
            let e = law_violation(mu, &f.r, &u, big, big);
            assert!(e < 1e-9, "wrong answer {f:?} for W {w:?} q {q:?} mu {mu}: {e}");
        }
        // independent: sign changes of the moment of u_T about t
        let at = |c: f64, s: f64| {
            let delta = w[0][0] + mu * (w[0][1] * c + w[0][2] * s);
            let rn = -q[0] / delta;
            let u1 = q[1] + rn * (w[1][0] + mu * (w[1][1] * c + w[1][2] * s));
            let u2 = q[2] + rn * (w[2][0] + mu * (w[2][1] * c + w[2][2] * s));
            (rn, delta, u1 * s - u2 * c, u1 * c + u2 * s)
        };
        let mut last = at(table[0].0, table[0].1);
        for &(c, s) in &table[1..] {
            let now = at(c, s);
            let inside = last.0 > 0.0 && now.0 > 0.0 && last.1 * now.1 > 0.0;
            if inside && last.2 * now.2 < 0.0 && last.3 < 0.0 && now.3 < 0.0 {
                let near = found.iter().any(|f| {
                    f.mode == Mode::Slip && f.r[0] > 0.0 && (f.r[1] * c + f.r[2] * s) > 0.9999 * mu * f.r[0]
                });
                assert!(near, "missed a slip near ({c}, {s}): W {w:?} q {q:?} mu {mu}, found {found:?}");
            }
            last = now;
        }
        several += usize::from(found.len() > 1);
        none += usize::from(found.is_empty());
    }
    // the sample contains the interesting cases (a symmetric definite W always has a solution)
    assert!(several > n / 1000, "{several} with several, {none} with none");
}

/// METH-CONE-NSGS: mechanisms of 1 to 9 contacts, all solved, the law checked in its own words.
#[test]
fn meth_cone_nsgs_mechanism_size_problems_are_all_solved() {
    let mut solver = Solver::new(Settings { warm: false, ..Default::default() });
    for seed in 0..600 {
        let mu = [0.1, 0.3, 0.6, 1.0][seed as usize % 4];
        let p = problems::random(1 + seed as usize % 9, mu, seed);
        let s = solver.solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved, "seed {seed}: {} {}", s.error_plain, s.error_scaled);
        assert!(violation(&p, &s) < 1e-6, "seed {seed}");
    }
}

/// METH-CONE-NEWTON: after a change of the velocities by 1e-4 a warm start needs Newton only, few steps.
#[test]
fn meth_cone_newton_restarts_warm() {
    let mut p = problems::tower(10, 0.5, 3);
    let mut solver = Solver::default();
    assert_eq!(solver.solve(&p).unwrap().status, Status::Solved);
    // the bodies' velocities change, not the rows one by one: q stays in the range of H
    let mut rng = Rng::new(1);
    let Operator::Bodies { h, .. } = &p.operator else { panic!() };
    let dv: Vec<f64> = (0..h.cols()).map(|_| 1e-5 * rng.normal()).collect();
    let mut dq = vec![0.0; h.rows()];
    h.mul_vec(&dv, &mut dq);
    crate::linalg::axpy(1.0, &dq, &mut p.q);
    let s = solver.solve(&p).unwrap();
    assert_eq!(s.status, Status::Solved);
    assert!(s.counts.ipm == 0 && s.counts.newton <= 4, "{:?}", s.counts);
}

/// METH-CONE-IPM: hyperstatic structures on which Gauss–Seidel stalls above 1e-5.
#[test]
fn meth_cone_ipm_solves_what_gauss_seidel_cannot() {
    for p in [problems::lattice(2, 0.6, 0), problems::wall(4, 4, 0.5, 1), problems::tower(10, 0.5, 1)] {
        let sweeps = Settings { method: Method::GaussSeidel, sweeps: 1000, ..Default::default() };
        let gs = Solver::new(sweeps).solve(&p).unwrap();
        assert_eq!(gs.status, Status::NotConverged);
        assert!(gs.error_scaled > 1e-6);
        let s =
            Solver::new(Settings { method: Method::InteriorPoint, ..Default::default() }).solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved);
        assert!(violation(&p, &s) < 1e-6);
    }
}

/// METH-CONE-SPLIT, METH-CONE-TAYLOR: lattices of 252 contacts whose central path folds back: points of negative determinant are passed.
#[test]
fn meth_cone_taylor_passes_folds() {
    let folded = [0, 1, 2, 22].map(|seed| solve(&problems::lattice(3, 0.6, seed)).unwrap());
    assert!(folded.iter().all(|s| s.status == Status::Solved));
    assert!(folded.iter().any(|s| s.counts.negative > 0));
}

/// METH-CONE-SPLIT: problems on which the path with `|u_T|` inside ran along its kink (64, 32, 64, 252 contacts).
#[test]
fn meth_cone_split_solves_what_a_path_with_a_kink_did_not() {
    let list = [
        problems::lattice(2, 0.6, 118),
        problems::random_structure(442),
        problems::random_structure(817),
        problems::random_structure(436),
        problems::random_structure(6489),
        problems::lattice(3, 0.9, 116),
    ];
    for (k, p) in list.iter().enumerate() {
        let s = solve(p).unwrap();
        assert_eq!(s.status, Status::Solved, "{k}: {:?}", s.counts);
        assert!(violation(p, &s) < 1e-6, "{k}");
        // whatever was solved before: the split paths alone do it, too
        assert!([1.0, 0.3, 3.0].iter().any(|&ratio| split_path(p, ratio) < 1e-8), "{k}");
    }
}

/// Largest error of the islands of `p` at the end of their split paths.
fn split_path(p: &Problem, ratio: f64) -> f64 {
    let clock = Clock::new(None, Stop::default());
    let mut prep = prep::Prep::default();
    prep.load(p).unwrap();
    let run = |island| taylor::run(island, ratio, 1.0, 400, 0.5e-8, &clock).error;
    prep.islands.iter_mut().map(run).fold(0.0, f64::max)
}

/// METH-CONE-DEGENERATE: 64 contacts, some of them between two modes at the end: the path alone stops at 1e-8 … 2e-8.
#[test]
fn meth_cone_degenerate_ends_are_settled() {
    for seed in [5686, 6042] {
        let p = problems::random_structure(seed);
        let s = solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved, "{seed}: {} {:?}", s.error(), s.counts);
        assert!(violation(&p, &s) < 1e-6, "{seed}");
    }
}

/// METH-CONE-LINALG: dense W, sparse W and body form give the same motion.
#[test]
fn meth_cone_linalg_forms_agree() {
    let p = problems::tower(4, 0.6, 2);
    let w = delassus(&p);
    let m = w.rows();
    let mut t = Vec::new();
    for i in 0..m {
        for j in 0..m {
            if w[(i, j)] != 0.0 {
                t.push((i, j, w[(i, j)]));
            }
        }
    }
    let sparse = Matrix::Sparse(Sparse::from_triplets(m, m, &t).unwrap());
    let forms = [
        p.clone(),
        Problem::from_w(Matrix::Dense(w), p.q.clone(), p.contacts.clone()),
        Problem::from_w(sparse, p.q.clone(), p.contacts.clone()),
    ];
    let answers: Vec<Solution> = forms.iter().map(|f| solve(f).unwrap()).collect();
    for s in &answers {
        assert_eq!(s.status, Status::Solved);
        for (a, b) in s.u.iter().zip(&answers[0].u) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}

/// Two structures side by side that do not touch.
fn side_by_side(n: usize) -> Problem {
    let parts: Vec<Problem> = (0..n).map(|i| problems::tower(5, 0.5, i as u64)).collect();
    let (mut t, mut m, mut q, mut contacts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for p in &parts {
        let Operator::Bodies { mass, h } = &p.operator else { panic!() };
        let (r0, c0) = (q.len(), m.len());
        for i in 0..h.rows() {
            h.for_row(i, |j, v| t.push((r0 + i, c0 + j, v)));
        }
        m.extend((0..mass.rows()).map(|i| mass.get(i, i)));
        q.extend_from_slice(&p.q);
        contacts.extend(p.contacts.iter().map(|c| Contact { key: c.key + 1000 * r0 as u64, ..*c }));
    }
    let h = Sparse::from_triplets(q.len(), m.len(), &t).unwrap();
    Problem {
        contacts,
        operator: Operator::Bodies { mass: Matrix::Sparse(Sparse::diagonal(&m)), h: Matrix::Sparse(h) },
        q,
        w: None,
    }
}

/// METH-CONE-CASCADE: islands are found, and one or many threads give the same bits.
#[test]
fn meth_cone_cascade_islands_have_the_same_bits_on_any_number_of_threads() {
    let p = side_by_side(6);
    let one = Solver::new(Settings { parallel: false, ..Default::default() }).solve(&p).unwrap();
    assert_eq!(one.islands, 6);
    assert_eq!(one.status, Status::Solved);
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let many = pool.install(|| solve(&p).unwrap());
        assert!(one.r.iter().zip(&many.r).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

/// METH-CONE-CASCADE: impulses are found again by key although the contacts changed their order.
#[test]
fn meth_cone_cascade_warm_start_follows_the_keys() {
    let p = problems::heap(12, 0.4, 1);
    let Operator::Bodies { mass, h } = &p.operator else { panic!() };
    let n = p.contacts.len();
    let mut t = Vec::new();
    let mut q = vec![0.0; 3 * n];
    for c in 0..n {
        for k in 0..3 {
            let to = 3 * (n - 1 - c) + k;
            q[to] = p.q[3 * c + k];
            h.for_row(3 * c + k, |j, v| t.push((to, j, v)));
        }
    }
    let turned = Problem {
        contacts: p.contacts.iter().rev().copied().collect(),
        operator: Operator::Bodies {
            mass: mass.clone(),
            h: Matrix::Sparse(Sparse::from_triplets(3 * n, h.cols(), &t).unwrap()),
        },
        q,
        w: None,
    };
    let mut solver = Solver::default();
    assert_eq!(solver.solve(&p).unwrap().status, Status::Solved);
    let s = solver.solve(&turned).unwrap();
    assert_eq!((s.status, s.counts.ipm, s.counts.sweeps), (Status::Solved, 0, 0));
}

/// METH-CONE-CASCADE: random structures of the spec; every one solved or reported with its error.
#[test]
fn meth_cone_cascade_random_structures() {
    let mut solver = Solver::new(Settings { warm: false, ..Default::default() });
    let mut failed = 0;
    for seed in 0..60 {
        let p = problems::random_structure(seed);
        let s = solver.solve(&p).unwrap();
        if s.status == Status::Solved {
            assert!(s.error_plain < 1e-8 && s.error_scaled < 1e-8);
            assert!(violation(&p, &s) < 1e-5, "seed {seed}");
        } else {
            assert!(s.error_scaled.is_finite());
            failed += 1;
        }
    }
    assert!(failed <= 1, "{failed} of 60 failed");
}

/// METH-CONE-EXIST: walls closing on a body have no solution, and the certificate proves it.
#[test]
fn meth_cone_exist_closing_walls_have_a_certificate() {
    let h = Mat::from_rows(&[
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, -1.0],
    ]);
    let mass = Matrix::Sparse(Sparse::diagonal(&[1.0; 3]));
    let w = vec![-1.0, 0.0, 0.0, -1.0, 0.0, 0.0];
    let contacts = vec![Contact::spatial(0.5, 0), Contact::spatial(0.5, 1)];
    let p = Problem::from_bodies(mass, Matrix::Dense(h.clone()), &[0.0; 3], w.clone(), contacts);
    let s = solve(&p).unwrap();
    assert_eq!(s.status, Status::NoSolution);
    let d = &s.certificate;
    let mut hd = vec![0.0; 3];
    h.add_mul_transpose(d, &mut hd);
    assert!(crate::linalg::max_abs(&hd) < 1e-12 && crate::linalg::dot(d, &w) < 0.0);
    assert!(d[0] >= 0.0 && d[3] >= 0.0);
    assert_eq!(criterion(&p).unwrap(), Existence::Fails);
    assert_eq!(criterion(&problems::tower(3, 0.5, 0)).unwrap(), Existence::Guaranteed);
}

/// METH-CONE-EXIST: the Painlevé contact of the spec (μ = 1.5, W_NT = 0.95, q = (0.2, 2, 0)): open, the slip
/// r = (0.471, −0.706, 0), and a stick that the spec does not list, r = (17.436, −18.564, 0), |r_T| ≤ 1.5 r_N.
#[test]
fn meth_cone_exist_painleve_contact_has_all_its_solutions() {
    let w = Mat::from_rows(&[[1.0, 0.95, 0.0], [0.95, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    let p = Problem::from_w(Matrix::Dense(w), vec![0.2, 2.0, 0.0], vec![Contact::spatial(1.5, 0)]);
    let all = solve_all(&p, None, Stop::default()).unwrap().unwrap();
    let has =
        |r: [f64; 2]| all.solutions.iter().any(|s| (s.r[0] - r[0]).abs() + (s.r[1] - r[1]).abs() < 2e-3);
    assert!(has([0.0, 0.0]) && has([0.471, -0.706]) && has([17.436, -18.564]));
    assert_eq!(all.solutions.len(), 3);
    assert_eq!(solve(&p).unwrap().painleve, vec![0]);
}

/// METH-CONE-EXIST: enumeration contains the answer of the solver, and only solutions, for two spatial contacts.
#[test]
fn meth_cone_exist_enumeration_contains_the_solver_s_answer() {
    for seed in 0..30 {
        let p = problems::random(2, 0.7, seed);
        let s = solve(&p).unwrap();
        let all = solve_all(&p, None, Stop::default()).unwrap().unwrap();
        assert!(
            all.solutions.iter().any(|f| f.u.iter().zip(&s.u).all(|(a, b)| (a - b).abs() < 1e-6)),
            "seed {seed}"
        );
    }
}

/// Bad input is an error that names the entry, never a panic.
#[test]
fn meth_cone_problem_misuse_is_refused_by_name() {
    let w = || Matrix::Dense(Mat::identity(3));
    let c = |mu| vec![Contact::spatial(mu, 0)];
    let e = solve(&Problem::from_w(w(), vec![0.0, f64::NAN, 0.0], c(0.5))).unwrap_err();
    assert!(e.to_string().contains("q[1]"));
    let e = solve(&Problem::from_w(w(), vec![0.0; 3], c(-1.0))).unwrap_err();
    assert!(e.to_string().contains("contact 0"));
    let e = solve(&Problem::from_w(w(), vec![0.0; 2], c(0.5))).unwrap_err();
    assert!(e.to_string().contains("expected 3"));
    assert_eq!(
        solve(&Problem::from_w(Matrix::Dense(Mat::zeros(0, 0)), vec![], vec![])).unwrap().status,
        Status::Solved
    );
}

/// The laws of a planar or spatial Coulomb contact, each in its own units: velocities against the largest of q, impulses against
/// what stops that velocity at the contact. Nothing is divided by μ.
fn own_units(p: &Problem, w: &Mat, s: &Solution) -> f64 {
    let speed = crate::linalg::max_abs(&p.q);
    let norm = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>().sqrt();
    let (mut row, mut worst) = (0, 0.0_f64);
    for c in &p.contacts {
        let Law::Coulomb { mu } = c.law else { panic!() };
        let (r, u) = (&s.r[row..row + c.rows], &s.u[row..row + c.rows]);
        let mean = (row..row + c.rows).map(|k| w[(k, k)]).sum::<f64>() / c.rows as f64;
        let slip = norm(&u[1..]);
        let against = if slip > 0.0 {
            let parts = (1..c.rows).map(|k| r[k] + mu * r[0] * u[k] / slip);
            parts.map(|v| v * v).sum::<f64>().sqrt() * mean
        } else {
            0.0
        };
        for v in [
            -u[0],
            -r[0] * mean,
            u[0].min(r[0] * mean),
            (norm(&r[1..]) - mu * r[0]) * mean,
            // slip, and a force that is not opposite to it at the bound
            slip.min(against),
        ] {
            worst = worst.max(v / speed);
        }
        row += c.rows;
    }
    worst
}

/// A violated law is never small because μ is large: r = 0 while bodies approach was "solved" from μ = 1e8 on.
#[test]
fn meth_cone_problem_the_error_does_not_shrink_with_mu() {
    for mu in [0.3, 3.0, 1e2, 1e4, 1e8, 1e12] {
        for (r, u) in [
            ([0.0; 3], [-1.0, 0.4, -0.2]),
            ([0.0; 3], [-1.0, 0.0, 0.0]),
            ([0.5, 0.0, 0.0], [0.0, 0.7, 0.0]),
            ([0.5, 0.1, 0.0], [0.8, 0.0, 0.0]),
        ] {
            let shape = super::cones::Shape { d: 3, mu, bound: 0.0 };
            let f = super::cones::Kind::Soc.natural(&shape, r, u, 1.0);
            let e = f.iter().map(|v| v * v).sum::<f64>().sqrt();
            let least = if mu * r[0] < 0.7 && r[0] > 0.0 { mu * r[0] } else { 0.3 };
            assert!(e > 0.9 * least.min(0.3), "mu = {mu}, r = {r:?}, u = {u:?}: {e}");
        }
    }
}

/// Towers, walls, lattices and random structures up to μ = 1e6, checked by the laws in their own units.
#[test]
fn meth_cone_cascade_steep_cones_are_solved() {
    let mut solved = 0;
    let mut total = 0;
    for mu in [50.0, 1e3, 3e4, 1e6] {
        for seed in 0..3 {
            for p in [
                problems::tower(6, mu, seed),
                problems::lattice(2, mu, seed),
                problems::random(4, mu, seed),
                problems::wall(3, 4, mu, seed),
            ] {
                let s = solve(&p).unwrap();
                total += 1;
                if s.status == Status::Solved {
                    solved += 1;
                    let e = own_units(&p, &delassus(&p), &s);
                    assert!(e < 1e-6, "mu {mu}, seed {seed}: {e}");
                }
            }
        }
    }
    assert!(solved + 2 >= total, "{solved} of {total}");
}

/// Numbers whose squares overflow are refused by name; an answer is never "solved" without numbers.
#[test]
fn meth_cone_problem_overflow_is_refused() {
    let c = |mu| vec![Contact::planar(mu, 0)];
    let w = |x: f64| Matrix::Dense(Mat::from_rows(&[[x, 0.0], [0.0, x]]));
    for (p, name) in [
        (Problem::from_w(w(1.0), vec![-1e200, 1e180], c(0.5)), "q"),
        (Problem::from_w(w(1e160), vec![-1.0, 1.0], c(0.5)), "W"),
        (Problem::from_w(w(1.0), vec![-1.0, 1.0], c(1e300)), "mu"),
    ] {
        assert!(solve(&p).unwrap_err().to_string().starts_with(name));
    }
    for size in [1e-90, 1e-30, 1e30, 1e90] {
        let s = solve(&Problem::from_w(w(2.0), vec![-size, 0.3 * size], c(0.5))).unwrap();
        assert_eq!(s.status, Status::Solved, "{size}");
        assert!(
            (s.r[0] / size - 0.5).abs() < 1e-9 && (s.r[1] / size + 0.15).abs() < 1e-9,
            "{size}: {:?}",
            s.r
        );
    }
}

/// Two blocks of 1 kg and of 1e-12 kg, not coupled: the light one has its own scale, and every solution of one is combined with
/// every solution of the other. Sticking needs |q_T| ≤ μ|q_N| by hand.
#[test]
fn meth_cone_exist_enumeration_measures_each_contact_in_its_own_units() {
    for light in [1.0, 1e-6, 1e-12] {
        let d = [1.0, 1.0, 1.0 / light, 1.0 / light];
        let w = Mat::from_fn(4, 4, |i, j| if i == j { d[i] } else { 0.0 });
        let contacts = vec![Contact::planar(0.5, 0), Contact::planar(0.5, 1)];
        let p = Problem::from_w(Matrix::Dense(w), vec![-1.0, 0.2, -1.0, 0.8], contacts);
        let all = solve_all(&p, None, Stop::default()).unwrap().unwrap();
        assert!(all.complete && all.regular);
        assert_eq!(all.solutions.len(), 1, "{light}: {:?}", all.solutions);
        let r = &all.solutions[0].r;
        let expected = [1.0, -0.2, light, -0.5 * light];
        assert!(r.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9 * b.abs()), "{light}: {r:?}");
    }
    // a limit of no time is kept and said
    let p = problems::random(3, 0.7, 0);
    assert!(!solve_all(&p, Some(0.0), Stop::default()).unwrap().unwrap().complete);
}

/// METH-CONE-TAYLOR: lattices whose paths fold, pushed a little otherwise in every step. From the stored point of their path they need less
/// than half of the factorisations of cold runs, and the answers obey the laws.
#[test]
fn meth_cone_taylor_folding_lattices_stay_warm_from_a_stored_point() {
    let (mut warm, mut cold) = (0, 0);
    for seed in [1000, 1002, 1023] {
        let mut p = problems::lattice(3, 0.6, seed);
        let mut solver = Solver::new(Settings { parallel: false, ..Default::default() });
        assert_eq!(solver.solve(&p).unwrap().stage, Stage::Split);
        let mut rng = Rng::new(3);
        for _ in 0..3 {
            let Operator::Bodies { h, .. } = &p.operator else { panic!() };
            let dv: Vec<f64> = (0..h.cols()).map(|_| 1e-5 * rng.normal()).collect();
            let mut dq = vec![0.0; h.rows()];
            h.mul_vec(&dv, &mut dq);
            crate::linalg::axpy(1.0, &dq, &mut p.q);
            let s = solver.solve(&p).unwrap();
            assert_eq!(s.status, Status::Solved, "{seed}: {}", s.error());
            assert!(violation(&p, &s) < 1e-6);
            warm += s.counts.ipm + s.counts.newton;
            let alone = Settings { warm: false, ..solver.settings };
            let s = Solver::new(alone).solve(&p).unwrap();
            cold += s.counts.ipm + s.counts.newton;
        }
    }
    assert!(2 * warm < cold, "{warm} {cold}");
}
