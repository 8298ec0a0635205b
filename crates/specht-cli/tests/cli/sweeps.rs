//! Sweeps, maps and statistics from outside.

use crate::page::{browser, load};
use crate::{BALL, Folder, err, out};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The files that must not depend on how a sweep was done.
const FILES: [&str; 5] = ["sweep.csv", "sweep.json", "sweep.parquet", "sweep.svg", "sweep.html"];

fn bytes(folder: &Path, files: &[&str]) -> Vec<Vec<u8>> {
    files.iter().map(|f| std::fs::read(folder.join(f)).unwrap()).collect()
}

/// Was: `pi` and `inf` were taken for keys of run.json and refused.
#[test]
fn what_a_sweep_records_may_be_a_formula_with_constants() {
    let folder = Folder::new("sweep-pi");
    folder.write("ball.toml", BALL);
    let run = folder.run(&[
        "sweep",
        "ball.toml",
        "--over",
        "e=0,0.5",
        "--record",
        "2*pi",
        "--record",
        "time < inf",
        "--record",
        "count(events) > 0 and true",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    let csv = std::fs::read_to_string(folder.0.join("out/ball-sweep/sweep.csv")).unwrap();
    let row = csv.lines().nth(1).unwrap();
    assert!(row.starts_with("0,6.283185307179586,true,true"), "{csv}");
}

#[test]
fn a_sweep_writes_a_table_with_the_addresses_as_typed() {
    let folder = Folder::new("sweep");
    folder.write("ball.toml", BALL);
    let run = folder.run(&[
        "sweep",
        "ball.toml",
        "--over",
        "e=0..1:3",
        "--over",
        "mu=0.1,0.2",
        "--record",
        "count(events[kind=impact])",
        "--record",
        "final.x",
        "--record",
        "events[kind=reverse][1].time",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    let base = folder.0.join("out/ball-sweep");
    let csv = std::fs::read_to_string(base.join("sweep.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "e,mu,count(events[kind=impact]),final.x,events[kind=reverse][1].time,error");
    assert_eq!(lines.len(), 7);
    assert!(lines[1].starts_with("0,0.1,1,") && lines[1].contains("empty list"), "{}", lines[1]);
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(base.join("sweep.json")).unwrap()).unwrap();
    assert_eq!(json["rows"][5]["mu"], 0.2);
    assert_eq!(json["rows"].as_array().unwrap().len(), 6);
    assert!(json["complete"].as_bool().unwrap() && json["failed"] == 6);
    let page = std::fs::read_to_string(base.join("sweep.html")).unwrap();
    assert!(page.contains("specht run ball.toml") && !page.contains("{{"));
    assert!(std::fs::read_to_string(base.join("sweep.svg")).unwrap().contains("</svg>"));
    // without failures there is no column of reasons
    let plain =
        folder.run(&["sweep", "ball.toml", "--over", "e=0.5", "--record", "final.x", "--out", "plain"]);
    assert_eq!(plain.status.code(), Some(0), "{}", err(&plain));
    assert!(std::fs::read_to_string(folder.0.join("plain/sweep.csv")).unwrap().starts_with("e,final.x\n"));
}

#[test]
fn jobs_and_shards_give_the_same_bytes() {
    let folder = Folder::new("sweep-shards");
    folder.write("ball.toml", BALL);
    let sweep = |more: &[&str]| {
        let mut args = vec![
            "sweep",
            "ball.toml",
            "--random",
            "e=uniform(0.2, 0.8)",
            "--random",
            "mu=normal(0.2, 0.02)",
            "--samples",
            "40",
        ];
        args.extend(["--record", "final.x", "--record", "final.x > 0.35", "--until", "1"]);
        args.extend(more);
        let run = folder.run(&args);
        assert_eq!(run.status.code(), Some(0), "{}", err(&run));
        out(&run)
    };
    let said = sweep(&["--out", "one", "--jobs", "1"]);
    assert!(said.contains("in a million") && said.contains("matters most"), "{said}");
    sweep(&["--out", "two", "--jobs", "2"]);
    assert_eq!(bytes(&folder.0.join("one"), &FILES), bytes(&folder.0.join("two"), &FILES));
    for shard in 1..=3 {
        sweep(&["--out", &format!("part{shard}"), "--shard", &format!("{shard}/3")]);
    }
    // twice: was refused as a folder of somebody else's tables
    for _ in 0..2 {
        let merged = folder.run(&["sweep", "--merge", "part3", "part1", "part2", "--out", "whole"]);
        assert_eq!(merged.status.code(), Some(0), "{}", err(&merged));
    }
    assert_eq!(bytes(&folder.0.join("one"), &FILES), bytes(&folder.0.join("whole"), &FILES));
}

/// What was never seen has a bound (1 − 0.025^(1/40) = 88097 in a million), points of a grid are counted only, and the page says the same.
#[test]
fn the_answer_says_how_many_in_a_million_and_never_zero_of_a_few() {
    let folder = Folder::new("sweep-answers");
    folder.write("ball.toml", BALL);
    let sweep = |name: &str, more: &[&str]| {
        let args = ["sweep", "ball.toml", "--until", "1", "--record", "final.x > 1e9", "--out", name];
        let run = folder.run(&[&args[..], more].concat());
        assert_eq!(run.status.code(), Some(0), "{}", err(&run));
        (out(&run), std::fs::read_to_string(folder.0.join(name).join("sweep.html")).unwrap())
    };
    let (said, page) = sweep("random", &["--random", "e=uniform(0.2, 0.8)", "--samples", "40"]);
    assert!(said.contains("none of 40: at most 88097 in a million"), "{said}");
    assert!(page.contains("none of 40: at most 88097 in a million"));
    let (said, _) = sweep("grid", &["--over", "e=0.2,0.4"]);
    assert!(said.contains("holds at 0 of 2 points") && !said.contains("million"), "{said}");
    // mistyped: told, and no folder is left
    let wrong =
        folder.run(&["sweep", "ball.toml", "--over", "e=0.5", "--record", "count(events[kind=impct])"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("did you mean `impact`"), "{}", err(&wrong));
}

/// The next of a row of pseudo-random numbers.
fn next(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Begin a command that takes `whole` and kill it early, so many times; how often it was still running. Each goes on where the one before was
/// killed, so that none may come far.
fn kill(folder: &Folder, args: &[&str], whole: Duration, times: usize, seed: &mut u64) -> usize {
    let mut cut = 0;
    let longest = (whole.as_micros() as u64 / 5).max(1);
    for _ in 0..times {
        let mut child = Command::new(env!("CARGO_BIN_EXE_specht"))
            .args(args)
            .current_dir(&folder.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(1_000 + next(seed) % longest));
        cut += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    cut
}

#[test]
fn a_map_killed_on_the_way_goes_on_to_the_same_bytes() {
    let folder = Folder::new("map-killed");
    folder.write("ball.toml", BALL);
    let args = ["map", "ball.toml", "--over", "e=0.3..0.9:12", "--over", "mu=0.1..0.3:12"];
    let args = [&args[..], &["--record", "count(events)", "--fine", "0.1"]].concat();
    let begun = Instant::now();
    let whole = folder.run(&[&args[..], &["--out", "whole"]].concat());
    let time = begun.elapsed();
    assert_eq!(whole.status.code(), Some(0), "{}", err(&whole));
    let again = [&args[..], &["--out", "killed", "--resume"]].concat();
    kill(&folder, &again, time, 5, &mut 99);
    let end = folder.run(&again);
    assert_eq!(end.status.code(), Some(0), "{}", err(&end));
    let files = ["map.json", "map.svg"];
    assert_eq!(bytes(&folder.0.join("whole"), &files), bytes(&folder.0.join("killed"), &files));
    // a whole map is begun anew without a word, one that was cut is not
    assert!(!folder.0.join("killed/map.log").exists());
    assert_eq!(folder.run(&[&args[..], &["--out", "killed"]].concat()).status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_sweep_killed_at_twenty_instants_goes_on_to_the_same_bytes() {
    for chain in [false, true] {
        let folder = Folder::new(&format!("sweep-killed-{chain}"));
        folder.write("ball.toml", BALL);
        let mut args = vec![
            "sweep",
            "ball.toml",
            "--over",
            "e=0.3..0.9:300",
            "--record",
            "final.x",
            "--record",
            "count(events)",
        ];
        args.extend(["--section", "impact", "--last", "5", "--values", "after.y'"]);
        if chain {
            args.extend(["--over", "mu=0.1..0.3:4", "--chain", "both", "--until", "0.3"]);
        }
        let begun = Instant::now();
        let whole = folder.run(&[args.clone(), vec!["--out", "whole"]].concat());
        let time = begun.elapsed();
        assert_eq!(whole.status.code(), Some(0), "{}", err(&whole));
        let mut seed = 12345 + u64::from(chain);
        let again = [args.clone(), vec!["--out", "killed", "--resume"]].concat();
        let cut = kill(&folder, &again, time, 20, &mut seed);
        assert!(cut > 3, "only {cut} were still running");
        let end = folder.run(&again);
        assert_eq!(end.status.code(), Some(0), "{}", err(&end));
        assert_eq!(bytes(&folder.0.join("whole"), &FILES), bytes(&folder.0.join("killed"), &FILES));
        // every row once
        let log = std::fs::read_to_string(folder.0.join("killed/sweep.log")).unwrap();
        let mut rows: Vec<u64> = log
            .lines()
            .skip(1)
            .map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()[0].as_u64().unwrap())
            .collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..if chain { 2400 } else { 300 }).collect::<Vec<u64>>());
    }
}

#[test]
fn a_sweep_as_a_task_has_rows() {
    let folder = Folder::new("sweep-task");
    let task = "\n[[task]]\nname = \"curve\"\nanalyse = \"sweep\"\nover = { e = [0.2, 0.8, 4], mu = \"0.1, 0.2\" }\nrecord = [\"final.x\", \"status\"]\n\
        [[task]]\nanalyse = \"statistics\"\nof = [\"height\", \"events[kind=impact, contact=bounce].impulse_n\"]\nper = \"0.1 s\"\n";
    folder.write("ball.toml", &format!("{BALL}{task}"));
    let run = folder.run(&["run", "ball.toml", "--json"]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    let json: serde_json::Value = serde_json::from_str(&out(&run)).unwrap();
    let rows = json["findings"]["curve"]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[3]["e"], &rows[7]["status"]), (8, &0.8.into(), &"finished".into()));
    let found = &json["findings"]["statistics"];
    let (energy, momentum) = (&found["balance"]["energy"], &found["balance"]["momentum"]["coordinates"]["y"]);
    let pair = |p: &serde_json::Value| (p["value"].as_f64().unwrap(), p["exact"].as_f64().unwrap());
    let (value, exact) = pair(energy);
    assert!((value - exact).abs() < 1e-9);
    // the impacts give y what gravity takes from it, but for the smooth contact at the end
    let (value, exact) = pair(momentum);
    assert!((value - exact).abs() < 1e-3 * value.abs(), "{value} {exact}");
    let impulses = &found["events[kind=impact, contact=bounce].impulse_n"];
    assert!(
        impulses["count"].as_u64().unwrap() > 5 && impulses["per_period"]["count"].as_f64().unwrap() > 0.0
    );
}

#[test]
fn a_map_tells_borders_and_the_distance_to_them() {
    let folder = Folder::new("map");
    folder.write("ball.toml", BALL);
    let run = folder.run(&[
        "map",
        "ball.toml",
        "--over",
        "e=0.2..0.8:7",
        "--over",
        "r=0.05..0.2:7",
        "--record",
        "count(events[kind=impact])",
        "--until",
        "0.9",
        "--fine",
        "1e-3",
    ]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    assert!(out(&run).contains("from the nearest border"), "{}", out(&run));
    let base = folder.0.join("out/ball-map");
    let json: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(base.join("map.json")).unwrap()).unwrap();
    // the second impact comes at t = √(2 h/g) (1 + 2 e), h = 1.1 − r: with h that is the border of one and two impacts
    let border = json["borders"]
        .as_array()
        .unwrap()
        .iter()
        .find(|b| b["classes"] == serde_json::json!(["1", "2"]))
        .unwrap();
    for p in border["points"].as_array().unwrap() {
        let (e, r) = (p[0].as_f64().unwrap(), p[1].as_f64().unwrap());
        let t = (2.0 * (1.1 - r) / 9.81).sqrt() * (1.0 + 2.0 * e);
        assert!((t - 0.9).abs() < 2e-3, "{e} {r} {t}");
    }
    assert!(std::fs::read_to_string(base.join("map.svg")).unwrap().contains("polyline"));
    assert!(std::fs::read_to_string(base.join("map.html")).unwrap().contains("nearest border"));
}

#[test]
fn wrong_sweeps_are_refused_with_a_remedy() {
    let folder = Folder::new("sweep-wrong");
    folder.write("ball.toml", BALL);
    for (args, said) in [
        (&["sweep", "ball.toml", "--record", "time"][..], "needs a parameter that varies"),
        (&["sweep", "ball.toml", "--over", "e=0..1:3"], "something to record"),
        (&["sweep", "ball.toml", "--over", "ee=0..1:3", "--record", "time"], "no parameter `ee`"),
        (&["sweep", "ball.toml", "--over", "e=0..1", "--record", "time"], "is not understood"),
        (
            &["sweep", "ball.toml", "--random", "e=gauss(1, 2)", "--samples", "3", "--record", "time"],
            "not a distribution",
        ),
        (
            &["sweep", "ball.toml", "--over", "e=0..1:3", "--record", "time", "--shard", "4/3"],
            "is not a shard",
        ),
        (&["sweep", "ball.toml", "--over", "e=0..1:3", "--record", "time", "--chain", "round"], "--chain"),
        (&["sweep", "--merge", "nowhere"], "nowhere"),
        (&["map", "ball.toml", "--over", "e=0..1:3", "--record", "time"], "two axes"),
        (&["analyse", "statistics", "ball.toml"], "something to look at"),
        (&["analyse", "load-statistics", "ball.toml", "--of", "hight"], "hight"),
    ] {
        let run = folder.run(args);
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(err(&run).contains(said), "{args:?}: {}", err(&run));
    }
    // a folder with a sweep is not begun anew by mistake
    let args = ["sweep", "ball.toml", "--over", "e=0..1:3", "--record", "time", "--out", "here"];
    assert_eq!(folder.run(&args).status.code(), Some(0));
    let again = folder.run(&args);
    assert!(again.status.code() == Some(2) && err(&again).contains("--resume"), "{}", err(&again));
}

/// Curves and maps are read in a browser: a click shows the run behind the point, the wheel zooms, a double click shows all again, and the
/// command that the page gives runs.
#[test]
fn a_click_on_the_page_of_a_sweep_shows_the_run_behind_the_point() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return;
    };
    let folder = Folder::new("sweep-page");
    folder.write("ball.toml", BALL);
    for (name, mu, up) in [("curves", "mu=0.1,0.2", "final.x"), ("cells", "mu=0.1..0.5:6", "mu")] {
        let swept = folder.run(&[
            "sweep",
            "ball.toml",
            "--over",
            "e=0..1:6",
            "--over",
            mu,
            "--record",
            "final.x",
            "--out",
            name,
        ]);
        assert_eq!(swept.status.code(), Some(0), "{}", err(&swept));
        let page = folder.0.join(name).join("sweep.html");
        let script = "<script>{
            const box = canvas.getBoundingClientRect(), at = places[7];
            const send = (kind, Of, more) => canvas.dispatchEvent(new Of(kind, { clientX: box.left + at[0], clientY: box.top + at[1], bubbles: true, cancelable: true, ...more }));
            canvas.setPointerCapture = () => {};
            send('pointerdown', PointerEvent); send('pointerup', PointerEvent);
            const shown = point.textContent, all = view[1] - view[0];
            send('wheel', WheelEvent, { deltaY: -400 });
            const near = view[1] - view[0];
            send('dblclick', MouseEvent);
            document.documentElement.dataset.probe = JSON.stringify({ shown, row: data.rows[7][0], up: data.names[up.value], zoom: near / all, back: (view[1] - view[0]) / all });
        }</script></body>";
        let text = std::fs::read_to_string(&page).unwrap().replacen("</body>", script, 1);
        let (dom, console) = load(browser, &folder.write("probe.html", &text), &folder.0.join("profile"));
        assert!(console.is_empty(), "{console}");
        let found = dom.split_once("data-probe=\"").expect("the page was built").1.split('"').next().unwrap();
        let found: serde_json::Value =
            serde_json::from_str(&found.replace("&quot;", "\"").replace("&amp;", "&")).unwrap();
        assert_eq!(found["up"], up);
        assert!(found["zoom"].as_f64().unwrap() < 0.6 && found["back"] == 1.0, "{found}");
        // the numbers of the row, and a command that gives them again
        let shown = found["shown"].as_str().unwrap();
        assert!(shown.contains(&format!("final.x = {}", found["row"][2])), "{shown}");
        let command = shown.lines().last().unwrap().replace("specht ", "").replace('"', "");
        let words: Vec<&str> = command.split(' ').chain(["--out", "again"]).collect();
        let again = folder.run(&words);
        assert_eq!(again.status.code(), Some(0), "{command}: {}", err(&again));
        let run: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(folder.0.join("again/run.json")).unwrap()).unwrap();
        assert_eq!(run["final"]["x"], found["row"][2], "{command}");
    }
}
