//! What a directional derivative costs in evaluations, model by model of the gallery and for the tree of 100 bodies:
//!
//! ```text
//! cargo run --release -p specht-bench --bin tangent
//! ```

use specht::inside::build;
use specht::inside::{Options, read_with};
use specht::system::{Along, State, System, Tangent};
use specht_bench::{open, tree};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

fn main() {
    println!("{:28} {:>12} {:>12} {:>7}", "model", "evaluate, µs", "tangent, µs", "ratio");
    let mut ratios = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gallery");
    let mut names: Vec<_> =
        std::fs::read_dir(&root).into_iter().flatten().flatten().map(|e| e.path()).collect();
    names.sort();
    for folder in names {
        let Ok(text) = std::fs::read_to_string(folder.join("model.toml")) else { continue };
        let loader = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|e| e.to_string());
        let Ok(loaded) = read_with(&text, &Options::default(), &loader) else { continue };
        let Ok(system) = build(&loaded.model) else { continue };
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        ratios.push(measure(&name, &system, &system.start()));
    }
    let chain = tree(100);
    let dims = chain.dims();
    let state = State { q: vec![0.1; dims.q], u: vec![0.1; dims.u], ..State::default() };
    ratios.push(measure("tree of 100 bodies", &chain, &state));
    ratios.sort_by(f64::total_cmp);
    let (middle, largest) = (ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    println!("ratio: median {middle:.2}, largest {largest:.2}");
}

/// Prints and returns the ratio, in a direction in which everything changes.
fn measure(name: &str, system: &impl System, state: &State) -> f64 {
    let (mut discrete, mut out) = open(system, state);
    system.evaluate(state, &discrete, &mut out);
    discrete.contour.clone_from(&out.contour);
    let (q, z) = (vec![0.3; state.q.len()], vec![0.2; state.z.len()]);
    let along = Along { t: 1.0, q: &q, u: &q, z: &z, ..Along::default() };
    let mut tangent = Tangent::new(system);
    let evaluate = shortest(|| system.evaluate(black_box(state), &discrete, &mut out));
    let mut there = system.memory();
    system.evaluate(state, &discrete, &mut there);
    let rates = shortest(|| {
        system.tangent(black_box(state), &discrete, &there, &along, &mut tangent);
    });
    println!("{name:28} {:12.3} {:12.3} {:7.2}", 1e6 * evaluate, 1e6 * rates, rates / evaluate);
    rates / evaluate
}

/// Seconds per call: the shortest of many short series, which the rest of the machine disturbs least.
fn shortest(mut f: impl FnMut()) -> f64 {
    (0..60)
        .map(|_| {
            let begin = Instant::now();
            let mut calls = 0;
            while begin.elapsed().as_micros() < 500 {
                (0..8).for_each(|_| f());
                calls += 8;
            }
            begin.elapsed().as_secs_f64() / f64::from(calls)
        })
        .fold(f64::INFINITY, f64::min)
}
