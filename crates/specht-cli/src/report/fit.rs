//! The picture and the page of a fit: data and curve, residuals, intervals, correlations.

use super::chart::{Chart, Line};
use super::svg::escape;
use crate::words::short;
use specht::machine::finding::{FitCurve, FitFinding, FrictionLawFinding, LawReport};
use specht::machine::json::Num;
use std::fmt::Write;

/// Dots drawn at most; of more, every so many.
const DOTS: usize = 3000;
const GAP: f64 = 12.0;

/// Per measured quantity its data with the model, and below them the residuals.
pub fn svg(f: &FitFinding) -> String {
    let charts: Vec<String> = f.data.curves.iter().flat_map(|c| [data(f, c), residuals(f, c)]).collect();
    let (width, height) = (640.0, 400.0 + GAP);
    let total = height * charts.len() as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {total}\" width=\"{width}\" height=\"{total}\">\n"
    );
    for (k, chart) in charts.iter().enumerate() {
        let _ = writeln!(out, "<g transform=\"translate(0 {})\">{chart}</g>", height * k as f64);
    }
    out + "</svg>\n"
}

fn data(f: &FitFinding, c: &FitCurve) -> String {
    let pairs = |y: &[f64]| c.x.iter().zip(y).map(|(x, y)| [*x, *y]).collect::<Vec<_>>();
    let mut line = pairs(&c.fitted);
    line.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let line = Line { name: "model".into(), colour: 0, dashed: false, points: line };
    let dots = thin(pairs(&c.measured));
    Chart {
        title: format!("{} and model", c.name),
        x: f.data.x.clone(),
        y: c.name.clone(),
        lines: vec![line],
        dots: vec![(1, dots)],
        ..Chart::default()
    }
    .svg()
}

fn residuals(f: &FitFinding, c: &FitCurve) -> String {
    let dots: Vec<[f64; 2]> =
        c.x.iter().zip(&c.measured).zip(&c.fitted).map(|((x, y), m)| [*x, y - m]).collect();
    let ends = [f64::min, f64::max].map(|pick| c.x.iter().copied().fold(f64::NAN, pick));
    let level = |y: f64, dashed: bool| Line {
        name: String::new(),
        colour: 7,
        dashed,
        points: vec![[ends[0], y], [ends[1], y]],
    };
    let one = f.data.curves.len() == 1;
    let mut lines = vec![level(0.0, false)];
    if one {
        lines.extend([level(2.0 * f.sigma, true), level(-2.0 * f.sigma, true)]);
    }
    Chart {
        title: if one { "residuals, with two standard deviations".into() } else { "residuals".into() },
        x: f.data.x.clone(),
        y: format!("{} - model", c.name),
        lines,
        dots: vec![(1, thin(dots))],
        ..Chart::default()
    }
    .svg()
}

fn thin(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let one_in = points.len().div_ceil(DOTS).max(1);
    points.into_iter().step_by(one_in).collect()
}

/// The page, self-contained.
pub fn page(model: &str, all: &[(String, &FitFinding)]) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><meta name=\"generator\" content=\"{1}\">\
         <title>{0}: fit</title>\n<style>{STYLE}</style></head><body>\n<h1>{0}</h1>\n",
        escape(model),
        crate::output::MADE_BY
    );
    for (name, f) in all {
        let _ = writeln!(out, "<section><h2>{}</h2>", escape(name));
        parameters(f, &mut out);
        for note in &f.notes {
            let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
        }
        out += &svg(f);
        correlations(f, &mut out);
        quality(f, &mut out);
        out += "</section>\n";
    }
    let _ = writeln!(
        out,
        "<footer>made by {}; specht explain fit says more</footer></body></html>",
        crate::output::MADE_BY
    );
    out
}

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1c1f23}\
table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .8rem;border-bottom:1px solid #e6e8eb;text-align:right}\
th:first-child,td:first-child{text-align:left}.note{background:#fff4d6;border-left:4px solid #d9822b;padding:.4rem .8rem}\
svg{max-width:100%;height:auto}footer{color:#6c757d;margin-top:2rem}.bar{width:12rem}";

fn parameters(f: &FitFinding, out: &mut String) {
    *out += "<table><tr><th>parameter</th><th>estimate</th><th>± (95 %)</th><th>standard error</th><th>profile interval</th><th>resampled</th><th>known</th></tr>\n";
    let rows =
        f.estimate.iter().zip(f.half_width.iter()).zip(f.standard_error.iter()).zip(f.identifiable.iter());
    for (k, ((((name, x), (_, half)), (_, error)), (_, known))) in rows.enumerate() {
        let ends = f.profile.as_ref().and_then(|p| p.iter().nth(k)).map(|(_, e)| *e);
        let number = |x: f64| if x.is_nan() { "–".to_string() } else { short(x) };
        let span = |e: Option<[Num; 2]>| {
            e.map_or("–".to_string(), |e| format!("{} … {}", number(e[0].0), number(e[1].0)))
        };
        let ends = span(ends);
        let drawn = span(f.bootstrap.as_ref().and_then(|p| p.iter().nth(k)).map(|(_, e)| *e));
        let word = if f.at_bound.iter().any(|b| b == name) {
            "at its bound"
        } else if *known {
            "yes"
        } else {
            "no"
        };
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{ends}</td><td>{drawn}</td><td>{word}</td></tr>",
            escape(name),
            number(x.0),
            number(half.0),
            number(error.0)
        );
    }
    *out += "</table>\n";
}

fn correlations(f: &FitFinding, out: &mut String) {
    *out += "<h3>Correlations</h3><table><tr><th></th>";
    f.estimate.iter().for_each(|(n, _)| *out += &format!("<th>{}</th>", escape(n)));
    *out += "</tr>\n";
    for (name, row) in f.correlation.iter() {
        let _ = write!(out, "<tr><td>{}</td>", escape(name));
        for (_, c) in row.iter() {
            let tint = if c.0.is_nan() { 0.0 } else { 0.5 * c.0.abs() };
            let colour = if c.0 < 0.0 { "209,73,91" } else { "31,111,235" };
            let _ = write!(out, "<td style=\"background:rgba({colour},{tint:.2})\">{:.3}</td>", c.0);
        }
        *out += "</tr>\n";
    }
    *out += "</table>\n";
}

fn quality(f: &FitFinding, out: &mut String) {
    let t = &f.residual_tests;
    let lines = [
        ("residuals", f.points.to_string()),
        ("degrees of freedom", f.freedom.to_string()),
        ("standard deviation", short(f.sigma)),
        ("sum of squares", short(f.rss)),
        ("reduced chi-square", short(f.chi2_reduced.0)),
        ("AIC", short(f.aic.0)),
        ("BIC", short(f.bic.0)),
        ("condition", short(f.condition.0)),
        ("runs of equal sign (p)", format!("{} ({})", t.runs, short(t.runs_p))),
        ("correlation of neighbours", short(t.lag1)),
    ];
    *out += "<h3>Quality</h3><table>\n";
    for (name, value) in lines {
        let _ = writeln!(out, "<tr><td>{name}</td><td>{value}</td></tr>");
    }
    *out += "</table>\n";
    if !f.compare.is_empty() {
        *out += "<h3>Models</h3><table><tr><th>model</th><th>AIC</th><th>weight</th></tr>\n";
        for c in &f.compare {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
                escape(&c.model),
                short(c.aic),
                short(c.weight)
            );
        }
        *out += "</table>\n";
    }
}

/// Friction over the speed.
pub fn laws(f: &FrictionLawFinding) -> Option<String> {
    let line = |(k, (name, l)): (usize, (&str, &LawReport))| Line {
        name: name.to_string(),
        colour: k,
        dashed: false,
        points: l.curve.clone(),
    };
    let lines: Vec<Line> = f.laws.iter().enumerate().map(line).collect();
    let rest = |(_, l): (&str, &LawReport)| ([0.0, l.at_rest[1]], "at rest".to_string());
    let marks = f.laws.iter().filter(|(_, l)| l.at_rest[1] != l.at_zero).map(rest).collect();
    (!lines.is_empty()).then(|| {
        Chart {
            title: "friction over the speed".into(),
            x: "speed, m/s".into(),
            y: f.laws.iter().next().map_or("friction", |(_, l)| l.of).into(),
            lines,
            marks,
            ..Chart::default()
        }
        .svg()
    })
}
