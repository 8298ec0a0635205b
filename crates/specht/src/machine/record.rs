//! `run.json`: a run as data, the contract that everything else reads. Keys stay.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::impact::Law;
use crate::ode::Choice;
use crate::sim::{Event, Family, Kind, Policy, Record, Scheme, Status};
use crate::system::Mode;

use super::Run;
use super::json::{Named, Num};
pub use super::recorded::event;
use super::recorded::{audit, counts, open, point, solution};

/// A whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The program that wrote it.
    #[serde(default)]
    pub program: String,
    /// Title of the model.
    pub model: String,
    /// One sentence.
    pub about: String,
    /// Where the model comes from.
    pub source: String,
    /// The model file.
    pub file: String,
    /// Version of this program.
    pub version: String,
    /// Case.
    pub case: Option<String>,
    /// Parameters, SI.
    pub parameters: Named<Num>,
    /// Settings.
    pub settings: SettingsRecord,
    /// How it ended.
    pub status: Status,
    /// Why; empty when finished.
    pub message: String,
    /// When, s.
    pub time: Num,
    /// The start.
    pub start: StartRecord,
    /// The end.
    #[serde(rename = "final")]
    pub last: LastRecord,
    /// Outputs at the end.
    pub outputs: Named<Num>,
    /// Phases of the file: when each began and ended.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub phases: Named<Vec<Spell>>,
    /// Derivatives with respect to parameters, when they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<super::SensitivityRecord>,
    /// Events in the order of time.
    pub events: Vec<EventRecord>,
    /// Findings by the names of their tasks.
    pub findings: Named<serde_json::Value>,
    /// Audit.
    pub audit: AuditRecord,
    /// Counts.
    pub counts: CountsRecord,
    /// Sentences that the user should see.
    pub warnings: Vec<String>,
}

/// A time during which something held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spell {
    /// Its beginning, s.
    pub from: Num,
    /// Its end, or the end of the run, s.
    pub to: Num,
}

/// Settings as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingsRecord {
    /// Scheme.
    pub scheme: Scheme,
    /// End time, s.
    pub until: Num,
    /// Tolerance.
    pub tolerance: Num,
    /// Method between events (event-driven).
    pub method: Option<Choice>,
    /// Step, s (time-stepping).
    pub step: Option<Num>,
    /// Output interval, s.
    pub every: Option<Num>,
    /// Impact law.
    pub impact: Law,
    /// Which solution when there are several or none.
    pub several: Policy,
}

/// An entry of an instant: a number, or what is known of a contact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// Of a coordinate, its rates, a state, memory.
    Number(Num),
    /// Of a contact.
    Contact(ContactRecord),
    /// Of a body that turns freely.
    Body(BodyRecord),
}

/// A body that turns freely, at an instant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyRecord {
    /// Unit quaternion w, x, y, z, w ≥ 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<[Num; 4]>,
    /// Angular velocity, rad/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin: Option<Axes>,
    /// Angular acceleration, rad/s².
    #[serde(rename = "spin'", default, skip_serializing_if = "Option::is_none")]
    pub spin_rate: Option<Axes>,
}

/// Components of a vector.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axes {
    /// Along x.
    pub x: Num,
    /// Along y.
    pub y: Num,
    /// Along z.
    pub z: Num,
}

impl Axes {
    /// Three numbers of a list, from `first` on.
    pub(super) fn of(list: &[f64], first: usize) -> Option<Axes> {
        let [x, y, z] = *list.get(first..first + 3)? else { return None };
        Some(Axes { x: Num(x), y: Num(y), z: Num(z) })
    }
}

/// A contact at an instant. What does not exist (no solution) is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContactRecord {
    /// Gap, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<Num>,
    /// Slip, m/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip: Option<Components>,
    /// Normal force, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<Num>,
    /// Tangential force, N.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tangential: Option<Components>,
    /// Size of the slip in the tangent plane, m/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<Num>,
    /// Size of the friction force in the tangent plane, N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub friction: Option<Num>,
    /// Mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// What has one component in the plane, and two in the tangent plane of a contact in space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Components {
    /// Along the tangent.
    One(Num),
    /// Along both tangents.
    Two([Num; 2]),
}

impl Components {
    pub(super) fn of(first: f64, second: Option<f64>) -> Components {
        second.map_or(Components::One(Num(first)), |s| Components::Two([Num(first), Num(s)]))
    }
}

/// The start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StartRecord {
    /// State, accelerations, contacts.
    #[serde(flatten)]
    pub point: Named<Entry>,
    /// All solutions of the force problem.
    pub solutions: Vec<SolutionRecord>,
    /// The continuum, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Named<Open>>,
}

/// The end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LastRecord {
    /// State, accelerations, contacts.
    #[serde(flatten)]
    pub point: Named<Entry>,
    /// The continuum, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Named<Open>>,
}

/// One solution of the force problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolutionRecord {
    /// Accelerations, contacts.
    #[serde(flatten)]
    pub point: Named<Entry>,
    /// Whether the run followed this one.
    pub chosen: bool,
}

/// What a continuum of solutions leaves open; what is unique is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Open {
    /// An acceleration: its ends.
    Interval([Num; 2]),
    /// Forces of a contact.
    Contact {
        /// Normal force.
        #[serde(skip_serializing_if = "Option::is_none")]
        normal: Option<[Num; 2]>,
        /// Tangential force.
        #[serde(skip_serializing_if = "Option::is_none")]
        tangential: Option<Ends>,
    },
}

/// The interval of a tangential force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Ends {
    /// Along the tangent.
    One([Num; 2]),
    /// Along both tangents.
    Two([[Num; 2]; 2]),
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventRecord {
    /// When, s.
    pub time: Num,
    /// Kind.
    pub kind: Kind,
    /// Name of a user event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Contacts.
    pub contacts: Vec<String>,
    /// Modes after.
    pub modes: Named<Mode>,
    /// Modes before.
    pub modes_before: Named<Mode>,
    /// Normal impulses, N s (impacts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse_n: Option<Named<Num>>,
    /// Tangential impulses, N s (impacts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub impulse_t: Option<Named<Components>>,
    /// Energy lost, J (impacts).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<Named<Num>>,
    /// State before.
    pub before: Named<Entry>,
    /// State after.
    pub after: Named<Entry>,
    /// Explanation.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What else was possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<SolutionRecord>,
}

/// The audit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// All within their bounds.
    pub passed: bool,
    /// Pulling or distant contact forces, scaled.
    pub complementarity: Num,
    /// Friction outside its bound, scaled.
    pub cone: Num,
    /// Laws of impact, scaled.
    pub impact: Num,
    /// Deepest overlap, scaled.
    pub penetration: Num,
    /// Closed contacts off their place, scaled.
    pub drift: Num,
    /// Closing error of the ledger, scaled.
    pub energy: Num,
    /// What the error estimates of the steps explain of it.
    pub explained: Num,
    /// Energy given by friction and impacts, scaled.
    pub created: Num,
    /// Error of the end state by runs with longer steps.
    pub step_error: Option<Num>,
    /// Sentences.
    pub remarks: Vec<String>,
    /// The energy ledger.
    pub ledger: LedgerRecord,
}

/// The energy ledger at the end, J.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LedgerRecord {
    /// Energy at the start.
    pub initial: Num,
    /// Kinetic energy.
    pub kinetic: Num,
    /// Potential energy.
    pub potential: Num,
    /// Work of friction.
    pub friction: Num,
    /// Work of impacts.
    pub impact: Num,
    /// Work of other forces.
    pub external: Num,
    /// Work of prescribed motions.
    pub drive: Num,
    /// What is missing.
    pub numerical: Num,
    /// By contact.
    pub contacts: Named<WorkRecord>,
}

/// Work of one contact, J.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// Of friction.
    pub friction: Num,
    /// Of impacts.
    pub impact: Num,
}

/// Counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountsRecord {
    /// Accepted steps.
    pub steps: u64,
    /// Of the implicit method.
    pub implicit: u64,
    /// Rejected steps.
    pub rejected: u64,
    /// Evaluations of the system.
    pub evaluations: u64,
    /// Factorisations of matrices.
    #[serde(default)]
    pub factorisations: u64,
    /// Events by kind.
    pub events: Named<u64>,
}

impl Run {
    /// The run as `run.json`, without findings.
    pub fn record(&self) -> RunRecord {
        let (model, run, names) = (self.machine.model(), &self.trajectory, &self.names);
        let family = |f: &Option<Family>| f.as_ref().map(|f| open(f, names));
        let start = &run.start;
        RunRecord {
            program: "specht".into(),
            model: model.name.clone(),
            about: model.about.clone(),
            source: model.source.clone(),
            file: self.machine.source.label.clone(),
            version: env!("CARGO_PKG_VERSION").into(),
            case: self.machine.options.case.clone(),
            parameters: model.parameters.iter().map(|p| (p.name.clone(), Num(p.value))).collect(),
            settings: self.settings_record(),
            status: run.status,
            message: run.message.clone(),
            time: Num(run.time),
            start: StartRecord {
                point: point(&start.point, names),
                solutions: start
                    .solutions
                    .iter()
                    .map(|a| solution(a, &start.point.state, Some(&start.point), names))
                    .collect(),
                family: family(&start.family),
            },
            last: self.last_record(),
            outputs: Named::of(&names.outputs, &run.last.outputs),
            phases: model.phases.iter().map(|name| (name.clone(), self.spells(name))).collect(),
            sensitivity: self.sensitivity(),
            events: run.events.iter().map(|e| event(e, names)).collect(),
            findings: Named::default(),
            audit: audit(run, names),
            counts: counts(run),
            warnings: run.warnings.clone(),
        }
    }

    fn last_record(&self) -> LastRecord {
        let (run, names) = (&self.trajectory, &self.names);
        LastRecord { point: point(&run.last, names), family: run.family.as_ref().map(|f| open(f, names)) }
    }

    /// Some keys of `run.json`, without the work for the others.
    pub(super) fn parts(&self, keys: &[String]) -> Json {
        let (run, names) = (&self.trajectory, &self.names);
        let mut out = serde_json::Map::new();
        let mut whole = None;
        for key in keys {
            let value = match key.as_str() {
                "status" => serde_json::to_value(run.status),
                "message" => serde_json::to_value(&run.message),
                "time" => serde_json::to_value(Num(run.time)),
                "final" => serde_json::to_value(self.last_record()),
                "outputs" => serde_json::to_value(Named::<Num>::of(&names.outputs, &run.last.outputs)),
                "events" => {
                    serde_json::to_value(run.events.iter().map(|e| event(e, names)).collect::<Vec<_>>())
                }
                "audit" => serde_json::to_value(audit(run, names)),
                "counts" => serde_json::to_value(counts(run)),
                "findings" => continue,
                _ => {
                    let whole = whole.get_or_insert_with(|| serde_json::to_value(self.record()));
                    match whole.as_ref().map(|w| w.get(key)) {
                        Ok(Some(value)) => Ok(value.clone()),
                        _ => continue,
                    }
                }
            };
            out.insert(key.clone(), value.unwrap_or_default());
        }
        Json::Object(out)
    }

    /// One event as in `run.json`.
    pub(super) fn event_json(&self, e: &Event) -> Json {
        serde_json::to_value(event(e, &self.names)).unwrap_or_default()
    }

    fn settings_record(&self) -> SettingsRecord {
        let (s, stepping) = (&self.settings, self.scheme == Scheme::Step);
        SettingsRecord {
            scheme: self.scheme,
            until: Num(s.until),
            tolerance: Num(s.tolerance),
            method: (!stepping).then_some(s.method),
            step: stepping.then_some(Num(s.step)),
            every: if let Record::Every(every) = s.record { Some(Num(every)) } else { None },
            impact: s.impact,
            several: s.several,
        }
    }
}

/// `x'`, `x''`.
pub(super) fn rates(names: &[String], primes: &str) -> Vec<String> {
    names.iter().map(|n| format!("{n}{primes}")).collect()
}
