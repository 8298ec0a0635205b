//! The factored system of the body form: bodies first, kept contacts as rows of a saddle system (METH-CONE-LINALG)
//!
//! ```text
//! (M + Σ_condensed Hᵀ B⁻¹ S H) v − Σ_kept Hᵀ x = …,      kept:  B_i x_i + S_i H_i v = …
//! ```

use super::blocklu::{BlockLu, Slot};
use super::body::{BodyForm, MassForm, Term};
use super::form::Blocks;
use super::kernel::{M3, matmul3, mul3};

/// A factorisation with a fixed set of kept cones.
#[derive(Clone, Debug, Default)]
pub(super) struct Factor {
    pub keep: Vec<bool>,
    /// node number of a kept cone
    pub node: Vec<usize>,
    pub lu: BlockLu,
    mass: Vec<Slot>,
    /// slots of a condensed cone: pairs of its terms, row after row; of a kept cone: own, then (cone, body), (body, cone) per term
    slots: Vec<Slot>,
    at: Vec<usize>,
}

impl Factor {
    pub(super) fn analyse(&mut self, b: &BodyForm, keep: &[bool]) {
        let bodies = b.first.len() - 1;
        let mut size: Vec<usize> = (0..bodies).map(|i| b.size(i)).collect();
        let mut wait = vec![0; bodies];
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
                wait.push(if b.careful || b.always[i] { usize::MAX } else { 1 });
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
