//! Long steps inside of a neighbourhood of the path (METH-CONE-IPM)
//!
//! ```text
//! [A + D] dx = R + …,   R = (n, v) − A x − b,   (dn, dv) = A dx − R
//! ```
//!
//! Mehrotra's predictor and corrector, on the joint path with the curvature of `|v|`, or on a split one; hand-over to [`super::newton`]. No guarantee of
//! convergence: the problem is not monotone, its path may fold back, and there may be no solution.

use super::cones::{Inside, Way};
use super::interior::{Centre, Digits, Ended, Path};
use super::island::Island;
use crate::stop::Clock;

/// Parameters of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// neighbourhood `λ_min² ≥ low τ`, `λ_max² ≤ high τ`
    pub low: f64,
    pub high: f64,
    /// fraction of the step to the boundary
    pub fraction: f64,
    pub iterations: usize,
    /// error below which another method goes on
    pub until: f64,
}

/// First error at which Newton is tried, and residual below which.
pub(super) const FIRST_TRY: f64 = 1e-4;
pub(super) const TRY_RESIDUAL: f64 = 1e-4;
/// Steps of a hand-over to Newton.
pub(super) const NEWTON: usize = 6;
/// Below this τ the accurate form is used (earlier after a stall below τ = 1e-7).
const FINE: f64 = 1e-10;
/// A wide run that does not lower τ by 2 within this many iterations is given up …
const PATIENCE: usize = 4;
/// … once the residual is below this: before, τ may rest while the residual falls (tall towers).
pub(super) const STALL_RESIDUAL: f64 = 1e-4;
/// A step shorter than this counts as short.
pub(super) const SHORT: f64 = 0.3;

/// One run along a path from the cold start.
pub(super) fn run(island: &mut Island, way: Way, p: &Run, tol: f64, clock: &Clock) -> Ended {
    let mut w = std::mem::take(&mut island.ipm);
    let e = go(&mut Path { island, w: &mut w, way, tol }, p, clock);
    island.ipm = w;
    e
}

fn go(path: &mut Path, p: &Run, clock: &Clock) -> Ended {
    path.start(1.0);
    let mut out = Ended { error: f64::INFINITY, ..Default::default() };
    let (mut short, mut stuck, mut next_try) = (0usize, 0usize, FIRST_TRY);
    let mut tau_stuck = f64::INFINITY;
    let mut hist = [f64::INFINITY; PATIENCE];
    let mut fine = FINE;
    for it in 0..p.iterations {
        out.counts.ipm = it + 1;
        // residual, complementarity, errors
        let at = path.measure(&path.w.part);
        let feas = path.residual();
        let e = path.errors().max();
        out.size = crate::linalg::max_abs(&path.w.x);
        out.residual = feas;
        if !e.is_finite() || !at.tau.is_finite() {
            break;
        }
        path.w.x1.copy_from_slice(&path.w.x);
        path.keep(e, &mut out);
        if e < path.tol.max(p.until) || clock.over() {
            break;
        }
        // hand-over to Newton
        let stalled = short >= 3;
        if (e < next_try && feas < TRY_RESIDUAL) || stalled {
            if path.try_newton(&mut out, NEWTON) < path.tol {
                break;
            }
            if !stalled {
                next_try = 0.1 * e;
            } else {
                stuck = if at.tau > 0.3 * tau_stuck { stuck + 1 } else { 1 };
                tau_stuck = at.tau;
                short = 0;
                if at.tau < 1e-7 {
                    fine = fine.max(2.0 * at.tau);
                }
                if stuck >= 2 {
                    break;
                }
            }
        }
        // stall
        if it >= 2 * PATIENCE && feas < STALL_RESIDUAL && hist[it % PATIENCE] < 2.0 * at.tau {
            path.w.x1.copy_from_slice(&path.w.x);
            path.try_newton(&mut out, NEWTON);
            break;
        }
        hist[it % PATIENCE] = at.tau;
        path.factor(if at.tau < fine { Digits::Twice } else { Digits::Simple }, at.tau);
        let a = step(path, p, at, feas, short >= 2);
        path.accept();
        short = if a < SHORT { short + 1 } else { 0 };
    }
    out
}

/// Predictor and corrector with the present factorisation; the trial point, and the length of the step.
pub(super) fn step(path: &mut Path, p: &Run, at: Centre, feas: f64, centre: bool) -> f64 {
    let n = path.island.cones.len();
    let (tau, k) = (at.tau, path.way.ratio());
    // never demand more than now
    let (low, high) = (p.low.min(0.9 * at.low / tau), p.high.max(1.1 * at.high / tau));
    let residual = std::mem::take(&mut path.w.r);
    // predictor
    let mut affine = std::mem::take(&mut path.w.affine);
    for i in 0..n {
        let l = path.w.nt[i].lam;
        let pair = path.island.cones[i].kind.has_pair(path.way);
        path.w.dc[i] = [-l[0], -l[1], -l[2]];
        path.w.c0[i] = if pair { -path.w.part[i].p * path.w.part[i].n } else { 0.0 };
    }
    path.direction(Some(&residual), &mut affine);
    let reach = path.longest(&affine).min(1.0);
    let ahead = path.trial(&affine, reach).tau;
    let mut sigma = (ahead.max(0.0) / tau).powi(3).clamp(1e-4, 1.0);
    if centre {
        sigma = sigma.max(0.5);
    }
    // second order parts
    for (i, c) in path.island.cones.iter().enumerate() {
        let (w, s) = (&mut *path.w, c.scaled(path.island.q_s));
        let (nt, d) = (&w.nt[i], &affine.part[i]);
        w.ca[i] = nt.unscale(&d.psi);
        w.cb[i] = nt.scale(&d.x);
        let at = Inside { way: path.way, s: &s, part: &w.part[i], nt };
        w.bend[i] = c.kind.bend(&at, d, reach);
    }
    // corrector, with less and less of them while the step is short
    let mut dir = std::mem::take(&mut path.w.dir);
    let mut a = 0.0;
    for (f, centring) in [(1.0, 0.3), (0.3, 0.8), (0.0, 1.0)] {
        for i in 0..n {
            let w = &mut *path.w;
            w.dc[i] = w.nt[i].target(sigma * tau, &w.ca[i], &w.cb[i], f);
            w.c0[i] = if path.island.cones[i].kind.has_pair(path.way) {
                let d = &affine.part[i];
                sigma * tau * k - w.part[i].p * w.part[i].n - f * d.p * d.n
            } else {
                f * w.bend[i]
            };
        }
        path.direction(Some(&residual), &mut dir);
        a = (p.fraction * path.longest(&dir)).min(1.0);
        for _ in 0..25 {
            let new = path.trial(&dir, a);
            if new.low >= low * new.tau
                && new.high <= high * new.tau
                && (new.tau >= 0.1 * (1.0 - a) * tau || feas < 1e-12)
            {
                break;
            }
            a *= 0.8;
        }
        if a > 0.1 {
            break;
        }
        sigma = f64::max(sigma, centring);
    }
    (path.w.r, path.w.affine, path.w.dir) = (residual, affine, dir);
    a
}
