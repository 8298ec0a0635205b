//! `return-map`: one number from passage to passage of a section; `lyapunov`: how fast neighbouring motions part.

use serde::Serialize;

use crate::analysis::cycle::{Map, forcing_period, lyapunov};
use crate::analysis::map::Watch;
use crate::analysis::place::{Place, Slot, slot};
use crate::machine::json::Num;
use crate::machine::task::{LyapunovTask, ReturnMapTask};
use crate::machine::{Error, Machine};
use crate::sim::{Kind, Outside, Record, Settings, event_driven};
use crate::system::System;

/// A return map.
#[derive(Clone, Debug, Serialize)]
pub struct ReturnMapFinding {
    /// Section.
    pub section: String,
    /// The number that is mapped.
    pub coordinate: String,
    /// [x, P(x)] in order.
    pub points: Vec<[f64; 2]>,
    /// Where the map jumps.
    pub jumps: Vec<f64>,
    /// Fixed points of its powers.
    pub fixed: Vec<FixedPoint>,
    /// Page.
    pub explain: &'static str,
}

/// A fixed point of a power of the map.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FixedPoint {
    /// Where.
    pub x: f64,
    /// Of which power: a cycle that passes the section so many times.
    pub power: usize,
    /// Slope there.
    pub slope: Num,
    /// Whether the slope is below 1 in size.
    pub stable: bool,
}

/// Exponents.
#[derive(Clone, Debug, Serialize)]
pub struct LyapunovFinding {
    /// Largest first, 1/s; `-inf`: forgotten at stick.
    pub exponents: Vec<Num>,
    /// Their sum.
    pub sum: Num,
    /// Mean of ln |det| per time; must agree with the sum.
    pub divergence_mean: Num,
    /// Standard error of the largest.
    pub error: f64,
    /// Largest exponent in every block of the time.
    pub blocks: Vec<f64>,
    /// Whether the blocks agree.
    pub settled: bool,
    /// Time over which they were taken, s.
    pub time: f64,
    /// Page.
    pub explain: &'static str,
}

/// Passages from which the range of the map is taken.
const PASSAGES: usize = 40;

impl Machine {
    pub(super) fn return_map(&self, task: &ReturnMapTask, watch: Watch) -> Result<ReturnMapFinding, Error> {
        let (sys, settings) = (self.system(), self.cycle_settings()?);
        let known = sys.event_names();
        let section = match &task.section {
            Some(name) if known.contains(name) => name.clone(),
            Some(name) => {
                let help = "define it,  [[event]] name = \"top\", crossing = \"x'\", direction = \"down\"";
                return Err(Error::unknown("event", name, known, help));
            }
            None => {
                return Err(Error::plain(
                    "a return map needs a section",
                    "name an event of the file: section = \"turn\", or --section turn",
                ));
            }
        };
        let Some(coordinate) = &task.coordinate else {
            return Err(Error::plain(
                "a return map needs the number that is mapped",
                "name a coordinate or velocity: coordinate = \"phi\", or --coordinate phi",
            ));
        };
        let which = slot(sys, coordinate).map_err(|e| self.refuse(e))?;
        if matches!(which, Slot::Parameter(_)) {
            return Err(Error::plain(format!("`{coordinate}` is a parameter, not a part of the state"), ""));
        }
        // passages of the run give a state of the section, and the range
        let start = self.state(&task.look, watch)?;
        let mut outside = Outside { interrupt: watch.interrupt, progress: None };
        let s = Settings { record: Record::Events, ..settings.clone() };
        let run = event_driven(sys, &start, &s, &mut outside).map_err(|e| self.start_error(&e))?;
        let is = |e: &&crate::sim::Event| e.kind == Kind::Mark && e.name.as_deref() == Some(&section);
        let passages: Vec<_> = run.events.iter().filter(is).collect();
        let Some(last) = passages.last() else {
            return Err(Error::plain(
                format!("the section `{section}` is not passed within {} s", settings.until),
                "simulate longer with --until, or choose another section",
            ));
        };
        let value = |s: &crate::system::State| match which {
            Slot::Coordinate(k) => s.q[k],
            Slot::Velocity(k) => s.u[k],
            Slot::Parameter(_) => f64::NAN,
        };
        let seen = passages.iter().rev().take(PASSAGES).map(|e| value(&e.after));
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let margin = 0.5 * (high - low).max(0.1 * high.abs().max(low.abs())).max(1e-9);
        let [from, to] = task.over.unwrap_or([low - margin, high + margin]);
        let row = run
            .samples
            .rows()
            .filter(|r| r.t == last.time)
            .last()
            .ok_or_else(|| Error::plain("the run recorded nothing", ""))?;
        let place = Place::of_run(sys, &row).map_err(|e| self.refuse(e))?;
        let span = settings.until - start.t;
        let settings = Settings { until: span, ..settings };
        let map = Map { sys, settings: &settings, place, section: section.clone(), coordinate: which };
        let (images, jumps) = map.sample(from, to);
        let [first, most] = task.power;
        let fixed = map.fixed(&images, &jumps, first..=most);
        Ok(ReturnMapFinding {
            section,
            coordinate: coordinate.clone(),
            points: images.iter().map(|i| [i.x, i.y]).collect(),
            jumps,
            fixed: fixed
                .iter()
                .map(|f| FixedPoint {
                    x: f.x,
                    power: f.power,
                    slope: Num(f.slope),
                    stable: f.slope.abs() < 1.0,
                })
                .collect(),
            explain: "return-map",
        })
    }

    pub(super) fn lyapunov(&self, task: &LyapunovTask, watch: Watch) -> Result<LyapunovFinding, Error> {
        let (sys, settings) = (self.system(), self.cycle_settings()?);
        let start = self.state(&task.look, watch)?;
        let mut outside = Outside { interrupt: watch.interrupt, progress: None };
        let span = settings.until - start.t;
        // the interval: the period of the forcing, or a hundredth of the run
        let short = Settings { until: start.t + 0.05 * span, record: Record::Steps, ..settings.clone() };
        let first = event_driven(sys, &start, &short, &mut outside).map_err(|e| self.start_error(&e))?;
        let forcing = task.period.or_else(|| forcing_period(sys, &first));
        let time = task.time.unwrap_or(span);
        let interval = forcing.unwrap_or(0.01 * time).min(time);
        let warm_up = task.warm_up.unwrap_or(0.25 * time);
        let warm_up = (warm_up / interval).ceil() * interval;
        let count = ((time / interval).round() as usize).max(1);
        let found = lyapunov(sys, &start, &settings, warm_up, interval, count, &mut outside)
            .map_err(|e| self.start_error(&e))?
            .map_err(|why| {
                Error::plain(
                    format!("there are no exponents: {why}"),
                    "start elsewhere, or ask for a shorter time",
                )
            })?;
        let sum: f64 = found.values.iter().sum();
        let half = found.blocks.len() / 2;
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len().max(1) as f64;
        let settled = half == 0
            || (mean(&found.blocks[..half]) - mean(&found.blocks[half..])).abs() <= 4.0 * found.error + 1e-12;
        Ok(LyapunovFinding {
            exponents: found.values.iter().map(|v| Num(*v)).collect(),
            sum: Num(sum),
            divergence_mean: Num(found.divergence),
            error: found.error,
            blocks: found.blocks,
            settled,
            time: found.time,
            explain: "lyapunov",
        })
    }
}
