//! Cylinders against closed forms, and against points all over them.

use super::tests::{Numbers, STILL, cuboid, touches};
use super::*;

fn drum(half: f64, radius: f64) -> Shape {
    Shape::Cylinder { ends: [[0.0, 0.0, -half], [0.0, 0.0, half]], radius }
}

fn plane() -> Shape {
    Shape::Plane { through: [0.0; 3], normal: [0.0, 0.0, 1.0] }
}

/// The pose of a cylinder that lies along x.
fn lying(origin: V3) -> Pose {
    Pose { origin, axes: [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]] }
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose { origin: [x, y, z], ..STILL }
}

/// Points all over the surface of a cylinder.
fn surface(half: f64, radius: f64, pose: &Pose) -> Vec<V3> {
    let mut out = Vec::new();
    for k in 0..720 {
        let (s, c) = (k as f64 * std::f64::consts::PI / 360.0).sin_cos();
        for j in 0..=40 {
            let f = j as f64 / 40.0;
            out.push(pose.place([radius * c, radius * s, half * (2.0 * f - 1.0)]));
            for z in [-half, half] {
                out.push(pose.place([f * radius * c, f * radius * s, z]));
            }
        }
    }
    out
}

#[test]
fn a_cylinder_stands_with_eight_points_lies_with_two_and_leans_with_one() {
    let shape = drum(0.5, 0.2);
    let found = touches((&shape, at(0.0, 0.0, 0.5)), (&plane(), STILL), 1e-3);
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|t| t.gap.abs() < 1e-15 && (norm(t.point) - 0.2).abs() < 1e-12));
    let found = touches((&shape, lying([0.0, 0.0, 0.2])), (&plane(), STILL), 1e-3);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|t| t.gap.abs() < 1e-15 && (t.point[0].abs() - 0.5).abs() < 1e-12));
    // tilted by 0.3 about y: the lowest point of the lower rim
    let (s, c) = 0.3_f64.sin_cos();
    let pose = Pose { origin: [0.0, 0.0, 1.0], axes: [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]] };
    let found = touches((&shape, pose), (&plane(), STILL), 10.0);
    let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
    assert!((least - (1.0 - 0.5 * c - 0.2 * s)).abs() < 1e-14);
    assert_eq!(found.iter().filter(|t| t.gap < least + 1e-9).count(), 1);
}

#[test]
fn the_direction_of_the_push_is_one_of_the_points_of_a_level_cap() {
    let [mut a, mut b] = [Placed::default(), Placed::default()];
    a.put(&drum(0.5, 0.2), &at(0.0, 0.0, 0.5));
    b.put(&plane(), &STILL);
    let mut out = Vec::new();
    meet((&drum(0.5, 0.2), &a), (&plane(), &b), [0.3, 0.4, -9.0], 1e-3, &mut out);
    assert!(out.iter().any(|t| norm(sub(t.point, [0.12, 0.16, 0.0])) < 1e-12));
    assert!(out.iter().any(|t| norm(sub(t.point, [-0.12, -0.16, 0.0])) < 1e-12));
}

#[test]
fn balls_and_cylinders_are_as_far_apart_as_clamped_coordinates_say() {
    let mut numbers = Numbers(5);
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.1 };
    for _ in 0..500 {
        let pose = numbers.pose([0.1, 0.2, -0.3]);
        let p = numbers.vector();
        let rho = p[0].hypot(p[1]);
        let d = (rho - 0.3).max(0.0).hypot((p[2].abs() - 0.6).max(0.0));
        if d < 1e-3 {
            continue;
        }
        let there = Pose { origin: pose.place(p), ..STILL };
        let found = touches((&ball, there), (&drum(0.6, 0.3), pose), 10.0);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - (d - 0.1)).abs() < 1e-12);
    }
}

#[test]
fn capsules_and_cylinders_are_as_near_as_their_nearest_points() {
    let mut numbers = Numbers(9);
    let capsule = Shape::Round { ends: [[-0.5, 0.0, 0.0], [0.5, 0.1, 0.0]], radius: 0.05 };
    for _ in 0..60 {
        let (pa, pb) = (numbers.pose([0.0; 3]), numbers.pose([0.0; 3]));
        let pa = Pose { origin: numbers.vector().map(|x| 1.2 * x), ..pa };
        let found = touches((&capsule, pa), (&drum(0.4, 0.3), pb), 10.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        let mut placed = Placed::default();
        placed.put(&drum(0.4, 0.3), &pb);
        let mut brute = f64::INFINITY;
        for k in 0..=4000 {
            let s = k as f64 / 4000.0;
            let x = pa.place([s - 0.5, 0.1 * s, 0.0]);
            brute = brute.min(convex::distance((&drum(0.4, 0.3), &placed), x).0 - 0.05);
        }
        assert!(least <= brute + 1e-9 && least > brute - 3e-4, "{least} {brute}");
    }
}

#[test]
fn boxes_and_cylinders_that_are_apart_are_as_near_as_their_nearest_points() {
    let mut numbers = Numbers(21);
    let half = [0.3, 0.5, 0.4];
    let mut seen = 0;
    for _ in 0..60 {
        let (pa, pb) = (numbers.pose([0.0; 3]), numbers.pose([0.0; 3]));
        let pa = Pose { origin: numbers.vector().map(|x| 1.4 * x), ..pa };
        let brute = surface(0.4, 0.25, &pa).into_iter().fold(f64::INFINITY, |m, p| {
            let r = sub(p, pb.origin);
            let local = [0, 1, 2].map(|k| (0..3).map(|i| pb.axes[i][k] * r[i]).sum::<f64>());
            let out = [0, 1, 2].map(|k| (local[k].abs() - half[k]).max(0.0));
            m.min(norm(out))
        });
        if brute < 0.02 {
            continue;
        }
        seen += 1;
        let found = touches((&drum(0.4, 0.25), pa), (&cuboid(half), pb), 10.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        // no touch is nearer than the shapes, and the nearest is as near (the points are 2 mm … 10 mm apart)
        assert!(least <= brute + 1e-9 && least > brute - 6e-3, "{least} {brute}");
    }
    assert!(seen > 20);
}

/// The deepest point of an edge in a cylinder had the normal of the cap or of the side, which are not across the edge: the edge slid on along it, deeper and
/// deeper, for every push out of penetration.
#[test]
fn an_edge_that_crosses_a_rim_touches_along_the_normal_of_both() {
    let (radius, half, side, deep) = (0.3, 0.4, 0.2, 1e-4);
    for k in 1..12 {
        let (a, c) = (k as f64 * std::f64::consts::PI / 24.0, 0.2 * (k % 4) as f64);
        // out of the cylinder between side and cap; the edge, which has it across, as the rim has
        let m = [a.sin(), 0.0, a.cos()];
        let w = [c.cos() * a.cos(), c.sin(), -c.cos() * a.sin()];
        let t = cross(m, w);
        let [y, z] = [1.0, -1.0].map(|s| scale(0.5_f64.sqrt(), [0, 1, 2].map(|i| m[i] + s * t[i])));
        let out = side * 2.0_f64.sqrt() - deep;
        let origin = [radius + out * m[0], 0.0, half + out * m[2]];
        let pose = Pose { origin, axes: [0, 1, 2].map(|i| [w[i], y[i], z[i]]) };
        let found = touches((&drum(half, radius), STILL), (&cuboid([0.5, side, side]), pose), 1e-3);
        assert_eq!(found.len(), 1, "{k}: {found:?}");
        // the rim is bent: a little of its direction at the point of the edge that lies deep
        assert!((found[0].gap + deep).abs() < 30.0 * deep * deep, "{k}: {}", found[0].gap);
        assert!(norm(sub(found[0].normal, scale(-1.0, m))) < 30.0 * deep, "{k}: {:?} {m:?}", found[0].normal);
    }
}

#[test]
fn two_cylinders_that_are_apart_are_as_near_as_their_nearest_points() {
    let mut numbers = Numbers(33);
    let mut seen = 0;
    for _ in 0..80 {
        let (pa, pb) = (numbers.pose([0.0; 3]), numbers.pose([0.0; 3]));
        let pa = Pose { origin: numbers.vector().map(|x| 1.2 * x), ..pa };
        let mut placed = Placed::default();
        let other = drum(0.3, 0.4);
        placed.put(&other, &pb);
        let all = surface(0.5, 0.2, &pa).into_iter();
        let brute = all.fold(f64::INFINITY, |m, p| m.min(convex::distance((&other, &placed), p).0));
        if brute < 0.02 {
            continue;
        }
        seen += 1;
        let found = touches((&drum(0.5, 0.2), pa), (&other, pb), 10.0);
        let least = found.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
        assert!(least <= brute + 1e-9 && least > brute - 6e-3, "{least} {brute}");
    }
    assert!(seen > 20);
}

#[test]
fn what_stands_and_lies_on_a_cylinder_touches_at_the_ends_of_what_they_share() {
    let (tall, flat) = (drum(0.5, 0.2), drum(0.1, 0.2));
    // one on the other, aside by 0.3: where the rims cross, and what lies over the other
    let found = touches((&tall, at(0.3, 0.0, 0.6)), (&flat, STILL), 1e-3);
    assert!(found.iter().all(|t| t.gap.abs() < 1e-12 && (t.normal[2] - 1.0).abs() < 1e-12), "{found:?}");
    let y = (0.04_f64 - 0.0225).sqrt();
    for y in [y, -y] {
        assert!(found.iter().any(|t| norm(sub(t.point, [0.15, y, 0.1])) < 1e-9), "{found:?}");
    }
    // one lying on another that lies across it: one point; along it: two
    let found = touches((&tall, lying([0.0, 0.0, 0.4])), (&tall, lying([0.1, 0.0, 0.0])), 1e-3);
    let mut ends: Vec<f64> = found.iter().map(|t| t.point[0]).collect();
    ends.sort_by(f64::total_cmp);
    assert!(found.len() == 2 && (ends[0] + 0.4).abs() < 1e-9 && (ends[1] - 0.5).abs() < 1e-9, "{found:?}");
    // standing on one that lies: the ends of the line of its cap
    let found = touches((&tall, at(0.0, 0.0, 0.7)), (&tall, lying([0.0; 3])), 1e-3);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|t| (t.point[0].abs() - 0.2).abs() < 1e-6 && t.gap.abs() < 1e-9), "{found:?}");
    // beside each other, both standing, on the same floor
    let found = touches((&tall, at(0.4, 0.0, 0.5)), (&flat, at(0.0, 0.0, 0.1)), 1e-3);
    assert!(!found.is_empty() && found.iter().all(|t| (t.normal[0] - 1.0).abs() < 1e-9), "{found:?}");
    // over the edge of a box: the ends of the chord
    let found = touches((&tall, at(0.1, 0.0, 0.5)), (&cuboid([0.1, 1.0, 0.1]), at(0.0, 0.0, -0.1)), 1e-3);
    for p in [[0.1, 0.2, 0.0], [0.1, -0.2, 0.0], [-0.1, 0.0, 0.0]] {
        assert!(found.iter().any(|t| norm(sub(t.point, p)) < 1e-6), "{p:?} {found:?}");
    }
    assert!(found.iter().all(|t| t.gap.abs() < 1e-9 && t.normal[2] > 0.999), "{found:?}");
}
