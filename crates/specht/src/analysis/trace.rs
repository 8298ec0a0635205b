//! A special point followed through the plane of two parameters (METH-CONT-ARC).
//!
//! ```text
//!          anchor ──────▶ anchor      carried along the curve
//!            ┊              ┊
//!   ─────────●──────────────●──────   the special point, looked for across
//! ```
//!
//! Beside the curve walks an anchor: a motion that is not special. Nothing is asked of the special point itself, where maps have kinks or
//! slopes without bound, and the curve may turn back in both parameters. Places are in units of the ranges: the plane is the unit square.

/// Distance of the anchor from the curve.
pub(crate) const AWAY: f64 = 0.03;
/// First, longest and shortest step.
const FIRST: f64 = 0.02;
const LONGEST: f64 = 0.1;
const SHORTEST: f64 = 1e-3;
/// Most points.
const MOST: usize = 200;
/// Cosines of the angles between two steps: at most, and where the next may be longer.
const TURNS: f64 = 0.94;
const STRAIGHT: f64 = 0.98;

/// What is known of motions beside the curve.
pub(crate) trait Beside {
    /// A motion that is not special.
    type Anchor;
    /// The motion at `from`, carried along the unit vector `way`.
    fn carry(
        &mut self,
        anchor: &Self::Anchor,
        from: [f64; 2],
        way: [f64; 2],
        length: f64,
    ) -> Option<Self::Anchor>;
    /// How far from the anchor along the unit vector `way` the special point is: the one nearest to `near`.
    fn look(&mut self, anchor: &Self::Anchor, from: [f64; 2], way: [f64; 2], near: f64) -> Option<f64>;
}

/// A curve, and why it ended.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    pub points: Vec<[f64; 2]>,
    pub ended: Ended,
}

/// Why a curve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Bound,
    Closed,
    Lost,
    Long,
}

/// Follow the special point `first` from an anchor beside it, first towards larger values of the second parameter (`up`) or smaller ones.
pub(crate) fn trace<B: Beside>(
    world: &mut B,
    first: [f64; 2],
    (anchor, place): (&B::Anchor, [f64; 2]),
    up: bool,
) -> Traced {
    let mut out = Traced { points: vec![first], ended: Ended::Long };
    let mut t = [0.0, if up { 1.0 } else { -1.0 }];
    // the side of the curve on which the anchor is
    let hand = if dot(across(t), minus(first, place)) < 0.0 { -1.0 } else { 1.0 };
    let (mut carried, mut from): (Option<B::Anchor>, [f64; 2]) = (None, place);
    let (mut at, mut s) = (first, FIRST);
    while out.points.len() < MOST {
        let (to, edge) = clipped(at, plus(at, s, t));
        let mut way = across(t).map(|x| hand * x);
        if let Some(k) = edge {
            // along the border of the plane
            let sign = way[1 - k].signum();
            way = [0.0; 2];
            way[1 - k] = sign;
        }
        let beside = plus(to, -AWAY, way);
        let anchor = carried.as_ref().unwrap_or(anchor);
        let gone = minus(beside, from);
        let next = unit(gone).and_then(|ahead| world.carry(anchor, from, ahead, length(gone)));
        let found = next.and_then(|next| {
            let distance = world.look(&next, beside, way, AWAY)?;
            Some((next, plus(beside, distance, way)))
        });
        let step = found.and_then(|(next, new)| {
            let ahead = unit(minus(new, at))?;
            let near = length(minus(new, to)) < AWAY;
            (out.points.len() == 1 || dot(ahead, t) > TURNS || (edge.is_some() && near))
                .then_some((next, new, ahead))
        });
        let Some((next, new, ahead)) = step else {
            s *= 0.5;
            if s < SHORTEST {
                out.ended = Ended::Lost;
                return out;
            }
            continue;
        };
        if edge.is_none() && clipped(at, new).1.is_some() {
            // it leaves the plane on the way
            let (border, _) = clipped(at, new);
            (t, s) = (ahead, length(minus(border, at)));
            if s > SHORTEST {
                continue;
            }
            out.ended = Ended::Bound;
            return out;
        }
        let straight = dot(ahead, t) > STRAIGHT;
        (carried, from, at, t) = (Some(next), beside, new, ahead);
        out.points.push(new);
        if edge.is_some() {
            out.ended = Ended::Bound;
            return out;
        }
        if out.points.len() > 4 && length(minus(new, first)) < s {
            out.ended = Ended::Closed;
            return out;
        }
        // the first step only finds the direction
        match out.points.len() {
            2 => s = FIRST,
            _ if straight => s = (1.3 * s).min(LONGEST),
            _ => {}
        }
    }
    out
}

/// The point at which the way from `a` to `b` leaves the plane, and through which border.
fn clipped(a: [f64; 2], b: [f64; 2]) -> ([f64; 2], Option<usize>) {
    let mut share = 1.0;
    let mut edge = None;
    for k in 0..2 {
        let bound = if b[k] > a[k] { 1.0 } else { 0.0 };
        let part = (bound - a[k]) / (b[k] - a[k]);
        if b[k] != a[k] && part <= share + 1e-12 {
            (share, edge) = (part.max(0.0), Some((k, bound)));
        }
    }
    let mut to = plus(a, share, minus(b, a));
    if let Some((k, bound)) = edge {
        to[k] = bound;
    }
    (to, edge.map(|e| e.0))
}

fn across(t: [f64; 2]) -> [f64; 2] {
    [t[1], -t[0]]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn plus(a: [f64; 2], s: f64, t: [f64; 2]) -> [f64; 2] {
    [a[0] + s * t[0], a[1] + s * t[1]]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn length(a: [f64; 2]) -> f64 {
    a[0].hypot(a[1])
}

fn unit(a: [f64; 2]) -> Option<[f64; 2]> {
    let size = length(a);
    (size > 0.0).then(|| a.map(|x| x / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve that is the zero of a function; anchors know nothing.
    struct Zero<F>(F);

    impl<F: Fn([f64; 2]) -> f64> Beside for Zero<F> {
        type Anchor = ();
        fn carry(&mut self, (): &(), from: [f64; 2], way: [f64; 2], length: f64) -> Option<()> {
            (self.0(plus(from, length, way)) > 0.0).then_some(())
        }
        fn look(&mut self, (): &(), from: [f64; 2], way: [f64; 2], near: f64) -> Option<f64> {
            let f = |s: f64| (self.0)(plus(from, s, way));
            let (mut low, mut high) = (0.0, 3.0 * near);
            (f(high) < 0.0).then(|| {
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if f(middle) > 0.0 { low = middle } else { high = middle }
                }
                low
            })
        }
    }

    #[test]
    fn a_curve_turns_back_in_the_second_parameter() {
        // p = 0.2 + 3 (q − 0.6)²: turns in p
        let mut bowl = Zero(|x: [f64; 2]| 0.6 - 3.0 * (x[0] - 0.5).powi(2) - x[1]);
        let first = [0.2, 0.6 - 3.0 * 0.09];
        let found = trace(&mut bowl, first, (&(), [0.23, first[1]]), true);
        assert_eq!(found.ended, Ended::Bound);
        let last = found.points[found.points.len() - 1];
        assert!((last[0] - (0.5 + 0.2_f64.sqrt())).abs() < 1e-9 && last[1] == 0.0, "{last:?}");
        assert!(found.points.iter().all(|x| (0.6 - 3.0 * (x[0] - 0.5).powi(2) - x[1]).abs() < 1e-9));
    }

    #[test]
    fn a_closed_curve_closes() {
        let mut ring = Zero(|x: [f64; 2]| 0.09 - (x[0] - 0.5).powi(2) - (x[1] - 0.5).powi(2));
        let found = trace(&mut ring, [0.8, 0.5], (&(), [0.77, 0.5]), true);
        assert_eq!(found.ended, Ended::Closed);
    }
}
