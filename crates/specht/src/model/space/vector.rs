//! Vectors and matrices of nodes.

use crate::expr::{Fun, Graph, NodeId};

use super::Vector;

pub(crate) fn add(g: &mut Graph, a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| g.add(a[i], b[i]))
}

pub(crate) fn sub(g: &mut Graph, a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| g.sub(a[i], b[i]))
}

pub(crate) fn neg(g: &mut Graph, a: Vector) -> Vector {
    a.map(|n| g.neg(n))
}

pub(crate) fn scale(g: &mut Graph, f: NodeId, a: Vector) -> Vector {
    a.map(|n| g.mul(f, n))
}

/// a + f b.
pub(crate) fn along(g: &mut Graph, a: Vector, f: NodeId, b: Vector) -> Vector {
    let b = scale(g, f, b);
    add(g, a, b)
}

pub(crate) fn dot(g: &mut Graph, a: Vector, b: Vector) -> NodeId {
    let [x, y, z] = [0, 1, 2].map(|i| g.mul(a[i], b[i]));
    let xy = g.add(x, y);
    g.add(xy, z)
}

pub(crate) fn cross(g: &mut Graph, a: Vector, b: Vector) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
        let (p, q) = (g.mul(a[i], b[j]), g.mul(a[j], b[i]));
        g.sub(p, q)
    })
}

pub(crate) fn length(g: &mut Graph, a: Vector) -> NodeId {
    let square = dot(g, a, a);
    g.fun(Fun::Sqrt, square)
}

pub(crate) fn unit(g: &mut Graph, a: Vector) -> Vector {
    let length = length(g, a);
    a.map(|n| g.div(n, length))
}

/// M v, M by rows.
pub(crate) fn times(g: &mut Graph, m: &[Vector; 3], v: Vector) -> Vector {
    m.map(|row| dot(g, row, v))
}

/// Column `j`.
pub(crate) fn column(m: &[Vector; 3], j: usize) -> Vector {
    [m[0][j], m[1][j], m[2][j]]
}

/// Rows from columns, and the other way round.
pub(crate) fn transposed(m: &[Vector; 3]) -> [Vector; 3] {
    [0, 1, 2].map(|j| column(m, j))
}

/// A B.
pub(crate) fn product(g: &mut Graph, a: &[Vector; 3], b: &[Vector; 3]) -> [Vector; 3] {
    let columns = [0, 1, 2].map(|j| times(g, a, column(b, j)));
    transposed(&columns)
}
