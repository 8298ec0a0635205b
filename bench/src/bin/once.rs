//! One task a given number of times, to be counted by `bench/instructions.sh`:
//!
//! ```text
//! once TASK TIMES         woodpecker, by-hand: ten seconds of motion; lcp-100, lcp-300; tree-100, chain-10, chain-50, chain-200:
//!                         one evaluation; loop: a run of 0.2 s of the woodpecker, another friction each time;
//!                         rattle: ten runs of 100 impacts of one-stage rattling; rods: ten rods of 0.2 s, seconds: ten seconds of the
//!                         woodpecker, each as a sweep with one thread; crank: one second of the slider-crank; cycle: the woodpecker's
//!                         limit cycle with its multipliers
//! ```

use specht::lcp::{Lcp, Solver};
use specht::machine::sweep::{How, Plan, Span, Sweep, Values};
use specht::machine::{Machine, Setup};
use specht::sim::{Outside, Status, event_driven};
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
        "rattle" => sweep("rattle", ("alpha", 1.0, 2.0), Some(100), None, times),
        "rods" => sweep("rod", ("mu", 0.1, 0.5), None, Some(0.2), times),
        "seconds" => sweep("woodpecker", ("mu1", 0.25, 0.35), None, Some(1.0), times),
        "crank" => crank(times),
        "cycle" => cycle(times),
        _ => {
            eprintln!(
                "tasks: woodpecker by-hand lcp-100 lcp-300 tree-100 chain-10 chain-50 chain-200 variants loop rattle rods seconds crank cycle"
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

/// A sweep over ten values of a parameter, again and again, in one thread; only the last state and the counts are read.
fn sweep(name: &str, over: (&str, f64, f64), events: Option<u64>, until: Option<f64>, times: usize) {
    let machine = Machine::open(format!("gallery/{name}/model.toml")).expect("the gallery is there");
    let long = events.map(|_| 1e6);
    let machine = machine.set_up(Setup { events, until: until.or(long), ..Setup::default() });
    let (parameter, from, to) = over;
    let ten = (0..10 * times).map(|k| from + (to - from) * (k % 10) as f64 / 9.0).collect();
    let plan =
        Plan { axes: vec![Span { name: parameter.into(), values: Values::List(ten) }], ..Plan::default() };
    let record = vec!["time".to_string(), "counts.events.impact".to_string()];
    let sweep = Sweep { plan, record, diagram: None };
    let rows = sweep.run(&machine, How { jobs: Some(1), ..How::default() }).expect("a sweep");
    assert_eq!((rows.count_done(), rows.count_failed()), (10 * times, 0), "{:?}", rows.error(0));
}

fn crank(times: usize) {
    let machine = Machine::open("gallery/slider_crank/model.toml").expect("the gallery is there");
    let (_, settings) = machine.settings().expect("settings of the file");
    let start = machine.start().expect("a start");
    (0..times).for_each(|_| {
        let run = event_driven(machine.system(), &start, &settings, &mut Outside::default()).expect("a run");
        assert_eq!(run.status, Status::Finished);
        black_box(run);
    });
}

fn cycle(times: usize) {
    let machine = Machine::open("gallery/woodpecker/model.toml").expect("the gallery is there");
    let task = machine.model().tasks.iter().find(|t| t.name == "cycle").expect("its task").clone();
    (0..times).for_each(|_| drop(black_box(machine.answer(&task, Default::default()).expect("a cycle"))));
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
