//! Which directions of a force cannot start a mechanism (ANH-2.5-SELFBRAKE), for any number of coordinates and contacts.
//!
//! A planar force F at a point adds `Jᵀ F` to the forces. Without other loads every law is positively homogeneous, so the
//! verdict depends on the direction of F alone. For one pattern of modes and signs the forces and F for which it is a
//! solution form a polyhedral cone; its shadow on the plane of F is an arc, found exactly by linear programs:
//!
//! ```text
//! arc of a cone C ⊂ (F, x):   extremes of F₂ on C ∩ {F₁ = ±1},   feasibility of C ∩ {F₁ = 0, F₂ = ±1}
//! ```
//!
//! Between the ends of all arcs of all patterns the solution set does not change, so one look at the transition problem in the
//! middle of each piece, and one at each end, decides every direction. With journals (not polyhedral), or with more
//! patterns than [`MAX_PATTERNS`], directions are sampled every half degree and changes refined by bisection to 1e-12.
//!
//! Theorems 4 to 6 of the book are the case of one coordinate and one pair.

use std::f64::consts::{PI, TAU};

use super::arcs::{ANGLE, Arc, breakpoints, collect, is_symmetric, measure};
use super::rest::{Motion, motion};
use super::statics::{Hold, Statics};
use crate::contact::{Start, Transition};
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::modes::pattern::{Pattern, State, conditions};
use crate::system::{ContactInfo, Eval};

/// Patterns beyond which directions are sampled.
pub(crate) const MAX_PATTERNS: f64 = 3000.0;

/// A sector in which a force starts the mechanism and which is narrower than this, between two in which none does, is rounding: the ends of
/// both, nearly one direction, beside the border of self-braking.
const SLIVER: f64 = 1e-9;

/// Directions by what a force along them can do.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Stagnation {
    /// Directions in which no force starts the mechanism: it can only stay.
    pub stuck: Vec<Arc>,
    /// Directions in which rigid-body friction admits both rest and motion (paradox regions).
    pub ambiguous: Vec<Arc>,
    /// Directions in which every force starts it.
    pub moving: Vec<Arc>,
    /// Directions without any solution.
    pub none: Vec<Arc>,
    /// False when directions were sampled.
    pub exact: bool,
}

impl Stagnation {
    /// The stagnation angle Ψ: of the stuck set, half of it when it is symmetric (two-sided contacts: the dihedral angle of
    /// Theorem 5 is counted once; π for a point of self-braking).
    pub fn angle(&self) -> f64 {
        let all = measure(&self.stuck);
        if is_symmetric(&self.stuck) { 0.5 * all } else { all }
    }
}

/// Directions of a force with the generalised components `columns` (Jᵀ e₁, Jᵀ e₂) as the only load. `eval` gives M, W, μ;
/// its own forces, given loads and offsets are ignored.
pub(crate) fn stagnation(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    columns: &[Vec<f64>; 2],
    transition: &mut Transition,
) -> Stagnation {
    let mut quiet = silent(eval);
    let starts: Vec<Start> = closed.iter().map(|c| if *c { Start::Zero } else { Start::Open }).collect();
    let mut ask = |angle: f64| {
        let (s, c) = angle.sin_cos();
        for (k, h) in quiet.h.iter_mut().enumerate() {
            let terms = [c * columns[0][k], s * columns[1][k]];
            *h = terms[0] + terms[1];
            // a direction that the mechanism does not feel, up to rounding of the angle
            if h.abs() <= ANGLE * (terms[0].abs() + terms[1].abs()) {
                *h = 0.0;
            }
        }
        motion(info, &quiet, &starts, transition)
    };
    let exact = exact_breakpoints(info, eval, closed, &starts, columns);
    let is_exact = exact.is_some();
    let points = exact.unwrap_or_else(|| sampled_breakpoints(&mut ask));

    // one look per piece and per end
    let n = points.len();
    let middle = |k: usize| {
        let to = if k + 1 < n { points[k + 1] } else { points[0] + TAU };
        0.5 * (points[k] + to)
    };
    let mut at: Vec<Motion> = points.iter().map(|&p| ask(p)).collect();
    let mut between: Vec<Motion> =
        if n == 0 { vec![ask(0.3)] } else { (0..n).map(|k| ask(middle(k))).collect() };
    for k in 0..n {
        let (before, after) = (between[(k + n - 1) % n], between[(k + 1) % n]);
        let held = |m: &Motion| m.kind() == (true, false);
        if 2.0 * (middle(k) - points[k]) < SLIVER && n > 2 && held(&before) && held(&after) {
            between[k] = before;
            at[k] = before;
            at[(k + 1) % n] = after;
        }
    }
    for (k, end) in at.iter_mut().enumerate() {
        *end = settle(*end, between[(k + n - 1) % n], between[k]);
    }
    let arcs = |wanted: fn(&Motion) -> bool| {
        let pieces: Vec<bool> = between.iter().map(wanted).collect();
        let ends: Vec<bool> = at.iter().map(wanted).collect();
        collect(&points, &pieces, &ends)
    };
    Stagnation {
        stuck: arcs(|m| m.stays && !m.moves),
        ambiguous: arcs(|m| m.stays && m.moves),
        moving: arcs(|m| !m.stays && m.moves),
        none: arcs(|m| !m.stays && !m.moves),
        exact: is_exact,
    }
}

/// The answer at the end of a piece, where the forces of a direction the mechanism does not feel are rounding, from those on both sides:
/// what can be held is a closed set of directions, so an end of a piece that holds is held too; and no direction by itself
/// moves between two that do not.
fn settle(end: Motion, before: Motion, after: Motion) -> Motion {
    let mut out = end;
    if !end.stays && (before.stays || after.stays) {
        out.stays = true;
        out.moves = (!before.stays || before.moves) && (!after.stays || after.moves);
    }
    if out.stays && before.kind() == (true, false) && after.kind() == (true, false) {
        out.moves = false;
    }
    out
}

/// The system without its own forces, loads and offsets.
pub(super) fn silent(eval: &Eval) -> Eval {
    let mut out = eval.clone();
    for v in [&mut out.h, &mut out.accel_offset, &mut out.rate_offset, &mut out.load, &mut out.load_static] {
        v.fill(0.0);
    }
    out
}

/// Ends of the arcs of all patterns; `None` when they are not polyhedral or too many.
fn exact_breakpoints(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    starts: &[Start],
    columns: &[Vec<f64>; 2],
) -> Option<Vec<f64>> {
    let statics = Statics { info, eval, closed, loads: false };
    // rest
    let mut arcs = static_arcs(&statics, columns)?;

    // motion: the conditions of every pattern, linear in F through c
    let mut quiet = silent(eval);
    let mut posed = Vec::new();
    for column in columns {
        quiet.h.copy_from_slice(column);
        let mut t = Transition::default();
        if !t.pose(info, &quiet, starts) {
            return None;
        }
        posed.push(t.problem);
    }
    let p = &posed[0];
    if crate::modes::search::count(p) > MAX_PATTERNS {
        return None;
    }
    let mut pattern = Pattern {
        closed: vec![None; p.normals],
        state: vec![None; p.friction.len()],
        sign: vec![0.0; p.friction.len()],
    };
    let r = p.dim();
    for_each_pattern(p, &mut pattern, 0, &mut |pattern| {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        conditions(&posed[0], pattern, true, &mut first);
        conditions(&posed[1], pattern, true, &mut second);
        let mut program = Program::new(2 + r);
        (0..2 + r).for_each(|j| {
            program.set_free(j);
        });
        for (a, b) in first.iter().zip(&second) {
            let mut row = vec![-a.b, -b.b];
            row.extend_from_slice(&a.a);
            program.row(&row, if a.equal { Sense::Equal } else { Sense::AtLeast }, 0.0);
        }
        arcs.extend(shadow(&program, 2 + r));
    });
    Some(breakpoints(&arcs))
}

/// Arcs of the directions that can be held, one or more per sign pattern (they may overlap); `None` when friction is not
/// polyhedral or the patterns are too many.
pub(super) fn static_arcs(statics: &Statics, columns: &[Vec<f64>; 2]) -> Option<Vec<Arc>> {
    if !statics.is_linear() {
        return None;
    }
    let hold = vec![Hold::Stick; statics.info.len()];
    let zero = vec![0.0; statics.eval.h.len()];
    let width = 2 + statics.eval.w.rows();
    let mut arcs = Vec::new();
    for signs in statics.patterns()? {
        arcs.extend(shadow(&statics.program(&zero, columns, &hold, &signs), width));
    }
    Some(arcs)
}

fn for_each_pattern(
    p: &crate::modes::problem::Problem,
    pattern: &mut Pattern,
    depth: usize,
    visit: &mut dyn FnMut(&Pattern),
) {
    if depth < p.normals {
        for closed in [true, false] {
            pattern.closed[depth] = Some(closed);
            for_each_pattern(p, pattern, depth + 1, visit);
        }
        return;
    }
    let j = depth - p.normals;
    let Some(f) = p.friction.get(j) else {
        // rest is treated apart
        if pattern.state.iter().any(|s| matches!(s, Some(State::Plus | State::Minus)))
            || pattern.closed.contains(&Some(false))
            || pattern.state.is_empty()
        {
            visit(pattern);
        }
        return;
    };
    let states: &[State] = match f.follows_normal() {
        Some(i) if pattern.closed[i] == Some(false) => &[State::Off],
        _ => &[State::Stick, State::Plus, State::Minus],
    };
    let signs: &[f64] = if f.is_signed() { &[1.0, -1.0] } else { &[0.0] };
    for &sign in signs {
        for &state in states {
            pattern.sign[j] = sign;
            pattern.state[j] = Some(state);
            for_each_pattern(p, pattern, depth + 1, visit);
        }
    }
}

/// The arc of directions (F₁, F₂) = first two variables of a cone.
fn shadow(cone: &Program, width: usize) -> Vec<Arc> {
    let fixed = |j: usize, value: f64| {
        let mut program = cone.clone();
        program.fix(j, value);
        program
    };
    let end = |program: &Program, s: f64| {
        let mut c = vec![0.0; width];
        c[1] = s;
        match program.maximize(&c).0 {
            LpOutcome::Optimal { value } => Some(s * value),
            LpOutcome::Unbounded => Some(s * f64::INFINITY),
            _ => None,
        }
    };
    let mut arcs = Vec::new();
    for x in [1.0, -1.0] {
        let program = fixed(0, x);
        if let (Some(lo), Some(hi)) = (end(&program, -1.0), end(&program, 1.0)) {
            // atan2 of the slopes; for F₁ < 0 the order turns around
            let (lo, hi) = (lo.min(hi), hi.max(lo));
            let angle = |y: f64| if y.is_infinite() { y.signum() * PI / 2.0 } else { y.atan() };
            arcs.push(if x > 0.0 {
                Arc::new(angle(lo), angle(hi))
            } else {
                Arc::new(PI - angle(hi), PI - angle(lo))
            });
        }
    }
    for y in [1.0, -1.0] {
        let mut program = fixed(0, 0.0);
        program.fix(1, y);
        if end(&program, 1.0).is_some() {
            arcs.push(Arc::new(y * PI / 2.0, y * PI / 2.0));
        }
    }
    arcs
}

fn sampled_breakpoints(ask: &mut dyn FnMut(f64) -> Motion) -> Vec<f64> {
    const STEPS: usize = 720;
    let mut points = Vec::new();
    let angle = |k: usize| -PI + 1e-3 + TAU * k as f64 / STEPS as f64;
    let mut before = ask(angle(0));
    for k in 1..=STEPS {
        let here = ask(angle(k));
        if here.kind() != before.kind() {
            let (mut lo, mut hi) = (angle(k - 1), angle(k));
            while hi - lo > 1e-12 {
                let mid = 0.5 * (lo + hi);
                if mid <= lo || mid >= hi {
                    break;
                }
                if ask(mid).kind() == before.kind() { lo = mid } else { hi = mid }
            }
            points.push(Arc::new(0.5 * (lo + hi), 0.5 * (lo + hi)));
        }
        before = here;
    }
    breakpoints(&points)
}
