//! The last digits near a degenerate end (METH-CONE-DEGENERATE)
//!
//! Contacts between two modes stop Newton just above the tolerance. Three methods take turns while they gain: damped Newton, the small
//! problem of the ambiguous contacts ([`super::degenerate`]), and sweeps, which change the modes of single contacts.

use super::cascade::Counts;
use super::degenerate::settle;
use super::island::Island;
use super::newton::restart;
use super::nsgs;
use crate::stop::Clock;

/// Steps of damped Newton, and sweeps, in one turn.
const STEPS: usize = 20;
const SWEEPS: usize = 200;
/// A turn that leaves more than this part of the error is the last.
const GAIN: f64 = 0.8;

/// From `x` with the error `best`; on return `x` is the best point seen, with the error returned.
pub(super) fn polish(
    island: &mut Island,
    x: &mut [f64],
    mut best: f64,
    tol: f64,
    clock: &Clock,
    counts: &mut Counts,
) -> f64 {
    let mut y = std::mem::take(&mut island.t4);
    let mut z = std::mem::take(&mut island.keep);
    z.clear();
    z.resize(x.len(), 0.0);
    loop {
        let before = best;
        z.copy_from_slice(x);
        let mut keep = |z: &[f64], e: f64| {
            if e < best {
                best = e;
                x.copy_from_slice(z);
            }
            best > tol && !clock.over()
        };
        // damped Newton
        let (e, steps) = restart(island, &mut z, tol, STEPS);
        counts.newton += steps;
        let mut more = keep(&z, e);
        // the ambiguous contacts alone
        if more {
            let (e, steps) = settle(island, &mut z, tol, clock);
            counts.newton += steps;
            more = keep(&z, e);
        }
        // sweeps
        if more && nsgs::sweep(island, &mut z, SWEEPS) {
            counts.sweeps += SWEEPS;
            island.velocity(&z, &mut y);
            let e = island.errors(&z, &y).max();
            more = keep(&z, e);
        }
        if !more || !(best < GAIN * before) {
            break;
        }
    }
    island.t4 = y;
    island.keep = z;
    best
}
