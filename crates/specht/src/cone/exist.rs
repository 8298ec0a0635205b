//! Is there a solution? (METH-CONE-EXIST)
//!
//! * *Sufficient criterion* (Acary, Cadoux, Lemaréchal, Malick 2011): if some `v` gives `H v + q ∈ int K*` for all
//!   contacts, a solution exists whatever `M` and `μ`. Tested with the convex law `u ∈ K* ⟂ r ∈ K`, which the interior point
//!   solves for `q − s n` exactly when such a `v` exists with margin `s`.
//!   With rolling the condition is `u_N > μ |u_T| + μ_R |ω_R|`, tested in two halves: it holds when some such `v` does not roll at all, and
//!   fails when it fails without the last term; between them it is undecided.
//! * *Certificate of no solution*: `d_N ≥ 0`, `d_T = 0`, `Hᵀd = 0`, `d·q < 0`: then `0 = d·H v = d·u − d·q > 0` for every
//!   admissible `u`. A linear program.

use super::cones::{Kind, Way};
use super::prep::Prep;
use super::problem::{Law, Operator, Problem, ProblemError};
use super::sparse::Matrix;
use super::wide::{self, Run};
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::stop::{Clock, Stop};

/// Answer of the sufficient criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    /// A solution exists.
    Guaranteed,
    /// The criterion fails: there may be none.
    Fails,
    /// Not decided (guides with friction, or the test itself did not converge).
    Undecided,
}

/// Margin of the criterion relative to the largest free velocity.
const MARGIN: f64 = 1e-6;
/// Linear programs larger than this (contacts) are not tried.
const LP_CONTACTS: usize = 250;

/// The sufficient criterion.
pub fn criterion(p: &Problem) -> Result<Existence, ProblemError> {
    criterion_within(p, None, Stop::default())
}

/// The same for at most `limit` seconds: afterwards it is undecided.
pub fn criterion_within(p: &Problem, limit: Option<f64>, stop: Stop) -> Result<Existence, ProblemError> {
    decide(p, &Clock::new(limit, stop))
}

pub(super) fn decide(p: &Problem, clock: &Clock) -> Result<Existence, ProblemError> {
    p.check()?;
    if certificate(p).is_some() {
        return Ok(Existence::Fails);
    }
    if !p.contacts.iter().any(|c| matches!(c.law, Law::Rolling { .. })) {
        return convex(p, clock, Law::Bilateral);
    }
    Ok(match convex(p, clock, Law::Bilateral)? {
        Existence::Guaranteed => Existence::Guaranteed,
        _ if convex(p, clock, Law::Loaded { bound: 0.0 })? == Existence::Fails => Existence::Fails,
        _ => Existence::Undecided,
    })
}

/// The criterion with this law in the place of rolling.
fn convex(p: &Problem, clock: &Clock, rolling: Law) -> Result<Existence, ProblemError> {
    let mut t = p.clone();
    let scale = crate::linalg::max_abs(&p.q);
    let margin = if scale > 0.0 { MARGIN * scale } else { 1.0 };
    let mut row = 0;
    for c in &mut t.contacts {
        match c.law {
            Law::BilateralFriction { .. } => return Ok(Existence::Undecided),
            Law::Rolling { .. } => c.law = rolling,
            Law::Loaded { .. } => c.law = Law::Loaded { bound: 0.0 },
            Law::Bilateral => {}
            Law::Coulomb { .. } | Law::Elliptic { .. } => t.q[row] -= margin,
        }
        row += c.rows;
    }
    let mut prep = Prep::default();
    prep.load(&t)?;
    let run = Run { low: 1e-3, high: 1e3, fraction: 0.99, iterations: 80, until: 0.0 };
    let mut answer = Existence::Guaranteed;
    for island in &mut prep.islands {
        for c in &mut island.cones {
            if c.kind == Kind::Soc {
                c.kind = Kind::Convex;
            }
        }
        if island.q_s == 0.0 {
            continue;
        }
        island.form.set_limits(true, clock);
        let end = wide::run(island, Way::Joint, &run, 1e-8, clock);
        if end.error < 1e-8 {
            continue;
        }
        if clock.over() {
            return Ok(Existence::Undecided);
        }
        // the convex problem is unbounded below exactly when the criterion fails: x grows, the residual stays
        if end.size > 1e3 && end.residual > 1e-9 {
            return Ok(Existence::Fails);
        }
        answer = Existence::Undecided;
    }
    Ok(answer)
}

/// A vector `d` (one entry per row) that proves that there is no solution, if the normals alone give one.
pub fn certificate(p: &Problem) -> Option<Vec<f64>> {
    let mut normal = Vec::new();
    let mut free = Vec::new();
    let mut row = 0;
    for c in &p.contacts {
        match c.law {
            Law::Coulomb { .. } | Law::Elliptic { .. } => normal.push(row),
            Law::Bilateral => free.extend(row..row + c.rows),
            Law::BilateralFriction { .. } => free.push(row),
            Law::Loaded { .. } | Law::Rolling { .. } => {}
        }
        row += c.rows;
    }
    let n = normal.len() + free.len();
    if normal.is_empty() || n > LP_CONTACTS {
        return None;
    }
    // columns of Hᵀ (or W) that belong to the unknowns
    let columns: Vec<usize> = normal.iter().chain(&free).copied().collect();
    let mut lp = Program::new(n);
    (normal.len()..n).for_each(|j| {
        lp.set_free(j);
    });
    let rows = match &p.operator {
        Operator::Delassus(w) => transposed(w, &columns, w.cols()),
        Operator::Bodies { h, .. } => transposed(h, &columns, h.cols()),
    };
    let size = rows.iter().flatten().fold(0.0_f64, |m, v| m.max(v.abs()));
    for r in &rows {
        if r.iter().any(|&v| v != 0.0) {
            lp.row(r, Sense::Equal, 0.0);
        }
    }
    let mut sum = vec![0.0; n];
    sum[..normal.len()].fill(1.0);
    lp.row(&sum, Sense::AtMost, 1.0);
    for j in normal.len()..n {
        let mut e = vec![0.0; n];
        e[j] = 1.0;
        lp.row(&e, Sense::AtMost, 1.0).row(&e, Sense::AtLeast, -1.0);
    }
    let cost: Vec<f64> = columns.iter().map(|&i| -p.q[i]).collect();
    let (LpOutcome::Optimal { .. }, x) = lp.maximize(&cost) else { return None };
    // check with the true numbers
    let gain: f64 = cost.iter().zip(&x).map(|(c, x)| c * x).sum();
    let left = rows.iter().map(|r| crate::linalg::dot(r, &x).abs()).fold(0.0_f64, f64::max);
    if !(gain > 1e-9 * crate::linalg::max_abs(&p.q) && left <= 1e-9 * size) {
        return None;
    }
    let mut d = vec![0.0; p.rows()];
    for (&i, &v) in columns.iter().zip(&x) {
        d[i] = v;
    }
    Some(d)
}

/// Rows of `Aᵀ` restricted to some of its columns.
fn transposed(a: &Matrix, columns: &[usize], rows: usize) -> Vec<Vec<f64>> {
    let mut out = vec![vec![0.0; columns.len()]; rows];
    for (k, &i) in columns.iter().enumerate() {
        a.for_row(i, |j, v| out[j][k] = v);
    }
    out
}
