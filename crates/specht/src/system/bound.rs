//! Rows of a contact, its normal force, and the bound of its friction
//!
//! ```text
//! |λ_T| ≤ μ |N| (bilateral), μ max(0, N) (else),     N = n₀ + Σ c_j N_j,     N_j = λ_N, or |(λ_1, λ_2)| of a pin
//! ```
//!
//! A contact with a normal force of its own bounds itself: n₀ = 0, one term with c = 1. A given one has n₀ = [`Eval::load`]
//! ([`Eval::load_static`] at stick) and the terms [`ContactInfo::load_on`] with c in [`Eval::load_terms`].

use super::{ContactInfo, Eval, Normal, Section};
use std::slice::from_ref;

impl ContactInfo {
    /// May open: 0 ≤ g ⊥ λ_N ≥ 0.
    pub(crate) fn is_unilateral(&self) -> bool {
        matches!(self.normal, Normal::Unilateral { .. })
    }

    /// Never opens: a bilateral contact or a pin.
    pub(crate) fn is_bilateral(&self) -> bool {
        matches!(self.normal, Normal::Bilateral { .. } | Normal::Pin { .. } | Normal::Ball { .. })
    }

    /// The normal force is a given function.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self.normal, Normal::Given { .. })
    }

    /// Directions with a normal force of their own: two of a pin, none of a given contact.
    pub(crate) fn normal_rows(&self) -> &[usize] {
        match &self.normal {
            Normal::Unilateral { row } | Normal::Bilateral { row } => from_ref(row),
            Normal::Pin { rows } => rows,
            Normal::Ball { rows } => rows,
            Normal::Given { .. } => &[],
        }
    }

    /// Directions with a gap: the same, and that of an elastic flank.
    pub(crate) fn gap_rows(&self) -> &[usize] {
        match &self.normal {
            Normal::Given { row: Some(row) } => from_ref(row),
            _ => self.normal_rows(),
        }
    }

    /// The direction of the gap, when there is exactly one.
    pub(crate) fn normal_row(&self) -> Option<usize> {
        match *self.gap_rows() {
            [row] => Some(row),
            _ => None,
        }
    }

    /// All directions: gaps, then tangents.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        self.gap_rows().iter().chain(&self.tangent).copied()
    }

    /// Normal force of its own at the forces `lambda` per row: signed, the norm for a pin, 0 for a given contact.
    pub(crate) fn normal_force(&self, lambda: &[f64]) -> f64 {
        length(self.normal_rows(), lambda)
    }

    /// Force along the first tangent at the forces `lambda` per row.
    pub(crate) fn tangential_force(&self, lambda: &[f64]) -> f64 {
        self.tangent.first().map_or(0.0, |&row| lambda[row])
    }

    /// Gap (a pin: its distance) from those of all rows.
    pub(crate) fn gap(&self, gaps: &[f64]) -> f64 {
        length(self.gap_rows(), gaps)
    }
}

fn length(rows: &[usize], x: &[f64]) -> f64 {
    match *rows {
        [a] => x[a],
        [a, b] => x[a].hypot(x[b]),
        [a, b, c] => x[a].hypot(x[b]).hypot(x[c]),
        _ => 0.0,
    }
}

impl Eval {
    /// The section of the friction of contact `i`.
    pub(crate) fn section(&self, i: usize) -> Section {
        self.sections.get(i).copied().unwrap_or_default()
    }

    /// The section of contact `i` at the forces `lambda` per row.
    pub(crate) fn section_at(&self, info: &[ContactInfo], i: usize, lambda: &[f64]) -> Section {
        let section = self.section(i);
        match section.follows_normal() {
            true => section.under(self.bound_force(info, i, true, 1.0, lambda).abs()),
            false => section,
        }
    }

    /// Size of the friction force of contact `i` at the forces `lambda` per row, to be compared with its bound.
    pub(crate) fn friction_size(&self, info: &[ContactInfo], i: usize, lambda: &[f64]) -> f64 {
        match *info[i].tangent.as_slice() {
            [] => 0.0,
            [a] => lambda[a].abs(),
            [a, b] => self.section(i).size([lambda[a], lambda[b], 0.0]),
            [a, b, c, ..] => self.section_at(info, i, lambda).size([lambda[a], lambda[b], lambda[c]]),
        }
    }

    /// n₀ of contact `i`, at slip or at stick.
    pub(crate) fn bound_given(&self, i: usize, sticks: bool) -> f64 {
        if sticks { self.load_static[i] } else { self.load[i] }
    }

    /// Whether contact `i` cannot rub here: no coefficient of friction, or a given load of nothing.
    pub(crate) fn is_smooth(&self, info: &[ContactInfo], i: usize) -> bool {
        let unloaded = info[i].is_given() && info[i].load_on.is_empty();
        let none = |mu: f64, load: f64| mu == 0.0 || (unloaded && load <= 0.0);
        none(self.mu[i], self.load[i]) && none(self.mu_static[i], self.load_static[i])
    }

    /// (j, c_j) of contact `i`.
    pub(crate) fn bound_terms<'a>(
        &'a self,
        info: &'a [ContactInfo],
        i: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let c = &info[i];
        let own = (!c.is_given()).then_some((i, 1.0));
        own.into_iter().chain(c.load_on.iter().enumerate().map(|(k, &j)| (j, self.load_terms[c.load_at + k])))
    }

    /// N of contact `i` at the forces `lambda` per row. `given` multiplies n₀: 1 for forces, Δ for the impulses of a step, 0 where
    /// given loads do not count.
    pub(crate) fn bound_force(
        &self,
        info: &[ContactInfo],
        i: usize,
        sticks: bool,
        given: f64,
        lambda: &[f64],
    ) -> f64 {
        // a load of −0 is a load of 0
        let constant = 0.0 + given * self.bound_given(i, sticks);
        let c = &info[i];
        let own = if c.is_given() { constant } else { constant + c.normal_force(lambda) };
        let others = c.load_on.iter().zip(self.load_terms.get(c.load_at..).unwrap_or_default());
        others.fold(own, |n, (&j, term)| n + term * info[j].normal_force(lambda))
    }
}
