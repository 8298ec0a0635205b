//! Nested dissection of a graph of blocks (METH-CONE-LINALG)
//!
//! A separator splits the graph into two halves that do not touch; the halves are ordered first, each in the same way, the separator
//! last. In three dimensions this needs fewer operations than the minimum degree, which takes over in small pieces.
//!
//! ```text
//! coordinate   second eigenvector of the graph's Laplacian, by inverse iteration with conjugate gradients    (Fiedler 1973)
//! halves       the lower and upper part in this coordinate, at several places
//! separator    the least nodes that cover all edges between them, by augmenting paths                         (König 1931)
//! ```

use super::order::minimum_degree;
use std::collections::VecDeque;

/// Pieces up to this many nodes are ordered by minimum degree.
const LEAF: usize = 60;
/// Places of a cut, as parts of the nodes, and the weight of a difference of the halves.
const PLACES: [f64; 7] = [0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65];
const UNEVEN: f64 = 2.0;
/// Inverse iterations, and conjugate gradients in each.
const OUTER: usize = 3;
const INNER: usize = 40;

/// The order in which the nodes are eliminated.
pub(super) fn dissect(size: &[usize], adj: &[Vec<usize>]) -> Vec<usize> {
    let mut d = Dissection { size, adj, local: vec![usize::MAX; size.len()], order: Vec::new() };
    d.piece((0..size.len()).collect());
    d.order
}

struct Dissection<'a> {
    size: &'a [usize],
    adj: &'a [Vec<usize>],
    /// number of a node in the piece at hand
    local: Vec<usize>,
    order: Vec<usize>,
}

impl Dissection<'_> {
    /// Order the nodes of a piece.
    fn piece(&mut self, nodes: Vec<usize>) {
        let graph = self.graph(&nodes);
        if nodes.len() <= LEAF {
            let size: Vec<usize> = nodes.iter().map(|&i| self.size[i]).collect();
            let (order, _) = minimum_degree(&size, &graph, &vec![false; nodes.len()]);
            self.order.extend(order.iter().map(|&i| nodes[i]));
            return;
        }
        let side = split(&graph);
        for half in [Side::Low, Side::High] {
            let part: Vec<usize> = (0..nodes.len()).filter(|&i| side[i] == half).map(|i| nodes[i]).collect();
            if !part.is_empty() {
                self.piece(part);
            }
        }
        self.order.extend((0..nodes.len()).filter(|&i| side[i] == Side::Between).map(|i| nodes[i]));
    }

    /// Edges between the nodes of a piece.
    fn graph(&mut self, nodes: &[usize]) -> Vec<Vec<usize>> {
        for (k, &i) in nodes.iter().enumerate() {
            self.local[i] = k;
        }
        let list = |i: &usize| {
            let inside = self.adj[*i].iter().map(|&j| self.local[j]).filter(|&k| k != usize::MAX);
            inside.collect()
        };
        let graph = nodes.iter().map(list).collect();
        nodes.iter().for_each(|&i| self.local[i] = usize::MAX);
        graph
    }
}

/// Where a node goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Low,
    High,
    Between,
}

/// Two halves and their separator.
fn split(graph: &[Vec<usize>]) -> Vec<Side> {
    let n = graph.len();
    let (near, far) = distances(graph, 0);
    if near.contains(&usize::MAX) {
        // not connected: no separator
        return near.iter().map(|&d| if d == usize::MAX { Side::High } else { Side::Low }).collect();
    }
    let (from, end) = distances(graph, far);
    let (to, _) = distances(graph, end);
    let mut x: Vec<f64> = from.iter().zip(&to).map(|(a, b)| *a as f64 - *b as f64).collect();
    (0..OUTER).for_each(|_| smooth(graph, &mut x));
    let mut line: Vec<usize> = (0..n).collect();
    line.sort_by(|&a, &b| x[a].total_cmp(&x[b]).then(a.cmp(&b)));
    let mut best = (f64::INFINITY, Vec::new());
    for part in PLACES {
        let mut low = vec![false; n];
        line[..(part * n as f64) as usize].iter().for_each(|&i| low[i] = true);
        let cover = cover(graph, &low);
        let count = |half: bool| (0..n).filter(|&i| !cover[i] && low[i] == half).count() as f64;
        let between = cover.iter().filter(|c| **c).count() as f64;
        let score = between * (1.0 + UNEVEN * (count(true) - count(false)).abs() / n as f64);
        if score < best.0 {
            let side = |i: usize| match (cover[i], low[i]) {
                (true, _) => Side::Between,
                (_, true) => Side::Low,
                _ => Side::High,
            };
            best = (score, (0..n).map(side).collect());
        }
    }
    best.1
}

/// Edges to a node, and the node farthest away.
fn distances(graph: &[Vec<usize>], start: usize) -> (Vec<usize>, usize) {
    let mut d = vec![usize::MAX; graph.len()];
    let mut queue = VecDeque::from([start]);
    let mut last = start;
    d[start] = 0;
    while let Some(i) = queue.pop_front() {
        last = i;
        for &j in &graph[i] {
            if d[j] == usize::MAX {
                d[j] = d[i] + 1;
                queue.push_back(j);
            }
        }
    }
    (d, last)
}

/// `x ← L⁺ x`, about, with the Laplacian `L` of a connected graph: every solution is orthogonal to the constants.
fn smooth(graph: &[Vec<usize>], x: &mut [f64]) {
    let n = graph.len();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mean = x.iter().sum::<f64>() / n as f64;
    let mut r: Vec<f64> = x.iter().map(|v| v - mean).collect();
    let mut p = r.clone();
    let mut q = vec![0.0; n];
    x.fill(0.0);
    let (mut rr, begin) = (dot(&r, &r), dot(&r, &r));
    for _ in 0..INNER {
        if !(rr > 1e-8 * begin) {
            break;
        }
        for i in 0..n {
            q[i] = graph[i].iter().map(|&j| p[i] - p[j]).sum();
        }
        let a = rr / dot(&p, &q);
        for i in 0..n {
            x[i] += a * p[i];
            r[i] -= a * q[i];
        }
        let next = dot(&r, &r);
        (0..n).for_each(|i| p[i] = r[i] + next / rr * p[i]);
        rr = next;
    }
    let size = dot(x, x).sqrt();
    x.iter_mut().for_each(|v| *v /= size);
}

/// The least nodes that touch all edges between the low and the high half: as many as the largest matching has edges.
fn cover(graph: &[Vec<usize>], low: &[bool]) -> Vec<bool> {
    let n = graph.len();
    let mut partner = vec![usize::MAX; n];
    let mut seen = vec![usize::MAX; n];
    for i in (0..n).filter(|&i| low[i]) {
        augment(graph, low, i, i, &mut seen, &mut partner);
    }
    // all that is reached from free low nodes by alternating paths; the cover: low nodes not reached, high nodes reached
    let mut reached = vec![false; n];
    let mut stack: Vec<usize> = (0..n).filter(|&i| low[i] && partner[i] == usize::MAX).collect();
    stack.iter().for_each(|&i| reached[i] = true);
    while let Some(i) = stack.pop() {
        for &j in graph[i].iter().filter(|&&j| !low[j]) {
            if !std::mem::replace(&mut reached[j], true) {
                let back = partner[j];
                if back != usize::MAX && !std::mem::replace(&mut reached[back], true) {
                    stack.push(back);
                }
            }
        }
    }
    (0..n).map(|i| if low[i] { !reached[i] && partner[i] != usize::MAX } else { reached[i] }).collect()
}

/// An augmenting path from the low node `i`.
fn augment(
    graph: &[Vec<usize>],
    low: &[bool],
    i: usize,
    stamp: usize,
    seen: &mut [usize],
    partner: &mut [usize],
) -> bool {
    for &j in graph[i].iter().filter(|&&j| !low[j]) {
        if seen[j] != stamp {
            seen[j] = stamp;
            let other = partner[j];
            if other == usize::MAX || augment(graph, low, other, stamp, seen, partner) {
                (partner[i], partner[j]) = (j, i);
                return true;
            }
        }
    }
    false
}
