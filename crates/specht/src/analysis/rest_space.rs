//! Rest in space, with exact cones (METH-REST-SET): does it stand, what may a load be, where is a force at a point weakest?
//!
//! *Stands* is decided by balance ([`super::cones`]); *moves* by the acceleration problem at zero slip (METH-3D-ACC), all solutions of one contact,
//! one solution of several. Where it stands and no friction is needed for it, no motion is possible beside: with balanced forces λ⁰,
//!
//! ```text
//! u̇ᵀ M u̇ = Σ a_N (λ_N − λ⁰_N) + a_T·(λ_T − λ⁰_T) ≤ Σ ‖a_T‖ (‖λ⁰_T‖ − μ λ_N) ≤ 0      for λ⁰_T = 0
//! ```
//!
//! and the answer is complete; so it is for one contact, and for given loads.
//!
//! *Forces at a point*: the largest force F = p d that can be carried beside the loads, for directions d in a plane (the level one: normal to gravity),
//! and the *weakest* of all directions. The forces that can be carried are a convex set for each pattern of signs, with the motion v of its limit
//! as the normal n = J v of its border, n·F ≤ 1. The step d ← n/|n| never raises p, since p(n/|n|) ≤ 1/|n| ≤ p(d), and ends where the border is
//! nearest; it is begun from [`STARTS`] directions.

use super::AnalysisError;
use super::cones::Stand;
use super::flat::unit;
use super::rest::{Motion, Outcome, Rest, is_balanced, signs};
use super::statics::Statics;
use crate::contact::{Solution, Start};
use crate::linalg::dot;
use crate::sim::space::{accelerations_at, all_from_rest};
use crate::system::{ContactInfo, Eval, Mode};

/// Directions of the polar diagram.
const POLAR: u32 = 180;
/// Directions from which the weakest is looked for: axes, diagonals of faces and of the cube.
const STARTS: usize = 26;
/// Of these the best so many are followed, in so many steps.
const FOLLOWED: usize = 4;
const STEPS: usize = 200;

/// Which contacts take part, from their starts.
pub(crate) fn closed(starts: &[Start]) -> Vec<bool> {
    starts.iter().map(|s| *s != Start::Open).collect()
}

/// What is possible from rest, and the proof.
///
/// # Errors
///
/// Too many signs; a section that is no cone.
pub(crate) fn rest_in_space(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
) -> Result<(Rest, Stand), AnalysisError> {
    let closed = closed(starts);
    let statics = Statics { info, eval, closed: &closed, loads: true };
    let stand = statics.stand(&eval.h)?;
    let mut outcomes = Vec::new();
    if stand.stays() && !stand.lambda.is_empty() {
        outcomes.push(standing(info, &closed, eval.h.len(), &stand.lambda));
    }
    let one = all_from_rest(info, eval, starts);
    let complete = one.is_some() || needs_no_friction(&statics) || only_given(&statics);
    let found: Vec<Solution> = match one {
        Some(all) => all,
        None => {
            let ahead = |_: usize| [1.0, 0.0, 0.0];
            let none = vec![0.0; eval.w.rows()];
            let tried =
                [&none, &stand.lambda].map(|acted| accelerations_at(info, eval, starts, &ahead, acted));
            tried.into_iter().flatten().map(|a| a.solution).collect()
        }
    };
    for s in found.iter().filter(|s| !is_balanced(eval, s)) {
        let same = |o: &Outcome| o.moves && o.modes == s.modes && near(&o.accel, &s.forces.accel);
        // a motion of rounding beside rest at the limit is rest
        if outcomes.iter().any(same) || (stand.stays() && stand.margin < super::cones::HOLDS) {
            continue;
        }
        outcomes.push(Outcome {
            moves: true,
            modes: s.modes.clone(),
            accel: s.forces.accel.clone(),
            signs: signs(eval, &s.forces.accel),
            normal: s.forces.normal.clone(),
            tangential: s.forces.tangential.clone(),
            lambda: s.forces.lambda.clone(),
        });
    }
    let stays = outcomes.iter().any(|o| !o.moves);
    // what cannot stand moves, also where the sweeps did not find how
    let found = outcomes.iter().any(|o| o.moves);
    let (moves, complete) = (found || !stays, complete && (found || stays));
    let motion = Motion { stays, moves, complete, valid: true };
    let rest = Rest {
        verdict: motion.verdict(),
        outcomes,
        book: None,
        complete: complete && stand.exact,
        valid: true,
    };
    Ok((rest, stand))
}

fn near(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().chain(b).fold(0.0_f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-8 * size)
}

/// The outcome of forces in balance.
fn standing(info: &[ContactInfo], closed: &[bool], n: usize, lambda: &[f64]) -> Outcome {
    let mode = |(i, c): (usize, &ContactInfo)| match (
        closed[i] || c.is_bilateral(),
        c.friction && !c.tangent.is_empty(),
    ) {
        (false, _) => Mode::Open,
        (true, true) => Mode::Stick,
        (true, false) => Mode::Closed,
    };
    Outcome {
        moves: false,
        modes: info.iter().enumerate().map(mode).collect(),
        accel: vec![0.0; n],
        signs: vec![0.0; n],
        normal: info.iter().map(|c| c.normal_force(lambda)).collect(),
        tangential: info.iter().map(|c| c.tangential_force(lambda)).collect(),
        lambda: lambda.to_vec(),
    }
}

/// It stands without any friction.
fn needs_no_friction(statics: &Statics) -> bool {
    let mut smooth = statics.eval.clone();
    smooth.mu.fill(0.0);
    smooth.mu_static.fill(0.0);
    let alone = Statics { eval: &smooth, ..*statics };
    alone.stand(&smooth.h).is_ok_and(|s| s.stays() && !s.lambda.is_empty())
}

/// Friction has given bounds everywhere.
fn only_given(statics: &Statics) -> bool {
    let given = |i: usize| statics.info[i].is_given() && statics.info[i].load_on.is_empty();
    (0..statics.info.len()).filter(|&i| statics.rubs(i)).all(given)
}

/// Forces at a point in space.
#[derive(Clone, Debug, PartialEq)]
pub struct PointInSpace {
    /// Two unit vectors: the plane of the diagram.
    pub plane: [[f64; 3]; 2],
    /// (angle, largest force) in that plane.
    pub limit: Vec<[f64; 2]>,
    /// The weakest direction of all.
    pub weakest: Weakest,
    /// In the direction that was asked for: smallest (against it, negative) and largest force.
    pub along: Option<[f64; 2]>,
}

/// The direction in which the least force starts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Weakest {
    /// The force, N; infinite when none does, 0 when it does not stand.
    pub force: f64,
    /// Its direction.
    pub direction: [f64; 3],
    /// The motion that begins: velocities for a unit velocity of the point along the force.
    pub motion: Vec<f64>,
}

/// p(d), the normal of the border of what is held there, and the motion that begins.
type Border = (f64, Option<[f64; 3]>, Vec<f64>);

/// Forces at a point with the rows J of its motion; `level`: normal of the plane of the diagram.
///
/// # Errors
///
/// Too many signs; a section that is no cone.
pub(crate) fn point_in_space(
    statics: &Statics,
    jacobian: &[Vec<f64>; 3],
    level: [f64; 3],
    along: Option<[f64; 3]>,
) -> Result<PointInSpace, AnalysisError> {
    let base = &statics.eval.h;
    let stands = statics.stand(base)?.stays();
    let column = |d: [f64; 3]| -> Vec<f64> {
        (0..base.len()).map(|k| (0..3).map(|a| d[a] * jacobian[a][k]).sum()).collect()
    };
    // p(d), and the normal of the border there
    let ask = |d: [f64; 3]| -> Result<Border, AnalysisError> {
        if !stands {
            return Ok((0.0, None, Vec::new()));
        }
        // what stands carries no force at least: an answer without any is a failure, and no number
        let Some(found) = statics.limit(base, &column(d), 1.0)? else {
            return Ok((f64::NAN, None, Vec::new()));
        };
        let normal =
            (!found.motion.is_empty()).then(|| std::array::from_fn(|a| dot(&jacobian[a], &found.motion)));
        Ok((found.value.max(0.0), normal, found.motion))
    };
    let plane = plane(level);
    let mut limit = Vec::new();
    let mut starts: Vec<([f64; 3], f64)> = Vec::new();
    for step in 0..POLAR {
        let angle = f64::from(step).to_radians() * 2.0;
        let d = std::array::from_fn(|k| angle.cos() * plane[0][k] + angle.sin() * plane[1][k]);
        let p = ask(d)?.0;
        limit.push([angle, p]);
        starts.push((d, p));
    }
    starts.sort_by(|a, b| a.1.total_cmp(&b.1));
    starts.truncate(1);
    for k in 0..STARTS {
        let code = if k < 13 { k } else { k + 1 };
        let d = unit([code / 9, code / 3 % 3, code % 3].map(|v| v as f64 - 1.0)).unwrap_or([1.0, 0.0, 0.0]);
        starts.push((d, ask(d)?.0));
    }
    starts.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut weakest = Weakest { force: f64::INFINITY, direction: [f64::NAN; 3], motion: Vec::new() };
    for &(mut d, _) in starts.iter().take(FOLLOWED) {
        let mut last = f64::INFINITY;
        for _ in 0..STEPS {
            let (p, normal, motion) = ask(d)?;
            if p < weakest.force {
                weakest = Weakest { force: p, direction: d, motion };
            }
            let Some(next) = normal.and_then(unit).filter(|_| p < last * (1.0 - 1e-14)) else { break };
            (last, d) = (p, next);
        }
    }
    let along = match along.and_then(unit) {
        Some(d) if stands => {
            let low = statics.limit(base, &column(d), -1.0)?.map_or(f64::NAN, |l| l.value);
            Some([low, statics.limit(base, &column(d), 1.0)?.map_or(f64::NAN, |l| l.value)])
        }
        Some(_) => Some([f64::NAN; 2]),
        None => None,
    };
    Ok(PointInSpace { plane, limit, weakest, along })
}

/// Two unit vectors normal to `level`, the first as near to the x axis as can be (to the y axis when that is the normal).
fn plane(level: [f64; 3]) -> [[f64; 3]; 2] {
    let n = unit(level).unwrap_or([0.0, 0.0, 1.0]);
    let first = if n[0].abs() < 0.9 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let along: f64 = dot(&first, &n);
    let e = unit(std::array::from_fn(|k| first[k] - along * n[k])).unwrap_or(first);
    // against gravity is up: the diagram turns as seen from above
    let up = n.map(|v| -v);
    let up = if level == [0.0; 3] { [0.0, 0.0, 1.0] } else { up };
    let second = [up[1] * e[2] - up[2] * e[1], up[2] * e[0] - up[0] * e[2], up[0] * e[1] - up[1] * e[0]];
    [e, second]
}
