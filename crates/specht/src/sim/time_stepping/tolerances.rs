//! The tolerances of the time-stepping scheme: pure numbers, beside the step, the length of the model, the fastest velocity or the strongest
//! impulse of a step. The scheme has errors of the order of the step, so they only have to keep rounding and the error of the cone
//! problem apart from contact and motion; they follow from [`CONE`].

/// Rounding of a rate, relative to its terms.
pub(super) const RATE_NOISE: f64 = 1e-12;
/// Difference of coordinates of two runs that is their rounding, of the coordinate.
pub(super) const POSITION_NOISE: f64 = 1e-12;

/// Accepted error of the cone problem, relative to the velocities of the step: of small problems, which are solved directly, and of large ones.
pub(super) const CONE: [f64; 2] = [1e-10, 1e-9];
/// An answer above [`CONE`] that is still good enough: ten times the larger; the energy it may cost is booked as rounding.
pub(super) const ACCEPTED: f64 = 1e-8;
/// Agreement of bounds that depend on the answer, relative to the largest impulse: as well as the problem itself is solved.
pub(super) const AGREE: f64 = 1e-10;
/// Velocities, and impulses, below this part of the largest are none: the error of [`CONE`].
pub(super) const MOVES: f64 = 1e-9;
/// An impulse is at its bound up to this: far above [`ACCEPTED`], because a sliding contact sits on its bound by the law.
pub(super) const AT_BOUND: f64 = 1e-6;
/// Velocities of a step agree with the acceleration of a solution of the rigid laws up to this, of the fastest: its modes are then those of the
/// solution.
pub(super) const SAME_MOTION: f64 = 1e-6;

/// Gaps below this, of their size, touch: what a projection leaves, and more.
pub(super) const TOUCHES: f64 = 1e-9;
/// Errors of positions, of the length, from which they are projected, and to which: the first round looks more closely, so that what is left
/// does not creep.
pub(super) const PROJECTED: [f64; 2] = [1e-12, 1e-10];

/// Impacts closer than this part of a step count as one.
pub(super) const SAME_IMPACT: f64 = 1e-3;
/// Part of a step, or of an interval of the record, that is rounding of its end.
pub(super) const SAME_TIME: f64 = 1e-9;

/// Perturbation that tells the stiffness: half of the digits, so that curvature and rounding are alike.
pub(super) const PERTURBED: f64 = 1e-7;
/// Motion that counts as rest, relative to the natural one ([`crate::contact::Measure::reach`]).
pub(super) const AT_REST: f64 = 1e-6;
