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
//! *Maps.* Marching squares: the crossing on each edge of the grid is refined in the same way, then joined inside the
//! cells (four crossings: the centre decides; three regions in one cell meet at the mean of their crossings) and chained.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use rayon::prelude::*;

use super::AnalysisError;
use super::map::{Axis, Largest, Map, Plane, Sample, Watch, Worker};
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
    pub fn word(self) -> &'static str {
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
    /// Parameter values, one entry per axis.
    pub points: Vec<Vec<f64>>,
}

/// Width of a refined bracket, relative to the edge.
const WIDTH: f64 = 1e-10;

/// Locate all borders of `map` and the largest |L|.
pub(crate) fn borders(plane: &Plane, map: &mut Map, watch: Watch<'_>) -> Result<(), AnalysisError> {
    if map.axes.len() == 1 {
        curve(plane, map);
    } else {
        lines(plane, map, watch)?;
    }
    Ok(())
}

/// A straight edge between two points of the parameter space.
struct Edge<'a> {
    plane: &'a Plane,
    a: [f64; 2],
    b: [f64; 2],
    n: usize,
}

impl Edge<'_> {
    fn point(&self, s: f64) -> [f64; 2] {
        [0, 1].map(|k| if s == 1.0 { self.b[k] } else { self.a[k] + s * (self.b[k] - self.a[k]) })
    }

    fn sample(&self, w: &mut Worker, s: f64) -> Option<Sample> {
        self.plane.sample(w, &self.point(s)[..self.n]).ok()
    }

    /// Root of a function of the samples between `s0` and `s1` with opposite signs there; `None` at a pole.
    fn root(
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
    fn change(&self, w: &mut Worker, left: &Sample) -> f64 {
        let (mut lo, mut hi) = (0.0, 1.0);
        while hi - lo > WIDTH {
            let mid = 0.5 * (lo + hi);
            let same = self.sample(w, mid).is_some_and(|s| s.class.domain == left.class.domain);
            if same { lo = mid } else { hi = mid }
        }
        hi
    }

    fn kind_of_change(a: &Sample, b: &Sample) -> Kind {
        if a.class.verdict == b.class.verdict { Kind::Frictionless } else { Kind::Index }
    }
}

fn excess(s: &Sample) -> f64 {
    s.excess
}

fn frictionless(s: &Sample) -> f64 {
    s.frictionless
}

fn curve(plane: &Plane, map: &mut Map) {
    let axis = map.axes[0].clone();
    let mut w = plane.worker();
    let n = axis.count;
    let edge = |i: usize, j: usize| Edge { plane, a: [axis.value(i), 0.0], b: [axis.value(j), 0.0], n: 1 };
    let mut found: Vec<(Kind, f64)> = Vec::new();
    for i in 0..n - 1 {
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
        offer(b.index.abs(), axis.value(i));
        if i == 0 || i + 1 == n {
            continue;
        }
        let (Some(a), Some(c)) = (map.grid[i - 1], map.grid[i + 1]) else { continue };
        let (la, lb, lc) = (a.index.abs(), b.index.abs(), c.index.abs());
        let peak = if lb >= la && lb > lc {
            1.0
        } else if lb <= la && lb < lc {
            -1.0
        } else {
            continue;
        };
        let e = edge(i - 1, i + 1);
        let value = |w: &mut Worker, s: f64| e.sample(w, s).map_or(f64::INFINITY, |x| -peak * x.index.abs());
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

/// An edge of the grid: cell coordinates and direction (0 along the first axis, 1 along the second).
type EdgeId = (usize, usize, u8);
type Crossings = BTreeMap<EdgeId, (Kind, [f64; 2])>;

fn lines(plane: &Plane, map: &mut Map, watch: Watch<'_>) -> Result<(), AnalysisError> {
    let (columns, rows) = (map.axes[0].count, map.axes[1].count);
    let grid = &map.grid;
    let at = |i: usize, j: usize| grid[j * columns + i];
    let place = |i: usize, j: usize| [map.axes[0].value(i), map.axes[1].value(j)];

    // largest |L| on the grid
    let mut largest: Option<Largest> = None;
    for j in 0..rows {
        for i in 0..columns {
            if let Some(s) = at(i, j)
                && s.index.is_finite()
                && largest.as_ref().is_none_or(|l| s.index.abs() > l.value)
            {
                largest = Some(Largest { value: s.index.abs(), at: place(i, j).to_vec() });
            }
        }
    }

    let layers: &[Option<Kind>] =
        if plane.is_several() { &[None] } else { &[Some(Kind::Index), Some(Kind::Frictionless)] };
    let mut all = Vec::new();
    for layer in layers {
        // crossings on all edges, row by row
        type Row = Result<Vec<(EdgeId, (Kind, [f64; 2]))>, AnalysisError>;
        let parts: Vec<Row> = (0..rows)
            .into_par_iter()
            .map_init(
                || plane.worker(),
                |w, j| {
                    if watch.interrupt.is_some_and(|f| f.load(Ordering::Relaxed)) {
                        return Err(AnalysisError::Interrupted);
                    }
                    let mut list = Vec::new();
                    for i in 0..columns {
                        for (dir, (i1, j1)) in [(0, (i + 1, j)), (1, (i, j + 1))] {
                            if i1 >= columns || j1 >= rows {
                                continue;
                            }
                            let (Some(a), Some(b)) = (at(i, j), at(i1, j1)) else { continue };
                            let e = Edge { plane, a: place(i, j), b: place(i1, j1), n: 2 };
                            if let Some((kind, s)) = crossing(&e, w, *layer, &a, &b) {
                                list.push(((i, j, dir), (kind, e.point(s))));
                            }
                        }
                    }
                    Ok(list)
                },
            )
            .collect();
        let mut crossings = Crossings::new();
        for p in parts {
            crossings.extend(p?);
        }
        all.extend(join(plane, &map.axes, &crossings, *layer, grid));
    }
    all.sort_by_key(|b: &Border| b.kind);
    map.borders = all;
    map.largest = largest;
    Ok(())
}

fn layer_value(layer: Kind, s: &Sample) -> f64 {
    match layer {
        Kind::Index => s.excess,
        Kind::Frictionless => s.frictionless,
    }
}

fn crossing(e: &Edge, w: &mut Worker, layer: Option<Kind>, a: &Sample, b: &Sample) -> Option<(Kind, f64)> {
    match layer {
        Some(kind) => {
            let (fa, fb) = (layer_value(kind, a), layer_value(kind, b));
            if fa.is_nan() || fb.is_nan() || (fa > 0.0) == (fb > 0.0) {
                return None;
            }
            e.root(w, |s| layer_value(kind, s), 0.0, fa, 1.0, fb).map(|s| (kind, s))
        }
        None => (a.class.domain != b.class.domain).then(|| (Edge::kind_of_change(a, b), e.change(w, a))),
    }
}

/// Join the crossings inside the cells and chain the segments.
fn join(
    plane: &Plane,
    axes: &[Axis],
    crossings: &Crossings,
    layer: Option<Kind>,
    grid: &[Option<Sample>],
) -> Vec<Border> {
    let (columns, rows) = (axes[0].count, axes[1].count);
    let mut w = plane.worker();
    // nodes: crossings first, then junctions inside cells
    let mut points: Vec<[f64; 2]> = crossings.values().map(|c| c.1).collect();
    let kinds: Vec<Kind> = crossings.values().map(|c| c.0).collect();
    let mut segments: Vec<(usize, usize, Kind)> = Vec::new();
    let ids: BTreeMap<EdgeId, usize> = crossings.keys().enumerate().map(|(k, e)| (*e, k)).collect();
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            // counter-clockwise: bottom, right, top, left
            let edges = [(i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1)];
            let here: Vec<(usize, usize)> =
                (0..4).filter_map(|k| ids.get(&edges[k]).map(|&id| (k, id))).collect();
            let kind = |id: usize| kinds[id];
            match here[..] {
                [(_, a), (_, b)] => segments.push((a, b, kind(a).min(kind(b)))),
                [(_, a), (_, b), (_, c), (_, d)] if layer.is_some() => {
                    let Some(l) = layer else { continue };
                    let middle = [0, 1].map(|k| {
                        let v = [i, j][k];
                        0.5 * (axes[k].value(v) + axes[k].value(v + 1))
                    });
                    let centre = plane.sample(&mut w, &middle).is_ok_and(|s| layer_value(l, &s) > 0.0);
                    let corner = grid[j * columns + i].is_some_and(|s| layer_value(l, &s) > 0.0);
                    // the corner (i, j) is cut off when the centre differs from it
                    if centre == corner {
                        segments.push((a, b, l));
                        segments.push((c, d, l));
                    } else {
                        segments.push((a, d, l));
                        segments.push((b, c, l));
                    }
                }
                [] | [_] => {}
                _ => {
                    let n = here.len() as f64;
                    let mean = [0, 1].map(|k| here.iter().map(|&(_, id)| points[id][k]).sum::<f64>() / n);
                    points.push(mean);
                    let node = points.len() - 1;
                    segments.extend(here.iter().map(|&(_, id)| (id, node, kind(id))));
                }
            }
        }
    }
    chain(&points, &segments)
}

/// Polylines of equal kind; they end where more or fewer than two segments meet.
fn chain(points: &[[f64; 2]], segments: &[(usize, usize, Kind)]) -> Vec<Border> {
    let mut out = Vec::new();
    for kind in [Kind::Index, Kind::Frictionless] {
        let own: Vec<(usize, usize)> = segments.iter().filter(|s| s.2 == kind).map(|s| (s.0, s.1)).collect();
        let mut touching: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (k, s) in own.iter().enumerate() {
            touching.entry(s.0).or_default().push(k);
            touching.entry(s.1).or_default().push(k);
        }
        let mut used = vec![false; own.len()];
        let ends: Vec<usize> = touching.iter().filter(|t| t.1.len() != 2).map(|t| *t.0).collect();
        let starts = ends.into_iter().chain(touching.keys().copied().collect::<Vec<_>>());
        for start in starts {
            while let Some(&first) = touching[&start].iter().find(|&&k| !used[k]) {
                let mut line = vec![points[start].to_vec()];
                let (mut node, mut next) = (start, Some(first));
                while let Some(k) = next {
                    used[k] = true;
                    node = if own[k].0 == node { own[k].1 } else { own[k].0 };
                    line.push(points[node].to_vec());
                    let list = &touching[&node];
                    next = if list.len() == 2 { list.iter().copied().find(|&k| !used[k]) } else { None };
                }
                out.push(Border { kind, points: line });
            }
        }
    }
    out
}
