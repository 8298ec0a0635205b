//! Which instants become rows of the series.
//!
//! | record | rows |
//! |---|---|
//! | steps | every accepted step, and points of its dense output: no two rows further apart than a 600th of the run, four to a long step |
//! | every | the multiples of the interval, exactly, and the end |
//! | at | the given instants, exactly, and nothing else |
//! | events | none but those of events |
//! | nothing | none |
//!
//! Both sides of every event are rows in all cases but `at` and `nothing`. Rows of steps are thinned when there are more than a million.

use crate::ode::Trial;
use crate::system::{self, System};

use super::event_driven::Run;
use super::settings::Record;

/// Rows of a run that has no event.
const ROWS: f64 = 600.0;
/// Rows inside a step that is longer than half the distance of rows.
const INSIDE_LONG: usize = 4;
/// Times that differ by less, relative to their size, are the same instant.
const SAME: f64 = 1e-12;

/// What has been recorded so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    /// Index of the last regular output.
    last: f64,
    /// Index of the next of the given instants.
    next: usize,
    /// Longest distance of rows.
    spacing: f64,
}

impl Recorder {
    pub(super) fn new(record: &Record, start: f64, until: f64) -> Self {
        let last = match record {
            &Record::Every(interval) => (start / interval * (1.0 + SAME * start.signum())).floor(),
            _ => 0.0,
        };
        let next = match record {
            Record::At(times) => times.partition_point(|t| *t < start - SAME * start.abs()),
            _ => 0,
        };
        Recorder { last, next, spacing: (until - start).abs() / ROWS }
    }
}

impl<S: System + ?Sized> Run<'_, S> {
    /// Rows inside the first fraction `theta` of the step tried last; true when the field was used.
    pub(super) fn record_between(&mut self, theta: f64) -> bool {
        match &self.settings.record {
            Record::Steps => self.fill_step(theta),
            &Record::Every(interval) => self.regular(theta, interval),
            Record::At(times) => {
                let times = times.clone();
                self.given(theta, &times)
            }
            Record::Events | Record::Nothing => false,
        }
    }

    fn fill_step(&mut self, theta: f64) -> bool {
        let (t, h) = (self.ode.time(), self.ode.step());
        let ratio = theta * h / self.recorder.spacing;
        let mut parts = ratio.ceil().min(1e6) as usize;
        if ratio > 0.5 {
            parts = parts.max(INSIDE_LONG);
        }
        if parts < 2 || !self.ode.prepare(&mut self.field) {
            return false;
        }
        for k in 1..parts {
            let at = theta * k as f64 / parts as f64;
            self.record_inside(at, t + at * h, false);
        }
        true
    }

    fn regular(&mut self, theta: f64, interval: f64) -> bool {
        let (t, h, until) = (self.ode.time(), self.ode.step(), self.settings.until);
        let mut used = false;
        loop {
            let mut next = (self.recorder.last + 1.0) * interval;
            if next > until && next - until <= SAME * until.abs() {
                next = until;
            }
            let mut at = (next - t) / h;
            // the last step ends at the end of the run up to rounding
            if theta == 1.0 && (t + h - until).abs() <= SAME * until.abs() && next == until {
                at = 1.0;
            }
            if at > theta || next > until {
                return used;
            }
            self.recorder.last += 1.0;
            if at <= 0.0 {
                continue;
            }
            if !self.ode.prepare(&mut self.field) {
                return used;
            }
            used = true;
            self.record_inside(at, next, true);
        }
    }

    fn given(&mut self, theta: f64, times: &[f64]) -> bool {
        let (t, h, until) = (self.ode.time(), self.ode.step(), self.settings.until);
        // the last step ends at the end of the run up to rounding
        let last = theta == 1.0 && (t + h - until).abs() <= SAME * until.abs();
        let part = |next: f64| if last && next == until { 1.0 } else { ((next - t) / h).max(0.0) };
        let inside = times[self.recorder.next..].iter().take_while(|next| part(**next) <= theta).count();
        let times = &times[self.recorder.next..self.recorder.next + inside];
        if times.is_empty() || !self.ode.prepare(&mut self.field) {
            return false;
        }
        self.recorder.next += inside;
        // derivatives at all of them in steps of their own
        let mut rates = Vec::new();
        let Run { field, variation, ode, .. } = self;
        let length = match variation.as_mut().filter(|v| v.with_rows) {
            Some(v) => {
                v.advance_through(field, ode, times[inside - 1].max(t), times, &mut rates);
                v.row_length()
            }
            None => 0,
        };
        for (k, &next) in times.iter().enumerate() {
            self.ode.interpolate(part(next), &mut self.dense);
            let Run { field, dense, ledger, variation, impulses, .. } = self;
            field.sys.restore(&mut dense[..field.dims.q]);
            field.at(next, dense);
            if let Some(v) = variation.as_mut().filter(|v| v.with_rows) {
                if let Some(row) = rates.get(k * length..(k + 1) * length) {
                    v.place_columns(row);
                }
                v.record(field, impulses);
            }
            let energy = ledger.columns_at(&field.eval, &dense[field.tail()..]);
            self.fill_point();
            self.out.samples.push(&self.point, &energy, true);
        }
        true
    }

    /// Record the dense output at the fraction `at`, which is the instant `time`.
    fn record_inside(&mut self, at: f64, time: f64, keep: bool) {
        self.ode.interpolate(at, &mut self.dense);
        let Run { field, dense, ledger, variation, ode, impulses, .. } = self;
        field.sys.restore(&mut dense[..field.dims.q]);
        field.at(time, dense);
        if let Some(v) = variation.as_mut().filter(|v| v.with_rows) {
            v.advance(field, ode, time);
            v.record(field, impulses);
        }
        let energy = ledger.columns_at(&field.eval, &dense[field.tail()..]);
        self.fill_point();
        self.out.samples.push(&self.point, &energy, keep);
    }

    /// Record the present point; `keep`: never thinned.
    pub(super) fn record(&mut self, keep: bool) {
        match &self.settings.record {
            Record::Nothing => return,
            Record::At(times) => {
                let t = self.field.state.t;
                match times.get(self.recorder.next) {
                    Some(next) if (next - t).abs() <= SAME * t.abs() => self.recorder.next += 1,
                    _ => return,
                }
            }
            _ => {}
        }
        if let Some(v) = &mut self.variation {
            v.record(&self.field, &self.impulses);
        }
        self.fill_point();
        self.out.samples.push(&self.point, &self.ledger.energy.columns(), keep);
    }

    /// The forces of the present point as events and outputs read them.
    pub(super) fn fill_forces(&mut self) {
        let Run { field, forces, .. } = self;
        forces.lambda.clone_from(&field.forces.lambda);
        forces.normal.clone_from(&field.forces.normal);
        forces.tangential.clone_from(&field.forces.tangential);
    }

    /// Copy everything about the present point of the field.
    pub(super) fn fill_point(&mut self) {
        self.fill_forces();
        let Run { field, point: p, forces, impulses, .. } = self;
        p.state.clone_from(&field.state);
        p.accel.clone_from(&field.forces.accel);
        p.modes.clone_from(&field.discrete.modes);
        p.latches.clone_from(&field.discrete.latches);
        p.normal.clone_from(&field.forces.normal);
        p.tangential.clone_from(&field.forces.tangential);
        for i in 0..field.info.len() {
            p.gap[i] = field.gap(i);
            p.slip[i] = field.slip(i);
        }
        field.row_values(&mut p.rates, &mut p.lambda);
        let at = system::Instant {
            state: &field.state,
            discrete: &field.discrete,
            eval: &field.eval,
            accel: &field.forces.accel,
            forces,
            impulses,
        };
        field.sys.outputs(at, &mut p.outputs);
    }
}
