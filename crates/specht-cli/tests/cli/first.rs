//! The first hour of a new user: a model of one's own, mistakes, comparisons, long runs, the report on small and large screens.

use crate::page::browser;
use crate::{BALL, Folder, err, out};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Stdio};

fn run_json(folder: &Folder, path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder.0.join(path)).unwrap()).unwrap()
}

#[test]
fn a_new_model_runs_checks_and_is_explained() {
    let folder = Folder::new("new");
    let made = folder.run(&["new", "slide"]);
    assert_eq!(made.status.code(), Some(0), "{}", err(&made));
    let again = folder.run(&["new", "slide.toml"]);
    assert_eq!(again.status.code(), Some(2), "a model is never overwritten");
    let check = folder.run(&["check", "slide.toml"]);
    assert!(out(&check).contains("no errors") && err(&check).is_empty(), "{}{}", out(&check), err(&check));
    for part in ["slope  0.436332 rad", "x = 0 m, x' = 0 m/s", "sole    slip+  gap 0 m  normal 17.7818 N"] {
        assert!(out(&check).contains(part), "{part}: {}", out(&check));
    }
    let run = folder.run(&["run", "slide.toml"]);
    assert_eq!(run.status.code(), Some(0), "{}", err(&run));
    // at rest against the stop
    assert!(out(&run).contains("way = 1 m") && out(&run).contains("speed = 0 m/s"), "{}", out(&run));
    let steep = folder.run(&["run", "slide.toml", "--case", "steep"]);
    assert_eq!(steep.status.code(), Some(0));
    let page = out(&folder.run(&["explain", "model"]));
    for word in ["[[contact]]", "restitution", "atan2", "when", "| until | expression |"] {
        assert!(page.contains(word), "{word}");
    }
    assert!(out(&folder.run(&["explain"])).lines().any(|l| l.starts_with("model ")));
}

/// Pages name only entries that exist.
#[test]
fn explanations_name_models_that_exist() {
    let folder = Folder::new("named");
    let gallery = out(&folder.run(&["gallery"]));
    let known: Vec<&str> = gallery.lines().filter_map(|l| l.split_whitespace().next()).collect();
    for file in std::fs::read_dir(crate::root().join("docs/explain")).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        for (k, _) in text.match_indices("specht ") {
            let line = text[k..].lines().next().unwrap();
            let line = line.split('`').next().unwrap();
            let mut words = line.split_whitespace().skip(1);
            let name = match words.next() {
                Some("run" | "check" | "gallery" | "verify") => words.next(),
                Some("analyse") => words.nth(1),
                _ => None,
            };
            let Some(name) = name else { continue };
            let name = name.trim_end_matches([',', '.', ';', ':']);
            let place = name == "MODEL" || name.contains(['/', '-', '.', '|', '…', '"']) || name.is_empty();
            assert!(place || known.contains(&name), "{}: `{line}` names `{name}`", file.path().display());
        }
    }
}

/// A page that shows a whole model shows one that runs.
#[test]
fn models_of_explanations_run() {
    let folder = Folder::new("shown");
    let mut shown = 0;
    for file in std::fs::read_dir(crate::root().join("docs/explain")).unwrap().flatten() {
        let text = std::fs::read_to_string(file.path()).unwrap();
        // a whole model begins with its name, then gravity; parts of models do not
        let lines: Vec<&str> = text.lines().collect();
        let Some(from) = lines
            .windows(2)
            .position(|w| w[0].starts_with("    name    = ") && w[1].starts_with("    gravity"))
        else {
            continue;
        };
        let indented = |l: &&&str| l.is_empty() || l.starts_with("    ");
        let model: Vec<&str> = lines[from..].iter().take_while(indented).map(|l| l.trim_start()).collect();
        folder.write("shown.toml", &model.join("\n"));
        let run = folder.run(&["run", "shown.toml"]);
        assert_eq!(run.status.code(), Some(0), "{}: {}", file.path().display(), err(&run));
        shown += 1;
    }
    assert!(shown > 0, "no page shows a model");
}

#[test]
fn mistakes_of_the_first_hour_are_told_with_their_remedy() {
    let base = "name = \"m\"\ngravity = [0, -9.81]\nparameters = { mu = 0.3, slope = \"25 deg\" }\ncoordinates = { x = 0, y = 0 }\n\
        ground = { plane = { through = [0, 0], normal = [\"sin(slope)\", \"cos(slope)\"] } }\n\
        body = [{ name = \"block\", mass = \"2 kg\", position = [\"x\", \"y\"] }]\n\
        contact = [{ name = \"sole\", between = [\"block\", \"ground.plane\"], friction = \"mu\" }]\nrun = { until = \"1 s\" }\n";
    type Case<'a> = (&'a str, String, &'a [&'a str], i32, &'a [&'a str]);
    let cases: [Case; 8] = [
        (
            "inside",
            base.replace("y = 0 }", "y = -0.09 }"),
            &["check", "m.toml"],
            2,
            &["starts", "inside", "m.toml:4"],
        ),
        (
            "degrees",
            base.replace("\"25 deg\"", "25"),
            &["check", "m.toml"],
            0,
            &["25 radians", "25 deg", "m.toml:3"],
        ),
        (
            "gravity",
            base.replace("gravity = [0, -9.81]", ""),
            &["check", "m.toml"],
            0,
            &["no gravity", "gravity = [0, -9.81]"],
        ),
        ("empty", String::new(), &["run", "m.toml"], 2, &["says nothing", "specht new"]),
        (
            "comma",
            base.replace("mu = 0.3", "mu = \"0,3\""),
            &["run", "m.toml"],
            2,
            &["m.toml:3", "with a point"],
        ),
        ("kilograms", base.to_string(), &["run", "m.toml", "--until", "5 kg"], 2, &["not a time", "kg"]),
        ("step", base.to_string(), &["run", "m.toml", "--step", "1 ms"], 0, &["--scheme step"]),
        (
            "newton",
            base.replace("1 s\" }", "1 s\", impact = \"newton\" }"),
            &["run", "m.toml"],
            0,
            &["frictionless", "specht explain newton"],
        ),
    ];
    for (name, text, args, code, said) in cases {
        let folder = Folder::new(name);
        folder.write("m.toml", &text);
        let output = folder.run(args);
        assert_eq!(output.status.code(), Some(code), "{name}: {}{}", out(&output), err(&output));
        for part in said {
            assert!(err(&output).contains(part), "{name}: `{part}` is not in\n{}", err(&output));
        }
    }
    // a wrong unit is shown where it is used and where it was given
    let folder = Folder::new("unit");
    folder
        .write("m.toml", &base.replace("mu = 0.3,", "mu = 0.3, m = \"3 mm\",").replace("\"2 kg\"", "\"m\""));
    let said = err(&folder.run(&["check", "m.toml"]));
    assert!(
        said.contains("must be in kg, this is in m") && said.contains("`m` is in m by this line"),
        "{said}"
    );
}

/// A folder is a model; its results carry its name.
#[test]
fn a_folder_is_a_model_and_gives_its_name() {
    let folder = Folder::new("folders");
    std::fs::create_dir_all(folder.0.join("bouncer")).unwrap();
    folder.write("bouncer/model.toml", BALL);
    for (place, typed) in
        [(".", "bouncer"), (".", "bouncer/model.toml"), ("bouncer", "model.toml"), ("bouncer", ".")]
    {
        let output = crate::specht_in(&folder.0.join(place), &["run", typed]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        assert!(folder.0.join(place).join("out/bouncer/report.html").is_file(), "{place} {typed}");
    }
}

#[test]
fn runs_are_compared_with_each_other_and_with_measured_data() {
    let folder = Folder::new("compare");
    folder.write("ball.toml", BALL);
    for (name, set) in [("a", "e=0.5"), ("b", "e=0.6")] {
        assert_eq!(folder.run(&["run", "ball.toml", "--set", set, "--out", name]).status.code(), Some(0));
    }
    // y = 1.1 − g t²/2 before the first impact, measured with an error of 1 mm
    let rows: String =
        (0..40).map(|k| f64::from(k) * 0.01).map(|t| format!("{t};{}\n", 1.101 - 4.905 * t * t)).collect();
    folder.write("measured.csv", &format!("time [s];y [m]\n{rows}"));
    let output = folder.run(&["compare", "a", "b", "measured.csv", "--out", "c.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let said = out(&output);
    let measured = said.split_once("measured against a").unwrap().1;
    let y = measured.lines().find(|l| l.trim_start().starts_with("y ")).unwrap();
    let apart: f64 = y.split("at most ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((apart - 1e-3).abs() < 2e-4, "{y}");
    assert!(folder.run(&["compare", "a", "nowhere"]).status.code() == Some(2));
    let Some(browser) = browser() else { return };
    let (dom, console) = crate::page::load(browser, &folder.0.join("c.html"), &folder.0.join("profile"));
    assert!(console.is_empty() && dom.contains("data-ready=\"yes\""), "{console}");
    assert!(dom.contains("id=\"compared\"") && dom.contains("measured"));
}

#[test]
fn a_watched_model_runs_again_when_it_is_saved() {
    let folder = Folder::new("watch");
    folder.write("ball.toml", BALL);
    let mut child = Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(["run", "ball.toml", "--watch"])
        .current_dir(&folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let page = folder.0.join("out/ball/run.json");
    let wait = |good: &dyn Fn() -> bool| {
        (0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            good()
        })
    };
    let until = |t: f64| {
        std::fs::read_to_string(&page)
            .ok()
            .and_then(|x| serde_json::from_str::<Value>(&x).ok())
            .is_some_and(|r| r["time"] == t)
    };
    assert!(wait(&|| until(2.0)), "the first run");
    std::thread::sleep(std::time::Duration::from_millis(300));
    folder.write("ball.toml", "name = ");
    std::thread::sleep(std::time::Duration::from_millis(300));
    folder.write("ball.toml", &BALL.replace("\"2 s\"", "\"1 s\""));
    assert!(wait(&|| until(1.0)), "the run after it was saved");
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
}

#[test]
fn the_moving_picture_is_a_gif() {
    let folder = Folder::new("gif");
    let output = folder.run(&["run", "woodpecker", "--gif", "toy.gif"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let bytes = std::fs::read(folder.0.join("toy.gif")).unwrap();
    assert!(bytes.starts_with(b"GIF89a") && bytes.ends_with(&[0x3b]));
    assert_eq!(bytes.windows(3).filter(|w| *w == [0x21, 0xf9, 4]).count(), 100, "frames");
}

#[test]
fn part_of_a_run_is_kept_and_a_run_stops_after_its_events() {
    let folder = Folder::new("keep");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["run", "ball.toml", "--keep", "0.4 s..1 s", "--every", "10 ms"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let csv = std::fs::read_to_string(folder.0.join("out/ball/trajectory.csv")).unwrap();
    let times: Vec<f64> =
        csv.lines().skip(1).map(|l| l.split(',').next().unwrap().parse().unwrap()).collect();
    assert!(times.iter().all(|t| (0.4..=1.0).contains(t)) && times.len() > 60, "{}", times.len());
    let run = run_json(&folder, "out/ball/run.json");
    let events = run["events"].as_array().unwrap();
    // falls 1 m: t = √(2/g) = 0.4515, then flights of 2 e v/g
    let first = (2.0_f64 / 9.81).sqrt();
    assert_eq!(events.iter().filter(|e| e["kind"] == "impact").count(), 2);
    assert!((events[0]["time"].as_f64().unwrap() - first).abs() < 1e-9);
    assert!(run["time"] == 2.0, "the run itself goes on");
    let output = folder.run(&["run", "ball.toml", "--events", "3", "--out", "three"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let run = run_json(&folder, "three/run.json");
    assert_eq!((&run["status"], &run["message"]), (&"stopped".into(), &"3 events".into()));
    assert_eq!(run["events"].as_array().unwrap().len(), 3);
    assert_eq!(folder.run(&["run", "ball.toml", "--keep", "2..1"]).status.code(), Some(2));
}

/// An event counts only while its condition holds: impacts of a ball that bounces lower and lower, v = e^k √(2 g h).
#[test]
fn an_event_with_a_condition_counts_only_while_it_holds() {
    let folder = Folder::new("when");
    let event = "\n[memory]\nhard = 0\n[[event]]\nname = \"hard_hit\"\non = \"bounce.impact\"\nwhen = \"bounce.impulse > 2\"\nset = { hard = \"hard + 1\" }\n";
    folder.write("ball.toml", &format!("{BALL}{event}"));
    let output = folder.run(&["run", "ball.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    // impulse (1 + e) v with v = 4.429, 2.215, 1.107, 0.554: 6.6, 3.3, 1.66
    assert_eq!(run_json(&folder, "out/ball/run.json")["final"]["hard"], 2.0);
    let marks = run_json(&folder, "out/ball/run.json")["counts"]["events"]["mark"].clone();
    assert_eq!(marks, 2);
}

/// A pendulum on a rough pin is asked where the run has brought it: at t the torque m g l sin φ(t) decides.
#[test]
fn rest_is_asked_at_an_instant_of_the_run() {
    let text = |rate: &str| {
        format!(
            "name = \"cart\"\ngravity = [0, -10]\nparameters = {{ a = 1, P = \"0 N\" }}\ncoordinates = {{ x = {{ start = 0, rate = {rate} }}, y = 0 }}\n\
         ground = {{ floor = {{ through = [0, 0], normal = [0, 1] }} }}\nbody = [{{ name = \"cart\", mass = \"1 kg\", position = [\"x\", \"y\"] }}]\n\
         force = [{{ name = \"wind\", at = \"cart\", force = [\"P + 4*t\", 0] }}]\n\
         contact = [{{ name = \"foot\", between = [\"cart\", \"ground.floor\"], friction = 0.5 }}]\nrun = {{ until = \"3 s\" }}\n"
        )
    };
    let folder = Folder::new("at_time");
    folder.write("cart.toml", &text("\"0 m/s\""));
    let verdict = |time: &str| {
        let output =
            folder.run(&["analyse", "rest", "cart.toml", "--load", "P", "--at-time", time, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        serde_json::from_str::<Value>(&out(&output)).unwrap()
    };
    // held while P + 4 t is below 5 N: at t = 1 s for P from −9 to 1
    let one = verdict("1 s");
    assert_eq!(one["verdict"], "stays");
    let near = |x: &Value, y: f64| assert!((x.as_f64().unwrap() - y).abs() < 1e-6, "{x} {y}");
    near(&one["start_load"]["low"], -9.0);
    near(&one["start_load"]["high"], 1.0);
    assert_eq!(verdict("2 s")["verdict"], "moves");
    let braking =
        folder.run(&["analyse", "self-braking", "cart.toml", "--point", "cart", "--at-time", "0.5 s"]);
    assert_eq!(braking.status.code(), Some(0), "{}", err(&braking));
}

/// A ball that bounces for ever, and how much memory its run takes.
fn bouncer(events: usize) -> (Folder, u64) {
    let folder = Folder::new(&format!("long-{events}"));
    folder.write(
        "ball.toml",
        &BALL.replace("e  = { value = 0.5, range = [0, 1] }", "e = 1").replace("\"2 s\"", "\"1e9 s\""),
    );
    let line = format!(
        "'{}' run ball.toml --events {events} --every '1000 s' >/dev/null; grep VmHWM /proc/$$/status",
        env!("CARGO_BIN_EXE_specht")
    );
    // the peak of the children
    let line = format!(
        "python3 - <<'E'\nimport resource, subprocess\nsubprocess.run(['bash', '-c', {line:?}], check=False, stdout=subprocess.DEVNULL)\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\nE"
    );
    let output = Command::new("bash").arg("-c").arg(line).current_dir(&folder.0).output().unwrap();
    (folder, out(&output).trim().parse().unwrap_or(0))
}

/// Was wrong: 13.5 kB of memory per event; a page of 14 MB took 7 s per move of its slider.
#[test]
fn a_long_run_needs_little_memory_and_its_page_stays_quick() {
    let (folder, peak) = bouncer(60_000);
    assert!(peak < 150_000, "{peak} kB");
    let text = std::fs::read_to_string(folder.0.join("out/ball/run.json")).unwrap();
    let run: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(run["events"].as_array().unwrap().len(), 60_000);
    let csv = std::fs::read_to_string(folder.0.join("out/ball/trajectory.csv")).unwrap();
    assert!(csv.lines().count() > 120_000);
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return;
    };
    let page = folder.0.join("out/ball/report.html");
    let size = std::fs::metadata(&page).unwrap().len();
    assert!(size < 12 << 20, "{size} bytes");
    let measured = probe(browser, &folder, &page, "1300,900", false);
    assert!(measured["calls"].as_u64().unwrap() < MOVE, "{measured}");
}

/// Drawing calls that one move of the slider may cost. Times are the machine's, calls are the page's.
const MOVE: u64 = 40_000;

/// Opens a page in a window, moves through its time, and says what it measured: the calls of the costliest move that draw or write an attribute,
/// and how far the page is wider than its window.
fn probe(browser: &str, folder: &Folder, page: &std::path::Path, window: &str, dark: bool) -> Value {
    let text = std::fs::read_to_string(page).unwrap();
    let script = "<script>document.querySelectorAll('canvas').forEach((c) => { c.seen = c.getBoundingClientRect().top < innerHeight + 200; });\
        let calls = 0, most = 0;\
        for (const of of [CanvasRenderingContext2D.prototype, Path2D.prototype, Element.prototype])\
            for (const name of ['moveTo', 'lineTo', 'arc', 'rect', 'fillRect', 'fillText', 'setAttribute'])\
                if (of[name]) { const plain = of[name]; of[name] = function (...given) { calls++; return plain.apply(this, given); }; }\
        for (let k = 0; k < 60; k++) { calls = 0; clock.t = span.from + (span.to - span.from) * k / 60; for (const f of clock.listeners) f(); most = Math.max(most, calls); }\
        document.documentElement.dataset.probe = JSON.stringify({ calls: most, wide: document.documentElement.scrollWidth - innerWidth, theme: document.documentElement.dataset.theme });</script></body>";
    let copy = folder.write("probe.html", &text.replacen("</body>", script, 1));
    let mut command = Command::new(browser);
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--enable-logging=stderr",
        "--dump-dom",
    ]);
    command.arg(format!("--window-size={window}"));
    if dark {
        command.arg("--blink-settings=preferredColorScheme=0");
    }
    let output = command
        .arg(format!("--user-data-dir={}", folder.0.join("profile").display()))
        .arg(format!("file://{}", copy.display()))
        .output()
        .expect("the browser starts");
    let console: Vec<String> =
        err(&output).lines().filter(|l| l.contains("CONSOLE")).map(str::to_string).collect();
    assert!(console.is_empty(), "{console:?}");
    let dom = out(&output);
    let found = dom.split_once("data-probe=\"").expect("the page was built").1.split('"').next().unwrap();
    serde_json::from_str(&found.replace("&quot;", "\"")).unwrap()
}

/// Short and long runs, large and small windows, light and dark: nothing is wider than its window, the console is silent, and a move of
/// the slider draws little.
#[test]
fn reports_fit_their_windows_in_both_schemes() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return;
    };
    let folder = Folder::new("windows");
    for (model, until) in [
        ("woodpecker", "5"),
        ("woodpecker", "150"),
        ("rod", "1"),
        ("brick_wall", "0.02"),
        ("dropped_box", "1"),
    ] {
        let output = folder.run(&["run", model, "--until", until, "--out", "kept"]);
        assert!(folder.0.join("kept/report.html").exists(), "{}", err(&output));
        for (window, dark) in [("1300,900", false), ("1300,900", true), ("390,800", false), ("390,800", true)]
        {
            let measured = probe(browser, &folder, &folder.0.join("kept/report.html"), window, dark);
            assert!(measured["wide"].as_f64().unwrap() <= 0.0, "{model} {window}: {measured}");
            assert_eq!(measured["theme"], if dark { "dark" } else { "light" });
            assert!(measured["calls"].as_u64().unwrap() < MOVE, "{model}: {measured}");
        }
    }
}

/// What has its final name is whole, whenever the program is killed.
#[cfg(unix)]
#[test]
fn files_are_whole_after_a_kill_at_any_instant() {
    for k in 0..6 {
        let folder = Folder::new(&format!("kill-{k}"));
        folder.write(
            "ball.toml",
            &BALL.replace("e  = { value = 0.5, range = [0, 1] }", "e = 1").replace("\"2 s\"", "\"1e9 s\""),
        );
        for round in 0..2 {
            let mut child = Command::new(env!("CARGO_BIN_EXE_specht"))
                .args(["run", "ball.toml", "--events", "20000", "--every", "100 s"])
                .current_dir(&folder.0)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // the first round ends by itself, so that there is something to spoil
            if round == 1 {
                std::thread::sleep(std::time::Duration::from_millis(40 + 130 * k));
                let _ = child.kill();
            }
            let _ = child.wait();
        }
        let run = run_json(&folder, "out/ball/run.json");
        assert_eq!(run["events"].as_array().unwrap().len(), 20_000);
        let csv = std::fs::read_to_string(folder.0.join("out/ball/trajectory.csv")).unwrap();
        let width = csv.lines().next().unwrap().split(',').count();
        assert!(csv.ends_with('\n') && csv.lines().all(|l| l.split(',').count() == width));
        let page = std::fs::read_to_string(folder.0.join("out/ball/report.html")).unwrap();
        assert!(page.trim_end().ends_with("</html>"));
    }
}
