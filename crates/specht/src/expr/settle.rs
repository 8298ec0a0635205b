//! Sides of switches at an instant.
//!
//! At the start, where a guard fell through zero, and where velocities or memory jumped, sides must be found that hold on the arc
//! that begins. A switch may stand inside the argument of another (`if(mod(t, 2) < 1, …)`), whose value then jumps with it. So the
//! switches are decided in the order of the tape, operands first: each sees its argument with the sides already
//! decided, and one pass makes them all consistent.
//!
//! | argument x of a switch with the side s | new side |
//! |---|---|
//! | at a border and at rest: with the present sides it does not depend on what moves | that of x (so `floor(t) == 1` holds for a second) |
//! | did not jump, or is not outside the region of s | s |
//! | otherwise | that of x; at a border the one to which x moves |
//!
//! "At a border" and "did not jump" are meant within the rounding of x: `NOISE` times the size of the terms of which it
//! is the sum, and the way it goes in the time to which instants are known.

use super::switch::SwitchKind;
use super::tape::{Local, Tape, Work};

/// Relative rounding of an argument, and of the time of an instant.
const NOISE: f64 = 1e-13;

/// What [`Tape::settle`] must know.
pub(crate) struct Settling<'a> {
    /// By input: whether it changes between events.
    pub moving: &'a [bool],
    /// Time, for the resolution of instants.
    pub time: f64,
    /// Arguments before the jump, by number of switch; NaN where they are not known. `None`: there are no sides before.
    pub before: Option<&'a [f64]>,
    /// By number of switch: its side is given.
    pub given: &'a [bool],
}

/// What an argument does when everything that moves is moved.
enum Shaken {
    /// It is the same number: its value counts as it is.
    Constant,
    /// It changes by rounding only: it is the border.
    Rounding,
    /// It moves.
    Moves,
}

impl Tape {
    /// Finds the sides of this tape's switches for the arc that begins; with `before` they start from those in `sides`. `rate`
    /// gives the rate of the argument of a switch when the sides are as given. The tape is left evaluated.
    pub(crate) fn settle(
        &self,
        inputs: &[f64],
        work: &mut Work,
        sides: &mut [f64],
        how: &Settling<'_>,
        mut rate: impl FnMut(usize, &[f64]) -> f64,
    ) {
        match how.before {
            Some(_) => self.eval_latched(inputs, work, sides),
            None => self.latch(inputs, work, sides),
        }
        for l in &self.locals {
            let k = l.number as usize;
            if how.given.get(k) == Some(&true) {
                continue;
            }
            let (x, zero) = (work.regs[l.argument as usize], NOISE * l.size(work));
            let border = l.switch.at_border(x, zero);
            let still = border.and_then(|border| match self.shake(l, inputs, work, sides, how.moving) {
                Shaken::Constant => Some(l.switch.side(x)),
                Shaken::Rounding => Some(border),
                Shaken::Moves => None,
            });
            let new = match still {
                Some(side) => side,
                None => decide(l, x, zero, sides[k], how, |k| rate(k, sides)),
            };
            if new != sides[k] && !new.is_nan() {
                sides[k] = new;
                self.eval_latched(inputs, work, sides);
            }
        }
    }

    /// What the argument of a switch does, with the present sides, when all moving inputs change.
    fn shake(&self, l: &Local, inputs: &[f64], work: &mut Work, sides: &[f64], moving: &[bool]) -> Shaken {
        let x = work.regs[l.argument as usize];
        let mut beside = std::mem::take(&mut work.beside);
        beside.clear();
        beside.extend(inputs.iter().enumerate().map(|(i, &value)| {
            let step = 0.01 * value.abs() + 1e-3;
            let moves = moving.get(i).copied().unwrap_or(true);
            if moves { value + step * (0.5 + (0.618_033_988_75 * i as f64).fract()) } else { value }
        }));
        self.eval_latched(&beside, work, sides);
        let change = (work.regs[l.argument as usize] - x).abs();
        let shaken = match change {
            0.0 => Shaken::Constant,
            _ if change <= NOISE * l.size(work) => Shaken::Rounding,
            _ => Shaken::Moves,
        };
        self.eval_latched(inputs, work, sides);
        work.beside = beside;
        shaken
    }
}

fn decide(
    l: &Local,
    x: f64,
    zero: f64,
    side: f64,
    how: &Settling<'_>,
    rate: impl FnOnce(usize) -> f64,
) -> f64 {
    let k = l.number as usize;
    if let Some(before) = how.before {
        let guard = l.switch.guard(x, side);
        let stays = match before[k] {
            unknown if unknown.is_nan() => guard >= -zero,
            before => (x - before).abs() <= zero || guard > zero,
        };
        // what moves does not stay on the border of a sign
        if stays && !(side == 0.0 && l.switch.kind == SwitchKind::Sign) {
            return side;
        }
    }
    let rate = rate(k);
    l.switch.directed(x, rate, zero + NOISE * (rate * how.time).abs())
}
