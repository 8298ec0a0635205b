//! The fast motion of stiff contacts with friction in their tangent planes (ANH-5.4-PERTURB, METH-3D-ACC)
//!
//! ```text
//! R = (s + 2ζ s′)⁺ while s > 0,     s″ = −κ a_N,     a = G λ + b,     λ = (R, −μ R f(d)) sliding, the disc at zero slip
//! ```
//!
//! at every contact that can open, as in the plane ([`super::fast`]): positions and large velocities stand still, the rigid solutions are the
//! motions with constant R. Either the reactions come to rest on one of them, or they grow without bound: the impact without collision, of one
//! contact that of [`super::keller`]. With given R the friction forces are those of one convex problem. Steps of the classical method of order
//! four; a slip that comes near zero shortens them until it is zero.

use super::fast::Fate;
use super::space::{Cone, Sliding, all};
use crate::linalg::{Mat, dot, max_abs};

/// Step in the time in which the fastest spring swings by about one radian, and steps after which nothing is decided.
const STEP: f64 = 0.02;
const LIMIT: usize = 40_000;
/// The part of itself by which a slip may change in a step, and the part of the largest that is none.
const TURN: f64 = 0.1;
const STILL: f64 = 1e-10;
/// Damping ratios: as little as decides, and so much that nothing rebounds.
const DAMPING: [f64; 3] = [0.02, 0.16, 1.0];

/// The contacts: rows of G and b as in `cones`.
pub(crate) struct Springs<'a> {
    pub cones: &'a [Cone],
    pub g: &'a Mat,
    pub b: &'a [f64],
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slip {
    /// In a direction that the fast motion does not change.
    Always([f64; 3]),
    Now,
    Held,
}

/// State y: s, s′ of every contact, slip along every row.
struct Motion<'a> {
    of: &'a Springs<'a>,
    kappa: f64,
    damping: f64,
    slip: Vec<Slip>,
    still: f64,
    lambda: Vec<f64>,
    accel: Vec<f64>,
}

/// First row of the tangents.
fn first(c: &Cone) -> usize {
    c.at + usize::from(c.given.is_none())
}

impl Springs<'_> {
    /// Where the reactions go from `from` (per contact) on; `known`: the normal forces of the rigid solutions. `calm`: nothing rebounds.
    pub(crate) fn fate(&self, known: &[Vec<f64>], from: &[f64], calm: bool) -> Fate {
        let damping = &DAMPING[if calm { DAMPING.len() - 1 } else { 0 }..];
        let decided = damping.iter().map(|d| self.follow(known, from, *d)).find(|f| *f != Fate::Undecided);
        decided.unwrap_or(Fate::Undecided)
    }

    /// Reactions that come down from those of an impact with these impulses: beyond all finite ones.
    pub(crate) fn settle_from(&self, impulses: &[f64]) -> Vec<f64> {
        let largest = max_abs(impulses).max(f64::MIN_POSITIVE);
        impulses.iter().map(|p| 10.0 * self.natural() * p / largest).collect()
    }

    /// The largest reaction that alone would balance b.
    fn natural(&self) -> f64 {
        self.pressed().map(|c| (self.b[c.at] / self.g[(c.at, c.at)]).abs()).fold(0.0, f64::max)
    }

    fn follow(&self, known: &[Vec<f64>], from: &[f64], damping: f64) -> Fate {
        let n = self.cones.len();
        let Some(mut motion) = Motion::new(self, damping) else { return Fate::Undecided };
        let size = known
            .iter()
            .map(|k| max_abs(k))
            .fold(self.natural(), f64::max)
            .max(max_abs(from))
            .max(f64::MIN_POSITIVE);
        let mut y = vec![0.0; 2 * n + self.b.len()];
        y[..n].copy_from_slice(from);
        motion.still = STILL * (max_abs(self.b) + motion.mobility() * size);
        for step in 0..LIMIT {
            motion.advance(&mut y);
            let grown = y[..n].iter().fold(0.0_f64, |m, s| m.max(*s));
            if !(grown < 1e9 * size) {
                return Fate::Diverges(y[..n].iter().map(|s| s.max(0.0) / grown).collect());
            }
            let near = |k: &Vec<f64>| {
                (0..n).all(|i| {
                    let (s, rate) = (y[i], y[n + i]);
                    let rests = rate.abs() < 1e-6 * size && (s.max(0.0) - k[i]).abs() < 1e-5 * size;
                    rests || (k[i] == 0.0 && s < -1e3 * size && rate < 0.0) || self.cones[i].given.is_some()
                })
            };
            if step % 64 == 0
                && let Some(k) = known.iter().position(near)
            {
                return Fate::Settles(k);
            }
        }
        Fate::Undecided
    }

    fn pressed(&self) -> impl Iterator<Item = &Cone> {
        self.cones.iter().filter(|c| c.given.is_none())
    }
}

impl<'a> Motion<'a> {
    fn new(of: &'a Springs<'a>, damping: f64) -> Option<Self> {
        let slip = |c: &Cone| match c.friction {
            Sliding::Slides { d, .. } => Slip::Always(d),
            Sliding::Rests { .. } => Slip::Held,
        };
        let mut motion = Motion {
            of,
            kappa: 0.0,
            damping: 2.0 * damping,
            slip: of.cones.iter().map(slip).collect(),
            still: 0.0,
            lambda: vec![0.0; of.b.len()],
            accel: vec![0.0; of.b.len()],
        };
        let bound = motion.mobility();
        motion.kappa = 1.0 / bound;
        (bound > 0.0 && bound.is_finite()).then_some(motion)
    }

    /// The largest acceleration of a row by normal forces of one with their friction.
    fn mobility(&self) -> f64 {
        let share = |c: &Cone, r: usize| match c.friction {
            _ if c.given.is_none() && r == c.at => 1.0,
            Sliding::Rests { rest, mu } => rest.max(mu),
            Sliding::Slides { mu, .. } => mu,
        };
        let sum = |r: usize| {
            let part = |c: &Cone| {
                (c.at..first(c) + c.tangents).map(|k| self.of.g[(r, k)].abs() * share(c, k)).sum::<f64>()
            };
            self.of.cones.iter().map(part).sum::<f64>()
        };
        (0..self.of.b.len()).map(sum).fold(0.0, f64::max)
    }

    /// One step.
    fn advance(&mut self, y: &mut Vec<f64>) {
        let n = self.of.cones.len();
        let mut rates = vec![0.0; y.len()];
        self.rates(y, &mut rates);
        let mut h = STEP;
        for (i, c) in self.of.cones.iter().enumerate() {
            if self.slip[i] == Slip::Now {
                let row = 2 * n + first(c);
                let (speed, pull) = (norm(&y[row..row + c.tangents]), norm(&rates[row..row + c.tangents]));
                if speed < h / TURN * pull {
                    h = TURN * speed / pull;
                }
            }
        }
        let mut next = self.step(y, &rates, h);
        if self.turns(y, &next) {
            let (mut low, mut high) = (0.0, h);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                next = self.step(y, &rates, middle);
                if self.turns(y, &next) { high = middle } else { low = middle }
            }
            next = self.step(y, &rates, high);
        }
        *y = next;
        for (i, c) in self.of.cones.iter().enumerate() {
            let row = 2 * n + first(c);
            let slip = &mut y[row..row + c.tangents];
            let moves = norm(slip) > self.still;
            match self.slip[i] {
                Slip::Now if !moves => self.slip[i] = Slip::Held,
                Slip::Held if moves => self.slip[i] = Slip::Now,
                _ => {}
            }
            if self.slip[i] == Slip::Held && !self.begins(i) {
                slip.fill(0.0);
            }
        }
        self.rates(y, &mut rates);
    }

    /// Whether slip begins at contact i.
    fn begins(&self, i: usize) -> bool {
        let c = &self.of.cones[i];
        let tangents = first(c)..first(c) + c.tangents;
        norm(&self.accel[tangents.clone()]) > 1e-6 * norm(&self.lambda[tangents]) * self.of.g[(c.at, c.at)]
    }

    /// Whether some contact begins or ends to press.
    fn turns(&self, y: &[f64], next: &[f64]) -> bool {
        let n = self.of.cones.len();
        let presses = |y: &[f64], i: usize| self.reaction(y[i], y[n + i]) > 0.0;
        (0..n).any(|i| self.of.cones[i].given.is_none() && presses(y, i) != presses(next, i))
    }

    fn step(&mut self, y: &[f64], first: &[f64], h: f64) -> Vec<f64> {
        let add = |k: &[f64], h: f64| y.iter().zip(k).map(|(y, k)| y + h * k).collect::<Vec<f64>>();
        let mut k: [Vec<f64>; 4] = std::array::from_fn(|_| vec![0.0; y.len()]);
        k[0].copy_from_slice(first);
        for (i, c) in [(1, 0.5), (2, 0.5), (3, 1.0)] {
            let z = add(&k[i - 1], c * h);
            let mut slope = std::mem::take(&mut k[i]);
            self.rates(&z, &mut slope);
            k[i] = slope;
        }
        (0..y.len()).map(|j| y[j] + h / 6.0 * (k[0][j] + 2.0 * (k[1][j] + k[2][j]) + k[3][j])).collect()
    }

    fn rates(&mut self, y: &[f64], dy: &mut [f64]) {
        let n = self.of.cones.len();
        self.forces(y);
        for i in 0..n {
            let c = &self.of.cones[i];
            (dy[i], dy[n + i]) = (y[n + i], -self.kappa * self.accel[c.at]);
            if c.given.is_some() {
                (dy[i], dy[n + i]) = (0.0, 0.0);
            }
        }
        dy[2 * n..].copy_from_slice(&self.accel);
    }

    /// R at s and s′.
    fn reaction(&self, s: f64, rate: f64) -> f64 {
        if s > 0.0 { (s + self.damping * rate).max(0.0) } else { 0.0 }
    }

    /// Forces and accelerations of all rows at y.
    fn forces(&mut self, y: &[f64]) {
        let (n, rows) = (self.of.cones.len(), self.of.b.len());
        let mut held: Vec<(usize, f64)> = Vec::new();
        for (i, c) in self.of.cones.iter().enumerate() {
            let press = match c.given {
                Some(load) => load,
                None => {
                    let r = self.reaction(y[i], y[n + i]);
                    self.lambda[c.at] = r;
                    r
                }
            };
            let slip = |k: usize| if k < c.tangents { y[2 * n + first(c) + k] } else { 0.0 };
            let v = [slip(0), slip(1), slip(2)];
            let d = match self.slip[i] {
                Slip::Always(d) => d,
                Slip::Now if norm(&v) > 0.0 => {
                    let size = norm(&v);
                    v.map(|v| v / size)
                }
                _ => {
                    held.push((i, press));
                    continue;
                }
            };
            let mu = match c.friction {
                Sliding::Slides { mu, .. } | Sliding::Rests { mu, .. } => mu,
            };
            let push = c.section.under(press).push(d);
            (0..c.tangents).for_each(|k| self.lambda[first(c) + k] = -mu * press * push[k]);
        }
        self.hold(&held);
        for r in 0..rows {
            self.accel[r] = dot(self.of.g.row(r), &self.lambda) + self.of.b[r];
        }
    }

    /// Friction at zero slip under the loads given: one convex problem.
    fn hold(&mut self, held: &[(usize, f64)]) {
        let mut cones = Vec::new();
        let mut rows = Vec::new();
        for &(i, load) in held {
            let c = &self.of.cones[i];
            let tangents = first(c)..first(c) + c.tangents;
            tangents.clone().for_each(|r| self.lambda[r] = 0.0);
            if c.tangents == 0 || load <= 0.0 {
                continue;
            }
            // what slid before has one coefficient
            let friction = match c.friction {
                Sliding::Slides { mu, .. } => Sliding::Rests { rest: mu, mu },
                rests => rests,
            };
            cones.push(Cone { at: rows.len(), given: Some(load), friction, inner: None, least: 0.0, ..*c });
            rows.extend(tangents);
        }
        if rows.is_empty() {
            return;
        }
        let g = Mat::from_fn(rows.len(), rows.len(), |i, j| self.of.g[(rows[i], rows[j])]);
        let b: Vec<f64> = rows.iter().map(|&r| self.of.b[r] + dot(self.of.g.row(r), &self.lambda)).collect();
        let mut x = vec![0.0; rows.len()];
        if all(&cones, &g, &b, &mut x).is_some() {
            rows.iter().zip(&x).for_each(|(&r, x)| self.lambda[r] = *x);
        }
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
