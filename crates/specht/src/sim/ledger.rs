//! The energy ledger: where every joule went.
//!
//! ```text
//! T + V = (T + V)₀ + friction + impact + external + drive + numerical
//! friction_i = ∫ λ_T γ_T dt            impact_i = Σ Λ·(γ⁺ + γ⁻)/2            external = ∫ power dt + jumps by events
//! drive      = ∫ (drive·u̇ + offset − Σ λ w̃) dt + Σ (drive·Δu − Σ Λ w̃)
//! ```
//!
//! The integrals are extra components of the initial value problem, so they have the order and the error control of the
//! motion itself. `numerical` is what remains: the closing error, reported, never hidden.

use crate::contact::Forces;
use crate::linalg::dot;
use crate::system::{ContactInfo, Eval, State};

use super::trajectory::ENERGY_COLUMNS;

/// Energy balance at an instant, J. Work done on the system is positive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energy {
    /// T + V at the start.
    pub initial: f64,
    /// T.
    pub kinetic: f64,
    /// V.
    pub potential: f64,
    /// Work of friction per contact.
    pub friction: Vec<f64>,
    /// Work of impacts per contact.
    pub impact: Vec<f64>,
    /// Work of smooth forces without potential, and of sudden changes by events.
    pub external: f64,
    /// Work of prescribed motions.
    pub drive: f64,
    /// Largest energy moved so far (kinetic, change of potential, each work): the scale of the closing error.
    pub scale: f64,
    /// Largest rounding error that the terms of the balance may have carried so far.
    pub rounding: f64,
    /// What the local errors of all steps, as the integrator estimates them, can have put into the balance.
    pub explained: f64,
}

impl Energy {
    /// The closing error.
    pub fn numerical(&self) -> f64 {
        self.kinetic + self.potential
            - self.initial
            - self.friction.iter().sum::<f64>()
            - self.impact.iter().sum::<f64>()
            - self.external
            - self.drive
    }

    /// The columns of a sample.
    pub fn columns(&self) -> [f64; ENERGY_COLUMNS] {
        [
            self.kinetic,
            self.potential,
            self.friction.iter().sum(),
            self.impact.iter().sum(),
            self.external,
            self.drive,
            self.numerical(),
        ]
    }
}

/// Number of integrals: friction per contact, external, drive.
pub(crate) fn integrals(contacts: usize) -> usize {
    contacts + 2
}

/// Powers of the integrals.
pub(crate) fn powers(info: &[ContactInfo], eval: &Eval, forces: &Forces, u: &[f64], out: &mut [f64]) {
    let n = info.len();
    let mut offset_work = 0.0;
    // short, and mostly zero already
    out[..n].iter_mut().filter(|x| **x != 0.0).for_each(|x| *x = 0.0);
    let carrying = if forces.idle { &[] } else { info };
    for (i, c) in carrying.iter().enumerate() {
        for &row in &c.tangent {
            let lambda = forces.lambda[row];
            if lambda != 0.0 {
                out[i] += lambda * eval.rate(row, u);
                offset_work += lambda * eval.rate_offset[row];
            }
        }
        for &row in c.normal_rows() {
            offset_work += forces.lambda[row] * eval.rate_offset[row];
        }
    }
    out[n] = eval.power;
    out[n + 1] = dot(&eval.drive, &forces.accel) + eval.drive_offset - offset_work;
}

/// Rates of the powers: of what [`powers`] takes, and the same three along a direction.
pub(crate) fn power_rates(
    info: &[ContactInfo],
    (eval, forces, u): (&Eval, &Forces, &[f64]),
    (rate, force_rates, du): (&Eval, &Forces, &[f64]),
    out: &mut [f64],
) {
    let n = info.len();
    let (lambda, changes) = (&forces.lambda, &force_rates.lambda);
    let offset = |row: usize| changes[row] * eval.rate_offset[row] + lambda[row] * rate.rate_offset[row];
    let mut offset_work = 0.0;
    for (i, c) in info.iter().enumerate() {
        out[i] = 0.0;
        for &row in &c.tangent {
            let slip = rate.rate(row, u) + eval.w.row(row).dot(du);
            out[i] += changes[row] * eval.rate(row, u) + lambda[row] * slip;
            offset_work += offset(row);
        }
        offset_work += c.normal_rows().iter().map(|&row| offset(row)).sum::<f64>();
    }
    out[n] = rate.power;
    out[n + 1] = dot(&rate.drive, &forces.accel) + dot(&eval.drive, &force_rates.accel) + rate.drive_offset
        - offset_work;
}

/// Sums that change at events only, and the energies of the present instant.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub energy: Energy,
    jump_external: f64,
    jump_drive: f64,
    /// V at the start.
    potential: f64,
    scratch: [Vec<f64>; 2],
}

impl Clone for Ledger {
    fn clone(&self) -> Self {
        let mut out = Ledger::default();
        out.clone_from(self);
        out
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        let to = &mut self.energy;
        let [friction, impact] = [&mut to.friction, &mut to.impact].map(std::mem::take);
        let Energy { initial, kinetic, potential, external, drive, scale, rounding, explained, .. } =
            source.energy;
        *to = Energy {
            initial,
            kinetic,
            potential,
            friction,
            impact,
            external,
            drive,
            scale,
            rounding,
            explained,
        };
        to.friction.clone_from(&source.energy.friction);
        to.impact.clone_from(&source.energy.impact);
        self.jump_external = source.jump_external;
        self.jump_drive = source.jump_drive;
        self.potential = source.potential;
    }
}

/// Units of rounding granted to every term of the balance.
const ROUNDINGS: f64 = 64.0 * f64::EPSILON;

impl Ledger {
    pub(super) fn start(&mut self, contacts: usize, eval: &Eval) {
        *self = Ledger::default();
        self.energy.friction = vec![0.0; contacts];
        self.energy.impact = vec![0.0; contacts];
        self.energy.initial = eval.kinetic + eval.potential;
        self.energy.scale = eval.kinetic.abs();
        self.energy.kinetic = eval.kinetic;
        self.energy.potential = eval.potential;
        self.potential = eval.potential;
    }

    /// Take over the integrals `tail` and the energies of `eval`.
    pub(super) fn update(&mut self, eval: &Eval, tail: &[f64]) {
        let n = self.energy.friction.len();
        let e = &mut self.energy;
        e.kinetic = eval.kinetic;
        e.potential = eval.potential;
        e.friction.copy_from_slice(&tail[..n]);
        e.external = tail[n] + self.jump_external;
        e.drive = tail[n + 1] + self.jump_drive;
        let works = e.friction.iter().chain(&e.impact).fold(0.0_f64, |m, w| m.max(w.abs()));
        let moved = e.kinetic.abs().max((e.potential - self.potential).abs());
        e.scale = e.scale.max(moved).max(works).max(e.external.abs()).max(e.drive.abs());
        let terms = e.friction.iter().chain(&e.impact).map(|w| w.abs()).sum::<f64>()
            + e.kinetic.abs()
            + e.potential.abs()
            + e.initial.abs()
            + e.external.abs()
            + e.drive.abs();
        e.rounding = e.rounding.max(ROUNDINGS * terms);
    }

    /// The columns of a sample at another instant since the last event.
    pub(super) fn columns_at(&self, eval: &Eval, tail: &[f64]) -> [f64; ENERGY_COLUMNS] {
        let n = self.energy.friction.len();
        let friction: f64 = tail[..n].iter().sum();
        let impact: f64 = self.energy.impact.iter().sum();
        let (external, drive) = (tail[n] + self.jump_external, tail[n + 1] + self.jump_drive);
        let closing =
            eval.kinetic + eval.potential - self.energy.initial - friction - impact - external - drive;
        [eval.kinetic, eval.potential, friction, impact, external, drive, closing]
    }

    /// Rounding of positions against the forces at them: ε |h q| and ε |λ| times the length scale of the system.
    pub(super) fn grant(&mut self, eval: &Eval, q: &[f64], lambda: &[f64], length: f64) {
        let smooth: f64 = eval.h.iter().zip(q).map(|(h, q)| (h * q).abs()).sum();
        let contact: f64 = lambda.iter().map(|l| l.abs()).sum::<f64>() * length;
        self.energy.rounding = self.energy.rounding.max(ROUNDINGS * (smooth + contact));
    }

    /// A step of length `h` ended at `state`, with the estimated `error` of positions, velocities, states and integrals. The
    /// balance N = T + V − works is constant along every exact motion, so a local error δ moves it by ∇N·δ for good: the forces
    /// times δq, the momenta times δu, the δ of the integrals. And forces that hold each other in balance do so up to
    /// rounding: ε times the energy that each by itself would give in the step.
    pub(super) fn step(&mut self, eval: &Eval, state: &State, lambda: &[f64], h: f64, error: &[f64]) {
        let n = state.u.len();
        let (positions, rest) = error.split_at(state.q.len());
        let (velocities, rest) = rest.split_at(n);
        let works = &rest[state.z.len()..];
        let mut explained: f64 = works.iter().map(|e| e.abs()).sum();
        let mut balanced = 0.0;
        let [momentum, contacts] = &mut self.scratch;
        momentum.resize(n, 0.0);
        eval.mass.mul_vec(&state.u, momentum);
        contacts.clear();
        contacts.resize(n, 0.0);
        for (r, l) in lambda.iter().enumerate().filter(|(_, l)| **l != 0.0) {
            eval.w.row(r).iter().for_each(|(k, w)| contacts[k] += (l * w).abs());
        }
        for i in 0..n {
            explained += ((momentum[i] + eval.drive[i]) * velocities[i]).abs();
            let force = eval.h[i].abs() + contacts[i];
            explained += positions.get(i).map_or(0.0, |e| (force * e).abs());
            if eval.mass.diagonal(i) > 0.0 {
                balanced += force * force / eval.mass.diagonal(i);
            }
        }
        self.energy.explained += explained;
        self.energy.rounding += ROUNDINGS * balanced * h * h;
    }

    /// Book an impact with impulses `lambda` per row from `u0` to `u1`; returns the work at every contact.
    pub(super) fn impact(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        lambda: &[f64],
        u0: &[f64],
        u1: &[f64],
        work: &mut [f64],
    ) {
        let mut offset_work = 0.0;
        for (i, c) in info.iter().enumerate() {
            work[i] = 0.0;
            for row in c.rows() {
                let l = lambda[row];
                if l != 0.0 {
                    work[i] += 0.5 * l * (eval.rate(row, u0) + eval.rate(row, u1));
                    offset_work += l * eval.rate_offset[row];
                }
            }
            self.energy.impact[i] += work[i];
        }
        let mut moved = -offset_work;
        for k in 0..u0.len() {
            moved += eval.drive[k] * (u1[k] - u0[k]);
        }
        self.jump_drive += moved;
    }

    /// Book a sudden change of energy by an event (memory, switches).
    pub(super) fn jump(&mut self, energy: f64) {
        self.jump_external += energy;
    }
}

#[cfg(test)]
mod tests {
    //! What the ledger grants to rounding, and what not.

    use super::super::audit::{Auditor, ENERGY_BOUND, LENGTH_BOUND};
    use super::super::trajectory::Status;
    use super::*;
    use crate::system::Dims;

    /// A body high above the ground, at rest, to which `gift` joules are given that no work explains. Whether the audit passes.
    fn passes(height: f64, gift: f64) -> bool {
        let mut eval = Eval::new(&Dims { q: 1, u: 1, ..Dims::default() });
        eval.potential = height;
        let mut ledger = Ledger::default();
        ledger.start(0, &eval);
        let mut auditor = Auditor::new(1.0);
        for kinetic in [0.0, gift] {
            eval.kinetic = kinetic;
            ledger.update(&eval, &[0.0, 0.0]);
            auditor.energy(&ledger.energy);
        }
        auditor.audit.judge(LENGTH_BOUND, ENERGY_BOUND, Status::Finished);
        auditor.audit.passed
    }

    /// The terms of the balance are two of a million joules: a few units of their rounding are granted, a thousand are not.
    #[test]
    fn a_few_units_of_rounding_are_granted_and_a_thousand_are_not() {
        let (height, unit) = (1e6, 1e6 * f64::EPSILON);
        assert!(passes(height, 0.0));
        assert!(passes(height, 20.0 * unit));
        assert!(!passes(height, 1000.0 * unit));
        assert!(!passes(height, 1.0));
        assert!(!passes(0.0, 1e-12));
    }
}
