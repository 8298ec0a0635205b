//! The solver: problem in, answer with status and both errors out.

use super::cascade::{Clock, Counts, Settings, Stage, solve_island};
use super::exist::{self, Existence};
use super::prep::Prep;
use super::problem::{Problem, ProblemError};
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
    /// `‖F_1‖₂ / ‖q‖₂`
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
        self.prep.load(p)?;
        let warm = self.settings.warm && !self.memory.is_empty();
        self.start(p, warm);
        // solve the islands
        let clock = Clock::new(self.settings.time_limit);
        let settings = self.settings;
        let islands = &mut self.prep.islands;
        let rows: usize = islands.iter().map(|i| i.m).sum();
        if settings.parallel && islands.len() > 1 && rows > 60 {
            islands.par_iter_mut().for_each(|i| solve_island(i, &settings, warm, &clock));
        } else {
            islands.iter_mut().for_each(|i| solve_island(i, &settings, warm, &clock));
        }
        self.collect(p, out);
        out.certificate.clear();
        if out.status == Status::NotConverged {
            let grew = self.prep.islands.iter().any(|i| i.report.unbounded);
            self.explain(p, grew, out);
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

    /// A failed solve: is there a reason? METH-CONE-EXIST
    fn explain(&self, p: &Problem, grew: bool, out: &mut Solution) {
        if let Some(d) = exist::certificate(p) {
            out.certificate = d;
            out.status = Status::NoSolution;
        } else if grew && exist::criterion(p) == Ok(Existence::Fails) {
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
                    let key = p.contacts[c.contact].key;
                    if let Ok(k) = self.memory.binary_search_by_key(&key, |m| m.0) {
                        for l in 0..c.rows.d {
                            x[l] = self.memory[k].1[c.local[l]] / (c.stretch[l] * c.scale[l] * island.q_s);
                        }
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
        out.status = if ok { Status::Solved } else { Status::NotConverged };
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
