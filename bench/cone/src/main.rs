//! Benchmark of the cone solver.
//!
//! ```text
//! specht-bench-cone                 table: problem, contacts, stage, iterations, errors, time (one thread, processor time)
//! specht-bench-cone random N [S [R]] N random structures from seed S with R restarts: how many solved, times by quantile
//! specht-bench-cone seeds           lattices of 64 and 252 contacts over 20 seeds
//! specht-bench-cone each A B        lattices of 252 contacts, one line for each seed
//! specht-bench-cone warm [SEED]     restart at 252 contacts after a small change of the velocities
//! specht-bench-cone few [A B]       1 to 9 contacts, random problems of seeds A to B: times by quantile
//! specht-bench-cone bars [WHAT]     share solved and times of cold solves: all bars, `known` failures, or `KIND SIZE MU FROM TO [all]`
//! specht-bench-cone factor          one factorisation of heaps, walls and towers beside faer's sparse Cholesky and LU (`--features faer`)
//! specht-bench-cone growth FILE     towers of 40 to 10 000 contacts: data and a plot (SVG)
//! ```

mod bars;
#[cfg(feature = "faer")]
mod factor;
mod few;
mod growth;

use specht::cone::{Operator, Problem, Settings, Solution, Solver, Status, problems};
use std::time::Instant;

/// Seconds of processor time of this thread (Linux), or wall time elsewhere: other processes must not count.
fn seconds() -> f64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok())
        .map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

fn main() {
    let arg: Vec<String> = std::env::args().collect();
    match arg.get(1).map(String::as_str) {
        Some("random") => random(number(&arg, 2, 1000), number(&arg, 3, 0), number(&arg, 4, 3) as usize),
        Some("seeds") => seeds(),
        Some("warm") => warm(number(&arg, 2, 0)),
        Some("each") => each(number(&arg, 2, 0), number(&arg, 3, 20)),
        Some("few") => few::run(number(&arg, 2, 0), number(&arg, 3, 500)),
        Some("bars") => bars::run(&arg[2..]),
        #[cfg(feature = "faer")]
        Some("factor") => factor::run(),
        Some("growth") => growth::run(arg.get(2).map_or("growth.svg", String::as_str)),
        _ => table(),
    }
}

fn number(arg: &[String], k: usize, otherwise: u64) -> u64 {
    arg.get(k).and_then(|s| s.parse().ok()).unwrap_or(otherwise)
}

/// Cold solves of one problem; processor time per solve with the structure known, and the answer.
fn measure(p: &Problem, at_least: f64) -> Option<(f64, Solution)> {
    let mut solver = Solver::new(Settings { warm: false, parallel: false, ..Default::default() });
    let mut s = Solution::default();
    solver.solve_into(p, &mut s).ok()?;
    let t = seconds();
    let mut n = 0;
    loop {
        solver.solve_into(p, &mut s).ok()?;
        n += 1;
        // the scheduler's clock ticks coarsely
        if (n >= 3 || seconds() - t > 0.5) && (n % 16 == 0 || n < 16) && seconds() - t > at_least {
            return Some(((seconds() - t) / n as f64, s));
        }
    }
}

fn table() {
    println!(
        "{:<22} {:>8} {:>11} {:>6} {:>5} {:>6} {:>9} {:>9} {:>10}",
        "problem", "contacts", "stage", "sweeps", "ipm", "newton", "plain", "scaled", "ms"
    );
    for (name, p) in list() {
        let Some((t, s)) = measure(&p, 0.1) else { continue };
        println!(
            "{:<22} {:>8} {:>11} {:>6} {:>5} {:>6} {:>9.1e} {:>9.1e} {:>10.3}{}",
            name,
            p.contacts.len(),
            format!("{:?}", s.stage),
            s.counts.sweeps,
            s.counts.ipm,
            s.counts.newton,
            s.error_plain,
            s.error_scaled,
            t * 1e3,
            if s.status == Status::Solved { "" } else { "  NOT CONVERGED" }
        );
    }
}

fn list() -> Vec<(String, Problem)> {
    let mut v = Vec::new();
    for n in [1, 2, 3, 4, 5, 9] {
        v.push((format!("random {n}"), problems::random(n, 0.5, 1)));
    }
    for seed in 0..3 {
        v.push((format!("lattice 2, seed {seed}"), problems::lattice(2, 0.6, seed)));
    }
    for seed in 0..4 {
        v.push((format!("lattice 3, seed {seed}"), problems::lattice(3, 0.6, seed)));
    }
    for n in [10, 40, 100, 250] {
        v.push((format!("tower {n}"), problems::tower(n, 0.5, 0)));
    }
    for (c, r) in [(6, 6), (10, 10), (14, 10)] {
        v.push((format!("wall {c} x {r}"), problems::wall(c, r, 0.5, 0)));
    }
    for n in [40, 100, 300] {
        v.push((format!("heap {n}"), problems::heap(n, 0.5, 0)));
    }
    v
}

fn seeds() {
    for side in [2, 3] {
        let mut times = Vec::new();
        let mut failed = 0;
        for seed in 0..20 {
            if let Some((t, s)) = measure(&problems::lattice(side, 0.6, seed), 0.02) {
                times.push(t * 1e3);
                failed += usize::from(s.status != Status::Solved);
            }
        }
        times.sort_by(f64::total_cmp);
        println!(
            "lattice {side}: 20 seeds, {failed} not converged; ms: least {:.2}, quarter {:.2}, median {:.2}, three quarters {:.2}, most {:.2}",
            times[0], times[5], times[10], times[15], times[19]
        );
    }
}

fn warm(seed: u64) {
    let mut p = problems::lattice(3, 0.6, seed);
    let mut solver = Solver::new(Settings { parallel: false, ..Default::default() });
    let mut s = Solution::default();
    if solver.solve_into(&p, &mut s).is_err() {
        return;
    }
    let mut rng = problems::Rng::new(1);
    let (mut total, mut n, mut stages) = (0.0, 0, std::collections::BTreeMap::new());
    for _ in 0..200 {
        if let Operator::Bodies { h, .. } = &p.operator {
            let dv: Vec<f64> = (0..h.cols()).map(|_| 1e-5 * rng.normal()).collect();
            let mut dq = vec![0.0; h.rows()];
            h.mul_vec(&dv, &mut dq);
            p.q.iter_mut().zip(&dq).for_each(|(q, d)| *q += d);
        }
        let t = seconds();
        if solver.solve_into(&p, &mut s).is_ok() {
            if format!("{:?}", s.stage) == "Warm" {
                total += seconds() - t;
                n += 1;
            }
            *stages.entry(format!("{:?} {:?}", s.stage, s.status)).or_insert(0) += 1;
        }
    }
    println!(
        "252 contacts, velocities changed by 1e-5 (1e-4 of the largest): {:.3} ms per warm solve; {stages:?}",
        total * 1e3 / n.max(1) as f64
    );
}

fn random(n: u64, from: u64, restarts: usize) {
    let mut solver = Solver::new(Settings { warm: false, parallel: false, restarts, ..Default::default() });
    let mut failed = 0;
    let mut times = Vec::new();
    let mut stages = std::collections::BTreeMap::new();
    for seed in from..from + n {
        let p = problems::random_structure(seed);
        let t = Instant::now();
        match solver.solve(&p) {
            Ok(s) => {
                times.push(t.elapsed().as_secs_f64() * 1e3);
                *stages.entry(format!("{:?}", s.stage)).or_insert(0) += 1;
                if s.status != Status::Solved {
                    println!(
                        "seed {seed}: {} contacts, not converged, errors {:.1e} {:.1e}",
                        p.contacts.len(),
                        s.error_plain,
                        s.error_scaled
                    );
                    failed += 1;
                }
            }
            Err(e) => println!("seed {seed}: {e}"),
        }
    }
    times.sort_by(f64::total_cmp);
    if times.is_empty() {
        return;
    }
    println!(
        "{} of {n} solved; wall ms: median {:.2}, 95 % {:.2}, most {:.2}; stages {stages:?}",
        n - failed,
        times[times.len() / 2],
        times[times.len() * 95 / 100],
        times[times.len() - 1]
    );
}

/// Cold solves of lattices of 252 contacts, one line each: seeds `from .. to`.
fn each(from: u64, to: u64) {
    let (mut total, mut solved, mut quick) = (0.0, 0, 0);
    for seed in from..to {
        if let Some((t, s)) = measure(&problems::lattice(3, 0.6, seed), 0.02) {
            let c = s.counts;
            println!(
                "{seed:>3} {:?} {} + {} ({} folds) {:.1e} {:.2} ms",
                s.stage,
                c.ipm,
                c.newton,
                c.negative,
                s.error_scaled,
                t * 1e3
            );
            total += t;
            solved += u32::from(s.status == Status::Solved);
            quick += u32::from(t < 8e-3);
        }
    }
    println!(
        "{solved} of {} solved, {quick} within 8 ms, {:.1} ms on average",
        to - from,
        total * 1e3 / (to - from) as f64
    );
}
