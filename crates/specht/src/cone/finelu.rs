//! The factorisation of [`super::blocklu`] with twice the digits (METH-CONE-LINALG)
//!
//! Same pattern, same storage, same steps. Contacts that stick, slide and open at the end of a path give `M + Hᵀ D⁻¹ H` entries from 1e-14
//! to 1e14, and in simple precision the soft directions of a body drown in its stiff ones.

use super::blocklu::{BlockLu, Super};
use super::double::{Double, Doubles, dot, subtract, subtract_rows};
use crate::linalg::panel::widest;

/// Values of a factorisation.
#[derive(Clone, Debug, Default)]
pub(super) struct FineLu {
    pub data: Doubles,
    perm: Vec<usize>,
    /// inverses of the pivots
    inverse: Doubles,
    /// columns of the own blocks of the supernodes, one after the other
    own: Doubles,
    row: Doubles,
    work: Doubles,
    sign: f64,
}

impl FineLu {
    /// Storage for the pattern of `lu`, filled with zeros.
    pub(super) fn start(&mut self, lu: &BlockLu) {
        self.data.resize(lu.storage());
        self.data.clear();
        self.perm.resize(lu.len(), 0);
        self.inverse.resize(lu.len());
        self.own.resize(lu.supers().iter().map(|s| s.n * s.n).sum());
        self.row.resize(lu.longest());
        self.work.resize(lu.len());
    }

    /// Factor what was filled in.
    pub(super) fn factor(&mut self, lu: &BlockLu) {
        widest(
            (self, lu),
            #[inline(always)]
            |(this, lu)| {
                this.sign = 1.0;
                let mut own = 0;
                for sn in lu.supers() {
                    if lu.over() {
                        this.sign = 0.0;
                        return;
                    }
                    this.panel(sn);
                    this.turn(sn, own);
                    this.spread(sn, lu);
                    own += sn.n * sn.n;
                }
            },
        );
    }

    /// Partial pivoting inside of the supernode, then `L_sk`.
    #[inline(always)]
    fn panel(&mut self, sn: &Super) {
        let (n, s) = (sn.n, sn.s.len());
        let ld = n + s;
        for k in 0..n {
            let (mut p, mut size) = (k, self.data.hi[sn.u + k * ld + k].abs());
            for i in k + 1..n {
                let s = self.data.hi[sn.u + i * ld + k].abs();
                if s > size {
                    (p, size) = (i, s);
                }
            }
            self.perm[sn.first + k] = p;
            if p != k {
                for v in [&mut self.data.hi, &mut self.data.lo] {
                    let (top, bottom) = v[sn.u..].split_at_mut(p * ld);
                    top[k * ld..(k + 1) * ld].swap_with_slice(&mut bottom[..ld]);
                }
                self.sign = -self.sign;
            }
            let pivot = self.data.get(sn.u + k * ld + k);
            if pivot.hi < 0.0 {
                self.sign = -self.sign;
            }
            let inv = pivot.inverse();
            self.inverse.set(sn.first + k, inv);
            if pivot.hi == 0.0 || !pivot.hi.is_finite() {
                self.sign = 0.0;
                continue;
            }
            for i in k + 1..n {
                let at = sn.u + i * ld + k;
                let f = self.data.get(at) * inv;
                self.data.set(at, f);
                self.data.eliminate(f, sn.u + k * ld + k + 1, at + 1, ld - k - 1);
            }
            // L_skᵀ ← U_kk⁻ᵀ L_skᵀ, one row after the other
            for j in 0..k {
                let f = self.data.get(sn.u + j * ld + k);
                self.data.eliminate(f, sn.l + j * s, sn.l + k * s, s);
            }
            for c in sn.l + k * s..sn.l + (k + 1) * s {
                let v = self.data.get(c) * inv;
                self.data.set(c, v);
            }
        }
    }

    /// Columns of the own block.
    #[inline(always)]
    fn turn(&mut self, sn: &Super, own: usize) {
        let ld = sn.n + sn.s.len();
        for i in 0..sn.n {
            for j in 0..sn.n {
                self.own.set(own + j * sn.n + i, self.data.get(sn.u + i * ld + j));
            }
        }
    }

    /// Schur complement into the later supernodes.
    #[inline(always)]
    fn spread(&mut self, sn: &Super, lu: &BlockLu) {
        let (n, s) = (sn.n, sn.s.len());
        let ld = n + s;
        for (&(t, begin, end), map) in sn.runs.iter().zip(&sn.map) {
            let target = &lu.supers()[t];
            let tld = target.n + target.s.len();
            for i in begin..end {
                // a row of U, then one of Lᵀ behind the target's own unknowns
                let own = map[i - begin] as usize;
                self.combine(n, (sn.l + i, s), (sn.u + n + begin, ld), map, target.u + own * tld);
                if end < s {
                    let at = target.l + own * target.s.len();
                    self.combine(n, (sn.u + n + i, ld), (sn.l + end, s), &map[end - begin..], at - target.n);
                }
            }
        }
    }

    /// `data[to + map] −= Σ_k data[coef + k cld] data[rows + k rld ..]`.
    #[inline(always)]
    fn combine(&mut self, n: usize, coef: (usize, usize), rows: (usize, usize), map: &[u32], to: usize) {
        let (h, l) = (&mut self.row.hi[..map.len()], &mut self.row.lo[..map.len()]);
        for ((h, l), &m) in h.iter_mut().zip(&mut *l).zip(map) {
            (*h, *l) = (self.data.hi[to + m as usize], self.data.lo[to + m as usize]);
        }
        subtract_rows(&self.data, &self.data, n, coef, rows, h, l);
        for ((h, l), &m) in h.iter().zip(l).zip(map) {
            (self.data.hi[to + m as usize], self.data.lo[to + m as usize]) = (*h, *l);
        }
    }

    /// Solve in place; `b` in the order of the nodes.
    pub(super) fn solve(&mut self, lu: &BlockLu, b: &mut Doubles) {
        lu.permute(|new, old| self.work.set(new, b.get(old)));
        widest(
            (&mut *self, lu),
            #[inline(always)]
            |(this, lu)| this.substitute(lu.supers()),
        );
        lu.permute(|new, old| b.set(old, self.work.get(new)));
    }

    /// Inside of a supernode by columns: an unknown waits for one addition, not for a scalar product.
    #[inline(always)]
    fn substitute(&mut self, supers: &[Super]) {
        let (w, data) = (&mut self.work, &self.data);
        let mut own = 0;
        for sn in supers {
            let (n, s, f) = (sn.n, sn.s.len(), sn.first);
            for k in 0..n {
                w.hi.swap(f + k, f + self.perm[f + k]);
                w.lo.swap(f + k, f + self.perm[f + k]);
            }
            for k in 0..n {
                let (v, column) = (w.get(f + k), own + k * n + k + 1..own + (k + 1) * n);
                let (wh, wl) = (&mut w.hi[f + k + 1..f + n], &mut w.lo[f + k + 1..f + n]);
                subtract(v, &self.own.hi[column.clone()], &self.own.lo[column], wh, wl);
            }
            own += n * n;
            let (h, l) = (&mut self.row.hi[..s], &mut self.row.lo[..s]);
            for (c, &i) in sn.s.iter().enumerate() {
                (h[c], l[c]) = (w.hi[i], w.lo[i]);
            }
            subtract_rows(data, w, n, (f, 1), (sn.l, s), h, l);
            for (c, &i) in sn.s.iter().enumerate() {
                w.set(i, Double { hi: h[c], lo: l[c] });
            }
        }
        for sn in supers.iter().rev() {
            let (n, s, f) = (sn.n, sn.s.len(), sn.first);
            let ld = n + s;
            let (h, l) = (&mut self.row.hi[..s], &mut self.row.lo[..s]);
            for (c, &i) in sn.s.iter().enumerate() {
                (h[c], l[c]) = (w.hi[i], w.lo[i]);
            }
            for i in 0..n {
                let rest = sn.u + i * ld + n..sn.u + (i + 1) * ld;
                w.add(f + i, -dot(&data.hi[rest.clone()], &data.lo[rest], h, l));
            }
            own -= n * n;
            for i in (0..n).rev() {
                let (v, column) = (w.get(f + i) * self.inverse.get(f + i), own + i * n..own + i * n + i);
                w.set(f + i, v);
                let (wh, wl) = (&mut w.hi[f..f + i], &mut w.lo[f..f + i]);
                subtract(v, &self.own.hi[column.clone()], &self.own.lo[column], wh, wl);
            }
        }
    }

    /// Sign of the determinant, 0 when a pivot vanished.
    pub(super) fn sign_det(&self) -> f64 {
        self.sign
    }
}
