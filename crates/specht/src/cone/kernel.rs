//! Small vectors, projections and the natural map of one cone
//!
//! ```text
//! F_ρ(r, u) = r − P_K(r − ρ(u + μ|u_T| n))          zero exactly at the solutions, for any ρ > 0
//! dF = B dr + S du,  B = I − J,  S = ρ J E,  J ∈ ∂P_K,  E = I + μ n (0, û_Tᵀ)
//! ```
//!
//! The projection on a steep cone hides a violation: at `r = 0`, `u_N < 0` it answers with `|u_N|/μ`. Above [`STEEP`] each law
//! therefore has a map of its own, in its own units, with the same zeros:
//!
//! ```text
//! F_N = r_N − max(0, r_N − ρ u_N)          F_T = r_T − P(r_T − ρ u_T),  P on the disc of radius μ max(0, r_N)
//! ```
//!
//! (Alart & Curnier 1991; spec METH-CONE-PROBLEM, METH-CONE-NEWTON.) Vectors are padded with zeros to three entries.

/// Coefficient above which normal and tangential law are measured apart; up to it the joint map is at least a third of each.
pub(super) const STEEP: f64 = 2.0;

/// Vector of one contact, padded with zeros.
pub(super) type V3 = [f64; 3];
/// Matrix of one contact, padded with zeros.
pub(super) type M3 = [[f64; 3]; 3];

/// Shape of the set in which a block of impulses lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// `|r_T| ≤ μ r_N` with normal row (2 or 3 rows)
    #[default]
    Soc,
    /// the same cone with the convex (relaxed) law `u ∈ K* ⟂ r ∈ K`: existence test
    Convex,
    /// `r_N ≥ 0` (1 row)
    Half,
    /// `|r_T| ≤ bound` (1 or 2 rows, no normal row)
    Disc,
    /// no bound, `u = 0`
    Free,
    /// `u_N = 0`, `|r_T| ≤ μ|r_N|`
    Pair,
}

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

/// Tangential part of rows: the rows of a disc start with a tangent.
#[inline]
fn disc(z: V3, bound: f64) -> V3 {
    let t = norm2(z[0], z[1]);
    if t <= bound {
        z
    } else {
        let f = bound / t;
        [f * z[0], f * z[1], 0.0]
    }
}

/// The set of admissible impulses of a cone; nearest point to `r`.
#[inline]
pub(super) fn admissible(kind: Kind, mu: f64, bound: f64, r: V3) -> V3 {
    match kind {
        Kind::Soc | Kind::Convex => project(r, mu),
        Kind::Half => [r[0].max(0.0), 0.0, 0.0],
        Kind::Disc => disc(r, bound),
        Kind::Free => r,
        Kind::Pair => {
            let t = disc([r[1], r[2], 0.0], mu * r[0].abs());
            [r[0], t[0], t[1]]
        }
    }
}

/// Natural map `F_ρ`; zero exactly where the law of the cone holds.
#[inline]
pub(super) fn natural(kind: Kind, mu: f64, bound: f64, r: V3, u: V3, rho: f64) -> V3 {
    match kind {
        Kind::Soc if mu > STEEP => {
            let p = disc([r[1] - rho * u[1], r[2] - rho * u[2], 0.0], mu * r[0].max(0.0));
            [r[0] - (r[0] - rho * u[0]).max(0.0), r[1] - p[0], r[2] - p[1]]
        }
        Kind::Soc | Kind::Convex => {
            let s = if kind == Kind::Soc { u[0] + mu * norm2(u[1], u[2]) } else { u[0] };
            let p = project([r[0] - rho * s, r[1] - rho * u[1], r[2] - rho * u[2]], mu);
            [r[0] - p[0], r[1] - p[1], r[2] - p[2]]
        }
        Kind::Half => [r[0] - (r[0] - rho * u[0]).max(0.0), 0.0, 0.0],
        Kind::Disc => {
            let p = disc([r[0] - rho * u[0], r[1] - rho * u[1], 0.0], bound);
            [r[0] - p[0], r[1] - p[1], 0.0]
        }
        Kind::Free => [rho * u[0], rho * u[1], rho * u[2]],
        Kind::Pair => {
            let p = disc([r[1] - rho * u[1], r[2] - rho * u[2], 0.0], mu * r[0].abs());
            [rho * u[0], r[1] - p[0], r[2] - p[1]]
        }
    }
}

/// `F`, `B`, `S` of the natural map. `d` rows are meaningful; the padding of `B` is zero.
#[inline]
pub(super) fn natural_jacobian(
    kind: Kind,
    d: usize,
    mu: f64,
    bound: f64,
    r: V3,
    u: V3,
    rho: f64,
) -> (V3, M3, M3) {
    let f = natural(kind, mu, bound, r, u, rho);
    let mut b = [[0.0; 3]; 3];
    let mut s = [[0.0; 3]; 3];
    match kind {
        Kind::Soc if mu > STEEP => {
            if r[0] - rho * u[0] > 0.0 {
                s[0][0] = rho;
            } else {
                b[0][0] = 1.0;
            }
            let slope = if r[0] > 0.0 { mu } else { 0.0 };
            tangential(d, 1, slope * r[0], slope, r, u, rho, &mut b, &mut s);
        }
        Kind::Soc | Kind::Convex => {
            let ut = if kind == Kind::Soc { norm2(u[1], u[2]) } else { 0.0 };
            let z = [r[0] - rho * (u[0] + mu * ut), r[1] - rho * u[1], r[2] - rho * u[2]];
            let t = norm2(z[1], z[2]);
            let mut j = [[0.0; 3]; 3];
            if t <= mu * z[0] {
                for i in 0..d {
                    j[i][i] = 1.0;
                }
            } else if mu * t > -z[0] {
                let k = 1.0 / (1.0 + mu * mu);
                let p = (z[0] + mu * t) * k;
                let e = [z[1] / t, z[2] / t];
                j[0] = [k, mu * k * e[0], mu * k * e[1]];
                let g = mu * p / t;
                for a in 0..2 {
                    j[a + 1][0] = mu * k * e[a];
                    for c in 0..2 {
                        j[a + 1][c + 1] = (mu * mu * k - g) * e[a] * e[c];
                    }
                    if a + 1 < d {
                        j[a + 1][a + 1] += g;
                    }
                }
            }
            for i in 0..d {
                for c in 0..d {
                    b[i][c] = f64::from(i == c) - j[i][c];
                    s[i][c] = rho * j[i][c];
                }
                if ut > 0.0 {
                    s[i][1] += rho * j[i][0] * mu * u[1] / ut;
                    s[i][2] += rho * j[i][0] * mu * u[2] / ut;
                }
            }
        }
        Kind::Half => {
            if r[0] - rho * u[0] > 0.0 {
                s[0][0] = rho;
            } else {
                b[0][0] = 1.0;
            }
        }
        Kind::Free => {
            for i in 0..d {
                s[i][i] = rho;
            }
        }
        Kind::Disc => tangential(d, 0, bound, 0.0, r, u, rho, &mut b, &mut s),
        Kind::Pair => {
            s[0][0] = rho;
            tangential(d, 1, mu * r[0].abs(), mu * r[0].signum(), r, u, rho, &mut b, &mut s);
        }
    }
    (f, b, s)
}

/// Rows `o` to `d` of the map `r_T − P(r_T − ρ u_T)` on a disc whose radius grows by `slope` with the normal impulse (row 0).
#[inline]
fn tangential(d: usize, o: usize, radius: f64, slope: f64, r: V3, u: V3, rho: f64, b: &mut M3, s: &mut M3) {
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
        if o == 1 {
            b[i][0] = -slope * e[i - o];
        }
    }
}
