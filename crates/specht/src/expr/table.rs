//! Tables: functions of one argument through given points.
//!
//! Between points either straight lines or cubics that are monotone wherever the points are (slopes of Fritsch and Carlson in the
//! three-point form of Fritsch and Butland, the *PCHIP* of numerical libraries). Two points with equal x make a jump.
//!
//! The line is cut into *cells*: …, −1, 0, 1, …. Cell `k` of a table with `n` intervals is interval `k`; cells −1 and n lie beyond the ends
//! (for `repeat` the count goes on: cell `k + j n` is interval `k` of period `j`). A cell contains its left end. Inside a cell the function
//! is one polynomial, so a table with its cell frozen is smooth.

/// Beyond the first and last point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Ends {
    /// The end value stays.
    #[default]
    Hold,
    /// The end slope goes on.
    Extend,
    /// Periodic; the period is last x − first x.
    Repeat,
}

/// Between the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Interpolation {
    /// Straight lines.
    #[default]
    Linear,
    /// Monotone cubics with continuous slope.
    Monotone,
}

/// A function through points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    name: String,
    /// Left ends of the intervals, then the last right end.
    knots: Vec<f64>,
    /// Per interval: c0 + c1 s + c2 s² + c3 s³ with s = x − left end.
    cubics: Vec<[f64; 4]>,
    left: [f64; 2],
    right: [f64; 2],
    ends: Ends,
    degree: u8,
}

impl Table {
    /// A table through points with x not decreasing. The error says what is wrong, as a sentence.
    pub(crate) fn new(
        name: &str,
        points: &[[f64; 2]],
        ends: Ends,
        interpolation: Interpolation,
    ) -> Result<Self, String> {
        if points.len() < 2 {
            return Err(format!("table `{name}` needs at least two points"));
        }
        if points.len() > 1_000_000 {
            return Err(format!("table `{name}` has more than a million points"));
        }
        for (i, p) in points.iter().enumerate() {
            if !(p[0].is_finite() && p[1].is_finite()) {
                return Err(format!("point {} of table `{name}` is not finite", i + 1));
            }
            if i > 0 && p[0] < points[i - 1][0] {
                return Err(format!(
                    "x of table `{name}` falls from {} to {} at point {}",
                    points[i - 1][0],
                    p[0],
                    i + 1
                ));
            }
            if i > 1 && p[0] == points[i - 2][0] {
                return Err(format!("three points of table `{name}` have x = {}", p[0]));
            }
        }
        let (first, last) = (points[0], points[points.len() - 1]);
        if last[0] <= first[0] {
            return Err(format!("the points of table `{name}` span no interval of x"));
        }

        // smooth pieces between jumps
        let mut knots = Vec::new();
        let mut cubics = Vec::new();
        let mut start = 0;
        for end in 1..=points.len() {
            if end == points.len() || points[end][0] == points[end - 1][0] {
                let whole = start == 0 && end == points.len();
                let piece = &points[start..end];
                push_piece(piece, interpolation, ends == Ends::Repeat && whole, &mut knots, &mut cubics);
                start = end;
            }
        }
        knots.push(last[0]);

        let (mut left, mut right) = ([first[1], 0.0], [last[1], 0.0]);
        if ends == Ends::Extend {
            let n = cubics.len() - 1;
            left[1] = cubics[0][1];
            right[1] = polynomial(&cubics[n], knots[n + 1] - knots[n], 1);
        }
        let degree = if interpolation == Interpolation::Linear { 1 } else { 3 };
        Ok(Self { name: name.to_string(), knots, cubics, left, right, ends, degree })
    }

    /// Highest order of derivative that is not zero everywhere.
    pub(crate) fn degree(&self) -> u8 {
        self.degree
    }

    /// The cell of `x`; NaN for NaN.
    pub(crate) fn cell(&self, x: f64) -> f64 {
        let n = self.cubics.len();
        let (first, last) = (self.knots[0], self.knots[n]);
        if x.is_nan() {
            return x;
        }
        if self.ends == Ends::Repeat {
            let period = last - first;
            let count = ((x - first) / period).floor();
            let inside = x - count * period;
            return count * n as f64 + self.interval(inside) as f64;
        }
        if x < first {
            -1.0
        } else if x >= last {
            n as f64
        } else {
            self.interval(x) as f64
        }
    }

    /// The interval of an x inside the table, clamped.
    fn interval(&self, x: f64) -> usize {
        let n = self.cubics.len();
        self.knots[1..n].partition_point(|&k| k <= x)
    }

    /// Interval and shift in x of a cell of a repeating table.
    fn unroll(&self, cell: f64) -> (usize, f64) {
        let n = self.cubics.len();
        let count = (cell / n as f64).floor();
        let k = (cell - count * n as f64).clamp(0.0, n as f64 - 1.0) as usize;
        (k, count * (self.knots[n] - self.knots[0]))
    }

    /// The `order`-th derivative at `x` by the polynomial of `cell`, also outside it.
    pub(crate) fn eval(&self, cell: f64, x: f64, order: u8) -> f64 {
        let n = self.cubics.len();
        if cell.is_nan() {
            return cell;
        }
        if self.ends == Ends::Repeat {
            let (k, shift) = self.unroll(cell);
            return polynomial(&self.cubics[k], x - shift - self.knots[k], order);
        }
        if cell < 0.0 {
            polynomial(&[self.left[0], self.left[1], 0.0, 0.0], x - self.knots[0], order)
        } else if cell >= n as f64 {
            polynomial(&[self.right[0], self.right[1], 0.0, 0.0], x - self.knots[n], order)
        } else {
            let k = cell as usize;
            polynomial(&self.cubics[k], x - self.knots[k], order)
        }
    }

    /// Left and right end of a cell; infinite beyond the table.
    pub(crate) fn cell_ends(&self, cell: f64) -> (f64, f64) {
        let n = self.cubics.len();
        if self.ends == Ends::Repeat {
            let (k, shift) = self.unroll(cell);
            return (self.knots[k] + shift, self.knots[k + 1] + shift);
        }
        if cell < 0.0 {
            (f64::NEG_INFINITY, self.knots[0])
        } else if cell >= n as f64 {
            (self.knots[n], f64::INFINITY)
        } else {
            let k = cell as usize;
            (self.knots[k], self.knots[k + 1])
        }
    }
}

/// Derivative of c0 + c1 s + c2 s² + c3 s³.
#[inline]
fn polynomial(c: &[f64; 4], s: f64, order: u8) -> f64 {
    if !s.is_finite() && c[1] == 0.0 && c[2] == 0.0 && c[3] == 0.0 {
        return if order == 0 { c[0] } else { 0.0 };
    }
    match order {
        0 => c[0] + s * (c[1] + s * (c[2] + s * c[3])),
        1 => c[1] + s * (2.0 * c[2] + s * 3.0 * c[3]),
        2 => 2.0 * c[2] + 6.0 * c[3] * s,
        3 => 6.0 * c[3],
        _ => 0.0,
    }
}

/// Appends the cubics of points with increasing x.
fn push_piece(
    p: &[[f64; 2]],
    kind: Interpolation,
    periodic: bool,
    knots: &mut Vec<f64>,
    cubics: &mut Vec<[f64; 4]>,
) {
    let n = p.len();
    if n < 2 {
        return;
    }
    let h: Vec<f64> = p.windows(2).map(|w| w[1][0] - w[0][0]).collect();
    let secant: Vec<f64> = p.windows(2).zip(&h).map(|(w, h)| (w[1][1] - w[0][1]) / h).collect();
    let slope = |i: usize| -> f64 {
        let inner = |d0: f64, d1: f64, h0: f64, h1: f64| {
            // Fritsch and Butland: weighted harmonic mean, zero at an extremum
            if d0 * d1 <= 0.0 {
                return 0.0;
            }
            let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
            (w0 + w1) / (w0 / d0 + w1 / d1)
        };
        if n == 2 {
            return secant[0];
        }
        if i > 0 && i < n - 1 {
            return inner(secant[i - 1], secant[i], h[i - 1], h[i]);
        }
        if periodic && p[0][1] == p[n - 1][1] {
            return inner(secant[n - 2], secant[0], h[n - 2], h[0]);
        }
        // one-sided three-point slope, limited so that the end stays monotone
        let (d0, d1, h0, h1) = if i == 0 {
            (secant[0], secant[1], h[0], h[1])
        } else {
            (secant[n - 2], secant[n - 3], h[n - 2], h[n - 3])
        };
        let d = ((2.0 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
        if d * d0 <= 0.0 {
            0.0
        } else if d0 * d1 <= 0.0 && d.abs() > 3.0 * d0.abs() {
            3.0 * d0
        } else {
            d
        }
    };
    for i in 0..n - 1 {
        knots.push(p[i][0]);
        cubics.push(match kind {
            Interpolation::Linear => [p[i][1], secant[i], 0.0, 0.0],
            Interpolation::Monotone => {
                let (m0, m1) = (slope(i), slope(i + 1));
                let c2 = (3.0 * secant[i] - 2.0 * m0 - m1) / h[i];
                let c3 = (m0 + m1 - 2.0 * secant[i]) / (h[i] * h[i]);
                [p[i][1], m0, c2, c3]
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Table {
        fn value(&self, x: f64) -> f64 {
            self.eval(self.cell(x), x, 0)
        }
    }

    const POINTS: [[f64; 2]; 4] = [[0.0, 0.0], [1.0, 2.0], [3.0, 2.0], [4.0, -1.0]];

    #[test]
    fn lines_go_through_the_points_and_the_ends_do_what_they_say() {
        for ends in [Ends::Hold, Ends::Extend, Ends::Repeat] {
            let table = Table::new("f", &POINTS, ends, Interpolation::Linear).unwrap();
            for (x, y) in [(0.5, 1.0), (1.0, 2.0), (2.0, 2.0), (3.5, 0.5)] {
                assert_eq!(table.value(x), y, "{ends:?} at {x}");
            }
            let (below, above) = (table.value(-0.5), table.value(4.5));
            match ends {
                Ends::Hold => assert_eq!((below, above), (0.0, -1.0)),
                Ends::Extend => assert_eq!((below, above), (-1.0, -2.5)),
                Ends::Repeat => assert_eq!((below, above), (0.5, 1.0)),
            }
        }
    }

    #[test]
    fn the_cells_of_a_repeating_table_follow_each_other_without_gap() {
        let table = Table::new("f", &POINTS, Ends::Repeat, Interpolation::Linear).unwrap();
        for k in -7..8 {
            let (a, b) = table.cell_ends(f64::from(k));
            assert_eq!(b, table.cell_ends(f64::from(k + 1)).0);
            assert_eq!(table.cell(a), f64::from(k));
            assert_eq!(table.cell(0.5 * (a + b)), f64::from(k));
            // period 4, jump by one from the last point to the first
            assert_eq!(table.value(a), table.value(a + 4.0));
        }
    }

    #[test]
    fn a_jump_takes_the_right_value() {
        let points = [[0.0, 0.0], [1.0, 0.0], [1.0, 5.0], [2.0, 5.0]];
        let table = Table::new("f", &points, Ends::Hold, Interpolation::Linear).unwrap();
        assert_eq!((table.value(0.999), table.value(1.0), table.cell(1.0)), (0.0, 5.0, 1.0));
        assert_eq!(table.cell_ends(0.0), (0.0, 1.0));
    }

    #[test]
    fn the_monotone_cubic_never_leaves_the_range_of_its_points_and_has_a_continuous_slope() {
        let points = [[0.0, 0.0], [0.1, 0.0], [0.2, 1.0], [1.0, 1.01], [1.1, 4.0], [3.0, 4.0]];
        let table = Table::new("f", &points, Ends::Hold, Interpolation::Monotone).unwrap();
        let mut last = f64::NEG_INFINITY;
        for i in 0..=3000 {
            let y = table.value(f64::from(i) * 1e-3);
            assert!(y >= last - 1e-12, "falls at {i}");
            last = y;
        }
        for k in 1..points.len() - 1 {
            let x = points[k][0];
            let (l, r) = (table.eval(k as f64 - 1.0, x, 1), table.eval(k as f64, x, 1));
            assert!((l - r).abs() < 1e-9 * (1.0 + l.abs()), "slope at {x}: {l} {r}");
        }
    }

    #[test]
    fn a_parabola_is_met_to_third_order_inside() {
        // the slopes are of second order on an even grid away from extrema: error of the cubic O(h^3)
        let error = |n: usize| {
            let points: Vec<_> = (0..=n).map(|i| 1.0 + i as f64 / n as f64).map(|x| [x, x * x * x]).collect();
            let table = Table::new("f", &points, Ends::Hold, Interpolation::Monotone).unwrap();
            let x = 1.5 + 0.3 / n as f64;
            (table.value(x) - x * x * x).abs()
        };
        assert!(error(80) < error(40) / 6.0);
    }

    #[test]
    fn bad_points_are_refused_with_a_sentence() {
        for points in
            [vec![], vec![[0.0, 1.0]], vec![[1.0, 0.0], [0.0, 0.0]], vec![[0.0, f64::NAN], [1.0, 0.0]]]
        {
            assert!(Table::new("f", &points, Ends::Hold, Interpolation::Linear).is_err());
        }
        assert!(Table::new("f", &[[1.0, 0.0], [1.0, 2.0]], Ends::Hold, Interpolation::Linear).is_err());
    }
}
