//! Sides of switches at an instant.
//!
//! At the start, where a guard fell through zero, and where velocities or memory jumped, sides must be found that hold on the arc
//! that begins. A switch may stand inside the argument of another (`if(mod(t, 2) < 1, …)`), whose value then jumps with it. So the
//! switches are decided in the order of the tape, operands first: each sees its argument with the sides already
//! decided, and one pass makes them all consistent.
//!
//! | argument x of a switch with the side s | new side |
//! |---|---|
//! | at rest: with the present sides no moving input reaches it | that of x, exactly (so `floor(t) == 1` holds for a second) |
//! | did not jump, or is not outside the region of s | s |
//! | otherwise | that of x; at a border the one to which x moves |
//!
//! "At a border" and "did not jump" are meant within the rounding of x: [`NOISE`] times the size of the terms of which it
//! is the sum, and the way it goes in the time to which instants are known.

use super::switch::SwitchKind;
use super::tape::{Instr, Local, Tape, Work};

/// Relative rounding of an argument, and of the time of an instant.
const NOISE: f64 = 1e-13;

/// What [`Tape::settle`] must know.
pub struct Settling<'a> {
    /// By input: whether it changes between events.
    pub moving: &'a [bool],
    /// Time, for the resolution of instants.
    pub time: f64,
    /// Arguments before the jump, by number of switch; NaN where they are not known. `None`: there are no sides before.
    pub before: Option<&'a [f64]>,
    /// By number of switch: its side is given.
    pub given: &'a [bool],
}

impl Tape {
    /// Finds the sides of this tape's switches for the arc that begins; with `before` they start from those in `sides`. `rate`
    /// gives the rate of the argument of a switch when the sides are as given. The tape is left evaluated.
    pub fn settle(
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
        self.find_moving(work, how.moving);
        for l in &self.locals {
            let k = l.number as usize;
            if how.given.get(k) == Some(&true) {
                continue;
            }
            let new = decide(l, work, sides[k], how, |k| rate(k, sides));
            if new != sides[k] && !new.is_nan() {
                sides[k] = new;
                self.eval_latched(inputs, work, sides);
                self.find_moving(work, how.moving);
            }
        }
    }

    /// Marks the registers that change during the arc: what a moving input reaches through the branches taken.
    fn find_moving(&self, work: &mut Work, moving: &[bool]) {
        let Work { regs, moves } = work;
        let first = self.constants.len();
        let base = first + self.inputs.len();
        moves.resize(regs.len(), false);
        for (reg, &i) in moves[first..base].iter_mut().zip(&self.inputs) {
            *reg = moving.get(i as usize).copied().unwrap_or(true);
        }
        for (i, instr) in self.instrs.iter().enumerate() {
            let m = |a: u32| moves[a as usize];
            let is_zero = |a: u32| !moves[a as usize] && regs[a as usize] == 0.0;
            moves[base + i] = match *instr {
                Instr::Add(a, b)
                | Instr::Sub(a, b)
                | Instr::Pow(a, b)
                | Instr::Atan2(a, b)
                | Instr::Hypot(a, b) => m(a) || m(b),
                Instr::Mul(a, b) => (m(a) || m(b)) && !is_zero(a) && !is_zero(b),
                Instr::Div(a, b) => (m(a) || m(b)) && !is_zero(a),
                Instr::Neg(a) | Instr::Square(a) | Instr::Powi(a, _) | Instr::Fun(_, a) => m(a),
                Instr::Table(t, c, x) => {
                    m(x) && !self.tables[t as usize / 4].is_flat(regs[c as usize], (t % 4) as u8)
                }
                Instr::Select(c, a, b) => m(if regs[c as usize] != 0.0 { a } else { b }),
                // sides are frozen, and so is what is made of them
                Instr::Sign(..)
                | Instr::Floor(..)
                | Instr::Cell(..)
                | Instr::Positive(_)
                | Instr::NonNegative(_)
                | Instr::IsZero(_)
                | Instr::And(..)
                | Instr::Or(..)
                | Instr::Not(_) => false,
            };
        }
    }
}

fn decide(l: &Local, work: &Work, side: f64, how: &Settling<'_>, rate: impl FnOnce(usize) -> f64) -> f64 {
    let x = work.regs[l.argument as usize];
    let k = l.number as usize;
    if !work.moves[l.argument as usize] {
        return l.switch.side(x);
    }
    let zero = NOISE * l.size(work);
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
