//! Structure: dependent constraints, massless parts, journals, given loads, static friction, large stacks.

use super::*;
use crate::lcp::Solver;

fn random_mass(r: &mut Random, n: usize) -> Mat {
    let a = Mat::from_fn(n, n, |_, _| r.normal());
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.3);
    mass
}

fn vector(r: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| r.normal()).collect()
}

/// PG-5.1-CONSTRAINTS: with frozen modes the constraints hold, sliding forces are −μ λ_N sign, the equation of motion is
/// satisfied, and the forces are those of the transition problem wherever its modes are taken.
#[test]
fn pg_5_1_constraints_of_frozen_modes_hold() {
    let mut r = Random(51);
    for _ in 0..1000 {
        let n = 3 + r.below(4);
        let mass = random_mass(&mut r, n);
        let h = vector(&mut r, n);
        let mut b = Bench::new(mass, &h);
        let mut starts = Vec::new();
        for _ in 0..1 + r.below(2) {
            let (w_n, w_t, o) = (vector(&mut r, n), vector(&mut r, n), r.normal());
            b.unilateral((&w_n, o), Some((&w_t, r.normal())), r.within(0.0, 0.4));
            starts.push([Start::Zero, Start::Plus, Start::Minus][r.below(3)]);
        }
        let w_b = vector(&mut r, n);
        b.bilateral((&w_b, r.normal()), None, 0.0);
        starts.push(Start::Zero);
        for s in &b.transition(&starts).solutions {
            let (f, regularity) = b.fixed(&s.modes, &s.signs);
            assert!(regularity.solved && regularity.redundant == 0);
            for (x, y) in f.accel.iter().zip(&s.forces.accel).chain(f.lambda.iter().zip(&s.forces.lambda)) {
                close(*x, *y, 1e-7);
            }
            assert!(transition::motion_residual(&b.eval, &f) < 1e-10);
            for (i, c) in b.info.iter().enumerate() {
                if let Normal::Unilateral { row } | Normal::Bilateral { row } = c.normal
                    && s.modes[i].is_closed()
                {
                    close(b.eval.accel(row, &f.accel), 0.0, 1e-9);
                }
                if s.modes[i] == Mode::Stick {
                    close(b.eval.accel(c.tangent[0], &f.accel), 0.0, 1e-9);
                }
                if s.modes[i].direction() != 0.0 {
                    close(f.tangential[i], -s.modes[i].direction() * b.eval.mu[i] * f.normal[i], 1e-12);
                }
            }
        }
    }
}

/// PG-5.2-MINCOORD: q̈ from minimal coordinates (5.20)-(5.24) equals q̈ from the multipliers (5.17)-(5.18).
#[test]
fn pg_5_2_mincoord_gives_the_same_accelerations() {
    let mut r = Random(52);
    for _ in 0..500 {
        let (n, m) = (4, 2);
        let mass = random_mass(&mut r, n);
        let h = vector(&mut r, n);
        let mut b = Bench::new(mass.clone(), &h);
        for _ in 0..m {
            let (w_n, w_t) = (vector(&mut r, n), vector(&mut r, n));
            b.bilateral((&w_n, r.normal()), Some((&w_t, 0.0)), r.within(0.0, 0.3));
        }
        let (f, _) = b.fixed(&[Mode::SlipPlus, Mode::SlipMinus], &[1.0, -1.0]);
        // Q: null space of the normal rows; ρ̄: minimum norm solution of W ρ̄ + w̄ = 0
        let w = Mat::from_rows(&[b.eval.w.row(0).to_vec(), b.eval.w.row(2).to_vec()]);
        let mut rank = crate::linalg::FullPivot::default();
        assert_eq!(rank.factor(&w), m);
        let mut rho = vec![0.0; n];
        rank.solve(&[-b.eval.accel_offset[0], -b.eval.accel_offset[2]], &[], &mut rho);
        let q = rank.null().clone();
        let mut force = h.clone();
        for (i, d, s) in [(0, 1.0, 1.0), (1, -1.0, -1.0)] {
            b.eval.w.row(2 * i + 1).add_to(-d * b.eval.mu[i] * s * f.normal[i], &mut force);
        }
        let mut m_rho = vec![0.0; n];
        mass.mul_vec(&rho, &mut m_rho);
        let k = q.rows();
        let reduced = q.mul(&mass).mul(&q.transpose());
        let mut p: Vec<f64> =
            (0..k).map(|i| (0..n).map(|j| q[(i, j)] * (force[j] - m_rho[j])).sum()).collect();
        let mut chol = crate::linalg::Cholesky::default();
        chol.factor(&reduced).unwrap();
        chol.solve(&mut p);
        let mut accel = rho;
        q.add_mul_transpose(&p, &mut accel);
        for (x, y) in accel.iter().zip(&f.accel) {
            close(*x, *y, 1e-9);
        }
    }
}

/// PG-5.2, dependent constraints without friction: accelerations are unique and do not change when a row is doubled; the
/// forces share the load symmetrically.
#[test]
fn dependent_frictionless_constraints_leave_the_acceleration_unique() {
    let mut r = Random(521);
    for _ in 0..300 {
        let n = 4;
        let mass = random_mass(&mut r, n);
        let h = vector(&mut r, n);
        let (w, v, o) = (vector(&mut r, n), vector(&mut r, n), r.normal());
        let build = |twice: bool| {
            let mut b = Bench::new(mass.clone(), &h);
            b.bilateral((&v, o), None, 0.0);
            b.unilateral((&w, 0.3), None, 0.0);
            if twice {
                b.unilateral((&w, 0.3), None, 0.0);
                b.bilateral((&v, o), None, 0.0);
            }
            b
        };
        let (one, _) = build(false).fixed(&[Mode::Closed; 2], &[1.0; 2]);
        let (two, regularity) = build(true).fixed(&[Mode::Closed; 4], &[1.0; 4]);
        assert_eq!(regularity.redundant, 2);
        assert!(regularity.inconsistency < 1e-10);
        for (x, y) in one.accel.iter().zip(&two.accel) {
            close(*x, *y, 1e-8);
        }
        close(two.normal[1], two.normal[2], 1e-8);
        close(two.normal[0], one.normal[0] / 2.0, 1e-8);
        let set = build(true).transition(&[Start::Zero; 4]);
        assert_eq!(set.status, Status::Unique);
        assert_eq!(set.redundant, 1);
    }
}

/// Two feet that stick share a load in infinitely many ways: one acceleration, an interval of forces.
#[test]
fn sticking_on_two_feet_has_one_acceleration_and_many_forces() {
    // block, weight 10 N, pushed with 2 N at the height of the floor; feet at ±1
    let mut b = Bench::new(diag(&[1.0, 1.0, 1.0]), &[2.0, -10.0, 0.0]);
    for x in [-1.0, 1.0] {
        b.unilateral((&[0.0, 1.0, x], 0.0), Some((&[1.0, 0.0, 0.0], 0.0)), 0.5);
    }
    let set = b.transition(&[Start::Zero; 2]);
    assert_eq!(set.status, Status::Unique);
    let s = &set.solutions[0];
    assert_eq!(s.modes, [Mode::Stick; 2]);
    close(s.forces.tangential[0], -1.0, 1e-9);
    let f = &set.families[s.family.unwrap()];
    assert!(!f.moves);
    close(f.lambda[1][0], -2.5, 1e-8);
    close(f.lambda[1][1], 0.5, 1e-8);
    let mut fixed = Fixed::default();
    fixed.follow(&s.forces);
    let mut out = Forces::default();
    let regularity = fixed.solve(&b.info, &b.eval, &s.modes, &s.signs, &mut out);
    assert_eq!(regularity.redundant, 1);
    close(out.tangential[0], -1.0, 1e-9);
    close(out.accel[0], 0.0, 1e-12);
}

/// PG-1.3-TOWER: ten masses on a shaken table; pattern search, Lemke on (6.35) of dimension 50 and closed form agree.
#[test]
fn pg_1_3_tower_of_ten_masses() {
    let build = |mu: &dyn Fn(usize) -> f64, table: f64| {
        // horizontal x_i, vertical y_i
        let g = 9.81;
        let mut h = vec![0.0; 20];
        h[10..].fill(-g);
        let mut b = Bench::new(diag(&[1.0; 20]), &h);
        for i in 0..10 {
            let (mut n, mut t) = (vec![0.0; 20], vec![0.0; 20]);
            n[10 + i] = 1.0;
            t[i] = 1.0;
            if i > 0 {
                n[9 + i] = -1.0;
                t[i - 1] = -1.0;
            }
            b.unilateral((&n, 0.0), Some((&t, if i == 0 { -table } else { 0.0 })), mu(i));
        }
        b
    };
    let lemke = |b: &Bench, accel: &[f64]| {
        let mut t = Transition::default();
        let starts = [Start::Zero; 10];
        let book = t.book_form(&b.info, &b.eval, &starts).unwrap();
        assert_eq!(book.b.len(), 50);
        let mut solver = Solver::default();
        assert!(solver.solve(book.lcp()).is_solved());
        let f = t.forces_of(&b.info, &b.eval, &starts, &book.x(&solver.z));
        for (x, y) in f.accel.iter().zip(accel) {
            close(*x, *y, 1e-7);
        }
    };
    let b = build(&|_| 0.3, 2.0);
    let set = b.transition(&[Start::Zero; 10]);
    assert_eq!((set.status, set.complete), (Status::Unique, true));
    for i in 0..10 {
        close(set.solutions[0].forces.tangential[i], 20.0 - 2.0 * i as f64, 1e-8);
    }
    lemke(&b, &set.solutions[0].forces.accel);

    let b = build(&|i| 0.5 - 0.05 * i as f64, 4.0);
    let set = b.transition(&[Start::Zero; 10]);
    assert_eq!((set.status, set.complete), (Status::Unique, true));
    let s = &set.solutions[0];
    for i in 0..10 {
        assert_eq!(s.modes[i] == Mode::Stick, i < 6, "{:?}", s.modes);
    }
    for (k, a) in [3.4335, 2.4525, 1.4715, 0.4905].iter().rev().enumerate() {
        // the topmost is the slowest
        close(s.forces.accel[9 - k], *a, 1e-8);
    }
    lemke(&b, &s.forces.accel);
}

/// A massless link between two masses (singular M, bilateral rows): the same motion as without the link.
#[test]
fn a_massless_part_is_carried_by_the_saddle_system() {
    // x1 (mass 2) - massless x2 - x3 (mass 3), x2 = x1, x3 = x2; force 10 on x3; contact pushes x1
    let mut b = Bench::new(diag(&[2.0, 0.0, 3.0]), &[-20.0, 0.0, 10.0]);
    b.bilateral((&[-1.0, 1.0, 0.0], 0.0), None, 0.0);
    b.bilateral((&[0.0, -1.0, 1.0], 0.0), None, 0.0);
    b.unilateral((&[1.0, 0.0, 0.0], 0.0), None, 0.0);
    let (f, regularity) = b.fixed(&[Mode::Closed, Mode::Closed, Mode::Open], &[1.0; 3]);
    assert!(regularity.solved);
    for a in &f.accel {
        close(*a, -2.0, 1e-10);
    }
    close(f.normal[0], -16.0, 1e-10);
    close(f.normal[1], -16.0, 1e-10);
    let set = b.transition(&[Start::Zero; 3]);
    assert_eq!(set.status, Status::Unique);
    close(set.solutions[0].forces.normal[2], 10.0, 1e-10);
    // without the link M is singular on the kernel
    let mut c = Bench::new(diag(&[2.0, 0.0]), &[0.0; 2]);
    c.unilateral((&[1.0, 0.0], 0.0), None, 0.0);
    assert_eq!(c.transition(&[Start::Zero]).status, Status::Invalid);
    assert!(!c.fixed(&[Mode::Closed], &[1.0]).1.solved);
}

/// A pendulum in a journal with friction: |λ| and the friction moment from the quadratic equation; all solutions.
#[test]
fn a_journal_pin_solves_its_quadratic_equation() {
    let mut r = Random(77);
    let mut several = 0;
    for _ in 0..2000 {
        // rod, centre at distance l from the pin, angle phi, rate; q = (x, y, phi)
        let (l, inertia, phi, rate, mu) = (
            r.within(0.2, 2.0),
            r.within(0.02, 0.5),
            r.within(-3.0, 3.0),
            r.within(-3.0, 3.0),
            r.within(0.0, 2.0),
        );
        let g = 9.81;
        let (s, c) = phi.sin_cos();
        let mut b = Bench::new(diag(&[1.0, 1.0, inertia]), &[0.0, -g, 0.0]);
        let rows = [[1.0, 0.0, -l * c], [0.0, 1.0, -l * s]];
        let offsets = [l * s * rate * rate, -l * c * rate * rate];
        b.pin([(&rows[0], offsets[0]), (&rows[1], offsets[1])], Some((&[0.0, 0.0, 1.0], 0.0)), mu);
        let start = if rate > 0.0 { Start::Plus } else { Start::Minus };
        let set = b.transition(&[start]);
        // residual of the scalar problem: (inertia + l²) φ̈ = −g l s − μ N d with N = |pin force(φ̈)|
        let d = rate.signum();
        let force = |a: f64| {
            let fx = l * c * a - l * s * rate * rate;
            let fy = l * s * a + l * c * rate * rate + g;
            fx.hypot(fy)
        };
        let equation = |a: f64| (inertia + l * l) * a + g * l * s + mu * d * force(a);
        for s in &set.solutions {
            assert!(equation(s.forces.accel[2]).abs() < 1e-8 * (1.0 + s.forces.normal[0]));
            close(s.forces.normal[0], force(s.forces.accel[2]), 1e-9);
            let mut fixed = Fixed::default();
            fixed.follow(&s.forces);
            let mut out = Forces::default();
            assert!(fixed.solve(&b.info, &b.eval, &s.modes, &s.signs, &mut out).solved);
            close(out.accel[2], s.forces.accel[2], 1e-8);
        }
        // count the roots by sampling the sign of the equation
        let mut roots = 0;
        let grid = |k: i32| f64::from(k).signum() * ((f64::from(k.abs()) * 0.01).exp() - 1.0);
        for k in -1200..1200 {
            roots += usize::from(equation(grid(k)) * equation(grid(k + 1)) < 0.0);
        }
        assert!(set.solutions.len() >= roots, "{} found, {roots} roots", set.solutions.len());
        several += usize::from(set.solutions.len() > 1);
        assert!(set.solutions.len() <= 2);
    }
    println!("several: {several}");
}

/// METH-LAW-JUMP: static friction above sliding friction; stick up to the static bound, then a jump to the sliding force.
#[test]
fn static_friction_jumps_to_sliding_friction() {
    for (push, mode, accel) in [
        (2.9, Mode::Stick, 0.0),
        (5.9, Mode::Stick, 0.0),
        (6.5, Mode::SlipPlus, 3.5),
        (-7.0, Mode::SlipMinus, -4.0),
    ] {
        let mut b = Bench::new(diag(&[1.0, 1.0]), &[push, -10.0]);
        b.unilateral((&[0.0, 1.0], 0.0), Some((&[1.0, 0.0], 0.0)), 0.3);
        b.eval.mu_static[0] = 0.6;
        let set = b.transition(&[Start::Zero]);
        assert_eq!(set.status, Status::Unique);
        assert_eq!(set.solutions[0].modes[0], mode);
        close(set.solutions[0].forces.accel[0], accel, 1e-12);
    }
}

/// METH-LAW-JUMP: two brakes on one shaft, static 3 and 5 N, sliding 2 and 1 N. It once rested and slid at the same time between the sums
/// of the sliding and of the static forces: one brake alone may be at its bound there, without moving.
#[test]
fn meth_law_jump_two_contacts_on_one_coordinate_rest_up_to_the_sum_of_their_bounds() {
    for (push, accel) in
        [(2.0, 0.0), (4.0, 0.0), (7.9, 0.0), (8.0, 0.0), (8.1, 5.1), (-7.9, 0.0), (-9.0, -6.0)]
    {
        let mut b = Bench::new(diag(&[1.0]), &[push]);
        b.given((&[1.0], 0.0), 0.2, 10.0);
        b.given((&[1.0], 0.0), 0.1, 10.0);
        b.eval.mu_static.copy_from_slice(&[0.3, 0.5]);
        let set = b.transition(&[Start::Zero; 2]);
        assert_eq!((set.status, set.solutions.len()), (Status::Unique, 1), "{push}");
        close(set.solutions[0].forces.accel[0], accel, 1e-12);
    }
}

/// Accelerations under friction forces of given bounds: the least of ½ aᵀ M a − hᵀ a + Σ F |w a|, by its dual, one force after the other.
/// Contacts that slide have their force in `h`.
fn least_acceleration(w: &[Vec<f64>], mass: &[f64], h: &[f64], bound: &[f64]) -> Vec<f64> {
    let mut force = vec![0.0; w.len()];
    let mut a: Vec<f64> = h.iter().zip(mass).map(|(h, m)| h / m).collect();
    for _ in 0..20_000 {
        for j in 0..w.len() {
            let rate: f64 = w[j].iter().zip(&a).map(|(w, a)| w * a).sum();
            let inertia: f64 = w[j].iter().zip(mass).map(|(w, m)| w * w / m).sum();
            let next = (force[j] - rate / inertia).clamp(-bound[j], bound[j]);
            for k in 0..a.len() {
                a[k] += w[j][k] * (next - force[j]) / mass[k];
            }
            force[j] = next;
        }
    }
    a
}

/// METH-LAW-JUMP: up to four contacts on three coordinates, some of them alike: the rounds of an independent program (bounds at rest, then
/// those that move get their sliding force) end at the one acceleration of the transition.
#[test]
fn meth_law_jump_coupled_contacts_follow_the_rounds_of_an_independent_program() {
    let mut r = Random(2024);
    let (mut kept, mut rounds_seen) = (0, 0);
    for _ in 0..300 {
        let mass: Vec<f64> = (0..3).map(|_| r.within(0.5, 2.0)).collect();
        let push: Vec<f64> = (0..3).map(|_| r.within(-8.0, 8.0)).collect();
        let mut b = Bench::new(diag(&mass), &push);
        let mut w: Vec<Vec<f64>> = Vec::new();
        let mut bounds: Vec<[f64; 2]> = Vec::new();
        for j in 0..2 + r.below(3) {
            let pick = r.below(3);
            let row: Vec<f64> = match j {
                1 if r.below(2) == 0 => w[0].clone(),
                _ if r.below(2) == 0 => (0..3).map(|k| f64::from(u8::from(k == pick))).collect(),
                _ => (0..3).map(|_| r.normal()).collect(),
            };
            let slide = r.within(0.2, 3.0);
            bounds.push([slide * r.within(1.05, 2.0), slide]);
            let contact = b.given((&row, 0.0), slide, 1.0);
            b.eval.mu_static[contact] = bounds[contact][0];
            w.push(row);
        }
        // the rounds
        let mut way = vec![0.0_f64; w.len()];
        let rate = |a: &[f64], j: usize| w[j].iter().zip(a).map(|(w, a)| w * a).sum::<f64>();
        let mut rounds = 0;
        let a = loop {
            let mut h = push.clone();
            for j in (0..w.len()).filter(|&j| way[j] != 0.0) {
                (0..3).for_each(|k| h[k] -= way[j] * bounds[j][1] * w[j][k]);
            }
            let rest: Vec<usize> = (0..w.len()).filter(|&j| way[j] == 0.0).collect();
            let rows: Vec<Vec<f64>> = rest.iter().map(|&j| w[j].clone()).collect();
            let held: Vec<f64> = rest.iter().map(|&j| bounds[j][0]).collect();
            let a = least_acceleration(&rows, &mass, &h, &held);
            let moved: Vec<usize> = rest.into_iter().filter(|&j| rate(&a, j).abs() > 1e-6).collect();
            if moved.is_empty() {
                break a;
            }
            rounds += 1;
            moved.iter().for_each(|&j| way[j] = rate(&a, j).signum());
        };
        // a release that does not move its own way has no answer by rounds
        if (0..w.len()).any(|j| way[j] * rate(&a, j) < 0.0) {
            continue;
        }
        let set = b.transition(&vec![Start::Zero; w.len()]);
        assert_eq!(set.status, Status::Unique, "{:?}", set.solutions);
        set.solutions[0].forces.accel.iter().zip(&a).for_each(|(x, y)| close(*x, *y, 1e-6));
        kept += 1;
        rounds_seen = rounds_seen.max(rounds);
    }
    assert!(kept > 200 && rounds_seen > 1, "{kept} {rounds_seen}");
}

/// Every load has coefficients of its own; a pin enters with the norm of its force. A load on a load is refused.
#[test]
fn loads_follow_guides_and_pins() {
    let axis = |k: usize| -> Vec<f64> { (0..5).map(|i| f64::from(u8::from(i == k))).collect() };
    // reactions: guide 3, pin (3, 4)
    let mut b = Bench::new(diag(&[1.0; 5]), &[9.0, 12.0, -3.0, -3.0, -4.0]);
    let guide = b.bilateral((&axis(2), 0.0), None, 0.0);
    let pin = b.pin([(&axis(3), 0.0), (&axis(4), 0.0)], None, 0.0);
    let first = b.given((&axis(0), 0.0), 0.5, 1.0);
    let second = b.given((&axis(1), 0.0), 0.1, 0.0);
    b.info[first].load_on = vec![guide];
    (b.info[second].load_on, b.info[second].load_at) = (vec![guide, pin], 1);
    b.eval.load_terms = vec![2.0, 3.0, 4.0];
    assert_eq!(check(&b.info), Ok(()));
    let set = b.transition(&[Start::Zero, Start::Zero, Start::Plus, Start::Plus]);
    assert_eq!(set.status, Status::Unique);
    let s = &set.solutions[0];
    for forces in [&s.forces, &b.fixed(&s.modes, &s.signs).0] {
        close(forces.normal[first], 1.0 + 2.0 * 3.0, 1e-12);
        close(forces.normal[second], 3.0 * 3.0 + 4.0 * 5.0, 1e-12);
        close(forces.accel[0], 9.0 - 0.5 * 7.0, 1e-12);
        close(forces.accel[1], 12.0 - 0.1 * 29.0, 1e-12);
    }
    b.info[second].load_on = vec![first];
    assert_eq!(check(&b.info), Err(ContactError::Load(b.info[second].name.clone())));
}

/// Loads: a given friction force, and a load that follows another contact's normal force.
#[test]
fn given_loads_bound_the_friction() {
    // a disc pressed by 40 N, and one pressed by 5 N plus twice the reaction of a guide
    let mut b = Bench::new(diag(&[1.0, 1.0, 1.0]), &[9.0, 12.0, -3.0]);
    b.given((&[1.0, 0.0, 0.0], 0.0), 0.2, 40.0);
    let guide = b.bilateral((&[0.0, 0.0, 1.0], 0.0), None, 0.0);
    let disc = b.given((&[0.0, 1.0, 0.0], 0.0), 0.5, 5.0);
    b.info[disc].load_on = vec![guide];
    b.eval.load_terms = vec![2.0];
    let starts = [Start::Zero, Start::Zero, Start::Plus];
    let set = b.transition(&starts);
    assert_eq!(set.status, Status::Unique);
    let s = &set.solutions[0];
    assert_eq!(s.modes, [Mode::SlipPlus, Mode::Closed, Mode::SlipPlus]);
    close(s.forces.accel[0], 1.0, 1e-12);
    close(s.forces.normal[disc], 11.0, 1e-12);
    close(s.forces.accel[1], 12.0 - 5.5, 1e-12);
    let (f, _) = b.fixed(&s.modes, &s.signs);
    close(f.accel[1], 6.5, 1e-12);
    close(f.bound[disc], 5.5, 1e-12);
    // the guide pulls the other way: the disc lifts, no friction
    b.eval.h[2] = 4.0;
    let set = b.transition(&starts);
    assert_eq!(set.status, Status::Unique);
    close(set.solutions[0].forces.accel[1], 12.0, 1e-12);
    let (f, _) = b.fixed(&set.solutions[0].modes, &set.solutions[0].signs);
    close(f.accel[1], 12.0, 1e-12);
}

/// The sign of a guide's force was once decided in newtons and compared with √J/s: a light slider had two solutions.
#[test]
fn a_slider_in_a_guide_has_one_acceleration_in_any_units() {
    for (mass, force) in [-30, -15, 0, 15, 30].into_iter().flat_map(|m| [(m, -20), (m, 0), (m, 20)]) {
        let [mass, force] = [mass, force].map(|k| 10f64.powi(k));
        // pushed by 7 along the guide and by 10 against it; a disc beside it is pressed by 4
        let mut b = Bench::new(diag(&[2.0 * mass, mass, mass]), &[7.0 * force, -10.0 * force, 9.0 * force]);
        b.bilateral((&[0.0, 1.0, 0.0], 0.0), Some((&[1.0, 0.0, 0.0], 0.0)), 0.5);
        b.given((&[0.0, 0.0, 1.0], 0.0), 0.25, 4.0 * force);
        let set = b.transition(&[Start::Zero, Start::Zero]);
        assert_eq!((set.status, set.solutions.len()), (Status::Unique, 1), "{mass:e} {force:e}");
        let unit = mass / force;
        close(unit * set.solutions[0].forces.accel[0], (7.0 - 0.5 * 10.0) / 2.0, 1e-12);
        close(unit * set.solutions[0].forces.accel[2], 9.0 - 0.25 * 4.0, 1e-12);
        assert_eq!(set.solutions[0].modes, [Mode::SlipPlus; 2]);
    }
}

/// At the instant of an event the deciding quantity is zero: the contact is marked, both mode lists are given.
#[test]
fn contacts_at_the_border_are_marked_degenerate() {
    let mut b = Bench::new(diag(&[1.0, 1.0]), &[5.0, -10.0]);
    b.unilateral((&[0.0, 1.0], 0.0), Some((&[1.0, 0.0], 0.0)), 0.5);
    let set = b.transition(&[Start::Zero]);
    assert_eq!((set.status, set.solutions.len()), (Status::Unique, 1));
    assert!(set.solutions[0].degenerate[0]);
    assert_eq!(set.solutions[0].modes, [Mode::Stick]);
    assert!(set.solutions[0].alternatives.contains(&vec![Mode::SlipPlus]));
    b.eval.h = vec![0.0, 0.0];
    let set = b.transition(&[Start::Plus]);
    assert_eq!(set.status, Status::Unique);
    assert!(set.solutions[0].degenerate[0]);
    b.eval.h = vec![1.0, -10.0];
    assert!(!b.transition(&[Start::Zero]).solutions[0].degenerate[0]);
}

/// Zero contacts, zero coordinates, numbers that are not finite: answers, no panic.
#[test]
fn empty_and_bad_input_is_answered() {
    let b = Bench::new(diag(&[2.0]), &[4.0]);
    assert_eq!(b.transition(&[]).status, Status::Unique);
    close(b.fixed(&[], &[]).0.accel[0], 2.0, 1e-15);
    let e = Bench::new(Mat::zeros(0, 0), &[]);
    assert_eq!(e.transition(&[]).status, Status::Unique);
    assert!(e.fixed(&[], &[]).1.solved);
    let mut n = Bench::new(diag(&[1.0]), &[f64::NAN]);
    n.unilateral((&[1.0], 0.0), None, 0.0);
    assert_eq!(n.transition(&[Start::Zero]).status, Status::Invalid);
    assert!(!n.fixed(&[Mode::Closed], &[1.0]).1.solved);
}
