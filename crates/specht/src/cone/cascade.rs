//! The order of the methods, warm start and stopping (METH-CONE-CASCADE)
//!
//! ```text
//! 0  r0 = last impulses of the same contact keys (0 for new ones)
//! 1  Newton from r0                                   (only with r0)
//! 2  Gauss–Seidel, as long as it costs less than factorisations; Newton from there
//!    the split path of the last problem, from a stored point                       (only with r0)
//! 3  interior point A, wide neighbourhood, Newton hand-over; the same along the split path k = 0.1
//!    large islands: Newton, and where it stops places are solved alone (very large ones: after each of the two runs)
//! 4  split paths k = 1, 0.3, 3, 0.1, … by their Taylor series, through folds; then the first of them once more, further
//!    few contacts: scattered starts, then all modes in turn
//! 5  the answer with the smallest error, with its status; never silently
//! ```

use super::cones::{Kind, Way};
use super::interior::Ended;
use super::island::Island;
use super::modes;
use super::newton::{climb, newton, restart};
use super::nsgs;
use super::polish::polish;
use super::repair::{self, repair};
use super::taylor;
use super::wide::{self, Run, STALL_RESIDUAL};
use crate::stop::{Clock, Stop};

/// Which methods may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// the whole cascade
    #[default]
    Cascade,
    /// Gauss–Seidel only
    GaussSeidel,
    /// proximal Newton only
    Newton,
    /// interior point only (stages 3 and 4)
    InteriorPoint,
    /// stages 1 and 2: Newton from the last impulses, sweeps, Newton from there; nobody asks whether there is a solution
    Quick,
}

/// Settings of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// accepted error in both measures; default 1e-8, 1e-10 is possible
    pub tolerance: f64,
    /// methods; default the cascade
    pub method: Method,
    /// largest number of Gauss–Seidel sweeps in stage 2; default 400, spent only while they cost less than factorisations
    pub sweeps: usize,
    /// other split paths tried when the first one fails, the first of them once more and further when all have failed; default 6, raise it
    /// when the status says `NotConverged`
    pub restarts: usize,
    /// stop after this many seconds with the best answer; default none
    pub time_limit: Option<f64>,
    /// stop with the best answer when this is set; default nobody asks
    pub stop: Stop,
    /// start from the impulses of the same contact keys; default true
    pub warm: bool,
    /// solve islands in parallel and factor large ones with several threads, those of the present pool of rayon; the answer does not depend
    /// on it; default true
    pub parallel: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            tolerance: 1e-8,
            method: Method::Cascade,
            sweeps: 400,
            restarts: 6,
            time_limit: None,
            stop: Stop::default(),
            warm: true,
            parallel: true,
        }
    }
}

/// Where the answer came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// nothing to solve
    #[default]
    Trivial,
    /// Newton from the previous impulses
    Warm,
    /// Gauss–Seidel
    GaussSeidel,
    /// Newton after Gauss–Seidel
    Newton,
    /// interior point with long steps
    Wide,
    /// split path, by its Taylor series
    Split,
    /// all modes in turn (few planar contacts)
    Modes,
}

/// Effort spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Gauss–Seidel sweeps
    pub sweeps: usize,
    /// interior point iterations
    pub ipm: usize,
    /// Newton steps
    pub newton: usize,
    /// points with negative determinant (folds) on the arc
    pub negative: usize,
}

impl Counts {
    /// Factorisations: one in every iteration of an interior point or of Newton.
    pub(crate) fn factorisations(&self) -> u64 {
        (self.ipm + self.newton) as u64
    }

    pub(super) fn add(&mut self, other: &Counts) {
        self.sweeps += other.sweeps;
        self.ipm += other.ipm;
        self.newton += other.newton;
        self.negative += other.negative;
    }
}

/// What one island reports.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    pub stage: Stage,
    pub counts: Counts,
    pub plain: f64,
    pub scaled: f64,
    /// growth of x in the interior point with a residual that stays
    pub unbounded: bool,
}

const WIDE: Run = Run { low: 1e-3, high: 1e3, fraction: 0.95, iterations: 40, until: 0.0 };
/// Operations of a factorisation from which on the wide run hands over to Newton with repairs early.
const LARGE: f64 = 1e8;
/// Long steps fail where their path folds; along this one they solve a quarter of the lattices at which the joint path folds.
const SECOND: Way = Way::Split(0.1);
/// When the first wide run stops with a residual left, forces have to build up over many bodies, and impulses of size one are too small a
/// start: a tall tower would raise them step by step.
const TALL: f64 = 1e3;
/// Iterations along the first split path, and along the others.
const FIRST_PATH: usize = 400;
const OTHER_PATHS: usize = 150;
/// When all have failed: the first ones once more, so much further, as long as the error gives hope. Some paths rest for hundreds of
/// iterations between folds and then end.
const LONG_PATHS: usize = 4;
const LONG_PATH: usize = 1500;
const HOPE: f64 = 1e-2;
/// Iterations from a stored point.
const RESUMED: usize = 120;
/// Islands up to this many cones alternate sweeps and Newton before the interior point.
const FEW: usize = 9;
/// Most sweeps on them: Newton stands between.
const FEW_SWEEPS: usize = 16;
/// Newton steps after each turn.
const FEW_STEPS: usize = 8;
/// Factorisations of an interior point run that ends well.
const RUN: f64 = 15.0;
/// Below this error an answer is polished after every run.
const NEAR: f64 = 1e-5;
/// Scattered starts for them when everything else failed.
const STARTS: usize = 400;

/// Solve one island; `island.x` holds the start (zero when cold) and the answer.
pub(super) fn solve_island(island: &mut Island, s: &Settings, warm: bool, clock: &Clock) {
    island.form.set_limits(s.parallel, clock);
    let mut x = std::mem::take(&mut island.x);
    let mut y = std::mem::take(&mut island.y);
    let mut rep = Report::default();
    // half the tolerance inside: putting the answer into the cones may cost a little
    let inner = Settings { tolerance: 0.5 * s.tolerance, ..*s };
    attempt(island, &inner, warm, clock, &mut x, &mut rep);
    // the answer: admissible, with its own velocities and errors
    island.make_admissible(&mut x);
    island.velocity(&x, &mut y);
    let e = island.errors(&x, &y);
    (rep.plain, rep.scaled) = if island.q_s > 0.0 { (e.plain, e.scaled) } else { (0.0, 0.0) };
    island.x = x;
    island.y = y;
    island.report = rep;
}

fn attempt(island: &mut Island, s: &Settings, warm: bool, clock: &Clock, x: &mut [f64], rep: &mut Report) {
    if island.q_s == 0.0 {
        x.fill(0.0);
        return;
    }
    let tol = s.tolerance;
    let mut y = std::mem::take(&mut island.t4);
    island.make_admissible(x);
    island.velocity(x, &mut y);
    let mut e = island.errors(x, &y).max();
    island.t4 = y;
    rep.stage = if warm { Stage::Warm } else { Stage::Trivial };
    if e < tol {
        return;
    }
    // 1 Newton from the previous impulses
    if warm && matches!(s.method, Method::Cascade | Method::Newton | Method::Quick) {
        let (en, k) = restart(island, x, tol, 10);
        rep.counts.newton += k;
        e = en;
        if e < tol {
            return;
        }
    }
    // 2 Gauss–Seidel
    if matches!(s.method, Method::Cascade | Method::GaussSeidel | Method::Quick) {
        e = sweeps(island, s, x, e, clock, rep);
        if e < tol {
            return;
        }
    }
    if s.method == Method::Newton {
        let (en, k) = newton(island, x, tol, 60);
        rep.counts.newton += k;
        if en < tol {
            rep.stage = Stage::Newton;
        }
        return;
    }
    if matches!(s.method, Method::GaussSeidel | Method::Quick) {
        return;
    }
    // the path of the last problem
    if warm
        && s.method == Method::Cascade
        && let Some(end) = taylor::resume(island, RESUMED, tol, clock)
    {
        rep.counts.add(&end.counts);
        if end.error < e {
            x.copy_from_slice(&island.ipm.best);
            e = end.error;
            rep.stage = Stage::Split;
        }
        if e < tol {
            return;
        }
    }
    // 3, 4 interior point
    interior(island, s, x, e, clock, rep);
}

fn sweeps(
    island: &mut Island,
    s: &Settings,
    x: &mut [f64],
    mut e: f64,
    clock: &Clock,
    rep: &mut Report,
) -> f64 {
    let tol = s.tolerance;
    let few = island.cones.len() <= FEW;
    let mut y = std::mem::take(&mut island.t4);
    let mut best = std::mem::take(&mut island.keep);
    best.clear();
    best.extend_from_slice(x);
    let mut best_e = e;
    let only = s.method == Method::GaussSeidel;
    let step = if few { 4 } else { 10 };
    let most = if few && !only { s.sweeps.min(FEW_SWEEPS) } else { s.sweeps };
    let mut done = 0;
    while done < most && !clock.over() {
        if !nsgs::sweep(island, x, step) {
            break;
        }
        done += step;
        rep.counts.sweeps += step;
        island.velocity(x, &mut y);
        let en = island.errors(x, &y).max();
        let pays = en < e / 3.0 || (!few && cheaper(island, tol, e, en, step));
        e = en;
        if e < best_e {
            best_e = e;
            best.copy_from_slice(x);
            rep.stage = Stage::GaussSeidel;
        }
        if e < tol {
            break;
        }
        if !only && (few || (e < 1e-3 && !pays)) {
            let mut z = std::mem::take(&mut island.t5);
            z.clear();
            z.extend_from_slice(x);
            let (en, k) =
                if few { climb(island, &mut z, tol, FEW_STEPS) } else { restart(island, &mut z, tol, 12) };
            rep.counts.newton += k;
            if en < best_e {
                best_e = en;
                best.copy_from_slice(&z);
                rep.stage = Stage::Newton;
            }
            island.t5 = z;
            if en < tol {
                break;
            }
        }
        if !only && !few && !pays {
            break;
        }
    }
    x.copy_from_slice(&best);
    island.keep = best;
    island.t4 = y;
    best_e
}

/// Whether sweeps at the present rate (`before` to `now` within `step`) reach the tolerance for less than an interior point run.
fn cheaper(island: &Island, tol: f64, before: f64, now: f64, step: usize) -> bool {
    let rate = (before / now).ln() / step as f64;
    rate > 0.0 && (now / tol).ln() / rate * island.form.sweep_flops() < RUN * island.form.flops()
}

/// The paths of the interior point, and the best answer so far.
struct Search<'a> {
    island: &'a mut Island,
    x: &'a mut [f64],
    best: f64,
    tol: f64,
    clock: &'a Clock,
    rep: &'a mut Report,
}

fn interior(island: &mut Island, s: &Settings, x: &mut [f64], best: f64, clock: &Clock, rep: &mut Report) {
    let few = island.cones.len() <= FEW;
    let alone = island.wide_only;
    // the bound of a guide is a variable of the split path only
    let guides = island.cones.iter().any(|c| matches!(c.kind, Kind::Pair | Kind::Share));
    let mut search = Search { island, x, best, tol: s.tolerance, clock, rep };
    let size = if guides { 1.0 } else { search.long_steps(s.method == Method::Cascade) };
    if !search.over() && !alone {
        search.paths(s.restarts, size);
    }
    if search.best > s.tolerance && few {
        let best = scattered(search.island, search.x, search.best, s.tolerance, clock, search.rep);
        if best > s.tolerance
            && !clock.over()
            && modes::in_turn(search.island, search.x, s.tolerance).is_some()
        {
            search.rep.stage = Stage::Modes;
        }
    }
}

impl Search<'_> {
    fn over(&self) -> bool {
        self.best < self.tol || self.clock.over()
    }

    /// Keep the end of a run when it is the best so far; what is near is polished.
    fn take(&mut self, stage: Stage, end: &Ended) {
        self.rep.counts.add(&end.counts);
        if end.error < self.best {
            self.x.copy_from_slice(&self.island.ipm.best);
            self.best = end.error;
            self.rep.stage = stage;
        }
        self.polish();
    }

    fn polish(&mut self) {
        if self.best > self.tol && self.best < NEAR {
            let counts = &mut self.rep.counts;
            self.best = polish(self.island, self.x, self.best, self.tol, self.clock, counts);
        }
    }

    /// Long steps along two paths, then repairs of large islands; returns the size of the first impulses for other paths.
    fn long_steps(&mut self, repairs: bool) -> f64 {
        let linked = self.island.linked();
        let repairs = repairs && self.island.cones.len() >= repair::LEAST && !linked;
        let large = self.island.form.flops() > LARGE;
        let run = Run { until: if repairs && large { repair::ENTER } else { 0.0 }, ..WIDE };
        // loads stay with the first path: which of several self-stresses it ends at decides the next loads
        let plain = self.island.cones.iter().all(|c| match c.kind {
            Kind::Disc => c.owner.is_some(),
            kind => !matches!(kind, Kind::Pair | Kind::Share),
        });
        let many = self.island.cones.len() > FEW && plain;
        let mut size = 1.0;
        let end = wide::run(self.island, Way::Joint, &run, self.tol, self.clock);
        self.rep.unbounded = end.size > 1e3 && end.residual > 1e-6;
        if end.residual > STALL_RESIDUAL && many && !linked {
            size = TALL;
        }
        self.take(Stage::Wide, &end);
        // where factorisations are cheap a second run costs less than repairs of errors that are everywhere
        let enter = if large { repair::NEAR } else { repair::SOON };
        if repairs && self.best < enter {
            self.repair(large);
        }
        if many && size == 1.0 && !large && !self.island.wide_only && !self.over() {
            let end = wide::run(self.island, SECOND, &run, self.tol, self.clock);
            let better = end.error < self.best;
            self.take(Stage::Wide, &end);
            if repairs && better && self.best < enter {
                self.repair(large);
            }
        }
        size
    }

    /// Repairs of the best answer; places grow where other paths are expensive.
    fn repair(&mut self, grow: bool) {
        if self.over() {
            return;
        }
        let mut z = self.x.to_vec();
        let (best, counts) = (self.best, &mut self.rep.counts);
        let e = repair(self.island, &mut z, best, grow, self.tol, self.clock, counts);
        if e < best {
            self.x.copy_from_slice(&z);
            self.best = e;
            self.rep.stage = Stage::Wide;
        }
        self.polish();
    }

    /// The split paths in turn, then the first of them once more and further.
    fn paths(&mut self, restarts: usize, size: f64) {
        let long = restarts.saturating_sub(1).min(LONG_PATHS);
        let first = (0..=restarts).map(|j| (j, if j == 0 { FIRST_PATH } else { OTHER_PATHS }));
        for (j, steps) in first.chain((0..long).map(|j| (j, LONG_PATH))) {
            if steps == LONG_PATH && (self.best > HOPE || self.island.cones.len() <= FEW) {
                break;
            }
            let end = taylor::run(self.island, ratio(j), size, steps, self.tol, self.clock);
            self.take(Stage::Split, &end);
            // growing impulses and a residual that stays: most likely there is no solution, other paths will not find one
            if self.over() || (steps == FIRST_PATH && self.rep.unbounded && self.best > 1e-3) {
                break;
            }
        }
    }
}

/// Factor `k` of the split paths in turn, from 0 on: 1, 0.3, 3, 0.1, 10, 0.03, …
fn ratio(j: usize) -> f64 {
    let size = 10f64.powf(0.5 * j.div_ceil(2) as f64);
    if j % 2 == 1 { 1.0 / size } else { size }
}

/// Few contacts and still no answer: sweeps and Newton from many scattered starts (seeded), cheap at this size.
fn scattered(
    island: &mut Island,
    x: &mut [f64],
    mut best: f64,
    tol: f64,
    clock: &Clock,
    rep: &mut Report,
) -> f64 {
    let mut rng = super::random::Rng::new(1);
    let mut z = std::mem::take(&mut island.t5);
    z.clear();
    z.resize(x.len(), 0.0);
    for k in 0..STARTS {
        if clock.over() {
            break;
        }
        let size = 10f64.powf(2.0 * rng.uniform() - 1.0);
        z.iter_mut().for_each(|v| *v = size * rng.normal());
        island.make_admissible(&mut z);
        if k % 2 == 0 {
            nsgs::sweep(island, &mut z, 20);
            rep.counts.sweeps += 20;
        }
        let (e, steps) = newton(island, &mut z, tol, 12);
        rep.counts.newton += steps;
        if e < best {
            best = e;
            x.copy_from_slice(&z);
            rep.stage = Stage::Newton;
        }
        if best < tol {
            break;
        }
    }
    island.t5 = z;
    best
}
