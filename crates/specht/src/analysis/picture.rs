//! Curves and maps as SVG: domains coloured by verdict, borders drawn where they were located.
//!
//! Text only, no fonts or scripts, readable on white and on dark pages; about 100 kB for a 400 × 400 map, because equal
//! neighbours in a row become one rectangle.

use std::fmt::Write;

use super::border::Kind;
use super::map::{Axis, Map, Sample};
use super::painleve::Verdict;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 150.0;
const BOTTOM: f64 = 50.0;

/// The picture of a curve or map.
pub fn svg(map: &Map, title: &str) -> String {
    let mut out = String::new();
    let (w, h) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escape(title)
    );
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

fn colour(s: Option<&Sample>) -> &'static str {
    match s.map(|s| s.class.verdict) {
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
            None => flush(&mut line, out),
        }
    }
    flush(&mut line, out);
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

fn flush(line: &mut String, out: &mut String) {
    if !line.is_empty() {
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.6\"/>",
            line.trim_end()
        );
        line.clear();
    }
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
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"#555\"/>\
             <text x=\"{}\" y=\"{y}\">{}</text>",
            y - 12.0,
            colour(s.as_ref()),
            x + 22.0,
            words(v)
        );
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
