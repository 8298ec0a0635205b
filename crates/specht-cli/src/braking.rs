//! `rest` and `self-braking`: can it start, with which load, from which points does it jam, how well does it drive?

use crate::outcome::Refusal;
use crate::refuse::refuse;
use crate::run_json::number;
use crate::session::{Request, load};
use crate::tasks::Analysis;
use serde_json::{Map, Value as Json, json};
use specht::analysis::AnalysisError;
use specht::analysis::arcs::Arc;
use specht::analysis::rest::Outcome;
use specht::analysis::rose;
use specht::analysis::self_braking::{
    Efficiency, PointBraking, SelfBrakingFinding, SelfBrakingTask, Uniform, analyse_self_braking,
};
use specht::analysis::stagnation::Stagnation;
use specht::analysis::start_load::{RestFinding, RestTask, StartLoad, analyse_rest};
use specht::model::{Model, TaskValue};

/// Most values of a parameter over a cycle.
const MOST: f64 = 100_000.0;

/// `rest`.
pub fn rest(a: &Analysis) -> Result<Json, Refusal> {
    let load_name = text(a, "load")?;
    let model = model(a, load_name.iter().cloned().collect())?;
    let task = RestTask { contacts: contacts(a), load: load_name, points: list(a, "points") };
    analyse_rest(&model, &task).map(|f| rest_json(&f)).map_err(|e| refuse(a.prepared, e))
}

/// `self-braking`.
pub fn self_braking(a: &Analysis) -> Result<Json, Refusal> {
    let (drive, load_name) = (text(a, "drive")?, text(a, "load")?);
    let over = over(a)?;
    let mut live: Vec<String> = drive.iter().chain(&load_name).cloned().collect();
    live.extend(over.iter().map(|o| o.0.clone()));
    let model = model(a, live)?;
    let mut points = list(a, "points");
    if points.is_empty() && load_name.is_none() {
        points = model.bodies.iter().map(|b| b.name.clone()).collect();
    }
    let task = SelfBrakingTask { contacts: contacts(a), points, drive, load: load_name, over };
    analyse_self_braking(&model, &task).map(|f| braking_json(&f)).map_err(|e| refuse(a.prepared, e))
}

/// The model once more, with the parameters to be varied left open, in the case of the task.
fn model(a: &Analysis, live: Vec<String>) -> Result<Model, Refusal> {
    let mut request: Request = a.prepared.request.clone();
    if let Some(case) = text(a, "case")? {
        request.case = Some(case);
    }
    let known = &a.prepared.model().parameters;
    for name in &live {
        if !known.iter().any(|p| p.name == *name) {
            let known = known.iter().map(|p| p.name.clone()).collect();
            return Err(refuse(a.prepared, AnalysisError::UnknownParameter { name: name.clone(), known }));
        }
    }
    Ok(load(&request, &live)?.model().clone())
}

fn key<'a>(a: &'a Analysis, name: &str) -> Option<&'a TaskValue> {
    a.keys.iter().find(|k| k.0 == name).map(|k| &k.1)
}

fn text(a: &Analysis, name: &str) -> Result<Option<String>, Refusal> {
    match key(a, name) {
        None => Ok(None),
        Some(TaskValue::Text(t)) => Ok(Some(t.clone())),
        Some(_) => Err(Refusal::new(format!("`{name}` must be a name in quotes"))),
    }
}

fn list(a: &Analysis, name: &str) -> Vec<String> {
    match key(a, name) {
        Some(TaskValue::Text(t)) => vec![t.clone()],
        Some(TaskValue::List(l)) => l
            .iter()
            .filter_map(|v| match v {
                TaskValue::Text(t) => Some(t.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn contacts(a: &Analysis) -> Vec<String> {
    let mut all = list(a, "contact");
    all.extend(list(a, "contacts"));
    all
}

fn over(a: &Analysis) -> Result<Option<(String, f64, f64, usize)>, Refusal> {
    let wrong = || Refusal::new("`over` of self-braking is one parameter: over = { q0 = [from, to, count] }");
    match key(a, "over") {
        None => Ok(None),
        Some(TaskValue::Table(t)) => match t.as_slice() {
            [(name, TaskValue::List(v))] => match v.as_slice() {
                [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] if *n >= 2.0 => {
                    if !(from.is_finite() && to.is_finite() && from < to) {
                        return Err(Refusal::new(format!(
                            "the range of `{name}` runs from {from} to {to}; it needs two finite ends, the smaller one first"
                        )));
                    }
                    if *n > MOST {
                        return Err(Refusal::new(format!(
                            "{n} values of `{name}` are more than the {MOST} of a cycle"
                        ))
                        .help("borders are located far more finely than the values: 361 are plenty"));
                    }
                    Ok(Some((name.clone(), *from, *to, *n as usize)))
                }
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        },
        Some(_) => Err(wrong()),
    }
}

fn rest_json(f: &RestFinding) -> Json {
    let mut out = Map::new();
    out.insert("verdict".into(), json!(f.rest.verdict));
    out.insert("direction".into(), signs(&f.coordinates, &f.rest.direction()));
    if let Some((verdict, direction)) = f.rest.book {
        let differs = f.rest.differs_from_book();
        out.insert("book".into(), json!({ "verdict": verdict, "direction": direction, "differs": differs }));
    }
    let solutions: Vec<Json> = f.rest.outcomes.iter().map(|o| outcome(f, o)).collect();
    out.insert("solutions".into(), json!(solutions));
    if let Some(limit) = &f.start_load {
        out.insert("start_load".into(), limit_json(f, limit));
    }
    if !f.points.is_empty() {
        let mut points = Json::Object(Map::new());
        for p in &f.points {
            let mut entry = directions(&p.stagnation);
            let limit: Vec<Json> = p.limit.iter().map(|l| json!([number(l[0]), number(l[1])])).collect();
            entry.insert("limit".into(), json!(limit));
            nest(&mut points, &p.point, entry);
        }
        out.insert("stagnation".into(), points);
        let picture = match f.points.as_slice() {
            [p] if f.rest.outcomes.iter().any(|o| !o.moves) && p.limit.iter().any(|l| l[1] > 0.0) => {
                rose::limits(&p.point, &p.limit)
            }
            all => {
                rose::roses(&all.iter().map(|p| (p.point.clone(), p.stagnation.clone())).collect::<Vec<_>>())
            }
        };
        out.insert("picture".into(), json!(picture));
    }
    out.insert("complete".into(), json!(f.rest.complete));
    out.insert("explain".into(), json!("jam"));
    Json::Object(out)
}

fn signs(names: &[String], list: &[Option<f64>]) -> Json {
    Json::Object(names.iter().cloned().zip(list.iter().map(|s| json!(s))).collect())
}

fn outcome(f: &RestFinding, o: &Outcome) -> Json {
    let mut out = Map::new();
    out.insert("moves".into(), json!(o.moves));
    for (name, a) in f.coordinates.iter().zip(&o.accel) {
        out.insert(format!("{name}''"), number(*a));
    }
    for (i, name) in f.contacts.iter().enumerate() {
        let forces = json!({
            "mode": o.modes[i].word(), "normal": number(o.normal[i]), "tangential": number(o.tangential[i])
        });
        out.insert(name.clone(), forces);
    }
    Json::Object(out)
}

fn limit_json(f: &RestFinding, l: &StartLoad) -> Json {
    json!({
        "parameter": l.parameter,
        "value": number(l.value),
        "low": number(l.low),
        "high": number(l.high),
        "low_direction": signs(&f.coordinates, &l.low_direction),
        "high_direction": signs(&f.coordinates, &l.high_direction),
        "intervals": l.intervals.iter().map(|i| json!([number(i[0]), number(i[1])])).collect::<Vec<_>>(),
        "exact": l.exact,
    })
}

fn arcs(list: &[Arc]) -> Json {
    list.iter().map(|a| json!([a.from, a.to])).collect()
}

fn directions(s: &Stagnation) -> Map<String, Json> {
    let mut out = Map::new();
    out.insert("stagnation_angle".into(), json!(s.angle()));
    out.insert("stuck".into(), arcs(&s.stuck));
    out.insert("ambiguous".into(), arcs(&s.ambiguous));
    out.insert("moving".into(), arcs(&s.moving));
    out.insert("exact".into(), json!(s.exact));
    out
}

/// `plate.point` becomes an entry `point` of an entry `plate`, as addresses read it.
fn nest(root: &mut Json, name: &str, entry: Map<String, Json>) {
    let mut place = root;
    for part in name.split('.') {
        if !place[part].is_object() {
            place[part] = Json::Object(Map::new());
        }
        place = &mut place[part];
    }
    if let Some(object) = place.as_object_mut() {
        object.extend(entry);
    }
}

/// The critical coefficient: a number for one contact, else by contact.
fn critical(mu: &[(String, f64)], factor: Option<f64>) -> Json {
    let Some(k) = factor else { return Json::Null };
    match mu {
        [(_, mu)] => number(k * mu),
        all => Json::Object(all.iter().map(|(name, mu)| (name.clone(), number(k * mu))).collect()),
    }
}

fn braking_json(f: &SelfBrakingFinding) -> Json {
    let mut out = Map::new();
    if !f.points.is_empty() {
        let mut points = Json::Object(Map::new());
        for (name, p) in &f.points {
            nest(&mut points, name, point(f, p));
        }
        out.insert("points".into(), points);
        let roses: Vec<_> = f.points.iter().map(|(n, p)| (n.clone(), p.directions.clone())).collect();
        out.insert("picture".into(), json!(rose::roses(&roses)));
    }
    if let Some(e) = &f.efficiency {
        out.insert("efficiency".into(), efficiency(f, e));
    }
    if let Some(l) = &f.load {
        let critical_mu = critical(&f.mu, l.critical_factor);
        let entry =
            json!({ "held": l.held, "critical_factor": l.critical_factor, "critical_mu": critical_mu });
        out.insert("load".into(), entry);
    }
    if let Some((name, values, curves)) = &f.curve {
        let mut points = Json::Object(Map::new());
        for ((point, _), c) in f.points.iter().zip(curves) {
            let mut entry = Map::new();
            entry.insert("verdict".into(), json!(c.verdict));
            entry.insert("stagnation_angle".into(), json!(c.stagnation_angle));
            entry.insert("self_braking".into(), json!(c.self_braking));
            nest(&mut points, point, entry);
        }
        out.insert("over".into(), json!({ "parameter": name, "values": values, "points": points }));
    }
    out.insert("explain".into(), json!("self-braking"));
    Json::Object(out)
}

fn point(f: &SelfBrakingFinding, p: &PointBraking) -> Map<String, Json> {
    let mut out = Map::new();
    out.insert("verdict".into(), json!(p.verdict));
    out.extend(directions(&p.directions));
    if let Some((verdict, angle)) = p.book {
        out.insert("book".into(), json!({ "verdict": verdict, "stagnation_angle": angle }));
    }
    out.insert("critical_factor".into(), json!(p.critical_factor));
    out.insert("critical_mu".into(), critical(&f.mu, p.critical_factor));
    out
}

fn efficiency(f: &SelfBrakingFinding, e: &Efficiency) -> Json {
    let one = |u: &Uniform| {
        let [lo, hi] = u.efficiency;
        if (hi - lo).abs() <= 1e-9 * hi.abs().max(1.0) { number(lo) } else { json!([number(lo), number(hi)]) }
    };
    let drive = |u: &Uniform| {
        let [lo, hi] = u.drive;
        if (hi - lo).abs() <= 1e-9 * hi.abs() || lo.is_nan() {
            number(lo)
        } else {
            json!([number(lo), number(hi)])
        }
    };
    json!({
        "forward": one(&e.forward),
        "backward": one(&e.backward),
        "drive_forward": drive(&e.forward),
        "drive_backward": drive(&e.backward),
        "self_locking": e.self_locking,
        "critical_factor": e.critical_factor,
        "critical_mu": critical(&f.mu, e.critical_factor),
    })
}
