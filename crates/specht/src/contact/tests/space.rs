//! The force problem of contacts in space against brute force.

use super::Random;
use crate::contact::space::{Cone, Does, Found, Sliding, all, every};
use crate::linalg::Mat;
use crate::system::Section;

fn cone(at: usize, given: Option<f64>) -> Cone {
    let friction = Sliding::Rests { rest: 0.0, mu: 0.0 };
    Cone { at, tangents: 2, given, least: 0.0, friction, section: Section::Round, inner: None }
}

/// One contact: a = G λ + b.
struct Case {
    g: [[f64; 3]; 3],
    b: [f64; 3],
    rest: f64,
    mu: f64,
    section: Section,
}

impl Case {
    fn new(r: &mut Random) -> Case {
        let f: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| r.within(-1.0, 1.0)));
        let g = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                (0..3).map(|k| f[i][k] * f[j][k]).sum::<f64>() + if i == j { 0.05 } else { 0.0 }
            })
        });
        let mut g: [[f64; 3]; 3] = g;
        // contacts that slide beside it make G unsymmetric
        if r.below(4) == 0 {
            let (x, y, z) = (r.within(-0.3, 0.3), r.within(-0.3, 0.3), r.within(-0.3, 0.3));
            let lean = [[0.0, x, y], [-x, 0.0, z], [-y, -z, 0.0]];
            (0..3).for_each(|i| (0..3).for_each(|j| g[i][j] += lean[i][j]));
        }
        let b = std::array::from_fn(|_| r.within(-1.0, 1.0));
        let mu = if r.below(4) == 0 { r.within(1.5, 20.0) } else { r.within(0.0, 1.5) };
        let section = match r.below(4) {
            0 => Section::Ellipse([r.within(0.2, 1.2), r.within(0.2, 1.2)]),
            1 => {
                // a positive symmetric part: friction takes energy
                let (a, d, lean) = (r.within(0.3, 1.2), r.within(0.3, 1.2), r.within(-0.5, 0.5));
                Section::Tensor([a, lean, -lean, d])
            }
            _ => Section::Round,
        };
        let rest = if r.below(3) == 0 { mu * r.within(1.0, 2.0) } else { mu };
        Case { g, b, rest, mu, section }
    }

    fn solutions(&self) -> Vec<Found> {
        let friction = Sliding::Rests { rest: self.rest, mu: self.mu };
        let cone = Cone { friction, section: self.section, ..cone(0, None) };
        let wide = |i: usize, j: usize| if i < 3 && j < 3 { self.g[i][j] } else { 0.0 };
        let g = std::array::from_fn(|i| std::array::from_fn(|j| wide(i, j)));
        every(&cone, g, [self.b[0], self.b[1], self.b[2], 0.0])
    }

    fn accel(&self, l: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| self.b[i] + (0..3).map(|j| self.g[i][j] * l[j]).sum::<f64>())
    }

    /// Force and acceleration of slip along θ with a_N = 0, and the coefficient of the normal force.
    fn sliding(&self, theta: f64) -> ([f64; 2], [f64; 3], [f64; 3], f64) {
        let d = [theta.cos(), theta.sin()];
        let [x, y, _] = self.section.push([d[0], d[1], 0.0]);
        let slope = self.g[0][0] - self.mu * (self.g[0][1] * x + self.g[0][2] * y);
        let n = -self.b[0] / slope;
        let l = [n, -self.mu * n * x, -self.mu * n * y];
        (d, l, self.accel(l), slope)
    }

    /// The force that holds everything.
    fn sticking(&self) -> [f64; 3] {
        let m = &self.g;
        let det = |m: &[[f64; 3]; 3]| {
            m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
                - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
        };
        std::array::from_fn(|k| {
            let mut c = *m;
            (0..3).for_each(|i| c[i][k] = -self.b[i]);
            det(&c) / det(m)
        })
    }
}

/// Brute force over the angle (METH-3D-ACC, one contact): every solution is among those found, and every one found is a solution; isotropic,
/// elliptic and tensor friction up to large coefficients, static above sliding, unsymmetric G.
#[test]
fn one_contact_has_the_solutions_that_a_search_over_the_angle_finds() {
    let mut r = Random(2026);
    let mut several = 0;
    for round in 0..100_000 {
        let c = Case::new(&mut r);
        let found = c.solutions();
        let (g, b, mu, rest) = (&c.g, &c.b, c.mu, c.rest);
        assert!(c.section != Section::Round || rest > mu || !found.is_empty(), "{round}: {g:?} {b:?} {mu}");
        several += usize::from(found.len() > 1);
        for s in &found {
            let l = [s.force[0], s.force[1], s.force[2]];
            let a = c.accel(l);
            assert!(l[0] >= 0.0 && a[0] >= -1e-9 && (l[0] * a[0]).abs() < 1e-9 * (1.0 + l[0]), "{round}");
            let size = c.section.size([l[1], l[2], 0.0]);
            assert!(size <= rest * l[0] + 1e-9 * (1.0 + l[0]), "{round}: {size} {rest} {l:?}");
            if let Does::Slips(d) = s.does {
                let f = c.section.push(d);
                let scale = 1e-7 * (1.0 + l[0]);
                assert!((l[1] + mu * l[0] * f[0]).abs() < scale && (l[2] + mu * l[0] * f[1]).abs() < scale);
                assert!(
                    (d[0] * a[2] - d[1] * a[1]).abs() < scale && d[0] * a[1] + d[1] * a[2] > 0.0,
                    "{round}"
                );
            } else if l[0] > 0.0 {
                assert!(a[1].hypot(a[2]) < 1e-7 * (1.0 + l[0]), "{round}");
            }
        }
        // opens, sticks
        let has = |does: fn(&Does) -> bool| found.iter().any(|f| does(&f.does));
        assert!(b[0] < 1e-6 || has(|d| *d == Does::Opens), "{round}");
        let l = c.sticking();
        let inside = l[0] > 1e-6 && c.section.size([l[1], l[2], 0.0]) < rest * l[0] * (1.0 - 1e-6);
        assert!(!inside || has(|d| *d == Does::Sticks), "{round}: {g:?} {b:?} {mu} {rest}");
        // slips, on a grid of angles
        let mut count = 0;
        let steps = 1440;
        let at = |k: usize| k as f64 * std::f64::consts::TAU / steps as f64 + 1e-3;
        let residual = |k: usize| {
            let (d, l, a, slope) = c.sliding(at(k));
            (d[0] * a[2] - d[1] * a[1], l[0] > 0.0 && slope.abs() > 1e-3 && d[0] * a[1] + d[1] * a[2] > 1e-3)
        };
        let mut before = residual(0);
        for k in 1..=steps {
            let here = residual(k);
            count += usize::from(before.0 * here.0 < 0.0 && before.1 && here.1);
            before = here;
        }
        let slips = found.iter().filter(|f| matches!(f.does, Does::Slips(_))).count();
        assert!(slips >= count, "{round}: {count} of {slips}: {g:?} {b:?} {mu}");
    }
    assert!(several > 100);
}

/// Plate on three loaded feet (METH-3D-ACC): moves beyond 600/49 N, with the accelerations of the spec.
#[test]
fn a_plate_on_three_feet_moves_beyond_its_bound() {
    let h = 3f64.sqrt() / 2.0;
    let feet = [[0.0, 1.0], [-h, -0.5], [h, -0.5]];
    let solve = |force: f64| {
        let rows: Vec<[f64; 3]> = feet.iter().flat_map(|p| [[1.0, 0.0, -p[1]], [0.0, 1.0, p[0]]]).collect();
        let load = [force, 0.0, -0.6 * force];
        let g = Mat::from_fn(6, 6, |i, j| (0..3).map(|k| rows[i][k] * rows[j][k]).sum());
        let b: Vec<f64> = rows.iter().map(|r| (0..3).map(|k| r[k] * load[k]).sum()).collect();
        let cones: Vec<Cone> = (0..3)
            .map(|k| Cone { friction: Sliding::Rests { rest: 0.5, mu: 0.5 }, ..cone(2 * k, Some(10.0)) })
            .collect();
        let mut lambda = vec![0.0; 6];
        assert!(all(&cones, &g, &b, &mut lambda).is_some());
        let a: [f64; 3] =
            std::array::from_fn(|k| load[k] + (0..6).map(|r| rows[r][k] * lambda[r]).sum::<f64>());
        (a, lambda)
    };
    let bound = 600.0 / 49.0;
    let (a, lambda) = solve(1.05 * bound);
    for (x, y) in a.iter().zip([0.58189735, 0.0, -0.41026710]) {
        assert!((x - y).abs() < 1e-8, "{a:?}");
    }
    for (x, y) in lambda.iter().zip([-5.0, 0.0, -3.63762275, -3.43040824]) {
        assert!((x - y).abs() < 1e-7, "{lambda:?}");
    }
    let (a, _) = solve(0.95 * bound);
    assert!(a.iter().all(|x| x.abs() < 1e-9), "{a:?}");
}

/// What was wrong: a leg of a table alone has no solution while the forces of the others are frozen (its mass is far off the leg), and the table that
/// stands was said to have none at all. Statics gives the sums of the forces.
#[test]
fn a_table_stands_on_legs_that_are_paradoxical_alone() {
    let (m, h, a, b, mu) = (33.2808, 0.59569, 0.6, 0.4, 0.4);
    let (cx, cy) = (0.133859, 0.1);
    let inertia = [1.5, 3.0, 4.0];
    let legs = [[a, b], [-a, b], [-a, -b], [a, -b]].map(|p| [p[0] - cx, p[1] - cy, -h]);
    // rows of N, T1, T2 at each leg: velocity of the point by (v, ω)
    let rows: Vec<[f64; 6]> = legs
        .iter()
        .flat_map(|r| {
            [
                [0.0, 0.0, 1.0, r[1], -r[0], 0.0],
                [1.0, 0.0, 0.0, 0.0, r[2], -r[1]],
                [0.0, 1.0, 0.0, -r[2], 0.0, r[0]],
            ]
        })
        .collect();
    let weight = |k: usize| if k < 3 { 1.0 / m } else { 1.0 / inertia[k - 3] };
    let g = Mat::from_fn(12, 12, |i, j| (0..6).map(|k| rows[i][k] * rows[j][k] * weight(k)).sum());
    for (push, moves) in [([0.0, 0.0], false), ([60.0, 40.0], false), ([130.0, 80.0], true)] {
        let load = [push[0], push[1], -9.81 * m];
        let free: Vec<f64> = rows.iter().map(|r| (0..3).map(|k| r[k] * load[k] / m).sum()).collect();
        let cones: Vec<Cone> =
            (0..4).map(|k| Cone { friction: Sliding::Rests { rest: mu, mu }, ..cone(3 * k, None) }).collect();
        let mut lambda = vec![0.0; 12];
        let does = all(&cones, &g, &free, &mut lambda).expect("it has a solution");
        let force = |k: usize| (0..12).map(|r| rows[r][k] * lambda[r]).sum::<f64>();
        assert_eq!(does.iter().any(|d| matches!(d, Does::Slips(_))), moves, "{push:?}: {does:?}");
        for k in 0..4 {
            let [n, x, y] = [lambda[3 * k], lambda[3 * k + 1], lambda[3 * k + 2]];
            assert!(n >= 0.0 && x.hypot(y) <= mu * n * (1.0 + 1e-9), "{push:?}");
        }
        if !moves {
            let sums: [f64; 6] = std::array::from_fn(force);
            for (sum, load) in sums.iter().zip([load[0], load[1], load[2], 0.0, 0.0, 0.0]) {
                assert!((sum + load).abs() < 1e-9 * 9.81 * m, "{push:?}: {sums:?}");
            }
        } else {
            assert!((force(0).hypot(force(1)) - mu * force(2)).abs() < 0.01 * force(2), "{push:?}");
        }
    }
}

/// What was wrong: an expansion in which the corners of a box keep what compression left at rest was said to have no solution. The laws themselves
/// are the judge: a_N ≥ 0 ⊥ λ_N − p ≥ 0, friction within μ λ_N, and against the slip where there is any.
#[test]
fn corners_expand_from_what_compression_left_at_rest() {
    let mut r = Random(71);
    for round in 0..300 {
        let m = r.within(0.1, 3.0);
        let half: [f64; 3] = std::array::from_fn(|_| r.within(0.02, 0.2));
        let square = half.map(|h| h * h);
        let inertia =
            [square[1] + square[2], square[0] + square[2], square[0] + square[1]].map(|s| m * s / 3.0);
        let mu = r.within(0.1, 1.0);
        let all_corners = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];
        let corners = &all_corners[..2 + 2 * r.below(2)];
        let rows: Vec<[f64; 6]> = corners
            .iter()
            .flat_map(|c| {
                let p = [c[0] * half[0], c[1] * half[1], -half[2]];
                [
                    [0.0, 0.0, 1.0, p[1], -p[0], 0.0],
                    [1.0, 0.0, 0.0, 0.0, p[2], -p[1]],
                    [0.0, 1.0, 0.0, -p[2], 0.0, p[0]],
                ]
            })
            .collect();
        let n = rows.len();
        let weight = |k: usize| if k < 3 { 1.0 / m } else { 1.0 / inertia[k - 3] };
        let g = Mat::from_fn(n, n, |i, j| (0..6).map(|k| rows[i][k] * rows[j][k] * weight(k)).sum());
        // what is left of the velocities is rounding
        let left: [f64; 6] = std::array::from_fn(|_| 1e-16 * r.within(-1.0, 1.0));
        let b: Vec<f64> = rows.iter().map(|row| (0..6).map(|k| row[k] * left[k]).sum()).collect();
        let cones: Vec<Cone> = (0..n / 3)
            .map(|k| Cone {
                least: r.within(0.0, 1.0) * f64::from(r.below(4) > 0),
                friction: Sliding::Rests { rest: mu, mu },
                ..cone(3 * k, None)
            })
            .collect();
        let mut lambda = vec![0.0; n];
        assert!(all(&cones, &g, &b, &mut lambda).is_some(), "{round}: {cones:?}");
        let a: Vec<f64> = (0..n).map(|i| b[i] + (0..n).map(|j| g[(i, j)] * lambda[j]).sum::<f64>()).collect();
        let force = lambda.iter().fold(1e-12_f64, |m, x| m.max(x.abs()));
        let accel = a.iter().fold(1e-12_f64, |m, x| m.max(x.abs()));
        for c in &cones {
            let [f, x, y] = [lambda[c.at], lambda[c.at + 1], lambda[c.at + 2]];
            let [an, ax, ay] = [a[c.at], a[c.at + 1], a[c.at + 2]];
            assert!(f >= c.least - 1e-9 * force && an >= -1e-9 * accel, "{round}: {f} {an}");
            assert!((f - c.least) / force < 1e-8 || an / accel < 1e-8, "{round}: {f} {} {an}", c.least);
            assert!(x.hypot(y) <= mu * f + 1e-9 * force, "{round}");
            // the power of friction is the largest that the disc has
            let lost = -(x * ax + y * ay);
            assert!((lost - mu * f * ax.hypot(ay)).abs() < 1e-7 * force * accel, "{round}: {lost}");
        }
    }
}
