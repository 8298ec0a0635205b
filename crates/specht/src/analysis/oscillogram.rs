//! Records of stick-slip: a slider of mass m behind a spring c whose end moves with v (ANH-6.2-OSC).
//!
//! ```text
//! rest     y' = v                                        y: deflection of the spring
//! slide    y = y₀ − a sin ω(t − t₀),   ω² = c/m           y₀, a from the largest and the least deflection of the slide
//! ends     F₊ = c (y₀ + √(a² − v²/ω²)),   F₋ = c (y₀ − √(a² − v²/ω²))       (6.9), (6.10)
//! ```
//!
//! The extremes of the record lie beyond the forces at which the slide begins and ends, because the slider starts and stops with the
//! spring still moving. A slide with a < v/ω has no stop: the record contradicts c, m and v. While it slides the friction force is
//! F = c y + m y″ (ANH-6.6-FSLIDE), from a smoothing spline of the slide.

use crate::linalg::{Mat, Svd};

/// A slide, by its extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slide {
    /// Rows of the largest and of the least deflection.
    pub top: usize,
    pub bottom: usize,
    /// Their deflections.
    pub largest: f64,
    pub least: f64,
}

/// Part of the whole range by which the record must turn back before an extreme counts.
const TURN: f64 = 0.2;

/// All slides from a largest to the next least deflection.
pub(crate) fn slides(y: &[f64]) -> Vec<Slide> {
    let (low, high) = y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    let turn = TURN * (high - low);
    let mut out = Vec::new();
    if !(turn > 0.0) {
        return out;
    }
    let (mut top, mut bottom) = (0, 0);
    let (mut rising, mut started) = (true, None::<usize>);
    for i in 0..y.len() {
        if rising {
            if y[i] > y[top] {
                top = i;
            }
            if y[i] < y[top] - turn {
                (rising, started, bottom) = (false, Some(top), i);
            }
        } else {
            if y[i] < y[bottom] {
                bottom = i;
            }
            if y[i] > y[bottom] + turn {
                if let Some(top) = started.filter(|t| *t > 0) {
                    out.push(Slide { top, bottom, largest: y[top], least: y[bottom] });
                }
                (rising, top) = (true, i);
            }
        }
    }
    out
}

/// The same with the extremes of a harmonic curve of frequency `w` through half of the slide at each, so that noise does not raise them.
pub(crate) fn smoothed(t: &[f64], y: &[f64], w: f64, slide: Slide) -> Slide {
    let middle = slide.top + (slide.bottom - slide.top) / 2;
    let extreme = |from: usize, to: usize, way: f64, raw: f64| {
        if to < from + 5 {
            return raw;
        }
        let [a, b, c] = harmonic(&t[from..=to], &y[from..=to], w);
        let value = a + way * b.hypot(c);
        if value.is_finite() { value } else { raw }
    };
    Slide {
        largest: extreme(slide.top, middle, 1.0, slide.largest),
        least: extreme(middle, slide.bottom, -1.0, slide.least),
        ..slide
    }
}

/// a + b cos w s + c sin w s with s from the first row, by least squares.
fn harmonic(t: &[f64], y: &[f64], w: f64) -> [f64; 3] {
    let row = |i: usize, k: usize| match k {
        0 => 1.0,
        1 => (w * (t[i] - t[0])).cos(),
        _ => (w * (t[i] - t[0])).sin(),
    };
    let found = Svd::new(&Mat::from_fn(t.len(), 3, row)).solve(y, 1e-12);
    [found[0], found[1], found[2]]
}

/// Cubic smoothing spline: values and second derivatives at the rows (natural ends). [Reinsch1967]
///
/// Minimises ∫ g″² with Σ (y − g)² = n σ², σ from the third differences of the data; without noise it passes through them.
pub(crate) fn spline(t: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let n = t.len();
    if n < 5 {
        return (y.to_vec(), vec![0.0; n]);
    }
    let target = n as f64 * noise(t, y).powi(2);
    let misfit = |lambda: f64| {
        let (g, second) = solve(t, y, lambda);
        let off: f64 = g.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
        (off, g, second)
    };
    let step = (t[n - 1] - t[0]) / (n - 1) as f64;
    let (mut low, mut high) = (-12.0_f64, 12.0_f64);
    let mut best = misfit(0.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        best = misfit(10f64.powf(middle) * step.powi(3));
        if best.0 > target { high = middle } else { low = middle }
    }
    (best.1, best.2)
}

/// Scatter of independent errors by third differences, which a smooth curve hardly has.
fn noise(t: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let even = t.windows(2).all(|w| ((w[1] - w[0]) * (n - 1) as f64 / (t[n - 1] - t[0]) - 1.0).abs() < 0.2);
    if !even || n < 8 {
        return 0.0;
    }
    // variance of 1, -4, 6, -4, 1 is 70
    let sum: f64 = y.windows(5).map(|w| (w[0] - 4.0 * w[1] + 6.0 * w[2] - 4.0 * w[3] + w[4]).powi(2)).sum();
    (sum / (70.0 * (n - 4) as f64)).sqrt()
}

/// (R + λ QᵀQ) γ = Qᵀy,  g = y − λ Q γ, five diagonals.
fn solve(t: &[f64], y: &[f64], lambda: f64) -> (Vec<f64>, Vec<f64>) {
    let n = t.len();
    let m = n - 2;
    let h: Vec<f64> = t.windows(2).map(|w| w[1] - w[0]).collect();
    let q = |j: usize| [1.0 / h[j], -1.0 / h[j] - 1.0 / h[j + 1], 1.0 / h[j + 1]];
    // diagonals of R + λ QᵀQ
    let mut d = vec![[0.0; 3]; m];
    let mut b = vec![0.0; m];
    for j in 0..m {
        let a = q(j);
        b[j] = a[0] * y[j] + a[1] * y[j + 1] + a[2] * y[j + 2];
        d[j][0] = (h[j] + h[j + 1]) / 3.0 + lambda * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        if j + 1 < m {
            let c = q(j + 1);
            d[j][1] = h[j + 1] / 6.0 + lambda * (a[1] * c[0] + a[2] * c[1]);
        }
        if j + 2 < m {
            d[j][2] = lambda * a[2] * q(j + 2)[0];
        }
    }
    // L D Lᵀ
    for j in 0..m {
        let pivot = d[j][0];
        let (one, two) = (d[j][1] / pivot, d[j][2] / pivot);
        if j + 1 < m {
            d[j + 1][0] -= one * d[j][1];
            d[j + 1][1] -= one * d[j][2];
            b[j + 1] -= one * b[j];
        }
        if j + 2 < m {
            d[j + 2][0] -= two * d[j][2];
            b[j + 2] -= two * b[j];
        }
    }
    for j in (0..m).rev() {
        let mut x = b[j];
        if j + 1 < m {
            x -= d[j][1] * b[j + 1];
        }
        if j + 2 < m {
            x -= d[j][2] * b[j + 2];
        }
        b[j] = x / d[j][0];
    }
    let mut g = y.to_vec();
    for j in 0..m {
        let a = q(j);
        (0..3).for_each(|k| g[j + k] -= lambda * a[k] * b[j]);
    }
    let mut second = vec![0.0; n];
    second[1..=m].copy_from_slice(&b);
    (g, second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spline_finds_the_curvature_of_a_noisy_sine() {
        let t: Vec<f64> = (0..400).map(|i| 0.01 * f64::from(i)).collect();
        let wobble = |i: usize| 1e-3 * (((i * i * 7919) % 1000) as f64 / 500.0 - 1.0);
        let y: Vec<f64> = t.iter().enumerate().map(|(i, t)| (2.0 * t).sin() + wobble(i)).collect();
        let (g, second) = spline(&t, &y);
        // the same curve by dense matrices: 4.6e-4 and 0.464 at most
        for i in 40..360 {
            assert!((g[i] - (2.0 * t[i]).sin()).abs() < 1e-3);
            assert!((second[i] + 4.0 * (2.0 * t[i]).sin()).abs() < 0.5, "{i}: {}", second[i]);
        }
    }

    #[test]
    fn slides_run_from_a_largest_to_the_next_least_value() {
        let y: Vec<f64> = (0..300)
            .map(|i| f64::from(i % 100) + if i % 100 > 80 { -4.0 * f64::from(i % 100 - 80) } else { 0.0 })
            .collect();
        let found = slides(&y);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!((found[0].top, found[1].top), (80, 180));
    }
}
