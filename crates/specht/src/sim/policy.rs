//! Which solution to follow when the rigid force problem has several or none (ANH-1.3-SELECT, ANH-4.3-LIMIT).
//!
//! | policy | several | none |
//! |---|---|---|
//! | continuous | the one that continues the previous forces; if none does, as compliant | tangential impact |
//! | compliant | the limit of contact stiffness → ∞ | tangential impact |
//! | painleve | the reactions nearest to those without friction: the smallest | the run ends: he found the laws incompatible |
//! | klein | as Painlevé: the stable branch | the slip stops at once, which is the tangential impact |
//! | stop | the run ends | the run ends |
//!
//! *The compliant limit.* One two-sided pair with reactions R₊ (of the sign of R⁰) and R₋: μ|L| = p = (|R₋| + |R₊|)/(|R₋| − |R₊|)
//! and R⁰ = (1 + p) R₊, so the two solutions tell the portrait. From a reaction x = R/R⁰ at rest the fast motion stays
//! about R₊ iff x₋ < x < x_max (Theorem 8); otherwise it grows without bound. One one-sided pair, open or closed
//! (PG-5.3-ROD): the closed branch is the saddle, a force above it grows, one below it leads to lift-off. Several pairs: the
//! fast motion is followed from the previous reactions ([`Fast`]). Without previous forces the reactions start at zero.

use crate::contact::{Fast, Fate, Forces, SolutionSet, Status};

use super::settings::Policy;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    /// Follow this solution.
    Take(usize),
    /// Velocities jump.
    Impact,
    /// End the run.
    Stop,
}

/// Choose; `previous` are the forces just before, when there were any, `fast` makes the fast motion of the pairs when it
/// is needed.
pub(crate) fn choose(
    policy: Policy,
    set: &SolutionSet,
    previous: Option<&Forces>,
    fast: &dyn Fn() -> Option<Fast>,
) -> Choice {
    match set.status {
        Status::Unique => Choice::Take(0),
        Status::Family if policy != Policy::Stop => {
            Choice::Take(nearest(set, previous).map_or(0, |(k, _)| k))
        }
        Status::Several => match policy {
            Policy::Stop => Choice::Stop,
            Policy::Painleve | Policy::Klein => Choice::Take(0),
            Policy::Compliant => compliant(set, previous, fast),
            Policy::Continuous => match nearest(set, previous) {
                Some((k, distance)) if distance <= CONTINUOUS => Choice::Take(k),
                _ => compliant(set, previous, fast),
            },
        },
        Status::None if !matches!(policy, Policy::Stop | Policy::Painleve) => Choice::Impact,
        _ => Choice::Stop,
    }
}

/// Forces that differ by less than this, relative to the largest, continue each other.
const CONTINUOUS: f64 = 1e-3;

/// The solution nearest to the previous normal forces, and its relative distance.
fn nearest(set: &SolutionSet, previous: Option<&Forces>) -> Option<(usize, f64)> {
    let previous = previous?;
    set.solutions
        .iter()
        .enumerate()
        .map(|(k, s)| {
            let (mut difference, mut size) = (0.0_f64, f64::MIN_POSITIVE);
            for (a, b) in s.forces.normal.iter().zip(&previous.normal) {
                difference = difference.max((a - b).abs());
                size = size.max(a.abs()).max(b.abs());
            }
            (k, difference / size)
        })
        .min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The branch that attracts from the present forces, or the impact.
fn compliant(set: &SolutionSet, previous: Option<&Forces>, fast: &dyn Fn() -> Option<Fast>) -> Choice {
    let now = |i: usize| previous.map_or(0.0, |f| f.normal.get(i).copied().unwrap_or(0.0));
    let fast = fast();
    // one pair: exact
    if let [a, b] = &set.solutions[..]
        && let Some([pair]) = fast.as_ref().map(|f| &f.pairs[..])
    {
        let i = pair.contact;
        let (near, far) = (a.forces.normal[i], b.forces.normal[i]);
        let stays = if pair.two_sided {
            let p = (far.abs() + near.abs()) / (far.abs() - near.abs());
            let x = now(i) / (near * (1.0 + p));
            x > -1.0 / (p - 1.0) && x < (1.0 + (2.0 * p / (p - 1.0)).sqrt()) / (1.0 + p)
        } else {
            now(i) <= far.max(near) * (1.0 + CONTINUOUS)
        };
        return if stays { Choice::Take(0) } else { Choice::Impact };
    }
    // several pairs: follow the fast motion
    if let Some(fast) = fast {
        let of = |f: &Forces| fast.pairs.iter().map(|p| f.normal[p.contact]).collect::<Vec<f64>>();
        let stationary: Vec<Vec<f64>> = set.solutions.iter().map(|s| of(&s.forces)).collect();
        let start: Vec<f64> = fast.pairs.iter().map(|p| now(p.contact)).collect();
        let m = fast.pairs.len();
        match fast.follow(&stationary, &vec![1.0; m], &start, &vec![0.0; m], 0.02) {
            Fate::Settles(k) => return Choice::Take(k),
            Fate::Diverges(_) => return Choice::Impact,
            Fate::Undecided => {}
        }
    }
    // stick among the possibilities, or nothing known: the smaller forces
    Choice::Take(nearest(set, previous).map_or(0, |(k, _)| k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{FastPair, Solution};
    use crate::linalg::Mat;

    fn set(normals: &[f64]) -> SolutionSet {
        let solution = |&n: &f64| Solution {
            modes: vec![],
            signs: vec![],
            forces: Forces { normal: vec![n], ..Forces::default() },
            residual: 0.0,
            degenerate: vec![],
            alternatives: vec![],
            family: None,
        };
        SolutionSet {
            status: if normals.is_empty() { Status::None } else { Status::Several },
            solutions: normals.iter().map(solution).collect(),
            families: vec![],
            complete: true,
            redundant: 0,
        }
    }

    /// ANH-1.3-SELECT: each rule in a state with two solutions and in one without.
    #[test]
    fn anh_1_3_select_every_rule() {
        // p = 1.6, R0 = 4: R+ = 1.538, R- = -6.667, x_max = 1.31
        let two = set(&[4.0 / 2.6, -4.0 / 0.6]);
        let pair = FastPair { contact: 0, direction: 1.0, mu: 0.8, two_sided: true };
        let fast = || Some(Fast { h: Mat::identity(2), c: vec![-4.0], pairs: vec![pair] });
        let from = |r: f64| Forces { normal: vec![r], ..Forces::default() };
        let ask = |p: Policy, r: f64| choose(p, &two, Some(&from(r)), &fast);
        assert_eq!(ask(Policy::Compliant, 0.0), Choice::Take(0));
        assert_eq!(ask(Policy::Compliant, -6.6), Choice::Take(0));
        assert_eq!(ask(Policy::Compliant, -6.7), Choice::Impact);
        let x_max = (1.0 + (3.2_f64 / 0.6).sqrt()) / 2.6;
        assert_eq!(ask(Policy::Compliant, 4.0 * x_max - 0.01), Choice::Take(0));
        assert_eq!(ask(Policy::Compliant, 4.0 * x_max + 0.01), Choice::Impact);
        // continuity keeps even the saddle
        assert_eq!(ask(Policy::Continuous, -4.0 / 0.6), Choice::Take(1));
        assert_eq!(ask(Policy::Continuous, -8.0), Choice::Impact);
        for p in [Policy::Painleve, Policy::Klein] {
            assert_eq!(ask(p, -8.0), Choice::Take(0));
        }
        assert_eq!(ask(Policy::Stop, 1.0), Choice::Stop);
        let none = |p: Policy| choose(p, &set(&[]), None, &fast);
        for p in [Policy::Continuous, Policy::Compliant, Policy::Klein] {
            assert_eq!(none(p), Choice::Impact);
        }
        assert_eq!(none(Policy::Painleve), Choice::Stop);
        assert_eq!(none(Policy::Stop), Choice::Stop);
    }
}
