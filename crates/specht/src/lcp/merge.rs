//! Repetitions removed from a list of solutions: equal points, points in a continuum, a continuum inside another.

use super::{Family, Lcp, Piece, Scale, Var};
use crate::linalg::Mat;

/// Difference below which two scaled solutions are one.
pub(super) const SAME: f64 = 1e-8;

/// A piece in scaled variables.
pub(super) struct Found {
    pub family: Option<Family>,
    pub open: Vec<Var>,
    pub z: Vec<f64>,
    pub w: Vec<f64>,
    pub choice: Vec<usize>,
}

impl Found {
    pub(super) fn restore(self, p: Lcp<'_>, scale: &Scale) -> Option<Piece> {
        if self.family.is_some() {
            let family = Box::new(Family::new(p, self.open)?);
            return Some(Piece::Family { family, choice: self.choice });
        }
        let z: Vec<f64> = self.z.iter().zip(&scale.col).map(|(z, c)| z * c).collect();
        let w: Vec<f64> = self.w.iter().zip(&scale.row).map(|(w, r)| w / r).collect();
        debug_assert_eq!(z.len(), p.dim());
        Some(Piece::Point { z, w, choice: self.choice })
    }

    fn value(&self, v: Var) -> f64 {
        match v {
            Var::W(i) => self.w[i],
            Var::Z(i) => self.z[i],
        }
    }

    fn size(&self) -> f64 {
        self.z.iter().chain(&self.w).fold(1e-300, |m: f64, x| m.max(x.abs()))
    }
}

/// Remove repetitions: families first, then points that lie in none of them.
pub(super) fn merge(found: Vec<Found>, observe: &Option<Mat>) -> Vec<Found> {
    let mut kept: Vec<Found> = Vec::new();
    let (mut families, points): (Vec<_>, Vec<_>) = found.into_iter().partition(|f| f.family.is_some());
    families.sort_by_key(|f| std::cmp::Reverse(f.open.len()));
    for mut f in families {
        if !kept.iter().any(|k| contains_family(k, &mut f)) {
            kept.push(f);
        }
    }
    // equal points first, that is cheap
    let mut distinct: Vec<Found> = Vec::new();
    for f in points {
        let size = f.size();
        let repeated = distinct.iter().any(|k| match observe {
            Some(o) => close(&product(o, &f.z), &product(o, &k.z), size),
            None => close(&f.z, &k.z, size),
        });
        if !repeated {
            distinct.push(f);
        }
    }
    // then points that are members of a continuum, or look like one
    distinct.retain(|f| {
        let zero = SAME * f.size();
        let is_member = kept.iter().any(|k| closed(k).all(|v| f.value(v) <= zero));
        let looks_like = |k: &Found| match (observe, &k.family) {
            (Some(o), Some(family)) => family.attains(o, &product(o, &f.z)),
            _ => false,
        };
        !is_member && !kept.iter().any(looks_like)
    });
    kept.extend(distinct);
    kept
}

/// The variables that `k` fixes at zero.
fn closed(k: &Found) -> impl Iterator<Item = Var> + '_ {
    let n = k.z.len();
    (0..n).map(Var::W).chain((0..n).map(Var::Z)).filter(|v| !k.open.contains(v))
}

/// Whether every member of `f` is in `k`: what `k` fixes at zero vanishes all over `f`.
fn contains_family(k: &Found, f: &mut Found) -> bool {
    let size = f.size();
    let candidates: Vec<Var> = closed(k).filter(|v| f.open.contains(v)).collect();
    if candidates.iter().any(|&v| f.value(v) > SAME * size) {
        return false; // already its vertex is not
    }
    let Some(family) = f.family.as_mut() else { return false };
    candidates.into_iter().all(|v| family.extent(v).hi <= SAME * size)
}

fn product(o: &Mat, z: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; o.rows()];
    o.mul_vec(z, &mut y);
    y
}

fn close(x: &[f64], y: &[f64], size: f64) -> bool {
    x.iter().zip(y).all(|(x, y)| (x - y).abs() <= SAME * size)
}
