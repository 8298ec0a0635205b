//! The fast motion of stiff contacts: reactions move, positions and velocities stand still (ANH-5.4-PERTURB).
//!
//! ```text
//! g̈ = H_nn R + H_nt x + c,   x = −d μ |R|,   R = −k g − α ġ   (one-sided: its positive part while g < 0)
//! ```
//!
//! Piecewise linear in the reactions. The rigid solutions are the stationary points; from given reactions the motion either
//! settles on one of them, under a little damping, or grows without bound: a tangential impact. Integrated with the classical
//! method of order 4 and a step of 0.02 of the shortest period over 2π, every change of sign of a reaction located by
//! bisection. Limit 400 000 steps.

use super::{Reduced, Start};
use crate::linalg::{Mat, axpy, max_abs};
use crate::system::{ContactInfo, Eval, Normal};

/// A pair in the fast motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastPair {
    /// Index of the contact.
    pub contact: usize,
    /// Direction of slip, ±1 (0 without friction).
    pub direction: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// The reaction may have either sign.
    pub two_sided: bool,
}

/// The problem: normals first, then tangents, pair by pair.
#[derive(Clone, Debug, Default)]
pub struct Fast {
    /// H (2m × 2m).
    pub h: Mat,
    /// c of the normals (further entries are not read).
    pub c: Vec<f64>,
    /// The pairs.
    pub pairs: Vec<FastPair>,
}

impl Fast {
    /// The problem of all closed sliding pairs; `None` when some friction is not known in direction, depends on journals or
    /// on loads of other contacts, or M is singular without the pairs.
    pub fn of(info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> Option<Fast> {
        let mut f = eval.h.clone();
        let (mut bilateral, mut normals, mut tangents, mut pairs) = (vec![], vec![], vec![], vec![]);
        for (i, c) in info.iter().enumerate() {
            let friction = c.friction && c.tangent.len() == 1;
            let direction = match starts[i] {
                Start::Plus => 1.0,
                Start::Minus => -1.0,
                _ => 0.0,
            };
            let (row, two_sided) = match c.normal {
                Normal::Bilateral { row } if friction => (row, true),
                Normal::Bilateral { row } => {
                    bilateral.push(row);
                    continue;
                }
                Normal::Unilateral { row } if starts[i] != Start::Open => (row, false),
                Normal::Unilateral { .. } => continue,
                Normal::Pin { rows } if !friction => {
                    bilateral.extend(rows);
                    continue;
                }
                Normal::Pin { .. } => return None,
                Normal::Given { .. } if !friction || starts[i] == Start::Open => continue,
                Normal::Given { .. } if c.load_on.is_empty() && direction != 0.0 => {
                    axpy(-direction * eval.mu[i] * eval.load[i].max(0.0), eval.w.row(c.tangent[0]), &mut f);
                    continue;
                }
                Normal::Given { .. } => return None,
            };
            if friction && direction == 0.0 {
                return None;
            }
            normals.push(row);
            tangents.push(friction.then(|| c.tangent[0]));
            pairs.push(FastPair {
                contact: i,
                direction,
                mu: if friction { eval.mu[i] } else { 0.0 },
                two_sided,
            });
        }
        let m = pairs.len();
        let mut rows = normals;
        let place: Vec<Option<usize>> = tangents
            .iter()
            .map(|t| {
                t.map(|row| {
                    rows.push(row);
                    rows.len() - 1
                })
            })
            .collect();
        let mut red = Reduced::default();
        if m == 0 || !red.eliminate(&eval.mass, &f, &eval.w, &eval.accel_offset, &bilateral, &rows) {
            return None;
        }
        let at = |k: usize| if k < m { Some(k) } else { place[k - m] };
        let h = Mat::from_fn(2 * m, 2 * m, |i, j| match (at(i), at(j)) {
            (Some(a), Some(b)) => red.h[(a, b)],
            _ => 0.0,
        });
        let ok = h.as_slice().iter().chain(&red.c).all(|v| v.is_finite()) && (0..m).all(|a| h[(a, a)] > 0.0);
        ok.then(|| Fast { h, c: red.c[..m].to_vec(), pairs })
    }
}

/// Where the fast motion of several pairs leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// To the branch with this index.
    Settles(usize),
    /// Reactions grow without bound; the direction of growth, largest component 1.
    Diverges(Vec<f64>),
    /// Neither within the time allowed (flutter that is caught by another branch, a cycle).
    Undecided,
}

impl Fast {
    /// Integrate from the reactions `r0` and their rates `rate0` (in the time in which the largest |κ| is about 1).
    /// `stationary`: the rigid solutions, R per pair, 0 where a one-sided pair is open. `stiffness` relative per pair, `damping`
    /// the ratio at that frequency (R = −c g − α ġ).
    pub fn follow(
        &self,
        stationary: &[Vec<f64>],
        stiffness: &[f64],
        r0: &[f64],
        rate0: &[f64],
        damping: f64,
    ) -> Fate {
        let m = self.pairs.len();
        let mut stiff = stiffness.to_vec();
        // time unit: the largest row sum bounds every |κ|
        let bound = (0..m)
            .map(|a| {
                stiff[a]
                    * (0..m)
                        .map(|b| self.h[(a, b)].abs() + self.h[(a, m + b)].abs() * self.pairs[b].mu)
                        .sum::<f64>()
            })
            .fold(0.0, f64::max);
        if !(bound > 0.0) {
            return Fate::Undecided;
        }
        stiff.iter_mut().for_each(|c| *c /= bound);
        // the reactions that balance c alone, and what is given
        let natural = (0..m).map(|a| (self.c[a] / self.h[(a, a)]).abs()).fold(0.0, f64::max);
        let known = stationary.iter().map(|s| max_abs(s)).fold(natural, f64::max);
        let size = known.max(max_abs(r0)).max(max_abs(rate0)).max(f64::MIN_POSITIVE);
        let mut motion =
            Motion { fast: self, stiff, damping: 2.0 * damping, r: vec![0.0; m], x: vec![0.0; m] };
        let mut y: Vec<f64> = r0.iter().chain(rate0).copied().collect();
        let mut next = y.clone();
        let (step, limit) = (0.02, 400_000);
        let mut rk = Rk::new(2 * m);
        for k in 0..limit {
            rk.step(&mut motion, step, &y, &mut next);
            // the first change of sign inside the step
            let crosses = |n: &[f64]| (0..m).any(|a| y[a] != 0.0 && n[a] * y[a] < 0.0);
            if crosses(&next) {
                let (mut lo, mut hi) = (0.0, step);
                for _ in 0..50 {
                    let mid = 0.5 * (lo + hi);
                    rk.step(&mut motion, mid, &y, &mut next);
                    if crosses(&next) { hi = mid } else { lo = mid }
                }
                rk.step(&mut motion, hi, &y, &mut next);
            }
            std::mem::swap(&mut y, &mut next);
            let largest = max_abs(&y[..m]);
            let pressed = (0..m).filter(|&a| self.pairs[a].two_sided || y[a] > 0.0);
            let grown = pressed.map(|a| y[a].abs()).fold(0.0, f64::max);
            if !(grown < 1e9 * size) {
                return Fate::Diverges(y[..m].iter().map(|v| v / largest).collect());
            }
            if k % 64 == 0 {
                let still = max_abs(&y[m..]) < 1e-6 * size;
                let near = |b: &Vec<f64>| {
                    (0..m).all(|a| {
                        let r = if self.pairs[a].two_sided { y[a] } else { y[a].max(0.0) };
                        (r - b[a]).abs() < 1e-5 * size
                    })
                };
                if still && let Some(b) = stationary.iter().position(near) {
                    return Fate::Settles(b);
                }
                // an open one-sided pair flies away for good
                let leaves = |b: &Vec<f64>| {
                    (0..m).all(|a| {
                        if !self.pairs[a].two_sided && b[a] == 0.0 {
                            y[a] < -1e3 * size && y[m + a] < 0.0
                        } else {
                            (y[a] - b[a]).abs() < 1e-4 * size
                        }
                    })
                };
                if let Some(b) = stationary.iter().position(leaves) {
                    return Fate::Settles(b);
                }
            }
        }
        Fate::Undecided
    }
}

// s̈ = −c g̈ with R = s + α ṡ (friction follows the damped force), one-sided: positive part
struct Motion<'a> {
    fast: &'a Fast,
    stiff: Vec<f64>,
    damping: f64,
    r: Vec<f64>,
    x: Vec<f64>,
}

impl Motion<'_> {
    fn rates(&mut self, y: &[f64], dy: &mut [f64]) {
        let m = self.fast.pairs.len();
        for a in 0..m {
            let raw = y[a] + self.damping * y[m + a];
            let two_sided = self.fast.pairs[a].two_sided;
            self.r[a] = if two_sided {
                raw
            } else if y[a] > 0.0 {
                raw.max(0.0)
            } else {
                0.0
            };
            // the sign that friction sees is that of the spring: no chatter from damping
            let bound = if two_sided { raw * y[a].signum() } else { self.r[a] };
            self.x[a] = -self.fast.pairs[a].direction * self.fast.pairs[a].mu * bound;
        }
        for a in 0..m {
            dy[a] = y[m + a];
            let row = self.fast.h.row(a);
            let mut g = self.fast.c[a];
            for b in 0..m {
                g += row[b] * self.r[b] + row[m + b] * self.x[b];
            }
            dy[m + a] = -self.stiff[a] * g;
        }
    }
}

struct Rk {
    k: [Vec<f64>; 4],
    z: Vec<f64>,
}

impl Rk {
    fn new(n: usize) -> Self {
        Rk { k: std::array::from_fn(|_| vec![0.0; n]), z: vec![0.0; n] }
    }

    // the classical method of order 4
    fn step(&mut self, f: &mut Motion, h: f64, y: &[f64], out: &mut [f64]) {
        let n = y.len();
        for (i, c) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            for j in 0..n {
                self.z[j] = y[j] + if i == 0 { 0.0 } else { c * h * self.k[i - 1][j] };
            }
            f.rates(&self.z, &mut self.k[i]);
        }
        for j in 0..n {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| self.k[i][j]);
            out[j] = y[j] + h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
        }
    }
}
