//! Few planar contacts, and every method failed: all modes in turn
//!
//! With at most one tangential row per contact each combination of open, stick and slip (two directions) is a linear system
//! in the scaled impulses; the first one whose solution obeys the law within the tolerance is the answer. Complete up to
//! singular combinations. Spatial contacts are tried open and sticking: with large friction little else is left.

use super::cones::Row;
use super::island::Island;
use crate::linalg::{Lu, Mat};

/// Largest number of combinations that are tried.
const MAX: usize = 20_000;

/// The first combination of modes that solves the island to `tol`; its error, with the impulses in `x`.
pub(super) fn in_turn(island: &mut Island, x: &mut [f64], tol: f64) -> Option<f64> {
    let mut modes = Vec::new();
    let mut total = 1usize;
    for c in &island.cones {
        let m = c.kind.modes(&c.scaled(island.q_s));
        if m.is_empty() {
            return None;
        }
        total = total.saturating_mul(m.len());
        modes.push(m);
    }
    if total > MAX {
        return None;
    }
    let m = island.m;
    let mut a = Mat::zeros(m, m);
    let (mut unit, mut column) = (vec![0.0; m], vec![0.0; m]);
    for j in 0..m {
        unit[j] = 1.0;
        island.form.mul(&unit, &mut column);
        unit[j] = 0.0;
        (0..m).for_each(|i| a[(i, j)] = column[i]);
    }
    let mut system = Mat::zeros(m, m);
    let mut lu = Lu::default();
    let (mut z, mut y) = (vec![0.0; m], vec![0.0; m]);
    for k in 0..total {
        let mut rest = k;
        for (c, modes) in island.cones.iter().zip(&modes) {
            let rows = &modes[rest % modes.len()];
            rest /= modes.len();
            for l in 0..c.rows.d {
                let i = c.rows.at + l;
                for j in 0..m {
                    system[(i, j)] = if i == j { 1.0 } else { 0.0 };
                }
                z[i] = 0.0;
                match rows.get(l).copied().unwrap_or(Row::Hold) {
                    Row::Hold => {
                        (0..m).for_each(|j| system[(i, j)] = a[(i, j)]);
                        z[i] = -island.b[i];
                    }
                    Row::Set(v) => z[i] = v,
                    Row::Bound(f) => match &c.owner {
                        Some(o) => system[(i, island.cones[o.cone].rows.at)] = -f * island.slope(c, o),
                        None => z[i] = f * c.scaled(island.q_s).bound,
                    },
                    Row::Follow(f) => system[(i, i - 1)] = -f,
                }
            }
        }
        if !(lu.factor(&system) > 0.0) {
            continue;
        }
        lu.solve(&mut z);
        island.make_admissible(&mut z);
        island.velocity(&z, &mut y);
        let e = island.errors(&z, &y).max();
        if e < tol {
            x.copy_from_slice(&z);
            return Some(e);
        }
    }
    None
}
