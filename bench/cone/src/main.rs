//! Benchmark of the cone solver: a table of problems with stage, iterations, errors and time (one thread, best of several).

use specht::cone::{Problem, Settings, Solution, Solver, problems};
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
        Some("random") => random(arg.get(2).and_then(|s| s.parse().ok()).unwrap_or(200)),
        Some("lat") => {
            for seed in 0..20 {
                row(&format!("lattice 3 {seed}"), &problems::lattice(3, 0.6, seed), 1);
            }
        }
        Some("one") => {
            let n = arg[3].parse().unwrap();
            let seed = arg[4].parse().unwrap();
            let mu = arg[5].parse().unwrap();
            let p = match arg[2].as_str() {
                "lattice" => problems::lattice(n, mu, seed),
                "tower" => problems::tower(n, mu, seed),
                "wall" => problems::wall(n, n, mu, seed),
                "heap" => problems::heap(n, mu, seed),
                _ => problems::random_structure(seed),
            };
            row("one", &p, if arg.len() > 6 { 300 } else { 1 })
        }
        _ => table(),
    }
}

fn table() {
    println!(
        "{:<22} {:>8} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9} {:>10}",
        "problem", "contacts", "stage", "sweeps", "ipm", "newton", "plain", "scaled", "ms"
    );
    for (name, p) in list() {
        row(&name, &p, 3);
    }
}

fn list() -> Vec<(String, Problem)> {
    let mut v = Vec::new();
    for n in [1, 3, 5] {
        v.push((format!("random {n}"), problems::random(n, 0.5, 1)));
    }
    for seed in 0..4 {
        v.push((format!("lattice 2 seed {seed}"), problems::lattice(2, 0.6, seed)));
    }
    for seed in 0..4 {
        v.push((format!("lattice 3 seed {seed}"), problems::lattice(3, 0.6, seed)));
    }
    for n in [10, 40, 100, 250] {
        v.push((format!("tower {n}"), problems::tower(n, 0.5, 0)));
    }
    for (c, r) in [(6, 6), (10, 10), (14, 10)] {
        v.push((format!("wall {c}x{r}"), problems::wall(c, r, 0.5, 0)));
    }
    for n in [40, 100, 300] {
        v.push((format!("heap {n}"), problems::heap(n, 0.5, 0)));
    }
    v
}

fn row(name: &str, p: &Problem, repeat: usize) {
    let mut solver = Solver::new(Settings { warm: false, parallel: false, ..Default::default() });
    let mut s = Solution::default();
    // the first solve builds the structure; then as often as the clock of the machine needs
    let t = seconds();
    let mut n = 0;
    let mut best = 0.0;
    while n <= repeat || (best < 0.04 && n < 100_000) {
        if let Err(e) = solver.solve_into(p, &mut s) {
            println!("{name}: {e}");
            return;
        }
        n += 1;
        if repeat == 1 || n % 10 == 0 || n > repeat {
            best = seconds() - t;
        }
        if repeat == 1 {
            break;
        }
    }
    best /= n as f64;
    println!(
        "{:<22} {:>8} {:>6} {:>6} {:>6} {:>6} {:>9.1e} {:>9.1e} {:>10.3}{}",
        name,
        p.contacts.len(),
        format!("{:?}", s.stage).chars().take(6).collect::<String>(),
        s.counts.sweeps,
        s.counts.ipm,
        s.counts.newton,
        s.error_plain,
        s.error_scaled,
        best * 1e3,
        if s.status == specht::cone::Status::Solved { "" } else { "  NOT CONVERGED" }
    );
}

fn random(n: u64) {
    let mut solver = Solver::new(Settings { warm: false, parallel: false, ..Default::default() });
    let mut failed = Vec::new();
    let mut times = Vec::new();
    let mut stages = std::collections::BTreeMap::new();
    for seed in 0..n {
        let p = problems::random_structure(seed);
        let t = seconds();
        match solver.solve(&p) {
            Ok(s) => {
                times.push((seconds() - t) * 1e3);
                *stages.entry(format!("{:?}", s.stage)).or_insert(0) += 1;
                if s.status != specht::cone::Status::Solved {
                    println!(
                        "seed {seed}: contacts {} error {:.1e} {:.1e}",
                        p.contacts.len(),
                        s.error_plain,
                        s.error_scaled
                    );
                    failed.push(seed);
                }
            }
            Err(e) => println!("{e}"),
        }
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{} of {n} solved; median {:.2} ms, 95 % {:.2} ms, max {:.2}; stages {stages:?}",
        n as usize - failed.len(),
        times[times.len() / 2],
        times[times.len() * 95 / 100],
        times[times.len() - 1]
    );
}
