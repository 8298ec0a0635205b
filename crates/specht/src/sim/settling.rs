//! How series of impacts end (PG-6-EVENT): hops below the resolution.
//!
//! After an impact a contact that opens with the rate v and falls back with the acceleration a < 0 hops to the height
//! `v²/2|a|` and comes back after `2v/|a|`. A hop lower than [`Settings::resolution`](super::Settings) times the length
//! scale cannot be told from rounding any more, nor can the series of smaller and smaller hops that follow it. It ends
//! here:
//!
//! 1. The impact is solved again from the velocities before it, with ε = 0 at these contacts (*plastic*).
//! 2. Contacts that open all the same (a slender block that rocks from corner to corner, discs that knock at each other, without
//!    any ε) are *closed*: the velocities jump by the impulses that bring all these gap rates to zero, signed, with
//!    friction along, provided that the contacts are then pressed together. Slip that would stop within the resolution stops with
//!    them: in a pile, short slips and short hops cause each other.
//!
//! Why that is enough. Over the hops left out, the contact impulses and the smooth forces together bring the gap rate to zero; the
//! smooth forces do the same work on the closed contact that follows. What remains is the impulse against the rate v, with
//! its friction μ as long as the slip does not turn: (1) and (2) apply it at once. Velocities of all other coordinates agree to
//! first order in v, and positions differ by about the height of the hop, `10⁻¹¹` of the length scale. The
//! instant of rest, which lies later by the remaining series, is extrapolated from the last flights ([`Zeno`](super::zeno)), and the event
//! `accumulated` is logged when the run gets there.

use crate::contact::{Fixed, Forces};
use crate::linalg::axpy;
use crate::system::{Discrete, Eval, Mode, Normal, System};

use super::event_driven::Run;
use super::instant::{AGAIN, Moment};
use super::ledger::Ledger;
use super::tolerances::{HOP, SPEED_ZERO};
use super::trajectory::Kind;
use super::watch::{What, contact_speed};

/// How often a contact is closed at one instant: the closing of others may open it again.
const CLOSINGS: usize = 3;

/// Accelerations under which contacts are pressed together, beyond those seen, that are worth a closer look.
const PRESSED: f64 = 1e3;

/// What an impact that is taken back restores.
#[derive(Clone, Default)]
pub(crate) struct Undo {
    u: Vec<f64>,
    discrete: Discrete,
    ledger: Ledger,
    warnings: usize,
}

/// A series that has been completed and whose end is still to come.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// The end of the series.
    pub end: f64,
    contacts: Vec<usize>,
    from: f64,
}

/// Modified copy of an evaluation and solver of the closing jump.
#[derive(Default)]
pub(crate) struct Closing {
    fixed: Fixed,
    forces: Forces,
    /// In which the jump was solved.
    modes: Vec<Mode>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Remember the state before the first collision of this instant.
    pub(super) fn keep_for_undo(&self, m: &mut Moment) {
        if m.undo.is_none() {
            let mut undo = m.spare.take().unwrap_or_default();
            undo.u.clone_from(&self.field.state.u);
            undo.discrete.clone_from(&self.field.discrete);
            undo.ledger.clone_from(&self.ledger);
            undo.warnings = self.out.warnings.len();
            m.undo = Some(undo);
        }
    }

    /// After a collision and the decision that followed it: end the series whose hops are below the resolution. True when the
    /// velocities changed and the modes must be decided again.
    pub(super) fn end_hops(&mut self, m: &mut Moment) -> bool {
        let n = self.field.dims.contacts;
        if m.undo.is_none() {
            // without a collision only where the same contacts come back to this instant again and again
            m.plastic.resize(n, true);
            return self.crowd.1 > AGAIN && self.close_together(m);
        }
        let hops = self.small_hops();
        m.plastic.resize(n, false);
        if hops.iter().any(|&i| !m.plastic[i]) {
            hops.iter().for_each(|&i| m.plastic[i] = true);
            m.settled.extend(&hops);
            self.take_back(m);
            return true;
        }
        self.close_together(m)
    }

    /// Contacts of this instant that open: contact, row and rate.
    fn opening(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let (field, sets) = (&self.field, &self.sets);
        field.info.iter().enumerate().filter_map(|(i, c)| {
            let Normal::Unilateral { row } = c.normal else { return None };
            let v = field.eval.rate(row, &field.state.u);
            // in space what opens by rounding took part in the decision as a closed contact: it is pulled open, and does not hop
            let rounding = field.spatial && sets.is_slow(field, i);
            (!rounding && sets.closed[i] && field.discrete.modes[i] == Mode::Open && v > 0.0)
                .then_some((i, row, v))
        })
    }

    /// Contacts that open and fall back from below the resolution.
    fn small_hops(&self) -> Vec<usize> {
        let Some(accel) = self.decider.accelerations() else { return Vec::new() };
        let back = |row: usize| -self.field.eval.accel(row, accel);
        let small = |&(i, row, v): &(usize, usize, f64)| v * v <= 2.0 * back(row) * self.least_hop(i);
        self.opening().filter(small).map(|o| o.0).collect()
    }

    /// Height below which a hop of contact `i` is not followed: the resolution, or the rounding of its gap, which grows with time where a
    /// surface is driven.
    fn least_hop(&self, i: usize) -> f64 {
        let rounding = self.field.watches.noise(What::Gap(i), self.field.info);
        (self.settings.resolution * self.length).max(HOP * rounding)
    }

    /// Stop the slip that ends within the resolution, and close all contacts that open slowly and that would be pressed together at rest: contacts that knock at each other (a disc on two
    /// discs) need not fall back by themselves. What brings such a contact back is the force it would carry, λ times its
    /// mobility.
    fn close_together(&mut self, m: &mut Moment) -> bool {
        let height = self.settings.resolution * self.length;
        let Some(accel) = self.decider.accelerations() else { return false };
        let (eval, before) = (&self.field.eval, &self.field.forces.accel);
        let largest = |row: usize| {
            let terms = eval.w.row(row).iter();
            terms.map(|(k, w)| w.abs() * accel[k].abs().max(before[k].abs())).sum::<f64>()
                + eval.accel_offset[row].abs()
        };
        let tried = |i: usize| m.closed.iter().filter(|&&k| k == i).count() < CLOSINGS;
        let mut hops: Vec<(usize, usize, f64)> = (self.opening())
            .filter(|&(i, row, v)| v * v <= 2.0 * PRESSED * largest(row) * self.least_hop(i) && tried(i))
            .collect();
        let mut stops = self.small_slips(accel, height);
        stops.retain(|&i| tried(i));
        while !(hops.is_empty() && stops.is_empty()) {
            let contacts: Vec<usize> = hops.iter().map(|h| h.0).collect();
            let Some(after) = self.closing_jump(&contacts, &stops) else { return false };
            let lambda = self.tools.closing.forces.lambda.clone();
            let Some(pressed) = self.pressing(&hops, &after) else { return false };
            let count = hops.len();
            let mut pressed = pressed.into_iter();
            hops.retain(|h| h.2 * h.2 <= 2.0 * pressed.next().unwrap_or(0.0) * self.least_hop(h.0));
            if hops.len() == count {
                // without ε first: a jump that pulls would turn its friction, too
                if contacts.iter().any(|&i| !m.plastic[i]) {
                    contacts.iter().for_each(|&i| m.plastic[i] = true);
                    m.settled.extend(&contacts);
                    self.take_back(m);
                    return true;
                }
                m.closed.extend(contacts.iter().chain(&stops));
                m.settled.extend(&contacts);
                let none = vec![0.0; self.field.dims.contacts];
                if let Some(v) = &mut self.variation {
                    v.closing(&self.field, &self.tools.closing.modes, &after);
                }
                self.apply(m, &after, &lambda, &none, &none);
                return true;
            }
        }
        false
    }

    /// Closed contacts whose slip, with the accelerations `accel`, stops within a path below the resolution.
    fn small_slips(&self, accel: &[f64], height: f64) -> Vec<usize> {
        let (field, eval) = (&self.field, &self.field.eval);
        let stops = |i: &usize| {
            let (d, Some(&row)) = (field.discrete.modes[*i].direction(), field.info[*i].tangent.first())
            else {
                return false;
            };
            let slip = d * eval.rate(row, &field.state.u);
            field.info[*i].friction && slip > 0.0 && slip * slip <= -2.0 * d * eval.accel(row, accel) * height
        };
        (0..field.dims.contacts).filter(stops).collect()
    }

    /// Accelerations with which the contacts `hops` would be pressed together at the velocities `u`; negative where they carry nothing.
    fn pressing(&mut self, hops: &[(usize, usize, f64)], u: &[f64]) -> Option<Vec<f64>> {
        let Run { field, sets, decider, tools, .. } = self;
        let here = field.state.u.clone();
        field.state.u.copy_from_slice(u);
        field.evaluate();
        sets.fill(field, true);
        let set = decider.transition.solve(field.info, &field.eval, &sets.starts);
        field.state.u.copy_from_slice(&here);
        field.evaluate();
        let forces = &set.solutions.first()?.forces;
        let joints = field.info.iter().filter(|c| c.is_bilateral());
        let bilateral: Vec<usize> = joints.flat_map(|c| c.normal_rows()).copied().collect();
        let rows: Vec<usize> = hops.iter().map(|h| h.1).collect();
        let (eval, red) = (&field.eval, &mut tools.reduced);
        let zero = vec![0.0; field.dims.u];
        if !red.eliminate(&eval.mass, &zero, &eval.w, &eval.rate_offset, &bilateral, &rows) {
            return None;
        }
        let mobility = |k: usize| eval.w.row(rows[k]).dot(red.a.row(k));
        Some(hops.iter().enumerate().map(|(k, h)| forces.normal[h.0] * mobility(k)).collect())
    }

    /// Back to the velocities before the collisions of this instant.
    fn take_back(&mut self, m: &mut Moment) {
        let Some(undo) = &m.undo else { return };
        self.field.state.u.copy_from_slice(&undo.u);
        self.field.discrete.clone_from(&undo.discrete);
        self.ledger.clone_from(&undo.ledger);
        self.out.warnings.truncate(undo.warnings);
        self.clear_impulses(m);
        if let Some(v) = &mut self.variation {
            v.take_back();
        }
        self.field.evaluate();
    }

    /// Velocities at which none of the contacts `hops` opens and none of `stops` slips, all other closed contacts kept. Contacts that slip go
    /// on slipping the same way, or stick when the jump would turn them. The impulses are left in the solver. None when there is no such
    /// jump.
    fn closing_jump(&mut self, hops: &[usize], stops: &[usize]) -> Option<Vec<f64>> {
        let (info, n) = (self.field.info, self.field.dims.contacts);
        let (eval, u) = (&self.field.eval, &self.field.state.u);
        let mut modes: Vec<Mode> = self.field.discrete.modes.clone();
        for i in 0..n {
            if hops.contains(&i) {
                modes[i] = Mode::Closed;
            }
            let (true, true, Some(&row)) = (modes[i].is_closed(), info[i].friction, info[i].tangent.first())
            else {
                continue;
            };
            let mut slip = eval.rate(row, u);
            if info[i].tangent.len() > 1 {
                slip = super::space::speed(&info[i], eval, u);
                let d = self.field.direction(i, super::space::slip(&info[i], eval, u));
                self.tools.closing.fixed.directions.resize(n, [1.0, 0.0, 0.0]);
                let section = eval.section(i).under(self.field.forces.normal[i]);
                self.tools.closing.fixed.directions[i] = section.push(d);
            }
            let still = SPEED_ZERO * self.field.watches.scales.slip[i].max(contact_speed(&info[i], eval, u));
            modes[i] = match slip {
                s if s.abs() <= still || stops.contains(&i) => Mode::Stick,
                _ if info[i].tangent.len() > 1 => Mode::Slip,
                s if s > 0.0 => Mode::SlipPlus,
                _ => Mode::SlipMinus,
            };
        }
        // the velocity jump solves the problem of accelerations without smooth forces, with rates for offsets
        let jump = at_rest(eval, u);
        let mut after = u.clone();
        loop {
            let Closing { fixed, forces, .. } = &mut self.tools.closing;
            if !fixed.solve(info, &jump, &modes, &self.field.signs, forces).solved {
                return None;
            }
            after.copy_from_slice(u);
            axpy(1.0, &forces.accel, &mut after);
            let mut turned = false;
            for i in 0..n {
                let d = modes[i].direction();
                if d != 0.0 && info[i].friction && d * eval.rate(info[i].tangent[0], &after) < 0.0 {
                    modes[i] = Mode::Stick;
                    turned = true;
                }
            }
            if !turned {
                break;
            }
        }
        let energy = |v: &[f64]| eval.mass.form(v);
        if !(energy(&after) <= energy(u) * (1.0 + 1e-12)) {
            // friction along a signed impulse gave energy: the jump without friction does not
            for mode in modes.iter_mut().filter(|m| m.direction() != 0.0) {
                *mode = Mode::Closed;
            }
            let Closing { fixed, forces, .. } = &mut self.tools.closing;
            if !fixed.solve(info, &jump, &modes, &self.field.signs, forces).solved {
                return None;
            }
            after.copy_from_slice(u);
            axpy(1.0, &forces.accel, &mut after);
        }
        self.tools.closing.modes = modes;
        Some(after)
    }

    /// The series that ended at this instant: their limit is logged now or, when it lies ahead, later.
    pub(super) fn await_limit(&mut self, m: &Moment) {
        if m.settled.is_empty() {
            return;
        }
        let t = self.time();
        let mut contacts = m.settled.clone();
        contacts.sort_unstable();
        contacts.dedup();
        let limit = contacts.iter().filter_map(|&i| self.zeno.limit(i)).filter(|&e| e >= t).reduce(f64::max);
        contacts.iter().for_each(|&i| self.zeno.forget(i));
        let pending = Pending { end: limit.unwrap_or(t), contacts, from: t };
        self.pending = Some(pending);
        if limit.is_none() {
            self.log_pending();
        }
    }

    /// Log the series whose end is reached, or overtaken by another event.
    pub(super) fn log_pending(&mut self) {
        let Some(p) = self.pending.take() else { return };
        let mut m = Moment::default();
        self.open_moment(&mut m);
        let note = if p.end > p.from {
            format!("infinitely many impacts end at t = {:.12}; completed from t = {:.12}", p.end, p.from)
        } else {
            "the hops are below the resolution: the impact was taken as plastic".to_string()
        };
        self.push_event(&m, Kind::Accumulated, &p.contacts, None, &note);
    }
}

/// The evaluation with rates in place of offsets and no smooth forces: its accelerations are jumps of velocity.
pub(super) fn at_rest(eval: &Eval, u: &[f64]) -> Eval {
    let mut jump = eval.clone();
    jump.h.fill(0.0);
    jump.load.fill(0.0);
    jump.load_static.fill(0.0);
    for row in 0..jump.accel_offset.len() {
        jump.accel_offset[row] = eval.rate(row, u);
    }
    jump
}
