//! The twelve messages that matter, and their kin: words and places.

use super::super::diagnostic::Place;
use super::super::{Options, Severity, explain_start, read};
use super::{ROD, TOWER, WOODPECKER, errors, load, marked, with};
use crate::sim::StartError;

fn one(text: &str) -> (String, String, String) {
    let list = errors(text);
    assert_eq!(list.len(), 1, "{}", list.iter().map(|d| d.render("f", text, &[])).collect::<String>());
    (list[0].message.clone(), marked(text, &list[0]).to_string(), list[0].help.clone())
}

#[test]
fn a_velocity_cannot_be_a_key() {
    let text = with(ROD, "phi = { start = \"phi0\", rate = \"w0\" }", "phi = \"30 deg\"\nphi' = 1");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "a velocity cannot be a key of its own");
    assert_eq!(mark, "'");
    assert_eq!(help, "write  phi = { start = \"30 deg\", rate = 1 }");
    let quoted = with(ROD, "[ground]", "\"phi'\" = 1\n[ground]");
    assert_eq!(one(&quoted).0, "a velocity cannot be a key of its own");
}

#[test]
fn an_unknown_name_gets_a_suggestion() {
    let text = with(ROD, "angle    = \"-phi\"", "angle    = \"-fi\"");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "unknown name `fi`");
    assert_eq!(mark, "fi");
    assert_eq!(help, "not a parameter, coordinate, definition or state; did you mean `phi`?");
    let d = &errors(&text)[0];
    assert_eq!(Place::of(&text, d.span).column, 14);
}

#[test]
fn dimensions_that_clash_are_named_with_their_lines() {
    let text = with(ROD, "m*s^2/3", "m + s^2/3");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "area added to mass");
    assert_eq!(mark, "+");
    let line = Place::of(&text, crate::model::Span { start: text.find("m    =").unwrap(), end: 0 }).line;
    assert_eq!(help, format!("`m` is in kg (line {line}), `s^2/3` in m^2"));
}

#[test]
fn a_unit_that_is_also_a_name_is_warned_about() {
    let text = with(ROD, "tip = [\"s\", 0]", "tip = [\"2 m*cos(phi0)\", 0]");
    let loaded = load(&text);
    let d = &loaded.warnings[0];
    assert_eq!(d.severity, Severity::Warning);
    assert_eq!(d.message, "`2 m` is two metres");
    assert_eq!(marked(&text, d), "2 m");
    assert_eq!(d.help, "you also have a parameter `m`; for that write `2*m`");
    assert!(load(ROD).warnings.is_empty(), "quantities alone are no reason to warn");
}

#[test]
fn friction_needs_a_slip_velocity() {
    let text = with(WOODPECKER, "slip        = \"y' + lM*phiM' + (lG - lS)*phiS'\"\n", "");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "friction needs a slip velocity");
    assert_eq!(mark, "friction");
    assert_eq!(
        help,
        "contact `beak` is given by `gap`; add  slip = \"…\"  (a formula linear in the velocities)"
    );
}

#[test]
fn slip_must_be_linear() {
    let text = with(WOODPECKER, "\"y' + rM*phiM'\"", "\"y'^2 + rM*phiM'\"");
    let (message, mark, _) = one(&text);
    assert_eq!(message, "`slip` must be linear in the velocities");
    assert_eq!(mark, "y'^2");
    let product = with(WOODPECKER, "\"y' + rM*phiM'\"", "\"y' + rM*sin(y'*phiM')\"");
    assert_eq!(one(&product).1, "y'*phiM'");
}

const CRANK: &str = r#"
[parameters]
r = "0.1 m"
l = "0.15 m"
[coordinates]
q   = { start = 0.5, rate = "2 rad/s" }
psi = -0.8   # coupler
x   = { guess = "r + l" }
y   = { guess = 0 }
[[body]]
name = "crank"
inertia = 1
angle = "q"
[[body]]
name = "coupler"
on = "crank"
position = ["r", 0]
angle = "psi"
features = { end = ["l", 0] }
[[body]]
name = "slider"
mass = 1
position = ["x", "y"]
[[contact]]
name = "loop"
pin = ["coupler.end", "slider"]
"#;

#[test]
fn a_broken_loop_names_the_coordinate_to_free() {
    let model = load(CRANK).model;
    let d = explain_start(&model, CRANK, &StartError::Apart { contact: "loop".into(), gap: 0.0123 });
    assert_eq!(d.message, "the initial state breaks contact `loop`");
    assert_eq!(marked(CRANK, &d), "psi");
    assert_eq!(d.help, "gap is 0.0123 m; write  psi = { guess = -0.8 }  and it will be solved for");
}

#[test]
fn a_contact_that_starts_inside_names_the_remedy() {
    let text = with(WOODPECKER, "{ guess = -0.1036 }", "-0.1036");
    let model = load(&text).model;
    let d = explain_start(
        &model,
        &text,
        &StartError::Inside { contact: "lower".into(), depth: 8.8e-7, moved_by: Vec::new() },
    );
    assert_eq!(d.message, "contact `lower` starts 8.80e-7 m inside");
    assert_eq!(marked(&text, &d), "-0.1036");
    assert_eq!(d.help, "list it in  [start] closed = [\"lower\"]  and make phiM a guess, or start outside");
}

#[test]
fn a_coordinate_that_moves_nothing_is_refused() {
    let text = with(CRANK, "[[contact]]\nname = \"loop\"\npin = [\"coupler.end\", \"slider\"]\n", "");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "nothing with mass moves with `psi`, and no pin or bilateral contact holds it");
    assert_eq!(mark, "psi");
    assert_eq!(help, "give coupler an inertia, or close the loop");
}

#[test]
fn circles_of_parameters_show_the_circle() {
    let text = "[parameters]\nc1 = \"2*c2\"\nc2 = \"c1/2\"\n[coordinates]\nx = 0\n";
    let (message, mark, _) = one(text);
    assert_eq!(message, "parameters define each other in a circle: c1 → c2 → c1");
    assert_eq!(mark, "c1");
    assert_eq!(errors(text)[0].span.start, text.rfind("c1").unwrap());
}

#[test]
fn an_index_outside_names_the_member_and_its_bound() {
    let text = with(TOWER, "n  = 10", "n  = 11");
    let list = errors(&text);
    let d = &list[0];
    assert_eq!(d.message, "`mu[11]` is outside mu[1..10]");
    assert_eq!(marked(&text, d), "mu[i]");
    let line = Place::of(&text, crate::model::Span { start: text.find("n  = 11").unwrap(), end: 0 }).line;
    assert_eq!(d.help, format!("in face[11]; n is 11 (line {line})"));
}

#[test]
fn a_tensor_that_creates_energy_is_refused() {
    let text = with(ROD, "friction    = \"mu\"", "friction    = [[0.2, 0.5], [-0.1, 0.01]]");
    let (message, mark, help) = one(&text);
    assert_eq!(message, "friction tensor of `tip` creates energy");
    assert_eq!(mark, "[[0.2, 0.5], [-0.1, 0.01]]");
    // eigenvalues of [[0.2, 0.2], [0.2, 0.01]]: 0.105 ± √(0.095² + 0.2²)
    assert_eq!(help, "its symmetric part has the eigenvalue -0.12; all must be ≥ 0");
}

/// A formula that cannot be read is one mistake, not also a missing value.
#[test]
fn friction_that_cannot_be_read_is_reported_once() {
    for table in ["{ regular = \"mu mu\" }", "{ static = \"mu mu\" }"] {
        let text = with(ROD, "friction    = \"mu\"", &format!("friction    = {table}"));
        assert_eq!(one(&text).0, "an operator is missing before `mu`");
    }
}

#[test]
fn other_slips_are_explained() {
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        (ROD, "mass     = \"m\"", "mas      = \"m\"", "unknown key `mas` in [[body]]", "mas"),
        (ROD, "name        = \"tip\"", "name        = \"rod\"", "the name `rod` is used twice", "\"rod\""),
        (ROD, "phi0 = \"30 deg\"", "t = \"30 deg\"", "`t` is reserved", "t"),
        (
            ROD,
            "\"rod.tip\", \"ground.floor\"",
            "\"rod.tipp\", \"ground.floor\"",
            "body `rod` has no feature `tipp`",
            "tipp",
        ),
        (
            ROD,
            "\"rod.tip\", \"ground.floor\"",
            "\"rod.tip\", \"rod.top\"",
            "both features belong to the same body",
            "rod.top",
        ),
        (
            ROD,
            "\"rod.tip\", \"ground.floor\"",
            "\"rodd.tip\", \"ground.floor\"",
            "unknown body `rodd`",
            "rodd",
        ),
        (ROD, "closed = [\"tip\"]", "closed = [\"tup\"]", "unknown contact `tup`", "\"tup\""),
        (ROD, "restitution = 0", "restitution = 2", "a coefficient of restitution is 2", "2"),
        (ROD, "mass     = \"m\"", "mass     = \"-m\"", "the mass of `rod` is -1", "-m"),
        (ROD, "mass     = \"m\"", "mass     = \"s\"", "the mass of `rod` must be in kg, this is in m", "s"),
        (ROD, "until = \"1 s\"", "until = \"1 kg\"", "the end time must be in s, this is in kg", "1 kg"),
        (ROD, "until = \"1 s\"", "until = \"-1 s\"", "the end time is -1", "-1 s"),
        (ROD, "until = \"1 s\"", "until = \"t\"", "the end time must be constant", "t"),
        (
            ROD,
            "position = [\"x\", \"y\"]",
            "position = [\"x\", \"phi'*1\"]",
            "a position cannot depend on the velocity `phi'`",
            "phi'*1",
        ),
        (
            ROD,
            "position = [\"x\", \"y\"]",
            "position = [\"x\", \"y\", 0, 1]",
            "`position` of body `rod` has 4 entries",
            "position",
        ),
        (
            ROD,
            "analyse = \"painleve\"",
            "analyse = \"painlevé\"",
            "unknown analysis `painlevé`",
            "\"painlevé\"",
        ),
        (ROD, "contact = \"tip\"", "contact = \"tp\"", "unknown contact `tp`", "\"tp\""),
        (ROD, "phi0 = [\"1 deg\"", "phi1 = [\"1 deg\"", "there is no parameter `phi1`", "phi1"),
        (ROD, "force = \"tip.normal\"", "force = \"tip.norm\"", "`tip` has no part `norm`", "norm"),
        (ROD, "force = \"tip.normal\"", "force = \"rod.tip\"", "`tip` of body `rod` is not a number", "tip"),
        (ROD, "m    = \"1 kg\"", "m    = 1 kg", "cannot read this line", ""),
        (
            WOODPECKER,
            "spring = \"c\"",
            "spring = \"c*beak.normal\"",
            "`beak.normal` is not known here",
            "beak.normal",
        ),
        (
            WOODPECKER,
            "direction = \"up\"",
            "direction = \"upp\"",
            "unknown word `upp` for `direction`",
            "\"upp\"",
        ),
        (
            TOWER,
            "i = 1..n\"\nname     = \"block\"",
            "i = 1..x[1]\"\nname     = \"block\"",
            "`x[1]` is not constant",
            "x[1]",
        ),
        (
            TOWER,
            "for      = \"i = 1..n\"",
            "for      = \"i = 1..1e9\"",
            "a family of 1000000000 members",
            "1e9",
        ),
        (TOWER, "mu[i]", "mu[1e300]", "an index must be a whole number", "1e300"),
    ];
    for (text, old, new, message, mark) in cases {
        let text = with(text, old, new);
        let list = errors(&text);
        let first = &list[0];
        assert!(first.message.starts_with(message), "{}", first.render("f", &text, &[]));
        if !mark.is_empty() {
            assert_eq!(marked(&text, first), *mark, "{}", first.render("f", &text, &[]));
        }
    }
}

/// A train of `count` wheels; `I` and `K` are lists.
fn train(inertia: &str, stiffness: &str, count: &str, rest: &str) -> String {
    format!(
        r#"
        [parameters]
        n = 3
        I = {inertia}
        K = {stiffness}
        [coordinates]
        x = {{ for = "i = 1..{count}", start = 0, rate = 1 }}
        [[body]]
        for     = "i = 1..{count}"
        name    = "wheel"
        inertia = "I[i]"
        angle   = "x[i]"
        [[force]]
        for   = "i = 1..2"
        name  = "spring"
        along = "x[i] + sum(j = 1..2, 0*K[i][j])"
        force = "-K[i][1]*stretch"
        [run]
        until = 1
        {rest}
        "#
    )
}

/// Regression: a fourth inertia of three wheels was left out in silence.
#[test]
fn an_entry_of_a_list_that_nothing_reads_is_an_error_at_its_place() {
    const K: &str = "[[1, 2], [3, 4]]";
    let refused = |text: &str, message: &str, mark: &str, last: &str| {
        let (found, place, help) = one(text);
        assert_eq!((found.as_str(), place.as_str()), (message, mark), "{help}");
        assert!(help.contains(last), "{help}");
    };
    load(&train("[1, 2, 3]", K, "3", ""));
    refused(&train("[1, 2, 3, 7.5]", K, "3", ""), "nothing reads `I[4]`", "7.5", "[3]");
    refused(&train("[1, 2, 3]", "[[1, 2, 7.5], [3, 4]]", "3", ""), "nothing reads `K[1][3]`", "7.5", "[2]");
    refused(
        &train("[1, 2, 3]", "[[1, 2], [3, 4], [5, 6]]", "3", ""),
        "nothing reads `K[3]`",
        "[5, 6]",
        "[2]",
    );
    let define = "[define]\n\"f(k)\" = \"J[k]\"\n[output]\no = \"f(1) + sum(j = 1..2, f(j))\"\n";
    let text = train("[1, 2, 3]", K, "3", define);
    load(&with(&text, "n = 3", "J = [1, 2]"));
    refused(&with(&text, "n = 3", "J = [1, 2, 7.5]"), "nothing reads `J[3]`", "7.5", "[2]");
    // also where it comes from a case or from --set
    let case = |name: Option<&str>| Options { case: name.map(Into::into), ..Options::default() };
    let text = train("[1, 2, 3]", K, "3", "[case.four]\nI = [1, 2, 3, 7.5]");
    assert!(read(&text, &case(None)).is_ok());
    let found = read(&text, &case(Some("four"))).unwrap_err();
    assert_eq!((found[0].message.as_str(), marked(&text, &found[0])), ("nothing reads `I[4]`", "7.5"));
    let options = Options { set: vec![("I".into(), "[1, 2, 3, 4]".into())], ..Options::default() };
    let found = read(&train("[1, 2, 3]", K, "3", ""), &options).unwrap_err();
    assert_eq!(found[0].message, "nothing reads `I[4]`");
    // a family whose length is a parameter may be shorter than its data, and what is named anywhere is read
    load(&train("[1, 2, 3, 4]", K, "n", ""));
    load(&train("[1, 2, 3, 4]", K, "3", "[output]\nspare = \"if(n > 5, I[4], 0)\""));
}

/// Regression: the first of these was left out in silence, the others were a sentence without a place, and a crash.
#[test]
fn parts_of_space_in_a_planar_model_are_errors_at_their_place() {
    const DISC: &str = r#"
        coordinates = { x = { rate = 1 }, y = 0, phi = 0 }
        run = { until = 1 }
        [[body]]
        name     = "disc"
        mass     = 1
        inertia  = 2
        center   = [0, 0]
        position = ["x", "y"]
        angle    = "phi"
    "#;
    load(DISC);
    for (old, new, message, mark) in [
        ("center   = [0, 0]", "center = [0, 0, 3]", "`center` of body `disc` has three entries", "0"),
        (
            "center   = [0, 0]",
            "center = [0, 0, 3, 4]",
            "`center` has two entries, or three in space",
            "[0, 0, 3, 4]",
        ),
        ("center   = [0, 0]", "center = [4]", "`center` has two entries, or three in space", "[4]"),
        ("inertia  = 2", "inertia = [2, 3, 4]", "`inertia` of body `disc` is a list", "[2, 3, 4]"),
        (
            "    [[body]]",
            "force = [{ at = \"disc\", force = [1, 2, 3] }]\n[[body]]",
            "this force has three entries",
            "1",
        ),
        (
            "    [[body]]",
            "force = [{ on = \"disc\", torque = [1, 2, 3] }]\n[[body]]",
            "this torque has a direction",
            "1",
        ),
        (
            "    [[body]]",
            "force = [{ on = \"disc\", torque = 5, axis = [0, 0, 1] }]\n[[body]]",
            "this torque has a direction",
            "0",
        ),
    ] {
        let text = with(DISC, old, new);
        let (found, place, help) = one(&text);
        assert!(found.starts_with(message), "{found}");
        assert_eq!(place, mark, "{found}");
        assert!(!help.is_empty());
    }
}

#[test]
fn several_errors_are_reported_at_once() {
    let text = with(
        &with(ROD, "angle    = \"-phi\"", "angle    = \"-fi\""),
        "mass     = \"m\"",
        "mass     = \"mm\"",
    );
    let text = with(&text, "friction    = \"mu\"", "friction    = \"mo\"");
    let found: Vec<String> = errors(&text).into_iter().map(|d| d.message).collect();
    assert_eq!(found, ["unknown name `fi`", "unknown name `mm`", "unknown name `mo`"]);
}

/// What moves is not known where parameters are made: every kind of name is refused at its place, and nothing is left out.
#[test]
fn a_parameter_may_use_parameters_only() {
    const MODEL: &str = r#"
        name = "everything"
        coordinates = { x = 0, y = 1 }
        memory = { n = 0 }
        states = { E = { start = 0, rate = "k*x" } }
        define = { d = "x + k" }
        ground = { floor = { through = [0, 0], normal = [0, 1] } }
        body = [{ name = "ball", mass = "k", position = ["x", "y"] }]
        force = [{ name = "pull", along = "x", force = "-k*x" }]
        contact = [{ name = "bounce", between = ["ball", "ground.floor"], restitution = "k" }]
        event = [{ name = "mark", crossing = "x - k" }]
        output = { o = "k*x" }
        [parameters]
        k = "VALUE"
    "#;
    for (value, mark, noun) in [
        ("2*x", "x", "a coordinate"),
        ("1 + x'", "x'", "a coordinate"),
        ("n", "n", "a memory"),
        ("sin(E)", "E", "a state"),
        ("1 m/ball", "ball", "a body"),
        ("ball.x", "ball.x", "a body"),
        ("pull.force", "pull.force", "a force"),
        ("bounce.gap", "bounce.gap", "a contact"),
        ("3*t", "t", "time"),
    ] {
        let text = MODEL.replace("VALUE", value);
        let (message, marked, help) = one(&text);
        assert_eq!((message, marked.as_str()), (format!("`{mark}` is not constant"), mark), "{value}");
        assert!(help.contains(noun), "{value}: {help}");
        // the same as an override
        let options = super::super::Options { set: vec![("k".into(), value.into())], ..Default::default() };
        let list = super::super::read(&MODEL.replace("VALUE", "0.5"), &options).unwrap_err();
        assert_eq!(list[0].message, format!("`{mark}` is not constant"), "--set k={value}");
    }
    // through a definition
    let list = errors(&MODEL.replace("VALUE", "d"));
    assert!(list.iter().any(|e| e.message == "`x` is not constant"), "{list:?}");
    assert!(load(&MODEL.replace("VALUE", "0.5")).warnings.is_empty());
}
