//! The derivative of an impact: the laws in the modes in which they were met, differentiated (METH-SALT-IMPACT).
//!
//! Every phase of an impact is a problem of forces with velocities in place of accelerations ([`Fixed`]):
//!
//! ```text
//! compression  M (u_C − u_A) = Wᵀ Λ_C,   ġ_C = 0 where Λ_NC > 0 or the contact sticks,   Λ_T = ∓μ Λ_N where it slips
//! expansion    M (u_E − u_C) = Wᵀ Λ_E,   Λ_NE = ε Λ_NC + Λ_NP: given, unless Λ_NP > 0 keeps ġ_NE = 0
//! Newton       M (u_E − u_A) = Wᵀ Λ,     ġ_NE = −ε ġ_NA where Λ_N > 0
//! Moreau       the same with Coulomb's law on ġ_TE + ε_T ġ_TA
//! ```
//!
//! The modes are read from the impulses and velocities that the impact solver found. The phase is then solved again in these modes; where
//! it does not give the same velocities, the impulses stand on a border between modes and the derivative is withheld.

use crate::contact::{Fixed, Forces, Small};
use crate::impact::{Impact, Law};
use crate::linalg::{axpy, max_abs};
use crate::system::{ContactInfo, Eval, Mode, Restitution, System};

use super::super::field::Field;
use super::super::settling::at_rest;
use super::Variation;
use super::place::along;
use super::turn::{Beginning, aim, aim_rates, turns};

/// Velocities that differ by less, relative to the largest, are the same.
const SAME: f64 = 1e-7;
/// Velocities and impulses below this, relative to the largest, are zero.
const ZERO: f64 = 1e-9;

/// Problems of the phases of one impact.
#[derive(Default)]
pub(super) struct Phases {
    first: Phase,
    second: Option<Phase>,
    restitution: Vec<Restitution>,
}

/// One phase in its modes.
#[derive(Clone, Default)]
struct Phase {
    eval: Eval,
    modes: Vec<Mode>,
    signs: Vec<f64>,
    small: Vec<Small>,
    fixed: Fixed,
    forces: Forces,
    rate: Eval,
    rates: Forces,
    /// Impulses that are given from before, per row: ε Λ_NC, and what is kept of Λ_TC.
    given: Vec<f64>,
    /// Directions of slip in tangent planes after the phase.
    slips: Vec<(usize, [f64; 3])>,
    turns: Vec<[f64; 3]>,
}

impl Phase {
    /// Solve in the modes; false when the velocities after it are not those of `after` (rates of all rows).
    fn solve(&mut self, info: &[ContactInfo], u: &[f64], after: &[f64]) -> bool {
        self.fixed.follow(&Forces::default());
        self.fixed.load_small(&self.small);
        if !self.fixed.solve(info, &self.eval, &self.modes, &self.signs, &mut self.forces).solved {
            return false;
        }
        let mut v = u.to_vec();
        axpy(1.0, &self.forces.accel, &mut v);
        let size = max_abs(after).max(max_abs(&self.eval.accel_offset));
        (0..after.len()).all(|r| (self.eval.rate(r, &v) - after[r]).abs() <= SAME * size)
    }

    /// Rates of the impulses; false where the direction of a slip has none.
    fn tangent(&mut self, info: &[ContactInfo]) -> bool {
        let Phase { eval, modes, signs, fixed, forces, rate, rates, slips, turns, .. } = self;
        fixed.turns.clear();
        fixed.turns.resize(info.len(), [0.0; 3]);
        if slips.is_empty() {
            fixed.tangent(info, eval, modes, signs, forces, rate, rates);
            return true;
        }
        turns.resize(info.len(), [0.0; 3]);
        Beginning { info, eval, modes, signs, forces }.rates(slips, fixed, rate, turns, rates)
    }

    /// The contacts slip along these velocities, per row.
    fn slip_along(&mut self, info: &[ContactInfo], slip: &[f64]) {
        self.slips.clear();
        self.fixed.directions.clear();
        self.fixed.directions.resize(info.len(), [1.0, 0.0, 0.0]);
        for (i, c) in info.iter().enumerate().filter(|(i, _)| turns(info, &self.modes, *i)) {
            // impacts of patches are those of points
            let v: [f64; 3] =
                std::array::from_fn(|k| c.tangent.get(k).filter(|_| k < 2).map_or(0.0, |&r| slip[r]));
            let size = v[0].hypot(v[1]);
            let d = v.map(|v| v / size);
            self.fixed.directions[i] = self.eval.section(i).push(d);
            self.slips.push((i, d));
        }
    }
}

impl Variation {
    /// The impact `impact` of the contacts `closed` follows; the field stands before it. `plastic`: contacts whose restitution was set to zero.
    pub(crate) fn impact<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        law: Law,
        closed: &[bool],
        e: &[Restitution],
        plastic: &[bool],
        impact: &Impact,
    ) {
        self.announce();
        if self.columns.iter().all(|c| c.lost) {
            return;
        }
        let t = field.state.t;
        let mut phases = std::mem::take(&mut self.phases);
        if !phases.pose(field, law, closed, e, impact) {
            self.phases = phases;
            return self.lose_all(
                t,
                "an impulse stands on the border between stick and slip, or is shared by dependent contacts",
            );
        }
        self.place.discrete.clone_from(&field.discrete);
        self.place.state.clone_from(&field.state);
        field.sys.evaluate(&self.place.state, &self.place.discrete, &mut self.place.eval);
        let (d, info) = (self.dims, field.info);
        let range = d.q..d.q + d.u;
        for column in self.columns.iter_mut().filter(|c| !c.lost) {
            let direction = along(&d, column, column.dt);
            self.place.differentiate(field.sys, &direction, None);
            phases.restitution.resize(d.contacts, Restitution::default());
            field.sys.restitution_tangent(&field.state, &field.discrete, &direction, &mut phases.restitution);
            for (r, _) in phases.restitution.iter_mut().zip(plastic).filter(|(_, p)| **p) {
                *r = Restitution::default();
            }
            let rate = &self.place.tangent.rate;
            let mut du = column.moving[range.clone()].to_vec();
            let found =
                phases.differentiate(info, law, e, &field.state.u, rate, &mut du, &mut column.impulse);
            column.moving[range.clone()].copy_from_slice(&du);
            if !found {
                self.phases = phases;
                return self.lose_all(t, "the direction of the slip after an impact is not determined");
            }
        }
        self.phases = phases;
    }

    /// Contacts are closed by a jump of velocities solved in these modes; the field stands before it.
    pub(crate) fn closing<S: System + ?Sized>(&mut self, field: &Field<S>, modes: &[Mode], after: &[f64]) {
        self.announce();
        if self.columns.iter().all(|c| c.lost) {
            return;
        }
        let (info, u) = (field.info, &field.state.u);
        let mut phase = Phase {
            eval: at_rest(&field.eval, u),
            modes: modes.to_vec(),
            signs: field.signs.clone(),
            ..Phase::default()
        };
        // slips go on as they were
        aim(info, &phase.eval, modes, &field.frozen, u, &mut phase.fixed);
        let rates: Vec<f64> = (0..self.dims.rows).map(|r| field.eval.rate(r, after)).collect();
        if !phase.solve(info, u, &rates) {
            return self.lose_all(field.state.t, "impacts below the resolution are not determined");
        }
        phase.rate = field.sys.memory();
        self.place.discrete.clone_from(&field.discrete);
        self.place.state.clone_from(&field.state);
        field.sys.evaluate(&self.place.state, &self.place.discrete, &mut self.place.eval);
        let d = self.dims;
        let range = d.q..d.q + d.u;
        for column in self.columns.iter_mut().filter(|c| !c.lost) {
            let direction = along(&d, column, column.dt);
            self.place.differentiate(field.sys, &direction, None);
            let mut du = column.moving[range.clone()].to_vec();
            rates_at_rest(&phase.eval, u, &self.place.tangent.rate, &du, &mut phase.rate);
            let Phase { eval, rate, fixed, forces, rates, signs, .. } = &mut phase;
            let slips = |r: usize| rate.accel_offset[r];
            aim_rates(info, (eval, rate), modes, (&field.frozen, &column.turn), u, slips, fixed);
            fixed.tangent(info, eval, modes, signs, forces, rate, rates);
            axpy(1.0, &phase.rates.accel, &mut du);
            column.moving[range.clone()].copy_from_slice(&du);
        }
    }
}

impl Phases {
    /// Set up and solve the phases in the modes that `impact` found; false when they do not give the same velocities.
    fn pose<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        law: Law,
        closed: &[bool],
        e: &[Restitution],
        impact: &Impact,
    ) -> bool {
        let (info, u) = (field.info, &field.state.u);
        let eval = at_rest(&field.eval, u);
        self.first = Phase { eval, rate: field.sys.memory(), ..Phase::default() };
        self.second = None;
        let first = &mut self.first;
        // leaning friction forces stick by the plain tangential velocity
        if field.eval.lean.iter().any(|s| *s != 0.0) {
            return false;
        }
        let after = if law == Law::Poisson { &impact.rate_c } else { &impact.rate_e };
        read_modes(first, info, closed, law, &impact.compression, after, &impact.rate_a, e);
        match law {
            Law::Poisson => {}
            Law::Newton | Law::Moreau => {
                for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_unilateral()) {
                    for &r in c.normal_rows() {
                        first.eval.accel_offset[r] *= 1.0 + e[i].normal;
                    }
                    for &r in c.tangent.iter().filter(|_| law == Law::Moreau) {
                        first.eval.accel_offset[r] *= 1.0 + e[i].tangential;
                    }
                }
            }
        }
        if !first.solve(info, u, after) {
            return false;
        }
        if law != Law::Poisson {
            return true;
        }
        self.expansion(field, closed, e, impact)
    }

    fn expansion<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        closed: &[bool],
        e: &[Restitution],
        impact: &Impact,
    ) -> bool {
        let (info, n) = (field.info, field.info.len());
        let stored = |i: usize, r: usize| e[i].normal * impact.compression[r].max(0.0);
        let unilateral = |c: &ContactInfo| if c.is_unilateral() { c.normal_row() } else { None };
        let mut second = Phase { eval: at_rest(&field.eval, &field.state.u), ..Phase::default() };
        second.rate = field.sys.memory();
        second.given = vec![0.0; impact.compression.len()];
        let mut expands = false;
        for (i, c) in info.iter().enumerate() {
            if let Some(r) = unilateral(c).filter(|_| closed[i]) {
                second.given[r] = stored(i, r);
                expands |= second.given[r] > 0.0;
            }
        }
        if !expands {
            return true;
        }
        // dependent contacts: which of them stores the impulse is a choice
        if self.first.fixed.is_dependent() {
            return false;
        }
        let expansion: Vec<f64> =
            impact.impulse.iter().zip(&impact.compression).map(|(a, b)| a - b).collect();
        let pressed: Vec<f64> = expansion.iter().zip(&second.given).map(|(a, b)| a - b).collect();
        read_modes(&mut second, info, closed, Law::Poisson, &pressed, &impact.rate_e, &impact.rate_a, e);
        let largest = max_abs(&impact.impulse);
        second.small = vec![Small::Holds; n];
        for (i, c) in info.iter().enumerate() {
            // a contact whose impulse is given: friction acts, its normal direction is free
            let Some(r) = unilateral(c).filter(|_| closed[i] && second.given_of(c) > 0.0) else { continue };
            if pressed[r] <= ZERO * largest {
                second.small[i] = Small::Loaded;
                second.modes[i] =
                    mode_of(c, second.eval.mu[i], impact.rate_e.as_slice(), max_abs(&impact.rate_a));
                second.slip_along(info, &impact.rate_e);
            }
            second.eval.load[i] = second.given[r];
            second.eval.load_static[i] = second.given[r];
        }
        for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_given()) {
            let terms = c.load_on.iter().enumerate();
            let load: f64 =
                terms.map(|(k, &j)| second.eval.load_terms[c.load_at + k] * second.given_of(&info[j])).sum();
            (second.eval.load[i], second.eval.load_static[i]) = (load, load);
        }
        // what is kept of the tangential impulse, on its side of the bound (8.31), (8.37)
        for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_unilateral()) {
            if let Some((r, kept)) = kept(c, second.modes[i], &e[i], &impact.compression) {
                second.given[r] = kept;
                second.eval.mu[i] *= 1.0 - e[i].nu;
            }
        }
        for r in 0..second.given.len() {
            second.eval.w.row(r).add_to(second.given[r], &mut second.eval.h);
            second.eval.accel_offset[r] = impact.rate_c[r];
        }
        let mut u = field.state.u.clone();
        axpy(1.0, &self.first.forces.accel, &mut u);
        let done = second.solve(info, &u, &impact.rate_e);
        self.second = Some(second);
        done
    }

    /// δu before → δu after; `impulse`: rates of the impulses are added there.
    fn differentiate(
        &mut self,
        info: &[ContactInfo],
        law: Law,
        e: &[Restitution],
        u: &[f64],
        rate: &Eval,
        du: &mut [f64],
        impulse: &mut [f64],
    ) -> bool {
        let de = &self.restitution;
        let first = &mut self.first;
        rates_at_rest(&first.eval, u, rate, du, &mut first.rate);
        if law != Law::Poisson {
            for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_unilateral()) {
                let mut scale = |r: usize, e: f64, de: f64| {
                    let before = first.eval.accel_offset[r] / (1.0 + e);
                    let offset = &mut first.rate.accel_offset[r];
                    *offset = (1.0 + e) * *offset + de * before;
                };
                c.normal_rows().iter().for_each(|&r| scale(r, e[i].normal, de[i].normal));
                if law == Law::Moreau {
                    c.tangent.iter().for_each(|&r| scale(r, e[i].tangential, de[i].tangential));
                }
            }
        }
        if !first.tangent(info) {
            return false;
        }
        axpy(1.0, &first.rates.lambda, impulse);
        axpy(1.0, &first.rates.accel, du);
        let Some(second) = &mut self.second else { return true };
        let mut u_c = u.to_vec();
        axpy(1.0, &first.forces.accel, &mut u_c);
        rates_at_rest(&second.eval, &u_c, rate, du, &mut second.rate);
        second.rate.h.fill(0.0);
        let mut given = vec![0.0; second.given.len()];
        for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_unilateral()) {
            for &r in c.normal_rows().iter().filter(|&&r| second.given[r] != 0.0) {
                given[r] = e[i].normal * first.rates.lambda[r] + de[i].normal * first.forces.lambda[r];
                second.rate.load[i] = given[r];
                second.rate.load_static[i] = given[r];
            }
            if let Some((r, _)) = kept(c, second.modes[i], &e[i], &first.forces.lambda) {
                let (e, de, l) = (&e[i], &de[i], first.forces.lambda[r]);
                given[r] = e.normal * e.tangential * first.rates.lambda[r]
                    + (de.normal * e.tangential + e.normal * de.tangential) * l;
                second.rate.mu[i] = rate.mu[i] * (1.0 - e.nu) - first.eval.mu[i] * de.nu;
            }
        }
        for (i, c) in info.iter().enumerate().filter(|(_, c)| c.is_given()) {
            let term = |(k, &j): (usize, &usize)| {
                let k = c.load_at + k;
                let r = info[j].normal_row();
                let of = |list: &[f64]| r.map_or(0.0, |r| list[r]);
                second.eval.load_terms[k] * of(&given) + rate.load_terms[k] * of(&second.given)
            };
            let load: f64 = c.load_on.iter().enumerate().map(term).sum();
            (second.rate.load[i], second.rate.load_static[i]) = (load, load);
        }
        for (r, change) in given.iter().enumerate() {
            let Phase { eval, rate: out, given, .. } = &mut *second;
            eval.w.row(r).add_to(*change, &mut out.h);
            rate.w.row(r).add_to(given[r], &mut out.h);
        }
        if !second.tangent(info) {
            return false;
        }
        axpy(1.0, &second.rates.lambda, impulse);
        axpy(1.0, &given, impulse);
        axpy(1.0, &second.rates.accel, du);
        true
    }
}

impl Phase {
    fn given_of(&self, c: &ContactInfo) -> f64 {
        c.normal_row().map_or(0.0, |r| self.given[r])
    }
}

/// Modes and signs of a phase from its impulses per row and the rates `after` it.
fn read_modes(
    phase: &mut Phase,
    info: &[ContactInfo],
    closed: &[bool],
    law: Law,
    impulse: &[f64],
    after: &[f64],
    before: &[f64],
    e: &[Restitution],
) {
    let (largest, fastest) = (max_abs(impulse), max_abs(before));
    let mut slips = after.to_vec();
    phase.modes.clear();
    phase.signs.clear();
    for (i, c) in info.iter().enumerate() {
        let normal = c.normal_force(impulse);
        phase.signs.push(if normal < 0.0 { -1.0 } else { 1.0 });
        let pressed = normal.abs() > ZERO * largest;
        let acts = match (c.is_unilateral(), c.is_given()) {
            (true, _) => closed[i] && pressed,
            (_, true) => closed[i] && !c.load_on.is_empty(),
            _ => true,
        };
        if !acts {
            phase.modes.push(Mode::Open);
            continue;
        }
        if law == Law::Newton {
            phase.modes.push(Mode::Closed);
            continue;
        }
        for &r in c.tangent.iter().filter(|_| law == Law::Moreau) {
            slips[r] += e[i].tangential * before[r];
        }
        phase.modes.push(mode_of(c, phase.eval.mu[i], &slips, fastest));
    }
    phase.slip_along(info, &slips);
}

fn mode_of(c: &ContactInfo, mu: f64, slip: &[f64], fastest: f64) -> Mode {
    let Some(&r) = c.tangent.first().filter(|_| c.friction && mu != 0.0) else { return Mode::Closed };
    if c.tangent.len() > 1 {
        let size = c.tangent.iter().take(2).fold(0.0_f64, |m, &r| m.hypot(slip[r]));
        return if size <= ZERO * fastest { Mode::Stick } else { Mode::Slip };
    }
    match slip[r] {
        s if s.abs() <= ZERO * fastest => Mode::Stick,
        s if s > 0.0 => Mode::SlipPlus,
        _ => Mode::SlipMinus,
    }
}

/// The part ε ε_T Λ_TC of the tangential impulse that comes back in expansion, where the contact slips on its side of the bound.
fn kept(c: &ContactInfo, mode: Mode, e: &Restitution, compression: &[f64]) -> Option<(usize, f64)> {
    let &r = c.tangent.first()?;
    let tc = compression[r];
    let side = mode.direction() * tc > 0.0;
    (side && (e.tangential != 0.0 || e.nu != 0.0)).then_some((r, e.normal * e.tangential * tc))
}

/// Rates of [`at_rest`] along a direction with the velocities δu: no smooth forces, rates of rows for offsets.
fn rates_at_rest(eval: &Eval, u: &[f64], rate: &Eval, du: &[f64], out: &mut Eval) {
    out.mass.clone_from(&rate.mass);
    out.w.clone_from(&rate.w);
    out.h.fill(0.0);
    out.load.fill(0.0);
    out.load_static.fill(0.0);
    out.mu.clone_from(&rate.mu);
    // impacts know one coefficient only
    out.mu_static.clone_from(&rate.mu);
    out.load_terms.clone_from(&rate.load_terms);
    for r in 0..out.accel_offset.len() {
        out.accel_offset[r] = rate.w.row(r).dot(u) + eval.w.row(r).dot(du) + rate.rate_offset[r];
    }
}
