//! Few planar contacts, and every method failed: all modes in turn
//!
//! With at most one tangential row per contact each combination of open, stick and slip (two directions) is a linear system
//! in the scaled impulses; the first one whose solution obeys the law within the tolerance is the answer. Complete up to
//! singular combinations. Spatial contacts are tried open and sticking: with large friction little else is left.

use super::island::Island;
use super::kernel::Kind;
use super::prep::Cone;
use crate::linalg::{Lu, Mat};

/// Largest number of combinations that are tried.
const MAX: usize = 20_000;

/// What replaces a row of `A x + b = 0`.
#[derive(Clone, Copy)]
enum Row {
    /// `A x + b = 0`
    Hold,
    /// `x = value`
    Set(f64),
    /// `x = factor · x_(row before)`
    Follow(f64),
}

/// Modes of a cone: equations of its rows.
fn choices(c: &Cone, bound: f64) -> Option<Vec<[Row; 3]>> {
    use Row::{Follow, Hold, Set};
    let open = [Set(0.0); 3];
    let slide = |f: f64| [[Hold, Follow(f), Hold], [Hold, Follow(-f), Hold]];
    let rest = [Hold; 3];
    Some(match (c.kind, c.rows.d) {
        (Kind::Free, _) => vec![rest],
        (Kind::Half, 1) => vec![open, rest],
        (Kind::Soc, 2) => vec![open, rest, slide(1.0)[0], slide(1.0)[1]],
        (Kind::Soc, 3) => vec![open, rest],
        (Kind::Pair, 2) => vec![rest, slide(c.mu)[0], slide(c.mu)[1]],
        (Kind::Disc, 1) => vec![rest, [Set(bound), Hold, Hold], [Set(-bound), Hold, Hold]],
        _ => return None,
    })
}

/// The first combination of modes that solves the island to `tol`; its error, with the impulses in `x`.
pub(super) fn in_turn(island: &mut Island, x: &mut [f64], tol: f64) -> Option<f64> {
    let mut modes = Vec::new();
    let mut total = 1usize;
    for c in &island.cones {
        let m = choices(c, c.bound / (island.q_s * c.scale[0]))?;
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
