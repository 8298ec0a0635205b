//! `specht map MODEL`: a result over two parameters, with borders.

use super::sweep::{beyond, command, machine, watched};
use crate::args::MapArgs;
use crate::diagnostics::refused;
use crate::outcome::{Exit, Outcome};
use crate::output;
use crate::progress::interrupted;
use crate::report::many::{Lines, View, drawn, page};
use crate::text::{print, tell};
use crate::words::short;
use serde_json::json;

use specht::machine::sweep::{Distance, How, MapTask, Mapped, Plan, Span, Sweep};

/// Map.
pub fn run(args: &MapArgs) -> Outcome {
    let (request, machine) = machine(&args.model, &args.many)?;
    let axes = args.over.iter().map(|text| Span::read(text)).collect::<Result<_, _>>().map_err(refused)?;
    let plan = Plan { axes, ..Plan::default() };
    beyond(&machine, &plan);
    let sweep = Sweep { plan, record: vec![args.record.clone()], diagram: None };
    let task = MapTask { sweep, levels: args.level.clone(), fine: args.fine };
    let how = How { jobs: args.many.jobs, ..How::default() };
    let name = machine.model().name.clone();
    let folder = output::folder(args.out.as_deref(), &format!("{}-map", request.source.name));
    let files = !args.many.json || args.out.is_some();
    let log = folder.join("map.log");
    if files {
        output::claim(&log)?;
    }
    let map = watched(&name, how, |how| match files {
        true => task.run_logged(&machine, how, &log, args.resume),
        false => task.run(&machine, how),
    })?;
    let sweep = &task.sweep;
    let rows: Vec<_> =
        (0..map.rows.len()).filter(|&k| map.rows.is_done(k)).map(|k| sweep.row_json(&map.rows, k)).collect();
    let result = json!({
        "program": output::MADE_BY, "version": env!("CARGO_PKG_VERSION"), "model": name,
        "sweep": sweep, "levels": task.levels, "columns": sweep.columns(),
        "complete": map.rows.count_done() == map.rows.len() && !interrupted(),
        "failed": map.rows.count_failed(), "classes": map.classes, "borders": map.borders,
        "nominal": map.nominal, "distance": map.distance, "rows": rows,
    });
    let text = format!("{}\n", serde_json::to_string_pretty(&result).unwrap_or_default());
    let said = said(&map);
    if files {
        output::write(&folder.join("map.json"), &text)?;
        let command = command(&request);
        let view = View::new(&name, &command, sweep, &map.rows);
        let lines = Lines {
            borders: map.borders.iter().map(|b| b.points.clone()).collect(),
            nominal: Some(map.nominal).filter(|p| inside(sweep, *p)),
        };
        if let Some(svg) = drawn(&view, &lines) {
            output::write(&folder.join("map.svg"), &svg)?;
        }
        output::write(&folder.join("map.html"), &page(&view, Some((&lines, in_one_line(&said)))))?;
    }
    if args.many.json {
        print(&text)?;
    } else {
        print(&format!(
            "{name}  {} over {}\n{said}",
            args.record,
            sweep.plan.parameters().collect::<Vec<_>>().join(", ")
        ))?;
        print(&format!("  page    {}\n", folder.join("map.html").display()))?;
    }
    if args.many.open && files {
        output::open(&folder.join("map.html"));
    }
    // what is whole need not be gone on with
    if files && !interrupted() {
        let _ = std::fs::remove_file(&log);
    }
    if interrupted() {
        tell("interrupted: the map holds what was done until then; --resume goes on");
        return Ok(Exit::Stopped);
    }
    Ok(Exit::Done)
}

/// Whether a point lies in the frame.
fn inside(sweep: &Sweep, p: [f64; 2]) -> bool {
    sweep.plan.axes.iter().zip(p).all(|(axis, v)| {
        let (a, b) = (axis.value(0), axis.value(axis.count() - 1));
        (a.min(b)..=a.max(b)).contains(&v)
    })
}

fn said(map: &Mapped) -> String {
    let mut out = String::new();
    let failed = map.rows.count_failed();
    if failed > 0 {
        let first = (0..map.rows.len()).find_map(|k| map.rows.error(k)).unwrap_or_default();
        out += &format!("  {failed} points with something missing; the first: {first}\n");
    }
    for (class, count) in map.classes.iter() {
        out += &format!("  {class}: {count} of {} points\n", map.rows.len());
    }
    if map.borders.is_empty() {
        out += "  no borders: name levels of the number with --level, or record a condition\n";
    }
    if let Some(Distance { class, percent, at, beyond, alone }) = &map.distance {
        let place: Vec<String> = at.iter().map(|(n, v)| format!("{n} = {}", short(*v))).collect();
        out += &format!(
            "  the nominal point ({class}) is {} % from the nearest border, at {}; beyond: {beyond}\n",
            short(*percent),
            place.join(", ")
        );
        for (name, found) in alone.iter() {
            out += &match found {
                Some(a) => {
                    format!("    {name} alone: {:+.4} % ({}), then {}\n", a.percent, short(a.value), a.beyond)
                }
                None => format!("    {name} alone: no border on its axis\n"),
            };
        }
    }
    out
}

/// The lines as sentences of one paragraph.
fn in_one_line(said: &str) -> String {
    said.lines().map(str::trim).filter(|l| !l.is_empty()).map(|l| format!("{l}. ")).collect()
}
