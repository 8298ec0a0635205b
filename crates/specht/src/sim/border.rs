//! The border of a paradox in a run (ANH-2.6-MARCH): never integrated through blindly.
//!
//! Towards D = 1 − μ|L| → 0⁺ the reaction grows without bound. With x the distance to the border, D ≈ κ x, and
//! R⁰ = ρ₀ + k v² there are two ways for one degree of freedom:
//!
//! * ρ₀ has the sign of R⁰: the motion is braked to a stop at the border, v² ~ ln x: *seizure* (tangential impact) when D
//!   falls to 10⁻⁶.
//! * ρ₀ has the other sign: R⁰ vanishes at a speed v_c below the present one, v² − v_c² ∝ x^p with p = 2 μ a |k|/κ (a: deceleration
//!   per unit of friction and unit of direction): the trajectory is funnelled into the *singular point* {D = 0, R⁰ = 0}.
//!   It is reported with v_c and p; beyond it R⁰ has the other sign and the motion goes on there with v_c, on the side with
//!   several solutions, where the reaction is finite.
//!
//! One-sided contacts lift off when their force vanishes, which is an event of its own. More degrees of freedom: the
//! tangential impact on the far side, when there is one.

use crate::linalg::{axpy, dot};
use crate::system::{Normal, System};

use super::event_driven::{End, Run};
use super::instant::Moment;
use super::settings::Policy;
use super::trajectory::Status;

/// The singular point that a trajectory is driven into.
struct SingularPoint {
    /// v_c over the present speed.
    ratio: f64,
    /// Exponent.
    p: f64,
    /// Friction impulse that changes the speed from the present one to v_c, and its normal companion.
    impulse: [f64; 2],
    /// Velocities at v_c.
    u: Vec<f64>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The matrix of the sliding contacts becomes singular: say so with all numbers and leave by the policy.
    pub(super) fn cross_border(&mut self, m: &mut Moment) -> Option<End> {
        let t = self.time();
        self.field.solve();
        let mut note = String::from("border of a paradox:");
        let mut nearest: Option<(usize, f64)> = None;
        for i in 0..self.field.info.len() {
            if self.field.discrete.modes[i].direction() != 0.0
                && let Some(a) = self.field.fixed.approach(self.field.info, i)
            {
                note += &format!(
                    " contact `{}` has a = {:.6e}, b = {:.6e} in g'' = a*normal + b (normal force {:.6e});",
                    self.field.info[i].name, a.a, a.b, self.field.forces.normal[i]
                );
                if nearest.is_none_or(|n| a.ratio < n.1) {
                    nearest = Some((i, a.ratio));
                }
            }
        }
        note.pop();
        let point = nearest.and_then(|(i, d)| self.singular_point(i, d).map(|p| (i, p)));
        if let Some((i, p)) = &point {
            let speed = self.field.slip(*i).abs() * p.ratio;
            note += &format!(
                "; singular point: the frictionless reaction of `{}` vanishes at slip speed {speed:.6} ({:.6} of the present velocities), exponent p = {:.5}",
                self.field.info[*i].name, p.ratio, p.p
            );
        }
        self.log_finding(m, note.clone());
        if self.settings.several == Policy::Stop {
            return Some((Status::Indeterminate, format!("at t = {t}: {note}")));
        }
        // the far side, along the present velocities
        let here = self.field.state.clone();
        let energy = self.field.eval.kinetic + self.field.eval.potential;
        let mut delta = 1e-9 * if self.h.is_finite() { self.h } else { 1.0 };
        let mut q_step = vec![0.0; self.field.dims.q];
        self.field.sys.q_rate(&here, &mut q_step);
        for _ in 0..60 {
            self.field.state.clone_from(&here);
            axpy(delta, &q_step, &mut self.field.state.q);
            self.field.state.t += delta;
            self.field.evaluate();
            self.field.solve();
            if self.field.nearness() < 0.0 {
                // the hop itself is booked, not lost
                self.ledger.jump(self.field.eval.kinetic + self.field.eval.potential - energy);
                if let Some((i, p)) = point {
                    self.pass(m, i, &p);
                    return None;
                }
                if self.without_collision(m) {
                    return None;
                }
                break;
            }
            delta *= 2.0;
        }
        self.field.state = here;
        self.field.evaluate();
        Some((
            Status::Inconsistent,
            format!("at t = {t}: {note}; no impact without collision leads out of it"),
        ))
    }

    /// Whether R⁰ of contact `i` changes sign at a smaller speed; `d` is D here. One degree of freedom only.
    fn singular_point(&mut self, i: usize, d: f64) -> Option<SingularPoint> {
        let (r0, impulse, freedom) = self.without_friction(i, 1.0)?;
        if freedom != 1 {
            return None;
        }
        let (rest, ..) = self.without_friction(i, 0.0)?;
        if !(rest * r0 < 0.0) {
            return None;
        }
        // R⁰ = ρ₀ + k s², s the fraction of the present velocities
        let k = r0 - rest;
        // a little below v_c, so that R⁰ has its new sign beyond the point
        let ratio = (1.0 - 1e-6) * (-rest / k).sqrt();
        // D a moment ago, for its rate
        let here = self.field.state.clone();
        let mut q_step = vec![0.0; self.field.dims.q];
        self.field.sys.q_rate(&here, &mut q_step);
        let back = 1e-4 * if self.h.is_finite() { self.h.max(1e-6) } else { 1.0 };
        axpy(-back, &q_step, &mut self.field.state.q);
        self.field.evaluate();
        self.field.solve();
        let rate = (self.field.nearness() - d) / back;
        self.field.state.clone_from(&here);
        self.field.evaluate();
        self.field.solve();
        if !(rate > 0.0) {
            return None;
        }
        // ṡ = −μ |R⁰| a/(D) with a the loss of speed per unit of friction: s² − s_c² ∝ D^p
        let (response, normal) = impulse;
        let u = self.field.state.u.clone();
        let a = -dot(&response, &u) / dot(&u, &u) * self.field.discrete.modes[i].direction();
        let p = 2.0 * self.field.eval.mu[i] * (k * a).abs() / rate;
        // the friction impulse for Δs = ratio − 1
        let friction = (1.0 - ratio) / a * self.field.discrete.modes[i].direction();
        let mut after = u;
        axpy(friction, &response, &mut after);
        Some(SingularPoint { ratio, p, impulse: [normal * friction, friction], u: after })
    }

    /// R⁰ of contact `i` with the velocities times `s`; the response of the velocities and of the reaction to a unit of its
    /// friction; degrees of freedom.
    fn without_friction(&mut self, i: usize, s: f64) -> Option<(f64, (Vec<f64>, f64), usize)> {
        let keep = self.field.state.u.clone();
        self.field.state.u.iter_mut().for_each(|u| *u *= s);
        self.field.evaluate();
        let field = &self.field;
        let mut held = Vec::new();
        let mut place = None;
        for (k, c) in field.info.iter().enumerate() {
            match c.normal {
                Normal::Unilateral { .. } if !field.discrete.modes[k].is_closed() => {}
                Normal::Unilateral { row } | Normal::Bilateral { row } => {
                    if k == i {
                        place = Some(held.len());
                    }
                    held.push(row);
                }
                Normal::Pin { rows } => held.extend(rows),
                Normal::Given { .. } => {}
            }
        }
        let (e, red) = (&field.eval, &mut self.tools.reduced);
        let row = *field.info[i].tangent.first()?;
        let ok = red.eliminate(&e.mass, &e.h, &e.w, &e.accel_offset, &held, &[row]);
        let out = place.filter(|_| ok).map(|k| {
            let freedom = e.h.len() + red.redundant - held.len();
            (red.s0[k], (red.a.row(0).to_vec(), red.s[(k, 0)]), freedom)
        });
        self.field.state.u.copy_from_slice(&keep);
        self.field.evaluate();
        out
    }

    /// Go on beyond the singular point with v_c.
    fn pass(&mut self, m: &mut Moment, i: usize, p: &SingularPoint) {
        let n = self.field.dims.contacts;
        let (mut lambda, mut normal, mut tangential) =
            (vec![0.0; self.field.dims.rows], vec![0.0; n], vec![0.0; n]);
        if let Normal::Unilateral { row } | Normal::Bilateral { row } = self.field.info[i].normal {
            lambda[row] = p.impulse[0];
        }
        lambda[self.field.info[i].tangent[0]] = p.impulse[1];
        (normal[i], tangential[i]) = (p.impulse[0], p.impulse[1]);
        m.tangential = true;
        self.apply(m, &p.u, &lambda, &normal, &tangential);
    }

    /// Whether a jump took all kinetic energy.
    pub(super) fn at_rest_after(&self, m: &Moment) -> bool {
        let size = |u: &[f64]| u.iter().fold(0.0_f64, |a, v| a.max(v.abs()));
        size(&self.field.state.u) <= 1e-9 * size(&m.before.u)
    }
}
