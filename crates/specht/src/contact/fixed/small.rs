//! Frozen modes in the small: rows that slip at their bound or carry nothing while the others hold the motion, and the forces of
//! compliant rows ([`crate::contact::Small`]).

use super::{DEPENDENT, Fixed};
use crate::contact::{Forces, Small};
use crate::linalg::{axpy, dot};
use crate::system::{ContactInfo, Eval, Mode, Normal};

impl Fixed {
    /// From now on contacts slip in the small, or carry nothing, as `small` says (empty: none does), as far as the other rows
    /// (bilateral rows, closed normals, sticking tangents, in this order) hold what they held. [`Fixed::follow`] ends that.
    pub(crate) fn share(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode], small: &[Small]) {
        self.small.clear();
        if small.iter().all(|s| *s == Small::Holds) {
            return;
        }
        self.small.extend_from_slice(small);
        self.choose_rows(info, eval, modes);
        if !self.mass.factor_tree(&eval.mass, &eval.tree, &eval.w, &self.bilateral) {
            return self.small.clear();
        }
        // orthonormal basis of the rows in the metric of M⁻¹, row after row, those in question last
        let held = self.rows.len();
        for (i, c) in info.iter().enumerate() {
            if let (Small::Slack, Normal::Unilateral { row }) = (small[i], c.normal) {
                self.rows.push(row);
            }
        }
        for (i, c) in info.iter().enumerate() {
            if matches!(small[i], Small::Slips { .. }) {
                self.rows.push(c.tangent[0]);
            }
        }
        self.kept.reshape(self.rows.len(), eval.mass.size());
        let mut count = 0;
        for k in 0..self.rows.len() {
            eval.w.row(self.rows[k]).store(&mut self.t);
            self.mass.forward(&mut self.t);
            let own = dot(&self.t, &self.t);
            for _ in 0..2 {
                for j in 0..count {
                    let along = dot(self.kept.row(j), &self.t);
                    axpy(-along, self.kept.row(j), &mut self.t);
                }
            }
            let rest = dot(&self.t, &self.t);
            if rest <= DEPENDENT * own {
                continue;
            }
            let length = rest.sqrt();
            for (to, from) in self.kept.row_mut(count).iter_mut().zip(&self.t) {
                *to = from / length;
            }
            count += 1;
            // a row that nothing else replaces is held
            if k >= held
                && let Some(i) = info.iter().position(|c| owns(c, self.rows[k]))
            {
                self.small[i] = Small::Holds;
            }
        }
    }

    /// What contacts do in the small; empty: all hold.
    pub(crate) fn small(&self) -> &[Small] {
        &self.small
    }

    pub(super) fn does(&self, i: usize) -> Small {
        self.small.get(i).copied().unwrap_or_default()
    }

    /// How far contacts that carry nothing are from carrying again, in `excess`: the force that their opening in the small takes to close,
    /// positive while it is open. After [`Fixed::solve`].
    pub(crate) fn openings(&mut self, info: &[ContactInfo], eval: &Eval, excess: &mut [f64]) {
        for i in 0..self.small.len() {
            if let (Small::Slack, Normal::Unilateral { row }) = (self.small[i], info[i].normal) {
                excess[i] = -self.beneath(eval, row);
            }
        }
    }

    /// How far contacts that slip in the small are from holding again, in `excess`: what a hold would carry beyond the bound, positive
    /// while they slip on. `eval` is a moment later than the forces `now`; the work is done in `trial`.
    pub(crate) fn overload(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        signs: &[f64],
        now: &mut Forces,
        trial: &mut Forces,
        excess: &mut [f64],
    ) {
        std::mem::swap(&mut self.reference, &mut now.lambda);
        for i in 0..self.small.len() {
            let small = self.small[i];
            if let Small::Slips { side } = small {
                self.small[i] = Small::Holds;
                // without friction it never holds
                excess[i] = 1.0;
                if eval.mu_static[i] > 0.0 && self.solve(info, eval, modes, signs, trial).solved {
                    excess[i] = side * trial.tangential[i] - trial.bound[i];
                }
                self.small[i] = small;
            }
        }
        std::mem::swap(&mut self.reference, &mut now.lambda);
    }

    // The force of a slack row if its spring could pull: it has followed the other rows since the reference, w = Σ c w_C.
    fn beneath(&mut self, eval: &Eval, row: usize) -> f64 {
        let m = self.rows.len();
        eval.w.row(row).store(&mut self.t);
        self.mass.forward(&mut self.t);
        self.gram.reshape(m, m);
        self.unit.clear();
        for i in 0..m {
            for j in 0..m {
                self.gram[(i, j)] = dot(self.y.row(i), self.y.row(j));
            }
            self.unit.push(dot(self.y.row(i), &self.t));
        }
        self.left.factor(&self.gram);
        self.near.clear();
        self.near.resize(m, 0.0);
        self.left.solve(&self.unit, &[], &mut self.near);
        let start = |r: usize| self.reference.get(r).copied().unwrap_or(0.0);
        start(row) + (0..m).map(|k| self.near[k] * (self.lambda[k] - start(self.rows[k]))).sum::<f64>()
    }

    // move λ within the solutions from the nearest to that with ℓᵀ(λ − reference) = 0
    pub(super) fn incline(&mut self) {
        let m = self.rows.len();
        self.transposed.reshape(m, m);
        for i in 0..m {
            for j in 0..m {
                self.transposed[(i, j)] = self.a[(j, i)];
            }
        }
        self.left.factor(&self.transposed);
        let (null, left) = (self.rank.null(), self.left.null());
        let k = null.rows();
        if left.rows() != k {
            return;
        }
        self.gram.reshape(k, k);
        self.pin_f.clear();
        for i in 0..k {
            for j in 0..k {
                self.gram[(i, j)] = dot(left.row(i), null.row(j));
            }
            let before = if self.near.is_empty() { 0.0 } else { dot(left.row(i), &self.near) };
            self.pin_f.push(before - dot(left.row(i), &self.lambda));
        }
        self.pin_rank.factor(&self.gram);
        self.unit.clear();
        self.unit.resize(k, 0.0);
        self.pin_rank.solve(&self.pin_f, &[], &mut self.unit);
        for j in 0..k {
            axpy(self.unit[j], null.row(j), &mut self.lambda);
        }
    }
}

// whether a row is the normal or the tangent of a contact
fn owns(c: &ContactInfo, row: usize) -> bool {
    c.tangent.first() == Some(&row) || matches!(c.normal, Normal::Unilateral { row: r } if r == row)
}
