//! Minimum-degree ordering of a small graph of blocks (METH-CONE-LINALG)
//!
//! Eliminates the node with the smallest weighted degree, ties by number. A node with `wait > 0` (bilateral rows, contacts
//! kept uncondensed, whose diagonal block may vanish) becomes eligible only when so many of its early neighbours (`wait = 0`),
//! or all when there are fewer, are gone, so that its pivot is the Schur complement. Returns the order and, for every place in it, the later neighbours.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// `adj[i]`: neighbours of `i` (symmetric, without `i`).
pub(super) fn minimum_degree(
    size: &[usize],
    adj: &[Vec<usize>],
    wait: &[usize],
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = size.len();
    let mut graph: Vec<BTreeSet<usize>> = adj.iter().map(|a| a.iter().copied().collect()).collect();
    let mut early: Vec<usize> =
        (0..n).map(|i| adj[i].iter().filter(|&&j| wait[j] == 0).count().min(wait[i])).collect();
    let degree = |g: &BTreeSet<usize>| g.iter().map(|&j| size[j]).sum::<usize>();
    let mut heap = BinaryHeap::new();
    for i in 0..n {
        if early[i] == 0 {
            heap.push(Reverse((degree(&graph[i]), i)));
        }
    }
    let mut gone = vec![false; n];
    let (mut order, mut later) = (Vec::with_capacity(n), Vec::with_capacity(n));
    while let Some(Reverse((deg, i))) = heap.pop() {
        if gone[i] || deg != degree(&graph[i]) {
            continue;
        }
        gone[i] = true;
        let nb: Vec<usize> = std::mem::take(&mut graph[i]).into_iter().collect();
        for &a in &nb {
            graph[a].remove(&i);
            for &b in &nb {
                if a != b {
                    graph[a].insert(b);
                }
            }
        }
        if wait[i] == 0 {
            for &a in adj[i].iter().filter(|&&a| wait[a] > 0) {
                early[a] = early[a].saturating_sub(1);
            }
        }
        for &a in nb.iter().chain(adj[i].iter()) {
            if !gone[a] && early[a] == 0 {
                heap.push(Reverse((degree(&graph[a]), a)));
            }
        }
        order.push(i);
        later.push(nb);
    }
    (order, later)
}
