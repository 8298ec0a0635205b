//! Minimum-degree ordering of a graph of blocks (METH-CONE-LINALG)
//!
//! Eliminates the node with the smallest weighted degree, ties by number. A node that must `wait` (bilateral rows, guides,
//! whose diagonal block may vanish) becomes eligible only when all neighbours that need not are gone, so that its pivot is the Schur
//! complement.
//!
//! Eliminated nodes stay in the graph as elements: the clique they leave is a list, not edges, and swallows the lists it
//! covers. Degrees are bounded from above as in Amestoy, Davis & Duff (1996). Returns the order and, for every place in
//! it, the later neighbours, ascending.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// `adj[i]`: neighbours of `i` (symmetric, without `i`).
pub(super) fn minimum_degree(
    size: &[usize],
    adj: &[Vec<usize>],
    wait: &[bool],
) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = size.len();
    let weight = |nodes: &[usize]| nodes.iter().map(|&j| size[j]).sum::<usize>();
    let mut early: Vec<usize> =
        (0..n).map(|i| if wait[i] { adj[i].iter().filter(|&&j| !wait[j]).count() } else { 0 }).collect();
    // what is left of the edges of a node, the elements it touches, and the nodes of an element
    let mut edges: Vec<Vec<usize>> = adj.to_vec();
    let mut touches: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut clique: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut swallowed = vec![false; n];
    let mut degree: Vec<usize> = edges.iter().map(|e| weight(e)).collect();
    let mut heap: BinaryHeap<_> =
        (0..n).filter(|&i| early[i] == 0).map(|i| Reverse((degree[i], i))).collect();
    let mut gone = vec![false; n];
    // stamps: `mark[j] == i` when j is in the clique of i, `seen[e] == i` when `outside[e]` is the part of e outside it
    let mut mark = vec![usize::MAX; n];
    let mut seen = vec![usize::MAX; n];
    let mut outside = vec![0; n];
    let mut left = weight(&(0..n).collect::<Vec<_>>());
    let mut order = Vec::with_capacity(n);
    while let Some(Reverse((deg, i))) = heap.pop() {
        if gone[i] || deg != degree[i] {
            continue;
        }
        gone[i] = true;
        left -= size[i];
        order.push(i);
        mark[i] = i;
        let mut own = Vec::new();
        let mut add = |list: &[usize]| {
            for &j in list {
                if mark[j] != i {
                    mark[j] = i;
                    own.push(j);
                }
            }
        };
        add(&edges[i]);
        for &e in &touches[i] {
            add(&clique[e]);
            swallowed[e] = true;
        }
        own.sort_unstable();
        let total = weight(&own);
        for &j in &own {
            for &e in touches[j].iter().filter(|&&e| !swallowed[e]) {
                if seen[e] != i {
                    seen[e] = i;
                    outside[e] = weight(&clique[e]);
                }
                outside[e] -= size[j];
            }
        }
        for &j in &own {
            edges[j].retain(|&k| mark[k] != i);
            touches[j].retain(|&e| !swallowed[e] && outside[e] > 0);
            let others: usize = touches[j].iter().map(|&e| outside[e]).sum();
            touches[j].push(i);
            let around = total - size[j];
            degree[j] = (weight(&edges[j]) + around + others).min(degree[j] + around).min(left - size[j]);
        }
        if !wait[i] {
            for &j in adj[i].iter().filter(|&&j| wait[j]) {
                early[j] = early[j].saturating_sub(1);
            }
        }
        for &j in &own {
            if early[j] == 0 {
                heap.push(Reverse((degree[j], j)));
            }
        }
        clique[i] = own;
    }
    let later = order.iter().map(|&i| std::mem::take(&mut clique[i])).collect();
    (order, later)
}

/// For every place in an order the later neighbours, ascending, with what elimination adds.
pub(super) fn behind(order: &[usize], adj: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n = order.len();
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(p, &i)| place[i] = p);
    let mut later: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut mark = vec![usize::MAX; n];
    for p in 0..n {
        let mut own = Vec::new();
        let below = children[p].iter().flat_map(|&c| &later[c]);
        for &j in adj[order[p]].iter().chain(below) {
            if place[j] > p && mark[j] != p {
                mark[j] = p;
                own.push(j);
            }
        }
        if let Some(parent) = own.iter().map(|&j| place[j]).min() {
            children[parent].push(p);
        }
        own.sort_unstable();
        later[p] = own;
    }
    later
}

/// Operations of a factorisation in this order, about.
pub(super) fn operations(size: &[usize], order: &[usize], later: &[Vec<usize>]) -> f64 {
    let one = |(&i, later): (&usize, &Vec<usize>)| {
        let (a, b) = (size[i] as f64, later.iter().map(|&j| size[j]).sum::<usize>() as f64);
        2.0 * a * (a * a / 3.0 + a * b + b * b)
    };
    order.iter().zip(later).map(one).sum()
}
