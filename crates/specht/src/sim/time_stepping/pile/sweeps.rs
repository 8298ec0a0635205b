//! The contact problem of a loose pile without matrices: errors of impulses, and sweeps that reduce them
//!
//! ```text
//! u_i = q_i + D_iᵀ (v_a + ω_a × a_i − v_b − ω_b × b_i),      v, ω: what all impulses together give to the bodies
//! ```
//!
//! Errors are those of the cone solver (METH-CONE-PROBLEM), island by island. The impulses of the last step are tried first: where they solve
//! the problem of this one, as in every pile at rest, nothing else is done. A sweep solves contact after contact exactly
//! (METH-CONE-NSGS); [`super::anderson`] extrapolates sweeps, and [`super::balls`] knows a shorter one for balls.

use crate::cone::single;
use crate::shape::{V3, add, along, cross, dot, sub};

use super::anderson::{Anderson, Map, drive};
use super::balls::{self, Balls};
use super::loose::Body;

/// A contact point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Contact {
    pub frames: [u32; 2],
    /// From the origins of the frames.
    pub arms: [V3; 2],
    /// Normal and tangents.
    pub directions: [V3; 3],
    pub mu: f64,
    /// Rates without impulses, and targets.
    pub q: V3,
    /// Impulse.
    pub r: V3,
    /// Rows by the trace of the own block of W.
    pub rho: f64,
    /// Own block of W, and −W⁻¹ (zero where it is singular).
    pub w: [V3; 3],
    pub inverse: [V3; 3],
}

/// Contacts that hang together by bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Island {
    /// Range in the order.
    first: usize,
    end: usize,
    pub rows: usize,
    scale: Scale,
    pub error: f64,
}

/// Largest rate without impulses, and the norm of all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scale {
    largest: f64,
    norm: f64,
}

impl Scale {
    /// The error of a problem from those of its contacts ([`Contact::errors`]).
    pub(super) fn error(&self, list: impl Iterator<Item = [f64; 2]>) -> f64 {
        let (mut sum, mut largest) = (0.0, 0.0_f64);
        for [square, e] in list {
            sum += square;
            if !(e <= largest) {
                largest = e;
            }
        }
        let error =
            if self.largest > 0.0 { (sum.sqrt() / self.norm).max(largest / self.largest) } else { 0.0 };
        if error.is_nan() { f64::INFINITY } else { error }
    }
}

/// The problem and its answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    pub contacts: Vec<Contact>,
    pub islands: Vec<Island>,
    /// Contacts, island by island.
    order: Vec<u32>,
    /// Union of frames, then the island of each.
    link: Vec<u32>,
    memory: Anderson,
    balls: Balls,
}

#[inline(always)]
pub(super) fn times(a: &[V3; 3], x: V3) -> V3 {
    [dot(a[0], x), dot(a[1], x), dot(a[2], x)]
}

impl Contact {
    #[inline(always)]
    fn rate(&self, bodies: &[Body]) -> V3 {
        let (a, b) = (&bodies[self.frames[0] as usize], &bodies[self.frames[1] as usize]);
        let slip = sub(add(a.v, cross(a.w, self.arms[0])), add(b.v, cross(b.w, self.arms[1])));
        times(&self.directions, slip)
    }

    /// The impulse as a vector in space.
    #[inline]
    pub(super) fn force(&self, r: V3) -> V3 {
        let [n, s, t] = self.directions;
        along(along([r[0] * n[0], r[0] * n[1], r[0] * n[2]], r[1], s), r[2], t)
    }

    /// Velocities of the bodies after a change of the impulse.
    #[inline]
    fn push(&self, bodies: &mut [Body], r: V3) {
        let f = self.force(r);
        let a = &mut bodies[self.frames[0] as usize];
        a.v = along(a.v, a.inv_mass, f);
        a.w = add(a.w, times(&a.inv_inertia, cross(self.arms[0], f)));
        let b = &mut bodies[self.frames[1] as usize];
        b.v = along(b.v, -b.inv_mass, f);
        b.w = sub(b.w, times(&b.inv_inertia, cross(self.arms[1], f)));
    }

    /// How far an impulse with these rates is from the law: the square of the natural map, and the largest entry of the one in units of W.
    #[inline(always)]
    pub(super) fn errors(&self, r: V3, u: V3) -> [f64; 2] {
        let f = single::natural(self.mu, r, u, 1.0);
        let square = dot(f, f);
        let f = single::natural(self.mu, r, u, self.rho);
        [square, f[0].abs().max(f[1].abs()).max(f[2].abs()) / self.rho]
    }

    /// The impulse that makes it stick, where that is admissible: what most contacts of a sweep do.
    #[inline]
    fn stick(&self, q: &V3) -> Option<V3> {
        if !(self.mu > 0.0 && q[0] < 0.0) {
            return None;
        }
        let r = times(&self.inverse, *q);
        (r[0] > 0.0 && r[1] * r[1] + r[2] * r[2] <= (self.mu * r[0]).powi(2)).then_some(r)
    }

    /// Own block of W: needed for sweeps only.
    fn block(&mut self, bodies: &[Body]) {
        self.w = [[0.0; 3]; 3];
        for (f, arm) in self.frames.into_iter().zip(self.arms) {
            let b = &bodies[f as usize];
            let turns = self.directions.map(|d| cross(arm, d));
            for i in 0..3 {
                self.w[i][i] += b.inv_mass;
                let y = times(&b.inv_inertia, turns[i]);
                for j in 0..3 {
                    self.w[i][j] += dot(y, turns[j]);
                }
            }
        }
        self.inverse = single::inverse(&self.w).map_or([[0.0; 3]; 3], |w| w.map(|row| row.map(|x| -x)));
    }

    /// `d / tr W_ii` from the invariants: Σ (a × d)(a × d)ᵀ = |a|² 1 − a aᵀ.
    fn measure(&mut self, bodies: &[Body]) {
        let mut trace = 0.0;
        for (f, arm) in self.frames.into_iter().zip(self.arms) {
            let b = &bodies[f as usize];
            let c = &b.inv_inertia;
            trace += match self.mu > 0.0 {
                true => {
                    3.0 * b.inv_mass + dot(arm, arm) * (c[0][0] + c[1][1] + c[2][2]) - dot(arm, times(c, arm))
                }
                false => {
                    let turn = cross(arm, self.directions[0]);
                    b.inv_mass + dot(turn, times(c, turn))
                }
            };
        }
        let rows = if self.mu > 0.0 { 3.0 } else { 1.0 };
        self.rho = if trace > 0.0 { rows / trace } else { 1.0 };
    }
}

impl Sweeps {
    /// After all contacts are in, with their first impulses: islands, velocities, errors.
    pub(super) fn begin(&mut self, bodies: &mut [Body]) {
        self.join(bodies);
        for c in &mut self.contacts {
            c.r = single::admissible(c.mu, c.r);
            c.measure(bodies);
        }
        for k in 0..self.islands.len() {
            self.scale(k);
            self.judge(k, bodies);
        }
    }

    /// Islands, in the order of their first contacts.
    fn join(&mut self, bodies: &[Body]) {
        self.link.clear();
        self.link.extend(0..bodies.len() as u32);
        for c in &self.contacts {
            let [a, b] = c.frames;
            if bodies[a as usize].moves() && bodies[b as usize].moves() {
                let (a, b) = (root(&mut self.link, a), root(&mut self.link, b));
                self.link[a.max(b) as usize] = a.min(b);
            }
        }
        // roots become numbers of islands, from the top of the range
        let of = |link: &mut [u32], c: &Contact| {
            let [a, b] = c.frames;
            root(link, if bodies[a as usize].moves() { a } else { b })
        };
        self.islands.clear();
        self.order.clear();
        self.order.resize(self.contacts.len(), 0);
        let mut number = std::mem::take(&mut self.memory.numbers);
        number.clear();
        number.resize(bodies.len(), u32::MAX);
        for c in &self.contacts {
            let at = of(&mut self.link, c) as usize;
            if number[at] == u32::MAX {
                number[at] = self.islands.len() as u32;
                self.islands.push(Island::default());
            }
            self.islands[number[at] as usize].end += 1;
        }
        let mut first = 0;
        for island in &mut self.islands {
            let count = island.end;
            (island.first, island.end) = (first, first);
            first += count;
        }
        for (k, c) in self.contacts.iter().enumerate() {
            let island = &mut self.islands[number[of(&mut self.link, c) as usize] as usize];
            self.order[island.end] = k as u32;
            island.end += 1;
            island.rows += if c.mu > 0.0 { 3 } else { 1 };
        }
        self.memory.numbers = number;
    }

    /// Contacts of an island, by number.
    pub(super) fn members(&self, island: usize) -> &[u32] {
        let i = &self.islands[island];
        &self.order[i.first..i.end]
    }

    fn scale(&mut self, island: usize) {
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        for &k in self.members(island) {
            let c = &self.contacts[k as usize];
            let rows = if c.mu > 0.0 { 3 } else { 1 };
            for q in &c.q[..rows] {
                largest = largest.max(q.abs());
                sum += q * q;
            }
        }
        self.islands[island].scale = Scale { largest, norm: sum.sqrt() };
    }

    /// Velocities from the impulses of an island, and its error.
    pub(super) fn judge(&mut self, island: usize, bodies: &mut [Body]) {
        let Island { first, end, scale, .. } = self.islands[island];
        let order = &self.order[first..end];
        velocities(&self.contacts, order, bodies);
        let errors = order.iter().map(|&k| {
            let c = &self.contacts[k as usize];
            c.errors(c.r, add(c.rate(bodies), c.q))
        });
        self.islands[island].error = scale.error(errors);
    }

    /// Other impulses where they solve the island better; `others`, by contact, holds what is not taken.
    pub(super) fn exchange(&mut self, island: usize, bodies: &mut [Body], others: &mut [V3]) {
        let Island { first, end, error, .. } = self.islands[island];
        for turn in 0..2 {
            for &k in &self.order[first..end] {
                let (c, other) = (&mut self.contacts[k as usize], &mut others[k as usize]);
                std::mem::swap(&mut c.r, other);
                c.r = single::admissible(c.mu, c.r);
            }
            self.judge(island, bodies);
            if turn == 0 && self.islands[island].error < error {
                break;
            }
        }
    }

    /// Extrapolated sweeps until the error is below the tolerance, `most` at most. The best impulses stay.
    pub(super) fn sweep(&mut self, island: usize, bodies: &mut [Body], tolerance: f64, most: usize) {
        let Island { first, end, scale, error, .. } = self.islands[island];
        let (contacts, order) = (&mut self.contacts, &self.order[first..end]);
        if self.balls.load(contacts, order, bodies) {
            let mut map = balls::Swept { balls: &mut self.balls, contacts, order, scale };
            drive(&mut map, &mut self.memory, error, tolerance, most);
        } else {
            order.iter().for_each(|&k| contacts[k as usize].block(bodies));
            let mut map = Swept { contacts, order, bodies, scale };
            drive(&mut map, &mut self.memory, error, tolerance, most);
        }
        self.judge(island, bodies);
    }
}

/// Contacts of any bodies.
struct Swept<'a> {
    contacts: &'a mut [Contact],
    order: &'a [u32],
    bodies: &'a mut [Body],
    scale: Scale,
}

impl Map for Swept<'_> {
    fn impulses(&self) -> impl Iterator<Item = (V3, f64)> {
        self.order.iter().map(|&k| (self.contacts[k as usize].r, self.contacts[k as usize].rho))
    }

    fn sweep(&mut self, memory: &mut Anderson) {
        for (i, &k) in self.order.iter().enumerate() {
            let c = &mut self.contacts[k as usize];
            let old = c.r;
            let q = sub(add(c.rate(self.bodies), c.q), times(&c.w, old));
            let new = c.stick(&q).or_else(|| single::alone(c.mu, &c.w, &q, &old)).unwrap_or(old);
            let change = sub(new, old);
            if new != old {
                c.r = new;
                c.push(self.bodies, change);
            }
            memory.record(i, new, change);
        }
    }

    fn jump(&mut self, to: impl Fn(usize) -> V3) {
        for (i, &k) in self.order.iter().enumerate() {
            let c = &mut self.contacts[k as usize];
            c.r = single::admissible(c.mu, to(i));
        }
        velocities(self.contacts, self.order, self.bodies);
    }

    fn error(&mut self) -> f64 {
        self.scale.error(self.order.iter().map(|&k| {
            let c = &self.contacts[k as usize];
            c.errors(c.r, add(c.rate(self.bodies), c.q))
        }))
    }

    fn put(&mut self, impulses: &[V3]) {
        self.order.iter().zip(impulses).for_each(|(&k, r)| self.contacts[k as usize].r = *r);
    }
}

/// What the impulses of these contacts give to their bodies.
fn velocities(contacts: &[Contact], list: &[u32], bodies: &mut [Body]) {
    for f in list.iter().flat_map(|&k| contacts[k as usize].frames) {
        let b = &mut bodies[f as usize];
        (b.v, b.w) = ([0.0; 3], [0.0; 3]);
    }
    for &k in list {
        let c = &contacts[k as usize];
        c.push(bodies, c.r);
    }
}

fn root(link: &mut [u32], mut k: u32) -> u32 {
    while link[k as usize] != k {
        link[k as usize] = link[link[k as usize] as usize];
        k = link[k as usize];
    }
    k
}
