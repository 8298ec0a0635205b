//! Shapes of bodies that touch wherever they meet: cylinders, meshes, height fields, outlines in the plane. Closed forms and messages.

use specht::machine::{Files, Options, Source};
use specht::prelude::*;

/// A body that turns freely, over a floor.
fn space(gravity: &str, start: [f64; 3], body: &str, ground: &str, run: &str) -> String {
    let [x, y, z] = start;
    format!(
        "gravity = {gravity}\ncoordinates = {{ x = {x}, y = {y}, z = {z} }}\nground = {{ {ground} }}\n\
         [[body]]\nname = \"b\"\nposition = [\"x\", \"y\", \"z\"]\nrotation = \"free\"\n{body}\n\
         [[touch]]\namong = [\"*\"]\nfriction = 0.6\n[run]\n{run}\n"
    )
}

const FLOOR: &str = "floor = { through = [0, 0, 0], normal = [0, 0, 1] }";

fn last(run: &specht::machine::Run, what: &str) -> f64 {
    *run.series(what).unwrap().last().unwrap()
}

fn ran(text: &str) -> specht::machine::Run {
    let run = Machine::read(text).unwrap_or_else(|e| panic!("{e}\n{text}")).run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    run
}

/// With files by their names.
fn with_files(
    text: &str,
    files: &'static [(&'static str, &'static str)],
) -> Result<Machine, specht::machine::Error> {
    let found = move |name: &str| {
        let file = files.iter().find(|f| f.0 == name);
        file.map(|f| f.1.to_string()).ok_or_else(|| "there is no such file".to_string())
    };
    Machine::new(Source { files: Files::new(found), ..Source::text(text) }, Options::default())
}

/// The unit cube 0 … 1, as six squares.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
/// A level square of eight triangles.
const SHEET: &str = "v -2 -2 0\nv 0 -2 0\nv 2 -2 0\nv -2 0 0\nv 0 0 0\nv 2 0 0\nv -2 2 0\nv 0 2 0\nv 2 2 0\n\
    f 1 2 5 4\nf 2 3 6 5\nf 4 5 8 7\nf 5 6 9 8\n";
/// An angle: two cubes side by side and one on the left of them, as one closed surface.
const ANGLE: &str = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1\n\
    f 4 3 2 1\nf 6 5 4 1\nf 7 8 9 10\nf 7 10 11 12\n\
    f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
const OPEN: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n";
const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
const FILES: &[(&str, &str)] = &[
    ("cube.obj", CUBE),
    ("sheet.obj", SHEET),
    ("angle.obj", ANGLE),
    ("open.obj", OPEN),
    ("tetrahedron.obj", TETRAHEDRON),
    ("empty.obj", "# nothing\n"),
    ("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"),
    ("grid.csv", "x [cm],y [cm],z [cm]\n-100,-100,10\n100,-100,10\n-100,100,10\n100,100,10\n"),
    ("holes.csv", "x,y,z\n0,0,0\n1,0,0\n0,1,0\n"),
];

#[test]
fn a_cylinder_rolls_down_a_slope_with_two_thirds_of_the_acceleration() {
    let body = "mass = 2\ninertia = [0.03, 0.01, 0.03]\nfeatures = { skin = { cylinder = [[0, -0.2, 0], [0, 0.2, 0]], radius = 0.1 } }";
    let text = space(
        "[\"9.81*sin(0.2)\", 0, \"-9.81*cos(0.2)\"]",
        [0.0, 0.0, 0.1],
        body,
        FLOOR,
        "until = 1\nstep = 1e-3\nevery = 0.1",
    );
    let run = ran(&text);
    let expected = 9.81 * 0.2_f64.sin() / 3.0;
    assert!((last(&run, "x") - expected).abs() < 1e-9, "{}", last(&run, "x"));
    assert!(last(&run, "y").abs() < 1e-9 && (last(&run, "z") - 0.1).abs() < 1e-9);
    assert!((last(&run, "b.spin.y") - 20.0 * expected).abs() < 1e-7);
}

#[test]
fn a_standing_cylinder_tips_beyond_the_slope_of_its_radius_over_its_half_height() {
    // r/(h/2) = 0.4, pushed in a direction that none of its points has by itself
    let run = |slope: f64| {
        let body = "mass = 2\ninertia = [0.05, 0.05, 0.01]\nfeatures = { skin = { cylinder = [[0, 0, -0.25], [0, 0, 0.25]], radius = 0.1 } }";
        let gravity = format!("[{}, {}, -9]", 9.0 * slope * 0.28, 9.0 * slope * 0.96);
        ran(&space(&gravity, [0.0, 0.0, 0.25], body, FLOOR, "until = 1\nstep = 1e-3\nevery = 0.1"))
    };
    let stands = run(0.399);
    assert!((last(&stands, "b.axis3.z") - 1.0).abs() < 1e-12 && last(&stands, "x").abs() < 1e-9);
    assert!((last(&stands, "ground.touch.z") + 18.0).abs() < 1e-6);
    assert!(last(&run(0.401), "b.axis3.z") < 1.0 - 1e-6);
}

#[test]
fn cylinders_stand_on_each_other_aside_and_carry_their_weight() {
    let text = r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = { for = "i = 1..6", start = "0.03*mod(i, 2)" }
        y = { for = "i = 1..6", start = "0.01*mod(i, 3)" }
        z = { for = "i = 1..6", start = "0.1*(2*i - 1)" }
        [ground]
        floor = { through = [0, 0, 0], normal = [0, 0, 1] }
        [[body]]
        for = "i = 1..6"
        name = "can"
        mass = 2
        inertia = [0.0116, 0.0116, 0.01]
        position = ["x[i]", "y[i]", "z[i]"]
        rotation = "free"
        features = { skin = { cylinder = [[0, 0, -0.1], [0, 0, 0.1]], radius = 0.1 } }
        [[touch]]
        among = ["*"]
        friction = 0.6
        [run]
        until = 1
        step = 2e-3
        every = 0.1
    "#;
    let run = ran(text);
    assert!((last(&run, "z[6]") - 1.1).abs() < 1e-9 && (last(&run, "x[5]") - 0.03).abs() < 1e-9);
    assert!((last(&run, "ground.touch.z") + 12.0 * 9.81).abs() < 1e-5);
}

/// Its flank on the tip of a pyramid, where neither its ends nor an edge of the pyramid touch: balanced, and tipping when it is off by 1 cm.
#[test]
fn a_capsule_lies_on_a_corner() {
    let tip = "tip = { hull = [[1, 0.1, 0], [-0.9, 0.3, 0], [0.1, -1, 0], [0, 0, 1]] }";
    let body = "mass = 2\ninertia = [0.02, 0.2, 0.2]\nfeatures = { skin = { capsule = [[-0.5, 0, 0], [0.5, 0, 0]], radius = 0.1 } }";
    let at = |x: f64| ran(&space("[0, 0, -9.81]", [x, 0.0, 1.1], body, tip, "until = 0.1\nstep = 1e-3"));
    let run = at(0.0);
    assert!((last(&run, "z") - 1.1).abs() < 1e-9 && (last(&run, "ground.touch.z") + 19.62).abs() < 1e-6);
    // about the tip: θ″ = m g (x + r θ) / (J + m (r² + x²))
    let inertia = 0.2 + 2.0 * (0.1_f64.powi(2) + 0.01_f64.powi(2));
    let rate = (2.0 * 9.81 * 0.1 / inertia).sqrt();
    let expected = 2.0 * 9.81 * 0.01 / inertia * (0.1 * rate).sinh() / rate;
    let turned = last(&at(0.01), "b.spin.y");
    assert!((turned / expected - 1.0).abs() < 2e-3, "{turned} {expected}");
}

#[test]
fn a_mesh_carries_and_a_closed_one_weighs_what_it_encloses() {
    // the cube lies with its corner at the origin of the body: its centre is at 1/2 of every side
    let body = "density = 800\nfeatures = { skin = { mesh = \"cube.obj\", scale = 0.2 } }";
    let text = space(
        "[2, 1, -9.81]",
        [-0.3, 0.2, 0.0],
        body,
        "sheet = { mesh = \"sheet.obj\" }",
        "until = 0.5\nstep = 1e-3\nevery = 0.1",
    );
    let run = with_files(&text, FILES).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    assert!((last(&run, "x") + 0.3).abs() < 1e-9 && last(&run, "z").abs() < 1e-9);
    assert!((last(&run, "ground.touch.z") + 800.0 * 0.008 * 9.81).abs() < 1e-6);
    // beyond the friction it slides as on a plane: a = g_x − μ g
    let text = text.replace("[2, 1, -9.81]", "[8, 0, -9.81]");
    let run = with_files(&text, FILES).unwrap().run().unwrap();
    let way = 0.5 * 0.25 * (8.0 - 0.6 * 9.81);
    assert!((last(&run, "x") + 0.3 - way).abs() < 1e-7, "{}", last(&run, "x"));
    // a tetrahedron of density 6: mass 1, and M u about its centre at (1, 1, 1)/4
    let body = "density = 6\nfeatures = { skin = { mesh = \"tetrahedron.obj\" } }";
    let text = space(
        "[0, 0, -9.81]",
        [0.0, 0.0, 0.0],
        body,
        "sheet = { mesh = \"sheet.obj\" }",
        "until = 0.2\nstep = 1e-3",
    );
    let run = with_files(&text, FILES).unwrap().run().unwrap();
    assert!((last(&run, "ground.touch.z") + 9.81).abs() < 1e-7 && last(&run, "z").abs() < 1e-9);
}

#[test]
fn a_ball_in_a_paraboloid_swings_with_the_period_of_its_curvature() {
    // z = (x² + y²)/2R without friction: the centre moves on a circle of R − r, T = 2π √((R − r)/g) for small amplitudes
    let body = "mass = 1\ninertia = 0.016\nfeatures = { skin = { center = [0, 0, 0], radius = 0.2 } }";
    let ground = "bowl = { height = \"(u^2 + v^2)/2\", parameters = [\"u\", \"v\"], range = [[-1, 1], [-1, 1]], cells = [20, 20] }";
    let amplitude: f64 = 0.004;
    let start = [amplitude, 0.0, 0.2 + amplitude * amplitude / 1.6];
    let period = std::f64::consts::TAU * (0.8_f64 / 9.81).sqrt();
    let swing = |friction: &str, period: f64, step: f64| {
        let text = space("[0, 0, -9.81]", start, body, ground, &format!("until = {period}\nstep = {step}"));
        let run = Machine::read(&text.replace("friction = 0.6", friction)).unwrap().run().unwrap();
        let (x, t) = (run.series("x").unwrap(), run.series("t").unwrap());
        // the second passage through the middle: three quarters of a period
        let k = (1..x.len()).rfind(|&k| x[k - 1] < 0.0 && x[k] >= 0.0).unwrap();
        let at = t[k - 1] + (t[k] - t[k - 1]) * x[k - 1] / (x[k - 1] - x[k]);
        (at / (0.75 * period) - 1.0, x.iter().fold(0.0_f64, |m, v| m.min(*v)) / amplitude)
    };
    let (error, back) = swing("friction = 0", period, 1e-3);
    assert!(error.abs() < 1e-3 && (back + 1.0).abs() < 1e-2, "{error} {back}");
    let (finer, _) = swing("friction = 0", period, 5e-4);
    assert!(finer.abs() < 0.6 * error.abs() + 2e-5, "{error} {finer}");
    // rolling: 7/5 of the mass
    let (error, _) = swing("friction = 0.6", period * 1.4_f64.sqrt(), 1e-3);
    assert!(error.abs() < 1e-3, "{error}");
}

#[test]
fn heights_of_a_table_carry_at_their_level() {
    let body = "mass = 1\ninertia = 0.1\nfeatures = { skin = { box = [0.1, 0.1, 0.1] } }";
    let text = space(
        "[0, 0, -9.81]",
        [0.3, -0.4, 0.2],
        body,
        "land = { heights = \"grid.csv\" }",
        "until = 0.2\nstep = 1e-3",
    );
    let run = with_files(&text, FILES).unwrap().run().unwrap();
    assert!((last(&run, "z") - 0.2).abs() < 1e-9 && (last(&run, "ground.touch.z") + 9.81).abs() < 1e-7);
}

#[test]
fn discs_in_a_bin_carry_their_weight_and_its_walls_their_thrust() {
    // three discs in two layers between walls: 2 below at the walls, 1 above between them; statics without friction
    let text = r#"
        gravity = [0, -9.81]
        coordinates = { x1 = 0.1, y1 = 0.1, a1 = 0, x2 = 0.34, y2 = 0.1, a2 = 0, x3 = 0.22, y3 = 0.26, a3 = 0 }
        ground = { floor = { through = [0, 0], normal = [0, 1] }, left = { through = [0, 0], normal = [1, 0] }, right = { through = [0.44, 0], normal = [-1, 0] } }
        body = [
            { name = "a", mass = 1, inertia = 0.005, position = ["x1", "y1"], angle = "a1", features = { skin = { center = [0, 0], radius = 0.1 } } },
            { name = "b", mass = 1, inertia = 0.005, position = ["x2", "y2"], angle = "a2", features = { skin = { center = [0, 0], radius = 0.1 } } },
            { name = "c", mass = 2, inertia = 0.01, position = ["x3", "y3"], angle = "a3", features = { skin = { center = [0, 0], radius = 0.1 } } },
        ]
        touch = [{ among = ["*"] }]
        run = { until = 0.3, step = 1e-3 }
    "#;
    let run = ran(text);
    assert!((last(&run, "y3") - 0.26).abs() < 1e-9, "{}", last(&run, "y3"));
    assert!((last(&run, "ground.touch.y") + 4.0 * 9.81).abs() < 1e-6);
    assert!((last(&run, "c.touch.y") - 2.0 * 9.81).abs() < 1e-6 && last(&run, "c.touch.x").abs() < 1e-6);
    // the upper disc presses along the line of centres (0.12, 0.16)/0.2: N = mg/2/0.8, its thrust 0.6 N on the wall
    assert!((last(&run, "a.touch.y") - 9.81).abs() < 1e-6 && last(&run, "a.touch.x").abs() < 1e-6);
    let sum = 2.0 * (9.81 / 0.8) + 2.0 * (0.6 * 9.81 / 0.8) + 4.0 * 9.81;
    assert!((last(&run, "touch.normal") - sum).abs() < 1e-5, "{}", last(&run, "touch.normal"));
}

/// A wall of bricks in running bond on a tilted table, in the plane.
fn wall(slope: f64) -> String {
    format!(
        r#"
        gravity = ["9.81*sin(atan({slope}))", "-9.81*cos(atan({slope}))"]
        [coordinates]
        x = {{ for = "k = 1..12", start = "0.24*(k - 4*floor((k-1)/4)) - 0.12 + if(mod(floor((k-1)/4), 2) == 1, 0.12, 0)" }}
        y = {{ for = "k = 1..12", start = "0.07*floor((k-1)/4) + 0.035" }}
        f = {{ for = "k = 1..12", start = 0 }}
        [ground]
        table = {{ through = [0, 0], normal = [0, 1] }}
        [[body]]
        for = "k = 1..12"
        name = "brick"
        mass = 3
        inertia = "3*(0.12^2 + 0.035^2)/3"
        position = ["x[k]", "y[k]"]
        angle = "f[k]"
        features = {{ skin = {{ outline = [[-0.12, -0.035], [0.12, -0.035], [0.12, 0.035], [-0.12, 0.035]], closed = true, material = "left" }} }}
        [[touch]]
        among = ["*"]
        friction = 0.7
        [[touch]]
        name = "feet"
        among = ["brick[1]", "brick[2]", "brick[3]", "brick[4]", "ground"]
        friction = 0.4
        [run]
        until = 0.2
        step = 2e-3
    "#
    )
}

#[test]
fn a_wall_of_bricks_stands_and_slides_as_statics_says() {
    let run = ran(&wall(0.3));
    let weight = 36.0 * 9.81 / (1.0_f64 + 0.09).sqrt();
    assert!((last(&run, "ground.touch.y") + weight).abs() < 1e-4, "{}", last(&run, "ground.touch.y"));
    assert!((last(&run, "ground.touch.x") - 0.3 * weight).abs() < 1e-4);
    assert!(last(&run, "x[12]'").abs() < 1e-9 && last(&run, "x[1]'").abs() < 1e-9);
    let run = ran(&wall(0.5));
    let speed = 0.2 * 9.81 * 0.1 / 1.25_f64.sqrt();
    for k in [1, 6, 12] {
        assert!((last(&run, &format!("x[{k}]'")) - speed).abs() < 1e-6 * speed.max(1.0), "{k}");
    }
}

#[test]
fn an_angle_rests_in_a_notch_and_on_its_border() {
    // an L of two squares of side 1 and a third above the left one; its foot hangs in a notch of depth 0.5, its arm lies on the border
    let text = r#"
        gravity = [0, -9.81]
        coordinates = { x = 0.5, y = 0.0, f = 0 }
        ground = { land = { outline = [[-4, -4], [4, -4], [4, 1], [1.6, 1], [1.6, 0], [0.4, 0], [0.4, 1], [-4, 1]], closed = true, material = "left" } }
        body = [{ name = "angle", mass = 3, inertia = 2, position = ["x", "y"], angle = "f", center = [0.9, 1.0], features = { skin = { outline = [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2], [0, 2]], closed = true, material = "left" } } }]
        touch = [{ among = ["*"], friction = 0.3 }]
        run = { until = 0.5, step = 1e-3 }
    "#;
    let run = ran(text);
    assert!(last(&run, "y").abs() < 1e-9 && last(&run, "f").abs() < 1e-9, "{}", last(&run, "f"));
    assert!((last(&run, "ground.touch.y") + 3.0 * 9.81).abs() < 1e-6);
    // pushed to the side it leans on the flank of the notch
    let pushed =
        text.replace("gravity = [0, -9.81]", "gravity = [-9, -9.81]").replace("x = 0.5, y", "x = 0.4, y");
    let run = ran(&pushed);
    assert!((last(&run, "x") - 0.4).abs() < 1e-8 && last(&run, "f").abs() < 1e-8);
    assert!((last(&run, "ground.touch.x") + 27.0).abs() < 1e-5, "{}", last(&run, "ground.touch.x"));
}

#[test]
fn outlines_move_alike_in_the_plane_and_as_boxes_in_space() {
    // a square dropped askew: the same fall, impact and sliding in both
    let flat = r#"
        gravity = [1, -9.81]
        coordinates = { x = 0, y = 0.5, f = 0.3 }
        ground = { floor = { through = [0, 0], normal = [0, 1] } }
        body = [{ name = "b", mass = 2, inertia = 0.03, position = ["x", "y"], angle = "f", features = { skin = { outline = [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]], closed = true, material = "left" } } }]
        touch = [{ among = ["*"], friction = 0.4, restitution = 0.2 }]
        run = { until = 0.35, step = 1e-3 }
    "#;
    let space = r#"
        gravity = [1, 0, -9.81]
        coordinates = { x = 0, z = 0.5, f = 0.3 }
        ground = { floor = { through = [0, 0, 0], normal = [0, 0, 1] } }
        body = [{ name = "b", mass = 2, inertia = 0.03, position = ["x", 0, "z"], rotation = [["y", "-f"]], features = { skin = { box = [0.2, 0.05, 0.1] } } }]
        touch = [{ among = ["*"], friction = 0.4, restitution = 0.2 }]
        run = { until = 0.35, step = 1e-3 }
    "#;
    let (a, b) = (ran(flat), ran(space));
    for (p, q) in [("x", "x"), ("y", "z"), ("f", "f"), ("f'", "f'")] {
        assert!((last(&a, p) - last(&b, q)).abs() < 1e-7, "{p}: {} {}", last(&a, p), last(&b, q));
    }
}

#[test]
fn what_is_wrong_with_a_shape_is_named_with_its_place_and_a_remedy() {
    let mesh = |file: &str| format!("density = 1\nfeatures = {{ skin = {{ mesh = \"{file}\" }} }}");
    let run = "until = 0.01\nstep = 1e-3";
    let message = |body: &str, ground: &str| {
        let text = space("[0, 0, -9.81]", [0.0, 0.0, 1.0], body, ground, run);
        match with_files(&text, FILES).and_then(|m| m.run()) {
            Ok(_) => panic!("it ran: {body} {ground}"),
            Err(e) => e.to_string(),
        }
    };
    let solid = "mass = 1\ninertia = 1\nfeatures = { skin = { box = [0.1, 0.1, 0.1] } }";
    let angle = "mass = 1\ninertia = 1\nfeatures = { skin = { mesh = \"angle.obj\" } }";
    let heights = |rest: &str| format!("land = {{ height = \"u^2\", {rest} }}");
    for (body, ground, words) in [
        (mesh("empty.obj"), FLOOR.to_string(), ["the mesh has no triangles", "export it again"]),
        (mesh("flat.obj"), FLOOR.to_string(), ["have no area", "export it again"]),
        (mesh("open.obj"), FLOOR.to_string(), ["the mesh is not closed: 3 edges", "close its holes"]),
        (mesh("angle.ply"), FLOOR.to_string(), ["cannot read `angle.ply`", "relative to the model file"]),
        (angle.to_string(), FLOOR.to_string(), ["fills 0.857 of its convex hull", "several convex meshes"]),
        (
            solid.replace("mass = 1", "mass = 1\ndensity = 2"),
            FLOOR.to_string(),
            ["both `density` and `mass`", "keep one"],
        ),
        (
            solid.replace("mass = 1\ninertia = 1", "density = 2"),
            FLOOR.to_string(),
            ["has a density but no mesh", "closed mesh"],
        ),
        (
            solid.replace("box = [0.1, 0.1, 0.1]", "cylinder = [[0, 0, 0], [0, 0, 0]], radius = 1"),
            FLOOR.to_string(),
            ["has no length", "middles of its two caps"],
        ),
        (
            solid.replace("box = [0.1, 0.1, 0.1]", "cylinder = [[0, 0, 0], [0, 0, 1]], radius = 0"),
            FLOOR.to_string(),
            ["radius of `skin` is zero", "positive"],
        ),
        (
            solid.to_string(),
            heights("range = [[-1, 1], [-1, 1]]"),
            ["names of its two `parameters`", "parameters = [\"u\", \"v\"]"],
        ),
        (
            solid.to_string(),
            heights("parameters = [\"u\", \"v\"]"),
            ["needs the `range`", "[[x0, x1], [y0, y1]]"],
        ),
        (
            solid.to_string(),
            heights("parameters = [\"u\", \"v\"], range = [[1, 1], [0, 1]]"),
            ["range of `land` is empty", "range ="],
        ),
        (
            solid.to_string(),
            "land = { height = \"u + t\", parameters = [\"u\", \"v\"], range = [[0, 1], [0, 1]] }".into(),
            ["does not change", "`u`, `v`"],
        ),
        (
            solid.to_string(),
            "land = { height = \"1/u\", parameters = [\"u\", \"v\"], range = [[0, 1], [0, 1]] }".into(),
            ["no finite value at u = 0", "another `range`"],
        ),
        (
            solid.to_string(),
            "land = { heights = \"holes.csv\" }".into(),
            ["3 rows, but the grid has 2 by 2 nodes", "columns are x, y and z"],
        ),
    ] {
        let found = message(&body, &ground);
        assert!(words.iter().all(|w| found.contains(w)), "{words:?}: {found}");
    }
    // the hull of what is not convex is taken when asked for
    let text = space("[0, 0, -9.81]", [0.0, 0.0, 1.0], &angle.replace("mesh", "hull"), FLOOR, run);
    assert!(with_files(&text, FILES).unwrap().run().is_ok());
}

#[test]
fn bodies_that_no_one_can_build_are_named_with_a_remedy() {
    let message = |body: &str| {
        let text = space("[0, 0, -9.81]", [0.0, 0.0, 1.0], body, FLOOR, "until = 0.01\nstep = 1e-3");
        match Machine::read(&text).and_then(|m| m.run()) {
            Ok(_) => panic!("it ran: {body}"),
            Err(e) => e.to_string(),
        }
    };
    let skin = "features = { skin = { box = [0.1, 0.1, 0.1] } }";
    for (body, words) in [
        (
            format!("mass = 1\ninertia = [1, 1, 3]\n{skin}"),
            ["no body has the principal moments", "at most the sum of the two others"],
        ),
        (format!("mass = 1\n{skin}"), ["turns freely but has no inertia", "inertia = [a, b, c]"]),
        (
            format!("mass = 1\ninertia = [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]\n{skin}"),
            ["not symmetric", "mirror image"],
        ),
        (format!("mass = -1\ninertia = 1\n{skin}"), ["the mass of `b` is -1", "cannot be negative"]),
        (
            "mass = 1\ninertia = 1\nfeatures = { skin = { box = [0.1, 0, 0.1] } }".to_string(),
            ["half length of `skin` is zero", "positive"],
        ),
    ] {
        let found = message(&body);
        assert!(words.iter().all(|w| found.contains(w)), "{words:?}: {found}");
    }
    // three turns at their singular point
    let text = "coordinates = { a = 0, b = 0, c = 0 }\nbody = [{ name = \"top\", mass = 1, inertia = 1, position = [0, 0, 0], rotation = [[\"z\", \"a\"], [\"x\", \"b\"], [\"z\", \"c\"]] }]\nrun = { until = 1 }";
    let found = Machine::read(text).unwrap_err().to_string();
    assert!(
        found.contains("start at their singular point") && found.contains("rotation = \"free\""),
        "{found}"
    );
    // in the plane
    let text = "gravity = [0, -9.81]\ncoordinates = { x = 0, y = 1, f = 0 }\nground = { floor = { through = [0, 0], normal = [0, 1] } }\n\
        body = [{ name = \"b\", mass = 1, inertia = 1, position = [\"x\", \"y\"], angle = \"f\", features = { skin = { SHAPE } } }]\n\
        touch = [{ among = [\"*\"] }]\nrun = { until = 0.01, step = 1e-3 }";
    for (shape, words) in [
        (
            "center = [0, 0], radius = 1, hole = true",
            ["knows discs, outlines and straight lines", "leave its body out"],
        ),
        (
            "outline = [[0, 0], [0, 1], [1, 1]], closed = true, material = \"left\"",
            ["inside its outline", "change `material`"],
        ),
        ("center = [0, 0], radius = 1.5", ["start 0.500 m inside one another", "leave one of them out"]),
    ] {
        let found = match Machine::read(&text.replace("SHAPE", shape)).and_then(|m| m.run()) {
            Ok(_) => panic!("it ran: {shape}"),
            Err(e) => e.to_string(),
        };
        assert!(words.iter().all(|w| found.contains(w)), "{words:?}: {found}");
    }
}
