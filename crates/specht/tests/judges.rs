//! The judges in whole runs: a system that lies in one thing fails the line of the audit that this thing concerns, and no other.
//!
//! The lines by themselves, each with every way to break it, are judged in `sim/audit.rs` and `impact/tests/judge.rs`; here it is
//! shown that runs of both schemes bring their numbers before these judges.

mod systems;

use specht::sim::{Kind, Outside, Settings, Status, Trajectory, event_driven, time_stepping};
use specht::system::*;
use systems::*;

/// A system with a lie.
struct Lying<S> {
    truth: S,
    /// What is changed in an evaluation.
    evaluation: fn(&State, &mut Eval),
    /// What is changed in the coefficients of impacts.
    restitution: fn(&mut Restitution),
}

impl<S: System> System for Lying<S> {
    fn dims(&self) -> Dims {
        self.truth.dims()
    }
    fn contacts(&self) -> &[ContactInfo] {
        self.truth.contacts()
    }
    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.truth.evaluate(s, d, out);
        (self.evaluation)(s, out);
    }
    fn latch(&self, s: &State, d: &mut Discrete, e: &mut Eval, keep: bool) {
        self.truth.latch(s, d, e, keep);
    }
    fn flip(&self, k: usize, d: &mut Discrete, e: &Eval) {
        self.truth.flip(k, d, e);
    }
    fn restitution(&self, s: &State, d: &Discrete, out: &mut [Restitution]) {
        self.truth.restitution(s, d, out);
        out.iter_mut().for_each(self.restitution);
    }
    fn length_scale(&self) -> f64 {
        self.truth.length_scale()
    }
}

/// The first words of the remarks of an audit.
fn failing(t: &Trajectory) -> Vec<&str> {
    const LINES: [&str; 9] = [
        "complementarity",
        "cone",
        "residual of an impact law",
        "penetration",
        "drift",
        "closing error of the energy",
        "energy created",
        "error of the end state",
        "friction tensor",
    ];
    assert_eq!(t.audit.passed, t.audit.remarks.is_empty());
    let line = |r: &String| LINES.into_iter().find(|l| r.starts_with(l)).unwrap_or("unknown");
    t.audit.remarks.iter().map(line).collect()
}

fn lying<S: System>(
    truth: S,
    evaluation: fn(&State, &mut Eval),
    restitution: fn(&mut Restitution),
) -> Lying<S> {
    Lying { truth, evaluation, restitution }
}

const HONEST: fn(&State, &mut Eval) = |_, _| ();
const FAIR: fn(&mut Restitution) = |_| ();

#[track_caller]
fn run<S: System>(sys: &S, start: &State, until: f64) -> Trajectory {
    let t = event_driven(sys, start, &Settings::until(until), &mut Outside::default()).expect("consistent");
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    t
}

#[track_caller]
fn steps<S: System>(sys: &S, start: &State, until: f64) -> Trajectory {
    let settings = Settings { step: 1e-3, ..Settings::until(until) };
    let t = time_stepping(sys, start, &settings, &mut Outside::default()).expect("consistent");
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    t
}

/// A body slides along a guide that nothing can correct: its row is empty, and its gap is `error` per metre of the way.
fn guided(error: f64) -> Hand {
    Hand::new(1, 2, vec![bilateral("guide", 0, 1)], move |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = error * s.q[0];
        out.kinetic = 0.5 * s.u[0] * s.u[0];
    })
}

#[test]
fn a_guide_that_leaves_its_place_fails_the_drift_line_alone() {
    let start = state(&[0.0], &[2.0]);
    assert!(failing(&run(&guided(0.0), &start, 1.0)).is_empty());
    assert_eq!(failing(&run(&guided(1e-5), &start, 1.0)), ["drift"]);
    assert!(failing(&steps(&guided(1e-5), &start, 1.0)).is_empty());
    assert_eq!(failing(&steps(&guided(0.1), &start, 1.0)), ["drift"]);
}

/// A ball falls through a floor whose gap closes although nothing moves in the row: no approach, no impact, no force.
#[test]
fn a_gap_that_no_velocity_can_stop_fails_the_penetration_line() {
    let floor = Hand::new(1, 1, vec![unilateral("floor", 0, None)], |s, _, out| {
        out.mass[(0, 0)] = 1.0;
        out.gap[0] = s.q[0];
        out.kinetic = 0.5 * s.u[0] * s.u[0];
    });
    let t = event_driven(&floor, &state(&[1.0], &[-3.0]), &Settings::until(1.0), &mut Outside::default())
        .expect("consistent");
    assert!(!t.audit.passed && failing(&t).contains(&"penetration"), "{:?} {:?}", t.status, t.audit);
}

/// A floor whose gap falls while its row says that it opens: nobody stops the body, and nothing else is wrong.
#[test]
fn a_gap_that_falls_while_its_rate_rises_fails_the_penetration_line_alone() {
    let floor = |rise: f64| {
        Hand::new(1, 1, vec![unilateral("floor", 0, None)], move |s, _, out| {
            out.mass[(0, 0)] = 1.0;
            out.w[(0, 0)] = 1.0;
            out.gap[0] = 0.5 + rise * s.q[0];
            out.kinetic = 0.5 * s.u[0] * s.u[0];
        })
    };
    let start = state(&[0.0], &[1.0]);
    assert!(failing(&steps(&floor(1.0), &start, 1.0)).is_empty());
    assert_eq!(failing(&steps(&floor(-1.0), &start, 1.0)), ["penetration"]);
}

/// Kinetic energy, potential energy, power: each wrong by a hundred-thousandth. (More lies of this kind: `sim.rs`.)
#[test]
fn a_system_that_lies_about_energy_fails_the_energy_line_alone() {
    let start = state(&[1.0], &[0.0]);
    assert!(failing(&run(&ball(0.5, 9.81), &start, 0.6)).is_empty());
    let lies: [fn(&State, &mut Eval); 3] = [
        |_, out| out.kinetic *= 1.0 + 1e-5,
        |_, out| out.potential *= 1.0 + 1e-5,
        |s, out| out.power += 1e-5 * s.u[0].abs(),
    ];
    for (k, lie) in lies.into_iter().enumerate() {
        let t = run(&lying(ball(0.5, 9.81), lie, FAIR), &start, 0.6);
        assert_eq!(failing(&t), ["closing error of the energy"], "lie {k}");
    }
    // fixed steps: what they may lose is a part in a hundred
    let t = steps(&lying(ball(0.5, 9.81), |_, out| out.kinetic *= 1.1, FAIR), &start, 0.6);
    assert_eq!(failing(&t), ["closing error of the energy"]);
}

/// A disk that falls straight down, without slip: the tangential restitution does not matter to its motion.
fn disk() -> Hand {
    Hand::new(2, 2, vec![unilateral("floor", 0, Some(1))], |s, _, out| {
        (out.mass[(0, 0)], out.mass[(1, 1)]) = (1.0, 1.0);
        out.h[1] = -10.0;
        (out.w[(0, 1)], out.w[(1, 0)]) = (1.0, 1.0);
        out.gap[0] = s.q[1];
        (out.mu[0], out.mu_static[0]) = (0.3, 0.3);
        out.kinetic = 0.5 * (s.u[0] * s.u[0] + s.u[1] * s.u[1]);
        out.potential = 10.0 * s.q[1];
    })
    .restitution(&[0.5])
}

/// A coefficient that is not a number and that the motion does not need: only the judge of the impact law asks for it.
#[test]
fn an_impact_that_cannot_be_judged_fails_the_impact_line_alone() {
    let start = state(&[0.0, 0.2], &[0.0, 0.0]);
    assert!(failing(&run(&disk(), &start, 0.3)).is_empty());
    let sys = lying(disk(), HONEST, |e| e.tangential = f64::NAN);
    let t = run(&sys, &start, 0.3);
    assert_eq!(t.of_kind(Kind::Impact).count(), 1);
    assert_eq!(failing(&t), ["residual of an impact law"]);
    let t = steps(&sys, &start, 0.3);
    assert_eq!(failing(&t), ["residual of an impact law"]);
}

/// PG-5.3-ROD, jammed: velocities jump without a collision, and this impact is brought before the judge, too.
#[test]
fn an_impact_without_collision_is_judged() {
    let start = rod_state(1.0, 0.0, 2.0);
    let t = run(&rod(2.0), &start, 0.01);
    assert!(t.of_kind(Kind::TangentialImpact).count() > 0, "{:?}", t.events);
    assert!(failing(&t).is_empty(), "{:?}", t.audit);
    let t = run(&lying(rod(2.0), HONEST, |e| e.tangential = f64::NAN), &start, 0.01);
    assert_eq!(failing(&t), ["residual of an impact law"]);
}

/// Steps of half a radian: the end is far from that of shorter ones, and the audit compares.
#[test]
fn steps_that_are_too_long_fail_the_comparison_with_longer_ones() {
    let settings = Settings { step: 0.02, ..Settings::until(2.0) };
    let mut outside = Outside::default();
    let t = time_stepping(&oscillator(), &state(&[0.0, 0.0], &[0.0, 0.0]), &settings, &mut outside)
        .expect("consistent");
    assert!(t.audit.step_error.is_some_and(|e| e > 1e-2), "{:?}", t.audit);
    assert!(failing(&t).contains(&"error of the end state"), "{:?}", t.audit);
}

/// One step over the whole run has no longer one beside it: shorter ones judge it. A block that friction stops within a third of the run, v²/(2μg),
/// slides half the run in such a step.
#[test]
fn a_single_step_fails_the_comparison_with_shorter_ones() {
    for step in [1.0, 10.0] {
        let text = format!(
            "gravity = [0, -9.81]\ncoordinates = {{ x = {{ rate = 1 }}, y = 0 }}\nrun = {{ until = 1, scheme = \"step\", step = {step} }}\n\
             ground = {{ floor = {{ through = [0, 0], normal = [0, 1] }} }}\n\
             body = [{{ name = \"block\", mass = 2, position = [\"x\", \"y\"] }}]\n\
             contact = [{{ name = \"sole\", between = [\"block\", \"ground.floor\"], friction = 0.3 }}]\n"
        );
        let run =
            specht::prelude::Machine::read(&text).and_then(|m| m.run()).unwrap_or_else(|e| panic!("{e}"));
        let slid = run.series("x").unwrap().last().copied().unwrap();
        let off = (slid - 1.0 / (2.0 * 0.3 * 9.81)).abs();
        assert!(off > 0.1 && run.audit().step_error.is_some_and(|e| e > 0.3), "{off} {:?}", run.audit());
        assert!(!run.audit().passed);
    }
}

/// A spring over sixteen periods: such steps keep its energy, and lose its phase.
#[test]
fn steps_that_keep_the_energy_and_lose_the_phase_fail_the_comparison_alone() {
    let spring = || {
        Hand::new(1, 0, Vec::new(), |s, _, out| {
            out.mass[(0, 0)] = 1.0;
            out.h[0] = -s.q[0];
            (out.kinetic, out.potential) = (0.5 * s.u[0] * s.u[0], 0.5 * s.q[0] * s.q[0]);
        })
    };
    let run = |step: f64| {
        let settings = Settings { step, ..Settings::until(100.0) };
        time_stepping(&spring(), &state(&[0.0], &[1.0]), &settings, &mut Outside::default())
            .expect("consistent")
    };
    assert!(failing(&run(0.01)).is_empty());
    assert_eq!(failing(&run(0.1)), ["error of the end state"]);
}
