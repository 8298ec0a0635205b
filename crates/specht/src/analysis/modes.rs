//! Small vibrations about a state, with every contact held open, sliding or stuck: modes, response to a harmonic force, and the
//! amplitude at which the first stuck contact gives way (PG-13.1-DAMPER-BREAK)
//!
//! ```text
//! x' = A x + b f,     x = (positions, velocities, states)          f = Re(f̂ exp(iωt))
//! x̂ = (iω − A)⁻¹ b f̂,   λ̂ = Λ x̂ + λ_b f̂                              forces of the held rows
//! |λ_T0 + a Re(λ̂_T e^{iψ})| ≤ μ (λ_N0 + a Re(λ̂_N e^{iψ})) for all ψ    ⇔    a ≤ (μ λ_N0 ∓ λ_T0) / |λ̂_T ± μ λ̂_N|
//! ```
//!
//! The modes belong to A without the directions that move nothing; each of those is a mode of frequency zero.

use super::AnalysisError;
use super::linear::spectrum::{Pair, pairs};
use super::linear::{Hold, Linear, Reduced};
use crate::linalg::{Complex, FullPivot, Lu, Mat};
use crate::system::System;
use std::f64::consts::TAU;

/// A mode of vibration.
#[derive(Clone, Debug)]
pub(crate) struct ModeShape {
    /// Its eigenvalue.
    pub value: Complex,
    /// Damping ratio; 0 for a motion without restoring force.
    pub damping: f64,
    /// Displacement of every coordinate, 1 where most of the kinetic energy is: no unit is preferred.
    pub shape: Vec<Complex>,
    /// Share of every coordinate in the kinetic energy.
    pub share: Vec<f64>,
}

/// Eigenvalues below this fraction of the largest are zero.
const ZERO: f64 = 1e-9;

/// All modes, lowest frequency first.
///
/// # Errors
///
/// No derivatives, no freedom, a singular mass matrix.
pub(crate) fn modes<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<Vec<ModeShape>, AnalysisError> {
    let reduced = linear.reduced(true)?;
    let all = pairs(&reduced.a).ok_or_else(|| AnalysisError::NotFinite(String::new()))?;
    let size = all.iter().map(|p| p.value.abs()).fold(0.0, f64::max);
    let mut out: Vec<ModeShape> = Vec::new();
    for pair in &all {
        let mut mode = shape(pair, &reduced);
        if mode.value.abs() <= ZERO * size || size == 0.0 {
            // the drift of a direction that moves nothing
            mode.value = Complex { re: 0.0, im: 0.0 };
            mode.damping = 0.0;
        }
        out.push(mode);
    }
    let pitch = |m: &ModeShape| if m.value.im > 0.0 { m.value.abs() } else { 0.0 };
    out.sort_by(|a, b| pitch(a).total_cmp(&pitch(b)).then(a.value.abs().total_cmp(&b.value.abs())));
    Ok(out)
}

fn shape(pair: &Pair, reduced: &Reduced) -> ModeShape {
    let (re, im) = (reduced.rates(&pair.re), reduced.rates(&pair.im));
    // M v = (M P) v in the basis
    let part = |x: &[f64]| -> Vec<f64> {
        let v = &x[reduced.positions..reduced.positions + reduced.velocities];
        let mut y = vec![0.0; re.len()];
        reduced.momentum.mul_vec(v, &mut y);
        y
    };
    let (pr, pi) = (part(&pair.re), part(&pair.im));
    let energy: Vec<f64> = (0..re.len()).map(|k| re[k] * pr[k] + im[k] * pi[k]).collect();
    let total: f64 = energy.iter().sum();
    let share = energy.iter().map(|e| if total > 0.0 { e / total } else { 0.0 }).collect();
    let most = (0..re.len()).max_by(|&a, &b| energy[a].abs().total_cmp(&energy[b].abs())).unwrap_or(0);
    let mut shape: Vec<Complex> = re.iter().zip(&im).map(|(&re, &im)| Complex { re, im }).collect();
    make_one(&mut shape, most);
    let size = pair.value.abs();
    let damping = if size > 0.0 { -pair.value.re / size } else { 0.0 };
    ModeShape { value: pair.value, damping, shape, share }
}

/// Scale and turn a shape so that this coordinate moves by 1.
pub(crate) fn make_one(shape: &mut [Complex], at: usize) {
    let Some(Complex { re: a, im: b }) = shape.get(at).copied() else { return };
    let square = a * a + b * b;
    for x in shape {
        *x = match square > 0.0 {
            true => Complex { re: (x.re * a + x.im * b) / square, im: (x.im * a - x.re * b) / square },
            false => Complex { re: 0.0, im: 0.0 },
        };
    }
}

/// The linear system under a force, ready for any frequency.
pub(crate) struct Driven {
    reduced: Reduced,
    /// Re and Im of the drive of the reduced state, of the forces of the held rows.
    drive: [Vec<f64>; 2],
    direct: [Vec<f64>; 2],
}

/// Amplitudes at one frequency.
pub(crate) struct Response {
    /// Of every coordinate.
    pub shape: Vec<Complex>,
    /// Of the force of every held row.
    pub forces: Vec<Complex>,
}

impl Driven {
    /// Under the generalised force `Re((force[0] + i force[1]) exp(iωt))`.
    ///
    /// # Errors
    ///
    /// As [`modes`].
    pub(crate) fn new<S: System + ?Sized>(
        linear: &mut Linear<'_, S>,
        force: &[Vec<f64>; 2],
    ) -> Result<Driven, AnalysisError> {
        let reduced = linear.reduced(true)?;
        let mut pivot = FullPivot::default();
        pivot.factor(&linear.saddle());
        let (n, m) = (linear.dims.u, linear.held.len());
        let weights = reduced.momentum.transpose();
        let mut one = |f: &Vec<f64>| {
            let mut rhs = f.clone();
            rhs.resize(n + m, 0.0);
            let mut x = vec![0.0; n + m];
            pivot.solve(&rhs, &[], &mut x);
            let mut drive = vec![0.0; reduced.a.rows()];
            for i in 0..reduced.velocities {
                drive[reduced.positions + i] = crate::linalg::dot(weights.row(i), &x[..n]);
            }
            (drive, x[n..].to_vec())
        };
        let ((d0, l0), (d1, l1)) = (one(&force[0]), one(&force[1]));
        Ok(Driven { reduced, drive: [d0, d1], direct: [l0, l1] })
    }

    /// At a frequency, Hz.
    pub(crate) fn at(&self, frequency: f64) -> Response {
        let (a, n) = (&self.reduced.a, self.reduced.a.rows());
        let omega = TAU * frequency;
        // (iω − A)(x + i y) = c + i d
        let matrix = Mat::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
            (true, true) | (false, false) => -a[(i % n, j % n)],
            (true, false) if i == j - n => -omega,
            (false, true) if i - n == j => omega,
            _ => 0.0,
        });
        let mut x: Vec<f64> = self.drive[0].iter().chain(&self.drive[1]).copied().collect();
        let mut lu = Lu::default();
        lu.factor(&matrix);
        lu.solve(&mut x);
        let (re, im) = x.split_at(n);
        // displacement = velocity / (iω)
        let (vr, vi) = (self.reduced.rates(re), self.reduced.rates(im));
        let shape = vr.iter().zip(&vi).map(|(r, i)| Complex { re: i / omega, im: -r / omega }).collect();
        let along = |x: &[f64], direct: &[f64]| {
            let mut y = vec![0.0; direct.len()];
            self.reduced.forces.mul_vec(x, &mut y);
            y.iter().zip(direct).map(|(a, b)| a + b).collect::<Vec<f64>>()
        };
        let (fr, fi) = (along(re, &self.direct[0]), along(im, &self.direct[1]));
        let forces = fr.into_iter().zip(fi).map(|(re, im)| Complex { re, im }).collect();
        Response { shape, forces }
    }
}

/// The amplitude at which a stuck contact slips or a closed one lifts off, and which.
pub(crate) fn break_away<S: System + ?Sized>(
    linear: &Linear<'_, S>,
    forces: &[Complex],
) -> Option<(f64, usize)> {
    let of = |row: usize| linear.held.iter().position(|&r| r == row).map(|k| forces[k]);
    let zero = Complex { re: 0.0, im: 0.0 };
    let mut best: Option<(f64, usize)> = None;
    let mut offer = |room: f64, size: f64, i: usize| {
        let a = if size > 0.0 { room.max(0.0) / size } else { f64::INFINITY };
        if a.is_finite() && best.is_none_or(|b| a < b.0) {
            best = Some((a, i));
        }
    };
    for (i, c) in linear.info.iter().enumerate().filter(|(i, _)| linear.hold[*i] != Hold::Open) {
        if let (true, Some(row)) = (c.is_unilateral(), c.normal_row()) {
            offer(linear.lambda[row], of(row).unwrap_or(zero).abs(), i);
        }
        if let (Hold::Stick, [row]) = (linear.hold[i], &c.tangent[..]) {
            let mu = linear.eval.mu_static[i];
            // N̂: a bilateral contact counts by the sign of its force
            let still = linear.eval.bound_force(linear.info, i, true, 1.0, &linear.lambda);
            let sign = if still < 0.0 && c.is_bilateral() { -1.0 } else { 1.0 };
            let mut normal = zero;
            for (j, factor) in linear.eval.bound_terms(linear.info, i) {
                if let Some(n) = linear.info[j].normal_row().and_then(of) {
                    normal.re += sign * factor * n.re;
                    normal.im += sign * factor * n.im;
                }
            }
            let t = of(*row).unwrap_or(zero);
            for side in [1.0, -1.0] {
                let room = mu * sign * still - side * linear.lambda[*row];
                let swing = (side * t.re - mu * normal.re).hypot(side * t.im - mu * normal.im);
                offer(room, swing, i);
            }
        }
    }
    best
}
