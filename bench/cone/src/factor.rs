//! One factorisation of the matrix of the bodies beside a general sparse solver on the same pattern.
//!
//! `M + Hᵀ H` of a heap, a wall and a tower; the solver's own is factored as unsymmetric (LU), because friction makes it so. One thread.

use super::seconds;
use faer::Side;
use faer::sparse::linalg::solvers::{Llt, Lu, SymbolicLlt, SymbolicLu};
use faer::sparse::{SparseColMat, Triplet};
use specht::cone::{Matrix, Operator, Problem, problems};

/// Repetitions of one measurement.
const TIMES: usize = 10;

/// `M + Hᵀ H`.
fn matrix(p: &Problem) -> Option<SparseColMat<usize, f64>> {
    let Operator::Bodies { mass, h } = &p.operator else { return None };
    let n = h.cols();
    // columns and values of every row of H: rows are read off by products with unit vectors of the bodies' blocks
    let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); h.rows()];
    let (mut e, mut y) = (vec![0.0; n], vec![0.0; h.rows()]);
    let mut list = Vec::new();
    let mut diagonal = vec![0.0; n];
    Matrix::mul_vec(mass, &vec![1.0; n], &mut diagonal);
    for j in 0..n {
        e[j] = 1.0;
        h.mul_vec(&e, &mut y);
        e[j] = 0.0;
        list.push(Triplet::new(j, j, diagonal[j]));
        (0..y.len()).filter(|&i| y[i] != 0.0).for_each(|i| rows[i].push((j, y[i])));
    }
    for row in &rows {
        for &(i, a) in row {
            list.extend(row.iter().map(|&(j, b)| Triplet::new(i, j, a * b)));
        }
    }
    SparseColMat::try_new_from_triplets(n, n, &list).ok()
}

/// Milliseconds of one call.
fn time(mut f: impl FnMut()) -> f64 {
    f();
    let start = seconds();
    (0..TIMES).for_each(|_| f());
    1e3 * (seconds() - start) / TIMES as f64
}

/// All measurements.
pub fn run() {
    faer::set_global_parallelism(faer::Par::Seq);
    println!(
        "{:<12} {:>8} {:>8} {:>10} {:>12} {:>8}",
        "problem", "unknowns", "Gflop", "own LU", "Cholesky", "LU"
    );
    let list = [
        ("heap 300", problems::heap(300, 0.5, 0)),
        ("heap 1000", problems::heap(1000, 0.5, 1000)),
        ("wall 14", problems::wall(14, 14, 0.5, 1000)),
        ("tower 2500", problems::tower(2500, 0.5, 1000)),
    ];
    for (name, p) in &list {
        // the structure is analysed once: the difference of many factorisations and one
        let own = |times: usize| {
            let start = seconds();
            let flops = problems::factor(p, times, false);
            (1e3 * (seconds() - start), flops.unwrap_or(0.0))
        };
        let (one, _) = own(1);
        let (many, flops) = own(1 + TIMES);
        let Some(m) = matrix(p) else { continue };
        let Ok(cholesky) = SymbolicLlt::try_new(m.symbolic(), Side::Lower) else { continue };
        let Ok(lu) = SymbolicLu::try_new(m.symbolic()) else { continue };
        let llt = time(|| drop(Llt::try_new_with_symbolic(cholesky.clone(), m.as_ref(), Side::Lower)));
        let lu = time(|| drop(Lu::try_new_with_symbolic(lu.clone(), m.as_ref())));
        println!(
            "{name:<12} {:>8} {:>8.3} {:>7.2} ms {llt:>9.2} ms {lu:>5.2} ms",
            m.nrows(),
            1e-9 * flops,
            (many - one) / TIMES as f64
        );
    }
}
