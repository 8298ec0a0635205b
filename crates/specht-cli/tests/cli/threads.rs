//! The same bits for any number of threads: maps over a curved contact, and everything that the gallery asks of its models.

use crate::{Folder, err, out, root};

const THREADS: [&str; 4] = ["1", "2", "3", "4"];

/// Standard output for each number of threads.
fn answers(folder: &Folder, args: &[&str]) -> Vec<String> {
    let with = |threads: &&str| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_specht"))
            .args(args)
            .env("RAYON_NUM_THREADS", threads)
            .current_dir(&folder.0)
            .output()
            .expect("the program starts");
        assert!(output.status.code().is_some_and(|c| c < 2), "{args:?}: {}", err(&output));
        out(&output)
    };
    THREADS.iter().map(with).collect()
}

#[track_caller]
fn agree(what: &str, answers: &[String]) {
    for (answer, threads) in answers.iter().zip(THREADS).skip(1) {
        if let Some((a, b)) = answers[0].lines().zip(answer.lines()).find(|(a, b)| a != b) {
            panic!("{what}: one thread gives\n{a}\n{threads} give\n{b}");
        }
        assert_eq!(answers[0].len(), answer.len(), "{what}, {threads} threads");
    }
}

/// An ellipse slides on its border; the place of the contact is found by iteration.
const EGG: &str = r#"
name = "ellipse slides"
gravity = [0, -9.81]
[parameters]
a = 0.5
b = 0.2
mu = 0.9
v0 = 1.0
th0 = 0.7
w0 = 0.3
[coordinates]
x = { start = 0, rate = "v0" }
y = { guess = 0.4 }
phi = { start = "th0", rate = "w0" }
[ground]
floor = { through = [0, 0], normal = [0, 1] }
[[body]]
name = "egg"
mass = 1
inertia = 0.01
center = [0.45, 0]
position = ["x", "y"]
angle = "phi"
features = { skin = { curve = ["a*cos(s)", "b*sin(s)"], parameter = "s", range = [0, "2*pi"], material = "left" } }
[[contact]]
name = "tip"
between = ["egg.skin", "ground.floor"]
friction = "mu"
[start]
closed = ["tip"]
[run]
until = "0.01 s"
"#;

/// Was wrong: the iteration for the place of a contact on a curve started from whatever its thread had looked at before.
#[test]
fn a_map_over_a_curved_contact_has_the_same_bits_for_any_number_of_threads() {
    let folder = Folder::new("egg");
    folder.write("egg.toml", EGG);
    for over in [&["--over", "th0=0.1..3:997"][..], &["--over", "th0=0.1..3:61", "--over", "mu=0.1..3:61"]] {
        let args = [&["analyse", "painleve", "egg.toml"][..], over, &["--json"]].concat();
        let all = answers(&folder, &args);
        assert!(all[0].len() > 1000, "{}", all[0]);
        agree(&format!("{over:?}"), &all);
    }
}

#[test]
fn every_task_of_the_gallery_has_the_same_bits_for_any_number_of_threads() {
    let folder = Folder::new("tasks");
    let mut asked = 0;
    for entry in std::fs::read_dir(root().join("gallery")).expect("the gallery").flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("model.toml")) else { continue };
        if text.lines().any(|l| l.starts_with("[[task") || l.starts_with("[task")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            agree(&name, &answers(&folder, &["run", &name, "--json"]));
            asked += 1;
        }
    }
    assert!(asked > 5, "only {asked} entries have tasks");
}
