//! Contacts in space whose forces are not unique, or nothing, at an instant; against closed forms.

use specht::machine::finding::{Certificate, Finding, RestFinding};
use specht::machine::task::Task;
use specht::model::TaskValue;
use specht::prelude::*;

const G: f64 = 9.81;

fn machine(text: &str) -> Machine {
    Machine::read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn gallery(name: &str) -> Machine {
    let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
    machine(&std::fs::read_to_string(path).unwrap())
}

fn run(m: &Machine) -> Run {
    let run = m.run().unwrap_or_else(|e| panic!("{e}"));
    assert!(run.audit().passed, "{:?}", run.audit());
    run
}

#[track_caller]
fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

#[track_caller]
fn all_close(a: &[f64], b: &[f64], within: f64) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| close(*a, *b, within));
}

/// A plate of 1 kg on the points (±1, ±1), its centre at (x, 0).
fn plate(x: f64) -> String {
    let contact = |p: &str| {
        format!("[[contact]]\nname = \"{p}\"\nbetween = [\"b.{p}\", \"ground.floor\"]\nfriction = 0.5\n")
    };
    let contacts: String = ["p", "q", "r", "s"].map(contact).concat();
    format!(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = 0
        y = 0
        z = 0
        [ground]
        floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "b"
        mass = 1
        inertia = [1, 1, 1]
        center = [{x}, 0, 0]
        position = ["x", "y", "z"]
        rotation = "free"
        features = {{ p = [1, 1, 0], q = [-1, 1, 0], r = [-1, -1, 0], s = [1, -1, 0] }}
        {contacts}
        [run]
        until = 0.1
        "#
    )
}

/// The forces of the start were those of the first sweep over the contacts: 3.27, 1.635, 3.27, 1.635 N under a plate in the middle of its points. Least
/// forces of a rigid plate are linear over it, (m g/4)(1 ± x); what is left free is s (1, −1, 1, −1).
#[test]
fn a_plate_on_four_points_starts_with_the_least_forces_and_their_intervals() {
    for x in [0.0, 0.1] {
        let r = run(&machine(&plate(x)));
        let start = &r.trajectory.start;
        let (far, near) = (0.25 * G * (1.0 + x), 0.25 * G * (1.0 - x));
        all_close(&start.point.normal, &[far, near, near, far], 1e-12);
        assert!(start.point.lambda.iter().filter(|l| l.abs() > 1e-12).count() == 4, "friction of nothing");
        all_close(&r.trajectory.last.normal, &[far, near, near, far], 1e-9);
        for family in [start.family.as_ref().unwrap(), r.trajectory.family.as_ref().unwrap()] {
            for (k, n) in [far, near, near, far].into_iter().enumerate() {
                close(family.normal[k].0, n - near, 1e-9);
                close(family.normal[k].1, n + near, 1e-9);
            }
            assert!(!family.moves && family.tangential.iter().chain(&family.second).all(|f| f.0 < f.1));
        }
    }
}

/// The same of a box, whose four corners are contacts of their own: up to 1.3 N of friction on a level floor.
#[test]
fn a_box_at_rest_shares_its_weight_equally_and_without_friction() {
    let r = run(&machine(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = 0
        y = 0
        z = 0.1
        [ground]
        floor = { through = [0, 0, 0], normal = [0, 0, 1] }
        [[body]]
        name = "b"
        mass = 1
        inertia = [0.01, 0.02, 0.02]
        position = ["x", "y", "z"]
        rotation = "free"
        features = { s = { box = [0.2, 0.1, 0.1] } }
        [[contact]]
        name = "foot"
        between = ["b.s", "ground.floor"]
        friction = 0.5
        [run]
        until = 0.1
        "#,
    ));
    let carries: Vec<f64> = r.trajectory.start.point.normal.iter().copied().filter(|n| *n != 0.0).collect();
    all_close(&carries, &[0.25 * G; 4], 1e-12);
    let lambda = &r.trajectory.start.point.lambda;
    close(lambda.iter().map(|l| l.abs()).sum(), G, 1e-12);
}

/// The table of the gallery, whose page promises least forces: (m g/4)(1 ± cx/a ± cy/b), and no friction.
#[test]
fn the_table_of_the_gallery_stands_with_the_forces_that_its_page_promises() {
    let r = run(&gallery("four_legs"));
    let point = &r.trajectory.start.point;
    all_close(&point.normal, &[73.575, 49.05, 24.525, 49.05], 1e-12);
    close(point.lambda.iter().map(|l| l.abs()).sum(), 20.0 * G, 1e-12);
}

/// What was wrong: a leg whose friction was found at its bound began to "slip" though the others hold it (its slip stays zero), and coinciding legs
/// took each other's forces for ever. With a = 0 the legs coincide in pairs on a line, and the table falls over about it:
/// ½ (I_y + m (c_x² + h²)) ω² = m g (h (1 − cos θ) + c_x sin θ). Of equal legs the least forces are equal.
#[test]
fn legs_that_coincide_carry_equal_shares_while_the_table_falls_over() {
    let path = format!("{}/../../gallery/four_legs/model.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap().replace("value = \"0.6 m\"", "value = \"0 m\"");
    let r = run(&machine(&text));
    let series = |what: &str| r.series(what).unwrap_or_else(|e| panic!("{e}"));
    let (spin, z, time) = (series("table.spin.y"), series("z"), series("t"));
    let normal = [1, 2, 3, 4].map(|k| series(&format!("leg{k}.normal")));
    let along = [1, 2, 3, 4].map(|k| series(&format!("leg{k}.tangential[1]")));
    let across = [1, 2, 3, 4].map(|k| series(&format!("leg{k}.tangential[2]")));
    let before = (0..time.len()).filter(|&p| time[p] < 0.5).collect::<Vec<_>>();
    assert!(before.len() > 5);
    for p in before {
        // the origin is h above the line: z = h cos θ
        let cos = z[p] / 0.7;
        let drop = 0.7 * (1.0 - cos) + 0.15 * (1.0 - cos * cos).max(0.0).sqrt();
        close(spin[p].powi(2), 2.0 * 20.0 * G * drop / (3.0 + 20.0 * (0.15 * 0.15 + 0.49)), 1e-7);
        for of in [&normal, &along, &across] {
            close(of[0][p], of[1][p], 1e-6);
            close(of[2][p], of[3][p], 1e-6);
        }
    }
}

/// A ball pressed into a corner (METH-3D-ACC): no `start.family` was told. The forces of the start lie in it.
#[test]
fn a_ball_in_a_corner_tells_how_far_its_forces_may_go() {
    let r = run(&machine(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = 0
        y = 0.1
        z = 0.1
        [ground]
        floor = { through = [0, 0, 0], normal = [0, 0, 1] }
        wall = { through = [0, 0, 0], normal = [0, 1, 0] }
        [[body]]
        name = "b"
        mass = 1
        inertia = 0.004
        position = ["x", "y", "z"]
        rotation = "free"
        features = { s = { center = [0, 0, 0], radius = 0.1 } }
        [[force]]
        at = "b"
        force = [1, -3, 0]
        [[force]]
        on = "b"
        torque = [0.05, 0, 0]
        [[contact]]
        name = "floor"
        between = ["b.s", "ground.floor"]
        friction = 0.4
        [[contact]]
        name = "wall"
        between = ["b.s", "ground.wall"]
        friction = 0.4
        [run]
        until = 0.01
        "#,
    ));
    let start = &r.trajectory.start;
    let family = start.family.as_ref().unwrap();
    for (normal, (low, high)) in start.point.normal.iter().zip(&family.normal) {
        assert!(high - low > 0.1 && (low - 1e-9..=high + 1e-9).contains(normal), "{low} {normal} {high}");
    }
    // what one carries the other carries too: the sums of the forces along y and z are unique
    let width = |f: &(f64, f64)| f.1 - f.0;
    close(width(&family.normal[0]), width(&family.normal[1]), 1e-8);
}

/// What touches a wall without being pressed fell with 10 000 steps, as if friction could hold it, and failed its audit: with no normal force there is
/// none. z = −g t²/2.
#[test]
fn what_touches_a_wall_without_being_pressed_falls_freely() {
    for (turns, feature) in [(true, "b.s"), (false, "b.p")] {
        let r = run(&machine(&format!(
            r#"
            gravity = [0, 0, -9.81]
            [coordinates]
            x = 0
            y = {}
            z = 0
            [ground]
            wall = {{ through = [0, 0, 0], normal = [0, 1, 0] }}
            [[body]]
            name = "b"
            mass = 1
            {}
            position = ["x", "y", "z"]
            features = {{ s = {{ center = [0, 0, 0], radius = 0.1 }}, p = [0, 0, 0] }}
            [[contact]]
            name = "k"
            between = ["{feature}", "ground.wall"]
            friction = 0.5
            [run]
            until = 1
            "#,
            if turns { 0.1 } else { 0.0 },
            if turns { "inertia = 0.004\nrotation = \"free\"" } else { "" },
        )));
        assert!(r.trajectory.warnings.is_empty(), "{:?}", r.trajectory.warnings);
        assert!(r.trajectory.counts.steps < 20, "{:?}", r.trajectory.counts);
        close(*r.series("z").unwrap().last().unwrap(), -0.5 * G, 1e-10);
        close(r.trajectory.last.normal[0], 0.0, 1e-12);
    }
}

/// The same of a ball that rests at the wall of its tube, and of a cone that is a cylinder: F/m from rest.
#[test]
fn a_tube_that_is_not_pressed_holds_nothing() {
    let r = run(&gallery("golf_ball").with("v0", 0).unwrap());
    close(*r.series("z").unwrap().last().unwrap(), -0.5 * G, 1e-10);
    let r = run(&gallery("cone_clutch").with("de", 0).unwrap());
    close(*r.series("s'").unwrap().last().unwrap(), -100.0 * 0.01, 1e-10);
    assert!(r.trajectory.warnings.is_empty(), "{:?}", r.trajectory.warnings);
}

/// Without any friction the damper was said to chatter: both sides of zero slip are the same motion then.
#[test]
fn slip_without_friction_does_not_chatter() {
    let r = run(&gallery("damper").with("mu", 0).unwrap().until(0.05));
    assert!(r.trajectory.warnings.is_empty(), "{:?}", r.trajectory.warnings);
}

/// Moreau's law with ε_T > 0 and ε_N = 0: sweeps that ended early left one contact to hop by rounding, and the impact was solved anew with ε_T = 0 there.
/// Impulses of an independent projected iteration on γ⁺ + ε γ⁻.
#[test]
fn contacts_that_do_not_bounce_keep_their_tangential_restitution() {
    let r = run(&machine(
        r#"
    name="i"
        gravity=[0,0,-9.81]
        [coordinates]
        x={rate=-0.3773302060805454}
        y={rate=0.3226306016496057}
        z={start=0.5,rate=-3.0}
        [ground]
        fl={through=[0,0,0],normal=[0,0,1]}
        [[body]]
        name="b"
        mass=0.681
        inertia=[[0.1358275945395901, 0.07079872073506414, -0.07173070537330202], [0.07079872073506414, 0.3140476108568889, 0.03346009462600124], [-0.07173070537330202, 0.03346009462600124, 0.3914088047189996]]
        position=["x","y","z"]
        rotation="free"
        turned=[["x",0.4],["z",-0.7]]
        spin=[-0.16102098304576662, 0.8915855374036323, -0.904933369668715]
        features={p0=[0.13686232057344605, -0.3737242203763771, -0.3847236700788493],p1=[0.3278828209552733, -0.22725923043174737, -0.3800576472948552]}
        [[contact]]
        name="c0"
        between=["b.p0","ground.fl"]
        friction=0.522
        restitution={normal=0.0,tangential=0.612,nu=0.0}
        [[contact]]
        name="c1"
        between=["b.p1","ground.fl"]
        friction=0.522
        restitution={normal=0.0,tangential=0.612,nu=0.0}
        [run]
        until=1e-7
        impact="moreau"
        "#,
    ));
    let events = &r.trajectory.events;
    assert_eq!(events.len(), 1, "{events:?}");
    let [c0, c1] = events[0].contacts.as_slice() else { panic!() };
    let found = [c0, c1].map(|c| [c.impulse_t, c.second.unwrap(), c.impulse_n]);
    for (found, known) in found.iter().zip([[0.584, -0.293, 1.252], [0.120, 0.306, 0.629]]) {
        // known to three digits
        found.iter().zip(known).for_each(|(a, b)| assert!((a - b).abs() < 1e-3, "{found:?} {known:?}"));
    }
    // both slide, against γ⁺ + ε γ⁻ or within the cone
    for [x, y, n] in found {
        assert!(x.hypot(y) <= 0.522 * n * (1.0 + 1e-9));
    }
}

/// One body on four tilted surfaces.
const TILTED: &str = r#"
    name="r"
        gravity=[0,0,-9.81]
        [parameters]
        P=0
        [coordinates]
        x=0
        y=0
        z=1
        [ground]
        g0={through=[-0.34605544678887856, 0.9745536866758511, 0.09236577841720744],normal=[-0.3151903305831385, 0.11738675515312648, 0.9417406252368599]}
        g1={through=[0.5770978716400579, 0.7397930233924321, 0.09693227445215535],normal=[0.2844677161402204, 0.7968077224538841, 0.5330812057386951]}
        g2={through=[-0.12423625375440239, -0.2545021938212939, 0.4069138350775105],normal=[-0.446336592815423, -0.7474499997702474, 0.4920387624541143]}
        g3={through=[-0.04206909167456607, -0.5172957098306354, 0.21149209407211317],normal=[-0.5158087701385492, -0.17061247071910715, 0.8395431480771426]}
        [[body]]
        name="b"
        mass=2.0
        inertia=[1,1.2,1.5]
        position=["x","y","z"]
        rotation="free"
        features={p0=[-0.34605544678887856, 0.9745536866758511, -0.9076342215827926],p1=[0.5770978716400579, 0.7397930233924321, -0.9030677255478446],p2=[-0.12423625375440239, -0.2545021938212939, -0.5930861649224894],p3=[-0.04206909167456607, -0.5172957098306354, -0.7885079059278868],h=[-0.13416008533220403, -0.039820692510042166, 0.19999999999999996]}
        [[force]]
        name="push"
        at="b.h"
        force=["-0.08197449383484104*P","1.4574804175244145*P","-0.15558029133097193*P"]
        [[contact]]
        name="c0"
        between=["b.p0","ground.g0"]
        friction=0.778
        [[contact]]
        name="c1"
        between=["b.p1","ground.g1"]
        friction=0.597
        [[contact]]
        name="c2"
        between=["b.p2","ground.g2"]
        friction=0.768
        [[contact]]
        name="c3"
        between=["b.p3","ground.g3"]
        friction=0.345
        [run]
        until=1
"#;

fn rest(m: &Machine) -> RestFinding {
    let keys = [("points".to_string(), TaskValue::Text("b.h".to_string()))];
    let Finding::Rest(f) = m.ask(&Task::read("rest", &keys).unwrap()).unwrap() else { panic!() };
    *f
}

/// Between directions with a limit and directions without one the program failed, and the failure was told as the limit 0, and as the weakest. The
/// reference is the margin, another program, always bounded: the force stands a millionth below its limit, and moves a millionth above. 2.4327 N is by
/// bisection over an independent program.
#[test]
fn a_limit_that_cannot_be_told_from_none_is_not_zero() {
    let f = rest(&machine(TILTED));
    let (_, point) = &f.stagnation.as_ref().unwrap().0[0];
    assert!(point.limit.iter().all(|l| l[1].0 > 2.4), "{:?}", point.limit);
    close(point.space.as_ref().unwrap().weakest.force.0, 2.4327, 1e-5);
    let angle = 76.0_f64.to_radians();
    let limit = point.limit.iter().find(|l| (l[0].0 - angle).abs() < 1e-9).unwrap()[1].0;
    let stands = |p: f64| {
        let force = format!("force=[{}, {}, 0]", p * angle.cos(), p * angle.sin());
        let own = "force=[\"-0.08197449383484104*P\",\"1.4574804175244145*P\",\"-0.15558029133097193*P\"]";
        assert!(TILTED.contains(own));
        let f = rest(&machine(&TILTED.replace(own, &force)));
        matches!(f.certificate, Some(Certificate::Forces { .. }))
    };
    assert!(stands(limit * (1.0 - 1e-6)) && !stands(limit * (1.0 + 1e-6)), "{limit}");
}
