//! When a search has to end: a flag, a time limit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A flag by which somebody else ends a search (Ctrl-C).
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop(pub Option<&'static AtomicBool>);

impl Stop {
    /// Whether it was set.
    pub fn asked(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl PartialEq for Stop {
    fn eq(&self, other: &Stop) -> bool {
        match (self.0, other.0) {
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

/// Stops a run at its time limit, or when somebody asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Option<Instant>, Stop);

impl Clock {
    pub(crate) fn new(limit: Option<f64>, stop: Stop) -> Self {
        let end = |s: f64| Instant::now().checked_add(Duration::from_secs_f64(s.clamp(0.0, 1e9)));
        Clock(limit.and_then(end), stop)
    }

    pub(crate) fn over(&self) -> bool {
        self.1.asked() || self.0.is_some_and(|t| Instant::now() >= t)
    }
}
