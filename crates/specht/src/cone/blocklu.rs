//! Sparse LU on a graph of blocks, pattern reused between factorisations (METH-CONE-LINALG)
//!
//! Nodes (bodies, bilateral rows, contacts) are ordered once by minimum degree (large graphs: or nested dissection), then merged into supernodes. Supernode
//! `k` with `n` unknowns and `s` later unknowns in its structure stores `U` as `n × (n+s)` and the transpose of `L` as
//! `n × s`, both row-major, so that every inner loop runs along contiguous rows:
//!
//! ```text
//! P U_kk = L_kk U_kk (partial pivoting inside the supernode)      U_ks ← L_kk⁻¹ P U_ks      L_sk ← L_sk U_kk⁻¹
//! A_ss −= L_sk U_ks                                               scattered into the later supernodes
//! ```
//!
//! Values may be unsymmetric, the pattern is symmetric. No pivoting between supernodes: with `M + Hᵀ D⁻¹ H`, `D` near a
//! positive multiple of an orthogonal projection, the Schur complements stay well behaved; the caller refines.

use super::nested::dissect;
use super::order::{behind, minimum_degree, operations};
use crate::linalg::panel::{self, Product, Strip};
use crate::stop::Clock;
use rayon::prelude::*;

/// Supernodes are merged when the zeros they gain are few: at most this many unknowns …
const MERGE_WIDTH: usize = 16;
/// … and at most this fraction of stored zeros.
const MERGE_ZEROS: f64 = 0.25;

/// Operations of a factorisation from which on nested dissection is tried, too.
const DISSECT: f64 = 1e8;

/// Operations of an update from which on several threads share it, and rows of each.
const SHARED: f64 = 4e6;
const ROWS_EACH: usize = 4 * panel::ROWS;

/// Smallest and largest pivot, and the sign of the determinant.
struct Pivots {
    lo: f64,
    hi: f64,
    sign: f64,
}

/// What is left of the storage, from `at` on, handed out in ascending pieces.
struct Rest<'a> {
    at: usize,
    data: &'a mut [f64],
}

impl<'a> Rest<'a> {
    fn take(&mut self, from: usize, length: usize) -> &'a mut [f64] {
        let (_, data) = std::mem::take(&mut self.data).split_at_mut(from - self.at);
        let (piece, rest) = data.split_at_mut(length);
        (self.at, self.data) = (from + length, rest);
        piece
    }
}

/// Rows of an update that one thread makes.
struct Part<'a> {
    product: Product<'a>,
    target: &'a mut [f64],
    ld: usize,
    row: Vec<u32>,
    col: &'a [u32],
    shift: usize,
}

/// Where a block sits in the storage: entry `(r, c)` is at `at + r * row + c * col`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slot {
    pub at: usize,
    pub row: usize,
    pub col: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Super {
    /// first unknown (new numbering) and number of unknowns
    pub first: usize,
    pub n: usize,
    /// later unknowns, ascending
    pub s: Vec<usize>,
    /// where `U` and `Lᵀ` begin in the storage
    pub u: usize,
    pub l: usize,
    /// (target supernode, first and last position in `s` that fall into it)
    pub runs: Vec<(usize, usize, usize)>,
    /// for each run: positions of `s[begin..]` in the target's row `[own unknowns, structure]`
    pub map: Vec<Vec<u32>>,
}

/// Symbolic and numeric factorisation.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLu {
    supers: Vec<Super>,
    /// supernode of an unknown (new numbering)
    owner: Vec<usize>,
    /// new number of the first unknown of a node
    start: Vec<usize>,
    size: Vec<usize>,
    /// data offset per node in the caller's vectors
    origin: Vec<usize>,
    data: Vec<f64>,
    perm: Vec<usize>,
    row: Vec<f64>,
    work: Vec<f64>,
    sign: f64,
    flops: f64,
    /// several threads may factor, and when to stop
    pub parallel: bool,
    pub clock: Option<Clock>,
}

impl BlockLu {
    /// Analyse the pattern. `size[i]` unknowns per node, `adj` symmetric neighbour lists, `wait` as in the ordering.
    pub(super) fn analyse(&mut self, size: &[usize], adj: &[Vec<usize>], wait: &[bool]) {
        let (mut order, mut later) = minimum_degree(size, adj, wait);
        let n = size.len();
        let least = operations(size, &order, &later);
        if least > DISSECT && !wait.contains(&true) {
            let other = dissect(size, adj);
            let behind = behind(&other, adj);
            if operations(size, &other, &behind) < least {
                (order, later) = (other, behind);
            }
        }
        let mut place = vec![0; n];
        for (p, &i) in order.iter().enumerate() {
            place[i] = p;
        }
        // elimination tree, postorder
        let parent: Vec<usize> =
            later.iter().map(|s| s.iter().map(|&i| place[i]).min().unwrap_or(usize::MAX)).collect();
        let post = postorder(&parent);
        let mut new = vec![0; n];
        for (k, &p) in post.iter().enumerate() {
            new[p] = k;
        }
        // nodes in final order, with unknown numbers
        self.size = size.to_vec();
        self.start = vec![0; n];
        let mut first = 0;
        for &p in &post {
            self.start[order[p]] = first;
            first += size[order[p]];
        }
        self.origin = Vec::with_capacity(n);
        let mut o = 0;
        for &s in size {
            self.origin.push(o);
            o += s;
        }
        let total = first;
        self.merge(&order, &later, &post, &parent);
        // storage and maps
        self.owner = vec![0; total];
        let mut at = 0;
        self.flops = 0.0;
        for (k, sn) in self.supers.iter_mut().enumerate() {
            self.owner[sn.first..sn.first + sn.n].fill(k);
            sn.u = at;
            at += sn.n * (sn.n + sn.s.len());
            sn.l = at;
            at += sn.n * sn.s.len();
            let (a, b) = (sn.n as f64, sn.s.len() as f64);
            self.flops += 2.0 * a * (a * a / 3.0 + a * b + b * b) + 40.0 * (a + b);
        }
        self.map_updates();
        self.data = vec![0.0; at];
        self.perm = vec![0; total];
        self.work = vec![0.0; total];
        let longest = self.supers.iter().map(|s| s.n + s.s.len()).max().unwrap_or(0);
        self.row = vec![0.0; longest];
    }

    /// Merge chains of nodes into supernodes. In the order `post` of the elimination tree; `later`: neighbours that are
    /// eliminated later.
    fn merge(&mut self, order: &[usize], later: &[Vec<usize>], post: &[usize], parent: &[usize]) {
        let size = std::mem::take(&mut self.size);
        let n = size.len();
        let width = |k: usize| size[order[post[k]]];
        let reach: Vec<usize> =
            (0..n).map(|k| later[post[k]].iter().map(|&i| size[i]).sum::<usize>()).collect();
        let par = |k: usize| parent[post[k]];
        self.supers.clear();
        let mut k = 0;
        while k < n {
            let begin = k;
            let mut w = width(k);
            let mut zeros = 0.0;
            while k + 1 < n && par(k) == post[k + 1] {
                let next = width(k + 1);
                let gain = (w * (next + reach[k + 1] - reach[k])) as f64;
                let total = ((w + next) * (w + next + 2 * reach[k + 1])) as f64;
                if gain == 0.0 || (w + next <= MERGE_WIDTH && 2.0 * (zeros + gain) <= MERGE_ZEROS * total) {
                    zeros += gain;
                    w += next;
                    k += 1;
                } else {
                    break;
                }
            }
            let mut s: Vec<usize> = Vec::with_capacity(reach[k]);
            for &i in &later[post[k]] {
                s.extend(self.start[i]..self.start[i] + size[i]);
            }
            s.sort_unstable();
            self.supers.push(Super { first: self.start[order[post[begin]]], n: w, s, ..Default::default() });
            k += 1;
        }
        self.size = size;
    }

    /// Where the entries of each supernode's update go in the supernodes that it meets.
    fn map_updates(&mut self) {
        for k in 0..self.supers.len() {
            let s = std::mem::take(&mut self.supers[k].s);
            let (mut runs, mut map) = (Vec::new(), Vec::new());
            let mut p = 0;
            while p < s.len() {
                let t = self.owner[s[p]];
                let mut e = p;
                while e < s.len() && self.owner[s[e]] == t {
                    e += 1;
                }
                let target = &self.supers[t];
                let mut m = Vec::with_capacity(s.len() - p);
                let mut q = 0;
                for &x in &s[p..] {
                    if x < target.first + target.n {
                        m.push((x - target.first) as u32);
                    } else {
                        while q < target.s.len() && target.s[q] < x {
                            q += 1;
                        }
                        m.push((target.n + q) as u32);
                    }
                }
                runs.push((t, p, e));
                map.push(m);
                p = e;
            }
            let sn = &mut self.supers[k];
            (sn.s, sn.runs, sn.map) = (s, runs, map);
        }
    }

    /// Estimated operations of one factorisation.
    pub(super) fn flops(&self) -> f64 {
        self.flops
    }

    /// Number of unknowns.
    pub(super) fn len(&self) -> usize {
        self.owner.len()
    }

    /// Supernodes in the order of elimination.
    pub(super) fn supers(&self) -> &[Super] {
        &self.supers
    }

    /// Length of the storage, and of the longest row.
    pub(super) fn storage(&self) -> usize {
        self.data.len()
    }

    pub(super) fn longest(&self) -> usize {
        self.row.len()
    }

    /// New and old number of every unknown.
    #[inline(always)]
    pub(super) fn permute(&self, mut each: impl FnMut(usize, usize)) {
        for i in 0..self.size.len() {
            for c in 0..self.size[i] {
                each(self.start[i] + c, self.origin[i] + c);
            }
        }
    }

    /// Place of block (node `i`, node `j`), which must be in the pattern.
    pub(super) fn slot(&self, i: usize, j: usize) -> Slot {
        let (a, b) = (self.start[i], self.start[j]);
        let (ka, kb) = (self.owner[a], self.owner[b]);
        if ka <= kb {
            let sn = &self.supers[ka];
            let ld = sn.n + sn.s.len();
            let c = if ka == kb { b - sn.first } else { sn.n + sn.s.partition_point(|&x| x < b) };
            Slot { at: sn.u + (a - sn.first) * ld + c, row: ld, col: 1 }
        } else {
            let sn = &self.supers[kb];
            let ld = sn.s.len();
            Slot { at: sn.l + (b - sn.first) * ld + sn.s.partition_point(|&x| x < a), row: 1, col: ld }
        }
    }

    /// The storage, to be filled through slots (set to zero first).
    pub(super) fn values(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// Whether the time of a long factorisation is over; what it leaves is worth nothing then.
    pub(super) fn over(&self) -> bool {
        self.flops > DISSECT && self.clock.is_some_and(|c| c.over())
    }

    /// Factor what was filled in. Returns smallest / largest pivot (0: singular).
    pub(super) fn factor(&mut self) -> f64 {
        let mut pivots = Pivots { lo: f64::INFINITY, hi: 0.0, sign: 1.0 };
        let threads = self.parallel && self.flops > DISSECT && rayon::current_num_threads() > 1;
        let mut k = 0;
        while k < self.supers.len() {
            // those whose update is worth other threads stand alone
            let wide = |sn: &Super| threads && 2.0 * sn.n as f64 * (sn.s.len() as f64).powi(2) > SHARED;
            let end = (k..self.supers.len()).find(|&j| wide(&self.supers[j])).unwrap_or(self.supers.len());
            panel::widest(
                (&mut *self, &mut pivots, k, end),
                #[inline(always)]
                |(this, pivots, k, end)| this.factor_some(pivots, k, end),
            );
            if end < self.supers.len() {
                self.update_shared(end);
            }
            k = end + 1;
        }
        self.sign = pivots.sign;
        if self.supers.is_empty() {
            1.0
        } else if pivots.hi > 0.0 && pivots.lo.is_finite() {
            pivots.lo / pivots.hi
        } else {
            0.0
        }
    }

    /// Supernodes `from .. to`, and `to` (if there is one) without its update.
    #[inline(always)]
    fn factor_some(&mut self, pivots: &mut Pivots, from: usize, to: usize) {
        let mut strip = Strip::new();
        for k in from..(to + 1).min(self.supers.len()) {
            if self.over() {
                pivots.sign = 0.0;
                return;
            }
            let sn = &self.supers[k];
            let (n, s) = (sn.n, sn.s.len());
            let ld = n + s;
            let (head, tail) = self.data.split_at_mut(sn.l);
            let u = &mut head[sn.u..];
            let (rest_l, later) = tail.split_at_mut(n * s);
            let (a, b, sg) = panel::factor(&mut strip, u, n, ld, &mut self.perm[sn.first..sn.first + n]);
            pivots.lo = pivots.lo.min(a);
            pivots.hi = pivots.hi.max(b);
            pivots.sign *= sg;
            if s == 0 {
                continue;
            }
            // L_skᵀ ← U_kk⁻ᵀ L_skᵀ
            panel::divide(&mut strip, rest_l, s, u, n, ld);
            if k == to {
                continue;
            }
            // Schur complement into the later supernodes
            let base = sn.l + n * s;
            for (&(t, begin, end), map) in sn.runs.iter().zip(&sn.map) {
                let target = &self.supers[t];
                let tld = target.n + target.s.len();
                let (count, own) = (end - begin, &map[..end - begin]);
                // rows of U
                let (a, b) = (&rest_l[..], &u[n..]);
                let part =
                    Product { a, lda: s, first: begin, count, b, ldb: ld, from: begin, width: s - begin, n };
                part.scatter(&mut strip, &mut later[target.u - base..], tld, own, map, 0);
                // rows of Lᵀ: only what lies behind the target's own unknowns
                if end < s {
                    let (lld, behind) = (target.s.len(), &map[count..]);
                    let part = Product {
                        a: b,
                        lda: ld,
                        first: begin,
                        count,
                        b: a,
                        ldb: s,
                        from: end,
                        width: s - end,
                        n,
                    };
                    part.scatter(&mut strip, &mut later[target.l - base..], lld, own, behind, target.n);
                }
            }
        }
    }

    /// The Schur complement of supernode `k` by several threads: each has rows of its own, every entry is one thread's, and the order of
    /// the supernodes stays, so the bits do not depend on the threads.
    fn update_shared(&mut self, k: usize) {
        let sn = &self.supers[k];
        let (n, s) = (sn.n, sn.s.len());
        let ld = n + s;
        let (head, tail) = self.data.split_at_mut(sn.l);
        let (l, later) = tail.split_at_mut(n * s);
        let (l, u) = (&*l, &head[sn.u + n..]);
        let mut rest = Rest { at: sn.l + n * s, data: later };
        let mut parts = Vec::new();
        for (&(t, begin, end), map) in sn.runs.iter().zip(&sn.map) {
            let target = &self.supers[t];
            let own = &map[..end - begin];
            let count = end - begin;
            let above =
                Product { a: l, lda: s, first: 0, count, b: u, ldb: ld, from: begin, width: s - begin, n };
            let below =
                Product { a: u, lda: ld, first: 0, count, b: l, ldb: s, from: end, width: s - end, n };
            let rows_of_u = (target.u, target.n + target.s.len(), above, &map[..], 0);
            let rows_of_l = (target.l, target.s.len(), below, &map[count..], target.n);
            for (start, ld, product, col, shift) in [rows_of_u, rows_of_l] {
                if product.width == 0 {
                    continue;
                }
                for (i, rows) in own.chunks(ROWS_EACH).enumerate() {
                    let (first, last) = (rows[0] as usize, rows[rows.len() - 1] as usize);
                    let target = rest.take(start + first * ld, (last + 1 - first) * ld);
                    let row = rows.iter().map(|r| r - rows[0]).collect();
                    let product = Product { first: begin + i * ROWS_EACH, count: rows.len(), ..product };
                    parts.push(Part { product, target, ld, row, col, shift });
                }
            }
        }
        parts.into_par_iter().for_each(|part| {
            panel::widest(
                part,
                #[inline(always)]
                |p| p.product.scatter(&mut Strip::new(), p.target, p.ld, &p.row, p.col, p.shift),
            )
        });
    }

    /// Solve in place; `b` in the order of the nodes as given to [`BlockLu::analyse`].
    pub(super) fn solve(&mut self, b: &mut [f64]) {
        for i in 0..self.size.len() {
            for c in 0..self.size[i] {
                self.work[self.start[i] + c] = b[self.origin[i] + c];
            }
        }
        panel::widest(
            &mut *self,
            #[inline(always)]
            |this| this.substitute(),
        );
        for i in 0..self.size.len() {
            for c in 0..self.size[i] {
                b[self.origin[i] + c] = self.work[self.start[i] + c];
            }
        }
    }

    /// Forward and backward on `work`; entries behind a supernode are gathered, so that the loops run over neighbours.
    #[inline(always)]
    fn substitute(&mut self) {
        let (w, tail) = (&mut self.work, &mut self.row);
        for sn in &self.supers {
            let (n, s, f) = (sn.n, sn.s.len(), sn.first);
            let ld = n + s;
            for k in 0..n {
                w.swap(f + k, f + self.perm[f + k]);
            }
            for i in 1..n {
                let row = &self.data[sn.u + i * ld..sn.u + i * ld + i];
                w[f + i] -= dot8(row, &w[f..f + i]);
            }
            // later parts: w_s −= L_sk z with z = the solved own part (L was divided by U_kk)
            if s > 0 {
                let tail = &mut tail[..s];
                tail.fill(0.0);
                for k in 0..n {
                    let x = w[f + k];
                    for (t, a) in tail.iter_mut().zip(&self.data[sn.l + k * s..sn.l + k * s + s]) {
                        *t += a * x;
                    }
                }
                for (&i, t) in sn.s.iter().zip(&*tail) {
                    w[i] -= t;
                }
            }
        }
        for sn in self.supers.iter().rev() {
            let (n, s, f) = (sn.n, sn.s.len(), sn.first);
            let ld = n + s;
            let tail = &mut tail[..s];
            for (&i, t) in sn.s.iter().zip(&mut *tail) {
                *t = w[i];
            }
            for i in (0..n).rev() {
                let row = &self.data[sn.u + i * ld..sn.u + (i + 1) * ld];
                let known = dot8(&row[i + 1..n], &w[f + i + 1..f + n]) + dot8(&row[n..], tail);
                w[f + i] = (w[f + i] - known) / row[i];
            }
        }
    }

    /// Sign of the determinant, 0 when a pivot vanished.
    pub(super) fn sign_det(&self) -> f64 {
        self.sign
    }
}

/// Scalar product with eight partial sums (fixed order, same bits everywhere).
#[inline(always)]
fn dot8(a: &[f64], b: &[f64]) -> f64 {
    let mut s = [0.0; 8];
    let (ca, cb) = (a.chunks_exact(8), b.chunks_exact(8));
    let mut t = 0.0;
    for (x, y) in ca.remainder().iter().zip(cb.remainder()) {
        t += x * y;
    }
    for (x, y) in ca.zip(cb) {
        for l in 0..8 {
            s[l] += x[l] * y[l];
        }
    }
    ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])) + t
}

fn postorder(parent: &[usize]) -> Vec<usize> {
    let n = parent.len();
    let mut children = vec![Vec::new(); n];
    let mut roots = Vec::new();
    for k in 0..n {
        if parent[k] == usize::MAX {
            roots.push(k);
        } else {
            children[parent[k]].push(k);
        }
    }
    let mut out = Vec::with_capacity(n);
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for r in roots {
        stack.push((r, 0));
        while let Some((k, c)) = stack.pop() {
            if c < children[k].len() {
                stack.push((k, c + 1));
                stack.push((children[k][c], 0));
            } else {
                out.push(k);
            }
        }
    }
    out
}
