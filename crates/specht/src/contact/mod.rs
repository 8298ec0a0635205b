//! Contact forces: which contacts stay closed, stick or slide, and with which forces and accelerations.
//!
//! ```text
//! M u̇ = h + Wᵀ λ,    g̈ = W u̇ + w̄
//! unilateral   0 ≤ g̈_N ⊥ λ_N ≥ 0                         bilateral, pin   g̈ = 0, λ of either sign
//! friction     |λ_T| ≤ μ N,   λ_T = −μ N sign(slip), at zero slip: −μ N sign(g̈_T) or stick, g̈_T = 0
//! N            λ_N (unilateral), |λ_N| (bilateral), |(λ_1, λ_2)| (pin), a load plus other contacts' normal forces (given)
//! ```
//!
//! * [`Fixed`]: modes known, the linear problem (5.15) between events. The hot path, no allocation.
//! * [`Transition`]: modes unknown, the whole solution set at an event (PG-6-LCP): [`SolutionSet`].
//!
//! Which modes satisfy the laws together is the problem of [`crate::modes`]; friction in a tangent plane is in [`space`].

pub(crate) mod compliant;
mod fast;
mod fixed;
pub(crate) mod keller;
mod measure;
mod member;
pub(crate) mod one;
pub(crate) mod space;
pub(crate) mod springs;
mod together;
pub(crate) mod transition;

pub(crate) use fast::Lasting;
pub use fast::{Fast, FastPair, Fate};
pub(crate) use fixed::{Fixed, Regularity};
pub(crate) use fixed::{friction_bound, normal_forces};
pub(crate) use measure::Measure;
pub(crate) use member::Small;
pub(crate) use transition::{Family, Settings};
pub use transition::{Solution, SolutionSet, Status, Transition};

pub use crate::modes::{Reduced, Start};
use crate::system::{ContactInfo, Mode};

/// Accelerations and all contact forces.
#[derive(Debug, Default, PartialEq)]
pub struct Forces {
    /// u̇.
    pub accel: Vec<f64>,
    /// Force along every row of `Eval::w`; 0 where none acts, and for the normal row of a `Given` contact, whose force
    /// is part of `h`.
    pub lambda: Vec<f64>,
    /// Normal force per contact: λ_N; the norm for a pin; the load for `Given`. Signed for bilateral contacts.
    pub normal: Vec<f64>,
    /// Tangential force per contact.
    pub tangential: Vec<f64>,
    /// Friction bound per contact: with the static coefficient for a sticking contact, else with the sliding one.
    pub bound: Vec<f64>,
    /// Contacts that carry nothing, or slip in the small: how far they are from carrying or holding again; else 0. Filled by
    /// [`Fixed::openings`] and [`Fixed::overload`].
    pub excess: Vec<f64>,
    /// Nothing but accelerations has been written since [`Forces::reset`].
    pub(crate) idle: bool,
}

impl Clone for Forces {
    fn clone(&self) -> Self {
        let mut out = Forces::default();
        out.clone_from(self);
        out
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.accel.clone_from(&source.accel);
        self.lambda.clone_from(&source.lambda);
        self.normal.clone_from(&source.normal);
        self.tangential.clone_from(&source.tangential);
        self.bound.clone_from(&source.bound);
        self.excess.clone_from(&source.excess);
        self.idle = source.idle;
    }
}

impl Forces {
    /// The same where accelerations alone follow: what is zero already is left.
    pub(crate) fn rest(&mut self, u: usize, rows: usize, contacts: usize) {
        if !(self.idle && self.accel.len() == u && self.lambda.len() == rows && self.bound.len() == contacts)
        {
            self.reset(u, rows, contacts);
            self.idle = true;
        }
    }

    /// Set sizes for `u` velocities, `rows` rows and `contacts` contacts, all zero.
    pub(crate) fn reset(&mut self, u: usize, rows: usize, contacts: usize) {
        let Forces { accel, lambda, normal, tangential, bound, excess, idle } = self;
        *idle = false;
        for (v, n) in [
            (accel, u),
            (lambda, rows),
            (normal, contacts),
            (tangential, contacts),
            (bound, contacts),
            (excess, contacts),
        ] {
            if v.len() != n {
                v.resize(n, 0.0);
            }
            // short lists, mostly zero already
            v.iter_mut().filter(|x| **x != 0.0).for_each(|x| *x = 0.0);
        }
    }
}

/// A contact that this module cannot treat.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ContactError {
    /// A law that time steps do not know.
    #[error(
        "contact `{0}` has friction that time steps do not treat (a tensor, a patch, a ball joint); use scheme = \"event\""
    )]
    Stepping(String),
    /// `load_on` names a contact outside the list, or one that is `Given`.
    #[error(
        "the load of contact `{0}` depends on a contact that does not exist or whose normal force is given"
    )]
    Load(String),
}

/// Whether every contact can be treated; called once when a system is built.
pub(crate) fn check(info: &[ContactInfo]) -> Result<(), ContactError> {
    let known = |j: usize| info.get(j).is_some_and(|c| !c.is_given());
    match info.iter().find(|c| !c.load_on.iter().all(|&j| known(j))) {
        Some(c) => Err(ContactError::Load(c.name.clone())),
        None => Ok(()),
    }
}

/// Whether friction acts at a contact in mode `m`.
pub(crate) fn rubs(info: &ContactInfo, m: Mode) -> bool {
    info.friction
        && match info.tangent.len() {
            0 => false,
            1 => matches!(m, Mode::Stick | Mode::SlipPlus | Mode::SlipMinus),
            _ => matches!(m, Mode::Stick | Mode::Slip),
        }
}

#[cfg(test)]
pub(crate) mod tests;
