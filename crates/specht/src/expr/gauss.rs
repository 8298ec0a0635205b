//! The rule of Gauss and Legendre for `integral`.

/// Points of `integral`.
const GAUSS_POINTS: usize = 24;

/// Places in (−1, 1) and weights of the rule of Gauss and Legendre, by Newton's method on the Legendre polynomial.
pub(super) fn gauss_points() -> Vec<(f64, f64)> {
    let n = GAUSS_POINTS;
    let legendre = |x: f64| {
        let (mut p, mut before) = (x, 1.0);
        for k in 2..=n {
            let k = k as f64;
            (p, before) = (((2.0 * k - 1.0) * x * p - (k - 1.0) * before) / k, p);
        }
        (p, n as f64 * (x * p - before) / (x * x - 1.0))
    };
    let point = |i: usize| {
        let mut x = -(std::f64::consts::PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        for _ in 0..8 {
            let (p, slope) = legendre(x);
            x -= p / slope;
        }
        let (_, slope) = legendre(x);
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..n).map(point).collect()
}
