//! The problem of [`super::problem`] as linear complementarity problems.
//!
//! *Reduced form* (PG-6-LCP, "reduced LCP"; dimension n_N + 2 n_H + signed loads):
//! λ_R = x_T + l ν + l₀ ⊥ γ_R, λ_L = u ν + u₀ − x_T ⊥ γ_L, y_T = γ_R − γ_L, and for a load of unknown sign
//! a = k·x + k₀ = a⁺ − a⁻, a⁺ ⊥ a⁻, so that |a| = a + 2a⁻ and max(0, a) = a + a⁻:
//!
//! ```text
//! z = (x_N, λ_R, γ_L, a⁻),   w = (y_N, γ_R, λ_L, a⁺)
//! ```
//!
//! *Book form* (6.35), (8.87), (8.97), dimension n_N + 4 n_H, for loads without signs: x_T = s + x⁽⁺⁾ − x⁽⁻⁾ with s inside the
//! bounds (0 at transitions and in compression, ε_N Λ_TC in expansion), and the four corners of (6.22), (8.82):
//!
//! ```text
//! z = (x_N, x⁽⁺⁾, x⁽⁻⁾, z⁻, z⁺),   w = (y_N, y⁺, y⁻, x₀⁽⁻⁾, x₀⁽⁺⁾)
//! ```
//!
//! Norms of pins are not linear: problems with sliding journals have neither form.

use super::Start;
use super::problem::{Kind, Problem};
use crate::lcp::Lcp;
use crate::linalg::FullPivot;
use crate::linalg::{Mat, dot};

/// A linear complementarity problem `w = A z + b` and the forces `x = T z + t` that belong to its solution, in the
/// scaled variables of the problem.
#[derive(Clone, Debug, Default)]
pub(crate) struct Form {
    /// A.
    pub a: Mat,
    /// b.
    pub b: Vec<f64>,
    /// T.
    pub t: Mat,
    /// t.
    pub t0: Vec<f64>,
}

impl Form {
    /// The complementarity problem.
    pub(crate) fn lcp(&self) -> Lcp<'_> {
        Lcp::new(&self.a, &self.b)
    }

    /// x of a solution z.
    pub(crate) fn x(&self, z: &[f64]) -> Vec<f64> {
        (0..self.t0.len()).map(|i| dot(self.t.row(i), z) + self.t0[i]).collect()
    }
}

/// The reduced form; `None` when pins take part or the elimination of sliding forces is singular.
pub(crate) fn reduced(p: &Problem) -> Option<Form> {
    if p.friction.iter().any(|f| !f.pins.is_empty()) {
        return None;
    }
    let (nn, nt, r) = (p.normals, p.friction.len(), p.dim());
    let zero: Vec<usize> = (0..nt).filter(|&j| p.friction[j].start == Start::Zero).collect();
    let signed: Vec<usize> = (0..nt).filter(|&j| p.friction[j].is_signed()).collect();
    let (nh, ns) = (zero.len(), signed.len());
    let n = nn + 2 * nh + ns;
    let place_h = |j: usize| zero.iter().position(|&q| q == j);
    let place_s = |j: usize| signed.iter().position(|&q| q == j);

    // (E + m k_T) x_T = λ_R − m (k_N x_N + k₀ + e a⁻) − m₀, with ±(m, m₀) the bound from which x_T is measured
    let mut left = Mat::zeros(nt, nt);
    let mut right = Mat::zeros(nt, n + 1);
    for (j, f) in p.friction.iter().enumerate() {
        let (m, m0) =
            if f.start == Start::Minus { (-f.slide.hi, -f.slide.hi0) } else { (f.slide.lo, f.slide.lo0) };
        for q in 0..nt {
            left[(j, q)] = f64::from(u8::from(j == q)) + m * f.load.coef[nn + q];
        }
        for i in 0..nn {
            right[(j, i)] = -m * f.load.coef[i];
        }
        if let Some(h) = place_h(j) {
            right[(j, nn + h)] = 1.0;
        }
        if let Some(s) = place_s(j) {
            right[(j, nn + 2 * nh + s)] = -m * doubling(f.kind);
        }
        right[(j, n)] = -m * f.load.constant - m0;
    }
    let mut rank = FullPivot::default();
    if rank.factor(&left) < nt {
        return None;
    }
    let mut form = Form { a: Mat::zeros(n, n), b: vec![0.0; n], t: Mat::zeros(r, n), t0: vec![0.0; r] };
    for i in 0..nn {
        form.t[(i, i)] = 1.0;
    }
    let (mut rhs, mut sol) = (vec![0.0; nt], vec![0.0; nt]);
    for col in 0..=n {
        for j in 0..nt {
            rhs[j] = right[(j, col)];
        }
        rank.solve(&rhs, &[], &mut sol);
        for j in 0..nt {
            if col < n {
                form.t[(nn + j, col)] = sol[j];
            } else {
                form.t0[nn + j] = sol[j];
            }
        }
    }

    // rows of w as combinations of x and z
    let through = |form: &Form, q: &[f64], q0: f64, row: &mut [f64]| -> f64 {
        for (i, &q) in q.iter().enumerate() {
            if q != 0.0 {
                crate::linalg::axpy(q, form.t.row(i), row);
            }
        }
        q0 + dot(q, &form.t0)
    };
    let mut row = vec![0.0; n];
    for i in 0..nn {
        row.fill(0.0);
        form.b[i] = through(&form, p.h.row(i), p.c[i], &mut row);
        form.a.row_mut(i).copy_from_slice(&row);
    }
    for (h, &j) in zero.iter().enumerate() {
        let f = &p.friction[j];
        row.fill(0.0);
        form.b[nn + h] = through(&form, p.h.row(nn + j), p.c[nn + j], &mut row);
        row[nn + nh + h] += 1.0;
        form.a.row_mut(nn + h).copy_from_slice(&row);

        row.fill(0.0);
        let mut q: Vec<f64> = f.load.coef.iter().map(|k| f.slide.hi * k).collect();
        q[nn + j] -= 1.0;
        let b = through(&form, &q, f.slide.hi * f.load.constant + f.slide.hi0, &mut row);
        if let Some(s) = place_s(j) {
            row[nn + 2 * nh + s] += f.slide.hi * doubling(f.kind);
        }
        form.b[nn + nh + h] = b;
        form.a.row_mut(nn + nh + h).copy_from_slice(&row);
    }
    for (s, &j) in signed.iter().enumerate() {
        let f = &p.friction[j];
        row.fill(0.0);
        form.b[nn + 2 * nh + s] = through(&form, &f.load.coef, f.load.constant, &mut row);
        row[nn + 2 * nh + s] += 1.0;
        form.a.row_mut(nn + 2 * nh + s).copy_from_slice(&row);
    }
    Some(form)
}

// ν = a + (this) a⁻
fn doubling(k: Kind) -> f64 {
    match k {
        Kind::Absolute => 2.0,
        Kind::Positive => 1.0,
        _ => 0.0,
    }
}

/// The book's form with shifts `s` per tangent (empty: zero); `None` for loads with signs or pins, or loads that depend
/// on tangential forces.
#[cfg(test)]
pub(crate) fn book(p: &Problem, shift: &[f64]) -> Option<Form> {
    let (nn, nt, r) = (p.normals, p.friction.len(), p.dim());
    if p.friction
        .iter()
        .any(|f| !f.pins.is_empty() || f.is_signed() || f.load.coef[nn..].iter().any(|&c| c != 0.0))
    {
        return None;
    }
    let zero: Vec<usize> = (0..nt).filter(|&j| p.friction[j].start == Start::Zero).collect();
    let nh = zero.len();
    let n = nn + 4 * nh;
    let mut form = Form { a: Mat::zeros(n, n), b: vec![0.0; n], t: Mat::zeros(r, n), t0: vec![0.0; r] };
    for i in 0..nn {
        form.t[(i, i)] = 1.0;
    }
    for (j, f) in p.friction.iter().enumerate() {
        match f.start {
            Start::Plus | Start::Minus => {
                let plus = f.start == Start::Plus;
                let (m, m0) = if plus { (-f.slide.lo, -f.slide.lo0) } else { (f.slide.hi, f.slide.hi0) };
                for i in 0..nn {
                    form.t[(nn + j, i)] = m * f.load.coef[i];
                }
                form.t0[nn + j] = m * f.load.constant + m0;
            }
            _ => form.t0[nn + j] = shift.get(j).copied().unwrap_or(0.0),
        }
    }
    for (h, &j) in zero.iter().enumerate() {
        form.t[(nn + j, nn + h)] = 1.0;
        form.t[(nn + j, nn + nh + h)] = -1.0;
    }
    let y = |form: &Form, i: usize, sign: f64, row: &mut [f64]| -> f64 {
        for q in 0..r {
            crate::linalg::axpy(sign * p.h[(i, q)], form.t.row(q), row);
        }
        sign * (p.c[i] + dot(p.h.row(i), &form.t0))
    };
    let mut row = vec![0.0; n];
    for i in 0..nn {
        row.fill(0.0);
        form.b[i] = y(&form, i, 1.0, &mut row);
        form.a.row_mut(i).copy_from_slice(&row);
    }
    for (h, &j) in zero.iter().enumerate() {
        // y⁺ = y + z⁻ and y⁻ = −y + z⁺
        for (k, sign) in [(0, 1.0), (1, -1.0)] {
            row.fill(0.0);
            form.b[nn + k * nh + h] = y(&form, nn + j, sign, &mut row);
            row[nn + (2 + k) * nh + h] += 1.0;
            form.a.row_mut(nn + k * nh + h).copy_from_slice(&row);
        }
        // x₀⁽⁻⁾ = upper − s − x⁽⁺⁾ and x₀⁽⁺⁾ = s − lower − x⁽⁻⁾
        let f = &p.friction[j];
        let s = form.t0[nn + j];
        for (k, m, m0) in [(0, f.slide.hi, f.slide.hi0 - s), (1, f.slide.lo, f.slide.lo0 + s)] {
            let place = nn + (2 + k) * nh + h;
            for i in 0..nn {
                form.a[(place, i)] = m * f.load.coef[i];
            }
            form.a[(place, nn + k * nh + h)] = -1.0;
            form.b[place] = m * f.load.constant + m0;
        }
    }
    Some(form)
}
