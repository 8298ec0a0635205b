//! Slow loads: paths of equilibria with friction against closed forms and independent computations, and where slowness ends.

use serde_json::Value;
use specht::machine::task::Task;
use specht::model::TaskValue;
use specht::prelude::*;

fn slow(machine: &Machine, until: f64) -> Value {
    let keys = [("until".to_string(), TaskValue::Number(until))];
    let task = Task::read("quasi-static", &keys).unwrap();
    serde_json::to_value(machine.ask(&task).unwrap_or_else(|e| panic!("{e}"))).unwrap()
}

fn read(text: &str) -> Machine {
    Machine::read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap_or(f64::NAN)
}

fn close(found: &Value, expected: f64, within: f64) {
    let x = number(found);
    assert!((x - expected).abs() <= within * expected.abs().max(1e-9), "{x} is not {expected}");
}

fn last<'a>(found: &'a Value, name: &str) -> &'a Value {
    &found["path"].as_array().unwrap().last().unwrap()["coordinates"][name]
}

/// One mass on the support of Cho and Barber, (4.9), at the limit of friction in direction `th` with normal force N, under the load rate `rate`.
fn mass(name: &str, th: &str, n: f64, rate: [f64; 3]) -> String {
    let [a, b, c] = ["1", "2", "3"].map(|k| format!("{name}{k}"));
    let [p, q, r] = rate;
    format!(
        r#"
        [[body]]
        name     = "{name}"
        mass     = 1
        position = ["{a}", "{b}", "{c}"]
        [[force]]
        name      = "{name}_support"
        potential = "({a}^2 + 2*{b}^2 + 3*{c}^2)/2 + {a}*{b} - {a}*{c} - 2*{b}*{c}"
        [[force]]
        name  = "{name}_pull1"
        along = "{a}"
        force = "f*{n}*cos({th} deg) + {p}*t"
        [[force]]
        name  = "{name}_pull2"
        along = "{b}"
        force = "f*{n}*sin({th} deg) + {q}*t"
        [[force]]
        name  = "{name}_press"
        along = "{c}"
        force = "{r}*t - {n}"
        [[contact]]
        name     = "under_{name}"
        gap      = "{c}"
        slip     = ["{a}'", "{b}'"]
        friction = "f"
        "#
    )
}

fn pair(f: f64, th: [&str; 2], rates: [[f64; 3]; 2]) -> Machine {
    let spring = r#"
        [[force]]
        name      = "between"
        potential = "0.5*((a1 - b1)^2 + (a2 - b2)^2 + (a3 - b3)^2)/2"
        [run]
        until = 1
    "#;
    let head = format!(
        "parameters = {{ f = {f} }}\ncoordinates = {{ a1 = 0, a2 = 0, a3 = 0, b1 = 0, b2 = 0, b3 = 0 }}\n"
    );
    read(&(head + &mass("a", th[0], 1.0, rates[0]) + &mass("b", th[1], 2.0, rates[1]) + spring))
}

/// Slip speeds from a short path.
fn speeds(found: &Value, time: f64) -> [f64; 2] {
    ["under_a", "under_b"].map(|name| number(&found["slipped"][name]) / time)
}

#[test]
fn two_coupled_masses_slip_with_the_rates_of_their_complementarity_problem_meth_qs_rate() {
    let (one, two) = ([1.0, 0.6, -0.2], [-0.1, 1.2, 0.1]);
    let time = 1e-7;
    let found = slow(&pair(0.5, ["40", "100"], [one, two]), time);
    let [a, b] = speeds(&found, time);
    assert!((a - 0.7168504).abs() < 2e-6 && (b - 1.1614062).abs() < 2e-6, "{a} {b}");
    // unloading of the second: it sticks
    let found = slow(&pair(0.5, ["40", "100"], [one, [0.5, -1.0, 0.1]]), time);
    let [a, b] = speeds(&found, time);
    assert!((a - 0.5617625).abs() < 2e-6 && b == 0.0, "{a} {b}");
    assert_eq!(found["path"][1]["modes"]["under_b"], "stick");
}

#[test]
fn slip_along_130_degrees_loses_its_p_matrix_at_the_friction_of_the_closed_form_meth_qs_rate() {
    // −n·K n/(k₃·n), for one mass and for the pair
    let rate = [-1.0, 1.0, 0.0];
    let found = slow(&pair(0.5, ["130", "130"], [rate, rate]), 1e-7);
    close(&found["continuity"]["value"], 0.676_954_314, 1e-7);
    assert_eq!(found["continuity"]["parameter"], "f");
    // beyond it there is no neighbouring state for a growing load
    let found = slow(&pair(0.7, ["130", "130"], [rate, rate]), 1e-7);
    assert_eq!(found["ends"][0]["reason"], "loss of continuity");
    assert_eq!(found["ends"][0]["time"], 0.0);
    // and two for a falling one: stick, and slip on
    let back = rate.map(|r: f64| -r);
    let found = slow(&pair(0.7, ["130", "130"], [back, back]), 1e-7);
    assert_eq!(found["ends"][0]["reason"], "loss of uniqueness");
}

/// Wrong before: without friction none was named. d = K⁻¹ e₃ = (0, 1, 1): f_cr = d₃/√(d₁² + d₂²) = 1, whatever the friction is.
#[test]
fn the_critical_friction_is_named_without_friction_too_meth_qs_path() {
    for f in ["0", "0.3"] {
        let head = format!("parameters = {{ f = {f} }}\ncoordinates = {{ a1 = 0, a2 = 0, a3 = 0 }}\n");
        let found = slow(&read(&(head + &mass("a", "130", 1.0, [0.02, -0.01, 0.1]))), 1.0);
        close(&found["critical"]["value"], 1.0, 1e-12);
        assert_eq!(found["critical"]["parameter"], "f");
        assert_eq!(found["ends"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn a_block_on_a_spring_draws_the_loop_of_the_textbook_meth_qs_path() {
    // F up to 8, down to −8, up to 8; k = 10, μN = 3: x = (F ∓ 3)/k while it slides, a stop of 6/k in F after each turn
    let file = r#"
        coordinates = { x = 0 }
        body    = [{ name = "block", mass = 1, position = ["x", 0] }]
        force   = [
            { name = "spring", along = "x", spring = "10 N/m" },
            { name = "push", along = "x", force = "if(t < 8, t, if(t < 24, 16 - t, t - 32))" },
        ]
        contact = [{ name = "floor", slip = "x'", normal_force = "10", friction = 0.3 }]
        run     = { until = 40 }
    "#;
    let machine = read(file);
    let found = slow(&machine, 40.0);
    let events: Vec<(f64, &str)> = found["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (number(&e["time"]), e["kind"].as_str().unwrap()))
        .collect();
    let expected = [(3.0, "slip"), (8.0, "stick"), (14.0, "slip"), (24.0, "stick"), (30.0, "slip")];
    assert_eq!(events.len(), 5, "{events:?}");
    for (e, x) in events.iter().zip(expected) {
        assert!((e.0 - x.0).abs() < 1e-7 && e.1 == x.1, "{events:?}");
    }
    close(last(&found, "x"), 0.5, 1e-8);
    // way 0.5 + 1 + 1, work 3 N times that
    close(&found["slipped"]["floor"], 2.5, 1e-7);
    close(&found["work"]["floor"], 7.5, 1e-7);
    assert_eq!(found["complete"], true);
    assert!(found["ends"].as_array().unwrap().is_empty());
}

#[test]
fn blocks_in_a_row_begin_to_slip_one_after_the_other() {
    // a rope pulls the last of three blocks joined by springs: block i slips when what is in front of it no longer holds
    let file = r#"
        coordinates = { x1 = 0, x2 = 0, x3 = 0 }
        body    = [
            { name = "a", mass = 1, position = ["x1", 0] },
            { name = "b", mass = 1, position = ["x2", 0] },
            { name = "c", mass = 1, position = ["x3", 0] },
        ]
        force   = [
            { name = "s0", along = "x1", spring = "5 N/m" },
            { name = "s1", along = "x2 - x1", spring = "20 N/m" },
            { name = "s2", along = "x3 - x2", spring = "20 N/m" },
            { name = "rope", along = "x3", force = "t" },
        ]
        contact = [
            { name = "f1", slip = "x1'", normal_force = "10", friction = 0.1 },
            { name = "f2", slip = "x2'", normal_force = "10", friction = 0.2 },
            { name = "f3", slip = "x3'", normal_force = "10", friction = 0.3 },
        ]
        run     = { until = 12 }
    "#;
    let found = slow(&read(file), 12.0);
    let times: Vec<f64> = found["events"].as_array().unwrap().iter().map(|e| number(&e["time"])).collect();
    // 3; then the spring s2 carries t − 3 up to 2; then s1 up to 1
    for (t, x) in times.iter().zip([3.0, 5.0, 6.0]) {
        assert!((t - x).abs() < 1e-7, "{times:?}");
    }
    // at t = 12 the wall carries 12 − 6
    close(last(&found, "x1"), 6.0 / 5.0, 1e-8);
    close(last(&found, "x3"), 6.0 / 5.0 + 7.0 / 20.0 + 9.0 / 20.0, 1e-8);
}

#[test]
fn a_spring_loaded_slider_meets_a_stop_and_leaves_it_again() {
    let file = r#"
        coordinates = { x = 0, y = 0 }
        body    = [{ name = "m", mass = 1, position = ["x", "y"] }]
        force   = [
            { name = "kx", along = "x", spring = "4 N/m" },
            { name = "ky", along = "y", spring = "50 N/m" },
            { name = "push", along = "x", force = "if(t < 10, t, 20 - t)" },
            { name = "side", along = "y", force = "1 N" },
        ]
        contact = [{ name = "wall", gap = "1.5 - x", slip = "y'", friction = 0.5 }]
        run     = { until = 19 }
    "#;
    let found = slow(&read(file), 19.0);
    let kinds: Vec<&str> =
        found["events"].as_array().unwrap().iter().filter_map(|e| e["kind"].as_str()).collect();
    let times: Vec<f64> = found["events"].as_array().unwrap().iter().map(|e| number(&e["time"])).collect();
    // touches at 6 and sticks there: no side force changes; the spring alone carries the side, so it leaves at 14
    assert_eq!(kinds, ["touch", "detach"], "{times:?}");
    assert!((times[0] - 6.0).abs() < 1e-7 && (times[1] - 14.0).abs() < 1e-7, "{times:?}");
    close(last(&found, "x"), 0.25, 1e-7);
    close(last(&found, "y"), 0.02, 1e-7);
}

#[test]
fn the_slow_path_is_the_limit_of_slow_runs_meth_qs_path() {
    // two blocks with friction and dampers, loads that turn: inertia of 1/1000
    let file = |m: f64| {
        format!(
            r#"
            coordinates = {{ x = 0, y = 0 }}
            body    = [
                {{ name = "a", mass = {m}, position = ["x", 0] }},
                {{ name = "b", mass = {m}, position = ["y", 0] }},
            ]
            force   = [
                {{ name = "s0", along = "x", spring = "30 N/m", damper = "0.05 N*s/m" }},
                {{ name = "s1", along = "y - x", spring = "40 N/m", damper = "0.05 N*s/m" }},
                {{ name = "push", along = "y", force = "5*sin(t/1 s) + t/4" }},
            ]
            contact = [
                {{ name = "f1", slip = "x'", normal_force = "4 + t/10", friction = 0.3 }},
                {{ name = "f2", slip = "y'", normal_force = "6", friction = 0.25 }},
            ]
            run     = {{ until = 9 }}
            "#
        )
    };
    let found = slow(&read(&file(1.0)), 9.0);
    assert!(found["events"].as_array().unwrap().len() > 6);
    let run = read(&file(1e-4)).run().unwrap();
    for name in ["x", "y"] {
        let list = run.series(name).unwrap();
        close(last(&found, name), list[list.len() - 1], 5e-3);
    }
}

#[test]
fn slow_paths_that_make_no_sense_are_refused_with_a_remedy() {
    let free = r#"
        coordinates = { x = 0 }
        body  = [{ name = "m", mass = 1, position = ["x", 0] }]
        force = [{ name = "push", along = "x", force = "t" }]
        run   = { until = 1 }
    "#;
    let ask = |text: &str| {
        let task = Task::read("quasi-static", &[]).unwrap();
        read(text).ask(&task).unwrap_err().to_string()
    };
    assert!(ask(free).contains("holds"), "{}", ask(free));
    let pushed = r#"
        coordinates = { x = 0 }
        body    = [{ name = "m", mass = 1, position = ["x", 0] }]
        force   = [{ name = "push", along = "x", force = "5" }]
        contact = [{ name = "floor", slip = "x'", normal_force = "10", friction = 0.3 }]
        run     = { until = 1 }
    "#;
    assert!(ask(pushed).contains("floor"), "{}", ask(pushed));
}

/// Static friction above that of sliding: slowness ends when the spring pulls with the static force; with inertia the mass then swings about the
/// sliding force, x = v s + a (1 − cos ωs) − v/ω sin ωs with a = (Fs − Fk)/k, and stops after s = 2 (π − atan(a ω/v))/ω.
#[test]
fn where_slowness_ends_the_motion_with_inertia_is_followed_to_its_next_rest_meth_qs_path() {
    let (m, k, v, fs, fk) = (2.0_f64, 50.0_f64, 0.02_f64, 6.0_f64, 4.0_f64);
    let machine = read(&format!(
        r#"
        coordinates = {{ x = 0 }}
        body        = [{{ name = "mass", mass = {m}, position = "x" }}]
        force       = [{{ along = "x - {v}*t", spring = {k} }}]
        contact     = [{{ name = "rub", slip = "x'", friction_force = {{ static = {fs}, sliding = {fk} }} }}]
        run         = {{ until = 20 }}
        "#
    ));
    let found = slow(&machine, 20.0);
    let begins = fs / (k * v);
    close(&found["dynamic"]["time"], begins, 1e-9);
    assert_eq!(found["ends"][0]["reason"], "loss of continuity");
    let kinds: Vec<&str> =
        found["dynamic"]["events"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    // it slides from the first instant on
    assert_eq!(kinds.last(), Some(&"stick"), "{kinds:?}");
    let (w, a) = ((k / m).sqrt(), (fs - fk) / k);
    let s = 2.0 * (std::f64::consts::PI - (a * w / v).atan()) / w;
    close(&found["dynamic"]["rest"]["time"], begins + s, 1e-8);
    close(
        &found["dynamic"]["rest"]["state"]["x"],
        v * s + a * (1.0 - (w * s).cos()) - v / w * (w * s).sin(),
        1e-7,
    );
}

/// METH-QS-RATE with thirteen contacts that reach their limits at the same instant: masses on springs of a slow carriage, coupled to their
/// neighbours; a fourteenth holds more and slips later.
#[test]
fn thirteen_contacts_may_reach_their_limits_at_once_meth_qs_rate() {
    let machine = read(
        r#"
        coordinates = { x = { for = "i = 1..14", start = 0 } }
        body        = [{ for = "i = 1..14", name = "m", mass = 1, position = "x[i]" }]
        force       = [{ for = "i = 1..14", name = "pull", along = "x[i] - 0.1*t", spring = 20 },
                       { for = "i = 1..13", name = "link", along = "x[i+1] - x[i]", spring = 5 }]
        contact     = [{ for = "i = 1..14", name = "rub", slip = "x[i]'", friction_force = "if(i == 14, 3, 2)" }]
        run         = { until = 3 }
        "#,
    );
    // the last one holds 3 N: x in balance with the others sliding, K x = k v t − F with all signs known
    let found = slow(&machine, 3.0);
    assert_eq!(found["complete"], true);
    let n = 14;
    let (mut a, mut x) = (vec![[0.0_f64; 14]; 14], [0.0_f64; 14]);
    for i in 0..n {
        a[i][i] = 20.0 + if i == 0 || i == n - 1 { 5.0 } else { 10.0 };
        if i > 0 {
            (a[i][i - 1], a[i - 1][i]) = (-5.0, -5.0);
        }
        x[i] = 20.0 * 0.3 - if i == n - 1 { 3.0 } else { 2.0 };
    }
    for i in 0..n - 1 {
        let part = a[i + 1][i] / a[i][i];
        (0..n).for_each(|j| a[i + 1][j] -= part * a[i][j]);
        x[i + 1] -= part * x[i];
    }
    for i in (0..n).rev() {
        let rest: f64 = (i + 1..n).map(|j| a[i][j] * x[j]).sum();
        x[i] = (x[i] - rest) / a[i][i];
    }
    for i in 0..n {
        close(last(&found, &format!("x[{}]", i + 1)), x[i], 1e-9);
    }
}
