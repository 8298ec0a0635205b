//! Curves in a plane with axes: cycles in the plane of a coordinate and its velocity.

use std::fmt::Write;

use super::picture::{label, ticks};
use super::polyline::simplify;
use super::svg::{escape, titled};
use specht::machine::finding::{
    BasinFinding, BranchFinding, BranchPoint, GridColumn, LimitCycleFinding, ReturnMapFinding,
};
use specht::machine::task::BranchOf;

const SIDE: f64 = 300.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 56.0;
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

/// The first amplitude over the parameter (of rest: the first coordinate): stable parts drawn, unstable ones dashed, special points
/// marked; beside it the cycle of the point under the mouse.
pub fn branch(f: &BranchFinding) -> String {
    let of = if f.of == BranchOf::Cycle { "cycles" } else { "steady motions" };
    let mut svg =
        titled(2.0 * (SIDE + LEFT) + 60.0, SIDE + TOP + BOTTOM, LEFT, &format!("{of} over {}", f.over));
    let value = |p: &BranchPoint| {
        let first = p.amplitude.iter().next();
        [p.parameter, first.map_or(f64::NAN, |(_, e)| if f.of == BranchOf::Cycle { e.half } else { e.max })]
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
    let name = name.unwrap_or_default();
    let upwards = if f.of == BranchOf::Cycle { format!("amplitude of {name}") } else { name.clone() };
    let _ = writeln!(svg, "<g transform=\"translate({LEFT} {TOP})\">");
    let ends = [range(&lines, 0), range(&lines, 1)];
    framed(&mut svg, &lines, &marks, [&f.over, &upwards], ends);
    under_the_mouse(&mut svg, f, &value, ends, &name);
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// A spot on every point of the branch that shows its cycle while the mouse is on it.
fn under_the_mouse(
    svg: &mut String,
    f: &BranchFinding,
    value: &dyn Fn(&BranchPoint) -> [f64; 2],
    [x, y]: [[f64; 2]; 2],
    name: &str,
) {
    let loops = f.points.iter().map(|p| Line { points: p.curve.clone(), colour: "", dashed: false });
    let loops: Vec<Line> = loops.filter(|l| l.points.len() > 1).collect();
    if loops.is_empty() {
        return;
    }
    let beside = SIDE + LEFT;
    let _ = writeln!(
        svg,
        "<style>.branch-at polyline, .branch-at text {{ visibility: hidden }} \
         .branch-at:hover polyline, .branch-at:hover text {{ visibility: visible }}</style>\n\
         <g transform=\"translate({beside} 0)\">"
    );
    let (across, upwards) = (range(&loops, 0), range(&loops, 1));
    framed(svg, &[], &[], [name, &format!("{name}'")], [across, upwards]);
    svg.push_str("</g>\n");
    let place = |p: [f64; 2], x: [f64; 2], y: [f64; 2]| {
        [SIDE * (p[0] - x[0]) / (x[1] - x[0]), SIDE * (1.0 - (p[1] - y[0]) / (y[1] - y[0]))]
    };
    for p in f.points.iter().filter(|p| p.curve.len() > 1) {
        let at = place(value(p), x, y);
        let line: Vec<[f64; 2]> = p.curve.iter().map(|c| place(*c, across, upwards)).collect();
        let text: Vec<String> =
            simplify(&line, 0.5).iter().map(|p| format!("{:.1} {:.1}", p[0] + beside, p[1])).collect();
        let _ = writeln!(
            svg,
            "<g class=\"branch-at\"><circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"5\" fill=\"#1f6feb\" fill-opacity=\"0.15\"/>\
             <polyline points=\"{}\" fill=\"none\" stroke=\"#1f6feb\"/>\
             <text x=\"{}\" y=\"16\">{} = {}</text></g>",
            at[0],
            at[1],
            text.join(","),
            beside + 8.0,
            escape(&f.over),
            label(p.parameter)
        );
    }
}

/// Colours of basins.
const BASINS: [&str; 6] = ["#9ec5fe", "#ffd8a8", "#b2f2bb", "#eebefa", "#ffc9c9", "#dee2e6"];

/// The starts in the colours of what they lead to, with the located borders.
pub fn basin(f: &BasinFinding) -> String {
    let mut svg = titled(SIDE + LEFT + 190.0, SIDE + TOP + BOTTOM, LEFT, "where starts lead");
    let axis = |name: &String| match f.grid.iter().find(|(n, _)| n == name) {
        Some((_, GridColumn::Axis(values))) => values.clone(),
        _ => Vec::new(),
    };
    let (Some(x), Some(y)) = (f.axes.first().map(axis), f.axes.get(1).map(axis)) else { return svg };
    let rows = f.grid.iter().find_map(|(_, c)| if let GridColumn::Rows(r) = c { Some(r) } else { None });
    let _ = writeln!(svg, "<g transform=\"translate({LEFT} {TOP})\">");
    let (w, h) = (SIDE / x.len() as f64, SIDE / y.len() as f64);
    for (j, row) in rows.into_iter().flatten().enumerate() {
        let letters: Vec<char> = row.chars().collect();
        let mut i = 0;
        for run in letters.chunk_by(|a, b| a == b) {
            let colour = match run[0] {
                '.' => "#fff",
                c => BASINS[(c as usize - 'a' as usize) % BASINS.len()],
            };
            let _ = writeln!(
                svg,
                "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{h:.2}\" fill=\"{colour}\"/>",
                w * i as f64,
                SIDE - h * (j + 1) as f64,
                w * run.len() as f64
            );
            i += run.len();
        }
    }
    let border = |b: &specht::machine::sweep::Border| Line {
        points: b.points.clone(),
        colour: "#d1495b",
        dashed: false,
    };
    let ends = |v: &[f64]| {
        let (a, b) = (v.first().copied().unwrap_or(0.0), v.last().copied().unwrap_or(1.0));
        let half = 0.5 * (b - a) / (v.len().max(2) - 1) as f64;
        [a - half, b + half]
    };
    let lines: Vec<Line> = f.borders.iter().map(border).collect();
    framed(&mut svg, &lines, &[], [&f.axes[0], &f.axes[1]], [ends(&x), ends(&y)]);
    for (k, a) in f.attractors.iter().enumerate() {
        let at = 14.0 + 20.0 * k as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{0}\" y=\"{1}\" width=\"12\" height=\"12\" fill=\"{2}\"/><text x=\"{3}\" y=\"{4}\">{5}</text>",
            SIDE + 14.0,
            at - 10.0,
            BASINS[k % BASINS.len()],
            SIDE + 32.0,
            at,
            escape(&format!("{} ({:.1} %)", a.name, 100.0 * a.share))
        );
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Ends of an axis around curves.
fn range(lines: &[Line], i: usize) -> [f64; 2] {
    let all = lines.iter().flat_map(|l| &l.points);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[i]), b.max(p[i])));
    let margin = 0.05 * (high - low).max(1e-9 * high.abs()).max(1e-300);
    [low - margin, high + margin]
}

/// Axes around curves, the curves and marked points.
fn frame(svg: &mut String, lines: &[Line], marks: &[([f64; 2], String)], across: &str, upwards: &str) {
    framed(svg, lines, marks, [across, upwards], [range(lines, 0), range(lines, 1)]);
}

/// The same with given ends of the axes.
fn framed(
    svg: &mut String,
    lines: &[Line],
    marks: &[([f64; 2], String)],
    [across, upwards]: [&str; 2],
    [x, y]: [[f64; 2]; 2],
) {
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
