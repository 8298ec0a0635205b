//! Which solution to follow when the rigid force problem has several or none (ANH-1.3-SELECT, ANH-4.3-LIMIT).
//!
//! | policy | several | none |
//! |---|---|---|
//! | continuous | the one that continues the previous forces; if none does, as compliant | tangential impact |
//! | compliant | the limit of contact stiffness → ∞ | tangential impact |
//! | painleve | the signs of the reactions without friction; of several such, the nearest to these | the run ends: he found the laws incompatible |
//! | klein | as Painlevé: the stable branch | the slip stops at once, which is the tangential impact |
//! | stop | the run ends | the run ends |
//!
//! *The compliant limit.* One two-sided pair with reactions R₊ (of the sign of R⁰) and R₋: μ|L| = p = (|R₋| + |R₊|)/(|R₋| − |R₊|)
//! and R⁰ = (1 + p) R₊, so the two solutions tell the portrait. From a reaction x = R/R⁰ at rest the fast motion stays
//! about R₊ iff x₋ < x < x_max (Theorem 8); otherwise it grows without bound. One one-sided pair, open or closed
//! (PG-5.3-ROD): the closed branch is the saddle, a force above it grows, one below it leads to lift-off. Anything else, with
//! any mixture of stick, slip and lift-off: the fast motion is followed from the previous reactions ([`Fast`]). Without
//! previous forces the reactions start at zero; after an impact they come down from its impulse, without rebound. A small
//! damping decides (2 % of critical); where the reactions would then swing for ever (a pair that sticks and slips with every
//! swing) it is raised until they come to rest.

use crate::contact::{Fast, Fate, Forces, SolutionSet, Status};
use crate::linalg::max_abs;

use super::settings::Policy;
use super::tolerances::{CONTINUOUS, SIGN};

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

/// Choose; `before` tells of the forces just before, `limit` chooses as contact stiffness → ∞ does and `frictionless` gives the normal
/// forces per contact without their friction, when these are needed.
pub(crate) fn choose(
    policy: Policy,
    set: &SolutionSet,
    before: Before,
    limit: &dyn Fn() -> Choice,
    frictionless: &dyn Fn() -> Option<Vec<f64>>,
) -> Choice {
    let previous = before.forces();
    match set.status {
        Status::Unique => Choice::Take(0),
        Status::Family if policy != Policy::Stop => {
            Choice::Take(nearest(set, previous).map_or(0, |(k, _)| k))
        }
        Status::Several => match policy {
            Policy::Stop => Choice::Stop,
            Policy::Painleve | Policy::Klein => Choice::Take(painleve(set, frictionless())),
            Policy::Compliant => limit(),
            Policy::Continuous => match nearest(set, previous) {
                Some((k, distance)) if distance <= CONTINUOUS => Choice::Take(k),
                _ => limit(),
            },
        },
        Status::None if !matches!(policy, Policy::Stop | Policy::Painleve) => Choice::Impact,
        _ => Choice::Stop,
    }
}

/// Painlevé's principle: signs as without friction as far as possible, then the nearest forces. One pair: the smaller one.
fn painleve(set: &SolutionSet, frictionless: Option<Vec<f64>>) -> usize {
    let Some(r0) = frictionless else { return 0 };
    let size =
        set.solutions.iter().flat_map(|s| &s.forces.normal).chain(&r0).fold(0.0, |m: f64, r| m.max(r.abs()));
    let sign = |r: f64| if r.abs() <= SIGN * size { 0 } else { r.signum() as i32 };
    let measure = |k: usize| {
        let pairs = set.solutions[k].forces.normal.iter().zip(&r0);
        let wrong = pairs.clone().filter(|(r, r0)| sign(**r) != sign(**r0)).count();
        (wrong, pairs.map(|(r, r0)| (r - r0).abs()).fold(0.0, f64::max))
    };
    let less = |a: &(usize, f64), b: &(usize, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    (0..set.solutions.len()).min_by(|a, b| less(&measure(*a), &measure(*b))).unwrap_or(0)
}

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

/// What is known of the reactions just before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Before<'a> {
    /// Nothing: they start at zero.
    #[default]
    Nothing,
    /// Forces.
    Forces(&'a Forces),
    /// An impact: the impulse per row. The reactions come down from beyond all finite ones.
    Impulse(&'a [f64]),
}

impl<'a> Before<'a> {
    pub(super) fn forces(self) -> Option<&'a Forces> {
        match self {
            Before::Forces(f) => Some(f),
            _ => None,
        }
    }

    /// Where the reactions start, and the damping: as little as decides, or so much that nothing rebounds.
    fn start(self, fast: &Fast, size: f64) -> (Vec<f64>, f64) {
        let rows = |lambda: &[f64]| -> Vec<f64> {
            fast.normals.iter().map(|n| lambda.get(n.row).copied().unwrap_or(0.0)).collect()
        };
        match self {
            Before::Nothing => (vec![0.0; fast.normals.len()], 0.02),
            Before::Forces(f) => (rows(&f.lambda), 0.02),
            Before::Impulse(lambda) => {
                let mut r = rows(lambda);
                let largest = max_abs(&r);
                if largest > 0.0 {
                    r.iter_mut().for_each(|v| *v *= 10.0 * size / largest);
                }
                (r, 1.0)
            }
        }
    }
}

/// Where the reactions of the fast motion go.
pub(crate) fn fate(set: &SolutionSet, before: Before, fast: &Fast) -> Fate {
    let stationary: Vec<Vec<f64>> = set
        .solutions
        .iter()
        .map(|s| {
            let rows = fast.normals.iter().map(|n| n.row).chain(fast.tangents.iter().map(|t| t.row));
            rows.map(|row| s.forces.lambda[row]).collect()
        })
        .collect();
    let natural = (0..fast.normals.len()).map(|a| (fast.c[a] / fast.h[(a, a)]).abs());
    let size = stationary.iter().map(|s| max_abs(s)).chain(natural).fold(0.0, f64::max);
    let (start, least) = before.start(fast, size);
    // a cycle: the least damping with which it comes to an end
    let mut damping = least;
    loop {
        let fate = fast.follow(&stationary, &start, &vec![0.0; start.len()], damping);
        if fate != Fate::Undecided || damping >= 1.0 {
            return fate;
        }
        damping *= 8.0;
    }
}

/// The branch that attracts from the present forces, or the impact; `fast`: the fast motion of the pairs, where it can be posed.
pub(crate) fn compliant(set: &SolutionSet, before: Before, fast: Option<Fast>) -> Choice {
    let now = |i: usize| before.forces().map_or(0.0, |f| f.normal.get(i).copied().unwrap_or(0.0));
    // one sliding pair: exact
    if let ([a, b], Some(f)) = (&set.solutions[..], &fast)
        && f.is_one_sliding_pair()
    {
        let i = f.normals[0].contact;
        let (near, far) = (a.forces.normal[i], b.forces.normal[i]);
        let stays = if f.normals[0].two_sided {
            let p = (far.abs() + near.abs()) / (far.abs() - near.abs());
            let x = now(i) / (near * (1.0 + p));
            x > -1.0 / (p - 1.0) && x < (1.0 + (2.0 * p / (p - 1.0)).sqrt()) / (1.0 + p)
        } else {
            now(i) <= far.max(near) * (1.0 + CONTINUOUS)
        };
        return if stays { Choice::Take(0) } else { Choice::Impact };
    }
    match fast.map(|f| fate(set, before, &f)) {
        Some(Fate::Settles(k)) => Choice::Take(k),
        Some(Fate::Diverges(_)) => Choice::Impact,
        // nothing known, or a cycle: the nearest forces, else the smallest
        _ => nearest_or_smallest(set, before),
    }
}

/// The solution nearest to the forces before, or the smallest.
pub(crate) fn nearest_or_smallest(set: &SolutionSet, before: Before) -> Choice {
    Choice::Take(nearest(set, before.forces()).map_or(0, |(k, _)| k))
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
        let fast = || Some(Fast::sliding(&Mat::identity(2), &[-4.0], &[pair]));
        let from = |r: f64| Forces { normal: vec![r], ..Forces::default() };
        let ask = |p: Policy, r: f64| {
            let from = from(r);
            let before = Before::Forces(&from);
            choose(p, &two, before, &|| compliant(&two, before, fast()), &|| Some(vec![4.0]))
        };
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
        let none = |p: Policy| choose(p, &set(&[]), Before::Nothing, &|| Choice::Stop, &|| None);
        for p in [Policy::Continuous, Policy::Compliant, Policy::Klein] {
            assert_eq!(none(p), Choice::Impact);
        }
        assert_eq!(none(Policy::Painleve), Choice::Stop);
        assert_eq!(none(Policy::Stop), Choice::Stop);
    }
}
