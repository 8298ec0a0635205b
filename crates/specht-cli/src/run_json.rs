//! Trajectory → `run.json`, the contract that everything else reads (docs/run-json.md). Keys stay.
//!
//! Numbers are written in the shortest form that reads back to the same bits. JSON knows no infinity: NaN becomes
//! `null`, infinities the texts `"inf"` and `"-inf"`.

use crate::table::{Column, Table};
use serde_json::{Map, Value as Json, json};
use specht::sim::{Alternative, Event, Family, KINDS, Kind, Point, Trajectory};
use specht::system::State;

/// Names of everything that is numbered in the engine.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Coordinates.
    pub coordinates: Vec<String>,
    /// First-order states.
    pub states: Vec<String>,
    /// Memory.
    pub memory: Vec<String>,
    /// Contacts.
    pub contacts: Vec<String>,
    /// Outputs.
    pub outputs: Vec<String>,
}

/// A number as JSON.
pub fn number(x: f64) -> Json {
    if x.is_finite() {
        json!(x)
    } else if x.is_nan() {
        Json::Null
    } else {
        json!(if x > 0.0 { "inf" } else { "-inf" })
    }
}

/// The parts of `run.json` that come from the trajectory: status … counts.
pub fn trajectory(run: &Trajectory, names: &Names) -> Map<String, Json> {
    let mut out = Map::new();
    out.insert("status".into(), json!(run.status.word()));
    out.insert("message".into(), json!(run.message));
    out.insert("time".into(), number(run.time));
    out.insert("start".into(), start(run, names));
    let mut last = point(&run.last, names);
    if let Some(family) = &run.family {
        last.insert("family".into(), intervals(family, names));
    }
    out.insert("final".into(), Json::Object(last));
    out.insert("outputs".into(), pairs(&names.outputs, &run.last.outputs));
    out.insert("events".into(), Json::Array(run.events.iter().map(|e| event(e, names)).collect()));
    out.insert("findings".into(), json!({}));
    out.insert("audit".into(), audit(run, names));
    out.insert("counts".into(), counts(run));
    out.insert("warnings".into(), json!(run.warnings));
    out
}

fn pairs(names: &[String], values: &[f64]) -> Json {
    Json::Object(names.iter().zip(values).map(|(n, x)| (n.clone(), number(*x))).collect())
}

/// Coordinates, velocities, states, memory.
fn state(s: &State, names: &Names) -> Map<String, Json> {
    let mut out = Map::new();
    for (name, x) in names.coordinates.iter().zip(&s.q) {
        out.insert(name.clone(), number(*x));
    }
    for (name, x) in names.coordinates.iter().zip(&s.u) {
        out.insert(format!("{name}'"), number(*x));
    }
    for (name, x) in names.states.iter().zip(&s.z).chain(names.memory.iter().zip(&s.memory)) {
        out.insert(name.clone(), number(*x));
    }
    out
}

/// An instant: state, accelerations, contacts. What does not exist (no solution) is absent.
fn point(p: &Point, names: &Names) -> Map<String, Json> {
    let mut out = state(&p.state, names);
    for (name, x) in names.coordinates.iter().zip(&p.accel) {
        out.insert(format!("{name}''"), number(*x));
    }
    for (k, name) in names.contacts.iter().enumerate() {
        let mut entry = Map::new();
        let numbers =
            [("gap", &p.gap), ("slip", &p.slip), ("normal", &p.normal), ("tangential", &p.tangential)];
        for (key, list) in numbers {
            if let Some(x) = list.get(k) {
                entry.insert(key.into(), number(*x));
            }
        }
        if let Some(mode) = p.modes.get(k) {
            entry.insert("mode".into(), json!(mode.word()));
        }
        out.insert(name.clone(), Json::Object(entry));
    }
    out
}

fn start(run: &Trajectory, names: &Names) -> Json {
    let mut out = point(&run.start.point, names);
    let solutions =
        run.start.solutions.iter().map(|a| alternative(a, Some(&run.start.point), names)).collect();
    out.insert("solutions".into(), Json::Array(solutions));
    if let Some(family) = &run.start.family {
        out.insert("family".into(), intervals(family, names));
    }
    Json::Object(out)
}

/// One solution of the force problem, with the keys of an instant.
fn alternative(a: &Alternative, at: Option<&Point>, names: &Names) -> Json {
    let mut out = Map::new();
    for (name, x) in names.coordinates.iter().zip(&a.accel) {
        out.insert(format!("{name}''"), number(*x));
    }
    for (k, name) in names.contacts.iter().enumerate() {
        let mut entry = Map::new();
        if let Some(p) = at {
            for (key, list) in [("gap", &p.gap), ("slip", &p.slip)] {
                if let Some(x) = list.get(k) {
                    entry.insert(key.into(), number(*x));
                }
            }
        }
        for (key, list) in [("normal", &a.normal), ("tangential", &a.tangential)] {
            if let Some(x) = list.get(k) {
                entry.insert(key.into(), number(*x));
            }
        }
        if let Some(mode) = a.modes.get(k) {
            entry.insert("mode".into(), json!(mode.word()));
        }
        out.insert(name.clone(), Json::Object(entry));
    }
    out.insert("chosen".into(), json!(a.chosen));
    Json::Object(out)
}

/// Intervals of what a continuum of solutions leaves open; what is unique is left out.
fn intervals(family: &Family, names: &Names) -> Json {
    let mut out = Map::new();
    let open =
        |(lo, hi): &(f64, f64)| hi - lo > 1e-9 * (1.0 + lo.abs().max(hi.abs())) || !(hi - lo).is_finite();
    let interval = |(lo, hi): &(f64, f64)| json!([number(*lo), number(*hi)]);
    for (name, range) in names.coordinates.iter().zip(&family.accel) {
        if open(range) {
            out.insert(format!("{name}''"), interval(range));
        }
    }
    for (k, name) in names.contacts.iter().enumerate() {
        let mut entry = Map::new();
        for (key, list) in [("normal", &family.normal), ("tangential", &family.tangential)] {
            if let Some(range) = list.get(k).filter(|r| open(r)) {
                entry.insert(key.into(), interval(range));
            }
        }
        if !entry.is_empty() {
            out.insert(name.clone(), Json::Object(entry));
        }
    }
    Json::Object(out)
}

fn event(e: &Event, names: &Names) -> Json {
    let mut out = Map::new();
    let name = |k: usize| names.contacts.get(k).cloned().unwrap_or_else(|| format!("#{}", k + 1));
    let by_contact = |value: &dyn Fn(&specht::sim::Participant) -> Json| -> Json {
        Json::Object(e.contacts.iter().map(|p| (name(p.contact), value(p))).collect())
    };
    out.insert("time".into(), number(e.time));
    out.insert("kind".into(), json!(e.kind.word()));
    if let Some(mark) = &e.name {
        out.insert("name".into(), json!(mark));
    }
    out.insert("contacts".into(), e.contacts.iter().map(|p| json!(name(p.contact))).collect());
    out.insert("modes".into(), by_contact(&|p| json!(p.after.word())));
    out.insert("modes_before".into(), by_contact(&|p| json!(p.before.word())));
    if matches!(e.kind, Kind::Impact | Kind::TangentialImpact | Kind::Seizure | Kind::Accumulated) {
        out.insert("impulse_n".into(), by_contact(&|p| number(p.impulse_n)));
        out.insert("impulse_t".into(), by_contact(&|p| number(p.impulse_t)));
        out.insert("loss".into(), by_contact(&|p| number(p.loss)));
    }
    out.insert("before".into(), Json::Object(state(&e.before, names)));
    out.insert("after".into(), Json::Object(state(&e.after, names)));
    if !e.note.is_empty() {
        out.insert("note".into(), json!(e.note));
    }
    if !e.alternatives.is_empty() {
        let list = e.alternatives.iter().map(|a| alternative(a, None, names)).collect();
        out.insert("alternatives".into(), Json::Array(list));
    }
    Json::Object(out)
}

fn audit(run: &Trajectory, names: &Names) -> Json {
    let (a, e) = (&run.audit, &run.energy);
    let contacts: Map<String, Json> = names
        .contacts
        .iter()
        .zip(e.friction.iter().zip(&e.impact))
        .map(|(name, (friction, impact))| {
            (name.clone(), json!({ "friction": number(*friction), "impact": number(*impact) }))
        })
        .collect();
    json!({
        "passed": a.passed,
        "complementarity": number(a.complementarity),
        "cone": number(a.cone),
        "impact": number(a.impact),
        "penetration": number(a.penetration),
        "drift": number(a.drift),
        "energy": number(a.energy),
        "explained": number(a.explained),
        "created": number(a.created),
        "step_error": a.step_error.map_or(Json::Null, number),
        "remarks": a.remarks,
        "ledger": {
            "initial": number(e.initial),
            "kinetic": number(e.kinetic),
            "potential": number(e.potential),
            "friction": number(e.friction.iter().sum()),
            "impact": number(e.impact.iter().sum()),
            "external": number(e.external),
            "drive": number(e.drive),
            "numerical": number(e.numerical()),
            "contacts": contacts,
        },
    })
}

fn counts(run: &Trajectory) -> Json {
    let c = &run.counts;
    let events: Map<String, Json> =
        KINDS.iter().zip(c.events).map(|(k, n)| (k.word().to_string(), json!(n))).collect();
    json!({ "steps": c.steps, "implicit": c.implicit, "rejected": c.rejected, "evaluations": c.evaluations, "events": events })
}

/// The recorded series with the columns of the contract.
pub fn table(run: &Trajectory, names: &Names) -> Table {
    let samples = &run.samples;
    let mut table = Table::default();
    let mut add = |name: String, value: &dyn Fn(&specht::sim::Sample) -> f64| {
        table.push(name, Column::Numbers(samples.rows().map(|row| value(&row)).collect()));
    };
    add("t".into(), &|row| row.t);
    for (k, name) in names.coordinates.iter().enumerate() {
        add(name.clone(), &|row| row.q[k]);
    }
    for (k, name) in names.coordinates.iter().enumerate() {
        add(format!("{name}'"), &|row| row.u[k]);
    }
    for (k, name) in names.states.iter().enumerate() {
        add(name.clone(), &|row| row.z[k]);
    }
    for (k, name) in names.memory.iter().enumerate() {
        add(name.clone(), &|row| row.memory[k]);
    }
    for (k, name) in names.outputs.iter().enumerate() {
        add(name.clone(), &|row| row.outputs[k]);
    }
    for (k, name) in names.contacts.iter().enumerate() {
        let words = samples.rows().map(|row| row.modes[k].word()).collect();
        table.push(format!("{name}.mode"), Column::Words(words));
        let mut add = |key: &str, value: &dyn Fn(&specht::sim::Sample) -> f64| {
            let column = samples.rows().map(|row| value(&row)).collect();
            table.push(format!("{name}.{key}"), Column::Numbers(column));
        };
        add("normal", &|row| row.normal[k]);
        add("tangential", &|row| row.tangential[k]);
        add("gap", &|row| row.gap[k]);
        add("slip", &|row| row.slip[k]);
    }
    table
}
