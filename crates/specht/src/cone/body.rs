//! Body form: the system condensed on the bodies (METH-CONE-LINALG)
//!
//! ```text
//! M v = Hᵀ x,  A x = H v,   B x + S H v = g
//! condensed contacts:  x_i = B_i⁻¹ (g_i − S_i H_i v)          (M + Σ Hᵀ B⁻¹ S H) v − Σ_kept Hᵀ x = Σ Hᵀ B⁻¹ g
//! kept contacts:       B_i x_i + S_i H_i v = g_i
//! ```
//!
//! Kept are bilateral rows and guides (their `B` is singular). Refinement works with the true `B`; the accurate variant works with
//! twice the digits instead, because dividing by a small `B` costs many ([`super::finelu`]).

use super::blocklu::{BlockLu, Slot};
use super::form::{Blocks, Rows};
use super::kernel::{M3, V3, mul3};
use super::saddle::Factor;
use crate::linalg::{max_abs, panel::widest};

/// Corrections below this need no further one: it would be about their square.
const SURE: f64 = 1e-5;

/// One body touched by one cone: `3 × size` entries of `H` at `at`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Term {
    pub node: usize,
    pub at: usize,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyForm {
    pub rows: Vec<Rows>,
    m: usize,
    pub n: usize,
    /// unknowns of a node: `first[i]..first[i+1]`
    pub first: Vec<usize>,
    pub terms: Vec<Term>,
    /// terms of a cone: `ptr[i]..ptr[i+1]`
    pub ptr: Vec<usize>,
    pub h: Vec<f64>,
    /// the same column by column, padded with a zero
    turned: Vec<[f64; 4]>,
    /// M⁻¹ Hᵀ of a term, `size × 3` (block-diagonal M)
    mh: Vec<f64>,
    pub mass: MassForm,
    pub always: Vec<bool>,
    main: Factor,
    /// twice the digits
    pub accurate: bool,
    /// last correction of the last solution, relative to it
    pub doubt: f64,
    /// diagonal blocks when M is coupled
    diag: Vec<M3>,
    z: Vec<f64>,
    v: Vec<f64>,
    res: Vec<f64>,
    right: Vec<f64>,
    x1: Vec<f64>,
    full: Vec<f64>,
}

#[derive(Clone, Debug)]
pub(super) enum MassForm {
    /// dense block and inverse per node, row-major, at `at[node]`
    Blocks { at: Vec<usize>, m: Vec<f64>, inv: Vec<f64> },
    /// blocks (node, node) of a coupled mass matrix, and its factorisation
    Coupled { pairs: Vec<(usize, usize)>, at: Vec<usize>, m: Vec<f64>, slots: Vec<Slot>, lu: Box<BlockLu> },
}

impl Default for MassForm {
    fn default() -> Self {
        MassForm::Blocks { at: Vec::new(), m: Vec::new(), inv: Vec::new() }
    }
}

/// What the preparation hands over.
pub(super) struct Pattern<'a> {
    pub rows: &'a [Rows],
    /// sizes of the nodes
    pub sizes: &'a [usize],
    /// nodes touched by each cone
    pub touch: &'a [Vec<usize>],
    /// cones that must be kept
    pub always: &'a [bool],
    /// pairs of different nodes coupled by M (empty: block diagonal)
    pub coupled: &'a [(usize, usize)],
}

impl BodyForm {
    pub(super) fn set_pattern(&mut self, p: &Pattern) {
        self.rows = p.rows.to_vec();
        self.m = p.rows.iter().map(|r| r.d).sum();
        self.first = vec![0];
        for s in p.sizes {
            self.first.push(self.first[self.first.len() - 1] + s);
        }
        self.n = self.first[p.sizes.len()];
        self.terms.clear();
        self.ptr = vec![0];
        let mut at = 0;
        for t in p.touch {
            for &node in t {
                self.terms.push(Term { node, at });
                at += 3 * p.sizes[node];
            }
            self.ptr.push(self.terms.len());
        }
        self.h = vec![0.0; at];
        self.mh = vec![0.0; at];
        self.turned = vec![[0.0; 4]; at / 3];
        self.always = p.always.to_vec();
        let mut mat = Vec::new();
        let mut pos = 0;
        let mut pairs = Vec::new();
        for (i, s) in p.sizes.iter().enumerate() {
            mat.push(pos);
            pos += s * s;
            pairs.push((i, i));
        }
        if p.coupled.is_empty() {
            self.mass = MassForm::Blocks { at: mat, m: vec![0.0; pos], inv: vec![0.0; pos] };
        } else {
            let mut adj = vec![Vec::new(); p.sizes.len()];
            for &(i, j) in p.coupled {
                pairs.push((i, j));
                mat.push(pos);
                pos += p.sizes[i] * p.sizes[j];
                adj[i].push(j);
            }
            let mut lu = BlockLu::default();
            lu.analyse(p.sizes, &adj, &vec![false; p.sizes.len()]);
            let slots = pairs.iter().map(|&(i, j)| lu.slot(i, j)).collect();
            self.mass = MassForm::Coupled { pairs, at: mat, m: vec![0.0; pos], slots, lu: Box::new(lu) };
        }
        let mut main = std::mem::take(&mut self.main);
        main.analyse(self, p.always);
        self.main = main;
        self.accurate = false;
        for v in [&mut self.z, &mut self.v] {
            v.clear();
            v.resize(self.n, 0.0);
        }
        for v in [&mut self.res, &mut self.right, &mut self.x1] {
            v.clear();
            v.resize(self.m, 0.0);
        }
        self.full.clear();
        self.full.resize(self.n + self.m, 0.0);
    }

    /// First unknown of a node.
    pub(super) fn first_of(&self, node: usize) -> usize {
        self.first.get(node).copied().unwrap_or(0)
    }

    /// Bodies touched by cone `i`.
    #[inline]
    pub(super) fn terms_of(&self, i: usize) -> &[Term] {
        &self.terms[self.ptr[i]..self.ptr[i + 1]]
    }

    pub(super) fn size(&self, node: usize) -> usize {
        self.first[node + 1] - self.first[node]
    }

    /// Set all values of H and M to zero.
    pub(super) fn clear(&mut self) {
        self.h.fill(0.0);
        match &mut self.mass {
            MassForm::Blocks { m, .. } | MassForm::Coupled { m, .. } => m.fill(0.0),
        }
        self.accurate = false;
    }

    /// Add to H: row `row` (0..3) of cone `i`, component `c` of node `node`.
    pub(super) fn set_h(&mut self, i: usize, row: usize, node: usize, c: usize, v: f64) {
        let size = self.size(node);
        if let Some(t) = self.terms[self.ptr[i]..self.ptr[i + 1]].iter().find(|t| t.node == node) {
            self.h[t.at + row * size + c] = v;
        }
    }

    /// Set an entry of M.
    pub(super) fn set_mass(&mut self, a: usize, ca: usize, b: usize, cb: usize, v: f64) {
        let nb = self.size(b);
        match &mut self.mass {
            MassForm::Blocks { at, m, .. } => m[at[a] + ca * nb + cb] = v,
            MassForm::Coupled { pairs, at, m, .. } => {
                let k = if a == b {
                    a
                } else {
                    let n = self.first.len() - 1;
                    match pairs[n..].binary_search(&(a, b)) {
                        Ok(k) => n + k,
                        Err(_) => return,
                    }
                };
                m[at[k] + ca * nb + cb] = v;
            }
        }
    }

    /// Invert or factor M. `Err(unknown)`: not positive definite.
    pub(super) fn prepare_mass(&mut self) -> Result<(), usize> {
        match &mut self.mass {
            MassForm::Blocks { at, m, inv } => {
                for i in 0..at.len() {
                    let s = self.first[i + 1] - self.first[i];
                    crate::linalg::spd_inverse(&m[at[i]..at[i] + s * s], &mut inv[at[i]..at[i] + s * s], s)
                        .map_err(|k| self.first[i] + k)?;
                }
            }
            MassForm::Coupled { pairs, at, m, slots, lu } => {
                lu.values().fill(0.0);
                for (k, &(i, j)) in pairs.iter().enumerate() {
                    let (a, b) = (self.first[i + 1] - self.first[i], self.first[j + 1] - self.first[j]);
                    let s = slots[k];
                    let data = lu.values();
                    for r in 0..a {
                        for c in 0..b {
                            data[s.at + r * s.row + c * s.col] = m[at[k] + r * b + c];
                        }
                    }
                }
                if !(lu.factor() > 1e-14) {
                    return Err(0);
                }
            }
        }
        Ok(())
    }

    /// Whether `M` is block diagonal, so that Gauss–Seidel can run on the velocities.
    pub(super) fn has_blocks(&self) -> bool {
        matches!(self.mass, MassForm::Blocks { .. })
    }

    /// `H ← S H` with a diagonal `S`, then `M⁻¹ Hᵀ`.
    pub(super) fn scale(&mut self, s: &[f64]) {
        for i in 0..self.rows.len() {
            let r = self.rows[i];
            for t in &self.terms[self.ptr[i]..self.ptr[i + 1]] {
                let size = self.first[t.node + 1] - self.first[t.node];
                for k in 0..r.d {
                    for x in &mut self.h[t.at + k * size..t.at + (k + 1) * size] {
                        *x *= s[r.at + k];
                    }
                }
            }
        }
        self.turn();
        if let MassForm::Blocks { at, inv, .. } = &self.mass {
            for t in &self.terms {
                let size = self.first[t.node + 1] - self.first[t.node];
                let inv = &inv[at[t.node]..at[t.node] + size * size];
                let h = &self.h[t.at..t.at + 3 * size];
                let mh = &mut self.mh[t.at..t.at + 3 * size];
                if let (Ok(inv), Ok(h)) = (<&[f64; 36]>::try_from(inv), <&[f64; 18]>::try_from(h)) {
                    weigh(inv, h, mh);
                    continue;
                }
                for c in 0..size {
                    let row = &inv[c * size..(c + 1) * size];
                    let mut o = [0.0; 3];
                    for k in 0..size {
                        for l in 0..3 {
                            o[l] += row[k] * h[l * size + k];
                        }
                    }
                    mh[3 * c..3 * c + 3].copy_from_slice(&o);
                }
            }
        } else {
            // coupled M: one solve per row
            self.diag.resize(self.rows.len(), [[0.0; 3]; 3]);
            for i in 0..self.rows.len() {
                for l in 0..self.rows[i].d {
                    let u = self.column(i, l);
                    for k in 0..3 {
                        self.diag[i][k][l] = u[k];
                    }
                }
            }
        }
    }

    /// `v = M⁻¹ H_iᵀ e_l`; returns the rows of cone `i` themselves.
    fn column(&mut self, i: usize, l: usize) -> V3 {
        let mut e = [0.0; 3];
        e[l] = 1.0;
        let mut z = std::mem::take(&mut self.v);
        z.fill(0.0);
        self.add_ht(i, &e, &mut z);
        if let MassForm::Coupled { lu, .. } = &mut self.mass {
            lu.solve(&mut z);
        }
        self.v = z;
        self.h_row(i, &self.v)
    }

    /// All of `A`, row-major, into a dense matrix of `m × m`.
    pub(super) fn dense(&mut self, a: &mut [f64]) {
        let m = self.m;
        for i in 0..self.rows.len() {
            let r = self.rows[i];
            if let MassForm::Coupled { .. } = self.mass {
                for l in 0..r.d {
                    self.column(i, l);
                    for j in 0..self.rows.len() {
                        let o = self.h_row(j, &self.v);
                        for k in 0..self.rows[j].d {
                            a[(self.rows[j].at + k) * m + r.at + l] = o[k];
                        }
                    }
                }
                continue;
            }
            for j in 0..=i {
                let (s, o) = (self.rows[j], self.pair(i, j));
                for k in 0..r.d {
                    for l in 0..s.d {
                        a[(r.at + k) * m + s.at + l] = o[k][l];
                        a[(s.at + l) * m + r.at + k] = o[k][l];
                    }
                }
            }
        }
    }

    /// Block of `A` of cones `i` and `j`, over the bodies they share (block diagonal `M`).
    fn pair(&self, i: usize, j: usize) -> M3 {
        let mut o = [[0.0; 3]; 3];
        for t in &self.terms[self.ptr[i]..self.ptr[i + 1]] {
            for s in self.terms[self.ptr[j]..self.ptr[j + 1]].iter().filter(|s| s.node == t.node) {
                let size = self.size(t.node);
                let mh = self.mh[s.at..s.at + 3 * size].as_chunks::<3>().0;
                for (h, m) in self.columns(t, size).iter().zip(mh) {
                    for k in 0..3 {
                        for l in 0..3 {
                            o[k][l] += h[k] * m[l];
                        }
                    }
                }
            }
        }
        o
    }

    /// Diagonal block of cone `i`.
    pub(super) fn diagonal(&self, i: usize) -> M3 {
        if let MassForm::Coupled { .. } = self.mass {
            return self.diag[i];
        }
        self.pair(i, i)
    }

    /// Set the columns of `H`.
    fn turn(&mut self) {
        for t in &self.terms {
            let size = self.first[t.node + 1] - self.first[t.node];
            for c in 0..size {
                let h = &self.h[t.at..t.at + 3 * size];
                self.turned[t.at / 3 + c] = [h[c], h[size + c], h[2 * size + c], 0.0];
            }
        }
    }

    /// Columns of `H` of a term.
    #[inline(always)]
    pub(super) fn columns(&self, t: &Term, size: usize) -> &[[f64; 4]] {
        &self.turned[t.at / 3..t.at / 3 + size]
    }

    /// `Σ H v` of cone `i`.
    #[inline(always)]
    pub(super) fn h_row(&self, i: usize, v: &[f64]) -> V3 {
        let mut o = [0.0; 4];
        for t in &self.terms[self.ptr[i]..self.ptr[i + 1]] {
            let (f, e) = (self.first[t.node], self.first[t.node + 1]);
            for (h, v) in self.columns(t, e - f).iter().zip(&v[f..e]) {
                o = std::array::from_fn(|l| o[l] + h[l] * v);
            }
        }
        [o[0], o[1], o[2]]
    }

    /// `z += H_iᵀ x`.
    #[inline(always)]
    pub(super) fn add_ht(&self, i: usize, x: &V3, z: &mut [f64]) {
        for t in &self.terms[self.ptr[i]..self.ptr[i + 1]] {
            let (f, e) = (self.first[t.node], self.first[t.node + 1]);
            let size = e - f;
            let h = &self.h[t.at..t.at + 3 * size];
            if let (Ok(z), Ok(h)) = (<&mut [f64; 6]>::try_from(&mut z[f..e]), <&[f64; 18]>::try_from(h)) {
                *z = std::array::from_fn(|c| z[c] + (h[c] * x[0] + h[6 + c] * x[1] + h[12 + c] * x[2]));
                continue;
            }
            for (c, z) in z[f..e].iter_mut().enumerate() {
                *z += h[c] * x[0] + h[size + c] * x[1] + h[2 * size + c] * x[2];
            }
        }
    }

    /// `v = M⁻¹ Hᵀ x`.
    pub(super) fn velocity(&mut self, x: &[f64]) {
        widest(
            (self, x),
            #[inline(always)]
            |(this, x)| this.velocity_inner(x),
        );
    }

    #[inline(always)]
    fn velocity_inner(&mut self, x: &[f64]) {
        let mut z = std::mem::take(&mut self.z);
        z.fill(0.0);
        for i in 0..self.rows.len() {
            self.add_ht(i, &self.rows[i].get(x), &mut z);
        }
        match &mut self.mass {
            MassForm::Blocks { at, inv, .. } => {
                for i in 0..at.len() {
                    let (f, e) = (self.first[i], self.first[i + 1]);
                    let s = e - f;
                    for c in 0..s {
                        self.v[f + c] = super::form::dot4(&inv[at[i] + c * s..at[i] + (c + 1) * s], &z[f..e]);
                    }
                }
            }
            MassForm::Coupled { lu, .. } => {
                self.v.copy_from_slice(&z);
                lu.solve(&mut self.v);
            }
        }
        self.z = z;
    }

    /// Component `c` of the velocity of a node after [`BodyForm::velocity`].
    pub(super) fn component(&self, node: usize, c: usize) -> f64 {
        self.v[self.first[node] + c]
    }

    /// `A x` of cone `i` from the velocities.
    #[inline]
    pub(super) fn rows_from_velocity(&self, i: usize) -> V3 {
        self.h_row(i, &self.v)
    }

    /// Velocities after cone `i` changed by `dx`.
    #[inline]
    pub(super) fn push(&mut self, i: usize, dx: &V3) {
        for t in &self.terms[self.ptr[i]..self.ptr[i + 1]] {
            let (f, e) = (self.first[t.node], self.first[t.node + 1]);
            let mh = &self.mh[t.at..t.at + 3 * (e - f)];
            for (v, m) in self.v[f..e].iter_mut().zip(mh.chunks_exact(3)) {
                *v += m[0] * dx[0] + m[1] * dx[1] + m[2] * dx[2];
            }
        }
    }

    pub(super) fn mul(&mut self, x: &[f64], y: &mut [f64]) {
        widest(
            (self, x, y),
            #[inline(always)]
            |(this, x, y)| this.mul_inner(x, y),
        );
    }

    #[inline(always)]
    fn mul_inner(&mut self, x: &[f64], y: &mut [f64]) {
        self.velocity_inner(x);
        for i in 0..self.rows.len() {
            let o = self.h_row(i, &self.v);
            self.rows[i].put(&o, y);
        }
    }

    /// The factorisation.
    pub(super) fn lu(&mut self) -> &mut BlockLu {
        &mut self.main.lu
    }

    /// Estimated operations of one factorisation.
    pub(super) fn flops(&self) -> f64 {
        self.main.lu.flops() + 600.0 * self.terms.len() as f64
    }

    pub(super) fn factor(&mut self, k: &Blocks) -> f64 {
        let mut f = std::mem::take(&mut self.main);
        let r = if self.accurate { f.fill_fine(self, k) } else { f.fill(self, k) };
        self.main = f;
        r
    }

    pub(super) fn sign_det(&self) -> f64 {
        if self.accurate { self.main.fine.sign_det() } else { self.main.lu.sign_det() }
    }

    /// With twice the digits; `ax = A x` of the solution.
    pub(super) fn solve_fine(&mut self, k: &Blocks, g: &mut [f64], ax: &mut [f64]) {
        let mut f = std::mem::take(&mut self.main);
        f.solve_fine(self, k, g, ax);
        self.main = f;
    }

    pub(super) fn solve(&mut self, k: &Blocks, g: &mut [f64]) {
        if self.accurate {
            let mut ax = std::mem::take(&mut self.x1);
            self.solve_fine(k, g, &mut ax);
            self.x1 = ax;
            return;
        }
        let mut res = std::mem::take(&mut self.res);
        let mut x1 = std::mem::take(&mut self.x1);
        let mut right = std::mem::take(&mut self.right);
        right.copy_from_slice(g);
        self.solve_once(k, &right, g);
        self.doubt = 0.0;
        for pass in 0..k.refine {
            // refinement with the true blocks: res = g − B x − A x
            self.mul(g, &mut x1);
            for i in 0..self.rows.len() {
                let r = self.rows[i];
                let bx = mul3(&k.b[i], &r.get(g));
                for l in 0..r.d {
                    res[r.at + l] = right[r.at + l] - (bx[l] + x1[r.at + l]);
                }
            }
            self.solve_once(k, &res, &mut x1);
            for (x, y) in g.iter_mut().zip(&x1) {
                *x += y;
            }
            let before = std::mem::replace(&mut self.doubt, max_abs(&x1) / max_abs(g));
            if self.doubt < SURE || (pass > 0 && !(self.doubt < 0.1 * before)) {
                break;
            }
        }
        self.right = right;
        self.res = res;
        self.x1 = x1;
    }

    fn solve_once(&mut self, k: &Blocks, g: &[f64], x: &mut [f64]) {
        let mut f = std::mem::take(&mut self.main);
        let mut full = std::mem::take(&mut self.full);
        let total = f.lu.len();
        widest(
            (&*self, &f, k, g, &mut full[..total]),
            #[inline(always)]
            |(this, f, k, g, full)| this.condense(f, k, g, full),
        );
        f.lu.solve(&mut full[..total]);
        widest(
            (&*self, &f, k, g, &full[..], x),
            #[inline(always)]
            |(this, f, k, g, full, x)| this.expand(f, k, g, full, x),
        );
        self.full = full;
        self.main = f;
    }

    /// Right-hand side of the factored system.
    #[inline(always)]
    fn condense(&self, f: &Factor, k: &Blocks, g: &[f64], full: &mut [f64]) {
        full.fill(0.0);
        for i in 0..self.rows.len() {
            let r = self.rows[i];
            if f.keep[i] {
                let at = f.node[i];
                r.get(g)[..r.d].iter().enumerate().for_each(|(l, v)| full[at + l] = *v);
            } else {
                let y = mul3(&k.binv[i], &r.get(g));
                self.add_ht(i, &y, full);
            }
        }
    }

    /// Impulses from its solution.
    #[inline(always)]
    fn expand(&self, f: &Factor, k: &Blocks, g: &[f64], full: &[f64], x: &mut [f64]) {
        for i in 0..self.rows.len() {
            let r = self.rows[i];
            if f.keep[i] {
                let at = f.node[i];
                x[r.at..r.at + r.d].copy_from_slice(&full[at..at + r.d]);
            } else {
                let hv = self.h_row(i, full);
                let hv = if k.plain { hv } else { mul3(&k.s[i], &hv) };
                let gi = r.get(g);
                let y = mul3(&k.binv[i], &[gi[0] - hv[0], gi[1] - hv[1], gi[2] - hv[2]]);
                r.put(&y, x);
            }
        }
    }
}

/// `M⁻¹ Hᵀ` of a body of six unknowns: the sums of the general case, six side by side (`M⁻¹` is symmetric).
#[inline]
fn weigh(inv: &[f64; 36], h: &[f64; 18], mh: &mut [f64]) {
    for l in 0..3 {
        let mut o = [0.0; 6];
        for k in 0..6 {
            for c in 0..6 {
                o[c] += inv[6 * k + c] * h[6 * l + k];
            }
        }
        for c in 0..6 {
            mh[3 * c + l] = o[c];
        }
    }
}
