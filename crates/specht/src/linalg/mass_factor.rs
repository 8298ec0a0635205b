//! The factor `M = L Lᵀ`, also when massless parts make M singular.
//!
//! With the bilateral rows B (`B v = −β` always holds) the equations of motion may be written with
//! `M + Bᵀ R B` instead of M and `f − Bᵀ R β` instead of f, for any diagonal R > 0: the added terms cancel on every
//! solution, the multipliers stay the same, and the new matrix is positive definite whenever M is definite on the
//! kernel of B. R makes the added part as large as the mass matrix itself. It is used as soon as a pivot of M falls below 1e-7 of
//! its diagonal: such a pivot may be nothing but rounding.

use std::sync::Arc;

use super::{Cholesky, Pattern, Rows, SparseCholesky, Symmetric, TreeFactor, TreeMass};

/// Pivots below this, relative to their diagonal, may be rounding alone: what follows a pivot of size δ has an error of
/// 10⁻¹⁶/δ.
const NOISE: f64 = 1e-7;

/// Below this size a factor is dense, and above when it would be a quarter full.
const SMALL: usize = 24;

/// Which factor is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Dense,
    Sparse,
    Tree,
}

/// A Cholesky factor `M = F Fᵀ`, or of M augmented by bilateral rows: dense, or sparse where that saves work.
#[derive(Clone, Debug, Default)]
pub(crate) struct MassFactor {
    dense: Cholesky,
    sparse: SparseCholesky,
    tree: TreeFactor,
    kind: Kind,
    /// M of a tree whose own factor does not serve.
    whole: Symmetric,
    augmented: Symmetric,
    /// For which mass matrix and rows the pattern of `augmented` was made.
    joined: Option<(Arc<Pattern>, Vec<usize>)>,
    weight: Vec<f64>,
    /// The mass matrix whose plain factor is held, if any: many systems have a constant one.
    known: Symmetric,
    held: bool,
    /// Whether every pivot of the plain factor is well above rounding.
    clear: bool,
    /// Factorisations so far.
    pub count: u64,
}

impl MassFactor {
    /// As [`MassFactor::factor`], along the tree of bodies where there is one: `mass` may then hold its diagonal alone.
    pub(crate) fn factor_tree(
        &mut self,
        mass: &Symmetric,
        tree: &TreeMass,
        w: &Rows,
        rows: &[usize],
    ) -> bool {
        if tree.shape.is_none() {
            return self.factor(mass, w, rows);
        }
        self.weight.clear();
        self.count += 1;
        let least = self.tree.factor(tree);
        if least.is_some_and(|least| rows.is_empty() || least > NOISE) {
            self.held = false;
            self.kind = Kind::Tree;
            return true;
        }
        let mut whole = std::mem::take(&mut self.whole);
        if !Arc::ptr_eq(whole.pattern(), mass.pattern()) {
            whole = Symmetric::on(mass.pattern().clone());
        }
        tree.write(&mut whole);
        let done = self.factor(&whole, w, rows);
        self.whole = whole;
        done
    }

    /// Factor; `rows` are the bilateral rows of `w`. False when M is not definite on their kernel.
    pub(crate) fn factor(&mut self, mass: &Symmetric, w: &Rows, rows: &[usize]) -> bool {
        self.weight.clear();
        let n = mass.size();
        if !(self.held && self.known == *mass) {
            self.held = self.decompose(mass);
            self.known.clone_from(mass);
            // an exactly singular M may pass by rounding: its last pivot is then noise
            self.clear = self.held && self.smallest_pivot(mass) > NOISE;
        }
        if self.held && (rows.is_empty() || self.clear) {
            return true;
        }
        self.held = false;
        let trace: f64 = (0..n).map(|i| mass.diagonal(i)).sum();
        let size = if trace > 0.0 { trace / n as f64 } else { 1.0 };
        self.join(mass, w, rows);
        for &r in rows {
            let row = w.row(r);
            let norm = row.square();
            let k = if norm > 0.0 { size / norm } else { 0.0 };
            self.weight.push(k);
            for (i, a) in row.iter().filter(|x| k * x.1 != 0.0) {
                for (j, b) in row.iter().take_while(|x| x.0 <= i) {
                    self.augmented[(i, j)] += k * a * b;
                }
            }
        }
        let augmented = std::mem::take(&mut self.augmented);
        let done = self.decompose(&augmented);
        self.augmented = augmented;
        done
    }

    /// A copy of M with room for the products of rows.
    fn join(&mut self, mass: &Symmetric, w: &Rows, rows: &[usize]) {
        let n = mass.size();
        let known = self.joined.as_ref().is_some_and(|(p, r)| Arc::ptr_eq(p, mass.pattern()) && r == rows);
        if !known {
            let mut lists: Vec<Vec<usize>> =
                (0..n).map(|i| mass.pattern().row(i).iter().map(|&k| k as usize).collect()).collect();
            for &r in rows {
                for (i, _) in w.row(r).iter() {
                    lists[i].extend(w.row(r).iter().map(|x| x.0).take_while(|&j| j <= i));
                }
            }
            self.augmented = Symmetric::on(Arc::new(Pattern::new(n, lists)));
            self.joined = Some((mass.pattern().clone(), rows.to_vec()));
        }
        let pattern = self.augmented.pattern().clone();
        self.augmented.values_mut().fill(0.0);
        for i in 0..n {
            for (j, v) in mass.lower_row(i).iter() {
                if let Some(place) = pattern.find(i, j) {
                    self.augmented.values_mut()[place] = v;
                }
            }
        }
    }

    fn decompose(&mut self, a: &Symmetric) -> bool {
        self.count += 1;
        let n = a.size();
        let sparse = n > SMALL && 4 * self.sparse.entries(a.pattern()) < n * n;
        self.kind = if sparse { Kind::Sparse } else { Kind::Dense };
        match sparse {
            true => self.sparse.factor(a).is_ok(),
            false => self.dense.factor_symmetric(a).is_ok(),
        }
    }

    /// The smallest pivot, relative to its diagonal entry.
    fn smallest_pivot(&self, a: &Symmetric) -> f64 {
        if self.kind == Kind::Sparse {
            return self.sparse.smallest_pivot(a);
        }
        let l = self.dense.factor_matrix();
        (0..a.size()).map(|i| l[(i, i)] * l[(i, i)] / a.diagonal(i)).fold(f64::INFINITY, f64::min)
    }

    /// `b ← F⁻¹ b`.
    #[inline]
    pub(crate) fn forward(&mut self, b: &mut [f64]) {
        match self.kind {
            Kind::Dense => self.dense.forward(b),
            Kind::Sparse => self.sparse.forward(b),
            Kind::Tree => self.tree.forward(b),
        }
    }

    /// `b ← F⁻ᵀ b`.
    #[inline]
    pub(crate) fn backward(&mut self, b: &mut [f64]) {
        match self.kind {
            Kind::Dense => self.dense.backward(b),
            Kind::Sparse => self.sparse.backward(b),
            Kind::Tree => self.tree.backward(b),
        }
    }

    /// Solve `M x = b` in place.
    #[inline]
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        match self.kind {
            Kind::Dense => self.dense.solve(b),
            Kind::Sparse => {
                self.sparse.forward(b);
                self.sparse.backward(b);
            }
            Kind::Tree => {
                self.tree.forward(b);
                self.tree.backward(b);
            }
        }
    }

    /// The matrix that was factored: `mass` itself, or the one with rows added.
    pub(crate) fn matrix<'a>(&'a self, mass: &'a Symmetric) -> &'a Symmetric {
        if self.weight.is_empty() { mass } else { &self.augmented }
    }

    /// `f ← f − Bᵀ R β` where rows were added; `offset[r]` is β of row r of `w`.
    pub(crate) fn correct(&self, w: &Rows, rows: &[usize], offset: &[f64], f: &mut [f64]) {
        for (&r, &k) in rows.iter().zip(&self.weight) {
            w.row(r).add_to(-k * offset[r], f);
        }
    }
}
