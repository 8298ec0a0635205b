//! Dense linear algebra for small and medium systems, without allocation in the kernels.
//!
//! Matrices are row-major. Factorisations work in place on a [`Mat`] and are reused by the caller, so that a time step
//! allocates nothing. Singularity is data: a factorisation returns the smallest pivot relative to the largest.

mod cholesky;
mod dual;
mod eigen;
mod kernel;
mod lu;
mod mat;
mod qr;
mod rows;
mod sparse_cholesky;
mod symmetric;
#[cfg(test)]
pub(crate) mod tests;

pub use cholesky::Cholesky;
pub use dual::{Dual, Number};
pub use eigen::{Complex, eigenvalues};
pub use kernel::{axpy, dot, max_abs};
pub use lu::Lu;
pub use mat::Mat;
pub use qr::{PivotedQr, null_space};
pub use rows::{Pattern, Row, Rows, Symmetric};
pub use sparse_cholesky::SparseCholesky;
pub use symmetric::SymmetricEigen;
