//! Sweeps against closed forms, and that nothing about how they are done shows in their results.

use specht::machine::sweep::*;
use specht::machine::{Machine, Setup};
use std::path::PathBuf;

/// A block that slides v₀²/(2 μ g) and stops.
const BLOCK: &str = r#"
name        = "sled"
gravity     = [0, -9.81]
parameters  = { mu = 0.3, v0 = "2 m/s", m = "5 kg", lift = "0 m" }
ground      = { floor = { through = [0, 0], normal = [0, 1] } }
body        = [{ name = "sled", mass = "m", position = ["x", "y"] }]
contact     = [{ name = "runner", between = ["sled", "ground.floor"], friction = "mu" }]
event       = [{ name = "stopped", on = "runner.stick", stop = true }]
run         = { until = "100 s" }
output      = { way = "x", law = "2*v0 + 3*mu" }

[coordinates]
x = { rate = "v0" }
y = 0
"#;

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|t| t.to_string()).collect()
}

fn sweep(axes: &[&str], record: &[&str]) -> Sweep {
    let axes = axes.iter().map(|a| Span::read(a).unwrap()).collect();
    Sweep { plan: Plan { axes, ..Plan::default() }, record: texts(record), diagram: None }
}

fn number(rows: &Rows, row: usize, column: usize) -> f64 {
    rows.cell(row, column).number().unwrap()
}

fn point(sweep: &Sweep, row: usize) -> Vec<f64> {
    let mut out = Vec::new();
    sweep.plan.point(row, &mut out);
    out
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("specht-sweep-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_sweep_over_friction_and_speed_is_the_law_of_the_sliding_block() {
    let sled = Machine::read(BLOCK).unwrap();
    let sweep = sweep(
        &["mu=0.1..1:10", "v0=1,2,3"],
        &["final.x", "time", "status", "outputs.way > 1", "max(outputs.way)"],
    );
    let rows = sweep.run(&sled, How::default()).unwrap();
    assert_eq!((rows.len(), rows.count_done(), rows.count_failed()), (30, 30, 0));
    for row in 0..30 {
        let p = point(&sweep, row);
        let way = p[1] * p[1] / (2.0 * p[0] * 9.81);
        assert!((number(&rows, row, 0) - way).abs() < 1e-9, "{p:?}");
        assert!((number(&rows, row, 1) - p[1] / (p[0] * 9.81)).abs() < 1e-9);
        assert_eq!(rows.cell(row, 2), Cell::Text("stopped".into()));
        assert_eq!(rows.cell(row, 3), Cell::Bool(way > 1.0));
        assert!((number(&rows, row, 4) - way).abs() < 1e-9);
    }
}

#[test]
fn runs_that_fail_are_rows_with_their_reason() {
    let text =
        BLOCK.replace("y = 0", "y = \"lift\"").replace("event ", "start = { closed = [\"runner\"] }\nevent ");
    let sled = Machine::read(&text).unwrap();
    let sweep = sweep(&["lift=-1,0,1"], &["final.x", "events[kind=impact][1].time"]);
    let rows = sweep.run(&sled, How::default()).unwrap();
    assert_eq!(rows.count_done(), 3);
    assert!(rows.error(0).is_some() && number(&rows, 0, 0).is_nan());
    // the run went well, the address finds nothing in it
    assert!(number(&rows, 1, 0) > 0.0 && rows.error(1).unwrap().contains("empty list"));
    assert!(rows.error(2).is_some());
}

/// Was wrong: a sweep took values that a single run refuses, and negative friction drove the block to any length.
#[test]
fn values_that_a_file_refuses_are_rows_with_the_reason() {
    let text = BLOCK.replace(
        "friction = \"mu\"",
        "friction = { static = \"mu + more\", sliding = \"mu\" }, restitution = \"e\"",
    );
    let text = text.replace("mu = 0.3,", "mu = 0.3, more = 0.1, e = 0.5,");
    let sled = Machine::read(&text).unwrap();
    for (axis, said) in [
        ("mu=-0.2,0.3", "friction coefficient is -0.2"),
        ("more=-0.5,0.1", "friction coefficient is -0.2"),
        ("m=-1,5", "the mass of `sled` is -1"),
        ("e=-0.1,0.5", "restitution is -0.1"),
        ("e=1.5,0.5", "restitution is 1.5"),
    ] {
        let sweep = sweep(&[axis], &["final.x"]);
        let rows = sweep.run(&sled, How::default()).unwrap();
        assert!(rows.error(0).is_some_and(|e| e.contains(said)), "{axis}: {:?}", rows.error(0));
        assert!(number(&rows, 0, 0).is_nan());
        assert!((number(&rows, 1, 0) - 4.0 / (2.0 * 0.3 * 9.81)).abs() < 1e-9);
    }
}

/// x = v0²/(2 μ g) > 1 where μ < v0²/(2 g), μ ~ N(0.3, 0.05). Was wrong: all rows of the grid were taken for independent samples.
#[test]
fn samples_over_a_grid_have_an_interval_at_each_of_its_points_and_none_as_a_whole() {
    let sled = Machine::read(BLOCK).unwrap();
    let axes = vec![Span::read("v0=2.2,2.4,2.6").unwrap()];
    let random = vec![Random::read("mu", "normal(0.3, 0.05)").unwrap()];
    let plan = Plan { axes, random, samples: 400, seed: 3, ..Plan::default() };
    let sweep = Sweep { plan, record: texts(&["final.x > 1", "final.x"]), diagram: None };
    let rows = sweep.run(&sled, How::default()).unwrap();
    let all = sweep.summaries(&rows);
    let whole = all[0].share.unwrap();
    assert!(whole.exact.is_none() && whole.wilson.is_none());
    assert!(all[1].numbers.as_ref().unwrap().mean_error.is_none());
    let key = |k: usize, point: usize, key: &str| {
        all[k].points[point].iter().find(|(name, _)| *name == key).map(|(_, v)| v.clone()).unwrap()
    };
    let mut holds = 0;
    // Φ((v0²/(2 g) − 0.3)/0.05), by scipy.stats.norm
    for (k, (v0, share)) in
        [(2.2, 0.143153307), (2.4, 0.448900244), (2.6, 0.813516000)].into_iter().enumerate()
    {
        assert_eq!((key(0, k, "v0").as_f64(), key(0, k, "count").as_u64()), (Some(v0), Some(400)));
        let exact = key(0, k, "exact");
        assert!(exact[0].as_f64().unwrap() < share && share < exact[1].as_f64().unwrap(), "{v0}: {exact}");
        holds += key(0, k, "holds").as_u64().unwrap() as usize;
        // of 1/μ: about (1 + 0.05²/0.3²)/0.3 at first order
        let mean = v0 * v0 / (2.0 * 9.81) / 0.3 * (1.0 + 1.0 / 36.0);
        let error = key(1, k, "mean_error").as_f64().unwrap();
        assert!((key(1, k, "mean").as_f64().unwrap() - mean).abs() < 2.0 * error, "{v0}");
    }
    assert_eq!(holds, whole.holds);
}

/// law = 2 v0 + 3 mu: the axis has the variance 4·0.01·2/3 = 0.02667, mu 9·0.05² = 0.0225, m has no effect; parts 54.2 and 45.8 %.
#[test]
fn parts_of_the_variance_of_a_grid_with_samples_are_those_of_their_effects() {
    let sled = Machine::read(BLOCK).unwrap().set_up(Setup { until: Some(1e-6), ..Setup::default() });
    let axes = vec![Span::read("v0=1.9,2,2.1").unwrap()];
    let random =
        vec![Random::read("m", "normal(5, 0.1)").unwrap(), Random::read("mu", "normal(0.3, 0.05)").unwrap()];
    for samples in [60, 900] {
        let plan = Plan { axes: axes.clone(), random: random.clone(), samples, seed: 2, ..Plan::default() };
        let sweep = Sweep { plan, record: texts(&["outputs.law"]), diagram: None };
        let rows = sweep.run(&sled, How::default()).unwrap();
        let all = sweep.summaries(&rows);
        let of = |name: &str| all[0].influence.iter().find(|i| i.parameter == name).unwrap().first_order.0;
        let near = 1.5 / f64::from(samples as u32).sqrt();
        assert!((of("v0") - 0.542).abs() < near && (of("mu") - 0.458).abs() < near, "{:?}", all[0].influence);
        assert!(of("m") < near, "{:?}", all[0].influence);
    }
}

/// Without inertia the third run fails at once: its place says nothing about where sleds come to rest.
#[test]
fn runs_that_do_not_reach_their_end_are_not_counted_where_the_end_is_asked_for() {
    let sled = Machine::read(BLOCK).unwrap();
    let sweep = sweep(&["m=5,10,0"], &["final.x > 1", "final.x", "time", "status == \"failed\""]);
    let rows = sweep.run(&sled, How::default()).unwrap();
    assert_eq!(rows.cell(2, 3), Cell::Bool(true));
    let all = sweep.summaries(&rows);
    let counts: Vec<_> = all.iter().map(|s| (s.count, s.missing, s.cut)).collect();
    assert_eq!(counts, [(2, 0, 1), (2, 0, 1), (3, 0, 0), (3, 0, 0)]);
}

#[test]
fn what_cannot_be_swept_is_refused_before_anything_runs() {
    let sled = Machine::read(BLOCK).unwrap();
    for (sweep, said) in [
        (sweep(&["nu=0..1:3"], &["time"]), "no parameter `nu`"),
        (sweep(&["mu=0..1:3"], &[]), "something to record"),
        (sweep(&["mu=0..1:3"], &["max("]), "max("),
        (sweep(&["mu=0..1:3"], &["findings.none.x"]), "no task `none`"),
        (sweep(&["mu=0..1:3"], &["finla.x"]), "did you mean `final`"),
    ] {
        let message = sweep.run(&sled, How::default()).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
    }
}

/// law = 2 v0 + 3 mu with v0 ~ N(2, 0.1), mu ~ N(0.3, 0.05): N(4.9, √(0.04 + 0.0225) = 0.25).
#[test]
fn a_linear_function_of_normals_has_their_distribution_and_shares() {
    let sled = Machine::read(BLOCK).unwrap().set_up(Setup { until: Some(1e-6), ..Setup::default() });
    let random =
        vec![Random::read("v0", "normal(2, 0.1)").unwrap(), Random::read("mu", "normal(0.3, 0.05)").unwrap()];
    let plan = Plan { random, samples: 4000, seed: 1, ..Plan::default() };
    let sweep = Sweep { plan, record: texts(&["outputs.law", "outputs.law > 5.15"]), diagram: None };
    let rows = sweep.run(&sled, How::default()).unwrap();
    let all = sweep.summaries(&rows);
    let law = all[0].numbers.as_ref().unwrap();
    // four standard errors
    assert!((law.mean - 4.9).abs() < 4.0 * 0.25 / 4000f64.sqrt());
    assert!((law.deviation.0 - 0.25).abs() < 4.0 * 0.25 / 8000f64.sqrt());
    // one standard deviation above the mean: 15.866 %
    let share = all[1].share.unwrap();
    for [low, high] in [share.exact.unwrap(), share.wilson.unwrap()] {
        assert!(low < 0.158655 && 0.158655 < high, "{share:?}");
    }
    // parts of the variance: 0.04/0.0625 = 0.64 and 0.36
    let of = |name: &str| all[0].influence.iter().find(|i| i.parameter == name).unwrap();
    assert_eq!(all[0].influence[0].parameter, "v0");
    assert!((of("v0").first_order.0 - 0.64).abs() < 0.05 && (of("mu").first_order.0 - 0.36).abs() < 0.05);
    // rank correlation of a normal pair: 6/π asin(ρ/2)
    for (name, rho) in [("v0", 0.8_f64), ("mu", 0.6)] {
        let exact = 6.0 / std::f64::consts::PI * (rho / 2.0).asin();
        assert!((of(name).rank_correlation - exact).abs() < 0.03);
    }
    // the low-discrepancy sequence meets the mean far better
    let even =
        Sweep { plan: Plan { sampling: Sampling::Sobol, samples: 1024, ..sweep.plan.clone() }, ..sweep };
    let rows = even.run(&sled, How::default()).unwrap();
    assert!((even.summaries(&rows)[0].numbers.as_ref().unwrap().mean - 4.9).abs() < 1e-3);
}

/// v0 + 4 lift m with all uniform in ±1 about zero: variances 1/3 and 16/9, the second only together.
#[test]
fn what_parameters_do_only_together_is_in_their_total_index() {
    let sled = Machine::read(BLOCK).unwrap().set_up(Setup { until: Some(1e-6), ..Setup::default() });
    let read = |name: &str, text: &str| Random::read(name, text).unwrap();
    let random = vec![read("v0", "uniform(1, 3)"), read("lift", "uniform(1, 3)"), read("m", "uniform(1, 3)")];
    let plan = Plan { random, samples: 2000, total: true, sampling: Sampling::Sobol, ..Plan::default() };
    assert_eq!(plan.rows(), 10_000);
    let law = "parameters.v0 + 4*(parameters.lift - 2)*(parameters.m - 2)";
    let sweep = Sweep { plan, record: texts(&[law]), diagram: None };
    let rows = sweep.run(&sled, How::default()).unwrap();
    let all = &sweep.summaries(&rows)[0];
    assert_eq!(all.count, 4000);
    for (name, first, total) in [("v0", 3.0, 3.0), ("lift", 0.0, 16.0), ("m", 0.0, 16.0)] {
        let i = all.influence.iter().find(|i| i.parameter == name).unwrap();
        assert!((i.first_order.0 - first / 19.0).abs() < 0.03, "{i:?}");
        assert!((i.total.unwrap() - total / 19.0).abs() < 0.03, "{i:?}");
    }
    let grid = Plan { axes: vec![Span::read("mu=0..1:3").unwrap()], ..sweep.plan };
    assert!(grid.check().is_err());
}

/// Ishigami's function sin x₁ + a sin² x₂ + b x₃⁴ sin x₁ of uniform angles, a = 7, b = 0.1: with V₁ = ½(1 + b π⁴/5)², V₂ = a²/8 and
/// V₁₃ = 8 b² π⁸/225 the indices are V₁/V, V₂/V, 0 and (V₁ + V₁₃)/V, V₂/V, V₁₃/V.
#[test]
fn sobol_indices_of_ishigamis_function_are_those_of_its_closed_form() {
    use std::f64::consts::PI;
    let sled = Machine::read(BLOCK).unwrap().set_up(Setup { until: Some(1e-6), ..Setup::default() });
    let read = |name: &str| Random::read(name, "uniform(1, 3)").unwrap();
    let plan = Plan {
        random: vec![read("v0"), read("lift"), read("m")],
        samples: 4000,
        total: true,
        sampling: Sampling::Sobol,
        ..Plan::default()
    };
    let x = |name: &str| format!("({PI}*(parameters.{name} - 2))");
    let (x1, x2, x3) = (x("v0"), x("lift"), x("m"));
    let law = format!("sin({x1}) + 7*sin({x2})^2 + 0.1*{x3}^4*sin({x1})");
    let sweep = Sweep { plan, record: vec![law], diagram: None };
    let rows = sweep.run(&sled, How::default()).unwrap();
    let all = &sweep.summaries(&rows)[0];
    let (v1, v2) = (0.5 * (1.0 + 0.1 * PI.powi(4) / 5.0).powi(2), 49.0 / 8.0);
    let v13 = 8.0 * 0.01 * PI.powi(8) / 225.0;
    let v = v1 + v2 + v13;
    for (name, first, total) in [("v0", v1, v1 + v13), ("lift", v2, v2), ("m", 0.0, v13)] {
        let i = all.influence.iter().find(|i| i.parameter == name).unwrap();
        assert!((i.first_order.0 - first / v).abs() < 0.02, "{i:?} {}", first / v);
        assert!((i.total.unwrap() - total / v).abs() < 0.02, "{i:?} {}", total / v);
    }
    let deviation = all.numbers.as_ref().unwrap().deviation.0;
    assert!((deviation / v.sqrt() - 1.0).abs() < 0.01, "{deviation}");
}

#[test]
fn names_that_no_run_can_have_are_told_before_the_first_run() {
    let sled = Machine::read(BLOCK).unwrap();
    for record in
        ["final.z", "outputs.ways", "max(trajectory.z)", "max(outputs.ways)", "2*final.runner.normals"]
    {
        let e = sweep(&["mu=0.1..1:40"], &[record]).run(&sled, How::default()).unwrap_err();
        assert!(format!("{e:?}").contains("here") || format!("{e:?}").contains("column"), "{record}: {e:?}");
    }
}

/// A filter that no event can satisfy counts 0 in every run: a mistyped word in it is told.
#[test]
fn filters_that_no_event_can_satisfy_are_told_before_the_first_run() {
    let sled = Machine::read(BLOCK).unwrap();
    for (record, nearest) in [
        ("count(events[kind=impct])", "impact"),
        ("count(events[kind=impact|stik])", "stick"),
        ("counts.events.impct", "impact"),
        ("count(events[contact=runer])", "runner"),
        ("count(events[name=stoped])", "stopped"),
        ("count(events[knd=impact])", "kind"),
        ("sum(events[kind=impact].impuls_n)", "impulse_n"),
        ("sum(events[kind=impact].impulse_n.runer)", "runner"),
        ("1 + 2*count(events[kind!=impact, contact=runer]) < 3", "runner"),
        ("count(phases.sliding)", "phase"),
        ("audit.enrgy", "energy"),
    ] {
        let e = sweep(&["mu=0.1..1:40"], &[record]).run(&sled, How::default()).unwrap_err();
        assert!(format!("{e:?}").contains(nearest), "{record}: {e:?}");
    }
    for record in [
        "count(events[kind=stick|slip, contact=runner, after=1])",
        "events[name=stopped][1].after.x'",
        "sum(events[kind=impact].impulse_n.runner)",
        "counts.events.impact",
        "audit.passed",
    ] {
        sweep(&["mu=0.1..1:3"], &[record]).run(&sled, How::default()).unwrap();
    }
}

/// Every cell, value and reason of all rows.
fn content(sweep: &Sweep, rows: &Rows) -> String {
    let row = |k: usize| {
        let cells: Vec<Cell> = (0..sweep.record.len()).map(|c| rows.cell(k, c)).collect();
        format!("{:?} {:?} {:?}\n", cells, rows.values(k), rows.error(k))
    };
    (0..rows.len()).map(row).collect()
}

#[test]
fn threads_shards_and_interruptions_do_not_show() {
    let sled = Machine::read(BLOCK).unwrap();
    let mut sweep = sweep(&["mu=0.1..1:40", "v0=1,2,3"], &["final.x", "time", "status"]);
    let folder = Folder::new("shards");
    for chain in [None, Some(Chain::Both)] {
        sweep.plan.chain = chain;
        let whole = content(&sweep, &sweep.run(&sled, How { jobs: Some(1), ..How::default() }).unwrap());
        assert_eq!(
            whole,
            content(&sweep, &sweep.run(&sled, How { jobs: Some(3), ..How::default() }).unwrap())
        );
        // three shards
        let paths: Vec<PathBuf> =
            (1..=3).map(|k| folder.0.join(format!("{}-{k}.log", chain.is_some()))).collect();
        for (k, path) in paths.iter().enumerate() {
            let how = How { shard: Shard { index: k + 1, count: 3 }, ..How::default() };
            sweep.run_logged(&sled, how, path, false).unwrap();
        }
        let (head, rows) = merge(&paths).unwrap();
        assert_eq!((&head.sweep, rows.count_done()), (&sweep, rows.len()));
        assert_eq!(content(&sweep, &rows), whole);
        // a log cut at any byte goes on to the same end, and keeps its whole lines
        let full = folder.0.join("full.log");
        sweep.run_logged(&sled, How::default(), &full, false).unwrap();
        let bytes = std::fs::read(&full).unwrap();
        for part in 0..20 {
            let cut = bytes.len() * part / 20 + 7 * part;
            std::fs::write(&full, &bytes[..cut.min(bytes.len())]).unwrap();
            let rows = sweep.run_logged(&sled, How::default(), &full, true).unwrap();
            assert_eq!(content(&sweep, &rows), whole, "cut at {cut}");
            let (_, again) = merge(&[&full]).unwrap();
            assert_eq!(content(&sweep, &again), whole, "cut at {cut}, read again");
            let lines = std::fs::read_to_string(&full).unwrap().lines().count();
            assert_eq!(lines, 1 + sweep.plan.rows(), "a row was done twice");
        }
        std::fs::remove_file(&full).unwrap();
    }
}

#[test]
fn a_log_of_another_sweep_is_not_continued_and_none_is_overwritten() {
    let sled = Machine::read(BLOCK).unwrap();
    let folder = Folder::new("other");
    let path = folder.0.join("sweep.log");
    let one = sweep(&["mu=0.1..1:4"], &["final.x"]);
    one.run_logged(&sled, How::default(), &path, false).unwrap();
    assert!(
        one.run_logged(&sled, How::default(), &path, false).unwrap_err().to_string().contains("--resume")
    );
    let two = sweep(&["mu=0.1..1:5"], &["final.x"]);
    assert!(
        two.run_logged(&sled, How::default(), &path, true).unwrap_err().to_string().contains("another plan")
    );
    let other = sled.with("m", 6.0).unwrap();
    assert!(
        one.run_logged(&other, How::default(), &path, true)
            .unwrap_err()
            .to_string()
            .contains("another model")
    );
}

/// A pendulum with dry friction keeps the place where it came to rest: within the band |x| ≤ μ m g/c it stays where it was carried.
#[test]
fn a_chain_carries_the_state_and_shows_hysteresis() {
    let text = r#"
        name        = "block on a spring whose other end moves"
        parameters  = { pull = 0, F = 3, c = 10 }
        coordinates = { x = 0 }
        body        = [{ name = "block", mass = 1, position = ["x", 0] }]
        force       = [{ name = "spring", along = "x - pull", spring = "c" }, { name = "oil", along = "x", damper = 8 }]
        contact     = [{ name = "rub", slip = "x'", normal_force = "F", friction = 1 }]
        run         = { until = 20 }
    "#;
    let block = Machine::read(text).unwrap();
    let mut sweep = sweep(&["pull=0..2:21"], &["final.x"]);
    sweep.plan.chain = Some(Chain::Both);
    let rows = sweep.run(&block, How::default()).unwrap();
    assert_eq!(rows.count_failed(), 0, "{:?}", rows.error(0));
    // overdamped, slowly pulled: it trails by F/c, up and down
    for row in 0..42 {
        let pull = point(&sweep, row)[0];
        let up = (pull - 0.3).max(0.0);
        let exact = if row < 21 { up } else { (pull + 0.3).min(1.7) };
        assert!((number(&rows, row, 0) - exact).abs() < 1e-6, "row {row}: {} {exact}", number(&rows, row, 0));
        assert_eq!(sweep.plan.is_down(row), row >= 21);
    }
}

/// A ball on a floor that it leaves with e times its speed: the k-th impact is at v0 eᵏ⁻¹.
#[test]
fn a_diagram_has_the_last_passages_of_every_run() {
    let text = r#"
        name        = "ball"
        parameters  = { e = 0.5, h = 1 }
        coordinates = { y = "h" }
        gravity     = [0, -10]
        body        = [{ name = "ball", mass = 1, position = [0, "y"] }]
        contact     = [{ name = "floor", gap = "y", restitution = "e" }]
        event       = [{ name = "top", crossing = "y'", direction = "down" }]
        run         = { until = 2 }
    "#;
    let ball = Machine::read(text).unwrap();
    let diagram = |section: &str, values: &str| Sweep {
        diagram: Some(Diagram { section: section.into(), last: 2, values: values.into() }),
        ..sweep(&["e=0.5,0.8"], &["count(events[kind=impact])"])
    };
    for section in ["floor", "impact"] {
        let sweep = diagram(section, "after.y'");
        let rows = sweep.run(&ball, How::default()).unwrap();
        let speed = 20f64.sqrt();
        let (n, e) = (number(&rows, 1, 0) as i32, 0.8_f64);
        let exact = [speed * e.powi(n - 1), speed * e.powi(n)];
        assert!(rows.values(1).iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-9), "{:?}", rows.values(1));
        assert_eq!(rows.values(0).len(), 2);
    }
    let rows = diagram("top", "before.y").run(&ball, How::default()).unwrap();
    let tops = rows.values(1);
    assert!((tops[1] / tops[0] - 0.64).abs() < 1e-8);
    assert!(diagram("flor", "time").run(&ball, How::default()).unwrap_err().to_string().contains("`floor`"));
}

/// A parameter that shapes the machine itself (the number of bodies) is swept by reading the text again.
#[test]
fn a_parameter_that_shapes_the_machine_can_be_swept_too() {
    let text = r#"
        name        = "falling in a row"
        parameters  = { n = 2, g = 10 }
        coordinates = { y = { for = "i = 1..n", start = 0 } }
        body        = [{ for = "i = 1..n", name = "b", mass = 1, position = [0, "y[i]"] }]
        force       = [{ for = "i = 1..n", name = "w", along = "y[i]", force = "-g" }]
        output      = { total = "sum(i = 1..n, y[i])" }
        run         = { until = 1 }
    "#;
    let machine = Machine::read(text).unwrap();
    let sweep = sweep(&["n=1..4:4", "g=10,20"], &["outputs.total"]);
    let rows = sweep.run(&machine, How::default()).unwrap();
    for row in 0..8 {
        let p = point(&sweep, row);
        assert!((number(&rows, row, 0) + 0.5 * p[0] * p[1]).abs() < 1e-9, "{:?}", rows.error(row));
    }
}

/// The block slides further than 1 m where v₀² > 2 μ g · 1 m.
#[test]
fn a_map_has_the_border_of_a_closed_form_and_the_distance_to_it() {
    let sled = Machine::read(BLOCK).unwrap();
    let task = MapTask {
        sweep: sweep(&["mu=0.1..0.6:11", "v0=1..4:11"], &["final.x > 1"]),
        levels: vec![],
        fine: 1e-5,
    };
    let map = task.run(&sled, How::default()).unwrap();
    assert_eq!((map.rows.count_failed(), map.borders.len()), (0, 1));
    let line = &map.borders[0];
    assert_eq!(line.classes, ["false".to_string(), "true".to_string()]);
    assert!(line.points.len() > 20);
    for p in &line.points {
        assert!((p[1] * p[1] - 2.0 * 9.81 * p[0]).abs() < 1e-4, "{p:?}");
    }
    // nominal: mu = 0.3, v0 = 2; least (mu/0.3 − 1)² + (v0/2 − 1)² on the border, by search
    let distance = map.distance.unwrap();
    let at = |mu: f64| ((mu / 0.3 - 1.0).powi(2) + ((2.0 * 9.81 * mu).sqrt() / 2.0 - 1.0).powi(2)).sqrt();
    let least = (0..200_000).map(|k| at(0.1 + 1e-6 * f64::from(k))).fold(f64::INFINITY, f64::min);
    assert!((distance.percent - 100.0 * least).abs() < 0.01, "{} {}", distance.percent, 100.0 * least);
    let alone: Vec<f64> = distance.alone.iter().map(|(_, a)| a.as_ref().unwrap().percent).collect();
    assert!((alone[0] - 100.0 * (4.0 / (2.0 * 9.81) / 0.3 - 1.0)).abs() < 1e-2, "{alone:?}");
    assert!((alone[1] - 100.0 * ((2.0 * 9.81 * 0.3_f64).sqrt() / 2.0 - 1.0)).abs() < 1e-2, "{alone:?}");
    // the same line as the level of a number
    let task = MapTask {
        sweep: sweep(&["mu=0.1..0.6:11", "v0=1..4:11"], &["final.x"]),
        levels: vec![1.0],
        fine: 1e-5,
    };
    let again = task.run(&sled, How { jobs: Some(1), ..How::default() }).unwrap();
    assert_eq!(again.borders[0].points, line.points);
}

/// Three classes that meet: floor(x + 1e-9) of a number has one border per whole number, and rings close.
#[test]
fn classes_of_a_map_are_bounded_by_lines_that_join() {
    let text = "name = \"f\"\nparameters = { a = 0.2, b = 0.3 }\ncoordinates = { x = 0 }\nbody = [{ name = \"p\", mass = 1, position = [\"x\", 0] }]\nrun = { until = 1e-6 }\noutput = { r = \"a^2 + b^2\" }";
    let machine = Machine::read(text).unwrap();
    let sweep = sweep(&["a=-1..1:21", "b=-1..1:21"], &["outputs.r"]);
    let task = MapTask { sweep, levels: vec![0.25, 0.64], fine: 1e-6 };
    let map = task.run(&machine, How::default()).unwrap();
    assert_eq!(map.borders.len(), 2, "two circles");
    for border in &map.borders {
        let r = if border.classes.contains(&"up to 0.25".to_string()) { 0.5 } else { 0.8 };
        assert_eq!(border.points.first(), border.points.last(), "a ring");
        assert!(border.points.iter().all(|p| (p[0].hypot(p[1]) - r).abs() < 1e-6));
    }
    let nearest = map.distance.unwrap();
    assert!(nearest.percent > 0.0 && nearest.class == "up to 0.25" && nearest.beyond == "0.25 to 0.64");
}

/// A mass on a belt whose friction falls with speed, at rest on the belt at the start.
fn belt() -> Machine {
    let path = format!("{}/../../gallery/falling_friction/model.toml", env!("CARGO_MANIFEST_DIR"));
    Machine::open(path).unwrap()
}

/// METH-SWEEP-DIAGRAM: going up, stick-slip lives until v_G = 1.279; going down, steady sliding lives until below v_H = 0.848, because it
/// leaves it slowly.
#[test]
fn a_chain_up_and_down_has_the_hysteresis_of_the_belt() {
    let mut sweep = sweep(&["v=0.7..1.4:36"], &["span(trajectory.x, 340, 380)"]);
    sweep.plan.chain = Some(Chain::Both);
    let rows = sweep.run(&belt().until(380.0), How::default()).unwrap();
    assert_eq!(rows.count_failed(), 0, "{:?}", rows.error(0));
    let oscillates = |row: &usize| number(&rows, *row, 0) > 0.1;
    let v = |row: usize| point(&sweep, row)[0];
    let last_up = (0..36).rfind(oscillates).map(v).unwrap();
    assert!((1.24..=1.28).contains(&last_up), "{last_up}");
    let first_down = (36..72).find(oscillates).map(v).unwrap();
    assert!((0.70..0.83).contains(&first_down), "{first_down}");
}

/// METH-MAP: the borders of stick-slip and of stable sliding over belt speed and damper are v_G(c) and v_H(c).
#[test]
fn a_map_has_the_borders_of_stick_slip_and_of_steady_sliding() {
    let at = |map: &specht::machine::sweep::Mapped, c: f64| {
        let cut = |w: &[[f64; 2]]| {
            let s = (c - w[0][1]) / (w[1][1] - w[0][1]);
            (0.0..=1.0).contains(&s).then(|| w[0][0] + s * (w[1][0] - w[0][0]))
        };
        map.borders.iter().flat_map(|b| b.points.windows(2)).find_map(cut).unwrap()
    };
    // from rest on the belt: does it stop again?
    let start = belt().with("u0", "v").unwrap().until(12.0);
    let axes = ["v=0.4..1.6:13", "c=0.12..0.33:8"];
    let stops =
        MapTask { sweep: sweep(&axes, &["count(events[kind=stick]) > 0"]), levels: vec![], fine: 1e-3 };
    let map = stops.run(&start, How::default()).unwrap();
    for (c, v) in [(0.15, 1.27919256), (0.3, 0.72185624)] {
        assert!((at(&map, c) - v).abs() < 1.2e-3, "{} {v}", at(&map, c));
    }
    let stable = MapTask { sweep: sweep(&axes, &["findings.steady.stable"]), levels: vec![], fine: 1e-3 };
    let map = stable.run(&belt(), How::default()).unwrap();
    for (c, v) in [(0.15, 0.848105414), (0.3, 0.570846542)] {
        assert!((at(&map, c) - v).abs() < 1.2e-3, "{} {v}", at(&map, c));
    }
}
