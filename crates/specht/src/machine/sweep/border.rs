//! Borders between classes over two axes, and how far a point is from them.
//!
//! Where neighbours of the grid differ the edge between them is halved until the border is known to the fineness asked for; a third class
//! in between has two borders. Crossings are joined in the cells (where the corners alternate, the centre decides; where three classes
//! meet, at a junction), then each piece of line gets one more point, found across its middle.
//!
//! Distance: the nearest border point where every parameter counts relative to its nominal value (to the length of its axis where that
//! is zero), then located along the ray from the nominal point.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::plan::Span;
use crate::machine::json::Named;

/// A line between two classes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Border {
    /// The classes on its sides.
    pub classes: [String; 2],
    /// Its points.
    pub points: Vec<[f64; 2]>,
}

/// How far the nominal point is from a border.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distance {
    /// Class of the nominal point.
    pub class: String,
    /// Relative change of the parameters to the nearest border, per cent (root of the sum of squares).
    pub percent: f64,
    /// Where that is.
    pub at: Named<f64>,
    /// The class behind it.
    pub beyond: String,
    /// The nearest border when one parameter changes alone, per cent of its nominal value; none where there is no border on its axis.
    pub alone: Named<Option<Alone>>,
}

/// The nearest border along one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alone {
    /// Change of the parameter, per cent; negative: it falls.
    pub percent: f64,
    /// Its value there.
    pub value: f64,
    /// The class behind it.
    pub beyond: String,
}

/// Class of a point; none where nothing is defined.
pub(crate) type Class = Option<String>;
/// A crossing: where, and the classes before and after it.
#[derive(Clone, Debug)]
struct Crossing {
    at: [f64; 2],
    classes: [String; 2],
}

/// Most halvings of one edge.
const HALVINGS: usize = 50;

/// Classes as a function of two numbers.
pub(crate) struct Partition<'a> {
    /// The axes of the grid.
    pub axes: &'a [Span],
    /// How finely borders are located, relative to a cell.
    pub fine: f64,
    /// The class at a point.
    pub class: &'a (dyn Fn([f64; 2]) -> Class + Sync),
    /// Whether the outside wants the work to end.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

impl Partition<'_> {
    /// Lengths of a cell.
    fn cell(&self) -> [f64; 2] {
        [0, 1].map(|k| {
            let axis = &self.axes[k];
            (axis.value(axis.count() - 1) - axis.value(0)).abs() / (axis.count() - 1) as f64
        })
    }

    /// Crossings between two points of different classes, from the first to the second.
    fn crossings(&self, a: [f64; 2], ca: &str, b: [f64; 2], cb: &str, depth: usize, out: &mut Vec<Crossing>) {
        let cell = self.cell();
        let middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
        let near = (0..2).all(|k| (b[k] - a[k]).abs() <= self.fine * cell[k]);
        let class = if near || depth >= HALVINGS { None } else { (self.class)(middle) };
        match class {
            None => out.push(Crossing { at: middle, classes: [ca.to_string(), cb.to_string()] }),
            Some(c) => {
                if c != ca {
                    self.crossings(a, ca, middle, &c, depth + 1, out);
                }
                if c != cb {
                    self.crossings(middle, &c, b, cb, depth + 1, out);
                }
            }
        }
    }

    /// The borders between the classes of a grid, the first axis running fastest.
    pub(crate) fn borders(&self, grid: &[Class]) -> Vec<Border> {
        let axes = self.axes;
        let (columns, lines) = (axes[0].count(), axes[1].count());
        let place = |i: usize, j: usize| [axes[0].value(i), axes[1].value(j)];
        let class = |i: usize, j: usize| grid[j * columns + i].clone();
        let mut edges = Vec::new();
        for j in 0..lines {
            for i in 0..columns {
                for (way, (k, l)) in [(0_u8, (i + 1, j)), (1, (i, j + 1))] {
                    if k < columns
                        && l < lines
                        && let (Some(a), Some(b)) = (class(i, j), class(k, l))
                        && a != b
                    {
                        edges.push(((i, j, way), (place(i, j), a), (place(k, l), b)));
                    }
                }
            }
        }
        let found: Vec<_> = edges
            .into_par_iter()
            .map(|(id, (a, ca), (b, cb))| {
                let mut list = Vec::new();
                if !(self.stop)() {
                    self.crossings(a, &ca, b, &cb, 0, &mut list);
                }
                (id, list)
            })
            .collect();
        if (self.stop)() {
            return Vec::new();
        }
        let mut lines_of = Lines::default();
        let mut on_edge: BTreeMap<(usize, usize, u8), Vec<usize>> = BTreeMap::new();
        for (id, list) in found {
            on_edge.insert(id, list.into_iter().map(|c| lines_of.node(c)).collect());
        }
        let none = Vec::new();
        for j in 0..lines - 1 {
            for i in 0..columns - 1 {
                let of = |id| on_edge.get(&id).unwrap_or(&none);
                // bottom, right, top, left
                let sides = [of((i, j, 0)), of((i + 1, j, 1)), of((i, j + 1, 0)), of((i, j, 1))];
                if sides.iter().all(|s| s.is_empty()) {
                    continue;
                }
                let corner = class(i, j);
                let centre = || {
                    let ([x, y], [z, w]) = (place(i, j), place(i + 1, j + 1));
                    (self.class)([0.5 * (x + z), 0.5 * (y + w)]) == corner
                };
                lines_of.join(sides, centre);
            }
        }
        let mut borders = lines_of.chained();
        borders.par_iter_mut().for_each(|b| self.refine(b));
        borders
    }

    /// One more point per piece, across its middle.
    fn refine(&self, border: &mut Border) {
        let cell = self.cell();
        let mut out = Vec::with_capacity(2 * border.points.len());
        for pair in border.points.windows(2) {
            out.push(pair[0]);
            let [a, b] = [pair[0], pair[1]];
            // in cells: perpendicular to the piece, a quarter of its length to both sides
            let d = [0, 1].map(|k| (b[k] - a[k]) / cell[k]);
            let across = [-0.25 * d[1] * cell[0], 0.25 * d[0] * cell[1]];
            let middle = [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
            let ends = [1.0, -1.0].map(|s| [middle[0] + s * across[0], middle[1] + s * across[1]]);
            let (Some(ca), Some(cb)) = ((self.class)(ends[0]), (self.class)(ends[1])) else { continue };
            if ca == cb {
                continue;
            }
            let mut list = Vec::new();
            self.crossings(ends[0], &ca, ends[1], &cb, 0, &mut list);
            let same = |c: &&Crossing| sorted(&c.classes) == border.classes;
            out.extend(list.iter().find(same).map(|c| c.at));
        }
        out.extend(border.points.last());
        border.points = out;
    }

    /// How far a point is from the nearest of these borders.
    pub(crate) fn distance(
        &self,
        names: [&str; 2],
        nominal: [f64; 2],
        borders: &[Border],
    ) -> Option<Distance> {
        let axes = self.axes;
        let scale = [0, 1].map(|k| match nominal[k].abs() {
            0.0 => (axes[k].value(axes[k].count() - 1) - axes[k].value(0)).abs(),
            size => size,
        });
        let class = (self.class)(nominal)?;
        let relative = |p: [f64; 2]| [0, 1].map(|k| (p[k] - nominal[k]) / scale[k]);
        let length = |p: [f64; 2]| p[0].hypot(p[1]);
        let nearest = borders
            .iter()
            .flat_map(|b| b.points.windows(2))
            .map(|w| foot(relative(w[0]), relative(w[1])))
            .min_by(|a, b| length(*a).total_cmp(&length(*b)))?;
        // on the ray through it
        let point = |s: f64| [0, 1].map(|k| nominal[k] + s * nearest[k] * scale[k]);
        let mut list = Vec::new();
        for s in [1.02, 1.1, 1.3] {
            match (self.class)(point(s)) {
                Some(far) if far != class => {
                    self.crossings(nominal, &class, point(s), &far, 0, &mut list);
                    break;
                }
                _ => {}
            }
        }
        let (at, beyond) = match list.first() {
            Some(c) => (c.at, c.classes[1].clone()),
            None => (point(1.0), String::new()),
        };
        let alone =
            (0..2).map(|k| (names[k].to_string(), self.alone(nominal, &class, k, scale[k]))).collect();
        Some(Distance {
            class,
            percent: 100.0 * length(relative(at)),
            at: names.iter().map(|n| n.to_string()).zip(at).collect(),
            beyond,
            alone,
        })
    }

    /// The nearest border along axis `k`.
    fn alone(&self, nominal: [f64; 2], class: &str, k: usize, scale: f64) -> Option<Alone> {
        let axis = &self.axes[k];
        let n = axis.count();
        let ends = [axis.value(0), axis.value(n - 1)];
        let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let step = (high - low) / (n - 1) as f64;
        let at = |v: f64| {
            let mut p = nominal;
            p[k] = v;
            p
        };
        let search = |way: f64| {
            let (mut before, mut here) = (nominal[k], class.to_string());
            for m in 1..=n {
                let v = (nominal[k] + way * step * m as f64).clamp(low, high);
                if v == before || (self.stop)() {
                    return None;
                }
                let next = (self.class)(at(v))?;
                if next != here {
                    let mut list = Vec::new();
                    self.crossings(at(before), &here, at(v), &next, 0, &mut list);
                    let first = list.first()?;
                    let percent = 100.0 * (first.at[k] - nominal[k]) / scale;
                    return Some(Alone { percent, value: first.at[k], beyond: first.classes[1].clone() });
                }
                (before, here) = (v, next);
            }
            None
        };
        let inside = (low..=high).contains(&nominal[k]);
        let found = if inside { [search(-1.0), search(1.0)] } else { [None, None] };
        found.into_iter().flatten().min_by(|a, b| a.percent.abs().total_cmp(&b.percent.abs()))
    }
}

/// The point of a piece nearest to the origin.
fn foot(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    let d = [b[0] - a[0], b[1] - a[1]];
    let square = d[0] * d[0] + d[1] * d[1];
    let s = if square > 0.0 { (-(a[0] * d[0] + a[1] * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    [a[0] + s * d[0], a[1] + s * d[1]]
}

fn sorted(classes: &[String; 2]) -> [String; 2] {
    let [a, b] = classes.clone();
    if a <= b { [a, b] } else { [b, a] }
}

/// Crossings and how they are joined.
#[derive(Default)]
struct Lines {
    points: Vec<[f64; 2]>,
    kinds: Vec<Option<[String; 2]>>,
    pieces: Vec<([String; 2], usize, usize)>,
}

impl Lines {
    fn node(&mut self, c: Crossing) -> usize {
        self.points.push(c.at);
        self.kinds.push(Some(sorted(&c.classes)));
        self.points.len() - 1
    }

    /// Joins the crossings on the sides of a cell: bottom, right, top, left. `centre`: whether its centre is of the class of its
    /// first corner.
    fn join(&mut self, sides: [&Vec<usize>; 4], centre: impl Fn() -> bool) {
        let mut by_kind: BTreeMap<[String; 2], Vec<usize>> = BTreeMap::new();
        for &node in sides.into_iter().flatten() {
            if let Some(kind) = &self.kinds[node] {
                by_kind.entry(kind.clone()).or_default().push(node);
            }
        }
        let mut loose = Vec::new();
        for (kind, nodes) in by_kind {
            match nodes[..] {
                [a, b] => self.pieces.push((kind, a, b)),
                [bottom, right, top, left] => {
                    let pairs = if centre() {
                        [(bottom, right), (top, left)]
                    } else {
                        [(left, bottom), (right, top)]
                    };
                    pairs.into_iter().for_each(|(a, b)| self.pieces.push((kind.clone(), a, b)));
                }
                _ => loose.extend(nodes.into_iter().map(|n| (kind.clone(), n))),
            }
        }
        if loose.len() > 1 {
            let n = loose.len() as f64;
            let mean = [0, 1].map(|k| loose.iter().map(|l| self.points[l.1][k]).sum::<f64>() / n);
            self.points.push(mean);
            self.kinds.push(None);
            let junction = self.points.len() - 1;
            loose.into_iter().for_each(|(kind, node)| self.pieces.push((kind, node, junction)));
        }
    }

    /// Pieces as lines, each as long as it goes.
    fn chained(self) -> Vec<Border> {
        let mut at: BTreeMap<(&[String; 2], usize), Vec<usize>> = BTreeMap::new();
        for (n, (kind, a, b)) in self.pieces.iter().enumerate() {
            at.entry((kind, *a)).or_default().push(n);
            at.entry((kind, *b)).or_default().push(n);
        }
        let mut used = vec![false; self.pieces.len()];
        let mut out = Vec::new();
        // lines with ends first, then rings
        let is_end = |n: &usize| {
            let (kind, a, b) = &self.pieces[*n];
            [a, b].iter().any(|v| at[&(kind, **v)].len() != 1 + usize::from(self.kinds[**v].is_some()))
        };
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by_key(|n| !is_end(n));
        for first in order {
            if used[first] {
                continue;
            }
            used[first] = true;
            let (kind, a, b) = &self.pieces[first];
            let mut nodes = std::collections::VecDeque::from([*a, *b]);
            for front in [false, true] {
                loop {
                    let end = if front { nodes[0] } else { nodes[nodes.len() - 1] };
                    let next = at[&(kind, end)].iter().copied().find(|n| !used[*n]);
                    let (Some(next), true) = (next, self.kinds[end].is_some()) else { break };
                    used[next] = true;
                    let (_, a, b) = &self.pieces[next];
                    let other = if *a == end { *b } else { *a };
                    if front { nodes.push_front(other) } else { nodes.push_back(other) }
                }
            }
            let points = nodes.into_iter().map(|n| self.points[n]).collect();
            out.push(Border { classes: kind.clone(), points });
        }
        out
    }
}
