//! Curves in a plane with axes: cycles in the plane of a coordinate and its velocity.

use std::fmt::Write;

use super::picture::{label, ticks};
use super::polyline::simplify;
use super::svg::{escape, titled};
use specht::machine::finding::LimitCycleFinding;

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
        frame(&mut svg, &l.points, &l.name, &format!("{}'", l.name));
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Axes and one curve.
fn frame(svg: &mut String, points: &[[f64; 2]], across: &str, upwards: &str) {
    let range = |i: usize| {
        let (low, high) =
            points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| (a.min(p[i]), b.max(p[i])));
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
    let line: Vec<[f64; 2]> = points.iter().map(|p| place(*p)).collect();
    let text: Vec<String> = simplify(&line, 0.1).iter().map(|p| format!("{:.2} {:.2}", p[0], p[1])).collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"1.5\"/>",
        text.join(",")
    );
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text x=\"4\" y=\"-6\">{}</text>",
        SIDE / 2.0,
        SIDE + 38.0,
        escape(across),
        escape(upwards)
    );
}
