//! The factored system of the body form: bodies first, kept contacts as rows of a saddle system (METH-CONE-LINALG)
//!
//! ```text
//! (M + Σ_condensed Hᵀ B⁻¹ S H) v − Σ_kept Hᵀ x = …,      kept:  B_i x_i + S_i H_i v = …
//! ```

use super::blocklu::{BlockLu, Slot};
use super::body::{BodyForm, MassForm, Term};
use super::double::{Columns, Double, Doubles, Sum, Sums, inverse3};
use super::finelu::FineLu;
use super::form::Blocks;
use super::kernel::{M3, matmul3, mul3};
use crate::linalg::panel::widest;

/// Largest entry of `B⁻¹`, in units of `A⁻¹`, of cones for which simple precision does.
const SOFT: f64 = 100.0;

/// A factorisation with a fixed set of kept cones.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pub keep: Vec<bool>,
    /// node number of a kept cone
    pub node: Vec<usize>,
    pub lu: BlockLu,
    /// the same with twice the digits
    pub fine: FineLu,
    /// condensed cones that add less to the matrix than masses do, about (open contacts)
    soft: Vec<bool>,
    /// `B⁻¹` of the others, and a right-hand side
    inverse: Vec<Columns>,
    full: Doubles,
    mass: Vec<Slot>,
    /// slots of a condensed cone: pairs of its terms, row after row; of a kept cone: own, then (cone, body), (body, cone) per term
    slots: Vec<Slot>,
    at: Vec<usize>,
}

impl Factor {
    pub(super) fn analyse(&mut self, b: &BodyForm, keep: &[bool]) {
        let bodies = b.first.len() - 1;
        let mut size: Vec<usize> = (0..bodies).map(|i| b.size(i)).collect();
        let mut wait = vec![false; bodies];
        let mut adj: Vec<Vec<usize>> = vec![Vec::new(); bodies];
        let mut number = vec![usize::MAX; b.rows.len()];
        self.node = vec![usize::MAX; b.rows.len()];
        let mut next = b.n;
        for i in 0..b.rows.len() {
            let nodes: Vec<usize> = b.terms[b.ptr[i]..b.ptr[i + 1]].iter().map(|t| t.node).collect();
            if keep[i] {
                number[i] = size.len();
                self.node[i] = next;
                next += b.rows[i].d;
                for &a in &nodes {
                    adj[a].push(size.len());
                }
                size.push(b.rows[i].d);
                wait.push(true);
                adj.push(nodes);
            } else {
                for &a in &nodes {
                    adj[a].extend(nodes.iter().filter(|&&c| c != a));
                }
            }
        }
        if let MassForm::Coupled { pairs, .. } = &b.mass {
            for &(i, j) in pairs.iter().filter(|p| p.0 != p.1) {
                adj[i].push(j);
            }
        }
        for a in &mut adj {
            a.sort_unstable();
            a.dedup();
        }
        self.lu.analyse(&size, &adj, &wait);
        self.mass = match &b.mass {
            MassForm::Blocks { .. } => (0..bodies).map(|i| self.lu.slot(i, i)).collect(),
            MassForm::Coupled { pairs, .. } => pairs.iter().map(|&(i, j)| self.lu.slot(i, j)).collect(),
        };
        self.keep = keep.to_vec();
        self.slots.clear();
        self.at.clear();
        for i in 0..b.rows.len() {
            self.at.push(self.slots.len());
            let terms = &b.terms[b.ptr[i]..b.ptr[i + 1]];
            if keep[i] {
                self.slots.push(self.lu.slot(number[i], number[i]));
                for t in terms {
                    self.slots.push(self.lu.slot(number[i], t.node));
                    self.slots.push(self.lu.slot(t.node, number[i]));
                }
            } else {
                for s in terms {
                    for t in terms {
                        self.slots.push(self.lu.slot(s.node, t.node));
                    }
                }
            }
        }
    }

    /// Fill in and factor; returns smallest / largest pivot.
    pub(super) fn fill(&mut self, b: &BodyForm, k: &Blocks) -> f64 {
        widest(
            (&mut *self, b, k),
            #[inline(always)]
            |(this, b, k)| this.assemble(b, k),
        );
        self.lu.factor()
    }

    #[inline(always)]
    fn assemble(&mut self, b: &BodyForm, k: &Blocks) {
        let data = self.lu.values();
        data.fill(0.0);
        add_mass(data, &self.mass, b);
        for i in 0..b.rows.len() {
            let terms = &b.terms[b.ptr[i]..b.ptr[i + 1]];
            let slots = &self.slots[self.at[i]..];
            if self.keep[i] {
                add_kept(data, slots, b, terms, i, k);
            } else {
                let e = if k.plain { k.binv[i] } else { matmul3(&k.binv[i], &k.s[i]) };
                add_condensed(data, slots, b, terms, &e);
            }
        }
    }
}

/// With twice the digits, for the blocks of an interior point (`S = I`).
impl Factor {
    /// Fill in and factor.
    pub(super) fn fill_fine(&mut self, b: &BodyForm, k: &Blocks) -> f64 {
        widest(
            (self, b, k),
            #[inline(always)]
            |(this, b, k)| this.fill_fine_inner(b, k),
        )
    }

    #[inline(always)]
    fn fill_fine_inner(&mut self, b: &BodyForm, k: &Blocks) -> f64 {
        let mut fine = std::mem::take(&mut self.fine);
        fine.start(&self.lu);
        self.full.resize(self.lu.len());
        self.inverse.resize(b.rows.len(), Columns::default());
        add_mass(&mut fine.data.hi, &self.mass, b);
        self.soft.clear();
        // first what needs no more digits than the masses have: nothing large is there yet that it would be rounded to
        for i in 0..b.rows.len() {
            let terms = &b.terms[b.ptr[i]..b.ptr[i + 1]];
            let slots = &self.slots[self.at[i]..];
            self.soft.push(!self.keep[i] && k.binv[i].as_flattened().iter().all(|e| e.abs() < SOFT));
            if self.keep[i] {
                add_kept(&mut fine.data.hi, slots, b, terms, i, k);
            } else if self.soft[i] {
                add_condensed(&mut fine.data.hi, slots, b, terms, &k.binv[i]);
            }
        }
        for i in 0..b.rows.len() {
            if !self.keep[i] && !self.soft[i] {
                let terms = &b.terms[b.ptr[i]..b.ptr[i + 1]];
                self.inverse[i] = Columns::new(&inverse3(&k.b[i], b.rows[i].d));
                add_condensed_fine(&mut fine.data, &self.slots[self.at[i]..], b, terms, &self.inverse[i]);
            }
        }
        fine.factor(&self.lu);
        self.fine = fine;
        1.0
    }

    /// Solve in place; `ax = A x` of the solution.
    pub(super) fn solve_fine(&mut self, b: &BodyForm, k: &Blocks, g: &mut [f64], ax: &mut [f64]) {
        widest(
            (self, b, k, g, ax),
            #[inline(always)]
            |(this, b, k, g, ax)| this.solve_fine_inner(b, k, g, ax),
        )
    }

    #[inline(always)]
    fn solve_fine_inner(&mut self, b: &BodyForm, k: &Blocks, g: &mut [f64], ax: &mut [f64]) {
        self.full.clear();
        for (i, r) in b.rows.iter().enumerate() {
            if self.keep[i] {
                self.full.hi[self.node[i]..self.node[i] + r.d].copy_from_slice(&r.get(g)[..r.d]);
            } else if self.soft[i] {
                b.add_ht(i, &mul3(&k.binv[i], &r.get(g)), &mut self.full.hi);
            }
        }
        for (i, r) in b.rows.iter().enumerate() {
            if self.keep[i] || self.soft[i] {
                continue;
            }
            let gi = r.get(g);
            let y = self.inverse[i].times(gi.map(Double::new));
            let y = [y.get(0), y.get(1), y.get(2)];
            for t in &b.terms[b.ptr[i]..b.ptr[i + 1]] {
                let (f, size) = (b.first[t.node], b.size(t.node));
                let h = &b.h[t.at..t.at + 3 * size];
                let (zh, zl) = (&mut self.full.hi[f..f + size], &mut self.full.lo[f..f + size]);
                if let Some(h) = six(h) {
                    // the part of this contact first: only one addition waits for the contact before
                    let mut part = Sums::default();
                    for l in 0..3 {
                        part.add_simple(y[l], &h[l]);
                    }
                    let mut v = Sums::load(zh, zl);
                    v.merge(part);
                    let v = v.values();
                    zh.copy_from_slice(&v.hi);
                    zl.copy_from_slice(&v.lo);
                    continue;
                }
                for c in 0..size {
                    let mut v = Sum::new(Double { hi: zh[c], lo: zl[c] });
                    v.add_simple(y[0], h[c]);
                    v.add_simple(y[1], h[size + c]);
                    v.add_simple(y[2], h[2 * size + c]);
                    let v = v.value();
                    (zh[c], zl[c]) = (v.hi, v.lo);
                }
            }
        }
        self.fine.solve(&self.lu, &mut self.full);
        for (i, r) in b.rows.iter().enumerate() {
            if self.soft[i] {
                let (gi, u) = (r.get(g), b.h_row(i, &self.full.hi));
                r.put(&u, ax);
                r.put(&mul3(&k.binv[i], &std::array::from_fn(|l| gi[l] - u[l])), g);
                continue;
            }
            // M v = Hᵀ x, so that A x = H v; one sum for each body
            let mut u = Sums::<4>::default();
            for t in &b.terms[b.ptr[i]..b.ptr[i + 1]] {
                let (f, size) = (b.first[t.node], b.size(t.node));
                let (zh, zl) = (&self.full.hi[f..f + size], &self.full.lo[f..f + size]);
                let mut part = Sums::default();
                for ((h, &hi), &lo) in b.columns(t, size).iter().zip(zh).zip(zl) {
                    part.add_simple(Double { hi, lo }, h);
                }
                u.merge(part);
            }
            let u = u.values();
            r.put(&[u.hi[0], u.hi[1], u.hi[2]], ax);
            if self.keep[i] {
                g[r.at..r.at + r.d].copy_from_slice(&self.full.hi[self.node[i]..self.node[i] + r.d]);
                continue;
            }
            let gi = r.get(g);
            let x = self.inverse[i].times(std::array::from_fn(|l| -u.get(l) + gi[l]));
            r.put(&[x.hi[0], x.hi[1], x.hi[2]], g);
        }
    }
}

/// Rows of `H` on a body of six unknowns.
#[inline(always)]
fn six(h: &[f64]) -> Option<&[[f64; 6]; 3]> {
    h.as_chunks::<6>().0.try_into().ok().filter(|_| h.len() == 18)
}

fn add_mass(data: &mut [f64], slots: &[Slot], b: &BodyForm) {
    let (at, m, pairs) = match &b.mass {
        MassForm::Blocks { at, m, .. } => (at, m, None),
        MassForm::Coupled { at, m, pairs, .. } => (at, m, Some(pairs)),
    };
    for (p, s) in slots.iter().enumerate() {
        let (i, j) = pairs.map_or((p, p), |q| q[p]);
        let (rows, cols) = (b.size(i), b.size(j));
        for r in 0..rows {
            for c in 0..cols {
                data[s.at + r * s.row + c * s.col] += m[at[p] + r * cols + c];
            }
        }
    }
}

/// Own block, then `S H` below and `−Hᵀ` above for each body.
fn add_kept(data: &mut [f64], slots: &[Slot], b: &BodyForm, terms: &[Term], i: usize, k: &Blocks) {
    let d = b.rows[i].d;
    let own = slots[0];
    for r in 0..d {
        for c in 0..d {
            data[own.at + r * own.row + c * own.col] += k.b[i][r][c];
        }
        // tiny regularisation: redundant bilateral rows
        data[own.at + r * (own.row + own.col)] += 1e-14;
    }
    for (t, pair) in terms.iter().zip(slots[1..].chunks_exact(2)) {
        let size = b.size(t.node);
        let (down, up) = (pair[0], pair[1]);
        for c in 0..size {
            let h = [b.h[t.at + c], b.h[t.at + size + c], b.h[t.at + 2 * size + c]];
            let sh = if k.plain { h } else { mul3(&k.s[i], &h) };
            for r in 0..d {
                data[down.at + r * down.row + c * down.col] += sh[r];
                data[up.at + c * up.row + r * up.col] -= h[r];
            }
        }
    }
}

/// `Hᵀ E H` for all pairs of bodies.
#[inline(always)]
fn add_condensed(data: &mut [f64], slots: &[Slot], b: &BodyForm, terms: &[Term], e: &M3) {
    /// Unknowns of a contact for which `E H` fits on the stack.
    const WIDE: usize = 64;
    if terms.iter().all(|t| b.size(t.node) == 6) {
        return add_sixes(data, slots, b, terms, e);
    }
    let mut slot = slots.iter();
    if terms.iter().map(|t| b.size(t.node)).sum::<usize>() > WIDE {
        for s in terms {
            let rows = b.size(s.node);
            let h = &b.h[s.at..s.at + 3 * rows];
            for (t, sl) in terms.iter().zip(&mut slot) {
                let cols = b.size(t.node);
                let g = &b.h[t.at..t.at + 3 * cols];
                for c in 0..cols {
                    let y = mul3(e, &[g[c], g[cols + c], g[2 * cols + c]]);
                    for r in 0..rows {
                        data[sl.at + r * sl.row + c * sl.col] +=
                            h[r] * y[0] + h[rows + r] * y[1] + h[2 * rows + r] * y[2];
                    }
                }
            }
        }
        return;
    }
    // E H for all terms side by side
    let mut eh = [[0.0; WIDE]; 3];
    let mut o = 0;
    for t in terms {
        let size = b.size(t.node);
        let h = &b.h[t.at..t.at + 3 * size];
        for c in 0..size {
            for r in 0..3 {
                eh[r][o + c] = e[r][0] * h[c] + e[r][1] * h[size + c] + e[r][2] * h[2 * size + c];
            }
        }
        o += size;
    }
    for s in terms {
        let rows = b.size(s.node);
        let h = &b.h[s.at..s.at + 3 * rows];
        let mut o = 0;
        for (t, sl) in terms.iter().zip(&mut slot) {
            let cols = b.size(t.node);
            let part = [&eh[0][o..o + cols], &eh[1][o..o + cols], &eh[2][o..o + cols]];
            add_block(data, *sl, rows, cols, h, part);
            o += cols;
        }
    }
}

/// The same when all bodies have six unknowns.
#[inline(always)]
fn add_sixes(data: &mut [f64], slots: &[Slot], b: &BodyForm, terms: &[Term], e: &M3) {
    let mut slot = slots.iter();
    for s in terms {
        for t in terms {
            let (Some(sl), Some(h), Some(g)) =
                (slot.next(), six(&b.h[s.at..s.at + 18]), six(&b.h[t.at..t.at + 18]))
            else {
                return;
            };
            // three rows by name: through an array they would go over memory
            let row = |r: usize| -> [f64; 6] {
                std::array::from_fn(|c| e[r][0] * g[0][c] + e[r][1] * g[1][c] + e[r][2] * g[2][c])
            };
            let (x, y, z) = (row(0), row(1), row(2));
            // along the rows of the storage: rows of U, or columns of L
            if sl.col == 1 {
                add_products(&mut data[sl.at..], sl.row, [&h[0], &h[1], &h[2]], [&x, &y, &z]);
            } else {
                add_products(&mut data[sl.at..], sl.col, [&x, &y, &z], [&h[0], &h[1], &h[2]]);
            }
        }
    }
}

/// Row `r` of the six at distances of `step`: `+= Σ a_r b`.
#[inline(always)]
fn add_products(data: &mut [f64], step: usize, a: [&[f64; 6]; 3], b: [&[f64; 6]; 3]) {
    for r in 0..6 {
        if let Some(row) = data[r * step..].first_chunk_mut::<6>() {
            for k in 0..6 {
                row[k] += a[0][r] * b[0][k] + a[1][r] * b[1][k] + a[2][r] * b[2][k];
            }
        }
    }
}

#[inline(always)]
fn add_block(data: &mut [f64], s: Slot, rows: usize, cols: usize, h: &[f64], t: [&[f64]; 3]) {
    if s.col == 1 {
        for r in 0..rows {
            let (a, b, c) = (h[r], h[rows + r], h[2 * rows + r]);
            let o = s.at + r * s.row;
            for (k, x) in data[o..o + cols].iter_mut().enumerate() {
                *x += a * t[0][k] + b * t[1][k] + c * t[2][k];
            }
        }
    } else {
        for c in 0..cols {
            let (x, y, z) = (t[0][c], t[1][c], t[2][c]);
            let o = s.at + c * s.col;
            for (r, v) in data[o..o + rows].iter_mut().enumerate() {
                *v += h[r] * x + h[rows + r] * y + h[2 * rows + r] * z;
            }
        }
    }
}

/// `Hᵀ E H` for all pairs of bodies.
#[inline(always)]
fn add_condensed_fine(data: &mut Doubles, slots: &[Slot], b: &BodyForm, terms: &[Term], e: &Columns) {
    let turned = e.transposed();
    let mut at = 0;
    for s in terms {
        let rows = b.size(s.node);
        for t in terms {
            let sl = slots[at];
            at += 1;
            let cols = b.size(t.node);
            // along the rows of the storage: rows of U, or columns of L
            let (along, across, e, n, m) = match sl.col {
                1 => (s, t, &turned, rows, cols),
                _ => (t, s, e, cols, rows),
            };
            let across = &b.h[across.at..across.at + 3 * m];
            let step = sl.row.max(sl.col);
            for (r, h) in b.columns(along, n).iter().enumerate() {
                let mut y = Sums::<4>::default();
                for j in 0..3 {
                    y.add_each_simple(&e.0[j], h[j]);
                }
                let y = y.values();
                let o = sl.at + r * step;
                let (zh, zl) = (&mut data.hi[o..o + m], &mut data.lo[o..o + m]);
                if let Some(across) = six(across) {
                    let mut v = Sums::load(zh, zl);
                    for l in 0..3 {
                        v.add_simple(y.get(l), &across[l]);
                    }
                    let v = v.values();
                    zh.copy_from_slice(&v.hi);
                    zl.copy_from_slice(&v.lo);
                    continue;
                }
                for c in 0..m {
                    let mut v = Sum::new(Double { hi: zh[c], lo: zl[c] });
                    for l in 0..3 {
                        v.add_simple(y.get(l), across[l * m + c]);
                    }
                    let v = v.value();
                    (zh[c], zl[c]) = (v.hi, v.lo);
                }
            }
        }
    }
}
