//! Cholesky factor of a sparse symmetric matrix, eliminated from the last row to the first: `A = Lᵀ L`.
//!
//! In the order of a tree of bodies (every body after the one that carries it) this elimination creates no new entry: row k of L
//! has entries at the ancestors of k alone (Featherstone 2008, section 6.5). For other patterns the new entries are found once, when the
//! pattern is first seen.

use std::sync::Arc;

use super::rows::{Pattern, Symmetric};

/// A pivot must exceed this fraction of its diagonal entry.
const PIVOT: f64 = 1e-13;

/// The factor `A = Lᵀ L`, storage and analysis kept between uses.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseCholesky {
    /// The pattern that was analysed.
    source: Option<Arc<Pattern>>,
    /// Its closure: if row k has the columns i > j, row i has the column j.
    pattern: Pattern,
    /// Place in the factor of every entry of the matrix.
    place: Vec<u32>,
    value: Vec<f64>,
    inverse: Vec<f64>,
}

impl SparseCholesky {
    fn analyse(&mut self, source: &Arc<Pattern>) {
        if self.source.as_ref().is_some_and(|s| Arc::ptr_eq(s, source) || s == source) {
            return;
        }
        let n = source.rows();
        let mut rows: Vec<Vec<usize>> =
            (0..n).map(|i| source.row(i).iter().map(|&k| k as usize).collect()).collect();
        // below the diagonal, what a row shares with its largest column goes there
        for k in (0..n).rev() {
            rows[k].sort_unstable();
            rows[k].dedup();
            let below: Vec<usize> = rows[k].iter().copied().filter(|&j| j < k).collect();
            if let Some((&parent, rest)) = below.split_last() {
                rows[parent].extend_from_slice(rest);
            }
        }
        self.pattern = Pattern::new(n, rows);
        self.place.clear();
        for i in 0..n {
            let found = source.row(i).iter().filter_map(|&j| self.pattern.find(i, j as usize));
            self.place.extend(found.map(|p| p as u32));
        }
        self.source = Some(source.clone());
    }

    /// Number of entries of the factor of a matrix with this pattern.
    pub(crate) fn entries(&mut self, source: &Arc<Pattern>) -> usize {
        self.analyse(source);
        self.pattern.len()
    }

    /// Factor. `Err(k)` names the first pivot that is not positive relative to the diagonal entry.
    pub(crate) fn factor(&mut self, a: &Symmetric) -> Result<(), usize> {
        self.analyse(a.pattern());
        let n = a.size();
        self.value.clear();
        self.value.resize(self.pattern.len(), 0.0);
        for (&place, &v) in self.place.iter().zip(a.values()) {
            self.value[place as usize] = v;
        }
        self.inverse.clear();
        self.inverse.resize(n, 0.0);
        for k in (0..n).rev() {
            let (first, columns) = (self.pattern.first(k), self.pattern.row(k));
            let last = columns.len() - 1;
            let (before, rest) = self.value.split_at_mut(first);
            let row = &mut rest[..=last];
            let d = row[last];
            if d.is_nan() || d <= PIVOT * a.diagonal(k).abs() {
                return Err(k);
            }
            let root = d.sqrt();
            row[last] = root;
            self.inverse[k] = 1.0 / root;
            for v in &mut row[..last] {
                *v *= self.inverse[k];
            }
            // A_ij ← A_ij − L_ki L_kj for the columns i ≥ j of row k; row i contains them all
            for i in (0..last).rev() {
                let column = columns[i] as usize;
                let f = row[i];
                if f == 0.0 {
                    continue;
                }
                let (start, target) = (self.pattern.first(column), self.pattern.row(column));
                let to = &mut before[start..start + target.len()];
                if target.len() == i + 1 {
                    for (t, v) in to.iter_mut().zip(&row[..=i]) {
                        *t -= f * v;
                    }
                    continue;
                }
                let mut at = 0;
                for (c, v) in columns[..=i].iter().zip(&row[..=i]) {
                    while target[at] < *c {
                        at += 1;
                    }
                    to[at] -= f * v;
                }
            }
        }
        Ok(())
    }

    /// The smallest pivot, relative to the diagonal of `a`.
    pub(crate) fn smallest_pivot(&self, a: &Symmetric) -> f64 {
        let pivot = |i: usize| 1.0 / (self.inverse[i] * self.inverse[i] * a.diagonal(i));
        (0..a.size()).map(pivot).fold(f64::INFINITY, f64::min)
    }

    /// `b ← L⁻ᵀ b`: the first half of a solution.
    pub(crate) fn forward(&self, b: &mut [f64]) {
        for k in (0..b.len()).rev() {
            let x = b[k] * self.inverse[k];
            b[k] = x;
            if x != 0.0 {
                self.below(k).for_each(|(j, v)| b[j] -= v * x);
            }
        }
    }

    /// `b ← L⁻¹ b`: the second half.
    pub(crate) fn backward(&self, b: &mut [f64]) {
        for k in 0..b.len() {
            let sum: f64 = self.below(k).map(|(j, v)| v * b[j]).sum();
            b[k] = (b[k] - sum) * self.inverse[k];
        }
    }

    /// Entries of row `k` before the diagonal.
    fn below(&self, k: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (first, columns) = (self.pattern.first(k), self.pattern.row(k));
        let columns = &columns[..columns.len() - 1];
        columns.iter().zip(&self.value[first..]).map(|(&j, &v)| (j as usize, v))
    }
}
