//! PG-6-LCP: 100 000 random problems, every method against enumeration: no wrong answer, no unreported failure.

use super::*;
use crate::linalg::FullPivot;
use crate::linalg::tests::Numbers;

/// What theory promises for a kind of matrix.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Promise {
    /// P-matrix: exactly one solution.
    Unique,
    /// Copositive-plus: Lemke decides.
    Decided,
    /// Nothing.
    Nothing,
}

fn gram(rng: &mut Numbers, n: usize, rank: usize) -> Mat {
    let x = rng.mat(n, rank);
    if rank == 0 { Mat::zeros(n, n) } else { x.mul(&x.transpose()) }
}

/// Contact problem of `nn` contacts, all of them able to stick, in the book's form (6.35) or in the reduced form.
fn friction(rng: &mut Numbers, f: usize, nn: usize, book: bool) -> (Mat, Vec<f64>) {
    let x = rng.mat(f, f);
    let mut inv_mass = x.mul(&x.transpose());
    (0..f).for_each(|i| inv_mass[(i, i)] += 0.2);
    let (wn, wh) = (rng.mat(f, nn), rng.mat(f, nn));
    let mu: Vec<f64> = (0..nn).map(|_| 0.7 * (1.0 + rng.next())).collect();
    let h: Vec<f64> = (0..f).map(|_| 3.0 * rng.next()).collect();
    let all = Mat::from_fn(f, 2 * nn, |i, j| if j < nn { wn[(i, j)] } else { wh[(i, j - nn)] });
    let g = all.transpose().mul(&inv_mass).mul(&all);
    let mut free = vec![0.0; 2 * nn];
    let mut accel = vec![0.0; f];
    inv_mass.mul_vec(&h, &mut accel);
    all.add_mul_transpose(&accel, &mut free);
    if book {
        // λ = (λ_N, λ⁺, λ⁻), z = (z⁻, z⁺)
        let n = 5 * nn;
        let block = |k: usize| match k / nn {
            0 => (k, 1.0),
            1 => (k, 1.0),
            _ => (k - nn, -1.0),
        };
        let mut a = Mat::zeros(n, n);
        let mut b = vec![0.0; n];
        for i in 0..3 * nn {
            let (gi, si) = block(i);
            b[i] = si * free[gi];
            for j in 0..3 * nn {
                let (gj, sj) = block(j);
                a[(i, j)] = si * sj * g[(gi, gj)];
            }
        }
        for k in 0..nn {
            a[(nn + k, 3 * nn + k)] = 1.0;
            a[(2 * nn + k, 4 * nn + k)] = 1.0;
            a[(3 * nn + k, k)] = mu[k];
            a[(4 * nn + k, k)] = mu[k];
            a[(3 * nn + k, nn + k)] = -1.0;
            a[(4 * nn + k, 2 * nn + k)] = -1.0;
        }
        (a, b)
    } else {
        let n = 3 * nn;
        let a = Mat::from_fn(n, n, |i, j| match (i / nn, j / nn) {
            (0 | 1, 0) => g[(i, j)] - mu[j] * g[(i, nn + j)],
            (0 | 1, 1) => g[(i, j)],
            (1, 2) if i - nn == j - 2 * nn => 1.0,
            (2, 0) if i - 2 * nn == j => 2.0 * mu[j],
            (2, 1) if i - 2 * nn == j - nn => -1.0,
            _ => 0.0,
        });
        let b = (0..n).map(|i| if i < 2 * nn { free[i] } else { 0.0 }).collect();
        (a, b)
    }
}

fn problem(rng: &mut Numbers, round: usize) -> (Mat, Vec<f64>, Promise) {
    let n = 2 + (round / 10) % 5;
    let mut b: Vec<f64> = (0..n).map(|_| rng.next()).collect();
    let (a, promise) = match round % 10 {
        0 | 1 => {
            let mut a = gram(rng, n, n);
            (0..n).for_each(|i| a[(i, i)] += 0.05);
            (a, Promise::Unique)
        }
        2 => (gram(rng, n, n - 1), Promise::Decided),
        3 => {
            // b in the range of a rank-deficient A: solutions exist, z is not unique
            let x = rng.mat(n, 1 + n / 2);
            let y: Vec<f64> = (0..x.cols()).map(|_| rng.next()).collect();
            x.mul_vec(&y, &mut b);
            (x.mul(&x.transpose()), Promise::Decided)
        }
        4 => {
            // definite symmetric part, large skew part
            let (mut a, x) = (gram(rng, n, n), rng.mat(n, n));
            for i in 0..n {
                for j in 0..n {
                    a[(i, j)] += 3.0 * (x[(i, j)] - x[(j, i)]);
                }
                a[(i, i)] += 0.05;
            }
            (a, Promise::Unique)
        }
        5 => {
            // P, usually not definite: positive triangular diagonal
            let x = rng.mat(n, n);
            let entry = |i: usize, j: usize| if i == j { 0.2 + x[(i, i)].abs() } else { 4.0 * x[(i, j)] };
            (Mat::from_fn(n, n, |i, j| if j <= i { entry(i, j) } else { 0.0 }), Promise::Unique)
        }
        6 => (rng.mat(n, n), Promise::Nothing),
        7 => {
            // small integers: ties and singular cones everywhere
            b.iter_mut().for_each(|b| *b = (2.0 * *b).round());
            (Mat::from_fn(n, n, |_, _| (1.5 * rng.next()).round()), Promise::Nothing)
        }
        8 => {
            let (a, b) = friction(rng, 3, 1 + round / 10 % 2, false);
            return (a, b, Promise::Nothing);
        }
        _ if round % 100 == 9 => {
            let (a, b) = friction(rng, 2, 1, true);
            return (a, b, Promise::Nothing);
        }
        _ => {
            let (a, b) = friction(rng, 1 + round / 10 % 2, 2, false); // dependent constraints
            return (a, b, Promise::Nothing);
        }
    };
    if round.is_multiple_of(7) {
        b[round % n] = 0.0;
    }
    (a, b, promise)
}

/// Whether `z` is a member of one of the pieces.
fn is_listed(set: &Enumeration, z: &[f64], w: &[f64]) -> bool {
    let size = z.iter().chain(w).fold(1e-12_f64, |m, x| m.max(x.abs()));
    set.pieces.iter().any(|piece| match piece {
        Piece::Point { z: y, .. } => y.iter().zip(z).all(|(x, y)| (x - y).abs() < 1e-6 * size),
        Piece::Family { family, .. } => {
            let zero = |v: Var, x: f64| x < 1e-6 * size || family.open.contains(&v);
            (0..z.len()).all(|i| zero(Var::Z(i), z[i]) && zero(Var::W(i), w[i]))
        }
    })
}

/// All solutions of nonsingular bases by another factorisation, without any pruning.
fn brute_force(p: Lcp<'_>) -> Vec<Vec<f64>> {
    let n = p.dim();
    let mut all = Vec::new();
    for mask in 0..1usize << n {
        let set: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        let sub = Mat::from_fn(set.len(), set.len(), |i, j| p.a[(set[i], set[j])]);
        let mut pivot = FullPivot::default();
        if pivot.factor(&sub) < set.len() || pivot.smallest_pivot() < 1e-6 {
            continue;
        }
        let rhs: Vec<f64> = set.iter().map(|&i| -p.b[i]).collect();
        let (mut z, mut x) = (vec![0.0; n], vec![0.0; set.len()]);
        pivot.solve(&rhs, &[], &mut x);
        set.iter().zip(x).for_each(|(&i, x)| z[i] = x);
        if p.residual(&z) < 1e-11 {
            all.push(z);
        }
    }
    all
}

#[test]
fn pg_6_lcp_hundred_thousand_random_problems_have_no_wrong_answer() {
    let mut rng = Numbers(2026);
    let (mut solver, mut lemke) = (Solver::default(), LemkeWorkspace::default());
    let (mut several, mut families, mut none, mut missed, mut worst) = (0, 0, 0, 0, 0.0_f64);
    for round in 0..100_000 {
        let (a, b, promise) = problem(&mut rng, round);
        let p = Lcp::new(&a, &b);
        let set = enumerate(p, &EnumerateSettings::default());
        assert!(set.complete);
        let exists = !set.pieces.is_empty();
        let case = || format!("round {round} {promise:?}\n{a:?}\n{b:?}\n{:?}", set.pieces);

        // every listed solution is one
        for piece in &set.pieces {
            assert!(p.residual(piece.z()) < 1e-9, "listed but wrong: {}", case());
        }
        // nothing is left out
        if round.is_multiple_of(5) {
            for z in brute_force(p) {
                let mut w = vec![0.0; z.len()];
                p.slack(&z, &mut w);
                assert!(is_listed(&set, &z, &w), "left out {z:?}: {}", case());
            }
        }

        // no method claims a wrong solution, and what theory promises is kept
        let status = solver.solve(p);
        let path = lemke.solve(p);
        for (status, z, w) in [(status, &solver.z, &solver.w), (path, &lemke.z, &lemke.w)] {
            if let Status::Solved { residual } = status {
                worst = worst.max(residual);
                assert!(residual < 1e-9 && p.residual(z) < 1e-9, "{}", case());
                assert!(
                    exists && is_listed(&set, z, w),
                    "claimed {z:?} {status:?} {:?}: {}",
                    solver.method,
                    case()
                );
            } else {
                assert!(matches!(status, Status::Ray), "{status:?} {}", case());
                assert!(promise == Promise::Nothing || !exists, "{status:?} {}", case());
            }
        }
        assert!(promise != Promise::Unique || set.pieces.len() == 1, "{}", case());
        several += usize::from(set.pieces.len() > 1);
        families += usize::from(set.pieces.iter().any(|p| matches!(p, Piece::Family { .. })));
        none += usize::from(!exists);
        missed += usize::from(exists && !status.is_solved());
    }
    println!(
        "several {several}, families {families}, none {none}, missed {missed}, worst residual {worst:e}"
    );
    assert!(several > 1000 && families > 1000 && none > 1000);
    assert!(worst < 1e-12);
}

/// The modes open, stick, slide+ and slide− of each contact of the reduced form.
fn contact_modes(nn: usize) -> Vec<Vec<Vec<Var>>> {
    let modes = |i: usize| {
        let (gap, lambda) = (Var::W(i), Var::Z(i));
        let (right, lambda_r) = (Var::W(nn + i), Var::Z(nn + i));
        let (lambda_l, left) = (Var::W(2 * nn + i), Var::Z(2 * nn + i));
        vec![
            vec![lambda, lambda_r, lambda_l],
            vec![gap, right, left],
            vec![gap, lambda_r, left],
            vec![gap, right, lambda_l],
        ]
    };
    (0..nn).map(modes).collect()
}

/// PG-6-LCP (b): all modes of up to twelve contacts that may stick (4¹² = 16.8 million patterns).
#[test]
fn pg_6_lcp_enumeration_over_contact_modes_contains_the_answer_of_lemke() {
    let mut rng = Numbers(4);
    for nn in [1, 2, 3, 4, 6, 8, 10, 12] {
        let (a, b) = friction(&mut rng, 3 * nn, nn, false);
        let p = Lcp::new(&a, &b);
        // compare by λ_N and λ_R
        let observe = Mat::from_fn(2 * nn, 3 * nn, |i, j| f64::from(u8::from(i == j)));
        let settings = EnumerateSettings { observe: Some(observe), ..Default::default() };
        let set = enumerate_modes(p, &contact_modes(nn), &settings);
        assert!(set.complete && set.nodes < 100_000, "{} nodes", set.nodes);
        let mut lemke = LemkeWorkspace::default();
        assert!(lemke.solve(p).is_solved());
        let same = |z: &[f64]| {
            z.iter().zip(&lemke.z).take(2 * nn).all(|(x, y)| (x - y).abs() < 1e-9 * (1.0 + y.abs()))
        };
        assert!(set.pieces.iter().any(|piece| same(piece.z())), "{nn}");
        if nn <= 3 {
            // without any pruning by linear programs
            let plain = enumerate_modes(
                p,
                &contact_modes(nn),
                &EnumerateSettings { plain_up_to: 1 << 30, ..settings },
            );
            assert_eq!(plain.pieces.len(), set.pieces.len());
        }
    }
}

/// With and without linear programs the search finds the same number of pieces.
#[test]
fn pruning_by_linear_programs_loses_nothing() {
    let mut rng = Numbers(99);
    for round in 0..3000 {
        let (a, b, _) = problem(&mut rng, round);
        let p = Lcp::new(&a, &b);
        let plain = enumerate(p, &EnumerateSettings { plain_up_to: usize::MAX, ..Default::default() });
        let pruned = enumerate(p, &EnumerateSettings { plain_up_to: 0, ..Default::default() });
        assert_eq!(plain.pieces.len(), pruned.pieces.len(), "round {round}\n{a:?}\n{b:?}");
    }
}

/// PG-6-LCP: the book's form (6.35) and the reduced form of the same contacts give the same forces.
#[test]
fn pg_6_lcp_book_and_reduced_form_agree() {
    let (mut book, mut reduced) = (LemkeWorkspace::default(), Solver::default());
    for seed in 0..200 {
        let nn = 1 + seed as usize % 8;
        let (a, b) = friction(&mut Numbers(seed), 3 * nn, nn, true);
        let (c, d) = friction(&mut Numbers(seed), 3 * nn, nn, false);
        let (s, t) = (book.solve(Lcp::new(&a, &b)), reduced.solve(Lcp::new(&c, &d)));
        assert!(s.is_solved() && t.is_solved(), "{s:?} {t:?}");
        let scale = book.z.iter().fold(1.0_f64, |m, x| m.max(*x));
        // several solutions may exist with large friction: compare only where the reduced form has one
        let settings = EnumerateSettings {
            observe: Some(Mat::from_fn(2 * nn, 3 * nn, |i, j| f64::from(u8::from(i == j)))),
            ..Default::default()
        };
        if nn > 5 || enumerate_modes(Lcp::new(&c, &d), &contact_modes(nn), &settings).pieces.len() != 1 {
            continue;
        }
        for i in 0..nn {
            let mu = c[(2 * nn + i, i)] / 2.0;
            assert!((book.z[i] - reduced.z[i]).abs() < 1e-10 * scale);
            let lambda_t = reduced.z[nn + i] - mu * reduced.z[i];
            assert!((book.z[nn + i] - book.z[2 * nn + i] - lambda_t).abs() < 1e-10 * scale);
        }
    }
}
