//! The examples of chapters 7 and 8.

use super::*;

/// PG-7.4-TWOMASS (PG-7.4): both laws, any masses, any restitution; energy (7.14).
#[test]
fn pg_7_4_two_masses() {
    let mut r = Random(11);
    for _ in 0..200 {
        let (m1, m2, e) = (r.within(0.1, 5.0), r.within(0.1, 5.0), r.unit());
        let v2 = r.within(-3.0, 3.0);
        let v1 = v2 + r.within(0.01, 4.0);
        let mut b = Bench::new(diag(&[m1, m2]), &[0.0; 2]);
        b.unilateral((&[-1.0, 1.0], 0.0), None, 0.0);
        for law in [Law::Newton, Law::Poisson, Law::Moreau] {
            let out = hit(law, &b, &[v1, v2], &[eps(e)]);
            let impulse = -(1.0 + e) * m1 * m2 / (m1 + m2) * (v2 - v1);
            close(out.normal[0], impulse, 1e-11);
            close(out.u[0], v1 + m2 / (m1 + m2) * (1.0 + e) * (v2 - v1), 1e-11);
            close(out.u[1], v2 - m1 / (m1 + m2) * (1.0 + e) * (v2 - v1), 1e-11);
            close(out.energy, 0.5 * impulse * (1.0 - e) * (v2 - v1), 1e-10);
            close(out.normal_work[0], out.energy, 1e-10);
            assert!(!out.gains_energy && out.residual < 1e-9 && out.status == ImpactStatus::Solved);
        }
    }
}

fn rod(a: f64, b: f64, mu: f64) -> Bench {
    let mut s = Bench::new(diag(&[1.0, 1.0, 1.0 / 3.0]), &[0.0, 0.0, 0.0]);
    let t = [1.0, 0.0, 0.0];
    s.unilateral((&[0.0, 1.0, a], 0.0), Some((&t, 0.0)), mu);
    s.unilateral((&[0.0, 1.0, b], 0.0), Some((&t, 0.0)), mu);
    s
}

/// PG-7.5-RODNEWTON (PG-7.5) and PG-8.11-ROD: impulses (7.38) where admissible, removal of the pulling contact, the
/// unilateral law for all a, any friction.
#[test]
fn pg_7_5_and_pg_8_11_rod_on_two_obstacles() {
    for k in 0..=40 {
        let a = -1.0 + 0.05 * f64::from(k);
        let expected = if a <= 0.0 {
            [1.0 / (1.0 - a), -a / (1.0 - a), 0.0, 0.0]
        } else {
            let d = 1.0 + 3.0 * a * a;
            [1.0 / d, 0.0, 0.0, 3.0 * a * (1.0 - a) / d]
        };
        for (law, mu) in [(Law::Newton, 0.0), (Law::Poisson, 0.0), (Law::Poisson, 0.7), (Law::Moreau, 0.3)] {
            let s = rod(a, 1.0, mu);
            let out = hit(law, &s, &[0.0, -1.0, 0.0], &[eps(0.0); 2]);
            if k == 40 {
                close(out.normal[0] + out.normal[1], 0.25, 1e-12);
            } else {
                close(out.normal[0], expected[0], 1e-10);
                close(out.normal[1], expected[1], 1e-10);
            }
            close(out.rate_e[0], expected[2], 1e-10);
            close(out.rate_e[2], expected[3], 1e-10);
            assert!(out.residual < 1e-9);
        }
    }
}

/// PG-9-CORNER: velocity and impulse are complementary in both phases; the corner of compression is at zero, that of expansion at the stored
/// impulse ε Λ_C.
#[test]
fn pg_9_corner_law_of_both_phases_with_its_offset() {
    for (a, e) in [(-0.6, [0.3, 0.8]), (0.2, [0.9, 0.1]), (0.7, [0.0, 1.0])] {
        let s = rod(a, 1.0, 0.4);
        let out = hit(Law::Poisson, &s, &[0.5, -1.0, 0.2], &e.map(eps));
        for (i, e) in e.into_iter().enumerate() {
            let row = s.info[i].normal_rows()[0];
            let stored = e * out.compression[row];
            let corners = [
                (out.rate_c[row], out.compression[row]),
                (out.rate_e[row], out.impulse[row] - out.compression[row] - stored),
            ];
            for (velocity, beyond) in corners {
                assert!(
                    velocity > -1e-12 && beyond > -1e-12 && velocity.min(beyond) < 1e-12,
                    "{velocity} {beyond}"
                );
            }
        }
    }
}

/// PG-8.12-BALLS: enlarged expansion impulse; Newton keeps the lower ball on the floor.
#[test]
fn pg_8_12_ball_on_ball() {
    let mut b = Bench::new(diag(&[1.0, 1.0]), &[0.0; 2]);
    b.unilateral((&[1.0, 0.0], 0.0), None, 0.0);
    b.unilateral((&[-1.0, 1.0], 0.0), None, 0.0);
    for k in 0..=20 {
        let e2 = 0.05 * f64::from(k);
        let out = hit(Law::Poisson, &b, &[0.0, -1.0], &[eps(1.0), eps(e2)]);
        close(out.compression[0], 1.0, 1e-12);
        close(out.compression[1], 1.0, 1e-12);
        let expected = if e2 <= 0.5 { [0.5, 0.0] } else { [1.0 - e2, 2.0 * e2 - 1.0] };
        close(out.rate_e[0], expected[0], 1e-12);
        close(out.rate_e[1], expected[1], 1e-12);
        if e2 <= 0.5 {
            close(out.impulse[1] - out.compression[1], 0.5, 1e-12);
        }
        let newton = hit(Law::Newton, &b, &[0.0, -1.0], &[eps(1.0), eps(e2)]);
        close(newton.rate_e[0], 0.0, 1e-12);
    }
}

/// PG-8.13-SUPERBALL: three impacts, fully reversible and not reversible.
#[test]
fn pg_8_13_superball_single_impacts() {
    let (radius, inertia) = (0.1, 0.004);
    let floor = |sign: f64| {
        let mut b = Bench::new(diag(&[1.0, 1.0, inertia]), &[0.0; 3]);
        b.unilateral((&[0.0, sign, 0.0], 0.0), Some((&[sign, 0.0, radius], 0.0)), 1.0);
        b
    };
    for (reversible, xs, phis) in [
        (1.0, [0.428571, -0.632653, -0.970845], [-14.2857, 12.2449, 3.79009]),
        (0.0, [0.714286, 0.306122, 0.131195], [f64::NAN; 3]),
    ] {
        let e = Restitution { normal: 1.0, tangential: reversible, nu: reversible };
        let mut u = vec![1.0, -1.0, 0.0];
        for k in 0..3 {
            let out = hit(Law::Poisson, &floor(if k % 2 == 0 { 1.0 } else { -1.0 }), &u, &[e]);
            assert_eq!(out.status, ImpactStatus::Solved);
            close(out.u[0], xs[k], 2e-6);
            if reversible == 1.0 {
                close(out.u[2], phis[k], 2e-5);
                close(out.energy, 0.0, 1e-12);
            }
            u = out.u;
        }
    }
}

fn pendulum(phi: f64, v0: f64) -> (Bench, f64) {
    let mut b = Bench::new(diag(&[1.0 / 3.0]), &[0.0]);
    b.unilateral((&[phi.sin()], 0.0), Some((&[phi.cos()], 0.0)), 1.0);
    b.eval.rate_offset[1] = -v0;
    (b, -(30.0 * phi.cos()).sqrt())
}

/// PG-8.14-PENDULUM: all six cases; the tie-break at v0 = 0; Newton always 1.
#[test]
fn pg_8_14_pendulum_six_cases() {
    let deg = std::f64::consts::PI / 180.0;
    for angle in (5..90).step_by(5).chain([30, 60, 80]) {
        if angle == 45 {
            continue;
        }
        let phi = f64::from(angle) * deg;
        let (s, c) = phi.sin_cos();
        for v0 in [0.0, 1.0, -1.0] {
            let (b, rate) = pendulum(phi, v0);
            let out = hit(Law::Poisson, &b, &[rate], &[eps(1.0)]);
            let ratio = -out.rate_e[0] / out.rate_a[0];
            let expected = if v0 == 0.0 {
                Some(if angle < 45 { 0.0 } else { (s - c) / (s + c) }) // I, II
            } else if v0 > 0.0 {
                let end = v0 / (c * rate.abs()); // III, IV, and II when the reversed sliding outruns the surface
                let two = (s - c) / (s + c);
                Some(if end >= 1.0 {
                    1.0
                } else if two > end {
                    two
                } else {
                    end
                })
            } else if angle < 45 {
                None // V
            } else {
                Some(1.0) // VI
            };
            match expected {
                Some(r) => {
                    close(ratio, r, 1e-9);
                    assert!(out.residual < 1e-9);
                    // I: any share of compression ends at rest
                    if v0 == 0.0 && angle > 45 {
                        assert!(matches!(out.status, ImpactStatus::Several { .. }));
                    }
                }
                None => assert_eq!(out.status, ImpactStatus::NoSolution),
            }
            let newton = hit(Law::Newton, &b, &[rate], &[eps(1.0)]);
            close(-newton.rate_e[0] / newton.rate_a[0], 1.0, 1e-12);
        }
    }
    let at = |angle: f64, v0: f64| {
        let (b, rate) = pendulum(angle * deg, v0);
        let out = hit(Law::Poisson, &b, &[rate], &[eps(1.0)]);
        -out.rate_e[0] / out.rate_a[0]
    };
    close(at(60.0, 0.0), 0.267949, 1e-6);
    close(at(30.0, 1.0), 0.226539, 1e-6);
    close(at(60.0, 1.0), 0.516398, 1e-6);
    close(at(71.3, 1.0), 1.0, 1e-9);
}

/// PG-5.3-ROD, impact without collision: the non-trivial solution in the region a < 0, and none outside it.
#[test]
fn pg_5_3_rod_impact_without_collision() {
    let mut r = Random(12);
    for _ in 0..200 {
        let (phi, v, mu) = (r.within(0.05, 1.5), r.within(0.1, 4.0), r.within(0.1, 4.0));
        let mut b = Bench::new(diag(&[1.0, 1.0, 1.0 / 3.0]), &[0.0; 3]);
        b.unilateral((&[0.0, 1.0, -phi.cos()], 0.0), Some((&[1.0, 0.0, -phi.sin()], 0.0)), mu);
        let a = 1.0 + 3.0 * phi.cos() * (phi.cos() - mu * phi.sin());
        let out = Impactor::default().without_collision(
            &b.info,
            &b.eval,
            &[v, 0.0, 0.0],
            &[true],
            &[eps(0.0)],
            None,
        );
        assert_eq!(out.is_some(), a < 0.0, "a = {a}");
        if let Some(out) = out {
            close(out.normal[0], 0.75 * v * phi.sin() * phi.cos(), 1e-9);
            close(out.tangential[0], -0.25 * v * (1.0 + 3.0 * phi.cos() * phi.cos()), 1e-9);
            assert!(out.residual < 1e-9 && !out.gains_energy);
        }
        // the ordinary call returns the trivial solution
        let none = hit(Law::Poisson, &b, &[v, 0.0, 0.0], &[eps(0.0)]);
        close(none.normal[0], 0.0, 1e-12);
    }
}
