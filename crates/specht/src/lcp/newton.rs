//! Damped Newton's method for the linear complementarity problem, where Lemke's paths end on rays
//!
//! ```text
//! φ(z_i, w_i) = √(z_i² + w_i²) − z_i − w_i = 0      w = A z + b
//! ```
//!
//! `φ` vanishes exactly where `z_i ≥ 0`, `w_i ≥ 0`, `z_i w_i = 0`. Newton steps on the scaled problem, halved until `½|φ|²` falls;
//! after a start that stalls the next, scattered one (seeded). Converges to a solution from nearby whenever that one is regular; no
//! guarantee from afar. The answer is solved again from the data on the basis found, as Lemke's. [Fischer1992], [Cottle1992]

use super::lemke::BasisSolve;
use super::{Lcp, RESIDUAL_TOLERANCE, Scale, Status};
use crate::linalg::{Lu, Mat, dot};

/// Starts, and steps from each.
const STARTS: usize = 6;
const STEPS: usize = 60;
/// A basis is read off below this `|φ|`, relative to the largest `b`.
const CLOSE: f64 = 1e-6;
/// Halvings of a step before a start is given up.
const HALVINGS: usize = 25;

/// Storage; after a solve it holds the answer.
#[derive(Clone, Debug, Default)]
pub(super) struct NewtonWorkspace {
    pub basis: BasisSolve,
    pub steps: usize,
    scale: Scale,
    a: Mat,
    matrix: Mat,
    lu: Lu,
}

fn phi(z: f64, w: f64) -> f64 {
    // no cancellation where both are positive
    let r = z.hypot(w);
    if z + w > 0.0 { -2.0 * z * w / (r + z + w) } else { r - z - w }
}

impl NewtonWorkspace {
    /// Try every start until one ends at a solution.
    pub(super) fn solve(&mut self, p: Lcp<'_>) -> Status {
        let n = p.dim();
        self.steps = 0;
        self.scale.fit(p.a);
        let b: Vec<f64> = (0..n).map(|i| self.scale.row[i] * p.b[i]).collect();
        let size = b.iter().fold(0.0_f64, |m, b| m.max(b.abs())).max(f64::MIN_POSITIVE);
        self.a.resize(n, n);
        for i in 0..n {
            for j in 0..n {
                self.a[(i, j)] = self.scale.row[i] * p.a[(i, j)] * self.scale.col[j];
            }
        }
        for start in 0..STARTS {
            // zero, ones, then scattered numbers between nought and two
            let value = |i: usize| match start {
                0 => 0.0,
                1 => size,
                k => 2.0 * size * ((i + 1) as f64 * (k as f64 + 0.37) * 0.618_033_988_749_894_9).fract(),
            };
            let z: Vec<f64> = (0..n).map(value).collect();
            if let Some(status) = self.from(p, z, &b, size) {
                return status;
            }
        }
        Status::Ray
    }

    /// From one start.
    fn from(&mut self, p: Lcp<'_>, mut z: Vec<f64>, b: &[f64], size: f64) -> Option<Status> {
        let n = z.len();
        let slack = |a: &Mat, z: &[f64], w: &mut [f64]| (0..n).for_each(|i| w[i] = b[i] + dot(a.row(i), z));
        let merit = |z: &[f64], w: &[f64]| z.iter().zip(w).map(|(z, w)| phi(*z, *w).powi(2)).sum::<f64>();
        let (mut w, mut step) = (vec![0.0; n], vec![0.0; n]);
        let (mut zn, mut wn) = (vec![0.0; n], vec![0.0; n]);
        slack(&self.a, &z, &mut w);
        let mut now = merit(&z, &w);
        self.matrix.resize(n, n);
        for _ in 0..STEPS {
            self.steps += 1;
            if now.sqrt() < CLOSE * size
                && let Some(status) = self.read(p, &z, &w)
            {
                return Some(status);
            }
            // D_z + D_w A, with the gradient of φ
            for i in 0..n {
                let r = z[i].hypot(w[i]);
                let (dz, dw) = if r > 0.0 { (z[i] / r - 1.0, w[i] / r - 1.0) } else { (-0.3, -0.3) };
                for j in 0..n {
                    self.matrix[(i, j)] = dw * self.a[(i, j)];
                }
                self.matrix[(i, i)] += dz;
                step[i] = -phi(z[i], w[i]);
            }
            if !(self.lu.factor(&self.matrix) > 0.0) {
                return None;
            }
            self.lu.solve(&mut step);
            let mut t = 1.0;
            let fell = (0..HALVINGS).any(|_| {
                (0..n).for_each(|i| zn[i] = z[i] + t * step[i]);
                slack(&self.a, &zn, &mut wn);
                let new = merit(&zn, &wn);
                let good = new < (1.0 - 1e-4 * t) * now;
                if good {
                    now = new;
                }
                t *= 0.5;
                good
            });
            if !fell {
                return None;
            }
            std::mem::swap(&mut z, &mut zn);
            std::mem::swap(&mut w, &mut wn);
        }
        None
    }

    /// Solve on the basis `z_i > w_i`.
    fn read(&mut self, p: Lcp<'_>, z: &[f64], w: &[f64]) -> Option<Status> {
        self.basis.set.clear();
        self.basis.set.extend((0..z.len()).filter(|&i| z[i] > w[i]));
        self.basis.run(p, &self.scale);
        // from the data: on a singular basis the `w` set to zero are not those of `z`
        let residual = p.residual(&self.basis.z);
        (residual < RESIDUAL_TOLERANCE).then_some(Status::Solved { residual })
    }
}
