//! Many contacts of few bodies: as many patterns of modes as 4⁴⁰, but few accelerations.

use super::*;
use crate::modes::search::Search;

/// A table in the plane, x, y, angle: feet at `feet` below the centre of mass, pushed by a horizontal force.
fn table(feet: &[[f64; 2]], mu: Option<f64>, mass: f64, push: f64) -> Bench {
    let mut b = Bench::new(diag(&[mass, mass, 0.37 * mass]), &[push, -9.81 * mass, 0.0]);
    for &[s, h] in feet {
        // velocity of a foot at (s, −h): (x' + h φ', y' + s φ')
        let (n, t) = ([0.0, 1.0, s], [1.0, 0.0, h]);
        b.unilateral((&n, 0.0), mu.map(|_| (&t[..], 0.0)), mu.unwrap_or(0.0));
    }
    b
}

fn level(n: usize, h: f64) -> Vec<[f64; 2]> {
    (0..n).map(|i| [-0.8 + 2.1 * i as f64 / (n - 1) as f64, h]).collect()
}

/// Least and largest force of every foot follow from the two equations of balance: at most two feet carry at a vertex.
#[test]
fn a_pushed_table_on_any_number_of_feet_stands_and_its_forces_are_an_interval() {
    let (mass, push, h) = (4.0, 7.0, 0.45);
    for n in [3, 5, 7, 8, 9, 12, 23, 40] {
        let feet = level(n, h);
        let b = table(&feet, Some(0.6), mass, push);
        let set = b.transition(&vec![Start::Zero; n]);
        assert_eq!((set.status, set.complete), (Status::Unique, true), "{n} feet");
        assert!(set.solutions[0].forces.accel.iter().all(|a| a.abs() < 1e-9));
        assert!(set.solutions[0].residual < 1e-9);
        assert!(set.solutions[0].modes.iter().all(|m| *m == Mode::Stick));
        let family = &set.families[0];
        assert!(!family.moves);
        // friction −push at depth h turns by −push h: the weight acts at this place
        let (weight, place) = (9.81 * mass, push * h / (9.81 * mass));
        let (first, last) = (feet[0][0], feet[n - 1][0]);
        for (i, &[s, _]) in feet.iter().enumerate() {
            let largest =
                if s >= place { (place - first) / (s - first) } else { (last - place) / (last - s) };
            // the least is not zero only when without this foot nothing is left on its side
            let others = || feet.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, f)| f[0]);
            let needed = if others().all(|o| o < place) {
                let next = others().fold(f64::NEG_INFINITY, f64::max);
                (place - next) / (s - next)
            } else if others().all(|o| o > place) {
                let next = others().fold(f64::INFINITY, f64::min);
                (next - place) / (next - s)
            } else {
                0.0
            };
            let [lo, hi] = family.lambda[2 * i];
            close(hi, weight * largest, 1e-7);
            close(lo, weight * needed, 1e-7);
        }
    }
}

/// At rest the accelerations are zero up to rounding, and rounding is not a continuum of accelerations.
#[test]
fn a_table_at_rest_has_one_acceleration_whatever_its_feet() {
    let mut r = Random(5);
    for _ in 0..60 {
        let n = 2 + r.below(6);
        let feet: Vec<[f64; 2]> =
            (0..n).map(|k| [k as f64 - 0.5 + r.unit(), 0.3]).map(|[s, h]| [s - 0.6, h]).collect();
        let b = table(&feet, Some(0.7), r.within(1e-3, 1e3), 0.0);
        let set = b.transition(&vec![Start::Zero; n]);
        assert_eq!(set.status, Status::Unique);
        assert!(set.families.iter().all(|f| !f.moves));
    }
}

/// Beyond μ m g the table slides with (F − μ m g)/m, as long as it does not tip.
#[test]
fn a_table_pushed_beyond_its_friction_slides_on_all_feet() {
    for n in [4, 6, 9, 16, 40] {
        let b = table(&level(n, 0.2), Some(0.3), 5.0, 25.0);
        let set = b.transition(&vec![Start::Zero; n]);
        assert_eq!((set.status, set.complete), (Status::Unique, true), "{n} feet");
        close(set.solutions[0].forces.accel[0], (25.0 - 0.3 * 9.81 * 5.0) / 5.0, 1e-9);
        assert!(set.solutions[0].modes.iter().all(|m| *m == Mode::SlipPlus));
        // and one that slides already is slowed down
        let b = table(&level(n, 0.2), Some(0.3), 5.0, 0.0);
        let set = b.transition(&vec![Start::Minus; n]);
        assert_eq!((set.status, set.complete), (Status::Unique, true), "{n} feet");
        close(set.solutions[0].forces.accel[0], 0.3 * 9.81, 1e-9);
    }
}

/// Pushed hard enough a tall table tips about its last foot: the angular acceleration about it is that of a physical pendulum.
#[test]
fn a_tall_table_tips_about_its_last_foot() {
    for n in [3, 8, 17, 40] {
        let (mass, push, h) = (2.0, 40.0, 0.9);
        let feet = level(n, h);
        let b = table(&feet, Some(5.0), mass, push);
        let set = b.transition(&vec![Start::Zero; n]);
        assert_eq!((set.status, set.complete), (Status::Unique, true), "{n} feet");
        let s = feet[n - 1][0];
        let inertia = 0.37 * mass + mass * (s * s + h * h);
        // the push acts h above the foot and turns clockwise, the weight s to its left turns back
        let angle = (9.81 * mass * s - push * h) / inertia;
        close(set.solutions[0].forces.accel[2], angle, 1e-9);
        let modes = &set.solutions[0].modes;
        assert!(modes[..n - 1].iter().all(|m| *m == Mode::Open) && modes[n - 1] == Mode::Stick, "{modes:?}");
    }
}

/// Without friction the feet of a table are indifferent to each other too.
#[test]
fn a_smooth_table_on_many_feet_is_one_family() {
    for n in [9, 16, 40] {
        let set = table(&level(n, 0.2), None, 5.0, 2.0).transition(&vec![Start::Zero; n]);
        assert_eq!((set.status, set.complete, set.families.len()), (Status::Unique, true, 1), "{n} feet");
        close(set.solutions[0].forces.accel[0], 0.4, 1e-10);
        close(set.solutions[0].forces.normal.iter().sum(), 9.81 * 5.0, 1e-10);
    }
}

/// Islands: sixteen blocks, each pushed differently; every one decides for itself.
#[test]
fn blocks_that_do_not_touch_are_decided_one_by_one() {
    let n = 16;
    let push = |i: usize| 0.9 * i as f64 - 6.0;
    let h: Vec<f64> = (0..2 * n).map(|k| if k < n { push(k) } else { -9.81 }).collect();
    let mut b = Bench::new(diag(&vec![1.0; 2 * n]), &h);
    for i in 0..n {
        let unit = |k: usize| -> Vec<f64> { (0..2 * n).map(|j| f64::from(u8::from(j == k))).collect() };
        b.unilateral((&unit(n + i), 0.0), Some((&unit(i), 0.0)), 0.4);
        // a second foot at the same place: indifferent
        b.unilateral((&unit(n + i), 0.0), Some((&unit(i), 0.0)), 0.4);
    }
    let set = b.transition(&vec![Start::Zero; 2 * n]);
    assert_eq!((set.status, set.complete), (Status::Unique, true));
    for i in 0..n {
        let rest = (push(i).abs() - 0.4 * 9.81).max(0.0);
        close(set.solutions[0].forces.accel[i], rest * push(i).signum(), 1e-9);
    }
}

/// A pile under its weight needs no friction: nothing else is possible, whatever the coefficient.
#[test]
fn a_pile_of_twenty_boxes_rests_at_any_coefficient_of_friction() {
    let n = 20;
    let h: Vec<f64> = (0..3 * n).map(|k| if k % 3 == 1 { -9.81 } else { 0.0 }).collect();
    for mu in [0.1, 1.0, 1e3, 1e6] {
        let mut b = Bench::new(diag(&vec![1.0; 3 * n]), &h);
        for i in 0..n {
            for s in [-0.5, 0.5] {
                let (mut w_n, mut w_t) = (vec![0.0; 3 * n], vec![0.0; 3 * n]);
                (w_n[3 * i + 1], w_n[3 * i + 2], w_t[3 * i], w_t[3 * i + 2]) = (1.0, s, 1.0, 0.1);
                if i > 0 {
                    let k = 3 * (i - 1);
                    (w_n[k + 1], w_n[k + 2], w_t[k], w_t[k + 2]) = (-1.0, -s, -1.0, 0.1);
                }
                b.unilateral((&w_n, 0.0), Some((&w_t, 0.0)), mu);
            }
        }
        let set = b.transition(&vec![Start::Zero; 2 * n]);
        assert_eq!((set.status, set.complete), (Status::Unique, true), "mu = {mu}");
        for i in 0..n {
            for k in 0..2 {
                close(set.solutions[0].forces.normal[2 * i + k], 9.81 * 0.5 * (n - i) as f64, 1e-7);
            }
        }
    }
}

/// Branching on accelerations finds the accelerations that visiting every pattern finds: one body on four feet that lean and stand
/// anywhere, so that forces are families and large friction makes several or no solutions.
#[test]
fn branching_on_accelerations_loses_no_solution_of_dependent_contacts() {
    let mut r = Random(21);
    let mut several = 0;
    for case in 0..300 {
        let feet = 4;
        let mut b =
            Bench::new(diag(&[1.0, 1.0, r.within(0.02, 0.5)]), &[r.normal(), -3.0 * r.unit(), r.normal()]);
        let slope = r.within(-0.8, 0.8) * f64::from(u8::from(case % 3 > 0));
        for _ in 0..feet {
            let (s, h) = (r.within(-1.0, 1.0), if case % 2 == 0 { 0.7 } else { r.within(0.3, 1.0) });
            let (c, d) = (slope.cos(), slope.sin());
            let at = [s * c + h * d, s * d - h * c];
            let arm = |v: [f64; 2]| at[0] * v[1] - at[1] * v[0];
            let (n, t) = ([-d, c], [c, d]);
            b.unilateral(
                (&[n[0], n[1], arm(n)], 0.0),
                Some((&[t[0], t[1], arm(t)], 0.0)),
                r.within(0.0, 4.0),
            );
        }
        let starts: Vec<Start> =
            (0..feet).map(|_| if case % 5 == 0 { Start::Plus } else { Start::Zero }).collect();
        let mut t = Transition::default();
        assert!(t.pose(&b.info, &b.eval, &starts));
        let accelerations = |always: bool| {
            let mut search = Search::default();
            search.always_prune = always;
            assert!(search.run(&t.problem, 100_000_000));
            let (points, families) = crate::modes::collect::sort_out(&t.problem, &search.found);
            let members = families.iter().map(|g| &g[0].x);
            let mut all: Vec<Vec<f64>> = Vec::new();
            for x in points.iter().map(|p| &p.0).chain(members) {
                let mut y = Vec::new();
                t.problem.y(x, &mut y);
                let near = |o: &Vec<f64>| o.iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-6);
                if !all.iter().any(near) {
                    all.push(y);
                }
            }
            all.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[feet].total_cmp(&b[feet])));
            all
        };
        let (plain, pruned) = (accelerations(false), accelerations(true));
        several += usize::from(plain.len() != 1);
        assert_eq!(plain.len(), pruned.len(), "case {case}: {plain:?} {pruned:?}");
        for (a, b) in plain.iter().flatten().zip(pruned.iter().flatten()) {
            close(*a, *b, 1e-6);
        }
    }
    assert!(several > 20, "{several}");
}

/// The limit is one of work, and what was not examined is said.
#[test]
fn a_search_that_ends_early_says_so_and_still_gives_a_solution() {
    let n = 12;
    let b = table(&level(n, 0.45), Some(0.6), 4.0, 7.0);
    let mut t = Transition::default();
    t.settings.work = 1;
    let set = t.solve(&b.info, &b.eval, &vec![Start::Zero; n]);
    assert!(!set.complete && set.status == Status::Unique && set.solutions[0].residual < 1e-8);
}
