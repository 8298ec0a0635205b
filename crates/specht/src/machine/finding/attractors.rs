//! What motions end in, from many starts (METH-CYCLE-START).

use serde::Serialize;

use crate::analysis::map::Watch;
use crate::analysis::place::{Place, Slot, slot};
use crate::machine::json::{Named, Num};
use crate::machine::task::LimitCycleTask;
use crate::machine::{Error, Machine};
use crate::sim::Settings;

use super::limit_cycle::LimitCycleFinding;

/// Something that motions end in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attractor {
    /// Name: its kind and number.
    pub name: String,
    /// Share of the starts.
    pub share: f64,
    /// As [`LimitCycleFinding::kind`].
    pub kind: &'static str,
    /// Period, s.
    pub period: Option<f64>,
    /// Multipliers.
    pub multipliers: Vec<[f64; 2]>,
    /// A state of it.
    pub state: Named<Num>,
}

impl Machine {
    /// What many starts lead to.
    pub(super) fn attractors(
        &self,
        task: &LimitCycleTask,
        settings: &Settings,
        watch: Watch,
    ) -> Result<Vec<Attractor>, Error> {
        let sys = self.system();
        let place = Place::start(sys).map_err(|e| self.refuse(e))?;
        let mut slots: Vec<(Slot, f64, f64)> = Vec::new();
        for (name, low, high) in &task.boxed {
            slots.push((slot(sys, name).map_err(|e| self.refuse(e))?, *low, *high));
        }
        if slots.is_empty() {
            return Err(Error::plain(
                "several starts need the box in which they lie",
                "write box = { x = [-2, 4] }, or --box \"x=-2..4\"",
            ));
        }
        let mut found: Vec<(LimitCycleFinding, usize)> = Vec::new();
        let mut done = 0;
        for k in 0..task.starts {
            if watch.interrupt.is_some_and(|f| f.load(std::sync::atomic::Ordering::Relaxed)) {
                break;
            }
            if let Some(progress) = watch.progress {
                progress(k as f64 / task.starts as f64);
            }
            // points that fill the box evenly
            let changes: Vec<(Slot, f64)> = slots
                .iter()
                .enumerate()
                .map(|(j, (s, low, high))| (*s, low + (high - low) * even(k, j)))
                .collect();
            let Ok(start) = place.with(sys, &changes) else { continue };
            let Ok(one) = self.one_cycle(task, &start, settings, watch) else { continue };
            done += 1;
            match found.iter_mut().find(|(f, _)| same(f, &one)) {
                Some((_, count)) => *count += 1,
                None => found.push((one, 1)),
            }
        }
        found.sort_by_key(|f| std::cmp::Reverse(f.1));
        let list = found.into_iter().enumerate().map(|(k, (f, count))| Attractor {
            name: format!("{} {}", f.kind, k + 1),
            share: count as f64 / done as f64,
            kind: f.kind,
            period: f.period,
            multipliers: f.multipliers,
            state: f.state,
        });
        Ok(list.collect())
    }
}

/// Coordinate `j` of point `k` of an even sequence in [0, 1): additive recurrence with roots of the generalised golden ratio.
pub(super) fn even(k: usize, j: usize) -> f64 {
    const PHI: f64 = 1.324_717_957_244_746;
    (0.5 + (k as f64 + 1.0) * PHI.powi(-(j as i32) - 1)).fract()
}

/// Whether two findings are the same attractor.
pub(super) fn same(a: &LimitCycleFinding, b: &LimitCycleFinding) -> bool {
    let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-4 * size;
    if a.kind != b.kind || a.sticks != b.sticks {
        return false;
    }
    match (a.period, b.period) {
        (Some(p), Some(q)) => {
            near(p, q, p)
                && a.amplitude.iter().zip(b.amplitude.iter()).all(|((_, x), (_, y))| {
                    let size = x.half.max(y.half).max(1e-3 * (x.max.abs() + y.max.abs()));
                    let drifts = a.drift.iter().next().is_some();
                    drifts || (near(x.min, y.min, size) && near(x.max, y.max, size))
                })
        }
        // in a band of rest everything is the same rest, else every point is one
        (None, None) => {
            a.sticks
                || a.kind != "rest"
                || a.state
                    .iter()
                    .zip(b.state.iter())
                    .filter(|(x, _)| x.0 != "t")
                    .all(|((_, x), (_, y))| near(x.0, y.0, 10.0 * (1.0 + x.0.abs())))
        }
        _ => false,
    }
}
