//! Which edge of an outline counts: cells of a chain of edges, frozen in a latch.
//!
//! ```text
//!        |   2   /         A chain is a run of edges with convex corners between them that turns by less than 180°. Straight
//!   cell |      /  cell    borders through its corners cut the plane into one cell per feature. In its cell a feature gives
//!    of 1|_____/    of 3   the gap: a line, or (for rounds) a corner. Chains end at re-entrant corners, where the border
//!    ____/ 2   \____       lies a little inside the material, so that a body in the notch touches both chains, and at
//!       1        3         convex corners where a longer chain was cut.
//! ```
//!
//! Beyond its end borders a chain is *away*: so is it for what stands behind it, on the other side of a thin wall. It then gives the
//! distance to its own middle, which cannot be reached without facing the chain first. A chain that is away faces
//! again when its end borders and its own height say so, that is in front of one of its cells. All borders are straight lines through the outline's corners: a corner
//! that slides along leaves a chain exactly where its neighbour takes over.

use crate::system::Discrete;

use super::outline::Watch;

/// Latch of a chain that does not face the body.
pub(super) const AWAY: i32 = -1;

/// Heights below this, relative to the size of the outline, are behind the chain.
const BEHIND: f64 = 1e-9;

/// Distances below this, relative to the size of the outline, are rounding: a body at rest leaves its feature only so far beyond the border.
const SLACK: f64 = 1e-12;

/// What meets the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visitor {
    /// A corner: edges only; neighbours meet at the bisector of their corner.
    Point,
    /// A round: edges and corners.
    Round,
    /// The nearest point of a curve: a single edge; corners meet curves on their own.
    Curve,
}

/// An outline with the place of a chain in it, see [`WatchPlan`].
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub closed: bool,
    pub material_left: bool,
    /// First edge and number of edges; edge i runs from corner i to the next.
    pub first: usize,
    pub count: usize,
    /// A convex closed outline: all edges, no ends.
    pub ring: bool,
    /// Whether the chain ends at a re-entrant corner, at its beginning and its end.
    pub reentrant: [bool; 2],
}

/// A body that watches a chain.
#[derive(Clone, Debug)]
pub(super) struct WatchPlan {
    /// Contact of the system.
    pub contact: usize,
    /// Places of the inputs: point, normal and, unless a corner meets a ring, whether the point itself is meant.
    pub slots: Vec<usize>,
    pub run: Run,
    pub visitor: Visitor,
    /// Corners of the outline.
    pub points: Vec<[f64; 2]>,
    /// First output of the parameter tape.
    pub source: usize,
    /// The body's point in the axes of the outline, as outputs of the main tape.
    pub corner: [u32; 2],
    /// The same of the middle of the body's outline.
    pub middle: Option<[u32; 2]>,
    pub latch: usize,
    features: Vec<[f64; 5]>,
    /// Lower border of each feature and, unless in a ring, the upper one of the last: point and direction along the chain.
    borders: Vec<Option<[f64; 4]>>,
    away: [f64; 5],
    size: f64,
}

impl WatchPlan {
    /// The plan of `watch` of a contact, with the places of its inputs, outputs and latch.
    pub fn new(
        contact: usize,
        watch: &Watch,
        slots: Vec<usize>,
        source: usize,
        (corner, middle): ([u32; 2], Option<[u32; 2]>),
        latch: usize,
    ) -> Self {
        WatchPlan {
            contact,
            slots,
            run: watch.run.clone(),
            visitor: watch.visitor,
            points: vec![[0.0; 2]; watch.points.len()],
            source,
            corner,
            middle,
            latch,
            features: Vec::new(),
            borders: Vec::new(),
            away: [0.0; 5],
            size: 0.0,
        }
    }

    /// Features and borders of the present corners.
    pub fn prepare(&mut self) {
        let Run { first, count, ring, reentrant, closed, .. } = self.run;
        let n = self.points.len();
        let bounds = self
            .points
            .iter()
            .flatten()
            .fold([f64::INFINITY, f64::NEG_INFINITY], |b, &v| [b[0].min(v), b[1].max(v)]);
        self.size = bounds[1] - bounds[0];
        self.features.clear();
        self.borders.clear();
        let rounded = self.visitor == Visitor::Round;
        for k in 0..count {
            let i = first + k;
            let (p, t) = (self.point(i), self.direction(i));
            let begins = k == 0 && !ring;
            let free = !closed && i == 0;
            let before = if free { t } else { self.direction(i + n - 1) };
            // the border below, and the corner before the edge
            match (begins, rounded) {
                (true, _) if free => self.borders.push(None),
                (true, _) if reentrant[0] => {
                    let back = self.margin(i);
                    self.borders.push(Some([p[0] - back * t[0], p[1] - back * t[1], t[0], t[1]]));
                }
                (true, _) if self.visitor == Visitor::Curve => {
                    self.borders.push(Some([p[0], p[1], t[0], t[1]]))
                }
                (_, false) => self.borders.push(Some(bisector(p, before, t))),
                (begins, true) => {
                    let m = if begins { bisector(p, before, t) } else { [p[0], p[1], before[0], before[1]] };
                    self.borders.push(Some(m));
                    self.features.push([p[0], p[1], 0.0, 0.0, 1.0]);
                    self.borders.push(Some([p[0], p[1], t[0], t[1]]));
                }
            }
            let normal = self.normal(i);
            self.features.push([p[0], p[1], normal[0], normal[1], 0.0]);
        }
        if !ring {
            self.end(first + count);
        }
        let middle = first + count / 2;
        let (p, q, normal) = (self.point(middle), self.point(middle + 1), self.normal(middle));
        self.away = [0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), normal[0], normal[1], 1.0];
    }

    /// The border at the end of the last edge.
    fn end(&mut self, i: usize) {
        let (p, t) = (self.point(i), self.direction(i + self.points.len() - 1));
        if !self.run.closed && i + 1 == self.points.len() {
            self.borders.push(None);
            return;
        }
        if self.run.reentrant[1] {
            let on = self.margin(i);
            self.borders.push(Some([p[0] + on * t[0], p[1] + on * t[1], t[0], t[1]]));
            return;
        }
        let along = Some([p[0], p[1], t[0], t[1]]);
        let half = Some(bisector(p, t, self.direction(i)));
        match self.visitor {
            Visitor::Curve => self.borders.push(along),
            Visitor::Point => self.borders.push(half),
            Visitor::Round => {
                self.borders.push(along);
                self.features.push([p[0], p[1], 0.0, 0.0, 1.0]);
                self.borders.push(half);
            }
        }
    }

    fn point(&self, i: usize) -> [f64; 2] {
        self.points[i % self.points.len()]
    }

    /// Unit vector along edge `i`.
    fn direction(&self, i: usize) -> [f64; 2] {
        unit(minus(self.point(i + 1), self.point(i)))
    }

    /// Unit vector out of the material at edge `i`.
    fn normal(&self, i: usize) -> [f64; 2] {
        let t = self.direction(i);
        if self.run.material_left { [t[1], -t[0]] } else { [-t[1], t[0]] }
    }

    /// How far a chain goes on into the material at the re-entrant corner `i`: half the way to the next other edge.
    fn margin(&self, i: usize) -> f64 {
        let n = self.points.len();
        let (i, r) = (i % n, self.point(i));
        let edges = if self.run.closed { n } else { n - 1 };
        let reach = (0..edges).map(|e| {
            let (p, q) = (self.point(e), self.point(e + 1));
            let other = if e == i {
                Some(q)
            } else if (e + 1) % n == i {
                Some(p)
            } else {
                None
            };
            other.map_or_else(|| distance(r, p, q, [false; 2]), |end| length(minus(end, r)))
        });
        0.5 * reach.fold(f64::INFINITY, f64::min)
    }

    /// Values of the inputs for a latch.
    pub fn data(&self, d: &Discrete) -> [f64; 5] {
        self.feature(d.latches[self.latch])
    }

    pub fn feature(&self, latch: i32) -> [f64; 5] {
        usize::try_from(latch).ok().and_then(|k| self.features.get(k)).copied().unwrap_or(self.away)
    }

    /// Height of `p` over feature `k`.
    fn height(&self, k: usize, p: [f64; 2]) -> f64 {
        let [x, y, nx, ny, corner] = self.features[k];
        if corner > 0.0 { length(minus(p, [x, y])) } else { nx * (p[0] - x) + ny * (p[1] - y) }
    }

    /// How far `p` is above the lower border of feature `k` (`k` = number of features: the upper border of the last).
    fn above(&self, k: usize, p: [f64; 2]) -> f64 {
        let k = if self.run.ring { k % self.borders.len() } else { k };
        self.borders[k].map_or(self.size, |[x, y, mx, my]| mx * (p[0] - x) + my * (p[1] - y))
    }

    fn below(&self, k: usize, p: [f64; 2]) -> f64 {
        let open = !self.run.ring && self.borders[k].is_none();
        if open { self.size } else { -self.above(k, p) }
    }

    /// Distance into the cell of feature `k`.
    fn within(&self, k: usize, p: [f64; 2]) -> f64 {
        self.above(k, p).min(self.below(k + 1, p))
    }

    /// The same for the part of the cell in front of the feature.
    fn before(&self, k: usize, p: [f64; 2]) -> f64 {
        self.within(k, p).min(self.height(k, p) + BEHIND * self.size)
    }

    /// The feature with the largest value. Of those that differ by rounding `first`, or the one over which the `middle` of the visitor stands
    /// highest: a corner on a corner.
    fn largest(&self, first: Option<i32>, middle: Option<[f64; 2]>, value: impl Fn(usize) -> f64) -> usize {
        let n = self.features.len();
        let most = (0..n).map(&value).fold(f64::NEG_INFINITY, f64::max);
        let ties = |k: &usize| value(*k) >= most - SLACK * self.size;
        if let Some(k) = first.and_then(|k| usize::try_from(k).ok()).filter(|k| *k < n && ties(k)) {
            return k;
        }
        let rank = |k: usize| middle.map_or(value(k), |m| self.height(k, m));
        let best = (0..n).filter(ties).reduce(|a, b| if rank(b) > rank(a) { b } else { a });
        best.unwrap_or(0)
    }

    /// Positive where the chain does not face `p`: outside the fronts of all its cells.
    fn averted(&self, p: [f64; 2]) -> f64 {
        (0..self.features.len()).fold(f64::INFINITY, |m, k| m.min(-self.before(k, p)))
    }

    /// The latch for a body at `p`; with `keep` the present one where several would do.
    pub fn fit(&self, latch: i32, p: [f64; 2], middle: Option<[f64; 2]>, keep: bool) -> i32 {
        let first = keep.then_some(latch);
        // of edges that are always faced the highest counts, also for what lies inside
        if self.slots.len() == 4 {
            return self.largest(first, middle, |k| self.height(k, p)) as i32;
        }
        if self.run.ring {
            return self.largest(first, middle, |k| self.within(k, p)) as i32;
        }
        let k = self.largest(first, middle, |k| self.before(k, p));
        if self.before(k, p) >= -BEHIND * self.size {
            return k as i32;
        }
        // inside the material the nearest chain says so
        if self.is_pierced(p) {
            return self.largest(first, middle, |k| self.within(k, p)) as i32;
        }
        let stays = |k: usize| k < self.features.len() && self.within(k, p) >= -BEHIND * self.size;
        match usize::try_from(latch) {
            Ok(k) if keep && stays(k) => latch,
            _ => AWAY,
        }
    }

    /// Whether `p` lies inside the material with an edge of this chain as the nearest of the whole outline. (Of what is
    /// outside the nearest point may be a corner that two chains share.)
    fn is_pierced(&self, p: [f64; 2]) -> bool {
        let n = self.points.len();
        let edges = if self.run.closed { n } else { n - 1 };
        // the end edges of an open outline are endless
        let free = |e: usize| [0, edges - 1].map(|end| !self.run.closed && e == end);
        let far = |e: &usize| distance(p, self.point(*e), self.point(e + 1), free(*e));
        let Some(e) = (0..edges).min_by(|a, b| far(a).total_cmp(&far(b))) else { return false };
        let (a, b, t, normal) = (self.point(e), self.point(e + 1), self.direction(e), self.normal(e));
        let along = |q: [f64; 2]| t[0] * (p[0] - q[0]) + t[1] * (p[1] - q[1]);
        let between = (free(e)[0] || along(a) > 0.0) && (free(e)[1] || along(b) < 0.0);
        let behind = normal[0] * (p[0] - a[0]) + normal[1] * (p[1] - a[1]) < 0.0;
        between && behind && (0..self.run.count).any(|k| (self.run.first + k) % n == e)
    }

    /// Falls through zero where the present feature hands over to the one before (after) it, or the chain comes to face.
    /// What touches (`closed`) may stand beyond the border by rounding; what does not would meet the old feature there.
    pub fn guard(&self, latch: i32, up: bool, p: [f64; 2], closed: bool) -> f64 {
        let slack = if closed { SLACK * self.size } else { 0.0 };
        match (usize::try_from(latch), up) {
            (Ok(k), false) => self.above(k, p) + slack,
            (Ok(k), true) => self.below(k + 1, p) + slack,
            (Err(_), false) => self.averted(p),
            (Err(_), true) => self.size,
        }
    }

    /// The latch after the guard has fallen at `p`.
    pub fn next(&self, latch: i32, up: bool, p: [f64; 2]) -> i32 {
        let n = self.features.len() as i32;
        if latch < 0 {
            return self.largest(None, None, |k| self.before(k, p)) as i32;
        }
        let next = if up { latch + 1 } else { latch - 1 };
        match self.run.ring {
            true => next.rem_euclid(n),
            false if (0..n).contains(&next) => next,
            false => AWAY,
        }
    }
}

/// The border through the corner `p` between the directions `a` and `b`.
fn bisector(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> [f64; 4] {
    let m = unit([a[0] + b[0], a[1] + b[1]]);
    [p[0], p[1], m[0], m[1]]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(v: [f64; 2]) -> f64 {
    v[0].hypot(v[1])
}

fn unit(v: [f64; 2]) -> [f64; 2] {
    let l = length(v).max(f64::MIN_POSITIVE);
    [v[0] / l, v[1] / l]
}

/// From `p` to the segment a–b, which is endless where `free` says so.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2], free: [bool; 2]) -> f64 {
    let (d, r) = (minus(b, a), minus(p, a));
    let square = (d[0] * d[0] + d[1] * d[1]).max(f64::MIN_POSITIVE);
    let ends = [if free[0] { f64::NEG_INFINITY } else { 0.0 }, if free[1] { f64::INFINITY } else { 1.0 }];
    let s = ((d[0] * r[0] + d[1] * r[1]) / square).clamp(ends[0], ends[1]);
    length(minus(r, [s * d[0], s * d[1]]))
}
