//! The modules of the engine stand on each other in one order; a module uses only those below it.

use std::fs;
use std::path::Path;

const ORDER: [&str; 15] = [
    "linalg", "root", "expr", "lcp", "cone", "ode", "system", "contact", "impact", "sim", "model",
    "analysis", "file", "machine", "prelude",
];

#[test]
fn a_module_uses_only_modules_below_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for (rank, module) in ORDER.iter().enumerate() {
        let mut files = Vec::new();
        collect(&root.join(module), &mut files);
        let single = root.join(format!("{module}.rs"));
        if single.exists() {
            files.push(single);
        }
        assert!(!files.is_empty(), "module {module} is gone: change ORDER here and in the house plan");
        for file in files {
            let text = fs::read_to_string(&file).expect("readable source");
            // what stands below the first test attribute may look upward: tests build their examples from text
            let code = text.split("#[cfg(test)]").next().unwrap_or("");
            for above in &ORDER[rank + 1..] {
                if code
                    .lines()
                    .any(|l| !l.trim_start().starts_with("//") && l.contains(&format!("crate::{above}::")))
                {
                    wrong.push(format!(
                        "{} uses {above}",
                        file.strip_prefix(&root).unwrap_or(&file).display()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                collect(&path, files);
            }
        } else if name.ends_with(".rs") && !name.contains("test") {
            files.push(path);
        }
    }
}
