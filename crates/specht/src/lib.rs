//! # Specht: mechanical systems with Coulomb friction, unilateral contacts and impacts
//!
//! ```text
//! M(q) u̇ = h(q, u, t, z) + W_N λ_N + W_T λ_T        q̇ = u        ż = f(t, q, u, z)
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod analysis;
pub mod cone;
pub mod contact;
pub mod expr;
pub mod file;
pub mod impact;
pub mod lcp;
pub mod linalg;
pub mod machine;
pub mod model;
pub mod ode;
pub mod prelude;
pub mod root;
pub mod sim;
pub mod system;
