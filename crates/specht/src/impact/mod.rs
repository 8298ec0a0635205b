//! Impacts: all closed contacts at once, velocities jump, positions do not.
//!
//! ```text
//! M (u_C − u_A) = Wᵀ Λ_C,   M (u_E − u_C) = Wᵀ Λ_E,   ġ = W u + w̃         A before, C end of compression, E end
//! ```
//!
//! | law | |
//! |---|---|
//! | [`Law::Poisson`] | compression and expansion with friction, partly reversible tangential impulse (chapter 8, PG-8-POISSON) |
//! | [`Law::Newton`] | ġ_NE = −ε ġ_NA, frictionless, contacts that would pull are removed (chapter 7, PG-7-NEWTON) |
//! | [`Law::Moreau`] | 0 ≤ Λ_N ⊥ ġ_NE + ε_N ġ_NA ≥ 0, Coulomb on ġ_TE + ε_T ġ_TA: the law of time-stepping |
//!
//! Bilateral rows and pins keep ġ = 0 in every phase and are eliminated first; friction of bilateral pairs in the impact is
//! bounded by μ|Λ_N|, of journals by μ times the norm, of given loads only by those parts that follow other impulses.
//! A friction tensor leans the tangential impulse: it pushes s Λ_T along the normal too. Stick or slip is decided by the plain tangential
//! velocity at the end of each phase; at the end of compression ġ_N = 0 wherever Λ_N > 0, so only expansion and Moreau's law need
//! the distinction. Entries φ_tn, φ_nn do not enter.
//! The laws are verified on the result, whatever the solver said. Energy is checked: equal ε_N at all contacts never
//! gain energy (8.57), other combinations may, and are then marked.

mod newton;
mod phase;
mod verify;

use crate::contact::{Reduced, Start};
use crate::linalg::{axpy, dot, max_abs};
#[cfg(test)]
use crate::modes::forms::{self, Form};
use crate::modes::problem::{Bounds, Layout, Problem};
use crate::system::{ContactInfo, Eval, Restitution};
use phase::{Answer, Phase};
pub(crate) use verify::{plain_residual, step_residual};

/// How much faster than the normal velocities a slip must be to go on whatever happens.
const FAST: f64 = 1e3;
/// Normal velocities below this, relative to the slip, are none.
const SPEED_ZERO: f64 = 1e-9;

/// Impact law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// Poisson's law with friction.
    #[default]
    Poisson,
    /// Newton's law without friction.
    Newton,
    /// Moreau's law with friction.
    Moreau,
}

impl Law {
    /// All laws, in the order of the words in files and on the command line.
    pub const ALL: [Law; 3] = [Law::Poisson, Law::Newton, Law::Moreau];

    /// The word used in files and outputs.
    pub fn word(self) -> &'static str {
        match self {
            Law::Poisson => "poisson",
            Law::Newton => "newton",
            Law::Moreau => "moreau",
        }
    }
}

/// How an impact ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ImpactStatus {
    /// Solved.
    #[default]
    Solved,
    /// Solved; the laws allow `count` different velocities and the documented ones were taken (friction opposes the approach
    /// velocity).
    Several {
        /// Number of velocities of the phase that has more than one; a continuum counts as 2.
        count: usize,
    },
    /// The laws have no solution (PG-8.14 case V: locking). Velocities are those before the impact.
    NoSolution,
    /// The problem could not be posed: M is not definite on the kernel of the bilateral rows, or a number is not finite.
    Invalid,
}

/// Result of an impact.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// How it ended.
    pub status: ImpactStatus,
    /// u_E.
    pub u: Vec<f64>,
    /// Total impulse along every row.
    pub impulse: Vec<f64>,
    /// Impulse along every row during compression (Newton, Moreau: the total).
    pub compression: Vec<f64>,
    /// Normal impulse per contact (norm for a pin).
    pub normal: Vec<f64>,
    /// Tangential impulse per contact.
    pub tangential: Vec<f64>,
    /// ġ of every row before.
    pub rate_a: Vec<f64>,
    /// ġ of every row at the end of compression.
    pub rate_c: Vec<f64>,
    /// ġ of every row after.
    pub rate_e: Vec<f64>,
    /// Change of kinetic energy.
    pub energy: f64,
    /// Work done by prescribed motions on the system (not zero only with w̃): `energy` minus the work of the contacts.
    pub drive_work: f64,
    /// Work of the normal impulse of each contact on its relative motion.
    pub normal_work: Vec<f64>,
    /// Work of the tangential impulse of each contact on its relative motion.
    pub tangential_work: Vec<f64>,
    /// The contacts together did positive work, beyond rounding.
    pub gains_energy: bool,
    /// Scaled residual of all laws.
    pub residual: f64,
}

/// Which contacts take part: closed unilateral (and given) contacts.
pub(crate) type Closed = [bool];

/// The impact solver; keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Impactor {
    layout: Layout,
    reduced: Reduced,
    problem: Problem,
    phase: Phase,
    rate_a: Vec<f64>,
    zero: Vec<f64>,
    newton: newton::Newton,
    scratch: verify::Scratch,
    /// The last result, for its memory.
    spare: Impact,
}

impl Impactor {
    /// Solve the impact of all contacts in `closed` at the velocities `u`. `e` per contact.
    pub fn solve(
        &mut self,
        law: Law,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
    ) -> Impact {
        if !self.pose(info, eval, u, closed) {
            return self.unsolved(info, u, ImpactStatus::Invalid);
        }
        match law {
            Law::Poisson => match self.compress(e.iter().any(|e| e.normal > 0.0)) {
                Some(answer) => self.expand(info, eval, u, closed, e, answer),
                None => self.unsolved(info, u, ImpactStatus::NoSolution),
            },
            Law::Newton => {
                let mut newton = std::mem::take(&mut self.newton);
                let solved = newton.solve(&self.problem, self.layout.normals.iter().map(|&i| e[i].normal));
                let out = match solved {
                    true => self.report(law, info, eval, u, closed, e, &newton.x, &newton.x, 1),
                    false => self.unsolved(info, u, ImpactStatus::NoSolution),
                };
                self.newton = newton;
                out
            }
            Law::Moreau => {
                self.problem.straighten(eval, &self.layout);
                let p = &mut self.problem;
                for (k, &i) in self.layout.normals.iter().enumerate() {
                    p.c[k] *= 1.0 + e[i].normal;
                }
                for (j, &i) in self.layout.tangents.iter().enumerate() {
                    p.c[p.normals + j] *= 1.0 + e[i].tangential;
                }
                match self.compress(false) {
                    Some(Answer { x, count, .. }) => {
                        let mut out = self.report(law, info, eval, u, closed, e, &x, &x, count);
                        out.residual = verify::worse(out.residual, self.problem.residual(&x));
                        out
                    }
                    None => self.unsolved(info, u, ImpactStatus::NoSolution),
                }
            }
        }
    }

    /// Takes back a result that is no longer needed, for its memory.
    pub(crate) fn keep(&mut self, impact: Impact) {
        self.spare = impact;
    }

    /// Impact without collision (PG-5.3-ROD): the solution of the compression laws other than the trivial one, at
    /// velocities without approach; `None` when there is none. To be asked when the force problem has no solution. Among
    /// several the one whose velocities at the end of compression are nearest to `near` (in the metric of M), or the
    /// one with the smallest normal impulses.
    pub fn without_collision(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
        near: Option<&[f64]>,
    ) -> Option<Impact> {
        if !self.pose(info, eval, u, closed) {
            return None;
        }
        let all = self.phase.nontrivial(&self.problem);
        let distance = |x: &[f64]| {
            let Some(near) = near else { return 0.0 };
            let (mut after, mut impulse) = (Vec::new(), Vec::new());
            self.after(u, eval.w.rows(), x, &mut after, &mut impulse);
            let d: Vec<f64> = after.iter().zip(near).map(|(a, b)| a - b).collect();
            eval.mass.form(&d)
        };
        let x = all.into_iter().map(|x| (distance(&x), x)).min_by(|a, b| a.0.total_cmp(&b.0))?.1;
        Some(self.expand(info, eval, u, closed, e, Answer { x, count: 1, indifferent: Vec::new() }))
    }

    /// The compression problem (8.87) at `u`: the book's form.
    #[cfg(test)]
    pub(crate) fn compression_form(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
    ) -> Option<Form> {
        self.pose(info, eval, u, closed).then(|| forms::book(&self.problem, &[])).flatten()
    }

    /// The compression problem at `u` in the reduced form.
    #[cfg(test)]
    pub(crate) fn reduced_compression_form(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
    ) -> Option<Form> {
        self.pose(info, eval, u, closed).then(|| forms::reduced(&self.problem)).flatten()
    }

    fn pose(&mut self, info: &[ContactInfo], eval: &Eval, u: &[f64], closed: &Closed) -> bool {
        // a purely given load transmits no impulse
        self.layout.fill(info, |i| closed[i] && !(info[i].is_given() && info[i].load_on.is_empty()));
        let l = &self.layout;
        self.rate_a.clear();
        self.rate_a.extend((0..eval.w.rows()).map(|r| eval.rate(r, u)));
        self.zero.clear();
        self.zero.resize(u.len(), 0.0);
        if !self.reduced.eliminate(&eval.mass, &self.zero, &eval.w, &self.rate_a, &l.bilateral, &l.rows) {
            return false;
        }
        self.problem.assemble(info, eval, l, &self.reduced, false);
        for (j, &i) in l.tangents.iter().enumerate() {
            let b = Bounds::symmetric(eval.mu[i]);
            let start = fast(&self.problem, j);
            self.problem.set_bounds(j, b, b, start);
        }
        let finite = |x: &[f64]| x.iter().all(|v| v.is_finite());
        finite(self.problem.h.as_slice()) && finite(&self.problem.c) && finite(&self.reduced.a0)
    }

    // (8.87)
    fn compress(&mut self, expands: bool) -> Option<Answer> {
        let approach: Vec<f64> = self.problem.c[self.problem.normals..].to_vec();
        self.phase.solve(&self.problem, &approach, expands)
    }

    // (8.97): x_N = Λ_NP, x_T = Λ_TE
    fn expand(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
        compressed: Answer,
    ) -> Impact {
        let Answer { x: x_c, mut count, indifferent } = compressed;
        let p = &self.problem;
        let compression_residual = p.residual(&x_c);
        let stored = self.stored(e, &x_c);
        let (total, residual) = if stored.iter().all(|&s| s == 0.0) {
            (x_c.clone(), 0.0)
        } else {
            let (q, before, approach) = self.expansion(info, eval, e, &x_c, &stored);
            let Some(answer) = self.phase.solve(&q, &approach, false) else {
                return self.unsolved(info, u, ImpactStatus::NoSolution);
            };
            count = count.max(answer.count);
            (before.iter().zip(&answer.x).map(|(a, b)| a + b).collect(), q.residual(&answer.x))
        };
        count = count.max(1 + self.other_ends(info, eval, e, &total, &indifferent));
        let mut out = self.report(Law::Poisson, info, eval, u, closed, e, &x_c, &total, count);
        out.residual = verify::worse(out.residual, verify::worse(compression_residual, residual));
        out
    }

    // what expansion gives back: ε Λ_NC
    fn stored(&self, e: &[Restitution], x_c: &[f64]) -> Vec<f64> {
        let mut stored = vec![0.0; x_c.len()];
        for (k, &i) in self.layout.normals.iter().enumerate() {
            stored[k] = e[i].normal * x_c[k].max(0.0);
        }
        stored
    }

    // how many other velocities at the end follow from compression impulses that compression itself does not tell apart
    fn other_ends(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        e: &[Restitution],
        total: &[f64],
        indifferent: &[Vec<f64>],
    ) -> usize {
        let mut ends = vec![total.to_vec()];
        let mut more = 0;
        for x_c in indifferent {
            let stored = self.stored(e, x_c);
            if stored.iter().all(|&s| s == 0.0) {
                continue;
            }
            let (q, before, approach) = self.expansion(info, eval, e, x_c, &stored);
            let Some(answer) = self.phase.solve(&q, &approach, false) else { continue };
            more = more.max(answer.count - 1);
            let end: Vec<f64> = before.iter().zip(&answer.x).map(|(a, b)| a + b).collect();
            if !ends.iter().any(|other| phase::is_same(&self.problem, other, &end, true)) {
                ends.push(end);
            }
        }
        more.max(ends.len() - 1)
    }

    // the problem of expansion, Λ_C + ε Λ_NC, and the tangential velocities that direct the tie-break
    fn expansion(
        &self,
        info: &[ContactInfo],
        eval: &Eval,
        e: &[Restitution],
        x_c: &[f64],
        stored: &[f64],
    ) -> (Problem, Vec<f64>, Vec<f64>) {
        let (p, l) = (&self.problem, &self.layout);
        let nn = p.normals;
        let mut q = p.clone();
        let before: Vec<f64> = x_c.iter().zip(stored).map(|(a, b)| a + b).collect();
        p.y(&before, &mut q.c);
        q.straighten(eval, l);
        for f in &mut q.friction {
            f.load.constant = dot(&f.load.coef, stored);
            f.static_constant = f.load.constant;
        }
        for a in q.pins.iter_mut().flatten() {
            a.constant = dot(&a.coef, stored);
        }
        let mut y_c = Vec::new();
        p.y(x_c, &mut y_c);
        let mut approach = Vec::new();
        for (j, &i) in l.tangents.iter().enumerate() {
            let mu = eval.mu[i];
            let mut b = Bounds::symmetric(mu);
            // (8.31), (8.37): the bound on the side of Λ_TC moves inwards
            let tc = x_c[nn + j];
            if tc != 0.0 && info[i].is_unilateral() {
                let kept = e[i].normal * e[i].tangential * tc;
                if tc > 0.0 {
                    (b.lo, b.lo0) = (mu * (1.0 - e[i].nu), -kept);
                } else {
                    (b.hi, b.hi0) = (mu * (1.0 - e[i].nu), kept);
                }
            }
            let start = fast(&q, j);
            q.set_bounds(j, b, b, start);
            let slip = y_c[nn + j];
            let settled = slip.abs() <= 1e-9 * max_abs(&p.c);
            approach.push(if settled { p.c[nn + j] } else { slip });
        }
        (q, before, approach)
    }

    fn report(
        &mut self,
        law: Law,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
        compression: &[f64],
        total: &[f64],
        count: usize,
    ) -> Impact {
        let rows = eval.w.rows();
        let mut out = std::mem::take(&mut self.spare);
        out.status = if count > 1 { ImpactStatus::Several { count } } else { ImpactStatus::Solved };
        out.residual = 0.0;
        // u stands for u_C first
        self.after(u, rows, compression, &mut out.u, &mut out.compression);
        verify::list(&mut out.rate_c, (0..rows).map(|r| eval.rate(r, &out.u)));
        if std::ptr::eq(compression, total) {
            // one phase
            out.impulse.clone_from(&out.compression);
            out.rate_e.clone_from(&out.rate_c);
        } else {
            self.after(u, rows, total, &mut out.u, &mut out.impulse);
            verify::list(&mut out.rate_e, (0..rows).map(|r| eval.rate(r, &out.u)));
        }
        out.rate_a.clone_from(&self.rate_a);
        verify::list(&mut out.normal, info.iter().map(|c| c.normal_force(&out.impulse)));
        let tangential = |c: &ContactInfo| if let [t] = c.tangent[..] { out.impulse[t] } else { 0.0 };
        verify::list(&mut out.tangential, info.iter().map(tangential));
        verify::finish(law, info, eval, u, closed, e, &mut out, &mut self.scratch);
        out
    }

    // velocities and impulses per row after x̂
    fn after(&self, u: &[f64], rows: usize, x: &[f64], v: &mut Vec<f64>, impulse: &mut Vec<f64>) {
        let (l, red) = (&self.layout, &self.reduced);
        verify::list(v, u.iter().zip(&red.a0).map(|(u, a)| u + a));
        verify::zeros(impulse, rows);
        for (k, &row) in l.bilateral.iter().enumerate() {
            impulse[row] = red.s0[k];
        }
        for (i, &row) in l.rows.iter().enumerate() {
            let f = x[i] / self.problem.scale[i];
            impulse[row] = f;
            axpy(f, red.a.row(i), v);
            for (k, &b) in l.bilateral.iter().enumerate() {
                impulse[b] += red.s[(k, i)] * f;
            }
        }
    }

    fn unsolved(&self, info: &[ContactInfo], u: &[f64], status: ImpactStatus) -> Impact {
        let (rows, m) = (self.rate_a.len(), info.len());
        Impact {
            status,
            u: u.to_vec(),
            impulse: vec![0.0; rows],
            compression: vec![0.0; rows],
            normal: vec![0.0; m],
            tangential: vec![0.0; m],
            rate_a: self.rate_a.clone(),
            rate_c: self.rate_a.clone(),
            rate_e: self.rate_a.clone(),
            normal_work: vec![0.0; m],
            tangential_work: vec![0.0; m],
            residual: f64::INFINITY,
            ..Impact::default()
        }
    }
}

/// What is known of tangent `j`: a slip a thousand times as fast as all normal velocities of an impact goes on, as a rule
/// ([`Phase::solve`] makes sure). An impact without collision is another matter.
fn fast(p: &Problem, j: usize) -> Start {
    let slip = p.c[p.normals + j];
    let normal = p.c[..p.normals].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let unilateral = p.friction[j].follows_normal().is_some();
    match slip {
        s if !unilateral || s.abs() <= FAST * normal || normal <= SPEED_ZERO * s.abs() => Start::Zero,
        s if s > 0.0 => Start::Plus,
        _ => Start::Minus,
    }
}

#[cfg(test)]
mod tests;
