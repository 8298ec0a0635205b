//! Newton's law for frictionless impacts (chapter 7).
//!
//! ```text
//! I_S* = closed contacts with ġ_NA ≤ 0:   ġ_NE = −ε ġ_NA,   Λ = −G⁻¹ (E + ε) ġ_NA      (7.9)-(7.12)
//! ```
//!
//! A contact whose impulse would be negative is removed (the most negative first) and the rest solved again; a removed
//! contact must end with ġ_NE ≥ 0. When that fails all subsets are tried, up to 16 contacts, the largest first.
//! Dependent contacts: minimum norm.
//!
//! A contact outside I_S* (it rests by rounding, or separates) may be hit by the impulses of the others. The book leaves that open; ours: it
//! does not approach, `0 ≤ ġ_NE + ε min(ġ_NA, 0) ⊥ Λ ≥ 0` for all closed contacts, a problem that has a solution whenever one exists.
//!
//! Two closed contacts that oppose each other (a play of width zero) cannot both move apart. As the play goes to zero the blows between
//! its sides become infinitely many in no time and take all velocity for ε < 1; ours: ε = 0 for both.

use std::borrow::Cow;

use crate::lcp::{Lcp, Solver};
use crate::linalg::{FullPivot, Mat, max_abs};
use crate::modes::problem::Problem;

const TOLERANCE: f64 = 1e-10;

/// x̂ for velocities `p.c` before the impact and restitution `e` per normal.
pub(crate) fn solve(p: &Problem, e: &[f64]) -> Option<Vec<f64>> {
    let n = p.normals;
    let e = &*without_play(p, e);
    let size = max_abs(&p.c[..n]).max(1e-300);
    let mut used: Vec<bool> = (0..n).map(|i| p.c[i] <= TOLERANCE * size).collect();
    let members = used.clone();
    let mut x = vec![0.0; p.dim()];
    loop {
        if !impulses(p, e, &used, &mut x) {
            break;
        }
        let largest = max_abs(&x);
        let worst = (0..n).filter(|&i| used[i]).min_by(|&a, &b| x[a].total_cmp(&x[b]));
        match worst {
            Some(i) if x[i] < -TOLERANCE * largest => used[i] = false,
            _ => break,
        }
    }
    if is_admissible(p, e, &used, &x, size) {
        return Some(x);
    }
    let list: Vec<usize> = (0..n).filter(|&i| members[i]).collect();
    if list.len() > 16 {
        return complementary(p, e);
    }
    let mut subsets: Vec<u32> = (0..1u32 << list.len()).collect();
    subsets.sort_by_key(|s| std::cmp::Reverse(s.count_ones()));
    for s in subsets {
        used.fill(false);
        for (k, &i) in list.iter().enumerate() {
            used[i] = s >> k & 1 == 1;
        }
        if impulses(p, e, &used, &mut x) && is_admissible(p, e, &used, &x, size) {
            return Some(x);
        }
    }
    complementary(p, e)
}

/// Restitution, zero where another closed contact stands opposite: rows w and −w, and the play between them stays zero.
fn without_play<'a>(p: &Problem, e: &'a [f64]) -> Cow<'a, [f64]> {
    if p.normals < 2 {
        return Cow::Borrowed(e);
    }
    let opposes = |i: usize, j: usize| {
        let (g, bound) = (p.h[(i, i)], 1e-12 * p.h[(i, i)]);
        let rows = g > 0.0 && (p.h[(j, j)] - g).abs() <= bound && (p.h[(i, j)] + g).abs() <= bound;
        // the sides of the play do not move apart
        rows && (p.c[i] + p.c[j]).abs() <= TOLERANCE * (p.c[i].abs() + p.c[j].abs())
    };
    let held = |i: usize| (0..p.normals).any(|j| opposes(i, j));
    (0..p.normals).map(|i| if held(i) { 0.0 } else { e[i] }).collect()
}

/// The law for all closed contacts at once.
fn complementary(p: &Problem, e: &[f64]) -> Option<Vec<f64>> {
    let n = p.normals;
    let h = Mat::from_fn(n, n, |i, j| p.h[(i, j)]);
    let c: Vec<f64> = (0..n).map(|i| p.c[i] + e[i] * p.c[i].min(0.0)).collect();
    let mut lcp = Solver::default();
    lcp.solve(Lcp::new(&h, &c)).is_solved().then(|| {
        let mut x = vec![0.0; p.dim()];
        x[..n].copy_from_slice(&lcp.z);
        x
    })
}

// (7.11) for the used contacts; false when the demands contradict each other
fn impulses(p: &Problem, e: &[f64], used: &[bool], x: &mut [f64]) -> bool {
    let list: Vec<usize> = (0..p.normals).filter(|&i| used[i]).collect();
    let g = Mat::from_fn(list.len(), list.len(), |i, j| p.h[(list[i], list[j])]);
    let b: Vec<f64> = list.iter().map(|&i| -(1.0 + e[i]) * p.c[i]).collect();
    let mut s = vec![0.0; list.len()];
    let mut rank = FullPivot::default();
    rank.factor(&g);
    let inconsistency = rank.solve(&b, &[], &mut s);
    x.fill(0.0);
    for (k, &i) in list.iter().enumerate() {
        x[i] = s[k];
    }
    inconsistency <= 1e-9 * max_abs(&p.c).max(1e-300)
}

fn is_admissible(p: &Problem, e: &[f64], used: &[bool], x: &[f64], size: f64) -> bool {
    let mut y = Vec::new();
    p.y(x, &mut y);
    let tol = 1e-9 * size.max(max_abs(x));
    (0..p.normals)
        .all(|i| if used[i] { x[i] >= -tol && (y[i] + e[i] * p.c[i]).abs() <= tol } else { y[i] >= -tol })
}
