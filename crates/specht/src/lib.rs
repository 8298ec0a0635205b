//! # Specht: mechanical systems with Coulomb friction, unilateral contacts and impacts
//!
//! ```text
//! M(q) u̇ = h(q, u, t, z) + W_N λ_N + W_T λ_T       q̇ = Y(q) u       ż = f(t, q, u, z)
//!
//! 0 ≤ g ⊥ λ_N ≥ 0        λ_T ∈ −μ |λ_N| ∂|γ|        M (u⁺ − u⁻) = W_N Λ_N + W_T Λ_T
//! ```
//!
//! | letter | in code | is | unit |
//! |---|---|---|---|
//! | q, u | `q`, `u` | coordinates, velocities | m, rad; m/s, rad/s |
//! | z | `z` | first-order states | any |
//! | M, h | `mass`, `h` | mass matrix, smooth forces | kg, kg m²; N, N m |
//! | W | `w` | directions of the contacts, one row each | 1, m |
//! | g, γ | `gap`, `slip` | gap (positive when open), slip velocity | m, m/s |
//! | λ_N, λ_T | `normal`, `tangential` | contact forces; λ_N > 0 presses apart | N |
//! | Λ_N, Λ_T | `impulse_n`, `impulse_t` | impulses | N s |
//! | μ | `mu` | coefficient of friction | 1 |
//!
//! Every number is SI. The whole list is in `docs/notation.md`.
//!
//! A machine is a text; [`Machine`](machine::Machine) is what a program holds of it:
//!
//! ```
//! use specht::prelude::*;
//!
//! let incline = Machine::read(r#"
//!     name        = "block on an incline"
//!     gravity     = [0, -9.81]
//!     parameters  = { mu = 0.3, slope = "25 deg" }
//!     coordinates = { x = 0, y = 0 }
//!     ground      = { plane = { through = [0, 0], normal = ["sin(slope)", "cos(slope)"] } }
//!     body        = [{ name = "block", mass = "2 kg", position = ["x", "y"] }]
//!     contact     = [{ name = "sole", between = ["block", "ground.plane"], friction = "mu" }]
//!     run         = { until = "1 s" }
//! "#)?;
//! let speed = incline.run()?.series("sqrt(x'^2 + y'^2)")?;
//! let (s, c) = 25f64.to_radians().sin_cos();
//! assert!((speed[speed.len() - 1] - 9.81 * (s - 0.3 * c)).abs() < 1e-9);
//! let steady = incline.with("slope", "10 deg")?.run()?;
//! assert!(steady.audit().passed && steady.series("x")?.iter().all(|x| x.abs() < 1e-12));
//! # Ok::<(), Error>(())
//! ```
//!
//! # The house
//!
//! Modules stand on each other in this order; a module uses only those before it. Those with a link are open to programs, the
//! others work inside.
//!
//! | module | is |
//! |---|---|
//! | [`linalg`], `root`, `stop` | dense and sparse matrices; zeros of functions; when a search ends |
//! | `expr` | the language of the files: units, exact derivatives, switches |
//! | [`lcp`], [`cone`] | complementarity problems; contact problems with exact friction cones |
//! | `ode` | integrators with error control |
//! | `shape` | balls, capsules, convex polyhedra and planes as numbers: where two of them touch |
//! | [`mod@system`] | the border between models and numerics: M, h, W, gaps |
//! | `contact`, `impact` | forces, modes and transitions of contacts; impact laws |
//! | [`sim`] | the schemes: event-driven and time-stepping; trajectories and their audit |
//! | [`model`] | bodies, shapes, forces, contacts → equations |
//! | [`analysis`] | paradoxes, true motion, rest, self-braking, friction tensors |
//! | `mod@file` | text → model, with messages that point at the place |
//! | [`machine`] | the floor a program stands on: read, with, run, ask; `run.json` and findings as types |
//!
//! `examples/` has programs to copy: run a file, build a system by hand, solve an LCP or a friction problem, map a paradox, sweep a
//! parameter.
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]

pub mod analysis;
pub mod cone;
mod contact;
mod expr;
mod file;
mod impact;
#[doc(hidden)]
pub mod inside;
pub mod lcp;
pub mod linalg;
pub mod machine;
pub mod model;
mod modes;
mod ode;
pub mod prelude;
mod root;
mod shape;
pub mod sim;
mod stop;
pub mod system;
