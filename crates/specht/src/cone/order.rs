//! Minimum-degree ordering of a small graph of blocks (METH-CONE-LINALG)
//!
//! Eliminates the node with the smallest weighted degree, ties by number. Nodes marked `late` (bilateral rows, contacts
//! kept uncondensed, whose diagonal block may vanish) become eligible only when all their early neighbours are gone, so
//! that their pivot is the Schur complement. Returns the order and, for every place in it, the later neighbours.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// `adj[i]`: neighbours of `i` (symmetric, without `i`).
pub(super) fn minimum_degree(
    size: &[usize],
    adj: &[Vec<usize>],
    late: &[bool],
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = size.len();
    let mut graph: Vec<BTreeSet<usize>> = adj.iter().map(|a| a.iter().copied().collect()).collect();
    let mut early: Vec<usize> =
        (0..n).map(|i| if late[i] { adj[i].iter().filter(|&&j| !late[j]).count() } else { 0 }).collect();
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
        if !late[i] {
            for &a in adj[i].iter().filter(|&&a| late[a]) {
                early[a] -= 1;
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
