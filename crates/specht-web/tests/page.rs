//! The page with the engine in it, in a real browser, as a user would use it. Skipped with a sentence where `web/build` has not made
//! the page or no Chromium is installed (`./test` does both).

use serde_json::{Value as Json, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn browser() -> Option<&'static str> {
    let works = |name: &&str| {
        let mut command = Command::new(name);
        command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(works)
}

/// Ends with its owner.
struct Window(Child, PathBuf);

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_dir_all(&self.1);
    }
}

/// Opens the page with a script at its end; the answer is what the script sends back. The server is only for the test: it takes the
/// answer.
fn visit(name: &str, window: &str, script: &str) -> Option<Json> {
    let Ok(page) = std::fs::read_to_string(root().join("target/web/index.html")) else {
        eprintln!("skipped: target/web/index.html is not there; web/build makes it");
        return None;
    };
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium found");
        return None;
    };
    let helpers = "<script>const until = async (f) => { for (let k = 0; k < 1200; k++) { const x = f(); if (x) return x; await new Promise((r) => setTimeout(r, 50)); } throw new Error('nothing came of ' + f); };\
        const wrong = []; addEventListener('error', (e) => wrong.push(e.message)); addEventListener('unhandledrejection', (e) => wrong.push(String(e.reason)));\
        const send = (x) => fetch('/said', { method: 'POST', body: JSON.stringify({ ...x, wrong }) });";
    let script = format!(
        "{helpers}\n(async () => {{ {script} }})().then(send, (e) => send({{ failed: String(e) }}));</script></body>"
    );
    let page = page.replacen("</body>", &script, 1);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let profile = std::env::temp_dir().join(format!("specht-page-{name}-{}", std::process::id()));
    let child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
        .args([&format!("--window-size={window}"), &format!("--user-data-dir={}", profile.display())])
        .args(["--remote-debugging-port=0", &address])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _window = Window(child, profile);
    loop {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut first, mut length) = (String::new(), 0);
        if reader.read_line(&mut first).is_err() {
            continue;
        }
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
            if let Some(n) = line.to_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap();
            }
            line.clear();
        }
        if first.starts_with("POST") {
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            return Some(serde_json::from_slice(&body).unwrap());
        }
        let (status, body) =
            if first.starts_with("GET / ") { ("200 OK", page.as_str()) } else { ("404 Not Found", "") };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
    }
}

#[test]
fn a_user_opens_the_page_moves_a_slider_makes_a_mistake_and_shares_the_link() {
    let script = r##"
        await until(() => document.documentElement.dataset.ready);
        const report = $("report"), first = await until(() => report.dataset.final);
        const slider = await until(() => document.querySelector('input[type="range"]'));
        const before = slider.value;
        slider.value = Number(slider.min) + 0.25 * (slider.max - slider.min);
        slider.dispatchEvent(new Event("input"));
        const second = await until(() => report.dataset.final !== first && report.dataset.final);
        const moved = slider.value;
        // the link carries model and value
        $("share").click();
        await until(() => location.hash.length > 100);
        const kept = await unpacked(location.hash.slice(1));
        // a mistake, its message, and its place
        const text = editor.text;
        editor.field.value = text.replace("[coordinates]", "[coordinats]");
        editor.field.dispatchEvent(new Event("input"));
        const message = await until(() => document.querySelector("#marks button.wrong") && $("marks").textContent);
        document.querySelector("#marks button.wrong").click();
        const chosen = editor.text.slice(editor.field.selectionStart, editor.field.selectionEnd);
        // completion: keys of the section, then the names of the model
        editor.field.value = text + "\n[[contact]]\nfri";
        editor.field.selectionStart = editor.field.selectionEnd = editor.field.value.length;
        editor.offer(false);
        const offers = editor.offers.map((o) => o.word);
        // the link again
        await begin(kept);
        const third = await until(() => report.dataset.final === second && report.dataset.final);
        return { first, second, third, message, chosen, offers, name: slider.dataset.name, before, moved,
            state: $("state").textContent, wide: document.documentElement.scrollWidth - innerWidth };
    "##;
    let Some(said) = visit("user", "1300,900", script) else { return };
    assert!(said["failed"].is_null() && said["wrong"] == json!([]), "{said}");
    assert_ne!(said["first"], said["second"]);
    assert_eq!(said["second"], said["third"]);
    assert!(said["message"].as_str().unwrap().contains("coordinats"), "{said}");
    assert!(said["chosen"].as_str().unwrap().contains("coordinats"), "{said}");
    assert!(said["offers"].as_array().unwrap().contains(&json!("friction")), "{said}");
    assert!(said["wide"].as_f64().unwrap() <= 0.0, "{said}");
    // the same motion as of the program: the functions sin, cos, exp differ in their last bit
    let machine = specht_cli::host::entry("woodpecker").unwrap();
    let machine = specht::machine::Machine::new(machine, Default::default()).unwrap();
    let own = serde_json::to_value(machine.run().unwrap().record()).unwrap()["final"].clone();
    let page: Json = serde_json::from_str(said["first"].as_str().unwrap()).unwrap();
    for (name, value) in own.as_object().unwrap() {
        let (Some(a), Some(b)) = (value.as_f64(), page[name].as_f64()) else { continue };
        assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{name}: {a} in the program, {b} in the page");
    }
}

#[test]
fn the_page_fits_a_phone_and_answers_questions() {
    let script = r##"
        await until(() => document.documentElement.dataset.ready);
        const wide = document.documentElement.scrollWidth - innerWidth;
        await open("rod");
        $("kind").value = "painleve";
        asked();
        $("ask").click();
        const words = await until(() => !$("answer").hidden && $("answer").textContent);
        const picture = Boolean($("answer").querySelector("img"));
        // what cannot be asked says why
        $("keys").value = "nonsense = 1";
        $("ask").click();
        const refused = await until(() => $("answer").querySelector(".wrong") && $("answer").textContent);
        // a run that is stopped leaves a page that goes on
        await open("woodpecker");
        editor.field.value = editor.text.replace(/until = .*/, "until = 100000");
        run();
        await new Promise((r) => setTimeout(r, 500));
        $("stop").click();
        await open("rod");
        return { wide, words, picture, refused, state: $("state").textContent, inner: innerWidth };
    "##;
    let Some(said) = visit("phone", "390,800", script) else { return };
    assert!(said["failed"].is_null() && said["wrong"] == json!([]), "{said}");
    assert!(said["wide"].as_f64().unwrap() <= 0.0, "{said}");
    assert!(said["words"].as_str().unwrap().len() > 50, "{said}");
    assert!(said["refused"].as_str().unwrap().contains("nonsense"), "{said}");
    assert!(said["state"].as_str().unwrap().contains("finished"), "{said}");
}
