//! Questions about machines in space: rest with exact cones, paradoxes over the direction of slip, self-braking, tensors; against closed forms.

use std::f64::consts::{FRAC_PI_2, TAU};

use specht::analysis::{RestVerdict, Verdict};
use specht::machine::finding::{Certificate, Finding, HereFinding, RestFinding};
use specht::machine::task::Task;
use specht::model::TaskValue;
use specht::prelude::*;

const G: f64 = 9.81;

fn machine(text: &str) -> Machine {
    Machine::read(text).unwrap_or_else(|e| panic!("{e}"))
}

fn text(t: &str) -> TaskValue {
    TaskValue::Text(t.to_string())
}

fn ask(m: &Machine, kind: &str, keys: &[(&str, TaskValue)]) -> Finding {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    m.ask(&Task::read(kind, &keys).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(m: &Machine, kind: &str, keys: &[(&str, TaskValue)]) -> String {
    let keys: Vec<(String, TaskValue)> = keys.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
    match Task::read(kind, &keys).and_then(|t| m.ask(&t)) {
        Ok(_) => panic!("{kind} was answered"),
        Err(e) => e.to_string(),
    }
}

fn rest(m: &Machine, keys: &[(&str, TaskValue)]) -> RestFinding {
    let Finding::Rest(f) = ask(m, "rest", keys) else { panic!() };
    *f
}

fn here(m: &Machine, keys: &[(&str, TaskValue)]) -> HereFinding {
    let Finding::Here(f) = ask(m, "painleve", keys) else { panic!() };
    f
}

#[track_caller]
fn close(a: f64, b: f64, within: f64) {
    assert!((a - b).abs() <= within * (1.0 + b.abs()), "{a} is not {b} within {within:e}");
}

/// The plate of METH-3D-ACC on three loaded feet, pulled at (0, 0.6).
fn plate(force: f64) -> Machine {
    machine(&format!(
        r#"
        [parameters]
        F = {force}
        c = "sqrt(3)/2"
        [coordinates]
        x = 0
        y = 0
        phi = 0
        [[body]]
        name = "plate"
        mass = 1
        inertia = [1, 1, 1]
        position = ["x", "y", 0]
        rotation = [["z", "phi"]]
        features = {{ f1 = [0, 1, 0], f2 = ["-c", -0.5, 0], f3 = ["c", -0.5, 0], pull = [0, 0.6, 0] }}
        [[contact]]
        name = "foot1"
        slip = ["plate.f1.x'", "plate.f1.y'"]
        normal_force = 10
        friction = 0.5
        [[contact]]
        name = "foot2"
        slip = ["plate.f2.x'", "plate.f2.y'"]
        normal_force = 10
        friction = 0.5
        [[contact]]
        name = "foot3"
        slip = ["plate.f3.x'", "plate.f3.y'"]
        normal_force = 10
        friction = 0.5
        [[force]]
        name = "pull"
        at = "plate.pull"
        force = ["F", 0, 0]
        [run]
        until = 1
        "#
    ))
}

/// METH-REST-SET, METH-3D-ACC: the plate holds 600/49 N; the virtual motion turns about the centre of the closed form.
#[test]
fn meth_rest_set_the_plate_carries_600_49_newton() {
    let limit = 600.0 / 49.0;
    let f = rest(&plate(1.0), &[("load", text("F")), ("points", text("plate.pull"))]);
    assert_eq!(f.verdict, RestVerdict::Stays);
    assert!(f.complete);
    let load = f.start_load.as_ref().unwrap();
    close(load.high.0, limit, 1e-10);
    close(load.low.0, -limit, 1e-10);
    assert!(load.exact);
    let point = &f.stagnation.as_ref().unwrap().0[0].1;
    // beside the newton that pulls already
    close(point.limit[0][1].0, limit - 1.0, 1e-10);
    let Some(Certificate::Forces { margin, .. }) = &f.certificate else { panic!() };
    assert!(margin.0 > 0.0);
    // the weakest pull is no more than any of the diagram
    let weakest = point.space.as_ref().unwrap().weakest.force.0;
    assert!(point.limit.iter().all(|l| l[1].0 >= weakest * (1.0 - 1e-12)));

    let f = rest(&plate(limit * 1.05), &[]);
    assert_eq!(f.verdict, RestVerdict::Moves);
    let Some(Certificate::Motion { power, friction_power, velocity, .. }) = &f.certificate else { panic!() };
    assert!(power.0 > friction_power.0 && friction_power.0 > 0.0);
    let of = |name: &str| velocity.iter().find(|v| v.0 == name).unwrap().1.0;
    // power of the loads and losses, from the motion alone
    let (vx, vy, w) = (of("x'"), of("y'"), of("phi'"));
    let c = 0.75_f64.sqrt();
    let feet = [[0.0, 1.0], [-c, -0.5], [c, -0.5]];
    let loss: f64 = feet.iter().map(|[x, y]| 5.0 * (vx - w * y).hypot(vy + w * x)).sum();
    close(friction_power.0, loss, 1e-12);
    close(power.0, 1.05 * limit * (vx - 0.6 * w), 1e-12);
    let moving = f.solutions.iter().find(|s| s.moves).unwrap();
    let accel = |name: &str| moving.accel.iter().find(|v| v.0 == name).unwrap().1.0;
    close(accel("x''"), 0.58189735, 1e-7);
    close(accel("phi''"), -0.41026710, 1e-7);
}

/// A table on four legs, pulled at its middle, at the height h.
fn table(mu: f64, force: &str) -> Machine {
    let legs: String = (1..5)
        .map(|k| {
            format!(
                "[[contact]]\nname = \"leg{k}\"\nbetween = [\"table.p{k}\", \"ground.floor\"]\nfriction = {mu}\n"
            )
        })
        .collect();
    machine(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [parameters]
        F = 1
        [coordinates]
        x = 0
        y = 0
        z = 0.7
        [ground]
        floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "table"
        mass = 20
        inertia = [1.5, 3, 4]
        position = ["x", "y", "z"]
        rotation = "free"
        features = {{ p1 = [0.6, 0.4, -0.7], p2 = [-0.6, 0.4, -0.7], p3 = [-0.6, -0.4, -0.7], p4 = [0.6, -0.4, -0.7] }}
        {legs}
        [[force]]
        name = "pull"
        at = "table"
        force = {force}
        [start]
        closed = ["leg1", "leg2", "leg3", "leg4"]
        [run]
        until = 1
        "#
    ))
}

/// A pull at the middle of a table: it slides at μ m g or tips over an edge, by direction min(μ m g, m g a/(h cos θ), m g b/(h sin θ)).
#[test]
fn meth_rest_set_a_table_slides_or_tips() {
    let weight = 20.0 * G;
    for mu in [0.4, 0.7, 1.2] {
        let m = table(mu, "[\"F\", 0, 0]");
        let f = rest(&m, &[("load", text("F"))]);
        assert_eq!(f.verdict, RestVerdict::Stays);
        let at = |angle: f64| {
            let tip = (0.6 / angle.cos().abs()).min(0.4 / angle.sin().abs()) / 0.7;
            weight * tip.min(mu)
        };
        let load = f.start_load.as_ref().unwrap();
        close(load.high.0, at(0.0), 1e-9);
        close(load.low.0, -at(0.0), 1e-9);
        // the diagram is that of a table that nothing pulls yet
        let m = m.with("F", 0.0).unwrap();
        let direction = TaskValue::List([0.0, 2.0, 0.0].map(TaskValue::Number).to_vec());
        let f = rest(&m, &[("points", text("table")), ("direction", direction)]);
        assert!(f.complete);
        let (_, point) = &f.stagnation.as_ref().unwrap().0[0];
        for [angle, force] in &point.limit {
            close(force.0, at(angle.0), 1e-9);
        }
        let space = point.space.as_ref().unwrap();
        let [low, high] = space.along.unwrap();
        close(high.0, at(FRAC_PI_2), 1e-9);
        close(low.0, -at(FRAC_PI_2), 1e-9);
        // the weakest pull slides at the friction angle, or tips at right angles to its arm
        let slides = weight * mu / (1.0 + mu * mu).sqrt();
        let tips = weight * 0.4 / 0.7_f64.hypot(0.4);
        close(space.weakest.force.0, slides.min(tips), 1e-9);
        let expected = if slides < tips { mu / (1.0 + mu * mu).sqrt() } else { 0.4 / 0.7_f64.hypot(0.4) };
        close(space.weakest.direction[2].0, expected, 1e-4);
    }
    // 72.86685 N
    let f = rest(&table(0.4, "[0, 0, 0]"), &[("points", text("table"))]);
    let (_, point) = &f.stagnation.as_ref().unwrap().0[0];
    close(point.space.as_ref().unwrap().weakest.force.0, 72.866_85, 1e-7);
}

/// Pulled too hard the proof is a motion: sliding without opening more than μ, or turning about an edge.
#[test]
fn meth_rest_set_what_cannot_stand_is_proved_by_a_motion() {
    for (mu, force, opens) in [(0.4, 80.0, 0.0), (0.9, 120.0, 1.0)] {
        let m = table(mu, "[0, \"F\", 0]").with("F", force).unwrap();
        let f = rest(&m, &[]);
        assert_eq!(f.verdict, RestVerdict::Moves, "{mu}");
        let Some(Certificate::Motion { power, contacts, margin, .. }) = &f.certificate else { panic!() };
        assert!(power.0 > 0.0 && margin.0 < 0.0);
        let mut highest = 0.0_f64;
        for (_, c) in contacts.iter() {
            assert!(c.opening >= mu * c.slip - 1e-9, "{c:?}");
            highest = highest.max(c.opening - mu * c.slip);
        }
        assert_eq!(f64::from(u8::from(highest > 1e-3)), opens, "{highest}");
    }
}

/// A block on a slope stands up to tan α = μ, also on four corners.
#[test]
fn meth_rest_set_a_block_on_a_slope_stands_up_to_the_friction_angle() {
    for (slope, mu, stays) in [(0.3_f64, 0.31, true), (0.3, 0.3093362496096232, true), (0.3, 0.309, false)] {
        let corners: String = (1..5)
            .map(|k| format!("[[contact]]\nname = \"c{k}\"\nbetween = [\"block.p{k}\", \"ground.plane\"]\nfriction = {mu}\n"))
            .collect();
        let m = machine(&format!(
            r#"
            gravity = [{}, 0, {}]
            [coordinates]
            x = 0
            y = 0
            z = 0.1
            [ground]
            plane = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
            [[body]]
            name = "block"
            mass = 3
            inertia = 0.02
            position = ["x", "y", "z"]
            rotation = "free"
            features = {{ p1 = [0.2, 0.2, -0.1], p2 = [-0.2, 0.2, -0.1], p3 = [-0.2, -0.2, -0.1], p4 = [0.2, -0.2, -0.1] }}
            {corners}
            [start]
            closed = ["c1", "c2", "c3", "c4"]
            [run]
            until = 1
            "#,
            G * slope.sin(),
            -G * slope.cos()
        ));
        let f = rest(&m, &[]);
        assert_eq!(f.verdict, if stays { RestVerdict::Stays } else { RestVerdict::Moves }, "{mu}");
        assert_eq!(matches!(f.certificate, Some(Certificate::Forces { .. })), stays);
    }
}

/// A uniform rod of length 2 slides on its end, leaning by φ from the floor over the x axis; `velocity` of the end, `spin` about y.
fn rod(phi: f64, mu: f64, velocity: [f64; 2], spin: f64) -> Machine {
    let (s, c) = phi.sin_cos();
    // centre from the end: (cos φ, 0, sin φ); ω × r of the end from the centre
    let [vx, vy] = velocity;
    let (ux, uz) = (vx + spin * s, -spin * c);
    machine(&format!(
        r#"
        gravity = [0, 0, -9.81]
        [coordinates]
        x = {{ start = 0, rate = {ux} }}
        y = {{ start = 0, rate = {vy} }}
        z = {{ start = {s}, rate = {uz} }}
        [ground]
        floor = {{ through = [0, 0, 0], normal = [0, 0, 1] }}
        [[body]]
        name = "rod"
        mass = 1
        inertia = [1e-3, "1/3", "1/3"]
        position = ["x", "y", "z"]
        rotation = "free"
        turned = [["y", {}]]
        spin = [0, {spin}, 0]
        features = {{ end = [-1, 0, 0] }}
        [[contact]]
        name = "end"
        between = ["rod.end", "ground.floor"]
        friction = {mu}
        [start]
        closed = ["end"]
        [run]
        until = 1
        "#,
        -phi
    ))
}

/// METH-3D-ACC, ANH-4.2-CRIT: μ_c(θ) = (1 + 3 cos²φ)/(3 sin φ cos φ |cos θ|) towards the lean; least 4/3 at tan φ = 2. The sector of the paradox is
/// |θ − θ₀| < arccos(4/(3μ)); without solution at rest of the rod, with two when it turns fast.
#[test]
fn meth_3d_acc_the_sector_of_a_rods_paradox() {
    let phi = 2.0_f64.atan();
    let mu = 2.0;
    for (spin, verdict) in [(0.0, Verdict::None), (6.0, Verdict::Several)] {
        for slip in [[-1.0, 0.2], [1.0, 0.3]] {
            let f = here(&rod(phi, mu, slip, spin), &[]);
            let (_, d) = f.directions.as_ref().unwrap().iter().next().unwrap();
            close(d.critical_mu.0, 4.0 / 3.0, 1e-12);
            let own = slip[1].atan2(slip[0]).rem_euclid(TAU);
            close(d.slip.unwrap(), own, 1e-9);
            let [sector] = d.sectors.as_slice() else { panic!("{:?}", d.sectors) };
            assert_eq!(sector.verdict, verdict);
            close(sector.to - sector.from, 2.0 * (2.0_f64 / 3.0).acos(), 1e-10);
            let middle = (0.5 * (sector.from + sector.to)).rem_euclid(TAU);
            close((middle - d.direction.0).abs().min(TAU - (middle - d.direction.0).abs()), 0.0, 1e-6);
            // towards the lean or away from it
            let toward = middle.cos();
            close(toward.abs(), 1.0, 1e-9);
            let inside = slip[0] * toward > 0.0 && (own.cos().abs()) > 2.0 / 3.0;
            assert_eq!(f.verdict == Some(verdict), inside, "{slip:?}");
            let expected = 4.0 / 3.0 / own.cos().abs();
            close(f.critical_mu.0[0].0, expected, 1e-9);
            for [angle, value] in &d.curve {
                if value.0.is_finite() {
                    close(value.0, 4.0 / 3.0 / angle.0.cos().abs(), 1e-9);
                }
            }
        }
    }
    // below the critical friction there is no sector
    let f = here(&rod(phi, 1.3, [-1.0, 0.0], 0.0), &[]);
    let (_, d) = f.directions.as_ref().unwrap().iter().next().unwrap();
    assert!(d.sectors.is_empty());
    assert_eq!(f.verdict, Some(Verdict::Unique));
    // a sector of 0.06 rad, narrower than the directions looked at first, with the lean between two of them
    let f = here(&rod(phi, 4.0 / 3.0 * (1.0 + 1e-7), [-1.0, 0.1], 0.0), &[]);
    let (_, d) = f.directions.as_ref().unwrap().iter().next().unwrap();
    assert_eq!(d.sectors.len(), 1);
    close(d.sectors[0].to - d.sectors[0].from, 2.0 * (1.0_f64 / (1.0 + 1e-7)).acos(), 1e-6);
}

/// METH-3D-ACC: a rod set down at rest on a rough floor: one solution with moderate friction; forces of stick.
#[test]
fn meth_3d_acc_a_contact_at_zero_slip_lists_all_its_solutions() {
    let f = here(&rod(1.0, 0.9, [0.0, 0.0], 0.0), &[]);
    assert_eq!(f.verdict, Some(Verdict::Unique));
    // sticking: a rod that turns about its end, N = m g (1 − 3/4 cos²φ)
    let n = f.solutions[0].contacts.iter().next().unwrap().1.normal;
    close(n, G * (1.0 - 0.75 * 1.0_f64.cos().powi(2)), 1e-9);
    let slides = here(&rod(1.0, 0.1, [0.0, 0.0], 0.0), &[]);
    assert_eq!(slides.verdict, Some(Verdict::Unique));
    let c = slides.solutions[0].contacts.iter().next().unwrap().1;
    close(c.tangential.0[0].hypot(c.tangential.0[1]), 0.1 * c.normal, 1e-9);
}

fn braking(m: &Machine, keys: &[(&str, TaskValue)]) -> specht::machine::finding::SelfBrakingFinding {
    let Finding::SelfBraking(f) = ask(m, "self-braking", keys) else { panic!() };
    f
}

/// What is said of one contact's critical coefficient.
fn one(c: &specht::machine::finding::Critical) -> f64 {
    match c {
        specht::machine::finding::Critical::One(x) => x.0,
        other => panic!("{other:?}"),
    }
}

/// A trapezoidal thread of lead angle α and flank angle β on the radius r: friction in the plane of the flank, of which one direction is along the
/// helix and the other up the flank, where nothing moves.
fn screw(alpha: f64, beta: f64, mu: f64) -> Machine {
    machine(&format!(
        r#"
        [parameters]
        F = 100
        M = 1
        r = 0.01
        al = {alpha}
        be = {beta}
        [coordinates]
        s = 0
        phi = 0
        y = 0
        [[body]]
        name = "nut"
        mass = 0.2
        inertia = [1e-5, 1e-5, 2e-5]
        position = [0, "y", "s"]
        rotation = [["z", "phi"]]
        [[contact]]
        name = "flank"
        gap = "cos(be)*(cos(al)*s - sin(al)*r*phi) + sin(be)*y"
        slip = ["sin(al)*s' + cos(al)*r*phi'", "cos(be)*y' - sin(be)*(cos(al)*s' - sin(al)*r*phi')"]
        friction = {mu}
        [[contact]]
        name = "guide"
        gap = "y"
        bilateral = true
        [[force]]
        name = "weight"
        along = "s"
        force = "-F"
        [[force]]
        name = "turn"
        along = "phi"
        force = "M"
        [start]
        closed = ["flank"]
        [run]
        until = 1
        "#
    ))
}

/// Trapezoidal thread: with μ′ = μ/cos β, torque F r (tan α + μ′)/(1 − μ′ tan α), efficiency tan α over that of the angle.
#[test]
fn anh_2_5_selfbrake_a_trapezoidal_thread_in_space() {
    for (alpha, beta, mu) in [(0.08_f64, 0.0_f64, 0.12), (0.08, 0.26, 0.12), (0.3, 0.26, 0.12)] {
        let f = braking(&screw(alpha, beta, mu), &[("drive", text("M")), ("load", text("F"))]);
        let e = f.efficiency.as_ref().unwrap();
        let own = mu / beta.cos();
        let torque = 100.0 * 0.01 * (alpha.tan() + own) / (1.0 - own * alpha.tan());
        let specht::machine::finding::Range::One(drive) = e.drive_forward else { panic!() };
        close(drive.0, torque, 1e-9);
        let specht::machine::finding::Range::One(forward) = e.forward else { panic!() };
        close(forward.0, alpha.tan() * (1.0 - own * alpha.tan()) / (alpha.tan() + own), 1e-9);
        // at rest friction also acts up the flank and takes a little of the load: least of f₁² + f₂² with f₁ = tan α (cos β − f₂ sin β)
        let critical = alpha.tan() * beta.cos() / (1.0 + (alpha.tan() * beta.sin()).powi(2)).sqrt();
        assert_eq!(e.self_locking, mu >= critical);
        close(one(&e.critical_mu), critical, 1e-9);
    }
}

/// A cone clutch of half angle δ: friction along the circumference and along the cone share one disc.
fn cone_clutch(delta: f64, mu: f64) -> Machine {
    machine(&format!(
        r#"
        [parameters]
        F = 100
        M = 0
        P = 10
        r = 0.05
        de = {delta}
        [coordinates]
        s = 0
        phi = 0
        [[body]]
        name = "cone"
        mass = 1
        inertia = [1e-3, 1e-3, 2e-3]
        position = [0, 0, "s"]
        rotation = [["z", "phi"]]
        [[contact]]
        name = "lining"
        gap = "sin(de)*s"
        slip = ["r*phi'", "cos(de)*s'"]
        friction = {mu}
        [[force]]
        name = "push"
        along = "s"
        force = "-F"
        [[force]]
        name = "torque"
        along = "phi"
        force = "M"
        [start]
        closed = ["lining"]
        [run]
        until = 1
        "#
    ))
}

/// Torque of a cone clutch: at most r μ F/√(sin²δ − μ² cos²δ) from rest, without limit from μ = tan δ on, from where a pull does not open it.
#[test]
fn anh_2_5_selfbrake_a_cone_clutch_holds_and_sticks() {
    for (delta, mu) in [(0.4_f64, 0.2), (0.3, 0.3), (0.2, 0.3)] {
        let f = rest(&cone_clutch(delta, mu), &[("load", text("M"))]);
        assert_eq!(f.verdict, RestVerdict::Stays);
        let load = f.start_load.as_ref().unwrap();
        let square = delta.sin().powi(2) - (mu * delta.cos()).powi(2);
        if square > 0.0 {
            close(load.high.0, 0.05 * mu * 100.0 / square.sqrt(), 1e-9);
            close(load.low.0, -load.high.0, 1e-9);
        } else {
            assert_eq!(load.high.0, f64::INFINITY);
        }
        // pulled out
        let m = cone_clutch(delta, mu).with("F", -10.0).unwrap();
        let f = braking(&m, &[("load", text("F"))]);
        let l = f.load.as_ref().unwrap();
        assert_eq!(l.held, mu >= delta.tan());
        close(one(&l.critical_mu), delta.tan(), 1e-9);
    }
}

/// A weight on an arm in a ball joint: held up to d sin θ = r μ/√(1 + μ²).
#[test]
fn anh_2_5_selfbrake_a_ball_joint_holds_an_arm() {
    let arm = |d: f64, mu: f64| {
        machine(&format!(
            r#"
            gravity = [0, 0, -9.81]
            [parameters]
            g = 1
            W = 1
            [coordinates]
            x = 0
            y = 0
            z = 0
            [[body]]
            name = "arm"
            mass = 2
            inertia = 0.05
            position = ["x", "y", "z"]
            rotation = "free"
            features = {{ hub = [0, 0, 0], end = [{d}, 0, 0] }}
            [ground]
            socket = [0, 0, 0]
            [[contact]]
            name = "socket"
            pin = ["arm.hub", "ground.socket"]
            radius = 0.02
            friction = {mu}
            [[force]]
            name = "weight"
            at = "arm.end"
            force = [0, 0, "-W"]
            [run]
            until = 1
            "#
        ))
    };
    // moment W d against m (2 g + W)
    let (mu, d) = (0.4_f64, 0.05);
    let factor = 0.02 * mu / (1.0 + mu * mu).sqrt();
    let limit = factor * 2.0 * G / (d - factor);
    let f = rest(&arm(d, mu), &[("load", text("W"))]);
    assert_eq!(f.verdict, RestVerdict::Stays);
    close(f.start_load.as_ref().unwrap().high.0, limit, 1e-9);
    let f = rest(&arm(d, mu).with("W", 1.01 * limit).unwrap(), &[]);
    assert_eq!(f.verdict, RestVerdict::Moves);
    // the weight alone, at an arm shorter than the ball: μ = s/√(1 − s²), s = d/r
    let f = braking(&arm(0.005, mu), &[("load", text("W"))]);
    let s: f64 = 0.25;
    close(one(&f.load.as_ref().unwrap().critical_mu), s / (1.0 - s * s).sqrt(), 1e-8);
    assert!(f.load.as_ref().unwrap().held);
    assert!(!braking(&arm(0.05, mu), &[("load", text("W"))]).load.unwrap().held);
    let sentence = refused(&arm(d, mu), "painleve", &[]);
    assert!(sentence.contains("ball joint"), "{sentence}");
}

/// VAG-5-REGULAR, VAG-1-TENSOR in space: one contact is critical at G_NN/(μ |G_NT|), along G_NT; a rod that stands upright never is.
#[test]
fn vag_5_regular_a_leaning_rod_and_a_ball_in_a_corner() {
    let tensor = |m: &Machine| {
        let Finding::Tensor(f) = ask(m, "tensor", &[]) else { panic!() };
        f
    };
    let (phi, mu) = (1.1_f64, 0.5);
    let f = tensor(&rod(phi, mu, [0.3, 0.2], 0.0));
    assert!(!f.regular);
    let (s, c) = phi.sin_cos();
    close(f.critical_factor.unwrap(), (1.0 + 3.0 * c * c) / (3.0 * s * c) / mu, 1e-9);
    let slip = f.slips.as_ref().unwrap().iter().next().unwrap().1;
    close(slip[0].abs(), 1.0, 1e-6);
    let own = f.contacts.iter().next().unwrap().1;
    assert_eq!(own.tensor.len(), 3);
    assert!(own.dissipative && own.orthogonality.0 > 0.01);
    let upright = tensor(&rod(FRAC_PI_2, mu, [0.3, 0.2], 0.0));
    assert!(upright.regular && upright.contacts.iter().next().unwrap().1.orthogonality.0 < 1e-12);
    // VAG-4-CORNER: never, however large the friction
    let corner = std::fs::read_to_string(format!(
        "{}/../../gallery/corner_ball/model.toml",
        env!("CARGO_MANIFEST_DIR")
    ));
    assert!(tensor(&machine(&corner.unwrap())).regular);
}

/// Loops in space are asked the same, and answer or say why not.
#[test]
fn loops_in_space_answer_or_say_why_not() {
    for name in ["rssr", "universal_joint"] {
        let path = format!("{}/../../gallery/{name}/model.toml", env!("CARGO_MANIFEST_DIR"));
        let m = machine(&std::fs::read_to_string(path).unwrap());
        for kind in ["painleve", "self-braking", "tensor"] {
            let sentence = refused(&m, kind, &[]);
            let why = sentence.contains("friction") || sentence.contains("cannot move");
            assert!(why, "{name} {kind}: {sentence}");
        }
    }
    let sentence = refused(&table(0.4, "[\"F\", 0, 0]"), "painleve", &[]);
    assert!(sentence.contains("zero slip"), "{sentence}");
    let sentence = refused(&table(0.4, "[\"F\", 0, 0]"), "rest", &[("points", text("tabel"))]);
    assert!(sentence.contains("tabel"), "{sentence}");
    let flat = TaskValue::List(vec![TaskValue::Number(0.0); 3]);
    let sentence = refused(&table(0.4, "[\"F\", 0, 0]"), "rest", &[("direction", flat)]);
    assert!(sentence.contains("not all zero"), "{sentence}");
}

/// METH-REST-SET: a hyperstatic table with its load off the middle, against an independent cone program (another solver, 1e-13).
#[test]
fn meth_rest_set_a_hyperstatic_table_carries_what_another_solver_says() {
    let path = format!("{}/../../gallery/four_legs/model.toml", env!("CARGO_MANIFEST_DIR"));
    let f = rest(&machine(&std::fs::read_to_string(path).unwrap()), &[("points", text("table"))]);
    let (_, point) = &f.stagnation.as_ref().unwrap().0[0];
    for (degrees, force) in [
        (0.0_f64, 76.559_142_926),
        (90.0, 66.886_363_636),
        (180.0, 77.399_153_171),
        (270.0, 73.885_524_512),
        (40.0, 78.424_787_267),
        (130.0, 73.596_926_011),
    ] {
        let found = point.limit.iter().find(|l| (l[0].0 - degrees.to_radians()).abs() < 1e-9).unwrap();
        close(found[1].0, force, 1e-9);
    }
    close(point.space.as_ref().unwrap().weakest.force.0, 60.427_262_450, 1e-8);
}

/// Random pulls: every verdict proves itself, by forces in balance inside the cones or by a motion that friction cannot stop.
#[test]
fn meth_rest_set_random_pulls_at_a_table_prove_their_verdicts() {
    let mut seed = 7_u64;
    let mut random = |low: f64, high: f64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((seed >> 11) as f64 / (1_u64 << 53) as f64)
    };
    let feet = [[0.6, 0.4], [-0.6, 0.4], [-0.6, -0.4], [0.6, -0.4]];
    let (mut stood, mut fell) = (0, 0);
    for _ in 0..25 {
        let mu = random(0.2, 1.2);
        let pull = [random(-150.0, 150.0), random(-150.0, 150.0), random(-100.0, 150.0)];
        let f = rest(&table(mu, &format!("[{}, {}, {}]", pull[0], pull[1], pull[2])), &[]);
        let load = [pull[0], pull[1], pull[2] - 20.0 * G];
        match f.certificate.as_ref().unwrap() {
            Certificate::Forces { forces, .. } => {
                stood += 1;
                let mut sum = load;
                let mut moment = [0.0; 3];
                for ((_, c), [x, y]) in forces.iter().zip(feet) {
                    let own = [c.tangential.0[0].0, c.tangential.0[1].0, c.normal.0];
                    assert!(own[0].hypot(own[1]) <= mu * own[2] + 1e-9 && own[2] >= -1e-9);
                    (0..3).for_each(|k| sum[k] += own[k]);
                    let z = -0.7;
                    moment[0] += y * own[2] - z * own[1];
                    moment[1] += z * own[0] - x * own[2];
                    moment[2] += x * own[1] - y * own[0];
                }
                assert!(sum.iter().chain(&moment).all(|v| v.abs() < 1e-8), "{sum:?} {moment:?}");
            }
            Certificate::Motion { velocity, power, .. } => {
                fell += 1;
                let of = |name: &str| velocity.iter().find(|v| v.0 == name).unwrap().1.0;
                let v = [of("x'"), of("y'"), of("z'")];
                let w = [of("table.spin.x"), of("table.spin.y"), of("table.spin.z")];
                for [x, y] in feet {
                    let z = -0.7;
                    let at =
                        [v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x];
                    assert!(at[2] >= mu * at[0].hypot(at[1]) - 1e-9, "{at:?}");
                }
                let work: f64 = (0..3).map(|k| load[k] * v[k]).sum();
                assert!(work > 0.0);
                close(power.0, work, 1e-9);
            }
        }
        assert_ne!(f.verdict, RestVerdict::None);
    }
    assert!(stood > 3 && fell > 3, "{stood} {fell}");
}
