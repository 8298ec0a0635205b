//! Contacts in space whose surfaces are moved: velocities after impacts in closed form.

use specht::prelude::*;

fn run(text: &str) -> Run {
    let machine = Machine::read(text).unwrap_or_else(|e| panic!("{e}"));
    let run = machine.run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?} {:?}", run.events(), run.audit());
    run
}

fn last(run: &Run, expression: &str) -> f64 {
    let list = run.series(expression).unwrap_or_else(|e| panic!("{e}"));
    list[list.len() - 1]
}

fn ball(ground: &str, law: &str) -> String {
    format!(
        r#"
    gravity = [0, 0, 0]
    [coordinates]
    x = 0
    y = 0
    z = {{ start = 1, rate = -1 }}
    [ground]
    {ground}
    [[body]]
    name = "ball"
    mass = 2
    inertia = 0.008
    position = ["x", "y", "z"]
    rotation = "free"
    features = {{ skin = {{ center = [0, 0, 0], radius = 0.1 }} }}
    [[contact]]
    name = "hit"
    between = ["ball.skin", "ground.floor"]
    restitution = 0.5
    friction = 0.3
    [run]
    until = 1
    impact = "{law}"
    "#
    )
}

/// A ball at −1 m/s meets a floor that rises at 2 m/s: it leaves with 2 + ½·3 m/s.
#[test]
fn a_rising_floor_hits_with_its_velocity() {
    for law in ["poisson", "moreau"] {
        for ground in [
            "floor = { through = [0, 0, \"2*t\"], normal = [0, 0, 1] }",
            "floor = { surface = [\"u\", \"v\", \"2*t\"], parameters = [\"u\", \"v\"] }",
        ] {
            let run = run(&ball(ground, law));
            let speed = last(&run, "z'");
            assert!((speed - 3.5).abs() < 1e-12, "{law}, {ground}: {speed}");
        }
    }
}

/// A ball that lies on a floor z = sin t goes with it, and presses with m (g − sin t).
#[test]
fn a_ball_rides_on_a_floor_that_heaves() {
    let text = ball("floor = { through = [0, 0, \"1 m*sin(t/1 s)\"], normal = [0, 0, 1] }", "moreau")
        .replace("gravity = [0, 0, 0]", "gravity = [0, 0, -9.81]")
        .replace("start = 1, rate = -1", "start = 0.1, rate = 1");
    let run = run(&text);
    assert!((last(&run, "z") - (0.1 + 1f64.sin())).abs() < 1e-8);
    assert!((last(&run, "hit.normal") - 2.0 * (9.81 - 1f64.sin())).abs() < 1e-8);
}

/// A plate is driven up at 1 m/s and its surface rises on it at 2 m/s more: the ball meets both, and leaves with 3 + ½·4 m/s.
#[test]
fn a_surface_that_moves_on_a_driven_body_hits_with_both_velocities() {
    for (skin, speed) in [("[0, 0, \"2*t\"]", 5.0), ("[0, 0, 0]", 2.0)] {
        let plate = format!(
            "[[body]]\nname = \"plate\"\nposition = [0, 0, \"1*t\"]\n\
             features = {{ top = {{ through = {skin}, normal = [0, 0, 1] }} }}\n[[body]]\nname = \"ball\""
        );
        let text = ball("", "poisson")
            .replace("[[body]]\n    name = \"ball\"", &plate)
            .replace("ground.floor", "plate.top");
        let run = run(&text);
        assert!((last(&run, "z'") - speed).abs() < 1e-12, "{skin}: {}", last(&run, "z'"));
    }
}
