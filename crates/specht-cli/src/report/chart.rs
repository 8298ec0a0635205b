//! Curves of a finding: lines over one axis, full where stable and dashed where not, with marks.

use super::picture::{label, ticks};
use super::svg::{escape, titled};
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 130.0;
const BOTTOM: f64 = 52.0;
const COLOURS: [&str; 8] =
    ["#1f6feb", "#d1495b", "#2a9d6f", "#8d5bd1", "#d9822b", "#0c8599", "#b5487e", "#6c757d"];

/// A line.
pub struct Line {
    /// Its name; empty: not in the legend.
    pub name: String,
    /// Number of its colour.
    pub colour: usize,
    /// Dashed.
    pub dashed: bool,
    /// Points.
    pub points: Vec<[f64; 2]>,
}

/// A chart.
#[derive(Default)]
pub struct Chart {
    /// Title and names of the axes.
    pub title: String,
    /// Across.
    pub x: String,
    /// Upwards.
    pub y: String,
    /// Powers of ten upwards.
    pub logarithmic: bool,
    /// Lines.
    pub lines: Vec<Line>,
    /// Areas between a lower and an upper line: x, low, high.
    pub bands: Vec<(usize, Vec<[f64; 3]>)>,
    /// Clouds of points: colour and places.
    pub dots: Vec<(usize, Vec<[f64; 2]>)>,
    /// Points with a word.
    pub marks: Vec<([f64; 2], String)>,
}

impl Chart {
    /// As SVG.
    pub fn svg(&self) -> String {
        let (xs, ys) = self.ranges();
        let up = |y: f64| self.up(y);
        let px = |x: f64| LEFT + (x - xs[0]) / (xs[1] - xs[0]) * (WIDTH - LEFT - RIGHT);
        let py = |y: f64| HEIGHT - BOTTOM - (up(y) - ys[0]) / (ys[1] - ys[0]) * (HEIGHT - TOP - BOTTOM);
        let mut out = titled(WIDTH, HEIGHT, LEFT, &self.title);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        self.grid(xs, ys, &mut out);
        for (colour, band) in &self.bands {
            let up = band.iter().map(|p| [p[0], p[2]]);
            let down = band.iter().rev().map(|p| [p[0], p[1]]);
            let path: Vec<String> =
                up.chain(down).map(|p| format!("{:.1},{:.1}", px(p[0]), py(p[1]))).collect();
            let colour = COLOURS[colour % COLOURS.len()];
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" fill=\"{colour}\" fill-opacity=\"0.18\"/>",
                path.join(" ")
            );
        }
        let mut named = Vec::new();
        for line in &self.lines {
            let shown = line.points.iter().filter(|p| p.iter().all(|v| v.is_finite()));
            let path: Vec<String> = shown.map(|p| format!("{:.1},{:.1}", px(p[0]), py(p[1]))).collect();
            let colour = COLOURS[line.colour % COLOURS.len()];
            let dash = if line.dashed { " stroke-dasharray=\"5 4\"" } else { "" };
            let _ = writeln!(
                out,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"{dash}/>",
                path.join(" ")
            );
            if !line.name.is_empty() && !named.contains(&(line.name.clone(), colour)) {
                let y = TOP + 14.0 + 18.0 * named.len() as f64;
                let _ = writeln!(
                    out,
                    "<path d=\"M{} {:.1}h16\" stroke=\"{colour}\" stroke-width=\"2.4\"/><text x=\"{}\" y=\"{:.1}\" font-size=\"11\">{}</text>",
                    right + 10.0,
                    y - 4.0,
                    right + 32.0,
                    y,
                    escape(&line.name)
                );
                named.push((line.name.clone(), colour));
            }
        }
        for (colour, dots) in &self.dots {
            let colour = COLOURS[colour % COLOURS.len()];
            for p in dots.iter().filter(|p| p.iter().all(|v| v.is_finite())) {
                let (x, y) = (px(p[0]), py(p[1]));
                let _ = writeln!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"{colour}\" fill-opacity=\"0.6\"/>"
                );
            }
        }
        for (p, text) in &self.marks {
            let (x, y) = (px(p[0]), py(p[1]));
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#fff\" stroke=\"#1c1f23\" stroke-width=\"1.5\"/><text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\">{}</text>",
                x + 7.0,
                y - 6.0,
                escape(text)
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#1c1f23\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            0.5 * (LEFT + right),
            HEIGHT - 14.0,
            escape(&self.x),
            0.5 * (TOP + bottom),
            escape(&self.y)
        );
        out + "</svg>\n"
    }

    /// Height on the axis: the logarithm on a logarithmic one.
    fn up(&self, y: f64) -> f64 {
        if self.logarithmic { y.max(f64::MIN_POSITIVE).log10() } else { y }
    }

    /// Ranges of the axes: all that is drawn, with room above and below.
    fn ranges(&self) -> ([f64; 2], [f64; 2]) {
        let up = |y: f64| self.up(y);
        let from_lines = self.lines.iter().flat_map(|l| l.points.iter().map(|p| [p[0], up(p[1])]));
        let from_bands =
            self.bands.iter().flat_map(|b| b.1.iter().flat_map(|p| [[p[0], up(p[1])], [p[0], up(p[2])]]));
        let all: Vec<[f64; 2]> = from_lines
            .chain(from_bands)
            .chain(self.dots.iter().flat_map(|d| d.1.iter().map(|p| [p[0], up(p[1])])))
            .chain(self.marks.iter().map(|m| [m.0[0], up(m.0[1])]))
            .filter(|p| p.iter().all(|v| v.is_finite()))
            .collect();
        let range = |k: usize| {
            let lo = all.iter().map(|p| p[k]).fold(f64::INFINITY, f64::min);
            let hi = all.iter().map(|p| p[k]).fold(f64::NEG_INFINITY, f64::max);
            match hi > lo {
                true => [lo, hi],
                false if lo.is_finite() => [lo - 0.5 * lo.abs().max(1.0), lo + 0.5 * lo.abs().max(1.0)],
                false => [0.0, 1.0],
            }
        };
        let (xs, mut ys) = (range(0), range(1));
        let pad = 0.05 * (ys[1] - ys[0]);
        ys = [ys[0] - pad, ys[1] + pad];
        (xs, ys)
    }

    /// Lines and numbers of the grid.
    fn grid(&self, xs: [f64; 2], ys: [f64; 2], out: &mut String) {
        let px = |x: f64| LEFT + (x - xs[0]) / (xs[1] - xs[0]) * (WIDTH - LEFT - RIGHT);
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for t in ticks(xs[0], xs[1], 6) {
            let x = px(t);
            let _ = writeln!(
                out,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#e6e8eb\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
                bottom + 16.0,
                label(t)
            );
        }
        for t in ticks(ys[0], ys[1], 6) {
            let y = HEIGHT - BOTTOM - (t - ys[0]) / (ys[1] - ys[0]) * (HEIGHT - TOP - BOTTOM);
            let text = if self.logarithmic { label(10f64.powf(t)) } else { label(t) };
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#e6e8eb\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" font-size=\"11\">{text}</text>",
                LEFT - 6.0,
                y + 4.0
            );
        }
    }
}
