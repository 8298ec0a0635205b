//! `tensor`: can friction, however large, make a reaction ambiguous or impossible? Dissipation, orthogonality and regularity of the
//! friction tensors (VAG-1, VAG-5), at the start and over sampled states.

use crate::outcome::Refusal;
use crate::refuse::refuse;
use crate::run_json::number;
use crate::session::load;
use crate::tasks::Analysis;
use serde_json::{Map, Value as Json, json};
use specht::analysis::tensor_set::{Extreme, Range, SampledSet, SetFinding, regular_set, sampled_set};
use specht::analysis::{Snapshot, frictional_contact};
use specht::contact::Reduced;
use specht::model::TaskValue;
use specht::system::{ContactInfo, System};

/// Samples when `over` is given and `samples` is not.
const SAMPLES: usize = 1000;

/// The finding. Keys: `contacts`, `over = { name = [from, to, count] }` (the ends count), `samples`; with `samples` alone every
/// parameter that has a range in the file is sampled.
pub fn run(a: &Analysis) -> Result<Json, Refusal> {
    let p = a.prepared;
    let info = p.machine.system().contacts();
    let of = contacts(a, info)?;
    let mut at = Snapshot::new(p.machine.system());
    at.state.clone_from(&p.start);
    at.take(p.machine.system()).map_err(|e| refuse(p, e))?;
    let f = regular_set(info, &at, &of, &mut Reduced::default()).map_err(|e| refuse(p, e))?;
    let mut out = here(&f, info);
    let (ranges, samples) = ranges(a)?;
    if samples > 0 {
        // coordinates and velocities need not be live
        let is_parameter = |name: &str| p.model().parameters.iter().any(|q| q.name == *name);
        let names: Vec<String> = ranges.iter().map(|r| r.0.clone()).filter(|n| is_parameter(n)).collect();
        let machine = load(&p.request, &names)?;
        let s = sampled_set(machine.system(), &ranges, samples, &of).map_err(|e| refuse(p, e))?;
        out.insert("sampled".into(), sampled(&s, &ranges, &f, info));
    }
    out.insert("explain".into(), json!("tensor"));
    Ok(Json::Object(out))
}

fn contacts(a: &Analysis, info: &[ContactInfo]) -> Result<Vec<usize>, Refusal> {
    let mut names = Vec::new();
    for (key, value) in a.keys {
        match (key.as_str(), value) {
            ("contact", TaskValue::Text(t)) => names.push(t.clone()),
            ("contacts", TaskValue::List(list)) => names.extend(list.iter().filter_map(|v| match v {
                TaskValue::Text(t) => Some(t.clone()),
                _ => None,
            })),
            _ => {}
        }
    }
    names.iter().map(|n| frictional_contact(info, n).map_err(|e| refuse(a.prepared, e))).collect()
}

fn ranges(a: &Analysis) -> Result<(Vec<Range>, usize), Refusal> {
    let key = |name: &str| a.keys.iter().find(|k| k.0 == name).map(|k| &k.1);
    let samples = match key("samples") {
        None => None,
        Some(TaskValue::Number(n)) if *n >= 1.0 && *n <= 1e7 => Some(*n as usize),
        Some(_) => return Err(Refusal::new("`samples` must be a number from 1 to 10000000")),
    };
    let wrong = |name: &str| Refusal::new(format!("`over` of `{name}` must be [from, to, count]"));
    let list = match key("over") {
        Some(TaskValue::Table(list)) => list
            .iter()
            .map(|(name, value)| match value {
                TaskValue::List(v) => match v[..] {
                    [TaskValue::Number(from), TaskValue::Number(to), _] => Ok((name.clone(), [from, to])),
                    _ => Err(wrong(name)),
                },
                _ => Err(wrong(name)),
            })
            .collect::<Result<Vec<Range>, _>>()?,
        Some(_) => return Err(Refusal::new("`over` must be a table").help("write over = { mu = [0, 3, 2] }")),
        None => a
            .prepared
            .model()
            .parameters
            .iter()
            .filter_map(|p| Some((p.name.clone(), p.range?)))
            .filter(|(_, [from, to])| from < to && from.is_finite() && to.is_finite())
            .collect(),
    };
    let count = match (samples, key("over")) {
        (Some(n), _) => n,
        (None, Some(_)) => SAMPLES,
        (None, None) => 0,
    };
    if count > 0 && list.is_empty() {
        return Err(Refusal::new("no parameter of the file has a range to sample")
            .help("write  mu = { value = 0.2, range = [0, 1] }  or give --over \"mu=0..1:2\""));
    }
    Ok((list, count))
}

fn here(f: &SetFinding, info: &[ContactInfo]) -> Map<String, Json> {
    let mut out = Map::new();
    out.insert("regular".into(), json!(f.regular));
    let critical = if f.regular { None } else { f.worst.critical };
    out.insert("critical_factor".into(), json!(critical));
    out.insert("determinant".into(), f.worst.determinant.iter().map(|c| number(*c)).collect());
    out.insert("directions".into(), directions(f, &f.directions, info));
    out.insert("patterns".into(), json!(f.patterns));
    let mut contacts = Map::new();
    for c in &f.contacts {
        let entry = json!({
            "tensor": c.phi.map(|row| row.map(number)),
            "dissipative": c.eigenvalue >= 0.0,
            "eigenvalue": number(c.eigenvalue),
            "orthogonality": number(c.orthogonality.residual),
            "rho": number(c.orthogonality.rho),
        });
        contacts.insert(info[c.contact].name.clone(), entry);
    }
    out.insert("contacts".into(), Json::Object(contacts));
    if !f.left_out.is_empty() {
        let names: Vec<&str> = f.left_out.iter().map(|&i| info[i].name.as_str()).collect();
        out.insert("left_out".into(), json!(names));
    }
    out
}

fn directions(f: &SetFinding, list: &[f64], info: &[ContactInfo]) -> Json {
    Json::Object(
        f.contacts.iter().zip(list).map(|(c, d)| (info[c.contact].name.clone(), json!(*d as i64))).collect(),
    )
}

fn sampled(s: &SampledSet, ranges: &[Range], f: &SetFinding, info: &[ContactInfo]) -> Json {
    let at = |e: &Extreme| {
        Json::Object(ranges.iter().zip(&e.at).map(|(r, v)| (r.0.clone(), number(*v))).collect())
    };
    let of_contact = |e: &Extreme| {
        json!({
            "contact": e.contact.map(|i| info[i].name.clone()), "value": number(e.value), "at": at(e)
        })
    };
    let mut out = Map::new();
    out.insert("count".into(), json!(s.count));
    out.insert("regular".into(), json!(s.count - s.irregular));
    out.insert("irregular".into(), json!(s.irregular));
    out.insert("creating_energy".into(), json!(s.creating));
    out.insert("undefined".into(), json!(s.undefined.0));
    if let Some(why) = &s.undefined.1 {
        out.insert("undefined_because".into(), json!(why));
    }
    let over = ranges.iter().map(|(name, ends)| (name.clone(), json!(ends))).collect();
    out.insert("over".into(), Json::Object(over));
    if let Some(e) = &s.worst {
        let worst = json!({
            "critical_factor": number(e.value), "at": at(e), "directions": directions(f, &e.directions, info)
        });
        out.insert("worst".into(), worst);
    }
    out.insert("lowest_eigenvalue".into(), s.eigenvalue.as_ref().map_or(Json::Null, of_contact));
    out.insert("largest_orthogonality".into(), s.residual.as_ref().map_or(Json::Null, of_contact));
    Json::Object(out)
}
