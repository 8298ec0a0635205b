//! The laws of an impact checked on its result, from velocities and impulses alone, and the energy balance.
//!
//! Energy of a phase: ½ Λᵀ(ġ + ġ′) = ΔT + Λᵀ w̃ (8.52), so the work of a contact is its impulse times the mean of its
//! relative velocity before and after the phase, and −Λᵀ w̃ is what prescribed motions put in.

use super::{Impact, Law};
use crate::linalg::dot;
use crate::system::{ContactInfo, Eval, Normal, Restitution};

/// Fill energy, works and the residual of `out`; impulses, rates and `u` are given.
pub(crate) fn finish(
    law: Law,
    info: &[ContactInfo],
    eval: &Eval,
    u: &[f64],
    closed: &[bool],
    e: &[Restitution],
    out: &mut Impact,
) {
    energy(info, eval, u, out);
    out.residual = out.residual.max(momentum(eval, u, out));
    if law == Law::Poisson {
        out.residual = out.residual.max(poisson(info, eval, closed, e, out));
    }
}

fn energy(info: &[ContactInfo], eval: &Eval, u: &[f64], out: &mut Impact) {
    let n = u.len();
    let mut momentum = vec![0.0; n];
    let sum: Vec<f64> = out.u.iter().zip(u).map(|(a, b)| 0.5 * (a + b)).collect();
    let change: Vec<f64> = out.u.iter().zip(u).map(|(a, b)| a - b).collect();
    eval.mass.mul_vec(&change, &mut momentum);
    out.energy = dot(&momentum, &sum);
    eval.mass.mul_vec(u, &mut momentum);
    let before = 0.5 * dot(&momentum, u);

    let work: Vec<f64> = (0..out.impulse.len())
        .map(|r| {
            let (first, second) = (out.compression[r], out.impulse[r] - out.compression[r]);
            0.5 * first * (out.rate_a[r] + out.rate_c[r]) + 0.5 * second * (out.rate_c[r] + out.rate_e[r])
        })
        .collect();
    out.drive_work = -dot(&out.impulse, &eval.rate_offset);
    out.normal_work = vec![0.0; info.len()];
    out.tangential_work = vec![0.0; info.len()];
    for (i, c) in info.iter().enumerate() {
        out.normal_work[i] = c.normal_rows().iter().map(|&r| work[r]).sum();
        out.tangential_work[i] = c.tangent.iter().map(|&r| work[r]).sum();
    }
    // scale: the energy that is there, or the largest work of a contact
    let largest = work.iter().fold(before.abs(), |m, w| m.max(w.abs()));
    out.gains_energy = work.iter().sum::<f64>() > 1e-9 * largest;
}

// M (u_E − u_A) = Wᵀ Λ, up to the rounding of M u: a tiny impulse changes large velocities
fn momentum(eval: &Eval, u: &[f64], out: &Impact) -> f64 {
    let n = u.len();
    let change: Vec<f64> = out.u.iter().zip(u).map(|(a, b)| a - b).collect();
    let mut m = vec![0.0; n];
    eval.mass.mul_vec(&change, &mut m);
    let mut w = vec![0.0; n];
    let mut size = vec![0.0; n];
    for (r, &f) in out.impulse.iter().enumerate() {
        eval.w.row(r).add_to(f, &mut w);
        eval.w.row(r).iter().for_each(|(k, v)| size[k] += (f * v).abs());
    }
    let size = size.iter().zip(&m).fold(1e-300, |s: f64, (a, b)| s.max(*a).max(b.abs()));
    let fastest: Vec<f64> = out.u.iter().zip(u).map(|(a, b)| a.abs().max(b.abs())).collect();
    let mut terms = vec![0.0; n];
    eval.mass.terms(&fastest, &mut terms);
    let rounding = |i: usize| 8.0 * f64::EPSILON * terms[i];
    (0..n).fold(0.0, |worst: f64, i| worst.max((m[i] - w[i]).abs() - rounding(i))) / size
}

// (8.13), (8.23), (8.27)-(8.31) on physical quantities; velocities relative to the largest rate, impulses to the largest
fn poisson(info: &[ContactInfo], eval: &Eval, closed: &[bool], e: &[Restitution], out: &Impact) -> f64 {
    let size = |x: &[f64]| x.iter().fold(1e-300, |m: f64, v| m.max(v.abs()));
    let v = size(&out.rate_a).max(size(&out.rate_c)).max(size(&out.rate_e));
    let f = size(&out.impulse).max(size(&out.compression));
    let mut worst = 0.0_f64;
    let mut law = |velocity: f64, impulse: f64| worst = worst.max((velocity / v).min(impulse / f));
    for (i, c) in info.iter().enumerate() {
        let (normal, is_unilateral) = match c.normal {
            Normal::Unilateral { row } if closed[i] => (row, true),
            Normal::Bilateral { row } => (row, false),
            _ => continue,
        };
        let (nc, ne) = (out.compression[normal], out.impulse[normal] - out.compression[normal]);
        let eps = e[i].normal;
        if is_unilateral {
            // a violation counts when both the velocity and the impulse say so, or one is negative
            law(-out.rate_c[normal], f64::INFINITY);
            law(-out.rate_e[normal], f64::INFINITY);
            law(f64::INFINITY, -nc);
            law(f64::INFINITY, eps * nc - ne);
            law(out.rate_c[normal], nc);
            law(out.rate_e[normal], ne - eps * nc);
        }
        if !c.friction || c.tangent.len() != 1 {
            continue;
        }
        let (t, mu) = (c.tangent[0], eval.mu[i]);
        let (tc, te) = (out.compression[t], out.impulse[t] - out.compression[t]);
        let mut coulomb = |lower: f64, upper: f64, force: f64, slip: f64| {
            law(f64::INFINITY, lower - force);
            law(f64::INFINITY, force - upper);
            law(slip, force - lower);
            law(-slip, upper - force);
        };
        // a leaning tangent: the plain slip decides
        let s = eval.lean.get(i).copied().unwrap_or(0.0);
        coulomb(-mu * nc.abs(), mu * nc.abs(), tc, out.rate_c[t] - s * out.rate_c[normal]);
        let shift =
            if is_unilateral { mu * e[i].nu * ne * sign(tc) + eps * e[i].tangential * tc } else { 0.0 };
        let n = ne.abs();
        let (lower, upper) = (-mu * n + shift.max(0.0), mu * n + shift.min(0.0));
        coulomb(lower, upper, te, out.rate_e[t] - s * out.rate_e[normal]);
    }
    worst
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}
