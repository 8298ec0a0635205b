//! Rows and mass matrix of a step as the sparse matrices of a cone problem, without entries that were never different from zero: the
//! pattern tells the cone solver which bodies touch.

use std::sync::Arc;

use crate::cone::Sparse;
use crate::linalg::{Pattern, Row, Rows, Symmetric, power_of_two};

/// Columns that were ever different from zero, so that the pattern stays when an entry passes through zero.
pub(super) fn fill_row(m: &mut Sparse, row: Row<'_>, columns: &mut Vec<usize>, factor: f64) {
    let mut next = 0;
    for (k, v) in row.iter() {
        let known = columns.get(next) == Some(&k);
        if !known && v != 0.0 {
            columns.insert(next, k);
        }
        if known || v != 0.0 {
            m.push(k, v * factor);
            next += 1;
        }
    }
    m.end_row();
}

/// A unit of mass for contact problems: what the row that is moved most easily feels, `1 / max w M⁻¹ wᵀ` (M by its diagonal), as a power of two so that
/// digits stay. Impulses in this unit are of the size of velocities whatever the units of the file: one measure of error compares the two.
pub(super) fn mass_unit(mass: &Symmetric, w: &Rows, rows: impl Iterator<Item = usize>) -> f64 {
    let part = |(j, v): (usize, f64)| if mass.diagonal(j) > 0.0 { v * v / mass.diagonal(j) } else { 0.0 };
    let softest = rows.fold(0.0_f64, |m, row| m.max(w.row(row).iter().map(part).sum()));
    if softest > 0.0 {
        return power_of_two(1.0 / softest);
    }
    power_of_two((0..mass.size()).fold(0.0_f64, |m, i| m.max(mass.diagonal(i))))
}

/// A symmetric matrix written out row by row, without entries that were never different from zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Whole {
    pattern: Option<Arc<Pattern>>,
    /// Columns and places of every row.
    rows: Vec<Vec<(u32, u32)>>,
    seen: Vec<bool>,
    full: bool,
}

impl Whole {
    /// With all entries of the pattern: bodies at rest turn by rounding, one axis after the other, and every new pattern would be analysed anew.
    pub(super) fn full() -> Self {
        Whole { full: true, ..Whole::default() }
    }

    pub(super) fn fill(&mut self, a: &Symmetric, factor: f64, to: &mut Sparse) {
        let pattern = a.pattern();
        if !self.pattern.as_ref().is_some_and(|p| Arc::ptr_eq(p, pattern)) {
            self.rows.clear();
            self.rows.resize(a.size(), Vec::new());
            for i in 0..a.size() {
                for (n, &j) in pattern.row(i).iter().enumerate() {
                    let place = (pattern.first(i) + n) as u32;
                    self.rows[i].push((j, place));
                    if (j as usize) < i {
                        self.rows[j as usize].push((i as u32, place));
                    }
                }
            }
            self.seen.clear();
            self.seen.resize(pattern.len(), self.full);
            self.pattern = Some(pattern.clone());
        }
        for (seen, v) in self.seen.iter_mut().zip(a.values()) {
            *seen |= *v != 0.0;
        }
        to.reset(a.size());
        for row in &self.rows {
            for &(k, place) in row.iter().filter(|x| self.seen[x.1 as usize]) {
                to.push(k as usize, a.values()[place as usize] * factor);
            }
            to.end_row();
        }
    }
}
