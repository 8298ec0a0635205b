//! Compiles the gallery and the explanation pages into the program: writes `embedded.rs`, lists of names and
//! `include_str!` of every file, sorted by name.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = here.ancestors().nth(2).expect("crates/specht-cli lies two levels down").to_path_buf();
    let mut out = String::new();

    // gallery/<name>/{model.toml, expected.toml, README.md, *.csv, *.obj}
    out +=
        "/// Gallery: (entry, files as (name, text)).\npub static GALLERY: &[(&str, &[(&str, &str)])] = &[\n";
    for entry in sorted(&root.join("gallery")) {
        if !entry.join("model.toml").is_file() {
            continue;
        }
        writeln!(out, "    ({:?}, &[", name(&entry)).unwrap();
        for file in sorted(&entry) {
            let wanted = matches!(extension(&file), "toml" | "md" | "csv" | "obj");
            if file.is_file() && wanted {
                writeln!(out, "        ({:?}, include_str!({:?})),", name(&file), file).unwrap();
            }
        }
        out += "    ]),\n";
    }
    out += "];\n\n";

    // docs/explain/<topic>.md
    out += "/// Explanations: (topic, page).\npub static EXPLAIN: &[(&str, &str)] = &[\n";
    for file in sorted(&root.join("docs/explain")) {
        if extension(&file) == "md" {
            let topic = name(&file).trim_end_matches(".md").to_string();
            writeln!(out, "    ({topic:?}, include_str!({file:?})),").unwrap();
        }
    }
    out += "];\n";

    let target = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo")).join("embedded.rs");
    std::fs::write(target, out).expect("OUT_DIR can be written");
    // relative, so that a build folder that was copied with its sources looks at its own
    println!("cargo:rerun-if-changed=../../gallery");
    println!("cargo:rerun-if-changed=../../docs/explain");
}

/// Content of a folder by name; empty when there is none.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> =
        std::fs::read_dir(folder).map(|dir| dir.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    list.sort();
    list
}

fn name(path: &Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(|e| e.to_str()).unwrap_or("")
}
