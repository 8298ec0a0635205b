//! The friction at which uniqueness ends.
//!
//! One pair: μ_c = 1/|L| (ANH-4.2-CRIT); of a one-sided contact with L > 0 it is that of the other direction of sliding.
//! Several pairs: let all coefficients grow by one common factor s. Two questions have two answers.
//!
//! *Under the present load* ([`present_factor`]): the first s at which R⁰ has not exactly one solution; the critical coefficients
//! reported are s μ_α. Painlevé's scheme with two rough guides: both reactions are equal, and s is that of (5.86).
//!
//! *Under every load* ([`common_factor`]): the solution of (E + s L ε μ) R = R⁰ exists and is unique for every R⁰ as long as all
//! 2^m determinants det(E + s L ε μ) are positive (the map R ↦ R + s L μ |R| is then a homeomorphism: the P-property of the
//! horizontal complementarity problem). That ends at the first s > 0 at which one of them vanishes,
//!
//! ```text
//! 1/s_c = max over ε of the largest real eigenvalue of −L ε μ
//! ```
//!
//! Beyond s_c there are loads with several or no solutions; the present load need not be one of them. For one two-sided pair both
//! are 1/(μ|L|). A one-sided contact is pressed only, ε = 1: it has a critical factor where L < 0, and none where sliding lifts the pressure.
//! The value for one pair alone, all others kept, follows from the determinant being affine in its own coefficient.

use super::branches::{MAX_PAIRS, Patterns};
use super::journal::{REACH, STEP};
use super::painleve::Verdict;
use super::reactions::{Free, Reactions};
use crate::linalg::{Lu, Mat, eigenvalues};

/// Pairs above which the present load is not asked.
const PRESENT_PAIRS: usize = 10;
/// Factors nearer than this are the same.
const NEAR: f64 = 1e-10;
/// Eigenvalues below this, beside the entries of their matrix, are rounding.
const NONE: f64 = 1e-12;
/// Factors beyond are none.
const FARTHEST: f64 = 1e6;

/// s_c of every load; infinite when no factor is critical, `None` when there are more than `MAX_PAIRS` pairs.
pub fn common_factor(re: &Reactions) -> Option<f64> {
    Some(roots(re)?.into_iter().fold(f64::INFINITY, f64::min))
}

/// All s > 0 at which one of the determinants vanishes.
fn roots(re: &Reactions) -> Option<Vec<f64>> {
    let active: Vec<usize> = (0..re.len()).filter(|&a| re.pairs[a].mu > 0.0).collect();
    let m = active.len();
    if m > MAX_PAIRS {
        return None;
    }
    let entry = |a: usize, b: usize| re.index[(active[a], active[b])] * re.pairs[active[b]].mu;
    if m == 1 {
        let e = entry(0, 0);
        return Some(if re.pairs[active[0]].two_sided || e <= 0.0 {
            vec![1.0 / e.abs()]
        } else {
            Vec::new()
        });
    }
    // ε and −ε give opposite eigenvalues: half of the patterns suffices, both signs of the eigenvalue count. One-sided
    // pairs keep ε = 1 and have open patterns instead: principal submatrices, which count with their own sign.
    let two_sided = active.iter().all(|&a| re.pairs[a].two_sided);
    let mut all = Vec::new();
    let patterns = if two_sided { 1u32 << m.saturating_sub(1) } else { 1u32 << m };
    for pattern in 0..patterns {
        let list: Vec<usize> =
            (0..m).filter(|&a| re.pairs[active[a]].two_sided || pattern >> a & 1 == 0).collect();
        let a = Mat::from_fn(list.len(), list.len(), |i, j| {
            let (a, b) = (list[i], list[j]);
            let flip = re.pairs[active[b]].two_sided && pattern >> b & 1 == 1;
            entry(a, b) * if flip { -1.0 } else { 1.0 }
        });
        for e in eigenvalues(&a)? {
            let value = if two_sided { e.re.abs() } else { -e.re };
            if e.im.abs() <= 1e-9 * e.abs() && value > NONE * a.max_abs() {
                all.push(1.0 / value);
            }
        }
    }
    Some(all)
}

/// How many solutions the present load has, with all coefficients times a factor.
struct Present<'a> {
    re: Reactions,
    mu: Vec<f64>,
    free: Option<&'a Free>,
    patterns: Patterns,
}

impl<'a> Present<'a> {
    /// `None` when the sign patterns are not the whole problem, or there are too many.
    fn of(re: &Reactions, free: Option<&'a Free>) -> Option<Self> {
        let one_sided = re.pairs.iter().any(|p| !p.two_sided);
        let whole = re.all_slide() && re.redundant == 0 && re.len() <= PRESENT_PAIRS;
        if !whole || (one_sided && free.is_none()) {
            return None;
        }
        let mu = re.pairs.iter().map(|p| p.mu).collect();
        Some(Present { re: re.clone(), mu, free: free.filter(|_| one_sided), patterns: Patterns::default() })
    }

    fn verdict(&mut self, s: f64) -> Verdict {
        for (p, mu) in self.re.pairs.iter_mut().zip(&self.mu) {
            p.mu = s * mu;
        }
        self.patterns.run(&self.re, self.free);
        match self.patterns.found().len() {
            _ if self.patterns.line => Verdict::Family,
            0 => Verdict::None,
            1 => Verdict::Unique,
            _ => Verdict::Several,
        }
    }
}

/// The first common factor at which the present load has not one solution; infinite when there is none, `None` when it
/// cannot be told (zero slip, dependent constraints, more than ten pairs). Looked for in steps of [`STEP`] up to [`REACH`] or the last
/// vanishing determinant, and beside every one, then bisected.
pub(crate) fn present_factor(re: &Reactions, free: Option<&Free>) -> Option<f64> {
    if re.pairs.iter().filter(|p| p.tangent.is_some()).count() <= 1 {
        return common_factor(re);
    }
    let mut present = Present::of(re, free)?;
    let roots: Vec<f64> = roots(re)?.into_iter().filter(|s| *s <= FARTHEST).collect();
    // where influences all but cancel a root far away is not exact, and looked for by steps, too
    let reach = roots.iter().fold(REACH, |m, r| m.max(2.0 * r));
    let mut tried: Vec<f64> = std::iter::successors(Some(1.0 / REACH), |s| Some(s * STEP))
        .take_while(|s| *s <= reach)
        .chain(roots.iter().flat_map(|r| [r * (1.0 - 1e-7), r * (1.0 + 1e-7)]))
        .collect();
    tried.sort_by(f64::total_cmp);
    let mut lo = 0.0;
    for mut hi in tried {
        if present.verdict(hi) == Verdict::Unique {
            lo = hi;
            continue;
        }
        while hi - lo > NEAR * hi {
            let mid = 0.5 * (lo + hi);
            if present.verdict(mid) == Verdict::Unique { lo = mid } else { hi = mid }
        }
        // a vanishing determinant is known better
        let nearest = roots.iter().copied().find(|r| (r - hi).abs() <= 1e-8 * hi);
        return Some(nearest.unwrap_or(0.5 * (lo + hi)));
    }
    Some(f64::INFINITY)
}

/// On the border of a paradox, a determinant that vanishes to `NEAR`, the verdicts with a little less and a little more friction, when they
/// differ.
pub(crate) fn border(re: &Reactions, free: Option<&Free>) -> Option<[Verdict; 2]> {
    if !roots(re)?.iter().any(|s| (s - 1.0).abs() <= NEAR) {
        return None;
    }
    let mut present = Present::of(re, free)?;
    let sides = [1.0 - 1e-6, 1.0 + 1e-6].map(|s| present.verdict(s));
    (sides[0] != sides[1]).then_some(sides)
}

/// μ_c of every pair: 1/|L| for a single pair, s μ for several with their critical factor s; NaN where it is not defined (no friction
/// among several, no factor).
pub(crate) fn coefficients(re: &Reactions, factor: Option<f64>) -> Vec<f64> {
    let rubbing: Vec<usize> = (0..re.len()).filter(|&a| re.pairs[a].tangent.is_some()).collect();
    (0..re.len())
        .map(|a| match rubbing[..] {
            // an index of rounding is none, and no friction is critical
            [b] if a == b && re.index[(a, a)].abs() < 1e-12 => f64::INFINITY,
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
