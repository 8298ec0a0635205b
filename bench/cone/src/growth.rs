//! Growth of the time with the number of contacts: towers, data beside the plot.

use super::measure;
use specht::cone::{Status, problems};
use std::fmt::Write;

/// Measure and write `FILE` (SVG) and `FILE` with the ending `.csv`.
pub fn run(file: &str) {
    let mut points = Vec::new();
    let mut csv = String::from("contacts,milliseconds,iterations,error_plain,error_scaled,solved\n");
    for boxes in [10, 25, 50, 100, 250, 500, 1000, 2500] {
        let p = problems::tower(boxes, 0.5, 1);
        let Some((t, s)) = measure(&p, 0.02) else { continue };
        let n = p.contacts.len();
        let line = format!(
            "{n},{:.3},{},{:.1e},{:.1e},{}",
            t * 1e3,
            s.counts.ipm + s.counts.newton,
            s.error_plain,
            s.error_scaled,
            s.status == Status::Solved
        );
        println!("{line}");
        csv += &line;
        csv.push('\n');
        points.push((n as f64, t * 1e3));
    }
    let data = std::path::Path::new(file).with_extension("csv");
    if let Err(e) = std::fs::write(&data, csv).and_then(|()| std::fs::write(file, plot(&points))) {
        eprintln!("{e}");
    }
}

/// Double logarithmic plot.
fn plot(points: &[(f64, f64)]) -> String {
    let (x0, x1, y0, y1) = (1.0, 4.2, -1.0, 4.0);
    let x = |v: f64| 70.0 + 500.0 * (v.log10() - x0) / (x1 - x0);
    let y = |v: f64| 360.0 - 330.0 * (v.log10() - y0) / (y1 - y0);
    let mut s = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' width='600' height='420' font-family='sans-serif' font-size='13'>\n<rect width='600' height='420' fill='white'/>\n",
    );
    for k in 1..=4 {
        let v = 10f64.powi(k);
        let _ = writeln!(
            s,
            "<line x1='{0:.1}' y1='30' x2='{0:.1}' y2='360' stroke='#ddd'/><text x='{0:.1}' y='380' text-anchor='middle'>{v}</text>",
            x(v)
        );
    }
    for k in -1..=4 {
        let v = 10f64.powi(k);
        let _ = writeln!(
            s,
            "<line x1='70' y1='{0:.1}' x2='570' y2='{0:.1}' stroke='#ddd'/><text x='62' y='{0:.1}' text-anchor='end' dominant-baseline='middle'>{v}</text>",
            y(v)
        );
    }
    let line: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
    let _ = writeln!(s, "<polyline points='{}' fill='none' stroke='#06c' stroke-width='2'/>", line.join(" "));
    for p in points {
        let _ = writeln!(s, "<circle cx='{:.1}' cy='{:.1}' r='3.5' fill='#06c'/>", x(p.0), y(p.1));
    }
    s += "<text x='320' y='405' text-anchor='middle'>contacts (towers)</text><text x='18' y='195' text-anchor='middle' transform='rotate(-90 18 195)'>time / ms, one thread</text>\n</svg>\n";
    s
}
