//! `limit-cycle`: does the motion repeat itself, how, and is it stable?

use serde::Serialize;

use crate::analysis::cycle::{
    Guess, Orbit, Outcome, Portrait, Range, Section, Settled, forcing_period, is_back, moved, portrait,
    settle, shoot,
};
use crate::analysis::map::Watch;
use crate::machine::json::{Named, Num};
use crate::machine::task::LimitCycleTask;
use crate::machine::{Error, Machine};
use crate::model::CompiledSystem;
use crate::sim::{Kind, Outside, Settings};
use crate::system::{State, System};

use super::attractors::{Attractor, even};

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct LimitCycleFinding {
    /// `cycle`, `drifting cycle`, `forced cycle`, or what there is instead: `rest`, `steady motion`, `not periodic`, `not exact`, `ended`.
    pub kind: &'static str,
    /// Why there is no cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The largest exponent of a motion that does not repeat itself, 1/s, and its error: positive in chaos.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exponent: Option<[f64; 2]>,
    /// Period, s.
    pub period: Option<f64>,
    /// Its inverse, Hz.
    pub frequency: Option<f64>,
    /// Periods of the forcing in one of the cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiple: Option<usize>,
    /// Change of coordinates from period to period.
    pub drift: Named<Num>,
    /// Nontrivial multipliers that are not exactly zero, largest first.
    pub multipliers: Vec<[f64; 2]>,
    /// Distance of the trivial multipliers from one.
    pub trivial_error: Option<f64>,
    /// Number of exact zeros.
    pub zeros: Option<usize>,
    /// How many multipliers are one: the cycle is one of a family with so many dimensions.
    #[serde(skip_serializing_if = "is_zero")]
    pub family: usize,
    /// Whether disturbances die out.
    pub stable: Option<bool>,
    /// Factor by which the slowest disturbance shrinks in a period.
    pub decay: Option<f64>,
    /// Events of one period, from the section on.
    pub events: Vec<CycleEvent>,
    /// Share of the period at which contacts stick.
    pub stick_share: Named<Num>,
    /// Work per period of contacts, of other forces and of drives, J; `closing`: what is missing in the balance.
    pub energy: Named<Num>,
    /// Extremes of coordinates and outputs.
    pub amplitude: Named<Extent>,
    /// How far it is from changing its events.
    pub margins: Margins,
    /// Just after the section.
    pub state: Named<Num>,
    /// What the section is.
    pub section: String,
    /// What was found from several starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attractors: Vec<Attractor>,
    /// Scaled distance of the end of the period from its beginning.
    pub residual: Option<f64>,
    /// Page.
    pub explain: &'static str,
    /// Whether it rests because contacts stick.
    #[serde(skip)]
    pub(super) sticks: bool,
    /// Whether it moves on without repeating itself.
    #[serde(skip)]
    pub(super) wanders: bool,
    /// One period in the plane of each coordinate and its velocity, for drawing.
    #[serde(skip)]
    pub loops: Vec<Loop>,
}

/// A curve in the plane of a coordinate and its velocity.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Name of the coordinate.
    pub name: String,
    /// Points (x, x').
    pub points: Vec<[f64; 2]>,
}

/// An event of a cycle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CycleEvent {
    /// Kind.
    pub kind: &'static str,
    /// Contacts; a mark: the name of the event.
    pub contacts: Vec<String>,
    /// Time since the section, s.
    pub time: f64,
}

/// Extremes of a number over a period.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Extent {
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Half their difference.
    pub half: f64,
}

impl From<Range> for Extent {
    fn from(r: Range) -> Extent {
        Extent { min: r.min, max: r.max, half: 0.5 * (r.max - r.min) }
    }
}

/// How far a cycle is from changing its events; `null`: nothing of the kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Margins {
    /// Smallest gap of a contact that comes near without closing, m.
    pub grazing: Option<f64>,
    /// Slowest impact, m/s.
    pub impact: Option<f64>,
    /// Shortest stick, s.
    pub stick: Option<f64>,
    /// Smallest slip without a stop, m/s.
    pub slip: Option<f64>,
    /// Smallest normal force of a closed contact, N.
    pub lift_off: Option<f64>,
}

impl Margins {
    pub(super) fn of(seen: &Portrait) -> Margins {
        Margins {
            grazing: seen.grazing,
            impact: seen.slowest_impact,
            stick: seen.shortest_stick,
            slip: seen.least_slip,
            lift_off: seen.lift_off,
        }
    }
}

impl LimitCycleFinding {
    /// The word that says it all.
    pub fn headline(&self) -> &'static str {
        match self.stable {
            Some(true) => "stable cycle",
            Some(false) => "unstable cycle",
            None => self.kind,
        }
    }
}

/// A cycle with the period of its forcing, or why Newton's method found none.
pub(super) type Found = Result<(Orbit, Option<f64>), Option<String>>;

/// Guesses that are tried before giving up.
const TRIALS: usize = 4;
/// Disturbances of cycles that the motion leaves, in units of its size; one attempt each.
const DISTURBED: [f64; 3] = [0.003, -0.01, 0.03];

impl Machine {
    pub(super) fn limit_cycle(
        &self,
        task: &LimitCycleTask,
        watch: Watch,
    ) -> Result<LimitCycleFinding, Error> {
        let settings = self.cycle_settings()?;
        let start = self.state(&task.look, watch)?;
        let mut finding = self.one_cycle(task, &start, &settings, watch)?;
        if finding.wanders {
            self.judge_chaos(task, &mut finding, watch);
        }
        if task.starts > 0 {
            finding.attractors = self.attractors(task, &settings, watch)?;
        }
        Ok(finding)
    }

    /// Settings of the runs inside such questions: always event-driven.
    pub(super) fn cycle_settings(&self) -> Result<Settings, Error> {
        let (scheme, settings) = self.settings()?;
        if scheme == crate::sim::Scheme::Step {
            return Err(Error::plain(
                "cycles are found with the event-driven scheme, and this model asks for time-stepping",
                "take `scheme = \"step\"` out of [run]",
            ));
        }
        Ok(settings)
    }

    /// The section asked for.
    fn section(&self, task: &LimitCycleTask) -> Result<Option<Section>, Error> {
        if let Some(name) = &task.section {
            let known = self.system().event_names();
            if !known.contains(name) {
                let help = "define it,  [[event]] name = \"top\", crossing = \"x'\", direction = \"down\"";
                return Err(Error::unknown("event", name, known, help));
            }
            return Ok(Some(Section::Event(name.clone())));
        }
        if task.period.is_some_and(|p| !(p > 0.0)) {
            return Err(Error::plain("the period must be positive", ""));
        }
        let n = task.multiple.unwrap_or(1) as f64;
        Ok(task.period.map(|p| Section::Period(n * p)))
    }

    /// The cycle to which one start leads.
    pub(super) fn one_cycle(
        &self,
        task: &LimitCycleTask,
        start: &State,
        settings: &Settings,
        watch: Watch,
    ) -> Result<LimitCycleFinding, Error> {
        let (settled, found) = self.orbit(task, start, settings, watch)?;
        match found {
            Ok((orbit, forcing)) => self.told(settings, &settled, orbit, forcing),
            Err(stalled) => Ok(self.no_cycle(&settled, stalled)),
        }
    }

    /// The same as a cycle with the period of its forcing, or why Newton's method found none.
    ///
    /// A motion that seems to repeat itself may only linger: where Newton's method finds nothing there, or a cycle that the motion
    /// leaves, it is simulated on, disturbed in the second case.
    pub(super) fn orbit(
        &self,
        task: &LimitCycleTask,
        start: &State,
        settings: &Settings,
        watch: Watch,
    ) -> Result<(Settled, Found), Error> {
        let span = settings.until - start.t;
        let (mut start, mut fine) = (start.clone(), 1.0);
        let mut lingers = None;
        for part in DISTURBED {
            let settings = Settings { until: start.t + span, ..settings.clone() };
            let (settled, found) = match self.try_orbit(task, &start, &settings, fine, watch) {
                Ok(found) => found,
                // a disturbed start may be none
                Err(_) if lingers.is_some() => break,
                Err(e) => return Err(e),
            };
            let recurs = matches!(settled.outcome, Outcome::Recurs(_));
            match &found {
                _ if task.unstable || !recurs => return Ok((settled, found)),
                Ok((orbit, _)) if orbit.is_stable() => return Ok((settled, found)),
                Ok((orbit, _)) => {
                    start = disturbed(self.system(), &orbit.start, &settled.symmetry.scale, part);
                    fine *= 0.1;
                    lingers = Some((settled, found));
                }
                Err(_) => {
                    start = settled.last.clone();
                    fine *= 0.1;
                    lingers.get_or_insert((settled, found));
                }
            }
            if watch.is_interrupted() {
                break;
            }
        }
        lingers.ok_or_else(|| Error::plain("interrupted", ""))
    }

    fn try_orbit(
        &self,
        task: &LimitCycleTask,
        start: &State,
        settings: &Settings,
        fine: f64,
        watch: Watch,
    ) -> Result<(Settled, Found), Error> {
        let sys = self.system();
        let section = self.section(task)?;
        let mut outside = Outside { interrupt: watch.interrupt, progress: None };
        let mut settled = settle(sys, start, settings, section, task.unstable, fine, &mut outside)
            .map_err(|e| self.start_error(&e))?;
        let forced = settled.symmetry.frame.is_none();
        let forcing = if forced { self.forcing(task, &settled)? } else { None };
        if let (Some(p), Some(n), Section::Period(_)) = (forcing, task.multiple, &settled.section) {
            settled.section = Section::Period(p);
            let guess = |g: &mut Guess| g.period = n as f64 * p;
            settled.others.iter_mut().for_each(guess);
            if let Outcome::Recurs(g) = &mut settled.outcome {
                guess(g);
            }
        }
        let wanders = matches!(settled.outcome, Outcome::Wanders);
        let mut guesses: Vec<Guess> = match &settled.outcome {
            Outcome::Recurs(g) if !task.unstable => vec![g.clone()],
            Outcome::Recurs(g) => settled.others.iter().cloned().chain([g.clone()]).collect(),
            Outcome::Wanders => settled.others.clone(),
            _ => Vec::new(),
        };
        guesses.truncate(TRIALS);
        let mut stalled = None;
        for guess in guesses {
            let period = match forcing {
                Some(p) => (guess.period / p).round().max(1.0) * p,
                None => guess.period,
            };
            match shoot(sys, settings, &settled.symmetry, (&guess.state, &guess.modes), period, forced) {
                // Newton's method may lead to rest: the end of a motion that dies out slowly
                Ok(orbit) if !forced && orbit.is_rest(&settled.whole) => {
                    stalled = Some("Newton's method leads to rest".to_string());
                    if !task.unstable && orbit.is_stable() {
                        settled.outcome = Outcome::Rests { moves: false };
                        settled.last = orbit.start;
                        return Ok((settled, Err(None)));
                    }
                }
                // what a motion that does not repeat itself passes by is no answer, unless asked for
                Ok(orbit) if wanders && !task.unstable && !orbit.is_stable() => {}
                Ok(orbit) => {
                    let orbit = self.shortest(settings, &settled, orbit, &guess, forcing);
                    return Ok((settled, Ok((orbit, forcing))));
                }
                Err(why) => stalled = Some(why.reason),
            }
        }
        Ok((settled, Err(stalled)))
    }

    /// The period of what depends on time: as given, or as found in the formulas.
    fn forcing(&self, task: &LimitCycleTask, settled: &Settled) -> Result<Option<f64>, Error> {
        if let Some(p) = task.period {
            return Ok(Some(p));
        }
        if let Section::Period(p) = settled.section {
            return Ok(Some(p));
        }
        match forcing_period(self.system(), &settled.first) {
            Some(p) => Ok(Some(p)),
            None if matches!(settled.outcome, Outcome::Rests { .. } | Outcome::Ends(..)) => Ok(None),
            None => Err(Error::plain(
                "the equations depend on time, and no common period of their functions of time can be seen",
                "give it:  period = \"2*pi/w\", or --period \"0.5 s\"",
            )),
        }
    }

    /// A cycle that repeats itself within its period is taken as the shorter one.
    fn shortest(
        &self,
        settings: &Settings,
        settled: &Settled,
        orbit: Orbit,
        guess: &Guess,
        forcing: Option<f64>,
    ) -> Orbit {
        let most = match forcing {
            Some(p) => (orbit.period / p).round() as usize,
            None => guess.passages,
        };
        let divisors = (2..=most).rev().filter(|k| most.is_multiple_of(*k));
        for k in divisors {
            let period = orbit.period / k as f64;
            if !is_back(self.system(), settings, &settled.symmetry, &orbit.start, period) {
                continue;
            }
            let start = (&orbit.start, &orbit.modes[..]);
            let shot = shoot(self.system(), settings, &settled.symmetry, start, period, forcing.is_some());
            if let Ok(shorter) = shot
                && (shorter.period - period).abs() < 1e-6 * period
                && shorter.steps <= 2
                && (forcing.is_some() || !shorter.is_rest(&settled.whole))
            {
                return shorter;
            }
        }
        orbit
    }

    pub(super) fn told(
        &self,
        settings: &Settings,
        settled: &Settled,
        orbit: Orbit,
        forcing: Option<f64>,
    ) -> Result<LimitCycleFinding, Error> {
        let sys = self.system();
        let section = match (&settled.section, forcing) {
            (Section::Period(_), Some(p)) => Section::Period(p),
            (other, _) => other.clone(),
        };
        let seen = portrait(sys, settings, &orbit, &section).map_err(|e| self.start_error(&e))?;
        let names = self.coordinate_names("");
        // what turns freely drifts in the axes of its spin
        let turns = self.model().free.iter().flat_map(|f| {
            let name = &self.model().bodies[f.body].name;
            ["x", "y", "z"].map(|axis| format!("{name}.turn.{axis}"))
        });
        let names: Vec<String> = names.into_iter().chain(turns).collect();
        let nu = names.len();
        let scale = &settled.symmetry.scale;
        let drifts = orbit.drift[..nu].iter().zip(scale).any(|(d, s)| d.abs() > 1e-9 * s);
        let drift = names.iter().cloned().zip(&orbit.drift);
        let moving = |(i, (name, d)): (usize, (String, &f64))| {
            let cyclic = settled.symmetry.drifts.iter().any(|e| e[i].abs() > 1e-9 * scale[i]);
            (cyclic || d.abs() > 1e-9 * scale[i]).then_some((name, Num(*d)))
        };
        let kind = match (forcing.is_some(), drifts) {
            (true, _) => "forced cycle",
            (_, true) => "drifting cycle",
            _ => "cycle",
        };
        let largest = orbit.largest();
        Ok(LimitCycleFinding {
            kind,
            reason: None,
            exponent: None,
            period: Some(orbit.period),
            frequency: Some(1.0 / orbit.period),
            multiple: forcing.map(|p| (orbit.period / p).round() as usize),
            drift: drift.enumerate().filter_map(moving).collect(),
            multipliers: orbit.multipliers.iter().map(|m| [m.re, m.im]).collect(),
            trivial_error: Some(orbit.trivial_error),
            zeros: Some(orbit.zeros),
            family: orbit.neutral(),
            stable: Some(orbit.is_stable()),
            decay: Some(largest),
            events: self.cycle_events(&seen),
            stick_share: self.shares(&seen),
            energy: self.work(&seen),
            amplitude: self.extents(&seen),
            margins: Margins::of(&seen),
            state: self.state_table(&seen.run.start.point.state),
            section: seen.section.clone(),
            attractors: Vec::new(),
            residual: Some(orbit.residual),
            explain: "limit-cycle",
            sticks: false,
            wanders: false,
            loops: self.loops(&seen),
        })
    }

    fn cycle_events(&self, seen: &Portrait) -> Vec<CycleEvent> {
        let info = self.system().contacts();
        let first = seen.run.start.point.state.t;
        let one = |e: &crate::sim::Event| CycleEvent {
            kind: e.kind.word(),
            contacts: match (&e.name, e.kind) {
                (Some(name), Kind::Mark) => vec![name.clone()],
                _ => e.contacts.iter().map(|p| info[p.contact].name.clone()).collect(),
            },
            time: e.time - first,
        };
        seen.run.events.iter().map(one).collect()
    }

    /// Coordinates that come back, else those that drift.
    fn loops(&self, seen: &Portrait) -> Vec<Loop> {
        let names = self.coordinate_names("").into_iter().enumerate();
        let points = |k: usize| seen.run.samples.rows().map(|r| [r.q[k], r.u[k]]).collect();
        names.map(|(k, name)| Loop { name, points: points(k) }).collect()
    }

    fn shares(&self, seen: &Portrait) -> Named<Num> {
        let info = self.system().contacts().iter().zip(&seen.stick);
        info.filter(|(c, _)| c.friction && !c.tangent.is_empty())
            .map(|(c, s)| (c.name.clone(), Num(*s)))
            .collect()
    }

    fn work(&self, seen: &Portrait) -> Named<Num> {
        let e = &seen.run.energy;
        let mut table = Named::default();
        for (i, c) in self.system().contacts().iter().enumerate() {
            let work = e.friction[i] + e.impact[i];
            if work != 0.0 {
                table.push(c.name.clone(), Num(work));
            }
        }
        let sums = e.friction.iter().chain(&e.impact).sum::<f64>();
        table.push("external", Num(e.external));
        table.push("drive", Num(e.drive));
        let change = e.kinetic + e.potential - e.initial;
        table.push("change", Num(change));
        table.push("closing", Num(change - e.external - e.drive - sums));
        table
    }

    pub(super) fn extents(&self, seen: &Portrait) -> Named<Extent> {
        let mut table: Named<Extent> = Named::default();
        let coordinates = self.coordinate_names("").into_iter().zip(&seen.coordinates);
        table.extend(coordinates.map(|(n, r)| (n, Extent::from(*r))));
        let outputs = self.system().output_names().iter().cloned().zip(&seen.outputs);
        let known: Vec<String> = table.iter().map(|(n, _)| n.to_string()).collect();
        table.extend(outputs.filter(|(n, _)| !known.contains(n)).map(|(n, r)| (n, Extent::from(*r))));
        table
    }

    /// A state by names.
    pub(super) fn state_table(&self, s: &State) -> Named<Num> {
        let mut table: Named<Num> = Named::of(&self.coordinate_names(""), &s.q);
        table.extend(Named::of(&self.coordinate_names("'"), &s.u).0);
        table.extend(self.system().state_names().iter().cloned().zip(s.z.iter().map(|z| Num(*z))));
        let memory = self.model().memory.iter().map(|m| m.name.clone());
        table.extend(memory.zip(s.memory.iter().map(|m| Num(*m))));
        table.push("t", Num(s.t));
        table
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A state beside this one.
fn disturbed(sys: &CompiledSystem, s: &State, scale: &[f64], part: f64) -> State {
    let moving = 2 * s.u.len() + s.z.len();
    let push = |(j, size): (usize, &f64)| match j < moving {
        true => part * size * (2.0 * even(1, j) - 1.0),
        false => 0.0,
    };
    moved(sys, s, &scale.iter().enumerate().map(push).collect::<Vec<f64>>())
}
