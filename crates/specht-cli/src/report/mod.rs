//! The report page: one self-contained HTML file. Page and scripts are in `web/`; the data are put into it here.

mod chart;
mod domains;
pub mod envelope;
mod fit;
mod gif;
pub mod many;
mod picture;
mod plane;
mod polyline;
mod roses;
mod svg;
mod vibration;

use crate::commands::compare::Compared;
use crate::session::Finished;
use serde_json::{Map, Value as Json, json};
use specht::machine::json::Num;
use specht::machine::scene::{DrawTrack, Prim, Scene, SpaceScene};
use specht::machine::{Curve, Names, Plotted, Run};
use specht::model::Input;
use specht::sim::{ENERGY_BOUND, FORCE_BOUND, IMPACT_BOUND, Kind, LENGTH_BOUND, STEP_BOUND, Sample, Scheme};

pub use fit::page as fit_page;
pub use gif::gif;
pub use picture::picture;
use svg::escape;
pub use svg::finding;

const PAGE: &str = include_str!("../../../../web/report.html");
const STYLE: &str = include_str!("../../../../web/report.css");
const SCRIPTS: [&str; 6] = [
    include_str!("../../../../web/core.js"),
    include_str!("../../../../web/plot.js"),
    include_str!("../../../../web/scene.js"),
    include_str!("../../../../web/space.js"),
    include_str!("../../../../web/solid.js"),
    include_str!("../../../../web/page.js"),
];

const COMPARE: &str = include_str!("../../../../web/compare.js");

/// Numbers embedded in one page at most; longer series are thinned, keeping their extremes.
const NUMBERS: usize = 1_200_000;
/// Events listed in the page at most.
const EVENTS: usize = 5_000;
/// Changes of mode of one contact in the page at most.
const MODES: usize = 4_000;
/// Points of one plot of the file at most.
const POINTS: usize = 20_000;

/// The page as text.
pub fn html(run: &Finished) -> String {
    whole(&run.model().name, &data(run), &SCRIPTS)
}

fn whole(title: &str, data: &Json, scripts: &[&str]) -> String {
    // in JSON `<` stands in texts only; without `</` and `<!` nothing in them can end the element or open a comment in it
    let data = data.to_string().replace("</", "\\u003c/").replace("<!", "\\u003c!");
    let scripts: Vec<String> = scripts.iter().map(|s| s.replacen("\"use strict\";\n", "", 1)).collect();
    let script = format!("\"use strict\";\n{}", scripts.join("\n"));
    let parts = [
        ("{{TITLE}}", escape(title)),
        ("{{CSS}}", STYLE.to_string()),
        ("{{DATA}}", data),
        ("{{JS}}", script),
    ];
    fill(PAGE, &parts)
}

/// The page of a comparison.
pub fn comparison(all: &[Compared]) -> String {
    let title = all.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", ");
    let ends =
        |pick: fn(f64, f64) -> f64, start: f64| all.iter().flat_map(|r| &r.t).copied().fold(start, pick);
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for (name, unit, _) in all.iter().flat_map(|r| &r.columns) {
        if !groups.iter().any(|g| g.0 == name) {
            groups.push((name, unit));
        }
    }
    // what several have comes first
    let shared = |name: &str| all.iter().filter(|r| r.columns.iter().any(|c| c.0 == name)).count();
    groups.sort_by_key(|g| std::cmp::Reverse(shared(g.0)));
    let limit = (NUMBERS / all.iter().map(|r| r.columns.len()).sum::<usize>().max(1)).clamp(2_000, 40_000);
    let mut list = Vec::new();
    for run in all {
        for (name, unit, y) in &run.columns {
            let kept = if y.len() > limit { thin(y, limit) } else { (0..y.len()).collect() };
            let pick = |list: &[f64]| kept.iter().map(|k| list[*k]).collect::<Vec<f64>>();
            list.push(json!({ "name": run.name, "group": name, "unit": unit, "t": f64s(&pick(&run.t)), "y": f32s(&pick(y)) }));
        }
    }
    let data = json!({
        "title": title,
        "runs": all.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(),
        "span": [ends(f64::min, f64::INFINITY), ends(f64::max, f64::NEG_INFINITY)],
        "groups": groups,
        "series": { "t": "", "columns": list, "modes": [] },
        "run": { "events": [] },
    });
    whole(&title, &data, &[SCRIPTS[0], SCRIPTS[1], COMPARE])
}

/// The template with its places filled in their order; what is put in is not looked at again.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), template);
    for (place, text) in parts {
        let Some((before, after)) = rest.split_once(place) else { continue };
        out += before;
        out += text;
        rest = after;
    }
    out + rest
}

fn data(run: &Finished) -> Json {
    let samples = &run.trajectory().samples;
    let mut about = Map::new();
    for p in &run.model().parameters {
        about.insert(p.name.clone(), json!(p.about));
    }
    let times = samples.times();
    let span = [times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0)];
    json!({
        "title": run.model().name,
        "about": run.model().about,
        "source": run.model().source,
        "about_parameters": about,
        "units": run.model().units,
        "changed": run.run.machine.options.set.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>(),
        "span": span,
        "run": page_run(run),
        "pictures": run.pictures.iter().cloned().collect::<std::collections::BTreeMap<String, String>>(),
        "pages": pages(run),
        "series": series(run),
        "plots": plots(&run.run),
        "scene": (!run.model().is_spatial()).then(|| run.run.scene().map(|s| scene_json(&s))).flatten(),
        "space": run.run.space_scene().map(|s| space_json(&s)),
    })
}

/// The pages that the findings of this run point to, by topic.
fn pages(run: &Finished) -> Json {
    let mut topics: Vec<&str> = Vec::new();
    let findings = run.json["findings"].as_object().into_iter().flatten();
    topics.extend(findings.filter_map(|(_, f)| f["explain"].as_str()));
    for event in &run.trajectory().events {
        topics.extend(match event.kind {
            Kind::Finding => Some("several-solutions"),
            Kind::TangentialImpact | Kind::Seizure => Some("tangential-impact"),
            _ => None,
        });
    }
    let start = &run.trajectory().start;
    match start.solutions.len() {
        0 => topics.push("tangential-impact"),
        1 if start.family.is_none() => {}
        _ => topics.push("several-solutions"),
    }
    let page = |topic: &str| crate::embedded::EXPLAIN.iter().find(|p| p.0 == topic).map(|p| p.1);
    Json::Object(topics.iter().filter_map(|t| page(t).map(|text| (t.to_string(), json!(text)))).collect())
}

/// `run.json` for the page: without the states of every event, and with the audit as lines.
fn page_run(run: &Finished) -> Json {
    let mut out = run.json.clone();
    if let Some(Json::Array(events)) = out.get_mut("events") {
        events.truncate(EVENTS);
        for event in events {
            if let Json::Object(event) = event {
                for key in ["before", "after", "modes_before", "impulse_t", "loss", "alternatives"] {
                    event.remove(key);
                }
            }
        }
    }
    let a = &run.trajectory().audit;
    let (length, energy) =
        if run.run.scheme == Scheme::Step { (STEP_BOUND, STEP_BOUND) } else { (LENGTH_BOUND, ENERGY_BOUND) };
    let mut lines = vec![
        ("complementarity", a.complementarity, FORCE_BOUND, "pulling or distant contact forces, scaled"),
        ("cone", a.cone, FORCE_BOUND, "friction outside its bound, scaled"),
        ("impact", a.impact, IMPACT_BOUND, "laws of impact and balance of momentum, scaled"),
        ("penetration", a.penetration, length, "deepest overlap, scaled"),
        ("drift", a.drift, length, "guides, pins and closed contacts off their place, scaled"),
        ("energy", a.energy, energy + a.explained, "closing error of the ledger, scaled"),
    ];
    if run.run.scheme == Scheme::Step {
        lines.push(("created", a.created, STEP_BOUND, "energy given by friction and impacts, scaled"));
    }
    if let Some(error) = a.step_error {
        lines.push(("step", error, STEP_BOUND, "error of the end state by runs with longer steps, scaled"));
    }
    let lines: Vec<Json> = lines
        .iter()
        .map(|(name, value, limit, about)| {
            json!({ "name": name, "value": json!(Num(*value)), "limit": json!(Num(*limit)),
                    "passed": value <= limit, "about": about })
        })
        .collect();
    out["audit"]["lines"] = Json::Array(lines);
    out
}

/// Columns of the page: names with their groups, in the order of [`values`].
pub fn columns(names: &Names) -> Vec<(String, &'static str)> {
    let plain = |list: &[String], group: &'static str| -> Vec<(String, &'static str)> {
        list.iter().map(|n| (n.clone(), group)).collect()
    };
    let mut out: Vec<(String, &'static str)> = names.positions().map(|n| (n, "coordinate")).collect();
    out.extend(names.velocities().map(|n| (n, "velocity")));
    out.extend(plain(&names.states, "state"));
    out.extend(plain(&names.memory, "memory"));
    out.extend(plain(&names.outputs, "output"));
    for key in ["normal", "tangential", "gap", "slip"] {
        for (name, second) in names.contacts.iter().zip(&names.second) {
            // vectors in space: size and components
            match (key, second) {
                ("tangential" | "slip", Some(_)) => {
                    let size = if key == "slip" { "speed" } else { "friction" };
                    out.push((format!("{name}.{size}"), key));
                    out.extend([1, 2].map(|k| (format!("{name}.{key}[{k}]"), key)));
                }
                _ => out.push((format!("{name}.{key}"), key)),
            }
        }
    }
    let energies = ["kinetic", "potential", "friction", "impact", "external", "drive"];
    out.extend(energies.map(|n| (n.to_string(), "energy")));
    out
}

/// Their values in a row; what is plotted comes after the outputs.
pub fn values(row: &Sample<'_>, names: &Names, out: &mut Vec<f64>) {
    let shown = &row.outputs[..names.outputs.len()];
    [row.q, row.u, row.z, row.memory, shown, row.normal].iter().for_each(|list| out.extend_from_slice(list));
    let both = |first: &[f64], rows: &[f64], out: &mut Vec<f64>| {
        for (value, second) in first.iter().zip(&names.second) {
            match second {
                None => out.push(*value),
                Some(r) => out.extend([value.hypot(rows[*r]), *value, rows[*r]]),
            }
        }
    };
    both(row.tangential, row.lambda, out);
    out.extend_from_slice(row.gap);
    both(row.slip, row.rates, out);
    out.extend_from_slice(row.energy.get(..6).unwrap_or(&[]));
}

/// All recorded columns and the modes as runs. A run that was too long for memory shows the least and largest values of equal parts of
/// its time.
fn series(run: &Finished) -> Json {
    let (samples, names, model) = (&run.trajectory().samples, run.names(), run.model());
    let all = columns(names);
    let limit = (NUMBERS / all.len().max(1)).clamp(2_000, 200_000);
    let t = samples.times();
    let unit = |name: &str, group: &str| if group == "energy" { "J" } else { model.unit(name) }.to_string();
    let thinned = run.stream.as_ref().filter(|s| s.rows > t.len());
    let mut list: Vec<Json> = Vec::new();
    let shared = match thinned {
        Some(stream) => {
            let times = stream.envelope.times();
            for (k, (name, group)) in all.iter().enumerate() {
                let y = stream.envelope.column(k);
                list.push(column(name, group, &unit(name, group), &times, &y, usize::MAX));
            }
            times
        }
        None => {
            let mut rows = vec![Vec::with_capacity(t.len()); all.len()];
            let mut one = Vec::new();
            for row in samples.rows() {
                one.clear();
                values(&row, names, &mut one);
                rows.iter_mut().zip(&one).for_each(|(list, v)| list.push(*v));
            }
            for ((name, group), y) in all.iter().zip(&rows) {
                list.push(column(name, group, &unit(name, group), t, y, limit));
            }
            if t.len() > limit { Vec::new() } else { t.to_vec() }
        }
    };
    let modes: Vec<Json> = (0..names.contacts.len()).map(|k| modes(run, k)).collect();
    json!({ "t": f64s(&shared), "columns": list, "modes": modes, "thinned": thinned.map(|s| s.rows) })
}

/// The modes of a contact as runs; of too many the one at equal instants.
fn modes(run: &Finished, k: usize) -> Json {
    let samples = &run.trajectory().samples;
    let mut runs: Vec<(f64, i32)> = Vec::new();
    for row in samples.rows() {
        let code = Input::mode_number(row.modes[k]) as i32;
        if runs.last().is_none_or(|(_, last)| *last != code) {
            runs.push((row.t, code));
        }
    }
    if runs.len() > MODES {
        let (from, to) = (runs[0].0, samples.times().last().copied().unwrap_or(0.0));
        let all = std::mem::take(&mut runs);
        for n in 0..MODES {
            let t = from + (to - from) * n as f64 / MODES as f64;
            let code = all[all.partition_point(|r| r.0 <= t).max(1) - 1].1;
            if runs.last().is_none_or(|(_, last)| *last != code) {
                runs.push((t, code));
            }
        }
    }
    json!({ "contact": run.names().contacts[k], "runs": runs })
}

/// A column; constant ones as a number, long ones thinned to the extremes of equal parts.
fn column(name: &str, group: &str, unit: &str, t: &[f64], y: &[f64], limit: usize) -> Json {
    let constant = y.first().is_some_and(|first| y.iter().all(|v| v.to_bits() == first.to_bits()));
    if y.len() <= limit {
        return if constant {
            json!({ "name": name, "group": group, "unit": unit, "constant": json!(Num(y[0])) })
        } else {
            json!({ "name": name, "group": group, "unit": unit, "y": f32s(y) })
        };
    }
    let kept = thin(y, limit);
    let times: Vec<f64> = kept.iter().map(|k| t[*k]).collect();
    let values: Vec<f64> = kept.iter().map(|k| y[*k]).collect();
    json!({ "name": name, "group": group, "unit": unit, "t": f64s(&times), "y": f32s(&values) })
}

/// Indices of the first, smallest, largest and last value of equal parts, in order.
fn thin(y: &[f64], limit: usize) -> Vec<usize> {
    let parts = (limit / 4).max(1);
    let mut kept = Vec::with_capacity(limit);
    for p in 0..parts {
        let (from, to) = (p * y.len() / parts, (p + 1) * y.len() / parts);
        if from == to {
            continue;
        }
        let least = (from..to).min_by(|a, b| y[*a].total_cmp(&y[*b])).unwrap_or(from);
        let most = (from..to).max_by(|a, b| y[*a].total_cmp(&y[*b])).unwrap_or(from);
        let mut four = [from, least, most, to - 1];
        four.sort_unstable();
        for k in four {
            if kept.last() != Some(&k) {
                kept.push(k);
            }
        }
    }
    kept
}

/// The plots that the file asks for.
fn plots(run: &Run) -> Json {
    let model = run.machine.model();
    let one = |plot: &Plotted| {
        let title = plot.y.iter().map(|y| y.name.as_str()).collect::<Vec<_>>().join(", ");
        let title = plot.x.as_ref().map_or(title.clone(), |x| format!("{title} over {}", x.name));
        let t = run.times();
        let mut kept: Vec<usize> = (0..t.len()).collect();
        if kept.len() > POINTS {
            kept = plot.y.iter().flat_map(|c| thin(&c.values, POINTS / plot.y.len().max(1))).collect();
            kept.sort_unstable();
            kept.dedup();
        }
        let pick = |list: &[f64]| kept.iter().map(|k| list[*k]).collect::<Vec<f64>>();
        let curve =
            |c: &Curve| json!({ "name": c.name, "unit": model.unit(&c.name), "y": f32s(&pick(&c.values)) });
        let y: Vec<Json> = plot.y.iter().map(curve).collect();
        json!({ "title": title, "x": plot.x.as_ref().map(curve), "y": y, "t": f64s(&pick(t)) })
    };
    run.plots().iter().map(one).collect()
}

fn scene_json(s: &Scene) -> Json {
    let x = |list: &[[f64; 2]]| track(list.iter().map(|p| p[0]));
    let y = |list: &[[f64; 2]]| track(list.iter().map(|p| p[1]));
    let bodies: Vec<Json> = s
        .bodies
        .iter()
        .map(|b| {
            json!({
                "name": b.name,
                "x": track(b.places.iter().map(|p| p.at[0])),
                "y": track(b.places.iter().map(|p| p.at[1])),
                "a": track(b.places.iter().map(|p| p.angle)),
                "shapes": b.shapes.iter().map(prim).collect::<Vec<_>>(),
                "bones": b.bones,
            })
        })
        .collect();
    let contacts: Vec<Json> = s
        .contacts
        .iter()
        .map(|c| json!({ "name": c.name, "x": x(&c.at), "y": y(&c.at), "nx": x(&c.normal), "ny": y(&c.normal) }))
        .collect();
    let springs: Vec<Json> = s
        .springs
        .iter()
        .map(|e| json!({ "x0": x(&e[0]), "y0": y(&e[0]), "x1": x(&e[1]), "y1": y(&e[1]) }))
        .collect();
    let draws: Vec<Json> = s
        .draws
        .iter()
        .map(|d| match d {
            DrawTrack::Path(list) => {
                let count = list.first().map_or(0, Vec::len);
                let point = |k: usize| json!({ "x": track(list.iter().map(|f| f[k][0])), "y": track(list.iter().map(|f| f[k][1])) });
                json!({ "points": (0..count).map(point).collect::<Vec<_>>(), "moves": d.moves() })
            }
            DrawTrack::Circle(list) => json!({
                "x": track(list.iter().map(|c| c[0])), "y": track(list.iter().map(|c| c[1])), "r": track(list.iter().map(|c| c[2])),
            }),
        })
        .collect();
    let size = (s.near[2] - s.near[0]).max(s.near[3] - s.near[1]);
    json!({
        "t": f64s(&s.t), "up": s.up, "scheme": s.scheme, "follow": s.follow, "size": size, "bounds": s.bounds, "near": s.near,
        "ground": s.ground.iter().map(prim).collect::<Vec<_>>(),
        "bodies": bodies, "contacts": contacts, "springs": springs, "draws": draws,
    })
}

fn space_json(s: &SpaceScene) -> Json {
    let three = |list: &[[f64; 3]]| [0, 1, 2].map(|k| track(list.iter().map(|p| p[k])));
    let bodies: Vec<Json> = (s.bodies.iter())
        .map(|b| {
            let place: Vec<Json> = (0..12).map(|k| track(b.places.iter().map(|p| p[k]))).collect();
            json!({ "name": b.name, "place": place, "lines": b.lines, "faces": b.faces, "balls": b.balls, "links": b.links })
        })
        .collect();
    let contacts: Vec<Json> = (s.contacts.iter())
        .map(|c| json!({ "name": c.name, "at": three(&c.at), "force": three(&c.force), "normal": three(&c.normal), "mu": track(c.mu.iter().copied()) }))
        .collect();
    json!({
        "t": f64s(&s.t), "middle": s.middle, "size": s.size, "half": s.half, "up": s.up, "ground": s.ground,
        "groundFaces": s.ground_faces, "groundBalls": s.ground_balls, "planes": s.planes, "bodies": bodies, "contacts": contacts,
    })
}

fn prim(p: &Prim) -> Json {
    match p {
        Prim::Point(p) => json!({ "k": "point", "x": p[0], "y": p[1] }),
        Prim::Flat(p, n) => json!({ "k": "flat", "x": p[0], "y": p[1], "nx": n[0], "ny": n[1] }),
        Prim::Round(c, r, hole) => json!({ "k": "round", "x": c[0], "y": c[1], "r": r, "hole": hole }),
        Prim::Path(points, closed) => {
            json!({ "k": "path", "p": points.iter().flatten().collect::<Vec<_>>(), "closed": closed })
        }
        Prim::Block(w, h) => json!({ "k": "block", "size": w, "tall": h }),
        Prim::Disc(d) => json!({ "k": "disc", "size": d }),
        Prim::Bar(l) => json!({ "k": "bar", "size": l }),
        Prim::Dot => json!({ "k": "dot" }),
    }
}

/// A value per frame; one number when it never changes.
fn track(values: impl Iterator<Item = f64>) -> Json {
    let list: Vec<f64> = values.collect();
    match list.first() {
        Some(first) if first.is_finite() && list.iter().all(|v| v == first) => json!(first),
        _ => json!(f32s(&list)),
    }
}

fn f32s(values: &[f64]) -> String {
    base64(values.iter().flat_map(|v| (*v as f32).to_le_bytes()))
}

fn f64s(values: &[f64]) -> String {
    base64(values.iter().flat_map(|v| v.to_le_bytes()))
}

/// Base64 with padding (RFC 4648).
fn base64(bytes: impl Iterator<Item = u8>) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    let mut bytes = bytes.fuse();
    while let Some(first) = bytes.next() {
        let (second, third) = (bytes.next(), bytes.next());
        let word =
            u32::from(first) << 16 | u32::from(second.unwrap_or(0)) << 8 | u32::from(third.unwrap_or(0));
        let letter = |k: u32| LETTERS[(word >> (18 - 6 * k) & 63) as usize] as char;
        out.push(letter(0));
        out.push(letter(1));
        out.push(if second.is_some() { letter(2) } else { '=' });
        out.push(if third.is_some() { letter(3) } else { '=' });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_agrees_with_the_examples_of_rfc_4648() {
        for (text, code) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(text.bytes()), code);
        }
    }

    #[test]
    fn thinning_keeps_the_extremes_and_the_order() {
        let y: Vec<f64> =
            (0..100_000).map(|k| if k == 54_321 { 9.0 } else { (k as f64 * 0.01).sin() }).collect();
        let kept = thin(&y, 4_000);
        assert!(kept.len() <= 4_000 && kept.windows(2).all(|w| w[0] < w[1]));
        assert!(kept.contains(&54_321) && kept.contains(&0) && kept.contains(&99_999));
    }
}
