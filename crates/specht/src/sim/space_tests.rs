//! Random impacts with friction in two directions: the laws themselves (PG-8, METH-3D-LOOP).

use super::strike::impact;
use crate::contact::tests::{Bench, Random};
use crate::impact::{Impact, ImpactStatus, Law};
use crate::linalg::Mat;
use crate::system::{ContactInfo, Normal, Restitution};

/// Relative to the largest impulse and velocity.
const EXACT: f64 = 1e-8;

/// One contact on any system; several coupled weakly mostly, strongly sometimes.
fn random_system(r: &mut Random) -> (Bench, Mat, Vec<f64>, Vec<Restitution>) {
    let contacts = 1 + r.below(3);
    let n = 3 * contacts + r.below(3);
    let any = contacts == 1 || r.below(20) == 0;
    let a = Mat::from_fn(
        n,
        n,
        |i, j| if any { r.normal() } else { 0.2 * r.normal() + f64::from(u8::from(i == j)) },
    );
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.3);
    let mut b = Bench::new(mass.clone(), &vec![0.0; n]);
    for k in 0..contacts {
        let rows: [Vec<f64>; 3] = std::array::from_fn(|t| {
            let own = |i: usize| f64::from(u8::from(i == 3 * k + t));
            (0..n).map(|i| if any { r.normal() } else { own(i) + 0.2 * r.normal() }).collect()
        });
        b.in_space([&rows[0], &rows[1], &rows[2]], r.within(0.0, 1.0));
    }
    let u: Vec<f64> = (0..n).map(|_| r.normal()).collect();
    let reversible = r.below(3) == 0;
    let e = (0..contacts).map(|_| Restitution {
        normal: r.unit(),
        tangential: if reversible { r.unit() } else { 0.0 },
        nu: if reversible { r.unit() } else { 0.0 },
    });
    let e = e.collect();
    b.eval.kinetic = energy(&mass, &u);
    (b, mass, u, e)
}

fn energy(mass: &Mat, u: &[f64]) -> f64 {
    (0..u.len()).map(|i| (0..u.len()).map(|j| 0.5 * u[i] * mass[(i, j)] * u[j]).sum::<f64>()).sum()
}

fn rows(c: &ContactInfo) -> [usize; 3] {
    match c.normal {
        Normal::Unilateral { row } => [row, c.tangent[0], c.tangent[1]],
        _ => unreachable!("all are unilateral"),
    }
}

/// Velocities of all rows after impulses that act on u.
fn rates(b: &Bench, mass: &Mat, u: &[f64], impulse: &[f64]) -> Vec<f64> {
    let n = u.len();
    let mut p = vec![0.0; n];
    for (r, l) in impulse.iter().enumerate() {
        b.eval.w.row(r).add_to(*l, &mut p);
    }
    // M du = Wᵀ Λ by elimination
    let mut m: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| mass[(i, j)]).chain([p[i]]).collect()).collect();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| m[i][k].abs().total_cmp(&m[j][k].abs())).unwrap();
        m.swap(k, best);
        for i in 0..n {
            if i != k {
                let f = m[i][k] / m[k][k];
                (k..=n).for_each(|j| m[i][j] -= f * m[k][j]);
            }
        }
    }
    let after: Vec<f64> = (0..n).map(|i| u[i] + m[i][n] / m[i][i]).collect();
    (0..impulse.len()).map(|r| b.eval.rate(r, &after)).collect()
}

/// Coulomb's law in the plane: within the disc, and against what moves.
fn coulomb(force: [f64; 2], slip: [f64; 2], bound: f64, tolerance: f64) -> bool {
    let (size, speed) = (force[0].hypot(force[1]), slip[0].hypot(slip[1]));
    size <= bound + tolerance
        && (speed <= tolerance
            || (0..2)
                .all(|k| (force[k] * speed + bound * slip[k]).abs() <= tolerance * (1.0 + speed + bound)))
}

/// What of the law does not hold, contact by contact.
fn wrong(law: Law, b: &Bench, mass: &Mat, u: &[f64], e: &[Restitution], out: &Impact) -> Option<String> {
    let size = out.impulse.iter().fold(1.0_f64, |m, l| m.max(l.abs()));
    let tolerance = EXACT * size;
    let (start, end) = (rates(b, mass, u, &vec![0.0; out.impulse.len()]), rates(b, mass, u, &out.impulse));
    let middle = rates(b, mass, u, &out.compression);
    for (i, c) in b.info.iter().enumerate() {
        let [n, s, t] = rows(c);
        let mu = if law == Law::Newton { 0.0 } else { b.eval.mu[i] };
        let (total, first) = (|r: usize| out.impulse[r], |r: usize| out.compression[r]);
        let pair = |rate: &[f64]| [rate[s], rate[t]];
        let complementary = |l: f64, v: f64| l >= -tolerance && v >= -tolerance && l.min(v) <= tolerance;
        let fault = |what: &str| Some(format!("{law:?}, contact {i}: {what}"));
        match law {
            Law::Newton | Law::Moreau => {
                if !complementary(total(n), end[n] + e[i].normal * start[n]) {
                    return fault("normal");
                }
                let back = |r: usize| end[r] + e[i].tangential * start[r];
                if !coulomb([total(s), total(t)], [back(s), back(t)], mu * total(n), tolerance) {
                    return fault("friction");
                }
            }
            Law::Poisson => {
                if !complementary(first(n), middle[n]) {
                    return fault("compression");
                }
                if !coulomb([first(s), first(t)], pair(&middle), mu * first(n), tolerance) {
                    return fault("friction of compression");
                }
                let rest = |r: usize| total(r) - first(r);
                if !complementary(rest(n) - e[i].normal * first(n), end[n]) {
                    return fault("expansion");
                }
                let (back, stored) = ([rest(s), rest(t)], first(s).hypot(first(t)));
                if e[i].tangential == 0.0 && e[i].nu == 0.0 {
                    if !coulomb(back, pair(&end), mu * rest(n), tolerance) {
                        return fault("friction of expansion");
                    }
                } else if stored > tolerance {
                    let along = (back[0] * first(s) + back[1] * first(t)) / stored;
                    let least = e[i].normal * e[i].tangential * stored - mu * (1.0 - e[i].nu) * rest(n);
                    let inside = back[0].hypot(back[1]) <= mu * rest(n) + tolerance;
                    if !inside || along < least - tolerance {
                        return fault("what comes back");
                    }
                }
            }
        }
    }
    None
}

#[test]
fn ten_thousand_impacts_in_space_keep_their_laws_and_report_energy_that_they_make() {
    let mut r = Random(11);
    let (mut gains, mut none) = (0, 0);
    for round in 0..10_000 {
        let (b, mass, u, e) = random_system(&mut r);
        let law = Law::ALL[round % 3];
        let closed = vec![true; b.info.len()];
        let out = impact(&b.info, &b.eval, &u, law, &closed, &e);
        if out.status != ImpactStatus::Solved {
            none += 1;
            continue;
        }
        if let Some(fault) = wrong(law, &b, &mass, &u, &e, &out) {
            panic!("{round}: {fault}");
        }
        let (before, after) = (energy(&mass, &u), energy(&mass, &out.u));
        assert!(
            (after - before - out.energy).abs() < 1e-8 * (1.0 + before),
            "{round}: {} {}",
            after - before,
            out.energy
        );
        assert!(after <= before * (1.0 + 1e-8) || out.gains_energy, "{round}: {before} {after}");
        gains += usize::from(out.gains_energy);
        // one contact, nothing given back along it: no law makes energy but Moreau's and Newton's with slip that turns
        if b.info.len() == 1 && law == Law::Poisson && e[0].tangential == 0.0 && e[0].nu == 0.0 {
            assert!(!out.gains_energy, "{round}");
        }
    }
    // sweeps need not settle where contacts are coupled strongly: said, not guessed
    println!("{none} without solution, {gains} that make energy");
    assert!(none <= 2, "{none} without solution, {gains} that make energy");
}

/// A body on a ball joint with friction, hit elsewhere: three rows that hold, three that rub.
fn jointed(r: &mut Random) -> (Bench, Mat, Vec<f64>, Vec<Restitution>) {
    let n = 9;
    let a = Mat::from_fn(n, n, |i, j| 0.2 * r.normal() + f64::from(u8::from(i == j)));
    let mut mass = a.mul(&a.transpose());
    (0..n).for_each(|i| mass[(i, i)] += 0.3);
    let mut b = Bench::new(mass.clone(), &vec![0.0; n]);
    let mut near =
        |k: usize| -> Vec<f64> { (0..n).map(|i| f64::from(u8::from(i == k)) + 0.2 * r.normal()).collect() };
    let hit = [near(0), near(1), near(2)];
    let (hold, rub) = ([near(3), near(4), near(5)], [near(6), near(7), near(8)]);
    b.in_space([&hit[0], &hit[1], &hit[2]], r.within(0.0, 1.0));
    b.ball([&hold[0], &hold[1], &hold[2]], [&rub[0], &rub[1], &rub[2]], r.within(0.0, 0.6));
    // velocities that the joint allows: three coordinates are solved for
    let mut u: Vec<f64> = (0..n).map(|_| r.normal()).collect();
    let w = Mat::from_fn(3, 3, |i, j| hold[i][3 + j]);
    let rest: Vec<f64> = (0..3)
        .map(|i| -(0..n).filter(|j| !(3..6).contains(j)).map(|j| hold[i][j] * u[j]).sum::<f64>())
        .collect();
    let mut rank = crate::linalg::FullPivot::default();
    rank.factor(&w);
    let mut x = vec![0.0; 3];
    rank.solve(&rest, &[], &mut x);
    u[3..6].copy_from_slice(&x);
    let e = vec![Restitution { normal: r.unit(), ..Default::default() }, Restitution::default()];
    b.eval.kinetic = energy(&mass, &u);
    (b, mass, u, e)
}

#[test]
fn a_ball_joint_rubs_in_an_impact_within_the_norm_of_its_impulse() {
    let mut r = Random(12);
    let (mut rubbed, mut none) = (0, 0);
    for round in 0..2000 {
        let (b, mass, u, e) = jointed(&mut r);
        let law = [Law::Poisson, Law::Moreau][round % 2];
        let out = impact(&b.info, &b.eval, &u, law, &[true, false], &e);
        if out.status != ImpactStatus::Solved {
            none += 1;
            continue;
        }
        let size = out.impulse.iter().fold(1.0_f64, |m, l| m.max(l.abs()));
        let tolerance = EXACT * size;
        let end = rates(&b, &mass, &u, &out.impulse);
        let middle = rates(&b, &mass, &u, &out.compression);
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(length(&end[3..6]) < tolerance && length(&middle[3..6]) < tolerance, "{round}: {end:?}");
        // each phase obeys Coulomb's law with the norm of its own impulse
        let expanded: Vec<f64> = out.impulse.iter().zip(&out.compression).map(|(a, b)| a - b).collect();
        let phases = [(&out.compression, &middle), (&expanded, &end)];
        for (impulse, rate) in &phases[..if law == Law::Moreau { 1 } else { 2 }] {
            let bound = b.eval.mu[1] * length(&impulse[3..6]);
            let (rub, slip) = (&impulse[6..9], &rate[6..9]);
            assert!(length(rub) <= bound + tolerance, "{round}: {rub:?} {bound}");
            if length(slip) > 1e-6 {
                for k in 0..3 {
                    let force = rub[k] + bound * slip[k] / length(slip);
                    assert!(force.abs() < 1e-7 * size, "{round}: {rub:?} {slip:?}");
                }
            }
        }
        let (before, after) = (energy(&mass, &u), energy(&mass, &out.u));
        assert!((after - before - out.energy).abs() < 1e-8 * (1.0 + before), "{round}");
        assert!(after <= before * (1.0 + 1e-8) || out.gains_energy, "{round}: {before} {after}");
        rubbed += usize::from(out.tangential_work[1] < -1e-3);
    }
    assert!(rubbed > 200 && none <= 2, "{rubbed} rubbed, {none} without solution");
}
