//! Numbers out of recorded series: all of them weigh with time where that matters, because samples are not equidistant.

/// The part of a series between two times, with linearly interpolated ends. Rows on both sides of an event share a
/// time and are both kept.
pub(super) fn window(t: &[f64], y: &[f64], from: Option<f64>, to: Option<f64>) -> (Vec<f64>, Vec<f64>) {
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
pub(super) fn integral(t: &[f64], y: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    (1..t.len())
        .map(|k| {
            let middle = 0.5 * (y[k - 1] + y[k]);
            (t[k] - t[k - 1]) / 6.0 * (f(y[k - 1]) + 4.0 * f(middle) + f(y[k]))
        })
        .sum()
}

/// Mean over time of f(y); of a single instant, its value.
pub(super) fn mean(t: &[f64], y: &[f64], f: impl Fn(f64) -> f64) -> f64 {
    let length = t.last().unwrap_or(&0.0) - t.first().unwrap_or(&0.0);
    if length > 0.0 {
        integral(t, y, f) / length
    } else {
        y.iter().map(|v| f(*v)).sum::<f64>() / y.len() as f64
    }
}

/// Values at the turning points: where the series changes from growing to falling or back (a plateau counts once).
pub(super) fn turning_points(y: &[f64]) -> Vec<f64> {
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

/// Value at an instant, linear between rows; after an event when the instant is one.
pub(super) fn at(t: &[f64], y: &[f64], time: f64) -> Option<f64> {
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
