//! Meshes, height fields and outlines against closed forms.

use std::sync::Arc;

use super::tests::{Numbers, STILL, cuboid, touches};
use super::*;

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose { origin: [x, y, z], ..STILL }
}

/// Triangles of a hull.
fn skin(hull: &Hull) -> Vec<[V3; 3]> {
    let fan = |p: Vec<V3>| (1..p.len() - 1).map(move |k| [p[0], p[k], p[k + 1]]).collect::<Vec<_>>();
    hull.polygons().flat_map(fan).collect()
}

/// A level square of n × n cells at height 0.
fn floor(n: usize, half: f64) -> Vec<[V3; 3]> {
    let at = |i: usize| half * (2.0 * i as f64 / n as f64 - 1.0);
    let mut out = Vec::new();
    for (i, j) in (0..n * n).map(|k| (k % n, k / n)) {
        let p = |a: usize, b: usize| [at(i + a), at(j + b), 0.0];
        out.push([p(0, 0), p(1, 0), p(1, 1)]);
        out.push([p(0, 0), p(1, 1), p(0, 1)]);
    }
    out
}

#[test]
fn a_tetrahedron_has_the_volume_centre_and_moments_of_the_closed_form() {
    // corners at the origin and at a, b, c on the axes: V = abc/6, ∫x² = a³bc/60, ∫xy = a²b²c/120
    let (a, b, c) = (2.0_f64, 3.0_f64, 5.0_f64);
    let p = [[0.0, 0.0, 0.0], [a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]];
    let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|f: [usize; 3]| f.map(|k| p[k]));
    let v = a * b * c / 6.0;
    let (xx, yy) = (a.powi(3) * b * c / 60.0 - v * a * a / 16.0, a * b.powi(3) * c / 60.0 - v * b * b / 16.0);
    let zz = a * b * c.powi(3) / 60.0 - v * c * c / 16.0;
    let xy = a * a * b * b * c / 120.0 - v * a * b / 16.0;
    for turned in [false, true] {
        let list: Vec<[V3; 3]> = faces.iter().map(|f| if turned { [f[0], f[2], f[1]] } else { *f }).collect();
        let f = Mesh::of(&list).unwrap().filling().unwrap();
        assert!((f.volume - v).abs() < 1e-12 && norm(sub(f.center, [a / 4.0, b / 4.0, c / 4.0])) < 1e-12);
        assert!((f.inertia[0][0] - yy - zz).abs() < 1e-11 && (f.inertia[2][2] - xx - yy).abs() < 1e-11);
        assert!((f.inertia[0][1] + xy).abs() < 1e-11 && f.inertia[0][1] == f.inertia[1][0]);
    }
    assert_eq!(Mesh::of(&faces).unwrap().convex().unwrap().vertices.len(), 4);
}

#[test]
fn what_is_no_mesh_or_no_body_is_told() {
    assert_eq!(Mesh::of(&[]), Err(MeshError::Empty));
    assert_eq!(Mesh::of(&[[[0.0; 3], [1.0; 3], [2.0; 3]]]), Err(MeshError::Flat(1)));
    assert_eq!(Mesh::of(&[[[f64::NAN; 3]; 3]]), Err(MeshError::NotFinite));
    let mut cube = skin(&Hull::cuboid([0.0; 3], [1.0; 3]));
    cube.push([[0.0; 3], [0.0; 3], [1.0; 3]]);
    let mesh = Mesh::of(&cube).unwrap();
    assert_eq!((mesh.degenerate, mesh.loose, mesh.vertices.len()), (1, 0, 8));
    cube.remove(0);
    let mesh = Mesh::of(&cube).unwrap();
    assert_eq!(mesh.filling(), Err(MeshError::Open(3)));
    // two cubes side by side with a gap: closed, not convex
    let mut two = skin(&Hull::cuboid([0.0; 3], [1.0; 3]));
    two.extend(skin(&Hull::cuboid([3.0, 0.0, 0.0], [1.0; 3])));
    assert!(
        matches!(Mesh::of(&two).unwrap().convex(), Err(MeshError::NotConvex(f)) if (f - 0.8).abs() < 1e-9)
    );
}

#[test]
fn a_million_triangles_are_a_mesh_in_bounded_time() {
    let mesh = Arc::new(Mesh::of(&floor(707, 10.0)).unwrap());
    assert_eq!(mesh.triangles.len(), 999_698);
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.2 };
    for x in [-3.3, 0.0, 7.1] {
        let found = touches((&ball, at(x, 0.3, 0.21)), (&Shape::Mesh(mesh.clone()), STILL), 0.02);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((found[0].gap - 0.01).abs() < 1e-12);
    }
    assert!(matches!(mesh.hull(), Err(MeshError::TooFine(_))));
}

#[test]
fn a_fine_floor_of_triangles_carries_as_a_plane_does() {
    let mesh = Shape::Mesh(Arc::new(Mesh::of(&floor(16, 1.0)).unwrap()));
    let plane = Shape::Plane { through: [0.0; 3], normal: [0.0, 0.0, 1.0] };
    let shapes = [
        Shape::Round { ends: [[0.0; 3]; 2], radius: 0.3 },
        Shape::Round { ends: [[-0.3, 0.0, 0.0], [0.3, 0.1, 0.0]], radius: 0.3 },
        cuboid([0.4, 0.35, 0.3]),
        Shape::Cylinder { ends: [[0.0, 0.0, -0.3], [0.0, 0.0, 0.3]], radius: 0.33 },
        Shape::Cylinder { ends: [[-0.4, 0.1, 0.0], [0.4, 0.0, 0.0]], radius: 0.3 },
    ];
    for shape in &shapes {
        for (x, y) in [(0.0, 0.0), (0.11, -0.07)] {
            let pose = at(x, y, 0.301);
            let (mut a, mut b) =
                (touches((shape, pose), (&mesh, STILL), 0.01), touches((shape, pose), (&plane, STILL), 0.01));
            let order = |p: &Touch, q: &Touch| {
                let key = |t: &Touch| t.point.map(|v| (v * 1e6).round());
                key(p)[0].total_cmp(&key(q)[0]).then(key(p)[1].total_cmp(&key(q)[1]))
            };
            a.sort_by(order);
            b.sort_by(order);
            assert_eq!(a.len(), b.len(), "{shape:?} {a:?} {b:?}");
            for (p, q) in a.iter().zip(&b) {
                assert!((p.gap - q.gap).abs() < 1e-12 && norm(sub(p.point, q.point)) < 1e-9);
                assert!(norm(sub(p.normal, q.normal)) < 1e-12);
            }
        }
    }
}

#[test]
fn the_skin_of_a_box_is_as_far_from_balls_and_hulls_as_the_box() {
    let mut numbers = Numbers(17);
    let half = [0.5, 0.4, 0.3];
    let mesh = Shape::Mesh(Arc::new(Mesh::of(&skin(&Hull::cuboid([0.0; 3], half))).unwrap()));
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.1 };
    let least = |list: &[Touch]| list.iter().map(|t| t.gap).fold(f64::INFINITY, f64::min);
    for _ in 0..300 {
        let pose = numbers.pose([0.1, 0.0, -0.2]);
        let there = Pose { origin: numbers.vector().map(|x| 1.2 * x), ..numbers.pose([0.0; 3]) };
        let one = touches((&ball, there), (&cuboid(half), pose), 5.0);
        if least(&one) < 1e-3 {
            continue;
        }
        let two = touches((&ball, there), (&mesh, pose), 5.0);
        assert!((least(&one) - least(&two)).abs() < 1e-9, "{one:?} {two:?}");
        // a small box: its nearest corner, edge or face
        let small = cuboid([0.1, 0.15, 0.05]);
        let mut placed = Placed::default();
        placed.put(&small, &there);
        let two = least(&touches((&small, there), (&mesh, pose), 5.0));
        let mut body = Placed::default();
        body.put(&cuboid(half), &pose);
        // corners of either from the other are never nearer than the two bodies
        let big = cuboid(half);
        let of_small = placed.points.iter().map(|&p| convex::distance((&big, &body), p).0);
        let of_big = body.points.iter().map(|&p| convex::distance((&small, &placed), p).0);
        let corners = of_small.chain(of_big).fold(f64::INFINITY, f64::min);
        if corners > 1e-3 {
            assert!(two <= corners + 1e-9, "{two} {corners}");
        }
    }
}

#[test]
fn a_ball_crosses_the_edges_of_a_fine_floor_without_a_second_point() {
    let mesh = Shape::Mesh(Arc::new(Mesh::of(&floor(10, 1.0)).unwrap()));
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.5 };
    for k in 0..200 {
        let found = touches((&ball, at(-0.5 + 0.005 * k as f64, 0.2, 0.5)), (&mesh, STILL), 0.2);
        assert_eq!(found.len(), 1, "{k}: {found:?}");
    }
    // beyond the end of the sheet it touches the edge
    let found = touches((&ball, at(1.3, 0.0, 0.4)), (&mesh, STILL), 0.01);
    assert!(found.len() == 1 && found[0].gap.abs() < 1e-9, "{found:?}");
    assert!(norm(sub(found[0].normal, [0.6, 0.0, 0.8])) < 1e-9);
}

#[test]
fn a_paraboloid_on_a_grid_is_exact_and_a_wave_of_fourth_order() {
    let f = |x: f64, y: f64| 0.3 * x * x - 0.2 * x * y + 0.5 * y * y;
    let heights = |n: usize, f: &dyn Fn(f64, f64) -> f64| {
        let h = 2.0 / (n - 1) as f64;
        let z: Vec<f64> =
            (0..n * n).map(|k| f(-1.0 + h * (k % n) as f64, -1.0 + h * (k / n) as f64)).collect();
        Field::of_heights([-1.0, -1.0], [h, h], [n, n], &z)
    };
    let field = heights(9, &f);
    let mut numbers = Numbers(4);
    for _ in 0..200 {
        let [x, y, _] = numbers.vector();
        let j = field.jet(x, y);
        let exact = [f(x, y), 0.6 * x - 0.2 * y, y - 0.2 * x, 0.6, -0.2, 1.0];
        assert!(j.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-11), "{j:?} {exact:?}");
    }
    let wave = |x: f64, y: f64| (2.0 * x).sin() * y.cos();
    let error = |n: usize| {
        let field = heights(n, &wave);
        let grid = (0..400).map(|k| (-0.4 + 0.04 * (k % 20) as f64, -0.4 + 0.04 * (k / 20) as f64));
        grid.fold(0.0_f64, |m, (x, y)| m.max((field.jet(x, y)[0] - wave(x, y)).abs()))
    };
    assert!(error(41) < 0.16 * error(21), "{} {}", error(41), error(21));
}

#[test]
fn a_ball_in_a_bowl_is_as_far_from_it_as_newton_says() {
    // z = x²/2 + y²/2: the foot of a point over the middle is the middle, of others on the same meridian
    let n = 21;
    let z: Vec<f64> = (0..n * n)
        .map(|k| {
            let (x, y) = (-1.0 + 0.1 * (k % n) as f64, -1.0 + 0.1 * (k / n) as f64);
            0.5 * (x * x + y * y)
        })
        .collect();
    let field = Shape::Field(Arc::new(Field::of_heights([-1.0, -1.0], [0.1, 0.1], [n, n], &z)));
    let ball = Shape::Round { ends: [[0.0; 3]; 2], radius: 0.2 };
    // a ball whose foot is at (0.3, 0.4): normal (−0.3, −0.4, 1)/√1.25
    let root = 1.25_f64.sqrt();
    let normal = [-0.3 / root, -0.4 / root, 1.0 / root];
    let centre = along([0.3, 0.4, 0.125], 0.25, normal);
    let found = touches((&ball, Pose { origin: centre, ..STILL }), (&field, STILL), 0.1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].gap - 0.05).abs() < 1e-12 && norm(sub(found[0].normal, normal)) < 1e-12);
    // a box over the bowl: its four lower corners, the nearest points of the bowl
    let found = touches((&cuboid([0.3, 0.3, 0.1]), at(0.0, 0.0, 0.19)), (&field, STILL), 0.01);
    assert_eq!(found.len(), 4, "{found:?}");
    // a box on a hump
    let hump: Vec<f64> = z.iter().map(|z| -z).collect();
    let hump = Shape::Field(Arc::new(Field::of_heights([-1.0, -1.0], [0.1, 0.1], [n, n], &hump)));
    let found = touches((&cuboid([0.3, 0.3, 0.1]), at(0.02, -0.03, 0.101)), (&hump, STILL), 0.01);
    assert!(found.len() == 1 && (found[0].gap - 1e-3).abs() < 1e-9, "{found:?}");
    assert!(norm(sub(found[0].point, [0.0, 0.0, 5e-4])) < 1e-4);
}

fn outline(points: &[[f64; 2]]) -> Shape {
    Shape::Outline(Outline::of(points, true, true).unwrap())
}

fn square(half: f64) -> Shape {
    outline(&[[-half, -half], [half, -half], [half, half], [-half, half]])
}

#[test]
fn squares_on_each_other_touch_at_two_points_and_beside_each_other_too() {
    let one = square(0.5);
    for (x, y, n) in [(0.0, 1.0, [0.0, 1.0]), (0.3, 1.0, [0.0, 1.0]), (1.0, 0.0, [1.0, 0.0])] {
        let found = touches((&one, at(x, y, 0.0)), (&one, STILL), 1e-3);
        assert_eq!(found.len(), 2, "{x} {y} {found:?}");
        for t in &found {
            assert!(t.gap.abs() < 1e-12 && norm(sub(t.normal, [n[0], n[1], 0.0])) < 1e-12, "{found:?}");
        }
    }
    // corner over corner, apart
    let found = touches((&one, at(1.03, 1.04, 0.0)), (&one, STILL), 0.1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].gap - 0.05).abs() < 1e-12 && norm(sub(found[0].normal, [0.6, 0.8, 0.0])) < 1e-9);
    // pushed in a little: still along the nearer face
    let found = touches((&one, at(0.2, 1.0 - 1e-4, 0.0)), (&one, STILL), 1e-3);
    assert!(found.len() == 2 && found.iter().all(|t| (t.gap + 1e-4).abs() < 1e-12 && t.normal[1] > 0.999));
}

#[test]
fn an_angle_in_a_notch_touches_both_sides_of_it() {
    // ground with a notch of width 1 and depth 1; a square of side 1 − 2e-4 in its left corner
    let notch = outline(&[
        [-3.0, -3.0],
        [3.0, -3.0],
        [3.0, 1.0],
        [1.0, 1.0],
        [1.0, 0.0],
        [0.0, 0.0],
        [0.0, 1.0],
        [-3.0, 1.0],
    ]);
    let half = 0.5 - 1e-4;
    let found = touches((&square(half), at(half, half, 0.0)), (&notch, STILL), 1e-5);
    let of = |n: [f64; 2]| {
        found.iter().filter(|t| norm(sub(t.normal, [n[0], n[1], 0.0])) < 1e-9 && t.gap.abs() < 1e-12).count()
    };
    assert_eq!((of([0.0, 1.0]), of([1.0, 0.0]), found.len()), (2, 2, 4), "{found:?}");
    // a disc in the same corner, and one over the notch that is wider than it
    let disc = |r: f64| Shape::Round { ends: [[0.0; 3]; 2], radius: r };
    let found = touches((&disc(0.3), at(0.3, 0.3, 0.0)), (&notch, STILL), 1e-5);
    assert_eq!(found.len(), 2, "{found:?}");
    let found =
        touches((&disc(0.65), at(0.5, 1.0 + (0.65f64.powi(2) - 0.25).sqrt(), 0.0)), (&notch, STILL), 1e-5);
    assert!(found.len() == 2 && found.iter().all(|t| t.gap.abs() < 1e-12), "{found:?}");
}

/// A line along the surface is as near everywhere: the search for its nearest place went on by rounding, for 15 to 150 ms.
#[test]
fn a_capsule_that_lies_on_a_flat_field_is_found_at_once() {
    let n = 10;
    let field = Shape::Field(Arc::new(Field::of_heights([-2.0, -2.0], [4.0 / 9.0; 2], [n, n], &[0.0; 100])));
    let ends = [[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0]];
    let shapes = [Shape::Round { ends, radius: 0.06 }, Shape::Cylinder { ends, radius: 0.06 }];
    let begun = std::time::Instant::now();
    for k in 0..200 {
        let (s, c) = (0.03 * k as f64).sin_cos();
        let axes = [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]];
        let pose = Pose { origin: [-1.0 + 0.0017 * k as f64, 0.0004 * k as f64, 0.06], axes };
        for shape in &shapes {
            let found = touches((shape, pose), (&field, STILL), 1e-3);
            assert!(found.len() >= 2 && found.iter().all(|t| t.gap.abs() < 1e-12), "{found:?}");
        }
    }
    // 400 searches of some 30 µs; each took 15 ms
    assert!(begun.elapsed().as_secs_f64() < 1.0, "{:?}", begun.elapsed());
}
