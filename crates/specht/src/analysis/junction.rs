//! Places of a map at which three or more domains meet, located; and the largest value of a function on a map.
//!
//! *Junctions.* Let every point carry the label of its domain. A box whose boundary shows three labels contains a point at
//! which three domains meet, or it is crossed by two separate borders. One of nine overlapping boxes of half the size
//! shows three labels again as long as there is such a point (a transversal meeting looks the same at every scale), so boxes
//! shrink to [`WIDTH`] of the cell, with steps back where borders only pass by each other. Meetings at
//! angles below about 7° may be missed. The first box is half as large again as the cell and askew to the grid, because borders
//! like to run along grid lines.
//!
//! *Peaks.* Powell's method of conjugate directions inside a box of two cells around a grid point that is
//! larger than its neighbours, each line searched by [`root::minimum`]. (Powell 1964.)

use super::map::{Plane, Sample, Worker};
use crate::root;

/// Where borders meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Junction {
    /// Values of the axes.
    pub at: [f64; 2],
}

/// Size of the last box, relative to the cell.
pub(crate) const WIDTH: f64 = 1e-9;
/// Size at which a box counts as found although none of its parts shows three labels: every state there is degenerate.
const ENOUGH: f64 = 1e-7;
/// Points on each side of a box.
const SIDE: usize = 16;
/// Boxes looked at, at most.
const BOXES: usize = 400;

/// The junction in the cell from `low` to `high`, if there is one.
pub(crate) fn locate(
    plane: &Plane,
    w: &mut Worker,
    label: impl Fn(&Sample) -> u64,
    low: [f64; 2],
    high: [f64; 2],
) -> Option<Junction> {
    let size = [high[0] - low[0], high[1] - low[1]];
    let mut search = Search { plane, w, label, size, left: BOXES };
    let (centre, half) = ([0.5137, 0.4891], 0.7471);
    let middle = search.look(centre, half, low)?;
    let at = search.inside(centre, half, middle, low)?;
    Some(Junction { at: [0, 1].map(|k| low[k] + at[k] * size[k]) })
}

/// Labels on the boundary of a box, and the mean of the places at which they change.
struct Seen {
    labels: usize,
    middle: [f64; 2],
}

struct Search<'a, F> {
    plane: &'a Plane,
    w: &'a mut Worker,
    label: F,
    size: [f64; 2],
    left: usize,
}

impl<F: Fn(&Sample) -> u64> Search<'_, F> {
    /// What is seen on the boundary of a box (in units of the cell), when three labels are.
    fn look(&mut self, centre: [f64; 2], half: f64, low: [f64; 2]) -> Option<Seen> {
        self.left = self.left.checked_sub(1)?;
        let mut seen: Vec<u64> = Vec::new();
        let mut changes = ([0.0; 2], 0.0);
        let (mut last, mut first) = (None, None);
        for k in 0..=4 * SIDE {
            let (side, s) = (k / SIDE % 4, (k % SIDE) as f64 / SIDE as f64 * 2.0 - 1.0);
            let [x, y] = match side {
                0 => [s, -1.0],
                1 => [1.0, s],
                2 => [-s, 1.0],
                _ => [-1.0, -s],
            };
            let place = [centre[0] + x * half, centre[1] + y * half];
            let now = if k == 4 * SIDE {
                first
            } else {
                let point = [0, 1].map(|k| low[k] + place[k] * self.size[k]);
                self.plane.sample(self.w, &point).ok().map(|s| (self.label)(&s))
            };
            if k == 0 {
                first = now;
            } else if now != last {
                changes.0 = [0, 1].map(|i| changes.0[i] + place[i]);
                changes.1 += 1.0;
            }
            if let Some(l) = now
                && !seen.contains(&l)
            {
                seen.push(l);
            }
            last = now;
        }
        (seen.len() >= 3).then(|| Seen { labels: seen.len(), middle: changes.0.map(|v| v / changes.1) })
    }

    /// The junction inside a box that shows three labels: first in a part that shows as many, the nearer to the changes the
    /// better, then in those that show fewer.
    fn inside(&mut self, centre: [f64; 2], half: f64, seen: Seen, low: [f64; 2]) -> Option<[f64; 2]> {
        if half <= WIDTH {
            return Some(centre);
        }
        let small = 0.5 * half;
        let mut parts: Vec<[f64; 2]> = (0..9)
            .map(|k| {
                [centre[0] + (f64::from(k % 3) - 1.0) * small, centre[1] + (f64::from(k / 3) - 1.0) * small]
            })
            .collect();
        let far = |c: &[f64; 2]| (c[0] - seen.middle[0]).abs().max((c[1] - seen.middle[1]).abs());
        parts.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let mut later = Vec::new();
        for part in parts {
            match self.look(part, small, low) {
                Some(next) if next.labels >= seen.labels => {
                    if let Some(found) = self.inside(part, small, next, low) {
                        return Some(found);
                    }
                }
                Some(next) => later.push((part, next)),
                None => {}
            }
        }
        let deeper = later.into_iter().find_map(|(part, next)| self.inside(part, small, next, low));
        deeper.or((half <= ENOUGH).then_some(centre))
    }
}

/// The largest value of `f` of the samples near `from`, within `reach` of it and inside `bounds`.
pub(crate) fn peak(
    plane: &Plane,
    w: &mut Worker,
    f: impl Fn(&Sample) -> f64,
    from: [f64; 2],
    reach: [f64; 2],
    bounds: [[f64; 2]; 2],
) -> (f64, [f64; 2]) {
    let low = [0, 1].map(|k| (from[k] - reach[k]).max(bounds[k][0]));
    let high = [0, 1].map(|k| (from[k] + reach[k]).min(bounds[k][1]));
    let mut value = |x: [f64; 2]| {
        let v = plane.sample(w, &x).map_or(f64::NEG_INFINITY, |s| f(&s));
        if v.is_nan() { f64::INFINITY } else { -v }
    };
    let mut best = (value(from), from);
    let mut directions = [[reach[0], 0.0], [0.0, reach[1]]];
    for _ in 0..8 {
        let begin = best;
        let mut search = |best: &mut (f64, [f64; 2]), d: [f64; 2]| {
            // the part of the line inside the box
            let (mut s0, mut s1) = (-2.0_f64, 2.0_f64);
            for k in 0..2 {
                if d[k] != 0.0 {
                    let (a, b) = ((low[k] - best.1[k]) / d[k], (high[k] - best.1[k]) / d[k]);
                    (s0, s1) = (s0.max(a.min(b)), s1.min(a.max(b)));
                }
            }
            if !(s1 > s0) {
                return;
            }
            let origin = best.1;
            let at = |s: f64| [0, 1].map(|k| (origin[k] + s * d[k]).clamp(low[k], high[k]));
            let (s, v) = root::minimum(|s| value(at(s)), s0, s1, 1e-9 * (s1 - s0), f64::NEG_INFINITY);
            for (s, v) in [(s, v), (s0, value(at(s0))), (s1, value(at(s1)))] {
                if v < best.0 {
                    *best = (v, at(s));
                }
            }
        };
        for d in directions {
            search(&mut best, d);
        }
        let way = [0, 1].map(|k| best.1[k] - begin.1[k]);
        let size = (0..2).fold(0.0_f64, |m, k| m.max((way[k] / reach[k]).abs()));
        if size <= 1e-9 {
            break;
        }
        let way = way.map(|v| v / size);
        search(&mut best, way);
        directions = [directions[1], way];
        // directions that have become the same direction
        let cross = directions[0][0] * directions[1][1] - directions[0][1] * directions[1][0];
        if cross.abs() < 1e-3 * reach[0] * reach[1] {
            directions = [[reach[0], 0.0], [0.0, reach[1]]];
        }
    }
    (-best.0, best.1)
}
