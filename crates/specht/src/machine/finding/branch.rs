//! `branch`: how cycles change with a parameter.

use serde::Serialize;

use crate::analysis::cycle::{Branch, Follow, Portrait, STEPS, Side, Special};
use crate::analysis::line::Line;
use crate::analysis::map::Watch;
use crate::machine::json::Named;
use crate::machine::task::{BranchOf, BranchTask, LimitCycleTask};
use crate::machine::{Error, Machine};
use crate::system::{Mode, State, System};

use super::limit_cycle::{CycleEvent, Extent, Margins};

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
    /// What is followed.
    pub of: BranchOf,
    /// The special point that this branch leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switched: Option<BranchOrigin>,
    /// Special points over a second parameter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<BranchCurve>,
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
    /// Period of a cycle, s.
    pub period: Option<f64>,
    /// Extremes of coordinates and outputs.
    pub amplitude: Named<Extent>,
    /// Whether disturbances die out.
    pub stable: bool,
    /// Multipliers of a cycle.
    pub multipliers: Vec<[f64; 2]>,
    /// Eigenvalues of rest and steady motion, 1/s, largest real part first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub eigenvalues: Vec<[f64; 2]>,
    /// Number of events.
    pub events: usize,
    /// How far a cycle is from changing its events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margins: Option<Margins>,
    /// The cycle in the plane of its first coordinate and velocity, for drawing.
    #[serde(skip)]
    pub curve: Vec<[f64; 2]>,
}

/// Where another branch was left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchOrigin {
    /// Label of the special point.
    pub label: &'static str,
    /// Value of the parameter there.
    pub parameter: f64,
}

/// A special point over two parameters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchCurve {
    /// Its label.
    pub label: &'static str,
    /// Names of the two parameters.
    pub parameters: [String; 2],
    /// Their values.
    pub points: Vec<[f64; 2]>,
    /// Why it ended.
    pub ended: String,
}

/// A special point.
#[derive(Clone, Debug, Serialize)]
pub struct BranchSpecial {
    /// fold, doubling, torus, hopf, pitchfork, transcritical, grazing, stick-loss, stick-onset, slip-onset, lift-off, switch, order-change, end.
    pub label: &'static str,
    /// Value of the parameter.
    pub parameter: f64,
    /// The first amplitude there.
    pub value: f64,
    /// Multipliers there.
    pub multipliers: Vec<[f64; 2]>,
    /// Frequency of what begins there, Hz (hopf).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<f64>,
    /// The cycle before it.
    pub before: BranchSide,
    /// The cycle behind it.
    pub after: Option<BranchSide>,
    /// What a simulation does a little further.
    pub beyond: Option<String>,
    /// State and modes of rest or steady motion there.
    #[serde(skip)]
    pub(super) still: Option<(State, Vec<Mode>)>,
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

impl BranchFinding {
    /// Whether anything changes along the branch.
    fn acts(&self) -> bool {
        let numbers = |p: &BranchPoint| -> Vec<f64> {
            let ranges = p.amplitude.iter().flat_map(|(_, e)| [e.min, e.max]);
            let rates = p.multipliers.iter().chain(&p.eigenvalues).flatten().copied();
            p.period.into_iter().chain(ranges).chain(rates).collect()
        };
        let Some(first) = self.points.first().map(numbers) else { return true };
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-8 * (a.abs() + b.abs()) + 1e-14;
        self.points
            .iter()
            .map(numbers)
            .any(|p| p.len() != first.len() || p.iter().zip(&first).any(|(a, b)| !same(*a, *b)))
    }
}

impl Machine {
    pub(super) fn branch(&self, task: &BranchTask, watch: Watch) -> Result<BranchFinding, Error> {
        let Some((name, from, to)) = &task.over else {
            return Err(Error::plain(
                "a branch needs a parameter and its range",
                "write over = { mu = [0.1, 0.5] }, or --over mu=0.1..0.5",
            ));
        };
        let range = [*from, *to];
        let mut found = match task.of {
            BranchOf::Cycle => self.branch_of_cycles(task, name, range, watch)?,
            BranchOf::Rest => self.branch_of_rest(task, name, range, watch)?,
            BranchOf::Sliding => self.branch_of_sliding(task, name, range, watch)?,
        };
        if !found.acts() {
            found.ended += &format!("; `{name}` does not act on it");
        }
        if let Some((second, low, high)) = &task.two {
            found.curves = self.curves(task, &found, (second, [*low, *high]), range, watch)?;
        }
        Ok(found)
    }

    fn branch_of_cycles(
        &self,
        task: &BranchTask,
        name: &str,
        range: [f64; 2],
        watch: Watch,
    ) -> Result<BranchFinding, Error> {
        let first = self.opened(vec![name.to_string()])?.vary(&[(name, range[0])])?;
        first.followed(task, name, range, watch, |_, branch, switched| {
            first.told_branch(task, name, range, branch, switched, watch)
        })
    }

    /// What `tell` makes of the branch of cycles of a machine whose parameter `name` is open and stands at the first end of its range.
    pub(super) fn followed<R>(
        &self,
        task: &BranchTask,
        name: &str,
        range: [f64; 2],
        watch: Watch,
        tell: impl FnOnce(&Follow<'_>, &Branch, Option<BranchOrigin>) -> R,
    ) -> Result<R, Error> {
        let settings = self.cycle_settings()?;
        let start = self.state(&task.cycle.look, watch)?;
        let (settled, found) = self.orbit(&task.cycle, &start, &settings, watch)?;
        let (mut orbit, forcing) = match found {
            Ok(found) => found,
            Err(stalled) => {
                let why = self.no_cycle(&settled, stalled).reason.unwrap_or_default();
                return Err(Error::plain(
                    format!("there is no cycle at {name} = {}: {why}", range[0]),
                    "begin the branch where there is one; `specht analyse limit-cycle` says more",
                ));
            }
        };
        // a start near t = 0: what drives the machine is compared at one phase
        if forcing.is_some() {
            orbit.start.t = orbit.start.t.rem_euclid(orbit.period);
        }
        let follow = Follow {
            sys: self.system(),
            line: Line::of(self.live_slot(name)?),
            settings: &settings,
            symmetry: settled.symmetry.clone(),
            forcing: forcing.map(|p| (p, (orbit.period / p).round())),
            range,
            most: MOST,
            steps: STEPS,
            wanted: None,
        };
        let sigma = orbit.sigma.clone();
        let refuse = |why| Error::plain(format!("there is no branch over `{name}`: {why}"), "");
        let branch = follow.run(&orbit, sigma, going(watch)).map_err(refuse)?;
        let Some(label) = task.switch.as_deref() else { return Ok(tell(&follow, &branch, None)) };
        let Some(at) = branch.special.iter().find(|s| s.label == label) else {
            return Err(no_such_point(&branch.special, name, label));
        };
        let twice = follow.twice();
        let other = twice
            .doubled(&at.at, going(watch))
            .ok_or_else(|| refuse(format!("no branch is found that leaves the {label}")))?;
        Ok(tell(&twice, &other, Some(BranchOrigin { label: at.label, parameter: at.parameter })))
    }

    /// A branch of cycles as a finding.
    pub(super) fn told_branch(
        &self,
        task: &BranchTask,
        name: &str,
        [from, to]: [f64; 2],
        branch: &Branch,
        switched: Option<BranchOrigin>,
        watch: Watch,
    ) -> BranchFinding {
        let points = branch.points.iter().filter_map(|p| Some((p, p.seen()?))).map(|(p, seen)| BranchPoint {
            parameter: p.parameter,
            period: Some(p.orbit.period),
            amplitude: self.extents(seen),
            stable: p.orbit.is_stable(),
            multipliers: p.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            eigenvalues: Vec::new(),
            events: p.events(),
            margins: Some(Margins::of(seen)),
            curve: first_loop(seen),
        });
        let special = branch.special.iter().filter_map(|s| Some((s, s.at.seen()?))).map(|(s, seen)| {
            let amplitude = self.extents(seen);
            let there = s.parameter + branch.ahead(s) * BEYOND * (to - from).abs();
            BranchSpecial {
                label: s.label,
                parameter: s.parameter,
                value: amplitude.iter().next().map_or(f64::NAN, |(_, e)| e.half),
                multipliers: s.at.orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
                frequency: None,
                before: self.side(&s.before),
                after: s.after.as_ref().map(|a| self.side(a)),
                beyond: self.beyond(task, name, there, &s.at.orbit.start, watch),
                still: None,
            }
        });
        BranchFinding {
            over: name.to_string(),
            of: BranchOf::Cycle,
            points: points.collect(),
            special: special.collect(),
            switched,
            curves: Vec::new(),
            ended: branch.ended.clone(),
            explain: "branch",
        }
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
    pub(super) fn beyond(
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

/// Progress of a branch, and whether it goes on.
pub(super) fn going(watch: Watch<'_>) -> impl FnMut(f64) -> bool {
    move |part| {
        if let Some(progress) = watch.progress {
            progress(part);
        }
        !watch.is_interrupted()
    }
}

fn no_such_point(special: &[Special], name: &str, label: &str) -> Error {
    let seen: Vec<String> = special.iter().map(|s| format!("{} at {}", s.label, s.parameter)).collect();
    let seen = if seen.is_empty() { "nothing".to_string() } else { seen.join(", ") };
    Error::plain(format!("the branch over `{name}` has no {label}: {seen} is found"), "")
}

/// Most points of a drawn cycle.
const DRAWN: usize = 120;

fn first_loop(p: &Portrait) -> Vec<[f64; 2]> {
    let rows = p.run.samples.rows();
    let every = p.run.samples.len().div_ceil(DRAWN).max(1);
    rows.step_by(every).filter_map(|r| Some([*r.q.first()?, *r.u.first()?])).collect()
}
