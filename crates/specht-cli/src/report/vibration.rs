//! Pictures of rest and vibration.

use super::chart::{Chart, Line};
use super::picture::swinging;
use crate::words::short;
use specht::machine::finding::{
    BreakAwayFinding, EquilibriumFinding, GrowthMap, ModesFinding, QuasiStaticFinding, ResponseFinding,
    StabilityFinding,
};
use std::fmt::Write;

/// Branches of equilibria, or the bands of rest with the present state in them.
pub fn equilibrium(f: &EquilibriumFinding) -> Option<String> {
    if let Some(branches) = f.branches.as_ref().filter(|b| !b.is_empty()) {
        return Some(branch_chart(f, branches));
    }
    let bands = f.bands.as_ref()?;
    if f.values.len() > 1 {
        let names: Vec<&str> = bands.first()?.iter().map(|(n, _)| n).collect();
        let of = |k: usize| {
            let points = f.values.iter().zip(bands).map(|(x, b)| {
                let ends = b.iter().nth(k).map_or([f64::NAN; 2], |(_, e)| [e[0].0, e[1].0]);
                [*x, ends[0], ends[1]]
            });
            (k, points.filter(|p| p.iter().all(|v| v.is_finite())).collect::<Vec<_>>())
        };
        let line = |(k, name): (usize, &&str)| Line {
            name: name.to_string(),
            colour: k,
            dashed: false,
            points: of(k).1.iter().map(|p| [p[0], p[2]]).collect(),
        };
        return Some(
            Chart {
                title: "where it can rest".into(),
                x: f.over.clone().unwrap_or_default(),
                y: "coordinate".into(),
                lines: names.iter().enumerate().map(line).collect(),
                bands: (0..names.len()).map(of).collect(),
                ..Chart::default()
            }
            .svg(),
        );
    }
    // one band per coordinate, side by side
    let band = bands.first()?;
    let finite: Vec<_> =
        band.iter().enumerate().filter(|(_, (_, e))| e.iter().all(|v| v.0.is_finite())).collect();
    let strips = finite
        .iter()
        .map(|(k, (_, e))| (*k, vec![[*k as f64 + 0.2, e[0].0, e[1].0], [*k as f64 + 0.8, e[0].0, e[1].0]]))
        .collect::<Vec<_>>();
    let here = f.state.as_ref()?;
    let marks = finite
        .iter()
        .filter_map(|(k, (name, _))| {
            let x = here.iter().find(|(n, _)| n == name)?.1;
            Some(([*k as f64 + 0.5, *x], name.to_string()))
        })
        .collect();
    (!strips.is_empty()).then(|| {
        Chart {
            title: "where it can rest, and where it is".into(),
            x: "coordinates, in their order".into(),
            y: "value".into(),
            bands: strips,
            marks,
            ..Chart::default()
        }
        .svg()
    })
}

fn branch_chart(
    f: &EquilibriumFinding,
    branches: &[Vec<specht::machine::finding::EquilibriumPoint>],
) -> String {
    // the coordinate that parts the branches
    let names: Vec<&str> = branches[0][0].state.iter().map(|(n, _)| n).collect();
    let special = f.special.iter().flatten().next().map(|s| s.coordinate.clone());
    let shown = special.unwrap_or_else(|| names.first().copied().unwrap_or_default().to_string());
    let value = |p: &specht::machine::finding::EquilibriumPoint| {
        p.state.iter().find(|(n, _)| *n == shown).map_or(f64::NAN, |(_, x)| *x)
    };
    let mut lines = Vec::new();
    for b in branches {
        for part in b.chunk_by(|a, b| a.stable == b.stable) {
            lines.push(Line {
                name: if part[0].stable { "stable" } else { "unstable" }.into(),
                colour: usize::from(!part[0].stable),
                dashed: !part[0].stable,
                points: part.iter().map(|p| [p.parameter, value(p)]).collect(),
            });
        }
    }
    let marks = f.special.iter().flatten().map(|s| ([s.parameter, s.value], s.label.to_string()));
    Chart {
        title: "equilibria".into(),
        x: f.over.clone().unwrap_or_default(),
        y: shown.clone(),
        lines,
        marks: marks.collect(),
        ..Chart::default()
    }
    .svg()
}

/// Frequencies over a parameter, or the shapes as bars.
pub fn modes(f: &ModesFinding) -> String {
    if let Some(points) = f.points.as_ref().filter(|p| p.len() > 1) {
        let count = points.iter().map(|p| p.frequency.len()).max().unwrap_or(0);
        let line = |k: usize| Line {
            name: format!("mode {}", k + 1),
            colour: k,
            dashed: false,
            points: points.iter().filter_map(|p| Some([p.parameter, *p.frequency.get(k)?])).collect(),
        };
        return Chart {
            title: "frequencies".into(),
            x: f.over.clone().unwrap_or_default(),
            y: "Hz".into(),
            lines: (0..count).map(line).collect(),
            ..Chart::default()
        }
        .svg();
    }
    let line = |(k, m): (usize, &specht::machine::finding::OneMode)| Line {
        name: format!("{:.5} Hz", m.frequency),
        colour: k,
        dashed: false,
        points: m.shape.iter().enumerate().map(|(j, (_, c))| [j as f64 + 1.0, c[0]]).collect(),
    };
    let chart = Chart {
        title: "shapes of the modes".into(),
        x: "coordinates, in their order".into(),
        y: "displacement".into(),
        lines: f.modes.iter().enumerate().map(line).collect(),
        ..Chart::default()
    }
    .svg();
    moving(f, chart)
}

/// Below the chart the machine swings in each of its modes, two beside each other.
fn moving(f: &ModesFinding, chart: String) -> String {
    let shown: Vec<_> = f.modes.iter().filter_map(|m| Some((m, m.scene.as_ref()?))).collect();
    if shown.is_empty() {
        return chart;
    }
    let (width, height) = (720.0, 410.0);
    let total = height * (1 + shown.len().div_ceil(2)) as f64;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {total}\" width=\"{width}\" height=\"{total}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{total}\" fill=\"#ffffff\"/>\n<g transform=\"translate(40 0)\">{chart}</g>\n"
    );
    for (k, (m, scene)) in shown.into_iter().enumerate() {
        let (x, y) = (360.0 * (k % 2) as f64, height * (1 + k / 2) as f64);
        let _ = writeln!(
            out,
            "<g transform=\"translate({x} {y})\">{}<text x=\"20\" y=\"28\">{:.5} Hz, damping {}</text></g>",
            swinging(scene, k),
            m.frequency,
            short(m.damping)
        );
    }
    out + "</svg>\n"
}

/// Amplitudes over the frequency.
pub fn response(f: &ResponseFinding) -> String {
    let line = |(k, (name, a)): (usize, (&str, &Vec<f64>))| Line {
        name: name.to_string(),
        colour: k,
        dashed: false,
        points: f
            .frequency
            .iter()
            .copied()
            .zip(a.iter().copied())
            .filter(|p| p.1 > 0.0)
            .map(|(x, y)| [x, y])
            .collect(),
    };
    let lines = f.amplitude.iter().enumerate().map(line).filter(|l| !l.points.is_empty()).collect();
    let marks = f.peaks.iter().map(|p| ([p.frequency, p.amplitude], format!("{:.4} Hz", p.frequency)));
    Chart {
        title: "response per unit of force".into(),
        x: "Hz".into(),
        y: "amplitude".into(),
        logarithmic: true,
        lines,
        marks: marks.take(6).collect(),
        ..Chart::default()
    }
    .svg()
}

/// The amplitude that contacts bear, over the frequency.
pub fn break_away(f: &BreakAwayFinding) -> String {
    let points =
        f.frequency.iter().zip(&f.amplitude).filter(|(_, a)| a.0.is_finite()).map(|(x, a)| [*x, a.0]);
    let line = Line { name: "gives way".into(), colour: 1, dashed: false, points: points.collect() };
    let mark =
        f.least.iter().map(|l| ([l.frequency, l.amplitude], format!("{}, {:.5}", l.contact, l.amplitude)));
    Chart {
        title: "amplitude at which the first contact gives way".into(),
        x: "frequency".into(),
        y: f.parameter.clone(),
        logarithmic: true,
        lines: vec![line],
        marks: mark.collect(),
        ..Chart::default()
    }
    .svg()
}

/// Growth over one parameter, the map of two, or the eigenvalues in their plane.
pub fn stability(f: &StabilityFinding) -> Option<String> {
    if let Some(map) = &f.map {
        return Some(growth_map(map));
    }
    if f.points.len() > 1 {
        let points = f.points.iter().map(|p| [p.parameter, p.growth.0]).collect();
        let zero = f.points.iter().map(|p| [p.parameter, 0.0]).collect();
        return Some(
            Chart {
                title: "growth of the fastest perturbation".into(),
                x: "parameter".into(),
                y: "1/s".into(),
                lines: vec![
                    Line { name: "growth".into(), colour: 1, dashed: false, points },
                    Line { name: String::new(), colour: 7, dashed: true, points: zero },
                ],
                marks: f.sectors.iter().flatten().flatten().map(|x| ([*x, 0.0], format!("{x:.4}"))).collect(),
                ..Chart::default()
            }
            .svg(),
        );
    }
    let low = f.eigenvalues.iter().map(|v| v[1]).fold(0.0, f64::min);
    let high = f.eigenvalues.iter().map(|v| v[1]).fold(0.0, f64::max);
    (!f.eigenvalues.is_empty()).then(|| {
        Chart {
            title: "eigenvalues".into(),
            x: "real part, 1/s".into(),
            y: "imaginary part, rad/s".into(),
            lines: vec![Line {
                name: "stable | unstable".into(),
                colour: 7,
                dashed: true,
                points: vec![[0.0, low], [0.0, high]],
            }],
            marks: f.eigenvalues.iter().map(|v| (*v, String::new())).collect(),
            ..Chart::default()
        }
        .svg()
    })
}

/// Coordinates over the load, with the changes of contacts and where slowness ends.
pub fn quasi_static(f: &QuasiStaticFinding) -> Option<String> {
    let first = f.path.first()?;
    let names: Vec<&str> = first.coordinates.iter().map(|(name, _)| name).collect();
    let lines = names.iter().enumerate().map(|(k, name)| Line {
        name: (*name).to_string(),
        colour: k % 7,
        dashed: false,
        points: f.path.iter().filter_map(|p| Some([p.time, *p.coordinates.iter().nth(k)?.1])).collect(),
    });
    let value = |time: f64| {
        let point = f.path.iter().rev().find(|p| p.time <= time)?;
        point.coordinates.iter().next().map(|(_, x)| [time, *x])
    };
    let events = f.events.iter().take(24).filter_map(|e| Some((value(e.time)?, e.kind.to_string())));
    let ends = f.ends.iter().filter_map(|e| Some((value(e.time)?, crate::words::word(&e.reason))));
    let chart = Chart {
        title: "where it goes under the slow load".into(),
        x: "time, the load".into(),
        y: "coordinates".into(),
        lines: lines.collect(),
        marks: events.chain(ends).collect(),
        ..Chart::default()
    };
    Some(chart.svg())
}

/// Cells of a map in colours: stable, unstable, beyond the paradox, nothing.
fn growth_map(map: &GrowthMap) -> String {
    let (width, height, left, top) = (460.0, 320.0, 78.0, 40.0);
    let mut out = super::svg::titled(640.0, 420.0, left, "where steady sliding is unstable");
    let (columns, rows) = (map.axes[0].count as f64, map.grid.len() as f64);
    for (k, row) in map.grid.iter().enumerate() {
        let letters: Vec<char> = row.chars().collect();
        let mut i = 0;
        while i < letters.len() {
            let run = letters[i..].iter().take_while(|l| **l == letters[i]).count();
            let colour = match letters[i] {
                's' => "#dcefe4",
                'u' => "#d1495b",
                'p' => "#8d5bd1",
                _ => "#f1f3f5",
            };
            let (x, y) = (left + width * i as f64 / columns, top + height * (1.0 - (k as f64 + 1.0) / rows));
            let _ = writeln!(
                out,
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"{colour}\"/>",
                width * run as f64 / columns + 0.3,
                height / rows + 0.3
            );
            i += run;
        }
    }
    let text = |x: f64, y: f64, anchor: &str, words: &str| {
        format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>\n", super::svg::escape(words))
    };
    let [a, b] = &map.axes;
    let bottom = top + height;
    out += &text(left, bottom + 18.0, "start", &super::picture::label(a.from));
    out += &text(left + width, bottom + 18.0, "end", &super::picture::label(a.to));
    out += &text(left + 0.5 * width, bottom + 36.0, "middle", &a.name);
    out += &text(left - 6.0, bottom, "end", &super::picture::label(b.from));
    out += &text(left - 6.0, top + 10.0, "end", &super::picture::label(b.to));
    out += &text(left - 6.0, top + 0.5 * height, "end", &b.name);
    out += &text(left + width + 10.0, top + 14.0, "start", "red: unstable");
    out + "</svg>\n"
}
