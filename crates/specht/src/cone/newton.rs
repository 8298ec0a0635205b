//! Proximal semismooth Newton on the natural map (METH-CONE-NEWTON)
//!
//! ```text
//! [B + S (W + αI)] dr = −F,    α_i = max(1e-11, min(1e-3, 1e-2 e_scaled)) · tr W_ii / d
//! ```
//!
//! `α` stands in the matrix only, the limit is unchanged. Full steps; stops as soon as one fails to halve the error: then
//! the active set is wrong, and continuing the interior point is cheaper than a line search. (Alart & Curnier 1991;
//! Acary, Brémond & Huber 2018.)

use super::island::Island;
use super::kernel::{inv3, natural_jacobian};

/// From `x`, at most `steps` steps. On return `x` is the best point seen; returns its error and the steps done.
pub(super) fn newton(island: &mut Island, x: &mut [f64], tol: f64, steps: usize) -> (f64, usize) {
    let mut y = std::mem::take(&mut island.t1);
    let mut g = std::mem::take(&mut island.t2);
    let mut xn = std::mem::take(&mut island.t3);
    let mut k = std::mem::take(&mut island.blocks);
    if let Some(f) = island.body() {
        f.refine_form(false, &[]);
    }
    island.velocity(x, &mut y);
    let mut e = island.errors(x, &y);
    let mut done = 0;
    while done < steps && e.max() > tol {
        done += 1;
        let alpha = (1e-2 * e.scaled).clamp(1e-11, 1e-3);
        blocks(island, x, &y, alpha, &mut k, &mut g);
        island.form.factor(&k);
        island.form.solve(&k, &mut g);
        for i in 0..xn.len() {
            xn[i] = x[i] + g[i];
        }
        island.velocity(&xn, &mut y);
        let en = island.errors(&xn, &y);
        if !(en.max() < e.max()) {
            break;
        }
        let slow = en.max() > 0.5 * e.max();
        x.copy_from_slice(&xn);
        e = en;
        if slow {
            break;
        }
    }
    island.t1 = y;
    island.t2 = g;
    island.t3 = xn;
    island.blocks = k;
    (e.max(), done)
}

/// Blocks of the linear system and its right-hand side in scaled coordinates: `dr = S dx`, `du = S⁻¹ A dx`.
fn blocks(island: &Island, x: &[f64], y: &[f64], alpha: f64, k: &mut super::form::Blocks, g: &mut [f64]) {
    k.plain = false;
    k.refine = false;
    for (i, c) in island.cones.iter().enumerate() {
        let d = c.rows.d;
        let (r, u) = island.physical(i, x, y);
        let (f, b, s) = natural_jacobian(c.kind, d, c.mu, c.bound / island.q_s, r, u, c.rho);
        let a = alpha / c.rho;
        for l in 0..d {
            for j in 0..d {
                k.b[i][l][j] = (b[l][j] + a * s[l][j]) * c.scale[j];
                k.s[i][l][j] = s[l][j] / c.scale[j];
            }
            for j in d..3 {
                k.b[i][l][j] = 0.0;
                k.s[i][l][j] = 0.0;
            }
            g[c.rows.at + l] = -f[l];
        }
        for l in d..3 {
            k.b[i][l] = [0.0; 3];
            k.s[i][l] = [0.0; 3];
        }
        k.binv[i] = inv3(&k.b[i], d).unwrap_or([[0.0; 3]; 3]);
    }
}
