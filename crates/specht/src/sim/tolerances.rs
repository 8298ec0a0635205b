//! The tolerances of the event-driven scheme, from rounding upwards.
//!
//! Every number is a pure one: it stands beside the size of the terms of which the quantity is the sum, the length of the step or of the
//! run, or the tolerance of the settings. Three distances keep the ladder from flickering:
//!
//! ```text
//! 10⁻¹⁵ … 10⁻¹²   rounding: what the arithmetic of one evaluation makes of zero
//! 10⁻¹¹ … 10⁻⁹    zero: what is meant as zero and has gone through a projection, an impact law or a located event
//! 10⁻⁷  … 10⁻³    small: what changes the motion by less than the tolerance, or is told by the square
//! ```
//!
//! A decision of one kind stands at least a factor of ten above the noise of the kind below it. Change points of linkages have their own few
//! in `chart`, `crossing` and `passage`, next to the mathematics they belong to; the time-stepping scheme in
//! `time_stepping/tolerances.rs`.

// --- rounding of one evaluation

/// Change of positions that stands for their rounding, of the length scale: a few units of the last place.
pub(super) const POSITION_NOISE: f64 = 1e-15;
/// Gaps, switches and user functions below this are rounding of the sums they are.
pub(super) const VALUE_NOISE: f64 = 1e-14;
/// Slips and velocities below this are rounding; one digit more, because W u sums over all coordinates.
pub(super) const SPEED_NOISE: f64 = 1e-13;
/// Forces below this are rounding: they come out of a linear system.
pub(super) const FORCE_NOISE: f64 = 1e-12;
/// Forces below this share of what the smooth forces could ask of their contact are rounding of a balance.
pub(super) const LOAD_NOISE: f64 = 1e-14;
/// The audit measures forces against at least this share of it.
pub(super) const LOAD_LEAST: f64 = 1e-5;
/// Impulses below this, of the largest, are rounding: such a contact took no part in the impact.
pub(super) const IMPULSE_NOISE: f64 = 1e-13;
/// Hops lower than this many times the rounding of their gap are rounding.
pub(super) const HOP: f64 = 10.0;
/// A switch this near to its border stands on it: the last step was shortened to meet it.
pub(super) const ON_BORDER: f64 = 1e-12;
/// An elastic flank is met within this part of its gap.
pub(super) const FLANK_MET: f64 = 1e-13;

/// Part of the tolerance at which smooth arcs of bodies that tumble are followed, and the least that is asked for: a thousand turns keep energy and angular
/// momentum to 10⁻⁹.
pub(super) const SHARP: [f64; 2] = [1e-3, 1e-12];

// --- times

/// Width to which a root is found on the dense output, of the step.
pub(super) const ROOT: f64 = 1e-14;
/// Events this near in time, relative to it, are at one instant: the rounding of t.
pub(super) const SAME_TIME: f64 = 1e-13;
/// Roots within one step this near, of its length, are one event: ten times [`SAME_TIME`], because each was located for itself.
pub(super) const SAME_ROOT: f64 = 1e-12;
/// Width to which the minimum of a dip is found: its value then is known to the square.
pub(super) const DIP: f64 = 1e-6;
/// A step ends at an event on its dense output where the error of that, by its defect, is below this part of the tolerance.
pub(super) const INSIDE: f64 = 0.1;
/// Corrections of a step, of its length, that need no new step: their squares are rounding.
pub(super) const NUDGE: f64 = 1e-7;
/// Least and longest hold of a chattering switch, of the run; and the pause below which flips that never left the border are chatter.
pub(super) const HOLD: [f64; 2] = [1e-10, 1e-4];
pub(super) const CHATTER: f64 = 1e-6;

// --- zero by meaning

/// Constraints are projected when positions, or velocities beside the fastest, have drifted by this: just above rounding, so that drift
/// never grows.
pub(super) const DRIFT: f64 = 1e-12;
/// Accuracy of a projection after a step; its iteration is quadratic and ends well below.
pub(super) const PROJECTED: f64 = 1e-10;
/// Accuracy of a projection at an instant, where modes are decided next.
pub(super) const EXACT: f64 = 1e-13;
/// Positive gaps below this are closed; above it the body falls. A hundred times the drift that is tolerated.
pub(crate) const GAP_CLOSED: f64 = 1e-11;
/// Errors of closed gaps that are accepted at the start: what a file with nine digits may leave.
pub(crate) const GAP_ZERO: f64 = 1e-9;
/// Velocities below this are zero: what projections and impact laws leave.
pub(crate) const SPEED_ZERO: f64 = 1e-10;
/// Slip in the tangent plane below this part of the largest velocity of its contact is slow: its direction is decided, not read off.
pub(super) const SLOW: f64 = 1e-10;

/// Contacts in the tangent plane that are less than so many times as fast as what counts as slow stop together with one that is slow.
pub(super) const STOPS_ALONG: f64 = 100.0;
/// A slip that has been located at zero is at most this: the error of the event times the deceleration.
pub(super) const STOPPED: f64 = 1e-6;
/// Forces that exceed their bound by this much of the largest do so by more than rounding ([`FORCE_NOISE`]).
pub(super) const BEYOND: f64 = 2e-12;
/// Forces that miss their laws by less than this much of the largest do so by rounding of the whole chain of solutions.
pub(super) const KEPT: f64 = 1e-10;
/// Sticking forces this near to their bound have reached it.
pub(super) const AT_BOUND: f64 = 1e-9;
/// What an impact law leaves of an approach beside faster contacts, or an impulse beside a force over the moment, is its rounding.
pub(super) const LEFT_OVER: f64 = 1e-9;
/// Reactions below this, of the largest, have no sign.
pub(super) const SIGN: f64 = 1e-9;
/// Kinetic energy that a jump may leave and still have taken all: the square of [`LEFT_OVER`].
pub(super) const AT_REST: f64 = 1e-18;
/// A switch that has not become larger than this has not left its border.
pub(super) const LEFT_BORDER: f64 = 1e-9;

// --- small

/// A rejected step this much shorter than the longest stands before a singular point: the geometry may end there.
pub(super) const SHRUNK: f64 = 1e-5;
/// The geometry ends where it would end within this part of the longest step.
pub(super) const JUST: f64 = 1e-4;
/// Samples of a step tell an event function to this part of its size, or the step is looked at again.
pub(super) const TOLD: f64 = 1e-9;
/// A sliding contact is singular when a of g̈ = a λ + b, relative to its mobility, falls below this: forces are then a million times larger.
pub(super) const SINGULAR: f64 = 1e-6;
/// A step that collapses while a is below this collapses because of it.
pub(super) const NEARLY_SINGULAR: f64 = 1e-3;
/// Normal forces that differ by less than this, of the largest, continue each other: far more than a step changes them at an event, far less
/// than two branches differ.
pub(super) const CONTINUOUS: f64 = 1e-3;

// --- least sizes for the step size control: below them a component is not followed to the tolerance

/// Of positions, of the length scale.
pub(super) const LEAST_POSITION: f64 = 1e-6;
/// Of velocities, of what the forces, each by itself, give in a step; of first-order states, of the largest.
pub(super) const LEAST_SPEED: f64 = 1e-4;
/// Of energies, of the work of a step.
pub(super) const LEAST_ENERGY: f64 = 1e-3;
/// Of a mass, of the largest, where a force is divided by it.
pub(super) const LEAST_MASS: f64 = 1e-6;
/// The same where it only measures how fast a row may be.
pub(super) const LEAST_INERTIA: f64 = 1e-9;

// --- moments: times over which something is looked at beside the present

/// Forces are differenced over this part of the step: errors of 10⁻⁹ by curvature and 10⁻¹² by rounding.
pub(super) const MOMENT: f64 = 1e-4;
/// Part of the run that stands for a step before there was one.
pub(super) const FIRST_STEP: f64 = 1e-2;
/// Ties of modes are broken after this part of the moment of a decision; it grows a hundredfold, twice.
pub(super) const PROBE: f64 = 1e-5;
/// Switches that stand on their border are looked at after this part of the step.
pub(super) const AHEAD: f64 = 1e-6;
/// Slip in the small is looked at after this part of [`MOMENT`]: before the moment of a decision, which must see what comes after.
pub(super) const IN_THE_SMALL: f64 = 1e-2;
