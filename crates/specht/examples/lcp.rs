//! A linear complementarity problem: w = A z + b, 0 ≤ w ⟂ z ≥ 0; one solution, then all.
//!
//!     cargo run --example lcp

use specht::lcp::{EnumerateSettings, Lcp, Solver, enumerate};
use specht::linalg::Mat;

/// A matrix with negative entries: two solutions.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    // one sliding contact in Painlevé's paradox: z the normal force, w the acceleration away
    let a = Mat::from_rows(&[[1.0, 2.0], [2.0, 1.0]]);
    let b = [-1.0, -1.0];
    let problem = Lcp::new(&a, &b);

    let mut solver = Solver::default();
    let status = solver.solve(problem);
    println!("{status:?}: z = {:?}, w = {:?}", solver.z, solver.w);
    assert!(status.is_solved() && problem.residual(&solver.z) < 1e-12);

    // Lemke finds one; all of them by enumeration of the complementary bases
    let all = enumerate(problem, &EnumerateSettings::default());
    for piece in &all.pieces {
        println!("z = {:?}, w = {:?}", piece.z(), piece.w());
    }
    assert!(all.complete && all.pieces.len() == 3);
    Ok(())
}
