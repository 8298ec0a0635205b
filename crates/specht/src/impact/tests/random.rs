//! Random impacts against an independent enumeration: the reduced complementarity problem, solved completely by
//! [`crate::lcp::enumerate`], and the laws themselves.

use super::*;
use crate::lcp::{EnumerateSettings, enumerate};
use crate::linalg::{Mat, dot};
use crate::system::Normal;

fn random_system(r: &mut Random, moving: f64) -> (Bench, Vec<f64>, Vec<Restitution>) {
    let n = 1 + r.below(5);
    let contacts = 1 + r.below(3);
    let a = Mat::from_fn(n, n, |_, _| r.normal());
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.3);
    let mut b = Bench::new(mass, &vec![0.0; n]);
    let mut last: Option<(Vec<f64>, Vec<f64>)> = None;
    for _ in 0..contacts {
        let (w_n, w_t) = match &last {
            // dependent contacts: the same tangent, parallel normals, or a combination
            Some((n0, t0)) if r.unit() < 0.3 => match r.below(3) {
                0 => ((0..n).map(|_| r.normal()).collect(), t0.clone()),
                1 => (n0.iter().map(|v| 2.0 * v).collect(), (0..n).map(|_| r.normal()).collect()),
                _ => (n0.iter().zip(t0).map(|(a, b)| a + 0.5 * b).collect(), t0.clone()),
            },
            _ => (
                (0..n).map(|_| r.normal()).collect::<Vec<_>>(),
                (0..n).map(|_| r.normal()).collect::<Vec<_>>(),
            ),
        };
        let friction = r.unit() < 0.85;
        let mu = if r.unit() < 0.2 { r.within(1.0, 3.0) } else { r.within(0.0, 1.0) };
        b.unilateral((&w_n, 0.0), friction.then_some((&w_t[..], 0.0)), mu);
        last = Some((w_n, w_t));
    }
    // moving obstacles: then a solution need not exist
    if r.unit() < moving {
        (0..b.eval.rate_offset.len()).for_each(|k| b.eval.rate_offset[k] = 0.7 * r.normal());
    }
    let u: Vec<f64> = (0..n).map(|_| r.normal()).collect();
    let e = (0..contacts)
        .map(|_| {
            let reversible = r.unit() < 0.3;
            Restitution {
                normal: r.unit(),
                tangential: if reversible { r.unit() } else { 0.0 },
                nu: if reversible { r.unit() } else { 0.0 },
            }
        })
        .collect();
    (b, u, e)
}

/// PG-8-POISSON: 20 000 random problems, dependent contacts included: no answer violates a law, and none is missing
/// where the enumeration of the compression problem finds one.
#[test]
fn pg_8_poisson_random_impacts_are_right_or_reported() {
    let mut r = Random(2026);
    let mut impactor = Impactor::default();
    let (mut solved, mut several, mut none, mut expansion_failed) = (0, 0, 0, 0);
    for k in 0..20_000 {
        let (b, u, e) = random_system(&mut r, 0.3);
        let closed = vec![true; b.info.len()];
        let out = impactor.solve(Law::Poisson, &b.info, &b.eval, &u, &closed, &e);
        match out.status {
            ImpactStatus::Solved => solved += 1,
            ImpactStatus::Several { .. } => several += 1,
            ImpactStatus::NoSolution => none += 1,
            ImpactStatus::Invalid => panic!("case {k} is valid"),
        }
        if out.status != ImpactStatus::NoSolution {
            assert!(out.residual < 1e-8, "case {k}: residual {}", out.residual);
            let total: f64 = out.normal_work.iter().chain(&out.tangential_work).sum();
            assert!(
                (total + out.drive_work - out.energy).abs() < 1e-8 * (1.0 + total.abs()),
                "case {k}: energy {total} {}",
                out.energy
            );
        }
        // every tenth case completely: all solutions of the reduced form
        if k % 10 == 0 || out.status == ImpactStatus::NoSolution {
            let form = impactor.reduced_compression_form(&b.info, &b.eval, &u, &closed).unwrap();
            let settings =
                EnumerateSettings { observe: Some(form.t.clone()), ..EnumerateSettings::default() };
            let all = enumerate(form.lcp(), &settings);
            assert!(all.complete);
            match out.status {
                ImpactStatus::Solved if all.pieces.len() != 1 => {
                    // several pieces are one solution when they have the same velocities
                    let velocities = |z: &[f64]| {
                        let mut y = Vec::new();
                        impactor.problem.y(&form.x(z), &mut y);
                        y
                    };
                    let y: Vec<Vec<f64>> = all.pieces.iter().map(|p| velocities(p.z())).collect();
                    assert!(!y.is_empty(), "case {k}: the enumeration finds none");
                    let spread = y
                        .iter()
                        .flatten()
                        .zip(y[0].iter().cycle())
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f64::max);
                    assert!(spread < 1e-5, "case {k}: {} pieces, spread {spread}", all.pieces.len());
                }
                ImpactStatus::NoSolution if !all.pieces.is_empty() => {
                    // compression has a solution: then expansion has none after the one that was taken
                    assert!(impactor.compress(true).is_some(), "case {k}: compression has a solution");
                    expansion_failed += 1;
                }
                _ => {}
            }
        }
    }
    println!("solved {solved}, several {several}, none {none} ({expansion_failed} in expansion)");
    assert!(solved > 10_000);
}

/// PG-8.4-ENERGY: equal ε_N never gain energy; the balance (8.56) holds.
#[test]
fn pg_8_4_energy_equal_restitution_never_gains() {
    let mut r = Random(84);
    for k in 0..3000 {
        let (b, u, mut e) = random_system(&mut r, 0.0);
        let same = e[0].normal;
        e.iter_mut().for_each(|e| e.normal = same);
        let out = hit(Law::Poisson, &b, &u, &e);
        if out.status == ImpactStatus::NoSolution {
            continue;
        }
        assert!(!out.gains_energy, "case {k}: gained {}", out.energy);
        // (8.56) with Λ_P = Λ_E − ε Λ_C
        let rows = out.impulse.len();
        let w = &b.eval.w;
        let mut chol = crate::linalg::Cholesky::default();
        chol.factor_symmetric(&b.eval.mass).unwrap();
        let g = |x: &[f64]| {
            let mut f = vec![0.0; u.len()];
            w.add_mul_transpose(x, &mut f);
            let mut v = f.clone();
            chol.solve(&mut v);
            dot(&f, &v)
        };
        let lc = &out.compression;
        let lp: Vec<f64> = (0..rows).map(|i| out.impulse[i] - lc[i] - same * lc[i]).collect();
        let stored: Vec<f64> = lc.iter().map(|v| same * v).collect();
        let balance = -0.5 * g(lc) - 0.5 * g(&lp)
            + 0.5 * g(&stored)
            + dot(lc, &out.rate_c)
            + dot(&lp, &out.rate_e)
            + dot(&stored, &out.rate_c);
        close(balance, out.energy, 1e-8);
    }
}

/// PG-8.6-NEWTONPOISSON: with equal ε_N, without friction, independent contacts that all transfer impulses, the two laws agree.
#[test]
fn pg_8_6_newton_equals_poisson_for_equal_restitution() {
    let mut r = Random(86);
    let mut compared = 0;
    for _ in 0..2000 {
        let (mut b, u, mut e) = random_system(&mut r, 0.0);
        b.info.iter_mut().for_each(|c| c.friction = false);
        let same = e[0].normal;
        e.iter_mut().for_each(|e| e.normal = same);
        let out = hit(Law::Poisson, &b, &u, &e);
        let all_transfer = b.info.iter().enumerate().all(|(i, _)| out.normal[i] > 1e-6);
        let enough = b.info.iter().all(|c| {
            let Normal::Unilateral { row } = c.normal else { return false };
            (out.impulse[row] - (1.0 + same) * out.compression[row]).abs() < 1e-9
        });
        let approaching = b.info.iter().all(|c| {
            let Normal::Unilateral { row } = c.normal else { return false };
            out.rate_a[row] < 0.0
        });
        if all_transfer && enough && approaching {
            let newton = hit(Law::Newton, &b, &u, &e);
            for (a, c) in out.u.iter().zip(&newton.u) {
                close(*a, *c, 1e-8);
            }
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared}");
}

/// PG-7-NEWTON: the law itself, impulses not negative, energy (7.14). Ours: a contact that separates and is hit by the others does not approach;
/// contacts that oppose each other have no restitution; what is left without a solution are demands that contradict each other.
#[test]
fn pg_7_newton_random_impacts_obey_the_law() {
    let mut r = Random(7);
    let mut solved = 0;
    let dense = |b: &Bench, row: usize, n: usize| {
        let mut w = vec![0.0; n];
        b.eval.w.row(row).iter().for_each(|(j, v)| w[j] += v);
        w
    };
    for _ in 0..3000 {
        let (mut b, u, e) = random_system(&mut r, 0.0);
        b.info.iter_mut().for_each(|c| c.friction = false);
        let out = hit(Law::Newton, &b, &u, &e);
        // a play of width zero: another contact stands opposite, there is no restitution
        let held = |row: usize| {
            let w = dense(&b, row, u.len());
            b.info.iter().filter_map(|c| c.normal_row()).any(|other| {
                let v = dense(&b, other, u.len());
                let size = (dot(&w, &w) * dot(&v, &v)).sqrt();
                dot(&w, &v) <= -(1.0 - 1e-12) * size
            })
        };
        if out.status == ImpactStatus::NoSolution {
            continue;
        }
        solved += 1;
        let mut energy = 0.0;
        for (i, c) in b.info.iter().enumerate() {
            let Normal::Unilateral { row } = c.normal else { continue };
            assert!(out.normal[i] >= -1e-8);
            if out.normal[i] > 1e-7 {
                let back = if out.rate_a[row] < 0.0 && !held(row) { e[i].normal } else { 0.0 };
                close(out.rate_e[row], -back * out.rate_a[row], 1e-7);
                energy += 0.5 * out.normal[i] * (1.0 - back) * out.rate_a[row];
            } else {
                assert!(out.rate_e[row] > -1e-7 || e[i].normal * out.rate_a[row] > -1e-7);
            }
        }
        close(out.energy, energy, 1e-6);
    }
    assert!(solved > 2700, "{solved}");
}

/// PG-8-POISSON: Lemke on the book's problems (8.87) and (8.97), one after the other, ends at the same velocities wherever the
/// solution is unique.
#[test]
fn pg_8_poisson_book_forms_give_the_same_velocities() {
    let mut r = Random(887);
    let mut compared = 0;
    for k in 0..3000 {
        let (b, u, e) = random_system(&mut r, 0.2);
        let closed = vec![true; b.info.len()];
        let mut impactor = Impactor::default();
        let out = impactor.solve(Law::Poisson, &b.info, &b.eval, &u, &closed, &e);
        if out.status != ImpactStatus::Solved {
            continue;
        }
        let solve = |form: &Form| {
            let mut solver = crate::lcp::Solver::default();
            solver.solve(form.lcp()).is_solved().then(|| form.x(&solver.z))
        };
        let compression = impactor.compression_form(&b.info, &b.eval, &u, &closed).unwrap();
        assert_eq!(compression.b.len(), impactor.layout.normals.len() + 4 * impactor.layout.tangents.len());
        let Some(x_c) = solve(&compression) else { continue };
        let nn = impactor.layout.normals.len();
        let mut stored = vec![0.0; x_c.len()];
        for (k, &i) in impactor.layout.normals.iter().enumerate() {
            stored[k] = e[i].normal * x_c[k];
        }
        let (q, before, _) = impactor.expansion(&b.info, &b.eval, &e, &x_c, &stored);
        let shift: Vec<f64> =
            impactor.layout.tangents.iter().enumerate().map(|(j, &i)| e[i].normal * x_c[nn + j]).collect();
        let Some(x_e) = forms::book(&q, &shift).and_then(|f| solve(&f)) else { continue };
        let total: Vec<f64> = before.iter().zip(&x_e).map(|(a, b)| a + b).collect();
        let (mut v, mut impulse) = (Vec::new(), Vec::new());
        impactor.after(&u, out.impulse.len(), &total, &mut v, &mut impulse);
        for (a, b) in v.iter().zip(&out.u) {
            assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "case {k}: {a} {b}");
        }
        compared += 1;
    }
    assert!(compared > 1500, "{compared}");
}
