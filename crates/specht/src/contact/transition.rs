//! The transition problem: all persistent contacts at once, with unknown modes (PG-6-LCP), and its whole solution set.
//!
//! Bilateral rows are eliminated ([`super::Reduced`]), then all patterns of modes are searched. A pattern whose equations are
//! dependent yields a continuum; when accelerations vary over it the status is [`Status::Family`] with the interval of
//! each (PG-5.4-PANTOGRAPH), when only forces vary the status counts the accelerations and the intervals of the forces
//! are reported all the same. Static friction larger than sliding friction (METH-LAW-JUMP): first the problem with the
//! static coefficients, then contacts that slip get their direction and the sliding coefficient and the rest is solved
//! again, until none is added; if that ends without a solution, all combinations are searched.
//!
//! *Large problems.* One acceleration is all there is when normal forces do not depend on friction and H is definite (two monotone
//! problems, one after the other), and when bodies rest without the help of friction ([`needs_no_friction`]); no search is then
//! needed. Otherwise the search ends after [`Settings::work`]; what it has seen, or one solution by Lemke's method on the
//! reduced LCP, is then the answer, and [`SolutionSet::complete`] is false.
//!
//! Every solution carries the residual of all laws and of the equation of motion, scaled; solutions are accepted up to
//! 1e-9. At an event the deciding quantity is zero: contacts for which this is so are marked `degenerate`, and all
//! mode lists that describe the same forces are in `alternatives`.

use super::compliant::Compliant;
use super::fixed::{friction_bound, normal_forces};
use super::one::{around, is_monotone, needs_no_friction, one_solution};
use super::{Forces, Reduced, Start};
use crate::lcp::Solver;
use crate::linalg::{axpy, dot, max_abs};
use crate::modes::collect::sort_out;
use crate::modes::family::Polyhedron;
use crate::modes::pattern::{Leaf, Pattern, State};
use crate::modes::problem::{Bounds, Layout, Problem};
use crate::modes::search::{PRUNE_FROM, Search, count};
use crate::system::{ContactInfo, Eval, Mode, Normal};

/// How many solutions there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// One acceleration.
    Unique,
    /// Finitely many, more than one.
    Several,
    /// A continuum of accelerations.
    Family,
    /// None: the rigid model is inconsistent (Painlevé).
    None,
    /// None was found, but not all patterns of modes were examined.
    Unknown,
    /// The problem could not be posed: M is not definite on the kernel of the bilateral rows, or a number is not finite.
    Invalid,
}

/// One solution.
#[derive(Clone, Debug, Default)]
pub struct Solution {
    /// Mode of every contact.
    pub modes: Vec<Mode>,
    /// Sign of the normal force, as `super::Fixed::solve` wants it: ±1 for bilateral contacts, −1 for a `Given` contact
    /// whose load is negative, else 1.
    pub signs: Vec<f64>,
    /// Accelerations and forces.
    pub forces: Forces,
    /// Scaled residual of all laws and of the equation of motion.
    pub residual: f64,
    /// Contacts whose deciding quantity is zero: g̈_N = 0 with λ_N = 0, or zero slip acceleration at the friction bound.
    pub degenerate: Vec<bool>,
    /// Other mode lists with the same forces and accelerations.
    pub alternatives: Vec<Vec<Mode>>,
    /// Index into [`SolutionSet::families`] when this is one member of a continuum.
    pub family: Option<usize>,
}

/// Intervals `[least, largest]` over a continuum of solutions.
#[derive(Clone, Debug)]
pub struct Family {
    /// Of every acceleration u̇.
    pub accel: Vec<[f64; 2]>,
    /// Of the force along every row.
    pub lambda: Vec<[f64; 2]>,
    /// Whether accelerations vary, not only forces.
    pub moves: bool,
}

/// The solution set.
#[derive(Clone, Debug)]
pub struct SolutionSet {
    /// How many.
    pub status: Status,
    /// Sorted by Σ|normal force|, smallest first; of each continuum one member.
    pub solutions: Vec<Solution>,
    /// The continua.
    pub families: Vec<Family>,
    /// False when the search was too large to be finished: there may be more solutions.
    pub complete: bool,
    /// Dependent bilateral rows: reactions are those of minimum norm.
    pub redundant: usize,
}

impl Default for SolutionSet {
    /// Nothing is known.
    fn default() -> Self {
        SolutionSet {
            status: Status::Invalid,
            solutions: Vec::new(),
            families: Vec::new(),
            complete: true,
            redundant: 0,
        }
    }
}

/// Settings of [`Transition`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Multiplications of the search, default 20 million (some 20 ms). Raise it when `complete` is false and you can wait.
    pub work: usize,
    /// Search for all solutions also in large problems (more than 400 patterns), default true. When false, one solution by
    /// Lemke's method is enough for these and `complete` is false; choose it for speed when friction is moderate.
    pub certify: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { work: 20_000_000, certify: true }
    }
}

/// The solver; keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Transition {
    /// Settings.
    pub settings: Settings,
    pub(crate) layout: Layout,
    pub(crate) reduced: Reduced,
    pub(crate) problem: Problem,
    pub(super) compliant: Compliant,
    search: Search,
    lcp: Solver,
    inertia: Vec<f64>,
}

pub(super) const DEGENERATE: f64 = 1e-8;

impl Transition {
    /// All solutions at one instant. `starts` per contact; bilateral contacts and pins take part in any case.
    pub fn solve(&mut self, info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> SolutionSet {
        let mut set = SolutionSet::default();
        self.solve_into(info, eval, starts, &mut set);
        set
    }

    /// The same in the memory of `set`.
    pub(crate) fn solve_into(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
        set: &mut SolutionSet,
    ) {
        let spare = set.solutions.pop().unwrap_or_default();
        set.solutions.clear();
        set.families.clear();
        (set.status, set.complete, set.redundant) = (Status::Invalid, true, 0);
        if !self.pose(info, eval, starts) {
            return;
        }
        set.redundant = self.reduced.redundant;
        if self.problem.dim() == 0 {
            let only = self.undecided(info, eval, starts, spare);
            set.solutions.push(only);
            set.status = Status::Unique;
            return;
        }
        let mut found = Vec::new();
        set.complete = self.rounds(&mut found);
        self.collect(info, eval, starts, &found, set);
    }

    /// The solution where nothing is to be decided, in the memory of `s`.
    fn undecided(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
        mut s: Solution,
    ) -> Solution {
        let closed = |(c, start): (&ContactInfo, &Start)| c.is_bilateral() || *start != Start::Open;
        s.modes.clear();
        let modes = info.iter().zip(starts).map(|c| if closed(c) { Mode::Closed } else { Mode::Open });
        s.modes.extend(modes);
        self.forces(info, eval, &[], &s.modes, &mut s.forces);
        s.residual = motion_residual_in(eval, &s.forces, &mut self.inertia);
        s.signs.clear();
        s.signs.extend(info.iter().zip(&s.forces.normal).map(|(c, n)| sign(c, *n)));
        s.degenerate.clear();
        s.degenerate.resize(info.len(), false);
        s.alternatives.clear();
        s.family = None;
        s
    }

    /// Set up the problem of `starts`; false when it cannot be posed.
    pub(crate) fn pose(&mut self, info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> bool {
        self.layout.fill(info, |i| starts[i] != Start::Open);
        let l = &self.layout;
        if !self.reduced.eliminate(&eval.mass, &eval.h, &eval.w, &eval.accel_offset, &l.bilateral, &l.rows) {
            return false;
        }
        self.problem.assemble(info, eval, l, &self.reduced, true);
        for j in 0..self.layout.tangents.len() {
            let i = self.layout.tangents[j];
            let start = if starts[i] == Start::Open { Start::Zero } else { starts[i] };
            self.problem.set_bounds(
                j,
                Bounds::symmetric(eval.mu_static[i]),
                Bounds::symmetric(eval.mu[i]),
                start,
            );
        }
        let finite = |x: &[f64]| x.iter().all(|v| v.is_finite());
        finite(self.problem.h.as_slice()) && finite(&self.problem.c) && finite(&self.reduced.a0)
    }

    // the rounds of METH-LAW-JUMP; with equal coefficients there is one
    fn rounds(&mut self, found: &mut Vec<(Leaf, Pattern)>) -> bool {
        let limit = self.settings.work;
        let jumps = |f: &crate::modes::problem::Friction| {
            f.start == Start::Zero && (f.stick != f.slide || f.static_constant != f.load.constant)
        };
        if !self.problem.friction.iter().any(jumps) {
            return self.search_or_lemke(limit, found);
        }
        // round 1: the static law for all at zero slip
        let original = self.problem.clone();
        let mut complete = true;
        let mut pending = vec![vec![Start::Zero; original.friction.len()]];
        for (s, f) in pending[0].iter_mut().zip(&original.friction) {
            *s = f.start;
        }
        let mut seen = pending.clone();
        while let Some(starts) = pending.pop() {
            for (j, s) in starts.iter().enumerate() {
                let f = &mut self.problem.friction[j];
                *f = original.friction[j].clone();
                f.start = *s;
                if *s == Start::Zero {
                    f.slide = f.stick;
                    f.load.constant = f.static_constant;
                }
            }
            let mut round = Vec::new();
            complete &= self.search_or_lemke(limit, &mut round);
            for (leaf, pattern) in round {
                // at its static bound without a motion a contact still sticks: what held it before decides
                let moves = accelerates(&self.problem, &leaf);
                let mut next = starts.clone();
                let mut grown = false;
                for (j, s) in next.iter_mut().enumerate() {
                    if jumps(&original.friction[j]) && *s == Start::Zero && moves[j] {
                        let change = match pattern.state[j] {
                            Some(State::Plus) => Start::Plus,
                            Some(State::Minus) => Start::Minus,
                            _ => continue,
                        };
                        *s = change;
                        grown = true;
                    }
                }
                if !grown {
                    found.push((leaf, pattern));
                } else if !seen.contains(&next) {
                    seen.push(next.clone());
                    pending.push(next);
                }
            }
        }
        self.problem.clone_from(&original);
        // a released contact must accelerate in its direction
        found.retain(|(leaf, _)| leaf.null.rows() > 0 || self.problem.residual(&leaf.x) < 1e-8);
        if found.is_empty() {
            complete &= self.search_or_lemke(limit, found);
        }
        complete
    }

    fn search_or_lemke(&mut self, limit: usize, found: &mut Vec<(Leaf, Pattern)>) -> bool {
        let p = &self.problem;
        let large = count(p) > PRUNE_FROM;
        if large {
            if let Some(x) = needs_no_friction(p, &mut self.lcp) {
                found.extend(around(p, x));
                return true;
            }
            let monotone = is_monotone(p);
            if (monotone || !self.settings.certify)
                && let Some(x) = one_solution(p, &mut self.lcp)
            {
                found.extend(around(p, x));
                return monotone;
            }
        }
        let complete = self.search.run(p, limit);
        found.append(&mut self.search.found);
        // too much work, or everything on some border: one solution by Lemke's method, verified
        if found.is_empty()
            && let Some(x) = one_solution(p, &mut self.lcp)
        {
            found.extend(around(p, x));
        }
        complete
    }

    /// The book's complementarity problem (6.35) of the posed problem; `None` for bilateral friction and pins.
    #[cfg(test)]
    pub(crate) fn book_form(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
    ) -> Option<crate::modes::forms::Form> {
        self.pose(info, eval, starts).then(|| crate::modes::forms::book(&self.problem, &[])).flatten()
    }

    /// The reduced complementarity problem; `None` for sliding journals. The static coefficient is not used.
    #[cfg(test)]
    pub(crate) fn reduced_form(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
    ) -> Option<crate::modes::forms::Form> {
        self.pose(info, eval, starts).then(|| crate::modes::forms::reduced(&self.problem)).flatten()
    }

    /// Accelerations and forces of a solution x of a form, after it was posed.
    #[cfg(test)]
    pub(crate) fn forces_of(&self, info: &[ContactInfo], eval: &Eval, starts: &[Start], x: &[f64]) -> Forces {
        let mut modes = self.modes(info, starts, &super::one::pattern_of(&self.problem, x));
        self.turn_smooth(starts, x, &mut modes);
        let mut out = Forces::default();
        self.forces(info, eval, x, &modes, &mut out);
        out
    }

    // points and continua, merged and sorted
    fn collect(
        &self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
        found: &[(Leaf, Pattern)],
        set: &mut SolutionSet,
    ) {
        let p = &self.problem;
        let (mut points, families) = sort_out(p, found);
        // forces beyond all measure are rounding: on the border of a paradox this solution lies at infinity
        let natural = p.natural_size();
        points.retain(|(x, _)| max_abs(x) <= natural / crate::linalg::RANK_TOLERANCE);
        for (x, patterns) in &points {
            set.solutions.push(self.solution(info, eval, starts, x, patterns));
        }
        for group in &families {
            let mut s = self.solution(info, eval, starts, &group[0].x, &[group[0].pattern.clone()]);
            // an idle tangent at its bound decides nothing
            for (j, &contact) in self.layout.tangents.iter().enumerate() {
                if group[0].idle[j] && s.forces.normal[contact].abs() > 0.0 {
                    s.degenerate[contact] = false;
                }
            }
            s.family = Some(set.families.len());
            set.solutions.push(s);
            set.families.push(self.intervals(eval, group));
        }
        let weight = |s: &Solution| s.forces.normal.iter().map(|n| n.abs()).sum::<f64>();
        set.solutions.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
        set.status = if set.families.iter().any(|f| f.moves) {
            Status::Family
        } else {
            match set.solutions.len() {
                0 if !set.complete => Status::Unknown,
                0 => Status::None,
                1 => Status::Unique,
                _ => Status::Several,
            }
        };
    }

    pub(super) fn solution(
        &self,
        info: &[ContactInfo],
        eval: &Eval,
        starts: &[Start],
        x: &[f64],
        patterns: &[Pattern],
    ) -> Solution {
        let p = &self.problem;
        let mut modes: Vec<Vec<Mode>> = patterns.iter().map(|q| self.modes(info, starts, q)).collect();
        modes.iter_mut().for_each(|m| self.turn_smooth(starts, x, m));
        modes.dedup();
        let mut first = modes.remove(0);
        let mut forces = Forces::default();
        self.forces(info, eval, x, &first, &mut forces);
        let residual = p.residual(x).max(motion_residual(eval, &forces));

        let mut y = Vec::new();
        p.y(x, &mut y);
        let tol = DEGENERATE * p.size(x, &y);
        let mut degenerate = vec![false; info.len()];
        for (i, &contact) in self.layout.normals.iter().enumerate() {
            degenerate[contact] |= x[i].abs() <= tol && y[i].abs() <= tol;
        }
        for (j, &contact) in self.layout.tangents.iter().enumerate() {
            let (i, f) = (p.normals + j, &p.friction[j]);
            let off = patterns[0].state[j] == Some(State::Off);
            // without friction stick and slip are the same motion
            let smooth = [f.stick.lo, f.stick.lo0, f.stick.hi, f.stick.hi0].iter().all(|b| *b == 0.0);
            if f.start == Start::Zero && !off && !smooth && y[i].abs() <= tol {
                let nu = p.nu(j, x, true);
                let at_lower = (x[i] + f.stick.lo * nu + f.stick.lo0).abs() <= tol;
                let at_upper = (x[i] - f.stick.hi * nu - f.stick.hi0).abs() <= tol;
                degenerate[contact] |= at_lower || at_upper;
            }
        }
        let signs = info.iter().zip(&forces.normal).map(|(c, n)| sign(c, *n)).collect();
        // a contact without any normal force keeps its mode; the list is otherwise as found
        for (i, m) in first.iter_mut().enumerate() {
            if starts[i] == Start::Open && !info[i].is_bilateral() {
                *m = Mode::Open;
            }
        }
        Solution { modes: first, signs, forces, residual, degenerate, alternatives: modes, family: None }
    }

    fn modes(&self, info: &[ContactInfo], starts: &[Start], pattern: &Pattern) -> Vec<Mode> {
        let mut modes: Vec<Mode> = info
            .iter()
            .zip(starts)
            .map(|(c, s)| if c.is_bilateral() || *s != Start::Open { Mode::Closed } else { Mode::Open })
            .collect();
        for (j, &i) in self.layout.tangents.iter().enumerate() {
            modes[i] = match pattern.state[j] {
                Some(State::Plus) => Mode::SlipPlus,
                Some(State::Minus) => Mode::SlipMinus,
                Some(State::Off) => Mode::Open,
                _ => Mode::Stick,
            };
        }
        for (i, &contact) in self.layout.normals.iter().enumerate() {
            if pattern.closed[i] == Some(false) {
                modes[contact] = Mode::Open;
            }
        }
        modes
    }

    // contacts without friction slip as they accelerate; nothing makes them stick
    fn turn_smooth(&self, starts: &[Start], x: &[f64], modes: &mut [Mode]) {
        let p = &self.problem;
        let mut y = Vec::new();
        p.y(x, &mut y);
        let tol = DEGENERATE * p.size(x, &y);
        for (j, &i) in self.layout.tangents.iter().enumerate() {
            if starts[i] == Start::Zero && p.friction[j].is_smooth() && modes[i] != Mode::Open {
                modes[i] = if y[p.normals + j] < -tol { Mode::SlipMinus } else { Mode::SlipPlus };
            }
        }
    }

    fn forces(&self, info: &[ContactInfo], eval: &Eval, x: &[f64], modes: &[Mode], out: &mut Forces) {
        let (l, red) = (&self.layout, &self.reduced);
        out.reset(eval.mass.size(), eval.w.rows(), info.len());
        out.accel.copy_from_slice(&red.a0);
        for (i, &row) in l.rows.iter().enumerate() {
            let force = x[i] / self.problem.scale[i];
            out.lambda[row] = force;
            axpy(force, red.a.row(i), &mut out.accel);
        }
        for (k, &row) in l.bilateral.iter().enumerate() {
            out.lambda[row] = red.s0[k]
                + (0..l.rows.len()).map(|i| red.s[(k, i)] * x[i] / self.problem.scale[i]).sum::<f64>();
        }
        normal_forces(info, eval, modes, out);
        for &i in &l.tangents {
            out.tangential[i] = out.lambda[info[i].tangent[0]];
            out.bound[i] = friction_bound(&info[i], eval, i, modes[i], out.normal[i]);
        }
    }

    fn intervals(&self, eval: &Eval, group: &[Polyhedron]) -> Family {
        let (l, red, p) = (&self.layout, &self.reduced, &self.problem);
        let r = l.rows.len();
        let n = red.a0.len();
        let mut list: Vec<(Vec<f64>, f64)> =
            (0..n).map(|k| ((0..r).map(|i| red.a[(i, k)] / p.scale[i]).collect(), red.a0[k])).collect();
        for i in 0..r {
            let mut q = vec![0.0; r];
            q[i] = 1.0 / p.scale[i];
            list.push((q, 0.0));
        }
        for &row in &l.bilateral {
            let a = p.bilateral_row(l, red, row);
            list.push((a.coef, a.constant));
        }
        let mut hull = vec![[f64::INFINITY, f64::NEG_INFINITY]; list.len()];
        for g in group {
            for (h, [lo, hi]) in hull.iter_mut().zip(g.ranges(p, &list)) {
                *h = [h[0].min(lo), h[1].max(hi)];
            }
        }
        let accel = hull[..n].to_vec();
        let mut lambda = vec![[0.0; 2]; eval.w.rows()];
        for (&row, range) in l.rows.iter().chain(&l.bilateral).zip(&hull[n..]) {
            lambda[row] = *range;
        }
        // accelerations vary when their difference is more than rounding of the forces, each by itself
        let size = (0..red.a0.len()).fold(0.0, |m: f64, k| {
            let own = red.a0[k].abs()
                + if eval.mass.diagonal(k) > 0.0 { (eval.h[k] / eval.mass.diagonal(k)).abs() } else { 0.0 };
            let contacts = l.rows.iter().enumerate().map(|(i, &row)| {
                let force =
                    lambda[row].iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
                (red.a[(i, k)] * force).abs()
            });
            m.max(own + contacts.sum::<f64>())
        });
        let moves = accel.iter().any(|[lo, hi]| hi - lo > 1e-7 * size);
        Family { accel, lambda, moves }
    }
}

/// Which tangents accelerate in a leaf; in a continuum those that do anywhere.
fn accelerates(p: &Problem, leaf: &Leaf) -> Vec<bool> {
    let mut y = Vec::new();
    p.y(&leaf.x, &mut y);
    let tol = DEGENERATE * p.size(&leaf.x, &y);
    let varies =
        |i: usize| (0..leaf.null.rows()).any(|k| dot(p.h.row(i), leaf.null.row(k)).abs() > DEGENERATE);
    (p.normals..p.dim()).map(|i| y[i].abs() > tol || varies(i)).collect()
}

/// [`Solution::signs`] of a contact with this normal force.
fn sign(c: &ContactInfo, normal: f64) -> f64 {
    match c.normal {
        Normal::Bilateral { .. } | Normal::Given { .. } if normal < 0.0 => -1.0,
        _ => 1.0,
    }
}

/// Scaled residual of `M u̇ = h + Wᵀ λ`.
pub(crate) fn motion_residual(eval: &Eval, forces: &Forces) -> f64 {
    motion_residual_in(eval, forces, &mut Vec::new())
}

fn motion_residual_in(eval: &Eval, forces: &Forces, inertia: &mut Vec<f64>) -> f64 {
    let n = eval.h.len();
    let mut worst = 0.0_f64;
    let mut size = 1e-300_f64;
    inertia.clear();
    inertia.resize(n, 0.0);
    eval.mass.mul_vec(&forces.accel, inertia);
    for i in 0..n {
        let mut sum = inertia[i] - eval.h[i];
        let mut largest = eval.h[i].abs();
        for k in 0..n {
            largest = largest.max((eval.mass[(i, k)] * forces.accel[k]).abs());
        }
        for (row, &f) in forces.lambda.iter().enumerate() {
            if f != 0.0 {
                sum -= eval.w[(row, i)] * f;
                largest = largest.max((eval.w[(row, i)] * f).abs());
            }
        }
        worst = worst.max(sum.abs());
        size = size.max(largest);
    }
    if max_abs(&forces.accel).is_finite() { worst / size } else { f64::INFINITY }
}
