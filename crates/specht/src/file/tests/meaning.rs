//! What a file means: values checked against formulas worked out by hand.

use std::collections::BTreeMap;

use super::super::{Options, keys, read, read_with, schema};
use super::{ELLIPTIC, EVERYTHING, ROD, TOWER, WOODPECKER, load, with};
use crate::expr::{NodeId, Symbol};
use crate::model::{ForceKind, Geometry, Input, Model, NormalLaw, Shape, TaskValue, Trigger};

/// Value of a node with some inputs set and all others zero.
fn value(model: &Model, node: NodeId, inputs: &[(Input, f64)]) -> f64 {
    let mut graph = model.graph.clone();
    let mut map = BTreeMap::new();
    for (k, input) in model.inputs.iter().enumerate() {
        let given = inputs.iter().find(|(i, _)| i == input).map_or(0.0, |(_, v)| *v);
        map.insert(Symbol(k as u32), graph.num(given));
    }
    let node = graph.substitute(node, &map);
    graph.constant(node).expect("a number")
}

fn parameter(model: &Model, name: &str) -> f64 {
    model.parameters.iter().find(|p| p.name == name).expect(name).value
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{a} is not {b}");
}

#[test]
fn the_examples_of_the_reference_are_read() {
    for text in [ROD, ELLIPTIC, TOWER, WOODPECKER, EVERYTHING] {
        // the one with every key has an open outline on a body with mass
        assert!(
            load(text).warnings.iter().all(|w| w.message.contains("outline")),
            "{:?}",
            load(text).warnings
        );
    }
}

#[test]
fn quantities_are_si_and_start_values_may_use_each_other() {
    let model = load(ROD).model;
    close(parameter(&model, "phi0"), std::f64::consts::PI / 6.0);
    close(parameter(&model, "mu"), 5.0 / 3.0);
    let [x, y, phi] = &model.coordinates[..] else { panic!() };
    // x' = v0 + s w0 sin(phi0) = 1.5, y guessed as s sin(phi) = 0.5
    close(value(&model, x.rate, &[]), 1.5);
    close(value(&model, y.start, &[]), 0.5);
    assert!(y.guess && !x.guess);
    close(value(&model, phi.start, &[]), std::f64::consts::PI / 6.0);
    assert_eq!(model.start.closed, [0]);
    assert!(matches!(model.ground[0].shape, Shape::Flat { .. }));
    assert!(matches!(model.contacts[0].geometry, Geometry::Between(..)));
    let over = &model.tasks[0].keys.iter().find(|(k, _)| k == "over").unwrap().1;
    let TaskValue::Table(axes) = over else { panic!() };
    let TaskValue::List(range) = &axes[0].1 else { panic!() };
    assert_eq!(range[2], TaskValue::Number(89.0));
    assert!(matches!(range[0], TaskValue::Number(x) if (x - std::f64::consts::PI / 180.0).abs() < 1e-17));
}

#[test]
fn families_become_members_with_their_own_formulas() {
    let model = load(TOWER).model;
    assert_eq!(model.coordinates.len(), 10);
    assert_eq!(model.bodies[2].name, "block[3]");
    assert_eq!(model.contacts[9].name, "face[10]");
    // face[1] slips against the table: x[1]' − aT t; face[3] against block 2
    let v = |k, x| (Input::Velocity(k), x);
    let slip = |k: usize| model.contacts[k].slip.unwrap();
    close(value(&model, slip(0), &[v(0, 7.0), (Input::Time, 0.5)]), 7.0 - 4.0 * 0.5);
    close(value(&model, slip(2), &[v(2, 7.0), v(1, 3.0)]), 4.0);
    let NormalLaw::Loaded { load, terms } = &model.contacts[2].law else { panic!() };
    close(value(&model, *load, &[]), 8.0 * 9.81);
    assert!(terms.is_empty());
    close(value(&model, model.contacts[2].friction.as_ref().unwrap().sliding, &[]), 0.40);
}

#[test]
fn cases_and_overrides_replace_parameters() {
    let options = Options {
        case: Some("B".into()),
        set: vec![("mu1".into(), "0.1".into()), ("hM".into(), "6 mm".into())],
        ..Default::default()
    };
    let model = read(WOODPECKER, &options).unwrap().model;
    assert_eq!(parameter(&model, "mu1"), 0.1);
    assert_eq!(parameter(&model, "mu2"), 0.95);
    assert_eq!(parameter(&model, "hM"), 0.006);
    assert_eq!(model.cases, ["B", "C"]);
    let list =
        Options { set: vec![("mu[3]".into(), "2/3".into()), ("n".into(), "4".into())], ..Default::default() };
    let model = read(TOWER, &list).unwrap().model;
    assert_eq!(model.contacts.len(), 4);
    close(parameter(&model, "mu[3]"), 2.0 / 3.0);
    let list = Options {
        set: vec![("mu".into(), "[0.1, 0.2]".into()), ("n".into(), "2".into())],
        ..Default::default()
    };
    assert_eq!(read(TOWER, &list).unwrap().model.contacts.len(), 2);
}

#[test]
fn bad_requests_are_explained() {
    let ask = |set: &[(&str, &str)], case: Option<&str>, live: &[&str]| {
        let options = Options {
            set: set.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect(),
            case: case.map(str::to_string),
            live: live.iter().map(|s| s.to_string()).collect(),
        };
        let errors = read(WOODPECKER, &options).unwrap_err();
        errors[0].render("toy.toml", WOODPECKER, &options.set)
    };
    assert!(ask(&[("mu4", "1")], None, &[]).contains("did you mean `mu1`?"));
    assert!(ask(&[("phiM", "1")], None, &[]).contains("`phiM` is a coordinate"));
    assert!(ask(&[("mu1", "2*")], None, &[]).contains("--set mu1:1:"));
    assert!(ask(&[("mu1", "nope")], None, &[]).contains("unknown name `nope`"));
    assert!(ask(&[], Some("D"), &[]).contains("its cases are B, C"));
    assert!(ask(&[], None, &["muu1"]).contains("did you mean `mu1`?"));
    let options = Options { set: vec![("mu1".into(), "7".into())], ..Default::default() };
    let warning = &read(WOODPECKER, &options).unwrap().warnings[0];
    assert_eq!(warning.message, "`mu1` = 7 is outside its range");
}

#[test]
fn a_live_parameter_gives_the_same_numbers_as_reading_again() {
    let live = Options { live: vec!["phi0".into(), "mu".into()], ..Default::default() };
    let model = read(ROD, &live).unwrap().model;
    let place = |name: &str| {
        let p = model.parameters.iter().find(|p| p.name == name).unwrap();
        Input::Parameter(p.live.expect("live"))
    };
    close(parameter(&model, "phi0"), std::f64::consts::PI / 6.0);
    let again =
        read(ROD, &Options { set: vec![("phi0".into(), "1.1".into())], ..Default::default() }).unwrap().model;
    for k in 0..3 {
        let at = [(place("phi0"), 1.1)];
        close(value(&model, model.coordinates[k].start, &at), value(&again, again.coordinates[k].start, &[]));
        close(value(&model, model.coordinates[k].rate, &at), value(&again, again.coordinates[k].rate, &[]));
    }
    let mu = model.contacts[0].friction.as_ref().unwrap().sliding;
    close(value(&model, mu, &[(place("mu"), 0.7)]), 0.7);
    // the number of members cannot vary
    let errors = read(TOWER, &Options { live: vec!["n".into()], ..Default::default() }).unwrap_err();
    assert_eq!(errors[0].message, "the bound of a family must be known at load time");
    assert_eq!(errors[0].help, "it depends on a parameter that is being varied");
}

#[test]
fn derivatives_of_definitions_and_states_are_total() {
    let model = load(EVERYTHING).model;
    // p' = −p + x[1]' + load', load = x[1] + tbl(t), tbl rises with 100/s below 10 ms
    let at = [(Input::State(0), 0.25), (Input::Velocity(0), 3.0), (Input::Time, 0.004)];
    close(value(&model, model.states[0].rate, &at), -0.25 + 3.0 + 3.0 + 100.0);
    // jerk = x[1]'' + tip.end.x'' + load'' with tip.end.x = q + 3 r cos(phi)
    let q = model.coordinates.iter().position(|c| c.name == "q").unwrap();
    let phi = model.coordinates.iter().position(|c| c.name == "phi").unwrap();
    let (w, a, angle) = (2.0, 5.0, 0.3f64);
    let at = [
        (Input::Acceleration(0), 1.5),
        (Input::Acceleration(q), 0.5),
        (Input::Acceleration(phi), a),
        (Input::Velocity(phi), w),
        (Input::Coordinate(phi), angle),
    ];
    let expected = 2.0 * 1.5 + 0.5 - 0.3 * (a * angle.sin() + w * w * angle.cos());
    let jerk = model.outputs.iter().find(|o| o.name == "jerk").unwrap().value;
    close(value(&model, jerk, &at), expected);
}

#[test]
fn parents_come_before_children_and_references_follow() {
    let model = load(EVERYTHING).model;
    let place = |name: &str| model.bodies.iter().position(|b| b.name == name).unwrap();
    assert!(place("arm") < place("tip"));
    assert_eq!(model.bodies[place("tip")].on, Some(place("arm")));
    let push = model.forces.iter().find(|f| f.name == "push").unwrap();
    let ForceKind::At { point, body_axes, .. } = &push.kind else { panic!() };
    assert_eq!((point.body, point.feature, *body_axes), (Some(place("tip")), Some(0), true));
    let Geometry::Between(a, b) = &model.contacts[0].geometry else { panic!() };
    assert_eq!((a.body, b.body), (Some(place("arm")), None));
}

#[test]
fn laws_of_contacts_are_what_the_keys_say() {
    let model = load(EVERYTHING).model;
    let contact = |name: &str| model.contacts.iter().find(|c| c.name == name).expect(name);
    let index = |name: &str| model.contacts.iter().position(|c| c.name == name).expect(name);
    assert!(matches!(contact("foot").law, NormalLaw::Unilateral));
    assert!(matches!(contact("rail").law, NormalLaw::Bilateral));
    assert!(matches!(contact("seal").law, NormalLaw::FrictionForce));
    assert!(matches!(contact("soft_stop").law, NormalLaw::Elastic { relaxing: true, both_signs: false, .. }));
    // the load of face[2]: m g + K[1][2] r foot.normal
    let NormalLaw::Loaded { load, terms } = &contact("face[2]").law else { panic!() };
    close(value(&model, *load, &[(Input::Normal(index("foot")), 77.0)]), 2.0 * 9.81);
    assert_eq!(terms.len(), 1);
    assert_eq!(terms[0].0, index("foot"));
    close(value(&model, terms[0].1, &[]), 2.0 * 0.1);
    // play: s + 5 r and 5 r − s with s = x[1] − x[3]
    let at = [(Input::Coordinate(0), 0.2), (Input::Coordinate(2), 0.05)];
    for (name, gap) in [("mesh.low", 0.15 + 0.5), ("mesh.high", 0.5 - 0.15)] {
        let Geometry::Gap(node) = contact(name).geometry else { panic!() };
        close(value(&model, node, &at), gap);
    }
    // static and sliding friction with their local words
    let foot = contact("foot").friction.as_ref().unwrap();
    let k = index("foot");
    close(value(&model, foot.sticking, &[(Input::StickTime(k), 2.0)]), 0.3 + 0.1 * (-2f64).exp());
    close(
        value(&model, foot.sliding, &[(Input::Slip(k), -3.0), (Input::Direction(k), -1.0)]),
        0.2 + 0.1 * (-3f64).exp(),
    );
    // an event on a play watches both flanks, and its impulse is the sum
    let Trigger::Contact(flanks, _) = &model.events[1].trigger else { panic!() };
    assert_eq!(flanks, &[index("mesh.low"), index("mesh.high")]);
    let at = [(Input::Impulse(flanks[0]), 2.0), (Input::Impulse(flanks[1]), 0.5), (Input::Memory(0), 1.0)];
    close(value(&model, model.events[1].set[0].1, &at), 3.5);
    assert_eq!(model.events.len(), 2 + 3);
}

#[test]
fn stretch_is_put_into_the_law_of_a_force() {
    let model = load(EVERYTHING).model;
    let ForceKind::Along { law, .. } = &model.forces[0].kind else { panic!() };
    let s = 0.3;
    let at = [(Input::Coordinate(1), s), (Input::Velocity(1), -2.0)];
    // −2 s'|s'| − s²
    close(value(&model, law.force.unwrap(), &at), 8.0 - s * s);
    // total: minus spring (s − r) minus damper s'
    let output = model.outputs.iter().find(|o| o.name == "stretch_1").unwrap().value;
    let at = [(Input::Coordinate(1), s), (Input::Velocity(1), -2.0), (Input::Coordinate(2), s)];
    // chain[1].stretch = s; chain[2] has stretch 0, rate 2: force = −2·2·2 − 0 − 100(0 − 0.1) − 2; push 3, motor 1
    close(value(&model, output, &at), s + (-8.0 + 10.0 - 2.0) + 3.0 + 1.0);
}

#[test]
fn a_family_may_refer_to_itself_in_any_order() {
    let text = r#"
[parameters]
n = 5
[coordinates]
x = { for = "i = 1..n", start = "if(i == n, 1, 2*x[i+1])" }
[[body]]
for = "i = 1..n"
name = "b"
mass = 1
position = "x[i]"
"#;
    let model = load(text).model;
    let starts: Vec<f64> = model.coordinates.iter().map(|c| value(&model, c.start, &[])).collect();
    assert_eq!(starts, [16.0, 8.0, 4.0, 2.0, 1.0]);
    let circle = with(text, "if(i == n, 1, 2*x[i+1])", "x[n + 1 - i]");
    assert!(
        super::errors(&circle)[0]
            .message
            .starts_with("start values define each other in a circle: x[1] → x[5] → x[1]")
    );
}

#[test]
fn tables_come_from_csv_through_the_loader() {
    let text = r#"
[coordinates]
x = 0
[define]
f = { csv = "data/force.csv", x = "stroke", y = "F" }
[[body]]
name = "b"
mass = 1
position = "x"
[[force]]
name = "s"
along = "x"
force = "-f(stretch)"
"#;
    let loader = |path: &str| {
        assert_eq!(path, "data/force.csv");
        Ok("# measured\nt;F;stroke\n0;10;0\n1;30;2\n".to_string())
    };
    let model = read_with(text, &Options::default(), &loader).unwrap().model;
    let ForceKind::Along { law, .. } = &model.forces[0].kind else { panic!() };
    close(value(&model, law.force.unwrap(), &[(Input::Coordinate(0), 0.5)]), -15.0);
    for (answer, message) in [
        (Err("no such file".to_string()), "cannot read `data/force.csv`: no such file"),
        (Ok("a,b\n1,2\n".to_string()), "`data/force.csv`: no column `stroke`; its columns are a, b"),
        (Ok("stroke,F\n1,x\n".to_string()), "`data/force.csv`: line 2: `x` is not a number"),
    ] {
        let errors = read_with(text, &Options::default(), &|_| answer.clone()).unwrap_err();
        assert_eq!(errors[0].message, message);
    }
}

#[test]
fn every_key_is_in_the_schema_with_an_explanation() {
    let schema = schema();
    let tables = [
        keys::TOP,
        keys::BODY,
        keys::FORCE,
        keys::CONTACT,
        keys::EVENT,
        keys::RUN,
        keys::START,
        keys::TASK,
        keys::SHAPE,
    ];
    for key in tables.into_iter().flatten() {
        assert!(!key.about.is_empty());
        assert!(schema.contains(&format!("\"{}\": {{\"title\"", key.name)), "{}", key.name);
    }
    // brackets and quotes balance: the text is JSON as far as its nesting goes
    let (mut depth, mut quoted, mut escaped) = (0i32, false, false);
    for c in schema.chars() {
        match (quoted, c) {
            (true, _) if escaped => escaped = false,
            (true, '\\') => escaped = true,
            (_, '"') => quoted = !quoted,
            (false, '{' | '[') => depth += 1,
            (false, '}' | ']') => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0);
    }
    assert_eq!((depth, quoted), (0, false));
}

#[test]
fn every_model_of_the_gallery_is_read() {
    let gallery = concat!(env!("CARGO_MANIFEST_DIR"), "/../../gallery");
    let Ok(folders) = std::fs::read_dir(gallery) else { return };
    for folder in folders.flatten() {
        let path = folder.path();
        let Ok(text) = std::fs::read_to_string(path.join("model.toml")) else { continue };
        let loader = |file: &str| std::fs::read_to_string(path.join(file)).map_err(|e| e.to_string());
        if let Err(errors) = read_with(&text, &Options::default(), &loader) {
            let name = path.display().to_string();
            panic!("{}", errors.iter().map(|d| d.render(&name, &text, &[])).collect::<String>());
        }
    }
}
