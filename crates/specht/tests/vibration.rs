//! Equilibria, bands of rest, modes and break-away against closed forms and independent computations, at data that no gallery entry has.

use serde_json::Value;
use specht::machine::task::Task;
use specht::model::TaskValue;
use specht::prelude::*;

fn gallery(name: &str) -> Machine {
    Machine::open(format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Keys as they stand in a file.
fn ask(machine: &Machine, kind: &str, keys: &[(&str, TaskValue)]) -> Result<Value, Error> {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| ((*k).to_string(), v.clone())).collect();
    let finding = machine.ask(&Task::read(kind, &keys)?)?;
    Ok(serde_json::to_value(finding).unwrap())
}

fn text(t: &str) -> TaskValue {
    TaskValue::Text(t.into())
}

fn range(name: &str, ends: &[f64]) -> TaskValue {
    let list = ends.iter().map(|x| TaskValue::Number(*x)).collect();
    TaskValue::Table(vec![(name.into(), TaskValue::List(list))])
}

fn close(found: &Value, expected: f64, within: f64) {
    let x = found.as_f64().unwrap_or(f64::NAN);
    assert!((x - expected).abs() <= within * expected.abs(), "{x} is not {expected}");
}

/// Another damper: null space of the four rows, stiffness with the geometric term, in numpy.
fn other_damper() -> Machine {
    let set =
        [("m5", "0.05"), ("gamma", "40 deg"), ("p1", "45"), ("p2", "0.012"), ("Fz", "170"), ("mu", "0.22")];
    set.iter().fold(gallery("damper"), |m, (name, value)| m.with(name, value).unwrap())
}

#[test]
fn a_locked_damper_of_other_data_has_the_frequencies_of_its_null_space_pg_13_1_damper_break() {
    let found =
        ask(&other_damper(), "modes", &[("stick", TaskValue::List(vec![text("left"), text("right")]))]);
    let modes = found.unwrap();
    for (k, f) in [61.0, 62.0, 520.390_052_45].into_iter().enumerate() {
        close(&modes["modes"][k]["frequency"], f, 1e-9);
    }
    assert_eq!(modes["modes"].as_array().unwrap().len(), 3);
    assert_eq!(modes["balanced"], true);
    let share: f64 =
        modes["modes"][2]["energy_share"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
    assert!((share - 1.0).abs() < 1e-9);
}

#[test]
fn a_damper_of_other_data_comes_loose_where_an_independent_computation_says_pg_13_1_damper_break() {
    for (f, a) in [(57.0, 5.556_102_884_919), (61.3, 0.851_160_115_282), (66.5, 5.402_185_759_565)] {
        let keys = [("amplitude", text("A")), ("over", range("f", &[f, f + 1.0, 2.0]))];
        let found = ask(&other_damper(), "break-away", &keys).unwrap();
        close(&found["amplitude"][0], a, 1e-6);
    }
}

#[test]
fn equilibria_of_a_damper_leave_the_symmetric_one_at_the_pitchfork_of_the_closed_form_pg_13_1_damper_eq() {
    let found = ask(&other_damper(), "equilibrium", &[("over", range("p1", &[45.0, 400.0]))]).unwrap();
    let special = found["special"].as_array().unwrap();
    assert_eq!(special.len(), 1, "{special:?}");
    assert_eq!(special[0]["label"], "pitchfork");
    assert_eq!((&special[0]["before"], &special[0]["after"]), (&"stable".into(), &"unstable".into()));
    // (2 + 3a² + 2a⁴)/(4 p2)
    close(&special[0]["parameter"], 214.483_359_625_97, 1e-8);
    for (p1, q5) in [("220", 0.081_404_623_898_857), ("400", 0.369_279_670_599_564)] {
        let machine = other_damper().with("p1", p1).unwrap();
        let all = ask(&machine, "equilibrium", &[("all", TaskValue::Bool(true))]).unwrap();
        let list = all["equilibria"].as_array().unwrap();
        assert_eq!(list.len(), 3);
        close(&list[0]["state"]["q5"], -q5, 1e-8);
        close(&list[2]["state"]["q5"], q5, 1e-8);
        let stable: Vec<&Value> = list.iter().map(|e| &e["stable"]).collect();
        assert_eq!(stable, [true, false, true]);
    }
}

#[test]
fn an_arch_snaps_through_at_a_fold() {
    // a mass on two springs of length 1 fixed at ±0.8, pulled down by P: y on the axis; fold where dP/dy = 0
    let text = r#"
        parameters  = { P = "0 N" }
        coordinates = { y = 0.6 }
        body  = [{ name = "m", mass = 1, position = [0, "y"] }]
        force = [
            { name = "arch", along = "2*sqrt(0.64 + y^2)", spring = "50 N/m", length = "2 m" },
            { name = "load", along = "y", force = "-P" },
        ]
    "#;
    let machine = Machine::read(text).unwrap();
    let found = ask(&machine, "equilibrium", &[("over", range("P", &[0.0, 40.0]))]).unwrap();
    let folds: Vec<&Value> =
        found["special"].as_array().unwrap().iter().filter(|s| s["label"] == "fold").collect();
    // force of the springs: k (2 l − 2) 2 y/l with l = √(0.64 + y²); P = −200 y (1 − 1/l); stationary at l³ = 0.64
    let l = 0.64_f64.cbrt();
    let y = (l * l - 0.64).sqrt();
    let load = 200.0 * y * (1.0 / l - 1.0);
    assert!(
        folds.iter().any(|f| (f["parameter"].as_f64().unwrap() - load).abs() < 1e-8 * load),
        "{folds:?} {load}"
    );
}

#[test]
fn a_ladder_stays_while_friction_is_above_sec_minus_tan_meth_rest_set() {
    // uniform ladder at angle θ, equal friction at wall and floor: μ_min = sec θ − tan θ
    for (degrees, mu) in [(55.0_f64, 0.5), (63.0, 0.4), (48.0, 0.2)] {
        let machine =
            gallery("ladder").with("th0", format!("{degrees} deg")).unwrap().with("mu", mu).unwrap();
        let found = ask(&machine, "equilibrium", &[("friction", text("on"))]).unwrap();
        let least = 1.0 / degrees.to_radians().cos() - degrees.to_radians().tan();
        close(&found["safety"]["friction"], mu / least, 1e-7);
        assert_eq!(found["margin"].as_f64().unwrap() > 0.0, mu > least);
        assert_eq!(found["verdict"] == "moves", mu < least);
    }
}

#[test]
fn a_response_has_the_amplitude_and_phase_of_the_textbook() {
    // m x'' + d x' + k x = f
    let text = r#"
        coordinates = { x = 0 }
        body  = [{ name = "m", mass = 2, position = ["x", 0] }]
        force = [
            { name = "spring", along = "x", spring = "800 N/m", damper = "6 N*s/m" },
            { name = "push", along = "x", force = "3 N" },
        ]
    "#;
    let machine = Machine::read(text).unwrap();
    let found = ask(
        &machine,
        "response",
        &[("force", TaskValue::Text("push".into())), ("over", range("f", &[1.0, 6.0, 51.0]))],
    );
    let found = found.unwrap();
    for (k, f) in found["frequency"].as_array().unwrap().iter().enumerate() {
        let w = std::f64::consts::TAU * f.as_f64().unwrap();
        let (re, im) = (800.0 - 2.0 * w * w, 6.0 * w);
        close(&found["amplitude"]["x"][k], 1.0 / re.hypot(im), 1e-12);
        let phase = found["phase"]["x"][k].as_f64().unwrap();
        assert!((phase + im.atan2(re)).abs() < 1e-12);
    }
    // peak at ω² = k/m − d²/2m²
    let peak = (400.0_f64 - 36.0 / 8.0).sqrt() / std::f64::consts::TAU;
    close(&found["peaks"][0]["frequency"], peak, 1e-7);
}

#[test]
fn the_set_of_rest_attracts_where_energy_has_a_minimum_and_friction_does_not_feed_meth_rest_stab() {
    let file = |stiffness: &str, friction: &str, damper: &str| {
        let model = format!(
            r#"
            coordinates = {{ x = 0 }}
            body    = [{{ name = "m", mass = 1, position = ["x", 0] }}]
            force   = [{{ name = "spring", along = "x", force = "-({stiffness})*x - {damper}*x'" }}]
            contact = [{{ name = "floor", slip = "x'", friction_force = "{friction}" }}]
            run     = {{ until = 20 }}
            "#
        );
        ask(&Machine::read(&model).unwrap(), "equilibrium", &[("friction", text("on"))]).unwrap()
    };
    assert_eq!(file("100", "3", "0")["attraction"], "attractive");
    // friction that falls faster than the damper takes: nothing is proved; with more damping it is
    let falling = "3 + 2*exp(-speed/0.1)";
    let found = file("100", falling, "5");
    assert_eq!(found["attraction"], "undecided");
    assert_eq!(found["probe"]["runs"], 32);
    assert_eq!(found["probe"]["rest"], 1.0);
    assert_eq!(file("100", falling, "30")["attraction"], "attractive");
    // no minimum of the energy
    assert_eq!(file("-1", "3", "0")["attraction"], "undecided");
}

#[test]
fn questions_that_make_no_sense_are_refused_with_a_remedy() {
    let damper = gallery("damper");
    type Keys = Vec<(&'static str, TaskValue)>;
    let cases: [(&str, Keys, &str); 6] = [
        ("modes", vec![("stick", text("lefft"))], "left"),
        ("modes", vec![("stick", text("left")), ("open", text("left"))], "two things"),
        ("response", vec![("force", text("gas3")), ("over", range("f", &[1.0, 2.0]))], "gas"),
        ("response", vec![("force", text("gas1"))], "frequencies"),
        ("break-away", vec![("amplitude", text("m1")), ("over", range("f", &[1.0, 2.0]))], "sine"),
        ("equilibrium", vec![("over", range("p1", &[3.0, 3.0]))], "different ends"),
    ];
    for (kind, keys, word) in cases {
        let said = ask(&damper, kind, &keys).unwrap_err().to_string();
        assert!(said.contains(word), "{kind}: {said}");
    }
    let woodpecker = gallery("woodpecker");
    let said = ask(&woodpecker, "modes", &[("stick", text("beak"))]).unwrap_err().to_string();
    assert!(said.contains("open at this state"), "{said}");
}
