//! Which triangles are near: a tree of boxes, halved at the median of the longest side, built once

use super::vec3::{V3, sub};

/// Triangles of a leaf.
const LEAF: usize = 4;
/// Deeper than any tree of less than 2³² triangles.
const STACK: usize = 64;

#[derive(Clone, Debug, PartialEq)]
struct Node {
    low: V3,
    high: V3,
    /// Of a leaf: the first of its triangles in `order`; else the second child. The first child follows its parent.
    first: u32,
    /// Triangles of a leaf; 0: it has children.
    count: u32,
}

/// Boxes over boxes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    order: Vec<u32>,
}

impl Tree {
    /// Over boxes (low, high).
    pub(super) fn over(boxes: &[(V3, V3)]) -> Tree {
        let mut tree = Tree { nodes: Vec::new(), order: (0..boxes.len() as u32).collect() };
        if !boxes.is_empty() {
            let mut order = std::mem::take(&mut tree.order);
            tree.split(boxes, &mut order, 0);
            tree.order = order;
        }
        tree
    }

    fn split(&mut self, boxes: &[(V3, V3)], order: &mut [u32], begin: usize) {
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for &k in order.iter() {
            let b = &boxes[k as usize];
            low = [0, 1, 2].map(|i| low[i].min(b.0[i]));
            high = [0, 1, 2].map(|i| high[i].max(b.1[i]));
        }
        let here = self.nodes.len();
        self.nodes.push(Node { low, high, first: begin as u32, count: order.len() as u32 });
        if order.len() <= LEAF {
            return;
        }
        let size = sub(high, low);
        let axis = (0..3).max_by(|&i, &j| size[i].total_cmp(&size[j])).unwrap_or(0);
        let middle = order.len() / 2;
        let key = |k: u32| boxes[k as usize].0[axis] + boxes[k as usize].1[axis];
        order.select_nth_unstable_by(middle, |&i, &j| key(i).total_cmp(&key(j)).then(i.cmp(&j)));
        let (left, right) = order.split_at_mut(middle);
        self.split(boxes, left, begin);
        let second = self.nodes.len();
        self.split(boxes, right, begin + middle);
        self.nodes[here].first = second as u32;
        self.nodes[here].count = 0;
    }

    /// All whose boxes overlap this one.
    pub(super) fn visit(&self, low: V3, high: V3, mut found: impl FnMut(usize)) {
        let mut stack = [0u32; STACK];
        let mut top = usize::from(!self.nodes.is_empty());
        while top > 0 {
            top -= 1;
            let k = stack[top] as usize;
            let node = &self.nodes[k];
            if (0..3).any(|i| node.low[i] > high[i] || node.high[i] < low[i]) {
                continue;
            }
            match node.count {
                0 if top + 2 <= STACK => {
                    stack[top] = node.first;
                    stack[top + 1] = k as u32 + 1;
                    top += 2;
                }
                count => {
                    let list = &self.order[node.first as usize..(node.first + count) as usize];
                    list.iter().for_each(|&t| found(t as usize));
                }
            }
        }
    }
}
