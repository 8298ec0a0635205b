//! The last digits: cones that are touched are equations
//!
//! ```text
//! Gᵀz = c       s = h − G x          inside: z = 0        tip: s = 0        wall: s₀ = |s̄|,  z₀ s̄ + s₀ z̄ = 0
//! ```
//!
//! Newton's method on (x, z) with steps of least length, since forces of hyperstatic structures are not unique. What it finds is taken where all
//! conditions hold better than before.

use super::interior::{End, parts};
use crate::linalg::{FullPivot, Mat, axpy, dot};

/// Steps.
const STEPS: usize = 8;

/// What a cone does.
#[derive(Clone, Copy, PartialEq)]
enum Touch {
    Inside,
    Tip,
    Wall,
}

/// Improve an optimal end.
pub(super) fn polish(g: &Mat, h: &[f64], c: &[f64], sizes: &[usize], end: &mut End) {
    let (m, n) = (g.rows(), g.cols());
    let largest = |v: &[f64]| v.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    let (hs, cs) = (largest(&end.s), largest(&end.z));
    let rest = |v: &[f64]| dot(&v[1..], &v[1..]).sqrt();
    let touch: Vec<Touch> = parts(sizes)
        .map(|(at, q)| {
            let (s, z) = (&end.s[at..at + q], &end.z[at..at + q]);
            let (s0, z0) = (s[0] / hs, z[0] / cs);
            let (s1, z1) = ((s[0] - rest(s)) / hs, (z[0] - rest(z)) / cs);
            if z0 <= s1 {
                Touch::Inside
            } else if s0 <= z1 || q == 1 {
                Touch::Tip
            } else {
                Touch::Wall
            }
        })
        .collect();
    let judge = |x: &[f64], z: &[f64]| -> f64 {
        let s: Vec<f64> = (0..m).map(|i| h[i] - dot(g.row(i), x)).collect();
        let mut d: Vec<f64> = c.iter().map(|c| -c).collect();
        g.add_mul_transpose(z, &mut d);
        let mut error = largest(&d) / cs;
        for (at, q) in parts(sizes) {
            error = error.max((rest(&s[at..at + q]) - s[at]) / hs).max((rest(&z[at..at + q]) - z[at]) / cs);
        }
        error.max(dot(&s, z).abs() / (hs * cs))
    };
    let (mut x, mut z) = (end.x.clone(), end.z.clone());
    let before = judge(&x, &z);
    let mut best = before;
    let mut factor = FullPivot::default();
    let mut step = vec![0.0; n + m];
    for _ in 0..STEPS {
        let (matrix, side) = equations(g, h, c, sizes, &touch, &x, &z);
        factor.factor(&matrix);
        factor.solve(&side, &[], &mut step);
        if step.iter().any(|v| !v.is_finite()) {
            return;
        }
        axpy(1.0, &step[..n], &mut x);
        axpy(1.0, &step[n..], &mut z);
        let error = judge(&x, &z);
        if error < best {
            best = error;
            end.x.clone_from(&x);
            end.z.clone_from(&z);
            end.s = (0..m).map(|i| h[i] - dot(g.row(i), &x)).collect();
            end.residual = error;
        } else if error > 1e3 * best {
            break;
        }
    }
}

/// Derivative and minus the value of all conditions.
fn equations(
    g: &Mat,
    h: &[f64],
    c: &[f64],
    sizes: &[usize],
    touch: &[Touch],
    x: &[f64],
    z: &[f64],
) -> (Mat, Vec<f64>) {
    let (m, n) = (g.rows(), g.cols());
    let mut a = Mat::zeros(n + m, n + m);
    let mut side = vec![0.0; n + m];
    for j in 0..n {
        side[j] = c[j];
        for i in 0..m {
            a[(j, n + i)] = g[(i, j)];
            side[j] -= g[(i, j)] * z[i];
        }
    }
    let s: Vec<f64> = (0..m).map(|i| h[i] - dot(g.row(i), x)).collect();
    for ((at, q), touch) in parts(sizes).zip(touch) {
        for k in at..at + q {
            let row = n + k;
            match touch {
                Touch::Inside => {
                    a[(row, n + k)] = 1.0;
                    side[row] = -z[k];
                }
                // h − G x = 0
                Touch::Tip => {
                    (0..n).for_each(|j| a[(row, j)] = -g[(k, j)]);
                    side[row] = -s[k];
                }
                Touch::Wall if k == at => {
                    let length = dot(&s[at + 1..at + q], &s[at + 1..at + q]).sqrt();
                    for j in 0..n {
                        let tail: f64 = (at + 1..at + q).map(|i| s[i] / length * g[(i, j)]).sum();
                        a[(row, j)] = -g[(at, j)] + tail;
                    }
                    side[row] = length - s[at];
                }
                Touch::Wall => {
                    (0..n).for_each(|j| a[(row, j)] = -z[at] * g[(k, j)] - z[k] * g[(at, j)]);
                    a[(row, n + at)] = s[k];
                    a[(row, n + k)] = s[at];
                    side[row] = -(z[at] * s[k] + s[at] * z[k]);
                }
            }
        }
    }
    (a, side)
}
