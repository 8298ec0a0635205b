//! Pictures of force directions: which forces at a point cannot start the machine.

use std::fmt::Write;

use super::svg::escape;
use specht::analysis::Arc;
use specht::analysis::{Stagnation, Verdict};
use specht::machine::finding::SlipDirections;
use specht::machine::json::Named;

const RED: &str = "#c0392b";
const AMBER: &str = "#e8a33d";
const GREEN: &str = "#dfeee0";
const GREY: &str = "#c9c9c9";

/// One rose of directions per point, side by side, as an SVG document.
pub fn roses(points: &[(String, Stagnation)]) -> String {
    let columns = points.len().clamp(1, 4);
    let rows = points.len().div_ceil(columns).max(1);
    let (width, height) = (220 * columns, 250 * rows + 46);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (k, (name, set)) in points.iter().enumerate() {
        let (x, y) = (110 + 220 * (k % columns), 120 + 250 * (k / columns));
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">");
        for (arcs, colour) in
            [(&set.moving, GREEN), (&set.none, GREY), (&set.ambiguous, AMBER), (&set.stuck, RED)]
        {
            arcs.iter().for_each(|a| sector(&mut svg, a, colour));
        }
        svg.push_str("<circle r=\"90\" fill=\"none\" stroke=\"#333\"/><circle r=\"3\" fill=\"#333\"/>\n");
        svg.push_str("<path d=\"M -98 0 H 98 M 0 -98 V 98\" stroke=\"#333\" stroke-width=\"0.5\"/>\n");
        let angle = set.angle().to_degrees();
        let _ = writeln!(
            svg,
            "<text y=\"116\" text-anchor=\"middle\">{}: stagnation angle {angle:.2}\u{b0}</text></g>",
            escape(name)
        );
    }
    let y = height - 18;
    let legend = [(RED, "cannot start it"), (AMBER, "rest or motion"), (GREEN, "starts it")];
    for (k, (colour, text)) in legend.into_iter().enumerate() {
        // one column is too narrow for three entries
        let (place, drop) = if columns == 1 && k == 2 { (0, 16) } else { (k, 0) };
        let x = 14 + place * if columns == 1 { 104 } else { 140 };
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\" font-size=\"11\">{text}</text>",
            y - 11 + drop,
            x + 17,
            y + drop
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Directions of slip of contacts in space, side by side: those without one solution coloured, the critical friction as a curve on which the circle
/// is twice the least.
pub fn slips(list: &Named<SlipDirections>) -> String {
    let count = list.iter().count().max(1);
    let width = 240 * count;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} 286\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"286\" fill=\"#fff\"/>\n"
    );
    for (k, (name, d)) in list.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<g transform=\"translate({} 112)\"><circle r=\"90\" fill=\"{GREEN}\"/>",
            120 + 240 * k
        );
        for s in &d.sectors {
            let colour = if s.verdict == Verdict::None { RED } else { AMBER };
            sector(&mut svg, &Arc { from: s.from, to: s.to }, colour);
        }
        svg.push_str("<circle r=\"90\" fill=\"none\" stroke=\"#333\"/>");
        svg.push_str("<path d=\"M -98 0 H 98 M 0 -98 V 98\" stroke=\"#333\" stroke-width=\"0.5\"/>\n");
        let place = |angle: f64, r: f64| (r * angle.cos(), -r * angle.sin());
        if d.critical_mu.0.is_finite() {
            let mut path = String::new();
            let mut pen = "M";
            for [angle, mu] in &d.curve {
                let r = 45.0 * mu.0 / d.critical_mu.0;
                if !(r <= 90.0) {
                    pen = "M";
                    continue;
                }
                let (x, y) = place(angle.0, r);
                let _ = write!(path, "{pen} {x:.2} {y:.2} ");
                pen = "L";
            }
            let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"#222\"/>");
        }
        if let Some(slip) = d.slip {
            let (x, y) = place(slip, 90.0);
            let _ =
                writeln!(svg, "<path d=\"M 0 0 L {x:.2} {y:.2}\" stroke=\"#1f4e8c\" stroke-width=\"2\"/>");
        }
        let least = if d.critical_mu.0.is_finite() {
            format!(
                "least critical \u{3bc} {:.4} at {:.1}\u{b0}",
                d.critical_mu.0,
                d.direction.0.to_degrees()
            )
        } else {
            "no friction is critical".to_string()
        };
        let _ = writeln!(
            svg,
            "<text y=\"114\" text-anchor=\"middle\">slip of {}</text><text y=\"131\" text-anchor=\"middle\" font-size=\"11\">{least}</text></g>",
            escape(name)
        );
    }
    for (k, (colour, text)) in
        [(RED, "no solution"), (AMBER, "several"), (GREEN, "one")].into_iter().enumerate()
    {
        let x = 14 + 84 * k;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"264\" width=\"12\" height=\"12\" fill=\"{colour}\"/><text x=\"{}\" y=\"275\" font-size=\"11\">{text}</text>",
            x + 17
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// Largest force that can be carried by direction (with the loads of the model), as an SVG document; the scale is the
/// largest finite one, directions that never start it are drawn to the rim.
pub fn limits(name: &str, limit: &[[f64; 2]]) -> String {
    let top = limit.iter().map(|l| l[1]).filter(|v| v.is_finite()).fold(0.0, f64::max);
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 260 280\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"260\" height=\"280\" fill=\"#fff\"/><g transform=\"translate(130 125)\">\n\
         <circle r=\"110\" fill=\"none\" stroke=\"#999\"/><path d=\"M -115 0 H 115 M 0 -115 V 115\" stroke=\"#999\" stroke-width=\"0.5\"/>\n\
         <path fill=\"#c0392b\" fill-opacity=\"0.35\" stroke=\"#c0392b\" d=\"",
    );
    for (k, [angle, value]) in limit.iter().enumerate() {
        let r = if value.is_finite() { if top > 0.0 { 100.0 * value / top } else { 0.0 } } else { 110.0 };
        let (s, c) = angle.sin_cos();
        let _ = write!(svg, "{} {:.2} {:.2} ", if k == 0 { "M" } else { "L" }, r * c, -r * s);
    }
    let _ = write!(
        svg,
        "Z\"/></g>\n<text x=\"130\" y=\"262\" text-anchor=\"middle\">forces at {} that cannot start it; full circle {top:.4} N</text></svg>\n",
        escape(name)
    );
    svg
}

fn sector(svg: &mut String, arc: &Arc, colour: &str) {
    let (from, to) = (arc.from, arc.to);
    if arc.width() > std::f64::consts::TAU - 1e-9 {
        let _ = writeln!(svg, "<circle r=\"90\" fill=\"{colour}\"/>");
        return;
    }
    let end = |a: f64| (90.0 * a.cos(), -90.0 * a.sin());
    let ((x0, y0), (x1, y1)) = (end(from), end(to));
    if arc.width() < 1e-9 {
        let _ = writeln!(svg, "<path d=\"M 0 0 L {x0:.2} {y0:.2}\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        return;
    }
    let large = u8::from(arc.width() > std::f64::consts::PI);
    let _ = writeln!(
        svg,
        "<path d=\"M 0 0 L {x0:.2} {y0:.2} A 90 90 0 {large} 0 {x1:.2} {y1:.2} Z\" fill=\"{colour}\"/>"
    );
}
