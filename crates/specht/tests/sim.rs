//! The event-driven scheme on systems written by hand, against closed forms and the spec.

mod systems;

use specht::sim::*;
use systems::*;

fn run(sys: &Hand, start: &specht::system::State, until: f64) -> Trajectory {
    event_driven(sys, start, &Settings::until(until), &mut Outside::default()).expect("consistent start")
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} instead of {b}, off by {:e}", (a - b).abs());
}

fn trusted(t: &Trajectory) {
    assert!(t.audit.passed, "{:?}", t.audit);
}

/// PG-6.0-INCLINE: stops after 0.37668 s at 0.56501 m and sticks; the friction force jumps.
#[test]
fn pg_6_0_incline_moderate_slope_sticks() {
    let alpha = 20.0_f64.to_radians();
    let t = run(&incline(alpha, 0.5), &state(&[0.0, 0.0], &[3.0, 0.0]), 1.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    trusted(&t);
    let a = 9.81 * (alpha.sin() + 0.5 * alpha.cos());
    let stop = t.of_kind(Kind::Stick).next().unwrap();
    near(stop.time, 3.0 / a, 1e-12);
    near(t.last.state.q[0], 4.5 / a, 1e-12);
    near(t.last.tangential[0], 9.81 * alpha.sin(), 1e-12);
    near(t.start.point.tangential[0], -4.6092, 5e-5);
    assert_eq!(t.events.len(), 1);
}

/// PG-6.0-INCLINE: the steep slope reverses at 0.29812 s and slides back with 2.5483 m/s².
#[test]
fn pg_6_0_incline_steep_slope_slides_back() {
    let alpha = 40.0_f64.to_radians();
    let t = run(&incline(alpha, 0.5), &state(&[0.0, 0.0], &[3.0, 0.0]), 1.0);
    trusted(&t);
    let back = t.of_kind(Kind::Reverse).next().unwrap();
    near(back.time, 3.0 / (9.81 * (alpha.sin() + 0.5 * alpha.cos())), 1e-12);
    near(t.last.accel[0], -2.5483, 5e-5);
    assert_eq!(t.events.len(), 1);
}

/// PG-6.6-OSCILLATOR: amplitude 0.529, ten transitions per period, contact 1 sticks for about 9 ms.
#[test]
fn pg_6_6_oscillator_limit_cycle() {
    let t = run(&oscillator(), &state(&[0.0, 0.0], &[0.0, 0.0]), 12.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    trusted(&t);
    let top = t.samples.rows().filter(|s| s.t > 10.0).map(|s| s.q[0]).fold(0.0, f64::max);
    near(top, 0.529, 1e-3);
    let mut instants: Vec<f64> =
        t.events.iter().map(|e| e.time).filter(|t| *t > 10.0 && *t <= 11.0).collect();
    instants.dedup();
    assert_eq!(instants.len(), 10, "{instants:?}");
    let stick: Vec<f64> = t
        .events
        .iter()
        .filter(|e| e.time > 10.0 && e.contacts[0].contact == 0)
        .map(|e| e.time)
        .take(2)
        .collect();
    near(stick[1] - stick[0], 0.009, 1e-3);
}

/// PG-5.3-ROD: solution counts and forces of the start.
#[test]
fn pg_5_3_rod_start_lists_all_solutions() {
    let deg = f64::to_radians;
    let t = run(&rod(5.0 / 3.0), &rod_state(deg(30.0), 1.0, 1.0), 0.01);
    assert_eq!(t.start.solutions.len(), 1);
    near(t.start.point.normal[0], 8.58115, 5e-6);
    let t = run(&rod(5.0 / 3.0), &rod_state(deg(60.0), 5.0, 1.0), 0.01);
    assert_eq!(t.start.solutions.len(), 2);
    near(t.start.solutions[1].normal[0], 28.52729, 5e-6);
}

/// Bouncing ball: rest time t₁ (1 + ε)/(1 − ε) to 1e-9, then at rest.
#[test]
fn a_bouncing_ball_comes_to_rest_at_the_limit_of_its_flights() {
    for e in [0.2, 0.5, 0.8, 0.9] {
        let t = run(&ball(e, 9.81), &state(&[1.0], &[0.0]), 15.0);
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        trusted(&t);
        let fall = (2.0_f64 / 9.81).sqrt();
        let rest = fall * (1.0 + e) / (1.0 - e);
        let end = t.of_kind(Kind::Accumulated).next().unwrap();
        near(end.time, rest, 1e-9);
        near(t.of_kind(Kind::Impact).next().unwrap().time, fall, 1e-12);
        near(t.last.normal[0], 9.81, 1e-12);
        near(t.last.state.u[0], 0.0, 1e-15);
    }
}

/// PG-8.13-SUPERBALL: velocities after the first three impacts, reversible and not.
#[test]
fn pg_8_13_superball_book_parameters() {
    let start = state(&[0.0, 0.9, 0.0], &[1.0, -1.0, 0.0]);
    let t = run(&superball(1.0), &start, 3.0);
    trusted(&t);
    let hits: Vec<_> = t.of_kind(Kind::Impact).collect();
    for (k, (v, w)) in
        [(0.428571, -14.2857), (-0.632653, 12.2449), (-0.970845, 3.79009)].into_iter().enumerate()
    {
        near(hits[k].time, 0.8 * (k + 1) as f64, 1e-12);
        near(hits[k].after.u[0], v, 1e-6);
        near(hits[k].after.u[2], w, 1e-4);
    }
    let t = run(&superball(0.0), &start, 20.0);
    trusted(&t);
    let hits: Vec<_> = t.of_kind(Kind::Impact).collect();
    near(hits[0].after.u[0], 5.0 / 7.0, 1e-12);
    for k in 1..4 {
        near(hits[k].after.u[0] / hits[k - 1].after.u[0], 3.0 / 7.0, 1e-12);
    }
    near(t.last.state.q[0], 1.8, 1e-3);
}

/// PG-8.11-ROCKING: ratio 0.785714 at every impact, rest after 2.783 s.
#[test]
fn pg_8_11_rocking_rod_comes_to_rest() {
    let (b, phi) = (0.2, -0.3_f64);
    let start = state(&[b - b * phi.cos(), -b * phi.sin(), phi], &[0.0; 3]);
    let t = run(&rocking(b, 50.0), &start, 4.0);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    trusted(&t);
    let ratio = (1.0 / 3.0 - b * b) / (1.0 / 3.0 + b * b);
    for hit in t.of_kind(Kind::Impact).take(8) {
        near(hit.after.u[2] / hit.before.u[2], ratio, 1e-9);
    }
    let end = t.of_kind(Kind::Accumulated).next().unwrap();
    near(end.time, 2.783, 5e-4);
    assert!(t.last.state.u.iter().all(|u| u.abs() < 1e-12));
}

fn returns(mu: [f64; 3], a0: f64, until: f64) -> (Trajectory, Vec<(f64, f64, f64)>) {
    let sys = woodpecker(mu).crossing("turn", specht::system::Direction::Up);
    let t = run(&sys, &jammed(a0), until);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    // lower turning points in the jammed state: time, angle, height
    let turns = t
        .of_kind(Kind::Mark)
        .filter(|e| {
            let row = t.samples.rows().find(|s| s.t >= e.time).unwrap();
            row.modes[1] == specht::system::Mode::Stick
        })
        .map(|e| (e.time, e.after.q[2], e.after.q[0]))
        .collect();
    (t, turns)
}

/// PG-14.1-WOODPECKER: first returns of the lower turning angle, printed data.
#[test]
fn pg_14_1_woodpecker_first_returns() {
    for (a0, p) in [
        (-0.30, -0.96985),
        (-0.36, -0.68664),
        (-0.42, -0.60305),
        (-0.48, -0.62048),
        (-0.50, -0.56992),
        (-0.54, -0.52104),
    ] {
        let (_, turns) = returns([0.3; 3], a0, 0.5);
        near(turns[0].1, p, 1e-5);
    }
}

/// PG-14.1-WOODPECKER set A: 0.145976 s, 19.445 mm, impacts 3-1-3-2-2 and their energies.
#[test]
fn pg_14_1_woodpecker_set_a_limit_cycle() {
    let (t, turns) = returns([0.3; 3], -0.53, 6.0);
    trusted(&t);
    let [a, b] = turns[turns.len() - 2..] else { panic!() };
    near(b.0 - a.0, 0.145976, 1e-6);
    near((a.2 - b.2) * 1e3, 19.445, 1e-3);
    near(b.1, -0.5295, 1e-4);
    let hits: Vec<_> = t.of_kind(Kind::Impact).filter(|e| e.time > a.0 && e.time < b.0).collect();
    let order: Vec<usize> = hits.iter().map(|e| e.contacts[0].contact + 1).collect();
    assert_eq!(order, [3, 1, 3, 2, 2]);
    for (hit, loss) in hits.iter().zip([0.0388, 0.9605, 0.1460, 0.0887, 0.0111]) {
        near(hit.contacts.iter().map(|c| c.loss).sum::<f64>() * 1e4, loss, 1e-4);
    }
}

/// The woodpecker's Siconos start: φ_M as a guess from the closed lower contact, the velocity too.
#[test]
fn guesses_are_solved_from_closed_contacts() {
    let sys = woodpecker([0.3; 3]);
    let start = state(&[0.0, -0.1036, -0.2788], &[-0.3411, 0.2, -7.4583]);
    let s = specht::inside::consistent(&sys, &start, &[1], &[1], &[]).unwrap();
    near(s.q[1], -0.0006 / 0.0058, 1e-15);
    near(s.u[1], 0.0, 1e-15);
    assert_eq!((s.q[0], s.q[2], s.u[0], s.u[2]), (0.0, -0.2788, -0.3411, -7.4583));
    let refused = event_driven(&sys, &start, &Settings::until(1.0), &mut Outside::default()).unwrap_err();
    assert!(
        matches!(&refused, StartError::Inside { contact, depth, .. } if contact == "lower" && (depth - 8.8e-7).abs() < 1e-9),
        "{refused}"
    );
}

/// Equilibrium of a spring-loaded mass on a floor: lifted by the spring or pressed on the floor, whichever balances.
#[test]
fn an_equilibrium_closes_the_contact_only_when_it_presses() {
    for (free_length, expected) in [(1.5, 1.5 - 9.81 / 50.0), (0.1, 0.0)] {
        let mut sys = Hand::new(1, 1, vec![unilateral("floor", 0, None)], move |s, _, out| {
            out.mass[(0, 0)] = 1.0;
            out.h[0] = -9.81 - 50.0 * (s.q[0] - free_length);
            out.w[(0, 0)] = 1.0;
            out.gap[0] = s.q[0];
        });
        let refused = specht::inside::equilibrium(&sys, &state(&[1.0], &[0.3]), &[0]);
        assert_eq!(refused, Err(StartError::NoDerivatives));
        sys.rates = Some(Box::new(|_, along, rate| {
            rate.h[0] = -50.0 * along.q[0];
            rate.gap[0] = along.q[0];
        }));
        let s = specht::inside::equilibrium(&sys, &state(&[1.0], &[0.3]), &[0]).unwrap();
        near(s.q[0], expected, 1e-12);
        assert_eq!(s.u[0], 0.0);
    }
}

fn stepped(sys: &Hand, start: &specht::system::State, until: f64, step: f64) -> Trajectory {
    let settings = Settings { step, ..Settings::until(until) };
    time_stepping(sys, start, &settings, &mut Outside::default()).expect("consistent start")
}

/// METH-TIMESTEP: parabolas and impacts have no error at all, wherever the impacts are within their steps.
#[test]
fn time_stepping_meets_the_impacts_of_a_ball_where_they_are() {
    for k in 0..8 {
        let start = state(&[1.0 + 0.003 * k as f64], &[0.0]);
        let exact = run(&ball(0.7, 9.81), &start, 1.0);
        let t = stepped(&ball(0.7, 9.81), &start, 1.0, 4e-3);
        near(t.last.state.q[0], exact.last.state.q[0], 1e-11);
        let times = |t: &Trajectory| t.of_kind(Kind::Impact).map(|e| e.time).collect::<Vec<_>>();
        times(&t).iter().zip(times(&exact)).for_each(|(a, b)| near(*a, b, 1e-11));
    }
}

/// METH-TIMESTEP: beginnings and ends of sliding are known to a step: the error of stick and slip halves with the step.
#[test]
fn time_stepping_has_order_one_where_sliding_begins_and_ends() {
    let exact = run(&oscillator(), &state(&[0.0, 0.0], &[0.0, 0.0]), 2.0);
    // averaged over the phase of the events within a step
    let mean_error = |h: f64| {
        let sum: f64 = (0..12)
            .map(|k| {
                let step = h * (1.0 + 0.01 * k as f64);
                let t = stepped(&oscillator(), &state(&[0.0, 0.0], &[0.0, 0.0]), 2.0, step);
                (t.last.state.q[1] - exact.last.state.q[1]).abs()
            })
            .sum();
        sum / 12.0
    };
    let (coarse, fine) = (mean_error(8e-3), mean_error(1e-3));
    let order = (coarse / fine).log2() / 3.0;
    assert!(order > 0.75 && fine < 2e-3, "order {order}: {coarse} {fine}");
}

/// METH-TIMESTEP: a sliding block stops at the right place and rests exactly.
#[test]
fn time_stepping_holds_a_block_on_the_incline() {
    let alpha = 20.0_f64.to_radians();
    let t = stepped(&incline(alpha, 0.5), &state(&[0.0, 0.0], &[3.0, 0.0]), 1.0, 1e-3);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    trusted(&t);
    near(t.last.state.q[0], 0.56501, 2e-5);
    assert!(t.last.state.u[0].abs() < 1e-15);
    assert_eq!(t.of_kind(Kind::Stick).count(), 1);
}

/// The forced oscillator and the rocking rod, both schemes.
#[test]
fn time_stepping_follows_loaded_contacts_and_accumulation() {
    let start = state(&[0.0, 0.0], &[0.0, 0.0]);
    let (a, b) = (run(&oscillator(), &start, 2.0), stepped(&oscillator(), &start, 2.0, 1e-3));
    near(b.last.state.q[0], a.last.state.q[0], 2e-3);
    near(b.last.state.q[1], a.last.state.q[1], 2e-3);
    let (w, phi) = (0.2, -0.3_f64);
    let start = state(&[w - w * phi.cos(), -w * phi.sin(), phi], &[0.0; 3]);
    let t = stepped(&rocking(w, 50.0), &start, 4.0, 1e-3);
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    near(t.last.state.q[2], 0.0, 1e-4);
    assert!(t.last.state.u.iter().all(|u| u.abs() < 1e-6), "{:?}", t.last.state.u);
    let s = stepped(&ball(0.5, 9.81), &state(&[1.0], &[0.0]), 3.0, 1e-3);
    assert_eq!(s.of_kind(Kind::Accumulated).count(), 1);
    near(s.of_kind(Kind::Accumulated).next().unwrap().time, 1.354570, 0.02);
}

/// PG-14.1-WOODPECKER sets B and C: 8.90 Hz and 7.43 mm, 8.98 Hz and 5.56 mm, impacts 3-1-3-2.
#[test]
fn pg_14_1_woodpecker_sets_b_and_c() {
    for (mu, frequency, drop) in [([0.8, 0.95, 0.95], 8.90, 7.43), ([0.55, 0.97, 0.40], 8.98, 5.56)] {
        for a0 in [-0.45, -0.60] {
            let (t, turns) = returns(mu, a0, 3.0);
            trusted(&t);
            let [a, b] = turns[turns.len() - 2..] else { panic!() };
            near(1.0 / (b.0 - a.0), frequency, 0.005 * frequency);
            near((a.2 - b.2) * 1e3, drop, 0.005 * drop);
            if mu[0] == 0.8 {
                let hits: Vec<_> = t.of_kind(Kind::Impact).filter(|e| e.time > a.0 && e.time < b.0).collect();
                let order: Vec<usize> = hits.iter().map(|e| e.contacts[0].contact + 1).collect();
                assert_eq!(order, [3, 1, 3, 2]);
            }
        }
    }
}

/// PG-5.3-ROD along a trajectory: for 4/3 < μ < 8/(3√3) the sliding phase ends by lift-off, b reaches zero while a > 0.
#[test]
fn pg_5_3_rod_lifts_off_below_the_limit_of_friction() {
    for mu in [1.36, 1.45, 1.53] {
        let t = run(&rod(mu), &rod_state(35.0_f64.to_radians(), 2.0, 30.0), 3.0);
        let off = t.of_kind(Kind::Detach).next().unwrap_or_else(|| panic!("{} {:?}", t.message, t.events));
        let (phi, w) = (off.after.q[2], off.after.u[2]);
        near(w * w * phi.sin(), 9.81, 1e-6);
        let a = 1.0 + 3.0 * phi.cos() * (phi.cos() - mu * phi.sin());
        assert!(a > 0.0, "{a}");
    }
}

/// PG-5.3-ROD: above 8/(3√3) the motion runs into a = 0 and b = 0 together; both numbers are reported.
#[test]
fn pg_5_3_rod_reaches_the_border_with_both_numbers_vanishing() {
    let t = run(&rod(5.0 / 3.0), &rod_state(35.0_f64.to_radians(), 2.0, 30.0), 3.0);
    let finding = t.of_kind(Kind::Finding).next().unwrap_or_else(|| panic!("{} {:?}", t.message, t.events));
    assert!(finding.note.contains("a = ") && finding.note.contains("b = "), "{}", finding.note);
    let (phi, w) = (finding.before.q[2], finding.before.u[2]);
    near(phi, 45.0_f64.to_radians(), 1e-5);
    near(w * w * phi.sin(), 9.81, 0.05);
}

/// The same run gives the same bits.
#[test]
fn runs_are_deterministic() {
    let once = run(&woodpecker([0.3; 3]), &jammed(-0.53), 1.0);
    let again = run(&woodpecker([0.3; 3]), &jammed(-0.53), 1.0);
    assert_eq!(once, again);
}

/// An interrupted run returns what it has.
#[test]
fn a_run_can_be_interrupted() {
    let flag = std::sync::atomic::AtomicBool::new(true);
    let mut outside = Outside { interrupt: Some(&flag), progress: None };
    let t =
        event_driven(&ball(0.5, 9.81), &state(&[1.0], &[0.0]), &Settings::until(5.0), &mut outside).unwrap();
    assert_eq!(t.status, Status::Interrupted);
    assert!(t.message.starts_with("interrupted at t = 0"), "{}", t.message);
}

/// A load that friction holds: energies are rounding, and so is what does not close.
#[test]
fn a_machine_that_never_moves_passes_its_audit_for_any_time() {
    for (load, until) in [(1e3, 0.01), (1e3, 1.0), (1e8, 7.0), (3e-4, 1e3), (2e4, 1e3)] {
        // a nut on a self-locking thread: gap (z − p φ) c, slip along the helix
        let (p, c, r) = (8e-4, 0.97, 7e-3);
        let sys = Hand::new(2, 2, vec![bilateral("thread", 0, 1)], move |s, _, out| {
            (out.mass[(0, 0)], out.mass[(1, 1)]) = (3e-4, 2.0);
            out.h[1] = -load;
            (out.w[(0, 0)], out.w[(0, 1)]) = (-p * c, c);
            (out.w[(1, 0)], out.w[(1, 1)]) = (r, p / r);
            out.gap[0] = (s.q[1] - p * s.q[0]) * c;
            (out.mu[0], out.mu_static[0]) = (0.2, 0.2);
            out.kinetic = 0.5 * (3e-4 * s.u[0] * s.u[0] + 2.0 * s.u[1] * s.u[1]);
            out.power = -load * s.u[1];
        });
        let t = run(&sys, &state(&[0.0, 0.0], &[0.0, 0.0]), until);
        assert_eq!(t.status, Status::Finished, "{}", t.message);
        assert!(t.last.state.q.iter().all(|q| q.abs() < 1e-13), "{:?}", t.last.state.q);
        trusted(&t);
    }
}

/// A system whose books are wrong: energy, work of a force, direction of a force, each in a part per million.
#[test]
fn a_system_that_lies_about_its_energy_fails_the_energy_line_alone() {
    for (lie, tolerance) in [(0, 1e-9), (1, 1e-9), (2, 1e-9), (3, 1e-9), (0, 1e-7), (3, 1e-7)] {
        let sys = Hand::new(1, 1, vec![loaded("rub", 0)], move |s, _, out| {
            let scale = |k: i32| if lie == k { 1.0 + 1e-5 } else { 1.0 };
            let (x, v) = (s.q[0], s.u[0]);
            out.mass[(0, 0)] = 2.0;
            out.h[0] = -50.0 * x - 0.3 * v;
            out.w[(0, 0)] = 1.0;
            (out.mu[0], out.mu_static[0], out.load[0], out.load_static[0]) = (1.0, 1.0, 0.7, 0.7);
            out.kinetic = v * v * scale(1);
            out.potential = 25.0 * x * x * scale(2);
            out.power = -0.3 * v * v * scale(3);
        });
        let settings = Settings { tolerance, ..Settings::until(5.0) };
        let t = event_driven(&sys, &state(&[0.4], &[0.0]), &settings, &mut Outside::default())
            .expect("consistent");
        assert_eq!(t.audit.passed, lie == 0, "lie {lie}: {:?}", t.audit);
        if lie > 0 {
            assert_eq!(t.audit.remarks.len(), 1, "{:?}", t.audit.remarks);
            assert!(t.audit.remarks[0].contains("energy"), "{:?}", t.audit.remarks);
        }
    }
}

/// A coarse tolerance is no mistake: the closing error is what the error estimates explain.
#[test]
fn a_coarse_tolerance_explains_its_own_closing_error() {
    for tolerance in [1e-3, 1e-5, 1e-7, 1e-11] {
        let settings = Settings { tolerance, ..Settings::until(30.0) };
        let t =
            event_driven(&oscillator(), &state(&[0.0, 0.0], &[0.0, 0.0]), &settings, &mut Outside::default())
                .expect("consistent");
        trusted(&t);
    }
}
