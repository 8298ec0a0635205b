//! The programs of `examples/` run; each checks its own numbers.

#[path = "../examples/by_hand.rs"]
mod by_hand;
#[path = "../examples/friction_problem.rs"]
mod friction_problem;
#[path = "../examples/lcp.rs"]
mod lcp;
#[path = "../examples/paradox_map.rs"]
mod paradox_map;
#[path = "../examples/run_file.rs"]
mod run_file;
#[path = "../examples/sweep.rs"]
mod sweep;

#[test]
fn by_hand_runs() {
    by_hand::main().unwrap();
}

#[test]
fn friction_problem_runs() {
    friction_problem::main().unwrap();
}

#[test]
fn lcp_runs() {
    lcp::main().unwrap();
}

#[test]
fn paradox_map_runs() {
    paradox_map::main().unwrap();
}

#[test]
fn run_file_runs() {
    run_file::main().unwrap();
}

#[test]
fn sweep_runs() {
    sweep::main().unwrap();
}

#[test]
fn every_example_is_run() {
    let list = include_str!("examples.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        assert!(list.contains(&format!("../examples/{name}")), "{name} is not run");
    }
}
