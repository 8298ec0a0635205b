//! `painleve`: is the computed reaction the only possible one? At a state, along a run, over a curve or map.

use crate::outcome::Refusal;
use crate::progress::{Progress, interrupt};
use crate::refuse::refuse;
use crate::run_json::number;
use crate::session::{Prepared, load};
use crate::tasks::Analysis;
use serde_json::{Map as JsonMap, Value as Json, json};
use specht::analysis::border::Border;
use specht::analysis::journal::Journal;
use specht::analysis::map::{Axis, Map, Plane, Watch, map};
use specht::analysis::painleve::{Painleve, Possible, painleve};
use specht::analysis::particles::Particles;
use specht::analysis::picture::svg;
use specht::analysis::true_motion::Outcome;
use specht::analysis::{AnalysisError, Verdict, frictional_contact};
use specht::model::TaskValue;
use specht::system::System;

/// The finding.
pub fn run(a: &Analysis) -> Result<Json, Refusal> {
    let contacts = contacts(a)?;
    let axes = axes(a)?;
    let given = |key: &str| a.keys.iter().any(|k| k.0 == key);
    match a.keys.iter().find(|k| k.0 == "along").map(|k| &k.1) {
        None | Some(TaskValue::Bool(false)) => {}
        Some(TaskValue::Bool(true)) => {
            if !axes.is_empty() || given("at") || given("at_time") {
                return Err(Refusal::new(
                    "`along` looks at the whole run; it does not go with `over`, `at` or `at_time`",
                )
                .help("ask twice: once along the run, once at the state or over the map"));
            }
            return crate::along::run(a.prepared, &contacts);
        }
        Some(_) => return Err(Refusal::new("`along` must be true or false")),
    }
    if axes.is_empty() { here(a, &contacts) } else { over(a, &contacts, &axes) }
}

/// `true-motion`: what happens in the limit of stiff contacts. Keys: `contact`, `x0` (initial reaction over the frictionless
/// one, default 0), `rate0` (its rate in units of w), `stiffness` (N/m, for the durations).
pub fn true_motion(a: &Analysis) -> Result<Json, Refusal> {
    let p = a.prepared;
    let given = |key: &str| {
        a.keys.iter().find(|k| k.0 == key).and_then(|k| match k.1 {
            TaskValue::Number(v) => Some(v),
            _ => None,
        })
    };
    let contacts = contacts(a)?;
    let Some(&contact) = contacts.first() else { return Err(refuse(p, AnalysisError::NoPair)) };
    let (x0, rate0) = (given("x0").unwrap_or(0.0), given("rate0").unwrap_or(0.0));
    let state = crate::look::state(a)?;
    let m = specht::analysis::true_motion(p.machine.system(), &state, contact, x0, rate0)
        .map_err(|e| refuse(p, e))?;
    let velocities = |u: &[f64]| {
        let named = p.model().coordinates.iter().zip(u).map(|(c, v)| (format!("{}'", c.name), json!(v)));
        Json::Object(named.collect())
    };
    let mut out = JsonMap::new();
    out.insert("contact".into(), json!(p.machine.system().contacts()[contact].name));
    out.insert("verdict".into(), json!(m.verdict.word()));
    out.insert("outcome".into(), json!(m.outcome.word()));
    match &m.outcome {
        Outcome::Rigid { reactions } => {
            out.insert("reactions".into(), json!(reactions));
        }
        Outcome::TangentialImpact { u, impulse, loss } | Outcome::Seizure { u, impulse, loss } => {
            out.insert("after".into(), velocities(u));
            out.insert("impulse_n".into(), json!(impulse[0]));
            out.insert("impulse_t".into(), json!(impulse[1]));
            out.insert("loss".into(), json!(loss));
        }
        Outcome::Undecided => {}
    }
    if let Some(u) = &m.u_at_stop {
        out.insert("at_stop".into(), velocities(u));
    }
    out.insert("index".into(), json!(m.index));
    out.insert("frictionless".into(), json!(m.frictionless));
    out.insert("mu_index".into(), json!(m.portrait.p));
    out.insert("centre".into(), json!(m.centre));
    out.insert("saddle".into(), json!(m.saddle));
    if let Some([low, high]) = m.portrait.bounded_interval() {
        out.insert("bounded_reactions".into(), json!([low * m.frictionless, high * m.frictionless]));
    }
    if let Some(c) = given("stiffness")
        && let Some(d) = m.duration(c, x0, rate0)
    {
        out.insert("dt_book".into(), json!(d.dt_book));
        out.insert("dt_full".into(), json!(d.dt_full));
    }
    out.insert("explain".into(), json!("tangential-impact"));
    Ok(Json::Object(out))
}

/// The contacts asked for; all with friction when none is named.
fn contacts(a: &Analysis) -> Result<Vec<usize>, Refusal> {
    let info = a.prepared.machine.system().contacts();
    let mut names = Vec::new();
    for (key, value) in a.keys {
        match (key.as_str(), value) {
            ("contact", TaskValue::Text(t)) => names.push(t.clone()),
            ("contacts", TaskValue::List(list)) => {
                names.extend(list.iter().filter_map(|v| match v {
                    TaskValue::Text(t) => Some(t.clone()),
                    _ => None,
                }));
            }
            _ => {}
        }
    }
    if names.is_empty() {
        return Ok((0..info.len()).filter(|&i| info[i].friction && !info[i].tangent.is_empty()).collect());
    }
    names.iter().map(|n| frictional_contact(info, n).map_err(|e| refuse(a.prepared, e))).collect()
}

/// `over = { name = [from, to, count] }`.
fn axes(a: &Analysis) -> Result<Vec<Axis>, Refusal> {
    let Some(over) = a.keys.iter().find(|k| k.0 == "over") else { return Ok(Vec::new()) };
    let TaskValue::Table(list) = &over.1 else {
        return Err(Refusal::new("`over` must be a table").help("write over = { mu = [0, 3, 61] }"));
    };
    let axis = |(name, value): &(String, TaskValue)| match value {
        TaskValue::List(v) => match v[..] {
            [TaskValue::Number(from), TaskValue::Number(to), TaskValue::Number(n)] if n >= 0.0 => {
                Ok(Axis { name: name.clone(), from, to, count: n as usize })
            }
            _ => Err(Refusal::new(format!("`over` of `{name}` must be [from, to, count]"))),
        },
        _ => Err(Refusal::new(format!("`over` of `{name}` must be [from, to, count]"))),
    };
    list.iter().map(axis).collect()
}

/// A contact with an index of influence.
enum Place {
    /// Number of the pair.
    Pair(usize),
    /// A pin with friction.
    Journal(Journal),
}

impl Place {
    /// L; between a journal and another contact it is not defined.
    fn index(&self, other: &Place, f: &Painleve) -> Option<f64> {
        match (self, other) {
            (Place::Pair(i), Place::Pair(j)) => Some(f.index[(*i, *j)]),
            (Place::Journal(a), Place::Journal(b)) if a.contact == b.contact => Some(a.index()),
            _ => None,
        }
    }

    fn contact(&self, f: &Painleve) -> usize {
        match self {
            Place::Pair(k) => f.pairs[*k].contact,
            Place::Journal(j) => j.contact,
        }
    }

    fn mu(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) => f.pairs[*k].mu,
            Place::Journal(j) => j.mu,
        }
    }

    fn critical_mu(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) if f.journals.is_empty() => f.critical_mu[*k],
            Place::Pair(k) => f.critical_factor * f.pairs[*k].mu,
            Place::Journal(j) if j.mu == 0.0 => j.critical_mu(),
            Place::Journal(j) => f.critical_factor * j.mu,
        }
    }

    fn frictionless(&self, f: &Painleve) -> f64 {
        match self {
            Place::Pair(k) => f.frictionless[*k],
            Place::Journal(j) => j.load(),
        }
    }
}

fn here(a: &Analysis, contacts: &[usize]) -> Result<Json, Refusal> {
    let p = a.prepared;
    let state = crate::look::state(a)?;
    let stiffness = stiffness(a)?;
    let f = painleve(p.machine.system(), &state, &stiffness).map_err(|e| refuse(p, e))?;
    let mut places = Vec::new();
    for &c in contacts {
        let info = &p.machine.system().contacts()[c];
        if let Some(k) = f.pairs.iter().position(|q| q.contact == c) {
            places.push(Place::Pair(k));
        } else if let Some(j) = f.journals.iter().find(|j| j.contact == c) {
            places.push(Place::Journal(*j));
        } else if matches!(info.normal, specht::system::Normal::Unilateral { .. }) {
            return Err(refuse(p, AnalysisError::Open(info.name.clone())));
        }
    }
    let particles = Particles::new(p.model(), &state).map_err(|e| refuse(p, e))?;
    let mut out = JsonMap::new();
    let word = f.border.map_or(f.verdict.word(), |_| "boundary");
    out.insert("verdict".into(), json!(word));
    if let Some([less, more]) = f.border {
        out.insert("beside".into(), json!({ "less": less.word(), "more": more.word() }));
    }
    let single = |v: Vec<Json>| if v.len() == 1 { v[0].clone() } else { Json::Array(v) };
    out.insert("critical_mu".into(), single(places.iter().map(|q| number(q.critical_mu(&f))).collect()));
    let index = match places[..] {
        [ref one] => json!(one.index(one, &f)),
        _ => {
            places.iter().map(|i| places.iter().map(|j| json!(i.index(j, &f))).collect::<Vec<_>>()).collect()
        }
    };
    out.insert("index".into(), index);
    out.insert("frictionless".into(), single(places.iter().map(|q| json!(q.frictionless(&f))).collect()));
    out.insert("mu".into(), single(places.iter().map(|q| number(q.mu(&f))).collect()));
    out.insert("critical_factor".into(), number(f.critical_factor));
    out.insert("safe_factor".into(), number(f.safe_factor));
    out.insert("time".into(), number(state.t));
    let mut at = JsonMap::new();
    for (k, c) in p.model().coordinates.iter().enumerate() {
        at.insert(c.name.clone(), number(state.q[k]));
        at.insert(format!("{}'", c.name), number(state.u[k]));
    }
    out.insert("state".into(), Json::Object(at));
    let names: Vec<Json> =
        places.iter().map(|q| json!(p.machine.system().contacts()[q.contact(&f)].name)).collect();
    out.insert("contacts".into(), Json::Array(names));
    out.insert("complete".into(), json!(f.complete));
    if f.redundant > 0 {
        out.insert("redundant".into(), json!(f.redundant));
    }
    out.insert("solutions".into(), f.solutions.iter().map(|s| solution(p, &f, &particles, s)).collect());
    if let Some(family) = &f.family {
        let names = p.model().coordinates.iter().map(|c| format!("{}''", c.name));
        out.insert(
            "family".into(),
            names.zip(family).map(|(n, r)| (n, json!(r))).collect::<JsonMap<_, _>>().into(),
        );
    }
    let page = if f.border.is_some() { "painleve" } else { page(f.verdict) };
    out.insert("explain".into(), json!(page));
    Ok(Json::Object(out))
}

/// `stiffness = { rub1 = 1, rub2 = 3 }`: relative stiffness of the contacts, for the character of the solutions; 1 where nothing is said.
fn stiffness(a: &Analysis) -> Result<Vec<f64>, Refusal> {
    let info = a.prepared.machine.system().contacts();
    let mut all = vec![1.0; info.len()];
    let Some((_, value)) = a.keys.iter().find(|k| k.0 == "stiffness") else { return Ok(all) };
    let help = "write stiffness = { rub1 = 1, rub2 = 3 }, or --stiffness \"rub1=1, rub2=3\"";
    let TaskValue::Table(list) = value else {
        return Err(Refusal::new("`stiffness` of painleve is given by contact").help(help));
    };
    for (name, value) in list {
        let i = frictional_contact(info, name).map_err(|e| refuse(a.prepared, e))?;
        match value {
            TaskValue::Number(c) if *c > 0.0 && c.is_finite() => all[i] = *c,
            _ => {
                return Err(Refusal::new(format!("the stiffness of `{name}` must be positive")).help(help));
            }
        }
    }
    Ok(all)
}

/// The page that says more.
pub fn page(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Several | Verdict::Family => "several-solutions",
        Verdict::None => "tangential-impact",
        Verdict::Unique => "painleve",
    }
}

fn solution(p: &Prepared, f: &Painleve, particles: &Particles, s: &Possible) -> Json {
    let mut out = JsonMap::new();
    for (i, c) in p.machine.system().contacts().iter().enumerate() {
        out.insert(
            c.name.clone(),
            json!({ "mode": s.modes[i].word(), "normal": s.normal[i], "tangential": s.tangential[i] }),
        );
    }
    let mut friction = JsonMap::new();
    for (k, c) in p.model().coordinates.iter().enumerate() {
        out.insert(format!("{}''", c.name), json!(s.accel[k]));
        friction.insert(c.name.clone(), json!(s.friction_forces[k]));
    }
    out.insert("friction_forces".into(), Json::Object(friction));
    let change: Vec<f64> = s.accel.iter().zip(&f.frictionless_accel).map(|(a, b)| a - b).collect();
    let bodies = particles.forces(&change).into_iter();
    let bodies = bodies.map(|b| (b.body, json!({ "force": b.force, "torque": b.torque })));
    out.insert("painleve_forces".into(), Json::Object(bodies.collect()));
    if let Some(c) = s.fast.character {
        out.insert("character".into(), json!(c.word()));
        out.insert("may_flutter".into(), json!(s.fast.may_flutter));
        out.insert("kappa".into(), s.fast.kappa.iter().map(|k| json!([k.re, k.im])).collect());
    }
    Json::Object(out)
}

fn over(a: &Analysis, contacts: &[usize], axes: &[Axis]) -> Result<Json, Refusal> {
    let p = a.prepared;
    let names: Vec<String> = axes.iter().map(|x| x.name.clone()).collect();
    // parameters stay open in the equations; coordinates and velocities are so anyway
    let live: Vec<String> = names.iter().filter(|n| !crate::look::is_moving(p, n)).cloned().collect();
    for name in &live {
        if !p.model().parameters.iter().any(|q| q.name == *name) {
            let e = specht::analysis::place::slot(p.machine.system(), name);
            return Err(
                e.map_or_else(|e| refuse(p, e), |_| Refusal::new(format!("`{name}` cannot be varied")))
            );
        }
    }
    let machine = load(&p.request, &live)?;
    let contact = contacts.first().map(|&c| p.machine.system().contacts()[c].name.clone());
    let mut plane = Plane::new(machine.system(), &names, contact.as_deref()).map_err(|e| refuse(p, e))?;
    if let Some(place) = crate::look::place(a)? {
        plane = plane.at(place);
    }
    let line = std::sync::Mutex::new(Progress::new("painleve"));
    let show = |part: f64| {
        if let Ok(mut line) = line.try_lock() {
            line.now(part, || format!("{:.0} %", 100.0 * part));
        }
    };
    let watch = Watch { interrupt: Some(interrupt()), progress: Some(&show) };
    let m = map(&plane, axes, watch).map_err(|e| refuse(p, e))?;
    drop(line);
    Ok(finding(&m, &format!("{}: {}", p.model().name, plane.contact())))
}

fn finding(m: &Map, title: &str) -> Json {
    let mut out = JsonMap::new();
    let counts: JsonMap<String, Json> = [Verdict::Unique, Verdict::Several, Verdict::None, Verdict::Family]
        .into_iter()
        .map(|v| (v.word().to_string(), json!(m.count(v))))
        .collect();
    out.insert("contact".into(), json!(m.contact));
    out.insert("counts".into(), Json::Object(counts));
    if let Some(l) = &m.largest {
        out.insert("largest_index".into(), json!(l.value));
        // the smallest critical friction; the older key stays
        out.insert("least_critical_mu".into(), number(critical(l.value)));
        out.insert("largest_critical_mu".into(), number(critical(l.value)));
        let at: JsonMap<String, Json> =
            m.axes.iter().zip(&l.at).map(|(a, v)| (a.name.clone(), json!(v))).collect();
        out.insert("largest_at".into(), Json::Object(at));
    }
    out.insert("borders".into(), m.borders.iter().map(|b| border(m, b)).collect());
    if m.axes.len() == 2 {
        out.insert("junctions".into(), m.junctions.iter().map(|j| json!(j.at)).collect());
    }
    out.insert("complete".into(), json!(m.complete));
    out.insert("done".into(), json!(m.done));
    out.insert("axes".into(), m.axes.iter().map(|a| json!(a.name)).collect());
    let mut grid = JsonMap::new();
    for a in &m.axes {
        grid.insert(a.name.clone(), (0..a.count).map(|i| json!(a.value(i))).collect());
    }
    let columns = m.axes[0].count;
    let rows: Vec<String> = (0..m.grid.len() / columns)
        .map(|j| (0..columns).map(|i| letter(m.grid[j * columns + i].map(|s| s.class.verdict))).collect())
        .collect();
    grid.insert("verdict".into(), if rows.len() == 1 { json!(rows[0]) } else { json!(rows) });
    if rows.len() == 1 {
        grid.insert("index".into(), m.grid.iter().map(|s| json!(s.map(|s| s.index))).collect());
        grid.insert("frictionless".into(), m.grid.iter().map(|s| json!(s.map(|s| s.frictionless))).collect());
    }
    out.insert("grid".into(), Json::Object(grid));
    if let Some(why) = &m.undefined {
        out.insert("undefined".into(), json!(why));
    }
    out.insert("explain".into(), json!("painleve"));
    out.insert("picture".into(), json!(svg(m, title)));
    Json::Object(out)
}

/// 1/|L|; without any influence no friction is critical.
fn critical(reach: f64) -> f64 {
    if reach > 0.0 { 1.0 / reach } else { f64::INFINITY }
}

/// One letter per verdict, for grids and series.
pub fn letter(v: Option<Verdict>) -> char {
    match v {
        Some(Verdict::Unique) => 'u',
        Some(Verdict::Several) => 's',
        Some(Verdict::None) => 'n',
        Some(Verdict::Family) => 'f',
        None => '.',
    }
}

fn border(m: &Map, b: &Border) -> Json {
    let mut out = JsonMap::new();
    out.insert("kind".into(), json!(b.kind.word()));
    if m.axes.len() == 1 {
        out.insert(m.axes[0].name.clone(), json!(b.points[0][0]));
    } else {
        out.insert("points".into(), json!(b.points));
    }
    Json::Object(out)
}
