//! `branch`: how cycles change with a parameter.

use serde::Serialize;

use crate::analysis::cycle::{Follow, Side};
use crate::analysis::map::Watch;
use crate::machine::json::Named;
use crate::machine::task::{BranchTask, LimitCycleTask};
use crate::machine::{Error, Machine};
use crate::sim::Kind;
use crate::system::System;

use super::limit_cycle::{CycleEvent, Extent};

/// Most cycles of a branch.
const MOST: usize = 400;
/// How far beyond a special point the motion is simulated, relative to the range.
const BEYOND: f64 = 1e-3;

/// A branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchFinding {
    /// The parameter.
    pub over: String,
    /// Cycles, in the order in which they were followed.
    pub points: Vec<BranchPoint>,
    /// Special points.
    pub special: Vec<BranchSpecial>,
    /// Why it ended.
    pub ended: String,
    /// Page.
    pub explain: &'static str,
}

/// A cycle of a branch.
#[derive(Clone, Debug, Serialize)]
pub struct BranchPoint {
    /// Value of the parameter.
    pub parameter: f64,
    /// Period, s.
    pub period: f64,
    /// Extremes of coordinates and outputs.
    pub amplitude: Named<Extent>,
    /// Whether disturbances die out.
    pub stable: bool,
    /// Multipliers.
    pub multipliers: Vec<[f64; 2]>,
    /// Number of events.
    pub events: usize,
}

/// A special point.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSpecial {
    /// fold, doubling, torus, pitchfork, grazing, stick-loss, stick-onset, slip-onset, lift-off, order-change, end.
    pub label: &'static str,
    /// Value of the parameter.
    pub parameter: f64,
    /// The first amplitude there.
    pub value: f64,
    /// Multipliers there.
    pub multipliers: Vec<[f64; 2]>,
    /// The cycle before it.
    pub before: BranchSide,
    /// The cycle behind it.
    pub after: Option<BranchSide>,
    /// What a simulation does a little further.
    pub beyond: Option<String>,
}

/// A cycle beside a special point.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSide {
    /// Whether it is stable.
    pub stable: bool,
    /// Multipliers.
    pub multipliers: Vec<[f64; 2]>,
    /// Events of a period.
    pub events: Vec<CycleEvent>,
}

impl Machine {
    pub(super) fn branch(&self, task: &BranchTask, watch: Watch) -> Result<BranchFinding, Error> {
        let Some((name, from, to)) = &task.over else {
            return Err(Error::plain(
                "a branch needs a parameter and its range",
                "write over = { mu = [0.1, 0.5] }, or --over mu=0.1..0.5",
            ));
        };
        let machine = self.opened(vec![name.clone()])?;
        let Some(k) = machine.model().parameters.iter().find(|p| p.name == *name).and_then(|p| p.live) else {
            return Err(Error::plain(format!("`{name}` is a list; name one of its entries"), ""));
        };
        let first = machine.vary(&[(name, *from)])?;
        let settings = first.cycle_settings()?;
        let start = first.state(&task.cycle.look, watch)?;
        let (settled, found) = first.orbit(&task.cycle, &start, &settings, watch)?;
        let (orbit, forcing) = match found {
            Ok(found) => found,
            Err(stalled) => {
                let none = first.no_cycle(&settled, stalled);
                let why = none.reason.unwrap_or_default();
                return Err(Error::plain(
                    format!("there is no cycle at {name} = {from}: {why}"),
                    "begin the branch where there is one; `specht analyse limit-cycle` says more",
                ));
            }
        };
        // a start near t = 0: what drives the machine is compared at one phase
        let mut orbit = orbit;
        if forcing.is_some() {
            orbit.start.t = orbit.start.t.rem_euclid(orbit.period);
        }
        let follow = Follow {
            sys: first.system(),
            parameter: k,
            settings: &settings,
            symmetry: settled.symmetry.clone(),
            section: settled.section.clone(),
            forcing: forcing.map(|p| (p, (orbit.period / p).round())),
            range: [*from, *to],
            most: MOST,
        };
        let sigma = orbit.sigma.clone();
        let go = |part: f64| {
            if let Some(progress) = watch.progress {
                progress(part);
            }
            !watch.interrupt.is_some_and(|f| f.load(std::sync::atomic::Ordering::Relaxed))
        };
        let branch = follow
            .run(&orbit, sigma, go)
            .map_err(|why| Error::plain(format!("there is no branch over `{name}`: {why}"), ""))?;
        let points = branch.points.iter().map(|p| BranchPoint {
            parameter: p.parameter,
            period: p.orbit.period,
            amplitude: first.extents(&p.portrait),
            stable: p.orbit.largest() < 1.0,
            multipliers: p.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            events: p.portrait.run.events.iter().filter(|e| e.kind != Kind::Mark).count(),
        });
        let points: Vec<BranchPoint> = points.collect();
        let way = (to - from).signum();
        let mut special = Vec::new();
        for s in &branch.special {
            let amplitude = first.extents(&s.at.portrait);
            let beyond = first.beyond(
                task,
                name,
                s.at.parameter + way * BEYOND * (to - from).abs(),
                &s.at.orbit.start,
                watch,
            );
            special.push(BranchSpecial {
                label: s.label,
                parameter: s.at.parameter,
                value: amplitude.iter().next().map_or(f64::NAN, |(_, e)| e.half),
                multipliers: s.at.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
                before: first.side(&s.before),
                after: s.after.as_ref().map(|a| first.side(a)),
                beyond,
            });
        }
        Ok(BranchFinding { over: name.clone(), points, special, ended: branch.ended, explain: "branch" })
    }

    fn side(&self, s: &Side) -> BranchSide {
        let info = self.system().contacts();
        let events = s.sequence.iter().map(|(kind, contacts)| CycleEvent {
            kind: kind.word(),
            contacts: contacts.iter().map(|c| info[*c].name.clone()).collect(),
            time: f64::NAN,
        });
        BranchSide { stable: s.stable, multipliers: s.multipliers.clone(), events: events.collect() }
    }

    /// What the motion settles to a little beyond a special point.
    fn beyond(
        &self,
        task: &BranchTask,
        name: &str,
        value: f64,
        start: &crate::system::State,
        watch: Watch,
    ) -> Option<String> {
        let machine = self.vary(&[(name, value)]).ok()?;
        let settings = machine.cycle_settings().ok()?;
        let question = LimitCycleTask { unstable: false, starts: 0, multiple: None, ..task.cycle.clone() };
        let span = settings.until;
        let settings = crate::sim::Settings { until: start.t + span, ..settings };
        let found = machine.one_cycle(&question, start, &settings, watch).ok()?;
        Some(match (found.period, found.multiple) {
            (Some(p), Some(n)) => format!(
                "{}, {n} periods of the forcing, {} events, period {p} s",
                found.headline(),
                found.events.len()
            ),
            (Some(p), None) => format!("{}, {} events, period {p} s", found.headline(), found.events.len()),
            (None, _) => format!("{}: {}", found.kind, found.reason.unwrap_or_default()),
        })
    }
}
