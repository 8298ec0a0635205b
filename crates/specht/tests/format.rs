//! Format items of machines: chains, integrals, tables of two arguments, phases.

use specht::machine::Machine;
use specht::system::{Discrete, System};

fn value(definition: &str, formula: &str) -> f64 {
    let text = format!(
        "coordinates = {{ x = 0.3 }}\nbody = [{{ name = \"b\", mass = \"1 kg\", position = \"x\" }}]\n\
         output = {{ y = {formula:?} }}\nrun = {{ until = \"1 ms\" }}\n{definition}\n"
    );
    let machine = Machine::read(&text).unwrap_or_else(|e| panic!("{e}"));
    machine.run().unwrap().series("y").unwrap()[0]
}

fn refused(text: &str) -> String {
    Machine::read(text).map(|_| ()).expect_err(text).to_string()
}

/// A chain of n equal links hanging from the ground, one text for any n: its mass matrix is that of the multiple pendulum in relative
/// angles, and the links of the family stand on each other.
#[test]
fn a_chain_is_one_family_whose_first_member_stands_on_the_ground() {
    let text = r#"
gravity = [0, -9.81]
parameters = { n = 4, l = "0.5 m", m = "2 kg" }
coordinates = { phi = { for = "i = 1..n", start = "0.2*i" } }
run = { until = "0.1 s" }
[[body]]
name = "link"
for = "i = 1..n"
on = ["ground", "link[i-1]"]
position = ["if(i == 1, 0, l)", 0]
angle = "phi[i]"
mass = "m"
center = ["l", 0]
"#;
    for n in [1, 2, 4, 7] {
        let machine = Machine::read(text).unwrap().with("n", n as f64).unwrap();
        let system = machine.system();
        let state = machine.start().unwrap();
        let mut eval = system.memory();
        system.evaluate(&state, &Discrete::new(&system.dims()), &mut eval);
        // particles at the ends of the links: ∂r_k/∂φ_i = e_z × (r_k − r_{i−1})
        let angle = |k: usize| (0..=k).map(|i| 0.2 * (i as f64 + 1.0)).sum::<f64>();
        let mut at = vec![[0.0, 0.0]];
        for k in 0..n {
            let [x, y] = at[k];
            at.push([x + 0.5 * angle(k).cos(), y + 0.5 * angle(k).sin()]);
        }
        for i in 0..n {
            for j in 0..=i {
                let arm = |k: usize, i: usize| [at[k + 1][0] - at[i][0], at[k + 1][1] - at[i][1]];
                let terms = (i..n).map(|k| {
                    let (a, b) = (arm(k, i), arm(k, j));
                    2.0 * (a[0] * b[0] + a[1] * b[1])
                });
                let expected: f64 = terms.sum();
                assert!((eval.mass[(i, j)] - expected).abs() < 1e-13, "n = {n}, ({i}, {j})");
            }
        }
    }
    let circle = text.replace("\"ground\", \"link[i-1]\"", "\"link[n]\", \"link[i-1]\"");
    assert!(refused(&circle).contains("in a circle"));
    let single =
        text.replace("for = \"i = 1..n\"\non", "on").replace("phi[i]", "phi[1]").replace("i == 1", "n == 1");
    assert!(refused(&single).contains("only a family"));
}

/// Was: an index out of range, without a word on how a chain begins.
#[test]
fn a_chain_without_a_first_place_is_told_how_to_write_it() {
    let text = r#"
parameters = { n = 3 }
run        = { until = 1 }
coordinates = { q = { for = "i = 1..n", start = 0 } }
[[body]]
for = "i = 1..n"
name = "link"
on = "link[i-1]"
position = [1, 0]
angle = "q[i]"
mass = 1
inertia = 1
"#;
    let said = refused(text);
    assert!(said.contains("on = [\"ground\", \"link[i-1]\"]"), "{said}");
}

/// Was: an unknown function that was probably meant to be itself.
#[test]
fn a_table_with_a_fault_is_told_once() {
    let text = r#"
coordinates = { x = 0 }
define      = { pump = { table = [[0, 0], [2, 1], [1, 3]] } }
body        = [{ name = "b", mass = 1, position = "x" }]
force       = [{ name = "f", along = "x", force = "-pump(x)" }]
run         = { until = 1 }
"#;
    let said = refused(text);
    assert!(said.contains("falls from 2 to 1") && !said.contains("unknown"), "{said}");
}

#[test]
fn a_mode_by_its_word_is_told_the_number() {
    let text = r#"
coordinates = { x = { rate = 1 } }
body        = [{ name = "b", mass = 1, position = "x" }]
contact     = [{ name = "rub", slip = "x'", friction_force = 1 }]
phase       = [{ name = "stuck", when = "rub.mode == stick" }]
run         = { until = 1 }
"#;
    assert!(refused(text).contains("1 stick"), "{}", refused(text));
}

#[test]
fn integrals_are_those_of_the_calculus() {
    let close = |formula: &str, expected: f64| {
        let found = value("parameters = { L = 2, k = 3 }", formula);
        assert!((found - expected).abs() < 1e-13 * (1.0 + expected.abs()), "{formula}: {found} {expected}");
    };
    close("integral(s = 0..L, s^2)", 8.0 / 3.0);
    close("integral(s = 0..L, sin(k*s)^2)", 1.0 - 12f64.sin() / 12.0);
    close("integral(s = L..0, exp(s))", 1.0 - 2f64.exp());
    // limits and the integrand may move: ∫₀ˣ (x − s) ds = x²/2
    close("integral(s = 0..x/1 m, x/1 m - s)", 0.045);
    // nested, and a name is bound only inside
    close("integral(s = 0..1, integral(t1 = 0..s, t1)) + sum(i = 1..3, i)", 1.0 / 6.0 + 6.0);
    let wrong = "coordinates = { x = 0 }\nbody = [{ name = \"b\", mass = \"1 kg\", position = \"x\" }]\noutput = { y = \"integral(s, 0, 1)\" }";
    assert!(refused(wrong).contains("integral(x = 0..L, f(x))"));
    // the dimension is that of the product
    let wrong = "coordinates = { x = 0 }\nparameters = { L = \"2 m\" }\n[[body]]\nname = \"b\"\nposition = \"x\"\nmass = \"integral(s = 0..L, s)\"";
    assert!(refused(wrong).contains("m^2"), "{}", refused(wrong));
}

/// Linear in each argument between the points; held, extended or repeated beyond.
#[test]
fn tables_of_two_arguments_are_linear_in_each_between_the_points() {
    let table = |ends: &str| {
        format!(
            "[define]\nf = {{ table = [[0, 0, 1], [2, 0, 3], [0, 1, 5], [2, 1, -1], [0, 3, 0], [2, 3, 2]], ends = \"{ends}\" }}"
        )
    };
    // at y = 0.5: 3 and 1 at the ends of x
    for (ends, x, y, expected) in [
        ("hold", 0.5, 0.5, 2.5),
        ("hold", 1.0, 2.0, (2.0 + 1.0) / 2.0),
        ("hold", 2.0, 3.0, 2.0),
        ("hold", -1.0, 0.5, 3.0),
        ("hold", 5.0, 9.0, 2.0),
        ("extend", -1.0, 0.0, 0.0),
        ("extend", 0.0, -1.0, -3.0),
        ("repeat", 2.5, 0.5, 2.5),
    ] {
        let found = value(&table(ends), &format!("f({x}, {y})"));
        assert!((found - expected).abs() < 1e-14, "{ends} ({x}, {y}): {found} {expected}");
    }
    let model = |define: &str| {
        format!(
            "coordinates = {{ x = 0 }}\n[[body]]\nname = \"b\"\nposition = \"x\"\nmass = \"1 kg\"\n[[force]]\nalong = \"x\"\nforce = \"f(1, 2)\"\n[define]\nf = {define}\n"
        )
    };
    assert!(refused(&model("{ table = [[0, 0, 1], [1, 0, 1], [0, 1, 1]] }")).contains("form no grid"));
    assert!(
        refused(&model("{ table = [[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1], [1, 1, 2]] }"))
            .contains("two points at (1, 1)")
    );
    assert!(refused(&model("{ table = [[0, 0, 1], [1, 0]] }")).contains("three entries"));
    assert!(refused(&model("{ table = [[0, 1], [1, 0]] }")).contains("one argument"));
}

/// A body under constant gravity: above 0.4 m and rising; both ends of the phase have closed forms.
#[test]
fn phases_begin_and_end_where_their_condition_does() {
    let text = r#"
gravity = [0, -10]
coordinates = { y = { start = 0, rate = "4 m/s" } }
[[body]]
name = "ball"
mass = "1 kg"
position = [0, "y"]
[[phase]]
name = "high"
when = "y > 0.35 m"
[[phase]]
name = "rising_high"
when = "y > 0.35 m and y' > 0"
[[phase]]
name = "low"
when = "not y > 0.35 m"
[run]
until = "1 s"
"#;
    let run = Machine::read(text).unwrap().run().unwrap();
    let record = serde_json::to_value(run.record()).unwrap();
    let (up, down) = (0.1, 0.7);
    for (name, spells) in
        [("high", vec![(up, down)]), ("rising_high", vec![(up, 0.4)]), ("low", vec![(0.0, up), (down, 1.0)])]
    {
        let found = record["phases"][name].as_array().unwrap();
        assert_eq!(found.len(), spells.len(), "{name}: {found:?}");
        for (f, (from, to)) in found.iter().zip(spells) {
            assert!((f["from"].as_f64().unwrap() - from).abs() < 1e-9, "{name}: {f}");
            assert!((f["to"].as_f64().unwrap() - to).abs() < 1e-9, "{name}: {f}");
        }
    }
    let names: Vec<&str> =
        record["events"].as_array().unwrap().iter().filter_map(|e| e["name"].as_str()).collect();
    assert!(names.contains(&"high") && names.contains(&"high.end"), "{names:?}");
    assert!(refused(&text.replace("y > 0.35 m and y' > 0", "y")).contains("needs a condition"));
}

/// Whether a level is just above or just below zero at its own event is rounding: times come from the events, whatever is recorded.
#[test]
fn times_of_phases_do_not_depend_on_rounding_at_the_border() {
    for k in 0..40 {
        let border = 0.05 + 0.017 * f64::from(k);
        let text = format!(
            "gravity = [0, -10]\ncoordinates = {{ y = {{ start = 0, rate = \"4 m/s\" }} }}\nrun = {{ until = \"1 s\", every = \"0.3 s\" }}\n\
             [[body]]\nname = \"ball\"\nmass = \"1 kg\"\nposition = [0, \"y\"]\n\
             [[phase]]\nname = \"high\"\nwhen = \"y > {border}\"\n"
        );
        let run = Machine::read(&text).unwrap().run().unwrap();
        let record = serde_json::to_value(run.record()).unwrap();
        let [spell] = record["phases"]["high"].as_array().unwrap().as_slice() else { panic!("{border}") };
        let half = (16.0 - 20.0 * border).sqrt() / 10.0;
        assert!((spell["from"].as_f64().unwrap() - (0.4 - half)).abs() < 1e-9, "{border}: {spell}");
        assert!((spell["to"].as_f64().unwrap() - (0.4 + half)).abs() < 1e-9, "{border}: {spell}");
    }
}

/// The help for a function of time says how a model without units is written.
#[test]
fn a_dimensionless_model_is_told_how_to_write_sin_of_t() {
    let text = |arg: &str| {
        format!(
            "coordinates = {{ x = 0 }}\n[[body]]\nname = \"b\"\nposition = \"x\"\nmass = 1\n[[force]]\nalong = \"x\"\nforce = \"sin({arg})\"\n"
        )
    };
    assert!(refused(&text("t")).contains("sin(t/1 s)"), "{}", refused(&text("t")));
    Machine::read(&text("t/1 s")).unwrap();
}

/// A magnet on a spring: current of a coil with a tiny inductance, far from its start. Rest is U/R, and the spring holds k U/R.
#[test]
fn an_equilibrium_has_first_order_states_of_any_size() {
    for (l, u) in [(1e-9, 3e4), (2.0, 1e-6)] {
        let text = format!(
            r#"
parameters = {{ U = {u}, R = 7, L = {l}, k = 0.2, c = 40 }}
coordinates = {{ x = {{ guess = 0 }} }}
states = {{ i = {{ start = 0, rate = "(U - R*i - k*x')/L" }} }}
body = [{{ name = "armature", mass = "0.1 kg", position = "x" }}]
force = [
  {{ name = "spring", along = "x", spring = "c" }},
  {{ name = "magnet", along = "x", force = "k*i" }},
]
start = {{ equilibrium = true }}
run = {{ until = "1 ms" }}
"#
        );
        let state = Machine::read(&text).unwrap_or_else(|e| panic!("{e}")).start().unwrap();
        let current = u / 7.0;
        assert!((state.z[0] - current).abs() < 1e-12 * current, "{} {current}", state.z[0]);
        assert!((state.q[0] - 0.2 * current / 40.0).abs() < 1e-12 * current, "{}", state.q[0]);
    }
}

/// A free beam with one bending mode is pushed at a point: the mode is an oscillator of its mass, frequency and damping driven by the shape at
/// that point, the rigid motion that of a rigid body.
#[test]
fn an_elastic_body_is_its_rigid_motion_and_its_modes() {
    let text = r#"
parameters = { f = "3 Hz", D = 0.05, m1 = "4 kg", s = 0.7, F = "20 N" }
coordinates = { x = 0, y = 0, phi = 0, q = 0 }
[[body]]
name = "beam"
mass = "10 kg"
inertia = "2 kg*m^2"
position = ["x", "y"]
angle = "phi"
features = { tip = ["1 m", 0], middle = [0, 0] }
modes = [{ coordinate = "q", frequency = "f", damping = "D", mass = "m1", shape = { tip = [0, "s"], middle = [0, -0.4] } }]
[[force]]
name = "push"
at = "beam.tip"
force = [0, "F"]
axes = "body"
[run]
until = "0.4 s"
tolerance = 1e-11
[output]
bend = "beam.middle.y - y - 0*q"
"#;
    let run = Machine::read(text).unwrap_or_else(|e| panic!("{e}")).run().unwrap();
    let last = &run.trajectory.last.state;
    let t = last.t;
    // q̈ + 2 D ω q̇ + ω² q = s F / m1 from rest
    let (w, d) = (std::f64::consts::TAU * 3.0, 0.05f64);
    let wd = w * (1.0 - d * d).sqrt();
    let q = 0.7 * 20.0 / (4.0 * w * w)
        * (1.0 - (-d * w * t).exp() * ((wd * t).cos() + d * w / wd * (wd * t).sin()));
    assert!((last.q[3] - q).abs() < 1e-9, "{} {q}", last.q[3]);
    // the arm of the force does not change: it acts along the shape
    assert!((last.q[2] - 0.5 * 20.0 / 2.0 * t * t).abs() < 1e-9, "{}", last.q[2]);
    let bend = run.series("bend").unwrap();
    let expected = -0.4 * q * last.q[2].cos();
    assert!((bend[bend.len() - 1] - expected).abs() < 1e-9, "{} {expected}", bend[bend.len() - 1]);
    assert!(run.audit().passed);
    assert!(refused(&text.replace("tip = [0, \"s\"]", "top = [0, \"s\"]")).contains("no feature `top`"));
    assert!(refused(&text.replace("frequency = \"f\"", "frequency = 0")).contains("it must be positive"));
    assert!(
        refused(&text.replace("coordinate = \"q\"", "coordinate = \"2*q\"")).contains("not a coordinate")
    );
}

/// A block on a level, thrown; the sole fades with its heat: μ = μ₀ exp(−a Q). With dQ = μ m g dx the way to rest is
/// (exp(a E) − 1)/(a μ₀ m g), E the kinetic energy of the throw, all of which ends as heat.
const FADING: &str = r#"
gravity = [0, -10]
parameters = { m = "2 kg", mu = 0.4, v = "3 m/s", a = "0.1 1/J", C = "50 J/K" }
coordinates = { x = { rate = "v" }, y = 0 }
ground = { plane = { through = [0, 0], normal = [0, 1] } }
body = [{ name = "block", mass = "m", position = ["x", "y"] }]
contact = [{ name = "sole", between = ["block", "ground.plane"], friction = "mu*exp(-a*sole.heat)" }]
states = { T = { start = "293 K", rate = "sole.heat'/C" } }
output = { Q = "sole.heat", P = "sole.heat'" }
run = { until = "3 s" }
"#;

#[test]
fn what_friction_takes_is_the_heat_of_its_contact() {
    for scheme in ["", "scheme = \"step\", step = \"0.2 ms\", "] {
        let text = FADING.replace("until", &format!("{scheme}until"));
        for (m, mu, v, a) in [(2.0, 0.4, 3.0, 0.1), (0.7, 0.25, 2.0, -0.2)] {
            let machine = Machine::read(&text).unwrap_or_else(|e| panic!("{e}"));
            let set = [("m", m), ("mu", mu), ("v", v), ("a", a)];
            let run =
                set.into_iter().fold(machine, |m, (name, value)| m.with(name, value).unwrap()).run().unwrap();
            let last = |what: &str| *run.series(what).unwrap().last().unwrap();
            let energy = 0.5 * m * v * v;
            let way = (f64::exp(a * energy) - 1.0) / (a * mu * m * 10.0);
            let tolerance = if scheme.is_empty() { 1e-8 } else { 2e-4 };
            assert!((last("Q") / energy - 1.0).abs() < tolerance, "{scheme}: {} of {energy} J", last("Q"));
            assert!((last("x") / way - 1.0).abs() < 10.0 * tolerance, "{scheme}: {} of {way} m", last("x"));
            assert!((last("T") - 293.0 - energy / 50.0).abs() < tolerance * energy / 50.0);
            assert_eq!(last("P"), 0.0);
            // a step has forces at its end
            let first = run.series("P").unwrap()[usize::from(!scheme.is_empty())];
            assert!((first / (mu * m * 10.0 * v) - 1.0).abs() < 10.0 * tolerance, "{scheme}: {first} W");
        }
    }
}

/// A ball falls from h and rebounds with e: the first impact gives (1 − e²) m g h at once, and states whose rates have a share of the
/// heat take theirs.
#[test]
fn what_an_impact_takes_is_heat_at_once() {
    let text = r#"
gravity = [0, -10]
coordinates = { y = "0.8 m" }
ground = { plane = { through = [0, 0], normal = [0, 1] } }
body = [{ name = "ball", mass = "3 kg", position = [0, "y"] }]
contact = [{ name = "hit", between = ["ball", "ground.plane"], restitution = 0.6 }]
states = { T = { start = 20, rate = "(hit.heat' - 2*(T - 20))/40" } }
output = { Q = "hit.heat" }
run = { until = "0.6 s", impact = "newton" }
"#;
    for scheme in ["", "scheme = \"step\", step = \"0.1 ms\", "] {
        let run = Machine::read(&text.replace("until", &format!("{scheme}until"))).unwrap().run().unwrap();
        let last = |what: &str| *run.series(what).unwrap().last().unwrap();
        let (fall, heat) = (f64::sqrt(2.0 * 0.8 / 10.0), (1.0 - 0.36) * 3.0 * 10.0 * 0.8);
        let tolerance = if scheme.is_empty() { 1e-9 } else { 1e-3 };
        assert!((last("Q") / heat - 1.0).abs() < tolerance, "{scheme}: {} of {heat} J", last("Q"));
        let cooled = heat / 40.0 * f64::exp(-(0.6 - fall) / 20.0);
        assert!(
            ((last("T") - 20.0) / cooled - 1.0).abs() < tolerance,
            "{scheme}: {} of {cooled} K",
            last("T")
        );
    }
}

#[test]
fn heat_is_refused_where_it_would_be_its_own_cause() {
    let force = FADING.replace("run =", "force = [{ at = \"block\", force = [\"0.1*T'\", 0] }]\nrun =");
    assert!(refused(&force).contains("rate contains the heat of a contact"), "{}", refused(&force));
    let squared = FADING.replace("sole.heat'/C", "sole.heat'^2");
    assert!(refused(&squared).contains("linear in the heat"), "{}", refused(&squared));
    let direct = FADING.replace("mu*exp(-a*sole.heat)", "mu + 0.001*sole.heat'");
    assert!(refused(&direct).contains("rate contains the heat of a contact"), "{}", refused(&direct));
}

/// A bound says what is wrong with the number that breaks it; a pair of names is shown as one.
#[test]
fn messages_say_what_is_wrong_with_a_number_and_show_what_to_write() {
    let block = |mu: &str, pair: &str| {
        format!(
            "coordinates = {{ x = 0, y = 0 }}\nground = {{ floor = {{ through = [0, 0], normal = [0, 1] }} }}\nrun = {{ until = 1 }}\n\
             body = [{{ name = \"b\", mass = 1, position = [\"x\", \"y\"] }}]\n\
             contact = [{{ name = \"c\", between = {pair}, friction = {mu} }}]\n"
        )
    };
    let pair = "[\"b\", \"ground.floor\"]";
    assert!(refused(&block("inf", pair)).contains("it must be a finite number"));
    assert!(refused(&block("-0.1", pair)).contains("it cannot be negative"));
    let message = refused(&block("0.1", "[\"b\"]"));
    assert!(message.contains("`between` must have two entries"), "{message}");
    assert!(message.contains("[\"a.p\", \"b.q\"]"), "{message}");
    // names of single corners belong to results
    let message = refused(&(block("0.1", pair) + "output = { n = \"c[1].normal\" }\n"));
    assert!(message.contains("`c` is one contact in formulas"), "{message}");
    assert!(message.contains("`c.normal`"), "{message}");
}
