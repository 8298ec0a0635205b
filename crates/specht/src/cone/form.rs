//! One kernel, several forms (METH-CONE-LINALG)
//!
//! Everything the solvers need from the linear algebra: `A x`, and the solution of
//!
//! ```text
//! B_i x_i + S_i (A x)_i = g_i      for all cones i            (B, S: small blocks; interior point: B = D, S = I)
//! ```
//!
//! Where a disc shares the normal impulse of another cone its equation has one more term, a column of two times that impulse (`links`);
//! the body form has no place for it.
//!
//! | form | matrix | used |
//! |---|---|---|
//! | dense | `B + S A`, blocked LU | few rows, or only `W` known |
//! | sparse | the same on the graph of the contacts | large sparse `W` |
//! | body | `M + Hᵀ B⁻¹ S H` on the graph of the bodies; bilateral rows and guides stay as rows of a saddle system | default |
//!
//! The accurate variant of the body form works with twice the digits: dividing by a small `B` costs many.

use super::blocklu::{BlockLu, Slot};
use super::body::BodyForm;
use super::kernel::{M3, V3, mul3};
use crate::linalg::panel;
use crate::stop::Clock;

/// Blocks of the linear system: `b`, `s`, and `e ≈ B⁻¹ S`, `binv ≈ B⁻¹` (regularised) for the condensed form.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    pub b: Vec<M3>,
    pub s: Vec<M3>,
    pub binv: Vec<M3>,
    /// normal impulses that discs share
    pub links: Vec<Link>,
    /// `S` is the identity (interior point)
    pub plain: bool,
    /// most steps of refinement in the condensed form; more than the first only while they gain
    pub refine: usize,
}

/// Entries of the rows of one cone in the column of another's normal row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub cone: usize,
    pub owner: usize,
    pub f: [f64; 2],
}

impl Blocks {
    pub(super) fn resize(&mut self, n: usize) {
        self.b.resize(n, [[0.0; 3]; 3]);
        self.s.resize(n, [[0.0; 3]; 3]);
        self.binv.resize(n, [[0.0; 3]; 3]);
    }
}

/// Rows of a cone inside the packed vectors of an island.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rows {
    pub at: usize,
    pub d: usize,
}

impl Rows {
    #[inline]
    pub(super) fn get(&self, v: &[f64]) -> V3 {
        // most have three rows, and a copy of known length is three moves
        if self.d == 3 {
            let v = &v[self.at..self.at + 3];
            return [v[0], v[1], v[2]];
        }
        let mut o = [0.0; 3];
        o[..self.d].copy_from_slice(&v[self.at..self.at + self.d]);
        o
    }

    #[inline]
    pub(super) fn put(&self, x: &V3, v: &mut [f64]) {
        if self.d == 3 {
            v[self.at..self.at + 3].copy_from_slice(x);
            return;
        }
        v[self.at..self.at + self.d].copy_from_slice(&x[..self.d]);
    }
}

/// The forms.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // dense forms change places with their buffers at every solve: no box
pub(super) enum Form {
    Dense(DenseForm),
    Sparse(Box<SparseForm>),
    Body(Box<BodyForm>),
}

impl Default for Form {
    fn default() -> Self {
        Form::Dense(DenseForm::default())
    }
}

impl Form {
    /// `y = A x`.
    pub(super) fn mul(&mut self, x: &[f64], y: &mut [f64]) {
        match self {
            Form::Dense(f) => f.mul(x, y),
            Form::Sparse(f) => f.mul(x, y),
            Form::Body(f) => f.mul(x, y),
        }
    }

    /// Diagonal block of cone `i`.
    pub(super) fn diagonal(&self, i: usize) -> M3 {
        match self {
            Form::Dense(f) => f.diagonal(i),
            Form::Sparse(f) => f.diag[i],
            Form::Body(f) => f.diagonal(i),
        }
    }

    /// Factor; returns smallest / largest pivot.
    pub(super) fn factor(&mut self, k: &Blocks) -> f64 {
        match self {
            Form::Dense(f) => f.factor(k),
            Form::Sparse(f) => f.factor(k),
            Form::Body(f) => f.factor(k),
        }
    }

    /// Solve in place with the last factorisation.
    pub(super) fn solve(&mut self, k: &Blocks, g: &mut [f64]) {
        match self {
            Form::Dense(f) => f.solve(k, g),
            Form::Sparse(f) => f.solve(g),
            Form::Body(f) => f.solve(k, g),
        }
    }

    /// The same, and `ax = A x` of the solution.
    pub(super) fn solve_along(&mut self, k: &Blocks, g: &mut [f64], ax: &mut [f64]) {
        match self {
            Form::Body(f) if f.accurate => f.solve_fine(k, g, ax),
            _ => {
                self.solve(k, g);
                self.mul(g, ax);
            }
        }
    }

    /// Sign of `det(A + D)` of the last factorisation (interior point blocks).
    pub(super) fn sign_det(&self) -> f64 {
        match self {
            Form::Dense(f) => f.sign,
            Form::Sparse(f) => f.lu.sign_det(),
            Form::Body(f) => f.sign_det(),
        }
    }

    /// Whether several threads may factor, and when a long factorisation stops.
    pub(super) fn set_limits(&mut self, parallel: bool, clock: &Clock) {
        let lu = match self {
            Form::Dense(_) => return,
            Form::Sparse(f) => &mut f.lu,
            Form::Body(f) => f.lu(),
        };
        (lu.parallel, lu.clock) = (parallel, Some(*clock));
    }

    /// Operations of one factorisation, about.
    pub(super) fn flops(&self) -> f64 {
        match self {
            Form::Dense(f) => 2.0 / 3.0 * (f.m as f64).powi(3),
            Form::Sparse(f) => f.lu.flops(),
            Form::Body(f) => f.flops(),
        }
    }

    /// Operations of one Gauss–Seidel sweep, about: the contact itself and its rows.
    pub(super) fn sweep_flops(&self) -> f64 {
        const CONTACT: f64 = 1500.0;
        match self {
            Form::Dense(f) => 2.0 * (f.m as f64).powi(2) + CONTACT * f.rows.len() as f64,
            Form::Sparse(f) => 18.0 * f.val.len() as f64 + CONTACT * f.rows.len() as f64,
            Form::Body(f) => 1.5 * CONTACT * f.rows.len() as f64,
        }
    }

    /// Regularisation that the condensed form wants for the inverse of `P`; less when the solution is `exact`.
    pub(super) fn delta(&self, exact: bool, tau: f64) -> f64 {
        match self {
            Form::Body(f) if !f.accurate && exact => 1e-5 * tau,
            Form::Body(f) if !f.accurate => 1e-9,
            _ => 0.0,
        }
    }
}

/// `A` with all entries.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseForm {
    pub m: usize,
    pub rows: Vec<Rows>,
    pub a: Vec<f64>,
    lu: Vec<f64>,
    perm: Vec<usize>,
    sign: f64,
    /// rows of the last factorisation: those of cones whose `S` vanishes (open contacts) follow from their own block
    active: Vec<usize>,
    closed: Vec<bool>,
    /// impulses of the open cones, right-hand side of the others
    open: Vec<f64>,
    part: Vec<f64>,
    /// neighbouring closed rows: first and number
    spans: Vec<(usize, usize)>,
    /// rows of one cone, closed columns only
    gathered: Vec<f64>,
    /// none for few rows
    strip: Option<Box<panel::Strip>>,
}

impl DenseForm {
    pub(super) fn reset(&mut self, rows: &[Rows]) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.m = rows.iter().map(|r| r.d).sum();
        self.a.clear();
        self.a.resize(self.m * self.m, 0.0);
        let stride = panel::stride(self.m);
        self.lu.resize(self.m * stride, 0.0);
        self.perm.resize(self.m, 0);
        self.gathered.clear();
        self.gathered.resize(3 * stride, 0.0);
        self.spans.clear();
        self.spans.reserve(rows.len());
        if self.m > panel::FEW && self.strip.is_none() {
            self.strip = Some(Box::default());
        }
        // contacts open and close between solves: the largest size from the start
        for list in [&mut self.open, &mut self.part] {
            list.clear();
            list.reserve(self.m);
        }
        self.active.clear();
        self.active.reserve(self.m);
        self.closed.clear();
        self.closed.reserve(rows.len());
    }

    /// `A ← S A S` with a diagonal `S`.
    pub(super) fn scale(&mut self, s: &[f64]) {
        for (i, row) in self.a.chunks_exact_mut(self.m.max(1)).enumerate() {
            for (x, sj) in row.iter_mut().zip(s) {
                *x *= s[i] * sj;
            }
        }
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        panel::widest(
            (&self.a[..], self.m.max(1), x, y),
            #[inline(always)]
            |(a, m, x, y)| {
                for (row, y) in a.chunks_exact(m).zip(y) {
                    *y = dot4(row, x);
                }
            },
        );
    }

    /// Rows of cone `i` times `x`.
    #[inline]
    pub(super) fn rows_times(&self, i: usize, x: &[f64]) -> V3 {
        let r = self.rows[i];
        let mut o = [0.0; 3];
        for k in 0..r.d {
            o[k] = dot4(&self.a[(r.at + k) * self.m..(r.at + k + 1) * self.m], x);
        }
        o
    }

    fn diagonal(&self, i: usize) -> M3 {
        let r = self.rows[i];
        let mut o = [[0.0; 3]; 3];
        for k in 0..r.d {
            for l in 0..r.d {
                o[k][l] = self.a[(r.at + k) * self.m + r.at + l];
            }
        }
        o
    }

    fn factor(&mut self, k: &Blocks) -> f64 {
        panel::widest(
            (self, k),
            #[inline(always)]
            |(this, k)| this.factor_inner(k),
        )
    }

    #[inline(always)]
    fn factor_inner(&mut self, k: &Blocks) -> f64 {
        self.active.clear();
        self.closed.clear();
        self.spans.clear();
        let closed = |i: usize| k.plain || k.s[i].as_flattened().iter().any(|s| *s != 0.0);
        self.closed.extend((0..self.rows.len()).map(closed));
        for link in &k.links {
            self.closed[link.cone] |= link.f != [0.0; 2];
        }
        for (i, r) in self.rows.iter().enumerate() {
            if self.closed[i] {
                match self.spans.last_mut().filter(|s| s.0 + s.1 == r.at) {
                    Some(s) => s.1 += r.d,
                    None => self.spans.push((r.at, r.d)),
                }
                self.active.extend(r.at..r.at + r.d);
            }
        }
        let n = self.active.len();
        self.fill(k);
        let lu = &mut self.lu[..n * panel::stride(n)];
        let (lo, hi, sign) = match &mut self.strip {
            Some(strip) if n > panel::FEW => panel::factor(strip, lu, n, n, &mut self.perm),
            _ => panel::factor_few(lu, n, &mut self.perm),
        };
        self.sign = sign;
        if hi > 0.0 { lo / hi } else { 0.0 }
    }

    /// `B + S A` for the rows and columns of closed cones.
    #[inline(always)]
    fn fill(&mut self, k: &Blocks) {
        let m = self.m;
        let ld = panel::stride(self.active.len());
        let mut at = 0;
        for (i, r) in self.rows.iter().enumerate().filter(|(i, _)| self.closed[*i]) {
            let to = &mut self.lu[at * ld..(at + r.d) * ld];
            let from = if k.plain { &mut *to } else { &mut self.gathered[..r.d * ld] };
            for (l, row) in from.chunks_exact_mut(ld).enumerate() {
                let a = &self.a[(r.at + l) * m..(r.at + l + 1) * m];
                let mut o = 0;
                for &(first, count) in &self.spans {
                    row[o..o + count].copy_from_slice(&a[first..first + count]);
                    o += count;
                }
                row[o..].fill(0.0);
            }
            for (l, row) in to.chunks_exact_mut(ld).enumerate() {
                if !k.plain {
                    row.fill(0.0);
                    for (j, a) in self.gathered.chunks_exact(ld).take(r.d).enumerate() {
                        let f = k.s[i][l][j];
                        if f != 0.0 {
                            add(f, a, row);
                        }
                    }
                }
                for j in 0..r.d {
                    row[at + j] += k.b[i][l][j];
                }
            }
            at += r.d;
        }
        for link in &k.links {
            let (r, o) = (self.rows[link.cone], self.rows[link.owner]);
            if let (Ok(row), Ok(col)) = (self.active.binary_search(&r.at), self.active.binary_search(&o.at)) {
                (0..r.d).for_each(|l| self.lu[(row + l) * ld + col] += link.f[l]);
            }
        }
    }

    fn solve(&mut self, k: &Blocks, g: &mut [f64]) {
        if self.active.len() == self.m {
            return substitute(&self.lu, panel::stride(self.m), &self.perm, g);
        }
        // open cones
        self.open.clear();
        self.open.resize(self.m, 0.0);
        for (i, r) in self.rows.iter().enumerate().filter(|(i, _)| !self.closed[*i]) {
            let x = mul3(&k.binv[i], &r.get(g));
            r.put(&x, &mut self.open);
        }
        // their velocities go to the right, and the bounds they give
        for link in &k.links {
            let r = self.rows[link.cone];
            let load = self.open[self.rows[link.owner].at];
            (0..r.d).for_each(|l| g[r.at + l] -= link.f[l] * load);
        }
        self.part.clear();
        for (i, r) in self.rows.iter().enumerate().filter(|(i, _)| self.closed[*i]) {
            let u = mul3(&k.s[i], &self.rows_times(i, &self.open));
            for l in 0..r.d {
                self.part.push(g[r.at + l] - u[l]);
            }
        }
        substitute(&self.lu, panel::stride(self.part.len()), &self.perm, &mut self.part);
        g.copy_from_slice(&self.open);
        for (&row, x) in self.active.iter().zip(&self.part) {
            g[row] = *x;
        }
    }
}

/// `row += f a`, in whole vectors where the length allows.
#[inline(always)]
fn add(f: f64, a: &[f64], row: &mut [f64]) {
    let ((a, ra), (row, rr)) = (a.as_chunks::<8>(), row.as_chunks_mut::<8>());
    for (x, y) in row.iter_mut().zip(a) {
        *x = std::array::from_fn(|l| x[l] + f * y[l]);
    }
    for (x, y) in rr.iter_mut().zip(ra) {
        *x += f * y;
    }
}

/// Forward and backward with the factors in `lu`, whose rows have the length `ld`.
fn substitute(lu: &[f64], ld: usize, perm: &[usize], g: &mut [f64]) {
    let m = g.len();
    for k in 0..m {
        g.swap(k, perm[k]);
    }
    for i in 1..m {
        let s = dot4(&lu[i * ld..i * ld + i], &g[..i]);
        g[i] -= s;
    }
    for i in (0..m).rev() {
        let s = dot4(&lu[i * ld + i + 1..i * ld + m], &g[i + 1..]);
        g[i] = (g[i] - s) / lu[i * ld + i];
    }
}

/// Scalar product with four partial sums (fixed order, same bits everywhere).
#[inline(always)]
pub(super) fn dot4(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    let mut s = [0.0; 4];
    let ((ca, ra), (cb, rb)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (x, y) in ca.iter().zip(cb) {
        s = std::array::from_fn(|l| s[l] + x[l] * y[l]);
    }
    let mut t = (s[0] + s[2]) + (s[1] + s[3]);
    for (x, y) in ra.iter().zip(rb) {
        t += x * y;
    }
    t
}

/// `A` in blocks between contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct SparseForm {
    pub rows: Vec<Rows>,
    /// blocks of row `i`: `ptr[i]..ptr[i+1]`
    pub ptr: Vec<usize>,
    pub col: Vec<usize>,
    pub val: Vec<M3>,
    pub diag: Vec<M3>,
    slots: Vec<Slot>,
    own: Vec<Slot>,
    pub lu: BlockLu,
}

impl SparseForm {
    /// Set the pattern; `pairs`: (row cone, column cone) sorted, the pattern need not be symmetric.
    pub(super) fn set_pattern(&mut self, rows: &[Rows], pairs: &[(usize, usize)]) {
        let n = rows.len();
        self.rows = rows.to_vec();
        self.ptr = vec![0; n + 1];
        self.col = pairs.iter().map(|p| p.1).collect();
        for p in pairs {
            self.ptr[p.0 + 1] += 1;
        }
        for i in 0..n {
            self.ptr[i + 1] += self.ptr[i];
        }
        self.val = vec![[[0.0; 3]; 3]; pairs.len()];
        self.diag = vec![[[0.0; 3]; 3]; n];
        let mut adj = vec![Vec::new(); n];
        for &(i, j) in pairs {
            if i != j {
                adj[i].push(j);
                adj[j].push(i);
            }
        }
        for a in &mut adj {
            a.sort_unstable();
            a.dedup();
        }
        let size: Vec<usize> = rows.iter().map(|r| r.d).collect();
        self.lu.analyse(&size, &adj, &vec![false; n]);
        self.slots = pairs.iter().map(|&(i, j)| self.lu.slot(i, j)).collect();
        self.own = (0..n).map(|i| self.lu.slot(i, i)).collect();
    }

    /// Scale and remember the diagonal blocks.
    pub(super) fn scale(&mut self, s: &[f64]) {
        for i in 0..self.rows.len() {
            for p in self.ptr[i]..self.ptr[i + 1] {
                let j = self.col[p];
                for k in 0..self.rows[i].d {
                    for l in 0..self.rows[j].d {
                        self.val[p][k][l] *= s[self.rows[i].at + k] * s[self.rows[j].at + l];
                    }
                }
                if i == j {
                    self.diag[i] = self.val[p];
                }
            }
        }
    }

    #[inline]
    pub(super) fn rows_times(&self, i: usize, x: &[f64]) -> V3 {
        let mut o = [0.0; 3];
        for p in self.ptr[i]..self.ptr[i + 1] {
            let y = mul3(&self.val[p], &self.rows[self.col[p]].get(x));
            for k in 0..3 {
                o[k] += y[k];
            }
        }
        o
    }

    fn mul(&self, x: &[f64], y: &mut [f64]) {
        for i in 0..self.rows.len() {
            let o = self.rows_times(i, x);
            self.rows[i].put(&o, y);
        }
    }

    fn factor(&mut self, k: &Blocks) -> f64 {
        let links: Vec<Slot> = k.links.iter().map(|l| self.lu.slot(l.cone, l.owner)).collect();
        let data = self.lu.values();
        data.fill(0.0);
        let mut add = |slot: Slot, b: &M3, d: usize, e: usize| {
            for r in 0..d {
                for c in 0..e {
                    data[slot.at + r * slot.row + c * slot.col] += b[r][c];
                }
            }
        };
        for i in 0..self.rows.len() {
            let d = self.rows[i].d;
            for p in self.ptr[i]..self.ptr[i + 1] {
                let e = self.rows[self.col[p]].d;
                if k.plain {
                    add(self.slots[p], &self.val[p], d, e);
                } else {
                    add(self.slots[p], &super::kernel::matmul3(&k.s[i], &self.val[p]), d, e);
                }
            }
            add(self.own[i], &k.b[i], d, d);
        }
        for (link, slot) in k.links.iter().zip(links) {
            let column = [[link.f[0], 0.0, 0.0], [link.f[1], 0.0, 0.0], [0.0; 3]];
            add(slot, &column, self.rows[link.cone].d, 1);
        }
        self.lu.factor()
    }

    fn solve(&mut self, g: &mut [f64]) {
        self.lu.solve(g);
    }
}
