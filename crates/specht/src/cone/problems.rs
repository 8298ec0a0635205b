//! Test problems in body form, seeded: towers, walls, lattices, sphere heaps, random structures
//!
//! Boxes that touch at corners give hyperstatic, rank-deficient problems (four corners of a face: 12 rows, rank 6), the
//! hardest known for frictional contact. Masses are log-uniform over a decade, the free velocity is gravity · dt plus noise.
//!
//! Towers, walls, lattices and heaps draw with `ReferenceRng` in the order of the prototype: the same seed, size and μ give the
//! same problem up to rounding.

use super::problem::{Contact, Problem};
use super::reference_rng::ReferenceRng;
use super::sparse::{Matrix, Sparse};
use crate::stop::{Clock, Stop};

pub use super::random::Rng;

type P3 = [f64; 3];

/// A contact between body `a` and body `b` (ground: none): arms from the centres, normal from `b` to `a`.
struct Touch {
    a: usize,
    b: Option<usize>,
    arm_a: P3,
    arm_b: P3,
    normal: P3,
}

/// Bodies with their masses, moments of inertia and free velocities.
struct Bodies {
    mass: Vec<f64>,
    inertia: Vec<P3>,
    velocity: Vec<f64>,
}

/// Factor the matrix `M + Hᵀ H` of the largest island (in its scaled coordinates) `times` times, as the interior points do at their start.
/// Returns the operations of one factorisation, for benchmarks; `None` when the island has another form.
pub fn factor(p: &Problem, times: usize, parallel: bool) -> Option<f64> {
    let mut prep = super::prep::Prep::default();
    prep.load(p).ok()?;
    let island = prep.islands.iter_mut().max_by_key(|i| i.m)?;
    island.form.set_limits(parallel, &Clock::new(None, Stop::default()));
    let one = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let k = &mut island.blocks;
    k.plain = true;
    for list in [&mut k.b, &mut k.s, &mut k.binv] {
        list.fill(one);
    }
    island.body()?;
    for _ in 0..times {
        island.form.factor(&island.blocks);
    }
    Some(island.form.flops())
}

/// Time step times gravity: the free fall of one step.
const FALL: f64 = 9.81 * 0.01;

/// Spread of the noise on the free velocities.
const NOISE: f64 = 0.05;

impl Bodies {
    /// Velocities: fall plus noise, from draws of a standard normal number.
    fn new(mass: Vec<f64>, inertia: Vec<P3>, mut normal: impl FnMut() -> f64) -> Self {
        let mut velocity: Vec<f64> = (0..6 * mass.len()).map(|_| NOISE * normal()).collect();
        velocity.iter_mut().skip(2).step_by(6).for_each(|v| *v -= FALL);
        Bodies { mass, inertia, velocity }
    }

    fn problem(&self, touches: &[Touch], mu: f64) -> Problem {
        let mut t = Vec::new();
        let mut contacts = Vec::new();
        for (c, k) in touches.iter().enumerate() {
            let f = frame(k.normal);
            let mut side = |body: usize, arm: P3, sign: f64| {
                for (i, row) in f.iter().enumerate() {
                    let turn = cross(arm, *row);
                    for j in 0..3 {
                        t.push((3 * c + i, 6 * body + j, sign * row[j]));
                        t.push((3 * c + i, 6 * body + 3 + j, sign * turn[j]));
                    }
                }
            };
            side(k.a, k.arm_a, 1.0);
            if let Some(b) = k.b {
                side(b, k.arm_b, -1.0);
            }
            contacts.push(Contact::spatial(mu, c as u64));
        }
        let n = 6 * self.mass.len();
        let h = Sparse::from_triplets(3 * touches.len(), n, &t).unwrap_or_default();
        let mut m = Vec::with_capacity(n);
        for (mass, i) in self.mass.iter().zip(&self.inertia) {
            m.extend([*mass, *mass, *mass, i[0], i[1], i[2]]);
        }
        let w = vec![0.0; h.rows()];
        Problem::from_bodies(
            Matrix::Sparse(Sparse::diagonal(&m)),
            Matrix::Sparse(h),
            &self.velocity,
            w,
            contacts,
        )
    }
}

/// Boxes with given centres and sizes; `faces`: (upper, lower, corner points, normal).
fn boxes(
    centre: &[P3],
    size: P3,
    faces: &[(usize, Option<usize>, Vec<P3>, P3)],
    mu: f64,
    seed: u64,
) -> Problem {
    let mut rng = ReferenceRng::new(seed);
    let volume = size[0] * size[1] * size[2];
    let mass: Vec<f64> = centre.iter().map(|_| volume * spread(10.0, &mut rng)).collect();
    let sq = size.map(|s| s * s);
    let sum = sq[0] + sq[1] + sq[2];
    let inertia = mass.iter().map(|m| sq.map(|s| m / 12.0 * (sum - s))).collect();
    let mut touches = Vec::new();
    for (up, lo, points, normal) in faces {
        for p in points {
            let arm_b = lo.map_or([0.0; 3], |b| sub(*p, centre[b]));
            // the prototype draws a tilt of the normal here and weighs it with zero
            (0..3).for_each(|_| _ = rng.normal());
            touches.push(Touch { a: *up, b: *lo, arm_a: sub(*p, centre[*up]), arm_b, normal: *normal });
        }
    }
    Bodies::new(mass, inertia, || rng.normal()).problem(&touches, mu)
}

/// `n` unit boxes on top of each other, 4 contacts each.
pub fn tower(n: usize, mu: f64, seed: u64) -> Problem {
    let centre: Vec<P3> = (0..n).map(|i| [0.0, 0.0, i as f64 + 0.5]).collect();
    let faces: Vec<_> = (0..n)
        .map(|i| {
            let z = i as f64;
            let p = vec![[0.5, 0.5, z], [0.5, -0.5, z], [-0.5, 0.5, z], [-0.5, -0.5, z]];
            (i, i.checked_sub(1), p, [0.0, 0.0, 1.0])
        })
        .collect();
    boxes(&centre, [1.0; 3], &faces, mu, seed)
}

/// Staggered brick wall of `cols × rows` bricks of 2 × 1 × 1: each rests on two bricks and touches its neighbour.
pub fn wall(cols: usize, rows: usize, mu: f64, seed: u64) -> Problem {
    let mut centre: Vec<P3> = Vec::new();
    for j in 0..rows {
        for i in 0..cols {
            centre.push([2.0 * i as f64 + (j % 2) as f64, 0.0, j as f64 + 0.5]);
        }
    }
    let mut faces = Vec::new();
    for j in 0..rows {
        for i in 0..cols {
            let a = j * cols + i;
            let c = centre[a];
            let z = j as f64;
            if j == 0 {
                let p = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
                faces.push((a, None, p.map(|(x, y)| [c[0] + x, y, 0.0]).to_vec(), [0.0, 0.0, 1.0]));
            } else {
                for b in (j - 1) * cols..j * cols {
                    if (c[0] - centre[b][0]).abs() < 1.5 {
                        let (lo, hi) = (c[0].max(centre[b][0]) - 1.0, c[0].min(centre[b][0]) + 1.0);
                        let p = [(lo, -0.5), (lo, 0.5), (hi, -0.5), (hi, 0.5)];
                        faces.push((a, Some(b), p.map(|(x, y)| [x, y, z]).to_vec(), [0.0, 0.0, 1.0]));
                    }
                }
            }
            if i > 0 {
                let p = [(-0.5, z), (-0.5, z + 1.0), (0.5, z), (0.5, z + 1.0)];
                faces.push((a, Some(a - 1), p.map(|(y, z)| [c[0] - 1.0, y, z]).to_vec(), [1.0, 0.0, 0.0]));
            }
        }
    }
    boxes(&centre, [2.0, 1.0, 1.0], &faces, mu, seed)
}

/// Cubic lattice of `side³` blocks, 4 contacts per touching face, normals tilted by noise of 0.02: 64 contacts for 2, 252 for 3.
pub fn lattice(side: usize, mu: f64, seed: u64) -> Problem {
    let mut rng = ReferenceRng::new(seed);
    let n = side * side * side;
    let mass: Vec<f64> = (0..n).map(|_| spread(10.0, &mut rng)).collect();
    let index = |i: usize, j: usize, k: usize| i + side * (j + side * k);
    let mut touches = Vec::new();
    for k in 0..side {
        for j in 0..side {
            for i in 0..side {
                let a = index(i, j, k);
                let below = [
                    (2, k.checked_sub(1).map(|k| index(i, j, k)), true),
                    (0, i.checked_sub(1).map(|i| index(i, j, k)), false),
                    (1, j.checked_sub(1).map(|j| index(i, j, k)), false),
                ];
                for (axis, b, ground) in below {
                    if b.is_none() && !ground {
                        continue;
                    }
                    let mut n = [0.0; 3];
                    n[axis] = 1.0;
                    let t = if n[0] < 0.5 { cross(n, [1.0, 0.0, 0.0]) } else { cross(n, [0.0, 1.0, 0.0]) };
                    let s = cross(n, t);
                    for (x, y) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                        let tilted = unit([0, 1, 2].map(|c| n[c] + 0.02 * rng.normal()));
                        let side = [0, 1, 2].map(|c| 0.45 * (x * t[c] + y * s[c]));
                        touches.push(Touch {
                            a,
                            b,
                            arm_a: [0, 1, 2].map(|c| -0.5 * n[c] + side[c]),
                            arm_b: [0, 1, 2].map(|c| 0.5 * n[c] + side[c]),
                            normal: tilted,
                        });
                    }
                }
            }
        }
    }
    let inertia = mass.iter().map(|m| [0.1 * m; 3]).collect();
    Bodies::new(mass, inertia, || rng.normal()).problem(&touches, mu)
}

/// Dense heap of `n` spheres of unit diameter on a floor inside four walls; contacts are pairs closer than 1.02.
pub fn heap(n: usize, mu: f64, seed: u64) -> Problem {
    const NEAR: f64 = 1.02;
    let mut rng = ReferenceRng::new(seed);
    let side = ((n as f64 / 2.0).cbrt().round() as usize).max(2);
    let p: Vec<P3> = (0..n)
        .map(|k| {
            let (cell, layer) = (k % (side * side), k / (side * side));
            let shift = 0.5 * (layer % 2) as f64;
            let base = [
                (cell / side) as f64 + shift,
                (cell % side) as f64 + shift,
                0.5 + layer as f64 * 0.5_f64.sqrt(),
            ];
            base.map(|x| x + 0.01 * rng.normal())
        })
        .collect();
    let mut touches = Vec::new();
    for a in 0..n {
        if p[a][2] < 0.5 * NEAR + 0.02 {
            touches.push(Touch {
                a,
                b: None,
                arm_a: [0.0, 0.0, -0.5],
                arm_b: [0.0; 3],
                normal: [0.0, 0.0, 1.0],
            });
        }
        for b in 0..a {
            let d = sub(p[a], p[b]);
            let l = dot(d, d).sqrt();
            if l < NEAR {
                let e = d.map(|x| x / l);
                touches.push(Touch {
                    a,
                    b: Some(b),
                    arm_a: e.map(|x| -0.5 * x),
                    arm_b: e.map(|x| 0.5 * x),
                    normal: e,
                });
            }
        }
        for axis in 0..2 {
            for (sign, limit) in [(1.0, -0.1), (-1.0, side as f64 - 0.4)] {
                if sign * (p[a][axis] - limit) < 0.15 {
                    let mut e = [0.0; 3];
                    e[axis] = sign;
                    touches.push(Touch {
                        a,
                        b: None,
                        arm_a: e.map(|x| -0.5 * x),
                        arm_b: [0.0; 3],
                        normal: e,
                    });
                }
            }
        }
    }
    let mass: Vec<f64> = (0..n).map(|_| spread(5.0, &mut rng)).collect();
    let inertia = mass.iter().map(|m| [0.1 * m; 3]).collect();
    Bodies::new(mass, inertia, || rng.normal()).problem(&touches, mu)
}

/// One of tower 8, wall 4 × 4, lattice 2³ and heap 40 with μ of 0.2, 0.5, 0.8 or 1.2, by seed.
pub fn random_structure(seed: u64) -> Problem {
    let mut rng = Rng::new(seed ^ 0x5eed);
    let mu = [0.2, 0.5, 0.8, 1.2][rng.below(4)];
    match rng.below(4) {
        0 => tower(8, mu, seed),
        1 => wall(4, 4, mu, seed),
        2 => lattice(2, mu, seed),
        _ => heap(40, mu, seed),
    }
}

/// Random contacts between random bodies: `n` contacts, about `n/2 + 1` bodies, a third of them against the ground.
pub fn random(n: usize, mu: f64, seed: u64) -> Problem {
    let mut rng = Rng::new(seed);
    let bodies = n / 2 + 1;
    let mass: Vec<f64> = (0..bodies).map(|_| (rng.uniform() * 10.0_f64.ln()).exp()).collect();
    let inertia = mass.iter().map(|m| [0.1, 0.15, 0.2].map(|f| f * m)).collect();
    let touches: Vec<Touch> = (0..n)
        .map(|c| {
            let a = c % bodies;
            let b =
                if rng.uniform() < 1.0 / 3.0 { None } else { Some(rng.below(bodies)).filter(|&b| b != a) };
            let normal = unit([rng.normal(), rng.normal(), 1.0 + rng.normal()]);
            let mut arm = |s: f64| normal.map(|x| s * 0.5 * x + 0.15 * rng.normal());
            let (arm_a, arm_b) = (arm(-1.0), arm(1.0));
            Touch { a, b, arm_a, arm_b, normal }
        })
        .collect();
    Bodies::new(mass, inertia, || rng.normal()).problem(&touches, mu)
}

/// Log-uniform between 1 and `ratio`.
fn spread(ratio: f64, rng: &mut ReferenceRng) -> f64 {
    rng.uniform(0.0, ratio.ln()).exp()
}

/// Normal and two tangents.
fn frame(n: P3) -> [P3; 3] {
    let t = unit(if n[0].abs() < 0.5 { cross(n, [1.0, 0.0, 0.0]) } else { cross(n, [0.0, 1.0, 0.0]) });
    [n, t, cross(n, t)]
}

fn cross(a: P3, b: P3) -> P3 {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: P3, b: P3) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn sub(a: P3, b: P3) -> P3 {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn unit(a: P3) -> P3 {
    let l = dot(a, a).sqrt();
    a.map(|x| x / l)
}
