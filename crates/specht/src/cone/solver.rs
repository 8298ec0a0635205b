//! The solver: problem in, answer with status and both errors out.

use super::cascade::{Counts, Method, Settings, Stage, solve_island};
use super::exist::{self, Existence};
use super::island::Island;
use super::prep::Prep;
use super::problem::{Law, Problem, ProblemError};
use super::rolling;
use crate::stop::Clock;
use rayon::prelude::*;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// both errors are below the tolerance
    #[default]
    Solved,
    /// the best answer found, with its errors
    NotConverged,
    /// there is none: [`Solution::certificate`] holds `d_N ≥ 0` with `Hᵀd = 0`, `d·q < 0` (the normals alone squeeze)
    NoSolution,
    /// not converged, and the sufficient criterion for existence fails: undecided
    CriterionFails,
}

/// Answer of a solve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solution {
    /// How it ended.
    pub status: Status,
    /// The hardest stage any island needed.
    pub stage: Stage,
    /// Effort, summed over the islands.
    pub counts: Counts,
    /// `‖F_1‖₂ / ‖q‖₂`, less what the rounding of the impulses adds (2 ε of their norm)
    pub error_plain: f64,
    /// `max |F_ρi| / (ρ_i max|q|)`
    pub error_scaled: f64,
    /// Impulses.
    pub r: Vec<f64>,
    /// Velocities `W r + q`.
    pub u: Vec<f64>,
    /// Contacts with `W_NN ≤ μ|W_NT|`: several solutions or none are possible.
    pub painleve: Vec<usize>,
    /// Number of independent islands.
    pub islands: usize,
    /// With [`Status::NoSolution`]: one entry per row; empty otherwise.
    pub certificate: Vec<f64>,
}

impl Solution {
    /// The larger of both errors; infinite when one is not a number.
    pub fn error(&self) -> f64 {
        let e = self.error_plain.max(self.error_scaled);
        if self.error_plain.is_nan() || self.error_scaled.is_nan() { f64::INFINITY } else { e }
    }
}

/// Coefficients above this are reached in steps …
const STEEP: f64 = 20.0;
/// … of this factor.
const RAISE: f64 = 4.0;

/// Largest coefficient of friction.
fn steepest(p: &Problem) -> f64 {
    p.contacts.iter().fold(0.0, |m, c| match c.law {
        Law::Coulomb { mu } | Law::BilateralFriction { mu } => mu.max(m),
        Law::Elliptic { mu } => mu[0].max(mu[1]).max(m),
        _ => m,
    })
}

/// The law with a coefficient of at most `most`; ellipses keep their shape.
fn limited(law: Law, most: f64) -> Law {
    match law {
        Law::Coulomb { mu } => Law::Coulomb { mu: mu.min(most) },
        Law::BilateralFriction { mu } => Law::BilateralFriction { mu: mu.min(most) },
        Law::Elliptic { mu } => {
            let f = (most / mu[0].max(mu[1])).min(1.0);
            Law::Elliptic { mu: [f * mu[0], f * mu[1]] }
        }
        other => other,
    }
}

/// Whether some contact is at its bound, so that a larger coefficient changes the answer.
fn slides(p: &Problem, s: &Solution) -> bool {
    let mut row = 0;
    s.status != Status::Solved
        || p.contacts.iter().any(|c| {
            let r = &s.r[row..row + c.rows];
            row += c.rows;
            let t = r[1..].iter().map(|v| v * v).sum::<f64>().sqrt();
            match c.law {
                Law::Coulomb { mu } | Law::BilateralFriction { mu } => t > 0.999 * mu * r[0].abs() && t > 0.0,
                Law::Elliptic { mu } => t > 0.999 * mu[0].min(mu[1]) * r[0] && t > 0.0,
                _ => false,
            }
        })
}

/// Impulses of a key, zero when unknown.
fn remembered(memory: &[(u64, [f64; 3])], key: u64) -> [f64; 3] {
    memory.binary_search_by_key(&key, |m| m.0).map_or([0.0; 3], |k| memory[k].1)
}

/// Solver with its workspace; repeated solves of the same structure do not allocate.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    /// Settings, may be changed between solves.
    pub settings: Settings,
    prep: Prep,
    /// (key, impulses) of the last solve, sorted by key
    memory: Vec<(u64, [f64; 3])>,
}

/// Solve one problem with the default settings.
///
/// ```
/// use specht::cone::{Contact, Matrix, Problem, Sparse, solve};
///
/// // a mass of 2 kg falls with 1 m/s on a table and moves sideways with 0.3 m/s; rows N, T1, T2
/// let mass = Matrix::Sparse(Sparse::diagonal(&[2.0; 3]));
/// let rows = Matrix::Sparse(Sparse::diagonal(&[1.0; 3]));
/// let contact = vec![Contact::spatial(0.5, 0)];
/// let problem = Problem::from_bodies(mass, rows, &[-1.0, 0.3, 0.0], vec![0.0; 3], contact);
/// let answer = solve(&problem).unwrap();
/// // it sticks: the impulses stop it, and friction is below μ r_N = 1 N s
/// assert!((answer.r[0] - 2.0).abs() < 1e-9 && (answer.r[1] + 0.6).abs() < 1e-9);
/// ```
pub fn solve(p: &Problem) -> Result<Solution, ProblemError> {
    Solver::default().solve(p)
}

impl Solver {
    /// A solver with these settings.
    pub fn new(settings: Settings) -> Self {
        Solver { settings, ..Default::default() }
    }

    /// Forget the impulses of the last solve.
    pub fn forget(&mut self) {
        self.memory.clear();
    }

    /// Solve.
    pub fn solve(&mut self, p: &Problem) -> Result<Solution, ProblemError> {
        let mut s = Solution::default();
        self.solve_into(p, &mut s)?;
        Ok(s)
    }

    /// Solve into an answer whose storage is reused.
    pub fn solve_into(&mut self, p: &Problem, out: &mut Solution) -> Result<(), ProblemError> {
        p.check()?;
        let tol = self.settings.tolerance;
        if !(tol > 0.0 && tol.is_finite()) {
            return Err(ProblemError::Setting { name: "tolerance", value: tol });
        }
        let clock = Clock::new(self.settings.time_limit, self.settings.stop);
        let warm = self.settings.warm && !self.memory.is_empty();
        if rolling::any(p) {
            return self.solve_rolling(p, warm, &clock, out);
        }
        self.solve_loaded(p, warm, &clock, out)
    }

    /// Solve a place of a larger island, which has its own clock, without split paths when `wide_only`; nobody asks whether there is a
    /// solution.
    pub(super) fn solve_place(
        &mut self,
        p: &Problem,
        wide_only: bool,
        clock: &Clock,
    ) -> Result<Solution, ProblemError> {
        let (mut out, settings) = (Solution::default(), self.settings);
        self.prep.load(p)?;
        self.start(p, true);
        for island in &mut self.prep.islands {
            island.wide_only = wide_only;
            solve_island(island, &settings, true, clock);
        }
        self.collect(p, &mut out);
        Ok(out)
    }

    /// Operations of the factorisations of the last solve, about.
    pub(super) fn work(&self) -> f64 {
        let one = |i: &Island| i.form.flops() * i.report.counts.factorisations() as f64;
        self.prep.islands.iter().map(one).sum()
    }

    /// Solve a problem whose discs have their loads.
    pub(super) fn solve_loaded(
        &mut self,
        p: &Problem,
        warm: bool,
        clock: &Clock,
        out: &mut Solution,
    ) -> Result<(), ProblemError> {
        let settings = self.settings;
        if settings.method == Method::Cascade && steepest(p) > STEEP {
            return self.solve_steep(p, warm, clock, out);
        }
        self.once(p, &settings, warm, clock, out)
    }

    /// Steep cones are nearly half-spaces, and methods that walk through their interior or across them get lost. Contacts that
    /// stick or are open stay a solution when μ grows, so the coefficients are raised from 1 in steps, each from the last answer.
    fn solve_steep(
        &mut self,
        p: &Problem,
        warm: bool,
        clock: &Clock,
        out: &mut Solution,
    ) -> Result<(), ProblemError> {
        let settings = self.settings;
        if warm {
            let memory = self.memory.clone();
            self.once(p, &Settings { method: Method::Newton, ..settings }, true, clock, out)?;
            if out.status == Status::Solved {
                return Ok(());
            }
            self.memory = memory;
        }
        let mut part = p.clone();
        let (end, mut mu) = (steepest(p), 1.0_f64);
        let (mut counts, mut stage) = (Counts::default(), Stage::Trivial);
        let mut started = warm;
        loop {
            for (c, whole) in part.contacts.iter_mut().zip(&p.contacts) {
                c.law = limited(whole.law, mu);
            }
            let last = mu >= end;
            let quick = Settings { restarts: if last { settings.restarts } else { 1 }, ..settings };
            self.once(if last { p } else { &part }, &quick, started, clock, out)?;
            out.counts.add(&counts);
            out.stage = out.stage.max(stage);
            (counts, stage) = (out.counts, out.stage);
            started = true;
            if last {
                break;
            }
            mu = if slides(&part, out) { RAISE * mu } else { end };
        }
        if out.status == Status::Solved || out.status == Status::NoSolution || clock.over() {
            return Ok(());
        }
        // another way to the end
        let best = out.clone();
        self.once(p, &settings, false, clock, out)?;
        out.counts.add(&counts);
        if out.status != Status::Solved && out.error() > best.error() {
            *out = best;
        }
        Ok(())
    }

    /// The cascade on every island.
    fn once(
        &mut self,
        p: &Problem,
        settings: &Settings,
        warm: bool,
        clock: &Clock,
        out: &mut Solution,
    ) -> Result<(), ProblemError> {
        self.prep.load(p)?;
        self.start(p, warm);
        let islands = &mut self.prep.islands;
        let rows: usize = islands.iter().map(|i| i.m).sum();
        if settings.parallel && islands.len() > 1 && rows > 60 {
            islands.par_iter_mut().for_each(|i| solve_island(i, settings, warm, clock));
        } else {
            islands.iter_mut().for_each(|i| solve_island(i, settings, warm, clock));
        }
        self.collect(p, out);
        out.certificate.clear();
        if out.status == Status::NotConverged && settings.method != Method::Quick && !clock.over() {
            let grew = self.prep.islands.iter().any(|i| i.report.unbounded);
            self.explain(p, grew, clock, out);
        }
        Ok(())
    }

    /// `tr W_ii / d` of every contact.
    pub(super) fn diagonal(&mut self, p: &Problem) -> Result<Vec<f64>, ProblemError> {
        self.prep.load(p)?;
        let mut out = vec![1.0; p.contacts.len()];
        for c in self.prep.islands.iter().flat_map(|i| &i.cones) {
            out[c.contact] = 1.0 / c.rho;
        }
        Ok(out)
    }

    /// Start from the impulses of another solver's last answer.
    pub(super) fn remember(&mut self, other: &Solver) {
        self.memory.clone_from(&other.memory);
    }

    /// Start from these impulses, by key.
    pub(crate) fn start_from(&mut self, impulses: impl Iterator<Item = (u64, [f64; 3])>) {
        self.memory.clear();
        self.memory.extend(impulses);
        self.memory.sort_unstable_by_key(|m| m.0);
    }

    /// Impulses of a key in the last answer, zero when unknown.
    pub(super) fn remembered(&self, key: u64) -> [f64; 3] {
        remembered(&self.memory, key)
    }

    /// A failed solve: is there a reason? METH-CONE-EXIST
    fn explain(&self, p: &Problem, grew: bool, clock: &Clock, out: &mut Solution) {
        if let Some(d) = exist::certificate(p) {
            out.certificate = d;
            out.status = Status::NoSolution;
        } else if grew && exist::decide(p, clock) == Ok(Existence::Fails) {
            out.status = Status::CriterionFails;
        }
    }

    /// Starting values by contact key, zero when unknown.
    fn start(&mut self, p: &Problem, warm: bool) {
        for island in &mut self.prep.islands {
            for i in 0..island.cones.len() {
                let c = &island.cones[i];
                let mut x = [0.0; 3];
                if warm && island.q_s > 0.0 {
                    let r = remembered(&self.memory, p.contacts[c.contact].key);
                    for l in 0..c.rows.d {
                        x[l] = r[c.local[l]] / (c.stretch[l] * c.scale[l] * island.q_s);
                    }
                }
                c.rows.put(&x, &mut island.x);
            }
        }
    }

    fn collect(&mut self, p: &Problem, out: &mut Solution) {
        let m = p.q.len();
        out.r.clear();
        out.r.resize(m, 0.0);
        out.u.clear();
        out.u.extend_from_slice(&p.q);
        out.stage = Stage::Trivial;
        out.counts = Counts::default();
        out.painleve.clear();
        out.islands = self.prep.islands.len();
        let (mut plain, mut scaled, mut q_max) = (0.0_f64, 0.0_f64, 0.0_f64);
        let q_norm = p.q.iter().map(|q| q * q).sum::<f64>().sqrt();
        let q_norm = if q_norm > 0.0 { q_norm } else { crate::linalg::max_abs(&p.q) };
        let mut ok = true;
        for island in &self.prep.islands {
            let rep = &island.report;
            ok &= rep.plain < self.settings.tolerance && rep.scaled < self.settings.tolerance;
            plain += (rep.plain * island.q_norm).powi(2);
            scaled = scaled.max(rep.scaled * island.q_max);
            q_max = q_max.max(island.q_max);
            out.stage = out.stage.max(rep.stage);
            out.counts.sweeps += rep.counts.sweeps;
            out.counts.ipm += rep.counts.ipm;
            out.counts.newton += rep.counts.newton;
            out.counts.negative += rep.counts.negative;
            for (i, c) in island.cones.iter().enumerate() {
                let (r, _) = island.physical(i, &island.x, &island.y);
                for l in 0..c.rows.d {
                    out.r[c.source[l]] = r[l] * island.q_s * c.stretch[l];
                }
                let a = &island.diag[i];
                if c.mu > 0.0 && a[0][0] <= (a[0][1].powi(2) + a[0][2].powi(2)).sqrt() {
                    out.painleve.push(c.contact);
                }
            }
        }
        out.painleve.sort_unstable();
        self.prep.add_w_times(p, &out.r, &mut out.u);
        out.error_plain = if q_norm > 0.0 { plain.sqrt() / q_norm } else { 0.0 };
        out.error_scaled = if q_max > 0.0 { scaled / q_max } else { 0.0 };
        let finite = out.r.iter().chain(&out.u).all(|v| v.is_finite());
        out.status = if ok && finite { Status::Solved } else { Status::NotConverged };
        // remember by key
        self.memory.clear();
        let mut row = 0;
        for c in &p.contacts {
            let mut r = [0.0; 3];
            r[..c.rows].copy_from_slice(&out.r[row..row + c.rows]);
            row += c.rows;
            self.memory.push((c.key, r));
        }
        self.memory.sort_unstable_by_key(|m| m.0);
    }
}
