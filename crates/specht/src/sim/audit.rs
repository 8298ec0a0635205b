//! The audit: how far a run may be trusted.
//!
//! At the end of every step and on both sides of every event the laws are checked on the numbers themselves, not on what a
//! solver claims. Forces are measured against the largest contact force of the run so far, what stands beside guides, T over the length scale, or a
//! small share of what the smooth forces could ask for, lengths
//! against the length scale of the system (at least the largest gap), energies against the largest energy moved, after a grant
//! for the rounding of the terms that were added.

use crate::contact::Forces;
use crate::linalg::max_abs;
use crate::system::{ContactInfo, Eval, Mode, Normal};

use super::ledger::Energy;
use super::mobility::Mobilities;
use super::tolerances::LOAD_LEAST;
use super::trajectory::Status;
use super::watch::{beside, load_size, smooth_size};

/// Bound of the scaled complementarity and cone residuals.
pub const FORCE_BOUND: f64 = 1e-9;
/// Bound of the scaled residual of impact laws.
pub const IMPACT_BOUND: f64 = 1e-8;
/// Bound of the scaled penetration and drift.
pub const LENGTH_BOUND: f64 = 1e-9;
/// Bound of the scaled closing error of the energy ledger.
pub const ENERGY_BOUND: f64 = 1e-8;
/// Error estimates that add up to more than so many tolerances explain no more: of ten thousand steps each may put a hundred into the balance.
const GRANT: f64 = 1e6;
/// Error estimates are not bounds: granted is this multiple of them.
const SAFETY: f64 = 10.0;

/// Largest violations of a run, all without dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Negative normal force of a unilateral contact, or a force at an open one.
    pub complementarity: f64,
    /// Tangential force outside its bound, or sliding with another force than the bound.
    pub cone: f64,
    /// Depth of penetration of unilateral contacts.
    pub penetration: f64,
    /// Error of closed gaps, bilateral contacts and pins.
    pub drift: f64,
    /// Residual of the laws of an impact and of its balance of momentum.
    pub impact: f64,
    /// Closing error of the energy ledger.
    pub energy: f64,
    /// The part of it that the error estimates of the steps explain: the tolerance, not a mistake.
    pub explained: f64,
    /// Time-stepping: energy that friction or impacts gave instead of taking.
    pub created: f64,
    /// Time-stepping: error of the end of the run, by the same run with longer steps.
    pub step_error: Option<f64>,
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
    /// Let error estimates explain no more than the tolerance can: a constraint that flickers has large ones.
    pub(super) fn limit(&mut self, tolerance: f64) {
        self.explained = self.explained.min(GRANT * tolerance);
    }

    /// Compare with the given bounds and write the remarks. A run that failed passes nothing: what it would have done is unknown.
    pub(crate) fn judge(&mut self, length: f64, energy: f64, status: Status) {
        self.remarks.clear();
        for (name, value, bound) in [
            ("complementarity residual", self.complementarity, FORCE_BOUND),
            ("cone violation", self.cone, FORCE_BOUND),
            ("residual of an impact law", self.impact, IMPACT_BOUND),
            ("penetration", self.penetration, length),
            ("drift", self.drift, length),
            ("closing error of the energy ledger", self.energy - self.explained, energy),
            ("energy created by friction or impacts", self.created, energy),
            ("error of the end state by runs with longer steps", self.step_error.unwrap_or(0.0), energy),
        ] {
            if value.is_nan() {
                self.remarks.push(format!("{name}: some number is not a number"));
            } else if !(value <= bound) {
                // time steps have a bound of their own: what is fast passes a surface within a step
                let remedy = match name {
                    "penetration" if length > LENGTH_BOUND => ": take shorter steps",
                    _ => "",
                };
                self.remarks.push(format!("{name} {value:.2e} exceeds {bound:.0e}{remedy}"));
            }
        }
        if let Some(x) = &self.tensor {
            self.remarks.push(format!(
                "friction tensor of `{}` creates energy, first seen at t = {:.6} s: the lowest eigenvalue of its symmetric part is {:.3e}; all must be ≥ 0",
                x.contact, x.time, x.eigenvalue
            ));
        }
        if status == Status::Failed {
            self.remarks.push("the run failed before its end".into());
        }
        self.passed = self.remarks.is_empty();
    }
}

/// Running maxima that scale the audit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Auditor {
    pub audit: Audit,
    /// Energy that friction or impacts gave instead of taking, J.
    pub created: f64,
    force: f64,
    length: f64,
    closing: f64,
    /// Closing error and explained error when last looked at.
    balance: (f64, f64),
    unexplained: f64,
    mobilities: Mobilities,
}

impl Auditor {
    pub(super) fn new(length: f64) -> Self {
        Auditor { length, ..Default::default() }
    }

    /// Check one instant.
    pub(super) fn check(
        &mut self,
        t: f64,
        info: &[ContactInfo],
        eval: &Eval,
        modes: &[Mode],
        forces: &Forces,
    ) {
        let inertia = eval.kinetic.abs() / self.length;
        self.force = self.force.max(max_abs(&forces.lambda)).max(max_abs(&forces.normal)).max(inertia);
        self.force = self.force.max(beside(info, eval));
        self.mobilities.stand(eval);
        let smooth = smooth_size(eval, self.mobilities.floor);
        for row in info.iter().filter_map(ContactInfo::normal_row) {
            self.force = self.force.max(LOAD_LEAST * load_size(self.mobilities.of(eval, row), smooth));
        }
        let force = if self.force > 0.0 { self.force } else { 1.0 };
        let a = &mut self.audit;
        for (i, c) in info.iter().enumerate() {
            match c.normal {
                Normal::Unilateral { row } => {
                    let (gap, lambda) = (eval.gap[row], forces.lambda[row]);
                    self.length = self.length.max(gap.abs());
                    let length = self.length;
                    if modes[i] == Mode::Open {
                        worst(&mut a.complementarity, lambda.abs() / force);
                    } else {
                        worst(&mut a.complementarity, -lambda / force);
                        worst(&mut a.drift, gap.abs() / length);
                    }
                    worst(&mut a.penetration, -gap / length);
                }
                Normal::Given { .. } => {}
                _ => worst(&mut a.drift, c.gap(&eval.gap).abs() / self.length),
            }
            if !eval.tensor.is_empty() && modes[i] != Mode::Open {
                let eigenvalue = eval.tensor_eigenvalue(i);
                if eigenvalue < 0.0 && a.tensor.as_ref().is_none_or(|x| eigenvalue < x.eigenvalue) {
                    let time = a.tensor.as_ref().map_or(t, |x| x.time);
                    a.tensor = Some(TensorRemark { contact: c.name.clone(), time, eigenvalue });
                }
            }
            if c.friction && modes[i] != Mode::Open {
                let size = eval.friction_size(info, i, &forces.lambda);
                worst(&mut a.cone, (size - forces.bound[i]) / force);
            }
        }
    }

    /// Check that sliding contacts rub with the whole of their bound, against their direction.
    pub(super) fn sliding(&mut self, info: &[ContactInfo], eval: &Eval, modes: &[Mode], forces: &Forces) {
        let force = if self.force > 0.0 { self.force } else { 1.0 };
        for (i, c) in info.iter().enumerate() {
            let direction = modes[i].direction();
            if c.friction && modes[i] == Mode::Slip {
                let off = eval.friction_size(info, i, &forces.lambda) - forces.bound[i];
                worst(&mut self.audit.cone, off.abs() / force);
            }
            if c.friction && direction != 0.0 && eval.tensor.is_empty() {
                let off = forces.tangential[i] + direction * forces.bound[i];
                worst(&mut self.audit.cone, off.abs() / force);
            }
        }
    }

    /// Check points at which bodies touch: how far the largest forces are outside their law, and the largest depth.
    pub(super) fn touches(&mut self, complementarity: f64, cone: f64, depth: f64) {
        let force = if self.force > 0.0 { self.force } else { 1.0 };
        worst(&mut self.audit.complementarity, complementarity / force);
        worst(&mut self.audit.cone, cone / force);
        worst(&mut self.audit.penetration, depth / self.length);
    }

    /// Check an impact, by the residual of its laws.
    pub(super) fn impact(&mut self, residual: f64) {
        worst(&mut self.audit.impact, residual);
    }

    /// Check the ledger: what does not close, beyond rounding, against the largest energy moved in the run so far; and how much
    /// of it no error estimate explains. Every step answers for itself, so one wrong step is seen in a long run too.
    pub(super) fn energy(&mut self, e: &Energy) {
        let n = e.numerical();
        let (last, explained) = std::mem::replace(&mut self.balance, (n, e.explained));
        let excess = (n - last).abs() - SAFETY * (e.explained - explained) - 2.0 * e.rounding;
        if !(excess <= 0.0) {
            self.unexplained += excess;
        }
        worst(&mut self.closing, n.abs() - e.rounding);
        let scale = e.scale.max(f64::MIN_POSITIVE);
        self.audit.energy = self.closing / scale;
        self.audit.explained = (self.closing - self.unexplained).max(0.0) / scale;
    }
}

/// The larger of both; NaN is the worst of all.
fn worst(record: &mut f64, value: f64) {
    if !(value <= *record || record.is_nan()) {
        *record = value;
    }
}

#[cfg(test)]
mod tests {
    //! The judge judged: a falsified instant fails exactly the line that it concerns, a true one none.

    use super::*;
    use crate::system::Dims;

    /// A block slides on a floor (closed, slip+, N = 30 N, μ = 0.4) below an open stop; a pin holds something else.
    struct Instant {
        info: Vec<ContactInfo>,
        eval: Eval,
        modes: Vec<Mode>,
        forces: Forces,
        energy: Energy,
    }

    fn true_instant() -> Instant {
        let contact = |name: &str, normal, tangent: &[usize]| ContactInfo {
            name: name.into(),
            normal,
            tangent: tangent.to_vec(),
            load_on: vec![],
            load_at: 0,
            friction: !tangent.is_empty(),
        };
        let info = vec![
            contact("floor", Normal::Unilateral { row: 0 }, &[1]),
            contact("stop", Normal::Unilateral { row: 2 }, &[]),
            contact("pin", Normal::Pin { rows: [3, 4] }, &[]),
        ];
        let mut eval = Eval::new(&Dims { q: 2, u: 2, rows: 5, contacts: 3, ..Dims::default() });
        eval.gap[2] = 0.25;
        eval.kinetic = 7.0;
        let forces = Forces {
            lambda: vec![30.0, -12.0, 0.0, 3.0, 4.0],
            normal: vec![30.0, 0.0, 5.0],
            tangential: vec![-12.0, 0.0, 0.0],
            bound: vec![12.0, 0.0, 0.0],
            ..Forces::default()
        };
        let energy = Energy {
            initial: 10.0,
            kinetic: 7.0,
            potential: 1.0,
            friction: vec![-2.5, 0.0, 0.0],
            impact: vec![-0.5, 0.0, 0.0],
            external: 1.5,
            drive: -0.5,
            scale: 10.0,
            rounding: 1e-13,
            explained: 1e-9,
        };
        Instant { info, eval, modes: vec![Mode::SlipPlus, Mode::Open, Mode::Closed], forces, energy }
    }

    /// The names of the lines that fail, after one true instant and then this one.
    fn failing(falsify: impl Fn(&mut Instant)) -> Vec<&'static str> {
        let mut auditor = Auditor::new(2.0);
        let mut x = true_instant();
        for round in 0..2 {
            if round == 1 {
                falsify(&mut x);
            }
            auditor.check(0.0, &x.info, &x.eval, &x.modes, &x.forces);
            auditor.sliding(&x.info, &x.eval, &x.modes, &x.forces);
            auditor.energy(&x.energy);
        }
        let mut audit = auditor.audit;
        audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Finished);
        assert_eq!(audit.passed, audit.remarks.is_empty());
        let mut lines = vec!["complementarity", "cone", "penetration", "drift", "energy"];
        lines.retain(|line| audit.remarks.iter().any(|r| r.contains(line)));
        lines
    }

    #[test]
    fn a_true_instant_passes_and_a_falsified_one_fails_exactly_its_line() {
        let none: [&str; 0] = [];
        assert_eq!(failing(|_| ()), none);
        assert_eq!(failing(|x| x.forces.lambda[0] = -1e-6), ["complementarity"]);
        assert_eq!(failing(|x| x.forces.lambda[2] = 1e-6), ["complementarity"]);
        assert_eq!(failing(|x| x.forces.tangential[0] = -12.0 - 1e-6), ["cone"]);
        assert_eq!(failing(|x| x.forces.tangential[0] = -12.0 + 1e-6), ["cone"]);
        assert_eq!(failing(|x| x.forces.tangential[0] = 12.0), ["cone"]);
        assert_eq!(failing(|x| x.eval.gap[2] = -1e-8), ["penetration"]);
        assert_eq!(failing(|x| x.eval.gap[0] = 1e-8), ["drift"]);
        assert_eq!(failing(|x| x.eval.gap[4] = 1e-8), ["drift"]);
        assert_eq!(failing(|x| x.energy.kinetic += 1e-6), ["energy"]);
        assert_eq!(failing(|x| x.energy.friction[0] -= 1e-6), ["energy"]);
        assert_eq!(failing(|x| x.energy.impact[0] -= 1e-6), ["energy"]);
    }

    #[test]
    fn what_is_not_a_number_fails_its_line_and_later_numbers_do_not_heal_it() {
        assert_eq!(failing(|x| x.forces.lambda[2] = f64::NAN), ["complementarity"]);
        assert_eq!(failing(|x| x.forces.tangential[0] = f64::NAN), ["cone"]);
        assert_eq!(failing(|x| x.eval.gap[2] = f64::NAN), ["penetration"]);
        assert_eq!(failing(|x| x.eval.gap[3] = f64::NAN), ["drift"]);
        assert_eq!(failing(|x| x.energy.kinetic = f64::NAN), ["energy"]);
        let (mut record, values) = (0.0, [1.0, f64::NAN, 2.0]);
        values.iter().for_each(|v| worst(&mut record, *v));
        assert!(record.is_nan());
    }

    #[test]
    fn an_error_that_the_estimates_explain_passes_and_one_wrong_step_among_many_does_not() {
        let run = |wrong: f64| {
            let mut auditor = Auditor::new(1.0);
            let mut e = true_instant().energy;
            (e.kinetic, e.explained) = (10.0 - e.potential + e.friction[0] + e.impact[0] + 1.0, 0.0);
            for k in 0..1000 {
                // each step loses 1e-9 J, with an estimate of 2e-9 J
                e.kinetic -= 1e-9 + if k == 500 { wrong } else { 0.0 };
                e.explained += 2e-9;
                auditor.energy(&e);
            }
            auditor.audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Finished);
            auditor.audit
        };
        let right = run(0.0);
        assert!(right.passed && right.energy > 5.0 * ENERGY_BOUND, "{right:?}");
        let wrong = run(5e-7);
        assert!(!wrong.passed && wrong.remarks[0].contains("energy"), "{wrong:?}");
    }

    /// Every number of the audit has a line, and no line speaks for another: with one number above its bound, one remark.
    #[test]
    fn each_number_above_its_bound_fails_its_own_line_and_no_other() {
        // a new field must be named here
        let Audit {
            complementarity: _,
            cone: _,
            penetration: _,
            drift: _,
            impact: _,
            energy: _,
            explained: _,
            created: _,
            step_error: _,
            tensor: _,
            passed: _,
            remarks: _,
        } = Audit::default();
        let (length, energy) = (1e-5, 1e-6);
        type Put = fn(&mut Audit, f64);
        let lines: [(&str, f64, Put); 8] = [
            ("complementarity residual", FORCE_BOUND, |a, x| a.complementarity = x),
            ("cone violation", FORCE_BOUND, |a, x| a.cone = x),
            ("residual of an impact law", IMPACT_BOUND, |a, x| a.impact = x),
            ("penetration", length, |a, x| a.penetration = x),
            ("drift", length, |a, x| a.drift = x),
            ("closing error of the energy ledger", energy, |a, x| {
                (a.energy, a.explained) = (x + 0.125, 0.125)
            }),
            ("energy created by friction or impacts", energy, |a, x| a.created = x),
            ("error of the end state", energy, |a, x| a.step_error = Some(x)),
        ];
        for (name, bound, put) in lines {
            for (value, passes) in [(0.9 * bound, true), (1.1 * bound, false), (f64::NAN, false)] {
                let mut audit = Audit::default();
                put(&mut audit, value);
                audit.judge(length, energy, Status::Finished);
                assert_eq!(audit.passed, passes, "{name} {value}: {audit:?}");
                assert_eq!(audit.remarks.len(), usize::from(!passes), "{name} {value}: {:?}", audit.remarks);
                assert!(audit.remarks.iter().all(|r| r.starts_with(name)), "{name}: {:?}", audit.remarks);
            }
        }
        let tensor = TensorRemark { contact: "table".into(), time: 0.5, eigenvalue: -1e-3 };
        let mut audit = Audit { tensor: Some(tensor), ..Audit::default() };
        audit.judge(length, energy, Status::Finished);
        assert!(!audit.passed && audit.remarks.len() == 1 && audit.remarks[0].starts_with("friction tensor"));
    }

    #[test]
    fn a_run_that_failed_passes_nothing() {
        let mut audit = Audit::default();
        audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Failed);
        assert!(!audit.passed);
        for status in [Status::Finished, Status::Stopped, Status::Inconsistent, Status::Indeterminate] {
            audit.judge(LENGTH_BOUND, ENERGY_BOUND, status);
            assert!(audit.passed);
        }
    }

    /// Regression: a run with an energy error of 2 % passed, because the error estimates of its steps were as large.
    #[test]
    fn error_estimates_explain_no_more_than_a_million_tolerances() {
        for (tolerance, passed) in [(1e-9, false), (1e-7, true)] {
            let mut audit = Audit { energy: 2.2e-2, explained: 2.2e-2, ..Audit::default() };
            audit.limit(tolerance);
            audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Finished);
            assert_eq!(audit.passed, passed, "{tolerance}: {:?}", audit.remarks);
        }
    }

    #[test]
    fn an_impact_whose_law_is_not_met_fails_the_audit() {
        for (residual, passed) in [(1e-12, true), (3e-8, false), (f64::NAN, false)] {
            let mut auditor = Auditor::new(1.0);
            auditor.impact(residual);
            auditor.audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Finished);
            assert_eq!(auditor.audit.passed, passed, "{residual}");
        }
    }
}
