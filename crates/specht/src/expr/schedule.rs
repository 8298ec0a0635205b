//! The order of instructions on a tape.
//!
//! Any order with operands first gives the same numbers. This one collects equal operations into runs: the processor then predicts which
//! instruction comes next, and neighbours rarely wait for each other. Always the operation of which most nodes are ready goes
//! first, and it goes on until none is left. The order depends on the graph alone.

use std::collections::VecDeque;

use super::graph::{Fun, Graph, NodeId, Op};

/// The nodes (ascending) in an order with operands first and equal operations together; operands that are not among them are
/// there already.
pub(super) fn schedule(graph: &Graph, nodes: &[NodeId]) -> Vec<NodeId> {
    const ELSEWHERE: u32 = u32::MAX;
    let Some(top) = nodes.last() else { return Vec::new() };
    let mut place = vec![ELSEWHERE; top.index() + 1];
    for (i, n) in nodes.iter().enumerate() {
        place[n.index()] = i as u32;
    }

    // who uses whom, in rows of one array
    let mut missing = vec![0u32; nodes.len()];
    let mut first = vec![0u32; nodes.len() + 1];
    for (i, &n) in nodes.iter().enumerate() {
        graph.op(n).operands(|a| {
            if place[a.index()] != ELSEWHERE {
                missing[i] += 1;
                first[place[a.index()] as usize + 1] += 1;
            }
        });
    }
    for i in 0..nodes.len() {
        first[i + 1] += first[i];
    }
    let mut next = first.clone();
    let mut users = vec![0u32; first[nodes.len()] as usize];
    for (i, &n) in nodes.iter().enumerate() {
        graph.op(n).operands(|a| {
            if place[a.index()] != ELSEWHERE {
                let slot = &mut next[place[a.index()] as usize];
                users[*slot as usize] = i as u32;
                *slot += 1;
            }
        });
    }

    // take the fullest queue, empty it, and so on
    let mut ready: Vec<VecDeque<u32>> = vec![VecDeque::new(); KINDS];
    for (i, &n) in nodes.iter().enumerate() {
        if missing[i] == 0 {
            ready[kind(graph.op(n))].push_back(i as u32);
        }
    }
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(k) = (0..KINDS).rev().max_by_key(|&k| ready[k].len()).filter(|&k| !ready[k].is_empty()) {
        while let Some(i) = ready[k].pop_front() {
            let i = i as usize;
            order.push(nodes[i]);
            for &user in &users[first[i] as usize..first[i + 1] as usize] {
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    ready[kind(graph.op(nodes[user as usize]))].push_back(user);
                }
            }
        }
    }
    order
}

/// Kinds before the functions, and one for each function.
const KINDS: usize = FUNCTIONS + Fun::ALL.len();
const FUNCTIONS: usize = 23;

/// A number for each kind of instruction.
fn kind(op: Op) -> usize {
    match op {
        Op::Const(_) => 0,
        Op::Sym(_) => 1,
        Op::Add(..) => 2,
        Op::Sub(..) => 3,
        Op::Mul(..) => 4,
        Op::Div(..) => 5,
        Op::Neg(_) => 6,
        Op::Pow(..) => 7,
        Op::Powi(_, 2) => 8,
        Op::Powi(..) => 9,
        Op::Atan2(..) => 10,
        Op::Hypot(..) => 11,
        Op::Sign(_) => 12,
        Op::Floor(_) => 13,
        Op::Cell(..) => 14,
        Op::Table { .. } => 15,
        Op::Positive(_) => 16,
        Op::NonNegative(_) => 17,
        Op::IsZero(_) => 18,
        Op::And(..) => 19,
        Op::Or(..) => 20,
        Op::Not(_) => 21,
        Op::Select(..) => 22,
        Op::Fun(f, _) => FUNCTIONS + f as usize,
    }
}
