//! Regularity of friction in tangent planes (VAG-5-REGULAR in space), at a state.
//!
//! ```text
//! D(k) = det{ w_Ni M⁻¹ [w_Nj − k μ_j Σ_t f_jt(d_j) w_Tjt]ᵀ },   regular: D(k) > 0 for all k > 0 and all admissible directions d          (33)
//! ```
//!
//! Admissible are the directions of slip of the velocities u = N a that keep every contact closed; a runs over the unit sphere. For each a the
//! determinant is a polynomial in k, decided as in the plane ([`super::tensor`]); the least critical k over a is looked for from [`LOOKS`]
//! directions (axes, then Halton's sequence) and followed downhill from the best. "Regular" is then no proof, but for one contact, whose least
//! critical factor G_NN/(μ |G_NT|) is found where there is one.

use super::AnalysisError;
use super::flat::unit;
use super::probe::free_motions;
use super::tensor::{Orthogonality, TensorRegularity, decide, orthogonality};
use super::tensor_set::{ContactTensor, MAX_RUBBING, SetFinding, sample};
use crate::linalg::{Lu, Mat};
use crate::system::{ContactInfo, Eval, Normal, Section};

/// Directions looked at.
const LOOKS: usize = 600;
/// Of these the best so many are followed.
const BEST: usize = 4;

/// Critical factor, its polynomial, directions of slip.
type Looked = (f64, TensorRegularity, Vec<Option<[f64; 3]>>);

/// Closed contacts with unknown reactions.
pub(super) struct Members {
    /// Contact, normal row, whether it rubs.
    pub set: Vec<(usize, usize, bool)>,
    pub left_out: Vec<usize>,
}

/// The finding from the mobilities `h` of the normals of the set and then of all tangents of those that rub.
///
/// # Errors
///
/// Too many contacts, dependent normals.
pub(super) fn regular_in_space(
    info: &[ContactInfo],
    eval: &Eval,
    closed: &[bool],
    members: &Members,
    h: &Mat,
) -> Result<SetFinding, AnalysisError> {
    let set = &members.set;
    let p = set.len();
    let rubbing: Vec<usize> = (0..p).filter(|&k| set[k].2).collect();
    if rubbing.len() > MAX_RUBBING {
        return Err(AnalysisError::TooMany { pairs: rubbing.len(), limit: 1 << MAX_RUBBING });
    }
    let b = Mat::from_fn(p, p, |i, j| h[(i, j)]);
    if Lu::default().factor(&b) <= 1e-12 {
        return Err(super::tensor_set::braced());
    }
    // places of the tangents
    let mut first = Vec::new();
    let mut next = p;
    for &k in &rubbing {
        first.push(next);
        next += info[set[k].0].tangent.len();
    }
    let contacts =
        rubbing.iter().zip(&first).map(|(&k, &at)| tensor(info, eval, set[k].0, k, at, h)).collect();

    let free = free_motions(info, eval, closed);
    let slips = |a: &[f64]| -> Vec<Option<[f64; 3]>> {
        let u: Vec<f64> =
            (0..free.rows()).map(|i| (0..free.cols()).map(|j| free[(i, j)] * a[j]).sum()).collect();
        let one = |&k: &usize| {
            let rows = &info[set[k].0].tangent;
            let size = rows.iter().map(|&r| eval.w.row(r).square().sqrt()).fold(0.0, f64::max);
            let v: [f64; 3] = std::array::from_fn(|t| rows.get(t).map_or(0.0, |&r| eval.w.row(r).dot(&u)));
            let length = v[0].hypot(v[1]).hypot(v[2]);
            if length > 1e-9 * size { unit(v) } else { None }
        };
        rubbing.iter().map(one).collect()
    };
    let signed: Vec<usize> = (0..rubbing.len())
        .filter(|&k| matches!(info[set[rubbing[k]].0].normal, Normal::Bilateral { .. }))
        .collect();
    let mut patterns = 0;
    // the worst of both signs of bilateral reactions
    let mut look = |a: &[f64]| -> Looked {
        let own = slips(a);
        let mut worst: Option<Looked> = None;
        for bits in 0..1_usize << signed.len() {
            patterns += 1;
            let mut d = own.clone();
            for (place, &k) in signed.iter().enumerate() {
                if bits >> place & 1 == 1 {
                    d[k] = d[k].map(|d| d.map(|v| -v));
                }
            }
            let mut c = Mat::zeros(p, p);
            for (k, d) in d.iter().enumerate() {
                let (Some(d), i) = (d, set[rubbing[k]].0) else { continue };
                let f = eval.section(i).push(*d);
                for t in 0..info[i].tangent.len().min(3) {
                    (0..p).for_each(|r| c[(r, rubbing[k])] += eval.mu[i] * f[t] * h[(r, first[k] + t)]);
                }
            }
            let one = decide(&b, &c);
            let factor = if one.regular { f64::INFINITY } else { one.critical.unwrap_or(0.0) };
            if worst.as_ref().is_none_or(|w| factor < w.0) {
                worst = Some((factor, one, d));
            }
        }
        worst.unwrap_or_else(|| (f64::INFINITY, decide(&b, &Mat::zeros(p, p)), own))
    };
    let (factor, a) = least(free.cols(), &mut |a| look(a).0);
    let (_, worst, slip) = look(&a);
    let directions = slip.iter().map(|s| f64::from(u8::from(s.is_some()))).collect();
    Ok(SetFinding {
        contacts,
        regular: factor == f64::INFINITY,
        worst,
        directions,
        slips: slip.into_iter().map(|s| s.unwrap_or([0.0; 3])).collect(),
        patterns,
        left_out: members.left_out.clone(),
    })
}

/// The unit vector with the least value, and the value.
fn least(n: usize, value: &mut dyn FnMut(&[f64]) -> f64) -> (f64, Vec<f64>) {
    if n == 0 {
        return (value(&[]), Vec::new());
    }
    let normal = |mut a: Vec<f64>| {
        let size = crate::linalg::dot(&a, &a).sqrt();
        a.iter_mut().for_each(|v| *v /= size);
        a
    };
    let mut tried: Vec<(f64, Vec<f64>)> = Vec::new();
    for k in 0..2 * n {
        let axis: Vec<f64> =
            (0..n).map(|j| if j == k / 2 { if k % 2 == 0 { 1.0 } else { -1.0 } } else { 0.0 }).collect();
        tried.push((value(&axis), axis));
    }
    // beyond twelve freedoms the last ones repeat the sequence
    for i in 0..LOOKS {
        let point = sample(i + 64, n.min(12));
        let a: Vec<f64> =
            (0..n).map(|j| 2.0 * point[j % point.len()] - 1.0 + 1e-3 * (j / 12) as f64).collect();
        if a.iter().any(|v| v.abs() > 1e-6) {
            let a = normal(a);
            tried.push((value(&a), a));
        }
    }
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best = tried[0].clone();
    for (mut here, mut a) in tried.into_iter().take(BEST).filter(|t| t.0.is_finite()) {
        let mut step = 0.3;
        while step > 1e-8 {
            let mut better = false;
            for k in 0..2 * n {
                let mut next = a.clone();
                next[k / 2] += if k % 2 == 0 { step } else { -step };
                let next = normal(next);
                let found = value(&next);
                if found < here {
                    (here, a, better) = (found, next, true);
                }
            }
            if !better {
                step *= 0.5;
            }
        }
        if here < best.0 {
            best = (here, a);
        }
    }
    best
}

/// Φ over the tangents and the normal, and the residual of (13).
fn tensor(
    info: &[ContactInfo],
    eval: &Eval,
    contact: usize,
    normal: usize,
    at: usize,
    h: &Mat,
) -> ContactTensor {
    let t = info[contact].tangent.len().min(2);
    let mu = eval.mu[contact];
    let block = match eval.section(contact) {
        Section::Tensor([a, b, c, d]) => [[mu * a, mu * b], [mu * c, mu * d]],
        Section::Ellipse([a, b]) => [[mu * a, 0.0], [0.0, mu * b]],
        _ => [[mu, 0.0], [0.0, mu]],
    };
    let size = t + 1;
    let phi = Mat::from_fn(size, size, |i, j| if i < t && j < t { block[i][j] } else { 0.0 });
    let place = |i: usize| if i < t { at + i } else { normal };
    let q = Mat::from_fn(size, size, |i, j| h[(place(i), place(j))]);
    let n: Vec<f64> = (0..size).map(|i| f64::from(u8::from(i == t))).collect();
    // lowest eigenvalue of the symmetric part; the normal adds a zero
    let lowest = if t < 2 {
        mu
    } else {
        let (mean, off) = (0.5 * (block[0][0] + block[1][1]), 0.5 * (block[0][1] + block[1][0]));
        mean - (0.5 * (block[0][0] - block[1][1])).hypot(off)
    };
    let orthogonality: Orthogonality = orthogonality(&phi, &q, &n);
    let rows = (0..size).map(|i| phi.row(i).to_vec()).collect();
    ContactTensor { contact, phi: rows, eigenvalue: lowest.min(0.0), orthogonality }
}
