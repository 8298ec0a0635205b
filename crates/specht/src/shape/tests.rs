//! Pairs against closed forms, and against brute force.

use super::*;

/// Pseudo-random numbers in −1 … 1.
pub(super) struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(super) fn vector(&mut self) -> V3 {
        [self.next(), self.next(), self.next()]
    }

    /// A pose with a random rotation.
    pub(super) fn pose(&mut self, origin: V3) -> Pose {
        let (a, b) = (self.vector(), self.vector());
        let x = vec3::unit(a).unwrap();
        let z = vec3::unit(cross(x, b)).unwrap();
        let y = cross(z, x);
        Pose { origin, axes: [0, 1, 2].map(|i| [x[i], y[i], z[i]]) }
    }
}

pub(super) const STILL: Pose =
    Pose { origin: [0.0; 3], axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };

pub(super) fn touches(a: (&Shape, Pose), b: (&Shape, Pose), margin: f64) -> Vec<Touch> {
    let [mut pa, mut pb] = [Placed::default(), Placed::default()];
    pa.put(a.0, &a.1);
    pb.put(b.0, &b.1);
    let mut out = Vec::new();
    meet((a.0, &pa), (b.0, &pb), [0.0; 3], margin, &mut out);
    out
}

pub(super) fn cuboid(half: V3) -> Shape {
    Shape::Hull(Hull::cuboid([0.0; 3], half))
}

#[test]
fn the_hull_of_the_corners_of_a_box_is_the_box() {
    let corners = Hull::cuboid([0.1, 0.2, 0.3], [1.0, 2.0, 3.0]).vertices;
    // points inside, on faces and on edges change nothing
    let mut points = corners.clone();
    points.extend([[0.1, 0.2, 0.3], [1.1, 0.2, 0.3], [1.1, 2.2, 0.3], [0.5, 2.2, 3.3]]);
    let hull = Hull::around(&points).unwrap();
    assert_eq!(
        (hull.vertices.len(), hull.faces.len(), hull.edges.len(), hull.directions.len()),
        (8, 6, 12, 3)
    );
    assert!(hull.faces.iter().all(|f| f.corners.len() == 4));
    assert!((hull.thin - 1.0).abs() < 1e-12);
    assert_eq!(Hull::around(&corners[..4]), Err(HullError::Flat(4)));
}

#[test]
fn the_hull_of_points_on_a_ball_has_all_of_them_and_eulers_number() {
    let mut numbers = Numbers(7);
    let points: Vec<V3> = (0..60).map(|_| vec3::unit(numbers.vector()).unwrap()).collect();
    let hull = Hull::around(&points).unwrap();
    assert_eq!(hull.vertices.len(), 60);
    assert_eq!(hull.vertices.len() + hull.faces.len() - hull.edges.len(), 2);
    for face in &hull.faces {
        let level = dot(face.normal, hull.vertices[face.corners[0] as usize]);
        assert!(hull.vertices.iter().all(|&v| dot(face.normal, v) < level + 1e-9));
    }
}

#[test]
fn a_ball_and_a_box_are_as_far_apart_as_the_clamped_centre_says() {
    let mut numbers = Numbers(1);
    let half = [0.5, 0.8, 1.1];
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.2 };
    for _ in 0..500 {
        let pose = numbers.pose([0.3, -0.2, 0.1]);
        let local = numbers.vector().map(|x| 2.0 * x);
        let clamped = [0, 1, 2].map(|i| local[i].clamp(-half[i], half[i]));
        let distance = norm(sub(local, clamped));
        if distance < 1e-3 {
            continue;
        }
        let at = Pose { origin: pose.place(local), ..STILL };
        let found = touches((&ball, at), (&cuboid(half), pose), 10.0);
        assert_eq!(found.len(), 1);
        assert!((found[0].gap - (distance - 0.2)).abs() < 1e-12);
        let away = sub(at.origin, pose.place(clamped)).map(|x| x / distance);
        assert!(norm(sub(found[0].normal, away)) < 1e-9);
    }
}

#[test]
fn a_box_on_a_box_touches_at_the_four_corners_of_what_they_share() {
    let (low, high) = (cuboid([1.0, 1.0, 0.5]), cuboid([1.0, 1.0, 0.5]));
    for (shift, corners) in [([0.0, 0.0], [-1.0, 1.0]), ([0.3, -0.6], [-0.7, 1.0])] {
        let at = Pose { origin: [shift[0], shift[1], 1.0], ..STILL };
        let mut found = touches((&high, at), (&low, STILL), 0.01);
        assert_eq!(found.len(), 4, "{shift:?}");
        found.sort_by(|a, b| a.point[0].total_cmp(&b.point[0]));
        assert!(
            (found[0].point[0] - corners[0]).abs() < 1e-12 && (found[3].point[0] - corners[1]).abs() < 1e-12
        );
        for t in &found {
            assert!(t.gap.abs() < 1e-12 && norm(sub(t.normal, [0.0, 0.0, 1.0])) < 1e-12);
        }
        let mut features: Vec<u32> = found.iter().map(|t| t.feature).collect();
        features.sort_unstable();
        features.dedup();
        assert_eq!(features.len(), 4);
    }
}

#[test]
fn crossed_edges_touch_in_one_point() {
    // a box on its edge along x below a box on its edge along y
    let s = 0.5_f64.sqrt();
    let below = Pose { axes: [[1.0, 0.0, 0.0], [0.0, s, -s], [0.0, s, s]], ..STILL };
    let above =
        Pose { origin: [0.1, 0.2, 2.0 * 2.0 * s + 0.01], axes: [[s, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, s]] };
    let cube = cuboid([1.0, 1.0, 1.0]);
    let found = touches((&cube, above), (&cube, below), 0.1);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 0.01).abs() < 1e-12, "{}", found[0].gap);
    assert!(norm(sub(found[0].point, [0.1, 0.0, 2.0 * s + 0.005])) < 1e-9, "{:?}", found[0].point);
    assert!(norm(sub(found[0].normal, [0.0, 0.0, 1.0])) < 1e-12);
}

#[test]
fn hulls_that_overlap_are_apart_once_moved_along_the_normal_by_their_depth() {
    let mut numbers = Numbers(3);
    let mut seen = 0;
    for _ in 0..300 {
        let cloud: Vec<V3> = (0..12).map(|_| numbers.vector()).collect();
        let a = Shape::Hull(Hull::around(&cloud).unwrap());
        let b = cuboid([0.4, 0.7, 0.3]);
        let (pa, pb) = (numbers.pose([0.0; 3]), numbers.pose([0.0; 3]));
        let pb = Pose { origin: numbers.vector().map(|x| 1.6 * x), ..pb };
        let deepest = |list: &[Touch]| list.iter().copied().min_by(|x, y| x.gap.total_cmp(&y.gap));
        let there = deepest(&touches((&a, pa), (&b, pb), 0.0));
        let back = deepest(&touches((&b, pb), (&a, pa), 0.0));
        let Some(t) = there.filter(|t| t.gap < -1e-3) else { continue };
        // seen from the other side it is the same
        assert!(back.is_some_and(|x| (x.gap - t.gap).abs() < 1e-5), "{t:?} {back:?}");
        let moved = Pose { origin: along(pa.origin, 1e-9 - t.gap, t.normal), ..pa };
        assert!(touches((&a, moved), (&b, pb), 0.0).is_empty(), "{t:?}");
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn a_capsule_lies_on_a_plane_on_a_box_and_along_another_with_two_points() {
    let capsule = Shape::Round { ends: [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], radius: 0.2 };
    let at = |z: f64| Pose { origin: [0.0, 0.0, z], ..STILL };
    let plane = Shape::Plane { through: [0.0; 3], normal: [0.0, 0.0, 1.0] };
    let beam = cuboid([0.6, 1.0, 0.5]);
    for (other, z) in [(&plane, 0.2), (&beam, 0.7), (&capsule, 0.4)] {
        let mut found = touches((&capsule, at(z)), (other, STILL), 0.01);
        found.sort_by(|a, b| a.point[0].total_cmp(&b.point[0]));
        let reach = if other == &beam { 0.6 } else { 1.0 };
        assert_eq!(found.len(), 2, "{other:?}");
        assert!((found[0].point[0] + reach).abs() < 1e-9 && (found[1].point[0] - reach).abs() < 1e-9);
        assert!(found.iter().all(|t| t.gap.abs() < 1e-12));
    }
}

#[test]
fn the_grid_finds_the_pairs_that_all_comparisons_find() {
    let mut numbers = Numbers(11);
    let mut boxes: Vec<(V3, V3)> = (0..400)
        .map(|k| {
            let (c, h) = (numbers.vector().map(|x| 5.0 * x), numbers.vector().map(|x| 0.2 + 0.2 * x.abs()));
            let h = if k % 50 == 0 { h.map(|x| 20.0 * x) } else { h };
            (sub(c, h), add(c, h))
        })
        .collect();
    boxes.push(([f64::NEG_INFINITY; 3], [f64::INFINITY; 3]));
    let (mut broad, mut found) = (Broad::default(), Vec::new());
    broad.pairs(&boxes, &mut found);
    let mut all = Vec::new();
    for i in 0..boxes.len() {
        for j in i + 1..boxes.len() {
            let (a, b) = (&boxes[i], &boxes[j]);
            if (0..3).all(|k| a.0[k] <= b.1[k] && b.0[k] <= a.1[k]) {
                all.push([i as u32, j as u32]);
            }
        }
    }
    assert_eq!(found, all);
}
