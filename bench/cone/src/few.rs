//! Few contacts: how the times of many random problems are spread, cold, structure known. One seed says nothing: in a hundred problems of
//! nine contacts one takes ten times the median.

use specht::cone::{Contact, Matrix, Operator, Problem, Settings, Solution, Solver, Status, problems};
use specht::linalg::Mat;
use std::time::Instant;

/// Runs of each problem; the least wall time counts, so that other processes do not.
const RUNS: usize = 5;

/// The normal and the first tangent of every contact of a spatial problem.
fn planar(n: usize, mu: f64, seed: u64) -> Problem {
    let p = problems::random(n, mu, seed);
    let Operator::Bodies { mass, h } = &p.operator else { return p };
    let rows = |i: usize| 3 * (i / 2) + i % 2;
    let mut part = Mat::from_fn(2 * n, h.cols(), |_, _| 0.0);
    let (mut unit, mut column) = (vec![0.0; h.cols()], vec![0.0; 3 * n]);
    for j in 0..h.cols() {
        unit[j] = 1.0;
        h.mul_vec(&unit, &mut column);
        unit[j] = 0.0;
        for i in 0..2 * n {
            part[(i, j)] = column[rows(i)];
        }
    }
    let q = (0..2 * n).map(|i| p.q[rows(i)]).collect();
    let contacts = (0..n).map(|k| Contact::planar(mu, k as u64)).collect();
    Problem {
        contacts,
        operator: Operator::Bodies { mass: mass.clone(), h: Matrix::Dense(part) },
        q,
        w: None,
    }
}

/// Planar contacts between bodies of three unknowns, more rows than these have: `W` is singular.
fn singular(n: usize, mu: f64, seed: u64) -> Problem {
    let mut rng = problems::Rng::new(seed);
    let unknowns = 3 * (n / 2).max(1);
    let h = Mat::from_fn(2 * n, unknowns, |i, j| {
        let near = (j / 3) % (unknowns / 3) == (i / 2) % (unknowns / 3) || rng.uniform() < 0.3;
        if near { rng.normal() } else { 0.0 }
    });
    let v: Vec<f64> = (0..unknowns).map(|_| rng.normal()).collect();
    let mass = Mat::from_fn(unknowns, unknowns, |i, j| f64::from(u8::from(i == j)));
    let contacts = (0..n).map(|k| Contact::planar(mu, k as u64)).collect();
    Problem::from_bodies(Matrix::Dense(mass), Matrix::Dense(h), &v, vec![0.0; 2 * n], contacts)
}

/// Contacts, coefficient, seed.
type Make = fn(usize, f64, u64) -> Problem;

/// Seeds `from .. to` of 1 to 9 contacts.
pub fn run(from: u64, to: u64) {
    let kinds: [(&str, Make); 3] =
        [("spatial", problems::random), ("planar", planar), ("planar, singular", singular)];
    for (kind, make) in kinds {
        for n in 1..=9 {
            let (mut times, mut solved, mut without) = (Vec::new(), 0, 0);
            for seed in from..to {
                let p = make(n, [0.1, 0.3, 0.5, 0.8, 1.2][seed as usize % 5], seed);
                let mut solver = Solver::new(Settings { warm: false, parallel: false, ..Default::default() });
                let mut s = Solution::default();
                let mut least = f64::INFINITY;
                for run in 0..=RUNS {
                    let start = Instant::now();
                    if solver.solve_into(&p, &mut s).is_err() {
                        return;
                    }
                    if run > 0 {
                        least = least.min(1e6 * start.elapsed().as_secs_f64());
                    }
                }
                if s.status == Status::NoSolution {
                    without += 1;
                    continue;
                }
                solved += usize::from(s.status == Status::Solved);
                times.push(least);
            }
            times.sort_by(f64::total_cmp);
            let at = |f: f64| times[((times.len() as f64 * f) as usize).min(times.len() - 1)];
            println!(
                "{kind}, {n} contacts: {solved} of {}, {without} without solution; µs: median {:.1}, 90 % {:.1}, 99 % {:.1}, most {:.0}",
                times.len(),
                at(0.5),
                at(0.9),
                at(0.99),
                at(1.0)
            );
        }
    }
}
