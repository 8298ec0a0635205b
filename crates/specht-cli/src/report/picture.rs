//! A still picture of a run as SVG, for documents: the machine at a few instants, two plots and the modes below them.

use super::polyline::simplify;
use super::svg::{escape, signed};
use crate::session::Finished;
use specht::machine::scene::{DrawTrack, Place, Prim, Scene};
use specht::machine::table::Column;
use specht::model::Input;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 400.0;
const STAGE: f64 = 340.0;
const COLOURS: [&str; 8] =
    ["#1f6feb", "#d1495b", "#2a9d6f", "#8d5bd1", "#d9822b", "#0c8599", "#b5487e", "#6c757d"];
const MODES: [&str; 5] = ["#d5d9de", "#2563a8", "#e08a1e", "#9254b8", "#3a9a6b"];
const INK: &str = "#1c1f23";
const SOFT: &str = "#5b626b";
const BODY: &str = "#d9dee5";
const EDGE: &str = "#49515c";
const GROUND: &str = "#8b8f86";

/// The picture.
pub fn picture(run: &Finished) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"11\">\n\
         <title>{}</title>\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\" fill=\"#ffffff\"/>\n",
        escape(&run.model().name)
    );
    let scene = run.run.scene();
    let left = match &scene {
        Some(scene) => {
            stage(scene, &mut out);
            STAGE + 20.0
        }
        None => 10.0,
    };
    plots(run, left, &mut out);
    out += "</svg>\n";
    signed(out)
}

/// The machine: ghosts of earlier instants, then one in full.
fn stage(s: &Scene, out: &mut String) {
    let count = s.t.len();
    let shown: Vec<(usize, f64)> = if count < 2 {
        vec![(0, 1.0)]
    } else if s.follow || s.scheme {
        vec![(count * 3 / 5, 1.0)]
    } else {
        let last = (count - 1) as f64;
        [(0.0, 0.22), (0.2, 0.3), (0.4, 0.4), (0.6, 1.0)]
            .iter()
            .map(|(part, o)| ((part * last) as usize, *o))
            .collect()
    };
    let now = shown[shown.len() - 1].0;
    let view = View::of(s, now);
    let _ = writeln!(
        out,
        "<clipPath id=\"stage\"><rect x=\"10\" y=\"10\" width=\"{STAGE}\" height=\"{}\" rx=\"6\"/></clipPath>\n\
         <rect x=\"10\" y=\"10\" width=\"{STAGE}\" height=\"{}\" rx=\"6\" fill=\"#f6f6f3\"/>\n<g clip-path=\"url(#stage)\">",
        HEIGHT - 20.0,
        HEIGHT - 20.0
    );
    for p in &s.ground {
        prim(p, &Place::default(), &view, true, out);
    }
    for (k, opacity) in shown {
        let _ = writeln!(out, "<g opacity=\"{opacity}\">");
        instant(s, k, &view, out);
        out.push_str("</g>\n");
    }
    out.push_str("</g>\n");
}

/// The machine at frame `k`.
fn instant(s: &Scene, k: usize, view: &View, out: &mut String) {
    for draw in &s.draws {
        match draw {
            DrawTrack::Path(list) => {
                let points: Vec<String> = list[k].iter().map(|p| view.pair(*p)).collect();
                let closed = list[k].len() > 3 && list[k].first() == list[k].last();
                let fill = match (closed, draw.moves()) {
                    (true, true) => BODY,
                    (true, false) => "#ecece8",
                    _ => "none",
                };
                let _ = writeln!(
                    out,
                    "<polyline points=\"{}\" fill=\"{fill}\" stroke=\"{EDGE}\" stroke-width=\"2\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                    points.join(" ")
                );
            }
            DrawTrack::Circle(list) => {
                let [x, y, r] = list[k];
                circle(view.at([x, y]), r * view.scale, "none", EDGE, 2.0, out);
            }
        }
    }
    for ends in &s.springs {
        spring(view.at(ends[0][k]), view.at(ends[1][k]), out);
    }
    for body in &s.bodies {
        let place = &body.places[k];
        if body.bones.len() > 1 {
            let points: Vec<String> = body.bones.iter().map(|p| view.pair(place.point(*p))).collect();
            let (tag, fill) = if body.bones.len() > 2 { ("polygon", BODY) } else { ("polyline", "none") };
            for (width, colour) in [(8.0, EDGE), (5.4, BODY)] {
                let _ = writeln!(
                    out,
                    "<{tag} points=\"{}\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linejoin=\"round\" stroke-linecap=\"round\"/>",
                    points.join(" ")
                );
            }
        }
        for p in &body.shapes {
            prim(p, place, view, false, out);
        }
    }
}

/// Frames of a period that are drawn.
const FRAMES: usize = 20;

/// The machine swinging on a stage of its own, slowly, again and again; `number` tells stages of one picture apart.
pub fn swinging(s: &Scene, number: usize) -> String {
    let view = View::of(s, 0);
    let mut out = format!(
        "<clipPath id=\"stage{number}\"><rect x=\"10\" y=\"10\" width=\"{STAGE}\" height=\"{0}\" rx=\"6\"/></clipPath>\n\
         <rect x=\"10\" y=\"10\" width=\"{STAGE}\" height=\"{0}\" rx=\"6\" fill=\"#f6f6f3\"/>\n<g clip-path=\"url(#stage{number})\">",
        HEIGHT - 20.0
    );
    for p in &s.ground {
        prim(p, &Place::default(), &view, true, &mut out);
    }
    for j in 0..FRAMES {
        let [from, to] = [j, j + 1].map(|k| k as f64 / FRAMES as f64);
        let (seen, values, times) = match j {
            0 => ("visible", "visible;hidden", format!("0;{to}")),
            _ => ("hidden", "hidden;visible;hidden", format!("0;{from};{to}")),
        };
        let _ = writeln!(
            out,
            "<g visibility=\"{seen}\"><animate attributeName=\"visibility\" calcMode=\"discrete\" dur=\"1.6s\" repeatCount=\"indefinite\" values=\"{values}\" keyTimes=\"{times}\"/>"
        );
        instant(s, j * s.t.len().saturating_sub(1) / FRAMES, &view, &mut out);
        out.push_str("</g>\n");
    }
    out + "</g>\n"
}

struct View {
    middle: [f64; 2],
    scale: f64,
    up: f64,
}

impl View {
    /// Everything that ever is in the picture; what travels stands in the middle.
    fn of(s: &Scene, now: usize) -> View {
        let b = if s.follow { s.near } else { s.bounds };
        let size = (b[2] - b[0]).max(b[3] - b[1]);
        let pad = 0.08 * size;
        let scale =
            ((STAGE - 20.0) / (b[2] - b[0] + 2.0 * pad)).min((HEIGHT - 40.0) / (b[3] - b[1] + 2.0 * pad));
        let mut middle = [(b[0] + b[2]) / 2.0, (b[1] + b[3]) / 2.0];
        if s.follow {
            let n = s.bodies.len().max(1) as f64;
            for body in &s.bodies {
                middle[0] += body.places[now].at[0] / n;
                middle[1] += body.places[now].at[1] / n;
            }
        }
        View { middle, scale, up: s.up }
    }

    fn at(&self, p: [f64; 2]) -> [f64; 2] {
        [
            10.0 + STAGE / 2.0 + (p[0] - self.middle[0]) * self.scale,
            HEIGHT / 2.0 - self.up * (p[1] - self.middle[1]) * self.scale,
        ]
    }

    fn pair(&self, p: [f64; 2]) -> String {
        let [x, y] = self.at(p);
        format!("{},{}", short(x), short(y))
    }
}

fn prim(p: &Prim, place: &Place, view: &View, fixed: bool, out: &mut String) {
    let edge = if fixed { GROUND } else { EDGE };
    match p {
        Prim::Point(q) => {
            circle(view.at(place.point(*q)), if fixed { 3.5 } else { 2.6 }, edge, "none", 0.0, out)
        }
        Prim::Flat(q, n) => {
            let ([x, y], n) = (view.at(place.point(*q)), place.direction(*n));
            let (nx, ny) = (n[0], -n[1] * view.up);
            let far = if fixed { 900.0 } else { 60.0 };
            // a strip of material and its surface
            let corner = |along: f64, deep: f64| {
                format!("{},{}", short(x - ny * along - nx * deep), short(y + nx * along - ny * deep))
            };
            let _ = writeln!(
                out,
                "<polygon points=\"{} {} {} {}\" fill=\"{GROUND}\" opacity=\"0.22\"/><polyline points=\"{} {}\" stroke=\"{GROUND}\" stroke-width=\"1.8\"/>",
                corner(-far, 0.0),
                corner(far, 0.0),
                corner(far, 12.0),
                corner(-far, 12.0),
                corner(-far, 0.0),
                corner(far, 0.0)
            );
        }
        Prim::Round(c, r, hole) => {
            let center = view.at(place.point(*c));
            circle(
                center,
                (r * view.scale).max(1.5),
                if *hole || fixed { "none" } else { BODY },
                edge,
                1.6,
                out,
            );
            if !hole && !fixed {
                line(center, view.at(place.point([c[0] + r, c[1]])), edge, 1.2, out);
            }
        }
        Prim::Path(points, closed) => {
            let list: Vec<String> = points.iter().map(|q| view.pair(place.point(*q))).collect();
            let (tag, fill) = match (closed, fixed) {
                (true, false) => ("polygon", BODY),
                (true, true) => ("polygon", "#dcded8"),
                _ => ("polyline", "none"),
            };
            let _ = writeln!(
                out,
                "<{tag} points=\"{}\" fill=\"{fill}\" stroke=\"{edge}\" stroke-width=\"1.6\"/>",
                list.join(" ")
            );
        }
        Prim::Block(w, h) => {
            let [x, y] = view.at(place.at);
            let (w, h) = (w * view.scale, h * view.scale);
            let _ = writeln!(
                out,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{BODY}\" stroke=\"{EDGE}\" stroke-width=\"1.6\"/>",
                short(x - w / 2.0),
                short(y - h / 2.0),
                short(w),
                short(h)
            );
        }
        Prim::Disc(d) => {
            let (center, r) = (view.at(place.at), d * view.scale / 2.0);
            circle(center, r, BODY, EDGE, 1.6, out);
            let (s, c) = (place.angle * view.up).sin_cos();
            line(center, [center[0] + r * c, center[1] - r * s], EDGE, 2.0, out);
        }
        Prim::Bar(l) => {
            let (center, r) = (view.at(place.at), (l * view.scale / 2.0).max(14.0));
            let (s, c) = (place.angle * view.up).sin_cos();
            let (a, b) = ([center[0] - r * c, center[1] + r * s], [center[0] + r * c, center[1] - r * s]);
            line(a, b, EDGE, 8.0, out);
            line(a, b, BODY, 5.4, out);
        }
        Prim::Dot => circle(view.at(place.at), 7.0, BODY, EDGE, 1.6, out),
    }
}

fn circle(c: [f64; 2], r: f64, fill: &str, stroke: &str, width: f64, out: &mut String) {
    let _ = writeln!(
        out,
        "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
        short(c[0]),
        short(c[1]),
        short(r)
    );
}

fn line(a: [f64; 2], b: [f64; 2], stroke: &str, width: f64, out: &mut String) {
    let _ = writeln!(
        out,
        "<path d=\"M{} {}L{} {}\" stroke=\"{stroke}\" stroke-width=\"{width}\" stroke-linecap=\"round\"/>",
        short(a[0]),
        short(a[1]),
        short(b[0]),
        short(b[1])
    );
}

fn spring(a: [f64; 2], b: [f64; 2], out: &mut String) {
    let d = [b[0] - a[0], b[1] - a[1]];
    let length = d[0].hypot(d[1]).max(1e-9);
    let side = [-d[1] / length * 5.0, d[0] / length * 5.0];
    let mut points = vec![format!("{},{}", short(a[0]), short(a[1]))];
    for k in 0..=9 {
        let s = 0.15 + 0.7 * f64::from(k) / 9.0;
        let turn = if k == 0 || k == 9 {
            0.0
        } else if k % 2 == 1 {
            1.0
        } else {
            -1.0
        };
        points.push(format!(
            "{},{}",
            short(a[0] + s * d[0] + turn * side[0]),
            short(a[1] + s * d[1] + turn * side[1])
        ));
    }
    points.push(format!("{},{}", short(b[0]), short(b[1])));
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{SOFT}\" stroke-width=\"1.4\"/>",
        points.join(" ")
    );
}

/// Two panels and the bands.
fn plots(run: &Finished, left: f64, out: &mut String) {
    let names = &run.names();
    let contacts = names.contacts.len().min(6);
    let bands = 14.0 * contacts as f64;
    let columns =
        |list: &[String], key: &str| list.iter().map(|n| format!("{n}{key}")).collect::<Vec<String>>();
    let values = |name: &String| run.table.numbers(name).unwrap_or(&[]);
    let varies = |list: &[String]| list.iter().any(|n| values(n).iter().any(|v| *v != values(n)[0]));
    let (normals, tangentials) =
        (columns(&names.contacts, ".normal"), columns(&names.contacts, ".tangential"));
    let second = if varies(&normals) {
        ("normal forces", normals)
    } else if varies(&tangentials) {
        ("tangential forces", tangentials)
    } else {
        ("velocities", columns(&names.coordinates, "'"))
    };
    // outputs that repeat the panel below say nothing new
    let new: Vec<String> =
        names.outputs.iter().filter(|o| second.1.iter().all(|s| values(s) != values(o))).cloned().collect();
    let first = if new.is_empty() { ("coordinates", names.coordinates.clone()) } else { ("outputs", new) };
    let height = (HEIGHT - 44.0 - bands) / 2.0;
    panel(run, first.0, &first.1, left, 10.0, height, out);
    panel(run, second.0, &second.1, left, 10.0 + height, height, out);

    // modes
    let t = run.trajectory().samples.times();
    let (from, to) = (t.first().copied().unwrap_or(0.0), t.last().copied().unwrap_or(1.0));
    let (x0, x1) = (left + 64.0, WIDTH - 16.0);
    let px = |time: f64| x0 + (time - from) / (to - from).max(1e-300) * (x1 - x0);
    let top = 14.0 + 2.0 * height;
    for (k, name) in names.contacts.iter().take(contacts).enumerate() {
        let y = top + 14.0 * k as f64;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{INK}\">{}</text>",
            x0 - 7.0,
            y + 9.0,
            escape(&clip(name))
        );
        let mut begun = (from, usize::MAX);
        let mut drawn = f64::NEG_INFINITY;
        let mut close = |begun: (f64, usize), end: f64| {
            // thousands of modes within a pixel are drawn as a few
            if begun.1 < MODES.len() && end > begun.0 && px(end) > drawn + 0.3 {
                drawn = px(end);
                let _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"10\" fill=\"{}\"/>",
                    short(px(begun.0)),
                    short(y),
                    short((px(end) - px(begun.0)).max(0.3)),
                    MODES[begun.1]
                );
            }
        };
        for row in run.trajectory().samples.rows() {
            let code = Input::mode_number(row.modes[k]) as usize;
            if code != begun.1 {
                close(begun, row.t);
                begun = (row.t, code);
            }
        }
        close(begun, to);
    }
    let y = top + bands + 14.0;
    for time in ticks(from, to, 7) {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{SOFT}\">{}</text>",
            short(px(time)),
            y,
            label(time)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{SOFT}\">time, s</text>",
        x0 - 7.0,
        y
    );
}

fn panel(run: &Finished, title: &str, names: &[String], left: f64, top: f64, height: f64, out: &mut String) {
    let t = run.trajectory().samples.times();
    let curves: Vec<(&String, &[f64])> = names
        .iter()
        .filter_map(|n| match run.table.column(n) {
            Some(Column::Numbers(y)) => Some((n, y.as_slice())),
            _ => None,
        })
        .take(6)
        .collect();
    let finite = || curves.iter().flat_map(|c| c.1.iter().copied()).filter(|v| v.is_finite());
    let (mut lo, mut hi) =
        (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    if !(hi >= lo) {
        (lo, hi) = (-1.0, 1.0);
    }
    if hi - lo < 1e-6 * hi.abs().max(lo.abs()).max(1e-12) {
        let size = hi.abs().max(1e-12);
        (lo, hi) = (lo - 0.5 * size, hi + 0.5 * size);
    }
    let margin = 0.06 * (hi - lo);
    (lo, hi) = (lo - margin, hi + margin);
    let (from, to) = (t.first().copied().unwrap_or(0.0), t.last().copied().unwrap_or(1.0));
    let (x0, x1, y0, y1) = (left + 64.0, WIDTH - 16.0, top + 20.0, top + height - 6.0);
    let px = |x: f64| x0 + (x - from) / (to - from).max(1e-300) * (x1 - x0);
    let py = |y: f64| y1 - (y - lo) / (hi - lo) * (y1 - y0);

    // title and legend
    let _ = writeln!(
        out,
        "<text x=\"{x0}\" y=\"{}\" fill=\"{SOFT}\" font-weight=\"600\">{title}</text>",
        top + 12.0
    );
    let mut x = x1;
    let shown = |name: &str| clip(name.trim_end_matches(".normal").trim_end_matches(".tangential"));
    let width = |name: &str| 6.6 * shown(name).chars().count() as f64 + 30.0;
    let mut room = x1 - x0 - 7.0 * title.len() as f64;
    let fits = curves.iter().take_while(|(name, _)| {
        room -= width(name);
        room > 0.0
    });
    for (k, (name, _)) in fits.enumerate().collect::<Vec<_>>().into_iter().rev() {
        let text = shown(name);
        x -= 6.6 * text.chars().count() as f64 + 6.0;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{INK}\">{}</text><rect x=\"{}\" y=\"{}\" width=\"12\" height=\"3\" rx=\"1.5\" fill=\"{}\"/>",
            short(x),
            top + 12.0,
            escape(&text),
            short(x - 16.0),
            top + 7.0,
            COLOURS[k % 8]
        );
        x -= 24.0;
    }

    // grid
    for y in ticks(lo, hi, (height / 32.0) as usize) {
        let colour = if y == 0.0 { "#9aa1a9" } else { "#e8e9e6" };
        let _ = writeln!(
            out,
            "<path d=\"M{x0} {}H{x1}\" stroke=\"{colour}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{SOFT}\">{}</text>",
            short(py(y)),
            x0 - 7.0,
            short(py(y) + 4.0),
            label(y)
        );
    }
    for time in ticks(from, to, 7) {
        let _ = writeln!(
            out,
            "<path d=\"M{} {}V{}\" stroke=\"#e8e9e6\"/>",
            short(px(time)),
            short(y0),
            short(y1)
        );
    }

    // curves, with the extremes of small pieces
    for (k, (_, y)) in curves.iter().enumerate() {
        let kept = super::thin(y, 4 * (0.7 * (x1 - x0)) as usize);
        let mut path = String::new();
        for piece in kept.split(|i| !y[*i].is_finite()) {
            let points: Vec<[f64; 2]> = piece.iter().map(|i| [px(t[*i]), py(y[*i])]).collect();
            for (n, [x, y]) in simplify(&points, 0.15).into_iter().enumerate() {
                let _ = write!(path, "{}{} {}", if n > 0 { "L" } else { "M" }, short(x), short(y));
            }
        }
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\" stroke-linejoin=\"round\"/>",
            COLOURS[k % 8]
        );
    }
}

/// Round numbers in an interval.
pub(super) fn ticks(lo: f64, hi: f64, count: usize) -> Vec<f64> {
    let raw = (hi - lo) / count.max(1) as f64;
    if !(raw > 0.0 && raw.is_finite()) {
        return Vec::new();
    }
    let power = 10f64.powi(raw.log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= 0.999 * raw).unwrap_or(power);
    let first = (lo / step - 1e-9).ceil() as i64;
    let last = (hi / step + 1e-9).floor() as i64;
    (first..=last).take(50).map(|k| k as f64 * step).collect()
}

pub(super) fn label(x: f64) -> String {
    let text = if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) {
        format!("{:e}", format!("{x:.3e}").parse::<f64>().unwrap_or(x))
    } else {
        format!("{}", format!("{x:.6}").parse::<f64>().unwrap_or(x))
    };
    if text == "-0" { "0".into() } else { text.replace('-', "−") }
}

fn clip(name: &str) -> String {
    if name.chars().count() > 16 { name.chars().take(15).chain(['…']).collect() } else { name.to_string() }
}

pub(super) fn short(x: f64) -> String {
    let text = format!("{x:.1}");
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}
