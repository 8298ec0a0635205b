//! # Exact Coulomb friction: second-order-cone contact problems
//!
//! ```text
//! u = W r + q,   u + (μ|u_T|, 0, 0) ∈ K*  ⟂  r ∈ K = { |r_T| ≤ μ r_N }        W = H M⁻¹ Hᵀ
//! ```
//!
//! Many contacts, exact cones, rank-deficient or unsymmetric `W`. [`Solver`] runs a cascade: Gauss–Seidel with exact
//! contacts, proximal Newton, an interior point method directly on the nonconvex law, and the Taylor series of a smooth path
//! through all its folds. Every answer carries its status and both error measures; nothing is silent.
//!
//! | file | holds |
//! |---|---|
//! | `problem`, `sparse` | what is asked (METH-CONE-PROBLEM, METH-CONE-MIXED) |
//! | `cones` | one file per cone: the laws (METH-CONE-MIXED) |
//! | `rolling` | discs that share a normal impulse: resistance to rolling and drilling (METH-CONE-MIXED) |
//! | `local` | one contact, all solutions (METH-CONE-LOCAL) |
//! | `single` | one contact as the piles use it |
//! | `nsgs`, `newton` | Gauss–Seidel and Newton (METH-CONE-NSGS, -NEWTON) |
//! | `polish`, `degenerate` | ends between two modes (METH-CONE-DEGENERATE) |
//! | `repair` | large islands: places where Newton stops, solved alone |
//! | `interior`, `nt`, `wide`, `taylor` | interior points and their paths (METH-CONE-IPM, -SPLIT, -TAYLOR) |
//! | `form`, `body`, `saddle`, `blocklu`, `order`, `nested` | one linear kernel, three forms (METH-CONE-LINALG) |
//! | `finelu`, `double` | the same factorisation with twice the digits |
//! | `prep`, `island`, `cascade`, `solver` | scaling, islands, order of the methods (METH-CONE-CASCADE) |
//! | `exist`, `enumerate` | is there a solution, and which others (METH-CONE-EXIST) |
//! | `problems`, `reference_rng` | seeded test problems, the same as those of the prototype (feature `problems`) |

mod blocklu;
mod body;
mod cascade;
mod cones;
mod degenerate;
mod double;
mod enumerate;
mod exist;
#[cfg(test)]
mod few_tests;
mod finelu;
mod form;
pub mod format;
mod interior;
mod island;
mod kernel;
#[cfg(test)]
mod linalg_tests;
mod local;
#[cfg(test)]
mod mixed_tests;
mod modes;
mod nested;
mod newton;
mod nsgs;
mod nt;
mod order;
mod polish;
mod prep;
mod problem;
#[cfg(any(test, feature = "problems"))]
pub mod problems;
#[cfg(test)]
mod problems_tests;
#[cfg_attr(not(feature = "problems"), allow(unreachable_pub))]
mod random;
#[cfg(any(test, feature = "problems"))]
mod reference_rng;
mod repair;
mod rolling;
#[cfg(test)]
mod rolling_tests;
mod saddle;
mod select;
pub(crate) mod single;
mod solver;
mod sparse;
mod taylor;
#[cfg(test)]
mod tests;
mod wide;

pub use crate::stop::Stop;
pub use cascade::{Counts, Method, Settings, Stage};
pub use enumerate::{AllSolutions, Found, solve_all};
pub use exist::{Existence, certificate, criterion, criterion_within};
pub use local::{Mode, OneContact, solve_all as solve_one_contact};
pub use problem::{Contact, Law, Operator, Problem, ProblemError};
pub use solver::{Solution, Solver, Status, solve};
pub use sparse::{Matrix, Sparse};
