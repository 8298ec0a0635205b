//! Cone programs against closed forms, against their own certificates, and where linear programs can say the same.

use super::*;
use crate::contact::tests::Random;

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b}");
}

/// (aᵀx + b) of every row.
fn slack(p: &ConeProgram, x: &[f64]) -> Vec<f64> {
    p.rows.iter().map(|(g, h)| h - dot(g, x)).collect()
}

fn outside(sizes: &[usize], v: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for (at, q) in interior::parts(sizes) {
        worst = worst.max(dot(&v[at + 1..at + q], &v[at + 1..at + q]).sqrt() - v[at]);
    }
    worst
}

/// Both sides feasible and equal: the solution is proved.
fn prove(p: &ConeProgram, c: &[f64], f: &ConeAnswer, within: f64) {
    assert_eq!(f.outcome, ConeOutcome::Optimal);
    assert!(f.residual <= 1e-7);
    let size = 1.0 + f.x.iter().chain(&f.z).fold(0.0_f64, |m, v| m.max(v.abs()));
    for (a, b) in &p.equations {
        assert!((dot(a, &f.x) - b).abs() <= within * size);
    }
    assert!(outside(&p.sizes, &slack(p, &f.x)) <= within * size, "{}", outside(&p.sizes, &slack(p, &f.x)));
    assert!(outside(&p.sizes, &f.z) <= within * size);
    let mut left = c.to_vec();
    p.rows.iter().zip(&f.z).for_each(|((g, _), z)| axpy(-z, g, &mut left));
    p.equations.iter().zip(&f.y).for_each(|((a, _), y)| axpy(-y, a, &mut left));
    assert!(left.iter().all(|v| v.abs() <= within * size), "{left:?}");
    let dual: f64 = p.rows.iter().zip(&f.z).map(|((_, h), z)| h * z).sum::<f64>()
        + p.equations.iter().zip(&f.y).map(|((_, b), y)| b * y).sum::<f64>();
    assert!((dual - f.value).abs() <= within * size, "{dual} {}", f.value);
}

/// The farthest point of a disc, of two discs, and of a disc and a half plane.
#[test]
fn the_farthest_point_of_discs_is_found_to_rounding() {
    let disc = |x: f64, y: f64, r: f64| [(vec![0.0, 0.0], r), (vec![1.0, 0.0], -x), (vec![0.0, 1.0], -y)];
    let mut p = ConeProgram::new(2);
    p.cone(&disc(1.0, 2.0, 3.0));
    let f = p.maximize(&[0.6, 0.8]);
    close(f.value, 0.6 + 1.6 + 3.0, 1e-14);
    prove(&p, &[0.6, 0.8], &f, 1e-12);
    // lens of two discs of radius 3: tip at (1, 2 ± √5) for centres (−1, 2), (3, 2)
    let mut p = ConeProgram::new(2);
    p.cone(&disc(-1.0, 2.0, 3.0));
    p.cone(&disc(3.0, 2.0, 3.0));
    let f = p.maximize(&[0.0, 1.0]);
    close(f.value, 2.0 + 5.0_f64.sqrt(), 1e-13);
    // cut
    p.cone(&[(vec![0.0, -1.0], 2.5)]);
    close(p.maximize(&[0.0, 1.0]).value, 2.5, 1e-13);
}

#[test]
fn problems_without_solution_and_without_bound_prove_it() {
    // x ≥ |y| and x ≤ −1
    let mut p = ConeProgram::new(2);
    p.cone(&[(vec![1.0, 0.0], 0.0), (vec![0.0, 1.0], 0.0)]);
    let f = p.maximize(&[1.0, 1.0]);
    assert_eq!(f.outcome, ConeOutcome::Unbounded);
    close(f.x[0] + f.x[1], 1.0, 1e-8);
    assert!(f.x[0] >= f.x[1].abs() - 1e-8);
    p.cone(&[(vec![-1.0, 0.0], -1.0)]);
    let f = p.maximize(&[1.0, 1.0]);
    assert_eq!(f.outcome, ConeOutcome::Infeasible);
    assert!(outside(&p.sizes, &f.z) <= 1e-8);
    let side: f64 = p.rows.iter().zip(&f.z).map(|((_, h), z)| h * z).sum();
    close(side, -1.0, 1e-8);
    // equations that contradict each other
    let mut p = ConeProgram::new(2);
    p.equal(&[1.0, 1.0], 1.0);
    p.equal(&[2.0, 2.0], 3.0);
    let f = p.maximize(&[0.0, 0.0]);
    assert_eq!(f.outcome, ConeOutcome::Infeasible);
    close(f.y[0] + 2.0 * f.y[1], 0.0, 1e-12);
    close(f.y[0] + 3.0 * f.y[1], -1.0, 1e-12);
    // a direction that no cone feels
    let mut p = ConeProgram::new(3);
    p.cone(&[(vec![0.0, 0.0, 0.0], 1.0), (vec![1.0, 0.0, 0.0], 0.0), (vec![0.0, 1.0, 0.0], 0.0)]);
    assert_eq!(p.maximize(&[1.0, 0.0, 0.5]).outcome, ConeOutcome::Unbounded);
    close(p.maximize(&[1.0, 0.0, 0.0]).value, 1.0, 1e-13);
}

/// Random programs with a solution by construction (a strictly feasible point on both sides): every answer proves itself.
#[test]
fn random_programs_prove_their_solutions() {
    let mut r = Random(411);
    for _ in 0..400 {
        let (n, p) = (2 + r.below(8), r.below(3));
        let mut program = ConeProgram::new(n);
        let x: Vec<f64> = (0..n).map(|_| r.within(-2.0, 2.0)).collect();
        let mut c = vec![0.0; n];
        for _ in 0..p.min(n - 1) {
            let a: Vec<f64> = (0..n).map(|_| r.within(-1.0, 1.0)).collect();
            program.equal(&a, dot(&a, &x));
            axpy(r.within(-1.0, 1.0), &a, &mut c);
        }
        for _ in 0..n + 1 {
            let q = 1 + r.below(4);
            let mut inside = || {
                let mut v: Vec<f64> = (0..q).map(|_| r.within(-1.0, 1.0)).collect();
                v[0] = dot(&v[1..], &v[1..]).sqrt() + r.within(0.05, 1.0);
                v
            };
            let (s, z) = (inside(), inside());
            let rows: Vec<(Vec<f64>, f64)> = (0..q)
                .map(|k| {
                    let a: Vec<f64> = (0..n).map(|_| r.within(-1.0, 1.0)).collect();
                    axpy(-z[k], &a, &mut c);
                    let b = s[k] - dot(&a, &x);
                    (a, b)
                })
                .collect();
            program.cone(&rows);
        }
        let f = program.maximize(&c);
        prove(&program, &c, &f, 1e-9);
    }
}
