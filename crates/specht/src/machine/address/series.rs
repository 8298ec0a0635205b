//! Numbers out of recorded series: all of them weigh with time where that matters, because samples are not equidistant.

/// The part of a series between two times, with linearly interpolated ends. Rows on both sides of an event share a
/// time and are both kept.
pub(in crate::machine) fn window(
    t: &[f64],
    y: &[f64],
    from: Option<f64>,
    to: Option<f64>,
) -> (Vec<f64>, Vec<f64>) {
    let from = from.unwrap_or(f64::NEG_INFINITY);
    let to = to.unwrap_or(f64::INFINITY);
    let mut times = Vec::new();
    let mut values = Vec::new();
    for k in 0..t.len().min(y.len()) {
        if k > 0 {
            // ends that fall between two rows
            for end in [from, to] {
                if t[k - 1] < end && end < t[k] {
                    times.push(end);
                    values.push(y[k - 1] + (y[k] - y[k - 1]) * (end - t[k - 1]) / (t[k] - t[k - 1]));
                }
            }
        }
        if from <= t[k] && t[k] <= to {
            times.push(t[k]);
            values.push(y[k]);
        }
    }
    (times, values)
}

/// ∫ f(y) dt: exact for y linear between the rows and f of second degree (Simpson's rule).
pub(in crate::machine) fn integral(t: &[f64], y: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    (1..t.len())
        .map(|k| {
            let middle = 0.5 * (y[k - 1] + y[k]);
            (t[k] - t[k - 1]) / 6.0 * (f(y[k - 1]) + 4.0 * f(middle) + f(y[k]))
        })
        .sum()
}

/// Mean over time of f(y); of a single instant, its value.
pub(in crate::machine) fn mean(t: &[f64], y: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let length = t.last().unwrap_or(&0.0) - t.first().unwrap_or(&0.0);
    if length > 0.0 {
        integral(t, y, f) / length
    } else {
        y.iter().map(|v| f(*v)).sum::<f64>() / y.len() as f64
    }
}

/// Values at the turning points: where the series changes from growing to falling or back (a plateau counts once).
pub(in crate::machine) fn turning_points(y: &[f64]) -> Vec<f64> {
    let mut points = Vec::new();
    let mut direction = 0.0;
    for k in 1..y.len() {
        let step = y[k] - y[k - 1];
        if step != 0.0 && step.is_finite() {
            let now = step.signum();
            if direction != 0.0 && now != direction {
                points.push(y[k - 1]);
            }
            direction = now;
        }
    }
    points
}

/// The value below which the series lies for this share of the time; between rows it is linear.
pub(in crate::machine) fn quantile(t: &[f64], y: &[f64], share: f64) -> f64 {
    let span = t.last().unwrap_or(&0.0) - t.first().unwrap_or(&0.0);
    let (mut low, mut high) =
        y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    if !(span > 0.0) || !low.is_finite() || !high.is_finite() {
        let mut sorted = y.to_vec();
        sorted.sort_by(f64::total_cmp);
        return order_statistic(&sorted, share);
    }
    let below = |v: f64| {
        let piece = |k: usize| {
            let (a, b) = (y[k - 1].min(y[k]), y[k - 1].max(y[k]));
            let part = if b <= v {
                1.0
            } else if a >= v {
                0.0
            } else {
                (v - a) / (b - a)
            };
            part * (t[k] - t[k - 1])
        };
        (1..t.len()).map(piece).sum::<f64>()
    };
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) < share * span { low = middle } else { high = middle }
    }
    high
}

/// The value at a share of sorted values, linear between them.
pub(in crate::machine) fn order_statistic(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let k = (place.floor() as usize).min(sorted.len() - 1);
    let next = sorted[(k + 1).min(sorted.len() - 1)];
    sorted[k] + (place - k as f64) * (next - sorted[k])
}

/// Amplitude of the part with the frequency `f`: |2/T ∫ y exp(−2πi f t) dt|, exact for y linear between the rows; f = 0: the mean.
pub(in crate::machine) fn amplitude(t: &[f64], y: &[f64], f: f64) -> f64 {
    if f == 0.0 {
        return mean(t, y, |v| v).abs();
    }
    let w = 2.0 * std::f64::consts::PI * f;
    let begin = t.first().copied().unwrap_or(0.0);
    let span = t.last().copied().unwrap_or(0.0) - begin;
    let (mut re, mut im) = (0.0, 0.0);
    for k in 1..t.len() {
        // ∫ (a + b s) e^{−iws} over a piece, from its middle: a sinc and its derivative
        let h = t[k] - t[k - 1];
        let (x, centre) = (0.5 * w * h, w * (0.5 * (t[k] + t[k - 1]) - begin));
        let (level, slope) = (0.5 * (y[k] + y[k - 1]), 0.5 * (y[k] - y[k - 1]));
        let (sinc, first) = if x.abs() < 1e-2 {
            (1.0 - x * x / 6.0 + x.powi(4) / 120.0, x / 3.0 - x.powi(3) / 30.0)
        } else {
            (x.sin() / x, (x.sin() - x * x.cos()) / (x * x))
        };
        let (sin, cos) = centre.sin_cos();
        let (even, odd) = (h * level * sinc, h * slope * first);
        re += even * cos - odd * sin;
        im += even * sin + odd * cos;
    }
    2.0 * re.hypot(im) / span
}

/// The series at the multiples of a step, linear between rows; at an event the row after it.
pub(super) fn resample(t: &[f64], y: &[f64], step: f64) -> (Vec<f64>, Vec<f64>) {
    let (Some(from), Some(to)) = (t.first(), t.last()) else { return (Vec::new(), Vec::new()) };
    let (first, last) = ((from / step - 1e-9).ceil(), (to / step + 1e-9).floor());
    let count = (last - first + 1.0).clamp(0.0, 1e8) as usize;
    let times: Vec<f64> = (0..count).map(|k| ((first + k as f64) * step).clamp(*from, *to)).collect();
    let values = times.iter().map(|time| at(t, y, *time).unwrap_or(f64::NAN)).collect();
    (times, values)
}

/// ∫ max(0, upper − lower) dt between the straight lines through the local maxima and through the local minima. The first and the last
/// value count as maximum or minimum towards their side; before its first and after its last point a line stays level.
pub(super) fn envelope_area(t: &[f64], y: &[f64]) -> f64 {
    let (mut upper, mut lower): (Vec<[f64; 2]>, Vec<[f64; 2]>) = (Vec::new(), Vec::new());
    let (mut direction, mut last) = (0.0, 0);
    for k in 1..y.len() {
        let step = y[k] - y[k - 1];
        if step == 0.0 || !step.is_finite() {
            continue;
        }
        if step.signum() != direction {
            let list = if step < 0.0 { &mut upper } else { &mut lower };
            list.push([t[k - 1], y[k - 1]]);
        }
        (direction, last) = (step.signum(), k);
    }
    if direction != 0.0 {
        let list = if direction > 0.0 { &mut upper } else { &mut lower };
        list.push([t[last], y[last]]);
    }
    if upper.is_empty() || lower.is_empty() {
        return 0.0;
    }
    let line = |points: &[[f64; 2]], time: f64| {
        let k = points.partition_point(|p| p[0] <= time);
        match k {
            0 => points[0][1],
            k if k == points.len() => points[k - 1][1],
            k => {
                let ([a, x], [b, z]) = (points[k - 1], points[k]);
                x + (z - x) * (time - a) / (b - a)
            }
        }
    };
    let mut times: Vec<f64> = upper.iter().chain(&lower).map(|p| p[0]).collect();
    times.extend([t[0], t[t.len() - 1]]);
    times.sort_by(f64::total_cmp);
    let gap = |time: f64| line(&upper, time) - line(&lower, time);
    let piece = |w: &[f64]| {
        let (a, b, h) = (gap(w[0]), gap(w[1]), w[1] - w[0]);
        match (a > 0.0, b > 0.0) {
            (true, true) => 0.5 * h * (a + b),
            (false, false) => 0.0,
            // a triangle up to where the lines cross
            _ => 0.5 * h * a.max(b) * a.max(b) / (a - b).abs(),
        }
    };
    times.windows(2).map(piece).sum()
}

/// Value at an instant, linear between rows; after an event when the instant is one.
pub(in crate::machine) fn at(t: &[f64], y: &[f64], time: f64) -> Option<f64> {
    let k = t.partition_point(|x| *x <= time);
    match k {
        0 => None,
        k if k == t.len() => (t[k - 1] == time).then(|| y[k - 1]),
        k => Some(y[k - 1] + (y[k] - y[k - 1]) * (time - t[k - 1]) / (t[k] - t[k - 1])),
    }
}

/// The same through values and rates (cubic Hermite).
pub(super) fn cubic(t: &[f64], y: &[f64], rate: &[f64], time: f64) -> Option<f64> {
    let k = t.partition_point(|x| *x <= time);
    if k == 0 || k >= t.len() {
        return at(t, y, time);
    }
    let h = t[k] - t[k - 1];
    let s = (time - t[k - 1]) / h;
    let (a, b) = (y[k - 1], y[k]);
    let (da, db) = (h * rate[k - 1], h * rate[k]);
    Some(a + s * (da + s * (3.0 * (b - a) - 2.0 * da - db + s * (2.0 * (a - b) + da + db))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_of_an_envelope_is_that_between_its_two_lines() {
        let (t, y) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 1.0, -1.0, 1.0, -1.0, 0.0]);
        // above: 1 up to t = 3, then down to 0; below: 0 down to −1 at t = 2, then −1
        assert!((envelope_area(&t, &y) - 8.0).abs() < 1e-14);
        // values at other steps between the same corners change nothing
        let (t, y) = resample(&t, &y, 0.125);
        assert_eq!(t.len(), 41);
        assert!((envelope_area(&t, &y) - 8.0).abs() < 1e-14);
        assert_eq!(envelope_area(&[0.0, 1.0], &[3.0, 3.0]), 0.0);
    }

    #[test]
    fn amplitudes_are_those_of_fourier_and_uneven_rows_do_not_matter() {
        let w = 2.0 * std::f64::consts::PI;
        let t: Vec<f64> =
            (0..=20_000).map(|k| f64::from(k) / 10_000.0).map(|s| s + 0.003 * (w * s).sin()).collect();
        let y: Vec<f64> =
            t.iter().map(|t| 0.5 + 3.0 * (w * 2.0 * t + 0.4).sin() + 0.2 * (w * 5.0 * t).cos()).collect();
        for (f, exact) in [(0.0, 0.5), (2.0, 3.0), (5.0, 0.2), (3.0, 0.0)] {
            assert!((amplitude(&t, &y, f) - exact).abs() < 1e-5, "{f}: {}", amplitude(&t, &y, f));
        }
        // a line over [0, 1]: its first harmonic is 1/π
        assert!((amplitude(&[0.0, 1.0], &[0.0, 1.0], 1.0) - 2.0 / w).abs() < 1e-14);
    }

    #[test]
    fn a_cubic_is_met_exactly_between_rows() {
        let f = |t: f64| 2.0 - t + 3.0 * t * t - 0.5 * t * t * t;
        let d = |t: f64| -1.0 + 6.0 * t - 1.5 * t * t;
        let t = [0.0, 1.0, 1.5, 4.0];
        let (y, rate) = (t.map(f), t.map(d));
        for x in [0.0, 0.3, 1.2, 3.9, 4.0] {
            assert!((cubic(&t, &y, &rate, x).unwrap() - f(x)).abs() < 1e-13);
        }
        assert!(cubic(&t, &y, &rate, 4.1).is_none() && cubic(&t, &y, &rate, -0.1).is_none());
    }
}
