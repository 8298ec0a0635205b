//! The factor of the mass matrix of a tree of bodies in space, in O(n) and without the matrix.
//!
//! ```text
//! M = F Fᵀ,   eliminated from the last velocity to the first, in the order of the tree (Featherstone 2008, sections 6.5 and 7.2)
//! up      I = own + Σ carried to here;   per column h, last one first:   d = hᵀ I h,  g = I h/√d,  I ← I − g gᵀ
//! F⁻¹ b   up:    y = (b − h · p)/√d,  p ← p + g y                        p: wrench, carried to the body below
//! F⁻ᵀ y   down:  x = (y − g · v)/√d,  v ← v + h x                        v: twist, carried to the bodies above
//! ```
//!
//! Row k of the Cholesky factor has h_j · (g_k carried to j) at every ancestor j: the entries are never written down. Bodies are
//! given at points of their own, in world axes, with the arm from the point of the body that carries them; a column is the twist
//! (velocity of the point, angular velocity) of a unit rate. Any number of columns per body.
//!
//! Exact up to rounding whenever M is definite. Where a pivot d falls below 10⁻¹³ of M_kk, the factor says so; where it falls
//! below the noise of [`super::MassFactor`] and constraints must make up for it, that one writes M.

use std::sync::Arc;

use super::Symmetric;

/// Pivots must exceed this fraction of their diagonal entry, as in the factors of a matrix.
const PIVOT: f64 = 1e-13;

/// Which body carries which, and to which velocities their columns belong.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    /// Per body, the one that carries it: an earlier one.
    pub parent: Vec<Option<u32>>,
    /// First column of every body, and the number of columns.
    pub first: Vec<u32>,
    /// The velocity of every column. Each velocity has one.
    pub owner: Vec<u32>,
}

/// Inertia of a tree at one instant. Without a shape there is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeMass {
    /// The shape; none where M is written as it is.
    pub shape: Option<Arc<Shape>>,
    /// From the point of the body that carries it.
    pub arm: Vec<[f64; 3]>,
    /// Mass, and the inertia about the point: diagonal, then 12, 02, 01.
    pub inertia: Vec<[f64; 7]>,
    /// Twists.
    pub column: Vec<[f64; 6]>,
    /// Everything that a body carries, see [`compose`].
    composite: Vec<[f64; 10]>,
}

/// Composite body `child` (m, s, J) added to the one that carries it, `d` away: J + (2 s·d + m d²) E − s dᵀ − d sᵀ − m d dᵀ.
#[inline]
pub(crate) fn compose<N: super::Number>(child: [N; 10], d: [N; 3], to: &mut [N; 10]) {
    let [m, sx, sy, sz, a, b, c, yz, xz, xy] = child;
    let s = [sx, sy, sz];
    let dot = |a: [N; 3], b: [N; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let round = N::from(2.0) * dot(s, d) + m * dot(d, d);
    let less = |i: usize, j: usize| s[i] * d[j] + d[i] * s[j] + m * (d[i] * d[j]);
    let part = [
        m,
        sx + m * d[0],
        sy + m * d[1],
        sz + m * d[2],
        a + (round - less(0, 0)),
        b + (round - less(1, 1)),
        c + (round - less(2, 2)),
        yz - less(1, 2),
        xz - less(0, 2),
        xy - less(0, 1),
    ];
    to.iter_mut().zip(part).for_each(|(to, part)| *to += part);
}

impl TreeMass {
    /// Composite bodies, and from them the diagonal of M.
    pub(crate) fn diagonal(&mut self, mass: &mut Symmetric) {
        let Some(shape) = self.shape.clone() else { return };
        let of = |&[m, a, b, c, yz, xz, xy]: &[f64; 7]| [m, 0.0, 0.0, 0.0, a, b, c, yz, xz, xy];
        self.composite.clear();
        self.composite.extend(self.inertia.iter().map(of));
        for l in (0..shape.parent.len()).rev() {
            if let Some(p) = shape.parent[l] {
                let child = self.composite[l];
                compose(child, self.arm[l], &mut self.composite[p as usize]);
            }
        }
        for l in 0..shape.parent.len() {
            for k in shape.first[l] as usize..shape.first[l + 1] as usize {
                let h = &self.column[k];
                mass.set_diagonal(shape.owner[k] as usize, dot6(h, &momentum(&self.composite[l], h)));
            }
        }
    }

    /// All of M, in O(n · depth); [`TreeMass::diagonal`] was called.
    pub(crate) fn write(&self, mass: &mut Symmetric) {
        let Some(shape) = &self.shape else { return };
        mass.values_mut().fill(0.0);
        for l in 0..shape.parent.len() {
            for k in shape.first[l] as usize..shape.first[l + 1] as usize {
                let mut f = momentum(&self.composite[l], &self.column[k]);
                let (mut at, mut end) = (l, k + 1);
                loop {
                    for j in shape.first[at] as usize..end {
                        let (a, b) = (shape.owner[k] as usize, shape.owner[j] as usize);
                        mass[(a.max(b), a.min(b))] = dot6(&self.column[j], &f);
                    }
                    let Some(p) = shape.parent[at] else { break };
                    f = lowered(&self.arm[at], &f);
                    at = p as usize;
                    end = shape.first[at + 1] as usize;
                }
            }
        }
    }
}

/// Momentum and angular momentum of a composite body for a twist, at its point.
fn momentum(&[m, sx, sy, sz, a, b, c, yz, xz, xy]: &[f64; 10], h: &[f64; 6]) -> [f64; 6] {
    let [v0, v1, v2, w0, w1, w2] = *h;
    [
        m * v0 + (w1 * sz - w2 * sy),
        m * v1 + (w2 * sx - w0 * sz),
        m * v2 + (w0 * sy - w1 * sx),
        a * w0 + xy * w1 + xz * w2 + (sy * v2 - sz * v1),
        xy * w0 + b * w1 + yz * w2 + (sz * v0 - sx * v2),
        xz * w0 + yz * w1 + c * w2 + (sx * v1 - sy * v0),
    ]
}

#[inline]
fn dot6(a: &[f64; 6], b: &[f64; 6]) -> f64 {
    (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])
}

#[inline]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A wrench at the point of the body that carries this one: n + d × f.
#[inline]
fn lowered(d: &[f64; 3], &[x, y, z, a, b, c]: &[f64; 6]) -> [f64; 6] {
    let turn = cross(*d, [x, y, z]);
    [x, y, z, a + turn[0], b + turn[1], c + turn[2]]
}

/// A twist at the point of this body: v + ω × d.
#[inline]
fn raised(d: &[f64; 3], &[x, y, z, a, b, c]: &[f64; 6]) -> [f64; 6] {
    let turn = cross([a, b, c], *d);
    [x + turn[0], y + turn[1], z + turn[2], a, b, c]
}

/// Articulated inertia: f = A v + B ω, n = Bᵀ v + C ω; A and C symmetric, by their diagonal and 12, 02, 01.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    a: [f64; 6],
    b: [[f64; 3]; 3],
    c: [f64; 6],
}

/// Places of the entries of a symmetric matrix of three rows.
const SIX: [(usize, usize); 6] = [(0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1)];

#[inline]
fn symmetric([a, b, c, yz, xz, xy]: [f64; 6], x: [f64; 3]) -> [f64; 3] {
    [a * x[0] + xy * x[1] + xz * x[2], xy * x[0] + b * x[1] + yz * x[2], xz * x[0] + yz * x[1] + c * x[2]]
}

impl Block {
    /// I h.
    #[inline]
    fn times(&self, &[x, y, z, p, q, r]: &[f64; 6]) -> [f64; 6] {
        let (v, w, b) = ([x, y, z], [p, q, r], &self.b);
        let (f, n) = (symmetric(self.a, v), symmetric(self.c, w));
        [
            f[0] + (b[0][0] * p + b[0][1] * q + b[0][2] * r),
            f[1] + (b[1][0] * p + b[1][1] * q + b[1][2] * r),
            f[2] + (b[2][0] * p + b[2][1] * q + b[2][2] * r),
            n[0] + (b[0][0] * x + b[1][0] * y + b[2][0] * z),
            n[1] + (b[0][1] * x + b[1][1] * y + b[2][1] * z),
            n[2] + (b[0][2] * x + b[1][2] * y + b[2][2] * z),
        ]
    }

    /// I ← I − g gᵀ.
    #[inline]
    fn less(&mut self, g: &[f64; 6]) {
        for (k, (i, j)) in SIX.into_iter().enumerate() {
            self.a[k] -= g[i] * g[j];
            self.c[k] -= g[3 + i] * g[3 + j];
        }
        for i in 0..3 {
            for j in 0..3 {
                self.b[i][j] -= g[i] * g[3 + j];
            }
        }
    }

    /// I of the body that carries this one, whose point is `d` away: A, B − A D, C − Bᵀ D + D (B − A D) with D x = d × x.
    #[inline]
    fn add_lowered(&self, d: &[f64; 3], to: &mut Block) {
        let [a0, a1, a2, yz, xz, xy] = self.a;
        let rows = [[a0, xy, xz], [xy, a1, yz], [xz, yz, a2]];
        // x D = d' with (x D)_j = (x × d)_j for a row x
        let b: [[f64; 3]; 3] = std::array::from_fn(|i| {
            let turn = cross(rows[i], *d);
            std::array::from_fn(|j| self.b[i][j] - turn[j])
        });
        // columns of B as rows: Bᵀ D
        let under = |i: usize| cross([self.b[0][i], self.b[1][i], self.b[2][i]], *d);
        let turned: [[f64; 3]; 3] = std::array::from_fn(under);
        let over: [[f64; 3]; 3] = std::array::from_fn(|j| cross(*d, [b[0][j], b[1][j], b[2][j]]));
        for (k, (i, j)) in SIX.into_iter().enumerate() {
            to.a[k] += self.a[k];
            to.c[k] += self.c[k] - turned[i][j] + over[j][i];
        }
        for i in 0..3 {
            for j in 0..3 {
                to.b[i][j] += b[i][j];
            }
        }
    }
}

/// The factor, its memory kept between uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeFactor {
    shape: Arc<Shape>,
    arm: Vec<[f64; 3]>,
    column: Vec<[f64; 6]>,
    /// g of every column, and 1/√d.
    g: Vec<[f64; 6]>,
    inverse: Vec<f64>,
    block: Vec<Block>,
    /// Wrenches or twists of the bodies.
    carried: Vec<[f64; 6]>,
}

impl TreeFactor {
    /// Factor; the smallest pivot relative to its diagonal entry, none where that is rounding.
    pub(crate) fn factor(&mut self, tree: &TreeMass) -> Option<f64> {
        let shape = tree.shape.as_ref()?;
        if !Arc::ptr_eq(shape, &self.shape) {
            self.shape = shape.clone();
        }
        self.arm.clone_from(&tree.arm);
        self.column.clone_from(&tree.column);
        self.carried.resize(shape.parent.len(), [0.0; 6]);
        self.g.resize(shape.owner.len(), [0.0; 6]);
        self.inverse.resize(shape.owner.len(), 0.0);
        let of = |&[m, a, b, c, yz, xz, xy]: &[f64; 7]| Block {
            a: [m, m, m, 0.0, 0.0, 0.0],
            b: [[0.0; 3]; 3],
            c: [a, b, c, yz, xz, xy],
        };
        self.block.clear();
        self.block.extend(tree.inertia.iter().map(of));
        let mut least = f64::INFINITY;
        for l in (0..shape.parent.len()).rev() {
            let mut block = self.block[l];
            for k in (shape.first[l] as usize..shape.first[l + 1] as usize).rev() {
                let h = &self.column[k];
                let f = block.times(h);
                let d = dot6(h, &f);
                let whole = dot6(h, &momentum(&tree.composite[l], h));
                if d.is_nan() || d <= PIVOT * whole.abs() {
                    return None;
                }
                least = least.min(d / whole);
                let inverse = 1.0 / d.sqrt();
                self.inverse[k] = inverse;
                self.g[k] = f.map(|x| x * inverse);
                block.less(&self.g[k]);
            }
            if let Some(p) = shape.parent[l] {
                block.add_lowered(&self.arm[l], &mut self.block[p as usize]);
            }
        }
        Some(least)
    }

    /// `b ← F⁻¹ b`.
    pub(crate) fn forward(&mut self, b: &mut [f64]) {
        let TreeFactor { shape, arm, column, g, inverse, carried, .. } = self;
        carried.fill([0.0; 6]);
        for l in (0..shape.parent.len()).rev() {
            let mut p = carried[l];
            for k in (shape.first[l] as usize..shape.first[l + 1] as usize).rev() {
                let at = &mut b[shape.owner[k] as usize];
                *at = (*at - dot6(&column[k], &p)) * inverse[k];
                p.iter_mut().zip(&g[k]).for_each(|(p, g)| *p += g * *at);
            }
            if let Some(below) = shape.parent[l] {
                let part = lowered(&arm[l], &p);
                carried[below as usize].iter_mut().zip(part).for_each(|(to, part)| *to += part);
            }
        }
    }

    /// `b ← F⁻ᵀ b`.
    pub(crate) fn backward(&mut self, b: &mut [f64]) {
        let TreeFactor { shape, arm, column, g, inverse, carried, .. } = self;
        for l in 0..shape.parent.len() {
            let mut v = shape.parent[l].map_or([0.0; 6], |p| raised(&arm[l], &carried[p as usize]));
            for k in shape.first[l] as usize..shape.first[l + 1] as usize {
                let at = &mut b[shape.owner[k] as usize];
                *at = (*at - dot6(&g[k], &v)) * inverse[k];
                v.iter_mut().zip(&column[k]).for_each(|(v, h)| *v += h * *at);
            }
            carried[l] = v;
        }
    }
}
