//! Small vectors and the projections that the cones share
//!
//! Vectors and matrices of one contact are padded with zeros to three entries.

/// Vector of one contact, padded with zeros.
pub(super) type V3 = [f64; 3];
/// Matrix of one contact, padded with zeros.
pub(super) type M3 = [[f64; 3]; 3];

#[inline]
pub(super) fn norm2(a: f64, b: f64) -> f64 {
    (a * a + b * b).sqrt()
}

#[inline]
pub(super) fn mul3(a: &M3, x: &V3) -> V3 {
    [
        a[0][0] * x[0] + a[0][1] * x[1] + a[0][2] * x[2],
        a[1][0] * x[0] + a[1][1] * x[1] + a[1][2] * x[2],
        a[2][0] * x[0] + a[2][1] * x[1] + a[2][2] * x[2],
    ]
}

#[inline]
pub(super) fn matmul3(a: &M3, b: &M3) -> M3 {
    let mut c = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}

/// Inverse of the leading `d × d` part by cofactors, zeros elsewhere. `None` when singular.
#[inline]
pub(super) fn inv3(a: &M3, d: usize) -> Option<M3> {
    let mut o = [[0.0; 3]; 3];
    match d {
        1 => {
            o[0][0] = 1.0 / a[0][0];
        }
        2 => {
            let det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
            let i = 1.0 / det;
            o[0] = [a[1][1] * i, -a[0][1] * i, 0.0];
            o[1] = [-a[1][0] * i, a[0][0] * i, 0.0];
        }
        _ => {
            let c0 = a[1][1] * a[2][2] - a[1][2] * a[2][1];
            let c1 = a[1][2] * a[2][0] - a[1][0] * a[2][2];
            let c2 = a[1][0] * a[2][1] - a[1][1] * a[2][0];
            let i = 1.0 / (a[0][0] * c0 + a[0][1] * c1 + a[0][2] * c2);
            o[0] = [
                c0 * i,
                (a[0][2] * a[2][1] - a[0][1] * a[2][2]) * i,
                (a[0][1] * a[1][2] - a[0][2] * a[1][1]) * i,
            ];
            o[1] = [
                c1 * i,
                (a[0][0] * a[2][2] - a[0][2] * a[2][0]) * i,
                (a[0][2] * a[1][0] - a[0][0] * a[1][2]) * i,
            ];
            o[2] = [
                c2 * i,
                (a[0][1] * a[2][0] - a[0][0] * a[2][1]) * i,
                (a[0][0] * a[1][1] - a[0][1] * a[1][0]) * i,
            ];
        }
    }
    o.iter().flatten().all(|v| v.is_finite()).then_some(o)
}

/// Euclidean projection on `K = { |z_T| ≤ μ z_N }`.
#[inline]
pub(super) fn project(z: V3, mu: f64) -> V3 {
    let t = norm2(z[1], z[2]);
    if t <= mu * z[0] {
        z
    } else if mu * t <= -z[0] {
        [0.0; 3]
    } else {
        let p = (z[0] + mu * t) / (1.0 + mu * mu);
        let f = mu * p / t;
        [p, f * z[1], f * z[2]]
    }
}

/// Projection of the first two entries on the disc of radius `bound`.
#[inline]
pub(super) fn disc(z: V3, bound: f64) -> V3 {
    let t = norm2(z[0], z[1]);
    if t <= bound {
        z
    } else {
        let f = bound / t;
        [f * z[0], f * z[1], 0.0]
    }
}

/// Rows `o` to `d` of the map `r_T − P(r_T − ρ u_T)` on a disc whose radius grows by `slope` with the normal impulse (row 0; without a
/// normal row: the last column).
#[inline]
pub(super) fn tangential(
    d: usize,
    o: usize,
    radius: f64,
    slope: f64,
    r: V3,
    u: V3,
    rho: f64,
    b: &mut M3,
    s: &mut M3,
) {
    let z = [r[o] - rho * u[o], if o + 1 < d { r[o + 1] - rho * u[o + 1] } else { 0.0 }];
    let t = norm2(z[0], z[1]);
    if t <= radius && radius > 0.0 {
        for i in o..d {
            s[i][i] = rho;
        }
        return;
    }
    let (e, g) = if t > 0.0 { ([z[0] / t, z[1] / t], radius / t) } else { ([0.0; 2], 0.0) };
    for i in o..d {
        for c in o..d {
            let j = g * (f64::from(i == c) - e[i - o] * e[c - o]);
            b[i][c] = f64::from(i == c) - j;
            s[i][c] = rho * j;
        }
        b[i][if o == 1 { 0 } else { 2 }] = -slope * e[i - o];
    }
}
