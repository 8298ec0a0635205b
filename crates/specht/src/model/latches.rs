//! Sides of the switches of a compiled model at an instant.

use crate::expr::Settling;
use crate::system::{Discrete, Eval, State};

use super::compiled::{CompiledSystem, Extent, Memory};
use super::program::Relevance;

/// What is known of the time before an instant.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Before {
    /// Nothing: the start.
    None,
    /// Sides, but not the arguments.
    Unknown,
    /// Sides, and the arguments: they are in [`Memory::others`].
    Arguments,
}

impl CompiledSystem {
    /// Sides of all switches for the arc that begins at `s` (see [`crate::expr::settle`]), with everything else in `d` in place.
    /// True when a latch changed.
    pub(super) fn settle(
        &self,
        s: &State,
        d: &mut Discrete,
        memory: &mut Memory,
        out: &mut Eval,
        before: Before,
    ) -> bool {
        if self.switch_count == 0 {
            return false;
        }
        self.fill_memory(s, d, memory);
        self.solve_contours(d, memory, out);
        let Memory { inputs, sides, arguments, others: old, main, rates, .. } = memory;
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
        let inputs = &*inputs;
        self.main.settle(inputs, main, sides, &how, |k, sides| {
            self.switch_rates.eval_latched(inputs, rates, sides);
            self.switch_rates.output(rates, k)
        });
        self.main.switch_arguments(main, arguments);
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
        let mut memory = self.borrow(out);
        self.run(s, before, Extent::All, &mut memory, out);
        let Memory { arguments, others, .. } = &mut *memory;
        others.copy_from_slice(arguments);
        let changed = self.settle(s, d, &mut memory, out, Before::Arguments);
        out.scratch.put(memory);
        changed
    }
}
