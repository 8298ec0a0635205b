//! Fits in words.

use super::{BAD, GOOD, WARN, short};
use specht::machine::finding::{FitFinding, FrictionLawFinding};

/// Parameters with their intervals, and what they are worth.
pub fn fit(f: &FitFinding, out: &mut String) {
    let width = f.estimate.iter().map(|(n, _)| n.len()).max().unwrap_or(0);
    let rows = f.estimate.iter().zip(f.half_width.iter()).zip(f.identifiable.iter());
    for (k, (((name, value), (_, half)), (_, known))) in rows.enumerate() {
        let interval = match half.0.is_finite() {
            true => {
                let share = 100.0 * (half.0 / value.0).abs();
                format!("± {}  ({} %)", short(half.0), short((10.0 * share).round() / 10.0))
            }
            false if f.at_bound.iter().any(|b| b == name) => format!("{WARN}at its bound{WARN:#}"),
            false if !known => format!("{BAD}cannot be told from the data{BAD:#}"),
            false => "no interval".into(),
        };
        *out += &format!("  {name:width$} = {:<12} {interval}", short(value.0));
        if let Some((_, ends)) = f.profile.as_ref().and_then(|p| p.iter().nth(k)) {
            *out += &format!("  profile {} … {}", short(ends[0].0), short(ends[1].0));
        }
        let drawn = f.bootstrap.as_ref().and_then(|p| p.iter().nth(k));
        if let Some((_, ends)) = drawn.filter(|(_, e)| e[0].0.is_finite()) {
            *out += &format!("  resampled {} … {}", short(ends[0].0), short(ends[1].0));
        }
        *out += "\n";
    }
    let how = if f.along { "along the run" } else { "of a formula" };
    let word = if f.converged { format!("{GOOD}minimum{GOOD:#}") } else { format!("{BAD}no minimum{BAD:#}") };
    *out += &format!(
        "  {word} after {} steps; {} residuals {how}, {} degrees of freedom; 95 % intervals\n",
        f.iterations, f.points, f.freedom
    );
    *out += &format!(
        "  residuals  sigma {}, runs {} (p = {}), neighbours' correlation {}\n",
        short(f.sigma),
        f.residual_tests.runs,
        short(f.residual_tests.runs_p),
        short(f.residual_tests.lag1)
    );
    if let Some(v) = &f.validation {
        let word = if v.predicts {
            format!("{GOOD}predicted{GOOD:#}")
        } else {
            format!("{BAD}not predicted{BAD:#}")
        };
        let parts = v.rms.iter().zip(v.fitted.iter());
        let parts: Vec<String> =
            parts.map(|((n, a), (_, b))| format!("{n} to {} (fitted: {})", short(a.0), short(b.0))).collect();
        *out += &format!("  last {} rows {word}: {}\n", v.rows, parts.join(", "));
    }
    if let Some(block) = f.block {
        *out += &format!("  resampled in blocks of {block} rows\n");
    }
    let strong: Vec<String> = pairs(f)
        .into_iter()
        .filter(|p| p.2.abs() > 0.9)
        .map(|(a, b, c)| format!("{a}, {b}: {}", short(c)))
        .collect();
    if !strong.is_empty() {
        *out += &format!("  strongly correlated  {}\n", strong.join("; "));
    }
    if let Some(c) = &f.combination {
        let parts: Vec<String> =
            c.iter().filter(|(_, x)| x.0 != 0.0).map(|(n, x)| format!("{n} {:+.2}", x.0)).collect();
        *out += &format!("  free combination, relative changes that cancel: {}\n", parts.join(", "));
    }
    for c in &f.compare {
        *out += &format!("  model   {}: AIC {}, weight {}\n", c.model, short(c.aic), short(c.weight));
    }
    if !f.differenced.is_empty() {
        *out += &format!("  by differences where no derivative exists: {}\n", f.differenced.join(", "));
    }
    for note in &f.notes {
        *out += &format!("  {WARN}note{WARN:#}    {note}\n");
    }
}

/// Every pair once, with its correlation.
fn pairs(f: &FitFinding) -> Vec<(&str, &str, f64)> {
    let rows = f.correlation.iter().enumerate();
    rows.flat_map(|(i, (a, row))| row.iter().skip(i + 1).map(move |(b, c)| (a, b, c.0))).collect()
}

/// Friction laws.
pub fn friction_law(f: &FrictionLawFinding, out: &mut String) {
    for (name, l) in f.laws.iter() {
        *out += &format!("  {name}  {} from {} at speed 0", l.of, short(l.at_zero));
        *out += &format!(" to {} at least (speed {})\n", short(l.minimum.value), short(l.minimum.speed));
        *out += &match l.at_rest[0] == l.at_rest[1] {
            true => format!("    at rest {}\n", short(l.at_rest[0])),
            false => format!(
                "    at rest {} at once, {} after long rest\n",
                short(l.at_rest[0]),
                short(l.at_rest[1])
            ),
        };
        *out += &match l.steepest {
            Some(s) => format!(
                "    falls most steeply at speed {}: slope {}; a damper above {} N s/m outweighs it{}\n",
                short(s.speed),
                short(s.value),
                short(l.damping_needed),
                if l.of == "coefficient" && l.normal.0.is_nan() { " per newton of normal force" } else { "" }
            ),
            None => "    never falls: steady sliding is not self-excited by it\n".into(),
        };
    }
    for l in &f.called {
        let word = match l.passive {
            Some(true) => format!("{GOOD}passive{GOOD:#}"),
            Some(false) => format!("{BAD}can give energy{BAD:#}"),
            None => "passive or not, depending on the motion".into(),
        };
        *out += &format!("  {}  law with a state, no exact stick; {word}\n", l.law);
    }
    for note in &f.notes {
        *out += &format!("  {WARN}note{WARN:#}    {note}\n");
    }
}
