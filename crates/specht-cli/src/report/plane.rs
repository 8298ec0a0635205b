//! Curves in a plane with axes: cycles in the plane of a coordinate and its velocity.

use std::fmt::Write;

use super::picture::{label, ticks};
use super::polyline::simplify;
use super::svg::{escape, titled};
use specht::machine::finding::{BranchFinding, LimitCycleFinding, ReturnMapFinding};

const SIDE: f64 = 300.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 48.0;
/// Planes drawn at most.
const PLANES: usize = 3;

/// One period of a cycle, a plane per coordinate.
pub fn cycle(f: &LimitCycleFinding) -> String {
    let loops = &f.loops[..f.loops.len().min(PLANES)];
    let width = loops.len() as f64 * (SIDE + LEFT) + 20.0;
    let period = f.period.unwrap_or(f64::NAN);
    let mut svg =
        titled(width, SIDE + TOP + BOTTOM, LEFT, &format!("{}, period {} s", f.headline(), label(period)));
    for (k, l) in loops.iter().enumerate() {
        let x = LEFT + k as f64 * (SIDE + LEFT);
        let _ = writeln!(svg, "<g transform=\"translate({x} {TOP})\">");
        let line = Line { points: l.points.clone(), colour: "#1f6feb", dashed: false };
        frame(&mut svg, &[line], &[], &l.name, &format!("{}'", l.name));
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// A curve.
struct Line {
    points: Vec<[f64; 2]>,
    colour: &'static str,
    dashed: bool,
}

/// The map with its diagonal, pieces between jumps apart, and its fixed points.
pub fn return_map(f: &ReturnMapFinding) -> String {
    let mut svg =
        titled(SIDE + LEFT + 40.0, SIDE + TOP + BOTTOM, LEFT, &format!("return map at {}", f.section));
    let mut lines: Vec<Line> = Vec::new();
    let mut piece: Vec<[f64; 2]> = Vec::new();
    for p in &f.points {
        let jump = piece.last().is_some_and(|l| f.jumps.iter().any(|j| l[0] < *j && *j < p[0]));
        if jump {
            lines.push(Line { points: std::mem::take(&mut piece), colour: "#1f6feb", dashed: false });
        }
        piece.push(*p);
    }
    lines.push(Line { points: piece, colour: "#1f6feb", dashed: false });
    if let (Some(a), Some(b)) = (f.points.first(), f.points.last()) {
        lines.push(Line { points: vec![[a[0], a[0]], [b[0], b[0]]], colour: "#888", dashed: true });
    }
    let marks: Vec<([f64; 2], String)> = f
        .fixed
        .iter()
        .map(|p| ([p.x, p.x], if p.power > 1 { p.power.to_string() } else { String::new() }))
        .collect();
    let _ = writeln!(svg, "<g transform=\"translate({LEFT} {TOP})\">");
    frame(&mut svg, &lines, &marks, &f.coordinate, "next");
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// The first amplitude over the parameter: stable parts drawn, unstable ones dashed, special points marked.
pub fn branch(f: &BranchFinding) -> String {
    let mut svg = titled(SIDE + LEFT + 60.0, SIDE + TOP + BOTTOM, LEFT, &format!("cycles over {}", f.over));
    let value = |p: &specht::machine::finding::BranchPoint| {
        [p.parameter, p.amplitude.iter().next().map_or(f64::NAN, |(_, e)| e.half)]
    };
    let mut lines: Vec<Line> = Vec::new();
    for pair in f.points.windows(2) {
        let dashed = !pair[1].stable;
        match lines.last_mut().filter(|l| l.dashed == dashed) {
            Some(line) => line.points.push(value(&pair[1])),
            None => {
                lines.push(Line { points: vec![value(&pair[0]), value(&pair[1])], colour: "#1f6feb", dashed })
            }
        }
    }
    let marks: Vec<([f64; 2], String)> =
        f.special.iter().map(|s| ([s.parameter, s.value], s.label.to_string())).collect();
    let name = f.points.first().and_then(|p| p.amplitude.iter().next().map(|(n, _)| n.to_string()));
    let _ = writeln!(svg, "<g transform=\"translate({LEFT} {TOP})\">");
    frame(&mut svg, &lines, &marks, &f.over, &format!("amplitude of {}", name.unwrap_or_default()));
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Axes, curves and marked points.
fn frame(svg: &mut String, lines: &[Line], marks: &[([f64; 2], String)], across: &str, upwards: &str) {
    let range = |i: usize| {
        let (low, high) = lines
            .iter()
            .flat_map(|l| &l.points)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[i]), b.max(p[i])));
        let margin = 0.05 * (high - low).max(1e-9 * high.abs()).max(1e-300);
        [low - margin, high + margin]
    };
    let (x, y) = (range(0), range(1));
    let place =
        |p: [f64; 2]| [SIDE * (p[0] - x[0]) / (x[1] - x[0]), SIDE * (1.0 - (p[1] - y[0]) / (y[1] - y[0]))];
    let _ = writeln!(svg, "<rect width=\"{SIDE}\" height=\"{SIDE}\" fill=\"none\" stroke=\"#888\"/>");
    for t in ticks(x[0], x[1], 5) {
        let at = place([t, y[0]])[0];
        let _ = writeln!(
            svg,
            "<path d=\"M {at:.1} {SIDE} v 5\" stroke=\"#888\"/><text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            SIDE + 18.0,
            label(t)
        );
    }
    for t in ticks(y[0], y[1], 5) {
        let at = place([x[0], t])[1];
        let _ = writeln!(
            svg,
            "<path d=\"M 0 {at:.1} h -5\" stroke=\"#888\"/><text x=\"-8\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            at + 4.0,
            label(t)
        );
    }
    for l in lines {
        let line: Vec<[f64; 2]> = l.points.iter().map(|p| place(*p)).collect();
        let text: Vec<String> =
            simplify(&line, 0.1).iter().map(|p| format!("{:.2} {:.2}", p[0], p[1])).collect();
        let dash = if l.dashed { " stroke-dasharray=\"4 3\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{dash}/>",
            text.join(","),
            l.colour
        );
    }
    for (p, word) in marks {
        let [x, y] = place(*p);
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"4\" fill=\"#d1495b\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\">{}</text>",
            x + 6.0,
            y - 6.0,
            escape(word)
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text x=\"4\" y=\"-6\">{}</text>",
        SIDE / 2.0,
        SIDE + 38.0,
        escape(across),
        escape(upwards)
    );
}
