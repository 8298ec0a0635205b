//! Rolling and drilling resistance: discs that share the normal impulse of a contact (METH-CONE-MIXED)
//!
//! ```text
//! |m_R| ≤ μ_R r_N,  m_R opposite to ω_R;        |m_D| ≤ μ_D r_N,  m_D opposite to ω_D          (μ_R, μ_D are lengths)
//! ```
//!
//! Each disc is solved with the normal impulse of the last solve as its load; the loads are repeated, each solve from the last answer,
//! until the laws hold with the impulses themselves. Moments change normal impulses little, so a few repetitions do; where they answer
//! strongly, the loads move by a part of the difference only.

use super::cascade::{Counts, Stage};
use super::kernel::disc;
use super::problem::{Law, Problem, ProblemError};
use super::solver::{Solution, Solver, Status};
use crate::stop::Clock;

/// Most repetitions.
const MOST: usize = 60;
/// Solves with given loads that may fail before the rest is not tried.
const FAILURES: usize = 3;
/// A repetition that leaves more than this part of the error shortens the following one, another lengthens it.
const SLOW: f64 = 0.9;

/// A disc and the normal row that bounds it.
struct Disc {
    contact: usize,
    /// first row, number of rows
    row: usize,
    rows: usize,
    /// contact and row of the normal impulse
    owner: usize,
    normal: usize,
    mu: f64,
}

/// Whether some contact has this law.
pub(super) fn any(p: &Problem) -> bool {
    p.contacts.iter().any(|c| matches!(c.law, Law::Rolling { .. }))
}

fn discs(p: &Problem) -> Vec<Disc> {
    let (mut row, mut owner, mut normal) = (0, 0, 0);
    let mut out = Vec::new();
    for (contact, c) in p.contacts.iter().enumerate() {
        match c.law {
            Law::Rolling { mu } => out.push(Disc { contact, row, rows: c.rows, owner, normal, mu }),
            _ => (owner, normal) = (contact, row),
        }
        row += c.rows;
    }
    out
}

impl Solver {
    /// Solve a problem with rolling contacts.
    pub(super) fn solve_rolling(
        &mut self,
        p: &Problem,
        warm: bool,
        clock: &Clock,
        out: &mut Solution,
    ) -> Result<(), ProblemError> {
        let discs = discs(p);
        let diagonal = self.diagonal(p)?;
        let mut part = p.clone();
        let last = |d: &Disc| if warm { self.remembered(p.contacts[d.owner].key)[0].abs() } else { 0.0 };
        let mut load: Vec<f64> = discs.iter().map(last).collect();
        let (mut counts, mut stage) = (Counts::default(), Stage::Trivial);
        let mut best: Option<Solution> = None;
        let (mut share, mut before, mut failed) = (1.0, f64::INFINITY, 0);
        for turn in 0..MOST {
            for (d, load) in discs.iter().zip(&load) {
                part.contacts[d.contact].law = Law::Loaded { bound: d.mu * load };
            }
            self.solve_loaded(&part, warm || turn > 0, clock, out)?;
            counts.add(&out.counts);
            stage = out.stage.max(stage);
            if matches!(out.status, Status::NoSolution | Status::CriterionFails) {
                break;
            }
            // the plain measure of the stage compares impulses with velocities: where those are large in their unit it fails alone
            let near = out.error_scaled < self.settings.tolerance;
            failed += usize::from(out.status != Status::Solved && !near);
            add_errors(p, &discs, &diagonal, out);
            let solved = out.status == Status::Solved && out.error() < self.settings.tolerance;
            out.status = if solved { Status::Solved } else { Status::NotConverged };
            if best.as_ref().is_none_or(|b| out.error() < b.error()) {
                best = Some(out.clone());
            }
            if solved || clock.over() || failed == FAILURES {
                break;
            }
            share = if out.error() > SLOW * before {
                f64::max(0.5 * share, 0.05)
            } else {
                f64::min(2.0 * share, 1.0)
            };
            before = out.error();
            for (d, load) in discs.iter().zip(&mut load) {
                *load += share * (out.r[d.normal].abs() - *load);
            }
        }
        if let Some(b) = best.filter(|b| b.error() < out.error()) {
            *out = b;
        }
        (out.counts, out.stage) = (counts, stage);
        Ok(())
    }
}

/// Errors of the discs with the normal impulses of the answer.
fn add_errors(p: &Problem, discs: &[Disc], diagonal: &[f64], s: &mut Solution) {
    let scale = crate::linalg::max_abs(&p.q);
    let norm = p.q.iter().map(|q| (q / scale).powi(2)).sum::<f64>().sqrt() * scale;
    if !(scale > 0.0) {
        return;
    }
    let (mut plain, mut worst) = (0.0_f64, 0.0_f64);
    for d in discs {
        let size = diagonal[d.contact];
        let bound = d.mu * s.r[d.normal].abs();
        let row = |v: &[f64], l: usize| if l < d.rows { v[d.row + l] } else { 0.0 };
        let map = |rho: f64| {
            let m = [row(&s.r, 0), row(&s.r, 1)];
            let z = disc([m[0] - rho * row(&s.u, 0), m[1] - rho * row(&s.u, 1), 0.0], bound);
            [m[0] - z[0], m[1] - z[1]]
        };
        // both in velocities: an impulse beside a velocity would make the measure depend on the unit of mass
        let f = map(1.0 / size).map(|f| f * size);
        plain += f.iter().map(|f| f * f).sum::<f64>();
        worst = f.iter().fold(worst, |w, f| w.max(f.abs()));
    }
    s.error_plain = (s.error_plain.powi(2) + plain / norm.powi(2)).sqrt();
    s.error_scaled = s.error_scaled.max(worst / scale);
}
