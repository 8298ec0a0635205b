//! Bodies that touch wherever they meet, by time steps (METH-TIMESTEP): no creep, towers, impacts, chains, messages.

use specht::prelude::*;

/// Bodies of one family over a floor.
fn model(bodies: &str, touch: &str, run: &str) -> String {
    format!(
        r#"gravity = [0, 0, -9.81]
{bodies}
[ground]
floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
[[touch]]
among = ["*"]
{touch}
[run]
{run}
"#
    )
}

fn family(n: usize, starts: [&str; 3], inertia: &str, skin: &str) -> String {
    let coordinate =
        |name: &str, start: &str| format!("{name} = {{ for = \"i = 1..{n}\", start = \"{start}\" }}\n");
    format!(
        "[coordinates]\n{}{}{}[[body]]\nfor = \"i = 1..{n}\"\nname = \"body\"\nmass = 1\ninertia = {inertia}\n\
         position = [\"x[i]\", \"y[i]\", \"z[i]\"]\nrotation = \"free\"\nfeatures = {{ skin = {skin} }}\n",
        coordinate("x", starts[0]),
        coordinate("y", starts[1]),
        coordinate("z", starts[2]),
    )
}

fn last(run: &specht::machine::Run, what: &str) -> f64 {
    *run.series(what).unwrap().last().unwrap()
}

#[test]
fn a_box_on_a_slope_below_the_angle_of_friction_does_not_creep_in_a_hundred_thousand_steps() {
    let text = model(
        &family(1, ["0", "0", "0.1"], "[0.01, 0.02, 0.02]", "{ box = [0.2, 0.15, 0.1] }"),
        "friction = 0.5",
        "until = 100\nstep = 1e-3\nevery = 10",
    );
    let text = text.replace("gravity = [0, 0, -9.81]", "gravity = [3.3, 0, -9.2]");
    let run = Machine::read(&text).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    assert!(last(&run, "x[1]").abs() < 1e-9 * 0.4 && last(&run, "y[1]").abs() < 1e-9 * 0.3);
    assert!(
        (last(&run, "ground.touch.z") + 9.2).abs() < 1e-7 && (last(&run, "touch.normal") - 9.2).abs() < 1e-7
    );
}

#[test]
fn a_tower_of_forty_boxes_stands() {
    let text = model(
        &family(40, ["0", "0", "0.1*(2*i - 1)"], "0.01", "{ box = [0.1, 0.1, 0.1] }"),
        "friction = 0.5",
        "until = 60\nstep = 0.05\nevery = 10",
    );
    let run = Machine::read(&text).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    assert!((last(&run, "z[40]") - 7.9).abs() < 1e-8 && last(&run, "x[40]").abs() < 1e-8);
    assert!((last(&run, "ground.touch.z") + 392.4).abs() < 1e-5);
}

#[test]
fn a_ball_that_slides_rolls_with_five_sevenths_of_its_speed() {
    let bodies = family(1, ["0", "0", "0.1"], "0.004", "{ center = [0, 0, 0], radius = 0.1 }");
    let bodies = bodies.replacen("start = \"0\"", "start = 0, rate = 7", 1);
    let run =
        Machine::read(&model(&bodies, "friction = 0.3", "until = 2\nstep = 1e-3")).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    assert!((last(&run, "x[1]'") - 5.0).abs() < 1e-8);
    assert!((last(&run, "body[1].spin.y") - 50.0).abs() < 1e-7);
}

#[test]
fn a_dropped_ball_comes_back_to_the_square_of_its_restitution() {
    let bodies = family(1, ["0", "0", "1.1"], "0.004", "{ center = [0, 0, 0], radius = 0.1 }");
    let height = |step: f64| {
        let text = model(&bodies, "restitution = 0.8", &format!("until = 0.9\nstep = {step}"));
        let run = Machine::read(&text).unwrap().run().unwrap();
        assert!(run.audit().passed, "{:?}", run.audit().remarks);
        let z = run.series("z[1]").unwrap();
        let lowest = z.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        z[lowest..].iter().fold(0.0_f64, |m, v| m.max(*v)) - 0.1
    };
    assert!((height(1e-3) - 0.64).abs() < 1e-2 && (height(1e-4) - 0.64).abs() < 1e-3);
}

#[test]
fn balls_in_a_row_pass_on_their_momentum() {
    // the first hits two that touch: without rebound all three move on together
    let bodies = family(
        3,
        ["if(i == 1, -0.5, 0.2*(i - 2))", "0", "5"],
        "0.004",
        "{ center = [0, 0, 0], radius = 0.1 }",
    );
    let text = model(&bodies, "friction = 0.2", "until = 0.5\nstep = 1e-3").replace("-9.81", "0");
    let text = text.replacen(
        "start = \"if(i == 1, -0.5, 0.2*(i - 2))\"",
        "start = \"if(i == 1, -0.5, 0.2*(i - 2))\", rate = \"if(i == 1, 3, 0)\"",
        1,
    );
    let run = Machine::read(&text).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    for name in ["x[1]'", "x[2]'", "x[3]'"] {
        assert!((last(&run, name) - 1.0).abs() < 1e-9, "{name}");
    }
}

#[test]
fn the_same_heap_has_the_same_bits() {
    let bodies = family(
        12,
        ["0.21*mod(i, 2) + 0.01*sin(7*i)", "0.02*cos(5*i)", "0.1 + 0.11*i"],
        "0.004",
        "{ center = [0, 0, 0], radius = 0.1 }",
    );
    let text = model(&bodies, "friction = 0.4\nrestitution = 0.2", "until = 0.6\nstep = 2e-3");
    let machine = Machine::read(&text).unwrap();
    let [a, b] = [machine.run().unwrap(), machine.run().unwrap()];
    assert_eq!(a.trajectory.last.state, b.trajectory.last.state);
    assert!(a.audit().passed, "{:?}", a.audit().remarks);
}

/// Balls of a centimetre that fall into a tray between rough walls: most are wedged, more rows than velocities.
#[test]
fn balls_in_a_rough_tray_sink_into_nothing_and_their_energy_closes() {
    let across = |c: &str| format!("0.025*({c} - 1) + 0.002*sin(7*i)");
    let bodies = family(
        36,
        [
            &across("mod(i - 1, 3)"),
            &across("mod(floor((i - 1)/3), 3)"),
            "0.01 + 0.12*floor((i - 1)/9)/5.5 + 0.001",
        ],
        "\"0.4e-4\"",
        "{ center = [0, 0, 0], radius = 0.01 }",
    );
    let text = model(&bodies, "friction = 0.5", "until = 0.4\nstep = 2e-4\nevery = 0.01");
    let wall = |name: &str, k: usize, sign: f64| {
        let mut at = [0.0; 3];
        at[k] = -0.039 * sign;
        let mut normal = [0.0; 3];
        normal[k] = sign;
        format!("{name} = {{ through = {at:?}, normal = {normal:?} }}\n")
    };
    let walls = [wall("left", 0, 1.0), wall("right", 0, -1.0), wall("front", 1, 1.0), wall("back", 1, -1.0)];
    let text = text.replace("[ground]\n", &format!("[ground]\n{}", walls.concat()));
    let run = Machine::read(&text).unwrap().run().unwrap();
    let audit = run.audit();
    // of first order in the step (half at half of it); neighbouring starts and rounding spread it from 1.2e-3 to 2.2e-3
    assert!(audit.passed && audit.penetration < 1e-5 && audit.energy < 3e-3, "{audit:?}");
    assert!(run.trajectory.warnings.is_empty(), "{:?}", run.trajectory.warnings);
}

#[test]
fn questions_about_contacts_that_exist_in_runs_alone_are_refused() {
    let ball = "{ center = [0, 0, 0], radius = 0.1 }";
    let text =
        model(&family(1, ["0", "0", "0.1"], "0.004", ball), "friction = 0.4", "until = 0.1\nstep = 1e-3");
    let found = Machine::read(&text).unwrap().ask(&Task::Rest(Default::default())).unwrap_err().to_string();
    assert!(
        found.contains("those of `[[touch]]` exist in runs alone") && found.contains("statistics"),
        "{found}"
    );
}

#[test]
fn a_driven_plate_carries_what_lies_on_it() {
    // a plate without mass moves along x; the box sticks to it and takes part in its motion
    let text = r#"
        gravity     = [0, 0, -9.81]
        coordinates = { x = 0, y = 0, z = 0.15 }
        body        = [
            { name = "plate", position = ["0.1*sin(3*t)^2", 0, 0], features = { top = { box = [1, 1, 0.05] } } },
            { name = "box", mass = 2, inertia = [0.01, 0.01, 0.01], position = ["x", "y", "z"], rotation = "free", features = { skin = { box = [0.1, 0.1, 0.1] } } },
        ]
        touch       = [{ among = ["box", "plate"], friction = 0.5 }]
        run         = { until = 2, step = 1e-3 }
    "#;
    let run = Machine::read(text).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    let (x, t) = (run.series("x").unwrap(), run.series("t").unwrap());
    for (x, t) in x.iter().zip(&t) {
        assert!((x - 0.1 * (3.0 * t).sin().powi(2)).abs() < 1e-5, "{t}: {x}");
    }
    // force on the box: its acceleration and its weight
    let a = 0.1 * 18.0 * (6.0 * (2.0 - 0.0005_f64)).cos();
    assert!((last(&run, "box.touch.x") - 2.0 * a).abs() < 1e-3 * 3.6, "{}", last(&run, "box.touch.x"));
    assert!((last(&run, "box.touch.z") - 19.62).abs() < 1e-6);
}

/// What moves prescribed and bends within a step was taken for an approach: the box hit the table in every step, and the balance did not close.
#[test]
fn a_box_on_a_table_that_shakes_gently_is_never_hit_and_its_energy_closes() {
    let text = r#"
        gravity     = [0, 0, -9.81]
        coordinates = { x = 0, y = 0, z = { start = 0.1, rate = 0.2 } }
        body        = [
            { name = "table", position = [0, 0, "0.01*sin(20*t) - 0.1"], features = { top = { box = [1, 1, 0.1] } } },
            { name = "box", mass = 1, inertia = 0.004, position = ["x", "y", "z"], rotation = "free", features = { skin = { box = [0.1, 0.1, 0.1] } } },
        ]
        touch       = [{ among = ["*"], friction = 0.4 }]
        run         = { until = 1, step = 1e-3 }
    "#;
    let run = Machine::read(text).unwrap().run().unwrap();
    let audit = run.audit();
    // of second order in the step; it was 1.2·10⁻²
    assert!(audit.passed && audit.energy < 3e-4, "{audit:?}");
    // the table's acceleration is at most 4 m/s²: the box never leaves; Δ² a / 8 is the error of a step
    for (z, t) in run.series("z").unwrap().iter().zip(run.series("t").unwrap()) {
        assert!((z - 0.1 - 0.01 * (20.0 * t).sin()).abs() < 1e-6, "{t}: {z}");
    }
    let energy = &run.trajectory.energy;
    assert!(energy.impact.iter().all(|w| w.abs() < 1e-4), "{energy:?}");
}

/// Work that one point gave while others took more was booked as made from nothing, and left out of the balance.
#[test]
fn boxes_with_enormous_friction_make_no_energy_of_nothing() {
    let skin = "{ box = [0.1, 0.08, 0.06] }";
    let boxes = family(6, ["0.05*sin(7*i)", "0.05*cos(5*i)", "0.15+0.25*i"], "[0.01, 0.008, 0.006]", skin);
    let turned = "rotation = \"free\"\nturned = [[\"x\", \"i\"], [\"z\", \"0.3*i\"]]";
    let boxes = boxes.replace("rotation = \"free\"", turned);
    let run =
        Machine::read(&model(&boxes, "friction = 1e3", "until = 1\nstep = 1e-3")).unwrap().run().unwrap();
    let energy = &run.trajectory.energy;
    assert!(run.audit().created < 1e-3 && run.audit().energy < 1e-2, "{:?} {energy:?}", run.audit());
}

/// Cylinders that met rim to rim passed through each other: inside, a point of one knows no way out across both rims.
#[test]
fn cylinders_that_meet_rim_to_rim_do_not_pass() {
    let body = |k: usize, turned: &str, spin: &str| {
        format!(
            "[[body]]\nname = \"b{k}\"\nmass = 1\ninertia = [0.01, 0.008, 0.006]\nposition = [\"x{k}\", \"y{k}\", \"z{k}\"]\nrotation = \"free\"\n\
             turned = {turned}\nspin = {spin}\nfeatures = {{ s = {{ cylinder = [[0, 0, -0.08], [0, 0, 0.08]], radius = 0.07 }} }}\n"
        )
    };
    let text = format!(
        "gravity = [0, 0, 0]\n[coordinates]\nx0 = {{ start = -0.0925687, rate = 0.0947221 }}\ny0 = {{ start = -0.0690192, rate = -0.8212593 }}\n\
         z0 = {{ start = 0.0978377, rate = -0.7834705 }}\nx1 = {{ start = -0.0289449, rate = 0.2868841 }}\ny1 = {{ start = 0.0602265, rate = -0.1085215 }}\n\
         z1 = {{ start = 0.2449835, rate = -3.9382319 }}\n{}{}[[touch]]\namong = [\"*\"]\nfriction = 0\n[run]\nuntil = 0.02\nstep = 1e-3\n",
        body(
            0,
            "[[\"z\", -3.0863846], [\"y\", 0.1996861], [\"x\", 0.2479093]]",
            "[5.7479987, 21.9854769, 1.9571332]"
        ),
        body(
            1,
            "[[\"z\", 2.8667979], [\"y\", 1.0702872], [\"x\", -1.4599513]]",
            "[2.3288402, -9.0436926, 1.5250379]"
        ),
    );
    let run = Machine::read(&text).unwrap().run().unwrap();
    assert!(run.audit().passed, "{:?}", run.audit().remarks);
    // they meet at 2 m/s; there was no impact at all
    assert!(run.trajectory.energy.impact[0] < -0.1, "{:?}", run.trajectory.energy);
}

#[test]
fn what_cannot_touch_is_named_with_its_place_and_a_remedy() {
    let ball = "{ center = [0, 0, 0], radius = 0.1 }";
    let base =
        model(&family(2, ["0", "0", "0.15*i"], "0.004", ball), "friction = 0.4", "until = 0.1\nstep = 1e-3");
    let message = |text: &str| match Machine::read(text).and_then(|m| m.run()) {
        Ok(_) => panic!("it ran"),
        Err(e) => e.to_string(),
    };
    let found = message(&base);
    assert!(found.contains("`body[1].skin` and `body[2].skin` start 0.0500 m inside one another"), "{found}");
    assert!(found.contains("leave one of them out"), "{found}");
    // the place: it had none
    let found = message(&base.replace("until = 0.1", "until = 0.1\nscheme = \"event\""));
    assert!(found.contains("[[touch]]") && found.contains("scheme = \"step\""), "{found}");
    for (old, new, words) in [
        ("among = [\"*\"]", "among = [\"bodi\"]", "there is no body `bodi`"),
        ("among = [\"*\"]", "", "`among` is missing"),
        ("among = [\"*\"]", "among = []", "names less than two bodies: nothing can touch"),
        ("among = [\"*\"]", "among = [\"ground\"]", "names less than two bodies: nothing can touch"),
        (ball, "{ ellipsoid = [0.1, 0.1, 0.2] }", "`[[touch]]` does not know the shape ellipsoid"),
        (ball, "{ ellipsoid = [0.1, 0.1, 0.2] }", "balls, capsules, cylinders with two ends, boxes, hulls"),
        (ball, "{ hull = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0]] }", "do not lie in one plane"),
        (ball, "{ hull = [] }", "0 points have no volume"),
        (ball, "{ center = [0, 0, 0], radius = -1 }", "it cannot be negative"),
        (ball, "{ center = [0, 0, 0], radius = nan }", "write a finite number"),
        (ball, "{ box = [\"0/0\", 1, 1] }", "this is not a number"),
        ("normal = [0, 0, 1]", "normal = [0, 0, 0]", "the normal of `floor` is zero"),
        ("i = 1..2", "i = 1..1000000000", "at most 10000 are allowed"),
        ("inertia = 0.004", "inertia = [1, 1, 3]", "each is at most the sum of the two others"),
        ("inertia = 0.004", "", "turns freely but has no inertia"),
        ("mass = 1", "mass = nan", "write a finite number"),
        ("friction = 0.4", "friction = nan", "write a finite number"),
        ("step = 1e-3", "step = 0", "it must be positive"),
        ("until = 0.1", "until = 1e30", "choose a longer one"),
        (
            ball,
            "{ hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] }",
            "4 points of hull `skin` lie in one plane",
        ),
        ("friction = 0.4", "friction = -0.4", "-0.4"),
        ("until = 0.1", "until = 0.1\nscheme = \"event\"", "need time steps"),
    ] {
        let found = message(&base.replace(old, new));
        assert!(found.contains(words), "{new}: {found}");
    }
}
