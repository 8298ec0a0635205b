//! Eigenvalues with their vectors, by inverse iteration on the eigenvalues of the QR method. [GolubVanLoan2013, 7.6]

use crate::linalg::{Complex, Lu, Mat, dot, eigenvalues};

/// An eigenvalue with a right vector of length 1, real and imaginary part.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub value: Complex,
    pub re: Vec<f64>,
    pub im: Vec<f64>,
}

/// Largest real part first; of a pair the one with positive imaginary part first.
pub(crate) fn sort(values: &mut [Complex]) {
    let size = values.iter().map(Complex::abs).fold(0.0, f64::max);
    // the two of a pair have the same bits in their real parts; rounding must not part other equal ones at random
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * size;
    values.sort_by(|a, b| {
        if close(a.re, b.re) {
            b.im.abs().total_cmp(&a.im.abs()).then(b.im.total_cmp(&a.im))
        } else {
            b.re.total_cmp(&a.re)
        }
    });
}

/// All pairs with imaginary part ≥ 0, in the order of [`sort`]; `None` for numbers that are not finite.
pub(crate) fn pairs(a: &Mat) -> Option<Vec<Pair>> {
    let mut values = eigenvalues(a)?;
    sort(&mut values);
    let mut out: Vec<Pair> = Vec::new();
    for value in values.into_iter().filter(|v| v.im >= 0.0) {
        let pair = vector(a, value, &out);
        out.push(pair);
    }
    Some(out)
}

/// (A − λ) x = b with x of growing length; vectors of equal eigenvalues found before are taken out.
fn vector(a: &Mat, value: Complex, before: &[Pair]) -> Pair {
    let n = a.rows();
    let size = a.max_abs().max(f64::MIN_POSITIVE);
    let is_real = value.im == 0.0;
    // the real form [A − α, β; −β, A − α] of (A − λ)(x + i y); a shift of rounding keeps it regular
    let width = if is_real { n } else { 2 * n };
    let shift = value.re + 4.0 * f64::EPSILON * size.max(value.abs());
    let shifted = Mat::from_fn(width, width, |i, j| {
        let own = if i % n == j % n { 1.0 } else { 0.0 };
        match (i < n, j < n) {
            (true, true) | (false, false) => a[(i % n, j % n)] - shift * own,
            (true, false) => value.im * own,
            (false, true) => -value.im * own,
        }
    });
    let mut lu = Lu::default();
    lu.factor(&shifted);
    let close: Vec<&Pair> = before
        .iter()
        .filter(|p| (p.value.re - value.re).hypot(p.value.im - value.im) <= 1e-9 * size.max(value.abs()))
        .collect();
    let mut x: Vec<f64> =
        (0..width).map(|i| 1.0 + 0.37 * ((7 * i + 3 * before.len() + 1) as f64).sin()).collect();
    for _ in 0..4 {
        for p in &close {
            take_out(&mut x, n, p);
        }
        normalise(&mut x);
        lu.solve(&mut x);
        if x.iter().any(|v| !v.is_finite()) {
            x.iter_mut().enumerate().for_each(|(i, v)| *v = if i == 0 { 1.0 } else { 0.0 });
        }
    }
    for p in &close {
        take_out(&mut x, n, p);
    }
    normalise(&mut x);
    let im = if is_real { vec![0.0; n] } else { x[n..].to_vec() };
    Pair { value, re: x[..n].to_vec(), im }
}

/// x ← x − (p* x) p, complex.
fn take_out(x: &mut [f64], n: usize, p: &Pair) {
    let (xr, rest) = x.split_at_mut(n);
    if rest.is_empty() {
        let s = dot(&p.re, xr);
        xr.iter_mut().zip(&p.re).for_each(|(x, p)| *x -= s * p);
        return;
    }
    let re = dot(&p.re, xr) + dot(&p.im, rest);
    let im = dot(&p.re, rest) - dot(&p.im, xr);
    for k in 0..n {
        xr[k] -= re * p.re[k] - im * p.im[k];
        rest[k] -= re * p.im[k] + im * p.re[k];
    }
}

fn normalise(x: &mut [f64]) {
    let size = dot(x, x).sqrt();
    if size > 0.0 && size.is_finite() {
        x.iter_mut().for_each(|v| *v /= size);
    }
}
