//! Borders of a curve or map, located on the function itself.
//!
//! | kind | one pair | several pairs |
//! |---|---|---|
//! | index | μ\|L\| = 1 | the number of solutions changes |
//! | frictionless | R⁰ = 0 | the list of sign patterns changes, their number does not |
//!
//! *Curves.* Every sign change between neighbours is refined to 10⁻¹⁰ of the interval; extrema of |L| between points are
//! refined too, so that a narrow paradox between two points is found when |L| has a maximum there. A change of sign of R⁰ at
//! which |R⁰| grows is a pole, not a border.
//!
//! *Maps.* See `contour`.

use super::contour::lines;
use super::map::{Largest, Map, Plane, Sample, Watch, Worker};
use crate::root;

/// What lies on the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The paradox begins.
    Index,
    /// A reaction changes sign.
    Frictionless,
}

impl Kind {
    /// The word used in every output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Index => "index",
            Kind::Frictionless => "frictionless",
        }
    }
}

/// A border: a single point of a curve, a line of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Border {
    /// Kind.
    pub kind: Kind,
    /// Values of the axes, one entry per axis.
    pub points: Vec<Vec<f64>>,
}

/// Width of a refined bracket, relative to the edge.
const WIDTH: f64 = 1e-10;

/// Locate all borders of `map` and the largest |L|; an interrupt leaves out what is not done.
pub(crate) fn borders(plane: &Plane, map: &mut Map, watch: Watch<'_>) {
    if map.axes.len() == 1 {
        curve(plane, map, watch);
    } else {
        lines(plane, map, watch);
    }
    map.complete &= !watch.is_interrupted();
}

/// A straight edge between two points of the parameter space.
pub(super) struct Edge<'a> {
    pub plane: &'a Plane,
    pub a: [f64; 2],
    pub b: [f64; 2],
    pub n: usize,
}

impl Edge<'_> {
    pub(super) fn point(&self, s: f64) -> [f64; 2] {
        [0, 1].map(|k| if s == 1.0 { self.b[k] } else { self.a[k] + s * (self.b[k] - self.a[k]) })
    }

    fn sample(&self, w: &mut Worker, s: f64) -> Option<Sample> {
        self.plane.sample(w, &self.point(s)[..self.n]).ok()
    }

    /// Root of a function of the samples between `s0` and `s1` with opposite signs there; `None` at a pole.
    pub(super) fn root(
        &self,
        w: &mut Worker,
        f: impl Fn(&Sample) -> f64,
        mut s0: f64,
        mut f0: f64,
        mut s1: f64,
        mut f1: f64,
    ) -> Option<f64> {
        if f0 < f1 {
            (s0, f0, s1, f1) = (s1, f1, s0, f0);
        }
        let mut value = |s: f64| self.sample(w, s).map_or(f64::NAN, |x| f(&x));
        let s = root::falls(&mut value, s0, f0, s1, f1, WIDTH);
        let left = value(s);
        (left.abs() <= f0.abs().max(f1.abs())).then_some(s)
    }

    /// Where the class stops being that of the left end.
    pub(super) fn change(&self, w: &mut Worker, left: &Sample) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        while hi - lo > WIDTH {
            let mid = 0.5 * (lo + hi);
            let same = self.sample(w, mid).is_some_and(|s| s.class.domain == left.class.domain);
            if same { lo = mid } else { hi = mid }
        }
        hi
    }

    /// Where the class becomes that of the right end, when another one lies between it and the first change at `s`.
    pub(super) fn second(&self, w: &mut Worker, s: f64, right: &Sample) -> Option<(Kind, f64)> {
        let after = self.sample(w, (s + 1e-6).min(1.0))?;
        if after.class.domain == right.class.domain {
            return None;
        }
        let (mut lo, mut hi) = (s, 1.0);
        while hi - lo > WIDTH {
            let mid = 0.5 * (lo + hi);
            let same = self.sample(w, mid).is_some_and(|x| x.class.domain == right.class.domain);
            if same { hi = mid } else { lo = mid }
        }
        Some((Self::kind_of_change(&after, right), hi))
    }

    pub(super) fn kind_of_change(a: &Sample, b: &Sample) -> Kind {
        if a.class.verdict == b.class.verdict { Kind::Frictionless } else { Kind::Index }
    }
}

fn excess(s: &Sample) -> f64 {
    s.excess
}

fn frictionless(s: &Sample) -> f64 {
    s.frictionless
}

fn curve(plane: &Plane, map: &mut Map, watch: Watch<'_>) {
    let axis = map.axes[0].clone();
    let mut w = plane.worker();
    let n = axis.count;
    let edge = |i: usize, j: usize| Edge { plane, a: [axis.value(i), 0.0], b: [axis.value(j), 0.0], n: 1 };
    let mut found: Vec<(Kind, f64)> = Vec::new();
    for i in 0..n - 1 {
        if watch.is_interrupted() {
            break;
        }
        let (Some(a), Some(b)) = (map.grid[i], map.grid[i + 1]) else { continue };
        let e = edge(i, i + 1);
        if plane.is_several() || a.excess.is_nan() {
            if a.class.domain != b.class.domain {
                found.push((Edge::kind_of_change(&a, &b), e.point(e.change(&mut w, &a))[0]));
            }
            continue;
        }
        for (kind, f) in [(Kind::Index, excess as fn(&Sample) -> f64), (Kind::Frictionless, frictionless)] {
            let (fa, fb) = (f(&a), f(&b));
            if (fa > 0.0) != (fb > 0.0)
                && let Some(s) = e.root(&mut w, f, 0.0, fa, 1.0, fb)
            {
                found.push((kind, e.point(s)[0]));
            }
        }
    }
    // extrema of |L| between the points
    let mut largest: Option<Largest> = None;
    let mut offer = |value: f64, at: f64| {
        if value.is_finite() && largest.as_ref().is_none_or(|l| value > l.value) {
            largest = Some(Largest { value, at: vec![at] });
        }
    };
    for i in 0..n {
        let Some(b) = map.grid[i] else { continue };
        offer(b.reach, axis.value(i));
        if i == 0 || i + 1 == n || watch.is_interrupted() {
            continue;
        }
        let (Some(a), Some(c)) = (map.grid[i - 1], map.grid[i + 1]) else { continue };
        let (la, lb, lc) = (a.reach, b.reach, c.reach);
        let peak = if lb >= la && lb > lc {
            1.0
        } else if lb <= la && lb < lc {
            -1.0
        } else {
            continue;
        };
        let e = edge(i - 1, i + 1);
        let value = |w: &mut Worker, s: f64| e.sample(w, s).map_or(f64::INFINITY, |x| -peak * x.reach);
        let (s, v) = root::minimum(|s| value(&mut w, s), 0.0, 1.0, 1e-9, f64::NEG_INFINITY);
        if peak > 0.0 {
            offer(-v, e.point(s)[0]);
        }
        // the extremum crosses the border although the points do not
        if plane.is_several() || b.excess.is_nan() {
            continue;
        }
        let Some(top) = e.sample(&mut w, s) else { continue };
        if (top.excess > 0.0) != (b.excess > 0.0) {
            for (s0, x0) in [(0.0, &a), (1.0, &c)] {
                // between the extremum and the nearer of the point itself and the neighbour
                let (s0, f0) = if (s - 0.5) * (s0 - 0.5) > 0.0 { (s0, x0.excess) } else { (0.5, b.excess) };
                if (f0 > 0.0) != (top.excess > 0.0)
                    && let Some(r) = e.root(&mut w, excess, s, top.excess, s0, f0)
                {
                    found.push((Kind::Index, e.point(r)[0]));
                }
            }
        }
    }
    let close = 1e-9 * (axis.to - axis.from).abs();
    found.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    found.dedup_by(|a, b| a.0 == b.0 && (a.1 - b.1).abs() <= close);
    map.borders = found.into_iter().map(|(kind, x)| Border { kind, points: vec![vec![x]] }).collect();
    map.largest = largest;
}
