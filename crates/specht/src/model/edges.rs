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

use super::chain::{BEHIND, Chain, SLACK, distance};
use super::outline::Watch;

/// Latch of a chain that does not face the body.
pub(super) const AWAY: i32 = -1;

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
    /// Corners, features and borders.
    pub chain: Chain<f64>,
    /// First output of the parameter tape.
    pub source: usize,
    /// The body's point in the axes of the outline, as outputs of the main tape.
    pub corner: [u32; 2],
    /// The same of the middle of the body's outline.
    pub middle: Option<[u32; 2]>,
    pub latch: usize,
}

impl WatchPlan {
    /// The plan of `watch` of a contact, with the places of its inputs, outputs and latch.
    pub(super) fn new(
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
            chain: Chain::new(watch.run.clone(), watch.visitor, watch.points.len()),
            source,
            corner,
            middle,
            latch,
        }
    }

    /// Values of the inputs for a latch.
    pub(super) fn data(&self, d: &Discrete) -> [f64; 5] {
        self.chain.feature(d.latches[self.latch])
    }

    /// The feature with the largest value. Of those that differ by rounding `first`, or the one over which the `middle` of the visitor stands
    /// highest: a corner on a corner.
    fn largest(&self, first: Option<i32>, middle: Option<[f64; 2]>, value: impl Fn(usize) -> f64) -> usize {
        let n = self.chain.count();
        let most = (0..n).map(&value).fold(f64::NEG_INFINITY, f64::max);
        let ties = |k: &usize| value(*k) >= most - SLACK * self.chain.size;
        if let Some(k) = first.and_then(|k| usize::try_from(k).ok()).filter(|k| *k < n && ties(k)) {
            return k;
        }
        let rank = |k: usize| middle.map_or(value(k), |m| self.chain.height(k, m));
        let best = (0..n).filter(ties).reduce(|a, b| if rank(b) > rank(a) { b } else { a });
        best.unwrap_or(0)
    }

    /// The latch for a body at `p`; with `keep` the present one where several would do.
    pub(super) fn fit(&self, latch: i32, p: [f64; 2], middle: Option<[f64; 2]>, keep: bool) -> i32 {
        let first = keep.then_some(latch);
        // of edges that are always faced the highest counts, also for what lies inside
        if self.slots.len() == 4 {
            return self.largest(first, middle, |k| self.chain.height(k, p)) as i32;
        }
        if self.chain.run.ring {
            return self.largest(first, middle, |k| self.chain.within(k, p)) as i32;
        }
        let k = self.largest(first, middle, |k| self.chain.before(k, p));
        if self.chain.before(k, p) >= -BEHIND * self.chain.size {
            return k as i32;
        }
        // inside the material the nearest chain says so
        if self.is_pierced(p) {
            return self.largest(first, middle, |k| self.chain.within(k, p)) as i32;
        }
        let stays = |k: usize| k < self.chain.count() && self.chain.within(k, p) >= -BEHIND * self.chain.size;
        match usize::try_from(latch) {
            Ok(k) if keep && stays(k) => latch,
            _ => AWAY,
        }
    }

    /// Whether `p` lies inside the material with an edge of this chain as the nearest of the whole outline. (Of what is
    /// outside the nearest point may be a corner that two chains share.)
    fn is_pierced(&self, p: [f64; 2]) -> bool {
        let n = self.chain.points.len();
        let edges = if self.chain.run.closed { n } else { n - 1 };
        // the end edges of an open outline are endless
        let free = |e: usize| [0, edges - 1].map(|end| !self.chain.run.closed && e == end);
        let far = |e: &usize| distance(p, self.chain.point(*e), self.chain.point(e + 1), free(*e));
        let Some(e) = (0..edges).min_by(|a, b| far(a).total_cmp(&far(b))) else { return false };
        let (a, b, t, normal) =
            (self.chain.point(e), self.chain.point(e + 1), self.chain.direction(e), self.chain.normal(e));
        let along = |q: [f64; 2]| t[0] * (p[0] - q[0]) + t[1] * (p[1] - q[1]);
        let between = (free(e)[0] || along(a) > 0.0) && (free(e)[1] || along(b) < 0.0);
        let behind = normal[0] * (p[0] - a[0]) + normal[1] * (p[1] - a[1]) < 0.0;
        between && behind && (0..self.chain.run.count).any(|k| (self.chain.run.first + k) % n == e)
    }

    /// The latch after the guard has fallen at `p`.
    pub(super) fn next(&self, latch: i32, up: bool, p: [f64; 2]) -> i32 {
        let n = self.chain.count() as i32;
        if latch < 0 {
            return self.largest(None, None, |k| self.chain.before(k, p)) as i32;
        }
        let next = if up { latch + 1 } else { latch - 1 };
        match self.chain.run.ring {
            true => next.rem_euclid(n),
            false if (0..n).contains(&next) => next,
            false => AWAY,
        }
    }
}
