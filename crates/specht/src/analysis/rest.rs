//! Does a machine at rest stay at rest? (ANH-2.4-REST)
//!
//! At zero velocity every pattern of open, stick and slip in either direction, with either sign of the bilateral reactions, is a
//! candidate; [`crate::contact::Transition`] lists all that satisfy the laws. Forces in balance mean *stays*, accelerations
//! mean *moves*; a paradox region admits both:
//!
//! | verdict | solutions |
//! |---|---|
//! | `stays` | rest only |
//! | `moves` | motion only |
//! | `both`  | rest and motion: rigid-body friction does not decide |
//! | `none`  | neither |
//!
//! Equality at the limit counts as rest. *Balance* is decided on forces, `|M u̇| ≤ 1e-9` of the largest force term, so that
//! massless coordinates do not spoil it.
//!
//! The load at which it starts: where the forces are affine in the load parameter the set of loads that can be carried
//! is a union of intervals whose ends are exact vertices ([`super::statics`]); otherwise the border is bracketed and bisected.
//!
//! For one coordinate and one bilateral pair the verdict of the book (Theorems 2 and 3) stands beside; it differs in case
//! (ii+), where the book lets it move and rest is possible too, and in case (iii), where the book sees both and only motion satisfies the
//! law of Coulomb.

use super::one_pair::{BookRest, OnePair};
use super::statics::{Hold, Interval, Statics};
use crate::contact::{Solution, Start, Status, Transition};
use crate::system::{ContactInfo, Eval, Mode};

/// Forces are in balance when what is left is below this fraction of the largest term.
pub(crate) const BALANCE: f64 = 1e-9;

/// What is possible from rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RestVerdict {
    /// Only rest.
    Stays,
    /// Only motion.
    Moves,
    /// Rest and motion.
    Both,
    /// No solution.
    None,
}

impl RestVerdict {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            RestVerdict::Stays => "stays",
            RestVerdict::Moves => "moves",
            RestVerdict::Both => "both",
            RestVerdict::None => "none",
        }
    }
}

/// What the solution set at rest admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Motion {
    /// A solution with all forces in balance exists.
    pub stays: bool,
    /// A solution that moves exists.
    pub moves: bool,
    /// All patterns were searched.
    pub complete: bool,
    /// The equations could be posed.
    pub valid: bool,
}

impl Motion {
    /// The verdict.
    pub(crate) fn verdict(&self) -> RestVerdict {
        match (self.stays, self.moves) {
            (true, true) => RestVerdict::Both,
            (true, false) => RestVerdict::Stays,
            (false, true) => RestVerdict::Moves,
            (false, false) => RestVerdict::None,
        }
    }

    pub(super) fn kind(&self) -> (bool, bool) {
        (self.stays, self.moves)
    }
}

/// One possible outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Whether it moves.
    pub moves: bool,
    /// Modes per contact.
    pub modes: Vec<Mode>,
    /// Accelerations.
    pub accel: Vec<f64>,
    /// Their signs; 0 where one is nothing beside the others, by inertia.
    pub signs: Vec<f64>,
    /// Normal force per contact.
    pub normal: Vec<f64>,
    /// Tangential force per contact, along its first tangent.
    pub tangential: Vec<f64>,
    /// Forces by rows.
    pub lambda: Vec<f64>,
}

/// Everything about rest at one configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    /// The verdict by complete enumeration.
    pub verdict: RestVerdict,
    /// All outcomes, rest first.
    pub outcomes: Vec<Outcome>,
    /// The book's verdict and direction (sign of the slip), for one coordinate and one bilateral pair.
    pub book: Option<(BookRest, f64)>,
    /// False when there were too many patterns to search: there may be more outcomes.
    pub complete: bool,
    /// The equations could be posed; false for a mass matrix that is singular on free motions.
    pub valid: bool,
}

impl Rest {
    /// Whether the book says something else.
    pub fn differs_from_book(&self) -> bool {
        let same = |b: BookRest| {
            matches!(
                (b, self.verdict),
                (BookRest::Stays, RestVerdict::Stays)
                    | (BookRest::Moves, RestVerdict::Moves)
                    | (BookRest::Both, RestVerdict::Both)
            )
        };
        self.book.is_some_and(|(b, _)| !same(b))
    }

    /// Sign of the acceleration of each coordinate over all moving outcomes: ±1, 0 for none, `None` when they disagree.
    pub(crate) fn direction(&self) -> Vec<Option<f64>> {
        let n = self.outcomes.first().map_or(0, |o| o.accel.len());
        let mut out = vec![Some(0.0); n];
        for (count, o) in self.outcomes.iter().filter(|o| o.moves).enumerate() {
            for (d, &sign) in out.iter_mut().zip(&o.signs) {
                *d = if count == 0 { Some(sign) } else { d.filter(|v| *v == sign) };
            }
        }
        out
    }
}

/// Signs of accelerations: 0 below [`BALANCE`] of the largest, by the work of inertia `M_kk a_k²`.
pub(super) fn signs(eval: &Eval, accel: &[f64]) -> Vec<f64> {
    let weight = |k: usize| eval.mass.diagonal(k).max(0.0).sqrt();
    let size = accel.iter().enumerate().fold(0.0_f64, |m, (k, a)| m.max(weight(k) * a.abs()));
    let none = |k: usize, a: f64| a == 0.0 || (weight(k) > 0.0 && weight(k) * a.abs() <= BALANCE * size);
    accel.iter().enumerate().map(|(k, &a)| if none(k, a) { 0.0 } else { a.signum() }).collect()
}

/// What is possible from rest, briefly.
pub(crate) fn motion(
    info: &[ContactInfo],
    eval: &Eval,
    starts: &[Start],
    transition: &mut Transition,
) -> Motion {
    let set = transition.solve(info, eval, starts);
    let mut out =
        Motion { stays: false, moves: false, complete: set.complete, valid: set.status != Status::Invalid };
    for s in &set.solutions {
        if is_balanced(eval, s) { out.stays = true } else { out.moves = true }
    }
    // a continuum of accelerations contains motion, whatever its representative does
    out.moves |= set.families.iter().any(|f| f.moves);
    out
}

/// The whole answer. `starts` are those of zero velocity.
pub(crate) fn rest(info: &[ContactInfo], eval: &Eval, starts: &[Start], transition: &mut Transition) -> Rest {
    let set = transition.solve(info, eval, starts);
    let mut outcomes: Vec<Outcome> = set
        .solutions
        .iter()
        .map(|s| Outcome {
            moves: !is_balanced(eval, s),
            modes: s.modes.clone(),
            accel: s.forces.accel.clone(),
            signs: signs(eval, &s.forces.accel),
            normal: s.forces.normal.clone(),
            tangential: s.forces.tangential.clone(),
            lambda: s.forces.lambda.clone(),
        })
        .collect();
    outcomes.sort_by_key(|o| o.moves);
    let moves = outcomes.iter().any(|o| o.moves) || set.families.iter().any(|f| f.moves);
    let stays = outcomes.iter().any(|o| !o.moves);
    let valid = set.status != Status::Invalid;
    let motion = Motion { stays, moves, complete: set.complete, valid };
    let closed: Vec<bool> = starts.iter().map(|s| *s != Start::Open).collect();
    let mut pairs = (0..info.len()).filter_map(|i| OnePair::of(info, eval, &closed, i));
    let book = pairs.next().filter(|p| p.s > 0.0).map(|p| p.rest());
    Rest { verdict: motion.verdict(), outcomes, book, complete: set.complete, valid }
}

/// `|h + Wᵀ λ|` against the largest of its terms, each coordinate measured by its inertia: forces and torques then compare in any
/// units. Coordinates without inertia are in balance by themselves.
pub(super) fn is_balanced(eval: &Eval, s: &Solution) -> bool {
    let n = eval.h.len();
    let (mut left, mut size) = (0.0_f64, f64::MIN_POSITIVE);
    let mut inertia = vec![0.0; n];
    eval.mass.mul_vec(&s.forces.accel, &mut inertia);
    for k in (0..n).filter(|&k| eval.mass.diagonal(k) > 0.0) {
        let unit = eval.mass.diagonal(k).sqrt();
        let (mut sum, mut largest) = (eval.h[k], eval.h[k].abs());
        for (row, &f) in s.forces.lambda.iter().enumerate() {
            let term = eval.w[(row, k)] * f;
            sum += term;
            largest = largest.max(term.abs());
        }
        left = left.max(sum.abs().max(inertia[k].abs()) / unit);
        size = size.max(largest / unit);
    }
    left <= BALANCE * size
}

/// The interval of factors p for which `h + p e` can be carried, by linear programs; `None` when journals rub or
/// there are too many sign patterns.
pub(crate) fn carried(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    base: &[f64],
    e: &[f64],
) -> Option<Vec<Interval>> {
    let statics = Statics { info, eval, closed, loads: true };
    if !statics.is_linear() && !statics.has_discs() {
        return None;
    }
    statics.intervals(base, e, &vec![Hold::Stick; info.len()])
}

/// Ends of the interval around `inside` in which `stays` holds, by doubling steps and bisection to 1e-14 of the size; an end
/// beyond `reach` is infinite.
pub(crate) fn bracket(inside: f64, step: f64, reach: f64, stays: &mut dyn FnMut(f64) -> bool) -> Interval {
    let mut end = |s: f64| {
        let (mut lo, mut width) = (inside, step.abs().max(f64::MIN_POSITIVE));
        let mut hi = loop {
            let next = inside + s * width;
            if (next - inside).abs() > reach {
                return s * f64::INFINITY;
            }
            if !stays(next) {
                break next;
            }
            lo = next;
            width *= 2.0;
        };
        for _ in 0..200 {
            let mid = 0.5 * (lo + hi);
            if (hi - lo).abs() <= 1e-14 * lo.abs().max(hi.abs()) || mid == lo || mid == hi {
                break;
            }
            if stays(mid) { lo = mid } else { hi = mid }
        }
        0.5 * (lo + hi)
    };
    [end(-1.0), end(1.0)]
}
