//! Closed forms and published cases; the comparison of all methods on random problems is in `random_tests`.

use super::lp::{LpOutcome, Program, Sense, Simplex};
use super::*;
use crate::linalg::tests::Numbers;

fn count(a: &Mat, b: &[f64]) -> usize {
    enumerate(Lcp::new(a, b), &EnumerateSettings::default()).pieces.len()
}

/// PG-5.3: `g̈ = a λ + b` has 1, 1, 2, 0 solutions in the four sign cases.
#[test]
fn one_dimensional_cases_have_the_known_number_of_solutions() {
    for (a, b, n) in [(2.0, 1.0, 1), (2.0, -1.0, 1), (-2.0, 1.0, 2), (-2.0, -1.0, 0)] {
        let (m, q) = (Mat::from_rows(&[[a]]), [b]);
        assert_eq!(count(&m, &q), n);
        let status = Solver::default().solve(Lcp::new(&m, &q));
        assert_eq!(status.is_solved(), n > 0, "{a} {b} {status:?}");
    }
}

/// Murty's example: 2ⁿ − 1 solutions for A = −E … here every subset: w = b − z has 2ⁿ solutions for b > 0.
#[test]
fn minus_identity_has_all_subsets_as_solutions() {
    for n in 1..=10 {
        let a = Mat::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
        assert_eq!(count(&a, &vec![1.0; n]), 1 << n);
        assert_eq!(count(&a, &vec![-1.0; n]), 0);
    }
}

/// Lower triangular P-matrix on which Lemke and Murty take exponentially many steps in the worst case; the answer is known.
#[test]
fn murty_triangular_problem_is_solved() {
    for n in [2, 5, 8, 12] {
        let a = Mat::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => 2.0,
        });
        let b = vec![-1.0; n];
        let mut solver = Solver::default();
        let status = solver.solve(Lcp::new(&a, &b));
        assert!(status.is_solved(), "{status:?}");
        assert!((solver.z[0] - 1.0).abs() < 1e-14 && solver.z[1..].iter().all(|z| z.abs() < 1e-14));
    }
}

/// PG-5.4-PANTOGRAPH: m1 = m2 = 1, g = 10, r = 1, φ = 0: `λ₁ + 2 λ₂ = M₂ g` and `M₁ r̈ = −μ₁ λ₁ − 2 μ₂ λ₂`
/// with μ = (0.2, 0.4) gives r̈ ∈ [−2.4, −1.2]; with equal μ the acceleration is unique.
#[test]
fn pg_5_4_pantograph_acceleration_interval() {
    let (m1, m2, gravity) = (5.0, 3.0, 10.0); // M₁ = m1 + 4 m2, M₂ = m1 + 2 m2
    // φ̈ = (λ₁ + 2 λ₂ − M₂ g)/M₁, g̈_i = i φ̈ at φ = 0, r = 1
    let a = Mat::from_rows(&[[1.0 / m1, 2.0 / m1], [2.0 / m1, 4.0 / m1]]);
    let b = [-m2 * gravity / m1, -2.0 * m2 * gravity / m1];
    let p = Lcp::new(&a, &b);
    let observe = |mu1: f64, mu2: f64| [-mu1 / m1, -2.0 * mu2 / m1];

    let rows = observe(0.2, 0.4);
    let settings = EnumerateSettings { observe: Some(Mat::from_rows(&[rows])), ..Default::default() };
    let mut set = enumerate(p, &settings);
    assert!(set.complete);
    assert_eq!(set.pieces.len(), 1);
    let Piece::Family { family, .. } = &mut set.pieces[0] else { panic!("a continuum was expected") };
    let range = family.interval(&rows, 0.0);
    assert!((range.lo + 2.4).abs() < 1e-12 && (range.hi + 1.2).abs() < 1e-12, "{range:?}");

    let rows = observe(0.3, 0.3);
    let settings = EnumerateSettings { observe: Some(Mat::from_rows(&[rows])), ..Default::default() };
    let set = enumerate(p, &settings);
    assert_eq!(set.pieces.len(), 1);
    assert!(matches!(set.pieces[0], Piece::Point { .. }));
    let z = set.pieces[0].z();
    assert!((rows[0] * z[0] + rows[1] * z[1] + 0.3 * m2 * gravity / m1).abs() < 1e-12);
}

/// PG-6-LCP: block of mass m pushed with force f on a floor, reduced form: sticks up to μ m g, then slides.
#[test]
fn pg_6_lcp_pushed_block_sticks_or_slides() {
    let (m, mu, weight) = (2.0, 0.5, 20.0);
    for (force, lambda_t, accel) in
        [(6.0, -6.0, 0.0), (10.0, -10.0, 0.0), (14.0, -10.0, 2.0), (-14.0, 10.0, -2.0)]
    {
        // unknowns λ_N, λ_R, γ_L; λ_T = λ_R − μ λ_N
        let a = Mat::from_rows(&[[1.0 / m, 0.0, 0.0], [-mu / m, 1.0 / m, 1.0], [2.0 * mu, -1.0, 0.0]]);
        let b = [-weight / m, force / m, 0.0];
        let mut solver = Solver::default();
        assert!(solver.solve(Lcp::new(&a, &b)).is_solved());
        let (z, w) = (&solver.z, &solver.w);
        assert!((z[0] - weight).abs() < 1e-13);
        assert!((z[1] - mu * z[0] - lambda_t).abs() < 1e-13);
        assert!((w[1] - z[2] - accel).abs() < 1e-13);
    }
}

#[test]
fn bad_input_is_reported() {
    let a = Mat::identity(2);
    assert_eq!(Solver::default().solve(Lcp::new(&a, &[f64::NAN, 1.0])), Status::BadInput);
    assert_eq!(Solver::default().solve(Lcp::new(&a, &[1.0])), Status::BadInput);
    assert!(!enumerate(Lcp::new(&a, &[1.0]), &EnumerateSettings::default()).complete);
    assert!(Solver::default().solve(Lcp::new(&Mat::zeros(0, 0), &[])).is_solved());
}

#[test]
fn residual_does_not_depend_on_units() {
    let a = Mat::from_rows(&[[2.0, -1.0], [0.5, 3.0]]);
    let (b, z) = ([-1.0, 0.3], [0.6, 0.01]);
    let plain = Lcp::new(&a, &b).residual(&z);
    // masses in grams and lengths in kilometres: w₁·1e6, z₂·1e-9
    let scaled = Mat::from_fn(2, 2, |i, j| a[(i, j)] * [1e6, 1.0][i] / [1.0, 1e-9][j]);
    let other = Lcp::new(&scaled, &[b[0] * 1e6, b[1]]).residual(&[z[0], z[1] * 1e-9]);
    assert!(plain > 1e-3 && (plain - other).abs() < 1e-13, "{plain} {other}");
}

#[test]
fn large_definite_problems_agree_between_methods() {
    let mut rng = Numbers(17);
    for n in [15, 40, 90] {
        let x = rng.mat(n, n);
        let mut a = x.mul(&x.transpose());
        (0..n).for_each(|i| a[(i, i)] += 0.1);
        let b: Vec<f64> = (0..n).map(|_| rng.next()).collect();
        let p = Lcp::new(&a, &b);
        let (mut principal, mut lemke) = (PrincipalWorkspace::default(), LemkeWorkspace::default());
        let s = principal.solve(p, true);
        let t = lemke.solve(p);
        let small = |s: Status| matches!(s, Status::Solved { residual } if residual < 1e-13);
        assert!(small(s) && small(t), "{s:?} {t:?}");
        let far = principal.z.iter().zip(&lemke.z).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
        assert!(far < 1e-10, "{far}");
        assert!(Lcp::new(&a, &b).residual(&principal.z) < 1e-13);
    }
}

#[test]
fn linear_programs_with_known_answers() {
    // maximise 3x + 5y: x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18: optimum 36 at (2, 6)
    let mut p = Program::new(2);
    p.row(&[1.0, 0.0], Sense::AtMost, 4.0).row(&[0.0, 2.0], Sense::AtMost, 12.0).row(
        &[3.0, 2.0],
        Sense::AtMost,
        18.0,
    );
    let (outcome, x) = p.maximize(&[3.0, 5.0]);
    assert!(matches!(outcome, LpOutcome::Optimal { value } if (value - 36.0).abs() < 1e-12));
    assert!((x[0] - 2.0).abs() < 1e-12 && (x[1] - 6.0).abs() < 1e-12);
    p.row(&[1.0, 1.0], Sense::AtLeast, 9.0);
    assert_eq!(p.maximize(&[1.0, 0.0]).0, LpOutcome::Infeasible);

    // free variable: maximise −x with x ≥ −7
    let mut p = Program::new(1);
    p.set_free(0).row(&[1.0], Sense::AtLeast, -7.0);
    let (outcome, x) = p.maximize(&[-1.0]);
    assert!(
        matches!(outcome, LpOutcome::Optimal { value } if (value - 7.0).abs() < 1e-12)
            && (x[0] + 7.0).abs() < 1e-12
    );
    assert_eq!(p.maximize(&[1.0]).0, LpOutcome::Unbounded);

    // Beale's cycling example: optimum 1/20
    let mut p = Program::new(4);
    p.row(&[0.25, -60.0, -0.04, 9.0], Sense::AtMost, 0.0)
        .row(&[0.5, -90.0, -0.02, 3.0], Sense::AtMost, 0.0)
        .row(&[0.0, 0.0, 1.0, 0.0], Sense::AtMost, 1.0);
    let (outcome, _) = p.maximize(&[0.75, -150.0, 0.02, -6.0]);
    assert!(matches!(outcome, LpOutcome::Optimal { value } if (value - 0.05).abs() < 1e-12), "{outcome:?}");
}

#[test]
fn linear_program_certificates_prove_the_outcome() {
    let mut rng = Numbers(23);
    let mut seen = [0; 3];
    for round in 0..3000 {
        let (m, n) = (1 + round % 5, 2 + round % 7);
        let mut a = Mat::from_fn(m, n, |_, _| (2.5 * rng.next()).round());
        if m > 2 && round.is_multiple_of(3) {
            let (first, last) = a.row_pair(0, m - 1);
            last.copy_from_slice(first); // dependent rows
        }
        let b: Vec<f64> = if round.is_multiple_of(4) {
            (0..m).map(|_| (3.0 * rng.next()).round()).collect()
        } else {
            let x: Vec<f64> = (0..n).map(|_| rng.next().max(0.0)).collect();
            let mut b = vec![0.0; m];
            a.mul_vec(&x, &mut b);
            b
        };
        let c: Vec<f64> = (0..n).map(|_| rng.next() - 0.6).collect();
        let mut s = Simplex::default();
        let outcome = s.maximize(&a, &b, &c);
        let image = |x: &[f64]| {
            let mut y = vec![0.0; m];
            a.mul_vec(x, &mut y);
            y
        };
        let mut price = vec![0.0; n];
        a.add_mul_transpose(&s.y, &mut price);
        let bound: f64 = b.iter().zip(&s.y).map(|(b, y)| b * y).sum();
        match outcome {
            LpOutcome::Optimal { value } => {
                seen[0] += 1;
                assert!(image(&s.x).iter().zip(&b).all(|(p, q)| (p - q).abs() < 1e-9));
                assert!(price.iter().zip(&c).all(|(p, c)| *p >= c - 1e-8), "{price:?} {c:?}");
                assert!((bound - value).abs() < 1e-8);
            }
            LpOutcome::Unbounded => {
                seen[1] += 1;
                assert!(image(&s.ray).iter().all(|p| p.abs() < 1e-9) && s.ray.iter().all(|x| *x >= 0.0));
                assert!(c.iter().zip(&s.ray).map(|(c, r)| c * r).sum::<f64>() > 1e-10);
            }
            LpOutcome::Infeasible => {
                seen[2] += 1;
                assert!(price.iter().all(|p| *p >= -1e-9), "{price:?}");
                assert!(bound < -1e-9, "{bound}");
            }
            LpOutcome::IterationLimit => panic!("no end in round {round}"),
        }
    }
    assert!(seen.iter().all(|&k| k > 50), "{seen:?}");
}

#[test]
fn repeated_solves_reuse_their_storage() {
    let mut rng = Numbers(5);
    let x = rng.mat(12, 12);
    let a = x.mul(&x.transpose());
    let mut lemke = LemkeWorkspace::default();
    let b: Vec<f64> = (0..12).map(|_| rng.next()).collect();
    assert!(lemke.solve(Lcp::new(&a, &b)).is_solved());
    let (z, pivots) = (lemke.z.clone(), lemke.pivots);
    let address = lemke.z.as_ptr();
    let small = [-1.0];
    assert!(lemke.solve(Lcp::new(&Mat::identity(1), &small)).is_solved());
    assert!(lemke.solve(Lcp::new(&a, &b)).is_solved());
    assert_eq!((&z, pivots, address), (&lemke.z, lemke.pivots, lemke.z.as_ptr()));
}

#[test]
fn an_enumeration_ends_when_somebody_asks() {
    static ASKED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
    let a = Mat::from_fn(3, 3, |i, j| if i == j { -2.0 } else { 0.0 });
    let settings = EnumerateSettings { stop: crate::stop::Stop(Some(&ASKED)), ..Default::default() };
    let all = enumerate(Lcp::new(&a, &[1.0; 3]), &settings);
    assert!(!all.complete && all.pieces.is_empty());
    assert_eq!(enumerate(Lcp::new(&a, &[1.0; 3]), &EnumerateSettings::default()).pieces.len(), 8);
}

/// Full random matrices with one dominating entry of b: most of Lemke's paths begin in the same row and end on a ray at once. Where the
/// enumeration knows a solution, other rows and Newton find nearly all; before, four in ten were missed.
#[test]
fn a_ray_is_followed_by_other_paths_and_newton() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let (mut exist, mut found, mut lemke) = (0, 0, 0);
    for round in 0..600 {
        let n = 4 + round % 5;
        let a = Mat::from_fn(n, n, |_, _| draw());
        let b: Vec<f64> = (0..n).map(|i| if i == 0 { -5.0 } else { draw() }).collect();
        let p = Lcp::new(&a, &b);
        if enumerate(p, &EnumerateSettings::default()).pieces.is_empty() {
            continue;
        }
        exist += 1;
        let mut solver = Solver::default();
        if solver.solve(p).is_solved() {
            found += 1;
            assert!(p.residual(&solver.z) < 1e-9, "{a:?} {b:?}");
        }
        lemke += usize::from(LemkeWorkspace::default().solve(p).is_solved());
    }
    assert!(exist > 100 && 10 * found > 9 * exist, "{found} of {exist}, Lemke alone {lemke}");
    assert!(lemke < found);
}
