//! What really happens in a paradoxical state: the limit of contact stiffness → ∞ (ANH-4.3-LIMIT, ANH-4.3-TIMPACT, Theorems 8, 9).
//!
//! The reaction of the contact moves much faster than anything else. Either it settles on a rigid solution, or it grows
//! without bound: a *tangential impact*. While it grows, with ε the sign of the growing reaction and d that of the slip,
//!
//! ```text
//! γ̇ = −d μ|R| k̃,   k̃ = H_tt − d ε H_tn/μ = k + H_nn |L|(μ|L| − 1)/μ,     k = H_tt − H_tn²/H_nn  (the book's)
//! Δt = (1/λ) ln(1 + λ|γ|/(μ |R⁰ r₁| k̃)),   λ = w √(p − 1),  w² = c H_nn                  (4.56, corrected)
//! ```
//!
//! and the slip ends at zero. In the damped rigid limit the normal direction is at rest too, which is the end of the
//! compression phase with the contact sticking: Δu = −a γ/(W_T a), a the response to a unit of friction with all normals
//! held. One degree of freedom: the whole mechanism stops, *dynamic seizure*.

use super::branches::MAX_PAIRS;
use super::fast::Portrait;
use super::painleve::Verdict;
use super::reactions::{Free, Reactions};
use super::{AnalysisError, Snapshot};
use crate::contact::{Fast, Fate, Solution, SolutionSet, Status, Transition};
use crate::linalg::axpy;
use crate::system::{ContactInfo, State, System};

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Motion goes on with these reactions of the pairs.
    Rigid {
        /// R per pair.
        reactions: Vec<f64>,
    },
    /// Velocities jump, the contact sticks.
    TangentialImpact {
        /// Velocities after, in the damped rigid limit.
        u: Vec<f64>,
        /// Impulse along the normal and the tangent of the contact.
        impulse: [f64; 2],
        /// Kinetic energy lost.
        loss: f64,
    },
    /// The same in a mechanism with one degree of freedom: it stops.
    Seizure {
        /// Velocities after.
        u: Vec<f64>,
        /// Impulse along the normal and the tangent of the contact.
        impulse: [f64; 2],
        /// Kinetic energy lost.
        loss: f64,
    },
    /// The fast motion of several pairs neither settles nor diverges.
    Undecided,
}

impl Outcome {
    /// The word used in every output.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Outcome::Rigid { .. } => "rigid",
            Outcome::TangentialImpact { .. } => "tangential_impact",
            Outcome::Seizure { .. } => "seizure",
            Outcome::Undecided => "undecided",
        }
    }
}

/// Everything about the fast motion of one contact.
#[derive(Clone, Debug)]
pub struct TrueMotion {
    /// How many rigid solutions.
    pub verdict: Verdict,
    /// What happens.
    pub outcome: Outcome,
    /// L of the contact.
    pub index: f64,
    /// R⁰ of the contact.
    pub frictionless: f64,
    /// The portrait of the contact alone (others with the reactions of the same fast motion when there are several).
    pub portrait: Portrait,
    /// Stable reaction R₊.
    pub centre: Option<f64>,
    /// Unstable reaction R₋.
    pub saddle: Option<f64>,
    /// 1/m_n = H_nn: w² = c H_nn.
    pub normal_mobility: f64,
    /// Friction coefficient.
    pub mu: f64,
    /// Slip speed |γ|.
    pub speed: f64,
    /// k of the book.
    pub k_book: f64,
    /// k̃.
    pub k_full: f64,
    /// Velocities at the instant at which the slip of an undamped contact vanishes (the normal rate does not).
    pub u_at_stop: Option<Vec<f64>>,
}

/// Time to stop for a large finite stiffness: only the growing part of the force counts, so it is what the time tends to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duration {
    /// With k of the book.
    pub dt_book: f64,
    /// With k̃.
    pub dt_full: f64,
}

impl TrueMotion {
    /// Duration of the tangential impact for contact stiffness `c` from x₀ = R/R⁰ and ẋ₀/w; `None` when there is none or the
    /// start is not in the divergent half plane.
    pub fn duration(&self, c: f64, x0: f64, rate0: f64) -> Option<Duration> {
        let growth = self.portrait.growth()?;
        let r1 = self.portrait.growing_part(x0, rate0)?;
        let divergent = -self.portrait.s;
        if x0 * divergent < 0.0 || r1 * divergent <= 0.0 {
            return None;
        }
        let lambda = growth * (c * self.normal_mobility).sqrt();
        let time = |k: f64| {
            (1.0 / lambda) * (lambda * self.speed / (self.mu * (self.frictionless * r1).abs() * k)).ln_1p()
        };
        Some(Duration { dt_book: time(self.k_book), dt_full: time(self.k_full) })
    }
}

/// What happens at `state` when the reaction of `contact` starts at x₀ = R/R⁰ with the rate ẋ₀ (in units of w). Other pairs
/// start on the branch with the smallest reactions, or without friction where there is none.
///
/// # Errors
///
/// See [`AnalysisError`]; also when the contact is open or the mass matrix needs the contact to be definite.
pub fn true_motion<S: System + ?Sized>(
    sys: &S,
    state: &State,
    contact: usize,
    x0: f64,
    rate0: f64,
) -> Result<TrueMotion, AnalysisError> {
    let mut at = Snapshot::new(sys);
    at.state.clone_from(state);
    at.take(sys)?;
    true_motion_at(sys, &at, contact, x0, rate0)
}

/// The same at a state already taken.
///
/// # Errors
///
/// See [`true_motion`].
pub(crate) fn true_motion_at<S: System + ?Sized>(
    sys: &S,
    at: &Snapshot,
    contact: usize,
    x0: f64,
    rate0: f64,
) -> Result<TrueMotion, AnalysisError> {
    let info = sys.contacts();
    let name = || info.get(contact).map_or(String::new(), |c| c.name.clone());
    let mut re = Reactions::default();
    re.fill(sys, at)?;
    let a = re.pair_of(contact).ok_or_else(|| AnalysisError::Open(name()))?;
    if re.pairs[a].tangent.is_none() {
        return Err(AnalysisError::NoFriction(name()));
    }
    let mut free = Free::default();
    if !re.free(at, &mut free) {
        return Err(AnalysisError::SingularMass);
    }
    if re.len() > MAX_PAIRS {
        return Err(AnalysisError::TooMany { pairs: re.len(), limit: 1 << MAX_PAIRS });
    }
    let set = Transition::default().solve(info, &at.eval, &at.starts);
    let verdict = match set.status {
        Status::Family => Verdict::Family,
        Status::Unique => Verdict::Unique,
        Status::Several => Verdict::Several,
        Status::None => Verdict::None,
        Status::Unknown => return Err(AnalysisError::TooMany { pairs: re.len(), limit: 1 << MAX_PAIRS }),
        Status::Invalid => return Err(AnalysisError::SingularMass),
    };

    // the contact by itself
    let (m, pair) = (re.len(), re.pairs[a]);
    let (index, r0) = (re.index[(a, a)], re.frictionless[a]);
    let portrait =
        Portrait { p: pair.mu * index.abs(), s: if (r0 < 0.0) == (index < 0.0) { 1.0 } else { -1.0 } };
    let (nn, tn, tt) = (free.h[(a, a)], free.h[(m + a, a)], free.h[(m + a, m + a)]);
    let e = -index.signum();
    let k_full = tt - pair.direction * e * tn / pair.mu;
    let k_book = tt - tn * tn / nn;

    let finish = |outcome: Outcome| TrueMotion {
        verdict,
        outcome,
        index,
        frictionless: r0,
        portrait,
        centre: portrait.centre().map(|x| x * r0),
        saddle: portrait.saddle().map(|x| x * r0),
        normal_mobility: nn,
        mu: pair.mu,
        speed: pair.slip.abs(),
        k_book,
        k_full,
        u_at_stop: None,
    };

    // where the reactions go
    let alone = m == 1 && pair.two_sided && re.all_slide();
    let outcome = if alone {
        if portrait.stays(x0, rate0) {
            let same = set.solutions.iter().map(|s| reactions(&re, s)).find(|r| r[0] * r0 >= 0.0);
            Outcome::Rigid { reactions: same.unwrap_or_else(|| vec![r0 / (1.0 + portrait.s * portrait.p)]) }
        } else {
            impact(&re, at, a)
        }
    } else {
        followed(&re, at, info, &set, (contact, a), [x0 * r0, rate0 * r0])?
    };
    let diverges = matches!(outcome, Outcome::TangentialImpact { .. } | Outcome::Seizure { .. });
    let mut out = finish(outcome);
    if diverges && k_full > 0.0 {
        let time = pair.slip.abs() / (pair.mu * k_full);
        let mut u = at.state.u.clone();
        axpy(e * time, free.response.row(a), &mut u);
        axpy(-pair.direction * pair.mu * time, free.response.row(m + a), &mut u);
        out.u_at_stop = Some(u);
    }
    Ok(out)
}

// reactions of the pairs in a solution
fn reactions(re: &Reactions, solution: &Solution) -> Vec<f64> {
    re.pairs.iter().map(|p| solution.forces.normal[p.contact]).collect()
}

// the fast motion of the reactions, from the first solution with the asked reaction `a` (of `contact`) moved
fn followed(
    re: &Reactions,
    at: &Snapshot,
    info: &[ContactInfo],
    set: &SolutionSet,
    (contact, a): (usize, usize),
    [from, speed]: [f64; 2],
) -> Result<Outcome, AnalysisError> {
    let m = re.len();
    let fast = Fast::of(info, &at.eval, &at.starts).ok_or(AnalysisError::SingularMass)?;
    let rows = || fast.normals.iter().map(|n| n.row).chain(fast.tangents.iter().map(|t| t.row));
    let stationary: Vec<Vec<f64>> =
        set.solutions.iter().map(|s| rows().map(|r| s.forces.lambda[r]).collect()).collect();
    let n = fast.normals.len();
    let mut start: Vec<f64> = match stationary.first() {
        Some(b) => b[..n].to_vec(),
        None => {
            let of = |c: usize| re.pair_of(c).map_or(0.0, |k| re.frictionless[k]);
            fast.normals.iter().map(|n| of(n.contact)).collect()
        }
    };
    let mut rate = vec![0.0; n];
    let place = fast.normals.iter().position(|n| n.contact == contact);
    if let Some(k) = place {
        (start[k], rate[k]) = (from, speed);
    }
    Ok(match fast.follow(&stationary, &start, &rate, 0.02) {
        Fate::Settles(k) => Outcome::Rigid { reactions: reactions(re, &set.solutions[k]) },
        Fate::Diverges(direction) if m > 1 => {
            several(re, at, &fast, &direction, a).unwrap_or_else(|| impact(re, at, a))
        }
        Fate::Diverges(_) => impact(re, at, a),
        Fate::Undecided => Outcome::Undecided,
    })
}

// several pairs: the fast motion goes on to the end of the impact
fn several(re: &Reactions, at: &Snapshot, fast: &Fast, direction: &[f64], a: usize) -> Option<Outcome> {
    let u = &at.state.u;
    let slip: Vec<f64> =
        fast.tangents.iter().map(|t| if t.direction == 0.0 { 0.0 } else { at.eval.rate(t.row, u) }).collect();
    let (u_after, impulses) = fast.jump(u, &slip, direction)?;
    let contact = re.pairs[a].contact;
    let n = fast.normals.iter().position(|n| n.contact == contact)?;
    let t = fast.tangents.iter().position(|t| t.contact == contact)?;
    let impulse = [impulses[n], impulses[fast.normals.len() + t]];
    let energy = |u: &[f64]| 0.5 * at.eval.mass.form(u);
    let loss = energy(u) - energy(&u_after);
    Some(jump(re, u_after, impulse, loss))
}

// the damped rigid limit: the contact sticks, all normals are held
fn impact(re: &Reactions, at: &Snapshot, a: usize) -> Outcome {
    let pair = re.pairs[a];
    let impulse = -pair.slip / re.slip_response[(a, a)];
    let mut u = at.state.u.clone();
    axpy(impulse, re.response.row(a), &mut u);
    let normal = re.index[(a, a)] * pair.direction * impulse;
    let loss = 0.5 * pair.slip * pair.slip / re.slip_response[(a, a)];
    jump(re, u, [normal, impulse], loss)
}

fn jump(re: &Reactions, u: Vec<f64>, impulse: [f64; 2], loss: f64) -> Outcome {
    if re.freedom() == 1 {
        Outcome::Seizure { u, impulse, loss }
    } else {
        Outcome::TangentialImpact { u, impulse, loss }
    }
}
