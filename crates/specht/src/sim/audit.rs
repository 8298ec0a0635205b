//! The audit: how far a run may be trusted.
//!
//! At the end of every step and on both sides of every event the laws are checked on the numbers themselves, not on what a
//! solver claims. Forces are measured against the largest contact force of the run so far, or T over the length scale, lengths
//! against the length scale of the system (at least the largest gap), energies against the largest energy moved, after a grant
//! for the rounding of the terms that were added.

use crate::contact::Forces;
use crate::linalg::max_abs;
use crate::system::{ContactInfo, Eval, Mode, Normal};

use super::ledger::Energy;

/// Bound of the scaled complementarity and cone residuals.
pub const FORCE_BOUND: f64 = 1e-9;
/// Bound of the scaled penetration and drift.
pub const LENGTH_BOUND: f64 = 1e-9;
/// Bound of the scaled closing error of the energy ledger.
pub const ENERGY_BOUND: f64 = 1e-8;

/// Largest violations of a run, all without dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Negative normal force of a unilateral contact, or a force at an open one.
    pub complementarity: f64,
    /// Tangential force outside its bound.
    pub cone: f64,
    /// Depth of penetration of unilateral contacts.
    pub penetration: f64,
    /// Error of closed gaps, bilateral contacts and pins.
    pub drift: f64,
    /// Closing error of the energy ledger.
    pub energy: f64,
    /// A friction tensor that created energy.
    pub tensor: Option<TensorRemark>,
    /// Whether everything is below its bound.
    pub passed: bool,
    /// Sentences on what failed.
    pub remarks: Vec<String>,
}

/// A friction tensor whose symmetric part became indefinite during a run (VAG-1, condition ii).
#[derive(Clone, Debug, PartialEq)]
pub struct TensorRemark {
    /// The contact with the lowest eigenvalue.
    pub contact: String,
    /// End of the first step at which a closed contact had such a tensor.
    pub time: f64,
    /// The lowest eigenvalue of the run.
    pub eigenvalue: f64,
}

impl Audit {
    /// Compare with the given bounds and write the remarks.
    pub(crate) fn judge(&mut self, length: f64, energy: f64) {
        self.remarks.clear();
        for (name, value, bound) in [
            ("complementarity residual", self.complementarity, FORCE_BOUND),
            ("cone violation", self.cone, FORCE_BOUND),
            ("penetration", self.penetration, length),
            ("drift", self.drift, length),
            ("closing error of the energy ledger", self.energy, energy),
        ] {
            if !(value <= bound) {
                self.remarks.push(format!("{name} {value:.2e} exceeds {bound:.0e}"));
            }
        }
        if let Some(x) = &self.tensor {
            self.remarks.push(format!(
                "friction tensor of `{}` creates energy, first seen at t = {:.6} s: the lowest eigenvalue of its symmetric part is {:.3e}; all must be ≥ 0",
                x.contact, x.time, x.eigenvalue
            ));
        }
        self.passed = self.remarks.is_empty();
    }
}

/// Running maxima that scale the audit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Auditor {
    pub audit: Audit,
    force: f64,
    length: f64,
    closing: f64,
}

impl Auditor {
    pub fn new(length: f64) -> Self {
        Auditor { length, ..Default::default() }
    }

    /// Check one instant.
    pub fn check(&mut self, t: f64, info: &[ContactInfo], eval: &Eval, modes: &[Mode], forces: &Forces) {
        let inertia = eval.kinetic.abs() / self.length;
        self.force = self.force.max(max_abs(&forces.lambda)).max(max_abs(&forces.normal)).max(inertia);
        let force = if self.force > 0.0 { self.force } else { 1.0 };
        let a = &mut self.audit;
        for (i, c) in info.iter().enumerate() {
            match c.normal {
                Normal::Unilateral { row } => {
                    let (gap, lambda) = (eval.gap[row], forces.lambda[row]);
                    self.length = self.length.max(gap.abs());
                    let length = self.length;
                    if modes[i] == Mode::Open {
                        a.complementarity = a.complementarity.max(lambda.abs() / force);
                    } else {
                        a.complementarity = a.complementarity.max(-lambda / force);
                        a.drift = a.drift.max(gap.abs() / length);
                    }
                    a.penetration = a.penetration.max(-gap / length);
                }
                Normal::Bilateral { row } => a.drift = a.drift.max(eval.gap[row].abs() / self.length),
                Normal::Pin { rows } => {
                    a.drift = a.drift.max(eval.gap[rows[0]].hypot(eval.gap[rows[1]]) / self.length);
                }
                Normal::Given { .. } => {}
            }
            if !eval.tensor.is_empty() && modes[i] != Mode::Open {
                let eigenvalue = eval.tensor_eigenvalue(i);
                if eigenvalue < 0.0 && a.tensor.as_ref().is_none_or(|x| eigenvalue < x.eigenvalue) {
                    let time = a.tensor.as_ref().map_or(t, |x| x.time);
                    a.tensor = Some(TensorRemark { contact: c.name.clone(), time, eigenvalue });
                }
            }
            if c.friction && modes[i] != Mode::Open {
                a.cone = a.cone.max((forces.tangential[i].abs() - forces.bound[i]) / force);
            }
        }
    }

    /// Check the ledger: what does not close, beyond rounding, against the largest energy moved in the run so far.
    pub fn energy(&mut self, e: &Energy) {
        let closing = e.numerical().abs() - e.rounding;
        if !(closing <= self.closing) {
            self.closing = closing;
        }
        if self.closing > 0.0 || self.closing.is_nan() {
            self.audit.energy = self.closing / e.scale.max(f64::MIN_POSITIVE);
        }
    }
}
