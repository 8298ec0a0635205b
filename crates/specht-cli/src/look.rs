//! The state that an analysis looks at: the start, an instant of the run (`at_time`), or either with some coordinates and
//! velocities changed (`at`).

use crate::outcome::Refusal;
use crate::refuse::refuse;
use crate::session::{Prepared, execute_with};
use crate::tasks::Analysis;
use specht::analysis::AnalysisError;
use specht::analysis::place::{Place, Slot, slot};
use specht::model::TaskValue;
use specht::sim::Settings;
use specht::system::State;

/// The place asked for; `None` means the start of the file.
pub fn place(a: &Analysis) -> Result<Option<Place>, Refusal> {
    let p = a.prepared;
    let key = |name: &str| a.keys.iter().find(|k| k.0 == name).map(|k| &k.1);
    let mut place = match key("at_time") {
        None => None,
        Some(TaskValue::Number(t)) => Some(instant(p, *t)?),
        Some(_) => {
            return Err(Refusal::new("`at_time` must be a time").help("write at_time = \"0.2 s\""));
        }
    };
    match key("at") {
        None => {}
        Some(TaskValue::Table(list)) => {
            let mut changes = Vec::new();
            for (name, value) in list {
                let TaskValue::Number(value) = value else {
                    return Err(Refusal::new(format!("`at` of `{name}` must be a number")));
                };
                if !value.is_finite() {
                    return Err(Refusal::new(format!("`at` of `{name}` must be finite, not {value}")));
                }
                if p.model().parameters.iter().any(|q| q.name == *name) {
                    let help = format!("write --set {name}=… instead of --at");
                    return Err(
                        Refusal::new(format!("`{name}` is a parameter, not a part of the state")).help(help)
                    );
                }
                let slot = slot(p.machine.system(), name).map_err(|e| refuse(p, moving(e)))?;
                changes.push((slot, *value));
            }
            let from = match place {
                Some(place) => place,
                None => Place::start(p.machine.system()).map_err(|e| refuse(p, e))?,
            };
            place = Some(from.moved(p.machine.system(), &changes).map_err(|e| refuse(p, e))?);
        }
        Some(_) => {
            return Err(Refusal::new("`at` must be a table").help("write at = { phi = 1.0, \"phi'\" = -3 }"));
        }
    }
    Ok(place)
}

/// The state asked for.
pub fn state(a: &Analysis) -> Result<State, Refusal> {
    Ok(place(a)?.map_or_else(|| a.prepared.start.clone(), |p| p.state))
}

/// Whether a name is a coordinate or a velocity.
pub fn is_moving(p: &Prepared, name: &str) -> bool {
    matches!(slot(p.machine.system(), name), Ok(Slot::Coordinate(_) | Slot::Velocity(_)))
}

/// The names that can be moved.
fn moving(e: AnalysisError) -> AnalysisError {
    match e {
        AnalysisError::UnknownAxis { name, .. } if name.is_empty() => {
            AnalysisError::Key("`at` needs the name of a coordinate or velocity".into())
        }
        e => e,
    }
}

/// The instant `t` of the run.
fn instant(p: &Prepared, t: f64) -> Result<Place, Refusal> {
    if !t.is_finite() || t < p.start.t {
        let from = p.start.t;
        return Err(Refusal::new(format!("the run starts at t = {from} s; there is no instant t = {t} s")));
    }
    if t == p.start.t {
        return Place::start(p.machine.system()).map_err(|e| refuse(p, e));
    }
    let run = execute_with(p, &Settings { until: t, ..p.settings.clone() }, false)?.trajectory;
    if run.time < t * (1.0 - 1e-12) {
        let why = if run.message.is_empty() { String::new() } else { format!(": {}", run.message) };
        return Err(Refusal::new(format!(
            "the run ends before t = {t} s: it is {} at t = {} s{why}",
            run.status.word(),
            run.time
        ))
        .help("ask for an earlier instant, or look at all of them with --along"));
    }
    let row = run.samples.rows().last().ok_or_else(|| Refusal::new("the run recorded nothing"))?;
    Place::of_run(p.machine.system(), &row).map_err(|e| refuse(p, e))
}
