//! Rolling and drilling resistance: discs that share the normal impulse of a contact (METH-CONE-MIXED)
//!
//! ```text
//! |m_R| ≤ μ_R r_N,  m_R opposite to ω_R;        |m_D| ≤ μ_D r_N,  m_D opposite to ω_D          (μ_R, μ_D are lengths)
//! ```
//!
//! Behind its contact each disc is a cone with a bound that follows another variable, `bound = μ_R r_N` (`cones::Owner`). In the natural
//! map, in Newton and on the paths this is one more term, a column of the linear system:
//!
//! ```text
//! dF_R = B_R dm_R + S_R dω_R + μ_R ∂F_R/∂bound dr_N                                Newton
//! x = (μ_R r_N, m_R),  ψ = (s, ω_R),  x ∘ ψ = τ e:   dω_R + P_TT dm_R + P_T0 μ_R dr_N = …     paths, the same as friction in METH-CONE-SPLIT
//! ```
//!
//! so that all laws are solved together by the same cascade, with a dense matrix or the graph of the contacts (the condensed form of the
//! bodies has no place for the column).
//!
//! Before that the normal impulses of the last solve serve as loads and are repeated, each solve from the last answer, until the laws hold with
//! the impulses themselves: where moments change normal impulses little a few warm solves do, in any form. Where they answer strongly,
//! the repetition jumps to and fro without an end (`r_N ← a − c r_N` with `|c| > 1`); two turns without half the error, or a hard one, end it. It
//! goes on, the loads moving by a part of the difference only, where the joint problem was too large or was not solved.
//!
//! Symmetric positive definite `W`: a solution exists, whatever the coefficients (Acary, Cadoux, Lemaréchal & Malick 2011, with one more
//! term `μ_R |ω_R|`). No guarantee that it is found: the status says so.

use super::cascade::{Counts, Stage};
use super::kernel::disc;
use super::problem::{Law, Problem, ProblemError};
use super::solver::{Solution, Solver, Status};
use crate::stop::Clock;

/// Most repetitions.
const MOST: usize = 60;
/// Solves with given loads that may fail before the rest is not tried.
const FAILURES: usize = 3;
/// Turns without half the error after which all laws are solved together.
const IDLE: usize = 1;
/// Largest problem (rows) for that: its matrix is dense.
const JOINT_ROWS: usize = 600;
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

/// The repetition: loads, and what it found so far.
struct Repeat {
    discs: Vec<Disc>,
    diagonal: Vec<f64>,
    /// the problem with given loads
    part: Problem,
    load: Vec<f64>,
    /// small enough to be solved as a whole
    joint: bool,
    turn: usize,
    /// part of the difference by which the loads move
    share: f64,
    before: f64,
    failed: usize,
    /// turns since the least error was halved
    idle: usize,
    best: Option<Solution>,
    counts: Counts,
    stage: Stage,
}

impl Repeat {
    fn new(solver: &mut Solver, p: &Problem, warm: bool) -> Result<Repeat, ProblemError> {
        let discs = discs(p);
        let mut part = p.clone();
        discs.iter().for_each(|d| part.contacts[d.contact].law = Law::Loaded { bound: 1.0 });
        let diagonal = solver.diagonal(&part)?;
        let last = |d: &Disc| if warm { solver.remembered(p.contacts[d.owner].key)[0].abs() } else { 0.0 };
        let load = discs.iter().map(last).collect();
        Ok(Repeat {
            discs,
            diagonal,
            part,
            load,
            joint: p.rows() <= JOINT_ROWS,
            turn: 0,
            share: 1.0,
            before: f64::INFINITY,
            failed: 0,
            idle: 0,
            best: None,
            counts: Counts::default(),
            stage: Stage::Trivial,
        })
    }

    /// Repeat until the laws hold, there is no hope, or `pause` says so. True: no more turns, the answer is the best one.
    fn run(
        &mut self,
        solver: &mut Solver,
        p: &Problem,
        warm: bool,
        clock: &Clock,
        pause: impl Fn(&Repeat) -> bool,
    ) -> Result<bool, ProblemError> {
        let mut out = Solution::default();
        while self.turn < MOST {
            for (d, load) in self.discs.iter().zip(&self.load) {
                self.part.contacts[d.contact].law = Law::Loaded { bound: d.mu * load };
            }
            solver.solve_loaded(&self.part, warm || self.turn > 0, clock, &mut out)?;
            self.turn += 1;
            self.counts.add(&out.counts);
            self.stage = out.stage.max(self.stage);
            if out.status == Status::NoSolution || out.status == Status::CriterionFails && !self.joint {
                self.best = Some(out);
                return Ok(true);
            }
            // the plain measure of the stage compares impulses with velocities: where those are large in their unit it fails alone
            let near = out.error_scaled < solver.settings.tolerance;
            self.failed += usize::from(out.status != Status::Solved && !near);
            add_errors(p, &self.discs, &self.diagonal, &mut out);
            let solved = out.status == Status::Solved && out.error() < solver.settings.tolerance;
            out.status = if solved { Status::Solved } else { Status::NotConverged };
            let error = out.error();
            let least = self.best.as_ref().map_or(f64::INFINITY, Solution::error);
            self.idle = if error < 0.5 * least { 0 } else { self.idle + 1 };
            self.share = if error > SLOW * self.before {
                f64::max(0.5 * self.share, 0.05)
            } else {
                f64::min(2.0 * self.share, 1.0)
            };
            self.before = error;
            for (d, load) in self.discs.iter().zip(&mut self.load) {
                *load += self.share * (out.r[d.normal].abs() - *load);
            }
            if self.best.is_none() || error < least {
                self.best = Some(out.clone());
            }
            if solved || clock.over() {
                return Ok(true);
            }
            if pause(self) {
                return Ok(false);
            }
        }
        Ok(true)
    }
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
        let mut repeat = Repeat::new(self, p, warm)?;
        let settings = self.settings;
        let joint = repeat.joint;
        if joint {
            // a load that needs other paths is not worth them
            self.settings.restarts = 0;
        }
        let hard = |r: &Repeat| r.failed == FAILURES || joint && (r.idle > IDLE || r.failed > 0);
        let first = repeat.run(self, p, warm, clock, hard);
        self.settings = settings;
        let mut over = first?;
        if !over && joint {
            self.solve_joint(p, &mut repeat, clock)?;
            over = repeat.best.as_ref().is_some_and(|b| b.status != Status::NotConverged) || clock.over();
        }
        if !over && repeat.failed < FAILURES {
            repeat.run(self, p, true, clock, |r| r.failed == FAILURES)?;
        }
        let Repeat { best, counts, stage, .. } = repeat;
        *out = best.unwrap_or_default();
        (out.counts, out.stage) = (counts, stage);
        Ok(())
    }

    /// All laws together, from the best answer of the repetition.
    fn solve_joint(&mut self, p: &Problem, repeat: &mut Repeat, clock: &Clock) -> Result<(), ProblemError> {
        if let Some(b) = &repeat.best {
            let mut row = 0;
            self.start_from(p.contacts.iter().map(|c| {
                let mut r = [0.0; 3];
                r[..c.rows].copy_from_slice(&b.r[row..row + c.rows]);
                row += c.rows;
                (c.key, r)
            }));
        }
        let mut out = Solution::default();
        self.solve_loaded(p, true, clock, &mut out)?;
        repeat.counts.add(&out.counts);
        repeat.stage = out.stage.max(repeat.stage);
        if out.status != Status::NotConverged || repeat.best.as_ref().is_none_or(|b| out.error() < b.error())
        {
            repeat.best = Some(out);
        }
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
