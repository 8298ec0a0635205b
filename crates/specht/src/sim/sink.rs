//! Rows and events as they come, for runs that are longer than memory: whoever takes them has them all, the trajectory keeps an even
//! choice of the rows and the first events.

use super::trajectory::{Event, KINDS, Kind, Sample, Trajectory};

/// Takes what a run records, in the order of time, while the run goes on.
pub trait Sink {
    /// A row of the series; at an event two, before and after it. Whether it may stay in the trajectory.
    fn row(&mut self, row: &Sample<'_>) -> bool;
    /// An event. Whether it may stay in the trajectory.
    fn event(&mut self, event: &Event) -> bool;
    /// Whether it takes events of this kind at all. Others are counted, but not made.
    fn asks(&self, _kind: Kind) -> bool {
        true
    }
}

/// Rows that stay in memory at most; above, every other one goes.
pub const ROWS_KEPT: usize = 100_000;
/// Events that stay in memory at most: the first ones.
pub const EVENTS_KEPT: usize = 5_000;
/// Rows, or events, that are handed on together.
const BATCH: usize = 256;

/// Hands on what is new.
pub(crate) struct Delivery<'a> {
    sink: Option<&'a mut dyn Sink>,
    /// Rows and events of the trajectory that were handed on.
    rows: usize,
    events: usize,
    /// Rows handed on in all, of which one in so many stays.
    count: usize,
    one_in: usize,
}

impl<'a> Delivery<'a> {
    pub(super) fn new(sink: Option<&'a mut dyn Sink>) -> Self {
        Delivery { sink, rows: 0, events: 0, count: 0, one_in: 1 }
    }

    /// The kinds of events that are made.
    pub(super) fn asked(&self) -> [bool; KINDS.len()] {
        KINDS.map(|kind| self.sink.as_ref().is_none_or(|sink| sink.asks(kind)))
    }

    /// After a step: what is new goes in batches.
    pub(super) fn step(&mut self, out: &mut Trajectory) {
        let many = out.samples.len() >= self.rows + BATCH || out.events.len() >= self.events + BATCH;
        if self.sink.is_some() && many {
            self.all(out, false);
        }
    }

    /// At the end: everything; the last row stays.
    pub(super) fn end(&mut self, out: &mut Trajectory) {
        self.all(out, true);
    }

    fn all(&mut self, out: &mut Trajectory, end: bool) {
        let Some(sink) = &mut self.sink else { return };
        let mut kept = self.events;
        for k in self.events..out.events.len() {
            if sink.event(&out.events[k]) && kept < EVENTS_KEPT {
                out.events.swap(kept, k);
                kept += 1;
            }
        }
        out.events.truncate(kept);
        self.events = kept;
        let (first, len) = (self.rows, out.samples.len());
        let mut stays = Vec::with_capacity(len - first);
        for i in first..len {
            let wanted = sink.row(&out.samples.row(i));
            stays.push(wanted && (self.count.is_multiple_of(self.one_in) || (end && i + 1 == len)));
            self.count += usize::from(wanted);
        }
        out.samples.retain(first, |i| stays[i - first]);
        if out.samples.len() > ROWS_KEPT {
            let len = out.samples.len();
            out.samples.retain(0, |i| i.is_multiple_of(2) || (end && i + 1 == len));
            self.one_in *= 2;
        }
        self.rows = out.samples.len();
    }
}
