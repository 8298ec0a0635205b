//! The border between models and numerics: given (t, q, u, z) a [`System`] fills M, h and, for every contact, gaps,
//! directions and offsets. Everything right of this border sees rows and numbers, never bodies or shapes.
//!
//! ```text
//! M(q) u̇ = h(q, u, t, z) + Wᵀ λ          one row of W per scalar contact direction (normal or tangential)
//! rate   ġ = W u + w̃                      w̃: velocity offset (prescribed motions)
//! accel. g̈ = W u̇ + w̄                      w̄: acceleration offset (everything that is not linear in u̇)
//! ```
//!
//! A system is immutable while it runs. What changes lives in [`State`] (continuous), [`Discrete`] (modes and
//! frozen switches) and [`Eval`] (results and scratch memory, reused so that an evaluation allocates nothing).

mod bound;
mod eval;
mod section;
mod touching;

pub use eval::{Constants, Eval, Scratch};
pub use section::{Pressure, Section};
pub use touching::Touching;
pub(crate) use touching::{Frame, Rule, Solid};

/// Sizes of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dims {
    /// Position coordinates.
    pub q: usize,
    /// Velocities (equal to `q` for planar models).
    pub u: usize,
    /// First-order states.
    pub z: usize,
    /// Values that change at events only.
    pub memory: usize,
    /// Scalar contact directions, normal and tangential.
    pub rows: usize,
    /// Contacts.
    pub contacts: usize,
    /// Frozen switches; each has one entry of [`Discrete::latches`].
    pub latches: usize,
    /// Guards of the switches, see [`Eval::guards`].
    pub guards: usize,
    /// User-defined event functions, see [`Eval::crossings`].
    pub crossings: usize,
}

/// The continuous state, and the memory.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Positions.
    pub q: Vec<f64>,
    /// Velocities.
    pub u: Vec<f64>,
    /// First-order states.
    pub z: Vec<f64>,
    /// Memory.
    pub memory: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        State {
            t: self.t,
            q: self.q.clone(),
            u: self.u.clone(),
            z: self.z.clone(),
            memory: self.memory.clone(),
        }
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.t = source.t;
        self.q.clone_from(&source.q);
        self.u.clone_from(&source.u);
        self.z.clone_from(&source.z);
        self.memory.clone_from(&source.memory);
    }
}

/// What a contact does at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Not touching, no force.
    #[default]
    Open,
    /// Touching (or active), slip zero, tangential force inside its bound.
    Stick,
    /// Touching and sliding in the positive direction.
    SlipPlus,
    /// Touching and sliding in the negative direction.
    SlipMinus,
    /// Touching, without friction.
    Closed,
    /// Touching and sliding in some direction of the tangent plane.
    Slip,
}

impl Mode {
    /// Sliding direction: +1, −1, or 0.
    pub(crate) fn direction(self) -> f64 {
        match self {
            Mode::SlipPlus => 1.0,
            Mode::SlipMinus => -1.0,
            _ => 0.0,
        }
    }

    /// Whether it slides, in whatever direction.
    pub(crate) fn slides(self) -> bool {
        matches!(self, Mode::SlipPlus | Mode::SlipMinus | Mode::Slip)
    }

    /// Whether a normal force may act.
    pub(crate) fn is_closed(self) -> bool {
        self != Mode::Open
    }

    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Open => "open",
            Mode::Stick => "stick",
            Mode::SlipPlus => "slip+",
            Mode::SlipMinus => "slip-",
            Mode::Closed => "closed",
            Mode::Slip => "slip",
        }
    }
}

/// Where the normal force of a contact comes from; `row` indexes [`Eval::w`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normal {
    /// 0 ≤ g ⊥ λ_N ≥ 0, impacts.
    Unilateral {
        /// The normal direction.
        row: usize,
    },
    /// g = 0, λ_N of either sign; the friction bound is μ |λ_N|.
    Bilateral {
        /// The normal direction.
        row: usize,
    },
    /// Two points kept together; the friction bound is μ |λ|, the norm of the two components. For a journal the
    /// factor r/√(1+μ²) is already inside `Eval::mu`.
    Pin {
        /// The two directions (x, y).
        rows: [usize; 2],
    },
    /// Two points in space kept together, without friction.
    Ball {
        /// The three directions (x, y, z).
        rows: [usize; 3],
    },
    /// The normal force is a given function, [`Eval::load`] plus linear terms in normal forces of contacts that are not given. When
    /// the contact has a normal direction (elastic flank), the force is already inside `h`.
    Given {
        /// The normal direction of an elastic flank, for gap and rate; none for a loaded pair.
        row: Option<usize>,
    },
}

/// The constant part of one contact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactInfo {
    /// Name as the user knows it: `tip`, `mesh.low`, `block[3]`.
    pub name: String,
    /// Origin of the normal force.
    pub normal: Normal,
    /// Tangential directions: none (frictionless), one (planar), two (spatial).
    pub tangent: Vec<usize>,
    /// For `Given`: the contacts whose normal forces enter the load, none of them `Given`.
    pub load_on: Vec<usize>,
    /// First of their coefficients in [`Eval::load_terms`].
    pub load_at: usize,
    /// Whether friction acts (a contact may carry a tangential direction for its slip alone).
    pub friction: bool,
}

impl State {
    /// Whether time, positions, velocities and states are the same numbers.
    pub(crate) fn moves_like(&self, other: &State) -> bool {
        if std::ptr::eq(self, other) {
            return true;
        }
        self.t.to_bits() == other.t.to_bits()
            && same(&self.q, &other.q)
            && same(&self.u, &other.u)
            && same(&self.z, &other.z)
    }
}

/// The same numbers, NaN included.
pub(crate) fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

/// Discrete part of the state: what stays constant between events.
#[derive(Debug, Default, PartialEq)]
pub struct Discrete {
    /// Mode of every contact.
    pub modes: Vec<Mode>,
    /// Frozen branches of every switch (meaning known to the system only).
    pub latches: Vec<i32>,
    /// Instant at which each contact began to stick (for laws that use `stick_time`); NaN when it does not stick.
    pub stick_since: Vec<f64>,
    /// Rate at which the tangential force at stick grows in size, per contact, 0 when it does not grow (for laws that
    /// use `load_rate`).
    pub load_rate: Vec<f64>,
    /// Per contact, the power that it takes from the motion (read by rates of states, see [`System::uses_heat`]).
    pub heat: Vec<f64>,
    /// Contact parameters of curved contours near the state: where their search starts. The engine takes them over from
    /// [`Eval::contour`] when a step is accepted; empty: nothing is known.
    pub contour: Vec<f64>,
}

impl Clone for Discrete {
    fn clone(&self) -> Self {
        Discrete {
            modes: self.modes.clone(),
            latches: self.latches.clone(),
            stick_since: self.stick_since.clone(),
            load_rate: self.load_rate.clone(),
            heat: self.heat.clone(),
            contour: self.contour.clone(),
        }
    }

    /// Reuses the storage of `self`; the derived one would allocate.
    fn clone_from(&mut self, source: &Self) {
        self.modes.clone_from(&source.modes);
        self.latches.clone_from(&source.latches);
        self.stick_since.clone_from(&source.stick_since);
        self.load_rate.clone_from(&source.load_rate);
        self.heat.clone_from(&source.heat);
        self.contour.clone_from(&source.contour);
    }
}

impl Discrete {
    /// Whether all is the same, NaN included.
    pub(crate) fn is_same(&self, other: &Discrete) -> bool {
        self.modes == other.modes
            && self.latches == other.latches
            && same(&self.stick_since, &other.stick_since)
            && same(&self.load_rate, &other.load_rate)
            && same(&self.heat, &other.heat)
            && same(&self.contour, &other.contour)
    }

    /// Everything open, no latch set.
    pub fn new(d: &Dims) -> Self {
        Discrete {
            modes: vec![Mode::Open; d.contacts],
            latches: vec![0; d.latches],
            stick_since: vec![f64::NAN; d.contacts],
            load_rate: vec![0.0; d.contacts],
            heat: vec![0.0; d.contacts],
            contour: Vec::new(),
        }
    }
}

/// Restitution of one contact (PG-8-POISSON).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Restitution {
    /// ε_N.
    pub normal: f64,
    /// ε_T.
    pub tangential: f64,
    /// ν.
    pub nu: f64,
}

/// Which passages of a user-defined event function through zero count. "Up": from strictly below to zero or above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From strictly negative to zero or above.
    Up,
    /// From strictly positive to zero or below.
    Down,
    /// Either.
    #[default]
    Both,
}

/// What a contact did at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContactEvent {
    /// It took part in an impact.
    Impact,
    /// It closed without impulse.
    Touch,
    /// It opened.
    Detach,
    /// It began to stick.
    Stick,
    /// It began to slip out of stick.
    Slip,
    /// Its slip changed sign without sticking.
    Reverse,
}

/// One thing that happened at an instant and may fire user events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The event function [`Eval::crossings`]`[k]` passed zero in its direction.
    Crossing(usize),
    /// A contact changed.
    Contact {
        /// Index of the contact.
        contact: usize,
        /// What it did.
        kind: ContactEvent,
    },
}

/// Contact forces at an instant, or impulses of an impact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    /// λ of every row of W.
    pub lambda: Vec<f64>,
    /// Normal force per contact (a pin: the norm of its force; `Given`: the load).
    pub normal: Vec<f64>,
    /// Tangential force per contact along its first tangent; 0 without friction.
    pub tangential: Vec<f64>,
}

impl Forces {
    /// Zeros for a system of these sizes.
    pub(crate) fn new(d: &Dims) -> Self {
        Forces { lambda: vec![0.0; d.rows], normal: vec![0.0; d.contacts], tangential: vec![0.0; d.contacts] }
    }
}

/// Everything known at an instant, for outputs and user events.
#[derive(Clone, Copy, Debug)]
pub struct Instant<'a> {
    /// State (after the impact, when there was one).
    pub state: &'a State,
    /// Modes and latches.
    pub discrete: &'a Discrete,
    /// The system evaluated there.
    pub eval: &'a Eval,
    /// Accelerations u̇.
    pub accel: &'a [f64],
    /// Contact forces.
    pub forces: &'a Forces,
    /// Contact impulses of the impact at this instant; zero when there was none.
    pub impulses: &'a Forces,
}

/// A direction in which a system is differentiated: rates of what an evaluation depends on. Empty slices: zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Along<'a> {
    /// Of time.
    pub t: f64,
    /// Of the positions.
    pub q: &'a [f64],
    /// Of the velocities.
    pub u: &'a [f64],
    /// Of the first-order states.
    pub z: &'a [f64],
    /// Of the memory.
    pub memory: &'a [f64],
    /// Of [`Discrete::stick_since`], per contact.
    pub since: &'a [f64],
    /// Of the live parameters, by their numbers.
    pub parameters: &'a [f64],
}

/// Rates of an evaluation along a direction.
#[derive(Clone, Debug)]
pub struct Tangent {
    /// Every field holds the rate of the field of that name, M and W on the same patterns. `guard_sizes` and `singular` have none.
    pub rate: Eval,
}

impl Tangent {
    /// Memory for a system.
    pub fn new<S: System + ?Sized>(system: &S) -> Self {
        Tangent { rate: system.memory() }
    }
}

/// Rates of everything known at an instant along a direction: those of the fields of [`Instant`].
#[derive(Clone, Copy, Debug)]
pub struct InstantRate<'a> {
    /// Of time, state, memory and parameters.
    pub along: Along<'a>,
    /// Of the evaluation.
    pub eval: &'a Eval,
    /// Of the accelerations.
    pub accel: &'a [f64],
    /// Of the contact forces.
    pub forces: &'a Forces,
    /// Of the contact impulses.
    pub impulses: &'a Forces,
}

/// A mechanical system as equations. Coordinates are numbered; names are for messages and files.
pub trait System: Sync {
    /// Sizes.
    fn dims(&self) -> Dims;

    /// The contacts, in file order.
    fn contacts(&self) -> &[ContactInfo];

    /// Memory for evaluations, with the patterns of M and W that the system has.
    fn memory(&self) -> Eval {
        Eval::new(&self.dims())
    }

    /// Fill `out`, made by [`System::memory`], at state `s` with the frozen discrete state `d`: a pure function of the two. Never
    /// allocates once `out` has been used.
    fn evaluate(&self, s: &State, d: &Discrete, out: &mut Eval);

    /// As [`System::evaluate`], but kinetic and potential energy may be left as they are: what the stages of a step need.
    fn evaluate_rates(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.evaluate(s, d, out);
    }

    /// As [`System::evaluate_rates`], and of M the diagonal alone may be written where the system gives it along its tree: what
    /// accelerations with frozen modes need.
    fn evaluate_stage(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.evaluate_rates(s, d, out);
    }

    /// As [`System::evaluate_stage`], of h, rates of states and powers alone: what a motion without contacts needs. M is one that is known.
    fn evaluate_free(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.evaluate_stage(s, d, out);
    }

    /// As [`System::evaluate_free`], with the gaps: what a motion is watched by while all contacts are open.
    fn evaluate_gaps(&self, s: &State, d: &Discrete, out: &mut Eval) {
        self.evaluate_stage(s, d, out);
    }

    /// Whether [`System::evaluate`] gives the same at both, to the last bit: what has been evaluated is then not evaluated again.
    fn evaluates_alike(&self, a: (&State, &Discrete), b: (&State, &Discrete)) -> bool {
        a.0.moves_like(b.0) && same(&a.0.memory, &b.0.memory) && a.1.is_same(b.1)
    }

    /// Exact rates of everything in `at`, the evaluation at `s` and `d`, along a direction, with modes and latches frozen. Where `at` was used
    /// for something else since (or cloned), the system is evaluated anew. Never allocates once `out` has been used. False: the
    /// system has no derivatives, and `out` is as it was.
    fn tangent(&self, s: &State, d: &Discrete, at: &Eval, along: &Along<'_>, out: &mut Tangent) -> bool {
        let _ = (s, d, at, along, out);
        false
    }

    /// q̇ = Y(q) u; q and u may differ in size, see [`System::move_by`]. Planar models: a copy.
    fn q_rate(&self, s: &State, out: &mut [f64]) {
        out.copy_from_slice(&s.u);
    }

    /// q ← q ⊕ δ: move the positions by a displacement of the size of u, over unit time the motion q̇ = Y(q) δ (for a unit
    /// quaternion the turn by δ). A system whose q̇ is not u gives its own.
    fn move_by(&self, q: &mut [f64], delta: &[f64]) {
        crate::linalg::axpy(1.0, delta, q);
    }

    /// Bring positions back that integration has moved off what they must satisfy by themselves (the length of a unit
    /// quaternion). True when there is such a thing.
    fn restore(&self, q: &mut [f64]) -> bool {
        let _ = q;
        false
    }

    /// Whether a body turns freely about axes of unequal inertia, so that errors of its motion add up over turns without end: smooth arcs are then
    /// followed more sharply.
    fn tumbles(&self) -> bool {
        false
    }

    /// Set every latch from the values at `s` (at the start and after velocities or memory jumped). A guard that is
    /// zero keeps its latch when `keep` is true.
    fn latch(&self, s: &State, d: &mut Discrete, out: &mut Eval, keep: bool) {
        let _ = (s, d, out, keep);
    }

    /// Whether an elastic contact presses, where a latch tells it and not the gap (a surface that relaxes).
    fn presses(&self, contact: usize, d: &Discrete) -> Option<bool> {
        let _ = (contact, d);
        None
    }

    /// The contact to which guard `k` belongs: an edge, an elastic flank, the end of a curve.
    fn guard_contact(&self, k: usize) -> Option<usize> {
        let _ = k;
        None
    }

    /// The guard `k` fell through zero: change to the neighbouring branch; `eval` is evaluated there.
    fn flip(&self, k: usize, d: &mut Discrete, eval: &Eval) {
        let _ = (k, d, eval);
    }

    /// Whether guard `k` concerns event functions only: its flip changes no motion.
    fn is_silent(&self, _k: usize) -> bool {
        false
    }

    /// Whether guard `k` may fall and rise again where its samples in a step show nothing: it is looked at once more at the event that the step ends with.
    fn hides(&self, _k: usize) -> bool {
        false
    }

    /// Whether motion or event functions depend on the memory; where they do not (sums kept for statistics), its change needs no decision.
    fn memory_acts(&self) -> bool {
        true
    }

    /// A closed contact that has lost its one point: the rim of a disc lies flat on its plane. `at` lends memory and keeps its
    /// numbers. Never allocates once `at` has been used for it.
    fn lies_flat(&self, s: &State, d: &Discrete, at: &mut Eval) -> Option<usize> {
        let _ = (s, d, at);
        None
    }

    /// What has no finite value at `s`, by its name: `force \`spring\``. Only asked when something has none.
    fn undefined(&self, s: &State, d: &Discrete, eval: &Eval) -> Option<String> {
        let _ = (s, d, eval);
        None
    }

    /// Latches or modes changed from `before` to `d` while the state stood still: set those latches whose guards jumped with them.
    /// True when there are such.
    fn follow(&self, s: &State, before: &Discrete, d: &mut Discrete, out: &mut Eval) -> bool {
        let _ = (s, before, d, out);
        false
    }

    /// Restitution of every contact at `s` (only read at impacts); none unless a system says otherwise.
    fn restitution(&self, s: &State, d: &Discrete, out: &mut [Restitution]) {
        let _ = (s, d);
        out.fill(Restitution::default());
    }

    /// Rates of the restitution along a direction. False: the system has none.
    fn restitution_tangent(
        &self,
        s: &State,
        d: &Discrete,
        along: &Along<'_>,
        out: &mut [Restitution],
    ) -> bool {
        let _ = (s, d, along);
        out.fill(Restitution::default());
        false
    }

    /// Direction of every event function of [`Eval::crossings`].
    fn directions(&self) -> &[Direction] {
        &[]
    }

    /// Names of the user's events, those with an event function and those that follow a contact.
    fn event_names(&self) -> &[String] {
        &[]
    }

    /// Everything in `triggers` happened at one instant. Push the indices (into [`System::event_names`]) of the events
    /// that fire onto `fired`, in file order, write the new memory (all assignments read `at.state.memory`, the values
    /// before the instant; `memory` holds a copy of them) and return true when the run must stop here.
    fn fire(
        &self,
        triggers: &[Trigger],
        at: Instant<'_>,
        memory: &mut [f64],
        fired: &mut Vec<usize>,
    ) -> bool {
        let _ = (triggers, at, memory, fired);
        false
    }

    /// Rates of the memory that the events `fired` write, by [`System::fire`] at the same instant; others stay. False: the system has none.
    fn fire_tangent(
        &self,
        fired: &[usize],
        at: Instant<'_>,
        rate: InstantRate<'_>,
        memory: &mut [f64],
    ) -> bool {
        let _ = (fired, at, rate, memory);
        false
    }

    /// Names of the coordinates, for messages; empty when they have none.
    fn coordinate_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names of the recorded outputs.
    fn output_names(&self) -> &[String] {
        &[]
    }

    /// Number of recorded values: the outputs, then others without a name (of plots).
    fn output_count(&self) -> usize {
        self.output_names().len()
    }

    /// Values of the outputs at an instant.
    fn outputs(&self, at: Instant<'_>, out: &mut [f64]) {
        let _ = (at, out);
    }

    /// Rates of the outputs at an instant. False: the system has none.
    fn outputs_tangent(&self, at: Instant<'_>, rate: InstantRate<'_>, out: &mut [f64]) -> bool {
        let _ = (at, rate, out);
        false
    }

    /// Bodies that touch wherever they meet; seen by time steps alone.
    fn touching(&self) -> Option<&Touching> {
        None
    }

    /// Whether some friction law uses [`Discrete::load_rate`]; the rates are computed only then.
    fn uses_load_rate(&self) -> bool {
        false
    }

    /// Whether rates of states use [`Discrete::heat`]. They depend on it linearly: what an impact takes moves the states at once.
    fn uses_heat(&self) -> bool {
        false
    }

    /// Natural size of position row values (for tolerances), e.g. a typical length; 1 when unknown.
    fn length_scale(&self) -> f64 {
        1.0
    }

    /// The same for one row, in its own unit: rounding of its gap is ε times this size.
    fn gap_scale(&self, row: usize) -> f64 {
        let _ = row;
        self.length_scale()
    }
}
