//! The discrete frictional contact problem (METH-CONE-PROBLEM)
//!
//! ```text
//! u = W r + q,   W = H M⁻¹ Hᵀ,   q = H v_free + w
//! K = { |r_T| ≤ μ r_N },  K* = { μ|u_T| ≤ u_N }
//! u + (μ|u_T|, 0, 0) ∈ K*  ⟂  r ∈ K                      (Signorini + Coulomb, De Saxcé & Feng 1998)
//! ```
//!
//! Rows of a contact: normal, tangent 1, tangent 2. `W` may be rank deficient and unsymmetric; `M` must be symmetric
//! positive definite. Everything is validated once, by [`Problem::check`]; a [`ProblemError`] names the entry.

use super::sparse::Matrix;
use thiserror::Error;

/// Law of one contact; METH-CONE-MIXED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// `0 ≤ u_N ⟂ r_N ≥ 0` and Coulomb friction with coefficient `mu` (0 allowed). Rows N, T… (1 to 3).
    Coulomb {
        /// Coefficient of friction, ≥ 0.
        mu: f64,
    },
    /// As `Coulomb`, with the friction ellipse `(r_1/μ_1)² + (r_2/μ_2)² ≤ r_N²` and maximum dissipation. Rows N, T1, T2.
    Elliptic {
        /// Coefficients along the two tangents, ≥ 0.
        mu: [f64; 2],
    },
    /// Normal force given elsewhere: `|r_T| ≤ bound`, `r_T` opposite to `u_T`. Rows T… (1 or 2), no normal row.
    Loaded {
        /// Friction bound, ≥ 0.
        bound: f64,
    },
    /// Resistance to rolling or drilling of the contact before it in the list: `|r| ≤ mu r_N` with the normal impulse of that contact, `r`
    /// opposite to `u`. Rows: two angular velocities of rolling, or one of drilling; no normal row.
    Rolling {
        /// Coefficient, a length when the rows are angular velocities, ≥ 0.
        mu: f64,
    },
    /// `u = 0`, `r` free: joints, closed loops. 1 to 3 rows.
    Bilateral,
    /// Guide with friction: `u_N = 0`, `r_N` of either sign, `|r_T| ≤ μ|r_N|`. Rows N, T… (2 or 3).
    BilateralFriction {
        /// Coefficient of friction, ≥ 0.
        mu: f64,
    },
}

/// One contact: its law, how many rows of the problem it owns, and a key that stays the same from solve to solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Contact law.
    pub law: Law,
    /// Rows owned (1 to 3).
    pub rows: usize,
    /// Identity for warm starts: body pair and feature, for example.
    pub key: u64,
}

impl Contact {
    /// Spatial contact (N, T1, T2) with coefficient `mu`.
    pub fn spatial(mu: f64, key: u64) -> Self {
        Contact { law: Law::Coulomb { mu }, rows: 3, key }
    }

    /// Planar contact (N, T) with coefficient `mu`.
    pub fn planar(mu: f64, key: u64) -> Self {
        Contact { law: Law::Coulomb { mu }, rows: 2, key }
    }
}

/// How the linear relation `u = W r + q` is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// `W` itself.
    Delassus(Matrix),
    /// `W = H M⁻¹ Hᵀ`; any block structure of `M` is found by the solver.
    Bodies {
        /// `M`, symmetric positive definite.
        mass: Matrix,
        /// `H`, one row per row of the problem.
        h: Matrix,
    },
}

/// A frictional contact problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The contacts in the order of their rows.
    pub contacts: Vec<Contact>,
    /// The linear relation.
    pub operator: Operator,
    /// Free relative velocities.
    pub q: Vec<f64>,
    /// Prescribed part `w` of `q = H v_free + w`, if known (only the existence test of the body form reads it).
    pub w: Option<Vec<f64>>,
}

/// What is wrong with a problem, with names and numbers.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs)]
pub enum ProblemError {
    #[error("{name} has {found} {what}, expected {expected}")]
    Size { name: &'static str, what: &'static str, found: usize, expected: usize },
    #[error("{name}[{row}][{col}] is {value}; every entry must be a finite number")]
    MatrixEntry { name: &'static str, row: usize, col: usize, value: f64 },
    #[error("{name}[{index}] is {value}; every entry must be a finite number")]
    VectorEntry { name: &'static str, index: usize, value: f64 },
    #[error(
        "{name} has an entry of size {value:e}; beyond {LARGEST:e} products overflow, choose other units"
    )]
    Range { name: &'static str, value: f64 },
    #[error("mu of contact {contact} is {value}; it must be finite and not negative")]
    Friction { contact: usize, value: f64 },
    #[error("friction bound of contact {contact} is {value}; it must be finite and not negative")]
    Bound { contact: usize, value: f64 },
    #[error("contact {contact} has {rows} rows, its law needs {expected}")]
    Rows { contact: usize, rows: usize, expected: &'static str },
    #[error(
        "contact {contact} resists rolling or drilling, but the contact before it has no normal row; list it behind the contact that rolls"
    )]
    NoNormal { contact: usize },
    #[error("M is not symmetric: M[{row}][{col}] = {a}, M[{col}][{row}] = {b}")]
    Unsymmetric { row: usize, col: usize, a: f64, b: f64 },
    #[error("M[{index}][{index}] = {value}; masses must be positive")]
    Mass { index: usize, value: f64 },
    #[error("M is not positive definite (found at row {index})")]
    Indefinite { index: usize },
    #[error("W[{index}][{index}] = {value}; the diagonal must not be negative")]
    Diagonal { index: usize, value: f64 },
    #[error("setting {name} is {value}; it must be positive and finite")]
    Setting { name: &'static str, value: f64 },
}

/// Largest entry: squares and their sums must not overflow.
const LARGEST: f64 = 1e100;

/// Relative tolerance of the symmetry of `M`.
const SYMMETRY: f64 = 1e-10;

impl Problem {
    /// `u = W r + q`, keys are the contact numbers.
    pub fn from_w(w: Matrix, q: Vec<f64>, contacts: Vec<Contact>) -> Self {
        Problem { contacts, operator: Operator::Delassus(w), q, w: None }
    }

    /// `u = H M⁻¹ Hᵀ r + H v_free + w`.
    pub fn from_bodies(mass: Matrix, h: Matrix, v_free: &[f64], w: Vec<f64>, contacts: Vec<Contact>) -> Self {
        let mut q = vec![0.0; h.rows()];
        if v_free.len() == h.cols() {
            h.mul_vec(v_free, &mut q);
        }
        q.iter_mut().zip(&w).for_each(|(q, w)| *q += w);
        Problem { contacts, operator: Operator::Bodies { mass, h }, q, w: Some(w) }
    }

    /// Number of rows, the length of `q`, `r` and `u`.
    pub fn rows(&self) -> usize {
        self.contacts.iter().map(|c| c.rows).sum()
    }

    /// Sizes, finite numbers, coefficients, symmetry and positive diagonal of `M`.
    pub fn check(&self) -> Result<(), ProblemError> {
        let size = |name, what, found, expected| {
            if found == expected { Ok(()) } else { Err(ProblemError::Size { name, what, found, expected }) }
        };
        // a contact with a normal row, whose resistances may follow
        let mut normal = false;
        for (i, c) in self.contacts.iter().enumerate() {
            check_contact(i, c)?;
            match c.law {
                Law::Rolling { .. } if !normal => return Err(ProblemError::NoNormal { contact: i }),
                Law::Rolling { .. } => {}
                Law::Coulomb { .. } | Law::Elliptic { .. } | Law::BilateralFriction { .. } => normal = true,
                Law::Loaded { .. } | Law::Bilateral => normal = false,
            }
        }
        let m = self.rows();
        size("q", "entries", self.q.len(), m)?;
        finite("q", &self.q)?;
        if let Some(w) = &self.w {
            size("w", "entries", w.len(), m)?;
            finite("w", w)?;
        }
        match &self.operator {
            Operator::Delassus(w) => {
                size("W", "rows", w.rows(), m)?;
                size("W", "columns", w.cols(), m)?;
                entries("W", w)?;
                for index in 0..m {
                    let value = w.get(index, index);
                    if value < 0.0 {
                        return Err(ProblemError::Diagonal { index, value });
                    }
                }
            }
            Operator::Bodies { mass, h } => {
                let n = h.cols();
                size("H", "rows", h.rows(), m)?;
                size("M", "rows", mass.rows(), n)?;
                size("M", "columns", mass.cols(), n)?;
                entries("H", h)?;
                entries("M", mass)?;
                check_mass(mass)?;
            }
        }
        Ok(())
    }
}

fn check_contact(contact: usize, c: &Contact) -> Result<(), ProblemError> {
    let bad = |v: f64| !(v >= 0.0 && v.is_finite());
    let (ok, expected) = match c.law {
        Law::Coulomb { .. } => ((1..=3).contains(&c.rows), "1 to 3"),
        Law::Elliptic { .. } => (c.rows == 3, "3"),
        Law::Loaded { .. } | Law::Rolling { .. } => ((1..=2).contains(&c.rows), "1 or 2"),
        Law::Bilateral => ((1..=3).contains(&c.rows), "1 to 3"),
        Law::BilateralFriction { .. } => ((2..=3).contains(&c.rows), "2 or 3"),
    };
    if !ok {
        return Err(ProblemError::Rows { contact, rows: c.rows, expected });
    }
    match c.law {
        Law::Coulomb { mu } | Law::BilateralFriction { mu } | Law::Rolling { mu } if bad(mu) => {
            Err(ProblemError::Friction { contact, value: mu })
        }
        Law::Coulomb { mu } | Law::BilateralFriction { mu } | Law::Rolling { mu } => in_range("mu", mu),
        Law::Elliptic { mu } if bad(mu[0]) => Err(ProblemError::Friction { contact, value: mu[0] }),
        Law::Elliptic { mu } if bad(mu[1]) => Err(ProblemError::Friction { contact, value: mu[1] }),
        Law::Elliptic { mu } => in_range("mu", mu[0].max(mu[1])),
        Law::Loaded { bound } if bad(bound) => Err(ProblemError::Bound { contact, value: bound }),
        Law::Loaded { bound } => in_range("the friction bounds", bound),
        Law::Bilateral => Ok(()),
    }
}

fn finite(name: &'static str, v: &[f64]) -> Result<(), ProblemError> {
    match v.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ProblemError::VectorEntry { name, index, value: v[index] }),
        None => in_range(name, v.iter().fold(0.0, |m: f64, x| m.max(x.abs()))),
    }
}

fn in_range(name: &'static str, value: f64) -> Result<(), ProblemError> {
    if value <= LARGEST { Ok(()) } else { Err(ProblemError::Range { name, value }) }
}

fn entries(name: &'static str, m: &Matrix) -> Result<(), ProblemError> {
    match m.first_not_finite() {
        Some((row, col, value)) => Err(ProblemError::MatrixEntry { name, row, col, value }),
        None => {
            let mut largest = 0.0_f64;
            (0..m.rows()).for_each(|i| m.for_row(i, |_, v| largest = largest.max(v.abs())));
            in_range(name, largest)
        }
    }
}

fn check_mass(mass: &Matrix) -> Result<(), ProblemError> {
    for i in 0..mass.rows() {
        let value = mass.get(i, i);
        if !(value > 0.0) {
            return Err(ProblemError::Mass { index: i, value });
        }
    }
    for row in 0..mass.rows() {
        let mut wrong = None;
        mass.for_row(row, |col, a| {
            if col != row && wrong.is_none() {
                let b = mass.get(col, row);
                let size = (mass.get(row, row) * mass.get(col, col)).sqrt();
                if (a - b).abs() > SYMMETRY * size.max(a.abs()) {
                    wrong = Some(ProblemError::Unsymmetric { row, col, a, b });
                }
            }
        });
        if let Some(e) = wrong {
            return Err(e);
        }
    }
    Ok(())
}
