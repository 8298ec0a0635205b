//! Help, errors, exit codes.

use crate::{BALL, Folder, err, out, root, specht_in};

#[test]
fn help_lists_every_command_and_the_exit_codes() {
    let output = specht_in(&root(), &["--help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = out(&output);
    for word in [
        "run",
        "check",
        "import",
        "gallery",
        "verify",
        "analyse",
        "solve",
        "problem",
        "schema",
        "explain",
        "completions",
        "Exit codes",
    ] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    for command in [
        "run",
        "check",
        "import",
        "gallery",
        "verify",
        "analyse",
        "solve",
        "problem",
        "schema",
        "explain",
        "completions",
    ] {
        assert_eq!(specht_in(&root(), &[command, "--help"]).status.code(), Some(0), "{command} --help");
    }
}

#[test]
fn wrong_input_ends_with_exit_code_2_and_a_remedy() {
    let folder = Folder::new("wrong");
    folder.write("ball.toml", BALL);
    for (args, words) in [
        (vec!["run"], "Usage"),
        (vec!["fly"], "unrecognized subcommand"),
        (vec!["run", "no-such-model"], "neither a file nor an entry of the gallery"),
        (vec!["run", "ball.toml", "--set", "mu"], "has no `=`"),
        (vec!["run", "ball.toml", "--set", "nu=1"], "did you mean `mu`"),
        (vec!["run", "ball.toml", "--set", "mu=(1"], "--set mu"),
        (vec!["run", "ball.toml", "--case", "soft"], "soft"),
        (vec!["run", "ball.toml", "--until", "now"], "--until"),
        (vec!["run", "ball.toml", "--until", "-1"], "--until must be a positive time"),
        (vec!["run", "ball.toml", "--scheme", "guess"], "possible values"),
        (vec!["explain", "painlev"], "did you mean `painleve`"),
        (vec!["analyse", "magic", "ball.toml"], "there is no analysis `magic`"),
        (vec!["verify", "no-such-entry"], "neither a file nor an entry"),
        (vec!["completions", "dosh"], "possible values"),
    ] {
        let output = folder.run(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}\n{}", err(&output));
        assert!(err(&output).contains(words), "{args:?} should say `{words}`:\n{}", err(&output));
        assert!(out(&output).is_empty(), "{args:?} printed to standard output");
    }
}

/// Regression: what is no regular file was no model.
#[test]
#[cfg(unix)]
fn a_model_may_come_from_a_pipe() {
    use std::io::Write;
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_specht"))
        .args(["check", "/dev/stdin"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(BALL.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).contains("no errors"), "{}", out(&output));
}

#[test]
fn a_mistake_in_a_file_is_shown_with_place_line_and_mark() {
    let folder = Folder::new("mistake");
    folder.write("bad.toml", &BALL.replace("angle    = \"phi\"", "angle    = \"-fi\""));
    let output = folder.run(&["check", "bad.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let text = err(&output);
    assert!(text.contains("unknown name `fi`") && text.contains("bad.toml:23:"), "{text}");
    assert!(text.contains("23 | angle    = \"-fi\"") && text.contains("^^"), "{text}");
    assert!(text.contains("did you mean `phi`"), "{text}");
    assert!(!folder.0.join("out").exists(), "a refused model writes nothing");
}

#[test]
fn junk_and_binary_files_are_refused() {
    let folder = Folder::new("junk");
    std::fs::write(folder.0.join("binary.toml"), [0xff, 0xfe, 0x00, 0x80]).unwrap();
    folder.write("junk.toml", "]]][[[ = = =");
    folder.write("empty.toml", "");
    for file in ["binary.toml", "junk.toml", "empty.toml"] {
        let output = folder.run(&["run", file]);
        assert_eq!(output.status.code(), Some(2), "{file}: {}", err(&output));
        assert!(err(&output).contains("error"), "{file}");
    }
}

#[test]
fn check_prints_the_model_as_understood() {
    let folder = Folder::new("check");
    folder.write("ball.toml", BALL);
    let output = folder.run(&["check", "ball.toml", "--case", "hard"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let text = out(&output);
    for words in ["ball", "e   0.9", "y = 1.1", "bounce  unilateral", "no errors"] {
        assert!(text.contains(words), "`{words}` is missing in\n{text}");
    }
}

#[test]
fn explanations_exist_for_the_words_of_the_program() {
    let list = out(&specht_in(&root(), &["explain"]));
    for topic in [
        "audit",
        "impact",
        "poisson",
        "newton",
        "moreau",
        "stick-slip",
        "zeno",
        "change-points",
        "painleve",
        "several-solutions",
        "jam",
        "self-braking",
        "tangential-impact",
        "units",
        "start",
        "contacts",
        "joints",
        "schemes",
        "time-stepping",
    ] {
        assert!(list.contains(topic), "{topic} is not listed");
        let page = specht_in(&root(), &["explain", topic]);
        assert_eq!(page.status.code(), Some(0));
        assert!(out(&page).starts_with("# ") && out(&page).len() > 200, "{topic}");
    }
}

#[test]
fn schema_is_json_of_draft_07_and_completions_name_the_commands() {
    let schema: serde_json::Value = serde_json::from_str(&out(&specht_in(&root(), &["schema"]))).unwrap();
    assert!(schema["$schema"].as_str().unwrap().contains("draft-07"));
    assert!(schema["properties"]["contact"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        let text = out(&specht_in(&root(), &["completions", shell]));
        assert!(text.contains("verify") && text.contains("gallery"), "{shell}");
    }
}

#[test]
fn the_gallery_lists_every_folder_and_shows_its_file() {
    let list = out(&specht_in(&root(), &["gallery"]));
    for entry in std::fs::read_dir(root().join("gallery")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().join("model.toml").is_file() {
            assert!(list.lines().any(|l| l.split_whitespace().next() == Some(&name)), "{name} is not listed");
            let shown = out(&specht_in(&root(), &["gallery", &name, "--show"]));
            assert_eq!(shown, std::fs::read_to_string(entry.path().join("model.toml")).unwrap());
        }
    }
}

/// VAG-5-REGULAR on the command line: at the start and over samples of parameters and coordinates.
#[test]
fn analyse_tensor_answers_at_the_start_and_over_samples() {
    let ask = |args: &[&str]| specht_in(&root(), &[&["analyse", "tensor", "--json"], args].concat());
    let json = |o: &std::process::Output| serde_json::from_str::<serde_json::Value>(&out(o)).unwrap();
    let f = json(&ask(&["rod_regular", "--samples", "20"]));
    assert_eq!(f["regular"], true);
    assert_eq!(f["sampled"]["count"], 20);
    assert_eq!(f["sampled"]["irregular"], 0);
    let f =
        json(&ask(&["rod_tensor", "--case", "coulomb", "--over", "th=100 deg..170 deg:2", "--samples", "8"]));
    assert_eq!(f["sampled"]["irregular"], 8);
    assert!(f["sampled"]["worst"]["at"]["th"].as_f64().unwrap() > 1.7);
    // a journal is not of this form; nothing to sample
    let said = |o: std::process::Output| String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(said(ask(&["zhukovsky_froude"])).contains("is a journal"));
    assert!(said(ask(&["slider_crank", "--samples", "5"])).contains("no parameter of the file has a range"));
    assert!(said(ask(&["rod_tensor", "--over", "nothing=0..1:2"])).contains("`nothing`"));
}
