//! All contacts of a spatial force problem at once, where sweeps over single contacts do not settle (METH-3D-ACC)
//!
//! A leg of a table alone may have no solution while the forces of the others are frozen, though the table stands. Then the cone solver looks at
//! all contacts together ([`crate::cone`]); what each contact does in its answer is a system of equations,
//!
//! ```text
//! opens   λ = 0                     sticks   a_N = 0, a_T = 0
//! slides  a_N = 0, d known          slips    a_N = 0, d⊥·a_T = 0, λ_T = −μ λ_N f(d), d = (cos θ, sin θ)
//! ```
//!
//! which Newton's method solves to rounding, forces that the motion leaves free nearest to those of the cone solver. The answer counts when the
//! laws of all contacts hold. A contact whose normal force is at least p (an expansion) is two there, at one place: one under the load p, and one
//! that presses by what exceeds it; both slip in the same direction, and the radii of their discs add. Where nothing exceeds p it slips or sticks
//! under that load, and a_N ≥ 0. Laws with a section that is no ellipse, with three tangents, or with static above sliding friction at a contact
//! that begins to slip have no answer here.

use crate::cone::{self, Contact, Law, Matrix, Problem};
use crate::linalg::{FullPivot, Mat, dot, max_abs};
use crate::system::Section;

use super::space::{Cone, Does, Sliding};

/// Steps of Newton's method, and the accelerations that are left, relative to those without forces.
const STEPS: usize = 30;
const EXACT: f64 = 1e-13;
/// Violation of a law that is rounding, relative to the largest force or acceleration.
const ROUNDING: f64 = 1e-10;
/// Slip that the cone solver cannot tell from stick, relative to the largest acceleration.
const SLIPS: f64 = 1e-7;

/// Forces and what the contacts do; `None` where none was found.
pub(super) fn together(cones: &[Cone], g: &Mat, b: &[f64], lambda: &mut [f64]) -> Option<Vec<Does>> {
    let posed = pose(cones, g, b)?;
    let settings = cone::Settings { tolerance: 1e-10, parallel: false, warm: false, ..Default::default() };
    let answer = cone::Solver::new(settings).solve(&posed).ok()?;
    if !(answer.error() <= 1e-8) {
        return None;
    }
    // back to the rows of all contacts: a contact that slides has one row there
    let mut trial = vec![0.0; lambda.len()];
    let mut at = 0;
    for c in cones {
        let rows = rows_of(c);
        match c.friction {
            Sliding::Slides { mu, d } => {
                slide(c, mu, d, answer.r.get(at).copied().unwrap_or(0.0), &mut trial)
            }
            Sliding::Rests { .. } => trial[c.at..c.at + rows].copy_from_slice(&answer.r[at..at + rows]),
        }
        at += posed_rows(c);
        if c.least > 0.0 {
            trial[c.at] += c.least;
        }
        if under_least(c) {
            (0..c.tangents).for_each(|t| trial[c.at + 1 + t] += answer.r[at + t]);
            at += c.tangents;
        }
    }
    let a = accelerations(g, b, &trial);
    let size = size_of(cones, g, b);
    let does: Vec<Does> = cones.iter().map(|c| classify(c, &a, &trial, size)).collect();
    let mut modes = Modes::new(cones, g, b, does);
    let largest = max_abs(&trial);
    for (at_least, c) in modes.at_least.iter_mut().zip(cones) {
        *at_least = c.least > 0.0 && !(trial[c.at] - c.least > SLIPS * largest);
    }
    modes.solve(&mut trial)?;
    modes.hold(&trial).then(|| {
        lambda.copy_from_slice(&trial);
        modes.does
    })
}

/// Forces brought to rounding with what the contacts do, where their sweeps end early; left as they are where that does not keep the laws.
pub(super) fn refine(cones: &[Cone], g: &Mat, b: &[f64], lambda: &mut [f64], does: &mut Vec<Does>) {
    if !cones.iter().all(|c| plain(c) && c.least == 0.0) {
        return;
    }
    let mut modes = Modes::new(cones, g, b, does.clone());
    let mut trial = lambda.to_vec();
    if modes.solve(&mut trial).is_some() && modes.hold(&trial) {
        lambda.copy_from_slice(&trial);
        *does = modes.does;
    }
}

/// Whether a contact has an answer here.
fn plain(c: &Cone) -> bool {
    let unloaded = || matches!((c.friction, c.given), (Sliding::Rests { .. }, None));
    let adds = c.tangents == 0 || c.section == Section::Round;
    c.tangents <= 2 && c.inner.is_none() && (c.least == 0.0 || (unloaded() && adds))
}

/// Whether the least force of a contact rubs, as a contact of its own.
fn under_least(c: &Cone) -> bool {
    let rubs = matches!(c.friction, Sliding::Rests { rest, .. } if rest > 0.0);
    c.least > 0.0 && c.tangents > 0 && rubs
}

/// The largest rate without the forces that are sought.
fn size_of(cones: &[Cone], g: &Mat, b: &[f64]) -> f64 {
    let mut least = vec![0.0; b.len()];
    cones.iter().filter(|c| c.least > 0.0).for_each(|c| least[c.at] = c.least);
    max_abs(b).max(max_abs(&accelerations(g, b, &least)))
}

/// Rows that a contact has here, and in the problem of the cone solver.
fn rows_of(c: &Cone) -> usize {
    usize::from(c.given.is_none()) + c.tangents
}

fn posed_rows(c: &Cone) -> usize {
    match (c.friction, c.given) {
        (Sliding::Slides { .. }, None) => 1,
        (Sliding::Slides { .. }, Some(_)) => 0,
        _ => rows_of(c),
    }
}

/// The friction of a contact that slides along d under the normal force n.
fn slide(c: &Cone, mu: f64, d: [f64; 3], n: f64, lambda: &mut [f64]) {
    let load = c.given.unwrap_or(n);
    let first = c.at + usize::from(c.given.is_none());
    if c.given.is_none() {
        lambda[c.at] = n;
    }
    let push = c.section.push(d);
    (0..c.tangents).for_each(|t| lambda[first + t] = -mu * load * push[t]);
}

/// The problem of the cone solver: `u = W r + q` with the accelerations as u. Contacts that slide have their normal row alone, with the friction
/// that follows it in their column.
fn pose(cones: &[Cone], g: &Mat, b: &[f64]) -> Option<Problem> {
    if !cones.iter().all(plain) {
        return None;
    }
    let mut contacts = Vec::new();
    let (mut kept, mut columns, mut given) = (Vec::new(), Vec::new(), vec![0.0; b.len()]);
    for (key, c) in cones.iter().enumerate() {
        match (c.friction, c.given) {
            (Sliding::Slides { mu, d }, load) => {
                if load.is_some() {
                    slide(c, mu, d, 0.0, &mut given);
                    continue;
                }
                let mut column = vec![0.0; b.len()];
                slide(c, mu, d, 1.0, &mut column);
                contacts.push(Contact { law: Law::Coulomb { mu: 0.0 }, rows: 1, key: key as u64 });
                kept.push(c.at);
                columns.push(column);
                continue;
            }
            (Sliding::Rests { rest, .. }, load) => {
                let law = match (c.section, load) {
                    (Section::Round, Some(n)) => Law::Loaded { bound: rest * n },
                    (Section::Round, None) => Law::Coulomb { mu: rest },
                    (Section::Ellipse(m), None) if c.tangents == 2 => {
                        Law::Elliptic { mu: m.map(|m| m * rest) }
                    }
                    _ => return None,
                };
                contacts.push(Contact { law, rows: rows_of(c), key: key as u64 });
            }
        }
        let mut rows: Vec<usize> = (c.at..c.at + rows_of(c)).collect();
        if c.least > 0.0 {
            given[c.at] = c.least;
        }
        if let (true, Sliding::Rests { rest, .. }) = (under_least(c), c.friction) {
            let law = Law::Loaded { bound: rest * c.least };
            contacts.push(Contact { law, rows: c.tangents, key: (cones.len() + key) as u64 });
            rows.extend(c.at + 1..c.at + 1 + c.tangents);
        }
        for r in rows {
            let mut column = vec![0.0; b.len()];
            column[r] = 1.0;
            kept.push(r);
            columns.push(column);
        }
    }
    let w = Mat::from_fn(kept.len(), kept.len(), |i, j| dot(g.row(kept[i]), &columns[j]));
    let free = accelerations(g, b, &given);
    let q = kept.iter().map(|&r| free[r]).collect();
    Some(Problem::from_w(Matrix::Dense(w), q, contacts))
}

fn accelerations(g: &Mat, b: &[f64], lambda: &[f64]) -> Vec<f64> {
    (0..b.len()).map(|r| b[r] + dot(g.row(r), lambda)).collect()
}

/// What a contact does in an answer of the cone solver.
fn classify(c: &Cone, a: &[f64], lambda: &[f64], size: f64) -> Does {
    let first = c.at + usize::from(c.given.is_none());
    let n = c.given.unwrap_or_else(|| lambda[c.at]);
    if c.given.is_none() && c.least == 0.0 && !(n > SLIPS * max_abs(lambda)) {
        return Does::Opens;
    }
    match c.friction {
        Sliding::Slides { d, .. } => Does::Slips(d),
        Sliding::Rests { .. } => {
            let t = |k: usize| if k < c.tangents { a[first + k] } else { 0.0 };
            let speed = t(0).hypot(t(1));
            if speed > SLIPS * size { Does::Slips([t(0) / speed, t(1) / speed, 0.0]) } else { Does::Sticks }
        }
    }
}

/// One unknown of the equations: a force, or the angle of a slip.
#[derive(Clone, Copy)]
enum Unknown {
    Force(usize),
    Angle(usize),
}

/// Contacts with what they do.
struct Modes<'a> {
    cones: &'a [Cone],
    g: &'a Mat,
    b: &'a [f64],
    does: Vec<Does>,
    /// Contacts that press with no more than their least force.
    at_least: Vec<bool>,
}

impl<'a> Modes<'a> {
    fn new(cones: &'a [Cone], g: &'a Mat, b: &'a [f64], does: Vec<Does>) -> Self {
        Modes { cones, g, b, does, at_least: vec![false; cones.len()] }
    }

    /// Whether friction follows the normal force in a direction; μ and the direction.
    fn rubs(&self, k: usize) -> Option<(f64, [f64; 3])> {
        let c = &self.cones[k];
        match (self.does[k], c.friction) {
            (Does::Slips(d), Sliding::Rests { mu, .. } | Sliding::Slides { mu, .. }) if c.tangents > 0 => {
                Some((mu, d))
            }
            _ => None,
        }
    }

    /// Whether the direction of slip is unknown.
    fn turns(&self, k: usize) -> bool {
        let c = &self.cones[k];
        c.tangents == 2 && matches!((self.does[k], c.friction), (Does::Slips(_), Sliding::Rests { .. }))
    }

    fn unknowns(&self) -> Vec<Unknown> {
        let mut out = Vec::new();
        for (k, c) in self.cones.iter().enumerate() {
            let first = c.at + usize::from(c.given.is_none());
            if self.does[k] == Does::Opens {
                continue;
            }
            if c.given.is_none() && !self.at_least[k] {
                out.push(Unknown::Force(c.at));
            }
            match self.does[k] {
                Does::Sticks => out.extend((0..c.tangents).map(|t| Unknown::Force(first + t))),
                _ if self.turns(k) => out.push(Unknown::Angle(k)),
                _ => {}
            }
        }
        out
    }

    /// Friction that follows, and forces that are none.
    fn fill(&self, lambda: &mut [f64]) {
        for (k, c) in self.cones.iter().enumerate() {
            if self.at_least[k] {
                lambda[c.at] = c.least;
            }
            if self.does[k] == Does::Opens {
                lambda[c.at..c.at + rows_of(c)].fill(0.0);
            } else if let Some((mu, d)) = self.rubs(k) {
                let n = c.given.unwrap_or_else(|| lambda[c.at]);
                slide(c, mu, d, n, lambda);
            }
        }
    }

    /// Rate of all forces with an unknown.
    fn column(&self, unknown: Unknown, lambda: &[f64]) -> Option<Vec<f64>> {
        let mut out = vec![0.0; lambda.len()];
        match unknown {
            Unknown::Force(r) => {
                out[r] = 1.0;
                let normal = |c: &Cone| c.given.is_none() && c.at == r;
                if let Some(k) = self.cones.iter().position(normal)
                    && let Some((mu, d)) = self.rubs(k)
                {
                    slide(&self.cones[k], mu, d, 1.0, &mut out);
                }
            }
            Unknown::Angle(k) => {
                let c = &self.cones[k];
                let (mu, d) = self.rubs(k)?;
                let n = c.given.unwrap_or_else(|| lambda[c.at]);
                let push = c.section.push_rate(d, [-d[1], d[0], 0.0], c.section)?;
                let first = c.at + usize::from(c.given.is_none());
                (0..2).for_each(|t| out[first + t] = -mu * n * push[t]);
            }
        }
        Some(out)
    }

    /// d⊥·a of contact k.
    fn across(&self, k: usize, a: &[f64]) -> f64 {
        let c = &self.cones[k];
        let first = c.at + usize::from(c.given.is_none());
        let d = self.rubs(k).map_or([1.0, 0.0, 0.0], |r| r.1);
        d[0] * a[first + 1] - d[1] * a[first]
    }

    /// Newton's method on the equations of the modes; unknowns and equations belong to each other one by one.
    fn solve(&mut self, lambda: &mut [f64]) -> Option<()> {
        let unknowns = self.unknowns();
        let n = unknowns.len();
        let size = size_of(self.cones, self.g, self.b);
        let mut factor = FullPivot::default();
        let mut step = vec![0.0; n];
        for _ in 0..STEPS {
            self.fill(lambda);
            let a = accelerations(self.g, self.b, lambda);
            let value = |u: &Unknown, a: &[f64]| match *u {
                Unknown::Force(r) => a[r],
                Unknown::Angle(k) => self.across(k, a),
            };
            let left: Vec<f64> = unknowns.iter().map(|u| -value(u, &a)).collect();
            if max_abs(&left) <= EXACT * size {
                return Some(());
            }
            let mut jacobian = Mat::zeros(n, n);
            for (j, u) in unknowns.iter().enumerate() {
                let column = self.column(*u, lambda)?;
                let rates = accelerations(self.g, &vec![0.0; self.b.len()], &column);
                for (i, equation) in unknowns.iter().enumerate() {
                    jacobian[(i, j)] = value(equation, &rates);
                }
                // the direction turns too
                if let Unknown::Angle(k) = *u {
                    let c = &self.cones[k];
                    let first = c.at + usize::from(c.given.is_none());
                    let d = self.rubs(k)?.1;
                    jacobian[(j, j)] -= d[0] * a[first] + d[1] * a[first + 1];
                }
            }
            factor.factor(&jacobian);
            if !(factor.solve(&left, &[], &mut step) <= 1e-9) {
                return None;
            }
            for (u, s) in unknowns.iter().zip(&step) {
                match *u {
                    Unknown::Force(r) => lambda[r] += s,
                    Unknown::Angle(k) => {
                        let d = self.rubs(k)?.1;
                        let (sin, cos) = s.clamp(-0.5, 0.5).sin_cos();
                        self.does[k] = Does::Slips([d[0] * cos - d[1] * sin, d[1] * cos + d[0] * sin, 0.0]);
                    }
                }
            }
        }
        None
    }

    /// Whether all laws hold.
    fn hold(&self, lambda: &[f64]) -> bool {
        let a = accelerations(self.g, self.b, lambda);
        let force = ROUNDING * max_abs(lambda);
        let accel = ROUNDING * size_of(self.cones, self.g, self.b);
        self.cones.iter().zip(&self.does).zip(&self.at_least).all(|((c, does), at_least)| {
            let first = c.at + usize::from(c.given.is_none());
            let n = c.given.unwrap_or_else(|| lambda[c.at]);
            let t = |x: &[f64], k: usize| if k < c.tangents { x[first + k] } else { 0.0 };
            let presses = match at_least {
                true => a[c.at] >= -accel,
                false => c.given.is_some() || n >= c.least - force,
            };
            match (does, c.friction) {
                (Does::Opens, _) => a[c.at] >= -accel,
                (Does::Sticks, Sliding::Rests { rest, .. }) => {
                    presses && c.section.size([t(lambda, 0), t(lambda, 1), 0.0]) <= rest * n + force
                }
                (Does::Slips(d), Sliding::Rests { rest, mu }) => {
                    rest == mu && presses && d[0] * t(&a, 0) + d[1] * t(&a, 1) > 0.0
                }
                (_, Sliding::Slides { .. }) => presses,
            }
        })
    }
}
