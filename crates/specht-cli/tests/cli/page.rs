//! The report page in a real browser: no error on its console, and everything is there. Skipped with a sentence where no
//! Chromium is installed (`./test` installs it).

use crate::{BALL, Folder, err, root};
use std::path::Path;
use std::process::{Command, Stdio};

fn browser() -> Option<&'static str> {
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
fn load(browser: &str, page: &Path, profile: &Path) -> (String, String) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--enable-logging=stderr",
        ])
        .args(["--window-size=1366,900", "--virtual-time-budget=4000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let console: Vec<String> = String::from_utf8_lossy(&output.stderr)
        .lines()
        .filter(|l| l.contains("CONSOLE"))
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

#[test]
fn the_page_uses_nothing_from_the_network() {
    for file in ["report.html", "report.css", "core.js", "plot.js", "scene.js", "page.js"] {
        let text = std::fs::read_to_string(root().join("web").join(file)).unwrap();
        assert!(
            !text.contains("http://") && !text.contains("https://") && !text.contains("fetch("),
            "{file}"
        );
    }
}
