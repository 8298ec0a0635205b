//! Index sets at an instant (5.5): which contacts are closed, which may stick (PG-6-EVENT, step 1).
//!
//! A mode is memory: a contact that was closed stays in the set of closed contacts, one that stuck has slip zero, one that
//! slid keeps its direction, whatever rounding makes of the numbers. Numbers decide only where there is no memory: at
//! the start, at an arrival (the gap reached zero, the slip reached zero) and after an impact. Velocities count as zero
//! below `10⁻¹⁰` of the largest size their terms have had.

use crate::contact::Start;
use crate::system::{Mode, Normal, System};

use super::field::Field;
use super::tolerances::{FLANK_MET, SPEED_ZERO, STOPPED, STOPS_ALONG};
use super::watch::contact_speed;

/// What is known about the contacts at an instant.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    /// In I_S: gap zero.
    pub closed: Vec<bool>,
    /// Slip reached zero.
    pub stopped: Vec<bool>,
    /// The input of the transition problem.
    pub starts: Vec<Start>,
}

impl Sets {
    /// Take over the memory of the modes.
    pub(crate) fn remember(&mut self, modes: &[Mode]) {
        self.closed.clear();
        self.closed.extend(modes.iter().map(|m| m.is_closed()));
        self.stopped.clear();
        self.stopped.resize(modes.len(), false);
        self.starts.clear();
        self.starts.resize(modes.len(), Start::Open);
    }

    /// Whether some closed contact approaches: an impact is due.
    pub(crate) fn approaching<S: System + ?Sized>(&self, field: &Field<S>) -> bool {
        (0..field.info.len()).any(|i| self.closed[i] && opening(field, i).is_some_and(|r| r < -SPEED_ZERO))
    }

    /// Whether a unilateral contact neither approaches nor opens by more than rounding.
    pub(crate) fn is_slow<S: System + ?Sized>(&self, field: &Field<S>, i: usize) -> bool {
        opening(field, i).is_some_and(|r| r.abs() <= SPEED_ZERO)
    }

    /// The fastest approach of a closed contact, and the largest velocity at any closed contact.
    pub(crate) fn approach<S: System + ?Sized>(&self, field: &Field<S>) -> (f64, f64) {
        let (eval, u) = (&field.eval, &field.state.u);
        let closed = field.info.iter().enumerate().filter(|(i, _)| self.closed[*i]);
        closed.fold((0.0_f64, 0.0_f64), |(rate, size), (_, c)| {
            let size = size.max(contact_speed(c, eval, u));
            match c.normal {
                Normal::Unilateral { row } => (rate.max(-eval.rate(row, u)), size),
                _ => (rate, size),
            }
        })
    }

    /// Fill `starts`. `jumped`: velocities jumped, slip must be judged anew.
    pub(crate) fn fill<S: System + ?Sized>(&mut self, field: &Field<S>, jumped: bool) {
        let u = &field.state.u;
        for (i, c) in field.info.iter().enumerate() {
            self.starts[i] = Start::Open;
            let takes_part = match c.normal {
                Normal::Unilateral { row } => {
                    let size = field.watches.scales.rate[i].max(contact_speed(c, &field.eval, u));
                    let kept = field.discrete.modes[i].is_closed() && !jumped;
                    self.closed[i] && (kept || field.eval.rate(row, u) <= SPEED_ZERO * size)
                }
                Normal::Given { row: Some(_) } => self.closed[i],
                _ => true,
            };
            if !takes_part {
                continue;
            }
            // what stops takes along all that moves with it: their slips vanish together, each to its own rounding
            let stops = self.stopped.contains(&true) && self.by_number(field, i) == Start::Zero;
            // without friction there is nothing to remember
            let anew = jumped || self.stopped[i] || stops || field.eval.is_smooth(field.info, i);
            self.starts[i] = match (field.discrete.modes[i], anew) {
                (Mode::Stick, false) => Start::Zero,
                (Mode::Slip, false) => Start::Plus,
                (Mode::SlipPlus, false) => Start::Plus,
                (Mode::SlipMinus, false) => Start::Minus,
                _ => self.by_number(field, i),
            };
        }
    }

    fn by_number<S: System + ?Sized>(&self, field: &Field<S>, i: usize) -> Start {
        let Some(&row) = field.info[i].tangent.first() else { return Start::Zero };
        let mut slip = field.eval.rate(row, &field.state.u);
        let size =
            field.watches.scales.slip[i].max(contact_speed(&field.info[i], &field.eval, &field.state.u));
        if field.info[i].tangent.len() > 1 && field.info[i].friction {
            // contacts in the tangent plane that are nearly as slow stop together
            slip = super::space::speed(&field.info[i], &field.eval, &field.state.u);
            if self.stopped.contains(&true) && slip <= STOPS_ALONG * super::space::slow(size) {
                return Start::Zero;
            }
        }
        // an impact at the same instant makes a stop void
        let stopped = self.stopped[i] && slip.abs() <= STOPPED * size;
        if stopped || slip.abs() <= SPEED_ZERO * size {
            Start::Zero
        } else if slip > 0.0 {
            Start::Plus
        } else {
            Start::Minus
        }
    }
}

/// Whether an elastic flank acts: its surface is reached and its force is not spent. A gap of zero counts when it is
/// about to be pressed, by its rate or, at rest, by its acceleration: the force is still zero at that instant.
pub(crate) fn flank_acts<S: System + ?Sized>(field: &Field<S>, i: usize) -> bool {
    let Some(row) = field.info[i].normal_row() else { return true };
    if let Some(presses) = field.sys.presses(i, &field.discrete) {
        return presses;
    }
    let gap = field.eval.gap[row];
    if field.eval.load[i] > 0.0 || gap < 0.0 {
        return true;
    }
    let u = &field.state.u;
    let rate = field.eval.rate(row, u);
    let still = SPEED_ZERO * field.watches.scales.rate[i].max(contact_speed(&field.info[i], &field.eval, u));
    let enters = rate < -still || (rate <= still && field.eval.accel(row, &field.forces.accel) < 0.0);
    gap <= FLANK_MET * field.watches.scales.gap[row] && enters
}

/// How fast the gap of a unilateral contact opens, beside the largest velocity of the contact.
fn opening<S: System + ?Sized>(field: &Field<S>, i: usize) -> Option<f64> {
    let Normal::Unilateral { row } = field.info[i].normal else { return None };
    let (eval, u) = (&field.eval, &field.state.u);
    let size = field.watches.scales.rate[i].max(contact_speed(&field.info[i], eval, u));
    let rate = eval.rate(row, u);
    Some(if rate == 0.0 { 0.0 } else { rate / size })
}
