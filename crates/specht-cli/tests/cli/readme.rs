//! The README tells the truth: its commands run, its model file runs.

use crate::{Folder, err, out, root};

/// Code blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let mut list = Vec::new();
    let mut inside: Option<String> = None;
    for line in text.lines() {
        match &mut inside {
            None if line.trim() == format!("```{language}") => inside = Some(String::new()),
            None => {}
            Some(block) if line.trim() == "```" => {
                list.push(std::mem::take(block));
                inside = None;
            }
            Some(block) => {
                block.push_str(line);
                block.push('\n');
            }
        }
    }
    list
}

#[test]
fn readme_commands_run() {
    let folder = Folder::new("readme");
    for (k, model) in blocks("toml").iter().enumerate() {
        folder.write(if k == 0 { "model.toml" } else { "other.toml" }, model);
    }
    let mut count = 0;
    for block in blocks("sh") {
        for line in block.lines() {
            let line = line.split(" #").next().unwrap_or("").trim();
            // building is what this test runs in; `./test` is this test; a browser is not opened
            let command =
                line.strip_prefix("cargo run --release -- ").or_else(|| line.strip_prefix("specht "));
            let Some(command) = command else { continue };
            let words: Vec<String> = split(command).into_iter().filter(|w| w != "--open").collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if words.first() == Some(&"verify") && words.len() == 1 {
                continue; // the whole gallery has a test of its own
            }
            let output = folder.run(&words);
            assert_eq!(output.status.code(), Some(0), "`{line}`\n{}{}", out(&output), err(&output));
            count += 1;
        }
    }
    assert!(count >= 3, "only {count} commands found in the README");
}

/// Words of a command line; double quotes hold words together.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}
