//! Integration of the fast motion.
//!
//! Classical method of order 4 with a step of 0.02 in the time in which the largest |κ| is about 1; between changes of
//! sign of a reaction, touch, lift-off and changes of direction of a small slip, each located by bisection, the motion is smooth
//! up to corners where friction saturates. Friction of pairs at rest: projected Gauss–Seidel on
//! the convex problem, from the last forces. A branch is reached when the reactions stand within 10⁻⁵ on it, or come
//! steadily nearer within 5 % of the way to the next branch. Limit 400 000 steps.

use super::{Fast, Fate, Term};
use crate::linalg::{dot, max_abs};

pub(super) const STEP: f64 = 0.02;
const LIMIT: usize = 400_000;

impl Fast {
    /// Integrate from the reactions `r0` and their rates `rate0` (in the time in which the largest |κ| is about 1).
    /// `stationary`: the rigid solutions, R per normal (0 where a one-sided pair is open), followed, where they are known,
    /// by the friction forces. `damping` is the ratio at the frequency 1 (R = −c g − α ġ).
    pub fn follow(&self, stationary: &[Vec<f64>], r0: &[f64], rate0: &[f64], damping: f64) -> Fate {
        let (n, t) = (self.normals.len(), self.tangents.len());
        let Some(mut motion) = Motion::new(self, damping) else { return Fate::Undecided };
        // the reactions that balance c alone, and what is given
        let natural = (0..n).map(|a| (self.c[a] / self.h[(a, a)]).abs()).fold(0.0, f64::max);
        let known = stationary.iter().map(|s| max_abs(&s[..n.min(s.len())])).fold(natural, f64::max);
        let size = known.max(max_abs(r0)).max(max_abs(rate0)).max(f64::MIN_POSITIVE);
        motion.set_scale(size);
        let mut slow = Slow::new(stationary, n);
        let mut y = vec![0.0; 2 * n + t];
        y[..n].copy_from_slice(r0);
        y[n..2 * n].copy_from_slice(rate0);
        for k in 0..LIMIT {
            motion.advance(&mut y);
            let pressed = (0..n).filter(|&a| self.normals[a].two_sided || y[a] > 0.0);
            let grown = pressed.map(|a| y[a].abs()).fold(0.0, f64::max);
            if !(grown < 1e9 * size) {
                let largest = max_abs(&y[..n]);
                let shape = |a: usize| if self.normals[a].two_sided { y[a] } else { y[a].max(0.0) };
                return Fate::Diverges((0..n).map(|a| shape(a) / largest).collect());
            }
            if k % 64 == 0 {
                motion.forces(&y);
                if let Some(b) = stationary.iter().position(|b| self.is_on(b, &motion, &y, size)) {
                    return Fate::Settles(b);
                }
                if let Some(b) = slow.watch(k, &motion.r, stationary) {
                    return Fate::Settles(b);
                }
            }
        }
        Fate::Undecided
    }

    /// Whether the motion has come to the stationary solution `b`.
    fn is_on(&self, b: &[f64], motion: &Motion, y: &[f64], size: f64) -> bool {
        let n = self.normals.len();
        let normals = (0..n).all(|a| {
            let (s, rate) = (y[a], y[n + a]);
            let still = rate.abs() < 1e-6 * size && (motion.r[a] - b[a]).abs() < 1e-5 * size;
            // an open one-sided pair flies away for good
            let gone = !self.normals[a].two_sided && b[a] == 0.0 && s < -1e3 * size && rate < 0.0;
            still || gone
        });
        // friction of pairs that had no slip tells stick from slip
        normals
            && self.tangents.iter().enumerate().all(|(j, t)| {
                t.direction != 0.0 || b.get(n + j).is_none_or(|x| (motion.x[j] - x).abs() < 1e-3 * size)
            })
    }
}

/// Slow approach: the largest distance from a branch within a window of steps falls from window to window and is small against
/// the distances between branches.
struct Slow {
    /// Largest distance from each branch in this window and in those before.
    farthest: Vec<[f64; 4]>,
    /// Distance of each branch that counts as small.
    small: Vec<f64>,
    end: usize,
}

impl Slow {
    const WINDOW: usize = 10_000;

    fn new(stationary: &[Vec<f64>], n: usize) -> Self {
        let apart = |a: &[f64], b: &[f64]| (0..n).map(|i| (a[i] - b[i]).abs()).fold(0.0, f64::max);
        let small = (0..stationary.len()).map(|b| {
            let others = stationary.iter().enumerate().filter(|(k, _)| *k != b);
            let nearest = others.map(|(_, o)| apart(o, &stationary[b])).fold(f64::INFINITY, f64::min);
            0.05 * nearest.min(max_abs(&stationary[b][..n]))
        });
        let small: Vec<f64> = small.collect();
        Slow { farthest: vec![[0.0; 4]; small.len()], small, end: Self::WINDOW }
    }

    fn watch(&mut self, step: usize, r: &[f64], stationary: &[Vec<f64>]) -> Option<usize> {
        for (f, b) in self.farthest.iter_mut().zip(stationary) {
            let d = r.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            f[0] = f[0].max(d);
        }
        if step < self.end {
            return None;
        }
        self.end += Self::WINDOW;
        let falls = |f: &[f64; 4]| f[0] < 0.99 * f[1] && f[1] < 0.99 * f[2] && f[2] < 0.99 * f[3];
        let found = (self.farthest.iter().zip(&self.small)).position(|(f, s)| falls(f) && f[1] < *s);
        for f in &mut self.farthest {
            *f = [0.0, f[0], f[1], f[2]];
        }
        found
    }
}

/// What a tangent does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slip {
    /// Slides with a speed that the fast motion does not change.
    Always(f64),
    /// Slides, for the time being.
    Now(f64),
    /// Slip zero: sticks, or is about to slide.
    Held,
}

/// State y: s = −k g, its rate, slip velocities; with R = s + 2ζ s'.
pub(super) struct Motion<'a> {
    fast: &'a Fast,
    /// κ of each spring.
    stiff: Vec<f64>,
    damping: f64,
    /// Whether c acts (not in an impact).
    constant: f64,
    pub(super) slip: Vec<Slip>,
    /// Reactions and friction forces at the last evaluation.
    pub(super) r: Vec<f64>,
    pub(super) x: Vec<f64>,
    /// Slip velocities below this are zero.
    still: Vec<f64>,
    /// Force of Gauss-Seidel that counts as zero.
    tiny: f64,
    k: [Vec<f64>; 4],
    z: Vec<f64>,
    next: Vec<f64>,
}

impl<'a> Motion<'a> {
    pub(super) fn new(fast: &'a Fast, damping: f64) -> Option<Self> {
        let (n, t) = (fast.normals.len(), fast.tangents.len());
        // time unit: the largest row sum bounds every |κ|
        let bound = (0..n)
            .map(|a| {
                let row = fast.h.row(a);
                let mut sum: f64 = row[..n].iter().map(|h| h.abs()).sum();
                for (j, tangent) in fast.tangents.iter().enumerate() {
                    let share: f64 = tangent.load.iter().map(|(_, f)| f.abs()).sum();
                    sum += row[n + j].abs() * tangent.mu.max(tangent.mu_static) * share;
                }
                fast.normals[a].stiffness * sum
            })
            .fold(0.0, f64::max);
        if !(bound > 0.0 && bound.is_finite()) {
            return None;
        }
        let slip = |d: f64| if d == 0.0 { Slip::Held } else { Slip::Always(d) };
        Some(Motion {
            fast,
            stiff: fast.normals.iter().map(|s| s.stiffness / bound).collect(),
            damping: 2.0 * damping,
            constant: 1.0,
            slip: fast.tangents.iter().map(|t| slip(t.direction)).collect(),
            r: vec![0.0; n],
            x: vec![0.0; t],
            still: vec![0.0; t],
            tiny: 0.0,
            k: std::array::from_fn(|_| Vec::new()),
            z: Vec::new(),
            next: Vec::new(),
        })
    }

    /// In an impact finite forces do nothing and every slip counts.
    pub(super) fn impact(&mut self) {
        self.constant = 0.0;
        for s in &mut self.slip {
            if let Slip::Always(d) = *s {
                *s = Slip::Now(d);
            }
        }
    }

    /// What reactions of this size make noise.
    pub(super) fn set_scale(&mut self, size: f64) {
        let n = self.fast.normals.len();
        for (j, v) in self.still.iter_mut().enumerate() {
            let row = self.fast.h.row(n + j);
            let sum: f64 = row.iter().map(|h| h.abs()).sum();
            *v = 1e-10 * (sum * size + self.constant * self.fast.c[n + j].abs());
        }
        self.tiny = 1e-13 * size;
    }

    /// One step, or less up to the first change.
    pub(super) fn advance(&mut self, y: &mut [f64]) -> f64 {
        let mut taken = STEP;
        self.step(STEP, y);
        if self.changes(y) {
            let (mut lo, mut hi) = (0.0, STEP);
            for _ in 0..40 {
                let mid = 0.5 * (lo + hi);
                self.step(mid, y);
                if self.changes(y) { hi = mid } else { lo = mid }
            }
            self.step(hi, y);
            taken = hi;
        }
        y.copy_from_slice(&self.next);
        let n2 = 2 * self.fast.normals.len();
        for j in 0..self.slip.len() {
            let v = &mut y[n2 + j];
            match self.slip[j] {
                Slip::Now(d) if *v * d <= 0.0 => {
                    *v = 0.0;
                    self.slip[j] = Slip::Held;
                }
                Slip::Held if v.abs() > self.still[j] => self.slip[j] = Slip::Now(v.signum()),
                Slip::Held => *v = 0.0,
                _ => {}
            }
        }
        taken
    }

    // whether some law changes its branch between y and the next state
    fn changes(&self, y: &[f64]) -> bool {
        let n = self.fast.normals.len();
        let raw = |y: &[f64], a: usize| y[a] + self.damping * y[n + a];
        (0..n).any(|a| {
            if self.fast.normals[a].two_sided {
                raw(y, a) != 0.0 && raw(&self.next, a) * raw(y, a) < 0.0
            } else {
                let pressed = |y: &[f64]| y[a] > 0.0 && raw(y, a) > 0.0;
                pressed(y) != pressed(&self.next)
            }
        }) || (self.slip.iter().enumerate())
            .any(|(j, s)| matches!(s, Slip::Now(d) if self.next[2 * n + j] * d < 0.0))
    }

    // the classical method of order 4, from y to `next`
    fn step(&mut self, h: f64, y: &[f64]) {
        let size = y.len();
        let mut k = std::mem::take(&mut self.k);
        let mut z = std::mem::take(&mut self.z);
        z.resize(size, 0.0);
        for (i, c) in [0.0, 0.5, 0.5, 1.0].into_iter().enumerate() {
            for j in 0..size {
                z[j] = y[j] + if i == 0 { 0.0 } else { c * h * k[i - 1][j] };
            }
            k[i].resize(size, 0.0);
            self.rates(&z, &mut k[i]);
        }
        self.next.resize(size, 0.0);
        for j in 0..size {
            self.next[j] = y[j] + h / 6.0 * (k[0][j] + 2.0 * k[1][j] + 2.0 * k[2][j] + k[3][j]);
        }
        (self.k, self.z) = (k, z);
    }

    fn rates(&mut self, y: &[f64], dy: &mut [f64]) {
        self.forces(y);
        let (n, t) = (self.r.len(), self.x.len());
        for a in 0..n {
            dy[a] = y[n + a];
            dy[n + a] = -self.stiff[a] * self.acceleration(a);
        }
        for j in 0..t {
            dy[2 * n + j] = self.acceleration(n + j);
        }
        // impulses, when asked for
        for (k, d) in dy.iter_mut().skip(2 * n + t).enumerate() {
            *d = if k < n { self.r[k] } else { self.x[k - n] };
        }
    }

    /// ÿ of a row with the forces of the last evaluation.
    pub(super) fn acceleration(&self, row: usize) -> f64 {
        let n = self.r.len();
        let h = self.fast.h.row(row);
        self.constant * self.fast.c[row] + dot(&h[..n], &self.r) + dot(&h[n..], &self.x)
    }

    /// Reactions and friction at y.
    pub(super) fn forces(&mut self, y: &[f64]) {
        let (n, t) = (self.r.len(), self.x.len());
        for a in 0..n {
            let raw = y[a] + self.damping * y[n + a];
            self.r[a] = match self.fast.normals[a].two_sided {
                true => raw,
                false if y[a] > 0.0 => raw.max(0.0),
                false => 0.0,
            };
        }
        let mut held = 0;
        for j in 0..t {
            match self.slip[j] {
                Slip::Always(d) | Slip::Now(d) => self.x[j] = -d * self.bound(j, false),
                Slip::Held => held += 1,
            }
        }
        if held == 0 {
            return;
        }
        for _ in 0..200 {
            let mut moved = 0.0_f64;
            for j in 0..t {
                let own = self.fast.h[(n + j, n + j)];
                if self.slip[j] != Slip::Held || !(own > 0.0) {
                    continue;
                }
                let bound = self.bound(j, true);
                let x = (self.x[j] - self.acceleration(n + j) / own).clamp(-bound, bound);
                moved = moved.max((x - self.x[j]).abs());
                self.x[j] = x;
            }
            if held == 1 || moved <= self.tiny {
                break;
            }
        }
    }

    // μ N
    fn bound(&self, j: usize, at_rest: bool) -> f64 {
        let t = &self.fast.tangents[j];
        let mut load = self.constant * t.given[usize::from(at_rest)];
        for (term, factor) in &t.load {
            load += factor
                * match *term {
                    Term::Force(a) => self.r[a],
                    Term::Size(a) => self.r[a].abs(),
                    Term::Norm(a, b) => self.r[a].hypot(self.r[b]),
                };
        }
        load.max(0.0) * if at_rest { t.mu_static } else { t.mu }
    }
}
