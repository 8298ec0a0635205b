//! Borders of a map as lines.
//!
//! Marching squares: the crossing on each edge of the grid is refined on the function itself (as on a curve, see
//! [`super::border`]), then joined inside the cells (four crossings: the centre decides) and chained. Three regions in one cell
//! meet at a junction, which is located too ([`super::junction`]); so is every crossing of μ|L| = 1 with R⁰ = 0, and the
//! largest |L|.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::border::{Border, Edge, Kind};
use super::junction::{Junction, locate, peak};
use super::map::{Axis, Largest, Map, Plane, Sample, Watch, Worker};

/// Cells of a map in which junctions are looked for, at most.
const MAX_CELLS: usize = 400;
/// Grid points from which the largest |L| is looked for.
const PEAKS: usize = 4;

/// An edge of the grid: cell coordinates and direction (0 along the first axis, 1 along the second; 2 more for its second
/// crossing).
type EdgeId = (usize, usize, u8);
/// Crossings of one row of edges.
type Row = Vec<(EdgeId, (Kind, [f64; 2]))>;
type Crossings = BTreeMap<EdgeId, (Kind, [f64; 2])>;

/// Locate the lines of a map, its junctions and the largest |L|.
pub(super) fn lines(plane: &Plane, map: &mut Map, watch: Watch<'_>) {
    map.largest = largest(plane, map, watch);
    let (columns, rows) = (map.axes[0].count, map.axes[1].count);
    let at = |i: usize, j: usize| map.grid[j * columns + i];
    let place = |i: usize, j: usize| [map.axes[0].value(i), map.axes[1].value(j)];
    let layers: &[Option<Kind>] =
        if plane.is_several() { &[None] } else { &[Some(Kind::Index), Some(Kind::Frictionless)] };
    let mut all: Vec<Crossings> = Vec::new();
    for (number, layer) in layers.iter().enumerate() {
        // crossings on all edges, row by row
        let parts: Vec<Row> = (0..rows)
            .into_par_iter()
            .map_init(
                || plane.worker(),
                |w, j| {
                    let mut list = Vec::new();
                    for i in 0..columns {
                        if watch.is_interrupted() {
                            break;
                        }
                        for (dir, (i1, j1)) in [(0, (i + 1, j)), (1, (i, j + 1))] {
                            if i1 >= columns || j1 >= rows {
                                continue;
                            }
                            let (Some(a), Some(b)) = (at(i, j), at(i1, j1)) else { continue };
                            let e = Edge { plane, a: place(i, j), b: place(i1, j1), n: 2 };
                            let Some((kind, s)) = crossing(&e, w, *layer, &a, &b) else { continue };
                            list.push(((i, j, dir), (kind, e.point(s))));
                            // another domain in between: a second border crosses the edge
                            if layer.is_none()
                                && let Some((kind, s)) = e.second(w, s, &b)
                            {
                                list.push(((i, j, dir + 2), (kind, e.point(s))));
                            }
                        }
                    }
                    list
                },
            )
            .collect();
        all.push(parts.into_iter().flatten().collect());
        if let Some(f) = watch.progress {
            f(0.7 + 0.1 * (number + 1) as f64 * 2.0 / layers.len() as f64);
        }
    }
    let all: Vec<Nodes> = all.iter().map(|c| Nodes::new(&map.axes, c)).collect();
    let found = junctions(plane, map, &all, watch);
    let mut borders: Vec<Border> = Vec::new();
    for (layer, nodes) in layers.iter().zip(all) {
        borders.extend(join(plane, map, nodes, *layer, &found));
    }
    borders.sort_by_key(|b: &Border| b.kind);
    map.borders = borders;
    map.junctions = found.into_values().fold(Vec::new(), |mut list: Vec<Junction>, j| {
        let same = |k: &Junction| {
            (0..2).all(|a| {
                let axis = &map.axes[a];
                (k.at[a] - j.at[a]).abs() <= 1e-6 * (axis.to - axis.from) / (axis.count - 1) as f64
            })
        };
        if !list.iter().any(same) {
            list.push(j);
        }
        list
    });
}

/// The largest |L|: from the highest points of the grid.
fn largest(plane: &Plane, map: &Map, watch: Watch<'_>) -> Option<Largest> {
    let (columns, rows) = (map.axes[0].count, map.axes[1].count);
    let value = |i: usize, j: usize| map.grid[j * columns + i].map(|s| s.reach).filter(|v| v.is_finite());
    let mut tops: Vec<(f64, usize, usize)> = Vec::new();
    for j in 0..rows {
        for i in 0..columns {
            let Some(v) = value(i, j) else { continue };
            // of equal neighbours the first
            let lower = |di: usize, dj: usize| {
                let (Some(a), Some(b)) = ((i + di).checked_sub(1), (j + dj).checked_sub(1)) else {
                    return true;
                };
                if (a, b) == (i, j) || a >= columns || b >= rows {
                    return true;
                }
                value(a, b).is_none_or(|n| n < v || (n == v && (b, a) > (j, i)))
            };
            if (0..9).all(|k| lower(k % 3, k / 3)) {
                tops.push((v, i, j));
            }
        }
    }
    tops.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.2, a.1).cmp(&(b.2, b.1))));
    let &(v, i, j) = tops.first()?;
    let mut best = Largest { value: v, at: vec![map.axes[0].value(i), map.axes[1].value(j)] };
    let cell = [0, 1].map(|k| (map.axes[k].to - map.axes[k].from) / (map.axes[k].count - 1) as f64);
    let bounds = [0, 1].map(|k| [map.axes[k].from, map.axes[k].to]);
    let mut w = plane.worker();
    for &(_, i, j) in tops.iter().take(PEAKS) {
        if watch.is_interrupted() {
            break;
        }
        let from = [map.axes[0].value(i), map.axes[1].value(j)];
        let (v, at) = peak(plane, &mut w, |s| s.reach, from, cell.map(|c| 2.0 * c), bounds);
        if v.is_finite() && v > best.value {
            best = Largest { value: v, at: at.to_vec() };
        }
    }
    Some(best)
}

/// The crossings as nodes of lines. Those at the same corner of the grid are one node: borders like to run through corners.
struct Nodes {
    ids: BTreeMap<EdgeId, usize>,
    points: Vec<[f64; 2]>,
    kinds: Vec<Kind>,
}

impl Nodes {
    fn new(axes: &[Axis], crossings: &Crossings) -> Nodes {
        let mut out = Nodes { ids: BTreeMap::new(), points: Vec::new(), kinds: Vec::new() };
        let mut corners: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (&(i, j, dir), &(kind, point)) in crossings {
            let k = usize::from(dir % 2);
            let (a, b) = (axes[k].value([i, j][k]), axes[k].value([i, j][k] + 1));
            let s = (point[k] - a) / (b - a);
            let corner = match s {
                _ if s <= 1e-6 => Some((i, j)),
                _ if s >= 1.0 - 1e-6 => Some(if k == 0 { (i + 1, j) } else { (i, j + 1) }),
                _ => None,
            };
            let mut id = out.points.len();
            if let Some(corner) = corner {
                id = *corners.entry(corner).or_insert(id);
            }
            if id == out.points.len() {
                out.points.push(point);
                out.kinds.push(kind);
            }
            out.kinds[id] = out.kinds[id].min(kind);
            out.ids.insert((i, j, dir), id);
        }
        out
    }

    /// The nodes on the edges of a cell, counter-clockwise from the bottom, each once.
    fn of_cell(&self, i: usize, j: usize) -> Vec<usize> {
        let mut list: Vec<usize> = Vec::with_capacity(4);
        for edge in [(i, j, 0), (i + 1, j, 1), (i, j + 1, 0), (i, j, 1)] {
            for number in [edge, (edge.0, edge.1, edge.2 + 2)] {
                if let Some(&id) = self.ids.get(&number)
                    && !list.contains(&id)
                {
                    list.push(id);
                }
            }
        }
        list
    }
}

/// The domain of a sample: its list of patterns, or the signs of μ|L| − 1 and R⁰.
fn label(s: &Sample) -> u64 {
    if s.excess.is_nan() {
        s.class.domain
    } else {
        u64::from(s.excess > 0.0) * 2 + u64::from(s.frictionless > 0.0)
    }
}

/// Whether lines of two layers may cross in a cell: as straight lines they do so in the cell or close to it.
fn may_cross(axes: &[Axis], (i, j): (usize, usize), a: &Nodes, b: &Nodes) -> bool {
    let (list_a, list_b) = (a.of_cell(i, j), b.of_cell(i, j));
    let ([p, q], [r, s]) = (&list_a[..], &list_b[..]) else {
        return list_a.len().min(list_b.len()) > 0 && list_a.len() + list_b.len() > 3;
    };
    // in units of the cell, from its corner
    let unit = |point: [f64; 2]| {
        [0, 1].map(|k| {
            let n = [i, j][k];
            (point[k] - axes[k].value(n)) / (axes[k].value(n + 1) - axes[k].value(n))
        })
    };
    let [p, q, r, s] = [a.points[*p], a.points[*q], b.points[*r], b.points[*s]].map(unit);
    let (u, v) = ([q[0] - p[0], q[1] - p[1]], [s[0] - r[0], s[1] - r[1]]);
    let cross = u[0] * v[1] - u[1] * v[0];
    let along = ((r[0] - p[0]) * v[1] - (r[1] - p[1]) * v[0]) / cross;
    let at = [p[0] + along * u[0], p[1] + along * u[1]];
    at.iter().all(|x| (-0.25..=1.25).contains(x))
}

/// The junctions of all cells in which borders may meet.
fn junctions(
    plane: &Plane,
    map: &Map,
    layers: &[Nodes],
    watch: Watch<'_>,
) -> BTreeMap<(usize, usize), Junction> {
    let axes = &map.axes;
    // three labels at the corners: the borders may meet in a corner of the grid
    let three = |i: usize, j: usize| {
        let mut seen: Vec<u64> = [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)]
            .into_iter()
            .filter_map(|(i, j)| map.grid[j * axes[0].count + i].map(|s| label(&s)))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len() > 2
    };
    let cells = (0..axes[1].count - 1).flat_map(|j| (0..axes[0].count - 1).map(move |i| (i, j)));
    let wanted: Vec<(usize, usize)> = cells
        .filter(|&(i, j)| match layers {
            [a, b] => may_cross(axes, (i, j), a, b),
            all => three(i, j) || all.iter().any(|n| n.of_cell(i, j).len() > 2),
        })
        .take(MAX_CELLS)
        .collect();
    let found: Vec<Option<Junction>> = wanted
        .par_iter()
        .map_init(
            || plane.worker(),
            |w, &(i, j)| {
                if watch.is_interrupted() {
                    return None;
                }
                let corner = |i: usize, j: usize| [axes[0].value(i), axes[1].value(j)];
                locate(plane, w, label, corner(i, j), corner(i + 1, j + 1))
            },
        )
        .collect();
    wanted.into_iter().zip(found).filter_map(|(cell, j)| j.map(|j| (cell, j))).collect()
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
    map: &Map,
    mut nodes: Nodes,
    layer: Option<Kind>,
    junctions: &BTreeMap<(usize, usize), Junction>,
) -> Vec<Border> {
    let (axes, grid) = (&map.axes, &map.grid);
    let (columns, rows) = (axes[0].count, axes[1].count);
    let cell = [0, 1].map(|k| axes[k].value(1) - axes[k].value(0));
    let mut w = plane.worker();
    let mut segments: Vec<(usize, usize, Kind)> = Vec::new();
    for j in 0..rows - 1 {
        for i in 0..columns - 1 {
            let here = nodes.of_cell(i, j);
            let kinds = &nodes.kinds;
            match here[..] {
                [a, b] => segments.push((a.min(b), a.max(b), kinds[a].min(kinds[b]))),
                [a, b, c, d] if layer.is_some() => {
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
                _ => match junctions.get(&(i, j)) {
                    Some(junction) => {
                        let node = nodes.points.len();
                        segments.extend(here.iter().map(|&id| (id, node, kinds[id])));
                        nodes.points.push(junction.at);
                        nodes.kinds.push(Kind::Index);
                    }
                    // borders that pass by each other: two crossings belong together when the label changes between them
                    None => {
                        for (n, &a) in here.iter().enumerate() {
                            for &b in &here[n + 1..] {
                                let (p, q) = (nodes.points[a], nodes.points[b]);
                                let mut side = |s: f64| {
                                    let x = 0.5 * (p[0] + q[0]) - s * (q[1] - p[1]) * cell[0] / cell[1];
                                    let y = 0.5 * (p[1] + q[1]) + s * (q[0] - p[0]) * cell[1] / cell[0];
                                    plane.sample(&mut w, &[x, y]).ok().map(|s| label(&s))
                                };
                                if side(0.05) != side(-0.05) {
                                    segments.push((a.min(b), a.max(b), kinds[a].min(kinds[b])));
                                }
                            }
                        }
                    }
                },
            }
        }
    }
    segments.sort_unstable();
    segments.dedup_by_key(|s| (s.0, s.1));
    chain(&nodes.points, &segments)
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
