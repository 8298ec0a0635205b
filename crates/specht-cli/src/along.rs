//! `painleve --along`: the finding at all instants of a run.

use crate::outcome::Refusal;
use crate::refuse::refuse;
use crate::run_json::number;
use crate::session::{Prepared, execute_with};
use serde_json::{Map, Value as Json, json};
use specht::analysis::Verdict;
use specht::analysis::along::{Along, along};
use specht::analysis::picture::along_svg;
use specht::sim::{Record, Settings};

/// Run the model and look at every row.
pub fn run(p: &Prepared, contacts: &[usize]) -> Result<Json, Refusal> {
    let settings = Settings { record: Record::Steps, ..p.settings.clone() };
    let run = execute_with(p, &settings, false)?;
    let mut found = along(p.machine.system(), &run.trajectory).map_err(|e| refuse(p, e))?;
    found.nearest.retain(|n| contacts.contains(&n.contact));
    let mut out = Map::new();
    out.insert("verdict".into(), json!(worst(&found).map_or("open", Verdict::word)));
    out.insert("status".into(), json!(run.trajectory.status.word()));
    out.insert("message".into(), json!(run.trajectory.message));
    out.insert("time".into(), number(run.trajectory.time));
    let spans = found
        .spans
        .iter()
        .map(|s| json!({ "from": s.from, "to": s.to, "verdict": s.verdict.map_or("open", Verdict::word) }));
    out.insert("spans".into(), spans.collect());
    let name = |c: usize| p.names.contacts.get(c).cloned().unwrap_or_default();
    let borders = found.borders.iter().map(|b| {
        json!({
            "time": b.t, "kind": b.kind.word(), "contact": b.contact.map(name),
            "before": b.verdict[0].word(), "after": b.verdict[1].word(),
        })
    });
    out.insert("borders".into(), borders.collect());
    let nearest = found.nearest.iter().map(|n| {
        let entry = json!({
            "time": n.t, "critical_mu": number(n.critical_mu), "mu": number(n.mu), "factor": number(n.critical_mu / n.mu),
        });
        (name(n.contact), entry)
    });
    out.insert("nearest".into(), Json::Object(nearest.collect()));
    out.insert("series".into(), series(&found, &name));
    out.insert("explain".into(), json!(crate::painleve::page(worst(&found).unwrap_or(Verdict::Unique))));
    let title = format!("{}: along the run", p.model().name);
    out.insert("picture".into(), json!(along_svg(&found, &p.names.contacts, &title)));
    Ok(Json::Object(out))
}

/// The verdict that matters most: none, then several, then a continuum.
fn worst(a: &Along) -> Option<Verdict> {
    let rank = |v: Verdict| {
        [Verdict::Unique, Verdict::Family, Verdict::Several, Verdict::None].iter().position(|x| *x == v)
    };
    a.spans.iter().filter_map(|s| s.verdict).max_by_key(|v| rank(*v))
}

fn series(a: &Along, name: &dyn Fn(usize) -> String) -> Json {
    let mut out = Map::new();
    out.insert("t".into(), a.meetings.iter().map(|m| json!(m.t)).collect());
    let letters: String = a.meetings.iter().map(|m| crate::painleve::letter(Some(m.class.verdict))).collect();
    out.insert("verdict".into(), json!(letters));
    let mut contacts: Vec<usize> = a.meetings.iter().flat_map(|m| m.contacts.iter().copied()).collect();
    contacts.sort_unstable();
    contacts.dedup();
    for c in contacts {
        let column = |f: &dyn Fn(&specht::analysis::along::Meeting, usize) -> f64| -> Json {
            let value = |m: &specht::analysis::along::Meeting| {
                m.contacts.iter().position(|&x| x == c).map_or(Json::Null, |k| number(f(m, k)))
            };
            a.meetings.iter().map(value).collect()
        };
        let entry = json!({
            "index": column(&|m, k| m.index[k]),
            "frictionless": column(&|m, k| m.frictionless[k]),
            "mu": column(&|m, k| m.mu[k]),
            "critical_mu": column(&|m, k| m.critical_mu[k]),
        });
        out.insert(name(c), entry);
    }
    Json::Object(out)
}
