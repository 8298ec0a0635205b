//! Vector kernels. Sums run in several independent accumulators so that the compiler can use vector registers; the
//! order of summation is fixed, so results are the same on every run.

/// Scalar product of the common length of `a` and `b`.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    if n < 8 {
        return a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
    let mut s = [0.0; 8];
    let (ca, cb) = (a.chunks_exact(8), b.chunks_exact(8));
    let tail: f64 = ca.remainder().iter().zip(cb.remainder()).map(|(a, b)| a * b).sum();
    for (x, y) in ca.zip(cb) {
        for k in 0..8 {
            s[k] += x[k] * y[k];
        }
    }
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])) + tail
}

/// Scalar products of two rows with four: `r[p][q] = x_p · y_q`, all of length `n`.
#[inline]
pub(crate) fn dot_2x4(x: [&[f64]; 2], y: [&[f64]; 4], n: usize) -> [[f64; 4]; 2] {
    let (x0, x1) = (&x[0][..n], &x[1][..n]);
    let (y0, y1, y2, y3) = (&y[0][..n], &y[1][..n], &y[2][..n], &y[3][..n]);
    let mut s = [[[0.0; 2]; 4]; 2];
    let even = n & !1;
    let mut k = 0;
    while k < even {
        for l in 0..2 {
            let (a, b) = (x0[k + l], x1[k + l]);
            let c = [y0[k + l], y1[k + l], y2[k + l], y3[k + l]];
            for q in 0..4 {
                s[0][q][l] += a * c[q];
                s[1][q][l] += b * c[q];
            }
        }
        k += 2;
    }
    let mut r = [[0.0; 4]; 2];
    for p in 0..2 {
        for q in 0..4 {
            r[p][q] = s[p][q][0] + s[p][q][1];
        }
    }
    if even < n {
        let c = [y0[even], y1[even], y2[even], y3[even]];
        for q in 0..4 {
            r[0][q] += x0[even] * c[q];
            r[1][q] += x1[even] * c[q];
        }
    }
    r
}

/// The largest power of two that is not above `x`; 1 for nothing.
pub(crate) fn power_of_two(x: f64) -> f64 {
    if x.is_normal() { f64::from_bits(x.abs().to_bits() & !((1 << 52) - 1)) } else { 1.0 }
}

/// `to ← from`. Most lists here are short, and the call of a copy costs more than they do.
#[inline]
pub(crate) fn copy(from: &[f64], to: &mut [f64]) {
    match (to, from) {
        ([], _) => {}
        ([a], &[x]) => *a = x,
        ([a, b], &[x, y]) => (*a, *b) = (x, y),
        ([a, b, c], &[x, y, z]) => (*a, *b, *c) = (x, y, z),
        (to, from) => to.copy_from_slice(from),
    }
}

/// `y += a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Largest absolute entry; 0 for an empty slice. NaN entries are passed over.
#[inline]
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| if v.abs() > m { v.abs() } else { m })
}
