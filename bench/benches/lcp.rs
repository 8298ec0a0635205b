//! Complementarity problems: symmetric positive definite ones by the automatic choice of [`Solver`], Lemke beside it, and
//! the Cholesky factorisation below both. `stiff` has condition numbers of 1e4 to 1e6.
#![allow(missing_docs)] // the macro of criterion

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use specht::inside::Cholesky;
use specht::{
    inside::LemkeWorkspace,
    lcp::{Lcp, Solver},
};
use specht_bench::definite;
use std::hint::black_box;

fn solvers(c: &mut Criterion) {
    let mut group = c.benchmark_group("lcp");
    for n in [10, 100, 300] {
        let (a, b) = definite(n, 1e-5);
        let p = Lcp::new(&a, &b);
        let mut solver = Solver::default();
        assert!(solver.solve(p).is_solved());
        println!("n = {n}, stiff: {:?}, {} factorisations", solver.method, solver.iterations);
        group.bench_function(BenchmarkId::new("stiff", n), |t| t.iter(|| solver.solve(black_box(p))));
        let (a, b) = definite(n, 0.1);
        let p = Lcp::new(&a, &b);
        let mut solver = Solver::default();
        assert!(solver.solve(p).is_solved());
        println!("n = {n}: {:?}, {} factorisations", solver.method, solver.iterations);
        group.bench_function(BenchmarkId::new("definite", n), |t| t.iter(|| solver.solve(black_box(p))));
        let mut lemke = LemkeWorkspace::default();
        group.bench_function(BenchmarkId::new("lemke", n), |t| t.iter(|| lemke.solve(black_box(p))));
        let mut cholesky = Cholesky::default();
        group.bench_function(BenchmarkId::new("cholesky", n), |t| t.iter(|| cholesky.factor(black_box(&a))));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(30).measurement_time(std::time::Duration::from_secs(2));
    targets = solvers
}
criterion_main!(benches);
