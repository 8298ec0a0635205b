//! What the sources of this program cite exists: identifiers of the specification in `docs/spec-ids.md`, keys in `docs/references.bib`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PREFIXES: [&str; 6] = ["PG-", "ANH-", "ANHP-", "METH-", "CB-", "VAG-"];
/// Where citations stand.
const FOLDERS: [&str; 6] = ["crates", "bench", "gallery", "docs", "web", "fuzz"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All texts below the folders, and the pages beside them.
fn texts() -> Vec<(PathBuf, String)> {
    let mut list = Vec::new();
    for folder in FOLDERS {
        collect(&root().join(folder), &mut list);
    }
    for page in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        list.push((root().join(page), fs::read_to_string(root().join(page)).expect("readable page")));
    }
    list
}

fn collect(folder: &Path, list: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "target" && name != "corpus" && name != "artifacts" {
                collect(&path, list);
            }
        } else if [".rs", ".toml", ".md", ".js", ".sh", ".py"].iter().any(|end| name.ends_with(end))
            && name != "references.rs"
        {
            list.push((path.clone(), fs::read_to_string(&path).unwrap_or_default()));
        }
    }
}

/// Identifiers of the specification in a text.
fn ids(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for prefix in PREFIXES {
        for (at, _) in text.match_indices(prefix) {
            let before = text[..at].chars().next_back();
            let after = text[at + prefix.len()..].chars().next();
            let starts = !before.is_some_and(|c| c.is_alphanumeric() || c == '-');
            if starts && after.is_some_and(|c| c.is_ascii_uppercase() || c.is_ascii_digit()) {
                let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
                let end = text[at..].find(|c| !part(c)).map_or(text.len(), |n| at + n);
                found.push(text[at..end].trim_end_matches(['.', '-']));
            }
        }
    }
    found
}

/// Keys of the bibliography in a text: a name and a year in one word.
fn keys(text: &str) -> Vec<&str> {
    let is_key = |word: &&str| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let year = &word[name.len()..];
        name.len() > 2
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic())
            && name.chars().any(|c| c.is_ascii_lowercase())
            && year.len() == 4
            && (year.starts_with("19") || year.starts_with("20"))
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(is_key).collect()
}

/// The identifiers that the first column of a table explains.
fn table(text: &str) -> BTreeSet<&str> {
    text.lines()
        .filter_map(|l| l.strip_prefix("| "))
        .filter_map(|l| l.split(" |").next())
        .flat_map(ids)
        .collect()
}

/// What a text cites and nothing explains: an identifier must be in the table, or be the section of one that is.
fn unknown<'a>(text: &'a str, explained: &BTreeSet<&str>, bibliography: &BTreeSet<&str>) -> Vec<&'a str> {
    let is_section =
        |id: &str| explained.iter().any(|e| e.strip_prefix(id).is_some_and(|r| r.starts_with('-')));
    let id = |id: &&str| !explained.contains(*id) && !is_section(id);
    let key = |key: &&str| !bibliography.contains(*key);
    ids(text).into_iter().filter(id).chain(keys(text).into_iter().filter(key)).collect()
}

#[test]
fn every_identifier_and_every_key_that_is_cited_is_explained() {
    let page = fs::read_to_string(root().join("docs/spec-ids.md")).expect("the table of identifiers");
    let bib = fs::read_to_string(root().join("docs/references.bib")).expect("the bibliography");
    let explained = table(&page);
    let bibliography: BTreeSet<&str> =
        bib.lines().filter_map(|l| l.split_once('{')).filter_map(|(_, l)| l.split(',').next()).collect();
    assert!(explained.len() > 80 && bibliography.len() > 25);
    let mut wrong = BTreeSet::new();
    for (path, text) in texts() {
        for what in unknown(&text, &explained, &bibliography) {
            wrong.insert(format!("{what} in {}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "not in docs/spec-ids.md or docs/references.bib:\n{wrong:#?}");
}

#[test]
fn what_is_not_explained_is_found() {
    let (explained, bibliography) =
        (BTreeSet::from(["PG-5.3-ROD", "VAG-1-TENSOR"]), BTreeSet::from(["Cottle1992"]));
    let text = "PG-5.3-ROD, (PG-5.3), VAG-1: fine [Cottle1992, 4.4]. PG-5.31-X; XPG-9; VAG-2-ROD.\n[Nobody1900; Cottle1992] METH-NO";
    assert_eq!(unknown(text, &explained, &bibliography), ["PG-5.31-X", "METH-NO", "VAG-2-ROD", "Nobody1900"]);
    assert_eq!(table("| PG-1-A | see PG-2-B |\n| ID | x |\n"), BTreeSet::from(["PG-1-A"]));
}
