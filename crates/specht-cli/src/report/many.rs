//! The picture and the page of many runs: curves, diagrams, maps, clouds.

use super::picture::{label, short, ticks};
use super::svg::{escape, signed, titled};
use serde_json::{Value as Json, json};
use specht::machine::sweep::{Cell, Rows, Sweep};
use std::fmt::Write;

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 78.0;
const TOP: f64 = 40.0;
const RIGHT: f64 = 170.0;
const BOTTOM: f64 = 52.0;
const COLOURS: [&str; 8] =
    ["#1f6feb", "#d1495b", "#2a9d6f", "#8d5bd1", "#d9822b", "#0c8599", "#b5487e", "#6c757d"];
/// Points drawn at most; of more, every so many.
const POINTS: usize = 60_000;

/// Border lines of a map and what they say, for picture and page.
#[derive(Default)]
pub struct Lines {
    /// Points of each line.
    pub borders: Vec<Vec<[f64; 2]>>,
    /// The nominal point, when it lies in the frame.
    pub nominal: Option<[f64; 2]>,
}

/// What is drawn: a table of points, thinned.
pub struct View<'a> {
    title: &'a str,
    command: &'a str,
    sweep: &'a Sweep,
    rows: &'a Rows,
    /// Row and passage.
    points: Vec<(usize, usize)>,
}

impl<'a> View<'a> {
    /// Of a sweep.
    pub fn new(title: &'a str, command: &'a str, sweep: &'a Sweep, rows: &'a Rows) -> View<'a> {
        let count: usize =
            (0..rows.len()).filter(|&k| rows.is_done(k)).map(|k| rows.values(k).len().max(1)).sum();
        let one_in = count.div_ceil(POINTS).max(1);
        let all = (0..rows.len())
            .filter(|&row| rows.is_done(row))
            .flat_map(|row| (0..rows.values(row).len().max(1)).map(move |k| (row, k)));
        View { title, command, sweep, rows, points: all.step_by(one_in).collect() }
    }

    /// Names of all columns of the page: parameters, addresses, passages.
    fn names(&self) -> Vec<String> {
        let mut names = self.sweep.columns();
        names.truncate(names.len() - usize::from(self.sweep.plan.chain.is_some()));
        names
    }

    fn cells(&self, (row, k): (usize, usize)) -> Vec<Cell> {
        let mut point = Vec::new();
        self.sweep.plan.point(row, &mut point);
        let mut out: Vec<Cell> = point.into_iter().map(Cell::Number).collect();
        out.extend((0..self.sweep.record.len()).map(|c| self.rows.cell(row, c)));
        if self.sweep.diagram.is_some() {
            out.push(Cell::Number(self.rows.values(row).get(k).copied().unwrap_or(f64::NAN)));
        }
        out
    }

    /// Which columns stand on the axes: across, upwards, and as colour.
    fn axes(&self) -> (usize, usize, Option<usize>) {
        let parameters = self.sweep.plan.parameters().count();
        let long = |k: &usize| self.sweep.plan.axes[*k].count() > 1;
        let axes: Vec<usize> = (0..self.sweep.plan.axes.len()).filter(long).collect();
        let last = self.names().len() - 1;
        match axes[..] {
            _ if self.sweep.diagram.is_some() => (axes.first().copied().unwrap_or(0), last, None),
            [a, b, ..] if self.sweep.plan.chain.is_none() => (a, b, Some(parameters)),
            [a, ..] => (a, parameters, None),
            [] => {
                // a cloud over the parameter that matters most
                let most = self
                    .sweep
                    .summaries(self.rows)
                    .into_iter()
                    .next()
                    .and_then(|s| s.influence.into_iter().next());
                let place = most.and_then(|m| self.sweep.plan.parameters().position(|p| p == m.parameter));
                (place.unwrap_or(0), parameters, None)
            }
        }
    }
}

impl View<'_> {
    /// The axes of the page: where one of two parameters has few values the first address is drawn as curves over the other.
    fn first_look(&self) -> (usize, usize, Option<usize>) {
        const FEW: usize = 12;
        let first = self.sweep.plan.parameters().count();
        let count = |k: usize| self.sweep.plan.axes.get(k).map_or(usize::MAX, |a| a.count());
        let axes = self.axes();
        match axes {
            // a truth over samples: where it holds among the two parameters that matter most
            (_, up, None) if self.sweep.plan.axes.is_empty() && up == first => {
                self.where_it_holds().unwrap_or(axes)
            }
            (a, b, Some(z)) if z == first && count(a).min(count(b)) <= FEW && count(a) != count(b) => {
                if count(b) < count(a) { (a, first, Some(b)) } else { (b, first, Some(a)) }
            }
            axes => axes,
        }
    }

    /// The two parameters that matter most for the first address, and it as colour, if it is a truth that not always is the same.
    fn where_it_holds(&self) -> Option<(usize, usize, Option<usize>)> {
        let first = self.sweep.plan.parameters().count();
        let summary = self.sweep.summaries(self.rows).into_iter().next()?;
        summary.share?;
        let place = |k: usize| {
            let name = &summary.influence.get(k)?.parameter;
            self.sweep.plan.parameters().position(|p| p == name)
        };
        Some((place(0)?, place(1)?, Some(first)))
    }
}

/// The picture; `None` when there is nothing to draw.
pub fn picture(view: &View) -> Option<String> {
    drawn(view, &Lines::default())
}

/// The same with borders.
pub fn drawn(view: &View, lines: &Lines) -> Option<String> {
    let (across, up, colour) = view.axes();
    let names = view.names();
    let table: Vec<Vec<Cell>> = view.points.iter().map(|p| view.cells(*p)).collect();
    let classes = |column: usize| {
        let mut words: Vec<String> = table.iter().filter_map(|r| word(&r[column])).collect();
        words.sort();
        words.dedup();
        words
    };
    let mut out = titled(LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM, LEFT, view.title);
    match colour {
        Some(column) => {
            let frame = Frame::new([numbers(&table, across, &[]), numbers(&table, up, &[])], [0.0, 0.0])?;
            cells(view, &frame, &table, [across, up, column], &classes(column), &mut out);
            frame.axes(&names[across], &names[up], &mut out);
            borders(&frame, lines, &mut out);
        }
        None => {
            // all numeric addresses as curves, or one column of points
            let diagram = view.sweep.diagram.is_some();
            let parameters = view.sweep.plan.parameters().count();
            let shown: Vec<usize> = if diagram || view.sweep.plan.axes.is_empty() {
                vec![up]
            } else {
                (parameters..parameters + view.sweep.record.len()).take(6).collect()
            };
            let series: Vec<Vec<f64>> = shown.iter().map(|&c| numbers(&table, c, &classes(c))).collect();
            let frame = Frame::new([numbers(&table, across, &[]), series.concat()], [0.0, 0.06])?;
            frame.axes(&names[across], if shown.len() == 1 { &names[up] } else { "" }, &mut out);
            curves(view, &frame, &table, across, &shown, &series, &names, &mut out);
        }
    }
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"none\" stroke=\"#333\"/>"
    );
    out.push_str("</svg>\n");
    Some(signed(out))
}

/// What is not a number.
fn word(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Text(t) => Some(t.clone()),
        Cell::Bool(b) => Some(b.to_string()),
        Cell::Number(_) => None,
    }
}

/// A column as numbers; words by their place in `classes`.
fn numbers(table: &[Vec<Cell>], column: usize, classes: &[String]) -> Vec<f64> {
    let value = |cell: &Cell| match (cell, word(cell)) {
        (Cell::Number(x), _) => *x,
        (_, Some(w)) => classes.iter().position(|c| *c == w).map_or(f64::NAN, |k| k as f64),
        _ => f64::NAN,
    };
    table.iter().map(|row| value(&row[column])).collect()
}

/// The frame: what lies where.
struct Frame {
    x: [f64; 2],
    y: [f64; 2],
}

impl Frame {
    fn new(values: [Vec<f64>; 2], margins: [f64; 2]) -> Option<Frame> {
        let mut ends = [[0.0; 2]; 2];
        for (k, list) in values.iter().enumerate() {
            let finite = || list.iter().copied().filter(|v| v.is_finite());
            let (mut lo, mut hi) =
                (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
            if !(hi >= lo) {
                return None;
            }
            if hi - lo <= 1e-9 * hi.abs().max(lo.abs()) {
                let size = hi.abs().max(1e-12);
                (lo, hi) = (lo - 0.5 * size, hi + 0.5 * size);
            }
            let margin = margins[k] * (hi - lo);
            ends[k] = [lo - margin, hi + margin];
        }
        Some(Frame { x: ends[0], y: ends[1] })
    }

    fn at(&self, x: f64, y: f64) -> [f64; 2] {
        [
            LEFT + WIDTH * (x - self.x[0]) / (self.x[1] - self.x[0]),
            TOP + HEIGHT * (1.0 - (y - self.y[0]) / (self.y[1] - self.y[0])),
        ]
    }

    fn axes(&self, across: &str, up: &str, out: &mut String) {
        for x in ticks(self.x[0], self.x[1], 7) {
            let px = self.at(x, self.y[0])[0];
            let _ = writeln!(
                out,
                "<path d=\"M{0} {1}v5\" stroke=\"#333\"/><text x=\"{0}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>",
                short(px),
                TOP + HEIGHT,
                TOP + HEIGHT + 20.0,
                label(x)
            );
        }
        for y in ticks(self.y[0], self.y[1], 8) {
            let py = self.at(self.x[0], y)[1];
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {0}h-5\" stroke=\"#333\"/><text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{3}</text>",
                short(py),
                LEFT - 8.0,
                short(py + 4.0),
                label(y)
            );
        }
        let _ = writeln!(
            out,
            "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>\
             <text transform=\"translate(16 {3}) rotate(-90)\" text-anchor=\"middle\">{4}</text>",
            LEFT + WIDTH / 2.0,
            TOP + HEIGHT + 42.0,
            escape(across),
            TOP + HEIGHT / 2.0,
            escape(up)
        );
    }
}

fn curves(
    view: &View,
    frame: &Frame,
    table: &[Vec<Cell>],
    across: usize,
    shown: &[usize],
    series: &[Vec<f64>],
    names: &[String],
    out: &mut String,
) {
    let dots = view.sweep.diagram.is_some() || view.sweep.plan.axes.is_empty();
    let x = numbers(table, across, &[]);
    for (n, (column, y)) in shown.iter().zip(series).enumerate() {
        let ways: &[bool] = if view.sweep.plan.chain.is_some() { &[false, true] } else { &[false] };
        for &down in ways {
            let colour = COLOURS[(n + usize::from(down)) % 8];
            let (mut path, mut pen) = (String::new(), None);
            let mut drawn = std::collections::BTreeSet::new();
            for (k, point) in view.points.iter().enumerate() {
                let unit = point.0 / view.sweep.plan.per_unit();
                if ways.len() > 1 && view.sweep.plan.is_down(point.0) != down {
                    continue;
                }
                let [px, py] = frame.at(x[k], y[k]);
                if !y[k].is_finite() {
                    pen = None;
                    continue;
                }
                if dots {
                    // dots that fall on each other are one
                    if drawn.insert(((2.0 * px) as i64, (2.0 * py) as i64)) {
                        let _ = write!(path, "M{} {}h0", short(px), short(py));
                    }
                    continue;
                }
                // a line per chain, or per sweep of the first axis
                let goes_on = pen.is_some_and(|(before, at): (usize, f64)| {
                    (view.sweep.plan.chain.is_none() || before == unit) && (down || x[k] >= at)
                });
                let _ = write!(path, "{}{} {}", if goes_on { "L" } else { "M" }, short(px), short(py));
                pen = Some((unit, x[k]));
            }
            let (width, cap) = if dots { (1.4, "round") } else { (1.5, "butt") };
            let _ = writeln!(
                out,
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"{cap}\"/>"
            );
            let way = match ways.len() {
                1 => "",
                _ if down => " (down)",
                _ => " (up)",
            };
            legend(2 * n + usize::from(down), colour, &format!("{}{way}", names[*column]), out);
        }
    }
}

/// A map: a rectangle per point, coloured by its class or number.
fn cells(
    view: &View,
    frame: &Frame,
    table: &[Vec<Cell>],
    [a, b, c]: [usize; 3],
    classes: &[String],
    out: &mut String,
) {
    let sizes = [a, b].map(|k| view.sweep.plan.axes.get(k).map_or(2, |s| s.count()).max(2) as f64 - 1.0);
    let (w, h) = (WIDTH / sizes[0], HEIGHT / sizes[1]);
    let z = numbers(table, c, classes);
    let finite = || z.iter().copied().filter(|v| v.is_finite());
    let (lo, hi) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    let shade = |v: f64| match classes.is_empty() {
        false => COLOURS[v as usize % 8].to_string(),
        true => gradient(if hi > lo { (v - lo) / (hi - lo) } else { 0.5 }),
    };
    let _ = writeln!(
        out,
        "<clipPath id=\"frame\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/></clipPath><g clip-path=\"url(#frame)\" shape-rendering=\"crispEdges\">"
    );
    for (row, value) in table.iter().zip(&z).filter(|(_, v)| v.is_finite()) {
        let [x, y] = frame.at(row[a].number().unwrap_or(0.0), row[b].number().unwrap_or(0.0));
        let _ = writeln!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" opacity=\"{}\"/>",
            short(x - w / 2.0),
            short(y - h / 2.0),
            short(w + 0.05),
            short(h + 0.05),
            shade(*value),
            if classes.is_empty() { 1.0 } else { 0.55 }
        );
    }
    out.push_str("</g>\n");
    for (k, class) in classes.iter().take(16).enumerate() {
        legend(k, COLOURS[k % 8], class, out);
    }
    if classes.is_empty() && hi >= lo {
        for k in 0..=4 {
            let part = 1.0 - f64::from(k) / 4.0;
            legend(k as usize, &gradient(part), &label(lo + part * (hi - lo)), out);
        }
    }
}

fn borders(frame: &Frame, lines: &Lines, out: &mut String) {
    for line in &lines.borders {
        let points: Vec<String> = line
            .iter()
            .map(|p| {
                let [x, y] = frame.at(p[0], p[1]);
                format!("{x:.2},{y:.2}")
            })
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#111\" stroke-width=\"1.6\"/>",
            points.join(" ")
        );
    }
    if let Some([x, y]) = lines.nominal.map(|p| frame.at(p[0], p[1])) {
        let _ = writeln!(
            out,
            "<path d=\"M{0} {1}h12m-6 -6v12\" stroke=\"#111\" stroke-width=\"2\"/><title>nominal point</title>",
            short(x - 6.0),
            short(y)
        );
    }
}

fn legend(k: usize, colour: &str, text: &str, out: &mut String) {
    let (x, y) = (LEFT + WIDTH + 14.0, TOP + 14.0 + 22.0 * k as f64);
    if y < TOP + HEIGHT {
        let clipped: String = text.chars().take(20).collect();
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"13\" height=\"13\" fill=\"{}\"/><text x=\"{}\" y=\"{y}\">{}</text>",
            y - 11.0,
            colour,
            x + 20.0,
            escape(&clipped)
        );
    }
}

/// Dark blue over green to yellow.
fn gradient(part: f64) -> String {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = 4.0 * part.clamp(0.0, 1.0);
    let k = (place as usize).min(3);
    let mix = |c: usize| STOPS[k][c] + (place - k as f64) * (STOPS[k + 1][c] - STOPS[k][c]);
    format!("#{:02x}{:02x}{:02x}", mix(0) as u8, mix(1) as u8, mix(2) as u8)
}

const PAGE: &str = include_str!("../../../../web/sweep.html");
const SCRIPT: &str = include_str!("../../../../web/sweep.js");

/// The page.
pub fn page(view: &View, lines: Option<(&Lines, String)>) -> String {
    let (across, up, colour) = if lines.is_some() { view.axes() } else { view.first_look() };
    let row = |p: &(usize, usize)| {
        let cells: Vec<Json> = view.cells(*p).iter().map(Cell::json).collect();
        json!([cells, view.rows.error(p.0).unwrap_or(""), view.sweep.plan.is_down(p.0)])
    };
    let (borders, nominal, said) = match &lines {
        Some((lines, said)) => (json!(lines.borders), json!(lines.nominal), said.as_str()),
        None => (json!([]), Json::Null, ""),
    };
    let data = json!({
        "title": view.title, "command": view.command, "said": said, "answers": answers(view),
        "parameters": view.sweep.plan.parameters().collect::<Vec<_>>(), "names": view.names(),
        "axes": [across, up, colour], "chain": view.sweep.plan.chain.is_some(),
        "dots": view.sweep.diagram.is_some() || view.sweep.plan.axes.is_empty(),
        "done": view.rows.count_done(), "count": view.rows.len(), "failed": view.rows.count_failed(),
        "borders": borders, "nominal": nominal,
        "rows": view.points.iter().map(row).collect::<Vec<_>>(),
    });
    let data = data.to_string().replace("</", "\\u003c/").replace("<!", "\\u003c!");
    let parts = [
        ("{{TITLE}}", escape(view.title)),
        ("{{CSS}}", super::STYLE.to_string()),
        ("{{DATA}}", data),
        ("{{JS}}", SCRIPT.to_string()),
    ];
    super::fill(PAGE, &parts)
}

/// What every address says as a whole, in words and as numbers to be drawn.
fn answers(view: &View) -> Vec<Json> {
    let first = view.sweep.plan.parameters().count();
    let random = !view.sweep.plan.random.is_empty();
    let sampled = view.sweep.plan.is_sampled();
    let one = |(k, s): (usize, specht::machine::sweep::Summary)| {
        let influence = if random { json!(s.influence) } else { json!([]) };
        json!({
            "of": s.of, "column": first + k, "lines": crate::words::sweep::sentences(view.sweep, &s),
            "share": s.share.filter(|_| sampled), "numbers": s.numbers.filter(|_| sampled), "influence": influence,
        })
    };
    view.sweep.summaries(view.rows).into_iter().enumerate().map(one).collect()
}
