//! Fits of formulas and of runs.

use crate::{Noise, ask, known, number, task};
use specht::machine::task::FitTask;

const CURVE: &str = "parameters = { p0 = 1.5, p1 = 2.5, p2 = 0.2, p3 = 0.1 }\n";

fn stribeck(p: [f64; 4], v: f64) -> f64 {
    p[0] + (p[1] - p[0]) * (-v / p[2]).exp() + p[3] * v
}

fn curve(noise: &mut dyn FnMut(usize) -> f64) -> String {
    let mut out = "v,F\n".to_string();
    for i in 0..40 {
        let v = 0.01 + 0.99 * i as f64 / 39.0;
        out += &format!("{v},{}\n", stribeck([2.0, 3.0, 0.12, 0.5], v) + noise(i));
    }
    out
}

const RESIDUAL: &str = "F - stribeck(v, p1, p0, p2, p3)";

/// METH-FIT: the acceptance of the specification.
#[test]
fn meth_fit_finds_the_published_estimates_errors_and_correlation() {
    let data = curve(&mut |i| 0.03 * (7.3 * i as f64 + 0.4).cos());
    let f = ask(CURVE, &data, task(&["p0", "p1", "p2", "p3"], Some(RESIDUAL))).unwrap();
    let wanted = [
        ("p0", 2.00824899, 0.04315430),
        ("p1", 3.01547999, 0.04444538),
        ("p2", 0.11573077, 0.01299233),
        ("p3", 0.49090563, 0.05704858),
    ];
    for (name, value, half) in wanted {
        assert!((number(&f.estimate, name) - value).abs() < 1e-8, "{name}");
        assert!((number(&f.half_width, name) - half).abs() < 1e-7, "{name}");
    }
    assert!((f.sigma - 0.02213376).abs() < 1e-8);
    let row = f.correlation.iter().find(|(n, _)| *n == "p0").unwrap().1;
    assert!((number(row, "p3") + 0.974804).abs() < 1e-6);
    // n log(S/n) + 2p by an independent program
    assert!((f.aic.0 + 301.06651619).abs() < 1e-6 && (f.bic.0 + 294.31099837).abs() < 1e-6);
}

fn covered(repetitions: u64, seed: u64) -> (usize, usize) {
    let mut noise = Noise(seed);
    let (mut inside, mut all) = (0, 0);
    let m = [2.0, 3.0, 0.12, 0.5];
    for _ in 0..repetitions {
        let data = curve(&mut |_| 0.03 * noise.normal());
        let f = ask(CURVE, &data, task(&["p0", "p1", "p2", "p3"], Some(RESIDUAL))).unwrap();
        for (k, (name, x)) in f.estimate.iter().enumerate() {
            inside += usize::from((x.0 - m[k]).abs() <= number(&f.half_width, name));
            all += 1;
        }
    }
    (inside, all)
}

/// METH-FIT: intervals cover the truth; the figure of 500 repetitions stands in `docs/explain/fit.md`.
#[test]
fn meth_fit_intervals_of_95_per_cent_cover_the_truth() {
    let (inside, all) = covered(60, 1);
    // 240 intervals, correlated in fours: 3 standard deviations of 60 independent ones
    let share = inside as f64 / all as f64;
    assert!((0.865..=1.0).contains(&share), "{inside} of {all}");
}

#[test]
#[ignore = "the full figure: 500 repetitions, a minute"]
fn meth_fit_intervals_of_95_per_cent_cover_the_truth_in_500_repetitions() {
    let (inside, all) = covered(500, 2);
    let share = inside as f64 / all as f64;
    println!("formula: {inside} of {all}: {:.2} %", 100.0 * share);
    assert!((0.93..=0.97).contains(&share));
    let (inside, all) = covered_along(500, 3);
    let share = inside as f64 / all as f64;
    println!("run: {inside} of {all}: {:.2} %", 100.0 * share);
    assert!((0.93..=0.97).contains(&share));
}

const BELT: &str = r#"
    parameters  = { m = 1, v = 0.2, Fs = 8, Fk = 5, c = 100 }
    coordinates = { x = { start = 0, rate = "v" } }
    body        = [{ name = "mass", mass = "m", position = "x" }]
    force       = [{ along = "x", spring = "c" }]
    contact     = [{ name = "belt", slip = "x' - v", friction_force = { static = "Fs", sliding = "Fk" } }]
    run         = { until = 2 }
"#;

/// The motion in closed form: rest to Fs, then a sine about Fk.
fn belt(t: f64) -> f64 {
    let (fs, fk, c, v) = (8.0, 5.0, 100.0, 0.2);
    let w = f64::sqrt(c);
    let d = (fs - fk) / c;
    let slide = 2.0 * (std::f64::consts::PI - (d * w / v).atan()) / w;
    let (mut begin, mut x0) = (0.0, 0.0);
    loop {
        let slip = begin + (fs / c - x0) / v;
        if t <= slip {
            return x0 + v * (t - begin);
        }
        let s = (t - slip).min(slide) * w;
        let x = fk / c + d * s.cos() + v / w * s.sin();
        if t <= slip + slide {
            return x;
        }
        (begin, x0) = (slip + slide, x);
    }
}

fn record(rows: usize, step: f64, noise: &mut dyn FnMut() -> f64) -> String {
    let mut out = "t,x\n".to_string();
    for i in 1..=rows {
        let t = step * i as f64;
        out += &format!("{t},{}\n", belt(t) + noise());
    }
    out
}

fn covered_along(repetitions: u64, seed: u64) -> (usize, usize) {
    let mut noise = Noise(seed);
    let (mut inside, mut all) = (0, 0);
    for _ in 0..repetitions {
        let data = record(200, 0.01, &mut || 1e-3 * noise.normal());
        let f = ask(BELT, &data, task(&["Fs", "Fk", "c"], None)).unwrap();
        for ((name, x), truth) in f.estimate.iter().zip([8.0, 5.0, 100.0]) {
            inside += usize::from((x.0 - truth).abs() <= number(&f.half_width, name));
            all += 1;
        }
    }
    (inside, all)
}

/// METH-FIT: along the run, with derivatives through stops and releases: without noise the truth itself, from ten per cent off.
#[test]
fn meth_fit_along_a_run_finds_the_truth_through_all_events() {
    let data = record(400, 0.005, &mut || 0.0);
    let text = BELT.replace("Fs = 8", "Fs = 7.2").replace("Fk = 5", "Fk = 4.6").replace("c = 100", "c = 107");
    let f = ask(&text, &data, task(&["Fs", "Fk", "c"], None)).unwrap();
    for (name, truth) in [("Fs", 8.0), ("Fk", 5.0), ("c", 100.0)] {
        assert!((number(&f.estimate, name) / truth - 1.0).abs() < 1e-6, "{name}: {f:?}");
    }
    assert!(f.along && f.converged && f.differenced.is_empty());
}

/// METH-FIT: intervals along the run.
#[test]
fn meth_fit_intervals_along_a_run_cover_the_truth() {
    let (inside, all) = covered_along(12, 5);
    assert!(inside * 10 >= all * 8, "{inside} of {all}");
}

/// METH-FIT: restitution and height from a bouncing ball.
#[test]
fn meth_fit_through_impacts() {
    let text = r#"
        gravity     = [0, -9.81]
        parameters  = { e = 0.6, h = 0.9 }
        coordinates = { y = "h" }
        ground      = { floor = { through = [0, 0], normal = [0, 1] } }
        body        = [{ name = "ball", mass = 1, position = [0, "y"] }]
        contact     = [{ name = "floor", between = ["ball", "ground.floor"], restitution = "e" }]
        run         = { until = 1 }
    "#;
    let height = |t: f64| {
        let (h, e, g) = (1.0f64, 0.7, 9.81);
        let fall = (2.0 * h / g).sqrt();
        let (mut s, mut v) = (t - fall, e * g * fall);
        if s < 0.0 {
            return h - g * t * t / 2.0;
        }
        while s > 2.0 * v / g {
            s -= 2.0 * v / g;
            v *= e;
        }
        v * s - g * s * s / 2.0
    };
    let mut data = "t,high\n".to_string();
    for i in 0..150 {
        data += &format!("{},{}\n", 0.01 * f64::from(i), height(0.01 * f64::from(i)));
    }
    let f = ask(text, &data, task(&["e", "h"], Some("high - y"))).unwrap();
    assert!(
        (number(&f.estimate, "e") - 0.7).abs() < 1e-7 && (number(&f.estimate, "h") - 1.0).abs() < 1e-7,
        "{f:?}"
    );
}

/// METH-FIT: mass and stiffness of a free oscillation: only their ratio is in the data; the combination is named.
#[test]
fn meth_fit_names_what_cannot_be_told_apart() {
    let text = r#"
        parameters  = { m = 1, c = 90 }
        coordinates = { x = 1 }
        body        = [{ name = "mass", mass = "m", position = "x" }]
        force       = [{ along = "x", spring = "c" }]
        run         = { until = 1 }
    "#;
    let mut noise = Noise(4);
    let mut data = "t,x\n".to_string();
    for i in 1..=100 {
        let t = 0.01 * f64::from(i);
        data += &format!("{t},{}\n", (10.0 * t).cos() + 0.01 * noise.normal());
    }
    let f = ask(text, &data, task(&["m", "c"], None)).unwrap();
    assert!(!known(&f, "m") && !known(&f, "c"));
    assert!(number(&f.half_width, "m").is_nan());
    let c = f.combination.as_ref().unwrap();
    assert!((number(c, "m") - number(c, "c")).abs() < 1e-3, "{c:?}");
    assert!(f.notes.iter().any(|n| n.contains("cannot tell `m`, `c` apart")), "{:?}", f.notes);
    let f = ask(text, &data, task(&["c"], None)).unwrap();
    assert!((number(&f.estimate, "c") - 100.0).abs() < 3.0 * number(&f.half_width, "c"));
}

/// METH-FIT: profile intervals of a line are the symmetric ones; of an exponent they are not.
#[test]
fn meth_fit_profile_intervals() {
    let mut noise = Noise(9);
    let mut data = "x,y\n".to_string();
    for i in 0..12 {
        let x = f64::from(i);
        data += &format!("{x},{}\n", 1.0 + 2.0 * x + 0.5 * noise.normal());
    }
    let line = FitTask { profile: true, ..task(&["a", "b"], Some("y - a - b*x")) };
    let f = ask("parameters = { a = 0, b = 1 }", &data, line).unwrap();
    for (name, ends) in f.profile.as_ref().unwrap().iter() {
        let (x, half) = (number(&f.estimate, name), number(&f.half_width, name));
        assert!(
            (ends[0].0 - x + half).abs() < 1e-3 * half && (ends[1].0 - x - half).abs() < 1e-3 * half,
            "{name}"
        );
    }
    let bent = FitTask { profile: true, ..task(&["a", "k"], Some("y - a*exp(k*x)")) };
    let f = ask("parameters = { a = 3, k = 0.2 }", &data, bent).unwrap();
    for (name, ends) in f.profile.as_ref().unwrap().iter() {
        let x = number(&f.estimate, name);
        assert!(ends[0].0 < x && x < ends[1].0, "{name}: {ends:?}");
    }
}

/// METH-FIT: a far value is named with its line, and counts less when asked.
#[test]
fn meth_fit_outliers_are_named_and_a_robust_fit_bears_them() {
    let mut data = "x,y\n".to_string();
    let mut noise = Noise(2);
    for i in 0..40 {
        let x = f64::from(i);
        data += &format!("{x},{}\n", 1.0 + 2.0 * x + 0.1 * noise.normal() + if i == 7 { 50.0 } else { 0.0 });
    }
    let ask_for = |robust: bool| {
        let t = FitTask { robust, ..task(&["a", "b"], Some("y - a - b*x")) };
        ask("parameters = { a = 0, b = 1 }", &data, t).unwrap()
    };
    let plain = ask_for(false);
    assert_eq!(plain.residual_tests.outliers, [9]);
    assert!(plain.notes.iter().any(|n| n.contains("line 9") && n.contains("--robust")), "{:?}", plain.notes);
    assert!((number(&plain.estimate, "a") - 1.0).abs() > 0.5);
    assert!((number(&ask_for(true).estimate, "a") - 1.0).abs() < 0.15);
}

#[test]
fn bad_data_are_named_with_their_line_and_a_remedy() {
    let line = || task(&["a", "b"], Some("y - a - b*x"));
    let text = "parameters = { a = 0, b = 1 }";
    let wrong = |data: &str, t: FitTask| ask(text, data, t).unwrap_err().to_string();
    assert!(wrong("", line()).contains("the file is empty"));
    assert!(wrong("x,y\n1,2\n", line()).contains("1 rows cannot tell 2 parameters"));
    let why = wrong("x,z\n1,2\n2,3\n3,4\n", line());
    assert!(why.contains("unknown name `y`") && why.contains("the columns of the data are x, z"), "{why}");
    let why = wrong("x,y\n1,2\n2,abc\n3,4\n", line());
    assert!(why.contains("line 3: `abc` in column `y` is not a number"), "{why}");
    let why = wrong("x,y [foo]\n1,2\n2,1\n3,4\n", line());
    assert!(why.contains("column `y`") && why.contains("foo"), "{why}");
    let why = wrong("x,y\n1,2\n2,1\n3,4\n", FitTask { weights: Some("w".into()), ..line() });
    assert!(why.contains("there is no column `w`"), "{why}");
    let why = wrong("x,y\n1,2\n2,1\n3,4\n", task(&["a", "bb"], Some("y - a")));
    assert!(why.contains("there is no parameter `bb`"), "{why}");
    let why = wrong("x,y\n1,2\n2,1\n3,4\n", FitTask { residual: None, ..line() });
    assert!(why.contains("no column `t`") && why.contains("residual"), "{why}");
    // wrong unit: a force is compared with a length
    let why = ask("parameters = { a = \"1 m\", b = 1 }", "x,y [N]\n1,2\n2,1\n3,4\n", line())
        .unwrap_err()
        .to_string();
    assert!(why.contains("subtracted from"), "{why}");
    // gaps are left out and said
    let f = ask(text, "x,y\n0,1\n1,\n2,5\n3,7.1\n4,9\n", line()).unwrap();
    assert_eq!(f.points, 4);
    assert!(f.notes.iter().any(|n| n.contains("line 3")), "{:?}", f.notes);
    // a series: times that fall, columns that the model does not know, millimetres without a unit
    let why = ask(BELT, "t,x\n0.1,0\n0.05,0\n", task(&["c"], None)).unwrap_err().to_string();
    assert!(why.contains("line 3: the time falls"), "{why}");
    let why = ask(BELT, "t,z\n0.1,0\n0.2,0\n", task(&["c"], None)).unwrap_err().to_string();
    assert!(why.contains("its columns are z") && why.contains("the model has"), "{why}");
    let thousand: String = record(100, 0.02, &mut || 0.0)
        .lines()
        .map(|l| match l.split_once(',') {
            Some((t, x)) if t != "t" => format!("{t},{}\n", 1e3 * x.parse::<f64>().unwrap()),
            _ => format!("{l}\n"),
        })
        .collect();
    let f = ask(BELT, &thousand, task(&["c"], None)).unwrap();
    assert!(f.notes.iter().any(|n| n.contains("a thousand times larger")), "{:?}", f.notes);
    // with its unit it is right
    let f = ask(BELT, &thousand.replace("t,x", "t,x [mm]"), task(&["c"], None)).unwrap();
    assert!((number(&f.estimate, "c") - 100.0).abs() < 1e-4);
}

#[test]
fn a_parameter_at_its_bound_has_no_interval_and_one_without_influence_is_named() {
    let data = "x,y\n0,1\n1,3.1\n2,4.9\n3,7\n";
    let t = FitTask { bounds: vec![("b".into(), 0.0, 1.5)], ..task(&["a", "b", "z"], Some("y - a - b*x")) };
    let f = ask("parameters = { a = 0, b = 1, z = 2 }", data, t).unwrap();
    assert_eq!(f.at_bound, ["b"]);
    assert!(number(&f.half_width, "b").is_nan() && number(&f.estimate, "b") == 1.5);
    assert!(f.notes.iter().any(|n| n.contains("`z` has no influence")));
    assert!(!known(&f, "z") && known(&f, "a"));
}

/// Where a derivative does not exist runs are differenced, and the finding says so.
#[test]
fn a_run_without_derivatives_is_differenced() {
    let text = r#"
        gravity     = [0, -10]
        parameters  = { mu = 0.25, v0 = 2 }
        coordinates = { x = { rate = "v0" }, y = 0 }
        states      = { W = { rate = "runner.heat'" } }
        ground      = { floor = { through = [0, 0], normal = [0, 1] } }
        body        = [{ name = "sled", mass = 1, position = ["x", "y"] }]
        contact     = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
        run         = { until = 1 }
    "#;
    let data: String = std::iter::once("t,x\n".to_string())
        .chain((1..40).map(|i| {
            let t = 0.01 * f64::from(i);
            format!("{t},{}\n", 2.0 * t - 0.3 * 10.0 * t * t / 2.0)
        }))
        .collect();
    let f = ask(text, &data, task(&["mu"], None)).unwrap();
    assert_eq!(f.differenced, ["mu"]);
    assert!((number(&f.estimate, "mu") - 0.3).abs() < 1e-7);
}

/// Errors that last: each is 0.8 of the one before, plus a new one.
fn lasting(noise: &mut Noise) -> impl FnMut(usize) -> f64 + '_ {
    let mut last = 0.0;
    move |_| {
        last = 0.8 * last + 0.6 * noise.normal();
        last
    }
}

/// METH-FIT: a straight line with errors that last for several rows. Intervals for independent errors cover far too little; those of resampled
/// blocks do not.
#[test]
fn meth_fit_blocks_of_residuals_bear_errors_that_last() {
    let mut noise = Noise(5);
    let (mut plain, mut blocks) = (0, 0);
    let repetitions = 120;
    for _ in 0..repetitions {
        let mut data = "x,y\n".to_string();
        let mut error = lasting(&mut noise);
        for i in 0..200 {
            let x = i as f64 / 199.0;
            data += &format!("{x},{}\n", 1.0 + 2.0 * x + error(i));
        }
        drop(error);
        let model = "parameters = { a = 1, b = 1 }\n";
        let asked = FitTask { bootstrap: 200, starts: Some(1), ..task(&["a", "b"], Some("y - a - b*x")) };
        let f = ask(model, &data, asked).unwrap();
        assert!(f.block.is_some_and(|b| (5..=40).contains(&b)), "{:?}", f.block);
        let (_, ends) = f.bootstrap.as_ref().unwrap().iter().nth(1).unwrap();
        blocks += usize::from(ends[0].0 <= 2.0 && 2.0 <= ends[1].0);
        plain += usize::from((number(&f.estimate, "b") - 2.0).abs() <= number(&f.half_width, "b"));
    }
    // neighbours alike by 0.8: the error of a mean is three times that of independent ones, which covers 49 %
    let share = |n: usize| n as f64 / repetitions as f64;
    assert!(share(plain) < 0.65 && share(blocks) > 0.80, "{plain} and {blocks} of {repetitions}");
}

/// METH-FIT: independent errors are drawn row by row, and the intervals are those of the derivatives.
#[test]
fn meth_fit_resampled_intervals_of_independent_errors_are_the_usual_ones() {
    let mut noise = Noise(9);
    let data = curve(&mut |_| 0.03 * noise.normal());
    let asked = FitTask { bootstrap: 400, ..task(&["p0", "p1", "p2", "p3"], Some(RESIDUAL)) };
    let f = ask(CURVE, &data, asked).unwrap();
    assert_eq!(f.block, Some(1));
    for (name, ends) in f.bootstrap.as_ref().unwrap().iter() {
        let half = 0.5 * (ends[1].0 - ends[0].0);
        assert!((half / number(&f.half_width, name) - 1.0).abs() < 0.25, "{name} {half}");
    }
}

/// METH-FIT: the last fifth of the rows is not fitted. The right law predicts it, a parabola through a falling curve does not.
#[test]
fn meth_fit_rows_that_were_not_used_tell_whether_the_model_predicts() {
    let mut noise = Noise(21);
    let data = curve(&mut |_| 0.01 * noise.normal());
    let asked = FitTask { holdout: 0.2, ..task(&["p0", "p1", "p2", "p3"], Some(RESIDUAL)) };
    let f = ask(CURVE, &data, asked).unwrap();
    let v = f.validation.as_ref().unwrap();
    assert_eq!((f.points, v.rows, v.predicts), (32, 8, true));
    assert_eq!(f.data.curves[0].x.len(), 40);
    let parabola = "parameters = { p0 = 3, p1 = -1, p2 = 1 }\n";
    let asked = FitTask { holdout: 0.2, ..task(&["p0", "p1", "p2"], Some("F - p0 - p1*v - p2*v^2")) };
    let f = ask(parabola, &data, asked).unwrap();
    let v = f.validation.as_ref().unwrap();
    assert!(!v.predicts && number(&v.rms, "F") > 3.0 * number(&v.fitted, "F"), "{v:?}");
    assert!(f.notes.iter().any(|n| n.contains("does not predict")), "{:?}", f.notes);
    let all = FitTask { holdout: 1.5, ..task(&["p0"], Some("F - p0")) };
    assert!(ask(parabola, &data, all).unwrap_err().to_string().contains("share of the rows"));
}
