//! Curves, maps and runs as SVG: domains coloured by verdict, borders drawn where they were located.
//!
//! Text only, no fonts or scripts, readable on white and on dark pages; about 100 kB for a 400 × 400 map, because equal
//! neighbours in a row become one rectangle.

use std::fmt::Write;

use super::svg::{escape, titled};
use specht::analysis::BorderKind as Kind;
use specht::analysis::Verdict;
use specht::analysis::{Along, Meeting};
use specht::analysis::{Axis, Map, Sample};

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 150.0;
const BOTTOM: f64 = 50.0;

/// The picture of a curve or map.
pub fn svg(map: &Map, title: &str) -> String {
    let mut out = titled(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, LEFT, title);
    if map.axes.len() == 2 {
        cells(map, &mut out);
        lines(map, &mut out);
        axis_x(&map.axes[0], &mut out);
        axis_y(&map.axes[1].name, map.axes[1].from, map.axes[1].to, &mut out);
    } else {
        curve(map, &mut out);
    }
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#333\"/>"
    );
    legend(map, &mut out);
    out.push_str("</svg>\n");
    out
}

/// The picture of the finding along a run: μ/μ_c of every contact over time, 1 is the border.
pub fn along_svg(along: &Along, contacts: &[String], title: &str) -> String {
    let mut out = titled(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, LEFT, title);
    let from = along.spans.first().map_or(0.0, |s| s.from);
    let to = along.spans.last().map_or(1.0, |s| s.to);
    let to = if to > from { to } else { from + 1.0 };
    let x = |t: f64| LEFT + WIDTH * (t - from) / (to - from);
    for s in &along.spans {
        let _ = writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{TOP}\" width=\"{:.2}\" height=\"{HEIGHT}\" fill=\"{}\"/>",
            x(s.from),
            (x(s.to) - x(s.from)).max(1.0).min(LEFT + WIDTH - x(s.from)).max(0.0),
            shade(s.verdict)
        );
    }
    // μ/μ_c, one line per contact
    let mut names: Vec<usize> = along.meetings.iter().flat_map(|m| m.contacts.iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let ratio = |m: &Meeting, c: usize| {
        let k = m.contacts.iter().position(|&x| x == c)?;
        Some(m.mu[k] / m.critical_mu[k]).filter(|v| v.is_finite())
    };
    let all = names.iter().flat_map(|&c| along.meetings.iter().filter_map(move |m| ratio(m, c)));
    let mut sizes: Vec<f64> = all.collect();
    sizes.sort_by(f64::total_cmp);
    let typical = sizes.get(sizes.len() * 9 / 10).copied().unwrap_or(1.0);
    let top = (1.1 * sizes.last().copied().unwrap_or(1.0)).min(4.0 * typical).max(1.2);
    let y = |v: f64| TOP + HEIGHT * (1.0 - (v / top).clamp(0.0, 1.0));
    let colours = ["#222", "#1d4f91", "#7a1f12", "#0c6b58", "#6a3d9a", "#8a5a00"];
    let far = 2.0 * (to - from) / along.meetings.len().max(1) as f64;
    for (k, &c) in names.iter().enumerate() {
        let (mut line, mut last) = (String::new(), f64::NAN);
        for m in &along.meetings {
            let here = ratio(m, c);
            if here.is_none() || m.t - last > far.max(1e-2 * (to - from)) {
                polyline(&mut line, colours[k % colours.len()], &mut out);
            }
            if let Some(v) = here {
                let _ = write!(line, "{:.2},{:.2} ", x(m.t), y(v));
                last = m.t;
            }
        }
        polyline(&mut line, colours[k % colours.len()], &mut out);
        let at = TOP + 180.0 + 22.0 * k as f64;
        if k < 12 {
            let name = contacts.get(c).map_or("", String::as_str);
            let _ = writeln!(
                out,
                "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2}\" y2=\"{2}\" stroke=\"{3}\" stroke-width=\"2\"/>\
                 <text x=\"{4}\" y=\"{5}\">{6}</text>",
                LEFT + WIDTH + 16.0,
                LEFT + WIDTH + 30.0,
                at - 5.0,
                colours[k % colours.len()],
                LEFT + WIDTH + 38.0,
                at,
                escape(name)
            );
        }
    }
    let _ = writeln!(
        out,
        "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{2:.2}\" y2=\"{2:.2}\" stroke=\"{1}\" stroke-dasharray=\"2 3\"/>",
        LEFT + WIDTH,
        stroke(Kind::Index),
        y(1.0)
    );
    for b in &along.borders {
        let _ = writeln!(
            out,
            "<line x1=\"{0:.2}\" x2=\"{0:.2}\" y1=\"{TOP}\" y2=\"{1}\" stroke=\"{2}\" stroke-width=\"1.4\" stroke-dasharray=\"5 3\"/>",
            x(b.t),
            TOP + HEIGHT,
            stroke(b.kind)
        );
    }
    axis_x(&Axis { name: "t, s".into(), from, to, count: 2 }, &mut out);
    axis_y("\u{3bc}/\u{3bc}_c", 0.0, top, &mut out);
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#333\"/>"
    );
    along_legend(along, &mut out);
    out.push_str("</svg>\n");
    out
}

/// What the colours and the dashed lines mean.
fn along_legend(along: &Along, out: &mut String) {
    let mut at = TOP + 14.0;
    for v in [Some(Verdict::Unique), Some(Verdict::Several), Some(Verdict::None), Some(Verdict::Family), None]
    {
        if along.spans.iter().any(|s| s.verdict == v) {
            let text = if v.is_none() { "no pair closed" } else { words(v) };
            swatch(shade(v), text, at, out);
            at += 22.0;
        }
    }
    for (kind, text) in [(Kind::Index, "\u{3bc} = \u{3bc}_c"), (Kind::Frictionless, "R\u{2070} = 0")] {
        if along.borders.iter().any(|b| b.kind == kind) {
            let x = LEFT + WIDTH + 16.0;
            let _ = writeln!(
                out,
                "<line x1=\"{x}\" x2=\"{0}\" y1=\"{1}\" y2=\"{1}\" stroke=\"{2}\" stroke-width=\"2\" stroke-dasharray=\"5 3\"/>\
                 <text x=\"{3}\" y=\"{at}\">{text}</text>",
                x + 14.0,
                at - 5.0,
                stroke(kind),
                x + 22.0
            );
            at += 22.0;
        }
    }
}

fn polyline(line: &mut String, colour: &str, out: &mut String) {
    if !line.is_empty() {
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
            line.trim_end()
        );
        line.clear();
    }
}

fn swatch(colour: &str, text: &str, y: f64, out: &mut String) {
    let x = LEFT + WIDTH + 16.0;
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{colour}\" stroke=\"#555\"/>\
         <text x=\"{}\" y=\"{y}\">{text}</text>",
        y - 12.0,
        x + 22.0,
    );
}

fn colour(s: Option<&Sample>) -> &'static str {
    shade(s.map(|s| s.class.verdict))
}

fn shade(v: Option<Verdict>) -> &'static str {
    match v {
        Some(Verdict::Unique) => "#dcebd7",
        Some(Verdict::Several) => "#f5cf7d",
        Some(Verdict::None) => "#e58d80",
        Some(Verdict::Family) => "#b9a5dd",
        None => "#e6e6e6",
    }
}

fn words(v: Option<Verdict>) -> &'static str {
    match v {
        Some(Verdict::Unique) => "one solution",
        Some(Verdict::Several) => "several",
        Some(Verdict::None) => "none",
        Some(Verdict::Family) => "a continuum",
        None => "undefined",
    }
}

fn stroke(kind: Kind) -> &'static str {
    match kind {
        Kind::Index => "#7a1f12",
        Kind::Frictionless => "#1d4f91",
    }
}

// one rectangle per run of equal colours in a row
fn cells(map: &Map, out: &mut String) {
    let (columns, rows) = (map.axes[0].count, map.axes[1].count);
    let (dx, dy) = (WIDTH / (columns - 1) as f64, HEIGHT / (rows - 1) as f64);
    let clip = |v: f64, size: f64| v.clamp(0.0, size);
    out.push_str("<g shape-rendering=\"crispEdges\">\n");
    for j in 0..rows {
        let row = &map.grid[j * columns..(j + 1) * columns];
        let (y0, y1) = (clip((j as f64 - 0.5) * dy, HEIGHT), clip((j as f64 + 0.5) * dy, HEIGHT));
        let mut i = 0;
        while i < columns {
            let c = colour(row[i].as_ref());
            let end = (i..columns).find(|&k| colour(row[k].as_ref()) != c).unwrap_or(columns);
            let (x0, x1) = (clip((i as f64 - 0.5) * dx, WIDTH), clip((end as f64 - 0.5) * dx, WIDTH));
            let _ = writeln!(
                out,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{c}\"/>",
                LEFT + x0,
                TOP + HEIGHT - y1,
                x1 - x0,
                y1 - y0
            );
            i = end;
        }
    }
    out.push_str("</g>\n");
}

fn lines(map: &Map, out: &mut String) {
    let (a, b) = (&map.axes[0], &map.axes[1]);
    for border in &map.borders {
        let points: Vec<String> = border
            .points
            .iter()
            .map(|p| {
                let x = LEFT + WIDTH * (p[0] - a.from) / (a.to - a.from);
                let y = TOP + HEIGHT * (1.0 - (p[1] - b.from) / (b.to - b.from));
                format!("{x:.2},{y:.2}")
            })
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>",
            points.join(" "),
            stroke(border.kind)
        );
    }
    for j in &map.junctions {
        let x = LEFT + WIDTH * (j.at[0] - a.from) / (a.to - a.from);
        let y = TOP + HEIGHT * (1.0 - (j.at[1] - b.from) / (b.to - b.from));
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"3.2\" fill=\"#fff\" stroke=\"#222\" stroke-width=\"1.4\"/>"
        );
    }
}

// |L| over the parameter, the verdict as coloured background
fn curve(map: &Map, out: &mut String) {
    let a = &map.axes[0];
    let n = a.count;
    let dx = WIDTH / (n - 1) as f64;
    let mut i = 0;
    while i < n {
        let c = colour(map.grid[i].as_ref());
        let end = (i..n).find(|&k| colour(map.grid[k].as_ref()) != c).unwrap_or(n);
        let (x0, x1) = (((i as f64 - 0.5) * dx).max(0.0), ((end as f64 - 0.5) * dx).min(WIDTH));
        let _ = writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{TOP}\" width=\"{:.2}\" height=\"{HEIGHT}\" fill=\"{c}\"/>",
            LEFT + x0,
            x1 - x0
        );
        i = end;
    }
    // a pole must not flatten the rest
    let mut sizes: Vec<f64> =
        map.grid.iter().flatten().map(|s| s.index.abs()).filter(|v| v.is_finite()).collect();
    sizes.sort_by(f64::total_cmp);
    let typical = sizes.get(sizes.len() * 9 / 10).copied().unwrap_or(1.0);
    let top = (1.1 * sizes.last().copied().unwrap_or(1.0)).min(4.0 * typical).max(1e-12);
    let mut line = String::new();
    for (i, s) in map.grid.iter().enumerate() {
        match s.map(|s| s.index.abs()).filter(|v| v.is_finite()) {
            Some(v) => {
                let y = TOP + HEIGHT * (1.0 - (v / top).min(1.0));
                let _ = write!(line, "{:.2},{y:.2} ", LEFT + i as f64 * dx);
            }
            None => polyline(&mut line, "#222", out),
        }
    }
    polyline(&mut line, "#222", out);
    for b in &map.borders {
        let x = LEFT + WIDTH * (b.points[0][0] - a.from) / (a.to - a.from);
        let _ = writeln!(
            out,
            "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{TOP}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"1.4\" stroke-dasharray=\"5 3\"/>",
            TOP + HEIGHT,
            stroke(b.kind)
        );
    }
    axis_x(a, out);
    axis_y("|L|", 0.0, top, out);
}

fn ticks(from: f64, to: f64) -> Vec<f64> {
    let (lo, hi) = (from.min(to), from.max(to));
    let raw = (hi - lo) / 5.0;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|k| k * power).into_iter().find(|s| *s >= raw).unwrap_or(raw);
    let first = (lo / step).ceil() as i64;
    (first..).map(|k| k as f64 * step).take_while(|v| *v <= hi + 1e-9 * step).take(20).collect()
}

fn label(v: f64) -> String {
    let text = format!("{v:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if v != 0.0 && (v.abs() < 1e-4 || v.abs() >= 1e6) { format!("{v:.1e}") } else { text.to_string() }
}

fn axis_x(a: &Axis, out: &mut String) {
    for v in ticks(a.from, a.to) {
        let x = LEFT + WIDTH * (v - a.from) / (a.to - a.from);
        let y = TOP + HEIGHT;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{y}\" y2=\"{}\" stroke=\"#333\"/>\
             <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            y + 5.0,
            y + 20.0,
            label(v)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        LEFT + WIDTH / 2.0,
        TOP + HEIGHT + 40.0,
        escape(&a.name)
    );
}

fn axis_y(name: &str, from: f64, to: f64, out: &mut String) {
    for v in ticks(from, to) {
        let y = TOP + HEIGHT * (1.0 - (v - from) / (to - from));
        let _ = writeln!(
            out,
            "<line x1=\"{}\" x2=\"{LEFT}\" y1=\"{y:.2}\" y2=\"{y:.2}\" stroke=\"#333\"/>\
             <text x=\"{}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>",
            LEFT - 5.0,
            LEFT - 9.0,
            y + 4.0,
            label(v)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"18\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {})\">{}</text>",
        TOP + HEIGHT / 2.0,
        TOP + HEIGHT / 2.0,
        escape(name)
    );
}

fn legend(map: &Map, out: &mut String) {
    let x = LEFT + WIDTH + 16.0;
    let mut y = TOP + 14.0;
    let verdicts =
        [Some(Verdict::Unique), Some(Verdict::Several), Some(Verdict::None), Some(Verdict::Family), None];
    for v in verdicts {
        let Some(s) = map.grid.iter().find(|s| s.map(|s| s.class.verdict) == v) else { continue };
        swatch(colour(s.as_ref()), words(v), y, out);
        y += 22.0;
    }
    let several = map.grid.iter().flatten().all(|s| s.excess.is_nan());
    for (kind, text) in [
        (Kind::Index, if several { "count changes" } else { "\u{3bc}|L| = 1" }),
        (Kind::Frictionless, if several { "signs change" } else { "R\u{2070} = 0" }),
    ] {
        if map.borders.iter().any(|b| b.kind == kind) {
            let _ = writeln!(
                out,
                "<line x1=\"{x}\" x2=\"{}\" y1=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"2\"/>\
                 <text x=\"{}\" y=\"{y}\">{text}</text>",
                x + 14.0,
                y - 5.0,
                y - 5.0,
                stroke(kind),
                x + 22.0
            );
            y += 22.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Source;
    use specht::analysis::Watch;
    use specht::machine::task::{Look, PainleveTask, Task, View};
    use specht::machine::{Finding, Machine};
    use std::sync::atomic::AtomicBool;

    fn drawn(name: &str, axes: &[(&str, f64, f64, usize)], watch: Watch) -> Option<String> {
        let source = Source::gallery(name).unwrap().for_engine();
        let machine = Machine::new(source, Default::default()).unwrap();
        let axis =
            |&(name, from, to, count): &(&str, f64, f64, usize)| Axis { name: name.into(), from, to, count };
        let view = View::Over { look: Look::default(), axes: axes.iter().map(axis).collect() };
        let task = Task::Painleve(PainleveTask { contacts: Vec::new(), view });
        match machine.ask_with(&task, watch).ok()? {
            Finding::Map(f) => Some(svg(&f.map, &f.title)),
            _ => None,
        }
    }

    #[test]
    fn borders_that_meet_are_marked_and_large_maps_stay_small() {
        let axes = [("phi", 1.0, 1.5, 20), ("P1", 0.5, 1.5, 30)];
        assert!(drawn("painleve_klein", &axes, Watch::default()).unwrap().contains("<circle"));
        let fine = [("phi", 0.02, 1.55, 200), ("mu", 0.0, 3.0, 200)];
        let picture = drawn("painleve_unit", &fine, Watch::default()).unwrap();
        assert!(picture.ends_with("</svg>\n") && picture.len() < 200_000);
    }

    #[test]
    fn a_curve_is_drawn_and_an_interrupted_map_draws_what_it_has() {
        assert!(drawn("crank", &[("q0", 0.0, 6.0, 61)], Watch::default()).unwrap().contains("polyline"));
        let flag = AtomicBool::new(true);
        let watch = Watch { interrupt: Some(&flag), progress: None };
        let axes = [("phi", 0.1, 1.5, 20), ("mu", 0.0, 3.0, 20)];
        assert!(drawn("painleve_unit", &axes, watch).is_none_or(|p| p.ends_with("</svg>\n")));
    }
}
