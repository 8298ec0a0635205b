//! Measured records without a model: what an oscillogram of stick-slip says (ANH-6.2-OSC, ANH-6.6-FSLIDE).

use serde::Serialize;

use crate::analysis::fit::student_quantile;
use crate::analysis::oscillogram::{Slide, slides, smoothed, spline};
use crate::expr::Dim;
use crate::file::Csv;

use super::Error;
use super::json::Num;

/// The rig: a slider behind a spring whose end moves steadily.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rig {
    /// Stiffness of the spring, N/m.
    pub stiffness: f64,
    /// Mass of the slider, kg.
    pub mass: f64,
    /// Speed of the end of the spring, m/s; `None`: from the slope of the record at rest.
    pub speed: Option<f64>,
}

/// What a record of stick-slip says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Oscillogram {
    /// Every cycle.
    pub cycles: Vec<OscillogramCycle>,
    /// Break-down force over the cycles.
    pub break_down: Scatter,
    /// Pick-up force over the cycles.
    pub pick_up: Scatter,
    /// Friction while sliding, [speed, force], over all slides.
    pub sliding: Vec<[f64; 2]>,
    /// Speed of the end of the spring, m/s.
    pub speed: f64,
    /// Page.
    pub explain: &'static str,
}

/// One cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OscillogramCycle {
    /// When the spring is longest, s.
    pub time: f64,
    /// Force at which the slide begins, N.
    pub break_down: f64,
    /// Force at which it ends, N.
    pub pick_up: f64,
    /// Rate of loading at rest, N/s.
    pub load_rate: f64,
    /// Time at rest before the slide, s; `null` for the first.
    pub contact_time: Num,
    /// Largest and least force of the record, and how far they lie beyond: F̂ − F, N.
    pub naive: [f64; 2],
    /// Their errors.
    pub error: [f64; 2],
    /// Mean friction force of the slide, N.
    pub sliding_force: Num,
}

/// Mean and scatter of a force (ANH-6.5-STATS).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scatter {
    /// Mean.
    pub mean: f64,
    /// Variance.
    pub variance: Num,
    /// 95 % interval of the mean.
    pub interval: [Num; 2],
}

/// Break-down and pick-up forces of a record with columns `t` and `F` (force of the spring) or `y` (its deflection).
///
/// # Errors
///
/// Columns that are missing, a record without slides, or one that contradicts the rig, with the line.
pub fn oscillogram(text: &str, rig: &Rig) -> Result<Oscillogram, Error> {
    let wrong = |why: String| Error::plain(why, "columns are t [s] and F [N] (or the deflection y [m])");
    let csv = Csv::read(text).map_err(wrong)?;
    for (what, x) in [("stiffness", rig.stiffness), ("mass", rig.mass), ("speed", rig.speed.unwrap_or(1.0))] {
        if !(x.is_finite() && x > 0.0) {
            return Err(Error::plain(format!("the {what} must be positive, not {x}"), ""));
        }
    }
    let column = |name: &str| -> Result<(Vec<f64>, Dim), Error> {
        let column = csv.column(name).map_err(wrong)?;
        if let Some((line, cell)) = &column.text {
            return Err(Error::plain(format!("line {line}: `{cell}` is not a number"), ""));
        }
        if let Some(i) = column.values.iter().position(|v| v.is_nan()) {
            return Err(Error::plain(
                format!("line {}: no number in column `{name}`", csv.lines[i]),
                "an oscillogram has no gaps; cut the record before or after it",
            ));
        }
        column.in_si().map_err(wrong)
    };
    let (t, _) = column("t")?;
    if let Some(i) = t.windows(2).position(|w| !(w[1] > w[0])) {
        let why = format!("line {}: the time does not rise", csv.lines[i + 1]);
        return Err(Error::plain(why, "sort the rows by time"));
    }
    let y: Vec<f64> = match csv.columns.iter().any(|c| c.name == "y") {
        true => column("y")?.0,
        false => column("F")?.0.iter().map(|f| f / rig.stiffness).collect(),
    };
    let w = (rig.stiffness / rig.mass).sqrt();
    let found: Vec<Slide> = slides(&y).into_iter().map(|s| smoothed(&t, &y, w, s)).collect();
    if found.is_empty() {
        return Err(Error::plain(
            "the record has no slide: its force never rises and falls back",
            "an oscillogram of stick-slip shows at least one jump; check its columns and units",
        ));
    }
    let speed = rig.speed.unwrap_or_else(|| slope(&t, &y, &found));
    let mut cycles: Vec<OscillogramCycle> = Vec::new();
    let mut sliding = Vec::new();
    for slide in &found {
        let (forces, error) =
            ends(slide, rig, speed).ok_or_else(|| contradiction(slide, &t, &csv, rig, speed))?;
        let curve = friction(slide, &t, &y, rig, speed);
        let inner = &curve[curve.len() / 4..curve.len() - curve.len() / 4];
        let mean = inner.iter().map(|p| p[1]).sum::<f64>() / inner.len() as f64;
        let before = cycles.last().map_or(f64::NAN, |c| (forces[0] - c.pick_up) / (rig.stiffness * speed));
        cycles.push(OscillogramCycle {
            time: t[slide.top],
            break_down: forces[0],
            pick_up: forces[1],
            load_rate: rig.stiffness * speed,
            contact_time: Num(before),
            naive: [slide.largest, slide.least].map(|y| rig.stiffness * y),
            error,
            sliding_force: Num(mean),
        });
        sliding.extend(curve);
    }
    let of = |pick: fn(&OscillogramCycle) -> f64| Scatter::of(&cycles.iter().map(pick).collect::<Vec<f64>>());
    Ok(Oscillogram {
        break_down: of(|c| c.break_down),
        pick_up: of(|c| c.pick_up),
        cycles,
        sliding,
        speed,
        explain: "fit",
    })
}

/// (6.9), (6.10), and how far the extremes lie beyond (6.13).
fn ends(slide: &Slide, rig: &Rig, speed: f64) -> Option<([f64; 2], [f64; 2])> {
    let (middle, a) = (0.5 * (slide.largest + slide.least), 0.5 * (slide.largest - slide.least));
    let rest = a * a - speed * speed * rig.mass / rig.stiffness;
    let root = (rest >= 0.0).then(|| rest.sqrt())?;
    let beyond = rig.stiffness * (a - root);
    Some(([middle + root, middle - root].map(|y| rig.stiffness * y), [beyond, -beyond]))
}

fn contradiction(slide: &Slide, t: &[f64], csv: &Csv, rig: &Rig, speed: f64) -> Error {
    let a = 0.5 * (slide.largest - slide.least);
    let least = speed * (rig.mass / rig.stiffness).sqrt();
    Error::plain(
        format!(
            "line {}: the slide at t = {} has the amplitude {a:.4e} m, but a slider that stops needs at least v sqrt(m/c) = {least:.4e} m",
            csv.lines[slide.top], t[slide.top]
        ),
        "check stiffness, mass, speed and the unit of the record; a smaller amplitude is an oscillation without stops",
    )
}

/// F = c y + m y″ over the speed of slip v − y′, inside a slide.
fn friction(slide: &Slide, t: &[f64], y: &[f64], rig: &Rig, speed: f64) -> Vec<[f64; 2]> {
    let (from, to) = (slide.top, slide.bottom);
    let (g, second) = spline(&t[from..=to], &y[from..=to]);
    let rate = |i: usize| (g[i + 1] - g[i - 1]) / (t[from + i + 1] - t[from + i - 1]);
    (1..g.len() - 1).map(|i| [speed - rate(i), rig.stiffness * g[i] + rig.mass * second[i]]).collect()
}

/// Median slope of the rising parts between slides.
fn slope(t: &[f64], y: &[f64], all: &[Slide]) -> f64 {
    let mut rates: Vec<f64> = all
        .windows(2)
        .filter_map(|w| {
            let (from, to) = (w[0].bottom, w[1].top);
            let quarter = (to - from) / 4;
            let (a, b) = (from + quarter, to - quarter);
            (b > a).then(|| (y[b] - y[a]) / (t[b] - t[a]))
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(0.0)
}

impl Scatter {
    fn of(list: &[f64]) -> Scatter {
        let n = list.len() as f64;
        let mean = list.iter().sum::<f64>() / n;
        if list.len() < 2 {
            return Scatter { mean, variance: Num(f64::NAN), interval: [Num(f64::NAN); 2] };
        }
        let variance = list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let half = student_quantile(0.975, n - 1.0) * (variance / n).sqrt();
        Scatter { mean, variance: Num(variance), interval: [Num(mean - half), Num(mean + half)] }
    }
}
