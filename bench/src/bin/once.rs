//! One task a given number of times, to be counted by `bench/instructions.sh`:
//!
//! ```text
//! once TASK TIMES         woodpecker, by-hand: ten seconds of motion; lcp-100, lcp-300; tree-100, chain-10, chain-50, chain-200:
//!                         one evaluation; loop: a run of 0.2 s of the woodpecker, another friction each time
//! ```

use specht::lcp::{Lcp, Solver};
use specht::machine::Machine;
use specht::system::{State, System};
use specht_bench::*;
use std::hint::black_box;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let task = words.first().map_or("", String::as_str);
    let times: usize = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(1);
    match task {
        "woodpecker" => motion(&woodpecker_of_file(), times),
        "by-hand" => motion(&woodpecker_by_hand(), times),
        "lcp-100" => lcp(100, times),
        "lcp-300" => lcp(300, times),
        "tree-100" => evaluate(&tree(100), times),
        "chain-10" => evaluate(&chain(10), times),
        "chain-50" => evaluate(&chain(50), times),
        "chain-200" => evaluate(&chain(200), times),
        "variants" => variants(times),
        "loop" => many(times),
        _ => {
            eprintln!(
                "tasks: woodpecker by-hand lcp-100 lcp-300 tree-100 chain-10 chain-50 chain-200 variants loop"
            );
            std::process::exit(2);
        }
    }
}

/// What a loop over a parameter costs (`bench/loop.py` does the same from Python).
fn many(times: usize) {
    let machine = Machine::open("gallery/woodpecker/model.toml").expect("the gallery is there");
    let machine = machine.live(vec!["mu1".to_string()]).expect("a parameter of the woodpecker").until(0.2);
    for k in 0..times {
        let mu = 0.3 + 0.2 * k as f64 / times as f64;
        let run = machine.vary(&[("mu1", mu)]).and_then(|m| m.run()).expect("a run of the woodpecker");
        black_box(run.table().column("phiS"));
    }
}

fn motion(system: &impl System, times: usize) {
    let start = woodpecker_start();
    (0..times).for_each(|_| drop(black_box(run(system, &start, 10.0))));
}

/// Variants of the woodpecker, all alive at once.
fn variants(times: usize) {
    let system = woodpecker_of_file();
    let list: Vec<_> = (0..times)
        .map(|_| {
            let mut variant = system.clone();
            variant.set_parameters(&[]);
            variant
        })
        .collect();
    black_box(list);
}

fn lcp(n: usize, times: usize) {
    let (a, b) = definite(n, 0.1);
    let mut solver = Solver::default();
    (0..times).for_each(|_| assert!(solver.solve(black_box(Lcp::new(&a, &b))).is_solved()));
}

fn evaluate(system: &impl System, times: usize) {
    let dims = system.dims();
    let state = State { q: vec![0.1; dims.q], u: vec![0.1; dims.u], ..State::default() };
    let (discrete, mut out) = open(system, &state);
    (0..times).for_each(|_| system.evaluate(black_box(&state), &discrete, &mut out));
}
