//! `quasi-static`: where does it go under a slow load, and where does slowness end?

use serde::Serialize;

use crate::analysis::Loss;
use crate::analysis::map::Watch;
use crate::analysis::slow::{Point, SlowPath, follow};
use crate::machine::json::{Named, Num};
use crate::machine::questions::QuasiStaticTask;
use crate::machine::{Error, Machine};
use crate::sim::{Kind, Outside, Record, Settings, event_driven};
use crate::system::{ContactEvent, Discrete, Mode, System};

/// The finding.
#[derive(Clone, Debug, Serialize)]
pub struct QuasiStaticFinding {
    /// The states, time being the load.
    pub path: Vec<SlowState>,
    /// What contacts did.
    pub events: Vec<SlowEvent>,
    /// Friction above which a closed contact could as well be open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<SlowCritical>,
    /// Friction at which the path loses its continuity where it is nearest to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub continuity: Option<SlowCritical>,
    /// Where slowness ends, or the state is no longer the only one.
    pub ends: Vec<SlowEnd>,
    /// Smallest margin of the rate problem on the path: 1 without friction, 0 where the answer is lost.
    pub margin: Num,
    /// Its time.
    pub margin_time: f64,
    /// Way slipped per contact.
    pub slipped: Named<f64>,
    /// Work lost in friction per contact, J.
    pub work: Named<f64>,
    /// The path has been followed to its end.
    pub complete: bool,
    /// From where a run must go on, when slowness has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<DynamicOffer>,
    /// Page.
    pub explain: &'static str,
}

/// A state of the path.
#[derive(Clone, Debug, Serialize)]
pub struct SlowState {
    /// The load.
    pub time: f64,
    /// Where it is.
    pub coordinates: Named<f64>,
    /// What contacts do.
    pub modes: Named<&'static str>,
    /// Normal forces.
    pub normal: Named<f64>,
    /// Sizes of the friction forces.
    pub friction: Named<f64>,
    /// Margin of the rate problem.
    pub margin: f64,
}

/// A change of a contact.
#[derive(Clone, Debug, Serialize)]
pub struct SlowEvent {
    /// When.
    pub time: f64,
    /// touch, detach, stick, slip.
    pub kind: &'static str,
    /// Which.
    pub contacts: Vec<String>,
}

/// A coefficient of friction that matters.
#[derive(Clone, Debug, Serialize)]
pub struct SlowCritical {
    /// The parameter that is the friction of the contact; else `friction of NAME`.
    pub parameter: String,
    /// Its value.
    pub value: f64,
    /// The contact.
    pub contact: String,
}

/// Where slowness ends.
#[derive(Clone, Debug, Serialize)]
pub struct SlowEnd {
    /// When.
    pub time: f64,
    /// What is lost.
    pub reason: Loss,
    /// The contacts concerned.
    pub contacts: Vec<String>,
    /// The path cannot be followed further.
    pub stops: bool,
    /// Which states there are, where there are several: `closed and open`, `stick and slip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<&'static str>,
    /// Where it is.
    pub coordinates: Named<f64>,
}

/// The run that follows.
#[derive(Clone, Debug, Serialize)]
pub struct DynamicOffer {
    /// It starts here.
    pub time: f64,
    /// With these coordinates.
    pub state: Named<f64>,
    /// And these velocities: those of the slow motion; none where they have no bound.
    pub velocity: Named<f64>,
    /// What to do.
    pub advice: String,
    /// What contacts do in the motion with inertia that begins there, until nothing slides any more.
    pub events: Vec<SlowEvent>,
    /// Where that ends; none if it goes on sliding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest: Option<DynamicRest>,
}

/// Where the motion with inertia comes to rest.
#[derive(Clone, Debug, Serialize)]
pub struct DynamicRest {
    /// When.
    pub time: f64,
    /// Where.
    pub state: Named<f64>,
}

/// Modes of a contact that slides.
const SLIDES: [Mode; 3] = [Mode::SlipPlus, Mode::SlipMinus, Mode::Slip];
/// Events up to which the motion with inertia is followed.
const FOLLOWED: u64 = 100;

/// Velocities at the end of a path: where continuity is lost the slow ones have no bound.
fn speed(end: &SlowEnd, found: &SlowPath) -> Vec<f64> {
    match end.reason {
        Loss::Continuity => vec![0.0; found.velocity.len()],
        Loss::Uniqueness => found.velocity.clone(),
    }
}

impl Machine {
    pub(super) fn quasi_static(
        &self,
        task: &QuasiStaticTask,
        watch: Watch,
    ) -> Result<QuasiStaticFinding, Error> {
        if !self.model().states.is_empty() {
            return Err(Error::plain(
                "a slow path has no rates of its own, and the model has states that have",
                "write what the states stand for as functions of the coordinates and of time",
            ));
        }
        let until = match task.until {
            Some(until) => until,
            None => self.settings()?.1.until,
        };
        let start = self.start()?;
        if !(until > start.t) {
            return Err(Error::plain(
                "the slow path ends before it begins",
                "give an end time, --until 10: time is the load",
            ));
        }
        let found =
            follow(self.system(), start, until, &|| watch.is_interrupted()).map_err(|e| self.refuse(e))?;
        let mut out = self.slow_finding(&found);
        if let (Some(offer), Some(last)) = (&mut out.dynamic, found.points.last()) {
            self.run_on(offer, last, until, watch);
        }
        Ok(out)
    }

    fn slow_finding(&self, found: &SlowPath) -> QuasiStaticFinding {
        let names = self.contact_names();
        let info = self.system().contacts();
        let pick = |list: &[usize]| list.iter().map(|&i| names[i].clone()).collect::<Vec<String>>();
        let closed = |i: usize| info[i].friction && !info[i].tangent.is_empty();
        let rubbing: Vec<usize> = (0..names.len()).filter(|&i| closed(i)).collect();
        let coordinates = |q: &[f64]| Named::of(&self.coordinate_names(""), q);
        let path: Vec<SlowState> = found
            .points
            .iter()
            .map(|p| SlowState {
                time: p.time,
                coordinates: coordinates(&p.q),
                modes: names.iter().cloned().zip(p.modes.iter().map(|m| m.word())).collect(),
                normal: names.iter().cloned().zip(info.iter().map(|c| c.normal_force(&p.lambda))).collect(),
                friction: rubbing
                    .iter()
                    .map(|&i| {
                        let size = info[i].tangent.iter().map(|&row| p.lambda[row].powi(2)).sum::<f64>();
                        (names[i].clone(), size.sqrt())
                    })
                    .collect(),
                margin: p.margin,
            })
            .collect();
        let kind = |kind: ContactEvent| match kind {
            ContactEvent::Touch => "touch",
            ContactEvent::Detach => "detach",
            ContactEvent::Stick => "stick",
            _ => "slip",
        };
        let at = |time: f64| found.points.iter().rev().find(|p| p.time <= time).or(found.points.first());
        let ends: Vec<SlowEnd> = found
            .ends
            .iter()
            .map(|e| SlowEnd {
                time: e.time,
                reason: e.reason,
                contacts: pick(&e.contacts),
                stops: e.stops,
                between: (e.reason == Loss::Uniqueness).then_some(if e.open {
                    "closed and open"
                } else {
                    "stick and slip"
                }),
                coordinates: at(e.time).map_or_else(|| coordinates(&[]), |p| coordinates(&p.q)),
            })
            .collect();
        let stopped = ends.iter().find(|e| e.stops);
        let dynamic = stopped.map(|e| DynamicOffer {
            time: e.time,
            state: e.coordinates.clone(),
            velocity: Named::of(&self.coordinate_names("'"), &speed(e, found)),
            advice: format!(
                "what follows has inertia: `specht run` with this state as the start, and t + {} instead of t in the load",
                e.time
            ),
            events: Vec::new(),
            rest: None,
        });
        // the contact that slips where it ends, else the first that rubs
        let worst = found.ends.iter().find(|e| e.stops).and_then(|e| e.contacts.first().copied());
        let worst = worst.or(rubbing.first().copied());
        let per = |list: &[f64]| rubbing.iter().map(|&i| (names[i].clone(), list[i])).collect();
        QuasiStaticFinding {
            events: found
                .events
                .iter()
                .map(|&(time, i, k)| SlowEvent { time, kind: kind(k), contacts: vec![names[i].clone()] })
                .collect(),
            critical: found.critical.map(|(i, value)| self.slow_critical(i, value)),
            continuity: worst
                .filter(|_| found.factor.is_finite())
                .map(|i| self.slow_critical(i, found.factor * self.friction_at_start(i))),
            margin: Num(found.margin),
            margin_time: found.margin_time,
            slipped: per(&found.slipped),
            work: per(&found.work),
            complete: stopped.is_none(),
            explain: "quasi-static",
            path,
            ends,
            dynamic,
        }
    }

    /// Run with inertia from the end of the slow path until nothing slides any more. A run that cannot go on says nothing.
    fn run_on(&self, offer: &mut DynamicOffer, last: &Point, until: f64, watch: Watch) {
        let Ok((_, settings)) = self.settings() else { return };
        let settings = Settings { until, record: Record::Nothing, stop_after: FOLLOWED, ..settings };
        let mut start = self.system().start();
        (start.t, start.q) = (last.time, last.q.clone());
        start.u.iter_mut().zip(offer.velocity.iter()).for_each(|(u, (_, v))| *u = *v);
        let mut outside = Outside { interrupt: watch.interrupt, progress: None };
        let Ok(run) = event_driven(self.system(), &start, &settings, &mut outside) else { return };
        let names = self.contact_names();
        let mut modes = last.modes.clone();
        for event in run.events.iter().filter(|e| !e.contacts.is_empty()) {
            event.contacts.iter().for_each(|c| modes[c.contact] = c.after);
            let contacts = event.contacts.iter().map(|c| names[c.contact].clone()).collect();
            offer.events.push(SlowEvent { time: event.time, kind: event.kind.word(), contacts });
            if event.kind == Kind::Stick && modes.iter().all(|m| !SLIDES.contains(m)) {
                let state = Named::of(&self.coordinate_names(""), &event.after.q);
                offer.rest = Some(DynamicRest { time: event.time, state });
                break;
            }
        }
    }

    fn slow_critical(&self, i: usize, value: f64) -> SlowCritical {
        let contact = self.system().contacts()[i].name.clone();
        let parameter = self.friction_parameter(i).unwrap_or_else(|| format!("friction of {contact}"));
        SlowCritical { parameter, value, contact }
    }

    fn friction_at_start(&self, i: usize) -> f64 {
        let (system, mut eval) = (self.system(), self.system().memory());
        system.evaluate(&system.start(), &Discrete::new(&system.dims()), &mut eval);
        eval.mu[i]
    }

    /// The parameter that is the friction of contact `i`: it has its value, and the friction follows it.
    fn friction_parameter(&self, i: usize) -> Option<String> {
        let mu = self.friction_at_start(i);
        let another = if mu == 0.0 { 0.5 } else { 1.5 * mu };
        let follows = |name: &str| {
            let other = self.with(name, another).ok();
            other.is_some_and(|m| m.friction_at_start(i) == another)
        };
        let mut same = self.model().parameters.iter().filter(|p| p.value == mu);
        same.find(|p| follows(&p.name)).map(|p| p.name.clone())
    }
}
