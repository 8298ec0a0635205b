//! Sets of directions in the plane: closed arcs of the circle.

use std::f64::consts::{PI, TAU};

/// Angles closer than this are the same direction.
pub(crate) const ANGLE: f64 = 1e-11;

/// A closed arc from `from` counter-clockwise to `to`, `−π < from ≤ π`, `from ≤ to ≤ from + 2π`; a single direction has
/// `from = to`, the whole circle `to = from + 2π`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Arc {
    /// First angle, rad.
    pub from: f64,
    /// Last angle, rad.
    pub to: f64,
}

impl Arc {
    /// The whole circle.
    pub const CIRCLE: Arc = Arc { from: -PI, to: PI };

    /// An arc with its start brought into (−π, π].
    pub(crate) fn new(from: f64, to: f64) -> Arc {
        let turns = ((PI - from) / TAU).floor() * TAU;
        let width = (to - from).clamp(0.0, TAU);
        let from = from + turns;
        Arc { from, to: from + width }
    }

    /// Its angle.
    pub fn width(&self) -> f64 {
        self.to - self.from
    }

    /// Whether it contains a direction, up to [`ANGLE`].
    pub(crate) fn contains(&self, angle: f64) -> bool {
        let ahead = (angle - self.from).rem_euclid(TAU);
        ahead <= self.width() + ANGLE || ahead >= TAU - ANGLE
    }

    /// The direction in its middle.
    pub(crate) fn middle(&self) -> f64 {
        0.5 * (self.from + self.to)
    }
}

/// The ends of all arcs as sorted breakpoints in (−π, π], merged when closer than [`ANGLE`].
pub(crate) fn breakpoints(arcs: &[Arc]) -> Vec<f64> {
    let wrap = |a: f64| a + ((PI - a) / TAU).floor() * TAU;
    let mut list: Vec<f64> = arcs.iter().flat_map(|a| [wrap(a.from), wrap(a.to)]).collect();
    list.sort_by(f64::total_cmp);
    list.dedup_by(|a, b| (*a - *b).abs() <= ANGLE);
    if list.len() > 1 && list[0] + TAU - list[list.len() - 1] <= ANGLE {
        list.pop();
    }
    list
}

/// Closed arcs from the answers on the open pieces between `breakpoints` and at the breakpoints themselves. `pieces[k]` lies between
/// breakpoint k and the next one; `points[k]` is the answer at breakpoint k. Without breakpoints `pieces` has one entry.
pub(crate) fn collect(breakpoints: &[f64], pieces: &[bool], points: &[bool]) -> Vec<Arc> {
    let n = breakpoints.len();
    if n == 0 {
        return if pieces.first() == Some(&true) { vec![Arc::CIRCLE] } else { Vec::new() };
    }
    if pieces.iter().all(|p| *p) && points.iter().all(|p| *p) {
        return vec![Arc::CIRCLE];
    }
    let next = |k: usize| (k + 1) % n;
    let mut out = Vec::new();
    for k in 0..n {
        let before = pieces[(k + n - 1) % n];
        if !pieces[k] {
            // an isolated direction
            if points[k] && !before {
                out.push(Arc::new(breakpoints[k], breakpoints[k]));
            }
            continue;
        }
        // start of a run: the piece before is out, or the point between is out
        if before && points[k] && n > 1 {
            continue;
        }
        let mut last = k;
        while pieces[next(last)] && points[next(last)] && next(last) != k {
            last = next(last);
        }
        let mut to = breakpoints[next(last)];
        while to <= breakpoints[k] {
            to += TAU;
        }
        out.push(Arc::new(breakpoints[k], to));
    }
    out
}

/// Sum of the widths.
pub(crate) fn measure(arcs: &[Arc]) -> f64 {
    arcs.iter().map(Arc::width).sum()
}

/// Whether the set contains with every direction its opposite.
pub(crate) fn is_symmetric(arcs: &[Arc]) -> bool {
    arcs.iter().all(|a| {
        arcs.iter().any(|b| {
            b.width() >= TAU - ANGLE || {
                let ahead = (a.from + PI - b.from).rem_euclid(TAU);
                let ahead = if ahead > TAU - 1e-7 { 0.0 } else { ahead };
                ahead + a.width() <= b.width() + 1e-7
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_become_arcs_across_the_cut_of_the_circle() {
        let b = [-2.0, -1.0, 1.0, 2.5];
        let arcs = collect(&b, &[false, true, false, true], &[true; 4]);
        assert_eq!(arcs.len(), 2);
        assert_eq!(arcs[0], Arc { from: -1.0, to: 1.0 });
        assert!((arcs[1].width() - (TAU - 4.5)).abs() < 1e-15);
        assert!(arcs[1].contains(PI) && arcs[1].contains(-2.1) && !arcs[1].contains(-1.9));
        // an isolated direction, and a run over several pieces
        assert_eq!(collect(&b, &[false; 4], &[false, true, false, false]), vec![Arc::new(-1.0, -1.0)]);
        assert_eq!(
            collect(&b, &[true, true, false, false], &[true, true, true, false]),
            vec![Arc::new(-2.0, 1.0)]
        );
        assert_eq!(collect(&[], &[true], &[]), vec![Arc::CIRCLE]);
        assert_eq!(collect(&[0.5], &[true], &[false]), vec![Arc::new(0.5, 0.5 + TAU)]);
    }
}
