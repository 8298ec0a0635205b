//! What came out of many runs, in words: how many in a million, between which bounds, and which parameters matter.

use super::short;
use specht::machine::sweep::{Influence, Numbers, Rows, Share, Summary, Sweep};

/// Parameters that are named, at most.
const MOST: usize = 5;

/// What came out, in a few lines.
pub fn said(model: &str, sweep: &Sweep, rows: &Rows) -> String {
    let (done, failed) = (rows.count_done(), rows.count_failed());
    let mut out = format!("{model}  {done} of {} runs", rows.len());
    if failed > 0 {
        let first = (0..rows.len()).find_map(|k| rows.error(k)).unwrap_or_default();
        out += &format!(", {failed} with something missing; the first: {first}");
    }
    out.push('\n');
    if let Some(diagram) = &sweep.diagram
        && (0..rows.len()).all(|row| rows.values(row).is_empty())
    {
        out += &format!("  no run passes through `{}`: {} has no values\n", diagram.section, diagram.values);
    }
    for summary in sweep.summaries(rows) {
        out += &format!("  {}\n", summary.of);
        for line in sentences(sweep, &summary) {
            out += &format!("    {line}\n");
        }
    }
    out
}

/// A column as a whole, a sentence per line. Shares of a grid are no probabilities: they are counted only; those of samples are said
/// for the points of the grid between which all lie.
pub fn sentences(sweep: &Sweep, summary: &Summary) -> Vec<String> {
    let random = sweep.plan.is_sampled();
    let mut out = Vec::new();
    if let Some(share) = summary.share {
        out.push(match random {
            true => in_a_million(share, summary.count),
            false => format!("holds at {} of {} points", share.holds, summary.count),
        });
    }
    out.extend(summary.numbers.as_ref().map(|n| numbers(n, random)));
    for (word, count) in summary.words.iter().flat_map(|w| w.iter()) {
        out.push(match random {
            true => format!(
                "{word}: {}",
                in_a_million(specht::machine::sweep::share(*count, summary.count), summary.count)
            ),
            false => format!("{word}: {count}"),
        });
    }
    if summary.cut > 0 {
        out.push(format!("not counted, for their runs did not get to the end: {}", summary.cut));
    }
    if summary.missing > 0 {
        out.push(format!("without a value: {}", summary.missing));
    }
    out.extend(between(sweep, summary));
    if !sweep.plan.random.is_empty() && !summary.influence.is_empty() {
        let list: Vec<String> = summary.influence.iter().take(MOST).map(influence).collect();
        out.push(format!("matters most: {}", list.join(", ")));
    }
    out
}

/// Where on the grid the share, or the mean, is least and largest.
fn between(sweep: &Sweep, summary: &Summary) -> Option<String> {
    let key = if summary.share.is_some() { "value" } else { "mean" };
    let of =
        |k: usize, key: &str| summary.points[k].iter().find(|(n, _)| *n == key).and_then(|(_, v)| v.as_f64());
    let known = || (0..summary.points.len()).filter_map(|k| Some((k, of(k, key)?)));
    let least = known().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let most = known().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
    let at = |k: usize| {
        let axes =
            sweep.plan.axes.iter().filter_map(|a| Some(format!("{} = {}", a.name, short(of(k, &a.name)?))));
        axes.collect::<Vec<_>>().join(", ")
    };
    let say = |k: usize| -> Option<String> {
        let count = of(k, "count")? as usize;
        Some(match of(k, "holds") {
            Some(holds) => in_a_million(specht::machine::sweep::share(holds as usize, count), count),
            None => format!("mean {} of {count}", short(of(k, "mean")?)),
        })
    };
    Some(format!("least at {}: {}; most at {}: {}", at(least), say(least)?, at(most), say(most)?))
}

/// How many of all, with what 95 % of such intervals hold. Of an event that was never seen, or always, one bound says all:
/// the rule of three, 3/n, is the one-sided bound 1 − 0.05^(1/n).
fn in_a_million(share: Share, n: usize) -> String {
    let million = |p: f64| short((1e6 * p).round());
    let three = million(1.0 - 0.05_f64.powf(1.0 / n as f64));
    let Some([low, high]) = share.exact else { return format!("holds at {} of {n} points", share.holds) };
    match share.holds {
        0 => format!(
            "holds for none of {n}: at most {} in a million (95 % interval; one-sided {three}, the rule of three)",
            million(high)
        ),
        k if k == n => {
            format!(
                "holds for all of {n}: at least {} in a million (95 % interval); \
                 fails for at most {three} (one-sided, the rule of three)",
                million(low)
            )
        }
        k => format!(
            "holds for {k} of {n}: {} % (95 %: {} to {} %), {} in a million ({} to {})",
            short(100.0 * share.value),
            short(100.0 * low),
            short(100.0 * high),
            million(share.value),
            million(low),
            million(high)
        ),
    }
}

fn numbers(n: &Numbers, random: bool) -> String {
    let extremes = format!("from {} to {}", short(n.min), short(n.max));
    if !random {
        return extremes;
    }
    let quantile = |p: &str| n.quantiles.iter().find(|q| q.0 == p).map(|q| short(*q.1)).unwrap_or_default();
    format!(
        "mean {} ± {}, deviation {}, {extremes}; 90 % between {} and {}, 1 % above {}",
        short(n.mean),
        short(n.mean_error.map_or(f64::NAN, |e| e.0)),
        short(n.deviation.0),
        quantile("0.05"),
        quantile("0.95"),
        quantile("0.99")
    )
}

fn influence(i: &Influence) -> String {
    let part = Some(i.first_order.0).filter(|p| p.is_finite());
    let own = part.map(|p| format!(", {:.0} % of the variance", 100.0 * p));
    let total = i.total.map(|t| format!(", {:.0} % with others", 100.0 * t));
    let rest = format!("{}{}", own.unwrap_or_default(), total.unwrap_or_default());
    format!("{} (rank correlation {:.2}{rest})", i.parameter, i.rank_correlation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use specht::machine::sweep::share;

    /// Nobody of 3000: exact bound 1 − 0.025^(1/3000) = 1228.87e-6, one-sided 1 − 0.05^(1/3000) = 998.08e-6, about 3/3000.
    #[test]
    fn an_event_that_was_never_seen_has_a_bound_and_not_a_zero() {
        let said = in_a_million(share(0, 3000), 3000);
        assert!(said.contains("none of 3000: at most 1229 in a million"), "{said}");
        assert!(said.contains("998, the rule of three"), "{said}");
        let all = in_a_million(share(3000, 3000), 3000);
        assert!(all.contains("at least 998771 in a million") && all.contains("at most 998"), "{all}");
        // scipy.stats.binomtest(3, 1000).proportion_ci(): 0.000619 to 0.008742
        let few = in_a_million(share(3, 1000), 1000);
        assert!(few.contains("3000 in a million (619 to 8742)"), "{few}");
    }
}
