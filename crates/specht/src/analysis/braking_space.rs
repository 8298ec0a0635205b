//! Self-braking in space: forces at a point in every direction, and friction against the slip of a uniform motion.
//!
//! Which forces at a point are held is asked of balance with exact cones ([`super::cones`]). Without reactions of two signs these forces are a
//! convex cone, so that six directions decide for all. Efficiency: in a uniform motion v the slip of every contact is W_T v, its friction lies along
//! one row ([`super::flat`]), and the programs of the plane apply.

use super::AnalysisError;
use super::flat::{flatten, unit};
use super::journal::friction_times;
use super::self_braking::{PointBraking, PointVerdict, critical_factor, polish, unit_friction};
use super::stagnation::{Stagnation, silent};
use super::statics::Statics;
use crate::system::{ContactInfo, Eval};

/// Directions over which the share that is held is counted.
const SPHERE: usize = 200;

/// A point in space from the rows J of its motion. The forces that are held are a convex cone where no reaction has two signs: if all six
/// forces along the axes are held, all are. `scaled`: contacts of the critical friction; empty: not asked.
///
/// # Errors
///
/// Too many signs; a section that is no cone.
pub(super) fn in_space(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    rows: &[Vec<f64>; 3],
    scaled: &[usize],
) -> Result<PointBraking, AnalysisError> {
    let quiet = silent(eval);
    let statics = Statics { info, eval: &quiet, closed, loads: false };
    statics.check_sections()?;
    let column = |d: [f64; 3]| -> Vec<f64> {
        (0..eval.h.len()).map(|k| (0..3).map(|a| d[a] * rows[a][k]).sum()).collect()
    };
    let axes = (0..6).map(|k| {
        let mut d = [0.0; 3];
        d[k / 2] = if k % 2 == 0 { 1.0 } else { -1.0 };
        d
    });
    // points of a spiral, evenly over the sphere
    let turn = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let spiral = (0..SPHERE).map(|k| {
        let z = 1.0 - (2.0 * k as f64 + 1.0) / SPHERE as f64;
        let (r, a) = ((1.0 - z * z).sqrt(), turn * k as f64);
        [r * a.cos(), r * a.sin(), z]
    });
    let (mut all, mut held) = (true, 0);
    for d in axes.clone() {
        all &= statics.stand(&column(d))?.stays();
    }
    if !all || !statics.signed().is_empty() {
        for d in spiral {
            held += usize::from(statics.stand(&column(d))?.stays());
        }
        all &= held == SPHERE;
    } else {
        held = SPHERE;
    }
    let mut critical = None;
    if !scaled.is_empty() {
        let own = unit_friction(&quiet, scaled);
        let of = |d: [f64; 3]| {
            let load = column(d);
            let holds =
                |eval: &Eval| Statics { info, eval, closed, loads: false }.can_stay(&load) == Some(true);
            let rough = critical_factor(&own, scaled, holds)?;
            Some(sharpen(info, &own, closed, &load, false, scaled, rough))
        };
        critical = axes.map(of).try_fold(0.0_f64, |m, k| k.map(|k| m.max(k)));
    }
    Ok(PointBraking {
        verdict: if all { PointVerdict::SelfBraking } else { PointVerdict::Debraking },
        stagnation_angle: f64::NAN,
        directions: Stagnation::default(),
        book: None,
        critical_factor: critical,
        share: Some(held as f64 / SPHERE as f64),
    })
}

/// A critical factor to rounding, where the margin of [`Statics::grip`] passes zero near the one that was found; else by [`polish`].
pub(super) fn sharpen(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    load: &[f64],
    loads: bool,
    scaled: &[usize],
    rough: f64,
) -> f64 {
    let grip = |k: f64| {
        let own = friction_times(eval, scaled, k);
        Statics { info, eval: &own, closed, loads }.grip(load)
    };
    let (mut lo, mut hi) = (0.99 * rough, 1.01 * rough);
    let passes = matches!((grip(lo), grip(hi)), (Some(a), Some(b)) if a < 0.0 && b >= 0.0);
    if !passes {
        return polish(info, eval, closed, load, loads, scaled, rough);
    }
    while hi - lo > 1e-14 * hi {
        let mid = 0.5 * (lo + hi);
        if mid <= lo || mid >= hi {
            break;
        }
        if grip(mid).is_some_and(|t| t >= 0.0) { hi = mid } else { lo = mid }
    }
    0.5 * (lo + hi)
}

/// Contacts in space with one tangent along the slip of a motion; those that do not slip are left as they are.
pub(super) fn along_motion(info: &[ContactInfo], eval: &Eval, v: &[f64]) -> (Vec<ContactInfo>, Eval) {
    let slip = |c: &ContactInfo| {
        if c.tangent.len() < 2 || !c.friction {
            return None;
        }
        let rate: [f64; 3] = std::array::from_fn(|k| c.tangent.get(k).map_or(0.0, |&r| eval.w.row(r).dot(v)));
        let size = c.tangent.iter().map(|&r| eval.w.row(r).square().sqrt()).fold(0.0, f64::max);
        unit(rate).filter(|_| rate[0].hypot(rate[1]).hypot(rate[2]) > 1e-12 * size)
    };
    let directions: Vec<Option<[f64; 3]>> = info.iter().map(slip).collect();
    let (own, along, _) = flatten(info, eval, &directions);
    (own, along)
}
