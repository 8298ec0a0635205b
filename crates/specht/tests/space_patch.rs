//! Patches whose radius follows the normal force (METH-LAW-SPIN, Hertz: a = a₁ N^(1/3)), against closed forms and an independent integration.

use specht::prelude::*;

/// A disc on the floor, pressed by its weight and `press`, with the torque `torque` about the vertical.
fn disc(start: &str, press: &str, torque: &str, patch: &str, settings: &str) -> String {
    format!(
        r#"
        gravity = [0, 0, -9.81]
        [parameters]
        m = 1.3
        R = 0.08
        [coordinates]
        {start}
        y = 0
        z = 0
        [ground]
        floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "b"
        mass = "m"
        inertia = ["m*R^2/4", "m*R^2/4", "m*R^2/2"]
        position = ["x", "y", "z"]
        rotation = [["z", "phi"]]
        [[force]]
        at = "b"
        force = [0, 0, "-({press})"]
        [[force]]
        on = "b"
        torque = [0, 0, "{torque}"]
        [[contact]]
        name = "c"
        between = ["b", "ground.floor"]
        friction = {{ value = 0.35, patch = {{ radius = "{patch}", pressure = "hertz" }} }}
        [output]
        moment = "c.drilling"
        [run]
        tolerance = 1e-12
        {settings}
        "#
    )
}

fn run(text: &str) -> Run {
    let run = Machine::read(text).unwrap_or_else(|e| panic!("{e}")).run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?}", run.audit());
    run
}

fn last(run: &Run, expression: &str) -> f64 {
    *run.series(expression).unwrap_or_else(|e| panic!("{e}")).last().unwrap()
}

fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

/// Moment of Hertz's patch that drills without slip, for μ = 0.35.
const DRILL: f64 = 0.35 * 3.0 * std::f64::consts::PI / 16.0;

#[test]
fn a_spinning_disc_under_a_growing_force_is_braked_by_the_force_to_the_power_four_thirds() {
    // J ω' = −(3π/16) μ a₁ N^(4/3), N = N₀ + 20 t: the integral of N^(4/3) is (3/140) (N^(7/3) − N₀^(7/3))
    let text = disc("x = 0\nphi = { rate = 45 }", "20*t", "0", "0.012*normal^(1/3)", "until = 0.6");
    let r = run(&text);
    let weight: f64 = 1.3 * 9.81;
    let (now, third) = (weight + 12.0, 7.0 / 3.0);
    let brake = 3.0 / 140.0 * (now.powf(third) - weight.powf(third));
    let inertia = 0.5 * 1.3 * 0.08 * 0.08;
    close(last(&r, "phi'"), 45.0 - DRILL * 0.012 * brake / inertia, 1e-10);
    close(last(&r, "moment"), -DRILL * 0.012 * now.powf(4.0 / 3.0), 1e-12);
    // written out by Hertz: a³ = 3 N R/(4 E) has a₁ = (3 R/(4 E))^(1/3)
    let a = 0.012f64.powi(3) / 0.75;
    let text = text.replace("0.012*normal^(1/3)", &format!("(3*normal*{a:e}/4)^(1/3)"));
    close(last(&run(&text), "phi'"), last(&r, "phi'"), 1e-11);
}

#[test]
fn a_patch_holds_a_torque_until_the_falling_force_lets_it_go() {
    // 0.02 N m = (3π/16) μ a₁ N^(4/3)
    let text = disc("x = 0\nphi = 0", "-8*t", "0.02", "0.012*normal^(1/3)", "until = 1.5");
    let r = run(&text);
    let slips: Vec<f64> = r.events().iter().filter(|e| e.kind.word() == "slip").map(|e| e.time).collect();
    let [time] = slips[..] else { panic!("{slips:?}") };
    let limit = (0.02 / (DRILL * 0.012)).powf(0.75);
    close(time, (1.3 * 9.81 - limit) / 8.0, 1e-9);
}

#[test]
fn a_radius_that_is_no_power_of_the_normal_force_is_refused_with_a_remedy() {
    for (radius, said) in [
        ("0.01 + 0.001*normal", "no power of the normal force"),
        ("0.01/normal", "falls with the normal force"),
        ("0.01*normal^(1/3)*phi'", "cannot depend on the velocity `phi'`"),
    ] {
        let text = disc("x = 0\nphi = 0", "0", "0", radius, "until = 1");
        let error = Machine::read(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{radius}: {error}");
    }
    // the moment about the normal belongs to contacts that resist drilling
    let text = disc("x = 0\nphi = 0", "0", "0", "0.1", "until = 1");
    let plain = text.replace("{ value = 0.35, patch = { radius = \"0.1\", pressure = \"hertz\" } }", "0.35");
    let error = Machine::read(&plain).unwrap_err().to_string();
    assert!(error.contains("resists no drilling"), "{error}");
}
