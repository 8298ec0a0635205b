//! Boxes and hulls against each other, event-driven: rest, slip, tipping and impacts in closed form; random drops against an independent test
//! for overlap; time steps of the same scenes.

use specht::prelude::*;

const G: f64 = 9.81;

fn read(text: &str) -> Machine {
    Machine::read(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn run(text: &str) -> Run {
    let run = read(text).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(run.audit().passed, "{:?}\n{:?}\n{text}", run.audit(), run.trajectory.status);
    run
}

fn series(run: &Run, expression: &str) -> Vec<f64> {
    run.series(expression).unwrap_or_else(|e| panic!("{e}"))
}

fn last(run: &Run, expression: &str) -> f64 {
    series(run, expression).last().copied().unwrap_or(f64::NAN)
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

fn first(run: &Run, kind: &str) -> f64 {
    let found = run.events().iter().find(|e| e.kind.word() == kind).map(|e| e.time);
    found.unwrap_or_else(|| panic!("no {kind}: {:?}", run.events()))
}

/// A free body with everything that differs between scenes.
fn body(name: &str, at: [&str; 3], turned: &str, inertia: &str, skin: &str) -> String {
    format!(
        "[coordinates]\n{name}_x = {}\n{name}_y = {}\n{name}_z = {}\n[[body]]\nname = \"{name}\"\nmass = 1\ninertia = {inertia}\n\
         position = [\"{name}_x\", \"{name}_y\", \"{name}_z\"]\nrotation = \"free\"\n{turned}\nfeatures = {{ skin = {skin} }}\n",
        at[0], at[1], at[2]
    )
}

/// Several `[coordinates]` tables as one.
fn scene(parts: &[String]) -> String {
    let (mut coordinates, mut rest) = (String::from("[coordinates]\n"), String::new());
    for part in parts {
        match part.strip_prefix("[coordinates]\n").and_then(|p| p.split_once("[[body]]")) {
            Some((c, r)) => {
                coordinates += c;
                rest += "[[body]]";
                rest += r;
            }
            None => rest += part,
        }
    }
    let top = rest.lines().take_while(|l| !l.starts_with('[')).collect::<Vec<_>>().join("\n");
    let tables = rest.strip_prefix(&top).unwrap_or("").to_string();
    format!("{top}\n{coordinates}{tables}")
}

fn world(gravity: f64, until: f64, more: &str) -> String {
    format!(
        "gravity = [0, 0, {}]\nparameters = {{ push = \"1 m/s\" }}\nrun = {{ until = {until}, {more} }}\n",
        -gravity
    )
}

fn contact(name: &str, pair: [&str; 2], law: &str) -> String {
    format!("[[contact]]\nname = \"{name}\"\nbetween = [\"{}\", \"{}\"]\n{law}\n", pair[0], pair[1])
}

const CUBE: &str = "{ box = [0.1, 0.1, 0.1] }";
/// m (2a)²/6 of the cube.
const OF_CUBE: &str = "\"0.04/6\"";

/// A block on a tilted box, both given in the axes of the slope.
fn on_slope(mu: f64, law: &str) -> String {
    let base = "[[body]]\nname = \"base\"\nposition = [0, 0, 0]\nrotation = [[\"y\", \"pi/6\"]]\n\
                features = { skin = { box = [1, 0.5, 0.1] } }\n";
    scene(&[
        world(G, 0.3, "every = 0.01"),
        body(
            "b",
            ["\"0.2*sin(pi/6)\"", "0.1", "\"0.2*cos(pi/6)\""],
            "turned = [[\"y\", \"pi/6\"]]",
            OF_CUBE,
            CUBE,
        ),
        base.to_string(),
        match law {
            "" => contact("c", ["b.skin", "base.skin"], &format!("friction = {mu}")),
            touch => touch.to_string(),
        },
    ])
}

#[test]
fn a_box_rests_on_a_tilted_box_below_the_angle_of_friction() {
    let r = run(&on_slope(0.6, ""));
    for (name, value) in [("b_x", 0.1), ("b_y", 0.1), ("b_z", 0.2 * (0.75_f64).sqrt())] {
        assert!(series(&r, name).iter().all(|v| (v - value).abs() < 1e-12), "{name}");
    }
    assert!(last(&r, "b.spin.y").abs() < 1e-12);
}

#[test]
fn a_box_slides_down_a_tilted_box_with_g_times_sine_less_friction() {
    let (mu, a) = (0.3, std::f64::consts::PI / 6.0);
    let r = run(&on_slope(mu, ""));
    let way = 0.5 * G * (a.sin() - mu * a.cos()) * 0.09;
    close(last(&r, "b_x"), 0.2 * a.sin() + way * a.cos(), 1e-9);
    close(last(&r, "b_z"), 0.2 * a.cos() - way * a.sin(), 1e-9);
    close(last(&r, "b_y"), 0.1, 1e-12);
    assert!(last(&r, "b.spin.y").abs() < 1e-10);
}

fn dropped(turned: &str, law: &str, until: f64, more: &str, touch: &str) -> String {
    scene(&[
        world(G, until, &format!("every = 0.01, {more}")),
        body("b", ["0.05", "-0.02", "0.5"], turned, "0.01", "{ box = [0.1, 0.15, 0.1] }"),
        "[ground]\ntable = { box = [1, 1, 0.2], center = [0, 0, -0.2] }\n".to_string(),
        if touch.is_empty() { contact("c", ["b.skin", "ground.table"], law) } else { touch.to_string() },
    ])
}

#[test]
fn a_box_dropped_flat_comes_back_without_turning() {
    for law in ["newton", "poisson", "moreau"] {
        for turned in ["", "turned = [[\"z\", 0.7]]"] {
            let more = format!("impact = \"{law}\"");
            let r = run(&dropped(turned, "friction = 0.3\nrestitution = 0.4", 0.35, &more, ""));
            let hit = (2.0 * 0.4 / G).sqrt();
            close(first(&r, "impact"), hit, 1e-10);
            close(last(&r, "b_z'"), 0.4 * G * hit - G * (0.35 - hit), 1e-9);
            assert!(["x", "y", "z"].iter().all(|k| last(&r, &format!("b.spin.{k}")).abs() < 1e-10), "{law}");
        }
    }
}

/// R_x(a) R_y(b) p.
fn turned([x, y, z]: [f64; 3], a: f64, b: f64) -> [f64; 3] {
    let (x, z) = (b.cos() * x + b.sin() * z, b.cos() * z - b.sin() * x);
    [x, a.cos() * y - a.sin() * z, a.sin() * y + a.cos() * z]
}

#[test]
fn a_box_dropped_on_a_corner_leaves_with_the_velocities_of_one_impulse() {
    for law in ["newton", "poisson", "moreau"] {
        let (a, b, e, inertia) = (0.6, 0.5, 0.4, 0.01);
        let text = dropped(
            "turned = [[\"x\", 0.6], [\"y\", 0.5]]",
            "restitution = 0.4",
            0.27,
            &format!("impact = \"{law}\""),
            "",
        );
        let r = run(&text);
        let corners = (0..8).map(|k| {
            let s = |i: usize| if k >> i & 1 == 0 { -1.0 } else { 1.0 };
            turned([0.1 * s(0), 0.15 * s(1), 0.1 * s(2)], a, b)
        });
        let low = corners.reduce(|p, q| if q[2] < p[2] { q } else { p }).unwrap();
        let hit = (2.0 * (0.5 + low[2]) / G).sqrt();
        close(first(&r, "impact"), hit, 1e-10);
        // r × n = (r_y, −r_x, 0)
        let lever = low[0] * low[0] + low[1] * low[1];
        let impulse = (1.0 + e) * G * hit / (1.0 + lever / inertia);
        close(last(&r, "b_z'"), impulse - G * 0.27, 1e-9);
        close(last(&r, "b.spin.x"), low[1] * impulse / inertia, 1e-9);
        close(last(&r, "b.spin.y"), -low[0] * impulse / inertia, 1e-9);
    }
}

/// A cube slides with 1 m/s towards the rim of a box, half a metre before it.
fn over_the_rim(until: f64, touch: &str, more: &str) -> String {
    scene(&[
        world(G, until, &format!("every = 0.005, {more}")),
        body("b", ["{ start = 0.5, rate = 1 }", "0.03", "0.1"], "", OF_CUBE, CUBE),
        "[ground]\ntable = { box = [1, 1, 0.2], center = [0, 0, -0.2] }\n".to_string(),
        if touch.is_empty() { contact("c", ["b.skin", "ground.table"], "") } else { touch.to_string() },
    ])
}

#[test]
fn a_block_pushed_over_the_rim_tips_when_its_centre_of_mass_is_above_the_rim() {
    let r = run(&over_the_rim(0.505, "", ""));
    close(first(&r, "detach"), 0.4, 1e-9);
    let lifted = r.events().iter().rfind(|e| e.kind.word() == "detach" && e.time > 0.45).map(|e| e.time);
    close(lifted.unwrap_or_else(|| panic!("{:?}", r.events())), 0.5, 1e-9);
    for (t, w) in series(&r, "t").iter().zip(series(&r, "b.spin.y")) {
        assert!(*t > 0.5 || w.abs() < 1e-10, "turns with {w} at {t}");
    }
    let (s, way, tilt, spin) = tipping(0.005);
    close(last(&r, "b.spin.y"), spin, 1e-9);
    // the middle is s along the bottom from the rim and h above it
    close(last(&r, "b_x"), 1.0 + s * tilt.cos() + 0.1 * tilt.sin(), 1e-9);
    assert!(way > 0.0);
}

/// The block tips about the rim for a time: place and speed of its middle along its bottom, tilt and rate of the tilt. With N along the normal
/// of the bottom, m c̈ = N n + m g and I θ̈ = N s; the steps of Runge and Kutta are our own.
fn tipping(time: f64) -> (f64, f64, f64, f64) {
    let (h, k2) = (0.1, 0.04 / 6.0);
    let rate = |[s, v, a, w]: [f64; 4]| {
        let turn = s * (G * a.cos() - 2.0 * v * w - h * w * w) / (k2 + s * s);
        [v, G * a.sin() + s * w * w - h * turn, w, turn]
    };
    let (mut x, n) = ([0.0, 1.0, 0.0, 0.0], 2000);
    let d = time / f64::from(n);
    for _ in 0..n {
        let add = |x: [f64; 4], f: f64, k: [f64; 4]| [0, 1, 2, 3].map(|i| x[i] + f * k[i]);
        let k1 = rate(x);
        let k2 = rate(add(x, 0.5 * d, k1));
        let k3 = rate(add(x, 0.5 * d, k2));
        let k4 = rate(add(x, d, k3));
        x = [0, 1, 2, 3].map(|i| x[i] + d / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    (x[0], x[1], x[2], x[3])
}

/// A bar of square section with an edge below, across a rail with an edge above; its middle is `off` along the bar from the rail.
fn crossed(off: f64, law: &str, start: [&str; 3], until: f64, more: &str) -> String {
    scene(&[
        world(G, until, more),
        body("b", start, "turned = [[\"y\", \"pi/4\"]]", "0.02", "{ box = [0.1, 0.5, 0.1] }"),
        format!(
            "[ground]\nrail = {{ hull = [[-1, {0}, -0.2], [-1, {1}, -0.2], [-1, {2}, 0], [1, {0}, -0.2], [1, {1}, -0.2], [1, {2}, 0]] }}\n",
            off - 0.2,
            off + 0.2,
            off
        ),
        contact("c", ["b.skin", "ground.rail"], law),
    ])
}

#[test]
fn bars_that_cross_at_right_angles_leave_with_the_velocities_of_one_impulse() {
    for (law, e) in [("newton", 0.5), ("poisson", 0.5), ("moreau", 0.3)] {
        for off in [0.0, 0.2, -0.13] {
            let text = crossed(
                off,
                &format!("restitution = {e}"),
                ["0.1", "0", "0.3"],
                0.2,
                &format!("impact = \"{law}\", every = 0.01"),
            );
            let r = run(&text);
            let hit = (2.0 * (0.3 - 0.1 * 2.0_f64.sqrt()) / G).sqrt();
            close(first(&r, "impact"), hit, 1e-10);
            let impulse = (1.0 + e) * G * hit / (1.0 + off * off / 0.02);
            close(last(&r, "b_z'"), impulse - G * 0.2, 1e-9);
            close(last(&r, "b.spin.x"), off * impulse / 0.02, 1e-9);
        }
    }
}

/// The bar slides along its edge over the rail. With r = (r_y, r_z) from its middle to the crossing, forces N and −μN:
/// N (1/m + r_y (r_y + μ r_z)/I) = g, as the point of the bar above the rail has no acceleration across while the bar does not turn.
#[test]
fn an_edge_that_slides_over_an_edge_is_braked_by_its_friction() {
    let height = 0.1 * 2.0_f64.sqrt();
    for (mu, off) in [(0.3, 0.0), (0.3, 0.1), (0.2, -0.15)] {
        let z = format!("{height:?}");
        let start = ["0", "{ start = 0, rate = 2 }", z.as_str()];
        let r = run(&crossed(off, &format!("friction = {mu}"), start, 1e-3, "every = 1e-4"));
        let normal = G / (1.0 + off * (off - mu * height) / 0.02);
        let (y, z, w) = (series(&r, "b_y''")[0], series(&r, "b_z''")[0], last(&r, "b.spin.x") / 1e-3);
        close(y, -mu * normal, 1e-9);
        close(z, normal - G, 1e-9);
        // I α = r_y N − r_z F = r_y N − h μ N
        close(w, (off - mu * height) * normal / 0.02, 2e-2);
    }
}

/// Sum of m v, of x × m v + I ω, and the energy; at the start (`k` = 0) or the end.
fn conserved(r: &Run, k: usize, inertia: [f64; 2]) -> [f64; 7] {
    let at = |e: String| {
        let list = series(r, &e);
        list[if k == 0 { 0 } else { list.len() - 1 }]
    };
    let mut out = [0.0; 7];
    for (name, inertia) in ["a", "b"].into_iter().zip(inertia) {
        let axis = ["x", "y", "z"];
        let x = axis.map(|i| at(format!("{name}_{i}")));
        let v = axis.map(|i| at(format!("{name}_{i}'")));
        let w = axis.map(|i| at(format!("{name}.spin.{i}")));
        for i in 0..3 {
            let (j, l) = ((i + 1) % 3, (i + 2) % 3);
            out[i] += v[i];
            out[3 + i] += x[j] * v[l] - x[l] * v[j] + inertia * w[i];
            out[6] += 0.5 * (v[i] * v[i] + inertia * w[i] * w[i]);
        }
    }
    out
}

/// A generator of our own, so that seeds mean the same for ever.
struct Dice(u64);

impl Dice {
    /// Between −1 and 1.
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }

    fn turned(&mut self) -> String {
        let [x, y, z] = [0; 3].map(|_| 3.0 * self.roll());
        let [p, q, r] = [0; 3].map(|_| 4.0 * self.roll());
        format!("turned = [[\"x\", {x}], [\"y\", {y}], [\"z\", {z}]]\nspin = [{p}, {q}, {r}]")
    }
}

const BRICK: [f64; 3] = [0.1, 0.15, 0.08];
const BRICK_SKIN: &str = "{ box = [0.1, 0.15, 0.08] }";
const TETRA: [[f64; 3]; 4] = [[0.15, 0.0, -0.1], [-0.1, 0.13, -0.1], [-0.1, -0.13, -0.08], [0.0, 0.0, 0.2]];
const TETRA_SKIN: &str =
    "{ hull = [[0.15, 0, -0.1], [-0.1, 0.13, -0.1], [-0.1, -0.13, -0.08], [0, 0, 0.2]] }";

#[test]
fn two_bodies_that_collide_keep_momentum_and_without_friction_and_loss_their_energy() {
    let mut dice = Dice(7);
    let mut hits = 0;
    for k in 0..12 {
        let skin = if k % 2 == 0 { BRICK_SKIN } else { TETRA_SKIN };
        let (elastic, law) = match k % 3 {
            0 => (true, "friction = 0.001\nrestitution = 1"),
            1 => (false, "friction = 0.4\nrestitution = 0.5"),
            _ => (false, "friction = 0.4"),
        };
        let law = if elastic { "restitution = 1" } else { law };
        let text = scene(&[
            world(0.0, 0.6, "every = 0.02"),
            body("a", ["{ start = 0, rate = 1 }", "0.02", "0"], &dice.turned(), "0.01", BRICK_SKIN),
            body("b", ["{ start = 0.5, rate = -1 }", "0", "0.03"], &dice.turned(), "0.012", skin),
            contact("c", ["a.skin", "b.skin"], law),
        ]);
        let r = run(&text);
        hits += r.events().iter().filter(|e| e.kind.word() == "impact").count();
        let (before, after) = (conserved(&r, 0, [0.01, 0.012]), conserved(&r, 1, [0.01, 0.012]));
        for i in 0..if elastic { 7 } else { 6 } {
            close(after[i], before[i], 1e-9);
        }
        assert!(after[6] < before[6] + 1e-9);
    }
    assert!(hits >= 10, "{hits}");
}

/// Corners of a body in space at every sample.
fn corners(r: &Run, name: &str, own: &[[f64; 3]]) -> Vec<Vec<[f64; 3]>> {
    let axis = ["x", "y", "z"];
    let origin = axis.map(|i| series(r, &format!("{name}_{i}")));
    let axes = [1, 2, 3].map(|j| axis.map(|i| series(r, &format!("{name}.axis{j}.{i}"))));
    let place = |k: usize, p: &[f64; 3]| {
        [0, 1, 2].map(|i| origin[i][k] + (0..3).map(|j| p[j] * axes[j][i][k]).sum::<f64>())
    };
    (0..origin[0].len()).map(|k| own.iter().map(|p| place(k, p)).collect()).collect()
}

fn of_box(h: [f64; 3], c: [f64; 3]) -> Vec<[f64; 3]> {
    (0..8).map(|k| [0, 1, 2].map(|i| c[i] + if k >> i & 1 == 0 { -h[i] } else { h[i] })).collect()
}

/// The largest gap between two hulls over all axes that could separate them: normals of planes through three corners that have all
/// others on one side, and products of differences of corners. Negative where the bodies overlap.
fn separation(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let sub = |p: [f64; 3], q: [f64; 3]| [0, 1, 2].map(|i| p[i] - q[i]);
    let cross = |p: [f64; 3], q: [f64; 3]| [(1, 2), (2, 0), (0, 1)].map(|(i, j)| p[i] * q[j] - p[j] * q[i]);
    let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let edges = |l: &[[f64; 3]]| -> Vec<[f64; 3]> {
        (0..l.len()).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| sub(l[i], l[j])).collect()
    };
    let (ea, eb) = (edges(a), edges(b));
    let mut axes = Vec::new();
    for (list, other) in [(&ea, &ea), (&eb, &eb), (&ea, &eb)] {
        for p in list {
            axes.extend(other.iter().map(|q| cross(*p, *q)));
        }
    }
    let mut best = f64::NEG_INFINITY;
    for n in axes {
        let size = dot(n, n).sqrt();
        if size < 1e-9 {
            continue;
        }
        let span = |l: &[[f64; 3]]| {
            l.iter()
                .map(|p| dot(n, *p) / size)
                .fold([f64::INFINITY, f64::NEG_INFINITY], |m, v| [m[0].min(v), m[1].max(v)])
        };
        let (x, y) = (span(a), span(b));
        best = best.max(x[0] - y[1]).max(y[0] - x[1]);
    }
    best
}

/// Two bodies fall turning on a table and on each other.
fn random_drops(skin: &str, own: &[[f64; 3]], seeds: std::ops::Range<u64>) {
    let brick = of_box(BRICK, [0.0; 3]);
    let table = of_box([0.5, 0.4, 0.1], [0.0, 0.0, -0.1]);
    let mut hits = 0;
    for seed in seeds {
        let mut dice = Dice(seed);
        (0..5).for_each(|_| _ = dice.roll());
        let place = |d: &mut Dice, z: f64| [0.1 * d.roll(), 0.1 * d.roll(), z].map(|v| v.to_string());
        let (p, q) = (place(&mut dice, 0.28), place(&mut dice, 0.7));
        let law = "friction = 0.3\nrestitution = 0.2";
        let text = scene(&[
            world(G, 0.35, "every = 0.005"),
            body("a", [&p[0], &p[1], &p[2]], &dice.turned(), "0.01", BRICK_SKIN),
            body("b", [&q[0], &q[1], "{ start = 0.7, rate = -1.5 }"], &dice.turned(), "0.012", skin),
            "[ground]\ntable = { box = [0.5, 0.4, 0.1], center = [0, 0, -0.1] }\n".to_string(),
            contact("ab", ["a.skin", "b.skin"], law),
            contact("at", ["a.skin", "ground.table"], law),
            contact("bt", ["b.skin", "ground.table"], law),
        ]);
        let r = read(&text).run().unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert!(r.audit().passed, "seed {seed}: {:?} {:?}", r.audit().remarks, r.trajectory.status);
        hits += r.events().iter().filter(|e| e.kind.word() == "impact").count();
        let (a, b) = (corners(&r, "a", &brick), corners(&r, "b", own));
        for (k, (a, b)) in a.iter().zip(&b).enumerate().step_by(4) {
            for (what, s) in
                [("ab", separation(a, b)), ("at", separation(a, &table)), ("bt", separation(b, &table))]
            {
                assert!(s > -1e-9, "seed {seed}, {what} overlap by {s} at sample {k}");
            }
        }
    }
    assert!(hits > 0);
}

#[test]
fn random_drops_of_two_boxes_never_overlap() {
    random_drops(BRICK_SKIN, &of_box(BRICK, [0.0; 3]), seeds());
}

#[test]
fn random_drops_of_a_box_and_a_tetrahedron_never_overlap() {
    random_drops(TETRA_SKIN, &TETRA, seeds());
}

/// A pusher driven with 1 m/s into a block at rest, e = 0.5, and a box at the end of a hinged arm that swings onto a fixed box.
#[test]
fn driven_bodies_and_bodies_on_trees_meet_like_free_ones() {
    let text = scene(&[
        world(0.0, 0.5, "every = 0.01"),
        body("b", ["0.5", "0", "0"], "", "0.01", CUBE),
        "[[body]]\nname = \"p\"\nposition = [\"push*t\", 0, 0]\nrotation = [[\"z\", 0]]\nfeatures = { skin = { box = [0.1, 0.05, 0.05] } }\n"
            .to_string(),
        contact("c", ["p.skin", "b.skin"], "restitution = 0.5"),
    ]);
    let r = run(&text);
    close(first(&r, "impact"), 0.3, 1e-10);
    close(last(&r, "b_x"), 0.5 + 1.5 * 0.2, 1e-9);
    // an arm of 1 m falls from the level to a box below its end: ω² = 2 m g (sin a)/(m + I), hit at the angle a where its face lies on the edge
    let text = r#"
gravity = [0, 0, -9.81]
run = { until = 0.6, every = 0.01 }
[coordinates]
phi = 0
[ground]
block = { box = [0.3, 0.3, 0.1], center = [1.1, 0, -0.6] }
[[body]]
name = "arm"
mass = 1
center = [1, 0, 0]
inertia = 0.01
position = [0, 0, 0]
rotation = [["y", "phi"]]
features = { head = { box = [0.1, 0.1, 0.1], center = [1, 0, 0] } }
[[contact]]
name = "c"
between = ["arm.head", "ground.block"]
restitution = 0.3
"#;
    let r = run(text);
    let hit = first(&r, "impact");
    let e = r.events().iter().find(|e| e.kind.word() == "impact").unwrap();
    let (phi, w) = (e.before.q[0], e.before.u[0]);
    // its lower outer corner (1.1, −0.1) comes down to −0.5 with x within the block
    let z = |x: f64, z: f64| z * phi.cos() - x * phi.sin();
    close(z(1.1, -0.1), -0.5, 1e-10);
    close(w * w, 2.0 * G * phi.sin() / 1.01, 1e-8);
    close(e.after.u[0], -0.3 * w, 1e-9);
    assert!(hit > 0.0);
}

/// End of the event-driven run and of time steps with both sizes.
fn against_steps(
    scene: impl Fn(&str, &str) -> String,
    law: &str,
    what: [&str; 2],
    steps: [f64; 2],
    within: f64,
) {
    let events = run(&scene("", "impact = \"moreau\""));
    let touch = format!("[[touch]]\namong = [\"*\"]\n{law}\n");
    let errors = steps.map(|h| {
        let r = run(&scene(&touch, &format!("step = {h}")));
        what.iter().map(|e| (last(&r, e) - last(&events, e)).abs()).fold(0.0, f64::max)
    });
    assert!(errors[1] < within && errors[1] <= 0.5 * errors[0] + 1e-9, "{errors:?}");
}

#[test]
fn time_steps_converge_to_the_event_driven_runs() {
    let slope = |touch: &str, more: &str| match touch {
        "" => on_slope(0.3, ""),
        _ => on_slope(0.3, touch).replace("every = 0.01", more),
    };
    against_steps(slope, "friction = 0.3", ["b_x", "b_z"], [8e-3, 2.5e-4], 2e-3);
    let corner = "turned = [[\"x\", 0.6], [\"y\", 0.5]]";
    let drop = |touch: &str, more: &str| dropped(corner, "restitution = 0.4", 0.3, more, touch);
    against_steps(drop, "restitution = 0.4", ["b_z", "b.axis1.z"], [8e-3, 2.5e-4], 1e-2);
    let rim = |touch: &str, more: &str| over_the_rim(0.55, touch, more);
    against_steps(rim, "friction = 0", ["b_z", "b.axis1.z"], [8e-3, 2.5e-4], 1e-2);
}

#[test]
fn what_cannot_be_is_refused_with_name_place_and_remedy() {
    let one = |skin: &str, at: [&str; 3]| {
        scene(&[
            world(G, 1.0, "every = 0.1"),
            body("b", at, "", "0.01", skin),
            "[ground]\ntable = { box = [1, 1, 0.2], center = [0, 0, -0.2] }\n".to_string(),
            contact("lid", ["b.skin", "ground.table"], ""),
        ])
    };
    let far = ["0", "0", "2"];
    let flat = "{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0.5, 0.5, 0]] }";
    let twice = "{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]] }";
    for (skin, says) in [
        (flat, "the 5 points of hull `skin` lie in one plane"),
        (twice, "hull `skin` has 3 different points, some of them repeated"),
        ("{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }", "hull `skin` has only 3 points"),
        ("{ box = [0.1, 0, 0.1] }", "a half length of `skin` is zero"),
        ("{ box = [0.1, 0.1, 0.1], center = [0, 0, \"push*t\"] }", "cannot move against their bodies"),
    ] {
        let problem = Machine::read(&one(skin, far)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(problem.contains(says), "{skin}: {problem}");
    }
    // corners inside, and bodies that pierce each other without a corner inside
    for (skin, at) in [(CUBE, ["0", "0", "0.05"]), ("{ box = [0.1, 0.1, 1] }", ["0.3", "0.2", "0"])] {
        let problem = read(&one(skin, at)).run().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(problem.contains("lid") && problem.contains("inside"), "{skin}: {problem}");
    }
    // a corner that is written twice does no harm
    let more = TETRA_SKIN.replace("[0, 0, 0.2]", "[0, 0, 0.2], [0, 0, 0.2], [0, 0, 0]");
    let ends = [TETRA_SKIN, &more].map(|skin| last(&run(&one(skin, ["0", "0", "0.3"])), "b_z"));
    close(ends[0], ends[1], 1e-9);
}

/// As many as SPECHT_SEEDS says; a few in the suite.
fn seeds() -> std::ops::Range<u64> {
    0..std::env::var("SPECHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

/// What was wrong: two points of a body that stick hold each other along their line, and where that line lay nearly along a tangent the dependent row
/// passed for a regular one: friction was rounding, larger than its bound. A capsule that rolls straight on needs no friction at all, and keeps
/// its speed.
#[test]
fn a_capsule_rolls_straight_on_whatever_its_direction() {
    for yaw in [0.0, 1e-5, 1e-4, 1e-3, 0.0108, 0.1, 0.7] {
        let (rate, radius) = (12.0_f64, 0.05);
        let (cos, sin) = (f64::cos(yaw), f64::sin(yaw));
        let text = format!(
            "gravity = [0, 0, -9.81]\nrun = {{ until = 0.5 }}\n\
             ground = {{ table = {{ through = [0, 0, 0], normal = [0, 0, 1] }} }}\n\
             [coordinates]\nx = {{ rate = {} }}\ny = {{ rate = {} }}\nz = {radius}\n\
             [[body]]\nname = \"roll\"\nmass = 3\ninertia = [0.026, 0.020, 0.020]\nposition = [\"x\", \"y\", \"z\"]\n\
             rotation = \"free\"\nturned = [[\"z\", {yaw}], [\"y\", \"pi/2\"]]\nspin = [{}, {}, 0]\n\
             features = {{ skin = {{ capsule = [[0, 0, -0.1], [0, 0, 0.1]], radius = {radius} }} }}\n\
             [start]\nclosed = [\"touch\"]\n{}",
            rate * sin * radius,
            -rate * cos * radius,
            rate * cos,
            rate * sin,
            contact("touch", ["roll.skin", "ground.table"], "friction = 0.8"),
        );
        let run = run(&text);
        // the audit of `run` sees both ends
        let weight = 3.0 * G;
        close(last(&run, "touch.normal"), weight, 1e-9);
        let rubs = series(&run, "touch.friction").into_iter().fold(0.0, f64::max);
        assert!(rubs < 1e-9 * weight, "{yaw}: {rubs}");
        close(last(&run, "hypot(x', y')"), rate * radius, 1e-9);
    }
}

/// A box thrown on a table: half lengths, start rates, spin, turns; mass, friction, restitution.
fn thrown(half: [f64; 3], rate: [f64; 3], spin: [f64; 3], turn: [f64; 3], [m, mu, e]: [f64; 3]) -> String {
    let square = half.map(|h| h * h);
    let inertia = [square[1] + square[2], square[0] + square[2], square[0] + square[1]].map(|s| m * s / 3.0);
    format!(
        "gravity = [0, 0, -9.81]\nrun = {{ until = 4, impact = \"poisson\" }}\n\
         ground = {{ table = {{ through = [0, 0, 0], normal = [0, 0, 1] }} }}\n\
         [coordinates]\nx = {{ rate = {} }}\ny = {{ rate = {} }}\nz = {{ start = 0.5, rate = {} }}\n\
         [[body]]\nname = \"box\"\nmass = {m}\ninertia = {inertia:?}\nposition = [\"x\", \"y\", \"z\"]\nrotation = \"free\"\n\
         turned = [[\"x\", {}], [\"y\", {}], [\"z\", {}]]\nspin = {spin:?}\nfeatures = {{ skin = {{ box = {half:?} }} }}\n{}",
        rate[0],
        rate[1],
        rate[2],
        turn[0],
        turn[1],
        turn[2],
        contact("touch", ["box.skin", "ground.table"], &format!("friction = {mu}\nrestitution = {e}")),
    )
}

/// What was wrong: boxes thrown on a table ended without a solution of the impact law (expansion at rest), in endless reversals (a corner near the
/// centre of turning, that stopped along with a slower one) or with friction beyond its bound. They come to rest on a face.
#[test]
fn thrown_boxes_come_to_rest_on_a_face() {
    // half lengths, start rates, spin, turns; mass, friction, restitution
    let throws = [
        (
            [
                [0.11949564156055509, 0.09278157329881004, 0.055431604475225466],
                [0.7130045532993831, -0.8712957625432897, -0.5686250781435558],
                [1.7448089903902044, -5.592899766559285, -6.777930592029835],
                [-0.2421954928610246, -1.9743534216058776, 1.001419509997922],
            ],
            [2.247169089996074, 0.6, 0.4],
        ),
        (
            [
                [0.06037277236232816, 0.03722712613246475, 0.1649025087940431],
                [-0.17348651448780214, -0.516064812891123, -1.0083095382120666],
                [4.172447193613439, -8.25908491679399, 28.342697392683725],
                [0.7877073391556775, 1.8563440607620993, -0.6530564047334604],
            ],
            [1.264480241451481, 0.4, 0.2],
        ),
    ];
    for ([half, rate, spin, turn], weight) in throws {
        let run = run(&thrown(half, rate, spin, turn, weight));
        let z = last(&run, "z");
        assert!(half.iter().any(|h| (z - h).abs() < 1e-9), "{z} {half:?}");
        let speed = last(&run, "sqrt(x'^2 + y'^2 + z'^2)");
        assert!(speed < 1e-9, "{speed}");
    }
}

/// What was wrong: of four corners that slide on the table the forces are a family of one parameter, and friction moves with it. Where one normal force
/// reached zero, no other member had the same motion, and it went on below zero. The corner now carries nothing while the three others keep it closed.
///
/// While the box slides flat, m z̈ = 0: the four normal forces carry its weight, none of them pulls, and friction keeps to μN against slip. Its energy only
/// falls.
#[test]
fn a_corner_of_a_sliding_box_that_loses_its_load_stays_closed_without_a_force() {
    let (m, mu) = (0.8522296668906574, 0.8);
    let run = run(&thrown(
        [0.12117578418591007, 0.03407171432292317, 0.05223532136252039],
        [-0.6003573175818552, -2.7599355689893064, -2.721279900970637],
        [2.009909002602002, -4.588249749188425, -15.32145146127452],
        [0.7816670926564218, 1.4413330142329084, 1.6742977178585337],
        [m, mu, 0.0],
    ));
    let weight = m * G;
    let table = run.table();
    let rows = |what: &str| -> Vec<Vec<f64>> {
        let numbers = |k: usize| table.numbers(&format!("touch[{k}].{what}")).unwrap().to_vec();
        (1..=8).map(numbers).collect()
    };
    let (normal, along, across) = (rows("normal"), rows("tangential[1]"), rows("tangential[2]"));
    let (gap, slip, drift) = (rows("gap"), rows("slip[1]"), rows("slip[2]"));
    let fall = series(&run, "z'");
    let (mut flat, mut without) = (0, 0);
    for p in 0..normal[0].len() {
        for k in 0..8 {
            let (n, rubs) = (normal[k][p], along[k][p].hypot(across[k][p]));
            assert!(n >= -1e-12 * weight && rubs <= mu * n + 1e-9 * weight, "{k} {p}: {n} {rubs}");
            assert!(n * gap[k][p].abs() <= 1e-11 * weight, "{k} {p}: {n} at {}", gap[k][p]);
            let (power, speed) =
                (along[k][p] * slip[k][p] + across[k][p] * drift[k][p], slip[k][p].hypot(drift[k][p]));
            if n > 0.0 && speed > 1e-4 {
                close(power / (n * speed), -mu, 1e-9);
            }
        }
        let closed: Vec<usize> = (0..8).filter(|&k| gap[k][p].abs() < 1e-12).collect();
        // the forces before the impact that lays it down are those of two corners
        let flat_now = closed.len() == 4 && fall[p].abs() < 1e-9;
        if flat_now && closed.iter().all(|&k| slip[k][p].hypot(drift[k][p]) > 1e-3) {
            flat += 1;
            without += usize::from(closed.iter().any(|&k| normal[k][p] == 0.0));
            close(closed.iter().map(|&k| normal[k][p]).sum::<f64>() / weight, 1.0, 1e-9);
        }
    }
    assert!(flat > 10 && without > 3, "{flat} {without}");
    let energy = series(&run, "energy.total");
    assert!(energy.windows(2).all(|e| e[1] <= e[0] + 1e-9 * energy[0].abs()));
}

/// What was wrong: where a slow slip is stopped, the bodies take a little of it along, and slips of others that are as slow turn; the forces were those
/// before that turn, at one instant far outside their cone.
#[test]
fn what_stops_turns_other_slow_slips_before_forces_are_decided() {
    run(&thrown(
        [0.11474277311401361, 0.09640041997807607, 0.13864758026691576],
        [-2.571210287329319, -3.165608928475753, 1.0502831957502377],
        [0.7144029865072561, 1.2777893120012127, 6.739008442052708],
        [-0.586831574105668, 0.5806061306995565, -1.1243330471587392],
        [2.80473493726908, 0.8, 0.2],
    ));
}
