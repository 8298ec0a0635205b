//! Paradoxes over the direction of slip: for which directions is the reaction of a sliding contact not the only possible one?
//!
//! The contact slides in the direction θ of its tangent plane, counted from its first tangent, and everything else is as at the state: position,
//! forces, slip of the others. For each θ the contact is one row ([`super::flat`]). Then
//!
//! * the *critical μ* over θ, looked for on [`STEPS`] directions and refined by golden section in every valley between them;
//! * *sectors* with several or no solutions: the verdict on the same directions and in every valley, the ends by bisection to 1e-12 rad.
//!
//! A sector narrower than a step is found where it lies in a valley of the critical μ, as every sector does that friction opens.
//!
//! One contact alone: λ_N = −b_N/(G_NN − μ G_NT·f(d)), so that μ_c = G_NN/(G_NT·f(d)); round: least G_NN/|G_NT| along G_NT.

use std::f64::consts::TAU;

use super::flat::Flat;
use super::painleve::{Classifier, Verdict};
use super::{AnalysisError, Snapshot};
use crate::system::ContactInfo;

/// Directions that are looked at first.
pub(crate) const STEPS: usize = 180;
/// Pairs up to which the critical factor of the whole set is looked for.
const MOST: usize = 6;

/// A range of directions with one verdict, other than one solution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sector {
    /// From, rad.
    pub from: f64,
    /// To, rad; more than `from`, at most 2π away.
    pub to: f64,
    /// What holds there.
    pub verdict: Verdict,
}

/// One contact over its directions of slip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlipMap {
    /// The contact.
    pub contact: usize,
    /// Its own direction of slip, rad; `None` at zero slip.
    pub slip: Option<f64>,
    /// The least critical coefficient, and its direction.
    pub least: f64,
    /// See `least`; NaN when no friction is critical.
    pub least_at: f64,
    /// Directions without exactly one solution.
    pub sectors: Vec<Sector>,
    /// (θ, critical μ), infinite where there is none.
    pub curve: Vec<[f64; 2]>,
}

/// Over all directions of the slip of contact `i` at a state that was taken.
///
/// # Errors
///
/// As at one state.
pub(crate) fn slip_map(info: &[ContactInfo], at: &Snapshot, i: usize) -> Result<SlipMap, AnalysisError> {
    let own = super::flat::slip(&info[i], &at.eval, &at.state.u);
    let slides = at.direction(i) != 0.0;
    let mut look = Look { info, at, contact: i, classifier: Classifier::default() };
    let angle = |k: usize| TAU * k as f64 / STEPS as f64;
    let mut curve = Vec::with_capacity(STEPS);
    let mut points: Vec<(f64, Verdict)> = Vec::new();
    for k in 0..STEPS {
        let (mu, verdict) = look.at(angle(k))?;
        curve.push([angle(k), mu]);
        points.push((angle(k), verdict));
    }
    // valleys: the least critical μ, and sectors narrower than a step
    let (mut least, mut least_at) = (f64::INFINITY, f64::NAN);
    for k in 0..STEPS {
        let (before, here, after) =
            (curve[(k + STEPS - 1) % STEPS][1], curve[k][1], curve[(k + 1) % STEPS][1]);
        if !(here <= before && here <= after && here.is_finite()) {
            continue;
        }
        let (theta, mu) = look.valley(angle(k) - angle(1), angle(k) + angle(1))?;
        if mu < least {
            (least, least_at) = (mu, theta.rem_euclid(TAU));
        }
        let (_, verdict) = look.at(theta)?;
        points.push((theta.rem_euclid(TAU), verdict));
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    let sectors = look.sectors(&points)?;
    let slip = slides.then(|| own[1].atan2(own[0]).rem_euclid(TAU));
    Ok(SlipMap { contact: i, slip, least, least_at, sectors, curve })
}

struct Look<'a> {
    info: &'a [ContactInfo],
    at: &'a Snapshot,
    contact: usize,
    classifier: Classifier,
}

impl Look<'_> {
    /// Critical μ of the contact, and the verdict.
    fn at(&mut self, angle: f64) -> Result<(f64, Verdict), AnalysisError> {
        let flat = Flat::new(self.info, self.at, Some((self.contact, angle)))?;
        let class = self.classifier.classify_flat(&flat.info, &flat.at)?;
        let re = &self.classifier.reactions;
        let Some(k) = re.pair_of(self.contact) else {
            return Ok((f64::INFINITY, class.verdict));
        };
        let (pair, own) = (re.pairs[k], re.index[(k, k)]);
        let rubbing = re.pairs.iter().filter(|p| p.tangent.is_some()).count();
        let mu = if rubbing <= 1 {
            // a contact that can open needs a reaction that friction diminishes
            if own < 0.0 || pair.two_sided { 1.0 / own.abs() } else { f64::INFINITY }
        } else {
            let factor = self.classifier.critical_factor(MOST).unwrap_or(f64::INFINITY);
            factor * pair.mu
        };
        Ok((if mu > 1e12 { f64::INFINITY } else { mu }, class.verdict))
    }

    /// The least critical μ between two directions, by golden section.
    fn valley(&mut self, mut a: f64, mut b: f64) -> Result<(f64, f64), AnalysisError> {
        let part = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut x, mut y) = (b - part * (b - a), a + part * (b - a));
        let (mut fx, mut fy) = (self.at(x)?.0, self.at(y)?.0);
        while b - a > 1e-9 {
            if fx <= fy {
                (b, y, fy) = (y, x, fx);
                x = b - part * (b - a);
                fx = self.at(x)?.0;
            } else {
                (a, x, fx) = (x, y, fy);
                y = a + part * (b - a);
                fy = self.at(y)?.0;
            }
        }
        Ok(if fx <= fy { (x, fx) } else { (y, fy) })
    }

    /// Where the verdict changes between neighbours.
    fn sectors(&mut self, points: &[(f64, Verdict)]) -> Result<Vec<Sector>, AnalysisError> {
        let n = points.len();
        let mut ends = Vec::new();
        for k in 0..n {
            let (from, before) = points[k];
            let (to, after) = points[(k + 1) % n];
            if before == after {
                continue;
            }
            let (mut lo, mut hi) = (from, if k + 1 < n { to } else { to + TAU });
            while hi - lo > 1e-12 {
                let mid = 0.5 * (lo + hi);
                if mid <= lo || mid >= hi {
                    break;
                }
                if self.at(mid)?.1 == before { lo = mid } else { hi = mid }
            }
            ends.push((0.5 * (lo + hi), after));
        }
        if ends.is_empty() {
            let verdict = points[0].1;
            let whole = Sector { from: 0.0, to: TAU, verdict };
            return Ok(if verdict == Verdict::Unique { Vec::new() } else { vec![whole] });
        }
        let count = ends.len();
        let sector = |k: usize| {
            let (from, verdict) = ends[k];
            let to = if k + 1 < count { ends[k + 1].0 } else { ends[0].0 + TAU };
            Sector { from, to, verdict }
        };
        Ok((0..count).map(sector).filter(|s| s.verdict != Verdict::Unique).collect())
    }
}
