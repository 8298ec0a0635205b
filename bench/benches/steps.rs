//! One time step with many contacts: the cone problem of the step against the search over all patterns of modes that it
//! replaces, in one run; growth with the number of blocks and of bricks.

use specht::inside::{Start, Transition};
use specht::sim::{Outside, Record, Settings, Status, time_stepping};
use specht::system::{State, System};
use specht_bench::{compiled, open, tower};
use std::hint::black_box;
use std::time::Instant;

const STEP: f64 = 1e-3;

/// Seconds per step over `count` steps.
fn step(system: &dyn System, start: &State, count: usize) -> f64 {
    let settings =
        Settings { step: STEP, record: Record::Events, ..Settings::until(start.t + STEP * count as f64) };
    let clock = Instant::now();
    let t = time_stepping(system, start, &settings, &mut Outside::default()).expect("valid settings");
    let seconds = clock.elapsed().as_secs_f64();
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    assert!(t.audit.passed, "{:?}", t.audit.remarks);
    seconds / count as f64
}

/// Seconds of the search over all patterns for the problem of one step from rest: gaps closed, u⁺/Δ and Λ/Δ unknown.
fn search(system: &dyn System, start: &State) -> f64 {
    let (discrete, mut eval) = open(system, start);
    system.evaluate(start, &discrete, &mut eval);
    let starts = vec![Start::Zero; system.contacts().len()];
    let mut transition = Transition::default();
    let clock = Instant::now();
    let set = black_box(transition.solve(system.contacts(), &eval, &starts));
    let seconds = clock.elapsed().as_secs_f64();
    println!("      all patterns: {} solutions, complete {}", set.solutions.len(), set.complete);
    seconds
}

fn main() {
    println!("tower of blocks on a slope, at rest; milliseconds per step of 1 ms\n");
    println!("| blocks | contacts | time step | all patterns once | ratio |\n|---|---|---|---|---|");
    for n in [1, 2, 3, 4, 5] {
        let (system, start) = tower(n);
        let (cone, patterns) = (step(&system, &start, 200), search(&system, &start));
        println!("| {n} | {} | {:.3} | {:.2} | {:.0} |", 2 * n, 1e3 * cone, 1e3 * patterns, patterns / cone);
    }
    for n in [10, 20, 50, 100] {
        let (system, start) = tower(n);
        println!("| {n} | {} | {:.3} | | |", 2 * n, 1e3 * step(&system, &start, 100));
    }
    println!(
        "\nbrick wall of the gallery, from its file\n\n| bricks | contacts | stands | slides |\n|---|---|---|---|"
    );
    let text = include_str!("../../gallery/brick_wall/model.toml");
    for (c, p) in [(6, 4), (10, 5), (15, 8)] {
        let text = text
            .replace("c     = { value = 6,", &format!("c     = {{ value = {c},"))
            .replace("P     = { value = 4,", &format!("P     = {{ value = {p},"));
        let sliding = text.replace("slope = { value = 0.3,", "slope = { value = 0.5,");
        let (stands, slides) = (compiled(&text, None), compiled(&sliding, None));
        println!(
            "| {} | {} | {:.2} | {:.2} |",
            p * (2 * c + 1),
            stands.contacts().len(),
            1e3 * step(&stands, &stands.start(), 50),
            1e3 * step(&slides, &slides.start(), 50)
        );
    }
}
