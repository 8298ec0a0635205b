//! Linear algebra for small and medium systems, without allocation in the kernels.
//!
//! | file | is |
//! |---|---|
//! | `mat`, `rows` | dense matrices; sparse rows and symmetric matrices of constant pattern |
//! | `cholesky`, `sparse_cholesky`, `mass_factor` | A = L Lᵀ: dense, sparse, and of a mass matrix with massless parts |
//! | `articulated` | the factor of the mass matrix of a tree of bodies, in O(n) |
//! | `lu`, `panel` | A = P L U: one matrix; blocked, in place, for large panels |
//! | `full_pivot` | systems of unknown rank: the one rule for dependent rows |
//! | `gauss_newton` | nonlinear equations, with steps of minimum norm |
//! | `eigen`, `dual` | eigenvalues; numbers with a rate |
//!
//! Matrices are row-major. Factorisations work in place on a [`Mat`] and are reused by the caller, so that a time step
//! allocates nothing. Singularity is data: a factorisation returns the smallest pivot relative to the largest.

mod articulated;
mod cholesky;
mod dual;
mod eigen;
mod full_pivot;
mod gauss_newton;
mod kernel;
mod lu;
mod mass_factor;
mod mat;
pub(crate) mod panel;
mod rows;
mod sparse_cholesky;
mod svd;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use articulated::{Shape as TreeShape, TreeFactor, TreeMass, compose};
pub use cholesky::Cholesky;
pub(crate) use cholesky::spd_inverse;
pub(crate) use dual::{Dual, Number};
pub(crate) use eigen::{Complex, eigenvalues};
pub(crate) use full_pivot::{FullPivot, RANK_TOLERANCE, null_space};
pub(crate) use gauss_newton::{Effort, Equations, gauss_newton};
pub use kernel::{axpy, dot, max_abs};
pub(crate) use kernel::{copy, power_of_two};
pub(crate) use lu::Lu;
pub(crate) use mass_factor::MassFactor;
pub use mat::Mat;
pub use rows::{Pattern, Row, Rows, Symmetric};
pub(crate) use sparse_cholesky::SparseCholesky;
pub(crate) use svd::Svd;
