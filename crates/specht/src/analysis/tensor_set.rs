//! Regularity of the friction of a model (VAG-5-REGULAR), at a state and over sampled states.
//!
//! The set is that of all closed contacts with an unknown reaction; ideal joints are held. Over every pattern σ of directions that
//! the admissible velocities allow (bilateral contacts: both signs of the reaction too),
//!
//! ```text
//! D(k) = det{ w_Ni M⁻¹ [w_Nj − k σ_j μ_j (w_Tj + s_j w_Nj)]ᵀ },   regular: D(k) > 0 for all k > 0, all σ          (33)
//! ```
//!
//! with the lean s of the tensor (0: Coulomb). D is a polynomial in k and decided by Sturm's theorem, see [`super::tensor`]; the
//! patterns are enumerated (at most [`MAX_RUBBING`] contacts), each tested for admissibility by a linear program.
//!
//! Samples: the corners of the box of ranges, then a Halton sequence (bases 2, 3, 5, …), so the same states for every run. A
//! sample is the start of the file with these parameters, coordinates and velocities. "Regular over the samples" is no proof for states between them.

use super::map::Watch;
use super::place::{Place, Slot, slot};
use super::probe::free_motions;
use super::tensor::{Orthogonality, TensorRegularity, decide, orthogonality};
use super::tensor_space::{Members, regular_in_space};
use super::{AnalysisError, Snapshot};
use crate::contact::{Reduced, Start};
use crate::lcp::lp::{LpOutcome, Program, Sense};
use crate::linalg::{Lu, Mat, dot};
use crate::model::CompiledSystem;
use crate::system::{ContactInfo, Eval, Normal, Section, System};

/// Most rubbing contacts whose directions are enumerated.
pub(crate) const MAX_RUBBING: usize = 12;
/// Bases of the Halton sequence: most parameters that can be sampled.
const BASES: [u32; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
/// Parameters up to which the corners of the box are sampled too.
const CORNERS: usize = 6;

/// The tensor of one contact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactTensor {
    /// Index of the contact.
    pub contact: usize,
    /// Φ over the tangents and the normal, by rows.
    pub phi: Vec<Vec<f64>>,
    /// Lowest eigenvalue of the symmetric part: negative when friction creates energy (ii).
    pub eigenvalue: f64,
    /// Residual of (13).
    pub orthogonality: Orthogonality,
}

/// The finding at a state.
#[derive(Clone, Debug, PartialEq)]
pub struct SetFinding {
    /// The rubbing contacts.
    pub contacts: Vec<ContactTensor>,
    /// Regular for every pattern.
    pub regular: bool,
    /// The pattern with the smallest critical factor (of a regular set: the last one tried).
    pub worst: TensorRegularity,
    /// Its directions, one per entry of `contacts`: slip (bilateral: slip times the sign of the reaction); 0 for no slip.
    pub directions: Vec<f64>,
    /// In space: directions of slip of the worst, unit vectors by tangents; else empty.
    pub slips: Vec<[f64; 3]>,
    /// Patterns that are admissible; in space directions looked at.
    pub patterns: usize,
    /// Journals, whose friction is not of this form and was left out.
    pub left_out: Vec<usize>,
}

/// One extreme over the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Extreme {
    /// Values of the sampled parameters.
    pub at: Vec<f64>,
    /// The contact (none for the regularity of the set).
    pub contact: Option<usize>,
    /// The number.
    pub value: f64,
    /// Directions of the worst pattern (regularity only).
    pub directions: Vec<f64>,
}

/// The finding over samples.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledSet {
    /// Samples that exist.
    pub count: usize,
    /// Samples at which the mechanism does not exist, and why the first does not.
    pub undefined: (usize, Option<String>),
    /// Samples that are not regular.
    pub irregular: usize,
    /// Samples at which a tensor creates energy.
    pub creating: usize,
    /// Smallest critical factor.
    pub worst: Option<Extreme>,
    /// Lowest eigenvalue.
    pub eigenvalue: Option<Extreme>,
    /// Largest residual of (13).
    pub residual: Option<Extreme>,
}

/// What is sampled (a parameter, a coordinate `phi` or a velocity `phi'`), between two ends.
pub(crate) type Range = (String, [f64; 2]);

/// The finding at a state already taken; `of`: contacts whose friction counts, empty for all.
///
/// # Errors
///
/// No friction, too many contacts, dependent normals, a singular mass matrix.
pub fn regular_set(
    info: &[ContactInfo],
    at: &Snapshot,
    of: &[usize],
    memory: &mut Reduced,
) -> Result<SetFinding, AnalysisError> {
    let eval = &at.eval;
    let closed: Vec<bool> = at.starts.iter().map(|s| *s != Start::Open).collect();
    let Parts { held, set, left_out } = Parts::of(info, eval, &closed, of);
    let rubbing: Vec<usize> = (0..set.len()).filter(|&k| set[k].2).collect();
    if rubbing.is_empty() {
        return Err(nothing_rubs(info, &left_out));
    }
    if rubbing.len() > MAX_RUBBING {
        return Err(AnalysisError::TooMany { pairs: rubbing.len(), limit: 1 << MAX_RUBBING });
    }
    let p = set.len();
    if rubbing.iter().any(|&k| info[set[k].0].tangent.len() > 1) {
        let mut rows: Vec<usize> = set.iter().map(|s| s.1).collect();
        rows.extend(rubbing.iter().flat_map(|&k| info[set[k].0].tangent.clone()));
        if !memory.eliminate(&eval.mass, &eval.h, &eval.w, &eval.accel_offset, &held, &rows) {
            return Err(AnalysisError::SingularMass);
        }
        return regular_in_space(info, eval, &closed, &Members { set, left_out }, &memory.h);
    }
    let tangent = |k: usize| info[set[rubbing[k]].0].tangent[0];
    let mut rows: Vec<usize> = set.iter().map(|s| s.1).collect();
    rows.extend((0..rubbing.len()).map(tangent));
    if !memory.eliminate(&eval.mass, &eval.h, &eval.w, &eval.accel_offset, &held, &rows) {
        return Err(AnalysisError::SingularMass);
    }
    let h = &memory.h;
    let b = Mat::from_fn(p, p, |i, j| h[(i, j)]);
    if Lu::default().factor(&b) <= 1e-12 {
        return Err(braced());
    }
    let contacts = (0..rubbing.len())
        .map(|k| {
            let (n, t) = (rubbing[k], p + k);
            tensor_of(eval, set[n].0, h[(n, n)], h[(n, t)], h[(t, t)])
        })
        .collect();

    // directions that the admissible velocities allow
    let free = free_motions(info, eval, &closed);
    let slips: Vec<Option<Vec<f64>>> = (0..rubbing.len())
        .map(|k| {
            let w = eval.w.row(tangent(k));
            let s: Vec<f64> =
                (0..free.cols()).map(|j| w.iter().map(|(i, w)| w * free[(i, j)]).sum()).collect();
            (dot(&s, &s).sqrt() > 1e-9 * w.square().sqrt()).then_some(s)
        })
        .collect();
    let moving: Vec<usize> = (0..rubbing.len()).filter(|&k| slips[k].is_some()).collect();
    let two_sided = |k: usize| matches!(info[set[rubbing[k]].0].normal, Normal::Bilateral { .. });
    let mut found: Option<(TensorRegularity, Vec<f64>)> = None;
    let mut patterns = 0;
    for bits in 0..1_u32 << moving.len() {
        let mut directions = vec![0.0; rubbing.len()];
        for (place, &k) in moving.iter().enumerate() {
            directions[k] = if bits >> place & 1 == 0 { 1.0 } else { -1.0 };
        }
        let one_sided: Vec<(&[f64], f64)> = moving
            .iter()
            .filter(|&&k| !two_sided(k))
            .filter_map(|&k| Some((slips[k].as_deref()?, directions[k])))
            .collect();
        if !admissible(&one_sided) {
            continue;
        }
        patterns += 1;
        let mut c = Mat::zeros(p, p);
        for (k, d) in directions.iter().enumerate() {
            let mu = eval.mu[set[rubbing[k]].0];
            (0..p).for_each(|i| c[(i, rubbing[k])] = d * mu * h[(i, p + k)]);
        }
        let one = decide(&b, &c);
        let factor = |r: &TensorRegularity| match r.regular {
            true => f64::INFINITY,
            false => r.critical.unwrap_or(0.0),
        };
        if found.as_ref().is_none_or(|f| factor(&one) <= factor(&f.0)) {
            found = Some((one, directions));
        }
    }
    // nothing can slip: friction is never at its bound
    let (worst, directions) =
        found.unwrap_or_else(|| (decide(&b, &Mat::zeros(p, p)), vec![0.0; rubbing.len()]));
    Ok(SetFinding {
        contacts,
        regular: worst.regular,
        worst,
        directions,
        slips: Vec::new(),
        patterns,
        left_out,
    })
}

/// Reactions that are not unique without friction.
pub(super) fn braced() -> AnalysisError {
    AnalysisError::Key(
        "the closed contacts hold each other: their reactions are not unique even without friction; name fewer with `contacts` or remove a redundant one".into(),
    )
}

/// What the contacts are for the finding.
struct Parts {
    /// Rows of ideal joints.
    held: Vec<usize>,
    /// Unknown reactions: contact, row, whether it rubs.
    set: Vec<(usize, usize, bool)>,
    /// Joints and patches that rub.
    left_out: Vec<usize>,
}

impl Parts {
    fn of(info: &[ContactInfo], eval: &Eval, closed: &[bool], of: &[usize]) -> Self {
        let (mut held, mut set, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        for (i, c) in info.iter().enumerate() {
            let drills = matches!(eval.section(i), Section::Patch { .. });
            let asked = c.friction && !c.tangent.is_empty() && (of.is_empty() || of.contains(&i));
            let rubs = asked && !drills;
            match c.normal {
                Normal::Bilateral { row } if rubs => set.push((i, row, true)),
                Normal::Bilateral { row } => held.push(row),
                Normal::Unilateral { row } if closed[i] => set.push((i, row, rubs)),
                Normal::Pin { .. } | Normal::Ball { .. } => held.extend(c.normal_rows()),
                _ => {}
            }
            if asked && (drills || c.normal_rows().len() > 1) {
                left_out.push(i);
            }
        }
        Parts { held, set, left_out }
    }
}

/// Why there is nothing to ask.
fn nothing_rubs(info: &[ContactInfo], left_out: &[usize]) -> AnalysisError {
    match left_out.first() {
        Some(&i) => AnalysisError::Key(format!(
            "`{}` is a journal, a ball joint or a patch: its bound is the size of a vector, not of this form; ask `specht analyse painleve`",
            info[i].name
        )),
        None if info.iter().any(|c| c.friction) => AnalysisError::Key(
            "no closed contact with an unknown reaction rubs: friction under a given force cannot change it, open contacts carry none"
                .into(),
        ),
        None => AnalysisError::NoPair,
    }
}

/// Whether some velocity slips in all these directions at once.
fn admissible(slips: &[(&[f64], f64)]) -> bool {
    let Some((first, _)) = slips.first() else { return true };
    let width = first.len();
    let mut program = Program::new(width);
    (0..width).for_each(|j| {
        program.set_free(j);
    });
    for (s, d) in slips {
        let size = dot(s, s).sqrt();
        let a: Vec<f64> = s.iter().map(|v| d * v / size).collect();
        program.row(&a, Sense::AtLeast, 1.0);
    }
    let (outcome, _) = program.maximize(&vec![0.0; width]);
    matches!(outcome, LpOutcome::Optimal { .. } | LpOutcome::Unbounded)
}

/// Φ and the residual of (13) from the mobilities of the normal and the leaning tangent.
fn tensor_of(eval: &Eval, contact: usize, nn: f64, nt: f64, tt: f64) -> ContactTensor {
    let s = eval.lean.get(contact).copied().unwrap_or(0.0);
    let phi = match eval.tensor.get(contact) {
        Some(&[a, b, c, d]) if [a, b, c, d] != [0.0; 4] => [[a, b], [c, d]],
        _ => [[eval.mu[contact], 0.0], [0.0, 0.0]],
    };
    // mobilities of the plain tangent w_T = ŵ − s w_N
    let (q_nt, q_tt) = (nt - s * nn, tt - 2.0 * s * nt + s * s * nn);
    let q = Mat::from_rows(&[[q_tt, q_nt], [q_nt, nn]]);
    let mat = Mat::from_rows(&phi);
    let eigenvalue = match eval.tensor.get(contact) {
        Some(t) if *t != [0.0; 4] => eval.tensor_eigenvalue(contact),
        _ => eval.mu[contact].min(0.0),
    };
    let phi = phi.map(|row| row.to_vec()).to_vec();
    ContactTensor { contact, phi, eigenvalue, orthogonality: orthogonality(&mat, &q, &[0.0, 1.0]) }
}

/// Sample number `i` of `n` ranges, in the unit box: corners first, then Halton's sequence.
pub(crate) fn sample(i: usize, n: usize) -> Vec<f64> {
    let corners = if n <= CORNERS { 1 << n } else { 0 };
    if i < corners {
        return (0..n).map(|k| f64::from(u8::from(i >> k & 1 == 1))).collect();
    }
    BASES[..n.min(BASES.len())].iter().map(|&base| radical_inverse((i - corners + 1) as u64, base)).collect()
}

fn radical_inverse(mut i: u64, base: u32) -> f64 {
    let (mut value, mut digit) = (0.0, 1.0 / f64::from(base));
    while i > 0 {
        value += digit * (i % u64::from(base)) as f64;
        i /= u64::from(base);
        digit /= f64::from(base);
    }
    value
}

/// The finding over `count` samples; `sys` must have been built with all `ranges` live.
///
/// # Errors
///
/// Unknown parameters, more ranges than can be sampled, no sample at which the mechanism exists.
pub fn sampled_set(
    sys: &CompiledSystem,
    ranges: &[Range],
    count: usize,
    of: &[usize],
    watch: Watch,
) -> Result<SampledSet, AnalysisError> {
    if ranges.is_empty() || ranges.len() > BASES.len() {
        let text =
            format!("samples need 1 to {} ranges, not {}; name them with `over`", BASES.len(), ranges.len());
        return Err(AnalysisError::Key(text));
    }
    let mut sys = sys.clone();
    let model = sys.model();
    let mut values = model.live_values();
    let slots: Vec<Slot> = ranges.iter().map(|r| slot(&sys, &r.0)).collect::<Result<_, _>>()?;
    let mut at = Snapshot::new(&sys);
    let mut memory = Reduced::default();
    let mut out = SampledSet {
        count: 0,
        undefined: (0, None),
        irregular: 0,
        creating: 0,
        worst: None,
        eigenvalue: None,
        residual: None,
    };
    for i in 0..count {
        if watch.is_interrupted() {
            break;
        }
        if let Some(progress) = watch.progress {
            progress(i as f64 / count as f64);
        }
        let point: Vec<f64> = sample(i, ranges.len())
            .iter()
            .zip(ranges)
            .map(|(x, (_, [from, to]))| from + (to - from) * x)
            .collect();
        let changes: Vec<(Slot, f64)> = slots.iter().copied().zip(point.iter().copied()).collect();
        for (slot, v) in &changes {
            if let Slot::Parameter(k) = slot {
                values[*k] = *v;
            }
        }
        sys.set_parameters(&values);
        let mut one = || -> Result<SetFinding, AnalysisError> {
            at.state = match Place::start(&sys).and_then(|place| place.with(&sys, &changes)) {
                // a tensor that creates energy there is a finding, not a refusal
                Err(AnalysisError::Start(crate::sim::StartError::CreatesEnergy { .. })) => sys.start(),
                other => other?,
            };
            at.take(&sys)?;
            regular_set(sys.contacts(), &at, of, &mut memory)
        };
        match one() {
            Ok(f) => out.note(&point, &f),
            Err(e) => {
                out.undefined.0 += 1;
                out.undefined.1.get_or_insert_with(|| e.to_string());
            }
        }
    }
    if out.count == 0 && watch.is_interrupted() {
        return Err(AnalysisError::Interrupted);
    }
    if out.count == 0 {
        let why = out.undefined.1.unwrap_or_default();
        return Err(AnalysisError::Key(format!("no sample can be analysed: {why}")));
    }
    Ok(out)
}

impl SampledSet {
    fn note(&mut self, at: &[f64], f: &SetFinding) {
        self.count += 1;
        if !f.regular {
            self.irregular += 1;
            let value = f.worst.critical.unwrap_or(0.0);
            if self.worst.as_ref().is_none_or(|w| value < w.value) {
                let directions = f.directions.clone();
                self.worst = Some(Extreme { at: at.to_vec(), contact: None, value, directions });
            }
        }
        if f.contacts.iter().any(|c| c.eigenvalue < 0.0) {
            self.creating += 1;
        }
        for c in &f.contacts {
            let extreme = |value: f64| {
                Some(Extreme { at: at.to_vec(), contact: Some(c.contact), value, directions: Vec::new() })
            };
            if self.eigenvalue.as_ref().is_none_or(|w| c.eigenvalue < w.value) {
                self.eigenvalue = extreme(c.eigenvalue);
            }
            let residual = c.orthogonality.residual;
            if self.residual.as_ref().is_none_or(|w| residual > w.value) {
                self.residual = extreme(residual);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_the_corners_and_then_the_sequence_of_halton() {
        assert_eq!(sample(0, 2), [0.0, 0.0]);
        assert_eq!(sample(3, 2), [1.0, 1.0]);
        // 1/2, 1/4, 3/4 and 1/3, 2/3, 1/9
        let list: Vec<Vec<f64>> = (4..7).map(|i| sample(i, 2)).collect();
        for (point, (x, y)) in list.iter().zip([(0.5, 1.0 / 3.0), (0.25, 2.0 / 3.0), (0.75, 1.0 / 9.0)]) {
            assert!((point[0] - x).abs() < 1e-15 && (point[1] - y).abs() < 1e-15);
        }
    }
}
