//! Ends between two modes (METH-CONE-DEGENERATE)
//!
//! Near a solution at which some contacts stand between two modes (just closing, just sliding) the error of a path falls like √τ only, and
//! Newton does not find their modes. All other contacts are clear: their laws are smooth equations, linearised here at the point. The few
//! ambiguous ones, set free, see the rest as a small problem of their own:
//!
//! ```text
//! clear:      B x + S (A x + b) = …        one factorisation, with  x_amb  prescribed
//! ambiguous:  u_amb = W_red x_amb + q_red,   laws as before            one solve for each of their rows
//! ```
//!
//! The small problem is solved by the cascade. With friction its matrix may have lost a positive diagonal: then this way is closed, and
//! other methods go on. A damping that falls with the error keeps self-stresses near the point.

use super::cascade::{Method, Settings};
use super::cones::{Cone, Kind};
use super::island::Island;
use super::newton::blocks;
use super::problem::{Contact, Law, Problem};
use super::solver::{Solver, Status};
use super::sparse::Matrix;
use crate::linalg::{Mat, axpy};
use crate::stop::Clock;

/// Most ambiguous contacts of a small problem; islands not larger than this are small themselves.
const MOST: usize = 30;
/// A contact is clear when of two numbers that exclude each other one is below this part of the other; tried in turn.
const CLEAR: [f64; 2] = [0.1, 0.02];
/// Rounds: the clear contacts slide in new directions.
const ROUNDS: usize = 5;
/// Damping relative to the diagonal blocks, of the clear equations and of the small problem: self-stresses stay near the point.
fn damping(e: f64) -> f64 {
    e.clamp(1e-11, 1e-3)
}

/// From `x` near a degenerate end; on return `x` is the best point seen. Returns its error and the number of factorisations.
pub(super) fn settle(island: &mut Island, x: &mut [f64], tol: f64, clock: &Clock) -> (f64, usize) {
    if island.cones.len() <= MOST {
        return (f64::INFINITY, 0);
    }
    let mut y = vec![0.0; x.len()];
    island.velocity(x, &mut y);
    let mut best = island.errors(x, &y).max();
    let (mut done, start) = (0, best);
    let mut last = Vec::new();
    for clear in CLEAR {
        let mut open: Vec<usize> =
            (0..island.cones.len()).filter(|&i| !is_clear(island, i, x, &y, clear)).collect();
        // a disc stands behind the cone that bounds it
        let owners = |i: &usize| island.cones[*i].owner.map(|o| o.cone);
        open.extend(open.iter().filter_map(owners).collect::<Vec<_>>());
        open.sort_unstable();
        open.dedup();

        if open.is_empty() || open.len() > MOST || open == last {
            continue;
        }
        let mut z = x.to_vec();
        let mut before = f64::INFINITY;
        for _ in 0..ROUNDS {
            done += 1;
            let Some(e) = round(island, &mut z, &open, damping(before.min(start))) else { break };

            if e < best {
                best = e;
                x.copy_from_slice(&z);
            }
            if e < tol || !(e < 0.5 * before) || clock.over() {
                break;
            }
            before = e;
        }
        if best < tol || clock.over() {
            break;
        }
        last = open;
    }
    (best, done)
}

/// Whether the mode of cone `i` is beyond doubt at `x` with the velocities `y`.
fn is_clear(island: &Island, i: usize, x: &[f64], y: &[f64], clear: f64) -> bool {
    let c = &island.cones[i];
    c.kind.doubt(&island.scaled_shape(c, x), &c.rows.get(x), &c.rows.get(y)) < clear
}

/// One round; `None` when the small problem has no answer.
fn round(island: &mut Island, x: &mut [f64], open: &[usize], alpha: f64) -> Option<f64> {
    let m = x.len();
    let mut k = std::mem::take(&mut island.blocks);
    let mut y = vec![0.0; m];
    let mut step = vec![0.0; m];
    if let Some(f) = island.body() {
        f.accurate = false;
    }
    island.velocity(x, &mut y);
    blocks(island, x, &y, alpha, &mut k, &mut step);
    let one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut rows = Vec::new();
    for &i in open {
        let r = island.cones[i].rows;
        (k.b[i], k.binv[i], k.s[i]) = (one, one, [[0.0; 3]; 3]);
        step[r.at..r.at + r.d].fill(0.0);
        rows.extend(r.at..r.at + r.d);
    }
    // base point and response to every open row
    island.form.factor(&k);
    island.form.solve(&k, &mut step);
    axpy(1.0, &step, x);
    island.velocity(x, &mut y);
    let n = rows.len();
    let mut w = Mat::zeros(n, n);
    let mut answers = vec![0.0; n * m];
    let mut u = vec![0.0; m];
    for (j, answer) in answers.chunks_exact_mut(m).enumerate() {
        answer[rows[j]] = 1.0;
        island.form.solve(&k, answer);
        island.form.mul(answer, &mut u);
        (0..n).for_each(|i| w[(i, j)] = u[rows[i]]);
    }
    island.blocks = k;
    // the small problem in its impulses; rows are scaled, so that the diagonal blocks are about one
    (0..n).for_each(|i| w[(i, i)] += alpha);
    let q: Vec<f64> =
        (0..n).map(|i| y[rows[i]] - (0..n).map(|j| w[(i, j)] * x[rows[j]]).sum::<f64>()).collect();
    let contacts = open.iter().enumerate().map(|(key, &i)| small_law(island, i, key as u64)).collect();
    let settings = Settings {
        tolerance: 1e-10,
        method: Method::Cascade,
        parallel: false,
        restarts: 0,
        ..Default::default()
    };
    let small = Solver::new(settings).solve(&Problem::from_w(Matrix::Dense(w), q, contacts)).ok()?;
    if small.status != Status::Solved {
        return None;
    }
    let change: Vec<f64> = (0..n).map(|j| small.r[j] - x[rows[j]]).collect();
    for (answer, c) in answers.chunks_exact(m).zip(change) {
        axpy(c, answer, x);
    }
    island.velocity(x, &mut y);
    Some(island.errors(x, &y).max())
}

/// Law of a cone in the small problem, where discs may share a normal impulse.
fn small_law(island: &Island, i: usize, key: u64) -> Contact {
    let c = &island.cones[i];
    let contact = law(c, island.q_s, key);
    match &c.owner {
        Some(o) => Contact { law: Law::Rolling { mu: island.slope(c, o) }, ..contact },
        None => contact,
    }
}

/// A contact with the law of a cone in scaled coordinates.
pub(super) fn law(c: &Cone, q_s: f64, key: u64) -> Contact {
    let s = c.scaled(q_s);
    let law = match c.kind {
        Kind::Soc | Kind::Convex => Law::Coulomb { mu: s.mu },
        Kind::Half => Law::Coulomb { mu: 0.0 },
        Kind::Disc | Kind::Share => Law::Loaded { bound: s.bound },
        Kind::Free => Law::Bilateral,
        Kind::Pair => Law::BilateralFriction { mu: s.mu },
    };
    Contact { law, rows: c.rows.d, key }
}
