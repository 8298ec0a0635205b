//! A contact problem with exact friction cones: a block of 1 kg that is pushed sideways on a table, one time step.
//!
//!     cargo run --example friction_problem

use specht::cone::{Contact, Matrix, Problem, Sparse, Status, solve};
use specht::linalg::Mat;

/// u = H M⁻¹ Hᵀ r + H v_free; rows N, T1, T2 of one contact.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (m, g, h, mu) = (1.0, 9.81, 0.01, 0.4);
    let rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let directions = Matrix::Dense(Mat::from_rows(&rows));
    let mass = Matrix::Sparse(Sparse::diagonal(&[m; 3]));
    // velocity after the step without contact: pushed along (3, 4), drawn down by gravity
    let v_free = [0.03, 0.04, -g * h];
    let problem =
        Problem::from_bodies(mass, directions, &v_free, vec![0.0; 3], vec![Contact::spatial(mu, 0)]);

    let answer = solve(&problem)?;
    println!("impulses {:?}, velocities {:?}, error {:.1e}", answer.r, answer.u, answer.error());
    assert_eq!(answer.status, Status::Solved);

    // it slides: friction against the velocity, at its bound
    let (normal, tangential) = (answer.r[0], answer.r[1].hypot(answer.r[2]));
    assert!((normal - m * g * h).abs() < 1e-9 && (tangential - mu * normal).abs() < 1e-9);
    assert!((answer.r[1] / answer.r[2] - 0.75).abs() < 1e-9);

    // the problem as JSON, for `specht solve`
    println!("{}", serde_json::to_string(&problem)?);
    Ok(())
}
