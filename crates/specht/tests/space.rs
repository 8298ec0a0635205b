//! Bodies in space: equations of motion against Lagrange's, closed forms of tops and pendulums, joints, messages.

use specht::inside::{Options, build, read};
use specht::model::CompiledSystem;
use specht::prelude::*;
use specht::system::{Along, State, System, Tangent};

fn machine(text: &str) -> Machine {
    Machine::read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn run(text: &str) -> Run {
    let run = machine(text).run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?}", run.audit());
    run
}

fn compiled(text: &str) -> CompiledSystem {
    let loaded = read(text, &Options::default()).unwrap_or_else(|e| panic!("{e:?}"));
    build(&loaded.model).unwrap_or_else(|e| panic!("{e}"))
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

fn last(run: &Run, expression: &str) -> f64 {
    let list = run.series(expression).unwrap_or_else(|e| panic!("{e}"));
    list[list.len() - 1]
}

/// An arm: a carrier that turns about z, a cardan on it with offset centre and full inertia, a screw on that, and a slide that is driven.
const ARM: &str = r#"
    gravity = [0.4, -0.3, -9.81]
    [coordinates]
    a = { start = 0.3, rate = 0.7 }
    b = { start = -0.8, rate = 1.1 }
    c = { start = 0.5, rate = -0.6 }
    s = { start = 0.2, rate = 0.9 }
    r = { start = 0.1, rate = -0.4 }
    [[body]]
    name = "base"
    mass = 2
    position = [0.1, 0.2, 0.3]
    rotation = [["z", "a"]]
    inertia = [0.3, 0.4, 0.5]
    center = [0.05, 0, 0.02]
    [[body]]
    name = "cross"
    on = "base"
    mass = 1.5
    position = [0.4, "0.1*b", 0.2]
    rotation = [["x", "b"], ["y", "c + 0.3*a"]]
    inertia = [[0.20, 0.02, -0.01], [0.02, 0.30, 0.03], [-0.01, 0.03, 0.25]]
    center = [0.1, -0.05, 0.2]
    [[body]]
    name = "screw"
    on = "cross"
    mass = 0.7
    position = [0, 0.3, "s"]
    rotation = [["z", "5*s"]]
    inertia = 0.04
    [[body]]
    name = "frame"
    on = "base"
    position = ["r", 0, 0]
    [[body]]
    name = "bead"
    on = "frame"
    mass = 0.9
    position = [0, "0.2*r^2", 0.1]
    [run]
    until = 1
"#;

#[test]
fn equations_of_trees_in_space_are_those_of_lagrange() {
    // T = ½ uᵀMu from the velocities of the bodies, and h = ∂T/∂q − Ṁ u − ∂V/∂q: recursion against energies (PG-3.1-EOM)
    let sys = compiled(ARM);
    let (dims, d) = (sys.dims(), sys.fresh_discrete());
    let mut eval = sys.memory();
    let mut tangent = Tangent::new(&sys);
    for k in 0..20 {
        let noise = |i: usize| (1.7 * (k as f64) + 0.9 * i as f64).sin();
        let s = State {
            q: (0..dims.q).map(noise).collect(),
            u: (0..dims.u).map(|i| 2.0 * noise(i + 7)).collect(),
            ..State::default()
        };
        sys.evaluate(&s, &d, &mut eval);
        let twice: f64 =
            (0..dims.u).map(|i| (0..dims.u).map(|j| s.u[i] * eval.mass[(i, j)] * s.u[j]).sum::<f64>()).sum();
        close(eval.kinetic, 0.5 * twice, 1e-13);
        // Ṁ u along the motion
        assert!(sys.tangent(&s, &d, &eval, &Along { q: &s.u, ..Along::default() }, &mut tangent));
        let change: Vec<f64> = (0..dims.u)
            .map(|i| (0..dims.u).map(|j| tangent.rate.mass[(i, j)] * s.u[j]).sum::<f64>())
            .collect();
        for i in 0..dims.u {
            let mut along = vec![0.0; dims.q];
            along[i] = 1.0;
            assert!(sys.tangent(&s, &d, &eval, &Along { q: &along, ..Along::default() }, &mut tangent));
            let lagrange = tangent.rate.kinetic - change[i] - tangent.rate.potential;
            close(eval.h[i], lagrange, 1e-12);
        }
    }
}

#[test]
fn a_driven_tree_in_space_closes_its_energy_balance() {
    let text = ARM
        .replace("a = { start = 0.3, rate = 0.7 }\n", "")
        .replace("\"a\"]", "\"2*t + 0.3*sin(3*t)\"]")
        .replace("0.3*a", "0.3*t")
        .replace("[\"r\", 0, 0]", "[\"r + 0.1*cos(2*t)\", \"0.2*t\", 0]");
    let r = run(&text);
    assert!(r.audit().energy < 1e-9, "{:?}", r.audit());
}

/// A heavy body of three different moments, thrown with a spin about no axis of its own.
const THROWN: &str = r#"
    [coordinates]
    x = 0
    y = 0
    z = 0
    [[body]]
    name = "stone"
    mass = 1
    position = ["x", "y", "z"]
    rotation = "free"
    turned = [["z", 0.3], ["x", -0.4]]
    inertia = [1, 2, 2.5]
    spin = [0.3, 2, 0.1]
    [run]
    until = 3142
    every = 100
    [define]
    bx = "stone.axis1.x*stone.spin.x + stone.axis1.y*stone.spin.y + stone.axis1.z*stone.spin.z"
    by = "stone.axis2.x*stone.spin.x + stone.axis2.y*stone.spin.y + stone.axis2.z*stone.spin.z"
    bz = "stone.axis3.x*stone.spin.x + stone.axis3.y*stone.spin.y + stone.axis3.z*stone.spin.z"
"#;

#[test]
fn a_free_body_keeps_energy_and_angular_momentum_over_a_thousand_turns() {
    let r = run(THROWN);
    let e = r.series("energy.kinetic").unwrap();
    assert!(e.iter().all(|v| (v / e[0] - 1.0).abs() < 1e-9), "{:e}", e[e.len() - 1] / e[0] - 1.0);
    // L = Σ J_i ω_i e_i
    for c in ["x", "y", "z"] {
        let l = r
            .series(&format!("1*bx*stone.axis1.{c} + 2*by*stone.axis2.{c} + 2.5*bz*stone.axis3.{c}"))
            .unwrap();
        assert!(l.iter().all(|v| (v - l[0]).abs() < 4e-9), "{c}: {:e}", l[l.len() - 1] - l[0]);
    }
    // between steps, too
    let length = r.series("stone.axis1.x^2 + stone.axis1.y^2 + stone.axis1.z^2").unwrap();
    assert!(length.iter().all(|v| (v - 1.0).abs() < 1e-12));
    let q = &r.trajectory.last.state.q[3..];
    close(q.iter().map(|v| v * v).sum::<f64>().sqrt(), 1.0, 1e-15);
}

#[test]
fn a_conical_pendulum_goes_round_at_its_angle() {
    // ω² = g/(l cos θ)
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [parameters]
        l = 0.7
        th0 = 0.6
        [coordinates]
        psi = { start = 0, rate = "sqrt(9.81/(l*cos(th0)))" }
        th = { start = "th0" }
        [[body]]
        name = "bob"
        mass = 2
        position = ["l*sin(th)*cos(psi)", "l*sin(th)*sin(psi)", "-l*cos(th)"]
        [run]
        until = 20
    "#);
    close(last(&r, "th"), 0.6, 1e-8);
    close(last(&r, "psi"), 20.0 * (9.81 / (0.7 * 0.6f64.cos())).sqrt(), 1e-9);
}

/// A heavy symmetric top in steady precession Ω at the angle θ: A Ω² cosθ − C ω₃ Ω + m g l = 0.
const TOP: &str = r#"
    gravity = [0, 0, -9.81]
    [parameters]
    m = 0.5
    l = 0.08
    A = 0.004
    C = 0.001
    th0 = 0.5
    Om = 3
    w3 = "(A*Om^2*cos(th0) + m*9.81*l)/(C*Om)"
"#;

#[test]
fn a_heavy_top_precesses_steadily_in_both_descriptions() {
    let angles = format!(
        "{TOP}
        [coordinates]
        psi = {{ rate = \"Om\" }}
        th = {{ start = \"th0\" }}
        phi = {{ rate = \"w3 - Om*cos(th0)\" }}
        [[body]]
        name = \"top\"
        mass = \"m\"
        inertia = [\"A - m*l^2\", \"A - m*l^2\", \"C\"]
        center = [0, 0, \"l\"]
        rotation = [[\"z\", \"psi\"], [\"x\", \"th\"], [\"z\", \"phi\"]]
        [run]
        until = 10"
    );
    let r = run(&angles);
    close(last(&r, "th"), 0.5, 1e-7);
    close(last(&r, "psi'"), 3.0, 1e-7);
    // the same top, free and held at its tip
    let free = format!(
        "{TOP}
        [coordinates]
        x = {{ guess = 0 }}
        y = {{ guess = 0 }}
        z = {{ guess = 0 }}
        [[body]]
        name = \"top\"
        mass = \"m\"
        inertia = [\"A - m*l^2\", \"A - m*l^2\", \"C\"]
        position = [\"x\", \"y\", \"z\"]
        rotation = \"free\"
        turned = [[\"x\", \"th0\"]]
        spin = [0, \"-(w3 - Om*cos(th0))*sin(th0)\", \"Om + (w3 - Om*cos(th0))*cos(th0)\"]
        features = {{ tip = [0, 0, \"-l\"] }}
        [[contact]]
        name = \"tip\"
        pin = [\"top.tip\", \"ground.peg\"]
        [ground]
        peg = [0, 0, 0]
        [run]
        until = 10
        [output]
        lift = \"tip.force.z\""
    );
    let r = run(&free);
    close(last(&r, "top.axis3.z"), 0.5f64.cos(), 1e-7);
    close(last(&r, "lift"), 0.5 * 9.81, 1e-6);
    // psi = Om t: the axis leans towards (sin psi, −cos psi)
    close(last(&r, "top.axis3.x"), 0.5f64.sin() * 30f64.sin(), 1e-6);
    close(last(&r, "top.axis3.y"), -0.5f64.sin() * 30f64.cos(), 1e-6);
}

#[test]
fn torques_and_springs_in_space_turn_and_pull_as_written() {
    // a torque about a fixed axis on a ball, in body axes on a turned one, a spring between two points
    let r = run(r#"
        [coordinates]
        x = { start = 3 }
        y = { start = 4 }
        z = { start = 12 }
        [[body]]
        name = "ball"
        mass = 2
        position = ["x", "y", "z"]
        [[body]]
        name = "wheel"
        rotation = "free"
        turned = [["y", 0.7]]
        inertia = 0.5
        [[force]]
        name = "spring"
        between = ["ball", "ground.hook"]
        spring = 8
        [[force]]
        name = "drive"
        on = "wheel"
        torque = [0, 0, 0.25]
        axes = "body"
        [ground]
        hook = [0, 0, 0]
        [run]
        until = 1
    "#);
    // ω² = 4 about the hook: r = r0 cos 2t
    for (name, start) in [("x", 3.0), ("y", 4.0), ("z", 12.0)] {
        close(last(&r, name), start * 2f64.cos(), 1e-8);
    }
    close(last(&r, "wheel.spin.x"), 0.5 * 0.7f64.sin(), 1e-9);
    close(last(&r, "wheel.spin.z"), 0.5 * 0.7f64.cos(), 1e-9);
}

fn message(text: &str) -> String {
    match Machine::read(text).and_then(|m| m.run()) {
        Ok(_) => panic!("accepted: {text}"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn what_cannot_be_in_space_is_named_with_its_remedy() {
    let body = |more: &str| {
        format!(
            "[coordinates]\nx = 0\na = 0\nb = 0\nc = 0\n[[body]]\nname = \"b1\"\nmass = 1\nposition = [\"x\", 0, 0]\n{more}\n[run]\nuntil = 1"
        )
    };
    let says = |text: &str, words: &[&str]| {
        let found = message(text);
        words.iter().for_each(|w| assert!(found.contains(w), "`{w}` is not in: {found}"));
    };
    says(&body("rotation = \"free\"\ninertia = [1, 1, 3]"), &["principal moments", "sum of the two others"]);
    says(&body("rotation = \"free\"\ninertia = [[1, 0.2, 0], [0.1, 1, 0], [0, 0, 1]]"), &["not symmetric"]);
    says(&body("rotation = \"free\""), &["turns freely but has no inertia"]);
    says(&body("inertia = 1"), &["has an inertia but does not turn"]);
    says(
        &body("rotation = [[\"z\", \"a\"], [\"x\", \"b\"], [\"z\", \"c\"]]\ninertia = [1, 1, 1.5]"),
        &["singular point", "free"],
    );
    says(&body("angle = \"a\""), &["`angle` of body `b1` is for the plane"]);
    says(&body("features = { p = [0, 1] }"), &["feature `p` is planar"]);
    says(&body("rotation = [[\"w\", \"a\"]]"), &["axis of a turn"]);
    says(&body("spin = [1, 0, 0]"), &["belongs to a free rotation"]);
    says(&format!("gravity = [0, -9.81]\n{}", body("")), &["gravity has two entries"]);
}

/// A block thrown across an incline (METH-3D-ZERO): slope, μ/tan(slope), speed, angle of the velocity from downhill.
fn thrown(slope: f64, f: f64, speed: f64, psi: f64, until: f64) -> Run {
    run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [parameters]
        al = "{slope} deg"
        mu = "{f}*tan(al)"
        v = {speed}
        psi = "{psi} deg"
        [coordinates]
        x = {{ rate = "v*cos(psi)*cos(al)" }}
        y = {{ rate = "v*sin(psi)" }}
        z = {{ rate = "-v*cos(psi)*sin(al)" }}
        [ground]
        plane = {{ through = [0, 0, 0], normal = ["sin(al)", 0, "cos(al)"] }}
        [[body]]
        name = "block"
        mass = 2
        position = ["x", "y", "z"]
        [[contact]]
        name = "sole"
        between = ["block", "ground.plane"]
        friction = "mu"
        [run]
        until = {until}
        [output]
        down = "x*cos(al) - z*sin(al)"
        pull = "sole.friction"
        "#
    ))
}

fn happened(r: &Run) -> Vec<(String, f64)> {
    r.events().iter().map(|e| (e.kind.word().to_string(), e.time)).collect()
}

#[test]
fn a_block_thrown_across_an_incline_stops_where_the_closed_form_says_and_sticks() {
    let r = thrown(15.0, 1.2, 1.5, 90.0, 2.0);
    let [(kind, time)] = &happened(&r)[..] else { panic!("{:?}", happened(&r)) };
    assert_eq!(kind, "stick");
    close(*time, 1.611219060, 1e-8);
    close(last(&r, "down"), 0.503505956, 1e-8);
    close(last(&r, "y"), 0.446808647, 1e-8);
    close(last(&r, "pull"), 2.0 * 9.81 * 15f64.to_radians().sin(), 1e-12);
}

#[test]
fn a_block_pushed_uphill_turns_quickly_without_sticking() {
    let r = thrown(30.0, 0.5, 2.0, 179.9, 1.5);
    assert!(happened(&r).is_empty(), "{:?}", happened(&r));
    close(last(&r, "down"), 1.577844432, 1e-8);
    close(last(&r, "y"), 7.11683634e-4, 1e-8);
    let speed = r.series("sole.speed").unwrap();
    assert!(speed.iter().all(|v| *v > 9.0e-5));
    // straight up it reverses on its line: v²/(2a) up, then down
    let r = thrown(30.0, 0.5, 2.0, 180.0, 1.5);
    assert_eq!(happened(&r).iter().filter(|e| e.0 == "stick").count(), 0);
    let (up, down) = (0.75 * 9.81, 0.25 * 9.81);
    let rest = 1.5 - 2.0 / up;
    close(last(&r, "down"), 0.5 * down * rest * rest - 2.0 / up, 1e-8);
    assert!(last(&r, "y").abs() < 1e-12);
}

#[test]
fn a_block_pulled_harder_and_harder_slips_in_the_direction_of_the_pull() {
    // METH-3D-LOSS: 5 N/s along (3, 4)/5 against 5.886 N
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = 0
        y = 0
        z = 0
        [ground]
        plane = { through = [0, 0, 0], normal = [0, 0, 1] }
        [[body]]
        name = "block"
        mass = 2
        position = ["x", "y", "z"]
        [[force]]
        name = "pull"
        at = "block"
        force = ["3*t", "4*t", 0]
        [[contact]]
        name = "sole"
        between = ["block", "ground.plane"]
        friction = 0.3
        [run]
        until = 2
    "#);
    let [(kind, time)] = &happened(&r)[..] else { panic!("{:?}", happened(&r)) };
    assert_eq!(kind, "slip");
    close(*time, 1.1772, 1e-9);
    let way = 2.0 - 1.1772;
    close(last(&r, "x'"), 0.6 * 1.25 * way * way, 1e-7);
    close(last(&r, "y'"), 0.8 * 1.25 * way * way, 1e-7);
}

/// A solid ball on a table.
fn ball(mu: f64, height: f64, more: &str, settings: &str) -> Run {
    run(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [parameters]
        R = 0.05
        [coordinates]
        x = {{ rate = 2 }}
        y = {{ rate = -1 }}
        z = "R + {height}"
        [ground]
        table = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "ball"
        mass = 1
        position = ["x", "y", "z"]
        rotation = "free"
        inertia = "0.4*R^2"
        spin = [30, 10, 12]
        features = {{ skin = {{ center = [0, 0, 0], radius = "R" }} }}
        [[contact]]
        name = "cloth"
        between = ["ball.skin", "ground.table"]
        friction = {mu}
        {more}
        [run]
        {settings}
        "#
    ))
}

#[test]
fn a_billiard_ball_slides_straight_and_then_rolls() {
    // VAG-3-BALL, METH-3D-ROLL
    let r = ball(0.25, 0.0, "", "until = 0.5");
    let [(kind, time)] = &happened(&r)[..] else { panic!("{:?}", happened(&r)) };
    assert_eq!(kind, "stick");
    close(*time, 0.184201407, 1e-8);
    close(last(&r, "x'"), 11.0 / 7.0, 1e-9);
    close(last(&r, "y'"), -8.0 / 7.0, 1e-9);
    close(last(&r, "ball.spin.z"), 12.0, 1e-9);
    // time steps come to the same
    let r = ball(0.25, 0.0, "", "until = 0.5\nscheme = \"step\"\nstep = 1e-4");
    close(last(&r, "x'"), 11.0 / 7.0, 1e-6);
    close(last(&r, "y'"), -8.0 / 7.0, 1e-6);
}

#[test]
fn a_ball_that_hits_the_floor_slides_through_the_impact_or_bounces_back_like_a_superball() {
    // sliding: Δv = −μ (1 + e) v_N d with the slip (1.5, 0.5); both laws
    let fall = (2.0f64 * 9.81 * 0.2).sqrt();
    let d = [1.5 / 2.5f64.sqrt(), 0.5 / 2.5f64.sqrt()];
    for (law, mu) in [("poisson", 0.1), ("moreau", 0.1), ("newton", 0.0)] {
        let r = ball(0.1, 0.2, "restitution = 0.5", &format!("until = 0.3\nimpact = \"{law}\""));
        // Newton's impacts are frictionless, as in the plane
        let push = mu * 1.5 * fall;
        close(last(&r, "x'"), 2.0 - push * d[0], 1e-9);
        close(last(&r, "y'"), -1.0 - push * d[1], 1e-9);
    }
    // the slip is reversed, the invariants stay: v ± 2R/5 ω
    let r =
        ball(10.0, 0.2, "restitution = { normal = 1, tangential = 1 }", "until = 0.3\nimpact = \"moreau\"");
    close(last(&r, "x' - 0.05*ball.spin.y"), -1.5, 1e-9);
    close(last(&r, "y' + 0.05*ball.spin.x"), -0.5, 1e-9);
    close(last(&r, "x' + 0.02*ball.spin.y"), 2.2, 1e-9);
    close(last(&r, "y' - 0.02*ball.spin.x"), -1.6, 1e-9);
}

#[test]
fn vectors_of_contacts_are_recorded_and_can_be_asked_for_after_the_run() {
    let r = ball(0.25, 0.0, "", "until = 0.1");
    // sliding along (1.5, 0.5): friction is against it, and the table carries the ball
    let size = 2.5f64.sqrt();
    close(last(&r, "cloth.tangential[1]"), -0.25 * 9.81 * 1.5 / size, 1e-9);
    close(last(&r, "cloth.tangential[2]"), -0.25 * 9.81 * 0.5 / size, 1e-9);
    close(last(&r, "cloth.force.y"), -0.25 * 9.81 * 0.5 / size, 1e-9);
    close(last(&r, "cloth.force.z"), 9.81, 1e-12);
    close(last(&r, "cloth.slip[2]/cloth.slip[1]"), 1.0 / 3.0, 1e-9);
    let table = r.table();
    let last_of = |name: &str| *table.numbers(name).unwrap_or_else(|| panic!("{name}")).last().unwrap();
    close(last_of("cloth.tangential[2]"), -0.25 * 9.81 * 0.5 / size, 1e-9);
    close(last_of("cloth.slip[2]"), last(&r, "cloth.slip[2]"), 1e-15);
    assert!(table.numbers("cloth.slip").is_none());
    assert!(table.csv().lines().next().unwrap().contains("ball.spin.x [rad/s]"));
    // impulses of an impact too
    let r = ball(0.1, 0.2, "restitution = 0.5", "until = 0.3");
    let json = serde_json::to_value(r.record()).unwrap();
    let hit = &json["events"][0]["impulse_t"]["cloth"];
    let push = 0.1 * 1.5 * (2.0f64 * 9.81 * 0.2).sqrt();
    close(hit[0].as_f64().unwrap(), -push * 1.5 / size, 1e-9);
    close(hit[1].as_f64().unwrap(), -push * 0.5 / size, 1e-9);
}

#[test]
fn a_ball_along_the_cushion_follows_the_stroke_of_the_frenchman() {
    // VAG-4-FRENCHMAN, METH-3D-ROLL: both contacts slide in different directions, then both roll; the cushion carries nothing then
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [parameters]
        R = 0.03
        mut = 0.2
        muc = 0.8
        v0 = 0.5
        w0 = 60
        k = "sqrt(4*muc^2 - 1)"
        [coordinates]
        x = { rate = "v0" }
        y = "R"
        z = "R"
        [ground]
        table = { through = [0, 0, 0], normal = [0, 0, 1] }
        cushion = { through = [0, 0, 0], normal = [0, 1, 0] }
        [[body]]
        name = "ball"
        mass = 0.2
        position = ["x", "y", "z"]
        rotation = "free"
        inertia = "0.4*0.2*R^2"
        spin = ["w0", "v0/R + 2*w0*k", "-v0/R - w0*k"]
        features = { skin = { center = [0, 0, 0], radius = "R" } }
        [[contact]]
        name = "table"
        between = ["ball.skin", "ground.table"]
        friction = "mut"
        [[contact]]
        name = "cushion"
        between = ["ball.skin", "ground.cushion"]
        friction = "muc"
        [run]
        until = 1
    "#);
    let [(kind, time)] = &happened(&r)[..] else { panic!("{:?}", happened(&r)) };
    assert_eq!(kind, "stick");
    close(*time, 0.682746131, 1e-8);
    close(last(&r, "x'"), 1.998799520, 1e-9);
    close(last(&r, "ball.spin.y"), 1.998799520 / 0.03, 1e-8);
    close(last(&r, "ball.spin.z"), -1.998799520 / 0.03, 1e-8);
    assert!(last(&r, "ball.spin.x").abs() < 1e-8);
}

#[test]
fn a_ball_joint_with_friction_stops_its_rotor_along_a_straight_spin() {
    // moment r μ/√(1+μ²) m g against the spin: 13 rad/s in 4.46019001 s
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = 0
        y = 0
        z = 0
        [[body]]
        name = "rotor"
        mass = 2
        inertia = 0.05
        position = ["x", "y", "z"]
        rotation = "free"
        spin = [3, -4, 12]
        features = { hub = [0, 0, 0] }
        [ground]
        socket = [0, 0, 0]
        [[contact]]
        name = "socket"
        pin = ["rotor.hub", "ground.socket"]
        radius = 0.02
        friction = 0.4
        [run]
        until = 6
    "#);
    let [(kind, time)] = &happened(&r)[..] else { panic!("{:?}", happened(&r)) };
    assert_eq!(kind, "stick");
    close(*time, 13.0 * 0.05 / (0.02 * 0.4 / 1.16f64.sqrt() * 2.0 * 9.81), 1e-8);
    close(last(&r, "socket.force.z"), 2.0 * 9.81, 1e-12);
}

#[test]
fn rolling_and_drilling_resistance_slow_a_ball_down() {
    // rolling: c m g against the turn, so v falls by 5/7 c g/R per second; drilling: 5/2 c g/R²
    let r = run(r#"
        gravity = [0, 0, -9.81]
        [parameters]
        R = 0.05
        [coordinates]
        x = { rate = 0.5 }
        y = 0
        z = "R"
        [ground]
        table = { through = [0, 0, 0], normal = [0, 0, 1] }
        [[body]]
        name = "ball"
        mass = 1
        position = ["x", "y", "z"]
        rotation = "free"
        inertia = "0.4*R^2"
        spin = [0, "0.5/R", 30]
        features = { skin = { center = [0, 0, 0], radius = "R" } }
        [[contact]]
        name = "cloth"
        between = ["ball.skin", "ground.table"]
        friction = 0.3
        rolling = "0.2 mm"
        drilling = "0.1 mm"
        [run]
        until = 0.05
    "#);
    close(last(&r, "x'"), 0.5 - 5.0 / 7.0 * 0.2e-3 * 9.81 / 0.05 * 0.05, 1e-9);
    close(last(&r, "ball.spin.z"), 30.0 - 2.5 * 0.1e-3 * 9.81 / 0.0025 * 0.05, 1e-9);
}

#[test]
fn poissons_law_gives_the_tangential_impulse_back_in_both_directions() {
    // PG-8-POISSON in the tangent plane: fully reversible, the slip (1.5, 0.5) is reversed
    let r = ball(10.0, 0.2, "restitution = { normal = 1, tangential = 1, nu = 1 }", "until = 0.3");
    close(last(&r, "x' - 0.05*ball.spin.y"), -1.5, 1e-9);
    close(last(&r, "y' + 0.05*ball.spin.x"), -0.5, 1e-9);
    close(last(&r, "x' + 0.02*ball.spin.y"), 2.2, 1e-9);
    // half of it: sticking at the end of compression, a quarter of the slip comes back
    let r = ball(10.0, 0.2, "restitution = { normal = 0.5, tangential = 0.5, nu = 1 }", "until = 0.3");
    close(last(&r, "x' - 0.05*ball.spin.y"), -0.375, 1e-9);
    close(last(&r, "y' + 0.05*ball.spin.x"), -0.125, 1e-9);
}

#[test]
fn joints_and_laws_of_space_that_do_not_fit_are_named_with_their_remedy() {
    let body = |contact: &str| {
        format!(
            "gravity = [0, 0, -9.81]\n[coordinates]\nx = 0\ny = 0\nz = 0\n[ground]\nfloor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}\nu = {{ direction = [0, 0, 1] }}\n\
             [[body]]\nname = \"b1\"\nmass = 1\nposition = [\"x\", \"y\", \"z\"]\nfeatures = {{ p = [0, 0, 0], d = {{ direction = [1, 0, 0] }} }}\n\
             [[contact]]\nname = \"c\"\n{contact}\n[run]\nuntil = 1"
        )
    };
    let says = |contact: &str, words: &[&str]| {
        let found = message(&body(contact));
        words.iter().for_each(|w| assert!(found.contains(w), "`{w}` is not in: {found}"));
    };
    let between = "between = [\"b1\", \"ground.floor\"]";
    says(&format!("{between}\nfriction = {{ ellipse = [0.5, 0] }}"), &["half axis", "zero"]);
    says(&format!("{between}\nfriction = {{ patch = {{ radius = 0.1 }} }}"), &["no `value`"]);
    says(
        &format!("{between}\nfriction = {{ value = 0.3, patch = {{ radius = -1 }} }}"),
        &["cannot be negative"],
    );
    says(&format!("{between}\nfriction = [[0.1, 0.9], [0.9, 0.1]]"), &["creates energy"]);
    says("parallel = [\"b1.p\", \"ground.u\"]", &["not a direction", "direction = [x, y, z]"]);
    says("parallel = [\"b1.d\", \"ground.u\"]\nfriction = 0.2", &["does not belong"]);
    says("guide = [\"y\", \"z\"]\nfriction = 0.2", &["slip velocity"]);
    says("gap = \"z\"\nrolling = 0.1", &["needs two bodies in space"]);
    let stepping = body(&format!("{between}\nfriction = [[0.4, 0.1], [-0.1, 0.4]]"))
        .replace("until = 1", "until = 1\nscheme = \"step\"\nstep = 0.01");
    assert!(message(&stepping).contains("time steps do not treat"), "{}", message(&stepping));
}
