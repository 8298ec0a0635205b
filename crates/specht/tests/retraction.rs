//! Positions that are no vector: a free rigid body with a unit quaternion, q̇ = Y(q) u with four positions and three velocities.

mod systems;

use specht::sim::{Settings, Status, event_driven, time_stepping};
use specht::system::*;

/// Principal moments of inertia, kg m².
const INERTIA: [f64; 3] = [1.0, 2.0, 3.5];

/// A body that turns freely, velocities in body axes, with a stop for the angle of its first axis above the horizon when `stop`.
struct Top {
    contacts: Vec<ContactInfo>,
}

fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]
}

fn four(q: &[f64]) -> [f64; 4] {
    [q[0], q[1], q[2], q[3]]
}

fn norm(q: &[f64]) -> f64 {
    q.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn cross(a: &[f64], b: &[f64]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A vector in body axes, seen from the world.
fn turned(q: &[f64], v: [f64; 3]) -> [f64; 3] {
    let conjugate = [q[0], -q[1], -q[2], -q[3]];
    let [_, x, y, z] = product(product(four(q), [0.0, v[0], v[1], v[2]]), conjugate);
    [x, y, z]
}

impl System for Top {
    fn dims(&self) -> Dims {
        let (rows, contacts) = (self.contacts.len(), self.contacts.len());
        Dims { q: 4, u: 3, rows, contacts, ..Dims::default() }
    }
    fn contacts(&self) -> &[ContactInfo] {
        &self.contacts
    }
    fn evaluate(&self, s: &State, _: &Discrete, out: &mut Eval) {
        let spin: Vec<f64> = (0..3).map(|i| INERTIA[i] * s.u[i]).collect();
        let gyro = cross(&s.u, &spin);
        for i in 0..3 {
            out.mass[(i, i)] = INERTIA[i];
            out.h[i] = -gyro[i];
        }
        out.kinetic = 0.5 * (0..3).map(|i| s.u[i] * spin[i]).sum::<f64>();
        if !self.contacts.is_empty() {
            // height of the tip e₁ above a floor at −1/2: g = e₃·R e₁ + 1/2, ġ = e₃·R (ω × e₁)
            let up = |v: [f64; 3]| turned(&s.q, v)[2];
            let e = [1.0, 0.0, 0.0];
            out.gap[0] = up(e) + 0.5;
            for k in 0..3 {
                let mut axis = [0.0; 3];
                axis[k] = 1.0;
                out.w[(0, k)] = up(cross(&axis, &e));
            }
            out.accel_offset[0] = up(cross(&s.u, &cross(&s.u, &e)));
        }
    }
    fn q_rate(&self, s: &State, out: &mut [f64]) {
        let q = product(four(&s.q), [0.0, s.u[0], s.u[1], s.u[2]]);
        out.iter_mut().zip(q).for_each(|(o, v)| *o = 0.5 * v);
    }
    fn move_by(&self, q: &mut [f64], delta: &[f64]) {
        let angle = norm(delta);
        // sin(a/2)/a, also at zero
        let f = if angle < 1e-4 { 0.5 - angle * angle / 48.0 } else { (0.5 * angle).sin() / angle };
        let turn = [(0.5 * angle).cos(), f * delta[0], f * delta[1], f * delta[2]];
        q.copy_from_slice(&product(four(q), turn));
        self.restore(q);
    }
    fn restore(&self, q: &mut [f64]) -> bool {
        let size = norm(q);
        q.iter_mut().for_each(|v| *v /= size);
        true
    }
    fn restitution(&self, _: &State, _: &Discrete, out: &mut [Restitution]) {
        out.iter_mut().for_each(|r| r.normal = 1.0);
    }
}

fn start() -> State {
    State { q: vec![1.0, 0.0, 0.0, 0.0], u: vec![0.3, 2.0, 0.1], ..State::default() }
}

/// Angular momentum seen from the world.
fn momentum(s: &State) -> [f64; 3] {
    turned(&s.q, [0, 1, 2].map(|i| INERTIA[i] * s.u[i]))
}

#[test]
fn a_free_body_keeps_its_length_its_momentum_and_its_energy() {
    let top = Top { contacts: Vec::new() };
    let out = event_driven(&top, &start(), &Settings::until(200.0), &mut Default::default());
    let out = out.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(out.status, Status::Finished, "{}", out.message);
    let last = &out.last.state;
    assert!((norm(&last.q) - 1.0).abs() < 4.0 * f64::EPSILON, "{}", norm(&last.q) - 1.0);
    for (a, b) in momentum(&start()).iter().zip(momentum(last)) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    assert!(out.audit.passed, "{:?}", out.audit);
}

#[test]
fn a_million_moves_keep_a_unit_quaternion_one() {
    let top = Top { contacts: Vec::new() };
    let mut q = vec![1.0, 0.0, 0.0, 0.0];
    for k in 0..1_000_000 {
        let t = k as f64;
        top.move_by(&mut q, &[1e-3 * t.sin(), 2e-3, 1e-3 * (0.3 * t).cos()]);
    }
    assert!((norm(&q) - 1.0).abs() < 4.0 * f64::EPSILON, "{}", norm(&q) - 1.0);
}

#[test]
fn both_schemes_turn_the_body_alike_and_reflect_it_from_a_floor() {
    let top = Top {
        contacts: vec![ContactInfo {
            name: "tip".to_string(),
            normal: Normal::Unilateral { row: 0 },
            tangent: Vec::new(),
            load_on: Vec::new(),
            load_at: 0,
            friction: false,
        }],
    };
    let settings = Settings::until(3.0);
    let exact = event_driven(&top, &start(), &settings, &mut Default::default());
    let exact = exact.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(exact.status, Status::Finished, "{}", exact.message);
    let hits = exact.events.iter().filter(|e| e.kind == specht::sim::Kind::Impact).count();
    assert!(hits >= 1 && exact.audit.passed, "{hits} {:?}", exact.audit);
    // energy is kept by an elastic impact
    let energy = |s: &State| (0..3).map(|i| 0.5 * INERTIA[i] * s.u[i] * s.u[i]).sum::<f64>();
    assert!((energy(&exact.last.state) - energy(&start())).abs() < 1e-8);

    let free = Top { contacts: Vec::new() };
    let end = |out: specht::sim::Trajectory| out.last.state.q;
    let a =
        event_driven(&free, &start(), &settings, &mut Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let steps = Settings { step: 1e-3, ..settings };
    let b = time_stepping(&free, &start(), &steps, &mut Default::default()).unwrap_or_else(|e| panic!("{e}"));
    for (x, y) in end(a).iter().zip(end(b)) {
        assert!((x - y).abs() < 1e-4, "{x} {y}");
    }
}
