//! Pairs of cylinders against an independent distance: alternating projections, and supports in many directions.

use super::tests::{Numbers, touches};
use super::*;

/// Half length, radius.
type Drum = (f64, f64);

fn shape((half, radius): Drum) -> Shape {
    Shape::Cylinder { ends: [[0.0, 0.0, -half], [0.0, 0.0, half]], radius }
}

/// The nearest point of a cylinder, by clamping its coordinates.
fn clamped((half, radius): Drum, at: &Pose, p: V3) -> V3 {
    let x = at.back(p);
    let rho = x[0].hypot(x[1]);
    let f = if rho > radius { radius / rho } else { 1.0 };
    at.place([f * x[0], f * x[1], x[2].clamp(-half, half)])
}

/// Bounds of the distance of two cylinders from below and from above. Projections in turn end at a nearest pair; what a plane across the line between
/// them keeps apart is never more than the distance.
fn bounds(a: (Drum, &Pose), b: (Drum, &Pose), rounds: usize) -> (f64, f64) {
    let mut p = a.1.origin;
    let mut bound = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let q = clamped(b.0, b.1, p);
        p = clamped(a.0, a.1, q);
        let d = norm(sub(p, q));
        let Some(n) = vec3::unit(sub(p, q)) else { return (0.0, 0.0) };
        bound = (bound.0.max(apart(a, b, n)), bound.1.min(d));
        if bound.1 - bound.0 < 1e-9 {
            break;
        }
    }
    bound
}

/// How far a plane across n keeps A and B apart, n from B to A.
fn apart(a: (Drum, &Pose), b: (Drum, &Pose), n: V3) -> f64 {
    let reach = |((half, radius), at): (Drum, &Pose)| {
        let x = at.turn_back(n);
        half * x[2].abs() + radius * x[0].hypot(x[1])
    };
    dot(n, sub(a.1.origin, b.1.origin)) - reach(a) - reach(b)
}

const DRUMS: [[Drum; 2]; 4] = [
    [(0.08, 0.07), (0.08, 0.07)],
    [(0.01, 0.12), (0.01, 0.12)],
    [(0.01, 0.12), (0.3, 0.03)],
    [(0.5, 0.2), (0.3, 0.4)],
];

/// Rims that met from outside had no contact once they were inside each other, and the crossing of tilted caps was one where they were apart.
#[test]
fn the_nearest_touch_of_two_cylinders_is_their_distance_and_none_touches_that_are_apart() {
    let mut numbers = Numbers(41);
    let mut seen = 0;
    for k in 0..4000 {
        let [a, b] = DRUMS[k % 4];
        let far = a.0 + a.1 + b.0 + b.1;
        let pa = numbers.pose([0.3, 0.1, -0.2]);
        let there = along([0.3, 0.1, -0.2], 0.9 * far, numbers.vector());
        let mut pb = numbers.pose(there);
        if k % 3 == 0 {
            // nearly parallel
            let axes = numbers.pose([0.0; 3]).axes;
            let tilt = 1e-3 * (1.0 + axes[0][0]);
            let (s, c) = tilt.sin_cos();
            pb.axes = pa.axes.map(|r| [r[0], c * r[1] + s * r[2], c * r[2] - s * r[1]]);
        }
        let (low, high) = bounds((a, &pa), (b, &pb), 4000);
        let size = 2.0 * a.0.max(a.1).min(b.0.max(b.1));
        if !(high > 1e-6 * size) || high - low > 1e-7 * size {
            continue;
        }
        seen += 1;
        let found = touches((&shape(a), pa), (&shape(b), pb), 10.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        assert!(least > low - 1e-6 * size && least < high + 1e-6 * size, "{k}: {least} {low} {high}");
        assert!(found.iter().all(|t| apart((a, &pa), (b, &pb), t.normal) <= high + 1e-12), "{k}");
    }
    assert!(seen > 1500, "{seen}");
}

/// Inside each other the deepest touch is the shortest way out, in whatever direction: the largest of what planes in all directions keep apart.
#[test]
fn the_deepest_touch_of_two_cylinders_inside_each_other_is_the_shortest_way_out() {
    let mut numbers = Numbers(77);
    let mut seen = 0;
    for k in 0..1500 {
        let [a, b] = DRUMS[k % 4];
        let far = a.0 + a.1 + b.0 + b.1;
        let pa = numbers.pose([0.0; 3]);
        let there = numbers.vector().map(|x| 0.7 * far * x);
        let pb = numbers.pose(there);
        // the best of many directions, made better by small turns
        let mut best = (f64::NEG_INFINITY, [0.0; 3]);
        for _ in 0..400 {
            let Some(n) = vec3::unit(numbers.vector()) else { continue };
            let s = apart((a, &pa), (b, &pb), n);
            if s > best.0 {
                best = (s, n);
            }
        }
        let mut room = 0.1;
        while room > 1e-7 {
            let mut better = false;
            for _ in 0..30 {
                let Some(n) = vec3::unit(along(best.1, room, numbers.vector())) else { continue };
                let s = apart((a, &pa), (b, &pb), n);
                if s > best.0 {
                    (best, better) = ((s, n), true);
                }
            }
            room *= if better { 1.0 } else { 0.6 };
        }
        let thin = a.0.min(a.1).min(b.0.min(b.1));
        if best.0 > 0.0 || best.0 < -0.5 * thin {
            continue;
        }
        seen += 1;
        let found = touches((&shape(a), pa), (&shape(b), pb), 1e-3);
        let least = found.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)).copied().unwrap_or_default();
        // never less than what some direction says; the search of this test may end at another maximum
        assert!(least.gap >= best.0 - 1e-6, "{k}: {least:?} {best:?}");
        assert!(
            (apart((a, &pa), (b, &pb), least.normal) - least.gap).abs() < 1e-6,
            "{k}: {least:?} {best:?}"
        );
    }
    assert!(seen > 100, "{seen}");
}
