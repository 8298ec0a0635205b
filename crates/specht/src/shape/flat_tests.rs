//! Pairs of convex outlines against separating axes and against all corners and edges.

use super::tests::{Numbers, touches};
use super::*;

/// A convex polygon: corners on an ellipse.
fn polygon(numbers: &mut Numbers) -> Vec<[f64; 2]> {
    let [x, y, z] = numbers.vector();
    let count = 3 + (1.5 * (x + 1.0)) as usize;
    let (wide, high) = (0.1 * (1.5 + y), 0.1 * (1.5 + z));
    let turn = |k: usize, r: f64| (k as f64 + 0.3 * r) * std::f64::consts::TAU / count as f64;
    (0..count).map(|k| turn(k, numbers.vector()[0]).sin_cos()).map(|(s, c)| [wide * c, high * s]).collect()
}

fn turned(angle: f64, x: f64, y: f64) -> Pose {
    let (s, c) = angle.sin_cos();
    Pose { origin: [x, y, 0.0], axes: [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]] }
}

/// The largest separation along normals of edges, from P.
fn separation(p: &[V3], q: &[V3]) -> f64 {
    let over = |p: &[V3], q: &[V3]| {
        (0..p.len()).fold(f64::NEG_INFINITY, |m, k| {
            let w = sub(p[(k + 1) % p.len()], p[k]);
            let n = scale(1.0 / norm(w), [w[1], -w[0], 0.0]);
            m.max(q.iter().fold(f64::INFINITY, |m, x| m.min(dot(n, sub(*x, p[k])))))
        })
    };
    over(p, q).max(over(q, p))
}

/// The distance of polygons that are apart: corners to edges.
fn distance(p: &[V3], q: &[V3]) -> f64 {
    let to = |p: &[V3], q: &[V3]| {
        let mut least = f64::INFINITY;
        for x in q {
            for k in 0..p.len() {
                let w = sub(p[(k + 1) % p.len()], p[k]);
                let s = (dot(w, sub(*x, p[k])) / dot(w, w)).clamp(0.0, 1.0);
                least = least.min(norm(sub(*x, along(p[k], s, w))));
            }
        }
        least
    };
    to(p, q).min(to(q, p))
}

/// Stones of an arch sank into each other: below a corner the nearer edge counted, though the corner of the other could not touch it, and then none did.
#[test]
fn convex_outlines_are_as_far_apart_or_as_deep_as_separating_axes_say() {
    let mut numbers = Numbers(3);
    let mut seen = [0; 2];
    for k in 0..20_000 {
        let (p, q) = (polygon(&mut numbers), polygon(&mut numbers));
        let shapes = [&p, &q].map(|x| Shape::Outline(Outline::of(x, true, true).unwrap()));
        let [x, y, angle] = numbers.vector();
        // near, and often nearly parallel
        let angle = if k % 2 == 0 { 3.2 * angle } else { 1e-3 * angle };
        let poses = [turned(0.0, 0.0, 0.0), turned(angle, 0.45 * x, 0.45 * y)];
        let places = [0, 1].map(|i| {
            let at = |c: &[f64; 2]| poses[i].place([c[0], c[1], 0.0]);
            [&p, &q][i].iter().map(at).collect::<Vec<V3>>()
        });
        let by_axes = separation(&places[0], &places[1]);
        let found = touches((&shapes[0], poses[0]), (&shapes[1], poses[1]), 1.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        let [size, thin] =
            [shapes[0].reach().min(shapes[1].reach()), shapes[0].thinness().min(shapes[1].thinness())];
        if by_axes > 0.0 {
            seen[0] += 1;
            let expected = distance(&places[0], &places[1]);
            assert!((least - expected).abs() < 1e-9 * size, "{k}: {least} {expected}");
        } else if by_axes > -thin {
            seen[1] += 1;
            assert!((least - by_axes).abs() < 2e-6 * size, "{k}: {least} {by_axes}");
            // moved along the normal by the depth they are apart
            let t = found.iter().min_by(|x, y| x.gap.total_cmp(&y.gap)).unwrap();
            let moved: Vec<V3> = places[0].iter().map(|x| along(*x, 2e-6 * size - t.gap, t.normal)).collect();
            assert!(separation(&moved, &places[1]) > -1e-12, "{k}: {t:?}");
        }
    }
    assert!(seen.iter().all(|s| *s > 2000), "{seen:?}");
}

/// Whether two closed polygons have common points: corners inside, or edges that cross.
fn overlap(p: &[V3], q: &[V3]) -> bool {
    let holds = |p: &[V3], x: V3| {
        let crosses = |k: &usize| {
            let (a, b) = (p[*k], p[(*k + 1) % p.len()]);
            (a[1] > x[1]) != (b[1] > x[1]) && x[0] < a[0] + (b[0] - a[0]) * (x[1] - a[1]) / (b[1] - a[1])
        };
        (0..p.len()).filter(crosses).count() % 2 == 1
    };
    let left = |a: V3, b: V3, c: V3| cross(sub(b, a), sub(c, a))[2] > 0.0;
    let meets = |i: usize, j: usize| {
        let (a, b, c, d) = (p[i], p[(i + 1) % p.len()], q[j], q[(j + 1) % q.len()]);
        left(a, b, c) != left(a, b, d) && left(c, d, a) != left(c, d, b)
    };
    q.iter().any(|x| holds(p, *x))
        || p.iter().any(|x| holds(q, *x))
        || (0..p.len()).any(|i| (0..q.len()).any(|j| meets(i, j)))
}

/// A corner outside one edge was taken for one below the next, where it could not touch the first.
#[test]
fn outlines_with_a_notch_that_are_apart_touch_nowhere() {
    let mut numbers = Numbers(19);
    let mut seen = 0;
    for k in 0..20_000 {
        let [x, y, angle] = numbers.vector();
        let r = 0.15 + 0.05 * numbers.vector()[0];
        let p = vec![[-r, -0.15], [r, -0.15], [r, 0.15], [0.0, -0.05], [-r, 0.15]];
        let q = if k % 2 == 0 { p.clone() } else { polygon(&mut numbers) };
        let shapes = [&p, &q].map(|x| Shape::Outline(Outline::of(x, true, true).unwrap()));
        let poses = [turned(0.0, 0.0, 0.0), turned(3.2 * angle, 0.5 * x, 0.5 * y)];
        let places = [0, 1].map(|i| {
            let at = |c: &[f64; 2]| poses[i].place([c[0], c[1], 0.0]);
            [&p, &q][i].iter().map(at).collect::<Vec<V3>>()
        });
        if overlap(&places[0], &places[1]) {
            continue;
        }
        seen += 1;
        let expected = distance(&places[0], &places[1]);
        let found = touches((&shapes[0], poses[0]), (&shapes[1], poses[1]), 1.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        assert!((least - expected).abs() < 1e-9, "{k}: {least} {expected} {found:?}");
    }
    assert!(seen > 2000, "{seen}");
}
