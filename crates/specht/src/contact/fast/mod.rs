//! The fast motion of stiff contacts: reactions move, positions and large velocities stand still (ANH-5.4-PERTURB).
//!
//! ```text
//! g̈ = H_nn R + H_nt x + c_n      R = −k g − α ġ          (one-sided: its positive part while g < 0)
//! γ̇ = H_tn R + H_tt x + c_t      x ∈ −μ N(R) Sgn γ       N: |R|, R, the norm of a pin, a load
//! ```
//!
//! Every normal whose force bounds friction has a spring, tangents keep Coulomb's law as it is: with given reactions the
//! friction forces are unique in their effect (a convex problem), so the motion is unique and the paradox is gone. A pair
//! that slides at the start keeps its direction, because k → ∞ makes the motion infinitely fast; a pair with zero slip may
//! stick, slip a little and stick again. The rigid solutions, with any mixture of stick, slip and lift-off, are the
//! motions with constant reactions. From given reactions the motion either settles on one of them, under a little
//! damping ([`Fast::follow`]), or grows without bound: a tangential impact, which [`Fast::jump`] follows to its end.
//!
//! Where M is not definite without the springs (massless parts), each sprung normal carries a small mass of its own,
//! η w g̈: it vanishes at every rigid solution and leaves L and R⁰ as they are.

mod jump;
mod motion;

pub(crate) use jump::Lasting;

use super::{Reduced, Start};
use crate::linalg::{Mat, Symmetric};
use crate::system::{ContactInfo, Eval, Normal};

/// A sliding pair of the fast motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastPair {
    /// Index of the contact.
    pub contact: usize,
    /// Direction of slip, ±1 (0 without friction).
    pub direction: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// The reaction may have either sign.
    pub two_sided: bool,
}

/// A direction with a spring.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastNormal {
    /// Index of the contact.
    pub contact: usize,
    /// Its row.
    pub row: usize,
    /// The reaction may have either sign.
    pub two_sided: bool,
    /// Stiffness relative to the other springs.
    pub stiffness: f64,
}

/// What a friction bound is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Term {
    /// The reaction at this place.
    Force(usize),
    /// Its absolute value.
    Size(usize),
    /// The norm of two reactions: a pin.
    Norm(usize, usize),
}

/// A tangent with friction.
#[derive(Clone, Debug, PartialEq)]
pub struct FastTangent {
    /// Index of the contact.
    pub contact: usize,
    /// Its row.
    pub row: usize,
    /// Direction of slip, ±1; 0: the slip is zero.
    pub direction: f64,
    /// Sliding coefficient.
    pub mu: f64,
    /// Static coefficient.
    pub mu_static: f64,
    /// N, with a factor for each term.
    pub load: Vec<(Term, f64)>,
    /// Given part of N, at slip and at stick.
    pub given: [f64; 2],
}

/// The problem: normals first, then tangents.
#[derive(Clone, Debug, Default)]
pub struct Fast {
    /// H.
    pub h: Mat,
    /// c.
    pub c: Vec<f64>,
    /// Directions with springs.
    pub normals: Vec<FastNormal>,
    /// Directions with friction.
    pub tangents: Vec<FastTangent>,
    /// Change of the accelerations by a unit of each force, row by row (empty when not known).
    pub response: Mat,
}

/// Where the fast motion leads.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// To the branch with this index.
    Settles(usize),
    /// Reactions grow without bound; the direction of growth, largest component 1.
    Diverges(Vec<f64>),
    /// Neither within the time allowed (flutter that is caught by another branch, a cycle).
    Undecided,
}

impl Fast {
    /// The problem of all closed contacts; `None` when there is nothing to follow or a number is not finite.
    pub fn of(info: &[ContactInfo], eval: &Eval, starts: &[Start]) -> Option<Fast> {
        let rubs = |i: usize| {
            let closed = info[i].is_bilateral() || starts[i] != Start::Open;
            closed && info[i].friction && info[i].tangent.len() == 1
        };
        // contacts whose reactions bound some friction
        let mut bounds = vec![false; info.len()];
        for i in (0..info.len()).filter(|&i| rubs(i)) {
            eval.bound_terms(info, i).for_each(|(j, _)| bounds[j] = true);
        }
        let mut fast = Fast::default();
        let (mut bilateral, mut rows) = (Vec::new(), Vec::new());
        for (i, c) in info.iter().enumerate() {
            let mut spring = |row: usize, two_sided: bool| {
                rows.push(row);
                fast.normals.push(FastNormal { contact: i, row, two_sided, stiffness: 1.0 });
            };
            match c.normal {
                Normal::Bilateral { row } if bounds[i] => spring(row, true),
                Normal::Bilateral { row } => bilateral.push(row),
                Normal::Pin { rows: [a, b] } if bounds[i] => {
                    spring(a, true);
                    spring(b, true);
                }
                Normal::Pin { rows: pin } => bilateral.extend(pin),
                Normal::Ball { rows: ball } => bilateral.extend(ball),
                Normal::Unilateral { row } if starts[i] != Start::Open => spring(row, false),
                _ => {}
            }
        }
        let n = fast.normals.len();
        for i in (0..info.len()).filter(|&i| rubs(i)) {
            rows.push(info[i].tangent[0]);
            fast.tangents.push(fast.tangent(info, eval, starts[i], i));
        }
        let mut red = Reduced::default();
        if n == 0 || !eliminate(&mut red, eval, &bilateral, &rows, n) {
            return None;
        }
        let numbers = red.h.as_slice().iter().chain(&red.c).chain(red.a.as_slice());
        let ok = numbers.into_iter().all(|v| v.is_finite()) && (0..n).all(|a| red.h[(a, a)] > 0.0);
        (fast.h, fast.c, fast.response) = (red.h, red.c, red.a);
        ok.then_some(fast)
    }

    /// Sliding pairs with H (2m × 2m, normals first, then tangents, pair by pair) and c (m or more) given.
    pub fn sliding(h: &Mat, c: &[f64], pairs: &[FastPair]) -> Fast {
        let m = pairs.len();
        let rubbing: Vec<usize> =
            (0..m).filter(|&a| pairs[a].direction != 0.0 && pairs[a].mu > 0.0).collect();
        let at = |k: usize| if k < m { k } else { m + rubbing[k - m] };
        let size = m + rubbing.len();
        let normals = pairs.iter().enumerate().map(|(row, p)| FastNormal {
            contact: p.contact,
            row,
            two_sided: p.two_sided,
            stiffness: 1.0,
        });
        let tangents = rubbing.iter().map(|&a| FastTangent {
            contact: pairs[a].contact,
            row: m + a,
            direction: pairs[a].direction,
            mu: pairs[a].mu,
            mu_static: pairs[a].mu,
            load: vec![(if pairs[a].two_sided { Term::Size(a) } else { Term::Force(a) }, 1.0)],
            given: [0.0; 2],
        });
        Fast {
            h: Mat::from_fn(size, size, |i, j| h[(at(i), at(j))]),
            c: (0..size).map(|k| c.get(at(k)).copied().unwrap_or(0.0)).collect(),
            normals: normals.collect(),
            tangents: tangents.collect(),
            response: Mat::default(),
        }
    }

    /// Whether this is one pair that slides, and nothing else.
    pub(crate) fn is_one_sliding_pair(&self) -> bool {
        self.normals.len() == 1 && self.tangents.len() == 1 && self.tangents[0].direction != 0.0
    }

    // friction of contact `i`
    fn tangent(&self, info: &[ContactInfo], eval: &Eval, start: Start, i: usize) -> FastTangent {
        let place = |j: usize| self.normals.iter().position(|n| n.contact == j);
        let mut load = Vec::new();
        for (j, factor) in eval.bound_terms(info, i) {
            if let Some(a) = place(j) {
                let term = match info[j].normal {
                    Normal::Pin { .. } => Term::Norm(a, a + 1),
                    Normal::Bilateral { .. } if j == i => Term::Size(a),
                    _ => Term::Force(a),
                };
                load.push((term, factor));
            }
        }
        let given = [false, true].map(|sticks| eval.bound_given(i, sticks));
        let direction = match start {
            Start::Plus => 1.0,
            Start::Minus => -1.0,
            _ => 0.0,
        };
        let (mu, mu_static) = (eval.mu[i], eval.mu_static[i]);
        FastTangent { contact: i, row: info[i].tangent[0], direction, mu, mu_static, load, given }
    }
}

// eliminate the rigid rows; the first `n` of `rows` get a mass of their own when M alone is not enough
fn eliminate(red: &mut Reduced, eval: &Eval, bilateral: &[usize], rows: &[usize], n: usize) -> bool {
    if red.eliminate(&eval.mass, &eval.h, &eval.w, &eval.accel_offset, bilateral, rows) {
        return true;
    }
    let size = eval.h.len();
    let typical = (0..size).map(|i| eval.mass.diagonal(i).abs()).sum::<f64>() / size.max(1) as f64;
    let (mut mass, mut h) = (eval.mass.to_dense(), eval.h.clone());
    for &row in &rows[..n] {
        let w = eval.w.row(row);
        let eta = OWN_MASS * typical / w.square().max(f64::MIN_POSITIVE);
        for (i, own) in w.iter() {
            w.add_to(eta * own, mass.row_mut(i));
        }
        w.add_to(-eta * eval.accel_offset[row], &mut h);
    }
    red.eliminate(&Symmetric::from_dense(&mass), &h, &eval.w, &eval.accel_offset, bilateral, rows)
}

/// Mass of a sprung normal relative to the mean of the diagonal of M, where M alone is singular.
const OWN_MASS: f64 = 1e-2;
