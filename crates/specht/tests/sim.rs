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
