//! Stiff problems of the literature, and the order of the implicit method.
#![allow(clippy::single_range_in_vec_init)] // one group of components

use super::{Choice, Control, Method, Radau, Rhs, Trial, Verdict};

/// Integrate with step size control; returns accepted steps, and those of the implicit method.
fn solve(ode: &mut Method, tolerance: f64, x: &[f64], until: f64, f: &mut impl Rhs) -> (u32, u32) {
    let mut control = Control::new(tolerance, vec![0..x.len()]);
    assert!(ode.start(0.0, x, f));
    let mut h = control.first_step(ode, 1e-3 * until);
    let (mut steps, mut implicit) = (0, 0);
    while ode.time() < until {
        assert!(h > 1e-16 * until, "no progress at t = {}", ode.time());
        let last = ode.time() + 1.01 * h >= until;
        if last {
            h = until - ode.time();
        }
        if !ode.attempt(h, &control, f) {
            control.refuse();
            h *= 0.25;
            continue;
        }
        match control.judge(ode) {
            Verdict::Accept(next) => {
                steps += 1;
                implicit += u32::from(ode.is_implicit());
                ode.advance();
                ode.choose(h, &control);
                assert!(steps < 100_000, "too many steps at t = {}", ode.time());
                if last {
                    break;
                }
                h = next;
            }
            Verdict::Reject(next) => {
                control.measure(ode, next, f);
                h = next;
            }
        }
    }
    (steps, implicit)
}

/// Errors at the end and inside of ẍ = −x + 3 sin 2t, x = sin t − sin 2t, with `n` steps. The third component is an integral: x again.
fn errors(n: usize) -> (f64, f64) {
    let exact = |t: f64| t.sin() - (2.0 * t).sin();
    let mut f = |t: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = x[1];
        dx[1] = 3.0 * (2.0 * t).sin() - x[0];
        dx[2] = x[1];
    };
    let control = Control::new(1e-12, vec![0..3]);
    let mut ode = Radau::new(3, 2);
    ode.start(0.0, &[0.0, -1.0, 0.0], &mut f);
    let h = 6.0 / n as f64;
    let (mut inside, mut worst) = ([0.0; 3], 0.0_f64);
    for _ in 0..n {
        assert!(ode.attempt(h, &control, &mut f));
        for j in 1..10 {
            let theta = 0.1 * f64::from(j);
            ode.interpolate(theta, &mut inside);
            worst = worst.max((inside[0] - exact(ode.time() + theta * h)).abs());
        }
        ode.advance();
        let (a, b) = (ode.state()[0], ode.state()[2]);
        assert!((a - b).abs() < 1e-12, "the integral follows the state: {a} {b}");
    }
    ((ode.state()[0] - exact(6.0)).abs(), worst)
}

#[test]
fn halving_the_implicit_step_divides_the_error_by_512_at_the_end_and_by_64_inside() {
    let (coarse, inside_coarse) = errors(6);
    let (fine, inside_fine) = errors(12);
    let (end, inside) = ((coarse / fine).log2(), (inside_coarse / inside_fine).log2());
    assert!(end > 8.3, "order {end}: {coarse:e} {fine:e}");
    assert!(inside > 5.4, "order {inside}: {inside_coarse:e} {inside_fine:e}");
}

/// Prothero and Robinson: x follows cos t, everything else dies at the rate λ. L-stable: one step of any length forgets the start.
#[test]
fn a_stiff_component_is_gone_after_one_step() {
    for lambda in [1e4, 1e8, 1e12] {
        let mut f = |t: f64, x: &[f64], dx: &mut [f64]| dx[0] = -lambda * (x[0] - t.cos()) - t.sin();
        let control = Control::new(1e-9, vec![0..1]);
        let mut ode = Radau::new(1, 1);
        ode.start(0.0, &[3.0], &mut f);
        assert!(ode.attempt(0.1, &control, &mut f));
        let end = ode.end()[0];
        assert!((end - 0.1_f64.cos()).abs() < 30.0 / (0.1 * lambda) + 1e-10, "{lambda:e}: {end}");
    }
}

#[test]
fn prothero_and_robinson_is_solved_in_few_steps_whatever_the_stiffness() {
    for lambda in [1e3, 1e6, 1e10] {
        let mut f = |t: f64, x: &[f64], dx: &mut [f64]| dx[0] = -lambda * (x[0] - t.cos()) - t.sin();
        let mut ode = Method::new(1, 1, Choice::Auto);
        let (steps, implicit) = solve(&mut ode, 1e-9, &[1.0], 10.0, &mut f);
        assert!(implicit > 0 && steps < 400, "{lambda:e}: {steps} steps, {implicit} implicit");
        assert!((ode.state()[0] - 10.0_f64.cos()).abs() < 1e-8, "{lambda:e}: {}", ode.state()[0]);
    }
}

/// Robertson's reaction at t = 40. [Hairer1996, IV.10; reference of the test set for IVP solvers]
#[test]
fn robertsons_reaction_at_forty() {
    let mut f = |_t: f64, y: &[f64], dy: &mut [f64]| {
        let (a, b, c) = (0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]);
        dy[0] = b - a;
        dy[1] = a - b - c;
        dy[2] = c;
    };
    for choice in [Choice::Auto, Choice::Implicit] {
        let mut ode = Method::new(3, 3, choice);
        let (steps, implicit) = solve(&mut ode, 1e-10, &[1.0, 0.0, 0.0], 40.0, &mut f);
        assert!(implicit > 0 && steps < 300, "{steps} steps, {implicit} implicit");
        let y = ode.state();
        assert!((y[0] - 0.715_827_068_7).abs() < 1e-9, "{y:?}");
        assert!((y[1] - 9.185_534_765e-6).abs() < 1e-13, "{y:?}");
        assert!((y[0] + y[1] + y[2] - 1.0).abs() < 1e-9, "{y:?}");
    }
}

/// Van der Pol's equation with μ = 1000, in the time t/μ: y(2) of the test set for IVP solvers.
#[test]
fn van_der_pols_relaxation_oscillation() {
    let mut f = |_t: f64, y: &[f64], dy: &mut [f64]| {
        dy[0] = y[1];
        dy[1] = 1e6 * ((1.0 - y[0] * y[0]) * y[1] - y[0]);
    };
    let mut ode = Method::new(2, 2, Choice::Auto);
    let (steps, implicit) = solve(&mut ode, 1e-9, &[2.0, 0.0], 2.0, &mut f);
    assert!(implicit > 0 && steps < 2000, "{steps} steps, {implicit} implicit");
    let y = ode.state();
    assert!((y[0] - 1.706_167_732_170_483).abs() < 1e-7, "{y:?}");
    assert!((y[1] + 0.892_809_701_024_797_5).abs() < 1e-7, "{y:?}");
}

#[test]
fn the_method_changes_to_implicit_and_back() {
    let rate = |t: f64| 1.0 + 1e6 / (1.0 + (8.0 * (t - 3.0)).exp());
    let mut f = |t: f64, x: &[f64], dx: &mut [f64]| dx[0] = -rate(t) * (x[0] - t.cos()) - t.sin();
    let mut ode = Method::new(1, 1, Choice::Auto);
    solve(&mut ode, 1e-9, &[1.0], 1.5, &mut f);
    assert!(ode.is_implicit());
    let mut ode = Method::new(1, 1, Choice::Auto);
    let (steps, implicit) = solve(&mut ode, 1e-9, &[1.0], 40.0, &mut f);
    assert!(!ode.is_implicit() && implicit > 0, "{steps} steps, {implicit} implicit");
    assert!((ode.state()[0] - 40.0_f64.cos()).abs() < 1e-8);
}

#[test]
fn an_oscillation_that_is_not_stiff_is_explicit_but_for_few_trials() {
    let mut f = |_t: f64, x: &[f64], dx: &mut [f64]| {
        dx[0] = x[1];
        dx[1] = -1e4 * x[0];
    };
    let mut ode = Method::new(2, 2, Choice::Auto);
    let (steps, implicit) = solve(&mut ode, 1e-9, &[1.0, 0.0], 20.0, &mut f);
    assert!(100 * implicit < steps, "{implicit} of {steps} steps implicit");
    assert!((ode.state()[0] - 2000.0_f64.cos()).abs() < 1e-6);
}

/// Two springs, one stiff, as (q, u) in other units of length and time: pivots and the largest eigenvalue once depended on them.
#[test]
fn steps_and_the_largest_eigenvalue_do_not_depend_on_units() {
    let solve = |length: f64, time: f64| {
        let mut f = |_t: f64, x: &[f64], dx: &mut [f64]| {
            (dx[0], dx[1]) = (x[2], x[3]);
            dx[2] = (3.0 * (x[1] - x[0]) - x[0]) * (time * time);
            dx[3] = (3.0 * (x[0] - x[1]) - 1e6 * x[1]) * (time * time) - 1e4 * time * x[3];
        };
        let mut control = Control::new(1e-9, vec![0..2, 2..4]);
        let mut ode = Radau::new(4, 4);
        ode.start(0.0, &[length, 0.5 * length, 0.0, length * time], &mut f);
        let h = 1e-5 / time;
        for _ in 0..3 {
            assert!(ode.attempt(h, &control, &mut f));
            assert!(matches!(control.judge(&ode), Verdict::Accept(_)));
            ode.advance();
        }
        let x = ode.state();
        ([x[0] / length, x[1] / length, x[2] / (length * time), x[3] / (length * time)], ode.radius() / time)
    };
    let (x, radius) = solve(1.0, 1.0);
    // λ² + 10⁴ λ + 10⁶ ≈ 0
    let fast = 5e3 + (25e6_f64 - 1e6).sqrt();
    assert!(radius > 0.5 * fast && radius < 3.0 * fast, "{radius} {fast}");
    for (k, l) in [(30, 0), (-10, 0), (0, 20), (0, -16), (30, -20)] {
        let (other, own) = solve(2f64.powi(k), 2f64.powi(l));
        assert_eq!(other, x, "2^{k}, 2^{l}");
        assert!((own / radius - 1.0).abs() < 1e-12, "2^{k}, 2^{l}: {own} {radius}");
    }
}
