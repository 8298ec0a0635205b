//! Friction tensors of planar contacts, evaluated at a state (VAG-1-TENSOR, VAG-2-ROD).
//!
//! ```text
//! F = −|λ| Pᵀ Φ v/|v|,   v = (γ, 0) at a closed contact     ⇒   friction acts along  w_T + s w_N,   s = φ_nt/φ_tt     (12)
//! ```
//!
//! The row of the tangent is replaced by the leaning one. A closed contact has ġ_N = g̈_N = 0, so slip and its rate along the
//! leaning row are those along w_T. The regular tensor of a coefficient μ has
//!
//! ```text
//! s = −Q_nt/Q_nn,   Q = W M⁻¹ Wᵀ with every ideal joint held,      Φ = μ [[1, −s], [s, 0]]                          (13)
//! ```
//!
//! so that w_N M⁻¹ (w_T + s w_N)ᵀ = 0: the friction force does not reach the reaction. `s` follows the state at every evaluation.

use crate::contact::Reduced;
use crate::expr::{Tape, Work};
use crate::linalg::Symmetric;
use crate::system::Eval;

/// A contact with a tensor.
#[derive(Clone, Debug)]
pub(super) struct TensorPlan {
    /// Contact of the system.
    pub contact: usize,
    /// Rows of its normal and tangent.
    pub rows: [usize; 2],
    /// Outputs of the main tape with φ_tt, φ_tn, φ_nt, φ_nn; `None`: the regular tensor of the coefficient.
    pub entries: Option<[u32; 4]>,
}

/// All tensors of a system.
#[derive(Clone, Debug, Default)]
pub(super) struct Tensors {
    pub list: Vec<TensorPlan>,
    /// Rows of ideal joints: held when the regular tensor is built.
    pub ideal: Vec<usize>,
    /// Normal and tangent of every contact with a regular tensor.
    pub regular: Vec<usize>,
}

impl Tensors {
    pub(super) fn new(list: Vec<TensorPlan>, ideal: Vec<usize>) -> Self {
        let regular = list.iter().filter(|p| p.entries.is_none()).flat_map(|p| p.rows).collect();
        Tensors { list, ideal, regular }
    }

    /// Fill [`Eval::tensor`] and [`Eval::lean`] and lean the tangents. Everything else of `out` is in place.
    pub(super) fn apply(&self, tape: &Tape, work: &Work, elimination: &mut Reduced, out: &mut Eval) {
        let contacts = out.mu.len();
        out.tensor.clear();
        out.tensor.resize(contacts, [0.0; 4]);
        out.lean.clear();
        out.lean.resize(contacts, 0.0);
        let solved = self.regular.is_empty() || {
            let Eval { mass, h, w, accel_offset, .. } = out;
            elimination.eliminate(mass, h, w, accel_offset, &self.ideal, &self.regular)
        };
        let mut next = 0;
        for plan in &self.list {
            let c = plan.contact;
            (out.lean[c], out.tensor[c]) = match plan.entries {
                Some(entries) => {
                    let phi = entries.map(|r| tape.output(work, r as usize));
                    (share(phi), phi)
                }
                None => {
                    let (q, n) = (&elimination.h, next);
                    next += 2;
                    // a normal that the joints block entirely: no force along it moves anything
                    let s = match solved {
                        false => f64::NAN,
                        true if q[(n, n)] <= 0.0 => 0.0,
                        true => -q[(n, n + 1)] / q[(n, n)],
                    };
                    (s, [out.mu[c], -out.mu[c] * s, out.mu[c] * s, 0.0])
                }
            };
        }
        for plan in &self.list {
            let (s, [n, t]) = (out.lean[plan.contact], plan.rows);
            for k in 0..out.w.cols() {
                let part = s * out.w[(n, k)];
                if part != 0.0 {
                    out.w[(t, k)] += part;
                }
            }
            out.rate_offset[t] += s * out.rate_offset[n];
            out.accel_offset[t] += s * out.accel_offset[n];
        }
    }

    /// Rates of all that, `out` with everything else in place. `at` is the evaluation, `elimination` what it left behind: M a_i = w_i + Bᵀ s_i, B a_i = 0, so
    ///
    /// ```text
    /// Q_ij = w_i a_j      Q̇_ij = ẇ_i a_j + ẇ_j a_i − a_i Ṁ a_j + s_i Ḃ a_j + s_j Ḃ a_i
    /// ```
    pub(super) fn tangent(
        &self,
        tape: &Tape,
        rates: &Work,
        elimination: &Reduced,
        at: &Eval,
        out: &mut Eval,
    ) {
        out.tensor.clear();
        out.tensor.resize(at.tensor.len(), [0.0; 4]);
        out.lean.clear();
        out.lean.resize(at.lean.len(), 0.0);
        let mut next = 0;
        for plan in &self.list {
            let c = plan.contact;
            let s = at.lean[c];
            (out.lean[c], out.tensor[c]) = match plan.entries {
                Some(entries) => {
                    let phi = entries.map(|r| tape.output(rates, r as usize));
                    let top = phi[2] - s * phi[0];
                    (if top == 0.0 { 0.0 } else { top / at.tensor[c][0] }, phi)
                }
                None => {
                    let n = next;
                    next += 2;
                    let q = &elimination.h;
                    let rate = if s.is_nan() {
                        f64::NAN
                    } else if q[(n, n)] <= 0.0 {
                        0.0
                    } else {
                        let [nn, nt] = [n, n + 1].map(|j| self.mobility_rate(elimination, out, n, j));
                        -(nt + s * nn) / q[(n, n)]
                    };
                    let (mu, mu_rate) = (at.mu[c], out.mu[c]);
                    let cross = mu_rate * s + mu * rate;
                    (rate, [mu_rate, -cross, cross, 0.0])
                }
            };
        }
        for plan in &self.list {
            let ([n, t], c) = (plan.rows, plan.contact);
            let (s, rate) = (at.lean[c], out.lean[c]);
            for k in 0..out.w.cols() {
                let part = s * out.w[(n, k)] + rate * at.w[(n, k)];
                if part != 0.0 {
                    out.w[(t, k)] += part;
                }
            }
            out.rate_offset[t] += s * out.rate_offset[n] + rate * at.rate_offset[n];
            out.accel_offset[t] += s * out.accel_offset[n] + rate * at.accel_offset[n];
        }
    }

    /// Q̇_ij from the rates of M and W in `out`.
    fn mobility_rate(&self, elimination: &Reduced, out: &Eval, i: usize, j: usize) -> f64 {
        let (a, b) = (elimination.a.row(i), elimination.a.row(j));
        let w = |k: usize| out.w.row(self.regular[k]);
        let mut sum = w(i).dot(b) + w(j).dot(a) - between(&out.mass, a, b);
        for (k, &row) in self.ideal.iter().enumerate() {
            let row = out.w.row(row);
            sum += elimination.s[(k, i)] * row.dot(b) + elimination.s[(k, j)] * row.dot(a);
        }
        sum
    }
}

/// xᵀ A y.
fn between(a: &Symmetric, x: &[f64], y: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..a.size() {
        for (k, v) in a.lower_row(i).iter() {
            sum += v * x[i] * y[k];
            if k < i {
                sum += v * x[k] * y[i];
            }
        }
    }
    sum
}

/// φ_nt/φ_tt; no friction along the tangent but across it has no direction to act in.
fn share([tt, _, nt, _]: [f64; 4]) -> f64 {
    if nt == 0.0 { 0.0 } else { nt / tt }
}
