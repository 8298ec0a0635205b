//! What a column says as a whole: shares with their confidence intervals, moments and quantiles, and which parameters matter.
//!
//! | of | is | from |
//! |---|---|---|
//! | truths | share, Wilson's interval and the exact one of Clopper and Pearson, 95 % | [Brown2001] |
//! | numbers | mean with its 95 % interval, standard deviation, extremes, quantiles | |
//! | words | how often each | |
//! | parameters | Spearman's rank correlation; first-order index of Sobol Var(E\[Y\|X\])/Var(Y) from classes | [Saltelli2008] |
//! | parameters, exchanged | first-order and total index E(Var\[Y\|all others\])/Var(Y) by Jansen's sums over pairs of rows | [Saltelli2008] |
//!
//! Rows that failed are not counted as either; their number stands beside. Confidence intervals are those of independent samples.

use serde::Serialize;
use serde_json::Value as Json;

use super::Sweep;
use super::columns::needs_the_end;
use super::rows::{Cell, Rows};
use super::sample::normal_quantile;
use crate::machine::address::series::order_statistic;
use crate::machine::json::{Named, Num};

/// Probability that an interval holds the truth.
const CONFIDENCE: f64 = 0.95;
/// Rows from which influences are computed, at least.
const FEW: usize = 10;
/// Classes of a parameter, at most.
const MOST_CLASSES: usize = 100;

/// A column as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Address.
    pub of: String,
    /// Rows that count.
    pub count: usize,
    /// Rows that have no value here.
    pub missing: usize,
    /// Rows whose run did not get to its end, where the address looks at the end: they do not count.
    #[serde(skip_serializing_if = "is_zero")]
    pub cut: usize,
    /// Of truths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
    /// Of words: how often each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Named<usize>>,
    /// Parameters, the most important first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub influence: Vec<Influence>,
    /// Of random samples over a grid: the share, or the mean, at every point of the grid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<Named<Json>>,
}

/// How many of all.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Rows for which it holds.
    pub holds: usize,
    /// Share.
    pub value: f64,
    /// In a million.
    pub per_million: f64,
    /// Wilson's interval; where rows are not independent samples there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wilson: Option<[f64; 2]>,
    /// The exact interval of Clopper and Pearson.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<[f64; 2]>,
}

/// Numbers as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// Mean.
    pub mean: f64,
    /// Half the width of its interval, where rows are independent samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_error: Option<Num>,
    /// Standard deviation.
    pub deviation: Num,
    /// Least.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Quantiles by their share.
    pub quantiles: Named<f64>,
}

/// How much a parameter matters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Influence {
    /// Parameter.
    pub parameter: String,
    /// Spearman's rank correlation.
    pub rank_correlation: f64,
    /// Part of the variance that this parameter explains by itself; of few samples over a grid: unknown.
    pub first_order: Num,
    /// Part of the variance that is left when all others are known: with what it does together with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
}

impl Sweep {
    /// Every column as a whole.
    pub fn summaries(&self, rows: &Rows) -> Vec<Summary> {
        (0..self.record.len()).map(|column| self.summary(rows, column)).collect()
    }

    fn summary(&self, rows: &Rows, column: usize) -> Summary {
        // exchanged rows are no samples of their own
        let own = |row: &usize| row % self.plan.group() < 2;
        let done: Vec<usize> = (0..rows.len()).filter(|&k| rows.is_done(k)).filter(own).collect();
        let (mut numbers, mut places, mut truths) = (Vec::new(), Vec::new(), true);
        let mut words: Vec<(String, usize)> = Vec::new();
        let counts = self.counts(rows, column);
        let cut = done.iter().filter(|row| !counts(**row)).count();
        for &row in done.iter().filter(|row| counts(**row)) {
            let cell = rows.cell(row, column);
            truths &= matches!(cell, Cell::Bool(_)) || cell.number().is_some_and(f64::is_nan);
            match cell {
                Cell::Text(word) => match words.iter_mut().find(|w| w.0 == word) {
                    Some(w) => w.1 += 1,
                    None => words.push((word, 1)),
                },
                cell => {
                    let x = cell.number().filter(|x| x.is_finite());
                    numbers.extend(x);
                    places.extend(x.map(|_| row));
                }
            }
        }
        words.sort();
        let named: usize = words.iter().map(|w| w.1).sum();
        let n = numbers.len();
        let (truths, sampled) = (truths && n > 0, self.plan.is_sampled());
        let holds = numbers.iter().filter(|x| **x == 1.0).count();
        Summary {
            of: self.record[column].clone(),
            count: n + named,
            missing: done.len() - cut - n - named,
            cut,
            share: truths.then(|| share(holds, n)).map(|s| match sampled {
                true => s,
                false => Share { wilson: None, exact: None, ..s },
            }),
            numbers: (!truths && n > 0).then(|| moments(&numbers)).map(|m| match sampled {
                true => m,
                false => Numbers { mean_error: None, ..m },
            }),
            points: if named == 0 { self.by_point(rows, column, truths) } else { Vec::new() },
            words: (!words.is_empty()).then_some(Named(words)),
            influence: if n >= FEW { self.influence(rows, column, &places, &numbers) } else { Vec::new() },
        }
    }

    /// Which rows count: where the end of the run is asked for, those that reached it.
    fn counts<'a>(&self, rows: &'a Rows, column: usize) -> impl Fn(usize) -> bool + use<'a> {
        let end = needs_the_end(&self.record[column]);
        move |row| !(end && rows.ended_early(row))
    }

    /// Every point of a grid meets the same samples: all rows together are no sample of anything, those of a point are.
    fn by_point(&self, rows: &Rows, column: usize, truths: bool) -> Vec<Named<Json>> {
        let plan = &self.plan;
        if plan.random.is_empty() || plan.is_sampled() || plan.chain.is_some() {
            return Vec::new();
        }
        let grid = plan.rows() / plan.samples.max(1);
        let (mut at, counts) = (Vec::new(), self.counts(rows, column));
        let one = |g: usize| {
            let here = (g..rows.len()).step_by(grid).filter(|&row| rows.is_done(row) && counts(row));
            let y: Vec<f64> =
                here.filter_map(|row| rows.cell(row, column).number()).filter(|x| x.is_finite()).collect();
            plan.point(g, &mut at);
            let axes = plan.axes.iter().zip(&at);
            let mut out: Named<Json> = axes.map(|(a, v)| (a.name.clone(), Json::from(*v))).collect();
            out.push("count", Json::from(y.len()));
            let said = match (y.is_empty(), truths) {
                (true, _) => Ok(Json::Null),
                (_, true) => serde_json::to_value(share(y.iter().filter(|x| **x == 1.0).count(), y.len())),
                _ => serde_json::to_value(moments(&y)),
            };
            if let Ok(Json::Object(keys)) = said {
                keys.into_iter().for_each(|(k, v)| out.push(k, v));
            }
            out
        };
        (0..grid).map(one).collect()
    }

    /// First-order and total index of every parameter from the rows in which it is exchanged [Saltelli2008]:
    /// S = 1 − Σ (f(B) − f(A with x of B))²/(2 n Var), T = Σ (f(A) − f(A with x of B))²/(2 n Var).
    fn exchanged(&self, rows: &Rows, column: usize, y: &[f64]) -> Option<Vec<[f64; 2]>> {
        let group = self.plan.group();
        if !self.plan.total {
            return None;
        }
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let variance = y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / y.len() as f64;
        let counts = self.counts(rows, column);
        let value = |row: usize| {
            (rows.is_done(row) && counts(row))
                .then(|| rows.cell(row, column).number())
                .flatten()
                .filter(|x| x.is_finite())
        };
        let sums = |d: usize| {
            let (mut count, mut from_b, mut from_a) = (0.0, 0.0, 0.0);
            for first in (0..rows.len()).step_by(group) {
                if let (Some(a), Some(b), Some(x)) = (value(first), value(first + 1), value(first + 2 + d)) {
                    count += 1.0;
                    from_b += (b - x).powi(2);
                    from_a += (a - x).powi(2);
                }
            }
            let part = |sum: f64| sum / (2.0 * count * variance);
            [(1.0 - part(from_b)).clamp(0.0, 1.0), part(from_a).clamp(0.0, 1.0)]
        };
        Some((0..group - 2).map(sums).collect())
    }

    /// Var(E[Y|X])/Var(Y) of a random parameter over a grid: the means over the grid are the Y of its samples.
    fn of_sample(&self, places: &[usize], x: &[f64], y: &[f64]) -> f64 {
        let grid = self.plan.rows() / self.plan.samples.max(1);
        let (mut values, mut means, mut weight) = (Vec::new(), Vec::new(), Vec::new());
        let mut begin = 0;
        while begin < places.len() {
            let sample = places[begin] / grid;
            let count = places[begin..].iter().take_while(|row| **row / grid == sample).count();
            values.push(x[begin]);
            means.push(y[begin..begin + count].iter().sum::<f64>() / count as f64);
            weight.push(count as f64);
            begin += count;
        }
        if means.len() < FEW {
            return f64::NAN;
        }
        let per = weight.iter().sum::<f64>() / weight.len() as f64;
        first_order(&values, &means) * squares(&means) * per / squares(y)
    }

    fn influence(&self, rows: &Rows, column: usize, places: &[usize], y: &[f64]) -> Vec<Influence> {
        if y.iter().all(|v| *v == y[0]) {
            return Vec::new();
        }
        let names: Vec<&str> = self.plan.parameters().collect();
        let mut point = Vec::new();
        let mut x = vec![Vec::with_capacity(y.len()); names.len()];
        for &row in places {
            self.plan.point(row, &mut point);
            x.iter_mut().zip(&point).for_each(|(list, v)| list.push(*v));
        }
        let ranks = ranks(y);
        let exchanged = self.exchanged(rows, column, y);
        let (axes, sampled) = (self.plan.axes.len(), self.plan.is_sampled());
        let part = |d: usize, x: &Vec<f64>| match &exchanged {
            Some(e) => e[d][0],
            None if sampled => first_order(x, y),
            None if d < axes => of_axis(x, y),
            None => self.of_sample(places, x, y),
        };
        let one = |(d, (name, x)): (usize, (&&str, &Vec<f64>))| Influence {
            parameter: name.to_string(),
            rank_correlation: correlation(&self::ranks(x), &ranks),
            first_order: Num(part(d, x)),
            total: exchanged.as_ref().map(|e| e[d][1]),
        };
        let mut all: Vec<Influence> = names.iter().zip(&x).enumerate().map(one).collect();
        all.retain(|i| i.rank_correlation.is_finite());
        let size = |i: &Influence| i.total.unwrap_or(i.rank_correlation.powi(2).max(i.first_order.0));
        all.sort_by(|a, b| size(b).total_cmp(&size(a)));
        all
    }
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// `holds` of `n`, with intervals.
pub fn share(holds: usize, n: usize) -> Share {
    let (k, n) = (holds as f64, n as f64);
    let (p, z) = (k / n, normal_quantile(0.5 + 0.5 * CONFIDENCE));
    let (centre, stretch) = (p + z * z / (2.0 * n), 1.0 + z * z / n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let rest = 0.5 * (1.0 - CONFIDENCE);
    let low = if holds == 0 { 0.0 } else { beta_quantile(rest, k, n - k + 1.0) };
    let high = if k == n { 1.0 } else { beta_quantile(1.0 - rest, k + 1.0, n - k) };
    Share {
        holds,
        value: p,
        per_million: 1e6 * p,
        wilson: Some([((centre - half) / stretch).max(0.0), ((centre + half) / stretch).min(1.0)]),
        exact: Some([low, high]),
    }
}

/// The value below which the beta distribution has the share `p`, by bisection.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if incomplete_beta(middle, a, b) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// I_x(a, b) by its continued fraction [DLMF, 8.17.22].
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    if x <= 0.0 {
        return 0.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp() / a;
    let bounded = |v: f64| if v.abs() < 1e-300 { 1e-300 } else { v };
    let (mut c, mut d) = (1.0, 1.0 / bounded(1.0 - (a + b) * x / (a + 1.0)));
    let mut f = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / bounded(1.0 + term * d);
            c = bounded(1.0 + term / c);
            f *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * f
}

/// ln Γ by Stirling's series above 10 and the recursion below.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r / 1188.0)))) / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

fn moments(x: &[f64]) -> Numbers {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantiles =
        [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99].map(|p| (p.to_string(), order_statistic(&sorted, p)));
    Numbers {
        mean,
        mean_error: Some(Num(normal_quantile(0.5 + 0.5 * CONFIDENCE) * (variance / n).sqrt())),
        deviation: Num(variance.sqrt()),
        min: sorted[0],
        max: sorted[sorted.len() - 1],
        quantiles: Named(quantiles.to_vec()),
    }
}

/// Ranks; equal values share the mean of theirs.
fn ranks(x: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    let mut out = vec![0.0; x.len()];
    let mut begin = 0;
    while begin < order.len() {
        let same = |k: &&usize| x[**k] == x[order[begin]];
        let end = begin + order[begin..].iter().take_while(same).count().max(1);
        order[begin..end].iter().for_each(|k| out[*k] = 0.5 * (begin + end - 1) as f64);
        begin = end;
    }
    out
}

fn correlation(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        xx += (a - mx) * (a - mx);
        xy += (a - mx) * (b - my);
        yy += (b - my) * (b - my);
    }
    xy / (xx * yy).sqrt()
}

/// Var(E[Y|X])/Var(Y): the variance between classes of X, less what chance alone would give (η² → ε²).
fn first_order(x: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    let mean = y.iter().sum::<f64>() / n as f64;
    let total: f64 = y.iter().map(|v| (v - mean).powi(2)).sum();
    let ends = classes(&order, x);
    let (mut between, mut begin) = (0.0, 0);
    for &end in &ends {
        let part = &order[begin..end];
        let m = part.iter().map(|k| y[*k]).sum::<f64>() / part.len() as f64;
        between += part.len() as f64 * (m - mean).powi(2);
        begin = end;
    }
    let classes = ends.len();
    let within = (total - between) / (n - classes) as f64;
    ((between - (classes - 1) as f64 * within) / total).clamp(0.0, 1.0)
}

/// Ends of classes of equal size of sorted values; equal values are never parted.
fn classes(order: &[usize], x: &[f64]) -> Vec<usize> {
    let n = order.len();
    let new = |k: &usize| *k == n || x[order[*k]] != x[order[*k - 1]];
    let count = ((n as f64).sqrt() as usize).clamp(2, MOST_CLASSES);
    let mut ends: Vec<usize> = (1..=count).filter_map(|c| (c * n / count..=n).find(new)).collect();
    ends.dedup();
    ends
}

/// Var(E[Y|X])/Var(Y) of an axis: every value of X meets the same values of all others, so that its mean holds nothing of chance.
fn of_axis(x: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    let mean = y.iter().sum::<f64>() / n as f64;
    let (mut between, mut begin) = (0.0, 0);
    for end in (1..=n).filter(|k| *k == n || x[order[*k]] != x[order[*k - 1]]) {
        let part = &order[begin..end];
        let m = part.iter().map(|k| y[*k]).sum::<f64>() / part.len() as f64;
        between += part.len() as f64 * (m - mean).powi(2);
        begin = end;
    }
    between / squares(y)
}

/// Squares about the mean.
fn squares(y: &[f64]) -> f64 {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    y.iter().map(|v| (v - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clopper–Pearson by its definition: at the lower end, `holds` or more have the probability 2.5 %.
    #[test]
    fn exact_intervals_have_the_binomial_tails_of_their_definition() {
        let tail = |p: f64, n: i32, from: i32| {
            let choose = |k: i32| (0..k).fold(1.0, |c, i| c * f64::from(n - i) / f64::from(i + 1));
            (from..=n).map(|k| choose(k) * p.powi(k) * (1.0 - p).powi(n - k)).sum::<f64>()
        };
        for (k, n) in [(1, 10), (3, 10), (7, 20), (19, 20)] {
            let [low, high] = share(k as usize, n as usize).exact.unwrap();
            assert!((tail(low, n, k) - 0.025).abs() < 1e-9, "{k} of {n}");
            assert!((1.0 - tail(high, n, k + 1) - 0.025).abs() < 1e-9, "{k} of {n}");
        }
        // nobody of n: 1 − 0.025^(1/n)
        let none = share(0, 50);
        let [low, high] = none.exact.unwrap();
        assert_eq!((low, none.wilson.unwrap()[0]), (0.0, 0.0));
        assert!((high - (1.0 - 0.025_f64.powf(1.0 / 50.0))).abs() < 1e-12);
        let rare = share(3, 1_000_000);
        let [low, high] = rare.exact.unwrap();
        assert!(low > 6e-7 && high < 9e-6 && rare.per_million == 3.0);
    }

    /// The ends of Wilson's interval solve (p̂ − p)² = z² p (1 − p)/n.
    #[test]
    fn wilson_intervals_solve_their_equation() {
        let s = share(30, 200);
        let z = normal_quantile(0.975);
        for p in s.wilson.unwrap() {
            assert!(((s.value - p).powi(2) - z * z * p * (1.0 - p) / 200.0).abs() < 1e-15);
        }
    }

    #[test]
    fn ranks_share_ties_and_rank_correlation_sees_any_monotone_law() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        let x: Vec<f64> = (0..50).map(|k| f64::from(k) * 0.1).collect();
        let y: Vec<f64> = x.iter().map(|v| -v.exp()).collect();
        assert!((correlation(&ranks(&x), &ranks(&y)) + 1.0).abs() < 1e-12);
    }

    /// Two axes with equal effect: each explains half, exactly. Was wrong: rows with the same value were parted by their order, which
    /// is that of the other axes.
    #[test]
    fn axes_of_a_grid_explain_their_exact_parts() {
        let axis = |of: fn(i32) -> i32| (0..100).map(|k| f64::from(of(k))).collect::<Vec<_>>();
        let both = axis(|k| k % 10 + k / 10);
        for x in [axis(|k| k % 10), axis(|k| k / 10)] {
            assert!((of_axis(&x, &both) - 0.5).abs() < 1e-12);
            assert!((of_axis(&x, &x) - 1.0).abs() < 1e-12);
        }
        assert!(of_axis(&axis(|k| k % 10), &axis(|k| k / 10)) < 1e-12);
    }

    #[test]
    fn classes_have_about_the_same_size_and_never_part_equal_values() {
        let x = [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0];
        let order: Vec<usize> = (0..10).collect();
        assert_eq!(classes(&order, &x), [5, 6, 10]);
    }
}
