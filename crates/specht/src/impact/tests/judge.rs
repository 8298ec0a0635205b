//! The judge of impacts judged: a true impact passes, and every falsified one fails, although momentum and rates are kept.

use super::*;
use crate::impact::verify::{plain_residual, residual, step_residual};
use crate::linalg::Cholesky;

/// Largest residual of a true impact, and least of a falsified one (by parts in a hundred thousand or more).
const TRUE: f64 = 1e-12;
const FALSE: f64 = 1e-7;

/// A body (x, y, φ) hangs with a rough journal on a slider (x, y) in a rough guide that falls by 45 degrees, and meets a rough
/// obstacle.
fn machine() -> (Bench, Vec<f64>, [Restitution; 3]) {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let mut b = Bench::new(diag(&[2.0, 2.0, 0.4, 1.0, 1.0]), &[0.0; 5]);
    b.bilateral((&[0.0, 0.0, 0.0, s, s], 0.0), Some((&[0.0, 0.0, 0.0, s, -s], 0.0)), 0.1);
    b.pin(
        [(&[1.0, 0.0, 0.0, -1.0, 0.0], 0.0), (&[0.0, 1.0, 0.0, 0.0, -1.0], 0.0)],
        Some((&[0.0, 0.0, 1.0, 0.0, 0.0], 0.0)),
        0.02,
    );
    b.unilateral((&[0.0, 1.0, 0.5, 0.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.4, 0.0, 0.0], 0.0)), 0.3);
    let e = [eps(0.0), eps(0.0), Restitution { normal: 0.5, tangential: 0.4, nu: 0.3 }];
    (b, vec![2.0, -2.0, 0.7, 2.0, -2.0], e)
}

/// The impact that these impulses make: momentum and rates are right, whatever the laws say.
fn by_impulses(b: &Bench, u: &[f64], compression: &[f64], impulse: &[f64]) -> Impact {
    let after = |impulse: &[f64]| {
        let mut p = vec![0.0; u.len()];
        impulse.iter().enumerate().for_each(|(r, f)| b.eval.w.row(r).add_to(*f, &mut p));
        let mut mass = Cholesky::default();
        assert!(mass.factor_symmetric(&b.eval.mass).is_ok());
        mass.solve(&mut p);
        u.iter().zip(&p).map(|(a, b)| a + b).collect::<Vec<f64>>()
    };
    let rates = |u: &[f64]| (0..b.eval.w.rows()).map(|r| b.eval.rate(r, u)).collect::<Vec<f64>>();
    let (u_c, u_e) = (after(compression), after(impulse));
    Impact {
        rate_a: rates(u),
        rate_c: rates(&u_c),
        rate_e: rates(&u_e),
        u: u_e,
        impulse: impulse.to_vec(),
        compression: compression.to_vec(),
        ..Impact::default()
    }
}

fn judged(law: Law, b: &Bench, u: &[f64], e: &[Restitution], out: &Impact) -> f64 {
    residual(law, &b.info, &b.eval, u, &vec![true; b.info.len()], e, out, &mut Default::default())
}

#[test]
fn an_impulse_that_is_wrong_at_any_row_and_phase_breaks_a_law_although_momentum_is_kept() {
    let (b, u, e) = machine();
    for law in [Law::Poisson, Law::Newton, Law::Moreau] {
        let right = hit(law, &b, &u, &e);
        assert!(right.residual < TRUE, "{law:?}: {}", right.residual);
        assert!(right.normal[2] > 0.0, "{:?}", right.normal);
        let largest = max_abs(&right.impulse);
        for r in 0..right.impulse.len() {
            for delta in [1e-5 * largest, -1e-5 * largest] {
                let (mut compression, mut impulse) = (right.compression.clone(), right.impulse.clone());
                impulse[r] += delta;
                if law != Law::Poisson {
                    compression[r] += delta;
                }
                let wrong = judged(law, &b, &u, &e, &by_impulses(&b, &u, &compression, &impulse));
                assert!(wrong > FALSE, "{law:?}, row {r} by {delta:e}: {wrong:e}");
                if law == Law::Poisson {
                    // the whole impulse is right, compression is not
                    let mut compression = right.compression.clone();
                    compression[r] += delta;
                    let wrong = by_impulses(&b, &u, &compression, &right.impulse);
                    let wrong = judged(law, &b, &u, &e, &wrong);
                    assert!(wrong > FALSE, "compression, row {r} by {delta:e}: {wrong:e}");
                }
            }
        }
    }
}

#[test]
fn other_coefficients_than_those_of_the_contact_break_a_law() {
    let (b, u, e) = machine();
    for law in [Law::Poisson, Law::Newton, Law::Moreau] {
        let right = hit(law, &b, &u, &e);
        let mut other = e;
        other[2].normal += 1e-5;
        assert!(judged(law, &b, &u, &e, &right) < TRUE);
        assert!(judged(law, &b, &u, &other, &right) > FALSE, "{law:?}: restitution");
        // friction where the contacts slide
        let mut rough = b.clone();
        rough.eval.mu.iter_mut().for_each(|mu| *mu *= 1.0 - 1e-4);
        if law != Law::Newton {
            assert!(judged(law, &rough, &u, &e, &right) > FALSE, "{law:?}: friction");
        }
    }
    // reversible friction of a superball: ν and ε_T decide
    let mut ball = Bench::new(diag(&[1.0, 1.0, 0.004]), &[0.0; 3]);
    ball.unilateral((&[0.0, 1.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.1], 0.0)), 0.2);
    let reversible = Restitution { normal: 0.9, tangential: 0.8, nu: 0.7 };
    let v = [1.0, -1.0, 2.0];
    let right = hit(Law::Poisson, &ball, &v, &[reversible]);
    assert!(judged(Law::Poisson, &ball, &v, &[reversible], &right) < TRUE);
    let other = Restitution { tangential: 0.9, nu: 0.9, ..reversible };
    assert!(judged(Law::Poisson, &ball, &v, &[other], &right) > FALSE);
}

#[test]
fn velocities_that_do_not_follow_from_the_impulses_break_the_balance_of_momentum() {
    let (b, u, e) = machine();
    let right = hit(Law::Poisson, &b, &u, &e);
    for i in 0..u.len() {
        let mut wrong = right.clone();
        wrong.u[i] += 1e-5;
        assert!(judged(Law::Poisson, &b, &u, &e, &wrong) > FALSE, "velocity {i}");
    }
}

#[test]
fn what_is_not_a_number_is_a_residual_that_is_not_a_number() {
    let (b, u, e) = machine();
    for law in [Law::Poisson, Law::Newton, Law::Moreau] {
        let right = hit(law, &b, &u, &e);
        let mut wrong = vec![right.clone(); 4];
        wrong[0].u[1] = f64::NAN;
        wrong[1].impulse[3] = f64::NAN;
        wrong[2].rate_e[5] = f64::NAN;
        wrong[3].rate_e[0] = f64::NAN;
        for (k, w) in wrong.iter().enumerate() {
            assert!(judged(law, &b, &u, &e, w).is_nan(), "{law:?} {k}");
        }
    }
}

/// A jump whose way is not that of an impact law: nothing pulls or approaches, guides are kept, momentum is balanced.
#[test]
fn a_tangential_impact_is_judged_by_what_must_hold_for_any() {
    let (b, u, e) = machine();
    let right = hit(Law::Poisson, &b, &u, &e);
    let closed = vec![true; 3];
    let judge = |x: &Impact| plain_residual(&b.info, &b.eval, &u, &x.u, &x.impulse, &closed);
    assert!(judge(&right) < TRUE);
    for r in 0..right.impulse.len() {
        let mut wrong = right.clone();
        wrong.impulse[r] += 1e-5;
        assert!(judge(&wrong) > FALSE, "momentum, row {r}");
    }
    // an impulse that is too small leaves a contact approaching; one that pulls, too
    let half: Vec<f64> = right.impulse.iter().map(|f| 0.5 * f).collect();
    assert!(judge(&by_impulses(&b, &u, &half, &half)) > FALSE);
    let back: Vec<f64> = right.impulse.iter().map(|f| -f).collect();
    assert!(judge(&by_impulses(&b, &u, &back, &back)) > FALSE);
}

/// An impact inside a step, with two tangents: the impulse is the whole bound against the slip.
#[test]
fn an_impact_in_a_step_is_judged_by_moreaus_law_in_space() {
    let mut b = Bench::new(diag(&[1.0, 1.0, 1.0]), &[0.0; 3]);
    b.unilateral((&[0.0, 0.0, 1.0], 0.0), Some((&[1.0, 0.0, 0.0], 0.0)), 0.25);
    b.given((&[0.0, 1.0, 0.0], 0.0), 0.0, 0.0);
    b.info.truncate(1);
    b.info[0].tangent = vec![1, 2];
    let e = [Restitution { normal: 0.5, tangential: 0.0, nu: 0.0 }];
    let judge = |impulse: [f64; 3], e: &[Restitution]| {
        let before = [-2.0, 3.0, 4.0];
        let after = [3.0 + impulse[1], 4.0 + impulse[2], -2.0 + impulse[0]];
        step_residual(&b.info, &b.eval, &[true], e, 0.01, &before, &after, &impulse)
    };
    // Λ_N = 3, Λ_T = 0.75 against (3, 4)/5
    assert!(judge([3.0, -0.45, -0.6], &e) < TRUE);
    for wrong in [[3.001, -0.45, -0.6], [2.999, -0.45, -0.6], [3.0, -0.4501, -0.6], [3.0, -0.449, -0.599]] {
        assert!(judge(wrong, &e) > FALSE, "{wrong:?}");
    }
    assert!(judge([3.0, -0.6, -0.45], &e) > FALSE, "another direction");
    assert!(judge([3.0, -0.45, -0.6], &[eps(0.6)]) > FALSE, "another restitution");
    assert!(judge([f64::NAN, -0.45, -0.6], &e).is_nan());
}

/// A wedge between guide and obstacles: impulses of 1e10 Ns meet all laws relative to their own size, velocities do not. The certificate of
/// the solver is blind to this, the judge is not.
#[test]
fn impulses_without_bound_do_not_pass_for_a_solution() {
    let (b, u) = super::laws::slider(0.4, 0.3, 0.5);
    let out = hit(Law::Moreau, &b, &u, &[eps(0.0), eps(0.0), eps(0.5), eps(0.5)]);
    let is_refused = out.status == ImpactStatus::NoSolution;
    assert!(is_refused || max_abs(&out.impulse) < 1e3 || out.residual > FALSE, "{out:?}");
}
