//! Impulses that the velocities do not determine.

use super::*;

/// A block slides along one side of a corner into the other: only the stop pushes, whatever rounding says of the velocities
/// across. (The sign of −9e-16 m/s decided.)
#[test]
fn a_block_in_a_corner_gets_no_impulse_from_the_side_along_which_it_slides() {
    for (along, across, speed, eps_wall) in
        [(0.3, 0.4, 16.0, 0.7), (0.9, 0.15, 2.5, 0.0), (0.1, 1.4, 0.3, 1.0)]
    {
        for noise in [0.0, 7e-16, -7e-16, 2e-12, -2e-12] {
            for angle in [0.0_f64, 0.61, 1.3] {
                // the same corner in turned coordinates
                let (s, c) = angle.sin_cos();
                let mut b = Bench::new(diag(&[2.0, 2.0]), &[0.0; 2]);
                b.unilateral((&[-s, c], 0.0), Some((&[c, s], 0.0)), along);
                b.unilateral((&[-c, -s], 0.0), Some((&[-s, c], 0.0)), across);
                let n = noise * speed;
                let u = [speed * c - n * s, speed * s + n * c];
                let out = hit(Law::Poisson, &b, &u, &[eps(0.8), eps(eps_wall)]);
                let momentum = 2.0 * speed;
                close(out.normal[0], 0.0, 1e-11 * momentum);
                close(out.tangential[0], 0.0, 1e-11 * momentum);
                close(out.normal[1], (1.0 + eps_wall) * momentum, 1e-11 * momentum);
                close(out.tangential[1], 0.0, 1e-11 * momentum);
                assert!(out.residual < 1e-9);
            }
        }
    }
}

/// A body falls flat on rough legs: legs of the same stiffness share the impulse as a + b x, nothing acts along the floor, and there
/// is one motion. (Opposite tangential impulses of ±μN were taken, with a warning of several solutions.)
#[test]
fn a_body_that_falls_flat_shares_its_impulse_as_equal_springs_would() {
    let (mass, inertia, speed) = (1.7, 0.4, 2.3);
    for legs in [
        &[-0.4, 0.3][..],
        &[-0.7, 0.1, 0.5],
        &[-0.8, -0.3, 0.05, 0.2, 0.9],
        &[-1.0, -0.2, 0.0, 0.4, 0.5, 0.8],
    ] {
        for (mu, e) in [(0.5, 0.0), (0.05, 0.6), (1.3, 0.3)] {
            let mut b = Bench::new(diag(&[mass, mass, inertia]), &[0.0; 3]);
            for x in legs {
                b.unilateral((&[0.0, 1.0, *x], 0.0), Some((&[1.0, 0.0, 0.2], 0.0)), mu);
            }
            let out = hit(Law::Poisson, &b, &[0.0, -speed, 0.0], &vec![eps(e); legs.len()]);
            assert_eq!(out.status, ImpactStatus::Solved);
            // least Σ N² with Σ N = m v and Σ N x = 0
            let k = legs.len() as f64;
            let (sum, square) = (legs.iter().sum::<f64>(), legs.iter().map(|x| x * x).sum::<f64>());
            let slope = -sum / (k * square - sum * sum);
            let level = (1.0 - slope * sum) / k;
            let total = (1.0 + e) * mass * speed;
            for (i, x) in legs.iter().enumerate() {
                close(out.normal[i], total * (level + slope * x), 1e-11 * total);
                close(out.tangential[i], 0.0, 1e-12 * total);
            }
            close(out.u[1], e * speed, 1e-11);
        }
    }
}

/// Where end velocities depend on the share, friction opposes the approach (PG-8-POISSON, edge case i) and the impact says that its
/// laws allow more; the rest of the share is still that of equal springs.
#[test]
fn a_share_on_which_the_rebound_depends_is_told() {
    // PG-8.14 with v0 = 0, at another angle and friction
    let (s, c) = 1.1_f64.sin_cos();
    let mu = 0.7;
    let mut b = Bench::new(diag(&[0.5]), &[0.0]);
    b.unilateral((&[s], 0.0), Some((&[c], 0.0)), mu);
    let out = hit(Law::Poisson, &b, &[-2.0], &[eps(1.0)]);
    assert!(matches!(out.status, ImpactStatus::Several { .. }));
    close(-out.rate_e[0] / out.rate_a[0], (s - mu * c) / (s + mu * c), 1e-9);
    // plastic: the share changes nothing
    let out = hit(Law::Poisson, &b, &[-2.0], &[eps(0.0)]);
    assert_eq!(out.status, ImpactStatus::Solved);
    close(out.u[0], 0.0, 1e-12);
}
