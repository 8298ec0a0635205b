//! Proximal semismooth Newton on the natural map (METH-CONE-NEWTON)
//!
//! ```text
//! [B + S (W + αI)] dr = −F,    α_i = max(1e-11, min(1e-3, 1e-2 e_scaled)) · tr W_ii / d
//! ```
//!
//! `α` stands in the matrix only, the limit is unchanged. Full steps; stops as soon as one fails to halve the error: then
//! the active set is wrong, and continuing the interior point is cheaper than a line search. (Alart & Curnier 1991;
//! Acary, Brémond & Huber 2018.)
//!
//! Near a solution of a neighbouring problem ([`restart`]) a few contacts change their mode. There `α` starts large, so
//! that nearly singular self-stresses do not explode, and follows success (Levenberg & Marquardt); steps are judged by
//! the two-norm `e_plain`, because single contacts at a kink may get worse while everything else converges.

use super::form::{Blocks, Form, Link};
use super::island::{Errors, Island};
use super::kernel::inv3;
use crate::linalg::axpy;

/// First damping of a restart: `min(START_MAX, START · error)`, rises by `RAISE` after a failed step.
const START: f64 = 10.0;
const START_MAX: f64 = 1e-3;
const RAISE: f64 = 10.0;
/// Shorter steps tried before that, each `SHORTEN` of the last: no factorisation.
const SHORTER: usize = 2;
const SHORTEN: f64 = 0.4;
/// Steps in a row that fail to halve the error before a restart is given up.
const SLOW: usize = 3;

/// Steps of [`climb`] that may leave the smallest error so far unchanged.
const UPHILL: usize = 2;

/// Buffers of the island while Newton runs.
struct Buffers {
    /// velocities
    y: Vec<f64>,
    /// right-hand side, then step
    g: Vec<f64>,
    /// trial point
    xn: Vec<f64>,
    k: Blocks,
}

impl Buffers {
    /// Take them, with the plain form and the velocities and errors at `x`.
    fn take(island: &mut Island, x: &[f64]) -> (Buffers, Errors) {
        let mut b = Buffers {
            y: std::mem::take(&mut island.t1),
            g: std::mem::take(&mut island.t2),
            xn: std::mem::take(&mut island.t3),
            k: std::mem::take(&mut island.blocks),
        };
        if let Some(f) = island.body() {
            f.accurate = false;
        }
        island.velocity(x, &mut b.y);
        let e = island.errors(x, &b.y);
        (b, e)
    }

    fn give_back(self, island: &mut Island) {
        (island.t1, island.t2, island.t3, island.blocks) = (self.y, self.g, self.xn, self.k);
    }
}

/// From `x`, at most `steps` steps. On return `x` is the best point seen; returns its error and the steps done.
pub(super) fn newton(island: &mut Island, x: &mut [f64], tol: f64, steps: usize) -> (f64, usize) {
    let (mut b, mut e) = Buffers::take(island, x);
    let Buffers { y, g, xn, k } = &mut b;
    let mut done = 0;
    while done < steps && e.max() > tol {
        done += 1;
        let alpha = (1e-2 * e.scaled).clamp(1e-11, 1e-3);
        blocks(island, x, y, alpha, k, g);
        island.form.factor(k);
        island.form.solve(k, g);
        for i in 0..xn.len() {
            xn[i] = x[i] + g[i];
        }
        island.velocity(xn, y);
        let en = island.errors(xn, y);
        if !(en.max() < e.max()) {
            break;
        }
        let slow = en.max() > 0.5 * e.max();
        x.copy_from_slice(xn);
        e = en;
        if slow {
            break;
        }
    }
    b.give_back(island);
    (e.max(), done)
}

/// Full steps that may go uphill, for few contacts: there a step tries a set of modes, and the way to the right one may lead over larger
/// errors. Judged by the scaled error, which is the same in all units. Same answer as [`newton`].
pub(super) fn climb(island: &mut Island, x: &mut [f64], tol: f64, steps: usize) -> (f64, usize) {
    let (mut b, mut e) = Buffers::take(island, x);
    let mut z = std::mem::take(&mut island.t6);
    z.clear();
    z.extend_from_slice(x);
    let Buffers { y, g, k, .. } = &mut b;
    let (mut done, mut rises, mut best) = (0, 0, e);
    while done < steps && best.max() > tol && rises <= UPHILL {
        done += 1;
        blocks(island, &z, y, (1e-2 * e.scaled).clamp(1e-11, 1e-3), k, g);
        island.form.factor(k);
        island.form.solve(k, g);
        axpy(1.0, g, &mut z);
        island.velocity(&z, y);
        e = island.errors(&z, y);
        if e.scaled < best.scaled {
            best = e;
            x.copy_from_slice(&z);
        } else if e.max().is_finite() {
            rises += 1;
        } else {
            break;
        }
    }
    b.give_back(island);
    island.t6 = z;
    (best.max(), done)
}

/// Newton with a damping that follows success, from a point near a solution. Same answer as [`newton`].
pub(super) fn restart(island: &mut Island, x: &mut [f64], tol: f64, steps: usize) -> (f64, usize) {
    let (mut b, mut e) = Buffers::take(island, x);
    let Buffers { y, g, xn, k } = &mut b;
    let mut alpha = (START * e.max()).min(START_MAX);
    let (mut done, mut slow, mut fresh) = (0, 0, true);
    while done < steps && e.max() > tol && slow <= SLOW {
        done += 1;
        if !fresh {
            island.velocity(x, y);
        }
        blocks(island, x, y, alpha, k, g);
        island.form.factor(k);
        island.form.solve(k, g);
        // full step, or a shorter one
        let (mut t, mut tries) = (1.0, 0);
        let en = loop {
            for i in 0..xn.len() {
                xn[i] = x[i] + t * g[i];
            }
            island.velocity(xn, y);
            let en = island.errors(xn, y);
            if en.plain < e.plain || tries == SHORTER {
                break en;
            }
            tries += 1;
            t *= SHORTEN;
        };
        slow = if en.plain < 0.5 * e.plain { 0 } else { slow + 1 };
        fresh = en.plain < e.plain && en.max().is_finite();
        if fresh {
            if tries == 0 {
                alpha = (alpha * (en.plain / e.plain).max(1e-3)).max(1e-11);
            }
            x.copy_from_slice(xn);
            e = en;
        } else {
            alpha *= RAISE;
        }
    }
    b.give_back(island);
    (e.max(), done)
}

/// Blocks of the linear system and its right-hand side in scaled coordinates: `dr = S dx`, `du = S⁻¹ A dx`.
pub(super) fn blocks(island: &Island, x: &[f64], y: &[f64], alpha: f64, k: &mut Blocks, g: &mut [f64]) {
    let dense = matches!(island.form, Form::Dense(_));
    k.plain = false;
    k.refine = 0;
    k.links.clear();
    for (i, c) in island.cones.iter().enumerate() {
        let d = c.rows.d;
        let (r, u) = island.physical(i, x, y);
        let (f, b, s) = c.kind.jacobian(&island.shape(c, x), r, u, c.rho);
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
        if let Some(o) = &c.owner {
            let slope = o.mu * island.load(o, x).1 * island.cones[o.cone].scale[0];
            k.links.push(Link { cone: i, owner: o.cone, f: [b[0][2] * slope, b[1][2] * slope] });
        }
        for l in d..3 {
            k.b[i][l] = [0.0; 3];
            k.s[i][l] = [0.0; 3];
        }
        // dense systems solve open contacts alone, and need no other inverse
        if !dense || k.s[i].as_flattened().iter().all(|s| *s == 0.0) {
            k.binv[i] = inv3(&k.b[i], d).unwrap_or([[0.0; 3]; 3]);
        }
    }
}
