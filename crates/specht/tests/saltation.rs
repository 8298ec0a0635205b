//! Derivatives of runs through events: published numbers, closed forms, and differences of whole runs (METH-SALT-*).

mod lab;

use lab::Lab;
use specht::inside::seed;
use specht::sim::{Outside, Record, Seed, Settings, Trajectory, event_driven, event_driven_along};
use specht::system::State;

fn settings(until: f64) -> Settings {
    Settings { tolerance: 1e-11, record: Record::Nothing, ..Settings::until(until) }
}

/// Unit directions of all positions and velocities.
fn units(start: &State) -> Vec<Seed> {
    let unit = |n: usize, k: usize| (0..n).map(|i| f64::from(u8::from(i == k))).collect::<Vec<f64>>();
    let (nq, nu) = (start.q.len(), start.u.len());
    let q = (0..nq).map(|k| Seed { q: unit(nq, k), ..Seed::default() });
    q.chain((0..nu).map(|k| Seed { u: unit(nu, k), ..Seed::default() })).collect()
}

fn along(lab: &Lab, start: &State, s: &Settings, seeds: &[Seed]) -> Trajectory {
    event_driven_along(&lab.sys, start, s, &mut Outside::default(), seeds, false).unwrap()
}

#[track_caller]
fn near(a: f64, b: f64, tol: f64) {
    assert!((a - b).abs() <= tol * (1.0 + b.abs()), "{a} is not {b}");
}

const STOP: &str = r#"
parameters  = { w = 1.3, d = 0.2, e = 0.7, x0 = -0.2, v0 = 1, t0 = 0.3 }
coordinates = { x = { start = "x0", rate = "v0" } }
body        = [{ name = "mass", mass = 1, position = ["x", 0] }]
force       = [{ along = "x", force = "cos(w*(t + t0)) - 0.1*x' - x" }]
ground      = { wall = { through = ["d", 0], normal = [-1, 0] } }
contact     = [{ name = "stop", between = ["mass", "ground.wall"], restitution = "e" }]
run         = { until = 0.9 }
"#;

/// METH-SALT-GEN: an oscillator with a stop; Φ and d(x, x')/d(ω, stop, ε).
#[test]
fn derivatives_through_an_impact_are_those_of_the_prototype() {
    let lab = Lab::text(STOP, &["w", "d", "e"], None, &[]);
    let start = lab.start();
    let mut seeds = units(&start);
    seeds.extend((0..3).map(|k| seed(&lab.sys, k, None).unwrap()));
    let run = along(&lab, &start, &settings(0.9), &seeds);
    near(run.events[0].time + 0.3, 0.650019241, 1e-8);
    let d = run.derivatives.unwrap();
    let expected = [
        [-0.14018599, 1.00298287],
        [-0.41591442, -0.21878960],
        // ω acts through the phase of the shifted time as well: only the stop and ε are the prototype's
        [f64::NAN, f64::NAN],
        [1.13192294, -1.37365797],
        [-0.63338094, -1.00174863],
    ];
    for (column, pair) in d.last.iter().zip(expected) {
        for (a, b) in column.iter().zip(pair).filter(|(_, b)| !b.is_nan()) {
            near(*a, b, 1e-7);
        }
    }
}

fn end(run: &Trajectory) -> Vec<f64> {
    [&run.last.state.q[..], &run.last.state.u, &run.last.state.z, &run.last.state.memory].concat()
}

/// The state at the end as a function of one parameter, differenced: where two steps agree with each other, else NaN.
fn differences(lab: &mut Lab, name: &str, s: &Settings, plain: &Trajectory) -> Vec<f64> {
    let value = lab.value(name);
    let mut at = |h: f64| {
        lab.set(&[(name, value + h)]);
        let run = event_driven(&lab.sys, &lab.start(), s, &mut Outside::default()).unwrap();
        assert_eq!(run.counts.events, plain.counts.events, "{name}: another sequence of events");
        end(&run)
    };
    let pairs: Vec<Vec<f64>> = (0..5)
        .map(|k| {
            let h = 1e-4 * value * 0.25_f64.powi(k);
            at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect();
    lab.set(&[(name, value)]);
    let best = |i: usize| {
        let step = |w: &[Vec<f64>]| ((16.0 * w[1][i] - w[0][i]) / 15.0, (w[1][i] - w[0][i]).abs());
        pairs.windows(2).map(step).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    };
    let size = (0..pairs[0].len()).map(|i| best(i).0.abs()).fold(0.0, f64::max);
    (0..pairs[0].len())
        .map(best)
        .map(|(value, error)| if error <= 1e-5 * size { value } else { f64::NAN })
        .collect()
}

/// Models of the gallery, parameters, the end.
const MODELS: [(&str, &[&str], f64); 15] = [
    ("balls", &["m1", "v"], 0.15),
    ("belt", &["m", "c", "v", "Fs", "Fk"], 3.0),
    ("bouncing_ball", &["e"], 1.3),
    ("clutch", &["TST", "TSL", "kr"], 1.0),
    ("coulomb_oscillator", &["m", "c", "F", "x0"], 1.5),
    ("den_hartog", &["m", "c", "P", "F", "om"], 12.0),
    ("flank", &["m", "c", "v0"], 3e-3),
    ("lecornu", &["mu", "a"], 1.0),
    ("oscillator", &["m1", "c1", "F1", "mu1"], 6.0),
    ("parabola", &["m", "a"], 0.5),
    ("peg", &["mu", "m"], 1.0),
    ("rattle_rig", &["e"], 0.3),
    ("rocking_block", &["B", "th0"], 1.2),
    ("rod", &["s", "mu"], 0.6),
    ("woodpecker", &["lG", "hM", "mu2", "e1"], 0.25),
];

/// METH-SALT-GEN: through impacts, stops, releases, reversals and switches of the gallery, to the accuracy that differences allow.
#[test]
fn derivatives_of_runs_of_the_gallery_are_their_differences() {
    let mut compared = 0;
    for (name, live, until) in MODELS {
        let mut lab = Lab::new(name, live);
        let s = settings(until);
        let seeds: Vec<Seed> = live.iter().map(|p| seed(&lab.sys, lab.number(p), None).unwrap()).collect();
        let start = lab.start();
        let run = along(&lab, &start, &s, &seeds);
        let plain = event_driven(&lab.sys, &start, &s, &mut Outside::default()).unwrap();
        assert_eq!(end(&plain), end(&run), "{name}: derivatives have touched the run");
        let d = run.derivatives.as_ref().unwrap();
        assert!(d.lost.is_empty(), "{name}: {:?}", d.lost);
        assert!(run.counts.all_events() > 0, "{name}: no event");
        for (k, p) in live.iter().enumerate() {
            let expected = differences(&mut lab, p, &s, &plain);
            let size = d.last[k].iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for (a, b) in d.last[k].iter().zip(expected).filter(|(_, b)| !b.is_nan()) {
                assert!((a - b).abs() <= 3e-6 * size, "{name}, {p}: {a} is not {b}");
                compared += 1;
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// METH-SALT-GEN: rates of the outputs are written down on both sides of every event, and nothing of that touches the derivatives. A mass that
/// a belt has let go: x = (Fk + D cos(w τ))/c + v sin(w τ)/w, τ = t − D/(c v), D = Fs − Fk.
#[test]
fn rows_on_the_way_do_not_touch_the_derivatives() {
    let live = ["m", "c", "v", "Fs", "Fk"];
    let lab = Lab::new("belt", &live);
    let start = lab.start();
    let seeds: Vec<Seed> = live.iter().map(|p| seed(&lab.sys, lab.number(p), None).unwrap()).collect();
    let s = Settings { record: Record::Steps, ..settings(0.4) };
    let go = |rows| event_driven_along(&lab.sys, &start, &s, &mut Outside::default(), &seeds, rows).unwrap();
    let d = go(true).derivatives.unwrap();
    let [m, c, v, fs, fk] = live.map(|p| lab.value(p));
    let (w, gap) = ((c / m).sqrt(), fs - fk);
    let tau = 0.4 - gap / (c * v);
    let (sin, cos) = (w * tau).sin_cos();
    let slope = v * cos - gap * w * sin / c;
    near(d.last[2][0], sin / w + slope * gap / (c * v * v), 1e-8);
    near(d.last[3][0], cos / c - slope / (c * v), 1e-8);
    // at an end that moves with the parameter, too
    let end = Seed { until: 1.0, ..seeds[0].clone() };
    let run = event_driven_along(&lab.sys, &start, &s, &mut Outside::default(), &[end], true).unwrap();
    let e = run.derivatives.unwrap();
    near(e.ends[0][0] - e.last[0][0], run.last.state.u[0], 1e-12);
    near(e.last[0][0], d.last[0][0], 1e-9);
    // longer, in every model
    for (name, live, until) in MODELS {
        let lab = Lab::new(name, live);
        let start = lab.start();
        let seeds: Vec<Seed> = live.iter().map(|p| seed(&lab.sys, lab.number(p), None).unwrap()).collect();
        let s = Settings { record: Record::Steps, ..settings(until) };
        let go =
            |rows| event_driven_along(&lab.sys, &start, &s, &mut Outside::default(), &seeds, rows).unwrap();
        let [with, without] = [true, false].map(|rows| go(rows).derivatives.unwrap().last);
        for (a, b) in with.iter().zip(&without) {
            let size = b.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for (a, b) in a.iter().zip(b) {
                assert!((a - b).abs() <= 1e-6 * size + 1e-9, "{name}: {a} is not {b}");
            }
        }
    }
}

/// METH-SALT-GEN, S f⁻ = f⁺: a start moved along its own motion moves the end along its motion, through all events.
#[test]
fn the_derivative_along_the_motion_is_the_motion() {
    for (name, until) in [
        ("belt", 3.0),
        ("coulomb_oscillator", 0.9),
        ("woodpecker", 0.25),
        ("rocking_block", 1.2),
        ("bouncing_ball", 1.3),
    ] {
        let lab = Lab::new(name, &[]);
        let start = lab.start();
        let s = settings(until);
        let first = event_driven(&lab.sys, &start, &s, &mut Outside::default()).unwrap();
        let way = Seed { q: start.u.clone(), u: first.start.point.accel.clone(), ..Seed::default() };
        let run = along(&lab, &start, &s, &[way]);
        let d = &run.derivatives.as_ref().unwrap().last[0];
        let flow = [&run.last.state.u[..], &run.last.accel].concat();
        let size = flow.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for (a, b) in d.iter().zip(&flow) {
            assert!((a - b).abs() <= 1e-7 * size, "{name}: {d:?} is not {flow:?}");
        }
    }
}

const BELT: &str = r#"
parameters  = { v = 0.4, k = 4, c = 0.3, N = 10, x0 = 0.2, v0 = 0.1 }
coordinates = { x = { start = "x0", rate = "v0" } }
body        = [{ name = "mass", mass = 1, position = ["x", 0] }]
force       = [{ along = "x", force = "-k*x - c*x'" }]
contact     = [{ name = "belt", slip = "x' - v", normal_force = "N", friction = "0.25 + 0.25*exp(-speed/0.2)" }]
run         = { until = 3 }
"#;

/// METH-SALT-STOP, METH-SALT-OTHER: a stick phase forgets a velocity for good.
#[test]
fn a_stick_phase_takes_one_rank_exactly() {
    let lab = Lab::text(BELT, &[], None, &[]);
    let start = lab.start();
    let run = along(&lab, &start, &settings(3.0), &units(&start));
    near(run.events[0].time, 0.107325145, 1e-8);
    near(run.events[1].time, 2.594012154, 1e-8);
    let d = run.derivatives.unwrap().last;
    for (column, pair) in d.iter().zip([[-0.21295236, -6.21247459], [-0.02978479, -0.86891374]]) {
        near(column[0], pair[0], 1e-7);
        near(column[1], pair[1], 1e-7);
    }
    let det = d[0][0] * d[1][1] - d[1][0] * d[0][1];
    assert!(det.abs() < 1e-13, "{det}");
}

const TABLE: &str = r#"
gravity     = [0, -9.81]
parameters  = { A = 0.02, w = 20, e = 0.6 }
coordinates = { y = { start = 0.05, rate = 0.1 } }
body        = [{ name = "ball", mass = 1, position = [0, "y"] }]
contact     = [{ name = "table", gap = "y - A*sin(w*t)", restitution = "e" }]
run         = { until = 0.2 }
"#;

/// METH-SALT-IMPACT: a ball on a moving table.
#[test]
fn the_jump_at_a_moving_table_is_the_closed_form() {
    let lab = Lab::text(TABLE, &[], None, &[]);
    let start = lab.start();
    let first = event_driven(&lab.sys, &start, &settings(0.2), &mut Outside::default()).unwrap();
    let hit = first.events[0].time;
    let until = hit + 0.01;
    let run = along(&lab, &start, &settings(until), &units(&start));
    let d = run.derivatives.unwrap().last;
    // S = F(−0.01) Φ F(−hit), F free flight
    let phi = [[d[0][0], d[1][0]], [d[0][1], d[1][1]]];
    let back = [[phi[0][0] - 0.01 * phi[1][0], phi[0][1] - 0.01 * phi[1][1]], phi[1]];
    let jump = [[back[0][0], back[0][1] - hit * back[0][0]], [back[1][0], back[1][1] - hit * back[1][0]]];
    for (row, expected) in jump.iter().zip([[-0.6, 0.0], [4.647758, -0.6]]) {
        near(row[0], expected[0], 1e-6);
        near(row[1], expected[1], 1e-6);
    }
}

const ROD: &str = r#"
gravity     = [0, -9.81]
parameters  = { mu = 0.3, e = 0.5, phi0 = 0.6, vx = 2, vy = -1, om = 0.5 }
coordinates = { x = { rate = "vx" }, y = { start = "0.02 + sin(phi0)", rate = "vy" }, phi = { start = "phi0", rate = "om" } }
ground      = { floor = { through = [0, 0], normal = [0, 1] } }
body        = [{ name = "rod", mass = 1, inertia = "1/3", position = ["x", "y"], angle = "phi", features = { tip = [-1, 0] } }]
contact     = [{ name = "tip", between = ["rod.tip", "ground.floor"], friction = "mu", restitution = "e" }]
run         = { until = 0.05 }
"#;

fn determinant(mut a: Vec<Vec<f64>>) -> f64 {
    let (n, mut det) = (a.len(), 1.0);
    for k in 0..n {
        let p = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        if p != k {
            a.swap(p, k);
            det = -det;
        }
        det *= a[k][k];
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= f * a[k][j];
            }
        }
    }
    det
}

/// METH-SALT-IMPACT: a rod that slides through both phases of its impact keeps all ranks, det = ε²; one that sticks loses one.
#[test]
fn an_impact_that_slides_has_the_determinant_of_restitution_squared() {
    let phi = |set: &[(&str, &str)]| {
        let lab = Lab::text(ROD, &[], None, set);
        let start = lab.start();
        let run = along(&lab, &start, &settings(0.05), &units(&start));
        assert_eq!(run.counts.all_events(), 1, "{:?}", run.counts.events);
        let d = run.derivatives.unwrap();
        assert!(d.lost.is_empty(), "{:?}", d.lost);
        d.last
    };
    near(determinant(phi(&[])), 0.25, 1e-8);
    let stick = phi(&[("mu", "0.8"), ("phi0", "1"), ("vx", "0.3"), ("om", "0.2")]);
    assert!(determinant(stick).abs() < 1e-10);
}
