//! Fewer points for the same line (Ramer, Douglas, Peucker): a point stays when the line without it would pass farther
//! away than a tolerance. The result stays within that tolerance of every given point.

/// The points that stay; the first and the last always do.
pub fn simplify(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    let mut stays = vec![false; points.len()];
    let Some(last) = points.len().checked_sub(1) else { return Vec::new() };
    (stays[0], stays[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((a, b)) = open.pop() {
        let far = (a + 1..b)
            .map(|k| (k, distance(points[k], points[a], points[b])))
            .max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)));
        if let Some((k, d)) = far
            && d > tolerance
        {
            stays[k] = true;
            open.extend([(a, k), (k, b)]);
        }
    }
    points.iter().zip(stays).filter(|(_, s)| *s).map(|(p, _)| *p).collect()
}

/// Distance of a point from the segment a b.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (d, r) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = d[0] * d[0] + d[1] * d[1];
    let s = if square > 0.0 { ((r[0] * d[0] + r[1] * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    (r[0] - s * d[0]).hypot(r[1] - s * d[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_line_keeps_its_ends_and_a_peak_stays() {
        let line: Vec<[f64; 2]> = (0..100).map(|k| [f64::from(k), 2.0 * f64::from(k)]).collect();
        assert_eq!(simplify(&line, 0.1), [line[0], line[99]]);
        let mut peak = line.clone();
        peak[40][1] += 3.0;
        assert!(simplify(&peak, 0.1).contains(&peak[40]));
        assert!(simplify(&[], 0.1).is_empty());
        assert_eq!(simplify(&line[..1], 0.1), [line[0]]);
    }

    #[test]
    fn every_point_is_within_the_tolerance_of_the_simplified_line() {
        let wave: Vec<[f64; 2]> =
            (0..2000).map(|k| f64::from(k) * 0.3).map(|x| [x, 80.0 * (x * 0.05).sin()]).collect();
        let kept = simplify(&wave, 0.15);
        assert!(kept.len() < 200, "{}", kept.len());
        for p in &wave {
            let d = kept.windows(2).map(|w| distance(*p, w[0], w[1])).fold(f64::INFINITY, f64::min);
            assert!(d <= 0.15, "{p:?}: {d}");
        }
    }
}
