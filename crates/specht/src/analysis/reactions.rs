//! Frictionless reactions and the influence matrix (ANH-2.3-PARADOX, ANH-4.2-INDEX, ANH-5.1-MULTI).
//!
//! Pairs are the contacts whose normal reaction is unknown and bounds friction: bilateral contacts with friction and all
//! closed unilateral contacts. Every bilateral row and the normals of all pairs are eliminated at once,
//!
//! ```text
//! R = S x + R⁰,     x_β = −d_β μ_β ε_β R_β   (friction of pair β, d: direction of slip, ε = sign R)
//!   ⇒  (E + L ε μ) R = R⁰,      L_αβ = S_αβ d_β                                        (4.26), (5.21)
//! ```
//!
//! so L follows from M and W alone. The book's removal of the constraint along a path (2.13), (4.9) gives the same numbers
//! for every path: S is the response of the reaction of the *held* contact. L is the direction-dependent index of chapters
//! 4 and 5 (`l_index`); for one coordinate the L of chapters 1-3 is L sign q̇.
//!
//! A second elimination that leaves the normals free serves the compliant contact and lift-off:
//!
//! ```text
//! g̈ = H_nn R + H_nt x + c_n,    γ̇ = H_tn R + H_tt x + c_t,    I⁻¹ = H_nn   (effective normal mass, 5.64)
//! ```
//!
//! It does not exist where M is singular without the pairs. Friction under a given load is an applied force here.
//! Dependent normals (hyperstatic pairs): R⁰ and L are those of minimum norm, `redundant` says so.

use super::journal::Journal;
use super::{AnalysisError, Snapshot};
use crate::contact::{Reduced, Start};
use crate::linalg::Mat;
use crate::system::{ContactInfo, Normal, System};

/// A contact with unknown normal reaction, with or without friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// Index of the contact.
    pub contact: usize,
    /// Normal row.
    pub normal: usize,
    /// Tangential row, when friction acts.
    pub tangent: Option<usize>,
    /// Bilateral: the reaction may have either sign.
    pub two_sided: bool,
    /// Direction of slip, ±1; at zero slip that of the frictionless slip acceleration.
    pub direction: f64,
    /// The slip is not zero.
    pub slides: bool,
    /// Slip velocity.
    pub slip: f64,
    /// Friction coefficient at this slip.
    pub mu: f64,
}

/// The second elimination: normals free.
#[derive(Clone, Debug, Default)]
pub struct Free {
    /// H, normals of the pairs first, then tangents in the same order (zero rows for pairs without friction).
    pub h: Mat,
    /// c, in the same order.
    pub c: Vec<f64>,
    /// Change of the accelerations by a unit of each force, row by row in the same order.
    pub response: Mat,
}

/// R⁰ and L at a state, with the memory of the elimination.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    /// The pairs, in the order of contacts.
    pub pairs: Vec<Pair>,
    /// Pins with friction, see `super::journal`.
    pub journals: Vec<Journal>,
    /// R⁰ of every pair.
    pub frictionless: Vec<f64>,
    /// L (pairs × pairs); columns of pairs without friction are zero.
    pub index: Mat,
    /// Accelerations without friction of the pairs.
    pub accel0: Vec<f64>,
    /// Slip accelerations without friction of the pairs, per pair.
    pub slip_accel0: Vec<f64>,
    /// Change of the accelerations by a unit of friction at pair β, row by row.
    pub response: Mat,
    /// Change of the slip accelerations by a unit of friction, (pairs × pairs).
    pub slip_response: Mat,
    /// Dependent constraint rows.
    pub redundant: usize,
    /// All friction is of the form above: no journals, no loads that depend on reactions.
    pub linear: bool,
    reduced: Reduced,
    other: Reduced,
    bilateral: Vec<usize>,
    held: Vec<usize>,
    rows: Vec<usize>,
    place: Vec<usize>,
    /// Of every journal: place of its first row among the held ones, tangent.
    journal_rows: Vec<[usize; 2]>,
    f: Vec<f64>,
}

impl Reactions {
    /// Compute everything at a state that was taken.
    ///
    /// # Errors
    ///
    /// No pair, spatial friction, no degree of freedom, singular mass matrix.
    pub fn fill<S: System + ?Sized>(&mut self, sys: &S, at: &Snapshot) -> Result<(), AnalysisError> {
        self.fill_rows(sys.contacts(), at)
    }

    /// The same of contacts, each with at most one tangent.
    pub(crate) fn fill_rows(&mut self, info: &[ContactInfo], at: &Snapshot) -> Result<(), AnalysisError> {
        self.choose(info, at)?;
        let eval = &at.eval;
        self.f.clear();
        self.f.extend_from_slice(&eval.h);
        for (i, c) in info.iter().enumerate() {
            let slides = c.friction && c.tangent.len() == 1 && at.direction(i) != 0.0;
            if slides && c.is_given() && c.load_on.is_empty() {
                let force = -at.direction(i) * eval.mu[i] * eval.load[i].max(0.0);
                eval.w.row(c.tangent[0]).add_to(force, &mut self.f);
            }
        }
        let red = &mut self.reduced;
        if !red.eliminate(&eval.mass, &self.f, &eval.w, &eval.accel_offset, &self.held, &self.rows) {
            return Err(AnalysisError::SingularMass);
        }
        self.redundant = red.redundant;
        let constraints = self.held.len() - red.redundant;
        if constraints >= eval.h.len() {
            return Err(AnalysisError::NoFreedom { constraints, velocities: eval.h.len() });
        }
        let (m, first) = (self.pairs.len(), self.held.len() - self.pairs.len());
        self.accel0.clone_from(&red.a0);
        self.frictionless.clear();
        self.frictionless.extend_from_slice(&red.s0[first..]);
        self.slip_accel0.clear();
        self.slip_accel0.resize(m, 0.0);
        self.index.reshape(m, m);
        self.index.fill(0.0);
        self.slip_response.reshape(m, m);
        self.slip_response.fill(0.0);
        self.response.reshape(m, eval.h.len());
        self.response.fill(0.0);
        for (b, p) in self.pairs.iter_mut().enumerate() {
            let k = self.place[b];
            if k == usize::MAX {
                continue;
            }
            self.slip_accel0[b] = red.c[k];
            if !p.slides {
                p.direction = if red.c[k] < 0.0 { -1.0 } else { 1.0 };
            }
            for a in 0..m {
                self.index[(a, b)] = red.s[(first + a, k)] * p.direction;
                if self.place[a] != usize::MAX {
                    self.slip_response[(a, b)] = red.h[(self.place[a], k)];
                }
            }
            self.response.row_mut(b).copy_from_slice(red.a.row(k));
        }
        // the tangents of journals follow those of pairs
        let after = self.rows.len() - self.journals.len();
        for (k, j) in self.journals.iter_mut().enumerate() {
            let (held, row) = (self.journal_rows[k][0], after + k);
            j.frictionless = [red.s0[held], red.s0[held + 1]];
            j.response = [red.s[(held, row)], red.s[(held + 1, row)]];
            if !j.slides {
                j.direction = if red.c[row] < 0.0 { -1.0 } else { 1.0 };
            }
        }
        let finite = |v: &[f64]| v.iter().all(|x| x.is_finite());
        if !finite(&self.frictionless) || !finite(self.index.as_slice()) {
            return Err(AnalysisError::SingularMass);
        }
        Ok(())
    }

    fn choose(&mut self, info: &[ContactInfo], at: &Snapshot) -> Result<(), AnalysisError> {
        self.pairs.clear();
        self.journals.clear();
        self.journal_rows.clear();
        self.bilateral.clear();
        self.linear = true;
        let mut rubs = false;
        for (i, c) in info.iter().enumerate() {
            let friction = c.friction && !c.tangent.is_empty();
            if friction && c.tangent.len() > 1 {
                return Err(AnalysisError::Spatial(c.name.clone()));
            }
            rubs |= friction;
            let (normal, two_sided) = match c.normal {
                Normal::Bilateral { row } if friction => (row, true),
                Normal::Bilateral { row } => {
                    self.bilateral.push(row);
                    continue;
                }
                Normal::Unilateral { row } if at.starts[i] != Start::Open => (row, false),
                Normal::Unilateral { .. } => continue,
                Normal::Pin { rows } => {
                    if friction {
                        self.journal_rows.push([self.bilateral.len(), c.tangent[0]]);
                        let direction = at.direction(i);
                        self.journals.push(Journal {
                            contact: i,
                            direction,
                            slides: direction != 0.0,
                            mu: at.eval.coefficient(i, at.eval.mu[i]),
                            radius: at.eval.journal_radius(i),
                            frictionless: [0.0; 2],
                            response: [0.0; 2],
                        });
                    }
                    self.bilateral.extend(rows);
                    self.linear &= !friction;
                    continue;
                }
                Normal::Ball { rows } => {
                    self.bilateral.extend(rows);
                    continue;
                }
                Normal::Given { .. } => {
                    self.linear &= !friction || at.starts[i] == Start::Open || c.load_on.is_empty();
                    self.linear &= !friction || at.direction(i) != 0.0 || at.starts[i] == Start::Open;
                    continue;
                }
            };
            let tangent = friction.then(|| c.tangent[0]);
            let direction = at.direction(i);
            self.pairs.push(Pair {
                contact: i,
                normal,
                tangent,
                two_sided,
                direction,
                slides: direction != 0.0 || tangent.is_none(),
                slip: tangent.map_or(0.0, |row| at.eval.rate(row, &at.state.u)),
                mu: if friction { at.eval.mu[i] } else { 0.0 },
            });
        }
        if !rubs {
            return Err(AnalysisError::NoPair);
        }
        self.held.clear();
        self.held.extend_from_slice(&self.bilateral);
        self.held.extend(self.pairs.iter().map(|p| p.normal));
        self.rows.clear();
        self.place.clear();
        for p in &self.pairs {
            self.place.push(p.tangent.map_or(usize::MAX, |_| self.rows.len()));
            self.rows.extend(p.tangent);
        }
        self.rows.extend(self.journal_rows.iter().map(|j| j[1]));
        Ok(())
    }

    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is no pair.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether all friction is known in direction: the sign patterns are the whole problem.
    pub(crate) fn all_slide(&self) -> bool {
        self.linear && self.pairs.iter().all(|p| p.slides)
    }

    /// Number of the pair of a contact.
    pub(crate) fn pair_of(&self, contact: usize) -> Option<usize> {
        self.pairs.iter().position(|p| p.contact == contact)
    }

    /// The elimination with free normals; false when M is singular without the pairs. Call after [`Reactions::fill`].
    pub fn free(&mut self, at: &Snapshot, out: &mut Free) -> bool {
        let m = self.pairs.len();
        let eval = &at.eval;
        let held = self.rows.len();
        let normals: Vec<usize> = self.pairs.iter().map(|p| p.normal).collect();
        let mut rows = normals;
        rows.extend_from_slice(&self.rows[..held]);
        if !self.other.eliminate(&eval.mass, &self.f, &eval.w, &eval.accel_offset, &self.bilateral, &rows) {
            return false;
        }
        let place = |k: usize| {
            if k < m { Some(k) } else { (self.place[k - m] != usize::MAX).then(|| m + self.place[k - m]) }
        };
        out.h.reshape(2 * m, 2 * m);
        out.h.fill(0.0);
        out.c.clear();
        out.c.resize(2 * m, 0.0);
        out.response.reshape(2 * m, eval.h.len());
        out.response.fill(0.0);
        for i in 0..2 * m {
            let Some(a) = place(i) else { continue };
            out.c[i] = self.other.c[a];
            out.response.row_mut(i).copy_from_slice(self.other.a.row(a));
            for j in 0..2 * m {
                if let Some(b) = place(j) {
                    out.h[(i, j)] = self.other.h[(a, b)];
                }
            }
        }
        out.h.as_slice().iter().all(|x| x.is_finite()) && out.c.iter().all(|x| x.is_finite())
    }

    /// Degrees of freedom that the constraints and the pairs leave.
    pub(crate) fn freedom(&self) -> usize {
        self.accel0.len() + self.redundant - self.held.len()
    }

    /// `(E + L ε μ) R − R⁰` of pair `a`.
    pub fn residual(&self, a: usize, r: &[f64]) -> f64 {
        let d: f64 = (0..r.len()).map(|b| self.index[(a, b)] * self.pairs[b].mu * r[b].abs()).sum();
        r[a] + d - self.frictionless[a]
    }
}
