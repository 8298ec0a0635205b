//! Ten seconds of the woodpecker from its file and by hand; what one evaluation of the equations costs; trees of bodies.
#![allow(missing_docs)] // the macro of criterion

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use specht::system::{State, System};
use specht_bench::{chain, open, run, tree, woodpecker_by_hand, woodpecker_of_file, woodpecker_start};
use std::hint::black_box;
use std::time::{Duration, Instant};

fn motion(c: &mut Criterion) {
    let (file, hand, start) = (woodpecker_of_file(), woodpecker_by_hand(), woodpecker_start());
    let (a, b) = (run(&file, &start, 10.0), run(&hand, &start, 10.0));
    assert_eq!(a.events.len(), b.events.len(), "file and hand-written equations move alike");
    println!("ten seconds: {} events, {} steps", a.events.len(), a.counts.steps);
    let mut group = c.benchmark_group("woodpecker 10 s");
    group.bench_function("file", |t| t.iter(|| run(&file, black_box(&start), 10.0)));
    group.bench_function("by hand", |t| t.iter(|| run(&hand, black_box(&start), 10.0)));
    group.finish();

    // taken in turn, so that both see the same machine; the smallest of each is the least disturbed one
    let seconds = |f: &dyn Fn()| {
        let clock = Instant::now();
        f();
        clock.elapsed().as_secs_f64()
    };
    let (mut of_file, mut by_hand) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..30 {
        of_file = of_file.min(seconds(&|| drop(black_box(run(&file, &start, 10.0)))));
        by_hand = by_hand.min(seconds(&|| drop(black_box(run(&hand, &start, 10.0)))));
    }
    let ratio = of_file / by_hand;
    println!("file {:.2} ms, by hand {:.2} ms, ratio {ratio:.2}", 1e3 * of_file, 1e3 * by_hand);
    assert!(ratio < 2.0, "a model file costs at most twice the hand-written equations, here {ratio:.2}");
}

fn evaluate(c: &mut Criterion) {
    let mut group = c.benchmark_group("evaluate");
    let start = woodpecker_start();
    one(&mut group, "woodpecker, file", 3, &woodpecker_of_file(), &start);
    one(&mut group, "woodpecker, by hand", 3, &woodpecker_by_hand(), &start);
    for n in [30, 100, 300] {
        let state = State {
            q: (0..n).map(|k| 0.1 * (k as f64).sin()).collect(),
            u: vec![0.1; n],
            ..State::default()
        };
        for (name, build) in [("tree", tree as fn(usize) -> _), ("chain", chain)] {
            let clock = Instant::now();
            let system = build(n);
            println!(
                "{name} of {n} bodies: read and compiled in {:.0} ms",
                1e3 * clock.elapsed().as_secs_f64()
            );
            one(&mut group, name, n, &system, &state);
        }
    }
    group.finish();
}

type Group<'a> = criterion::BenchmarkGroup<'a, criterion::measurement::WallTime>;

fn one(group: &mut Group<'_>, name: &str, n: usize, system: &impl System, state: &State) {
    let (discrete, mut out) = open(system, state);
    group.bench_function(BenchmarkId::new(name, n), |t| {
        t.iter(|| system.evaluate(black_box(state), &discrete, &mut out));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(2));
    targets = motion, evaluate
}
criterion_main!(benches);
