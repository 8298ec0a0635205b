//! The rate problem at one instant (METH-QS-RATE)
//!
//! All closed contacts held, the structure answers forces f and displacements d of the held rows J by
//!
//! ```text
//! ∂r/∂q v + Wᵀ λ̇ = f,     W_J v = d
//! ```
//!
//! One factorisation serves the load (f = −∂r/∂t, d = −w̃), unit slips n_j of the contacts at their limit, corrections of rounding, and forces at an opened
//! contact. The rate of what is left of each bound is linear in the slips: `w = A ṡ + b`.

use super::super::AnalysisError;
use super::super::linear::{Column, Hold, Linear, Way};
use crate::lcp::{Lcp, Solver};
use crate::linalg::{FullPivot, Lu, Mat, dot};
use crate::system::{ContactInfo, System};

/// Contacts at their limits at once of which all patterns are looked at.
pub(super) const MOST: usize = 12;
/// Rates this small beside the others have no sign.
const SIGN: f64 = 1e-9;

/// What the structure does.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// Velocities.
    pub v: Vec<f64>,
    /// Rates of the forces, per row.
    pub lambda: Vec<f64>,
    /// Rates of what is left of the bounds, per contact.
    pub left: Vec<f64>,
}

impl Answer {
    fn add(&mut self, s: f64, other: &Answer) {
        crate::linalg::axpy(s, &other.v, &mut self.v);
        crate::linalg::axpy(s, &other.lambda, &mut self.lambda);
        crate::linalg::axpy(s, &other.left, &mut self.left);
    }
}

/// The structure at an instant, all closed contacts held.
pub(super) struct Held {
    pivot: FullPivot,
    /// Rows held.
    rows: Vec<usize>,
    /// Direction of slip per contact, where it rubs.
    pub n: Vec<Option<[f64; 2]>>,
}

/// Slips of contacts at their limit, and what follows.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    /// Contacts that slip.
    pub slipping: Vec<usize>,
    /// Their speeds.
    pub speed: Vec<f64>,
    /// The whole answer.
    pub answer: Answer,
}

/// The rate problem of the contacts at their limits.
pub(super) struct Limit {
    /// Contacts.
    pub at: Vec<usize>,
    /// A, with friction and without.
    a: Mat,
    plain: Mat,
    b: Vec<f64>,
    /// The part of b without the change of the bounds.
    bare: Vec<f64>,
    base: Answer,
    unit: Vec<Answer>,
}

/// Direction in which the friction force of a contact is overcome.
pub(super) fn direction(c: &ContactInfo, lambda: &[f64]) -> Option<[f64; 2]> {
    let mut n = [0.0; 2];
    for (n, &row) in n.iter_mut().zip(&c.tangent) {
        *n = -lambda[row];
    }
    let size = n[0].hypot(n[1]);
    (size > 0.0).then(|| n.map(|n| n / size))
}

impl Held {
    /// At the state of `linear`, whose contacts are held.
    ///
    /// # Errors
    ///
    /// No derivatives.
    pub(super) fn new<S: System + ?Sized>(
        linear: &mut Linear<'_, S>,
        modes: &[Hold],
    ) -> Result<Held, AnalysisError> {
        let (n, rows) = (linear.dims.u, linear.held.clone());
        let mut a = Mat::zeros(n + rows.len(), n + rows.len());
        let mut column = Column::default();
        for k in 0..n {
            linear.column(Way::Position(k), &mut column)?;
            (0..n).for_each(|i| a[(i, k)] = column.force[i]);
        }
        for (j, &row) in rows.iter().enumerate() {
            for (k, w) in linear.eval.w.row(row).iter() {
                a[(k, n + j)] = w;
                a[(n + j, k)] = w;
            }
        }
        let mut pivot = FullPivot::default();
        pivot.factor(&a);
        // where there is no force the direction is the one that was decided
        let way = |(c, mode): (&ContactInfo, &Hold)| match mode {
            Hold::Open | Hold::Smooth => None,
            Hold::Stick => direction(c, &linear.lambda),
            Hold::Slide(d) => direction(c, &linear.lambda).or(Some(*d)),
        };
        let n = linear.info.iter().zip(modes).map(way).collect();
        Ok(Held { pivot, rows, n })
    }

    /// The answer to forces and displacements of rows, in the unit time or at a fixed time.
    ///
    /// # Errors
    ///
    /// Nothing holds against these forces.
    pub(super) fn answer<S: System + ?Sized>(
        &mut self,
        linear: &mut Linear<'_, S>,
        force: &[f64],
        displacement: impl Fn(usize) -> f64,
        time: f64,
    ) -> Result<Answer, AnalysisError> {
        let n = linear.dims.u;
        let rhs: Vec<f64> =
            force.iter().copied().chain(self.rows.iter().map(|&row| displacement(row))).collect();
        let mut x = vec![0.0; rhs.len()];
        if self.pivot.solve(&rhs, &[], &mut x) > 1e-7 {
            return Err(AnalysisError::SingularStiffness);
        }
        let v = x[..n].to_vec();
        let mut lambda = vec![0.0; linear.dims.rows];
        self.rows.iter().zip(&x[n..]).for_each(|(&row, x)| lambda[row] = *x);
        let mut left = linear.bound_rates(&v, time, &lambda)?;
        for (i, c) in linear.info.iter().enumerate() {
            if let Some(d) = self.n[i] {
                left[i] += c.tangent.iter().zip(d).map(|(&row, d)| d * lambda[row]).sum::<f64>();
            }
        }
        Ok(Answer { v, lambda, left })
    }

    /// The answer to the load that grows with time.
    pub(super) fn load<S: System + ?Sized>(
        &mut self,
        linear: &mut Linear<'_, S>,
    ) -> Result<Answer, AnalysisError> {
        let mut column = Column::default();
        linear.column(Way::Time, &mut column)?;
        let force: Vec<f64> = column.force.iter().map(|f| -f).collect();
        let offset = linear.eval.rate_offset.clone();
        self.answer(linear, &force, |row| -offset[row], 1.0)
    }

    /// The answer to a unit slip of contact `i`.
    fn slip<S: System + ?Sized>(
        &mut self,
        linear: &mut Linear<'_, S>,
        i: usize,
    ) -> Result<Answer, AnalysisError> {
        let (c, n) = (&linear.info[i], self.n[i].unwrap_or_default());
        let part = |row: usize| c.tangent.iter().position(|&t| t == row).map_or(0.0, |k| n[k]);
        let still = vec![0.0; linear.dims.u];
        self.answer(linear, &still, part, 0.0)
    }

    /// The problem of the contacts `at` their limits under a load whose answer is `base`.
    pub(super) fn limit<S: System + ?Sized>(
        &mut self,
        linear: &mut Linear<'_, S>,
        at: &[usize],
        base: Answer,
    ) -> Result<Limit, AnalysisError> {
        let unit = at.iter().map(|&i| self.slip(linear, i)).collect::<Result<Vec<_>, _>>()?;
        let m = at.len();
        let a = Mat::from_fn(m, m, |i, j| unit[j].left[at[i]]);
        let along = |i: usize, answer: &Answer| {
            let (c, n) = (&linear.info[at[i]], self.n[at[i]].unwrap_or_default());
            c.tangent.iter().zip(n).map(|(&row, n)| n * answer.lambda[row]).sum::<f64>()
        };
        let plain = Mat::from_fn(m, m, |i, j| along(i, &unit[j]));
        let bare = (0..m).map(|i| along(i, &base)).collect();
        let b = at.iter().map(|&i| base.left[i]).collect();
        Ok(Limit { at: at.to_vec(), a, plain, b, bare, base, unit })
    }
}

impl Limit {
    /// With these contacts slipping (numbers into `at`), the bounds of the others not looked at; `extra` is what is left of the bounds already.
    pub(super) fn slipping(&self, set: &[usize], extra: &[f64]) -> Option<Rates> {
        let m = set.len();
        let part = Mat::from_fn(m, m, |i, j| self.a[(set[i], set[j])]);
        let mut speed: Vec<f64> =
            set.iter().map(|&i| -self.b[i] - extra.get(i).copied().unwrap_or(0.0)).collect();
        let mut lu = Lu::default();
        if m > 0 {
            if lu.factor(&part) < 1e-14 {
                return None;
            }
            lu.solve(&mut speed);
        }
        let mut answer = self.base.clone();
        set.iter().zip(&speed).for_each(|(&j, s)| answer.add(*s, &self.unit[j]));
        Some(Rates { slipping: set.iter().map(|&i| self.at[i]).collect(), speed, answer })
    }

    /// All patterns of slip that obey the laws: a contact slips forwards, or what is left of its bound does not fall. `slips` and
    /// `sticks`: contacts of which it is known.
    pub(super) fn all(&self, slips: &[usize], sticks: &[usize]) -> Vec<Rates> {
        let m = self.at.len();
        if m > MOST {
            return self.one_by_pivots().into_iter().collect();
        }
        let mut out: Vec<Rates> = Vec::new();
        for pattern in 0..1_usize << m {
            let set: Vec<usize> = (0..m).filter(|k| pattern & (1 << k) != 0).collect();
            let known = |k: usize| match set.contains(&k) {
                true => !sticks.contains(&self.at[k]),
                false => !slips.contains(&self.at[k]),
            };
            if !(0..m).all(known) {
                continue;
            }
            let Some(found) = self.slipping(&set, &[]) else { continue };
            let size = self.b.iter().fold(0.0_f64, |s, b| s.max(b.abs()));
            let fast = found.speed.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
            let forwards = found.speed.iter().all(|s| *s >= -SIGN * fast);
            let holds = |k: usize| set.contains(&k) || found.answer.left[self.at[k]] >= -SIGN * size;
            if !(forwards && (0..m).all(holds)) {
                continue;
            }
            // a slip of nothing is stick
            let far = |r: &Rates| {
                let size = dot(&found.answer.v, &found.answer.v).max(dot(&r.answer.v, &r.answer.v));
                let apart: f64 = r.answer.v.iter().zip(&found.answer.v).map(|(a, b)| (a - b).powi(2)).sum();
                apart > 1e-12 * size
            };
            if out.iter().all(far) {
                out.push(found);
            }
        }
        out
    }

    /// One pattern by complementary pivots; the only one where A is a P-matrix.
    fn one_by_pivots(&self) -> Option<Rates> {
        let mut lcp = Solver::default();
        if !lcp.solve(Lcp::new(&self.a, &self.b)).is_solved() {
            return None;
        }
        let fast = lcp.z.iter().fold(0.0_f64, |s, v| s.max(v.abs()));
        let set: Vec<usize> = (0..self.at.len()).filter(|&k| lcp.z[k] > SIGN * fast).collect();
        self.slipping(&set, &[])
    }

    /// Whether the load changes what is left of the bounds by nothing but a small part of its terms.
    pub(super) fn is_flat(&self) -> bool {
        let size = |k: usize| self.bare[k].abs() + (self.b[k] - self.bare[k]).abs();
        (0..self.b.len()).all(|k| self.b[k].abs() <= 1e-3 * size(k))
    }

    /// Smallest principal minor of A, each beside that of the structure without the change of normal forces: 1 without friction, 0 where the
    /// answer to some load is no longer one.
    pub(super) fn margin(&self) -> f64 {
        self.margin_at(1.0)
    }

    /// The same with all friction multiplied by a factor.
    fn margin_at(&self, factor: f64) -> f64 {
        // no slip changes a normal force
        if self.a.as_slice() == self.plain.as_slice() {
            return 1.0;
        }
        let m = self.at.len().min(MOST);
        let minor = |a: &dyn Fn(usize, usize) -> f64, set: &[usize]| {
            let mut lu = Lu::default();
            lu.factor(&Mat::from_fn(set.len(), set.len(), |i, j| a(set[i], set[j])));
            lu.det()
        };
        let with = |i: usize, j: usize| self.plain[(i, j)] + factor * (self.a[(i, j)] - self.plain[(i, j)]);
        (1..1_usize << m)
            .map(|pattern| {
                let set: Vec<usize> = (0..m).filter(|k| pattern & (1 << k) != 0).collect();
                minor(&with, &set) / minor(&|i, j| self.plain[(i, j)], &set)
            })
            .fold(1.0, f64::min)
    }

    /// The factor on all friction at which the margin vanishes, up to a thousand; infinite if there is none.
    pub(super) fn factor(&self) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while self.margin_at(high) > 0.0 {
            (low, high) = (high, 2.0 * high);
            if high > 1000.0 {
                return f64::INFINITY;
            }
        }
        while high - low > 1e-15 * high {
            let middle = 0.5 * (low + high);
            if middle == low || middle == high {
                break;
            }
            if self.margin_at(middle) > 0.0 { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }
}
