//! The finding at a state: is the computed reaction the only possible one? (ANH-2.3-PARADOX, ANH-4.2-CRIT, ANH-5.1-MULTI)
//!
//! The solution set comes from the transition problem, which knows stick, lift-off, journals and loads; where all pairs
//! slide it must agree with the plain enumeration of signs ([`super::branches`]), and it does (20 000 random systems).
//! Every solution carries the reactions, accelerations, Painlevé's friction forces ρ = M (u̇ − u̇⁰) in generalised
//! coordinates (5.38), and the character of its fast dynamics (5.68).

use super::branches::{MAX_PAIRS, Patterns};
use super::fast::{FastMotion, character};
use super::flat::{Flat, is_spatial, rubs_in_plane};
use super::journal::{self, Journal};
use super::reactions::{Free, Pair, Reactions};
use super::{AnalysisError, Snapshot, critical};
use crate::contact::{Solution, Start, Status, Transition};
use crate::linalg::{Mat, Symmetric};
use crate::system::{ContactInfo, Mode, State, System};

/// Pairs above which the solutions are not looked for, at zero slip and altogether: the search would not end in a time anyone
/// waits.
pub(crate) const MOST_PAIRS: [usize; 2] = [24, 64];

/// How many solutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// One.
    Unique,
    /// Finitely many, more than one.
    Several,
    /// None.
    None,
    /// A continuum.
    Family,
}

impl Verdict {
    /// The word used in every output.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verdict::Unique => "unique",
            Verdict::Several => "several",
            Verdict::None => "none",
            Verdict::Family => "family",
        }
    }
}

/// One solution of the force problem.
#[derive(Clone, Debug)]
pub struct Possible {
    /// Mode of every contact.
    pub modes: Vec<Mode>,
    /// Normal force of every contact.
    pub normal: Vec<f64>,
    /// Tangential force of every contact.
    pub tangential: Vec<f64>,
    /// Forces by rows, of contacts at zero slip in space; else empty.
    pub lambda: Vec<f64>,
    /// Accelerations.
    pub accel: Vec<f64>,
    /// Painlevé's friction forces M (u̇ − u̇⁰), u̇⁰ without friction of the pairs and with all pairs held.
    pub friction_forces: Vec<f64>,
    /// The fast motion about this solution with the relative stiffnesses given; undefined for stick, journals, massless parts.
    pub fast: FastMotion,
}

/// The finding.
#[derive(Clone, Debug)]
pub struct Painleve {
    /// How many solutions.
    pub verdict: Verdict,
    /// The pairs.
    pub pairs: Vec<Pair>,
    /// Pins with friction.
    pub journals: Vec<Journal>,
    /// R⁰ per pair.
    pub frictionless: Vec<f64>,
    /// L.
    pub index: Mat,
    /// Accelerations without friction of the pairs, u̇⁰.
    pub frictionless_accel: Vec<f64>,
    /// μ_c per pair, see `critical`.
    pub critical_mu: Vec<f64>,
    /// The first common factor on all friction at which the present load has not one solution; NaN where it cannot be told. With
    /// journals see `super::journal`.
    pub critical_factor: f64,
    /// Below this factor every load has exactly one solution; NaN with journals.
    pub safe_factor: f64,
    /// On the border of a paradox: the verdicts with a little less and a little more friction.
    pub border: Option<[Verdict; 2]>,
    /// All solutions, smallest reactions first.
    pub solutions: Vec<Possible>,
    /// False when the search was not finished.
    pub complete: bool,
    /// Dependent constraints: reactions are those of minimum norm.
    pub redundant: usize,
    /// Interval of every acceleration over a continuum.
    pub family: Option<Vec<[f64; 2]>>,
    /// Contacts in space: the force of friction per unit of `tangential`, by tangents.
    pub push: Vec<Option<[f64; 3]>>,
}

/// The finding at `state`. `stiffness`: relative contact stiffness per contact for the fast dynamics, 1 where missing.
///
/// # Errors
///
/// See [`AnalysisError`].
pub fn painleve<S: System + ?Sized>(
    sys: &S,
    state: &State,
    stiffness: &[f64],
) -> Result<Painleve, AnalysisError> {
    let mut at = Snapshot::new(sys);
    at.state.clone_from(state);
    at.take(sys)?;
    painleve_at(sys, &at, stiffness)
}

/// The finding at a state already taken.
///
/// # Errors
///
/// See [`AnalysisError`].
pub fn painleve_at<S: System + ?Sized>(
    sys: &S,
    at: &Snapshot,
    stiffness: &[f64],
) -> Result<Painleve, AnalysisError> {
    let info = sys.contacts();
    if !is_spatial(info) {
        return of_rows(info, at, stiffness);
    }
    let flat = Flat::new(info, at, None)?;
    let mut out = of_rows(&flat.info, &flat.at, stiffness)?;
    out.push.clone_from(&flat.push);
    for s in &mut out.solutions {
        for (mode, _) in
            s.modes.iter_mut().zip(&flat.push).filter(|(m, p)| **m == Mode::SlipPlus && p.is_some())
        {
            *mode = Mode::Slip;
        }
    }
    // one contact at zero slip: not only the direction without friction counts
    let resting = (0..info.len()).find(|&i| rubs_in_plane(&info[i], at, i) && at.starts[i] == Start::Zero);
    if let Some(i) = resting {
        out.list_at_rest(info, at, i)?;
    }
    Ok(out)
}

/// The finding of contacts with at most one tangent.
fn of_rows(info: &[ContactInfo], at: &Snapshot, stiffness: &[f64]) -> Result<Painleve, AnalysisError> {
    let mut re = Reactions::default();
    re.fill_rows(info, at)?;
    let mut free = Free::default();
    let has_free = re.free(at, &mut free);
    check_number(&re)?;
    let mut transition = Transition::default();
    let set = transition.solve(info, &at.eval, &at.starts);
    let verdict = match set.status {
        Status::Unique => Verdict::Unique,
        Status::Several => Verdict::Several,
        Status::Family => Verdict::Family,
        Status::None => Verdict::None,
        Status::Unknown => {
            return Err(AnalysisError::TooMany { pairs: re.len(), limit: transition.settings.work });
        }
        Status::Invalid => return Err(AnalysisError::SingularMass),
    };
    let factor = match re.journals[..] {
        [] => critical::present_factor(&re, has_free.then_some(&free)),
        [j] if re.pairs.iter().all(|p| p.tangent.is_none()) && only(info, j.contact) => {
            Some(j.critical_mu() / j.mu)
        }
        _ => Some(journal::critical_factor(info, at, &mut transition)),
    };
    let stiff: Vec<f64> = re.pairs.iter().map(|p| stiffness.get(p.contact).copied().unwrap_or(1.0)).collect();
    let solutions = set
        .solutions
        .iter()
        .map(|s| {
            let fast = match has_free && re.linear {
                true => character(&re, &free, &stiff, &s.modes, &s.forces.normal),
                false => FastMotion::default(),
            };
            possible(&re, &at.eval.mass, s, fast)
        })
        .collect();
    Ok(Painleve {
        verdict,
        critical_mu: critical::coefficients(&re, factor),
        critical_factor: factor.unwrap_or(f64::NAN),
        safe_factor: if re.linear { critical::common_factor(&re).unwrap_or(f64::NAN) } else { f64::NAN },
        border: critical::border(&re, has_free.then_some(&free)),
        solutions,
        complete: set.complete,
        redundant: set.redundant,
        family: set.families.iter().find(|f| f.moves).map(|f| f.accel.clone()),
        journals: re.journals,
        pairs: re.pairs,
        frictionless: re.frictionless,
        frictionless_accel: re.accel0,
        index: re.index,
        push: vec![None; info.len()],
    })
}

impl Painleve {
    /// All solutions of one contact at zero slip in space, instead of those that slide along one direction (METH-3D-ACC).
    fn list_at_rest(&mut self, info: &[ContactInfo], at: &Snapshot, i: usize) -> Result<(), AnalysisError> {
        let found = crate::sim::space::all_from_rest(info, &at.eval, &at.starts).ok_or_else(|| {
            AnalysisError::Key(format!(
                "the solutions of contact `{}` at zero slip cannot be listed",
                info[i].name
            ))
        })?;
        self.verdict = match found.len() {
            0 => Verdict::None,
            1 => Verdict::Unique,
            _ => Verdict::Several,
        };
        self.border = None;
        self.push[i] = None;
        let fast = FastMotion { character: None, may_flutter: false, kappa: Vec::new() };
        self.solutions = found
            .iter()
            .map(|s| {
                let change: Vec<f64> =
                    s.forces.accel.iter().zip(&self.frictionless_accel).map(|(a, b)| a - b).collect();
                let mut friction_forces = vec![0.0; change.len()];
                at.eval.mass.mul_vec(&change, &mut friction_forces);
                Possible {
                    modes: s.modes.clone(),
                    normal: s.forces.normal.clone(),
                    tangential: s.forces.tangential.clone(),
                    lambda: s.forces.lambda.clone(),
                    accel: s.forces.accel.clone(),
                    friction_forces,
                    fast: fast.clone(),
                }
            })
            .collect();
        self.complete = true;
        Ok(())
    }
}

/// Contact `i` is the only one with friction.
fn only(info: &[ContactInfo], i: usize) -> bool {
    info.iter().enumerate().all(|(k, c)| k == i || !c.friction)
}

fn check_number(re: &Reactions) -> Result<(), AnalysisError> {
    let resting = re.pairs.iter().filter(|p| !p.slides).count();
    for (pairs, limit) in [resting, re.len()].into_iter().zip(MOST_PAIRS) {
        if pairs > limit {
            return Err(AnalysisError::TooMany { pairs, limit });
        }
    }
    Ok(())
}

fn possible(re: &Reactions, mass: &Symmetric, s: &Solution, fast: FastMotion) -> Possible {
    let change: Vec<f64> = s.forces.accel.iter().zip(&re.accel0).map(|(a, b)| a - b).collect();
    let mut friction_forces = vec![0.0; change.len()];
    mass.mul_vec(&change, &mut friction_forces);
    Possible {
        modes: s.modes.clone(),
        normal: s.forces.normal.clone(),
        tangential: s.forces.tangential.clone(),
        lambda: Vec::new(),
        accel: s.forces.accel.clone(),
        friction_forces,
        fast,
    }
}

/// The verdict alone, fast: what a map asks at every point. Memory is kept.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    /// R⁰ and L of the last state.
    pub reactions: Reactions,
    /// The patterns of the last state, when all pairs slide.
    pub patterns: Patterns,
    free: Free,
    transition: Transition,
}

/// What a map keeps of one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// How many solutions.
    pub verdict: Verdict,
    /// Which patterns, as a number: equal numbers mean the same list of consistent patterns.
    pub domain: u64,
}

impl Classifier {
    /// Classify a state already taken.
    ///
    /// # Errors
    ///
    /// See [`AnalysisError`].
    pub fn classify<S: System + ?Sized>(&mut self, sys: &S, at: &Snapshot) -> Result<Class, AnalysisError> {
        if is_spatial(sys.contacts()) {
            let flat = Flat::new(sys.contacts(), at, None)?;
            return self.classify_flat(&flat.info, &flat.at);
        }
        self.classify_flat(sys.contacts(), at)
    }

    /// Classify a state of contacts with at most one tangent.
    pub(crate) fn classify_flat(
        &mut self,
        info: &[ContactInfo],
        at: &Snapshot,
    ) -> Result<Class, AnalysisError> {
        self.reactions.fill_rows(info, at)?;
        let re = &mut self.reactions;
        if re.all_slide() && re.redundant == 0 && re.len() <= MAX_PAIRS {
            let one_sided = re.pairs.iter().any(|p| !p.two_sided);
            if !one_sided || re.free(at, &mut self.free) {
                self.patterns.run(re, one_sided.then_some(&self.free));
                if !self.patterns.line {
                    let found = self.patterns.found();
                    let verdict = match found.len() {
                        0 => Verdict::None,
                        1 => Verdict::Unique,
                        _ => Verdict::Several,
                    };
                    let domain = found.iter().fold(0, |d, b| mix(d, u64::from(b.pattern) + 1));
                    return Ok(Class { verdict, domain });
                }
            }
        }
        check_number(&self.reactions)?;
        let set = self.transition.solve(info, &at.eval, &at.starts);
        let verdict = match set.status {
            Status::Unique => Verdict::Unique,
            Status::Several => Verdict::Several,
            Status::Family => Verdict::Family,
            Status::None => Verdict::None,
            Status::Unknown => {
                let limit = self.transition.settings.work;
                return Err(AnalysisError::TooMany { pairs: self.reactions.len(), limit });
            }
            Status::Invalid => return Err(AnalysisError::SingularMass),
        };
        // the order of solutions changes inside a domain, the set does not
        let one = |s: &Solution| {
            s.modes.iter().zip(&s.signs).fold(7, |d, (m, e)| mix(d, *m as u64 * 2 + u64::from(*e < 0.0) + 1))
        };
        let mut each: Vec<u64> = set.solutions.iter().map(one).collect();
        each.sort_unstable();
        let domain = each.iter().fold(11, |d, e| mix(d, *e));
        Ok(Class { verdict, domain })
    }
}

impl Classifier {
    /// [`critical::present_factor`] of the state classified last, for at most so many pairs.
    pub(crate) fn critical_factor(&mut self, most: usize) -> Option<f64> {
        let re = &self.reactions;
        let free = re.pairs.iter().any(|p| !p.two_sided).then_some(&self.free);
        (re.len() <= most).then(|| critical::present_factor(re, free)).flatten()
    }
}

// FNV-1a over small numbers: any deterministic mixing will do
fn mix(a: u64, b: u64) -> u64 {
    (a ^ 0xcbf2_9ce4_8422_2325 ^ b).wrapping_mul(0x0100_0000_01b3)
}
