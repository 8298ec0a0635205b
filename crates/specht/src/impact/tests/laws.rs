//! Bilateral pairs, journals, loads and Moreau's law in impacts.

use super::*;

/// A slider in a rough guide is hit: its friction impulse is μ times the impulse of the guide, against the motion.
#[test]
fn a_rough_guide_takes_part_in_the_impact() {
    // mass in a horizontal guide (y = 0), hit by a wall that is inclined by 45 degrees: impulse (−1, −1)/√2
    let s = std::f64::consts::FRAC_1_SQRT_2;
    for mu in [0.0, 0.2, 0.5] {
        let mut b = Bench::new(diag(&[2.0, 2.0]), &[0.0; 2]);
        b.bilateral((&[0.0, 1.0], 0.0), Some((&[1.0, 0.0], 0.0)), mu);
        b.unilateral((&[-s, -s], 0.0), None, 0.0);
        let out = hit(Law::Poisson, &b, &[3.0, 0.0], &[eps(0.0), eps(0.0)]);
        // compression ends at rest: s Λ + |friction| = 6, guide impulse s Λ, friction at most μ s Λ
        assert!(out.residual < 1e-9);
        close(out.u[0], 0.0, 1e-12);
        close(out.u[1], 0.0, 1e-12);
        close(s * out.normal[1] - out.tangential[0], 6.0, 1e-12);
        assert!(out.tangential[0].abs() <= mu * out.normal[0].abs() + 1e-12);
        assert!(!out.gains_energy && out.energy < 0.0);
        // elastic wall: expansion pushes back against the friction of the guide
        let out = hit(Law::Poisson, &b, &[3.0, 0.0], &[eps(0.0), eps(1.0)]);
        assert!(out.residual < 1e-9 && !out.gains_energy);
        assert!(out.u[0] < 0.0 && out.u[0] >= -3.0 - 1e-12);
        if mu == 0.0 {
            close(out.u[0], -3.0, 1e-12);
        }
    }
}

/// A pendulum with a rough journal hits a stop: the journal brakes the rebound; a given load transmits no impulse.
#[test]
fn a_journal_brakes_and_a_given_load_does_not() {
    // rod, mass 1, inertia 1/12, pinned at distance 1/2 from the centre, hanging; stop at distance 0.9 from the pin
    let build = |mu: f64| {
        let mut b = Bench::new(diag(&[1.0, 1.0, 1.0 / 12.0]), &[0.0; 3]);
        b.pin([(&[1.0, 0.0, -0.5], 0.0), (&[0.0, 1.0, 0.0], 0.0)], Some((&[0.0, 0.0, 1.0], 0.0)), mu);
        b.unilateral((&[-1.0, 0.0, -0.4], 0.0), None, 0.0);
        b.given((&[0.0, 0.0, 1.0], 0.0), 0.5, 100.0);
        b
    };
    let u = [0.5, 0.0, 1.0];
    let smooth = hit(Law::Poisson, &build(0.0), &u, &[eps(0.0), eps(0.8), eps(0.0)]);
    close(smooth.u[2], -0.8, 1e-11);
    close(smooth.tangential[2], 0.0, 0.0);
    let rough = hit(Law::Poisson, &build(0.1), &u, &[eps(0.0), eps(0.8), eps(0.0)]);
    assert!(rough.residual < 1e-9 && !rough.gains_energy);
    assert!(rough.u[2] < 0.0 && rough.u[2] > smooth.u[2], "{}", rough.u[2]);
    assert!(
        rough.tangential[0].abs()
            <= 0.1 * (rough.compression[0].abs() + (rough.impulse[0] - rough.compression[0]).abs()) + 1e-12
    );
    close(rough.rate_e[0], 0.0, 1e-12);
}

/// A body (x, y, φ) hangs with a rough journal on a slider (x, y) in a rough guide that falls by 45 degrees, and meets two rough obstacles.
pub(super) fn slider(guide: f64, journal: f64, other: f64) -> (Bench, [f64; 5]) {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let mut b = Bench::new(diag(&[2.0, 2.0, 0.4, 1.0, 1.0]), &[0.0; 5]);
    b.bilateral((&[0.0, 0.0, 0.0, s, s], 0.0), Some((&[0.0, 0.0, 0.0, s, -s], 0.0)), guide);
    b.pin(
        [(&[1.0, 0.0, 0.0, -1.0, 0.0], 0.0), (&[0.0, 1.0, 0.0, 0.0, -1.0], 0.0)],
        Some((&[0.0, 0.0, 1.0, 0.0, 0.0], 0.0)),
        journal,
    );
    b.unilateral((&[0.0, 1.0, 0.5, 0.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.4, 0.0, 0.0], 0.0)), 0.3);
    b.unilateral((&[0.0, 1.0, -0.6, 0.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.4, 0.0, 0.0], 0.0)), other);
    (b, [2.0, -2.0, 0.7, 2.0, -2.0])
}

/// Was wrong: no solution was found, because more contacts stick than the machine has freedoms, and the norm of the pin force bounds the
/// family of their impulses.
#[test]
fn a_body_that_is_stopped_by_more_contacts_than_it_has_freedoms_comes_to_rest() {
    for (guide, journal, other) in
        [(0.1, 0.02, 0.2), (0.0, 0.02, 0.2), (0.1, 0.0, 0.2), (0.1, 0.02, 0.0), (0.4, 0.3, 0.5)]
    {
        let (b, u) = slider(guide, journal, other);
        for law in [Law::Poisson, Law::Moreau] {
            let out = hit(law, &b, &u, &[eps(0.0); 4]);
            assert!(out.residual < 1e-9, "{law:?} {guide} {journal} {other}: {:?}", out.status);
            assert!(out.u.iter().all(|u| u.abs() < 1e-9), "{law:?}: {:?}", out.u);
            assert!(!out.gains_energy);
        }
    }
    // and it rebounds
    let (b, u) = slider(0.1, 0.02, 0.2);
    for law in [Law::Poisson, Law::Moreau] {
        let out = hit(law, &b, &u, &[eps(0.0), eps(0.0), eps(0.5), eps(0.5)]);
        assert!(out.residual < 1e-8, "{law:?}: {:?} {}", out.status, out.residual);
    }
}

/// PG-8.6, generalised central impact: W_N M⁻¹ W_T = 0, the normal problem decouples: ġ_NE = −ε ġ_NA with any friction.
#[test]
fn central_impacts_decouple_normal_and_tangential_problem() {
    let mut r = Random(861);
    for _ in 0..300 {
        let (m, j, radius) = (r.within(0.2, 3.0), r.within(0.01, 1.0), r.within(0.1, 1.0));
        let mut b = Bench::new(diag(&[m, m, j]), &[0.0; 3]);
        b.unilateral((&[0.0, 1.0, 0.0], 0.0), Some((&[1.0, 0.0, radius], 0.0)), r.within(0.0, 1.0));
        let u = [r.normal(), -r.within(0.1, 3.0), r.normal()];
        let e = r.unit();
        let out = hit(Law::Poisson, &b, &u, &[eps(e)]);
        close(out.rate_e[0], -e * out.rate_a[0], 1e-11);
        close(out.normal[0], m * (1.0 + e) * -u[1], 1e-11);
        let moreau = hit(Law::Moreau, &b, &u, &[eps(e)]);
        close(moreau.rate_e[0], -e * out.rate_a[0], 1e-11);
        assert!(moreau.residual < 1e-9);
    }
}

/// Unequal ε_N with friction may produce energy: such an impact is marked, and the marks follow the sum of the works.
#[test]
fn energy_gain_is_marked() {
    let mut r = Random(840);
    let mut gained = 0;
    for _ in 0..20_000 {
        // wedge between two obstacles, over-constrained: two coordinates, two contacts
        let mut b = Bench::new(diag(&[1.0, r.within(0.1, 2.0)]), &[0.0; 2]);
        for _ in 0..2 {
            let a = r.within(-3.2, 3.2);
            b.unilateral((&[a.cos(), a.sin()], 0.0), Some((&[-a.sin(), a.cos()], 0.0)), r.within(0.5, 3.0));
        }
        let u = [r.normal(), r.normal()];
        let out = hit(Law::Poisson, &b, &u, &[eps(0.0), eps(1.0)]);
        if out.status == ImpactStatus::NoSolution {
            continue;
        }
        assert!(out.residual < 1e-8);
        assert_eq!(
            out.gains_energy,
            out.energy > 1e-9 * (0.5 * (u[0] * u[0] + b.eval.mass.diagonal(1) * u[1] * u[1])).max(1e-9)
        );
        gained += usize::from(out.gains_energy);
        if gained > 3 {
            return;
        }
    }
    panic!("no gain found, the search is too small");
}
