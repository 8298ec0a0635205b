//! The contact problem of one step of a pile: points that touch, and the contacts of the file.

mod push;

pub(super) use push::Push;

use crate::cone::{self, Contact, Law, Matrix, Operator, Problem, Solver, Sparse};
use crate::linalg::MassFactor;
use crate::shape::{V3, cross, sub};
use crate::system::{ContactInfo, Eval, Mode, Normal, Restitution, Touching};

use super::super::operator::{Whole, fill_row};
use super::super::tolerances::{ACCEPTED, CONE, MOVES};
use super::loose::Loose;
use super::points::{Last, Point, Points};
use super::sweeps::{self, Sweeps};

/// Rows up to which a problem is small, and up to which it is middling.
const SIZES: [usize; 2] = [60, 600];
/// Accepted error of large piles, relative to the velocities of the step.
const LARGE: f64 = 1e-8;
/// A step of the ladder: sweeps over loose bodies before it, a method, its sweeps, its tolerance (at least), and the error with which it is content.
type Rung = (usize, cone::Method, usize, f64, f64);
/// Methods for large problems before the whole cascade, whose path through the interior takes several hundred factorisations for the last digits
/// of a wall that is hit, and seldom gets there. Sweeps and Newton in turn bring most below 10⁻⁵ without it.
const LADDER: [Rung; 8] = [
    (0, cone::Method::Quick, 200, 0.0, 1e-6),
    (200, cone::Method::Quick, 20, 0.0, 1e-6),
    (800, cone::Method::Quick, 20, 0.0, 1e-5),
    (1600, cone::Method::Quick, 20, 0.0, 1e-5),
    (1600, cone::Method::Quick, 20, 0.0, 1e-5),
    (3200, cone::Method::Quick, 20, 0.0, 1e-5),
    (0, cone::Method::InteriorPoint, 0, 1e-6, 0.0),
    (0, cone::Method::Quick, 200, 0.0, 1e-5),
];
/// The same for islands of balls that sweeps did not solve: wedged. Their contacts change from step to step, so that the path of the last problem leads
/// nowhere: a cold run through the interior, with Newton and sweeps at its end, is shorter.
const WEDGED: [Rung; 2] =
    [(0, cone::Method::Quick, 10, 0.0, 0.0), (0, cone::Method::InteriorPoint, 0, 0.0, ACCEPTED)];
/// Error of the last impulses from which sweeps come before Newton's steps.
const FAR: f64 = 1e-3;
/// Part of the accepted error from which another start is looked at.
const SURE: f64 = 0.1;
/// Rows of an island of balls up to which the cone solver is asked at once, unless the pile is large.
const FEW: usize = 30;
/// Sweeps at most over such an island of a large pile, and the part of the tolerance they aim at: as exact as the solver would be.
const SHORT: usize = 60;
const BEYOND: f64 = 1e-3;
/// Sweeps at most after the cone solver, and for balls before it.
const SWEEPS: [usize; 2] = [2000, 1000];
/// A large island is content with this error after all its sweeps.
const SERVES: f64 = 1e-6;
/// Rows from which islands are solved in parallel.
const PARALLEL: usize = 300;
const NONE: usize = usize::MAX;

/// What the file's own contacts are asked in a step.
pub(super) struct Given<'a> {
    pub info: &'a [ContactInfo],
    pub modes: &'a [Mode],
    pub restitution: &'a [Restitution],
    /// Sizes of the gaps, by row.
    pub sizes: &'a [f64],
}

/// The problem, its answer, and what is kept between steps.
#[derive(Clone, Debug)]
pub(super) struct Step {
    solver: Solver,
    problem: Problem,
    pub answer: cone::Solution,
    pub mass: MassFactor,
    whole: Whole,
    w_columns: Vec<Vec<usize>>,
    bilateral: Vec<usize>,
    /// Row of the system behind each row of contacts of the file.
    source: Vec<usize>,
    /// Per contact of the file: its first row in the problem.
    at: Vec<usize>,
    /// First row of the points.
    first: usize,
    /// M⁻¹ (M u + Δ h).
    pub free: Vec<f64>,
    /// u⁺.
    pub u: Vec<f64>,
    offset: Vec<f64>,
    entries: Vec<(usize, f64)>,
    unit: f64,
    /// The same without matrices, when all bodies are loose.
    loose: Loose,
    sweeps: Sweeps,
    is_loose: bool,
    /// All bodies are, whether the solver sees the whole pile or not.
    pub can_sweep: bool,
    /// Points that are left to the cone solver.
    left: Vec<u32>,
    /// Impulses of the last step, in the order of its points; and what they would be had it begun at rest ([`Step::remember`]).
    memory: Vec<(u64, [V3; 2])>,
    /// The same of the step before, and the second start of each point.
    older: Vec<(u64, [V3; 2])>,
    others: Vec<V3>,
    /// Steps since impulses were last changed.
    kept: u32,
    /// There was a step before.
    started: bool,
    pub factorisations: u64,
    pub fastest: f64,
}

impl Step {
    pub(super) fn new(rows: usize, velocities: usize) -> Self {
        let empty = || Matrix::Sparse(Sparse::default());
        Step {
            solver: Solver::new(cone::Settings { restarts: 0, ..cone::Settings::default() }),
            problem: Problem {
                contacts: Vec::new(),
                operator: Operator::Bodies { mass: empty(), h: empty() },
                q: Vec::new(),
                w: None,
            },
            answer: cone::Solution::default(),
            mass: MassFactor::default(),
            whole: Whole::full(),
            w_columns: vec![Vec::new(); rows],
            bilateral: Vec::new(),
            source: Vec::new(),
            at: Vec::new(),
            first: 0,
            free: vec![0.0; velocities],
            u: vec![0.0; velocities],
            offset: vec![0.0; rows],
            entries: Vec::new(),
            unit: 1.0,
            loose: Loose::default(),
            sweeps: Sweeps::default(),
            is_loose: false,
            can_sweep: false,
            left: Vec::new(),
            memory: Vec::new(),
            older: Vec::new(),
            others: Vec::new(),
            kept: 0,
            started: false,
            factorisations: 0,
            fastest: 0.0,
        }
    }

    /// Velocities without contacts, except bilateral ones of massless parts; false when M is singular.
    pub(super) fn smooth(&mut self, given: &Given<'_>, eval: &Eval, u: &[f64], delta: f64) -> bool {
        self.bilateral.clear();
        for c in given.info.iter().filter(|c| c.is_bilateral()) {
            self.bilateral.extend_from_slice(c.normal_rows());
        }
        for (r, b) in self.offset.iter_mut().enumerate() {
            *b = eval.rate_offset[r] + 0.5 * delta * eval.accel_offset[r];
        }
        if !self.mass.factor(&eval.mass, &eval.w, &self.bilateral) {
            return false;
        }
        eval.mass.mul_vec(u, &mut self.free);
        crate::linalg::axpy(delta, &eval.h, &mut self.free);
        self.mass.correct(&eval.w, &self.bilateral, &self.offset, &mut self.free);
        self.mass.solve(&mut self.free);
        true
    }

    /// Contacts of the file that take part, with their laws and rows.
    fn pose_given(&mut self, given: &Given<'_>, eval: &Eval, u: &[f64], delta: f64) {
        let p = &mut self.problem;
        self.at.clear();
        self.at.resize(given.info.len(), NONE);
        for (i, c) in given.info.iter().enumerate() {
            let key = i as u64;
            let (normals, tangents): (&[usize], &[usize]) =
                (c.normal_rows(), if c.friction { &c.tangent } else { &[] });
            let mu = if given.modes[i] == Mode::Stick { eval.mu_static[i] } else { eval.mu[i] };
            let law = match c.normal {
                Normal::Unilateral { row } => {
                    let before = eval.rate(row, u);
                    let gap = eval.gap[row] - 0.5 * delta * before;
                    let rest = 2.0 * (eval.w.row(row).dot(&self.free) + eval.rate_offset[row] - before).abs();
                    if gap + delta * (before.abs() + rest) > 1e-9 * given.sizes[row]
                        && gap + delta * (before - rest) > 0.0
                    {
                        continue;
                    }
                    let closes = before < 0.0 && gap + delta * before < 0.0;
                    self.offset[row] += match closes && before < -rest {
                        true => given.restitution[i].normal * before,
                        false => gap.max(0.0) / delta,
                    };
                    Law::Coulomb { mu }
                }
                Normal::Bilateral { .. } if !tangents.is_empty() => Law::BilateralFriction { mu },
                Normal::Bilateral { .. } | Normal::Pin { .. } | Normal::Ball { .. } => Law::Bilateral,
                Normal::Given { .. } if !tangents.is_empty() && eval.load[i] > 0.0 => {
                    Law::Loaded { bound: mu * eval.load[i] * delta / self.unit }
                }
                Normal::Given { .. } => continue,
            };
            self.at[i] = self.source.len();
            let first = self.source.len();
            if !matches!(c.normal, Normal::Given { .. }) {
                self.source.extend_from_slice(normals);
            }
            self.source.extend_from_slice(tangents);
            p.contacts.push(Contact { law, rows: self.source.len() - first, key });
        }
    }

    /// Solve with the present points, whose targets are set. Velocities, impulses and rates after the step; the error.
    ///
    /// # Errors
    ///
    /// A problem that cannot be posed.
    pub(super) fn solve(
        &mut self,
        given: &Given<'_>,
        (t, points, targets): (&Touching, &mut Points, &[V3]),
        eval: &Eval,
        (u, delta): (&[f64], f64),
    ) -> Result<f64, String> {
        let matrix = self.mass.matrix(&eval.mass);
        let n = matrix.size();
        self.unit = (0..n).fold(f64::MIN_POSITIVE, |m, i| m.max(matrix.diagonal(i)));
        self.problem.contacts.clear();
        self.source.clear();
        self.pose_given(given, eval, u, delta);
        self.first = self.source.len();
        // bodies in the plane have three rows, and points one tangent: they go through the solver
        self.is_loose = !t.planar
            && self.source.is_empty()
            && self.bilateral.is_empty()
            && self.loose.load(t, self.mass.matrix(&eval.mass), &eval.w, self.unit);
        let rows: usize = points.list.iter().map(|p| rows_of(t, p)).sum::<usize>() + self.first;
        let tolerance = match rows {
            _ if rows <= SIZES[0] => CONE[0],
            _ if rows <= SIZES[1] => CONE[1],
            _ => LARGE,
        };
        self.left.clear();
        let mut error = 0.0;
        self.can_sweep = false;
        if self.is_loose {
            error = self.sweep(t, points, targets, tolerance);
            // bodies with faces that move: the solver keeps its start and the symmetry of its impulses only when it sees all of them in every step
            self.can_sweep = true;
            self.is_loose = self.left.is_empty() || points.list.iter().all(|p| p.round);
        }
        if !self.is_loose {
            error = 0.0;
            self.left.clear();
            self.left.extend(0..points.list.len() as u32);
        }
        self.problem.q.clear();
        self.answer.r.clear();
        self.answer.u.clear();
        if self.first > 0 || !self.left.is_empty() {
            self.pose(t, points, targets, eval);
            self.solver.settings.tolerance = tolerance;
            self.solver.settings.parallel = rows >= PARALLEL;
            self.climb().map_err(|e| e.to_string())?;
            error = error.max(match self.is_loose {
                true => self.fetch(tolerance),
                false => self.answer.error(),
            });
        }
        self.fastest = self.problem.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
        std::mem::swap(&mut self.memory, &mut self.older);
        if self.is_loose {
            self.take_loose(points);
            let q = |c: &sweeps::Contact| c.q.iter().fold(0.0_f64, |m, q| m.max(q.abs()));
            self.fastest = self.sweeps.contacts.iter().fold(0.0, |m, c| m.max(q(c)));
        } else {
            self.take(t, points);
        }
        self.remember();
        self.started = true;
        points.twist(2, t, eval, &self.u, 0.5 * delta);
        for k in 0..points.list.len() {
            points.list[k].after = points.rates(2, &points.list[k]);
        }
        Ok(error)
    }

    /// The points of loose bodies: last impulses, then sweeps. What is left are islands that are not solved; the largest error of the others.
    fn sweep(&mut self, t: &Touching, points: &Points, targets: &[V3], tolerance: f64) -> f64 {
        let mut last = Last::of(&self.memory);
        self.sweeps.contacts.clear();
        self.others.clear();
        for (point, target) in points.list.iter().zip(targets) {
            let [r, other] = last.impulses(point.key).map(|r| r.map(|r| r / self.unit));
            self.others.push(other);
            let mut c = posed(t, points, point);
            c.mu = t.rules[point.rule as usize].mu;
            (c.q, c.r) = (crate::shape::add(point.free, *target), r);
            self.sweeps.contacts.push(c);
        }
        let bodies = &mut self.loose.bodies;
        self.sweeps.begin(bodies);
        let mut worst = 0.0_f64;
        // the solver loads all bodies of a pile for the few of an island
        let crowd = self.sweeps.islands.iter().map(|i| i.rows).sum::<usize>() > SIZES[1];
        for k in 0..self.sweeps.islands.len() {
            let mut content = 0.5 * tolerance;
            if self.sweeps.islands[k].error >= SURE * content {
                self.sweeps.exchange(k, bodies, &mut self.others);
            }
            let island = self.sweeps.islands[k];
            let round = self.sweeps.members(k).iter().all(|&i| points.list[i as usize].round);
            let large = island.rows > SIZES[1];
            // bodies with faces are hyperstatic, and few: Newton's steps are better
            if island.error >= content && island.rows > FEW && round {
                self.sweeps.sweep(k, bodies, content, SWEEPS[1]);
                content = if large { SERVES } else { ACCEPTED };
            } else if island.error >= content && crowd && round {
                self.sweeps.sweep(k, bodies, BEYOND * content, SHORT);
            }
            let error = self.sweeps.islands[k].error;
            if error < content {
                worst = worst.max(error);
            } else {
                self.left.extend_from_slice(self.sweeps.members(k));
            }
        }
        self.left.sort_unstable();
        worst
    }

    /// The answer of the cone solver for what was left; where it is not exact, sweeps from there. The largest error.
    fn fetch(&mut self, tolerance: f64) -> f64 {
        let error = self.answer.error();
        self.put_answer();
        if error < tolerance {
            return error;
        }
        let bodies = &mut self.loose.bodies;
        let mut worst = 0.0_f64;
        for k in 0..self.sweeps.islands.len() {
            self.sweeps.judge(k, bodies);
            // faces of few bodies keep the symmetric impulses of the solver
            if self.sweeps.islands[k].error >= tolerance && self.sweeps.islands[k].rows > SIZES[1] {
                self.sweeps.sweep(k, bodies, tolerance, SWEEPS[0]);
            }
            worst = worst.max(self.sweeps.islands[k].error);
        }
        worst
    }

    /// The cone problem of the file's contacts and of the points that are left.
    fn pose(&mut self, t: &Touching, points: &Points, targets: &[V3], eval: &Eval) {
        let p = &mut self.problem;
        let Operator::Bodies { mass: Matrix::Sparse(m), h: Matrix::Sparse(h) } = &mut p.operator else {
            return;
        };
        let matrix = self.mass.matrix(&eval.mass);
        self.whole.fill(matrix, 1.0 / self.unit, m);
        h.reset(matrix.size());
        p.q.clear();
        for &row in &self.source {
            let w = eval.w.row(row);
            fill_row(h, w, &mut self.w_columns[row], 1.0);
            p.q.push(self.offset[row] + w.dot(&self.free));
        }
        for &k in &self.left {
            let (point, target) = (&points.list[k as usize], &targets[k as usize]);
            let mu = t.rules[point.rule as usize].mu;
            let rows = rows_of(t, point);
            for k in 0..rows {
                push_row(h, &mut self.entries, t, &points.poses, point, point.directions[k], eval);
                p.q.push(point.free[k] + target[k]);
            }
            p.contacts.push(Contact { law: Law::Coulomb { mu }, rows, key: point.key });
        }
        if self.is_loose {
            self.take_start();
        }
    }

    /// Cheap methods first. In a pile that moves, paths through its interior may take a thousand times as long as the step is worth: an answer
    /// that is good enough for a moving pile is taken, one at rest is exact by its warm start.
    fn climb(&mut self) -> Result<(), cone::ProblemError> {
        let whole = self.solver.settings;
        let ladder: &[Rung] = match (self.started && self.problem.q.len() > SIZES[1], self.is_loose) {
            (true, _) => &LADDER,
            (_, true) => &WEDGED,
            _ => &[],
        };
        // sweeps come first where the last impulses are far away; they are what the sweeps start from
        let far = self.can_sweep && self.sweeps.islands.iter().any(|i| i.error > FAR);
        let skipped = usize::from(far && ladder.len() == LADDER.len());
        for (turn, &(before, method, sweeps, tolerance, serves)) in ladder.iter().enumerate().skip(skipped) {
            if before > 0 && self.can_sweep {
                if turn > skipped || !far {
                    self.put_answer();
                }
                self.hand_over(before);
            }
            let tolerance = whole.tolerance.max(tolerance);
            self.solver.settings = cone::Settings { method, sweeps, tolerance, ..whole };
            let ended = self.solver.solve_into(&self.problem, &mut self.answer);
            self.solver.settings = whole;
            ended?;
            self.factorisations += self.answer.counts.factorisations();
            if self.answer.error() <= serves.max(whole.tolerance) {
                return Ok(());
            }
        }
        self.solver.solve_into(&self.problem, &mut self.answer)?;
        self.factorisations += self.answer.counts.factorisations();
        Ok(())
    }

    /// Sweeps from where they are; the solver starts from their answer.
    fn hand_over(&mut self, most: usize) {
        let bodies = &mut self.loose.bodies;
        for k in 0..self.sweeps.islands.len() {
            self.sweeps.judge(k, bodies);
            if self.sweeps.islands[k].error >= 0.5 * LARGE {
                self.sweeps.sweep(k, bodies, 0.5 * LARGE, most);
            }
        }
        self.take_start();
    }

    /// Impulses of the points that are left, as the cone solver found them.
    fn put_answer(&mut self) {
        let mut row = 0;
        for &k in &self.left {
            let c = &mut self.sweeps.contacts[k as usize];
            let rows = if c.mu > 0.0 { 3 } else { 1 };
            c.r = [0.0; 3];
            c.r[..rows].copy_from_slice(&self.answer.r[row..row + rows]);
            row += rows;
        }
    }

    /// The solver starts from the impulses of the sweeps. Nothing is known of those that are zero: a first step is cold.
    fn take_start(&mut self) {
        let (contacts, keys) = (&self.sweeps.contacts, &self.problem.contacts);
        let list = self.left.iter().zip(keys).map(|(&k, c)| (c.key, contacts[k as usize].r));
        self.solver.start_from(list.filter(|(_, r)| *r != [0.0; 3]));
    }

    /// Impulses of the points, and u⁺ = v_free + M⁻¹ Hᵀ r, of loose bodies one by one.
    fn take_loose(&mut self, points: &mut Points) {
        self.u.copy_from_slice(&self.free);
        self.memory.clear();
        for (p, c) in points.list.iter_mut().zip(&self.sweeps.contacts) {
            p.impulse = c.r.map(|r| r * self.unit);
            self.memory.push((p.key, [p.impulse; 2]));
            self.loose.push(c, p.impulse, &mut self.u);
        }
    }

    /// Impulses of the points, and u⁺ = v_free + M⁻¹ Hᵀ r.
    fn take(&mut self, t: &Touching, points: &mut Points) {
        let mut row = self.first;
        let Operator::Bodies { h: Matrix::Sparse(h), .. } = &self.problem.operator else { return };
        self.u.fill(0.0);
        for (k, r) in self.answer.r.iter().enumerate().filter(|x| *x.1 != 0.0) {
            let (columns, values) = h.row(k);
            columns.iter().zip(values).for_each(|(&j, v)| self.u[j] += r * self.unit * v);
        }
        self.mass.solve(&mut self.u);
        self.u.iter_mut().zip(&self.free).for_each(|(u, v)| *u += v);
        self.memory.clear();
        for p in &mut points.list {
            let rows = rows_of(t, p);
            p.impulse = [0.0; 3];
            for k in 0..rows {
                p.impulse[k] = self.answer.r[row + k] * self.unit;
            }
            row += rows;
            self.memory.push((p.key, [p.impulse; 2]));
        }
    }

    /// Impulses r that bear a pile at rest not quite exactly leave a velocity, which grows by the same amount in every step in which they are taken again. Those of the
    /// step k that changes them by d stop what has gathered, too, and would push just as much in the next. What bears the pile is `r + d/k`.
    fn remember(&mut self) {
        let mut last = Last::of(&self.older);
        let (k, mut changed) = (f64::from(self.kept + 1), false);
        for (key, [now, calm]) in &mut self.memory {
            let [before, old_calm] = last.impulses(*key);
            changed |= before != *now;
            *calm = match before == *now {
                true => old_calm,
                false => [0, 1, 2].map(|i| before[i] + (now[i] - before[i]) / k),
            };
        }
        self.kept = if changed { 0 } else { self.kept + 1 };
    }

    /// Impulses of the file's contacts, by row; and their modes.
    pub(super) fn of_file(&self, info: &[ContactInfo], impulse: &mut [f64], modes: &mut [Mode]) {
        let strongest = self.answer.r.iter().fold(0.0_f64, |m, r| m.max(r.abs()));
        for (i, c) in info.iter().enumerate() {
            let at = self.at[i];
            let rubs = c.friction && !c.tangent.is_empty();
            if at == NONE {
                modes[i] = if c.is_bilateral() { Mode::Closed } else { Mode::Open };
                continue;
            }
            let normals = if matches!(c.normal, Normal::Given { .. }) { 0 } else { c.normal_rows().len() };
            let n = normals + if rubs { c.tangent.len() } else { 0 };
            for k in 0..n {
                impulse[self.source[at + k]] = self.answer.r[at + k] * self.unit;
            }
            let slips = self.answer.u[at + normals..at + n].iter().any(|v| v.abs() > MOVES * self.fastest);
            let open = matches!(c.normal, Normal::Unilateral { .. })
                && self.answer.r[at] <= MOVES * strongest
                && self.answer.u[at] > MOVES * self.fastest;
            modes[i] = match (open, rubs, slips) {
                (true, ..) => Mode::Open,
                (_, false, _) => Mode::Closed,
                (_, _, false) => Mode::Stick,
                _ if c.tangent.len() > 1 => Mode::Slip,
                _ if self.answer.u[at + normals] > 0.0 => Mode::SlipPlus,
                _ => Mode::SlipMinus,
            };
        }
    }
}

/// Rows of a point: friction has two more.
fn rows_of(t: &Touching, p: &Point) -> usize {
    t.rows(p.rule)
}

/// A point for sweeps, without law, rates and impulse.
fn posed(t: &Touching, points: &Points, p: &Point) -> sweeps::Contact {
    let arm = |f: u32| match t.frames[f as usize].moves {
        true => sub(p.touch.point, points.poses[f as usize].origin),
        false => [0.0; 3],
    };
    let [a, b] = p.frames;
    sweeps::Contact {
        frames: p.frames,
        arms: [arm(a), arm(b)],
        directions: p.directions,
        ..sweeps::Contact::default()
    }
}

/// The row of a direction at a point: entries of the frames' rows.
fn push_row(
    h: &mut Sparse,
    entries: &mut Vec<(usize, f64)>,
    t: &Touching,
    poses: &[crate::shape::Pose],
    p: &Point,
    d: V3,
    eval: &Eval,
) {
    entries.clear();
    for (f, sign) in p.frames.into_iter().zip([1.0, -1.0]) {
        let f = f as usize;
        let turn = cross(sub(p.touch.point, poses[f].origin), d);
        for k in 0..6 {
            let c = sign * if k < 3 { d[k] } else { turn[k - 3] };
            entries.extend(eval.w.row(t.frames[f].row + k).iter().map(|(j, w)| (j, c * w)));
        }
    }
    entries.sort_unstable_by_key(|e| e.0);
    let mut k = 0;
    while k < entries.len() {
        let (column, mut value) = entries[k];
        k += 1;
        while entries.get(k).is_some_and(|e| e.0 == column) {
            value += entries[k].1;
            k += 1;
        }
        h.push(column, value);
    }
    h.end_row();
}
