//! The friction at which uniqueness ends.
//!
//! One pair: μ_c = 1/|L| (ANH-4.2-CRIT); of a one-sided contact with L > 0 it is that of the other direction of sliding. Several pairs: let all coefficients grow by one common factor s. The solution of
//! (E + s L ε μ) R = R⁰ exists and is unique *for every R⁰* as long as all 2^m determinants det(E + s L ε μ) are positive
//! (the map R ↦ R + s L μ |R| is then a homeomorphism: the P-property of the horizontal complementarity problem). The
//! critical factor s_c is the first s > 0 at which one of them vanishes,
//!
//! ```text
//! 1/s_c = max over ε of the largest real eigenvalue of −L ε μ,       μ_c,α = s_c μ_α
//! ```
//!
//! and the critical coefficients reported are s_c μ_α; for one pair this is 1/|L| whatever μ. Beyond s_c there are loads
//! with several or no solutions, the present load need not be one of them. The value for one pair alone, all others
//! kept, follows from the determinant being affine in its own coefficient.

use super::branches::MAX_PAIRS;
use super::reactions::Reactions;
use crate::linalg::{Lu, Mat, eigenvalues};

/// s_c; infinite when no factor is critical, `None` when there are more than [`MAX_PAIRS`] pairs.
pub fn common_factor(re: &Reactions) -> Option<f64> {
    let active: Vec<usize> = (0..re.len()).filter(|&a| re.pairs[a].mu > 0.0).collect();
    let m = active.len();
    if m > MAX_PAIRS {
        return None;
    }
    if m == 0 {
        return Some(f64::INFINITY);
    }
    let entry = |a: usize, b: usize| re.index[(active[a], active[b])] * re.pairs[active[b]].mu;
    if m == 1 {
        return Some(1.0 / entry(0, 0).abs());
    }
    // ε and −ε give opposite eigenvalues: half of the patterns suffices, both signs of the eigenvalue count. One-sided
    // pairs keep ε = 1 and have open patterns instead: principal submatrices, which count with their own sign.
    let two_sided = active.iter().all(|&a| re.pairs[a].two_sided);
    let mut largest = 0.0_f64;
    let patterns = if two_sided { 1u32 << (m - 1) } else { 1u32 << m };
    for pattern in 0..patterns {
        let list: Vec<usize> =
            (0..m).filter(|&a| re.pairs[active[a]].two_sided || pattern >> a & 1 == 0).collect();
        let a = Mat::from_fn(list.len(), list.len(), |i, j| {
            let (a, b) = (list[i], list[j]);
            let flip = re.pairs[active[b]].two_sided && pattern >> b & 1 == 1;
            entry(a, b) * if flip { -1.0 } else { 1.0 }
        });
        for e in eigenvalues(&a)? {
            if e.im.abs() <= 1e-9 * e.abs() {
                largest = largest.max(if two_sided { e.re.abs() } else { -e.re });
            }
        }
    }
    Some(1.0 / largest)
}

/// μ_c of every pair: 1/|L| for a single pair, s_c μ for several; NaN where it is not defined (no friction among several).
pub fn coefficients(re: &Reactions, factor: Option<f64>) -> Vec<f64> {
    let rubbing: Vec<usize> = (0..re.len()).filter(|&a| re.pairs[a].tangent.is_some()).collect();
    (0..re.len())
        .map(|a| match rubbing[..] {
            [b] if a == b => 1.0 / re.index[(a, a)].abs(),
            _ if re.pairs[a].tangent.is_none() || re.pairs[a].mu == 0.0 => f64::NAN,
            _ => factor.map_or(f64::NAN, |s| s * re.pairs[a].mu),
        })
        .collect()
}

/// The smallest μ of pair `a` alone at which some determinant vanishes, the others kept as they are; infinite when none does.
pub fn alone(re: &Reactions, a: usize) -> f64 {
    let m = re.len();
    if m > MAX_PAIRS {
        return f64::NAN;
    }
    let mut least = f64::INFINITY;
    let mut lu = Lu::default();
    for pattern in 0..1u32 << m {
        if pattern >> a & 1 == 1 {
            continue;
        }
        // det is affine in μ_a ε_a: value at 0 and slope
        let mut det = [0.0; 2];
        for (k, d) in det.iter_mut().enumerate() {
            let mat = Mat::from_fn(m, m, |i, j| {
                let e = if re.pairs[j].two_sided && pattern >> j & 1 == 1 { -1.0 } else { 1.0 };
                let mu = if j == a { k as f64 } else { e * re.pairs[j].mu };
                f64::from(u8::from(i == j)) + re.index[(i, j)] * mu
            });
            lu.factor(&mat);
            *d = lu.det();
        }
        let root = -det[0] / (det[1] - det[0]);
        let root = if re.pairs[a].two_sided { root.abs() } else { root };
        if root > 0.0 {
            least = least.min(root);
        }
    }
    least
}
