//! Sweeps over contacts of balls
//!
//! ```text
//! arms along the normal, J = c⁻¹ 1:    u = q + v_a − v_b + (a ω_a − b ω_b) × n,        W = w_n n nᵀ + w_t (1 − n nᵀ)
//! w_n = 1/m_a + 1/m_b,    w_t = w_n + c_a a² + c_b b²
//! ```
//!
//! The own block of W is diagonal with two equal tangential entries, so that one contact is solved in closed form: the impulse that stops it,
//! with its tangential part cut back to the cone. Rates and impulses are vectors in space, which needs no tangents; a contact has 120 bytes
//! instead of 336, a body 64 instead of 128. What is round to rounding only is judged with the exact arms and inertias at the end.

use crate::cone::single;
use crate::shape::{V3, add, along, cross, dot, sub};

use super::anderson::{Anderson, Map};
use super::loose::Body;
use super::sweeps::{Contact, Scale, times};

/// What is round up to this is round.
const ROUNDING: f64 = 1e-12;
const NOBODY: u32 = u32::MAX;

/// A contact of balls.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    normal: V3,
    /// From the centres, along the normal.
    arms: [f64; 2],
    mu: f64,
    /// Rates without impulses, and targets.
    q: V3,
    /// Impulse.
    r: V3,
    /// 1/w_n, 1/w_t.
    gains: [f64; 2],
    balls: [u32; 2],
}

/// Velocities that impulses gave to a ball, and what an impulse does to it.
#[derive(Clone, Copy, Debug, Default)]
struct Ball {
    v: V3,
    w: V3,
    inv_mass: f64,
    inv_inertia: f64,
}

/// An island of balls.
#[derive(Clone, Debug, Default)]
pub(super) struct Balls {
    touches: Vec<Touch>,
    balls: Vec<Ball>,
    /// Ball of a frame.
    number: Vec<u32>,
}

impl Balls {
    /// Take contacts; false where one of them does not touch balls, or things at rest.
    pub(super) fn load(&mut self, contacts: &[Contact], order: &[u32], bodies: &[Body]) -> bool {
        self.touches.clear();
        self.balls.clear();
        self.number.resize(bodies.len(), NOBODY);
        let all = order.iter().all(|&k| self.take(&contacts[k as usize], bodies));
        for f in order.iter().flat_map(|&k| contacts[k as usize].frames) {
            self.number[f as usize] = NOBODY;
        }
        all
    }

    fn take(&mut self, c: &Contact, bodies: &[Body]) -> bool {
        let normal = c.directions[0];
        let mut touch = Touch { normal, mu: c.mu, q: c.force(c.q), r: c.force(c.r), ..Touch::default() };
        let mut w = [0.0; 2];
        for (k, f) in c.frames.into_iter().map(|f| f as usize).enumerate() {
            let Some(inv_inertia) = round(&bodies[f]) else { return false };
            let arm = dot(c.arms[k], normal);
            let side = along(c.arms[k], -arm, normal);
            if bodies[f].moves() && !(dot(side, side) <= (ROUNDING * arm).powi(2)) {
                return false;
            }
            if self.number[f] == NOBODY {
                self.number[f] = self.balls.len() as u32;
                let Body { v, w, inv_mass, .. } = bodies[f];
                self.balls.push(Ball { v, w, inv_mass, inv_inertia });
            }
            (touch.balls[k], touch.arms[k]) = (self.number[f], arm);
            w[0] += bodies[f].inv_mass;
            w[1] += bodies[f].inv_mass + inv_inertia * arm * arm;
        }
        if w[0] > 0.0 {
            touch.gains = w.map(|w| 1.0 / w);
        }
        self.touches.push(touch);
        true
    }
}

/// The inverse inertia where it is the same about all axes.
fn round(body: &Body) -> Option<f64> {
    let c = &body.inv_inertia;
    let mean = (c[0][0] + c[1][1] + c[2][2]) / 3.0;
    let differs = |i: usize, j: usize| (c[i][j] - if i == j { mean } else { 0.0 }).abs() > ROUNDING * mean;
    (!(0..3).any(|i| (0..3).any(|j| differs(i, j)))).then_some(mean)
}

impl Touch {
    #[inline(always)]
    fn rate(&self, balls: &[Ball]) -> V3 {
        let [a, b] = self.balls.map(|k| &balls[k as usize]);
        let turn = [0, 1, 2].map(|i| self.arms[0] * a.w[i] - self.arms[1] * b.w[i]);
        add(add(sub(a.v, b.v), cross(turn, self.normal)), self.q)
    }

    /// The impulse that stops it at this rate, or slides.
    #[inline(always)]
    fn alone(&self, u: V3) -> V3 {
        let [normal, tangential] = self.gains;
        let (u_n, r_n) = (dot(self.normal, u), dot(self.normal, self.r));
        let n = r_n - normal * u_n;
        if !(n > 0.0) {
            return [0.0; 3];
        }
        let t = along(along(self.r, -tangential, u), tangential * u_n - r_n, self.normal);
        let (square, bound) = (dot(t, t), self.mu * n);
        let part = if square <= bound * bound { 1.0 } else { bound / square.sqrt() };
        [0, 1, 2].map(|i| n * self.normal[i] + part * t[i])
    }

    /// The admissible impulse nearest to `r`.
    #[inline(always)]
    fn admissible(&self, r: V3) -> V3 {
        let n = dot(self.normal, r);
        let t = along(r, -n, self.normal);
        let (length, mu) = (dot(t, t).sqrt(), self.mu);
        if length <= mu * n {
            return r;
        }
        if mu * length <= -n {
            return [0.0; 3];
        }
        let p = (n + mu * length) / (1.0 + mu * mu);
        let side = if length > 0.0 { mu * p / length } else { 0.0 };
        [0, 1, 2].map(|i| p * self.normal[i] + side * t[i])
    }

    /// Velocities after a change of the impulse.
    #[inline(always)]
    fn push(&self, balls: &mut [Ball], r: V3) {
        let turn = cross(self.normal, r);
        let a = &mut balls[self.balls[0] as usize];
        a.v = along(a.v, a.inv_mass, r);
        a.w = along(a.w, a.inv_inertia * self.arms[0], turn);
        let b = &mut balls[self.balls[1] as usize];
        b.v = along(b.v, -b.inv_mass, r);
        b.w = along(b.w, -b.inv_inertia * self.arms[1], turn);
    }
}

/// Contacts of balls, with those that they are copies of.
pub(super) struct Swept<'a> {
    pub balls: &'a mut Balls,
    pub contacts: &'a mut [Contact],
    pub order: &'a [u32],
    pub scale: Scale,
}

impl Map for Swept<'_> {
    fn impulses(&self) -> impl Iterator<Item = (V3, f64)> {
        self.balls.touches.iter().zip(self.order).map(|(t, &k)| (t.r, self.contacts[k as usize].rho))
    }

    fn sweep(&mut self, memory: &mut Anderson) {
        let Balls { touches, balls, .. } = &mut *self.balls;
        for (i, t) in touches.iter_mut().enumerate() {
            let new = t.alone(t.rate(balls));
            let change = sub(new, t.r);
            if change != [0.0; 3] {
                t.r = new;
                t.push(balls, change);
            }
            memory.record(i, new, change);
        }
    }

    fn jump(&mut self, to: impl Fn(usize) -> V3) {
        let Balls { touches, balls, .. } = &mut *self.balls;
        balls.iter_mut().for_each(|b| (b.v, b.w) = ([0.0; 3], [0.0; 3]));
        for (i, t) in touches.iter_mut().enumerate() {
            t.r = t.admissible(to(i));
            t.push(balls, t.r);
        }
    }

    fn error(&mut self) -> f64 {
        let Balls { touches, balls, .. } = &*self.balls;
        self.scale.error(touches.iter().zip(self.order).map(|(t, &k)| {
            let c = &self.contacts[k as usize];
            c.errors(times(&c.directions, t.r), times(&c.directions, t.rate(balls)))
        }))
    }

    fn put(&mut self, impulses: &[V3]) {
        for (&k, r) in self.order.iter().zip(impulses) {
            let c = &mut self.contacts[k as usize];
            c.r = single::admissible(c.mu, times(&c.directions, *r));
        }
    }
}
