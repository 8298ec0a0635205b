//! Forces that the motion does not determine: those of equally stiff, slightly compliant contacts, from the forces that acted before.

mod systems;

use specht::sim::*;
use systems::*;

/// A block on feet at `feet`, centre of mass at the floor: weight `w`, push `push(t)` along the floor, moment `turn(t)`.
fn block(feet: &'static [f64], mu: f64, w: f64, push: fn(f64) -> f64, turn: fn(f64) -> f64) -> Hand {
    let n = feet.len();
    let contacts = (0..n).map(|i| unilateral(&format!("foot{i}"), i, (mu > 0.0).then_some(n + i))).collect();
    Hand::new(3, 2 * n, contacts, move |s, _, out| {
        for (k, m) in [1.3, 1.3, 0.2].into_iter().enumerate() {
            out.mass[(k, k)] = m;
        }
        out.kinetic = 0.5 * (1.3 * (s.u[0] * s.u[0] + s.u[1] * s.u[1]) + 0.2 * s.u[2] * s.u[2]);
        out.potential = w * s.q[1];
        out.h.copy_from_slice(&[push(s.t), -w, turn(s.t)]);
        for (i, x) in feet.iter().enumerate() {
            out.w.row_mut(i).copy_from_slice(&[0.0, 1.0, *x]);
            out.w.row_mut(n + i).copy_from_slice(&[1.0, 0.0, 0.0]);
            out.gap[i] = s.q[1] + x * s.q[2];
            (out.mu[i], out.mu_static[i]) = (mu, mu);
        }
    })
}

fn run(sys: &Hand, until: f64) -> Trajectory {
    let start = state(&[0.0; 3], &[0.0; 3]);
    let t = event_driven(sys, &start, &Settings::until(until), &mut Outside::default())
        .expect("consistent start");
    assert_eq!(t.status, Status::Finished, "{}", t.message);
    t
}

fn near(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} instead of {b}, off by {:e}", (a - b).abs());
}

// N = a + b x over the feet that carry: Σ N = w, Σ N x = −moment
fn level(feet: &[f64], w: f64, moment: f64) -> Vec<f64> {
    for carry in (1..1_u32 << feet.len()).rev() {
        let on = |i: usize| carry >> i & 1 == 1;
        let sum =
            |f: &dyn Fn(f64) -> f64| (0..feet.len()).filter(|&i| on(i)).map(|i| f(feet[i])).sum::<f64>();
        let (n, s, ss) = (sum(&|_| 1.0), sum(&|x| x), sum(&|x| x * x));
        let det = n * ss - s * s;
        let (a, b) = ((w * ss + moment * s) / det, (-moment * n - w * s) / det);
        if (0..feet.len()).all(|i| if on(i) { a + b * feet[i] > 0.0 } else { a + b * feet[i] <= 0.0 }) {
            return (0..feet.len()).map(|i| if on(i) { a + b * feet[i] } else { 0.0 }).collect();
        }
    }
    panic!("the block tips over");
}

/// A block is pushed to and fro without sliding: equal springs at its feet, each slipping when it reaches its bound, followed in
/// small increments of the load. (Feet carried fixed shares of their bounds.)
#[test]
fn feet_of_a_pushed_block_share_the_push_as_springs_that_slip() {
    const FEET: &[f64] = &[-0.5, 0.1, 0.4];
    let push = |t: f64| 7.0 * (1.7 * t).sin() + 1.2 * (0.6 * t).sin();
    let (mu, w) = (0.6, 15.0);
    let bound: Vec<f64> = level(FEET, w, 0.0).iter().map(|n| mu * n).collect();
    let sys = block(FEET, mu, w, push, |_| 0.0);
    for until in [0.5, 0.95, 1.6, 2.4, 3.3, 5.0] {
        let out = run(&sys, until);
        let mut force = vec![0.0; FEET.len()];
        let steps = 40_000;
        for k in 1..=steps {
            let f = push(until * f64::from(k) / f64::from(steps));
            let after = |d: f64| -> Vec<f64> {
                force.iter().zip(&bound).map(|(t, b)| (t - d).clamp(-b, *b)).collect()
            };
            let (mut lo, mut hi) = (-20.0, 20.0);
            for _ in 0..50 {
                let mid = 0.5 * (lo + hi);
                if after(mid).iter().sum::<f64>() > -f { lo = mid } else { hi = mid }
            }
            force = after(0.5 * (lo + hi));
        }
        for (i, t) in force.iter().enumerate() {
            near(out.last.tangential[i], *t, 1e-5);
        }
        let family = out.family.as_ref().expect("the shares are a continuum");
        for (i, (lo, hi)) in family.tangential.iter().enumerate() {
            assert!(*lo <= force[i] + 1e-9 && force[i] <= hi + 1e-9 && hi - lo > 0.1, "{i}: {lo} {hi}");
            // the loads of the feet are free, too
            assert!(lo.abs().max(hi.abs()) > bound[i] - 1e-6);
        }
    }
}

/// A moment to and fro takes the load off one end foot, then off the other: a foot that carries nothing carries again when the moment
/// is back, not when it turns.
#[test]
fn feet_without_load_carry_again_when_their_load_is_back() {
    const FEET: &[f64] = &[-1.0, -0.3, 0.2, 0.9];
    let turn = |t: f64| 8.0 * (2.3 * t).sin();
    let sys = block(FEET, 0.0, 20.0, |_| 0.0, turn);
    for until in [0.01, 0.3, 0.68, 0.9, 1.3, 1.9, 2.2, 3.0] {
        let out = run(&sys, until);
        for (n, right) in out.last.normal.iter().zip(level(FEET, 20.0, turn(until))) {
            near(*n, right, 1e-6);
        }
        assert!(out.of_kind(Kind::Finding).next().is_none(), "one motion");
    }
}
