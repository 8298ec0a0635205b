//! `specht check MODEL`: reads, builds, settles the start, and prints the model as understood.

use crate::args::ModelArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome, Refusal};
use crate::session::{Prepared, Request, prepare};
use crate::text::print;
use crate::words::quantity;
use anstyle::Style;
use specht::machine::Run;
use specht::model::{Friction, Geometry, NormalLaw};
use specht::sim::{Outside, Settings};
use specht::system::System;

/// Check a model.
pub fn run(args: ModelArgs) -> Outcome {
    let mut request = Request::new(&args)?;
    request.setup.until.get_or_insert(1.0); // a check needs no end time
    let prepared = prepare(request)?;
    prepared.warn();
    let start = begin(&prepared)?;
    prepared.machine.check_tasks().map_err(refused)?;
    print(&understood(&prepared, &start))?;
    Ok(Exit::Done)
}

/// A run that ends where it begins: gaps, velocities and forces of the start.
fn begin(p: &Prepared) -> Result<Run, Refusal> {
    let settings = Settings { until: p.start.t, ..p.settings.clone() };
    p.machine.run_from(&p.start, p.scheme, settings, &mut Outside::default()).map_err(refused)
}

/// What the contacts do at the start.
fn at_start(run: &Run) -> Vec<[String; 3]> {
    let (point, names) = (&run.trajectory.start.point, &run.names.contacts);
    let row = |(k, name): (usize, &String)| {
        let unit = |key: &str| run.machine.model().unit(&format!("{name}.{key}")).to_string();
        let shown = |list: &[f64], key: &str| list.get(k).map(|x| quantity(*x, &unit(key)));
        let normal = shown(&point.normal, "normal").map_or(String::new(), |f| format!("normal {f}"));
        let gap = shown(&point.gap, "gap").map_or(String::new(), |g| format!("gap {g}"));
        let mode = point.modes.get(k).map_or("", |m| m.word());
        [name.clone(), mode.to_string(), format!("{gap}  {normal}")]
    };
    names.iter().enumerate().take(40).map(row).collect()
}

/// The model in words.
fn understood(p: &Prepared, start: &Run) -> String {
    let bold = Style::new().bold();
    let m = p.model();
    let mut out = format!("{bold}{}{bold:#}\n", m.name);
    if !m.about.is_empty() {
        out += &format!("  {}\n", m.about);
    }
    let dims = p.machine.system().dims();
    out += &format!(
        "  {} coordinates, {} bodies, {} forces, {} contacts, {} events, {} outputs\n",
        dims.q,
        m.bodies.len(),
        m.forces.len(),
        dims.contacts,
        m.events.len(),
        m.outputs.len()
    );
    let mut notes = String::new();
    let mut table = |title: &str, rows: Vec<[String; 3]>| {
        if rows.is_empty() {
            return;
        }
        let width = |k: usize| rows.iter().map(|r| r[k].chars().count()).max().unwrap_or(0);
        let (a, b) = (width(0), width(1));
        out += &format!("\n{bold}{title}{bold:#}\n");
        for [x, y, z] in &rows {
            let line = format!("  {x}{}  {y}{}  {z}", pad(x, a), pad(y, b));
            out += line.trim_end();
            out.push('\n');
        }
    };
    let parameters = m
        .parameters
        .iter()
        .map(|q| [q.name.clone(), quantity(q.value, m.unit(&q.name)), q.about.clone()])
        .collect();
    table("parameters", parameters);
    let coordinates = (0..m.coordinates.len())
        .map(|k| {
            let c = &m.coordinates[k];
            let solved = if c.guess { "solved for" } else { "" };
            [
                c.name.clone(),
                format!(
                    "{} = {}, {}' = {}",
                    c.name,
                    quantity(p.start.q[k], m.unit(&c.name)),
                    c.name,
                    quantity(p.start.u[k], m.unit(&format!("{}'", c.name)))
                ),
                solved.to_string(),
            ]
        })
        .map(|[_, start, solved]| [start, solved, String::new()])
        .collect();
    table("start", coordinates);
    table("contacts at the start", at_start(start));
    match start.trajectory.start.solutions.len() {
        0 if m.contacts.is_empty() => {}
        1 => {}
        n => {
            notes += &format!(
                "\nat the start the force problem has {n} solutions: specht explain several-solutions\n"
            )
        }
    }
    let states = p
        .names
        .states
        .iter()
        .zip(&p.start.z)
        .map(|(n, z)| [n.clone(), z.to_string(), String::new()])
        .collect();
    table("states", states);
    let bodies = m
        .bodies
        .iter()
        .map(|b| {
            let on = b.on.map_or("ground".to_string(), |k| m.bodies[k].name.clone());
            let features: Vec<&str> = b.features.iter().map(|f| f.name.as_str()).collect();
            [b.name.clone(), format!("on {on}"), features.join(", ")]
        })
        .collect();
    table("bodies", bodies);
    let contacts = m
        .contacts
        .iter()
        .map(|c| [c.name.clone(), kind(&c.law, &c.geometry), friction(&c.friction)])
        .collect();
    table("contacts", contacts);
    let tasks = m.tasks.iter().map(|t| [t.name.clone(), t.analyse.clone(), String::new()]).collect();
    table("tasks", tasks);
    if !m.cases.is_empty() {
        out += &format!("\n{bold}cases{bold:#}\n  {}\n", m.cases.join(", "));
    }
    out += &notes;
    out += &format!("\n{}: no errors\n", p.request.source.label);
    out += &next(p);
    out
}

/// What can be asked about this model.
fn next(p: &Prepared) -> String {
    let typed = p.request.source.typed();
    let mut out = format!("\nnext: specht run {typed}\n");
    if p.machine.system().contacts().iter().any(|c| c.friction && c.tangent.len() == 1) {
        out += &format!(
            "      specht analyse painleve {typed}        is the motion the only possible one? critical friction\n"
        );
        out += &format!("      specht analyse rest {typed}            does it stay where it is?\n");
        out += &format!("      specht analyse self-braking {typed}    which forces cannot move it?\n");
    }
    out
}

fn pad(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.chars().count()))
}

fn kind(law: &NormalLaw, geometry: &Geometry) -> String {
    let law = match law {
        NormalLaw::Unilateral => "unilateral",
        NormalLaw::Bilateral => "bilateral",
        NormalLaw::Elastic { .. } => "elastic",
        NormalLaw::Pin { radius: Some(_) } => "journal",
        NormalLaw::Pin { radius: None } => "pin",
        NormalLaw::Loaded { .. } => "loaded",
        NormalLaw::FrictionForce => "friction force given",
    };
    let how = match geometry {
        Geometry::Between(..) => ", between shapes",
        Geometry::Gap(_) => ", by formula",
        _ => "",
    };
    format!("{law}{how}")
}

fn friction(friction: &Option<Friction>) -> String {
    match friction {
        None => "no friction".into(),
        Some(f) if f.tensor.is_some() => "friction tensor".into(),
        Some(f) if f.sliding == f.sticking => "friction".into(),
        Some(_) => "friction, static and sliding".into(),
    }
}
