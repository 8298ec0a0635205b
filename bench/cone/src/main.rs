//! Benchmark of the cone solver: a table of problems with stage, iterations, errors and time (one thread, best of several).

use specht::cone::{Problem, Settings, Solution, Solver, problems};
use std::time::Instant;

fn main() {
    let arg: Vec<String> = std::env::args().collect();
    match arg.get(1).map(String::as_str) {
        Some("random") => random(arg.get(2).and_then(|s| s.parse().ok()).unwrap_or(200)),
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
    let mut best = f64::INFINITY;
    for _ in 0..repeat {
        let t = Instant::now();
        if let Err(e) = solver.solve_into(p, &mut s) {
            println!("{name}: {e}");
            return;
        }
        best = best.min(t.elapsed().as_secs_f64());
    }
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
        let t = Instant::now();
        match solver.solve(&p) {
            Ok(s) => {
                times.push(t.elapsed().as_secs_f64() * 1e3);
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
