//! Switches: where an expression is not smooth. What sides and guards mean is said in the page of the tape.

use std::collections::HashMap;
use std::sync::Arc;

use super::graph::{Graph, NodeId, Op, sign};
use super::table::Table;

/// What kind of switch it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SwitchKind {
    /// Sign of the argument.
    Sign,
    /// Floor of the argument.
    Floor,
    /// Cell of the argument in a table.
    Cell,
}

/// One switch of a [`SwitchSet`].
#[derive(Clone, Debug)]
pub(crate) struct Switch {
    /// The node of the switch in the graph.
    pub node: NodeId,
    /// Its argument: the expression whose value decides. Its total derivative is the rate of the guard.
    pub argument: NodeId,
    /// Kind.
    pub kind: SwitchKind,
    table: Option<Arc<Table>>,
}

impl Switch {
    /// The guard for an argument and a side: positive inside the region of the side.
    pub(crate) fn guard(&self, argument: f64, side: f64) -> f64 {
        match self.kind {
            SwitchKind::Sign if side == 0.0 => -argument.abs(),
            SwitchKind::Sign => side * argument,
            SwitchKind::Floor => (argument - side).min(side + 1.0 - argument),
            SwitchKind::Cell => {
                let (a, b) = self.table.as_ref().map_or((argument, argument), |t| t.cell_ends(side));
                (argument - a).min(b - argument)
            }
        }
    }

    /// The side of a value.
    pub(crate) fn side(&self, argument: f64) -> f64 {
        match self.kind {
            SwitchKind::Sign => sign(argument),
            SwitchKind::Floor => argument.floor(),
            SwitchKind::Cell => self.table.as_ref().map_or(0.0, |t| t.cell(argument)),
        }
    }

    /// The side of the border that is within `zero` of the argument, if there is one.
    pub(crate) fn at_border(&self, argument: f64, zero: f64) -> Option<f64> {
        match self.kind {
            SwitchKind::Sign => (argument.abs() <= zero).then_some(0.0),
            SwitchKind::Floor => ((argument - argument.round()).abs() <= zero).then_some(argument.round()),
            SwitchKind::Cell => {
                let (lower, upper) = (self.side(argument - zero), self.side(argument + zero));
                let on_left_end = self.table.as_ref().is_some_and(|t| t.cell_ends(upper).0 == argument);
                (lower != upper || on_left_end).then_some(upper)
            }
        }
    }

    /// The side of an argument that moves with `rate`: within `zero` of a border the one to which it moves. An argument
    /// that moves is never at rest on the border of a sign; with rate zero it counts as positive there.
    pub(crate) fn directed(&self, argument: f64, rate: f64, zero: f64) -> f64 {
        match self.kind {
            SwitchKind::Sign if argument == 0.0 && rate == 0.0 => 1.0,
            SwitchKind::Sign if argument.abs() <= zero && rate != 0.0 => sign(rate),
            SwitchKind::Floor if (argument - argument.round()).abs() <= zero && rate != 0.0 => {
                argument.round() - if rate < 0.0 { 1.0 } else { 0.0 }
            }
            SwitchKind::Cell => {
                let cell = self.side(argument);
                let (a, b) = self.table.as_ref().map_or((argument, argument), |t| t.cell_ends(cell));
                if rate < 0.0 && argument - a <= zero {
                    cell - 1.0
                } else if rate > 0.0 && b - argument <= zero {
                    cell + 1.0
                } else {
                    cell
                }
            }
            _ => self.side(argument),
        }
    }
}

/// The switches of one or several tapes of a graph; a switch's number is its place here.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchSet {
    switches: Vec<Switch>,
    number: HashMap<NodeId, u32>,
}

impl SwitchSet {
    /// No switches yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.switches.len()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }

    /// Switch number `k`.
    pub(crate) fn get(&self, k: usize) -> &Switch {
        &self.switches[k]
    }

    /// All switches by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Switch> {
        self.switches.iter()
    }

    pub(super) fn register(&mut self, graph: &Graph, node: NodeId) -> u32 {
        if let Some(&k) = self.number.get(&node) {
            return k;
        }
        let (argument, kind, table) = match graph.op(node) {
            Op::Floor(a) => (a, SwitchKind::Floor, None),
            Op::Cell(t, a) => (a, SwitchKind::Cell, Some(graph.table(t).clone())),
            Op::Sign(a) => (a, SwitchKind::Sign, None),
            _ => (node, SwitchKind::Sign, None),
        };
        let k = self.switches.len() as u32;
        self.switches.push(Switch { node, argument, kind, table });
        self.number.insert(node, k);
        k
    }
}
