//! The factored system of the body form: bodies first, kept contacts as rows of a saddle system (METH-CONE-LINALG)
//!
//! ```text
//! (M + Σ_condensed Hᵀ B⁻¹ S H) v − Σ_kept Hᵀ x = …,      kept:  B_i x_i + S_i H_i v = …
//! ```

use super::blocklu::{BlockLu, Slot};
use super::body::{BodyForm, MassForm, Term};
use super::double::{Double, Doubles, Sum, inverse3};
use super::finelu::FineLu;
use super::form::Blocks;
use super::kernel::{M3, matmul3, mul3};
use crate::linalg::panel::widest;

/// A factorisation with a fixed set of kept cones.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pub keep: Vec<bool>,
    /// node number of a kept cone
    pub node: Vec<usize>,
    pub lu: BlockLu,
    /// the same with twice the digits
    pub fine: FineLu,
    /// `B⁻¹` of the condensed cones, and a right-hand side
    inverse: Vec<[[Double; 3]; 3]>,
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
        self.lu.factor()
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
        self.inverse.resize(b.rows.len(), [[Double::default(); 3]; 3]);
        add_mass(&mut fine.data.hi, &self.mass, b);
        for i in 0..b.rows.len() {
            let terms = &b.terms[b.ptr[i]..b.ptr[i + 1]];
            let slots = &self.slots[self.at[i]..];
            if self.keep[i] {
                add_kept(&mut fine.data.hi, slots, b, terms, i, k);
            } else {
                self.inverse[i] = inverse3(&k.b[i], b.rows[i].d);
                add_condensed_fine(&mut fine.data, slots, b, terms, &self.inverse[i]);
            }
        }
        fine.factor(&self.lu);
        self.fine = fine;
        1.0
    }

    /// Solve in place.
    pub(super) fn solve_fine(&mut self, b: &BodyForm, g: &mut [f64]) {
        widest(
            (self, b, g),
            #[inline(always)]
            |(this, b, g)| this.solve_fine_inner(b, g),
        )
    }

    #[inline(always)]
    fn solve_fine_inner(&mut self, b: &BodyForm, g: &mut [f64]) {
        self.full.clear();
        for (i, r) in b.rows.iter().enumerate() {
            let gi = r.get(g);
            if self.keep[i] {
                self.full.hi[self.node[i]..self.node[i] + r.d].copy_from_slice(&gi[..r.d]);
                continue;
            }
            let y = times(&self.inverse[i], &[Double::new(gi[0]), Double::new(gi[1]), Double::new(gi[2])]);
            for t in &b.terms[b.ptr[i]..b.ptr[i + 1]] {
                let (f, size) = (b.first[t.node], b.size(t.node));
                let h = &b.h[t.at..t.at + 3 * size];
                let (zh, zl) = (&mut self.full.hi[f..f + size], &mut self.full.lo[f..f + size]);
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
            if self.keep[i] {
                g[r.at..r.at + r.d].copy_from_slice(&self.full.hi[self.node[i]..self.node[i] + r.d]);
                continue;
            }
            let gi = r.get(g);
            let mut y =
                [Sum::new(Double::new(gi[0])), Sum::new(Double::new(gi[1])), Sum::new(Double::new(gi[2]))];
            for t in &b.terms[b.ptr[i]..b.ptr[i + 1]] {
                let (f, size) = (b.first[t.node], b.size(t.node));
                let h = &b.h[t.at..t.at + 3 * size];
                let (zh, zl) = (&self.full.hi[f..f + size], &self.full.lo[f..f + size]);
                for c in 0..size {
                    let v = Double { hi: -zh[c], lo: -zl[c] };
                    y[0].add_simple(v, h[c]);
                    y[1].add_simple(v, h[size + c]);
                    y[2].add_simple(v, h[2 * size + c]);
                }
            }
            let x = times(&self.inverse[i], &[y[0].value(), y[1].value(), y[2].value()]);
            r.put(&[x[0].hi, x[1].hi, x[2].hi], g);
        }
    }
}

/// Matrix times vector.
#[inline(always)]
fn times(e: &[[Double; 3]; 3], y: &[Double; 3]) -> [Double; 3] {
    let mut out = [Double::default(); 3];
    for l in 0..3 {
        let mut sum = Sum::default();
        for j in 0..3 {
            sum.add(e[l][j], y[j]);
        }
        out[l] = sum.value();
    }
    out
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
fn add_condensed(data: &mut [f64], slots: &[Slot], b: &BodyForm, terms: &[Term], e: &M3) {
    /// Unknowns of a contact for which `E H` fits on the stack.
    const WIDE: usize = 64;
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

#[inline]
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
fn add_condensed_fine(
    data: &mut Doubles,
    slots: &[Slot],
    b: &BodyForm,
    terms: &[Term],
    e: &[[Double; 3]; 3],
) {
    let mut at = 0;
    for s in terms {
        let rows = b.size(s.node);
        let h = &b.h[s.at..s.at + 3 * rows];
        for t in terms {
            let sl = slots[at];
            at += 1;
            let cols = b.size(t.node);
            let g = &b.h[t.at..t.at + 3 * cols];
            // along the rows of the storage: rows of U, or columns of L
            let (along, across, n, m) = if sl.col == 1 { (h, g, rows, cols) } else { (g, h, cols, rows) };
            let step = sl.row.max(sl.col);
            for r in 0..n {
                let mut y = [Double::default(); 3];
                for l in 0..3 {
                    let mut sum = Sum::default();
                    for j in 0..3 {
                        sum.add_simple(if sl.col == 1 { e[j][l] } else { e[l][j] }, along[j * n + r]);
                    }
                    y[l] = sum.value();
                }
                let o = sl.at + r * step;
                let (zh, zl) = (&mut data.hi[o..o + m], &mut data.lo[o..o + m]);
                for c in 0..m {
                    let mut v = Sum::new(Double { hi: zh[c], lo: zl[c] });
                    v.add_simple(y[0], across[c]);
                    v.add_simple(y[1], across[m + c]);
                    v.add_simple(y[2], across[2 * m + c]);
                    let v = v.value();
                    (zh[c], zl[c]) = (v.hi, v.lo);
                }
            }
        }
    }
}
