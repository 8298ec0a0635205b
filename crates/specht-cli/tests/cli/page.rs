//! The report page in a real browser: no error on its console, and everything is there. Skipped with a sentence where no
//! Chromium is installed (`./test` installs it).

use crate::{BALL, Folder, err, root};
use serde_json::Value as Json;
use std::path::Path;
use std::process::{Command, Stdio};

pub fn browser() -> Option<&'static str> {
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    })
}

/// The page after its scripts ran, and what it wrote to the console.
pub fn load(browser: &str, page: &Path, profile: &Path) -> (String, String) {
    load_with(browser, page, profile, &[])
}

/// The same with further switches of the browser.
fn load_with(browser: &str, page: &Path, profile: &Path, switches: &[&str]) -> (String, String) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .args(switches)
        .args(["--window-size=1366,900", "--virtual-time-budget=4000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let console: Vec<String> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|l| l.contains("CONSOLE") && !l.contains("GL Driver Message"))
        .map(str::to_string)
        .collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console.join("\n"))
}

#[test]
fn the_report_page_works_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return;
    };
    let folder = Folder::new("page");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["run", "ball.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let (dom, console) = load(browser, &folder.0.join("out/ball/report.html"), &folder.0.join("profile"));
    assert!(console.is_empty(), "the console says\n{console}");
    assert!(dom.contains("data-ready=\"yes\""), "the page did not finish");
    for id in ["status", "stage", "modes", "events", "ledger", "audit", "parameters", "play"] {
        assert!(dom.contains(&format!("id=\"{id}\"")), "#{id} is missing");
    }
    // stage, modes, coordinates, velocities, outputs, four of contacts, energy, own plot, three phase planes
    assert!(dom.matches("<canvas").count() >= 12, "{} canvases", dom.matches("<canvas").count());
    assert!(dom.contains("audit passed") && dom.contains(">impact<"));
}

/// Bodies in space are drawn by WebGL2, and painted where a browser has none; nothing is said on the console either way.
#[test]
fn bodies_in_space_are_drawn_with_and_without_webgl() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return;
    };
    // balls on a plane, and a block on a solid of the ground
    for model in ["billiards", "table_edge"] {
        drawn_with_and_without_webgl(browser, model);
    }
}

fn drawn_with_and_without_webgl(browser: &str, model: &str) {
    let folder = Folder::new(&format!("space-page-{model}"));
    let output = folder.run(&["run", model, "--out", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let page = folder.0.join("out/report.html");
    // every button of the picture once, then the middle of the run
    let text = std::fs::read_to_string(&page).unwrap();
    let press = "<script>document.querySelectorAll('.stage .buttons button').forEach((b) => b.click()); setTime(0.5 * span.to);</script>";
    std::fs::write(&page, text.replace("</body>", &format!("{press}</body>"))).unwrap();
    for (switches, drawn) in [
        (["--use-angle=swiftshader", "--enable-unsafe-swiftshader"], "webgl"),
        (["--disable-3d-apis", "--disable-gpu"], "painted"),
    ] {
        let profile = folder.0.join(drawn);
        let (dom, console) = load_with(browser, &page, &profile, &switches);
        assert!(console.is_empty(), "{model}, {drawn}: the console says\n{console}");
        assert!(dom.contains("data-ready=\"yes\""), "{model}, {drawn}: the page did not finish");
        assert!(dom.contains(&format!("data-drawn=\"{drawn}\"")), "not drawn: {drawn}");
        for word in ["Cones", "Trails", "Above"] {
            assert!(dom.contains(&format!(">{word}</button>")), "{drawn}: the button {word}");
        }
    }
}

#[test]
fn the_page_uses_nothing_from_the_network() {
    for file in [
        "report.html",
        "report.css",
        "core.js",
        "plot.js",
        "scene.js",
        "space.js",
        "solid.js",
        "page.js",
        "compare.js",
    ] {
        let text = std::fs::read_to_string(root().join("web").join(file)).unwrap();
        assert!(
            !text.contains("http://") && !text.contains("https://") && !text.contains("fetch("),
            "{file}"
        );
    }
}

/// A block on a closed outline (whose contact has several parts) and, after it in the file, a ball that falls on the floor.
const TWO: &str = r#"
name = "outline then ball"
gravity = [0, -10]
[coordinates]
x = 0
y = 0.5
phi = 0
b = 1.0
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "block"
mass = "1 kg"
inertia = "0.1667 kg*m^2"
position = ["x", "y"]
angle = "phi"
features = { skin = { outline = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], material = "left", closed = true } }
[[body]]
name = "ball"
mass = "3 kg"
position = [3, "b"]
features = { p = [0, 0] }
[[contact]]
name = "foot"
between = ["block.skin", "ground.floor"]
friction = 0.5
[[contact]]
name = "spot"
between = ["ball.p", "ground.floor"]
[output]
press = "foot.normal"
speed = "spot.gap'"
[run]
until = "1 s"
[[plot]]
y = ["foot.normal", "spot.normal", "spot.gap'", "spot.gap", "b", "2*foot.normal + spot.gap"]
[[plot]]
x = "b"
y = ["b'"]
"#;

/// Numbers that a page holds as base64.
fn numbers<const N: usize>(text: &Json, number: fn([u8; N]) -> f64) -> Vec<f64> {
    let letter = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("no base64: {c}"),
    };
    let (mut bytes, mut word, mut bits) = (Vec::new(), 0_u32, 0);
    for c in text.as_str().expect("base64").bytes().filter(|c| *c != b'=') {
        word = word << 6 | u32::from(letter(c));
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((word >> bits) as u8);
        }
    }
    bytes.chunks_exact(N).map(|c| number(c.try_into().unwrap())).collect()
}

/// Was wrong: plots of a contact after an outline showed the numbers of another contact, and rates as zero. Every curve of the page
/// against its closed form, the outputs against the plots, and the audit against `run.json`.
#[test]
fn the_curves_of_the_page_are_the_numbers_of_the_run() {
    let folder = Folder::new("curves");
    folder.write("two.toml", TWO);
    let output = folder.run(&["run", "two.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let read = |file: &str| std::fs::read_to_string(folder.0.join("out/two").join(file)).unwrap();
    let page = read("report.html");
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Json = serde_json::from_str(data).unwrap();
    let f64s = |x: &Json| numbers(x, f64::from_le_bytes);
    let f32s = |x: &Json| numbers(x, |b: [u8; 4]| f64::from(f32::from_le_bytes(b)));

    let hit = 0.2_f64.sqrt();
    let falls = |t: f64, before: f64, after: f64| if t < hit { before } else { after };
    type Form<'a> = (&'a str, &'a dyn Fn(f64) -> f64);
    let forms: [Form; 6] = [
        ("foot.normal", &|_| 10.0),
        ("spot.normal", &|t| falls(t, 0.0, 30.0)),
        ("spot.gap'", &|t| falls(t, -10.0 * t, 0.0)),
        ("spot.gap", &|t| falls(t, 1.0 - 5.0 * t * t, 0.0)),
        ("b", &|t| falls(t, 1.0 - 5.0 * t * t, 0.0)),
        ("2*foot.normal + spot.gap", &|t| 20.0 + falls(t, 1.0 - 5.0 * t * t, 0.0)),
    ];
    let plot = &data["plots"][0];
    let t = f64s(&plot["t"]);
    assert!(t.len() > 10 && t[t.len() - 1] == 1.0);
    let curves = plot["y"].as_array().unwrap();
    assert_eq!(curves.len(), forms.len());
    // both sides of the impact are recorded with the same instant: there the curve may be on either
    let far = |t: f64| (t - hit).abs() > 1e-6;
    for (curve, (name, form)) in curves.iter().zip(forms) {
        assert_eq!(curve["name"], name);
        let y = f32s(&curve["y"]);
        assert_eq!(y.len(), t.len(), "{name}");
        for (t, y) in t.iter().zip(&y).filter(|(t, _)| far(**t)) {
            assert!((y - form(*t)).abs() < 1e-5, "{name} at {t}: {y}, expected {}", form(*t));
        }
    }
    // over a coordinate: v² = 20 (1 − b)
    let (x, y) = (f32s(&data["plots"][1]["x"]["y"]), f32s(&data["plots"][1]["y"][0]["y"]));
    assert!(x.len() == t.len() && y.len() == t.len());
    for (b, v) in x.iter().zip(&y).filter(|(b, _)| **b > 1e-3) {
        assert!((v * v - 20.0 * (1.0 - b)).abs() < 1e-4, "{b} {v}");
    }

    // outputs and contacts beside the plots
    let series = &data["series"];
    let column =
        |name: &str| series["columns"].as_array().unwrap().iter().find(|c| c["name"] == name).unwrap();
    assert!(
        (column("press")["constant"].as_f64().unwrap_or_else(|| f32s(&column("press")["y"])[3]) - 10.0).abs()
            < 1e-5
    );
    assert_eq!(column("speed")["y"], curves[2]["y"]);
    assert_eq!(column("spot.normal")["y"], curves[1]["y"]);
    assert_eq!(column("b")["y"], curves[4]["y"]);

    // the lines of the audit
    let run: Json = serde_json::from_str(&read("run.json")).unwrap();
    let lines = data["run"]["audit"]["lines"].as_array().unwrap();
    let names: Vec<&str> = lines.iter().map(|l| l["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["complementarity", "cone", "impact", "penetration", "drift", "energy"]);
    for line in lines {
        assert_eq!(line["value"], run["audit"][line["name"].as_str().unwrap()]);
        assert_eq!(line["passed"], true, "{line}");
    }
    let said = crate::out(&output);
    for name in names {
        assert!(said.contains(&format!("{name} ")), "{name} is not in the terminal:\n{said}");
    }
}
