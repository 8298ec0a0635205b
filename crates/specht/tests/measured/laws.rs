//! Friction laws by name.

use crate::machine;
use specht::machine::finding::Finding;
use specht::machine::task::Task;
use specht::sim::Kind;

/// METH-LAW-STATE: F = F_c (1 − exp(−σ₀ x/F_c)) after monotone slip from rest.
#[test]
fn meth_law_state_dahl_saturates_exponentially() {
    let m = machine(
        r#"
        parameters  = { s0 = "1e5 N/m", Fc = "20 N", v = "1 mm/s" }
        coordinates = { x = { rate = "v" } }
        states      = { z = { rate = "dahl_rate(x', z, s0, Fc)" } }
        body        = [{ name = "block", mass = "1 kg", position = "x" }]
        run         = { until = "0.1 s" }
        output      = { F = "dahl(z, s0)" }
        "#,
        "",
    );
    let f = m.run().unwrap().series("F").unwrap();
    assert!((f[f.len() - 1] - 7.869386806).abs() < 1e-8, "{}", f[f.len() - 1]);
}

/// METH-LAW-STATE: LuGre's force of break-away falls with the rate of loading (spec methods-cycles 7).
#[test]
fn meth_law_state_lugre_breaks_away_earlier_under_faster_loading() {
    let m = machine(
        r#"
        parameters  = { s0 = "1e5 N/m", s1 = "sqrt(1e5)", s2 = 0.4, Fc = "1 N", Fs = "1.5 N", vs = "1 mm/s", k = "1 N/s" }
        coordinates = { x = 0 }
        states      = { z = { rate = "lugre_rate(x', z, s0, Fc, Fs, vs)" } }
        body        = [{ name = "block", mass = "1 kg", position = "x" }]
        force       = [{ along = "x", force = "k*t - lugre(x', z, s0, s1, s2, Fc, Fs, vs)" }]
        event       = [{ name = "gone", crossing = "x' - 1e-3", direction = "up", stop = true }]
        run         = { until = "2 s" }
        "#,
        "",
    );
    for (rate, force) in [(1.0, 1.46073), (5.0, 1.37993), (20.0, 1.18908)] {
        let run = m.with("k", rate).unwrap().run().unwrap();
        let found = rate * run.trajectory.time;
        assert!((found - force).abs() < 2e-5, "{rate} N/s: {found} instead of {force}");
    }
    let Ok(Finding::FrictionLaw(f)) = m.ask(&Task::FrictionLaw(Default::default())) else { panic!() };
    assert_eq!(f.called[0].passive, Some(false));
    assert!((f.called[0].missing.0 - (1e5f64.sqrt() * 0.5 - 0.4)).abs() < 1e-9);
    assert!(f.notes[0].contains("raise s2"), "{:?}", f.notes);
}

/// METH-LAW-STATE: after a step of the speed friction jumps by a ln(V₂/V₁) and settles (a − b) ln(V₂/V₁) away, with both laws of the state.
#[test]
fn meth_law_state_rate_and_state_friction_steps_and_settles() {
    for law in ["ageing_rate", "slip_rate"] {
        let m = machine(
            &format!(
                r#"
                parameters  = {{ mu0 = 0.6, a = 0.02, b = 0.03, L = "0.1 mm", v0 = "1e-6 m/s", V1 = "1e-5 m/s", V2 = "1e-4 m/s" }}
                coordinates = {{ hand = {{ rate = 1 }} }}
                states      = {{ w = {{ start = "log(v0/V1)", rate = "{law}(V, w, v0, L)" }} }}
                define      = {{ V = "if(t < 1, V1, V2)" }}
                body        = [{{ name = "clock", mass = "1 kg", position = "hand" }}]
                run         = {{ until = "20 s" }}
                output      = {{ mu = "rate_state(V, w, mu0, a, b, v0)" }}
                "#
            ),
            "",
        );
        let run = m.run().unwrap();
        let (t, mu) = (run.times().to_vec(), run.series("mu").unwrap());
        let before = mu[t.iter().position(|t| *t >= 1.0).unwrap()];
        let after = mu[t.iter().rposition(|t| *t <= 1.0 + 1e-9).unwrap()];
        // asinh instead of the logarithm: equal up to exp(-2 mu/a)
        assert!((after - before - 0.02 * 10f64.ln()).abs() < 1e-6, "{law}: {before} {after}");
        assert!((mu[mu.len() - 1] - before + 0.01 * 10f64.ln()).abs() < 1e-6, "{law}");
        // creep backwards is as good: the law is odd
        assert!(
            m.value("rate_state(-1, 0, mu0, a, b, v0) + rate_state(1, 0, mu0, a, b, v0)").unwrap().abs()
                < 1e-15
        );
    }
}

/// ANH-1.5-LAWS: values of the cubic law by both its names; critical speeds.
#[test]
fn anh_1_5_laws_have_their_values_and_critical_speeds() {
    let m = machine(
        "parameters = { F = 30, g = 0.02 }\ncoordinates = { x = 0 }\nbody = [{ name = \"b\", mass = 1, position = \"x\" }]",
        "",
    );
    for (v, f) in [(0.0, 90.0), (0.01, 48.75), (0.02, 30.0)] {
        for law in [format!("kaidanovsky_khaikin({v}, F, g)"), format!("cubic({v}, 3*F, 3*F/g, g)")] {
            assert!((m.value(&law).unwrap() - f).abs() < 1e-12, "{law}");
        }
    }
    assert!((m.value("kragelsky_vcr(40, 70, 2, 4e4)").unwrap() - 0.003).abs() < 1e-15);
    assert!((m.value("cubic_vcr(2, 0.1, 0.5)").unwrap() - 0.0866025403784).abs() < 1e-12);
    let help = m.value("stribeck(1, 2)").unwrap_err().to_string();
    assert!(help.contains("takes 4 arguments (v, Fs, Fk, vs), not 2"), "{help}");
    assert!(m.value("strybeck(1, 2, 3, 4)").unwrap_err().to_string().contains("did you mean `stribeck`?"));
}

/// ANH-1.5-LAWS: the law of the time at rest; first jump 1.50996 mm in 0.0498063 s, then rest of 7.5 s.
#[test]
fn anh_1_5_laws_kragelsky_by_name_jumps_as_the_closed_form_says() {
    let m = machine(
        r#"
        parameters  = { m = 10, c = 4e4, F0 = 40, Finf = 70, delta = 2, v = 2e-4 }
        coordinates = { x = 0 }
        body        = [{ name = "mass", mass = "m", position = "x" }]
        force       = [{ along = "x - v*t - 69.9/c", spring = "c" }]
        contact     = [{ name = "guide", slip = "x'", friction_force = { static = "kragelsky(stick_time + 100, F0, Finf, delta)", sliding = "F0" } }]
        run         = { until = "1 s" }
        "#,
        "",
    );
    let run = m.run().unwrap();
    let of = |kind: Kind| run.trajectory.events.iter().find(|e| e.kind == kind).unwrap();
    let (slip, stick) = (of(Kind::Slip), of(Kind::Stick));
    assert!((stick.time - slip.time - 0.0498063).abs() < 1e-6);
    assert!((stick.after.q[0] - slip.after.q[0] - 1.50996e-3).abs() < 1e-8);
}

/// METH-LAW-JUMP: a block on a sled on the ground, both with a jump. When the ground lets go the sled accelerates by the difference of the
/// coefficients; the block stays or goes at the same instant, as its static bound says. Memory decides: nothing ambiguous is reported.
#[test]
fn meth_law_jump_coupled_contacts_are_released_in_rounds() {
    let m = machine(
        r#"
        parameters  = { k = 10, s = 5, d = 2, s2 = 2.5, d2 = 1 }
        coordinates = { x = 0, y = 0 }
        body        = [{ name = "sled", mass = 1, position = "x" }, { name = "block", mass = 2, position = "y" }]
        force       = [{ along = "x", force = "k*t" }]
        contact     = [{ name = "ground_", slip = "x'", friction_force = { static = "s", sliding = "d" } },
                       { name = "top", slip = "y' - x'", friction_force = { static = "s2", sliding = "d2" } }]
        run         = { until = 0.6 }
        "#,
        "",
    );
    for (bound, sled, released) in [(2.5, 1.0, 1), (1.5, 2.0, 2)] {
        let run = m.with("s2", bound).unwrap().run().unwrap();
        let slip = run.trajectory.events.iter().find(|e| e.kind == Kind::Slip).unwrap();
        assert!((slip.time - 0.5).abs() < 1e-9, "{}", slip.time);
        let now =
            run.trajectory.events.iter().filter(|e| e.kind == Kind::Slip && (e.time - 0.5).abs() < 1e-9);
        assert_eq!(now.map(|e| e.contacts.len()).sum::<usize>(), released);
        assert!(run.trajectory.events.iter().all(|e| e.kind != Kind::Finding));
        let (t, a) = (run.times(), run.series("x''").unwrap());
        let first = a[t.iter().rposition(|t| *t <= slip.time).unwrap()];
        assert!((first - sled).abs() < 1e-6, "{first}");
    }
}

/// METH-LAW-JUMP: two brakes on one mass, static 3 and 5 N, sliding 2 and 1 N, pulled by a spring. The mass rests up to 8 N, whichever brake is
/// at its own bound before, then jumps with 3 N of friction: half a swing of amplitude 5 N/k about 3 N/k. Nothing ambiguous is reported.
#[test]
fn meth_law_jump_two_brakes_on_one_mass_let_go_together() {
    let m = machine(
        r#"
        parameters  = { m = 1, k = 100, v = 0.01 }
        coordinates = { x = 0 }
        body        = [{ name = "mass", mass = "m", position = "x" }]
        force       = [{ along = "x - v*t", spring = "k" }]
        contact     = [{ name = "front", slip = "x'", friction_force = { static = 3, sliding = 2 } },
                       { name = "rear", slip = "x'", friction_force = { static = 5, sliding = 1 } }]
        run         = { until = 30 }
        "#,
        "",
    );
    let run = m.run().unwrap();
    let events = &run.trajectory.events;
    assert!(events.iter().all(|e| e.kind != Kind::Finding), "{events:?}");
    let slip = events.iter().find(|e| e.kind == Kind::Slip && e.contacts.len() == 2).unwrap();
    assert!((slip.time - 8.0).abs() < 1e-9, "{}", slip.time);
    let stop = events.iter().find(|e| e.kind == Kind::Stick && e.time > slip.time).unwrap();
    // x = v t − (3 N)/k − (5 N)/k cos(w s) − v/w sin(w s) after s, at rest when x' = 0
    let (w, a, v): (f64, f64, f64) = (10.0, 0.05, 0.01);
    let swing = 2.0 * (std::f64::consts::PI - (a * w / v).atan()) / w;
    assert!((stop.time - slip.time - swing).abs() < 1e-7, "{} {swing}", stop.time - slip.time);
}

/// METH-LAW-CURVE: the report of a law: least value, steepest fall, damping needed, normal force.
#[test]
fn meth_law_curve_the_report_of_a_falling_law() {
    let m = machine(
        r#"
        gravity     = [0, -10]
        parameters  = { mus = 0.5, muk = 0.3, vs = 0.02 }
        coordinates = { x = { rate = 1 }, y = 0 }
        ground      = { floor = { through = [0, 0], normal = [0, 1] } }
        body        = [{ name = "sled", mass = 4, position = ["x", "y"] }]
        contact     = [{ name = "runner", between = ["sled", "ground.floor"], friction = "stribeck_gauss(speed, mus, muk, vs, 0.1)" }]
        run         = { until = 1 }
        "#,
        "",
    );
    let Ok(Finding::FrictionLaw(f)) = m.ask(&Task::FrictionLaw(Default::default())) else { panic!() };
    let (name, law) = f.laws.iter().next().unwrap();
    assert_eq!((name, law.of, law.passive), ("runner", "coefficient", true));
    // steepest where v = vs/sqrt(2): slope -(mus - muk)/vs sqrt(2/e) + 0.1
    let steep = law.steepest.unwrap();
    assert!((steep.speed - 0.02 / 2f64.sqrt()).abs() < 1e-6, "{}", steep.speed);
    let slope = -10.0 * (2.0 / std::f64::consts::E).sqrt() + 0.1;
    assert!((steep.value - slope).abs() < 1e-9);
    assert!((law.normal.0 - 40.0).abs() < 1e-9 && (law.damping_needed + 40.0 * slope).abs() < 1e-6);
    assert_eq!((law.at_zero, law.at_rest), (0.5, [0.5, 0.5]));
}
