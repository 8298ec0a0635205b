//! Resistance to rolling and drilling where moments change the normal impulses strongly (METH-CONE-MIXED)

use super::problems::Rng;
use super::*;
use crate::linalg::Mat;

/// METH-CONE-MIXED: a moment that presses on its own contact, `u_N = r − 0.8 m − 1`, `ω = −0.8 r + m + 3`: it rolls, `m = −μ r`, so
/// `r = 1 / (1 + 0.8 μ)`. With the last normal impulse as load the error grows by 0.8 μ in every turn.
#[test]
fn meth_cone_mixed_rolling_answers_its_own_normal_impulse() {
    for mu in [0.1, 1.0, 1.3, 4.0, 20.0, 1e3] {
        let w = Mat::from_rows(&[[1.0, -0.8], [-0.8, 1.0]]);
        let contacts = vec![
            Contact { law: Law::Coulomb { mu: 0.0 }, rows: 1, key: 0 },
            Contact { law: Law::Rolling { mu }, rows: 1, key: 1 },
        ];
        let s = solve(&Problem::from_w(Matrix::Dense(w), vec![-1.0, 3.0], contacts)).unwrap();
        let r = 1.0 / (1.0 + 0.8 * mu);
        assert_eq!(s.status, Status::Solved, "{mu}: {}", s.error());
        assert!((s.r[0] - r).abs() + (s.r[1] + mu * r).abs() < 1e-7, "{mu}: {:?}", s.r);
    }
}

/// METH-CONE-MIXED: the same on a guide, whose normal impulse is negative: `r + 0.5 m + 1 = 0`, `m = −μ|r|`, so `|r| = 1 / (1 + 0.5 μ)`; with
/// friction that does not couple, `r_T = −0.3 |r|`. (From μ = 3 on it may also stick, with r = 2.)
#[test]
fn meth_cone_mixed_rolling_on_a_guide_takes_the_size_of_its_normal_impulse() {
    for mu in [0.5, 1.0, 2.5, 2.9] {
        let w = Mat::from_rows(&[[1.0, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 1.0]]);
        let contacts = vec![
            Contact { law: Law::BilateralFriction { mu: 0.3 }, rows: 2, key: 0 },
            Contact { law: Law::Rolling { mu }, rows: 1, key: 1 },
        ];
        let s = solve(&Problem::from_w(Matrix::Dense(w), vec![1.0, 2.0, 5.0], contacts)).unwrap();
        let r = 1.0 / (1.0 + 0.5 * mu);
        assert_eq!(s.status, Status::Solved, "{mu}: {}", s.error());
        let wrong = (s.r[0] + r).abs() + (s.r[1] + 0.3 * r).abs() + (s.r[2] + mu * r).abs();
        assert!(wrong < 1e-7, "{mu}: {:?}", s.r);
    }
}

/// METH-CONE-MIXED: a sphere that moves on a table and is pushed against a wall, both with μ = 0.5, and resists rolling with the same huge coefficient:
/// it stops, and nothing turns.
#[test]
fn meth_cone_mixed_huge_resistance_holds_a_sphere_between_floor_and_wall() {
    let (m, radius) = (2.0, 0.5);
    let i = 0.4 * m * radius * radius;
    let mass = Matrix::Sparse(Sparse::diagonal(&[m, m, m, i, i, i]));
    // arm −R n from the centre to the point: u = v + ω × (−R n)
    let mut rows = Vec::new();
    for (n, t1, t2) in [
        ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]),
        ([-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    ] {
        for a in [n, t1, t2] {
            // a · (ω × (−R n)) = ω · (−R n × a)
            let c = cross(n, a).map(|c| -radius * c);
            rows.push([a[0], a[1], a[2], c[0], c[1], c[2]]);
        }
        rows.extend([t1, t2, n].map(|a| [0.0, 0.0, 0.0, a[0], a[1], a[2]]));
    }
    let contacts = (0..2)
        .flat_map(|k| {
            [
                Contact::spatial(0.5, 3 * k),
                Contact { law: Law::Rolling { mu: 1e3 }, rows: 2, key: 3 * k + 1 },
                Contact { law: Law::Rolling { mu: 1e3 }, rows: 1, key: 3 * k + 2 },
            ]
        })
        .collect();
    let h = Matrix::Dense(Mat::from_rows(&rows));
    let p = Problem::from_bodies(mass, h, &[0.4, 0.3, -1.0, 1.0, 2.0, -1.5], vec![0.0; 12], contacts);
    let s = solve(&p).unwrap();
    assert_eq!(s.status, Status::Solved, "{}", s.error());
    // it stops: what the forces share among them is theirs, their sums along the axes are the momentum
    assert!(s.u.iter().all(|u| u.abs() < 1e-7), "{:?}", s.u);
    let sums = [s.r[1] - s.r[6] + 0.4 * m, s.r[2] + s.r[7] + 0.3 * m, s.r[0] + s.r[8] - m];
    assert!(sums.iter().all(|x| x.abs() < 1e-7), "{:?}", s.r);
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: [f64; 3]) -> f64 {
    a[0].hypot(a[1]).hypot(a[2])
}

/// A random problem of a few spheres with all laws that have a normal impulse, planar or not.
fn spheres(rng: &mut Rng, contacts: usize) -> Problem {
    let bodies = 1 + rng.below(contacts);
    let radius: Vec<f64> = (0..bodies).map(|_| 0.5 * (1.4 * rng.uniform() - 0.7).exp()).collect();
    let mut mass = Vec::new();
    for r in &radius {
        let m = (2.0 * rng.uniform() - 1.0).exp();
        mass.extend([m, m, m, 0.4 * m * r * r, 0.4 * m * r * r, 0.4 * m * r * r]);
    }
    let (mut rows, mut laws) = (Vec::new(), Vec::new());
    // arms that do not go through the centre, so that the normal turns the body, too
    let shift = if rng.uniform() < 0.5 { 0.5 } else { 0.0 };
    for key in 0..contacts as u64 {
        let (a, b) = (rng.below(bodies), rng.below(bodies));
        let mut n = [rng.normal(), rng.normal(), rng.normal().abs() + 0.3];
        let l = length(n);
        n.iter_mut().for_each(|x| *x /= l);
        let t1 = cross(n, if n[0].abs() < 0.7 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] });
        let l = length(t1);
        let t1 = t1.map(|x| x / l);
        let t2 = cross(n, t1);
        let arms: Vec<[f64; 3]> = [-1.0, 1.0]
            .iter()
            .zip([a, b])
            .map(|(s, body)| n.map(|x| radius[body] * (s * x + shift * rng.normal())))
            .collect();
        let mut row = |axis: [f64; 3], turn: bool| {
            let mut h = vec![0.0; 6 * bodies];
            for (k, (body, sign)) in [(a, 1.0), (b, -1.0)].into_iter().enumerate() {
                if k == 1 && a == b {
                    continue;
                }
                let c = if turn { axis } else { cross(arms[k], axis) };
                for l in 0..3 {
                    h[6 * body + l] += if turn { 0.0 } else { sign * axis[l] };
                    h[6 * body + 3 + l] += sign * c[l];
                }
            }
            rows.push(h);
        };
        [n, t1, t2].into_iter().for_each(|axis| row(axis, false));
        [t1, t2, n].into_iter().for_each(|axis| row(axis, true));
        let law = match rng.below(4) {
            0 => Law::Elliptic { mu: [0.05 + rng.uniform(), 0.05 + rng.uniform()] },
            k => Law::Coulomb { mu: 0.4 * k as f64 },
        };
        let mut coefficient = || 10f64.powf(3.6 * rng.uniform() - 3.0);
        laws.extend([
            Contact { law, rows: 3, key: 3 * key },
            Contact { law: Law::Rolling { mu: coefficient() }, rows: 2, key: 3 * key + 1 },
            Contact { law: Law::Rolling { mu: coefficient() }, rows: 1, key: 3 * key + 2 },
        ]);
    }
    let mut v: Vec<f64> = mass.iter().map(|_| 0.5 * rng.normal()).collect();
    v.iter_mut().skip(2).step_by(6).for_each(|v| *v -= 1.0);
    let h = Mat::from_fn(rows.len(), 6 * bodies, |i, j| rows[i][j]);
    let w = vec![0.0; rows.len()];
    Problem::from_bodies(Matrix::Sparse(Sparse::diagonal(&mass)), Matrix::Dense(h), &v, w, laws)
}

/// METH-CONE-MIXED: 300 random problems with coefficients from 1e-3 to 4 (radii from 0.25 to 1): every one is solved, and each law holds.
#[test]
fn meth_cone_mixed_rolling_with_any_coefficient_holds_its_law() {
    let mut rng = Rng::new(11);
    for k in 0..300 {
        let contacts = 1 + k % 9;
        let p = spheres(&mut rng, contacts);
        let s = solve(&p).unwrap();
        assert_eq!(s.status, Status::Solved, "{k}: {} {:?}", s.error(), s.counts);
        let (speed, force) = (crate::linalg::max_abs(&p.q), crate::linalg::max_abs(&s.r));
        let small = 1e-6 * speed * force;
        for i in 0..contacts {
            let (r, u) = (&s.r[6 * i..6 * i + 6], &s.u[6 * i..6 * i + 6]);
            assert!(
                r[0] >= 0.0 && u[0] >= -1e-6 * speed && (r[0] * u[0]).abs() <= small,
                "{k} {i}: {r:?} {u:?}"
            );
            let mu = |j: usize| match p.contacts[3 * i + j].law {
                Law::Coulomb { mu } | Law::Rolling { mu } => [mu; 2],
                Law::Elliptic { mu } => mu,
                _ => unreachable!(),
            };
            // |r| ≤ μ r_N and r·u = −μ r_N |u|, in the unit of the ellipse
            for (j, rows) in [(0, 1..3), (1, 3..5), (2, 5..6)] {
                let (mut size, mut rate, mut work) = (0.0_f64, 0.0_f64, 0.0);
                for (l, row) in rows.enumerate() {
                    size = size.hypot(r[row] / mu(j)[l]);
                    rate = rate.hypot(u[row] * mu(j)[l]);
                    work += r[row] * u[row];
                }
                let least = mu(j)[0].min(mu(j)[1]);
                assert!(least * (size - r[0]) <= 1e-6 * force, "{k} {i} {j}: {r:?}");
                assert!((work + r[0] * rate).abs() <= small, "{k} {i} {j}: {r:?} {u:?}");
            }
        }
    }
}

/// METH-CONE-EXIST with rolling: `u_N = r + m − 1`, `ω = r + m`. A normal impulse would need `ω = 1`, hence `m = −2 r` and `ω = −r`: there is no
/// solution, although `u_N > 0` is possible. Without the coupling there is one.
#[test]
fn meth_cone_exist_does_not_promise_what_rolling_forbids() {
    let problem = |side: f64| {
        let w = Mat::from_rows(&[[1.0, side], [side, 1.0]]);
        let contacts = vec![
            Contact { law: Law::Coulomb { mu: 0.0 }, rows: 1, key: 0 },
            Contact { law: Law::Rolling { mu: 2.0 }, rows: 1, key: 1 },
        ];
        Problem::from_w(Matrix::Dense(w), vec![-1.0, 0.0], contacts)
    };
    assert_eq!(criterion(&problem(1.0)).unwrap(), Existence::Undecided);
    assert!(solve(&problem(1.0)).unwrap().status != Status::Solved);
    assert_eq!(criterion(&problem(0.0)).unwrap(), Existence::Guaranteed);
    assert_eq!(solve(&problem(0.0)).unwrap().status, Status::Solved);
}
