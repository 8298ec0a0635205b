//! What happened: samples, events, energy, audit.

use crate::system::{ContactInfo, Dims, Mode, Normal, State};

use super::audit::Audit;
use super::ledger::Energy;

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The end time was reached.
    #[default]
    Finished,
    /// An event with `stop`.
    Stopped,
    /// The rigid model has no solution.
    Inconsistent,
    /// Several solutions, and the policy is to stop.
    Indeterminate,
    /// The numerics failed; the message says why.
    Failed,
    /// The outside asked for the end (Ctrl-C); what was computed until then is there.
    Interrupted,
}

impl Status {
    /// All of them.
    pub const ALL: [Status; 6] = [
        Status::Finished,
        Status::Stopped,
        Status::Inconsistent,
        Status::Indeterminate,
        Status::Failed,
        Status::Interrupted,
    ];

    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Status::Finished => "finished",
            Status::Stopped => "stopped",
            Status::Inconsistent => "inconsistent",
            Status::Indeterminate => "indeterminate",
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
        }
    }
}

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Velocities jumped.
    Impact,
    /// A contact closed without impulse.
    Touch,
    /// A contact opened.
    Detach,
    /// A contact began to stick.
    Stick,
    /// A contact began to slip out of stick.
    Slip,
    /// Slip passed through zero without sticking.
    Reverse,
    /// A switch of an expression, a sign of a bilateral reaction.
    Switch,
    /// A user event.
    Mark,
    /// Several solutions, none, a continuum, or the approach to such a state.
    Finding,
    /// Infinitely many impacts in finite time ended here.
    Accumulated,
    /// An impact without collision.
    TangentialImpact,
    /// Dynamic seizure.
    Seizure,
}

/// All kinds, in the order of counts.
pub const KINDS: [Kind; 12] = [
    Kind::Impact,
    Kind::Touch,
    Kind::Detach,
    Kind::Stick,
    Kind::Slip,
    Kind::Reverse,
    Kind::Switch,
    Kind::Mark,
    Kind::Finding,
    Kind::Accumulated,
    Kind::TangentialImpact,
    Kind::Seizure,
];

impl Kind {
    /// The word used in every output.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Impact => "impact",
            Kind::Touch => "touch",
            Kind::Detach => "detach",
            Kind::Stick => "stick",
            Kind::Slip => "slip",
            Kind::Reverse => "reverse",
            Kind::Switch => "switch",
            Kind::Mark => "mark",
            Kind::Finding => "finding",
            Kind::Accumulated => "accumulated",
            Kind::TangentialImpact => "tangential_impact",
            Kind::Seizure => "seizure",
        }
    }
}

/// One contact in an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Participant {
    /// Index of the contact.
    pub contact: usize,
    /// Mode before.
    pub before: Mode,
    /// Mode after.
    pub after: Mode,
    /// Normal impulse; 0 when there was none.
    pub impulse_n: f64,
    /// Tangential impulse.
    pub impulse_t: f64,
    /// Tangential impulse along the second tangent, of contacts that have one.
    pub second: Option<f64>,
    /// Kinetic energy lost at this contact (impacts).
    pub loss: f64,
}

/// Something that happened at an instant. There is one entry per instant and kind (marks: per name).
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time, s.
    pub time: f64,
    /// Kind.
    pub kind: Kind,
    /// Contacts involved, in file order.
    pub contacts: Vec<Participant>,
    /// State before.
    pub before: State,
    /// State after.
    pub after: State,
    /// Name of a user event.
    pub name: Option<String>,
    /// Explanation with numbers; empty when there is nothing to say.
    pub note: String,
    /// What else was possible.
    pub alternatives: Vec<Alternative>,
}

/// One solution of the force problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alternative {
    /// Mode of every contact.
    pub modes: Vec<Mode>,
    /// Accelerations.
    pub accel: Vec<f64>,
    /// Normal force of every contact.
    pub normal: Vec<f64>,
    /// Tangential force of every contact.
    pub tangential: Vec<f64>,
    /// Forces along all rows.
    pub lambda: Vec<f64>,
    /// Whether the run followed this one.
    pub chosen: bool,
}

/// Interval of a quantity that a continuum of solutions leaves open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Family {
    /// Whether accelerations vary, not only forces.
    pub moves: bool,
    /// Interval of every acceleration.
    pub accel: Vec<(f64, f64)>,
    /// Interval of every normal force.
    pub normal: Vec<(f64, f64)>,
    /// Interval of every tangential force, in space along the first tangent.
    pub tangential: Vec<(f64, f64)>,
    /// In space: along the second tangent; empty in the plane.
    pub second: Vec<(f64, f64)>,
}

/// Everything about one instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// State.
    pub state: State,
    /// Accelerations.
    pub accel: Vec<f64>,
    /// Mode of every contact.
    pub modes: Vec<Mode>,
    /// Frozen switches.
    pub latches: Vec<i32>,
    /// Gap of every contact (0 for loaded ones; a pin: the distance).
    pub gap: Vec<f64>,
    /// Slip of every contact.
    pub slip: Vec<f64>,
    /// Normal force of every contact.
    pub normal: Vec<f64>,
    /// Tangential force of every contact.
    pub tangential: Vec<f64>,
    /// Rates and forces along all rows, of models with contacts or pins in space; else empty.
    pub rates: Vec<f64>,
    /// See `rates`.
    pub lambda: Vec<f64>,
    /// Outputs.
    pub outputs: Vec<f64>,
}

/// The start of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartRecord {
    /// The consistent initial state and the forces followed; forces and accelerations are empty when there are none.
    pub point: Point,
    /// All solutions of the force problem, by the sum of |normal|, smallest first.
    pub solutions: Vec<Alternative>,
    /// The continuum, when there is one.
    pub family: Option<Family>,
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted steps.
    pub steps: u64,
    /// Accepted steps of the implicit method among them.
    pub implicit: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the system.
    pub evaluations: u64,
    /// Factorisations: of the mass matrix, of the matrix of the held rows, of the implicit method.
    pub factorisations: u64,
    /// Events by kind, in the order of [`KINDS`].
    pub events: [u64; KINDS.len()],
}

impl Counts {
    /// Events of all kinds.
    pub fn all_events(&self) -> u64 {
        self.events.iter().sum()
    }
}

/// What happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trajectory {
    /// How the run ended.
    pub status: Status,
    /// Why, in words; empty when finished.
    pub message: String,
    /// The instant at which it ended.
    pub time: f64,
    /// The start.
    pub start: StartRecord,
    /// The end.
    pub last: Point,
    /// The contact whose rim lies flat, where that ended the run.
    pub flat_rim: Option<usize>,
    /// Intervals of what the laws leave open at the end, when there is a continuum (event-driven scheme).
    pub family: Option<Family>,
    /// The recorded series.
    pub samples: Samples,
    /// Events in the order of time.
    pub events: Vec<Event>,
    /// Energy ledger at the end.
    pub energy: Energy,
    /// Audit.
    pub audit: Audit,
    /// Counts.
    pub counts: Counts,
    /// Sentences that the user should see.
    pub warnings: Vec<String>,
    /// Derivatives through all events, when asked for ([`super::event_driven_along`]).
    pub derivatives: Option<super::Derivatives>,
}

impl Trajectory {
    /// Events of one kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |e| e.kind == kind)
    }
}

/// Number of energy columns of a sample: kinetic, potential, friction, impact, external, drive, numerical.
pub const ENERGY_COLUMNS: usize = 7;

/// The recorded series, row after row in one block of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    dims: Dims,
    outputs: usize,
    /// Rows of contacts whose rates and forces are recorded: all or none.
    rows: usize,
    stride: usize,
    time: Vec<f64>,
    data: Vec<f64>,
    modes: Vec<Mode>,
    latches: Vec<i32>,
    /// Which rows are never thinned.
    keep: Vec<bool>,
    /// One in so many of the other rows is recorded, the number offered so far, and the number of rows that is too many.
    one_in: u64,
    offered: u64,
    limit: usize,
}

/// Whether one number per contact does not tell its force: two tangents, or a pin in space; or there are rows of bodies that touch.
pub(crate) fn in_space(contacts: &[ContactInfo], dims: &Dims) -> bool {
    dims.rows > contacts.iter().map(|c| c.rows().count()).sum()
        || contacts.iter().any(|c| c.tangent.len() > 1 || matches!(c.normal, Normal::Ball { .. }))
}

/// Rows above which a series is thinned.
const MANY_ROWS: usize = 1_000_000;

/// One row of the series.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// Time.
    pub t: f64,
    /// Positions.
    pub q: &'a [f64],
    /// Velocities.
    pub u: &'a [f64],
    /// First-order states.
    pub z: &'a [f64],
    /// Memory.
    pub memory: &'a [f64],
    /// Accelerations.
    pub accel: &'a [f64],
    /// Gap per contact.
    pub gap: &'a [f64],
    /// Slip per contact.
    pub slip: &'a [f64],
    /// Normal force per contact.
    pub normal: &'a [f64],
    /// Tangential force per contact.
    pub tangential: &'a [f64],
    /// Rates along all rows, of models with contacts or pins in space.
    pub rates: &'a [f64],
    /// Forces along all rows, likewise.
    pub lambda: &'a [f64],
    /// Outputs.
    pub outputs: &'a [f64],
    /// Energies: kinetic, potential, friction work, impact work, external work, drive work, numerical error.
    pub energy: &'a [f64],
    /// Modes.
    pub modes: &'a [Mode],
    /// Frozen switches.
    pub latches: &'a [i32],
}

impl Sample<'_> {
    /// Its state.
    pub(crate) fn state(&self) -> State {
        State {
            t: self.t,
            q: self.q.to_vec(),
            u: self.u.to_vec(),
            z: self.z.to_vec(),
            memory: self.memory.to_vec(),
        }
    }
}

impl Samples {
    pub(crate) fn new(dims: Dims, contacts: &[ContactInfo], outputs: usize) -> Self {
        let rows = if in_space(contacts, &dims) { dims.rows } else { 0 };
        let of_contacts = 4 * dims.contacts + 2 * rows;
        let stride = dims.q + 2 * dims.u + dims.z + dims.memory + of_contacts + outputs + ENERGY_COLUMNS;
        Samples { dims, outputs, rows, stride, one_in: 1, limit: MANY_ROWS, ..Default::default() }
    }

    /// Append a row; one that is not to be kept under all circumstances may be thinned out.
    pub(crate) fn push(&mut self, p: &Point, energy: &[f64; ENERGY_COLUMNS], keep: bool) {
        if !keep {
            self.offered += 1;
            if !self.offered.is_multiple_of(self.one_in) {
                return;
            }
        }
        if self.time.len() >= self.limit {
            self.thin();
        }
        self.keep.push(keep);
        self.time.push(p.state.t);
        for part in [
            &p.state.q,
            &p.state.u,
            &p.state.z,
            &p.state.memory,
            &p.accel,
            &p.gap,
            &p.slip,
            &p.normal,
            &p.tangential,
            &p.rates,
            &p.lambda,
            &p.outputs,
        ] {
            self.data.extend_from_slice(part);
        }
        self.data.extend_from_slice(energy);
        self.modes.extend_from_slice(&p.modes);
        self.latches.extend_from_slice(&p.latches);
    }

    /// Drop every other row of those that may go.
    fn thin(&mut self) {
        let (kept, mut odd) = (self.keep.clone(), false);
        self.retain(0, |i| {
            odd ^= !kept[i];
            kept[i] || !odd
        });
        self.one_in *= 2;
        self.limit = self.limit.max(2 * self.len());
    }

    /// From row `first` on keep those that are wanted.
    pub(crate) fn retain(&mut self, first: usize, mut wanted: impl FnMut(usize) -> bool) {
        let (stride, contacts, latches) = (self.stride, self.dims.contacts, self.dims.latches);
        let mut rows = first;
        for i in first..self.time.len() {
            if !wanted(i) {
                continue;
            }
            self.time[rows] = self.time[i];
            self.keep[rows] = self.keep[i];
            self.data.copy_within(i * stride..(i + 1) * stride, rows * stride);
            self.modes.copy_within(i * contacts..(i + 1) * contacts, rows * contacts);
            self.latches.copy_within(i * latches..(i + 1) * latches, rows * latches);
            rows += 1;
        }
        self.time.truncate(rows);
        self.keep.truncate(rows);
        self.data.truncate(rows * stride);
        self.modes.truncate(rows * contacts);
        self.latches.truncate(rows * latches);
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.time.len()
    }

    /// All times.
    pub fn times(&self) -> &[f64] {
        &self.time
    }

    /// Row `i`.
    pub(crate) fn row(&self, i: usize) -> Sample<'_> {
        let d = &self.dims;
        let mut rest = &self.data[i * self.stride..(i + 1) * self.stride];
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at(n);
            rest = tail;
            head
        };
        Sample {
            t: self.time[i],
            q: take(d.q),
            u: take(d.u),
            z: take(d.z),
            memory: take(d.memory),
            accel: take(d.u),
            gap: take(d.contacts),
            slip: take(d.contacts),
            normal: take(d.contacts),
            tangential: take(d.contacts),
            rates: take(self.rows),
            lambda: take(self.rows),
            outputs: take(self.outputs),
            energy: take(ENERGY_COLUMNS),
            modes: &self.modes[i * d.contacts..(i + 1) * d.contacts],
            latches: &self.latches[i * d.latches..(i + 1) * d.latches],
        }
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Sample<'_>> {
        (0..self.len()).map(|i| self.row(i))
    }
}
