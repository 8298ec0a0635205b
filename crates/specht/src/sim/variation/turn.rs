//! Directions of slip in tangent planes and their rates.
//!
//! ```text
//! slides             d = γ/|γ|                       δd = (I − d dᵀ) δγ/|γ|
//! begins to slide    a_T = α d, α ≥ 0                P (δa_T + A δd) = α δd,   P = I − d dᵀ      (METH-3D-LOSS)
//! ```
//!
//! a_T are the tangential accelerations of a contact that leaves zero slip, or the velocities after a phase of an impact, δa_T their rates with
//! directions that stand still, and A what turning directions make of them. At the loss of stick α is zero and the force continues that
//! of stick; with a static coefficient that falls to the sliding one α is not zero and the direction is that of the acceleration problem. The
//! same equation serves both, for all contacts that begin at one instant together.

use crate::contact::{Fixed, Forces};
use crate::linalg::{FullPivot, Mat};
use crate::system::{ContactInfo, Eval, Mode};

use super::super::space::slip;

/// Directions that were decided, per contact; none where the velocity tells.
pub(super) type Decided = Vec<Option<[f64; 3]>>;

/// Whether contact `i` slides in a tangent plane.
pub(super) fn turns(info: &[ContactInfo], modes: &[Mode], i: usize) -> bool {
    modes[i] == Mode::Slip && info[i].tangent.len() > 1
}

/// A vector over its size.
fn unit(v: [f64; 3]) -> [f64; 3] {
    let size = v[0].hypot(v[1]).hypot(v[2]);
    if size > 0.0 { v.map(|x| x / size) } else { [1.0, 0.0, 0.0] }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Tell the solver against which forces contacts slide.
pub(super) fn aim(
    info: &[ContactInfo],
    eval: &Eval,
    modes: &[Mode],
    decided: &Decided,
    u: &[f64],
    fixed: &mut Fixed,
) {
    fixed.directions.resize(info.len(), [1.0, 0.0, 0.0]);
    for (i, c) in info.iter().enumerate().filter(|(i, _)| turns(info, modes, *i)) {
        let d = decided.get(i).copied().flatten().unwrap_or_else(|| unit(slip(c, eval, u)));
        fixed.directions[i] = eval.section(i).push(d);
    }
}

/// Tell it how they turn: with the slip, whose rates are `slips` per row, or as `given` where they were decided. False where a law has no rate.
pub(super) fn aim_rates(
    info: &[ContactInfo],
    (eval, rate): (&Eval, &Eval),
    modes: &[Mode],
    (decided, given): (&Decided, &[[f64; 3]]),
    u: &[f64],
    slips: impl Fn(usize) -> f64,
    fixed: &mut Fixed,
) -> bool {
    fixed.turns.clear();
    fixed.turns.resize(info.len(), [0.0; 3]);
    for (i, c) in info.iter().enumerate().filter(|(i, _)| turns(info, modes, *i)) {
        let (d, turn) = match decided.get(i).copied().flatten() {
            Some(d) => (d, given[i]),
            None => {
                let v = slip(c, eval, u);
                let (d, size) = (unit(v), dot(v, v).sqrt());
                let dv: [f64; 3] = std::array::from_fn(|k| c.tangent.get(k).map_or(0.0, |&r| slips(r)));
                let along = dot(d, dv);
                (d, std::array::from_fn(|k| (dv[k] - along * d[k]) / size))
            }
        };
        let Some(push) = eval.section(i).push_rate(d, turn, rate.section(i)) else { return false };
        fixed.turns[i] = push;
    }
    true
}

/// Unit vectors across `d` in the tangent space of a contact.
fn across(c: &ContactInfo, d: [f64; 3]) -> Vec<[f64; 3]> {
    let first = match c.tangent.len() {
        2 => return vec![[-d[1], d[0], 0.0]],
        _ if d[2].abs() < 0.9 => unit([-d[1], d[0], 0.0]),
        _ => unit([0.0, -d[2], d[1]]),
    };
    let [a, b] = [d, first];
    let second = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    vec![first, second]
}

/// Solution with frozen modes whose directions begin.
pub(super) struct Beginning<'a> {
    pub info: &'a [ContactInfo],
    pub eval: &'a Eval,
    pub modes: &'a [Mode],
    pub signs: &'a [f64],
    pub forces: &'a Forces,
}

impl Beginning<'_> {
    /// Rates of the directions `d` of the contacts in `begins` to `given`, and those of the forces with them to `out`. Directions of other contacts
    /// turn as `fixed.turns` has them. False where they are not determined.
    pub(super) fn rates(
        &self,
        begins: &[(usize, [f64; 3])],
        fixed: &mut Fixed,
        rate: &Eval,
        given: &mut [[f64; 3]],
        out: &mut Forces,
    ) -> bool {
        let Beginning { info, eval, modes, signs, forces } = *self;
        let zero = [0.0; 3];
        for &(i, d) in begins {
            let Some(push) = eval.section(i).push_rate(d, zero, rate.section(i)) else { return false };
            fixed.turns[i] = push;
        }
        fixed.tangent(info, eval, modes, signs, forces, rate, out);
        let unknowns: Vec<(usize, [f64; 3], [f64; 3])> = begins
            .iter()
            .flat_map(|&(i, d)| across(&info[i], d).into_iter().map(move |b| (i, d, b)))
            .collect();
        let along = |i: usize, b: [f64; 3], of: &dyn Fn(usize) -> f64| -> f64 {
            info[i].tangent.iter().zip(b).map(|(&r, b)| b * of(r)).sum()
        };
        let m = unknowns.len();
        let mut right = vec![0.0; m];
        for (r, &(i, _, b)) in right.iter_mut().zip(&unknowns) {
            let change = |r: usize| {
                rate.w.row(r).dot(&forces.accel) + eval.w.row(r).dot(&out.accel) + rate.accel_offset[r]
            };
            *r = -along(i, b, &change);
        }
        // what each direction does when it turns alone
        let mut matrix = Mat::default();
        matrix.reshape(m, m);
        let kept = fixed.turns.clone();
        for (k, &(i, d, b)) in unknowns.iter().enumerate() {
            fixed.turns.fill(zero);
            let still = eval.section(i).push_rate(d, b, Default::default());
            let Some(push) = still else { return false };
            fixed.turns[i] = push;
            fixed.tangent_of_turns(info, eval, modes, signs, forces, out);
            for (j, &(other, _, across)) in unknowns.iter().enumerate() {
                matrix[(j, k)] = along(other, across, &|r| eval.w.row(r).dot(&out.accel));
            }
            matrix[(k, k)] -= along(i, d, &|r| eval.accel(r, &forces.accel));
        }
        let mut factors = FullPivot::default();
        if factors.factor(&matrix) < m {
            return false;
        }
        let mut found = vec![0.0; m];
        factors.solve(&right, &[], &mut found);
        for &(i, _) in begins {
            given[i] = zero;
        }
        for (&(i, _, b), eta) in unknowns.iter().zip(found) {
            (0..3).for_each(|k| given[i][k] += eta * b[k]);
        }
        fixed.turns = kept;
        for &(i, d) in begins {
            let Some(push) = eval.section(i).push_rate(d, given[i], rate.section(i)) else { return false };
            fixed.turns[i] = push;
        }
        fixed.tangent(info, eval, modes, signs, forces, rate, out);
        true
    }
}
