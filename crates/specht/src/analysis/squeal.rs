//! Stability of steady sliding: growth, kind, critical values (METH-SLIPSTAB-OP, METH-SLIPSTAB-CRIT)
//!
//! The eigenvalues of the reduced matrix about a steady motion ([`super::steady`]), without the directions that change nothing. What makes it unstable is
//! told by leaving it out:
//!
//! | kind | goes away with |
//! |---|---|
//! | mode-coupling | the unsymmetric part of the stiffness |
//! | falling-friction | the slope of the friction over the slip, damping that feeds, or the states of a law |
//! | divergence | a real eigenvalue, and neither |
//! | sprag | the rigid contact itself: friction beyond the paradox, where no force belongs to sliding |
//!
//! A critical value is where the largest real part passes zero. Undamped systems sit on zero below it: there two eigenvalues meet on the imaginary axis, where
//! rounding is that of a square root, and so is the growth beyond. What counts as growth therefore follows the distance of the nearest other eigenvalue.

use super::AnalysisError;
use super::equilibria::GROWTH;
use super::linear::spectrum::sort;
use super::linear::{Hold, Linear, Reduced};
use super::steady::{Found, steady};
use crate::linalg::{Complex, Lu, Mat, eigenvalues};
use crate::system::System;

/// What makes a motion unstable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instability {
    /// Two modes meet.
    ModeCoupling,
    /// Friction falls with the slip.
    FallingFriction,
    /// It leaves without oscillation.
    Divergence,
    /// No force belongs to sliding.
    Sprag,
}

/// The spectrum of a motion.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    /// Largest real part first.
    pub values: Vec<Complex>,
    /// Largest real part of those that are not zero.
    pub growth: f64,
    /// The eigenvalue that grows most, or decays least.
    pub leading: Complex,
    /// Real parts below are rounding, 1/s.
    pub rounding: f64,
    /// Distance from the leading eigenvalue to its nearest neighbour, 1/s.
    pub nearest: f64,
}

impl Spectrum {
    /// Of a matrix.
    pub(crate) fn of(a: &Mat) -> Option<Spectrum> {
        let mut values = eigenvalues(a)?;
        sort(&mut values);
        let size = values.iter().map(Complex::abs).fold(0.0, f64::max);
        let counts = |v: &&Complex| v.abs() > 1e-9 * size;
        let zero = Complex { re: 0.0, im: 0.0 };
        let leading = values.iter().find(counts).copied().unwrap_or(zero);
        let growth = leading.re;
        // two that are about to meet are uncertain by the root of the rounding
        let apart = |v: &Complex| (v.re - leading.re).hypot(v.im.abs() - leading.im.abs()) / size;
        let others = values.iter().filter(|v| v.im >= 0.0).map(apart).filter(|d| *d > 0.0);
        let nearest = others.fold(1.0, f64::min);
        let rounding = size * (1e-13 / nearest).clamp(1e-12, GROWTH);
        Some(Spectrum { values, growth, leading, rounding, nearest: nearest * size })
    }

    /// Nothing grows beyond rounding.
    pub(crate) fn stable(&self) -> bool {
        self.growth <= self.rounding
    }

    /// How near it is to growth, larger is nearer: by the growth; where nothing decays by how near two modes are to meeting.
    pub(crate) fn nearness(&self) -> f64 {
        if self.growth < -self.rounding { self.growth } else { -self.nearest }
    }

    /// What grows.
    pub(crate) fn growing(&self) -> impl Iterator<Item = &Complex> {
        self.values.iter().filter(|v| v.re > self.rounding)
    }
}

/// A motion judged.
pub(crate) struct Judged {
    /// Whether it is steady, or frozen at a state that is not.
    pub found: Found,
    /// Its spectrum; none beyond the paradox.
    pub spectrum: Option<Spectrum>,
}

/// Look for the steady motion and its spectrum.
///
/// # Errors
///
/// No derivatives, no freedom.
pub(crate) fn judge<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> Result<Judged, AnalysisError> {
    let found = match steady(linear) {
        Ok(found) => found,
        Err(AnalysisError::SingularMass) if rubs(linear) => {
            return Ok(Judged { found: Found::Frozen, spectrum: None });
        }
        Err(e) => return Err(e),
    };
    if is_sprag(linear) {
        return Ok(Judged { found, spectrum: None });
    }
    let reduced = linear.reduced(true)?;
    let spectrum = Spectrum::of(&reduced.a).ok_or_else(|| AnalysisError::NotFinite(String::new()))?;
    Ok(Judged { found, spectrum: Some(spectrum) })
}

fn rubs<S: System + ?Sized>(linear: &Linear<'_, S>) -> bool {
    linear.hold.iter().any(|h| matches!(h, Hold::Slide(_)))
}

/// Whether friction has turned the sign of what the normal forces do: beyond the paradox.
fn is_sprag<S: System + ?Sized>(linear: &mut Linear<'_, S>) -> bool {
    if !rubs(linear) || linear.held.is_empty() {
        return false;
    }
    let mut lu = Lu::default();
    lu.factor(&linear.saddle());
    let with = lu.sign_det();
    let hold = linear.hold.clone();
    for h in &mut linear.hold {
        if let Hold::Slide(_) = h {
            *h = Hold::Smooth;
        }
    }
    let rcond = lu.factor(&linear.saddle());
    let without = lu.sign_det();
    linear.hold = hold;
    rcond > 1e-12 && with * without < 0.0
}

/// Why it is unstable. `linear` is at the motion.
///
/// # Errors
///
/// As [`judge`].
pub(crate) fn kind<S: System + ?Sized>(
    linear: &mut Linear<'_, S>,
    spectrum: &Spectrum,
) -> Result<Instability, AnalysisError> {
    let reduced = linear.reduced(true)?;
    linear.flat = true;
    let flat = linear.reduced(true);
    linear.flat = false;
    let growth = |a: &Mat| Spectrum::of(a).map_or(f64::INFINITY, |s| s.growth);
    let level = growth(&flat?.a);
    let even = growth(&symmetric(&reduced));
    let passive = growth(&without_feeding(&reduced));
    let present = spectrum.growth;
    // what lowers the growth most is the cause
    let (coupling, falling) = (present - even, present - level.min(passive));
    let least = 1e-9 * spectrum.leading.abs();
    Ok(match (coupling > least, falling > least) {
        _ if spectrum.leading.im == 0.0 && falling <= coupling.max(least) => Instability::Divergence,
        (true, true) if falling > coupling => Instability::FallingFriction,
        (true, _) => Instability::ModeCoupling,
        (false, true) => Instability::FallingFriction,
        (false, false) if spectrum.leading.im == 0.0 => Instability::Divergence,
        // laws with states fall with a delay
        (false, false) if present - growth(&without_states(&reduced)) > least => Instability::FallingFriction,
        (false, false) => Instability::ModeCoupling,
    })
}

/// The matrix whose first-order states do not act.
fn without_states(r: &Reduced) -> Mat {
    let first = r.positions + r.velocities;
    Mat::from_fn(r.a.rows(), r.a.cols(), |i, j| if i < first && j >= first { 0.0 } else { r.a[(i, j)] })
}

/// The matrix with the symmetric part of the stiffness.
fn symmetric(r: &Reduced) -> Mat {
    let (p, v) = (r.positions, r.velocities);
    let mut a = r.a.clone();
    for i in 0..p.min(v) {
        for j in 0..i {
            let mean = 0.5 * (r.a[(p + i, j)] + r.a[(p + j, i)]);
            a[(p + i, j)] = mean;
            a[(p + j, i)] = mean;
        }
    }
    a
}

/// The matrix without the part of the damping that feeds: negative diagonal entries of its symmetric part, in the basis of the motion.
fn without_feeding(r: &Reduced) -> Mat {
    let (p, v) = (r.positions, r.velocities);
    let mut a = r.a.clone();
    let feeds = (0..v).map(|i| r.a[(p + i, p + i)]).fold(0.0, f64::max);
    for i in 0..v {
        a[(p + i, p + i)] -= feeds;
    }
    a
}

/// The two modes whose frequencies are nearest to that of an eigenvalue, counted from the lowest.
pub(crate) fn merging(spectrum: &Spectrum, at: f64) -> Option<[usize; 2]> {
    let mut pitch: Vec<f64> = spectrum.values.iter().filter(|v| v.im > 0.0).map(|v| v.im).collect();
    pitch.sort_by(f64::total_cmp);
    let mut order: Vec<usize> = (0..pitch.len()).collect();
    order.sort_by(|&a, &b| (pitch[a] - at).abs().total_cmp(&(pitch[b] - at).abs()));
    match order[..] {
        [a, b, ..] => Some([a.min(b) + 1, a.max(b) + 1]),
        _ => None,
    }
}

/// Coordinates of the basis whose damping alone makes a stable motion unstable: the paradox of destabilisation.
pub(crate) fn destabilised<S: System + ?Sized>(
    linear: &mut Linear<'_, S>,
) -> Result<Vec<usize>, AnalysisError> {
    let r = linear.reduced(true)?;
    let Some(before) = Spectrum::of(&r.a) else { return Ok(Vec::new()) };
    if !before.stable() {
        return Ok(Vec::new());
    }
    let (n, p, v) = (r.basis.rows(), r.positions, r.velocities);
    let fastest = before.values.iter().map(Complex::abs).fold(0.0, f64::max);
    let mut out = Vec::new();
    for k in 0..n {
        // a damper on coordinate k: Pᵀ e_k e_kᵀ P, of a small damping ratio
        let row: Vec<f64> = (0..v).map(|j| r.basis[(k, j)]).collect();
        let size: f64 = row.iter().map(|x| x * x).sum();
        if size <= 0.0 {
            continue;
        }
        let c = 2e-3 * fastest / size;
        let mut a = r.a.clone();
        for i in 0..v {
            for j in 0..v {
                a[(p + i, p + j)] -= c * row[i] * row[j];
            }
        }
        if Spectrum::of(&a).is_some_and(|s| !s.stable()) {
            out.push(k);
        }
    }
    Ok(out)
}
