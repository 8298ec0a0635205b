//! Special points of branches: found where a test changes its sign or the events of a cycle change, and located (METH-BIF-SMOOTH,
//! METH-BIF-DIB). [DiBernardo2008]

use crate::sim::Kind;

use super::branch::{Branch, Follow, Point, Side, Step};
use super::portrait::Portrait;

/// A cycle further from where the direction leads, relative to the step, may belong to another branch.
const FAR: f64 = 0.4;
/// Cycles on both sides of a change of events that differ by more are two branches.
const CONTINUOUS: f64 = 1e-3;
/// A cycle smaller than this, in units of the first, is all but a steady motion.
const SMALL: f64 = 0.05;
/// What is smaller beside the sizes of the motion is about to be lost.
const LOST: f64 = 1e-2;
/// An impact that is slower, beside the speeds of the motion, all but grazes.
const TOUCHES: f64 = 1e-4;
/// Cycles through which it is led on to nothing.
const NODES: usize = 5;
/// What is smaller, beside the sizes of the motion, is not measured well.
const MEASURED: f64 = 1e-5;
/// Special points of one label that are nearer, in units of the range, are the same.
const NEAR: f64 = 1e-5;
/// Every so many steps of the location of a change it is asked whether it is a jump.
const GLANCE: usize = 5;
/// Steps of the location of a special point.
const LOCATE: usize = 40;

/// A special point.
pub(crate) struct Special {
    pub label: &'static str,
    /// Where it is; the cycle `at` may be a little before it, where none is found any further.
    pub parameter: f64,
    pub at: Point,
    /// The point of the branch before it.
    pub from: usize,
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
    pub(super) fn accepted(
        &self,
        points: &[Point],
        step: Step,
        s: f64,
    ) -> Option<(Point, usize, Vec<Special>)> {
        let from = points.last()?;
        let special = match from.sequence == step.point.sequence {
            true if step.off > FAR * s => return None,
            true => self.between(from, &step.point, s),
            false => vec![self.change(points, &step.point, s)?],
        };
        Some((step.point, step.corrections, special))
    }

    /// How far a cycle moves, in units of the sizes of the first.
    fn extent(&self, p: &Point) -> f64 {
        let ranges = self.look(p).map_or(&[][..], |seen| &seen.coordinates);
        ranges.iter().zip(&self.symmetry.scale).fold(0.0, |m, (r, d)| m.max((r.max - r.min) / d))
    }

    /// How much two cycles differ: periods and extremes, scaled.
    pub(super) fn unlike(&self, a: &Point, b: &Point) -> f64 {
        let (Some(x), Some(y)) = (self.look(a), self.look(b)) else { return f64::INFINITY };
        let extremes = x.coordinates.iter().zip(&y.coordinates).zip(&self.symmetry.scale);
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
                let (parameter, sides) = (at.parameter, [a.side(), b.side()]);
                let [before, after] = sides;
                out.push(Special { label, parameter, at, from: 0, before, after: Some(after) });
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
    fn change(&self, points: &[Point], behind: &Point, s: f64) -> Option<Special> {
        let a = points.last()?;
        let (mut low, mut high) = (0.0, s);
        let (mut before, mut right): (Vec<Point>, Point) = (Vec::new(), behind.clone());
        let mut apart = f64::INFINITY;
        for round in 0..LOCATE {
            // a jump stays as large as it is
            if round % GLANCE == 0 {
                let near = before.last().unwrap_or(a);
                let now = self.unlike(near, &right);
                if now > CONTINUOUS && now > 0.25 * apart {
                    return None;
                }
                // Newton's method has a hard time beside a grazing, and what the speed tells is better
                let grazes = || matches!(self.nearest_loss(near), Some((Loss::Impact, _)));
                if now < CONTINUOUS && grazes() && self.changes_at(points, &before, &right).is_some() {
                    break;
                }
                apart = now;
            }
            let middle = 0.5 * (low + high);
            match self.step(a, middle) {
                Some(step) if step.point.sequence == a.sequence => {
                    before.push(step.point);
                    low = middle;
                }
                Some(step) => {
                    right = step.point;
                    high = middle;
                }
                None => high = middle,
            }
            if high - low < 1e-10 {
                break;
            }
        }
        let near = before.last().unwrap_or(a);
        if self.unlike(near, &right) > CONTINUOUS {
            return None;
        }
        let label = change_of(near, &right);
        let (sides, parameter) = ([near.side(), right.side()], self.changes_at(points, &before, &right));
        let at = before.pop().unwrap_or_else(|| a.clone());
        let (parameter, [before, after]) = (parameter.unwrap_or(at.parameter), sides);
        Some(Special { label, parameter, at, from: 0, before, after: Some(after) })
    }

    /// No step finds another cycle: what the last one is about to lose says why, and where. True where slips that touch zero would have to
    /// grow to go on with a stick, false where a stick is lost; none where it is something else.
    pub(super) fn end(&self, branch: &mut Branch) -> Option<bool> {
        let last = branch.points.last()?;
        let lost = match self.extent(last) < SMALL {
            true => None,
            false => self.nearest_loss(last),
        };
        let (label, reason) = match lost {
            Some((loss, _)) => loss.words(),
            None if self.extent(last) < SMALL => ("hopf", "the cycle shrinks to a steady motion"),
            None => ("end", "no cycle is found any further"),
        };
        branch.ended = reason.to_string();
        let place = lost.and_then(|lost| self.vanishes(branch.points.iter().rev(), lost));
        let parameter = place.unwrap_or(last.parameter);
        // the same seen before, where rounding hides what is lost
        let known = |s: &Special| s.label == label && (s.parameter - parameter).abs() < NEAR * self.width();
        if branch.special.last().is_some_and(known) {
            branch.special.pop();
        }
        let copy = self.shoot(&last.guess()).and_then(|(g, shot)| self.point(g, shot, Some(&last.tangent)));
        if let Some(at) = copy {
            let (from, before) = (branch.points.len() - 1, last.side());
            branch.special.push(Special { label, parameter, at, from, before, after: None });
        }
        match lost?.0 {
            Loss::Stick | Loss::Arrival => Some(false),
            Loss::Slip => Some(true),
            Loss::Impact | Loss::Gap => None,
        }
    }

    /// Where the events change: between cycles that come ever nearer to it and the first one behind it, what is lost vanishes.
    fn changes_at(&self, points: &[Point], before: &[Point], behind: &Point) -> Option<f64> {
        let last = before.last().or(points.last())?;
        let row = before.iter().rev().chain(points.iter().rev());
        let place = self.vanishes(row, self.nearest_loss(last)?)?;
        let between = (place - last.parameter) * (place - behind.parameter) <= 0.0;
        between.then_some(place)
    }

    /// Where what is lost vanishes: the parameter as a polynomial of it, through the cycles of a row, the last one first. A loss goes linearly or with
    /// the square root of the parameter; both are such polynomials.
    fn vanishes<'p>(&self, row: impl Iterator<Item = &'p Point>, (loss, size): (Loss, f64)) -> Option<f64> {
        // what is read off the rows of a run is not exact enough
        if matches!(loss, Loss::Gap | Loss::Slip) {
            return None;
        }
        let mut row = row.peekable();
        let last = *row.peek()?;
        let mut nodes: Vec<[f64; 2]> = Vec::new();
        for p in row.take_while(|p| p.sequence == last.sequence) {
            let x = loss.of(self.look(p)?)?;
            if x > MEASURED * size && nodes.last().is_none_or(|n| x >= 2.0 * n[0]) {
                nodes.push([x, p.parameter]);
            }
            if nodes.len() == NODES {
                break;
            }
        }
        if nodes.len() < 2 {
            return None;
        }
        let weight = |i: usize| -> f64 {
            let others = (0..nodes.len()).filter(|j| *j != i);
            others.map(|j| nodes[j][0] / (nodes[j][0] - nodes[i][0])).product()
        };
        let at: f64 = (0..nodes.len()).map(|i| weight(i) * nodes[i][1]).sum();
        let step = nodes.get(1).map_or(0.0, |n| (n[1] - last.parameter).abs());
        ((at - last.parameter).abs() <= 2.0 * step).then_some(at)
    }

    /// How far along the branch an impact would lose its speed, as it fell in the last step, and whether it all but grazes.
    pub(super) fn to_grazing(&self, last: &Point, next: &Point, s: f64) -> Option<(f64, bool)> {
        let speed = |p: &Point| self.look(p).and_then(|seen| seen.slowest_impact);
        let (v, w) = (speed(last)?, speed(next)?);
        let size = self.symmetry.scale[next.orbit.start.u.len()..].iter().fold(0.0_f64, |m, s| m.max(*s));
        (w < v && last.sequence == next.sequence).then(|| (s * w / (v - w), w < TOUCHES * size))
    }

    /// What is smallest beside the sizes of the motion, if it is all but nothing, and that size.
    fn nearest_loss(&self, p: &Point) -> Option<(Loss, f64)> {
        let (places, speeds) = self.symmetry.scale.split_at(p.orbit.start.u.len());
        let most = |list: &[f64]| list.iter().fold(0.0_f64, |m, s| m.max(*s));
        let (length, speed) = (most(places), most(&speeds[..p.orbit.start.u.len()]));
        let seen = self.look(p)?;
        let share = |loss: Loss| {
            let size = match loss {
                Loss::Impact | Loss::Slip => speed,
                Loss::Gap => length,
                Loss::Stick => p.orbit.period,
                Loss::Arrival => std::f64::consts::TAU * speed / p.orbit.period,
            };
            loss.of(seen).map(|x| (loss, size, x / size)).filter(|(.., x)| *x < LOST)
        };
        let all = [Loss::Impact, Loss::Gap, Loss::Stick, Loss::Arrival, Loss::Slip];
        all.into_iter()
            .filter_map(share)
            .min_by(|a, b| a.2.total_cmp(&b.2))
            .map(|(loss, size, _)| (loss, size))
    }
}

/// What a cycle may lose (METH-BIF-DIB).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loss {
    /// The speed of an impact.
    Impact,
    /// The gap of a contact that does not close.
    Gap,
    /// The length of a stick.
    Stick,
    /// The rate at which a slip comes to its stop.
    Arrival,
    /// The slowest slip.
    Slip,
}

impl Loss {
    fn of(self, seen: &Portrait) -> Option<f64> {
        match self {
            Loss::Impact => seen.slowest_impact,
            Loss::Gap => seen.grazing,
            Loss::Stick => seen.shortest_stick,
            Loss::Arrival => seen.slowest_stop,
            Loss::Slip => seen.least_slip,
        }
    }

    /// Label, and why the branch ended.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Loss::Impact => ("grazing", "grazing: an impact of the cycle loses its speed"),
            Loss::Gap => ("grazing", "grazing: a contact that was open is touched"),
            Loss::Stick => ("stick-loss", "loss of stick: a stick of the cycle has no length any more"),
            Loss::Arrival => ("stick-loss", "loss of stick: a slip that came to a stop only just reaches it"),
            Loss::Slip => ("stick-onset", "a slip of the cycle comes to zero"),
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
        let shortest = |f: fn(&Portrait) -> Option<f64>| longer.seen().and_then(f).unwrap_or(f64::INFINITY);
        let (stick, slip) = (shortest(|s| s.shortest_stick), shortest(|s| s.shortest_slip));
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
