//! Piles of loose bodies, in steps per second:
//!
//! ```text
//! piles [TASK …]     wall-100: a standing wall of 100 boxes, 1 084 points     tower-40     heap-1000: balls that fall on the floor and spread
//!                    knocked-100: the wall, hit by a ball     boxes-N: N boxes apart     long-N: a wall of N boxes, ten courses high (growth: `growth piles`)
//!                    model TASK: the model file
//! ```
//!
//! One line for each task: name, bodies, steps, seconds of processor time of the run, steps per second, largest relative error of energy, deepest penetration (of the smallest
//! body), motion of the first body.

use specht::machine::Machine;
use specht_bench::piles::{model, number};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().map(String::as_str) == Some("model") {
        let task = words.get(1).map_or("wall-100", String::as_str);
        print!("{}", model(task).unwrap_or_default());
        return;
    }
    let all = ["wall-100", "tower-40", "knocked-100", "heap-1000"].map(String::from);
    let tasks = if words.is_empty() { &all[..] } else { &words[..] };
    println!("task,bodies,steps,seconds,steps_per_second,energy,penetration,moved");
    for task in tasks {
        let Some(text) = std::fs::read_to_string(task).ok().or_else(|| model(task)) else {
            eprintln!("unknown task {task}: wall-N long-N tower-N knocked-N heap-N boxes-N");
            std::process::exit(2);
        };
        let bodies: usize = number(task);
        let machine = match Machine::read(&text) {
            Ok(machine) => machine,
            Err(e) => panic!("{task}: {e}"),
        };
        let begin = processor_time();
        let run = machine.run().expect("a pile runs");
        let seconds = processor_time() - begin;
        let steps = run.trajectory.counts.steps;
        let audit = run.audit();
        let moved = ["x[1]", "y[1]", "z[1]"]
            .map(|name| run.series(name).map_or(0.0, |s| s[s.len() - 1] - s[0]))
            .iter()
            .map(|d| d * d)
            .sum::<f64>()
            .sqrt();
        println!(
            "{task},{bodies},{steps},{seconds:.3},{:.1},{:.1e},{:.1e},{moved:.1e}",
            steps as f64 / seconds,
            audit.energy,
            audit.penetration
        );
        run.trajectory.warnings.iter().for_each(|w| eprintln!("{task}: {w}"));
    }
}

/// Processor time of this process, where the system tells it; wall time elsewhere.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let words: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    match (
        words.get(11).and_then(|w| w.parse::<f64>().ok()),
        words.get(12).and_then(|w| w.parse::<f64>().ok()),
    ) {
        (Some(user), Some(system)) => (user + system) / 100.0,
        _ => std::time::UNIX_EPOCH.elapsed().map_or(0.0, |d| d.as_secs_f64()),
    }
}
