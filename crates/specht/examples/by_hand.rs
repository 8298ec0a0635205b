//! Equations written in Rust instead of a file: a block on a slope, thrown upwards, that slides, stops and stays.
//!
//!     cargo run --example by_hand

use specht::prelude::*;
use specht::sim::{Outside, event_driven};
use specht::system::{ContactInfo, Dims, Discrete, Eval, Normal};

/// Mass, slope, friction, gravity.
struct Block {
    m: f64,
    slope: f64,
    mu: f64,
    g: f64,
    contacts: [ContactInfo; 1],
}

impl System for Block {
    fn dims(&self) -> Dims {
        Dims { q: 2, u: 2, rows: 2, contacts: 1, ..Dims::default() }
    }

    fn contacts(&self) -> &[ContactInfo] {
        &self.contacts
    }

    /// q = (along the slope, away from it): M = m E, row 0 of W is the normal, row 1 the tangent.
    fn evaluate(&self, s: &State, _: &Discrete, out: &mut Eval) {
        let (sin, cos) = self.slope.sin_cos();
        for k in 0..2 {
            out.mass[(k, k)] = self.m;
        }
        out.h.copy_from_slice(&[-self.m * self.g * sin, -self.m * self.g * cos]);
        out.w[(0, 1)] = 1.0;
        out.w[(1, 0)] = 1.0;
        out.gap[0] = s.q[1];
        out.mu[0] = self.mu;
        out.mu_static[0] = self.mu;
        out.kinetic = 0.5 * self.m * (s.u[0] * s.u[0] + s.u[1] * s.u[1]);
        out.potential = self.m * self.g * (s.q[0] * sin + s.q[1] * cos);
    }
}

/// It stops after v/(g (sin + μ cos)) and stays, because μ > tan.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sole = ContactInfo {
        name: "sole".into(),
        normal: Normal::Unilateral { row: 0 },
        tangent: vec![1],
        load_on: Vec::new(),
        load_at: 0,
        friction: true,
    };
    let (slope, mu, g, v) = (0.3_f64, 0.5, 9.81, 2.0);
    let block = Block { m: 2.0, slope, mu, g, contacts: [sole] };
    let start = State { q: vec![0.0; 2], u: vec![v, 0.0], ..State::default() };
    let run = event_driven(&block, &start, &Settings::until(1.0), &mut Outside::default())?;

    let stop = run.of_kind(Kind::Stick).next().ok_or("it never stops")?.time;
    println!("it stops at t = {stop} s");
    assert!((stop - v / (g * (slope.sin() + mu * slope.cos()))).abs() < 1e-9);
    assert!(run.last.modes[0] == Mode::Stick && run.audit.passed);
    Ok(())
}
