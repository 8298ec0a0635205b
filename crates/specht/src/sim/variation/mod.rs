//! Derivatives of a run through all its events (METH-SALT-GEN): how the state at later times changes with the state at the start and
//! with parameters, one column per direction.
//!
//! ```text
//! between events   δẋ = f_x δx + f_p δp                              [`flow`]: forces of the frozen modes, differentiated
//! at an event      δt = −(e_x δx + e_p δp)/ė                         e: the event function that fell to zero
//!                  δx* = δx + f⁻ δt                                  what moves along with the event
//!                  δx* ← R' (δt, δx*, δp)                            impacts ([`impact`]), memory
//!                  δx  = δx* − f⁺ δt                                 back to a fixed time
//! ```
//!
//! Together S = R_x + (f⁺ − R_x f⁻ − R_t) e_x/ė, but S is never formed. An event that changes neither forces nor velocities
//! leaves δx alone. Where several contacts stop at one instant, δx is projected onto their constraints, which needs no δt (METH-SALT-STOP).
//!
//! The run itself is not touched: its numbers are the same bits with and without derivatives. Where a derivative does not exist (grazing,
//! events in an order that the direction decides, a paradox) the column ends there with the reason.

mod flow;
mod impact;
mod jump;
mod place;
mod turn;

use crate::ode::{Choice, Control, Method};
use crate::system::{Dims, System};

use super::field::Field;
use super::settings::Settings;
use place::Place;

/// Positions are at least this large, relative to the length scale.
const LEAST_LENGTH: f64 = 1e-3;

/// Smallest tolerance of the columns: their rounding is that of differences of forces.
const FINEST: f64 = 1e-10;

/// A direction at the start of a run: rates of the state and of the live parameters. Empty lists are zeros.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seed {
    /// Of the positions.
    pub q: Vec<f64>,
    /// Of the velocities.
    pub u: Vec<f64>,
    /// Of the first-order states.
    pub z: Vec<f64>,
    /// Of the memory.
    pub memory: Vec<f64>,
    /// Of the live parameters, by their numbers.
    pub parameters: Vec<f64>,
    /// Of the end time.
    pub until: f64,
    /// The amount of this direction that counts as one: a parameter's own size. Rates are as exact as changes of this amount are.
    pub amount: f64,
}

/// Derivatives of a run along its seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derivatives {
    /// Rates of (q, u, z, memory) at the end, at fixed time, per seed; NaN where there are none.
    pub last: Vec<Vec<f64>>,
    /// The same along with the end, which moves where it is an event or depends on parameters.
    pub ends: Vec<Vec<f64>>,
    /// Rates of the outputs at the end, per seed, along with it.
    pub outputs: Vec<Vec<f64>>,
    /// Rates of the times of all events in the order of the log, per event and seed; NaN where there are none.
    pub times: Vec<Vec<f64>>,
    /// Rates of the outputs at all rows, per row and seed; empty unless asked for.
    pub rows: Vec<Vec<Vec<f64>>>,
    /// Why columns ended.
    pub lost: Vec<Lost>,
    /// What happened at events.
    pub(crate) instants: Vec<Passed>,
}

/// A column that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Number of the seed.
    pub seed: usize,
    /// When.
    pub time: f64,
    /// Why.
    pub reason: String,
}

/// An event as derivatives saw it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passed {
    pub time: f64,
    /// Rows of W that are held afterwards.
    pub held: usize,
    /// Of them position constraints.
    pub closed: usize,
}

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Column {
    /// Rates of (q, u, z) at fixed time.
    pub x: Vec<f64>,
    pub memory: Vec<f64>,
    /// Of the instants at which contacts began to stick.
    pub since: Vec<f64>,
    pub parameters: Vec<f64>,
    /// Of the directions of slip that were decided, per contact.
    turn: Vec<[f64; 3]>,
    until: f64,
    /// 1/[`Seed::amount`].
    scale: f64,
    /// At the present instant: δt, what moves with it, and that before impacts which may be taken back.
    dt: f64,
    moving: Vec<f64>,
    kept: Vec<f64>,
    /// Rates of impulses per row of the present instant.
    impulse: Vec<f64>,
    lost: bool,
}

/// The columns of a run and what they are computed with.
pub(crate) struct Variation {
    n: usize,
    dims: Dims,
    pub columns: Vec<Column>,
    place: Place,
    /// Follows the method of the run: explicit, or implicit where the run is stiff.
    explicit: Method,
    stiff: Option<Box<Method>>,
    implicit: bool,
    control: Control,
    y: Vec<f64>,
    /// Largest positions, velocities and states so far.
    sizes: [f64; 3],
    h: f64,
    /// The companion must start anew.
    fresh: bool,
    /// Events of the present instant.
    jump: jump::Jump,
    phases: impact::Phases,
    /// Rows are asked for.
    pub with_rows: bool,
    row: Vec<f64>,
    pub out: Derivatives,
}

impl Variation {
    pub(super) fn new<S: System + ?Sized>(
        sys: &S,
        seeds: &[Seed],
        settings: &Settings,
        with_rows: bool,
    ) -> Self {
        let d = sys.dims();
        let n = d.q + d.u + d.z;
        let part = |list: &[f64], size: usize| -> Vec<f64> {
            (0..size).map(|i| list.get(i).copied().unwrap_or(0.0)).collect()
        };
        let columns: Vec<Column> = seeds
            .iter()
            .map(|s| Column {
                x: [part(&s.q, d.q), part(&s.u, d.u), part(&s.z, d.z)].concat(),
                memory: part(&s.memory, d.memory),
                since: vec![0.0; d.contacts],
                parameters: s.parameters.clone(),
                until: s.until,
                scale: if s.amount > 0.0 { 1.0 / s.amount } else { 1.0 },
                moving: vec![0.0; n + d.memory],
                kept: vec![0.0; n + d.memory],
                impulse: vec![0.0; d.rows],
                turn: vec![[0.0; 3]; d.contacts],
                ..Column::default()
            })
            .collect();
        let size = n * (1 + columns.len());
        // the motion itself is already right: only the columns are judged
        let mut groups = Vec::new();
        groups.push(0..n);
        for c in 1..=columns.len() {
            groups.extend([c * n..c * n + d.q, c * n + d.q..c * n + d.q + d.u]);
            if d.z > 0 {
                groups.push(c * n + d.q + d.u..(c + 1) * n);
            }
        }
        let mut control = Control::new((10.0 * settings.tolerance).max(FINEST), groups);
        control.set_floor(0, f64::MAX);
        let count = columns.len();
        let nowhere = vec![vec![f64::NAN; n + d.memory]; count];
        let out = Derivatives {
            last: nowhere.clone(),
            ends: nowhere,
            outputs: vec![vec![f64::NAN; sys.output_count()]; count],
            ..Derivatives::default()
        };
        let mut variation = Variation {
            n,
            dims: d,
            columns,
            place: Place::new(sys),
            explicit: Method::new(size, size, Choice::Explicit),
            stiff: None,
            implicit: false,
            control,
            y: vec![0.0; size],
            sizes: [LEAST_LENGTH * sys.length_scale(), 0.0, 0.0],
            h: f64::INFINITY,
            fresh: true,
            jump: jump::Jump::default(),
            phases: impact::Phases::default(),
            with_rows,
            row: vec![0.0; sys.output_count()],
            out,
        };
        if sys.uses_heat() && d.z > 0 {
            variation
                .lose_all(0.0, "a state takes up the heat of a contact, which has no derivative here yet");
        }
        variation
    }

    /// Column `c` ends here.
    fn lose(&mut self, c: usize, time: f64, reason: &str) {
        let column = &mut self.columns[c];
        if column.lost {
            return;
        }
        column.lost = true;
        for list in
            [&mut column.x, &mut column.memory, &mut column.since, &mut column.moving, &mut column.kept]
        {
            list.fill(0.0);
        }
        column.parameters.fill(0.0);
        column.dt = 0.0;
        self.out.lost.push(Lost { seed: c, time, reason: reason.to_string() });
    }

    /// All columns that are not zero end here.
    pub(super) fn lose_all(&mut self, time: f64, reason: &str) {
        for c in 0..self.columns.len() {
            let column = &self.columns[c];
            let acts = |list: &[f64]| list.iter().any(|v| *v != 0.0);
            if acts(&column.x) || acts(&column.memory) || acts(&column.parameters) {
                self.lose(c, time, reason);
            }
        }
    }

    /// Place the columns as `row` has them, one after the other.
    pub(super) fn place_columns(&mut self, row: &[f64]) {
        for (column, x) in self.columns.iter_mut().zip(row.chunks(self.n)).filter(|(c, _)| !c.lost) {
            column.x.copy_from_slice(x);
        }
    }

    /// Numbers in a row of all columns.
    pub(super) fn row_length(&self) -> usize {
        self.n * self.columns.len()
    }

    /// The row that was just written, where rows are asked for. The field stands there.
    pub(super) fn record<S: System + ?Sized>(&mut self, field: &Field<S>, impulses: &crate::system::Forces) {
        if self.with_rows {
            let rates = self.output_rates(field, impulses, false);
            self.out.rows.push(rates);
        }
    }

    /// Take the columns of the end; `moves`: the run ended at an event.
    pub(super) fn finish<S: System + ?Sized>(
        mut self,
        field: &Field<S>,
        impulses: &crate::system::Forces,
        events: usize,
        moves: bool,
    ) -> Derivatives {
        for column in self.columns.iter_mut().filter(|_| !moves) {
            column.dt = column.until;
        }
        self.out.outputs = self.output_rates(field, impulses, true);
        let stands = self.place.stand(field);
        let Variation { n, columns, place, out, .. } = &mut self;
        let lists = out.last.iter_mut().zip(&mut out.ends);
        for ((last, end), column) in lists.zip(columns).filter(|(_, c)| !c.lost) {
            last[..*n].copy_from_slice(&column.x);
            last[*n..].copy_from_slice(&column.memory);
            if column.dt == 0.0 || stands {
                end.copy_from_slice(last);
                place.advance_by(column.dt, end);
            }
        }
        self.out.times.resize(events, vec![f64::NAN; self.columns.len()]);
        self.out
    }

    /// Rates of the outputs where the field stands, at fixed time or along with the end, per column. In the midst of an instant, too: what
    /// moves with its event stays as it is.
    fn output_rates<S: System + ?Sized>(
        &mut self,
        field: &Field<S>,
        impulses: &crate::system::Forces,
        along: bool,
    ) -> Vec<Vec<f64>> {
        let mut all = vec![vec![f64::NAN; self.row.len()]; self.columns.len()];
        if self.row.is_empty() || !self.place.stand(field) {
            return all;
        }
        let Variation { n, dims, columns, place, .. } = self;
        let (mut moving, zero) = (vec![0.0; *n + dims.memory], vec![0.0; dims.rows]);
        for (column, out) in columns.iter().zip(&mut all).filter(|(c, _)| !c.lost) {
            let dt = if along { column.dt } else { 0.0 };
            moving[..*n].copy_from_slice(&column.x);
            moving[*n..].copy_from_slice(&column.memory);
            place.advance_by(dt, &mut moving);
            if !place.outputs(field.sys, column, dt, &moving, impulses, &zero, out) {
                out.fill(f64::NAN);
            }
        }
        all
    }
}
