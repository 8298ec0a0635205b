//! Sides of the switches of a compiled model at an instant.

use crate::expr::Settling;
use crate::system::{Discrete, Eval, State};

use super::compiled::{CompiledSystem, Relevance};

/// What is known of the time before an instant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Before {
    /// Nothing: the start.
    None,
    /// Sides, but not the arguments.
    Unknown,
    /// Sides, and the arguments: they are in the last part of the scratch memory.
    Arguments,
}

impl CompiledSystem {
    /// Sides of all switches for the arc that begins at `s` (see [`crate::expr::settle`]), with everything else in `d` in place.
    /// True when a latch changed.
    pub(super) fn settle(&self, s: &State, d: &mut Discrete, out: &mut Eval, before: Before) -> bool {
        if self.switch_count == 0 {
            return false;
        }
        self.fill(s, d, &mut out.work[..self.base.len()]);
        let (inputs, rest) = out.work.split_at_mut(self.base.len());
        let (sides, rest) = rest.split_at_mut(self.switch_count);
        let (arguments, old) = rest.split_at_mut(self.switch_count);
        let (first, contour_work) = out.tapes.split_at_mut(2);
        for (c, work) in self.contours.iter().zip(contour_work) {
            c.solve(inputs, work, &d.latches, &mut out.contour, &mut out.guards);
        }
        for (side, &latch) in sides.iter_mut().zip(&d.latches) {
            *side = f64::from(latch);
        }
        // signs of slips belong to the modes, once these are decided
        let modes_count = before == Before::Arguments;
        if modes_count {
            for &(k, contact, factor) in &self.slip_switches {
                sides[k] = factor * d.modes[contact].direction();
            }
            // nobody followed these while their contacts were at rest
            for (old, relevance) in old.iter_mut().zip(&self.relevance) {
                if matches!(relevance, Relevance::Friction(_)) {
                    *old = f64::NAN;
                }
            }
        } else {
            old.fill(f64::NAN);
        }
        let how = Settling {
            moving: &self.moving,
            time: s.t,
            before: (before != Before::None).then_some(&*old),
            given: if modes_count { &self.is_slip } else { &[] },
        };
        let (main_work, rate_work) = first.split_at_mut(1);
        let inputs = &*inputs;
        self.main.settle(inputs, &mut main_work[0], sides, &how, |k, sides| {
            self.switch_rates.eval_latched(inputs, &mut rate_work[0], sides);
            self.switch_rates.output(&rate_work[0], k)
        });
        self.main.switch_arguments(&main_work[0], arguments);
        let mut changed = false;
        for (latch, &side) in d.latches.iter_mut().zip(&*sides) {
            let new = if side.is_finite() { side.clamp(-2e9, 2e9) as i32 } else { 1 };
            changed |= new != *latch;
            *latch = new;
        }
        changed
    }

    /// Sides of the switches whose arguments jumped from `before` to `d`.
    pub(super) fn follow_jumps(
        &self,
        s: &State,
        before: &Discrete,
        d: &mut Discrete,
        out: &mut Eval,
    ) -> bool {
        if self.switch_count == 0 {
            return false;
        }
        self.run(s, before, out);
        let n = self.base.len() + self.switch_count;
        out.work.copy_within(n..n + self.switch_count, n + self.switch_count);
        self.settle(s, d, out, Before::Arguments)
    }
}
