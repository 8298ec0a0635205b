//! The mode problem: which contacts are open, stick or slide, so that all laws hold together. One for accelerations
//! (`contact`), for velocities (`impact`) and for analyses.
//!
//! * [`problem`]: the problem in scaled variables, [`Reduced`]: bilateral rows eliminated.
//! * [`pattern`]: a choice of modes, its equations and inequalities; [`pin`]: the norm of the force of a pin.
//! * [`search`]: all patterns that hold, pruned by [`admissible`] and [`span`], island by island ([`islands`]).
//! * [`family`], [`collect`]: solutions that belong together, each family a polyhedron.
//! * [`forms`]: the same as linear complementarity problems (PG-6-LCP).

mod admissible;
pub(crate) mod collect;
pub(crate) mod family;
pub(crate) mod forms;
mod islands;
pub(crate) mod pattern;
pub(crate) mod pin;
pub(crate) mod problem;
mod reduce;
pub(crate) mod search;
mod span;

pub use reduce::Reduced;

/// Squared distance from the rows before it, relative to its own length, below which a row depends on them.
pub(crate) const DEPENDENT: f64 = 1e-11;

/// What is known of a contact before the transition problem is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Not in I_N: apart, or parting. No force. (Bilateral contacts and pins always take part, whatever is said here.)
    #[default]
    Open,
    /// In I_H: closed, slip zero.
    Zero,
    /// Closed, sliding in the positive direction.
    Plus,
    /// Closed, sliding in the negative direction.
    Minus,
}
