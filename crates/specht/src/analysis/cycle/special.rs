//! Special points of branches: found where a test changes its sign or the events of a cycle change, and located (METH-BIF-SMOOTH,
//! METH-BIF-DIB). [DiBernardo2008]

use crate::sim::Kind;

use super::branch::{Branch, Follow, Point, Side, Step};

/// A cycle further from where the direction leads, relative to the step, may belong to another branch.
const FAR: f64 = 0.4;
/// Cycles on both sides of a change of events that differ by more are two branches.
const CONTINUOUS: f64 = 1e-3;
/// A cycle smaller than this, in units of the first, is all but a steady motion.
const SMALL: f64 = 0.05;
/// Steps of the location of a special point.
const LOCATE: usize = 40;

/// A special point.
pub(crate) struct Special {
    pub label: &'static str,
    pub at: Point,
    /// The cycles on both sides.
    pub before: Side,
    pub after: Option<Side>,
}

impl Point {
    /// Π (m + 1): changes its sign where the period doubles.
    fn doubling(&self) -> f64 {
        self.product(|re, im| if im == 0.0 { re + 1.0 } else { (re + 1.0).hypot(im) })
    }

    /// Π (m − 1) without the `neutral` factors nearest to zero: changes its sign at folds and where branches cross.
    fn crossing(&self, neutral: usize) -> f64 {
        let mut all: Vec<f64> = self
            .orbit
            .multipliers
            .iter()
            .filter(|m| m.im >= 0.0)
            .map(|m| match m.im {
                0.0 => m.re - 1.0,
                im => (m.re - 1.0).hypot(im),
            })
            .collect();
        all.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
        all.iter().skip(neutral).product()
    }

    /// Π (|m|² − 1) over pairs.
    fn torus(&self) -> f64 {
        self.product(|re, im| if im == 0.0 { 1.0 } else { re * re + im * im - 1.0 })
    }

    fn pairs(&self) -> usize {
        self.orbit.multipliers.iter().filter(|m| m.im > 0.0).count()
    }

    fn product(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        self.orbit.multipliers.iter().filter(|m| m.im >= 0.0).map(|m| f(m.re, m.im)).product()
    }
}

impl Follow<'_> {
    /// A step with its special points, if it did not jump to another branch: cycles with the same events lie where the direction leads,
    /// and where the events change the cycles on both sides are the same.
    pub(super) fn accepted(&self, from: &Point, step: Step, s: f64) -> Option<(Point, usize, Vec<Special>)> {
        let special = match from.sequence == step.point.sequence {
            true if step.off > FAR * s => return None,
            true => self.between(from, &step.point, s),
            false => vec![self.change(from, s)?],
        };
        Some((step.point, step.corrections, special))
    }

    /// How far a cycle moves, in units of the sizes of the first.
    fn extent(&self, p: &Point) -> f64 {
        let ranges = p.portrait.coordinates.iter().zip(&self.symmetry.scale);
        ranges.fold(0.0, |m, (r, d)| m.max((r.max - r.min) / d))
    }

    /// How much two cycles differ: periods and extremes, scaled.
    fn unlike(&self, a: &Point, b: &Point) -> f64 {
        let extremes = a.portrait.coordinates.iter().zip(&b.portrait.coordinates).zip(&self.symmetry.scale);
        let size = |r: &super::Range| r.max - r.min;
        extremes.fold((a.orbit.period / b.orbit.period - 1.0).abs(), |m, ((x, y), d)| {
            m.max((size(x) - size(y)).abs() / d)
        })
    }

    /// The point between `from` and `from + s` at which `f` vanishes.
    pub(super) fn locate(&self, from: &Point, s: f64, f: impl Fn(&Point) -> f64) -> Option<Point> {
        let (mut a, mut fa) = (0.0, f(from));
        let (mut b, mut best) = (s, self.step(from, s)?.point);
        let mut fb = f(&best);
        let mut side = 0.0;
        for _ in 0..LOCATE {
            if (b - a).abs() < 1e-10 || fb == 0.0 {
                break;
            }
            // regula falsi with halved weights, bisection where that leaves the bracket
            let mut x = (a * fb - b * fa) / (fb - fa);
            let inside = x > a.min(b) && x < a.max(b);
            if !inside {
                x = 0.5 * (a + b);
            }
            let Some(middle) = self.step(from, x) else { break };
            let fx = f(&middle.point);
            best = middle.point;
            if fx.abs() < 1e-11 {
                break;
            }
            if fx * fb > 0.0 {
                (b, fb) = (x, fx);
                if side == 1.0 {
                    fa *= 0.5;
                }
                side = 1.0;
            } else {
                (a, fa) = (x, fx);
                if side == -1.0 {
                    fb *= 0.5;
                }
                side = -1.0;
            }
        }
        Some(best)
    }

    /// Special points between two points of the branch.
    fn between(&self, a: &Point, b: &Point, s: f64) -> Vec<Special> {
        let mut out = Vec::new();
        let mut add = |label: &'static str, f: &dyn Fn(&Point) -> f64| {
            if let Some(at) = self.locate(a, s, f) {
                out.push(Special { label, at, before: a.side(), after: Some(b.side()) });
            }
        };
        let turns = a.tangent.parameter * b.tangent.parameter < 0.0;
        // a cycle that shrinks to nothing and grows again with the other phase is born there
        let born = self.extent(a).min(self.extent(b)) < SMALL;
        if turns {
            add(if born { "hopf" } else { "fold" }, &|p| p.tangent.parameter);
        }
        let nonzero = a.orbit.multipliers.len() == b.orbit.multipliers.len();
        if nonzero && a.doubling() * b.doubling() < 0.0 {
            add("doubling", &Point::doubling);
        }
        let neutral = a.orbit.neutral().min(b.orbit.neutral());
        if nonzero && !turns && a.crossing(neutral) * b.crossing(neutral) < 0.0 {
            add("pitchfork", &|p| p.crossing(neutral));
        }
        if nonzero && a.pairs() == b.pairs() && a.pairs() > 0 && a.torus() * b.torus() < 0.0 {
            add("torus", &Point::torus);
        }
        out
    }

    /// The events change within a step: where, and what it is. `None`: the step jumps to a cycle that is another one.
    fn change(&self, a: &Point, s: f64) -> Option<Special> {
        let (mut low, mut high) = (0.0, s);
        let (mut left, mut right): (Option<Point>, Option<Point>) = (None, None);
        for _ in 0..LOCATE {
            let middle = 0.5 * (low + high);
            match self.step(a, middle) {
                Some(step) if step.point.sequence == a.sequence => {
                    left = Some(step.point);
                    low = middle;
                }
                Some(step) => {
                    right = Some(step.point);
                    high = middle;
                }
                None => high = middle,
            }
            if high - low < 1e-10 {
                break;
            }
        }
        let right = right?;
        let near = left.as_ref().unwrap_or(a);
        if self.unlike(near, &right) > CONTINUOUS {
            return None;
        }
        let (before, after) = (near.side(), right.side());
        let label = change_of(a, &right);
        Some(Special { label, at: left.unwrap_or(right), before, after: Some(after) })
    }

    /// No step finds another cycle: the margins of the last one say why.
    pub(super) fn end(&self, branch: &mut Branch) {
        let Some(last) = branch.points.pop() else { return };
        let seen = &last.portrait;
        let small = |x: Option<f64>, size: f64| x.is_some_and(|x| x < 1e-2 * size);
        let speed = self.symmetry.scale[last.orbit.start.q.len()..].iter().fold(0.0_f64, |m, s| m.max(*s));
        let length = self.symmetry.scale[..last.orbit.start.q.len()].iter().fold(0.0_f64, |m, s| m.max(*s));
        let (label, reason) = if self.extent(&last) < SMALL {
            ("hopf", "the cycle shrinks to a steady motion")
        } else if small(seen.slowest_impact, speed) || small(seen.grazing, length) {
            ("grazing", "grazing: an impact of the cycle loses its speed, or a contact is touched")
        } else if small(seen.shortest_stick, last.orbit.period) {
            ("stick-loss", "loss of stick: a stick of the cycle has no length any more")
        } else if small(seen.least_slip, speed) {
            ("stick-onset", "a slip of the cycle comes to zero")
        } else {
            ("end", "no cycle is found any further")
        };
        branch.ended = reason.to_string();
        let before = last.side();
        let copy = self.shoot(&last.guess()).and_then(|(g, shot)| self.point(g, shot, Some(&last.tangent)));
        branch.points.push(last);
        if let Some(at) = copy {
            branch.special.push(Special { label, at, before, after: None });
        }
    }
}

/// What a change of events is called.
fn change_of(a: &Point, b: &Point) -> &'static str {
    let count = |p: &Point, kind: Kind| p.sequence.iter().filter(|e| e.0 == kind).count();
    let more = |kind: Kind| count(b, kind) as i64 - count(a, kind) as i64;
    if more(Kind::Impact) != 0 {
        return "grazing";
    }
    if more(Kind::Stick) != 0 || more(Kind::Slip) != 0 {
        // a new stop is short in time at rest, a new slip in time of motion
        let longer = if more(Kind::Stick) + more(Kind::Slip) > 0 { b } else { a };
        let stick = longer.portrait.shortest_stick.unwrap_or(f64::INFINITY);
        let slip = longer.portrait.shortest_slip.unwrap_or(f64::INFINITY);
        return match (slip < stick, more(Kind::Stick) + more(Kind::Slip) > 0) {
            (true, _) => "slip-onset",
            (false, true) => "stick-onset",
            (false, false) => "stick-loss",
        };
    }
    if more(Kind::Detach) != 0 || more(Kind::Touch) != 0 {
        return "lift-off";
    }
    if more(Kind::Switch) != 0 {
        return "switch";
    }
    "order-change"
}
