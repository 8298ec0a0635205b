//! The cone problem of a step against the complete solution set of the same problem by modes, on random systems.

use super::impulses::{Ended, Impulses, Step};
use crate::contact::tests::{Bench, Random};
use crate::contact::{Start, Status as Set};
use crate::lcp::Solver;
use crate::linalg::Mat;
use crate::sim::Policy;
use crate::system::{Dims, Mode, Normal};

fn vector(r: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| r.normal()).collect()
}

/// Random planar contacts of every kind on `n` velocities; `large` coefficients make paradoxes possible.
fn random_system(r: &mut Random, n: usize, contacts: usize, mixed: bool, mu_max: f64) -> Bench {
    let a = Mat::from_fn(n, n, |_, _| r.normal());
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.5);
    let mut b = Bench::new(mass, &vector(r, n));
    for _ in 0..contacts {
        let (w_n, w_t) = (vector(r, n), vector(r, n));
        let (o_n, o_t) = (r.normal(), r.normal());
        let mu = r.within(0.0, mu_max);
        match if mixed { r.below(6) } else { 0 } {
            3 => b.bilateral((&w_n, o_n), Some((&w_t, o_t)), 0.3 * mu),
            4 => b.given((&w_t, o_t), mu, r.within(0.0, 2.0)),
            5 if n > 3 => {
                let other = vector(r, n);
                b.pin([(&w_n, o_n), (&other, 0.0)], Some((&w_t, o_t)), 0.1 * mu)
            }
            _ => b.unilateral((&w_n, o_n), (r.unit() < 0.9).then_some((&w_t[..], o_t)), mu),
        };
    }
    b
}

/// The answer of the cone solver alone, and that of the whole scheme: velocities, or none.
fn by_cones(b: &Bench) -> (Impulses, Option<Vec<f64>>, Option<Vec<f64>>) {
    let d = Dims { u: b.eval.h.len(), rows: b.eval.w.rows(), contacts: b.info.len(), ..Dims::default() };
    let active = vec![true; b.info.len()];
    let modes = vec![Mode::Open; b.info.len()];
    let step = Step {
        info: &b.info,
        eval: &b.eval,
        delta: 1.0,
        momentum: &b.eval.h,
        offset: &b.eval.accel_offset,
        active: &active,
        policy: Policy::Continuous,
        modes: &modes,
        previous: None,
    };
    let mut whole = Impulses::new(&d);
    let ended = matches!(whole.solve(&step), Ended::Solved(_));
    let mut impulses = Impulses::new(&d);
    let found = impulses.by_cones(&step).unwrap_or_else(|e| panic!("{e}"));
    let u = found.then(|| impulses.u.clone());
    (impulses, u, ended.then_some(whole.u))
}

fn near(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().chain(b).fold(1.0_f64, |m, v| m.max(v.abs()));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-6 * size)
}

/// PG-6-LCP, METH-CONE-MIXED: unilateral contacts, guides, journals and given loads with moderate friction: the answer through cones
/// is in the complete solution set; modes agree where it is unique and nothing stands on a border.
#[test]
fn pg_6_lcp_a_step_through_cones_is_one_of_all_solutions_by_modes() {
    let mut r = Random(20);
    let (mut solved, mut several, mut modes_equal, mut missed) = (0, 0, 0, 0);
    for case in 0..1500 {
        let (n, contacts) = (2 + r.below(6), 1 + r.below(4));
        let b = random_system(&mut r, n, contacts, case % 2 == 0, 0.8);
        let bilateral: usize = b
            .info
            .iter()
            .map(|c| match c.normal {
                Normal::Bilateral { .. } => 1,
                Normal::Pin { .. } => 2,
                _ => 0,
            })
            .sum();
        if bilateral >= n {
            continue;
        }
        let set = b.transition(&vec![Start::Zero; b.info.len()]);
        let (impulses, u, whole) = by_cones(&b);
        if set.status == Set::Unique {
            let whole = whole.unwrap_or_else(|| panic!("case {case}: no step"));
            assert!(near(&set.solutions[0].forces.accel, &whole), "case {case}");
        }
        let Some(u) = u else {
            // rounds of journals may run away where the solution is nearly singular; the scheme asks for modes then
            missed += usize::from(set.status == Set::Unique);
            continue;
        };
        solved += 1;
        several += usize::from(set.status == Set::Several);
        let known = set.solutions.iter().any(|s| near(&s.forces.accel, &u));
        let inside = set.families.iter().any(|f| {
            f.accel
                .iter()
                .zip(&u)
                .all(|(i, v)| *v >= i[0] - 1e-6 * (1.0 + v.abs()) && *v <= i[1] + 1e-6 * (1.0 + v.abs()))
        });
        assert!(known || inside, "case {case}: {u:?} is none of {:?}", set.solutions);
        if set.status == Set::Unique
            && set.families.is_empty()
            && !set.solutions[0].degenerate.contains(&true)
        {
            assert_eq!(impulses.modes, set.solutions[0].modes, "case {case}");
            modes_equal += 1;
        }
    }
    println!(
        "solved {solved}, of them with several solutions {several}, modes compared {modes_equal}, not found {missed}"
    );
    assert!(solved > 1200 && several > 0 && modes_equal > 1000 && missed == 0);
}

/// PG-6-LCP: 12 to 40 planar contacts, more patterns than can be searched: the transition problem of the event-driven scheme falls
/// to Lemke's method on the reduced complementarity problem, and that and the cones give the same accelerations.
#[test]
fn pg_6_lcp_lemke_and_cones_give_the_same_accelerations_of_many_contacts() {
    let mut r = Random(21);
    let mut compared = 0;
    for case in 0..40 {
        let contacts = 12 + r.below(29);
        let b = random_system(&mut r, 2 * contacts + 4, contacts, false, 0.3);
        let starts = vec![Start::Zero; b.info.len()];
        let (_, u, _) = by_cones(&b);
        let u = u.unwrap_or_else(|| panic!("case {case}: not solved"));
        let mut t = crate::contact::Transition::default();
        let set = t.solve(&b.info, &b.eval, &starts);
        if let Some(solution) = set.solutions.first() {
            assert!(near(&solution.forces.accel, &u), "case {case}: the transition");
            assert!(solution.residual < 1e-8, "case {case}: {}", solution.residual);
        }
        let form = t.reduced_form(&b.info, &b.eval, &starts).unwrap();
        let mut lcp = Solver::default();
        if !lcp.solve(form.lcp()).is_solved() {
            continue;
        }
        let forces = t.forces_of(&b.info, &b.eval, &starts, &form.x(&lcp.z));
        assert!(near(&forces.accel, &u), "case {case}");
        compared += usize::from(!set.solutions.is_empty());
    }
    assert!(compared >= 35, "{compared}");
}
