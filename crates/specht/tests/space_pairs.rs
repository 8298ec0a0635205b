//! Pairs of shapes in space: gaps against brute force, rates against differences, motions against closed forms.

use specht::prelude::*;

const G: f64 = 9.81;

fn run(text: &str) -> Run {
    let machine = Machine::read(text).unwrap_or_else(|e| panic!("{e}"));
    let run = machine.run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?}", run.audit());
    run
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

fn last(run: &Run, expression: &str) -> f64 {
    let list = run.series(expression).unwrap_or_else(|e| panic!("{e}"));
    list[list.len() - 1]
}

/// A body that flies past a shape of the ground without weight.
fn passing(mover: &str, shape: &str) -> String {
    format!(
        r#"
        [coordinates]
        x = {{ start = 0.9, rate = -0.7 }}
        y = {{ start = 0.5, rate = -0.35 }}
        z = {{ start = 1.3, rate = 0.2 }}
        [ground]
        wall = {shape}
        [[body]]
        name = "stone"
        mass = 1
        inertia = [0.02, 0.03, 0.04]
        position = ["x", "y", "z"]
        rotation = "free"
        turned = [["x", "0.3"], ["y", "0.5"]]
        spin = [0.6, -1.1, 0.8]
        features = {{ skin = {mover} }}
        [[contact]]
        name = "c"
        between = ["stone.skin", "ground.wall"]
        friction = 0.3
        [run]
        until = 1
        every = 0.001
        "#
    )
}

const SHAPES: [&str; 11] = [
    r#"{ apex = [0, 0, 1], axis = [0.1, 0, -1], angle = "0.5" }"#,
    r#"{ center = [0.1, -0.2, 0.3], axis = [0.3, 0.2, 1], radius = 0.4, tube = 0.1 }"#,
    r#"{ capsule = [[-0.3, 0, 0.2], [0.4, 0.1, 0.3]], radius = 0.1 }"#,
    r#"{ box = [0.3, 0.2, 0.25], center = [0.05, 0, 0.1] }"#,
    r#"{ hull = [[0.3, 0, 0], [-0.2, 0.3, 0], [-0.2, -0.3, 0.1], [0, 0, 0.5]] }"#,
    r#"{ surface = ["u", "v", "0.2*sin(2*u)*cos(v) - 0.1"], parameters = ["u", "v"] }"#,
    r#"{ surface = ["(0.4 + 0.1*cos(b))*cos(a)", "(0.4 + 0.1*cos(b))*sin(a)", "0.1*sin(b)"], parameters = ["a", "b"], range = [[0, "2*pi"], [0, "2*pi"]] }"#,
    r#"{ apex = [0.2, 0.1, -2.5], axis = [0.1, 0, 1], angle = "0.9", hole = true }"#,
    r#"{ center = [0, 0, 0.2], axis = [0.3, 0.2, 1], radius = 1.5, tube = 2.5, hole = true }"#,
    r#"{ through = [0, 0, 0], axis = [1, 0, 0.1], radius = 0.2 }"#,
    r#"{ center = [0, 0.1, 0], radius = 0.3 }"#,
];

#[test]
fn rates_of_gaps_are_their_derivatives() {
    let movers = ["{ center = [0.05, 0.02, -0.04], radius = 0.06 }", "[0.05, 0.02, -0.04]"];
    let mut list: Vec<(&str, &str)> = SHAPES.iter().flat_map(|s| movers.map(|m| (m, *s))).collect();
    list.push(("{ capsule = [[-0.2, 0, 0], [0.2, 0.05, 0]], radius = 0.05 }", SHAPES[2]));
    for (mover, shape) in list {
        let r = run(&passing(mover, shape));
        let (gap, rate) = (r.series("c.gap").unwrap(), r.series("c.gap'").unwrap());
        let t = r.series("t").unwrap();
        let mut checked = 0;
        for k in 1..gap.len() - 1 {
            let (before, after) = (t[k] - t[k - 1], t[k + 1] - t[k]);
            if (before - after).abs() > 1e-9 {
                continue;
            }
            let difference = (gap[k + 1] - gap[k - 1]) / (before + after);
            // second derivatives jump at ends and edges, and the face of a point before corners
            let smooth = (gap[k + 1] - 2.0 * gap[k] + gap[k - 1]).abs() < 5e-5;
            if smooth && (rate[k + 1] - rate[k - 1]).abs() < 0.05 {
                assert!(
                    (difference - rate[k]).abs() < 2e-4,
                    "{mover} {shape} at {}: {difference} {}",
                    t[k],
                    rate[k]
                );
                checked += 1;
            }
        }
        assert!(checked > 500, "{mover} {shape}: {checked}");
    }
}

/// Nearest of many points of a surface.
fn nearest(c: [f64; 3], at: impl Fn(f64, f64) -> [f64; 3], u: [f64; 2], v: [f64; 2]) -> f64 {
    let (mut u, mut v, mut best) = (u, v, f64::INFINITY);
    for _ in 0..12 {
        let mut place = (0.0, 0.0);
        best = f64::INFINITY;
        for i in 0..=60 {
            for j in 0..=60 {
                let (a, b) = (u[0] + (u[1] - u[0]) * i as f64 / 60.0, v[0] + (v[1] - v[0]) * j as f64 / 60.0);
                let p = at(a, b);
                let d = (0..3).map(|k| (p[k] - c[k]).powi(2)).sum::<f64>().sqrt();
                if d < best {
                    (best, place) = (d, (a, b));
                }
            }
        }
        let (du, dv) = ((u[1] - u[0]) / 20.0, (v[1] - v[0]) / 20.0);
        (u, v) = ([place.0 - du, place.0 + du], [place.1 - dv, place.1 + dv]);
    }
    best
}

#[test]
fn gaps_are_the_distances_that_brute_force_finds() {
    let here = |shape: &str| {
        let text = passing("{ center = [0, 0, 0], radius = 0.06 }", shape);
        run(&text).series("c.gap").unwrap()[0] + 0.06
    };
    let c = [0.9, 0.5, 1.3];
    let pi = std::f64::consts::PI;
    // axes of the cone and the torus, and two directions across
    let frame = |axis: [f64; 3]| {
        let size = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
        let e = axis.map(|x| x / size);
        let out = [1.0 - e[0] * e[0], -e[0] * e[1], -e[0] * e[2]];
        let size = out.iter().map(|x| x * x).sum::<f64>().sqrt();
        let a = out.map(|x| x / size);
        [e, a, [e[1] * a[2] - e[2] * a[1], e[2] * a[0] - e[0] * a[2], e[0] * a[1] - e[1] * a[0]]]
    };
    let [e, a, b] = frame([0.1, 0.0, -1.0]);
    let cone = |s: f64, u: f64| {
        let w = s * 0.5f64.tan();
        let o = [0.0, 0.0, 1.0];
        std::array::from_fn(|k| o[k] + s * e[k] + w * (u.cos() * a[k] + u.sin() * b[k]))
    };
    close(here(SHAPES[0]), nearest(c, cone, [0.0, 2.0], [0.0, 2.0 * pi]), 1e-8);
    let [e, a, b] = frame([0.3, 0.2, 1.0]);
    let torus = |u: f64, v: f64| {
        let o = [0.1, -0.2, 0.3];
        let w = 0.4 + 0.1 * v.cos();
        std::array::from_fn(|k| o[k] + w * (u.cos() * a[k] + u.sin() * b[k]) + 0.1 * v.sin() * e[k])
    };
    close(here(SHAPES[1]), nearest(c, torus, [0.0, 2.0 * pi], [0.0, 2.0 * pi]), 1e-8);
    let wave = |u: f64, v: f64| [u, v, 0.2 * (2.0 * u).sin() * v.cos() - 0.1];
    close(here(SHAPES[5]), nearest(c, wave, [-1.0, 2.0], [-1.0, 2.0]), 1e-8);
    let ring = |u: f64, v: f64| {
        let w = 0.4 + 0.1 * v.cos();
        [w * u.cos(), w * u.sin(), 0.1 * v.sin()]
    };
    close(here(SHAPES[6]), nearest(c, ring, [0.0, 2.0 * pi], [0.0, 2.0 * pi]), 1e-8);
    // all faces of the box and of the tetrahedron
    let boxed = (0..6).map(|f| {
        let (i, side) = (f / 2, if f % 2 == 0 { -1.0 } else { 1.0 });
        let (h, o) = ([0.3, 0.2, 0.25], [0.05, 0.0, 0.1]);
        let at = |u: f64, v: f64| {
            let mut p = o;
            p[i] += side * h[i];
            p[(i + 1) % 3] += h[(i + 1) % 3] * u.clamp(-1.0, 1.0);
            p[(i + 2) % 3] += h[(i + 2) % 3] * v.clamp(-1.0, 1.0);
            p
        };
        nearest(c, at, [-1.0, 1.0], [-1.0, 1.0])
    });
    close(here(SHAPES[3]), boxed.fold(f64::INFINITY, f64::min), 1e-8);
    let p = [[0.3, 0.0, 0.0], [-0.2, 0.3, 0.0], [-0.2, -0.3, 0.1], [0.0, 0.0, 0.5]];
    let hull = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|t: [usize; 3]| {
        let at = |u: f64, v: f64| {
            let u = u.clamp(0.0, 1.0);
            let v = v.clamp(0.0, 1.0 - u);
            std::array::from_fn(|k| p[t[0]][k] * (1.0 - u - v) + p[t[1]][k] * u + p[t[2]][k] * v)
        };
        nearest(c, at, [0.0, 1.0], [0.0, 1.0])
    });
    close(here(SHAPES[4]), hull.into_iter().fold(f64::INFINITY, f64::min), 1e-8);
    let rod = |u: f64, _: f64| {
        let u = u.clamp(0.0, 1.0);
        [-0.3 + 0.7 * u, 0.1 * u, 0.2 + 0.1 * u]
    };
    close(here(SHAPES[2]), nearest(c, rod, [0.0, 1.0], [0.0, 1.0]) - 0.1, 1e-8);
}

/// A ball without friction that goes round at x = (r, 0, z) with speed v.
fn circling(shape: &str, radius: f64, r: f64, z: f64, speed: f64, until: f64) -> Run {
    run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = {r}
        y = {{ rate = {speed} }}
        z = {z}
        [ground]
        bowl = {shape}
        [[body]]
        name = "ball"
        mass = 1
        position = ["x", "y", "z"]
        features = {{ skin = {{ center = [0, 0, 0], radius = {radius} }} }}
        [[contact]]
        name = "c"
        between = ["ball.skin", "ground.bowl"]
        [run]
        until = {until}
        tolerance = 1e-11
        "#
    ))
}

#[test]
fn balls_go_round_in_funnels_bent_tubes_and_bowls_at_the_height_of_the_closed_form() {
    let radius = 0.05;
    let check = |shape: &str, r: f64, z: f64, tangent: f64| {
        // ω² r = g tan of the slope
        let speed = (G * tangent * r).sqrt();
        let round = circling(shape, radius, r, z, speed, 3.0);
        let angle = 3.0 * speed / r;
        close(last(&round, "x"), r * angle.cos(), 1e-8);
        close(last(&round, "y"), r * angle.sin(), 1e-8);
        close(last(&round, "z"), z, 1e-8);
        close(last(&round, "c.normal"), G * (1.0 + tangent * tangent).sqrt(), 1e-8);
    };
    let half = 0.6f64;
    let z = (0.3 * half.cos() + radius) / half.sin();
    check(
        &format!("{{ apex = [0, 0, 0], axis = [0, 0, 1], angle = {half}, hole = true }}"),
        0.3,
        z,
        1.0 / half.tan(),
    );
    let (phi, a) = (0.7f64, 0.25 - radius);
    check(
        "{ center = [0, 0, 0], axis = [0, 0, 1], radius = 0.4, tube = 0.25, hole = true }",
        0.4 + a * phi.sin(),
        -a * phi.cos(),
        phi.tan(),
    );
    // paraboloid z = r²/(2 p): the foot at r, the centre along the normal
    let (p, r) = (0.5_f64, 0.3_f64);
    let slope = (r / p).atan();
    let center = (r - radius * slope.sin(), r * r / (2.0 * p) + radius * slope.cos());
    let bowl = "{ surface = [\"u\", \"v\", \"u^2 + v^2\"], parameters = [\"u\", \"v\"] }";
    check(bowl, center.0, center.1, r / p);
    let bowl = "{ surface = [\"s*cos(a)\", \"s*sin(a)\", \"s^2\"], parameters = [\"s\", \"a\"], range = [[0.01, 1], [0, \"2*pi\"]] }";
    check(bowl, center.0, center.1, r / p);
}

#[test]
fn a_ball_leaves_the_edge_of_a_box_at_the_angle_of_the_closed_form() {
    // energy and N = 0: cos θ = (2 + v²/(g R))/3
    let (radius, v) = (0.1, 0.4);
    let r = run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = {{ start = 0.4, rate = {v} }}
        z = 0.6
        [ground]
        table = {{ box = [0.5, 0.5, 0.5] }}
        [[body]]
        name = "ball"
        mass = 1
        position = ["x", 0.1, "z"]
        features = {{ skin = {{ center = [0, 0, 0], radius = {radius} }} }}
        [[contact]]
        name = "c"
        between = ["ball.skin", "ground.table"]
        [run]
        until = 0.5
        tolerance = 1e-11
        "#
    ));
    let cosine = (2.0 + v * v / (G * radius)) / 3.0;
    let leaves = r.events().iter().rfind(|e| e.kind.word() == "detach").map(|e| e.time);
    let leaves = leaves.unwrap_or_else(|| panic!("{:?}", r.events()));
    // the time on the edge by the integral of θ' = √(v²/R² + 2 g/R (1 − cos θ))
    let (n, end) = (20_000, cosine.acos());
    let speed = |a: f64| (v * v / (radius * radius) + 2.0 * G / radius * (1.0 - a.cos())).sqrt();
    let step = end / n as f64;
    let time: f64 = (0..n)
        .map(|k| {
            let a = k as f64 * step;
            step / 6.0 * (1.0 / speed(a) + 4.0 / speed(a + 0.5 * step) + 1.0 / speed(a + step))
        })
        .sum();
    close(leaves, 0.1 / v + time, 1e-8);
}

#[test]
fn a_point_slides_off_a_box_and_a_box_stands_in_a_funnel() {
    // on the top, over the edge, then free
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = { start = 0.1, rate = 1 }
        y = 0.1
        z = 0.5
        [ground]
        table = { box = [0.5, 0.5, 0.5] }
        [[body]]
        name = "grain"
        mass = 1
        position = ["x", "y", "z"]
        [[contact]]
        name = "c"
        between = ["grain", "ground.table"]
        friction = 0.05
        [run]
        until = 0.8
        tolerance = 1e-11
        "#);
    let a = 0.05 * G;
    let edge = (1.0 - (1.0 - 2.0 * a * 0.4f64).sqrt()) / a;
    let detach = r.events().iter().find(|e| e.kind.word() == "detach").map(|e| e.time);
    close(detach.unwrap_or_else(|| panic!("{:?}", r.events())), edge, 1e-8);
    let flight = 0.8 - edge;
    close(last(&r, "x"), 0.5 + (1.0 - a * edge) * flight, 1e-8);
    close(last(&r, "z"), 0.5 - 0.5 * G * flight * flight, 1e-8);
    // four lower corners on the side of a funnel
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        z = "0.1 + 0.1*sqrt(2)/tan(0.7)"
        [ground]
        funnel = { apex = [0, 0, 0], axis = [0, 0, 1], angle = 0.7, hole = true }
        [[body]]
        name = "block"
        mass = 2
        position = [0, 0, "z"]
        features = { skin = { box = [0.1, 0.1, 0.1] } }
        [[contact]]
        name = "c"
        between = ["block.skin", "ground.funnel"]
        [run]
        until = 0.1
        "#);
    close(last(&r, "z"), 0.1 + 0.1 * 2f64.sqrt() / 0.7f64.tan(), 1e-12);
    close(last(&r, "z''"), 0.0, 1e-9);
}
