//! The return map of one number (METH-CYCLE-1D): from passage to passage of a section, with its jumps and fixed points.
//!
//! A state of the section with one coordinate changed, the contacts kept as they are, is followed to the next passage. The map is sampled
//! evenly and refined where it bends or jumps; fixed points of it and of its powers lie between samples of one continuous piece and are
//! found by bisection. Slopes are derivatives of the runs.

use crate::analysis::place::{Place, Slot};
use crate::model::CompiledSystem;
use crate::sim::{Event, Kind, Outside, Record, Seed, Settings, event_driven, event_driven_along};
use crate::system::State;

use super::branch::Sequence;
use super::{seed_along, way};

/// Samples to begin with, and at most.
const SAMPLES: usize = 65;
const MOST: usize = 600;
/// Neighbouring slopes that differ by more than this part are refined.
const BEND: f64 = 0.2;
/// Width of a jump, relative to the range.
const JUMP: f64 = 1e-6;
/// Accuracy of a fixed point, relative to the range.
const FIXED: f64 = 1e-12;

/// What is mapped.
pub(crate) struct Map<'a> {
    pub sys: &'a CompiledSystem,
    pub settings: &'a Settings,
    /// A state just after the section.
    pub place: Place,
    pub section: String,
    pub coordinate: Slot,
}

/// A value with its image, and the events on the way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Image {
    pub x: f64,
    pub y: f64,
    sequence: Sequence,
}

/// A fixed point of a power of the map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fixed {
    pub x: f64,
    pub power: usize,
    pub slope: f64,
}

impl Map<'_> {
    /// The image of `x`; `None` where the section is not passed again, or there is no such state.
    pub(crate) fn image(&self, x: f64) -> Option<Image> {
        let start = self.place.with(self.sys, &[(self.coordinate, x)]).ok()?;
        let passage = self.passage(&start)?;
        let sequence = passage.1;
        Some(Image { x, y: self.value(&passage.0.after), sequence })
    }

    fn value(&self, s: &State) -> f64 {
        match self.coordinate {
            Slot::Coordinate(k) => s.q[k],
            Slot::Velocity(k) => s.u[k],
            Slot::Parameter(_) => f64::NAN,
        }
    }

    /// The next passage of the section and the events before it.
    fn passage(&self, start: &State) -> Option<(Event, Sequence)> {
        let span = self.settings.until;
        let mut until = 0.25 * span;
        while until <= 1.01 * span {
            let s = Settings { until: start.t + until, record: Record::Nothing, ..self.settings.clone() };
            let run = event_driven(self.sys, start, &s, &mut Outside::default()).ok()?;
            let is = |e: &Event| e.kind == Kind::Mark && e.name.as_deref() == Some(&self.section);
            if let Some(k) = run.events.iter().position(|e| is(e) && e.time > start.t) {
                let plain = run.events[..k].iter().filter(|e| e.kind != Kind::Mark);
                let sequence =
                    plain.map(|e| (e.kind, e.contacts.iter().map(|c| c.contact).collect())).collect();
                return Some((run.events[k].clone(), sequence));
            }
            until *= 2.0;
        }
        None
    }

    /// The slope of the map at `x`, by the derivatives of the run.
    pub(crate) fn slope(&self, x: f64) -> Option<f64> {
        let start = self.place.with(self.sys, &[(self.coordinate, x)]).ok()?;
        // the direction in which the start moves with x: its contacts may take other coordinates along
        let h = 1e-6 * x.abs().max(1e-3);
        let (a, b) = (
            self.place.with(self.sys, &[(self.coordinate, x + h)]).ok()?,
            self.place.with(self.sys, &[(self.coordinate, x - h)]).ok()?,
        );
        let way: Vec<f64> = way(&b, &a).iter().map(|d| d / (2.0 * h)).collect();
        let nq = start.q.len();
        let seed = Seed { amount: x.abs().max(1e-3), ..seed_along(self.sys, &start, &way) };
        let hit = self.passage(&start)?.0.time;
        let span = hit - start.t;
        let s = Settings { until: hit + 1e-10 * span, record: Record::Nothing, ..self.settings.clone() };
        let run = event_driven_along(self.sys, &start, &s, &mut Outside::default(), &[seed], false).ok()?;
        let d = run.derivatives.as_ref()?;
        let is =
            |e: &Event| e.kind == Kind::Mark && e.name.as_deref() == Some(&self.section) && e.time > start.t;
        let dt = d.times.get(run.events.iter().position(is)?)?.first().copied()?;
        let slope = match self.coordinate {
            Slot::Coordinate(k) => d.last[0][k] + run.last.state.u[k] * dt,
            Slot::Velocity(k) => d.last[0][nq + k] + run.last.accel[k] * dt,
            Slot::Parameter(_) => f64::NAN,
        };
        slope.is_finite().then_some(slope)
    }

    /// The map over a range: points in order, and places of jumps.
    pub(crate) fn sample(&self, from: f64, to: f64) -> (Vec<Image>, Vec<f64>) {
        let mut list: Vec<Image> = (0..SAMPLES)
            .filter_map(|k| self.image(from + (to - from) * k as f64 / (SAMPLES - 1) as f64))
            .collect();
        let width = (to - from).abs();
        // bends
        for _ in 0..4 {
            let mut new = Vec::new();
            for w in list.windows(3) {
                let slope = |a: &Image, b: &Image| (b.y - a.y) / (b.x - a.x);
                let (s, t) = (slope(&w[0], &w[1]), slope(&w[1], &w[2]));
                let bends = (s - t).abs() > BEND * s.abs().max(t.abs()).max(1e-3);
                if bends && w[2].x - w[0].x > 1e-3 * width {
                    new.push(0.5 * (w[0].x + w[1].x));
                    new.push(0.5 * (w[1].x + w[2].x));
                }
            }
            if new.is_empty() || list.len() + new.len() > MOST {
                break;
            }
            list.extend(new.into_iter().filter_map(|x| self.image(x)));
            list.sort_by(|a, b| a.x.total_cmp(&b.x));
            list.dedup_by(|a, b| a.x == b.x);
        }
        // jumps: the events change and the values do not come together
        let mut jumps = Vec::new();
        let mut more = Vec::new();
        for w in list.windows(2).filter(|w| w[0].sequence != w[1].sequence) {
            let (mut a, mut b) = (w[0].clone(), w[1].clone());
            while b.x - a.x > JUMP * width {
                let Some(middle) = self.image(0.5 * (a.x + b.x)) else { break };
                if middle.sequence == a.sequence { a = middle } else { b = middle }
            }
            if (b.y - a.y).abs() > 1e-3 * width {
                jumps.push(0.5 * (a.x + b.x));
            }
            more.extend([a, b]);
        }
        list.extend(more);
        list.sort_by(|a, b| a.x.total_cmp(&b.x));
        list.dedup_by(|a, b| a.x == b.x);
        (list, jumps)
    }

    fn power(&self, x: f64, n: usize) -> Option<f64> {
        (0..n).try_fold(x, |x, _| self.image(x).map(|i| i.y))
    }

    /// Fixed points of the powers up to `most` between the samples.
    pub(crate) fn fixed(
        &self,
        list: &[Image],
        jumps: &[f64],
        powers: std::ops::RangeInclusive<usize>,
    ) -> Vec<Fixed> {
        let width = list.last().map_or(0.0, |l| l.x - list[0].x);
        let mut found: Vec<Fixed> = Vec::new();
        for n in powers {
            let values: Vec<(f64, f64)> =
                list.iter().filter_map(|i| Some((i.x, self.power(i.x, n)? - i.x))).collect();
            for w in values.windows(2) {
                let (mut a, mut b) = (w[0], w[1]);
                if a.1 * b.1 > 0.0 || jumps.iter().any(|j| a.0 < *j && *j < b.0) {
                    continue;
                }
                // bisection, regula falsi in between
                while (b.0 - a.0).abs() > FIXED * width {
                    let straight = a.0 - a.1 * (b.0 - a.0) / (b.1 - a.1);
                    let middle = 0.5 * (a.0 + b.0);
                    let mut closer = false;
                    for x in [straight, middle] {
                        if !(x > a.0.min(b.0) && x < a.0.max(b.0)) {
                            continue;
                        }
                        let Some(y) = self.power(x, n) else { break };
                        let f = (x, y - x);
                        closer = true;
                        if f.1 * a.1 > 0.0 {
                            a = f
                        } else {
                            b = f
                        }
                        if f.1 == 0.0 {
                            (a, b) = (f, f);
                        }
                    }
                    if !closer {
                        break;
                    }
                }
                let x = if a.1.abs() < b.1.abs() { a.0 } else { b.0 };
                // a sign change without a zero is a jump of the power
                if a.1.abs().min(b.1.abs()) > 1e-6 * width
                    || found.iter().any(|f| (f.x - x).abs() < 1e-7 * width)
                {
                    continue;
                }
                let mut slope = 1.0;
                let mut at = x;
                for _ in 0..n {
                    slope *= self.slope(at).unwrap_or(f64::NAN);
                    at = self.image(at).map_or(f64::NAN, |i| i.y);
                }
                found.push(Fixed { x, power: n, slope });
            }
        }
        found
    }
}
