//! Growth with the size of the machine: `growth FILE.svg` writes the plot, and the numbers beside it as `FILE.csv`.
//!
//! `growth piles FILE.svg` does the same for standing walls of loose boxes, ten courses high, that touch wherever they meet.
//!
//! Chains of bars on hinges with relative angles, one evaluation of M, h and the energies; brick walls of the gallery, their
//! loading, a time step of 1 ms while they stand, and the largest memory of a process that does nothing else. Times are
//! processor times of one thread where the system tells them, the best of several batches.

use specht::inside::Accelerations;
use specht::machine::Machine;
use specht::sim::{Outside, Record, Settings, Status, time_stepping};
use specht::system::System;
use specht_bench::{chain, compiled, open, space_chain};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

/// Links of the chains.
const CHAINS: [usize; 6] = [10, 20, 50, 100, 200, 400];
/// Bricks in a course and pairs of courses of the walls.
const WALLS: [(usize, usize); 5] = [(6, 4), (10, 5), (15, 8), (22, 11), (30, 16)];
/// Boxes of the piles, and steps of each after the first.
const PILES: [usize; 5] = [300, 1000, 2000, 5000, 10_000];
const PILE_STEPS: usize = 20;
/// Batches, of which the fastest counts.
const BATCHES: usize = 5;
/// Steps of a wall.
const STEPS: usize = 8;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["space"] => space(),
        ["piles", file] => piles(file),
        ["pile", n] => println!("{}", pile(n.parse().expect("a number"))),
        ["wall", c, p] => println!("{}", wall(c.parse().expect("a number"), p.parse().expect("a number"))),
        [file] => run(file),
        _ => {
            eprintln!("growth FILE.svg | growth piles FILE.svg | growth space");
            std::process::exit(2);
        }
    }
}

fn run(file: &str) {
    let mut csv = String::from("machine,size,contacts,load_ms,us_per_evaluation,ms_per_step,peak_mb\n");
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    for n in CHAINS {
        let time = evaluation(n);
        curves[0].push((n as f64, 1e6 * time));
        let _ = writeln!(csv, "chain,{n},0,,{:.2},,", 1e6 * time);
    }
    let program = std::env::current_exe().expect("the path of this program");
    for (c, p) in WALLS {
        let (line, numbers) = alone(&program, &["wall", &c.to_string(), &p.to_string()]);
        let [bricks, _, load, step, _] = numbers[..] else { panic!("{line}") };
        curves[1].push((bricks, load));
        curves[2].push((bricks, step));
        let _ = writeln!(csv, "wall,{line}");
    }
    print!("{csv}");
    let data = std::path::Path::new(file).with_extension("csv");
    let looks = [
        ("#06c", "chain: evaluation, \u{b5}s"),
        ("#c60", "wall: loading, ms"),
        ("#083", "wall: step of 1 ms, ms"),
    ];
    let picture = plot(&curves, &looks, (0.8, -1.0), "links, bricks");
    if let Err(e) = std::fs::write(&data, csv).and_then(|()| std::fs::write(file, picture)) {
        eprintln!("{e}");
    }
}

/// This program in a process of its own: its line, and the numbers in it.
fn alone(program: &std::path::Path, words: &[&str]) -> (String, Vec<f64>) {
    let out = std::process::Command::new(program).args(words).output().expect("this program");
    let line = String::from_utf8_lossy(&out.stdout).trim().to_string();
    let numbers = line.split(',').filter_map(|w| w.parse().ok()).collect();
    (line, numbers)
}

/// Standing walls of loose boxes.
fn piles(file: &str) {
    let mut csv = String::from("boxes,load_ms,first_step_ms,ms_per_step,peak_mb\n");
    let mut curves = [Vec::new(), Vec::new(), Vec::new()];
    let program = std::env::current_exe().expect("the path of this program");
    for n in PILES {
        let (line, numbers) = alone(&program, &["pile", &n.to_string()]);
        println!("{line}");
        let [boxes, _, first, step, memory] = numbers[..] else { panic!("{line}") };
        curves[0].push((boxes, first));
        curves[1].push((boxes, step));
        curves[2].push((boxes, memory));
        let _ = writeln!(csv, "{line}");
    }
    let looks = [
        ("#c60", "first step, from nothing, ms"),
        ("#083", "step of 1 ms at rest, ms"),
        ("#06c", "largest memory, MB"),
    ];
    let picture = plot(&curves, &looks, (2.0, 0.5), "boxes of a wall of ten courses");
    let data = std::path::Path::new(file).with_extension("csv");
    if let Err(e) = std::fs::write(&data, csv).and_then(|()| std::fs::write(file, picture)) {
        eprintln!("{e}");
    }
}

/// Boxes, ms of loading, of the first step, of one of the next, MB.
fn pile(n: usize) -> String {
    let text = specht_bench::piles::model(&format!("long-{n}")).expect("a task");
    let clock = Clock::new();
    let run = |steps: usize| {
        let until = format!("until = {}", 1e-3 * steps as f64);
        let machine = Machine::read(&text.replace("until = 0.1", &until)).expect("a model");
        let clock = Clock::new();
        let run = machine.run().expect("a run");
        assert_eq!(run.trajectory.status, Status::Finished, "{}", run.trajectory.message);
        clock.seconds()
    };
    let first = run(1);
    let load = clock.seconds() - first;
    let step = (run(1 + PILE_STEPS) - first) / PILE_STEPS as f64;
    format!("{n},{:.1},{:.1},{:.2},{:.1}", 1e3 * load, 1e3 * first, 1e3 * step, peak())
}

/// Seconds of one evaluation of a chain.
fn evaluation(n: usize) -> f64 {
    let system = chain(n);
    let state = system.start();
    let (discrete, mut eval) = open(&system, &state);
    let count = 200_000 / n;
    fastest(|| {
        for _ in 0..count {
            system.evaluate(black_box(&state), &discrete, &mut eval);
        }
    }) / count as f64
}

/// Accelerations of chains in space: along the tree, and with M written down and factored.
fn space() {
    println!("links,us_tree,us_matrix,us_evaluation");
    for n in CHAINS {
        let system = space_chain(n);
        let mut state = system.start();
        let (discrete, mut eval) = open(&system, &state);
        let mut solver = Accelerations::default();
        let mut time = |written: bool| {
            let count = (if written { 100_000 } else { 400_000 }) / n;
            let seconds = fastest(|| {
                for _ in 0..count {
                    // the factor of the same matrix is kept
                    state.q[0] += 1e-6;
                    let found = solver.of(&system, black_box(&state), &discrete, &mut eval, written);
                    assert!(black_box(found).is_some());
                }
            });
            1e6 * seconds / count as f64
        };
        let (tree, matrix) = (time(false), time(true));
        let count = 400_000 / n;
        let alone = fastest(|| {
            (0..count).for_each(|_| system.evaluate_stage(black_box(&state), &discrete, &mut eval))
        });
        println!("{n},{tree:.2},{matrix:.2},{:.2}", 1e6 * alone / count as f64);
    }
}

/// bricks, contacts, ms of loading, nothing, ms of a step, MB.
fn wall(c: usize, p: usize) -> String {
    let text = include_str!("../../../gallery/brick_wall/model.toml")
        .replace("c     = { value = 6,", &format!("c     = {{ value = {c},"))
        .replace("P     = { value = 4,", &format!("P     = {{ value = {p},"));
    let clock = Clock::new();
    let system = compiled(&text, None);
    let load = clock.seconds();
    let start = system.start();
    // a run beside one of twice its length: what the beginning costs drops out
    let steps = |count: usize| {
        let settings =
            Settings { step: 1e-3, record: Record::Events, ..Settings::until(1e-3 * count as f64) };
        fastest(|| {
            let t = time_stepping(&system, &start, &settings, &mut Outside::default()).expect("settings");
            assert_eq!(t.status, Status::Finished, "{}", t.message);
        })
    };
    // the audit runs the same motion with twice and four times the step: 1.75 runs in all
    let step = (steps(2 * STEPS) - steps(STEPS)) / STEPS as f64 / 1.75;
    let contacts = system.contacts().len();
    format!("{},{contacts},{:.1},,{:.3},{:.1}", p * (2 * c + 1), 1e3 * load, 1e3 * step, peak())
}

/// Seconds of the fastest batch.
fn fastest(mut batch: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..BATCHES {
        let clock = Clock::new();
        batch();
        best = best.min(clock.seconds());
    }
    best
}

/// Processor time of this thread where it is told (Linux), else the time of the clock on the wall.
struct Clock(Option<f64>, Instant);

impl Clock {
    fn new() -> Self {
        Clock(Clock::processor(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        let since = self.0.zip(Clock::processor()).map(|(from, to)| to - from);
        since.unwrap_or_else(|| self.1.elapsed().as_secs_f64())
    }

    fn processor() -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
    }
}

/// Largest memory of this process so far, MB; not a number where it is not told.
fn peak() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let number = line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<f64>().ok());
    number.map_or(f64::NAN, |kb| kb / 1000.0)
}

/// Double logarithmic: what grows over the size, with a line of slope one beside each curve.
fn plot(curves: &[Vec<(f64, f64)>; 3], looks: &[(&str, &str); 3], low: (f64, f64), below: &str) -> String {
    let x = |v: f64| 70.0 + 400.0 * (v.log10() - low.0) / 2.4;
    let y = |v: f64| 360.0 - 330.0 * (v.log10() - low.1) / 4.0;
    let mut s = String::from(
        "<svg xmlns='http://www.w3.org/2000/svg' width='700' height='420' font-family='sans-serif' font-size='13'>\n<rect width='700' height='420' fill='white'/>\n",
    );
    for k in low.0.ceil() as i32..=(low.0 + 2.4) as i32 {
        let v = 10f64.powi(k);
        let _ = writeln!(
            s,
            "<line x1='{0:.1}' y1='30' x2='{0:.1}' y2='360' stroke='#ddd'/><text x='{0:.1}' y='380' text-anchor='middle'>{v}</text>",
            x(v)
        );
    }
    for k in low.1.ceil() as i32..=(low.1 + 4.0) as i32 {
        let v = 10f64.powi(k);
        let _ = writeln!(
            s,
            "<line x1='70' y1='{0:.1}' x2='470' y2='{0:.1}' stroke='#ddd'/><text x='62' y='{0:.1}' text-anchor='end' dominant-baseline='middle'>{v}</text>",
            y(v)
        );
    }
    for (k, (points, (colour, name))) in curves.iter().zip(*looks).enumerate() {
        let line: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1))).collect();
        let _ = writeln!(
            s,
            "<polyline points='{}' fill='none' stroke='{colour}' stroke-width='2'/>",
            line.join(" ")
        );
        if let (Some(a), Some(b)) = (points.first(), points.last()) {
            let straight = (b.0, a.1 * b.0 / a.0);
            let _ = writeln!(
                s,
                "<line x1='{:.1}' y1='{:.1}' x2='{:.1}' y2='{:.1}' stroke='{colour}' stroke-dasharray='3 4'/>",
                x(a.0),
                y(a.1),
                x(straight.0),
                y(straight.1)
            );
        }
        for p in points {
            let _ = writeln!(s, "<circle cx='{:.1}' cy='{:.1}' r='3.5' fill='{colour}'/>", x(p.0), y(p.1));
        }
        let _ = writeln!(s, "<text x='480' y='{}' fill='{colour}'>{name}</text>", 60 + 22 * k);
    }
    let _ = writeln!(
        s,
        "<text x='480' y='126' fill='#555'>dashed: slope one</text>\n<text x='270' y='405' text-anchor='middle'>{below}</text>\n</svg>"
    );
    s
}
